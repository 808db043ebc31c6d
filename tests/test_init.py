"""``init``: the spec that it writes can be read, suggests what a person would, and shows no value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.connection import connect
from kanon_sql.engines.base import Column, Deadline, Engine, Kind
from kanon_sql.errors import SpecError
from kanon_sql.pipeline.anonymize import anonymize
from kanon_sql.pipeline.demo import _make_visits
from kanon_sql.pipeline.init import write_spec
from kanon_sql.pipeline.suggest import ColumnProfile, suggest
from kanon_sql.spec import (
    DatesHierarchy,
    IntervalsHierarchy,
    KAnonymity,
    LDiversity,
    PrefixHierarchy,
    Spec,
    ValueHierarchy,
)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


@pytest.fixture
def engine(connection: duckdb.DuckDBPyConnection) -> Engine:
    return connect(connection)


def written(connection: duckdb.DuckDBPyConnection, sql: str, table: str = "t") -> tuple[str, Spec]:
    connection.execute(sql)
    text = write_spec(connect(connection), table)
    return text, Spec.parse(text)


def sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# --- known tables ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clinic() -> Engine:
    engine = connect()
    _make_visits(engine, None)
    return engine


def test_the_roles_of_the_demo_table(clinic: Engine) -> None:
    text = write_spec(clinic, "visits")
    spec = Spec.parse(text)
    assert spec.source.table == ("visits",)
    assert spec.release == ("visits_release",)
    assert spec.unit == "patient_id"
    assert set(spec.identifiers) == {"visit_id", "name", "ssn"}
    assert set(spec.quasi_identifiers) == {"sex", "birth_date", "age", "zip", "marital_status", "education"}
    assert spec.sensitive == ("diagnosis",)
    assert spec.keep == ()
    assert spec.privacy == (KAnonymity(k=5), LDiversity(attribute="diagnosis", l=3, kind="distinct"))
    assert spec.suppression.limit == 0.02
    hierarchies = {name: item.hierarchy for name, item in spec.quasi_identifiers.items()}
    assert hierarchies["age"] == IntervalsHierarchy((Decimal(5), Decimal(10), Decimal(20)))
    assert hierarchies["zip"] == PrefixHierarchy((4, 3, 2))
    assert hierarchies["birth_date"] == DatesHierarchy(("month", "quarter", "year", "decade"))
    assert hierarchies["sex"] == ValueHierarchy()
    for name in ("visit_date", "ward", "charge"):
        assert re.search(rf"^  # - {name}  # .", text, re.MULTILINE), "left out, with a reason"
    assert "persons have several" in text


def test_every_column_stands_in_the_text_with_a_reason(clinic: Engine) -> None:
    text = write_spec(clinic, "visits")
    for column in clinic.columns("visits"):
        lines = [
            (above, line)
            for above, line in zip(["", *text.splitlines()], text.splitlines(), strict=False)
            if re.match(rf"(  # - | {{2}}- |unit: |  ){column.name}\b", line)
        ]
        assert len(lines) == 1, column.name
        assert "#" in "".join(lines[0])


def test_the_suggested_spec_runs(connection: duckdb.DuckDBPyConnection) -> None:
    text, spec = written(connection, ADULT)
    result = anonymize(connect(connection), spec)
    assert result.passed, result.message
    assert result.rows["released"] > 0
    assert text


ADULT = """
CREATE TABLE t AS SELECT
  CASE WHEN i % 3 = 0 THEN 'Female' ELSE 'Male' END AS sex,
  17 + (i * i) % 60 AS age,
  'race ' || (i % 2) AS race,
  'status ' || (i % 4) AS "marital-status",
  'degree ' || (i % 8) AS education,
  'land ' || (i % 3) AS "native-country",
  'class ' || (i % 5) AS workclass,
  (i * 7919) % 100003 AS fnlwgt,
  CASE WHEN i % 4 = 0 THEN '>50K' ELSE '<=50K' END AS "salary-class"
