"""What crosses between parties, what does not, what is refused, and what happens when something fails."""

from __future__ import annotations

import hmac
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import jsonschema
import pytest

import kanon_sql
from kanon_sql.engines import Engine, Workspace
from kanon_sql.engines.session import SessionEngine
from kanon_sql.errors import DatabaseError, InternalError, SpecError, UnsupportedError, VerificationError
from kanon_sql.parties import exchange, holder, horizontal, site, vertical
from kanon_sql.report.json import parties_schema
from kanon_sql.sql import Statement
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.verbs.result import Result
from tests.support.command_line import run
from tests.support.suppressions import suppressing

TOKEN = re.compile(r"[0-9a-f]{64}")

# Values that nothing else looks like: a party's rows begin with its own letter.
NORTH = [(f"n{i % 4}x", f"nord-{i % 3}", f"ill-n{i % 5}", f"key{i:02}") for i in range(12)]
NORTH += [("qq1", "qwrt-1", "ill-n9", "key40")]
SOUTH = [("n0x", "nord-0", "ill-s0", "key50"), ("n1x", "nord-0", "ill-s1", "key51")]
SOUTH += [(f"s{i % 3}y", f"sued-{i % 2}", f"ill-s{i % 4}", f"key{60 + i}") for i in range(9)]
SOUTH += [("zz1", "zart-1", "ill-s9", "key90")]
SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "released",
    "identifiers": ["id"],
    "quasi_identifiers": {"job": {"prefix": [2, 1]}, "town": {"prefix": [4, 1]}},
    "sensitive": ["ill"],
    "privacy": [{"k_anonymity": 3}],
    "suppression": {"max_rows": 4},
    "search": {"metric": "precision"},
}
COLUMNS = ("job", "town", "ill", "id")


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**SPEC, **changes})


def site_of(rows: Sequence[Sequence[Any]], columns: Sequence[str] = COLUMNS) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f"CREATE TABLE people ({', '.join(f'{name} VARCHAR' for name in columns)})")
    connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(columns))})", rows)
    return connection


@pytest.fixture
def connections() -> Iterator[list[duckdb.DuckDBPyConnection]]:
    made = [site_of(NORTH), site_of(SOUTH)]
    yield made
    for connection in made:
        connection.close()


@pytest.fixture
def engines(connections: list[duckdb.DuckDBPyConnection]) -> list[Engine]:
    return [kanon_sql.connect(connection) for connection in connections]


JOB = [(f"n{i % 2}x", f"key{i:02}") for i in range(14)]
JOB += [("qq1", "key14")]
TOWN = [(f"sued-{i // 2 % 2}", f"ill-s{i % 4}", f"key{i:02}") for i in range(2, 15)]


@pytest.fixture
def columns_apart() -> Iterator[list[Engine]]:
    made = [site_of(JOB, ("job", "id")), site_of(TOWN, ("town", "ill", "id"))]
    yield [kanon_sql.connect(connection) for connection in made]
    for connection in made:
        connection.close()


@dataclass
class Spy:
    """All that reaches Python, and all that reaches a database, by the engine."""

    fetched: list[tuple[int, str, tuple[Any, ...]]] = field(default_factory=list)
    sent: list[tuple[int, str, str]] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)

    def texts(self, engine: Engine) -> str:
        return "\n".join(sql for number, _, sql in self.sent if number == id(engine))

    def cells(self, engine: Engine, *templates: str) -> list[Any]:
        return [
            cell
            for number, name, row in self.fetched
            if number == id(engine) and (not templates or name in templates)
            for cell in row
        ]


@pytest.fixture
def spy() -> Iterator[Spy]:
    found = Spy()
    fetch, execute, fresh = SessionEngine.fetch, SessionEngine.execute, exchange.fresh_key

    def spied_fetch(self: SessionEngine, statement: Statement, limit: int) -> list[tuple[Any, ...]]:
        rows = fetch(self, statement, limit)
        found.fetched += [(id(self), statement.name, tuple(row)) for row in rows]
        found.sent.append((id(self), statement.name, statement.sql))
        return rows

    def spied_execute(self: SessionEngine, statement: Statement) -> None:
        found.sent.append((id(self), statement.name, statement.sql))
        execute(self, statement)

    def spied_key() -> bytes:
        found.keys.append(fresh())
        return found.keys[-1]

    with (
        patch.object(SessionEngine, "fetch", spied_fetch),
        patch.object(SessionEngine, "execute", spied_execute),
        patch.object(horizontal, "fresh_key", spied_key),
        patch.object(vertical, "fresh_key", spied_key),
        patch.object(holder, "fresh_key", spied_key),
    ):
        yield found


