"""Rows by label, in the source and in the release: against plain counting; and that no small count follows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import UnsupportedError
from kanon_sql.verbs import distributions as counting
from kanon_sql.verbs.details import DistributionDetails
from kanon_sql.verbs.distributions import follows_small
from tests.conftest import Database
from tests.servers import subject_of
from tests.support.strategies import examples

TREE = {"tree": {"n": ["a", "b"], "s": ["c", "d"]}}
PARENT = {"a": "n", "b": "n", "c": "s", "d": "s", None: None}
BASE: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "people_release",
    "quasi_identifiers": {"age": {"intervals": [2]}, "town": TREE},
    "sensitive": ["sick"],
    "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "sick", "l": 1}}],
    "suppression": {"max_share": 0.5},
}
COLUMNS = {"age": "INTEGER", "town": "VARCHAR", "sick": "VARCHAR"}

Row = tuple[Any, ...]


def spec_of(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**BASE, **changes})


# --- Plain counting --------------------------------------------------------------------------


def labelled(row: Row, node: Sequence[int]) -> Row:
    age, town, sick = row
    if node[0] == 1 and age is not None:
        age = f"[{age // 2 * 2}, {age // 2 * 2 + 2})"
    ages = [None if age is None else str(age), None if age is None else str(age), "*"][node[0]]
    return ages, [town, PARENT[town], "*"][node[1]], sick


def expected(rows: Sequence[Row], node: Sequence[int], k: int, place: int, most: int) -> tuple[bool, list[Any]] | None:
    """Whether the source is shown, and label, rows of the source, released rows and whether it is merged, as a bag."""
    found = [labelled(row, node) for row in rows]
    classes = Counter((age, town) for age, town, _ in found)
    source = Counter(row[place] for row in found)
    known = {(age, town) for age, town, sick in found if sick is not None}  # 1-diversity: NULL is no value
    released = Counter(row[place] for row in found if classes[row[0], row[1]] >= k and (row[0], row[1]) in known)
    for first in (source, released):
        small = [
            label
            for label in first
            if any(0 < count < k for count in (first[label], released[label], first[label] - released[label]))
        ]
        sums = [sum(counts[label] for label in small) for counts in (first, released)]
        if small and follows_small(len(small), sums[0], sums[1], k):
            continue
        fine = sorted((label for label in first if label not in small), key=lambda label: -first[label])
        # Labels that equally many rows have may come in any order.
        least = first[fine[most - 1]] if len(fine) > most else 0
        sure = [label for label in fine if first[label] > least]
        shown: list[Any] = [(label, first[label] if first is source else None, released[label]) for label in sure]
        rest = [sum(counts[label] for label in first if label not in sure) for counts in (first, released)]
        return first is source, [*shown, rest]
    return None


def as_expected(found: DistributionDetails, awaited: tuple[bool, list[Any]] | None) -> None:
    if awaited is None:
        assert found.cells == ()
        assert not found.source
        return
    with_source, (*cells, rest) = awaited
    assert found.source == with_source
    own = {(cell.label, cell.source, cell.released) for cell in found.cells if not cell.merged}
    assert set(cells) <= own
    others = [cell for cell in found.cells if cell.merged or (cell.label, cell.source, cell.released) not in cells]
    assert sum(cell.released for cell in others) == rest[1]
    assert sum(cell.released if cell.source is None else cell.source for cell in others) == rest[0]


towns = st.sampled_from(["a", "b", "c", "d", None])
people = st.lists(
    st.tuples(st.none() | st.integers(0, 5), towns, st.sampled_from(["x", "y", "z", None])), min_size=6, max_size=60
)


@pytest.mark.slow
@given(people, st.integers(2, 5), st.integers(0, 1), st.sampled_from([2, 30]))
@examples(12)
def test_against_plain_counting(rows: list[Row], k: int, level: int, most: int) -> None:
    quasi = {
        "age": {"intervals": [2], "minimum_level": level, "maximum_level": level},
        "town": {**TREE, "minimum_level": 0, "maximum_level": 1},
    }
    spec = spec_of(
        quasi_identifiers=quasi,
        privacy=[{"k_anonymity": k}, {"l_diversity": {"attribute": "sick", "l": 1}}],
        suppression={"max_share": 0.9},
    )
    with kanon_sql.connect() as engine:
        database = Database(engine._connection)  # type: ignore[attr-defined]
        database.table("people", COLUMNS, rows)
        kept = counting.MOST
        counting.MOST = most
        try:
            result = kanon_sql.plan(engine, spec, distributions=True)
        finally:
            counting.MOST = kept
        if not result.passed or result.node is None:
            return
        assert result.details is not None
        found = {item.name: item for item in result.details.distributions}
        assert list(found) == ["age", "town", "sick"]
        for place, name in enumerate(found):
            as_expected(found[name], expected(rows, list(result.node.values()), k, place, most))


# --- That nothing small follows --------------------------------------------------------------

Cell = tuple[int, int]
"""Released and suppressed rows of a label."""


@cache
def small_cells(k: int) -> tuple[Cell, ...]:
    """The labels that may not be shown, with at most 2k rows of a kind."""
    return tuple(
        (released, suppressed)
        for released, suppressed in product(range(2 * k + 1), repeat=2)
        if any(0 < count < k for count in (released, suppressed, released + suppressed))
    )


def worlds(k: int, labels: int) -> Iterator[tuple[tuple[int, int], list[tuple[Cell, ...]]]]:
    """Every pair of merged counts, with all the tables that have it."""
    found: dict[tuple[int, int], list[tuple[Cell, ...]]] = {}
    for cells in product(small_cells(k), repeat=labels):
        sums = sum(cell[0] for cell in cells), sum(cell[1] for cell in cells)
        found.setdefault(sums, []).append(cells)
    # Beyond 2k the tables that would have to be tried are not among these.
    yield from ((sums, tables) for sums, tables in found.items() if max(sums) <= 2 * k)


@pytest.mark.parametrize(("k", "labels"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3), (4, 2), (5, 2), (6, 2)])
def test_no_small_count_follows_from_merged_ones(k: int, labels: int) -> None:
    shown = 0
    for (released, suppressed), tables in worlds(k, labels):
        if follows_small(labels, released + suppressed, released, k):
            continue
        shown += 1
        for count in (released, suppressed, released + suppressed):
            assert not 0 < count < k
        for place in range(labels):
            for kind in (lambda cell: cell[0], lambda cell: cell[1], sum):
                assert_open({kind(cells[place]) for cells in tables}, k)
        # Whoever has the release knows its counts, too.
        by_released: dict[tuple[int, ...], list[tuple[Cell, ...]]] = {}
        for cells in tables:
            by_released.setdefault(tuple(cell[0] for cell in cells), []).append(cells)
        for alike in by_released.values():
            for place in range(labels):
                assert_open({cells[place][1] for cells in alike}, k)
    assert shown or k == 2 or labels == 1


def assert_open(possible: set[int], k: int) -> None:
    assert len(possible) > 1 or not 0 < next(iter(possible)) < k


@pytest.mark.slow
def test_a_table_with_one_suppressed_row_shows_the_release_alone(database: Database) -> None:
    rows = [(age, "a", "x") for age in (1, 2, 3) for _ in range(4)] + [(9, "d", "Qwyjibo")]
    database.table("people", COLUMNS, rows)
    quasi = {"age": {"intervals": [50], "maximum_level": 0}, "town": {**TREE, "maximum_level": 0}}
    result = kanon_sql.anonymize(database.engine, spec_of(quasi_identifiers=quasi), distributions=True)
    assert result.rows["suppressed"] == 1
    assert result.details is not None
    for item in result.details.distributions:
        assert not item.source, "12 of 13 rows in it would tell which label the other one has"
        assert {(cell.label, cell.source) for cell in item.cells} <= {(str(n), None) for n in (1, 2, 3)} | {
            ("a", None), ("x", None)
        }  # fmt: skip
    assert "Qwyjibo" not in str(result.to_dict())
    assert "Qwyjibo" not in str(result.manifest)
    assert result.manifest is not None
    assert result.manifest["details"]["distributions"] == result.to_dict()["details"]["distributions"]


def test_they_are_counted_only_when_asked_for(database: Database) -> None:
    database.table("people", COLUMNS, [(1, "a", "x")] * 6)
    result = kanon_sql.plan(database.engine, spec_of(), details=True)
    assert result.details is not None
    assert result.details.distributions == ()
    assert not any(name.startswith("verbs/distributions") for name in result.details.statements)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recoding": "local"}, "recoding: local releases labels of several levels"),
        ({"search": {"algorithm": "k_optimize"}}, "k_optimize chooses its own intervals"),
        ({"ledger": "releases"}, "a ledger judges releases together"),
    ],
)
@pytest.mark.parametrize("verb", ["plan", "anonymize"])
def test_refusals(database: Database, changes: dict[str, Any], message: str, verb: str) -> None:
    database.table("people", {**COLUMNS, "person": "INTEGER"}, [(1, "a", "x", 1)] * 6)
    spec = spec_of(**changes)
    with pytest.raises(UnsupportedError, match=message):
        getattr(kanon_sql, verb)(database.engine, spec, distributions=True)


@pytest.mark.parametrize(
    "changes",
    [
        {
            "privacy": [{"differential_privacy": {
                "epsilon": 1, "delta": 1e-4, "generalization": {"age": 0, "town": 0},
                "total": {"epsilon": 1, "delta": 1e-4},
            }}],
            "sensitive": [],
            "ledger": "releases",
        },
        {"privacy": [{"m_invariance": {"m": 2, "attribute": "sick", "history": "past"}}], "unit": "person"},
    ],
)  # fmt: skip
def test_what_promises_more_has_none(database: Database, changes: dict[str, Any]) -> None:
    database.table("people", {**COLUMNS, "person": "INTEGER"}, [(1, "a", "x", 1)] * 6)
    base = {key: value for key, value in BASE.items() if key != "suppression"}
    with pytest.raises(UnsupportedError, match="does not allow exact counts"):
        kanon_sql.anonymize(database.engine, kanon_sql.Spec.from_dict({**base, **changes}), distributions=True)


# --- Every engine ----------------------------------------------------------------------------

KINDS = {"age": "integer", "town": "text", "sick": "text"}


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.campaign_on("spark")
@pytest.mark.parametrize(
    "name", ["duckdb", "postgres", "sqlite", "mariadb", "clickhouse", pytest.param("spark", marks=pytest.mark.slow)]
)
def test_every_engine_counts_the_same(name: str) -> None:
    draw = random.Random(1)
    rows = [
        (draw.choice([None, *range(6)]), draw.choice(["a", "b", "c", None]), draw.choice(["x", "y", None]))
        for _ in range(200)
    ]
    rows += [(7, "d", "z"), (8, "d", "z"), (9, "d", "x"), (0, "d", "x"), (1, "d", "y")]
    with subject_of(name) as subject:
        subject.table("people", KINDS, rows)
        engine = subject.connect()
        try:
            for level in (0, 1):
                quasi = {
                    "age": {"intervals": [2], "minimum_level": level, "maximum_level": level},
                    "town": {**TREE, "maximum_level": 0},
                }
                result = kanon_sql.plan(engine, spec_of(quasi_identifiers=quasi), distributions=True)
                assert result.rows["suppressed"] >= 3
                assert result.details is not None
                for place, item in enumerate(result.details.distributions):
                    as_expected(item, expected(rows, [level, 0], 3, place, counting.MOST))
                assert any(item.source for item in result.details.distributions)
        finally:
            engine.close()
            subject.drop("people")
