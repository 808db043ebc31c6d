"""Releases of global (1,k)-anonymous rows: every match by an oracle, and that they lose no more than the classes."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import UnsupportedError, VerificationError
from kanon_sql.recode import widening
from kanon_sql.recode.widening import Matches, Widening, exchanges
from tests.conftest import Database
from tests.oracles.consistency import Edges, consistent, edges_of
from tests.recode.test_kk_recoding import TABLES, drawn_visits, rows_of, spec
from tests.support.strategies import examples

COLUMNS = {"age": "INTEGER", "zip": "VARCHAR", "sex": "VARCHAR", "serial": "INTEGER"}


@pytest.fixture
def visits(database: Database) -> Database:
    """Rows that lie close together, so that classes overlap."""
    return drawn_visits(database)


def asked(k: int = 3, **changes: Any) -> kanon_sql.Spec:
    return spec(privacy=[{"kk_anonymity": {"k": k, "variant": "global_1k"}}], **changes)


def matches_by_trial(edges: Edges) -> list[set[int]]:
    """Per row, the records that it may be in some assignment: each edge is tried by augmenting paths, one by one."""

    def assigned(row: int, own: dict[int, int], seen: set[int], kept: int) -> bool:
        for record in edges[row]:
            if record in seen or record == kept:
                continue
            seen.add(record)
            if record not in own or assigned(own[record], own, seen, kept):
                own[record] = row
                return True
        return False

    def possible(row: int, record: int) -> bool:
        own: dict[int, int] = {}
        return all(assigned(other, own, set(), record) for other in range(len(edges)) if other != row)

    return [{record for record in own if possible(row, record)} for row, own in enumerate(edges)]


def assert_matches(source: Sequence[dict[str, Any]], release: Sequence[dict[str, Any]], k: int) -> int:
    """Every record that a row is consistent with has k matches; the fewest."""
    shown = [{column: row[column] for column in TABLES} for row in release]
    edges = edges_of(source, shown, TABLES)
    numbers = {row["serial"]: number for number, row in enumerate(source)}
    matching = matches_by_trial(edges)
    counts = [sum(record in own for own in matching) for record in range(len(source))]
    if len(release) <= 7:
        assert counts == consistent(edges, len(source)).matches
    for row, own in zip(release, matching, strict=True):
        assert numbers[row["serial"]] in own
    known = {record for own in edges for record in own}
    assert all(counts[record] >= k for record in known)
    return min(counts[record] for record in known)


def drawn(seed: int, size: int, width: int) -> list[list[Any]]:
    """Rows that lie close together, with NULLs."""
    draw = random.Random(seed)
    return [
        [
            20 + int(draw.random() ** 2 * width),
            None if draw.random() < 0.1 else str(100 + int(draw.random() ** 2 * width / 3)),
            draw.choice("mf"),
            number,
        ]
        for number in range(size)
    ]


def assert_promised(database: Database, rows: Sequence[Sequence[Any]], k: int, **changes: Any) -> None:
    database.table("visits", COLUMNS, rows)
    database.connection.execute("DROP TABLE IF EXISTS visits_release")
    wanted = asked(k, **changes)
    local = kanon_sql.plan(database.engine, spec(privacy=[{"k_anonymity": k}], recoding="local", **changes))
    planned = kanon_sql.plan(database.engine, wanted)
    result = kanon_sql.anonymize(database.engine, wanted)
    assert result.verdict == planned.verdict == local.verdict
    event(result.verdict)
    if result.verdict == "fail":
        assert "visits_release" not in database.tables()
        return
    source, release = rows_of(database, "visits"), rows_of(database, "visits_release")
    fewest = assert_matches(source, release, k)
    assert result.achieved["kk_anonymity[global_1k]"]["k"] == fewest
    assert k <= planned.achieved["kk_anonymity[global_1k]"]["k"] <= fewest
    assert result.mean_loss == planned.mean_loss
    assert result.mean_loss is not None
    assert local.mean_loss is not None
    assert result.mean_loss <= local.mean_loss + 1e-9
    assert result.rows["suppressed"] == local.rows["suppressed"] == len(source) - len(release)
    event(f"suppressed: {result.rows['suppressed'] > 0}")
    event(f"loses less: {result.mean_loss < local.mean_loss - 1e-9}")
    event(next(note[:30] for note in result.notes if note.startswith(("rounds in which", "the classes of the"))))
    assert kanon_sql.check(database.engine, wanted).passed


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(5, 24), st.integers(4, 30), st.integers(2, 4))
@examples(2)
def test_every_record_has_k_matches(shared_database: Database, seed: int, size: int, width: int, k: int) -> None:
    assert_promised(shared_database, drawn(seed, size, width), k)


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(5, 40), st.integers(4, 30), st.integers(2, 5))
@examples(10)
def test_the_same_where_rows_are_suppressed(
    shared_database: Database, seed: int, size: int, width: int, k: int
) -> None:
    columns = {
        "age": {"intervals": [5, 20], "maximum_level": 2},
        "zip": {"prefix": [2, 1], "maximum_level": 2},
        "sex": {"minimum_level": 0, "maximum_level": 1},
    }
    assert_promised(
        shared_database, drawn(seed, size, width), k, quasi_identifiers=columns, suppression={"max_share": 0.8}
    )


@pytest.mark.slow
def test_it_loses_less_than_classes_and_more_than_rows_alone(visits: Database) -> None:
    alone = kanon_sql.anonymize(visits.engine, spec())
    assert not kanon_sql.check(visits.engine, asked()).passed, "(3,3)-anonymity alone is not enough here"
    result = kanon_sql.anonymize(visits.engine, asked())
    assert_matches(rows_of(visits, "visits"), rows_of(visits, "visits_release"), 3)
    assert result.recoding is not None
    assert alone.mean_loss is not None
    assert result.mean_loss is not None
    assert alone.mean_loss < result.mean_loss < 0.98 * result.recoding["tried"]["local"]["mean_loss"]
    assert result.message.startswith("published 140 of 140 rows, verified for global (1,3)-anonymity")
    assert any("is not 3-anonymity" in note for note in result.notes)
    assert any("rows were widened, so that every record has 3 matches: " in note for note in result.notes)
    assert kanon_sql.check(visits.engine, spec(recoding="local")).passed
    assert not kanon_sql.check(visits.engine, spec(privacy=[{"k_anonymity": 3}], recoding="local")).passed


@pytest.mark.slow
def test_rounds_that_end_early_leave_the_local_recoding(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widening, "MOST_WIDENINGS", 0)
    result = kanon_sql.anonymize(visits.engine, asked())
    assert result.recoding is not None
    assert result.mean_loss == pytest.approx(result.recoding["tried"]["local"]["mean_loss"])
    assert any(note.startswith("the classes of the local recoding are released") for note in result.notes)
    assert kanon_sql.check(visits.engine, spec(privacy=[{"k_anonymity": 3}], recoding="local")).passed


@pytest.mark.slow
def test_a_budget_ends_rounds(visits: Database) -> None:
    result = kanon_sql.anonymize(visits.engine, asked(), budget=kanon_sql.Budget(statements=12))
    assert result.passed
    assert result.recoding is not None
    assert result.recoding["stopped"] is not None
    assert kanon_sql.check(visits.engine, asked()).passed


@pytest.mark.slow
def test_rows_that_cost_more_than_classes_are_not_released(
    visits: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Everybody is exchanged with everybody: that is global (1,k)-anonymous, and no better than anything."""
    monkeypatch.setattr(
        widening, "exchanges", lambda k, graph, _: [(one, other) for one in graph.rows for other in graph.rows]
    )
    result = kanon_sql.anonymize(visits.engine, asked())
    assert result.recoding is not None
    assert result.mean_loss == pytest.approx(result.recoding["tried"]["local"]["mean_loss"])


