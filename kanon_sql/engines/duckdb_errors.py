"""What DuckDB's errors mean, without the values that their texts may hold."""

from __future__ import annotations

import re

from kanon_sql.errors import DatabaseError

__all__ = ["duckdb_error"]

NO_SPACE = ("No space left on device", "Disk quota exceeded")
"""What the operating system says of a full disk, whichever kind of error DuckDB makes of it."""


_CSV_LINE = re.compile(r"\w+(?: \w+)? Error: CSV Error on Line: (\d+)")
_CSV_FILE = re.compile(r'^(?:  file = |.*Error when sniffing file ")([^"\n]+)', re.MULTILINE)
_CSV_CAST = re.compile(r"^Column (.+) is being converted as type (\w+)$", re.MULTILINE)

_ABOUT_NAMES = {"Catalog", "Binder", "IO", "Connection"}
"""Kinds of errors whose text names tables, columns and files, and no value but what a query has in quotes."""


def duckdb_error(error: Exception, name: str) -> DatabaseError:
    """An error as one of ours. Only what DuckDB says about names keeps its text.

    Args:
        error: DuckDB's.
        name: the statement's.
    """
    message, kinds = str(error), {kind.__name__.removesuffix("Exception") for kind in type(error).__mro__}
    if any(text in message for text in NO_SPACE):
        return DatabaseError(
            f"{name}: the disk is full; free some space where the database file and DuckDB's temp_directory are. What "
            "the failed statement had written was rolled back"
        )
    if "OutOfMemory" in kinds:
        return DatabaseError(
            f"{name}: DuckDB ran out of memory: its memory_limit, and the space that it may fill in its "
            "temp_directory, are used up; allow more (--set memory_limit=4GB, or SET memory_limit), or fewer "
            "threads (--set threads=1), which need less"
        )
    if kinds & {"Fatal", "Internal"}:
        return DatabaseError(
            f"{name}: DuckDB stopped with an error of its own and refuses this database from now on; close every "
            "connection to it and connect again: what was committed is still there"
        )
    if file := _CSV_FILE.findall(message)[-1:]:
        from kanon_sql.engines.csv_faults import csv_fault  # a run whose files are whole does not need it

        if (fault := csv_fault(file[0])) is not None:
            about = name if name.startswith("source file") else f"CSV file {file[0]}"
            return DatabaseError(f"{about}: {fault}")
    if (line := _CSV_LINE.match(message)) is not None:
        # The last one: what the line itself holds stands before it.
        cast = _CSV_CAST.findall(message)[-1:]
        what = "".join(f": the column {column!r} was read as {kind}, but holds other values" for column, kind in cast)
        return DatabaseError(
            f"{name}: the CSV file cannot be read at line {line[1]}{what} (its text may hold values and is not "
            "shown); correct the line, or give the types of the columns in a source query: SELECT * FROM "
            "read_csv('FILE', types = {'COLUMN': 'VARCHAR'})"
        )
    kind = type(error).__name__.removesuffix("Exception")
    if kinds & _ABOUT_NAMES and name != "load":
        text = re.split(r"\n\s*\n?LINE ", message)[0]
        text = re.sub(r"'(?:[^']|'')*'", "'?'", text) if "Binder" in kinds else text
        if name == "source query" and "IO" in kinds:
            return DatabaseError(
                f"{name}: {text.strip()}; a path in a query is relative to the working directory, and that of "
                "{file: ...} to the spec"
            )
        return DatabaseError(f"{name}: {text.strip()}")
    return DatabaseError(f"{name}: DuckDB reported an error, {kind} (its text may hold values and is not shown)")
