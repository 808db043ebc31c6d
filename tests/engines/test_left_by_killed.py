"""A run that was killed leaves tables: the next run removes them and says so. Those of a run that lives stay."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.engines.base import Deadline, Engine
from kanon_sql.engines.workspace import open_workspace
from kanon_sql.release.write import staged
from kanon_sql.sql.statement import Statement
from kanon_sql.sql.text import Relation
from kanon_sql.testing import Subject
from kanon_sql.verbs.clean import clean
from tests.servers import required, subject_of

SCRATCH = re.compile(r"kanon_[0-9a-f]{8,}_[a-z0-9_]+")
ASKED = {
    "version": 1, "source": "people", "release": "released", "quasi_identifiers": {"q": None},
    "privacy": [{"k_anonymity": 2}],
}  # fmt: skip
ROWS = [["a"], ["a"], ["b"], ["b"]]
NOTE = re.compile(r"removed (a|\d+) scratch tables? that an interrupted run had left")

PROGRAM = """
import json, sys
import kanon_sql
from kanon_sql.engines.base import Meter

database, asked, options = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
count = Meter.count

def counted(meter, statement):
    if statement.name == "release/count":  # the table is written, and not verified
        print("there", flush=True)
        sys.stdin.readline()
    count(meter, statement)

Meter.count = counted
with kanon_sql.connect(database, **options) as engine:
    assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(asked)).passed
