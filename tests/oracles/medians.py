"""Mondrian over places in plain Python, for every source of a few rows: which of them have one release.

Nothing here shares a line with the package. Values are places 0, 1, ... of columns. A partition is divided in the
widest column in which the cut nearest to half of its rows leaves k rows on both sides, of equal ones in the first; or,
relaxed, into halves of its rows in order, in the widest column that has two values. Rows with one value there are in
the order of their other values, the last column first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

Row = tuple[int, ...]
Source = tuple[Row, ...]
"""Rows in order."""

Box = tuple[tuple[int, int], ...]
"""Per column the lowest and the highest place."""

Classes = dict[Box, Counter[Row]]


@dataclass(frozen=True)
class Medians:
    """Columns by how many places they have, with their weights."""

    sizes: tuple[int, ...]
    k: int
    weights: tuple[float, ...] | None = None
    relaxed: bool = False

    def classes(self, source: Source) -> Classes:
        """The rows of each class by its box."""
        found: Classes = {}
        for part in self.partitions(source):
            found.setdefault(box_of(part), Counter()).update(part)
        return found

    def partitions(self, rows: Source) -> Iterator[Source]:
        for column in sorted(range(len(self.sizes)), key=lambda column: -self.width(rows, column)):
            sides = self.halves(rows, column) if self.relaxed else self.sides(rows, column)
            if sides is not None and all(len(side) >= self.k for side in sides):
                yield from self.partitions(sides[0])
                yield from self.partitions(sides[1])
                return
        yield rows

    def width(self, rows: Source, column: int) -> int:
        places = [row[column] for row in rows]
        weight = 1.0 if self.weights is None else self.weights[column]
        return round((max(places) - min(places)) * (weight / max(1, self.sizes[column] - 1)) * 1e9)

    def sides(self, rows: Source, column: int) -> tuple[Source, Source] | None:
        held = sorted({row[column] for row in rows})[:-1]
        if not held:
            return None
        after = min(held, key=lambda place: (abs(2 * sum(row[column] <= place for row in rows) - len(rows)), place))
        return tuple(row for row in rows if row[column] <= after), tuple(row for row in rows if row[column] > after)

    def halves(self, rows: Source, column: int) -> tuple[Source, Source] | None:
        if len({row[column] for row in rows}) == 1:
            return None
        ordered = sorted(rows, key=lambda row: (row[column], row[::-1]))
        return tuple(ordered[: len(rows) // 2]), tuple(ordered[len(rows) // 2 :])

    def sources(self, rows: int) -> Iterator[Source]:
        """Every source of this many rows in which every place of every column occurs."""
        for source in combinations_with_replacement(list(product(*map(range, self.sizes))), rows):
            if all(len({row[column] for row in source}) == size for column, size in enumerate(self.sizes)):
                yield source

    def worlds(self, rows: int) -> dict[frozenset[tuple[Box, int]], list[Classes]]:
        """Every release of sources of this many rows, with the classes of each source that gives it."""
        found: dict[frozenset[tuple[Box, int]], list[Classes]] = {}
        for source in self.sources(rows):
            classes = self.classes(source)
            found.setdefault(frozenset((box, sum(held.values())) for box, held in classes.items()), []).append(classes)
        return found


def box_of(rows: Sequence[Row]) -> Box:
    return tuple((min(places), max(places)) for places in zip(*rows, strict=True))


def held_in(worlds: Sequence[Classes], box: Box, column: int) -> dict[int, set[int]]:
    """Per place under the label of a class: how many of its rows have it, in each source."""
    low, high = box[column]
    return {
        place: {sum(rows for row, rows in world[box].items() if row[column] == place) for world in worlds}
        for place in range(low, high + 1)
    }
