"""Connect to a database: the one place that knows which engines there are, and what each session is told first."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_sql.engines.base import Engine, Scratch
from kanon_sql.engines.databases import database_kind, place
from kanon_sql.engines.object_kinds import CONNECTIONS, connection_kind, connection_of_ibis, shown_kind
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.version import how_to_install

if TYPE_CHECKING:
    import sqlite3

    import duckdb
    import psycopg
    import sqlalchemy

__all__ = ["connect", "session_statements"]

_ALIASES = {"postgres": "postgresql", "mssql+pyodbc": "mssql"}

_CLICKHOUSE = {
    "clickhouse": ("clickhouse_connect",),
    "clickhouses": ("clickhouse_connect",),
    "chdb": ("clickhouse_connect", "chdb"),
}
"""URL scheme -> the modules it needs."""

_SPARK = ("spark", "sc")
"""URL schemes of a cluster's master and of Spark Connect."""

_REASONS = (
    "connection refused", "authentication failed", "access denied", "timed out", "timeout expired", "does not exist",
    "unknown database", "could not translate host name", "name or service not known", "unable to open database file",
    "no password supplied",
)  # fmt: skip
"""What a driver may say about a failed connection that helps and holds no secret."""


def connect(
    database: str
    | Path
    | duckdb.DuckDBPyConnection
    | sqlite3.Connection
    | psycopg.Connection[Any]
    | sqlalchemy.Engine
    | sqlalchemy.Connection
    | Any = ":memory:",
    *,
    read_only: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
    scratch: str | None = None,
) -> Engine:
    """Open a database, or use an open connection.

    Args:
        database: a DuckDB file, ``:memory:``, a URL such as ``postgresql://user@host/db``, an
            open connection of DuckDB, sqlite3 or psycopg, a SQLAlchemy engine or connection, a
            clickhouse-connect client, a SparkSession, or a backend of ibis for one of these. A
            connection that is given open is never closed, and is refused inside a transaction.
            What verbs set in its session is set back when the engine is closed; a connection to
            SQLite keeps a few functions (``floor``, ``ln``, ``regexp`` and some whose names begin
            with ``kanon_``).
        read_only: open it without the right to write, which is enough for ``plan`` and ``check``.
        threads: how many threads DuckDB may use.
        memory_limit: how much memory DuckDB may use, such as ``4GB``.
        scratch: where scratch tables live: ``temp`` (temporary tables), ``schema:NAME`` (plain
            tables in a schema meant for them), or ``inline`` (nowhere: queries carry what they
            need). The default is ``temp`` where the connection allows it, and ``inline`` elsewhere.

    Returns:
        An engine for the verbs. Close it with ``close()``, or use it in a ``with``.

    Raises:
        DatabaseError: the database cannot be opened.
        UnsupportedError: the kind of database is unknown, its driver is not installed, or the
            connection compares text inexactly.
        SpecError: ``scratch`` is none of the three modes.

    Examples:
        >>> with kanon_sql.connect("clinic.duckdb") as engine:  # or a URL, or an open connection
        ...     print(engine.dialect.name)
        duckdb
    """
    from kanon_sql.engines.duckdb import DuckDBEngine, connect_duckdb

    mode = None if scratch is None else scratch_mode(scratch)
    if isinstance(database, str | Path):
        name = str(database)
        if database_kind(name) != "url":
            return connect_duckdb(name, read_only=read_only, threads=threads, memory_limit=memory_limit, scratch=mode)
        if threads is not None or memory_limit is not None:
            raise SpecError("threads and memory_limit are settings of DuckDB; set limits on the server instead")
        return _open_url(name, read_only, mode)
    given: Any = database
    kind = connection_kind(given)
    if kind == "ibis":
        given = connection_of_ibis(given)
        kind = connection_kind(given)
    if kind == "duckdb":
        return DuckDBEngine(given, read_only=read_only, scratch=mode)
    if kind == "clickhouse":
        from kanon_sql.engines.clickhouse import ClickHouseEngine

        return ClickHouseEngine(given, read_only=read_only, scratch=mode)
    if kind == "spark":
        from kanon_sql.engines.spark import SparkEngine

        return SparkEngine(given, read_only=read_only, scratch=mode)
    if kind == "sqlalchemy":
        return _use_sqlalchemy(given, read_only, mode)
    if kind in ("sqlite3", "psycopg"):
        from kanon_sql.engines.raw import use_psycopg, use_sqlite3

        _need("sqlalchemy", "sqlite" if kind == "sqlite3" else "postgres")
        engine, afterwards = use_sqlite3(given) if kind == "sqlite3" else use_psycopg(given)
        try:
            return _relational(engine, engine.connect, read_only, mode, pooled=True, afterwards=afterwards)
        except BaseException:
            afterwards()
            raise
    raise UnsupportedError(f"cannot use {shown_kind(given)} as a database; give {CONNECTIONS}")


