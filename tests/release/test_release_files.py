"""Releases that are files: what is verified is the file; under its name stands the old one or the new one, whole."""

from __future__ import annotations

import csv
import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DatabaseError, QueryTimeout, SpecError, UnsupportedError, VerificationError
from kanon_sql.release import file as release_file
from kanon_sql.spec import Spec
from kanon_sql.sql.dialects import DIALECTS, dialect_named
from kanon_sql.sql.dialects.duckdb import DuckDB
from kanon_sql.verbs.sqlmesh import audits
from tests.support.command_line import SECRET, run, spawn
from tests.support.specs import QUIET

LABELS: dict[str, Any] = {"age": {"intervals": [5, 10, 20]}, "zip": {"prefix": [4, 3]}}
SPEC: dict[str, Any] = {
    "version": 1,
    "source": {"file": "people.csv"},
    "release": {"file": "out.csv"},
    "quasi_identifiers": LABELS,
    "sensitive": ["dx"],
    "privacy": [{"k_anonymity": 4}],
    "suppression": {"max_share": 0.1},
    "warnings": QUIET,
}
YAML = """\
version: 1
source: {file: SOURCE}
release: {file: RELEASE}
quasi_identifiers:
  age: {intervals: [5, 10, 20]}
  zip: {prefix: [4, 3]}
sensitive: [dx]
privacy: [k_anonymity: 4]
suppression: {max_share: 0.1}
"""
DIAGNOSES = ["flu", "", "cold, or\nnot", 'a "b"', None]
FORMATS = ["out.csv", "out.parquet"]


def people() -> list[tuple[Any, ...]]:
    return [(20 + i * 7 % 50, str(94100 + i * 3 % 7), DIAGNOSES[i % 5], f"p{i // 2}") for i in range(200)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KANON_SQL_DATABASE", raising=False)
    with open("people.csv", "w", newline="") as file:
        csv.writer(file).writerows([("age", "zip", "dx", "person"), *people(), (99, SECRET, SECRET, SECRET)])
    return tmp_path


@pytest.fixture
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (age INTEGER, zip VARCHAR, dx VARCHAR, person VARCHAR)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", people())
        yield connection


def spec_of(**changes: Any) -> Spec:
    return Spec.from_dict({**SPEC, **changes})


def publish(**changes: Any) -> kanon_sql.Result:
    with kanon_sql.connect() as db:
        return kanon_sql.anonymize(db, spec_of(**changes)).raise_for_failure()


def left() -> set[str]:
    return set(os.listdir()) - {"people.csv"}


def rows_of(name: str, columns: str = "*") -> Counter[tuple[Any, ...]]:
    """The file's rows, read by options that are written here once more."""
    source = f"read_parquet('{name}')"
    if name.endswith(".csv"):
        with open(name, newline="") as file:
            names = next(csv.reader(file))
        kinds = ", ".join(f"'{column}': 'VARCHAR'" for column in names)
        options = "auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', nullstr = ''"
        source = f"read_csv('{name}', {options}, allow_quoted_nulls = false, columns = {{{kinds}}})"
    rows = duckdb.sql(f"SELECT {columns} FROM {source}").fetchall()
    return Counter(tuple(None if cell is None else str(cell) for cell in row) for row in rows)


# --- what is in the file ----------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"suppression": {"max_share": 0.4, "style": "mask"}},
        {"unit": "person"},
        {"unit": "person", "suppression": {"max_share": 0.4, "style": "mask"}},
        {"recoding": "local"},
        {"recoding": "mondrian", "quasi_identifiers": {"age": None}},
        {"sensitive": [], "keep": []},
        {"steps": {"sample": {"fraction": 0.5, "by": "person", "key_variable": "KANON_TEST_KEY"}}},
    ],
    ids=["plain", "masked", "persons", "masked persons", "local", "mondrian", "labels alone", "sample"],
)
@pytest.mark.sampled(16)
def test_the_file_holds_what_the_table_would(
    folder: Path, database: duckdb.DuckDBPyConnection, changes: dict[str, Any], name: str, monkeypatch: Any
) -> None:
    monkeypatch.setenv("KANON_TEST_KEY", "0123456789abcdef0123456789abcdef")
    db = kanon_sql.connect(database)
    asked = {**SPEC, "source": "people", **changes}
    published = kanon_sql.anonymize(db, Spec.from_dict({**asked, "release": "released"})).raise_for_failure()
    table = database.execute("SELECT * FROM released").fetchall()
    result = kanon_sql.anonymize(db, Spec.from_dict({**asked, "release": {"file": name}})).raise_for_failure()
    assert (result.node, result.rows, result.classes) == (published.node, published.rows, published.classes)
    assert result.achieved == published.achieved
    assert rows_of(name) == Counter(tuple(None if cell is None else str(cell) for cell in row) for row in table)
    assert [line[0] for line in database.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()] == [
        "kanon_sql_manifest", "kanon_sql_scratch", "people", "released",
    ]  # fmt: skip
    assert left() == {name, f"{name}.manifest.json"}


