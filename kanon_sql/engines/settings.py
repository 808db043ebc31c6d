"""What a session has to be told before SQL of ours means in it what it means to the engines here."""

from __future__ import annotations

from kanon_sql.engines.base import Engine

__all__ = ["session_statements"]


def session_statements(engine: Engine) -> list[str]:
    """Statements for a session of another user, who runs what was written for this engine.

    They say how NULL is joined, in which zone a moment is shown, how texts compare, and that a wrong cast is an error:
    the part of what :func:`kanon_sql.connect` sets on which an answer depends, or that it comes at all.
    """
    dialect = engine.dialect
    name, literal = dialect.name, dialect.literal
    if name == "duckdb":
        return ["SET TimeZone = 'UTC'"]
    if name == "postgres":
        from kanon_sql.engines.backends.postgres import PLANS
        from kanon_sql.engines.backends.postgres import SETTINGS as OF_POSTGRES

        return [f"SET {key} = {literal(value)}" for key, value in (OF_POSTGRES | PLANS).items()]
    if name == "mariadb":
        from kanon_sql.engines.backends.mysql import MODE, MariaDBBackend

        longest = 4 * MariaDBBackend.dialect.longest_text + 16
        return [
            f"SET NAMES utf8mb4 COLLATE {MariaDBBackend.dialect.collation}",
            f"SET SESSION sql_mode = {literal(MODE)}, time_zone = '+00:00', join_cache_level = 2, "
            f"max_sort_length = {longest}, sort_buffer_size = {512 * longest}, default_tmp_storage_engine = 'Aria'",
        ]
    if name == "clickhouse":
        from kanon_sql.engines.clickhouse_settings import SETTINGS as OF_CLICKHOUSE
        from kanon_sql.engines.clickhouse_settings import assigned

        return [f"SET {assigned(OF_CLICKHOUSE)}"]
    if name == "spark":
        from kanon_sql.engines.spark import SETTINGS as OF_SPARK

        return [f"SET {key} = {value}" for key, value in OF_SPARK.items() if value is not None]
    return []
