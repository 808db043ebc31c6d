"""Events generalized within each class of persons, row by row.

A row of another table begins at its lowest levels. While fewer than k persons of its class have a row that is known by
the same labels, as often, it climbs one step of its table's path, and takes the rows above it along where the step is
one of their columns: what a row is known by is what is released of it and of the rows above it. What is at the end of
its path is left out, with the rows below it. Levels only rise, so this ends; in the end every item that occurs is
shared by k persons of its class: k^m-anonymity for m = 1 (Terrovitis et al. 2008), within classes (Poulis et al. 2013).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kanon_sql.engines import Workspace
from kanon_sql.relations.classes import PersonClasses
from kanon_sql.relations.members import Member, States, path_of
from kanon_sql.relations.sensitive import Sensitive
from kanon_sql.spec import PERSON
from kanon_sql.sql import Relation

__all__ = ["Climb", "climbed", "without_lost_rows"]

ABOVE = 2.0
"""What a step of a column of the rows above counts, beside one of its own: it is lost in two tables."""


@dataclass
class Climb:
    """Climbing under way.

    Attributes:
        workspace: where.
        members: the tables, each after its parent.
        classes: the persons who stay.
        k: how many persons share an item.
        sensitive: the sensitive values of persons.
        states: the rows that stay.
    """

    workspace: Workspace
    members: Mapping[str, Member]
    classes: PersonClasses
    k: int
    sensitive: Sensitive
    states: dict[str, Relation] = field(default_factory=dict)
    _placed: dict[str, Relation] = field(default_factory=dict)
    """The rows of the persons who stay, with their classes."""
    _count: int = 0

    @property
    def events(self) -> list[Member]:
        """The tables below that of persons, each after its parent."""
        return [member for name, member in self.members.items() if name != PERSON]

    def paths(self) -> dict[str, list[list[int]]]:
        """Per table, the steps of what its rows are known by."""
        found = {}
        for member in self.events:
            weights = [ABOVE] * member.inherited + [1.0] * len(member.columns)
            found[member.name] = path_of(member.path, weights) if member.path else []
        return found

    def start(self) -> None:
        """Every row of a person who stays, at its lowest levels."""
        for member in self.events:
            state = self.workspace.table(f"state_{self._number()}")
            self.workspace.execute(
                "relations/state",
                target=state,
                coded=member.coded,
                classes=self.classes.table,
                levels=[column.lowest for column in member.columns],
                is_child=True,
            )
            self.states[member.name] = state

    def round(self, paths: Mapping[str, Sequence[Sequence[int]]]) -> int:
        """One step of all rows whose items are rare; returns how many these were."""
        with self.workspace.passing():
            rare = self.rare(paths)
            counts = self._counts(rare)
            total = sum(number for number, _ in counts.values())
            if total:
                self._climb(rare, {name for name, (_, gone) in counts.items() if gone})
        return total

    def labelled_rows(self) -> dict[str, Relation]:
        """The rows of each table with their labels and levels, and those of the rows above them."""
        labelled: dict[str, Relation] = {}
        for member in self.events:
            assert member.parent is not None
            labelled[member.name] = self.made(
                "relations/labelled",
                "labelled",
                placed=self._placed[member.name],
                state=self.states[member.name],
                parent=labelled[member.parent.name] if member.inherited else None,
                inherited=member.inherited,
                items=member.items(),
                packs=member.packs,
            )
        return labelled

    def rare(self, paths: Mapping[str, Sequence[Sequence[int]]]) -> dict[str, Relation]:
        """Per table, the rows that must not stay as they are, with the levels that they are to have."""
        labelled = self.labelled_rows()
        rare: dict[str, Relation] = {}
        coherent = [item for item in self.sensitive.spec.coherence if item.m and item.h < 1]
        holders = self.sensitive.holders(self.states) if coherent else None
        for member in self.events:
            keys = len(member.packs)
            repeated = self.made("relations/repeated", "repeated", labelled=labelled[member.name], keys=keys)
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
            rare[member.name] = self.made(
                "relations/rare",
                "rare",
                labelled=labelled[member.name],
                shared=shared,
                keys=keys,
                width=len(member.path),
                path=[list(step) for step in paths[member.name]],
            )
        return rare

    def finished(self) -> tuple[States, int]:
        """The rows that stay after the last round, and how many were left out."""
        before = self.workspace.size(list(self.states.values()))
        for member in self.events:
            self._placed[member.name] = self.made(
                "relations/placed",
                "placed",
                coded=member.coded,
                classes=self.classes.table,
                names=[f"g{column.number}_{level}" for column in member.columns for level in column.levels],
            )
        paths = self.paths()
        number = 1
        self.workspace.report("generalizing events within classes of persons", None)
        while self.round(paths):  # it ends: each round some row climbs, or is left out
            number += 1
            self.workspace.report(f"generalizing events within classes of persons: round {number}", None)
        return self.states, before - self.workspace.size(list(self.states.values()))

    def _counts(self, rare: Mapping[str, Relation]) -> dict[str, tuple[int, int]]:
        names = list(rare)
        branches = [
            self.workspace.compiler.filled(
                "relations/rare_counts", {"number": str(number), "rare": self.workspace.quoted(rare[name])}
            )
            for number, name in enumerate(names)
        ]
        rows = self.workspace.query(self.workspace.compiler.union(branches), len(branches))
        return {names[int(number)]: (int(count), int(gone)) for number, count, gone in rows}

    def _climb(self, rare: Mapping[str, Relation], losing: set[str]) -> None:
        """The states after what rare rows ask: each table's own rows, and those below them."""
        raised: dict[str, Relation] = {}
        for member in reversed(self.events):
            below = [
                raised[other.name]
                for other in self.events
                if other.parent is not None and other.parent.name == member.name
            ]
            raised[member.name] = self.made(
                "relations/raised",
                "raised",
                rare=rare[member.name],
                below=below if member.path else [],
                coded=member.coded,
                width=len(member.path),
            )
        losing = set(losing)
        for member in self.events:
            assert member.parent is not None
            before = self.states[member.name]
            own = len(member.columns)
            orphaned = member.parent.name in losing
            state = self._lasting(
                "relations/climbed",
                state=before,
                raised=raised[member.name],
                own=own,
                inherited=member.inherited,
            )
            if orphaned:
                losing.add(member.name)
                kept = self._lasting(
                    "relations/without_orphans",
                    state=state,
                    coded=member.coded,
                    parents=self.states[member.parent.name],
                    own=own,
                )
                self.workspace.drop(state)
                state = kept
            self.workspace.drop(before)
            self.states[member.name] = state

    def made(self, template: str, what: str, **context: object) -> Relation:
        """A scratch table."""
        target = self.workspace.table(f"{what}_{self._number()}")
        self.workspace.execute(template, target=target, **context)
        return target

    def _lasting(self, template: str, **context: object) -> Relation:
        """A table that outlives the round."""
        target = self.made(template, "state", **context)
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


def climbed(
    workspace: Workspace, members: Mapping[str, Member], classes: PersonClasses, k: int, sensitive: Sensitive
) -> tuple[States, int]:
    """Generalize the rows of all tables below that of persons until every item is shared by k persons of its class.

    An item is rare, too, while too large a share of the persons who share it has one sensitive value.

    Args:
        workspace: where.
        members: the tables, each after its parent.
        classes: the persons who stay.
        k: how many persons share an item.
        sensitive: the sensitive values of persons.

    Returns:
        The rows that stay, and how many rows of the persons who stay were left out.
    """
    climb = Climb(workspace, members, classes, k, sensitive)
    climb.start()
    return climb.finished()
