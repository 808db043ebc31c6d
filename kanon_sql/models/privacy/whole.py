"""What a whole table holds of a sensitive attribute: a bound on what any class of any generalization can reach.

A class is a part of the table. So it holds no more values than the table does. Where rows are counted there is a
closer bound: the released rows are a union of classes that satisfy, and requirements of which a union of satisfying
classes satisfies too (entropy and recursive diversity, shares of values) hold for all released rows together. These are
the table's rows but for those that may be suppressed. Taking rows from the most frequent values, until these
are level, makes the frequencies as equal as they can be: every other choice of as many rows majorizes this one
(Marshall, Olkin, Inequalities, 1979, chapter 1), and so does every choice of fewer. What the levelled
frequencies do not reach is reached by no generalization.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Whole"]


@dataclass(frozen=True)
class Whole:
    """The values of a sensitive attribute in a source; NULL is none.

    Attributes:
        sizes: rows (persons, where they are counted) -> how many values are held by this many, which is at least one.
        removable: rows that may be suppressed; None where persons are counted, whose shares do not add up: classes
            then are bounded by the number of values alone.
    """

    sizes: Mapping[int, int]
    removable: int | None

    @property
    def values(self) -> int:
        """How many different values a person holds."""
        return sum(self.sizes.values())

    @property
    def vanishes(self) -> bool:
        """Whether every row with a value may be suppressed, so that nothing bounds the shares of what is left."""
        return self.removable is None or self.removable >= sum(size * count for size, count in self.sizes.items())

    @property
    def in_words(self) -> str:
        """Such as ``6 different values``."""
        return f"{self.values:,} different value{'' if self.values == 1 else 's'}"

    def levelled(self) -> list[tuple[Fraction, int]]:
        """(Frequency, how many values have it), the largest first, as equal as suppression can make them.

        Frequencies count up to a factor: where all of them can be made equal, they are 1. They need not
        be whole numbers, which bounds what whole ones reach.
        """
        sizes = sorted(self.sizes.items(), reverse=True)
        if self.removable is None:
            return [(Fraction(1), self.values)] if sizes else []
        left, among, level = self.removable, 0, Fraction(0)
        for position, (size, count) in enumerate(sizes):
            among += count
            lower = sizes[position + 1][0] if position + 1 < len(sizes) else 0
            if left < among * (size - lower):
                level = size - Fraction(left, among)
                break
            left -= among * (size - lower)
        level = max(Fraction(1), level)  # a row of each value is the least there is, and equal already
        lowered = [(Fraction(size), count) for size, count in sizes if size < level]
        levelled = sum(count for size, count in sizes if size >= level)
        return [(level, levelled), *lowered] if levelled else lowered
