"""What an engine puts on the disk besides tables holds values as they are: its owner alone can open it, and it goes."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.engines.duckdb import DuckDBEngine
from kanon_sql.engines.private import private_directory, write_private
from kanon_sql.sql.statement import Statement

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes of files")

SPILLS = "CREATE TEMPORARY TABLE large AS SELECT i, md5(CAST(i AS VARCHAR)) AS text FROM range(1000000) AS r (i)"

CHILD = """
import os, signal, sys
import kanon_sql
os.umask(0o022)
engine = kanon_sql.connect(sys.argv[1])
engine.connection.execute("SET memory_limit = '30MB'")
engine.connection.execute("SET threads = 1")
engine.connection.execute(sys.argv[2])
os.kill(os.getpid(), signal.SIGKILL)
"""

CHDB = """
import os, sys
from pathlib import Path
os.umask(0o022)
import kanon_sql
from kanon_sql.sql.statement import Statement
url = sys.argv[1]
engine = kanon_sql.connect(url)
engine.execute(Statement("test", "CREATE TABLE t ENGINE = MergeTree ORDER BY i AS SELECT 1 AS i"))
root = Path(sys.argv[2])
for path in root.rglob("t.sql"):
    inside = [parent for parent in path.parents if parent.is_relative_to(root)]
    print(any(parent.stat().st_mode & 0o077 == 0 for parent in inside))
engine.close()
"""


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """Files that others may read, as most systems have it."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def spilled(engine: object) -> None:
    for sql in ("SET memory_limit = '30MB'", "SET threads = 1", SPILLS):
        engine.connection.execute(sql)  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("database", ["clinic.duckdb", ":memory:"])
