"""Which table a verb looks at: one that is named, or what the spec releases (a file, too), in the year of that."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kanon_sql.engines import Engine
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.release import columns_in, file_of, manifest_of, snapshot, snapshot_as_source, snapshot_of_texts
from kanon_sql.spec import FILE_ENDINGS, CsvFormat, Spec, parse_table_name

__all__ = ["TargetTable", "as_published", "judged", "named", "release_exists"]


@dataclass(frozen=True)
class TargetTable:
    """A table to look at.

    Attributes:
        parts: its name.
        shown: what messages call it.
    """

    parts: tuple[str, ...]
    shown: str


@contextmanager
def judged(
    engine: Engine, spec: Spec, table: str | None, verb: str, csv: CsvFormat | None = None
) -> Iterator[TargetTable]:
    """The table that a verb looks at; a file as it is now, in a table of the session until the end.

    Args:
        engine: with a run open.
        spec: names the release.
        table: the table's name, or the path of a CSV or Parquet file where there is no such table; None for the spec's
            release.
        verb: what is done with it, for a message.
        csv: the encoding and delimiter of the file, whose cells are all texts then; None to read it as released files
            are.

    Raises:
        SpecError: none is named, and the spec has no release; or ``csv`` is given of what is no CSV file.
        DatabaseError: the file is not there, or cannot be read.
        UnsupportedError: the release is a file, and the engine reads none.
    """
    parts = parse_table_name(table) if table is not None else spec.release
    if table is not None and parts is not None and _is_file(engine, table, parts):
        path = Path(os.path.realpath(table))
        if csv is not None:
            _refuse_other_than_csv(table, csv)
        read = snapshot(engine, path, *columns_in(path)) if csv is None else snapshot_of_texts(engine, path, csv)
        with read as found:
            yield TargetTable(found.parts, table)
    elif csv is not None:
        _refuse_other_than_csv(None, csv)
    elif parts is not None:
        yield TargetTable(parts, ".".join(parts))
    elif spec.release_file is None:
        raise SpecError(f"release: missing; name the table to {verb} with --table")
    else:
        path, shown = file_of(spec), spec.release_file.file
        if not engine.capabilities.files:
            raise UnsupportedError(
                f"release.file: {engine.dialect.name} reads no files; read {shown} with DuckDB, as -d :memory: does"
            )
        if not path.is_file():
            raise DatabaseError(
                f"there is no file {shown}; publish it with kanon-sql anonymize, or give another with --table"
            )
        with snapshot(engine, path, *columns_in(path)) as found:
            yield TargetTable(found.parts, shown)


def _refuse_other_than_csv(file: str | None, csv: CsvFormat) -> None:
    if csv.decimal is not None or csv.dates is not None or csv.text:
        # 1,5 and 1,50, or 3/4/24 and 03/04/2024, would be one value, but a reader of the file sees two.
        raise SpecError("csv: check compares cells of a file as they are written; leave decimal, dates and text out")
    if file is None or not file.lower().endswith(".csv"):
        what = "the table is no file" if file is None else f"{file} is no CSV file"
        raise SpecError(f"csv: {what}; leave encoding and delimiter out")


@contextmanager
def named(engine: Engine, spec: Spec, table: str, number: int, *, as_source: bool = False) -> Iterator[TargetTable]:
    """Another table that a verb looks at, by its name or, where there is no such table, by the path of a file.

    Args:
        engine: with a run open.
        spec: whose source says how its CSV file is written.
        table: the name or path.
        number: of the table among those that are read at the same time.
        as_source: it holds values, which are read as those of the source; otherwise it is a release.
    """
    parts = parse_table_name(table)
    if not _is_file(engine, table, parts):
        yield TargetTable(parts, ".".join(parts))
        return
    path = Path(os.path.realpath(table))
    own = as_source and spec.source.file is not None and Path(os.path.realpath(spec.source.file)) == path
    if as_source and not own and path.suffix.lower() == ".csv":
        # DuckDB may find other types in it than in the source, so that equal values would not match.
        yield TargetTable(parts, ".".join(parts))
        return
    copy = f"file{number}"
    read = (
        snapshot_as_source(engine, path, spec.source.csv if own else None, name=copy)
        if as_source
        else snapshot(engine, path, *columns_in(path), name=copy)
    )
    with read as found:
        yield TargetTable(found.parts, table)


def _is_file(engine: Engine, table: str, parts: tuple[str, ...]) -> bool:
    """Whether a name is that of a file, and of no table: read as released files are, no type is guessed."""
    readable = engine.capabilities.files and table.lower().endswith(FILE_ENDINGS)
    return readable and Path(table).is_file() and engine.exists(parts) is None


def release_exists(engine: Engine, spec: Spec) -> bool:
    """Whether what the spec releases is there already."""
    if spec.release_file is not None:
        return file_of(spec).is_file()
    return spec.release is not None and engine.exists(spec.release) is not None


def as_published(engine: Engine, spec: Spec, parts: tuple[str, ...]) -> Spec:
    """The spec with the year of a release that is there, where it follows the calendar.

    Args:
        engine: with a run open, and no workspace.
        spec: the spec.
        parts: the release. A table without a manifest has no year of its own, and the spec stays as it is.
    """
    if not spec.follows_the_calendar:
        return spec
    manifest = manifest_of(engine, parts)
    return spec if manifest is None else spec.in_year(manifest.get("spec", {}).get("release_year"))
