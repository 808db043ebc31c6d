"""What DuckDB's catalog is asked about tables and views, and what kinds of values its types are.

Names are resolved as DuckDB does it, without the case of the letters A to Z: every name that is given here is folded
in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from string import ascii_uppercase

from kanon_sql.engines.base import Kind, Texts
from kanon_sql.engines.type_names import TypeName, listed_labels, parsed_type
from kanon_sql.sql import literal

__all__ = ["described_type", "relation_query", "view_query"]

_CAPITALS = literal(ascii_uppercase)
_DEFAULT_SCHEMAS = "('main', 'public')"
"""Of a database of DuckDB or SQLite, and of PostgreSQL."""

_LEAVES: dict[str, tuple[Kind, Texts]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), ("integer", "one")),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), ("integer", "one")),
    "DECIMAL": ("decimal", "one"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), ("float", "one")),
    **dict.fromkeys(("VARCHAR", "ENUM"), ("text", "one")),
    "DATE": ("date", "one"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), ("timestamp", "one")),
    **dict.fromkeys(("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"), ("moment", "one")),
    "BOOLEAN": ("boolean", "one"),
    **dict.fromkeys(("BIGNUM", "VARINT", "BIT", "BLOB", "UUID", '"NULL"'), ("other", "one")),
    **dict.fromkeys(("TIME", "TIME_NS", "TIME WITH TIME ZONE"), ("other", "one")),
    "INTERVAL": ("other", "several"),
    "JSON": ("other", "items"),
}
"""What is told of types. Of others, such as UNION and VARIANT, different values may have one text: 1 and '1'."""

_AMBIGUOUS: tuple[Kind, Texts] = ("ambiguous", "several")


def relation_query(parts: Sequence[str]) -> str:
    """The query for the type, the full name (three parts) and the comment of what stands under a name: one row at most.

    A plain name is a temporary table's, or stands in a schema of the search path; the first of two parts is a
    schema, or a database that is attached.

    Args:
        parts: the name, one to three parts, folded.
    """
    *place, name = parts
    conditions = []
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
    # What information_schema.tables is made of, without what it has besides: that takes half of the time.
    tables = (
        "SELECT 'TABLE' AS table_type, database_name AS table_catalog, schema_name AS table_schema, table_name, "
        f"comment AS table_comment FROM system.main.duckdb_tables() WHERE {_is('table_name', name)}"
    )
    views = (
        "SELECT 'VIEW', database_name, schema_name, view_name, comment "
        f"FROM system.main.duckdb_views() WHERE {_is('view_name', name)}"
    )
    return (
        "SELECT table_type, table_catalog, table_schema, table_name, table_comment "
        f"FROM ({tables} UNION ALL {views}) AS kanon_found WHERE {' AND '.join(conditions)} "
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
def described_type(type_name: str) -> tuple[Kind, Texts, tuple[str, ...] | None]:
    """The kind of the values of a type, how they are written, and the labels of an enumeration."""
    parsed = parsed_type(type_name, backslash=False)
    if parsed is None:
        return *_AMBIGUOUS, None
    return *_kind_and_texts(parsed), listed_labels(parsed, backslash=False) if parsed.name == "ENUM" else None


def _kind_and_texts(of: TypeName) -> tuple[Kind, Texts]:
    if of.is_array or of.name in ("STRUCT", "TUPLE", "MAP"):
        fields = of.name == "STRUCT"
        parts = [_kind_and_texts(part.of_field() if fields else part) for part in of.arguments]
        return _AMBIGUOUS if any(kind == "ambiguous" for kind, _ in parts) else ("other", "items")
    return _LEAVES.get(of.name, _AMBIGUOUS)
