"""Optimal search: the node with the lowest metric, proven, with few questions.

Sources: predictive tagging as in OLA (El Emam et al. 2009, section 3) and Flash (Kohlmayer
et al. 2012, section III), which decides many nodes by one verdict; the bounds come on top,
in the manner of branch and bound.

The *region* is what may still hold the answer: the nodes whose lower bound is not above the
best metric found so far, that are not below a violating node, not above a node whose floor
is too high, and not asked yet. Every answer shrinks it; the search ends when it is empty.
A node that is only inferred to satisfy stays in the region, because its metric is unknown.

Proven for every privacy model: a requirement that is not monotone is pruned by its monotone
part alone (``Verdict.prunable``). Ties of the metric are asked about, never assumed.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from heapq import heappop, heappush

from kanon_sql.errors import SearchTooLarge
from kanon_sql.lattice import Node, generalizes
from kanon_sql.search.base import MAX_NODES, Batch, Outcome, Question, Strategy, Verdict
from kanon_sql.search.tags import FEW, Tags, ask, can_win, holds, measure

__all__ = ["optimal"]

_VIOLATING = 1
"""Below a node for which the monotone part fails. Spreads downwards."""
_HOLDING = 2
"""Above a node for which the monotone part holds. Spreads upwards."""
_CLOSED = 4
"""Above a node whose floor cannot win. Spreads upwards."""
_ASKED = 8

_ROUND = 32
"""Nodes per question: smaller than the most allowed, since each answer decides others."""
_BOLD = 0.7
"""Go further above the region while more than this share of such questions comes back violating."""


def optimal(question: Question) -> Strategy:
    """The best node by ``question.rank``; the same as exhaustive search finds.

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
            "Limit the levels (min / max per quasi-identifier), use fewer quasi-identifiers, or choose "
            "the algorithm 'incognito', which can rule out combinations early."
        )
    region = _Region(question)
    yield from region.find_incumbent()
    yield from region.exhaust()
    solutions = sorted(region.solutions, key=question.rank)
    return Outcome(
        algorithm="optimal",
        best=solutions[0] if solutions else None,
        proven=True,
        criterion="lowest metric, ties broken by the preference",
        solutions=tuple(solutions),
        inferred=region.inferred(),
    )


