"""Wrong results that published anonymizers give: each is refuted here through the public interface."""

from __future__ import annotations

import csv
import datetime
import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import Database, quoted

import kanon_sql
from kanon_sql.errors import HierarchyError, SpecError, VerificationError
from kanon_sql.evaluate.evaluator import Evaluator
from kanon_sql.sql.text import Relation

STYLES = ["drop", "mask"]


def spec_of(quasi_identifiers: Any, privacy: list[dict[str, Any]], **more: Any) -> kanon_sql.Spec:
    """A spec over the table `people`; requirements are given as {name: parameters}."""
    if not isinstance(quasi_identifiers, Mapping):
        quasi_identifiers = dict.fromkeys(quasi_identifiers)
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": quasi_identifiers,
            "privacy": privacy,
            **more,
        }
    )


def k(value: int) -> dict[str, Any]:
    return {"k_anonymity": {"k": value}}


def l(value: float, kind: str = "distinct", **more: Any) -> dict[str, Any]:  # noqa: E743
    return {"l_diversity": {"attribute": "s", "l": value, "kind": kind, **more}}


def t(value: float, **more: Any) -> dict[str, Any]:
    return {"t_closeness": {"attribute": "s", "t": value, **more}}


def classes(database: Database, *counts: Sequence[int] | Mapping[Any, int], kind: str = "VARCHAR") -> None:
    """One class per argument, as counts of its sensitive values."""
    rows = []
    for number, given in enumerate(counts):
        named = given if isinstance(given, Mapping) else {f"v{index}": count for index, count in enumerate(given)}
        rows += [(f"class {number}", value) for value, count in named.items() for _ in range(count)]
    database.table("people", {"q": "VARCHAR", "s": kind}, rows)


def checked(database: Database, *privacy: dict[str, Any], table: str = "people", **more: Any) -> kanon_sql.Result:
    spec = spec_of(["q"], list(privacy), sensitive=["s"], **more)
    return kanon_sql.check(database.engine, spec, table)


def reached(database: Database, requirement: dict[str, Any], name: str) -> Any:
    (values,) = checked(database, requirement).achieved.values()
    return values[name]


# --- l-diversity and t-closeness --------------------------------------------------------------------


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
    spec = spec_of(["q"], [k(2), l(2)], sensitive=["s"], suppression={"limit": 1.0})
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
    spec = spec_of(["q"], [t(0.25)], sensitive=["s"], suppression={"limit": 2})
    result = kanon_sql.anonymize(database.engine, spec)
    assert (result.node, result.rows["suppressed"]) == ({"q": 0}, 2)
    assert result.achieved["t_closeness(s)"]["t"] == pytest.approx(0.2)
    assert kanon_sql.check(database.engine, spec).achieved["t_closeness(s)"]["t"] == pytest.approx(0.2)
    other = spec_of(["q"], [t(0.25, reference="release")], sensitive=["s"])
    assert kanon_sql.check(database.engine, other).achieved["t_closeness(s)"]["t"] == pytest.approx(0)
    tight = spec_of({"q": {"maximum_level": 0}}, [t(0.15)], sensitive=["s"], suppression={"limit": 2})
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


# --- NULL, labels that look like NULL, collations --------------------------------------------------------

AGE = {"age": {"intervals": [10, 20]}}
AGES = [(-1,), (-1,), (None,), (41,), (42,), (43,), (44,)]


def test_pitfall_04_null_is_a_value(database: Database) -> None:
    database.table("people", ["q"], [("a",), ("a",), ("a",), (None,)])
    result = kanon_sql.check(database.engine, spec_of(["q"], [k(3)]), "people")
    assert (result.verdict, result.achieved["k_anonymity"]["k"], result.rows["source"]) == ("fail", 1, 4)
    assert result.achieved["k_anonymity"]["violating_rows"] == 1
    # A value of its own: nothing but the top, or suppression, protects it.
    assert kanon_sql.anonymize(database.engine, spec_of(["q"], [k(3)])).node == {"q": 1}
    limited = spec_of(["q"], [k(3)], suppression={"limit": 1})
    result = kanon_sql.anonymize(database.engine, limited)
    assert (result.node, result.rows) == ({"q": 0}, {"source": 4, "released": 3, "suppressed": 1})


