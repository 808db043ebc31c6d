"""The cells of a table and what the margins say of them: every margin is the sum of the cells under it.

A cell has a path per dimension: its labels from the coarsest level of the table down to its own, and no label for the
total. So the cell above it in a dimension has the path without its last label. Where a dimension has several
hierarchies, the paths of its finest cells have one label, and each group of a hierarchy has a path of its own; the
table says which finest paths it is the sum of. So the totals of all hierarchies hold at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

__all__ = ["Cell", "CellTable", "Groups", "Key", "Path", "group_of", "group_path"]

Path = tuple[str | None, ...]
"""Labels of one dimension, the coarsest first; none for the total."""
Key = tuple[Path, ...]
"""A path per dimension."""
Groups = Mapping[int, Mapping[Path, frozenset[Path]]]
"""Dimension -> the path of a group -> the finest paths in it."""

_GROUP = "\0"
"""What the path of a group begins with, which no label has."""


def group_path(hierarchy: str, level: int, label: str | None) -> Path:
    """The path of a group of one of several hierarchies."""
    return (_GROUP, hierarchy, str(level), label)


def group_of(path: Path) -> tuple[str, int] | None:
    """The hierarchy and the level of a group's path; None for every other path."""
    return (str(path[1]), int(str(path[2]))) if path[:1] == (_GROUP,) else None


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
        groups: dimension -> the path of a group of one of several hierarchies -> the finest paths in it.
    """

    cells: Sequence[Cell]
    sums: bool
    groups: Groups = field(default_factory=dict)

    @classmethod
    def of(cls, cells: Sequence[Cell], *, sums: bool, groups: Groups | None = None) -> CellTable:
        """The table of some cells, put in order."""
        return cls(sorted(cells, key=lambda cell: in_order(cell.key)), sums, groups or {})

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
                for whole in self._next(dimension, path):
                    above = self.position.get((*cell.key[:dimension], whole, *cell.key[dimension + 1 :]))
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
                for above in self.above(cell.key):
                    place = self.position.get(above)
                    if place is not None:
                        found[place] += 1
        return found

    def above(self, key: Key) -> Iterator[Key]:
        """The keys of all cells that a finest cell is a part of, its own among them."""
        yield from product(
            *(
                [*(path[:end] for end in range(len(path) + 1)), *self._groups_of(dimension, path)]
                for dimension, path in enumerate(key)
            )
        )

    def _next(self, dimension: int, path: Path) -> list[Path]:
        """The paths right above one: none above a group, since every total is made of the finest cells."""
        if path in self.groups.get(dimension, {}):
            return []
        return [path[:-1], *self._groups_of(dimension, path)]

    def _groups_of(self, dimension: int, path: Path) -> list[Path]:
        """The groups of several hierarchies that a finest path is in."""
        return [group for group, parts in self.groups.get(dimension, {}).items() if path in parts]

    def is_part(self, inner: int, outer: int) -> bool:
        """Whether a cell is another one, or one of those that it is the sum of."""
        pairs = zip(self.cells[inner].key, self.cells[outer].key, strict=True)
        return all(
            low[: len(high)] == high or low in self.groups.get(dimension, {}).get(high, ())
            for dimension, (low, high) in enumerate(pairs)
        )

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


def in_order(key: Key) -> tuple[object, ...]:
    """What keys are sorted by."""
    return tuple(tuple((label is not None, label or "") for label in path) for path in key)
