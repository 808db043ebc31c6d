"""The audit of a protected table: what every reader can work out of it about each cell (WP 22, chapter II and VI).

Who reads the table knows that every margin is the sum of its cells, that no cell is negative (and that none which is
left out is empty, since empty ones are published), and what is published of each: its value, or (where it is rounded)
the interval that its value lies in. The least and the greatest value that a
cell can have is found by two programs. What counts for the verdict is not the programs' word: each gives a whole table
that agrees with everything that is published, and that table is added up again here. So a cell is called protected
only where two such tables were seen. They are tables of whole numbers (sums in units of their last digit), as every
reader knows the true one to be: bounds of the linear relaxation alone would promise too much in three dimensions and
more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor

from kanon_sql.tables.solver import Program
from kanon_sql.tables.structure import CellTable

__all__ = ["Audit", "Interval", "Requirement", "Shift", "add_relations", "requirement_of"]

FARTHEST = 10**6
"""A cell that can be so far from its value, and as far as the largest cell, is as good as unbounded."""

HAIR = 1e-4
"""What is as near to a whole number as this is taken for it, where bounds of the linear relaxation are rounded."""

Shift = Mapping[int, int]
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

    def holds(self, low: int, high: int) -> bool:
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
        low, high: its least and greatest value, or what is beyond these where no table was proven to be the farthest;
            None for a high one without an end.
        down, up: the farthest tables that were seen.
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
        down, low = self._extreme(index, 1, known)
        up, high = self._extreme(index, -1, known)
        endless = high is None or high >= self.table.cells[index].value + self.farthest
        return Interval(self.lower[index] if low is None else low, None if endless else high, down, up)

    def _extreme(self, index: int, sign: int, known: Collection[int]) -> tuple[Shift, int | None]:
        """A possible table in which a cell is as small (1) or large (-1) as it can be, and how small or large that is.

        Where no such table is sure, it is the bound of the linear relaxation (None where that is not sure either), and
        not what the cell is in some table: the true one is among these, and intervals are for every reader.
        """
        value = self.table.cells[index].value
        if index not in self.groups or index in known:
            return {}, value
        members = [item for item in self.groups[index] if item not in known]
        shift: Shift | None = None
        end: int | None = None
        for whole in (False, True) if self.scale == 1 else (False,):
            program = Program.empty()
            variables = {item: program.variable(*self._bounds(item), whole=whole) for item in members}
            add_relations(program, self.table, variables)
            found = program.solve([(variables[index], float(sign))])
            if found is None:
                break
            away = {item: found.values[variable] / self.scale for item, variable in variables.items()}
            seen = self.believed(away, index, sign)
            shift = seen if seen is not None else shift
            if not whole and found.is_best:
                end = value + sign * ceil(sign * away[index] - HAIR)
            if seen is not None and found.is_best and (whole or value + seen.get(index, 0) == end):
                return seen, value + seen.get(index, 0)
        return shift or {}, end

    def believed(self, away: Mapping[int, float], index: int, sign: int) -> Shift | None:
        """What a program found, in whole numbers, if these are a table that agrees with all that is published.

        Where it found fractions, a second program looks for a table of the whole numbers around them.

        Args:
            away: how far cells are from the true ones.
            index: a cell that should be as small (1) or as large (-1) as it can be.
            sign: which of both.
        """
        nearest = {item: round(value) for item, value in away.items()}
        if self.agrees(nearest):
            return {item: value for item, value in nearest.items() if value}
        program, variables = Program.empty(), {}
        for item, value in away.items():
            low, high = self._limits(item)
            least, most = max(low, floor(value) - 1), min(high, ceil(value) + 1)
            if least > most:
                return None
            variables[item] = program.variable(least - nearest[item], most - nearest[item], whole=True)
        for above, parts in self.table.relations:
            gap = nearest.get(above, 0) - sum(nearest.get(part, 0) for part in parts)
            terms = [(variables[part], 1.0) for part in parts if part in variables]
            terms += [(variables[above], -1.0)] if above in variables else []
            if terms:
                program.row(terms, float(gap), float(gap))
        found = program.solve([(variables[index], float(sign))] if index in variables else [])
        if found is None:
            return None
        shift = {item: nearest[item] + round(found.values[variable]) for item, variable in variables.items()}
        return {item: value for item, value in shift.items() if value} if self.agrees(shift) else None

    def _limits(self, index: int) -> tuple[int, int]:
        """How far a cell can be from its value as far as is published."""
        value, low, high = self.table.cells[index].value, self.lower[index], self.upper[index]
        most = self.farthest if high is None else min(self.farthest, high - value)
        return max(-self.farthest, low - value), most

    def _bounds(self, index: int) -> tuple[float, float]:
        low, high = self._limits(index)
        return low * self.scale, high * self.scale

    def agrees(self, shift: Shift) -> bool:
        """Whether another table adds up exactly, and agrees with all that is published."""
        for index, away in shift.items():
            value, high = self.table.cells[index].value + away, self.upper[index]
            if value < self.lower[index] or (high is not None and value > high):
                return False
        return all(
            sum(shift.get(part, 0) for part in parts) == shift.get(above, 0) for above, parts in self.table.relations
        )
