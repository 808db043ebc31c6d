"""MariaDB: a private mariadbd with a data directory of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from kanon_sql.sql.dialects import dialect_named
from kanon_sql.testing.subject import TYPES
from tests.servers.base import Missing, UrlSubject, copy_of, give_back, prepared, server_for

SETTINGS = (
    "--skip-networking",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-buffer-pool-size=64M",
    "--innodb-log-file-size=16M",
    "--innodb-doublewrite=OFF",
    "--innodb-use-native-aio=OFF",
    "--sync-binlog=0",
    "--performance-schema=OFF",
    # Defaults that merge texts and forgive errors: kanon_sql must not depend on the server's.
    "--character-set-server=latin1",
    "--collation-server=latin1_swedish_ci",
    "--sql-mode=",
)
START_SECONDS = 60
OF_THE_SERVER = {"information_schema", "mysql", "performance_schema", "sys"}


def executable(name: str) -> str:
    """A program of the server's package, which may be installed where only root's PATH looks."""
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))
    if found is None:
        raise Missing(f"{name} is not installed")
    return found


def installed(directory: Path) -> None:
    """Fill a directory with the data of a server without databases."""
    with (directory / "log").open("wb") as log:
        subprocess.run(
            [executable("mariadb-install-db"), "--no-defaults", "--user=root", f"--datadir={directory / 'data'}",
             f"--tmpdir={directory}", "--auth-root-authentication-method=normal", "--skip-test-db"],
            stdout=log, stderr=log, check=True,
        )  # fmt: skip


class MariaDBServer:
    """A server that listens on a socket in its own directory and nowhere else."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="kanon_mariadb_"))
        self.socket = self.directory / "socket"
        common = ["--no-defaults", "--user=root", f"--datadir={self.directory / 'data'}"]
        common.append(f"--tmpdir={self.directory}")  # a server that starts deletes what others left in a shared one
        copy_of(prepared(installed), self.directory)
        with (self.directory / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [executable("mariadbd"), *common, f"--socket={self.socket}",
                 f"--pid-file={self.directory / 'pid'}", *SETTINGS],
                stdout=log, stderr=log, env={**os.environ, "TZ": "Europe/Berlin"},
            )  # fmt: skip
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def url(self, user: str = "root", password: str = "", database: str = "kanon") -> str:
        secret = f":{password}" if password else ""
        return f"mariadb+pymysql://{user}{secret}@localhost/{database}?unix_socket={self.socket}"

    def _wait(self) -> None:
        import pymysql

        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                with pymysql.connect(unix_socket=str(self.socket), user="root") as connection:
                    connection.cursor().execute("CREATE DATABASE kanon")
                    self._state = self._found(connection)
                return
            except pymysql.err.OperationalError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    @staticmethod
    def _found(connection: Any) -> list[Any]:
        """What a server has besides databases: variables, users and rights, functions, and who is connected."""
        cursor = connection.cursor()
        found = []
        for query in (
            "SHOW GLOBAL VARIABLES",
            "XA RECOVER",
            "SELECT user FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user <> 'system user'",
        ):
            cursor.execute(query)
            found.append(cursor.fetchall())
        cursor.execute(
            "SELECT GROUP_CONCAT('mysql.', table_name ORDER BY table_name) FROM information_schema.tables "
            "WHERE table_schema = 'mysql' AND engine IN ('Aria', 'MyISAM')"
        )
        ((tables,),) = cursor.fetchall()
        cursor.execute(f"CHECKSUM TABLE {tables}")
        return [*found, cursor.fetchall()]

    def restore(self) -> bool:
        """Drop all databases, and make the first one anew."""
        import pymysql

        try:
            with pymysql.connect(unix_socket=str(self.socket), user="root") as connection:
                cursor = connection.cursor()
                cursor.execute(
                    "SELECT id FROM information_schema.processlist "
                    "WHERE id <> CONNECTION_ID() AND user NOT IN ('system user', 'event_scheduler')"
                )
                for (other,) in cursor.fetchall():
                    cursor.execute(f"KILL CONNECTION {other}")
                cursor.execute("SHOW DATABASES")
                for (name,) in cursor.fetchall():
                    if name not in OF_THE_SERVER:
                        cursor.execute(f"DROP DATABASE `{name.replace('`', '``')}`")
                cursor.execute("CREATE DATABASE kanon")
                return self._found(connection) == self._state
        except pymysql.err.Error:
            return False

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


