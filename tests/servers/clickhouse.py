"""ClickHouse inside this process (chDB); a process has one database path."""

from __future__ import annotations

import shutil
import tempfile
from datetime import date, datetime
from pathlib import Path
from typing import Any, ClassVar

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.testing import Subject
from tests.servers.base import Missing

NULLABLE = {
    "text": "Nullable(String)",
    "integer": "Nullable(Int32)",
    "small": "Nullable(Int16)",
    "single": "Nullable(Float32)",
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
    strange: ClassVar = {
        "Nullable(Float64)": ("nan", "inf", "-inf", "0", "5e-324", "0.1"),
        "Nullable(Float32)": ("nan", "inf", "0", "toFloat32(0.1)", "16777216"),
        "LowCardinality(Nullable(String))": ("'a'", "'A'", "''", "'a '", "'a\\0'"),
        "Nullable(Enum8('' = 0, 'a' = 1, 'A' = 2))": ("''", "'a'", "'A'"),
        "Nullable(FixedString(3))": ("'a'", "'a '", "''"),
        "Nullable(DateTime64(9, 'UTC'))": ("'1970-01-01 00:00:00.000000001'", "'1970-01-01 00:00:00'", "'2200-01-01'"),
        "Nullable(DateTime('Europe/Berlin'))": ("0", "1", "4294967295"),
        "Nullable(Date)": ("'1970-01-01'", "'2149-06-06'", "'2001-02-28'"),
        "Nullable(Date32)": ("'1900-01-01'", "'2299-12-31'", "'1970-01-01'"),
        "Nullable(UInt64)": ("0", "18446744073709551615", "9223372036854775808"),
        "Nullable(Int256)": ("0", "57896044618658097711785492504343953926634992332820282019728792003956564819967"),
        "Nullable(Decimal(76, 30))": ("0", "0.000000000000000000000000000001"),
        "Nullable(IPv6)": ("'::'", "'::1'", "'::ffff:1.2.3.4'"),
        "Nullable(UUID)": ("'00000000-0000-0000-0000-000000000000'", "'123e4567-e89b-12d3-a456-426655440000'"),
        "Nullable(Bool)": ("true", "false"),
    }  # fmt: skip
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
        self.engines: list[Engine] = []

    def connect(self, **options: Any) -> Engine:
        self.engines.append(kanon_sql.connect(self.url, **options))
        return self.engines[-1]

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
        """Leave nothing open: while something is, the process cannot open the database of the next subject."""
        for engine in self.engines:
            engine.close()
        self.client.close()
        shutil.rmtree(self.directory, ignore_errors=True)