def scratch_mode(text: str) -> Scratch:
    """``temp``, ``inline`` or ``schema:NAME`` as a scratch mode.

    Raises:
        SpecError: anything else.
    """
    if text == "temp":
        return Scratch("temp", (), "asked for")
    if text == "inline":
        return Scratch("inline", (), "asked for")
    if text.startswith("schema:") and len(text) > len("schema:"):
        from kanon_sql.spec import parse_table_name

        return Scratch("schema", parse_table_name(text.removeprefix("schema:")), "asked for")
    raise SpecError(f"scratch: expected temp, inline or schema:NAME, got {text!r}")


def _open_url(url: str, read_only: bool, scratch: Scratch | None) -> Engine:
    scheme, rest = url.split("://", 1)
    scheme = _ALIASES.get(scheme, scheme)
    plain = scheme.split("+")[0]
    if scheme in _CLICKHOUSE:
        from kanon_sql.engines.connect_clickhouse import connect_clickhouse

        for module in _CLICKHOUSE[plain]:
            _need(module, plain if plain == "chdb" else "clickhouse")
        return connect_clickhouse(url, read_only=read_only, scratch=scratch)
    if scheme in _SPARK:
        from kanon_sql.engines.spark import connect_spark

        _need("pyspark", "spark")
        return connect_spark(url, read_only=read_only, scratch=scratch)
    from kanon_sql.engines.backends import BACKENDS

    if plain not in BACKENDS:
        raise UnsupportedError(
            "the database URL is of a kind that is not supported; give a DuckDB file, :memory:, or a URL that begins "
            f"with {', '.join(sorted({*BACKENDS, *_CLICKHOUSE, *_SPARK}))}"
        )
    backend = BACKENDS[plain]()
    extra = backend.extra
    _need("sqlalchemy", extra)
    if "+" not in scheme:
        _need(backend.driver, extra)
        scheme = backend.url
    import sqlalchemy
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError

    try:
        parsed = sqlalchemy.make_url(f"{scheme}://{rest}")
        options = backend.options(parsed, read_only=read_only)
        engine = sqlalchemy.create_engine(parsed, poolclass=sqlalchemy.NullPool, **options)
    except NoSuchModuleError:
        raise UnsupportedError(
            f"SQLAlchemy does not know the driver of the {plain} URL; {how_to_install(extra)}, or leave the driver out"
        ) from None
    except (ArgumentError, ValueError):
        raise SpecError(f"the database URL does not parse; expected {plain}://user@host:port/database") from None
    except ModuleNotFoundError as error:
        raise UnsupportedError(f"the driver {error.name} is not installed; pip install {error.name}") from None
    return _relational(engine, engine.connect, read_only, scratch, owned=True)


def _use_sqlalchemy(given: Any, read_only: bool, scratch: Scratch | None) -> Engine:
    import sqlalchemy

    if isinstance(given, sqlalchemy.Connection):
        return _relational(given.engine, lambda: given, read_only, scratch)
    return _relational(given, given.connect, read_only, scratch, pooled=True)


