"""What an object of another library is, by the names of its class: none of these libraries is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from kanon_sql.errors import UnsupportedError

__all__ = [
    "CONNECTIONS",
    "TABLES",
    "ConnectionKind",
    "TableKind",
    "connection_kind",
    "connection_of_ibis",
    "shown_kind",
    "table_kind",
]

CONNECTIONS = (
    "a URL, a connection of DuckDB, sqlite3 or psycopg, a SQLAlchemy engine or connection, a clickhouse-connect "
    "client, a SparkSession, or a backend of ibis"
)
"""What can be used as a database, in words."""

TABLES = (
    "a DataFrame of pandas, polars or Spark, a pyarrow Table, RecordBatch or Dataset, a DuckDB relation, a table of "
    "ibis, a DeltaTable, or a table or scan of pyiceberg"
)
"""What can be used as a table, in words."""

ConnectionKind = Literal["duckdb", "sqlite3", "psycopg", "sqlalchemy", "clickhouse", "spark", "ibis"]
TableKind = Literal["pandas", "polars", "arrow", "relation", "spark", "ibis", "delta", "iceberg", "dataset"]

_CONNECTIONS: Mapping[tuple[str, str], ConnectionKind] = {
    ("duckdb", "DuckDBPyConnection"): "duckdb",
    ("sqlite3", "Connection"): "sqlite3",
    ("psycopg", "Connection"): "psycopg",
    ("sqlalchemy", "Engine"): "sqlalchemy",
    ("sqlalchemy", "Connection"): "sqlalchemy",
    ("clickhouse_connect", "Client"): "clickhouse",
    ("pyspark.sql", "SparkSession"): "spark",
    ("ibis", "BaseBackend"): "ibis",
}
"""Package and class -> kind."""

_TABLES: Mapping[tuple[str, str], TableKind] = {
    ("pandas", "DataFrame"): "pandas",
    ("polars", "DataFrame"): "polars",
    ("pyarrow", "Table"): "arrow",
    ("pyarrow", "RecordBatch"): "arrow",
    ("duckdb", "DuckDBPyRelation"): "relation",
    ("pyspark.sql", "DataFrame"): "spark",
    ("ibis", "Table"): "ibis",
    ("deltalake", "DeltaTable"): "delta",
    ("pyiceberg", "Table"): "iceberg",
    ("pyiceberg", "DataScan"): "iceberg",
    ("pyarrow", "Dataset"): "dataset",
}

_HINTS = {
    ("polars", "LazyFrame"): "call its collect()",
    ("pandas", "Series"): "call its to_frame()",
    ("pyarrow", "RecordBatchReader"): "call its read_all()",
    ("pyarrow", "Scanner"): "give the dataset that it scans",
    ("pyspark.pandas", "DataFrame"): "call its to_spark()",
    ("dask", "DataFrame"): "call its compute()",
    ("sqlalchemy", "Session"): "give the engine that it is bound to",
    ("sqlalchemy", "AsyncEngine"): "give its sync_engine",
    ("psycopg", "AsyncConnection"): "give a psycopg.Connection",
}
"""Package and class -> what makes something of it that can be used."""

_BEHIND_IBIS = {"duckdb": "con", "sqlite": "con", "postgres": "con", "clickhouse": "con", "pyspark": "_session"}
"""ibis's name of a backend -> its attribute that holds the connection."""


def _found(given: object, kinds: Mapping[tuple[str, str], Any]) -> Any:
    """What an object is, by the package and the name of its class or of one that it is derived from; or None."""
    for cls in type(given).__mro__:
        module = cls.__module__.lstrip("_")
        for (package, name), kind in kinds.items():
            if cls.__name__ == name and (module == package or module.startswith(f"{package}.")):
                return kind
    return None


def connection_kind(given: object) -> ConnectionKind | None:
    """Whose connection an object is; None where it is none that can be used."""
    found: ConnectionKind | None = _found(given, _CONNECTIONS)
    return found


def table_kind(given: object) -> TableKind | None:
    """Whose table an object is; None where it is none that can be used."""
    found: TableKind | None = _found(given, _TABLES)
    return found


def shown_kind(given: object) -> str:
    """What an object is, for a message that refuses it; never a value, which it may hold."""
    name = f"{type(given).__module__}.{type(given).__name__}".removeprefix("builtins.")
    hint = _found(given, _HINTS)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}{'' if hint is None else f' ({hint})'}"


def connection_of_ibis(backend: Any) -> Any:
    """The connection that a backend of ibis holds.

    Raises:
        UnsupportedError: it is none that can be used.
    """
    attribute = _BEHIND_IBIS.get(str(backend.name))
    connection = None if attribute is None else getattr(backend, attribute, None)
    if connection is None or connection_kind(connection) in (None, "ibis"):
        known = ", ".join(sorted(_BEHIND_IBIS))
        raise UnsupportedError(
            f"the connection of ibis's backend {backend.name} cannot be used; give a backend for {known}, or the "
            "result of the table's to_pyarrow()"
        )
    return connection
