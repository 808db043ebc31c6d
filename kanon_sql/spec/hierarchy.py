"""The quasi-identifiers of a spec, and the kinds of generalization hierarchy they may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler, PrivateAttr, WithJsonSchema
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import (
    Check,
    Fault,
    Faults,
    Part,
    checked,
    choice,
    fail,
    integer,
    items,
    number,
    plain_number,
    text,
    the_number,
)
from kanon_sql.spec.computed import FORMS, sortable_faults
from kanon_sql.spec.names import format_table_name, parse_table_name
from kanon_sql.spec.positions import MOST_DIGITS, Point
from kanon_sql.spec.redact import redact_location, redact_sql, sha256
from kanon_sql.spec.release_year import RELEASE_YEAR, names_release_year
from kanon_sql.spec.tree import TreeHierarchy, parse_tree

__all__ = [
    "DATE_UNITS",
    "TABLE_NAME",
    "DatesHierarchy",
    "FileHierarchy",
    "Hierarchy",
    "IntervalsHierarchy",
    "PointHierarchy",
    "PrefixHierarchy",
    "QuasiIdentifier",
    "SqlHierarchy",
    "TableHierarchy",
    "ValueHierarchy",
    "table_name",
]

DATE_UNITS = ("day", "month", "quarter", "year", "decade", "century")
"""The units of a date hierarchy, from fine to coarse; each nests in the next."""


@dataclass(frozen=True, slots=True)
class ValueHierarchy:
    """The value itself, then ``*``."""


@dataclass(frozen=True, slots=True)
class IntervalsHierarchy:
    """Half-open intervals ``[a, a + width)`` with ``a = origin + n * width``.

    Attributes:
        widths: per level, each a multiple of the one before.
        origin: where an interval of every width begins.
        bottom: everything below is one group; None for no bottom coding.
        top: this and everything above is one group; None for no top coding.
        sortable: labels are padded with zeros, so that they sort as their numbers do.
    """

    widths: tuple[Decimal, ...]
    origin: Decimal = Decimal(0)
    bottom: Decimal | None = None
    top: Decimal | None = None
    sortable: bool = False

    @property
    def ends(self) -> tuple[Decimal, ...]:
        """The numbers that labels are made of: widths, the origin, and where coding begins."""
        return (*self.widths, self.origin, *(end for end in (self.bottom, self.top) if end is not None))

    @property
    def digits(self) -> int:
        """The digits after the point that every end of an interval can be written with."""
        return max(0, *(-int(end.normalize().as_tuple().exponent) for end in self.ends))


@dataclass(frozen=True, slots=True)
class PrefixHierarchy:
    """The first ``keep`` characters per level, the rest masked."""

    keep: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DatesHierarchy:
    """A date truncated to one of :data:`DATE_UNITS` per level."""

    units: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileHierarchy:
    """A file in ARX's format: ``value;level 1;...;top`` per line."""

    path: str


@dataclass(frozen=True, slots=True)
class TableHierarchy:
    """A table in the database: the value in its first column, a column per level after it."""

    table: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PointHierarchy:
    """The cells of a quad-tree over two columns; the value is the finest cell of the point, as text."""

    point: Point


@dataclass(frozen=True, slots=True)
class SqlHierarchy:
    """The user's own expression per level, over the value ``x``.

    Attributes:
        expressions: one per level.
        release_year: what this name stands for in them; None where it stands for nothing.
    """

    expressions: tuple[str, ...]
    release_year: int | None = None


Hierarchy = (
    IntervalsHierarchy
    | PrefixHierarchy
    | DatesHierarchy
    | FileHierarchy
    | TreeHierarchy
    | TableHierarchy
    | PointHierarchy
    | SqlHierarchy
    | ValueHierarchy
)


# --- Checks --------------------------------------------------------------------------------


def _table_name(value: object) -> tuple[str, ...]:
    """A table name: text as :func:`parse_table_name` reads it, or a list of one to three parts."""
    if isinstance(value, list | tuple):
        if not 1 <= len(value) <= 3:
            fail(f"expected a table name of one to three parts, got {len(value)}")
        return items("name parts", text("a part of a table name"))(value)
    return parse_table_name(text("a table name")(value))


