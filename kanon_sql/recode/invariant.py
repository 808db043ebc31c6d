"""m-invariant classes: every person in a class with the sensitive values that their class had before.

After the algorithm of Xiao and Tao ("m-Invariance", SIGMOD 2007, section 5). A bucket has one set of sensitive values,
the signature of all classes that it will be divided into:

    division    whoever was released before is in the bucket of their signature
    balancing   each value of a bucket gets as many rows as the most frequent one: new persons, or else counterfeits
    assignment  the new persons who are left fill buckets of at least m values each, known or new
    split       a bucket is halved, the same rows of each value on either side, until a class has one row of each value

All of that is SQL over a table of persons; of them the counts per sensitive value are fetched, by which it is worked
out how many persons go where. Persons stand in the order of their quasi-identifiers, so that who goes together is near,
and that every engine does alike. A round of the split divides all buckets at once.

Decided here: buckets with fewer values are balanced first; a bucket is divided in the column where both halves are
narrowest; and for its label, a counterfeit takes the quasi-identifiers of a person nearby, so that nobody's exact
values are published because the others of a class are counterfeits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.errors import SpecError, UnsupportedError, VerificationError
from kanon_sql.evaluate import rows_in_words
from kanon_sql.frequency import refuse_outside
from kanon_sql.hierarchies import Lookup, build_lookups, exact_texts, exact_value, refuse_blank_ends, refuse_mixed_forms
from kanon_sql.recode.assignment import Quotas, assigned, balanced
from kanon_sql.spec import FileHierarchy, MInvarianceRequirement, Spec, TableHierarchy, TreeHierarchy
from kanon_sql.sql import Relation, source_relation

__all__ = ["MOST_VALUES", "InvariantClasses", "NoInvariantClasses", "Past", "invariant_classes"]

MOST_VALUES = 100_000
"""A sensitive attribute with more different values is refused: how often each occurs is fetched."""

_UNIT = 10**6
"""What the whole extent of a column is worth, in whole numbers, so that engines agree on ties."""


@dataclass(frozen=True)
class Past:
    """What was released before.

    Attributes:
        table: the history.
        columns: its columns by name.
        signature: that of the numbers of sets of values.
    """

    table: Relation
    columns: Mapping[str, Column]
    signature: str


@dataclass(frozen=True)
class _Item:
    """A quasi-identifier, as templates see it.

    Attributes:
        index: its number.
        top: the label of its top level.
        levels: the levels below the top that a label may have.
        climb: all levels below the top, the highest first.
        by_value: its places are in the order of its values; else along its hierarchy.
        has_nulls: whether NULL is among its values.
        ranged: it is released as ranges of its values.
        domain_rows: how many values it may have; NULL is one, where it occurs.
        values: how many of them occur and are not NULL; for ranges.
        unit: what a step from place to place is worth.
    """

    index: int
    top: str
    levels: tuple[int, ...]
    climb: tuple[int, ...]
    by_value: bool
    has_nulls: bool
    ranged: bool
    domain_rows: int
    values: int = 0
    unit: int = 0


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
        counterfeits: rows of nobody.
        by_counterfeits: how many classes have so many of them.
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
        UnsupportedError: there are no scratch tables, or too many different sensitive values.
    """
    if workspace.mode == "inline":
        raise UnsupportedError(
            "m_invariance: classes are made in rounds of scratch tables, and the scratch mode 'inline' has none; allow "
            "scratch tables (temp or schema)"
        )
    return _Making(workspace, spec, requirement, columns, past).run()


