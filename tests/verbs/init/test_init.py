"""``init``: the spec that it writes can be read, suggests what a person would, and shows no value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.engines.base import Column, Engine, Kind
from kanon_sql.engines.connection import connect
from kanon_sql.errors import HierarchyError, SpecError
from kanon_sql.hierarchies.files import read_hierarchy
from kanon_sql.hierarchies.kinds.dates import DatesHierarchy
from kanon_sql.hierarchies.kinds.intervals import IntervalsHierarchy
from kanon_sql.hierarchies.kinds.prefix import PrefixHierarchy
from kanon_sql.hierarchies.kinds.value import ValueHierarchy
from kanon_sql.models.privacy.l_diversity import LDiversityRequirement
from kanon_sql.spec import (
    KAnonymityRequirement,
    Spec,
)
from kanon_sql.verbs.anonymize import anonymize
from kanon_sql.verbs.demo import _make_visits
from kanon_sql.verbs.init import init
from kanon_sql.verbs.init.columns import ColumnProfile
from kanon_sql.verbs.init.suggest import suggest
from kanon_sql.verbs.plan import plan
from tests.support.drafts import metered


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


@pytest.fixture
def engine(connection: duckdb.DuckDBPyConnection) -> Engine:
    return connect(connection)


def written(connection: duckdb.DuckDBPyConnection, sql: str, table: str = "t") -> tuple[str, Spec]:
    connection.execute(sql)
    text = init(connect(connection), table)
    return text, Spec.parse(text)


def sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# --- known tables ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clinic() -> Engine:
    engine = connect()
    _make_visits(engine)
    return engine


@pytest.mark.slow
def test_the_roles_of_the_demo_table(clinic: Engine) -> None:
    text = init(clinic, "visits")
    spec = Spec.parse(text)
    assert spec.source.table == ("visits",)
    assert spec.release == ("visits_release",)
    assert spec.unit == "patient_id"
    assert set(spec.identifiers) == {"visit_id", "name", "ssn"}
    assert set(spec.quasi_identifiers) == {"sex", "birth_date", "age", "zip", "marital_status", "education"}
    assert spec.sensitive == ("diagnosis",)
    assert spec.keep == ()
    assert spec.privacy == (
        KAnonymityRequirement(k=5),
        LDiversityRequirement(attribute="diagnosis", l=3, variant="distinct"),
    )
    assert spec.suppression.limit == ("max_share", 0.02)
    hierarchies = {name: item.hierarchy for name, item in spec.quasi_identifiers.items()}
    assert hierarchies["age"] == IntervalsHierarchy(intervals=(Decimal(5), Decimal(10), Decimal(20)))
    assert hierarchies["zip"] == PrefixHierarchy(prefix=(4, 3, 2))
    assert hierarchies["birth_date"] == DatesHierarchy(dates=("month", "quarter", "year", "decade"))
    assert hierarchies["sex"] == ValueHierarchy()
    for name in ("visit_date", "ward", "charge"):
        assert re.search(rf"^  # - {name}  # .", text, re.MULTILINE), "left out, with a reason"
    assert "it varies within a person" in text


@pytest.mark.slow
def test_every_column_stands_in_the_text_with_a_reason(clinic: Engine) -> None:
    text = init(clinic, "visits")
    for column in clinic.columns("visits"):
        lines = [
            (above, line)
            for above, line in zip(["", *text.splitlines()], text.splitlines(), strict=False)
            if re.match(rf"(  # - | {{2}}- |unit: |  ){column.name}\b", line)
        ]
        assert len(lines) == 1, column.name
        assert "#" in "".join(lines[0])


@pytest.mark.slow
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
  'status ' || (i * 7919 % 1009 % 4) AS "marital-status",
  'degree ' || (i * 5003 % 997 % 8) AS education,
  'land ' || (i % 3) AS "native-country",
  'class ' || (i % 5) AS workclass,
  (i * 7919) % 100003 AS fnlwgt,
  CASE WHEN i * 104729 % 1013 % 4 = 0 THEN '>50K' ELSE '<=50K' END AS "salary-class"
FROM range(2000) AS numbers(i)
"""


