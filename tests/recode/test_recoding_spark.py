"""Every recoding on Spark: the same rows as on DuckDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import kanon_sql
from kanon_sql.testing import Subject
from tests.servers import REQUIRED
from tests.servers.base import Missing
from tests.servers.embedded import DuckDBSubject
from tests.servers.spark import SMALL, SparkSubject
from tests.support.recodings import RECODINGS, RELEASE, fill, spec

pytestmark = pytest.mark.xdist_group("spark in one process")

SLOW = ("subtree", "cover")
"""One of two families that no test of the conformance suite runs on Spark; the others take longer: a campaign."""

SETTINGS = {**SMALL, "spark.default.parallelism": "1", "spark.sql.shuffle.partitions": "1"}
"""In one process: with a table of a few rows, sending tasks to others is nearly all that takes time."""


@pytest.fixture(scope="module")
def spark() -> Iterator[Subject]:
    try:
        made = SparkSubject(0, SETTINGS)
    except Missing as missing:
        if "spark" in REQUIRED:
            pytest.fail(f"KANON_REQUIRE_ENGINES names spark: {missing}")
        pytest.skip(f"spark: {missing}")
    fill(made)
    yield made
    made.close()


@pytest.fixture(scope="module")
def duck() -> Iterator[Subject]:
    made = DuckDBSubject()
    fill(made)
    yield made
    made.close()


def released(subject: Subject, name: str) -> tuple[Counter[tuple[Any, ...]], Any]:
    subject.drop(RELEASE)
    with subject.connect() as engine:
        result = kanon_sql.anonymize(engine, spec(name)).raise_for_failure()
    return Counter(subject.rows(RELEASE)), result


@pytest.mark.campaign_on("subtree")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else pytest.mark.campaign) for name in RECODINGS],
)
def test_the_same_release_as_duckdb(spark: Subject, duck: Subject, name: str) -> None:
    (ours, said), (theirs, expected) = released(spark, name), released(duck, name)
    assert ours == theirs
    assert (said.classes, said.rows, said.recoding["mean_loss"]) == (
        expected.classes, expected.rows, expected.recoding["mean_loss"],
    )  # fmt: skip
