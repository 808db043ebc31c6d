"""What a search makes of k-map and delta-presence, alone and beside other requirements."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import duckdb
import pytest
from hypothesis import given

import kanon_sql
from kanon_sql.errors import UnsupportedError
from kanon_sql.spec import Spec
from tests.conftest import Database
from tests.oracles.model import generalize, height_of
from tests.oracles.population import clinic, move, persons_of, stored, to_release
from tests.support.strategies import examples
from tests.support.suppressions import suppressing


def suppressed_at(given: dict[str, Any], node: tuple[int, ...]) -> int:
    """Rows of classes that violate the requirement, at a node.

    With a lower bound, all rows where a person of the population is in no class that satisfies: nobody may be surely
    absent.
    """
    tables, unit = given["tables"], given["unit"]
    ours = generalize(given["rows"], tables, node)
    theirs = generalize(given["people"], tables, node)
    (name,) = given["requirement"]
    asked = given["requirement"][name]
    count = covered = 0
    for vector in set(ours):
        members = [row for row, own in zip(given["rows"], ours, strict=True) if own == vector]
        records = len(members) if unit is None else len({row[unit] for row in members})
        persons = persons_of(
            [person for person, own in zip(given["people"], theirs, strict=True) if own == vector], given["who"]
        )
        if name == "k_map":
            holds = persons >= asked["k"]
        else:
            low, high = (Fraction(str(asked.get(key, 0))) for key in ("delta_min", "delta_max"))
            holds = 0 < persons >= records and low <= Fraction(records, persons) <= high
        count += 0 if holds else len(members)
        covered += persons if holds else 0
    if asked.get("delta_min") and covered < persons_of(given["people"], given["who"]):
        return len(given["rows"])
    return count


@examples(6)
@given(to_release())
def test_every_search_finds_what_the_oracle_allows(shared_database: Database, given: dict[str, Any]) -> None:
    tables, rows = given["tables"], given["rows"]
    for name in ("released", "kanon_sql_manifest", "kanon_sql_scratch"):
        shared_database.connection.execute(f"DROP TABLE IF EXISTS {name}")
    shared_database.table("people", [*tables, "unit"], [[row[c] for c in (*tables, "unit")] for row in rows])
    names = [*tables, *([] if given["who"] is None else [given["who"]])]
    shared_database.table("census", names, [[row[c] for c in names] for row in given["people"]])
    requirement = given["requirement"]
    if given["who"] is not None and given["who"] != given["unit"]:
        requirement = {name: {**asked, "person": given["who"]} for name, asked in requirement.items()}
    spec = Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "unit": given["unit"],
            "quasi_identifiers": stored(shared_database, tables), "privacy": [requirement],
            "suppression": suppressing(given["limit"]), "search": {"algorithm": given["algorithm"], "metric": "height"},
        }
    )  # fmt: skip
    if "delta_presence" in requirement and move(given["people"], tables, given["who"]):
        with pytest.raises(UnsupportedError, match="have rows that differ in the quasi-identifiers"):
            kanon_sql.anonymize(shared_database.engine, spec)
        return
    nodes = list(product(*(range(height_of(table) + 1) for table in tables.values())))
    lost = {node: suppressed_at(given, node) for node in nodes}
    fine = [node for node, count in lost.items() if count <= given["limit"] and count < len(rows)]
    found = kanon_sql.anonymize(shared_database.engine, spec)
    assert found.passed == bool(fine)
    if not fine or found.node is None:
        return
    node = tuple(found.node.values())
    assert node in fine
    assert found.rows["suppressed"] == lost[node]
    assert sum(node) == min(map(sum, fine))
    checked = kanon_sql.check(shared_database.engine, spec, count_rows=given["unit"] is not None)
    (ours,), (theirs,) = found.achieved.values(), checked.achieved.values()
    if given["unit"] is None:
        assert checked.passed
        assert {**ours} == pytest.approx({**theirs}) if "delta_max" in ours else ours == theirs


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"suppression": {"max_rows": 1, "style": "mask"}}, "stands for every person"),
        (
            {
                "privacy": [{"delta_presence": {"population": "census", "delta_min": 0.1, "delta_max": 0.5}}],
                "recoding": "local",
                "quasi_identifiers": {"q": {"tree": {"*": ["a", "b", "c"]}}},
            },
            "counts the classes of the source alone",
        ),
        (
            {
                "privacy": [{"delta_presence": {"population": "census", "delta_min": 0.1, "delta_max": 0.5}}],
                "search": {"algorithm": "k_optimize"},
            },
            "k_optimize cannot search",
        ),
    ],
)
def test_what_no_search_can_keep_is_refused(database: Database, change: dict[str, Any], message: str) -> None:
    spec = {**clinic(database), "privacy": [{"k_map": {"population": "census", "k": 2}}], **change}
    database.connection.execute("DROP TABLE released")
    with pytest.raises(UnsupportedError, match=message):
        kanon_sql.anonymize(database.engine, Spec.from_dict(spec))


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("scratch", ["temp", "inline"])
def test_a_release_that_a_population_protects(database: Database, scratch: str) -> None:
    """Alone in the table, but one of three in the population: k-map releases what k-anonymity would not."""
    people = [("a", 21), ("a", 22), ("a", 23), ("b", 35), ("b", 36), ("b", 37), ("c", 50)]
    database.table("census", {"q": "VARCHAR", "age": "INTEGER"}, people)
    database.table("people", {"q": "VARCHAR", "age": "INTEGER"}, [people[0], people[3], people[6]])
    spec = Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "suppression": {"max_rows": 1},
            "quasi_identifiers": {"q": {"maximum_level": 0}, "age": {"intervals": [10]}},
            "privacy": [{"k_map": {"population": "census", "k": 3}}],
        }
    )  # fmt: skip
    engine = kanon_sql.connect(database.connection, scratch=scratch)
    found = kanon_sql.anonymize(engine, spec)
    assert sorted(database.rows("released")) == [("a", "[20, 30)"), ("b", "[30, 40)")]
    assert found.achieved['k_map("census")']["k"] == 3
    assert found.cost.source_scans == 1 or scratch == "inline"


@pytest.mark.slow
def test_persons_without_a_value_are_behind_the_top_where_null_suppresses(database: Database) -> None:
    """``nulls: suppress`` leaves out rows of the source, and nobody of the population: search and check agree."""
    database.table("census", {"q": "VARCHAR"}, [("a",), ("b",), (None,)])
    database.table("people", {"q": "VARCHAR"}, [("a",), ("b",), (None,)])
    spec = Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "nulls": "suppress",
            "suppression": {"max_rows": 1},
            "quasi_identifiers": {"q": {}}, "privacy": [{"k_map": {"population": "census", "k": 3}}],
        }
    )  # fmt: skip
    found = kanon_sql.anonymize(database.engine, spec)
    assert found.passed
    assert database.rows("released") == [("*",), ("*",)]
    assert found.achieved == kanon_sql.check(database.engine, spec).achieved
    assert found.achieved['k_map("census")']["k"] == 3


def test_what_cannot_be_checked_is_said() -> None:
    """A population that repeats people, or lacks some, would protect where nobody does."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT i // 5 AS age FROM range(20) AS t(i)")
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1,
                "source": "people",
                "release": "people_release",
                "quasi_identifiers": {"age": None},
                "privacy": [{"k_map": {"population": "people", "k": 3}}],
            }
        )
        engine = kanon_sql.connect(connection)
        for result in (kanon_sql.check(engine, spec, "people"), kanon_sql.anonymize(engine, spec)):
            assert result.passed
            assert any("people is taken to be the population" in note for note in result.notes)


