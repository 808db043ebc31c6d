"""What the statements about one node alone tell of it, under each metric: asked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from kanon_sql.engines import Workspace
from kanon_sql.evaluate.node_statements import NodeRow, NodeStatements
from kanon_sql.evaluate.rollup import Coverings
from kanon_sql.models import Metric
from kanon_sql.search import Node

__all__ = ["SingleNode"]


class Complete(Protocol):
    """Refuses rows that miss a person of the nodes that were asked about, in order."""

    def __call__(self, nodes: Sequence[Node], rows: Sequence[NodeRow], /) -> None:
        """Stop where there is one."""


class SingleNode:
    """Answers by node and the shape of a metric.

    Args:
        workspace: where statements run.
        statements: those about nodes.
        coverings: the frequency sets to answer from.
        ask: a node and a metric -> what a statement tells.
        refuse_incomplete: checks that the classes hold every person.
    """

    def __init__(
        self,
        workspace: Workspace,
        statements: NodeStatements,
        coverings: Coverings,
        ask: Callable[[Node, Metric], NodeRow],
        refuse_incomplete: Complete,
    ) -> None:
        self._workspace = workspace
        self._statements = statements
        self._coverings = coverings
        self._ask = ask
        self._refuse_incomplete = refuse_incomplete
        self._known: dict[tuple[Node, str], NodeRow] = {}

    def under(self, node: Node, metric: Metric) -> NodeRow:
        """What is told of a node under a metric."""
        key = (node, metric.shape)
        if key not in self._known:
            self._known[key] = self._ask(node, metric)
        return self._known[key]

    def ask(self, node: Node, metrics: Sequence[Metric]) -> None:
        """Ask for several metrics of a node in one statement, for :meth:`under` to know.

        It has a row for each metric, with columns for those of all.
        """
        asked = [metric for metric in metrics if (node, metric.shape) not in self._known]
        if len(asked) < 2:
            return
        widths = [self._statements.width(metric) for metric in asked]
        ends = [sum(widths[: position + 1]) for position, _ in enumerate(widths)]
        covering = self._coverings.best(node)
        branches = [
            self._statements.one(
                "evaluate/node",
                node,
                covering,
                metric,
                {"node": str(position)},
                padding=(ends[position] - widths[position], ends[-1] - ends[position]),
            )
            for position, metric in enumerate(asked)
        ]
        covering.reads += len(branches)
        rows = [NodeRow.of(row) for row in self._workspace.query(self._workspace.compiler.union(branches), len(asked))]
        self._refuse_incomplete([node] * len(asked), rows)
        for row in rows:
            own = row.aggregates[ends[row.number] - widths[row.number] : ends[row.number]]
            self._known[node, asked[row.number].shape] = row._replace(number=0, aggregates=own)
