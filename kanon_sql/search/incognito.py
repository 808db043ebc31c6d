"""Incognito: all k-minimal generalizations, built up from subsets of the quasi-identifiers.

Source: LeFevre, DeWitt, Ramakrishnan 2005, "Incognito: efficient full-domain k-anonymity",
section 3 (basic algorithm). Two properties prune:

- generalization: what holds for a node holds for every generalization of it;
- subset: what fails for some of the quasi-identifiers fails for all of them, so candidates
  over n quasi-identifiers are joined from survivors over n - 1 (the a-priori step).

Leaving a quasi-identifier out is the same as its top value. A subset's node is therefore a
full vector with the others at ``Question.heights``, and the paper's nodes that have one of
the subset's own levels at the top are nodes of a smaller subset, decided already.

Proven: ``minimal`` is complete. The metric is not monotone once rows may be suppressed, so
the best node need not be minimal: it is found among all satisfying nodes, best bound first.

When the requirement is not monotone, both properties are used for its monotone part only
(``Verdict.prunable``), and the nodes that remain are asked about bottom-up.

The variants ask the same questions and differ in which frequency sets answer them:

- ``basic``: whichever there are; the evaluator decides what to roll up;
- ``super_roots`` (section 3.3.1): per subset, one at the meet of its candidates;
- ``cube`` (section 3.3.2): the lowest one of every subset, all built before the search, each
  from the smallest one that has one quasi-identifier more.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import inf

from kanon_sql.errors import SearchTooLarge
from kanon_sql.search.base import MAX_NODES, Batch, Outcome, Question, Strategy, Verdict, algorithm
from kanon_sql.search.lattice import Lattice, Node
from kanon_sql.search.tags import BATCH, ask, can_win, holds

__all__ = ["incognito"]

_PROBES = 8

FAMILIES = 32
"""This many subsets are searched together with a super-root each: that many frequency sets exist at a time."""

MOST_SUBSETS = 4096
"""The most frequency sets of a cube: those of 12 quasi-identifiers."""


@algorithm(
    finds="all k-minimal nodes and the node with the lowest metric, proven",
    when="to see the whole border; lattices of more than a million nodes that small subsets rule out",
    source="LeFevre, DeWitt, Ramakrishnan 2005",
    takes=("variant",),
)
def incognito(question: Question, *, variant: str = "basic") -> Strategy:
    """All minimal nodes, and the best node by ``question.rank``.

    Args:
        question: the problem.
        variant: ``basic``, ``super_roots`` or ``cube``.

    Returns:
        A strategy whose outcome has ``minimal``, and ``solutions``: the satisfying nodes
        whose metric was needed to prove the best one.

    Raises:
        SearchTooLarge: more than ``MAX_NODES`` candidates would have to be held, or more than
            ``MOST_SUBSETS`` frequency sets of a cube.
    """
    lattice = question.lattice
    asked: dict[Node, Verdict] = {}
    if lattice.size > MAX_NODES:
        yield from _refuse_crowded(question, asked)
    border = yield from _border(question, asked, _VARIANTS[variant])
    known = {node: verdict for node, verdict in asked.items() if node in lattice and not verdict.satisfied}
    minimal = border if question.monotone else (yield from _minimal(question, border, known))
    yield from _best_first(question, border, known)

    solutions = sorted((v for v in known.values() if v.satisfied), key=question.rank)
    asked |= known
    return Outcome(
        algorithm="incognito",
        best=solutions[0] if solutions else None,
        proven=True,
        criterion="lowest metric, ties broken by the preference",
        solutions=tuple(solutions),
        minimal=tuple(sorted(minimal)),
        inferred=lattice.size - sum(node in lattice for node in asked) if question.monotone else None,
    )


def _too_large(count: int) -> SearchTooLarge:
    return SearchTooLarge(
        f"incognito would have to hold at least {count:,} candidate nodes (at most {MAX_NODES:,}): too few "
        "combinations of the quasi-identifiers can be ruled out early. Limit the levels (minimum_level, "
        "maximum_level), use fewer quasi-identifiers, or choose the heuristic 'greedy'."
    )


def _refuse_crowded(question: Question, asked: dict[Node, Verdict]) -> Generator[Batch, Mapping[Node, Verdict], None]:
    """Refuse early: a survivor with too many generalizations means too many survivors."""
    lattice = question.lattice
    size = len(lattice.top)
    probes = {}
    for first in range(min(size, _PROBES)):
        node = list(lattice.top)
        above = 1
        for axis in (*range(first, size), *range(first)):
            while above <= MAX_NODES and node[axis] > lattice.bottom[axis]:
                span = lattice.top[axis] - node[axis] + 1
                above = above // span * (span + 1)
                node[axis] -= 1
        probes[tuple(node)] = above
    asked.update((yield from ask(list(probes))))
    for survivor, above in probes.items():
        if holds(question, asked[survivor]):
            raise _too_large(above)


_Parts = Iterator[tuple[list[Node], tuple[Node, ...]]]
"""Candidates to search together, subset by subset, with the frequency sets to have for it."""


def _basic(question: Question, candidates: list[Node]) -> _Parts:
    yield candidates, ()


def _super_roots(question: Question, candidates: list[Node]) -> _Parts:
    """One frequency set per subset with several candidates, at the meet of its roots, which is that of them all."""
    families: dict[Node, list[Node]] = {}
    for node in sorted(candidates):
        families.setdefault(_lowest_of(question, _subset(question, node)), []).append(node)
    listed = list(families.values())
    for start in range(0, len(listed), FAMILIES):
        part = listed[start : start + FAMILIES]
        meets = tuple(tuple(map(min, *family)) for family in part if len(family) > 1)
        yield [node for family in part for node in family], meets


def _cube(question: Question, candidates: list[Node]) -> _Parts:
    """The frequency sets of all subsets that are as large as the candidates' or larger, the largest first."""
    axes = _subset(question, question.lattice.bottom)
    if 2 ** len(axes) > MOST_SUBSETS:
        raise SearchTooLarge(
            f"the cube of {len(axes)} quasi-identifiers has {2 ** len(axes):,} frequency sets (at most "
            f"{MOST_SUBSETS:,} are built). Choose the variant 'super_roots' or 'basic', or use fewer quasi-identifiers."
        )
    size = len(_subset(question, candidates[0]))
    larger = range(len(axes), size - 1, -1) if size else ()
    yield candidates, tuple(_lowest_of(question, subset) for count in larger for subset in combinations(axes, count))


