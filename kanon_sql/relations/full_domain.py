"""One level for each column of all tables, persons left out: the best node, proven.

At a node, persons whose class is too small, or who have a combination of items that too few of their class share, are
left out with all of their rows. That may make combinations of others rare, so it is asked again until none goes. The
set that stays is the largest that satisfies, and unique: the union of sets that satisfy does.

A node may satisfy although a more general one does not: where two labels become one, a person may have it three times
who shared either of them, twice at most, with others. So only a weaker condition prunes: that labels occur, and not how
often. Persons who share that share it of the labels above, so that where even this fails, it fails at all nodes below,
and so does what is asked for.

For sensitive values persons are left out who need not be: fewer might do, and the node that is found is then the first
one that satisfies in this way, which is not proven to be the best. Distinct values of a class are an exception, since
all persons of a class without enough of them have to go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kanon_sql.engines import Workspace
from kanon_sql.relations.classes import class_names, nodes_by_loss, person_vectors, small_classes
from kanon_sql.relations.members import LabelledColumn, Member
from kanon_sql.relations.sensitive import Sensitive
from kanon_sql.spec import PERSON, RelationalSpec
from kanon_sql.sql import Relation

__all__ = ["BestNode", "best_node"]

Node = tuple[int, ...]
"""A level for each column of all tables, those of persons first."""


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


@dataclass
class _Search:
    """The search under way.

    Attributes:
        workspace: where.
        spec: what is asked for.
        members: the tables, each after its parent.
        sensitive: the sensitive values of persons.
        failing: nodes that were found to fail; all below them do.
        asked: how many nodes were evaluated.
    """

    workspace: Workspace
    spec: RelationalSpec
    members: Mapping[str, Member]
    sensitive: Sensitive
    failing: list[Node] = field(default_factory=list)
    asked: int = 0

    @property
    def columns(self) -> list[LabelledColumn]:
        """Those of all tables."""
        return [column for member in self.members.values() for column in member.columns]

    @property
    def top(self) -> Node:
        """The highest levels."""
        return tuple(column.highest for column in self.columns)

    @property
    def most(self) -> int:
        """The most persons that may be left out."""
        return self.spec.suppression.most_persons(self.members[PERSON].count)

    def parts(self, node: Sequence[int]) -> dict[str, Sequence[int]]:
        """Table -> its part of a node."""
        found, start = {}, 0
        for name, member in self.members.items():
            found[name] = node[start : start + len(member.columns)]
            start += len(member.columns)
        return found

    def best(self) -> BestNode:
        """The node that loses least of those that satisfy; of equals the first in the order of their levels."""
        self._note_small_classes()
        for node in nodes_by_loss(self.columns):
            if self._fails(node):
                continue
            if not all(self._may_satisfy(projected) for projected in (*self._projections(node), node)):
                continue
            found = self._evaluated(node)
            if found is not None:
                persons, left_out = found
                return BestNode(self.parts(node), persons, left_out, self.asked)
        return BestNode(None, None, self.members[PERSON].count, self.asked)

    def _fails(self, node: Sequence[int]) -> bool:
        return any(all(low <= high for low, high in zip(node, bad, strict=True)) for bad in self.failing)

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
        """The node with the levels of persons and of one table, all others at their top: cheaper, and asked once."""
        events = [name for name, member in self.members.items() if name != PERSON and member.columns]
        if len(events) < 2:
            return
        start = len(self.members[PERSON].columns)
        for member in list(self.members.values())[1:]:
            end = start + len(member.columns)
            if member.columns:
                yield (
                    *node[: len(self.members[PERSON].columns)],
                    *(
                        node[index] if start <= index < end else self.top[index]
                        for index in range(len(self.members[PERSON].columns), len(node))
                    ),
                )
            start = end

    def _may_satisfy(self, node: Node) -> bool:
        """Whether labels that occur are shared, however often; if not, no node below satisfies."""
        if node not in self._possible:
            self._possible[node] = not self._fails(node) and self._asked(node, once=True) is not None
            if not self._possible[node]:
                self._note(node)
        return self._possible[node]

    def _evaluated(self, node: Node) -> tuple[Relation, int] | None:
        """The persons who stay at a node, and how many go; None where these are too many."""
        return self._asked(node, once=False)

    def _asked(self, node: Node, *, once: bool) -> tuple[Relation, int] | None:
        self.asked += 1
        self.workspace.report(f"searching levels: {self.asked:,} nodes asked", None)
        with self.workspace.passing():
            found = self._staying(node, once=once)
            if found is not None and not once:
                self.workspace.keep(found[0])
        return found

    _possible: dict[Node, bool] = field(default_factory=dict)

    def _staying(self, node: Node, *, once: bool) -> tuple[Relation, int] | None:
        count, k = self.members[PERSON].count, self.spec.k
        parts = self.parts(node)
        person = self.members[PERSON]
        classes = self._made("relations/classes", coded=person.coded, names=class_names(person, parts[PERSON]), k=k)
        items = self._items(parts, classes, once=once)
        while True:
            left_out = count - self.workspace.size([classes])
            if left_out > self.most:
                return None
            stays = self._after_one_round(classes, items, once=once)
            if stays is None:
                return classes, left_out
            classes = stays
            items = None if items is None else self._made("relations/items_of", items=items, classes=classes)

    def _after_one_round(self, classes: Relation, items: Relation | None, *, once: bool) -> Relation | None:
        """The persons who stay after those with rare combinations are left out; None where none has any."""
        before = self.workspace.size([classes])
        for rare in self._rare(classes, items, once=once):
            kept = self._without(classes, rare)
            if self.workspace.size([kept]) < before:
                return kept
        return None

    def _rare(self, classes: Relation, items: Relation | None, *, once: bool) -> Iterator[Relation]:
        """Persons who cannot stay, requirement by requirement, the cheapest ones first."""
        widest = max((m for m in (item.m for item in self.spec.km) if m != "all"), default=1)
        yield self._made("relations/rare_persons_of_class", classes=classes, k=self._k(0))
        if not once:
            yield from self.sensitive.rare_persons(classes)
        holders = self.sensitive.holders() if self.spec.coherence and not once else None
        for m in range(1, max(widest, self._coherent) + 1):
            if items is None:
                return
            if m <= widest:
                yield self._made("relations/rare_persons", items=items, m=m, k=self._k(m))
            yield from self.sensitive.incoherent_persons(classes, items, m, holders)
        if not once and items is not None and any(item.m == "all" for item in self.spec.km):
            yield self._whole_sets(classes, items)

    @property
    def _coherent(self) -> int:
        """The most known items of a requirement on sensitive values."""
        return max((item.m or 0 for item in self.spec.coherence), default=0)

    def _k(self, m: int) -> int:
        """The largest k of the requirements about combinations of this many items."""
        return max((item.k for item in self.spec.km if item.m == "all" or item.m >= m), default=1)

    def _items(self, parts: Mapping[str, Sequence[int]], classes: Relation, *, once: bool) -> Relation | None:
        """All items of the persons of some classes."""
        events = [member for name, member in self.members.items() if name != PERSON]
        if not events or not (self._coherent or any(item.m != 0 for item in self.spec.km)):
            return None
        labelled, items = dict[str, Relation](), []
        for number, member in enumerate(events):
            assert member.parent is not None
            names = [
                f"g{column.number}_{level}" for column, level in zip(member.columns, parts[member.name], strict=True)
            ]
            labelled[member.name] = self._made(
                "relations/rows_at_node",
                coded=member.coded,
                classes=classes,
                parent=labelled[member.parent.name] if member.inherited else None,
                inherited=member.inherited,
                names=names,
            )
            items.append(
                self._made(
                    "relations/items",
                    rows=labelled[member.name],
                    width=len(member.path),
                    number=number,
                    tables=len(events),
                    once=once,
                )
            )
        return items[0] if len(items) == 1 else self._made("relations/all_items", tables=items)

    def _whole_sets(self, classes: Relation, items: Relation) -> Relation:
        k = max(item.k for item in self.spec.km if item.m == "all")
        sums = self._made("relations/set_sums", persons=classes, items=items)
        firsts = self._made("relations/set_firsts", sums=sums)
        return self._made("relations/rare_sets", items=items, firsts=firsts, k=k)

    def _without(self, classes: Relation, rare: Relation) -> Relation:
        return self._made("relations/without", classes=classes, rare=rare)

    def _made(self, template: str, **context: object) -> Relation:
        self._tables += 1
        target = self.workspace.table(f"node_{self._tables}")
        self.workspace.execute(template, target=target, **context)
        return target

    _tables: int = 0


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
