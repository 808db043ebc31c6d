"""Databases that SQLAlchemy has a dialect for: one pinned connection, statements passed as they are.

What differs between them (types, catalog, cancelling, rights) is a :class:`Backend` each, in
:mod:`kanon_sql.engines.backends`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from traceback import clear_frames
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from kanon_sql.engines.base import NO_MEMORY, Column, Deadline, Estimate, Meter, Row, Running, Scratch
from kanon_sql.engines.reads import Stored
from kanon_sql.engines.session import IN_TRANSACTION, SessionEngine
from kanon_sql.errors import DatabaseError, UnsupportedError
from kanon_sql.sql import Statement

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

    from kanon_sql.engines.backends import Backend
    from kanon_sql.spec import CsvFormat

__all__ = ["RelationalEngine"]

Described = TypeVar("Described")

PAUSE = 0.1
"""Seconds between two tries of a statement that waits for another connection."""
WHOLE = 10.0
"""Seconds for which a query of the catalog is sent again that left tables out."""


_WITH_USERS = ("postgres", "mysql", "mariadb")
"""Dialects of servers whose URLs name an account."""


class RelationalEngine(SessionEngine):
    """One SQLAlchemy connection, in autocommit mode; transactions are statements.

    Args:
        connection: an open connection; temporary tables live and die with it.
        backend: what is special about its database.
        label: what to call it in messages, without credentials.
        owned: the SQLAlchemy engine to dispose of at the end, if this object made it.
        pooled: the connection was taken from an engine of the user, whose pool gets it back at the end.
        read_only: write nothing but temporary tables; where there are none (inline), the
            server is asked to refuse every write.
        scratch: where scratch tables live; found out by trying when None.
        afterwards: called once the session is as its owner had it, to set what SQLAlchemy knows nothing of.

    Raises:
        UnsupportedError: the connection is inside a transaction, or its session cannot
            compare text exactly.
        DatabaseError: the server refused.
    """

    def __init__(
        self,
        connection: Connection,
        backend: Backend,
        *,
        label: str,
        owned: Engine | None = None,
        pooled: bool = False,
        read_only: bool = False,
        scratch: Scratch | None = None,
        afterwards: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(label, read_only=read_only, scratch=scratch)
        if backend.in_transaction(connection):
            raise UnsupportedError(IN_TRANSACTION)
        self.backend = backend
        self.dialect = backend.dialect
        self._owned, self._pooled, self._afterwards = owned, pooled, afterwards
        self._isolation = backend.isolation(connection) if owned is None else None
        autocommit = {"isolation_level": "AUTOCOMMIT"} if backend.autocommit else {}
        self._cancel_asked = False
        self._cancels = 0
        self._connection = connection.execution_options(no_parameters=True, **autocommit)
        try:
            self._prepare(read_only, scratch)
        except BaseException:
            self.close()
            raise

    def _prepare(self, read_only: bool, scratch: Scratch | None) -> None:
        """Set the session up, and find out what it may do."""
        backend = self.backend
        with self._guard("connect"):
            backend.prepare(self, read_only=read_only)
        self.dialect, self.capabilities = backend.dialect, backend.capabilities  # it may have asked the server
        self.ephemeral = backend.ephemeral(self.label)
        if scratch is None:
            self.scratch = backend.scratch(self)
        elif scratch.mode == "temp" and not self.capabilities.temp_tables:
            raise UnsupportedError(
                f"scratch: temp is not possible: {backend.without_temp_tables}; use schema:NAME or inline"
            )
        if read_only and self.scratch.mode == "inline":
            with self._guard("connect"):
                backend.forbid_writes(self)

    @property
    def version(self) -> str:
        """The server's version."""
        return self.backend.version(self)

    @property
    def known_version(self) -> str | None:
        """The server's version as the driver has noted it when it connected."""
        noted = getattr(self._connection.dialect, "server_version_info", None)
        return ".".join(map(str, noted)) if noted else None

    @property
    def known_user(self) -> str | None:
        """The account in the URL, where a warehouse could not have a token in its place."""
        return self._connection.engine.url.username if self.dialect.name in _WITH_USERS else None

    @property
    def driver_connection(self) -> Any:
        """The driver's own connection object."""
        return self._connection.connection.driver_connection

    def scalars(self, sql: str, limit: int = 10_000) -> list[Row]:
        """A query of the catalog or the session, metered like any other."""
        return self.fetch(Statement("catalog", sql, quoted=self.dialect.quoted), limit)

    def _tagged(self, sql: str) -> str:
        return self.backend.sent(super()._tagged(sql))

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt as error:
            # The frames of the error hold the driver's cursor, and a cursor of SQLite's locks the file as long as it is
            # there, even after its connection was closed.
            clear_frames(error.__traceback__)
            with suppress(Exception):
                self.backend.interrupted(self)
            raise

    def _run(self, sql: str) -> None:
        with self._watched():
            self._sent(sql).close()
        self.backend.ran(self)

    def _rows(self, sql: str, limit: int) -> list[Row]:
        end = time.monotonic() + WHOLE
        while True:
            with self._watched(), self._sent(sql) as result:
                rows = [tuple(row) for row in result.fetchmany(limit + 1)]
            if self.backend.ran(self):
                return rows
            self._deadline.remaining()
            if time.monotonic() > end:
                raise DatabaseError(
                    f"{self.label}: another connection has been creating, changing or dropping tables for "
                    f"{WHOLE:.0f} seconds, and the catalog leaves those out; wait until it ends, then run again"
                )
            time.sleep(PAUSE)

    def _sent(self, sql: str) -> Any:
        """The driver's result; where the database does not wait for other connections itself, or gives up, we wait."""
        from sqlalchemy.exc import DBAPIError

        open_before = bool(self.backend.retry_for) and self._open_transaction()
        end, cancels = time.monotonic() + self.backend.retry_for, self._cancels
        waited = False
        try:
            while True:
                try:
                    return self._connection.exec_driver_sql(sql)
                except DBAPIError as error:
                    busy = error.orig is not None and self.backend.busy(error.orig, in_transaction=open_before)
                    if not busy or time.monotonic() > end or open_before != self._open_transaction():
                        raise
                self._deadline.remaining()  # a time limit cancels too, and says so
                if self._cancels != cancels:
                    raise KeyboardInterrupt
                if not waited:
                    self.progress.waits(f"waiting for another connection that writes to {self.label}")
                waited = True
                time.sleep(PAUSE)
        finally:
            if waited:
                self.progress.waits(None)

    def describe_cursor(self, sql: str) -> Any:
        """The driver's description of a query's columns."""
        return self.described_by(sql, lambda cursor: cursor.description)

    def described_by(self, sql: str, ask: Callable[[Any], Described]) -> Described:
        """What a driver's cursor tells of a query."""
        self.meter.count(Statement("columns", sql, users=sql))
        with self._watched(), self._connection.exec_driver_sql(self._tagged(sql)) as result:
            return ask(result.cursor)

    def _describe(self, relation: str) -> list[Column]:
        return self.backend.columns(self, relation)

    def _find(self, parts: tuple[str, ...]) -> tuple[Literal["table", "view"], tuple[str, ...]] | None:
        return self.backend.find(self, parts)

    def _faults(self, parts: tuple[str, ...]) -> list[str] | None:
        return self.backend.faults(self, parts)

    def default_rights(self, parts: tuple[str, ...]) -> list[str]:
        """The statements that give a table the rights which the database would have given it when it was made."""
        with self._guard("catalog"):
            return self.backend.default_rights(self, parts)

    def conceal(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """Make a table of this name, if others could read it at once, as one of the session until it is revealed."""
        with self._guard("catalog"):
            self.backend.conceal(self, parts)
        return parts

    def reveal(self, parts: tuple[str, ...]) -> list[str]:
        """The statements that put the table which was concealed where it was to be; none where none was."""
        return self.backend.reveal(parts)

    def refuse_readers(self, schema: tuple[str, ...]) -> None:
        """Check that no other user may read what is made in a schema of scratch tables."""
        with self._guard("catalog"):
            self.backend.refuse_readers(self, schema)

    def readers(self, schema: tuple[str, ...]) -> str | None:
        """Who else may read each table of a schema, in words that its name follows; None for no other user."""
        with self._guard("catalog"):
            return self.backend.readers(self, schema)

    def rights(self, parts: tuple[str, ...]) -> list[str]:
        """The statements that give a new view of this name the rights that others have on the present one."""
        with self._guard("catalog"):
            return self.backend.rights(self, parts)

    def _comment(self, parts: tuple[str, ...]) -> str | None:
        found = self.backend.find(self, parts)
        return None if found is None or found[0] != "table" else self.backend.comment(self, parts, found[1])

    def _definition(self, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        return self.backend.definition(self, full)

    @property
    def shows_views(self) -> bool:  # type: ignore[override]
        """Whether the catalog says what a view is made of."""
        return self.backend.shows_views

    @property
    def repeatable_samples(self) -> Literal["none", "seeded", "all"]:  # type: ignore[override]
        """Which samples of a table that does not change have the same rows each time."""
        return self.backend.repeatable_samples

    def _stored(self, parts: tuple[str, ...]) -> Stored | None:
        with self._guard("catalog"):
            return self.backend.stored(self, parts)

    def _changing_calls(self, parts: tuple[str, ...], text: str) -> list[str]:
        with self._guard("catalog"):
            return self.backend.changing_calls(self, parts, text)

    @property
    def detects_ended_runs(self) -> bool:  # type: ignore[override]
        """Whether it can be known that a run of another process or connection lives no more."""
        return self.backend.detects_ended_runs

    def _hold(self, run_id: str) -> str | None:
        return self.backend.hold(self, run_id)

    def _let_go(self, run_id: str, held_by: str) -> None:
        self.backend.let_go(self, run_id)

    def _ended(self, among: tuple[str, ...], held_by: Mapping[str, str]) -> Iterable[str]:
        return self.backend.ended(self, held_by)

    def _bury(self, run_id: str) -> None:
        self.backend.remove_run_mark(run_id)

    def _file(self, path: str, csv: CsvFormat | None) -> str:
        raise UnsupportedError(
            f"source file {path}: {self.dialect.name} cannot read it; load it into a table, or use DuckDB"
        )

    def estimate(self, relation: str) -> Estimate | None:
        """What the planner expects of reading a FROM form."""
        with self._guard("estimate"):
            return self.backend.estimate(self, relation)

    def _error(self, error: Exception, name: str) -> BaseException | None:
        from sqlalchemy.exc import DBAPIError, PendingRollbackError, ResourceClosedError, SQLAlchemyError

        if isinstance(error, DBAPIError) and error.orig is not None:
            if self.backend.cancelled(error.orig):
                if self._cancel_asked:
                    return KeyboardInterrupt()
                return DatabaseError(
                    f"{name}: {self.label} cancelled the statement by itself, for a time limit of the server's or the "
                    "session's own (such as statement_timeout) or because another user stopped it; raise that limit, "
                    "or run again"
                )
            if error.connection_invalidated or self.backend.lost(error.orig):
                return DatabaseError(
                    f"{name}: the connection to {self.label} was lost; its temporary tables are gone: run "
                    "kanon-sql clean to find what else is left"
                )
            shown_text = self.backend.message(error.orig, self.meter.last)
            grant = self.backend.grant(self, error.orig, shown_text, error.statement or "")
            return DatabaseError(f"{name}: {shown_text}{'; ' if grant else ''}{grant}")
        if isinstance(error, MemoryError):
            return DatabaseError(f"{name}: {self.label}: {NO_MEMORY}")
        if isinstance(error, PendingRollbackError | ResourceClosedError):
            return DatabaseError(f"{name}: the connection to {self.label} was lost; run it again")
        if isinstance(error, SQLAlchemyError):
            return DatabaseError(
                f"{name}: {type(error).__name__} from SQLAlchemy; check that the connection is still open"
            )
        return None

    def execute(self, statement: Statement) -> None:
        """Run a statement for its effect, which where DDL cannot be rolled back may be to commit what is open."""
        if not self.capabilities.transactional_ddl:
            self._refuse_open_transaction()
        self.meter.count(statement)
        with self._guard(statement.name):
            steps = self.backend.steps(self, statement)  # which may ask the catalog, and are asked for before
            if statement.creates is not None or statement.scans:
                self.backend.ahead(self, statement)
            for sql in steps:
                self._run(self._tagged(sql))

    def fetch(self, statement: Statement, limit: int) -> list[Row]:
        """Run a query and return its rows; more than ``limit`` is an error."""
        with self._guard(statement.name):
            self.backend.ahead(self, statement)
        return super().fetch(statement, limit)

    def _refuse_open_transaction(self) -> None:
        if self._open_transaction():
            raise UnsupportedError(IN_TRANSACTION)

    def _open_transaction(self) -> bool:
        """Whether there is a transaction in the session; none in one that is lost."""
        gone = self._connection.closed or self._connection.invalidated
        return not gone and self.backend.transaction_open(self)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside happens, or nothing does, where DDL can be rolled back.

        Raises:
            UnsupportedError: a transaction is open already; it is left as it is.
        """
        self._refuse_open_transaction()
        if not self.capabilities.transactional_ddl:
            yield
            return
        with self._committed(self.backend.begin):
            yield

    @contextmanager
    def run(self, deadline: Deadline) -> Iterator[Meter]:
        """A fresh meter and a time limit for everything inside."""
        self._cancel_asked = False
        with super().run(deadline) as meter, ExitStack() as surroundings:
            with self.without_deadline(), self._guard("session"):
                surroundings.enter_context(self.backend.reading(self))
            yield meter

    def refuse_shadowed_functions(self) -> None:
        """See that our SQL's functions and operators are the server's own."""
        with self.without_deadline(), self._guard("catalog"):
            self.backend.refuse_shadowed_functions(self)

    def _refuse_effects(self, query: str) -> None:
        with self._guard("source"):
            self.backend.refuse_effects(self, query)

    def running(self) -> list[Running]:
        """Statements of other runs that the server works on."""
        with self._guard("catalog"):
            return self.backend.running(self)

    def end(self, statement: Running) -> None:
        """Ask the server to stop a statement of another run."""
        with self._guard("catalog"):
            self.backend.end(self, statement)

    def cancel(self) -> None:
        """Stop the running statement on the server."""
        self._cancel_asked = True
        self._cancels += 1
        with suppress(Exception):
            self.backend.cancel(self)

    def close(self) -> None:
        """Close the connection if this object opened it; else leave it as it was."""
        if self._owned is not None:
            with suppress(Exception):
                self._connection.close()
                self._owned.dispose()
        elif self._isolation is not None:
            with suppress(Exception):
                self.backend.restore(self)
            with suppress(Exception):
                # SQLAlchemy counts a transaction since our first statement, and would not leave autocommit mode in it:
                # what the user rolls back later would stay.
                if not self._open_transaction():
                    self._connection.rollback()
                self._connection.execution_options(isolation_level=self._isolation, no_parameters=False)
            if self._pooled:
                with suppress(Exception):
                    self._connection.close()
        if self._afterwards is not None:
            with suppress(Exception):
                self._afterwards()
