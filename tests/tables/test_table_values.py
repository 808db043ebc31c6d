"""Means, percentages and decimals as values of cells: exact, and no more than the numbers that they are made of."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import jsonschema
import pytest

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.report.json import tabulation_schema
from kanon_sql.report.tables import tabulation_csv
from tests.conftest import Database
from tests.oracles.tables import cells_of

COLUMNS = {"region": "VARCHAR", "size": "INTEGER", "firm": "INTEGER", "turnover": "DECIMAL(12,2)"}
BASE: dict[str, Any] = {
    "version": 1,
    "kind": "table",
    "source": "firms",
    "dimensions": {"region": None, "size": None},
    "rules": {"threshold": 3},
}


def tabulate(database: Database, **changes: Any) -> kanon_sql.results.Tabulation:
    return kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict({**BASE, **changes}))


def rows_of(draw: random.Random, firms: int = 24) -> list[tuple[Any, ...]]:
    return [
        (draw.choice("abc"), draw.choice([1, 1, 2]), draw.randint(1, firms), Decimal(draw.randint(0, 9_999)) / 100)
        for _ in range(40)
    ]


def rounded(value: Fraction, digits: int) -> float:
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return float(exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


@pytest.mark.parametrize("kind", ["DECIMAL(12,2)", "DOUBLE"])
@pytest.mark.parametrize("count", ["rows", None])
@pytest.mark.sampled(2)
def test_sums_counts_and_means_of_decimals(shared_database: Database, kind: str, count: str | None) -> None:
    """Against fractions in plain Python; a mean is there exactly where its sum and its count are."""
    draw = random.Random(kind)
    seen = Counter[bool]()
    for _ in range(2):
        rows = rows_of(draw)
        if count is None:  # persons: each in one finest cell
            rows = [(*row[:2], number, row[3]) for number, row in enumerate(rows)]
        stored = [(*row[:3], float(row[3])) for row in rows] if kind == "DOUBLE" else rows
        shared_database.table("firms", {**COLUMNS, "turnover": kind}, stored)
        rules = {"threshold": 4, "p_percent": 10}
        result = tabulate(
            shared_database, unit="firm", measure="turnover", decimals=2, mean=True, count=count, rules=rules
        )
        jsonschema.validate(result.to_dict(), tabulation_schema())
        assert result.further == ["count", "mean"]
        assert result.passed
        scaled = [([(row[0],), (str(row[1]),)], row[2], int(row[3] * 100)) for row in rows]
        sums = cells_of(scaled, rules, totals=[True, True], sums=True)
        counts = cells_of(scaled, {"threshold": 4}, totals=[True, True], sums=False, count=count or "persons")
        assert result.cells["sensitive"] == sum(cell.sensitive for cell in sums.cells)
        for cell, of_sum, of_count in zip(result.table, sums.cells, counts.cells, strict=True):
            assert cell.labels == tuple(path[0] if path else "*" for path in of_sum.key)
            assert cell.value in (None, of_sum.value / 100)
            assert cell.count in (None, of_count.value)
            assert not (of_sum.sensitive and cell.value is not None)
            assert not (of_count.sensitive and cell.count is not None)
            mean = Fraction(of_sum.value, 100 * of_count.value)
            both = cell.value is not None and cell.count is not None
            assert cell.mean == (rounded(mean, 4) if both else None)
            seen[both] += 1
            if cell.interval is not None:
                low, high = cell.interval
                assert low <= of_sum.value / 100 <= (10**9 if high is None else high)
    assert seen[True]
    assert seen[False]


def test_what_is_written_has_the_digits_that_were_stated(database: Database) -> None:
    rows = [("a", 1, n, Decimal("0.10")) for n in range(3)] + [("b", 1, 9 + n, Decimal("1000000.01")) for n in range(4)]
    database.table("firms", COLUMNS, rows)
    result = tabulate(
        database, measure="turnover", decimals=2, mean=True, percent_of=[], dimensions={"region": None}, release="t"
    )
    assert database.columns("t") == ["region", "value", "suppressed", "count", "mean", "percent"]
    assert sorted(map(str, database.rows("t"))) == sorted(
        [
            "('*', Decimal('4000000.34'), 0, 7, Decimal('571428.6200'), Decimal('100.00'))",
            "('a', Decimal('0.30'), 0, 3, Decimal('0.1000'), Decimal('0.00'))",
            "('b', Decimal('4000000.04'), 0, 4, Decimal('1000000.0100'), Decimal('100.00'))",
        ]
    )
    assert "a,0.3,0,3,0.1,0.0,0.3,0.3" in tabulation_csv(result)


def fits(shown: dict[tuple[str, str], Any], cube: dict[tuple[str, str], int], kept: tuple[bool, bool]) -> bool:
    """Whether a table agrees with all that was published: cells, empty cells, and rounded percentages."""
    cells: Counter[tuple[str, str]] = Counter()
    for (a, b), value in cube.items():
        for key in product((a, "*"), (b, "*")):
            cells[key] += value
    for key, cell in shown.items():
        if (cell.value is not None and cells[key] != cell.value) or (cell.value is None and cells[key] < 1):
            return False
        if cell.percent is not None:
            whole = tuple(label if keeps else "*" for label, keeps in zip(key, kept, strict=True))
            share = Fraction(100 * cells[key], cells[whole])  # type: ignore[index]
            if rounded(share, 2) != cell.percent:
                return False
    return all(key in shown for key, value in cells.items() if value)


@pytest.mark.parametrize("percent_of", [[], ["region"], ["size"]], ids=str)
@pytest.mark.slow
def test_percentages_give_no_cell_away(shared_database: Database, percent_of: list[str]) -> None:
    """Every table that agrees with counts and percentages leaves each small cell as open as counts alone."""
    draw = random.Random(str(percent_of))
    kept = ("region" in percent_of, "size" in percent_of)
    opened = small = 0
    for _ in range(3):
        cube = {(a, b): draw.choice([1, 2, 4, 5]) for a, b in product("ab", "12")}
        cells = [(a, int(b)) for (a, b), value in cube.items() for _ in range(value)]
        shared_database.table("firms", COLUMNS, [(*cell, 0, 0) for cell in cells])
        result = tabulate(shared_database, percent_of=percent_of)
        assert result.passed
        shown: dict[tuple[str, str], Any] = {(str(cell.labels[0]), str(cell.labels[1])): cell for cell in result.table}
        opened += any(cell.percent is not None for cell in result.table)
        most = len(cells) + 2
        found: dict[tuple[str, str], set[int]] = defaultdict(set)
        for values in product(range(most), repeat=4):
            if sum(values) > most:
                continue
            other = dict(zip(cube, values, strict=True))
            if fits(shown, other, kept):
                for key, value in other.items():
                    found[key].add(value)
        for key, value in cube.items():
            assert value in found[key]
            if value < 3:
                small += 1
                assert max(found[key]) - min(found[key]) >= 2
    assert opened
    assert small


def test_percentages_of_rounded_values_are_of_what_is_published(database: Database) -> None:
    database.table("firms", COLUMNS, [("ab"[n % 2], 1 + n % 3, n, n) for n in range(40)])
    result = tabulate(
        database, percent_of=["region"], protection={"method": "controlled_rounding", "base": 5}, release="t"
    )
    at = {cell.labels: cell for cell in result.table}
    for (region, _), cell in at.items():
        whole = at[region, "*"].value
        assert cell.value is not None
        assert whole
        assert cell.percent == rounded(Fraction(100 * int(cell.value), int(whole)), 2)


def test_rules_of_decimals_are_those_of_whole_numbers(database: Database) -> None:
    """Known answer: 0.1 + 0.2 + 0.3 is 0.6 exactly, of which 0.3 is no more than 50 percent."""
    rows = [("a", 1, n, amount) for n, amount in enumerate([0.1, 0.2, 0.3])]
    database.table("firms", {**COLUMNS, "turnover": "DOUBLE"}, rows)
    given = {"measure": "turnover", "decimals": 1, "dimensions": {"region": None}}
    assert tabulate(database, **given, rules={"dominance": {"n": 1, "k": 50}}).cells["sensitive"] == 0
    assert tabulate(database, **given, rules={"dominance": {"n": 1, "k": 49.99}}).cells["sensitive"] == 2


def test_decimal_weights_are_estimates(database: Database) -> None:
    rows = [("a", 1, n, Decimal("1.25")) for n in range(8)] + [("b", 1, 8 + n, Decimal("2.50")) for n in range(3)]
    database.table("firms", COLUMNS, rows)
    given = {"weight": "turnover", "decimals": 2, "dimensions": {"region": None}, "protection": "collapsing"}
    result = tabulate(database, **given, rules={"threshold": 3, "estimate": 7})
    assert {cell.labels: cell.value for cell in result.table} == {("*",): 17.5, ("a",): 10.0, ("b",): 7.5}
    assert tabulate(database, **given, rules={"threshold": 3, "estimate": 8}).levels == [()]
    database.table("firms", COLUMNS, [*rows, ("a", 1, 99, Decimal("0.99"))])
    with pytest.raises(SpecError, match="less than 1 as 'turnover'"):
        tabulate(database, **given)


def test_digits_have_to_be_stated(database: Database) -> None:
    database.table("firms", COLUMNS, [("a", 1, 1, Decimal("1.50"))])
    with pytest.raises(SpecError, match=r"only whole numbers add up alike .* such as decimals: 2"):
        tabulate(database, measure="turnover")


@pytest.mark.parametrize("amount", ["0.125", "1e13", "nan", "inf"])
@pytest.mark.sampled(2)
def test_more_digits_than_stated_are_refused(database: Database, amount: str) -> None:
    database.table("firms", {**COLUMNS, "turnover": "DOUBLE"}, [("a", 1, 1, 1.5), ("a", 1, 2, float(amount))])
    with pytest.raises(
        SpecError, match=r"some values of 'turnover' have more than 2 digits after the point, or are not"
    ):
        tabulate(database, measure="turnover", decimals=2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decimals": 2}, "counts have no digits after the point"),
        ({"measure": "x", "decimals": 7}, "decimals"),
        ({"mean": True}, "name the measure to add up"),
        ({"measure": "x", "mean": True, "rules": {"p_percent": 10}}, "counts, which need a threshold"),
        (
            {"measure": "x", "mean": True, "protection": {"method": "conventional_rounding", "base": 5}},
            "use suppression or collapsing",
        ),
        ({"percent_of": ["regio"]}, "'regio' is not a dimension"),
        ({"percent_of": ["size"], "dimensions": {"region": {"total": False}, "size": None}}, "of a total over this"),
    ],
)
def test_what_has_no_such_values(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        kanon_sql.TableSpec.from_dict({**BASE, **changes})


def test_a_spec_with_values_reads_back() -> None:
    given = {"measure": "x", "unit": "u", "mean": True, "count": "rows", "decimals": 3, "percent_of": ["size"]}
    spec = kanon_sql.TableSpec.from_dict({**BASE, **given, "protection": {"method": "suppression", "width": 4}})
    assert kanon_sql.TableSpec.from_dict(spec.to_dict()) == spec
    assert spec.width == 4
    jsonschema.Draft202012Validator(kanon_sql.TableSpec.json_schema()).validate(spec.to_dict())
