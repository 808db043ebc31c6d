"""Releases that are files: what is verified is the file, and nothing else is replaced by it."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError, VerificationError
from kanon_sql.release import file as release_file
from kanon_sql.spec import Spec
from kanon_sql.sql.dialects import DIALECTS, dialect_named
from kanon_sql.sql.dialects.duckdb import DuckDB
from kanon_sql.verbs.sqlmesh import audits
from tests.support.command_line import SECRET
from tests.support.released_files import SPEC, left, publish, rows_of, spec_of, spoiled

FORMATS = ["out.csv", "out.parquet"]


# --- what is in the file ----------------------------------------------------------------------


@pytest.mark.slow
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
    cwd: Path, persons: duckdb.DuckDBPyConnection, changes: dict[str, Any], name: str, monkeypatch: Any
) -> None:
    monkeypatch.setenv("KANON_TEST_KEY", "0123456789abcdef0123456789abcdef")
    db = kanon_sql.connect(persons)
    asked = {**SPEC, "source": "people", **changes}
    published = kanon_sql.anonymize(db, Spec.from_dict({**asked, "release": "released"})).raise_for_failure()
    table = persons.execute("SELECT * FROM released").fetchall()
    result = kanon_sql.anonymize(db, Spec.from_dict({**asked, "release": {"file": name}})).raise_for_failure()
    assert (result.node, result.rows, result.classes) == (published.node, published.rows, published.classes)
    assert result.achieved == published.achieved
    assert rows_of(name) == Counter(tuple(None if cell is None else str(cell) for cell in row) for row in table)
    assert [line[0] for line in persons.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()] == [
        "kanon_sql_manifest", "kanon_sql_scratch", "people", "released",
    ]  # fmt: skip
    assert left() == {name, f"{name}.manifest.json"}


TEXTS = [None, "", " ", "NULL", "a", '"', '""', "a,b", "a\nb", "a\r\nb", "\r", "\\", "'", "=1+1", "#", "#a", "é"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("recorded", [True, False], ids=["manifest", "alone"])
@pytest.mark.parametrize("columns", [2, 1])
@pytest.mark.sampled(8)
def test_every_text_comes_back_as_it_was(cwd: Path, name: str, recorded: bool, columns: int) -> None:
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


def test_plain_python_finds_the_promised_classes(cwd: Path) -> None:
    publish()
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    sizes = Counter((row["age"], row["zip"]) for row in rows)
    assert min(sizes.values()) >= 4
    assert list(rows[0]) == ["age", "zip", "dx"]
    assert not any(SECRET in cell for row in rows for cell in row.values())


def test_a_parquet_file_says_whose_it_is_and_the_manifest_what_it_holds(cwd: Path) -> None:
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
def test_numbers_and_dates_come_back_with_their_types(cwd: Path, persons: duckdb.DuckDBPyConnection) -> None:
    persons.execute(
        "CREATE TABLE kept AS SELECT age, 0.1::DOUBLE AS d, 1.50::DECIMAL(9, 2) AS e, DATE '2020-01-31' AS f, "
        "TIMESTAMP '2020-01-31 10:11:12.123456' AS g, true AS h FROM people"
    )
    for name in FORMATS:
        spec = spec_of(
            source="kept", quasi_identifiers={"age": None}, sensitive=[], keep=list("defgh"),
            privacy=[{"k_anonymity": 1}], release={"file": name},
        )  # fmt: skip
        result = kanon_sql.anonymize(kanon_sql.connect(persons), spec)
        assert result.manifest is not None
        kinds = ["VARCHAR", "DOUBLE", "DECIMAL(9,2)", "DATE", "TIMESTAMP", "BOOLEAN"]
        assert list(result.manifest["file"]["columns"].values()) == kinds


@pytest.mark.slow
def test_formulas_are_named_and_not_touched(cwd: Path, persons: duckdb.DuckDBPyConnection) -> None:
    persons.execute("UPDATE people SET dx = '=1+1' WHERE dx = 'flu'")
    persons.execute("ALTER TABLE people ADD COLUMN debt VARCHAR DEFAULT '-5'")
    db = kanon_sql.connect(persons)
    asked = {"source": "people", "keep": ["debt"]}
    result = kanon_sql.anonymize(db, spec_of(**asked))
    assert sum("some texts of dx begin with =" in note for note in result.notes) == 1
    assert "dropped instead" not in result.message
    assert ("=1+1",) in rows_of("out.csv", "dx")
    parquet = kanon_sql.anonymize(db, spec_of(**asked, release={"file": "out.parquet"}))
    assert not any("formulas" in note for note in parquet.notes)
    persons.execute("UPDATE people SET dx = NULL")
    assert not any("formulas" in note for note in kanon_sql.anonymize(db, spec_of(**asked)).notes)


@pytest.mark.slow
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
    cwd: Path, persons: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, query: str, name: str
) -> None:
    db, spec = kanon_sql.connect(persons), spec_of(source="people", release={"file": name})
    assert kanon_sql.anonymize(db, spec).passed
    before = Path(name).read_bytes(), Path(f"{name}.manifest.json").read_bytes()
    monkeypatch.setattr(DuckDB, "to_file", spoiled(query))
    with pytest.raises((VerificationError, DatabaseError)):
        kanon_sql.anonymize(db, spec)
    assert (Path(name).read_bytes(), Path(f"{name}.manifest.json").read_bytes()) == before
    assert left() == {name, f"{name}.manifest.json"}


def test_classes_are_counted_in_the_file_even_if_its_rows_are_not_compared(
    cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two checks, each of which refuses: labels and classes of the file, and its rows against the table's."""
    monkeypatch.setattr(DuckDB, "to_file", spoiled("SELECT row_number() OVER () || zip AS age, zip, dx FROM {}"))
    row = release_file.Workspace.row

    def same(self: Any, name: str, /, **context: Any) -> Any:
        return (0,) if name == "release/differing" else row(self, name, **context)

    monkeypatch.setattr(release_file.Workspace, "row", same)
    with pytest.raises(VerificationError, match="are not labels"):
        publish()
    assert left() == set()


