"""What every engine with a connection shares: metering, the time limit, cancelling, tagging."""

from __future__ import annotations

import re
import secrets
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Literal, Self

from kanon_sql.engines.base import Capabilities, Column, Deadline, Estimate, Meter, Row, Running, Scratch, StageReporter
from kanon_sql.engines.reads import ReadInspector, Stored
from kanon_sql.errors import DatabaseError, KanonError, SpecError, UnsupportedError
from kanon_sql.interrupts import ends_in_order
from kanon_sql.sql import Dialect, Statement, called_names, looking_at, marked_run, refuse_called, single_query

if TYPE_CHECKING:
    from kanon_sql.spec import CsvFormat

__all__ = ["IN_TRANSACTION", "NO_TABLE", "TAG", "THIS_PROCESS", "SessionEngine"]

IN_TRANSACTION = "this connection is inside a transaction that kanon_sql did not open; commit it or roll it back first"
"""Why a connection is refused that its owner has begun something on."""

TAG = "/* kanon_sql run "
"""What every statement begins with; the run's id follows."""

NO_TABLE = "is no plain table"
"""Why a view, or what is like one, is not used as a table of ours."""

_BROKEN = re.compile("[\ud800-\udfff]")

THIS_PROCESS = "process"
"""What knows that a run lives where one process alone has the database open."""

_HERE: Counter[str] = Counter()
"""The runs of this process that are at work, by any of its connections."""

_HERE_LOCK = threading.Lock()


def _here(run_id: str, change: int) -> None:
    with _HERE_LOCK:
        _HERE[run_id] += change
        if not _HERE[run_id]:
            del _HERE[run_id]


def _is_here(run_id: str) -> bool:
    with _HERE_LOCK:
        return run_id in _HERE


