"""No search: it is known before the first question that no node satisfies.

The highest node is asked about all the same, once, so that what is said of the lattice follows from an answer.
"""

from __future__ import annotations

from kanon_sql.search.base import Batch, Outcome, Question, Strategy

__all__ = ["infeasible"]


def infeasible(question: Question, algorithm: str) -> Strategy:
    """An outcome without a node, proven: the verdict on the lattice's top has to be prunable.

    Args:
        question: the problem.
        algorithm: the strategy that would have searched.
    """
    yield Batch((question.lattice.top,))
    return Outcome(
        algorithm=algorithm,
        best=None,
        proven=True,
        criterion="out of reach of every generalization",
        minimal=(),
        inferred=question.lattice.size - 1,
    )
