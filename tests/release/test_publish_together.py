"""Several tables are published together or not at all: killed, or interrupted, at whatever statement of publishing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any, Literal

import pytest

import kanon_sql
from kanon_sql.engines.base import Deadline, Engine
from kanon_sql.engines.workspace import open_workspace
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.release.manifest import published_manifest
from kanon_sql.release.publish_together import publish_together
from kanon_sql.release.write import staged
from kanon_sql.sql.statement import Statement
from kanon_sql.testing import Subject
from kanon_sql.verbs.clean import clean
from tests.servers import subject_of

NAMES = ("one", "two")
SPECS = [
    kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": name,
            "quasi_identifiers": {"q": None},
            "privacy": [{"k_anonymity": 2}],
        }
    )
    for name in NAMES
]
OURS = {*NAMES, "kanon_sql_manifest", "kanon_sql_scratch"}

AT_ONCE = ("duckdb", "postgres", "sqlite", "mariadb")
IN_STEPS = ("steps", "clickhouse", "spark")
"""``steps`` is DuckDB, told that it cannot roll back."""

at_statements = pytest.mark.parametrize(
    ("name", "every"),
    [
        ("steps", 4),
        *(
            pytest.param(name, n, marks=pytest.mark.slow)
            for name, n in {"sqlite": 3, "mariadb": 3, "clickhouse": 8}.items()
        ),
        *(pytest.param(name, 1, marks=pytest.mark.campaign) for name in (*AT_ONCE, *IN_STEPS)),
    ],
)
"""Engines, and at which statements of publishing something happens: at every n-th."""


class Killed(BaseException):
    """No handler of a killed process runs; one that does here cannot reach the database any more."""


def connected(subject: Subject, name: str) -> Engine:
    engine: Any = subject.connect()
    if name == "steps":
        engine.capabilities = replace(engine.capabilities, transactional_ddl=False, atomic_replace=False)
    return engine


def run(engine: Engine, number: int, *, in_steps: bool = True) -> str:
    """Publish a number in three tables; returns the run's id."""
    with engine.run(Deadline(None)), open_workspace(engine, "") as workspace, ExitStack() as until_published:
        parts = []
        for place, spec in enumerate(SPECS):
            assert spec.release is not None
            made = until_published.enter_context(staged(workspace, spec.release, f"release{place}"))
            sql = workspace.dialect.create_as(workspace.dialect.relation(made.parts), f"SELECT {number} AS q", False)
            workspace.run(Statement("release/write", sql))
            parts.append((spec, made, {"published_at": f"2026-01-0{number}", "number": number}))
        publish_together(workspace, parts, in_steps=in_steps)
        return workspace.run_id


