"""Releases that are files: the verbs that read them, and the command line."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DatabaseError, SpecError
from kanon_sql.spec import Spec
from tests.support.command_line import SECRET, run, spawn
from tests.support.released_files import SPEC, YAML, left, publish, rows_of, spec_of

# --- who reads it -----------------------------------------------------------------------------


@pytest.mark.slow
def test_check_risk_and_audit_read_the_file(cwd: Path) -> None:
    db = kanon_sql.connect()
    with pytest.raises(DatabaseError, match=r"there is no file out\.csv; publish it"):
        kanon_sql.check(db, spec_of())
    assert kanon_sql.plan(db, spec_of()).release == "out.csv"
    measured = kanon_sql.risk(db, spec_of())
    assert measured.notes[0].startswith("there is no release 'out.csv' yet, so the source was measured")
    publish()
    sizes = Counter(line[:2] for line in rows_of("out.csv").elements())
    checked = kanon_sql.check(db, spec_of())
    assert (checked.release, checked.passed, checked.classes["smallest"]) == ("out.csv", True, min(sizes.values()))
    assert kanon_sql.check(db, spec_of(privacy=[{"k_anonymity": min(sizes.values()) + 1}])).passed is False
    measured = kanon_sql.risk(db, spec_of())
    assert (measured.table, measured.prosecutor.highest) == ("out.csv", 1 / min(sizes.values()))
    attacked = kanon_sql.audit(db, spec_of(), attacks=["homogeneity"])
    assert attacked.release == "out.csv"
    assert attacked.message.startswith("out.csv: ")


@pytest.mark.slow
def test_the_order_of_a_file_is_attacked(cwd: Path, persons: duckdb.DuckDBPyConnection) -> None:
    """Whoever has the file has the order of its rows: in that of the source, it tells whose each is."""
    spec = spec_of(source="people")
    db = kanon_sql.connect(persons)
    assert kanon_sql.anonymize(db, spec).passed
    assert kanon_sql.audit(db, spec, attacks=["unsorted"]).passed
    labelled = "SELECT '[' || age // 20 * 20 || ', ' || (age // 20 + 1) * 20 || ')' AS age, '*' AS zip, dx FROM people"
    persons.execute(f"COPY ({labelled}) TO 'out.csv' (HEADER true)")
    (attack,) = kanon_sql.audit(db, spec, attacks=["unsorted"]).attacks
    assert attack.exposed == attack.examined == 200


def test_labels_of_a_csv_file_are_texts(cwd: Path) -> None:
    """Guessing would make one number of 05 and 5, and one class of two."""
    Path("out.csv").write_text("age,zip,dx\n05,1,a\n5,1,a\n05,1,a\n5,1,a\n")
    with kanon_sql.connect() as db:
        checked = kanon_sql.check(db, spec_of())
    assert (checked.passed, checked.classes["count"], checked.classes["smallest"]) == (False, 2, 2)


def test_null_and_an_empty_label_are_two_classes_when_a_file_is_checked(cwd: Path) -> None:
    Path("out.csv").write_text('age,zip,dx\n,1,a\n,1,a\n"",1,a\n"",1,a\n')
    with kanon_sql.connect() as db:
        assert kanon_sql.check(db, spec_of()).classes["count"] == 2


@pytest.mark.slow
def test_a_database_that_is_only_read_is_enough(cwd: Path, persons: duckdb.DuckDBPyConnection) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM read_csv('people.csv')")
    before = Path("clinic.duckdb").read_bytes()
    with kanon_sql.connect("clinic.duckdb", read_only=True) as db:
        assert kanon_sql.anonymize(db, spec_of(source="people")).passed
        with pytest.raises(SpecError, match="read-only"):
            kanon_sql.anonymize(db, spec_of(source="people", release="released"))
    assert Path("clinic.duckdb").read_bytes() == before
    with kanon_sql.connect("clinic.duckdb", scratch="inline") as db:
        assert kanon_sql.anonymize(db, spec_of(source="people")).passed


# --- the command line -------------------------------------------------------------------------


def written(source: str = "people.csv", release: str = "out.csv") -> str:
    Path("spec.yml").write_text(YAML.replace("SOURCE", f"'{source}'").replace("RELEASE", f"'{release}'"))
    return "spec.yml"


@pytest.mark.slow
def test_files_need_no_database(cwd: Path) -> None:
    spec = written(release="out.parquet")
    done = run("anonymize", spec, "-o", "report.html")
    assert done.exit_code == 0, done.output
    assert "manifest: " in done.stderr
    assert {"out.parquet", "out.parquet.manifest.json", "report.html"} < left()
    for verb in ("check", "risk", "audit", "plan"):
        shown = run(verb, spec)
        assert shown.exit_code == 0, shown.output
        assert "out.parquet" in shown.stdout
        assert SECRET not in shown.output
    page = run("report", "out.parquet.manifest.json")
    assert page.exit_code == 0
    assert "out.parquet" in page.stdout
    kept = run("anonymize", spec, "--manifest", "none")
    assert (kept.exit_code, "so that a later run" in kept.stderr) == (2, True)
    missing = run("anonymize", spec, "-d", "none.duckdb")
    assert (missing.exit_code, os.path.exists("none.duckdb")) == (3, False)
    table = written()
    Path(table).write_text(Path(table).read_text().replace("{file: 'out.csv'}", "released"))
    vanishing = run("anonymize", table)
    assert (vanishing.exit_code, "or publish a file: release: {file: out.parquet}" in vanishing.stderr) == (2, True)


@pytest.mark.slow
def test_standard_input_and_output(cwd: Path) -> None:
    spec = written("-", "-")
    source = Path("people.csv").read_text()
    done = run("anonymize", spec, "--manifest", "manifest.json", input=source)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("age,zip,dx\n")
    assert done.stderr.startswith("PASS")
    assert SECRET not in done.output
    Path("got.csv").write_bytes(done.stdout_bytes)
    publish()
    assert rows_of("got.csv") == rows_of("out.csv")
    manifest = json.loads(Path("manifest.json").read_text())
    assert (manifest["release"], manifest["spec"]["source"]) == ("-", {"file": "-"})
    quiet = run("anonymize", spec, "-q", input=source)
    assert (quiet.stderr, quiet.stdout[:11]) == ("", "age,zip,dx\n")
    as_json = run("anonymize", spec, "--format", "json", input=source)
    assert json.loads(as_json.stderr[: as_json.stderr.rindex("}") + 1])["release"] == "-"
    Path(spec).write_text(Path(spec).read_text().replace("k_anonymity: 4", "k_anonymity: 1000"))
    failed = run("anonymize", spec, input=source)
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert left() == {"spec.yml", "manifest.json", "got.csv", "out.csv", "out.csv.manifest.json"}


@pytest.mark.slow
def test_a_pipe_between_processes(cwd: Path) -> None:
    done = spawn("anonymize", written("-", "-"), input=Path("people.csv").read_text())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("age,zip,dx\n")


def test_streams_are_for_the_command_line(cwd: Path) -> None:
    with kanon_sql.connect() as db:
        with pytest.raises(SpecError, match=r"source\.file: - is standard input"):
            kanon_sql.anonymize(db, spec_of(source={"file": "-"}))
        with pytest.raises(SpecError, match=r"release\.file: - is standard output"):
            kanon_sql.anonymize(db, spec_of(release={"file": "-"}))


@pytest.mark.slow
def test_a_file_that_is_named_is_read_as_one_that_was_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("zip,dx\n1,flu\n")
    Path("out.csv").write_text('zip,dx\n"",flu\n"",cold\n,flu\n1.0,flu\n1.00,cold\n')
    spec = Spec.from_dict(
        {
            **SPEC,
            "quasi_identifiers": {"zip": {"maximum_level": 0}},
            "privacy": [{"k_anonymity": 2}],
            "suppression": None,
        }
    )
    with kanon_sql.connect() as engine:
        for table in (None, "out.csv", str(tmp_path / "out.csv")):
            checked = kanon_sql.check(engine, spec, table)
            assert (checked.passed, checked.classes["count"]) == (False, 4), table
            assert not kanon_sql.audit(engine, spec, table).passed
            assert kanon_sql.risk(engine, spec, table).prosecutor.highest == 1
        # DuckDB itself finds three values, and two classes of at least 2 rows.
        (guessed,) = duckdb.sql("SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM 'out.csv' GROUP BY zip)").fetchall()
        assert guessed == (2,)
        for refused in (
            lambda: kanon_sql.audit(engine, spec, external="out.csv"),
            lambda: kanon_sql.risk(engine, spec, population="out.csv"),
            lambda: kanon_sql.check(engine, spec, "out.json"),
            lambda: kanon_sql.plan(engine, Spec.from_dict({**spec.to_dict(), "source": "people.csv"})),
        ):
            with pytest.raises(
                SpecError,
                match=r"there is no table '.*' in :memory:, (but a file; write source: \{file: |and no such file)",
            ):
                refused()


def test_a_text_far_down_in_a_column_of_numbers_is_found_by_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    injected = "Column 4711 is being converted as type 4711"
    rows = [f"{number % 90},x\n" for number in range(60_000)]
    Path("people.csv").write_text("".join(["age,note\n", *rows, f'"unknown{SECRET}\n{injected}\n",x\n']))
    spec = Spec.from_dict({**SPEC, "quasi_identifiers": {"age": None, "note": None}, "sensitive": []})
    with kanon_sql.connect() as engine, pytest.raises(DatabaseError) as caught:
        kanon_sql.plan(engine, spec)
    said = str(caught.value)
    assert "at line 60002: the column 'age' was read as BIGINT" in said
    assert SECRET not in said
    assert "4711" not in said
