"""SQLite, by the standard library's driver."""

from __future__ import annotations

import hashlib
import math
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hmac import digest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from kanon_sql.engines.backends.base import Backend, Found, backend
from kanon_sql.engines.base import NO_SPACE, Capabilities, Column, Kind, Spelled, Texts
from kanon_sql.engines.error_redaction import without_values
from kanon_sql.engines.lock_files import is_abandoned, locked_file, unlocked
from kanon_sql.engines.session import NO_TABLE
from kanon_sql.sql import WITHOUT_JSON, Statement, affinity, dialect_named

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Connection

    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["SQLiteBackend"]

_OLDEST = (3, 35, 0)
_CACHE_KIB = 256 * 1024

_LOCK_SECONDS, _DRIVERS_SECONDS, _TRY_MS = 60, 5, 100
"""How long to wait for a lock, unless the connection says; what the driver sets if no user does; and each try."""

_KINDS: dict[str, Kind] = {"INTEGER": "integer", "REAL": "float", "TEXT": "text"}
"""Affinity -> kind; the types of numeric affinity are distinguished by name."""

_NUMERIC: tuple[tuple[str, Kind], ...] = (
    (r"DATE$", "date"),
    (r"DATETIME|TIMESTAMP", "timestamp"),
    (r"BOOL", "integer"),
    (r"DEC|NUMERIC|NUMBER", "decimal"),
)
"""What else is declared (NUM, which CREATE TABLE AS writes for dates too, or JSON) promises nothing."""

_ABOUT_NAMES = (
    "no such table", "no such column", "no such function", "ambiguous column name", "attempt to write a readonly",
    "unable to open database file", "file is not a database", "database disk image is malformed",
    "disk i/o error", "too many", "unknown database", "error in view",
    "integer overflow", "there is already", "views may not", "cannot modify",
)  # fmt: skip
"""How messages begin that name objects or resources, and no value of the data."""


_FUNCTIONS = (
    "abs", "char", "coalesce", "count", "date", "datetime", "dense_rank", "glob", "hex", "ifnull", "iif", "instr",
    "lead", "length", "lower", "ltrim", "max", "min", "nullif", "printf", "quote", "random", "replace", "round",
    "row_number", "rtrim", "strftime", "substr", "substring", "sum", "trim", "typeof", "zeroblob",
)  # fmt: skip
"""Functions of SQLite's that our SQL calls, which an application can replace."""

_TEXTS = ("a", "A", "a ", "á", "ä")
"""Texts that applications like to merge."""

_MEANINGS = (
    "SELECT DISTINCT 'function', name, builtin FROM pragma_function_list WHERE (builtin = 0 AND name IN ("
    + ", ".join(f"'{name}'" for name in _FUNCTIONS)
    + ")) OR name = 'ln' UNION ALL SELECT 'text', column1, 1 FROM (VALUES "
    + ", ".join(f"('{text}')" for text in _TEXTS)
    + ") GROUP BY column1 COLLATE BINARY"
)
"""Which of the functions were registered on the connection, whose ``ln`` there is, and which texts are distinguished.

It calls no function, and is one statement: every run asks it twice.
"""


