"""Search strategies over the generalization lattice: one file per algorithm, no SQL, no engine."""

from __future__ import annotations

from collections.abc import Callable

from kanon_sql.search.base import MAX_NODES, Batch, Outcome, Question, Strategy, Verdict, run
from kanon_sql.search.exhaustive import exhaustive
from kanon_sql.search.incognito import incognito
from kanon_sql.search.optimal import optimal
from kanon_sql.search.samarati import samarati

__all__ = ["MAX_NODES", "STRATEGIES", "Batch", "Outcome", "Question", "Strategy", "Verdict", "run"]

STRATEGIES: dict[str, Callable[[Question], Strategy]] = {
    "exhaustive": exhaustive,
    "incognito": incognito,
    "optimal": optimal,
    "samarati": samarati,
}
"""Every algorithm by the name a spec uses."""
