"""A time limit holds while statements are written, too, which for many columns takes longer than to run them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines import base
from kanon_sql.errors import QueryTimeout
from kanon_sql.spec import Spec
from kanon_sql.sql import python_deadline, statement, templates
from kanon_sql.sql.dialects.base import Dialect


def wide(columns: int, **hierarchy: Any) -> tuple[duckdb.DuckDBPyConnection, Spec]:
    """A table of so many quasi-identifiers, and its spec."""
    connection = duckdb.connect(config={"threads": 2})
    listed = ", ".join(f"(i * {number}) % 17 + 1 AS column_{number}" for number in range(columns))
    connection.execute(f"CREATE TABLE t AS SELECT {listed} FROM range(20) AS r (i)")
    spec = {
        "version": 1,
        "source": "t",
        "release": "released",
        "quasi_identifiers": {f"column_{number}": hierarchy for number in range(columns)},
        "privacy": [{"k_anonymity": {"k": 2}}],
    }
    return connection, Spec.from_dict(spec)


class Clock:
    """A clock that stands still but for the work whose time is told to it."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now

    def slow(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same work, each time of which takes a hundredth of a second."""

        def worked(*given: Any, **named: Any) -> Any:
            self.now += 0.01
            return work(*given, **named)

        return worked


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """Templates, parsing and writing take a hundredth of a second each, and nothing else takes any time."""
    found = Clock()
    monkeypatch.setattr(base.time, "monotonic", found.monotonic)
    statement._compiled.cache_clear()
    monkeypatch.setattr(templates._Environment, "get_template", found.slow(templates._Environment.get_template))
    monkeypatch.setattr(statement.sqlglot, "parse", found.slow(statement.sqlglot.parse))
    monkeypatch.setattr(Dialect, "sql", found.slow(Dialect.sql))
    yield found
    statement._compiled.cache_clear()


@pytest.mark.parametrize("hierarchy", [{}, {"intervals": [5, 10]}, {"sql": ["floor(x / 10)"]}], ids=str)
@pytest.mark.parametrize("verb", ["plan", "anonymize", "check", "audit", "hierarchy"])
@pytest.mark.sampled(16)
def test_work_of_pythons_own_looks_at_the_limit(verb: str, hierarchy: dict[str, Any], clock: Clock) -> None:
    connection, spec = wide(60, **hierarchy)
    more = {"check": ("t",), "audit": ("t",)}.get(verb, ())
    with connection:
        engine = kanon_sql.connect(connection)
        for seconds in (0.05, 0.3, 1.0):
            started = clock.now
            try:
                getattr(kanon_sql, verb)(engine, spec, *more, timeout=seconds)
            except QueryTimeout:
                # Writing what drops the scratch tables is not limited, and takes three steps once.
                assert clock.now - started <= seconds + 0.05
            else:
                assert clock.now - started <= seconds + 0.05
        assert connection.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]


def test_nobody_looks_at_a_limit_outside_of_a_run() -> None:
    python_deadline.checkpoint()
    asked: list[int] = []
    with python_deadline.looking_at(lambda: asked.append(1)):
        python_deadline.checkpoint()
        with python_deadline.looking_at(lambda: asked.append(2)):
            python_deadline.checkpoint()
        python_deadline.checkpoint()
    python_deadline.checkpoint()
    assert asked == [1, 2, 1]


@pytest.mark.campaign_on("anonymize", "audit")
@pytest.mark.slow
@pytest.mark.parametrize("verb", ["plan", "anonymize", "check", "audit", "hierarchy"])
def test_a_limit_with_1500_quasi_identifiers(verb: str) -> None:
    """In processor time of this thread, so that a busy machine does not fail it."""
    connection, spec = wide(1_500, intervals=[5, 10, 20])
    more = {"check": ("t",), "audit": ("t",)}.get(verb, ())
    with connection:
        engine = kanon_sql.connect(connection)
        started = time.thread_time()
        with suppress(QueryTimeout):
            getattr(kanon_sql, verb)(engine, spec, *more, timeout=3)
        assert time.thread_time() - started < 4
