"""k-anonymity of all combinations of m columns: a table counted by hand, and brute force over all choices of rows."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Deadline, Engine
from kanon_sql.errors import KanonError, SpecError, UnsupportedError
from kanon_sql.evaluate import NothingToSearch
from kanon_sql.evaluate.search import searched
from kanon_sql.verbs.sqlmesh import audits
from tests.conftest import Database
from tests.oracles.combinations import left, most_rows, rarest, satisfies
from tests.servers import subject_of

TYPES = {"province": "text", "activity": "text", "sex": "text", "income": "text"}

PEOPLE = list(zip("2332424223", "AAAABBBBAA", "FFFMFFFFMM", "hlllhmhlhm", strict=True))
"""Ten rows. Of pairs of values, 4 B, 4 F, 4 h, B F and others have three rows or more, but each row has a rarer pair.

The rarest pair of the rows 3 A F l (twice) and 4 B F h (twice), 2 A F h and 2 B F h has two rows, of all others one: so
with k = 3 no row is left. With k = 2 the others are dropped first, and then 2 A F h, which has no other 2 A left, and
2 B F h.
"""


def spec_of(k: int, m: int, columns: Any = None, **more: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": columns or {name: {} for name in TYPES},
            "privacy": [{"k_anonymity": {"k": k, "combinations": m}}],
            **more,
        }
    )


def figures(result: Any, m: int) -> tuple[Any, ...]:
    found = result.achieved[f"k_anonymity[combinations={m}]"]
    return found["k"], found["violating_classes"], found["violating_rows"]


@pytest.mark.parametrize(
    ("k", "m", "kept"), [(3, 2, set()), (2, 2, {1, 2, 4, 6}), (2, 1, set(range(10))), (3, 1, set())]
)
def test_ten_rows_counted_by_hand(database: Database, k: int, m: int, kept: set[int]) -> None:
    """What is dropped is the same by every way to count it, and what is left has frequent pairs alone."""
    database.table("people", TYPES, PEOPLE)
    assert most_rows(PEOPLE, k, m) == left(PEOPLE, k, m) == kept
    checked = figures(kanon_sql.check(database.engine, spec_of(k, m), "people"), m)
    rare = {PEOPLE[number] for number, count in enumerate(rarest(PEOPLE, m)) if count < k}
    assert checked == (min(rarest(PEOPLE, m)), len(rare), sum(row in rare for row in PEOPLE))
    as_it_is = {name: {"maximum_level": 0} for name in TYPES}
    spec = spec_of(k, m, as_it_is, suppression={"max_share": 1})
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.passed is bool(kept)
    if kept:
        released = database.rows("people_release")
        assert sorted(released) == sorted(PEOPLE[number] for number in kept)
        again = kanon_sql.check(database.engine, spec)
        assert figures(again, m) == (min(rarest(released, m)), 0, 0)
        for said in (result, again):
            assert any(f"no one knows more than {m} of the quasi-identifiers" in note for note in said.notes)
        assert result.achieved == again.achieved


# --- random tables ----------------------------------------------------------------------------

COLUMNS = {"job": "text", "sex": "text", "age": "integer", "town": "text"}
HIERARCHIES = {"job": {}, "sex": {}, "age": {"intervals": [2]}, "town": {}}


def random_table(rng: random.Random, most: int) -> list[tuple[Any, ...]]:
    """Rows of few values, so that combinations of every size occur."""
    jobs, ages, towns = (rng.randint(1, 3) for _ in range(3))
    values = ["cook", "nurse", None][:jobs], ["m", "f"], list(range(ages + 1)), ["x", "y", None][:towns]
    return [tuple(rng.choice(column) for column in values) for _ in range(rng.choice([1, 4, 8, most]))]


def at_node(rows: list[tuple[Any, ...]], node: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """The labels of rows at a node of the lattice."""
    return [
        (
            "*" if node[0] else job,
            "*" if node[1] else sex,
            (age, age // 2, "*")[node[2]],
            "*" if node[3] else town,
        )
        for job, sex, age, town in rows
    ]


def assert_checked(engine: Engine, rows: list[tuple[Any, ...]], k: int, m: int) -> None:
    found = rarest(rows, m)
    rare = [row for row, count in zip(rows, found, strict=True) if count < k]
    result = kanon_sql.check(engine, spec_of(k, m, HIERARCHIES), "people")
    assert result.passed == satisfies(rows, k, m) == (not rare)
    assert figures(result, m) == (min(found), len(set(rare)), len(rare)), (k, m)


def assert_searched(engine: Engine, rows: list[tuple[Any, ...]], k: int, m: int, share: float, nodes: int) -> None:
    """At every node what is suppressed is what the oracle drops."""
    spec = spec_of(k, m, HIERARCHIES, suppression={"max_share": share})
    expected = {
        node: len(rows) - len(left(at_node(rows, node), k, m))
        for node in list(product(range(2), range(2), range(3), range(2)))[:: 24 // nodes]
    }
    with engine.run(Deadline(None)), searched(engine, spec) as found:
        assert not isinstance(found, NothingToSearch)
        verdicts = found.evaluator.verdicts(list(expected), None)
        assert {item.node: item.suppressed for item in verdicts} == expected, (k, m, share)


def assert_random(engine: Engine, table: Any, rng: random.Random, *, searches: bool, nodes: int) -> None:
    k, m = rng.randint(2, 4), rng.randint(1, 4)
    rows = random_table(rng, 40)
    table(rows)
    assert_checked(engine, rows, k, m)
    if searches:
        assert_searched(engine, rows, k, m, rng.choice([0, 1, 1]), nodes)


@pytest.mark.parametrize("seed", range(4))
def test_rounds_drop_the_fewest_rows(seed: int) -> None:
    """The oracle for many rows agrees with the one that tries every choice."""
    rng = random.Random(seed)
    for _ in range(10):
        rows = [tuple(rng.randint(0, 1) for _ in range(4)) for _ in range(rng.randint(1, 9))]
        k, m = rng.randint(2, 3), rng.randint(1, 4)
        assert most_rows(rows, k, m) == left(rows, k, m)


@pytest.mark.parametrize("tables", [1, pytest.param(6, marks=pytest.mark.slow)])
def test_random_tables(database: Database, tables: int) -> None:
    rng = random.Random(1)
    for number in range(tables):
        nodes = 2 if tables == 1 else 6
        assert_random(
            database.engine, lambda rows: database.table("people", COLUMNS, rows), rng, searches=number < 3, nodes=nodes
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["postgres", "sqlite", "mariadb", "clickhouse", pytest.param("spark", marks=pytest.mark.campaign)]
)
def test_random_tables_elsewhere(name: str) -> None:
    rng, few = random.Random(2), name in ("spark", "clickhouse")
    with subject_of(name) as subject:
        engine = subject.connect()

        def table(rows: list[tuple[Any, ...]]) -> None:
            subject.drop("people")
            subject.table("people", COLUMNS, rows)

        subject.table("people", COLUMNS, [("a", "b", 1, "c")])
        for number in range(1 if few else 3):
            assert_random(engine, table, rng, searches=number < 2, nodes=3 if few else 6)
        engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["postgres", "sqlite", "mariadb", "clickhouse"])
def test_a_release_has_frequent_combinations_alone(name: str) -> None:
    rows = [row for row in PEOPLE for _ in range(2)] + [("9", "C", "F", "h")]
    with subject_of(name) as subject:
        subject.table("people", TYPES, rows)
        engine, spec = subject.connect(), spec_of(3, 2, suppression={"max_rows": 5})
        result = kanon_sql.anonymize(engine, spec)
        assert result.passed
        released = subject.fetch("SELECT province, activity, sex, income FROM people_release")
        assert satisfies(released, 3, 2)
        assert len(released) == result.rows["released"] >= len(rows) - 5
        assert kanon_sql.check(engine, spec).achieved == result.achieved
        engine.close()


# --- with others, and what is refused ------------------------------------------------------------


def test_other_requirements_drop_their_classes_first(database: Database) -> None:
    """One class has one illness. Without it, two values are rare, and the classes that have these go too."""
    types = {"x": "text", "y": "text", "s": "text"}
    classes = {("1", "a"): "vwvw", ("1", "b"): "vw", ("2", "b"): "vv", ("2", "a"): "vw"}
    rows = [(*values, illness) for values, illnesses in classes.items() for illness in illnesses]
    database.table("people", types, rows)
    spec = spec_of(
        3, 1, {"x": {"maximum_level": 0}, "y": {"maximum_level": 0}}, sensitive=["s"], suppression={"max_share": 1},
        privacy=[{"k_anonymity": {"k": 3, "combinations": 1}}, {"l_diversity": {"attribute": "s", "l": 2}}],
    )  # fmt: skip
    result = kanon_sql.anonymize(database.engine, spec)
    # (2, b) has one illness; then b has two rows and 2 has two: (1, b) and (2, a) go too.
    assert sorted(row[:2] for row in database.rows("people_release")) == [("1", "a")] * 4
    assert result.rows["suppressed"] == 6
    assert kanon_sql.check(database.engine, spec).passed


def test_audits_of_sqlmesh_count_what_check_counts(database: Database) -> None:
    database.table("people", TYPES, PEOPLE)
    for k, rare in ((3, 8), (2, 5)):
        _, query = audits(database.engine, spec_of(k, 2), "people").split(";\n", 1)
        found = database.connection.execute(query.replace("@this_model", "people")).fetchall()
        assert len(found) == rare


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"recoding": "local"}, "judges each class by itself"),
        ({"recoding": "mondrian"}, "judges each class by itself"),
        ({"search": {"algorithm": "k_optimize"}, "quasi_identifiers": {"age": {}}}, "k_optimize cannot search"),
        ({"suppression": {"max_rows": 2}, "privacy": "two"}, "rows suppressed for combinations change it"),
    ],
)
def test_what_cannot_be_judged_is_refused(database: Database, more: dict[str, Any], reason: str) -> None:
    database.table("people", {**TYPES, "age": "integer"}, [(*row, 1) for row in PEOPLE])
    if more.get("privacy") == "two":
        by_sex = {"k_anonymity": {"k": 4, "quasi_identifiers": ["sex"]}}
        more = {**more, "privacy": [{"k_anonymity": {"k": 3, "combinations": 2}}, by_sex]}
    with pytest.raises(UnsupportedError, match=reason):
        kanon_sql.plan(database.engine, spec_of(3, 2, **more))


@pytest.mark.parametrize(
    ("asked", "more", "reason"),
    [
        ({"k": 3, "combinations": 0}, {}, "expected combinations, a number of quasi-identifiers, a whole number"),
        ({"combinations": 2}, {}, "missing 'k'"),
        ({"k": 3, "combinations": 2, "quasi_identifiers": ["sex"]}, {}, "leave 'quasi_identifiers' out"),
        ({"column": "n", "default": 2, "combinations": 2}, {"sensitive": ["n"]}, "leave 'column' out"),
        ({"k": 3, "combinations": 2}, {"unit": "person"}, "combinations are counted in rows"),
        ({"k": 3, "combinations": 2}, {"count": "n", "keep": ["n"]}, "with 'count', combinations are counted in rows"),
        ({"k": 3, "combinations": 2}, {"ledger": "releases"}, "then it implies what this asks for"),
        (
            {"k": 3, "combinations": 2},
            {"search": {"algorithm": "samarati", "distance_vectors": True}},
            "leave distance_vectors out",
        ),
        ({"k": 3, "combinations": 3}, {"quasi_identifiers": {f"c{n}": {} for n in range(11)}}, "165 sets of 3"),
    ],
)
def test_what_no_spec_may_ask(asked: dict[str, Any], more: dict[str, Any], reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        spec_of(3, 2, **{"privacy": [{"k_anonymity": asked}], **more})


@pytest.mark.parametrize("most", [0, 5])
def test_a_script_has_no_rounds(most: int) -> None:
    with pytest.raises(KanonError, match="found in rounds"):
        kanon_sql.render(spec_of(3, 2, suppression={"max_rows": most}), "postgres", {"sex": 1})
