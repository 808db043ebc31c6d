"""What a search knows about every node of the lattice, and why.

Derived from the answers alone, whatever the algorithm: a violating node decides what is below it, a satisfying
one (if the requirement is monotone) what is above it, and a lower bound above the best metric rules a
node out. A node of which none of this is known was not evaluated. Which nodes are locally minimal follows from the
same answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kanon_sql.search.base import MAX_NODES, Outcome, Question, Verdict
from kanon_sql.search.lattice import Lattice, Node, generalizes
from kanon_sql.search.tags import Tags, can_win, holds

__all__ = ["Explained", "Known", "explain", "locally_minimal"]

Known = Literal["satisfies", "must satisfy", "violates", "must violate", "is worse", "not evaluated"]
"""What may be known about a node."""


@dataclass(frozen=True, slots=True)
class Explained:
    """One node.

    Attributes:
        node: the vector of levels.
        status: ``evaluated``: the database was asked. ``pruned``: its metric is above that of the best
            node, whether it satisfies or not. ``inferred``: it satisfies or violates as another node's answer
            implies. ``open``: none of these is known. A violating node is never called pruned.
        satisfied: whether it satisfies; None where that is not known.
        because: the evaluated node that the status follows from: itself; the one below a satisfying or above a
            violating node (it may lie outside of the level limits); the one below a pruned node whose
            floor rules it out. None where the node's own bound does, and where nothing is known.
        metric: its metric where it was evaluated with it.
        bound: neither its metric nor that of any generalization is below this.
        suppressed: rows suppressed at it, where it was evaluated.
    """

    node: Node
    status: Literal["evaluated", "inferred", "pruned", "open"]
    satisfied: bool | None
    because: Node | None
    metric: float | None
    bound: float
    suppressed: int | None

    @property
    def known(self) -> Known:
        """The status in words, such as ``must violate``."""
        if self.status == "evaluated":
            return "satisfies" if self.satisfied else "violates"
        if self.status == "inferred":
            return "must satisfy" if self.satisfied else "must violate"
        return "is worse" if self.status == "pruned" else "not evaluated"


def explain(question: Question, verdicts: Mapping[Node, Verdict], outcome: Outcome) -> Iterator[Explained]:
    """Every node of the lattice, in lexicographic order.

    Args:
        question: what was asked.
        verdicts: every answer of the search; also of nodes outside of the lattice's limits.
        outcome: its result; what is pruned is so by ``outcome.best``, even if the search was stopped.
    """
    tags = Tags(question.lattice)
    violating = _spread(tags, question.lattice, _not_holding(question, verdicts), upward=False)
    satisfying = _spread(tags, question.lattice, _satisfied(question, verdicts), upward=True)
    bounds = _Bounds(question, tags)
    for number, node in enumerate(question.lattice):
        verdict = verdicts.get(node)
        bound, floor_of = bounds.add(number, node, verdict)
        if verdict is not None:
            yield Explained(node, "evaluated", verdict.satisfied, node, verdict.metric, bound, verdict.suppressed)
        elif number in violating:
            yield Explained(node, "inferred", False, violating[number], None, bound, None)
        elif not can_win(bound, outcome.best):
            yield Explained(node, "pruned", True if number in satisfying else None, floor_of, None, bound, None)
        elif number in satisfying:
            yield Explained(node, "inferred", True, satisfying[number], None, bound, None)
        else:
            yield Explained(node, "open", None, None, None, bound, None)


def _not_holding(question: Question, verdicts: Mapping[Node, Verdict]) -> list[Node]:
    return [node for node, verdict in verdicts.items() if not holds(question, verdict)]


def _satisfied(question: Question, verdicts: Mapping[Node, Verdict]) -> list[Node]:
    return [node for node, verdict in verdicts.items() if question.monotone and verdict.satisfied]


def _spread(tags: Tags, lattice: Lattice, causes: list[Node], *, upward: bool) -> dict[int, Node]:
    """Every lattice node above (or below) some of the given nodes -> one of them."""
    found: dict[int, Node] = {}
    todo: list[int] = []
    for cause in causes:
        # Where what follows from a node outside of the limits enters the lattice, if it does.
        entry = tuple(
            min(max(level, low), high) for low, level, high in zip(lattice.bottom, cause, lattice.top, strict=True)
        )
        if generalizes(entry, cause) if upward else generalizes(cause, entry):
            number = tags.number(entry)
            if found.setdefault(number, cause) is cause:
                todo.append(number)
    while todo:
        number = todo.pop()
        for neighbour in tags.above(number) if upward else tags.below(number):
            if neighbour not in found:
                found[neighbour] = found[number]
                todo.append(neighbour)
    return found


class _Bounds:
    """The best lower bound of every node: the one known before any question, or the floor of a specialization."""

    def __init__(self, question: Question, tags: Tags) -> None:
        self._question = question
        self._tags = tags
        self._known: list[tuple[float, Node | None]] = []

    def add(self, number: int, node: Node, verdict: Verdict | None) -> tuple[float, Node | None]:
        """The bound of the next node in lexicographic order, and whose floor it is, if it is one.

        All specializations of a node come before it.
        """
        best: tuple[float, Node | None] = self._question.bound(node), None
        for below in self._tags.below(number):
            if self._known[below][0] > best[0]:
                best = self._known[below]
        if verdict is not None and verdict.floor is not None and verdict.floor > best[0]:
            best = verdict.floor, node
        self._known.append(best)
        return best


def locally_minimal(question: Question, outcome: Outcome) -> tuple[Node, ...] | None:
    """The generalizations that are the first to satisfy on some way from the values up, in lexicographic order.

    A generalization strategy is a path from the bottom of the lattice to its top, a step of one level at a time; the
    first node on it that satisfies is locally minimal (Samarati 2001, section 4). Every k-minimal generalization is
    locally minimal, on all paths through it. The converse does not hold: another path may satisfy below.

    No question is asked: where satisfying is monotone, the k-minimal nodes say of every node whether it satisfies;
    elsewhere, an exhaustive search has asked.

    Args:
        question: the lattice, and whether satisfying is monotone.
        outcome: what the search found.

    Returns:
        The nodes; None where it is not known of every node whether it satisfies, or the lattice has more than
        ``MAX_NODES`` nodes.
    """
    lattice = question.lattice
    if outcome.minimal is None or lattice.size > MAX_NODES:
        return None
    if not question.monotone and outcome.algorithm != "exhaustive":
        return None
    known = outcome.minimal if question.monotone else [verdict.node for verdict in outcome.solutions]
    satisfying, open_ways, found = set(known), set(), []
    # Lexicographic order visits every specialization of a node before the node itself.
    for node in lattice:
        below = list(lattice.predecessors(node))
        if question.monotone and any(lower in satisfying for lower in below):
            satisfying.add(node)
        if below and not any(lower in open_ways for lower in below):
            continue  # every way to it satisfies before
        if node in satisfying:
            found.append(node)
        else:
            open_ways.add(node)
    return tuple(found)
