"""Path codes: what a value is at every level of its hierarchy, in the bits of one number.

From the top of a hierarchy a path leads down to every value. Each label on it has a number among
the labels of its parent; these numbers, the highest label's in the highest bits, are the code of the
value. Its generalization to a level is the code without the bits below that level:

    47        [40, 60)  [45, 50)  47         10 01 010
    level 1   [40, 60)  [45, 50)             10 01 000
    level 2   [40, 60)                       10 00 000

A vector is the codes of its values side by side in one number, or in several ("words") where one is too
short. So a node is a mask: its classes are what a bitwise AND of the vectors with the mask leaves
different, whatever the number of quasi-identifiers.

Where a path needs more bits than a word has, another code begins at some level on the way down, with
the number of that level's label among all of the level; each level belongs to one of the codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kanon_sql.errors import VerificationError
from kanon_sql.search import Node
from kanon_sql.sql import WORD, Dialect

__all__ = ["Codes", "Digit", "Widest"]


@dataclass(frozen=True, slots=True)
class Widest:
    """The largest numbers that labels of one level have.

    Attributes:
        labels: among all labels of the level (``c<level>`` in a lookup table): from 1 on, 0 is no label.
        siblings: among the labels of one parent (``d<level>``): from 0 on. At the highest level below the top it does
            not matter.
    """

    labels: int
    siblings: int = 0


@dataclass(frozen=True, slots=True)
class Digit:
    """One label's part of a code.

    Attributes:
        column: of the lookup table.
        factor: a power of two.
    """

    column: str
    factor: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an attribute's generalized values of one level are: a word, its bits, and what they are made of."""

    word: int
    mask: int
    digits: tuple[Digit, ...]
    lowest: bool


