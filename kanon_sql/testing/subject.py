"""A database under test: how a test makes tables in it and looks at them, beside kanon_sql."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar

from kanon_sql.engines import Engine
from kanon_sql.sql import Dialect

__all__ = ["TYPES", "Subject", "as_text"]

TYPES = {
    "text": "VARCHAR",
    "integer": "INTEGER",
    "small": "SMALLINT",
    "bigint": "BIGINT",
    "decimal": "DECIMAL(12, 2)",
    "double": "DOUBLE PRECISION",
    "single": "REAL",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "moment": "TIMESTAMP WITH TIME ZONE",
    "boolean": "BOOLEAN",
    "uuid": "UUID",
}
"""Logical type -> its name in standard SQL; a subject overrides what its engine calls otherwise."""


class Subject(ABC):
    """A database under test.

    Attributes:
        name: the engine's name, as in ``KANON_REQUIRE_ENGINES``.
        dialect: its SQL.
        types: logical type -> what ``CREATE TABLE`` says.
        lacks: names of conformance tests that do not apply -> why, in a sentence.
        strange: column type -> literals of different values that may be unequal to themselves, rounded, or merged on
            their way through a table, a union, an index or a cast; NULL is added.
        slow: a query that runs for a minute at least, unless it is cancelled; empty when none can be written.
    """

    name: ClassVar[str]
    dialect: Dialect
    types: ClassVar[Mapping[str, str]] = TYPES
    lacks: ClassVar[Mapping[str, str]] = {}
    strange: ClassVar[Mapping[str, Sequence[str]]] = {}
    slow: ClassVar[str] = ""

    @abstractmethod
    def connect(self, **options: Any) -> Engine:
        """A kanon_sql engine on this database; ``options`` go to :func:`kanon_sql.connect`."""

    @abstractmethod
    def execute(self, sql: str) -> None:
        """Run a statement on a connection of the test's own."""

    @abstractmethod
    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query on a connection of the test's own."""

    @abstractmethod
    def tables(self) -> list[str]:
        """The names of all tables and views that outlive a session, in the default schema."""

    @abstractmethod
    def schema(self, name: str) -> tuple[str, ...]:
        """Make a schema (or a database, where that is the same) and return its name parts."""

    def table(self, name: str | Sequence[str], columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
        """Create a table again.

        Args:
            name: its name, or its name parts.
            columns: name -> logical type, a key of :data:`TYPES`.
            rows: Python values; None is NULL.
        """
        quoted = self.dialect.relation([name] if isinstance(name, str) else list(name))
        self.execute(f"DROP TABLE IF EXISTS {quoted}")
        listed = ", ".join(f"{self.dialect.quote(column)} {self.types[kind]}" for column, kind in columns.items())
        self.execute(self.create(quoted, listed))
        for start in range(0, len(rows), 500):
            values = ", ".join(
                "(" + ", ".join(map(self.value, row, columns.values())) + ")" for row in rows[start : start + 500]
            )
            self.execute(f"INSERT INTO {quoted} VALUES {values}")

    def create(self, quoted: str, columns: str) -> str:
        """The statement that creates a table; engines that need more say so here."""
        return f"CREATE TABLE {quoted} ({columns})"

    def value(self, value: Any, kind: str) -> str:
        """A Python value as a literal of a logical type."""
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int | float | Decimal):
            return str(value)
        if isinstance(value, datetime):
            return f"CAST('{value.isoformat(sep=' ')}' AS {self.types[kind]})"
        if isinstance(value, date):
            return f"DATE '{value.isoformat()}'"
        return self.dialect.literal(str(value))

    def drop(self, name: str | Sequence[str], kind: str = "TABLE") -> None:
        """Drop a table or a view if it is there."""
        self.execute(f"DROP {kind} IF EXISTS {self.dialect.relation([name] if isinstance(name, str) else list(name))}")

    def rows(self, name: str | Sequence[str]) -> list[tuple[Any, ...]]:
        """All rows of a table."""
        return self.fetch(f"SELECT * FROM {self.dialect.relation([name] if isinstance(name, str) else list(name))}")

    @abstractmethod
    def close(self) -> None:
        """Stop what was started."""


def as_text(value: Any) -> str | None:
    """A cell in one form for all drivers: numbers without trailing zeros, dates in ISO form."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Decimal | float):
        number = Decimal(repr(value) if isinstance(value, float) else value)
        return str(int(number)) if number == number.to_integral_value() else f"{number.normalize():f}"
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode()
    return str(value)
