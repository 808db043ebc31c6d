"""The dialects, by name. Each is imported when it is first asked for: what writes SQL for another engine is large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from kanon_sql.errors import UnsupportedError
from kanon_sql.sql.dialects.base import Dialect

__all__ = ["DIALECTS", "PORTABLE", "Dialect", "dialect_named"]

_CLASSES = {
    "duckdb": ("duckdb", "DuckDB"),
    "postgres": ("postgres", "Postgres"),
    "mariadb": ("mysql", "MariaDB"),
    "mysql": ("mysql", "MySQL"),
    "sqlite": ("sqlite", "SQLite"),
    "clickhouse": ("clickhouse", "ClickHouse"),
    "spark": ("spark", "Spark"),
    "snowflake": ("snowflake", "Snowflake"),
    "bigquery": ("bigquery", "BigQuery"),
    "redshift": ("redshift", "Redshift"),
    "databricks": ("databricks", "Databricks"),
    "tsql": ("tsql", "TSQL"),
    "trino": ("trino", "Trino"),
    "oracle": ("oracle", "Oracle"),
}
"""By name: the file, and the class in it."""


@cache
def _made(name: str) -> Dialect:
    file, kind = _CLASSES[name]
    dialect: Dialect = getattr(import_module(f"kanon_sql.sql.dialects.{file}"), kind)()
    return dialect


class _Dialects(Mapping[str, Dialect]):
    """The dialects by name, each made once."""

    def __getitem__(self, name: str) -> Dialect:
        return _made(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


DIALECTS: Mapping[str, Dialect] = _Dialects()
"""Every dialect that SQL can be rendered for."""

PORTABLE = DIALECTS["duckdb"]
"""What templates are written in."""


def dialect_named(name: str) -> Dialect:
    """The dialect of a name.

    Raises:
        UnsupportedError: there is none.
    """
    if name not in DIALECTS:
        raise UnsupportedError(f"dialect {name!r} is not rendered; expected one of {', '.join(DIALECTS)}")
    return DIALECTS[name]
