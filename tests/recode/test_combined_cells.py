"""Cell suppression for combinations of a few columns: ten rows, and random tables against plain Python."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError
from tests.conftest import Database
from tests.models.privacy.test_combined_k import PEOPLE, TYPES, figures, spec_of
from tests.oracles.combinations import SUPPRESSED, cells_left, left, rarest, satisfies
from tests.servers import subject_of
from tests.support.specs import QUIET

NAMES = list(TYPES)
AS_THEY_ARE = {name: {"maximum_level": 0} for name in TYPES}


def cells_spec(k: int, m: int, columns: Any = None, **more: Any) -> kanon_sql.Spec:
    given = {"recoding": "cells", "suppression": {"max_share": 1}, "warnings": QUIET, **more}
    return spec_of(k, m, AS_THEY_ARE if columns is None else columns, **given)


def loss_of(released: list[tuple[Any, ...]], rows: list[tuple[Any, ...]]) -> float:
    """The mean loss of a cell at the lowest levels: suppressed cells, and all of a dropped row."""
    lost = sum(cell == SUPPRESSED for row in released for cell in row)
    return (lost + len(rows[0]) * (len(rows) - len(released))) / (len(rows) * len(rows[0]))


def expected_of(rows: list[tuple[Any, ...]], k: int, m: int) -> list[tuple[Any, ...]]:
    """What loses less: rows suppressed, or cells."""
    by_rows = [rows[number] for number in left(rows, k, m)]
    return min(by_rows, cells_left(rows, k, m), key=lambda released: (not released, loss_of(released, rows)))


def assert_released(engine: Any, fetch: Any, rows: list[tuple[Any, ...]], k: int, m: int) -> None:
    """The release is the oracle's, and every combination in it is frequent."""
    result = kanon_sql.anonymize(engine, cells_spec(k, m))
    expected = expected_of(rows, k, m)
    assert result.passed is bool(expected), (rows, k, m)
    if not expected:
        return
    released = [tuple(row) for row in fetch(f"SELECT {', '.join(NAMES)} FROM people_release")]
    assert satisfies(released, k, m)
    assert Counter(released) == Counter(expected), (rows, k, m)
    assert figures(result, m) == (min(rarest(released, m)), 0, 0)
    checked = kanon_sql.check(engine, cells_spec(k, m))
    assert checked.passed
    assert checked.achieved == result.achieved
    if result.recoding is not None:
        assert result.recoding["mean_loss"] == pytest.approx(loss_of(released, rows))


@pytest.mark.parametrize("k", [2, 3])
def test_ten_rows(database: Database, k: int) -> None:
    """With k = 3 no row could stay as it is; with cells suppressed every row is in the release."""
    database.table("people", TYPES, PEOPLE)
    assert_released(database.engine, lambda sql: database.connection.execute(sql).fetchall(), PEOPLE, k, 2)


def random_rows(rng: random.Random) -> list[tuple[Any, ...]]:
    """Rows of few values, NULL among them."""
    values = [rng.sample(["a", "b", "c", None], rng.randint(1, 4)) for _ in NAMES]
    return [tuple(rng.choice(column) for column in values) for _ in range(rng.choice([1, 5, 12, 30]))]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_random_tables(database: Database, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(1 if seed == 1 else 8):
        rows = random_rows(rng)
        database.table("people", TYPES, rows)
        k, m = rng.randint(2, 4), rng.randint(1, 4)
        assert_released(database.engine, lambda sql: database.connection.execute(sql).fetchall(), rows, k, m)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["postgres", "sqlite", "mariadb", "clickhouse"])
def test_other_engines(name: str) -> None:
    rng = random.Random(4)
    with subject_of(name) as subject:
        subject.table("people", TYPES, PEOPLE)
        engine = subject.connect()
        for rows, k, m in [(PEOPLE, 3, 2), (random_rows(rng), 2, 3)]:
            subject.drop("people")
            subject.table("people", TYPES, rows)
            assert_released(engine, subject.fetch, rows, k, m)
        engine.close()


