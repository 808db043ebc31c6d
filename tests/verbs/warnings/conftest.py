"""What released columns reveal besides the classes, against plain counting in Python, on every engine.

A kept column that determines a quasi-identifier, one that groups persons, values in several spellings, lists written as
text, names of identifiers, and columns of a checked table that the spec does not release.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kanon_sql.engines.base import Engine
from kanon_sql.testing import Subject
from tests.servers import subject_of


@pytest.fixture(
    scope="module",
    params=["duckdb", "postgres", "sqlite", "mariadb", "clickhouse", pytest.param("spark", marks=pytest.mark.slow)],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def engine(subject: Subject) -> Iterator[Engine]:
    opened = subject.connect()
    yield opened
    opened.close()
