"""Rows that come later in columns of another type: refused, since the same person could be counted twice."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.errors import KanonError, SpecError
from kanon_sql.testing import Subject
from kanon_sql.verbs.clean import clean
from tests.servers import subject_of

COLUMNS = {"day": "integer", "person": "integer", "zip": "text", "cost": "decimal"}
COST = Decimal("1.50")
FIRST = [(1, number, "aa1", COST) for number in (1, 2, 7)]

OTHERS = ("duckdb", "postgres", "mariadb", "clickhouse", "spark")
ENGINES = ["sqlite", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]


def spec_of(schema: str) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": "visits_release",
            "unit": "person",
            "quasi_identifiers": {"zip": {"prefix": [2, 1], "minimum_level": 1, "maximum_level": 1}},
            "keep": ["cost"],
            "privacy": [{"k_anonymity": {"k": 3}}],
            "suppression": {"max_share": 0.9},
            "state": {"schema": schema},
            "increments": {"watermark": "day"},
            "warnings": {"nearly_unique_kept": "allow"},
        }
    )


@pytest.fixture(scope="module", params=ENGINES)
def begun(request: pytest.FixtureRequest) -> Iterator[tuple[Subject, Engine, kanon_sql.Spec]]:
    with subject_of(request.param) as subject, subject.connect() as engine:
        schema = "main" if subject.name == "sqlite" else "kanon_state"
        subject.table("visits", COLUMNS, FIRST)
        spec = spec_of(schema)
        assert kanon_sql.anonymize(engine, spec).passed
        try:
            yield subject, engine, spec
        finally:
            clean(engine, schema, states=True, drop=True)


LATE: list[tuple[str, dict[str, str], tuple[Any, ...]]] = [
    ("person", {"person": "text"}, (1, "7", "bb1", COST)),
    ("person", {"person": "decimal"}, (1, 7, "bb1", COST)),
    ("zip", {"zip": "integer"}, (1, 7, 111, COST)),
    ("day", {"day": "text"}, ("1", 7, "bb1", COST)),  # '10' is before '9'
    ("cost", {"cost": "double"}, (1, 7, "bb1", COST)),
]


@pytest.mark.parametrize(("column", "types", "row"), LATE)
@pytest.mark.sampled(5)
@pytest.mark.campaign_on("spark")
def test_late_rows_are_of_the_types_of_before(
    begun: tuple[Subject, Engine, kanon_sql.Spec], column: str, types: dict[str, str], row: tuple[Any, ...]
) -> None:
    subject, engine, spec = begun
    subject.table("late", {**COLUMNS, **types}, [row])
    with pytest.raises(SpecError, match=f"--inserted: '{column}' is of type .*, and was of type") as refused:
        kanon_sql.refresh(engine, spec, inserted="late", batch="late")
    assert "Cast it to that type in a query" in str(refused.value)
    if column != "day":
        with pytest.raises(SpecError, match=f"--deleted: '{column}' is of type"):
            kanon_sql.refresh(engine, spec, deleted="late", batch="gone")


@pytest.mark.campaign_on("spark")
def test_numbers_and_texts_of_other_sizes_are_known_again(begun: tuple[Subject, Engine, kanon_sql.Spec]) -> None:
    """Person 7 was released; with two others, of whom nobody was, a class lacks a third. With an eighth it has one."""
    subject, engine, spec = begun
    if subject.name == "sqlite":
        subject.execute("DROP TABLE IF EXISTS late")
        subject.execute("CREATE TABLE late (day BIGINT, person BIGINT, zip VARCHAR(9), cost DECIMAL(12, 2))")
        subject.execute("INSERT INTO late VALUES " + ", ".join(f"(1, {who}, 'bb1', 1.5)" for who in (7, 8, 9)))
    else:
        rows = [(1, who, "bb1", COST) for who in (7, 8, 9)]
        subject.table("late", {**COLUMNS, "day": "bigint", "person": "bigint"}, rows)
    assert kanon_sql.refresh(engine, spec, inserted="late", batch="first").refresh["added"] == 0  # type: ignore[index]
    subject.table("late", COLUMNS, [(1, 10, "bb1", COST)])
    assert kanon_sql.refresh(engine, spec, inserted="late", batch="second").refresh["added"] == 4  # type: ignore[index]
    found = Counter(zip_code for zip_code, *_ in subject.fetch("SELECT zip FROM visits_release"))
    assert found == Counter({"aa*": 3, "bb*": 4})


def test_a_source_whose_columns_have_changed_their_types(begun: tuple[Subject, Engine, kanon_sql.Spec]) -> None:
    subject, engine, spec = begun
    rows = [(1, "1", "aa1", COST), (1, "2", "aa1", COST), (1, "7", "aa1", COST), (2, "7", "cc1", COST)]
    subject.table("visits", {**COLUMNS, "person": "text"}, rows)
    with pytest.raises(SpecError, match="the source: 'person' is of type"):
        kanon_sql.refresh(engine, spec)


def test_values_without_a_type_keep_their_form(tmp_path: Path) -> None:
    """SQLite's columns need have no type: there 7 and '7' are two, unless they are compared as texts."""
    path = tmp_path / "clinic.sqlite"
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("CREATE TABLE visits (day INTEGER, person, zip TEXT, cost TEXT)")
        opened.executemany("INSERT INTO visits VALUES (1, ?, 'aa1', '')", [(1,), (2,), (7,)])
    spec = spec_of("main")
    with kanon_sql.connect(f"sqlite:///{path}") as engine:
        assert kanon_sql.anonymize(engine, spec).passed
        for person, told in (("7", "new values are text, and the earlier ones are integer"), (8, None)):
            with closing(sqlite3.connect(path)) as opened, opened:
                opened.execute("DELETE FROM visits WHERE day = 2")
                opened.execute("INSERT INTO visits VALUES (2, ?, 'bb1', '')", [person])
            if told is None:
                assert kanon_sql.refresh(engine, spec).refresh["taken"] == 1  # type: ignore[index]
            else:
                with pytest.raises(KanonError, match=told):
                    kanon_sql.refresh(engine, spec)
        with closing(sqlite3.connect(path)) as opened, opened:
            opened.executemany("INSERT INTO visits VALUES (3, ?, 'bb1', '')", [["x"], [9]])
        with pytest.raises(KanonError, match="values are integer and text; cast it to one type"):
            kanon_sql.refresh(engine, spec)


def test_a_form_is_known_from_the_first_value_on(tmp_path: Path) -> None:
    """On the first day there was none."""
    path = tmp_path / "clinic.sqlite"

    def add(rows: list[tuple[Any, ...]]) -> None:
        with closing(sqlite3.connect(path)) as opened, opened:
            opened.execute("CREATE TABLE IF NOT EXISTS visits (day INTEGER, person INTEGER, zip TEXT, cost)")
            opened.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", rows)

    add([(1, who, "aa1", None) for who in (1, 2, 3)])
    spec = spec_of("main")
    with kanon_sql.connect(f"sqlite:///{path}") as engine:
        assert kanon_sql.anonymize(engine, spec).passed
        add([(2, 4, "bb1", 1.5)])
        assert kanon_sql.refresh(engine, spec).refresh["taken"] == 1  # type: ignore[index]
        add([(3, 5, "bb1", "1.5")])
        with pytest.raises(SpecError, match="new values are text, and the earlier ones are real"):
            kanon_sql.refresh(engine, spec)
