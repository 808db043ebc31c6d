"""The evaluator: a batch of lattice nodes in, one generated statement, their verdicts out.

Every node is one GROUP BY over the smallest frequency set that covers it; only a row of
aggregates per node reaches Python. What a verdict rules out besides is so only where pruning by a
requirement is sound (``all_sound``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.engines import Column, Workspace
from kanon_sql.evaluate.class_counts import Table, closeness_of_all, node_frames
from kanon_sql.evaluate.class_unions import Unions, judged_by_unions, refuse_shared_persons, union_nodes
from kanon_sql.evaluate.classes import LeftClasses
from kanon_sql.evaluate.combinations import Combinations
from kanon_sql.evaluate.distance_vectors import DistanceMatrix
from kanon_sql.evaluate.examination import Examination, achieved_context, read_examination, size_edges, size_number
from kanon_sql.evaluate.node_statements import NodeRow, NodeStatements
from kanon_sql.evaluate.rollup_sets import RolledUp
from kanon_sql.evaluate.single_node import SingleNode
from kanon_sql.frequency import FrequencySets, Remembered, count_attributes, holds_all
from kanon_sql.models import Bounds, Loss, Measured, Metric, Monotonicity, PrivacyModel
from kanon_sql.search import (
    Batch,
    Lattice,
    Node,
    Question,
    Verdict,
    all_lowered,
    lowered,
    metric_of,
    preference,
    rounded,
)
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, literal, relation

__all__ = ["Evaluator", "Work", "all_sound", "is_sound"]


@dataclass(frozen=True)
class Work:
    """What answering the questions so far took; the same for every run of a spec on one kind of engine.

    Attributes:
        frequency_sets: frequency sets rolled up from others, those included that were given up or dropped.
        base_reads: branches of statements that read the first frequency set ("scans" in LeFevre et al. 2005).
    """

    frequency_sets: int
    base_reads: int


class Evaluator:
    """Answers questions about nodes from the frequency sets.

    Args:
        workspace: where statements run.
        sets: the frequency sets.
        models: the requirements.
        metric: the quality metric that the search optimizes.
        prefer: the preference criterion (Samarati 2001, section 3.2).
        max_suppressed: MaxSup, in rows.
        matrix: the distance matrix that answers what is asked without the metric, if there is one. The
            requirements are then k-anonymity alone.
        remembered: what these frequency sets told of nodes under the same requirements, by node and the shape of the
            metric, and the sets that were rolled up from them; both are added to. None to remember nothing.
    """

    def __init__(
        self,
        workspace: Workspace,
        sets: FrequencySets,
        models: Sequence[PrivacyModel],
        metric: Metric,
        prefer: str,
        max_suppressed: int,
        matrix: DistanceMatrix | None = None,
        remembered: Remembered | None = None,
    ) -> None:
        self.workspace = workspace
        self.sets = sets
        refuse_shared_persons(models, sets.counting)
        self.models = judged_by_unions(models)
        self.metric = metric
        self.prefer = prefer
        self.max_suppressed = max_suppressed
        self.matrix = matrix
        self.counts = count_attributes(workspace, sets)
        self.heights: Node = tuple(lookup.height for lookup in sets.lookups)
        by_person = sets.counting != "rows"
        self._sound = all_sound(self.models, by_person=by_person, may_suppress=max_suppressed > 0)
        self._combinations = self._combined() if workspace.mode != "inline" else None
        left = None if self._combinations is None else self._combinations.of
        self.statements = NodeStatements(workspace, sets, self.models, self._sound, left)
        self._remembered = remembered
        self._labels = [attribute.labels for attribute in self.counts.attributes]
        self.rolled_up = RolledUp(workspace, sets, self._labels, remembered)
        self._coverings = self.rolled_up.coverings
        self._first = self._coverings.first
        self._reads_before = self._first.reads
        self._suppressed: dict[Node, Relation] = {}
        self._alone = SingleNode(
            workspace,
            self.statements,
            self._coverings,
            lambda node, metric: self._rows([node], metric)[0],
            self._refuse_incomplete,
        )

    def _combined(self) -> Combinations | None:
        """What finds the classes that are left, where requirements on combinations drop rows; None where none does."""
        if not any(model.to_fixpoint for model in self.models):
            return None
        others = [model for model in self.models if not model.to_fixpoint]
        statements = NodeStatements(self.workspace, self.sets, others, [True] * len(others))
        codes, dialect = self.sets.codes, self.workspace.dialect

        def keys(node: Node) -> Unions:
            """By each set of columns, over the packed keys of the node's classes."""
            words = {word: f"k{place}" for place, word in enumerate(codes.keyed(node))}
            quote = self.workspace.compiler.quote
            return {
                names: [
                    dialect.masked(quote(words[word]), str(mask)) for word, mask in enumerate(codes.masks(own)) if mask
                ]
                for names, own in union_nodes(self.sets, self.models, node).items()
            }

        def begin(node: Node, target: Relation) -> int:
            names = [f"k{place}" for place, _ in enumerate(codes.keyed(node))]
            covering = self._coverings.best(node)
            name = "evaluate/combinations/initial"
            self.workspace.run(statements.one(name, node, covering, None, {}, target=target, key_names=names))
            return len(names)

        return Combinations(self.workspace, self.models, keys, begin)

    @property
    def work(self) -> Work:
        """What it took so far."""
        matrix_reads = 0 if self.matrix is None else self.matrix.base_reads
        return Work(self.rolled_up.made, self._first.reads - self._reads_before + matrix_reads)

    @property
    def vectors(self) -> int:
        """How many vectors the first frequency set has."""
        return self._first.rows

    def question(self) -> Question:
        """What a search strategy may know before it asks."""
        bottom = tuple(lookup.quasi_identifier.minimum_level for lookup in self.sets.lookups)
        top = tuple(lookup.highest for lookup in self.sets.lookups)
        bounds = Bounds(self.metric, self.counts)
        return Question(
            lattice=Lattice(bottom, top),
            heights=self.heights,
            monotone=all(self._sound),
            bound=lambda node: lowered(bounds.of(node)),
            bounds=lambda lattice: all_lowered(bounds.over(lattice)),
            staged=self.metric.staged,
            least=lambda verdict: lowered(self.metric.least(self.counts, verdict.node, verdict.suppressed)),
            expected=lambda verdict: self.metric.expected(self.counts, verdict.node, verdict.suppressed),
            rank=lambda verdict: (rounded(metric_of(verdict)), self.preference(verdict), verdict.node),
            prefer=lambda verdict: (self.preference(verdict), rounded(metric_of(verdict)), verdict.node),
            labels=self._labels,
            rows=self.sets.rows,
            max_suppressed=self.max_suppressed,
            widely=self.workspace.capabilities.prefers_large_batches,
        )

    def preference(self, verdict: Verdict) -> float:
        """The preference criterion of a node; lower is better (Samarati 2001, section 3.2)."""
        return preference(self.prefer, verdict, self.heights)

    def ask(self, batch: Batch) -> list[Verdict]:
        """The verdicts of a batch: as few statements as the engine takes."""
        return list(self.answers(batch))

    def answers(self, batch: Batch) -> Iterator[Verdict]:
        """The verdicts of a batch, statement by statement: a search that ends in between keeps those that it has."""
        metric = self.metric if batch.metrics else None
        self.rolled_up.prepare(batch.prepare)
        size = self.workspace.capabilities.nodes_per_statement
        for start in range(0, len(batch.nodes), size):
            chunk = batch.nodes[start : start + size]
            if self.matrix is not None and metric is None:
                yield from (self._judged(node, rows) for node, rows in self.matrix.suppressed(chunk).items())
                continue
            unknown = self._unknown(chunk, metric)
            if unknown and not batch.prepare:  # else the strategy says which sets there are
                self.rolled_up.asked(unknown)
            verdicts = self.verdicts(chunk, metric)
            for verdict in verdicts:
                self._coverings.answered(verdict.node, verdict.classes or 0)
            yield from verdicts

    def measured(self, nodes: Sequence[Node], metric: Metric) -> Iterator[Measured]:
        """The aggregates that a metric asks for, per node: as few statements as the engine takes."""
        size = self.workspace.capabilities.nodes_per_statement
        for start in range(0, len(nodes), size):
            chunk = nodes[start : start + size]
            if unknown := self._unknown(chunk, metric):
                self.rolled_up.asked(unknown)
            for row in self._rows(chunk, metric):
                node = chunk[row.number]
                judged = self._judged(node, row.suppressed)
                self._coverings.answered(node, row.classes)
                yield self._measured(judged, row.classes, row.kept_classes, row.aggregates, metric)

    def verdicts(self, nodes: Sequence[Node], metric: Metric | None) -> list[Verdict]:
        """The verdicts of a few nodes under a metric, in one statement."""
        return [self._verdict(nodes[row.number], row, metric) for row in self._rows(nodes, metric)]

    def _unknown(self, nodes: Sequence[Node], metric: Metric | None) -> Sequence[Node]:
        """Those of some nodes that nothing is remembered of."""
        if self._remembered is None:
            return nodes
        shape = None if metric is None else metric.shape
        return [node for node in nodes if (node, shape) not in self._remembered.answers]

    def _rows(self, nodes: Sequence[Node], metric: Metric | None) -> list[NodeRow]:
        """What is told of some nodes, which are numbered as they are given: one statement for those not remembered."""
        by_node = {}
        if unknown := self._unknown(nodes, metric):
            if self._combinations is not None:
                self._combinations.room_for(unknown)
            asked = self.statements.question(dict(enumerate(unknown)), self._coverings, metric)
            for covering, branches in asked.reads:
                covering.reads += branches
            rows = [NodeRow.of(row) for row in self.workspace.query(asked.statement, len(unknown))]
            self._refuse_incomplete(unknown, rows)
            by_node = {unknown[row.number]: row for row in rows}
        if self._remembered is not None:
            shape = None if metric is None else metric.shape
            answers = self._remembered.answers
            answers.update({(node, shape): row for node, row in by_node.items()})
            by_node = {node: answers[node, shape] for node in nodes}
        return [by_node[node]._replace(number=number) for number, node in enumerate(nodes)]

    def _refuse_incomplete(self, nodes: Sequence[Node], rows: Sequence[NodeRow]) -> None:
        """The classes of every node hold all rows, and all persons: none was lost when it was judged."""
        judged = {row.number: row for row in rows}
        for number, _ in enumerate(nodes):
            row = judged.get(number)
            self.sets.refuse_incomplete("evaluate/node", row and row.rows, row and row.sizes)

    def metrics(self, node: Node, metrics: Mapping[str, Metric]) -> dict[str, float]:
        """Some metrics of a node by their names; those that need no more than its counts share one question.

        Rounded, since the last digits of a sum depend on the order in which an engine adds up.
        """
        if self.workspace.capabilities.prefers_large_batches and self._remembered is None:
            self._alone.ask(node, list(filter(self.statements.asks, metrics.values())))
        counted: Verdict | None = None
        values = {}
        for name, metric in sorted(metrics.items(), key=lambda item: not self.statements.asks(item[1])):
            if counted is None or self.statements.asks(metric):
                verdict = self._verdict(node, self._alone.under(node, metric), metric)
                assert verdict.metric is not None
                counted, values[name] = verdict, rounded(verdict.metric)
            else:
                measured = self._measured(counted, counted.classes or 0, counted.kept_classes or 0, (), metric)
                values[name] = rounded(metric.value(self.counts, measured))
        return {name: values[name] for name in metrics}

    def achieved(self, node: Node) -> Examination:
        """What the kept classes of a node achieve."""
        covering = self._coverings.best(node)
        edges = size_edges(self.models)
        statement = self.statements.one(
            "evaluate/achieved",
            node,
            covering,
            None,
            {},
            kept_only=True,
            size=size_number(edges),
            checks_size=False,
            table=None,
            where=None,
            **achieved_context(self.models),
        )
        return read_examination(self.workspace.query(statement, len(edges) + 1), self.models, self.sets.kept_rows)

    def releasable(self, spec: Spec, columns: Mapping[str, Column], node: Node) -> Relation | None:
        """A frequency set that covers a node and holds all that is released, if there is one."""
        if not holds_all(self.workspace, spec, columns, self.sets):
            return None
        covering = self._coverings.best(node)
        attribute = next(iter((*spec.sensitive, *spec.keep)), None)
        return covering.base if attribute is None else covering.values[attribute]

    def frequency_set(self, node: Node) -> Relation:
        """A scratch table with one row per class of a node: its codes (``code0``, ...) and ``row_count``."""
        return self.rolled_up.table(self._coverings.best(node).base, node, None)

    def smallest_set(self, node: Node) -> Relation:
        """The smallest frequency set there is that a node, and every generalization of it, can be told from."""
        covering = self._coverings.best(node)
        self.sets.codes.refuse_uncovered(covering.node, [node])
        return covering.base

    def losses(self, node: Node) -> list[float]:
        """Per quasi-identifier, the share of its detail that a node loses with what it suppresses: the metric's."""
        loss = Loss()
        return loss.by_attribute(self.counts, self._measured_loss(node))

    def cell_losses(self, node: Node) -> list[float]:
        """Per quasi-identifier, the mean over its cells of (values under the label - 1) / (values - 1).

        A suppressed cell has lost everything, also where there is one value.
        """
        measured, rows = self._measured_loss(node), self.counts.rows
        least = [rows / attribute.domain_rows for attribute in self.counts.attributes]
        return [
            (share - own) / (rows - own) if own < rows else measured.suppressed / rows
            for share, own in zip(Loss().shares(self.counts, measured), least, strict=True)
        ]

    def _measured_loss(self, node: Node) -> Measured:
        """What the metric loss needs to know of a node, suppressed rows included."""
        loss = Loss()
        row = self._alone.under(node, loss)
        return self._measured(self._judged(node, row.suppressed), row.classes, row.kept_classes, row.aggregates, loss)

    def table(self, name: str, node: Node, *, kept_only: bool) -> Table:
        """The classes of a node to count, and the distance of every sensitive attribute.

        Args:
            name: what to call them.
            node: the vector of levels.
            kept_only: count only the classes that satisfy every requirement.
        """
        covering = self._coverings.best(node)
        return Table(
            name=name,
            frames=node_frames(self.sets, node, covering, self.models, self._standing(node)),
            there=self.sets.kept_rows,
            closeness=closeness_of_all(self.models),
            kept_by=self.models if kept_only else None,
        )

    def _standing(self, node: Node) -> LeftClasses | None:
        """What is left of a node's classes, as a statement names it that is compiled for it alone."""
        left = None if self._combinations is None else self._combinations.of(node)
        if left is None:
            return None
        return LeftClasses(relation(left.table), {index: literal(rows) for index, rows in left.rarest.items()})

    def suppressed_classes(self, node: Node) -> Relation:
        """A scratch table with the packed keys (``k0``, ...) of the classes that a node suppresses; made once."""
        if node in self._suppressed:
            return self._suppressed[node]
        target = self.workspace.table(f"suppressed{len(self._suppressed) or ''}")
        names = [f"k{position}" for position, _ in enumerate(self.statements.keys(node))]
        covering = self._coverings.best(node)
        self.workspace.run(
            self.statements.one("evaluate/suppressed", node, covering, None, {}, target=target, key_names=names)
        )
        self._suppressed[node] = target
        return target

    def _verdict(self, node: Node, row: NodeRow, metric: Metric | None) -> Verdict:
        judged = replace(
            self._judged(node, row.suppressed, None if all(self._sound) else row.suppressed_monotone),
            classes=row.classes,
            kept_classes=row.kept_classes,
        )
        if metric is None:
            return judged
        measured = self._measured(judged, row.classes, row.kept_classes, row.aggregates, metric)
        return replace(
            judged,
            metric=metric.value(self.counts, measured),
            floor=lowered(metric.floor(self.counts, measured)),
        )

    def _measured(
        self, judged: Verdict, classes: int, kept_classes: int, aggregates: Sequence[Any], metric: Metric
    ) -> Measured:
        """A node's own aggregates by their names."""
        names = self.statements.aggregate_names(metric, len(self.statements.carried(judged.node, metric)))
        return Measured(
            node=judged.node,
            suppressed=judged.suppressed,
            classes=classes,
            kept_classes=kept_classes,
            sized=self.statements.sized(judged.node),
            keyed=self.sets.keyed(judged.node),
            values=dict(zip(names, aggregates, strict=False)),
        )

    def _judged(self, node: Node, violating: int, violating_monotone: int | None = None) -> Verdict:
        """The verdict on a node by its rows in violating classes.

        Args:
            node: it.
            violating: rows that violate a requirement.
            violating_monotone: rows that violate one by whose monotonicity pruning is sound; None where all are.
        """
        rows, most = self.sets.rows, self.max_suppressed
        suppressed = violating + self.sets.null_rows
        lasting = suppressed if violating_monotone is None else violating_monotone + self.sets.null_rows
        return Verdict(
            node=node,
            satisfied=suppressed <= most and suppressed < rows,
            prunable=lasting > most or lasting >= rows,
            suppressed=suppressed,
            classes=None,
            kept_classes=None,
        )


def is_sound(model: PrivacyModel, *, by_person: bool, may_suppress: bool) -> bool:
    """Whether pruning by a model's monotonicity is sound with the suppression limit in force."""
    when = model.lasting(by_person)
    return when is Monotonicity.ALWAYS or (when is Monotonicity.WITHOUT_SUPPRESSION and not may_suppress)


def all_sound(models: Sequence[PrivacyModel], *, by_person: bool, may_suppress: bool) -> list[bool]:
    """Whether pruning is sound, per model. Unions and whole tables count what others leave: no better than these."""
    sound = [is_sound(model, by_person=by_person, may_suppress=may_suppress) for model in models]
    others = all(flag for model, flag in zip(models, sound, strict=True) if not _counts_others(model))
    return [flag and (others or not _counts_others(model)) for model, flag in zip(models, sound, strict=True)]


def _counts_others(model: PrivacyModel) -> bool:
    """Whether what the other requirements leave decides what a model measures."""
    return model.on_coarser_classes or model.of_table or model.to_fixpoint
