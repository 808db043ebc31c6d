"""Combinations of m columns from their definition: which are rare, and the most rows without a rare one.

Hundepool and Willenborg, mu- and tau-Argus (1996). A value None is a value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations

Row = Sequence[Hashable]


def rarest(rows: Sequence[Row], m: int) -> list[int]:
    """Of each row, how many rows have the rarest of its combinations of at most m columns."""
    width = len(rows[0]) if rows else 0
    found = [len(rows)] * len(rows)
    for size in range(1, min(m, width) + 1):
        for columns in combinations(range(width), size):
            values = [tuple(row[column] for column in columns) for row in rows]
            counts = Counter(values)
            found = [min(least, counts[value]) for least, value in zip(found, values, strict=True)]
    return found


def satisfies(rows: Sequence[Row], k: int, m: int) -> bool:
    """Whether no combination is rare."""
    return all(count >= k for count in rarest(rows, m))


def most_rows(rows: Sequence[Row], k: int, m: int) -> set[int]:
    """The largest choice of rows, by their numbers, without a rare combination: by trying every choice."""
    numbers = range(len(rows))
    for size in range(len(rows), 0, -1):
        choices = [set(own) for own in combinations(numbers, size) if satisfies([rows[item] for item in own], k, m)]
        if choices:
            (only,) = choices  # there is one alone
            return only
    return set()


def left(rows: Sequence[Row], k: int, m: int, of: Iterable[int] | None = None) -> set[int]:
    """The same for many rows: one row with a rare combination is dropped at a time, in the order of their numbers."""
    kept = list(range(len(rows)) if of is None else of)
    while True:
        found = rarest([rows[item] for item in kept], m)
        rare = [item for item, count in zip(kept, found, strict=True) if count < k]
        if not rare:
            return set(kept)
        kept.remove(rare[0])


SUPPRESSED = "*"


def cells_left(rows: Sequence[Row], k: int, m: int) -> list[tuple[Hashable, ...]]:
    """What is released where rows lose cells in rounds, and then are dropped where something is still rare.

    In each round, every row with a rare combination of m columns loses the cell that is in most of them: the first of
    equal ones. A suppressed cell is a value. A column of one value never loses any: what is rare is so without it.
    """
    cells = [tuple(row) for row in rows]
    width = len(cells[0]) if cells else 0
    sets = list(combinations(range(width), min(m, width)))
    several = [len(set(column)) > 1 for column in zip(*cells, strict=True)]
    while True:
        hits = [[0] * width for _ in cells]
        for columns in sets:
            values = [tuple(row[column] for column in columns) for row in cells]
            counts = Counter(values)
            for own, row, value in zip(hits, cells, values, strict=True):
                for column in columns:
                    own[column] += counts[value] < k and row[column] != SUPPRESSED and several[column]
        if not any(map(any, hits)):
            return [cells[number] for number in sorted(left(cells, k, m))]
        lost = [own.index(max(own)) if any(own) else None for own in hits]
        cells = [
            tuple(SUPPRESSED if place == gone else cell for place, cell in enumerate(row))
            for row, gone in zip(cells, lost, strict=True)
        ]