"""


@contextmanager
def stopped(database: str, **options: str) -> Iterator[subprocess.Popen[str]]:
    """A program that has written its release, has not verified it, and waits for a line or a signal."""
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, database, json.dumps(ASKED), json.dumps(options)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == "there\n"
        yield program
    finally:
        program.kill()
        program.communicate()


def ours(names: list[str]) -> set[str]:
    return {name for name in names if SCRATCH.fullmatch(name)}


def tables(engine: Engine) -> set[str]:
    found = engine.fetch(Statement("test", "SELECT table_name FROM duckdb_tables()"), 100)
    return ours([str(name) for (name,) in found])


def said(result: Any) -> list[str]:
    return [note for note in result.notes if "interrupted run" in note]


def until(done: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


def clinic(file: Path) -> None:
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE people AS SELECT unnest(['a', 'a', 'b', 'b']) AS q")


@pytest.mark.slow
@pytest.mark.parametrize("scratch", ["temp", pytest.param("schema:main", marks=pytest.mark.slow)])
def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path, scratch: str) -> None:
    file = tmp_path / "clinic.duckdb"
    clinic(file)
    with stopped(str(file), scratch=scratch) as program:
        program.kill()
        assert program.wait(20) == -signal.SIGKILL
    with kanon_sql.connect(file, scratch=scratch) as engine:
        left = tables(engine)
        assert any(name.endswith("_release") for name in left)
        assert len(left) == 1 if scratch == "temp" else len(left) > 1
        result = kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED))
        assert result.passed
        (note,) = said(result)
        found = NOTE.fullmatch(note)
        assert found is not None
        assert found[1] == ("a" if len(left) == 1 else str(len(left)))
        assert tables(engine) == set()
        assert clean(engine, drop=False).objects == ()
        again = kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED))
        assert said(again) == [], "of each result, what its own run removed"


def test_a_plan_removes_the_scratch_tables_of_a_schema(tmp_path: Path) -> None:
    file = tmp_path / "clinic.duckdb"
    clinic(file)
    with kanon_sql.connect(file, scratch="schema:main") as engine:
        made = leave(engine, "frequency")
        spec = kanon_sql.Spec.from_dict({key: value for key, value in ASKED.items() if key != "release"})
        result = kanon_sql.plan(engine, spec)
        assert len(said(result)) == 1
        assert made not in tables(engine)


def leave(engine: Any, what: str, run_id: str = "0123abcd", held_by: str = " held by process") -> str:
    """A table as a killed run leaves it, and its record."""
    name = f"kanon_{run_id}_{what}"
    for sql in (
        f'CREATE TABLE "{name}" AS SELECT 1 AS q',
        "CREATE TABLE IF NOT EXISTS kanon_sql_scratch (run_id VARCHAR, object_name VARCHAR, created_at VARCHAR)",
        f"INSERT INTO kanon_sql_scratch VALUES ('{run_id}', '[\"{name}\"]', '2026-01-01T00:00:00+00:00{held_by}')",
    ):
        engine.execute(Statement("test", sql))
    return name


def test_what_is_not_known_to_be_a_dead_run_s_stays(tmp_path: Path) -> None:
    """An earlier version's record, one held elsewhere, an old release that was set aside, and another run's name."""
    file = tmp_path / "clinic.duckdb"
    clinic(file)
    with kanon_sql.connect(file) as engine:
        stay = {
            leave(engine, "release", "00000001", ""),
            leave(engine, "release", "00000002", " held by postgres 7"),
            leave(engine, "old", "00000003"),
            leave(engine, "release", "00000004"),
        }
        engine.execute(Statement("test", "UPDATE kanon_sql_scratch SET run_id = '00000005' WHERE run_id = '00000004'"))
        result = kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED))
        assert said(result) == []
        assert tables(engine) == stay
        listed = clean(engine, drop=False).objects
        assert {item.created_at for item in listed} == {"2026-01-01T00:00:00+00:00"}
        assert {item.state for item in clean(engine, drop=True).objects} == {"dropped"}
        assert tables(engine) == set()


def test_a_database_that_this_process_does_not_hold_is_not_judged(tmp_path: Path) -> None:
    """What DuckDB attaches may be written by other processes; here a file that is only read stands for it."""
    file = tmp_path / "clinic.duckdb"
    clinic(file)
    with kanon_sql.connect(file) as engine:
        assert engine.ended(("kanon_sql_scratch",), {"0123abcd": "process"}) == frozenset(), "there is no such table"
        leave(engine, "release")
        assert engine.ended(("kanon_sql_scratch",), {"0123abcd": "process"}) == {"0123abcd"}
        other = tmp_path / "read.duckdb"
        with duckdb.connect(str(other)) as connection:
            connection.execute("CREATE TABLE kanon_sql_scratch (run_id VARCHAR)")
        engine.execute(Statement("test", f"ATTACH '{other}' AS elsewhere (READ_ONLY)"))
        assert engine.ended(("elsewhere", "kanon_sql_scratch"), {"0123abcd": "process"}) == frozenset()


@pytest.mark.slow
def test_a_run_of_the_same_process_is_not_hurt(tmp_path: Path) -> None:
    """Two connections of one process, of which one has written its release and has not verified it."""
    file = tmp_path / "clinic.duckdb"
    clinic(file)
    spec = kanon_sql.Spec.from_dict(ASKED)
    with kanon_sql.connect(file) as first, kanon_sql.connect(file) as second:
        with first.run(Deadline(None)), open_workspace(first, "") as workspace:
            with staged(workspace, ("released",)) as target:
                workspace.run(Statement("test", f'CREATE TABLE "{target.parts[-1]}" AS SELECT 1 AS q'))
                assert said(kanon_sql.anonymize(second, spec)) == []
                assert tables(second) == {target.parts[-1]}
            workspace.record(target, Relation(("kanon_sql_scratch",)))  # as if it could not be dropped
            workspace.run(Statement("test", f'CREATE TABLE "{target.parts[-1]}" AS SELECT 1 AS q'))
            assert said(kanon_sql.anonymize(second, spec)) == []
        assert tables(second) == {target.parts[-1]}
        assert len(said(kanon_sql.anonymize(second, spec))) == 1
        assert tables(second) == set()


def test_a_table_that_cannot_be_dropped_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "clinic.duckdb"
    clinic(file)
    with kanon_sql.connect(file) as engine:
        name = leave(engine, "release")
        execute = type(engine).execute

        def refusing(self: Any, statement: Statement) -> None:
            if statement.name == "engines/scratch/drop" and name in statement.sql:
                raise kanon_sql.errors.DatabaseError("refused by the test")
            execute(self, statement)

        with monkeypatch.context() as patch:
            patch.setattr(type(engine), "execute", refusing)
            result = kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED))
        assert result.passed
        (note,) = said(result)
        assert note.startswith("could not drop a scratch table that an interrupted run had left")
        assert [item.state for item in clean(engine, drop=False).objects] == ["left over"]


SOURCE = {"version": 1, "source": "people"}
PERSONS = {**SOURCE, "release": "released", "quasi_identifiers": {"q": None}, "unit": "n", "sensitive": ["s"]}
REFUSED: dict[str, Callable[[Engine], Any]] = {
    "anonymize": lambda engine: kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED)),
    "with a ledger": lambda engine: kanon_sql.anonymize(
        engine, kanon_sql.Spec.from_dict({**ASKED, "ledger": "kanon_sql_ledger"})
    ),
    "privately": lambda engine: kanon_sql.anonymize(
        engine,
        kanon_sql.Spec.from_dict(
            {
                **SOURCE,
                "release": "released",
                "quasi_identifiers": {"q": None},
                "ledger": "spent",
                "privacy": [{"differential_privacy": {"epsilon": 1, "delta": 1e-6, "generalization": {"q": 1}}}],
            }
        ),
    ),
    "in a sequence": lambda engine: kanon_sql.anonymize(
        engine,
        kanon_sql.Spec.from_dict(
            {**PERSONS, "privacy": [{"m_invariance": {"attribute": "s", "m": 2, "history": "past"}}]}
        ),
    ),
    "apply": lambda engine: kanon_sql.apply(engine, kanon_sql.Spec.from_dict(ASKED), "learned"),
    "refresh": lambda engine: kanon_sql.refresh(
        engine, kanon_sql.Spec.from_dict({**ASKED, "state": "kanon_state"}), inserted="people", batch="b"
    ),
    "tabulate": lambda engine: kanon_sql.tabulate(
        engine,
        kanon_sql.TableSpec.from_dict(
            {**SOURCE, "kind": "table", "release": "released", "dimensions": {"q": None}, "rules": {"threshold": 2}}
        ),
    ),
    "perturb": lambda engine: kanon_sql.perturb(
        engine,
        kanon_sql.PerturbSpec.from_dict(
            {**SOURCE, "kind": "perturbed", "release": "released", "key": "n", "perturb": {"m": {"noise": 0.5}}}
        ),
    ),
    "cloak": lambda engine: kanon_sql.cloak(
        engine,
        kanon_sql.CloakSpec.from_dict(
            {
                **SOURCE,
                "kind": "positions",
                "release": "released",
                "unit": "n",
                "k": 2,
                "position": {"columns": ["m", "m2"], "bounds": [0, 0, 8, 8], "depth": 1},
            }
        ),
    ),
    "parties": lambda engine: kanon_sql.anonymize_parties(
        [engine, kanon_sql.connect(duckdb.connect())],
        kanon_sql.Spec.from_dict({**ASKED, "search": {"metric": "precision"}}),
    ),
}


@pytest.mark.parametrize("verb", REFUSED)
def test_a_run_that_is_refused_before_it_writes_removes_what_a_killed_one_left(tmp_path: Path, verb: str) -> None:
    """Something else stands under the name, or what the run needs is not there: it never gets to its own table."""
    file = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 'a' AS q, i AS n, 1.5 * i AS m, i AS m2, 's' || i AS s FROM range(4) r(i)"
        )
        connection.execute("CREATE TABLE released AS SELECT 1 AS mine")
    with kanon_sql.connect(file) as engine:
        left = leave(engine, "release")
        with pytest.raises(kanon_sql.errors.SpecError) as refused:
            REFUSED[verb](engine)
        assert refused.value.notes == ("removed a scratch table that an interrupted run had left",)
        assert "removed" not in str(refused.value)
        assert left not in tables(engine)
        assert clean(engine, drop=False).objects == ()
        with pytest.raises(kanon_sql.errors.SpecError) as again:
            REFUSED[verb](engine)
        assert again.value.notes == ()


def test_a_run_that_finds_nothing_to_release_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    """By a requirement that no table of four rows meets; and in a preview nothing is removed."""
    file = tmp_path / "clinic.duckdb"
    clinic(file)
    with kanon_sql.connect(file) as engine:
        left = leave(engine, "release")
        strict = {**ASKED, "privacy": [{"k_anonymity": 5}]}
        assert said(kanon_sql.plan(engine, kanon_sql.Spec.from_dict(strict))) == []
        assert tables(engine) == {left}
        result = kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(strict))
        assert (result.verdict, len(said(result)), tables(engine)) == ("fail", 1, set())
        cells = {**SOURCE, "kind": "table", "release": "cells", "dimensions": {"q": None}, "rules": {"threshold": 2}}
        leave(engine, "release", "00000007")
        result = kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict(cells))
        assert (result.verdict, len(said(result)), tables(engine)) == ("pass", 1, set()), "a table of cells says it"


def test_the_command_line_says_it_below_the_error(tmp_path: Path) -> None:
    file = tmp_path / "clinic.duckdb"
    clinic(file)
    with kanon_sql.connect(file) as engine:
        leave(engine, "release")
        engine.execute(Statement("test", "CREATE TABLE taken AS SELECT 1 AS mine"))
    spec = tmp_path / "spec.yml"
    spec.write_text(json.dumps({**ASKED, "release": "taken"}))
    done = CliRunner().invoke(app, ["anonymize", str(spec), "-d", str(file), "-q"])
    error, note = done.stderr.splitlines()
    assert (done.exit_code, "did not publish" in error) == (2, True)
    assert note == "removed a scratch table that an interrupted run had left"


def test_a_refused_release_in_a_file_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    place = tmp_path / ".out.csv.kanon-0123abcd"
    place.mkdir(0o700)
    (place / "release.csv").write_text("q\na\n")
    (tmp_path / "people.csv").write_text("q\na\na\nb\nb\n")
    (tmp_path / "out.csv").write_text("mine\n1\n")
    files = {"source": {"file": str(tmp_path / "people.csv")}, "release": {"file": str(tmp_path / "out.csv")}}
    with kanon_sql.connect() as engine, pytest.raises(kanon_sql.errors.SpecError, match="did not publish") as refused:
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict({**ASKED, **files}))
    assert refused.value.notes == ("removed what 1 killed run(s) of this release had left beside out.csv",)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "people.csv"]


# --- Other processes, on servers and in a file ---


@pytest.fixture(scope="module", params=["postgres", "mariadb", "sqlite"])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        made.table("people", {"q": "text"}, ROWS)
        made.table("taken", {"q": "text"}, ROWS)
        yield made


@pytest.mark.slow
def test_a_run_of_another_process_stays_while_it_lives(subject: Any) -> None:
    spec = kanon_sql.Spec.from_dict(ASKED)
    with stopped(subject.url) as program:
        (left,) = ours(subject.tables())
        with subject.connect() as engine:
            assert said(kanon_sql.anonymize(engine, spec)) == []
        assert ours(subject.tables()) == {left}
        program.communicate("\n", timeout=60)
        assert program.returncode == 0, "it publishes, too"
    assert ours(subject.tables()) == set()


@pytest.mark.slow
def test_the_next_run_removes_what_another_process_left(subject: Any) -> None:
    spec = kanon_sql.Spec.from_dict(ASKED)
    with stopped(subject.url) as program:
        (left,) = ours(subject.tables())
        program.kill()
        assert program.wait(20) == -signal.SIGKILL
    (run_id,) = re.findall(r"[0-9a-f]{8}", left)
    ((made,),) = subject.fetch("SELECT created_at FROM kanon_sql_scratch")
    holder = str(made).partition(" held by ")[2]
    assert holder
    with subject.connect() as engine:
        # A server ends a session as soon as it hears that the client is gone.
        until(lambda: run_id in engine.ended(("kanon_sql_scratch",), {run_id: holder}))
        assert engine.ended(("kanon_sql_scratch",), {run_id: "another server"}) == frozenset()
        with pytest.raises(kanon_sql.errors.SpecError, match="did not publish") as refused:
            kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict({**ASKED, "release": "taken"}))
        assert refused.value.notes == ("removed a scratch table that an interrupted run had left",)
        assert ours(subject.tables()) == set()
        assert clean(engine, drop=False).objects == ()
        assert said(kanon_sql.anonymize(engine, spec)) == []
    if hasattr(subject, "path"):
        assert [path.name for path in Path(subject.path).parent.iterdir() if "kanon-run" in path.name] == []


@pytest.mark.slow
def test_the_next_run_removes_what_was_left_in_a_directory_of_chdb(tmp_path: Path) -> None:
    required("clickhouse", "chdb")
    required("clickhouse", "clickhouse_connect")
    database = f"chdb://{tmp_path / 'clinic'}"
    tables_there = Statement("test", "SELECT name FROM system.tables WHERE database = currentDatabase()")
    with kanon_sql.connect(database) as engine:
        for sql in (
            "CREATE TABLE people (q String) ENGINE = MergeTree ORDER BY tuple()",
            "INSERT INTO people VALUES ('a'), ('a'), ('b'), ('b')",
        ):
            engine.execute(Statement("test", sql))
    with stopped(database) as program:
        program.kill()
        assert program.wait(20) == -signal.SIGKILL
    with kanon_sql.connect(database) as engine:
        assert len(ours([str(name) for (name,) in engine.fetch(tables_there, 100)])) == 1
        (note,) = said(kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED)))
        assert note == "removed a scratch table that an interrupted run had left"
        assert ours([str(name) for (name,) in engine.fetch(tables_there, 100)]) == set()
