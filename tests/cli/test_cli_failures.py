"""The command line when something is wrong: every exit code, and what an interrupt leaves behind."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql.errors import ExitCode, VerificationError
from tests.support.command_line import SECRET, SPEC, refused, run, spawn, tables

# --- Wrong usage, wrong specs ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("  age:", "  agee:", "spec.yml:6:3: quasi_identifiers: agee: "),
        ("[name]", "[name, nme]", "spec.yml:4:21: identifiers: nme: "),
        ("release: visits_release", "relaese: visits_release", "spec.yml:3:1: "),
        ("k: 5", "k: [", "spec.yml:"),
        ("max_share: 0.05", "max_share: five", "spec.yml:12:"),
    ],
)
def test_a_wrong_spec_is_shown_where_it_is_wrong(clinic: Path, old: str, new: str, place: str) -> None:
    (clinic / "spec.yml").write_text(SPEC.replace(old, new))
    said = refused(run("plan", "spec.yml", "-d", "clinic.duckdb"), 2)
    assert place in said
    assert re.search(r"spec\.yml:\d+:\d+: ", said)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("plan",),
        ("plan", "missing.yml", "-d", "clinic.duckdb"),
        ("plan", ".", "-d", "clinic.duckdb"),
        ("plan", "spec.yml", "--format", "xml"),
        ("plan", "spec.yml", "--set", "threads=0"),
        ("plan", "spec.yml", "--set", "timeout=-1"),
        ("plan", "spec.yml", "--set", "memory_limit=much"),
        ("plan", "spec.yml", "-d", ""),
        ("plan", "spec.yml", "-d", ":memory:clinic"),
        ("plan", "spec.yml", "-d", "redis://user:hunter2@host/db"),
        ("plan", "spec.yml", "-d", "postgresql://ada:x@hunter2@127.0.0.1:9/db"),
        ("plan", "spec.yml", "-d", "mysql://ada:x@hunter2@127.0.0.1:9/db"),
        ("plan", "spec.yml", "-d", "spark://hunter2@127.0.0.1:9"),
        ("plan", "spec.yml", "-d", "spark://hunter2"),
        ("check", "spec.yml", "-d", "clinic.duckdb", "--table", ""),
        ("check", "spec.yml", "-d", "clinic.duckdb", "--table", "kanon_sql_nothing", "--row"),
        ("pipeline", "render", "spec.yml", "--dialect", "klingon"),
        ("pipeline", "render", "spec.yml", "--node", "age"),
        ("pipeline", "render", "spec.yml", "--node", "age=-1"),
        ("pipeline", "render", "spec.yml", "--node", "nobody=1"),
    ],
)
def test_wrong_usage_is_exit_code_2(clinic: Path, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == ExitCode.USAGE, result.output
    assert "Traceback" not in result.output
    assert "hunter2" not in result.output


def test_a_database_of_sqlite_by_the_name_of_a_file(clinic: Path) -> None:
    with closing(sqlite3.connect("other.db")) as connection:
        connection.execute("CREATE TABLE visits (age INTEGER)")
    result = run("plan", "spec.yml", "-d", "other.db")
    assert result.exit_code == ExitCode.USAGE
    assert "give it as sqlite:///other.db" in result.output


# --- The database refuses --------------------------------------------------------------------


@pytest.mark.parametrize(
    "verb", ["init visits", "plan spec.yml", "anonymize spec.yml", "check spec.yml", "clean", "doctor"]
)
def test_a_missing_database_is_exit_code_3_and_is_not_created(clinic: Path, verb: str) -> None:
    said = refused(run(*verb.split(), "-d", "missing.duckdb"), 3)
    assert "there is no database file missing.duckdb" in said
    assert not (clinic / "missing.duckdb").exists()


@pytest.mark.slow
def test_a_missing_table_is_exit_code_3(clinic: Path) -> None:
    (clinic / "spec.yml").write_text(SPEC.replace("source: visits", "source: vists"))
    for verb in ("plan", "anonymize"):
        assert "vists" in refused(run(verb, "spec.yml", "-d", "clinic.duckdb"), 3)


@pytest.mark.slow
def test_a_locked_database_is_exit_code_3(clinic: Path) -> None:
    with duckdb.connect("clinic.duckdb"):
        done = spawn("check", "spec.yml", "-d", "clinic.duckdb")
    assert done.returncode == ExitCode.DATABASE
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_file_that_is_no_database_is_exit_code_3(clinic: Path) -> None:
    refused(run("plan", "spec.yml", "-d", "spec.yml"), 3)


def test_a_timeout_is_exit_code_3(clinic: Path) -> None:
    assert "time limit" in refused(run("anonymize", "spec.yml", "-d", "clinic.duckdb", "--set", "timeout=0"), 3)
    assert "visits_release" not in tables(clinic / "clinic.duckdb")


def test_the_database_may_come_from_the_environment(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANON_SQL_DATABASE", "clinic.duckdb")
    assert run("check", "spec.yml", "--table", "visits").exit_code == ExitCode.FAIL


def test_threads_and_memory_reach_the_database(clinic: Path) -> None:
    options = ("--set", "threads=1", "--set", "memory_limit=200MB", "--set", "timeout=60")
    assert run("check", "spec.yml", "-d", "clinic.duckdb", "--table", "visits", *options).exit_code == ExitCode.FAIL


# --- Interrupts and defects ------------------------------------------------------------------


def replace_anonymize(monkeypatch: pytest.MonkeyPatch, action: Callable[[Any], Any]) -> None:
    def anonymize(_engine: Any, _spec: Any, *, report: Any, **_options: Any) -> Any:
        return action(report)

    monkeypatch.setattr("kanon_sql.verbs.anonymize.anonymize", anonymize)


def interrupt(_report: Any) -> None:
    raise KeyboardInterrupt


def interrupt_as_a_driver_does(_report: Any) -> None:
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise RuntimeError("Query interrupted") from None


def interrupt_while_publishing(report: Any) -> None:
    report("publishing", None)
    raise KeyboardInterrupt


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("action", "said"),
    [
        (interrupt, "interrupted; nothing was published"),
        (interrupt_as_a_driver_does, "interrupted; nothing was published"),
        (interrupt_while_publishing, "run check to see which release is in place"),
    ],
)
def test_ctrl_c_is_exit_code_130(clinic: Path, monkeypatch: pytest.MonkeyPatch, action: Any, said: str) -> None:
    replace_anonymize(monkeypatch, action)
    assert said in refused(run("anonymize", "spec.yml", "-d", "clinic.duckdb"), 130)


def long_query(directory: Path) -> None:
    """A spec whose source takes minutes to read, all of it in DuckDB's worker threads."""
    query = (
        "SELECT CAST((i * 7919) % 1000003 AS INTEGER) AS age, '94110' AS zip, 'flu' AS diagnosis "
        "FROM range(9000000000) AS t(i)"
    )
    spec = SPEC.replace("source: visits", f'source: {{query: "{query}"}}').replace("identifiers: [name]\n", "")
    (directory / "spec.yml").write_text(spec)