def test_pitfall_04_null_is_suppressed_or_an_error_when_the_spec_says_so(database: Database) -> None:
    database.table("people", ["q"], [("a",), ("a",), ("a",), (None,)])
    suppressing = spec_of(["q"], [k(3)], nulls="suppress", suppression={"limit": 1})
    assert kanon_sql.anonymize(database.engine, suppressing).rows == {"source": 4, "released": 3, "suppressed": 1}
    too_many = spec_of(["q"], [k(3)], nulls="suppress", suppression={"limit": 0})
    result = kanon_sql.plan(database.engine, too_many)
    assert not result.passed
    assert "NULL quasi-identifier" in result.message
    with pytest.raises(HierarchyError, match="1 rows are NULL"):
        kanon_sql.plan(database.engine, spec_of(["q"], [k(3)], nulls="error"))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("nulls", ["value", "suppress"])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_pitfall_05_no_raw_value_in_the_release(database: Database, style: str, nulls: str, level: int) -> None:
    """Every cell is the image of the chosen level, NULL where it is a value, or the mask."""
    database.table("people", {"age": "INTEGER"}, AGES)
    spec = spec_of(
        {"age": {"intervals": [10, 20], "minimum_level": level, "maximum_level": level}},
        [k(2)],
        nulls=nulls,
        suppression={"limit": 3, "style": style},
    )
    assert kanon_sql.anonymize(database.engine, spec).passed
    cells = {cell for (cell,) in database.rows("people_release")}
    assert cells <= {1: {"[-10, 0)", "[40, 50)", "*"}, 2: {"[-20, 0)", "[40, 60)", "*"}, 3: {"*"}}[level]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("nulls", ["value", "suppress"])
@pytest.mark.parametrize("limit", [1, 3, 0.5, 1.0])
def test_pitfall_06_no_row_vanishes(database: Database, style: str, nulls: str, limit: float) -> None:
    database.table("people", {"age": "INTEGER"}, [*AGES, (None,), (70,)])
    spec = spec_of(AGE, [k(2)], nulls=nulls, suppression={"limit": limit, "style": style})
    result = kanon_sql.anonymize(database.engine, spec)
    rows = dict(result.rows)
    assert rows["source"] == 9
    assert rows["released"] + rows["suppressed"] == 9
    if not result.passed:
        assert rows["released"] == 0
        return
    assert len(database.rows("people_release")) == rows["released"] + rows.get("masked", 0)
    assert f"{rows['suppressed']} row" in result.message
    assert rows["suppressed"] <= (limit if isinstance(limit, int) else int(limit * 9))
    assert rows["suppressed"] >= (2 if nulls == "suppress" else 0)


