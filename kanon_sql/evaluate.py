"""The evaluator: a batch of lattice nodes in, one generated statement, their verdicts out.

Every node is one GROUP BY over the smallest frequency set that covers it; only a row of
aggregates per node reaches Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.classes import achieved_columns
from kanon_sql.frequency import FrequencySets, count_attributes
from kanon_sql.lattice import Lattice, Node
from kanon_sql.nodes import NodeStatements
from kanon_sql.privacy import Monotonicity, PrivacyModel
from kanon_sql.quality import Measured, Metric
from kanon_sql.rollup import Covering, Coverings
from kanon_sql.search import Batch, Question, Verdict
from kanon_sql.sql.text import Relation
from kanon_sql.verify import Examination, read_examination
from kanon_sql.workspace import Workspace

__all__ = ["Evaluator", "is_sound", "rounded"]


def is_sound(model: PrivacyModel, *, by_person: bool, may_suppress: bool) -> bool:
    """Whether pruning by a model's monotonicity is sound with the suppression limit in force."""
    when = model.monotonicity(by_person)
    return when is Monotonicity.ALWAYS or (when is Monotonicity.WITHOUT_SUPPRESSION and not may_suppress)


class Evaluator:
    """Answers questions about nodes from the frequency sets.

    Args:
        workspace: where statements run.
        sets: the frequency sets.
        models: the requirements.
        metric: the quality metric that the search optimizes.
        prefer: the preference criterion (Samarati 2001, section 3.2).
        max_suppressed: MaxSup, in rows.
    """

    def __init__(
        self,
        workspace: Workspace,
        sets: FrequencySets,
        models: Sequence[PrivacyModel],
        metric: Metric,
        prefer: str,
        max_suppressed: int,
    ) -> None:
        self.workspace = workspace
        self.sets = sets
        self.models = models
        self.metric = metric
        self.prefer = prefer
        self.max_suppressed = max_suppressed
        self.counts = count_attributes(workspace, sets)
        self.heights: Node = tuple(lookup.height for lookup in sets.lookups)
        self._sound = [
            is_sound(model, by_person=sets.counting != "rows", may_suppress=max_suppressed > 0) for model in models
        ]
        self.statements = NodeStatements(workspace, sets, models, self._sound)
        self._coverings = Coverings(
            self._covering((0,) * len(self.heights), sets.base, sets.values),
            [attribute.labels for attribute in self.counts.attributes],
        )

    def question(self) -> Question:
        """What a search strategy may know before it asks."""
        limits = [lookup.quasi_identifier for lookup in self.sets.lookups]
        top = tuple(
            height if limit.maximum_level is None else limit.maximum_level
            for limit, height in zip(limits, self.heights, strict=True)
        )
        return Question(
            lattice=Lattice(tuple(limit.minimum_level for limit in limits), top),
            heights=self.heights,
            monotone=all(self._sound),
            bound=self.bound,
            staged=self.metric.staged,
            least=lambda verdict: _below(self.metric.least(self.counts, verdict.node, verdict.suppressed)),
            rank=lambda verdict: (rounded(verdict.metric), self.preference(verdict), verdict.node),
            prefer=lambda verdict: (self.preference(verdict), rounded(verdict.metric), verdict.node),
            labels=[attribute.labels for attribute in self.counts.attributes],
        )

    def bound(self, node: Node) -> float:
        """A lower bound of the metric, a little below it so that rounding cannot break it."""
        return _below(self.metric.bound(self.counts, node))

    def preference(self, verdict: Verdict) -> float:
        """The preference criterion of a node; lower is better (Samarati 2001, section 3.2)."""
        if self.prefer == "minimum_suppression":
            return verdict.suppressed
        if self.prefer == "minimum_absolute_distance":
            return sum(verdict.node)
        if self.prefer == "minimum_relative_distance":
            return rounded(sum(level / height for level, height in zip(verdict.node, self.heights, strict=True)))
        return -verdict.kept_classes

    def ask(self, batch: Batch) -> list[Verdict]:
        """The verdicts of a batch: as few statements as the engine takes."""
        metric = self.metric if batch.metrics else None
        verdicts: list[Verdict] = []
        size = self.workspace.engine.capabilities.nodes_per_statement
        for start in range(0, len(batch.nodes), size):
            chunk = batch.nodes[start : start + size]
            verdicts += self.verdicts(chunk, metric)
            self._coverings.asked(chunk)
            self._roll_up()
        return verdicts

    def verdicts(self, nodes: Sequence[Node], metric: Metric | None) -> list[Verdict]:
        """The verdicts of a few nodes under a metric, in one statement."""
        numbered = {number: (node, self._coverings.best(node)) for number, node in enumerate(nodes)}
        rows = self.workspace.query(self.statements.question(numbered, metric), len(nodes))
        return [self._verdict(nodes[int(row[0])], row[1:], metric) for row in rows]

    def achieved(self, node: Node) -> Examination:
        """What the kept classes of a node achieve."""
        covering = self._coverings.best(node)
        statement = self.statements.one(
            "evaluate/achieved", node, covering, None, {}, models=achieved_columns(self.models), kept_only=True
        )
        (row,) = self.workspace.query(statement, 1)
        return read_examination(row, self.models)

    def suppressed_classes(self, node: Node) -> Relation:
        """A scratch table with the packed keys (``k0``, ...) of the classes that a node suppresses."""
        target = self.workspace.table("suppressed")
        names = [f"k{position}" for position, _ in enumerate(self.statements.keys(node))]
        covering = self._coverings.best(node)
        self.workspace.run(
            self.statements.one("evaluate/suppressed", node, covering, None, {}, target=target, key_names=names)
        )
        return target

    def _covering(self, node: Node, base: Relation, values: Mapping[str, Relation]) -> Covering:
        (rows,) = self.workspace.row("evaluate/size", tables=[base, *values.values()])
        return Covering(node, base, values, int(rows))

    def _roll_up(self) -> None:
        """Build the frequency sets that the questions so far would have paid for."""
        while (proposal := self._coverings.proposal()) is not None:
            below, node = proposal
            base = self.statements.roll_up(below.base, node, values=False)
            values = {name: self.statements.roll_up(table, node, values=True) for name, table in below.values.items()}
            covering = self._covering(node, base, values)
            if not self._coverings.add(covering, below):
                for table in (base, *values.values()):
                    self.workspace.drop(table)

    def _verdict(self, node: Node, row: Sequence[Any], metric: Metric | None) -> Verdict:
        total, kept_classes, suppressed, suppressed_monotone = (int(value or 0) for value in row[:4])
        suppressed += self.sets.null_rows
        suppressed_monotone = suppressed if all(self._sound) else suppressed_monotone + self.sets.null_rows
        value = floor = None
        if metric is not None:
            names = self.statements.aggregate_names(metric, len(self.statements.carried(node, metric)))
            measured = Measured(
                node=node,
                suppressed=suppressed,
                classes=total,
                kept_classes=kept_classes,
                sized=self.statements.sized(node),
                keyed=self.sets.keyed(node),
                values=dict(zip(names, row[4:], strict=False)),
            )
            value = metric.value(self.counts, measured)
            floor = _below(metric.floor(self.counts, measured))
        return Verdict(
            node=node,
            satisfied=suppressed <= self.max_suppressed and suppressed < self.sets.rows,
            prunable=suppressed_monotone > self.max_suppressed or suppressed_monotone >= self.sets.rows,
            suppressed=suppressed,
            classes=total,
            kept_classes=kept_classes,
            metric=value,
            floor=floor,
        )


def rounded(value: float | None) -> float:
    """Twelve significant digits: engines may sum in another order, ties must stay ties."""
    assert value is not None
    return float(f"{value:.12g}")


def _below(bound: float) -> float:
    return bound - 1e-9 * abs(bound)
