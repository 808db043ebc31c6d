"""The command line: every verb, and what it writes and leaves."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest

from kanon_sql.errors import ExitCode
from kanon_sql.report.json import result_schema
from kanon_sql.version import __version__
from tests.support.command_line import SECRET, SPEC, VERBS, refused, run, spawn, tables

# --- Every verb ------------------------------------------------------------------------------


@pytest.mark.slow
def test_anonymize_publishes_and_says_so(published: Any) -> None:
    directory, result = published
    assert result.stdout.startswith("PASS  published 600 of 601 rows")
    assert "601 in the source = 600 released + 1 suppressed" in result.stdout
    assert "proven optimal" in result.stdout
    assert "2 source scans" in result.stdout, "what the diagnosis reveals is looked for in the frequency set"
    assert result.stderr == f"manifest: {directory / 'visits_release.manifest.json'}\n"
    manifest = json.loads((directory / "visits_release.manifest.json").read_text())
    assert manifest["release"] == "visits_release"
    assert manifest["rows"]["suppressed"] == 1
    assert tables(directory / "clinic.duckdb") == [
        "kanon_sql_manifest", "kanon_sql_scratch", "visits", "visits_release",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("arguments", [(), ("--format", "json")])
def test_anonymize_quietly_without_a_manifest_file(clinic: Path, arguments: tuple[str, ...]) -> None:
    result = run("anonymize", "spec.yml", "-d", "clinic.duckdb", "--manifest", "none", "-q", *arguments)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert not list(clinic.glob("*.json"))


@pytest.mark.slow
def test_anonymize_writes_the_manifest_where_told(clinic: Path) -> None:
    assert run("anonymize", "spec.yml", "-d", "clinic.duckdb", "--manifest", "m.json").exit_code == 0
    assert json.loads((clinic / "m.json").read_text())["kanon_sql"] == __version__
    assert not (clinic / "visits_release.manifest.json").exists()


def test_anonymize_refuses_what_cannot_work_before_it_starts(clinic: Path) -> None:
    base = ("anonymize", "spec.yml", "-d", "clinic.duckdb")
    assert "existing directory" in refused(run(*base, "--manifest", "nowhere/m.json"), 2)
    assert "a release in :memory: is lost when this process" in refused(run("anonymize", "spec.yml"), 2)
    assert tables(clinic / "clinic.duckdb") == ["visits"]


@pytest.mark.slow
def test_plan_shows_runners_up_and_all_minimal_nodes_and_writes_nothing(published: Any) -> None:
    directory, _ = published
    before = (directory / "clinic.duckdb").read_bytes()
    other = directory / "other.yml"
    other.write_text(SPEC.replace("k: 5", "k: 12"))
    result = run("plan", other, "-d", directory / "clinic.duckdb", "--show", "minimal")
    assert result.exit_code == 0
    assert "Runners-up" in result.stdout
    assert "All k-minimal generalizations\n  levels in the order age, zip\n  [" in result.stdout
    assert (directory / "clinic.duckdb").read_bytes() == before


@pytest.mark.slow
def test_check_passes_on_the_release_and_fails_on_the_source(published: Any) -> None:
    directory, _ = published
    base = ("check", directory / "spec.yml", "-d", directory / "clinic.duckdb")
    assert run(*base).stdout.startswith("PASS  visits_release: all")
    failed = run(*base, "--table", "visits")
    assert failed.exit_code == ExitCode.FAIL
    assert failed.stdout.startswith("FAIL  visits: ")
    assert "optimal" not in failed.stdout


@pytest.mark.slow
def test_plan_and_check_work_on_a_database_that_cannot_be_written(published: Any) -> None:
    directory, _ = published
    with duckdb.connect(str(directory / "clinic.duckdb"), read_only=True):
        for verb in ("plan", "check"):
            assert spawn(verb, directory / "spec.yml", "-d", directory / "clinic.duckdb").returncode == 0


@pytest.mark.slow
def test_a_requirement_that_cannot_be_met_is_exit_code_1_and_publishes_nothing(clinic: Path) -> None:
    (clinic / "spec.yml").write_text(SPEC.replace("k: 5", "k: 700"))
    for verb in ("plan", "anonymize"):
        result = run(verb, "spec.yml", "-d", "clinic.duckdb")
        assert result.exit_code == ExitCode.FAIL
        assert result.stdout.startswith("FAIL  ")
        assert "proven optimal" not in result.stdout
    assert "visits_release" not in tables(clinic / "clinic.duckdb")
    assert not list(clinic.glob("*.json"))


@pytest.mark.slow
def test_render_needs_no_database(clinic: Path) -> None:
    result = run("pipeline", "render", "spec.yml", "--dialect", "postgres", "--node", "age=1", "--node", "zip=2")
    assert result.exit_code == 0, result.stderr
    assert "GROUP BY" in result.stdout
    stages = json.loads(run("pipeline", "render", "spec.yml", "--format", "json").stdout)
    assert stages
    assert all(isinstance(statements, list) for statements in stages.values())


@pytest.mark.slow
def test_init_writes_a_spec_that_loads(clinic: Path) -> None:
    from kanon_sql.spec import Spec

    result = run("init", "visits", "-d", "clinic.duckdb")
    assert result.exit_code == 0, result.stderr
    assert Spec.parse(result.stdout).source.table is not None
    data = json.loads(run("init", "visits", "-d", "clinic.duckdb", "--format", "json").stdout)
    assert data == {"verb": "init", "table": "visits", "spec": result.stdout}


@pytest.mark.slow
def test_demo_makes_what_it_promises(tmp_path: Path) -> None:
    result = run("demo", "-o", tmp_path, "--format", "json", "-v")
    assert result.exit_code == 0, result.stderr
    jsonschema.Draft202012Validator(result_schema()).validate(json.loads(result.stdout))
    assert {"demo.duckdb", "demo.yml", "hierarchies"} <= {path.name for path in tmp_path.iterdir()}
    assert "SELECT" in result.stderr
    (following,) = re.findall(r"^next: kanon-sql (.*)$", result.stderr, re.MULTILINE)
    assert run(*shlex.split(following)).exit_code == 0


def test_schema_prints_the_committed_schemas() -> None:
    from kanon_sql.spec import Spec

    assert json.loads(run("pipeline", "schema").stdout) == Spec.json_schema()
    assert json.loads(run("pipeline", "schema", "result").stdout) == result_schema()


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("word", "said"),
    [("frob", "did you mean"), ("anonimize", "did you mean 'anonymize'?"), ("wwwww", "the commands are")],
)
def test_a_word_that_is_no_verb(word: str, said: str) -> None:
    shown = spawn(word, "spec.yml")
    assert shown.returncode == 2
    assert f"no such command {word!r};" in shown.stderr
    assert said in shown.stderr
    assert "the commands are demo, init, " in shown.stderr
    assert ("did you mean" in shown.stderr) == (word != "wwwww")


def test_risk_measures_the_release_and_writes_a_report(published: Any) -> None:
    directory, _ = published
    arguments = ("risk", directory / "spec.yml", "-d", directory / "clinic.duckdb")
    shown = run(*arguments, "-o", directory / "risk.html")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("visits_release: an attacker who knows")
    page = (directory / "risk.html").read_text()
    assert "visits_release" in page
    assert "prosecutor" in page
    assert SECRET not in page
    refused = run(*arguments, "-o", directory)
    assert (refused.exit_code, "expected a file in an existing directory" in refused.output) == (2, True)


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


@pytest.mark.slow
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
    assert (result.exit_code, result.stdout) == (
        0,
        "nothing to clean: no scratch object is recorded, and no other run works here\n",
    )


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("answer", "left"), [("y\n", False), ("n\n", True)])
def test_clean_asks_at_a_terminal(littered: Path, answer: str, left: bool) -> None:
    controller, terminal = pty.openpty()
    os.write(controller, answer.encode())
    result = spawn("clean", "-d", littered, stdin=terminal)
    os.close(controller), os.close(terminal)
    assert result.returncode == 0, result.stderr
    assert "drop 2 of them?" in result.stderr
    assert ("kanon_0123abcd_release" in tables(littered)) == left


@pytest.mark.slow
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
    assert {name for name, verb in data["verbs"].items() if not verb["works"]} == {
        "anonymize",
        "release apply",
        "publish table",
        "publish positions",
        "publish perturbed",
        "release refresh",
    }
    without = {"demo", "report", "clean", "doctor", "release dictionary", "release evidence", "publish check",
               "parties plan", "parties anonymize", "pipeline render", "pipeline estimate", "pipeline policies",
               "pipeline schema"}  # fmt: skip
    assert set(data["verbs"]) | without == set(VERBS)
    assert not data["checks"]["tables"]["ok"]


@pytest.mark.slow
def test_doctor_lists_what_of_a_spec_stands_in_the_way_of_each_verb(clinic: Path) -> None:
    (clinic / "local.yml").write_text(
        "version: 1\nsource: no_such_table\nrelease: out\nquasi_identifiers: {age: {intervals: [10]}}\n"
        "privacy: [k_anonymity: 2]\nrecoding: local\n",
        encoding="utf-8",
    )
    result = run("doctor", "local.yml", "-d", "clinic.duckdb", "--format", "json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)["obstacles"]
    assert list(found) == ["plan", "anonymize", "check", "release apply", "release certify", "pipeline render",
                           "pipeline dbt", "pipeline sqlmesh", "pipeline functions"]  # fmt: skip
    assert found["plan"] == found["anonymize"] == found["release certify"] == []
    assert list(json.loads(result.stdout)["not_asked"]) == ["release refresh"]
    assert found["pipeline dbt"][0].startswith("dbt: its models apply one level per column")
    shown = run("doctor", "local.yml", "-d", "clinic.duckdb").stdout
    assert "Spec" in shown
    assert re.search(r"no +pipeline dbt +dbt: its models apply", shown)
    assert re.search(r"- +release refresh +not asked for: the spec has no state", shown)
    private = (
        "privacy: [differential_privacy: {epsilon: 1.0, delta: 0.01, generalization: {age: 1}}]\nledger: releases\n"
    )
    (clinic / "private.yml").write_text(
        f"version: 1\nsource: visits\nrelease: out\nquasi_identifiers: {{age: {{intervals: [10]}}}}\n{private}", "utf-8"
    )
    of_private = json.loads(run("doctor", "private.yml", "-d", "clinic.duckdb", "--format", "json").stdout)["obstacles"]
    assert of_private["release certify"] == [
        "privacy: differential_privacy is a property of the mechanism, which a release does not show, so there is "
        "nothing to certify; use the manifest of the run"
    ]
    assert json.loads(run("doctor", "-d", "clinic.duckdb", "--format", "json").stdout)["obstacles"] is None


def test_doctor_of_a_spec_that_cannot_be_published_exits_with_1(clinic: Path) -> None:
    (clinic / "rows.yml").write_text(
        "version: 1\nkind: perturbed\nsource: visits\nrelease: out\nkey: id\nperturb: {age: {noise: 0.5}}\n"
        "key_variable: KANON_NO_SUCH_SECRET\n",
        encoding="utf-8",
    )
    result = run("doctor", "rows.yml", "-d", "clinic.duckdb", "--format", "json")
    assert result.exit_code == ExitCode.FAIL
    ((verb, (only,)),) = json.loads(result.stdout)["obstacles"].items()
    assert verb == "publish perturbed"
    assert only.startswith("key_variable: the environment variable")


def test_a_spec_adds_no_statement_to_what_doctor_tries(clinic: Path) -> None:
    from kanon_sql import Spec, connect
    from kanon_sql.engines import Deadline
    from kanon_sql.verbs.doctor import doctor

    engine = connect("clinic.duckdb")
    names = []
    for spec in (None, Spec.load("spec.yml")):
        with engine.run(Deadline(None)) as meter:
            doctor(engine, spec)
            names.append([statement.name for statement in meter.log])
    assert names[0] == names[1]


def test_doctor_in_memory_says_that_anonymize_would_not_work() -> None:
    result = run("doctor")
    assert result.exit_code == ExitCode.FAIL
    assert re.search(r"no +anonymize", result.stdout)


def test_doctor_notices_scratch_left_over(littered: Path) -> None:
    assert "5 recorded; see kanon-sql clean" in run("doctor", "-d", littered).stdout


# --- JSON ------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
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
    search = json.loads(run(*base, "--show", "minimal").stdout)["search"]
    assert len(search["minimal"]) == search["minimal_nodes"] > 0


# --- Releases together -----------------------------------------------------------------------


@pytest.mark.slow
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
    listed = run("release", "ledger", "releases", "-d", "clinic.duckdb")
    assert "1 release in releases" in listed.stdout
    assert "second" not in listed.stdout
    assert "there is no ledger" in refused(run("release", "ledger", "-d", "clinic.duckdb"), 2)


def test_a_table_published_again(clinic: Path) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE once AS SELECT * FROM visits LIMIT 3")
    given = ["check", "spec.yml", "-d", "clinic.duckdb", "--table", "once"]
    again = run(*given, "--set", "earlier=once,person=name,m=2")
    assert again.exit_code == 1, again.output
    assert "2-invariance of diagnosis since once" in " ".join(again.stdout.split())
    assert "belong together" in refused(run(*given, "--set", "m=2"), 2)