class SessionEngine(ABC):
    """One connection to a database.

    A subclass brings the driver: how to run a text, what its errors mean, how to cancel.

    Args:
        label: what to call the database in messages, without credentials.
        read_only: the connection refuses to write.
        scratch: where scratch tables live.

    Attributes:
        progress: told the stages of the run, and what a statement waits for.
    """

    capabilities: Capabilities
    dialect: Dialect
    ephemeral = False
    looks_first = True
    """A run begins with a look at what may be called in place of the engine's own; it always ends with one."""
    effects: frozenset[str] = frozenset()
    """Functions that change something, reach outside the database, or give another answer each time they are called."""
    shows_views = False
    """The catalog says what a view is made of, so that this is looked at before it is read."""
    reads_elsewhere: frozenset[str] = frozenset()
    """Table functions, in small letters, that may read tables whose rows are merged later."""
    repeatable_samples: Literal["none", "seeded", "all"] = "none"
    """Which samples of a table that does not change have the same rows each time."""
    detects_ended_runs = False
    """It can be known that a run of another process or connection lives no more."""

    def __init__(self, label: str, *, read_only: bool = False, scratch: Scratch | None = None) -> None:
        self.label = label
        self.read_only = read_only
        self.scratch = scratch or Scratch()
        self.meter = Meter()
        self.run_id = secrets.token_hex(4)
        self.read_versions: dict[str, Mapping[str, str | int]] = {}
        """Name or path of a table that has versions -> the one that is read, for as long as a run lasts."""
        self._deadline = Deadline(None)
        self.progress = StageReporter()
        self._looked_at = ReadInspector(self)
        self._sources: dict[str, str] = {}  # FROM form of a user's query or file -> what errors call it
        self._removed: list[str] = []
        self._left: list[str] = []
        self._looked_into: set[tuple[str, ...]] = set()
        self._alive: dict[str, tuple[int, str | None]] = {}

    def __str__(self) -> str:
        """The engine, its version, the database, the user and whether it may write, without asking the database."""
        named = f"{self.dialect.name} {self.known_version or ''}".strip()
        user = "" if self.known_user is None else f" as {self.known_user}"
        return f"{named}: {self.label}{user}{', read-only' if self.read_only else ''}"

    def __repr__(self) -> str:
        """Its kind, and what it is connected to; no credential."""
        return f"<{type(self).__name__}: {self}>"

    @property
    def known_version(self) -> str | None:
        """The engine's version; None where only a statement would tell it."""
        return self.version

    @property
    def known_user(self) -> str | None:
        """The account that the connection was opened for; None where there is none, or a token may stand for it."""
        return None

    # --- What a subclass brings ---

    @property
    @abstractmethod
    def version(self) -> str:
        """The engine's version."""

    @abstractmethod
    def _run(self, sql: str) -> None:
        """Run a text for its effect."""

    @abstractmethod
    def _rows(self, sql: str, limit: int) -> list[Row]:
        """Run a query and return its rows, at most one more than ``limit``."""

    @abstractmethod
    def _describe(self, relation: str) -> list[Column]:
        """The columns of a FROM form."""

    @abstractmethod
    def _find(self, parts: tuple[str, ...]) -> tuple[Literal["table", "view"], tuple[str, ...]] | None:
        """The kind and the full name of what stands under a name."""

    @abstractmethod
    def _comment(self, parts: tuple[str, ...]) -> str | None:
        """What a table says of itself: its comment, or what stands for one; None when it says nothing."""

    def _definition(self, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        """The text of a view; None where the engine does not tell.

        Args:
            parts: its name.
            full: its full name, as :meth:`_find` says it.
        """
        return None

    def _stored(self, parts: tuple[str, ...]) -> Stored | None:
        """What the catalog says of a table or view that is to be read; None for none."""
        found = self._find(parts)
        if found is None:
            return None
        kind, full = found
        if kind == "table":
            return Stored(full)
        text = self._definition(parts, full)
        return Stored(full, query=text or None, hidden=not text)

    def _changing_calls(self, parts: tuple[str, ...], text: str) -> list[str]:
        """The functions in the text of a view that give another answer each time."""
        return sorted(called_names(text, self.dialect.sqlglot) & self.effects)

    def row_versions(self) -> list[str]:
        """Tables of the current schema whose rows may be versions of others until the engine merges them."""
        return []

    @abstractmethod
    def _error(self, error: Exception, name: str) -> BaseException | None:
        """A driver's error as one of ours, without values; None when it is not the driver's.

        A cancelled statement becomes KeyboardInterrupt.
        """

    @abstractmethod
    def cancel(self) -> None:
        """Stop the running statement, on the server too; called from another thread."""

    @abstractmethod
    def close(self) -> None:
        """Release the connection if this object opened it."""

    def _hold(self, run_id: str) -> str | None:
        """Let other processes and connections know that a run lives; what knows it, None where nothing does."""
        return None

    def _let_go(self, run_id: str, held_by: str) -> None:
        """Take back what :meth:`_hold` did."""
        return

    def _ended(self, among: tuple[str, ...], held_by: Mapping[str, str]) -> Iterable[str]:
        """Those of some runs, none of which is of this process, that live no more for sure."""
        return ()

    def _bury(self, run_id: str) -> None:
        """Locks end with their process or connection."""
        return

    def estimate(self, relation: str) -> Estimate | None:
        """What reading a FROM form would cost; None when the engine cannot tell."""
        return None

    def running(self) -> list[Running]:
        """Statements of other runs; none where they end with the process that sent them, or are not listed."""
        return []

    def end(self, statement: Running) -> None:
        """Ask the server to stop a statement of another run."""
        return

    def _file(self, path: str, csv: CsvFormat | None) -> str:
        """The FROM form of a file."""
        raise UnsupportedError(f"{self.dialect.name} cannot read the source file; load it into a table, or use DuckDB")

    def refuse_shadowed_functions(self) -> None:
        """See that names in our SQL mean what the engine means by them: a function of a user's may hide the engine's.

        Raises:
            UnsupportedError: something of a user's would be called in the place of the engine's own.
        """
        return

    def _refuse_effects(self, query: str) -> None:
        """Refuse a source query that does something, or gives other rows each time.

        Raises:
            SpecError: a function in it does.
        """
        refuse_called(query, self.dialect.sqlglot, self.effects)

    # --- What is the same for all ---

    def __enter__(self) -> Self:
        """Close it at the end of a ``with``."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def execute(self, statement: Statement) -> None:
        """Run a statement for its effect."""
        self.meter.count(statement)
        with self._guard(statement.name):
            self._run(self._tagged(statement.sql))

    def fetch(self, statement: Statement, limit: int) -> list[Row]:
        """Run a query and return its rows; more than ``limit`` is an error."""
        self.meter.count(statement)
        with self._guard(statement.name):
            rows = self._rows(self._tagged(statement.sql), limit)
        if len(rows) > limit:
            raise DatabaseError(f"{statement.name}: more than the {limit} rows that may reach the client")
        self.meter.count_rows(rows)
        return rows

    def columns(self, relation: str) -> list[Column]:
        """The columns of a FROM form, without reading a row."""
        with self._guard("columns", self._sources.get(relation)):
            found = self._describe(relation)
        self._looked_at.look(relation)
        self._looked_at.columns(relation, found)
        return found

    def count_versions(self, relation: str) -> None:
        """Take versions of a row for rows, in a FROM form and wherever else its tables are read in this run."""
        self._looked_at.look(relation, counts_versions=True)

    @property
    def read_notes(self) -> tuple[str, ...]:
        """What a result should say of the tables and views that were read, and of what killed runs left."""
        return (*self._looked_at.notes, *self._removed, *self._left)

    def note_removed(self, directories: int) -> None:
        """Let results say that directories with values were removed, which processes left that were killed."""
        if directories:
            runs = "a run that was" if directories == 1 else f"{directories} runs that were"
            self._removed.append(f"removed what {runs} killed had left on the disk")

    def note_leftover(self, note: str) -> None:
        """Let results and errors of this run say what became of something that a killed run left."""
        self._left.append(note)

    def looks_into(self, record: tuple[str, ...]) -> bool:
        """Whether this run has not looked into a record of scratch tables before; from now on it has."""
        first = record not in self._looked_into
        self._looked_into.add(record)
        return first

    def mark_alive(self, run_id: str) -> str | None:
        """Let others know that a run lives, until it is unmarked as often, or its process or connection ends."""
        count, held_by = self._alive.get(run_id, (0, None))
        if not count:
            _here(run_id, 1)
            with suppress(DatabaseError), self._guard("catalog"):
                held_by = self._hold(run_id)
        self._alive[run_id] = count + 1, held_by
        return held_by

    def unmark_alive(self, run_id: str) -> None:
        """Take back what :meth:`mark_alive` said once."""
        count, held_by = self._alive.pop(run_id)
        if count > 1:
            self._alive[run_id] = count - 1, held_by
            return
        _here(run_id, -1)
        if held_by is not None:
            with self._guard("catalog"):
                self._let_go(run_id, held_by)

    def remove_run_mark(self, run_id: str) -> None:
        """Remove what is left of the mark of a run that ended, once its tables are gone."""
        if not _is_here(run_id):
            self._bury(run_id)

    def ended(self, among: tuple[str, ...], held_by: Mapping[str, str]) -> frozenset[str]:
        """Those runs that live no more, of several with what knows it; one that is not known about is none of them."""
        others = {run_id: holder for run_id, holder in held_by.items() if not _is_here(run_id)}
        if not others:
            return frozenset()
        with self._guard("catalog"):
            return frozenset(self._ended(among, others))

    def known_rows(self, table: str) -> int | None:
        """How many rows a scratch table has, where the engine knows without a question."""
        return None

    def exists(self, parts: tuple[str, ...]) -> Literal["table", "view"] | None:
        """What there is under a name."""
        with self._guard("catalog"):
            found = self._find(parts)
        return None if found is None else found[0]

    def full_name(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        """One name for every way of writing a table's or view's name; None when there is no such table or view."""
        with self._guard("catalog"):
            found = self._find(parts)
        return None if found is None else found[1]

    def shared(self, parts: tuple[str, ...]) -> bool:
        """Whether a table that kanon_sql keeps its records in has a name.

        Such a table is found by its name alone, and another user may have made it first.

        Raises:
            SpecError: it is no plain table, or another user's code would run, or hide rows, when it is used.
        """
        with self._guard("catalog"):
            faults = self._faults(parts)
        if faults:
            raise SpecError(
                f"{'.'.join(parts)!r} has the name of a table of kanon_sql, and is not used: it "
                f"{', and '.join(faults)}. Another user could run code with the rights of this connection, or hide "
                "rows from it; drop or rename it, or name another schema, in which other users may not create tables"
            )
        return faults is not None

    def _faults(self, parts: tuple[str, ...]) -> list[str] | None:
        """Why a table that is found by its name cannot be trusted; None where nothing has the name."""
        kind = self.exists(parts)
        return None if kind is None else [NO_TABLE] if kind == "view" else []

    def default_rights(self, parts: tuple[str, ...]) -> list[str]:
        """None: what is made here has no rights before it is published that others do not have afterwards."""
        return []

    def conceal(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """Where a table can be made without rights for others, or rights are not known, there is nothing to do."""
        return parts

    def reveal(self, parts: tuple[str, ...]) -> list[str]:
        """Nothing was concealed."""
        return []

    def refuse_readers(self, schema: tuple[str, ...]) -> None:
        """Where a table can be made without rights for others, or rights are not known, there is nothing to do."""
        return

    def readers(self, schema: tuple[str, ...]) -> str | None:
        """Where a table can be made without rights for others, or no rights are known, there is nothing to say."""
        return None

    def rights(self, parts: tuple[str, ...]) -> list[str]:
        """None: where views can be replaced at once, their rights stay with the name."""
        return []

    def mark(self, parts: tuple[str, ...]) -> str | None:
        """The run that marked a table as its own; None for any other table, and for none."""
        with self._guard("catalog"):
            return marked_run(self._comment(parts))

    def view_mark(self, parts: tuple[str, ...]) -> str | None:
        """The run whose mark is in the text of a view; None for any other view, and for none."""
        with self._guard("catalog"):
            found = self._find(parts)
            if found is None or found[0] != "view" or self.dialect.guard is None:
                return None
            return marked_run(self._definition(parts, found[1]))

    def relation(
        self, *, table: tuple[str, ...] | None, query: str | None, file: str | None, csv: CsvFormat | None = None
    ) -> str:
        """The FROM form of a table, the user's query, or a file."""
        if table is not None:
            return self.dialect.relation(table)
        if query is not None:
            text = single_query(query, self.dialect.sqlglot)
            self._refuse_effects(text)
            self._looked_at.query(text)
            form = f"(\n{text}\n)"
            self._sources[form] = "source query"
            return form
        if file is None:
            raise SpecError("source: expected a table, a query or a file, got none of them")
        form = self._file(file, csv)
        self._sources[form] = f"source file {file}"
        return form

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside happens, or nothing does; just a block where DDL cannot be rolled back."""
        yield

    @contextmanager
    def _committed(self, begin: str) -> Iterator[None]:
        """A transaction around everything inside: committed at its end, rolled back where anything fails.

        Args:
            begin: the statement that opens it.
        """
        try:
            self.execute(Statement("transaction", begin))
            yield
            self.execute(Statement("transaction", "COMMIT"))
        except BaseException:
            # A COMMIT that failed may have rolled back by itself.
            with self.without_deadline(), suppress(DatabaseError):
                self.execute(Statement("transaction", "ROLLBACK"))
            raise

    def read_newest(self) -> None:
        """A database has one version of a table, the newest, unless the engine reads others."""
        return

    @contextmanager
    def run(self, deadline: Deadline) -> Iterator[Meter]:
        """A fresh meter, a fresh run id and a time limit for everything inside; SIGTERM ends it in order."""
        before = self.meter, self._deadline, self.run_id
        self.meter, self._deadline, self.run_id = Meter(), deadline, secrets.token_hex(4)
        self._looked_at, looked_at = ReadInspector(self), self._looked_at
        self._left, left = [], self._left
        self._looked_into, looked_into = set(), self._looked_into
        try:
            with ends_in_order(self.cancel):
                if self.looks_first:
                    self.refuse_shadowed_functions()
                try:
                    with looking_at(lambda: self._deadline.remaining()):
                        yield self.meter
                except KanonError as error:
                    for note in (*self._removed, *self._left):
                        if note not in error.notes:  # a run may be within another one
                            error.add_note(note)
                    if not self.looks_first:
                        self.refuse_shadowed_functions()  # it may be why
                    raise
                self.refuse_shadowed_functions()  # what was made meanwhile was called too
        finally:
            self.meter, self._deadline, self.run_id = before
            self._looked_at, self._left, self._looked_into = looked_at, left, looked_into

    def within(self, deadline: Deadline) -> AbstractContextManager[None]:
        """A time limit for everything inside, besides the run's own."""
        return self._limited(self._deadline.sooner(deadline))

    def without_deadline(self) -> AbstractContextManager[None]:
        """Let cleaning up finish even after the time limit was reached."""
        return self._limited(Deadline(None))

    @contextmanager
    def _limited(self, deadline: Deadline) -> Iterator[None]:
        before, self._deadline = self._deadline, deadline
        try:
            yield
        finally:
            self._deadline = before

    def _tagged(self, sql: str) -> str:
        """The text with a comment that says whose it is, for the server's own logs."""
        return f"{TAG}{self.run_id} */ {self._whole(sql)}"

    @staticmethod
    def _whole(sql: str) -> str:
        """The text, which can be sent as it is.

        Raises:
            SpecError: it holds what no driver can send whole: a zero byte, at which one cuts it, or half a character.
        """
        if "\x00" in sql or (not sql.isascii() and _BROKEN.search(sql)):
            raise SpecError(
                "a name, a label or a query holds a zero byte or a broken character; expected text that every database "
                "can hold; write it again as UTF-8"
            )
        return sql

    @contextmanager
    def _guard(self, name: str, shown: str | None = None) -> Iterator[None]:
        left = self._deadline.remaining()
        expired = False

        def expire() -> None:
            nonlocal expired
            expired = True
            self.cancel()

        timer = threading.Timer(left, expire) if left is not None else None
        if timer is not None:
            timer.start()
        try:
            with self.meter.timed(name):
                yield
        except Exception as error:
            ours = self._error(error, shown or name)
            # Of two limits, one inside the other, either cancels the statement: that was no Ctrl-C.
            if expired or (isinstance(ours, KeyboardInterrupt) and self._deadline.is_over):
                raise self._deadline.error() from None
            if ours is None:
                raise
            raise ours from None
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()  # a cancel on its way must not hit the next statement
