"""Columns beside labels that can be computed with: who reads them back, what is refused, and every engine."""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import KanonError, SpecError, UnsupportedError, VerificationError, refuse
from kanon_sql.parties import party_obstacles
from kanon_sql.release import write
from kanon_sql.verbs.dbt import dbt
from kanon_sql.verbs.sqlmesh import audits
from tests.conftest import Database
from tests.servers import subject_of
from tests.support.computed import attacked, days, interval, read, spec_of, without

# --- Who reads a written table ---------------------------------------------------------------------


@pytest.fixture
def clinic(database: Database) -> Database:
    draw = random.Random(2)
    rows = [(n, draw.randint(0, 60), draw.choice("abc"), draw.choice("xy"), n // 2) for n in range(300)]
    kinds = {"id": "INTEGER", "age": "INTEGER", "town": "VARCHAR", "sick": "VARCHAR", "person": "INTEGER"}
    database.table("people", kinds, rows)
    return database


AGE = {"intervals": [5, 10, 30], "as": "bounds"}


TOWN = {"tree": {"n": ["a", "b"], "s": ["c"]}}


def clinic_spec(**changes: Any) -> kanon_sql.Spec:
    asked = {"sensitive": ["sick"], "keep": [], "suppression": {"max_share": 0.1}, "privacy": [{"k_anonymity": 5}]}
    return spec_of({"age": AGE, "town": TOWN}, **{**asked, **changes})


TAMPERED = {
    "half a label": "CASE WHEN town = 'a' THEN age_from ELSE age_from + 1 END",
    "NULL in a row": "CASE WHEN sick = 'x' THEN age_from END",
    "the row": "age_from + ROW_NUMBER() OVER () / 1000.0",
}


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", TAMPERED)
def test_a_table_whose_numbers_tell_rows_of_a_label_apart_is_refused(clinic: Database, how: str) -> None:
    spec = clinic_spec()
    assert kanon_sql.anonymize(clinic.engine, spec).passed
    clinic.connection.execute(
        f"CREATE TABLE altered AS SELECT * REPLACE ({TAMPERED[how]} AS age_from) FROM people_release"
    )
    assert kanon_sql.check(clinic.engine, without(spec), "altered").passed, "classes of labels alone satisfy"
    calls = [
        lambda: kanon_sql.check(clinic.engine, spec, "altered"),
        lambda: kanon_sql.risk(clinic.engine, spec, "altered"),
        lambda: kanon_sql.audit(clinic.engine, spec, table="altered"),
        lambda: kanon_sql.audit(clinic.engine, spec, earlier=["altered"]),
        lambda: kanon_sql.evidence(clinic.engine, spec, "altered"),
    ]
    for call in calls:
        with pytest.raises(UnsupportedError, match="labels of 'age' have rows that differ in age_from or age_to"):
            call()


def test_two_versions_are_compared_by_labels_that_hold_all(clinic: Database) -> None:
    spec = clinic_spec()
    made = "SELECT '[0, 30)' AS age, 0 AS age_from, {} AS age_to, 'n' AS town, 'xy'[1 + i % 2] AS sick, i AS person"
    for name, end in (("past", "30"), ("now", "30"), ("odd", "30 + i")):
        clinic.connection.execute(f"CREATE TABLE {name} AS {made.format(end)} FROM range(10) AS t(i)")
    asked = {name: kanon_sql.Republication(earlier=name, person="person", m=2) for name in ("past", "odd")}
    assert "of both versions" in kanon_sql.check(clinic.engine, spec, "now", republication=asked["past"]).message
    with pytest.raises(UnsupportedError, match="odd: 1 labels of 'age' have rows that differ"):
        kanon_sql.check(clinic.engine, spec, "now", republication=asked["odd"])


@pytest.mark.slow
def test_safe_harbor_judges_what_stands_beside_a_label_as_the_label(database: Database) -> None:
    rows = [(20 + n % 40, date(1950 + n % 5, 1 + n % 12, 1)) for n in range(200)]
    database.table("people", {"age": "INTEGER", "admission_date": "DATE"}, rows)
    at = {"minimum_level": 1, "maximum_level": 1, "as": "bounds"}
    quasi = {"age": {"intervals": [50], "top": 90, **at}, "admission_date": {"dates": ["year"], **at}}
    spec = spec_of(quasi, keep=[])
    assert kanon_sql.anonymize(database.engine, spec).passed
    listed = kanon_sql.evidence(database.engine, spec).safe_harbor
    found = {seen.column: seen.answer for item in listed for seen in item.columns}
    names = ("age", "admission_date")
    assert found == {f"{name}{part}": "within the rule" for name in names for part in ("", "_from", "_to")}


@pytest.mark.slow
def test_a_table_with_other_letters_or_fewer_columns(clinic: Database) -> None:
    spec = clinic_spec()
    assert kanon_sql.anonymize(clinic.engine, spec).passed
    clinic.connection.execute("CREATE TABLE fewer AS SELECT * EXCLUDE (age_to) FROM people_release")
    clinic.connection.execute('CREATE TABLE upper AS SELECT age, town, sick, RANDOM() AS "AGE_TO" FROM people_release')
    assert kanon_sql.check(clinic.engine, spec, "fewer").passed
    with pytest.raises(UnsupportedError, match="differ in AGE_TO"):
        kanon_sql.check(clinic.engine, spec, "upper")


@pytest.mark.slow
def test_all_verbs_say_the_same_of_a_release_with_and_without(clinic: Database) -> None:
    spec = clinic_spec(
        privacy=[{"k_anonymity": 5}, {"l_diversity": {"attribute": "sick", "l": 2}}], unit="person", release="r"
    )
    assert kanon_sql.anonymize(clinic.engine, spec).passed
    clinic.connection.execute("CREATE TABLE plain AS SELECT age, town, sick FROM r")
    for verb in ("check", "risk"):
        options = {"count_rows": True}
        ours = getattr(kanon_sql, verb)(clinic.engine, spec, "r", **options).to_dict()
        theirs = getattr(kanon_sql, verb)(clinic.engine, without(spec), "plain", **options).to_dict()
        for key in ("cost", "release", "message", "table"):
            ours.pop(key, None), theirs.pop(key, None)
        assert ours == theirs, verb
    assert attacked(clinic, spec, "r") == attacked(clinic, without(spec), "plain")
    found = kanon_sql.evidence(clinic.engine, spec)
    entries = {entry.column: entry for entry in found.columns}
    assert entries["age_from"].role == "computed from a label"
    assert entries["age_to"].meaning == "the label of age as a number: where it ends (exclusive)"


@pytest.mark.slow
def test_a_ledger_of_two_releases(clinic: Database) -> None:
    first = clinic_spec(ledger="ledger", release="first")
    assert kanon_sql.anonymize(clinic.engine, first).passed
    second = clinic_spec(ledger={"table": "ledger", "on_conflict": "coarsen"}, release="second")
    result = kanon_sql.anonymize(clinic.engine, without(second))
    assert result.passed, result.message
    assert "age_from" in clinic.columns("first")
    assert "age_from" not in clinic.columns("second")
    # An earlier release must still be what it was, with what stands beside its labels, and nothing else.
    third = clinic_spec(ledger="ledger", release="third")
    altered = ("SET age_from = 3 WHERE sick = 'x'", "SET age_to = NULL WHERE sick = 'x'")
    for change in altered:
        clinic.connection.execute("CREATE OR REPLACE TABLE before AS SELECT * FROM first")
        clinic.connection.execute(f"UPDATE first {change}")
        assert "first can no longer be derived from the source" in kanon_sql.anonymize(clinic.engine, third).message
        clinic.connection.execute("DELETE FROM first; INSERT INTO first SELECT * FROM before")
    assert kanon_sql.anonymize(clinic.engine, third).passed
    clinic.connection.execute("ALTER TABLE first ADD COLUMN age_extra INTEGER")
    fourth = clinic_spec(ledger="ledger", release="fourth")
    assert "first can no longer be derived from the source" in kanon_sql.anonymize(clinic.engine, fourth).message


@pytest.mark.slow
def test_a_kept_recoding_gives_new_rows_the_same_columns(clinic: Database) -> None:
    spec = clinic_spec(recoding={"method": "local", "save_as": "cuts"})
    assert kanon_sql.anonymize(clinic.engine, spec).passed
    result = kanon_sql.apply(clinic.engine, without(spec), "cuts")
    assert result.passed, result.message
    assert "age_from" not in clinic.columns("people_release")
    assert kanon_sql.apply(clinic.engine, spec, "cuts").passed, "the form is no part of the recoding"
    for age, low, high in {row[:3] for row in clinic.rows("people_release")}:
        assert (low, high) == read(age)


@pytest.mark.slow
def test_differentially_private_rows(clinic: Database) -> None:
    privacy = [{"differential_privacy": {"epsilon": 3, "delta": 1e-2, "generalization": {"age": 3, "town": 1}}}]
    spec = spec_of({"age": AGE, "town": TOWN}, privacy=privacy, keep=[], ledger="budget", suppression=None)
    result = kanon_sql.anonymize(clinic.engine, spec)
    assert result.passed, result.message
    for age, low, high, _ in clinic.rows("people_release"):
        assert (low, high) == read(age)
    assert clinic.tables() == ["budget", "kanon_sql_manifest", "kanon_sql_scratch", "people", "people_release"]


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "people.parquet"
    draw = random.Random(1)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (age INTEGER, born DATE, w DOUBLE)")
        values = [
            (draw.randint(0, 40), date(2000, 1, 1) + timedelta(days=draw.randint(0, 800)), 0.5) for _ in range(99)
        ]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", values)
        connection.execute(f"COPY t TO '{path}'")
    quasi = {
        "age": {"intervals": [20], "as": "bounds"},
        "born": {"dates": ["year", "decade"], "as": "bounds"},
        "w": {"as": "number", "maximum_level": 0},
    }
    out = tmp_path / f"out.{ending}"
    spec = spec_of(quasi, source={"file": str(path)}, release={"file": str(out)}, keep=[])
    with kanon_sql.connect() as engine:
        assert kanon_sql.anonymize(engine, spec).passed
        assert kanon_sql.check(engine, spec).passed
        rows = duckdb.sql(f"SELECT * FROM '{out}'").fetchall()
    assert {len(row) for row in rows} == {7}
    for age, low, high, born, first, after, weight in rows:
        assert (low, high) == read(age)
        assert (first, after) == (date(int(str(born)[:4]), 1, 1), date(int(str(born)[-4:]) + 1, 1, 1))
        assert weight == 0.5
    if ending == "csv":
        with out.open() as file:
            assert next(csv.reader(file)) == ["age", "age_from", "age_to", "born", "born_from", "born_to", "w"]


def test_a_frame_has_numbers_and_dates(clinic: Database) -> None:
    frame = clinic.connection.table("people").to_df()
    asked = clinic_spec(quasi_identifiers={"age": {**AGE, "maximum_level": 2}, "town": TOWN}).to_dict()
    spec = kanon_sql.Spec.from_dict({key: value for key, value in asked.items() if key not in ("source", "release")})
    found = kanon_sql.anonymize(frame, spec).to_pandas()
    assert found["age_from"].dtype == found["age_to"].dtype == "int64"
    assert (found["age_from"] < found["age_to"]).all()


# --- What is refused, and what verification sees ---------------------------------------------------

REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"as": "bounds"}, {}, "needs the bounds of intervals, which this hierarchy does not have"),
    ({"prefix": [2], "as": "midpoint"}, {}, "needs the bounds of intervals"),
    ({"dates": ["month"], "as": "midpoint"}, {}, "a month or a year has no exact middle day"),
    (
        {"intervals": [5], "as": "bounds"},
        {"search": {"algorithm": "k_optimize"}},
        "k_optimize makes ranges that end at values",
    ),
    (
        {"intervals": [5], "as": "midpoint"},
        {"recoding": "mondrian"},
        "recoding: mondrian makes ranges that end at values of the data",
    ),
    (
        {"intervals": [5], "as": "bounds"},
        {"recoding": {"method": "local", "ranges": ["age"]}},
        "recoding.ranges makes ranges that end at values of the data",
    ),
    (
        {"intervals": [5], "as": "bounds"},
        {"recoding": {"method": "microaggregation", "columns": {"age": "mean"}}},
        "releases this column as a number",
    ),
    ({"intervals": [5], "as": "number"}, {}, "add maximum_level: 0"),
    (
        {"as": "number", "maximum_level": 0},
        {"suppression": {"max_rows": 1, "style": "mask"}},
        "suppression.style: mask",
    ),
    ({"as": "number", "maximum_level": 0}, {"recoding": "local"}, "recoding: local releases labels"),
    ({"as": "range"}, {}, "unknown form"),
    ({"intervals": [5], "as": 3}, {}, "expected form: one of text, bounds, midpoint, number, got a whole number"),
    ({"intervals": [5], "labels": "sortable"}, {}, "add both, such as bottom: 0, top: 90"),
    ({"intervals": [5], "labels": "sortable", "bottom": -5, "top": 9}, {}, "as text, -10 comes after -1"),
    ({"prefix": [5], "labels": "sortable"}, {}, "'labels' needs 'intervals'"),
    (
        {"intervals": [5], "labels": "sortable", "bottom": 0, "top": 9},
        {"recoding": "mondrian"},
        "recoding: mondrian makes ranges",
    ),
    ({"intervals": [5], "as": "bounds"}, {"keep": ["AGE_TO"]}, "would have two columns 'age_to'"),
    ({"intervals": [5], "as_": "bounds"}, {}, "unknown key; did you mean 'as'"),
]