class Codes:
    """The codes of all attributes.

    Args:
        widest: per attribute and level below the top, the largest numbers.

    Raises:
        ValueError: a level has more labels than a word can number.
    """

    def __init__(self, widest: Sequence[Sequence[Widest]]) -> None:
        self.widest = widest
        self._used: list[int] = []
        self._places = [self._placed(own) for own in widest]

    @property
    def words(self) -> int:
        """How many numbers a vector is."""
        return len(self._used)

    def masks(self, node: Node) -> list[int]:
        """Per word, the bits that a node's classes are distinguished by."""
        masks = [0] * self.words
        for own, level in zip(self._places, node, strict=True):
            if level < len(own):
                masks[own[level].word] |= own[level].mask
        return masks

    def bits(self, attribute: int, level: int) -> tuple[int, int]:
        """The word that a generalized value of one level is in, and the bits that it is made of."""
        place = self._places[attribute][level]
        return place.word, place.mask

    def held(self, node: Node) -> list[int]:
        """Per word, the bits that the frequency set of a node keeps: what it and its generalizations need."""
        held = [0] * self.words
        for own, level in zip(self._places, node, strict=True):
            for place in own[level:]:
                held[place.word] |= place.mask
        return held

    def keys(self, node: Node, dialect: Dialect, table: str | None = None) -> list[str]:
        """The keys of a node's classes over any frequency set that covers it: an expression per word that counts.

        Args:
            node: it.
            dialect: whose SQL to write.
            table: the alias to name the columns with, where they need one.
        """
        masks = self.masks(node)
        return [self._masked(word, masks[word], dialect, table) for word in self.keyed(node)]

    def keyed(self, node: Node) -> list[int]:
        """The words that the keys of a node's classes are made of, in order."""
        return [word for word, mask in enumerate(self.masks(node)) if mask]

    def refuse_uncovered(self, below: Node, nodes: Iterable[Node]) -> None:
        """Refuse to answer nodes from the frequency set of a node that lacks bits of theirs: their classes would merge.

        Raises:
            VerificationError: one of them is not covered.
        """
        held = self.held(below)
        for node in nodes:
            if any(mask & ~own for mask, own in zip(self.masks(node), held, strict=True)):
                raise VerificationError(f"the frequency set at {below} does not hold what node {node} is made of")

    def code(self, attribute: int, level: int, dialect: Dialect, table: str | None = None) -> str:
        """The code of a generalized value, over a frequency set; the rest as in :meth:`keys`."""
        place = self._places[attribute][level]
        return self._masked(place.word, place.mask, dialect, table)

    def from_lookup(self, attribute: int, level: int, dialect: Dialect, table: str | None = None) -> str:
        """The code of a generalized value, over the attribute's lookup table; the rest as in :meth:`keys`."""
        return _sum(self._places[attribute][level].digits, dialect, table)

    def from_lookups(self, node: Node, dialect: Dialect, table: Callable[[int], str]) -> list[str]:
        """The keys of a node's classes, over all lookup tables: attribute -> its table's alias."""
        words: dict[int, list[str]] = {}
        for attribute, (own, level) in enumerate(zip(self._places, node, strict=True)):
            if level < len(own):
                place = own[level]
                words.setdefault(place.word, []).append(_sum(place.digits, dialect, table(attribute)))
        return [" + ".join(parts) for _, parts in sorted(words.items())]

    def vectors(self, dialect: Dialect, table: Callable[[int], str]) -> list[str]:
        """All words of a vector, over all lookup tables: attribute -> its table's alias."""
        words: list[list[str]] = [[] for _ in self._used]
        for attribute, own in enumerate(self._places):
            for place in own:
                if place.lowest:
                    words[place.word].append(_sum(place.digits, dialect, table(attribute)))
        return [" + ".join(parts) for parts in words]

    def _masked(self, word: int, mask: int, dialect: Dialect, table: str | None) -> str:
        column = _qualified(f"code{word}", dialect, table)
        return column if mask == (1 << self._used[word]) - 1 else dialect.masked(column, str(mask))

    def _placed(self, levels: Sequence[Widest]) -> list[_Place]:
        """The places of one attribute, lowest level first."""
        places: list[_Place] = []
        for high, low in _runs(levels):
            sizes = [(f"c{high}", _bits(levels[high].labels))]
            sizes += [(f"d{level}", levels[level].siblings.bit_length()) for level in range(high - 1, low - 1, -1)]
            size = sum(bits for _, bits in sizes)
            word = next((word for word, used in enumerate(self._used) if used + size <= WORD), len(self._used))
            if word == len(self._used):
                self._used.append(0)
            left = top = self._used[word] + size
            self._used[word] = top
            digits: tuple[Digit, ...] = ()
            for level, (column, bits) in zip(range(high, low - 1, -1), sizes, strict=True):
                left -= bits
                if bits:
                    digits = (*digits, Digit(column, 1 << left))
                places.append(_Place(word, (1 << top) - (1 << left), digits, level == low))
        return list(reversed(places))


def _runs(levels: Sequence[Widest]) -> list[tuple[int, int]]:
    """The levels that share a code, highest first: the highest and the lowest of each."""
    if not levels:
        return []
    starts: list[int] = []
    used = 0
    for level in range(len(levels) - 1, -1, -1):
        used += levels[level].siblings.bit_length()
        if not starts or used > WORD:
            starts.append(level)
            used = _bits(levels[level].labels)
            if used > WORD:
                raise ValueError(f"a level with {levels[level].labels} labels does not fit into {WORD} bits")
    return [(start, following + 1) for start, following in pairwise([*starts, -1])]


def _bits(number: int) -> int:
    """The bits of a number; at least one, so that an attribute below its top always has a mask."""
    return max(1, number.bit_length())


def _sum(digits: Sequence[Digit], dialect: Dialect, table: str | None) -> str:
    """Digits times their factors; no two of them share a bit."""
    return " + ".join(
        _qualified(digit.column, dialect, table) + (f" * {digit.factor}" if digit.factor > 1 else "")
        for digit in digits
    )


def _qualified(column: str, dialect: Dialect, table: str | None) -> str:
    return dialect.quote(column) if table is None else f"{dialect.quote(table)}.{dialect.quote(column)}"
