"""What runs out of memory or of disk, a database or the output, says so and leaves nothing half done."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.backends import BACKENDS
from kanon_sql.engines.duckdb_errors import duckdb_error
from kanon_sql.errors import DatabaseError, HierarchyError
from kanon_sql.hierarchies import files
from kanon_sql.hierarchies.files import write_hierarchy
from kanon_sql.spec import Spec
from tests.support import command_line

SPEC = Spec.from_dict(
    {
        "version": 1,
        "source": "t",
        "release": "released",
        "quasi_identifiers": {"a": {"intervals": [5, 10]}, "b": {"prefix": [2, 1]}},
        "privacy": [{"k_anonymity": {"k": 2}}],
    }
)
ROWS = "SELECT CAST(i % 100 AS INTEGER) AS a, CAST(i AS VARCHAR) AS b FROM range(60000) AS r (i)"
OURS = {"kanon_sql_scratch", "kanon_sql_manifest"}
"""Tables that stay: of scratch tables to clean up, and of releases."""

# --- DuckDB --------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t AS {ROWS}")
    return tmp_path / "d.duckdb"


def tables(connection: duckdb.DuckDBPyConnection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT table_name FROM information_schema.tables").fetchall()}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("limit", ["1KB", "1MB", "5MB"])
@pytest.mark.parametrize("verb", ["plan", "anonymize", "check", "risk"])
def test_a_small_memory_limit_is_named(verb: str, limit: str, file: Path) -> None:
    more = {"check": ("t",), "risk": ("t",)}.get(verb, ())
    with (
        pytest.raises(DatabaseError, match=r"ran out of memory: its memory_limit.*allow more \(--set memory_limit"),
        kanon_sql.connect(str(file), memory_limit=limit) as engine,
    ):
        getattr(kanon_sql, verb)(engine, SPEC, *more)
    with duckdb.connect(str(file)) as connection:
        assert tables(connection) <= {"t", *OURS}


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("limit", ["1MB", "5MB"])
def test_a_connection_of_the_user_is_as_it_was(limit: str, file: Path) -> None:
    with duckdb.connect(str(file)) as connection:
        connection.execute("SET TimeZone = 'Europe/Berlin'")
        engine = kanon_sql.connect(connection)
        connection.execute(f"SET memory_limit = '{limit}'")
        with pytest.raises(DatabaseError, match="ran out of memory"):
            kanon_sql.anonymize(engine, SPEC)
        with pytest.raises(DatabaseError, match="connect: DuckDB ran out of memory"):
            kanon_sql.connect(connection)
        connection.execute("SET memory_limit = '4GB'")  # RESET does nothing before 2.0
        assert connection.execute("SELECT current_setting('TimeZone')").fetchall() == [("Europe/Berlin",)]
        assert tables(connection) <= {"t", *OURS}
        assert kanon_sql.anonymize(engine, SPEC).passed


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (duckdb.OutOfMemoryException("could not allocate Qwyjibo"), "ran out of memory"),
        (duckdb.TransactionException("Failed to commit: No space left on device: Qwyjibo"), "the disk is full"),
        (duckdb.IOException("Could not write file: Disk quota exceeded, Qwyjibo"), "the disk is full"),
        (duckdb.FatalException("database has been invalidated, Qwyjibo"), "refuses this database from now on"),
        (duckdb.InternalException("Assertion triggered: Qwyjibo"), "connect again"),
        (duckdb.ConversionException("Could not convert Qwyjibo"), "an error, Conversion (its text may hold values"),
        (duckdb.CatalogException("Table with name t does not exist!\n\nLINE 1: Qwyjibo"), "Table with name t does not"),
    ],
)
def test_what_duckdb_reports_is_said_without_values(error: duckdb.Error, said: str) -> None:
    found = str(duckdb_error(error, "release/write"))
    assert found.startswith("release/write: ")
    assert said in found
    assert "Qwyjibo" not in found


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes, where this process may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = sys.platform == "linux" and os.geteuid() == 0
    if mounted:
        command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    if not mounted:
        pytest.skip("a small disk cannot be mounted here; what the engines report of a full one is tested by its text")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_duckdb_on_a_full_disk(small_disk: Path, file: Path) -> None:
    path = small_disk / "d.duckdb"
    path.write_bytes(file.read_bytes())
    free = os.statvfs(small_disk)
    (small_disk / "fill").write_bytes(b"x" * (free.f_bavail * free.f_frsize - 20_000))
    with (
        kanon_sql.connect(str(path)) as engine,
        pytest.raises(DatabaseError, match="the disk is full; free some space"),
    ):
        kanon_sql.anonymize(engine, SPEC)
    (small_disk / "fill").unlink()
    with duckdb.connect(str(path)) as connection:
        assert tables(connection) <= {"t", *OURS}
    with kanon_sql.connect(str(path)) as engine:
        assert kanon_sql.anonymize(engine, SPEC).passed


def test_sqlite_on_a_full_disk(tmp_path: Path) -> None:
    """At its largest number of pages a database reports what it does on a full disk."""
    path = tmp_path / "s.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(row % 100, str(row)) for row in range(5_000)])
    with kanon_sql.connect(f"sqlite:///{path}") as engine:
        pages = engine.scalars("PRAGMA page_count")[0][0]  # type: ignore[attr-defined]
        engine.driver_connection.execute(f"PRAGMA max_page_count = {pages + 4}")  # type: ignore[attr-defined]
        with pytest.raises(DatabaseError, match="no space is left on the disk"):
            kanon_sql.anonymize(engine, SPEC)
    with sqlite3.connect(path) as connection:
        left = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert left <= {"t", *OURS}


class Reported(Exception):
    """A driver's error, as the drivers of servers make them."""

    def __init__(self, *args: object, sqlstate: str | None = None) -> None:
        super().__init__(*args)
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("scheme", "error", "said"),
    [
        ("postgresql", Reported("could not extend file Qwyjibo", sqlstate="53100"), "53100: no space is left"),
        ("postgresql", Reported("out of memory: Qwyjibo", sqlstate="53200"), "53200: it ran out of memory"),
        ("postgresql", Reported("stack depth limit exceeded", sqlstate="54001"), "nested too deeply"),
        ("mariadb", Reported(1021, "Disk full (Qwyjibo); waiting"), "error 1021: no space is left"),
        ("mariadb", Reported(1030, "Got error 28 'No space left on device' from storage"), "1030: no space is left"),
        ("mariadb", Reported(3, "Error writing file 'Qwyjibo' (Errcode: 28)"), "error 3: no space is left"),
        ("mariadb", Reported(1114, "The table 'kanon_1' is full"), "error 1114: a table is full"),
        ("mariadb", Reported(1030, "Got error 168 from Qwyjibo"), "error 1030 (its text may hold values"),
        ("mysql", Reported(20, "Disk got full writing 'Qwyjibo'"), "error 20: no space is left"),
    ],
)
def test_what_servers_report_of_a_full_disk(scheme: str, error: Reported, said: str) -> None:
    backends: dict[str, Any] = BACKENDS
    found = backends[scheme]().message(error)
    assert said in found
    assert "Qwyjibo" not in found


