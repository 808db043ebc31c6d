"""Amazon Redshift, by sqlalchemy-redshift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kanon_sql.engines.backends.base import backend
from kanon_sql.engines.backends.warehouse import Warehouse
from kanon_sql.engines.base import Capabilities
from kanon_sql.sql import dialect_named

if TYPE_CHECKING:
    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["RedshiftBackend"]

_TYPES = {
    16: "BOOLEAN", 20: "BIGINT", 21: "SMALLINT", 23: "INTEGER", 25: "TEXT", 700: "REAL", 701: "FLOAT8",
    1042: "CHAR", 1043: "VARCHAR", 1082: "DATE", 1114: "TIMESTAMP", 1184: "TIMESTAMP WITH TIME ZONE", 1700: "NUMERIC",
    18: "CHAR", 19: "VARCHAR", 1083: "TIME", 4000: "SUPER", 6551: "VARBYTE",
}  # fmt: skip
"""The protocol's type number -> type name."""


@backend
class RedshiftBackend(Warehouse):
    """Redshift: temporary tables, and DDL that can be rolled back."""

    scheme = "redshift"
    driver = "sqlalchemy_redshift"
    url = "redshift+redshift_connector"
    dialect = dialect_named("redshift")
    capabilities = Capabilities(
        transactional_ddl=True, atomic_replace=True, temp_tables=True, files=False, folds_names=True
    )
    extra = "redshift"
    effects = frozenset({"random"})
    codes = r"'C': '[0-9A-Z]{5}'"
    cancels = r"57014|query \(?\d*\)? ?cancel|cancell?ed on user"

    def prepare(self, engine: RelationalEngine, *, read_only: bool) -> None:
        """Dates in one form; the process to cancel is known from the start."""
        super().prepare(engine, read_only=read_only)
        (self._process,) = self.first(engine, "SELECT pg_backend_pid()")

    def settings(self) -> Sequence[str]:
        """Dates in one form."""
        return ("SET datestyle TO 'ISO, YMD'",)

    def version(self, engine: RelationalEngine) -> str:
        """The last word of what the server says of itself."""
        return str(self.first(engine, "SELECT version()")[0]).split()[-1]

    def type_name(self, item: Sequence[Any]) -> str:
        """By the protocol's number; a NUMERIC may have decimals."""
        return _TYPES.get(item[1], "OTHER")

    def comment(self, engine: RelationalEngine, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        """The comment on the table, as PostgreSQL keeps it."""
        schema, name = map(self.dialect.literal, full[-2:])
        return self.text(
            engine,
            "SELECT about.description FROM pg_catalog.pg_class AS relation "
            "JOIN pg_catalog.pg_namespace AS space ON space.oid = relation.relnamespace "
            "JOIN pg_catalog.pg_description AS about ON about.objoid = relation.oid AND about.objsubid = 0 "
            f"WHERE space.nspname = {schema} AND relation.relname = {name}",
        )

    def cancel(self, engine: RelationalEngine) -> None:
        """On a connection of its own: the drivers wait for the answer on this one."""
        with engine._connection.engine.connect() as other:
            other.exec_driver_sql(f"SELECT pg_cancel_backend({int(self._process)})").close()
