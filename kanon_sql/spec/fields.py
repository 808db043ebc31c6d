"""Types of the fields that several parts of a spec have: each with its check, its words for errors, its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any

from kanon_sql.spec.checks import Check, fail, flag, integer, items, text
from kanon_sql.spec.names import parse_table_name

__all__ = [
    "TABLE_NAME",
    "ClassColumn",
    "ColumnName",
    "ColumnNames",
    "ColumnPair",
    "FileName",
    "Flag",
    "K",
    "TableName",
    "table_name",
]

TABLE_NAME: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "maxItems": 3},
    ]
}
"""The JSON Schema of a table name."""


def _table_name(value: object) -> tuple[str, ...]:
    """A table name: text as :func:`parse_table_name` reads it, or a list of one to three parts."""
    if isinstance(value, list | tuple):
        if not 1 <= len(value) <= 3:
            fail(f"expected a table name of one to three parts, got {len(value)}")
        return items("name parts", text("a part of a table name"))(value)
    return parse_table_name(text("a table name")(value))


table_name = Check(_table_name, TABLE_NAME)
"""A check for the name of a table or view."""

TableName = Annotated[tuple[str, ...], table_name]
"""The name of a table or view: catalog, schema and name, as many as are given."""

ColumnName = Annotated[str, text("a column name")]

_column_names = items("column names", text("a column name"))

ColumnNames = Annotated[
    tuple[str, ...], Check(_column_names, {"type": ["array", "null"], "items": {"type": "string", "minLength": 1}})
]
"""Names of columns; a key with nothing behind it names none."""


def _two_columns(value: object) -> tuple[str, ...]:
    found = _column_names(value)
    if len(found) != 2 or found[0] == found[1]:
        fail("expected the names of two columns, such as [x, y]")
    return found


ColumnPair = Annotated[
    tuple[str, ...],
    Check(
        _two_columns,
        {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 2, "maxItems": 2},
    ),
]
"""Two different columns, such as those of a position."""

ClassColumn = Annotated[str | None, text("the name of the column of class values")]
"""The column that a classifier is to predict."""

FileName = Annotated[str, text("a file name")]

Flag = Annotated[bool, flag]

K = Annotated[int, integer("k", 1)]
"""The size of the smallest class that is allowed."""
