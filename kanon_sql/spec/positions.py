"""Positions and times of rows: a quad-tree over bounds, slices of time, and patterns of movement (LBQIDs)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kanon_sql.spec.checks import (
    Check,
    Fault,
    Faults,
    Part,
    chosen,
    fail,
    integer,
    items,
    kind,
    number,
    plain_number,
    quote,
    shaped,
)
from kanon_sql.spec.fields import ColumnName, ColumnPair, Flag

__all__ = ["DAY", "Element", "Lbqid", "Point", "Position", "Slices", "parse_lbqids"]

DAY = 86_400
"""Seconds of a day."""

DEEPEST = 20
"""Halvings of a side at most: two coordinates take 40 of the 62 bits of a key."""

MOST_DIGITS = 10
"""Digits after the point with which engines compute alike."""

FARTHEST = 10**15
"""Coordinates in units of their last digit stay below, where every engine computes exactly."""


@shaped({"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4})
def _box(value: object) -> tuple[Decimal, ...]:
    found = items("numbers", number("a coordinate"))(value)
    if len(found) != 4:
        fail(f"expected [x from, y from, x to, y to], got {len(found)} numbers")
    if found[0] >= found[2] or found[1] >= found[3]:
        fail("expected [x from, y from, x to, y to], with each end above its beginning")
    return found


Box = Annotated[tuple[Decimal, ...], _box]
"""An area: x from, y from, x to, y to; half-open."""


class Position(Part):
    """The two columns of a position, and the quad-tree over them.

    Attributes:
        columns: the names of the columns, across and up.
        bounds: the whole area, x from, y from, x to, y to; cells are half-open, so that a point on an edge lies in one.
        depth: how often the area is halved both ways: the finest cells are 1 / 2^depth of its sides.
        coarsest: the depth of the coarsest cells; 0 is the whole area. With a larger one more rows may be left out.
        neighbours: whether two cells that touch, of one parent, are tried before their parent (the New Casper).
        outside: what happens to rows without a position inside the bounds.
    """

    expected: ClassVar[str] = "{columns: [x, y], bounds: [0, 0, 1024, 1024], depth: 10}"

    columns: ColumnPair = Field(description="The columns of a position, two numbers.")
    bounds: Box = Field(description="The whole area: x from, y from, x to, y to.")
    depth: Annotated[int, integer("a depth", 1, DEEPEST)] = Field(
        description="How often to halve the area in both directions for the finest cells."
    )
    coarsest: Annotated[int, integer("a depth", 0, DEEPEST)] = Field(
        default=0, description="The depth of the coarsest cells; 0 is the whole area."
    )
    neighbours: Flag = Field(
        default=False,
        description="Whether to try a cell together with a neighbour of the same parent before the parent.",
    )
    outside: Annotated[Literal["refuse", "suppress"], chosen("outside")] = Field(
        default="refuse", description="What to do with rows whose position or time is missing or outside the bounds."
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A depth that there is, and cells whose edges are exact decimals."""
        if value is None:
            return
        if value.coarsest > value.depth:
            yield Fault(("coarsest",), f"the coarsest depth cannot exceed 'depth', {value.depth}")
        elif value.digits is None:
            yield _inexact_edges(value.depth)

    @property
    def sides(self) -> tuple[Decimal, Decimal]:
        """The widths of the finest cells."""
        return sides_of(self.bounds, self.depth)

    @property
    def digits(self) -> int | None:
        """The digits after the point that all edges of cells need; None where these are too many."""
        return digits_of((*self.bounds[:2], *self.sides), self.bounds)

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this position."""
        return {
            "columns": list(self.columns),
            "bounds": [plain_number(bound) for bound in self.bounds],
            "depth": self.depth,
            "coarsest": self.coarsest,
            "neighbours": self.neighbours,
            "outside": self.outside,
        }


def sides_of(bounds: tuple[Decimal, ...], depth: int) -> tuple[Decimal, Decimal]:
    """The widths of the cells of a depth."""
    low_x, low_y, high_x, high_y = bounds
    return (high_x - low_x) / 2**depth, (high_y - low_y) / 2**depth


def _inexact_edges(depth: int) -> Fault:
    why = (
        f"halving the sides {depth} times gives cell edges with more than {MOST_DIGITS} digits after the point, or "
        "numbers that are too large to be exact; lower the depth, or choose sides that are a power of two times a "
        "round number, such as 1024, 81.92 or 0.4096"
    )
    return Fault(("bounds",), why)


def digits_of(numbers: tuple[Decimal, ...], within: tuple[Decimal, ...]) -> int | None:
    """The digits after the point with which some numbers are whole; None where they are too many, or too large."""
    for digits in range(MOST_DIGITS + 1):
        if all((value * 10**digits) % 1 == 0 for value in numbers):
            return digits if max(abs(value) for value in within) * 10**digits < FARTHEST else None
    return None


@shaped({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": DEEPEST}, "minItems": 1})
def _depths(value: object) -> tuple[int, ...]:
    found = items("depths", integer("a depth", 1, DEEPEST), least=1)(value)
    if any(coarse >= fine for fine, coarse in pairwise(found)):
        fail("expected depths from fine to coarse, such as [10, 8, 6]")
    return found


class Point(Part):
    """A quasi-identifier that is a point: two columns of the source, generalized together to cells of a quad-tree.

    Attributes:
        columns: the names of the columns, across and up; they are never released.
        bounds: the whole area, x from, y from, x to, y to; cells are half-open, so that a point on an edge lies in one.
        depths: how often the area is halved both ways, from the finest cells on: a level each, and ``*`` above them.
        outside: what happens to rows without a point inside the bounds.
    """

    expected: ClassVar[str] = "{columns: [lon, lat], bounds: [0, 0, 1024, 1024], depths: [10, 8, 6]}"

    columns: ColumnPair = Field(description="The columns of a point, two numbers.")
    bounds: Box = Field(description="The whole area: x from, y from, x to, y to.")
    depths: Annotated[tuple[int, ...], _depths] = Field(
        description="How often to halve the area in both directions, per level, from fine to coarse."
    )
    outside: Annotated[Literal["refuse", "suppress"], chosen("outside")] = Field(
        default="refuse", description="What to do with rows whose point is missing or outside the bounds."
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Cells whose edges are exact decimals."""
        if value is not None and value._digits is None:
            yield _inexact_edges(value.depths[0])

    @property
    def _digits(self) -> int | None:
        return digits_of((*self.bounds[:2], *sides_of(self.bounds, self.depths[0])), self.bounds)

    @property
    def digits(self) -> int:
        """The digits after the point that all edges of cells need."""
        assert self._digits is not None, "the spec refuses others"
        return self._digits

    def sides(self, depth: int) -> tuple[Decimal, Decimal]:
        """The widths of the cells of a depth."""
        return sides_of(self.bounds, depth)

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this point."""
        return {
            "columns": list(self.columns),
            "bounds": [plain_number(bound) for bound in self.bounds],
            "depths": list(self.depths),
            "outside": self.outside,
        }


@shaped(
    {
        "anyOf": [
            {"type": "integer", "minimum": 1},
            {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1},
        ]
    }
)
def _widths(value: object) -> tuple[int, ...]:
    if isinstance(value, int) and not isinstance(value, bool):
        value = [value]
    found = items("widths", integer("a width in seconds", 1), least=1)(value)
    if any(wide % narrow or wide == narrow for narrow, wide in pairwise(found)):
        fail("expected widths in seconds, each a multiple of the one before, such as [60, 3600, 86400]")
    if found[-1] > 10**10:
        fail("expected widths of at most 10000000000 seconds")
    return found


class Slices(Part):
    """The column of time, and the slices that it is cut into.

    Attributes:
        column: the name of the column: a timestamp without time zone, whole seconds since 1970, or a date, which has
            slices of whole days and no patterns.
        widths: the widths of slices in seconds, the finest first, each a multiple of the one before.
        origin: where a slice of every width begins, in seconds since 1970, for dates a whole day; earlier rows are
            outside.
    """

    expected: ClassVar[str] = "{column: at, widths: [60, 3600, 86400]}"

    column: ColumnName = Field(
        description="The column of time: a date, a timestamp without time zone, or whole seconds."
    )
    widths: Annotated[tuple[int, ...], _widths] = Field(
        description="The widths of slices in seconds, each a multiple of the one before."
    )
    origin: Annotated[int, integer("a time in seconds since 1970", 0)] = Field(
        default=0, description="The origin of the slices of every width, in seconds since 1970."
    )

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as these slices."""
        return {"column": self.column, "widths": list(self.widths), "origin": self.origin}


