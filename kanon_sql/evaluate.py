"""The evaluator: a batch of lattice nodes in, one generated statement, their verdicts out.

Every node is one GROUP BY over the smallest frequency set that covers it; only a row of
aggregates per node reaches Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from kanon_sql.classes import Frames, achieved_columns, classes, conditions, flagged_classes
from kanon_sql.frequency import FrequencySets, count_attributes
from kanon_sql.lattice import Lattice, Node
from kanon_sql.privacy import Monotonicity, PrivacyModel
from kanon_sql.quality import Measured, Metric
from kanon_sql.rollup import Covering, Coverings
from kanon_sql.search import Batch, Question, Verdict
from kanon_sql.sql.statement import Statement
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import Relation, Sql, identifier, literal, slot, sql_list
from kanon_sql.verify import Examination, read_examination
from kanon_sql.workspace import Workspace

__all__ = ["Evaluator", "is_sound"]


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
        self._rollups = count()
        self._names: dict[tuple[str, int], list[str]] = {}
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
            rank=lambda verdict: (_rounded(verdict.metric), self.preference(verdict), verdict.node),
            prefer=lambda verdict: (self.preference(verdict), _rounded(verdict.metric), verdict.node),
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
            return _rounded(sum(level / height for level, height in zip(verdict.node, self.heights, strict=True)))
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
        branches = [
            self._statement("evaluate/node", node, metric, {"node": str(position)})
            for position, node in enumerate(nodes)
        ]
        rows = self.workspace.query(self.workspace.compiler.union(branches), len(nodes))
        return [self._verdict(nodes[int(row[0])], row[1:], metric) for row in rows]

    def achieved(self, node: Node) -> Examination:
        """What the kept classes of a node achieve."""
        statement = self._statement(
            "evaluate/achieved", node, None, {}, models=achieved_columns(self.models), kept_only=True
        )
        (row,) = self.workspace.query(statement, 1)
        return read_examination(row, self.models)

    def suppressed_classes(self, node: Node) -> Relation:
        """A scratch table with the packed keys (``k0``, ...) of the classes that a node suppresses."""
        target = self.workspace.table("suppressed")
        names = [f"k{position}" for position, _ in enumerate(self._keys(node))]
        self.workspace.run(self._statement("evaluate/suppressed", node, None, {}, target=target, key_names=names))
        return target

    def _keys(self, node: Node) -> list[str]:
        """The packed keys of a node's classes, over any frequency set that covers it."""
        quote = self.workspace.compiler.quote
        return self.sets.packing.keys(self.sets.keyed(node), lambda index: quote(f"c{index}_{node[index]}"))

    def _sized(self, node: Node) -> list[int]:
        """The quasi-identifiers strictly between level 0 and their top."""
        return [index for index in self.sets.keyed(node) if node[index] > 0]

    def _carried(self, node: Node, metric: Metric | None) -> list[int]:
        """The quasi-identifiers whose codes the classes of a node carry along for a metric."""
        if metric is None or metric.carries is None:
            return []
        return self._sized(node) if metric.carries == "sizes" else self.sets.keyed(node)

    def _sizes(self, index: int, level: int) -> dict[str, str]:
        """Where the domain values under the generalized values of a level are counted."""
        stride, quote = self.sets.packing.places[index].stride, self.workspace.compiler.quote
        return {
            "code": f"{quote(f'c{level}')} * {stride}",
            "size": quote(f"s{level}"),
            "lookup": self.workspace.quoted(self.sets.lookups[index].table),
        }

    def _covering(self, node: Node, base: Relation, values: Mapping[str, Relation]) -> Covering:
        (rows,) = self.workspace.row("evaluate/size", tables=[base, *values.values()])
        return Covering(node, base, values, int(rows))

    def _roll_up(self) -> None:
        """Build the frequency sets that the questions so far would have paid for."""
        while (proposal := self._coverings.proposal()) is not None:
            below, node = proposal
            base = self._rolled_up(below.base, node, values=False)
            values = {name: self._rolled_up(table, node, values=True) for name, table in below.values.items()}
            covering = self._covering(node, base, values)
            if not self._coverings.add(covering, below):
                for table in (base, *values.values()):
                    self.workspace.drop(table)

    def _rolled_up(self, source: Relation, node: Node, *, values: bool) -> Relation:
        target = self.workspace.table(f"rollup{next(self._rollups)}")
        keyed = self.sets.keyed(node)
        keys = self.sets.packing.keys(keyed, lambda index: identifier(f"c{index}_{node[index]}"))
        groups = [Sql(key) for key in keys]
        groups += [identifier("value_code")] if values else []
        groups += [identifier("unit")] if self.sets.counting == "unit" else []
        self.workspace.execute(
            "evaluate/rollup",
            target=target,
            source=source,
            values=values,
            counting=self.sets.counting,
            groups=groups,
            carried=[
                {"index": index, "level": level} for index in keyed for level in range(node[index], self.heights[index])
            ],
        )
        return target

    def _statement(
        self, name: str, node: Node, metric: Metric | None, fills: Mapping[str, str], **context: Any
    ) -> Statement:
        """A statement over one node. Its shape is compiled once; columns and tables fill the slots."""
        keys, carried = self._keys(node), self._carried(node, metric)
        compiler = self.workspace.compiler
        text = compiler.shape(
            name,
            (len(keys), len(carried), None if metric is None else metric.name, str(context.get("target"))),
            lambda: {**self._node_context(len(keys), len(carried), metric), **context},
        )
        covering = self._coverings.best(node)
        filled = {
            **fills,
            **{f"key_{position}": key for position, key in enumerate(keys)},
            **{
                f"carried_{position}": compiler.quote(f"c{index}_{node[index]}")
                for position, index in enumerate(carried)
            },
            **{
                f"{what}_{position}": text
                for position, index in enumerate(carried)
                for what, text in self._sizes(index, node[index]).items()
            },
            "base": self.workspace.quoted(covering.base),
            **{
                f"values_{position}": self.workspace.quoted(relation)
                for position, relation in enumerate(covering.values.values())
            },
        }
        return compiler.fill(name, text, filled)

    def _node_context(self, keys: int, carried: int, metric: Metric | None) -> dict[str, Any]:
        frames = Frames(
            base=slot("base"),
            values={name: slot(f"values_{position}") for position, name in enumerate(self.sets.values)},
            counting=self.sets.counting,
            keys=[slot(f"key_{position}") for position in range(keys)],
            carried=[slot(f"carried_{position}") for position in range(carried)],
        )
        return {"flagged": flagged_classes(frames, self.models), **self._aggregates(frames, metric)}

    def _aggregates(self, frames: Frames, metric: Metric | None) -> dict[str, Any]:
        """What ``evaluate/node`` asks of the classes, over the flagged ones only if windows need it."""
        windows = {} if metric is None else metric.windows(frames.carried_names)
        joined = metric is not None and metric.carries == "sizes"
        carried = [f"y{position}" for position, _ in enumerate(frames.carried)] if joined else frames.carried_names
        every = conditions(self.models)
        kept = Sql("satisfied = 1") if windows else sql_list([Sql(f"({item})") for item in every], " AND ")
        sound = [Sql(f"({item})") for item, is_sound in zip(every, self._sound, strict=True) if is_sound]
        aggregates = {} if metric is None else metric.aggregates(kept, carried)
        # The branches of a UNION ALL have the same number of columns.
        width = 0 if metric is None else self._width(metric)
        padding = {f"padding_{index}": literal(0) for index in range(width - len(aggregates))}
        return {
            "classes": classes(frames, self.models, with_keys=bool(windows)),
            "kept": kept,
            # Without a requirement that suppression breaks, both counts are the same.
            "monotone": sql_list(sound, " AND ") if sound and len(sound) < len(every) else None,
            "sized": frames.carried_names if joined else [],
            "sizes": [_sizes_frame(position, name) for position, name in enumerate(carried)] if joined else [],
            "windows": list(windows.items()),
            "aggregates": [*aggregates.items(), *padding.items()],
        }

    def _aggregate_names(self, metric: Metric, carried: int) -> list[str]:
        shape = (metric.name, carried)
        if shape not in self._names:
            self._names[shape] = list(metric.aggregates(Sql("1 = 1"), ["z"] * carried))
        return self._names[shape]

    def _width(self, metric: Metric) -> int:
        """The most aggregates that a metric can ask for."""
        return len(self._aggregate_names(metric, len(self.heights)))

    def _verdict(self, node: Node, row: Sequence[Any], metric: Metric | None) -> Verdict:
        total, kept_classes, suppressed, suppressed_monotone = (int(value or 0) for value in row[:4])
        suppressed += self.sets.null_rows
        suppressed_monotone = suppressed if all(self._sound) else suppressed_monotone + self.sets.null_rows
        value = floor = None
        if metric is not None:
            names = self._aggregate_names(metric, len(self._carried(node, metric)))
            measured = Measured(
                node=node,
                suppressed=suppressed,
                classes=total,
                kept_classes=kept_classes,
                sized=self._sized(node),
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


def _sizes_frame(position: int, name: str) -> Sql:
    slots = {what: slot(f"{what}_{position}") for what in ("code", "size")}
    return render("frequency/sizes", **slots, table=slot(f"lookup_{position}"), name=name)


def _rounded(value: float | None) -> float:
    """Twelve significant digits: engines may sum in another order, ties must stay ties."""
    assert value is not None
    return float(f"{value:.12g}")


def _below(bound: float) -> float:
    return bound - 1e-9 * abs(bound)