TEXTS = [None, "", " ", "NULL", "a", '"', '""', "a,b", "a\nb", "a\r\nb", "\r", "\\", "'", "=1+1", "#", "#a", "é"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("recorded", [True, False], ids=["manifest", "alone"])
@pytest.mark.parametrize("columns", [2, 1])
@pytest.mark.sampled(8)
def test_every_text_comes_back_as_it_was(folder: Path, name: str, recorded: bool, columns: int) -> None:
    """NULL and the empty text are two values, in files as in tables; NULL in the only column is an empty line."""
    for start in range(4):  # a line of every kind is the first one and the last
        texts = TEXTS[start:] + TEXTS[:start]
        rows: list[tuple[str | None, ...]] = [(cell,) for cell in texts]
        if columns == 2:
            rows = [(first, second) for first in texts for second in texts]
        with duckdb.connect() as connection:
            other = ', "a, b" VARCHAR' if columns == 2 else ""
            connection.execute(f"CREATE TABLE people (q VARCHAR{other})")
            connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * columns)})", rows)
            asked = {"quasi_identifiers": {"q": None}, "sensitive": [], "keep": ["a, b"] * (columns - 1)}
            spec = spec_of(source="people", **asked, privacy=[{"k_anonymity": 1}], release={"file": name})
            assert kanon_sql.anonymize(kanon_sql.connect(connection), spec).passed
            assert rows_of(name) == Counter(rows)
            if not recorded:
                os.unlink(f"{name}.manifest.json")
            checked = kanon_sql.check(kanon_sql.connect(connection), spec)
            assert (checked.classes["count"], checked.rows["source"]) == (len(TEXTS), len(rows))
        os.unlink(name)


def test_plain_python_finds_the_promised_classes(folder: Path) -> None:
    publish()
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    sizes = Counter((row["age"], row["zip"]) for row in rows)
    assert min(sizes.values()) >= 4
    assert list(rows[0]) == ["age", "zip", "dx"]
    assert not any(SECRET in cell for row in rows for cell in row.values())


def test_a_parquet_file_says_whose_it_is_and_the_manifest_what_it_holds(folder: Path) -> None:
    result = publish(release={"file": "out.parquet"})
    assert result.manifest is not None
    told = duckdb.sql("SELECT decode(value) FROM parquet_kv_metadata('out.parquet')").fetchall()
    assert told == [(f"anonymized by kanon_sql, run {result.manifest['run_id']}",)]
    manifest = json.loads(Path("out.parquet.manifest.json").read_text("utf-8"))
    assert manifest == json.loads(json.dumps(dict(result.manifest)))
    assert manifest["release"] == "out.parquet"
    assert manifest["file"]["bytes"] == Path("out.parquet").stat().st_size
    assert manifest["file"]["columns"] == {"age": "VARCHAR", "zip": "VARCHAR", "dx": "VARCHAR"}
    assert SECRET not in json.dumps(manifest)


