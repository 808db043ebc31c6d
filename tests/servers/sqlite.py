"""SQLite, a file in a temporary directory; a schema is another file, attached."""

from __future__ import annotations

import tempfile
from datetime import date, datetime
from pathlib import Path
from typing import Any, ClassVar

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.testing import TYPES
from tests.servers.base import Missing, UrlSubject


class SQLiteSubject(UrlSubject):
    name = "sqlite"
    dialect = dialect_named("sqlite")
    types: ClassVar = {**TYPES, "uuid": "TEXT"}
    lacks: ClassVar = {"test_moments": "SQLite has no times with a zone"}
    strange: ClassVar = {
        "REAL": ("9e999", "-9e999", "0.0", "5e-324", "0.1", "0.30000000000000004"),
        "INTEGER": ("0", "9223372036854775807", "-9223372036854775808", "9007199254740993", "9007199254740992"),
        "NUMERIC": ("0", "9223372036854775807", "9007199254740993"),
        "TEXT COLLATE NOCASE": ("'a'", "'A'", "'a '", "''", "char(0)", "'a' || char(0)"),
        "TEXT COLLATE RTRIM": ("'a'", "'a '", "''"),
        "BLOB": ("x''", "x'00'", "x'61'"),
        "DATE": ("'2001-02-28'", "'0001-01-01'", "'9999-12-31'"),
        "TIMESTAMP": ("'1969-12-31 23:59:59.999'", "'2001-01-01 00:00:00'", "'0000-01-01 00:00:00'"),
        "BOOLEAN": ("TRUE", "FALSE"),
    }
    slow = (
        "SELECT COUNT(*) AS n FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n "
        "WHERE x < 100000000000) SELECT x FROM n) AS numbers"
    )

    def __init__(self) -> None:
        try:
            import sqlalchemy  # noqa: F401
        except ImportError as error:
            raise Missing(f"{error.name} is not installed") from None
        self._directory = tempfile.TemporaryDirectory(prefix="kanon_sqlite_")
        self.path = Path(self._directory.name) / "main.db"
        self._schemas: dict[str, Path] = {}
        self._given: list[Any] = []
        super().__init__(f"sqlite+pysqlite:///{self.path}")

    def connect(self, **options: Any) -> Engine:
        """By an open connection: files are attached to each."""
        given = self._engine.connect()
        for name, path in self._schemas.items():
            self._attach(given, name, path)
        self._given.append(given)
        return kanon_sql.connect(given, **options)

    @staticmethod
    def _attach(connection: Any, name: str, path: Path) -> None:
        connection.connection.driver_connection.execute(f"ATTACH '{path}' AS \"{name}\"")

    def value(self, value: Any, kind: str) -> str:
        """Dates are text."""
        if isinstance(value, datetime):
            return self.dialect.literal(value.isoformat(sep=" ", timespec="microseconds"))
        return self.dialect.literal(value.isoformat()) if isinstance(value, date) else super().value(value, kind)

    def tables(self) -> list[str]:
        return [name for (name,) in self.fetch("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]

    def schema(self, name: str) -> tuple[str, ...]:
        if name not in self._schemas:
            self._schemas[name] = self.path.with_name(f"{name}.db")
            for connection in (self.connection, *self._given):
                self._attach(connection, name, self._schemas[name])
        return (name,)

    def close(self) -> None:
        for given in self._given:
            given.close()
        super().close()
        self._directory.cleanup()
