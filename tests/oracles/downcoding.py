"""What a release tells with certainty of more detailed labels: every table that it may have been made of, one by one.

Nothing here shares a line with the package. A *world* says which values the rows of each class have. Of all worlds in
which an assumption holds, what all have in common is certain: of each class and column, how many rows have a label with
fewer values than the released one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product

Value = str | None
Path = tuple[Value, ...]
Hierarchy = Mapping[Value, Path]
Labels = tuple[Value, ...]
World = Mapping[Labels, Sequence[Labels]]
"""Class -> the values of its rows."""


def under(hierarchy: Hierarchy, label: Value) -> frozenset[Value]:
    """The values of a label; of a text on several levels the highest counts."""
    height = max(map(len, hierarchy.values()))
    for level in reversed(range(height)):
        found = frozenset(value for value, path in hierarchy.items() if path[level] == label)
        if found:
            return found
    raise AssertionError("a label of no value")


def worlds(classes: Mapping[Labels, int], hierarchies: Sequence[Hierarchy]) -> Iterator[World]:
    """Every table whose rows the classes cover, as values per class."""
    ways = []
    for labels, rows in classes.items():
        values = [sorted(under(own, label), key=str) for own, label in zip(hierarchies, labels, strict=True)]
        ways.append(list(combinations_with_replacement(list(product(*values)), rows)))
    for chosen in product(*ways):
        yield dict(zip(classes, chosen, strict=True))


def lowest(values: Sequence[Value], hierarchy: Hierarchy) -> Value:
    """The lowest label that some values have in common, whose text stands for its own values alone."""
    paths = [hierarchy[value] for value in values]
    for level, label in enumerate(paths[0]):
        own = frozenset(value for value, path in hierarchy.items() if path[level] == label)
        if all(path[level] == label for path in paths) and own == under(hierarchy, label):
            return label
    raise AssertionError("a hierarchy without a top")


def is_lowest(world: World, hierarchies: Sequence[Hierarchy]) -> bool:
    """Whether every label is the lowest that its rows have in common."""
    return all(
        lowest([row[place] for row in rows], hierarchy) == labels[place]
        for labels, rows in world.items()
        for place, hierarchy in enumerate(hierarchies)
    )


def is_minimal(world: World, hierarchies: Sequence[Hierarchy], k: int) -> bool:
    """Whether no strictly more detailed release is k-anonymous: every label of every row is tried at every level."""
    ways = []
    for labels, rows in world.items():
        for row in rows:
            own = []
            for value, label, hierarchy in zip(row, labels, hierarchies, strict=True):
                path = list(hierarchy[value])
                highest = max(level for level, text in enumerate(path) if text == label)
                own.append([*dict.fromkeys(path[: highest + 1])])
            ways.append([*product(*own)])
    released = tuple(labels for labels, rows in world.items() for _ in rows)
    return not any(refined != released and min(Counter(refined).values()) >= k for refined in product(*ways))


def certain(possible: Sequence[World], hierarchies: Sequence[Hierarchy]) -> list[dict[Labels, int]]:
    """Per column and class, how many rows have a label with fewer values, the same in every possible world."""
    found: list[dict[Labels, int]] = []
    for place, hierarchy in enumerate(hierarchies):
        own = {}
        for labels in possible[0]:
            whole = under(hierarchy, labels[place])
            counts = []
            for level in range(max(map(len, hierarchy.values()))):
                smaller = {
                    path[level] for value, path in hierarchy.items()
                    if value in whole and {v for v in whole if hierarchy[v][level] == path[level]} < whole
                }  # fmt: skip
                least = [
                    min(sum(hierarchy[row[place]][level] == label for row in world[labels]) for world in possible)
                    for label in smaller
                ]
                counts.append(sum(least))
            own[labels] = max(counts)
        found.append(own)
    return found
