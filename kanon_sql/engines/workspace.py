"""One run's working place: its engine, its compiler, the scratch tables it owns, and what it reports meanwhile.

Scratch names carry the run's id, so that two runs never meet; everything created here is
dropped when the ``with`` block ends, whatever happened inside. Where scratch tables live is
the connection's scratch mode:

    temp      temporary tables of the session
    schema    plain tables in a schema meant for them, each recorded before it is made
    inline    nowhere: every statement carries the queries that it needs as WITH clauses
"""

from __future__ import annotations

import json
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from kanon_sql.engines.base import DROP, Capabilities, Column, Engine, Reporter, Row
from kanon_sql.engines.inline import InlineTables
from kanon_sql.engines.leftovers import HELD_BY, remove_recorded
from kanon_sql.errors import DatabaseError, InternalError
from kanon_sql.sql import Compiler, Creation, Dialect, Relation, Statement

__all__ = ["SCRATCH_TABLE", "Workspace", "now", "open_workspace", "refuse_incomplete"]

SCRATCH_TABLE = "kanon_sql_scratch"
"""Where tables that outlive a killed run are recorded, so that they can be found and dropped."""

ROWS_PER_INSERT = 1_000

LOOKS, PAUSE = 4, 0.05
"""How often a table that another connection is making is looked for, and the seconds between."""


def now(*, exact: bool = False) -> str:
    """The time in UTC, ISO 8601, to the second, or (exact) to the microsecond, where times are put in order."""
    return datetime.now(UTC).isoformat(timespec="microseconds" if exact else "seconds")


