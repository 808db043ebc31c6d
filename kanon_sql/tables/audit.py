"""The audit of a protected table: what every reader can work out of it about each cell (WP 22, chapter II and VI).

Who reads the table knows that every margin is the sum of its cells, that no cell is negative (and that none which is
left out is empty, since empty ones are published), and what is published of each: its value, or (where it is rounded)
the interval that its value lies in. The least and the greatest value that a
cell can have is found by two programs. What counts for the verdict is not the programs' word: each gives a whole table
that agrees with everything that is published, and that table is added up again here. So a cell is called protected
only where two such tables were seen. In tables of counts they are tables of whole numbers, as every reader knows the
true one to be: bounds of the linear relaxation alone would promise too much in three dimensions and more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

from kanon_sql.tables.solver import Program
from kanon_sql.tables.structure import CellTable

__all__ = ["Audit", "Interval", "Requirement", "Shift", "add_relations", "requirement_of"]

FARTHEST = 10**6
"""A cell that can be so far from its value, and as far as the largest cell, is as good as unbounded."""

DENOMINATORS = (1, 2, 3, 4, 6, 12, 60)
"""Sums of a table that a program finds are fractions with one of these, or are not believed."""

Shift = Mapping[int, Fraction]
"""How far each cell of another possible table is from the true one; cells that are not named are not away."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """What the interval of a sensitive cell has to be.

    Attributes:
        width: how wide at least.
        below: how far below the value at least, down to zero.
        above: how far above it at least.
    """

    width: int
    below: int
    above: int

    def holds(self, low: Fraction | int, high: Fraction | int) -> bool:
        """Whether bounds, as distances from the value, are far enough apart."""
        return high - low >= self.width and -low >= self.below and high >= self.above

    def of(self, index: int, down: Shift, up: Shift) -> bool:
        """Whether two tables show that it holds for a cell."""
        return self.holds(down.get(index, 0), up.get(index, 0))

    @property
    def farthest(self) -> int:
        """The largest distance that it asks for."""
        return max(self.width, self.below + self.above)


def requirement_of(table: CellTable, index: int, width: int, reader: Collection[int] = ()) -> Requirement:
    """What a sensitive cell's interval has to be: of a count so wide, of a sum so far to both sides.

    Args:
        table: the cells.
        index: the sensitive one.
        width: of a count.
        reader: cells that anyone who reads knows; a sum is not less than the known ones in it.
    """
    cell = table.cells[index]
    if not table.sums:
        return Requirement(width, 0, 0)
    need = max(1, cell.need)
    return Requirement(0, min(need, cell.value - table.least(index, reader)), need)


@dataclass(frozen=True)
class Interval:
    """What a cell can be.

    Attributes:
        low, high: its least and greatest value; None for a high one without an end.
        down, up: the tables in which it has them.
    """

    low: int
    high: int | None
    down: Shift
    up: Shift


def add_relations(program: Program, table: CellTable, variables: Mapping[int, int]) -> None:
    """Let every margin move as the sum of its cells does; cells without a variable do not move."""
    for above, parts in table.relations:
        terms = [(variables[part], 1.0) for part in parts if part in variables]
        terms += [(variables[above], -1.0)] if above in variables else []
        if terms:
            program.row(terms, 0.0, 0.0)


@dataclass(frozen=True)
class Audit:
    """What is published of a table.

    Attributes:
        table: the true one.
        lower: what every reader knows each cell to be at least.
        upper: and at most; None for no limit.
    """

    table: CellTable
    lower: Sequence[int]
    upper: Sequence[int | None]

    @classmethod
    def of_suppressed(cls, table: CellTable, suppressed: Collection[int]) -> Audit:
        """All cells are published but those that are suppressed.

        Empty cells are known to be empty. So a suppressed count is known to be 1 at least; a sum may still be 0.
        """
        values = [cell.value for cell in table.cells]
        least = 0 if table.sums else 1
        lower = [least if index in suppressed else value for index, value in enumerate(values)]
        return cls(table, lower, [None if index in suppressed else value for index, value in enumerate(values)])

    @cached_property
    def farthest(self) -> int:
        """A cell that can be so far from its value is as good as unbounded."""
        return max(FARTHEST, *(cell.value for cell in self.table.cells), 0)

    @cached_property
    def scale(self) -> float:
        """Units of the programs per unit of the table: solvers compare with an absolute tolerance."""
        return FARTHEST / self.farthest

    @cached_property
    def open(self) -> Sequence[int]:
        """The cells whose value is not published."""
        return [index for index in range(len(self.lower)) if self.lower[index] != self.upper[index]]

    @cached_property
    def groups(self) -> Mapping[int, Sequence[int]]:
        """Open cell -> the open cells that some chain of relations joins it to."""
        first = {index: index for index in self.open}

        def root(index: int) -> int:
            while first[index] != index:
                first[index] = index = first[first[index]]
            return index

        for above, parts in self.table.relations:
            linked = [index for index in (above, *parts) if index in first]
            for index in linked[1:]:
                first[root(index)] = root(linked[0])
        groups: dict[int, list[int]] = {}
        for index in self.open:
            groups.setdefault(root(index), []).append(index)
        return {index: groups[root(index)] for index in self.open}

    def interval(self, index: int, known: Collection[int] = ()) -> Interval:
        """What a cell can be, for every reader or for a reader who knows some of the suppressed cells.

        Args:
            index: the cell.
            known: cells whose value they know.
        """
        value = self.table.cells[index].value
        down, up = self._extreme(index, 1.0, known), self._extreme(index, -1.0, known)
        low, high = value + down.get(index, 0), value + up.get(index, 0)
        return Interval(ceil(low), None if up.get(index, 0) >= self.farthest else floor(high), down, up)

    def _extreme(self, index: int, sign: float, known: Collection[int]) -> Shift:
        """A possible table in which a cell is as small (1) or large (-1) as it can be; the true one if none is sure."""
        if index not in self.groups or index in known:
            return {}
        members = [item for item in self.groups[index] if item not in known]
        for whole in (False,) if self.table.sums else (False, True):
            program = Program.empty()
            variables = {item: program.variable(*self._bounds(item), whole=whole) for item in members}
            add_relations(program, self.table, variables)
            found = program.solve([(variables[index], sign)])
            if found is None:
                return {}
            away = {item: found[variable] / self.scale for item, variable in variables.items()}
            shift = self.believed(away)
            if shift is not None:
                return shift
        return {}

    def believed(self, away: Mapping[int, float]) -> Shift | None:
        """What a program found, as exact numbers, if these are a table that agrees with all that is published.

        Counts must be whole; an optimum of the linear relaxation that is whole is the optimum of whole numbers.
        """
        for denominator in DENOMINATORS if self.table.sums else DENOMINATORS[:1]:
            shift = {item: Fraction(round(value * denominator), denominator) for item, value in away.items()}
            if self.agrees(shift):
                return {item: value for item, value in shift.items() if value}
        return None

    def _bounds(self, index: int) -> tuple[float, float]:
        value, low, high = self.table.cells[index].value, self.lower[index], self.upper[index]
        most = self.farthest if high is None else min(self.farthest, high - value)
        return max(-self.farthest, low - value) * self.scale, most * self.scale

    def agrees(self, shift: Shift) -> bool:
        """Whether another table adds up exactly, and agrees with all that is published."""
        for index, away in shift.items():
            value, high = self.table.cells[index].value + away, self.upper[index]
            if value < self.lower[index] or (high is not None and value > high):
                return False
        return all(
            sum(shift.get(part, 0) for part in parts) == shift.get(above, 0) for above, parts in self.table.relations
        )
