"""Columns of several tables that are released as they are, and reveal a quasi-identifier: against brute force."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.testing import Subject
from tests.servers import subject_of
from tests.support.relations import ENGINES
from tests.verbs.warnings.test_warnings_of_columns import share_of

CODE = "kept_reveals_quasi_identifier"
PUBLISHING = ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)]


def people(seed: int, count: int) -> tuple[list[Any], list[Any]]:
    """Persons (id, born, town) and visits (id, person, ward, age_at_visit, note)."""
    draw = random.Random(seed)
    persons = [(i, draw.randint(1950, 1989), draw.choice("ab") + draw.choice("123")) for i in range(count)]
    visits = []
    for person, born, _ in persons:
        for _ in range(draw.choice([1, 1, 2])):
            age = draw.choice([2024, 2025]) - born
            visits.append((len(visits), person, "x" + draw.choice("12"), age, draw.randint(0, 30)))
    return persons, visits


def make(subject: Subject, persons: Sequence[Any], visits: Sequence[Any]) -> None:
    subject.table("people", {"id": "integer", "born": "integer", "town": "text"}, persons)
    columns = {"id": "integer", "person": "integer", "ward": "text", "age_at_visit": "integer", "note": "integer"}
    subject.table("visits", columns, visits)


def spec_of(kept: Sequence[str], schema: str, **more: Any) -> RelationalSpec:
    def fixed(**hierarchy: Any) -> dict[str, Any]:
        return {**hierarchy, "minimum_level": 1, "maximum_level": 1}

    return RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {
                "table": "people",
                "name": "out_people",
                "key": "id",
                "quasi_identifiers": {"born": fixed(intervals=[10]), "town": fixed(prefix=[1])},
            },
            "tables": {
                "out_visits": {
                    "table": "visits",
                    "key": "id",
                    "person": "person",
                    "quasi_identifiers": {"ward": fixed(prefix=[1])},
                    "keep": list(kept),
                }
            },
            "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
            "suppression": {"max_persons": 1.0, "max_rows": 1.0},
            "release": {"schema": schema, "publish": "in_steps"},
            **more,
        }
    )


@pytest.mark.parametrize("name", PUBLISHING)
def test_an_age_of_a_visit_reveals_the_year_of_birth(name: str) -> None:
    with subject_of(name) as subject:
        persons, visits = people(3, 400)
        make(subject, persons, visits)
        (schema,) = subject.schema("released")
        engine = subject.connect()
        planned = kanon_sql.plan(engine, spec_of(["age_at_visit"], schema))
        assert planned.passed, "a plan writes no rows to look at"
        refused = kanon_sql.anonymize(engine, spec_of(["age_at_visit", "note"], schema))
        assert not refused.passed
        assert f"nothing was published: {CODE} is an error because so large a share" in refused.message
        assert engine.exists((schema, "out_visits")) is None
        accepted = spec_of(["age_at_visit", "note"], schema, warnings={CODE: "warn"})
        result = kanon_sql.anonymize(engine, accepted)
        assert result.passed, result.message
        assert result.left_out == 0
        assert result.tables["out_visits"]["released"] == len(visits)
        (warned,) = (item for item in result.warnings if item.code == CODE)
        assert list(warned.columns) == ["out_visits.age_at_visit", "person.born"]
        # A person counts once for each age, year of birth and decade that their visits show.
        born = {person: year for person, year, _ in persons}
        cells = {(person, born[person] // 10, age, born[person]) for _, person, _, age, _ in visits}
        share = share_of([cell[1:] for cell in sorted(cells)])
        assert 0.25 < share < 1
        assert warned.figures["share"] == pytest.approx(share)
        town = {person: place for person, _, place in persons}
        groups = defaultdict(set)
        for _, person, ward, age, _ in visits:
            groups[born[person] // 10, town[person][0], ward[0], age].add(person)
        assert warned.figures["smallest"] == min(map(len, groups.values()))
        engine.close()


def test_a_column_is_measured_beside_its_own_table_and_those_above_and_below(subject: Subject) -> None:
    """A town's number beside the town, and a number of the ward beside that; of the person beside rows below."""
    draw = random.Random(1)
    persons = [(i, f"{draw.choice('ab')}{draw.choice('123456')}") for i in range(300)]
    numbers = {town: place for place, town in enumerate(sorted({town for _, town in persons}))}
    subject.table(
        "people",
        {"id": "integer", "town": "text", "number": "integer", "noise": "integer", "first_ward": "integer"},
        [(i, town, numbers[town], draw.randint(0, 9), i % 8) for i, town in persons],
    )
    subject.table(
        "visits",
        {"id": "integer", "person": "integer", "ward": "text", "room": "integer"},
        [(i, i, "xy"[i % 8 // 4] + "1234"[i % 4], i % 8 * 10) for i, _ in persons],
    )
    result = kanon_sql.anonymize(
        subject.connect(),
        RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {
                    "table": "people",
                    "name": "out_people",
                    "key": "id",
                    "quasi_identifiers": {"town": {"prefix": [1], "minimum_level": 1, "maximum_level": 1}},
                    "keep": ["number", "noise", "first_ward"],
                },
                "tables": {
                    "out_visits": {
                        "table": "visits",
                        "key": "id",
                        "person": "person",
                        "quasi_identifiers": {"ward": {"prefix": [1], "minimum_level": 1, "maximum_level": 1}},
                        "keep": ["room"],
                    }
                },
                "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
                "release": {"schema": "main"},
                "warnings": {CODE: "warn"},
            }
        ),
    )
    assert result.passed, result.message
    found = {tuple(item.columns): item.figures["share"] for item in result.warnings if item.code == CODE}
    assert set(found) == {
        ("person.number", "person.town"),
        ("out_visits.room", "out_visits.ward"),
        ("person.first_ward", "out_visits.ward"),
    }
    assert list(found.values()) == pytest.approx([1.0] * 3)


@pytest.mark.parametrize("handling", ["allow", "by_share"])
def test_columns_that_lose_nothing_and_columns_that_are_allowed_are_not_looked_at(
    subject: Subject, handling: str
) -> None:
    persons, visits = people(3, 200)
    make(subject, persons, visits)
    plain = spec_of(["age_at_visit"], "main", warnings={CODE: handling}).to_dict()
    if handling == "by_share":
        plain["person"]["quasi_identifiers"] = {"town": {"prefix": [1]}}
    result = kanon_sql.anonymize(subject.connect(), RelationalSpec.from_dict(plain))
    assert result.passed, result.message
    assert CODE not in Counter(item.code for item in result.warnings)
