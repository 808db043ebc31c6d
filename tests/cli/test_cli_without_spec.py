"""Verbs of the command line that are given a table and roles in the place of a spec."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.spec import Spec
from tests.support.command_line import SECRET, VERBS, command_of, refused, run

ON = ("-d", "clinic.duckdb")
ROLES = ("--quasi-identifiers", "age,zip")


def rows_of(query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect("clinic.duckdb", read_only=True) as connection:
        return connection.execute(query).fetchall()


def classes_of(rows: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], Counter[Any]]:
    found: dict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
    for *known, value in rows:
        found[tuple(known)][value] += 1
    return found


def smallest(rows: list[tuple[Any, ...]]) -> tuple[int, int]:
    """The k and the l of a table, by definition."""
    found = classes_of(rows).values()
    return min(own.total() for own in found), min(len(own) for own in found)


def change(statement: str) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute(statement)


# --- check -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_check_measures_what_it_is_asked_for(clinic: Path) -> None:
    rows = rows_of("SELECT age, zip, diagnosis FROM visits")
    k, values = smallest(rows)
    assert (k, values) == (1, 1)
    kept = rows_of(f"SELECT age, zip, diagnosis FROM visits WHERE zip <> '{SECRET}'")
    k, values = smallest(kept)
    change(f"CREATE TABLE kept AS SELECT * FROM visits WHERE zip <> '{SECRET}'")
    for asked_k, asked_l in ((k, values), (k + 1, values), (k, values + 1)):
        result = run("check", "kept", *ON, *ROLES, "--k", asked_k, "--l", f"diagnosis:{asked_l}", "--format", "json")
        data = json.loads(result.stdout)
        assert data["achieved"]["k_anonymity"]["k"] == k
        assert data["achieved"]["distinct_l_diversity(diagnosis)"]["l"] == values
        holds = asked_k <= k and asked_l <= values
        assert (data["verdict"] == "pass", result.exit_code) == (holds, 0 if holds else 1)
    assert run("check", "visits", *ON, *ROLES, "--k", "2").exit_code == 1


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.9])
def test_check_compares_classes_with_the_table(clinic: Path, share: float) -> None:
    change(f"CREATE TABLE kept AS SELECT * FROM visits WHERE zip <> '{SECRET}'")
    rows = rows_of("SELECT age, zip, diagnosis FROM kept")
    whole = Counter(value for *_, value in rows)
    distances = [
        sum(abs(own[value] / own.total() - whole[value] / len(rows)) for value in whole) / 2
        for own in classes_of(rows).values()
    ]
    change("COPY kept TO 'kept.parquet'")
    for table in ("kept", "kept.parquet"):
        result = run("check", table, *ON, *ROLES, "--t", f"diagnosis:{share}", "--format", "json")
        data = json.loads(result.stdout)
        assert data["achieved"]["t_closeness(diagnosis)"]["t"] == pytest.approx(max(distances))
        assert result.exit_code == (0 if max(distances) <= share else 1)


def test_check_counts_persons_by_the_unit_that_is_named(clinic: Path) -> None:
    change("CREATE TABLE twice AS SELECT 1 AS age, 'x' AS zip, i % 3 AS person FROM range(60) AS t(i)")
    assert run("check", "twice", *ON, *ROLES, "--k", "5").exit_code == 0
    result = run("check", "twice", *ON, *ROLES, "--k", "5", "--set", "unit=person", "--format", "json")
    assert (result.exit_code, json.loads(result.stdout)["achieved"]["k_anonymity"]["k"]) == (1, 3)


@pytest.mark.slow
def test_check_says_which_columns_were_not_looked_at(clinic: Path) -> None:
    for more, exit_code in (((), 0), (("--fail-on-warning",), 1)):
        change("CREATE OR REPLACE TABLE held AS SELECT 1 AS age, 'x' AS zip, 'n' || i AS name FROM range(9) AS t(i)")
        result = run("check", "held", *ON, *ROLES, "--k", "5", *more)
        assert "name: the spec does not name this column" in " ".join(result.stdout.split())
        assert result.exit_code == exit_code


def test_names_with_commas_and_colons(clinic: Path) -> None:
    change('CREATE TABLE odd AS SELECT 1 AS "last, first", 2 AS "a:b", i % 2 AS "c:d" FROM range(8) AS t(i)')
    roles = ("--quasi-identifiers", '"last, first",a:b', "--l", '"c:d":2')
    assert run("check", "odd", *ON, *roles).exit_code == 0
    assert "c:d" in refused(run("check", "odd", *ON, *roles, "--l", "c:d:3"), 2)


# --- plan and anonymize ----------------------------------------------------------------------


@pytest.mark.slow
def test_anonymize_publishes_what_it_is_asked_for(clinic: Path) -> None:
    result = run("anonymize", "visits", *ON, *ROLES, "--k", "7", "--l", "diagnosis:2")
    assert result.exit_code == 0, result.output
    k, values = smallest(rows_of("SELECT age, zip, diagnosis FROM visits_release"))
    assert k >= 7
    assert values >= 2
    said = " ".join(result.stdout.split())
    assert "only age, zip, diagnosis are released; --show spec prints it" in said
    assert json.loads(Path("visits_release.manifest.json").read_text())["spec"]["release"] == "visits_release"
    assert run("anonymize", "visits", *ON, *ROLES, "--k", "9").exit_code == 0  # its own release is replaced


@pytest.mark.slow
def test_the_spec_that_is_shown_is_the_one_that_was_used(clinic: Path) -> None:
    roles = (*ROLES, "--k", "7", "--l", "diagnosis:2", "--set", "identifiers=name")
    shown = run("plan", "visits", *ON, *roles, "--show", "spec").stdout
    text = shown[: shown.index("\nPASS")]
    drafted = Spec.parse(text)
    asked = drafted.to_dict()["privacy"]
    assert [next(iter(item)) for item in asked] == ["k_anonymity", "l_diversity"]
    assert (asked[0]["k_anonymity"]["k"], asked[1]["l_diversity"]["l"]) == (7, 2)
    assert list(drafted.quasi_identifiers) == ["age", "zip"]
    assert drafted.identifiers == ("name",)
    Path("drafted.yml").write_text(text)
    of_spec, of_roles = (
        json.loads(run("plan", *words, *ON, "--format", "json").stdout)
        for words in (("drafted.yml",), ("visits", *roles))
    )
    assert (of_spec["node"], of_spec["achieved"]) == (of_roles["node"], of_roles["achieved"])


@pytest.mark.slow
def test_plan_writes_nothing(clinic: Path) -> None:
    assert run("plan", "visits", *ON, *ROLES, "--k", "5").exit_code == 0
    assert rows_of("SELECT count(*) FROM duckdb_tables()") == [(1,)]
    assert not list(Path().glob("*.manifest.json"))


def test_a_table_that_is_there_is_not_replaced(clinic: Path) -> None:
    change("CREATE TABLE visits_release AS SELECT 1 AS precious")
    assert "did not publish" in refused(run("anonymize", "visits", *ON, *ROLES, "--k", "5"), 2)
    assert rows_of("FROM visits_release") == [(1,)]


# --- What is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("check", "visits", *ROLES),
            "no requirement was given; add --k 5, --l diagnosis:3 or --t diagnosis:0.3",
        ),
        (("check", "visits", "--k", "5"), "--k: --quasi-identifiers is missing; list"),
        (("plan", "visits", "--set", "unit=name"), "--set unit: --quasi-identifiers is missing; list"),
        (("check", "visits"), "for a table, also give the quasi-identifiers and"),
        (("plan", "visits.parquet"), "for a table, also give the quasi-identifiers and"),
        (("check", "spec.yml", "--k", "50"), "--k: spec.yml is a spec; set this in the spec"),
        (("check", "nowhere.yml", *ROLES, "--k", "5"), "--quasi-identifiers, --k: nowhere.yml is a spec"),
        (("anonymize", "spec.yml", "--l", "diagnosis:3"), "--l: spec.yml is a spec"),
        (("plan", "spec.yml", "--set", "keep=diagnosis"), "--set keep: spec.yml is a spec"),
        (("check", "visits", *ROLES, "--k", "5", "--table", "other"), "two tables are given"),
        (("check", "visits", *ROLES, "--l", "diagnosis"), "--l: expected COLUMN:NUMBER, such as diagnosis:3"),
        (("check", "visits", *ROLES, "--l", "diagnosis:2.5"), "--l: expected COLUMN:NUMBER"),
        (("check", "visits", *ROLES, "--l", ":2"), "--l: expected COLUMN:NUMBER"),
        (("check", "visits", *ROLES, "--t", "diagnosis:nan"), "such as diagnosis:0.3, got 'diagnosis:nan'"),
        (("check", "visits", *ROLES, "--t", "diagnosis:-1"), "--t: expected COLUMN:NUMBER"),
        (("check", "visits", *ROLES, "--l", "diagnosis:0"), "--l: expected l of at least 1, got 0"),
        (("check", "visits", *ROLES, "--t", "diagnosis:1.5"), "--t: expected t of at most 1, got 1.5"),
        (("check", "visits", *ROLES, "--k", "2", "--set", "sensitive=diagnosi"), "did you mean 'diagnosis'"),
        (("check", "visits", *ROLES, "--k", "2", "--set", "keep=NOSUCH"), "there is no column 'NOSUCH'"),
        (("check", "visits", "--quasi-identifiers", "AGES", "--k", "2"), "did you mean 'age'"),
        (("check", "visits", *ROLES, "--l", "diagnosis:3,diagnosis:2"), "column 'diagnosis' has two numbers"),
        (("check", "visits", *ROLES, "--k", "5", "--set", "unit=nam"), "there is no column 'nam'"),
        (("check", "visits", *ROLES, "--k", "5", "--set", "unit=nam"), "did you mean 'name'"),
        (("check", "visits", "--quasi-identifiers", "agee", "--k", "5"), "did you mean 'age'"),
        (("check", "visits", *ROLES, "--l", "diagnosi:2"), "did you mean 'diagnosis'"),
        (("check", "visits", *ROLES, "--l", "age:2"), "column 'age' is also under quasi_identifiers"),
        (("plan", "visits", "--quasi-identifiers", "agee"), "did you mean 'age'"),
        (("anonymize", "visits", *ROLES, "--t", "diagnosi:0.3"), "did you mean 'diagnosis'"),
        (("plan", "other", *ROLES), "no table or view 'other'"),
        (("plan", "visits", *ROLES, "--set", "max_bytes=1GB"), "write the spec with kanon-sql init, and give it here"),
        (("plan", "spec.yml", "--show", "spec"), "leave it out when you give a spec"),
        (("plan", "visits", *ROLES, "--show", "spec", "--format", "json"), "--show spec prints text"),
    ],
)
def test_what_cannot_stand_for_a_spec(clinic: Path, words: tuple[str, ...], said: str) -> None:
    result = run(*words, *ON)
    assert said in refused(result, 2)
    assert result.stdout == ""
    assert SECRET not in result.output


def test_a_table_that_is_not_there(clinic: Path) -> None:
    assert "no table or view 'other' in clinic.duckdb" in refused(run("check", "other", *ON, *ROLES, "--k", "5"), 3)
    assert "there is no database file" in refused(run("check", "visits", "-d", "no.duckdb", *ROLES, "--k", "5"), 3)
    assert "a release in :memory: is lost when this process" in refused(
        run("anonymize", "visits", *ROLES, "--k", "5"), 2
    )


@pytest.mark.slow
def test_a_csv_file_is_anonymized_to_a_csv_file_without_a_database(clinic: Path) -> None:
    change("COPY (SELECT age, zip, diagnosis FROM visits) TO 'people.csv'")
    result = run("anonymize", "people.csv", *ROLES, "--k", "5", "--set", "sensitive=diagnosis", "--show", "spec")
    assert result.exit_code == 0, result.output
    with open("people_release.csv", newline="", encoding="utf-8") as file:
        rows = [tuple(row[name] for name in ("age", "zip", "diagnosis")) for row in csv.DictReader(file)]
    assert rows
    assert smallest(rows)[0] >= 5
    assert Path("people_release.csv.manifest.json").is_file()
    drafted = Spec.parse(result.stdout.partition("PASS")[0])
    assert drafted.release_file is not None
    assert drafted.release_file.file == "people_release.csv"
    Path("people_release.csv").write_text("mine")
    assert "people_release.csv" in refused(run("anonymize", "people.csv", *ROLES, "--k", "5"), 2)
    assert Path("people_release.csv").read_text() == "mine"


def test_how_a_csv_file_is_written_is_said_in_the_place_of_a_spec(clinic: Path) -> None:
    ages = (34, 35, 36, 31)
    Path("gens.csv").write_bytes("".join(["nom;age\n", *(f"Zo\xe9;{age},5\n" for age in ages)]).encode("latin-1"))
    asked = ("gens.csv", "--quasi-identifiers", "age", "--k", 2)
    assert "encoding: latin-1" in refused(run("anonymize", *asked), 3)
    written = ("--set", "encoding=latin-1,decimal=comma")
    assert json.loads(run("plan", *asked, *written, "--format", "json").stdout)["rows"]["source"] == len(ages)
    run("anonymize", *asked, *written)
    with open("gens_release.csv", newline="") as file:
        released = Counter(row["age"] for row in csv.DictReader(file))
    assert released.total() == len(ages)
    assert min(released.values()) >= 2


@pytest.mark.parametrize("verb", ["check", "plan", "anonymize"])
def test_the_help_says_that_a_table_will_do(verb: str) -> None:
    said = run(verb, "--help", env={"COLUMNS": "80"}).stdout
    assert "SPEC|TABLE" in said
    assert re.search(r"^Without a spec:$", said, re.MULTILINE)


def test_no_other_verb_has_roles() -> None:
    options = {verb: {name for item in command_of(verb).params for name in item.opts} for verb in VERBS}
    assert {verb for verb in VERBS if "--l" in options[verb]} == {"check", "plan", "anonymize"}


@pytest.mark.slow
def test_a_weak_requirement_is_taken_with_a_note(clinic: Path) -> None:
    for option, words in (
        ("--k=1", "1-anonymity"),
        ("--l=diagnosis:1", "distinct 1-diversity"),
        ("--t=diagnosis:1", "1-close"),
    ):
        result = run("check", "visits", "-d", "clinic.duckdb", *ROLES, option, "--format", "json")
        assert result.exit_code == 0, result.output
        (note,) = [note for note in json.loads(result.stdout)["notes"] if "protects no one" in note]
        assert words in note


def test_a_file_in_utf_16_is_named_as_the_cause(clinic: Path) -> None:
    (clinic / "l.csv").write_text("age,zip\n20,100\n", "utf-16")
    told = refused(run("check", "l.csv", "--quasi-identifiers", "age,zip", "--k", "2"), 3)
    assert "l.csv: its text is UTF-16" in told


def test_check_reads_a_csv_file_as_it_is_written(clinic: Path) -> None:
    """In another encoding, with another delimiter."""
    rows = [("Zo\xe9", "1,5", "3/4/2024")] * 3 + [("Zo\xe9", "2,5", "4/3/2024")] * 2
    Path("gens.csv").write_bytes("".join(["nom;age;jour\n", *(f"{';'.join(row)}\n" for row in rows)]).encode("latin-1"))
    asked = ("check", "gens.csv", "--quasi-identifiers", "nom,age,jour", "--format", "json")
    assert "encoding: latin-1" in refused(run(*asked, "--k", 2), 3)
    written = ("--set", "encoding=latin-1,delimiter=;")
    found = json.loads(run(*asked, *written, "--k", 2).stdout)
    assert (found["verdict"], found["classes"]["count"], found["rows"]["source"]) == ("pass", 2, len(rows))
    assert json.loads(run(*asked, *written, "--k", 3).stdout)["verdict"] == "fail"
    close = json.loads(run(*asked[:3], "age", *asked[4:], *written, "--t", "jour:0.6").stdout)
    assert close["achieved"]["t_closeness(jour)"]["t"] == pytest.approx(0.6)
    visits = ("check", "visits", *ON, *ROLES, "--k", 2, "--set", "encoding=latin-1")
    assert "the table is no file; leave encoding" in refused(run(*visits), 2)


@pytest.mark.parametrize(
    ("cells", "written"),
    [
        (("1.0", "1.00"), "encoding=utf-8"),
        (("1,5", "1,50"), "delimiter=;"),
        (("1/2/2024", "01/02/2024"), "encoding=latin-1"),
        (('""', ""), "encoding=utf-16"),
        (("true", "TRUE"), "encoding=utf-8"),
    ],
)
def test_check_of_a_csv_file_counts_cells_as_they_are_written(
    clinic: Path, cells: tuple[str, str], written: str
) -> None:
    """Read by type they are one value, and a class of two; a reader of the file sees two classes."""
    encoding = written.partition("encoding=")[2] or "utf-8"
    Path("twins.csv").write_bytes("".join(["age;zip\n", *(f"{cell};1\n" for cell in cells)]).encode(encoding))
    asked = ("check", "twins.csv", "--quasi-identifiers", "age,zip", "--k", 2, "--format", "json", "--set", written)
    found = json.loads(run(*asked).stdout)
    assert (found["verdict"], found["classes"]["count"]) == ("fail", 2)
    assert "unknown key" in refused(run(*asked, "--set", "decimal=comma"), 2)
    with kanon_sql.connect(":memory:") as engine, pytest.raises(kanon_sql.SpecError, match="as they are written"):
        kanon_sql.check(engine, "twins.csv", quasi_identifiers=["age"], k=2, csv={"decimal": "comma"})
