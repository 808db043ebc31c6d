"""A release that is written from its frequency set: the same rows, no second scan, and an order that tells nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.release import write_counted as repeat
from kanon_sql.sql.statement import Statement
from tests.support.specs import QUIET
from tests.support.strategies import examples

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "people_release",
    "quasi_identifiers": {"age": {"intervals": [5, 10]}, "zip": {"prefix": [1]}},
    "privacy": [{"k_anonymity": 3}],
    "suppression": {"max_share": 0.3},
}
SENSITIVE: dict[str, Any] = {
    "sensitive": ["dx"],
    "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "dx", "l": 2}}],
}


def spec(*changes: dict[str, Any]) -> kanon_sql.Spec:
    merged = {**SPEC, "warnings": QUIET}
    for change in changes:
        merged |= change
    return kanon_sql.Spec.from_dict(merged)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 2}) as opened:
        yield opened


def fill(connection: duckdb.DuckDBPyConnection, rows: list[tuple[Any, ...]], dx: str = "VARCHAR") -> None:
    connection.execute(f"CREATE OR REPLACE TABLE people (number INTEGER, age INTEGER, zip VARCHAR, dx {dx})")
    if rows:
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)


def released(connection: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    return connection.execute("SELECT * FROM people_release").fetchall()


def generalized(age: int | None, zipcode: str | None, node: dict[str, int]) -> tuple[str | None, str | None]:
    """What the spec's hierarchies make of a row, without SQL."""
    low = [None, 5, 10, None][node["age"]]
    shown = "*" if node["age"] == 3 else None if age is None else str(age)
    if low and age is not None:
        shown = f"[{age // low * low}, {age // low * low + low})"
    masked = None if zipcode is None else zipcode[0] + "*" * (len(zipcode) - 1)
    return shown, [zipcode, masked, "*"][node["zip"]]


ROWS = st.lists(
    st.tuples(
        st.integers(0, 22), st.sampled_from(["10", "11", "12", "20", "21", None]), st.sampled_from(["a", "b", None])
    ),
    max_size=60,
)


@pytest.mark.slow
@given(
    rows=ROWS, sensitive=st.booleans(), nulls=st.sampled_from(["value", "suppress"]), block=st.sampled_from([2, 1000])
)
@examples(15)
def test_every_row_that_is_kept_is_written(
    rows: list[tuple[Any, ...]], sensitive: bool, nulls: str, block: int
) -> None:
    with duckdb.connect(config={"threads": 2}) as connection, pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeat, "BLOCK", block)
        fill(connection, [(number, *row) for number, row in enumerate(rows)])
        question = spec(SENSITIVE if sensitive else {}, {"nulls": nulls})
        result = kanon_sql.anonymize(kanon_sql.connect(connection), question)
        if not result.passed:
            return
        assert result.cost.source_scans == 1
        assert result.node is not None
        usable = [row for row in rows if nulls == "value" or row[1] is not None]
        classes: dict[tuple[str | None, ...], list[str | None]] = {}
        for age, zipcode, dx in usable:
            classes.setdefault(generalized(age, zipcode, dict(result.node)), []).append(dx)
        expected = [
            (*key, value) if sensitive else key
            for key, values in classes.items()
            for value in values
            if len(values) >= 3 and (not sensitive or len(set(values) - {None}) >= 2)
        ]
        assert Counter(released(connection)) == Counter(expected)


