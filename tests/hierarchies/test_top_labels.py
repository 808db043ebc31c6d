"""What NULL is released as, where all values of a tree share a label: never that one, if ``*`` is written above it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

import kanon_sql
from kanon_sql.testing import Subject
from tests.servers import subject_of

PLACES = {"Lyon": "France", "Nice": "France", "Bonn": "Germany"}
PEOPLE = [
    ("Lyon", "x"),
    ("Lyon", "x"),
    ("Nice", "x"),
    ("Bonn", "y"),
    ("Bonn", "y"),
    (None, "y"),
    (None, "x"),
    ("Nice", "y"),
]
"""Of whom two are in a place that is not known."""

LEAVES: dict[str, set[str | None]] = {
    **{place: {place} for place in PLACES},
    **{land: {place for place, own in PLACES.items() if own == land} for land in PLACES.values()},
    "Europe": set(PLACES),
    "*": {*PLACES, None},
}


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ("duckdb", "sqlite", "postgres")],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        made.table(
            "people", {"rid": "integer", "place": "text", "z": "text"}, [(i, *row) for i, row in enumerate(PEOPLE)]
        )
        yield made


@pytest.mark.sampled(5)
@pytest.mark.parametrize("low", [0, 1, 2])
@pytest.mark.parametrize("recoding", ["full_domain", "local", "cells", "subtree"])
def test_null_is_under_the_asterisk_alone(subject: Subject, recoding: str, low: int) -> None:
    """Every label is true of its rows, and the loss is what the labels say: leaves of five, NULL being one."""
    lands: dict[str, list[str]] = defaultdict(list)
    for place, land in PLACES.items():
        lands[land].append(place)
    asked: dict[str, Any] = {
        "version": 1,
        "source": "people",
        "release": "released",
        "quasi_identifiers": {"place": {"tree": {"*": {"Europe": dict(lands)}}, "minimum_level": low}, "z": {}},
        "keep": ["rid"],
        "privacy": [{"k_anonymity": {"k": 2}}],
        "recoding": recoding,
        "warnings": {
            "rows_not_persons": "allow",
            "nearly_unique_kept": "allow",
            "kept_reveals_quasi_identifier": "allow",
        },
    }
    with subject.connect() as engine:
        result = kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(asked))
    assert result.passed
    released = subject.fetch("SELECT rid, place, z FROM released")
    subject.drop("released")
    losses, others = [], []
    for rid, label, z in released:
        place = PEOPLE[int(rid)][0]
        leaves = {None} if label is None else LEAVES[label]
        assert place in leaves, (place, label)
        losses.append((len(leaves) - 1) / len(PLACES))
        others.append(float(z == "*"))
    assert len(released) == len(PEOPLE)
    means = [sum(found) / len(PEOPLE) for found in (losses, others)]
    if result.recoding is not None:
        assert [item["mean_loss"] for item in result.recoding["columns"].values()] == pytest.approx(means)
    if result.node is not None:
        assert result.node["place"] >= low
