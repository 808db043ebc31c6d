"""Numbers as intervals, each level wider than the one before."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import HierarchyError, SpecError
from kanon_sql.hierarchies.exact import exact_range, number_text, whole_units
from kanon_sql.hierarchies.kind import Kind
from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec import MOST_DIGITS
from kanon_sql.spec.checks import Fault, Faults, chosen, items, number, plain_number, shaped
from kanon_sql.sql import Relation, Sql, render

__all__ = ["IntervalsHierarchy"]

LARGEST_UNITS = 10**17
"""The ends of intervals in units of their last digit, so that sums of two fit into 64 bits and 18 digits."""

_NUMERIC = ("integer", "decimal", "float")


@shaped({"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "minItems": 1})
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


@HIERARCHIES.declare
class IntervalsHierarchy(Kind):
    """Half-open intervals ``[a, a + width)`` with ``a = origin + n * width``."""

    name: ClassVar[str] = "intervals"
    place: ClassVar[int] = 1
    build_by: ClassVar[str | None] = "widths"
    bounds: ClassVar[Literal["numbers", "dates"] | None] = "numbers"

    intervals: Annotated[tuple[Decimal, ...], _widths] = Field(
        description="Interval widths per level; each a multiple of the one before."
    )
    origin: Annotated[Decimal, number("an origin")] = Field(
        default=Decimal(0),
        description="Where an interval of every width begins.",
        json_schema_extra={"default": 0},
    )
    bottom: Annotated[Decimal | None, number("a bottom")] = Field(
        default=None, description="Bottom coding: everything below is one group."
    )
    top: Annotated[Decimal | None, number("a top")] = Field(
        default=None, description="Top coding: this and everything above is one group."
    )
    labels: Annotated[Literal["plain", "sortable"], chosen("kind of labels")] = Field(
        default="plain", description="Of intervals: sortable pads them with zeros, so that they sort as numbers do."
    )

    @property
    def height(self) -> int:
        """A level per width, and the top."""
        return 1 + len(self.intervals)

    @property
    def sortable(self) -> bool:
        """Whether labels are padded with zeros, so that they sort as their numbers do."""
        return self.labels == "sortable"

    @property
    def ends(self) -> tuple[Decimal, ...]:
        """The numbers that labels are made of: widths, the origin, and where coding begins."""
        return (*self.intervals, self.origin, *(end for end in (self.bottom, self.top) if end is not None))

    @property
    def digits(self) -> int:
        """The digits after the point that every end of an interval can be written with."""
        return max(0, *(-int(end.normalize().as_tuple().exponent) for end in self.ends))

    @property
    def assumed_type(self) -> tuple[str, str]:
        """What it is of."""
        return "DECIMAL", "decimal"

    def to_dict(self) -> dict[str, Any]:
        """As a spec has it, defaults filled in."""
        return {
            "intervals": [plain_number(width) for width in self.intervals],
            "origin": plain_number(self.origin),
            "bottom": None if self.bottom is None else plain_number(self.bottom),
            "top": None if self.top is None else plain_number(self.top),
            **({} if self.labels == "plain" else {"labels": self.labels}),
        }

    def faults(self) -> Iterator[Fault]:
        """Ends that leave nothing between them, or that engines would not compute alike, or not sort."""
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            yield Fault(("bottom",), f"bottom {self.bottom} is not below top {self.top}")
        if self.digits > MOST_DIGITS:
            why = (
                f"the ends of these intervals have {self.digits} digits after the point, and databases compute "
                f"the same result with at most {MOST_DIGITS}; use wider intervals, or larger units in a source "
                "query"
            )
            yield Fault(("intervals",), why)
        elif any(abs(end) * 10**self.digits > LARGEST_UNITS for end in self.ends):
            why = (
                f"the largest width or end, written with {self.digits} digits after the point as the finest, has more "
                "digits than databases compute with; leave the finest or the coarsest out"
            )
            yield Fault(("intervals",), why)
        if self.sortable and (self.bottom is None or self.top is None):
            why = (
                "sortable labels are padded to as many digits as 'top' has, and begin at 'bottom', so that "
                "labels do not depend on the rows; add both, such as bottom: 0, top: 90"
            )
            yield Fault(("labels",), why, True)
        elif self.sortable and self.bottom is not None and self.bottom < 0:
            why = (
                "labels below zero do not sort as numbers: as text, -10 comes after -1; raise bottom to 0, "
                "shift the numbers in a source query, or use as: bounds, which sorts as numbers"
            )
            yield Fault(("labels",), why, True)

    def labels_above(self, column: Column, where: str) -> list[Sql]:
        """An interval per width."""
        if column.kind not in _NUMERIC:
            raise SpecError(
                f"{where}: intervals need a number, but the column is {column.type or 'of no type'}; "
                "cast it in a source query, or use another hierarchy"
            )
        return [self._label(width, column.kind) for width in self.intervals]

    def _label(self, width: Decimal, kind: str) -> Sql:
        digits = self.digits
        scale = 10**digits

        def scaled_bound(bound: Decimal | None) -> int | None:
            return None if bound is None else int(bound * scale)

        # What is padded begins at bottom, which is not below zero, and ends with top.
        length = len(f"{self.top:.{digits}f}") if self.sortable else 0

        def text(bound: Decimal | None) -> str:
            return "" if bound is None else f"{bound:.{digits}f}".rjust(length, "0")

        def written(units: Sql) -> Sql:
            plain = number_text(units, digits)
            if not length:
                return plain
            return render("hierarchies/levels/padded", text=plain, zeros="0" * length, length=length)

        scaled_width = int(width * scale)
        scaled = whole_units(Sql("value"), digits, kind)
        low = render("hierarchies/levels/floor", scaled=scaled, origin=int(self.origin * scale), width=scaled_width)
        high = Sql(f"({low} + {scaled_width})")
        return render(
            "hierarchies/levels/intervals",
            scaled=scaled,
            low=low,
            high=high,
            low_text=written(low),
            high_text=written(high),
            bottom=scaled_bound(self.bottom),
            bottom_text=text(self.bottom),
            bottom_label=f"< {text(self.bottom)}",
            top=scaled_bound(self.top),
            top_text=text(self.top),
            # As text, a sign comes before every bracket.
            top_label=f"[{text(self.top)}, inf)" if length else f">= {text(self.top)}",
        )

    def bound(self, column: Column) -> int:
        """Beyond it, a number has more digits than are computed with."""
        return exact_range(self.digits, column.kind)

    def refuse_values(self, workspace: Workspace, where: str, column: Column, raw: Relation, raw_column: str) -> None:
        """Refuse numbers that no interval holds."""
        bound = self.bound(column)
        (out_of_range,) = workspace.row("hierarchies/range", raw=raw, raw_column=raw_column, bound=bound)
        if out_of_range:
            power = len(str(bound)) - 1
            digits = f"with {self.digits} digits after the point " if self.digits else ""
            raise HierarchyError(
                f"{where}: {out_of_range} distinct values are not finite or not between -10^{power} and "
                f"10^{power}, so no interval {digits}holds them; "
                f"{'use wider intervals, or ' if digits else ''}filter or cast them in a source query"
            )

    def typed(self, values: Sequence[str], where: str) -> Column:
        """Numbers, whole ones where all are."""
        if all(re.fullmatch(r"[+-]?[0-9]{1,15}", value) for value in values):
            return Column("", "BIGINT", "integer")
        wrong = sum(not _is_number(value) for value in values)
        if wrong:
            raise SpecError(
                f"{where}: {wrong:,} of the {len(values):,} values given are not numbers; correct or remove them"
            )
        return Column("", "DOUBLE", "float")

    def level_name(self, level: int, columns: Sequence[str]) -> str:
        """The width."""
        return f"bands of {self.intervals[level - 1].normalize():f}"

    def meaning(self, level: int) -> str:
        """The width, and what is one group."""
        ends = [
            f"{words} {value}"
            for words, value in (("one group below", self.bottom), ("one group from", self.top))
            if value is not None
        ]
        return ", ".join([f"intervals of {self.intervals[level - 1]}", *ends])


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False