def test_blocks_are_grouped_by_what_is_released(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks by exact value would show which rows of a class share one: here 7 of age 3 and 1 of age 4."""
    monkeypatch.setattr(repeat, "BLOCK", 5)
    fill(connection, [(number, 3 if number else 4, "10", "a") for number in range(8)])
    engine = kanon_sql.connect(connection)
    found: list[tuple[Any, ...]] = []
    execute = type(engine).execute

    def watched(self: Engine, statement: Statement) -> None:
        if statement.name == "release/repeat":
            (table,) = connection.execute(
                "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '%blocks'"
            ).fetchall()
            found.extend(connection.execute(f'SELECT * FROM "{table[0]}"').fetchall())
        execute(self, statement)

    monkeypatch.setattr(type(engine), "execute", watched)
    levels = {
        "age": {"intervals": [5], "minimum_level": 1, "maximum_level": 1},
        "zip": {"prefix": [1], "maximum_level": 0},
    }
    assert kanon_sql.anonymize(engine, spec({"quasi_identifiers": levels})).passed
    assert sorted(found) == [("[0, 5)", "10", 3), ("[0, 5)", "10", 5)]


@pytest.mark.slow
def test_the_order_is_random(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE people AS SELECT i // 3 AS age, '10' AS zip FROM range(3000) AS t(i)")
    orders = []
    for _ in range(2):
        kanon_sql.anonymize(kanon_sql.connect(connection), spec({"quasi_identifiers": {"age": None, "zip": None}}))
        orders.append([int(age) for age, _ in released(connection)])
    first, second = orders
    assert first != second
    assert sorted(first) == sorted(second)
    for order in orders:
        rank = {age: place for place, age in enumerate(dict.fromkeys(order))}
        mean = (len(rank) - 1) / 2
        covariance = sum((age - mean) * (place - mean) for age, place in rank.items())
        assert abs(covariance / sum((age - mean) ** 2 for age in rank)) < 0.2, "1,000 values: 6 standard deviations"


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "change",
    [
        {"keep": ["number"]},
        {"unit": "number"},
        {"sensitive": ["dx"]},
        {"suppression": {"max_share": 0.3, "style": "mask"}},
        {**SENSITIVE, "keep": ["number"]},
    ],
    ids=["kept", "persons", "sensitive without a model", "masked", "kept and sensitive"],
)
def test_otherwise_the_source_is_read_again(connection: duckdb.DuckDBPyConnection, change: dict[str, Any]) -> None:
    fill(connection, [(number, number // 3, "10", "ab"[number % 2]) for number in range(50)])
    result = kanon_sql.anonymize(kanon_sql.connect(connection), spec(change))
    assert result.passed
    assert result.rows["suppressed"] > 0
    assert result.cost.source_scans == 2


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("declared", "scans"), [("INTEGER", 1), ("DATE", 1), ("BOOLEAN", 1), ("DECIMAL(9, 2)", 1), ("UUID", 2), ("JSON", 2)]
)
def test_the_sensitive_column_keeps_its_type(connection: duckdb.DuckDBPyConnection, declared: str, scans: int) -> None:
    values = {
        "INTEGER": [7, 8], "DATE": ["1969-01-01", "2000-02-29"], "BOOLEAN": [True, False],
        "DECIMAL(9, 2)": ["1.50", "2.00"],
        "UUID": [f"00000000-0000-0000-0000-00000000000{digit}" for digit in (1, 2)], "JSON": ['{"a": 1}', "[2]"],
    }[declared]  # fmt: skip
    fill(connection, [(number, number // 10, "10", values[number % 2]) for number in range(50)], dx=declared)
    result = kanon_sql.anonymize(kanon_sql.connect(connection), spec(SENSITIVE))
    assert result.passed
    assert result.cost.source_scans == scans
    types = [
        dict(connection.execute(f"SELECT column_name, column_type FROM (DESCRIBE {table})").fetchall())["dx"]
        for table in ("people", "people_release")
    ]
    assert types[0] == types[1]
    source = connection.execute("SELECT dx, count(*) FROM people GROUP BY dx").fetchall()
    assert Counter(dict(source)) >= Counter(row[-1] for row in released(connection))
    assert {row[-1] for row in released(connection)} == {value for value, _ in source}


def test_a_table_without_rows(connection: duckdb.DuckDBPyConnection) -> None:
    fill(connection, [])
    result = kanon_sql.anonymize(kanon_sql.connect(connection), spec())
    assert not result.passed or released(connection) == []


def test_everything_at_its_top(connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    """One class, without a code to group by or a label to join."""
    monkeypatch.setattr(repeat, "BLOCK", 7)
    fill(connection, [(number, number, str(number), "a") for number in range(23)])
    result = kanon_sql.anonymize(kanon_sql.connect(connection), spec({"privacy": [{"k_anonymity": 23}]}))
    assert result.cost.source_scans == 1
    assert released(connection) == [("*", "*")] * 23