@dataclass
class _Making:
    """The work on one release."""

    workspace: Workspace
    spec: Spec
    requirement: MInvarianceRequirement
    columns: Mapping[str, Column]
    past: Past | None
    places: Mapping[str, Relation] = field(default_factory=dict)

    def run(self) -> InvariantClasses | NoInvariantClasses:
        """Read, divide, balance, assign, split, label."""
        self.workspace.report("reading the source: the persons and their values", None)
        people = self._people()
        rows, unvalued = self._totals(people)
        if unvalued:
            return NoInvariantClasses(
                rows,
                f"{rows_in_words(unvalued)} without {self.requirement.attribute}: NULL is no value that protects, and "
                "nobody is left out; leave them out in a source query, or give them a value of their own there",
            )
        before = self._before(people)
        known = self._make("known", {"people": people, "past": before})
        signatures = self._make("signatures", {"past": before, "known": known})
        lookups = build_lookups(self.workspace, self.spec, dict(self.columns), people)
        placed, items, old, changed = self._placed(people, before, known, signatures, lookups, rows)
        if changed:
            return NoInvariantClasses(
                rows,
                f"{changed:,} persons have another {self.requirement.attribute} now than any of their class when they "
                "were released before: m-invariance is about values that stay, and no class with the same values has "
                "theirs; leave them out in a source query",
            )
        self.workspace.report("making m-invariant classes", None)
        buckets = self._buckets(placed, known, signatures, items)
        if isinstance(buckets, str):
            return NoInvariantClasses(rows, buckets)
        members, rounds = self._split(buckets, items)
        return self._classes(lookups, placed, known, members, items, rows, old, rounds)

    def _make(self, name: str, tables: Mapping[str, Relation], what: str | None = None, **context: Any) -> Relation:
        fills = context.pop("fills", {})
        return self.workspace.make(f"recode/invariant/{name}", f"m_{what or name}", tables, fills, **context)

    def _rows(self, name: str, limit: int, tables: Mapping[str, Relation], **context: Any) -> list[list[int]]:
        compiler = self.workspace.compiler
        quoted = {key: self.workspace.quoted(table) for key, table in tables.items()}
        found = self.workspace.query(compiler.filled(f"recode/invariant/{name}", quoted, **context), limit)
        return [[int(figure or 0) for figure in row] for row in found]

    def _counts(self, name: str, tables: Mapping[str, Relation]) -> dict[int, int]:
        """The rows of a template that are a number and a count each."""
        return {row[0]: row[1] for row in self._rows(name, MOST_VALUES, tables)}

    # --- Reading -------------------------------------------------------------------------

    def _people(self) -> Relation:
        """The one pass over the source."""
        spec, table = self.spec, self.workspace.table("m_people")
        assert spec.unit is not None
        (attribute,) = spec.sensitive
        named = [*spec.quasi_identifiers, spec.unit, attribute]
        texts = exact_texts([self.columns[name] for name in named], "checked")
        refuse_blank_ends(self.workspace, source_relation(), texts, "the source")
        names = [*(f"q{index}" for index in range(len(spec.quasi_identifiers))), "person", "value"]
        self.workspace.execute(
            "recode/invariant/people",
            target=table,
            source=source_relation(),
            names=names,
            values=[exact_value(self.columns[name], "kanon_source") for name in named],
            unit=spec.unit,
            attribute=attribute,
        )
        stored = {name: self.columns[source] for name, source in zip(names, named, strict=True)}
        refuse_mixed_forms(self.workspace, table, stored, labelled=names[:-2])
        refuse_outside(self.workspace, spec, table)
        return table

    def _totals(self, people: Relation) -> tuple[int, int]:
        """Rows, and those of them without a sensitive value."""
        ((rows, known, persons, valued),) = self._rows("totals", 1, {"people": people})
        unit = self.spec.unit
        if not rows:
            raise SpecError("the source has no rows, so there is nothing to release; name a table that has some")
        if known < rows:
            raise SpecError(f"unit: {rows_in_words(rows - known)} without {unit}; m-invariance is about persons")
        if persons < rows:
            raise SpecError(
                f"unit: {rows_in_words(rows)} are of {persons:,} persons ({unit}); m-invariance is about one row each: "
                "choose one in a source query"
            )
        return rows, rows - valued

    def _before(self, people: Relation) -> Relation:
        """What the history remembers; nothing without one."""
        table, past = self.workspace.table("m_past"), self.past
        assert self.spec.unit is not None
        own: dict[str, Any] = dict.fromkeys(("signature", "person", "value", "attribute"))
        if past is not None:
            person, value = past.columns[self.spec.unit], past.columns[self.requirement.attribute]
            own = {
                "signature": past.signature,
                "person": exact_value(person, "checked"),
                "value": exact_value(value, "checked"),
                "attribute": value.name,
            }
        history = None if past is None else past.table
        self.workspace.execute("recode/invariant/past", target=table, people=people, history=history, **own)
        return table

    def _placed(
        self,
        people: Relation,
        before: Relation,
        known: Relation,
        signatures: Relation,
        lookups: Sequence[Lookup],
        rows: int,
    ) -> tuple[Relation, tuple[_Item, ...], int, int]:
        """Every person with their places; the columns; persons released before, and those whose value has changed."""
        items = tuple(self._item(lookup) for lookup in lookups)
        self.places = {
            f"places_{item.index}": self._make("places", {"lookup": lookup.table}, f"places{item.index}", item=item)
            for item, lookup in zip(items, lookups, strict=True)
        }
        tables = {"people": people, "past": before, "known": known, **self.places}
        placed = self._make("placed", tables, items=items)
        ((there, old, changed, *ends),) = self._rows(
            "strangers", 1, {"placed": placed, "signatures": signatures}, items=items
        )
        refuse_incomplete("recode/invariant/placed", there, rows)
        measured = []
        for item, lookup, last, values in zip(items, lookups, ends[::2], ends[1::2], strict=True):
            unit = int(_UNIT * lookup.quasi_identifier.weight) // max(1, last - 1)
            domain = values + item.has_nulls if item.ranged else item.domain_rows
            measured.append(replace(item, unit=unit, values=values, domain_rows=max(1, domain)))
        return placed, tuple(measured), old, changed

    def _item(self, lookup: Lookup) -> _Item:
        column, own = self.columns[lookup.name], lookup.quasi_identifier
        rows = isinstance(own.hierarchy, FileHierarchy | TreeHierarchy | TableHierarchy)
        ordered, ranged = column.kind not in ("text", "other"), lookup.name in self.requirement.in_ranges
        if ranged and not ordered:
            raise SpecError(
                f"privacy: m_invariance: ranges: {lookup.name} is {column.type}, and ranges are of numbers, dates and "
                "times; give it a hierarchy instead"
            )
        return _Item(
            index=lookup.index,
            top=lookup.top,
            levels=tuple(range(own.minimum_level, lookup.height)),
            climb=tuple(range(lookup.height - 1, -1, -1)),
            by_value=ordered and (ranged or not rows),
            has_nulls=lookup.has_nulls,
            ranged=ranged,
            domain_rows=lookup.domain_rows,
        )

    # --- Buckets -------------------------------------------------------------------------

    def _buckets(
        self, placed: Relation, known: Relation, signatures: Relation, items: tuple[_Item, ...]
    ) -> Relation | str:
        """Division, balancing and assignment; or why the new persons cannot be divided."""
        deficits = self._make("deficits", {"placed": placed, "signatures": signatures})
        tables = {"known": known, "placed": placed, "deficits": deficits}
        available, missing = self._histogram(tables)
        quotas = balanced(available, missing, self.requirement.m)
        if quotas is None:
            return self._not_eligible(available)
        table = self._loaded("quotas", _quota_rows(quotas, missing))
        fills = {"spare": str(quotas.spare)}
        filled = self._make("filled", {"deficits": deficits, "quotas": table}, fills=fills)
        taken = self._counts("taken", {"filled": filled})
        left = {value: count - taken.get(value, 0) for value, count in available.items()}
        begun, plan = dict(taken), []
        for number, step in enumerate(assigned(left, self.requirement.m)):
            for value in step.values:
                first = begun.get(value, 0)
                plan.append((number, value, first, step.taken))
                begun[value] = first + step.taken
        tables = {"placed": placed, "filled": filled}
        if plan:
            steps = {"plan": self._loaded("plan", plan), "signatures": signatures}
            tables["steps"] = self._make("steps", steps)
        return self._make("members", tables, items=items, assigned=bool(plan))

    def _histogram(self, tables: Mapping[str, Relation]) -> tuple[dict[int, int], dict[int, int]]:
        """Per value, by its number: new persons, and rows that buckets lack."""
        values = self.workspace.size([tables["known"]])
        if values > MOST_VALUES:
            raise UnsupportedError(
                f"m_invariance: {self.requirement.attribute} has {values:,} different values, and at most "
                f"{MOST_VALUES:,} can be worked with; generalize it in a source query"
            )
        found = self._rows("histogram", MOST_VALUES, tables)
        available = {number: count for number, count, _ in found if count}
        return available, {number: lacking for number, _, lacking in found if lacking}

    def _not_eligible(self, available: Mapping[int, int]) -> str:
        """Why the new persons cannot be divided into classes."""
        m, persons = self.requirement.m, sum(available.values())
        if self.past is None:
            return (
                f"of {rows_in_words(persons)}, {max(available.values()):,} have the same {self.requirement.attribute}, "
                f"which is more than 1 in {m}: they are not {m}-eligible, and no classes of {m} different values hold "
                "all of them; ask for a smaller m, or generalize the attribute in a source query"
            )
        return (
            f"{persons:,} persons were not released before, and whichever of them balance earlier classes, more than 1 "
            f"in {m} of the others have the same {self.requirement.attribute}: they are not {m}-eligible, and no "
            f"classes of {m} different values hold all of them; publish once more persons have come"
        )

    def _loaded(self, what: str, rows: Sequence[Sequence[int]]) -> Relation:
        table = self.workspace.table(f"m_{what}")
        texts = [[str(figure) for figure in row] for row in rows]
        self.workspace.load(table, [f"l{place}" for place in range(len(rows[0]))], texts)
        return table

    # --- Classes -------------------------------------------------------------------------

    def _split(self, members: Relation, items: tuple[_Item, ...]) -> tuple[Relation, int]:
        """Halve the buckets until each has one row of each value."""
        ((deepest,),) = self._rows("depth", 1, {"members": members})
        rounds = max(0, deepest - 1).bit_length()
        for number in range(rounds):
            self.workspace.report(f"dividing classes: round {number + 1} of {rounds}", None)
            turns = self._make("turns", {"members": members}, f"turns{number}", items=items)
            halves = self._make("halves", {"turns": turns}, f"halves{number}", items=items)
            divided = self._make("divided", {"turns": turns, "halves": halves}, f"divided{number}", items=items)
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
        items: tuple[_Item, ...],
        rows: int,
        old: int,
        rounds: int,
    ) -> InvariantClasses:
        """The labels of the classes, and what they are."""
        tables = {"members": members, "placed": placed}
        tables["borrowed"] = self._make("borrowed", tables)
        classes = self._make("classes", {**tables, **_tables_of(lookups), **self.places}, items=items)
        ((count, smallest, largest, all_rows, counterfeits, signatures, *lost),) = self._rows(
            "summary", 1, {"classes": classes, "members": members}, items=items
        )
        refuse_incomplete("recode/invariant/classes", all_rows - counterfeits, rows)
        by_counterfeits = self._counts("by_counterfeits", {"classes": classes})
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


def _mean_loss(lookups: Sequence[Lookup], items: Sequence[_Item], lost: Sequence[int], rows: int) -> float:
    """The mean over the persons' cells of the share of the domain's other values that a label stands for."""
    weights = [lookup.quasi_identifier.weight for lookup in lookups]
    losses = [
        figure / (item.domain_rows - 1) / rows if item.domain_rows > 1 else 0.0
        for figure, item in zip(lost, items, strict=True)
    ]
    total = sum(weight * loss for weight, loss in zip(weights, losses, strict=True))
    return float(f"{total / sum(weights):.12g}")
