"""A process killed between any two statements of publishing: what the next run and clean find, where DDL commits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Deadline, Engine
from kanon_sql.engines.workspace import open_workspace
from kanon_sql.errors import SpecError
from kanon_sql.release import write
from kanon_sql.release.manifest import published_manifest
from kanon_sql.release.publish import publish
from kanon_sql.release.write import WrittenTable, staged_release
from kanon_sql.sql.statement import Statement
from kanon_sql.testing import Subject
from kanon_sql.verbs.clean import clean
from tests.servers import subject_of

SPEC = kanon_sql.Spec.from_dict(
    {
        "version": 1, "source": "people", "release": "released", "quasi_identifiers": {"q": None},
        "privacy": [{"k_anonymity": 2}],
    }
)  # fmt: skip
OURS = {"released", "kanon_sql_manifest", "kanon_sql_scratch"}
ENGINES = ("duckdb", "mariadb", "clickhouse", "spark")
"""DuckDB stands for engines that need two renames to replace a release: it is told that it cannot roll back."""

SLOW = ("clickhouse", "spark")
"""A minute each, so they replace a release only: that takes the same steps as the first one, and more.

For the same reason the first one is slow on the others.
"""

at_every_kill = pytest.mark.parametrize(
    ("subject", "old"),
    [
        pytest.param(
            name, old,
            marks=[pytest.mark.xdist_group(f"{name} killed"), *([pytest.mark.slow] if name in SLOW or not old else [])],
        )
        for name in ENGINES
        for old in (False, True)
        if old or name not in SLOW
    ],
    indirect=["subject"],
)  # fmt: skip


class Killed(BaseException):
    """No handler of a killed process runs; one that does here cannot reach the database any more."""


@pytest.fixture(scope="module")
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


def connected(subject: Subject) -> Engine:
    engine: Any = subject.connect()
    if engine.capabilities.transactional_ddl:
        engine.capabilities = replace(engine.capabilities, transactional_ddl=False, atomic_replace=False)
    return engine


@pytest.fixture(autouse=True)
def one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is released is a number, and its verification is others' business."""

    def written(workspace: Any, choice: Any, target: Any, _: Any) -> WrittenTable:
        dialect = workspace.dialect
        sql = dialect.create_as(dialect.relation(target.parts), f"SELECT {choice.number} AS q", False)
        workspace.run(Statement("release/write", sql))
        return WrittenTable(target, None, 1, 1, 0, None, None)  # type: ignore[arg-type]

    monkeypatch.setattr(write, "_write", written)


def run(engine: Engine, number: int) -> str:
    """Publish a number, as anonymize does; returns the run's id."""
    with engine.run(Deadline(None)), open_workspace(engine, "") as workspace:
        choice: Any = SimpleNamespace(spec=SPEC, number=number)
        with staged_release(workspace, choice) as table:
            manifest = {"published_at": f"2026-01-0{number}", "spec": SPEC.redacted(), "number": number}
            publish(workspace, SPEC, table.table, manifest)
        return workspace.run_id


class Tracked:
    """A connection that is killed before its n-th statement that changes anything; 0 for never."""

    def __init__(self, subject: Subject, at: int = 0) -> None:
        self.engine: Any = connected(subject)
        self.names: list[str] = []
        self.run_ids: set[str] = set()
        self.dead = False
        self.at = at
        for name in ("execute", "fetch", "_call"):
            if hasattr(self.engine, name):
                setattr(self.engine, name, self._until_killed(getattr(self.engine, name)))

    def _until_killed(self, method: Any) -> Any:
        def tracked(*given: Any, **named: Any) -> Any:
            if given and isinstance(given[0], Statement):
                self.run_ids.add(self.engine.run_id)
                if method.__name__ == "execute":  # a query changes nothing to be killed before
                    self.names.append(given[0].name)
                    self.dead |= len(self.names) == self.at
            if self.dead:
                raise Killed
            return method(*given, **named)

        return tracked

    def publish(self, number: int) -> None:
        """Publish until killed; the process's connection goes with it."""
        try:
            run(self.engine, number)
        except Killed:
            self.dead = False  # closing is the operating system's business
        finally:
            for name in ("execute", "fetch", "_call"):
                self.engine.__dict__.pop(name, None)
            self.engine.close()


