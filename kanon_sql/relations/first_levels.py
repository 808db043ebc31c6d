"""The levels that events begin with: step by step along their paths, those that enough rows of their class share.

A table at a time, each after its parent. All rows begin at their lowest levels. Those whose labels fewer than k rows of
their class have go one step on; among them it is asked again, until none is left, or the path ends. Each step looks at
the rows that are left, so that all steps together cost little more than the first one. Rows are counted, not persons,
and what a row takes along of the rows above it is not followed: the rounds that come after do both, and decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Workspace
from kanon_sql.relations.classes import loss_of
from kanon_sql.relations.members import MOST_PACKED, Member, path_of
from kanon_sql.spec import PERSON
from kanon_sql.sql import Relation

__all__ = ["FirstLevels", "path_of_rows"]

SAMPLE = 8
"""Every eighth class tells what is lost in all of them; fewer, where they still have many rows and are many."""

MANY_ROWS, MANY_CLASSES = 100_000, 400
"""With fewer rows or classes than these, all classes are asked; with many more rows, as many classes as of these."""

ABOVE = 2.0
"""What a step of a column of the rows above counts, beside one of its own: it is lost in two tables."""


def path_of_rows(member: Member) -> list[list[int]]:
    """The steps of what a table's rows are known by, from the lowest levels to the highest; none without columns."""
    if not member.path:
        return []
    return path_of(member.path, [ABOVE] * member.inherited + [1.0] * len(member.columns))


@dataclass(frozen=True)
class _Step:
    """A step of a table's path.

    Attributes:
        levels: of the path's columns.
        packs: the columns that hold its labels, with what each is multiplied by to make one number of several.
        loss: what a row loses of the table's own columns.
    """

    levels: Sequence[int]
    packs: tuple[tuple[tuple[str, int], ...], ...]
    loss: float


