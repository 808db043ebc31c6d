"""Why no node of the lattice is better than the one that was released, or why that is not proven.

Nothing of the search is used. From what all rows lose at the levels of a node follows what its metric is at least;
where that is as much as the best has, the node is excluded. Of what is left the highest nodes are asked about. Rows
that violate a requirement there that lasts (what satisfies it satisfies it at every generalization) violate it at every
node below as well: they are too many, or what is lost by suppressing them excludes some of these nodes. Where the
metric counts classes, a node that was asked about bounds all above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Annotated, Any, Literal, TypedDict, cast

from kanon_sql.spec import Count, Keywords, Spec
from kanon_sql.sql import Compiler, Relation, Sql, Statement, render, slot
from kanon_sql.verbs.certify.book import Book
from kanon_sql.verbs.certify.classes import classes_of, of_keys, size_of
from kanon_sql.verbs.certify.definitions import Definition, NotCertified
from kanon_sql.verbs.certify.ground import Ground
from kanon_sql.verbs.certify.verify_certificate import COUNTED, HOW, SLACK, Answers

__all__ = ["METRICS", "Optimality", "boundary", "criterion", "prove", "why_unproven"]

MOST_NODES = 200_000
"""A lattice of more nodes is not gone through."""

MOST_ASKED = 2_048
"""A proof that takes more answers is not written."""

MOST_OF_BOUNDARY = 256
"""Where the whole boundary takes more answers besides, only that part of it is stated which the proof needs."""

SMALL = 1_024
"""Only of a lattice of this many nodes the whole boundary is looked for unasked: on large ones that takes longest."""

A_STATEMENT = 32
"""Nodes that one statement asks about."""

ENOUGH = 4
"""Nodes of a statement for which it pays to make a table with fewer rows."""

Node = tuple[int, ...]


class Optimality(TypedDict):
    """What the statements of its part prove, by a check over the lattice alone: that no other node is better.

    All but the value and the lists of nodes follows from the spec and from what statements say of the columns.

    Attributes:
        says: what is proven, in words.
        metric: the criterion, which is to be low.
        aggregate: how the losses of columns become one value; None for metrics that count classes.
        weights: of the columns.
        columns: the quasi-identifiers.
        heights: of their hierarchies.
        minimum: the lowest level that each may have.
        maximum: the highest.
        null_is_value: whether NULL is a value like others.
        limit: rows that may be suppressed.
        best: the released node.
        value: the metric of the released node.
        minimal: the lowest nodes that were asked about and satisfy.
        maximal: the highest that rule out all below them.
        boundary_is_complete: whether it follows of every node of the lattice whether it satisfies.
    """

    says: str
    metric: Annotated[str, Keywords(enum=list(METRICS))]
    aggregate: Literal["sum", "arithmetic_mean", "geometric_mean", "maximum"] | None
    weights: Sequence[float]
    columns: Sequence[str]
    heights: Sequence[Count]
    minimum: Sequence[Count]
    maximum: Sequence[Count]
    null_is_value: bool
    limit: Count
    best: Sequence[Count]
    value: float
    minimal: Sequence[Sequence[Count]]
    maximal: Sequence[Sequence[Count]]
    boundary_is_complete: bool


def prove(
    book: Book,
    ground: Ground,
    definitions: Sequence[Definition],
    node: Mapping[str, int],
    limit: int,
    *,
    boundary_of_all: bool = False,
) -> Optimality | NotCertified:
    """Ask about as many nodes as a proof needs, and write down the statements.

    Args:
        book: where they are written.
        ground: the tables of the session.
        definitions: the requirements, all of them.
        node: the released one.
        limit: rows that may be suppressed.
        boundary_of_all: ask until it follows of every node whether it satisfies, however many nodes that takes.

    Returns:
        What the verifier checks; or why it would be too much.
    """
    what = "that no other node is better"
    attributes = ground.attributes
    size = prod(attribute.highest - attribute.lowest + 1 for attribute in attributes)
    if size > MOST_NODES:
        why = f"the lattice has {size:,} nodes, and a proof is limited to {MOST_NODES:,}"
        return NotCertified(what, why)
    best = tuple(node[attribute.name] for attribute in attributes)
    metric = criterion(ground.spec)
    samarati = ground.spec.search.algorithm == "samarati"
    weights = [attribute.item.weight for attribute in attributes]
    heaviest = max(weights)
    aggregate = ground.spec.search.aggregate or METRICS[metric]
    label = "" if samarati or ground.spec.search.aggregate is None else f" ({aggregate})"
    lasting = [_lasts(item, limit, by_person=ground.by_person) for item in definitions]
    proof: dict[str, Any] = {
        "says": f"no node that satisfies the requirements has a lower {metric}{label}",
        "metric": metric,
        "aggregate": "sum" if samarati else aggregate,
        "weights": [1.0 if samarati or not heaviest else weight / heaviest for weight in weights],
        "columns": [attribute.name for attribute in attributes],
        "heights": [attribute.height for attribute in attributes],
        "minimum": [attribute.lowest for attribute in attributes],
        "maximum": [attribute.highest for attribute in attributes],
        "null_is_value": ground.spec.nulls == "value",
        "limit": limit,
        "best": list(best),
        "value": None,
        "minimal": [],
        "maximal": [],
        "boundary_is_complete": False,
    }  # fmt: skip
    rows_of = _bounds(book, ground)
    asking = _Asking(book, ground, definitions, lasting, proof, rows_of)
    asking.ask([best])
    if metric == "loss":
        asking.measure([best])
    answers = asking.answers()
    proof["value"] = answers.metric(best)
    enough = proof["value"] - SLACK * max(1.0, abs(proof["value"]))
    if not asking.exclude(_candidates(proof, answers, enough, best), enough):
        return NotCertified(what, f"the proof needs the results of more than {MOST_ASKED:,} of {size:,} nodes")
    if all(lasting):
        most = MOST_ASKED if boundary_of_all else MOST_OF_BOUNDARY if size <= SMALL else 0
        proof["boundary_is_complete"] = asking.complete(most, enough)
    answers = asking.answers()
    proof["minimal"], proof["maximal"] = boundary(
        [item for item in answers.nodes if answers.nodes[item][3] > answers.most], list(answers.satisfied)
    )
    return cast("Optimality", proof)


def boundary(infeasible: Sequence[Node], satisfied: Sequence[Node]) -> tuple[list[list[int]], list[list[int]]]:
    """Of some nodes the lowest that satisfy, and the highest that rule out all below."""
    minimal = [list(node) for node in satisfied if not any(_below(other, node) for other in satisfied)]
    maximal = [list(node) for node in infeasible if not any(_below(node, other) for other in infeasible)]
    return sorted(minimal), sorted(maximal)


def _below(lower: Node, upper: Node) -> bool:
    return lower != upper and all(one <= other for one, other in zip(lower, upper, strict=True))


def _lasts(item: Definition, limit: int, *, by_person: bool) -> bool:
    """Whether what satisfies it satisfies it at every generalization, also where other classes are suppressed."""
    if by_person:
        return item.kind == "size"
    return item.lasting or (item.lasts_unsuppressed and limit == 0)


def _candidates(proof: Mapping[str, Any], answers: Answers, enough: float, best: Node) -> set[Node]:
    """The nodes that no bound excludes."""
    levels = [range(low, high + 1) for low, high in zip(proof["minimum"], proof["maximum"], strict=True)]
    losses = product(*([answers.loss(place, level, 0) for level in own] for place, own in enumerate(levels)))
    found = zip(product(*levels), map(answers.together, losses), strict=True)
    return {node for node, bound in found if bound < enough and node != best}


def _bounds(book: Book, ground: Ground) -> dict[str, Any]:
    """The claims that bounds are made of: rows, values of the domains, and what all rows lose at each level."""
    compiler = book.workspace.compiler
    counts = next(claim for claim in book.claims if claim.id == "counts")
    domains = compiler.union(
        [
            compiler.statement(
                "verbs/certify/domain",
                index=attribute.index,
                name=attribute.name,
                listed=attribute.listed or 0,
                found=attribute.values,
            )
            for attribute in ground.attributes
        ]
    )
    names = ("column_number", "column_name", "listed_values", "domain_values", "null_values")
    subject = "the values of each quasi-identifier, and NULL"
    found = {"counts": counts.rows, "domains": book.claim("optimality", "domains", subject, domains, names).rows}
    branches = [
        compiler.filled(
            "verbs/certify/covered",
            {
                "index": str(attribute.index), "level": str(level),
                "size": compiler.quote(f"s{attribute.index}_{level}") if level else "1",
            },
            rows=ground.rows,
        )
        for attribute in ground.attributes
        for level in range(attribute.height)
    ]  # fmt: skip
    subject = "the values under the labels of each level, added up over all rows: what every bound is made of"
    if not branches:
        none = {"index": "-1", "level": "0", "size": "1"}
        branches = [compiler.filled("verbs/certify/covered", none, rows=ground.rows)]
    columns = ("column_number", "level", "covered", "largest")
    claim = book.claim("optimality", "covered", subject, compiler.union(branches), columns)
    return {**found, "covered": claim.rows}


class _Asking:
    """Which nodes were asked about, and what they answered."""

    def __init__(
        self, book: Book, ground: Ground, definitions: Sequence[Definition], lasting: Sequence[bool],
        proof: dict[str, Any], rows_of: dict[str, Any],
    ) -> None:  # fmt: skip
        self._book, self._ground, self._proof, self._rows_of = book, ground, proof, rows_of
        self._definitions, self._lasting = definitions, lasting
        domains = {number: values for number, _, _, values, _ in rows_of["domains"]}
        several = [one.index for one in ground.attributes if one.highest > one.lowest]
        self._widest = max(several, key=domains.__getitem__, default=0)
        self._tables = {-1: ground.rows}
        self.asked = 0

    def answers(self) -> Answers:
        """What is known so far."""
        return Answers(self._proof, self._rows_of)

    def ask(self, nodes: Sequence[Node]) -> None:
        """Ask about some nodes: a statement, and its claim."""
        self._book.workspace.report("evaluating nodes of the lattice", self.asked)
        self.asked += len(nodes)
        self._roll_up(nodes)
        self._claim("the classes of nodes of the lattice, and those that violate a requirement", nodes, sized=False)

    def _roll_up(self, nodes: Sequence[Node]) -> None:
        """Make tables with fewer rows for these nodes: the labelled vectors by the levels of one column and above.

        The column is the one with the most values. Where persons are counted there would be no fewer rows.
        """
        ground = self._ground
        if ground.by_person:
            return
        has_more = len(ground.looked_at) < len(ground.others)
        for level in sorted({node[self._widest] for node in nodes}):
            fewer = has_more or level > ground.attributes[self._widest].lowest
            asked = sum(node[self._widest] == level for node in nodes)
            if level in self._tables or not fewer or asked < ENOUGH:
                continue
            lowest = [level if one.index == self._widest else one.lowest for one in ground.attributes]
            labels = [
                f"l{one.index}_{place}" for one in ground.attributes for place in range(lowest[one.index], one.height)
            ]
            target = self._book.table(f"rows_{self._widest}_{level}")
            statement = self._book.workspace.compiler.statement(
                "verbs/certify/rolled", target=target, table=self._table(level),
                columns=[*labels, *ground.looked_at, "dropped"],
            )  # fmt: skip
            self._tables[level] = self._book.make(target, f"rows_{self._widest}_{level}", statement)

    def _table(self, level: int) -> Relation:
        """The table with the fewest rows that has the labels of a level of that column and above."""
        return self._tables[max(own for own in self._tables if own <= level)]

    def measure(self, nodes: Sequence[Node]) -> None:
        """Ask for what nodes lose, of which it was asked already whether they satisfy."""
        subject = "the classes of nodes of the lattice, and the values under the labels of their released rows"
        self._claim(subject, nodes, sized=True)

    def _claim(self, says: str, nodes: Sequence[Node], *, sized: bool) -> None:
        if not nodes:
            return
        statement = self._book.workspace.compiler.union([self._node(node, sized=sized) for node in nodes])
        kind = "losses_" if sized else "nodes_"
        name = f"{kind}{sum(own.startswith(kind) for own in self._rows_of)}"
        names = ["node", "classes", "kept_classes", "suppressed", "infeasible", "kept_squares", "squares"]
        names += [f"covered{place}" for place, _ in enumerate(self._ground.attributes)] if sized else []
        self._rows_of[name] = self._book.claim("optimality", name, says, statement, names).rows

    def _node(self, node: Node, *, sized: bool) -> Statement:
        """The statement of a node, compiled once for all nodes with this many keys and this many sizes."""
        ground, compiler = self._ground, self._book.workspace.compiler
        levels = list(zip(ground.attributes, node, strict=True))
        keys = [attribute.label(level) for attribute, level in levels if level < attribute.height] or [Sql("0")]
        sizes = [
            f"s{attribute.index}_{level}" for attribute, level in levels if 0 < level < attribute.height
        ] if sized else []  # fmt: skip
        shape = compiler.shape(
            "verbs/certify/node",
            (len(keys), len(sizes), sized),
            lambda: self._context(len(keys), len(sizes), all_sums=sized),
        )
        table = ground.rows if sized else self._table(node[self._widest])  # others lack the sizes of labels
        fills = {f"key{place}": _text(compiler, key) for place, key in enumerate(keys)}
        fills |= {f"size{place}": compiler.quote(name) for place, name in enumerate(sizes)}
        return compiler.fill(
            "verbs/certify/node",
            shape,
            {
                "number": compiler.dialect.literal(" ".join(map(str, node))),
                "table": compiler.dialect.relation(table.parts),
                **fills,
            },
        )

    def _context(self, keys: int, sizes: int, *, all_sums: bool) -> dict[str, Any]:
        """What the template is rendered with: slots for the columns of the labels and their sizes."""
        ground = self._ground
        labels, sized = [slot(f"key{place}") for place in range(keys)], [f"z{place}" for place in range(sizes)]
        carried = [{"name": name, "value": slot(f"size{place}")} for place, name in enumerate(sized)]
        table = Relation(slot="table")
        at = of_keys(ground, labels, None, carried, table=table)
        parts = [
            {"classes": classes_of(ground, item, of_keys(ground, labels, item, table=table)), "lasting": lasting}
            for item, lasting in zip(self._definitions, self._lasting, strict=True)
            if item.kind != "size"
        ]
        return {
            "keys": at.names, "sized": sized, "count": len(ground.attributes) if all_sums else 0,
            "parts": parts, "squared": self._proof["metric"] == "discernibility",
            "sizes": render("verbs/certify/sizes", keys=at.names, size=size_of(ground), sized=sized, base=at.base),
            "k": max([1, *(int(item.threshold) for item in self._definitions if item.kind == "size")]),
        }  # fmt: skip

    def exclude(self, open_nodes: set[Node], enough: float) -> bool:
        """Ask until every node is excluded; False where that takes too many answers."""
        counts_classes = self._proof["metric"] in COUNTED
        while open_nodes:
            if self.asked >= MOST_ASKED:
                return False
            asked = _middle(open_nodes) if counts_classes else _highest(open_nodes)
            self.ask(asked)
            self.measure_cheap(asked, enough)
            answers = self.answers()
            for node in asked:
                open_nodes.discard(node)
                violating = answers.nodes[node][3]
                open_nodes -= {
                    other for other in open_nodes if _below(other, node) and answers.bound(other, violating) >= enough
                }
                if counts_classes and answers.counted(0, *answers.nodes[node][::5]) >= enough:
                    open_nodes -= set(self._box(node, self._proof["maximum"]))
        return True

    def measure_cheap(self, nodes: Iterable[Node], enough: float) -> None:
        """Ask for what those lose that satisfy, and may lose less than the best by how many rows they suppress."""
        answers = self.answers()
        if self._proof["metric"] == "loss":
            self.measure([node for node in nodes if node in answers.satisfied and answers.metric(node) < enough])

    def complete(self, most: int, enough: float) -> bool:
        """Ask until it follows of every node whether it satisfies; False where it takes more answers than this."""
        if not most:
            return False
        undecided = set(self._box(self._proof["minimum"], self._proof["maximum"]))
        before = self.asked
        fresh: Iterable[Node] = list(self.answers().nodes)
        while True:
            answers = self.answers()
            for node in fresh:
                if answers.nodes[node][3] > answers.most:
                    undecided -= set(self._box(self._proof["minimum"], node))
                else:
                    undecided -= set(self._box(node, self._proof["maximum"]))
            if not undecided:
                return True
            if self.asked - before >= most:
                return False
            fresh = _middle(undecided)
            self.ask(fresh)
            self.measure_cheap(fresh, enough)

    @staticmethod
    def _box(low: Sequence[int], high: Sequence[int]) -> Iterable[Node]:
        """All nodes between two."""
        return product(*(range(least, most + 1) for least, most in zip(low, high, strict=True)))


def _text(compiler: Compiler, key: Sql) -> str:
    """A column of ours, or a number, in the engine's dialect."""
    return key if key.isdigit() else compiler.quote(key.strip('"'))


