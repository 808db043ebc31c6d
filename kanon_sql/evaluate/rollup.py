"""Which frequency set to answer a node from, and when rolling up a smaller one pays.

The frequency set of a node answers every generalization of it (the rollup property,
LeFevre, DeWitt, Ramakrishnan 2005, section 3.1). Building one costs several node queries,
so it is built once the nodes asked lately, those about to be answered among them, would save
more than that: the rent-or-buy rule, which never costs more than about twice the best choice in
hindsight. How large a set would be is estimated from the classes that answered nodes have: a
node has as many classes as its frequency set has rows. A strategy may also ask for sets itself;
those are neither weighed nor limited here. Only sizes and nodes are known here; the
tables are :mod:`kanon_sql.evaluate.rollup_sets`'s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log

from kanon_sql.search import Additive, Node, generalizes
from kanon_sql.sql import Relation

__all__ = ["Covering", "Coverings"]

BUILD_COST = 6
"""Building a rolled-up set costs about as much as this many node queries on the set below it."""

SMALL = 4_000
"""A set of so few rows answers a node in about the time that a statement's overhead takes."""

REMEMBERED = 96
"""How many of the latest nodes answered from a set speak for the ones to come."""

MOST = 24
"""How many frequency sets may exist at a time, besides those that a strategy asked for."""


@dataclass(eq=False)
class Covering:
    """The frequency sets at one node.

    Attributes:
        node: they cover every generalization of this node.
        base: the set over the quasi-identifiers alone.
        values: per sensitive attribute, its set.
        rows: rows of all of them together.
        reads: how many branches of statements have read them.
    """

    node: Node
    base: Relation
    values: Mapping[str, Relation]
    rows: int
    asked: deque[Node] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    reads: int = 0


class Coverings:
    """All frequency sets of a run.

    Args:
        first: the sets that cover every node.
        labels: per quasi-identifier and level, how many generalized values occur.
        set_rows: making a set costs this many vectors besides those that it is made of.

    Attributes:
        first: the sets that cover every node.
    """

    def __init__(self, first: Covering, labels: Sequence[Sequence[int]], set_rows: int = 0) -> None:
        self.first = first
        self._set_rows = set_rows
        self._all = [first]
        self._prepared: dict[Node, Covering] = {}
        self._by_rows = [first]
        self._found: dict[Node, Covering] = {}
        self._heights = [len(own) - 1 for own in labels]
        self._refused: set[Node] = set()
        self._sizes = Additive([[log(max(1, count)) for count in own] for own in labels], 0.5, 0.0)
        self.answered(first.node, first.rows)

    def best(self, node: Node) -> Covering:
        """The smallest sets that cover a node."""
        if node not in self._found:
            self._found[node] = next(item for item in self._by_rows if generalizes(node, item.node))
        return self._found[node]

    def together(self, nodes: Mapping[int, Node], most: int, branch_rows: int) -> dict[Covering, dict[int, Node]]:
        """Which sets to answer some nodes from: the smallest of each, unless hardly any other node shares it.

        Args:
            nodes: a number for each -> the node.
            most: the most rows of sets that answer several nodes in one GROUP BY.
            branch_rows: a branch of a statement costs about as much as joining a node to this many rows.
        """
        groups: dict[Covering, dict[int, Node]] = {}
        for number, node in nodes.items():
            groups.setdefault(self.best(node), {})[number] = node
        shared = [covering for covering in self._by_rows if covering in groups and covering.rows <= most]
        for covering in sorted(shared, key=lambda own: len(groups[own])):
            others = [other for other in shared if other is not covering and other in groups]
            moved = {
                number: next((other for other in others if generalizes(node, other.node)), None)
                for number, node in groups[covering].items()
            }
            if all(moved.values()) and (
                sum(other.rows - covering.rows for other in moved.values() if other is not None) < branch_rows
            ):
                for number, node in groups.pop(covering).items():
                    other = moved[number]
                    assert other is not None
                    groups[other][number] = node
        return groups

    def has(self, node: Node) -> bool:
        """Whether there are sets at this very node."""
        return node in self._prepared or any(item.node == node for item in self._all)

    def prepare(self, covering: Covering) -> None:
        """Take sets into use that a strategy asked for; they stay until they are withdrawn."""
        self._prepared[covering.node] = covering
        self._sort()

    def withdraw(self, wanted: Sequence[Node]) -> list[Covering]:
        """The prepared sets at other nodes than these; they are not used any more."""
        unwanted = [self._prepared[node] for node in self._prepared.keys() - set(wanted)]
        for covering in unwanted:
            del self._prepared[covering.node]
        self._sort()
        return unwanted

    def asked(self, nodes: Sequence[Node]) -> None:
        """Remember which sets the nodes would be answered from."""
        for node in nodes:
            self.best(node).asked.append(node)

    def answered(self, node: Node, classes: int) -> None:
        """Learn how many classes a node has."""
        self._sizes.learn(node, log(max(1, classes)))

    def proposal(self) -> tuple[Covering, Node] | None:
        """A set to roll up from and the node to roll it up to, if that pays by now."""
        if len(self._all) >= MOST:
            return None
        self._sizes.fit()
        for covering in self._all:
            if covering.rows <= SMALL or len(covering.asked) <= BUILD_COST:
                continue
            node, saved = self._best_rollup(covering)
            if saved > BUILD_COST * covering.rows + self._set_rows and node not in self._refused:
                return covering, node
        return None

    def add(self, covering: Covering, below: Covering) -> bool:
        """Take a rolled-up set into use; False when it turned out hardly smaller."""
        if covering.rows > 0.7 * below.rows:
            self._refused.add(covering.node)
            below.asked.clear()
            return False
        self._all.append(covering)
        self._sort()
        moved = [node for node in below.asked if generalizes(node, covering.node)]
        kept = [node for node in below.asked if not generalizes(node, covering.node)]
        below.asked.clear()
        below.asked.extend(kept)
        covering.asked.extend(moved)
        return True

    def _sort(self) -> None:
        self._found.clear()
        self._by_rows = sorted((*self._all, *self._prepared.values()), key=lambda covering: covering.rows)

    def _best_rollup(self, covering: Covering) -> tuple[Node, float]:
        """Climb from the set's node while the rows saved over the remembered nodes grow."""
        node, saved = covering.node, 0.0
        nodes = list(covering.asked)
        here = self._sizes.expected(node)
        while True:
            steps = []
            for index, level in enumerate(node):
                if level == self._heights[index]:
                    continue
                higher = (*node[:index], level + 1, *node[index + 1 :])
                covered = [other for other in nodes if other[index] > level]
                # Relative to the set itself, whose size is known.
                size = covering.rows * min(1.0, exp(self._sizes.expected(higher) - here))
                steps.append((len(covered) * (covering.rows - size), -index, higher, covered))
            best = max(steps, default=None, key=lambda step: step[:2])
            if best is None or best[0] <= saved:
                return node, saved
            saved, _, node, nodes = best
