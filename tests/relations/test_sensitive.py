"""Sensitive values in several tables: no one of them is too frequent among persons who share what may be known."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.engines import Engine
from kanon_sql.errors import SpecError
from kanon_sql.testing import Subject
from tests.oracles.relations import World, fewest_sharing, fewest_values, largest_share, random_world
from tests.servers import subject_of
from tests.support.relations import ENGINES, place


def make(subject: Subject, world: World, seed: int) -> None:
    """The tables of a world, each row with a sensitive value, or with NULL."""
    draw = random.Random(seed)
    for table in world.tables.values():
        keys = {"id": "integer"} if table.above is None else {"id": "integer", "above": "integer"}
        rows = [(row[0], *row[2:]) if table.above is None else row for row in table.rows]
        subject.drop(f"t_{table.name}")
        columns = {**keys, **dict.fromkeys(table.columns, "text"), "secret": "text"}
        subject.table(f"t_{table.name}", columns, [(*row, draw.choice(["a", "a", "b", "c", None])) for row in rows])


def spec_of(world: World, recoding: str, privacy: list[dict[str, Any]], **more: Any) -> RelationalSpec:
    def columns(name: str) -> dict[str, Any]:
        return {column: {"prefix": [1]} for column in world.tables[name].columns}

    tables = {
        table.name: {
            "table": f"t_{table.name}",
            "key": "id",
            **({"person": "above"} if table.above == "person" else {"parent": table.above, "by": "above"}),
            "quasi_identifiers": columns(table.name),
            "sensitive": ["secret"],
        }
        for table in list(world.tables.values())[1:]
    }
    person = {"table": "t_person", "name": "person", "key": "id", "quasi_identifiers": columns("person")}
    return RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {**person, "sensitive": ["secret"]},
            "tables": tables,
            "privacy": privacy,
            "recoding": recoding,
            **more,
        }
    )


def asked_of(seed: int, recoding: str) -> tuple[int, float, list[dict[str, Any]]]:
    m, h = (seed % 3 if recoding == "full_domain" else seed % 2), (0.5, 0.6, 0.75)[seed % 3]
    more = [{"l_diversity": {"attribute": "secret", "l": 2}}] if seed % 2 else []
    more += [{"t_closeness": {"attribute": "secret", "t": 0.6}}] if seed % 5 == 0 else []
    return m, h, [{"km_anonymity": {"k": 2, "m": m}}, {"coherence": {"h": h}}, *more]


def assert_coherent(subject: Subject, engine: Engine, seed: int, recoding: str) -> bool:
    """What is released satisfies, joined by its own keys; whether anything is."""
    world = random_world(seed)
    if not world.columns:
        return False
    make(subject, world, seed)
    m, h, privacy = asked_of(seed, recoding)
    limits = {"max_persons": 0.6, **({"max_rows": 1.0} if recoding == "local" else {})}
    spec = spec_of(world, recoding, privacy, suppression=limits, release=place(subject))
    result = kanon_sql.anonymize(engine, spec)
    if not result.passed:
        return False

    def rows(name: str) -> list[Any]:
        keys = ["id"] if name == "person" else ["id", "above"]
        return subject.fetch(f"SELECT {', '.join([*keys, *world.tables[name].columns, 'secret'])} FROM {schema}{name}")

    assert spec.release is not None
    schema = "".join(f"{part}." for part in spec.release.schema_)
    persons = rows("person")
    others = {name: (str(table.above), rows(name)) for name, table in world.tables.items() if table.above is not None}
    assert len(persons) == result.persons - result.left_out
    share = largest_share(persons, others, m)
    assert share <= Fraction(str(h)), seed
    assert result.requirements[1]["reached"]["h"] == pytest.approx(float(share)), seed
    if seed % 2:
        assert fewest_values(persons) == result.requirements[2]["reached"]["l"] >= 2, seed
    bare = {name: (above, [row[:-1] for row in found]) for name, (above, found) in others.items()}
    assert fewest_sharing([row[:-1] for row in persons], bare, m) == result.requirements[0]["fewest"], seed
    assert kanon_sql.check(engine, spec).passed, seed
    return True


QUICK = {"full_domain": [0, 3, 9], "local": [1, 3, 6, 8, 9, 10]}
"""Worlds in which the search for levels need not ask about all of them."""


@pytest.mark.parametrize("recoding", ["full_domain", "local"])
def test_released_tables_are_coherent(subject: Subject, recoding: str) -> None:
    engine = subject.connect()
    subject.execute("CREATE SCHEMA released")
    assert sum(assert_coherent(subject, engine, seed, recoding) for seed in QUICK[recoding]) > 2
    engine.close()


@pytest.mark.parametrize(
    ("recoding", "start"),
    [
        pytest.param("local", 100, marks=pytest.mark.slow),
        *(pytest.param("local", start, marks=pytest.mark.campaign) for start in range(110, 140, 10)),
        *(pytest.param(recoding, 200, marks=pytest.mark.campaign) for recoding in ("full_domain", "local")),
    ],
)
def test_many_worlds_are_coherent(subject: Subject, recoding: str, start: int) -> None:
    engine = subject.connect()
    subject.execute("CREATE SCHEMA released")
    assert (
        sum(
            assert_coherent(subject, engine, seed, recoding)
            for seed in range(start, start + (40 if start == 200 else 10))
        )
        > 1
    )
    engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_leaves_out_the_same(name: str) -> None:
    with subject_of(name) as subject, subject_of("duckdb") as other:
        engine, reference, passed = subject.connect(), other.connect(), 0
        for seed in QUICK["full_domain"][: 1 if name == "spark" else 3]:
            world = random_world(seed)
            if not world.columns:
                continue
            make(subject, world, seed)
            make(other, world, seed)
            for recoding in ("full_domain", "local"):
                limits = {"max_persons": 0.6, **({"max_rows": 1.0} if recoding == "local" else {})}
                spec = spec_of(world, recoding, asked_of(seed, recoding)[2], suppression=limits)
                here, there = kanon_sql.plan(engine, spec), kanon_sql.plan(reference, spec)
                assert (here.verdict, here.left_out, here.node, here.tables) == (
                    there.verdict,
                    there.left_out,
                    there.node,
                    there.tables,
                ), (seed, recoding)
                passed += here.passed
        assert passed
        engine.close()
        reference.close()


# --- Known answers -------------------------------------------------------------------------


def clinic(values: str, schema: str = "main") -> duckdb.DuckDBPyConnection:
    """Five persons of one class; four of them went to ward x, three of these with the diagnosis a."""
    connection = duckdb.connect()
    if schema != "main":
        connection.execute(f"CREATE SCHEMA {schema}")
    connection.execute(f"CREATE TABLE {schema}.people AS SELECT * FROM (VALUES (1), (2), (3), (4), (5)) AS t(id)")
    rows = ", ".join(f"({n}, '{'xxxxy'[n - 1]}', '{value}')" for n, value in enumerate(values, 1))
    connection.execute(f"CREATE TABLE {schema}.stays AS SELECT * FROM (VALUES {rows}) AS t(who, ward, diagnosis)")
    return connection


def clinic_spec(h: float, m: int = 1, **more: Any) -> RelationalSpec:
    return RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "people", "key": "id"},
            "tables": {
                "stays": {
                    "person": "who",
                    "quasi_identifiers": {"ward": {"maximum_level": 0}},
                    "sensitive": ["diagnosis"],
                }
            },
            "privacy": [{"km_anonymity": {"k": 1, "m": m}}, {"coherence": {"h": h}}],
            **more,
        }
    )


@pytest.mark.parametrize(("h", "m", "times"), [(0.75, 0, 0), (0.6, 0, 0), (0.59, 0, 1), (0.75, 1, 1), (0.74, 1, 2)])
def test_shares_are_counted_among_those_who_share(h: float, m: int, times: int) -> None:
    """Diagnosis a is that of 3 in 5 persons, and of 3 in 4 in ward x; the one person in ward y has a value for sure."""
    connection = clinic("aaabc", "r")
    found = kanon_sql.check(kanon_sql.connect(connection), clinic_spec(h, m, release={"schema": "r"}))
    assert found.requirements[1]["rare"] == times
    assert found.passed == (times == 0)
    assert found.requirements[1]["reached"] == {"h": 1.0 if m else 0.6}


def test_as_few_persons_as_have_to_go_are_left_out() -> None:
    """Of 9 persons with a and 1 with b, in one class: (9 - 5) / (10 - 5) is 0.8."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE people AS SELECT i AS id, 'F' AS sex, IF(i < 9, 'a', 'b') AS illness FROM range(10) AS t(i)"
    )
    written = {
        "version": 1,
        "person": {"table": "people", "key": "id", "quasi_identifiers": {"sex": {}}, "sensitive": ["illness"]},
        "privacy": [{"km_anonymity": {"k": 2, "m": 0}}, {"coherence": {"h": 0.8}}],
        "suppression": {"max_persons": 0.5},
    }
    for recoding in ("local", "full_domain"):
        found = kanon_sql.plan(
            kanon_sql.connect(connection), RelationalSpec.from_dict({**written, "recoding": recoding})
        )
        assert (found.passed, found.left_out) == (True, 5)
        assert any("not proven" in note for note in found.notes) == (recoding == "full_domain")


