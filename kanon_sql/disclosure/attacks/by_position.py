"""Releases joined by the positions of their rows: the unsorted matching attack of Sweeney (2002, section 4.1).

Two releases that list the same rows in the same order say of every row what both show of it. The joint class of a row
is made by the labels of all the releases; who is in one of fewer than k rows is exposed. No one tells an attacker that
the orders are the same. The audit has the source, which tells it: see
:mod:`kanon_sql.disclosure.attacks.common_order`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql.disclosure.attacks.base import Attack, Revealed, Scene, Target, Unmeasured
from kanon_sql.disclosure.attacks.common_order import Cell, Evidence, evidence_of
from kanon_sql.disclosure.attacks.vectors import (
    cell_text,
    covers_of,
    kinds_of,
    labels_of,
    lookups_of,
    released_label,
    vectors_of,
)
from kanon_sql.engines import refuse_incomplete
from kanon_sql.errors import SpecError
from kanon_sql.frequency import refuse_lost_rows
from kanon_sql.hierarchies import Lookup
from kanon_sql.sql import Relation, Sql, identifier, render

__all__ = ["MOST_CELLS", "joined_by_position"]

MOST_CELLS = 200_000
"""More pairs of classes are not fetched: their numbers tell nothing of any person, but the client has to hold them."""

_MEASURE = "1 / the rows of a joint class, releases joined by the positions of their rows"


@dataclass(frozen=True)
class _Release:
    """A release whose rows are to be numbered.

    Attributes:
        target: the release.
        named: our names of its quasi-identifiers -> what they are called.
        names: the columns of ``labels``: these, then the plain ones.
        own: what the same columns are called where releases are joined.
        cells: the same columns of a row, read from the alias ``checked``.
        labels: its distinct vectors of labels and plain values.
        covers: per quasi-identifier, each value with the labels that it may have.
    """

    target: Target
    named: dict[str, str]
    names: list[str]
    own: list[Sql]
    cells: list[Sql]
    labels: Relation
    covers: list[Relation]

    @property
    def table(self) -> Relation:
        """How templates name it."""
        return self.target.relation

    @property
    def shown(self) -> list[Sql]:
        """Its labels among ``own``."""
        return self.own[: len(self.named)]


def joined_by_position(scene: Scene, earlier: Sequence[Target]) -> list[Attack | Unmeasured]:
    """Join the release with each earlier one, and with all that turn out to have its order.

    Args:
        scene: the release that is attacked.
        earlier: other releases, whose rows the engine can number.

    Raises:
        SpecError: no row of a release has labels of the spec's hierarchies, so that no order could be told.
    """
    rows = [_rows_of(scene, target) for target in (scene.release, *earlier)]
    found: list[Attack | Unmeasured] = [
        Unmeasured(f"unsorted with {target.shown}", _of_other_length(scene, rows[0], target, count))
        for target, count in zip(earlier, rows[1:], strict=True)
        if count != rows[0]
    ]
    same_length = [target for target, count in zip(earlier, rows[1:], strict=True) if count == rows[0]]
    if not same_length:
        return found
    positions = _Positions(scene, same_length, rows[0])
    common = []
    for number in range(1, len(same_length) + 1):
        achieved = positions.attack([number])
        found.append(achieved)
        if isinstance(achieved, Attack) and achieved.risk is not None:
            common.append(number)
    return [*found, *([positions.attack(common, all_common=True)] if len(common) > 1 else [])]


def _rows_of(scene: Scene, target: Target) -> int:
    (rows,) = scene.workspace.row("release/count", table=target.relation, mark=None, unit=None)
    return int(rows)


def _of_other_length(scene: Scene, ours: int, target: Target, theirs: int) -> str:
    return (
        f"{scene.release.shown} has {ours:,} rows and {target.shown} {theirs:,}: a row that one of them leaves "
        "out shifts all that follow, so equal positions need not be the same person; an attacker who guesses "
        "which rows are missing can still align the rest, if both have one order"
    )


class _Positions:
    """The release and others of as many rows, ready to be joined by position."""

    def __init__(self, scene: Scene, others: Sequence[Target], rows: int) -> None:
        self._scene, self._rows = scene, rows
        tables, source = [scene.release, *others], scene.source
        names = list(scene.spec.quasi_identifiers)
        kept = [*scene.spec.sensitive, *scene.spec.keep]
        plain = [name for name in kept if all(name in table.columns for table in (source, *tables))]
        self._people = vectors_of(scene, source, "placed_people", names, plain, tables)
        lookups = lookups_of(scene, self._people, source.columns, scene.spec.quasi_identifiers)
        self._notes: list[str] = []
        self._releases = [
            self._release(number, table, lookups, plain, [source, *tables]) for number, table in enumerate(tables)
        ]
        refuse_lost_rows(scene.workspace, list(scene.sides.values()))

    def _release(
        self, number: int, table: Target, lookups: Sequence[Lookup], plain: Sequence[str], same_order: Sequence[Target]
    ) -> _Release:
        """One release's vectors, and the values that may be behind them."""
        scene = self._scene
        own = [lookup for lookup in lookups if lookup.name in table.columns]
        named = {lookup.column: lookup.name for lookup in own}
        kinds = kinds_of(named, [scene.source, table])
        labels = labels_of(scene, table, f"placed{number}", named, plain, same_order, kinds)
        covers = covers_of(scene, own, labels, f"placed{number}", kinds)
        unknown, rows = scene.workspace.row(
            "disclosure/attacks/unknown", labels=labels, covers=covers, names=list(named)
        )
        if rows and unknown == rows:
            raise SpecError(
                f"{table.shown}: none of its rows has labels that this spec's hierarchies give to the source's "
                "values, so it cannot be joined; check whether it was made with other hierarchies"
            )
        if unknown:
            self._notes.append(
                f"{int(unknown):,} of {int(rows):,} rows of {table.shown} have labels that no record of the source has"
            )
        columns = table.columns
        cells = [released_label(columns[name], "checked", kinds[ours]) for ours, name in named.items()]
        cells += [
            cell_text(columns[name], "checked", [other.columns[name] for other in same_order if name in other.columns])
            for name in plain
        ]
        names = [*named, *(f"p{position}" for position, _ in enumerate(plain))]
        called = [identifier(f"r{number}_{name}") for name in names]
        return _Release(table, named, names, called, cells, labels, covers)

    def attack(self, numbers: Sequence[int], *, all_common: bool = False) -> Attack | Unmeasured:
        """Join the release with some of the others.

        Args:
            numbers: which.
            all_common: each of them has the release's order.
        """
        scene, others = self._scene, [self._releases[number] for number in numbers]
        joined = [self._releases[0], *others]
        about = ", ".join(release.target.shown for release in others)
        context = self._context(joined)
        cells = scene.workspace.fetch(
            "disclosure/attacks/position_cells", MOST_CELLS + 1, most=MOST_CELLS + 1, **context
        )
        if len(cells) > MOST_CELLS:
            why = f"the source has rows in more than {MOST_CELLS:,} pairs of classes, too many to compare orders"
            return Unmeasured(f"unsorted with {about}", why, too_large=True)
        counts = [[int(value or 0) for value in cell] for cell in cells]
        refuse_incomplete("disclosure/attacks/position_cells", sum(row[-2] for row in counts), self._rows, "positions")
        evidence = None if all_common else evidence_of([Cell(row[0], row[1], row[-2], row[-1]) for row in counts])
        exposed, risk = _exposed(counts, scene.k)
        if evidence is not None and not evidence.common:
            exposed, risk = 0, None
        notes = self._notes if evidence is None else [*self._notes, _in_words(evidence)]
        return Attack(
            name="unsorted",
            about=about,
            examined=sum(row[-2] for row in counts),
            exposed=exposed,
            beyond=exposed,
            risk=risk,
            measure=_MEASURE,
            notes=notes,
            revealed=self._revealed(joined, context, exposed) if scene.reveal else None,
        )

    def _context(self, joined: Sequence[_Release]) -> dict[str, object]:
        """What the templates are given."""
        own = [name for release in joined for name in release.own]
        query = render(
            "disclosure/attacks/joined_by_position", releases=joined, own=own, people=self._people,
            row_id=Sql(self._scene.given.engine.capabilities.row_id or ""),
        )  # fmt: skip
        return {"joined": query, "releases": joined, "shown": [name for release in joined for name in release.shown]}

    def _revealed(self, joined: Sequence[_Release], context: dict[str, object], exposed: int) -> list[Revealed]:
        """The labels of joint classes under k, as each release shows them."""
        if not exposed:
            return []
        scene = self._scene
        keys = [
            name if release is joined[0] else f"{name} ({release.target.shown})"
            for release in joined
            for name in release.named.values()
        ]
        rows = scene.workspace.fetch(
            "disclosure/attacks/position_revealed", scene.reveal, k=scene.k, most=scene.reveal,
            joined=context["joined"], shown=context["shown"],
        )  # fmt: skip
        return [Revealed(values=dict(zip(keys, row, strict=False)), people=int(row[-1])) for row in rows]


