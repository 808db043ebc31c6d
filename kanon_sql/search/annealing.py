"""Simulated annealing over the lattice's nodes.

Source: Winkler 2002, "Using simulated annealing for k-anonymity" (US Census Bureau, Statistics 2002-7),
with the acceptance rule of Metropolis et al. 1953. Adapted:

- it begins at the best node of a random path from the bottom to the top, of those from where it first holds, found by
  bisection: where nearly all rows may be suppressed, the first node suppresses them, and so do all near it;
- all neighbours of a node (one attribute one level up or down) are asked about at once, so proposals
  cost nothing until one is accepted; those that an earlier answer rules out are left out;
- metrics differ in scale from problem to problem, so the difference of two nodes is that of their places
  among the neighbours, from 0 to 1, and one cooling schedule fits all.

The same seed gives the same search. A heuristic, ended after a bounded number of steps.
"""

from __future__ import annotations

from math import exp
from random import Random

from kanon_sql.search.answers import Answers, climb
from kanon_sql.search.base import Question, Strategy, algorithm
from kanon_sql.search.lattice import Node
from kanon_sql.search.tags import holds

__all__ = ["annealing"]

_STEPS = 64
_HOT = 0.2
_COLD = 0.05
"""The temperature falls from one to the other by the same factor every step."""


@algorithm(
    finds="the best node of a random walk, with a `seed`",
    when="to compare with published work",
    source="Winkler 2002",
    takes=("seed",),
    proves=False,
)
def annealing(question: Question, seed: int = 0) -> Strategy:
    """The lowest metric found by a random walk that cools down.

    Args:
        question: the problem.
        seed: of the random numbers.

    Returns:
        A strategy whose outcome has ``solutions``: the satisfying nodes whose metric was asked for.
    """
    lattice, rng, answers = question.lattice, Random(seed), Answers(question)
    path = list(climb(lattice, lambda node, axis: rng.random()))
    (node,) = yield from answers.first_holding([path])
    above = path[path.index(node) :]  # the top among them, which may be the one that satisfies
    yield from answers.compare([node for node in above if not answers.fails(node)])
    node = min((node for node in above if node in answers.known), key=answers.order, default=node)
    for step in range(_STEPS):
        if answers.fails(lattice.top):
            break
        near = [*lattice.predecessors(node), *lattice.successors(node)]
        near = [neighbour for neighbour in near if not answers.fails(neighbour)]
        yield from answers.compare(near, left=2 * len(node) * (_STEPS - step))
        near = [neighbour for neighbour in near if holds(question, answers.known[neighbour])]
        node = _next(node, near, answers, _HOT * (_COLD / _HOT) ** (step / (_STEPS - 1)), rng)
    return answers.outcome("annealing", "lowest metric of the nodes evaluated", answers.solutions())


def _next(node: Node, near: list[Node], answers: Answers, temperature: float, rng: Random) -> Node:
    """The first of as many random proposals as there are neighbours that is accepted; the node itself if none is."""
    ranked = sorted([node, *near], key=answers.order)
    place = {neighbour: number / len(ranked) for number, neighbour in enumerate(ranked)}
    for _ in near:
        proposal = rng.choice(near)
        worse = place[proposal] - place[node]
        if worse <= 0 or rng.random() < exp(-worse / temperature):
            return proposal
    return node
