"""Search strategies over the generalization lattice: one file per algorithm, no SQL, no engine.

A strategy is a generator: it yields batches of nodes, receives their verdicts, and returns an outcome that says what
is proven. One driver runs them all, shows progress, keeps budgets, and can stop and go on. The lattice itself and the
additive bounds are here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kanon_sql.search.additive import Additive
from kanon_sql.search.annealing import annealing
from kanon_sql.search.base import MAX_NODES, Batch, Outcome, Question, Strategy, Verdict
from kanon_sql.search.bottom_up import bottom_up
from kanon_sql.search.datafly import datafly
from kanon_sql.search.driver import Progress, Search, Stopped
from kanon_sql.search.exhaustive import exhaustive
from kanon_sql.search.explain import Explained, Known, explain
from kanon_sql.search.genetic import genetic
from kanon_sql.search.greedy import greedy
from kanon_sql.search.hopeless import hopeless
from kanon_sql.search.incognito import incognito
from kanon_sql.search.k_optimize import Cuts, Span, k_optimize
from kanon_sql.search.lattice import Lattice, Node, generalizes
from kanon_sql.search.local_minima import locally_minimal
from kanon_sql.search.optimal import optimal
from kanon_sql.search.ranked import Ranked
from kanon_sql.search.samarati import samarati
from kanon_sql.search.tags import all_lowered, lowered, metric_of, preference, rounded
from kanon_sql.search.top_down import top_down

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
    "all_lowered",
    "explain",
    "generalizes",
    "hopeless",
    "k_optimize",
    "locally_minimal",
    "lowered",
    "metric_of",
    "preference",
    "rounded",
    "search",
]

STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "annealing": annealing,
    "bottom_up": bottom_up,
    "datafly": datafly,
    "exhaustive": exhaustive,
    "genetic": genetic,
    "greedy": greedy,
    "incognito": incognito,
    "optimal": optimal,
    "samarati": samarati,
    "top_down": top_down,
}
"""Every algorithm over the lattice by the name a spec uses: question, options -> strategy.

``k_optimize`` is none of them: its nodes are not those of the lattice.
"""

HEURISTICS = frozenset({"annealing", "bottom_up", "datafly", "genetic", "greedy", "top_down"})
"""Those that find a satisfying node and never prove it the best."""


def search(algorithm: str, question: Question, ask: Callable[[Batch], Iterable[Verdict]], **options: Any) -> Search:
    """A search that has not begun.

    Args:
        algorithm: its name in :data:`STRATEGIES`.
        question: what is known about the problem.
        ask: answers a batch: one verdict per node, in any order.
        options: the algorithm's own.
    """
    return Search(algorithm, question, STRATEGIES[algorithm](question, **options), ask)
