"""The data dictionary of a release: what it counts, what it never names, and the comments in the database."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.errors import RequirementNotMet, SpecError, UnsupportedError
from kanon_sql.report.evidence import dictionary_markdown
from kanon_sql.spec import Spec
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.verbs.evidence import data_dictionary, write_comments
from kanon_sql.verbs.evidence.data_dictionary import MOST_LABELS
from tests.servers import SUBJECTS, subject_of

TREE = {"north": ["a", "b"], "south": ["c", "d", "e"]}
SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "released",
    "quasi_identifiers": {"age": {"intervals": [10], "minimum_level": 1}, "place": {"tree": TREE, "minimum_level": 1}},
    "sensitive": ["dx"],
    "privacy": [{"k_anonymity": 4}],
    "suppression": {"max_share": 0.5},
}
SECRET = "Qwyjibo"


@pytest.fixture
def db() -> Any:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (age INT, place VARCHAR, dx VARCHAR)")
    rows = [(20 + i % 20, "abcde"[i % 5], SECRET if i == 7 else "flu") for i in range(100)]
    connection.executemany("INSERT INTO people VALUES (?, ?, ?)", [*rows, (71, "a", "flu")])
    yield kanon_sql.connect(connection)
    connection.close()


def test_each_label_has_its_level_its_values_and_its_rows(db: Any) -> None:
    spec = Spec.from_dict(SPEC)
    kanon_sql.anonymize(db, spec).raise_for_failure()
    found = data_dictionary(db, spec)
    released = db.connection.execute("SELECT age, place FROM released").fetchall()
    assert (found.rows, found.least) == (len(released), 4)
    for index, name in enumerate(("age", "place")):
        (column,) = [item for item in found.columns if item.entry.column == name]
        assert {label.text: label.rows for label in column.labels} == Counter(row[index] for row in released)
        assert (column.others, column.rare) == (0, 0)
    (place,) = [item for item in found.columns if item.entry.column == "place"]
    assert {(label.text, label.level, label.values) for label in place.labels} == {("north", 1, 2), ("south", 1, 3)}
    (dx,) = [item for item in found.columns if item.entry.column == "dx"]
    assert dx.labels == ()
    text = dictionary_markdown(found)
    assert SECRET not in text
    assert "| south | 1 | 3 | 60 |" in text
    assert "| dx | VARCHAR | sensitive attribute | released: the value as it is in the source |" in text


def test_a_label_of_few_rows_is_counted_and_not_named(db: Any) -> None:
    """Masked rows are a class of their own, which may be as small as one."""
    spec = Spec.from_dict({**SPEC, "suppression": {"max_share": 0.5, "style": "mask"}, "privacy": [{"risk": {
        "highest": 0.25, "average": 0.25, "records_at_risk": 0.05}}]})  # fmt: skip
    db.connection.execute(
        "CREATE TABLE released AS SELECT '[20, 30)' AS age, 'north' AS place, 'flu' AS dx FROM range(50)"
    )
    db.connection.execute(f"INSERT INTO released VALUES ('[70, 80)', '{SECRET}', 'flu')")
    found = data_dictionary(db, spec)
    assert found.least == 2
    (place,) = [item for item in found.columns if item.entry.column == "place"]
    assert ([label.text for label in place.labels], place.rare) == (["north"], 1)
    text = dictionary_markdown(found)
    assert SECRET not in text
    assert "1 label of fewer than 2 rows each, not named here." in text


def test_a_table_that_does_not_satisfy_shows_no_label(db: Any) -> None:
    spec = Spec.from_dict(SPEC)
    db.connection.execute("CREATE TABLE released AS SELECT CAST(age AS VARCHAR) AS age, place, dx FROM people")
    with pytest.raises(RequirementNotMet) as caught:
        data_dictionary(db, spec)
    assert "71" not in str(caught.value)
    with pytest.raises(SpecError, match="is the source"):
        data_dictionary(db, Spec.from_dict({**SPEC, "privacy": [{"k_anonymity": 1}]}), "people")


def test_many_labels_are_cut_to_those_that_most_rows_have(db: Any) -> None:
    number = MOST_LABELS + 7
    db.connection.execute(
        f"CREATE TABLE released AS SELECT CAST(i AS VARCHAR) AS age, 'north' AS place, 'flu' AS dx "
        f"FROM range({number}) AS a(i), range(9) AS b(j) WHERE j < 4 OR i < 10"
    )
    found = data_dictionary(db, Spec.from_dict(SPEC))
    (age,) = [item for item in found.columns if item.entry.column == "age"]
    assert (len(age.labels), age.others, age.rare) == (MOST_LABELS, 7, 0)
    assert {label.text for label in age.labels[:10]} == {str(i) for i in range(10)}


def test_labels_are_no_markup(db: Any) -> None:
    tree = {"a|b <i>`x`": ["a", "b"], "new\nline": ["c", "d", "e"]}
    spec = Spec.from_dict({**SPEC, "quasi_identifiers": {"place": {"tree": tree, "minimum_level": 1}}})
    kanon_sql.anonymize(db, spec).raise_for_failure()
    lines = dictionary_markdown(data_dictionary(db, spec)).splitlines()
    rows = [line for line in lines if line.endswith("| 60 |") or line.endswith("| 41 |")]
    assert len(rows) == 2
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in rows)


def test_a_released_file_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, db: Any) -> None:
    monkeypatch.chdir(tmp_path)
    db.connection.execute("COPY people TO 'people.csv'")
    files = {"source": {"file": "people.csv"}, "release": {"file": "out.csv"}}
    (tmp_path / "spec.yml").write_text(json.dumps({**SPEC, **files}))
    assert CliRunner().invoke(app, ["anonymize", "spec.yml"]).exit_code == 0
    run = CliRunner().invoke(app, ["release", "dictionary", "spec.yml", "-o", "out.md"])
    assert run.exit_code == 0, run.output
    text = (tmp_path / "out.md").read_text("utf-8")
    assert "generalized: intervals of 10 (level 1 of 2)" in text
    assert "| south | 1 | 3 | 60 |" in text
    run = CliRunner().invoke(app, ["release", "dictionary", "spec.yml", "--comment"])
    assert run.exit_code == 2
    assert "a file has no comments" in run.stderr


def test_the_database_says_what_the_columns_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("a.duckdb") as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 20 + i % 20 AS age, 'a' AS place, 'it''s' AS dx FROM range(100) AS t(i)"
        )
    (tmp_path / "spec.yml").write_text(json.dumps(SPEC))
    for command in (["anonymize", "spec.yml"], ["release", "dictionary", "spec.yml", "--comment", "-o", "a.md"]):
        run = CliRunner().invoke(app, [*command, "-d", "a.duckdb"])
        assert run.exit_code == 0, run.output
    with duckdb.connect("a.duckdb") as connection:
        comments = dict(connection.execute(
            "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'released'").fetchall())  # fmt: skip
    assert comments == {
        "age": "quasi-identifier, generalized: intervals of 10; level 1 of 2; 2 labels, each of at least 4 rows",
        "place": "quasi-identifier, generalized: groups of level 1 of the hierarchy, which has 2; level 1 of 2; "
        "1 label, each of at least 4 rows",
        "dx": "sensitive attribute, released: the value as it is in the source",
    }
    run = CliRunner().invoke(app, ["release", "dictionary", "spec.yml", "-d", "a.duckdb", "--table", "x", "--comment"])
    assert run.exit_code == 2


@pytest.mark.parametrize(
    ("dialect", "written"),
    [
        ("postgres", """COMMENT ON COLUMN "s"."t"."a b" IS 'it''s'"""),
        ("clickhouse", """ALTER TABLE "s"."t" COMMENT COLUMN "a b" 'it''s'"""),
        ("spark", """ALTER TABLE `s`.`t` ALTER COLUMN `a b` COMMENT 'it\\'s'"""),
        ("bigquery", """ALTER TABLE `s`.`t` ALTER COLUMN `a b` SET OPTIONS (description = 'it\\'s')"""),
        ("sqlite", None), ("mysql", None), ("tsql", None),
    ],
)  # fmt: skip
def test_each_engine_has_its_own_form_or_says_that_it_has_none(dialect: str, written: str | None) -> None:
    if written is None:
        with pytest.raises(UnsupportedError, match=r"--comment: .*write a file"):
            dialect_named(dialect).comment_on_column(("s", "t"), "a b", "it's")
    else:
        assert dialect_named(dialect).comment_on_column(("s", "t"), "a b", "it's") == written


