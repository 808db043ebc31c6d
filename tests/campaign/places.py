"""A database in which faults are injected, and a view of it that does not pass through kanon_sql.

A place keeps what stands in it (``keep``) and brings it back before the next fault (``restore``). Embedded
databases are files that are copied; in servers every table has a copy under another name.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import duckdb

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.sql import Dialect, dialect_named
from kanon_sql.testing import Subject, as_text
from tests.campaign.disk import Disk, Unmountable
from tests.servers import SUBJECTS
from tests.servers.base import UrlSubject
from tests.servers.spark import SMALL, SparkSubject

SOURCE = "people"
COLUMNS = {"name": "text", "sex": "text", "age": "integer", "dx": "text"}
SCRATCH = re.compile(r"kanon_[0-9a-f]{8}_\w+")
SETTLED_SECONDS = 20.0
Rows = Counter[tuple[str | None, ...]]


def mounted(megabytes: int, at: Path | None = None) -> Disk | None:
    """A small file system, or None where none can be mounted."""
    try:
        return Disk(megabytes, at)
    except Unmountable:
        return None


class Place(ABC):
    """A database for the campaign.

    Attributes:
        name: the engine's.
        dialect: its SQL.
        url: what the command line takes after ``--database``; empty where a process cannot be told.
        disk: the small file system that its tables are on, if one could be mounted.
        processes: another process can open the database at the same time as this one (or instead of it).
    """

    name: ClassVar[str]
    dialect: Dialect
    url: str = ""
    disk: Disk | None = None
    _seen: list[str] | None = None
    processes: ClassVar[bool] = True

    @abstractmethod
    def connect(self, **options: Any) -> Engine:
        """A fresh connection of kanon_sql's own."""

    @abstractmethod
    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Read beside kanon_sql."""

    @abstractmethod
    def execute(self, sql: str) -> None:
        """Write beside kanon_sql."""

    @abstractmethod
    def _tables(self) -> list[str]:
        """All tables and views that outlive a session, as they are now."""

    def tables(self) -> list[str]:
        """All tables and views that outlive a session."""
        return self._tables() if self._seen is None else self._seen

    @contextmanager
    def still(self) -> Iterator[None]:
        """Inside, nobody makes or drops a table: the catalog, which is slow on some engines, is read once."""
        self._seen = self._tables()
        try:
            yield
        finally:
            self._seen = None

    @abstractmethod
    def keep(self, key: str) -> None:
        """Remember what stands here."""

    @abstractmethod
    def restore(self, key: str) -> None:
        """What was remembered under a key, and nothing else."""

    @abstractmethod
    def close(self) -> None:
        """Stop what was started."""

    def fill(self, rows: Sequence[Sequence[Any]]) -> None:
        """Make the source anew."""
        self.drop(SOURCE)
        self._subject_like().table(SOURCE, COLUMNS, rows)

    @abstractmethod
    def _subject_like(self) -> Subject:
        """Who writes literals and types of this engine."""

    def detach(self) -> None:  # noqa: B027 - servers have none
        """Let go of files, so that another process can open them."""

    def settle(self) -> None:  # noqa: B027 - where there are sessions
        """Wait until no session is left of a process that ended."""

    def drop(self, name: str) -> None:
        """Drop a table if it is there."""
        self.execute(f"DROP TABLE IF EXISTS {self.dialect.relation([name])}")

    def rows(self, name: str) -> Rows | None:
        """A table's rows as text; None when there is none."""
        if name not in self.tables():
            return None
        found = self.fetch(f"SELECT * FROM {self.dialect.relation([name])}")
        return Counter(tuple(map(as_text, row)) for row in found)

    def scratch(self) -> list[str]:
        """Tables of runs that stand here."""
        return sorted(name for name in self.tables() if SCRATCH.fullmatch(name))


