"""Special uniques from their definition, row by row (Elliot, Manning, Ford 2002), and their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations
from math import prod

Row = Sequence[Hashable]


def minimal_uniques(rows: Sequence[Row], largest: int) -> list[list[tuple[int, ...]]]:
    """Of each row: the sets of columns by which it is alone, and by no part of which it is."""
    width = len(rows[0]) if rows else 0
    found: list[list[tuple[int, ...]]] = [[] for _ in rows]
    for size in range(1, min(largest, width) + 1):
        for columns in combinations(range(width), size):
            counts = Counter(tuple(row[column] for column in columns) for row in rows)
            for row, own in zip(rows, found, strict=True):
                alone = counts[tuple(row[column] for column in columns)] == 1
                if alone and not any(set(part) < set(columns) for part in own):
                    own.append(columns)
    return found


def scores(found: Sequence[Sequence[tuple[int, ...]]], width: int) -> list[int]:
    """The product of M - i for i from k to M - 1, over all minimal uniques of k of M columns."""
    return [sum(prod(width - i for i in range(len(own), width)) for own in sets) for sets in found]


def dis_suda(rows: Sequence[Row], found: Sequence[int], fraction: float) -> tuple[float, list[float]]:
    """DIS of the table, and DIS-SUDA of every row."""
    counts = Counter(tuple(row) for row in rows)
    uniques = sum(count == 1 for count in counts.values())
    pairs = sum(2 for count in counts.values() if count == 2)
    dis = uniques * fraction / (uniques * fraction + pairs * (1 - fraction))
    power = 1 + (8 - len(rows[0])) / 20
    scale = sum(score**-power for score in found if score)
    shares = [1 / (1 + (uniques / dis - uniques) / (score**power * scale)) if score else 0.0 for score in found]
    return dis, shares