@backend
class SQLiteBackend(Backend):
    """SQLite 3.35 and later: a file, or memory."""

    scheme = "sqlite"
    driver = "sqlite3"
    url = "sqlite+pysqlite"
    dialect = dialect_named("sqlite")
    capabilities = Capabilities(
        transactional_ddl=True,
        atomic_replace=True,
        temp_tables=True,
        files=False,
        folds_names="ASCII",
        judges_by_node=True,  # it would sort all classes once more
        row_id="rowid",
    )
    extra = "sqlite"
    shows_views = True
    effects = frozenset({"edit", "load_extension", "random", "randomblob", "readfile", "writefile"})
    detects_ended_runs = True
    begin = "BEGIN IMMEDIATE"  # the lock is had now, or the run fails before it did any work

    def options(self, url: URL, *, read_only: bool) -> dict[str, Any]:
        """A file that is only read is opened so that SQLite itself refuses to write, or to make a new file."""
        if not read_only or url.database in (None, "", ":memory:") or url.query:
            return {}
        place = f"file:{quote(str(url.database))}?mode=ro"
        return {"creator": lambda: sqlite3.connect(place, uri=True, check_same_thread=False)}

    def in_transaction(self, connection: Connection) -> bool:
        """The driver's own too, which changing the isolation level would commit."""
        driver: Any = connection.connection.driver_connection
        return connection.in_transaction() or driver.in_transaction

    def transaction_open(self, engine: RelationalEngine) -> bool:
        """As the library knows."""
        return bool(engine.driver_connection.in_transaction)

    def prepare(self, engine: RelationalEngine, *, read_only: bool) -> None:
        """Functions that the library may lack, memory to sort in, and a rename that no view can stop."""
        driver = engine.driver_connection
        if sqlite3.sqlite_version_info < _OLDEST:
            raise self.refuse(f"the library is version {sqlite3.sqlite_version}; 3.35 or later is needed")
        # A view that reads the release must not stop another table from taking its place.
        names = ("legacy_alter_table", "query_only", "busy_timeout")
        self._before = {name: self.first(engine, f"PRAGMA {name}")[0] for name in names}
        seconds = self._before["busy_timeout"] / 1_000
        self.retry_for = _LOCK_SECONDS if seconds == _DRIVERS_SECONDS else seconds
        engine._run(f"PRAGMA busy_timeout = {_TRY_MS}")  # a wait inside the library hears no Ctrl-C
        self._factories = driver.text_factory, driver.row_factory
        driver.text_factory, driver.row_factory = str, None
        self.refuse_shadowed_functions(engine)
        engine._run("PRAGMA legacy_alter_table = ON")
        self.dialect = self.dialect if _has_json(engine) else WITHOUT_JSON
        self._file = str(self.first(engine, "SELECT file FROM pragma_database_list WHERE name = 'main'")[0] or "")
        if engine._owned is not None:
            for name in ("main", "temp"):
                engine._run(f"PRAGMA {name}.cache_size = -{_CACHE_KIB}")

    def refuse_shadowed_functions(self, engine: RelationalEngine) -> None:
        """What an application registered under the name of a function or collation of SQLite's is used in its place.

        A collation cannot be looked up, so some texts are compared.
        """
        found = set(engine._rows(_MEANINGS, 2 * len(_FUNCTIONS) + 2 + len(_TEXTS)))
        names = sorted(name for what, name, builtin in found if what == "function" and not builtin and name != "ln")
        if names:
            raise self.refuse(
                f"this connection defines functions with the names of SQLite's own ({', '.join(names)}), which "
                "would be called in their place; use a connection without them"
            )
        if len([name for what, name, _ in found if what == "text"]) < len(_TEXTS):
            raise self.refuse(
                "this connection defines its own collation BINARY, which merges different texts into one class; "
                "use a connection without it"
            )
        driver = engine.driver_connection
        if [builtin for _, name, builtin in found if name == "ln"] != [1]:
            driver.create_function("ln", 1, _ln, deterministic=True)
        # SQLAlchemy brings its own in any case, which fails on NULL and on what no 64 bits hold.
        driver.create_function("floor", 1, _floor, deterministic=True)
        # SQLite has no hash: it calls the standard library's by itself, without a line of ours in between.
        driver.create_function("kanon_keyed", 3, digest, deterministic=True)
        driver.create_function("kanon_draw", 1, _draw, deterministic=True)
        driver.create_function("kanon_shown", 1, str, deterministic=True)

    def restore(self, engine: RelationalEngine) -> None:
        """Set the session back to what its owner had."""
        driver = engine.driver_connection
        driver.text_factory, driver.row_factory = self._factories
        for name, value in self._before.items():
            engine._run(f"PRAGMA {name} = {value}")

    def forbid_writes(self, engine: RelationalEngine) -> None:
        """A file of our own was opened read-only; a connection that was given is made so."""
        engine._run("PRAGMA query_only = ON")

    def ephemeral(self, label: str) -> bool:
        """Whether it is a database in memory that goes with the connection."""
        return not self._file

    def version(self, engine: RelationalEngine) -> str:
        """The library's version."""
        return sqlite3.sqlite_version

    def columns(self, engine: RelationalEngine, relation: str) -> list[Column]:
        """The declared types that a temporary view finds; an expression has its affinity alone."""
        name = f"kanon_{engine.run_id}_columns"
        quoted = self.dialect.quote(name)
        catalog = f"SELECT name, type FROM pragma_table_info({self.dialect.literal(name)}, 'temp')"
        query = f"SELECT * FROM {relation} AS kanon_relation"
        with _writable_temp(self, engine):
            engine._run(engine._tagged(f"CREATE TEMPORARY VIEW {quoted} AS {query}"))
            try:
                found = engine.scalars(catalog)
            finally:
                engine._run(f"DROP VIEW {quoted}")
            affinities: dict[str, str] = {}
            if any(not declared for _, declared in found):
                engine._run(engine._tagged(f"CREATE TEMPORARY TABLE {quoted} AS {query} LIMIT 0"))
                try:
                    affinities = dict(engine.scalars(catalog))
                finally:
                    engine._run(f"DROP TABLE {quoted}")
        return [_column(str(name), str(declared or _AFFINITIES[affinities[name]])) for name, declared in found]

    def find(self, engine: RelationalEngine, parts: tuple[str, ...]) -> Found | None:
        """As SQLite resolves a name: without case; temporary first, then the file, then what is attached."""
        *place, name = parts
        fold = self.capabilities.folded
        if len(place) > 1:
            return None
        databases = [str(row[0]) for row in engine.scalars("SELECT name FROM pragma_database_list ORDER BY seq")]
        databases.sort(key=lambda database: database != "temp")
        for database in databases:
            if place and fold(database) != fold(place[0]):
                continue
            rows = engine.scalars(
                f"SELECT type, LOWER(name) FROM {self.dialect.quote(database)}.sqlite_master "
                f"WHERE type IN ('table', 'view') AND LOWER(name) = LOWER({self.dialect.literal(name)})",
                1,
            )
            if rows:
                return "view" if rows[0][0] == "view" else "table", (fold(database), str(rows[0][1]))
        return None

    def faults(self, engine: RelationalEngine, parts: tuple[str, ...]) -> list[str] | None:
        """Triggers, also those of this connection, and what lets a row go without an error."""
        found = self.find(engine, parts)
        if found is None:
            return None
        database, name = found[1]
        schemas = " UNION ALL ".join(
            f"SELECT type, sql FROM {schema}.sqlite_master WHERE LOWER(tbl_name) = LOWER({self.dialect.literal(name)})"
            for schema in dict.fromkeys((self.dialect.quote(database), "temp"))
        )
        rows = [(str(kind), str(sql or "")) for kind, sql in engine.scalars(schemas)]
        shown_text = [NO_TABLE] if found[0] == "view" or any(_VIRTUAL.match(sql) for _, sql in rows) else []
        shown_text += ["has triggers"] if any(kind == "trigger" for kind, _ in rows) else []
        forgets = any(_FORGETS.search(self.dialect.quoted.sub("", sql)) for kind, sql in rows if kind == "table")
        return [*shown_text, *(["has generated columns, checks, or conflicts that are ignored"] if forgets else [])]

    def comment(self, engine: RelationalEngine, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        """The names of the table's indexes, of which one may be a mark."""
        database, name = full
        rows = engine.scalars(
            f"SELECT name FROM {self.dialect.quote(database)}.sqlite_master "
            f"WHERE type = 'index' AND LOWER(tbl_name) = LOWER({self.dialect.literal(name)}) ORDER BY name"
        )
        return "; ".join(str(row[0]) for row in rows)

    def definition(self, engine: RelationalEngine, full: tuple[str, ...]) -> str | None:
        """As it was created."""
        database, name = full
        return self.text(
            engine,
            f"SELECT sql FROM {self.dialect.quote(database)}.sqlite_master "
            f"WHERE type = 'view' AND LOWER(name) = LOWER({self.dialect.literal(name)})",
        )

    def __init__(self) -> None:
        self._locks: dict[str, int] = {}
        """The descriptors of locked files of runs that live."""

    def hold(self, engine: RelationalEngine, run_id: str) -> str | None:
        """A locked file beside the database, by such locks as keep the database itself whole."""
        lock = locked_file(self._lock_file(run_id)) if self._file else None
        if lock is None:
            return None
        self._locks[run_id] = lock
        return _LOCK_FILE

    def let_go(self, engine: RelationalEngine, run_id: str) -> None:
        """Remove the file."""
        unlocked(self._lock_file(run_id), self._locks.pop(run_id))

    def ended(self, engine: RelationalEngine, held_by: Mapping[str, str]) -> Iterable[str]:
        """Where the file is there and can be locked. A database that was attached to another has it elsewhere."""
        asked = [run_id for run_id, holder in held_by.items() if holder == _LOCK_FILE and _RUN.fullmatch(run_id)]
        return [run_id for run_id in asked if self._file and is_abandoned(self._lock_file(run_id))]

    def remove_run_mark(self, run_id: str) -> None:
        """Remove the file, unless it is locked."""
        if self._file and _RUN.fullmatch(run_id) and is_abandoned(self._lock_file(run_id)):
            with suppress(OSError):
                self._lock_file(run_id).unlink()

    def _lock_file(self, run_id: str) -> Path:
        file = Path(self._file).resolve()
        return file.with_name(f".{file.name}.kanon-run-{run_id}")

    def cancel(self, engine: RelationalEngine) -> None:
        """Interrupt the statement; the driver allows it from another thread."""
        engine.driver_connection.interrupt()

    def cancelled(self, error: BaseException) -> bool:
        """SQLITE_INTERRUPT."""
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT

    def busy(self, error: BaseException, *, in_transaction: bool) -> bool:
        """SQLITE_BUSY; in a snapshot that is out of date, waiting changes nothing."""
        code = getattr(error, "sqlite_errorcode", None)
        return code is not None and code & 0xFF == sqlite3.SQLITE_BUSY and code != sqlite3.SQLITE_BUSY_SNAPSHOT

    def message(self, error: BaseException, statement: Statement | None = None) -> str:
        """Errors about names and files keep their text; others may hold values."""
        text = str(error)
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return (
                f"the database was locked by another connection for {self.retry_for:g} s; let that one commit, roll "
                "back or close (a shell or a notebook may have left a transaction open), then run again; "
                "timeout=SECONDS in the URL's query sets how long to wait"
            )
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
            return f"SQLite: {NO_SPACE} (a database may also be at the size that PRAGMA max_page_count allows)"
        if "parser stack overflow" in text:
            return (
                f"the parser of SQLite {sqlite3.sqlite_version} refuses a statement that is nested this deeply; "
                "check fewer requirements at once, or read a view instead of a source query"
            )
        if text.lower().startswith(_ABOUT_NAMES):
            shown_text = without_values(text.splitlines()[0], statement)
            if shown_text is not None:
                return shown_text
        code = getattr(error, "sqlite_errorname", "")
        return f"SQLite reported {type(error).__name__} {code} (its text may hold values and is not shown)"


_LOCK_FILE, _RUN = "file", re.compile("[0-9a-f]+")
"""What knows that a run lives, and what its id is: a part of a name."""

_VIRTUAL = re.compile(r"\s*CREATE\s+VIRTUAL\b", re.IGNORECASE)
_FORGETS = re.compile(r"\b(CHECK|CONFLICT|GENERATED|AS)\b", re.IGNORECASE)

_AFFINITIES = {"INT": "INTEGER", "REAL": "REAL", "TEXT": "TEXT", "NUM": "NUMERIC", "": ""}
"""What CREATE TABLE AS calls an affinity -> a type of that affinity."""


@contextmanager
def _writable_temp(backend: SQLiteBackend, engine: RelationalEngine) -> Iterator[None]:
    """``query_only`` refuses temporary views too; for ours, which is gone at once, it is lifted."""
    (query_only,) = backend.first(engine, "PRAGMA query_only")
    if not query_only:
        yield
        return
    engine._run("PRAGMA query_only = OFF")
    try:
        yield
    finally:
        engine._run("PRAGMA query_only = ON")


def _has_json(engine: RelationalEngine) -> bool:
    """Whether the library takes arrays apart."""
    return bool(engine._rows("SELECT 1 FROM pragma_module_list WHERE name = 'json_each'", 1))


def _column(name: str, declared: str) -> Column:
    own = affinity(declared)
    kind: Kind = _KINDS.get(own, "other")
    if own == "NUMERIC":
        kind = next((kind for pattern, kind in _NUMERIC if re.match(pattern, declared, re.IGNORECASE)), "other")
    scale = re.search(r"\(\s*\d+\s*,\s*(\d+)\s*\)", declared) if kind == "decimal" else None
    # A column holds what is stored, and one form of it; but of JSON the values are more than their texts.
    texts: Texts = "items" if "JSON" in declared.upper() else "one"
    spelled: Spelled | None = "zero" if kind == "other" else None  # of any value, a binary fraction too
    return Column(name, declared, kind, None if scale is None else int(scale[1]), texts, spelled=spelled)


def _ln(number: float | None) -> float | None:
    return math.log(number) if number is not None and number > 0 else None


def _draw(text: str | None) -> int | None:
    """The first 48 bits of a text's SHA-256, see :meth:`kanon_sql.sql.dialects.base.Dialect.draw`."""
    return None if text is None else int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def _floor(number: float | None) -> float | None:
    return number if number is None or abs(number) >= 2**63 else math.floor(number)  # so large, all are whole
