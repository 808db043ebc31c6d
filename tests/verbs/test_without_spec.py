"""Verbs that are given a table and roles in the place of a spec."""

from __future__ import annotations

import inspect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SpecError

ROWS = [(20 + n % 7 * 10, f"{10000 + n % 3 * 100}", ("flu", "asthma", "ulcer")[n * n % 11 % 3]) for n in range(300)]


@pytest.fixture
def visits() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE visits (age INTEGER, zip VARCHAR, diagnosis VARCHAR)")
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?)", ROWS)
        yield connection


def classes_of(rows: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], Counter[Any]]:
    found: dict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
    for *known, value in rows:
        found[tuple(known)][value] += 1
    return found


@settings(max_examples=12, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(1, 3), st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=25),
    k=st.integers(2, 4),
    values=st.integers(2, 3),
    t=st.sampled_from([0.1, 0.3, 0.5]),
)
def test_check_measures_a_table_by_its_columns_alone(
    rows: list[tuple[int, str, str]], k: int, values: int, t: float
) -> None:
    """What must hold is counted by the definitions: Sweeney 2002, Machanavajjhala 2006, Li 2007 (equal distance)."""
    classes = classes_of(rows)
    whole = Counter(value for *_, value in rows)

    def distance(own: Counter[str]) -> float:
        return sum(abs(own[v] / own.total() - whole[v] / len(rows)) for v in whole) / 2

    expected = {
        "k": min(own.total() for own in classes.values()),
        "l": min(len(own) for own in classes.values()),
        "t": max(map(distance, classes.values())),
    }
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE held (a INTEGER, b VARCHAR, c VARCHAR)")
        connection.executemany("INSERT INTO held VALUES (?, ?, ?)", rows)
        asked: dict[str, Any] = {"quasi_identifiers": ["a", "b"], "k": k, "l": {"c": values}, "t": {"c": t}}
        for result in (
            kanon_sql.check(connection, "held", **asked),
            kanon_sql.check(connection.table("held").to_arrow_table(), **asked),
        ):
            assert result.achieved["k_anonymity"]["k"] == expected["k"]
            assert result.achieved["distinct_l_diversity(c)"]["l"] == expected["l"]
            assert result.achieved["t_closeness(c)"]["t"] == pytest.approx(expected["t"])
            holds = expected["k"] >= k and expected["l"] >= values and expected["t"] <= t + 1e-9
            assert result.passed == holds


def test_a_table_is_anonymized_by_its_columns_alone(visits: duckdb.DuckDBPyConnection) -> None:
    frame = visits.table("visits").to_arrow_table()
    for given_first, name in ((visits, "visits"), (frame, None)):
        result = kanon_sql.anonymize(given_first, name, quasi_identifiers=["age", "zip"], k=30, l={"diagnosis": 2})
        assert result.passed, result.message
        rows = (
            visits.execute("SELECT age, zip, diagnosis FROM visits_release").fetchall()
            if name
            else [tuple(row.values()) for row in result.to_arrow().to_pylist()]
        )
        assert rows
        assert min(own.total() for own in classes_of(rows).values()) >= 30
        assert min(len(own) for own in classes_of(rows).values()) >= 2
        assert "only age, zip, diagnosis are released" in result.notes[-1]


@pytest.mark.slow
def test_what_is_drafted_is_what_init_writes(visits: duckdb.DuckDBPyConnection) -> None:
    roles: dict[str, Any] = {
        "quasi_identifiers": ["age", "zip"],
        "k": 20,
        "l": {"diagnosis": 2},
        "t": {"diagnosis": 0.4},
    }
    spec = kanon_sql.Spec.parse(kanon_sql.init(visits, "visits", **roles))
    assert [item["k_anonymity"]["k"] for item in spec.to_dict()["privacy"] if "k_anonymity" in item] == [20]
    asked = [dict(item) for item in spec.to_dict()["privacy"][1:]]
    assert [(list(item), next(iter(item.values()))["attribute"]) for item in asked] == [
        (["l_diversity"], "diagnosis"),
        (["t_closeness"], "diagnosis"),
    ]
    by_roles = kanon_sql.plan(visits, "visits", **roles)
    by_spec = kanon_sql.plan(visits, spec)
    assert (by_roles.node, by_roles.achieved, by_roles.rows) == (by_spec.node, by_spec.achieved, by_spec.rows)


