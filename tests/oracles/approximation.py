"""What an optimal release costs, and what a published one does, in plain Python: nothing here is the package's.

Rows are tuples, a hierarchy is value -> labels, the lowest first. A column of a class costs each of its rows the lowest
level at which all of them have the same label, as a share of the steps to the top; with ``cells`` everything unless
their values are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

Hierarchies = Sequence[Mapping[object, Sequence[str]]]
Row = tuple[object, ...]


def cost_of(rows: Sequence[Row], hierarchies: Hierarchies, *, cells: bool) -> Fraction:
    """What one class costs."""
    total = Fraction(0)
    for column, hierarchy in enumerate(hierarchies):
        paths = [hierarchy[row[column]] for row in rows]
        top = len(paths[0]) - 1
        level = next(level for level in range(top + 1) if len({path[level] for path in paths}) == 1)
        total += Fraction(level > 0) if cells else Fraction(level, max(1, top))
    return total * len(rows)


def best(rows: Sequence[Row], hierarchies: Hierarchies, k: int, *, cells: bool) -> Fraction:
    """The lowest cost of all partitions of the rows into classes of k to 2k - 1: a larger one can be divided."""

    @cache
    def lowest(left: tuple[int, ...]) -> Fraction | None:
        if not left:
            return Fraction(0)
        found = []
        for others in _others(left[1:], k):
            rest = lowest(tuple(row for row in left[1:] if row not in others))
            if rest is not None:
                found.append(rest + cost_of([rows[row] for row in (left[0], *others)], hierarchies, cells=cells))
        return min(found, default=None)

    answer = lowest(tuple(range(len(rows))))
    assert answer is not None
    return answer


def _others(rows: Sequence[int], k: int) -> Iterator[tuple[int, ...]]:
    for size in range(k - 1, 2 * k - 1):
        yield from combinations(rows, size)