def _highest(nodes: set[Node]) -> list[Node]:
    """Those that no other of them is directly above, at most a statement's."""

    def has_successor(node: Node) -> bool:
        return any((*node[:place], level + 1, *node[place + 1 :]) in nodes for place, level in enumerate(node))

    highest = [node for node in nodes if not has_successor(node)]
    return sorted(highest, key=lambda node: (-sum(node), node))[:A_STATEMENT]


def _middle(nodes: set[Node]) -> list[Node]:
    """Some of the height in the middle, spread over its nodes."""
    listed = sorted(nodes, key=lambda node: (sum(node), node))
    height = sum(listed[len(listed) // 2])
    level = [node for node in listed if sum(node) == height]
    step = max(1, -(-len(level) // A_STATEMENT))
    return level[::step]


METRICS: Mapping[str, str | None] = {**HOW, **dict.fromkeys(COUNTED)}
"""The metrics that are written down again here, with how they aggregate columns."""


def why_unproven(
    spec: Spec, manifest: Mapping[str, Any], definitions: Sequence[Definition], left: Sequence[NotCertified]
) -> str | None:
    """Why nothing is proven of how good the release is, in words; None where that is tried."""
    search = manifest.get("search")
    if not spec.recoding.is_full_domain:
        method = (manifest.get("recoding") or {}).get("method", spec.recoding.method)
        return (
            f"the recoding {method} chooses labels by class or value and has no bound on its loss; plan --show bound "
            "computes one for hierarchy labels"
        )
    if manifest.get("intervals") is not None or spec.search.of_intervals:
        return "the search chose among partitions of the values, so there is no lattice of levels to prove over"
    if search is None or not search.get("proven"):
        return f"the search {spec.search.algorithm} does not claim that its node is the best"
    if left:
        return f"whether a node satisfies {left[0].what} is not certified, so neither is which nodes do"
    unfit = [item for item in definitions if not item.by_all or item.kind == "risk" or item.reference == "release"]
    if unfit:
        return f"{unfit[0].label} is not decided by each class of all quasi-identifiers alone"
    metric = criterion(spec)
    if metric not in METRICS or spec.search.aggregate == "rank":
        return f"the metric {spec.search.metric_label} is not supported in certificates"
    if metric != "height" and (spec.search.gs_factor != 0.5 or spec.search.monotone):
        return f"the metric {spec.search.metric_label} weighs suppression in a way that certificates do not support"
    if spec.ledger is not None:
        return (
            "with a ledger, the best node that is safe together with earlier releases is released, which need not be "
            "the best of all"
        )
    return None


def criterion(spec: Spec) -> str:
    """What the search optimizes: Samarati's the height of the node alone, before its preference."""
    return "height" if spec.search.algorithm == "samarati" else spec.search.metric
