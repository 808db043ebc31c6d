"""Micro-aggregation in plain Python: MDAV, the optimal univariate partition, and the squares that a partition loses.

Nothing here is shared with the product: rows are tuples of numbers or None, and sums are fractions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import floor, inf
from typing import Any

Row = Sequence[int | None]


def mdav(rows: Sequence[Sequence[float]], k: int) -> list[list[int]]:
    """The classes of MDAV (Domingo-Ferrer, Torra 2005): fixed size k, around the rows farthest from the mean.

    Columns are divided by their standard deviation first.
    """
    rows = _standardized(rows)
    left, classes = set(range(len(rows))), []

    def take(number: int) -> None:
        nearest = sorted(left, key=lambda other: (_apart(rows[number], rows[other]), other))[:k]
        classes.append(nearest)
        left.difference_update(nearest)

    def farthest(point: Sequence[float]) -> int:
        return max(left, key=lambda number: (_apart(point, rows[number]), -number))

    while len(left) >= 3 * k:
        first = farthest(_mean(rows[number] for number in left))
        other = farthest(rows[first])
        take(first)
        if other in left:
            take(other)
    if len(left) >= 2 * k:
        take(farthest(_mean(rows[number] for number in left)))
    classes.append(sorted(left))
    return [members for members in classes if members]


def _standardized(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    means = _mean(rows)
    spreads = [sum((row[i] - means[i]) ** 2 for row in rows) ** 0.5 or 1.0 for i in range(len(means))]
    return [[(row[i] - means[i]) / spreads[i] for i in range(len(means))] for row in rows]


def _mean(rows: Iterable[Sequence[float]]) -> list[float]:
    found = list(rows)
    return [sum(column) / len(found) for column in zip(*found, strict=True)]


def _apart(one: Sequence[float], other: Sequence[float]) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def share_lost(rows: Sequence[Sequence[float]], classes: Iterable[Collection[int]]) -> float:
    """The squares within the classes over all squares, the mean of the columns: what means lose at least."""
    rows = _standardized(rows)
    lost = 0.0
    for members in classes:
        middle = _mean(rows[number] for number in members)
        lost += sum(_apart(rows[number], middle) for number in members)
    return lost / len(rows[0])


def least_squares(values: Sequence[int], k: int) -> Fraction:
    """The least squares of any partition into groups of at least k (Hansen, Mukherjee 2003).

    In an optimal one a group is a run of the sorted values, and has fewer than 2k of them: a shortest path.
    """
    ordered = sorted(values)
    sums, squares = [0], [0]
    for value in ordered:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)

    def cost(start: int, end: int) -> Fraction:
        total = sums[end] - sums[start]
        return squares[end] - squares[start] - Fraction(total * total, end - start)

    best: list[Fraction | float] = [0, *([inf] * len(ordered))]
    for end in range(k, len(ordered) + 1):
        starts = range(max(0, end - 2 * k + 1), end - k + 1)
        best[end] = (
            min(best[start] + cost(start, end) for start in starts if best[start] != inf)
            if any(best[start] != inf for start in starts)
            else inf
        )
    return Fraction(best[-1])


def whole(value: Any) -> int | None:
    """A value as a whole number: cents of a decimal and of a float, days, seconds."""
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, Decimal):
        return int(value * 100)
    if isinstance(value, float):
        return floor(value * 100 + 0.5)
    if isinstance(value, datetime):
        return floor((value - datetime(1970, 1, 1)).total_seconds())
    return (value - date(1970, 1, 1)).days


def aggregate(values: Sequence[int | None], function: str) -> int | None:
    """What a class releases: the mean rounded half up, the lower median, or the lowest mode; None with a None."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if function == "mean":
        return floor(Fraction(sum(known), len(known)) + Fraction(1, 2))
    if function == "median":
        return sorted(known)[(len(known) - 1) // 2]
    return min(known, key=lambda value: (-known.count(value), value))


def squares_lost(values: Sequence[int | None], released: Sequence[int | None]) -> Fraction:
    """The squares of the differences over those from the mean; what is released as None has lost all of them."""
    known = [value for value in values if value is not None]
    if not known:
        return Fraction(0)
    mean = Fraction(sum(known), len(known))
    every = sum((value - mean) ** 2 for value in known)
    lost = sum(
        (value - (mean if other is None else other)) ** 2
        for value, other in zip(values, released, strict=True)
        if value is not None
    )
    return Fraction(lost) / every if every else Fraction(0)
