"""Greedy search: cheap starts, descents from the best of them, then best first around what was found. For any lattice.

Starts are found by bisecting paths from the bottom of the lattice to its top. One raises at every step the attribute
that raises the bound least (of equal ones, that with the most distinct values, as Datafly does); then, for
each attribute, such a path that raises it last. The first satisfying node of the one, and
where the others first hold, are the starts; of the others only the part that may still win is looked at. With
a generous suppression limit all of these are near the bottom and poor: the top and the projections onto one
attribute are starts too.

From the best start and the best projection the search descends (``descent.py``). Then every round asks
about neighbours of the best node that has any left, those with the lowest bound:
an attribute one level lower, or that and another one higher. When no satisfying node has any
left, the violating node with the fewest violating rows is repaired, by its neighbours or one level
higher. Nothing is asked about that an answer rules out: below a violating node, or where a
bound or a floor exceeds the best metric. The lattice is never enumerated.

A heuristic, ended after a bounded number of rounds and nodes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice, pairwise, takewhile

from kanon_sql.search.answers import Answers, climb, raised
from kanon_sql.search.base import Batch, Question, Strategy, Verdict, algorithm
from kanon_sql.search.descent import finished
from kanon_sql.search.lattice import Lattice, Node
from kanon_sql.search.tags import BATCH, rounded

__all__ = ["greedy"]

_CRITERION = "lowest metric of the nodes evaluated"

_ROUNDS = 8
"""The least number of rounds; more attributes give more."""

_LOOKED_AT = 16
"""A round looks at the neighbours of this many nodes at most; where all of them have none left, the search ends."""


@algorithm(
    finds="a good node; proves nothing",
    when="lattices of any size",
    source="descents from bisected paths and from the top, then best first",
    proves=False,
    by_labels=True,
)
def greedy(question: Question) -> Strategy:
    """The lowest metric found.

    Returns:
        A strategy whose outcome has ``solutions``: the satisfying nodes whose metric was asked for.
    """
    answers = Answers(question)
    path = _cheapest(question)
    start = yield from answers.first_satisfying(path)
    if answers.fails(question.lattice.top):
        return answers.outcome("greedy", _CRITERION, [])
    if start is not None:
        yield from answers.compare([start])
    others = (_with_last(path, kept) for kept, _ in enumerate(question.heights))
    parts = [list(takewhile(answers.may_win, other)) for other in others]
    starts = yield from answers.first_holding([part for part in parts if part])
    known = yield from answers.explore(starts)
    own = known if start is None else [start, *known]
    return (yield from finished(question, answers, own, "greedy", _CRITERION, lambda: _rounds(question, answers)))


def _rounds(question: Question, answers: Answers) -> Generator[Batch, Mapping[Node, Verdict], None]:
    """Ask about neighbours of the best nodes that have any left."""
    spent: set[Node] = set()
    attributes = len(question.heights)
    most = min(BATCH, 2 * attributes)
    for _ in range(max(_ROUNDS, attributes) if answers.left else 0):
        neighbours = _best_neighbours(question, answers, spent, most)
        if not neighbours:
            return
        yield from answers.explore(neighbours)


def _cheapest(question: Question) -> list[Node]:
    """The path whose bound rises least at every step."""

    def cost(node: Node, axis: int) -> tuple[float, int]:
        return rounded(question.bound(raised(node, axis))), -question.labels[axis][node[axis]]

    return list(climb(question.lattice, cost))


def _with_last(path: Sequence[Node], kept: int) -> Iterator[Node]:
    """A path by the steps of another one that raises the attribute ``kept`` last.

    What a step adds to a bound depends little on the steps before it, so it is the cheapest such path, more or less.
    """
    axes = [next(axis for axis, level in enumerate(node) if level != other[axis]) for other, node in pairwise(path)]
    node = path[0]
    yield node
    for axis in sorted(axes, key=lambda axis: axis == kept):
        node = raised(node, axis)
        yield node


def _best_neighbours(question: Question, answers: Answers, spent: set[Node], most: int) -> list[Node]:
    """The neighbours to ask about of the best node that has any left; none if no node has.

    Args:
        question: the problem.
        answers: so far.
        spent: nodes known to have no such neighbour; more are added.
        most: neighbours to return, those with the lowest bound.
    """
    for node in nsmallest(_LOOKED_AT, answers.known.keys() - spent, key=answers.order):
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