def values_of(rows: Sequence[Sequence[Any]]) -> set[str]:
    """The values of some rows and what they generalize to, but for labels of one or two letters."""
    whole = {str(cell) for row in rows for cell in row}
    return whole | {cell[:length] for cell in whole for length in range(3, len(cell))}


# --- What crosses ---


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
            expected = kanon_sql.plan(kanon_sql.connect(connection), asked, beside=None)
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


# --- Hashes ---

RFC_4231 = [
    (b"\x0b" * 20, "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (b"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
]
"""Test cases 1 and 2 of RFC 4231, section 4."""


def test_keyed_hashes_are_hmac_sha256(engines: list[Engine], tmp_path: Path) -> None:
    sqlite = kanon_sql.connect(f"sqlite:///{tmp_path / 'hashes.db'}")
    cases = [
        *RFC_4231,
        *((b"k" * n, text, None) for n in (1, 32, 64) for text in ("", "ä€\U0001f600", "it's", "a" * 99)),
    ]
    with sqlite:
        for engine in (engines[0], sqlite):
            for key, text, expected in cases:
                hashed = engine.dialect.keyed_hash(engine.dialect.literal(text), key)
                ((found,),) = engine.fetch(Statement("hashes", f"SELECT {hashed} AS found"), 1)
                assert found == (expected or hmac.digest(key, text.encode(), "sha256").hex())


def test_engines_whose_hash_was_not_tried_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="snowflake: keyed hashes were not tried"):
        dialect_named("snowflake").keyed_hash("x", b"k")


# --- What is refused ---


@pytest.mark.sampled(18)
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"unit": "id", "identifiers": []}, "unit: who has rows at several parties"),
        ({"recoding": "local"}, "recoding: local"),
        ({"recoding": {"method": "full_domain", "save_as": "kept"}}, "recoding.save_as"),
        ({"ledger": "kanon_sql_ledger"}, "ledger: releases are compared"),
        ({"suppression": {"max_rows": 4, "style": "mask"}}, "suppression.style: mask"),
        ({"source": {"file": "people.parquet"}}, "one file would be read for every party"),
        ({"search": {"algorithm": "datafly", "metric": "precision"}}, "search.algorithm: datafly"),
        ({"search": {"algorithm": "greedy", "metric": "precision"}}, "search.algorithm: greedy"),
        ({"search": {"algorithm": "top_down", "metric": "average_class_size"}}, "by which the metric"),
        ({"search": {"algorithm": "samarati", "metric": "precision", "distance_vectors": True}}, "vectors and variant"),
        ({"search": {}}, "search.metric: loss"),
        ({"search": {"metric": "entropy"}}, "search.metric: entropy"),
        ({"quasi_identifiers": {"job": {"table": "jobs"}}}, "a hierarchy in a table"),
        ({"privacy": [{"l_diversity": {"attribute": "ill", "l": 2, "variant": "entropy"}}]}, "is judged by values"),
        ({"privacy": [{"l_diversity": {"attribute": "ill", "l": 2, "quasi_identifiers": ["job"]}}]}, "other columns"),
        ({"privacy": [{"k_anonymity": {"k": 3, "quasi_identifiers": ["job"]}}]}, "classes of other columns"),
        ({"privacy": [{"k_anonymity": {"column": "ill", "default": 3}}]}, "is judged by values"),
    ],
)
def test_what_parties_cannot_do_is_refused_before_anything_is_read(
    engines: list[Engine], changes: dict[str, Any], said: str, spy: Spy
) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(said)):
        kanon_sql.plan_parties(engines, spec(**changes))
    assert not [name for _, name, _ in spy.sent if not name.startswith("engines/")]


def test_options_that_contradict_each_other_are_refused(engines: list[Engine]) -> None:
    for options, said in [
        ({"key": "id"}, "--key: only a vertical split has one"),
        ({"split": "vertical"}, "--key: a vertical split needs"),
        ({"split": "diagonal"}, "--split diagonal"),
    ]:
        with pytest.raises(SpecError, match=said):
            kanon_sql.plan_parties(engines, spec(), **options)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="two databases at least, got 1"):
        kanon_sql.plan_parties(engines[:1], spec())
    for at, said in ((0, "--at 0"), (3, "--at 3"), (2, "every party publishes its own part")):
        with pytest.raises(SpecError, match=said):
            kanon_sql.anonymize_parties(engines, spec(), at=at)
    with pytest.raises(SpecError, match="release: missing"):
        kanon_sql.anonymize_parties(engines, spec(release=None))


