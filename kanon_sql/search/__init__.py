"""Search strategies over the generalization lattice: one file per algorithm, no SQL, no engine.

A strategy is a generator: it yields batches of nodes, receives their verdicts, and returns an outcome that says what
is proven. One driver runs them all, shows progress, keeps budgets, and can stop and go on. The lattice itself and the
additive bounds are here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kanon_sql.registers import SEARCH_ALGORITHMS
from kanon_sql.search.additive import Additive
from kanon_sql.search.base import MAX_NODES, Batch, Outcome, Question, Strategy, Verdict, algorithm
from kanon_sql.search.driver import Progress, Search, Stopped, infeasible
from kanon_sql.search.explain import Explained, Known, explain, locally_minimal
from kanon_sql.search.k_optimize import Cuts, Span, k_optimize
from kanon_sql.search.lattice import Lattice, Node, generalizes
from kanon_sql.search.ranked import Ranked
from kanon_sql.search.tags import all_lowered, lowered, metric_of, preference, rounded

__all__ = [
    "HEURISTICS",
    "MAX_NODES",
    "STRATEGIES",
    "Additive",
    "Batch",
    "Cuts",
    "Explained",
    "Known",
    "Lattice",
    "Node",
    "Outcome",
    "Progress",
    "Question",
    "Ranked",
    "Search",
    "Span",
    "Stopped",
    "Verdict",
    "algorithm",
    "all_lowered",
    "explain",
    "generalizes",
    "infeasible",
    "k_optimize",
    "locally_minimal",
    "lowered",
    "metric_of",
    "preference",
    "rounded",
    "search",
]

STRATEGIES: dict[str, Callable[..., Strategy]] = {
    name: declared.run for name, declared in SEARCH_ALGORITHMS.items() if not declared.of_intervals
}
"""Every algorithm of ours over the lattice by the name a spec uses: question, options -> strategy."""

HEURISTICS = frozenset(name for name, declared in SEARCH_ALGORITHMS.items() if not declared.proves)
"""Those that find a satisfying node and never prove it the best."""


def search(algorithm: str, question: Question, ask: Callable[[Batch], Iterable[Verdict]], **options: Any) -> Search:
    """A search that has not begun.

    Args:
        algorithm: its name in a spec.
        question: what is known about the problem.
        ask: answers a batch: one verdict per node, in any order.
        options: the algorithm's own.
    """
    return Search(algorithm, question, SEARCH_ALGORITHMS[algorithm].run(question, **options), ask)
