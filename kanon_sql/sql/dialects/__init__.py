"""The dialects, by name."""

from __future__ import annotations

from kanon_sql.errors import UnsupportedError
from kanon_sql.sql.dialects.base import Dialect
from kanon_sql.sql.dialects.duckdb import DuckDB
from kanon_sql.sql.dialects.mysql import MariaDB, MySQL
from kanon_sql.sql.dialects.postgres import Postgres
from kanon_sql.sql.dialects.sqlite import SQLite

__all__ = ["DIALECTS", "Dialect", "dialect_named"]

DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (DuckDB(), Postgres(), MariaDB(), MySQL(), SQLite())}
"""Every dialect that SQL can be rendered for."""


def dialect_named(name: str) -> Dialect:
    """The dialect of a name.

    Raises:
        UnsupportedError: there is none.
    """
    if name not in DIALECTS:
        raise UnsupportedError(f"dialect {name!r} is not rendered; expected one of {', '.join(DIALECTS)}")
    return DIALECTS[name]