def test_columns_of_other_kinds_are_refused(engines: list[Engine]) -> None:
    numbers = duckdb.connect()
    numbers.execute("CREATE TABLE people (job INTEGER, town VARCHAR, ill VARCHAR, id VARCHAR)")
    with pytest.raises(SpecError, match="the column is VARCHAR at party 1 and INTEGER at party 2"):
        kanon_sql.plan_parties([engines[0], kanon_sql.connect(numbers)], spec())


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("one", "two"),
    [("INTEGER", "DECIMAL(6, 1)"), ("DECIMAL(6, 1)", "DECIMAL(6, 2)"), ("VARCHAR", "DOUBLE"), ("BOOLEAN", "INTEGER")],
)
def test_one_sensitive_value_of_two_types_is_not_two_values(one: str, two: str) -> None:
    """A class of four rows with the value 1 was taken for one of two values, 1 and 1.0 (or true)."""
    connections = [duckdb.connect(), duckdb.connect()]
    for connection, kind in zip(connections, (one, two), strict=True):
        connection.execute(f"CREATE TABLE people (job VARCHAR, town VARCHAR, ill {kind}, id VARCHAR)")
        connection.execute("INSERT INTO people SELECT 'cook', 'rome', 1, i FROM range(4) AS t(i)")
    asked = spec(
        privacy=[{"k_anonymity": {"k": 2}}, {"l_diversity": {"attribute": "ill", "l": 2, "variant": "distinct"}}]
    )
    engines = [kanon_sql.connect(connection) for connection in connections]
    with pytest.raises(SpecError, match="the same value may have different texts and count twice"):
        kanon_sql.plan_parties(engines, asked)
    connections[1].execute(f"ALTER TABLE people ALTER ill TYPE {one} USING CAST(1 AS {one})")
    assert not kanon_sql.plan_parties(engines, asked).passed


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("kinds", "values"),
    [
        (("REAL", "DOUBLE"), ("0.1", "CAST(CAST(0.1 AS REAL) AS DOUBLE)")),
        (("DOUBLE", "DOUBLE"), ("CAST('nan' AS DOUBLE)", "-CAST('nan' AS DOUBLE)")),
    ],
)
def test_one_binary_fraction_of_two_texts_is_not_two_values(kinds: Sequence[str], values: Sequence[str]) -> None:
    """Equal numbers, whose texts differ: a class of one value was published as one of two."""
    connections = [duckdb.connect(), duckdb.connect()]
    for connection, kind, value in zip(connections, kinds, values, strict=True):
        connection.execute(f"CREATE TABLE people (job VARCHAR, town VARCHAR, ill {kind}, id VARCHAR)")
        connection.execute(f"INSERT INTO people SELECT 'cook', 'rome', {value}, i FROM range(4) AS t(i)")
    asked = spec(
        privacy=[{"k_anonymity": {"k": 2}}, {"l_diversity": {"attribute": "ill", "l": 2, "variant": "distinct"}}]
    )
    with pytest.raises(SpecError, match="the same value may have different texts and count twice"):
        kanon_sql.plan_parties([kanon_sql.connect(connection) for connection in connections], asked)


def test_binary_fractions_of_one_party_are_not_counted_either() -> None:
    """Of a vertical split, where one party has both a NaN and its negative."""
    one, two = duckdb.connect(), duckdb.connect()
    one.execute("CREATE TABLE people AS SELECT 'cook' AS job, i AS id FROM range(4) AS t(i)")
    one.execute("ALTER TABLE people ALTER id TYPE VARCHAR")
    two.execute(
        "CREATE TABLE people AS SELECT CAST(i AS VARCHAR) AS id, 'rome' AS town, "
        "CASE WHEN i < 2 THEN 1 ELSE -1 END * CAST('nan' AS DOUBLE) AS ill FROM range(4) AS t(i)"
    )
    asked = spec(
        privacy=[{"k_anonymity": {"k": 2}}, {"l_diversity": {"attribute": "ill", "l": 2, "variant": "distinct"}}]
    )
    with pytest.raises(SpecError, match="the same value may have different texts and count twice"):
        kanon_sql.plan_parties([kanon_sql.connect(one), kanon_sql.connect(two)], asked, split="vertical", key="id")


