"""What Spark's errors mean, without the values that their texts may hold."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from kanon_sql.engines.base import NO_SPACE
from kanon_sql.errors import DatabaseError, UnsupportedError

__all__ = ["is_not_there", "silent_loggers", "spark_error"]

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Where pyspark logs an error with its text and the Java stack, before anyone can catch it."""

_ABOUT_NAMES = (
    "TABLE_OR_VIEW_", "VIEW_", "SCHEMA_", "CATALOG_", "UNRESOLVED_COLUMN", "INVALID_SCHEMA_OR_RELATION_NAME",
    "LOCATION_ALREADY_EXISTS", "INSUFFICIENT_PERMISSIONS", "PERMISSION_DENIED", "WRONG_COMMAND_FOR_OBJECT_TYPE",
    "REQUIRES_SINGLE_PART_NAMESPACE", "UNSUPPORTED_FEATURE.TABLE_OPERATION", "FORBIDDEN_OPERATION",
)  # fmt: skip
"""Errors whose first line names tables, columns or rights, and no value."""

_NOT_THERE = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "CATALOG_NOT_FOUND", "NO_SUCH_NAMESPACE")

_LOST_ROWS = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"

_LOST = ("Py4JError", "Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError", "BrokenPipeError")

_CANCELLED = ("SPARK_JOB_CANCELLED", "OPERATION_CANCELED", "SPARK_CONNECT_OPERATION_CANCELED")


def spark_error(error: Exception, name: str, label: str) -> BaseException | None:
    """An error as one of ours; None where it is none of Spark's. Only what Spark says about names keeps its text.

    Args:
        error: any error.
        name: the statement's.
        label: what the connection is called.
    """
    if isinstance(error, UnsupportedError | DatabaseError):
        return None
    kind, module = type(error).__name__, type(error).__module__.split(".")[0]
    condition = _condition(error)
    if module not in ("pyspark", "py4j", "grpc") and not isinstance(error, ConnectionError):
        return None
    if condition.startswith(_CANCELLED):
        return KeyboardInterrupt()
    if "No space left on device" in str(error):
        return DatabaseError(f"{name}: Spark: {NO_SPACE} (spark.local.dir, or where its warehouse is)")
    # Of an analysis, before any row is read: raise_error gives any condition any text.
    if condition.startswith(_ABOUT_NAMES) and kind in ("AnalysisException", "SparkConnectAnalysisException"):
        first = str(error).splitlines()[0].split(" SQLSTATE:")[0]
        return DatabaseError(f"{name}: {first}")
    if condition == _LOST_ROWS:
        return DatabaseError(f"{name}: an executor was lost, and a scratch table's rows with it; run it again")
    if not condition and (kind in _LOST or "UNAVAILABLE" in str(error)):
        return DatabaseError(
            f"{name}: the connection to {label} was lost; its scratch views are gone: run kanon-sql clean to "
            "find what else is left"
        )
    return DatabaseError(f"{name}: Spark reported {condition or kind} (its text may hold values and is not shown)")


def is_not_there(error: Exception) -> bool:
    """Whether a table, a schema or a catalog is missing."""
    return _condition(error) in _NOT_THERE


@contextmanager
def silent_loggers() -> Iterator[None]:
    """Without what pyspark logs of an error, which has its text."""
    from pyspark.logger import PySparkLogger

    of_process = logging.getLoggerClass()
    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    logging.setLoggerClass(of_process)  # pyspark has set its own
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def _condition(error: Exception) -> str:
    """Spark's name of an error, empty when it has none; a failed job's is in its text."""
    condition = error.getCondition() if hasattr(error, "getCondition") else None
    if condition:
        return str(condition)
    found = re.search(r"Exception: \[([A-Z][A-Z0-9_.]+)\]", str(error))
    return found.group(1) if found else ""
