"""Files in the place of tables, and what is said of sources and arguments that are wrong, with their place."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import duckdb
import pytest

from tests.support.command_line import refused, run

ON = ("-d", "clinic.duckdb")
FILE_SPEC = """\
version: 1
source: {file: people.csv}
release: {file: out.csv}
quasi_identifiers:
  age: {intervals: [10]}
  zip: {prefix: [3]}
privacy:
  - k_anonymity: {k: 5}
suppression: {max_share: 0.5}
"""
TABLE_SPEC = """\
version: 1
kind: table
source: {file: people.csv}
release: cells
dimensions:
  zip: {}
  diagnosis: {}
rules: {threshold: 4}
"""


@pytest.fixture
def people(clinic: Path) -> Path:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("COPY (SELECT age, zip, diagnosis FROM visits) TO 'people.csv'")
    Path("file.yml").write_text(FILE_SPEC)
    Path("table.yml").write_text(TABLE_SPEC)
    return clinic


@pytest.mark.slow
def test_an_audit_takes_files_in_the_place_of_tables(people: Path) -> None:
    """What is found by files is what is found by tables with the same rows."""
    assert run("anonymize", "file.yml").exit_code == 0
    words = ("--external", "people.csv", "--on", "age,zip", "--earlier", "out.csv", "--format", "json")
    by_files = json.loads(run("audit", "file.yml", *words).stdout)
    with duckdb.connect("other.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM read_csv('people.csv')")
        connection.execute("CREATE TABLE earlier AS SELECT * FROM read_csv('out.csv', all_varchar = true)")
    words = ("--external", "people", "--on", "age,zip", "--earlier", "earlier", "--format", "json")
    by_tables = json.loads(run("audit", "file.yml", "-d", "other.duckdb", *words).stdout)
    keys = ("attack", "examined", "exposed", "beyond", "highest_risk")

    def figures(found: dict[str, list[dict[str, object]]]) -> list[dict[str, object]]:
        return [{key: attack.get(key) for key in keys} for attack in found["attacks"]]

    assert figures(by_files) == figures(by_tables)
    assert any(attack.get("examined") for attack in by_files["attacks"])


def test_an_audit_blames_the_table_that_it_was_given(people: Path) -> None:
    Path("dated.yml").write_text(
        "version: 1\nsource: {query: SELECT DATE '2001-02-03' + CAST(age AS INTEGER) AS day FROM visits}\n"
        "release: dated\nquasi_identifiers: {day: {dates: [year]}}\nprivacy: [{k_anonymity: {k: 1}}]\n"
    )
    assert run("anonymize", "dated.yml", *ON).exit_code == 0
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE others AS SELECT '03.02.2001' AS day FROM visits")
    said = refused(run("audit", "dated.yml", *ON, "--external", "others", "--on", "day"), 2)
    assert "others: day: dates need a DATE" in said
    assert "dated.yml:" not in said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("source: {file: nosuch.csv}", ["file.yml:2:10: source file", "nosuch.csv: there is no such file"]),
        ("source: {query: 'SELECT age, zip + FROM people'}", ["file.yml:2:", "near line 1, column", "of the query"]),
        ("source: {query: \"SELECT * FROM read_csv('gone.csv')\"}", ["file.yml:2:", "to the working directory"]),
        ("sauce: {file: people.csv}", ["file.yml:2:1", "did you mean 'source'?"]),
        ("source: {file: people.csv}\nqwerty: 1", ["file.yml:3:1", "version, kind, source, release, unit,"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_source_is_said_with_its_place(people: Path, written: str, said: list[str]) -> None:
    Path("file.yml").write_text(FILE_SPEC.replace("source: {file: people.csv}", written))
    result = run("plan", "file.yml")
    assert result.exit_code in (2, 3)
    for part in said:
        assert part in result.stderr, result.stderr


def test_a_column_that_a_query_has_not_is_said_with_its_place(people: Path) -> None:
    Path("file.yml").write_text(FILE_SPEC.replace("{file: people.csv}", "{query: SELECT nosuch FROM visits}"))
    said = refused(run("plan", "file.yml", *ON), 3)
    assert "file.yml:2:" in said
    assert 'source query: Binder Error: Referenced column "nosuch"' in said


def test_a_database_in_the_place_of_an_argument(people: Path) -> None:
    assert "a database goes after -d" in run("plan", "file.yml", "clinic.duckdb").stderr
    assert "a database goes after -d" not in run("plan", "file.yml", "other").stderr


@pytest.mark.slow
def test_a_table_of_a_file_is_published_in_a_new_database_and_written_as_csv(people: Path) -> None:
    assert run("publish", "table", "table.yml", "-d", "new.duckdb").exit_code == 0
    assert run("publish", "table", "table.yml", "--preview", "-o", "cells.csv").exit_code == 0
    with open("cells.csv", newline="") as file:
        written = [(row["zip"], row["diagnosis"], row["value"], row["suppressed"]) for row in csv.DictReader(file)]
    with duckdb.connect("new.duckdb", read_only=True) as connection:
        query = "SELECT zip, diagnosis, coalesce(CAST(value AS VARCHAR), ''), CAST(suppressed AS VARCHAR) FROM cells"
        assert sorted(written) == sorted(connection.execute(query).fetchall())
    assert {value == "" for _, _, value, suppressed in written if suppressed == "1"} == {True}
