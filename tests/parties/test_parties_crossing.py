"""What crosses between parties, and what does not."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines import Engine, Workspace
from kanon_sql.parties import vertical
from tests.support.sites import NORTH, SOUTH, Spy, site_of, spec
from tests.support.suppressions import suppressing

TOKEN = re.compile(r"[0-9a-f]{64}")


def values_of(rows: Sequence[Sequence[Any]]) -> set[str]:
    """The values of some rows and what they generalize to, but for labels of one or two letters."""
    whole = {str(cell) for row in rows for cell in row}
    return whole | {cell[:length] for cell in whole for length in range(3, len(cell))}


def test_no_value_reaches_python_and_no_party_gets_another_ones(engines: list[Engine], spy: Spy) -> None:
    result = kanon_sql.anonymize_parties(engines, spec())
    assert result.passed
    assert 0 < result.rows["suppressed"] < 5
    own = [values_of(NORTH), values_of(SOUTH)]
    for engine in engines:
        cells = spy.cells(engine)
        assert cells
        texts = [cell for cell in cells if isinstance(cell, str)]
        assert not {text for text in texts for value in own[0] | own[1] if value in text}
        tokens = [cell for cell in spy.cells(engine, "parties/tokens") if isinstance(cell, str)]
        assert tokens
        assert all(TOKEN.fullmatch(token) for token in tokens)
    for engine, foreign in ((engines[0], own[1] - own[0]), (engines[1], own[0] - own[1])):
        assert not [value for value in foreign if value in spy.texts(engine)]


@pytest.mark.slow
def test_every_question_has_tokens_of_its_own_and_tells_no_more_than_k_rows(engines: list[Engine], spy: Spy) -> None:
    """So that nobody can follow a class from one generalization to another, nor see how large a large one is."""
    kanon_sql.plan_parties(engines, spec())
    for engine in engines:
        seen: set[str] = set()
        questions: list[list[tuple[Any, ...]]] = [[]]
        for number, name, row in spy.fetched:
            if number == id(engine) and name == "parties/tokens":
                questions[-1].append(row)
        tokens = [row[0] for question in questions for row in question if row[0] is not None]
        assert len(tokens) == len(set(tokens))
        seen.update(tokens)
    crossed = [item for item in kanon_sql.plan_parties(engines, spec()).exchanged if "at most 3 each" in item["what"]]
    assert len(crossed) == 2
    assert all(item["messages"] > 1 for item in crossed)


def test_only_the_chosen_generalization_tells_how_large_its_classes_are(engines: list[Engine], spy: Spy) -> None:
    result = kanon_sql.plan_parties(engines, spec())
    asked = next(item["messages"] for item in result.exchanged if "at most 3 each" in item["what"])
    rows = [row for number, name, row in spy.fetched if number == id(engines[0]) and name == "parties/tokens"]
    questions: list[list[int]] = []
    for token, _count in rows:  # each question ends where a new one begins: the rows of all classes have no token
        if token is None:
            questions.append([])
    assert len(questions) == asked + 1
    capped = [count for token, count in rows if token is not None]
    assert sum(1 for count in capped if count > 3) <= result.classes["count"]


def test_tokens_come_in_their_own_order(engines: list[Engine], spy: Spy) -> None:
    """The order of a GROUP BY would tell which class comes before which."""
    kanon_sql.plan_parties(engines, spec())
    runs: list[list[str]] = [[]]
    for number, name, row in spy.fetched:
        if number == id(engines[0]):
            if name == "parties/tokens":
                runs[-1] += [row[0]] if row[0] is not None else []
            elif runs[-1]:
                runs.append([])
    found = [tokens for tokens in runs if len(tokens) > 3]
    assert found
    for tokens in found:
        falls = sum(1 for one, other in itertools.pairwise(tokens) if one > other)
        assert falls <= 12  # one for each question that follows another


DIVERSE = [{"k_anonymity": 2}, {"l_diversity": {"attribute": "ill", "l": 2}}]


@pytest.mark.slow
def test_sensitive_values_cross_as_tokens_that_no_two_classes_share(engines: list[Engine], spy: Spy) -> None:
    """And at most l of each class, but for the chosen generalization."""
    result = kanon_sql.anonymize_parties(engines, spec(privacy=DIVERSE))
    assert result.passed
    assert min(item["l"] for item in result.achieved.values() if "l" in item) >= 2
    pairs = [row for _, name, row in spy.fetched if name in ("parties/values", "parties/written_values")]
    assert pairs
    assert all(TOKEN.fullmatch(cell) for row in pairs for cell in row)
    classes_of: dict[str, set[str]] = {}
    for token, value in pairs:
        classes_of.setdefault(value, set()).add(token)
    assert max(map(len, classes_of.values())) == 1
    told = [item for item in result.exchanged if "at most 2 each" in item["what"]]
    assert {item["from"] for item in told} == {"party 1", "party 2"}
    asked = sum(item["messages"] for item in told)
    assert asked > 2
    values = {cell for row in (*NORTH, *SOUTH) for cell in row}
    assert not [cell for engine in engines for cell in spy.cells(engine) if cell in values]


@pytest.mark.slow
def test_no_more_than_l_values_of_a_class_are_told(spy: Spy) -> None:
    many = [("n0x", "nord-0", f"ill-n{n}", f"key{n}") for n in range(9)]
    engines = [kanon_sql.connect(site_of(many)), kanon_sql.connect(site_of(many))]
    kanon_sql.plan_parties(engines, spec(privacy=DIVERSE, search={"algorithm": "exhaustive", "metric": "precision"}))
    counted = Counter(row[0] for _, name, row in spy.fetched if name == "parties/values")
    assert sorted(set(counted.values())) == [4, 18]  # two parties, l = 2; and all of the chosen generalization


@pytest.mark.slow
def test_all_rows_of_a_class_without_enough_values_are_suppressed() -> None:
    """Of a class that is large at one party, more than k rows have to be told when its values may not do."""
    alike = [("n0x", "nord-0", "same", f"key{n:02}") for n in range(9)]
    others = [(f"s{n % 2}y", "sued-0", f"ill-{n % 3}", f"key{20 + n}") for n in range(12)]
    engines = [kanon_sql.connect(site_of(rows)) for rows in ([*alike, *others[:5]], others[5:])]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (job VARCHAR, town VARCHAR, ill VARCHAR, id VARCHAR)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", [*alike, *others])
        for limit in (4, 9):
            asked = spec(privacy=DIVERSE, suppression=suppressing(limit))
            expected = kanon_sql.plan(kanon_sql.connect(connection), asked, compare_recoding=None)
            result = kanon_sql.plan_parties(engines, asked)
            assert result.node == expected.node
            assert result.rows["suppressed"] == expected.rows["suppressed"] == (9 if limit == 9 else 0)


@pytest.mark.slow
def test_rows_with_a_null_count_against_the_limit() -> None:
    rows = [("n0x", "nord-0", "ill", f"key{n:02}") for n in range(6)]
    engines = [
        kanon_sql.connect(site_of([*rows, (None, "nord-0", "ill", "key10")])),
        kanon_sql.connect(site_of([("n0x", None, "ill", "key11"), (None, None, "ill", "key12")])),
    ]
    for limit, passed in ((2, False), (3, True)):
        result = kanon_sql.anonymize_parties(engines, spec(nulls="suppress", suppression=suppressing(limit)))
        assert result.passed is passed
    assert result.rows == {"source": 9, "released": 6, "suppressed": 3}


@pytest.mark.slow
def test_a_party_gets_back_tokens_of_its_own_alone(engines: list[Engine], spy: Spy) -> None:
    sent_back: list[tuple[str, set[str]]] = []
    load = Workspace.load

    def spied(self: Workspace, target: Any, columns: Any, rows: Any) -> None:
        sent_back.append((id(self.engine), {row[0] for row in rows}))  # type: ignore[arg-type]
        load(self, target, columns, rows)

    with patch.object(Workspace, "load", spied):
        result = kanon_sql.anonymize_parties(engines, spec())
    assert result.rows["suppressed"]
    assert sent_back
    for engine, tokens in sent_back:
        own = {row[0] for number, name, row in spy.fetched if number == engine and name == "parties/tokens"}
        assert tokens <= own


@pytest.mark.slow
def test_keys_stay_out_of_results_logs_and_manifests(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection], spy: Spy
) -> None:
    said: list[str] = []
    result = kanon_sql.anonymize_parties(engines, spec(), report=lambda stage, nodes=None: said.append(stage))
    assert len(spy.keys) > 3
    assert len(set(spy.keys)) == len(spy.keys)
    assert {len(key) for key in spy.keys} == {32}
    kept = [text for (text,) in connections[0].execute("SELECT manifest FROM kanon_sql_manifest").fetchall()]
    shown = "\n".join([json.dumps(result.to_dict()), repr(result), *result.sql[0], *result.sql[1], *said, *kept])
    for key in spy.keys:
        padded = key.ljust(64, b"\0")
        for form in (key, bytes(byte ^ 0x36 for byte in padded), bytes(byte ^ 0x5C for byte in padded)):
            assert form.hex() not in shown.lower()
    assert not TOKEN.search(shown.replace(spec().hash, ""))


@pytest.mark.slow
def test_joining_shows_python_tokens_and_released_rows(columns_apart: list[Engine], spy: Spy) -> None:
    result = kanon_sql.anonymize_parties(columns_apart, spec(), split="vertical", key="id", at=2)
    assert result.passed
    assert result.node is not None
    keys = {f"key{i:02}" for i in range(16)}
    opened = ("parties/opened",)
    for engine in columns_apart:
        texts = [
            cell
            for number, name, row in spy.fetched
            if number == id(engine) and name.startswith("parties/") and name not in opened
            for cell in row
            if isinstance(cell, str)
        ]
        assert texts
        assert all(TOKEN.fullmatch(text) for text in texts)
        assert not [key for key in keys for cell in spy.cells(engine) if isinstance(cell, str) and key in cell]
        assert not [key for key in keys if key in spy.texts(engine)]
    released = columns_apart[1]._connection.execute("SELECT job, town, ill FROM released").fetchall()  # type: ignore[attr-defined]
    shown = {cell for engine in columns_apart for cell in spy.cells(engine, *opened) if not TOKEN.fullmatch(cell)}
    assert shown == {f"v{cell}" for row in released for cell in row}


@pytest.mark.slow
def test_the_joined_rows_arrive_in_random_order(columns_apart: list[Engine], spy: Spy) -> None:
    """The party of the release can compute the tokens of its own persons, and must not find them in their order."""
    orders = set()
    load = Workspace.load

    def spied(self: Workspace, target: Any, columns: Any, rows: Any) -> None:
        if len(columns) == 3:
            orders.add(tuple(tuple(row) for row in rows))
        load(self, target, columns, rows)

    with patch.object(Workspace, "load", spied), patch.object(vertical, "fresh_key", lambda: b"k" * 32):
        for _ in range(4):
            kanon_sql.anonymize_parties(columns_apart, spec(), split="vertical", key="id", at=2)
    assert len(orders) > 1
    assert len({tuple(sorted(order)) for order in orders}) == 1


@pytest.mark.slow
def test_a_planning_party_keeps_nothing(engines: list[Engine], connections: list[duckdb.DuckDBPyConnection]) -> None:
    kanon_sql.plan_parties(engines, spec())
    for connection in connections:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("people",)]