@pytest.mark.parametrize(
    ("kind", "values", "hierarchy"),
    [
        ("INTEGER", [-1, -1, 0, 0, None, None], {}),
        ("INTEGER", [-1, -1, 15, 15, None, None], {"intervals": [10]}),
        ("DOUBLE", [-1.0, -1.0, 0.0, 0.0, None, None], {"sql": ["floor(x)"]}),
        ("VARCHAR", ["", "", "NULL", "NULL", "None", "None", "-1", "-1", "*", "*", None, None], {}),
        ("VARCHAR", ["", "", "NULL", "NULL", "nan", "nan", None, None], {"prefix": [4, 3]}),
        ("VARCHAR", ["", "", "NULL", "NULL", None, None], {"tree": {"None": [""], "null": ["NULL"]}}),
    ],
)
def test_pitfall_18_null_never_merges_with_a_value(
    database: Database, kind: str, values: list[Any], hierarchy: dict[str, Any]
) -> None:
    database.table("people", {"q": kind, "s": "VARCHAR"}, [(value, str(value)) for value in values])
    distinct = len(set(values))
    top = len(next(iter(hierarchy.values()), [])) if "tree" not in hierarchy else 1
    for level in range(top + 1):
        spec = spec_of({"q": {**hierarchy, "minimum_level": level, "maximum_level": level}}, [k(2)], keep=["s"])
        result = kanon_sql.anonymize(database.engine, spec)
        assert result.passed
        assert result.classes["count"] == distinct, level
        assert result.classes["largest"] == 2
        assert {s for q, s in database.rows("people_release") if q is None} == {"None"}
        assert result.node == {"q": level}


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT", "NFC"])
def test_pitfall_22_a_collation_does_not_merge_values(database: Database, collation: str) -> None:
    """Grouped as the database would, the six values are one class of six, with one person and one illness."""
    values = ["a", "A", "á", "Á", "a\u0301", "à"]
    kind = f"VARCHAR COLLATE {collation}"
    columns = {"q": kind, "s": kind, "person": kind}
    database.table("people", columns, [(value, "flu", f"p{n}") for n, value in enumerate(values)])
    result = kanon_sql.check(database.engine, spec_of(["q"], [k(2)]), "people")
    assert result.achieved["k_anonymity"] == {**result.achieved["k_anonymity"], "k": 1, "violating_classes": 6}
    assert kanon_sql.anonymize(database.engine, spec_of(["q"], [k(2)], suppression={"limit": 5})).node == {"q": 1}
    tree = {"lower": ["a", "á", "a\u0301", "à"], "upper": ["A", "Á"]}
    result = kanon_sql.anonymize(database.engine, spec_of({"q": {"tree": tree}}, [k(3)], suppression={"limit": 2}))
    assert result.node == {"q": 1}
    assert database.rows("people_release") == [("lower",)] * 4

    database.table("people", columns, [("x", value, "p") for value in values])
    result = checked(database, l(6), l(6, "entropy"), t(0))
    assert result.passed  # six illnesses are six illnesses

    database.table("people", columns, [("x", "flu", value) for value in values])
    result = checked(database, k(6), unit="person")
    assert result.achieved["k_anonymity"]["k"] == 6
    database.table("people", columns, [("x", "flu", "p"), ("x", "flu", "p")])
    assert checked(database, k(2), unit="person").achieved["k_anonymity"]["k"] == 1


def test_pitfall_22_trailing_spaces_are_part_of_a_value(database: Database) -> None:
    database.table("people", ["q"], [("a",), ("a ",), (" a",), ("a\t",), ("a\u00a0",), ("a\u200b",)])
    result = kanon_sql.check(database.engine, spec_of(["q"], [k(2)]), "people")
    assert (result.classes["count"], result.classes["largest"]) == (6, 1)


# --- labels ------------------------------------------------------------------------------------------


def labelled(
    database: Database, kind: str, values: Sequence[Any], hierarchy: dict[str, Any], level: int
) -> list[tuple[Any, Any]]:
    """Every value with its label at a level of the hierarchy, as it stands in a release."""
    database.table("people", {"q": kind, "serial": "INTEGER"}, list(zip(values, range(len(values)), strict=True)))
    pinned = {**hierarchy, "minimum_level": level, "maximum_level": level}
    spec = spec_of({"q": pinned}, [k(1)], keep=["serial"])
    assert kanon_sql.anonymize(database.engine, spec).passed
    rows = database.rows("people_release")
    assert len(rows) == len(values)
    return [(values[serial], label) for label, serial in rows]


NUMBER = r"(-?\d+(?:\.\d+)?)"


def inside(value: Any, label: str) -> bool:
    """Whether a number is in the interval that its label says. A float is the number it is written as."""
    number = Decimal(str(value))
    if found := re.fullmatch(rf"\[{NUMBER}, {NUMBER}\)", label):
        low, high = Decimal(found[1]), Decimal(found[2])
        return low <= number < high
    if found := re.fullmatch(rf"< {NUMBER}", label):
        return number < Decimal(found[1])
    if found := re.fullmatch(rf">= {NUMBER}", label):
        return number >= Decimal(found[1])
    return False


