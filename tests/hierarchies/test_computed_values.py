"""Columns beside labels that can be computed with: against plain arithmetic on the values."""

from __future__ import annotations

import random
import re
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.verbs.dbt import dbt
from tests.conftest import Database
from tests.support.computed import attacked, days, interval, read, spec_of, without
from tests.support.strategies import examples


def released(database: Database, name: str = "people_release") -> dict[int, dict[str, Any]]:
    """Its rows by their id."""
    columns = database.columns(name)
    rows = [dict(zip(columns, row, strict=True)) for row in database.rows(name)]
    return {row["id"]: row for row in rows}


numbers = st.none() | st.integers(-30, 120)


@pytest.mark.slow
@given(
    st.lists(st.tuples(numbers, st.none() | st.integers(-99, 99)), min_size=4, max_size=30).map(
        lambda rows: [*rows, *rows[1:]]
    ),
    st.sampled_from([None, 0, 18]),
    st.sampled_from([None, 65, 80]),
    st.integers(0, 3),
    st.sampled_from(["drop", "mask"]),
    st.sampled_from([0, 3]),
)
@examples(8)
def test_bounds_and_midpoints_against_arithmetic(
    rows: list[tuple[Any, Any]], bottom: int | None, top: int | None, level: int, style: str, origin: int
) -> None:
    age = {"intervals": [5, 10], "bottom": bottom, "top": top, "origin": origin, "as": "bounds"}
    weight = {"intervals": [0.5, 20], "as": "midpoint"}
    fixed = {"minimum_level": level, "maximum_level": level}
    people = [(number, a, None if w is None else w / 4) for number, (a, w) in enumerate(rows)]
    with kanon_sql.connect() as engine:
        database = Database(engine._connection)  # type: ignore[attr-defined]
        database.table("people", {"id": "INTEGER", "age": "INTEGER", "weight": "DOUBLE"}, people)
        spec = spec_of(
            {"age": {**age, **fixed}, "weight": {**weight, **fixed}},
            suppression={"max_share": 1.0, "style": style},
            # Rows are masked where some are alone with their labels, and the masked ones are not.
            privacy=[{"k_anonymity": 2 if style == "mask" else 1}],
        )
        result = kanon_sql.anonymize(engine, spec)
        if not result.passed:
            return
        found = released(database)
        assert database.columns("people_release") == ["id", "age", "age_from", "age_to", "weight", "weight_mid"]
        for number, a, w in people:
            if number not in found:
                continue
            row = found[number]
            if row["age"] == "*":  # the top, or a masked row
                assert (row["age_from"], row["age_to"], row["weight_mid"]) == (None, None, None)
                continue
            assert (row["age_from"], row["age_to"]) == interval(a, age, level, integer=True)[:2]
            assert row["weight_mid"] == interval(w, weight, level, integer=False)[2]
        assert kanon_sql.check(engine, spec).achieved == kanon_sql.check(engine, without(spec)).achieved


UNITS = ["day", "month", "quarter", "year", "decade", "century"]


@pytest.mark.slow
@given(
    st.lists(st.none() | st.dates(date(1000, 1, 1), date(9899, 12, 31)), min_size=4, max_size=20),
    st.sampled_from([None, *UNITS]),
    st.booleans(),
)
@examples(10)
def test_bounds_of_dates_against_the_calendar(values: list[Any], unit: str | None, times: bool) -> None:
    values = [*values, date(2000, 2, 29), date(1900, 2, 28), date(2023, 12, 31), date(2024, 2, 28), date(1999, 9, 30)]
    level = UNITS.index(unit) + 1 if unit else 0
    with kanon_sql.connect() as engine:
        database = Database(engine._connection)  # type: ignore[attr-defined]
        kind = "TIMESTAMP" if times else "DATE"
        given = [None if v is None else datetime(v.year, v.month, v.day, 13, 5) if times else v for v in values]
        database.table("people", {"id": "INTEGER", "born": kind}, list(enumerate(given)))
        born = {"dates": UNITS, "as": "bounds", "minimum_level": level, "maximum_level": level}
        assert kanon_sql.anonymize(engine, spec_of({"born": born}, privacy=[{"k_anonymity": 1}])).passed
        found = released(database)
        for number, value in enumerate(given):
            assert (found[number]["born_from"], found[number]["born_to"]) == days(value, unit or "day"), unit


