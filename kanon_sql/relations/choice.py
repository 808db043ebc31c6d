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
from kanon_sql.relations.first_levels import FirstLevels
from kanon_sql.relations.members import DIGITS, LabelledColumn, Member, path_of
from kanon_sql.relations.sensitive import Sensitive
from kanon_sql.spec import PERSON, RelationalSpec
from kanon_sql.sql import Relation

__all__ = ["chosen_classes"]


def chosen_classes(
    workspace: Workspace,
    spec: RelationalSpec,
    members: Mapping[str, Member],
    sensitive: Sensitive,
    estimate: Cuts | FirstLevels | None = None,
) -> Iterator[PersonClasses]:
    """The classes of persons to generalize events in, then coarser ones, each dropped when the next is asked for.

    There are none where too many persons are in small ones at every node. Tried are the node that loses least of what
    is known of persons, and the steps from it to the top; for cuts, from there down to it. The sum of what all tables
    lose decides, and the first node after which it rises is the last to be tried.

    Args:
        workspace: where.
        spec: what is asked for.
        members: the tables, each after its parent.
        sensitive: the sensitive values of persons, who may have to be left out of a class for them.
        estimate: is asked what events lose in some classes; None where they lose nothing.
    """
    person = members[PERSON]
    nodes = nodes_by_loss(person.columns)
    small = small_classes(workspace, person, person_vectors(workspace, person), nodes, spec.k)
    left = dict(zip(nodes, small, strict=True))
    found = _Candidates(workspace, spec, person, left, sensitive)
    first = next((node for node in nodes if found.at(node) is not None), None)
    if first is None:
        return
    steps = _from(person.columns, first)
    best = _best(found, steps, estimate)
    yield best
    found.drop(best)
    for node in steps[steps.index(tuple(best.node)) + 1 :]:
        if (coarser := found.at(node)) is not None:
            yield coarser
            found.drop(coarser)


def _best(found: _Candidates, steps: Sequence[tuple[int, ...]], estimate: Cuts | FirstLevels | None) -> PersonClasses:
    """The classes at the step at which all tables together are estimated to lose least."""
    best: tuple[float, PersonClasses] | None = None
    # Cuts are estimated best in large classes, so these come first; in small ones all combinations are rare.
    for number, node in enumerate(reversed(steps) if isinstance(estimate, Cuts) else steps):
        classes = found.at(node)
        if classes is None:
            continue
        if estimate is None:
            return classes
        found.workspace.report(f"choosing classes of persons: {number + 1} tried", None)
        total = round(loss_of(found.person.columns, node) + estimate.loss(classes.table), DIGITS)
        if best is not None and total >= best[0]:
            found.drop(classes)
            break
        if best is not None:
            found.drop(best[1])
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

    def drop(self, classes: PersonClasses) -> None:
        """Drop classes that are no longer needed."""
        self.workspace.drop(classes.table)
        if self._last is not None and self._last[1] == classes:
            self._last = None

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


def _from(columns: Sequence[LabelledColumn], node: Sequence[int]) -> list[tuple[int, ...]]:
    """A node and the steps from it to the top."""
    return [tuple(step) for step in path_of(columns, [1.0] * len(columns), node)]
