"""A check of several tables and the lowest levels that their spec allows: by the source's values, where it is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.engines import Engine
from kanon_sql.testing import Subject
from tests.servers import subject_of
from tests.support.relations import ENGINES, place

EVERYWHERE = ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)]


@contextmanager
def released(name: str, minimum: int = 1) -> Iterator[tuple[Subject, Engine, RelationalSpec, str]]:
    """Two persons, each with a visit to a ward of x and y and one without, released by the letter; and its table."""
    with subject_of(name) as subject:
        subject.table("people", {"pid": "integer"}, [(1,), (2,)])
        wards = [(10, 1, "x1"), (11, 2, "x2"), (12, 1, "y1"), (13, 2, "y2"), (14, 1, None), (15, 2, None)]
        subject.table("visits", {"vid": "integer", "pid": "integer", "ward": "text"}, wards)
        spec = RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {"table": "people", "name": "r_people", "key": "pid"},
                "tables": {
                    "r_visits": {
                        "table": "visits",
                        "key": "vid",
                        "person": "pid",
                        "quasi_identifiers": {"ward": {"prefix": [1], "minimum_level": minimum}},
                    },
                },
                "privacy": [{"km_anonymity": {"k": 1, "m": 1}}],
                "recoding": "full_domain",
                "release": place(subject),
            }
        )
        engine = subject.connect()
        assert kanon_sql.anonymize(engine, spec).passed
        schema = "".join(f"{part}." for part in place(subject)["schema"])
        yield subject, engine, spec, f"{schema}r_visits"
        engine.close()


def add(subject: Subject, table: str, label: str) -> None:
    """A row more in the release."""
    subject.execute(f"INSERT INTO {table} (vid, pid, ward) VALUES (99, 1, '{label}')")


@pytest.mark.parametrize("name", EVERYWHERE)
def test_a_value_below_the_lowest_level_fails(name: str) -> None:
    with released(name) as (subject, engine, spec, table):
        sound = kanon_sql.check(engine, spec)
        assert sound.passed, sound.message
        assert not [note for note in sound.notes if "minimum_level" in note]
        add(subject, table, "x2")
        found = kanon_sql.check(engine, spec)
        assert found.verdict == "fail"
        assert found.message == "r_visits.ward: 1 row has a label below minimum_level"


def test_a_label_that_the_source_does_not_have_is_noted() -> None:
    with released("duckdb") as (subject, engine, spec, table):
        add(subject, table, "z1")
        found = kanon_sql.check(engine, spec)
        assert found.passed
        assert any(note.startswith("minimum_level of r_visits.ward: 1 row has a label that no") for note in found.notes)


@pytest.mark.parametrize("name", ["duckdb", pytest.param("postgres", marks=pytest.mark.slow)])
def test_without_the_source_no_level_is_known(name: str) -> None:
    with released(name) as (subject, engine, spec, _):
        subject.drop("visits")
        found = kanon_sql.check(engine, spec)
        assert found.passed
        assert any(note.startswith("minimum_level was not checked: r_visits.ward; levels are") for note in found.notes)


def test_nothing_is_read_without_a_lowest_level() -> None:
    with released("duckdb", minimum=0) as (_, engine, spec, _table):
        found = kanon_sql.check(engine, spec)
        assert found.passed
        assert not [note for note in found.notes if "minimum_level" in note]
        assert found.cost.source_scans == 0
