"""Events generalized within each class of persons, row by row.

A row of another table begins at the levels that enough rows of its class share, see :mod:`first_levels`. While fewer
than k persons of its class have a row that is known by the same labels, as often, it climbs one step of its table's
path, and takes the rows above it along where the step is one of their columns: what a row is known by is what is
released of it and of the rows above it. What is at the end of its path is left out, with the rows below it. Levels only
rise, so this ends; in the end every item that occurs is shared by k persons of its class: k^m-anonymity for m = 1
(Terrovitis et al. 2008), within classes (Poulis et al. 2013).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kanon_sql.engines import Workspace
from kanon_sql.relations.classes import PersonClasses
from kanon_sql.relations.first_levels import FirstLevels, path_of_rows
from kanon_sql.relations.members import Member, States
from kanon_sql.relations.sensitive import Sensitive
from kanon_sql.spec import PERSON
from kanon_sql.sql import Relation

__all__ = ["Climb", "CurrentRows", "without_lost_rows"]

FEW = 12
"""Rows that changed are kept apart from the others while these are at least this many times as many."""


@dataclass(frozen=True)
class CurrentRows:
    """The rows of a table that stay, with what they are known by, and the levels of that.

    Attributes:
        written: all, as they were when all were last written.
        moved: the numbers of those that changed since, or were left out; None for none.
        later: those of them that stay, as they are; None for none.
    """

    written: Relation
    moved: Relation | None = None
    later: Relation | None = None


@dataclass
class Climb:
    """The rows of all tables below that of persons, generalized until every item is shared by k persons of its class.

    An item is rare, too, while too large a share of the persons who share it has one sensitive value.

    Attributes:
        workspace: where.
        members: the tables, each after its parent.
        classes: the persons who stay.
        k: how many persons share an item.
        sensitive: the sensitive values of persons.
        rows: table -> the rows that stay.
    """

    workspace: Workspace
    members: Mapping[str, Member]
    classes: PersonClasses
    k: int
    sensitive: Sensitive
    rows: dict[str, CurrentRows] = field(default_factory=dict)
    _touched: dict[str, Relation] = field(default_factory=dict)
    """Classes and labels that rows came to, or went from, in the last round; no other ones can have become rare."""
    _count: int = 0

    @property
    def events(self) -> list[Member]:
        """The tables below that of persons, each after its parent."""
        return [member for name, member in self.members.items() if name != PERSON]

    def paths(self) -> dict[str, list[list[int]]]:
        """Per table, the steps of what its rows are known by."""
        return {member.name: path_of_rows(member) for member in self.events}

    def start(self, begin: States | FirstLevels) -> None:
        """Label the rows of the persons who stay.

        Args:
            begin: table -> its rows with their levels; or what finds the levels that they begin with.
        """
        with self.workspace.passing():
            raised = self._raised(begin.of(self.classes.table)) if isinstance(begin, FirstLevels) else {}
            for member in self.events:
                assert member.parent is not None
                labelled = self._lasting(
                    "relations/labelled",
                    "labelled",
                    coded=member.coded,
                    classes=self.classes.table,
                    state=None if isinstance(begin, FirstLevels) else begin[member.name],
                    raised=raised.get(member.name),
                    parent=self.rows[member.parent.name].written if member.inherited else None,
                    inherited=member.inherited,
                    items=member.items(),
                    packs=member.packs,
                )
                self.rows[member.name] = CurrentRows(labelled)
        if isinstance(begin, FirstLevels):
            begin.drop()

    def round(self, paths: Mapping[str, Sequence[Sequence[int]]]) -> int:
        """One step of all rows whose items are rare; returns how many these were."""
        with self.workspace.passing():
            rare = self.rare(paths)
            total = self.workspace.size(list(rare.values()))
            if total:
                self._climb(rare, total)
        return total

    def rare(self, paths: Mapping[str, Sequence[Sequence[int]]]) -> dict[str, Relation]:
        """Per table, the rows that must not stay as they are, with the levels that they are to have."""
        rare: dict[str, Relation] = {}
        coherent = [item for item in self.sensitive.spec.coherence if item.m and item.h < 1]
        holders = self.sensitive.holders({name: rows.written for name, rows in self.rows.items()}) if coherent else None
        for member in self.events:
            keys = len(member.packs)
            repeated = self.made(
                "relations/repeated",
                "repeated",
                labelled=self.rows[member.name],
                touched=self._touched.get(member.name),
                keys=keys,
            )
            shared = self.made("relations/shared_times", "shared", repeated=repeated, keys=keys, k=self.k)
            for asked in coherent:
                most, of = asked.bound
                shared = self.made(
                    "relations/coherent_times",
                    "coherent",
                    repeated=repeated,
                    shared=shared,
                    holders=holders,
                    keys=keys,
                    most=most,
                    of=of,
                )
            excess = self.made("relations/excess", "excess", repeated=repeated, shared=shared, keys=keys)
            rare[member.name] = self.made(
                "relations/rare",
                "rare",
                labelled=self.rows[member.name],
                excess=excess,
                keys=keys,
                width=len(member.path),
                inherited=member.inherited,
                path=[list(step) for step in paths[member.name]],
            )
        return rare

    def finished(self, begin: States | FirstLevels) -> tuple[States, int]:
        """The rows that stay after the last round, and how many rows of the persons who stay were left out.

        Args:
            begin: table -> the rows to begin with, and their levels; or what finds these.
        """
        self.start(begin)
        before = self.workspace.size([rows.written for rows in self.rows.values()])
        paths = self.paths()
        number = 1
        self.workspace.report("generalizing events within classes of persons", None)
        while self.round(paths):  # it ends: each round some row climbs, or is left out
            number += 1
            self.workspace.report(f"generalizing events within classes of persons: round {number}", None)
        found = {
            member.name: self.made(
                "relations/levels_of_rows",
                "state",
                labelled=self.rows[member.name],
                own=len(member.columns),
                inherited=member.inherited,
            )
            for member in self.events
        }
        return found, before - self.workspace.size(list(found.values()))

    def _climb(self, rare: Mapping[str, Relation], total: int) -> None:
        """The rows after what rare ones ask: each table's own rows, and those above and below them."""
        few = self._sets_apart and FEW * total < sum(member.count for member in self.events)
        raised = self._raised(rare)
        changed: dict[str, Relation] = {}
        for member in self.events:
            assert member.parent is not None
            above, before = member.parent.name, self.rows[member.name]
            if few:
                changed[member.name] = self.made(
                    "relations/changed",
                    "changed",
                    raised=raised[member.name],
                    labelled=before,
                    above=changed.get(above),
                )
            after = self._lasting(
                "relations/climbed",
                "labelled",
                labelled=before,
                changed=changed.get(member.name),
                raised=raised[member.name],
                coded=member.coded,
                parent=self.rows.get(above),
                inherited=member.inherited,
                items=member.items(),
                packs=member.packs,
            )
            rows = CurrentRows(after)
            if few:
                moved = self._lasting(
                    "relations/changed_since", "moved", before=before.moved, changed=changed[member.name]
                )
                rows = CurrentRows(before.written, moved, after)
            self._touch(member, [before, rows], changed.get(member.name))
            for table in (before.written, before.moved, before.later):
                if table is not None and table != rows.written:
                    self.workspace.drop(table)
            self.rows[member.name] = rows

    def _raised(self, rare: Mapping[str, Relation]) -> dict[str, Relation]:
        """Per table, the levels that its rows are to have, each row once: as it asks itself, and rows below it."""
        raised: dict[str, Relation] = {}
        for member in reversed(self.events):
            own, below = rare.get(member.name), []
            if member.path:
                below = [raised[other.name] for other in self.events if other.parent is member and other.name in raised]
            if below:
                raised[member.name] = self.made(
                    "relations/raised",
                    "raised",
                    rare=own,
                    below=below,
                    coded=member.coded,
                    width=len(member.path),
                    inherited=member.inherited,
                )
            elif own is not None:
                raised[member.name] = own
        return raised

    @property
    def _sets_apart(self) -> bool:
        """Whether rows that change are kept apart while they are few."""
        return not self.sensitive.spec.coherence

    @property
    def _looks_at_touched(self) -> bool:
        """Whether labels become rare only where rows come to them, or go from them."""
        return self._sets_apart

    def _touch(self, member: Member, versions: Sequence[CurrentRows], changed: Relation | None) -> None:
        """Note what the rows that changed were known by, and are; nothing where many did."""
        if member.name in self._touched:
            self.workspace.drop(self._touched.pop(member.name))
        if changed is not None and self._looks_at_touched:
            self._touched[member.name] = self._lasting(
                "relations/touched", "touched", versions=list(versions), changed=changed, keys=len(member.packs)
            )

    def made(self, template: str, what: str, **context: object) -> Relation:
        """A scratch table."""
        target = self.workspace.table(f"{what}_{self._number()}")
        self.workspace.execute(template, target=target, **context)
        return target

    def _lasting(self, template: str, what: str, **context: object) -> Relation:
        """A table that outlives the round."""
        target = self.made(template, what, **context)
        self.workspace.keep(target)
        return target

    def _number(self) -> int:
        self._count += 1
        return self._count


def without_lost_rows(
    workspace: Workspace, members: Mapping[str, Member], classes: PersonClasses, states: States, k: int
) -> PersonClasses | None:
    """The persons who lose no row, where an attacker knows how many rows they have; None where no person loses one.

    Args:
        workspace: where.
        members: the tables of which that is known.
        classes: the persons who stay.
        states: the rows that stay.
        k: how many persons a class has.
    """
    tables = [{"coded": member.coded, "state": states[name]} for name, member in members.items()]
    target = workspace.table("whole_persons")
    workspace.execute("relations/persons_with_all_rows", target=target, classes=classes.table, tables=tables, k=k)
    lost = workspace.size([classes.table]) - workspace.size([target])
    return PersonClasses(classes.node, target, classes.left_out + lost) if lost else None
