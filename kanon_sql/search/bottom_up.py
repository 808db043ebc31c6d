"""Bottom-up generalization: the step that loses the least information per row that it protects.

Source: Wang, Yu, Chakraborty 2004, "Bottom-up generalization: a data mining solution to
privacy protection" (ICDM), section 3: of all generalizations the one with the smallest
I(G) / P(G), where I is the information lost and P the anonymity gained; I(G) alone where
nothing is gained. Adapted to full-domain generalization with suppression:

- a step raises one attribute by one level for all rows, not one node of one hierarchy;
- I is not the entropy of a class label, which an anonymizer does not have, but the growth of the
  metric's bound, which is the metric without suppression (0 where a metric has none to say);
- P is not the growth of the smallest class but the rows that stop violating, since
  suppression makes up for small classes.

Equal steps: the one that protects more rows, then the first attribute.

A heuristic: no step is ever taken back.
"""

from __future__ import annotations

from kanon_sql.search.answers import Answers
from kanon_sql.search.base import Question, Strategy
from kanon_sql.search.lattice import Node
from kanon_sql.search.tags import rounded

__all__ = ["bottom_up"]


def bottom_up(question: Question) -> Strategy:
    """The first satisfying node on the way up from the bottom of the lattice."""
    lattice, answers = question.lattice, Answers(question)

    def price(node: Node, step: Node) -> tuple[float, int]:
        loss = rounded(question.bound(step)) - rounded(question.bound(node))
        gain = answers.known[node].suppressed - answers.known[step].suppressed
        return rounded(loss / max(1, gain)), -gain

    node = lattice.bottom
    # The top, too: where it rules out every node, there is no need to climb.
    yield from answers.judge(list(dict.fromkeys([node, lattice.top])))
    while not answers.known[node].satisfied and node != lattice.top and not answers.fails(lattice.top):
        steps = list(lattice.successors(node))
        yield from answers.judge(steps, left=len(steps) * (sum(lattice.top) - sum(node)))
        current = node
        node = min(steps, key=lambda step: price(current, step))
    solutions = [(yield from answers.measured(node))] if answers.known[node].satisfied else []
    return answers.outcome("bottom_up", "steps up of the least loss per row protected", solutions)
