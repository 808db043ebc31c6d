"""Spark, through an open SparkSession (classic or Connect) or a URL; its scratch tables are checkpoints."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

from kanon_sql.engines.base import DROP, Capabilities, Column, Deadline, Estimate, Kind, Meter, Row, Scratch
from kanon_sql.engines.reads import Stored
from kanon_sql.engines.session import SessionEngine
from kanon_sql.engines.spark_checkpoints import Checkpoints, statistics
from kanon_sql.engines.spark_errors import is_not_there, silent_loggers, spark_error
from kanon_sql.engines.spark_plans import analyzed, seeded_parts, unstable_parts_of
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.sql import Statement, dialect_named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kanon_sql.spec import CsvFormat

__all__ = ["SETTINGS", "SparkEngine", "connect_spark", "refuse_old"]

T = TypeVar("T")

CAPABILITIES = Capabilities(
    transactional_ddl=False,
    atomic_replace=False,
    temp_tables=True,
    files=False,
    folds_names=True,
    nodes_per_statement=64,
    nodes_as_rows=sys.maxsize,  # a job is planned and compiled for longer than it takes to join
    branch_rows=2_000_000,
    set_rows=2_000_000,  # a statement that stores what it makes
    prefers_large_batches=True,
    together=True,
)

SETTINGS: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "true",  # an overflow is an error, not another number; a bad cast is not NULL
    "spark.sql.variable.substitute": "false",  # ${...} stays what it is, in literals too
    "spark.sql.parser.quotedRegexColumnNames": "false",  # `a.b` is a name, not a pattern
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "false",
    "spark.sql.session.timeZone": "UTC",  # a date of a moment is the same for anyone who asks
    "spark.sql.cbo.planStats.enabled": "true",  # the catalog's row counts, for estimates
    "spark.sql.constraintPropagation.enabled": "false",  # what is known of columns grows from checkpoint to checkpoint
    "spark.sql.limit.initialNumPartitions": "1000",  # a small answer in one job
}
"""In force while a verb runs, or a statement outside of one; afterwards the session has its own again."""

_MANY = 1_000_000
"""Functions there may be."""

_FUNCTIONS = frozenset(
    """
    + - * / % = <=> < <= > >= & || ! and between case cast not or in like abs ceil ceiling char_length
    character_length coalesce concat count date date_add date_format date_part date_sub dense_rank div encode explode
    extract floor from_utc_timestamp greatest if ifnull isnotnull isnull lag lead least left length ln log
    lower ltrim max min mod nullif nvl pmod power rand random range rank repeat replace right round row_number
    rpad lpad rtrim sha2 string stack substr substring sum timestampadd to_date to_timestamp to_utc_timestamp translate
    trim trunc typeof unhex upper when
    """.split()
)
"""Functions of Spark's that our SQL calls, its operators among them."""

_ATTEMPTS, _PAUSE = 300, 0.2
"""How often a cancelled statement is asked to stop, and the seconds between."""


def refuse_old(version: str) -> None:
    """See that a version of Spark, or of pyspark, has collations.

    Raises:
        UnsupportedError: it has none.
    """
    if int(version.split(".")[0]) < 4:
        raise UnsupportedError(
            f"Spark {version} is too old: since Spark 4 a column may have a collation that merges different texts, "
            "and the SQL that compares them exactly needs Spark 4; upgrade Spark and pyspark"
        )


_SEEDED = (
    "it draws rows or numbers by a seed, which gives the same ones only while its partitions stay the same; "
    "store them in a table if the partitions may change"
)