@pytest.mark.slow
def test_the_roles_of_a_census_table(connection: duckdb.DuckDBPyConnection) -> None:
    _, spec = written(connection, ADULT)
    assert spec.unit is None
    assert set(spec.quasi_identifiers) == {
        "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    }  # fmt: skip
    assert spec.sensitive == ("salary-class",)
    assert spec.identifiers == ("fnlwgt",), "nearly every row has a number of its own"
    assert spec.privacy[1] == LDiversityRequirement(attribute="salary-class", l=2, variant="distinct")


# --- single columns -------------------------------------------------------------------------


def profile(name: str, kind: Kind = "text", *, rows: int = 1000, distinct: int = 30, **more: Any) -> ColumnProfile:
    column = Column(name, more.pop("type", kind.upper()), kind)
    return ColumnProfile(column, rows, more.pop("filled", rows), distinct, **more)


@pytest.mark.parametrize(
    ("given", "role"),
    [
        (profile("first_name"), "identifier"),
        (profile("lastName"), "identifier"),
        (profile("EMail", distinct=990), "identifier"),
        (profile("email"), "unit"),
        (profile("phone"), "identifier"),
        (profile("phone_number"), "identifier"),
        (profile("account_no", "integer"), "identifier"),
        (profile("home address"), "identifier"),
        (profile("MRN", "integer", distinct=990), "identifier"),
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
        (profile("dob", "timestamp", type="TIMESTAMP"), "{dates: [day, month, quarter, year, decade]}"),
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


@pytest.mark.slow
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


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=12))
def test_any_name(engine: Engine, connection: duckdb.DuckDBPyConnection, name: str) -> None:
    name = f"{name}x"  # never blank
    connection.execute(f"CREATE OR REPLACE TABLE t AS SELECT 1 AS {sql_name(name)}, 2 AS age")
    spec = Spec.parse(re.sub(r"^  # - ", "  - ", init(engine, "t"), flags=re.MULTILINE))
    assert name in {*spec.quasi_identifiers, *spec.identifiers, *spec.sensitive, *spec.keep}


def test_names_that_a_spec_cannot_hold_and_types_that_cannot_be_compared(connection: duckdb.DuckDBPyConnection) -> None:
    text, spec = written(
        connection,
        'CREATE TABLE t AS SELECT 1 AS " ", 5 AS "\u2028", 2 AS "straße", 3 AS "STRASSE", 4 AS age, 6::VARIANT AS odd',
    )
    assert "a spec cannot use (rename or cast them in a source query): 4" in text
    assert "odd" not in text
    assert "age" in spec.quasi_identifiers


@pytest.mark.parametrize(
    "columns",
    ["age INTEGER", "x VARCHAR", "x VARCHAR, y DOUBLE", "patient_id INTEGER, sex VARCHAR, diagnosis VARCHAR"],
)
def test_an_empty_table(connection: duckdb.DuckDBPyConnection, columns: str) -> None:
    text, spec = written(connection, f"CREATE TABLE t ({columns})")
    assert spec.quasi_identifiers
    assert "0 rows" in text


@pytest.mark.sampled(2)
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
    with pytest.raises(SpecError, match="no column looks like a quasi-identifier"):
        init(connect(connection), "t")


@pytest.mark.parametrize("table", ["nowhere", "other.t", "self", 'x"; drop table t', "t.t.t.t"])
def test_a_missing_table(engine: Engine, table: str) -> None:
    with pytest.raises(SpecError, match="there is no table or view"):
        init(engine, table)


@pytest.mark.parametrize("table", ["visits.csv", "visits.parquet", "a directory/visits.csv.gz"])
def test_a_missing_file(engine: Engine, table: str) -> None:
    with pytest.raises(SpecError, match=f"there is no file {table!r} here"):
        init(engine, table)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("stem", ["visits", "o'dd, {na}me: #1"])
def test_a_file(connection: duckdb.DuckDBPyConnection, tmp_path: Path, stem: str, ending: str) -> None:
    file = tmp_path / f"{stem}.{ending}"
    text = str(file).replace("'", "''")
    connection.execute(f"COPY (SELECT i % 5 AS age, i % 3 AS sex FROM range(99) AS n(i)) TO '{text}' (FORMAT {ending})")
    spec = Spec.parse(init(connect(connection), str(file)))
    assert spec.source.file == str(file)
    assert spec.release == (f"{stem}_release",)
    assert set(spec.quasi_identifiers) == {"age", "sex"}
    assert plan(connect(connection), spec).rows["source"] == 99


def test_a_table_goes_before_a_file_of_its_name(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t").write_text("nothing that could be read")
    _, spec = written(connection, "CREATE TABLE t AS SELECT i % 5 AS age FROM range(99) AS n(i)")
    assert spec.source.table == ("t",)


def test_views_and_schemas(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.t AS SELECT i % 5 AS age FROM range(99) AS n(i)")
    _, spec = written(connection, "CREATE VIEW clinic.v AS SELECT * FROM clinic.t", "clinic.v")
    assert spec.source.table == ("clinic", "v")
    assert spec.release == ("clinic", "v_release")


@pytest.mark.slow
def test_a_read_only_connection_is_enough(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(ADULT)
    engine = connect(tmp_path / "x.duckdb", read_only=True)
    try:
        assert Spec.parse(init(engine, "t")).quasi_identifiers
    finally:
        engine.close()


# --- privacy and cost -----------------------------------------------------------------------


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_pass_for_each_question(clinic: Engine) -> None:
    _, meter = metered(clinic, "visits", largest_combination=0)
    counted = [statement for statement in meter.log if statement.scans]
    kinds = "disclosure/risk/vectors"
    assert [statement.name for statement in counted] == ["verbs/init/columns", "verbs/init/persons", kinds]
    assert meter.source_scans == 3


def test_one_pass_without_persons(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(ADULT)
    engine = connect(connection)
    _, meter = metered(engine, "t", largest_combination=0)
    assert meter.source_scans == 1


@pytest.mark.slow
def test_it_says_what_it_does(clinic: Engine) -> None:
    said: list[str] = []
    init(clinic, "visits", report=lambda stage, nodes: said.append(stage))
    assert len(said) == 4


# --- HIPAA Safe Harbor ----------------------------------------------------------------------

KINDS = {
    "name": "A", "zip": "B", "home address": "B", "birth_date": "C", "admission_date": "C", "age": "C",
    "phone": "D", "fax": "E", "email": "F", "ssn": "G", "mrn": "H", "beneficiary_id": "I", "account_no": "J",
    "driver_license": "K", "licensePlate": "K", "vin": "L", "device_serial": "M", "url": "N", "ip_address": "O",
    "mac_address": "M", "webAddress": "N",
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


@pytest.mark.slow
def test_the_rules_that_leave_something(clinic: Engine) -> None:
    text = init(clinic, "visits")
    assert "20,000 people" in text
    assert "over 89" in text
    assert "only the year" in text
    assert re.search(r"# .*distinction 0\.\d+", text)


# --- Columns together -----------------------------------------------------------------------


def shares(rows: list[tuple[Any, ...]], pairs: list[tuple[int, ...]]) -> dict[tuple[int, ...], float]:
    """Per combination of columns, the share of rows that no other row is like."""
    found = {}
    for pair in pairs:
        counts = Counter(tuple(row[column] for column in pair) for row in rows)
        found[pair] = sum(count for count in counts.values() if count == 1) / len(rows)
    return found


@pytest.mark.slow
def test_what_columns_tell_apart_together(connection: duckdb.DuckDBPyConnection) -> None:
    text, _ = written(
        connection,
        "CREATE TABLE t AS SELECT 20 + i * i % 41 AS age, 'r' || (i * i * i % 17) AS race, 's' || (i % 5 // 4) AS sex, "
        "(i * i) % 300 / 7.0 AS amount, 'd' || (i % 3) AS diagnosis FROM range(300) AS n(i)",
    )
    rows = connection.execute("SELECT * FROM t").fetchall()
    expected = shares(rows, [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3), (0, 1, 2)])
    assert f"# All together set about {expected[0, 1, 2]:.0%} of the rows apart" in text
    best = max([(0, 1), (0, 2), (1, 2)], key=lambda pair: expected[pair])
    assert best == (0, 1)
    assert f"# Of two, age and race do so most: about {expected[0, 1]:.0%}." in text
    partner = max((0, 1, 2), key=lambda column: expected[column, 3])
    assert re.search(
        rf"# - amount  # .*; with {('age', 'race', 'sex')[partner]} it sets "
        rf"about {expected[partner, 3]:.0%} of the rows apart",
        text,
    )


@pytest.mark.slow
def test_combinations_that_set_every_row_apart_and_none(connection: duckdb.DuckDBPyConnection) -> None:
    text, _ = written(
        connection, "CREATE TABLE t AS SELECT i % 10 AS age, 'r' || (i // 10) AS race FROM range(90) n(i)"
    )
    assert "# All together set every one of the rows apart" in text
    assert "# No two rows are alike in age and race." in text
    text, _ = written(connection, "CREATE OR REPLACE TABLE t AS SELECT i % 3 AS age, 'x' AS sex FROM range(90) n(i)")
    assert "apart from every other" not in text, "one column has one value, and tells nothing"
    text, _ = written(
        connection, "CREATE OR REPLACE TABLE t AS SELECT i % 3 AS age, 'r' || (i % 3) AS race FROM range(90) n(i)"
    )
    assert "# All together set none of the rows apart" in text


def test_persons_are_counted_where_a_table_has_several_rows_of_each(connection: duckdb.DuckDBPyConnection) -> None:
    text, spec = written(
        connection,
        "CREATE TABLE t AS SELECT i // 3 AS patient_id, i // 3 % 40 AS age, 'r' || (i // 120) AS race "
        "FROM range(360) n(i)",
    )
    assert spec.unit == "patient_id"
    assert "# All together set every one of the persons apart" in text


# --- Widths by spread -----------------------------------------------------------------------


def finest(values: str, connection: duckdb.DuckDBPyConnection) -> tuple[Decimal, ...]:
    _, spec = written(connection, f"CREATE OR REPLACE TABLE t AS SELECT {values} AS height FROM range(1000) AS n(i)")
    hierarchy = spec.quasi_identifiers["height"].hierarchy
    assert isinstance(hierarchy, IntervalsHierarchy)
    return hierarchy.intervals


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ("CAST(i AS DOUBLE)", 49, 949),
        ("i / 100.0", 0.49, 9.49),
        ("CASE WHEN i = 7 THEN 1e12 ELSE 150.5 + i % 50 END", 152.5, 197.5),
        ("CASE WHEN i < 40 THEN -1e9 + i ELSE 3 + i / 250.0 END", 3.2, 6.8),
    ],
)
def test_widths_fit_where_most_values_lie(
    values: str, low: float, high: float, connection: duckdb.DuckDBPyConnection
) -> None:
    """Nine of ten rows lie in about fifteen of the finest intervals, whatever single rows hold."""
    widths = finest(values, connection)
    assert 7 <= (high - low) / float(widths[0]) <= 35
    assert all(coarse % fine == 0 for fine, coarse in pairwise(widths))
    assert all(int(width.normalize().as_tuple().digits[0]) in (1, 2, 5) for width in widths)


def test_a_number_that_hardly_varies_keeps_the_widths_of_its_range(connection: duckdb.DuckDBPyConnection) -> None:
    assert finest("CASE WHEN i = 0 THEN 900.5 ELSE 1.5 END", connection) == (50, 100, 200)


def test_times_are_generalized_from_their_day(connection: duckdb.DuckDBPyConnection) -> None:
    _, spec = written(
        connection,
        "CREATE TABLE t AS SELECT TIMESTAMP '2020-01-01 10:00:00' + INTERVAL (i) HOUR AS born FROM range(900) n(i)",
    )
    assert spec.quasi_identifiers["born"].hierarchy == DatesHierarchy(
        dates=("day", "month", "quarter", "year", "decade")
    )


# --- Skeletons ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("table", ["visits", "adult"])
def test_the_spec_with_skeletons_runs(
    table: str, clinic: Engine, connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    engine = clinic
    if table == "adult":
        connection.execute(ADULT.replace("TABLE t", "TABLE adult"))
        engine = connect(connection)
    text = init(engine, table, skeleton_directory=tmp_path / "to fill")
    spec = Spec.parse(text)
    files = {path.name for path in (tmp_path / "to fill").iterdir()}
    lists = {"visits": {"marital_status", "education"}, "adult": {"marital-status", "education", "workclass"}}
    assert files == {f"{name}.csv" for name in lists[table]}
    assert all(spec.quasi_identifiers[name].to_dict()["file"] for name in lists[table])
    rows = read_hierarchy(tmp_path / "to fill" / "education.csv")
    assert len(rows) == 8
    assert all(row == (row[0], row[0], "*") for row in rows)
    assert plan(engine, spec).passed
    with pytest.raises(HierarchyError, match="there is a file already"):
        init(engine, table, skeleton_directory=tmp_path / "to fill")


def test_no_value_is_in_the_text_with_skeletons(connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    sql = "CREATE TABLE t AS SELECT CASE WHEN i = 7 THEN 'Zanzibar' ELSE 'c' || (i % 5) END AS city FROM range(99) n(i)"
    connection.execute(sql)
    text = init(connect(connection), "t", skeleton_directory=tmp_path)
    assert "Zanzibar" not in text
    assert "Zanzibar;Zanzibar;*" in (tmp_path / "city.csv").read_text()
