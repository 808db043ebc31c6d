"""Sweeps over nodes of the lattice: every vector claims the class in which it loses least, node batch by node batch.

A class of a node costs each of its rows the same. In a step every open vector claims, among the classes of a batch of
nodes that satisfy with all vectors still open, the one that costs least; a class whose claimants satisfy by themselves
is closed. Steps go on until one closes little; then the next batch of nodes, dearer on average, has its turn.

Which nodes: those whose levels the classes of other recodings have, and their neighbours, those first by which most is
lost, or, of many vectors, which are swept once alone, the most used. What is left over at the end stays one partition;
it and all classes are then divided from the top down.

Half of all that is lost is lost by few rows, in classes that had to take what was left. A sweep of the dear classes
opens them alone, and has nodes enough for them that were learned from nothing else. It follows every recoding of few
vectors, whether that was a sweep itself or cuts from the top down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.recode.partitions import Partitions
from kanon_sql.recode.release import Mapped
from kanon_sql.search import Node
from kanon_sql.sql import Relation, Sql, render

__all__ = [
    "AFTER_A_SWEEP",
    "AFTER_CUTS",
    "BATCH",
    "NODES",
    "STATEMENTS_A_BATCH",
    "STATEMENTS_A_STEP",
    "STEPS_A_BATCH",
    "Again",
    "Prices",
    "learned",
    "nodes_table",
    "prices_of",
    "sweep",
    "sweep_again",
    "sweeps_dear_classes",
    "worth_a_second",
]

NODES = 384
"""The most nodes that are swept."""

LEARNED = 192
"""The most that are learned of other recodings: twice as many gain nothing once dear classes are swept again."""

PAIRS = 36_000_000
"""A vector is compared with as many nodes as make this many pairs of both: of 254,633 vectors with 141 nodes."""

FEWEST_NODES = 96
"""This many are worth it, whatever the number of vectors: what they lose is within a twentieth of what 384 do."""

BATCH = 48
"""How many nodes vectors choose among in one step, unless a caller takes more."""

LITTLE = 20
"""A step that closes less than one of N open vectors is the last of its batch: more gain less than they cost."""

STEPS_A_BATCH = 16
"""No batch takes more steps: what it would still close, the next ones may."""

STATEMENTS_A_STEP, STATEMENTS_A_BATCH = 3, 4
"""No step takes more statements, whatever the table, its columns or the requirements are; nor a batch besides."""

NUMBERS = 2**16
"""More than there are nodes: a price and the number of its node are one number."""


@dataclass(frozen=True)
class Again:
    """How the dear classes of a recoding are swept.

    Attributes:
        halves: the rows of a dear class lose more than this many halves of what rows lose on average.
        nodes: the most that are learned of them.
        batch: how many of them vectors choose among in one step.
    """

    halves: int
    nodes: int
    batch: int


AFTER_A_SWEEP = Again(1, 768, 128)
"""Those of a sweep are searched for new classes after that, which gains most where many nodes were swept."""

AFTER_CUTS = Again(1, 192, 64)
"""Those of cuts have most. Of 512 nodes, 128 in a step, they would lose a hundredth less in half as long again."""


@dataclass(frozen=True)
class Prices:
    """What labels cost.

    Attributes:
        table: per vector, column and level.
        means: per quasi-identifier and level, what that level costs all rows together.
    """

    table: Relation
    means: Mapping[int, Mapping[int, int]]

    def of(self, node: Node) -> int:
        """What a node costs all rows together, if none is suppressed."""
        return sum(own[node[index]] for index, own in self.means.items())


def prices_of(state: Partitions) -> Prices:
    """What the labels of every vector cost, written down.

    Args:
        state: partitions whose columns have the levels to price.
    """
    paths = state.paths
    tables = {f"lookup{lookup.index}": lookup.table for lookup in state.sets.lookups}
    priced, rows = tuple(path for path in paths if path.low < path.height), state.sets.kept_rows
    table = state.make("prices", "prices", {"vectors": state.vectors, **tables}, attributes=priced)
    figures = iter(state.row("mean_prices", {"prices": table}, attributes=priced))
    means = {path.index: {level: next(figures) for level in path.levels} for path in priced}
    tops = {path.index: {path.height: path.share * (path.domain_rows - 1) * rows} for path in paths}
    return Prices(table, tops | means)


def sweeps_dear_classes(vectors: int) -> bool:
    """Whether vectors are few enough for dear classes to be swept, which a limit or coins may still prevent."""
    return vectors * NODES <= PAIRS


def most_nodes(vectors: int) -> int:
    """How many learned nodes are swept, of this many vectors."""
    return LEARNED if sweeps_dear_classes(vectors) else max(FEWEST_NODES, PAIRS // vectors)


def learned(
    state: Partitions, made: Iterable[Mapped], prices: Prices, most: int | None = None, dear: int | None = None
) -> list[Node]:
    """The nodes to sweep, the cheapest first: those of the classes of some recodings, and their neighbours.

    Args:
        state: the partitions that the sweep will begin with; no node is above their highest levels.
        made: the recodings.
        prices: what levels cost.
        most: how many; None for as many as are worth it.
        dear: learn only from classes whose rows lose more than this; None for all.
    """
    most = most_nodes(state.count) if most is None else most
    lost: Counter[Node] = Counter()
    for mapped in made:
        statement = state.workspace.compiler.filled(
            "recode/learned",
            {"classes": state.workspace.quoted(mapped.classes), "dear": str(dear)},
            attributes=tuple(mapped.paths),
            ranged=tuple(mapped.ranges),
            most=most,
            dear=dear is not None,
            by_lost=sweeps_dear_classes(state.count),
        )
        for *levels, amount in state.workspace.query(statement, most):
            lost[tuple(map(int, levels))] += int(amount)
    near: Counter[Node] = Counter()
    for node, amount in lost.items():
        for path in state.cuttable:
            for level in (node[path.index] - 1, node[path.index] + 1):
                if path.low <= level <= path.high:
                    near[(*node[: path.index], level, *node[path.index + 1 :])] += amount
    others = 2 * max(1, len(state.cuttable))
    worth = {node: others * lost[node] + near[node] for node in lost.keys() | near.keys()}
    best = sorted(worth, key=lambda node: (-worth[node], node))[:most]
    return sorted(best, key=lambda node: (prices.of(node), node))


def sweep(state: Partitions, nodes: Sequence[Node], prices: Prices, batch: int = BATCH) -> int:
    """Close what nodes have classes for, and open all partitions again, so that they can be divided.

    Args:
        state: partitions that were begun.
        nodes: the cheapest first.
        prices: what levels cost.
        batch: how many nodes vectors choose among in one step.

    Returns:
        How many steps it took.
    """
    opened, state.open = state.open, state.make("unswept", "unswept", {"open": state.open})
    state.workspace.drop(opened)
    state.last += state.count
    return _Sweep(state, prices, nodes_table(state, [(node, node) for node in nodes]), batch).run(len(nodes))


def worth_a_second(state: Partitions) -> bool:
    """Whether dear classes are swept: no coins decide, and vectors are few enough for all the nodes."""
    return state.steps is not None and state.key is None and sweeps_dear_classes(state.count)


def sweep_again(state: Partitions, mapped: Mapped, how: Again, prices: Prices) -> int | None:
    """Sweep the dear classes of a recoding, by nodes that are learned from them, and leave its other classes closed.

    Args:
        state: the partitions of the recoding, in a room of their own; it ends with all partitions open again.
        mapped: the classes.
        how: which of them are dear, and how many nodes there are for them.
        prices: what levels cost.

    Returns:
        How many steps it took; None where no class is dear.
    """
    dear = how.halves * mapped.lost // (2 * mapped.rows)
    nodes = learned(state, [mapped], prices, how.nodes, dear)
    if not nodes:
        return None
    state.open = state.make(
        "reopened", "reopened", {"classed": mapped.classed, "classes": mapped.classes, "vectors": state.vectors},
        {"dear": str(dear), "first": str(state.last)},
        words=state.names, by_person=state.judge.by_person, attributes=tuple(mapped.paths), numbers=NUMBERS,
    )  # fmt: skip
    state.last *= 2
    table = nodes_table(state, [(node, node) for node in nodes])
    return _Sweep(state, prices, table, how.batch).run(len(nodes))


def nodes_table(state: Partitions, nodes: Sequence[tuple[Node, Node]], what: str = "nodes") -> Relation:
    """Nodes as a table: the levels that are paid for, and those by which classes are made."""
    words = range(len(state.words))
    columns = ["number", *(f"mask{word}" for word in words), *(f"level{path.index}" for path in state.paths)]
    rows = [[number, *state.sets.codes.masks(made), *paid] for number, (paid, made) in enumerate(nodes)]
    numbers = state.workspace.dialect.numbers("numbers", columns, rows)
    return state.make("nodes", what, {}, {"numbers": numbers}, columns=tuple(columns))


@dataclass
class _Sweep:
    """The steps of a sweep."""

    state: Partitions
    prices: Prices
    nodes: Relation
    batch: int
    steps: int = 0

    def run(self, count: int) -> int:
        """Go through all batches, and house what is left."""
        state = self.state
        (left,) = state.row("live_count", {"open": state.open})
        for start in range(0, count, self.batch):
            left = self._swept(start, left) if left else 0
            state.workspace.report(f"recoding locally: {min(count, start + self.batch)} of {count} nodes swept", None)
        state.last += state.count  # the numbers of the classes that were closed
        leftovers = state.judge.judged("leftovers", render("recode/unclaimed"), ["part"], {"open": state.open})
        tables = {"vectors": state.vectors, "leftovers": leftovers, "prices": self.prices.table}
        homed = state.make(
            "homed", "homed", {"open": state.open, **tables},
            words=state.names, by_person=state.judge.by_person, attributes=state.cuttable, numbers=NUMBERS,
        )  # fmt: skip
        state.workspace.drop(state.open)
        state.open = homed
        return self.steps

    def _swept(self, start: int, left: int) -> int:
        """The steps of a batch; returns how many of the open vectors are still open."""
        state, closed = self.state, 0
        pairs = self._pairs(start)
        for step in range(STEPS_A_BATCH):
            claimed = self._claimed(pairs, step)
            state.workspace.drop(pairs)
            pairs, before = claimed, closed
            (closed,) = state.row("closed_count", {"pairs": pairs})
            if closed == left or (closed - before) * LITTLE <= left - before:
                break
        swept = state.make(
            "swept", f"swept{start}", {"open": state.open, "pairs": pairs}, {"first": str(state.last)},
            words=state.names, by_person=state.judge.by_person,
        )  # fmt: skip
        for used in (pairs, state.open):
            state.workspace.drop(used)
        state.open = swept
        return left - closed

    def _pairs(self, start: int) -> Relation:
        """The open vectors and the classes of a batch that they may claim."""
        state, judge = self.state, self.state.judge
        keys = ("node", *(f"key{word}" for word in range(len(state.words))))
        cells = render("recode/at_nodes", words=state.codes, by_person=judge.by_person, batch=True, shared=False)
        priced = render(
            "recode/priced", keys=keys, attributes=state.cuttable, numbers=NUMBERS, most=False,
            every=not judge.joins_safely,  # else what violates now does so with fewer vectors as well
            flagged=judge.flagged(cells, keys, "vector"),
        )  # fmt: skip
        tables = {"open": state.open, "nodes": self.nodes, "prices": self.prices.table, **judge.tables}
        return state.make(
            "claimable_pairs", "pairs", tables,
            {"first_node": str(start), "end_node": str(start + self.batch)},
            cells=cells, priced=priced, keys=keys, numbers=NUMBERS, by_person=judge.by_person,
        )  # fmt: skip

    def _claimed(self, pairs: Relation, step: int) -> Relation:
        """What a step leaves of them; two names take turns, so that texts come again."""
        judge, key = self.state.judge, ["class_number"]
        standing = judge.flagged(render("recode/unclosed_pairs"), key)
        self.steps += 1
        return self.state.make(
            "claimed", f"claimed{step % 2}", {"pairs": pairs, **judge.tables},
            standing=standing, held=judge.flagged(Sql("claims"), key, "vector"), by_person=judge.by_person,
        )  # fmt: skip