class SparkEngine(SessionEngine):
    """One SparkSession.

    Args:
        session: an open SparkSession; it is stopped only if ``owned``.
        label: what to call it in messages.
        owned: this object opened the session.
        read_only: refuse to write anything but scratch views; Spark itself has no such sessions.
        scratch: where scratch tables live.

    Raises:
        UnsupportedError: the session's Spark is too old, or reads literals in another way.
    """

    capabilities = CAPABILITIES
    shows_views = True
    effects = frozenset(
        {"java_method", "rand", "randn", "random", "randstr", "reflect", "shuffle", "try_reflect", "uniform", "uuid"}
    )

    def __init__(
        self,
        session: SparkSession,
        *,
        label: str = "spark",
        owned: bool = False,
        read_only: bool = False,
        scratch: Scratch | None = None,
    ) -> None:
        super().__init__(label, read_only=read_only, scratch=scratch)
        self.dialect = dialect_named("spark")
        self._session = session
        self._owned = owned
        self._remote = type(session).__module__.startswith("pyspark.sql.connect")
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kanon_sql_spark")
        self._running: tuple[Future[Any], str] | None = None
        self._numbers = count()
        self._settled = False
        self._checkpoints = Checkpoints(session, remote=self._remote)
        with self._guard("connect"):
            self._version = str(session.version)
            refuse_old(self._version)
            if session.conf.get("spark.sql.parser.escapedStringLiterals", None) == "true":
                raise UnsupportedError(
                    "this SparkSession has spark.sql.parser.escapedStringLiterals, which changes what a literal with "
                    "a backslash means; set it to false"
                )
            folds = session.conf.get("spark.sql.caseSensitive", None) != "true"
            self.ephemeral = owned and session.conf.get("spark.sql.catalogImplementation", None) == "in-memory"
        self.capabilities = replace(CAPABILITIES, folds_names=folds)

    @property
    def version(self) -> str:
        """Spark's version, on the server."""
        return self._version

    # --- Statements ---

    def execute(self, statement: Statement) -> None:
        """Run a statement for its effect; a temporary table becomes a view over a checkpoint."""
        parts = statement.together or (statement,)
        if self.scratch.mode == "temp" and all(part.creates and part.creates.temporary for part in parts):
            queries = [self._tagged(part.creates.query) for part in parts if part.creates]
            self.meter.count(statement)
            with self._guard(statement.name):
                self._call(lambda: self._checkpoints.make(parts, queries))
            return
        if statement.name == DROP and (ours := [view for part in parts if (view := _last(part)) in self._checkpoints]):
            self.meter.count(statement)
            with self._guard(statement.name):
                for view in ours:
                    self._call(partial(self._checkpoints.drop, view))
        elif not statement.together:  # else nothing of it was ever made
            if self.read_only:
                raise DatabaseError(
                    f"{statement.name}: the connection is read-only; open it without read_only to write"
                )
            super().execute(statement)

    def known_rows(self, table: str) -> int | None:
        """A checkpoint's rows, which were counted when it was stored."""
        return self._checkpoints.rows(table)

    def _run(self, sql: str) -> None:
        self._call(lambda: self._session.sql(sql))

    def _rows(self, sql: str, limit: int) -> list[Row]:
        rows = self._call(lambda: self._session.sql(sql).limit(limit + 1).collect())
        return [tuple(row) for row in rows]

    def _describe(self, relation: str) -> list[Column]:
        sql = f"SELECT * FROM {relation} AS kanon_relation"
        self.meter.count(Statement("columns", sql, users=relation, quoted=self.dialect.quoted))
        schema = self._call(lambda: self._session.sql(self._tagged(sql)).schema)
        return [_column(field.name, field.dataType) for field in schema.fields]

    def _find(self, parts: tuple[str, ...]) -> tuple[Literal["table", "view"], tuple[str, ...]] | None:
        """A temporary view hides the table in the schema."""
        found = self._table(parts)
        if found is None:
            return None
        full = (found.catalog or "", *(found.namespace or ()), found.name)
        return "table" if found.tableType in ("MANAGED", "EXTERNAL") else "view", (
            tuple(part.lower() for part in full) if self.capabilities.folds_names else full
        )

    def _table(self, parts: tuple[str, ...]) -> Any:
        """What the catalog says of a table or view; None when there is none."""
        name = self.dialect.relation(parts)
        with self._guard("exists"):
            try:
                return self._call(lambda: self._session.catalog.getTable(name))
            except Exception as error:
                if is_not_there(error):
                    return None
                raise

    def _comment(self, parts: tuple[str, ...]) -> str | None:
        found = self._table(parts)
        return None if found is None else found.description

    def _definition(self, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        found = self._table(parts)
        if found is None or found.isTemporary:
            return None
        rows = self.fetch(Statement("mark", f"SHOW CREATE TABLE {self.dialect.relation(parts)}"), 1)
        return str(rows[0][0])

    def _stored(self, parts: tuple[str, ...]) -> Stored | None:
        """No catalog has the text of a temporary view; its plan holds all that is behind it."""
        found = self._find(parts)
        if found is None or not self._table(parts).isTemporary:
            return super()._stored(parts)
        sql = f"EXPLAIN EXTENDED SELECT * FROM {self.dialect.relation(parts)}"
        plan, again = (analyzed(str(self.fetch(Statement("plan", sql), 1)[0][0])) for _ in range(2))
        changing = unstable_parts_of(plan, again, self.effects)
        notes = (_SEEDED,) if not changing and seeded_parts(plan, self.effects) else ()
        return Stored(found[1], changing=tuple(changing), notes=notes)

    def _file(self, path: str, csv: CsvFormat | None) -> str:
        raise UnsupportedError(
            f"source file {path}: on Spark write a source query, such as SELECT * FROM parquet.`{path}`"
        )

    def estimate(self, relation: str) -> Estimate | None:
        """The optimizer's statistics; without a catalog's statistics it knows the files' bytes only."""
        sql = f"EXPLAIN COST SELECT * FROM {relation} AS kanon_relation"
        ((plan,),) = self.fetch(Statement("estimate", sql, users=relation, quoted=self.dialect.quoted), 1)
        return statistics(str(plan))

    def refuse_shadowed_functions(self) -> None:
        """Functions of the session or the catalog, which a Spark of another version or path may call first."""
        with self.without_deadline(), self._guard("catalog"):
            names = self._rows("SHOW USER FUNCTIONS", _MANY)
        hiding = sorted({str(name).split(".")[-1].lower() for (name,) in names} & _FUNCTIONS)
        if hiding:
            raise UnsupportedError(
                f"spark: user-defined functions have the names of Spark's own ({', '.join(hiding)}), and may be "
                "called in their place; drop or rename them"
            )

    # --- Settings ---

    @contextmanager
    def run(self, deadline: Deadline) -> Iterator[Meter]:
        """A fresh meter, a time limit, and our settings for everything inside."""
        with super().run(deadline) as meter, self._settings():
            yield meter

    @contextmanager
    def _guard(self, name: str, shown: str | None = None) -> Iterator[None]:
        with super()._guard(name, shown), self._settings():
            yield

    @contextmanager
    def _settings(self) -> Iterator[None]:
        """Our settings inside, the session's own before and after."""
        if self._settled:
            yield
            return
        before: dict[str, str | None] = {}
        self._settled = True
        try:
            self._change(SETTINGS, before)
            yield
        finally:
            self._settled = False
            self._change(before, {})

    def _change(self, settings: Mapping[str, str | None], before: dict[str, str | None]) -> None:
        with self.without_deadline(), super()._guard("settings"):
            self._call(lambda: self._put(settings, before))

    def _put(self, settings: Mapping[str, str | None], before: dict[str, str | None]) -> None:
        """Change settings; ``before`` learns what they were, so that an interrupt in between loses nothing."""
        conf = self._session.conf
        before.update({name: conf.get(name, None) for name in settings})
        for name, value in settings.items():
            if value is None:
                conf.unset(name)
            else:
                conf.set(name, value)

    # --- Time, errors, the end ---

    def _call(self, work: Callable[[], T]) -> T:
        """Let the worker thread ask Spark.

        Ctrl-C in the middle of an answer would leave this thread's connection to the gateway
        with half of it, and the next question would get the rest.
        """
        tag = f"kanon_sql_{self.run_id}_{next(self._numbers)}"
        future = self._worker.submit(self._tagged_work, work, tag)
        self._running = future, tag
        try:
            return future.result()
        except KeyboardInterrupt:
            self.cancel()
            raise

    def _tagged_work(self, work: Callable[[], T], tag: str) -> T:
        tags: Any = self._session if self._remote else self._session.sparkContext
        add, remove = (tags.addTag, tags.removeTag) if self._remote else (tags.addJobTag, tags.removeJobTag)
        with silent_loggers():
            add(tag)
            try:
                return work()
            finally:
                remove(tag)

    def cancel(self) -> None:
        """Stop the running statement. Between two jobs there is nothing to stop, so ask until it ends."""
        if self._running is None:
            return
        future, tag = self._running
        for _ in range(_ATTEMPTS):
            if future.done():
                return
            with suppress(Exception):
                if self._remote:
                    self._session.interruptTag(tag)
                else:  # in Spark 4.3 interruptTag does not find what another thread runs
                    self._session.sparkContext.cancelJobsWithTag(tag)
            wait([future], timeout=_PAUSE)

    def close(self) -> None:
        """Stop the session if this object opened it; else leave it as it was."""
        self._worker.shutdown()
        if self._owned:
            with suppress(Exception):
                self._session.stop()

    def _error(self, error: Exception, name: str) -> BaseException | None:
        return spark_error(error, name, self.label)


def _last(statement: Statement) -> str:
    """What a statement ends with: a quoted name, where it drops a scratch table."""
    return statement.sql.rpartition(" ")[2]


_KINDS: Mapping[str, Kind] = {
    "ByteType": "integer", "ShortType": "integer", "IntegerType": "integer", "LongType": "integer",
    "DecimalType": "decimal", "FloatType": "float", "DoubleType": "float",
    "StringType": "text", "CharType": "text", "VarcharType": "text",
    "DateType": "date", "TimestampType": "moment", "TimestampNTZType": "timestamp", "BooleanType": "boolean",
    **dict.fromkeys(("BinaryType", "TimeType", "NullType", "DayTimeIntervalType", "YearMonthIntervalType"), "other"),
}  # fmt: skip
"""Of other types different values may have one text: in lists, maps and structures texts are not quoted."""


def _column(name: str, data_type: Any) -> Column:
    kind = _KINDS.get(type(data_type).__name__, "ambiguous")
    return Column(name, str(data_type.simpleString()).upper(), kind, texts="several" if kind == "ambiguous" else "one")


def connect_spark(url: str, *, read_only: bool = False, scratch: Scratch | None = None) -> SparkEngine:
    """Open a SparkSession of kanon_sql's own.

    Args:
        url: ``sc://host:port`` for Spark Connect, ``spark://host:port`` for a standalone cluster's master.
        read_only: refuse to write anything but scratch views.
        scratch: where scratch tables live.

    Raises:
        UnsupportedError: this process has a SparkSession already, or pyspark is too old.
        SpecError: the URL does not parse.
        DatabaseError: the session cannot be opened.
    """
    from pyspark import __version__
    from pyspark.sql import SparkSession

    refuse_old(__version__)
    try:
        parts = urlsplit(url.split(";")[0])
        if "@" in parts.path or (parts.scheme == "spark" and not re.fullmatch(r"spark://[\w.-]+:\d+/?", url)):
            # Spark would print the whole URL, and where in Java it found that out.
            raise ValueError
        label = f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"
    except ValueError:
        raise SpecError("the Spark URL does not parse; expected spark://host:port or sc://host:port") from None
    try:
        if parts.scheme == "sc":
            session = SparkSession.builder.remote(url).create()
        elif SparkSession.getActiveSession() is not None:
            raise UnsupportedError("this process has a SparkSession already; give kanon_sql the session itself")
        else:
            session = SparkSession.builder.master(url).appName("kanon_sql").getOrCreate()
            session.sparkContext.setLogLevel("OFF")  # its log would show values
    except UnsupportedError:
        raise
    except Exception as error:
        raise DatabaseError(
            f"cannot connect to {label}: {type(error).__name__} (its text may hold credentials and is not "
            "shown); check that the cluster runs at this address"
        ) from None
    return SparkEngine(session, label=label, owned=True, read_only=read_only, scratch=scratch)
