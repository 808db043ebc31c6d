"""Optimal search: the node with the lowest metric, proven, with few questions.

Sources: predictive tagging as in OLA (El Emam et al. 2009, section 3) and Flash (Kohlmayer
et al. 2012, section III), which decides many nodes by one verdict; the bounds come on top,
in the manner of branch and bound.

The *region* is what may still hold the answer: the nodes whose lower bound is not above the
best metric found so far, that are not below a violating node, not above a node whose floor
is too high, and not asked yet. Every answer shrinks it; the search ends when it is empty.
A node that is only inferred to satisfy stays in the region, because its metric is unknown.

What to ask is a covering problem: few violating nodes that have the whole region below them.
A forecast of each node's suppression, learned on the way, says how far up one may go and
still expect a violation; the step up that covers most for the least risk is taken first.

Proven for every privacy model: a requirement that is not monotone is pruned by its monotone
part alone (``Verdict.prunable``). Ties of the metric are asked about, never assumed. No
forecast decides anything: a wrong one only costs questions.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from heapq import heappop, heappush
from math import log

from kanon_sql.errors import SearchTooLarge
from kanon_sql.search.additive import Additive
from kanon_sql.search.base import MAX_NODES, Batch, Outcome, Question, Strategy, Verdict, algorithm
from kanon_sql.search.boxes import Boxes
from kanon_sql.search.lattice import Node
from kanon_sql.search.tags import BATCH, FEW, ask, can_win, holds, measure, those_that_can_win

__all__ = ["optimal"]

_ROUND = 32
"""Nodes per question: smaller than the most allowed, since each answer decides others."""
_LIKELY = 8
"""How many of them are the nodes with the lowest bounds that are expected to satisfy."""
_SCAN = 2_000
"""Among how many nodes these are looked for."""
_LEAST_RISK = 0.02
"""A step up that hardly brings a node nearer to satisfying costs at least this, in log odds."""


@algorithm(
    finds="the node with the lowest metric, proven; with `--show minimal` all k-minimal nodes too",
    when="the default",
    source="predictive tagging: El Emam et al. 2009, Kohlmayer et al. 2012",
)
def optimal(question: Question, *, minimal: bool = False) -> Strategy:
    """The best node by ``question.rank``; the same as exhaustive search finds.

    Args:
        question: the problem.
        minimal: also determine all k-minimal generalizations. Possible where the requirement is
            monotone; elsewhere the outcome's ``minimal`` is None all the same.

    Returns:
        A strategy whose outcome has ``solutions``: the satisfying nodes whose metric was
        needed to prove the best one.

    Raises:
        SearchTooLarge: the lattice has more than ``MAX_NODES`` nodes. Raised before the
            first question.
    """
    lattice = question.lattice
    if lattice.size > MAX_NODES:
        raise SearchTooLarge(
            f"this lattice has {lattice.size:,} nodes (at most {MAX_NODES:,} for the algorithm 'optimal'). "
            "Limit the levels (minimum_level, maximum_level), use fewer quasi-identifiers, or choose "
            "the algorithm 'incognito', which can rule out combinations early, or 'greedy', a heuristic."
        )
    minimal = minimal and question.monotone
    region = _Region(question)
    yield from region.find_incumbent()
    yield from region.exhaust(minimal=minimal)
    border = (yield from region.border()) if minimal else None
    solutions = sorted(region.solutions, key=question.rank)
    return Outcome(
        algorithm="optimal",
        best=solutions[0] if solutions else None,
        proven=True,
        criterion="lowest metric, ties broken by the preference",
        solutions=tuple(solutions),
        minimal=border,
        inferred=region.inferred(),
    )


class _Region:
    """What is known about every node, and what to ask next.

    All sets of nodes are integers, see :class:`Boxes`: ``_violating`` lies below a node for which
    the monotone part fails, ``_holding`` above one for which it holds, ``_closed`` above one
    whose floor cannot win.
    """

    def __init__(self, question: Question) -> None:
        self._question = question
        self._boxes = Boxes(question.lattice)
        self._forecast = Forecast(question)
        self._violating = self._holding = self._closed = self._asked = 0
        self._bounds = question.bounds(question.lattice)
        self._floors: list[tuple[float, int]] = []
        self._best: Verdict | None = None
        self.solutions: list[Verdict] = []

    def inferred(self) -> int:
        """How many nodes were decided (violating, or satisfying) without asking."""
        decided = self._violating | self._holding if self._question.monotone else self._violating
        return (decided & ~self._asked).bit_count()

    def find_incumbent(self) -> Generator[Batch, Mapping[Node, Verdict], None]:
        """A good first solution: bisect the cheapest path from the bottom to the top, or ask about all of it."""
        path = [0]
        while above := list(self._boxes.successors(path[-1])):
            path.append(min(above, key=lambda number: (self._bounds[number], number)))
        if self._question.widely:
            yield from self._ask(path)
            return
        low, high = 0, len(path) - 1
        while low < high:
            middle = (low + high) // 2
            yield from self._ask([path[middle]])
            if self._holding >> path[middle] & 1:
                high = middle
            else:
                low = middle + 1
        if self._best is None:
            yield from self._ask([number for number in path[low:] if not self._asked >> number & 1])

    def exhaust(self, *, minimal: bool) -> Generator[Batch, Mapping[Node, Verdict], None]:
        """Ask until the region is empty.

        Nodes above the region may be asked about in vain, so there are never more of them than
        nodes in the region.

        Args:
            minimal: afterwards, :meth:`border` will ask about the nodes that are still undecided.
        """
        region = those_that_can_win(self._bounds, self._best)
        # The order of numbers extends the order of the lattice, which breaks ties of the bound.
        region.sort(key=lambda number: (self._bounds[number], number))
        spare = len(region)
        while True:
            while region and not can_win(self._bounds[region[-1]], self._best):
                region.pop()
            decided = self._boxes.marks(self._violating | self._closed | self._asked)
            region = [number for number in region if not decided[number >> 3] >> (number & 7) & 1]
            if not region:
                return
            self._forecast.fit()
            spare = min(spare, len(region))
            chosen, outside = self._chosen(region, spare)
            afterwards = self._undecided().bit_count() if minimal else 0
            yield from self._ask(chosen, left=len(region) + spare + afterwards)
            spare -= outside

    def border(self) -> Generator[Batch, Mapping[Node, Verdict], tuple[Node, ...]]:
        """All minimal nodes: ask until every node is known to violate or to satisfy."""
        boxes = self._boxes
        while undecided := self._undecided():
            self._forecast.fit()
            left = undecided.bit_count()
            chosen: list[int] = []
            while undecided and len(chosen) < BATCH:
                # One from the upper end, then one from the lower.
                upper = len(chosen) % 2 == 0
                start = (undecided if upper else undecided & -undecided).bit_length() - 1
                expected = self._forecast.expected(boxes.steps(start))
                found, decided = self._climb(start, expected, undecided, up=expected > 0)
                chosen.append(found)
                undecided &= ~decided
            verdicts = yield from ask([boxes.node(number) for number in chosen], left=left)
            for number in chosen:
                self._learn(number, verdicts[boxes.node(number)], measured=False)
        return tuple(map(boxes.node, boxes.members(boxes.lowest(self._holding))))

    # --- What to ask ---

    def _undecided(self) -> int:
        return self._boxes.all & ~self._violating & ~self._holding

    def _chosen(self, region: list[int], spare: int) -> tuple[list[int], int]:
        """What to ask next about an open region, lowest bound first.

        Returns:
            The nodes, and how many of them lie outside of the region: at most ``spare``.
        """
        boxes, forecast = self._boxes, self._forecast
        holding = boxes.marks(self._holding)

        forecasts: dict[int, float] = {}

        def expected(number: int) -> float:
            if holding[number >> 3] >> (number & 7) & 1:
                return -1.0
            if number not in forecasts:
                forecasts[number] = forecast.expected(boxes.steps(number))
            return forecasts[number]

        chosen: list[int] = []
        for number in region[:_SCAN]:
            if len(chosen) == _LIKELY:
                break
            if expected(number) <= 0:
                chosen.append(number)
        inside = boxes.of(region)
        outside = 0
        uncovered = inside & ~boxes.of(chosen)
        marks = boxes.marks(uncovered)
        for number in reversed(region):
            if len(chosen) == _ROUND:
                return chosen, outside
            if marks[number >> 3] >> (number & 7) & 1 and (risk := expected(number)) > 0:
                top, covered = number, boxes.below(number)
                if outside < spare:
                    top, covered = self._climb(number, risk, uncovered, up=True)
                outside += not inside >> top & 1
                chosen.append(top)
                uncovered &= ~covered
                marks = boxes.marks(uncovered)
        for number in region:
            if len(chosen) == _ROUND:
                break
            if marks[number >> 3] >> (number & 7) & 1:
                chosen.append(number)
        return chosen, outside

    def _climb(self, number: int, expected: float, uncovered: int, *, up: bool) -> tuple[int, int]:
        """Go from a node to one that decides more, as long as the same verdict is expected.

        Args:
            number: where to begin.
            expected: what is forecast for it.
            uncovered: the nodes that are worth deciding.
            up: towards generalizations, to violate; otherwise towards specializations, to hold.

        Returns:
            The node found, and all that it decides if the forecast is right.
        """
        boxes, terms = self._boxes, self._forecast.terms
        box = boxes.below(number) if up else boxes.above(number)
        steps = boxes.steps(number)
        known = self._holding if up else self._violating
        while True:
            best = None
            for axis, (step, stride, span) in enumerate(zip(steps, boxes.strides, boxes.spans, strict=True)):
                if step == (span - 1 if up else 0):
                    continue
                change = terms[axis][step + 1 if up else step - 1] - terms[axis][step]
                if (expected + change > 0) != up or known >> (number + stride if up else number - stride) & 1:
                    continue
                larger = box << stride if up else box >> stride
                gain = (larger & uncovered & ~box).bit_count()
                worth = gain / max(_LEAST_RISK, abs(change))
                if gain and (best is None or worth > best[0]):
                    best = (worth, axis, larger)
            if best is None:
                return number, box
            _, axis, larger = best
            steps[axis] += 1 if up else -1
            # The forecast's own sum: one in another order may round to the other side of the line,
            # and the node would be asked about for both reasons.
            expected = self._forecast.expected(steps)
            if (expected > 0) != up:
                return number, box
            number += boxes.strides[axis] if up else -boxes.strides[axis]
            box |= larger

    # --- What the answers say ---

    def _ask(self, numbers: list[int], left: int | None = None) -> Generator[Batch, Mapping[Node, Verdict], None]:
        """Ask about nodes not asked yet, and note what the answers decide."""
        question = self._question
        nodes = [self._boxes.node(number) for number in numbers]
        measured = not question.staged or len(nodes) <= FEW
        verdicts = yield from ask(nodes, metrics=measured, left=left)
        for number, node in zip(numbers, nodes, strict=True):
            self._learn(number, verdicts[node], measured=measured)
        if not measured:
            satisfied = [verdicts[node] for node in nodes if verdicts[node].satisfied]
            for solution in (yield from measure(question, satisfied, self._best)).values():
                self._accept(solution)
        while self._floors and not can_win(-self._floors[0][0], self._best):
            self._closed |= self._boxes.above(heappop(self._floors)[1])

    def _learn(self, number: int, verdict: Verdict, *, measured: bool) -> None:
        self._asked |= 1 << number
        self._forecast.observe(verdict)
        if holds(self._question, verdict):
            self._holding |= self._boxes.above(number)
        else:
            self._violating |= self._boxes.below(number)
        if verdict.satisfied and measured:
            self._accept(verdict)
        if verdict.floor is not None:
            heappush(self._floors, (-verdict.floor, number))

    def _accept(self, solution: Verdict) -> None:
        self.solutions.append(solution)
        if self._best is None or self._question.rank(solution) < self._question.rank(self._best):
            self._best = solution


_REACH = 2.0
"""Log odds from the line at which an answer counts half: the model has to be right near the line."""


class Forecast(Additive):
    """A forecast of whether a node violates, from the answers so far, as log odds: above 0 it is expected to.

    The log odds of a row being suppressed are nearly a sum of one term per attribute and level.

    Args:
        question: the problem.
    """

    def __init__(self, question: Question) -> None:
        self._question = question
        lattice = question.lattice
        cells = [
            [log(max(1, labels[level])) for level in range(low, high + 1)]
            for labels, low, high in zip(question.labels, lattice.bottom, lattice.top, strict=True)
        ]
        # Before anything is known the line is halfway between the bottom and the top.
        super().__init__(cells, 0.5, -0.25 * sum(own[0] + own[-1] for own in cells))

    def observe(self, verdict: Verdict) -> None:
        """Take an answer into account, from the next fit on."""
        question = self._question
        steps = [level - low for level, low in zip(verdict.node, question.lattice.bottom, strict=True)]
        if question.monotone:
            # Half a row more than MaxSup: the line lies between what satisfies and what does not.
            odds = self._log_odds(verdict.suppressed) - self._log_odds(question.max_suppressed + 0.5)
        else:
            odds = -1.0 if holds(question, verdict) else 1.0
        self.learn(steps, odds, 1.0 / (1.0 + (odds / _REACH) ** 2))

    def _log_odds(self, suppressed: float) -> float:
        rows = max(self._question.rows, suppressed)
        return log((suppressed + 0.5) / (rows - suppressed + 0.5))
