"""Samarati's algorithm: binary search for the lowest height that holds a solution.

Source: Samarati 2001, "Protecting respondents' identities in microdata release", section 4.
If a height holds a satisfying node, so does every greater height, hence heights can be
bisected. All solutions of the lowest height are then compared by the preference criterion
(section 3.3), ties by the metric.

Proven: the height is the lowest with a satisfying node, and the choice within it is the
preferred one. It says nothing about nodes of greater height, which may have a lower metric.

When the requirement is not monotone (see ``Question.monotone``), bisection is sound only for
its monotone part: it finds the lowest height with a node that is not prunable, and from
there heights are searched completely, one by one.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from kanon_sql.errors import SearchTooLarge
from kanon_sql.search.base import MAX_NODES, Batch, Outcome, Question, Strategy, Verdict, algorithm
from kanon_sql.search.lattice import Node
from kanon_sql.search.tags import BATCH, Tags, ask, holds

__all__ = ["samarati"]

_VIOLATING = 1


@algorithm(
    finds=(
        "the lowest height with a satisfying node, proven, and there the node that `prefer` chooses; higher nodes "
        "may have a lower metric"
    ),
    when="to follow the paper; the fewest steps of generalization",
    source="Samarati 2001",
    takes=("distance_vectors",),
)
def samarati(question: Question) -> Strategy:
    """The preferred node among the satisfying nodes of the lowest possible height.

    Returns:
        A strategy whose outcome has ``solutions``: all satisfying nodes of the lowest
        height. ``minimal`` is given only when they are known to be all of them.

    Raises:
        SearchTooLarge: a height to search holds more than ``MAX_NODES`` nodes. Raised
            before any of them is asked about.
    """
    lattice = question.lattice
    heights = _Heights(question)
    low, high = lattice.heights[0], lattice.heights[-1]
    while low < high:
        middle = (low + high) // 2
        if (yield from heights.probe(middle)):
            high = middle
        else:
            low = middle + 1

    solutions: list[Verdict] = []
    for height in range(low, lattice.heights[-1] + 1):
        solutions = yield from heights.solutions(height)
        if solutions:
            break

    minimal: tuple[Node, ...] | None = None
    if not solutions:
        minimal = ()
    elif len(solutions) == lattice.count_at(sum(solutions[0].node)):
        # Every higher node generalizes a node of this height, and all of those satisfy.
        minimal = tuple(sorted(verdict.node for verdict in solutions))
    return Outcome(
        algorithm="samarati",
        best=solutions[0] if solutions else None,
        proven=True,
        criterion="lowest height, then the preference, ties broken by the metric",
        solutions=tuple(solutions),
        minimal=minimal,
    )


class _Heights:
    """Searches one height at a time and remembers every verdict."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._known: dict[Node, Verdict] = {}
        # Tags cost a byte per node of the whole lattice, so a huge lattice goes without.
        self._tags = Tags(question.lattice) if question.lattice.size <= MAX_NODES else None

    def probe(self, height: int) -> Generator[Batch, Mapping[Node, Verdict], bool]:
        """Whether the monotone part holds somewhere at this height."""
        nodes = self._undecided(height)
        # The nodes that give up most are the likeliest to satisfy.
        nodes.sort(key=lambda node: (-self._question.bound(node), node))
        for start in range(0, len(nodes), BATCH):
            verdicts = yield from self._ask(nodes[start : start + BATCH], metrics=False)
            if any(holds(self._question, verdict) for verdict in verdicts.values()):
                return True
        return False

    def solutions(self, height: int) -> Generator[Batch, Mapping[Node, Verdict], list[Verdict]]:
        """All satisfying nodes of this height, with metrics, preferred first."""
        nodes = self._undecided(height)
        if self._question.staged:  # a costly metric is asked of solutions alone, and these are few
            yield from self._ask([node for node in nodes if node not in self._known], metrics=False)
        nodes = [node for node in nodes if node not in self._known or self._known[node].satisfied]
        verdicts = yield from self._ask(nodes, metrics=True)
        return sorted((v for v in verdicts.values() if v.satisfied), key=self._question.prefer)

    def _undecided(self, height: int) -> list[Node]:
        lattice = self._question.lattice
        count = lattice.count_at(height)
        if count > MAX_NODES:
            raise SearchTooLarge(
                f"height {height} of this lattice holds {count:,} nodes (at most {MAX_NODES:,} can be "
                "searched). Limit the levels (minimum_level, maximum_level), use fewer "
                "quasi-identifiers, or choose the algorithm 'incognito'."
            )
        nodes = lattice.nodes_at(height)
        tags = self._tags
        if tags is None:
            return list(nodes)
        return [node for node in nodes if not tags.marks[tags.number(node)]]

    def _ask(
        self, nodes: list[Node], *, metrics: bool
    ) -> Generator[Batch, Mapping[Node, Verdict], dict[Node, Verdict]]:
        verdicts = yield from ask(nodes, metrics=metrics)
        self._known.update(verdicts)
        for node, verdict in verdicts.items():
            if self._tags is not None and not holds(self._question, verdict):
                self._tags.mark_below(self._tags.number(node), _VIOLATING)
        return verdicts
