"""Other sensitive attributes that the attacker knows, in searches and recodings: against brute force over all nodes."""

from __future__ import annotations

import random
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Deadline, Engine
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.evaluate import NothingToSearch
from kanon_sql.evaluate.search import searched
from tests.conftest import Database
from tests.oracles.lattice import Oracle
from tests.servers import subject_of
from tests.support.suppressions import suppressing

TYPES = {"job": "text", "age": "integer", "s": "text", "v": "text", "w": "integer", "u": "integer"}
SENSITIVE = ["s", "v", "w"]
COLUMNS: dict[str, Any] = {"job": {"tree": {"any": {"x": ["a", "b"], "y": ["c"]}}}, "age": {"intervals": [2]}}
JOBS = {"a": ("a", "x", "*"), "b": ("b", "x", "*"), "c": ("c", "y", "*")}
HIERARCHIES = {"job": JOBS, "age": {str(age): (str(age), f"[{age // 2 * 2}", "*") for age in range(4)}}

ASKED = [
    {"l_diversity": {"attribute": "s", "l": 2, "variant": "distinct"}},
    {"l_diversity": {"attribute": "s", "l": 1.5, "variant": "entropy"}},
    {"l_diversity": {"attribute": "s", "l": 2, "variant": "recursive", "c": 2}},
    {"t_closeness": {"attribute": "s", "t": 0.5}},
    {"t_closeness": {"attribute": "w", "t": 0.4, "distance": "ordered"}},
    {"l_diversity": {"attribute": "s", "l": 2, "variant": "npd_recursive", "c": 2, "allow_positive": ["p"]}},
]


def knowing(item: dict[str, Any]) -> dict[str, Any]:
    ((name, body),) = item.items()
    return {name: {**body, "others_as_quasi_identifiers": True}}


def spec_of(privacy: list[dict[str, Any]], **more: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": COLUMNS,
            "sensitive": SENSITIVE,
            "privacy": privacy,
            "warnings": {"kept_reveals_quasi_identifier": "warn"},
            **more,
        }
    )


def random_rows(rng: random.Random) -> list[tuple[Any, ...]]:
    """Few values of what is known, so that parts have several rows; NULLs among them. A person has up to two rows."""
    few = rng.choice([["k"], ["k", "m"], ["k", None]])
    count = rng.choice([6, 12, 24])
    return [
        (rng.choice("abc"), rng.randrange(4), rng.choice(["p", "q", "r", None]), rng.choice(few), rng.choice([1, 2, 2]),
         rng.randrange(count))
        for _ in range(count)
    ]  # fmt: skip


def oracle_of(rows: list[tuple[Any, ...]], privacy: list[dict[str, Any]], limit: int, unit: str | None) -> Oracle:
    own = [{**dict(zip(TYPES, row, strict=True)), "age": str(row[1])} for row in rows]
    return Oracle(own, HIERARCHIES, privacy, limit=limit, unit=unit, sensitive=SENSITIVE)


def assert_searched(engine: Engine, rows: list[tuple[Any, ...]], rng: random.Random, algorithms: list[str]) -> bool:
    """Every node is judged as its rows are, and every search finds what brute force over all nodes finds."""
    unit = "u" if rng.random() < 0.3 else None
    usable = [item for item in ASKED if unit is None or "npd_recursive" not in str(item)]
    privacy = [knowing(item) for item in rng.sample(usable, rng.choice([1, 2]))]
    if rng.random() < 0.4:
        privacy.append({"k_anonymity": {"k": 2}})
    limit = rng.choice([0, 0, 2, 4])
    given = {"unit": unit, "suppression": suppressing(limit)}
    oracle = oracle_of(rows, privacy, limit, unit)
    with engine.run(Deadline(None)), searched(engine, spec_of(privacy, **given)) as found:
        assert not isinstance(found, NothingToSearch)
        verdicts = found.evaluator.verdicts(oracle.all_nodes(), None)
        told = {item.node: (item.suppressed, item.satisfied) for item in verdicts}
        assert told == {node: (item.suppressed, item.satisfied) for node, item in oracle.results.items()}, privacy
        assert all(not oracle.results[item.node].satisfied for item in verdicts if item.prunable)
    best, nodes = oracle.best("loss")
    for algorithm in algorithms:
        planned = kanon_sql.plan(engine, spec_of(privacy, search={"algorithm": algorithm}, **given))
        assert planned.passed == (best is not None), (algorithm, privacy)
        if best is not None and algorithm != "samarati":
            assert planned.node is not None
            assert tuple(planned.node.values()) in nodes, (algorithm, privacy)
        elif best is not None:
            assert planned.node is not None
            assert tuple(planned.node.values()) in oracle.lowest_height_solutions(), privacy
    return best is not None


