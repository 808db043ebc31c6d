"""Hierarchies by rules, as label expressions: intervals, prefixes, dates, cells, and the user's own SQL."""

from __future__ import annotations

from kanon_sql.engines import Column
from kanon_sql.hierarchies.kind import kind_of
from kanon_sql.spec import QuasiIdentifier
from kanon_sql.sql import Sql, render

__all__ = ["rule_labels", "value_text"]


def rule_labels(column: Column, quasi_identifier: QuasiIdentifier, where: str | None = None) -> list[Sql]:
    """The label expressions of a rule-based hierarchy, level 0 first, the top left out.

    Raises:
        SpecError: the rule does not fit the column's kind.
    """
    where = where or f"quasi_identifiers.{column.name}"
    return [value_text(column, Sql("value")), *kind_of(quasi_identifier).labels_above(column, where)]


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