@pytest.mark.parametrize(
    ("code", "text", "said"),
    [
        (243, "Cannot reserve 1 MiB, not enough space: Qwyjibo", "error 243: no space is left"),
        (75, "Cannot write to file Qwyjibo, errno: 28, strerror: No space", "error 75: no space is left"),
        (75, "Cannot write to file Qwyjibo, errno: 5", "error 75 (its text may hold values"),
        (241, "Memory limit exceeded: Qwyjibo", "error 241: it ran out of memory"),
    ],
)
def test_what_clickhouse_reports(code: int, text: str, said: str) -> None:
    from clickhouse_connect.driver.exceptions import ClickHouseError

    from kanon_sql.engines.clickhouse import ClickHouseEngine

    error = ClickHouseError(text)
    error.code = code
    found = ClickHouseEngine._error(object.__new__(ClickHouseEngine), error, "release/write")
    assert said in str(found)
    assert "Qwyjibo" not in str(found)


# --- Output --------------------------------------------------------------------------------


def clinic(directory: Path) -> tuple[Path, Path]:
    spec, database = directory / "spec.yml", directory / "clinic.duckdb"
    spec.write_text(command_line.SPEC, encoding="utf-8")
    command_line.make_clinic(database)
    return spec, database


needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")


@pytest.mark.slow
@needs_full
@pytest.mark.parametrize(
    ("form", "buffered"), [("text", True), pytest.param("json", True, marks=pytest.mark.slow), ("text", False)]
)
def test_standard_output_on_a_full_disk(form: str, buffered: bool, tmp_path: Path) -> None:
    """Also where Python keeps what is printed until a buffer is full, as it does unless a variable says otherwise."""
    spec, database = clinic(tmp_path)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    if not buffered:
        variables["PYTHONUNBUFFERED"] = "1"
    command = [sys.executable, "-m", "kanon_sql", "plan", str(spec), "-d", str(database), "--format", form]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False, env=variables
        )
    assert "standard output cannot be written: No space left on device" in done.stderr
    assert "unexpected" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.returncode == 2


class Full:
    """A file on a full disk: opened, and then nothing can be written."""

    def __init__(self, path: Path) -> None:
        path.touch()

    def __enter__(self) -> Full:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def test_half_a_hierarchy_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "h.csv"
    monkeypatch.setattr(files, "private_file", Full)
    with pytest.raises(HierarchyError, match="cannot be written: No space left on device"):
        write_hierarchy(path, [("a", "*")])
    assert not path.exists()


@pytest.mark.slow
@needs_full
def test_a_report_on_a_full_disk(tmp_path: Path) -> None:
    spec, database = clinic(tmp_path)
    done = command_line.run("plan", spec, "-d", database, "-o", "/dev/full")
    assert (done.exit_code, "No space left on device" in done.stderr) == (2, True)
    assert Path("/dev/full").exists()