def test_a_file_that_changes_after_it_was_verified_is_not_published(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true = release_file.publish_file

    def changed(file: Any, manifest: Any) -> None:
        with file.hidden.open("a") as out:
            out.write("x,y,z\n")
        true(file, manifest)

    monkeypatch.setattr("kanon_sql.verbs.publication.publish_file", changed)
    with pytest.raises(VerificationError, match="was changed before it was published"):
        publish()
    assert left() == set()


# --- what may be replaced ---------------------------------------------------------------------


@pytest.mark.slow
def test_only_a_file_of_ours_is_replaced(cwd: Path) -> None:
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


def test_the_source_is_never_replaced(cwd: Path) -> None:
    before = Path("people.csv").read_bytes()
    with pytest.raises(SpecError, match="the release would replace the source file"):
        publish(release={"file": "people.csv"})
    for link, make in (("link.csv", os.symlink), ("hard.csv", os.link)):
        make("people.csv", link)
        with pytest.raises(SpecError, match="is the source itself"):
            publish(release={"file": link})
    assert Path("people.csv").read_bytes() == before


def test_where_no_file_can_be_is_said_before_anything_runs(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkdir("there.csv")
    for name in ("none/out.csv", "there.csv"):
        with pytest.raises(SpecError, match="expected a file in an existing directory"):
            publish(release={"file": name})
    os.mkfifo("pipe.csv")
    with pytest.raises(SpecError, match="expected a file in an existing directory"):
        publish(release={"file": "pipe.csv"})


@pytest.mark.slow
def test_a_link_is_followed(cwd: Path) -> None:
    os.mkdir("data")
    os.symlink("data/real.csv", "out.csv")
    publish()
    assert os.path.islink("out.csv")
    assert sorted(os.listdir("data")) == ["real.csv", "real.csv.manifest.json"]
    publish()


def test_nothing_is_published_where_nothing_is_found(cwd: Path) -> None:
    with kanon_sql.connect() as db:
        result = kanon_sql.anonymize(db, spec_of(privacy=[{"k_anonymity": 1000}]))
    assert not result.passed
    assert left() == set()


# --- who writes none --------------------------------------------------------------------------


def test_other_engines_refuse_and_say_why(cwd: Path) -> None:
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
        ({"ledger": "releases"}, "a ledger compares tables of one database"),
        ({"recoding": {"save_as": "kept"}}, "recoding.save_as is a table in the release's schema"),
        (
            {"unit": "person", "privacy": [{"m_invariance": {"attribute": "dx", "m": 2, "history": "h"}}]},
            "m_invariance keeps a history in",
        ),
        (
            {
                "sensitive": [],
                "privacy": [
                    {"differential_privacy": {"epsilon": 1, "delta": 1e-6, "generalization": {"age": 1, "zip": 1}}}
                ],
            },
            "differential_privacy keeps a history in",
        ),
        ({"release": {"file": "out.txt"}}, r"expected a name that ends in one of .parquet, .csv"),
        ({"release": {"file": ".csv"}}, r"expected a name that ends in one of .parquet, .csv"),
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


def test_verbs_that_need_a_table_say_so(cwd: Path) -> None:
    with kanon_sql.connect() as db:
        with pytest.raises(SpecError, match=r"release\.file: apply needs the name of a table"):
            kanon_sql.apply(db, spec_of(), "learned")
        with pytest.raises(SpecError, match=r"release\.file: sqlmesh needs the name of a table"):
            audits(db, spec_of())
        with pytest.raises(SpecError, match=r"release\.file: anonymize with several parties"):
            kanon_sql.anonymize_parties([db, db], spec_of(source="people"))
    assert "The release is a file, which this script does not write" in kanon_sql.render(spec_of()).text


def test_a_spec_with_a_file_is_written_back_as_it_was(cwd: Path) -> None:
    spec = spec_of()
    assert spec.to_dict()["release"] == {"file": "out.csv"}
    assert Spec.from_dict(spec.to_dict()) == spec
    assert spec.release is None
    assert spec.hash != spec_of(release={"file": "other.csv"}).hash