class _Writer(Subject):
    """What :meth:`Subject.table` needs, on top of a place that is a file."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.dialect = place.dialect

    def connect(self, **options: Any) -> Engine:
        return self.place.connect(**options)

    def execute(self, sql: str) -> None:
        self.place.execute(sql)

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        return self.place.fetch(sql)

    def tables(self) -> list[str]:
        return self.place.tables()

    def schema(self, name: str) -> tuple[str, ...]:
        raise NotImplementedError

    def close(self) -> None:
        self.place.close()


class FilePlace(Place):
    """An embedded database: one file, opened anew by whoever looks at it."""

    suffixes: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        self._own = tempfile.TemporaryDirectory(prefix="kanon_campaign_")
        self.disk = mounted(8)
        self.path = (self.disk.path if self.disk is not None else Path(self._own.name)) / "main.db"
        self.dialect = dialect_named(self.name)
        self._view: Any = None

    def _subject_like(self) -> Subject:
        return _Writer(self)

    @abstractmethod
    def _open(self) -> Any:
        """A connection of the driver's."""

    @property
    def view(self) -> Any:
        if self._view is None:
            self._view = self._open()
        return self._view

    def detach(self) -> None:
        if self._view is not None:
            self._view.close()
            self._view = None

    def execute(self, sql: str) -> None:
        self.view.execute(sql)

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self.view.execute(sql).fetchall()
        return found

    def _kept(self, key: str) -> Path:
        return Path(self._own.name) / f"{key}.kept"

    def keep(self, key: str) -> None:
        self.detach()
        shutil.copyfile(self.path, self._kept(key))

    def restore(self, key: str) -> None:
        self.detach()
        for suffix in self.suffixes:
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        shutil.copyfile(self._kept(key), self.path)

    def close(self) -> None:
        self.detach()
        if self.disk is not None:
            self.disk.close()
        self._own.cleanup()


class DuckDBPlace(FilePlace):
    """A DuckDB file, with one thread: runs are small, and there are many."""

    name = "duckdb"
    suffixes = (".wal", ".wal.recovery", ".tmp")

    def __init__(self) -> None:
        super().__init__()
        self.url = str(self.path)

    def _open(self) -> duckdb.DuckDBPyConnection:
        return duckdb.connect(str(self.path), config={"threads": 1})

    def connect(self, **options: Any) -> Engine:
        return kanon_sql.connect(self.path, threads=1, **options)

    def _tables(self) -> list[str]:
        return [name for (name,) in self.fetch(
            "SELECT table_name FROM duckdb_tables() WHERE NOT temporary UNION ALL "
            "SELECT view_name FROM duckdb_views() WHERE NOT internal"
        )]  # fmt: skip


