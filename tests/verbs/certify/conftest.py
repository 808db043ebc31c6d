"""A certificate that the tests of ``certify`` read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import kanon_sql
from tests.conftest import Database
from tests.support.certificates import released, spec_of


@pytest.fixture(scope="session")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, Path]]:
    """A release and its certificate; who changes something puts it back."""
    directory = tmp_path_factory.mktemp("certificate")
    with duckdb.connect(config={"threads": 1}) as connection:
        database = Database(connection)
        spec = spec_of()
        released(database, spec)
        found = kanon_sql.certify(database.engine, spec, directory, by="The data office")
        assert found.passed, found.problems
        assert found.content["optimality"] is not None
        assert not found.not_certified
        yield database, directory
