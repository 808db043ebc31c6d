"""What an engine is: a handful of methods, its capabilities as data, and a meter.

Everything that reaches the client goes through :meth:`Engine.fetch`, which always has a
limit and always counts: the egress meter is the proof that no source row was fetched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from kanon_sql.errors import QueryTimeout
from kanon_sql.sql import Dialect, Statement

if TYPE_CHECKING:
    from kanon_sql.spec import CsvFormat

__all__ = [
    "DROP",
    "NO_MEMORY",
    "NO_SPACE",
    "Capabilities",
    "Column",
    "Deadline",
    "Engine",
    "Estimate",
    "Kind",
    "Meter",
    "Reporter",
    "Row",
    "Running",
    "Scratch",
    "Spelled",
    "StageReporter",
    "Texts",
]

NO_SPACE = "no space is left on the disk that it writes to; free some, and run again"
"""What is said of a database whose disk is full; its own text may name values."""

NO_MEMORY = "it ran out of memory; raise its limit, or run fewer queries at the same time, and run again"
"""What is said of a database that got no more memory."""

DROP = "engines/scratch/drop"
"""The name of the statement that drops a scratch table."""

Row = tuple[Any, ...]
Kind = Literal["text", "integer", "decimal", "float", "date", "timestamp", "moment", "boolean", "other", "ambiguous"]
"""``timestamp`` is what a calendar and a clock show; ``moment`` a point in time, shown in some zone. Values of another
type are compared as text; those of an ``ambiguous`` one cannot be: different ones may have one text."""


Texts = Literal["one", "several", "items", "bits"]
"""How a value is written: in ``one`` way, which no other value has; or equal values in ``several`` ways, such as 1 day
and 24 hours; or as a list of ``items``, of which two values may have some in common; or as ``bits``, whose text is that
of the whole number that they are."""

Spelled = Literal["digits", "zero"]
"""What a reader sees of equal numbers: how many ``digits`` each was written with, or the sign of a ``zero``."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation.

    Attributes:
        name: its name.
        type: the engine's name of its type.
        kind: the kind of value.
        scale: digits after the point that its text has, where the engine does not keep them with the value.
        texts: how a value is written, where that does not follow from the kind.
        labels: what an enumeration lists, in the order of its type; empty where only a query orders its values by
            that; None for every other type.
        spelled: what a reader sees of equal numbers, where that does not follow from the kind.
        longest: no text in it has more characters; None where the engine does not say so, or does not see to it.
        known: its type is; not where a script is made without the source, and takes every column for texts.
    """

    name: str
    type: str
    kind: Kind
    scale: int | None = None
    texts: Texts | None = None
    labels: tuple[str, ...] | None = None
    spelled: Spelled | None = None
    longest: int | None = None
    known: bool = True

    @property
    def varies(self) -> Spelled | None:
        """What a reader sees of equal numbers: of binary fractions, the sign of zero."""
        return self.spelled or ("zero" if self.kind == "float" else None)

    @property
    def written(self) -> Texts:
        """How a value is written; of types that no list names, equal values are taken to have several texts."""
        return self.texts or ("several" if self.kind in ("other", "ambiguous") else "one")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do, as data.

    Attributes:
        transactional_ddl: CREATE, DROP and RENAME can be rolled back.
        atomic_replace: a reader sees the old release or the new one, never none.
        renames_together: one statement renames several tables, or none of them, even if the server dies meanwhile.
        temp_tables: session temporary tables exist and need no rights in a schema.
        conceals: where others may read all of a schema, a release is a temporary table until it is verified.
        files: Parquet and CSV files can be read as relations.
        folds_names: two names that differ in case only are one; ``ASCII``: in that of the letters A to Z only.
        nodes_per_statement: lattice nodes that one statement may ask about.
        nodes_as_rows: the most vectors of a frequency set from which it is cheaper to answer nodes in
            one GROUP BY, joined as rows, than in one each.
        branch_rows: one more branch of a statement costs about as much as joining a node to this many vectors.
        set_rows: making one more frequency set costs, besides reading what it is made of, about as much as joining a
            node to this many vectors.
        prefers_large_batches: a statement costs far more than a node in it, so that a node evaluated for nothing is
            cheaper than one more statement.
        judges_by_node: a statement judges the classes of each node by themselves; elsewhere those of all nodes
            together, which saves plans, and has the engine group all classes once more.
        branches: how many branches of a UNION ALL are worked on side by side, where one thread joins a small set.
        quick_vectors: the most vectors of a frequency set that a recoding divides in about a second.
        row_id: the column by which a table's rows stand in their physical order; None where there is none.
        together: scratch tables of the session that do not read each other are made, or dropped, by one statement.
        has_row_counts: how many rows a table has is known without reading them.
    """

    transactional_ddl: bool
    atomic_replace: bool
    temp_tables: bool
    files: bool
    folds_names: bool | Literal["ASCII"]
    conceals: bool = False
    renames_together: bool = False
    nodes_per_statement: int = 32
    nodes_as_rows: int = 0
    branch_rows: int = 20_000
    set_rows: int = 0
    prefers_large_batches: bool = False
    judges_by_node: bool = False
    branches: int = 1
    quick_vectors: int = 0
    row_id: str | None = None
    together: bool = False
    has_row_counts: bool = False

    def folded(self, name: str) -> str:
        """A name, the same for all ways of writing it that are one name to the engine."""
        if self.folds_names == "ASCII":
            return "".join(letter.lower() if letter.isascii() else letter for letter in name)
        return name.lower() if self.folds_names else name


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where scratch tables live.

    Attributes:
        mode: temporary tables, plain tables in a schema, or nowhere (queries inline).
        schema: the schema's name parts in mode ``schema``, else empty.
        reason: why this mode, in words.
    """

    mode: Literal["temp", "schema", "inline"] = "temp"
    schema: tuple[str, ...] = ()
    reason: str = "temporary tables are allowed"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the engine expects a query to cost.

    Attributes:
        rows: rows that it expects to read, if it says so.
        bytes: bytes that it expects to read, if it says so.
        source: where the figures come from, such as ``EXPLAIN``.
        row_overhead: bytes that a row takes beside its cells where the engine writes it to disk, if that is known.
    """

    rows: int | None
    bytes: int | None
    source: str
    row_overhead: int | None = None