@dataclass
class Workspace:
    """What every stage needs to run its statements, and to make scratch tables.

    Attributes:
        engine: where statements run; who publishes needs more of it than the methods here.
        compiler: turns templates into the engine's SQL; who compiles a statement once and fills its slots needs it.
        inline: nothing is created, whatever the connection's scratch mode is.
        prefix: what scratch names begin with.
    """

    engine: Engine
    compiler: Compiler
    inline: bool = False
    prefix: str = ""
    _tables: list[Relation] = field(default_factory=list)
    _kept: list[Relation] = field(default_factory=list)
    """Those that outlast the run of several that made them."""
    _recorded: set[str] = field(default_factory=set)
    _standing: dict[tuple[str, ...], str] = field(default_factory=dict)
    """What is recorded and may still be there, with the run that made it."""
    _dropped: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Scratch tables that are recorded and were dropped since, with the run that made them."""
    _alive: dict[str, str | None] = field(default_factory=dict)
    """The runs that are marked alive until all is dropped, and what knows that they live."""
    _inline: InlineTables = field(default_factory=InlineTables)
    _waiting: list[Statement] | None = None
    """What will be made by one statement; None outside of :meth:`together`."""

    @property
    def report(self) -> Reporter:
        """Called at the start of each stage."""
        return self.engine.progress

    @property
    def dialect(self) -> Dialect:
        """How the engine writes SQL."""
        return self.compiler.dialect

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do."""
        return self.engine.capabilities

    @property
    def run_id(self) -> str:
        """In every scratch name, and in a comment of every statement."""
        return self.engine.run_id

    @property
    def mode(self) -> str:
        """The scratch mode."""
        return "inline" if self.inline else self.engine.scratch.mode

    def table(self, what: str) -> Relation:
        """A new scratch table's name, to be created by the caller and dropped at the end."""
        schema = () if self.mode == "inline" else self.engine.scratch.schema
        relation = Relation((*schema, f"kanon_{self.run_id}_{self.prefix}{what}"))
        self._tables.append(relation)
        return relation

    def apart(self, prefix: str) -> Workspace:
        """The same workspace, its new scratch tables named apart from those of others that do the same work in it."""
        return replace(self, prefix=prefix)

    def reading(self, source: str) -> Workspace:
        """The same workspace, whose statements read another source.

        Args:
            source: its FROM form.
        """
        return replace(self, compiler=self.compiler.over(source))

    def quoted(self, relation: Relation) -> str:
        """A scratch table's name, for filling a slot; of what is a query, its FROM form."""
        if relation.query is not None:
            return self.compiler.form(relation.query)
        return ".".join(self.compiler.quote(part) for part in relation.parts)

    def execute(self, name: str, /, **context: Any) -> None:
        """Compile a template and run it for its effect."""
        self.run(self.compiler.statement(name, **context))

    def create_shared(self, name: str, /, table: Relation) -> None:
        """Make a table that all runs share, unless it is there; others may be about to do so too.

        Engines do not agree on what IF NOT EXISTS means while another connection makes the table: PostgreSQL reports
        that the name of its type is taken, DuckDB a conflict. So a refusal counts only if there is no table soon after.

        Args:
            name: the template's.
            table: what to make. Outside of a transaction, since a refusal would end it.

        Raises:
            SpecError: what has the name is not to be trusted.
        """
        if self.engine.shared(table.parts):
            return
        try:
            self.execute(name, table=table)
        except DatabaseError:
            for _ in range(LOOKS):
                if self.engine.shared(table.parts):
                    return
                time.sleep(PAUSE)
            raise
        self.engine.shared(table.parts)  # another user's may have been quicker

    def hold(self, *tables: Relation) -> None:
        """Keep other users from changing what shared tables do until the transaction ends, and look at them once more.

        Only where the engine can hold tables so; elsewhere they were looked at before.

        Raises:
            SpecError: one of them is not to be trusted any more.
            DatabaseError: one of them went away.
        """
        sql = self.dialect.hold([table.parts for table in tables])
        if sql is None:
            return
        self.run(Statement("release/hold", sql, quoted=self.dialect.quoted))
        for table in tables:
            if not self.engine.shared(table.parts):
                raise DatabaseError(
                    f"{'.'.join(table.parts)!r} was dropped meanwhile; nothing was changed: run it again"
                )

    def fetch(self, name: str, limit: int, /, **context: Any) -> list[Row]:
        """Compile a template and fetch its rows, at most ``limit``."""
        return self.query(self.compiler.statement(name, **context), limit)

    def row(self, name: str, /, **context: Any) -> Row:
        """Compile a template that returns exactly one row."""
        rows = self.fetch(name, 1, **context)
        if len(rows) != 1:
            raise DatabaseError(f"{name}: expected one row, got {len(rows)}")
        return rows[0]

    def run(self, statement: Statement) -> None:
        """Run a statement for its effect; one that makes a scratch table, as the scratch mode says."""
        creates = statement.creates
        if creates is not None and creates.temporary:
            if self.mode == "inline":
                self._inline.add(creates, statement)
                return
            if self.mode == "schema":
                self._record(creates.table)
            if self._waiting is not None:
                self._waiting.append(statement)
                return
        self.engine.execute(self._inline.complete(self.compiler, statement))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Scratch tables that are made inside, and not read inside, are made by one statement where that is one.

        Elsewhere each is made at once, by a statement of its own.
        """
        if not self._at_once:
            yield
            return
        self._waiting = []
        try:
            yield
            waiting = self._waiting
        finally:
            self._waiting = None
        if waiting:
            self.engine.execute(waiting[0] if len(waiting) == 1 else self.compiler.together(waiting))

    @property
    def _at_once(self) -> bool:
        """Whether several scratch tables are made, or dropped, by one statement."""
        return self.capabilities.together and self.mode == "temp"

    def make(
        self, name: str, what: str, tables: Mapping[str, Relation], fills: Mapping[str, str], /, **context: Hashable
    ) -> Relation:
        """Create a scratch table by a template that names tables by slots: compiled once, whatever these are called.

        Args:
            name: the template's.
            what: what to call the table.
            tables: slot -> the scratch table that it stands for.
            fills: other slots -> text that is already SQL of the dialect.
            context: the template's values.
        """
        target = self.table(what)
        quoted = {slot: self.quoted(table) for slot, table in tables.items()}
        self.run(self.compiler.filled(name, {**quoted, **fills}, target=self.quoted(target), **context))
        return target

    def each(self, name: str, limit: int, fills: Mapping[int, Mapping[str, Relation]]) -> list[Row]:
        """The rows of one template for several quasi-identifiers, in one statement: number -> slot -> scratch table."""
        filled = self.compiler.filled
        branches = [
            filled(name, {"attribute": str(index), **{slot: self.quoted(table) for slot, table in tables.items()}})
            for index, tables in fills.items()
        ]
        return self.query(self.compiler.union(branches), limit)

    def query(self, statement: Statement, limit: int) -> list[Row]:
        """Run a query and return its rows, at most ``limit``."""
        return self.engine.fetch(self._inline.complete(self.compiler, statement), limit)

    def text(self, name: str, fills: Mapping[str, str] | None = None, /, **context: Any) -> str:
        """A query with the inline scratch tables that it needs in front, for others to run."""
        return self._inline.complete(self.compiler, self.compiler.statement(name, fills, **context)).sql

    def size(self, tables: Sequence[Relation]) -> int:
        """How many rows some scratch tables have together."""
        known = {table: self.engine.known_rows(self.quoted(table)) for table in tables}
        rows = sum(count for count in known.values() if count is not None)
        asked = [table for table, count in known.items() if count is None]
        if asked:
            fills = {f"table_{number}": self.quoted(table) for number, table in enumerate(asked)}
            ((more,),) = self.query(self.compiler.filled("engines/scratch/size", fills, tables=len(asked)), 1)
            rows += int(more)
        return rows

    def columns(self, relation: Relation) -> dict[str, Column]:
        """The columns of a table, a scratch table included, by name."""
        if relation.query is not None:
            return self.described(self.compiler.form(relation.query))
        form = self.dialect.relation(relation.parts)
        return self.described(self._inline.form(self.compiler, form))

    def described(self, form: str) -> dict[str, Column]:
        """The columns of a FROM form, such as the source's, by name."""
        return {column.name: column for column in self.engine.columns(form)}

    def load(self, target: Relation, columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> None:
        """Create a scratch table from rows of text: ``engines/scratch/domain`` and what is in it."""
        dialect, quoted = self.dialect, self.quoted(target)
        if self.mode == "inline" or not dialect.inserts:
            creates = Creation(quoted, "\n" + dialect.rows(columns, rows), True)
            text = self.compiler.created(creates)
            self.run(Statement("engines/scratch/load", text, creates=creates, loads=len(rows)))
            return
        if self.mode == "schema":
            self._record(quoted)
        longest = None
        if dialect.sized_text:
            longest = tuple(max(1, *(len(row[level] or "") for row in rows)) for level, _ in enumerate(columns))
        shape = self.compiler.shape(
            "engines/scratch/domain",
            (len(columns), longest),
            lambda: {"target": Relation(slot="target"), "levels": len(columns), "longest": longest},
        )
        self.run(self.compiler.fill("engines/scratch/domain", shape, {"target": quoted}))
        for start in range(0, len(rows), ROWS_PER_INSERT):
            chunk = rows[start : start + ROWS_PER_INSERT]
            self.engine.execute(Statement("engines/scratch/load", dialect.insert(quoted, chunk), loads=len(chunk)))

    def drop(self, relation: Relation) -> None:
        """Drop a scratch table that is no longer needed."""
        if self.quoted(relation) not in self._inline:  # others may be made of an inline one
            self.run(self._dropping(relation))
        if relation.parts in self._standing:
            self._dropped[relation.parts] = self._standing.pop(relation.parts)
        (self._kept if relation in self._kept else self._tables).remove(relation)

    def _dropping(self, relation: Relation) -> Statement:
        shape = self.compiler.shape(DROP, (), lambda: {"target": Relation(slot="target")})
        return self.compiler.fill(DROP, shape, {"target": self.quoted(relation)})

    def keep(self, relation: Relation) -> None:
        """Let a scratch table stay until the workspace ends, although it was made in one run of several."""
        self._tables.remove(relation)
        self._kept.append(relation)

    def record(self, relation: Relation, among: Relation) -> None:
        """Note a table that outlives the session before it is made, so that ``clean`` finds it after a kill.

        Args:
            relation: the table, whose name holds the id of this run.
            among: where such tables are recorded.
        """
        if self.run_id not in self._alive:
            self._alive[self.run_id] = self.engine.mark_alive(self.run_id)
        held_by = self._alive[self.run_id]
        self._standing[relation.parts] = self.run_id
        self.execute(
            "engines/scratch/record",
            table=among,
            run_id=self.run_id,
            object_name=json.dumps(relation.parts),
            created_at=now() if held_by is None else f"{now()}{HELD_BY}{held_by}",
        )

    def forget(self, relation: Relation, among: Relation) -> None:
        """Take back what :meth:`record` noted, once the table is gone or has become a release."""
        self.execute("engines/scratch/forget", table=among, object_name=json.dumps(relation.parts))
        self._standing.pop(relation.parts, None)

    def remove_recorded(self, among: Relation) -> None:
        """Drop what runs that live no more have left, once in a run for each record; see :mod:`.leftovers`.

        Args:
            among: the record, which is there. Outside of a transaction, which a refusal would end.
        """
        if self.engine.looks_into(among.parts):
            remove_recorded(self, among)

    def remove_leftovers(self, release: tuple[str, ...]) -> None:
        """Drop what killed runs left beside a release, and in the scratch schema, before anything else is done.

        Args:
            release: its name. Outside of a transaction.

        Raises:
            SpecError: what has the name of a record is not to be trusted.
        """
        if not self.engine.detects_ended_runs:
            return
        scratch = [self._record_table] if self.mode == "schema" else []
        for record in (Relation((*release[:-1], SCRATCH_TABLE)), *scratch):
            if self.engine.shared(record.parts):
                self.remove_recorded(record)

    @contextmanager
    def lasting(self) -> Iterator[None]:
        """One run of several in this workspace: what it makes vanishes at its end, what was there before stays.

        It has a compiler of its own: what that remembers holds the thresholds of the run's own requirements.
        """
        self.compiler = self.compiler.fresh()
        with self.passing():
            yield

    @contextmanager
    def passing(self) -> Iterator[None]:
        """What is made inside vanishes at the end; what was there before stays."""
        before = len(self._tables)
        try:
            yield
        finally:
            with self.engine.without_deadline():
                self._drop_down_to(before)

    def drop_all(self) -> None:
        """Drop what is left. A table that was never created is no error; one that stays is still recorded."""
        self._tables += self._kept
        self._kept.clear()
        self._drop_down_to(0)
        for run_id in sorted(self._recorded):
            with suppress(DatabaseError):
                self._forget_dropped(run_id)
        while self._alive:
            run_id, _ = self._alive.popitem()
            with suppress(DatabaseError):
                self.engine.unmark_alive(run_id)

    def _forget_dropped(self, run_id: str) -> None:
        """In one statement, unless something of the run may still be there: ``clean`` has to find that."""
        if run_id not in self._standing.values():
            self.execute("engines/scratch/forget_run", table=self._record_table, run_id=run_id)
            return
        for parts in [parts for parts, owner in self._dropped.items() if owner == run_id]:
            self.forget(Relation(parts), self._record_table)

    def _drop_down_to(self, kept: int) -> None:
        if self._at_once and len(self._tables) > kept + 1:
            gone = self._tables[kept:][::-1]
            del self._tables[kept:]
            with suppress(DatabaseError):
                self.engine.execute(self.compiler.together([self._dropping(table) for table in gone]))
            return
        while len(self._tables) > kept:
            relation = self._tables[-1]
            with suppress(DatabaseError):
                self.drop(relation)
            if self._tables and self._tables[-1] is relation:
                self._tables.pop()

    @property
    def _record_table(self) -> Relation:
        return Relation((*self.engine.scratch.schema, SCRATCH_TABLE))

    def _record(self, quoted: str) -> None:
        """Note a scratch table of this workspace's before it is made."""
        if not self._recorded:
            self.engine.refuse_readers(self.engine.scratch.schema)
            self.create_shared("engines/scratch/create_record", self._record_table)
            self.remove_recorded(self._record_table)
        self._recorded.add(self.run_id)
        self.record(next(item for item in self._tables if self.quoted(item) == quoted), self._record_table)


@contextmanager
def open_workspace(engine: Engine, source: str, *, inline: bool = False, counted: bool = True) -> Iterator[Workspace]:
    """A workspace whose scratch tables vanish at the end of the block.

    Args:
        engine: where statements run.
        source: the FROM form of the source relation.
        inline: create nothing, whatever the connection's scratch mode is.
        counted: reads of the source count as such; not where it is a table of the run's own.
    """
    run = f"kanon_{engine.run_id}_"
    compiler = Compiler(engine.dialect, source, temporary=engine.scratch.mode != "schema", run=run, counted=counted)
    workspace = Workspace(engine, compiler, inline)
    try:
        yield workspace
    finally:
        with engine.without_deadline():
            workspace.drop_all()


def refuse_incomplete(statement: str, judged: Any, there: Any, what: str = "rows", *, at_least: bool = False) -> None:
    """Stop a run whose statement has not judged what it was to judge, neither more nor less.

    A value that an engine does not find equal to itself loses its class in a join, and a class that no statement looks
    at violates nothing. So the same statement counts what it judged, and what there was before any join.

    Args:
        statement: the template's name.
        judged: how many were judged, as the engine returns it; None for none.
        there: how many there are.
        what: of what.
        at_least: a person may be judged several times.

    Raises:
        InternalError: the numbers differ.
    """
    found, expected = int(judged or 0), int(there or 0)
    if found == expected or (at_least and found > expected):
        return
    raise InternalError(
        f"internal error in {statement}: {found:,} {what} were judged, but there are {expected:,}, so there is "
        "no verdict. If nothing wrote to the table meanwhile, this is a defect: please report it with the "
        "engine, its version and the types of the columns, without values"
    )