TABLE_NAME: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "maxItems": 3},
    ]
}
"""The JSON Schema of a table name."""

table_name = Check(_table_name, TABLE_NAME)
"""A check for the name of a table or view."""


def _widths(value: object) -> tuple[Decimal, ...]:
    widths = items("interval widths", number("an interval width"), least=1)(value)
    faults = Faults()
    for position, width in enumerate(widths):
        before = widths[position - 1] if position else None
        if width <= 0:
            faults.add((position,), f"expected a width above 0, got {width}")
        elif before is None or before <= 0:
            continue
        elif width <= before:
            faults.add((position,), f"widths must increase: {width} comes after {before}")
        elif (Fraction(width) / Fraction(before)).denominator != 1:
            faults.add(
                (position,),
                f"the levels do not nest: width {width} is not a multiple of {before}, the one before",
            )
    faults.finish()
    return widths


def _lengths(value: object) -> tuple[int, ...]:
    lengths = items("prefix lengths", integer("a prefix length", 1), least=1)(value)
    faults = Faults()
    for position in range(1, len(lengths)):
        if lengths[position] >= lengths[position - 1]:
            faults.add(
                (position,),
                f"prefixes must get shorter: {lengths[position]} comes after {lengths[position - 1]}",
            )
    faults.finish()
    return lengths


def _units(value: object) -> tuple[str, ...]:
    units = items("date units", choice("date unit", DATE_UNITS), least=1)(value)
    faults = Faults()
    for position in range(1, len(units)):
        if DATE_UNITS.index(units[position]) <= DATE_UNITS.index(units[position - 1]):
            faults.add((position,), f"units must get coarser: {units[position]} comes after {units[position - 1]}")
    faults.finish()
    return units


# --- The model -----------------------------------------------------------------------------

_KINDS = ("intervals", "prefix", "dates", "file", "tree", "table", "point", "sql")
_PARENTS = ("one", "several")
_WITH_ROWS = ("file", "table")
_LABELS = ("plain", "sortable")
_ONLY_INTERVALS = ("origin", "bottom", "top", "labels")

LARGEST_UNITS = 10**17
"""The ends of intervals in units of their last digit, so that sums of two fit into 64 bits and 18 digits."""

_POSITIVE = {"type": "number", "exclusiveMinimum": 0}


def _list_of(schema: Mapping[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"type": "array", "items": dict(schema), "minItems": 1})


