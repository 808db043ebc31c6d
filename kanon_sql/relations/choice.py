"""Which classes of persons to generalize events in: small classes lose detail of events, large ones that of persons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_sql.engines import Workspace
from kanon_sql.relations.classes import (
    PersonClasses,
    loss_of,
    nodes_by_loss,
    person_vectors,
    persons_in_classes,
    small_classes,
)
from kanon_sql.relations.cuts import Cuts
from kanon_sql.relations.members import DIGITS, MOST_PACKED, LabelledColumn, Member, path_of
from kanon_sql.relations.sensitive import Sensitive
from kanon_sql.spec import PERSON, RelationalSpec
from kanon_sql.sql import Relation

__all__ = ["chosen_classes"]


def chosen_classes(
    workspace: Workspace,
    spec: RelationalSpec,
    members: Mapping[str, Member],
    sensitive: Sensitive,
    cuts: Cuts | None = None,
) -> PersonClasses | None:
    """The classes of persons to generalize events in; None where too many persons are in small ones at every node.

    Tried are the node that loses least of what is known of persons, and the steps from it to the top; for cuts, from
    there down to it. What events would lose in its classes is estimated by how many rows are rare on each step of their
    path, or by the cuts; the sum over all tables decides, and the first node after which it rises is the last to be
    tried.

    Args:
        workspace: where.
        spec: what is asked for.
        members: the tables, each after its parent.
        sensitive: the sensitive values of persons, who may have to be left out of a class for them.
        cuts: what is asked what events lose; by default that is estimated by the rows that are rare.
    """
    person = members[PERSON]
    nodes = nodes_by_loss(person.columns)
    small = small_classes(workspace, person, person_vectors(workspace, person), nodes, spec.k)
    left = dict(zip(nodes, small, strict=True))
    found = _Candidates(workspace, spec, person, left, sensitive)
    first = next((node for node in nodes if found.at(node) is not None), None)
    if first is None:
        return None
    estimate: Cuts | _Estimate | None = cuts
    if estimate is None and _events_matter(spec, members):
        estimate = _Estimate(workspace, spec, members)
    best: tuple[float, PersonClasses] | None = None
    steps = _from(person.columns, first)
    # Cuts are estimated best in large classes, so these come first; in small ones all combinations are rare.
    for number, node in enumerate(steps if cuts is None else reversed(steps)):
        classes = found.at(node)
        if classes is None:
            continue
        if estimate is None:
            return classes
        workspace.report(f"choosing classes of persons: {number + 1} tried", None)
        total = round(loss_of(person.columns, node) + estimate.loss(classes.table), DIGITS)
        if best is not None and total >= best[0]:
            workspace.drop(classes.table)
            break
        if best is not None:
            workspace.drop(best[1].table)
        best = total, classes
    assert best is not None, "the first node satisfies"
    return best[1]


@dataclass
class _Candidates:
    """The classes of persons at a node, without the persons who have to be left out.

    Attributes:
        workspace: where.
        spec: what is asked for.
        person: the table of persons.
        left: node -> persons in small classes.
        sensitive: the sensitive values of persons.
    """

    workspace: Workspace
    spec: RelationalSpec
    person: Member
    left: Mapping[tuple[int, ...], int]
    sensitive: Sensitive
    _made: int = 0
    _last: tuple[tuple[int, ...], PersonClasses] | None = None

    def at(self, node: tuple[int, ...]) -> PersonClasses | None:
        """The classes at a node; None where too many persons have to be left out."""
        if self._last is not None and self._last[0] == node:
            return self._last[1]
        most = self.spec.suppression.most_persons(self.person.count)
        if self.left[node] > most:
            return None
        self._made += 1
        found = persons_in_classes(
            self.workspace, self.person, node, self.spec.k, self.left[node], f"classes{self._made}"
        )
        if self.spec.coherence or self.spec.of_classes:
            found = self._without_disclosed(found)
        if found.left_out > most:
            self.workspace.drop(found.table)
            return None
        self._last = node, found
        return found

    def _without_disclosed(self, found: PersonClasses) -> PersonClasses:
        """The classes after sensitive values rule persons out, again and again until they rule out none."""
        classes = found.table
        while (stays := self._after_one_round(classes)) is not None:
            self.workspace.drop(classes)
            classes = stays
        return replace(found, table=classes, left_out=self.person.count - self.workspace.size([classes]))

    def _after_one_round(self, classes: Relation) -> Relation | None:
        before = self.workspace.size([classes])
        with self.workspace.passing():
            for rare in self._rare(classes):
                self._made += 1
                kept = self.workspace.table(f"classes{self._made}")
                self.workspace.execute("relations/without", target=kept, classes=classes, rare=rare)
                if self.workspace.size([kept]) < before:
                    self.workspace.keep(kept)
                    return kept
        return None

    def _rare(self, classes: Relation) -> Iterator[Relation]:
        rare = self.workspace.table(f"small{self._made}")
        self.workspace.execute("relations/rare_persons_of_class", target=rare, classes=classes, k=self.spec.k)
        yield rare
        yield from self.sensitive.rare_persons(classes)


def _events_matter(spec: RelationalSpec, members: Mapping[str, Member]) -> bool:
    return len(members) > 1 and spec.known_items > 0


def _from(columns: Sequence[LabelledColumn], node: Sequence[int]) -> list[tuple[int, ...]]:
    """A node and the steps from it to the top."""
    return [tuple(step) for step in path_of(columns, [1.0] * len(columns), node)]


@dataclass(frozen=True)
class _Step:
    """A step of a table's path.

    Attributes:
        packs: the columns that hold its labels, with what each is multiplied by to make one number of several.
        loss: what a row loses of the table's own columns.
    """

    packs: tuple[tuple[tuple[str, int], ...], ...]
    loss: float


class _Estimate:
    """What events would lose in classes of persons, without generalizing them.

    Args:
        workspace: where.
        spec: what is asked for.
        members: the tables, each after its parent.
    """

    def __init__(self, workspace: Workspace, spec: RelationalSpec, members: Mapping[str, Member]) -> None:
        self._workspace, self._k = workspace, spec.k
        self._rows: dict[str, Relation] = {}
        self._steps: dict[str, list[_Step]] = {}
        self._members = [member for name, member in members.items() if name != PERSON]
        for number, member in enumerate(self._members):
            self._rows[member.name] = self._rows_of(number, member)
            self._steps[member.name] = _steps_of(member)

    def _rows_of(self, number: int, member: Member) -> Relation:
        assert member.parent is not None
        inherited: list[dict[str, str]] = []
        own: list[dict[str, str]] = []
        for position, column in enumerate(member.path):
            names = [{"own": f"s{position}_{level}", "code": f"g{column.number}_{level}"} for level in column.levels]
            (inherited if position < member.inherited else own).extend(names)
        target = self._workspace.table(f"estimated{number}")
        self._workspace.execute(
            "relations/rows_in_classes",
            target=target,
            coded=member.coded,
            parent=self._rows[member.parent.name] if member.inherited else None,
            inherited=inherited,
            names=own,
        )
        return target

    def loss(self, classes: Relation) -> float:
        """The sum over the tables of what a row loses on average."""
        total = 0.0
        for member in self._members:
            steps = self._steps[member.name]
            if not member.count or not steps:
                continue
            with self._workspace.passing():
                rare = self._rare(member, classes)
            lost = steps[0].loss * member.count
            for number, step in enumerate(steps[1:], 1):
                lost += rare[number - 1] * (step.loss - steps[number - 1].loss)
            total += (lost + rare[-1] * (1 - steps[-1].loss)) / member.count
        return total

    def _rare(self, member: Member, classes: Relation) -> list[int]:
        quoted, filled = self._workspace.quoted, self._workspace.compiler.filled
        steps = self._steps[member.name]
        names = dict.fromkeys(name for step in steps for pack in step.packs for name, _ in pack)
        rows = self._workspace.table(f"estimated_rows{self._members.index(member)}")
        self._workspace.execute(
            "relations/estimated_rows",
            target=rows,
            rows=self._rows[member.name],
            classes=classes,
            names=list(names),
        )
        branches = [
            filled("relations/rare_share", {"number": str(number), "rows": quoted(rows)}, packs=step.packs, k=self._k)
            for number, step in enumerate(steps)
        ]
        found = {
            int(number): int(count)
            for number, count in self._workspace.query(self._workspace.compiler.union(branches), len(branches))
        }
        return [found[number] for number in range(len(steps))]


def _steps_of(member: Member) -> list[_Step]:
    if not member.path:
        return []
    steps = []
    for levels in path_of(member.path, [1.0] * len(member.path)):
        labels = [
            (f"s{position}_{level}", 1 + sum(column.counts))
            for position, (column, level) in enumerate(zip(member.path, levels, strict=True))
            if column.counts[level] > 1
        ]
        steps.append(_Step(_packed(labels), loss_of(member.columns, levels[member.inherited :])))
    return steps


def _packed(labels: Sequence[tuple[str, int]]) -> tuple[tuple[tuple[str, int], ...], ...]:
    """Columns with what each is multiplied by, so that whole numbers hold several of them.

    Args:
        labels: the columns, each with a larger number than is in it.
    """
    packs: list[list[tuple[str, int]]] = []
    room = MOST_PACKED
    for name, most in labels:
        if not packs or room * most > MOST_PACKED:
            packs.append([])
            room = 1
        packs[-1].append((name, room))
        room *= most
    return tuple(map(tuple, packs))