_VARIANTS: dict[str, Callable[[Question, list[Node]], _Parts]] = {
    "basic": _basic,
    "cube": _cube,
    "super_roots": _super_roots,
}


def _subset(question: Question, node: Node) -> tuple[int, ...]:
    """The quasi-identifiers that a node does not leave out."""
    return tuple(axis for axis, level in enumerate(node) if level < question.heights[axis])


def _lowest_of(question: Question, subset: tuple[int, ...]) -> Node:
    """The lowest node over some of the quasi-identifiers (the paper's zero generalization)."""
    bottom = question.lattice.bottom
    return tuple(bottom[axis] if axis in subset else height for axis, height in enumerate(question.heights))


def _border(
    question: Question, asked: dict[Node, Verdict], parts: Callable[[Question, list[Node]], _Parts]
) -> Generator[Batch, Mapping[Node, Verdict], list[Node]]:
    """The lowest lattice nodes for which the monotone part holds, by the a-priori search."""
    lattice = question.lattice
    border: list[Node] = []
    total = 0
    candidates = [question.heights]
    survivors: set[Node] = set()
    while candidates:
        total += len(candidates)
        smaller, survivors = survivors, set()
        for part, prepare in parts(question, candidates):
            survivors |= yield from _survivors(question, part, asked, prepare)
        border += _lowest(lattice, smaller, survivors)
        candidates = _candidates(question, survivors, MAX_NODES - total)
    return border + _lowest(lattice, survivors, set())


def _survivors(
    question: Question, candidates: list[Node], asked: dict[Node, Verdict], prepare: tuple[Node, ...]
) -> Generator[Batch, Mapping[Node, Verdict], set[Node]]:
    """Which candidates over subsets of one size hold: breadth-first by height, over all their subsets together."""
    members = set(candidates)
    by_height: dict[int, list[Node]] = {}
    for node in candidates:
        by_height.setdefault(sum(node), []).append(node)
    survivors: set[Node] = set()
    for height in sorted(by_height):
        open_ = [node for node in by_height[height] if node not in survivors]
        asked.update((yield from ask([node for node in open_ if node not in asked], prepare=prepare)))
        survivors.update(node for node in open_ if holds(question, asked[node]))
        for node in by_height[height]:
            if node in survivors:
                survivors.update(above for above in question.lattice.successors(node) if above in members)
    return survivors