def test_a_comment_is_not_for_a_file(db: Any) -> None:
    spec = Spec.from_dict(SPEC)
    kanon_sql.anonymize(db, spec).raise_for_failure()
    found = data_dictionary(db, spec)
    with pytest.raises(SpecError, match="a file has no comments"):
        write_comments(db, Spec.from_dict({**SPEC, "release": {"file": "a.csv"}}), found)


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in SUBJECTS])
def test_every_engine_counts_the_same_and_comments_or_says_why_not(name: str) -> None:
    columns = {"age": "integer", "place": "text", "dx": "text"}
    with subject_of(name) as subject, subject.connect() as engine:
        subject.table("people", columns, [(20 + i % 20, "abcde"[i % 5], "flu") for i in range(100)])
        spec = Spec.from_dict({**SPEC, "privacy": [{"k_anonymity": 20}]})
        try:
            assert kanon_sql.anonymize(engine, spec).passed
            found = data_dictionary(engine, spec)
            counted = {item.entry.column: {label.text: label.rows for label in item.labels} for item in found.columns}
            assert counted == {
                "age": {"[20, 30)": 50, "[30, 40)": 50}, "place": {"north": 40, "south": 60}, "dx": {}
            }  # fmt: skip
            if name in ("sqlite", "mariadb"):
                with pytest.raises(UnsupportedError, match="--comment"):
                    write_comments(engine, spec, found)
            else:
                write_comments(engine, spec, found)
            assert data_dictionary(engine, spec) == found
        finally:
            subject.drop("released")