def fresh(subject: Subject, old: bool) -> None:
    for table in subject.tables():
        subject.execute(f"DROP TABLE {subject.dialect.quote(table)}")
    if old:
        Tracked(subject).publish(1)


def content(subject: Subject) -> Any:
    if "released" not in subject.tables():
        return None
    ((number,),) = subject.fetch("SELECT q FROM released")
    return number


def assert_honest(engine: Engine, subject: Subject, run_ids: set[str], where: str) -> None:
    """A run whose release does not stand is nowhere said to be published."""
    for run_id in run_ids:
        try:
            said = published_manifest(engine, run_id)
        except SpecError:
            continue
        assert said["number"] == content(subject), where
        assert engine.mark(("released",)) == run_id, where


def assert_nothing_is_left(engine: Engine, subject: Subject, where: str) -> None:
    clean(engine, drop=True)
    assert set(subject.tables()) <= OURS, where
    assert clean(engine, drop=False).objects == (), where
    if "kanon_sql_manifest" in subject.tables():
        rows = subject.fetch("SELECT run_id, published_at FROM kanon_sql_manifest")
        pending = {run_id for run_id, published_at in rows if published_at == "pending"}
        assert not pending or engine.dialect.name == "spark", where
        assert pending <= {run_id for run_id, published_at in rows if published_at != "pending"}, where


@pytest.mark.campaign_on("spark", "clickhouse", "mariadb-False", "duckdb-False")
@pytest.mark.slow
@at_every_kill
def test_the_next_run_needs_no_help(subject: Subject, old: bool) -> None:
    fresh(subject, old)
    undisturbed = Tracked(subject)
    undisturbed.publish(2)
    assert "release/replace" in undisturbed.names if old else "release/rename" in undisturbed.names
    for n in range(1, len(undisturbed.names) + 1):
        fresh(subject, old)
        killed = Tracked(subject, n)
        killed.publish(2)
        where = f"killed before statement {n}, {killed.names[-1]}"
        expected = {2, 1 if old else None}
        with connected(subject) as engine:
            expected |= set() if engine.capabilities.atomic_replace else {None}
            assert content(subject) in expected, where
            if "kanon_sql_manifest" in subject.tables():
                assert_honest(engine, subject, killed.run_ids, where)
            run(engine, 3)
            assert content(subject) == 3, where
            assert_nothing_is_left(engine, subject, where)
            assert content(subject) == 3, where


@pytest.mark.campaign_on("spark", "clickhouse")
@at_every_kill
@pytest.mark.sampled(4)
def test_clean_brings_what_was_cut_off_to_its_end(subject: Subject, old: bool) -> None:
    fresh(subject, old)
    undisturbed = Tracked(subject)
    undisturbed.publish(2)
    first = undisturbed.names.index("release/mark")
    for n in range(first + 1, len(undisturbed.names) + 1):
        fresh(subject, old)
        killed = Tracked(subject, n)
        killed.publish(2)
        where = f"killed before statement {n}, {killed.names[-1]}"
        found = content(subject)
        with connected(subject) as engine:
            listed = clean(engine, drop=False)
            assert listed.objects, where
            assert content(subject) == found, "listing changes nothing"
            assert_nothing_is_left(engine, subject, where)
            stands = content(subject)
            assert stands == (found if found is not None else 1 if old else None), where
            assert_honest(engine, subject, killed.run_ids, where)
            if stands == 2:
                (run_id,) = killed.run_ids & {engine.mark(("released",))}
                assert published_manifest(engine, str(run_id))["number"] == 2, where
            run(engine, 3)
            assert content(subject) == 3, where