class Disturbed:
    """A connection to which something happens at the n-th statement of publishing that changes anything; 0 for never.

    Args:
        engine: it.
        at: the statement, counted from the first mark.
        how: ``killed`` before it, and dead from then on; ``stopped`` before it, or ``unheard`` after its effect, by an
            error or by Ctrl-C, after which all works again.
    """

    def __init__(self, engine: Any, at: int, how: Literal["killed", "stopped", "unheard"]) -> None:
        self.engine, self.at, self.how = engine, at, how
        self.names: list[str] = []
        self.run_ids: set[str] = set()
        self.dead = False
        for name in ("execute", "fetch", "_call"):
            if hasattr(engine, name):
                setattr(engine, name, self._disturbed(getattr(engine, name)))

    def _disturbed(self, method: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            strikes = False
            if given and isinstance(given[0], Statement):
                self.run_ids.add(self.engine.run_id)
                if method.__name__ == "execute" and (self.names or given[0].name == "release/mark"):
                    self.names.append(given[0].name)
                    strikes = len(self.names) == self.at
            if strikes and self.how == "unheard":
                method(*given, **named)
            self.dead |= strikes and self.how == "killed"
            if self.dead:
                raise Killed
            if strikes:
                raise (KeyboardInterrupt, DatabaseError)[self.at // 2 % 2]("by the test")
            return method(*given, **named)

        return call

    def publish(self, number: int) -> None:
        """Publish; the connection of a process that is killed goes with it."""
        try:
            with suppress(Killed, KeyboardInterrupt, DatabaseError):
                run(self.engine, number)
        finally:
            self.dead = False
            with suppress(Exception):  # what the operating system, or the server, does
                self.engine.driver_connection.rollback()
            for name in ("execute", "fetch", "_call"):
                self.engine.__dict__.pop(name, None)
            self.engine.close()


def fresh(subject: Subject, name: str) -> None:
    for table in subject.tables():
        if not table.startswith("sqlite_"):
            subject.execute(f"DROP TABLE {subject.dialect.quote(table)}")
    with connected(subject, name) as engine:
        run(engine, 1)


def contents(subject: Subject) -> set[int | None]:
    """What stands under the names: the numbers in the tables, and None where one is missing."""
    there = subject.tables()
    return {subject.fetch(f"SELECT q FROM {name}")[0][0] if name in there else None for name in NAMES}


def assert_clean(engine: Engine, subject: Subject, run_ids: set[str], where: str) -> None:
    clean(engine, drop=True)
    assert contents(subject) in ({1}, {2}), where
    assert {table for table in subject.tables() if not table.startswith("sqlite_")} <= OURS, where
    assert clean(engine, drop=False).objects == (), where
    for run_id in run_ids:
        with suppress(SpecError):
            assert {published_manifest(engine, run_id)["number"]} == contents(subject), where
            assert {engine.mark((name,)) for name in NAMES} == {run_id}, where


@pytest.fixture
def subject(name: str) -> Iterator[Subject]:
    with subject_of("duckdb" if name == "steps" else name) as made:
        yield made


def statements(subject: Subject, name: str) -> list[str]:
    fresh(subject, name)
    undisturbed = Disturbed(connected(subject, name), 0, "killed")
    undisturbed.publish(2)
    assert contents(subject) == {2}
    return undisturbed.names


@at_statements
def test_a_kill_leaves_all_old_tables_or_all_new_ones(subject: Subject, name: str, every: int) -> None:
    names = statements(subject, name)
    renames = [n for n, done in enumerate(names, 1) if done in ("release/rename", "release/replace")]
    seen = set()
    for n in sorted({*range(1, len(names) + 1, every), renames[-1], renames[-1] + 1}):
        fresh(subject, name)
        killed = Disturbed(connected(subject, name), n, "killed")
        killed.publish(2)
        if name == "duckdb":  # in this process, where its connection outlives the kill
            with suppress(Exception):
                subject.execute("ROLLBACK")
        where = f"killed before statement {n}, {killed.names[-1]}"
        found = contents(subject)
        assert len(found - {None}) < 2, where  # never tables of two releases
        assert name in IN_STEPS or None not in found, where
        seen |= found
        with connected(subject, name) as engine:
            if n // every % 2 or n == renames[-1]:
                assert_clean(engine, subject, killed.run_ids, where)
                continue
            run(engine, 3)
            assert contents(subject) == {3}, where
            clean(engine, drop=True)
            assert contents(subject) == {3}, where
            assert {table for table in subject.tables() if not table.startswith("sqlite_")} <= OURS, where
    assert {1, 2} <= seen
    assert (None in seen) is (name in IN_STEPS)


@at_statements
def test_what_stops_publishing_leaves_all_old_tables_or_all_new_ones(subject: Subject, name: str, every: int) -> None:
    seen = set()
    for n in range(1, len(statements(subject, name)) + 1, every):
        for how in ("stopped", "unheard"):
            fresh(subject, name)
            stopped = Disturbed(connected(subject, name), n, how)  # type: ignore[arg-type]
            stopped.publish(2)
            where = f"{how} at statement {n}, {stopped.names[-1]}"
            found = contents(subject)
            assert found in ({1}, {2}), where
            seen |= found
            with connected(subject, name) as engine:
                assert_clean(engine, subject, stopped.run_ids, where)
                assert contents(subject) == found, where
    assert seen == {1, 2}


@pytest.mark.parametrize("name", ["steps"])
def test_what_cannot_be_at_once_is_refused_unless_the_spec_allows_steps(subject: Subject, name: str) -> None:
    with connected(subject, name) as engine:
        with pytest.raises(UnsupportedError, match=r"(?s)several tables at once.*publish: in_steps") as refused:
            run(engine, 1, in_steps=False)
        assert "DuckDB, PostgreSQL, SQLite or MariaDB 10.6" in str(refused.value)
        assert not set(NAMES) & set(subject.tables())