class MariaDBSubject(UrlSubject):
    name = "mariadb"
    dialect = dialect_named("mariadb")
    types: ClassVar = {
        **TYPES,
        "text": "LONGTEXT",
        "single": "FLOAT",
        "timestamp": "DATETIME(6)",
        "moment": "TIMESTAMP(6) NULL",
    }
    strange: ClassVar = {
        "TIMESTAMP(6) NULL": (
            "'1970-01-01 00:00:00.999999'", "'1970-01-01 00:00:00.000001'", "'1970-01-01 00:00:01'", "'0000-00-00'",
            "'2038-01-19 03:14:07.999999'",
        ),
        "DATETIME(6)": (
            "'0000-00-00'", "'0000-00-00 00:00:00.999999'", "'2001-00-00'", "'2001-02-30'", "'2001-02-31'",
            "'9999-12-31 23:59:59.999999'", "'0000-01-01'", "'1970-01-01 00:00:00.999999'",
        ),
        "DATETIME": ("'2001-02-30'", "'2001-03-02'", "'0000-00-00'", "'2001-01-00'"),
        "DATE": ("'0000-00-00'", "'2001-02-30'", "'2001-02-31'", "'2001-02-28'", "'2001-00-00'", "'9999-12-31'"),
        "TIME(6)": ("'-838:59:59.999999'", "'838:59:59.999999'", "'00:00:00'", "'-00:00:00.000001'"),
        "YEAR": ("'0000'", "2155", "1901", "2001"),
        "BIT(1)": ("0", "1"),
        "ENUM('a', 'b', '1')": ("''", "'a'", "'b'", "'1'"),
        "SET('a', 'b')": ("''", "'a'", "'b'", "'a,b'"),
        "JSON": ("'{\"a\":1}'", "'{\"a\": 1}'", "'null'"),
        "CHAR(5)": ("'a'", "'A'", "''", "'ä'"),
        "VARCHAR(9)": ("'a'", "'a '", "'A'", "''", "'ß'", "'ss'"),
        "VARBINARY(4)": ("'a'", "'a '", "''", "0x00", "0x0000"),
        "DOUBLE": ("0", "1e308", "5e-324", "0.1", "0.1e0 + 0.2e0"),
        "FLOAT": ("0", "0.1", "16777216", "3.4e38"),
        "DECIMAL(65, 30)": ("0", "0.000000000000000000000000000001", "99999999999999999999999999999999999"),
        "BIGINT UNSIGNED": ("0", "18446744073709551615", "9223372036854775808", "18446744073709551614"),
        "UUID": ("'00000000-0000-0000-0000-000000000000'", "'123e4567-e89b-12d3-a456-426655440000'"),
    }  # fmt: skip
    slow = (
        "SELECT COUNT(*) AS n FROM seq_1_to_1000000 AS a CROSS JOIN seq_1_to_1000000 AS b WHERE (a.seq * b.seq) % 7 = 9"
    )

    def __init__(self) -> None:
        try:
            import pymysql  # noqa: F401
        except ImportError as error:
            raise Missing(f"{error.name} is not installed") from None
        executable("mariadbd")
        self.server: MariaDBServer = server_for(self.name, MariaDBServer)
        super().__init__(self.server.url())
        self.execute("SET time_zone = '+00:00', sql_mode = 'ALLOW_INVALID_DATES'")

    def value(self, value: Any, kind: str) -> str:
        """Times as the session shows them; there is no cast to TIMESTAMP."""
        if isinstance(value, datetime):
            return self.dialect.literal(value.replace(tzinfo=None).isoformat(sep=" "))
        return super().value(value, kind)

    def create(self, quoted: str, columns: str) -> str:
        """In a collation that merges what it can: ours must not care."""
        return f"CREATE TABLE {quoted} ({columns}) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"

    def tables(self) -> list[str]:
        found = self.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
        return [name for (name,) in found]

    def schema(self, name: str) -> tuple[str, ...]:
        self.execute(f"CREATE DATABASE IF NOT EXISTS {name}")
        return (name,)

    def close(self) -> None:
        super().close()
        if self.gives_back:
            give_back(self.name, self.server)
        else:
            self.server.stop()
