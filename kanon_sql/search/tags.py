"""What several strategies share: batches, bounds, and predictive tags over an enumerated lattice.

Predictive tagging is the idea of OLA (El Emam et al. 2009, section 3) and Flash (Kohlmayer
et al. 2012, section III): a verdict about one node decides all nodes above or below it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from math import isfinite, prod

from kanon_sql.search.base import Batch, Question, Verdict
from kanon_sql.search.lattice import Lattice, Node
from kanon_sql.search.ranked import Ranked

__all__ = [
    "BATCH",
    "FEW",
    "Tags",
    "all_lowered",
    "ask",
    "can_win",
    "holds",
    "lowered",
    "measure",
    "metric_of",
    "preference",
    "rounded",
    "those_that_can_win",
]

BATCH = 64
"""The most nodes in one question: one generated query answers them together."""

FEW = 4
"""This many nodes are asked for verdict and metric at once, even if the metric costs more than the verdict;
and this many metrics are asked for at a time: each answer may spare the others."""

FEW_WIDELY = 16
"""This many metrics are asked for at a time where a question costs far more than a node in it."""

_SLACK = 1e-9
"""Relative difference below which a bound and a metric count as equal: they are sums of
floats made in different places. Slack only ever causes a question too many."""


def ask(
    nodes: Sequence[Node], *, metrics: bool = False, left: int | None = None, prepare: tuple[Node, ...] = ()
) -> Generator[Batch, Mapping[Node, Verdict], dict[Node, Verdict]]:
    """Ask about ``nodes`` in batches of at most :data:`BATCH`; returns all verdicts.

    Args:
        nodes: all different.
        metrics: whether to ask for the metric.
        left: how many nodes may still be asked about, these included; see :class:`Batch`.
        prepare: see :class:`Batch`.
    """
    verdicts: dict[Node, Verdict] = {}
    for start in range(0, len(nodes), BATCH):
        remaining = None if left is None else left - start
        answer = yield Batch(tuple(nodes[start : start + BATCH]), metrics, remaining, prepare)
        verdicts.update(answer)
    return verdicts


def measure(
    question: Question, satisfied: Sequence[Verdict], best: Verdict | None
) -> Generator[Batch, Mapping[Node, Verdict], dict[Node, Verdict]]:
    """Ask for the metric of those that may be chosen over ``best``, the most promising first.

    Args:
        question: the problem.
        satisfied: satisfying nodes, without their metric.
        best: the best node whose metric is known.
    """
    verdicts: dict[Node, Verdict] = {}
    few = FEW_WIDELY if question.widely else FEW
    waiting = sorted(((question.least(verdict), verdict.node) for verdict in satisfied), reverse=True)
    while waiting and can_win(waiting[-1][0], best):
        chosen = [waiting.pop()[1] for _ in range(min(few, len(waiting)))]
        answer = yield from ask(chosen, metrics=True)
        verdicts.update(answer)
        known = [*answer.values()] if best is None else [best, *answer.values()]
        best = min(known, key=question.rank)
    return verdicts


def holds(question: Question, verdict: Verdict) -> bool:
    """Whether the monotone part of the requirement holds.

    True passes on to every generalization, False to every specialization. When the whole
    requirement is monotone this is ``satisfied``; otherwise it is "not prunable".
    """
    return verdict.satisfied if question.monotone else not verdict.prunable


def metric_of(verdict: Verdict) -> float:
    """The metric of a verdict asked for with metrics.

    Raises:
        ValueError: the evaluator left it out.
    """
    if verdict.metric is None:
        raise ValueError(f"no metric in the verdict of node {verdict.node}")
    return verdict.metric


def rounded(value: float) -> float:
    """Twelve significant digits: engines may sum in another order, ties must stay ties. Ranked losses see to it."""
    return value if isinstance(value, Ranked) else float(f"{value:.12g}")


def can_win(lower: float, best: Verdict | None) -> bool:
    """Whether a node whose metric is at least ``lower`` may still be chosen over ``best``.

    Equality counts: ties are broken by the rank, which needs the verdict.
    """
    if best is None:
        return True
    metric = metric_of(best)
    if isinstance(lower, Ranked):  # lowered in every place already
        return lower <= metric
    return lower <= metric + _SLACK * max(1.0, abs(metric))


def those_that_can_win(lowers: Sequence[float], best: Verdict | None) -> list[int]:
    """The places of those for which :func:`can_win` holds, which are all ranked or all numbers.

    A lattice has many, so what they share is computed once.
    """
    if best is None:
        return list(range(len(lowers)))
    metric = metric_of(best)
    ranked = bool(lowers) and isinstance(lowers[0], Ranked)
    most = metric if ranked else metric + _SLACK * max(1.0, abs(metric))
    return [place for place, lower in enumerate(lowers) if lower <= most]


class Tags:
    """One byte of marks per node of a lattice, numbered in lexicographic order.

    Args:
        lattice: enumerable: the caller has checked its size.

    Attributes:
        marks: the bits set so far, by node number. Zero at first.
    """

    def __init__(self, lattice: Lattice) -> None:
        self._bottom = lattice.bottom
        spans = [high - low + 1 for low, high in zip(lattice.bottom, lattice.top, strict=True)]
        # Per attribute that has a choice: the distance of neighbours, the levels, the highest level.
        self._axes = [(prod(spans[axis + 1 :]), span, span - 1) for axis, span in enumerate(spans) if span > 1]
        self._places = [(prod(spans[axis + 1 :]), span) for axis, span in enumerate(spans)]
        self.marks = bytearray(lattice.size)

    def number(self, node: Node) -> int:
        """The position of ``node`` in the order of ``iter(lattice)``."""
        return sum(
            (level - low) * stride for level, low, (stride, _) in zip(node, self._bottom, self._places, strict=True)
        )

    def node(self, number: int) -> Node:
        """The node at a position; the inverse of :meth:`number`."""
        return tuple(
            low + number // stride % span for low, (stride, span) in zip(self._bottom, self._places, strict=True)
        )

    def above(self, number: int) -> list[int]:
        """The numbers of the direct generalizations."""
        return [number + stride for stride, span, last in self._axes if number // stride % span != last]

    def below(self, number: int) -> list[int]:
        """The numbers of the direct specializations."""
        return [number - stride for stride, span, _ in self._axes if number // stride % span]

    def mark_above(self, number: int, bit: int) -> None:
        """Set ``bit`` on a node and all its generalizations.

        A bit must spread in one direction only: spreading stops where it is already set.
        """
        self._spread(number, bit, upward=True)

    def mark_below(self, number: int, bit: int) -> None:
        """Set ``bit`` on a node and all its specializations; see :meth:`mark_above`."""
        self._spread(number, bit, upward=False)

    def _spread(self, number: int, bit: int, *, upward: bool) -> None:
        marks = self.marks
        neighbours = self.above if upward else self.below
        if marks[number] & bit:
            return
        marks[number] |= bit
        todo = [number]
        while todo:
            for neighbour in neighbours(todo.pop()):
                if not marks[neighbour] & bit:
                    marks[neighbour] |= bit
                    todo.append(neighbour)


def lowered(bound: float) -> float:
    """A little below a bound, so that rounding cannot break it."""
    if isinstance(bound, Ranked):
        return bound.below()
    return bound - 1e-9 * abs(bound) if isfinite(bound) else bound


def all_lowered(bounds: Sequence[float]) -> list[float]:
    """:func:`lowered` of many, which are all ranked or all numbers."""
    if bounds and isinstance(bounds[0], Ranked):
        return [lowered(bound) for bound in bounds]
    return [bound - 1e-9 * abs(bound) if isfinite(bound) else bound for bound in bounds]


def preference(prefer: str, verdict: Verdict, heights: Node) -> float:
    """The preference criterion of a node; lower is better (Samarati 2001, section 3.2).

    Args:
        prefer: the criterion's name.
        verdict: on the node.
        heights: per quasi-identifier, the level of its top value.
    """
    if prefer == "minimum_suppression":
        return verdict.suppressed
    if prefer == "minimum_absolute_distance":
        return sum(verdict.node)
    if prefer == "minimum_relative_distance":
        return rounded(sum(level / height for level, height in zip(verdict.node, heights, strict=True)))
    assert verdict.kept_classes is not None, "preferences are compared between verdicts with a metric"
    return -verdict.kept_classes
