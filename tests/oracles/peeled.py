"""Local recoding as ARX does it, in plain Python: every order of nodes, and what they leave of every source.

Nothing here shares a line with the package. In an iteration a node of the lattice is chosen; the rows of classes of k
or more are released with its labels, and the others go on to the next iteration. What is left over in the end is
released with the highest labels. ARX chooses the node that loses least; here every node may be chosen, and any
iteration may be the last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product

Vector = tuple[str, ...]
Paths = Mapping[str, tuple[str, ...]]
"""A value with its labels, itself first and the top last."""

Classes = dict[Vector, Counter[Vector]]
"""The labels of a class with its vectors."""

Release = frozenset[tuple[Vector, int]]


class Peeled:
    """The recoding of sources over some columns."""

    def __init__(self, columns: Sequence[Paths], k: int) -> None:
        self.columns, self.k = columns, k
        self.nodes = list(product(*(range(len(next(iter(paths.values())))) for paths in columns)))
        self.top = self.nodes[-1]

    def labels(self, vector: Vector, node: Sequence[int]) -> Vector:
        return tuple(paths[value][level] for paths, value, level in zip(self.columns, vector, node, strict=True))

    def ends(self, left: Counter[Vector]) -> Iterator[Classes]:
        """What may be released of the rows that are left."""
        yield {self.labels(next(iter(left)), self.top): left} if left else {}
        for node in self.nodes if left else ():
            classes: Classes = defaultdict(Counter)
            for vector, rows in left.items():
                classes[self.labels(vector, node)][vector] += rows
            large = {labels: held for labels, held in classes.items() if held.total() >= self.k}
            if not large:
                continue
            gone = sum(large.values(), Counter[Vector]())
            for others in self.ends(left - gone):
                found = {labels: Counter(held) for labels, held in large.items()}
                for labels, held in others.items():
                    found[labels] = found.get(labels, Counter[Vector]()) + held
                yield found

    def worlds(self, rows: int) -> dict[Release, list[Classes]]:
        """Every release of sources of this many rows in which all values occur, with the classes of each."""
        found: dict[Release, list[Classes]] = {}
        for chosen in combinations_with_replacement(list(product(*self.columns)), rows):
            if any(
                len(set(held)) < len(paths) for held, paths in zip(zip(*chosen, strict=True), self.columns, strict=True)
            ):
                continue
            for classes in self.ends(Counter(chosen)):
                release = frozenset((labels, held.total()) for labels, held in classes.items())
                found.setdefault(release, []).append(classes)
        return found


def values_under(paths: Paths, label: str) -> list[str]:
    return [value for value, labels in paths.items() if label in labels]