STYLES: dict[str, dict[str, Any]] = {
    "masked": {"suppression": {"max_share": 1, "style": "mask"}},
    "NULLs out": {"nulls": "suppress"},
    "both": {"nulls": "suppress", "suppression": {"max_share": 0.9, "style": "mask"}},
}


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_suppressed_rows_are_left_out_or_masked(database: Database, style: str) -> None:
    """Rows go as in any release, whose other rows have frequent combinations alone."""
    rows = [*PEOPLE, (None, "A", "F", "l"), *[("5", "C", "M", "x")] * 2]
    database.table("people", TYPES, rows)
    result = kanon_sql.anonymize(database.engine, cells_spec(3, 2, **STYLES[style]))
    assert result.passed
    assert result.recoding is not None
    written = database.rows("people_release")
    dropped = result.rows["suppressed"]
    assert len(written) == result.rows["released"] + (dropped if "style" in str(STYLES[style]) else 0)
    assert sum(row[:4].count(SUPPRESSED) for row in written) == sum(
        item["cells"] for item in result.recoding["suppressed_cells"].values()
    ) + 4 * (len(written) - result.rows["released"])
    assert kanon_sql.check(database.engine, cells_spec(3, 2, **STYLES[style])).passed


def test_a_value_called_like_the_top_is_suppressed(database: Database) -> None:
    """It would stand beside suppressed cells as if it were one: nobody could tell, and so it counts as one."""
    types = {"x": "text", "y": "text"}
    rows = [(x, "a") for x in "**12433"] + [("3", "b"), ("3", "b")]
    database.table("people", types, rows)
    spec = cells_spec(2, 2, {name: {"maximum_level": 0} for name in types})
    result = kanon_sql.anonymize(database.engine, spec)
    expected = [("*", "a")] * 5 + [("3", "a")] * 2 + [("3", "b")] * 2
    assert Counter(database.rows("people_release")) == Counter(expected)
    assert result.recoding is not None
    assert result.recoding["suppressed_cells"]["x"]["cells"] == 5
    assert kanon_sql.check(database.engine, spec).passed


@pytest.mark.slow
def test_nodes_above_are_tried(database: Database) -> None:
    """Prefixes lose less than the cells that would have to go at the lowest levels, or than all rows at one level."""
    rows = [(f"{tens}{ones}", word) for tens in range(3) for ones in range(6) for word in "ab"]
    rows += [(zip_code, "a") for zip_code in ("79", "89", "99")]
    database.table("people", {"zip": "text", "word": "text"}, rows)
    columns = {"zip": {"prefix": [1]}, "word": {}}
    spec = cells_spec(3, 2, columns, suppression={"max_share": 0.1})
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.passed
    assert result.recoding is not None
    assert result.recoding["node"] == {"zip": 1, "word": 0}
    released = database.rows("people_release")
    assert Counter(released) == {**{(f"{tens}*", word): 6 for tens in range(3) for word in "ab"}, ("*", "a"): 3}
    assert result.recoding["mean_loss"] < result.recoding["tried"]["full_domain"]["mean_loss"]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"privacy": [{"k_anonymity": {"k": 3, "combinations": 2}}, {"k_anonymity": 2}]}, "ask for combinations alone"),
        ({"recoding": {"method": "cells", "caps": {"sex": 0.1}}}, "leave caps out"),
        ({"recoding": {"method": "cells", "save_as": "kept"}}, "leave save_as out"),
        ({"unit": "person"}, "combinations are counted in rows"),
        ({"count": "n", "keep": ["n"]}, "with 'count', combinations are counted in rows"),
        ({"ledger": "releases"}, "a ledger"),
    ],
)
def test_what_no_spec_may_ask(more: dict[str, Any], reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        cells_spec(3, 2, **more)


def test_without_scratch_tables_it_is_refused(database: Database) -> None:
    database.table("people", TYPES, PEOPLE)
    engine = kanon_sql.connect(database.connection, scratch="inline")
    with pytest.raises(UnsupportedError, match="scratch"):
        kanon_sql.plan(engine, cells_spec(3, 2))