class QuasiIdentifier(Part):
    """One quasi-identifier: at most one kind of hierarchy, and limits on its levels.

    Without a kind the hierarchy is the value itself, then ``*``. Level 0 is the value.
    """

    expected: ClassVar[str] = "a quasi-identifier, such as {intervals: [5, 10]}"
    never_empty: ClassVar[tuple[str, ...]] = _KINDS

    intervals: Annotated[tuple[Decimal, ...] | None, checked(_widths), _list_of(_POSITIVE)] = Field(
        default=None, description="Interval widths per level; each a multiple of the one before."
    )
    origin: Annotated[Decimal, checked(number("an origin"))] = Field(
        default=Decimal(0),
        description="Where an interval of every width begins.",
        json_schema_extra={"default": 0},
    )
    bottom: Annotated[Decimal | None, checked(number("a bottom"))] = Field(
        default=None, description="Bottom coding: everything below is one group."
    )
    top: Annotated[Decimal | None, checked(number("a top"))] = Field(
        default=None, description="Top coding: this and everything above is one group."
    )
    labels: Annotated[Literal["plain", "sortable"], checked(choice("kind of labels", _LABELS))] = Field(
        default="plain", description="Of intervals: sortable pads them with zeros, so that they sort as numbers do."
    )
    prefix: Annotated[tuple[int, ...] | None, checked(_lengths), _list_of({"type": "integer", "minimum": 1})] = Field(
        default=None, description="Characters kept per level, getting fewer; the rest is masked."
    )
    dates: Annotated[
        tuple[str, ...] | None, checked(_units), _list_of({"type": "string", "enum": list(DATE_UNITS)})
    ] = Field(default=None, description="Date units per level, getting coarser.")
    file: Annotated[str | None, checked(text("a file name")), WithJsonSchema({"type": "string", "minLength": 1})] = (
        Field(default=None, description="A file in ARX's format: value;level 1;...;top.")
    )
    tree: Annotated[
        Mapping[str, Any] | None, checked(parse_tree), WithJsonSchema({"type": "object", "minProperties": 1})
    ] = Field(default=None, description="A nested mapping, the most general labels outermost.")
    table: Annotated[tuple[str, ...] | None, checked(table_name), WithJsonSchema(TABLE_NAME)] = Field(
        default=None, description="A hierarchy table in the database: the value, then a column per level."
    )
    point: Annotated[Point | None, checked(Point.model_validate)] = Field(
        default=None, description="Two columns, generalized together to the cells of a quad-tree."
    )
    sql: Annotated[
        tuple[str, ...] | None,
        checked(items("SQL expressions", text("an SQL expression"), least=1)),
        _list_of({"type": "string", "minLength": 1}),
    ] = Field(default=None, description="An SQL expression per level over the value x.")
    parents: Annotated[Literal["one", "several"], checked(choice("kind of parents", _PARENTS))] = Field(
        default="one",
        description="Of file and table: whether a value may have several parents, a row each; subtree chooses one.",
    )
    minimum_level: Annotated[int, checked(integer("a level", 0))] = Field(
        default=0, description="The lowest level that may be released."
    )
    maximum_level: Annotated[
        int | None,
        checked(integer("a level", 0)),
    ] = Field(default=None, description="The highest level that may be chosen; the top by default.")
    as_: Annotated[Literal["text", "bounds", "midpoint", "number"], checked(choice("form", FORMS))] = Field(
        default="text",
        alias="as",
        description="What is released: the label; its bounds or midpoint beside it; or the number itself, at level 0.",
    )
    weight: Annotated[
        float,
        checked(the_number("a weight of at least 0", least=0)),
    ] = Field(default=1.0, description="How much this quasi-identifier counts in the quality metric.")

    _year: int | None = PrivateAttr(default=None)

    @classmethod
    def written(cls, value: Any) -> Any:
        """Nothing after the name means: no options."""
        return {} if value is None else value

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """One kind at most; coding only for intervals; level limits that leave something."""
        kinds = [key for key in given if key in _KINDS]
        for key in kinds[1:]:
            yield Fault((key,), f"one kind of hierarchy is allowed, and {kinds[0]!r} is given already", True)
        for key in _ONLY_INTERVALS:
            if key in given and "intervals" not in given:
                yield Fault((key,), f"{key!r} belongs to 'intervals', which this hierarchy does not have", True)
        if given.get("parents") == "several" and not any(key in given for key in _WITH_ROWS):
            why = "a value has several parents in a 'file' or a 'table', a row for each, and this hierarchy is neither"
            yield Fault(("parents",), why, True)
        if value is not None:
            yield from _limits(value)
            yield from _inexact(value)
            yield from sortable_faults(value)

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy, as the one model that fits."""
        if self.intervals is not None:
            return IntervalsHierarchy(self.intervals, self.origin, self.bottom, self.top, self.labels == "sortable")
        if self.prefix is not None:
            return PrefixHierarchy(self.prefix)
        if self.dates is not None:
            return DatesHierarchy(self.dates)
        if self.file is not None:
            return FileHierarchy(self.file)
        if self.tree is not None:
            return TreeHierarchy(self.tree)
        if self.table is not None:
            return TableHierarchy(self.table)
        if self.point is not None:
            return PointHierarchy(self.point)
        if self.sql is not None:
            return SqlHierarchy(self.sql, self._year)
        return ValueHierarchy()

    @property
    def names_release_year(self) -> bool:
        """Whether its labels depend on the year of the release."""
        return names_release_year(self.sql or ())

    def in_year(self, year: int) -> Self:
        """The same, for a release of this year."""
        found = self.model_copy()
        found._year = year
        return found

    @property
    def height_hint(self) -> int | None:
        """The level of the top value (level 0 is the value); None when only the data tells.

        A tree with a single outermost label has one level less if that label is its top.
        """
        if self.file is not None or self.table is not None:
            return None
        if self.tree is not None:
            return len(TreeHierarchy(self.tree).rows()[0])
        if self.point is not None:
            return len(self.point.depths)
        return 1 + len(self.intervals or self.prefix or self.dates or self.sql or ())

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this quasi-identifier, defaults filled in."""
        found: dict[str, Any] = {}
        if self.intervals is not None:
            found["intervals"] = [plain_number(width) for width in self.intervals]
            found["origin"] = plain_number(self.origin)
            found["bottom"] = None if self.bottom is None else plain_number(self.bottom)
            found["top"] = None if self.top is None else plain_number(self.top)
            found |= {} if self.labels == "plain" else {"labels": self.labels}
        for key in ("prefix", "dates", "sql"):
            if getattr(self, key) is not None:
                found[key] = list(getattr(self, key))
        if self.file is not None:
            found["file"] = self.file
        if self.tree is not None:
            found["tree"] = TreeHierarchy(self.tree).written()
        if self.table is not None:
            found["table"] = format_table_name(self.table)
        if self.point is not None:
            found["point"] = self.point.to_dict()
        if self.parents != "one":
            found["parents"] = self.parents
        limits = {"minimum_level": self.minimum_level, "maximum_level": self.maximum_level}
        form = {} if self.as_ == "text" else {"as": self.as_}
        return {**found, **limits, **form, "weight": self.weight}

    def what_labels(self) -> dict[str, Any]:
        """:meth:`to_dict` with the year of the release, where labels depend on it: what digests are made of."""
        return {**self.to_dict(), **({RELEASE_YEAR: self._year} if self.names_release_year else {})}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler.resolve_ref_schema(handler(core))
        for key in _KINDS:
            schema["properties"][key].pop("default", None)
        point = schema["properties"]["point"]
        point |= point.pop("anyOf")[0]  # nothing but a point: a kind that is written has a value
        none_given: dict[str, Any] = {"not": {"anyOf": [{"required": [key]} for key in _KINDS]}}
        schema["oneOf"] = [none_given, *({"required": [key]} for key in _KINDS)]
        schema["dependentRequired"] = {key: ["intervals"] for key in _ONLY_INTERVALS}
        return {"anyOf": [dict(schema), {"type": "null"}]}

    def redacted(self) -> dict[str, Any]:
        """:meth:`to_dict` for a manifest: no literals of SQL, no labels of trees, no passwords."""
        shown = self.to_dict()
        if self.sql is not None:
            shown["sql"] = [redact_sql(expression) for expression in self.sql]
        if self.file is not None:
            shown["file"] = redact_location(self.file)
        if self.tree is not None:
            rows = TreeHierarchy(self.tree).rows()
            shown["tree"] = {"sha256": sha256(shown["tree"]), "levels": len(rows[0]), "values": len(rows)}
        return shown