@pytest.mark.slow
def test_numbers_and_dates_come_back_with_their_types(folder: Path, database: duckdb.DuckDBPyConnection) -> None:
    database.execute(
        "CREATE TABLE kept AS SELECT age, 0.1::DOUBLE AS d, 1.50::DECIMAL(9, 2) AS e, DATE '2020-01-31' AS f, "
        "TIMESTAMP '2020-01-31 10:11:12.123456' AS g, true AS h FROM people"
    )
    for name in FORMATS:
        spec = spec_of(
            source="kept", quasi_identifiers={"age": None}, sensitive=[], keep=list("defgh"),
            privacy=[{"k_anonymity": 1}], release={"file": name},
        )  # fmt: skip
        result = kanon_sql.anonymize(kanon_sql.connect(database), spec)
        assert result.manifest is not None
        kinds = ["VARCHAR", "DOUBLE", "DECIMAL(9,2)", "DATE", "TIMESTAMP", "BOOLEAN"]
        assert list(result.manifest["file"]["columns"].values()) == kinds


@pytest.mark.slow
def test_formulas_are_named_and_not_touched(folder: Path, database: duckdb.DuckDBPyConnection) -> None:
    database.execute("UPDATE people SET dx = '=1+1' WHERE dx = 'flu'")
    database.execute("ALTER TABLE people ADD COLUMN debt VARCHAR DEFAULT '-5'")
    db = kanon_sql.connect(database)
    asked = {"source": "people", "keep": ["debt"]}
    result = kanon_sql.anonymize(db, spec_of(**asked))
    assert sum("some texts of dx begin with =" in note for note in result.notes) == 1
    assert "dropped instead" not in result.message
    assert ("=1+1",) in rows_of("out.csv", "dx")
    parquet = kanon_sql.anonymize(db, spec_of(**asked, release={"file": "out.parquet"}))
    assert not any("formulas" in note for note in parquet.notes)
    database.execute("UPDATE people SET dx = NULL")
    assert not any("formulas" in note for note in kanon_sql.anonymize(db, spec_of(**asked)).notes)


# --- verification reads the file --------------------------------------------------------------


def spoiled(query: str) -> Callable[..., str]:
    """A COPY that writes other rows than those of the table."""
    true = DuckDB.to_file

    def to_file(self: DuckDB, table: Any, path: str, run_id: str) -> str:
        name = self.relation(table)
        return true(self, table, path, run_id).replace(f"COPY {name}", f"COPY ({query.format(name)})")

    return to_file


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM {} LIMIT 100",
        "SELECT * FROM {0} UNION ALL (SELECT * FROM {0} LIMIT 1)",
        "SELECT age, zip, COALESCE(dx, '') AS dx FROM {}",
        "SELECT age, zip, NULLIF(dx, '') AS dx FROM {}",
        "SELECT age, zip, dx || ' ' AS dx FROM {}",
        "SELECT upper(zip) || '0' AS age, zip, dx FROM {}",
        "SELECT age, zip FROM {}",
        "SELECT zip, age, dx FROM {}",
        "SELECT *, 1 AS more FROM {}",
    ],
)
@pytest.mark.sampled(18)
def test_a_file_with_other_rows_is_not_published(
    folder: Path, database: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, query: str, name: str
) -> None:
    db, spec = kanon_sql.connect(database), spec_of(source="people", release={"file": name})
    assert kanon_sql.anonymize(db, spec).passed
    before = Path(name).read_bytes(), Path(f"{name}.manifest.json").read_bytes()
    monkeypatch.setattr(DuckDB, "to_file", spoiled(query))
    with pytest.raises((VerificationError, DatabaseError)):
        kanon_sql.anonymize(db, spec)
    assert (Path(name).read_bytes(), Path(f"{name}.manifest.json").read_bytes()) == before
    assert left() == {name, f"{name}.manifest.json"}