@pytest.mark.slow
def test_dates_without_a_text_that_every_engine_reads(database: Database) -> None:
    """Before the year 1000, or where the next day has five digits: no end is said, since none would be true."""
    values = [date(999, 5, 1), date(9999, 12, 31), date(9999, 11, 30), date(1, 1, 1)]
    database.table("people", {"id": "INTEGER", "born": "DATE"}, list(enumerate(values)))
    ends = {}
    for level, unit in enumerate(UNITS, 1):
        born = {"dates": UNITS, "as": "bounds", "minimum_level": level, "maximum_level": level}
        assert kanon_sql.anonymize(database.engine, spec_of({"born": born}, privacy=[{"k_anonymity": 1}])).passed
        found = released(database)
        assert [found[number]["born_from"] for number in (0, 3)] == [None, None]
        ends[unit] = [found[number]["born_to"] for number in range(4)]
    assert ends["day"] == [None, None, date(9999, 12, 1), None]
    assert ends["month"] == [None, None, date(9999, 12, 1), None]
    assert ends["quarter"] == ends["year"] == ends["decade"] == ends["century"] == [None] * 4


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("recoding", "privacy"),
    [
        ("local", [{"k_anonymity": 4}, {"l_diversity": {"attribute": "sick", "l": 2}}]),
        ({"method": "subtree", "classify": "sick"}, [{"k_anonymity": 4}]),
        pytest.param("cells", [{"k_anonymity": 4}], marks=pytest.mark.slow),
        pytest.param("forest", [{"k_anonymity": 3}], marks=pytest.mark.slow),
        pytest.param("cover", [{"k_anonymity": 3}], marks=pytest.mark.slow),
        pytest.param("kk", [{"kk_anonymity": {"k": 3, "variant": "kk"}}], marks=pytest.mark.slow),
        pytest.param(
            {"method": "microaggregation", "columns": {"pay": "mean"}}, [{"k_anonymity": 4}], marks=pytest.mark.slow
        ),
    ],
)
@pytest.mark.slow
def test_labels_that_differ_by_class(database: Database, recoding: Any, privacy: list[Any]) -> None:
    draw = random.Random(5)
    people = [
        (n, draw.choice([None, *range(-5, 95)]), draw.randint(1, 30), draw.choice("abc"), draw.choice("xyz"))
        for n in range(150)
    ]
    kinds = {"id": "INTEGER", "age": "INTEGER", "pay": "INTEGER", "town": "VARCHAR", "sick": "VARCHAR"}
    database.table("people", kinds, people)
    quasi: dict[str, Any] = {
        "age": {"intervals": [5, 10, 30], "bottom": 0, "top": 90, "as": "bounds"},
        "pay": {"intervals": [2, 8], "as": "text" if isinstance(recoding, dict) else "midpoint"},
        "town": None,
    }
    spec = spec_of(quasi, privacy=privacy, recoding=recoding, sensitive=["sick"], suppression={"max_share": 0.3})
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.passed, result.message
    rows = list(released(database).values())
    assert len({row["age"] for row in rows}) > 1
    for row in rows:
        assert (row["age_from"], row["age_to"]) == read(row["age"])
        if "pay_mid" in row and row["pay"] != "*":
            low, high = read(row["pay"])
            assert row["pay_mid"] == (low if row["pay"].isdigit() else (low + high) / 2)
    if "kk_anonymity" not in privacy[0]:
        assert kanon_sql.check(database.engine, spec).passed
    measured = [kanon_sql.risk(database.engine, own).prosecutor for own in (spec, without(spec))]
    assert measured[0] == measured[1]


# --- The number itself -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_number_keeps_its_type(database: Database) -> None:
    kinds = {"id": "INTEGER", "year": "SMALLINT", "price": "DECIMAL(8,2)", "share": "DOUBLE", "sick": "VARCHAR"}
    rows = [(n, None if n % 7 == 0 else 2000 + n % 3, Decimal(n % 2) / 4, (n % 3) / 2, "ab"[n % 2]) for n in range(84)]
    database.table("people", kinds, rows)
    typed = {"as": "number", "maximum_level": 0}
    spec = spec_of({"year": typed, "price": typed, "share": {**typed, "intervals": [1]}}, sensitive=["sick"])
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.passed, result.message
    types = dict(database.connection.execute("SELECT name, type FROM pragma_table_info('people_release')").fetchall())
    assert types == kinds
    # All that is released is in the frequency set, which holds labels: the source is read for numbers.
    assert {tuple(row) for row in database.rows("people_release")} <= set(rows)
    told = [{"k_anonymity": 2}, {"l_diversity": {"attribute": "sick", "l": 1}}]
    quasi = {"year": typed, "price": typed, "share": typed}
    unkept = spec_of(quasi, sensitive=["sick"], keep=[], release="other", privacy=told)
    assert kanon_sql.anonymize(database.engine, unkept).passed
    assert {tuple(row) for row in database.rows("other")} <= {row[1:] for row in rows}
    for own in (spec, without(spec)):
        assert kanon_sql.check(database.engine, own).passed
    assert attacked(database, spec) == attacked(database, without(spec))


