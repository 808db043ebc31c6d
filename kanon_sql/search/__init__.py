"""Search strategies over the generalization lattice: one file per algorithm, no SQL, no engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kanon_sql.search.base import MAX_NODES, Batch, Outcome, Question, Strategy, Verdict
from kanon_sql.search.driver import Progress, Search, Stopped
from kanon_sql.search.exhaustive import exhaustive
from kanon_sql.search.explain import Explained, explain
from kanon_sql.search.incognito import incognito
from kanon_sql.search.k_optimize import Cuts, Span, k_optimize
from kanon_sql.search.optimal import optimal
from kanon_sql.search.samarati import samarati

__all__ = [
    "MAX_NODES",
    "STRATEGIES",
    "Batch",
    "Cuts",
    "Explained",
    "Outcome",
    "Progress",
    "Question",
    "Search",
    "Span",
    "Stopped",
    "Strategy",
    "Verdict",
    "explain",
    "k_optimize",
    "search",
]

STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "exhaustive": exhaustive,
    "incognito": incognito,
    "optimal": optimal,
    "samarati": samarati,
}
"""Every algorithm over the lattice by the name a spec uses: question, options -> strategy.

``k_optimize`` is none of them: its nodes are not those of the lattice.
"""


def search(algorithm: str, question: Question, ask: Callable[[Batch], Sequence[Verdict]], **options: Any) -> Search:
    """A search that has not begun.

    Args:
        algorithm: its name in :data:`STRATEGIES`.
        question: what is known about the problem.
        ask: answers a batch: one verdict per node, in any order.
        options: the algorithm's own.
    """
    return Search(algorithm, question, STRATEGIES[algorithm](question, **options), ask)
