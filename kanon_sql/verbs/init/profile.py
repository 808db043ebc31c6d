"""The profile of a table: what one pass counts of each column. No value is read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.engines import Column, Workspace
from kanon_sql.hierarchies import exact_value
from kanon_sql.sql import Sql, identifier, source_relation
from kanon_sql.verbs.init.columns import ENOUGH_ROWS, ColumnProfile
from kanon_sql.verbs.init.hipaa import FORMS, words_of
from kanon_sql.verbs.init.names import POSTAL

__all__ = ["profile_columns"]

_ALIAS = "kanon_source"

NEARLY_ALL = 0.9
"""Share of a column's values that have a form from which it is taken for one of that form."""

LOOKS = 0.95
"""Share of a text's values that read as dates or as numbers from which the others are taken for faults."""

_MONTHS = [f"{number:02}" for number in range(1, 13)]
_DAYS = [f"{number:02}" for number in range(1, 32)]


def profile_columns(workspace: Workspace, columns: Sequence[Column]) -> tuple[int, list[ColumnProfile]]:
    """Count rows and, per column, values and their forms, in one pass.

    Args:
        workspace: its source is the table.
        columns: the columns to profile.

    Returns:
        The number of rows, and a profile per column.
    """
    if not columns:
        return 0, []
    items = [
        {
            "value": exact_value(column, _ALIAS),
            "text": _as_text(column),
            "number": _as_number(column),
            "is_text": column.kind == "text",
        }
        for column in columns
    ]
    values = iter(
        workspace.row(
            "verbs/init/columns",
            source=source_relation(),
            columns=items,
            digits=[str(digit) for digit in range(10)],
            months=_MONTHS,
            days=_DAYS,
        )
    )
    rows = int(next(values))
    profiles = []
    for column, item in zip(columns, items, strict=True):
        filled, distinct = int(next(values)), int(next(values))
        shortest, longest, digits = [next(values) for _ in range(3)] if item["text"] is not None else [None, None, 0]
        forms = {form: int(next(values) or 0) for form in FORMS} if item["is_text"] else {}
        read = {what: int(next(values) or 0) for what in ("dates", "numbers")} if item["is_text"] else {}
        thirds = next(values) if item["number"] is not None else None
        profiles.append(
            ColumnProfile(
                column=column,
                rows=rows,
                filled=filled,
                distinct=distinct,
                shortest=None if shortest is None else int(shortest),
                longest=None if longest is None else int(longest),
                digits=int(digits or 0),
                form=next((form for form, count in forms.items() if count >= NEARLY_ALL * max(1, filled)), None),
                **_looks(column, read, filled),
                thirds=int(thirds) if thirds is not None and math.isfinite(thirds) else None,
            )
        )
    return rows, profiles


def _looks(column: Column, read: Mapping[str, int], filled: int) -> dict[str, Any]:
    """What most values of a text read as, and how many do not; digits of postal codes are no numbers."""
    if filled < ENOUGH_ROWS or words_of(column.name) & POSTAL:
        return {}
    found = next((what for what, count in read.items() if count >= LOOKS * filled), None)
    return {} if found is None else {"looks_like": found, "odd": filled - read[found]}


def _name(column: Column) -> str:
    return f"{identifier(_ALIAS)}.{identifier(column.name)}"


def _as_text(column: Column) -> Sql | None:
    return Sql(f"CAST({_name(column)} AS VARCHAR)") if column.kind in ("text", "integer") else None


def _as_number(column: Column) -> Sql | None:
    numeric = column.kind in ("integer", "decimal", "float")
    return Sql(f"CAST({_name(column)} AS DOUBLE)") if numeric else None
