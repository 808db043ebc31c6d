"""Private servers for the tests: one per engine and process, on a free port, in a temporary directory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.testing import Subject

REQUIRED = set(filter(None, os.environ.get("KANON_REQUIRE_ENGINES", "").split(",")))


class Missing(Exception):
    """An engine that is not installed here."""


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
        found = self.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
        return [name for (name,) in found]

    def schema(self, name: str) -> tuple[str, ...]:
        self.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
        return (name,)

    def close(self) -> None:
        self.connection.close()


class UrlSubject(Subject):
    """A database that SQLAlchemy connects to by a URL."""

    def __init__(self, url: str) -> None:
        import sqlalchemy

        self.url = url
        self._engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)
        connection = self._engine.connect()
        self.connection = connection.execution_options(isolation_level="AUTOCOMMIT", no_parameters=True)

    def connect(self, **options: Any) -> Engine:
        return kanon_sql.connect(self.url, **options)

    def execute(self, sql: str) -> None:
        self.connection.exec_driver_sql(sql).close()

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.connection.exec_driver_sql(sql).fetchall()]

    def close(self) -> None:
        self.connection.close()
        self._engine.dispose()


class PostgresSubject(UrlSubject):
    name = "postgres"
    dialect = dialect_named("postgres")
    slow = "SELECT 1 AS n FROM pg_sleep(60)"

    def __init__(self) -> None:
        try:
            import pgserver
            import psycopg  # noqa: F401
        except ImportError as error:
            raise Missing(f"{error.name} is not installed") from None
        self.server = _started(lambda: pgserver.get_server(tempfile.mkdtemp(prefix="kanon_pg_")))
        super().__init__(self.server.get_uri().replace("postgresql://", "postgresql+psycopg://"))
        self.connection.connection.driver_connection.prepare_threshold = None

    def tables(self) -> list[str]:
        found = self.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
        return [name for (name,) in found]

    def schema(self, name: str) -> tuple[str, ...]:
        self.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
        return (name,)

    def close(self) -> None:
        super().close()
        self.server.cleanup()


def _started(start: Callable[[], Any]) -> Any:
    """A server gives itself some seconds to start, which a busy machine may exceed."""
    for attempt in range(3):
        try:
            return start()
        except Exception:
            if attempt == 2:
                raise
    raise AssertionError


SUBJECTS: dict[str, type[Subject]] = {"duckdb": DuckDBSubject, "postgres": PostgresSubject}


@contextmanager
def subject_of(name: str) -> Iterator[Subject]:
    """A subject, stopped at the end; the test is skipped, or fails if CI asks for it, when it is not here."""
    try:
        made = SUBJECTS[name]()  # type: ignore[call-arg]
    except Missing as missing:
        if name in REQUIRED:
            pytest.fail(f"KANON_REQUIRE_ENGINES names {name}: {missing}")
        pytest.skip(f"{name}: {missing}")
    try:
        yield made
    finally:
        made.close()


def scratch_folder() -> Path:
    """A new temporary folder."""
    return Path(tempfile.mkdtemp(prefix="kanon_"))
