"""Classes of whole vectors with the lowest labels, in plain Python: every source that some such recoding releases so.

Nothing here shares a line with the package. Which vectors become a class is left open; each may be any that the rules
allow. So every source that a recoding of these rules releases in a way is among those that are found here, and more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product

Vector = tuple[str, ...]
Paths = Mapping[str, tuple[str, ...]]
"""A value with its labels, itself first and the top last."""

Levels = tuple[int, ...]
"""The levels of a column that may be released, lowest first."""

Classes = dict[Vector, Counter[Vector]]
"""The labels of a class with its vectors."""

Release = frozenset[tuple[Vector, int]]


def all_levels(columns: Sequence[Paths]) -> list[tuple[Levels, ...]]:
    """Every level of every column, as local recoding has it."""
    return [tuple(tuple(range(len(next(iter(paths.values()))))) for paths in columns)]


def two_levels(columns: Sequence[Paths]) -> list[tuple[Levels, ...]]:
    """Where single cells are suppressed: any one level of a column, and the top, unless no cell of it is."""
    tops = [len(next(iter(paths.values()))) - 1 for paths in columns]
    each = [[(level,) for level in range(top + 1)] + [(level, top) for level in range(top)] for top in tops]
    return list(product(*each))


class Whole:
    """Recodings that make classes of whole vectors.

    Args:
        columns: the quasi-identifiers.
        ways: the levels that the columns may have: one of these for all classes.
        ranged: the columns that are released as ranges of their values, in this order.
    """

    def __init__(
        self, columns: Sequence[Paths], ways: Sequence[tuple[Levels, ...]], ranged: Sequence[int] = ()
    ) -> None:
        self.columns, self.ways, self.ranged = columns, ways, ranged

    def range_of(self, place: int, values: Iterable[str]) -> str:
        """The range of some values, as text: open at the first and the last value of the column."""
        every = list(self.columns[place])
        held = sorted(map(every.index, set(values)))
        low, high = held[0], held[-1]
        if low == high:
            return every[low]
        if low == 0:
            return "*" if high == len(every) - 1 else f"<= {every[high]}"
        return f">= {every[low]}" if high == len(every) - 1 else f"[{every[low]}, {every[high]}]"

    def values_of(self, place: int, label: str, have: Iterable[str]) -> list[str]:
        """The values of a column under a label, of some."""
        every = list(self.columns[place])
        if place not in self.ranged:
            return [value for value in have if label in self.columns[place][value]]
        ends = next(
            (low, high)
            for low in range(len(every))
            for high in range(low, len(every))
            if self.range_of(place, (every[low], every[high])) == label
        )
        return [value for value in have if ends[0] <= every.index(value) <= ends[1]]

    def lowest(self, vector: Vector, way: tuple[Levels, ...]) -> Vector:
        """The vector as it is kept whole: by the lowest labels that may be released."""
        return tuple(paths[value][own[0]] for paths, value, own in zip(self.columns, vector, way, strict=True))

    def labels(self, vectors: Iterable[Vector], way: tuple[Levels, ...]) -> Vector:
        """The lowest labels that vectors have in common."""
        found = []
        for place, values in enumerate(zip(*vectors, strict=True)):
            paths, own = self.columns[place], way[place]
            if place in self.ranged:
                found.append(self.range_of(place, values))
                continue
            texts = [{paths[value][level] for value in values} for level in own]
            found.append(next(iter(next(labels for labels in texts if len(labels) == 1))))
        return tuple(found)

    def keeps(self, classes: Mapping[Vector, Iterable[Vector]]) -> bool:
        """Whether classes are whole vectors with the lowest labels, in some way."""
        for way in self.ways:
            parted = Counter(low for held in classes.values() for low in {self.lowest(vector, way) for vector in held})
            if max(parted.values()) == 1 and all(self.fits(labels, held, way) for labels, held in classes.items()):
                return True
        return False

    def together(self, vectors: Iterable[Vector], way: tuple[Levels, ...]) -> bool:
        """Whether vectors have labels in common in every column."""
        return all(
            len({paths[value][own[-1]] for value in values}) == 1
            for paths, values, own in zip(self.columns, zip(*vectors, strict=True), way, strict=True)
        )

    def fits(self, labels: Vector, held: Iterable[Vector], way: tuple[Levels, ...]) -> bool:
        """Whether a class of vectors has these labels."""
        vectors = list(held)
        return self.together(vectors, way) and self.labels(vectors, way) == labels

    def worlds(self, classes: Classes) -> list[Classes]:
        """The vectors of each class in every source of the same values that may be released with the same classes."""
        sizes = sorted((labels, held.total()) for labels, held in classes.items())
        have = [{*values} for values in zip(*(vector for held in classes.values() for vector in held), strict=True)]
        return [found for way in self.ways for found in self._of(sizes, way, have, set())]

    def _of(
        self, left: Sequence[tuple[Vector, int]], way: tuple[Levels, ...], have: Sequence[set[str]], gone: set[Vector]
    ) -> Iterator[Classes]:
        if not left:
            yield {}
            return
        (labels, rows), *others = left
        values = [
            self.values_of(place, label, inside) for place, (label, inside) in enumerate(zip(labels, have, strict=True))
        ]
        free = [vector for vector in product(*values) if self.lowest(vector, way) not in gone]
        for chosen in combinations_with_replacement(free, rows):
            if self.fits(labels, set(chosen), way):
                own = {self.lowest(vector, way) for vector in chosen}
                for found in self._of(others, way, have, gone | own):
                    yield {labels: Counter(chosen), **found}
