"""Open a database for ``verify_certificate.py``, by the driver that Python has for it.

A database is a file (DuckDB, SQLite), a URL (postgresql://, mysql://, clickhouse://), chdb://DIRECTORY, or spark.
Who has a cursor calls ``verify`` with it, and needs none of this.
"""

import hashlib
import json
import math
from argparse import Namespace
from functools import partialmethod
from importlib import import_module
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

DRIVERS = {
    "duckdb": "duckdb", "postgres": "psycopg", "mariadb": "pymysql", "sqlite": "sqlite3", "spark": "pyspark.sql",
    "clickhouse": "clickhouse_connect.dbapi",
}  # fmt: skip


def opened(given):
    """A cursor for the statements of a certificate, by what was given on the command line."""
    content = json.loads((given.directory / "certificate.json").read_bytes())
    return cursor_of(content["made"]["dialect"], given.database, files=given.files)


def cursor_of(dialect, database, *, files=False):
    """A cursor by the driver that Python has for the engine: it only reads, where the engine knows how."""
    if dialect not in DRIVERS:
        raise SystemExit(f"there is no driver for {dialect} here; call verify(directory, cursor) with a DB-API cursor")
    driver, url = import_module(DRIVERS[dialect]), urlsplit(database)
    if dialect == "spark":
        run = driver.SparkSession.builder.getOrCreate().newSession().sql
        cursor = Namespace(fetchall=lambda: map(tuple, cursor.frame.collect()))
        named = lambda frame: {"frame": frame, "description": [(name,) for name in frame.columns]}  # noqa: E731
        cursor.execute = lambda sql: vars(cursor).update(named(run(sql)))
        return cursor
    if dialect == "duckdb":
        return driver.connect(database, read_only=True, config={"enable_external_access": str(files).lower()})
    if dialect == "postgres":
        return driver.connect("postgresql" + database[len(url.scheme) :], autocommit=True).cursor()
    if dialect == "mariadb":
        where = dict(parse_qsl(url.query), host=url.hostname, port=url.port or 3306, database=url.path.strip("/"))
        account = {"user": unquote(url.username or ""), "password": unquote(url.password or "")}
        return driver.connect(**where, **account, autocommit=True).cursor()
    if dialect == "clickhouse":
        where = {"interface": "chdb", "path": database[7:]} if url.scheme == "chdb" else {"dsn": database}
        whole = partialmethod(driver.cursor.Cursor.execute, pyformat_encoded=False)  # else two % would be run as one
        return type("Cursor", (driver.cursor.Cursor,), {"execute": whole})(driver.connect(**where).client)
    path = Path(database.split(":///")[-1]).absolute().as_uri()
    connection = driver.connect(f"{path}?mode=ro", uri=True, isolation_level=None)
    draw = lambda text: int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)  # noqa: E731
    for name, function in (("ln", math.log), ("floor", math.floor), ("kanon_draw", draw)):  # which SQLite may lack
        connection.create_function(name, 1, lambda value, call=function: None if value is None else call(value))
    return connection.cursor()