def test_classes_are_counted_in_the_file_even_if_its_rows_are_not_compared(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two checks, each of which refuses: labels and classes of the file, and its rows against the table's."""
    monkeypatch.setattr(DuckDB, "to_file", spoiled("SELECT row_number() OVER () || zip AS age, zip, dx FROM {}"))
    row = release_file.Workspace.row

    def same(self: Any, name: str, /, **context: Any) -> Any:
        return (0,) if name == "release/differing" else row(self, name, **context)

    monkeypatch.setattr(release_file.Workspace, "row", same)
    with pytest.raises(VerificationError, match="no label"):
        publish()
    assert left() == set()


def test_a_file_that_changes_after_it_was_verified_is_not_published(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = release_file.publish_file

    def changed(file: Any, manifest: Any) -> None:
        with file.hidden.open("a") as out:
            out.write("x,y,z\n")
        true(file, manifest)

    monkeypatch.setattr("kanon_sql.verbs.anonymize.publish_file", changed)
    with pytest.raises(VerificationError, match="was changed before it was published"):
        publish()
    assert left() == set()


# --- what may be replaced ---------------------------------------------------------------------


@pytest.mark.slow
def test_only_a_file_of_ours_is_replaced(folder: Path) -> None:
    Path("out.csv").write_text("mine")
    with pytest.raises(SpecError, match=r"already a file out\.csv that kanon_sql did not publish"):
        publish()
    assert Path("out.csv").read_text() == "mine"
    Path("out.csv").unlink()
    publish()
    publish()
    with open("out.csv", "a") as file:
        file.write("a,b,c\n")
    with pytest.raises(SpecError, match="or that was changed since"):
        publish()
    Path("out.csv.manifest.json").write_text("{}")
    with pytest.raises(SpecError, match="did not publish"):
        publish()
    Path("out.csv").unlink()
    publish()
    Path("out.csv.manifest.json").unlink()
    with pytest.raises(SpecError, match="did not publish"):
        publish()


def test_the_source_is_never_replaced(folder: Path) -> None:
    before = Path("people.csv").read_bytes()
    with pytest.raises(SpecError, match="the release is the source's file"):
        publish(release={"file": "people.csv"})
    for link, make in (("link.csv", os.symlink), ("hard.csv", os.link)):
        make("people.csv", link)
        with pytest.raises(SpecError, match="is the source itself"):
            publish(release={"file": link})
    assert Path("people.csv").read_bytes() == before


def test_where_no_file_can_be_is_said_before_anything_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkdir("there.csv")
    for name in ("none/out.csv", "there.csv"):
        with pytest.raises(SpecError, match="expected a file in an existing directory"):
            publish(release={"file": name})
    os.mkfifo("pipe.csv")
    with pytest.raises(SpecError, match="expected a file in an existing directory"):
        publish(release={"file": "pipe.csv"})


@pytest.mark.slow
def test_a_link_is_followed(folder: Path) -> None:
    os.mkdir("data")
    os.symlink("data/real.csv", "out.csv")
    publish()
    assert os.path.islink("out.csv")
    assert sorted(os.listdir("data")) == ["real.csv", "real.csv.manifest.json"]
    publish()


def test_nothing_is_published_where_nothing_is_found(folder: Path) -> None:
    with kanon_sql.connect() as db:
        result = kanon_sql.anonymize(db, spec_of(privacy=[{"k_anonymity": 1000}]))
    assert not result.passed
    assert left() == set()


# --- kills and faults -------------------------------------------------------------------------

KILLED = """
import os, sys
from pathlib import Path
import kanon_sql
from kanon_sql.release import file as f
at, count = int(sys.argv[1]), 0
def killing(true):
    def step(*given, **named):
        global count
        for when in (0, 1):
            if count == at:
                os._exit(9)
            count += 1
            if when == 0:
                found = true(*given, **named)
        return found
    return step
f._write = killing(f._write)
f.json.dump = killing(f.json.dump)
Path.replace = killing(Path.replace)
from kanon_sql.spec import Spec
with kanon_sql.connect() as db:
    kanon_sql.anonymize(db, Spec.load("spec.yml"))
os._exit(0)
"""
STEPS = 8


@pytest.mark.sampled(5)
@pytest.mark.parametrize("before", [False, True], ids=["first", "again"])
@pytest.mark.parametrize("step", [pytest.param(step, marks=() if step == 5 else pytest.mark.slow) for step in range(9)])
def test_a_kill_leaves_the_old_file_or_the_new_one(folder: Path, before: bool, step: int) -> None:
    Path("spec.yml").write_text(YAML.replace("SOURCE", "people.csv").replace("RELEASE", "out.csv"))
    Path("kill.py").write_text(KILLED)
    old = None
    if before:
        publish()
        old = Path("out.csv").read_bytes()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "kill.py", str(step)], env=environment, check=False, timeout=60)
    assert done.returncode == (9 if step < STEPS else 0)
    found = Path("out.csv").read_bytes() if os.path.exists("out.csv") else None
    new = found is not None and found != old
    assert new == (step >= 5), "until the file is renamed the old one stands"
    if new:
        assert sum(rows_of("out.csv").values()) > 100
        with kanon_sql.connect() as db:
            assert kanon_sql.check(db, spec_of()).passed
    else:
        assert found == old
    publish()
    names = {"out.csv", "out.csv.manifest.json", "spec.yml", "kill.py"}
    assert left() == names, "the next run clears up and publishes"


