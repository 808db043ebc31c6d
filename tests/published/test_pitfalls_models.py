"""Wrong verdicts that published anonymizers give about l-diversity and t-closeness; each is refuted here."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import SpecError
from tests.conftest import Database
from tests.support.pitfalls import checked, classes, k, l, reached, spec_of, t


def test_pitfall_01_recursive_counts_are_sorted_descending(database: Database) -> None:
    for counts in ([100, 1, 1], [1, 100, 1], [1, 1, 100]):
        classes(database, counts)
        assert reached(database, l(3, "recursive", c=1), "c_above") == 100
        assert not checked(database, l(3, "recursive", c=1)).passed
        assert not checked(database, l(3, "recursive", c=100)).passed  # the inequality is strict
        assert checked(database, l(3, "recursive", c=100.5)).passed


def test_pitfall_02_recursive_inequality_is_not_inverted(database: Database) -> None:
    classes(database, [19, 1, 1])
    assert not checked(database, l(2, "recursive", c=1)).passed
    classes(database, [2, 2])
    assert checked(database, l(2, "recursive", c=3)).passed


def test_pitfall_03_equally_frequent_values_reach_entropy_l(database: Database) -> None:
    for values in range(1, 41):
        classes(database, [values % 7 + 1] * values)
        result = checked(database, l(values, "entropy"))
        assert result.passed, values
        assert result.achieved["entropy_l_diversity(s)"]["l"] == pytest.approx(values, rel=1e-12)
        assert not checked(database, l(values + 1, "entropy")).passed
    classes(database, [1000, 999])
    assert not checked(database, l(2, "entropy")).passed
    assert checked(database, l(1.999, "entropy")).passed


def test_pitfall_07_the_t_of_the_release_is_part_of_the_verdict(database: Database) -> None:
    classes(database, {"a": 3}, {"a": 14, "b": 9})
    result = checked(database, t(0.01))
    assert result.verdict == "fail"
    assert result.achieved["t_closeness(s)"]["t"] == pytest.approx(9 / 26)
    assert result.achieved["t_closeness(s)"]["violating_classes"] == 2
    for limit in (0.01, 0.1, 0.35):
        spec = spec_of(["q"], [t(limit)], sensitive=["s"])
        released = kanon_sql.anonymize(database.engine, spec)
        assert released.achieved["t_closeness(s)"]["t"] <= limit
        assert released.node == {"q": 0 if limit > 0.346 else 1}
        assert checked(database, t(limit), table="people_release").passed


def test_pitfall_08_values_absent_from_a_class_count(database: Database) -> None:
    classes(database, {"a": 2}, {"b": 2})
    assert reached(database, t(0.3), "t") == 0.5
    assert not checked(database, t(0.49)).passed
    assert checked(database, t(0.5)).passed


def test_pitfall_09_t_sums_over_values_not_rows(database: Database) -> None:
    database.connection.execute(
        "CREATE TABLE people AS SELECT 'class ' || (i % 2) AS q, 'v' || (i % 2) AS s FROM range(20000) AS numbers(i)"
    )
    assert reached(database, t(0.3), "t") == 0.5


@pytest.mark.slow
def test_pitfall_13_every_type_of_sensitive_column(database: Database) -> None:
    day, moment = datetime.date, datetime.datetime
    typed: dict[str, Sequence[Any]] = {
        "INTEGER": (-1, 0),
        "BIGINT": (2**60, 2**60 + 1),
        "DECIMAL(30, 20)": (Decimal("0.00000000000000000001"), Decimal(0)),
        "DOUBLE": (0.1 + 0.2, 0.3),
        "REAL": (0.5, 0.25),
        "DATE": (day(1980, 1, 1), day(1980, 1, 2)),
        "TIMESTAMP": (moment(2024, 1, 1, 0, 0, 0, 1), moment(2024, 1, 1)),
        "BOOLEAN": (True, False),
        "UUID": ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"),
        "VARCHAR": ("x", "X"),
    }
    everything = [k(2), l(2), t(0.25)]
    for kind, (one, other) in typed.items():
        classes(database, {one: 3, other: 1}, {other: 2, one: 2}, kind=kind)
        result = checked(database, *everything, l(1.5, "entropy"), l(2, "recursive", c=3.5))
        assert result.passed, kind
        assert result.achieved["distinct_l_diversity(s)"]["l"] == 2, kind
        assert result.achieved["t_closeness(s)"]["t"] == pytest.approx(0.125), kind
        assert result.achieved["recursive_cl_diversity(s)"]["c_above"] == 3, kind
        before = Counter(line[1] for line in database.rows("people"))
        assert kanon_sql.anonymize(database.engine, spec_of(["q"], everything, sensitive=["s"])).passed, kind
        assert Counter(line[1] for line in database.rows("people_release")) == before, kind


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("kind", "value"),
    [("INTEGER", 7), ("DOUBLE", 0.5), ("DATE", datetime.date(2024, 2, 29)), ("BOOLEAN", True), ("VARCHAR", "")],
)
def test_pitfall_13_constant_sensitive_column(database: Database, kind: str, value: Any) -> None:
    """Every class is like the table, and diverse in nothing."""
    classes(database, {value: 3}, {value: 5}, kind=kind)
    assert reached(database, t(0), "t") == 0
    assert checked(database, t(0)).passed
    assert reached(database, l(1), "l") == 1
    assert reached(database, l(1, "entropy"), "l") == 1
    assert reached(database, l(2, "recursive", c=1000), "c_above") is None
    assert not checked(database, l(2, "recursive", c=1000)).passed
    spec = spec_of(["q"], [k(2), l(2)], sensitive=["s"], suppression={"max_share": 1.0})
    result = kanon_sql.anonymize(database.engine, spec)
    assert not result.passed
    assert "people_release" not in database.tables()


def test_pitfall_13_sensitive_column_of_nulls(database: Database) -> None:
    classes(database, {None: 3}, {None: 2})
    assert reached(database, t(0), "t") == 0
    assert reached(database, l(1), "l") == 0
    assert not checked(database, l(1)).passed
    assert reached(database, l(1, "entropy"), "l") == 1  # nothing is uncertain
    assert reached(database, l(1, "recursive", c=5), "c_above") is None


def test_pitfall_17_null_is_no_protective_value(database: Database) -> None:
    classes(database, {"x": 2, None: 2})
    assert reached(database, l(2), "l") == 1
    assert reached(database, l(2, "entropy"), "l") == 1
    assert reached(database, l(2, "recursive", c=9), "c_above") is None
    for requirement in (l(2), l(2, "entropy"), l(2, "recursive", c=9)):
        assert not checked(database, requirement).passed
    spec = spec_of(["q"], [l(2)], sensitive=["s"])
    assert not kanon_sql.anonymize(database.engine, spec).passed
    # For t-closeness it is a value like any other: to lack an entry can tell as much.
    classes(database, {None: 2}, {"x": 2})
    assert reached(database, t(0.5), "t") == 0.5


def test_pitfall_21_the_reference_is_the_original_table(database: Database) -> None:
    """The class that is suppressed still counts: the others are compared with what the table was."""
    classes(database, {"a": 2, "b": 2}, {"a": 2, "b": 2}, {"c": 2})
    spec = spec_of(["q"], [t(0.25)], sensitive=["s"], suppression={"max_rows": 2})
    result = kanon_sql.anonymize(database.engine, spec)
    assert (result.node, result.rows["suppressed"]) == ({"q": 0}, 2)
    assert result.achieved["t_closeness(s)"]["t"] == pytest.approx(0.2)
    assert kanon_sql.check(database.engine, spec).achieved["t_closeness(s)"]["t"] == pytest.approx(0.2)
    other = spec_of(["q"], [t(0.25, reference="release")], sensitive=["s"])
    assert kanon_sql.check(database.engine, other).achieved["t_closeness(s)"]["t"] == pytest.approx(0)
    tight = spec_of({"q": {"maximum_level": 0}}, [t(0.15)], sensitive=["s"], suppression={"max_rows": 2})
    assert not kanon_sql.plan(database.engine, tight).passed


@pytest.mark.parametrize(("ours", "original"), [("INTEGER", "VARCHAR"), ("VARCHAR", "INTEGER"), ("DOUBLE", "BIGINT")])
def test_a_distribution_of_another_kind_is_refused(database: Database, ours: str, original: str) -> None:
    """A database that casts finds 1 as '1' and as '01': its row counted twice, and three rows were 4-anonymous."""
    written = ["1", "01", "2"] if original == "VARCHAR" else [1, 1, 2]
    database.table("people", {"q": "VARCHAR", "s": original}, [("a", value) for value in written])
    database.table("people_release", {"q": "VARCHAR", "s": ours}, [("a", 1), ("a", 2), ("a", 2)])
    asked = [k(4), t(0.5)]
    with pytest.raises(SpecError, match=f"'s' is {ours} in the table and {original} in the source") as refused:
        kanon_sql.check(database.engine, spec_of(["q"], asked, sensitive=["s"]))
    assert "cast" in str(refused.value)
    compared_with_itself = spec_of(["q"], [k(4), t(0.5, reference="release")], sensitive=["s"])
    assert kanon_sql.check(database.engine, compared_with_itself).achieved["k_anonymity"]["k"] == 3


def test_a_distribution_that_counts_nobody_has_no_shares(database: Database) -> None:
    """No row of the source is anybody's: whatever the table shows of a person is new."""
    database.table("people", ["q", "s", "u"], [("a", "x", None)])
    database.table("people_release", ["q", "s", "u"], [("a", "x", "1")])
    spec = spec_of(["q"], [t(0.1)], sensitive=["s"], unit="u")
    assert not kanon_sql.check(database.engine, spec).passed


@pytest.mark.parametrize(("ours", "original"), [("INTEGER", "BIGINT"), ("DECIMAL(9, 2)", "INTEGER")])
def test_a_distribution_of_the_same_numbers_is_not(database: Database, ours: str, original: str) -> None:
    database.table("people", {"q": "VARCHAR", "s": original}, [("a", 1), ("a", 1), ("a", 2)])
    database.table("people_release", {"q": "VARCHAR", "s": ours}, [("a", 1), ("a", 1), ("a", 2)])
    result = kanon_sql.check(database.engine, spec_of(["q"], [k(3), t(0.1)], sensitive=["s"]))
    assert (result.verdict, result.achieved["t_closeness(s)"]["t"]) == ("pass", 0)
