"""The databases behind SQLAlchemy, by the name that its URLs begin with."""

from __future__ import annotations

from kanon_sql.engines.backends.base import Backend
from kanon_sql.engines.backends.bigquery import BigQueryBackend
from kanon_sql.engines.backends.databricks import DatabricksBackend
from kanon_sql.engines.backends.mssql import SQLServerBackend
from kanon_sql.engines.backends.mysql import MariaDBBackend, MySQLBackend
from kanon_sql.engines.backends.oracle import OracleBackend
from kanon_sql.engines.backends.postgres import PostgresBackend
from kanon_sql.engines.backends.redshift import RedshiftBackend
from kanon_sql.engines.backends.snowflake import SnowflakeBackend
from kanon_sql.engines.backends.sqlite import SQLiteBackend
from kanon_sql.engines.backends.trino import TrinoBackend
from kanon_sql.errors import UnsupportedError

__all__ = ["BACKENDS", "Backend", "backend_named"]

BACKENDS: dict[str, type[Backend]] = {
    "mysql": MySQLBackend,
    "mariadb": MariaDBBackend,
    "postgresql": PostgresBackend,
    "sqlite": SQLiteBackend,
    "snowflake": SnowflakeBackend,
    "bigquery": BigQueryBackend,
    "redshift": RedshiftBackend,
    "databricks": DatabricksBackend,
    "mssql": SQLServerBackend,
    "trino": TrinoBackend,
    "oracle": OracleBackend,
}


def backend_named(name: str) -> Backend:
    """The backend for a SQLAlchemy dialect name.

    Raises:
        UnsupportedError: there is none.
    """
    if name not in BACKENDS:
        raise UnsupportedError(f"{name} databases are not supported; expected one of {', '.join(sorted(BACKENDS))}")
    return BACKENDS[name]()
