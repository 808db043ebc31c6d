"""An engine that writes nothing and reads nothing: it notes the SQL a real one would run.

``render`` runs the pipeline against it. It answers every query about the data as a table of
one row would, so that all stages are reached; the SQL does not depend on the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from string import digits
from typing import TYPE_CHECKING, Literal, Self

from sqlglot import exp
from sqlglot.errors import SqlglotError

from kanon_sql.engines.backends import BACKENDS, Backend
from kanon_sql.engines.base import Column, Deadline, Estimate, Meter, Row, Running, Scratch, StageReporter
from kanon_sql.engines.clickhouse import ClickHouseEngine
from kanon_sql.engines.duckdb import DuckDBEngine
from kanon_sql.engines.files import csv_options
from kanon_sql.engines.hidden_tables import Concealed
from kanon_sql.engines.session import SessionEngine
from kanon_sql.engines.spark import SparkEngine
from kanon_sql.errors import UnsupportedError
from kanon_sql.spec import is_csv
from kanon_sql.sql import WORD, Statement, dialect_named, literal, parsed, single_query

if TYPE_CHECKING:
    from kanon_sql.spec import CsvFormat

__all__ = ["SCRATCH_SCHEMA", "DryEngine"]

SCRATCH_SCHEMA = "kanon_scratch"
"""Where scratch tables are, for engines without temporary tables that serve."""


class DryEngine:
    """Collects statements.

    Args:
        dialect: one of :data:`kanon_sql.sql.dialects.DIALECTS`.
        columns: the source's columns, since there is nothing to ask.

    Raises:
        UnsupportedError: another dialect.
    """

    label = "no database"
    version = ""
    read_notes: tuple[str, ...] = ()
    ephemeral = False
    read_only = False
    detects_ended_runs = False

    def __init__(self, dialect: str, columns: Sequence[Column]) -> None:
        self.dialect = dialect_named(dialect)
        engine = _engine(dialect)
        self.capabilities = replace(engine.capabilities, together=False)  # a script has one text for each
        self._begin = engine.begin if issubclass(engine, Backend) else "BEGIN"
        self.scratch = (
            Scratch()
            if self.capabilities.temp_tables
            else Scratch("schema", (SCRATCH_SCHEMA,), f"{dialect} has no temporary tables that kanon_sql can use")
        )
        self.run_id = "run"
        self.meter = Meter()
        self._columns = list(columns)
        self.progress = StageReporter()
        self._written: dict[str, list[Column]] = {}
        self._concealed = Concealed()
        self._in_transaction = False

    def execute(self, statement: Statement) -> None:
        """Note a statement, and the columns of a table that it creates."""
        statement = self._concealed.made(self.dialect, statement)
        self.meter.count(statement)
        if statement.creates is not None and not statement.loads:
            query = self._read(statement, statement.creates.query)
            assert isinstance(query, exp.Query)
            self._written[statement.creates.table] = [self._column(item, query) for item in query.selects]

    def _column(self, item: exp.Expr, query: exp.Query) -> Column:
        """A column of a created table: of the type of the source's that it is, else text, as labels are."""
        name, value = item.alias_or_name, item.unalias()
        found = self._resolved(value, query) if isinstance(value, exp.Column) else None
        return Column(name, "VARCHAR", "text") if found is None else replace(found, name=name)

    def _resolved(self, column: exp.Column, query: exp.Query) -> Column | None:
        """What a reference to a column is of the source's, through subqueries and tables created here.

        None for what is computed, and for a name without a table that several could have: what is not known to have
        the source's type is text.
        """
        if not isinstance(query, exp.Select):  # a UNION's branches may have different types
            return None
        relations = [query.args["from_"], *query.args.get("joins", ())] if query.args.get("from_") else []
        found = []
        for relation in (item.this for item in relations):
            if column.table and relation.alias_or_name != column.table:
                continue
            if isinstance(relation, exp.Subquery):
                own = {item.alias_or_name: item for item in relation.this.selects}
                if column.name in own:
                    found.append(self._column(own[column.name], relation.this))
            elif isinstance(relation, exp.Table):
                columns = self.columns(self.dialect.relation(tuple(part.name for part in relation.parts)))
                found += [item for item in columns if item.name == column.name]
        return found[0] if len(found) == 1 else None

    def fetch(self, statement: Statement, limit: int) -> list[Row]:
        """Note a query and answer it as a table of one row would: see :data:`_ANSWERS`."""
        self.meter.count(statement)
        tree = self._read(statement, statement.sql)
        selects = [tree] if isinstance(tree, exp.Select) else list(_branches(tree))
        return [tuple(_answer(column) for column in _listed(select)) for select in selects][:limit]

    def _read(self, statement: Statement, sql: str) -> exp.Expr | None:
        """What was written for a dialect, as its engine would read it."""
        try:
            return parsed(sql, self.dialect.sqlglot)[0]
        except SqlglotError:
            raise UnsupportedError(
                f"{statement.name}: the SQL for {self.dialect.name} cannot be parsed; an expression or a name of "
                "the spec means something else in its SQL, so write it another way"
            ) from None

    def known_rows(self, table: str) -> None:
        """Nothing has any rows."""

    def columns(self, relation: str) -> list[Column]:
        """The columns of a table that was created here, else the source's."""
        return self._written.get(relation, self._columns)

    def count_versions(self, relation: str) -> None:
        """Nothing is read."""

    def row_versions(self) -> list[str]:
        """There is no table."""
        return []

    def exists(self, parts: tuple[str, ...]) -> Literal["table", "view"] | None:
        """Nothing exists."""
        return None

    def full_name(self, parts: tuple[str, ...]) -> None:
        """Nothing exists."""

    def shared(self, parts: tuple[str, ...]) -> bool:
        """Nothing exists."""
        return False

    def default_rights(self, parts: tuple[str, ...]) -> list[str]:
        """No other user has rights here."""
        return []

    def conceal(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """Who may read a schema is not known: make a table of the session, where that serves."""
        return self._concealed.hide(self.dialect, parts) if self.capabilities.conceals else parts

    def reveal(self, parts: tuple[str, ...]) -> list[str]:
        """Copy it from the session, and drop it there."""
        return self._concealed.shown(self.dialect, parts)

    def refuse_readers(self, schema: tuple[str, ...]) -> None:
        """Nothing is read here."""

    def readers(self, schema: tuple[str, ...]) -> None:
        """Who may read a schema is not known."""

    def rights(self, parts: tuple[str, ...]) -> list[str]:
        """No other user has rights here."""
        return []

    def mark(self, parts: tuple[str, ...]) -> None:
        """Nothing exists."""

    def view_mark(self, parts: tuple[str, ...]) -> None:
        """Nothing exists."""

    def relation(
        self, *, table: tuple[str, ...] | None, query: str | None, file: str | None, csv: CsvFormat | None = None
    ) -> str:
        """The FROM form of a table, the user's query, or (DuckDB) a file."""
        if table is not None:
            return self.dialect.relation(table)
        if query is not None:
            return f"(\n{single_query(query, self.dialect.sqlglot)}\n)"
        if not self.capabilities.files:
            raise UnsupportedError(
                f"{self.dialect.name} cannot read the source file; load it into a table, or use DuckDB"
            )
        assert file is not None
        return f"read_csv({literal(file)}{csv_options(csv)})" if is_csv(file) else literal(file)

    def refuse_shadowed_functions(self) -> None:
        """No user has made any function."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What opens a transaction, and COMMIT, around what is inside, where DDL can be rolled back; once for all."""
        if not self.capabilities.transactional_ddl or self._in_transaction:
            yield
            return
        self._in_transaction = True
        self.meter.count(Statement("release/transaction", self._begin))
        yield
        self.meter.count(Statement("release/transaction", "COMMIT"))
        self._in_transaction = False

    def mark_alive(self, run_id: str) -> None:
        """A script is run later."""

    def unmark_alive(self, run_id: str) -> None:
        """A script is run later."""

    def ended(self, among: tuple[str, ...], held_by: Mapping[str, str]) -> frozenset[str]:
        """Nothing is known."""
        return frozenset()

    def remove_run_mark(self, run_id: str) -> None:
        """Nothing was marked."""

    def note_leftover(self, note: str) -> None:
        """Nothing was removed."""

    def looks_into(self, record: tuple[str, ...]) -> bool:
        """There are no records."""
        return False

    def estimate(self, relation: str) -> Estimate | None:
        """Nothing is known."""
        return None

    def cancel(self) -> None:
        """Nothing runs."""

    def running(self) -> list[Running]:
        """Nothing runs."""
        return []

    def end(self, statement: Running) -> None:
        """Nothing runs."""

    def close(self) -> None:
        """Nothing is open."""

    def __enter__(self) -> Self:
        """Close it at the end of a ``with``."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def within(self, deadline: Deadline) -> nullcontext[None]:
        """Nothing takes any time."""
        return nullcontext()

    def without_deadline(self) -> nullcontext[None]:
        """There is no deadline."""
        return nullcontext()

    def read_newest(self) -> None:
        """Nothing is read."""

    def run(self, deadline: Deadline) -> nullcontext[Meter]:
        """The one meter."""
        return nullcontext(self.meter)


def _engine(dialect: str) -> type[Backend | SessionEngine]:
    """The engine of a dialect; MySQL and MariaDB share one."""
    engines: dict[str, type[Backend | SessionEngine]] = {**BACKENDS}
    engines |= {item.dialect.name: item for item in BACKENDS.values()}
    engines |= {"duckdb": DuckDBEngine, "clickhouse": ClickHouseEngine, "spark": SparkEngine}
    return engines[dialect]


_ANSWERS = {
    **dict.fromkeys(("row_count", "persons", "most_vectors", "labels", "covered", "largest"), 1),
    **dict.fromkeys(("judged_rows", "judged_sizes", "all_rows", "encoded_rows", "bin_rows", "vector_rows"), 1),
    "null_values": 1,  # NULL may be among them
    "different_labels": 2,  # no level below the top has one label for all values
    # Any number of labels may turn up when the script is run, so that no two levels share a word.
    **dict.fromkeys(("most_labels", "most_siblings"), 2**WORD - 1),
    **dict.fromkeys(("classes", "kept_classes", "class_rows", "smallest_class", "largest_class", "top_labels"), 1),
    "top_label": "*",
}
"""Column, without its number -> what it is for one row that satisfies everything; any other count is 0."""


def _answer(column: exp.Expr) -> object:
    value = column.unalias()
    if value.is_int:
        return int(value.to_py())
    return _ANSWERS.get(column.alias_or_name.rstrip(digits), 0)


def _listed(select: exp.Select) -> list[exp.Expr]:
    """What a query lists, be it a query around another one."""
    table = select.find(exp.Subquery) if select.is_star else None
    return select.expressions if table is None else table.this.selects


def _branches(tree: exp.Expr | None) -> Iterator[exp.Select]:
    if isinstance(tree, exp.Union):
        yield from _branches(tree.left)
        yield from _branches(tree.right)
    elif isinstance(tree, exp.Select):
        yield tree
