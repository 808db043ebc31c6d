"""Two sites, their engines, and who listens between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.engines.session import SessionEngine
from kanon_sql.parties import exchange, holder, horizontal, vertical
from kanon_sql.sql import Statement
from tests.support.sites import JOB, NORTH, SOUTH, TOWN, Spy, site_of


@pytest.fixture
def connections() -> Iterator[list[duckdb.DuckDBPyConnection]]:
    made = [site_of(NORTH), site_of(SOUTH)]
    yield made
    for connection in made:
        connection.close()


@pytest.fixture
def engines(connections: list[duckdb.DuckDBPyConnection]) -> list[Engine]:
    return [kanon_sql.connect(connection) for connection in connections]


@pytest.fixture
def columns_apart() -> Iterator[list[Engine]]:
    made = [site_of(JOB, ("job", "id")), site_of(TOWN, ("town", "ill", "id"))]
    yield [kanon_sql.connect(connection) for connection in made]
    for connection in made:
        connection.close()


@pytest.fixture
def spy() -> Iterator[Spy]:
    found = Spy()
    fetch, execute, fresh = SessionEngine.fetch, SessionEngine.execute, exchange.fresh_key

    def spied_fetch(self: SessionEngine, statement: Statement, limit: int) -> list[tuple[Any, ...]]:
        rows = fetch(self, statement, limit)
        found.fetched += [(id(self), statement.name, tuple(row)) for row in rows]
        found.sent.append((id(self), statement.name, statement.sql))
        return rows

    def spied_execute(self: SessionEngine, statement: Statement) -> None:
        found.sent.append((id(self), statement.name, statement.sql))
        execute(self, statement)

    def spied_key() -> bytes:
        found.keys.append(fresh())
        return found.keys[-1]

    with (
        patch.object(SessionEngine, "fetch", spied_fetch),
        patch.object(SessionEngine, "execute", spied_execute),
        patch.object(horizontal, "fresh_key", spied_key),
        patch.object(vertical, "fresh_key", spied_key),
        patch.object(holder, "fresh_key", spied_key),
    ):
        yield found
