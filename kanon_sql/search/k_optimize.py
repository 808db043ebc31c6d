"""K-Optimize: the best way to cut ordered domains into intervals, proven, or the best so far at any time.

Source: Bayardo, Agrawal 2005, "Data privacy through optimal k-anonymization" (ICDE), sections 3 to 5.
A partition is a set of cuts. A *span* is all partitions between two of them: the head, whose cuts
all of them have, and the finest, whose cuts they may have (the paper's head set and head plus tail).
More cuts only split classes. So a row that the head suppresses is suppressed in the whole span, and
every other row costs at least what it costs in the finest partition: the span's floor.

The set-enumeration tree is walked by deciding one cut at a time: the spans with and without it. As
in the paper, cuts are tried first: one that no better partition can have leaves the span, and one
that splits no class of the head costs nothing and joins the head. So does (beyond the paper) one
without which no partition is better. The walk goes on where the floor is lowest; the partitions that
it is measured by come from climbing: adding the best cut again and again, from the heads it meets.
A single column is no walk but a shortest path (``one_column.py``), where the metric is a sum over classes.

Proven for requirements that merging classes cannot break (``Question.monotone``), under the metrics
that give a floor. Metrics count as equal within a relative difference of 1e-12.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from kanon_sql.search.base import Batch, Outcome, Question, Strategy, Verdict, algorithm
from kanon_sql.search.lattice import Node
from kanon_sql.search.one_column import best_places
from kanon_sql.search.tags import ask, metric_of

__all__ = ["Cuts", "Span", "k_optimize"]

_SAME = 1e-12
"""Relative difference below which two metrics count as equal."""

MOST_SPANS = 50_000
"""This many spans are asked about before the best partition so far has to do."""

_CLIMB = 10
"""This many spans are looked at between two climbs."""

_AGAIN = 0.25
"""Try the cuts of a span again if so large a share of them was just decided; else divide it in two."""


class Span(NamedTuple):
    """All partitions that have the cuts of ``head`` and no others than those of ``finest``: a node of the search.

    Attributes:
        head: a bit per cut; part of ``finest``.
        finest: a bit per cut.
    """

    head: int
    finest: int


@dataclass(frozen=True, slots=True)
class Cuts:
    """The candidate cuts, a bit each.

    Attributes:
        groups: per quasi-identifier, the bits of its cuts; the lowest bit cuts at the lowest value.
    """

    groups: tuple[int, ...]

    @property
    def every(self) -> int:
        """All cuts."""
        return sum(self.groups)

    @staticmethod
    def undecided(span: Span) -> Iterator[int]:
        """The cuts that a span may have or not."""
        yield from _bits(span.finest & ~span.head)


@algorithm(
    finds=(
        "the best of [all ways to cut ordered domains](#searches) into intervals, NULL being last, proven under "
        "`loss` and `discernibility`"
    ),
    when="numbers and dates with uneven values: it chooses the intervals that hierarchies would give",
    source="Bayardo, Agrawal 2005",
    takes=("cuts",),
    of_intervals=True,
)
def k_optimize(question: Question, cuts: Cuts, cost: Callable[[Verdict], int] | None = None) -> Strategy:
    """The partition with the lowest metric. Nodes are spans; a verdict is that of the span's head.

    Args:
        question: its ``monotone`` must hold; ``floor`` of a verdict bounds the whole span.
        cuts: the candidates.
        cost: what a verdict's partition costs, exactly, where that is a sum over its classes: the metric is lowest
            where the cost is. None where it is not, or where a class that satisfies may violate together with another.

    Returns:
        A strategy whose outcome has the best partition as the head of ``best.node``. It is not
        proven if ``MOST_SPANS`` questions were not enough.
    """
    tree = _Tree(question, cuts)
    if cost is not None and sum(map(bool, cuts.groups)) == 1 and (yield from tree.one_column(cost)):
        return tree.outcome(proven=True)
    yield from tree.plant()
    expanded = 0
    while (verdict := tree.next()) is not None:
        if tree.asked >= MOST_SPANS:
            reason = (
                f"it asked about {tree.asked:,} spans of partitions, the most that it asks about; no partition has a "
                f"metric below {_floor_of(verdict):.4g}"
            )
            return replace(tree.outcome(proven=False), stopped=reason)
        if expanded % _CLIMB == 0:
            yield from tree.climb(Span(*verdict.node))
        yield from tree.expand(verdict)
        expanded += 1
    return tree.outcome(proven=True)


class _Tree:
    """The spans that may still hold a better partition than the best one."""

    def __init__(self, question: Question, cuts: Cuts) -> None:
        self._question = question
        self._cuts = cuts
        self._heap: list[tuple[float, int, int, Verdict]] = []
        self._serial = count()
        self._best: Verdict | None = None
        self.asked = 0

    def outcome(self, *, proven: bool) -> Outcome:
        """What was found."""
        return Outcome(
            algorithm="k_optimize",
            best=self._best,
            proven=proven,
            criterion="lowest metric of all partitions of the domains into intervals",
            solutions=() if self._best is None else (self._best,),
        )

    def one_column(self, cost: Callable[[Verdict], int]) -> Generator[Batch, Mapping[Node, Verdict], bool]:
        """The best partition where one column alone can be cut; False if there were too many to choose from."""
        every = self._cuts.every
        lowest = every & -every
        root = Span(0, every)
        verdicts = yield from self._ask([root])
        if verdicts[root].prunable:
            return True

        def node(places: Sequence[int]) -> Span:
            return Span(sum(lowest << (place - 1) for place in places), every)

        places = yield from best_places(self._question, verdicts[root], every.bit_count() + 1, node, cost)
        if places is None:
            return False
        yield from self._ask([node(places)])
        return True

    def plant(self) -> Generator[Batch, Mapping[Node, Verdict], None]:
        """The span of all partitions, and good partitions to begin with: one attribute is cut first, then all."""
        root = Span(0, self._cuts.every)
        yield from self._keep([root])
        if self._best is None:
            return
        for group in self._cuts.groups:
            head = yield from self.climb(root, group)
            yield from self.climb(Span(head, root.finest))

    def next(self) -> Verdict | None:
        """The span with the lowest floor, of those that may improve; it leaves the tree."""
        while self._heap:
            verdict = heappop(self._heap)[3]
            if self._may_improve(verdict):
                return verdict
        return None

    def climb(self, span: Span, among: int | None = None) -> Generator[Batch, Mapping[Node, Verdict], int]:
        """Add cuts to a span's head while the metric falls; returns the head that this ends at.

        Args:
            span: where to begin.
            among: the cuts that may be added; None for all of the span.
        """
        head, metric = span.head, float("inf")
        while True:
            tried = {
                cut: Span(head | cut, span.finest)
                for cut in self._cuts.undecided(Span(head, span.finest))
                if among is None or cut & among
            }
            verdicts = yield from self._ask(list(tried.values()))
            metrics = {cut: metric_of(verdicts[of]) for cut, of in tried.items() if verdicts[of].satisfied}
            falling = sorted((found, cut) for cut, found in metrics.items() if found < metric)
            if not falling:
                return head
            # At once the best cut of every interval, if that is better still than the best of all.
            several: dict[tuple[int, int], int] = {}
            for _, cut in falling:
                several.setdefault(self._interval(head, cut), cut)
            together = Span(head | sum(several.values()), span.finest)
            found = (yield from self._ask([together]))[together]
            metric, cut = falling[0]
            head = tried[cut].head
            if found.satisfied and metric_of(found) < metric:
                metric, head = metric_of(found), together.head

    def _interval(self, head: int, cut: int) -> tuple[int, int]:
        """The interval of the head that a cut divides: its attribute, and the cuts below it."""
        index = next(index for index, group in enumerate(self._cuts.groups) if cut & group)
        return index, (head & self._cuts.groups[index] & (cut - 1)).bit_count()

    def expand(self, verdict: Verdict) -> Generator[Batch, Mapping[Node, Verdict], None]:
        """Decide the cuts of a span that can be decided, and divide it by one that cannot."""
        cuts = self._cuts
        head, finest = Span(*verdict.node)
        undecided = list(cuts.undecided(Span(head, finest)))
        added = {cut: Span(head | cut, finest) for cut in undecided}
        with_cut = yield from self._ask(list(added.values()))
        for cut in undecided:
            found = with_cut[added[cut]]
            if not self._may_improve(found):
                finest &= ~cut
            elif (found.suppressed, found.kept_classes) == (verdict.suppressed, verdict.kept_classes):
                head |= cut
        removed = {cut: Span(head, finest & ~cut) for cut in cuts.undecided(Span(head, finest))}
        without_cut = yield from self._ask(list(removed.values()))
        for cut, span in removed.items():
            if not self._may_improve(without_cut[span]):
                head = head | cut
        left = [cut for cut in cuts.undecided(Span(head, finest)) if cut in added and cut in removed]
        if len(left) <= (1 - _AGAIN) * len(undecided):
            yield from self._keep([Span(head, finest)])
            return

        def promise(cut: int) -> tuple[float, float, int]:
            """Both spans of the cut should have high floors."""
            floors = (_floor_of(with_cut[added[cut]]), _floor_of(without_cut[removed[cut]]))
            return min(floors), max(floors), -cut

        cut = max(left, key=promise)
        yield from self._keep([Span(head | cut, finest), Span(head, finest & ~cut)])

    def _ask(self, spans: list[Span]) -> Generator[Batch, Mapping[Node, Verdict], dict[Node, Verdict]]:
        verdicts = yield from ask(spans, metrics=True)
        self.asked += len(spans)
        for verdict in verdicts.values():
            if verdict.satisfied and (self._best is None or self._better(metric_of(verdict))):
                self._best = verdict
        return verdicts

    def _keep(self, spans: list[Span]) -> Generator[Batch, Mapping[Node, Verdict], None]:
        """Ask about spans, and remember those that may hold a better partition."""
        verdicts = yield from self._ask(spans)
        for span in spans:
            left = span.finest & ~span.head
            if left and self._may_improve(verdicts[span]):
                item = (_floor_of(verdicts[span]), left.bit_count(), next(self._serial), verdicts[span])
                heappush(self._heap, item)

    def _may_improve(self, verdict: Verdict) -> bool:
        """Whether the span may hold a better partition than the best one."""
        return not verdict.prunable and self._better(_floor_of(verdict))

    def _better(self, metric: float) -> bool:
        if self._best is None:
            return True
        best = metric_of(self._best)
        return metric < best - _SAME * abs(best)


def _floor_of(verdict: Verdict) -> float:
    assert verdict.floor is not None
    return verdict.floor


def _bits(number: int) -> Iterator[int]:
    while number:
        bit = number & -number
        yield bit
        number ^= bit
