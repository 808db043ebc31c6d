"""What is said of a table that is not there: the mistake made most often, in more words than a driver's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from kanon_sql.engines.base import Engine
from kanon_sql.errors import DatabaseError
from kanon_sql.spec import format_table_name

__all__ = ["explained_if_missing", "no_such_table"]


def no_such_table(engine: Engine, parts: tuple[str, ...], *, or_file: bool = False) -> str:
    """That there is no such table or view, nor a file where one would do, and what to do."""
    said = f"there is no table or view {format_table_name(parts)!r} in {engine.label}; expected its name as the "
    if engine.label == ":memory:":
        said += "database has it; name the database that holds it with -d FILE or -d URL"
    else:
        said += "database has it, such as visits or clinic.visits"
    return f"{said}, or the path of a Parquet or CSV file" if or_file else said


@contextmanager
def explained_if_missing(engine: Engine, parts: tuple[str, ...] | None) -> Iterator[None]:
    """Say of a failure inside that it comes from a missing table, if it does.

    Args:
        engine: where the table is looked for, after the failure only.
        parts: its name; None for a query or a file.

    Raises:
        DatabaseError: what was raised inside, in better words where the table is not there.
    """
    try:
        yield
    except DatabaseError:
        found: object = True
        if parts is not None:
            with suppress(DatabaseError):
                found = engine.exists(parts)
        if parts is not None and found is None:
            raise DatabaseError(no_such_table(engine, parts)) from None
        raise
