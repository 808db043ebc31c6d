"""Micro-aggregation of every kind of number: released in the type of its column, exactly; what cannot be is refused."""

from __future__ import annotations

import random
from collections import Counter
from datetime import date, datetime, time
from decimal import Decimal
from math import floor
from typing import Any

import pytest

from kanon_sql.errors import UnsupportedError
from tests.conftest import Database
from tests.recode.test_microaggregation import described, published, spec


@pytest.mark.slow
def test_types_and_digits_are_kept(shared_database: Database) -> None:
    rows = [(Decimal("1.25"), 7), (Decimal("1.50"), 8), (Decimal("1.51"), 8)]
    asked = spec({"x": "mean", "y": "mean"})
    result = published(shared_database, rows, asked, x="DECIMAL(6,2)", y="TINYINT")
    assert described(shared_database, "xy") == {"x": "DECIMAL(6,2)", "y": "TINYINT"}
    assert {row[:2] for row in shared_database.rows("people_release")} == {(Decimal("1.42"), 8)}
    assert result.recoding["mean_loss"] is None
    assert result.mean_loss is None
    assert set(result.metrics) == {"discernibility", "average_class_size"}


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (
            "DOUBLE",
            1.5,
            "digits after the point it is rounded, as in recoding.columns: {x: {aggregate: mean, digits: 2}}",
        ),
        ("VARCHAR", "1", "but the column is VARCHAR; cast it to DECIMAL"),
        (
            "TIMESTAMPTZ",
            "2020-01-01",
            "dates or times without a zone, but the column is TIMESTAMP WITH TIME ZONE; cast",
        ),
        ("DATE", "0044-03-15 (BC)", "some of its values are outside of the years 1 to 9999"),
        ("DATE", "infinity", "some of its values are outside of the years 1 to 9999"),
        ("TIMESTAMP", "10000-01-01 00:00:00", "some of its values are outside of the years 1 to 9999"),
        ("DECIMAL(30,12)", 1, "or more than 10; cast it to DECIMAL"),
        ("BIGINT", 2**60, "its numbers are too large for 3 rows to be added up exactly"),
        ("HUGEINT", -(2**100), "its numbers are too large for 3 rows to be added up exactly"),
    ],
)
def test_numbers_that_do_not_add_up_exactly_are_refused(
    shared_database: Database, kind: str, value: Any, said: str
) -> None:
    with pytest.raises(UnsupportedError) as refused:
        published(shared_database, [(value,)] * 3, spec({"x": "mean"}), x=kind)
    assert said in str(refused.value)
    assert "people_release" not in shared_database.tables()


@pytest.mark.parametrize(
    ("kind", "value", "digits", "said"),
    [
        ("DOUBLE", float("nan"), 2, "or are no numbers; give them fewer digits in a source query, or write fewer"),
        ("DOUBLE", float("inf"), 0, "or are no numbers"),
        ("DOUBLE", 2.0**50, 1, "its numbers are too large"),
        ("FLOAT", 123_456.71, 4, "the type FLOAT does not hold its numbers with 4 digits after the point; write fewer"),
        ("INTEGER", 3, 0, "the column is INTEGER, so leave digits out"),
        ("DECIMAL(9,2)", 3, 1, "the column is DECIMAL(9,2), so leave digits out"),
    ],
)
def test_digits_that_cannot_be_kept_are_refused(
    shared_database: Database, kind: str, value: Any, digits: int, said: str
) -> None:
    rows = [(value,), (value,), (value * 2,)]
    with pytest.raises(UnsupportedError) as refused:
        published(shared_database, rows, spec({"x": {"aggregate": "mean", "digits": digits}}), x=kind)
    assert said in str(refused.value)
    assert "people_release" not in shared_database.tables()


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("digits", [0, 2, 10])
def test_binary_fractions_are_rounded_as_doubles_are(shared_database: Database, digits: int) -> None:
    """The median of one value three times is that value, rounded half up in doubles."""
    chance = random.Random(digits)
    rows = [(value,) for value in {chance.uniform(-90, 90) for _ in range(20)} for _ in range(3)]
    published(shared_database, rows, spec({"x": {"aggregate": "median", "digits": digits}}), x="DOUBLE")
    unit = float(10**digits)
    released = {row[0] for row in shared_database.rows("people_release")}
    assert released == {floor(value * unit + 0.5) / unit for (value,) in rows}


@pytest.mark.slow
def test_every_day_of_four_hundred_years_comes_back(shared_database: Database) -> None:
    """And of the first and the last ones that there are."""
    days = [date.fromordinal(number) for number in (1, 60, 3_652_059, *range(719_163 - 60, 719_163 - 60 + 146_200, 13))]
    rows = [(day, datetime.combine(day, time(day.day % 24, day.day, day.month))) for day in days for _ in range(2)]
    asked = spec({"x": "mode", "y": "mean"}, privacy=[{"k_anonymity": 2}])
    published(shared_database, rows, asked, x="DATE", y="TIMESTAMP")
    written = Counter(row[:2] for row in shared_database.rows("people_release"))
    assert written == Counter(rows)