SIGTERM = pytest.param(
    (), signal.SIGTERM, 143, "terminated",
    marks=pytest.mark.skipif(sys.platform == "win32", reason="Windows asks no handler"),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "number", "code", "word"),
    [
        *(
            ((*options,), signal.SIGINT, 130, "interrupted")
            for options in ((), ("--set", "timeout=100"), ("--set", "threads=1"))
        ),
        SIGTERM,
    ],
)
def test_a_signal_in_a_long_query_leaves_nothing_behind(
    clinic: Path, options: tuple[str, ...], number: signal.Signals, code: int, word: str
) -> None:
    long_query(clinic)
    command = [sys.executable, "-m", "kanon_sql", "anonymize", "spec.yml", "-d", "new.duckdb", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 30
        while not (clinic / "new.duckdb").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1.5)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
    assert stderr == f"error: {word}; nothing was published\n"
    assert (process.returncode, stdout) == (code, "")
    assert "visits_release" not in tables(clinic / "new.duckdb")


@pytest.mark.slow
def test_a_timeout_in_a_long_query_is_exit_code_3(clinic: Path) -> None:
    long_query(clinic)
    done = spawn("anonymize", "spec.yml", "-d", "new.duckdb", "--set", "timeout=2")
    assert done.returncode == ExitCode.DATABASE
    assert "the time limit of 2 s was reached" in done.stderr


def fail_unexpectedly(_report: Any) -> None:
    raise ZeroDivisionError(SECRET)


def test_a_defect_is_one_line_unless_verbose(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_anonymize(monkeypatch, fail_unexpectedly)
    said = refused(run("anonymize", "spec.yml", "-d", "clinic.duckdb"), 3)
    assert said == ("unexpected error: ZeroDivisionError; please report it; run with --verbose for the traceback\n")
    verbose = run("anonymize", "spec.yml", "-d", "clinic.duckdb", "--verbose")
    assert verbose.exit_code == ExitCode.DATABASE
    assert "Traceback" in verbose.stderr


def fail_verification(_report: Any) -> None:
    raise VerificationError("verification: the written table is not what was promised; it was dropped")


def test_a_failed_verification_is_exit_code_1(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_anonymize(monkeypatch, fail_verification)
    assert "it was dropped" in refused(run("anonymize", "spec.yml", "-d", "clinic.duckdb"), 1)
