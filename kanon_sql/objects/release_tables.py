"""A release as a table of the program's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from kanon_sql.errors import UnsupportedError

__all__ = ["Released"]


@dataclass(frozen=True)
class Released:
    """A published release, and nothing of its source.

    Attributes:
        kind: whose table it is: ``pandas``, ``polars``, ``arrow``, ``relation``, ``spark`` or ``ibis``.
        table: in memory; of Spark and ibis, the table in their database, which is read when it is asked for.
    """

    kind: str
    table: Any

    def to_frame(self) -> Any:
        """A table of the kind that was given; one in memory is a copy, so that changing it changes nothing here."""
        copied: Mapping[str, Callable[[], Any]] = {
            "pandas": lambda: self.table.copy(),
            "polars": lambda: self.table.clone(),
        }
        return copied.get(self.kind, lambda: self.table)()

    def to_arrow(self) -> Any:
        """A pyarrow Table."""
        pyarrow = _library("pyarrow")
        made: Mapping[str, Callable[[], Any]] = {
            "pandas": lambda: pyarrow.Table.from_pandas(self.table, preserve_index=False).replace_schema_metadata(),
            "polars": lambda: self.table.to_arrow(),
            "arrow": lambda: self.table,
            "relation": lambda: self.table.to_arrow_table(),
            "spark": lambda: self.table.toArrow(),
            "ibis": lambda: self.table.to_pyarrow(),
        }
        return made[self.kind]()

    def to_pandas(self) -> Any:
        """A pandas DataFrame."""
        _library("pandas")
        made: Mapping[str, Callable[[], Any]] = {
            "pandas": self.to_frame,
            "polars": lambda: self.table.to_pandas(),
            "spark": lambda: self.table.toPandas(),
            "ibis": lambda: self.table.to_pandas(),
        }
        return made.get(self.kind, lambda: self.to_arrow().to_pandas())()

    def to_polars(self) -> Any:
        """A polars DataFrame."""
        polars = _library("polars")
        if self.kind == "polars":
            return self.to_frame()
        return polars.from_arrow(self.to_arrow())


def _library(name: str) -> Any:
    """A library that a release is wanted as a table of.

    Raises:
        UnsupportedError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise UnsupportedError(f"{name} is not installed; pip install {name}") from None
