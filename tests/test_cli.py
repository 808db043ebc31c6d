"""The command line: every verb, every exit code, and what may never be printed."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
import typer
from typer.testing import CliRunner

from kanon_sql.cli import app
from kanon_sql.errors import ExitCode, VerificationError
from kanon_sql.report.json import result_schema
from kanon_sql.report.words import metric, number, percent, shown
from kanon_sql.version import __version__

SPEC = """\
version: 1
source: visits
release: visits_release
identifiers: [name]
quasi_identifiers:
  age: {intervals: [5, 10, 20], top: 90}
  zip: {prefix: [4, 3, 2]}
sensitive: [diagnosis]
privacy:
  - k_anonymity: {k: 5}
  - l_diversity: {attribute: diagnosis, l: 2}
suppression: {limit: 0.05}
search: {algorithm: incognito}
"""

SECRET = "Qwyjibo"
"""Only one person has it. Nothing that is printed or written beside the data may hold it."""

VERBS = ("demo", "init", "hierarchy", "plan", "anonymize", "render", "check", "audit", "risk", "report", "compare",
         "dbt", "sqlmesh", "ledger", "clean", "doctor", "schema")  # fmt: skip
COMMAND: Any = typer.main.get_command(app)


def run(*arguments: str | Path, **options: Any) -> Any:
    """Run the command line in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def spawn(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line as a process of its own."""
    command = [sys.executable, "-m", "kanon_sql", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


@cache
def clinic_file() -> bytes:
    """A DuckDB file, which takes longer to make than to copy."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "clinic.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(
                "CREATE TABLE visits AS SELECT 'n' || i AS name, CAST(20 + (i * 37) % 60 AS INTEGER) AS age, "
                "CAST(94100 + (i * 13) % 40 AS VARCHAR) AS zip, "
                "['flu', 'cold', 'cancer'][(i // 7) % 3 + 1] AS diagnosis FROM range(600) AS t(i)"
            )
            connection.execute(f"INSERT INTO visits VALUES ('{SECRET}', 99, '{SECRET}', '{SECRET}')")
        return path.read_bytes()


def make_clinic(path: Path) -> None:
    path.write_bytes(clinic_file())


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A clinic that has been anonymized; tests only read it."""
    directory = tmp_path_factory.mktemp("published")
    make_clinic(directory / "clinic.duckdb")
    (directory / "spec.yml").write_text(SPEC)
    result = run("anonymize", directory / "spec.yml", "-d", directory / "clinic.duckdb")
    assert result.exit_code == 0, result.output
    return directory, result


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with clinic.duckdb and spec.yml."""
    make_clinic(tmp_path / "clinic.duckdb")
    (tmp_path / "spec.yml").write_text(SPEC)
    (tmp_path / "dbt_project.yml").write_text("name: clinic\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KANON_SQL_DATABASE", raising=False)
    return tmp_path


def tables(path: Path) -> list[str]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return [row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]


def refused(result: Any, code: int) -> str:
    """A run that failed in an orderly way; returns what it said."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return str(result.stderr)


# --- Every verb ------------------------------------------------------------------------------


def test_anonymize_publishes_and_says_so(published: Any) -> None:
    directory, result = published
    assert result.stdout.startswith("PASS  published 600 of 601 rows")
    assert "601 in the source = 600 released + 1 suppressed" in result.stdout
    assert "proven optimal" in result.stdout
    assert "1 source scan" in result.stdout
    assert result.stderr == f"manifest: {directory / 'visits_release.manifest.json'}\n"
    manifest = json.loads((directory / "visits_release.manifest.json").read_text())
    assert manifest["release"] == "visits_release"
    assert manifest["rows"]["suppressed"] == 1
    assert tables(directory / "clinic.duckdb") == [
        "kanon_sql_manifest", "kanon_sql_scratch", "visits", "visits_release",
    ]  # fmt: skip


@pytest.mark.parametrize("arguments", [(), ("--format", "json")])
def test_anonymize_quietly_without_a_manifest_file(clinic: Path, arguments: tuple[str, ...]) -> None:
    result = run("anonymize", "spec.yml", "-d", "clinic.duckdb", "--no-manifest-file", "-q", *arguments)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert not list(clinic.glob("*.json"))


def test_anonymize_writes_the_manifest_where_told(clinic: Path) -> None:
    assert run("anonymize", "spec.yml", "-d", "clinic.duckdb", "--manifest", "m.json").exit_code == 0
    assert json.loads((clinic / "m.json").read_text())["kanon_sql"] == __version__
    assert not (clinic / "visits_release.manifest.json").exists()


def test_anonymize_refuses_what_cannot_work_before_it_starts(clinic: Path) -> None:
    base = ("anonymize", "spec.yml", "-d", "clinic.duckdb")
    assert "exclude each other" in refused(run(*base, "--manifest", "m", "--no-manifest-file"), 2)
    assert "existing directory" in refused(run(*base, "--manifest", "nowhere/m.json"), 2)
    assert "would vanish" in refused(run("anonymize", "spec.yml"), 2)
    assert tables(clinic / "clinic.duckdb") == ["visits"]


def test_plan_shows_runners_up_and_all_minimal_nodes_and_writes_nothing(published: Any) -> None:
    directory, _ = published
    before = (directory / "clinic.duckdb").read_bytes()
    other = directory / "other.yml"
    other.write_text(SPEC.replace("k: 5", "k: 12"))
    result = run("plan", other, "-d", directory / "clinic.duckdb", "--all-minimal")
    assert result.exit_code == 0
    assert "Runners-up" in result.stdout
    assert "All k-minimal generalizations\n  levels in the order age, zip\n  [" in result.stdout
    assert (directory / "clinic.duckdb").read_bytes() == before


def test_check_passes_on_the_release_and_fails_on_the_source(published: Any) -> None:
    directory, _ = published
    base = ("check", directory / "spec.yml", "-d", directory / "clinic.duckdb")
    assert run(*base).stdout.startswith("PASS  visits_release: all")
    failed = run(*base, "--table", "visits")
    assert failed.exit_code == ExitCode.FAIL
    assert failed.stdout.startswith("FAIL  visits: ")
    assert "optimal" not in failed.stdout


def test_plan_and_check_work_on_a_database_that_cannot_be_written(published: Any) -> None:
    directory, _ = published
    with duckdb.connect(str(directory / "clinic.duckdb"), read_only=True):
        for verb in ("plan", "check"):
            assert spawn(verb, directory / "spec.yml", "-d", directory / "clinic.duckdb").returncode == 0


def test_a_requirement_that_cannot_be_met_is_exit_code_1_and_publishes_nothing(clinic: Path) -> None:
    (clinic / "spec.yml").write_text(SPEC.replace("k: 5", "k: 700"))
    for verb in ("plan", "anonymize"):
        result = run(verb, "spec.yml", "-d", "clinic.duckdb")
        assert result.exit_code == ExitCode.FAIL
        assert result.stdout.startswith("FAIL  ")
        assert "proven optimal" not in result.stdout
    assert "visits_release" not in tables(clinic / "clinic.duckdb")
    assert not list(clinic.glob("*.json"))


def test_render_needs_no_database(clinic: Path) -> None:
    result = run("render", "spec.yml", "--dialect", "postgres", "--node", "age=1", "--node", "zip=2")
    assert result.exit_code == 0, result.stderr
    assert "GROUP BY" in result.stdout
    stages = json.loads(run("render", "spec.yml", "--format", "json").stdout)
    assert stages
    assert all(isinstance(statements, list) for statements in stages.values())


def test_init_writes_a_spec_that_loads(clinic: Path) -> None:
    from kanon_sql.spec import Spec

    result = run("init", "visits", "-d", "clinic.duckdb")
    assert result.exit_code == 0, result.stderr
    assert Spec.parse(result.stdout).source.table is not None
    data = json.loads(run("init", "visits", "-d", "clinic.duckdb", "--format", "json").stdout)
    assert data == {"verb": "init", "table": "visits", "spec": result.stdout}


def test_demo_makes_what_it_promises(tmp_path: Path) -> None:
    result = run("demo", tmp_path, "--format", "json", "-v")
    assert result.exit_code == 0, result.stderr
    jsonschema.Draft202012Validator(result_schema()).validate(json.loads(result.stdout))
    assert {"demo.duckdb", "demo.yml", "hierarchies"} <= {path.name for path in tmp_path.iterdir()}
    assert "SELECT" in result.stderr
    (following,) = re.findall(r"^next: kanon-sql (.*)$", result.stderr, re.MULTILINE)
    assert run(*shlex.split(following)).exit_code == 0


def test_schema_prints_the_committed_schemas() -> None:
    from kanon_sql.spec import Spec

    assert json.loads(run("schema").stdout) == Spec.json_schema()
    assert json.loads(run("schema", "--result").stdout) == result_schema()


def test_version() -> None:
    assert run("--version").stdout == f"kanon-sql {__version__}\n"


# --- clean -----------------------------------------------------------------------------------


@pytest.fixture
def littered(clinic: Path) -> Path:
    """What killed runs, and somebody hostile, left in the record of scratch tables."""
    names = ['["kanon_0123abcd_release"]', '["kanon_99999999_release"]', '["visits"]', '["kanon_sql_scratch"]', "no"]
    with duckdb.connect(str(clinic / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE kanon_sql_scratch (run_id VARCHAR, object_name VARCHAR, created_at VARCHAR)")
        for position, name in enumerate(names):
            connection.execute("INSERT INTO kanon_sql_scratch VALUES ('r', ?, ?)", [name, f"2024-01-0{position + 1}"])
        connection.execute("CREATE TABLE kanon_0123abcd_release AS SELECT 1 AS one")
        connection.execute("CREATE TABLE kanon_77777777_release AS SELECT 1 AS one")
    return clinic / "clinic.duckdb"


def test_clean_lists_and_changes_nothing_without_yes(littered: Path) -> None:
    before = littered.read_bytes()
    result = run("clean", "-d", littered)
    assert result.exit_code == 0
    assert re.search(r"kanon_0123abcd_release +2024-01-01 +left over", result.stdout)
    assert "run with --yes" in result.stderr
    assert littered.read_bytes() == before


def test_clean_drops_only_what_is_recorded_and_named_as_ours(littered: Path) -> None:
    result = run("clean", "-d", littered, "--yes", "--format", "json")
    assert result.exit_code == 0
    states = {item["name"]: item["state"] for item in json.loads(result.stdout)["objects"]}
    assert states == {
        "kanon_0123abcd_release": "dropped",
        "kanon_99999999_release": "already gone",
        "visits": "not ours: kept",
        "kanon_sql_scratch": "not ours: kept",
        "no": "not ours: kept",
    }
    assert tables(littered) == ["kanon_77777777_release", "kanon_sql_scratch", "visits"]
    assert "left over" not in run("clean", "-d", littered).stdout


def test_clean_looks_in_the_schema_it_is_given(clinic: Path) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE SCHEMA anon")
        connection.execute("CREATE TABLE anon.kanon_sql_scratch AS SELECT 'r' AS run_id, "
                           """'["anon", "kanon_0123abcd_release"]' AS object_name, '2024' AS created_at""")  # fmt: skip
        connection.execute("CREATE TABLE anon.kanon_0123abcd_release AS SELECT 1 AS one")
    assert "nothing to clean" in run("clean", "-d", "clinic.duckdb").stdout
    assert "anon.kanon_0123abcd_release" in run("clean", "-d", "clinic.duckdb", "--schema", "anon", "--yes").stdout
    assert "kanon_0123abcd_release" not in tables(clinic / "clinic.duckdb")


def test_clean_with_nothing_to_do_says_so(clinic: Path) -> None:
    result = run("clean", "-d", "clinic.duckdb", "--yes")
    assert (result.exit_code, result.stdout) == (0, "nothing to clean: no scratch object is recorded\n")


@pytest.mark.parametrize(("answer", "left"), [("y\n", False), ("n\n", True)])
def test_clean_asks_at_a_terminal(littered: Path, answer: str, left: bool) -> None:
    controller, terminal = pty.openpty()
    os.write(controller, answer.encode())
    result = spawn("clean", "-d", littered, stdin=terminal)
    os.close(controller), os.close(terminal)
    assert result.returncode == 0, result.stderr
    assert "drop 2 of them?" in result.stderr
    assert ("kanon_0123abcd_release" in tables(littered)) == left


def test_ctrl_c_at_the_question_drops_nothing(littered: Path) -> None:
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "kanon_sql", "clean", "-d", str(littered)]
    with subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        seen = b""
        while not seen.endswith(b"[y/N]:") and (some := process.stderr.read(1)):
            seen += some
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=30)
    os.close(controller), os.close(terminal)
    assert process.returncode == 130
    assert b"interrupted" in rest
    assert "kanon_0123abcd_release" in tables(littered)


# --- doctor ----------------------------------------------------------------------------------


def test_doctor_says_what_works_and_leaves_nothing(clinic: Path) -> None:
    result = run("doctor", "-d", "clinic.duckdb", "--format", "json")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert (data["database"], data["engine"], data["read_only"]) == ("clinic.duckdb", "duckdb", False)
    assert all(check["ok"] for check in data["checks"].values())
    assert all(verb["works"] for verb in data["verbs"].values())
    assert tables(clinic / "clinic.duckdb") == ["visits"]


def test_doctor_on_a_connection_that_was_asked_to_be_read_only(clinic: Path) -> None:
    result = run("doctor", "-d", "clinic.duckdb", "--read-only", "--format", "json")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert {name for name, verb in data["verbs"].items() if not verb["works"]} == {"anonymize"}
    assert set(data["verbs"]) | {"demo", "render", "report", "clean", "doctor", "schema"} == set(VERBS)
    assert not data["checks"]["tables"]["ok"]


def test_doctor_in_memory_says_that_anonymize_would_not_work() -> None:
    result = run("doctor")
    assert result.exit_code == ExitCode.FAIL
    assert re.search(r"no +anonymize", result.stdout)


def test_doctor_notices_scratch_left_over(littered: Path) -> None:
    assert "5 recorded; see kanon-sql clean" in run("doctor", "-d", littered).stdout


# --- JSON ------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["plan", "check"])
def test_json_is_all_there_is_on_stdout_and_follows_the_schema(published: Any, verb: str) -> None:
    directory, _ = published
    done = spawn(verb, directory / "spec.yml", "-d", directory / "clinic.duckdb", "--format", "json")
    assert done.stderr == ""
    jsonschema.Draft202012Validator(result_schema()).validate(json.loads(done.stdout))


def test_json_of_a_failure_follows_the_schema(clinic: Path) -> None:
    (clinic / "spec.yml").write_text(SPEC.replace("k: 5", "k: 700"))
    result = run("anonymize", "spec.yml", "-d", "clinic.duckdb", "--format", "json")
    assert result.exit_code == ExitCode.FAIL
    data = json.loads(result.stdout)
    jsonschema.Draft202012Validator(result_schema()).validate(data)
    assert data["verdict"] == "fail"


def test_all_minimal_lists_them_in_json(published: Any) -> None:
    directory, _ = published
    base = ("plan", directory / "spec.yml", "-d", directory / "clinic.duckdb", "--format", "json")
    search = json.loads(run(*base, "--all-minimal").stdout)["search"]
    assert len(search["minimal"]) == search["minimal_nodes"] > 0


# --- Wrong usage, wrong specs ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("  age:", "  agee:", "spec.yml:6:3: quasi_identifiers: agee: "),
        ("[name]", "[name, nme]", "spec.yml:4:21: identifiers: nme: "),
        ("release: visits_release", "relaese: visits_release", "spec.yml:3:1: "),
        ("k: 5", "k: [", "spec.yml:"),
        ("limit: 0.05", "limit: five", "spec.yml:12:"),
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
        ("plan", "spec.yml", "--threads", "0"),
        ("plan", "spec.yml", "--timeout", "-1"),
        ("plan", "spec.yml", "--memory-limit", "much"),
        ("plan", "spec.yml", "-d", ""),
        ("plan", "spec.yml", "-d", ":memory:clinic"),
        ("plan", "spec.yml", "-d", "redis://user:hunter2@host/db"),
        ("check", "spec.yml", "-d", "clinic.duckdb", "--table", ""),
        ("check", "spec.yml", "-d", "clinic.duckdb", "--table", "kanon_sql_nothing", "--row"),
        ("render", "spec.yml", "--dialect", "klingon"),
        ("render", "spec.yml", "--node", "age"),
        ("render", "spec.yml", "--node", "age=-1"),
        ("render", "spec.yml", "--node", "nobody=1"),
    ],
)
def test_wrong_usage_is_exit_code_2(clinic: Path, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == ExitCode.USAGE, result.output
    assert "Traceback" not in result.output
    assert "hunter2" not in result.output


# --- The database refuses --------------------------------------------------------------------


@pytest.mark.parametrize(
    "verb", ["init visits", "plan spec.yml", "anonymize spec.yml", "check spec.yml", "clean", "doctor"]
)
def test_a_missing_database_is_exit_code_3_and_is_not_created(clinic: Path, verb: str) -> None:
    said = refused(run(*verb.split(), "-d", "missing.duckdb"), 3)
    assert "there is no database file missing.duckdb" in said
    assert not (clinic / "missing.duckdb").exists()


def test_a_missing_table_is_exit_code_3(clinic: Path) -> None:
    (clinic / "spec.yml").write_text(SPEC.replace("source: visits", "source: vists"))
    for verb in ("plan", "anonymize"):
        assert "vists" in refused(run(verb, "spec.yml", "-d", "clinic.duckdb"), 3)


def test_a_locked_database_is_exit_code_3(clinic: Path) -> None:
    with duckdb.connect("clinic.duckdb"):
        done = spawn("check", "spec.yml", "-d", "clinic.duckdb")
    assert done.returncode == ExitCode.DATABASE
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_file_that_is_no_database_is_exit_code_3(clinic: Path) -> None:
    refused(run("plan", "spec.yml", "-d", "spec.yml"), 3)


def test_a_timeout_is_exit_code_3(clinic: Path) -> None:
    assert "time limit" in refused(run("anonymize", "spec.yml", "-d", "clinic.duckdb", "--timeout", "0"), 3)
    assert "visits_release" not in tables(clinic / "clinic.duckdb")


def test_the_database_may_come_from_the_environment(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANON_SQL_DATABASE", "clinic.duckdb")
    assert run("check", "spec.yml", "--table", "visits").exit_code == ExitCode.FAIL


def test_threads_and_memory_reach_the_database(clinic: Path) -> None:
    options = ("--threads", "1", "--memory-limit", "200MB", "--timeout", "60")
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


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (interrupt, "interrupted; nothing was published"),
        (interrupt_as_a_driver_does, "interrupted; nothing was published"),
        (interrupt_while_publishing, "run check to see which release stands"),
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


@pytest.mark.parametrize("options", [(), ("--timeout", "100"), ("--threads", "1")])
def test_ctrl_c_in_a_long_query_leaves_nothing_behind(clinic: Path, options: tuple[str, ...]) -> None:
    long_query(clinic)
    command = [sys.executable, "-m", "kanon_sql", "anonymize", "spec.yml", "-d", "new.duckdb", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 30
        while not (clinic / "new.duckdb").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
    assert stderr == "error: interrupted; nothing was published\n"
    assert (process.returncode, stdout) == (130, "")
    assert "visits_release" not in tables(clinic / "new.duckdb")


def test_a_timeout_in_a_long_query_is_exit_code_3(clinic: Path) -> None:
    long_query(clinic)
    done = spawn("anonymize", "spec.yml", "-d", "new.duckdb", "--timeout", "2")
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


# --- Progress and the log --------------------------------------------------------------------


def test_verbose_logs_every_statement_with_its_values_redacted(published: Any) -> None:
    directory, _ = published
    base = ("check", directory / "spec.yml", "-d", directory / "clinic.duckdb", "--format", "json")
    result = run(*base, "--verbose")
    statements = [line for line in result.stderr.splitlines() if not line.startswith("-- ")]
    assert len(statements) == json.loads(result.stdout)["cost"]["statements"]
    assert all(line.endswith(";") for line in statements)
    assert ">= ?" in result.stderr


def test_verbose_logs_statements_of_a_run_that_fails(clinic: Path) -> None:
    (clinic / "spec.yml").write_text(SPEC.replace("{prefix: [4, 3, 2]}", "{tree: {All: ['94100', '94101']}}"))
    assert "DESCRIBE" in refused(run("plan", "spec.yml", "-d", "clinic.duckdb", "-v"), 2)


@pytest.mark.parametrize("options", [(), ("--quiet",)])
def test_progress_is_shown_at_a_terminal_only(published: Any, options: tuple[str, ...]) -> None:
    directory, _ = published
    command = [sys.executable, "-m", "kanon_sql", "plan", "spec.yml", "-d", "clinic.duckdb", *options]
    controller, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, env=environment, cwd=directory, check=False)
    os.set_blocking(controller, False)
    try:
        seen = os.read(controller, 1_000_000).decode()
    except BlockingIOError:
        seen = ""
    os.close(controller), os.close(terminal)
    assert done.returncode == 0
    assert ("searching the lattice" in seen) == (not options)
    assert b"searching" not in done.stdout


def test_colours_forced_on_a_pipe_bring_no_progress(published: Any) -> None:
    directory, _ = published
    done = spawn(
        "plan", "spec.yml", "-d", "clinic.duckdb", cwd=directory, env={**os.environ, "FORCE_COLOR": "1"}
    )  # fmt: skip
    assert done.stderr == ""


# --- Raw values ------------------------------------------------------------------------------


def test_no_raw_value_of_a_small_class_is_ever_printed(clinic: Path) -> None:
    database = ("-d", "clinic.duckdb", "-v")
    runs = [
        run("init", "visits", *database),
        run("plan", "spec.yml", *database, "--all-minimal"),
        run("anonymize", "spec.yml", *database),
        run("check", "spec.yml", *database, "--table", "visits"),
        run("check", "spec.yml", *database, "--format", "json"),
    ]
    for result in runs:
        assert result.exit_code in (0, 1), result.output
        assert SECRET not in result.output
    assert SECRET not in (clinic / "visits_release.manifest.json").read_text()


@pytest.mark.parametrize(
    ("hierarchy", "code"),
    [
        ("{tree: {All: ['94100', '94101']}}", 2),
        ("{intervals: [10, 20]}", None),
        ("{sql: ['cast(x as integer)']}", None),
    ],
)
def test_no_raw_value_is_in_an_error_about_it(clinic: Path, hierarchy: str, code: int | None) -> None:
    (clinic / "spec.yml").write_text(SPEC.replace("{prefix: [4, 3, 2]}", hierarchy))
    result = run("plan", "spec.yml", "-d", "clinic.duckdb", "-v")
    assert result.exit_code in ((2, 3) if code is None else (code,)), result.output
    assert SECRET not in result.output
    assert "Traceback" not in result.output


# --- Help ------------------------------------------------------------------------------------


def test_these_are_the_verbs() -> None:
    assert tuple(COMMAND.commands) == VERBS
    listed = run("--help").stdout
    for verb in VERBS:
        assert re.search(rf"^  {verb} +\w", listed, re.MULTILINE)
    assert "..." not in listed.partition("Commands:")[2]


@pytest.mark.parametrize("verb", VERBS)
def test_help_describes_the_verb_lists_every_option_and_has_examples(verb: str) -> None:
    text = run(verb, "--help").stdout
    for parameter in COMMAND.commands[verb].params:
        names = parameter.opts if parameter.param_type_name == "option" else [parameter.metavar]
        for name in names:
            assert name in text
        assert parameter.help
    assert "Examples:" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_examples_in_help_run(verb: str, published: Any, clinic: Path) -> None:
    directory, _ = published
    (clinic / "clinic.duckdb").write_bytes((directory / "clinic.duckdb").read_bytes())
    examples = re.findall(r"^ +kanon-sql (.*)$", run(verb, "--help").stdout.partition("Examples:")[2], re.MULTILINE)
    assert examples
    if verb == "ledger":
        for name in ("kanon_sql_ledger", "releases"):
            of_its_own = f"{SPEC.replace('visits_release', f'in_{name}')}ledger: {name}\n"
            (clinic / f"{name}.yml").write_text(of_its_own)
            assert run("anonymize", f"{name}.yml", "-d", "clinic.duckdb").exit_code == 0
    if verb == "demo":  # it takes seconds, and its other form has a test of its own
        examples = examples[:1]
    if verb == "init":
        with duckdb.connect("clinic.duckdb", read_only=True) as con:
            con.execute("COPY visits TO 'visits.parquet'")
    if verb == "report":
        (clinic / "run.json").write_text(plan_with_details())
    for name in ("strict.yml", "loose.yml"):
        (clinic / name).write_text(SPEC)
    for example in examples:
        result = run(*shlex.split(example.partition(" > ")[0]))
        assert result.exit_code in (0, 1), f"{example}: {result.output}"
        assert result.stdout or "-o" in example or "--pictures" in example


def plan_with_details() -> str:
    """The JSON of a run with all that a report shows."""
    return str(run("plan", "spec.yml", "-d", "clinic.duckdb", "--report", "any.html", "--format", "json", "-q").stdout)


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom kanon_sql.cli import app\n"
        "for arguments in (['--help'], ['--version']):\n"
        "    try:\n        app(arguments)\n    except SystemExit as stop:\n        assert stop.code in (0, None)\n"
        "heavy = {'duckdb', 'sqlglot', 'pydantic', 'jinja2', 'ruamel', 'rich'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == "[]\n"


# --- Releases together -----------------------------------------------------------------------


def test_a_release_that_tells_too_much_with_an_earlier_one(clinic: Path) -> None:
    """Ages alone are shared by ten people each, zip codes by fifteen, both together by five."""
    exact = {"first": ("top: 90", "top: 90, maximum_level: 0"), "second": ("[4, 3, 2]", "[4, 3, 2], maximum_level: 0")}
    for name, (levels, held) in exact.items():
        text = SPEC.replace("visits_release", name).replace("{k: 5}", "{k: 10}").replace(levels, held)
        (clinic / f"{name}.yml").write_text(f"{text}ledger: releases\n")
    assert run("anonymize", "first.yml", "-d", "clinic.duckdb").exit_code == 0
    result = run("anonymize", "second.yml", "-d", "clinic.duckdb")
    assert result.exit_code == 1, result.output
    assert "together with first" in result.stdout
    assert "joint classes" in result.stdout
    assert SECRET not in result.output
    listed = run("ledger", "releases", "-d", "clinic.duckdb")
    assert "1 release in releases" in listed.stdout
    assert "second" not in listed.stdout
    assert "there is no ledger" in refused(run("ledger", "-d", "clinic.duckdb"), 2)


def test_a_table_published_again(clinic: Path) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE once AS SELECT * FROM visits LIMIT 3")
    given = ["check", "spec.yml", "-d", "clinic.duckdb", "--table", "once"]
    again = run(*given, "--earlier", "once", "--person", "name", "--m", "2")
    assert again.exit_code == 1, again.output
    assert "2-invariance of diagnosis since once" in " ".join(again.stdout.split())
    assert "belong together" in refused(run(*given, "--m", "2"), 2)


# --- Numbers and names -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (1, "1"), (0.25, "0.25"), (0.123456, "0.1235"), (12.3456, "12.35"), (9.9996, "10"),
        (1234.5678, "1,235"), (86_690.0, "86,690"), (1_234_567.0, "1,235,000"), (1.5e13, "1.500e+13"),
        (0.00001234, "1.234e-05"), (-0.5, "-0.5"), (float("inf"), "inf"), (100, "100"),
    ],
)  # fmt: skip
def test_metrics_have_four_significant_digits(value: float, text: str) -> None:
    assert metric(value) == text


def test_counts_have_thousands_separators() -> None:
    assert number(1_234_567) == "1,234,567"


def test_a_share_is_never_rounded_to_nothing_or_everything() -> None:
    assert percent(0, 10) == "0 %"
    assert percent(1, 1_000_000) == "< 0.01 %"
    assert percent(999_999, 1_000_000) == "> 99.99 %"
    assert percent(1, 3) == "33.33 %"


def test_control_characters_in_names_do_not_reach_the_terminal(clinic: Path) -> None:
    assert shown("a\x1b[31mb\n") == "a\\x1b[31mb\\n"
    said = refused(run("check", "spec.yml", "-d", "clinic.duckdb", "--table", "a\x1b[31mb"), 3)
    assert "\x1b" not in said