@pytest.mark.slow
def test_one_database_is_one_party(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection], tmp_path: Path
) -> None:
    with pytest.raises(SpecError, match="party 1 and party 2 are one database"):
        kanon_sql.plan_parties([engines[0], engines[0]], spec())
    path = tmp_path / "one.db"
    with (
        kanon_sql.connect(f"sqlite:///{path}") as one,
        kanon_sql.connect(f"sqlite:///{path}") as other,
        pytest.raises(SpecError, match="are one database"),
    ):
        kanon_sql.plan_parties([one, other], spec())
    # Where the label does not tell, what one has written the other one sees.
    twice = [kanon_sql.connect(connections[0].cursor()), kanon_sql.connect(connections[0].cursor())]
    with pytest.raises((SpecError, DatabaseError), match="are one database"):
        kanon_sql.anonymize_parties(twice, spec())
    assert (
        connections[0].execute("SELECT table_name FROM duckdb_tables() WHERE table_name = 'released'").fetchall() == []
    )


@pytest.mark.parametrize(
    ("tables", "changes", "key", "said"),
    [
        ([("job",), ("town", "ill", "id")], {}, "id", "party 1 has no such column"),
        ([("job", "id"), ("town", "id")], {}, "id", "ill: the column is at no party"),
        ([("job", "ill", "id"), ("town", "ill", "id")], {}, "id", "ill: the column is at party 1 and party 2"),
        ([("job", "town", "id"), ("ill", "id")], {}, "id", "party 2 has no quasi-identifier"),
        ([("job", "id"), ("town", "ill", "id")], {"identifiers": []}, "id", "one of the spec's identifiers"),
        ([("job", "id"), ("town", "ill", "id")], {"nulls": "suppress"}, "id", "nulls: suppress"),
    ],
)
def test_vertical_splits_that_do_not_fit_are_refused(
    tables: list[tuple[str, ...]], changes: dict[str, Any], key: str, said: str
) -> None:
    engines = [kanon_sql.connect(site_of([["x"] * len(columns)] * 3, columns)) for columns in tables]
    with pytest.raises((SpecError, UnsupportedError), match=re.escape(said).replace("party\\ 1\\ has", "party 1 has")):
        kanon_sql.plan_parties(engines, spec(**changes), split="vertical", key=key)


def test_a_key_that_two_rows_have_is_refused_without_the_key(columns_apart: list[Engine]) -> None:
    columns_apart[0]._connection.execute("INSERT INTO people VALUES ('n9x', 'key03')")  # type: ignore[attr-defined]
    with pytest.raises(UnsupportedError, match="party 1: 1 rows have a key in 'id'") as caught:
        kanon_sql.plan_parties(columns_apart, spec(), split="vertical", key="id")
    assert "key03" not in str(caught.value)


def test_keys_of_two_kinds_are_refused(columns_apart: list[Engine]) -> None:
    numbers = duckdb.connect()
    numbers.execute("CREATE TABLE people (town VARCHAR, ill VARCHAR, id INTEGER)")
    with pytest.raises(SpecError, match="VARCHAR at party 1 and INTEGER at party 2"):
        kanon_sql.plan_parties([columns_apart[0], kanon_sql.connect(numbers)], spec(), split="vertical", key="id")


@pytest.mark.slow
def test_more_tokens_than_may_cross_are_refused(engines: list[Engine], columns_apart: list[Engine]) -> None:
    with patch.object(site, "MOST_TOKENS", 5), pytest.raises(UnsupportedError, match="more than 5 classes here"):
        kanon_sql.plan_parties(engines, spec())
    with patch.object(holder, "MOST_TOKENS", 5), pytest.raises(UnsupportedError, match="at most 5 tokens"):
        kanon_sql.plan_parties(columns_apart, spec(), split="vertical", key="id")


# --- What fails ---


@pytest.mark.slow
def test_what_no_generalization_satisfies_is_not_published(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection]
) -> None:
    result = kanon_sql.anonymize_parties(engines, spec(privacy=[{"k_anonymity": 50}]))
    assert not result.passed
    assert result.message.startswith("nothing was published: all parties together have fewer")
    strict = spec(
        quasi_identifiers={
            "job": {"prefix": [2, 1], "maximum_level": 0},
            "town": {"prefix": [4, 1], "maximum_level": 0},
        }
    )
    result = kanon_sql.plan_parties(engines, strict)
    assert not result.passed
    assert "even at the highest levels allowed" in result.message
    with pytest.raises(kanon_sql.RequirementNotMet):
        result.raise_for_failure()
    for connection in connections:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("people",)]
    jsonschema.Draft202012Validator(parties_schema()).validate(result.to_dict())


