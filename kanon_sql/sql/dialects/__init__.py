"""The dialects, by name."""

from __future__ import annotations

from kanon_sql.errors import UnsupportedError
from kanon_sql.sql.dialects.base import Dialect
from kanon_sql.sql.dialects.bigquery import BigQuery
from kanon_sql.sql.dialects.clickhouse import ClickHouse
from kanon_sql.sql.dialects.databricks import Databricks
from kanon_sql.sql.dialects.duckdb import DuckDB
from kanon_sql.sql.dialects.mysql import MariaDB, MySQL
from kanon_sql.sql.dialects.oracle import Oracle
from kanon_sql.sql.dialects.postgres import Postgres
from kanon_sql.sql.dialects.redshift import Redshift
from kanon_sql.sql.dialects.snowflake import Snowflake
from kanon_sql.sql.dialects.spark import Spark
from kanon_sql.sql.dialects.sqlite import SQLite
from kanon_sql.sql.dialects.trino import Trino
from kanon_sql.sql.dialects.tsql import TSQL

__all__ = ["DIALECTS", "PORTABLE", "Dialect", "dialect_named"]

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        DuckDB(),
        Postgres(),
        MariaDB(),
        MySQL(),
        SQLite(),
        ClickHouse(),
        Spark(),
        Snowflake(),
        BigQuery(),
        Redshift(),
        Databricks(),
        TSQL(),
        Trino(),
        Oracle(),
    )
}
"""Every dialect that SQL can be rendered for."""

PORTABLE = DIALECTS["duckdb"]
"""What templates are written in."""


def dialect_named(name: str) -> Dialect:
    """The dialect of a name.

    Raises:
        UnsupportedError: there is none.
    """
    if name not in DIALECTS:
        raise UnsupportedError(f"dialect {name!r} is not rendered; expected one of {', '.join(DIALECTS)}")
    return DIALECTS[name]
