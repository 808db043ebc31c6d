"""LKC-privacy from its definition: every set of at most L columns, every combination of their values, in plain Python.

Mohammed, Fung, Hung, Lee: Anonymizing healthcare data (KDD 2009), definition 3.1. A value None of a column is a value.
A sensitive value None is none: shares are of the rows that have one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Row = Mapping[str, Any]


def combinations_of(rows: Sequence[Row], columns: Sequence[str], sizes: Collection[int]) -> Iterator[list[int]]:
    """The rows, by their numbers, of every combination of values of every set of so many columns."""
    for size in sizes:
        for own in combinations(columns, size):
            found: dict[tuple[Any, ...], list[int]] = defaultdict(list)
            for number, row in enumerate(rows):
                found[tuple(row[name] for name in own)].append(number)
            yield from found.values()


def confidence(rows: Sequence[Row], numbers: Sequence[int], attribute: str, values: Collection[Any] | None) -> Fraction:
    """The largest share that one value to protect has of the rows with a value."""
    counts = Counter(rows[number][attribute] for number in numbers)
    del counts[None]
    protected = [count for value, count in counts.items() if values is None or value in values]
    return Fraction(max(protected, default=0), max(counts.total(), 1))


def reached(
    rows: Sequence[Row],
    columns: Sequence[str],
    attribute: str,
    l: int,  # noqa: E741
    values: Collection[Any] | None = None,
) -> tuple[int, Fraction]:
    """The largest K and the least C that a table with rows satisfies, over all sets of 1 to L columns."""
    found = list(combinations_of(rows, columns, range(1, min(l, len(columns)) + 1)))
    return min(map(len, found)), max(confidence(rows, numbers, attribute, values) for numbers in found)


def satisfies(rows: Sequence[Row], columns: Sequence[str], asked: Mapping[str, Any]) -> bool:
    """Whether a table is LKC-private; one without rows is."""
    if not rows:
        return True
    k, c = reached(rows, columns, asked["attribute"], asked["l"], asked.get("values"))
    return k >= asked["k"] and c <= Fraction(str(asked["c"])) + Fraction(1, 10**9)


def exposed(rows: Sequence[Row], columns: Sequence[str], asked: Mapping[str, Any]) -> set[int]:
    """The rows with a combination of exactly L columns (of all, if there are fewer) that breaks it."""
    bound = Fraction(str(asked["c"])) + Fraction(1, 10**9)
    return {
        number
        for numbers in combinations_of(rows, columns, [min(asked["l"], len(columns))])
        if len(numbers) < asked["k"] or confidence(rows, numbers, asked["attribute"], asked.get("values")) > bound
        for number in numbers
    }
