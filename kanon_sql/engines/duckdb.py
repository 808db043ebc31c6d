"""DuckDB, the embedded default: a database file, memory, or Parquet and CSV files on disk."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from weakref import WeakSet

from kanon_sql.engines.base import DROP, Capabilities, Column, Deadline, Estimate, Meter, Row, Scratch
from kanon_sql.engines.databases import cloud_label, database_kind
from kanon_sql.engines.duckdb_catalog import described_type, relation_query, view_query
from kanon_sql.engines.duckdb_errors import duckdb_error
from kanon_sql.engines.duckdb_macros import Macros
from kanon_sql.engines.files import AttachedLakes, csv_options, file_parts, file_reader, no_table_but_file
from kanon_sql.engines.private import PrivateDirectory, as_private_as, private_directory
from kanon_sql.engines.reads import Stored
from kanon_sql.engines.session import IN_TRANSACTION, THIS_PROCESS, SessionEngine
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.sql import Statement, dialect_named, literal

if TYPE_CHECKING:
    import duckdb

    from kanon_sql.spec import CsvFormat

__all__ = ["DuckDBEngine", "connect_duckdb"]

CAPABILITIES = Capabilities(
    transactional_ddl=True,
    atomic_replace=True,
    temp_tables=True,
    files=True,
    folds_names="ASCII",
    nodes_per_statement=64,
    nodes_as_rows=25_000,
    branches=2,
    quick_vectors=50_000,
    row_id="rowid",
    has_row_counts=True,
)

_SETTINGS = {
    "python_enable_replacements": "false",  # a missing table's name is not a Python variable
    "TimeZone": "UTC",  # a date of a moment is the same for anyone who asks
}
"""In force while a verb runs; afterwards a connection of the user has its own again."""

_WITH_ALL_SETTINGS: WeakSet[duckdb.DuckDBPyConnection] = WeakSet()
"""Connections that have all of these; a program that gives verbs its own one makes an engine with each."""

_SQLITE = b"SQLite format 3\0"

_LONGEST_KEPT, _MOST_KEPT = 20_000, 500
"""Characters of a statement, and statements, that are kept as they were parsed."""


def connect_duckdb(
    database: str = ":memory:",
    *,
    read_only: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
    scratch: Scratch | None = None,
) -> DuckDBEngine:
    """Open a DuckDB database.

    Args:
        database: a file, or ``:memory:``.
        read_only: open the file without the right to write (temporary tables still work).
        threads: CPU threads, DuckDB's default when None.
        memory_limit: such as ``4GB``, DuckDB's default when None.
        scratch: where scratch tables live.

    Raises:
        DatabaseError: the file cannot be opened.
        SpecError: it is a database of SQLite.
    """
    import duckdb

    kind = database_kind(database)
    in_memory = kind == "memory"
    config: dict[str, str | bool | int | float | list[str]] = {}
    if threads is not None:
        config["threads"] = threads
    if memory_limit is not None:
        config["memory_limit"] = memory_limit
    if read_only and kind == "file" and not Path(database).exists():
        raise DatabaseError(f"there is no database file {database}; give an existing file with -d FILE")
    if kind == "file" and _is_sqlite(Path(database)):  # DuckDB would look for an extension, on the network too
        raise SpecError(f"{database} is a database of SQLite; give it as sqlite:///{database}")
    try:
        connection = duckdb.connect(database, read_only=read_only and not in_memory, config=config)
        with suppress(duckdb.InvalidInputException):  # in a notebook without ipywidgets, where none is drawn
            connection.execute("SET enable_progress_bar = false")  # it would be drawn on standard output
        spill = _spill_directory(connection, Path(database) if kind == "file" else None)
    except duckdb.Error as error:
        if kind == "cloud":
            raise DatabaseError(
                f"cannot connect to {cloud_label(database)}: DuckDB reported {type(error).__name__} (its text may hold "
                "credentials and is not shown); check that its extension is installed, and the token"
            ) from None
        raise duckdb_error(error, "connect") from None
    try:
        return DuckDBEngine(
            connection,
            label=cloud_label(database) if kind == "cloud" else database,
            owned=True,
            read_only=read_only and not in_memory,
            scratch=scratch,
            spill=spill,
            file=Path(database) if kind == "file" and not read_only else None,
        )
    except BaseException:
        connection.close()
        if spill is not None:
            spill.close()
        raise


_OF_THE_SESSION = frozenset({DROP, "engines/scratch/domain", "engines/scratch/load", "transaction"})
"""For tables of the session, or after others that write; a log that nothing is written to would stay."""

_SPILLS: weakref.WeakValueDictionary[str, PrivateDirectory] = weakref.WeakValueDictionary()
"""The directories that databases of this process spill to, by path: connections to one database share it."""


def _spill_directory(connection: duckdb.DuckDBPyConnection, database: Path | None) -> PrivateDirectory | None:
    """Let a database spill to a directory of ours, which no other user can open; DuckDB's own follows the umask.

    Args:
        connection: to the database.
        database: its file; None for memory, which spills to the current directory.

    Returns:
        The directory; None where another connection to the same database has spilled already, or none can be made:
        then nothing can be spilled either.
    """
    import duckdb

    row = connection.execute("SELECT current_setting('temp_directory')").fetchone()
    shared = None if row is None else _SPILLS.get(str(row[0]))
    if shared is not None:
        return shared
    made = (
        private_directory(Path.cwd(), ".kanon-spill-")
        if database is None
        else private_directory(database.absolute().parent, f".{database.name}.kanon-spill-")
    )
    if made is None:
        return None
    try:
        connection.execute(f"SET temp_directory = {literal(str(made.path))}")
    except duckdb.Error:  # another connection to it has spilled, or has locked its settings
        made.close()
        return None
    return _SPILLS.setdefault(str(made.path), made)


def _is_sqlite(file: Path) -> bool:
    """Whether a file begins as SQLite's do."""
    try:
        with file.open("rb") as content:
            return content.read(len(_SQLITE)) == _SQLITE
    except OSError:  # it is DuckDB's to say why
        return False