def test_rows_climb_until_their_persons_are_mixed() -> None:
    """All in ward x1 have a, all in x2 have b; both are in ward x."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS SELECT i AS id FROM range(8) AS t(i)")
    connection.execute(
        "CREATE TABLE stays AS SELECT i AS who, IF(i < 4, 'x1', 'x2') AS ward, IF(i < 4, 'a', 'b') AS diagnosis "
        "FROM range(8) AS t(i)"
    )
    written = clinic_spec(0.5).to_dict()
    written["tables"]["stays"]["quasi_identifiers"] = {"ward": {"prefix": [1]}}
    for recoding in ("local", "full_domain"):
        found = kanon_sql.plan(
            kanon_sql.connect(connection), RelationalSpec.from_dict({**written, "recoding": recoding})
        )
        assert found.passed
        assert found.tables["stays"]["columns"]["ward"]["levels"] == {"1": 8}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"privacy": [{"coherence": {"h": 0.5}}]}, "missing 'km_anonymity'"),
        ({"person": {"table": "people", "key": "id", "sensitive": ["id"]}}, "the column is also part of a key"),
        ({"tables": {}}, "there is no sensitive column"),
        ({"privacy": [{"km_anonymity": {"k": 2}}]}, "no requirement protects this column"),
        ({"privacy": [{"km_anonymity": {"k": 2}}, {"l_diversity": {"attribute": "diagnosis", "l": 2}}]},
         "is not sensitive in the table of persons"),
        ({"privacy": [{"km_anonymity": {"k": 2, "m": "all"}}, {"coherence": {"h": 0.5}}]}, "missing 'm'"),
        ({"privacy": [{"km_anonymity": {"k": 2}}, {"coherence": {"h": 0}}]}, "above 0"),
        ({"privacy": [{"km_anonymity": {"k": 2}}, {"coherence": {"h": 0.5, "m": 2}}], "recoding": "local"},
         "use full_domain"),
        ({"privacy": [{"t_closeness": {"attribute": "d", "t": 0.2, "distance": "ordered"}}]},
         "not supported for several tables; expected equal"),
        ({"privacy": [{"alpha_k_anonymity": {"attribute": "d", "alpha": 0.2, "k": 2}}]},
         "unknown requirement"),
    ],
)  # fmt: skip
def test_specs_that_cannot_be(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as error:
        RelationalSpec.from_dict({**clinic_spec(0.5).to_dict(), **changed})
    assert message in str(error.value)


def test_a_spec_reads_back() -> None:
    spec = spec_of(random_world(3), "local", asked_of(5, "local")[2], release={"schema": "out"})
    assert RelationalSpec.from_dict(spec.to_dict()) == spec
    assert RelationalSpec.parse(spec.to_yaml()) == spec


def test_check_refuses_to_compare_classes_with_values_of_another_kind() -> None:
    """The texts '1' and '01' are both the number 1 of the source, and two values for who reads them."""
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA released")
    connection.execute("CREATE TABLE people AS SELECT i AS pid, 1 AS ill FROM range(4) AS t(i)")
    values = "SELECT pid, 'x' AS age, ['1', '01'][1 + pid % 2] AS ill FROM people"
    connection.execute(f"CREATE TABLE released.people AS {values}")
    spec = RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "people", "key": "pid", "quasi_identifiers": {"age": {}}, "sensitive": ["ill"]},
            "privacy": [
                {"km_anonymity": {"k": 2, "m": 0}},
                {"t_closeness": {"attribute": "ill", "t": 0.1, "distance": "equal"}},
            ],
            "release": {"schema": "released"},
        }
    )
    with pytest.raises(SpecError, match="'ill' is VARCHAR in the table and INTEGER in the source"):
        kanon_sql.check(kanon_sql.connect(connection), spec)


@pytest.mark.parametrize("name", ["duckdb", pytest.param("sqlite", marks=pytest.mark.slow)])
def test_no_persons_and_no_quasi_identifiers_of_theirs(name: str) -> None:
    """Without a column to group by there is one class of no rows, whose size has no number."""
    with subject_of(name) as subject:
        subject.table("people", {"id": "integer", "s": "text"}, [])
        subject.table("visits", {"id": "integer", "ward": "text"}, [])
        spec = RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {"table": "people", "key": "id", "sensitive": ["s"]},
                "tables": {"visits": {"person": "id", "quasi_identifiers": {"ward": {}}}},
                "privacy": [{"km_anonymity": {"k": 2}}, {"l_diversity": {"l": 2, "attribute": "s"}}],
                "release": {"schema": "main"},
            }
        )
        found = kanon_sql.check(subject.connect(), spec)
        assert not found.passed
        assert found.message == "there are no persons, so that nothing is protected"
