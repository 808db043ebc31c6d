"""What the heuristics share: the answers so far, and an outcome that is never called proven.

A heuristic asks about few nodes and proves nothing about the others, with one exception: when
the monotone part of the requirement fails at the lattice's top, no node satisfies.

Where the metric costs more than the verdict, heuristics go by what the metric is expected to be (:meth:`Answers.judge`,
:meth:`Answers.order`), and ask for the metric itself of the most promising nodes at their end (:meth:`Answers.settle`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

from kanon_sql.search.base import Batch, Outcome, Question, Verdict
from kanon_sql.search.lattice import Lattice, Node, generalizes
from kanon_sql.search.tags import BATCH, FEW, ask, can_win, holds, measure, rounded

__all__ = ["NODES_PER_ATTRIBUTE", "Answers", "climb", "raised"]

NODES_PER_ATTRIBUTE = 96
"""A heuristic that says so asks about at most this many nodes times the number of quasi-identifiers."""

_SETTLED = 32
"""Of this many nodes that are expected to be the best, the metric is asked for in the end."""


def climb(lattice: Lattice, cost: Callable[[Node, int], Any]) -> Iterator[Node]:
    """The path from the bottom to the top that always raises the attribute of the least cost, lazily.

    Args:
        lattice: both ends included.
        cost: node, attribute -> sort key of raising that attribute by one level. The first attribute
            wins a tie.
    """
    node = lattice.bottom
    yield node
    while node != lattice.top:
        costs = [(cost(node, axis), axis) for axis, level in enumerate(node) if level < lattice.top[axis]]
        node = raised(node, min(costs)[1])
        yield node


def raised(node: Node, axis: int) -> Node:
    """The node with one attribute one level higher."""
    return (*node[:axis], node[axis] + 1, *node[axis + 1 :])


class Answers:
    """Every answer of one search; no node is asked about twice.

    Args:
        question: what is searched.

    Attributes:
        most: how many nodes may be asked about where a search keeps to it; see :attr:`left`.
        known: the verdicts so far, with the metric where it was asked for.
        best: of the satisfying nodes whose metric was asked for, the first by rank.
    """

    def __init__(self, question: Question) -> None:
        self._question = question
        self._failing: list[Node] = []
        self._failed: set[Node] = set()
        self._floors: list[tuple[float, Node]] = []
        self._closed: list[Node] = []
        self._orders: dict[Node, tuple[int, float, float, Node]] = {}
        self.most = NODES_PER_ATTRIBUTE * len(question.heights)
        self.known: dict[Node, Verdict] = {}
        self.best: Verdict | None = None

    @property
    def left(self) -> int:
        """How many more nodes may be asked about."""
        return max(0, self.most - len(self.known))

    # --- Questions ---

    def explore(self, nodes: Iterable[Node]) -> Generator[Batch, Mapping[Node, Verdict], list[Node]]:
        """Judge nodes, but those that an answer rules out and those that too many were asked about for.

        The metric is asked for with the verdict where that costs no more.

        Returns:
            Those of the nodes that are known now, without those that are ruled out.
        """
        able = [node for node in dict.fromkeys(nodes) if node in self.known or self._worth_asking(node)]
        fresh = [node for node in able if node not in self.known]
        yield from self.judge(fresh[: self.left], left=self.left, metrics=not self._question.staged)
        return [node for node in able if node in self.known]

    def _worth_asking(self, node: Node) -> bool:
        return self.may_win(node) and not self.fails(node)

    def judge(
        self, nodes: Sequence[Node], *, left: int | None = None, metrics: bool = False
    ) -> Generator[Batch, Mapping[Node, Verdict], None]:
        """Ask about those of the nodes that were not asked about before.

        Args:
            nodes: nodes of the lattice, all different.
            left: how many nodes may still be asked about, the new ones of these included.
            metrics: whether to ask for the metric.
        """
        fresh = [node for node in nodes if node not in self.known]
        self._learn((yield from ask(fresh, metrics=metrics, left=left)))

    def compare(
        self, nodes: Sequence[Node], *, left: int | None = None
    ) -> Generator[Batch, Mapping[Node, Verdict], None]:
        """Judge nodes, and ask for the metric of those that may be the best so far."""
        yield from self.judge(nodes, left=left, metrics=not self._question.staged)
        verdicts = (self.known[node] for node in nodes)
        satisfied = [verdict for verdict in verdicts if verdict.satisfied and verdict.metric is None]
        self._learn((yield from measure(self._question, satisfied, self.best)))

    def settle(self, starts: Iterable[Node] = ()) -> Generator[Batch, Mapping[Node, Verdict], None]:
        """Ask for the metric of the known nodes that are expected to be the best.

        Args:
            starts: nodes that the best one is not to be worse than, whatever was expected of them.
        """
        found = (verdict for verdict in self.known.values() if verdict.satisfied and verdict.metric is None)
        nodes = sorted((verdict.node for verdict in found), key=self.order)[:_SETTLED]
        for position in range(0, len(nodes), FEW):
            some = [self.known[node] for node in nodes[position : position + FEW]]
            self._learn((yield from measure(self._question, some, self.best)))
        verdicts = (self.known[node] for node in dict.fromkeys(starts) if node in self.known)
        satisfied = [verdict for verdict in verdicts if verdict.satisfied and verdict.metric is None]
        self._learn((yield from measure(self._question, satisfied, self.best)))

    def measured(self, node: Node) -> Generator[Batch, Mapping[Node, Verdict], Verdict]:
        """The verdict of a node with its metric."""
        if node not in self.known or self.known[node].metric is None:
            self._learn((yield from ask([node], metrics=True)))
        return self.known[node]

    def first_holding(self, paths: Sequence[Sequence[Node]]) -> Generator[Batch, Mapping[Node, Verdict], list[Node]]:
        """Per path, where the monotone part first holds; the last node if nowhere before it, which is not asked about.

        All paths are bisected together, one question a round.

        Args:
            paths: none of them empty; each node generalizes the one before it.
        """
        spans = [(0, len(path) - 1) for path in paths]
        while any(low < high for low, high in spans):
            middles = [path[(low + high) // 2] for path, (low, high) in zip(paths, spans, strict=True) if low < high]
            yield from self.judge([node for node in dict.fromkeys(middles) if not self.fails(node)])
            spans = [self._halved(path, low, high) for path, (low, high) in zip(paths, spans, strict=True)]
        return [path[low] for path, (low, _) in zip(paths, spans, strict=True)]

    def _halved(self, path: Sequence[Node], low: int, high: int) -> tuple[int, int]:
        middle = (low + high) // 2
        if low == high:
            return low, high
        return (middle + 1, high) if self.fails(path[middle]) else (low, middle)

    def first_satisfying(self, path: Sequence[Node]) -> Generator[Batch, Mapping[Node, Verdict], Node | None]:
        """The first satisfying node of a path; None if there is none, and then its last node was asked about.

        Where the monotone part first holds, a monotone requirement is decided. Any other is asked
        about from there on, in batches.
        """
        (start,) = yield from self.first_holding([path])
        rest = [start] if self._question.monotone else path[path.index(start) :]
        for position in range(0, len(rest), BATCH):
            some = rest[position : position + BATCH]
            yield from self.judge(some)
            for node in some:
                if self.known[node].satisfied:
                    return node
        return None

    # --- What follows from the answers ---

    def fails(self, node: Node) -> bool:
        """Whether an answer about a generalization of the node says that the node does not satisfy."""
        if node not in self._failed and any(generalizes(failing, node) for failing in self._failing):
            self._failed.add(node)
        return node in self._failed

    def may_win(self, node: Node) -> bool:
        """Whether the node's bound, and the floors of what it generalizes, leave open that it is the best."""
        return can_win(self._question.bound(node), self.best) and not any(
            generalizes(node, closed) for closed in self._closed
        )

    def order(self, node: Node) -> tuple[int, float, float, Node]:
        """A sort key of nodes asked about: satisfying ones by metric, then the others by the rows that violate.

        Where the metric was not asked for, what is expected of it stands for it.
        """
        if node not in self._orders:
            self._orders[node] = self._order(self.known[node])
        return self._orders[node]

    def _order(self, verdict: Verdict) -> tuple[int, float, float, Node]:
        if not verdict.satisfied:
            return 1, verdict.suppressed, rounded(self._question.bound(verdict.node)), verdict.node
        value = self._question.expected(verdict) if verdict.metric is None else verdict.metric
        return 0, rounded(value), verdict.suppressed, verdict.node

    def solutions(self) -> list[Verdict]:
        """The satisfying nodes whose metric was asked for, best first."""
        found = [verdict for verdict in self.known.values() if verdict.satisfied and verdict.metric is not None]
        return sorted(found, key=self._question.rank)

    def outcome(self, algorithm: str, criterion: str, solutions: Sequence[Verdict]) -> Outcome:
        """The first of the solutions, never proven. That there is none is proven where the top rules all out."""
        top = self._question.lattice.top
        return Outcome(
            algorithm=algorithm,
            best=solutions[0] if solutions else None,
            proven=not solutions and self.fails(top),
            criterion=criterion,
            solutions=tuple(solutions),
        )

    def _learn(self, verdicts: Mapping[Node, Verdict]) -> None:
        self.known.update(verdicts)
        for node in verdicts:
            self._orders.pop(node, None)
        for node, verdict in verdicts.items():
            if not holds(self._question, verdict) and not self.fails(node):
                self._failing = [failing for failing in self._failing if not generalizes(node, failing)]
                self._failing.append(node)
            if verdict.floor is not None and not self._question.staged:
                heappush(self._floors, (-verdict.floor, node))
            if verdict.satisfied and verdict.metric is not None:
                rank = self._question.rank
                if self.best is None or rank(verdict) < rank(self.best):
                    self.best = verdict
        while self._floors and not can_win(-self._floors[0][0], self.best):
            closed = heappop(self._floors)[1]
            self._closed = [node for node in self._closed if not generalizes(node, closed)]
            self._closed.append(closed)