def test_a_column_with_an_identifier_s_role_fails_a_check(visits: duckdb.DuckDBPyConnection) -> None:
    roles: dict[str, Any] = {"quasi_identifiers": ["age"], "k": 5}
    assert kanon_sql.check(visits, "visits", **roles).passed
    refused = kanon_sql.check(visits, "visits", **roles, identifiers=["zip"])
    assert not refused.passed
    assert "it holds identifiers (zip)" in refused.message


def test_a_table_is_named_in_either_place_and_what_is_none_is_not_said(visits: duckdb.DuckDBPyConnection) -> None:
    roles: dict[str, Any] = {"quasi_identifiers": ("age", "zip"), "t": {"diagnosis": 0.3}, "l": None, "unit": None}
    named = kanon_sql.check(visits, "visits", **roles)
    assert named.to_dict()["achieved"] == kanon_sql.check(visits, table="visits", **roles).to_dict()["achieved"]
    assert list(named.achieved) == ["t_closeness(diagnosis)"]


Asked = Callable[[duckdb.DuckDBPyConnection], Any]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda db: kanon_sql.check(db, "visits", quasi_identifiers=["age"]), "no requirement was given; add k=5"),
        (
            lambda db: kanon_sql.check(db, "visits", quasi_identifiers="age", k=5),
            "expected a list of column names",
        ),
        (lambda db: kanon_sql.check(db, "visits", quasi_identifiers=["age"], l=3), "l: expected a number by column"),
        (lambda db: kanon_sql.check(db, "visits", quasi_identifiers=["agee"], k=5), "did you mean 'age'"),
        (
            lambda db: kanon_sql.check(db, "visits", table="other", quasi_identifiers=["age"], k=5),
            "two tables are given",
        ),
        (lambda db: kanon_sql.check(db, "visits", "other", quasi_identifiers=["age"], k=5), "two tables are given"),
        (lambda db: kanon_sql.check(db, "visits", quasi_identifiers=[["age"]], k=5), "expected a list of column names"),
        (lambda db: kanon_sql.plan(db, "visits", k=5), "quasi_identifiers is missing"),
        (lambda db: kanon_sql.plan(db), "expected a Spec, or a table with quasi_identifiers"),
        (lambda db: kanon_sql.plan(db, "visits"), "expected a Spec, got a str"),
        (lambda db: kanon_sql.plan(db, "visits", quasi_identifiers=["agee"]), "did you mean 'age'"),
        (
            lambda db: kanon_sql.anonymize(db, "visits", quasi_identifiers=["age"], l={"age": 2}),
            "give each column one role",
        ),
        (lambda db: kanon_sql.plan(db, 5, quasi_identifiers=["age"]), "expected the name of a table, got int"),
        (
            lambda db: kanon_sql.check(
                db, "visits", quasi_identifiers=["age"], t={"zip": 0.3}, identifiers=["diagnosis"]
            ),
            "leave them out, or check them in a separate run",
        ),
        (
            lambda db: kanon_sql.plan(db, kanon_sql.Spec.parse(kanon_sql.init(db, "visits")), k=5),
            "the spec already has the roles of the columns; leave k",
        ),
    ],
)
def test_roles_that_cannot_be_used(visits: duckdb.DuckDBPyConnection, asked: Asked, said: str) -> None:
    with pytest.raises(SpecError) as refused:
        asked(visits)
    assert said in str(refused.value)


def test_the_roles_are_in_the_signature() -> None:
    for verb in (kanon_sql.check, kanon_sql.plan, kanon_sql.anonymize):
        assert {"quasi_identifiers", "k", "l", "t", "unit"} <= set(inspect.signature(verb).parameters)
