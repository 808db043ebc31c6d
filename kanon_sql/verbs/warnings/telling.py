"""Warnings about columns that are released as they are: what they reveal of quasi-identifiers, whose rows they link.

Two records with the same value of such a column may agree in the value of a quasi-identifier more often than any two
records that have the same label. How often any two agree is what chance gives, for groups of whatever size, so that a
column of many values is not taken for one that determines something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_sql.engines import Workspace, refuse_incomplete
from kanon_sql.evaluate import few
from kanon_sql.hierarchies import exact_value
from kanon_sql.release import Choice, Labelled, labelled_with_values
from kanon_sql.verbs.init import names_a_group
from kanon_sql.verbs.result import Warned

__all__ = ["telling_columns"]

SHARE = 0.05
"""The share of rows from which a column is named."""

MANY = 0.25
"""The share of rows from which a column that reveals a quasi-identifier is an error by default: it is the column then,
and not a few of its values."""

LARGE = 20
"""A group of fewer records may look uneven by chance, so that it is judged together with the others alone."""

SURE = 16.0
"""The square of so many standard deviations: what is further from chance is none."""

FEWEST = 8
"""So many records, by which pairs agree more often than by chance, are no coincidence."""

GROUPED = 0.5
"""How far pairs with a value agree in a label, between chance (0) and always (1), from which the value is a group's."""


@dataclass(frozen=True)
class _Pair:
    """A released column, and a quasi-identifier by its values or by labels finer than the released ones.

    Attributes:
        kept: the column.
        quasi_identifier: it.
        labels: records are compared with those that have the same labels in these: of the quasi-identifier, of all of
            them, or none.
        value: the column with its values.
    """

    kept: str
    quasi_identifier: str
    labels: tuple[str, ...]
    value: str


@dataclass(frozen=True)
class _Agreement:
    """How far records with one value of a column agree in another column.

    Attributes:
        records: all of them.
        open: those whose label stands for several values.
        excess: agreement beyond chance, summed over records with others of their group.
        room: the largest that it could be.
        variance: of the excess, by chance.
        narrowed: records in large groups that have a quarter of what their label stands for, or nearly one value.
    """

    records: float
    open: float
    excess: float
    room: float
    variance: float
    narrowed: float

    @property
    def is_chance(self) -> bool:
        """Whether chance would explain it."""
        return self.excess < FEWEST or self.excess**2 < SURE * self.variance

    @property
    def agreement(self) -> float:
        """0 for chance, 1 where records of a group always agree."""
        return 0.0 if self.is_chance or not self.room else min(1.0, self.excess / self.room)

    def explained_by(self, together: _Agreement) -> bool:
        """Whether records that agree in all labels agree less than half as far, so that other labels reveal it too.

        Args:
            together: among these.
        """
        if not together.room or not self.room:
            return False
        most = together.excess + SURE**0.5 * together.variance**0.5
        return most / together.room < self.excess / self.room / 2

    @property
    def share(self) -> float:
        """The share of all records for which the column reveals more than their label."""
        if not self.records:
            return 0.0
        return max(self.agreement * self.open, self.narrowed) / self.records


@dataclass(frozen=True)
class _Alone:
    """A released column by itself.

    Attributes:
        rows: all of them.
        smallest: records of the smallest group by all labels and the column.
        few_rows: rows in such groups of too few records.
        values: different values.
        linked: rows with a value that few persons have, one of them in several rows.
        shared: rows with a value that several have.
    """

    rows: int
    smallest: int
    few_rows: int
    values: int
    linked: int
    shared: int


def telling_columns(workspace: Workspace, choice: Choice) -> list[Warned]:
    """Columns that are released as they are and reveal more of a quasi-identifier than its labels, or link rows.

    It reads the source once more, into a scratch table of released rows beside their values, and that table by one
    statement (several where there are many columns).

    Args:
        workspace: where.
        choice: what is released.
    """
    spec = choice.spec
    tells = spec.warnings.kept_tells_quasi_identifier != "allow"
    links = spec.warnings.kept_links_rows != "allow"
    released = [
        name for name in dict.fromkeys([*spec.sensitive, *spec.keep]) if choice.columns[name].kind != "ambiguous"
    ]
    if not released or not (tells or links):
        return []
    workspace.report("looking for columns that reveal quasi-identifiers", None)
    rows = labelled_with_values(workspace, choice)
    pairs = [
        *_finer(choice, rows, released),
        *(_Pair(kept, name, (), name) for kept in released for name in rows.labels),
    ]
    agreements, alone = _measured(workspace, choice, rows, pairs, released)
    warned, found = [], set()
    for kept in released:
        revealed: dict[str, float] = {}
        for pair, item in agreements.items():
            if pair.kept != kept or pair.labels != (pair.quasi_identifier,) or item.share < SHARE:
                continue
            together = agreements.get(replace(pair, labels=tuple(rows.labels)))
            if together is None or not item.explained_by(together):
                revealed[pair.quasi_identifier] = max(item.share, revealed.get(pair.quasi_identifier, 0.0))
        if revealed:
            found.add(kept)
            warned += [_tells(choice, kept, revealed, alone[kept])] if tells else []
    for kept in released if links else ():
        joint = max((a.agreement for p, a in agreements.items() if p.kept == kept and not p.labels), default=0.0)
        warned += _links(choice, kept, alone[kept], joint, determines=kept in found)
    return warned


