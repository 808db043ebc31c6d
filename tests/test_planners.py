"""No statement's work grows with the square of classes, values, persons or rows, whatever a planner believes.

The tables were never analyzed, as those that a model of dbt, or a load, has just made. A quick machine changes nothing:
what is asserted is what EXPLAIN ANALYZE counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from dbt_macros import Dbt, Relation
from planners import MANY, MODELS, RECODINGS, SEARCHES, fill, rows_of, sorted_in, spec_dict, watched, work_in
from servers import subject_of

import kanon_sql
from kanon_sql.testing import Subject

ROWS = 4_000
LARGE = 20_000
WATCHED = ("postgres", "mariadb", "sqlite")
SHORT = ("two", "wide", "wide t", "t ordered")
CASES: dict[str, dict[str, Any]] = {**MODELS, **RECODINGS, **SEARCHES}


@pytest.fixture(scope="module")
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as found:
        yield found


def loaded(subject: Subject, rows: int) -> None:
    drawn = rows_of(rows)
    for name, held in (("visits", drawn), ("census", drawn + rows_of(rows, 2))):
        subject.drop(name)
        fill(subject, name, held)


def work_of(subject: Subject, case: str) -> tuple[dict[str, str], int]:
    """What of a run grows with a square, and what it read in all."""
    subject.drop("visits_release")
    with subject.connect() as engine, watched(engine, subject.name) as watch:
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(spec_dict(**CASES[case])))
    return watch.squares, sum(watch.work.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject", [pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))], indirect=True
)
def test_no_statement_compares_each_with_each(subject: Subject) -> None:
    loaded(subject, ROWS)
    assert {case: squares for case in SHORT if (squares := work_of(subject, case)[0])} == {}


@pytest.mark.campaign
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "subject", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in WATCHED], indirect=True
)
def test_four_times_the_rows_are_about_four_times_the_work(subject: Subject, case: str) -> None:
    found = []
    for rows in (LARGE, 4 * LARGE):
        loaded(subject, rows)
        squares, work = work_of(subject, case)
        assert squares == {}
        found.append(work)
    assert found[1] <= 6 * found[0]


LABELLED = (
    "CREATE TABLE labelled AS SELECT CAST(birth / 100 AS TEXT) AS birth, LEFT(zip, 2) AS zip, sex, person, diagnosis, "
    "CASE WHEN amount < 0 THEN 'nulls: suppress' END AS kanon_left_out FROM visits"
)
CANDIDATES: list[tuple[list[dict[str, Any]], str | None]] = [
    ([{"k_anonymity": {"k": 5}}, {"l_diversity": {"attribute": "diagnosis", "l": 3}}], "person"),
    ([{"k_anonymity": {"k": 5}}, {"l_diversity": {"attribute": "diagnosis", "l": 3}}], None),
    ([{"k_anonymity": {"k": 5}}, {"t_closeness": {"attribute": "diagnosis", "t": 0.6}}], "person"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject", [pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))], indirect=True
)
def test_a_candidate_of_dbt_looks_through_the_classes_once(subject: Subject) -> None:
    """The table of its labels is new: nothing is known of its NULLs, nor how many classes satisfy."""
    subject.drop("visits")
    fill(subject, "visits", rows_of(LARGE))
    subject.drop("labelled")
    subject.execute(LABELLED)
    columns = [
        *((name, "text") for name in ("birth", "zip", "sex", "diagnosis", "kanon_left_out")),
        ("person", "integer"),
    ]
    dbt = Dbt("postgres", lambda _: columns)
    known = ["birth", "zip", "sex"]
    for analyzed in (False, True):
        if analyzed:
            subject.execute("ANALYZE labelled")
        for requirements, unit in CANDIDATES:
            sql = dbt.candidate(Relation("labelled"), [*known, "diagnosis"], known, requirements, unit)
            assert work_in(subject.fetch, sql) < 60 * LARGE
        judged = dbt.classes(Relation("labelled"), known, {"k_anonymity": {"k": 5}}, "person")
        assert sorted_in(subject.fetch, judged) < MANY, "persons are counted without a sort of all rows"