class _Region:
    """What is known about every node, and what to ask next."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._tags = Tags(question.lattice)
        self._bounds: dict[int, float] = {}
        self._floors: list[tuple[float, int]] = []
        self._best: Verdict | None = None
        self.solutions: list[Verdict] = []

    def inferred(self) -> int:
        """How many nodes were decided (violating, or satisfying) without asking."""
        decides = _VIOLATING | _HOLDING if self._question.monotone else _VIOLATING
        return sum(self._tags.marks.count(value) for value in range(16) if value & decides and not value & _ASKED)

    def find_incumbent(self) -> Generator[Batch, Mapping[Node, Verdict], None]:
        """A good first solution: bisect the cheapest path from the bottom to the top."""
        path = [0]
        while above := self._tags.above(path[-1]):
            path.append(min(above, key=lambda number: (self._bound(number), number)))
        low, high = 0, len(path) - 1
        while low < high:
            middle = (low + high) // 2
            yield from self._ask([path[middle]])
            if self._tags.marks[path[middle]] & _HOLDING:
                high = middle
            else:
                low = middle + 1
        if self._best is None:
            yield from self._ask(path[low:])

    def exhaust(self) -> Generator[Batch, Mapping[Node, Verdict], None]:
        """Ask until the region is empty.

        Every round asks about nodes above maximal undecided nodes (when violating, all below
        is decided) and about low bounds (better metrics, floors). How far above, and how many,
        follows from how often the former turned out violating in the round before.
        """
        marks = self._tags.marks
        region = self._flood()
        share, lift = 0.5, 0
        while True:
            while region and not can_win(self._bound(region[-1]), self._best):
                region.pop()
            region = [number for number in region if not marks[number] & ~_HOLDING]
            if not region:
                return
            tops = self._tops(region, round(_ROUND * share), lift)
            others = self._others(region, tops)
            yield from self._ask(tops + others, left=len(region))
            if tops:
                violating = sum(1 for number in tops if marks[number] & _VIOLATING) / len(tops)
                share = min(0.9, max(0.1, violating))
                lift = lift + 1 if violating > _BOLD else max(0, lift - 1)

    def _bound(self, number: int) -> float:
        bound = self._bounds.get(number)
        if bound is None:
            bound = self._bounds[number] = self._question.bound(self._tags.node(number))
        return bound

    def _flood(self) -> list[int]:
        """The nodes whose bound can win, lowest first: every node follows its specializations."""
        seen = {0}
        todo = [0]
        region = []
        while todo:
            number = todo.pop()
            if not can_win(self._bound(number), self._best):
                continue
            region.append(number)
            for above in self._tags.above(number):
                if above not in seen:
                    seen.add(above)
                    todo.append(above)
        # The order of numbers extends the order of the lattice, which breaks ties of the bound.
        region.sort(key=lambda number: (self._bounds[number], sum(self._tags.node(number)), number))
        return region

    def _tops(self, region: list[int], count: int, lift: int) -> list[int]:
        """Undecided nodes that decide much when violating, at most ``count``.

        From maximal undecided nodes of the region, highest bound first, up to ``lift`` steps
        further up, outside of the region.
        """
        marks = self._tags.marks
        tops: list[int] = []
        chosen: list[Node] = []
        for number in reversed(region):
            if len(tops) == count:
                break
            if marks[number] or any(self._undecided(above) for above in self._tags.above(number)):
                continue
            node = self._tags.node(number)
            if any(generalizes(top, node) for top in chosen):
                continue
            for _ in range(lift):
                steps = [above for above in self._tags.above(number) if not marks[above]]
                if not steps:
                    break
                number = min(steps, key=lambda step: (self._bound(step), step))
            tops.append(number)
            chosen.append(self._tags.node(number))
        return tops

    def _undecided(self, number: int) -> bool:
        return not self._tags.marks[number] and can_win(self._bound(number), self._best)

    def _others(self, region: list[int], tops: list[int]) -> list[int]:
        """Low bounds: nodes known to hold as they are, undecided ones by bisecting a chain upwards."""
        marks = self._tags.marks
        taken = set(tops)
        others: list[int] = []
        for number in region:
            if len(tops) + len(others) == _ROUND:
                break
            if number in taken:
                continue
            if marks[number]:
                others.append(number)
                taken.add(number)
                continue
            chain = [number]
            while True:
                steps = [
                    above for above in self._tags.above(chain[-1]) if above not in taken and self._undecided(above)
                ]
                if not steps:
                    break
                chain.append(min(steps, key=lambda step: (self._bounds[step], step)))
            taken.update(chain)
            others.append(chain[len(chain) // 2])
        return others

    def _ask(self, numbers: list[int], left: int | None = None) -> Generator[Batch, Mapping[Node, Verdict], None]:
        """Ask about those nodes not asked yet, and tag what the answers decide."""
        question, tags = self._question, self._tags
        nodes = [tags.node(number) for number in numbers if not tags.marks[number] & _ASKED]
        measured = not question.staged or len(nodes) <= FEW
        verdicts = yield from ask(nodes, metrics=measured, left=left)
        for node in nodes:
            self._learn(tags.number(node), verdicts[node], measured=measured)
        if not measured:
            satisfied = [verdicts[node] for node in nodes if verdicts[node].satisfied]
            for solution in (yield from measure(question, satisfied, self._best)).values():
                self._accept(solution)
        while self._floors and not can_win(-self._floors[0][0], self._best):
            tags.mark_above(heappop(self._floors)[1], _CLOSED)

    def _learn(self, number: int, verdict: Verdict, *, measured: bool) -> None:
        tags = self._tags
        tags.marks[number] |= _ASKED
        if holds(self._question, verdict):
            tags.mark_above(number, _HOLDING)
        else:
            tags.mark_below(number, _VIOLATING)
        if verdict.satisfied and measured:
            self._accept(verdict)
        if verdict.floor is not None:
            heappush(self._floors, (-verdict.floor, number))

    def _accept(self, solution: Verdict) -> None:
        self.solutions.append(solution)
        if self._best is None or self._question.rank(solution) < self._question.rank(self._best):
            self._best = solution
