"""Several integer codes in one number, so that a class has one key instead of one per attribute.

Codes become digits of a number whose bases differ (mixed radix): the code of attribute i is
multiplied by the number of combinations of the attributes before it. Sums of such digits are
different whenever the codes are, so a vector of levels is grouped by a sum of columns. What does
not fit into one number goes on in another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

__all__ = ["LARGEST", "Packing", "Place"]

LARGEST = 2**62
"""No packed key reaches it, so that no engine's 64-bit integer overflows."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an attribute's code goes.

    Attributes:
        word: which of the numbers.
        stride: what its code is multiplied by.
    """

    word: int
    stride: int


class Packing:
    """The places of all attributes.

    Args:
        radixes: per attribute, a number above every code; codes are not negative.

    Raises:
        ValueError: a radix is not positive, or too large for a number of its own.
    """

    def __init__(self, radixes: Sequence[int]) -> None:
        self.places: list[Place] = []
        word, stride = 0, 1
        for radix in radixes:
            if not 0 < radix <= LARGEST:
                raise ValueError(f"no place for {radix} codes")
            if stride * radix > LARGEST:
                word, stride = word + 1, 1
            self.places.append(Place(word, stride))
            stride *= radix

    def keys(self, attributes: Iterable[int], digit: Callable[[int], str]) -> list[str]:
        """The packed keys of some attributes: one sum of digits per number that any of them is in.

        Args:
            attributes: their positions.
            digit: position -> the SQL of the attribute's code times its stride.
        """
        words: dict[int, list[str]] = {}
        for attribute in attributes:
            words.setdefault(self.places[attribute].word, []).append(digit(attribute))
        return [" + ".join(digits) for _, digits in sorted(words.items())]
