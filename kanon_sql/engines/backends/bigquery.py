"""BigQuery, by sqlalchemy-bigquery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kanon_sql.engines.backends.base import backend
from kanon_sql.engines.backends.warehouse import Warehouse
from kanon_sql.engines.base import Capabilities, Estimate
from kanon_sql.sql import dialect_named

if TYPE_CHECKING:
    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["BigQueryBackend"]


@backend
class BigQueryBackend(Warehouse):
    """BigQuery: a dataset for scratch tables, releases exchanged by a copy in one statement."""

    scheme = "bigquery"
    driver = "sqlalchemy_bigquery"
    url = "bigquery"
    dialect = dialect_named("bigquery")
    capabilities = Capabilities(
        transactional_ddl=False, atomic_replace=True, temp_tables=False, files=False, folds_names=False
    )
    extra = "bigquery"
    effects = frozenset({"generate_uuid", "rand"})
    autocommit = False
    codes = r"\b(400|401|403|404|409|500|503)\b"
    cancels = r"job execution was cancell?ed|job.* was cancell?ed by user"
    current_schema = "@@dataset_id"

    def sent(self, sql: str) -> str:
        """The driver takes ``%%`` for an escaped ``%``, also without parameters."""
        return sql.replace("%", "%%")

    def version(self, engine: RelationalEngine) -> str:
        """A service without versions."""
        return "service"

    def type_name(self, item: Sequence[Any]) -> str:
        """As the driver says; a TIMESTAMP is a point in time, a DATETIME is not."""
        return {"TIMESTAMP": "TIMESTAMP WITH TIME ZONE"}.get(item[1], str(item[1]))

    def information_schema(self, outer: Sequence[str]) -> str:
        """A dataset's own, since the project's is not open to everyone."""
        return ".".join([*map(self.dialect.quote, outer), "INFORMATION_SCHEMA"])

    def comment(self, engine: RelationalEngine, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        """The table's description."""
        *outer, name = full
        return self.text(
            engine,
            f"SELECT option_value FROM {self.information_schema(outer)}.TABLE_OPTIONS "
            f"WHERE table_name = {self.dialect.literal(name)} AND option_name = 'description'",
        )

    def estimate(self, engine: RelationalEngine, relation: str) -> Estimate | None:
        """A dry run: the bytes that would be billed."""
        from google.cloud.bigquery import QueryJobConfig

        config = QueryJobConfig(dry_run=True, use_query_cache=False)
        sql = f"SELECT * FROM {relation} AS kanon_relation"
        job = engine.driver_connection._client.query(sql, job_config=config)
        return Estimate(None, int(job.total_bytes_processed), "dry run")

    def cancel(self, engine: RelationalEngine) -> None:
        """The job that the running cursor waits for."""
        self._cursor.query_job.cancel()
