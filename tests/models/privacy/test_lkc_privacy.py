"""LKC-privacy: every set of L quasi-identifiers, against tables counted by hand and brute force over all sets."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Deadline, Engine
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.evaluate import NothingToSearch
from kanon_sql.evaluate.search import searched
from kanon_sql.verbs.sqlmesh import audits
from tests.conftest import Database
from tests.oracles.lkc import exposed, reached, satisfies
from tests.servers import subject_of

COLUMNS = ("job", "sex", "age")
TYPES = {"job": "text", "sex": "text", "age": "integer", "s": "text"}

ROWS = [
    ("cook", "m", 30, "flu"),
    ("cook", "m", 40, "cold"),
    ("cook", "f", 30, "flu"),
    ("cook", "f", 40, "ache"),
    ("nurse", "m", 30, "cold"),
    ("nurse", "m", 40, "flu"),
    ("nurse", "f", 30, "ache"),
    ("nurse", "f", 40, "cold"),
]
"""Each of two jobs, sexes and ages once with each other: every combination of L columns has 8 / 2^L rows.

Each value of one column has 4 rows, in which one illness stands twice: cooks have flu, flu, cold and ache, women flu,
ache, ache and cold. Of two columns, the two cooks of 30 both have flu, and no other two have one illness. Of three
columns each row is alone.
"""


def spec_of(*asked: dict[str, Any], columns: Any = None, **more: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": columns or {"job": {}, "sex": {}, "age": {}},
            "sensitive": ["s"],
            "privacy": [{"lkc_privacy": item} for item in asked],
            **more,
        }
    )


def lkc(l: int, k: int, c: float, **more: Any) -> dict[str, Any]:  # noqa: E741
    return {"attribute": "s", "l": l, "k": k, "c": c, **more}


def listed(rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [dict(zip(TYPES, row, strict=True)) for row in rows]


def told(result: kanon_sql.results.Check, l: int) -> tuple[Any, ...]:  # noqa: E741
    found = result.achieved[f"lkc_privacy(s)[l={l}]"]
    return found["k"], found["c"], found["violating_classes"], found["violating_rows"]


@pytest.mark.slow
def test_a_table_counted_by_hand(database: Database) -> None:
    """A share of 1/2 in every value of one column; of two columns a share of 1 for the two cooks of 30 alone."""
    database.table("people", TYPES, ROWS)

    def check(*asked: dict[str, Any]) -> kanon_sql.results.Check:
        return kanon_sql.check(database.engine, spec_of(*asked), "people")

    assert told(check(lkc(1, 4, 0.5)), 1) == (4, 0.5, 0, 0)
    assert told(check(lkc(1, 4, 0.49)), 1)[2:] == (8, 8)
    assert told(check(lkc(2, 2, 0.5)), 2) == (2, 1.0, 2, 2)
    assert told(check(lkc(2, 3, 1)), 2) == (2, 1.0, 8, 8)
    assert told(check(lkc(2, 2, 0.5, values=["cold", "ache"])), 2) == (2, 0.5, 0, 0)
    assert told(check(lkc(3, 1, 1)), 3) == told(check(lkc(9, 1, 1)), 9) == (1, 1.0, 0, 0)
    both = check(lkc(1, 4, 0.5), lkc(2, 2, 0.5))
    assert (told(both, 1), told(both, 2)) == ((4, 0.5, 0, 0), (2, 1.0, 2, 2))
    assert "2 of 8 classes (2 rows) violate LKC-privacy of s with L = 2, K = 2 and C = 0.5" in both.message


def test_an_attacker_who_knows_two_of_three_is_no_case_of_k_anonymity(database: Database) -> None:
    """No class of all three has two rows, yet two columns are those of two rows each."""
    database.table("people", TYPES, ROWS)
    assert kanon_sql.check(database.engine, spec_of(lkc(2, 2, 1)), "people").passed
    of_all = spec_of(privacy=[{"alpha_k_anonymity": {"attribute": "s", "alpha": 0.5, "k": 2}}])
    assert not kanon_sql.check(database.engine, of_all, "people").passed


def test_a_sensitive_null_is_no_value_and_another_null_is_one(database: Database) -> None:
    """Of 8 men, and of the 4 without a job, 3 have an illness, 2 of these flu. Cooks have none."""
    rows = [(None, "m", 1, value) for value in ("flu", "flu", "cold", None)] + [("cook", "m", 1, None)] * 4
    database.table("people", TYPES, rows)
    found = told(kanon_sql.check(database.engine, spec_of(lkc(1, 4, 0.6)), "people"), 1)
    assert found == (4, pytest.approx(2 / 3), 2, 8)
    assert kanon_sql.check(database.engine, spec_of(lkc(1, 4, 0.67)), "people").passed


# --- random tables ----------------------------------------------------------------------------


def random_table(rng: random.Random) -> list[tuple[Any, ...]]:
    """A few rows of few values, so that combinations of every size occur."""
    jobs, ages, values = (rng.randint(1, 3) for _ in range(3))
    common = ["cook", "nurse", None][:jobs], ["m", "f"], list(range(ages + 1)), ["a", "b", "c", None][: values + 1]
    return [tuple(rng.choice(column) for column in common) for _ in range(rng.choice([1, 4, 8, 20, 40]))]


def random_requirement(rng: random.Random, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    there = sorted({row[3] for row in rows} - {None})
    values = {"values": rng.sample(there, rng.randint(1, len(there)))} if there and rng.random() < 0.4 else {}
    return lkc(rng.randint(1, 4), rng.randint(1, 4), rng.choice([0.25, 1 / 3, 0.5, 0.6, 2 / 3, 0.75, 1]), **values)


def assert_checked(engine: Engine, rows: list[tuple[Any, ...]], asked: dict[str, Any]) -> None:
    table = listed(rows)
    result = kanon_sql.check(engine, spec_of(asked), "people")
    assert result.passed == satisfies(table, COLUMNS, asked), asked
    violating = exposed(table, COLUMNS, asked)
    k, c = reached(table, COLUMNS, "s", asked["l"], asked.get("values"))
    classes = {tuple(table[number][name] for name in COLUMNS) for number in violating}
    assert told(result, asked["l"]) == (k, pytest.approx(float(c)), len(classes), len(violating)), asked


def assert_searched(engine: Engine, rows: list[tuple[Any, ...]], asked: dict[str, Any]) -> None:
    """Every node is judged as its labels are, and every search finds one that satisfies if there is any."""
    columns = {"job": {}, "sex": {}, "age": {"intervals": [2]}}
    spec = spec_of(asked, columns=columns)
    table, expected = listed(rows), {}
    for node in product(range(2), range(2), range(3)):
        labels = [
            {
                "job": "*" if node[0] else row["job"],
                "sex": "*" if node[1] else row["sex"],
                "age": (row["age"], row["age"] // 2, "*")[node[2]],
                "s": row["s"],
            }
            for row in table
        ]
        expected[node] = satisfies(labels, COLUMNS, asked)
    with engine.run(Deadline(None)), searched(engine, spec) as found:
        assert not isinstance(found, NothingToSearch)
        verdicts = found.evaluator.verdicts(list(expected), None)
        assert {item.node: item.suppressed == 0 for item in verdicts} == expected, asked
        (alone,) = found.evaluator.verdicts([(1, 0, 1)], None)
        assert (alone.suppressed == 0) == expected[1, 0, 1]
    for algorithm in ("incognito", "samarati", "optimal"):
        planned = kanon_sql.plan(engine, spec_of(asked, columns=columns, search={"algorithm": algorithm}))
        assert planned.passed == any(expected.values()), (algorithm, asked)
        assert planned.node is None or expected[tuple(planned.node.values())], (algorithm, asked)


def assert_random(engine_of: Any, table: Any, seed: int, tables: int, searches: int) -> None:
    rng = random.Random(seed)
    for number in range(tables):
        rows = random_table(rng)
        table(rows)
        engine = engine_of()
        for _ in range(2):
            asked = random_requirement(rng, rows)
            assert_checked(engine, rows, asked)
        if number < searches:
            assert_searched(engine, rows, asked)


def test_random_tables(database: Database) -> None:
    assert_random(lambda: database.engine, lambda rows: database.table("people", TYPES, rows), 1, 8, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["postgres", "sqlite", "mariadb", "clickhouse", pytest.param("spark", marks=pytest.mark.campaign)]
)
def test_random_tables_elsewhere(name: str) -> None:
    few = name == "spark"
    with subject_of(name) as subject:
        engine = subject.connect()

        def table(rows: list[tuple[Any, ...]]) -> None:
            subject.drop("people")
            subject.table("people", TYPES, rows)

        subject.table("people", TYPES, ROWS)
        assert_random(lambda: engine, table, 2, 1 if few else 3, 0 if name in ("spark", "clickhouse") else 1)
        engine.close()


# --- releases ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["duckdb", pytest.param("sqlite", marks=pytest.mark.slow)])
def test_a_release_has_it(name: str) -> None:
    """The release hides jobs or ages, since cooks of 30 have flu."""
    with subject_of(name) as subject:
        subject.table("people", TYPES, ROWS)
        engine, asked = subject.connect(), lkc(2, 2, 0.5)
        result = kanon_sql.anonymize(engine, spec_of(asked))
        released = listed(subject.fetch("SELECT job, sex, age, s FROM people_release"))
        assert len(released) == 8
        assert satisfies(released, COLUMNS, asked)
        assert not satisfies(listed(ROWS), COLUMNS, asked)
        assert kanon_sql.check(engine, spec_of(asked)).achieved == result.achieved
        engine.close()


@pytest.mark.parametrize(
    ("asked", "more", "reason"),
    [
        (lkc(2, 2, 0.5), {"suppression": {"max_rows": 3}}, "make the classes of another smaller"),
        (lkc(2, 2, 0.5), {"recoding": "local"}, "judges each class by itself"),
        (lkc(2, 2, 0.5), {"recoding": "mondrian"}, "judges each class by itself"),
        (lkc(2, 2, 0.5), {"search": {"algorithm": "k_optimize"}}, "k_optimize cannot search"),
    ],
)
def test_what_would_break_it_is_refused(
    database: Database, asked: dict[str, Any], more: dict[str, Any], reason: str
) -> None:
    database.table("people", TYPES, ROWS)
    columns = {"age": {}} if "search" in more else None
    with pytest.raises(UnsupportedError, match=reason):
        kanon_sql.plan(database.engine, spec_of(asked, columns=columns, **more))


@pytest.mark.parametrize(
    ("asked", "more", "reason"),
    [
        (lkc(0, 2, 0.5), {}, "l"),
        (lkc(2, 2, 1.5), {}, "expected c, a share above 0 and at most 1"),
        (lkc(2, 2, 0.5), {"unit": "sex", "columns": {"job": {}, "age": {}}}, "lkc_privacy is defined for rows"),
        (lkc(3, 2, 0.5), {"columns": {f"c{n}": {} for n in range(10)}}, "120 sets of 3, more than the limit of 60"),
        (lkc(2, 2, 0.5), {"ledger": "releases"}, "use alpha_k_anonymity, which implies it"),
    ],
)
def test_what_no_spec_may_ask(asked: dict[str, Any], more: dict[str, Any], reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        spec_of(asked, **more)


def test_a_value_to_protect_that_occurs_nowhere_is_refused(database: Database) -> None:
    database.table("people", TYPES, ROWS)
    with pytest.raises(SpecError, match="1 of the values to protect of 's' do not occur"):
        kanon_sql.check(database.engine, spec_of(lkc(2, 2, 0.5, values=["flue"])), "people")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["postgres", "sqlite", "mariadb"])
def test_as_many_sets_as_a_spec_may_have(name: str) -> None:
    """11 columns have 55 pairs; two rows of each of 0 and 1 in every column give each pair that occurs two rows."""
    columns = [f"c{number}" for number in range(11)]
    with subject_of(name) as subject:
        rows = [[*([bit] * 11), value] for bit in range(2) for value in ("a", "b")]
        subject.table("people", {**dict.fromkeys(columns, "integer"), "s": "text"}, rows)
        engine = subject.connect()
        for k, passed in ((2, True), (3, False)):
            spec = spec_of(lkc(2, k, 0.5), columns={column: {"maximum_level": 0} for column in columns})
            assert kanon_sql.check(engine, spec, "people").passed is passed
            assert kanon_sql.plan(engine, spec).passed is passed
        engine.close()


def test_audits_of_sqlmesh_count_what_check_counts(database: Database) -> None:
    database.table("people", TYPES, ROWS)
    for asked, violating in ((lkc(2, 2, 0.5), 2), (lkc(1, 4, 0.5), 0)):
        _, query = audits(database.engine, spec_of(asked), "people").split(";\n", 1)
        found = database.connection.execute(query.replace("@this_model", "people")).fetchall()
        assert len(found) == violating


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "mariadb", "sqlite", "snowflake", "bigquery"])
def test_a_script_judges_it(dialect: str) -> None:
    """A share of every pair of the three columns, in the question about the node."""
    script = kanon_sql.render(spec_of(lkc(2, 2, 0.5)), dialect, {"job": 1})
    (asked,) = [item.sql for item in script.statements if item.name == "evaluate/node"]
    assert all(asked.count(f"m0_share{number}") > 1 for number in range(3))
    assert "m0_share3" not in asked