def test_duckdb_spills_where_no_other_user_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: str
) -> None:
    monkeypatch.chdir(tmp_path)
    first = kanon_sql.connect(database)
    (made,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert mode(made) == 0o700, "before anything is in it"
    assert list(made.iterdir()) == []
    spilled(first)
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [made]
    assert sum(path.stat().st_size for path in made.iterdir()) > 1_000_000
    if database != ":memory:":
        with kanon_sql.connect(database):  # it shares the database of this process, and what that spills to
            assert [path for path in tmp_path.iterdir() if path.is_dir()] == [made]
        assert made.exists()
        assert first.fetch(Statement("test", "SELECT COUNT(*) FROM large"), 1) == [(1_000_000,)]
    first.close()
    assert not made.exists()


def test_what_a_killed_process_spilled_goes_with_the_next_one_and_a_living_ones_stays(tmp_path: Path) -> None:
    database = tmp_path / "clinic.duckdb"
    with kanon_sql.connect(database) as engine:
        engine.execute(Statement("test", "CREATE TABLE people AS SELECT 'a' AS q FROM range(4)"))
    killed = subprocess.run([sys.executable, "-c", CHILD, str(database), SPILLS], timeout=60)
    assert killed.returncode == -signal.SIGKILL
    (left,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert mode(left) == 0o700
    assert sum(path.stat().st_size for path in left.iterdir()) > 1_000_000
    living = private_directory(tmp_path, ".clinic.duckdb.kanon-spill-")
    assert living is not None
    assert not left.exists()
    assert living.removed == 1
    (living.path / "values").touch()
    foreign = tmp_path / ".clinic.duckdb.kanon-spill-mine"
    foreign.mkdir()
    spec = {"version": 1, "source": "people", "quasi_identifiers": {"q": None}, "privacy": [{"k_anonymity": 2}]}
    with kanon_sql.connect(database) as engine:
        assert not [
            note for note in kanon_sql.check(engine, kanon_sql.Spec.from_dict(spec), "people").notes if "killed" in note
        ]
    assert foreign.exists()
    assert (living.path / "values").exists()
    living.close()
    assert living.path.exists(), "something is in it"
    (living.path / "values").unlink()
    living.close()
    assert not living.path.exists()


def test_where_directories_cannot_be_locked_none_is_taken_for_a_dead_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as on a share: it is private all the same, and stays until its process removes it."""

    def refuses(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", refuses)
    first, second = (private_directory(tmp_path, ".kanon-spill-") for _ in range(2))
    assert first is not None
    assert second is not None
    assert sorted(tmp_path.iterdir()) == sorted([first.path, second.path])
    assert {mode(first.path), mode(second.path)} == {0o700}
    assert second.removed == 0
    for made in (first, second):
        made.close()
    assert list(tmp_path.iterdir()) == []


def test_the_next_run_says_that_it_removed_what_was_spilled(tmp_path: Path) -> None:
    database = tmp_path / "clinic.duckdb"
    with kanon_sql.connect(database) as engine:
        engine.execute(Statement("test", "CREATE TABLE people AS SELECT 'a' AS q FROM range(4)"))
    left = tmp_path / ".clinic.duckdb.kanon-spill-0123abcd"
    left.mkdir(0o700)
    spec = {"version": 1, "source": "people", "quasi_identifiers": {"q": None}, "privacy": [{"k_anonymity": 2}]}
    with kanon_sql.connect(database) as engine:
        notes = kanon_sql.check(engine, kanon_sql.Spec.from_dict(spec), "people").notes
    assert [note for note in notes if "killed" in note] == ["removed what a run that was killed had left on the disk"]
    assert not left.exists()


@pytest.mark.parametrize("at", ["", pytest.param("deep/clinic", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_chdb_keeps_its_files_where_no_other_user_can_read(tmp_path: Path, at: str) -> None:
    """In memory it writes files too; and a database that is made is its owner's, whatever modes chDB gives."""
    pytest.importorskip("chdb")
    tmp_path.chmod(0o755)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", CHDB, f"chdb://{tmp_path / at if at else ''}", str(tmp_path)],
        capture_output=True, text=True, timeout=60, env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    assert set(done.stdout.split()) == {"True"}, done.stderr
    assert list(temporary.iterdir()) == []
    if at:
        assert mode(tmp_path / at) == 0o700


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed on Linux alone")
def test_sqlites_temporary_files_have_no_name_and_are_its_owners(tmp_path: Path) -> None:
    """SQLite makes them so by itself: this holds it to that."""
    with kanon_sql.connect(f"sqlite:///{tmp_path / 'clinic.sqlite'}") as engine:
        engine.execute(Statement("test", "PRAGMA temp.cache_size = 10"))
        engine.execute(
            Statement(
                "test",
                "CREATE TEMPORARY TABLE large AS WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r "
                "WHERE i < 20000) SELECT i, hex(zeroblob(50)) AS text FROM r",
            )
        )
        opened = {path.name: os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()}
        made = [name for name, target in opened.items() if "etilqs" in target]
        assert made
        for name in made:
            assert opened[name].endswith("(deleted)")
            assert mode(Path("/proc/self/fd") / name) & 0o077 == 0


@pytest.mark.slow
@pytest.mark.parametrize("scratch", ["temp", pytest.param("schema:main", marks=pytest.mark.slow)])
@pytest.mark.parametrize("open_to", [0o600, 0o640, 0o644])
def test_the_log_of_a_private_database_is_as_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_to: int, scratch: str
) -> None:
    """DuckDB writes there what it has not put into the database's file yet, an unverified release among it."""
    database, log = tmp_path / "clinic.duckdb", tmp_path / "clinic.duckdb.wal"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'ab'[1 + i % 2] AS q FROM range(40) AS r (i)")
    database.chmod(open_to)
    true, seen, full = DuckDBEngine._run, set(), 0

    def run(self: DuckDBEngine, sql: str) -> None:
        nonlocal full
        true(self, sql)
        if log.exists():
            seen.add(mode(log))
            full = max(full, log.stat().st_size)

    monkeypatch.setattr(DuckDBEngine, "_run", run)
    spec = {"version": 1, "source": "people", "release": "released", "quasi_identifiers": {"q": None}}
    asked = kanon_sql.Spec.from_dict({**spec, "privacy": [{"k_anonymity": 2}]})
    with kanon_sql.connect(database, scratch=scratch) as engine:
        assert kanon_sql.plan(engine, asked).passed
        if scratch == "temp":
            assert not log.exists(), "nothing was written"
        for _ in range(2):
            assert kanon_sql.anonymize(engine, asked).passed
            engine.execute(Statement("test", "CHECKPOINT"))  # which removes it
            assert not log.exists()
    assert (seen, full > 100) == ({open_to}, True)
    with kanon_sql.connect(database, read_only=True) as engine:
        assert engine.fetch(Statement("test", "SELECT COUNT(*) FROM released"), 1) == [(40,)]
    with duckdb.connect(str(database)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM kanon_sql_manifest").fetchone() == (2,)


# --- What verbs write ---

RARE = "rare-disease"
SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "release": "released",
    "quasi_identifiers": {"zip": {"file": "zips.csv"}, "age": {"intervals": [10]}},
    "sensitive": ["diagnosis"],
    "privacy": [{"k_anonymity": 3}],
    "suppression": {"max_share": 0.2},
}
GROWING = {**SPEC, "state": "kanon_state"}
LATER = "SELECT n + 100 AS n, zip, age, diagnosis FROM visits WHERE n < 40"
TO_FILE = {**SPEC, "source": {"file": "visits.csv"}, "release": {"file": "out.csv"}}
ON = ("-d", "clinic.duckdb")
WRITING: dict[str, tuple[dict[str, Any], list[tuple[str, ...]], dict[str, int]]] = {
    "check": (SPEC, [("check", "spec.yml", *ON, "--table", "visits", "-o", "r.html")], {"r.html": 0o600}),
    "plan": (SPEC, [("plan", "spec.yml", *ON, "-o", "r.html")], {"r.html": 0o600}),
    "anonymize": (
        {**SPEC, "recoding": {"save_as": "learned"}},
        [
            ("anonymize", "spec.yml", *ON, "-o", "r.html", "--show", "distributions", "--manifest", "m.json"),
            ("release", "apply", "spec.yml", "learned", *ON, "-o", "r2.html", "--manifest", "m2.json"),
            ("report", "m.json", "-o", "r3.html"),
            ("report", "m.json", "--pictures", "drawn"),
        ],
        {"r.html": 0o600, "m.json": 0o600, "r2.html": 0o600, "m2.json": 0o600, "r3.html": 0o600, "drawn/*": 0o600},
    ),
    "compare": (SPEC, [("compare", "spec.yml", *ON, "--k", "2,3", "-o", "r.html")], {"r.html": 0o600}),
    "audit": (
        SPEC, [("anonymize", "spec.yml", *ON), ("audit", "spec.yml", *ON, "-o", "r.html")], {"r.html": 0o600},
    ),
    "risk": (
        SPEC, [("anonymize", "spec.yml", *ON), ("risk", "spec.yml", *ON, "-o", "r.html")], {"r.html": 0o600},
    ),
    "evidence": (
        SPEC,
        [("anonymize", "spec.yml", *ON), ("release", "evidence", "spec.yml", *ON, "-o", "e.html")],
        {"e.html": 0o600},
    ),
    "refresh": (
        GROWING,
        [
            ("anonymize", "spec.yml", *ON),
            ("release", "refresh", "spec.yml", *ON, "--inserted", LATER, "--batch", "b", "--manifest", "m.json"),
        ],
        {"m.json": 0o600},
    ),
    "certify": (
        SPEC,
        [("anonymize", "spec.yml", *ON), ("release", "certify", "spec.yml", *ON, "-o", "made")],
        {"made/*.*": 0o600, "made/sql/*": 0o600},
    ),
    "dbt": (
        SPEC, [("pipeline", "dbt", "spec.yml", *ON, "-o", ".")], {"seeds/**/*.csv": 0o600, "models/**/*.sql": 0o644},
    ),
    "hierarchy": (SPEC, [("hierarchy", "spec.yml", *ON, "-o", "exported")], {"exported/*.csv": 0o600}),
    "init": (
        SPEC,
        [("init", "visits", *ON, "--quasi-identifiers", "diagnosis", "--set", "skeletons=drafts")],
        {"drafts/*": 0o600},
    ),
    "a file": (
        TO_FILE, [("anonymize", "spec.yml")], {"out.csv": 0o644, "out.csv.manifest.json": 0o644},
    ),
    "a file with details": (
        TO_FILE,
        [("anonymize", "spec.yml", "-o", "r.html")],
        {"out.csv": 0o644, "out.csv.manifest.json": 0o644, "r.html": 0o600},
    ),
}  # fmt: skip
"""A spec, what is run with it, and the modes of what that writes: open only where it holds nothing but a release."""


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", WRITING)
def test_what_verbs_write_beyond_a_release_is_their_owners_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    spec, runs, expected = WRITING[name]
    monkeypatch.chdir(tmp_path)
    rows = [(n, f"{10 + n % 2}", 20 + n % 5, f"d{n % 3}") for n in range(40)] + [(40, "99", 77, RARE)]
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE visits (n INTEGER, zip VARCHAR, age INTEGER, diagnosis VARCHAR)")
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", rows)
        connection.execute("COPY visits TO 'visits.csv'")
    Path("zips.csv").write_text("10;1*;*\n11;1*;*\n99;9*;*\n")
    Path("dbt_project.yml").write_text("name: clinic\n")
    Path("spec.yml").write_text(json.dumps(spec))
    for place in expected:
        if "*" not in place and expected[place] == 0o600 and "out" not in place:
            Path(place).write_text("an earlier one, which others could read\n")
    before = set(tmp_path.rglob("*"))

    true = os.chmod

    def changes(path: Any, *given: Any, **named: Any) -> None:
        hidden = ".out.csv" in str(path)  # which is in a directory of its own, or private until the file is published
        assert hidden or not Path(os.path.abspath(path)).is_relative_to(tmp_path), f"{path} was open until now"
        true(path, *given, **named)

    monkeypatch.setattr(os, "chmod", changes)
    for arguments in runs:
        done = CliRunner().invoke(app, [*arguments, "-q"] if arguments[0] != "report" else list(arguments))
        assert done.exit_code == (1 if "check" in arguments else 0), done.output
    seen = {str(path.relative_to(tmp_path)): mode(path) for path in tmp_path.rglob("*") if path.is_file()}
    for place, wanted in expected.items():
        found = {str(path.relative_to(tmp_path)): mode(path) for path in tmp_path.glob(place) if path.is_file()}
        assert found, place
        assert set(found.values()) == {wanted}, found
        seen = {path: its for path, its in seen.items() if path not in found}
    others = {path: its for path, its in seen.items() if tmp_path / path not in before}
    others.pop("models/released/released.yml", None)  # what dbt is told
    assert set(others) <= {"released.manifest.json"}, "nothing else was written"
    assert set(others.values()) <= {0o600}
    assert not [path for path in seen if ".kanon-" in path]
    for path in tmp_path.rglob("*"):
        if path.is_file() and path not in before and mode(path) != 0o600:
            text = path.read_text()
            assert not [value for value in (RARE, '"99"', ",99") if value in text], path


def test_a_private_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, link = tmp_path / "r.html", tmp_path / "link.html"
    path.write_text("earlier")
    link.symlink_to(path)
    with path.open() as reading:
        write_private(link, "later")
        assert reading.read() == "earlier", "who has it open goes on reading that one"
    assert (link.is_symlink(), path.read_text(), mode(path)) == (True, "later", 0o600)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space"):
            write_private(path, "last")
    assert (path.read_text(), sorted(tmp_path.iterdir())) == ("later", [link, path])
    write_private(Path("/dev/null"), b"gone")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_private(pipe, "through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