@dataclass(slots=True)
class Meter:
    """What a run asked of the engine, and what reached the client.

    Attributes:
        statements: statements executed.
        source_scans: reads of the source relation, counted in the statements' text.
        rows_fetched: rows that reached the client.
        bytes_fetched: the size of those rows written as text, in bytes.
        log: every statement, in order.
        check: called before every statement; it is refused, and not counted, by raising an error.
        running: the template of the statement that runs, and when it began by the monotonic clock; None between two.
        longest: the template of the statement that took longest, and its seconds.
    """

    statements: int = 0
    source_scans: int = 0
    rows_fetched: int = 0
    bytes_fetched: int = 0
    log: list[Statement] = field(default_factory=list)
    check: Callable[[], None] | None = None
    running: tuple[str, float] | None = None
    longest: tuple[str, float] = ("", 0.0)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Take the time of the statement inside.

        Args:
            name: its template.
        """
        began = time.monotonic()
        self.running = name, began
        try:
            yield
        finally:
            self.running = None
            seconds = time.monotonic() - began
            if seconds > self.longest[1]:
                self.longest = name, seconds

    @property
    def last(self) -> Statement | None:
        """The statement that was counted last, which is the one that failed when one did."""
        return self.log[-1] if self.log else None

    def count(self, statement: Statement) -> None:
        """Count one statement before it runs."""
        if self.check is not None:
            self.check()
        self.statements += 1
        self.source_scans += statement.scans
        self.log.append(statement)

    def count_rows(self, rows: Sequence[Row]) -> None:
        """Count rows that reached the client."""
        self.rows_fetched += len(rows)
        self.bytes_fetched += len("".join([str(value) for row in rows for value in row]).encode())


@dataclass(frozen=True, slots=True)
class Running:
    """A statement of another run that the server works on.

    Attributes:
        handle: the server's name of its session or of the statement.
        run_id: the run that sent it.
        seconds: for how long it has run.
    """

    handle: str
    run_id: str
    seconds: float


class Deadline:
    """A point in time that everything inside must not pass.

    Args:
        seconds: from now; None for no limit.
        reached: makes the error to raise then; a QueryTimeout if not given.
    """

    def __init__(self, seconds: float | None, reached: Callable[[], Exception] | None = None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self._reached = reached

    def remaining(self) -> float | None:
        """Seconds left, None for no limit. Raises the error when none is left."""
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.error()
        return left

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self._end is not None and time.monotonic() >= self._end

    def error(self) -> Exception:
        """The error to raise when time is up."""
        if self._reached is not None:
            return self._reached()
        return QueryTimeout(f"the time limit of {self.seconds:g} s was reached; the statement was cancelled")

    def sooner(self, other: Deadline) -> Deadline:
        """Which of the two ends first."""
        if self._end is None or (other._end is not None and other._end < self._end):
            return other
        return self


Reporter = Callable[[str, int | None], None]
"""Told what is being done in plain words, and how many nodes were evaluated so far."""


def _silent(stage: str, nodes: int | None) -> None:
    """Report nothing."""


@dataclass
class StageReporter:
    """What a run is at, to be told again once it has waited for something in between.

    Attributes:
        report: who is told.
        stage: what it is at.
    """

    report: Reporter = _silent
    stage: str = ""

    def __call__(self, stage: str, nodes: int | None) -> None:
        """Tell what is begun."""
        self.stage = stage
        self.report(stage, nodes)

    def waits(self, reason: str | None) -> None:
        """Tell what is waited for, or that it is over."""
        if reason is not None or self.stage:
            self.report(reason or self.stage, None)


class Engine(Protocol):
    """The protocol that every engine follows."""

    capabilities: Capabilities
    dialect: Dialect
    meter: Meter
    scratch: Scratch
    run_id: str
    progress: StageReporter
    """Told the stages of the run, and what a statement waits for."""

    @property
    def label(self) -> str:
        """What to call the database in messages; never holds a credential."""

    @property
    def version(self) -> str:
        """The engine's version."""

    @property
    def ephemeral(self) -> bool:
        """Whether everything written vanishes when the connection closes."""

    @property
    def read_only(self) -> bool:
        """Whether the connection refuses to write."""

    def execute(self, statement: Statement) -> None:
        """Run a statement for its effect. Raises DatabaseError."""

    def fetch(self, statement: Statement, limit: int) -> list[Row]:
        """Run a query and return its rows, at most ``limit`` (more is an error)."""

    def known_rows(self, table: str) -> int | None:
        """How many rows a scratch table has, by its quoted name, where the engine knows without a question."""

    def columns(self, relation: str) -> list[Column]:
        """The columns of a FROM form, without reading a row."""

    def count_versions(self, relation: str) -> None:
        """Take versions of a row for rows, in a FROM form and wherever else its tables are read in this run."""

    @property
    def read_notes(self) -> tuple[str, ...]:
        """What a result should say of the tables and views that were read."""

    def row_versions(self) -> list[str]:
        """Tables of the current schema whose rows may be versions of others until the engine merges them."""

    def exists(self, parts: tuple[str, ...]) -> Literal["table", "view"] | None:
        """What there is under a name."""

    def full_name(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        """One name for every way of writing a table's or view's name; None when there is no such table or view."""

    def shared(self, parts: tuple[str, ...]) -> bool:
        """Whether a table of kanon_sql's own has a name. Raises SpecError where another user could act through it."""

    def default_rights(self, parts: tuple[str, ...]) -> list[str]:
        """The statements that give a table the rights which the database would have given it when it was made."""

    def conceal(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """Make a table of this name, if others could read it at once, as one of the session until it is revealed.

        Returns:
            The name to make and read it under.

        Raises:
            SpecError: others could read it, and the session can have no tables.
        """

    def reveal(self, parts: tuple[str, ...]) -> list[str]:
        """The statements that put the table which was concealed under a name where it was to be; none for others."""

    def refuse_readers(self, schema: tuple[str, ...]) -> None:
        """Check that no other user may read what is made in a schema of scratch tables. Raises SpecError."""

    def readers(self, schema: tuple[str, ...]) -> str | None:
        """Who else may read each table of a schema, in words that its name follows; None for no other user.

        None as well where a table of ours is made without rights for others, and where no rights are known.
        """

    def rights(self, parts: tuple[str, ...]) -> list[str]:
        """The statements that give a new view of this name the rights that others have on the present one."""

    def mark(self, parts: tuple[str, ...]) -> str | None:
        """The run that marked a table as its own (see ``Dialect.mark``); None for any other table, and for none."""

    def view_mark(self, parts: tuple[str, ...]) -> str | None:
        """The run whose mark is in the text of a view; None for any other view, and for none."""

    def relation(
        self, *, table: tuple[str, ...] | None, query: str | None, file: str | None, csv: CsvFormat | None = None
    ) -> str:
        """The FROM form of a table, the user's query, or a file. Raises SpecError, UnsupportedError."""

    def refuse_shadowed_functions(self) -> None:
        """See that our SQL's functions and operators are the engine's own. Raises UnsupportedError."""

    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside happens, or nothing does."""

    def estimate(self, relation: str) -> Estimate | None:
        """What reading a FROM form would cost, without reading it; None when the engine cannot tell."""

    @property
    def detects_ended_runs(self) -> bool:
        """Whether it can be known that a run of another process or connection lives no more."""

    def mark_alive(self, run_id: str) -> str | None:
        """Let others know that a run lives, until it is unmarked as often, or its process or connection ends.

        Returns:
            What knows it, which :meth:`ended` needs; None where nothing does.
        """

    def unmark_alive(self, run_id: str) -> None:
        """Take back what :meth:`mark_alive` said once."""

    def ended(self, among: tuple[str, ...], held_by: Mapping[str, str]) -> frozenset[str]:
        """Those runs that live no more, of several with what knows it; one that is not known about is none of them.

        Args:
            among: the name of the table that they are recorded in.
            held_by: the runs, and what :meth:`mark_alive` returned for each.
        """

    def remove_run_mark(self, run_id: str) -> None:
        """Remove what is left of the mark of a run that ended, once its tables are gone."""

    def note_leftover(self, note: str) -> None:
        """Let results and errors of this run say what became of something that a killed run left."""

    def looks_into(self, record: tuple[str, ...]) -> bool:
        """Whether this run has not looked into a record of scratch tables before; from now on it has."""

    def cancel(self) -> None:
        """Stop the running statement, on the server too."""

    def running(self) -> list[Running]:
        """Statements of other runs that the server works on, as far as this connection may see them."""

    def end(self, statement: Running) -> None:
        """Ask the server to stop a statement of another run; nothing happens if it has ended."""

    def close(self) -> None:
        """Release the connection if the engine opened it."""

    def __enter__(self) -> Self:
        """Close it at the end of a ``with``."""

    def __exit__(self, *error: object) -> None:
        """Close it."""

    def within(self, deadline: Deadline) -> AbstractContextManager[None]:
        """A time limit for everything inside, besides the run's own."""

    def without_deadline(self) -> AbstractContextManager[None]:
        """Let cleaning up finish even after the time limit was reached."""

    def run(self, deadline: Deadline) -> AbstractContextManager[Meter]:
        """A fresh meter and a time limit for everything inside."""

    def read_newest(self) -> None:
        """Read the newest version of what is read in one version for as long as a run lasts."""
