"""m-invariant classes: every person in a class with the sensitive values that their class had before.

After the algorithm of Xiao and Tao ("m-Invariance", SIGMOD 2007, section 5). A bucket has one set of sensitive values,
the signature of all classes that it will be divided into:

    division    anyone who was released before is in the bucket of their signature
    balancing   each value of a bucket gets as many rows as the most frequent one: new persons, or else counterfeits
    assignment  the new persons who are left fill buckets of at least m values each, known or new
    split       a bucket is halved, the same rows of each value on either side, until a class has one row of each value

All of that is SQL over a table of persons; of them the counts per sensitive value are fetched, by which it is worked
out how many persons go where. Persons stand in the order of their quasi-identifiers, so that who goes together is near,
and that every engine does alike. A round of the split divides all buckets at once.

Decided here: buckets with fewer values are balanced first; a bucket is divided in the column where both halves are
narrowest; and for its label, a counterfeit takes the quasi-identifiers of a person nearby, so that no person's exact
values are published because the others of a class are counterfeits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.errors import UnsupportedError, VerificationError
from kanon_sql.evaluate import rows_in_words
from kanon_sql.hierarchies import Lookup, build_lookups
from kanon_sql.recode.assignment import Quotas, assigned, balanced
from kanon_sql.recode.invariant_persons import MOST_VALUES, Item, Past, Persons, Scratch
from kanon_sql.spec import MInvarianceRequirement, Spec
from kanon_sql.sql import Relation

__all__ = ["InvariantClasses", "NoInvariantClasses", "Past", "invariant_classes"]


@dataclass(frozen=True)
class NoInvariantClasses:
    """There are none.

    Attributes:
        rows: rows of the source.
        why: the reason, in a sentence without values.
    """

    rows: int
    why: str


@dataclass(frozen=True)
class InvariantClasses:
    """The classes of one release.

    Attributes:
        lookups: the lookup tables of the quasi-identifiers.
        placed: every person of the source.
        known: every sensitive value, by its number.
        members: the rows of the classes: persons and counterfeits.
        classes: the classes with their labels.
        rows: rows of the source, all of which are released.
        old: persons among them who were released before.
        count, smallest, largest: classes, and their rows.
        counterfeits: rows without a person.
        by_counterfeits: how many classes have this many of them.
        signatures: different sets of sensitive values.
        rounds: of the split.
        mean_loss: the mean loss of a cell of a person, columns weighted as the spec says.
    """

    lookups: Sequence[Lookup]
    placed: Relation
    known: Relation
    members: Relation
    classes: Relation
    rows: int
    old: int
    count: int
    smallest: int
    largest: int
    counterfeits: int
    by_counterfeits: Mapping[int, int]
    signatures: int
    rounds: int
    mean_loss: float


def invariant_classes(
    workspace: Workspace,
    spec: Spec,
    requirement: MInvarianceRequirement,
    columns: Mapping[str, Column],
    past: Past | None,
) -> InvariantClasses | NoInvariantClasses:
    """The classes of the next release of a sequence.

    Args:
        workspace: where, with scratch tables.
        spec: what to release.
        requirement: its only one.
        columns: the source's columns by name.
        past: what was released before; None for the first release.

    Returns:
        The classes; or why there are none: too few different values, values missing, or values that have changed.

    Raises:
        SpecError: the source has no rows, or a person several, or none is named.
        UnsupportedError: there are too many different sensitive values.
    """
    return _Making(workspace, Persons(workspace, spec, requirement, columns, past)).run()


@dataclass
class _Making(Scratch):
    """The work on one release."""

    persons: Persons

    @property
    def requirement(self) -> MInvarianceRequirement:
        """What the release is asked to be."""
        return self.persons.requirement

    def run(self) -> InvariantClasses | NoInvariantClasses:
        """Read, divide, balance, assign, split, label."""
        self.workspace.report("reading the source: the persons and their values", None)
        people = self.persons.people()
        rows, unvalued = self.persons.totals(people)
        if unvalued:
            return NoInvariantClasses(
                rows,
                f"{rows_in_words(unvalued)} without {self.requirement.attribute}: every person is released, and "
                "NULL does not count as a value; leave them out in a source query, or give them a value of "
                "their own there",
            )
        before = self.persons.before(people)
        known = self.make("known", {"people": people, "past": before})
        signatures = self.make("signatures", {"past": before, "known": known})
        lookups = build_lookups(self.workspace, self.persons.spec, dict(self.persons.columns), people)
        placed, items, old, changed = self.persons.placed(people, before, known, signatures, lookups, rows)
        if changed:
            return NoInvariantClasses(
                rows,
                f"{changed:,} persons now have a value of {self.requirement.attribute} that their class did not "
                "have when they were released: m-invariance needs values that do not change; leave these "
                "persons out in a source query",
            )
        self.workspace.report("making m-invariant classes", None)
        buckets = self._buckets(placed, known, signatures, items)
        if isinstance(buckets, str):
            return NoInvariantClasses(rows, buckets)
        members, rounds = self._split(buckets, items)
        return self._classes(lookups, placed, known, members, items, rows, old, rounds)

    # --- Buckets -------------------------------------------------------------------------

    def _buckets(
        self, placed: Relation, known: Relation, signatures: Relation, items: tuple[Item, ...]
    ) -> Relation | str:
        """Division, balancing and assignment; or why the new persons cannot be divided."""
        deficits = self.make("deficits", {"placed": placed, "signatures": signatures})
        tables = {"known": known, "placed": placed, "deficits": deficits}
        available, missing = self._histogram(tables)
        quotas = balanced(available, missing, self.requirement.m)
        if quotas is None:
            return self._not_eligible(available)
        table = self.loaded("quotas", _quota_rows(quotas, missing))
        fills = {"spare": str(quotas.spare)}
        filled = self.make("filled", {"deficits": deficits, "quotas": table}, fills=fills)
        taken = self.counts("taken", {"filled": filled})
        left = {value: count - taken.get(value, 0) for value, count in available.items()}
        used, plan = dict(taken), []
        for number, step in enumerate(assigned(left, self.requirement.m)):
            for value in step.values:
                first = used.get(value, 0)
                plan.append((number, value, first, step.taken))
                used[value] = first + step.taken
        tables = {"placed": placed, "filled": filled}
        if plan:
            steps = {"plan": self.loaded("plan", plan), "signatures": signatures}
            tables["steps"] = self.make("steps", steps)
        return self.make("members", tables, items=items, assigned=bool(plan))

    def _histogram(self, tables: Mapping[str, Relation]) -> tuple[dict[int, int], dict[int, int]]:
        """Per value, by its number: new persons, and rows that buckets lack."""
        values = self.workspace.size([tables["known"]])
        if values > MOST_VALUES:
            raise UnsupportedError(
                f"m_invariance: {self.requirement.attribute} has {values:,} different values, and at most "
                f"{MOST_VALUES:,} are supported; generalize it in a source query"
            )
        found = self.rows("histogram", MOST_VALUES, tables)
        available = {number: count for number, count, _ in found if count}
        return available, {number: lacking for number, _, lacking in found if lacking}

    def _not_eligible(self, available: Mapping[int, int]) -> str:
        """Why the new persons cannot be divided into classes."""
        m, persons = self.requirement.m, sum(available.values())
        if self.persons.past is None:
            return (
                f"of {rows_in_words(persons)}, {max(available.values()):,} have the same {self.requirement.attribute}, "
                f"which is more than 1 in {m}: they are not {m}-eligible, and no classes of {m} different values hold "
                "all of them; ask for a smaller m, or generalize the attribute in a source query"
            )
        return (
            f"{persons:,} persons were not released before, and whichever of them balance earlier classes, more "
            f"than 1 in {m} of the others have the same {self.requirement.attribute}: they are not {m}-eligible, "
            f"and no classes of {m} different values hold all of them; publish when there are more new persons"
        )

    # --- Classes -------------------------------------------------------------------------

    def _split(self, members: Relation, items: tuple[Item, ...]) -> tuple[Relation, int]:
        """Halve the buckets until each has one row of each value."""
        ((deepest,),) = self.rows("depth", 1, {"members": members})
        rounds = max(0, deepest - 1).bit_length()
        for number in range(rounds):
            self.workspace.report(f"dividing classes: round {number + 1} of {rounds}", None)
            turns = self.make("turns", {"members": members}, f"turns{number}", items=items)
            halves = self.make("halves", {"turns": turns}, f"halves{number}", items=items)
            divided = self.make("divided", {"turns": turns, "halves": halves}, f"divided{number}", items=items)
            for table in (halves, turns, members):
                self.workspace.drop(table)
            members = divided
        return members, rounds

    def _classes(
        self,
        lookups: Sequence[Lookup],
        placed: Relation,
        known: Relation,
        members: Relation,
        items: tuple[Item, ...],
        rows: int,
        old: int,
        rounds: int,
    ) -> InvariantClasses:
        """The labels of the classes, and what they are."""
        tables = {"members": members, "placed": placed}
        tables["borrowed"] = self.make("borrowed", tables)
        classes = self.make("classes", {**tables, **_tables_of(lookups), **self.persons.places}, items=items)
        ((count, smallest, largest, all_rows, counterfeits, signatures, *lost),) = self.rows(
            "summary", 1, {"classes": classes, "members": members}, items=items
        )
        refuse_incomplete("recode/invariant/classes", all_rows - counterfeits, rows)
        by_counterfeits = self.counts("by_counterfeits", {"classes": classes})
        if sum(by_counterfeits.values()) != count:
            raise VerificationError("the classes of the release do not add up; please report this, and no values")
        return InvariantClasses(
            lookups=lookups,
            placed=placed,
            known=known,
            members=members,
            classes=classes,
            rows=rows,
            old=old,
            count=count,
            smallest=smallest,
            largest=largest,
            counterfeits=counterfeits,
            by_counterfeits=dict(sorted(by_counterfeits.items())),
            signatures=signatures,
            rounds=rounds,
            mean_loss=_mean_loss(lookups, items, lost, rows),
        )


def _tables_of(lookups: Sequence[Lookup]) -> dict[str, Relation]:
    return {f"lookup_{lookup.index}": lookup.table for lookup in lookups}


def _quota_rows(quotas: Quotas, missing: Mapping[int, int]) -> list[tuple[int, int, int]]:
    """A row per value that buckets lack, whether a new person has it or not; one of no value where they lack none."""
    rows = [(value, quotas.forced.get(value, 0), quotas.most.get(value, 0)) for value in sorted(missing)]
    return rows or [(0, 0, 0)]


def _mean_loss(lookups: Sequence[Lookup], items: Sequence[Item], lost: Sequence[int], rows: int) -> float:
    """The mean over the persons' cells of the share of the domain's other values that a label stands for."""
    weights = [lookup.quasi_identifier.weight for lookup in lookups]
    losses = [
        figure / (item.domain_rows - 1) / rows if item.domain_rows > 1 else 0.0
        for figure, item in zip(lost, items, strict=True)
    ]
    total = sum(weight * loss for weight, loss in zip(weights, losses, strict=True))
    return float(f"{total / sum(weights):.12g}")
