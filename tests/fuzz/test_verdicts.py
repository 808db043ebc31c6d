"""Checks of random tables say what plain Python counts; with KANON_EXAMPLES, so many times more of them."""

from __future__ import annotations

import pytest

from tests.fuzz.verdicts import FUZZERS, TYPES, tried, values_of
from tests.servers import subject_of
from tests.support.strategies import TIMES

QUICK = "sqlite"


@pytest.mark.parametrize("name", FUZZERS)
@pytest.mark.parametrize(
    "engine", [QUICK, *(pytest.param(engine, marks=pytest.mark.slow) for engine in TYPES if engine != QUICK)]
)
def test_a_check_says_what_there_is(engine: str, name: str) -> None:
    with subject_of(engine) as subject:
        said = tried(subject, name, range((20 if engine == QUICK else 60) * max(1, TIMES)))
    assert said["pass"]
    assert said["fail"]
    assert set(said) <= {"pass", "fail", "refused"}, said


def test_values_of_persons() -> None:
    """A value that all persons of a class have is known of each, whatever else they have."""
    rows = [("q", "flu", "p1"), ("q", "flu", "p2"), ("q", "cold", "p1"), ("q", "ulcer", None)]
    assert values_of(rows, by_person=True) == 1
    assert values_of(rows, by_person=False) == 3
    assert values_of(rows[1:], by_person=True) == 2