class SQLitePlace(FilePlace):
    """A SQLite file."""

    name = "sqlite"
    suffixes = ("-journal", "-wal", "-shm")

    def __init__(self) -> None:
        super().__init__()
        self.url = f"sqlite:///{self.path}"

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=0.05, isolation_level=None, check_same_thread=False)

    def connect(self, **options: Any) -> Engine:
        return kanon_sql.connect(self.url, **options)

    def _tables(self) -> list[str]:
        return [name for (name,) in self.fetch("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]


class ServerPlace(Place):
    """A database behind a server that the tests start for themselves."""

    processes = False

    def __init__(self) -> None:
        self.subject = self._start()
        self.dialect = self.subject.dialect
        if isinstance(self.subject, UrlSubject):
            self.url = self.subject.url
        self._kept: dict[str, dict[str, str | None]] = {}

    def _start(self) -> Subject:
        return SUBJECTS[self.name]()  # type: ignore[call-arg]

    def _subject_like(self) -> Subject:
        return self.subject

    def connect(self, **options: Any) -> Engine:
        return self.subject.connect(**options)

    def execute(self, sql: str) -> None:
        self.subject.execute(sql)

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        return self.subject.fetch(sql)

    def _tables(self) -> list[str]:
        return [name for name in self.subject.tables() if not name.startswith("kept_")]

    def _copy(self, old: str, new: str) -> None:
        query = f"SELECT * FROM {self.dialect.relation([old])}"
        self.execute(self.dialect.create_as(self.dialect.quote(new), query, temporary=False))

    def keep(self, key: str) -> None:
        with self.connect() as engine:
            self._kept[key] = {name: engine.mark((name,)) for name in self.tables()}
        for name in self._kept[key]:
            self.drop(self._copied(key, name))
            self._copy(name, self._copied(key, name))

    def _copied(self, key: str, name: str) -> str:
        return f"kept_{list(self._kept).index(key)}_{name}"

    def restore(self, key: str) -> None:
        for name in self.tables():
            self.drop(name)
        for name, mark in self._kept[key].items():
            self._copy(self._copied(key, name), name)
            if mark is not None:
                self.execute(self.dialect.mark((name,), mark))

    def close(self) -> None:
        try:
            self.subject.close()
        finally:
            if self.disk is not None:
                self.disk.close()


class SessionPlace(ServerPlace):
    """A server with sessions that can be listed and ended."""

    processes = True
    listed: ClassVar[str]
    """The ids of all other sessions."""
    ended: ClassVar[str]
    """The statement that ends one."""

    def others(self) -> list[int]:
        """The sessions of other connections."""
        return [int(number) for (number,) in self.fetch(self.listed)]

    def end(self, session: int) -> None:
        """End a session from outside; it may be gone already."""
        try:
            self.fetch(self.ended.format(session)) if "SELECT" in self.ended else self.execute(
                self.ended.format(session)
            )
        except Exception:
            if session in self.others():
                raise

    def reconnect(self) -> None:
        """Connect to a server that ended all sessions, and may still be starting."""
        subject, deadline = self.subject, time.monotonic() + SETTLED_SECONDS
        assert isinstance(subject, UrlSubject)
        while True:
            try:
                with suppress(Exception):
                    subject.connection.invalidate()
                    subject.connection.close()
                opened = subject._engine.connect()
                subject.connection = opened.execution_options(isolation_level="AUTOCOMMIT", no_parameters=True)
                if self.name == "postgres":  # plans must not outlast the tables that they were made for
                    subject.connection.connection.driver_connection.prepare_threshold = None
                self.settle()
                return
            except Exception:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    @abstractmethod
    def kill(self) -> None:
        """Kill the server, or what it consists of, and start it again where it does not by itself."""

    def settle(self) -> None:
        deadline = time.monotonic() + SETTLED_SECONDS
        while self.others():
            if time.monotonic() > deadline:
                raise AssertionError(f"{len(self.others())} sessions of processes that ended are still there")
            time.sleep(0.005)


class PostgresPlace(SessionPlace):
    """Its tables, temporary ones too, are in a tablespace on a small file system."""

    name = "postgres"
    listed = (
        "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' "
        "AND datname = current_database()"
    )
    ended = "SELECT pg_terminate_backend({})"

    def __init__(self) -> None:
        super().__init__()
        self.disk = mounted(24)
        if self.disk is not None:
            self._move(self.disk.path / "tables")

    def _move(self, place: Path) -> None:
        """Let new tables be made there."""
        place.mkdir()
        owner = Path(self.subject.folder).stat()
        os.chown(place, owner.st_uid, owner.st_gid)
        self.execute(f"CREATE TABLESPACE tiny LOCATION '{place}'")
        for setting in ("default_tablespace", "temp_tablespaces"):
            self.execute(f"ALTER ROLE CURRENT_USER SET {setting} = 'tiny'")
        self.reconnect()

    def kill(self) -> None:
        """One killed backend takes all others along, and the server recovers from its log."""
        for session in self.others():
            with suppress(ProcessLookupError):
                os.kill(session, signal.SIGKILL)


class MariaDBPlace(SessionPlace):
    """Its database's directory is a small file system."""

    name = "mariadb"
    listed = (
        "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user NOT IN "
        "('system user', 'event_scheduler')"
    )
    ended = "KILL CONNECTION {}"

    def __init__(self) -> None:
        super().__init__()
        self.disk = mounted(64, self.subject.server.directory / "data" / "kanon")
        self.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 1")  # what was committed survives a killed server

    def close(self) -> None:
        super().close()
        shutil.rmtree(self.subject.server.directory, ignore_errors=True)  # what the mount was in the way of

    def kill(self) -> None:
        """The whole server, with its log of unfinished DDL."""
        server = self.subject.server
        server.process.kill()
        server.process.wait()
        server.socket.unlink(missing_ok=True)
        with (server.directory / "log").open("ab") as log:
            server.process = subprocess.Popen(
                [*server.process.args, "--innodb-flush-log-at-trx-commit=1"], stdout=log, stderr=log
            )


class ClickHousePlace(ServerPlace):
    name = "clickhouse"


class SparkPlace(ServerPlace):
    """In one process: its tables are small, and each task that is sent to another process takes time."""

    name = "spark"

    def _start(self) -> Subject:
        return SparkSubject(0, {**SMALL, "spark.default.parallelism": "1", "spark.sql.shuffle.partitions": "1"})


PLACES: dict[str, type[Place]] = {
    kind.name: kind for kind in (DuckDBPlace, SQLitePlace, PostgresPlace, MariaDBPlace, ClickHousePlace, SparkPlace)
}