RANDOM = random.Random(20)
INTEGERS = [*range(-45, 46), 99, 100, 101, 10**12, -(10**12), 10**15 - 1]
DECIMALS = [Decimal(n) / 100 for n in range(-120, 121)] + [Decimal("0.29"), Decimal("99.99"), Decimal("-0.01")]
FLOATS = [
    *(n / 100 for n in range(-120, 121)),
    *(RANDOM.uniform(-50, 50) for _ in range(100)),
    *(0.1 + 0.2, 0.29, 0.57, 1.15, 49.6, -5.0, -0.0, 9.99999999999, 19.9999999999999, -1e-12, 1e-12, 0.3 - 1e-12),
]
CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("INTEGER", INTEGERS[:-3], {"intervals": [5, 10, 20]}),
    ("BIGINT", INTEGERS, {"intervals": [7, 21], "origin": 3}),
    ("INTEGER", INTEGERS[:-3], {"intervals": [10, 20], "bottom": -15, "top": 35}),
    ("INTEGER", INTEGERS[:-3], {"intervals": [10], "origin": -2.5}),
    ("INTEGER", INTEGERS[:-3], {"intervals": [0.5, 2.5]}),
    ("DECIMAL(8, 2)", DECIMALS, {"intervals": [0.1, 0.5]}),
    ("DECIMAL(8, 2)", DECIMALS, {"intervals": [0.05, 0.25, 1], "bottom": -0.62, "top": 0.43}),
    ("DECIMAL(8, 2)", DECIMALS, {"intervals": [0.01]}),
    ("DECIMAL(8, 2)", DECIMALS, {"intervals": [10]}),
    ("DECIMAL(38, 20)", [Decimal("9.99999999999999999999"), Decimal("-0.00000000000000000001")], {"intervals": [10]}),
    ("DOUBLE", FLOATS, {"intervals": [0.1, 0.5]}),
    ("DOUBLE", FLOATS, {"intervals": [0.05, 10], "origin": 0.025}),
    ("DOUBLE", FLOATS, {"intervals": [10, 20], "bottom": -0.5, "top": 9.5}),
    ("DOUBLE", FLOATS, {"intervals": [0.01]}),
    ("REAL", [0.5, 0.25, -0.75, 49.5, -5.0, 9.75], {"intervals": [0.25, 10]}),
]


@pytest.mark.parametrize(("kind", "values", "hierarchy"), CASES, ids=lambda given: str(given)[:40])
def test_pitfall_23_intervals_contain_what_they_say(
    database: Database, kind: str, values: list[Any], hierarchy: dict[str, Any]
) -> None:
    for level, width in enumerate(hierarchy["intervals"], start=1):
        for value, label in labelled(database, kind, [*values, None], hierarchy, level):
            if value is None:
                assert label is None
                continue
            assert inside(value, label), (value, label)
            if found := re.fullmatch(rf"\[{NUMBER}, {NUMBER}\)", label):
                assert Fraction(found[2]) - Fraction(found[1]) <= Fraction(str(width))


def test_pitfall_19_and_23_intervals_by_hand(database: Database) -> None:
    """Floor semantics, half-open intervals; NULL stays NULL."""
    labels = dict(labelled(database, "DOUBLE", [-5, 49.6, 50, 0, 9.99, 10, -10, None], {"intervals": [10]}, 1))
    assert labels == {
        -5: "[-10, 0)",
        49.6: "[40, 50)",
        50: "[50, 60)",
        0: "[0, 10)",
        9.99: "[0, 10)",
        10: "[10, 20)",
        -10: "[-10, 0)",
        None: None,
    }
    coded = {"intervals": [10], "bottom": 18, "top": 65}
    labels = dict(labelled(database, "INTEGER", [17, 18, 19, 20, 64, 65, 99], coded, 1))
    assert labels == {
        17: "< 18",
        18: "[18, 20)",
        19: "[18, 20)",
        20: "[20, 30)",
        64: "[60, 65)",
        65: ">= 65",
        99: ">= 65",
    }


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_pitfall_19_a_number_in_no_interval_is_an_error(database: Database, value: float) -> None:
    database.table("people", {"age": "DOUBLE"}, [(1.0,), (value,)])
    with pytest.raises(HierarchyError, match="1 distinct values"):
        kanon_sql.plan(database.engine, spec_of(AGE, [k(1)]))


def test_pitfall_23_prefixes_are_prefixes(database: Database) -> None:
    values = ["94139", "94138", "941", "9", "", "é1234", "日本語テキスト", "a*b*c", "*****", " 9413", None]
    for level, keep in enumerate((4, 3, 1), start=1):
        for value, label in labelled(database, "VARCHAR", values, {"prefix": [4, 3, 1]}, level):
            expected = None if value is None else value[:keep] + "*" * max(0, len(value) - keep)
            assert label == expected


