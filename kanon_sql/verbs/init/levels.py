"""The hierarchy that ``init`` writes for a quasi-identifier, from a column's name, type and counts."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from kanon_sql.verbs.init.columns import FEW_NUMBERS, ColumnProfile
from kanon_sql.verbs.init.names import AGE, BIRTH, POSTAL

__all__ = ["FEW_LABELS", "as_quasi_identifier", "is_age"]

FEW_LABELS = 3
"""Categories with no more values need no groups between the value and ``*``."""


def as_quasi_identifier(profile: ColumnProfile) -> tuple[str, str]:
    """A hierarchy that fits a column, as YAML, and a hint."""
    words = profile.words
    if profile.column.kind == "timestamp":
        return "{dates: [day, month, quarter, year, decade]}", "level 0 is the exact time"
    if profile.is_date:
        return "{dates: [month, quarter, year, decade]}", "level 0 is the exact date"
    if words & POSTAL or profile.is_code:
        return _prefixes(profile)
    if profile.is_dates_as_text:
        return "{prefix: [7, 4]}", "month and year, as in the value"
    if profile.is_numbers_as_text:
        return "{prefix: [2, 1]}", "the first digits"
    if words & (BIRTH | {"date"}) and profile.column.kind == "text" and profile.shortest == profile.longest == 10:
        return "{prefix: [7, 4]}", "month and year, if it is written as 2000-12-31"
    if profile.is_number:
        return _intervals(profile)
    if profile.distinct <= FEW_LABELS:
        return "{}", "the value, then *"
    return "{}", "the value, then *; groups between them (a tree or a file) would lose less"


def _prefixes(profile: ColumnProfile) -> tuple[str, str]:
    longest = profile.longest or 5
    kept = list(range(min(longest - 1, 5), 0, -1))[:3]
    if not kept:
        return "{}", "the value, then *"
    hint = "characters kept, the rest masked from the right"
    if profile.column.kind != "text":
        hint += "; a code that may begin with 0 should be text"
    return f"{{prefix: [{', '.join(map(str, kept))}]}}", hint


def _intervals(profile: ColumnProfile) -> tuple[str, str]:
    whole = profile.column.kind == "integer"
    if is_age(profile):
        widths = [Decimal(5), Decimal(10), Decimal(20)]
        return _widths_text(widths), "widths per level; bottom: and top: would group the extremes"
    if whole and profile.distinct <= FEW_NUMBERS and profile.rows:
        return "{}", "the value, then *; few enough values to be a category"
    return _widths_text(_widths(profile.thirds, whole)), "widths per level, each a multiple of the one before"


def is_age(profile: ColumnProfile) -> bool:
    """Whether a column holds ages in whole years, by its name."""
    return bool(profile.words & AGE) and profile.column.kind == "integer"


def _widths_text(widths: Sequence[Decimal]) -> str:
    return f"{{intervals: [{', '.join(f'{width.normalize():f}' for width in widths)}]}}"


_STEPS = {1: (1, 5, 10), 2: (2, 10, 20), 5: (5, 10, 20)}
"""Round widths that nest, by the first digit of the finest."""


def _widths(thirds: int | None, whole: bool) -> list[Decimal]:
    """Three widths, the finest about a fifteenth of the range."""
    if thirds is None:
        return [Decimal(step) for step in _STEPS[5]]
    # 3 * log10(15) is about 3.5, and half a third is the middle of what was rounded down: steps of
    # 1, 2, 5 are thirds of a decade, so the finest width is the third that is left.
    power, step = divmod(min(max(thirds - 3, -12), 36), 3)
    first = (1, 2, 5)[step]
    widths = [Decimal(width).scaleb(power) for width in _STEPS[first]]
    if whole and widths[0] <= 1:
        return [Decimal(width) for width in _STEPS[2]]
    return widths
