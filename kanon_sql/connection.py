"""Connect to a database: the one place that knows which engines there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kanon_sql.engines.base import Engine
from kanon_sql.errors import UnsupportedError

if TYPE_CHECKING:
    import duckdb

__all__ = ["connect"]


def connect(
    database: str | Path | duckdb.DuckDBPyConnection = ":memory:",
    *,
    read_only: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
) -> Engine:
    """Open a database, or use an open connection.

    Args:
        database: a DuckDB file, ``:memory:``, or an open DuckDB connection (it is used as it
            is and never closed).
        read_only: open a file without the right to write; enough for ``plan`` and ``check``.
        threads: DuckDB's threads.
        memory_limit: DuckDB's memory limit, such as ``4GB``.

    Returns:
        An engine for the verbs. Close it with ``close()``.

    Raises:
        DatabaseError: the file cannot be opened.
        UnsupportedError: a URL of another database, or a connection that compares text inexactly.
    """
    from kanon_sql.engines.duckdb import DuckDBEngine, connect_duckdb

    if isinstance(database, str | Path):
        name = str(database)
        if "://" in name:
            scheme = name.split("://", 1)[0]
            raise UnsupportedError(f"{scheme} databases are not supported; give a DuckDB file or :memory:")
        return connect_duckdb(name, read_only=read_only, threads=threads, memory_limit=memory_limit)
    return DuckDBEngine(database)