LOOKS = """
import os, stat, sys
sys.path[:0] = sys.argv[1:]
os.umask(0o022)
import kanon_sql
from kanon_sql.release import file as f
from kanon_sql.spec import Spec

def readable(path):
    for part in (path, *path.parents[: len(path.parents) - len(f.Path.cwd().parents) - 1]):
        if part.exists() and stat.S_IMODE(part.stat().st_mode) & 0o077 == 0:
            return False
    return True

def looking(true):
    def looks(*given, **named):
        found = true(*given, **named)
        for path in f.Path.cwd().rglob("*"):
            if path.name not in ("people.csv", "spec.yml", "look.py", "out.csv", "out.csv.manifest.json"):
                print(path.name, "open" if readable(path) else "private")
        return found
    return looks
f._write, f.json.dump, f._sha256 = looking(f._write), looking(f.json.dump), looking(f._sha256)
with kanon_sql.connect() as db:
    kanon_sql.anonymize(db, Spec.load("spec.yml"))
"""


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.sampled(2)
def test_nobody_else_reads_what_is_not_published(folder: Path, name: str) -> None:
    folder.chmod(0o755)
    Path("spec.yml").write_text(YAML.replace("SOURCE", "people.csv").replace("RELEASE", name))
    Path("look.py").write_text(LOOKS.replace("out.csv", name))
    for mode in (0o644, 0o600, 0o640):
        done = subprocess.run(
            [sys.executable, "look.py", *sys.path], check=True, timeout=60, capture_output=True, text=True
        )
        seen = {line for line in done.stdout.splitlines() if "kanon" in line or line.startswith("release")}
        assert len(seen) >= 3, "the directory, the file in it, and the manifest"
        assert not [line for line in seen if line.endswith(" open")]
        found = [stat.S_IMODE(os.stat(path).st_mode) for path in (name, f"{name}.manifest.json")]
        assert found == [mode, mode], "as the umask says, and then as the file that is replaced"
        os.chmod(name, {0o644: 0o600, 0o600: 0o640}.get(mode, mode))


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_exported_values_are_their_owners_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true, made = os.open, []

    def opened(path: Any, flags: int, mode: int = 0o777, **named: Any) -> int:
        handle = true(path, flags, mode, **named)
        if flags & os.O_CREAT:
            made.append((os.path.basename(path), stat.S_IMODE(os.fstat(handle).st_mode)))
        return handle

    monkeypatch.setattr(os, "open", opened)
    with kanon_sql.connect() as db:
        kanon_sql.hierarchy(db, spec_of(), export=folder / "exported")
    exported = sorted(os.listdir("exported"))
    assert exported
    assert [(name, mode) for name, mode in sorted(made) if name in exported] == [(name, 0o600) for name in exported]