FROM range(2000) AS numbers(i)
"""


def test_the_roles_of_a_census_table(connection: duckdb.DuckDBPyConnection) -> None:
    _, spec = written(connection, ADULT)
    assert spec.unit is None
    assert set(spec.quasi_identifiers) == {
        "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    }  # fmt: skip
    assert spec.sensitive == ("salary-class",)
    assert spec.identifiers == ("fnlwgt",), "nearly every row has a number of its own"
    assert spec.privacy[1] == LDiversity(attribute="salary-class", l=2, kind="distinct")


# --- single columns -------------------------------------------------------------------------


def profile(name: str, kind: Kind = "text", *, rows: int = 1000, distinct: int = 30, **more: Any) -> ColumnProfile:
    column = Column(name, more.pop("type", kind.upper()), kind)
    return ColumnProfile(column, rows, more.pop("filled", rows), distinct, **more)


@pytest.mark.parametrize(
    ("given", "role"),
    [
        (profile("first_name"), "identifier"),
        (profile("lastName"), "identifier"),
        (profile("EMail"), "identifier"),
        (profile("phone_number"), "identifier"),
        (profile("account_no", "integer"), "identifier"),
        (profile("home address"), "identifier"),
        (profile("MRN", "integer"), "identifier"),
        (profile("notes"), "identifier"),
        (profile("whatever", distinct=990), "identifier"),
        (profile("customerId", "integer", distinct=1000), "identifier"),
        (profile("city_name"), "quasi_identifier"),
        (profile("zipCode", "integer", longest=5, distinct=900), "quasi_identifier"),
        (profile("Postal Code"), "quasi_identifier"),
        (profile("dateOfBirth", "date", distinct=999), "quasi_identifier"),
        (profile("gender", "boolean", distinct=2), "quasi_identifier"),
        (profile("hired", "date", distinct=999), "quasi_identifier"),
        (profile("shelf", distinct=20), "quasi_identifier"),
        (profile("code", distinct=400, shortest=4, longest=4, digits=1000), "quasi_identifier"),
        (profile("icd10_code"), "sensitive"),
        (profile("Disease"), "sensitive"),
        (profile("annual_income", "decimal", distinct=700), "sensitive"),
        (profile("page", "integer", distinct=300), "left_out"),
        (profile("amount", "decimal", distinct=999), "left_out"),
        (profile("essay", distinct=700), "left_out"),
        (profile("constant", distinct=1), "left_out"),
        (profile("picture", "other", distinct=3), "left_out"),
        (profile("seen", "moment", type="TIMESTAMP WITH TIME ZONE", distinct=3), "left_out"),
        (profile("age", "integer", filled=0, distinct=0), "left_out"),
    ],
    ids=lambda value: value.name if isinstance(value, ColumnProfile) else value,
)
def test_roles(given: ColumnProfile, role: str) -> None:
    (found,) = suggest([given])
    assert found.role == role
    assert found.reason


@pytest.mark.parametrize(
    ("given", "hierarchy"),
    [
        (profile("age", "integer", thirds=5, distinct=70), "{intervals: [5, 10, 20]}"),
        (profile("height", "decimal", thirds=-1, distinct=90), "{intervals: [0.05, 0.1, 0.2]}"),
        (profile("weight", "float", thirds=6, distinct=90), "{intervals: [10, 50, 100]}"),
        (profile("weight", "integer", thirds=7, distinct=90), "{intervals: [20, 100, 200]}"),
        (profile("height", "integer", thirds=2, distinct=90), "{intervals: [2, 10, 20]}"),
        (profile("height", "integer", thirds=None, distinct=90), "{intervals: [5, 10, 20]}"),
        (profile("height", "float", thirds=3000), "{intervals: [1000000000000, 5000000000000, 10000000000000]}"),
        (profile("children", "integer", thirds=2, distinct=8), "{}"),
        (profile("zip", longest=10), "{prefix: [5, 4, 3]}"),
        (profile("zip", longest=4), "{prefix: [3, 2, 1]}"),
        (profile("zip", longest=1), "{}"),
        (profile("birth_date", shortest=10, longest=10, distinct=900), "{prefix: [7, 4]}"),
        (profile("dob", "timestamp", type="TIMESTAMP"), "{dates: [month, quarter, year, decade]}"),
        (profile("sex"), "{}"),
    ],
    ids=str,
)  # fmt: skip
def test_hierarchies(given: ColumnProfile, hierarchy: str) -> None:
    (found,) = suggest([given])
    assert (found.role, found.hierarchy) == ("quasi_identifier", hierarchy)
    Spec.parse(f"version: 1\nsource: t\nquasi_identifiers:\n  q: {found.hierarchy}\nprivacy: [k_anonymity: {{k: 2}}]")


def test_a_unit_has_some_rows_but_not_hundreds() -> None:
    assert suggest([profile("patient_id", "integer", distinct=30)])[0].role == "unit"
    assert suggest([profile("student", distinct=2)])[0].role == "quasi_identifier", "yes or no"
    assert suggest([profile("customer_id", distinct=1000)])[0].role == "identifier", "one row per person"
    assert suggest([profile("customer_id", distinct=300, filled=999)])[0].role == "identifier", "some rows have none"
    both = suggest([profile("patient_id", distinct=300), profile("user_id", distinct=300)])
    assert [item.role for item in both] == ["unit", "identifier"]


def test_nearly_one_value_per_person_is_an_identifier() -> None:
    found = suggest([profile("patient_id", distinct=300), profile("badge", distinct=299), profile("x", distinct=200)])
    assert [item.role for item in found] == ["unit", "identifier", "left_out"]


def test_not_every_category_becomes_a_quasi_identifier() -> None:
    found = suggest([*(profile(f"x{i}", distinct=5) for i in range(30)), profile("sex", distinct=2)])
    chosen = [item.profile.name for item in found if item.role == "quasi_identifier"]
    assert len(chosen) == 10
    assert "sex" in chosen
    assert sum("quasi-identifiers already" in item.reason for item in found) == 21


# --- odd tables -----------------------------------------------------------------------------

HOSTILE = [
    "Select", "marital-status", 'a"b', "x: y", "#c", "new\nline", "naïve 名前 🙂", "no", "null", "~", "- z", "{q}",
    "tab\tbed", "back\\slash", "'", "%", "&a", "*a", "!t", "| x", "1", "1.5", "2020-01-01", " lead", "trail ", "<<",
    "a\u2028b", "a\x85b", "\ufeffbom", "x; drop table y", "kanon_source", "row_count", "a" * 70, "?", "@", "`", "---",
]  # fmt: skip


def test_hostile_names(connection: duckdb.DuckDBPyConnection) -> None:
    values = ", ".join(f"'v' || ((i + {n}) % 7) AS {sql_name(name)}" for n, name in enumerate(HOSTILE))
    sql = f"""CREATE TABLE "a""b: #.c" AS SELECT {values} FROM range(40) AS numbers(i)"""
    text, spec = written(connection, sql, '"a""b: #.c"')
    assert spec.source.table == ('a"b: #.c',)
    assert spec.release == ('a"b: #.c_release',)
    # The first ten are quasi-identifiers; take the # away from the others and they are kept.
    freed = Spec.parse(re.sub(r"^  # - ", "  - ", text, flags=re.MULTILINE))
    assert {*freed.quasi_identifiers, *freed.identifiers, *freed.sensitive, *freed.keep} == set(HOSTILE)
    assert len(text.splitlines()) == len(text.split("\n")) - 1, "no name breaks a line"


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=12))
def test_any_name(engine: Engine, connection: duckdb.DuckDBPyConnection, name: str) -> None:
    name = f"{name}x"  # never blank
    connection.execute(f"CREATE OR REPLACE TABLE t AS SELECT 1 AS {sql_name(name)}, 2 AS age")
    spec = Spec.parse(re.sub(r"^  # - ", "  - ", write_spec(engine, "t"), flags=re.MULTILINE))
    assert name in {*spec.quasi_identifiers, *spec.identifiers, *spec.sensitive, *spec.keep}


def test_names_that_a_spec_cannot_hold(connection: duckdb.DuckDBPyConnection) -> None:
    text, spec = written(
        connection, 'CREATE TABLE t AS SELECT 1 AS " ", 5 AS "\u2028", 2 AS "straße", 3 AS "STRASSE", 4 AS age'
    )
    assert "cannot hold" in text
    assert "age" in spec.quasi_identifiers


@pytest.mark.parametrize(
    "columns",
    ["age INTEGER", "x VARCHAR", "x VARCHAR, y DOUBLE", "patient_id INTEGER, sex VARCHAR, diagnosis VARCHAR"],
)
def test_an_empty_table(connection: duckdb.DuckDBPyConnection, columns: str) -> None:
    text, spec = written(connection, f"CREATE TABLE t ({columns})")
    assert spec.quasi_identifiers
    assert "0 rows" in text


@pytest.mark.parametrize(
    "value",
    ["i", "i % 3", "'v' || i", "'v' || (i % 3)", "NULL", "CAST(NULL AS DATE)", "DATE '2020-01-01' + CAST(i AS INTEGER)",
     "i = 1", "CAST(i AS DOUBLE) / 7", "'nan'::DOUBLE", "CASE WHEN i = 0 THEN 'inf'::FLOAT ELSE i END",
     "170141183460469231731687303715884105727 - i", "[i]", "{'a': i}", "uuid()", "'a'::BLOB", "INTERVAL 1 DAY",
     "TIMESTAMPTZ '2020-01-01 00:00:00+00'", "TIME '10:00'", "i::DECIMAL(18, 3)", "'x'::ENUM('x', 'y')", "''"],
)  # fmt: skip
@pytest.mark.parametrize("rows", [1, 50])
def test_one_column_of_any_type(connection: duckdb.DuckDBPyConnection, value: str, rows: int) -> None:
    _, spec = written(connection, f"CREATE TABLE t AS SELECT {value} AS x FROM range({rows}) AS numbers(i)")
    assert list(spec.quasi_identifiers) == ["x"], "the only candidate is taken"


def test_a_table_of_identifiers_has_no_start(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE t AS SELECT 'x' AS name, 'y' AS email")
    with pytest.raises(SpecError, match="no column could be a quasi-identifier"):
        write_spec(connect(connection), "t")


@pytest.mark.parametrize("table", ["nowhere", "visits.csv", "other.t", "self", 'x"; drop table t', "t.t.t.t"])
def test_a_missing_table(engine: Engine, table: str) -> None:
    with pytest.raises(SpecError, match="there is no table or view"):
        write_spec(engine, table)


def test_views_and_schemas(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.t AS SELECT i % 5 AS age FROM range(99) AS n(i)")
    _, spec = written(connection, "CREATE VIEW clinic.v AS SELECT * FROM clinic.t", "clinic.v")
    assert spec.source.table == ("clinic", "v")
    assert spec.release == ("clinic", "v_release")


def test_a_read_only_connection_is_enough(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(ADULT)
    engine = connect(tmp_path / "x.duckdb", read_only=True)
    try:
        assert Spec.parse(write_spec(engine, "t")).quasi_identifiers
    finally:
        engine.close()


# --- privacy and cost -----------------------------------------------------------------------


def test_no_value_of_the_table_is_in_the_text(connection: duckdb.DuckDBPyConnection) -> None:
    planted = """
        CREATE TABLE t AS SELECT
          CASE WHEN i = 7 THEN 'Xylophone' ELSE 'n' || i END AS name,
          CASE WHEN i = 7 THEN 7777 ELSE 20 + i % 50 END AS age,
          CASE WHEN i = 7 THEN 987654.25 ELSE i % 50 END AS height,
          CASE WHEN i = 7 THEN 'Zanzibar' ELSE 'c' || (i % 3) END AS city,
          CASE WHEN i = 7 THEN DATE '1803-02-01' ELSE DATE '1990-01-01' + CAST(i AS INTEGER) END AS birth_date,
          CASE WHEN i = 7 THEN '55555' ELSE '941' || (10 + i % 80) END AS zip,
          CASE WHEN i = 7 THEN 'Kuru' ELSE 'd' || (i % 4) END AS diagnosis,
          CASE WHEN i = 7 THEN NULL ELSE 'w' || (i % 4) END AS ward
        FROM range(1000) AS numbers(i)
    """
    text, _ = written(connection, planted)
    for value in ("Xylophone", "7777", "987654", "Zanzibar", "1803", "55555", "Kuru"):
        assert value not in text
    assert "under 1% NULL" in text, "a single row without a value is not counted"


def test_two_passes_and_two_rows(clinic: Engine) -> None:
    with clinic.run(Deadline(None)) as meter:
        write_spec(clinic, "visits")
    assert meter.source_scans == 2
    counted = [statement for statement in meter.log if statement.scans]
    assert [statement.name for statement in counted] == ["profile/columns", "profile/persons"]
    assert meter.rows_fetched == 2 + 1 + len(clinic.columns("visits")), "counts, the table's kind, its columns' types"


def test_one_pass_without_persons(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(ADULT)
    engine = connect(connection)
    with engine.run(Deadline(None)) as meter:
        write_spec(engine, "t")
    assert meter.source_scans == 1


def test_it_says_what_it_does(clinic: Engine) -> None:
    said: list[str] = []
    write_spec(clinic, "visits", report=lambda stage, nodes: said.append(stage))
    assert len(said) == 2


# --- HIPAA Safe Harbor ----------------------------------------------------------------------

KINDS = {
    "name": "A", "zip": "B", "home address": "B", "birth_date": "C", "admission_date": "C", "age": "C",
    "phone": "D", "fax": "E", "email": "F", "ssn": "G", "mrn": "H", "beneficiary_id": "I", "account_no": "J",
    "driver_license": "K", "licensePlate": "K", "vin": "L", "device_serial": "M", "url": "N", "ip_address": "O",
    "fingerprint": "P", "photo": "Q", "uuid": "R",
}  # fmt: skip
"""45 CFR 164.514(b)(2)(i): the paragraph of each."""


@pytest.mark.parametrize(("name", "letter"), KINDS.items())
def test_the_kinds_of_identifiers_by_name(name: str, letter: str) -> None:
    kind = profile(name).hipaa
    assert kind is not None
    assert kind.letter == letter


@pytest.mark.parametrize("name", ["diagnosis", "page", "state", "country", "sex", "charge", "visits"])
def test_what_is_no_kind(name: str) -> None:
    assert profile(name).hipaa is None


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("'p' || (i % 9) || '@example.org'", "(F)"),
        ("'https://example.org/' || (i % 9)", "(N)"),
        ("'10.0.' || (i % 9) || '.1'", "(O)"),
        ("'123-4' || (i % 9) || '-6789'", "(G)"),
        ("'212-555-010' || (i % 9)", "(D)"),
    ],
)
def test_the_kinds_of_identifiers_by_form(connection: duckdb.DuckDBPyConnection, value: str, what: str) -> None:
    text, spec = written(connection, f"CREATE TABLE t AS SELECT {value} AS x, i % 5 AS age FROM range(50) AS n(i)")
    assert spec.identifiers == ("x",)
    assert "its values have the form of" in text
    assert f"HIPAA Safe Harbor {what}" in text


@pytest.mark.parametrize("value", ["'a.b.c.d'", "'1-2'", "'2000-12-31'", "'@@'", "'1.2.3.4.5'", "'12345678901'"])
def test_other_forms(connection: duckdb.DuckDBPyConnection, value: str) -> None:
    text, _ = written(connection, f"CREATE TABLE t AS SELECT {value} AS x, i % 5 AS age FROM range(50) AS n(i)")
    assert "have the form of" not in text


def test_the_rules_that_leave_something(clinic: Engine) -> None:
    text = write_spec(clinic, "visits")
    assert "20,000 people" in text
    assert "over 89" in text
    assert "only the year" in text
    assert re.search(r"# .*distinction 0\.\d+", text)
