"""DuckDB, the embedded default: a database file, memory, or Parquet and CSV files on disk."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kanon_sql.engines.base import Capabilities, Column, Deadline, Kind, Meter, Row
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.sql.query import single_query
from kanon_sql.sql.statement import Statement
from kanon_sql.sql.text import identifier, literal

if TYPE_CHECKING:
    import duckdb

__all__ = ["DuckDBEngine", "connect_duckdb"]

CAPABILITIES = Capabilities(
    dialect="duckdb", transactional_ddl=True, temp_tables=True, files=True, exact_collation="binary"
)

_READERS = {
    ".parquet": "read_parquet",
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".csv.gz": "read_csv",
    ".tsv.gz": "read_csv",
}
_LOAD_ROWS = 1_000


def connect_duckdb(
    database: str = ":memory:",
    *,
    read_only: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
) -> DuckDBEngine:
    """Open a DuckDB database.

    Args:
        database: a file, or ``:memory:``.
        read_only: open the file without the right to write (temporary tables still work).
        threads: CPU threads, DuckDB's default when None.
        memory_limit: such as ``4GB``, DuckDB's default when None.

    Raises:
        DatabaseError: the file cannot be opened.
    """
    import duckdb

    in_memory = database.startswith(":memory:")
    config: dict[str, str | bool | int | float | list[str]] = {}
    if threads is not None:
        config["threads"] = threads
    if memory_limit is not None:
        config["memory_limit"] = memory_limit
    if read_only and not in_memory and not Path(database).exists():
        raise DatabaseError(f"there is no database file {database}; give an existing one with -d FILE")
    try:
        connection = duckdb.connect(database, read_only=read_only and not in_memory, config=config)
        connection.execute("SET enable_progress_bar = false")  # it would be drawn on standard output
    except duckdb.Error as error:
        raise _database_error(error, "connect") from None
    return DuckDBEngine(connection, label=database, owned=True, read_only=read_only and not in_memory)


class DuckDBEngine:
    """One DuckDB connection.

    Args:
        connection: an open ``duckdb.DuckDBPyConnection``; it is closed only if ``owned``.
        label: what to call it in messages.
        owned: this object opened the connection.
        read_only: the connection was opened read-only.

    Raises:
        UnsupportedError: the connection compares text inexactly by default.
    """

    capabilities = CAPABILITIES

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        *,
        label: str = "duckdb",
        owned: bool = False,
        read_only: bool = False,
    ) -> None:
        self.meter = Meter()
        self.label = label
        self.read_only = read_only
        self._connection = connection
        self._owned = owned
        self._deadline = Deadline(None)
        collation = connection.execute("SELECT current_setting('default_collation')").fetchone()
        if collation and str(collation[0]).lower() not in ("", "binary", "c", "posix"):
            raise UnsupportedError(
                "this DuckDB connection has a default_collation, which merges different texts into one class; "
                "run RESET default_collation first"
            )

    @property
    def version(self) -> str:
        """DuckDB's version."""
        import duckdb

        return duckdb.__version__

    @property
    def ephemeral(self) -> bool:
        """Whether this is a database in memory."""
        return self.label.startswith(":memory:")

    def execute(self, statement: Statement) -> None:
        """Run a statement for its effect."""
        self.meter.count(statement)
        with self._guard(statement.name):
            self._connection.execute(statement.sql)

    def fetch(self, statement: Statement, limit: int) -> list[Row]:
        """Run a query and return its rows; more than ``limit`` is an error."""
        self.meter.count(statement)
        with self._guard(statement.name):
            rows: list[Row] = self._connection.execute(statement.sql).fetchmany(limit + 1)
        if len(rows) > limit:
            raise DatabaseError(f"{statement.name}: more than the {limit} rows that may reach the client")
        self.meter.count_rows(rows)
        return rows

    def columns(self, relation: str) -> list[Column]:
        """The columns of a FROM form, without reading a row."""
        statement = Statement("columns", f"DESCRIBE SELECT * FROM {relation} AS kanon_relation", users=relation)
        self.meter.count(statement)
        with self._guard("columns"):
            rows = self._connection.execute(statement.sql).fetchall()
        self.meter.count_rows(rows)
        return [Column(row[0], row[1], _kind(row[1])) for row in rows]

    def exists(self, parts: tuple[str, ...]) -> Literal["table", "view"] | None:
        """What there is under a name; DuckDB compares names without case."""
        found = self._find(parts)
        if found is None:
            return None
        return "view" if found[0] == "VIEW" else "table"

    def full_name(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        """Catalog, schema and name in lower case, as DuckDB compares them."""
        found = self._find(parts)
        return None if found is None else tuple(str(part).lower() for part in found[1:])

    def _find(self, parts: tuple[str, ...]) -> Row | None:
        """Type, catalog, schema and name of what stands under a name."""
        *place, name = parts
        conditions = [f"lower(table_name) = lower({literal(name)})"]
        if not place:  # a temporary table hides the one in the schema
            conditions.append(
                "(table_catalog = 'temp' OR (table_schema = current_schema() AND table_catalog = current_catalog()))"
            )
        else:
            conditions.append(f"lower(table_schema) = lower({literal(place[-1])})")
            catalog = f"lower({literal(place[0])})" if len(place) == 2 else "lower(current_catalog())"
            conditions.append(f"lower(table_catalog) = {catalog}")
        sql = (
            "SELECT table_type, table_catalog, table_schema, table_name FROM information_schema.tables "
            f"WHERE {' AND '.join(conditions)} ORDER BY table_catalog = 'temp' DESC"
        )
        rows = self.fetch(Statement("exists", sql), limit=8)
        return rows[0] if rows else None

    def load(self, statement: Statement, table: str, rows: Sequence[Sequence[str | None]]) -> None:
        """Create a temporary table and fill it with rows of text."""
        self.execute(statement)
        for start in range(0, len(rows), _LOAD_ROWS):
            chunk = rows[start : start + _LOAD_ROWS]
            values = ", ".join("(" + ", ".join(literal(value) for value in row) + ")" for row in chunk)
            self.meter.count(Statement("load", f"INSERT INTO {identifier(table)} /* {len(chunk)} rows */"))
            with self._guard("load"):
                self._connection.execute(f"INSERT INTO {identifier(table)} VALUES {values}")

    def relation(self, *, table: tuple[str, ...] | None, query: str | None, file: str | None) -> str:
        """The FROM form of a table, the user's query, or a file."""
        if table is not None:
            return ".".join(identifier(part) for part in table)
        if query is not None:
            return f"(\n{single_query(query, 'duckdb')}\n)"
        if file is None:
            raise SpecError("a source is a table, a query or a file")
        name = file.lower()
        reader = next((reader for ending, reader in _READERS.items() if name.endswith(ending)), None)
        if reader is None:
            raise SpecError(f"source file {file}: expected one of {', '.join(sorted(_READERS))}")
        return f"{reader}({literal(file)})"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside happens, or nothing does.

        Raises:
            UnsupportedError: a transaction is open already; it is left as it is.
        """
        self._refuse_open_transaction()
        self.execute(Statement("transaction", "BEGIN TRANSACTION"))
        try:
            yield
            self.execute(Statement("transaction", "COMMIT"))
        except BaseException:
            # A COMMIT that failed has rolled back by itself.
            with self.without_deadline(), suppress(DatabaseError):
                self.execute(Statement("transaction", "ROLLBACK"))
            raise

    def _refuse_open_transaction(self) -> None:
        """BEGIN inside the user's transaction would not only fail but also abort it."""
        query = Statement("transaction", "SELECT txid_current()")
        if self.fetch(query, limit=1) == self.fetch(query, limit=1):
            raise UnsupportedError(
                "this connection is inside a transaction that kanon_sql did not open; commit it or roll it back first"
            )

    def cancel(self) -> None:
        """Stop the running statement."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close the connection if this object opened it."""
        if self._owned:
            self._connection.close()

    @contextmanager
    def run(self, deadline: Deadline) -> Iterator[Meter]:
        """A fresh meter and a time limit for everything inside."""
        before = self.meter, self._deadline
        self.meter, self._deadline = Meter(), deadline
        replacements = self._set_replacements(False)
        try:
            yield self.meter
        finally:
            self.meter, self._deadline = before
            self._set_replacements(replacements)

    def _set_replacements(self, enabled: bool) -> bool:
        """Stop DuckDB from reading a missing table's name as a Python variable; returns what was set."""
        (before,) = self._connection.execute("SELECT current_setting('python_enable_replacements')").fetchone() or (
            True,
        )
        self._connection.execute(f"SET python_enable_replacements = {str(enabled).lower()}")
        return bool(before)

    @contextmanager
    def without_deadline(self) -> Iterator[None]:
        """Let cleaning up finish even after the time limit was reached."""
        before, self._deadline = self._deadline, Deadline(None)
        try:
            yield
        finally:
            self._deadline = before

    @contextmanager
    def _guard(self, name: str) -> Iterator[None]:
        import duckdb

        left = self._deadline.remaining()
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            self.cancel()

        timer = threading.Timer(left, expire) if left is not None else None
        if timer is not None:
            timer.start()
        try:
            yield
        except (duckdb.InterruptException, RuntimeError) as error:
            # DuckDB reports Ctrl-C in either way.
            if expired.is_set():
                raise self._deadline.error() from None
            if isinstance(error, duckdb.InterruptException) or "interrupted" in str(error).lower():
                raise KeyboardInterrupt from None
            raise
        except duckdb.Error as error:
            raise _database_error(error, name) from None
        finally:
            if timer is not None:
                timer.cancel()


_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"(TINY|SMALL|BIG|HUGE|U\w*)?(INT|INTEGER)$|U?(TINY|SMALL|BIG|HUGE)INT$|UINTEGER$", "integer"),
    (r"DECIMAL", "decimal"),
    (r"FLOAT|DOUBLE|REAL", "float"),
    (r"VARCHAR$|ENUM", "text"),
    (r"DATE$", "date"),
    (r"TIMESTAMP", "timestamp"),
    (r"BOOLEAN$", "boolean"),
)


def _kind(type_name: str) -> Kind:
    for pattern, kind in _KINDS:
        if re.match(pattern, type_name) and not type_name.endswith("]"):
            return kind
    return "other"


def _database_error(error: Exception, name: str) -> DatabaseError:
    """A message without values: only errors about names keep their text."""
    import duckdb

    kind = type(error).__name__.removesuffix("Exception")
    about_names = duckdb.CatalogException | duckdb.BinderException | duckdb.IOException | duckdb.ConnectionException
    if isinstance(error, about_names) and name != "load":
        text = re.split(r"\n\s*\n?LINE ", str(error))[0]
        text = re.sub(r"'(?:[^']|'')*'", "'?'", text) if isinstance(error, duckdb.BinderException) else text
        return DatabaseError(f"{name}: {text.strip()}")
    return DatabaseError(f"{name}: DuckDB reported a {kind} error (its text may hold values and is not shown)")
