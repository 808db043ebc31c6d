"""Numbers as whole units of their last digit, in which every engine computes alike, and back as text."""

from __future__ import annotations

from decimal import Decimal

from kanon_sql.sql import Sql, render

__all__ = ["exact_range", "number_text", "whole_units"]

_DIGITS = 15
"""Numbers of this many digits are different binary fractions of eight bytes, and read back from them."""

_WHOLE_DIGITS = 17
"""Whole numbers of this many digits can be added and multiplied by 10 in 64 bits."""


def exact_range(digits: int, kind: str) -> int:
    """Numbers strictly between minus this and this have whole units of 10^-digits, which every engine computes alike.

    A decimal may have no more digits than a binary fraction, since some databases store it as one.

    Args:
        digits: Digits after the point of the units, 10 at most.
        kind: What the column holds: "integer", "decimal" or "float".
    """
    return int(10 ** min(_DIGITS, (_WHOLE_DIGITS if kind == "integer" else _DIGITS) - digits))


def whole_units(value: Sql, digits: int, kind: str) -> Sql:
    """A number in units of 10^-digits, rounded down, exactly; where it is within :func:`exact_range`.

    Args:
        value: An expression of a column.
        digits: Digits after the point of the units.
        kind: What the column holds: "integer", "decimal" or "float".
    """
    return render("hierarchies/levels/scaled", value=value, digits=digits, kind=kind)


def number_text(units: Sql, digits: int) -> Sql:
    """The text of the number that this many units of 10^-digits are."""
    return render("hierarchies/levels/number", scaled=units, digits=digits, unit=Decimal(1).scaleb(-digits))
