"""Files that DuckDB reads as a source: Parquet, CSV, a directory of Parquet files, a table of Delta Lake."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from glob import iglob
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_sql.engines.lakes import delta_at, is_delta
from kanon_sql.errors import SpecError
from kanon_sql.spec import parse_table_name
from kanon_sql.sql import literal

if TYPE_CHECKING:
    import duckdb

    from kanon_sql.spec import CsvFormat

__all__ = ["AttachedLakes", "csv_options", "file_parts", "file_reader", "no_table_but_file"]

_READERS = {
    ".parquet": "read_parquet",
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".csv.gz": "read_csv",
    ".tsv.gz": "read_csv",
}


def file_reader(path: str, csv: CsvFormat | None = None) -> str:
    """The FROM form of a file, of the files that a pattern matches, or of the Parquet files in a directory.

    Args:
        path: of it.
        csv: how a CSV file is written.

    Raises:
        SpecError: its name does not say what it is, the directory holds no Parquet file, or files would be read that
            are no part of what they lie in.
    """
    if Path(path).is_dir():
        return f"read_parquet({literal(_pattern(path))})"
    name = path.lower()
    reader = next((reader for ending, reader in _READERS.items() if name.endswith(ending)), None)
    if reader is None:
        raise SpecError(
            f"source file {path}: expected a name that ends in one of {', '.join(sorted(_READERS))}; "
            "for others write a source query"
        )
    if not re.search(r"://|[*?\[]", path) and not Path(path).exists():
        raise SpecError(f"source file {path}: there is no such file; a path is relative to the spec")
    if reader == "read_parquet":
        _refuse_part_of_lake(path)
    if re.search(r"[*?\[]", path):
        _refuse_one_file_twice(path, map(Path, iglob(path, recursive=True)))
    return f"{reader}({literal(path)}{csv_options(csv) if reader == 'read_csv' else ''})"


_TYPES = "BIGINT", "DOUBLE", "TIME", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR"
"""What DuckDB looks for in a CSV file, but BOOLEAN, by which yes and no would be released as true and false."""


def csv_options(csv: CsvFormat | None) -> str:
    """How a CSV file is read, as options of DuckDB's reader after its path: values stay as they are written."""
    types = f", auto_type_candidates = [{', '.join(map(literal, _TYPES))}]"
    if csv is None:
        return types
    values = {
        "encoding": csv.encoding,
        "delim": "\t" if csv.delimiter == "tab" else csv.delimiter,
        "decimal_separator": None if csv.decimal is None else {"comma": ",", "point": "."}[csv.decimal],
        "dateformat": csv.dates,
    }
    written = "".join(f", {name} = {literal(value)}" for name, value in values.items() if value is not None)
    text = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in csv.text)
    return f"{types}{written}, types = {{{text}}}" if text else types + written


_NAMES = re.compile(r'"(?:[^"]|"")+"(?:\."(?:[^"]|"")+"){0,2}')
_OF_A_FILE = re.compile(r"://|\.(?:csv|tsv|parquet|json|jsonl|ndjson|xlsx|avro)(?:\.\w+)?$", re.IGNORECASE)


def file_parts(relation: str) -> tuple[str, ...]:
    """The parts of a table's quoted name that DuckDB takes for a file's where there is no such table; else none."""
    if not _NAMES.fullmatch(relation):
        return ()
    parts = parse_table_name(relation)
    return parts if _OF_A_FILE.search(".".join(parts)) else ()


def no_table_but_file(name: str, label: str) -> str:
    """The message about a file in the place of a table: DuckDB would guess its types, and 1.0 and 1.00 become one."""
    if not Path(name).exists():
        return f"there is no table {name!r} in {label}, and no such file either; check the name, and the directory"
    return (
        f"there is no table {name!r} in {label}, but a file; write source: {{file: {name}}}, or the same for "
        "release. Elsewhere a table is needed: load the file into one, with CREATE TABLE ... AS SELECT * FROM "
        "read_csv(..., all_varchar = true), which keeps 1.0 and 1.00 different"
    )