def _limits(value: QuasiIdentifier) -> Iterator[Fault]:
    low, high, top = value.minimum_level, value.maximum_level, value.height_hint
    if high is not None and low > high:
        yield Fault(("minimum_level",), f"minimum_level {low} is above maximum_level {high}")
    for key, level in (("minimum_level", low), ("maximum_level", high)):
        if top is not None and level is not None and level > top:
            yield Fault((key,), f"{key} {level} is above the top, which is level {top}")
    if value.bottom is not None and value.top is not None and value.bottom >= value.top:
        yield Fault(("bottom",), f"bottom {value.bottom} is not below top {value.top}")


def _inexact(value: QuasiIdentifier) -> Iterator[Fault]:
    """Ends of intervals that engines would not compute alike."""
    hierarchy = value.hierarchy
    if not isinstance(hierarchy, IntervalsHierarchy):
        return
    if hierarchy.digits > MOST_DIGITS:
        why = (
            f"the ends of these intervals have {hierarchy.digits} digits after the point, and databases compute alike "
            f"with {MOST_DIGITS} at most; use wider intervals, or larger units in a source query"
        )
        yield Fault(("intervals",), why)
    elif any(abs(end) * 10**hierarchy.digits > LARGEST_UNITS for end in hierarchy.ends):
        why = (
            f"the largest width or end, written with {hierarchy.digits} digits after the point as the finest, has more "
            "digits than databases compute with; leave the finest or the coarsest out"
        )
        yield Fault(("intervals",), why)
