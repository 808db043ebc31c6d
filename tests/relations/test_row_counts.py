"""How many rows a person has: sampled down to a number, or known to an attacker."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.errors import SpecError
from kanon_sql.testing import Subject
from tests.oracles.relations import random_world
from tests.servers import subject_of
from tests.support.relations import make, released
from tests.support.relations import spec_of as world_spec

ENGINES = ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ("postgres", "sqlite"))]


def patients(subject: Subject) -> str:
    """Person n has n visits, of two notes each; returns the schema to release into."""
    visits = [(10 * n + place, n) for n in range(6) for place in range(n)]
    subject.table("people", {"pid": "integer"}, [(n,) for n in range(6)])
    subject.table("visits", {"vid": "integer", "pid": "integer", "ward": "text"}, [(*row, "x") for row in visits])
    subject.table("notes", {"vid": "integer", "kind": "text"}, [(vid, "y") for vid, _ in visits for _ in range(2)])
    if subject.name == "sqlite":
        return "main"
    subject.execute("CREATE SCHEMA released")
    return "released"


def spec_of(schema: str, visits: dict[str, Any], notes: dict[str, Any] | None = None, **more: Any) -> RelationalSpec:
    return RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "people", "name": "r_people", "key": "pid"},
            "tables": {
                "r_visits": {"table": "visits", "key": "vid", "person": "pid",
                             "quasi_identifiers": {"ward": {"maximum_level": 0}}, **visits},
                "r_notes": {"table": "notes", "parent": "r_visits", "by": "vid",
                            "quasi_identifiers": {"kind": {"maximum_level": 0}}, **(notes or {})},
            },
            "privacy": [{"km_anonymity": {"k": 1, "m": 1}}],
            "release": {"schema": schema},
            **more,
        }
    )  # fmt: skip


@pytest.mark.parametrize("name", ENGINES)
def test_rows_of_a_person_beyond_the_most_are_left_out(name: str) -> None:
    """Of 0 + 1 + 2 + 3 + 4 + 5 visits stay 0 + 1 + 2 + 2 + 2 + 2; the notes below the others go with them."""
    with subject_of(name) as subject:
        schema, engine = patients(subject), subject.connect()
        result = kanon_sql.anonymize(engine, spec_of(schema, {"most_rows": 2}))
        assert result.passed, result.message
        visits, notes = result.tables["r_visits"], result.tables["r_notes"]
        assert (visits["rows"], visits["released"], visits["sampled_out"]) == (15, 9, 6)
        assert (notes["rows"], notes["released"], notes["sampled_out"]) == (30, 18, 12)
        assert result.notes.count("r_visits: 6 rows were left out at random, of persons with more than 2") == 1
        assert result.notes.count("r_notes: 12 rows were left out at random, below rows that were left out") == 1
        per_person = Counter(row[0] for row in subject.fetch(f"SELECT pid FROM {schema}.r_visits"))
        assert sorted(per_person.values()) == [1, 2, 2, 2, 2]
        found = subject.fetch(f"SELECT COUNT(*) FROM {schema}.r_notes n JOIN {schema}.r_visits v ON n.vid = v.vid")
        assert found == [(18,)]
        engine.close()


def test_who_is_left_out_is_drawn_anew() -> None:
    with subject_of("duckdb") as subject:
        patients(subject)
        subject.execute("INSERT INTO visits SELECT 1000 + i, 5, 'x' FROM range(100) t(i)")
        spec = spec_of(
            "released", {"most_rows": 20, "keep": ["old"], "table": {"query": "SELECT *, vid old FROM visits"}}
        )
        engine, drawn = subject.connect(), []
        for _ in range(2):
            subject.execute("SELECT SETSEED(0.5)")
            assert kanon_sql.anonymize(engine, spec).passed
            drawn.append(sorted(row[0] for row in subject.fetch("SELECT old FROM released.r_visits")))
        assert len(drawn[0]) == len(drawn[1]) == 0 + 1 + 2 + 3 + 4 + 20
        assert drawn[0] != drawn[1]


def rows_of(persons: list[Any], others: dict[str, tuple[str, list[Any]]], known: list[str]) -> Counter[Any]:
    """Persons by their labels and how many rows they have in some released tables; by brute force."""
    owner: dict[str, dict[Any, Any]] = {"person": {row[0]: row[0] for row in persons}}
    counts: dict[str, Counter[Any]] = {}
    for name, (above, rows) in others.items():
        owner[name] = {row[0]: owner[above][row[1]] for row in rows}
        counts[name] = Counter(owner[name].values())
    return Counter((tuple(row[1:]), tuple(counts[name][row[0]] for name in known)) for row in persons)


@pytest.mark.parametrize("recoding", ["local", "full_domain"])
@pytest.mark.parametrize(
    "start",
    [
        pytest.param(0, marks=pytest.mark.slow),
        *(pytest.param(start, marks=pytest.mark.campaign) for start in range(100, 140, 10)),
    ],
)
def test_known_numbers_of_rows_are_shared(recoding: str, start: int) -> None:
    """Every class by labels and numbers of rows has k persons, in what was released."""
    with subject_of("duckdb") as subject:
        engine, passed, climbed = subject.connect(), 0, 0
        subject.execute("CREATE SCHEMA released")
        for seed in range(start, start + 10):
            world = random_world(seed)
            known = [name for name in world.tables if name != "person" and (seed + len(name)) % 2]
            if not world.columns or not known:
                continue
            make(subject, world)
            allowed = {"max_persons": 0.6, **({"max_rows": 1.0} if recoding == "local" else {})}
            plain = world_spec(world, recoding, 2, 1, suppression=allowed, release={"schema": "released"}).to_dict()
            for name in known:
                plain["tables"][name]["row_count"] = "known"
            spec = RelationalSpec.from_dict(plain)
            result = kanon_sql.anonymize(engine, spec)
            if not result.passed:
                continue
            passed += 1
            persons, others = released(subject, world, "released.")
            classes = rows_of(persons, others, known)
            assert min(classes.values()) >= 2, seed
            assert result.classes == len(classes), seed
            assert result.fewest == min(classes.values()), seed
            assert kanon_sql.check(engine, spec).passed
            climbed += any(table["released"] < table["rows"] for table in result.tables.values())
        assert passed > 3
        assert climbed
        engine.close()


def test_a_number_of_rows_that_one_person_has_is_found_by_check() -> None:
    with subject_of("duckdb") as subject:
        patients(subject)
        assert kanon_sql.anonymize(subject.connect(), spec_of("released", {"most_rows": 2})).passed
        wanted: dict[str, Any] = {"privacy": [{"km_anonymity": {"k": 2, "m": 0}}]}
        assert kanon_sql.check(subject.connect(), spec_of("released", {}, **wanted)).passed
        known = spec_of("released", {"row_count": "known"}, **wanted)
        found = kanon_sql.check(subject.connect(), known)
        assert not found.passed  # one person without visits, one with one, four with two
        assert (found.requirements[0]["fewest"], found.requirements[0]["rare"]) == (1, 2)
        assert any("how many rows of r_notes each person" in note for note in found.notes)


@pytest.mark.parametrize("name", ENGINES)
def test_check_finds_persons_with_more_rows_than_the_most(name: str) -> None:
    """Three of the persons have more than two visits, two more than three; with two of each, four of their notes."""
    with subject_of(name) as subject:
        schema, engine = patients(subject), subject.connect()
        assert kanon_sql.anonymize(engine, spec_of(schema, {})).passed
        for visits, notes, persons in [
            ({"most_rows": 2}, {}, "r_visits: 3 persons have more rows than most_rows: 2"),
            ({"most_rows": 4}, {}, "r_visits: 1 person has more rows than most_rows: 4"),
            ({"most_rows": 5}, {"most_rows": 6}, "r_notes: 2 persons have more rows than most_rows: 6"),
        ]:
            found = kanon_sql.check(engine, spec_of(schema, visits, notes))
            assert not found.passed
            assert found.message == persons
            assert all(item["holds"] for item in found.requirements)
        assert kanon_sql.check(engine, spec_of(schema, {"most_rows": 5}, {"most_rows": 10})).passed
        engine.close()


def test_classes_by_numbers_of_rows_are_not_judged_by_models_of_classes() -> None:
    with pytest.raises(SpecError, match="l_diversity"):
        spec_of(
            "r",
            {"row_count": "known"},
            person={"table": "people", "key": "pid", "sensitive": ["s"]},
            privacy=[{"km_anonymity": {"k": 2}}, {"l_diversity": {"l": 2, "attribute": "s"}}],
        )


@pytest.mark.parametrize(("most", "left_out"), [(0.34, 1), (0.0, None)])
def test_who_loses_a_row_is_left_out_where_their_number_is_known(most: float, left_out: int | None) -> None:
    """Baskets ab, ab, ac: c is alone, and without it the third person has one row while two others have two."""
    with subject_of("duckdb") as subject:
        subject.table("buyers", {"id": "integer"}, [(1,), (2,), (3,)])
        bought = [(1, "a"), (1, "b"), (2, "a"), (2, "b"), (3, "a"), (3, "c")]
        subject.table("items", {"buyer": "integer", "item": "text"}, bought)
        subject.execute("CREATE SCHEMA released")
        item = {"person": "buyer", "quasi_identifiers": {"item": {"maximum_level": 0}}, "row_count": "known"}
        spec = RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {"table": "buyers", "key": "id"},
                "tables": {"items": item},
                "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
                "suppression": {"max_persons": most, "max_rows": 1.0},
                "release": {"schema": "released"},
            }
        )
        result = kanon_sql.anonymize(subject.connect(), spec)
        assert result.passed == (left_out is not None)
        if left_out is not None:
            assert result.left_out == left_out
            assert result.tables["items"]["released"] == 4