def test_pitfall_23_dates_are_inside_their_period(database: Database) -> None:
    day = datetime.date
    values = [day(2024, month, 28) for month in range(1, 13)]
    values += [day(1999, 12, 31), day(2000, 1, 1), day(1900, 1, 1), day(1899, 12, 31), day(987, 6, 5), day(2024, 2, 29)]
    units = ["day", "month", "quarter", "year", "decade", "century"]

    def expected(value: datetime.date, unit: str) -> str:
        year = value.year
        return {
            "day": f"{value:%m-%d}",
            "month": f"{year}-{value.month:02}",
            "quarter": f"{year}-Q{(value.month + 2) // 3}",
            "year": f"{year}",
            "decade": f"{year // 10 * 10}-{year // 10 * 10 + 9}",
            "century": f"{year // 100 * 100}-{year // 100 * 100 + 99}",
        }[unit]

    for kind in ("DATE", "TIMESTAMP"):
        moments = [datetime.datetime(v.year, v.month, v.day, 23, 59, 59) for v in values]
        for level, unit in enumerate(units, start=1):
            given = values if kind == "DATE" else moments
            for value, label in labelled(database, kind, [*given, None], {"dates": units}, level):
                if value is None:
                    assert label is None
                elif unit == "day":
                    assert (int(label[:-6]), label[-5:]) == (value.year, expected(value, unit))
                else:
                    assert label == expected(value, unit)


def test_pitfall_23_levels_are_labels_of_the_hierarchy(database: Database) -> None:
    tree = {"north": {"n'1": ["a", "A"], "n;2": ["b"]}, "south": {'s"1': ["c"], "s\n2": [""]}}
    groups = {"a": "n'1", "A": "n'1", "b": "n;2", "c": 's"1', "": "s\n2"}
    for level in range(4):
        for value, label in labelled(database, "VARCHAR", [*groups, None], {"tree": tree}, level):
            if value is None:
                assert label == ("*" if level == 3 else None)
            else:
                sides = {"n": "north", "s": "south"}
                assert label == (value, groups[value], sides[groups[value][0]], "*")[level]


# --- names, empty tables, small tables -------------------------------------------------------------------


def test_pitfall_19_names_that_need_quoting(database: Database) -> None:
    names = ["marital-status", "Select", 'a"b', "x; drop table people", "ünïcode", "l" * 70, "k0", "row_count", "value"]
    rows = [["x"] * len(names) + ["s"], ["x"] * len(names) + ["u"], ["y", *["x"] * (len(names) - 1), "s"]]
    database.table("people", [*names, "Order By"], rows)
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": ["people"],
            "release": ['the "release"; --'],
            "quasi_identifiers": dict.fromkeys(names),
            "sensitive": ["Order By"],
            "privacy": [k(2), {"l_diversity": {"attribute": "Order By", "l": 2}}],
            "suppression": {"limit": 1},
        }
    )
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.rows == {"source": 3, "released": 2, "suppressed": 1}
    assert database.columns('the "release"; --') == [*names, "Order By"]
    assert kanon_sql.check(database.engine, spec).passed
    assert "people" in database.tables()


@pytest.mark.parametrize("unit", [None, "person"])
def test_pitfall_19_an_empty_table_has_an_answer(database: Database, unit: str | None) -> None:
    database.table("people", ["q", "s", "person"], [])
    more = {"sensitive": ["s"], "unit": unit}
    privacy = [k(2), l(2), l(2, "entropy"), l(2, "recursive", c=2), t(0.2)]
    result = kanon_sql.check(database.engine, spec_of(["q"], privacy, **more), "people")
    assert result.passed
    assert result.classes == {"count": 0, "smallest": None, "average": None, "largest": None}
    assert result.achieved["k_anonymity"]["k"] is None
    for verb in (kanon_sql.plan, kanon_sql.anonymize):
        result = verb(database.engine, spec_of(["q"], privacy, **more))
        assert not result.passed
        assert "no rows" in result.message
        assert result.rows["source"] == result.rows["released"] == 0
    assert "people_release" not in database.tables()


@pytest.mark.parametrize("limit", [0, 4, 100, 1.0])
@pytest.mark.parametrize("style", STYLES)
def test_pitfall_16_a_table_smaller_than_k_is_not_released(database: Database, limit: float, style: str) -> None:
    database.table("people", ["q"], [("a",)] * 4)
    spec = spec_of(["q"], [k(5)], suppression={"limit": limit, "style": style})
    result = kanon_sql.anonymize(database.engine, spec)
    assert (result.verdict, result.node, result.release) == ("fail", None, None)
    assert "4 rows, fewer than k = 5" in result.message
    assert "people_release" not in database.tables()
    with pytest.raises(kanon_sql.RequirementNotMet):
        result.raise_for_failure()


