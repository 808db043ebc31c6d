"""Recodings in which a value has one label for all rows, in plain Python, for every source of a few rows.

Nothing here shares a line with the package, and nothing is suppressed: all classes have k rows.

- subtree, from the top: of the labels after whose division all classes have k rows, the one is divided that regains
  most detail for what the smallest class shrinks by (plus one); then the one that regains most, then that shrinks it
  least, then that of the first column, the highest level, and the first label by the labels above it.
- full domain: of the nodes whose classes have k rows the one with the lowest metric, then with the lowest levels.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import floor, prod

Vector = tuple[str, ...]
Paths = Mapping[str, tuple[str, ...]]
"""Each value of a column with its labels, itself first and the top last."""

Source = tuple[Vector, ...]
Cut = tuple[Mapping[str, int], ...]
"""Per column the level at which each value is released."""

Classes = dict[Vector, Counter[Vector]]
"""The labels of each class with its rows' values."""

Release = frozenset[tuple[Vector, int]]
Recode = Callable[[Source], Classes | None]


@dataclass(frozen=True)
class OneLabel:
    """Columns, and the least rows of a class."""

    columns: Sequence[Paths]
    k: int

    # --- Subtrees ---

    def subtree(self, source: Source) -> Classes | None:
        """The classes of the last cut; None where all rows together are too few."""
        if len(source) < self.k:
            return None
        have = [{row[place] for row in source} for place, _ in enumerate(self.columns)]
        cut: Cut = tuple(dict.fromkeys(own, self.height(place)) for place, own in enumerate(have))
        while (steps := list(self.steps(source, cut))) != []:
            cut = min(steps, key=lambda step: step[0])[1]
        return self.classes(source, cut)

    def steps(self, source: Source, cut: Cut) -> Iterator[tuple[tuple[object, ...], Cut]]:
        """The cuts after each division that is allowed, with what the best of them is the least by."""
        sizes = [len(rows) for rows in self.parts(source, cut).values()]
        for place, (paths, levels) in enumerate(zip(self.columns, cut, strict=True)):
            for level, label in sorted({(-level, self.code(place, value, level)) for value, level in levels.items()}):
                above = -level
                under = [value for value in levels if self.code(place, value, above) == label]
                if not above or levels[under[0]] != above:
                    continue
                after = (*cut[:place], {**levels, **dict.fromkeys(under, above - 1)}, *cut[place + 1 :])
                moved = [row for row in source if row[place] in under]
                made = [len(rows) for rows in self.parts(moved, after).values()]
                if min(made) < self.k:
                    continue
                share = int(2**30 / len(self.columns) / max(1, len(paths) - 1))
                gain = sum(self.values(place, row[place], above) - self.values(place, row[place], above - 1)
                           for row in moved) * share  # fmt: skip
                lost = max(0, min(sizes) - min(made))
                score = floor(float(gain) * (1e12 / (2**30 * len(source))) / (lost + 1))
                yield (-score, -gain, lost, place, level, label), after

    # --- Nodes ---

    def full_domain(self, source: Source, metric: str) -> Classes | None:
        """The classes of the best node."""
        best: tuple[float, tuple[int, ...]] | None = None
        for node in product(*(range(self.height(place) + 1) for place, _ in enumerate(self.columns))):
            cut = tuple(dict.fromkeys(own, level) for own, level in zip(self.columns, node, strict=True))
            sizes = [len(rows) for rows in self.parts(source, cut).values()]
            if min(sizes) >= self.k:
                cost = sum(size * size for size in sizes) if metric == "discernibility" else self.loss(source, node)
                best = min(best or (cost, node), (cost, node))
        if best is None:
            return None
        return self.classes(source, tuple(dict.fromkeys(own, level) for own, level in zip(self.columns, best[1],
                                                                                           strict=True)))  # fmt: skip

    def loss(self, source: Source, node: Sequence[int]) -> float:
        """The geometric mean of the shares of the values under each label, to 12 digits."""
        shares = []
        for place, level in enumerate(node):
            values, rows = len(self.columns[place]), len(source)
            under = sum(self.values(place, row[place], level) / values for row in source)
            shares.append((under - rows / values) / (rows - rows / values))
        return float(f"{prod(share + 1 for share in shares) ** (1 / len(shares)) - 1:.10g}")

    # --- Labels ---

    def height(self, place: int) -> int:
        return len(next(iter(self.columns[place].values()))) - 1

    def code(self, place: int, value: str, level: int) -> tuple[str, ...]:
        """The labels of a value from the top down to a level."""
        return tuple(reversed(self.columns[place][value][level:]))

    def values(self, place: int, value: str, level: int) -> int:
        """How many values of the hierarchy are under a label."""
        return sum(path[level] == self.columns[place][value][level] for path in self.columns[place].values())

    def parts(self, source: Sequence[Vector], cut: Cut) -> dict[tuple[str, ...], list[Vector]]:
        found: dict[tuple[str, ...], list[Vector]] = defaultdict(list)
        for row in source:
            labels = (self.columns[place][value][cut[place][value]] for place, value in enumerate(row))
            found[tuple(labels)].append(row)
        return found

    def classes(self, source: Source, cut: Cut) -> Classes:
        return {labels: Counter(rows) for labels, rows in self.parts(source, cut).items()}

    # --- Every source ---

    def worlds(self, rows: int, recode: Recode) -> dict[Release, list[Classes]]:
        """Every release of sources of this many rows in which all values occur, with the classes of each source."""
        found: dict[Release, list[Classes]] = defaultdict(list)
        for source in combinations_with_replacement(list(product(*self.columns)), rows):
            if all(len({row[place] for row in source}) == len(own) for place, own in enumerate(self.columns)):
                classes = recode(source)
                if classes is not None:
                    found[frozenset((labels, held.total()) for labels, held in classes.items())].append(classes)
        return dict(found)

    def impossible(self, worlds: Sequence[Classes]) -> set[tuple[Vector, int, str]]:
        """The classes, columns and values under a label that no row of the class has, in no source."""
        return {
            (labels, place, value)
            for labels in worlds[0]
            for place, paths in enumerate(self.columns)
            for value, path in paths.items()
            if labels[place] in path and not any(row[place] == value for world in worlds for row in world[labels])
        }