@pytest.mark.skipif(os.name != "posix", reason="directories are locked on POSIX")
@pytest.mark.slow
def test_what_a_killed_run_left_is_removed_and_told(folder: Path) -> None:
    Path("spec.yml").write_text(YAML.replace("SOURCE", "people.csv").replace("RELEASE", "out.csv"))
    Path("kill.py").write_text(KILLED)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def killed(step: int) -> None:
        done = subprocess.run([sys.executable, "kill.py", str(step)], env=environment, check=False, timeout=60)
        assert done.returncode == 9

    killed(3)
    (place,) = [path for path in left() if path.startswith(".out.csv.kanon-")]
    assert (stat.S_IMODE(os.stat(place).st_mode), os.listdir(place)) == (0o700, ["release.csv"])
    listed = json.loads(run("clean", "--files", ".", "--format", "json").stdout)
    assert [item["state"] for item in listed["objects"]] == ["left over", "left over"], "a manifest waits as well"
    assert place in left()
    with release_file._alone_in(folder):
        busy = run("clean", "--files", ".", "--yes")
        assert (busy.exit_code, "a run publishes there now" in busy.stderr) == (2, True)
    assert place in left()
    dropped = json.loads(run("clean", "--files", ".", "--format", "json", "--yes").stdout)
    assert [item["state"] for item in dropped["objects"]] == ["dropped", "dropped"]
    assert left() == {"spec.yml", "kill.py"}
    killed(2)
    Path(".out.csv.kanon-0123abc.csv").write_text("of an earlier version")
    assert any("removed what 2 killed run(s)" in note for note in publish().notes)
    assert left() == {"spec.yml", "kill.py", "out.csv", "out.csv.manifest.json"}
    assert not any("killed" in note for note in publish().notes)


