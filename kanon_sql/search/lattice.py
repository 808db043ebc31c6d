"""The generalization lattice: vectors of levels, ordered component by component.

A node is Samarati's distance vector (Samarati 2001, section 3): one level per
quasi-identifier, 0 for the value itself. Node ``a`` generalizes node ``b`` when every
level of ``a`` is at least that of ``b``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from operator import ge

__all__ = ["Lattice", "Node", "generalizes"]

Node = tuple[int, ...]


def generalizes(upper: Node, lower: Node) -> bool:
    """Whether ``upper`` is ``lower`` or one of its generalizations.

    Raises:
        ValueError: the nodes are of different lattices.
    """
    if len(upper) != len(lower):
        raise ValueError("nodes of one lattice have a level for every attribute")
    return all(map(ge, upper, lower))


@dataclass(frozen=True, slots=True)
class Lattice:
    """All vectors between ``bottom`` and ``top``, both included.

    Args:
        bottom: the lowest level allowed per quasi-identifier.
        top: the highest level allowed per quasi-identifier.

    Raises:
        ValueError: the vectors differ in length, are empty, or cross.
    """

    bottom: Node
    top: Node

    def __post_init__(self) -> None:
        if not self.bottom or len(self.bottom) != len(self.top):
            raise ValueError("bottom and top must have the same, positive length")
        if any(low < 0 or low > high for low, high in zip(self.bottom, self.top, strict=True)):
            raise ValueError("every level must satisfy 0 <= bottom <= top")

    @property
    def size(self) -> int:
        """The number of nodes; computed, not counted."""
        return prod(high - low + 1 for low, high in zip(self.bottom, self.top, strict=True))

    @property
    def heights(self) -> range:
        """The heights (sums of levels) that occur, lowest first."""
        return range(sum(self.bottom), sum(self.top) + 1)

    def __contains__(self, node: object) -> bool:
        return (
            isinstance(node, tuple)
            and len(node) == len(self.top)
            and all(low <= level <= high for low, level, high in zip(self.bottom, node, self.top, strict=True))
        )

    def __iter__(self) -> Iterator[Node]:
        """All nodes, in lexicographic order. Lazy: the caller decides how far to go."""
        return product(*(range(low, high + 1) for low, high in zip(self.bottom, self.top, strict=True)))

    def count_at(self, height: int) -> int:
        """The number of nodes whose levels sum to ``height``, without enumerating them."""
        counts = {0: 1}
        for low, high in zip(self.bottom, self.top, strict=True):
            sizes: dict[int, int] = {}
            for total, ways in counts.items():
                for level in range(low, high + 1):
                    if total + level <= height:
                        sizes[total + level] = sizes.get(total + level, 0) + ways
            counts = sizes
        return counts.get(height, 0)

    def nodes_at(self, height: int) -> Iterator[Node]:
        """The nodes whose levels sum to ``height``, in lexicographic order, lazily."""
        highest = [0] * (len(self.top) + 1)
        lowest = [0] * (len(self.top) + 1)
        for index in range(len(self.top) - 1, -1, -1):
            highest[index] = highest[index + 1] + self.top[index]
            lowest[index] = lowest[index + 1] + self.bottom[index]

        def extend(prefix: Node, left: int) -> Iterator[Node]:
            index = len(prefix)
            if index == len(self.top):
                yield prefix
                return
            start = max(self.bottom[index], left - highest[index + 1])
            stop = min(self.top[index], left - lowest[index + 1])
            for level in range(start, stop + 1):
                yield from extend((*prefix, level), left - level)

        if lowest[0] <= height <= highest[0]:
            yield from extend((), height)

    def successors(self, node: Node) -> Iterator[Node]:
        """The direct generalizations: one level one step higher."""
        for index, level in enumerate(node):
            if level < self.top[index]:
                yield (*node[:index], level + 1, *node[index + 1 :])

    def predecessors(self, node: Node) -> Iterator[Node]:
        """The direct specializations: one level one step lower."""
        for index, level in enumerate(node):
            if level > self.bottom[index]:
                yield (*node[:index], level - 1, *node[index + 1 :])
