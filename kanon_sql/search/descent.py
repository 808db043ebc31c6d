"""Descent: change a node's levels while the metric gets better. What every heuristic ends with.

Where a suppression limit is generous, many nodes satisfy, the bottom of the lattice among them, and most are far worse
than the best: nearly all of their rows are suppressed. Neither a walk's end nor its first satisfying node
means much then, so each heuristic descends from what it found and from the lattice's top, and keeps the best.

A step gives one attribute another level, any within reach; then several attributes the levels that
helped each of them alone, or, where none did, two attributes the levels that cost least. Between two
levels of an attribute with many values stand levels that cost rows and gain little: steps by one level
end there. The steps that look best are asked about together, one question a round.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil
from typing import Any

from kanon_sql.search.answers import NODES_PER_ATTRIBUTE, Answers
from kanon_sql.search.base import Batch, Outcome, Question, Verdict
from kanon_sql.search.lattice import Lattice, Node

__all__ = ["descend", "finished", "projections", "walked"]

_PAIRED = 8
"""Where no step helps, this many of the best are tried two by two."""

_REACH = 3
"""An attribute may go up or down by this many levels at once, or to its lowest or highest one."""


def _changed(node: Node, levels: Mapping[int, int]) -> Node:
    """The node with other levels of some attributes."""
    return tuple(levels.get(axis, level) for axis, level in enumerate(node))


def projections(lattice: Lattice) -> list[Node]:
    """The top, and all nodes where one attribute alone is below its top: the optimum of each attribute is one."""
    spans = enumerate(zip(lattice.bottom, lattice.top, strict=True))
    lower = (_changed(lattice.top, {axis: level}) for axis, (low, high) in spans for level in range(low, high))
    return [lattice.top, *lower]


def walked(
    question: Question,
    answers: Answers,
    start: Node,
    steps: Callable[[Node], Iterable[Node]],
    valid: Callable[[Sequence[Node]], list[Node]],
    price: Callable[[Node, Node], Any],
) -> Generator[Batch, Mapping[Node, Verdict], list[Node]]:
    """A walk that always takes the valid step of the lowest price, and several at once where the way is long.

    Args:
        question: the problem.
        answers: so far.
        start: where it begins.
        steps: node -> the steps from it, each of which changes one attribute.
        valid: known nodes -> those that the walk may go to.
        price: node, step -> sort key. The first step wins a tie.

    Returns:
        The nodes of the walk; none where its start is not valid. It ends where there is no step, or where half of the
        nodes were asked about that may be.
    """
    lattice, half, metrics = question.lattice, answers.most // 2, not question.staged
    stride = ceil((sum(lattice.top) - sum(lattice.bottom)) / NODES_PER_ATTRIBUTE)
    yield from answers.judge([start], left=answers.left, metrics=metrics)
    path = valid([start])
    while path and len(answers.known) + len(found := list(steps(path[-1]))) < half:
        yield from answers.judge(found, left=answers.left, metrics=metrics)
        ranked = sorted(valid(found), key=lambda step: price(path[-1], step))
        if not ranked:
            break
        leap = [_joined(path[-1], ranked[:stride])] if len(ranked) > 1 and stride > 1 else []
        yield from answers.judge([node for node in leap if not answers.fails(node)], left=answers.left, metrics=metrics)
        path.append([*valid([node for node in leap if node in answers.known]), ranked[0]][0])
    return path


def descend(question: Question, answers: Answers, node: Node) -> Generator[Batch, Mapping[Node, Verdict], Node]:
    """Better nodes, one after the other, until no step is better or no more nodes may be asked about.

    Args:
        question: the problem.
        answers: so far; the node is known.
        node: where to begin.

    Returns:
        The last one, which is known.
    """
    while True:
        steps = yield from answers.explore(_steps(question.lattice, node))
        ranked = sorted(steps, key=answers.order)
        better = [step for step in ranked if answers.order(step) < answers.order(node)]
        joint = yield from answers.explore(_together(node, better) if better else _paired(node, ranked))
        best = min([*joint, *better, node], key=answers.order)
        if best == node:
            return node
        node = best


def finished(
    question: Question,
    answers: Answers,
    starts: Sequence[Node],
    algorithm: str,
    criterion: str,
    further: Callable[[], Generator[Batch, Mapping[Node, Verdict], object]] | None = None,
) -> Generator[Batch, Mapping[Node, Verdict], Outcome]:
    """Descend from a heuristic's own nodes and from the best projection; then the metric decides.

    Args:
        question: the problem.
        answers: so far.
        starts: the heuristic's own nodes, all known.
        algorithm: its name.
        criterion: what it looked for, in words.
        further: questions of its own once it has descended.

    Returns:
        The outcome, which has ``solutions``: the satisfying nodes whose metric was asked for.
    """
    if answers.fails(question.lattice.top):
        return answers.outcome(algorithm, criterion, [])
    simple = yield from answers.explore(projections(question.lattice))
    own = [min(starts, key=answers.order)] if starts else []
    for start in dict.fromkeys([*own, *sorted(simple, key=answers.order)[:1]]):
        yield from descend(question, answers, start)
    if further is not None:
        yield from further()
    yield from answers.settle([*simple, *starts])
    return answers.outcome(algorithm, criterion, answers.solutions())


def _steps(lattice: Lattice, node: Node) -> Iterator[Node]:
    """One attribute at another level."""
    for axis, (level, low, high) in enumerate(zip(node, lattice.bottom, lattice.top, strict=True)):
        near = range(max(low, level - _REACH), min(high, level + _REACH) + 1)
        for other in sorted({low, high, *near} - {level}):
            yield _changed(node, {axis: other})


def _joined(node: Node, steps: Sequence[Node]) -> Node:
    """What some steps from a node make of it together; each of them changes another attribute."""
    axes = {_axis(node, step): step for step in steps}
    return _changed(node, {axis: step[axis] for axis, step in axes.items()})


def _axis(node: Node, step: Node) -> int:
    """The attribute that a step changes."""
    return next(axis for axis, (old, new) in enumerate(zip(node, step, strict=True)) if old != new)


def _together(node: Node, better: Sequence[Node]) -> Iterator[Node]:
    """Several attributes at the levels that helped them most: the best two, three, four, six, nine, ...

    Args:
        node: where the steps lead away from.
        better: the steps, best first.
    """
    best: dict[int, Node] = {}
    for step in better:
        best.setdefault(_axis(node, step), step)
    steps, size = list(best.values()), 2
    while size <= len(steps):
        yield _joined(node, steps[:size])
        size += size // 2


def _paired(node: Node, ranked: Sequence[Node]) -> list[Node]:
    """Two steps at once, of those that cost least."""
    pairs = combinations(ranked[:_PAIRED], 2)
    return [_joined(node, [one, other]) for one, other in pairs if _axis(node, one) != _axis(node, other)]
