"""Dimensions with several hierarchies: all of their totals hold at once, against every table that agrees with them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

import kanon_sql
from kanon_sql.errors import KanonError, SpecError
from kanon_sql.report.json import tabulation_schema
from kanon_sql.report.tables import tabulation_csv
from tests.conftest import Database

COLUMNS = {"district": "VARCHAR", "sex": "VARCHAR"}
AREA = {"a": "North", "b": "North", "c": "South", "d": "South"}
TYPE = {"a": "urban", "b": "rural", "c": "urban", "d": "rural"}
HIERARCHIES: dict[str, Any] = {
    "area": {"hierarchy": {"tree": {"North": ["a", "b"], "South": ["c", "d"]}}},
    "type": {"hierarchy": {"tree": {"urban": ["a", "c"], "rural": ["b", "d"]}}, "levels": [1]},
}
BASE: dict[str, Any] = {
    "version": 1, "kind": "table", "source": "people", "release": "people_table", "rules": {"threshold": 3},
    "dimensions": {"district": {"hierarchies": HIERARCHIES}},
}  # fmt: skip

Place = tuple[str, ...]


def places_of(cell: Place) -> set[Place]:
    """The labels of all cells that a person is counted in; each label of a hierarchy is one of that hierarchy alone."""
    district = {cell[0], AREA[cell[0]], TYPE[cell[0]], "*"}
    return {(one, *rest) for one in district for rest in ([()] if len(cell) == 1 else [(cell[1],), ("*",)])}


def tables(shown: dict[Place, int | None], finest: list[Place], most: int) -> Iterator[Counter[Place]]:
    """Every table of whole numbers that agrees with what is shown; cells that are not listed are empty."""
    above = [places_of(cell) for cell in finest]
    limit = {place: most if value is None else value for place, value in shown.items()}
    sums: Counter[Place] = Counter()

    def set_from(number: int) -> Iterator[Counter[Place]]:
        if number == len(finest):
            if all(sums[place] >= 1 if value is None else sums[place] == value for place, value in shown.items()):
                yield Counter(sums)
            return
        room = min(limit.get(place, 0) - sums[place] for place in above[number])
        for value in range(room + 1):
            for place in above[number]:
                sums[place] += value
            yield from set_from(number + 1)
            for place in above[number]:
                sums[place] -= value

    yield from set_from(0)


def check(database: Database, seed: int, *, two: bool) -> int:
    """Whether each small cell is as open as asked; how many cells are suppressed besides."""
    draw = random.Random(seed)
    finest: list[Place] = [(one, *rest) for one in "abcd" for rest in ([("F",), ("M",)] if two else [()])]
    true = {cell: draw.choice([0, 1, 2, 4, 5]) for cell in finest}
    database.table("people", COLUMNS, [(*cell, "F")[:2] for cell, count in true.items() for _ in range(count)])
    dimensions = BASE["dimensions"] | ({"sex": None} if two else {})
    result = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict({**BASE, "dimensions": dimensions}))
    cells: Counter[Place] = Counter()
    for cell, count in true.items():
        for place in places_of(cell) if count else ():
            cells[place] += count
    if not result.passed:
        assert cells[("*", "*") if two else ("*",)] < 9
        return 0
    shown = {tuple(map(str, cell.labels)): cell.value for cell in result.table}
    assert set(shown) == set(cells)
    assert all(value in (None, cells[place]) for place, value in shown.items())
    low, high = {}, Counter[Place]()
    for found in tables(shown, finest, sum(true.values()) + 3):  # type: ignore[arg-type]
        for place in shown:
            low[place] = min(low.get(place, found[place]), found[place])
            high[place] = max(high[place], found[place])
    for cell in result.table:
        place = tuple(map(str, cell.labels))
        if cells[place] < 3:
            assert cell.value is None
            assert high[place] - low[place] >= 2
        if cell.interval is not None:
            assert cell.interval[0] == low[place]
    return result.cells["suppressed"] - result.cells["sensitive"]


def test_the_totals_of_two_hierarchies_do_not_give_a_cell_away(shared_database: Database) -> None:
    assert sum(check(shared_database, seed, two=False) for seed in range(2))


@pytest.mark.slow
def test_nor_do_they_with_another_dimension(shared_database: Database) -> None:
    assert sum(check(shared_database, seed, two=False) for seed in range(2, 6))
    assert sum(check(shared_database, seed, two=True) for seed in range(4))


def test_what_two_tables_would_give_away_is_suppressed(database: Database) -> None:
    """Known answer: with one hierarchy a and b protect each other; the other one's totals would give both."""
    counts = {"a": 1, "b": 9, "c": 8, "d": 7}
    database.table("people", COLUMNS, [(name, "F") for name, count in counts.items() for _ in range(count)])
    one = {"district": {"hierarchy": HIERARCHIES["area"]["hierarchy"], "levels": [0, 1]}}
    alone = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict({**BASE, "dimensions": one}))
    both = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(BASE))
    assert {cell.labels[0] for cell in alone.table if cell.suppressed} == {"a", "b"}
    assert {cell.labels[0] for cell in both.table if cell.suppressed} >= {"a", "b", "c", "d"}
    jsonschema.validate(both.to_dict(), tabulation_schema())
    assert both.hierarchies == [["area", "type"]]
    assert database.columns("people_table") == [
        "district", "district_hierarchy", "district_level", "value", "suppressed",
    ]  # fmt: skip
    rows = set(database.rows("people_table"))
    assert {("North", "area", 1, 10, 0), ("urban", "type", 1, 9, 0), ("*", None, None, 25, 0)} <= rows
    assert ("a", None, 0, None, 1) in rows
    lines = tabulation_csv(both).splitlines()
    assert lines[0] == "district,district_hierarchy,value,suppressed,least,most"
    assert "urban,type,9,0,9,9" in lines


