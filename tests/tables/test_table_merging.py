"""Neighbouring categories that are merged until no cell is sensitive, against all ways to merge them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise, product
from typing import Any

import jsonschema
import pytest

import kanon_sql
from kanon_sql.errors import SpecError
from tests.conftest import Database
from tests.oracles.tables import cells_of

COLUMNS = {"grade": "VARCHAR", "age": "INTEGER", "firm": "INTEGER", "turnover": "BIGINT"}
GRADES = ("low", "medium", "high", "top")
BASE: dict[str, Any] = {"version": 1, "kind": "table", "source": "firms", "protection": "collapsing"}

Row = tuple[str | None, int | None, int, int]
Cut = Sequence[Sequence[Any]]


def cuts_of(order: Sequence[Any]) -> Iterator[Cut]:
    """Every way to cut an order into runs."""
    for between in product((True, False), repeat=len(order) - 1):
        ends = [0, *(place + 1 for place, cut in enumerate(between) if cut), len(order)]
        yield [order[low:high] for low, high in pairwise(ends)]


def name_of(group: Sequence[Any]) -> str | None:
    names = ["NULL" if item is None else str(item) for item in group]
    return f"{names[0]} to {names[-1]}" if len(group) > 1 else None if group[0] is None else names[0]


def label(cut: Cut, value: Any) -> str | None:
    return next(name_of(group) for group in cut if value in group)


def table(rows: Sequence[Row], cuts: Sequence[Cut], rules: dict[str, Any], **how: Any) -> Any:
    """The table of merged categories; a dimension of one group has its total alone."""
    paths = [
        [() if len(cut) == 1 else (label(cut, value),) for cut, value in zip(cuts, row[:2], strict=True)]
        for row in rows
    ]
    listed = [(path, row[2] if how["unit"] else None, row[3]) for path, row in zip(paths, rows, strict=True)]
    estimate = rules.get("estimate", 0)
    given = {name: rule for name, rule in rules.items() if name != "estimate"}
    found = cells_of(listed, given, totals=[True, True], sums=how["sums"], count="rows")
    return found, not any(cell.sensitive or cell.value < estimate for cell in found.cells)


def check(database: Database, seed: int, rules: dict[str, Any], *, sums: bool, unit: bool) -> int:
    draw = random.Random(seed)
    rows: list[Row] = [
        (draw.choice(GRADES), draw.choice([9, 10, 10, 30, None]), draw.randint(1, 30), draw.randint(1, 60))
        for _ in range(draw.randint(12, 40))
    ]
    database.table("firms", COLUMNS, rows)
    orders = [[grade for grade in GRADES if any(row[0] == grade for row in rows)],
              [age for age in (9, 10, 30, None) if any(row[1] == age for row in rows)]]  # fmt: skip
    both = draw.random() < 0.6
    dimensions: dict[str, Any] = {"grade": {"merge": list(GRADES)}, "age": {"merge": "by_value"} if both else None}
    given = {**BASE, "dimensions": dimensions, "rules": rules, "unit": "firm" if unit else None}
    given |= {"measure": "turnover"} if sums else {"count": "rows"}
    result = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(given))
    tried = [
        (-len(one) - len(other), [one, other])
        for one in cuts_of(orders[0])
        for other in (cuts_of(orders[1]) if both else [[[age] for age in orders[1]]])
        if table(rows, [one, other], rules, sums=sums, unit=unit)[1]
    ]
    assert result.passed == bool(tried)
    if not tried:
        assert "however many neighbours are merged" in result.message
        return 0
    found = [[cell.labels[place] for cell in result.table if cell.labels[1 - place] == "*"] for place in (0, 1)]
    groups = [max(1, len(set(own) - {"*"})) for own in found]
    assert -sum(groups) == min(fewest for fewest, _ in tried), "the fewest merges"
    matching = [
        cells
        for fewest, cuts in tried
        if -fewest == sum(groups)
        for cells in [table(rows, cuts, rules, sums=sums, unit=unit)[0].cells]
        if [(cell.labels, cell.value) for cell in result.table]
        == [(tuple(path[-1] if path else "*" for path in cell.key), cell.value) for cell in cells]
    ]
    assert matching, "one of the best tables"
    return sum(map(len, orders)) - sum(groups)


CASES: list[tuple[dict[str, Any], bool, bool]] = [
    ({"threshold": 4}, False, False),
    ({"threshold": 4}, False, True),
    ({"threshold": 3, "dominance": {"n": 1, "k": 45}}, True, True),
    ({"p_percent": 20}, True, False),
]


@pytest.mark.parametrize(("rules", "sums", "unit"), CASES, ids=str)
@pytest.mark.slow
def test_the_fewest_merges_of_neighbours(
    shared_database: Database, rules: dict[str, Any], sums: bool, unit: bool
) -> None:
    assert sum(check(shared_database, seed, rules, sums=sums, unit=unit) for seed in range(3))


def test_small_neighbours_become_one_category(database: Database) -> None:
    """Known answer: 9 comes before 10 by value; two and one become three, which is enough."""
    rows = [(None, age, n, 1) for age, count in ((9, 2), (10, 1), (11, 5), (100, 4)) for n in range(count)]
    database.table("firms", COLUMNS, rows)
    spec = {**BASE, "dimensions": {"age": {"merge": "by_value"}}, "rules": {"threshold": 3}, "release": "t"}
    result = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(spec))
    assert {cell.labels[0]: cell.value for cell in result.table} == {"*": 12, "9 to 10": 3, "11": 5, "100": 4}
    assert sorted(database.rows("t")) == [("*", 12, 0), ("100", 4, 0), ("11", 5, 0), ("9 to 10", 3, 0)]
    assert result.level_names == [("neighbours merged",)]
    assert "dimensions.age: 4 categories were merged with their neighbours into 3" in result.notes


def test_decimals_are_ordered_by_size_and_null_is_last(database: Database) -> None:
    rows = [(Decimal(text),) for text in ("-1.5", "2.25", "2.25", "10.00", "10.00", "10.00")] + [(None,)] * 2
    database.table("firms", {"size": "DECIMAL(6,2)"}, rows)
    spec = {**BASE, "dimensions": {"size": {"merge": "by_value"}}, "rules": {"threshold": 3}}
    result = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(spec))
    assert {cell.labels[0]: cell.value for cell in result.table} == {"*": 8, "-1.50 to 2.25": 3, "10.00 to NULL": 5}


def test_one_group_is_the_total_alone(database: Database) -> None:
    database.table("firms", COLUMNS, [("low", 1, 1, 1), ("high", 1, 2, 1), ("top", 1, 3, 1)])
    spec = {**BASE, "dimensions": {"grade": {"merge": list(GRADES)}}, "rules": {"threshold": 3}}
    result = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(spec))
    assert [(cell.labels, cell.value) for cell in result.table] == [(("*",), 3)]
    assert result.levels == [()]


@pytest.mark.parametrize(
    ("rows", "merge", "message"),
    [
        ([("low", 1), ("odd", 1)], ["low", "high"], "the list leaves out 1 of the source's categories"),
        ([(f"g{n:02}", 1) for n in range(41)], "by_value", "at most 40 categories are merged"),
        ([("a", 1), ("b", 1), ("a to b", 1)] + [("c", 1)] * 3, ["a", "b", "c", "a to b"], "called as another"),
    ],
)
def test_what_cannot_be_merged_is_refused(database: Database, rows: Any, merge: Any, message: str) -> None:
    database.table("firms", COLUMNS, [(*row, 1, 1) for row in rows])
    spec = {**BASE, "dimensions": {"grade": {"merge": merge}}, "rules": {"threshold": 2}}
    with pytest.raises(SpecError, match=message):
        kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(spec))


@pytest.mark.parametrize(
    ("dimension", "changes", "message"),
    [
        ({"merge": "by_name"}, {}, "expected by_value, or a list of all categories"),
        ({"merge": ["a"]}, {}, "two categories at least"),
        ({"merge": ["a", "a"]}, {}, "each category once"),
        ({"merge": "by_value", "hierarchy": {"prefix": [1]}}, {}, "where there is no hierarchy"),
        ({"merge": "by_value"}, {"protection": "suppression"}, "use protection: collapsing"),
        ({"merge": "by_value"}, {"rules": {"margin_difference": 1}}, "judged along hierarchies only"),
        ({"merge": "by_value"}, {"ledger": "x"}, "no ledger can compare them"),
    ],
)
def test_what_merging_does_not_go_with(dimension: Any, changes: Any, message: str) -> None:
    given = {**BASE, "dimensions": {"grade": dimension}, "rules": {"threshold": 3}, **changes}
    with pytest.raises(SpecError, match=message):
        kanon_sql.TableSpec.from_dict(given)


def test_a_spec_with_merged_categories_reads_back() -> None:
    dimensions = {"grade": {"merge": list(GRADES)}, "age": {"merge": "by_value"}}
    spec = kanon_sql.TableSpec.from_dict({**BASE, "dimensions": dimensions, "rules": {"threshold": 3}})
    assert kanon_sql.TableSpec.from_dict(spec.to_dict()) == spec
    jsonschema.Draft202012Validator(kanon_sql.TableSpec.json_schema()).validate(spec.to_dict())
    assert "medium" not in str(spec.redacted())