# --- With the release, in one run -----------------------------------------------------------------


def test_a_run_publishes_its_dictionary_and_its_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as the command of its own writes afterwards."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("a.duckdb") as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 20 + i % 20 AS age, 'a' AS place, 'it''s' AS dx FROM range(100) AS t(i)"
        )
    (tmp_path / "spec.yml").write_text(json.dumps(SPEC))

    def said(*arguments: str) -> dict[str, str]:
        run = CliRunner().invoke(app, [*arguments, "-d", "a.duckdb"])
        assert run.exit_code == 0, run.output
        with duckdb.connect("a.duckdb") as connection:
            found = "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'released'"
            return dict(connection.execute(found).fetchall())

    together = said("anonymize", "spec.yml", "--set", "dictionary=one.md,comment=true")
    assert together["age"] == (
        "quasi-identifier, generalized: intervals of 10; level 1 of 2; 2 labels, each of at least 4 rows"
    )
    assert together == said("release", "dictionary", "spec.yml", "--comment", "-o", "two.md")
    assert Path("one.md").read_text() == Path("two.md").read_text()
    assert Path("one.md").stat().st_mode & 0o077 == 0
    assert said("anonymize", "spec.yml", "--manifest", "none") == dict.fromkeys(together), "a new table has none"


def test_a_run_that_cannot_comment_publishes_nothing(db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = Spec.from_dict(SPEC)
    for other in ({"release": {"file": "a.csv"}}, {"release": {"view": "v", "accept_sequence_risk": True}}):
        with pytest.raises(UnsupportedError, match="only a table has comments"):
            kanon_sql.anonymize(db, Spec.from_dict({**SPEC, **other}), comments=True)

    def refused(self: Any, table: Any, column: str, text: str) -> str:
        if text == "text":
            return "SELECT 1"
        return "COMMENT ON COLUMN nowhere.x IS ''"

    monkeypatch.setattr(type(db.dialect), "comment_on_column", refused)
    with pytest.raises(kanon_sql.KanonError, match="nowhere"):
        kanon_sql.anonymize(db, spec, comments=True)
    found = db.connection.execute("SELECT table_name FROM duckdb_tables() WHERE NOT temporary").fetchall()
    assert {name for (name,) in found} <= {"people", "kanon_sql_scratch", "kanon_sql_manifest"}


@pytest.mark.sampled(6)
@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in SUBJECTS])
def test_every_engine_comments_with_the_release_or_says_why_not(name: str) -> None:
    with subject_of(name) as subject, subject.connect() as engine:
        columns = {"age": "integer", "place": "text", "dx": "text"}
        subject.table("people", columns, [(20 + i % 20, "abcde"[i % 5], "flu") for i in range(100)])
        spec = Spec.from_dict({**SPEC, "privacy": [{"k_anonymity": 20}]})
        if name in ("sqlite", "mariadb"):
            with pytest.raises(UnsupportedError, match="--comment"):
                kanon_sql.anonymize(engine, spec, comments=True)
            return
        scans = kanon_sql.anonymize(engine, spec).cost.source_scans
        result = kanon_sql.anonymize(engine, spec, comments=True)
        assert result.passed
        assert result.cost.source_scans == scans
        assert kanon_sql.check(engine, spec).passed
