"""Linear and integer programs over the cells of a table, solved by HiGHS (Huangfu, Hall 2018) through scipy.

The output of the solver is not trusted: what a program finds is a table, and callers verify it again in whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.errors import UnsupportedError
from kanon_sql.version import how_to_install

__all__ = ["Program", "Solution", "needs_scipy"]

NODES = 2_000
"""The most nodes of a branch and bound: a number of nodes, not of seconds, so that runs are reproducible."""


def needs_scipy() -> Any:
    """The module of scipy that solves programs.

    Raises:
        UnsupportedError: it is not installed.
    """
    try:
        from scipy import optimize
    except ImportError:
        raise UnsupportedError(
            "suppressing cells of a table, auditing it and controlled rounding need scipy, which is not installed; "
            f"{how_to_install('tables')}"
        ) from None
    return optimize


@dataclass(frozen=True)
class Solution:
    """What a program found.

    Attributes:
        values: those of the variables.
        is_best: whether the solver says that no others cost less.
    """

    values: Sequence[float]
    is_best: bool


@dataclass
class Program:
    """A program: what each variable costs, its bounds, and rows that bound sums of variables."""

    cost: list[float]
    lower: list[float]
    upper: list[float]
    whole: list[bool]
    _data: list[tuple[int, int, float]]
    _rows: list[tuple[float, float]]

    @classmethod
    def empty(cls) -> Program:
        """A program without variables."""
        return cls([], [], [], [], [], [])

    def variable(self, lower: float, upper: float, *, cost: float = 0.0, whole: bool = False) -> int:
        """Add a variable; returns its number."""
        self.cost.append(cost)
        self.lower.append(lower)
        self.upper.append(upper)
        self.whole.append(whole)
        return len(self.cost) - 1

    def row(self, terms: Sequence[tuple[int, float]], lower: float, upper: float) -> None:
        """Bound a sum of variables times factors."""
        number = len(self._rows)
        self._data += [(number, variable, factor) for variable, factor in terms]
        self._rows.append((lower, upper))

    def solve(self, cost: Sequence[tuple[int, float]] | None = None) -> Solution | None:
        """The variables' values at the least cost that was found; None where none were found.

        Args:
            cost: other costs than those of the variables: variable and cost.
        """
        optimize = needs_scipy()
        from scipy.sparse import csr_array

        costs = self.cost
        if cost is not None:
            costs = [0.0] * len(self.cost)
            for variable, factor in cost:
                costs[variable] = factor
        constraints = []
        if self._rows:
            row, column, data = zip(*self._data, strict=True)
            matrix = csr_array((data, (row, column)), shape=(len(self._rows), len(self.cost)))
            low, high = zip(*self._rows, strict=True)
            constraints = [optimize.LinearConstraint(matrix, low, high)]
        found = optimize.milp(
            costs,
            integrality=[int(whole) for whole in self.whole],
            bounds=optimize.Bounds(self.lower, self.upper),
            constraints=constraints,
            options={"node_limit": NODES, "mip_rel_gap": 0.0},
        )
        return None if found.x is None else Solution([float(value) for value in found.x], found.status == 0)
