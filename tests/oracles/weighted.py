"""Individual and household risk by sampling weights, from the mean of 1 / F that they estimate, as a series.

Of a class with f records and weights that add up to F, p = f / F: the mean of 1 / (f + j) for j others, negative
binomial with f and p: the sum over j of C(f + j - 1, j) p^f (1 - p)^j / (f + j).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from math import prod


def mean_of_inverse(f: int, p: float) -> float:
    """The mean, to ten digits."""
    term, total = p**f, 0.0
    for j in range(200_000):
        total += term / (f + j)
        term *= (f + j) / (j + 1) * (1 - p)
        if term < 1e-15:
            break
    return total


def risks(rows: Sequence[Sequence[Hashable]], weights: Sequence[float]) -> list[float]:
    """The risk of each row: the mean for one and two records, and p / (f - 1 + p) for more."""
    classes: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        classes[tuple(row)].append(number)
    found = [0.0] * len(rows)
    for numbers in classes.values():
        f = len(numbers)
        p = min(1.0, f / sum(weights[number] for number in numbers))
        risk = mean_of_inverse(f, p) if f < 3 else p / (f - 1 + p)
        for number in numbers:
            found[number] = risk
    return found


def household_risks(found: Sequence[float], households: Sequence[Hashable]) -> list[float]:
    """Of each row, the risk of its household; a row without one is one of its own."""
    return [
        risk
        if own is None
        else 1 - prod(1 - other for other, theirs in zip(found, households, strict=True) if theirs == own)
        for risk, own in zip(found, households, strict=True)
    ]
