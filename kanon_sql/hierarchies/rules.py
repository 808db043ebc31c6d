"""Hierarchies by rules, as label expressions: intervals, prefixes, dates, cells, and the user's own SQL."""

from __future__ import annotations

from decimal import Decimal

from kanon_sql.engines import Column
from kanon_sql.errors import SpecError
from kanon_sql.hierarchies.numbers import number_text, whole_units
from kanon_sql.hierarchies.points import cell_label
from kanon_sql.spec import (
    DatesHierarchy,
    IntervalsHierarchy,
    PointHierarchy,
    PrefixHierarchy,
    QuasiIdentifier,
    SqlHierarchy,
)
from kanon_sql.sql import Sql, level_expression, render

__all__ = ["rule_labels", "value_text"]

_NUMERIC = ("integer", "decimal", "float")
_YEARS = {"decade": 10, "century": 100}


def rule_labels(column: Column, quasi_identifier: QuasiIdentifier, where: str | None = None) -> list[Sql]:
    """The label expressions of a rule-based hierarchy, level 0 first, the top left out.

    Raises:
        SpecError: the rule does not fit the column's kind.
    """
    hierarchy = quasi_identifier.hierarchy
    where = where or f"quasi_identifiers.{column.name}"
    labels = [value_text(column, Sql("value"))]
    if isinstance(hierarchy, IntervalsHierarchy):
        if column.kind not in _NUMERIC:
            raise SpecError(
                f"{where}: intervals need a number, but the column is {column.type or 'of no type'}; "
                "cast it in a source query, or use another hierarchy"
            )
        labels += [_interval(hierarchy, width, column.kind) for width in hierarchy.widths]
    elif isinstance(hierarchy, PrefixHierarchy):
        labels += [render("hierarchies/levels/prefix", keep=keep) for keep in hierarchy.keep]
    elif isinstance(hierarchy, DatesHierarchy):
        if column.kind not in ("date", "timestamp"):
            raise SpecError(
                f"{where}: dates need a DATE or a TIMESTAMP without time zone, but the column is "
                f"{column.type or 'of no type'}; cast it in a source query"
            )
        labels += [render("hierarchies/levels/dates", unit=unit, years=_YEARS.get(unit)) for unit in hierarchy.units]
    elif isinstance(hierarchy, PointHierarchy):
        labels += [cell_label(hierarchy.point, depth) for depth in hierarchy.point.depths[1:]]
    elif isinstance(hierarchy, SqlHierarchy):
        labels += [
            level_expression(text, f"{where}.sql[{position}]", hierarchy.release_year)
            for position, text in enumerate(hierarchy.expressions)
        ]
    return labels


def value_text(column: Column, value: Sql) -> Sql:
    """A value of a column as text, the same on every engine, and of equal values the same."""
    if column.kind == "moment":
        return render("hierarchies/levels/time", written=render("hierarchies/levels/moment", value=value), zone="+00")
    written = render(
        "hierarchies/levels/value",
        value=value,
        is_float=column.kind == "float",
        scale=column.scale,
        keeps_digits=column.varies == "digits",
    )
    return render("hierarchies/levels/time", written=written, zone=None) if column.kind == "timestamp" else written


def _interval(hierarchy: IntervalsHierarchy, width: Decimal, kind: str) -> Sql:
    digits = hierarchy.digits
    scale = 10**digits

    def scaled_bound(bound: Decimal | None) -> int | None:
        return None if bound is None else int(bound * scale)

    # What is padded begins at bottom, which is not below zero, and ends with top.
    length = len(f"{hierarchy.top:.{digits}f}") if hierarchy.sortable else 0

    def text(bound: Decimal | None) -> str:
        return "" if bound is None else f"{bound:.{digits}f}".rjust(length, "0")

    def written(units: Sql) -> Sql:
        plain = number_text(units, digits)
        return render("hierarchies/levels/padded", text=plain, zeros="0" * length, length=length) if length else plain

    scaled_width = int(width * scale)
    scaled = whole_units(Sql("value"), digits, kind)
    low = render("hierarchies/levels/floor", scaled=scaled, origin=int(hierarchy.origin * scale), width=scaled_width)
    high = Sql(f"({low} + {scaled_width})")
    return render(
        "hierarchies/levels/intervals",
        scaled=scaled,
        low=low,
        high=high,
        low_text=written(low),
        high_text=written(high),
        bottom=scaled_bound(hierarchy.bottom),
        bottom_text=text(hierarchy.bottom),
        bottom_label=f"< {text(hierarchy.bottom)}",
        top=scaled_bound(hierarchy.top),
        top_text=text(hierarchy.top),
        # As text, a sign comes before every bracket.
        top_label=f"[{text(hierarchy.top)}, inf)" if length else f">= {text(hierarchy.top)}",
    )
