"""Greedy search: bisect cheap paths for starts, then improve the best of them. For any size of lattice.

The paths go from the bottom of the lattice to its top. One raises at every step the attribute that
raises the bound least (of equal ones, that with the most distinct values, as Datafly does); then, for
each attribute, such a path that raises it last. The first satisfying node of the one, and
where the others first hold, are the starts; of the others only the part that may still win is looked at.

Every round asks about neighbours of the best node that has any left, those with the lowest bound:
an attribute one level lower, or that and another one higher. When no satisfying node has any
left, the violating node with the fewest violating rows is repaired, by its neighbours or one level
higher. Nothing is asked about that an answer rules out: below a violating node, or where a
bound or a floor exceeds the best metric. The lattice is never enumerated.

A heuristic, ended after a bounded number of rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, takewhile

from kanon_sql.search.answers import Answers, climb, raised
from kanon_sql.search.base import Question, Strategy
from kanon_sql.search.lattice import Lattice, Node
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
    start = yield from answers.first_satisfying(list(_cheapest(question)))
    criterion = "lowest metric of the nodes evaluated"
    if answers.fails(question.lattice.top):
        return answers.outcome("greedy", criterion, [])
    if start is not None:
        yield from answers.compare([start])
    others = (_cheapest(question, kept) for kept, _ in enumerate(question.heights))
    parts = [list(takewhile(answers.may_win, path)) for path in others]
    starts = yield from answers.first_holding([part for part in parts if part])
    yield from answers.compare([node for node in dict.fromkeys(starts) if not answers.fails(node)])
    spent: set[Node] = set()
    attributes = len(question.heights)
    most = min(BATCH, 2 * attributes)
    rounds = max(_ROUNDS, attributes)
    while rounds and (neighbours := _best_neighbours(question, answers, spent, most)):
        yield from answers.compare(neighbours, left=rounds * most)
        rounds -= 1
    return answers.outcome("greedy", criterion, answers.solutions())


def _cheapest(question: Question, kept: int | None = None) -> Iterator[Node]:
    """The path whose bound rises least at every step, raising the attribute ``kept`` last."""

    def cost(node: Node, axis: int) -> tuple[bool, float, int]:
        return axis == kept, rounded(question.bound(raised(node, axis))), -question.labels[axis][node[axis]]

    return climb(question.lattice, cost)


def _best_neighbours(question: Question, answers: Answers, spent: set[Node], most: int) -> list[Node]:
    """The neighbours to ask about of the best node that has any left; none if no node has.

    Args:
        question: the problem.
        answers: so far.
        spent: nodes known to have no such neighbour; more are added.
        most: neighbours to return, those with the lowest bound.
    """
    for node in sorted(answers.known.keys() - spent, key=answers.order):
        around = _neighbours(question.lattice, node, satisfied=answers.known[node].satisfied)
        near = sorted((rounded(question.bound(other)), other) for other in around)
        open_ones = (
            other
            for _, other in near
            if other not in answers.known and answers.may_win(other) and not answers.fails(other)
        )
        if chosen := list(islice(open_ones, most)):
            return chosen
        spent.add(node)
    return []


def _neighbours(lattice: Lattice, node: Node, *, satisfied: bool) -> set[Node]:
    """One level lower, or traded: one lower and another attribute one higher; of a violating node also one higher."""
    lower = set(lattice.predecessors(node))
    traded = {other for step in lower for other in lattice.successors(step)} - {node}
    return lower | traded if satisfied else lower | traded | set(lattice.successors(node))