@pytest.mark.parametrize("unit", [None, "person"])
def test_sums_of_two_hierarchies_do_not_give_a_cell_away(database: Database, unit: str | None) -> None:
    """Known answer: urban less c would give a. Every row is a contributor, or names a person who is one."""
    counts = {"a": 2, "b": 6, "c": 6, "d": 6}
    rows = [(name, f"{name}{row}", 50 + row) for name, count in counts.items() for row in range(count)]
    database.table("people", {"district": "VARCHAR", "person": "VARCHAR", "amount": "INTEGER"}, rows)
    spec = {**BASE, "measure": "amount", "unit": unit}
    result = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(spec))
    suppressed = {cell.labels[0]: cell.interval for cell in result.table if cell.suppressed}
    assert set(suppressed) == {"a", "b", "c", "d"}
    assert suppressed["a"] == (0, 416)  # all that North and urban allow: North has 101 + 315, urban 101 + 315


def test_rounding_adds_up_in_both(database: Database) -> None:
    counts = {"a": 1, "b": 9, "c": 8, "d": 7}
    database.table("people", COLUMNS, [(name, "F") for name, count in counts.items() for _ in range(count)])
    spec = kanon_sql.TableSpec.from_dict({**BASE, "protection": {"method": "controlled_rounding", "base": 5}})
    result = kanon_sql.tabulate(database.engine, spec)
    value = {cell.labels[0]: cell.value or 0 for cell in result.table}
    for of in (AREA, TYPE):
        for group in set(of.values()):
            assert value.get(group, 0) == sum(value.get(name, 0) for name in of if of[name] == group)


def test_means_of_groups(database: Database) -> None:
    database.table("people", {**COLUMNS, "age": "INTEGER"}, [(name, "F", n) for name in "abcd" for n in range(10, 15)])
    spec = {**BASE, "measure": "age", "mean": True, "percent_of": []}
    result = kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(spec))
    assert {(cell.mean, cell.percent) for cell in result.table if cell.labels[0] in ("North", "urban")} == {(12, 50)}


@pytest.mark.parametrize(
    ("dimension", "changes", "message"),
    [
        ({"hierarchies": {"area": HIERARCHIES["area"]}}, {}, "expected two at least"),
        ({"hierarchies": HIERARCHIES, "levels": [1]}, {}, "each of the hierarchies has its own"),
        ({"hierarchies": HIERARCHIES}, {"protection": "collapsing"}, "categories collapse by one hierarchy"),
        ({"hierarchies": HIERARCHIES}, {"rules": {"margin_difference": 1}}, "which takes one hierarchy"),
        ({"hierarchies": {**HIERARCHIES, "x": {"hierarchy": {"prefix": [1]}, "levels": [0, 1]}}}, {}, "level 0 is"),
        ({"hierarchies": {**HIERARCHIES, "x": {"hierarchy": {"prefix": [1]}, "levels": [2]}}}, {}, "below the top"),
    ],
)
def test_what_several_hierarchies_do_not_go_with(dimension: Any, changes: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        kanon_sql.TableSpec.from_dict({**BASE, **changes, "dimensions": {"district": dimension, "sex": None}})


def test_a_hierarchy_that_does_not_cover_the_values_is_named(database: Database) -> None:
    database.table("people", COLUMNS, [("a", "F"), ("z", "F")])
    with pytest.raises(KanonError, match=r"dimensions\.district\.hierarchies\.(area|type)"):
        kanon_sql.tabulate(database.engine, kanon_sql.TableSpec.from_dict(BASE))


def test_a_spec_of_several_hierarchies_reads_back() -> None:
    spec = kanon_sql.TableSpec.from_dict(BASE)
    assert kanon_sql.TableSpec.from_dict(spec.to_dict()) == spec
    jsonschema.Draft202012Validator(kanon_sql.TableSpec.json_schema()).validate(spec.to_dict())
    assert "North" not in str(spec.redacted())
