"""Linked tables: protected together, against all tables over all dimensions that agree with what is published."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.spec.linked import has_circle
from tests.conftest import Database

NAMES = ("a", "b", "c")
COLUMNS = dict.fromkeys(NAMES, "VARCHAR")
Cube = dict[tuple[str, ...], int]


def places_of(cell: Sequence[str], tables: Sequence[Sequence[str]]) -> set[tuple[str, ...]]:
    """The labels of all cells of the tables that somebody counts in."""
    return {
        tuple(label if name in kept else "*" for name, label in zip(NAMES, cell, strict=True))
        for table in tables
        for keep in product((True, False), repeat=len(table))
        for kept in [{name for name, yes in zip(table, keep, strict=True) if yes}]
    }


def cells_of(cube: Cube, tables: Sequence[Sequence[str]]) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for cell, count in cube.items():
        for place in places_of(cell, tables):
            found[place] += count
    return found


def cubes(
    shown: dict[tuple[str, ...], int | None],
    tables: Sequence[Sequence[str]],
    labels: Sequence[Sequence[str]],
    most: int,
) -> Iterator[Counter[tuple[str, ...]]]:
    """The cells of every table of whole numbers over all dimensions; cells that are not listed are empty."""
    finest = list(product(*labels))
    above = [places_of(cell, tables) for cell in finest]
    limit = {place: most if value is None else value for place, value in shown.items()}
    sums: Counter[tuple[str, ...]] = Counter()

    def set_from(number: int) -> Iterator[Counter[tuple[str, ...]]]:
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


def spec_of(tables: Sequence[Sequence[str]], **changes: Any) -> kanon_sql.TableSpec:
    used = [name for name in NAMES if any(name in table for table in tables)]
    given = {
        "version": 1,
        "kind": "table",
        "source": "people",
        "rules": {"threshold": 3},
        "dimensions": dict.fromkeys(used),
    }
    return kanon_sql.TableSpec.from_dict({**given, "tables": [list(table) for table in tables], **changes})


SHAPES = [(("a", "b"), ("b", "c")), (("a",), ("b", "c")), (("a", "b"), ("a", "c")), (("a",), ("b",), ("c",))]


@pytest.mark.parametrize("tables", SHAPES, ids=str)
@pytest.mark.sampled(4)
@pytest.mark.slow
def test_no_table_over_all_dimensions_gives_a_cell_of_linked_tables_away(
    shared_database: Database, tables: Sequence[Sequence[str]]
) -> None:
    draw = random.Random(str(tables))
    protected = suppressed = 0
    for _ in range(4):
        rows = [tuple(draw.choice(["0", "0", "1"]) for _ in NAMES) for _ in range(draw.randint(6, 11))]
        shared_database.table("people", COLUMNS, rows)
        true = cells_of(Counter(rows), tables)
        result = kanon_sql.tabulate(shared_database.engine, spec_of(tables))
        if not result.passed:
            assert min(true.values()) < 3
            continue
        shown = {tuple(map(str, cell.labels)): cell.value for cell in result.table}
        assert len(shown) == len(result.table)
        assert set(shown) == set(true)
        assert all(value is None or value == true[place] for place, value in shown.items())
        protected += 1
        agreeing = list(cubes(shown, tables, [("0", "1")] * 3, most=len(rows)))
        assert true in agreeing
        for cell in result.table:
            place = tuple(map(str, cell.labels))
            values = {found[place] for found in agreeing}
            if true[place] < 3:
                assert cell.suppressed
                assert max(values) - min(values) >= 2
            if cell.suppressed:
                suppressed += 1
                # Without a circle the intervals are those over all whole tables; the bound is open where the total is.
                assert cell.interval is not None
                assert cell.interval[0] == min(values)
                assert shown["*", "*", "*"] is None or cell.interval[1] == max(values)
    assert protected > 1
    assert suppressed


def test_a_shared_margin_is_suppressed_once_for_all(database: Database) -> None:
    """What the one table would hide and the other show is hidden in both."""
    cube = {("0", "0", "0"): 1, ("1", "0", "0"): 5, ("0", "1", "0"): 5, ("1", "1", "1"): 5, ("2", "0", "1"): 4}
    database.table("people", COLUMNS, [cell for cell, count in cube.items() for _ in range(count)])
    apart = kanon_sql.tabulate(database.engine, spec_of((("a", "b"), ("b", "c"))))
    alone = [
        kanon_sql.tabulate(
            database.engine,
            kanon_sql.TableSpec.from_dict(
                {
                    "version": 1,
                    "kind": "table",
                    "source": "people",
                    "rules": {"threshold": 3},
                    "dimensions": dict.fromkeys(names),
                }
            ),
        )
        for names in (("a", "b"), ("b", "c"))
    ]
    assert apart.passed
    assert len(apart.table) == len({cell.labels for cell in apart.table})
    assert apart.cells["suppressed"] >= max(found.cells["suppressed"] for found in alone)


@pytest.mark.parametrize("method", ["collapsing", "controlled_rounding"])
def test_the_other_methods_take_linked_tables(database: Database, method: str) -> None:
    rows = [("0", "0", "0")] * 7 + [("1", "0", "1")] * 6 + [("1", "1", "1")] * 4 + [("0", "1", "0")] * 2
    database.table("people", COLUMNS, rows)
    protection = {"method": method} | ({"base": 5} if method != "collapsing" else {})
    result = kanon_sql.tabulate(database.engine, spec_of((("a", "b"), ("b", "c")), protection=protection, release="t"))
    assert result.passed
    values = {cell.labels: cell.value or 0 for cell in result.table}
    labels = {label for cell in result.table for label in cell.labels}
    for first, last in product((0, 1), (1, 2)):
        for shown in [cell for cell in values if cell[first] == "*" and cell[last] == "*"]:
            for side in (first, last):
                parts = [values.get((*shown[:side], label, *shown[side + 1 :]), 0) for label in sorted(labels - {"*"})]
                if any((*shown[:side], label, *shown[side + 1 :]) in values for label in labels - {"*"}):
                    assert sum(parts) == values[shown]
    assert not any(a != "*" and c != "*" for a, _, c in values)
    if method == "collapsing":
        assert min(values.values()) >= 3


def test_circles() -> None:
    """Known answers: chains, stars and trees have none; triangles and squares have, but for one inside a table."""
    assert not has_circle(["ab", "bc", "cd"])
    assert not has_circle(["ab", "ac", "ad"])
    assert not has_circle(["a", "b"])
    assert not has_circle(["abc", "bcd", "cde"])
    assert not has_circle(["abc", "ab", "bc", "ac"])
    assert has_circle(["ab", "bc", "ca"])
    assert has_circle(["ab", "bc", "cd", "da"])
    assert has_circle(["abx", "bcy", "caz", "xw"])
    assert has_circle(["abc", "cd", "de", "ec"])


def test_a_circle_would_promise_too_much(database: Database) -> None:
    """Why circles are refused: shared margins agree with values that no whole table has."""
    cube = {("0", "0", "0"): 1, ("1", "1", "0"): 1, ("1", "0", "1"): 1, ("0", "1", "1"): 1}
    circle = (("a", "b"), ("b", "c"), ("a", "c"))
    true = cells_of(cube, circle)
    # Other counts with the same totals of each dimension: so they agree in all that two of the tables share.
    apart: dict[tuple[str, ...], int | None] = {
        **true, ("0", "0", "*"): 2, ("0", "1", "*"): 0, ("1", "0", "*"): 0, ("1", "1", "*"): 2,
        ("*", "0", "0"): 2, ("*", "1", "0"): 0, ("*", "0", "1"): 0, ("*", "1", "1"): 2,
        ("0", "*", "0"): 0, ("0", "*", "1"): 2, ("1", "*", "0"): 2, ("1", "*", "1"): 0,
    }  # fmt: skip
    for place in apart:
        for side in [number for number, label in enumerate(place) if label != "*"]:
            whole = (*place[:side], "*", *place[side + 1 :])
            assert sum(apart[(*place[:side], label, *place[side + 1 :])] or 0 for label in "01") == apart[whole]
    assert not list(cubes(apart, circle, [("0", "1")] * 3, most=4))
    assert list(cubes(dict(true), circle, [("0", "1")] * 3, most=4))
    with pytest.raises(SpecError, match="linked in a circle"):
        spec_of(circle)


@pytest.mark.parametrize(
    ("tables", "changes", "message"),
    [
        ([["a"]], {}, "tables"),
        ([["a", "b"], ["a"]], {}, "table 2 is already shown by the margins of another table"),
        ([["a", "a"], ["b"]], {}, "table 1 lists a dimension twice; list it once"),
        ([["a", "b"], ["b", "z"]], {}, "'z' is not a dimension"),
        ([["a"], ["b"]], {"dimensions": {"a": None, "b": None, "c": None}}, "no table has the dimension 'c'"),
        ([["a"], ["b"]], {"dimensions": {"a": {"total": False}, "b": None}}, "'a' has total: false"),
        ([["a"], ["b"]], {"measure": "x"}, "linked tables of sums are not audited"),
    ],
)
def test_what_cannot_be_linked_is_refused(tables: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        spec_of(tables, **changes)


def test_a_spec_of_linked_tables_reads_back() -> None:
    spec = spec_of((("a", "b"), ("b", "c")))
    assert kanon_sql.TableSpec.from_dict(spec.to_dict()) == spec
    assert spec.redacted()["tables"] == [["a", "b"], ["b", "c"]]
