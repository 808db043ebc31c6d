"""Which parent a value with several gets, in plain Python over counts of values: for reading, not for speed.

Nothing here shares a line with the package. A level at a time, from the values up: labels with one parent have it.
Then, until every label has one, a parent is taken by all labels that have none yet and may have it. It is

- one after which rows leave labels of fewer than k rows (the labels that join it, and itself as it was), if there is
  any, and of these the one that costs least for each such row; else the one that costs least;
- then the one that most rows join, then the first by its characters.

A label costs its rows times how many more values are under the parent, by all the rows of the hierarchy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Rows = Sequence[tuple[str, ...]]


def tree_of_graph(rows: Rows, counts: Mapping[str, int], k: int) -> dict[str, tuple[str, ...]]:
    """Per value, the path that is chosen.

    Args:
        rows: values with their labels, the top last.
        counts: rows of the data per value.
        k: how many rows a label needs.
    """
    paths = {row[0]: (row[0],) for row in rows}
    for level in range(len(rows[0]) - 2):
        held: dict[str, int] = {}
        for value, path in paths.items():
            held[path[level]] = held.get(path[level], 0) + counts.get(value, 0)
        parents = parents_of(rows, level, held, k)
        paths = {value: (*path, parents[path[level]]) for value, path in paths.items()}
    return {value: (*path, rows[0][-1]) for value, path in paths.items()}


def parents_of(rows: Rows, level: int, held: Mapping[str, int], k: int) -> dict[str, str]:
    """The parent of every label of a level that has values."""
    options = {label: {row[level + 1] for row in rows if row[level] == label} for label in held}
    chosen = {label: next(iter(own)) for label, own in options.items() if len(own) == 1}
    while waiting := {label for label in options if label not in chosen}:
        best = None
        for parent in {parent for label in waiting for parent in options[label]}:
            joining = [label for label in waiting if parent in options[label]]
            base = sum(held[label] for label, own in chosen.items() if own == parent)
            joined = sum(held[label] for label in joining)
            few = sum(held[label] for label in joining if held[label] < k) + (base if base < k else 0)
            healed = few if base + joined >= k else 0
            more = {label: size(rows, level + 1, parent) - size(rows, level, label) for label in joining}
            cost = sum(held[label] * more[label] for label in joining)
            rank = (healed == 0, math.floor(1e6 * cost / max(1, healed)), -joined, parent.encode())
            if best is None or rank < best[0]:
                best = (rank, parent, joining)
        assert best is not None
        chosen |= dict.fromkeys(best[2], best[1])
    return chosen


def size(rows: Rows, level: int, label: str) -> int:
    return len({row[0] for row in rows if row[level] == label})