@pytest.mark.slow
def test_random_tables(database: Database) -> None:
    rng = random.Random(4)
    for _ in range(2):
        rows = random_rows(rng)
        database.table("people", TYPES, rows)
        assert_searched(database.engine, rows, rng, ["optimal"])


@pytest.mark.slow
def test_more_random_tables(database: Database) -> None:
    rng, satisfied = random.Random(5), 0
    for number in range(6):
        rows = random_rows(rng)
        database.table("people", TYPES, rows)
        algorithms = ["exhaustive", "incognito"] if number % 2 else ["optimal", "samarati"]
        satisfied += assert_searched(database.engine, rows, rng, algorithms)
    assert 0 < satisfied < 6


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["postgres", "sqlite", "mariadb", "clickhouse", pytest.param("spark", marks=pytest.mark.campaign)]
)
def test_random_tables_elsewhere(name: str) -> None:
    with subject_of(name) as subject:
        engine, rng = subject.connect(), random.Random(6)
        subject.table("people", TYPES, random_rows(random.Random(0)))
        for _ in range(1 if name == "spark" else 3):
            rows = random_rows(rng)
            subject.drop("people")
            subject.table("people", TYPES, rows)
            assert_searched(engine, rows, rng, [])
        engine.close()


def test_a_suppressed_part_that_a_coarser_class_would_release(database: Database) -> None:
    """At the values the one rich person is suppressed; one level up, that class has a part of one value.

    So distinct diversity is not monotone here while rows may be suppressed: the higher nodes, which violate, rule
    nothing out. Without the other attribute known they do not violate.
    """
    rows = [("a", 0, illness, "poor", 1, 0) for illness in ("flu", "cold")] * 2 + [("b", 0, "flu", "rich", 1, 0)]
    database.table("people", TYPES, rows)
    privacy = [knowing(ASKED[0])]
    wanted = oracle_of(rows, privacy, 1, None)
    assert {node for node in wanted.satisfying_nodes() if not node[1]} == {(0, 0)}
    for algorithm in ("optimal", "incognito", "samarati", "exhaustive"):
        found = kanon_sql.plan(
            database.engine, spec_of(privacy, suppression=suppressing(1), search={"algorithm": algorithm})
        )
        assert (found.passed, found.node) == (True, {"job": 0, "age": 0}), algorithm
    assert not kanon_sql.plan(database.engine, spec_of(privacy)).passed
    assert kanon_sql.plan(database.engine, spec_of([ASKED[0]])).passed


RECODINGS: list[Any] = ["local", {"method": "local", "variant": "best"}, "mondrian", "cells", "subtree", "full_domain"]


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("recoding", RECODINGS, ids=str)
def test_every_part_of_every_released_class_satisfies(database: Database, recoding: Any) -> None:
    rng = random.Random(7)
    rows = [
        (rng.choice("abc"), rng.randrange(4), rng.choice("pqr"), rng.choice("km"), rng.choice([1, 2]), number)
        for number in range(120)
    ]
    database.table("people", TYPES, rows)
    asked = [{"k_anonymity": 2}, knowing({"l_diversity": {"attribute": "s", "l": 2}}), knowing(ASKED[4])]
    result = kanon_sql.anonymize(database.engine, spec_of(asked, recoding=recoding, suppression=suppressing(6)))
    assert result.passed
    parts: dict[tuple[Any, ...], set[Any]] = {}
    classes = set()
    for job, age, s, v, w, *_ in database.rows("people_release"):
        parts.setdefault((job, age, v, w), set()).add(s)
        classes.add((job, age))
    assert len(classes) > 1
    assert min(map(len, parts.values())) >= 2
    alone = kanon_sql.anonymize(
        database.engine,
        spec_of([{"k_anonymity": 2}, {"l_diversity": {"attribute": "s", "l": 2}}], recoding=recoding),
    )
    assert alone.passed
    assert not kanon_sql.check(database.engine, spec_of(asked)).passed, "who knows the others would learn more"


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"search": {"algorithm": "k_optimize"}}, "not by other sensitive attributes"),
    ({"ledger": "published"}, "a ledger judges releases by the classes of all quasi-identifiers alone"),
    ({"state": "kept"}, "leave others_as_quasi_identifiers out"),
]


@pytest.mark.parametrize(("changes", "said"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_what_cannot_be_asked_for_together(database: Database, changes: dict[str, Any], said: str) -> None:
    database.table("people", TYPES, [("a", 0, "flu", "poor", 1, 0)])
    with pytest.raises((SpecError, UnsupportedError), match=said):
        kanon_sql.plan(database.engine, spec_of([knowing(ASKED[0])], **changes))
