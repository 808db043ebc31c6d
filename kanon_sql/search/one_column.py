"""The best partition of a single ordered column: a shortest path, exact (Hansen, Mukherjee 2003 for microaggregation).

What a partition costs is the sum of what its classes cost, and so are the rows that it suppresses. The costs of single
classes are not asked for: they would tell how many rows a value has. A question is about a partition with at most two
cuts, before the atoms i and j, whose cost is M(i, j) = c(0, i) + c(i, j) + c(j, n). Along a path of cuts, the sum of
M(i, j) - M(i) is what the whole partition costs: what stands on either side of the classes cancels.

A class that can be cut into two that satisfy is never worth keeping whole, since cutting adds to no cost. If e(i) is
the first end of a class from i on that satisfies, then classes from i on end before e(e(i)): those are asked about,
from the last atom to the first. Atoms that are suppressed are a class each, or one at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kanon_sql.search.base import Batch, Question, Verdict
from kanon_sql.search.lattice import Node
from kanon_sql.search.tags import BATCH, ask

__all__ = ["MOST_WAYS", "best_places"]

MOST_WAYS = 5_000_000
"""This many ways with a number of suppressed rows each are compared in memory."""

_REPORTS = 8
"""So often a partition is asked about on the way that could be released if the search had to end there."""

_Asked = Generator[Batch, Mapping[Node, Verdict], dict[tuple[int, int], Verdict]]


class _Step(NamedTuple):
    """A class on a path: where it ends, and what it adds to the rows suppressed and to the cost."""

    end: int
    suppressed: int
    cost: int


class _Way(NamedTuple):
    """A path from an atom to the end: its cost, the rows it suppresses, and how it goes on."""

    cost: int
    suppressed: int
    end: int
    rest: _Way | None


@dataclass(frozen=True)
class _Asking:
    """How partitions with two cuts are asked about.

    Attributes:
        atoms: how many atoms there are; cuts are before 1 to one less.
        node: the places of cuts -> the node that has them.
        cost: what a verdict's partition costs, exactly.
    """

    atoms: int
    node: Callable[[Sequence[int]], Node]
    cost: Callable[[Verdict], int]

    def pairs(self, pairs: Sequence[tuple[int, int]], left: int) -> _Asked:
        """The verdicts of partitions by their two places; those at an end of the domain are no cuts."""
        nodes = {pair: self.node([place for place in pair if 0 < place < self.atoms]) for pair in pairs}
        verdicts = yield from ask(list(nodes.values()), metrics=True, left=left)
        return {pair: verdicts[node] for pair, node in nodes.items()}


def best_places(
    question: Question,
    whole: Verdict,
    atoms: int,
    node: Callable[[Sequence[int]], Node],
    cost: Callable[[Verdict], int],
) -> Generator[Batch, Mapping[Node, Verdict], list[int] | None]:
    """Where the best partition of a column cuts it.

    Args:
        question: its ``monotone`` holds, and merging two classes that satisfy costs no less than they do.
        whole: of the partition without a cut, which satisfies.
        atoms: how many atoms the column has.
        node: the places of cuts -> the node that has them. One place more is one cut more.
        cost: what a verdict's partition costs, exactly: the sum over its classes. Suppression costs the most.

    Returns:
        The places; None if too many ways differ in the rows that they suppress (``MOST_WAYS``).
    """
    asking = _Asking(atoms, node, cost)
    most = atoms * (atoms + 1) // 2
    one = yield from asking.pairs([(0, place) for place in range(1, atoms)], most)
    one[0, atoms] = whole
    kept = [0, *(one[0, place].kept_classes or 0 for place in range(1, atoms)), 0]
    if all(number == 1 for number in kept[1:-1]):
        return (yield from _one_class(question, asking, one))
    # `first` is where the first class from the beginning on may end, `last` where the last class may begin.
    both = [place for place in range(1, atoms) if kept[place] == 2]
    none = [place for place in range(1, atoms) if kept[place] == 0]
    first, last = (both[0], both[-1]) if both else (none[-1] + 1, none[0] - 1)
    steps = yield from _steps(question, asking, one, first, last)
    return _cheapest(steps, atoms, last, question.max_suppressed)


def _one_class(
    question: Question, asking: _Asking, one: Mapping[tuple[int, int], Verdict]
) -> Generator[Batch, Mapping[Node, Verdict], list[int]]:
    """The best partition if none has two classes that satisfy: all rows but those of a single class are suppressed.

    The narrower the class, the more rows are suppressed, so that the first one too narrow ends the questions.
    """
    atoms, most = asking.atoms, question.max_suppressed
    found: dict[tuple[int, int], Verdict] = dict(one)
    beyond = 0 if most == 0 else atoms
    for start in range(1, beyond):
        end = atoms - 1
        while end > start:
            ends = range(end, max(start, end - BATCH), -1)
            left = sum(atoms - other for other in range(start, atoms))
            asked = yield from asking.pairs([(start, place) for place in ends], left)
            found |= asked
            end = ends[-1] - 1
            if asked[start, ends[-1]].suppressed > most:
                break
    satisfied = {pair: verdict for pair, verdict in found.items() if verdict.satisfied}
    best = min(satisfied, key=lambda pair: (asking.cost(satisfied[pair]), satisfied[pair].suppressed, pair))
    return [place for place in best if 0 < place < atoms]


def _steps(
    question: Question, asking: _Asking, one: Mapping[tuple[int, int], Verdict], first: int, last: int
) -> Generator[Batch, Mapping[Node, Verdict], list[list[_Step]]]:
    """Per atom up to ``last``, the classes that may begin there in a best partition."""
    atoms = asking.atoms
    never = atoms + 1
    ends = [never] * (atoms + 2)
    """Per atom, where the shortest class from there on that satisfies ends."""
    steps: list[list[_Step]] = [[] for _ in range(last + 1)]
    for start in range(last, -1, -1):
        found: dict[tuple[int, int], Verdict] = {}
        highest = min(ends[start + 1], atoms)

        def fits(end: int, start: int = start, found: dict[tuple[int, int], Verdict] = found) -> bool:
            """Whether the class satisfies by itself."""
            if start == 0:
                return end >= first
            if end == atoms:
                return True
            return (found[start, end].kept_classes or 0) > int(start >= first) + int(end <= last)

        def look(places: Sequence[int], start: int = start, found: dict[tuple[int, int], Verdict] = found) -> _Asked:
            """Ask about the classes that end there, unless one cut tells all."""
            left = sum(atoms - other for other in range(start + 1))
            pairs = [(start, end) for end in places if end < atoms and (start, end) not in found]
            if start and pairs:
                found |= yield from asking.pairs(pairs, left)
            return found

        furthest = min(atoms, ends[highest] - 1)
        if furthest - start <= BATCH:  # all at once
            yield from look(range(start + 1, furthest + 1))
        low = highest
        while True:
            below = range(max(start + 1, low - BATCH), low + 1)
            yield from look(below)
            low = next(end for end in below if fits(end))
            if low > below[0] or low == start + 1:
                break
        ends[start] = low
        released = range(low, min(atoms, ends[low] - 1) + 1)
        yield from look(released)
        suppresses = low > start + 1 and question.max_suppressed > 0
        if suppresses:
            yield from look([start + 1])
        for end in [*([start + 1] if suppresses else []), *released]:
            if start == 0:
                # A path from the beginning has nothing before it that would have to cancel.
                steps[start].append(_Step(end, one[0, end].suppressed, asking.cost(one[0, end])))
            elif end == atoms:
                steps[start].append(_Step(end, 0, 0))
            else:
                found_here, alone = found[start, end], one[0, start]
                step = _Step(
                    end, found_here.suppressed - alone.suppressed, asking.cost(found_here) - asking.cost(alone)
                )
                steps[start].append(step)
        if start and start % max(1, atoms // _REPORTS) == 0:
            # Everything before it is one class: something to release, should the search have to end.
            places = _cheapest(steps, atoms, last, question.max_suppressed, start)
            if places is not None:
                yield from ask([asking.node([start, *places])], metrics=True)
    return steps


def _cheapest(
    steps: Sequence[Sequence[_Step]], atoms: int, last: int, max_suppressed: int, start: int = 0
) -> list[int] | None:
    """The places of the cheapest path that suppresses no more than it may; of several, of that which suppresses least.

    Args:
        steps: per atom up to ``last``, the classes that may begin there.
        atoms: how many atoms there are.
        last: behind it no class satisfies, so that the rest is suppressed.
        max_suppressed: how many rows may be.
        start: the atom to begin at.

    Returns:
        The places; None if there is no such path, or if there are too many ways to choose from.
    """
    rest = _Way(0, 0, atoms, None)
    tails = [[rest] if max_suppressed else [] for _ in range(last + 1, atoms)]
    for limited in (False, True):
        ways: list[list[_Way]] = [[] for _ in range(last + 1)] + tails + [[rest]]
        compared = 0
        for atom in range(last, start - 1, -1):
            on = [
                _Way(step.cost + way.cost, step.suppressed + way.suppressed, step.end, way)
                for step in steps[atom]
                for way in ways[step.end]
                # From here on a class to the end would suppress nothing, so these are the rows suppressed.
                if not limited or step.suppressed + way.suppressed <= max_suppressed
            ]
            compared += len(on)
            if compared > MOST_WAYS:
                return None
            ways[atom] = _undominated(on) if limited else sorted(on, key=lambda way: way[:2])[:1]
        found = [way for way in ways[start] if way.suppressed <= max_suppressed]
        if found:
            return _places(min(found, key=lambda way: way[:2]), atoms)
        if not max_suppressed:
            return None
    return None


def _undominated(ways: Sequence[_Way]) -> list[_Way]:
    """Those that suppress fewer rows than all that cost as little."""
    left: list[_Way] = []
    for way in sorted(ways, key=lambda way: way[:3]):
        if not left or way.suppressed < left[-1].suppressed:
            left.append(way)
    return left


def _places(way: _Way, atoms: int) -> list[int]:
    """Where a path cuts."""
    places = []
    on: _Way | None = way
    while on is not None:
        if 0 < on.end < atoms:
            places.append(on.end)
        on = on.rest
    return places