def test_a_number_is_written_in_one_way(database: Database) -> None:
    """0 and -0 are one value of a class, and a reader of the release would see two."""
    database.table("people", {"id": "INTEGER", "share": "DOUBLE"}, [(n, (0.0, -0.0)[n % 2]) for n in range(4)])
    spec = spec_of({"share": {"as": "number", "maximum_level": 0}}, privacy=[{"k_anonymity": 4}], keep=[])
    assert kanon_sql.anonymize(database.engine, spec).passed
    written = database.connection.execute("SELECT DISTINCT CAST(share AS VARCHAR) FROM people_release").fetchall()
    assert len(written) == 1


# --- Labels that sort ------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    st.lists(st.integers(-20, 400), min_size=4, max_size=40),
    st.integers(1, 2),
    st.sampled_from([(0, 90), (5, 100), (0, 1000), (0.5, 90.5)]),
)
@examples(8)
def test_labels_sort_as_their_numbers(values: list[int], level: int, ends: tuple[float, float]) -> None:
    age = {"intervals": [5, 10], "bottom": ends[0], "top": ends[1], "labels": "sortable", "as": "bounds"}
    fixed = {"minimum_level": level, "maximum_level": level}
    with kanon_sql.connect() as engine:
        database = Database(engine._connection)  # type: ignore[attr-defined]
        database.table("people", {"id": "INTEGER", "age": "INTEGER"}, list(enumerate(values)))
        assert kanon_sql.anonymize(engine, spec_of({"age": {**age, **fixed}}, privacy=[{"k_anonymity": 1}])).passed
        found = released(database)
        for one, value in enumerate(values):
            expected = interval(value, age, level, integer=True)[:2]
            assert (found[one]["age_from"], found[one]["age_to"]) == expected
        least = float("-inf")
        ordered = sorted(found.values(), key=lambda row: row["age"])
        lows = [least if row["age_from"] is None else row["age_from"] for row in ordered]
        assert lows == sorted(lows)
        assert len({row["age"] for row in ordered}) == len({(row["age_from"], row["age_to"]) for row in ordered})


def test_how_sortable_labels_look(database: Database) -> None:
    database.table("people", {"id": "INTEGER", "age": "INTEGER"}, list(enumerate([-3, 0, 7, 12, 89, 90, 140])))
    age = {"intervals": [5], "bottom": 0, "top": 90, "labels": "sortable", "minimum_level": 1, "maximum_level": 1}
    assert kanon_sql.anonymize(database.engine, spec_of({"age": age}, privacy=[{"k_anonymity": 1}])).passed
    labels = sorted({row["age"] for row in released(database).values()})
    assert labels == ["< 00", "[00, 05)", "[05, 10)", "[10, 15)", "[85, 90)", "[90, inf)"]


def test_a_dbt_project_has_the_same_labels(database: Database, tmp_path: Path) -> None:
    database.table("people", {"id": "INTEGER", "age": "INTEGER"}, [(n, n % 97 - 3) for n in range(900)])
    (tmp_path / "dbt_project.yml").write_text("name: x\n")
    age = {"intervals": [5, 10], "bottom": 0, "top": 90, "labels": "sortable", "minimum_level": 1}
    spec = spec_of({"age": age}, keep=[])
    assert dbt(database.engine, spec, tmp_path).plan.passed
    model = (tmp_path / "models/people_release/people_release__labelled.sql").read_text()
    query = re.sub(r"\{#.*?#\}", "", re.sub(r"\{\{ source\(.*?\) \}\}", "people", model), flags=re.DOTALL)
    query = re.sub(r"\{\{.*?\}\}", "", query, flags=re.DOTALL)
    labels = {row[0] for row in database.connection.execute(query).fetchall()}
    assert kanon_sql.anonymize(database.engine, spec).passed
    assert labels == {row[0] for row in database.rows("people_release")}
    assert {"< 00", "[05, 10)", "[90, inf)"} <= labels
