"""Values that published anonymizers merge, lose or mislabel: NULL, collations, labels, names; each is refuted here."""

from __future__ import annotations

import csv
import datetime
import random
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import HierarchyError, SpecError
from tests.conftest import Database
from tests.support.pitfalls import STYLES, checked, k, l, spec_of, t
from tests.support.suppressions import suppressing

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
    limited = spec_of(["q"], [k(3)], suppression={"max_rows": 1})
    result = kanon_sql.anonymize(database.engine, limited)
    assert (result.node, result.rows) == ({"q": 0}, {"source": 4, "released": 3, "suppressed": 1})


def test_pitfall_04_null_is_suppressed_or_an_error_when_the_spec_says_so(database: Database) -> None:
    database.table("people", ["q"], [("a",), ("a",), ("a",), (None,)])
    suppressing = spec_of(["q"], [k(3)], nulls="suppress", suppression={"max_rows": 1})
    assert kanon_sql.anonymize(database.engine, suppressing).rows == {"source": 4, "released": 3, "suppressed": 1}
    too_many = spec_of(["q"], [k(3)], nulls="suppress", suppression={"max_rows": 0})
    result = kanon_sql.plan(database.engine, too_many)
    assert not result.passed
    assert "NULL quasi-identifier" in result.message
    with pytest.raises(HierarchyError, match="1 row has NULL"):
        kanon_sql.plan(database.engine, spec_of(["q"], [k(3)], nulls="error"))


@pytest.mark.sampled(12)
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
        suppression={"max_rows": 3, "style": style},
    )
    assert kanon_sql.anonymize(database.engine, spec).passed
    cells = {cell for (cell,) in database.rows("people_release")}
    assert cells <= {1: {"[-10, 0)", "[40, 50)", "*"}, 2: {"[-20, 0)", "[40, 60)", "*"}, 3: {"*"}}[level]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("nulls", ["value", "suppress"])
@pytest.mark.parametrize("limit", [1, 3, 0.5, 1.0])
def test_pitfall_06_no_row_vanishes(database: Database, style: str, nulls: str, limit: float) -> None:
    database.table("people", {"age": "INTEGER"}, [*AGES, (None,), (70,)])
    spec = spec_of(AGE, [k(2)], nulls=nulls, suppression=suppressing(limit, style=style))
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


@pytest.mark.sampled(6)
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


@pytest.mark.sampled(4)
@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT", "NFC"])
def test_pitfall_22_a_collation_does_not_merge_values(database: Database, collation: str) -> None:
    """Grouped as the database would, the six values are one class of six, with one person and one illness."""
    values = ["a", "A", "á", "Á", "a\u0301", "à"]
    kind = f"VARCHAR COLLATE {collation}"
    columns = {"q": kind, "s": kind, "person": kind}
    database.table("people", columns, [(value, "flu", f"p{n}") for n, value in enumerate(values)])
    result = kanon_sql.check(database.engine, spec_of(["q"], [k(2)]), "people")
    assert result.achieved["k_anonymity"] == {**result.achieved["k_anonymity"], "k": 1, "violating_classes": 6}
    assert kanon_sql.anonymize(database.engine, spec_of(["q"], [k(2)], suppression={"max_rows": 5})).node == {"q": 1}
    tree = {"lower": ["a", "á", "a\u0301", "à"], "upper": ["A", "Á"]}
    result = kanon_sql.anonymize(database.engine, spec_of({"q": {"tree": tree}}, [k(3)], suppression={"max_rows": 2}))
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
    """Every value with its label at a level of the hierarchy, as it is in a release."""
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
    ("REAL", [0.5, 0.25, -0.75, 49.5, -5.0, 9.75, 1234567.5, 16777215.0], {"intervals": [0.25, 10]}),
]


@pytest.mark.sampled(15)
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


@pytest.mark.parametrize(("kind", "power"), [("DOUBLE", 13), ("DECIMAL(30, 2)", 13), ("BIGINT", 15)])
def test_a_number_of_more_digits_than_are_exact_is_counted(database: Database, kind: str, power: int) -> None:
    """Cents of a binary fraction are exact below 10^13, where it has 15 digits; whole numbers are everywhere."""
    spec = spec_of({"age": {"intervals": [0.01]}}, [k(1)])
    for sign in (-1, 1):
        database.table("people", {"age": kind}, [(sign * (10**power - 1),)])
        assert kanon_sql.plan(database.engine, spec).passed
        database.table("people", {"age": kind}, [(sign * (10**power - 1),), (sign * 10**power,)])
        with pytest.raises(HierarchyError, match=rf"1 distinct values .* not between -10\^{power} and 10\^{power}"):
            kanon_sql.plan(database.engine, spec)


def test_pitfall_23_prefixes_are_prefixes(database: Database) -> None:
    values = ["94139", "94138", "941", "9", "", "é1234", "日本語テキスト", "a*b*c", "*****", " 9413", None]
    for level, keep in enumerate((4, 3, 1), start=1):
        for value, label in labelled(database, "VARCHAR", values, {"prefix": [4, 3, 1]}, level):
            expected = None if value is None else value[:keep] + "*" * max(0, len(value) - keep)
            assert label == expected


@pytest.mark.slow
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


@pytest.mark.slow
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
            "suppression": {"max_rows": 1},
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
    assert not result.passed
    assert {item["violating_classes"] for item in result.achieved.values()} == {0}
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
    spec = spec_of(["q"], [k(5)], suppression=suppressing(limit, style=style))
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


def test_pitfall_18_a_hierarchy_file_is_read_to_the_letter(database: Database, tmp_path: Path) -> None:
    """Characters that Python takes for ends of lines are part of a value."""
    values = ["a\u0085b", "c\u2028d", "e\x0bf", "g\x1ch", "i\nj", "k\r\nl", "m\rn", "o;p", 'q"r', " s ", ""]
    with (tmp_path / "q.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([value, f"group {n % 2}", "*"] for n, value in enumerate(values))
    for value, label in labelled(database, "VARCHAR", values, {"file": str(tmp_path / "q.csv")}, 1):
        assert label == f"group {values.index(value) % 2}"