@pytest.mark.slow
@pytest.mark.parametrize("step", [4, 6])
def test_a_run_that_is_killed_twice_in_its_last_step(folder: Path, step: int) -> None:
    """The file is known by the hidden manifest; that is put in its place before another one is written."""
    publish()
    os.replace("out.csv.manifest.json", ".out.csv.kanon.manifest.json")
    Path("spec.yml").write_text(YAML.replace("SOURCE", "people.csv").replace("RELEASE", "out.csv"))
    Path("kill.py").write_text(KILLED)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    # One rename more than usual: that of the manifest which is settled first.
    done = subprocess.run([sys.executable, "kill.py", str(step)], env=environment, check=False, timeout=60)
    assert done.returncode == 9
    publish()
    assert left() == {"out.csv", "out.csv.manifest.json", "spec.yml", "kill.py"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("step", [0, 1])
def test_an_error_of_the_operating_system_says_what_stands(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    publish()
    before = Path("out.csv").read_bytes()
    true, seen = Path.replace, []

    def failing(self: Path, target: Any) -> Path:
        seen.append(target)
        if len(seen) == step + 1:
            raise OSError(28, "No space left on device")
        return true(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    said = "its manifest is not beside it" if step else "nothing was published"
    with pytest.raises(DatabaseError, match=f"No space left on device; .*{said}"):
        publish()
    assert (Path("out.csv").read_bytes() == before) == (step == 0)
    monkeypatch.setattr(Path, "replace", true)
    publish()
    assert left() == {"out.csv", "out.csv.manifest.json"}


def test_a_directory_that_cannot_be_written_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DuckDB, "to_file", spoiled("SELECT error('no') FROM {}"))
    with pytest.raises(DatabaseError, match=r"the release cannot be written to out\.csv: .*nothing was published"):
        publish()
    assert left() == set()


@pytest.mark.slow
def test_runs_into_one_directory_wait_for_each_other(folder: Path) -> None:
    with release_file._alone_in(folder), kanon_sql.connect() as db, pytest.raises(QueryTimeout):
        kanon_sql.anonymize(db, spec_of(), timeout=1.5)
    assert left() == set()
    done: list[kanon_sql.Result] = []
    threads = [threading.Thread(target=lambda: done.append(publish())) for _ in range(3)]
    for thread in threads:
        thread.start()
        time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert len(done) == 3
    assert left() == {"out.csv", "out.csv.manifest.json"}
    with kanon_sql.connect() as db:
        assert kanon_sql.check(db, spec_of()).passed


# --- who reads it -----------------------------------------------------------------------------


@pytest.mark.slow
def test_check_risk_and_audit_read_the_file(folder: Path) -> None:
    db = kanon_sql.connect()
    with pytest.raises(DatabaseError, match=r"there is no file out\.csv; publish it"):
        kanon_sql.check(db, spec_of())
    assert kanon_sql.plan(db, spec_of()).release == "out.csv"
    measured = kanon_sql.risk(db, spec_of())
    assert measured.notes[0].startswith("the release 'out.csv' is not there, so the source was measured")
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
def test_the_order_of_a_file_is_attacked(folder: Path, database: duckdb.DuckDBPyConnection) -> None:
    """Whoever has the file has the order of its rows: in that of the source, it tells whose each is."""
    spec = spec_of(source="people")
    db = kanon_sql.connect(database)
    assert kanon_sql.anonymize(db, spec).passed
    assert kanon_sql.audit(db, spec, attacks=["unsorted"]).passed
    labelled = "SELECT '[' || age // 20 * 20 || ', ' || (age // 20 + 1) * 20 || ')' AS age, '*' AS zip, dx FROM people"
    database.execute(f"COPY ({labelled}) TO 'out.csv' (HEADER true)")
    (attack,) = kanon_sql.audit(db, spec, attacks=["unsorted"]).attacks
    assert attack.exposed == attack.examined == 200


def test_labels_of_a_csv_file_are_texts(folder: Path) -> None:
    """Guessing would make one number of 05 and 5, and one class of two."""
    Path("out.csv").write_text("age,zip,dx\n05,1,a\n5,1,a\n05,1,a\n5,1,a\n")
    with kanon_sql.connect() as db:
        checked = kanon_sql.check(db, spec_of())
    assert (checked.passed, checked.classes["count"], checked.classes["smallest"]) == (False, 2, 2)


def test_null_and_an_empty_label_are_two_classes_when_a_file_is_checked(folder: Path) -> None:
    Path("out.csv").write_text('age,zip,dx\n,1,a\n,1,a\n"",1,a\n"",1,a\n')
    with kanon_sql.connect() as db:
        assert kanon_sql.check(db, spec_of()).classes["count"] == 2


@pytest.mark.slow
def test_a_database_that_is_only_read_is_enough(folder: Path, database: duckdb.DuckDBPyConnection) -> None:
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


# --- who writes none --------------------------------------------------------------------------


def test_other_engines_refuse_and_say_why(folder: Path) -> None:
    with kanon_sql.connect("sqlite:///people.sqlite") as db:
        spec = spec_of(source="people")
        for verb in (kanon_sql.anonymize, kanon_sql.check):
            with pytest.raises((UnsupportedError, DatabaseError)) as refused:
                verb(db, spec)
            assert "sqlite" in str(refused.value)
            assert "DuckDB" in str(refused.value)
    for name in DIALECTS:
        if name != "duckdb":
            with pytest.raises(UnsupportedError, match="writes no files"):
                dialect_named(name).to_file(("t",), "out.csv", "run")
            with pytest.raises(UnsupportedError, match="reads no files"):
                dialect_named(name).from_file(("t",), "out.csv", {})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ledger": "releases"}, "a ledger compares releases that are tables of one database"),
        ({"recoding": {"save_as": "kept"}}, "recoding.save_as is a table beside the release"),
        (
            {"unit": "person", "privacy": [{"m_invariance": {"attribute": "dx", "m": 2, "history": "h"}}]},
            "m_invariance remembers its releases in tables",
        ),
        (
            {
                "sensitive": [],
                "privacy": [
                    {"differential_privacy": {"epsilon": 1, "delta": 1e-6, "generalization": {"age": 1, "zip": 1}}}
                ],
            },
            "differential_privacy remembers its releases in tables",
        ),
        ({"release": {"file": "out.txt"}}, r"expected a name that ends in .parquet or .csv"),
        ({"release": {"file": ".csv"}}, r"expected a name that ends in .parquet or .csv"),
        ({"release": {"file": "a*.csv"}}, "read as a pattern"),
        ({"release": {"file": "s3://a/b.csv"}}, "got a URL"),
        ({"release": {"file": 3}}, "release.file: expected a file name"),
        ({"release": {"file": "a.csv", "table": "x"}}, "release.table: unknown key"),
        ({"release": {"table": "x"}}, "release: expected a table name, {file: ...} or {view: ...}, got a mapping"),
        ({"release": {}}, "expected a table name, {file: ...} or {view: ...}, got "),
        ({"release_file": {"file": "a.csv"}}, "unknown key 'release_file'"),
    ],
)
def test_what_a_file_cannot_be(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        spec_of(**changes)


def test_verbs_that_need_a_table_say_so(folder: Path) -> None:
    with kanon_sql.connect() as db:
        with pytest.raises(SpecError, match=r"release\.file: apply needs the name of a table"):
            kanon_sql.apply(db, spec_of(), "learned")
        with pytest.raises(SpecError, match=r"release\.file: sqlmesh needs the name of a table"):
            audits(db, spec_of())
        with pytest.raises(SpecError, match=r"release\.file: anonymize with several parties"):
            kanon_sql.anonymize_parties([db, db], spec_of(source="people"))
    assert "The release is a file, which this script does not write" in kanon_sql.render(spec_of()).text


def test_a_spec_with_a_file_is_written_back_as_it_was(folder: Path) -> None:
    spec = spec_of()
    assert spec.to_dict()["release"] == {"file": "out.csv"}
    assert Spec.from_dict(spec.to_dict()) == spec
    assert spec.release is None
    assert spec.hash != spec_of(release={"file": "other.csv"}).hash


# --- the command line -------------------------------------------------------------------------


def written(source: str = "people.csv", release: str = "out.csv") -> str:
    Path("spec.yml").write_text(YAML.replace("SOURCE", f"'{source}'").replace("RELEASE", f"'{release}'"))
    return "spec.yml"


@pytest.mark.slow
def test_files_need_no_database(folder: Path) -> None:
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
    assert (kept.exit_code, "by which a later run knows" in kept.stderr) == (2, True)
    missing = run("anonymize", spec, "-d", "none.duckdb")
    assert (missing.exit_code, os.path.exists("none.duckdb")) == (3, False)
    table = written()
    Path(table).write_text(Path(table).read_text().replace("{file: 'out.csv'}", "released"))
    vanishing = run("anonymize", table)
    assert (vanishing.exit_code, "or publish a file: release: {file: out.parquet}" in vanishing.stderr) == (2, True)


@pytest.mark.slow
def test_standard_input_and_output(folder: Path) -> None:
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
def test_a_pipe_between_processes(folder: Path) -> None:
    done = spawn("anonymize", written("-", "-"), input=Path("people.csv").read_text())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("age,zip,dx\n")


def test_streams_are_for_the_command_line(folder: Path) -> None:
    with kanon_sql.connect() as db:
        with pytest.raises(SpecError, match=r"source\.file: - is standard input"):
            kanon_sql.anonymize(db, spec_of(source={"file": "-"}))
        with pytest.raises(SpecError, match=r"release\.file: - is standard output"):
            kanon_sql.anonymize(db, spec_of(release={"file": "-"}))


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
            lambda: kanon_sql.audit(engine, spec, other_views=["out.csv"]),
            lambda: kanon_sql.risk(engine, spec, population="out.csv"),
            lambda: kanon_sql.check(engine, spec, "out.json"),
            lambda: kanon_sql.plan(engine, Spec.from_dict({**spec.to_dict(), "source": "people.csv"})),
        ):
            with pytest.raises(SpecError, match="DuckDB would read a file by this name as it guesses"):
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
    assert "at line 60002: the column 'age' was taken for BIGINT" in said
    assert SECRET not in said
    assert "4711" not in said
