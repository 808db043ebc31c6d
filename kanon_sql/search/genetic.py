"""A genetic algorithm over the lattice's nodes.

Source: Iyengar 2002, "Transforming data to satisfy privacy constraints" (KDD), section 5.
Adapted: a chromosome is a node, a gene the level of one attribute (Iyengar's are the cut points of
each attribute); a generation is bred at a time, since one question answers it all; the best of
parents and children live on, so the best node is never lost.

The top of the lattice is in the first generation, and each other node of it keeps a random share of the attributes
below their top: of many attributes, levels that are drawn alike would leave nearly every row unique. Children that an
earlier answer rules out, or that were asked about before, are not asked about. From the best node of the last
generation, as from the lattice's top, the search descends (``descent.py``). The same seed gives the same search.

A heuristic, ended after a bounded number of generations and nodes.
"""

from __future__ import annotations

from random import Random

from kanon_sql.search.answers import Answers
from kanon_sql.search.base import Question, Strategy, algorithm
from kanon_sql.search.descent import finished
from kanon_sql.search.lattice import Lattice, Node

__all__ = ["genetic"]

_POPULATION = 32
_GENERATIONS = 20
_STALE = 5
"""End after this many generations without a better node."""
_TRIES = 8
"""Breed this many children per one that is wanted before the generation stays smaller."""


@algorithm(
    finds="the best node of a random search, with a `seed`",
    when="to compare with published work",
    source="Iyengar 2002",
    takes=("seed",),
    proves=False,
)
def genetic(question: Question, seed: int = 0) -> Strategy:
    """The lowest metric found by selection, crossover and mutation.

    Args:
        question: the problem.
        seed: of the random numbers.

    Returns:
        A strategy whose outcome has ``solutions``: the satisfying nodes whose metric was asked for.
    """
    lattice, rng, answers = question.lattice, Random(seed), Answers(question)
    drawn = (_random_node(lattice, rng) for _ in range(_POPULATION - 1))
    population = yield from answers.explore([lattice.top, *drawn])
    idle = 0
    for _ in range(_GENERATIONS):
        if idle == _STALE or answers.fails(lattice.top):
            break
        population.sort(key=answers.order)
        children: dict[Node, None] = {}
        for _ in range(_TRIES * _POPULATION):
            child = _mutated(_crossed(_selected(population, rng), _selected(population, rng), rng), lattice, rng)
            if child not in answers.known and not answers.fails(child):
                children[child] = None
            if len(children) == _POPULATION:
                break
        born = yield from answers.explore(children)
        best = population[0]
        population = sorted([*population, *born], key=answers.order)[:_POPULATION]
        idle = idle + 1 if population[0] == best else 0
    return (yield from finished(question, answers, population, "genetic", "lowest metric of the nodes evaluated"))


def _random_node(lattice: Lattice, rng: Random) -> Node:
    """A random share of the attributes at a random level, the others at their top."""
    share = rng.random()
    return tuple(
        rng.randint(low, high) if rng.random() < share else high
        for low, high in zip(lattice.bottom, lattice.top, strict=True)
    )


def _selected(ranked: list[Node], rng: Random) -> Node:
    """The better of two at random: a tournament, by rank."""
    return ranked[min(rng.randrange(len(ranked)), rng.randrange(len(ranked)))]


def _crossed(mother: Node, father: Node, rng: Random) -> Node:
    """Uniform crossover: each level from either parent."""
    return tuple(rng.choice(levels) for levels in zip(mother, father, strict=True))


def _mutated(node: Node, lattice: Lattice, rng: Random) -> Node:
    """One level in the mean goes a step up or down."""
    return tuple(
        min(high, max(low, level + rng.choice((-1, 1)))) if rng.randrange(len(node)) == 0 else level
        for level, low, high in zip(node, lattice.bottom, lattice.top, strict=True)
    )
