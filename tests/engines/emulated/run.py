"""Run specs on an emulator of a warehouse: ``python run.py NAME`` reads cases and writes what verbs said, as JSON.

The Python that runs it has the drivers (``.ci/warehouses.txt``); that of BigQuery's emulator, whose sqlglot is an older
one, is named by ``KANON_BIGQUERY``. Nothing of the tests' environment is imported here but kanon_sql.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

Run = Callable[[str], list[tuple[Any, ...]]]


# --- The emulators ---------------------------------------------------------------------------------------------------

BIGQUERY_SERVER = """
from duckdb_extensions import import_extension
import_extension("spatial")  # which it would fetch from a host
from bqemulator.cli import main
main()
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def bigquery_server(folder: Path) -> Iterator[str]:
    """An emulator of BigQuery's service on this machine. Its extension of DuckDB is installed in the folder."""
    port = free_port()
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [os.environ["KANON_BIGQUERY"], "-c", BIGQUERY_SERVER, "start", "--rest-host", "127.0.0.1",
             "--grpc-host", "127.0.0.1", "--rest-port", str(port), "--grpc-port", str(free_port())],
            stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "HOME": str(folder)},
        )  # fmt: skip
    try:
        address, deadline = f"http://127.0.0.1:{port}", time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"{address}/healthz").close()
                break
            except OSError:
                if server.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((folder / "log").read_text()[-2000:]) from None
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()


@contextmanager
def bigquery() -> Iterator[tuple[Callable[[], Any], Run, str]]:
    """BigQuery. A dataset that is not named is not described by the emulator, so that names have theirs."""
    with tempfile.TemporaryDirectory() as folder, bigquery_server(Path(folder)) as address:
        os.environ["BIGQUERY_EMULATOR_HOST"] = address
        import google.auth
        import sqlalchemy
        from google.auth.credentials import AnonymousCredentials
        from google.cloud.bigquery import Client

        import kanon_sql

        anonymous = AnonymousCredentials()
        google.auth.default = lambda **_: (anonymous, "project")
        client = Client(project="project", credentials=anonymous)
        for name in ("clinic", "scratch"):
            client.create_dataset(name)
        engine = sqlalchemy.create_engine("bigquery://project/clinic")

        def run(sql: str) -> list[tuple[Any, ...]]:
            with engine.connect() as connection:
                found = connection.exec_driver_sql(sql.replace("%", "%%"))
                return [tuple(row) for row in found.fetchall()] if sql.startswith("SELECT") else []

        yield lambda: kanon_sql.connect("bigquery://project/clinic", scratch="schema:scratch"), run, "clinic."


def accepted_by_fakesnow(statement: str) -> str:
    """What it cannot parse, as what it can: settings of a session, and a column that has the empty collation."""
    if "ALTER SESSION" in statement:
        return "SELECT 1"
    return re.sub(" COLLATE ''", "", statement) if "CREATE TABLE" in statement else statement


@contextmanager
def snowflake() -> Iterator[tuple[Callable[[], Any], Run, str]]:
    """Snowflake's connector with its answers from DuckDB, behind the real dialect of SQLAlchemy."""
    warnings.simplefilter("ignore")
    import fakesnow
    import sqlalchemy

    import kanon_sql

    with fakesnow.patch():
        engine = sqlalchemy.create_engine("snowflake://ada:secret@account/CLINIC/PUBLIC")

        def run(sql: str) -> list[tuple[Any, ...]]:
            with engine.begin() as connection:
                found = connection.exec_driver_sql(sql)
                return [tuple(row) for row in found.fetchall()] if sql.startswith("SELECT") else []

        run("SELECT 1")
        sqlalchemy.event.listen(
            engine, "before_cursor_execute",
            lambda _connection, _cursor, sql, parameters, *_: (accepted_by_fakesnow(sql), parameters), retval=True,
        )  # fmt: skip
        yield lambda: kanon_sql.connect(engine), run, ""


# --- What is run on them ---------------------------------------------------------------------------------------------


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def policies_of(spec: Any) -> list[str]:
    """The statements of BigQuery's policies; fakesnow has none of Snowflake's."""
    from kanon_sql.verbs.policies import policies

    text = re.sub("--[^\n]*\n", "\n", policies(spec, "bigquery", "group:analysts@example.org"))
    return [part.strip() for part in text.split(";") if part.strip()]


def answers(connect: Callable[[], Any], run: Run, place: str, case: dict[str, Any], types: dict[str, str]) -> Any:
    """What the verbs of a case say of its table.

    Args:
        connect: opens an engine.
        run: runs a statement beside it.
        place: what names of tables begin with.
        case: ``columns`` (name -> int or str), ``rows``, ``spec`` without source and release, and ``verbs``.
        types: int and str as the database calls them.
    """
    import kanon_sql
    import kanon_sql.verbs.functions

    name, said = case["name"], []
    quote = "`" if place else '"'
    columns = ", ".join(f"{quote}{column}{quote} {types[kind]}" for column, kind in case["columns"].items())
    run(f"CREATE TABLE {place}{name} ({columns})")
    for rows in (case["rows"][start : start + 200] for start in range(0, len(case["rows"]), 200)):
        run(f"INSERT INTO {place}{name} VALUES {', '.join('(' + ', '.join(map(literal, row)) + ')' for row in rows)}")
    spec = kanon_sql.Spec.from_dict({**case["spec"], "source": place + name, "release": f"{place}{name}_RELEASE"})
    for verb in case["verbs"]:
        if verb == "foreign":
            run(f"CREATE TABLE {place}{name}_RELEASE (A {types['int']})")
            continue
        if verb == "policies":
            for line in policies_of(spec) if place == "clinic." else ():
                run(line)
            said.append({"verb": verb})
            continue
        if verb == "function":
            with connect() as engine:
                text = kanon_sql.verbs.functions.check_function(engine, spec, place + name)
            if (body := re.search(r"AS \$\$\n(.*)\n\$\$;\n$", text, re.DOTALL)) is not None:
                rows = run(f"SELECT * FROM ({body[1]}) AS judged")  # fakesnow has no table functions
            else:
                run(text)
                rows = run(f"SELECT * FROM {text[len('-- ') : text.index(' returns a row')]}")
            said.append({"verb": verb, "rows": sorted(list(row) for row in rows if row[0] != "columns")})
            continue
        try:
            with connect() as engine:
                if verb == "check source":
                    result = kanon_sql.check(engine, spec, table=place + name)
                else:
                    result = getattr(kanon_sql, verb)(engine, spec)
        except kanon_sql.KanonError as error:
            said.append({"verb": verb, "error": str(error)})
            continue
        found = result.to_dict()
        kept = ("verb", "verdict", "node", "rows", "classes", "achieved", "metrics")  # a check has no node
        said.append({key: found[key] for key in kept if key in found})
        if verb == "anonymize":
            said[-1]["released"] = sorted(
                ([None if cell is None else str(cell) for cell in row]
                 for row in run(f"SELECT * FROM {place}{name}_RELEASE")), key=str
            )  # fmt: skip
    return said


TYPES = {"bigquery": {"int": "INT64", "str": "STRING"}, "snowflake": {"int": "INTEGER", "str": "VARCHAR"}}


def main(warehouse: str) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is stopped
    cases = json.load(sys.stdin)
    with {"bigquery": bigquery, "snowflake": snowflake}[warehouse]() as (connect, run, place):
        found = [answers(connect, run, place, case, TYPES[warehouse]) for case in cases]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
