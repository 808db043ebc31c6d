"""What a search knows about every node of the lattice, and why.

Derived from the answers alone, whatever the algorithm: a violating node decides what is
below it, a satisfying one (if the requirement is monotone) what is above it, and a bound that
exceeds the best metric rules a node out. What none of this says was not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kanon_sql.lattice import Node
from kanon_sql.search.base import Outcome, Question, Verdict
from kanon_sql.search.tags import Tags, can_win, holds

__all__ = ["Explained", "explain"]


@dataclass(frozen=True, slots=True)
class Explained:
    """One node.

    Attributes:
        node: the vector of levels.
        status: ``evaluated``: the database was asked. ``inferred``: another node's answer
            decides whether it satisfies. ``pruned``: it cannot have the lowest metric.
            ``open``: nothing is known about it.
        satisfied: whether it satisfies; None where that is not known.
        because: the evaluated node that decided it; itself where it was evaluated.
        metric: its metric where it was evaluated with it.
        bound: no generalization of it has a metric below this.
        suppressed: rows suppressed at it, where it was evaluated.
    """

    node: Node
    status: Literal["evaluated", "inferred", "pruned", "open"]
    satisfied: bool | None
    because: Node | None
    metric: float | None
    bound: float
    suppressed: int | None


def explain(question: Question, verdicts: Mapping[Node, Verdict], outcome: Outcome) -> Iterator[Explained]:
    """Every node of the lattice, in lexicographic order.

    Args:
        question: what was asked.
        verdicts: every answer of the search.
        outcome: its result.
    """
    lattice = question.lattice
    tags = Tags(lattice)
    asked = {tags.number(node): verdict for node, verdict in verdicts.items() if node in lattice}
    violating = _spread(tags, [n for n, v in asked.items() if not holds(question, v)], upward=False)
    satisfying = _spread(tags, [n for n, v in asked.items() if v.satisfied and question.monotone], upward=True)
    for number, node in enumerate(lattice):
        verdict, bound = asked.get(number), question.bound(node)
        if verdict is not None:
            yield Explained(node, "evaluated", verdict.satisfied, node, verdict.metric, bound, verdict.suppressed)
            continue
        below, above = violating.get(number), satisfying.get(number)
        cause = below if below is not None else above
        because = None if cause is None else tags.node(cause)
        satisfied = None if because is None else below is None
        if below is not None:
            status: Literal["inferred", "pruned", "open"] = "inferred"
        elif not can_win(bound, outcome.best):
            status = "pruned"
        else:
            status = "open" if above is None else "inferred"
        yield Explained(node, status, satisfied, because, None, bound, None)


def _spread(tags: Tags, numbers: list[int], *, upward: bool) -> dict[int, int]:
    """Every node above (or below) some of the given ones -> one of them."""
    found = {number: number for number in numbers}
    todo = list(found)
    while todo:
        number = todo.pop()
        for neighbour in tags.above(number) if upward else tags.below(number):
            if neighbour not in found:
                found[neighbour] = found[number]
                todo.append(neighbour)
    return found
