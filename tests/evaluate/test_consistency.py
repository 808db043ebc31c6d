"""(1,k)-, (k,1)- and global (1,k)-anonymity: the matching against all assignments, ``audit`` against the oracle."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import isclose
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import Spec, audit
from kanon_sql.disclosure.attacks import Attack
from kanon_sql.engines import Row
from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import matches_of
from kanon_sql.report.json import audit_schema
from kanon_sql.sql import Statement
from kanon_sql.testing import Subject
from kanon_sql.verbs.audit import AuditResult
from tests.conftest import Database
from tests.oracles.consistency import Consistent, consistent, edges_of
from tests.oracles.model import Hierarchy, generalize, height_of
from tests.servers import subject_of
from tests.support.strategies import examples, hierarchies

NAMES = ("consistency (1,k)", "consistency (k,1)", "consistency, global (1,k)")


# --- The matching, by groups, against every assignment ------------------------------------------------

GRAPHS = st.integers(1, 5).flatmap(
    lambda rows: st.tuples(
        st.lists(st.lists(st.booleans(), min_size=rows, max_size=rows), min_size=1, max_size=6),
        st.lists(st.integers(1, 3), min_size=6, max_size=6),
        st.lists(st.integers(1, 3), min_size=rows, max_size=rows),
    )
)


@examples(60)
@given(GRAPHS)
def test_matches_are_those_of_all_assignments(graph: tuple[list[list[bool]], list[int], list[int]]) -> None:
    """Groups of up to 3 equal records and 3 equal rows; at most 7 of each in all, since every assignment is tried."""
    table, many, each = graph
    while sum(each) > 7:
        each = [max(1, count - 1) for count in each]
    while sum(many[: len(table)]) > 7:
        many = [max(1, count - 1) for count in many]
    records = {number: many[number] for number, _ in enumerate(table)}
    rows = dict(enumerate(each))
    edges = [(record, row) for record, line in enumerate(table) for row, there in enumerate(line) if there]
    people = [group for group, count in records.items() for _ in range(count)]
    alone = [
        {n for n, group in enumerate(people) if (group, row) in edges}
        for row, count in rows.items()
        for _ in range(count)
    ]
    found, expected = matches_of(records, rows, edges), consistent(alone, len(people)).matches
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert [found[group] for group in people] == expected


def test_a_long_chain_needs_no_recursion() -> None:
    """Record n is consistent with rows n and n + 1, the last with its own alone: one assignment exists."""
    size = 5_000
    edges = [(n, row) for n in range(size) for row in (n, n + 1) if row < size]
    one_each = dict.fromkeys(range(size), 1)
    assert matches_of(one_each, one_each, edges) == one_each
    assert matches_of(one_each, one_each, [*edges, (size - 1, 0)]) == dict.fromkeys(range(size), 2)


def test_nothing_matches_nothing() -> None:
    assert matches_of({}, {}, []) == {}
    assert matches_of({0: 2}, {}, []) == {0: 0}
    assert matches_of({}, {0: 1}, []) is None


# --- audit against the oracle -------------------------------------------------------------------------


def stored(database: Database, tables: Mapping[str, Hierarchy]) -> dict[str, Any]:
    for column, table in tables.items():
        lines = list(table.values())
        database.table(f"h_{column}", [f"level {n}" for n in range(len(lines[0]))], lines)
    return {column: {"table": f"h_{column}"} for column in tables}


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    """A source of at most seven records; full-domain, cell by cell, or with masked rows; some records left out."""
    rng = random.Random(draw(st.integers(0, 10_000)))
    tables = {f"q{index}": draw(hierarchies()) for index in range(draw(st.integers(1, 2)))}
    nulls = [None] if draw(st.booleans()) else []
    vectors = [
        {column: rng.choice([*table, *nulls]) for column, table in tables.items()} for _ in range(rng.randint(1, 5))
    ]
    source = [dict(rng.choice(vectors)) for _ in range(draw(st.sampled_from([7, 7, 6, 4, 1, 0])))]
    node = tuple(rng.randint(0, height_of(table)) for table in tables.values())
    top = tuple(map(height_of, tables.values()))
    kind = draw(st.sampled_from(["full", "cells", "masked", "foreign"]))
    release = []
    for record in source:
        if rng.random() < 0.15:
            continue
        levels = node if kind != "masked" or rng.random() < 0.6 else top
        if kind == "cells":
            levels = tuple(rng.randint(0, height_of(table)) for table in tables.values())
        shown = rng.choice(source) if kind == "foreign" else record
        (labels,) = generalize([shown], tables, levels)
        release.append(dict(zip(tables, labels or (), strict=True)))
    rng.shuffle(release)
    return {"tables": tables, "source": source, "release": release}


def run_on(database: Database, given: Mapping[str, Any], k: int, **options: Any) -> AuditResult:
    tables = given["tables"]
    for name in ("source", "release"):
        database.table(name, list(tables), [[row[column] for column in tables] for row in given[name]])
    spec = Spec.from_dict(
        {
            "version": 1, "source": "source", "release": "release", "privacy": [{"k_anonymity": k}],
            "quasi_identifiers": stored(database, tables),
        }
    )  # fmt: skip
    return audit(database.engine, spec, **options)


def same(attack: Attack, counts: Sequence[int], k: int) -> None:
    exposed = sum(0 < count < k for count in counts)
    assert (attack.examined, attack.exposed, attack.beyond) == (len(counts), exposed, exposed), attack
    fewest = min(filter(None, counts), default=None)
    assert attack.risk is None if fewest is None else isclose(attack.risk or 0, Fraction(1, fewest), abs_tol=1e-9)
    assert not attack.estimate


def agrees(result: AuditResult, expected: Consistent, k: int) -> None:
    found = {attack.name: attack for attack in result.attacks}
    same(found[NAMES[0]], expected.of_records, k)
    same(found[NAMES[1]], expected.of_rows, k)
    if expected.matches is None:
        assert "no record of their own left" in result.left_out[NAMES[2]]
        assert NAMES[2] not in found
    else:
        same(found[NAMES[2]], expected.matches, k)


@examples(12)
@given(problems(), st.integers(1, 4))
def test_audit_against_every_assignment(shared_database: Database, given: dict[str, Any], k: int) -> None:
    result = run_on(shared_database, given, k)
    jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
    edges = edges_of(given["source"], given["release"], given["tables"])
    agrees(result, consistent(edges, len(given["source"])), k)


# --- What implies what ----------------------------------------------------------------------------------


@examples(40)
@given(GRAPHS)
def test_more_general_rows_only_add_matches(graph: tuple[list[list[bool]], list[int], list[int]]) -> None:
    """Another edge keeps every assignment, hence (1,k), (k,1) and global (1,k) are monotone."""
    table, _, _ = graph
    rows = dict.fromkeys(range(len(table[0])), 1)
    records = dict.fromkeys(range(len(table)), 1)
    edges = [(record, row) for record, line in enumerate(table) for row, there in enumerate(line) if there]
    missing = [(record, row) for record in records for row in rows if (record, row) not in edges]
    before = matches_of(records, rows, edges)
    if before is None or not missing:
        return
    after = matches_of(records, rows, [*edges, missing[0]])
    assert after is not None
    assert all(after[record] >= count for record, count in before.items())


HALVES: dict[str, Hierarchy] = {
    "a": {value: (value, "*") for value in "pqw"},
    "b": {value: (value, "*") for value in "uv"},
}


def told(*vectors: tuple[str, str]) -> list[dict[str, str]]:
    return [{"a": a, "b": b} for a, b in vectors]


def test_k_k_is_not_global(database: Database) -> None:
    """Everybody is consistent with two rows and every row with two records; (p, v) matches one row nevertheless.

    The rows of u take (p, u) and (q, u). So the row of p is of (p, v), whatever the others are.
    """
    problem = {
        "tables": HALVES,
        "source": told(("p", "u"), ("q", "u"), ("p", "v"), ("w", "v"), ("w", "v")),
        "release": told(("*", "u"), ("*", "u"), ("p", "*"), ("*", "v"), ("w", "*")),
    }
    found = {attack.name: attack for attack in run_on(database, problem, 2).attacks}
    assert [found[name].exposed for name in NAMES] == [0, 0, 1]
    assert found[NAMES[2]].risk == 1


def test_one_k_is_not_k_one(database: Database) -> None:
    """A row of its own values beside rows that hide everything: all records see two rows, the row sees one record."""
    problem = {
        "tables": HALVES,
        "source": told(("p", "u"), ("q", "u"), ("w", "v")),
        "release": told(("p", "u"), ("*", "*"), ("*", "*")),
    }
    found = {attack.name: attack for attack in run_on(database, problem, 2).attacks}
    assert [found[name].exposed for name in NAMES] == [0, 1, 1]


@examples(25)
@given(problems())
def test_a_k_anonymous_release_is_all_of_them(given: dict[str, Any]) -> None:
    """k is the size of its smallest class, whatever its recoding; every record behind a row has so many matches."""
    release = [tuple(row.values()) for row in given["release"]]
    if not release:
        return
    k = min(map(release.count, release))
    result = consistent(edges_of(given["source"], given["release"], given["tables"]), len(given["source"]))
    assert all(count >= k for count in filter(None, result.of_records))
    assert result.matches is None or all(count >= k for count in filter(None, result.matches))
    if result.matches is not None:
        assert all(count >= k for count in result.of_rows)


def test_masked_rows_match_those_who_are_missing(database: Database) -> None:
    """A masked row covers everybody, but whoever has a class is needed there: matches are classes again."""
    problem = {
        "tables": HALVES,
        "source": told(("p", "u"), ("p", "u"), ("q", "u"), ("w", "v"), ("w", "u")),
        "release": told(("p", "u"), ("p", "u"), ("*", "*"), ("*", "*"), ("*", "*")),
    }
    found = {attack.name: attack for attack in run_on(database, problem, 3).attacks}
    assert [found[name].exposed for name in NAMES] == [0, 2, 2]
    assert found[NAMES[2]].risk == 0.5
    assert found[NAMES[0]].risk == 1 / 3


# --- What is said, and what is not measured -------------------------------------------------------------


def test_left_out_records_are_counted_and_not_exposed(database: Database) -> None:
    problem = {
        "tables": HALVES,
        "source": told(("p", "u"), ("p", "v"), ("q", "u"), ("w", "v")),
        "release": told(("p", "*"), ("p", "*")),
    }
    result = run_on(database, problem, 2, attacks=["consistency"])
    assert result.passed
    assert [attack.examined for attack in result.attacks] == [4, 2, 4]
    assert "2 records of the source are consistent with no row" in " ".join(result.attacks[0].notes)


def test_rows_of_strangers_are_no_pass(database: Database) -> None:
    problem = {"tables": HALVES, "source": told(("p", "u")), "release": told(("q", "u"), ("q", "u"))}
    with pytest.raises(UnsupportedError, match="2 rows of release are consistent with no record"):
        run_on(database, problem, 2, attacks=["consistency"])


def test_more_rows_than_records_are_no_pass(database: Database) -> None:
    problem = {"tables": HALVES, "source": told(("p", "u")), "release": told(("p", "u"), ("p", "u"))}
    with pytest.raises(UnsupportedError, match="1 rows of release have no record of their own left"):
        run_on(database, problem, 2, attacks=["consistency"])
    assert NAMES[2] in run_on(database, problem, 2).left_out


def test_a_graph_that_is_too_large(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["kanon_sql.disclosure.attacks.consistency"], "MOST_EDGES", 5)
    problem = {
        "tables": HALVES,
        "source": told(("p", "u"), ("q", "u"), ("p", "v"), ("w", "v"), ("w", "v")),
        "release": told(("*", "u"), ("*", "u"), ("p", "*"), ("*", "v"), ("w", "*")),
    }
    result = run_on(database, problem, 2)
    assert "the graph of both has more than 5 edges" in result.left_out[NAMES[2]]
    assert [attack.name for attack in result.attacks if "consistency" in attack.name] == list(NAMES[:2])
    with pytest.raises(UnsupportedError, match="more than 5 edges"):
        run_on(database, problem, 2, attacks=["consistency"])


def test_nobody_and_nothing(database: Database) -> None:
    for source in ([], told(("p", "u"))):
        result = run_on(database, {"tables": HALVES, "source": source, "release": []}, 2, attacks=["consistency"])
        assert not result.passed
        assert "no rows" in result.message
        assert [(attack.exposed, attack.risk) for attack in result.attacks] == [(0, None)] * 3


@pytest.mark.slow
def test_no_value_leaves_the_database_unless_asked(database: Database) -> None:
    problem = {
        "tables": HALVES,
        "source": told(("p", "u"), ("q", "u"), ("p", "v"), ("w", "v"), ("w", "v")),
        "release": told(("*", "u"), ("*", "u"), ("p", "*"), ("*", "v"), ("w", "v")),
    }
    result = run_on(database, problem, 3, attacks=["consistency"])
    assert all(attack.revealed is None for attack in result.attacks)
    assert not any(f'"{value}"' in json.dumps(result.to_dict()) for value in "pqwuv")
    shown = run_on(database, problem, 3, attacks=["consistency"], reveal=9)
    first, _, matched = shown.attacks
    assert first.revealed
    assert matched.revealed is None
    assert any("without values" in note for note in matched.notes)


# --- On other engines ---------------------------------------------------------------------------------------


@pytest.fixture(
    scope="module",
    params=["postgres", "sqlite", *(pytest.param(name, marks=pytest.mark.slow) for name in ("mariadb", "clickhouse"))],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


@pytest.mark.sampled(2)
@pytest.mark.slow
def test_the_same_on_other_engines(subject: Subject) -> None:
    """Texts that collations merge, NULLs, masked rows and cells of different levels: what the oracle says."""
    engine = subject.connect()
    tables: dict[str, Hierarchy] = {
        "zip": {code: (code, f"{code[0]}*", "*") for code in ("aa", "ab", "Aa", "áa")},
        "age": {n: (str(n), "[0, 2)" if n < 2 else "[2, 4)", "*") for n in range(4)},
    }
    draw = random.Random(11)
    for _ in range(2):
        source = [{"zip": draw.choice([*tables["zip"], None]), "age": draw.randint(0, 3)} for _ in range(7)]
        release = []
        for record in source:
            levels = draw.choice([(0, 1), (1, 1), (2, 2), (1, 2)])
            (labels,) = generalize([record], tables, levels)
            release.append(dict(zip(tables, labels or (), strict=True)))
        subject.table("source", {"zip": "text", "age": "integer"}, [tuple(row.values()) for row in source])
        subject.table("released", {"zip": "text", "age": "text"}, [tuple(row.values()) for row in release])
        spec = Spec.from_dict(
            {
                "version": 1, "source": "source", "release": "released", "privacy": [{"k_anonymity": 3}],
                "quasi_identifiers": {"zip": {"prefix": [1]}, "age": {"intervals": [2]}},
            }
        )  # fmt: skip
        result = audit(engine, spec, attacks=["consistency"])
        agrees(result, consistent(edges_of(source, release, tables), len(source)), 3)
        assert kanon_sql.check(engine, spec).verdict == "fail"
    engine.close()


@pytest.mark.slow
def test_no_step_has_more_rows_than_the_source(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A label has 50 values in each of three columns: what joins labels first makes 50 rows of one, in each of them.

    Every record has one label per column, so that a step has a row per record at most. Where an audit may make no
    temporary tables, nothing says how many values a label of the inline ones has.
    """
    columns, rows = ["a", "b", "c"], 1_000
    values = ", ".join(f"CAST(n * {7**place} // 3 % 250 AS INTEGER) AS {name}" for place, name in enumerate(columns))
    labels = ", ".join(f"'[' || {n} - {n} % 50 || ', ' || {n} - {n} % 50 + 50 || ')' AS {n}" for n in columns)
    database.connection.execute(f"CREATE TABLE source AS SELECT {values} FROM range({rows}) AS numbers(n)")
    database.connection.execute(f"CREATE TABLE release AS SELECT {labels} FROM source")
    spec = Spec.from_dict(
        {
            "version": 1, "source": "source", "release": "release", "privacy": [{"k_anonymity": 2}],
            "quasi_identifiers": {name: {"intervals": [50]} for name in columns},
        }
    )  # fmt: skip
    engine = kanon_sql.connect(database.connection, scratch="inline")
    asked, fetch = list[str](), engine.fetch

    def listed(statement: Statement, limit: int) -> list[Row]:
        asked.append(statement.sql)
        return fetch(statement, limit)

    monkeypatch.setattr(engine, "fetch", listed)
    found = audit(engine, spec, attacks=["consistency"])
    assert [attack.examined for attack in found.attacks] == [rows] * 3
    assert max(map(partial(rows_of_steps, database), asked)) == rows


def rows_of_steps(database: Database, sql: str) -> int:
    """The most rows that a step of a statement hands on, as the database counts them."""
    ((_, profile),) = database.connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").fetchall()
    return max(map(int, re.findall(r'"(?:intermediate_rows|operator_cardinality)": *(\d+)', profile)), default=0)
