"""What is to be released: the recoding that loses little, and coarser ones while too much would be left out.

For ``local`` rows are left out that are at the end of their path. Where that is more than the spec allows, persons with
such rows are left out instead, up to its limit of persons, and what is left is generalized further. Where these are too
many, it is tried again in coarser classes of persons, and in the end with one level for each column, which leaves out
persons alone: so there is a release wherever ``full_domain`` finds one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Workspace
from kanon_sql.relations.choice import chosen_classes
from kanon_sql.relations.classes import PersonClasses
from kanon_sql.relations.cuts import Cuts, Thinning
from kanon_sql.relations.first_levels import FirstLevels
from kanon_sql.relations.full_domain import best_node
from kanon_sql.relations.local import Climb, without_lost_rows
from kanon_sql.relations.members import Member, States
from kanon_sql.relations.outcome import constant_states
from kanon_sql.relations.sensitive import Sensitive
from kanon_sql.spec import PERSON, RelationalSpec
from kanon_sql.sql import Relation

__all__ = ["RecodedTables", "most_rows", "recoded", "rows_of_events"]


@dataclass(frozen=True)
class RecodedTables:
    """What is to be released.

    Attributes:
        nodes: table -> levels, of tables whose rows all have the same.
        states: the rows that stay, with their levels.
        left_out: persons who do not stay.
        classes: classes of the persons who stay.
        fewest: the fewest persons of one; None without persons.
        rows_left_out: rows of persons who stay, and which do not.
        asked: nodes that were evaluated; None without a search.
    """

    nodes: Mapping[str, Sequence[int]]
    states: States
    left_out: int
    classes: int
    fewest: int | None
    rows_left_out: int = 0
    asked: int | None = None


def recoded(
    workspace: Workspace, spec: RelationalSpec, found: Mapping[str, Member], sensitive: Sensitive
) -> RecodedTables | None:
    """What is to be released; where no release within the limits is found, what leaves out too many rows, or None.

    Args:
        workspace: where.
        spec: what is asked for.
        found: the tables, each after its parent.
        sensitive: the sensitive values of persons.
    """
    if spec.method == "full_domain":
        return _at_one_node(workspace, spec, found, sensitive)
    beyond = None
    local = _Local(spec, found, sensitive)
    begin = local.begin(workspace)
    for number, classes in enumerate(chosen_classes(workspace, spec, found, sensitive, begin)):
        within = workspace
        if number:
            workspace.report(f"more would be left out than allowed: coarser classes of persons, {number}", None)
            within = workspace.apart(f"coarser{number}_")
            begin = begin if isinstance(begin, Cuts) else local.begin(within)
        made = local.within(within, classes, begin, lifting=number > 0)
        if made is not None and made.rows_left_out <= most_rows(spec, found):
            return made
        beyond = beyond or made
    if local.may_miss:
        workspace.report("more would be left out than allowed: one level for each column", None)
        return _at_one_node(workspace.apart("node_"), spec, found, sensitive) or beyond
    return beyond


def rows_of_events(found: Mapping[str, Member]) -> int:
    """The rows of all tables below that of persons."""
    return sum(item.count for name, item in found.items() if name != PERSON)


def most_rows(spec: RelationalSpec, found: Mapping[str, Member]) -> int:
    """The most rows of persons who stay that may be left out."""
    return spec.suppression.most_rows(rows_of_events(found))


def _at_one_node(
    workspace: Workspace, spec: RelationalSpec, found: Mapping[str, Member], sensitive: Sensitive
) -> RecodedTables | None:
    """One level for each column of all tables, without the persons who cannot stay; None where these are too many."""
    best = best_node(workspace, spec, found, sensitive)
    if best.nodes is None or best.persons is None:
        return None
    states = constant_states(workspace, found, best.nodes, best.persons)
    return RecodedTables(best.nodes, states, best.left_out, *_class_sizes(workspace, best.persons), asked=best.asked)


@dataclass(frozen=True)
class _Local:
    """Events generalized within classes of persons.

    Attributes:
        spec: what is asked for.
        found: the tables, each after its parent.
        sensitive: the sensitive values of persons.
    """

    spec: RelationalSpec
    found: Mapping[str, Member]
    sensitive: Sensitive

    @property
    def k(self) -> int:
        """How many persons share what is known of their rows."""
        return max((item.k for item in self.spec.km if item.m != 0), default=1)

    @property
    def generalizes(self) -> bool:
        """Whether anything is asked of events."""
        return len(self.found) > 1 and bool(self.spec.known_items)

    @property
    def may_miss(self) -> bool:
        """Whether there may be a release with one level for each column where this finds none."""
        return self.generalizes or self.judges_values

    @property
    def judges_values(self) -> bool:
        """Whether something is asked of sensitive values, which persons who are left out later would change."""
        return bool(self.spec.coherence or self.spec.of_classes)

    def begin(self, workspace: Workspace) -> Cuts | FirstLevels | None:
        """What finds the levels to begin at; None where nothing is asked of events."""
        if not self.generalizes:
            return None
        if self.spec.known_items > 1:
            return Cuts(workspace, self.found, self.k, self.spec.known_items)
        return FirstLevels(workspace, self.found, self.k)

    def within(
        self, workspace: Workspace, chosen: PersonClasses, begin: Cuts | FirstLevels | None, *, lifting: bool
    ) -> RecodedTables | None:
        """What becomes of the rows in some classes; None where too many persons would be left out.

        Args:
            workspace: where.
            chosen: the classes.
            begin: finds the levels to begin at.
            lifting: rows above others climb before these are left out, from the beginning.
        """
        events = {name: item for name, item in self.found.items() if name != PERSON}
        if begin is None:
            lowest = {name: [column.lowest for column in item.columns] for name, item in events.items()}
            return self._made(workspace, chosen, constant_states(workspace, self.found, lowest, chosen.table), 0)
        most, allowed = self.spec.suppression.most_persons(self.found[PERSON].count), most_rows(self.spec, self.found)
        known = {name: self.found[name] for name in self.spec.counted_tables}
        shared, lost = self._recoded(workspace, chosen, begin, lifting=lifting)
        number = 0
        while lost:
            # Where numbers of rows are known, who has lost a row has another number of them than the class, and goes.
            whole = events if lost > allowed and not self.judges_values else known
            again = workspace.apart(f"{workspace.prefix}again{number}_")
            fewer = without_lost_rows(again, whole, chosen, shared, self.spec.k) if whole else None
            if fewer is None:
                break
            if fewer.left_out > most:
                return self._made(workspace, chosen, shared, lost) if not known else None
            number, chosen = number + 1, fewer
            start: Cuts | FirstLevels | States = begin
            if whole is events:
                start, lifting = shared, True
            elif isinstance(begin, FirstLevels):
                start = FirstLevels(again, self.found, self.k)
            shared, lost = self._recoded(again, chosen, start, lifting=lifting)
        return self._made(workspace, chosen, shared, lost)

    def _recoded(
        self, workspace: Workspace, classes: PersonClasses, begin: Cuts | FirstLevels | States, *, lifting: bool
    ) -> tuple[States, int]:
        """The rows that stay, and how many rows of the persons who stay are left out."""
        if self.spec.known_items == 1:
            assert not isinstance(begin, Cuts)
            return Climb(workspace, self.found, classes, self.k, self.sensitive).finished(begin)
        states = begin.states(classes.table) if isinstance(begin, Cuts) else begin
        assert not isinstance(states, FirstLevels)
        m, most = self.spec.known_items, most_rows(self.spec, self.found)
        thinning = Thinning(
            workspace, self.found, classes, self.k, self.sensitive, m=m, most_rows=most, lifting=lifting
        )
        return thinning.finished(states)

    def _made(self, workspace: Workspace, chosen: PersonClasses, events: States, lost: int) -> RecodedTables:
        nodes = {PERSON: chosen.node}
        own = constant_states(workspace, self.found, nodes, chosen.table)
        return RecodedTables(nodes, {**own, **events}, chosen.left_out, *_class_sizes(workspace, chosen.table), lost)


def _class_sizes(workspace: Workspace, persons: Relation) -> tuple[int, int | None]:
    """How many classes of persons there are, and the fewest persons of one; None without persons."""
    _, classes, fewest = workspace.row("relations/fewest_in_class", persons=persons)
    return int(classes), None if fewest is None else int(fewest)
