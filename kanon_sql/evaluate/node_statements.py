"""The statements about lattice nodes: what is asked of a frequency set, what it answers, and how sets are rolled up.

Two forms of one question. The classes of a node are a GROUP BY over the vectors with its mask;
those of many nodes are a UNION ALL of these. Or the nodes are rows of their own, joined to every
vector, and one GROUP BY makes the classes of all. That costs more per vector and far less per node,
which pays on small sets, and where planning is dear. Either way one more GROUP BY, over the nodes,
judges all classes of a statement; only a metric that joins tables of its own to the classes is asked
for node by node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from kanon_sql.engines import Row, Workspace
from kanon_sql.evaluate.class_unions import Unions, union_fills, union_nodes, union_shape, union_slots
from kanon_sql.evaluate.classes import (
    Frames,
    LeftClasses,
    classes,
    conditions,
    flagged_classes,
    judged_columns,
    measure_name,
)
from kanon_sql.evaluate.combinations import FrequentClasses
from kanon_sql.evaluate.label_widths import judge_widths
from kanon_sql.evaluate.node_widths import sized, width_fills, width_slots
from kanon_sql.evaluate.rollup import Covering, Coverings
from kanon_sql.frequency import FrequencySets
from kanon_sql.models import Metric, PrivacyModel
from kanon_sql.search import Node
from kanon_sql.sql import Sql, Statement, identifier, literal, render, slot, sql_list

__all__ = ["NodeQuery", "NodeRow", "NodeStatements"]

TOGETHER = 4
"""Fewer nodes than this are never made rows."""

FEW_VECTORS = 1_000_000
"""Sets of no more have few classes, which are not worth dividing among threads; see ``Dialect.few_groups``."""


@dataclass(frozen=True)
class NodeQuery:
    """A statement about nodes.

    Attributes:
        statement: it has a row per node.
        reads: frequency sets -> how many of its branches read them.
    """

    statement: Statement
    reads: Sequence[tuple[Covering, int]]


class NodeStatements:
    """Writes the statements of a run's nodes.

    Args:
        workspace: where they will run.
        sets: the frequency sets.
        models: the requirements.
        sound: per requirement, whether pruning by its monotonicity is sound.
        left: a node -> its classes that are left where rows with rare combinations are dropped, None where all
            are one class; None where none is dropped.
    """

    def __init__(
        self,
        workspace: Workspace,
        sets: FrequencySets,
        models: Sequence[PrivacyModel],
        sound: Sequence[bool],
        left: Callable[[Node], FrequentClasses | None] | None = None,
    ) -> None:
        self._workspace = workspace
        self._sets = sets
        self._models = models
        self._sound = sound
        self._left = left
        self._judges_widths = judge_widths(models)
        self._narrow = workspace.dialect.narrow_sums and sets.narrow
        self._names: dict[tuple[str, int], list[str]] = {}

    # --- Questions ---

    def question(self, nodes: Mapping[int, Node], coverings: Coverings, metric: Metric | None) -> NodeQuery:
        """One statement about some nodes; its rows are read by :meth:`NodeRow.of`.

        Args:
            nodes: a number for each, which its row begins with -> the node.
            coverings: the sets to answer them from.
            metric: the quality metric to ask for, if any.
        """
        asked = self._asked(nodes, coverings, metric)
        few_groups = self._workspace.dialect.few_groups
        if not few_groups or any(covering.rows > FEW_VECTORS for covering, _ in asked.reads):
            return asked
        return replace(asked, statement=replace(asked.statement, sql=f"{asked.statement.sql}\n{few_groups}"))

    def _asked(self, nodes: Mapping[int, Node], coverings: Coverings, metric: Metric | None) -> NodeQuery:
        apart = self._workspace.capabilities.judges_by_node or self._left is not None
        if len(nodes) > 1 and not apart and (metric is None or metric.carries is None):
            return self._judged_together(nodes, coverings, metric)
        reads = [(coverings.best(node), 1) for node in nodes.values()]
        branches = [
            self.one("evaluate/node", node, covering, metric, {"node": str(number)})
            for (number, node), (covering, _) in zip(nodes.items(), reads, strict=True)
        ]
        return NodeQuery(self._workspace.compiler.union(branches), reads)

    def _judged_together(self, nodes: Mapping[int, Node], coverings: Coverings, metric: Metric | None) -> NodeQuery:
        """One statement that judges the classes of all nodes together; short, since planning takes its time."""
        compiler = self._workspace.compiler
        capabilities = self._workspace.capabilities
        most = capabilities.nodes_as_rows
        branches, reads = [], []
        groups = coverings.together(nodes, most, capabilities.branch_rows)
        for covering, group in groups.items():
            if len(group) >= TOGETHER and covering.rows <= most and not self._judges_widths:
                own = [self._together(part, covering, metric) for part in self._parts(group, len(groups))]
            else:
                own = [self._alone(number, node, covering, metric) for number, node in group.items()]
            reads.append((covering, len(own)))
            branches += own
        shape = compiler.shape(
            "evaluate/node",
            ("together", None if metric is None else metric.shape),
            lambda: {"grouped": True, **self._aggregates([], metric)},
        )
        statement = compiler.fill("evaluate/node", shape, {"branches": f"({compiler.union(branches).sql})"})
        return NodeQuery(statement, reads)

    def one(
        self,
        name: str,
        node: Node,
        covering: Covering,
        metric: Metric | None,
        fills: Mapping[str, str],
        *,
        padding: tuple[int, int] = (0, 0),
        **context: Any,
    ) -> Statement:
        """A statement over one node. Its shape is compiled once; columns and tables fill the slots.

        ``padding``: this many empty columns stand before and after those of the metric.
        """
        keys, carried, unions = self.keys(node), self.carried(node, metric), self._unions(node)
        left = None if self._left is None else self._left(node)
        compiler = self._workspace.compiler
        text = compiler.shape(
            name,
            (
                len(keys),
                len(carried),
                None if metric is None else metric.shape,
                context.get("target"),
                padding,
                *union_shape(unions),
                self._labels(node),
                self._narrow,
                left is not None,
            ),
            lambda: {
                **self._context(
                    [slot(f"key_{position}") for position, _ in enumerate(keys)],
                    len(carried),
                    metric,
                    union_slots(unions),
                    self._labels(node),
                    padding,
                    None if left is None else left.slots,
                ),
                **context,
            },
        )
        filled = {
            **fills,
            **union_fills(unions),
            **{f"key_{position}": key for position, key in enumerate(keys)},
            **{
                f"carried_{position}": self._sets.codes.code(index, node[index], compiler.dialect)
                for position, index in enumerate(carried)
            },
            **{
                f"{what}_{position}": text
                for position, index in enumerate(carried)
                for what, text in self._sizes(index, node[index]).items()
            },
            **self._width_fills(node),
            **({} if left is None else left.fills(self._workspace)),
            **self._from(covering, "", [node]),
        }
        return compiler.fill(name, text, filled)

    def _together(self, nodes: Mapping[int, Node], covering: Covering, metric: Metric | None) -> Statement:
        """The classes of several nodes by one GROUP BY over the vectors joined to the nodes' masks."""
        dialect = self._workspace.dialect
        masks = {number: self._sets.codes.masks(node) for number, node in nodes.items()}
        words, keys = self._mask_columns(masks.values(), "mask")
        columns = [f"mask{word}" for word in words]
        rows = {number: [own[word] for word in words] for number, own in masks.items()}
        unions: dict[tuple[str, ...], list[str]] = {}
        projected = {number: union_nodes(self._sets, self._models, node) for number, node in nodes.items()}
        for position, names in enumerate(next(iter(projected.values()))):
            masks = {number: self._sets.codes.masks(own[names]) for number, own in projected.items()}
            words, unions[names] = self._mask_columns(masks.values(), f"union{position}_")
            columns += [f"union{position}_{word}" for word in words]
            for number, own in masks.items():
                rows[number] += [own[word] for word in words]
        numbers = dialect.numbers("nodes", ["node", *columns], [[number, *own] for number, own in rows.items()])
        fills = self._from(covering, f" CROSS JOIN {numbers}", nodes.values())
        return self._branch(keys, unions, fills, metric, together=True)

    def _mask_columns(self, masks: Iterable[Sequence[int]], prefix: str) -> tuple[list[int], list[str]]:
        """The words that any of some masks leaves something of, and these words masked by a column each."""
        words = [word for word, column in enumerate(zip(*masks, strict=True)) if any(column)]
        compiler = self._workspace.compiler
        return words, [
            compiler.dialect.masked(compiler.quote(f"code{word}"), compiler.quote(f"{prefix}{word}")) for word in words
        ]

    def _parts(self, nodes: dict[int, Node], groups: int) -> list[dict[int, Node]]:
        """Nodes divided, so that all groups together are as many branches as the engine works on side by side."""
        parts = max(1, min(self._workspace.capabilities.branches // groups, len(nodes) // TOGETHER))
        listed = list(nodes.items())
        return [dict(listed[number::parts]) for number in range(parts)]

    def _alone(self, number: int, node: Node, covering: Covering, metric: Metric | None) -> Statement:
        """The classes of one node."""
        fills = {"node": str(number), **self._width_fills(node), **self._from(covering, "", [node])}
        return self._branch(
            self.keys(node), self._unions(node), fills, metric, together=False, labels=self._labels(node)
        )

    def _branch(
        self,
        keys: Sequence[str],
        unions: Unions,
        fills: Mapping[str, str],
        metric: Metric | None,
        *,
        together: bool,
        labels: int = 0,
    ) -> Statement:
        """Classes, labelled by their node's number."""
        compiler = self._workspace.compiler
        models = self._measured(metric)

        def context() -> dict[str, Any]:
            slots = [slot(f"key_{position}") for position, _ in enumerate(keys)]
            within = [identifier("node")] if together else []
            frames = self._frames(
                [*within, *slots], 0, {own: [*within, *of] for own, of in union_slots(unions).items()}, labels
            )
            frames = replace(frames, within=within)
            wrapped = self._judges_widths or any(model.of_table for model in models)
            labelled = not (frames.values or unions or wrapped)
            label = identifier("node") if together else slot("node")
            return {
                "labelled": classes(frames, models, with_keys=False, label=label) if labelled else None,
                "label": identifier(frames.key_names[0]) if together else label,
                "classes": classes(frames, models, with_keys=together),
                "columns": judged_columns(models),
            }

        measured = metric.shape if metric is not None and metric.measures else None
        shape = compiler.shape(
            "evaluate/branch", (together, len(keys), measured, *union_shape(unions), labels, self._narrow), context
        )
        filled = {f"key_{position}": key for position, key in enumerate(keys)}
        return compiler.fill("evaluate/branch", shape, {**filled, **union_fills(unions), **fills})

    def _from(self, covering: Covering, crossed: str, nodes: Iterable[Node]) -> dict[str, str]:
        """The tables that some nodes are answered from."""
        self._sets.codes.refuse_uncovered(covering.node, nodes)
        quoted = self._workspace.quoted
        tables = {"base": covering.base}
        tables |= {f"values_{position}": table for position, table in enumerate(covering.values.values())}
        references = {
            f"reference_{position}": quoted(table) for position, table in enumerate(self._sets.references.values())
        }
        return {name: quoted(table) + crossed for name, table in tables.items()} | references

    def _context(
        self,
        keys: Sequence[Sql],
        carried: int,
        metric: Metric | None,
        unions: Mapping[tuple[str, ...], Sequence[Sql]],
        labels: int,
        padding: tuple[int, int],
        standing: LeftClasses | None,
    ) -> dict[str, Any]:
        frames = replace(self._frames(keys, carried, unions, labels), standing=standing)
        aggregates = self._aggregates(frames.carried_names, metric)
        return {
            "grouped": False,
            "flagged": flagged_classes(frames, self._models),
            "classes": classes(frames, self._measured(metric), with_keys=bool(aggregates["windows"])),
            **aggregates,
            "aggregates": [*_empty("before", padding[0]), *aggregates["aggregates"], *_empty("after", padding[1])],
        }

    def _frames(
        self, keys: Sequence[Sql], carried: int, unions: Mapping[tuple[str, ...], Sequence[Sql]], labels: int
    ) -> Frames:
        return Frames(
            base=slot("base"),
            values={name: slot(f"values_{position}") for position, name in enumerate(self._sets.values)},
            counting=self._sets.counting,
            keys=keys,
            carried=[slot(f"carried_{position}") for position in range(carried)],
            unions=unions,
            facts={name: facts.all for name, facts in self._sets.facts.items()},
            group_levels={name: facts.group_levels for name, facts in self._sets.facts.items()},
            references={name: slot(f"reference_{position}") for position, name in enumerate(self._sets.references)},
            known=self._sets.known,
            widths=width_slots(self._sets, labels) if self._judges_widths else None,
            narrow=self._narrow,
        )

    def _measured(self, metric: Metric | None) -> list[PrivacyModel]:
        """The requirements, and after them what a metric measures of each class."""
        return [*self._models, *(() if metric is None else metric.measures)]

    def _aggregates(self, names: Sequence[str], metric: Metric | None) -> dict[str, Any]:
        """What ``evaluate/node`` asks of the classes, over the flagged ones only if windows need it.

        Args:
            names: the columns that the classes carry along.
            metric: the quality metric to ask for, if any.
        """
        windows = {} if metric is None else metric.windows(names)
        joined = metric is not None and metric.carries == "sizes"
        carried = [f"y{position}" for position, _ in enumerate(names)] if joined else names
        every = conditions(self._models)
        kept = Sql("satisfied = 1") if windows else sql_list([Sql(f"({item})") for item in every], " AND ")
        sound = [Sql(f"({item})") for item, is_sound in zip(every, self._sound, strict=True) if is_sound]
        measured = list(enumerate(self._measured(metric)))[len(self._models) :]
        carried = [*carried, *(measure_name(index, model) for index, model in measured)]
        aggregates = {} if metric is None else metric.aggregates(kept, carried)
        # The branches of a UNION ALL have the same number of columns.
        width = 0 if metric is None else self.width(metric)
        padding = {f"padding_{index}": literal(0) for index in range(width - len(aggregates))}
        return {
            "kept": kept,
            # Without a requirement that suppression breaks, both counts are the same.
            "monotone": sql_list(sound, " AND ") if sound and len(sound) < len(every) else None,
            "sized": names if joined else [],
            "sizes": [_sizes_frame(position, f"y{position}") for position, _ in enumerate(names)] if joined else [],
            "windows": list(windows.items()),
            "aggregates": [*aggregates.items(), *padding.items()],
        }

    def aggregate_names(self, metric: Metric, carried: int) -> list[str]:
        """The names of a metric's aggregates over a node that carries this many columns along."""
        shape = (metric.shape, carried)
        if shape not in self._names:
            self._names[shape] = list(metric.aggregates(Sql("1 = 1"), ["z"] * (carried + len(metric.measures))))
        return self._names[shape]

    def asks(self, metric: Metric) -> bool:
        """Whether a metric needs more of a node's classes than how many there are and how many are suppressed."""
        return self.width(metric) > 0

    def width(self, metric: Metric) -> int:
        """The most aggregates that a metric can ask for."""
        return len(self.aggregate_names(metric, len(self._sets.lookups) if metric.carries else 0))

    # --- What a node is grouped by ---

    def keys(self, node: Node, table: str | None = None) -> list[str]:
        """The keys of a node's classes, over any frequency set that covers it; see :meth:`Codes.keys`."""
        return self._sets.codes.keys(node, self._workspace.dialect, table)

    def _unions(self, node: Node) -> Unions:
        """The packed keys of the classes that fewer quasi-identifiers make of a node's."""
        return {names: self.keys(own) for names, own in union_nodes(self._sets, self._models, node).items()}

    def sized(self, node: Node) -> list[int]:
        """The quasi-identifiers strictly between level 0 and their top."""
        return sized(self._sets, node)

    def _labels(self, node: Node) -> int:
        """How many columns of a node have labels whose widths a requirement asks for."""
        return len(self.sized(node)) if self._judges_widths else 0

    def _width_fills(self, node: Node) -> Mapping[str, str]:
        """What fills the slots of these widths."""
        return width_fills(self._workspace, self._sets, node) if self._judges_widths else {}

    def carried(self, node: Node, metric: Metric | None) -> list[int]:
        """The quasi-identifiers whose codes the classes of a node carry along for a metric."""
        if metric is None or metric.carries is None:
            return []
        return self.sized(node) if metric.carries == "sizes" else self._sets.keyed(node)

    def _sizes(self, index: int, level: int) -> dict[str, str]:
        """Where the domain values under the generalized values of a level are counted."""
        compiler = self._workspace.compiler
        return {
            "code": self._sets.codes.from_lookup(index, level, compiler.dialect),
            "size": compiler.quote(f"s{level}"),
            "lookup": self._workspace.quoted(self._sets.lookups[index].table),
        }


def _empty(name: str, columns: int) -> list[tuple[str, Sql]]:
    """Columns of NULL, by their names."""
    return [(f"{name}_{index}", Sql("NULL")) for index in range(columns)]


def _sizes_frame(position: int, name: str) -> Sql:
    slots = {what: slot(f"{what}_{position}") for what in ("code", "size")}
    return render("frequency/sizes", **slots, table=slot(f"lookup_{position}"), name=name)


class NodeRow(NamedTuple):
    """A row of ``evaluate/node``, by its columns.

    Attributes:
        number: of the node in its statement.
        classes: how many classes the node has.
        kept_classes: those that satisfy every requirement.
        suppressed: rows in the others.
        suppressed_monotone: rows that violate a requirement by which the search may prune.
        rows: rows in all classes.
        sizes: what all classes count, added up: rows, or persons, who are in a class at least.
        aggregates: what the metric asked for.
    """

    number: int
    classes: int
    kept_classes: int
    suppressed: int
    suppressed_monotone: int
    rows: int
    sizes: int
    aggregates: tuple[Any, ...]

    @classmethod
    def of(cls, row: Row) -> Self:
        """A row as the engine returns it; sums over no class are 0."""
        number, classes, kept, suppressed, monotone, rows, sizes = (int(value or 0) for value in row[:7])
        return cls(number, classes, kept, suppressed, monotone, rows, sizes, tuple(row[7:]))
