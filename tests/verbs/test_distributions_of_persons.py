"""Persons by label, in the source and in the release: against plain counting of sets of persons."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.report.html import html_report
from kanon_sql.report.json import result_schema
from kanon_sql.verbs import distributions as counting
from kanon_sql.verbs.distributions import follows_small
from tests.conftest import Database
from tests.servers import subject_of
from tests.support.strategies import examples
from tests.verbs.test_distributions import COLUMNS, PARENT, TREE, as_expected

Row = tuple[Any, ...]
"""Age, town, sickness, and the person, who may be nobody."""


def spec_of(k: int, level: int = 1, **changes: Any) -> kanon_sql.Spec:
    quasi = {
        "age": {"intervals": [2], "minimum_level": level, "maximum_level": level},
        "town": {**TREE, "minimum_level": 0, "maximum_level": 1},
    }
    base: dict[str, Any] = {
        "version": 1, "source": "people", "release": "people_release", "unit": "person", "quasi_identifiers": quasi,
        "sensitive": ["sick"], "suppression": {"max_share": 0.9},
        "privacy": [{"k_anonymity": k}, {"p_sensitive_k_anonymity": {"attribute": "sick", "p": 1, "k": k}}],
    }  # fmt: skip
    return kanon_sql.Spec.from_dict({**base, **changes})


def expected(rows: Sequence[Row], node: Sequence[int], k: int, place: int, most: int) -> Any:
    """As the oracle of rows gives it: with whom, what is shown; None where nothing may be."""
    found = []
    for age, town, sick, person in rows:
        shown = None if age is None else str(age) if node[0] == 0 else f"[{age // 2 * 2}, {age // 2 * 2 + 2})"
        found.append(("*" if node[0] == 2 else shown, [town, PARENT[town], "*"][node[1]], sick, person))
    classes: dict[Any, list[Row]] = {}
    for row in found:
        classes.setdefault(row[:2], []).append(row)
    kept = {
        name
        for name, own in classes.items()
        if len({row[3] for row in own} - {None}) >= k and any(row[2] is not None and row[3] is not None for row in own)
    }
    everybody: dict[Any, set[Any]] = {}
    released: dict[Any, set[Any]] = {}
    for row in found:
        everybody.setdefault(row[place], set()).add(row[3])
        if row[:2] in kept:
            released.setdefault(row[place], set()).add(row[3])
    for table in (everybody, released):
        for who in table.values():
            who.discard(None)
    for first in (everybody, released):
        labels = {label for label, who in first.items() if who}
        there = {who for own in first.values() for who in own}
        sizes = {label: (len(first[label]), len(released.get(label, ()))) for label in labels}
        if sum(size for size, _ in sizes.values()) != len(there):
            continue
        small = [label for label, (s, r) in sizes.items() if any(0 < count < k for count in (s, r, s - r))]
        sums = [sum(sizes[label][side] for label in small) for side in (0, 1)]
        if small and follows_small(len(small), sums[0], sums[1], k):
            continue
        fine = sorted((label for label in labels if label not in small), key=lambda label: -sizes[label][0])
        least = sizes[fine[most - 1]][0] if len(fine) > most else 0
        sure = [label for label in fine if sizes[label][0] > least]
        shown = [(label, sizes[label][0] if first is everybody else None, sizes[label][1]) for label in sure]
        rest = [sum(sizes[label][side] for label in labels if label not in sure) for side in (0, 1)]
        return first is everybody, [*shown, rest]
    return None


def compare(engine: Any, rows: Sequence[Row], k: int, level: int) -> set[str]:
    """Returns the columns of which something is shown."""
    result = kanon_sql.plan(engine, spec_of(k, level), distributions=True)
    if not result.passed or result.node is None:
        return set()
    assert result.details is not None
    found = {item.name: item for item in result.details.distributions}
    assert list(found) == ["age", "town", "sick"]
    for place, item in enumerate(found.values()):
        assert item.counted == "persons"
        as_expected(item, expected(rows, list(result.node.values()), k, place, counting.MOST))
    jsonschema.validate(result.to_dict(), result_schema())
    return {name for name, item in found.items() if item.cells}


towns = st.sampled_from(["a", "b", "c", "d", None])
sick = st.sampled_from(["x", "y", "z", None])
wild = st.lists(
    st.tuples(st.none() | st.integers(0, 5), towns, sick, st.none() | st.integers(0, 30)), min_size=6, max_size=60
)


@st.composite
def steady(draw: Any) -> list[Row]:
    """Persons of one age each, who may move or be ill in several ways, or do neither."""
    moves, ill = draw(st.booleans()), draw(st.booleans())
    rows: list[Row] = []
    for person in range(draw(st.integers(4, 25))):
        age, town, own = draw(st.integers(0, 3)), draw(towns), draw(sick)
        for _ in range(draw(st.integers(1, 3))):
            rows.append((age, draw(towns) if moves else town, draw(sick) if ill else own, person))
    return rows


@given(st.one_of(wild, steady(), steady()), st.integers(2, 4), st.integers(0, 1))
@examples(12)
def test_against_plain_counting(rows: list[Row], k: int, level: int) -> None:
    with kanon_sql.connect() as engine:
        database = Database(engine._connection)  # type: ignore[attr-defined]
        database.table("people", {**COLUMNS, "person": "INTEGER"}, rows)
        compare(engine, rows, k, level)


def clinic(moves: bool) -> list[Row]:
    draw = random.Random(4)
    rows: list[Row] = []
    for person in range(80):
        age, town = draw.randint(0, 3), draw.choice("abcd")
        for visit in range(draw.randint(1, 3)):
            rows.append((age, draw.choice("abcd") if moves and visit else town, draw.choice("xyz"), person))
    return [*rows, (2, "a", "x", None), (9, "a", "x", None)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("moves", [False, True])
def test_columns_of_which_somebody_has_several_labels_are_not_shown(database: Database, moves: bool) -> None:
    rows = clinic(moves)
    database.table("people", {**COLUMNS, "person": "INTEGER"}, rows)
    assert compare(database.engine, rows, 3, 1) == ({"age"} if moves else {"age", "town"})


def test_how_few_have_several_labels_would_follow(database: Database) -> None:
    """Twenty persons, nineteen of whom have one label: counts of 10 and 11 would say that one person has both."""
    rows = [(0 if person < 10 else 2, "a", "x", person) for person in range(20)] + [(2, "a", "x", 0)]
    database.table("people", {**COLUMNS, "person": "INTEGER"}, rows)
    result = kanon_sql.plan(database.engine, spec_of(3), distributions=True)
    assert result.node == {"age": 1, "town": 0}
    assert result.details is not None
    shown = {item.name: [cell.source for cell in item.cells] for item in result.details.distributions}
    assert shown == {"age": [], "town": [20], "sick": [20]}


@pytest.mark.slow
def test_a_report_speaks_of_persons(database: Database) -> None:
    database.table("people", {**COLUMNS, "person": "INTEGER"}, clinic(moves=True))
    result = kanon_sql.anonymize(
        database.engine, spec_of(3, warnings={"column_fully_generalized": "allow"}), distributions=True
    )
    assert result.passed
    page = html_report(result)
    assert "age: persons by label" in page
    assert "rows by label of level" not in page
    assert "where a person has several labels of a column" in page
    shown = result.chart("distribution-age").to_dict()
    assert "persons by label" in str(shown["title"])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "name", ["sqlite", "postgres", *(pytest.param(n, marks=pytest.mark.slow) for n in ("mariadb", "clickhouse"))]
)
@pytest.mark.slow
def test_every_engine_counts_the_same(name: str) -> None:
    kinds = {"age": "integer", "town": "text", "sick": "text", "person": "integer"}
    with subject_of(name) as subject:
        engine = subject.connect()
        try:
            for moves in (False, True):
                rows = clinic(moves)
                subject.table("people", kinds, rows)
                assert compare(engine, rows, 3, 1)
        finally:
            engine.close()
            subject.drop("people")
