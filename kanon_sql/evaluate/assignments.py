"""Which pairs of a record and a released row some assignment of all released rows makes, by one maximum flow.

Records and rows come in groups of those that are alike. A flow sends every released row to a record of its own. An edge
without flow can carry some in another maximum flow exactly if a cycle of the residual graph runs through it, that is,
if both its ends are in one strongly connected component (the structure of all maximum matchings: Dulmage and
Mendelsohn 1958). The flow is Dinic's, the components are Kosaraju's; neither recurses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

__all__ = ["matches_of", "matching_edges"]

_SOURCE, _SINK = 0, 1


def matches_of(
    records: Mapping[int, int], rows: Mapping[int, int], edges: Sequence[tuple[int, int]]
) -> dict[int, int] | None:
    """How many released rows may be a record's in some assignment of every row to a record of its own.

    Args:
        records: group of records -> how many they are.
        rows: group of released rows -> how many they are.
        edges: (group of records, group of rows) wherever these are consistent, each once.

    Returns:
        Group of records -> rows; None when there is no such assignment.
    """
    matching = matching_edges(records, rows, edges)
    if matching is None:
        return None
    found = dict.fromkeys(records, 0)
    for (record, row), is_match in zip(edges, matching, strict=True):
        found[record] += rows[row] * is_match
    return found


def matching_edges(
    records: Mapping[int, int], rows: Mapping[int, int], edges: Sequence[tuple[int, int]]
) -> list[bool] | None:
    """Which edges are in some assignment of every released row to a record of its own.

    Args:
        records: group of records -> how many they are.
        rows: group of released rows -> how many they are.
        edges: (group of records, group of rows) wherever these are consistent, each once.

    Returns:
        In the order of the edges; None when there is no such assignment.
    """
    graph = _Graph(2 + len(records) + len(rows))
    of_records = {group: 2 + place for place, group in enumerate(records)}
    of_rows = {group: 2 + len(records) + place for place, group in enumerate(rows)}
    for group, count in records.items():
        graph.connect(_SOURCE, of_records[group], count)
    for group, count in rows.items():
        graph.connect(of_rows[group], _SINK, count)
    total = sum(rows.values())
    between = [graph.connect(of_records[record], of_rows[row], total) for record, row in edges]
    if graph.fill() < total:
        return None
    component = graph.components()
    return [
        graph.left[arc ^ 1] > 0 or component[of_records[record]] == component[of_rows[row]]
        for (record, row), arc in zip(edges, between, strict=True)
    ]


class _Graph:
    """Arcs with what they can still carry; arc n and arc n ^ 1 are one another's reverse."""

    def __init__(self, nodes: int) -> None:
        self.arcs: list[list[int]] = [[] for _ in range(nodes)]
        self.end: list[int] = []
        self.left: list[int] = []

    def connect(self, start: int, end: int, capacity: int) -> int:
        """A new arc; its number."""
        number = len(self.end)
        self.end += [end, start]
        self.left += [capacity, 0]
        self.arcs[start].append(number)
        self.arcs[end].append(number + 1)
        return number

    def fill(self) -> int:
        """Send as much as possible from the source to the sink; how much that is."""
        total = 0
        while (level := self._levels())[_SINK] >= 0:
            upcoming = [0] * len(self.arcs)
            while sent := self._path(level, upcoming):
                total += sent
        return total

    def _levels(self) -> list[int]:
        """Steps from the source along arcs that can carry more; -1 where none lead."""
        level = [-1] * len(self.arcs)
        level[_SOURCE] = 0
        waiting = deque([_SOURCE])
        while waiting:
            node = waiting.popleft()
            for arc in self.arcs[node]:
                if self.left[arc] and level[self.end[arc]] < 0:
                    level[self.end[arc]] = level[node] + 1
                    waiting.append(self.end[arc])
        return level

    def _path(self, level: Sequence[int], upcoming: list[int]) -> int:
        """Send what one shortest path can carry; 0 when there is none any more."""
        path: list[int] = []
        node = _SOURCE
        while node != _SINK:
            while upcoming[node] < len(self.arcs[node]):
                arc = self.arcs[node][upcoming[node]]
                if self.left[arc] and level[self.end[arc]] == level[node] + 1:
                    break
                upcoming[node] += 1
            else:
                if not path:
                    return 0
                node = self.end[path.pop() ^ 1]
                upcoming[node] += 1
                continue
            path.append(arc)
            node = self.end[arc]
        sent = min(self.left[arc] for arc in path)
        for arc in path:
            self.left[arc] -= sent
            self.left[arc ^ 1] += sent
        return sent

    def components(self) -> list[int]:
        """The strongly connected component of every node, by a number, along arcs that can carry more."""
        finished: list[int] = []
        seen = [False] * len(self.arcs)
        for root in range(len(self.arcs)):
            walk = [] if seen[root] else [(root, iter(self.arcs[root]))]
            seen[root] = True
            while walk:
                node, arcs = walk[-1]
                for arc in arcs:
                    if self.left[arc] and not seen[self.end[arc]]:
                        seen[self.end[arc]] = True
                        walk.append((self.end[arc], iter(self.arcs[self.end[arc]])))
                        break
                else:
                    finished.append(node)
                    walk.pop()
        component = [-1] * len(self.arcs)
        for root in reversed(finished):
            waiting = [root]
            while waiting:
                node = waiting.pop()
                if component[node] < 0:
                    component[node] = root
                    waiting += [self.end[arc] for arc in self.arcs[node] if self.left[arc ^ 1]]
        return component