def _pattern(path: str) -> str:
    """What matches the Parquet files in a directory and those below it."""
    directory = Path(path)
    if _is_iceberg(directory):
        raise SpecError(
            f"source file {path}: it is a table of Apache Iceberg, whose files alone do not determine its rows; "
            "load it with pyiceberg, and pass that table to the function in Python"
        )
    _refuse_part_of_lake(path)
    files = list(directory.rglob("*.parquet"))
    for file in files:
        _refuse_no_part(path, directory, file)
    _refuse_one_file_twice(path, files)
    if not files:
        raise SpecError(
            f"source file {path}: it is a directory without a file that ends in .parquet; for CSV files write a "
            f"pattern, such as {directory / '*.csv'}"
        )
    escaped = re.sub(r"([*?\[])", r"[\1]", str(directory))
    return f"{escaped}/**/*.parquet"


def _is_iceberg(directory: Path) -> bool:
    return any((directory / "metadata").glob("*.metadata.json"))


def _table_around(file: Path, *, below: Path | None = None) -> Path | None:
    """The table of Delta Lake or Iceberg that a file lies in; None for none.

    Args:
        file: the file, or a pattern.
        below: look for tables in this directory alone.
    """
    inner = file
    for outer in file.parents:
        if is_delta(str(outer)) or (re.search(r"^data$|[*?\[]", inner.name) and _is_iceberg(outer)):
            return outer
        if outer == below:
            return None
        inner = outer
    return None


def _refuse_part_of_lake(path: str) -> None:
    """Refuse files of a table of Delta Lake or Iceberg: with those that were replaced, a row would count twice."""
    table = _table_around(Path(path).absolute())
    if table is not None:
        raise SpecError(
            f"source file {path}: it is inside a table of Delta Lake or Apache Iceberg, whose files alone do not "
            f"determine its rows; name the table of Delta Lake, {table}, or load one of Iceberg with pyiceberg, "
            "and pass that table to the function in Python"
        )


def _refuse_no_part(path: str, directory: Path, file: Path) -> None:
    """Refuse a file that others who read the directory leave out.

    Writers put rows under such names until they are whole; where a writer was killed, they stay, and the same rows are
    written again under another name. Counted twice, a row of one person would be a class of two.
    """
    hidden = [
        part for part in file.relative_to(directory).parts if part[0] == "." or (part[0] == "_" and "=" not in part)
    ]
    if hidden:
        raise SpecError(
            f"source file {path}: {file} would be read, and a name that begins with . or _ marks a file that is "
            "incomplete or not part of the table; remove it, or write a pattern that does not match it"
        )
    table = _table_around(file, below=directory)
    if table is not None:
        raise SpecError(
            f"source file {path}: it holds {table}, a table of Delta Lake or Apache Iceberg, whose files alone "
            "do not determine its rows; read that table by itself"
        )


def _refuse_one_file_twice(path: str, files: Iterable[Path]) -> None:
    """Refuse files of which one is a link to another one, such as to the latest: every row of it would count twice."""
    names: dict[tuple[int, int], Path] = {}
    for file in files:
        if not file.is_file():
            continue
        about = file.stat()
        other = names.setdefault((about.st_dev, about.st_ino), file)
        if other != file:
            raise SpecError(
                f"source file {path}: {other} and {file} are one file by two names, and its rows would count twice; "
                "remove the link, or write a pattern that only one of them matches"
            )


class AttachedLakes:
    """Tables of Delta Lake that a connection reads by a name, each in one version for as long as a run lasts.

    Args:
        connection: DuckDB's.
        versions: path -> what is read; kept up to date.
        quote: how a name is written.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        versions: dict[str, Mapping[str, str | int]],
        quote: Callable[[str], str],
    ) -> None:
        self._connection = connection
        self._versions = versions
        self._quote = quote
        self._names: dict[str, str] = {}

    def relation(self, path: str) -> str | None:
        """The FROM form of a directory that is a table of Delta Lake; None for anything else.

        Raises:
            UnsupportedError: deltalake is not installed, or the table cannot be read rightly.
            SpecError: a column holds what DuckDB would round.
        """
        if path not in self._names:
            if not is_delta(path):
                return None
            lake = delta_at(path)
            name = f"kanon_delta_{secrets.token_hex(4)}"
            self._connection.register(name, lake.data)
            self._names[path], self._versions[path] = name, lake.version
        return self._quote(self._names[path])

    def close(self) -> None:
        """Forget the versions: the next run reads the newest."""
        for path, name in self._names.items():
            with suppress(Exception):  # the connection was closed by its owner, or by an error of DuckDB's own
                self._connection.unregister(name)
            self._versions.pop(path, None)
        self._names.clear()
