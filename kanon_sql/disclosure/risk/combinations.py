"""Which columns distinguish records, alone and together.

Distinction is the share of different vectors among the records, separation the share of pairs of records that
differ (Motwani and Xu, Efficient algorithms for masking and finding quasi-identifiers, VLDB 2007 workshop). A
combination that gives every record a vector of its own is a minimal unique one if no part of it does; they are
found level by level, as in Agrawal and Srikant's Apriori: what has a unique part is never asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

__all__ = ["Columns", "Combination", "combination_count", "combinations"]

Columns = tuple[int, ...]
"""Positions of columns, ascending."""


@dataclass(frozen=True)
class Combination:
    """The classes by some of the columns.

    Attributes:
        columns: positions of the columns.
        classes: different vectors.
        records: records in them.
        uniques: records with a vector of their own.
        equal_pairs: ordered pairs of records with the same vector.
    """

    columns: Columns
    classes: int
    records: int
    uniques: int
    equal_pairs: float

    @property
    def distinction(self) -> float | None:
        """Different vectors per record; None without a record."""
        return self.classes / self.records if self.records else None

    @property
    def separation(self) -> float | None:
        """The share of pairs of records that differ; None with fewer than two records."""
        pairs = self.records * (self.records - 1)
        return 1 - self.equal_pairs / pairs if pairs else None

    @property
    def identifies(self) -> bool:
        """Whether every record has a vector of its own."""
        return 0 < self.records == self.uniques


def combination_count(columns: int, largest: int) -> int:
    """How many combinations there are at most."""
    return sum(comb(columns, size) for size in range(1, min(columns, largest) + 1))


def combinations(
    columns: int, largest: int, measure: Callable[[Sequence[Columns]], Mapping[Columns, Combination]]
) -> tuple[list[Combination], list[Columns]]:
    """Measure all combinations of up to ``largest`` columns that have no unique part.

    Args:
        columns: how many columns there are.
        largest: the most columns in a combination.
        measure: asked once per size, with all combinations of that size.

    Returns:
        What was measured, smaller ones first, and the minimal unique combinations.
    """
    measured: list[Combination] = []
    minimal: list[Columns] = []
    level: list[Columns] = [(position,) for position in range(columns)]
    while level:
        found = measure(level)
        measured += [found[item] for item in level]
        minimal += [item for item in level if found[item].identifies]
        going_on = [item for item in level if not found[item].identifies]
        level = _one_larger(going_on) if len(level[0]) < largest else []
    return measured, minimal


def _one_larger(level: Sequence[Columns]) -> list[Columns]:
    """The combinations of one column more, all of whose parts of one column less are in the level."""
    known = set(level)
    joined = [
        (*first, second[-1])
        for first in level
        for second in level
        if first[:-1] == second[:-1] and first[-1] < second[-1]
    ]
    return [item for item in joined if all(item[:i] + item[i + 1 :] in known for i in range(len(item)))]
