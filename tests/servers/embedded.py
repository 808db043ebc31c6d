"""DuckDB, in memory."""

from __future__ import annotations

from typing import Any

import duckdb

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.testing import Subject


class DuckDBSubject(Subject):
    name = "duckdb"
    dialect = dialect_named("duckdb")
    slow = "SELECT COUNT(*) AS n FROM range(100000000) AS a(x), range(100000000) AS b(y) WHERE hash(x, y) = 7"

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 2})

    def connect(self, **options: Any) -> Engine:
        return kanon_sql.connect(self.connection, **options)

    def execute(self, sql: str) -> None:
        self.connection.execute(sql)

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()

    def tables(self) -> list[str]:
        found = self.fetch(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_schema = current_schema() AND table_catalog = current_catalog()"
        )
        return [name for (name,) in found]

    def schema(self, name: str) -> tuple[str, ...]:
        self.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
        return (name,)

    def close(self) -> None:
        self.connection.close()
