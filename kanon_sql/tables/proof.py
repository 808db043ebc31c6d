"""The proof that a sensitive cell is protected: two possible tables in which it is far enough apart.

One program looks for both at once, and for such as differ little from the true one, so that few other cells are needed.
It can be told of cells that could be suppressed besides, each at a price: then it chooses the cheapest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kanon_sql.tables.audit import Audit, Requirement, Shift, add_relations
from kanon_sql.tables.solver import Program

__all__ = ["Proof", "Reader", "proven"]

Reader = tuple[int, ...]
"""The cells that a reader knows beforehand: none, or those that are theirs alone."""

HAIR = 1e-3
"""What moving a cell costs against suppressing one, in shares of the whole requirement."""

UNITS = 1_000
"""What is asked for of a sum is this many units of the program, since solvers compare with an absolute tolerance."""


@dataclass(frozen=True)
class Proof:
    """Two tables that agree with everything that is published.

    Attributes:
        down: how far the cells of the one are from the true ones.
        up: and those of the other.
    """

    down: Shift
    up: Shift

    @cached_property
    def moved(self) -> frozenset[int]:
        """The cells that are not the same in both and in the true table."""
        return frozenset(self.down) | frozenset(self.up)


def proven(
    audit: Audit,
    index: int,
    requirement: Requirement,
    reader: Collection[int],
    *,
    prices: Mapping[int, float] | None = None,
    exact: bool = False,
) -> Proof | None:
    """Look for the proof that a cell is protected.

    Args:
        audit: what is published; cells that could be suppressed besides count as suppressed.
        index: the sensitive cell.
        requirement: how far apart the tables must be in it.
        reader: the cells that anyone who reads knows beforehand.
        prices: what it costs to suppress each of the cells that are not suppressed yet.
        exact: choose among these by an integer program; else by its linear relaxation.

    Returns:
        The proof, added up in whole numbers; None where none was found.
    """
    for whole in (False, True):
        search = _Search(audit, index, requirement, reader, prices or {}, exact, whole)
        if whole and search.unit > 1:  # whole units of the program are not those of the table
            return None
        found = search.program.solve()
        if found is None:
            return None
        shifts = [audit.believed(search.shift(found.values, side), index, 1 - 2 * side) for side in (0, 1)]
        if shifts[0] is not None and shifts[1] is not None and requirement.of(index, shifts[0], shifts[1]):
            return Proof(shifts[0], shifts[1])
    return None


class _Search:
    """The program: how far each open cell moves down and up in either table."""

    def __init__(
        self,
        audit: Audit,
        index: int,
        requirement: Requirement,
        reader: Collection[int],
        prices: Mapping[int, float],
        exact: bool,
        whole: bool,
    ) -> None:
        self.audit, self.reader, self.program = audit, reader, Program.empty()
        self.reach = 2 * max(1, requirement.farthest)
        self.unit = max(1.0, self.reach / UNITS) if audit.table.sums else 1.0
        members = [item for item in audit.groups.get(index, ()) if item not in reader]
        self.sides = [self._side(members, whole) for _ in range(2)]
        for item in members:
            if item in prices:
                self._price(item, prices[item], exact)
        if index in self.sides[0]:
            self._ask(index, requirement)
        else:
            self.program.row([(self.program.variable(0.0, 0.0), 1.0)], 1.0, 1.0)  # it cannot move

    def _side(self, members: Collection[int], whole: bool) -> dict[int, tuple[int, int, int]]:
        """One table: cell -> how far it moves, and that as less and as more."""
        program, table = self.program, self.audit.table
        side = {}
        for item in members:
            low, high = self._bounds(item)
            less = program.variable(0.0, -low, cost=HAIR / self.reach * self.unit)
            more = program.variable(0.0, high, cost=HAIR / self.reach * self.unit)
            away = program.variable(low, high, whole=whole)
            program.row([(away, 1.0), (less, 1.0), (more, -1.0)], 0.0, 0.0)
            side[item] = (away, less, more)
        add_relations(program, table, {item: variables[0] for item, variables in side.items()})
        return side

    def _bounds(self, item: int) -> tuple[float, float]:
        value, low = self.audit.table.cells[item].value, self.audit.lower[item]
        return -min(value - low, self.reach) / self.unit, self.reach / self.unit

    def _price(self, item: int, price: float, exact: bool) -> None:
        """A cell may move only where it is paid for."""
        chosen = self.program.variable(0.0, 1.0, cost=price, whole=exact)
        low, high = self._bounds(item)
        for side in self.sides:
            _, less, more = side[item]
            self.program.row([(more, 1.0), (chosen, -high)], -2 * high, 0.0)
            self.program.row([(less, 1.0), (chosen, low)], 2 * low, 0.0)

    def _ask(self, index: int, requirement: Requirement) -> None:
        down, up = (side[index][0] for side in self.sides)
        # A hair more than is asked for, where the numbers that are found are rounded.
        spare = 0.5 if self.unit > 1 else 0.0
        self.program.row([(up, 1.0), (down, -1.0)], requirement.width / self.unit, float("inf"))
        self.program.row([(up, 1.0)], (requirement.above + spare) / self.unit, float("inf"))
        table = self.audit.table
        most = table.cells[index].value - max(table.least(index, self.reader), self.audit.lower[index])
        self.program.row([(down, 1.0)], -float("inf"), -min(requirement.below + spare, most) / self.unit)

    def shift(self, found: Sequence[float], side: int) -> dict[int, float]:
        """How far the cells of one table moved, in units of the table; what moved by nothing is left out."""
        away = {item: found[variables[0]] * self.unit for item, variables in self.sides[side].items()}
        return {item: value for item, value in away.items() if abs(value) > 1e-4}
