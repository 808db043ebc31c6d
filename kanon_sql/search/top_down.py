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

The paper's walk ends where no specialization is valid, and its last table is its best. Where rows may be
suppressed it is not: the smaller the classes, the more rows go, and with a suppression limit of 1 every
step but the last ones is valid. So what is chosen is not the last node of the walk but the one with the
lowest metric, which counts suppressed rows; and from there, as from the lattice's top, it is improved
by steps either way (``descent.py``).

A specialization of a violating node is not asked about again where that rules it out. A
heuristic: it asks about a bounded number of nodes, half of them on the walk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kanon_sql.search.answers import Answers
from kanon_sql.search.base import Question, Strategy, algorithm
from kanon_sql.search.descent import finished, walked
from kanon_sql.search.lattice import Node
from kanon_sql.search.tags import rounded

__all__ = ["top_down"]


@algorithm(
    finds="the best node beside the steps down that gain most per row exposed",
    when="to compare with published work",
    source="Fung, Wang, Yu 2005; label by label: [subtree recoding](recoding.md#subtree-recoding)",
    proves=False,
)
def top_down(question: Question) -> Strategy:
    """The lowest metric found along the steps down that satisfy, and beside them.

    Returns:
        A strategy whose outcome has ``solutions``: the satisfying nodes whose metric was asked for.
    """
    lattice, answers = question.lattice, Answers(question)

    def price(node: Node, step: Node) -> tuple[float, int]:
        gain = rounded(question.bound(node)) - rounded(question.bound(step))
        loss = max(0, answers.known[step].suppressed - answers.known[node].suppressed)
        return -rounded(gain / (loss + 1)), loss

    def steps(node: Node) -> Iterator[Node]:
        return (step for step in lattice.predecessors(node) if not answers.fails(step))

    def valid(nodes: Sequence[Node]) -> list[Node]:
        return [node for node in nodes if answers.known[node].satisfied]

    path = yield from walked(question, answers, lattice.top, steps, valid, price)
    return (yield from finished(question, answers, path, "top_down", "lowest metric beside steps down"))