def test_parts_that_are_not_what_was_counted_are_dropped(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection]
) -> None:
    """The suppressed classes are forgotten while the parts are written: the written tables tell."""
    choice = horizontal._choice

    def all_rows(spec: Any, site: Any, node: Any, classes: Any, refused: Any) -> Any:
        return choice(spec, site, node, classes, {})

    with (
        patch.object(horizontal, "_choice", all_rows),
        pytest.raises(VerificationError, match="classes that violate the requirements"),
    ):
        kanon_sql.anonymize_parties(engines, spec())
    for connection in connections:
        assert connection.execute(
            "SELECT COUNT(*) FROM duckdb_tables() WHERE table_name LIKE '%release%'"
        ).fetchall() == [(0,)]


@pytest.mark.slow
def test_rows_that_vanish_between_the_passes_stop_the_run(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection]
) -> None:
    written = horizontal.written_release

    def loses_rows(workspace: Workspace, choice: Any) -> Any:
        connections[0].execute("DELETE FROM people WHERE id = 'key00'")
        return written(workspace, choice)

    with patch.object(horizontal, "written_release", loses_rows), pytest.raises(VerificationError):
        kanon_sql.anonymize_parties(engines, spec())


def test_a_joined_table_that_is_not_what_was_counted_is_dropped(columns_apart: list[Engine]) -> None:
    def all_persons(self: Any, node: Any) -> list[str]:
        return list(self.persons)

    small = spec(suppression={"max_rows": 6}, quasi_identifiers={
        "job": {"prefix": [2, 1], "maximum_level": 0}, "town": {"prefix": [6, 4], "maximum_level": 0}
    })  # fmt: skip
    with (
        patch.object(vertical._Joined, "released", all_persons),
        pytest.raises(VerificationError, match="does not have the classes that the search has counted"),
    ):
        kanon_sql.anonymize_parties(columns_apart, small, split="vertical", key="id")
    tables = columns_apart[0]._connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()  # type: ignore[attr-defined]
    assert ("released",) not in tables


def test_a_joined_table_without_a_class_is_dropped(columns_apart: list[Engine]) -> None:
    """What is missing violates nothing; it is missing all the same."""
    released = vertical._Joined.released

    def fewer(self: Any, node: Any) -> list[str]:
        persons = released(self, node)
        first = self.persons[persons[0]]
        return [person for person in persons if self.persons[person] != first]

    exact = {"job": {"maximum_level": 0}, "town": {"maximum_level": 0}}
    with (
        patch.object(vertical._Joined, "released", fewer),
        pytest.raises(VerificationError, match="does not have the classes that the search has counted"),
    ):
        kanon_sql.anonymize_parties(columns_apart, spec(quasi_identifiers=exact), split="vertical", key="id")


def test_a_row_that_a_join_loses_stops_the_run(engines: list[Engine]) -> None:
    """A class that nobody sees violates nothing: what is sent must hold all rows."""
    hashes = site.Site._hashes_of

    def loses_a_label(self: Any, index: int, level: int) -> Any:
        table = hashes(self, index, level)
        name = self.workspace.quoted(table)
        self.workspace.engine._connection.execute(f"DELETE FROM {name} WHERE code = (SELECT MIN(code) FROM {name})")
        return table

    with patch.object(site.Site, "_hashes_of", loses_a_label), pytest.raises(InternalError, match="were judged where"):
        kanon_sql.plan_parties(engines, spec())


@pytest.mark.slow
def test_what_stands_is_said_where_a_later_party_refuses(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection]
) -> None:
    publish = horizontal.publish

    def refuses(workspace: Workspace, *given: Any, **options: Any) -> None:
        if workspace.engine is engines[1]:
            raise DatabaseError("the disk is full")
        publish(workspace, *given, **options)

    with (
        patch.object(horizontal, "publish", refuses),
        pytest.raises(
            DatabaseError, match=r"party 2: the disk is full\. The parts of party 1 are published, the others"
        ),
    ):
        kanon_sql.anonymize_parties(engines, spec())
    assert connections[0].execute("SELECT COUNT(*) FROM released").fetchall() != [(0,)]
    assert ("released",) not in connections[1].execute("SELECT table_name FROM duckdb_tables()").fetchall()