def _candidates(question: Question, survivors: set[Node], room: int) -> list[Node]:
    """The a-priori step: nodes over one quasi-identifier more (LeFevre et al., section 3.1.2).

    Raises:
        SearchTooLarge: the join alone makes more than ``room`` nodes; counted, not made.
    """
    heights, lattice = question.heights, question.lattice
    if survivors == {heights}:
        return [
            (*heights[:axis], level, *heights[axis + 1 :])
            for axis, (low, high) in enumerate(zip(lattice.bottom, lattice.top, strict=True))
            for level in range(low, min(high, heights[axis] - 1) + 1)
        ]
    # Join survivors that agree on all their quasi-identifiers but the last.
    groups: dict[Node, dict[int, list[int]]] = {}
    for node in sorted(survivors):
        last = max(axis for axis, level in enumerate(node) if level < heights[axis])
        prefix = (*node[:last], *heights[last:])
        groups.setdefault(prefix, {}).setdefault(last, []).append(node[last])
    joins = sum(
        len(levels) * len(others) for group in groups.values() for levels, others in combinations(group.values(), 2)
    )
    if joins > room:
        raise _too_large(MAX_NODES - room + joins)
    candidates = []
    for prefix, group in groups.items():
        used = [axis for axis, level in enumerate(prefix) if level < heights[axis]]
        for first, second in combinations(sorted(group), 2):
            for level in group[first]:
                start = (*prefix[:first], level, *prefix[first + 1 :])
                for other in group[second]:
                    node = (*start[:second], other, *start[second + 1 :])
                    # Both parents survived; prune by every other subset.
                    if all((*node[:axis], heights[axis], *node[axis + 1 :]) in survivors for axis in used):
                        candidates.append(node)
    return candidates


def _lowest(lattice: Lattice, nodes: set[Node], larger: set[Node]) -> list[Node]:
    """Those ``nodes`` of the lattice with no direct specialization among them or in ``larger``."""
    return [
        node
        for node in sorted(nodes)
        if node in lattice and not any(below in nodes or below in larger for below in lattice.predecessors(node))
    ]


def _minimal(
    question: Question, border: list[Node], known: dict[Node, Verdict]
) -> Generator[Batch, Mapping[Node, Verdict], list[Node]]:
    """The minimal satisfying nodes at or above ``border``, when satisfying is not monotone.

    Asks with metrics, bottom-up, about every node that no satisfying node lies below.
    """
    lattice = question.lattice
    minimal: list[Node] = []
    waiting: dict[int, list[Node]] = {}
    for node in border:
        waiting.setdefault(sum(node), []).append(node)
    undecided: set[Node] = set()
    covered: set[Node] = set()
    for height in lattice.heights:
        undecided.update(waiting.pop(height, ()))
        if not undecided and not waiting:
            break
        known.update((yield from ask(sorted(undecided - known.keys()), metrics=True)))
        found = {node for node in undecided if known[node].satisfied}
        minimal += sorted(found)
        covered = {above for node in covered | found for above in lattice.successors(node)}
        undecided = {above for node in undecided - found for above in lattice.successors(node)} - covered
    return minimal


def _best_first(
    question: Question, border: list[Node], known: dict[Node, Verdict]
) -> Generator[Batch, Mapping[Node, Verdict], None]:
    """Ask with metrics until no node at or above ``border`` can win any more.

    ``lower`` never decreases along the lattice: it is the a-priori bound, raised by the
    floors of the specializations passed on the way. So once the lowest entry of the heap
    cannot win, nothing above any entry can.
    """
    lattice = question.lattice
    lower = {node: question.bound(node) for node in border}
    heap = [(value, node) for node, value in lower.items()]
    heapify(heap)
    best = min((v for v in known.values() if v.satisfied), key=question.rank, default=None)
    while True:
        chosen: list[Node] = []
        while heap and len(chosen) < BATCH and can_win(heap[0][0], best):
            _, node = heappop(heap)
            if can_win(lower[node], best):
                chosen.append(node)
        if not chosen:
            return
        known.update((yield from ask([node for node in chosen if node not in known], metrics=True)))
        for node in chosen:
            verdict = known[node]
            if verdict.satisfied and (best is None or question.rank(verdict) < question.rank(best)):
                best = verdict
            floor = max(lower[node], -inf if verdict.floor is None else verdict.floor)
            for above in lattice.successors(node):
                if above not in lower:
                    lower[above] = max(question.bound(above), floor)
                    heappush(heap, (lower[above], above))
                else:
                    lower[above] = max(lower[above], floor)
