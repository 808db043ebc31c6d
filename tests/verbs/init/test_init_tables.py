"""A draft of several tables: how they refer to each other, by foreign keys or by names and values."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.cli import app
from kanon_sql.errors import SpecError
from kanon_sql.testing import Subject
from kanon_sql.verbs.init import init_tables
from tests.servers import subject_of

ENGINES = ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ("sqlite", "postgres", "mariadb"))]

PERSONS = 40

KEYS = {
    "patients": ("patient_id INTEGER PRIMARY KEY", ""),
    "visits": ("nr INTEGER PRIMARY KEY", ", FOREIGN KEY (who) REFERENCES patients(patient_id)"),
    "drugs": ("", ", FOREIGN KEY (of_visit) REFERENCES visits(nr)"),
}


def clinic(subject: Subject, *, declared: bool) -> None:
    """Patients with two visits each, and a drug for each visit; keys have other names where they are declared."""
    who, of_visit, nr = ("who", "of_visit", "nr") if declared else ("patient_id", "visit_id", "visit_id")
    keys = KEYS if declared else dict.fromkeys(KEYS, ("", ""))
    head = "patient_id INTEGER PRIMARY KEY" if declared else "patient_id INTEGER"
    subject.execute(f"CREATE TABLE patients ({head}, age INTEGER, ssn VARCHAR(20))")
    own = keys["visits"][0] or f"{nr} INTEGER"
    subject.execute(f"CREATE TABLE visits ({own}, {who} INTEGER, ward VARCHAR(9){keys['visits'][1]})")
    subject.execute(f"CREATE TABLE drugs ({of_visit} INTEGER, drug VARCHAR(9){keys['drugs'][1]})")
    patients = [f"({n}, {20 + n % 4}, '{n:09}')" for n in range(PERSONS)]
    visits = [f"({n}, {n // 2}, 'w{n % 2}')" for n in range(2 * PERSONS)]
    drugs = [f"({n}, 'd{n % 2}')" for n in range(2 * PERSONS)]
    for name, rows in (("patients", patients), ("visits", visits), ("drugs", drugs)):
        subject.execute(f"INSERT INTO {name} VALUES {', '.join(rows)}")


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("name", ENGINES)
def test_a_draft_runs(name: str, declared: bool) -> None:
    with subject_of(name) as subject:
        clinic(subject, declared=declared)
        engine = subject.connect()
        text = init_tables(engine, "patients", ["drugs", "visits"])
        assert ("a foreign key" in text) == declared
        assert ("its name and values" in text) != declared
        assert f"visits:  # {2 * PERSONS} rows" in text
        spec = RelationalSpec.parse(text)
        assert spec.person.key == ("patient_id",)
        assert {key: (table.above, table.refers_by) for key, table in spec.tables.items()} == {
            "visits": ("person", ("who" if declared else "patient_id",)),
            "drugs": ("visits", ("of_visit" if declared else "visit_id",)),
        }
        assert "ssn" not in spec.person.quasi_identifiers
        result = kanon_sql.plan(engine, spec)
        assert result.passed, result.message
        engine.close()


def tables_of(subject: Subject, **tables: tuple[dict[str, str], list[tuple[Any, ...]]]) -> None:
    for name, (columns, rows) in tables.items():
        subject.table(name, columns, rows)


def refused(subject: Subject, *tables: str) -> str:
    with pytest.raises(SpecError) as error:
        init_tables(subject.connect(), "people", tables)
    return str(error.value)


PEOPLE = ({"person_id": "integer", "age": "integer"}, [(n, 30) for n in range(4)])


def test_a_column_may_have_the_name_of_the_table_that_it_refers_to() -> None:
    """As the resources of FHIR do; a column of that name with other values refers to nothing."""
    with subject_of("duckdb") as subject:
        patients = [(f"p{n}", 20 + n % 4) for n in range(PERSONS)]
        conditions = [(f"c{n}", f"p{n % PERSONS}", f"E1{n % 2}") for n in range(2 * PERSONS)]
        columns = {"id": "text", "patient": "text", "code": "text"}
        tables_of(subject, patients=({"id": "text", "age": "integer"}, patients), conditions=(columns, conditions))
        spec = RelationalSpec.parse(init_tables(subject.connect(), "patients", ["conditions"]))
        assert spec.tables["conditions"].refers_by == ("patient",)
        subject.execute("UPDATE conditions SET patient = 'Patient/' || patient")
        with pytest.raises(SpecError, match="80 of 80 rows refer to no row of patients"):
            init_tables(subject.connect(), "patients", ["conditions"])


def test_what_cannot_be_drafted_is_said_with_counts() -> None:
    stays = {"stay_id": "integer", "person_id": "integer"}
    with subject_of("duckdb") as subject:
        tables_of(subject, people=PEOPLE, stays=(stays, [(1, 0), (2, 9), (3, None)]))
        assert "stays.person_id: 2 of 3 rows refer to no row of people" in refused(subject, "stays")
        tables_of(subject, people=PEOPLE, stays=(stays, [(1, 9)]))
        assert "stays.person_id: 1 of 1 row refer to no row of people" in refused(subject, "stays")
        tables_of(subject, people=(PEOPLE[0], [(1, 30), (1, 31), (2, 30)]), stays=(stays, [(1, 1)]))
        assert "stays: no foreign key and no column leads to another" in refused(subject, "stays")
        tables_of(subject, people=PEOPLE, other=({"ward": "text"}, [("x",)]))
        assert "other: no foreign key and no column leads to another" in refused(subject, "other")


def test_ways_that_meet_lead_to_one_person_or_are_refused() -> None:
    """A drug names its stay and its person, who is that of the stay, or is not."""
    with subject_of("duckdb") as subject:
        stays = ({"stay_id": "integer", "person_id": "integer"}, [(n, n % 4) for n in range(8)])
        same = [(n, n % 4, "x") for n in range(8)]
        columns = {"stay_id": "integer", "person_id": "integer", "drug": "text"}
        tables_of(subject, people=PEOPLE, stays=stays, drugs=(columns, same))
        spec = RelationalSpec.parse(init_tables(subject.connect(), "people", ["stays", "drugs"]))
        assert (spec.tables["drugs"].above, spec.tables["drugs"].refers_by) == ("stays", ("stay_id",))
        other = [(n, (n + (n < 3)) % 4, "x") for n in range(8)]
        tables_of(subject, drugs=(columns, other))
        said = refused(subject, "stays", "drugs")
        assert "drugs: 3 of 8 rows refer by person_id to another row of people than by way of stays" in said


def test_a_table_with_two_parents_and_tables_in_a_circle_are_refused() -> None:
    with subject_of("duckdb") as subject:
        a = ({"a_id": "integer", "person_id": "integer"}, [(n, n) for n in range(4)])
        b = ({"b_id": "integer", "person_id": "integer"}, [(n, n) for n in range(4)])
        both = ({"a_id": "integer", "b_id": "integer"}, [(0, 1), (1, 1)])
        tables_of(subject, people=PEOPLE, a=a, b=b, c=both)
        assert "c: it refers to 2 tables, a and b, and a table has one parent" in refused(subject, "a", "b", "c")
        round_about = {"x_id": "integer", "y_id": "integer"}
        tables_of(subject, x=(round_about, [(0, 0), (1, 1)]), y=(round_about, [(0, 0), (1, 1)]))
        assert "refer to each other in a circle" in refused(subject, "x", "y")


def test_no_value_is_in_a_draft_or_a_message() -> None:
    with subject_of("duckdb") as subject:
        rows = [(n, 30, "471147zqx") for n in range(4)]
        tables_of(
            subject,
            people=({"person_id": "integer", "age": "integer", "ward": "text"}, rows),
            stays=({"person_id": "integer", "unit": "text"}, [(n, "471147zqx") for n in range(4)]),
        )
        assert "471147zqx" not in init_tables(subject.connect(), "people", ["stays"])


def test_the_command(tmp_path: Any) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "c.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS person_id, 20 + i % 3 AS age FROM range(40) AS t(i)")
        connection.execute("CREATE TABLE stays AS SELECT i AS person_id, 'w' || i % 2 AS ward FROM range(40) AS t(i)")
    database = ["-d", str(tmp_path / "c.duckdb")]
    draft = str(tmp_path / "draft.yml")
    run = CliRunner().invoke(app, ["init", "people", "stays", *database, "-o", draft])
    assert run.exit_code == 0, run.output
    assert CliRunner().invoke(app, ["plan", draft, *database]).exit_code == 0
    for wrong, said in (
        (["init", *database], "Missing argument 'TABLE"),
        (["init", "people", "stays", "--unit", "person_id", *database], "--unit: with several tables only --k"),
    ):
        run = CliRunner().invoke(app, wrong)
        assert run.exit_code == 2
        assert said in " ".join(run.output.split())
