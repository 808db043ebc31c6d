"""What DuckDB's catalog is asked about tables and views, and what kinds of values its types are.

Names are resolved as DuckDB does it, without the case of the letters A to Z: every name that is given here is folded
in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from string import ascii_uppercase

from kanon_sql.engines.base import Kind
from kanon_sql.sql import literal

__all__ = ["kind_of", "relation_query", "view_query"]

_CAPITALS = literal(ascii_uppercase)
_DEFAULT_SCHEMAS = "('main', 'public')"
"""Of a database of DuckDB or SQLite, and of PostgreSQL."""

_KINDS: tuple[tuple[str, Kind], ...] = (
    (r".*\b(UNION\(|VARIANT\b)", "ambiguous"),  # the number 1 and the text 1
    (r"(TINY|SMALL|BIG|HUGE|U\w*)?(INT|INTEGER)$|U?(TINY|SMALL|BIG|HUGE)INT$|UINTEGER$", "integer"),
    (r"DECIMAL", "decimal"),
    (r"FLOAT|DOUBLE|REAL", "float"),
    (r"VARCHAR$|ENUM", "text"),
    (r"DATE$", "date"),
    (r"TIMESTAMP.*(ZONE|TZ)", "moment"),
    (r"TIMESTAMP", "timestamp"),
    (r"BOOLEAN$", "boolean"),
)


def relation_query(parts: Sequence[str]) -> str:
    """The query for the type, the full name (three parts) and the comment of what stands under a name: one row at most.

    A plain name is a temporary table's, or stands in a schema of the search path; the first of two parts is a
    schema, or a database that is attached.

    Args:
        parts: the name, one to three parts, folded.
    """
    *place, name = parts
    conditions = [_is("table_name", name)]
    if not place:
        conditions.append(
            "(table_catalog = 'temp' OR "
            "(table_catalog = current_catalog() AND list_contains(current_schemas(true), table_schema)))"
        )
    elif len(place) == 1:
        schema = f"table_catalog = current_catalog() AND {_is('table_schema', place[0])}"
        database = f"{_is('table_catalog', place[0])} AND table_schema IN {_DEFAULT_SCHEMAS}"
        conditions.append(f"(({schema}) OR ({database}))")
    else:
        conditions += [_is("table_catalog", place[0]), _is("table_schema", place[1])]
    return (
        "SELECT table_type, table_catalog, table_schema, table_name, table_comment FROM information_schema.tables "
        f"WHERE {' AND '.join(conditions)} "
        "ORDER BY table_catalog = 'temp' DESC, "
        "COALESCE(list_position(current_schemas(false), table_schema), 99) ASC "
        "LIMIT 1"
    )


def view_query(full: Sequence[str]) -> str:
    """The query for the text of a view.

    Args:
        full: the view's database, schema and name, folded.
    """
    columns = ("database_name", "schema_name", "view_name")
    where = " AND ".join(_is(column, part) for column, part in zip(columns, full, strict=True))
    return f"SELECT sql FROM duckdb_views() WHERE {where}"


def _is(column: str, name: str) -> str:
    """A condition on the catalog; LOWER would also fold letters that names do not."""
    return f"translate({column}, {_CAPITALS}, lower({_CAPITALS})) = {literal(name)}"


@lru_cache(maxsize=500)
def kind_of(type_name: str) -> Kind:
    """The kind of the values of a type."""
    for pattern, kind in _KINDS:
        if re.match(pattern, type_name) and (kind == "ambiguous" or not type_name.endswith("]")):
            return kind
    return "other"
