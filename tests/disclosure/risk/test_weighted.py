"""Individual and household risk by sampling weights in `risk`: by hand, and against the series that it estimates."""

from __future__ import annotations

import random
from math import log
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.errors import SpecError
from tests.conftest import Database
from tests.oracles.weighted import household_risks, risks
from tests.servers import subject_of

TYPES = {"sex": "text", "age": "integer", "w": "double", "h": "text"}

ROWS = [
    ("f", 1, 10.0, "a"),
    ("f", 2, 4.0, "a"),
    ("f", 2, 4.0, "b"),
    ("m", 1, 1.0, None),
]
"""One row that stands for 10 persons, two for 8 together, and one for itself."""


def measured(engine: Engine, **more: Any) -> Any:
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "quasi_identifiers": {"sex": {}, "age": {}},
            "privacy": [{"k_anonymity": {"k": 2}}],
        }
    )  # fmt: skip
    return kanon_sql.risk(engine, spec, **more).weighted


def test_rows_by_hand(database: Database) -> None:
    """Of p = 1/10, 1/9 ln 10; of p = 2/8, 1/3 - 1/9 ln 4; of p = 1, certainty."""
    database.table("people", TYPES, ROWS)
    found = measured(database.engine, weight="w", household="h", threshold=0.2)
    alone, pair = log(10) / 9, 1 / 3 - log(4) / 9
    assert found.population == 19
    assert found.highest == 1
    assert found.expected == pytest.approx(alone + 2 * pair + 1)
    assert found.average == pytest.approx((alone + 2 * pair + 1) / 4)
    assert found.at_risk == 2  # .256 and 1; of the pair .179
    together = 1 - (1 - alone) * (1 - pair)
    assert found.household.households == 3
    assert found.household.expected == pytest.approx(2 * together + pair + 1)
    assert (found.household.highest, found.household.at_risk) == (1, 3)


def assert_measured(engine: Engine, rows: list[tuple[Any, ...]]) -> None:
    found = measured(engine, weight="w", household="h", threshold=0.1)
    expected = risks([row[:2] for row in rows], [row[2] for row in rows])
    together = household_risks(expected, [row[3] for row in rows])
    for item, own in ((found, expected), (found.household, together)):
        assert item.expected == pytest.approx(sum(own))
        assert item.highest == pytest.approx(max(own))
        assert item.average == pytest.approx(sum(own) / len(own))
        assert item.at_risk == sum(risk > 0.1 for risk in own)


def random_rows(rng: random.Random) -> list[tuple[Any, ...]]:
    weights = [0.5, 1.0, 1.00001, 1.001, 2.5, 10.0, 400.0]
    return [
        (rng.choice(["f", "m", None]), rng.randint(1, 3), rng.choice(weights), rng.choice(["a", "b", "c", None]))
        for _ in range(rng.choice([1, 5, 12]))
    ]


def test_random_tables(database: Database) -> None:
    rng = random.Random(5)
    for _ in range(8):
        rows = random_rows(rng)
        database.table("people", TYPES, rows)
        assert_measured(database.engine, rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["postgres", "sqlite", "mariadb", "clickhouse", pytest.param("spark", marks=pytest.mark.campaign)]
)
def test_random_tables_elsewhere(name: str) -> None:
    rng = random.Random(6)
    with subject_of(name) as subject:
        engine = subject.connect()
        subject.table("people", TYPES, ROWS)
        for _ in range(2):
            rows = random_rows(rng)
            subject.drop("people")
            subject.table("people", TYPES, rows)
            assert_measured(engine, rows)
        engine.close()


def test_what_is_refused(database: Database) -> None:
    database.table("people", TYPES, [*ROWS, ("f", 1, None, "a"), ("f", 1, -1.0, "a")])
    with pytest.raises(SpecError, match="2 rows have no weight above 0 in 'w'"):
        measured(database.engine, weight="w")
    with pytest.raises(SpecError, match="also give a column of weights"):
        measured(database.engine, household="h")
    with pytest.raises(SpecError, match="expected a column of numbers, and 'h' is VARCHAR"):
        measured(database.engine, weight="h")
    with pytest.raises(SpecError, match="there is no column 'x'"):
        measured(database.engine, weight="x")
    with pytest.raises(SpecError, match="among the columns that an attacker knows"):
        measured(database.engine, weight="age")