class FirstLevels:
    """Finds the levels that events begin with in classes of persons, and estimates what is lost there.

    Args:
        workspace: where.
        members: the tables, each after its parent.
        k: how many rows are to share labels.
    """

    def __init__(self, workspace: Workspace, members: Mapping[str, Member], k: int) -> None:
        self._workspace, self._k = workspace.apart(f"{workspace.prefix}first_"), k
        self._members = [member for name, member in members.items() if name != PERSON and member.path and member.count]
        self._steps = {member.name: list(_steps_of(member)) for member in self._members}
        self._rows: dict[str, Relation] = {}
        for number, member in enumerate(self._members):
            self._rows[member.name] = self._rows_of(number, member)

    def loss(self, classes: Relation) -> float:
        """What a row of each table loses on the way on average, added up: of some classes where there are many.

        Args:
            classes: of the persons who stay.
        """
        one_in = self._one_in(classes)
        total = 0.0
        for number, member in enumerate(self._members):
            steps = self._steps[member.name]
            with self._workspace.passing():
                rows = self._opening(number, member, classes, None, one_in)
                looked_at = self._workspace.size([rows])
                rare = self._rare(rows, steps)
            lost = steps[0].loss * looked_at
            for count, before, after in zip(rare, steps, [*(step.loss for step in steps[1:]), 1.0], strict=True):
                lost += count * (after - before.loss)
            total += lost / max(1, looked_at)
        return total

    def drop(self) -> None:
        """Drop the rows; nothing can be found any more."""
        for member in self._members:
            if member.inherited:
                self._workspace.drop(self._rows[member.name])
        self._rows.clear()

    def _one_in(self, classes: Relation) -> int:
        """One class in how many tells well enough what is lost in all of them."""
        rows = sum(member.count for member in self._members)
        if rows < MANY_ROWS:
            return 1
        _, count, _ = self._workspace.row("relations/fewest_in_class", persons=classes)
        if int(count) >= MANY_CLASSES:
            return max(SAMPLE, min(rows // MANY_ROWS, int(count) // MANY_CLASSES))
        return max(1, min(rows // (SAMPLE * MANY_ROWS), SAMPLE * int(count) // MANY_CLASSES))

    def _rare(self, rows: Relation, steps: Sequence[_Step]) -> list[int]:
        """For each step, how many rows have labels there that fewer than k rows of their class have."""
        quoted, compiler = self._workspace.quoted, self._workspace.compiler
        branches = [
            compiler.filled(
                "relations/rare_share", {"number": str(number), "rows": quoted(rows)}, packs=step.packs, k=self._k
            )
            for number, step in enumerate(steps)
        ]
        found = self._workspace.query(compiler.union(branches), len(branches))
        counts = {int(number): int(count) for number, count in found}
        return [counts[number] for number in range(len(steps))]

    def of(self, classes: Relation) -> dict[str, Relation]:
        """Per table, the rows that begin above their lowest levels, with the levels of their path that they begin with.

        Args:
            classes: of the persons who stay.
        """
        initial: dict[str, Relation] = {}
        for number, member in enumerate(self._members):
            assert member.parent is not None
            if len(self._steps[member.name]) == 1:
                continue
            target = self._workspace.table(f"initial{number}")
            with self._workspace.passing():
                opening = self._opening(number, member, classes, initial.get(member.parent.name))
                self._workspace.execute(
                    "relations/initial_levels",
                    target=target,
                    parts=list(self._parts(member, list(self._opened(number, member, opening)))),
                )
                self._workspace.keep(target)
            initial[member.name] = target
        return initial

    def _parts(self, member: Member, opened: Sequence[Relation]) -> Iterator[dict[str, object]]:
        """Where the rows are that begin at each step but the first."""
        steps = self._steps[member.name]
        for place, table in enumerate(opened[1:], 1):
            yield self._part(member, steps[place], table, 0)
        yield self._part(member, steps[len(opened)], opened[-1], 1)

    def _part(self, member: Member, step: _Step, table: Relation, goes_on: int) -> dict[str, object]:
        above, lowest = (list(found.levels[: member.inherited]) for found in (step, self._steps[member.name][0]))
        lifts = int(above != lowest) if member.inherited else None
        return {"table": table, "goes_on": goes_on, "levels": list(step.levels), "lifts": lifts}

    def _opening(
        self, number: int, member: Member, classes: Relation, above: Relation | None, one_in: int = 1
    ) -> Relation:
        """The rows of persons who stay, of every n-th class, where the rows above begin at some levels."""
        target = self._workspace.table(f"opening{number}")
        self._workspace.execute(
            "relations/opening",
            target=target,
            rows=self._rows[member.name],
            classes=classes,
            columns=list(_columns_of(member, _names_of(self._steps[member.name]))),
            above=above if member.inherited else None,
            one_in=one_in,
        )
        return target

    def _opened(self, number: int, member: Member, opening: Relation) -> Iterator[Relation]:
        """For each step but the first, the rows that go on to it."""
        workspace, steps, rows = self._workspace, self._steps[member.name], opening
        for place, step in enumerate(steps[:-1]):
            target, names = workspace.table(f"opened{number}_{place}"), _names_of(steps[place + 1 :])
            workspace.execute(
                "relations/opened",
                target=target,
                rows=rows,
                is_first=place == 0,
                packs=step.packs,
                names=names,
                k=self._k,
            )
            rows = target
            yield target
            if not workspace.size([target]):
                return

    def _rows_of(self, number: int, member: Member) -> Relation:
        """The rows with the numbers of their labels, and of those of the rows above them, on every level."""
        if not member.inherited:
            return member.coded
        assert member.parent is not None
        inherited: list[dict[str, str]] = []
        own: list[dict[str, str]] = []
        for position, column in enumerate(member.path):
            for level in column.levels:
                if position < member.inherited:
                    code = _stored(member.parent, position, level)
                    inherited.append({"own": _label(position, level), "code": code})
                else:
                    own.append({"own": _label(position, level), "code": f"g{column.number}_{level}"})
        target = self._workspace.table(f"wide_rows{number}")
        self._workspace.execute(
            "relations/rows_in_classes",
            target=target,
            coded=member.coded,
            parent=self._rows[member.parent.name],
            inherited=inherited,
            names=own,
        )
        return target


def _stored(member: Member, position: int, level: int) -> str:
    """The column of a table's rows that holds the number of a label, by the position of its column in the path."""
    return _label(position, level) if member.inherited else f"g{member.columns[position].number}_{level}"


def _label(position: int, level: int) -> str:
    """The column that holds the number of a label, by the position of its column in the path."""
    return f"s{position}_{level}"


def _columns_of(member: Member, names: Sequence[str]) -> Iterator[dict[str, object]]:
    """Columns that hold labels; for those of rows above, by which levels of theirs another column holds them."""
    for place, column in enumerate(member.path):
        for level in column.levels:
            if (name := _label(place, level)) in names:
                higher = [(other, _label(place, other)) for other in column.levels if other > level]
                yield {
                    "name": name,
                    "stored": _stored(member, place, level),
                    "place": place,
                    "higher": higher if place < member.inherited else [],
                }


def _names_of(steps: Sequence[_Step]) -> list[str]:
    """The columns that hold the labels of some steps."""
    return list(dict.fromkeys(name for step in steps for pack in step.packs for name, _ in pack))


def _steps_of(member: Member) -> Iterator[_Step]:
    for levels in path_of_rows(member):
        labels = [
            (_label(position, level), 1 + sum(column.counts))
            for position, (column, level) in enumerate(zip(member.path, levels, strict=True))
            if column.counts[level] > 1
        ]
        yield _Step(levels, _packed(labels), loss_of(member.columns, levels[member.inherited :]))


def _packed(labels: Sequence[tuple[str, int]]) -> tuple[tuple[tuple[str, int], ...], ...]:
    """Columns with what each is multiplied by, so that whole numbers hold several of them.

    Args:
        labels: the columns, each with a larger number than is in it.
    """
    packs: list[list[tuple[str, int]]] = []
    room = MOST_PACKED
    for name, most in labels:
        if not packs or room * most > MOST_PACKED:
            packs.append([])
            room = 1
        packs[-1].append((name, room))
        room *= most
    return tuple(map(tuple, packs))