# --- beside other requirements ------------------------------------------------------------------

MIXED = [
    {"k_anonymity": {"k": 2}},
    {"k_map": {"population": "census", "k": 4}},
    {"k_map": {"population": "census", "person": "who", "k": 3}},
    {"delta_presence": {"population": "census", "delta_max": 0.6}},
    {"t_closeness": {"attribute": "charge", "t": 0.6, "distance": "ordered"}},
    {"alpha_k_anonymity": {"attribute": "s", "alpha": 0.9, "k": 2, "values": ["x"]}},
]
APART = [
    {"k_anonymity": {"k": 3, "quasi_identifiers": ["q"]}},
    {"l_diversity": {"attribute": "s", "l": 2, "others_as_quasi_identifiers": True}},
]
"""Requirements whose classes are made by other columns: of them a population holds nobody."""


def surveyed(database: Database, seed: int, **changes: Any) -> dict[str, Any]:
    rng = random.Random(seed)
    census = [(rng.choice("abc"), rng.randrange(20, 60)) for _ in range(120)]
    people = [(*person, rng.choice("xxyz"), rng.randrange(9)) for person in rng.sample(census, 40)]
    with_persons = [(*person, number % 50) for number, person in enumerate(census)]
    database.table("census", {"q": "VARCHAR", "age": "INTEGER", "who": "INTEGER"}, with_persons)
    database.table("people", {"q": "VARCHAR", "age": "INTEGER", "s": "VARCHAR", "charge": "INTEGER"}, people)
    return {
        "version": 1, "source": "people", "release": "released", "sensitive": ["s", "charge"],
        "quasi_identifiers": {"q": None, "age": {"intervals": [5, 10, 20]}}, "privacy": MIXED,
        "suppression": {"max_share": 0.3},
        **changes,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("table", ["people", "released"])
def test_each_requirement_is_judged_as_if_it_were_alone(database: Database, table: str) -> None:
    given = surveyed(database, 1)
    assert kanon_sql.anonymize(database.engine, Spec.from_dict(given)).passed
    asked = [*MIXED, *APART]
    together = kanon_sql.check(database.engine, Spec.from_dict({**given, "privacy": asked}), table, reveal=5)
    alone = {}
    for requirement in asked:
        alone |= kanon_sql.check(database.engine, Spec.from_dict({**given, "privacy": [requirement]}), table).achieved
    assert together.achieved.keys() == alone.keys()
    for key, found in together.achieved.items():
        assert found == pytest.approx(alone[key]), key
    shown = {label for item in together.revealed or () for label in item["violates"]}
    assert shown <= {item["requirement"] for item in alone.values() if item["violating_classes"]}
    assert ("4-map to census" in shown) is (table == "people")


@pytest.mark.slow
@pytest.mark.parametrize(
    "search",
    [
        {"algorithm": "incognito", "variant": "super_roots"},
        {"algorithm": "incognito", "variant": "cube"},
        {"algorithm": "optimal"},
    ],
)
def test_every_search_finds_the_same_release(database: Database, search: dict[str, Any]) -> None:
    """Also from rolled-up frequency sets, a population's among them."""
    plain = kanon_sql.plan(database.engine, Spec.from_dict(surveyed(database, 2, search={"algorithm": "incognito"})))
    found = kanon_sql.plan(database.engine, Spec.from_dict(surveyed(database, 2, search=search)))
    assert plain.passed
    assert found.node == plain.node
    assert found.rows == plain.rows
    for key, item in found.achieved.items():
        assert item == pytest.approx(plain.achieved[key]), key


@pytest.mark.parametrize("requirement", MIXED[1:3], ids=["k_map", "delta_presence"])
def test_intervals_that_a_search_makes_are_refused(database: Database, requirement: dict[str, Any]) -> None:
    """They end at values that released rows hold: who lies between two of them is in none."""
    given = surveyed(
        database, 3, privacy=[requirement], search={"algorithm": "k_optimize"}, suppression={"max_rows": 0}
    )
    spec = Spec.from_dict({**given, "quasi_identifiers": {"age": None}})
    with pytest.raises(UnsupportedError, match=r"k_optimize cannot search for .* census"):
        kanon_sql.plan(database.engine, spec)


@pytest.mark.slow
def test_nobody_of_the_population_may_be_left_out(database: Database) -> None:
    """Person c is in no class until q is generalized; suppressing, however many rows, would not help."""
    spec = clinic(database)
    database.connection.execute("DROP TABLE released")
    presence = {"population": "census", "delta_min": 0.1, "delta_max": 0.7}
    for limit in (0, 1.0):
        asked = {**spec, "privacy": [{"delta_presence": presence}], "suppression": suppressing(limit)}
        found = kanon_sql.anonymize(database.engine, Spec.from_dict(asked))
        assert found.node is not None
        assert found.node["q"] == 1, "c is nobody's label below"
        assert found.rows["suppressed"] == 0
        checked = kanon_sql.check(database.engine, Spec.from_dict(asked))
        assert checked.passed
        assert checked.achieved == found.achieved
        database.connection.execute("DROP TABLE released")
    with pytest.raises(UnsupportedError, match="a script needs the size of"):
        kanon_sql.render(Spec.from_dict(asked), "duckdb")
    nothing = {**presence, "delta_min": 0.6}
    refused = kanon_sql.plan(
        database.engine,
        Spec.from_dict({**spec, "privacy": [{"delta_presence": nothing}], "suppression": {"max_share": 1.0}}),
    )
    assert not refused.passed
