"""Trino, by its own SQLAlchemy dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kanon_sql.engines.backends.base import backend
from kanon_sql.engines.backends.warehouse import Warehouse
from kanon_sql.engines.base import Capabilities
from kanon_sql.sql import dialect_named

if TYPE_CHECKING:
    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["TrinoBackend"]


@backend
class TrinoBackend(Warehouse):
    """Trino over a connector that creates, renames and deletes, such as Iceberg or Delta Lake."""

    scheme = "trino"
    driver = "trino.sqlalchemy"
    url = "trino"
    dialect = dialect_named("trino")
    capabilities = Capabilities(
        transactional_ddl=False, atomic_replace=False, temp_tables=False, files=False, folds_names=True
    )
    extra = "trino"
    effects = frozenset({"rand", "random", "secure_rand", "secure_random", "shuffle", "uuid"})
    autocommit = False
    codes = r"name=[A-Z_]+"
    cancels = r"USER_CANCELED"
    current_schema = "current_schema"

    def settings(self) -> Sequence[str]:
        """Sort where we say so: Trino leaves ORDER BY out when it writes a table, and rows keep the source's order."""
        return ("SET SESSION skip_redundant_sort = false",)

    def comment(self, engine: RelationalEngine, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        """From the coordinator's own catalog."""
        conditions = zip(("catalog_name", "schema_name", "table_name"), map(self.dialect.literal, full), strict=True)
        where = " AND ".join(f"{column} = {value}" for column, value in conditions)
        return self.text(engine, f"SELECT comment FROM system.metadata.table_comments WHERE {where}")

    def version(self, engine: RelationalEngine) -> str:
        """The coordinator's version."""
        return str(self.first(engine, "SELECT version()")[0])