def _relational(
    engine: sqlalchemy.Engine,
    open_connection: Callable[[], sqlalchemy.Connection],
    read_only: bool,
    scratch: Scratch | None,
    *,
    owned: bool = False,
    pooled: bool = False,
    afterwards: Callable[[], None] | None = None,
) -> Engine:
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

    from kanon_sql.engines.backends import backend_named
    from kanon_sql.engines.relational import RelationalEngine

    backend = backend_named(engine.dialect.name)
    url = engine.url
    host = (url.host or "").rpartition("@")[2]  # in front of an @ is a part of a password
    label = f"{url.get_backend_name()}://{place(host, url.port, url.database)}"
    try:
        connection = open_connection()
    except DBAPIError as error:
        message = str(error.orig).lower()
        reason = next((words for words in _REASONS if words in message), type(error.orig).__name__)
        if reason == "does not exist":
            missing = next((what for what in ("role", "database") if f'{what} "' in message), "database or user")
            reason = f"the {missing} {reason}"
        if engine.dialect.name == "sqlite":
            what = "check that the directory exists, and that the file is a database which you may open"
        else:
            what = "check host, port, user and password"
        raise DatabaseError(
            f"cannot connect to {label}: {reason} (the driver's own text may hold credentials and is not shown); {what}"
        ) from None
    except (TypeError, ValueError):
        raise SpecError(
            f"cannot connect to {label}: the driver does not know an option of the URL (it is not shown, since "
            "it may hold a password); remove the options after the ?"
        ) from None
    except SQLAlchemyError as error:  # such as mariadb:// on a server that is MySQL
        raise DatabaseError(
            f"cannot connect to {label}: SQLAlchemy refused the server ({type(error).__name__}); "
            "does the URL name the right kind of database?"
        ) from None
    return RelationalEngine(
        connection, backend, label=label, owned=engine if owned else None, pooled=pooled, read_only=read_only,
        scratch=scratch, afterwards=afterwards,
    )  # fmt: skip


def _need(module: str, extra: str) -> None:
    """Refuse politely when a driver is missing."""
    try:
        found = find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that the module would be in
        found = False
    if not found:
        raise UnsupportedError(f"{module} is not installed; {how_to_install(extra)}")


def session_statements(engine: Engine) -> list[str]:
    """Statements for a session of another user, who runs what was written for this engine.

    They say how NULL is joined, in which zone a moment is shown, how texts compare, and that a wrong cast is an error:
    the part of what :func:`kanon_sql.connect` sets on which an answer depends, or that it comes at all.
    """
    dialect = engine.dialect
    name, literal = dialect.name, dialect.literal
    if name == "duckdb":
        return ["SET TimeZone = 'UTC'"]
    if name == "postgres":
        from kanon_sql.engines.backends.postgres import PLANS
        from kanon_sql.engines.backends.postgres import SETTINGS as OF_POSTGRES

        return [f"SET {key} = {literal(value)}" for key, value in (OF_POSTGRES | PLANS).items()]
    if name == "mariadb":
        from kanon_sql.engines.backends.mysql import LEAST_ROOM, MODE, MariaDBBackend

        longest = 4 * MariaDBBackend.dialect.longest_text + 16
        return [
            f"SET NAMES utf8mb4 COLLATE {MariaDBBackend.dialect.collation}",
            f"SET SESSION sql_mode = {literal(MODE)}, time_zone = '+00:00', join_cache_level = 2, "
            f"max_sort_length = {longest}, sort_buffer_size = {512 * longest}, default_tmp_storage_engine = 'Aria', "
            + ", ".join(f"{room} = GREATEST(@@{room}, {least})" for room, least in LEAST_ROOM.items()),
        ]
    if name == "clickhouse":
        from kanon_sql.engines.clickhouse_settings import SETTINGS as OF_CLICKHOUSE
        from kanon_sql.engines.clickhouse_settings import assigned

        return [f"SET {assigned(OF_CLICKHOUSE)}"]
    if name == "spark":
        from kanon_sql.engines.spark import SETTINGS as OF_SPARK

        return [f"SET {key} = {value}" for key, value in OF_SPARK.items() if value is not None]
    return []