@pytest.mark.slow
def test_rows_of_a_record_with_too_few_matches_are_not_published(
    visits: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Verification reads the written table and the source anew, and looks for all assignments itself."""
    monkeypatch.setattr(Matches, "lacking", lambda self, k: {})
    with pytest.raises(VerificationError, match=r"does not satisfy global \(1,3\)-anonymity"):
        kanon_sql.anonymize(visits.engine, asked())
    assert "visits_release" not in visits.tables()


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("module", "limit", "message"),
    [
        (widening, "MOST_COMPARED", "different rows make more than 100 pairs, too many"),
        (widening, "MOST_EDGES", "the graph of records and rows has more than 100 edges, too many"),
        pytest.param(
            sys.modules["kanon_sql.evaluate.consistency"], "MOST_EDGES", "more than 100 edges", marks=pytest.mark.slow
        ),
    ],
)
def test_more_than_can_be_compared_is_refused(
    visits: Database,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    limit: str,
    message: str,
) -> None:
    monkeypatch.setattr(module, limit, 100)
    with pytest.raises(UnsupportedError, match=message):
        kanon_sql.anonymize(visits.engine, asked())
    assert "visits_release" not in visits.tables()


@pytest.mark.slow
def test_the_client_sees_numbers_alone(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is fetched for the widening is counted, and is numbers of vectors and of rows."""
    seen: list[tuple[str, list[tuple[int, ...]]]] = []
    original = Widening._fetched

    def watched(self: Any, name: str, *rest: Any, **context: Any) -> list[tuple[int, ...]]:
        rows = original(self, name, *rest, **context)
        seen.append((name, rows))
        return rows

    monkeypatch.setattr(Widening, "_fetched", watched)
    alone = kanon_sql.plan(visits.engine, spec())
    result = kanon_sql.plan(visits.engine, asked())
    assert {name for name, _ in seen} == {"graph", "candidates"}
    assert all(isinstance(value, int) for _, rows in seen for row in rows for value in row)
    assert all(len(row) == (4 if name == "graph" else 3) for name, rows in seen for row in rows)
    fetched = sum(len(rows) for _, rows in seen)
    assert fetched <= result.cost.rows_fetched <= alone.cost.rows_fetched + fetched + 20


@pytest.mark.slow
def test_nothing_to_choose_is_released_as_it_is(database: Database) -> None:
    database.table("visits", {"sex": "VARCHAR"}, [("m",)] * 3 + [("f",)] * 4)
    wanted = asked(quasi_identifiers={"sex": {"maximum_level": 0}}, keep=[])
    result = kanon_sql.anonymize(database.engine, wanted)
    assert result.passed
    assert result.achieved["kk_anonymity[global_1k]"]["k"] == 3
    assert kanon_sql.plan(database.engine, wanted).achieved["kk_anonymity[global_1k]"]["k"] == 3


# --- Who is exchanged with whom --------------------------------------------------------------------------------


def test_the_cheapest_come_first_until_nothing_is_lacking() -> None:
    graph = Matches({1: 1, 2: 1, 3: 2, 4: 9}, {1: [1, 2], 4: [4]}, {1: [1], 2: [2], 3: [3], 4: [4]})
    assert graph.lacking(3) == {1: 2}
    assert exchanges(3, graph, {1: [2, 3, 4]}) == [(1, 2), (1, 3)]
    assert exchanges(3, graph, {1: [3, 2, 4]}) == [(1, 3)]
    assert exchanges(3, graph, {1: [1, 4]}) == [(1, 4)], "what matches already is left out"


def test_who_lacks_most_is_first_and_whom_that_helps_waits() -> None:
    matches = {1: [1, 2], 2: [1, 2], 3: [3], 4: [4], 5: [5]}
    graph = Matches(dict.fromkeys(range(1, 6), 1), matches, matches)
    assert graph.lacking(3) == {1: 1, 2: 1, 3: 2, 4: 2, 5: 2}
    candidates = {1: [3], 2: [4], 3: [1, 2, 4], 4: [5], 5: [4]}
    assert exchanges(3, graph, candidates) == [(3, 1), (3, 2), (4, 5)]


def test_a_suppressed_vector_lacks_rows_too() -> None:
    graph = Matches({1: 1, 2: 1, 3: 1}, {1: [1, 2, 3], 9: [1]}, {1: [1, 2, 3], 2: [2], 3: [3], 9: [1]})
    assert graph.lacking(2) == {9: 1}
    assert exchanges(2, graph, {9: [2, 3]}) == [(9, 2)]