# --- Patterns of movement ------------------------------------------------------------------

_TIME = re.compile(r"([01][0-9]|2[0-4]):([0-5][0-9])(?::([0-5][0-9]))?")


def _time_of_day(value: object) -> int:
    if not isinstance(value, str):
        fail(f"expected a time of day such as '07:30', got {kind(value)}; write it in quotes")
    found = _TIME.fullmatch(value)
    seconds = None
    if found is not None:
        seconds = 3_600 * int(found[1]) + 60 * int(found[2]) + int(found[3] or 0)
    if seconds is None or seconds > DAY:
        fail("expected a time of day from '00:00' to '24:00', such as '07:30'")
    return seconds


@shaped({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2})
def _between(value: object) -> tuple[int, ...]:
    found = items("times of day", _time_of_day)(value)
    if len(found) != 2 or found[0] >= found[1]:
        fail("expected two times of a day, the earlier one first, such as ['07:00', '09:00']")
    return found


def _time_text(seconds: int) -> str:
    return f"{seconds // 3_600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


class Element(Part):
    """An element of an LBQID: an area, and a time of the day.

    Attributes:
        area: x from, y from, x to, y to, in coordinates; half-open.
        between: from and until, in seconds of the day; half-open.
    """

    expected: ClassVar[str] = "{area: [0, 0, 4, 4], between: ['07:00', '09:00']}"

    area: Box = Field(description="The area: x from, y from, x to, y to.")
    between: Annotated[tuple[int, ...], _between] = Field(
        description="The time of the day, from and until, such as ['07:00', '09:00']."
    )

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this element."""
        return {
            "area": [plain_number(bound) for bound in self.area],
            "between": [_time_text(seconds) for seconds in self.between],
        }


@Check
def _elements(value: object) -> tuple[Element, ...]:
    return items("elements", Element.model_validate, least=1)(value)


class Lbqid(Part):
    """A location-based quasi-identifier: a pattern of movement that tells who a person is (Bettini et al. 2005).

    Attributes:
        elements: what happens on a day, in this order.
        days: on how many days of a week, from Monday, all of it happens.
        weeks: in how many weeks it does.
        weekdays: whether only Mondays to Fridays count.
    """

    expected: ClassVar[str] = "{elements: [{area: [0, 0, 4, 4], between: ['07:00', '09:00']}], days: 3, weeks: 2}"

    elements: Annotated[tuple[Element, ...], _elements, Field(description="The events of a day, in this order.")]
    days: Annotated[int, integer("a number of days", 1, 7)] = Field(
        default=1, description="On how many days of a week."
    )
    weeks: Annotated[int, integer("a number of weeks", 1)] = Field(default=1, description="In how many weeks.")
    weekdays: Flag = Field(default=False, description="Whether to count Mondays to Fridays only.")

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Weekdays that a week has."""
        if value is not None and value.weekdays and value.days > 5:
            yield Fault(("days",), "a week has five weekdays")

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this pattern."""
        return {
            "elements": [element.to_dict() for element in self.elements],
            "days": self.days,
            "weeks": self.weeks,
            "weekdays": self.weekdays,
        }


@Check
def parse_lbqids(value: object) -> dict[str, Lbqid]:
    """A check for a mapping of names to LBQIDs."""
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of names to LBQIDs, such as {{commute: {Lbqid.expected}}}, got {kind(value)}")
    faults = Faults()
    found: dict[str, Lbqid] = {}
    for name, item in value.items():
        if not isinstance(name, str) or not name.strip():
            faults.add((name,), f"expected a name, such as commute, got {quote(str(name))}", at_key=True)
            continue
        lbqid = faults.attempt((name,), Lbqid.model_validate, item)
        if lbqid is not None:
            found[name] = lbqid
    faults.finish()
    return found
