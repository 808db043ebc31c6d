"""k-map by sampling weights, row by row in fractions: the least requirement on which engines have to agree."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import NamedTuple


class Judged(NamedTuple):
    """What a table reaches: the smallest sum of a class's weights, and the classes and rows that are below k."""

    least: Fraction | None
    classes: int
    rows: int


def judged(rows: Iterable[tuple[Hashable, str]], k: int) -> Judged:
    """Judge a table.

    Args:
        rows: the labels of each, and its weight as it is written.
        k: the fewest persons of the population that a class may be estimated to have.
    """
    classes: dict[Hashable, list[Fraction]] = {}
    for labels, weight in rows:
        classes.setdefault(labels, []).append(Fraction(weight))
    sums = [(sum(own, Fraction(0)), len(own)) for own in classes.values()]
    below = [size for total, size in sums if total < k]
    return Judged(min((total for total, _ in sums), default=None), len(below), sum(below))
