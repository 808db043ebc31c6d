"""Datafly: generalize the attribute with the most distinct values until few enough rows violate.

Source: Sweeney 2002, "Achieving k-anonymity privacy protection using generalization and
suppression", section 5.1 (first in "Datafly: a system for providing anonymity in medical
data", 1997). The distinct values are those that occur in the table at the attribute's
current level; attributes that have as many are generalized in their order in the spec.

The whole path is known before the first question, since it does not depend on the verdicts. A
monotone requirement is therefore bisected along it, which finds the same node as walking does.

A heuristic: the path may miss every good node.
"""

from __future__ import annotations

from kanon_sql.search.answers import Answers, climb
from kanon_sql.search.base import Question, Strategy, algorithm

__all__ = ["datafly"]


@algorithm(
    finds="the first satisfying node on the path that generalizes the most distinct values",
    when="to compare with published work",
    source="Sweeney 2002",
    proves=False,
    by_labels=True,
)
def datafly(question: Question) -> Strategy:
    """The first satisfying node of Datafly's path from the bottom of the lattice to its top."""
    answers = Answers(question)
    path = list(climb(question.lattice, lambda node, axis: -question.labels[axis][node[axis]]))
    node = yield from answers.first_satisfying(path)
    solutions = [] if node is None else [(yield from answers.measured(node))]
    return answers.outcome("datafly", "first on the path that generalizes the most distinct values", solutions)
