"""ClickHouse inside this process (chDB); a process has one database path."""

from __future__ import annotations

import shutil
import tempfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.testing import Subject
from servers.base import Missing

NULLABLE = {
    "text": "Nullable(String)",
    "integer": "Nullable(Int32)",
    "bigint": "Nullable(Int64)",
    "decimal": "Nullable(Decimal(12, 2))",
    "double": "Nullable(Float64)",
    "date": "Nullable(Date32)",
    "timestamp": "Nullable(DateTime64(6))",
    "moment": "Nullable(DateTime64(6, 'Europe/Berlin'))",
    "boolean": "Nullable(Bool)",
    "uuid": "Nullable(UUID)",
}


class ClickHouseSubject(Subject):
    name = "clickhouse"
    dialect = dialect_named("clickhouse")
    types = NULLABLE
    slow = "SELECT count() AS n FROM numbers(100000000000000) WHERE sipHash64(number) = 7"

    def __init__(self) -> None:
        try:
            import chdb  # noqa: F401
            import clickhouse_connect
        except ImportError as error:
            raise Missing(f"{error.name} is not installed") from None
        self.directory = Path(tempfile.mkdtemp(prefix="kanon_ch_"))
        self.url = f"chdb://{self.directory}"
        self.client = clickhouse_connect.get_client(interface="chdb", path=str(self.directory))

    def connect(self, **options: Any) -> Engine:
        return kanon_sql.connect(self.url, **options)

    def execute(self, sql: str) -> None:
        self.client.command(sql)

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.client.query(sql).result_rows]

    def tables(self) -> list[str]:
        return [name for (name,) in self.fetch("SELECT name FROM system.tables WHERE database = currentDatabase()")]

    def schema(self, name: str) -> tuple[str, ...]:
        self.execute(f"CREATE DATABASE IF NOT EXISTS {name}")
        return (name,)

    def create(self, quoted: str, columns: str) -> str:
        return f"CREATE TABLE {quoted} ({columns}) ENGINE = MergeTree ORDER BY tuple()"

    def value(self, value: Any, kind: str) -> str:
        if isinstance(value, datetime):
            return f"toDateTime64('{value.isoformat(sep=' ')}', 6)"
        if isinstance(value, date):  # DATE '1969-12-31' would be 1970-01-01
            return f"toDate32('{value.isoformat()}')"
        return super().value(value, kind)

    def close(self) -> None:
        self.client.close()
        shutil.rmtree(self.directory, ignore_errors=True)
