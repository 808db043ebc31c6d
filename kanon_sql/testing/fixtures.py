"""What every test of the suite starts from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kanon_sql.engines import Engine
from kanon_sql.testing.clinic import VISITS, visits
from kanon_sql.testing.reference import Reference
from kanon_sql.testing.subject import Subject

__all__ = ["Fixtures"]


class Fixtures:
    """The engine, its tables, and DuckDB's."""

    @pytest.fixture(autouse=True)
    def _applies(self, request: pytest.FixtureRequest, subject: Subject) -> None:
        why = subject.lacks.get(request.function.__name__)
        if why is not None:
            pytest.skip(why)

    @pytest.fixture(scope="class")
    @classmethod
    def reference(cls) -> Iterator[Reference]:
        """DuckDB with the visits."""
        made = Reference()
        made.table("visits", VISITS, visits())
        yield made
        made.connection.close()

    @pytest.fixture(scope="class")
    @classmethod
    def with_visits(cls, subject: Subject) -> Subject:
        """The subject, with the visits in it."""
        subject.table("visits", VISITS, visits())
        return subject

    @pytest.fixture
    def engine(self, subject: Subject) -> Iterator[Engine]:
        """A connection of kanon_sql's own; releases are gone before and after."""
        subject.drop("visits_release")
        opened = subject.connect()
        yield opened
        opened.close()
        subject.drop("visits_release")
