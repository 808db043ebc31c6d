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

The paper's walk ends at the first table that satisfies. Where rows may be suppressed, a further step may
cost less than the rows that it saves, and with a suppression limit of 1 the bottom of the lattice
satisfies, with nearly all rows suppressed. So the walk goes on until generalization alone
costs more than the best node so far, its node with the lowest metric, which counts suppressed rows, is chosen;
and from there, as from the lattice's top, it is improved by steps either way (``descent.py``).

A heuristic: it asks about a bounded number of nodes, half of them on the walk.
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_sql.search.answers import Answers
from kanon_sql.search.base import Question, Strategy, algorithm
from kanon_sql.search.descent import finished, walked
from kanon_sql.search.lattice import Node
from kanon_sql.search.tags import rounded

__all__ = ["bottom_up"]


@algorithm(
    finds="the best node beside the steps up that lose least per row protected",
    when="to compare with published work",
    source="Wang, Yu, Chakraborty 2004; label by label: [subtree recoding](recoding.md#subtree-recoding)",
    proves=False,
)
def bottom_up(question: Question) -> Strategy:
    """The lowest metric found along the way up from the bottom of the lattice, and beside it.

    Returns:
        A strategy whose outcome has ``solutions``: the satisfying nodes whose metric was asked for.
    """
    lattice, answers = question.lattice, Answers(question)

    def price(node: Node, step: Node) -> tuple[float, int]:
        loss = rounded(question.bound(step)) - rounded(question.bound(node))
        gain = answers.known[node].suppressed - answers.known[step].suppressed
        return rounded(loss / max(1, gain)), -gain

    def steps(node: Node) -> Iterator[Node]:
        violates, metric, *_ = min(map(answers.order, answers.known))
        return lattice.successors(node) if violates or question.bound(node) <= metric else iter(())

    # The top first: where it rules out every node, there is no need to climb.
    yield from answers.judge([lattice.top], metrics=not question.staged)
    path: list[Node] = []
    if not answers.fails(lattice.top):
        path = yield from walked(question, answers, lattice.bottom, steps, list, price)
    return (yield from finished(question, answers, path, "bottom_up", "lowest metric beside steps up"))
