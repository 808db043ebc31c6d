"""DuckDB, in memory."""

from __future__ import annotations

from typing import Any, ClassVar

import duckdb

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.testing import Subject


class DuckDBSubject(Subject):
    name = "duckdb"
    dialect = dialect_named("duckdb")
    strange: ClassVar = {
        "DOUBLE": ("'NaN'", "'Infinity'", "'-Infinity'", "0", "5e-324", "0.1", "0.30000000000000004"),
        "FLOAT": ("'NaN'", "'Infinity'", "0", "0.1", "16777216"),
        "DATE": ("'infinity'", "'-infinity'", "'2001-02-28'", "'0001-01-01 (BC)'"),
        "TIMESTAMP": ("'infinity'", "'-infinity'", "'1969-12-31 23:59:59.999999'", "'2001-01-01'"),
        "TIMESTAMPTZ": ("'infinity'", "'1970-01-01 00:00:00.999999+00'", "'2001-01-01 00:00:00+02'"),
        "TIMESTAMP_NS": ("'1970-01-01 00:00:00.000000001'", "'1970-01-01 00:00:00'", "'2001-01-01'"),
        "TIME": ("'24:00:00'", "'00:00:00'", "'23:59:59.999999'"),
        "INTERVAL": ("'1 month'", "'1 day'", "'25 hours'"),
        "HUGEINT": ("0", "170141183460469231731687303715884105727", "-1"),
        "DECIMAL(38, 10)": ("0", "0.0000000001", "9999999999999999999999999999"),
        "ENUM('a', 'A', '')": ("'a'", "'A'", "''"),
        "VARCHAR COLLATE NOCASE": ("'a'", "'A'", "'a '", "''"),
        "BLOB": ("'a'", "''", "'\\x00'"),
        "BIT": ("'000'", "'00'", "'1'"),
        "INTEGER[]": ("[]", "[1]", "[NULL]", "[1, 2]"),
        "STRUCT(a INTEGER)": ("{'a': 1}", "{'a': NULL}"),
        "BOOLEAN": ("TRUE", "FALSE"),
    }
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
