"""One level for each column of all tables, persons left out: the best node, proven.

At a node, persons whose class is too small, or who have a combination of items that too few of their class share, are
left out with all of their rows. That may make combinations of others rare, so it is asked again until none goes. The
set that stays is the largest that satisfies, and unique: the union of sets that satisfy does.

A node may satisfy although a more general one does not: where two labels become one, a person may have it three times
who shared either of them, twice at most, with others. So only a weaker condition prunes: that labels occur, and not how
often. Persons who share that share it of the labels above, so that where even this fails, it fails at all nodes below,
and so does what is asked for; and where it holds, it holds at all nodes above.

Nodes are asked in batches. The persons of each node are numbered apart, so that the statements about one node answer
for all of a batch. One known item is asked about first: a node that fails by it is not asked about two.

For sensitive values persons are left out who need not be: fewer might do, and the node that is found is then the first
one that satisfies in this way, which is not proven to be the best. Distinct values of a class are an exception, since
all persons of a class without enough of them have to go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kanon_sql.engines import Workspace
from kanon_sql.relations.classes import nodes_by_loss, person_vectors, small_classes
from kanon_sql.relations.members import LabelledColumn, Member
from kanon_sql.relations.sensitive import Sensitive
from kanon_sql.spec import PERSON, RelationalSpec
from kanon_sql.sql import Relation

__all__ = ["BestNode", "best_node", "staying_at"]

Node = tuple[int, ...]
"""A level for each column of all tables, those of persons first."""

FIRST_NODES = 4
"""Nodes of the first batch; each has twice as many as the one before, since one of the first nodes may be the best."""

MOST_NODES = 64
"""Nodes that are asked about together at most."""

MOST_ROWS = 4_000_000
"""Rows that a scratch table about several nodes has at most, by a rough count."""


@dataclass(frozen=True)
class BestNode:
    """What the search found.

    Attributes:
        nodes: table -> the level of each of its columns; None where no node satisfies.
        persons: the persons who stay, with their classes; a scratch table. None where no node satisfies.
        left_out: how many persons are left out; at the top where no node satisfies.
        asked: how many nodes were evaluated.
    """

    nodes: Mapping[str, Sequence[int]] | None
    persons: Relation | None
    left_out: int
    asked: int


@dataclass(frozen=True)
class _Staying:
    """The persons who stay at a node.

    Attributes:
        classes: the scratch table that they are in, with those of other nodes.
        left_out: how many do not stay.
    """

    classes: Relation
    left_out: int


@dataclass
class _Search:
    """The search under way.

    Attributes:
        workspace: where.
        spec: what is asked for.
        members: the tables, each after its parent.
        sensitive: the sensitive values of persons.
        failing: nodes that were found to fail; all below them do.
        possible: nodes at which the weaker condition holds; at all above them it does.
        asked: how many nodes were evaluated.
    """

    workspace: Workspace
    spec: RelationalSpec
    members: Mapping[str, Member]
    sensitive: Sensitive
    failing: list[Node] = field(default_factory=list)
    possible: list[Node] = field(default_factory=list)
    asked: int = 0
    _tables: int = 0

    @property
    def columns(self) -> list[LabelledColumn]:
        """Those of all tables."""
        return [column for member in self.members.values() for column in member.columns]

    @property
    def events(self) -> list[Member]:
        """The tables below that of persons, each after its parent."""
        return [member for name, member in self.members.items() if name != PERSON]

    @property
    def top(self) -> Node:
        """The highest levels."""
        return tuple(column.highest for column in self.columns)

    @property
    def most(self) -> int:
        """The most persons that may be left out."""
        return self.spec.suppression.most_persons(self.members[PERSON].count)

    @property
    def most_nodes(self) -> int:
        """How many nodes are asked about together."""
        persons = self.members[PERSON].count
        items = sum(member.count for member in self.events)
        combinations = items
        for _ in range(1, self._widest):
            combinations *= max(1, items // max(1, persons))
        return max(1, min(MOST_NODES, MOST_ROWS // max(1, persons + combinations)))

    def best(self) -> BestNode:
        """The node that loses least of those that satisfy; of equals the first in the order of their levels."""
        self._note_small_classes()
        waiting = iter(nodes_by_loss(self.columns))
        size = FIRST_NODES
        while batch := self._next(waiting, min(size, self.most_nodes)):
            found = self._best_of(batch)
            if found is not None:
                return found
            size *= 2
        return BestNode(None, None, self.members[PERSON].count, self.asked)

    def _next(self, waiting: Iterator[Node], size: int) -> list[Node]:
        """The next nodes that are not known to fail."""
        batch: list[Node] = []
        while len(batch) < size and (node := next(waiting, None)) is not None:
            if not self._fails(node):
                batch.append(node)
        return batch

    def _best_of(self, batch: Sequence[Node]) -> BestNode | None:
        """The first node of a batch that satisfies; None where none does."""
        self._ask_whether_possible([projected for node in batch for projected in self._projections(node)])
        self._ask_whether_possible([node for node in batch if not self._fails(node)])
        nodes = [node for node in batch if not self._fails(node)]
        size = 1 if self._chooses else max(1, len(nodes))
        for start in range(0, len(nodes), size):
            together = nodes[start : start + size]
            with self.workspace.passing():
                staying = self._staying(together, once=False)
                if staying:
                    first = min(staying)
                    persons = self._made(
                        "relations/persons_at_node",
                        coded=self.members[PERSON].coded,
                        classes=staying[first].classes,
                        nodes=len(together),
                        node=first,
                    )
                    self.workspace.keep(persons)
                    return BestNode(self._parts(together[first]), persons, staying[first].left_out, self.asked)
        return None

    def persons_at(self, node: Node) -> Relation:
        """The persons who stay at one node, however many do not."""
        staying = self._staying([node], once=False)[0]
        coded = self.members[PERSON].coded
        return self._made("relations/persons_at_node", coded=coded, classes=staying.classes, nodes=1, node=0)

    # --- What is known of nodes without asking ---

    def _fails(self, node: Sequence[int]) -> bool:
        return any(all(low <= high for low, high in zip(node, bad, strict=True)) for bad in self.failing)

    def _is_possible(self, node: Sequence[int]) -> bool:
        return any(all(high >= low for high, low in zip(node, good, strict=True)) for good in self.possible)

    def _note_small_classes(self) -> None:
        """Nodes of persons alone that leave too many of them in small classes: one statement for many."""
        person = self.members[PERSON]
        nodes = nodes_by_loss(person.columns)
        vectors = person_vectors(self.workspace, person)
        small = small_classes(self.workspace, person, vectors, nodes, self.spec.k)
        rest = self.top[len(person.columns) :]
        for node, persons in zip(nodes, small, strict=True):
            if persons > self.most and not self._fails((*node, *rest)):
                self._note((*node, *rest))

    def _note(self, node: Node) -> None:
        self.failing = [bad for bad in self.failing if not all(a <= b for a, b in zip(bad, node, strict=True))]
        self.failing.append(node)

    def _projections(self, node: Node) -> Iterator[Node]:
        """The node with the levels of persons and of one table, all others at their top: it prunes more nodes."""
        if sum(bool(member.columns) for member in self.events) < 2:
            return
        persons = len(self.members[PERSON].columns)
        start = persons
        for member in self.events:
            end = start + len(member.columns)
            if member.columns:
                others = (node[at] if start <= at < end else self.top[at] for at in range(persons, len(node)))
                yield (*node[:persons], *others)
            start = end

    def _ask_whether_possible(self, nodes: Sequence[Node]) -> None:
        """Ask whether labels that occur are shared, however often; if not, no node below satisfies.

        The highest nodes are asked first, since where one fails, those below it need not be asked.
        """
        waiting = sorted(dict.fromkeys(nodes), key=lambda node: (-sum(node), node))
        while waiting := [node for node in waiting if not self._fails(node) and not self._is_possible(node)]:
            together, waiting = waiting[: self.most_nodes], waiting[self.most_nodes :]
            with self.workspace.passing():
                staying = self._staying(together, once=True)
            for number, node in enumerate(together):
                if number in staying:
                    self.possible.append(node)
                elif not self._fails(node):
                    self._note(node)

    # --- Ask about several nodes together ---

    def _staying(self, nodes: Sequence[Node], *, once: bool) -> dict[int, _Staying]:
        """The persons who stay, by the node's place, without the nodes at which too many do not.

        Args:
            nodes: the nodes.
            once: ask whether labels occur, and not how often.
        """
        self.asked += len(nodes)
        self.workspace.report(f"searching levels: {self.asked:,} nodes asked", None)
        classes = self._classes(nodes)
        counts = self._counts(classes, nodes)
        left_out = {number: self.members[PERSON].count - counts.get(number, 0) for number in range(len(nodes))}
        live = {number for number, count in left_out.items() if count <= self.most}
        items = self._items(nodes, classes, once=once) if live else None
        while live:
            gone: dict[int, int] = {}
            for rare in self._rare(classes, items, once=once):
                gone = {number: count for number, count in self._counts(rare, nodes).items() if number in live}
                if gone:
                    break
            if not gone:
                return {number: _Staying(classes, left_out[number]) for number in live}
            left_out |= {number: left_out[number] + count for number, count in gone.items()}
            live = {number for number in live if left_out[number] <= self.most}
            if live:
                classes = self._made(
                    "relations/staying_at_nodes", classes=classes, rare=rare, nodes=len(nodes), live=sorted(live)
                )
                items = None if items is None else self._made("relations/items_of", items=items, classes=classes)
        return {}

    def _rare(self, classes: Relation, items: Relation | None, *, once: bool) -> Iterator[Relation]:
        """Persons who cannot stay, requirement by requirement."""
        # With persons who go, classes become small; most of those who are left have rare items then, too.
        late = items is not None and not self._chooses
        if not late:
            yield self._small_classes(classes)
        if not once:
            yield from self.sensitive.rare_persons(classes)
        if items is None:
            return
        holders = self.sensitive.holders() if self.spec.coherence and not once else None
        for m in range(1, max(self._widest, self._coherent) + 1):
            if m <= self._widest:
                yield self._made("relations/rare_persons", items=items, m=m, k=self._k(m))
            if m == 1 and late:
                yield self._small_classes(classes)
            yield from self.sensitive.incoherent_persons(classes, items, m, holders)
        if not once and any(item.m == "all" for item in self.spec.km):
            yield self._whole_sets(classes, items)

    def _small_classes(self, classes: Relation) -> Relation:
        return self._made("relations/rare_persons_of_class", classes=classes, k=self._k(0))

    @property
    def _chooses(self) -> bool:
        """Whether who is left out depends on how persons are numbered, and on what is asked first."""
        return bool(self.spec.coherence or self.spec.of_classes)

    @property
    def _widest(self) -> int:
        """The most known items of a requirement on how many persons share them."""
        return max((item.m for item in self.spec.km if item.m != "all"), default=1)

    @property
    def _coherent(self) -> int:
        """The most known items of a requirement on sensitive values."""
        return max((item.m or 0 for item in self.spec.coherence), default=0)

    def _k(self, m: int) -> int:
        """The largest k of the requirements about combinations of this many items."""
        return max((item.k for item in self.spec.km if item.m == "all" or item.m >= m), default=1)

    def _counts(self, persons: Relation, nodes: Sequence[Node]) -> dict[int, int]:
        """How many persons of each node there are, by the node's place; nothing of those without any."""
        rows = self.workspace.fetch("relations/persons_by_node", len(nodes), persons=persons, nodes=len(nodes))
        return {int(number): int(count) for number, count in rows}

    def _classes(self, nodes: Sequence[Node]) -> Relation:
        """Persons in classes of at least k, at each node."""
        person = self.members[PERSON]
        return self._made(
            "relations/classes_at_nodes",
            coded=person.coded,
            nodes=len(nodes),
            packs=person.packs,
            levels=self._levels(nodes, person),
            row_counts=person.row_counts,
            k=self.spec.k,
        )

    def _items(self, nodes: Sequence[Node], classes: Relation, *, once: bool) -> Relation | None:
        """All items of the persons of some classes."""
        if not self.events or not (self._coherent or any(item.m != 0 for item in self.spec.km)):
            return None
        labelled = dict[str, Relation]()
        for member in self.events:
            assert member.parent is not None
            labelled[member.name] = self._made(
                "relations/rows_at_nodes",
                coded=member.coded,
                classes=classes,
                parent=labelled[member.parent.name] if member.inherited else None,
                nodes=len(nodes),
                packs=member.packs,
                levels=self._levels(nodes, member),
            )
        return self._made(
            "relations/items_at_nodes",
            once=once,
            tables=[
                {
                    "rows": labelled[member.name],
                    "packs": len(member.packs),
                    "times": member.room_for_repeats(len(self.events)),
                }
                for member in self.events
            ],
        )

    def _levels(self, nodes: Sequence[Node], member: Member) -> dict[int, list[tuple[int, list[int]]]]:
        """For each column of a table, by its number, the levels that it has at some nodes, with the places of these."""
        found = {}
        for number, column in enumerate(member.columns):
            levels = [self._parts(node)[member.name][number] for node in nodes]
            found[column.number] = [
                (level, [place for place, other in enumerate(levels) if other == level])
                for level in column.levels
                if level in levels
            ]
        return found

    def _parts(self, node: Node) -> dict[str, Sequence[int]]:
        """Table -> its part of a node."""
        found, start = dict[str, Sequence[int]](), 0
        for name, member in self.members.items():
            found[name] = node[start : start + len(member.columns)]
            start += len(member.columns)
        return found

    def _whole_sets(self, classes: Relation, items: Relation) -> Relation:
        k = max(item.k for item in self.spec.km if item.m == "all")
        sums = self._made("relations/set_sums", persons=classes, items=items)
        firsts = self._made("relations/set_firsts", sums=sums)
        return self._made("relations/rare_sets", items=items, firsts=firsts, k=k)

    def _made(self, template: str, **context: object) -> Relation:
        self._tables += 1
        target = self.workspace.table(f"node_{self._tables}")
        self.workspace.execute(template, target=target, **context)
        return target


def best_node(
    workspace: Workspace, spec: RelationalSpec, members: Mapping[str, Member], sensitive: Sensitive
) -> BestNode:
    """Find the node that loses least, at which no more persons are left out than the spec allows.

    Args:
        workspace: where.
        spec: what is asked for.
        members: the tables, each after its parent.
        sensitive: the sensitive values of persons.
    """
    return _Search(workspace, spec, members, sensitive).best()


def staying_at(
    workspace: Workspace, spec: RelationalSpec, members: Mapping[str, Member], nodes: Mapping[str, Sequence[int]]
) -> Relation:
    """The persons who stay at a node, with their classes, however many do not: the largest set that satisfies.

    Args:
        workspace: where.
        spec: what is asked for, which is nothing about sensitive values.
        members: the tables, each after its parent.
        nodes: table -> the level of each of its columns.
    """
    limits = spec.suppression.model_copy(update={"max_persons": 1.0})
    asked = spec.model_copy(update={"suppression": limits})
    search = _Search(workspace, asked, members, Sensitive(workspace, asked, members))
    return search.persons_at(tuple(level for name in members for level in nodes[name]))