class DuckDBEngine(SessionEngine):
    """One DuckDB connection.

    Args:
        connection: an open ``duckdb.DuckDBPyConnection``; it is closed only if ``owned``.
        label: what to call it in messages.
        owned: this object opened the connection.
        read_only: the connection was opened read-only, or nothing but temporary tables may be written.
        scratch: where scratch tables live.
        spill: the directory that the database spills to, where it is ours.
        file: the file of the database, where this object opened it for writing.

    Raises:
        UnsupportedError: the connection compares text inexactly by default, or macros hide functions of DuckDB's.
        DatabaseError: it answers nothing any more.
    """

    capabilities = CAPABILITIES
    dialect = dialect_named("duckdb")
    shows_views = True
    looks_first = False  # listing all functions takes as long as a small run
    detects_ended_runs = True
    effects = frozenset(
        {"checkpoint", "disable_logging", "disable_profiling", "enable_logging", "enable_profiling", "force_checkpoint"}
        | {"gen_random_uuid", "nextval", "query", "random", "setseed", "setval", "sleep_ms", "truncate_duckdb_logs"}
        | {"uuid", "uuidv4", "uuidv7", "write_log"}
    )

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        *,
        label: str = "duckdb",
        owned: bool = False,
        read_only: bool = False,
        scratch: Scratch | None = None,
        spill: PrivateDirectory | None = None,
        file: Path | None = None,
    ) -> None:
        super().__init__(label, read_only=read_only, scratch=scratch)
        self._spill = spill
        self._database_file = file
        self.note_removed(0 if spill is None else spill.removed)
        self.ephemeral = label.startswith(":memory:")
        self._connection = connection
        self._owned = owned
        self._settled = False
        self._statements: dict[str, duckdb.Statement] = {}
        self._sizes: dict[str, int] = {}
        self._made: int | None = None
        self._in_transaction = False
        self._runs = False
        self._macros = Macros(connection, self._execute)
        self._csv_files: dict[str, tuple[str, CsvFormat | None]] = {}
        self._lakes = AttachedLakes(connection, self.read_versions, self.dialect.quote)
        with self._guard("connect"):
            self._refuse_collation()
            if label != ":memory:" or not owned:  # else it is new, and no other user's
                self._macros.refuse()

    def _refuse_collation(self) -> None:
        collation = self._execute("SELECT current_setting('default_collation')").fetchone()
        if collation and str(collation[0]).lower() not in ("", "binary", "c", "posix"):
            raise UnsupportedError(
                "this DuckDB connection has a default_collation, which merges different texts into one class; "
                "run RESET default_collation first"
            )

    def refuse_shadowed_functions(self) -> None:
        """Macros may have been made since it was connected; not in memory of our own, which no other user can reach."""
        if not (self._owned and self.ephemeral):
            with self.without_deadline(), self._guard("catalog"):
                self._macros.refuse()

    def _execute(self, sql: str | duckdb.Statement) -> duckdb.DuckDBPyConnection:
        """Run one statement, and count the transaction that it was."""
        done = self._connection.execute(sql)
        if not self._in_transaction:
            self._macros.count()
        return done

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """DuckDB's own connection."""
        return self._connection

    @property
    def version(self) -> str:
        """DuckDB's version."""
        import duckdb

        return duckdb.__version__

    def estimate(self, relation: str) -> Estimate | None:
        """The rows that EXPLAIN expects; DuckDB does not estimate bytes."""
        sql = f"EXPLAIN (FORMAT JSON) SELECT * FROM {relation} AS kanon_relation"
        ((_, answer),) = self.fetch(Statement("estimate", sql, users=relation), 1)
        found = [int(rows) for rows in re.findall(r'"Estimated Cardinality": *"(\d+)"', str(answer))]
        return Estimate(max(found), None, "EXPLAIN") if found else None

    def execute(self, statement: Statement) -> None:
        """Run a statement for its effect, and note with how many rows it makes a scratch table: DuckDB says so."""
        made = statement.creates
        if made is None:
            for table in [table for table in self._sizes if table in statement.sql]:
                del self._sizes[table]  # it may have other rows now, or be gone
        if self._database_file is not None and self._reaches_the_log(statement):
            as_private_as(self._database_file, Path(f"{self._database_file}.wal"))
        super().execute(statement)
        if made is not None and made.temporary and self._made is not None:
            self._sizes[made.table] = self._made

    def _reaches_the_log(self, statement: Statement) -> bool:
        """Whether it may write to the disk; a table of the session is in no log."""
        if self.scratch.mode == "schema":
            return True
        made = statement.creates
        return not made.temporary if made is not None else statement.name not in _OF_THE_SESSION

    def known_rows(self, table: str) -> int | None:
        """The rows that a scratch table was made with, which nothing was done to since."""
        return self._sizes.get(table)

    def _run(self, sql: str) -> None:
        self._made = None
        answer = self._execute(self._parsed(sql)).fetchall()
        if len(answer) == 1 and len(answer[0]) == 1 and isinstance(answer[0][0], int):
            (self._made,) = answer[0]

    def _rows(self, sql: str, limit: int) -> list[Row]:
        rows: list[Row] = self._execute(self._parsed(sql)).fetchmany(limit + 1)
        return rows

    def _tagged(self, sql: str) -> str:
        """The text alone: a database in this process has no server whose logs would show a comment."""
        return self._whole(sql)

    def _parsed(self, sql: str) -> str | duckdb.Statement:
        """A text that has come before, parsed; parsing is a third of a small statement's time.

        What names mean is looked up whenever it is run, so that nothing but the syntax is remembered.
        """
        found = self._statements.pop(sql, None)
        if found is None:
            parsed = self._connection.extract_statements(sql)
            if len(parsed) != 1:
                self._macros.forget()  # it is not one transaction
                return sql
            (found,) = parsed
            if len(sql) > _LONGEST_KEPT:
                return found
        self._statements[sql] = found  # the last one to be dropped
        if len(self._statements) > _MOST_KEPT:
            self._statements.pop(next(iter(self._statements)))
        return found

    def _describe(self, relation: str) -> list[Column]:
        parts = file_parts(relation)
        if parts and self.exists(parts) is None:
            raise SpecError(no_table_but_file(".".join(parts), self.label))
        statement = Statement("columns", f"DESCRIBE SELECT * FROM {relation} AS kanon_relation", users=relation)
        self.meter.count(statement)
        rows = self._execute(self._parsed(self._tagged(statement.sql))).fetchall()
        self.meter.count_rows(rows)
        columns = [
            Column(name, shown, kind, texts=texts, labels=labels)
            for name, shown, *_ in rows
            for kind, texts, labels in (described_type(shown),)
        ]
        if relation in self._csv_files:
            self._look_at_csv(*self._csv_files.pop(relation), columns)
        return columns

    def _look_at_csv(self, path: str, csv: CsvFormat | None, columns: list[Column]) -> None:
        """Refuse a CSV file of which DuckDB makes another table than it means, and say how its dates were read.

        Raises:
            SpecError: it is empty, or its lines have other numbers of cells than the first one.
        """
        from kanon_sql.engines.csv_faults import misread  # other sources do not need it

        if (fault := misread(path, [column.name for column in columns])) is not None:
            raise SpecError(f"source file {path}: {fault}")
        if any(column.kind in ("date", "timestamp") for column in columns) and (csv is None or csv.dates is None):
            query = f"SELECT DateFormat, TimestampFormat FROM sniff_csv({literal(path)}{csv_options(csv)})"
            self._looked_at.dates(path, Statement("csv_dates", query))

    def _find(self, parts: tuple[str, ...]) -> tuple[Literal["table", "view"], tuple[str, ...]] | None:
        row = self._row_of(parts)
        if row is None:
            return None
        return "view" if row[0] == "VIEW" else "table", self._folded(map(str, row[1:4]))

    def _stored(self, parts: tuple[str, ...]) -> Stored | None:
        with self._guard("catalog"):
            rows = self._rows(relation_query(self._folded(parts)), 1)
            if not rows:
                return None
            kind, *full = map(str, rows[0][:4])
            if kind != "VIEW":
                return Stored(tuple(full))
            texts = self._rows(view_query(self._folded(full)), 1)
        return Stored(tuple(full), query=texts[0][0] if texts else None, hidden=not texts)

    def _comment(self, parts: tuple[str, ...]) -> str | None:
        row = self._row_of(parts)
        return None if row is None or row[0] == "VIEW" or row[4] is None else str(row[4])

    def _row_of(self, parts: tuple[str, ...]) -> Row | None:
        """Type, full name and comment of what stands under a name."""
        rows = self.fetch(Statement("exists", relation_query(self._folded(parts))), limit=1)
        return rows[0] if rows else None

    def _definition(self, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        rows = self.fetch(Statement("mark", view_query(self._folded(full))), 1)
        return None if not rows or rows[0][0] is None else str(rows[0][0])

    def _folded(self, parts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.capabilities.folded, parts))

    def _file(self, path: str, csv: CsvFormat | None) -> str:
        try:
            found = self._lakes.relation(path) or file_reader(path, csv)
            self._refuse_wrong_encoding(path, csv)
        except OSError as error:  # a name that is too long, a directory that may not be looked at
            raise SpecError(f"source file {path[:200]}: it cannot be read: {error.strerror}; check the name") from None
        if found.startswith("read_csv("):
            self._csv_files[found] = path, csv
        return found

    def _refuse_wrong_encoding(self, path: str, csv: CsvFormat | None) -> None:
        if csv is None or csv.encoding is None:
            return
        from kanon_sql.engines.csv_faults import wrong_encoding  # other sources do not need it

        if (fault := wrong_encoding(path, csv.encoding)) is not None:
            raise SpecError(f"source file {path}: {fault}")

    def _hold(self, run_id: str) -> str | None:
        """A file that is written is open in one process alone."""
        return THIS_PROCESS

    def _ended(self, among: tuple[str, ...], held_by: Mapping[str, str]) -> Iterable[str]:
        """All others, in a database that DuckDB itself stores; what is attached from elsewhere has other writers."""
        found = self._rows(relation_query(self._folded(among)), 1)
        if not found:
            return ()
        rows = self._rows(
            "SELECT path FROM duckdb_databases() WHERE type = 'duckdb' AND NOT readonly AND "
            f"lower(database_name) = {literal(str(found[0][1]).lower())}",
            1,
        )
        if not rows or (rows[0][0] is not None and not Path(str(rows[0][0])).is_file()):
            return ()
        return [run_id for run_id, holder in held_by.items() if holder == THIS_PROCESS]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside happens, or nothing does.

        Raises:
            UnsupportedError: a transaction is open already; it is left as it is.
        """
        self._refuse_open_transaction()
        try:
            with self._committed("BEGIN TRANSACTION"):
                self._in_transaction = True
                yield
        finally:
            self._in_transaction = False

    def _refuse_open_transaction(self) -> None:
        """BEGIN inside the user's transaction would not only fail but also abort it."""
        query = Statement("transaction", "SELECT txid_current()")
        if self.fetch(query, limit=1) == self.fetch(query, limit=1):
            raise UnsupportedError(IN_TRANSACTION)

    def cancel(self) -> None:
        """Stop the running statement."""
        self._connection.interrupt()

    def read_newest(self) -> None:
        """Let go of the versions of lakes."""
        self._lakes.close()

    def close(self) -> None:
        """Close the connection if this object opened it."""
        self._lakes.close()
        if self._owned:
            self._connection.close()
        if self._spill is not None:
            self._spill.close()

    @contextmanager
    def run(self, deadline: Deadline) -> Iterator[Meter]:
        """A fresh meter and a time limit for everything inside."""
        with self._settings_guard():
            self._macros.forget_if_any()
        with super().run(deadline) as meter:
            # A connection of our own keeps them: no other user uses it, and once it has all there is nothing to read.
            with self._settings_guard():
                found = {} if self._settled else self._settings()
            before = {name: value for name, value in found.items() if value != _SETTINGS[name]}
            inside, self._runs = self._runs, True  # of another run, which reads one version to its end
            try:
                with self._settings_guard():
                    self._set({name: _SETTINGS[name] for name in before})
                self._settled = self._owned and self._connection in _WITH_ALL_SETTINGS
                yield meter
            finally:
                self._runs = inside
                if not inside:
                    self._lakes.close()
                if not self._owned:
                    with self._settings_guard():
                        self._set(before)

    @contextmanager
    def _settings_guard(self) -> Iterator[None]:
        """Errors of ours for what is set besides the run's statements, which a limit of it must not prevent."""
        with self.without_deadline(), self._guard("settings"):
            yield

    def _settings(self) -> dict[str, str]:
        """The connection's own values of those settings that this build has.

        Without the icu extension there is no TimeZone, and every moment is shown in UTC. Listing all settings takes
        longer than checking a small table, so that is done only until all were there: the extension may come later.
        On a connection that a program opened itself, asking for one that is missing could end its transaction.
        """
        import duckdb

        if self._owned or self._connection in _WITH_ALL_SETTINGS:
            current = ", ".join(f"CAST(current_setting({literal(name)}) AS VARCHAR)" for name in _SETTINGS)
            with suppress(duckdb.CatalogException):
                row = self._execute(f"SELECT {current}").fetchone()
                assert row is not None
                _WITH_ALL_SETTINGS.add(self._connection)
                return dict(zip(_SETTINGS, row, strict=True))
        names = ", ".join(map(literal, _SETTINGS))
        query = f"SELECT name, value FROM duckdb_settings() WHERE name IN ({names})"
        found: dict[str, str] = dict(self._execute(query).fetchall())
        if len(found) == len(_SETTINGS):
            _WITH_ALL_SETTINGS.add(self._connection)
        return found

    def _set(self, settings: Mapping[str, str]) -> None:
        for name, value in settings.items():
            self._execute(f"SET {name} = {literal(value)}")

    def _error(self, error: Exception, name: str) -> BaseException | None:
        import duckdb

        # DuckDB reports Ctrl-C in either way.
        if isinstance(error, duckdb.InterruptException):
            return KeyboardInterrupt()
        if isinstance(error, RuntimeError) and "interrupted" in str(error).lower():
            return KeyboardInterrupt()
        return duckdb_error(error, name) if isinstance(error, duckdb.Error) else None
