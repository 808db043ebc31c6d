"""Snowflake, by snowflake-sqlalchemy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kanon_sql.engines.backends.base import backend
from kanon_sql.engines.backends.warehouse import Warehouse
from kanon_sql.engines.base import Capabilities
from kanon_sql.sql import dialect_named

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["SnowflakeBackend"]

_TYPES = {
    0: "NUMBER", 1: "FLOAT", 2: "TEXT", 3: "DATE", 4: "TIMESTAMP", 5: "VARIANT", 6: "TIMESTAMP WITH TIME ZONE",
    7: "TIMESTAMP WITH TIME ZONE", 8: "TIMESTAMP_NTZ", 9: "OBJECT", 10: "ARRAY", 11: "BINARY", 12: "TIME",
    13: "BOOLEAN",
}  # fmt: skip
"""The driver's type code -> type name."""


@backend
class SnowflakeBackend(Warehouse):
    """Snowflake: temporary tables in the session's schema, releases exchanged by SWAP."""

    scheme = "snowflake"
    driver = "snowflake.sqlalchemy"
    url = "snowflake"
    dialect = dialect_named("snowflake")
    capabilities = Capabilities(
        transactional_ddl=False, atomic_replace=True, temp_tables=True, files=False, folds_names=False
    )
    extra = "snowflake"
    effects = frozenset(
        {"normal", "random", "randstr", "seq1", "seq2", "seq4", "seq8", "uniform", "uuid_string", "zipf"}
    )
    codes = r"^\d{6} \([0-9A-Z]{5}\)"
    cancels = r"\b000604\b|SQL execution canceled"

    def settings(self) -> Sequence[str]:
        """Dates and timestamps in one form, and no collation that no user asked for."""
        return (
            "ALTER SESSION SET DATE_OUTPUT_FORMAT = 'YYYY-MM-DD', TIMESTAMP_NTZ_OUTPUT_FORMAT = "
            "'YYYY-MM-DD HH24:MI:SS.FF9', DEFAULT_DDL_COLLATION = '', QUOTED_IDENTIFIERS_IGNORE_CASE = FALSE",
        )

    def isolation(self, connection: Connection) -> str | None:
        """The driver cannot be asked; it begins with this one."""
        return str(connection.default_isolation_level)

    def version(self, engine: RelationalEngine) -> str:
        """The service's version."""
        return str(self.first(engine, "SELECT CURRENT_VERSION()")[0])

    def type_name(self, item: Sequence[Any]) -> str:
        """By the driver's type code; whole numbers have scale 0."""
        name = _TYPES.get(item[1], "OTHER")
        return f"NUMBER({item[4]}, {item[5]})" if name == "NUMBER" else name

    def cancel(self, engine: RelationalEngine) -> None:
        """All queries of this session, on a cursor of its own."""
        driver = engine.driver_connection
        driver.cursor().execute(f"SELECT SYSTEM$CANCEL_ALL_QUERIES({int(driver.session_id)})")
