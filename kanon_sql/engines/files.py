"""Files that DuckDB reads as a source: Parquet, CSV, a directory of Parquet files, a table of Delta Lake."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_sql.engines.lakes import delta_at, is_delta
from kanon_sql.errors import SpecError
from kanon_sql.sql import literal

if TYPE_CHECKING:
    import duckdb

__all__ = ["AttachedLakes", "file_reader"]

_READERS = {
    ".parquet": "read_parquet",
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".csv.gz": "read_csv",
    ".tsv.gz": "read_csv",
}


def file_reader(path: str) -> str:
    """The FROM form of a file, of the files that a pattern matches, or of the Parquet files in a directory.

    Raises:
        SpecError: its name does not say what it is, or the directory holds no Parquet file.
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
    return f"{reader}({literal(path)})"


def _pattern(path: str) -> str:
    """What matches the Parquet files in a directory and those below it."""
    directory = Path(path)
    if any((directory / "metadata").glob("*.metadata.json")):
        raise SpecError(
            f"source file {path}: it is a table of Apache Iceberg, whose files alone do not say what its rows are; "
            "load it by pyiceberg, and give that table to the verb in Python"
        )
    if next(directory.rglob("*.parquet"), None) is None:
        raise SpecError(
            f"source file {path}: it is a directory without a file that ends in .parquet; for CSV files write a "
            f"pattern, such as {directory / '*.csv'}"
        )
    escaped = re.sub(r"([*?\[])", r"[\1]", str(directory))
    return f"{escaped}/**/*.parquet"


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