def test_pitfall_16_so_with_persons(database: Database) -> None:
    database.table("people", ["q", "person"], [("a", f"p{n % 4}") for n in range(20)])
    result = kanon_sql.anonymize(database.engine, spec_of(["q"], [k(5)], unit="person"))
    assert not result.passed
    assert "4 persons, fewer than k = 5" in result.message
    assert kanon_sql.anonymize(database.engine, spec_of(["q"], [k(4)], unit="person")).passed


def test_pitfall_15_a_column_has_one_role() -> None:
    for more in ({"sensitive": ["q"]}, {"keep": ["q"]}, {"identifiers": ["Q"]}, {"unit": "q"}):
        with pytest.raises(SpecError, match=r"'[qQ]'"):
            spec_of(["q"], [k(2)], **more)


# --- runs: independent, repeatable, in random order ----------------------------------------------------------


def test_pitfall_10_runs_are_independent(database: Database) -> None:
    spec = spec_of(["q"], [k(2)], keep=["n"])
    database.table("people", ["q", "n"], [("a", "first")] * 3)
    assert kanon_sql.anonymize(database.engine, spec).rows["source"] == 3
    database.table("people", ["q", "n"], [("b", "second")] * 5 + [("c", "second")] * 2)
    result = kanon_sql.anonymize(database.engine, spec)
    assert (result.rows["source"], result.classes["count"]) == (7, 2)
    assert set(database.rows("people_release")) == {("b", "second"), ("c", "second")}
    with closing(kanon_sql.connect()) as other, pytest.raises(kanon_sql.KanonError):
        kanon_sql.plan(other, spec)  # what the first database holds is not there
    assert [name for name in database.tables() if re.match(r"kanon_[0-9a-f]{8}_", name)] == []


