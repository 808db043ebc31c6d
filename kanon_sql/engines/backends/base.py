"""What is special about one database behind SQLAlchemy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from kanon_sql.engines.base import Capabilities, Column, Estimate, Row, Running, Scratch
from kanon_sql.engines.reads import Stored
from kanon_sql.engines.session import NO_TABLE
from kanon_sql.errors import DatabaseError, UnsupportedError
from kanon_sql.registers import DATABASES
from kanon_sql.sql import Dialect, Statement, called_names, refuse_called

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Connection

    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["Backend", "Found", "backend"]

Found = tuple[Literal["table", "view"], tuple[str, ...]]


class Backend(ABC):
    """One database family: its session, catalog, types, errors and rights.

    Attributes:
        scheme: what its URLs begin with, which is SQLAlchemy's name for it.
        driver: the module that a connection needs.
        url: the scheme with the driver that is used where a URL names none.
        dialect: its SQL.
        capabilities: what it can do.
        extra: what to install: ``pip install ".[extra]"`` in a checkout.
        begin: the statement that opens a transaction.
        autocommit: the driver must be told to commit every statement; else it always does, and cannot be told.
        retry_for: the seconds for which a statement that another connection stops is sent again; 0 where the server
            sees to that.
        effects: functions that change something, reach outside the database, or give another answer each time.
        shows_views: the catalog says what a view is made of, so that this is looked at before it is read.
        repeatable_samples: which samples of a table that does not change have the same rows each time.
        detects_ended_runs: it can be known that a run of another process or connection lives no more.
        without_temp_tables: why scratch tables cannot be temporary, where ``capabilities`` says that they cannot.
    """

    scheme: ClassVar[str]
    driver: ClassVar[str]
    url: ClassVar[str]
    dialect: Dialect
    capabilities: Capabilities
    extra: ClassVar[str]
    begin: ClassVar[str] = "BEGIN"
    autocommit: ClassVar[bool] = True
    retry_for: float = 0
    effects: ClassVar[frozenset[str]] = frozenset()
    shows_views: ClassVar[bool] = False
    repeatable_samples: ClassVar[Literal["none", "seeded", "all"]] = "none"
    detects_ended_runs: ClassVar[bool] = False
    without_temp_tables: ClassVar[str] = "this database has no temporary tables that kanon_sql can use"

    def options(self, url: URL, *, read_only: bool) -> dict[str, Any]:
        """What else ``sqlalchemy.create_engine`` needs to open a URL."""
        return {}

    def in_transaction(self, connection: Connection) -> bool:
        """Whether a user opened a transaction on a connection that was given open."""
        return connection.in_transaction()

    def transaction_open(self, engine: RelationalEngine) -> bool:
        """Whether a statement opened a transaction in the session; SQLAlchemy does not know of such a one."""
        return False

    def prepare(self, engine: RelationalEngine, *, read_only: bool) -> None:
        """Set the session up: text compared exactly, no surprises in literals, read-only if asked.

        Raises:
            UnsupportedError: this server cannot do what correctness needs.
        """

    def restore(self, engine: RelationalEngine) -> None:
        """Set the session of a connection that was given open back to what its owner had."""

    def isolation(self, connection: Connection) -> str | None:
        """The isolation level of a connection that was given open; None when it is left alone."""
        return connection.get_isolation_level() if self.autocommit else None

    def sent(self, sql: str) -> str:
        """A statement as the driver takes it."""
        return sql

    def forbid_writes(self, engine: RelationalEngine) -> None:
        """Ask the server to refuse every write in this session, temporary tables included."""

    def ephemeral(self, label: str) -> bool:
        """Whether everything written vanishes when the connection closes."""
        return False

    def version(self, engine: RelationalEngine) -> str:
        """The server's version."""
        return ".".join(str(part) for part in engine._connection.dialect.server_version_info or ())

    @abstractmethod
    def columns(self, engine: RelationalEngine, relation: str) -> list[Column]:
        """The columns of a FROM form, without reading a row."""

    @abstractmethod
    def find(self, engine: RelationalEngine, parts: tuple[str, ...]) -> Found | None:
        """The kind and the full name of what stands under a name."""

    def faults(self, engine: RelationalEngine, parts: tuple[str, ...]) -> list[str] | None:
        """Why a table that is found by its name cannot be trusted, as ends of a sentence; None where nothing is there.

        A user who may create in its schema may have made it before kanon_sql did.
        """
        found = self.find(engine, parts)
        return None if found is None else [NO_TABLE] if found[0] == "view" else []

    def default_rights(self, engine: RelationalEngine, parts: tuple[str, ...]) -> list[str]:
        """What gives a table the rights that it was made without, since it was not published yet."""
        return []

    def conceal(self, engine: RelationalEngine, parts: tuple[str, ...]) -> None:
        """Make a table of this name, if others could read it at once, as one of the session until it is revealed."""

    def reveal(self, parts: tuple[str, ...]) -> list[str]:
        """What puts the table that was concealed where it was to be; none where none was."""
        return []

    def refuse_readers(self, engine: RelationalEngine, schema: tuple[str, ...]) -> None:
        """Check that no other user may read what is made in a schema of scratch tables.

        Raises:
            SpecError: others may, or it is not known.
        """

    def readers(self, engine: RelationalEngine, schema: tuple[str, ...]) -> str | None:
        """Who else may read each table of a schema, in words that its name follows; None for no other user.

        Here it is not known, unless the dialect knows: then a table is made without rights for others, or there are
        no rights.
        """
        try:
            self.dialect.readers(schema or ("",))
        except UnsupportedError:
            return f"{self.dialect.name} does not show who else may read"
        return None

    def rights(self, engine: RelationalEngine, parts: tuple[str, ...]) -> list[str]:
        """What gives a view that is replaced the rights that others have on the present one; none where they stay."""
        return []

    @abstractmethod
    def comment(self, engine: RelationalEngine, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        """What a table that is there says of itself, where ``Dialect.mark`` has written it.

        Args:
            engine: where.
            parts: its name.
            full: its full name, as :meth:`find` says it.
        """

    def definition(self, engine: RelationalEngine, full: tuple[str, ...]) -> str | None:
        """The text of a view that is there; None where it is not told. ``full`` is as :meth:`find` says it."""
        return None

    def stored(self, engine: RelationalEngine, parts: tuple[str, ...]) -> Stored | None:
        """What the catalog says of a table or view that is to be read; None for none."""
        found = self.find(engine, parts)
        if found is None:
            return None
        kind, full = found
        if kind == "table":
            return Stored(full)
        text = self.definition(engine, full)
        return Stored(full, query=text or None, hidden=not text)

    def changing_calls(self, engine: RelationalEngine, parts: tuple[str, ...], text: str) -> list[str]:
        """The functions in the text of a view that give another answer each time."""
        return sorted(called_names(text, self.dialect.sqlglot) & self.effects)

    def estimate(self, engine: RelationalEngine, relation: str) -> Estimate | None:
        """What the planner expects of reading a FROM form; None when it does not say."""
        return None

    def ahead(self, engine: RelationalEngine, statement: Statement) -> None:
        """Whatever the session needs before a statement is sent that reads or makes a table."""

    def ran(self, engine: RelationalEngine) -> bool:
        """Look at what the server has to say about the statement that just ran.

        Returns:
            Whether its answer is whole; a catalog may leave out tables that are being created or dropped.

        Raises:
            DatabaseError: it did something else than was asked, and only warned.
        """
        return True

    def interrupted(self, engine: RelationalEngine) -> None:
        """Ctrl-C got through the driver while a statement ran: leave nothing running on the server."""

    def hold(self, engine: RelationalEngine, run_id: str) -> str | None:
        """Take a lock that says that a run lives, and ends with its connection or process.

        Returns:
            What has the lock, so that it is not looked for elsewhere; None where none can be had.
        """
        return None

    def let_go(self, engine: RelationalEngine, run_id: str) -> None:
        """Give the lock back."""

    def ended(self, engine: RelationalEngine, held_by: Mapping[str, str]) -> Iterable[str]:
        """Those of some runs whose locks were here, by what :meth:`hold` returned, and are held no more."""
        return ()

    def remove_run_mark(self, run_id: str) -> None:
        """Remove what is left of the lock of a run that ended."""

    def running(self, engine: RelationalEngine) -> list[Running]:
        """Statements of other runs that the server works on; none where it does not list them."""
        return []

    def end(self, engine: RelationalEngine, statement: Running) -> None:
        """Ask the server to stop a statement of another run."""

    @abstractmethod
    def cancel(self, engine: RelationalEngine) -> None:
        """Stop the running statement on the server; called from another thread."""

    def cancelled(self, error: BaseException) -> bool:
        """Whether a driver's error means that the statement was cancelled."""
        return False

    def busy(self, error: BaseException, *, in_transaction: bool) -> bool:
        """Whether a driver's error means that another connection holds a lock, and that nothing was done or undone.

        Args:
            error: the driver's.
            in_transaction: the statement was sent inside a transaction.
        """
        return False

    def lost(self, error: BaseException) -> bool:
        """Whether a driver's error means that the connection is gone."""
        return False

    def refuse_shadowed_functions(self, engine: RelationalEngine) -> None:
        """See that our SQL's functions and operators are the server's own.

        Raises:
            UnsupportedError: something of a user's would be called in their place.
        """

    def refuse_effects(self, engine: RelationalEngine, query: str) -> None:
        """Refuse a source query that does something, or gives other rows each time.

        Raises:
            SpecError: a function in it does.
        """
        refuse_called(query, self.dialect.sqlglot, self.effects)

    def reading(self, engine: RelationalEngine) -> AbstractContextManager[None]:
        """Whatever surrounds a run, such as that nothing is written but by statements that say so."""
        return nullcontext()

    def steps(self, engine: RelationalEngine, statement: Statement) -> Sequence[str]:
        """What is sent, one after the other, for a statement that is run for its effect."""
        return [statement.sql]

    def message(self, error: BaseException, statement: Statement | None = None) -> str:
        """A driver's error in words, without any value of the data.

        Args:
            error: the driver's.
            statement: what was sent last.
        """
        return f"the database reported {type(error).__name__} (its text may hold values and is not shown)"

    def grant(self, engine: RelationalEngine, error: BaseException, shown_text: str, sql: str) -> str:
        """What gives the right that is missing; empty when an error is about something else.

        Args:
            engine: whose connection it is.
            error: the driver's.
            shown_text: what of its text may be passed on, and nothing else of it may be read.
            sql: what was sent.
        """
        return ""

    def scratch(self, engine: RelationalEngine) -> Scratch:
        """The scratch mode that the connection's rights allow, found out by trying."""
        if not self.capabilities.temp_tables:
            return Scratch("inline", (), self.without_temp_tables)
        probe = self.dialect.quote(f"kanon_{engine.run_id}_probe")
        try:
            engine._run(self.dialect.create_as(probe, "SELECT 1 AS probe", temporary=True))
            engine._run(f"DROP TABLE {probe}")
        except Exception as error:
            from sqlalchemy.exc import SQLAlchemyError

            if not isinstance(error, SQLAlchemyError):
                raise
            return Scratch("inline", (), "the database refused a temporary table")
        return Scratch()

    def first(self, engine: RelationalEngine, sql: str) -> Row:
        """The one row of a query of the catalog or the session."""
        rows = engine.scalars(sql, 1)
        if not rows:
            raise DatabaseError("catalog: expected one row, got none")
        return rows[0]

    def text(self, engine: RelationalEngine, sql: str) -> str | None:
        """The text that a query of the catalog returns; None when it returns no row, or NULL."""
        rows = engine.scalars(sql, 1)
        return None if not rows or rows[0][0] is None else str(rows[0][0])

    def refuse(self, why: str) -> UnsupportedError:
        """An error that names the database."""
        return UnsupportedError(f"{self.dialect.name}: {why}")


B = TypeVar("B", bound=type[Backend])


def backend(kind: B) -> B:
    """Declare a database of this package; a decorator of its class."""
    DATABASES.add(kind.scheme, kind, kind.__module__)
    return kind
