"""The persons of an m-invariant release: the one pass over the source, what was released before, and their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.errors import SpecError
from kanon_sql.evaluate import rows_in_words
from kanon_sql.frequency import refuse_outside
from kanon_sql.hierarchies import Lookup, exact_texts, exact_value, refuse_blank_ends, refuse_mixed_forms
from kanon_sql.spec import MInvarianceRequirement, Spec
from kanon_sql.sql import Relation, source_relation

__all__ = ["MOST_VALUES", "Item", "Past", "Persons", "Scratch"]

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
class Item:
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


@dataclass
class Scratch:
    """The scratch tables and figures of one release, from the templates of ``recode/invariant``."""

    workspace: Workspace

    def make(self, name: str, tables: Mapping[str, Relation], what: str | None = None, **context: Any) -> Relation:
        """A scratch table of a template."""
        fills = context.pop("fills", {})
        return self.workspace.make(f"recode/invariant/{name}", f"m_{what or name}", tables, fills, **context)

    def rows(self, name: str, limit: int, tables: Mapping[str, Relation], **context: Any) -> list[list[int]]:
        """The whole numbers that a template returns."""
        compiler = self.workspace.compiler
        quoted = {key: self.workspace.quoted(table) for key, table in tables.items()}
        found = self.workspace.query(compiler.filled(f"recode/invariant/{name}", quoted, **context), limit)
        return [[int(figure or 0) for figure in row] for row in found]

    def counts(self, name: str, tables: Mapping[str, Relation]) -> dict[int, int]:
        """The rows of a template that are a number and a count each."""
        return {row[0]: row[1] for row in self.rows(name, MOST_VALUES, tables)}

    def loaded(self, what: str, rows: Sequence[Sequence[int]]) -> Relation:
        """A scratch table of numbers that were worked out here."""
        table = self.workspace.table(f"m_{what}")
        texts = [[str(figure) for figure in row] for row in rows]
        self.workspace.load(table, [f"l{place}" for place in range(len(rows[0]))], texts)
        return table


@dataclass
class Persons(Scratch):
    """What is read of one release's persons.

    Attributes:
        spec: what to release.
        requirement: its only one.
        columns: the source's columns by name.
        past: what was released before; None for the first release.
        places: per quasi-identifier, where its values are in their order; once persons are :meth:`placed`.
    """

    spec: Spec
    requirement: MInvarianceRequirement
    columns: Mapping[str, Column]
    past: Past | None
    places: Mapping[str, Relation] = field(default_factory=dict)

    def people(self) -> Relation:
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

    def totals(self, people: Relation) -> tuple[int, int]:
        """Rows, and those of them without a sensitive value."""
        ((rows, known, persons, valued),) = self.rows("totals", 1, {"people": people})
        unit = self.spec.unit
        if not rows:
            raise SpecError("the source has no rows; give a table that has some")
        if known < rows:
            raise SpecError(f"unit: {rows_in_words(rows - known)} without {unit}; m-invariance is about persons")
        if persons < rows:
            raise SpecError(
                f"unit: {rows_in_words(rows)} are of {persons:,} persons ({unit}); m-invariance is about one row each: "
                "choose one in a source query"
            )
        return rows, rows - valued

    def before(self, people: Relation) -> Relation:
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

    def placed(
        self,
        people: Relation,
        before: Relation,
        known: Relation,
        signatures: Relation,
        lookups: Sequence[Lookup],
        rows: int,
    ) -> tuple[Relation, tuple[Item, ...], int, int]:
        """Every person with their places; the columns; persons released before, and those whose value has changed."""
        items = tuple(self._item(lookup) for lookup in lookups)
        self.places = {
            f"places_{item.index}": self.make("places", {"lookup": lookup.table}, f"places{item.index}", item=item)
            for item, lookup in zip(items, lookups, strict=True)
        }
        tables = {"people": people, "past": before, "known": known, **self.places}
        placed = self.make("placed", tables, items=items)
        ((there, old, changed, *ends),) = self.rows(
            "strangers", 1, {"placed": placed, "signatures": signatures}, items=items
        )
        refuse_incomplete("recode/invariant/placed", there, rows)
        measured = []
        for item, lookup, last, values in zip(items, lookups, ends[::2], ends[1::2], strict=True):
            unit = int(_UNIT * lookup.quasi_identifier.weight) // max(1, last - 1)
            domain = values + item.has_nulls if item.ranged else item.domain_rows
            measured.append(replace(item, unit=unit, values=values, domain_rows=max(1, domain)))
        return placed, tuple(measured), old, changed

    def _item(self, lookup: Lookup) -> Item:
        column, own = self.columns[lookup.name], lookup.quasi_identifier
        rows = own.is_listed
        ordered, ranged = column.kind not in ("text", "other"), lookup.name in self.requirement.in_ranges
        if ranged and not ordered:
            raise SpecError(
                f"privacy: m_invariance: ranges: {lookup.name} is {column.type}, and ranges are of numbers, dates and "
                "times; give it a hierarchy instead"
            )
        return Item(
            index=lookup.index,
            top=lookup.top,
            levels=tuple(range(own.minimum_level, lookup.height)),
            climb=tuple(range(lookup.height - 1, -1, -1)),
            by_value=ordered and (ranged or not rows),
            has_nulls=lookup.has_nulls,
            ranged=ranged,
            domain_rows=lookup.domain_rows,
        )