def test_pitfall_11_the_order_of_rows_never_matters(database: Database) -> None:
    """Rows that were deleted leave gaps in the numbering; the order of the rest is shuffled."""
    rows = [("a", "x"), ("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("c", "z")]
    for seed in range(6):
        shuffled = random.Random(seed).sample([*rows, *[("gone", "w")] * 5], 11)
        database.table("people", ["q", "s"], shuffled)
        database.connection.execute("DELETE FROM people WHERE q = 'gone'")
        result = checked(database, l(2), k(2))
        assert result.achieved["distinct_l_diversity(s)"]["l"] == 1
        assert result.achieved["distinct_l_diversity(s)"]["violating_rows"] == 2
        spec = spec_of(["q"], [l(2)], sensitive=["s"], suppression={"limit": 2})
        assert kanon_sql.anonymize(database.engine, spec).node == {"q": 0}
        assert Counter(database.rows("people_release")) == Counter(rows[2:])


def release_of_many(database: Database, **more: Any) -> list[int]:
    """The serial numbers of a release of 2,000 rows in their physical order."""
    database.connection.execute(
        "CREATE OR REPLACE TABLE people AS SELECT 'name ' || i AS name, i AS ssn, (i // 40) AS q, i AS person,"
        " i AS serial, 'secret' AS unnamed FROM range(2000) AS numbers(i)"
    )
    identifiers = ["name", "ssn"]
    spec = spec_of({"q": {"intervals": [10]}}, [k(40)], identifiers=identifiers, keep=["serial"], **more)
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.node == {"q": 0}
    assert database.columns("people_release") == ["q", "serial"]
    return [serial for _, serial in database.rows("people_release")]


@pytest.mark.parametrize("more", [{}, {"unit": "person"}], ids=["rows", "persons"])
def test_pitfall_12_physical_order_is_random_and_identifiers_are_gone(database: Database, more: Any) -> None:
    first, second = release_of_many(database, **more), release_of_many(database, **more)
    assert sorted(first) == sorted(second) == list(range(2000))
    assert first != second
    for order in (first, second):
        distances = sum((place - serial) ** 2 for place, serial in enumerate(order))
        correlation = 1 - 6 * distances / (2000 * (2000**2 - 1))  # Spearman; its deviation is 0.022
        assert abs(correlation) < 0.12
        # Neither do rows of a class, or neighbours of the source, stand together.
        neighbours = sum(abs(a - b) == 1 for a, b in pairwise(order))
        same_class = sum(a // 40 == b // 40 for a, b in pairwise(order))
        assert neighbours < 20
        assert same_class < 100


def test_pitfall_12_masked_rows_do_not_stand_together(database: Database) -> None:
    database.connection.execute(
        "CREATE TABLE people AS SELECT CASE WHEN i < 1600 THEN 'most' ELSE 'v' || i END AS q, i AS serial"
        " FROM range(2000) AS numbers(i)"
    )
    spec = spec_of(["q"], [k(50)], keep=["serial"], suppression={"limit": 400, "style": "mask"})
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.rows["masked"] == 400
    places = [place for place, (q, _) in enumerate(database.rows("people_release")) if q == "*"]
    assert len(places) == 400
    assert 850 < sum(places) / 400 < 1150


def test_pitfall_12_a_release_that_holds_an_identifier_is_refused(database: Database) -> None:
    database.table("people", ["name", "q"], [("n", "a")] * 4)
    database.table("leak", ["name", "q"], [("n", "a")] * 4)
    spec = spec_of(["q"], [k(2)], identifiers=["name"])
    result = kanon_sql.check(database.engine, spec, "leak")
    assert not result.passed
    assert "identifiers (name)" in result.message


def test_pitfall_14_the_same_spec_gives_the_same_release(database: Database) -> None:
    generator = random.Random(14)
    rows = [
        (generator.choice("abcdef"), generator.randrange(60), generator.choice("xyz"), generator.randrange(80))
        for _ in range(400)
    ]
    columns = {"zip": "VARCHAR", "age": "INTEGER", "s": "VARCHAR", "person": "INTEGER"}
    quasi_identifiers = {"zip": {"tree": {"1": list("abc"), "2": list("def")}}, "age": {"intervals": [5, 10, 20]}}
    for more in ({}, {"unit": "person"}):
        seen = []
        for run in range(4):
            database.table("people", columns, random.Random(run).sample(rows, len(rows)))
            database.connection.execute(f"SET threads = {run % 2 + 1}")
            spec = spec_of(
                quasi_identifiers,
                [k(4), l(2, "entropy")],
                sensitive=["s"],
                suppression={"limit": 0.1, "style": "mask"},
                **more,
            )
            result = kanon_sql.anonymize(database.engine, spec)
            assert result.passed
            known = {**result.to_dict(), "cost": None}
            seen.append((known, Counter(database.rows("people_release")), result.manifest["spec_hash"]))  # type: ignore[index]
        assert all(one == seen[0] for one in seen)


def test_pitfall_20_every_row_is_measured(database: Database) -> None:
    """One row in 200,000 stands alone."""
    database.connection.execute(
        "CREATE TABLE people AS SELECT CASE WHEN i = 123456 THEN 'alone' ELSE 'v' || (i % 50) END AS q"
        " FROM range(200000) AS numbers(i)"
    )
    result = kanon_sql.check(database.engine, spec_of(["q"], [k(2)]), "people")
    assert (result.verdict, result.achieved["k_anonymity"]["k"], result.rows["source"]) == ("fail", 1, 200000)
    result = kanon_sql.anonymize(database.engine, spec_of(["q"], [k(2)], suppression={"limit": 1}))
    assert result.rows == {"source": 200000, "released": 199999, "suppressed": 1}


# --- what a failure leaves behind ----------------------------------------------------------------------------


def test_pitfall_24_nothing_that_is_kept_or_said_holds_a_rare_value(database: Database) -> None:
    """Results, statements, messages, the manifest: numbers only."""
    secret = "Xylophon"
    database.table("people", ["q", "s"], [(secret, f"{secret} ill"), *[("common", "flu")] * 6])
    spec = spec_of(["q"], [k(2), l(3)], sensitive=["s"], suppression={"limit": 1})
    said = [kanon_sql.check(database.engine, spec, "people")]
    said.append(kanon_sql.plan(database.engine, spec))
    said.append(kanon_sql.anonymize(database.engine, spec))
    loose = spec_of(["q"], [k(2)], sensitive=["s"], suppression={"limit": 1})
    said.append(kanon_sql.anonymize(database.engine, loose))
    assert [result.verdict for result in said] == ["fail", "fail", "fail", "pass"]
    text = "\n".join(json.dumps(result.to_dict(all_minimal=True)) + "\n".join(result.sql) for result in said)
    text += json.dumps(said[-1].manifest)
    for hierarchy in ({"tree": {"1": ["common", "other"]}}, {"sql": ["CASE WHEN x = 'common' THEN 'c' END"]}):
        with pytest.raises(HierarchyError, match="1 distinct values") as raised:
            kanon_sql.plan(database.engine, spec_of({"q": hierarchy}, [k(2)]))
        text += str(raised.value)
    left = [name for name in database.tables() if name != "people"]
    text += str([database.rows(name) for name in left])
    assert left == ["kanon_sql_manifest", "kanon_sql_scratch", "people_release"]
    assert secret not in text
    assert secret[:4] not in text


@pytest.mark.parametrize("style", STYLES)
def test_pitfall_25_the_written_table_is_what_is_verified(
    database: Database, monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    """A search that is right and a release that is written wrong: nothing is published."""
    database.table("people", ["q"], [("a",), *[("b",)] * 4])
    before = database.tables()
    spec = spec_of(["q"], [k(2)], suppression={"limit": 1, "style": style})

    def forgets(self: Evaluator, node: Any) -> Relation:
        target = self.workspace.table("suppressed")
        database.connection.execute(
            f"CREATE TEMPORARY TABLE {quoted(target.parts[-1])} AS SELECT 0 AS k0, 1 AS class_rows WHERE 1 = 0"
        )
        return target

    with monkeypatch.context() as patched:
        patched.setattr(Evaluator, "suppressed_classes", forgets)
        with pytest.raises(VerificationError):
            kanon_sql.anonymize(database.engine, spec)
    assert set(database.tables()) - set(before) <= {"kanon_sql_scratch"}
    assert kanon_sql.anonymize(database.engine, spec).passed


def test_pitfall_25_masked_rows_are_held_to_the_requirement_too(database: Database) -> None:
    """One suppressed row, masked, would be a class of one: it is dropped instead, and that is said."""
    database.table("people", ["q"], [("a",), *[("b",)] * 4])
    spec = spec_of(["q"], [k(2)], suppression={"limit": 1, "style": "mask"})
    result = kanon_sql.anonymize(database.engine, spec)
    assert Counter(database.rows("people_release")) == {("b",): 4}
    assert "masked" not in result.rows
    assert any("dropped, not masked" in note for note in result.notes)


def test_pitfall_25_masked_rows_join_the_rows_that_are_released_at_the_top(database: Database) -> None:
    """Masked for a NULL, they are one class with rows at the top: judged together, as they are written."""
    rows = [(None, "x", "p1"), (None, "y", "p2"), ("a", "y", "p1"), ("a", "x", "p2")]
    database.table("people", ["q", "s", "person"], rows)
    spec = spec_of(
        {"q": {"minimum_level": 1}},
        [k(2), l(2)],
        sensitive=["s"],
        unit="person",
        nulls="suppress",
        suppression={"limit": 2, "style": "mask"},
    )
    result = kanon_sql.anonymize(database.engine, spec)  # together everybody has x, and everybody has y
    assert Counter(database.rows("people_release")) == {("*", "y"): 1, ("*", "x"): 1}
    assert any("dropped, not masked" in note for note in result.notes)
    database.table("people", ["q", "s", "person"], [(None, "x", "p1"), ("a", "y", "p2"), ("a", "x", "p3")])
    result = kanon_sql.anonymize(database.engine, spec)
    assert (result.rows["masked"], result.achieved["k_anonymity"]["k"]) == (1, 3)


def test_pitfall_18_a_hierarchy_file_is_read_to_the_letter(database: Database, tmp_path: Path) -> None:
    """Characters that Python takes for ends of lines are part of a value."""
    values = ["a\u0085b", "c\u2028d", "e\x0bf", "g\x1ch", "i\nj", "k\r\nl", "m\rn", "o;p", 'q"r', " s ", ""]
    with (tmp_path / "q.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([value, f"group {n % 2}", "*"] for n, value in enumerate(values))
    for value, label in labelled(database, "VARCHAR", values, {"file": str(tmp_path / "q.csv")}, 1):
        assert label == f"group {values.index(value) % 2}"