def _exposed(counts: Sequence[Sequence[int]], k: int) -> tuple[int, float | None]:
    """The rows of joint classes under k that may be of the source, and the highest risk that any row runs.

    Args:
        counts: per cell its numbers, among which the joint class, the rows that it holds and those that are possible.
        k: the fewest rows that are safe.
    """
    sizes, returned = defaultdict[int, int](int), defaultdict[int, int](int)
    for *_, joint_class, held, possible in counts:
        sizes[joint_class] += held
        returned[joint_class] += min(held, possible)
    found = {number: sizes[number] for number, rows in returned.items() if rows}
    exposed = sum(returned[number] for number, size in found.items() if size < k)
    return exposed, max((1 / size for size in found.values()), default=None)


def _in_words(evidence: Evidence) -> str:
    """What the positions say of the order."""
    note = f"{evidence.returned:,} of {evidence.positions:,} positions have a row of the source behind both releases"
    if not evidence.positions:
        return "no row to join"
    beyond = f"{evidence.deviations:.1f} standard deviations more than in random orders"
    if evidence.certain:
        return f"{note}, {beyond}: the releases have one order"
    if evidence.common:
        return f"{note}: the rows may have one order, but are too few to distinguish it from a random one ({beyond})"
    return f"{note}, as in random orders: the releases do not have one order"
