"""Numbers as whole units of their last digit, in which every engine computes alike, and back as text."""

from __future__ import annotations

from decimal import Decimal

from kanon_sql.sql import Sql, render

__all__ = ["EXACT_RANGE", "number_text", "whole_units"]

EXACT_RANGE = 10**15
"""Intervals are computed for numbers strictly between -EXACT_RANGE and EXACT_RANGE."""


def whole_units(value: Sql, digits: int, kind: str) -> Sql:
    """A number in units of 10^-digits, rounded down, exactly; between -EXACT_RANGE and EXACT_RANGE.

    Args:
        value: An expression of a column.
        digits: Digits after the point of the units.
        kind: What the column holds: "integer", "decimal" or "float".
    """
    return render("hierarchies/levels/scaled", value=value, digits=digits, kind=kind)


def number_text(units: Sql, digits: int) -> Sql:
    """The text of the number that so many units of 10^-digits are."""
    return render("hierarchies/levels/number", scaled=units, digits=digits, unit=Decimal(1).scaleb(-digits))
