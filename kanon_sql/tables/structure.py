"""The cells of a table and what the margins say of them: every margin is the sum of the cells under it.

A cell has a path per dimension: its labels from the coarsest level of the table down to its own, and no label for the
total. So the cell above it in a dimension has the path without its last label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

__all__ = ["Cell", "CellTable", "Key", "Path"]

Path = tuple[str | None, ...]
"""Labels of one dimension, the coarsest first; none for the total."""
Key = tuple[Path, ...]
"""A path per dimension."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that is not empty.

    Attributes:
        key: where it is.
        value: its count or sum.
        sensitive: some rule says that its value must not become known.
        need: for sums, how far from the value both bounds of it must be; 0 for counts.
        contributor: the number of its only contributor, who knows its value; 0 where it has several.
    """

    key: Key
    value: int
    sensitive: bool
    need: int
    contributor: int


@dataclass(frozen=True)
class CellTable:
    """All cells of a table that are not empty, margins included, in an order that no engine decides.

    Attributes:
        cells: the cells, by their keys.
        sums: they are sums; else counts.
    """

    cells: Sequence[Cell]
    sums: bool

    @classmethod
    def of(cls, cells: Sequence[Cell], *, sums: bool) -> CellTable:
        """The table of some cells, put in order."""
        return cls(sorted(cells, key=lambda cell: _order(cell.key)), sums)

    @cached_property
    def position(self) -> Mapping[Key, int]:
        """Key -> position among the cells."""
        return {cell.key: index for index, cell in enumerate(self.cells)}

    @cached_property
    def relations(self) -> Sequence[tuple[int, Sequence[int]]]:
        """Every margin with the cells that add up to it, in one dimension."""
        below: dict[tuple[int, int], list[int]] = defaultdict(list)
        for index, cell in enumerate(self.cells):
            for dimension, path in enumerate(cell.key):
                if not path:
                    continue
                above = self.position.get((*cell.key[:dimension], path[:-1], *cell.key[dimension + 1 :]))
                if above is not None:
                    below[above, dimension].append(index)
        return [(above, parts) for (above, _), parts in sorted(below.items())]

    @cached_property
    def finest(self) -> Sequence[bool]:
        """Whether each cell is no margin."""
        margins = {above for above, _ in self.relations}
        return [index not in margins for index in range(len(self.cells))]

    @cached_property
    def detail(self) -> Sequence[int]:
        """How many of the finest cells each cell is the sum of: what its suppression costs."""
        found = [0] * len(self.cells)
        for index, cell in enumerate(self.cells):
            if self.finest[index]:
                for above in product(*([path[:end] for end in range(len(path) + 1)] for path in cell.key)):
                    place = self.position.get(above)
                    if place is not None:
                        found[place] += 1
        return found

    def is_part(self, inner: int, outer: int) -> bool:
        """Whether a cell is another one, or one of those that it is the sum of."""
        pairs = zip(self.cells[inner].key, self.cells[outer].key, strict=True)
        return all(low[: len(high)] == high for low, high in pairs)

    def known_to(self, contributor: int) -> frozenset[int]:
        """The cells that have a single contributor."""
        return self._known.get(contributor, frozenset())

    @cached_property
    def _known(self) -> Mapping[int, frozenset[int]]:
        found: dict[int, set[int]] = defaultdict(set)
        for index, cell in enumerate(self.cells):
            if cell.contributor:
                found[cell.contributor].add(index)
        return {contributor: frozenset(cells) for contributor, cells in found.items()}

    def least(self, index: int, known: Collection[int]) -> int:
        """What a sum is at least for a reader who knows some cells: the finest of them that it is the sum of."""
        return sum(self.cells[item].value for item in known if self.finest[item] and self.is_part(item, index))

    def adds_up(self, values: Sequence[int]) -> bool:
        """Whether every margin is the sum of its cells, in whole numbers."""
        return all(values[above] == sum(values[part] for part in parts) for above, parts in self.relations)


def _order(key: Key) -> tuple[object, ...]:
    return tuple(tuple((label is not None, label or "") for label in path) for path in key)
