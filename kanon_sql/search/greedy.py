"""Greedy search: bisect cheap paths for a start, then improve it step by step. For any size of lattice.

The paths go from the bottom of the lattice to its top: first the one whose bound rises least at
every step (of equal steps, Datafly's), then, for each attribute, such a path that generalizes it
last. The first satisfying node of a path is a start; only the part of a path that may still win is
looked at. A start is improved as in Flash (Kohlmayer et al. 2012) by going on from the
best node, and as in local search by trading: its neighbours are one level of an attribute lower,
and at most one of another attribute higher. Each round asks about the neighbours with the lowest
bound of the best node that has any left; when none has, the next path gives another start.

Nothing is asked about that an answer rules out: below a violating node, or where a bound or
floor exceeds the best metric. The lattice is never enumerated.

A heuristic, ended after a bounded number of rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kanon_sql.lattice import Lattice, Node
from kanon_sql.search.answers import Answers, climb, raised
from kanon_sql.search.base import Question, Strategy
from kanon_sql.search.tags import BATCH, rounded

__all__ = ["greedy"]

_ROUNDS = 8
"""The least number of rounds; more attributes give more."""


def greedy(question: Question) -> Strategy:
    """The lowest metric found.

    Returns:
        A strategy whose outcome has ``solutions``: the satisfying nodes whose metric was asked for.
    """
    answers = Answers(question)
    attributes = len(question.heights)
    most = min(BATCH, 2 * attributes)
    rounds = max(_ROUNDS, attributes)
    spent: set[Node] = set()
    for path in _paths(question):
        if rounds == 0 or answers.fails(question.lattice.top):
            break
        start = yield from answers.first_satisfying([node for node in path if answers.may_win(node)])
        if start is not None:
            yield from answers.compare([start])
        while rounds and (neighbours := _best_neighbours(question, answers, spent, most)):
            yield from answers.compare(neighbours, left=rounds * most)
            rounds -= 1
    return answers.outcome("greedy", "lowest metric of the nodes evaluated", answers.solutions())


def _paths(question: Question) -> Iterator[list[Node]]:
    """The cheapest path, then for each attribute the cheapest that raises it last."""

    def path(kept: int | None) -> list[Node]:
        def cost(node: Node, axis: int) -> tuple[bool, float, int]:
            return axis == kept, rounded(question.bound(raised(node, axis))), -question.labels[axis][node[axis]]

        return climb(question.lattice, cost)

    yield path(None)
    for axis, (low, high) in enumerate(zip(question.lattice.bottom, question.lattice.top, strict=True)):
        if low < high:
            yield path(axis)


def _best_neighbours(question: Question, answers: Answers, spent: set[Node], most: int) -> list[Node]:
    """The neighbours to ask about of the best node that has any left; none if no node has.

    Args:
        question: the problem.
        answers: so far.
        spent: nodes known to have no such neighbour; those that are found are added.
        most: neighbours to return, those with the lowest bound.
    """
    satisfying = [node for node, verdict in answers.known.items() if verdict.satisfied and node not in spent]
    for node in sorted(satisfying, key=answers.order):
        near = sorted((rounded(question.bound(other)), other) for other in _neighbours(question.lattice, node))
        open_ones = (
            other
            for _, other in near
            if other not in answers.known and answers.may_win(other) and not answers.fails(other)
        )
        if chosen := list(islice(open_ones, most)):
            return chosen
        spent.add(node)
    return []


def _neighbours(lattice: Lattice, node: Node) -> set[Node]:
    """The direct specializations, and those with one other attribute a level higher."""
    lower = set(lattice.predecessors(node))
    traded = {other for step in lower for other in lattice.successors(step)}
    return (lower | traded) - {node}