@pytest.mark.slow
def test_a_foreign_table_and_a_read_only_party_are_refused_before_the_search(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection], columns_apart: list[Engine]
) -> None:
    connections[1].execute("CREATE TABLE released (x INTEGER)")
    with pytest.raises(SpecError, match="already a table 'released'"):
        kanon_sql.anonymize_parties(engines, spec())
    reading = kanon_sql.connect(connections[0], read_only=True)
    with pytest.raises(SpecError, match=r"the connection to party 1 .* is read-only"):
        kanon_sql.anonymize_parties([reading, engines[1]], spec())
    # Only the party of a joined release writes.
    connection = columns_apart[0]._connection  # type: ignore[attr-defined]
    apart = [kanon_sql.connect(connection, read_only=True), columns_apart[1]]
    assert kanon_sql.anonymize_parties(apart, spec(), split="vertical", key="id", at=2).at == "party 2"


# --- Heuristics, results, the command line ---


@pytest.mark.parametrize(
    "algorithm",
    ["top_down", *(pytest.param(name, marks=pytest.mark.slow) for name in ("bottom_up", "genetic", "annealing"))],
)
def test_heuristics_go_the_way_that_they_go_over_one_table(engines: list[Engine], algorithm: str) -> None:
    """Wang, Fung, Dong 2005 specialize from the top down."""
    pooled = kanon_sql.connect(site_of([*NORTH, *SOUTH]))
    asked = spec(search={"algorithm": algorithm, "metric": "precision"})
    result, expected = kanon_sql.plan_parties(engines, asked), kanon_sql.plan(pooled, asked, beside=None)
    assert isinstance(expected, Result)
    assert expected.node is not None
    assert result.node == expected.node
    assert not result.search.proven


@pytest.mark.slow
def test_results_are_described_and_metered(engines: list[Engine], columns_apart: list[Engine]) -> None:
    validator = jsonschema.Draft202012Validator(parties_schema())
    published = kanon_sql.anonymize_parties(engines, spec())
    for result in (published, kanon_sql.plan_parties(columns_apart, spec(), split="vertical", key="id")):
        found = json.loads(json.dumps(result.to_dict()))
        validator.validate(found)
        assert found["costs"][0]["rows_fetched"] > 0
        for name in result.parties:
            sent = sum(item["items"] for item in found["exchanged"] if item["from"] == name)
            assert 0 < sent <= found["costs"][result.parties.index(name)]["rows_fetched"]
    assert [manifest["parties"]["part"] for manifest in published.manifests] == [1, 2]


@pytest.mark.slow
def test_the_command_line_plans_and_publishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, rows in (("north.duckdb", NORTH), ("south.duckdb", SOUTH)):
        with duckdb.connect(name) as connection:
            connection.execute(f"CREATE TABLE people ({', '.join(f'{column} VARCHAR' for column in COLUMNS)})")
            connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    Path("spec.yml").write_text(json.dumps(SPEC))
    both = ("-d", "north.duckdb", "-d", "south.duckdb")
    planned = run("parties", "plan", "spec.yml", "-d", "north.duckdb,south.duckdb")
    assert planned.exit_code == 0, planned.output
    for words in ("PASS", "Who learns what", "party 2: ", "tokens of classes with their rows"):
        assert words in planned.output
    done = run("parties", "anonymize", "spec.yml", *both, "--format", "json", "-q")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["split"] == "horizontal"
    for options, said in [
        (("plan", "spec.yml", *both, "--set", "threads=2"), "--set threads: this verb has no such key"),
        (("anonymize", "spec.yml", *both, "-o", "r.html"), "this verb writes no HTML report"),
        (("anonymize", "spec.yml", *both, "--at", "2"), "every party publishes its own part"),
        (("plan", "spec.yml", "--split", "vertical"), "two databases at least, got 0"),
        (("plan", "spec.yml", "-d", "north.duckdb", "-d", ":memory:"), "a database in memory"),
        (("plan", "spec.yml", "-d", "north.duckdb", "-d", "missing.duckdb"), "no database file"),
        (("plan", "spec.yml", "-d", "north.duckdb", "-d", "./north.duckdb"), "are one database"),
    ]:
        failed = run("parties", *options)
        assert failed.exit_code == 2 or failed.exit_code == 3, failed.output
        assert said in " ".join(failed.output.split())
    shown = run("pipeline", "schema", "parties")
    assert json.loads(shown.stdout)["title"] == "kanon_sql parties"
