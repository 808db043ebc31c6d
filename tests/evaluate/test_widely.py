"""What is asked at once where a statement is dear: the same answers as one by one, and what lookup tables count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import isclose, log
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Engine, Meter
from kanon_sql.evaluate.search import searched
from kanon_sql.hierarchies.row_hierarchies import split_labels
from tests.support.strategies import examples

ROWS = [(row % 7, "abcd"[row * row % 4], None if row % 11 == 0 else "xyz"[row % 3]) for row in range(200)]
TREE = {"tree": {"ab": ["a", "b"], "cd": ["c", "d", "e"]}}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (age INTEGER, grade VARCHAR, city VARCHAR)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
        yield kanon_sql.connect(connection)


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "released",
            "quasi_identifiers": {"age": {"intervals": [2, 4]}, "grade": TREE, "city": None},
            "privacy": [{"k_anonymity": 5}],
            "suppression": {"max_share": 0.2},
            **changes,
        }
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("nulls", ["value", "suppress"])
def test_labels_are_counted_as_in_the_rows(engine: Engine, nulls: str) -> None:
    """By hand, for every quasi-identifier and level: labels, values under them, the most under one, n log n."""
    kept = [row for row in ROWS if nulls == "value" or row[2] is not None]
    labels = [
        [lambda age: age, lambda age: age // 2, lambda age: age // 4],
        [lambda grade: grade, lambda grade: "ab" if grade in "ab" else "cd"],
        [lambda city: city],
    ]
    cities = {row[2] for row in ROWS if nulls == "value" or row[2] is not None}
    domains = [range(7), "abcde", cities]
    with searched(engine, spec(nulls=nulls)) as found:
        attributes = found.evaluator.counts.attributes
        assert [attribute.height for attribute in attributes] == [3, 2, 1]
        for index, attribute in enumerate(attributes):
            for level, label in enumerate(labels[index]):
                rows = Counter(label(row[index]) for row in kept)
                sizes = Counter(map(label, domains[index]))
                assert attribute.labels[level] == len(rows)
                assert attribute.covered[level] == sum(count * sizes[name] for name, count in rows.items())
                assert attribute.largest[level] == max(sizes[name] for name in rows)
                assert isclose(attribute.row_log[level], sum(count * log(count) for count in rows.values()))


@pytest.mark.slow
def test_a_node_is_measured_by_all_metrics_at_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same figures as by a statement for each; of the plan, one statement less for each but one."""
    names: list[Counter[str]] = []
    count = Meter.count

    def noted(meter: Meter, statement: Any) -> None:
        names[-1][statement.name] += 1
        count(meter, statement)

    monkeypatch.setattr(Meter, "count", noted)
    results = []
    for widely in (False, True):
        names.append(Counter())
        engine.capabilities = replace(engine.capabilities, prefers_large_batches=widely)
        results.append(kanon_sql.plan(engine, spec(search={"algorithm": "exhaustive"})))
    one, other = results
    assert other.metrics == one.metrics
    assert len(one.metrics) > 4
    assert other.mean_loss == one.mean_loss
    assert names[0]["evaluate/node"] - names[1]["evaluate/node"] >= 2


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=4, max_size=4), min_size=1, max_size=8))
@examples(100)
def test_labels_with_more_than_one_parent_are_counted(rows: list[list[str]]) -> None:
    """The top's row says nothing: one label has one parent there."""
    given_rows = [[*row, "*"] for row in rows]
    expected = {
        level: sum(
            any(
                one[level] == other[level] == label and one[level + 1] != other[level + 1]
                for one in rows
                for other in rows
            )
            for label in "ab"
        )
        for level in range(3)
    }
    assert split_labels(given_rows) == expected
