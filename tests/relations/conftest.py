"""The database of the tests of several tables."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kanon_sql.testing import Subject
from tests.servers import subject_of


@pytest.fixture
def subject() -> Iterator[Subject]:
    with subject_of("duckdb") as made:
        yield made