def _finer(choice: Choice, rows: Labelled, released: Sequence[str]) -> list[_Pair]:
    """Per column and quasi-identifier that is not released as it is: its values, and its labels one level finer."""
    names = list(choice.spec.quasi_identifiers)
    coarse = [name for place, name in enumerate(names) if choice.node is None or choice.node[place] > 0]
    return [
        _Pair(kept, name, labels, told[name])
        for kept in released
        for name in coarse
        for told in (rows.values, rows.finer)
        if name in told
        for labels in dict.fromkeys([(name,), tuple(rows.labels)])
    ]


def _measured(
    workspace: Workspace, choice: Choice, rows: Labelled, pairs: Sequence[_Pair], released: Sequence[str]
) -> tuple[Mapping[_Pair, _Agreement], Mapping[str, _Alone]]:
    used = list(dict.fromkeys([*rows.labels, *released, *(pair.value for pair in pairs)]))
    keys = {name: f"k{place}" for place, name in enumerate(used)}
    agreements: dict[_Pair, _Agreement] = {}
    alone: dict[str, _Alone] = {}
    size = workspace.capabilities.nodes_per_statement
    for start in range(0, max(1, len(pairs)), size):
        chunk = pairs[start : start + size]
        answer = workspace.fetch(
            "verbs/warnings/tells",
            len(chunk) + len(released),  # these with the first pairs alone
            table=rows.table,
            keys=[exact_value(rows.columns[name], "checked") for name in used],
            unit=None if rows.unit is None else exact_value(rows.columns[rows.unit], "checked"),
            pairs=[
                {
                    "kept": keys[pair.kept],
                    "labels": [keys[name] for name in pair.labels],
                    "value": keys[pair.value],
                }
                for pair in chunk
            ],
            alone=[] if start else [keys[name] for name in released],
            labels=[keys[name] for name in rows.labels],
            least=few(choice.models),
            large=LARGE,
            sure=SURE,
        )
        for number, *figures in answer:
            records, opened, same, alike, room, variance, narrowed = (float(figure or 0) for figure in figures)
            if int(number) < len(chunk):
                excess = same - alike
                agreements[chunk[int(number)]] = _Agreement(records, opened, excess, room, variance, narrowed)
            else:
                counts = [int(figure or 0) for figure in (figures[0], *figures[2:])]
                alone[released[int(number) - len(chunk)]] = _Alone(*counts)
    for item in alone.values():
        refuse_incomplete("verbs/warnings/tells", item.rows, choice.sets.rows - choice.suppressed_rows)
    return agreements, alone


def _tells(choice: Choice, kept: str, revealed: Mapping[str, float], alone: _Alone) -> Warned:
    share, records = max(revealed.values()), "rows" if choice.spec.unit is None else "persons"
    shares = ", ".join(f"{name} ({100 * item:.1f} % of {records})" for name, item in revealed.items())
    message = (
        f"{kept} reveals more than the released labels of {shares}. Groups by all labels and {kept} have as few as "
        f"{alone.smallest:,} {records if alone.smallest != 1 else records[:-1]}. Make {kept} a quasi-identifier, "
        "generalize it in a source query, or leave it out"
    )
    figures = {"share": share, "smallest": alone.smallest, "least": few(choice.models)}
    return Warned("kept_tells_quasi_identifier", message, [kept, *revealed], figures, severe=share >= MANY)


def _links(choice: Choice, kept: str, alone: _Alone, joint: float, *, determines: bool) -> list[Warned]:
    least, rows = few(choice.models), alone.rows
    figures = {"rows": rows, "linked": alone.linked / rows, "least": least, "smallest": alone.smallest}
    if alone.linked >= SHARE * rows:
        message = (
            f"{kept}: {100 * alone.linked / rows:.1f} % of the released rows have a value that fewer than {least:,} "
            "persons have, one of them in several rows: these rows can be linked to one person. Leave the column out, "
            "or keep something coarser"
        )
        return [Warned("kept_links_rows", message, [kept], figures)]
    small = alone.few_rows >= SHARE * rows and rows <= LARGE * alone.values and alone.shared >= SHARE * rows
    if small and (names_a_group(kept) or (joint >= GROUPED and not determines)):
        figures["linked"] = alone.shared / rows
        message = (
            f"{kept} groups rows of a few persons, as a household number does: {100 * alone.shared / rows:.1f} % of "
            f"the released rows share its value with others, and groups by all labels and {kept} have as few as "
            f"{alone.smallest:,}. A reader who knows the members of a group can find its rows. Leave the column out"
        )
        return [Warned("kept_links_rows", message, [kept], figures)]
    return []
