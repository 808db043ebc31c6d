"""Spark's scratch tables: temporary views over rows that are stored once, on the executors' disks and in their memory.

``CACHE TABLE`` is not enough, because a cached table is still its plan: an INSERT into the source by the same
application, or the loss of an executor, makes Spark compute it again, from a source that may have changed between the
search and the verification. A checkpoint that is lost is an error instead. What a statement brings itself, the rows of
a hierarchy, is a view over these: nothing could change them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any

from kanon_sql.engines.base import Estimate
from kanon_sql.sql import Statement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ONE_PARTITION", "Checkpoints", "statistics"]

ONE_PARTITION = 100_000
"""Scratch tables with as many rows at most are kept in one partition."""

_PLAUSIBLE_BYTES = 2**60
"""No guess of a table's size is so large: this is a product of such guesses, or what Spark says of what is unknown."""

_MOST_ROWS = 2**31 - 1
"""The greatest limit that Spark takes."""

_PART = "kanon_part"
"""Which of the tables that are stored together a row belongs to."""


class Checkpoints:
    """The scratch tables of a session, by their quoted names.

    Args:
        session: where they live.
        remote: it is a Connect session, which tells less of its plans.
    """

    def __init__(self, session: SparkSession, *, remote: bool) -> None:
        self._session = session
        self._remote = remote
        self._frames: dict[str, DataFrame | None] = {}
        self._rows: dict[str, int] = {}

    def __contains__(self, view: str) -> bool:
        return view in self._frames

    def rows(self, view: str) -> int | None:
        """How many rows a scratch table has, where they were counted when it was made."""
        return self._rows.get(view)

    def make(self, statements: Sequence[Statement], queries: Sequence[str]) -> None:
        """Make scratch tables.

        Args:
            statements: which say what they create.
            queries: their queries, in order, as they are sent. None reads a table that another one makes.
        """
        named = [(statement, _view(statement), query) for statement, query in zip(statements, queries, strict=True)]
        for statement, view, query in named:
            if statement.loads:
                self._session.sql(query).createOrReplaceTempView(view)
                self._frames[view], self._rows[view] = None, statement.loads
        stored = [(view, query) for statement, view, query in named if not statement.loads]
        if len(stored) == 1:
            ((view, query),) = stored
            frame, rows = self._stored(self._session.sql(query))
            frame.createOrReplaceTempView(view)
            self._frames[view], self._rows[view] = frame, rows
        elif stored:
            self._make_together([view for view, _ in stored], [self._session.sql(query) for _, query in stored])

    def _make_together(self, views: Sequence[str], frames: Sequence[DataFrame]) -> None:
        """Store the rows of several tables as one, of which each is a part: the work of all is a few jobs.

        Each has a column of its own, whose fields are the table's columns.
        """
        from pyspark.sql import functions

        parts = [
            frame.select(functions.lit(number).alias(_PART), functions.struct("*").alias(f"{_PART}{number}"))
            for number, frame in enumerate(frames)
        ]
        whole, _ = self._stored(reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts))
        for number, view in enumerate(views):
            part = whole.where(functions.col(_PART) == number).select(f"{_PART}{number}.*")
            part.createOrReplaceTempView(view)
            self._frames[view] = whole

    def drop(self, view: str) -> None:
        """Forget a scratch table. Its memory is given back with the last one of those that are stored as one."""
        self._session.catalog.dropTempView(view.strip("`"))
        self._rows.pop(view, None)
        frame = self._frames.pop(view)
        if frame is not None and all(other is not frame for other in self._frames.values()):
            self._free(frame)

    def _stored(self, made: DataFrame) -> tuple[DataFrame, int]:
        """A query's rows, stored as long as the frame lives, and how many they are.

        A small table becomes one partition, so that grouping and joining it needs no exchange: on
        small tables, exchanges take nearly all of the time. Many nodes still run side by side.

        A checkpoint inherits the size that Spark guessed for its query, a product of the sizes of
        what is joined. Over rounds, each of which joins what the last one made, the guess gets as
        many digits again every time, until planning takes minutes and all memory: it is forgotten
        before.
        """
        frame, rows = self._checkpoint(made)
        if rows <= ONE_PARTITION:
            if not self._is_one(frame) or not self._has_plausible_size(frame):
                spread, (frame, _) = frame, self._checkpoint(frame.limit(max(rows, 1)))
                self._free(spread)
        elif not self._has_plausible_size(frame):
            frame = self._without_size(frame)
        return frame, rows

    def _checkpoint(self, made: DataFrame) -> tuple[DataFrame, int]:
        """Store rows and count them. The job that counts stores them as it goes; nothing reads them before it ends."""
        if self._remote:
            frame = made.localCheckpoint()
            return frame, int(frame.count())
        frame = made.localCheckpoint(eager=False)
        return frame, int(_rdd(frame).count())

    def _has_plausible_size(self, frame: Any) -> bool:
        """Whether Spark's guess of a checkpoint's bytes could be one; Connect shows it as a text alone."""
        if self._remote:
            return statistics(frame._explain_string(mode="cost")) is not None
        return int(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()) < _PLAUSIBLE_BYTES

    def _without_size(self, frame: DataFrame) -> DataFrame:
        """The same stored rows, of unknown size; Connect stores them again, since only a limit bounds its guess."""
        if self._remote:
            stored = frame.limit(_MOST_ROWS).hint("rebalance").localCheckpoint()
            stored.count()
            return stored
        from pyspark.sql.classic.dataframe import DataFrame as Classic

        made = self._session._jsparkSession.internalCreateDataFrame(_rdd(frame), frame._jdf.schema(), False)
        return Classic(made, self._session)

    def _is_one(self, frame: Any) -> bool:
        """Whether the planner knows that a checkpoint is one partition; Connect does not say.

        What adaptive execution left in one partition is not enough: the planner was told of as many as there may be.
        """
        if self._remote:
            return False
        return str(frame._jdf.queryExecution().logical().outputPartitioning().toString()) == "SinglePartition"

    def _free(self, frame: DataFrame) -> None:
        """Give a checkpoint's memory back now; Spark would wait for a garbage collection, as Connect does."""
        if not self._remote:
            with suppress(Exception):
                _rdd(frame).unpersist(False)


def _view(statement: Statement) -> str:
    assert statement.creates is not None, "only what creates a scratch table comes here"
    return statement.creates.table


def _rdd(frame: Any) -> Any:
    """The stored rows of a checkpoint in a classic session."""
    return frame._jdf.queryExecution().logical().rdd()


_UNITS = {unit: 1024**power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))}


def statistics(plan: str) -> Estimate | None:
    """The figures of the plan's root; a size in EiB, or with a power of ten of bytes, means that nothing is known."""
    size = re.search(r"Statistics\(sizeInBytes=([0-9.E+]+) (\w+)", plan)
    if size is None or size.group(2) not in _UNITS:
        return None
    size_in_bytes = Decimal(size.group(1)) * _UNITS[size.group(2)]
    if size_in_bytes >= _PLAUSIBLE_BYTES:
        return None
    rows = re.match(r"[^\n]*?rowCount=([0-9.E+]+)", plan[size.start() :])
    return Estimate(None if rows is None else int(Decimal(rows.group(1))), int(size_in_bytes), "EXPLAIN COST")
