"""Top-down specialization: the step that gains the most information per row that it exposes.

Source: Fung, Wang, Yu 2005, "Top-down specialization for information and privacy
preservation" (ICDE), section 3: from the most general table, repeatedly the valid specialization with the
highest InfoGain / (AnonyLoss + 1), until none is valid. Adapted to full-domain
generalization with suppression, as in ``bottom_up``:

- a step lowers one attribute by one level for all rows, and is valid when the node satisfies;
- InfoGain is not about a class label but the decrease of the metric's bound, which is the metric
  without suppression (0 where a metric has none to say);
- AnonyLoss is not the decrease of the smallest class but the rows that begin to violate.

Equal steps: the one that exposes fewer rows, then the first attribute.

A specialization of a violating node is not asked about again where that rules it out. A
heuristic: no step is ever taken back.
"""

from __future__ import annotations

from kanon_sql.search.answers import Answers
from kanon_sql.search.base import Question, Strategy
from kanon_sql.search.lattice import Node
from kanon_sql.search.tags import rounded

__all__ = ["top_down"]


def top_down(question: Question) -> Strategy:
    """The node from which no step down satisfies; none if the top of the lattice does not satisfy."""
    lattice, answers = question.lattice, Answers(question)

    def worth(node: Node, step: Node) -> tuple[float, int]:
        gain = rounded(question.bound(node)) - rounded(question.bound(step))
        loss = max(0, answers.known[step].suppressed - answers.known[node].suppressed)
        return rounded(gain / (loss + 1)), -loss

    node = lattice.top
    yield from answers.judge([node])
    steps = [node] if answers.known[node].satisfied else []
    while steps:
        node = max(steps, key=lambda step: worth(node, step))
        open_steps = [step for step in lattice.predecessors(node) if not answers.fails(step)]
        yield from answers.judge(open_steps, left=len(open_steps) * (sum(node) - sum(lattice.bottom)))
        steps = [step for step in open_steps if answers.known[step].satisfied]
    solutions = [(yield from answers.measured(node))] if answers.known[node].satisfied else []
    return answers.outcome("top_down", "steps down of the most gain per row exposed", solutions)
