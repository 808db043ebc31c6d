"""Sets of lattice nodes as the bits of one integer, so that whole boxes are decided at once.

Node number n, in lexicographic order, is bit n. What lies below a node is a box: the
intersection of one mask per attribute. A box grown by one level of an attribute is itself,
or itself shifted by that attribute's stride.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from kanon_sql.search.lattice import Lattice, Node

__all__ = ["Boxes"]


class Boxes:
    """The numbering of a lattice's nodes, and its boxes.

    Args:
        lattice: enumerable: the caller has checked its size.

    Attributes:
        spans: per attribute, how many levels it may have.
        strides: per attribute, the difference of the numbers of neighbours.
        all: the set of all nodes.
    """

    def __init__(self, lattice: Lattice) -> None:
        self._bottom = lattice.bottom
        self._bytes = lattice.size // 8 + 1
        self.spans = [high - low + 1 for low, high in zip(lattice.bottom, lattice.top, strict=True)]
        self.strides = [prod(self.spans[axis + 1 :]) for axis, _ in enumerate(self.spans)]
        self.all = (1 << lattice.size) - 1
        # Per attribute and level, the nodes that are not above that level.
        self._up_to = [
            [
                _repeated((1 << stride * (level + 1)) - 1, stride * span, lattice.size // (stride * span))
                for level in range(span)
            ]
            for stride, span in zip(self.strides, self.spans, strict=True)
        ]

    def number(self, node: Node) -> int:
        """The bit of a node."""
        return sum((level - low) * stride for level, low, stride in zip(node, self._bottom, self.strides, strict=True))

    def steps(self, number: int) -> list[int]:
        """Per attribute, how many levels a node is above the lowest allowed."""
        return [number // stride % span for stride, span in zip(self.strides, self.spans, strict=True)]

    def node(self, number: int) -> Node:
        """The node of a bit; the inverse of :meth:`number`."""
        return tuple(low + step for low, step in zip(self._bottom, self.steps(number), strict=True))

    def below(self, number: int) -> int:
        """A node and all its specializations."""
        box = self.all
        for masks, step in zip(self._up_to, self.steps(number), strict=True):
            box &= masks[step]
        return box

    def above(self, number: int) -> int:
        """A node and all its generalizations."""
        box = self.all
        for masks, step in zip(self._up_to, self.steps(number), strict=True):
            if step:
                box &= ~masks[step - 1]
        return box

    def successors(self, number: int) -> Iterator[int]:
        """The direct generalizations of a node."""
        for stride, span in zip(self.strides, self.spans, strict=True):
            if number // stride % span < span - 1:
                yield number + stride

    def lowest(self, nodes: int) -> int:
        """Those of a set that have no direct specialization in it."""
        higher = 0
        for stride, masks in zip(self.strides, self._up_to, strict=True):
            if len(masks) > 1:
                higher |= (nodes & masks[-2]) << stride
        return nodes & ~higher

    def marks(self, nodes: int) -> bytes:
        """A set for quick membership tests: node n is bit ``n & 7`` of byte ``n >> 3``."""
        return nodes.to_bytes(self._bytes, "little")

    def members(self, nodes: int) -> Iterator[int]:
        """The numbers in a set, in order."""
        for place, byte in enumerate(self.marks(nodes)):
            if byte:
                yield from (place * 8 + bit for bit in range(8) if byte >> bit & 1)

    def of(self, numbers: Iterable[int]) -> int:
        """The set of some numbers."""
        marks = bytearray(self._bytes)
        for number in numbers:
            marks[number >> 3] |= 1 << (number & 7)
        return int.from_bytes(marks, "little")


def _repeated(block: int, width: int, times: int) -> int:
    """``times`` copies of a block of bits, ``width`` apart; by doubling."""
    result, length, copies = 0, 0, 1
    while times:
        if times & 1:
            result |= block << length * width
            length += copies
        times >>= 1
        if times:
            block |= block << copies * width
            copies *= 2
    return result
