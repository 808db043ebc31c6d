"""Factors of graphs of least weight, by maximum-weight matching; vertices are opaque numbers.

An edge cover has an edge at every vertex. If each vertex takes its shortest edge, an edge that two of them share
saves what both of theirs cost together beyond its own: the best choice of such edges is a matching of most savings, and
the rest take their shortest.

A 2-factor has two edges at every vertex: it consists of circles. Every vertex stands twice, every edge as two vertices
joined by one edge, each of them joined to both of one end: matched to each other, the edge is not taken; otherwise each
is matched to an end. What is perfect and lightest is a 2-factor of least weight (Tutte 1954).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kanon_sql.errors import UnsupportedError
from kanon_sql.version import how_to_install

__all__ = ["circles", "needs_networkx", "paired"]


def needs_networkx() -> Any:
    """The library that matches.

    Raises:
        UnsupportedError: it is not installed.
    """
    try:
        import networkx
    except ImportError:
        raise UnsupportedError(
            f"recoding: matching needs networkx, which is not installed; {how_to_install('matching')}"
        ) from None
    return networkx


def paired(savings: Iterable[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """The pairs of a matching that saves most.

    Args:
        savings: two vertices, and what is saved if they share an edge.
    """
    networkx = needs_networkx()
    graph = networkx.Graph()
    graph.add_weighted_edges_from(sorted(savings))
    return sorted((min(pair), max(pair)) for pair in networkx.max_weight_matching(graph))


def circles(vertices: Sequence[int], weights: Mapping[tuple[int, int], int]) -> list[list[int]]:
    """The circles of a 2-factor of least weight, each in order.

    Args:
        vertices: three or more.
        weights: two vertices, the lower one first -> the weight of their edge; every two have one.
    """
    networkx = needs_networkx()
    graph = networkx.Graph()
    for (one, other), weight in sorted(weights.items()):
        ends = [((one, other, one), one), ((one, other, other), other)]
        graph.add_edge(ends[0][0], ends[1][0], weight=0)
        for middle, end in ends:
            graph.add_edge(middle, (end, 0), weight=-weight)
            graph.add_edge(middle, (end, 1), weight=-weight)
    matching = networkx.max_weight_matching(graph, maxcardinality=True)
    neighbours: dict[int, list[int]] = {vertex: [] for vertex in vertices}
    for pair in matching:
        middle, end = sorted(pair, key=len, reverse=True)
        if len(end) == 2:
            neighbours[end[0]].append(middle[0] + middle[1] - end[0])
    return _in_order(neighbours)


def _in_order(neighbours: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Circles, from the two neighbours of every vertex."""
    found: list[list[int]] = []
    left = set(neighbours)
    for vertex in sorted(neighbours):
        if vertex not in left:
            continue
        circle = []
        following: int | None = vertex
        while following is not None:
            circle.append(following)
            left.remove(following)
            following = min((near for near in neighbours[following] if near in left), default=None)
        found.append(circle)
    return found