@pytest.mark.parametrize(("item", "changes", "message"), REFUSED)
def test_refusals_of_a_spec(item: dict[str, Any], changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        spec_of({"age": item}, **changes)
    assert message in str(caught.value)
    assert "quasi_identifiers.age" in str(caught.value)


def test_a_requirement_s_hierarchy_and_a_dimension_take_no_form() -> None:
    closeness = {"attribute": "sick", "t": 0.5, "distance": "hierarchical", "hierarchy": {"prefix": [1], "as": "text"}}
    with pytest.raises(SpecError, match="'as' is for quasi-identifiers"):
        spec_of({"age": None}, sensitive=["sick"], privacy=[{"t_closeness": closeness}])
    with pytest.raises(SpecError, match="a search, and a table has none"):
        kanon_sql.TableSpec.from_dict(
            {
                "version": 1,
                "kind": "table",
                "source": "t",
                "dimensions": {"age": {"hierarchy": {"intervals": [5], "as": "bounds"}, "levels": [1]}},
                "rules": {"minimum": 3},
            }
        )


def test_the_line_of_a_problem() -> None:
    text = "version: 1\nsource: t\nprivacy: [{k_anonymity: 2}]\nquasi_identifiers:\n  age: {as: numbers}\n"
    with pytest.raises(SpecError) as caught:
        kanon_sql.Spec.parse(text, "s.yml")
    assert str(caught.value).startswith("s.yml:5:")
    assert "did you mean 'number'" in str(caught.value)


def test_names_that_the_source_has(clinic: Database) -> None:
    spec = clinic_spec(source={"query": 'SELECT *, age AS "Age_From" FROM people'})
    with pytest.raises(SpecError, match="the source has a column 'Age_From', which a query of the release would read"):
        kanon_sql.plan(clinic.engine, spec)


def test_a_text_is_no_number(clinic: Database) -> None:
    typed = {"as": "number", "maximum_level": 0}
    with pytest.raises(SpecError, match="number is for numbers, and the column is VARCHAR"):
        kanon_sql.plan(clinic.engine, clinic_spec(quasi_identifiers={"age": typed, "town": typed}))
    assert "CREATE TABLE" in str(kanon_sql.render(clinic_spec(quasi_identifiers={"age": typed})).statements)


def test_verbs_that_publish_labels_alone(clinic: Database, tmp_path: Path) -> None:
    spec = clinic_spec(privacy=[{"k_anonymity": 5}])
    assert kanon_sql.anonymize(clinic.engine, spec).passed
    (tmp_path / "dbt_project.yml").write_text("name: x\n")
    by_party = clinic_spec(search={"metric": "precision"})
    number = spec_of({"age": {"as": "number", "maximum_level": 0}})
    calls = [
        (lambda: dbt(clinic.engine, spec, tmp_path), ".as: a dbt release has labels only, and its"),
        (lambda: dbt(clinic.engine, number, tmp_path), "compute number from the label"),
        (
            lambda: refuse(party_obstacles(by_party)),
            "quasi_identifiers.age.as: the parties' parts are joined by their labels",
        ),
        (lambda: audits(clinic.engine, spec), "age_from, age_to may reveal more"),
    ]
    for call, message in calls:
        with pytest.raises(KanonError) as caught:
            call()
        assert message in str(caught.value)


@pytest.mark.slow
def test_a_render_shows_how_the_columns_are_made() -> None:
    for dialect in ("duckdb", "postgres", "snowflake", "tsql", "oracle", "bigquery"):
        copied = [item for item in kanon_sql.render(clinic_spec(), dialect).statements if "age_from" in item.sql]
        assert {item.name for item in copied} >= {"release/copy"}


@pytest.mark.parametrize("wrong", ["0", "CAST(staged.id AS BIGINT)"])
def test_verification_sees_columns_that_are_not_what_labels_say(
    clinic: Database, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    own = write._computed

    def other(choice: Any) -> dict[str, Any]:
        return {**own(choice), "age_to": write.Sql(wrong)}

    monkeypatch.setattr(write, "_computed", other)
    with pytest.raises(VerificationError, match="rows have a 'age_to' that does not follow from their 'age'"):
        kanon_sql.anonymize(clinic.engine, clinic_spec(keep=["id"]))
    assert "people_release" not in clinic.tables()


def test_what_says_nothing_of_forms_has_the_hash_of_before() -> None:
    plain = spec_of({"age": {"intervals": [5], "bottom": 0, "top": 90}})
    assert "as" not in plain.to_dict()["quasi_identifiers"]["age"]
    assert "labels" not in plain.to_dict()["quasi_identifiers"]["age"]
    said = spec_of({"age": {"intervals": [5], "bottom": 0, "top": 90, "as": "text", "labels": "plain"}})
    assert said.hash == plain.hash
    for item in ({"as": "bounds"}, {"labels": "sortable"}):
        other = spec_of({"age": {"intervals": [5], "bottom": 0, "top": 90, **item}})
        assert other.hash != plain.hash
        assert kanon_sql.Spec.from_dict(other.to_dict()) == other


# --- Every engine ----------------------------------------------------------------------------------

KINDS = {"id": "integer", "age": "integer", "w": "double", "price": "decimal", "born": "date", "year": "integer"}


@pytest.mark.sampled(3)
@pytest.mark.campaign_on("spark", "clickhouse")
@pytest.mark.parametrize(
    "name",
    [
        "duckdb",
        "postgres",
        "sqlite",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("mariadb", "clickhouse", "spark")),
    ],
)
@pytest.mark.slow
def test_every_engine_writes_the_same(name: str) -> None:
    draw = random.Random(3)
    born = [date(1950, 1, 1), date(1999, 12, 31), date(2000, 2, 29), date(2023, 9, 30), date(1920, 10, 9), None]
    rows = [
        (n, draw.choice([None, *range(-9, 99)]), draw.choice([None, -0.5, 0.25, 7.75, 33.5]),
         Decimal(draw.randint(-900, 900)) / 100, draw.choice(born), draw.choice([None, 2020, 2021]))
        for n in range(120)
    ]  # fmt: skip
    age = {"intervals": [5, 20], "bottom": 0, "top": 80, "labels": "sortable", "as": "bounds"}
    weight = {"intervals": [0.5, 5], "as": "midpoint"}
    price = {"intervals": [2.5], "as": "bounds"}
    units = ["day", "month", "quarter", "year", "decade"]
    with subject_of(name) as subject:
        subject.table("people", KINDS, rows)
        subject.drop("people_release")
        engine = subject.connect()
        try:
            for level in {"duckdb": range(6), "sqlite": range(6), "spark": (2,)}.get(name, (0, 2, 3)):
                at = {"minimum_level": level, "maximum_level": level}
                low = {"minimum_level": min(level, 2), "maximum_level": min(level, 2)}
                quasi = {
                    "age": {**age, **low},
                    "w": {**weight, **low},
                    "price": {**price, "minimum_level": min(level, 1), "maximum_level": min(level, 1)},
                    "born": {"dates": units, "as": "bounds", **at},
                    "year": {"as": "number", "maximum_level": 0},
                }
                spec = spec_of(quasi, privacy=[{"k_anonymity": 1}])
                assert kanon_sql.anonymize(engine, spec).passed
                assert kanon_sql.check(engine, spec).passed
                names = ["id", "age", "age_from", "age_to", "w", "w_mid", "price", "price_from", "price_to", "born"]
                names += ["born_from", "born_to", "year"]
                for line in subject.rows("people_release"):
                    row = dict(zip(names, line, strict=True))
                    _, own_age, own_w, own_price, own_born, own_year = rows[int(row["id"])]
                    expected = interval(own_age, age, min(level, 2), integer=True)[:2]
                    assert (row["age_from"], row["age_to"]) == expected
                    assert row["w_mid"] == interval(own_w, weight, min(level, 2), integer=False)[2]
                    ends = interval(float(own_price), price, min(level, 1), integer=False)[:2]
                    assert (row["price_from"], row["price_to"]) == ends
                    found = [None if row[name] is None else str(row[name])[:10] for name in ("born_from", "born_to")]
                    awaited = days(own_born, (["day", *units])[level])
                    assert found == [None if day is None else str(day) for day in awaited]
                    assert row["year"] == own_year
        finally:
            engine.close()
            subject.drop("people_release")
            subject.drop("people")
