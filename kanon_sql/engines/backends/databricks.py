"""Databricks SQL, by databricks-sqlalchemy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kanon_sql.engines.backends.base import backend
from kanon_sql.engines.backends.warehouse import Warehouse
from kanon_sql.engines.base import Capabilities
from kanon_sql.sql import dialect_named

if TYPE_CHECKING:
    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["DatabricksBackend"]


@backend
class DatabricksBackend(Warehouse):
    """Databricks with Unity Catalog: a schema for scratch tables, releases renamed one after the other."""

    scheme = "databricks"
    driver = "databricks.sqlalchemy"
    url = "databricks"
    dialect = dialect_named("databricks")
    capabilities = Capabilities(
        transactional_ddl=False, atomic_replace=False, temp_tables=False, files=False, folds_names=True
    )
    extra = "databricks"
    effects = frozenset({"java_method", "rand", "randn", "random", "randstr", "reflect", "shuffle", "uniform", "uuid"})
    autocommit = False
    codes = r"^\[[A-Z_]+(\.[A-Z_]+)*\]"
    cancels = r"cancell?ed|OPERATION_CANCELED"

    def settings(self) -> Sequence[str]:
        """A date of a moment is the same for anyone who asks."""
        return ("SET TIME ZONE 'UTC'",)

    def version(self, engine: RelationalEngine) -> str:
        """The version of Spark in it."""
        return str(self.first(engine, "SELECT version()")[0]).split()[0]
