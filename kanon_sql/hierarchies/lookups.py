"""What is known of a lookup table: where it is, whether its levels nest, and whether it covers the data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from kanon_sql.errors import Problem, SpecError, counted, have
from kanon_sql.spec import QuasiIdentifier, Spec
from kanon_sql.sql import Relation

__all__ = ["UNLIMITED", "BuiltTable", "Coverage", "Lookup", "LookupTable", "Survey", "limited", "refuse_limits"]

UNLIMITED = {"minimum_level": 0, "maximum_level": None, "weight": 1.0}
"""What a spec says of a quasi-identifier, and its lookup table does not depend on."""


@dataclass(frozen=True, kw_only=True)
class LookupTable:
    """Where the lookup table of one quasi-identifier, or of a sensitive attribute with a hierarchy, is.

    Attributes:
        index: its position among the quasi-identifiers, or among the sensitive attributes.
        name: the source column.
        where: what to call it in messages.
        column: its column in the raw frequency table.
        table: the lookup table: ``value``, and per level its label ``l<level>``, that label's number among all of the
            level (``c<level>``, from 1) and among those of its parent (``d<level>``, from 0; the highest level below
            the top has none), and the domain values under it (``s<level>``).
        height: the top level; the top has a label and needs no code.
        top: the top's label.
        quasi_identifier: level limits and weight, from the spec.
        level_names: what each level is called, the top's name last.
        unlabelled: the levels whose labels the lookup table does not hold: intervals that no released row is under.
    """

    index: int
    name: str
    where: str
    column: str
    table: Relation
    height: int
    top: str
    quasi_identifier: QuasiIdentifier
    level_names: Sequence[str]
    unlabelled: Collection[int] = ()

    @property
    def levels(self) -> range:
        """The levels that have a code: all but the top."""
        return range(self.height)

    @property
    def highest(self) -> int:
        """The highest level that the spec allows."""
        limit = self.quasi_identifier.maximum_level
        return self.height if limit is None else limit


@dataclass(frozen=True, kw_only=True)
class Lookup(LookupTable):
    """A lookup table that was found to cover the data.

    Attributes:
        domain_rows: values of the domain (rows of the hierarchy).
        listed: values that the hierarchy lists, whichever of them occur; None for rules.
        unused: hierarchy rows that no row of the data uses; None for rules.
        null_rows: rows of the source that have NULL here.
        has_nulls: whether NULL may be among the values, so that joins must compare it too.
    """

    domain_rows: int
    listed: int | None = None
    unused: int | None
    null_rows: int
    has_nulls: bool


@dataclass(frozen=True, kw_only=True)
class BuiltTable(LookupTable):
    """A lookup table that was just built.

    Attributes:
        hierarchy_rows: the hierarchy's own rows; None for rules.
        given: them, from a file or a tree; None where only the database has them.
        nested_in: where its labels must nest.
    """

    hierarchy_rows: int | None
    given: Sequence[Sequence[str]] | None
    nested_in: Relation


@dataclass(frozen=True)
class Coverage:
    """How a lookup table meets the data: numbers of distinct values, and of their rows.

    Attributes:
        values: distinct values, NULL among them.
        equal: those that are equal to themselves, hence in the lookup table.
        null_values, null_rows: NULL: 1 or 0, and its rows.
        uncovered, uncovered_rows: without a row in the hierarchy.
    """

    values: int
    equal: int
    null_values: int
    null_rows: int
    uncovered: int
    uncovered_rows: int


@dataclass(frozen=True)
class Survey:
    """What was found out about a lookup table, before anything is refused.

    Attributes:
        table: the lookup table.
        split: level -> labels of it that have more than one parent.
        coverage: of the data.
        nearly: what uncovered values differ in from a value of the hierarchy, in words -> how many of them do.
    """

    table: BuiltTable
    split: Mapping[int, int]
    coverage: Coverage
    nearly: Mapping[str, int] = field(default_factory=dict)

    def nesting_problems(self) -> list[Problem]:
        """Levels that do not nest."""
        return [
            Problem(
                f"{self.table.where}: {count} labels of level {level} have more than one parent at "
                f"level {level + 1}: levels must nest"
            )
            for level, count in sorted(self.split.items())
            if count
        ]

    def coverage_problems(self, nulls: str, *, partial: bool = False) -> list[Problem]:
        """Values that no label can be found for; the rest are counted, never named.

        Args:
            nulls: what the spec says of NULL.
            partial: values without a row are allowed.
        """
        where, found, problems = self.table.where, self.coverage, []
        if found.equal != found.values:
            problems.append(
                Problem(
                    f"{where}: {found.values - found.equal} distinct values are not equal to themselves on "
                    "this engine (NaN?), so no row can be matched with them; filter them in a source query"
                )
            )
        if found.uncovered and not partial:
            problems.append(
                Problem(
                    f"{where}: {counted(found.uncovered, 'distinct value')} ({counted(found.uncovered_rows, 'row')}) "
                    f"{'has' if found.uncovered == 1 else 'have'} no "
                    f"generalization in the hierarchy{self._almost()}; add rows for them (kanon-sql hierarchy --reveal "
                    "N shows N of them)"
                )
            )
        if found.null_rows and nulls == "error":
            problems.append(
                Problem(
                    f"{where}: {have(found.null_rows)} NULL, and the spec says nulls: error; "
                    "use nulls: value (NULL is a value of its own) or nulls: suppress"
                )
            )
        return problems

    def _almost(self) -> str:
        """Of how many of them it has a value that is written a little otherwise."""
        parts = [f"{count:,} only in {what}" for what, count in self.nearly.items() if count]
        return f" (of them differ from a value of it {', '.join(parts)})" if parts else ""

    @property
    def unused(self) -> int | None:
        """Hierarchy rows that no row of the data uses; None for rules."""
        rows, found = self.table.hierarchy_rows, self.coverage
        return None if rows is None else rows - (found.values - found.null_values - found.uncovered)

    def lookup(self, nulls: str) -> Lookup:
        """The lookup table, for use."""
        rows, found = self.table.hierarchy_rows, self.coverage
        used = found.values - found.null_values
        domain = used if rows is None else rows
        return Lookup(
            **{field.name: getattr(self.table, field.name) for field in fields(LookupTable)},
            domain_rows=max(1, domain + (found.null_values if nulls == "value" else 0)),
            listed=rows,
            unused=self.unused,
            null_rows=found.null_rows,
            has_nulls=found.null_values > 0,
        )


def limited(lookups: Sequence[Lookup], spec: Spec) -> list[Lookup]:
    """Lookup tables with the level limits and the weights of another spec, whose hierarchies are the same.

    Raises:
        SpecError: a limit is above a hierarchy's top.
    """
    found = [replace(item, quasi_identifier=spec.quasi_identifiers[item.name]) for item in lookups]
    refuse_limits(found)
    return found


def refuse_limits(tables: Sequence[LookupTable]) -> None:
    """Refuse level limits above the tops of hierarchies.

    Raises:
        SpecError: names each of them.
    """
    problems = []
    for item in tables:
        maximum, minimum = item.quasi_identifier.maximum_level, item.quasi_identifier.minimum_level
        for what, level in (("minimum_level", minimum), ("maximum_level", maximum)):
            if level is not None and level > item.height:
                problems.append(
                    Problem(
                        f"{item.where}: {what} {level} is above the hierarchy's top, which is level {item.height}; "
                        "lower it"
                    )
                )
    if problems:
        raise SpecError(problems)
