"""Whether two releases list the same rows in the same order, told from counts alone.

Their rows are joined by position. A *cell* is a pair of classes, one of each release. It *holds* as many positions as
have that pair, and the source *has* as many rows that may be behind both classes. In one order no cell holds more than
the source has; in independent random orders most tables have cells that do.

How much the join returns of the source is the number of positions of which a row of its own may be behind both: the
sum over cells of the smaller of both counts. In random orders a cell holds a hypergeometric number. Releases that are
merely sorted by what both of them show are no more in one order than two shuffled ones: so classes are split into the
*blocks* that the source connects (a block is a component of the graph of cells that the source has), and orders are
taken to be random within each block. Mean and variance of the sum follow from those of single cells; that these are
taken as if they were independent makes the deviation an approximation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, lgamma, sqrt

__all__ = ["DEVIATIONS", "Cell", "Evidence", "evidence_of"]

DEVIATIONS = 5.0
"""A figure this many standard deviations from what random orders give is no accident: about one in two million."""


@dataclass(frozen=True)
class Cell:
    """The positions that have one class of each of two releases.

    Attributes:
        ours, theirs: the classes, by numbers that say nothing else.
        held: how many positions have both.
        possible: how many rows of the source may be behind both.
    """

    ours: int
    theirs: int
    held: int
    possible: int


@dataclass(frozen=True)
class Evidence:
    """What the cells say of the order of two releases.

    Attributes:
        positions: how many there are.
        returned: those of which a row of its own may be behind both classes.
        deviations: how many standard deviations that is more than random orders return.
    """

    positions: int
    returned: int
    deviations: float

    @property
    def contradictions(self) -> int:
        """Positions whose two rows cannot both be made of one row of the source, as often as they stand together."""
        return self.positions - self.returned

    @property
    def certain(self) -> bool:
        """Whether random orders practically never return as much."""
        return self.deviations > DEVIATIONS

    @property
    def common(self) -> bool:
        """Whether the releases are to be taken for two in one order: that is certain, or nothing contradicts it."""
        return self.positions > 0 and (self.certain or self.contradictions == 0)


def evidence_of(cells: Sequence[Cell]) -> Evidence:
    """Compare a join by position with what random orders give.

    Args:
        cells: all that hold a position or that the source has, each once.
    """
    block = _blocks((cell.ours, cell.theirs) for cell in cells if cell.possible)
    inside = [cell for cell in cells if cell.held and block.get((0, cell.ours), -1) == block.get((1, cell.theirs), -2)]
    ours, theirs, sizes = Counter[int](), Counter[int](), Counter[int]()
    for cell in inside:
        ours[cell.ours] += cell.held
        theirs[cell.theirs] += cell.held
        sizes[block[0, cell.ours]] += cell.held
    mean = variance = 0.0
    for cell in cells:
        if cell.possible and ours[cell.ours] and theirs[cell.theirs]:
            size = sizes[block[0, cell.ours]]
            first, second = _moments(size, ours[cell.ours], theirs[cell.theirs], cell.possible)
            mean += first
            variance += second - first * first
    returned = sum(min(cell.held, cell.possible) for cell in cells)
    surplus = returned - mean
    deviations = surplus / sqrt(variance) if variance > 1e-9 else 0.0
    return Evidence(sum(cell.held for cell in cells), returned, deviations)


def _blocks(edges: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The component of every class: of ours as (0, number), of theirs as (1, number)."""
    above: dict[tuple[int, int], tuple[int, int]] = {}

    def root(item: tuple[int, int]) -> tuple[int, int]:
        above.setdefault(item, item)
        while above[item] != item:
            above[item] = above[above[item]]
            item = above[item]
        return item

    for ours, theirs in edges:
        above[root((0, ours))] = root((1, theirs))
    numbers: dict[tuple[int, int], int] = {}
    return {item: numbers.setdefault(root(item), len(numbers)) for item in list(above)}


@cache
def _log_factorial(number: int) -> float:
    return lgamma(number + 1)


def _log_choose(number: int, chosen: int) -> float:
    return _log_factorial(number) - _log_factorial(chosen) - _log_factorial(number - chosen)


@cache
def _moments(size: int, ours: int, theirs: int, most: int) -> tuple[float, float]:
    """The means of a hypergeometric number cut off at ``most``, and of its square.

    It is the number of positions that have a class of ``ours`` rows and one of ``theirs``, of ``size`` in random order.
    """
    highest = min(ours, theirs)
    lowest = max(0, ours + theirs - size)
    expected = ours * theirs / size
    if most >= highest:
        spread = expected * (size - ours) * (size - theirs) / (size * max(1, size - 1))
        return expected, spread + expected * expected
    total = _log_choose(size, theirs)
    first = second = 0.0
    below = 0.0
    for value in range(most):
        if value >= lowest:
            below += exp(_log_choose(ours, value) + _log_choose(size - ours, theirs - value) - total)
        above = max(0.0, 1.0 - below)
        first += above
        second += (2 * value + 1) * above
    return first, second
