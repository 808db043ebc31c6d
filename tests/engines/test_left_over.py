"""Scratch tables that a run could not drop: they stay recorded, and ``clean`` finds them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import SCRATCH_TABLE, Engine, open_workspace
from kanon_sql.errors import DatabaseError
from kanon_sql.sql.statement import Statement
from kanon_sql.sql.text import Relation
from kanon_sql.verbs.clean import clean

SCRATCH = re.compile(r"kanon_[0-9a-f]{8}_\w+")
ASKED = {
    "version": 1, "source": "people", "release": "released", "quasi_identifiers": {"q": None},
    "privacy": [{"k_anonymity": 2}],
}  # fmt: skip


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    with kanon_sql.connect(tmp_path / "clinic.duckdb", scratch="schema:main") as opened:
        for sql in ("CREATE TABLE people (q TEXT)", "INSERT INTO people VALUES ('a'), ('a'), ('a')"):
            opened.execute(Statement("test", sql))
        yield opened


class Refusing:
    """The database refuses to drop one table, or all whose name ends so.

    Args:
        engine: whose statements these are.
        ending: of the table's name.
    """

    def __init__(self, engine: Any, ending: str) -> None:
        self.names: list[str] = []
        self._engine, self._ending = engine, ending
        self._execute, engine.execute = engine.execute, self.execute

    def execute(self, statement: Statement) -> None:
        self.names.append(statement.name)
        if statement.name == "engines/scratch/drop" and statement.sql.rstrip().rstrip('"').endswith(self._ending):
            raise DatabaseError("refused by the test")
        self._execute(statement)

    def stop(self) -> None:
        self._engine.execute = self._execute


def tables(engine: Engine) -> set[str]:
    found = engine.fetch(Statement("test", "SELECT table_name FROM duckdb_tables()"), 100)
    return {str(name) for (name,) in found if SCRATCH.fullmatch(str(name))}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("which", ["frequency", "lookup0"])
def test_a_scratch_table_that_cannot_be_dropped_stays_recorded(engine: Engine, which: str) -> None:
    refusing = Refusing(engine, which)
    assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED)).passed
    refusing.stop()
    (left,) = tables(engine)
    assert left.endswith(which)
    assert [(item.name, item.state) for item in clean(engine, drop=False).objects] == [(f"main.{left}", "left over")]
    assert [item.state for item in clean(engine, drop=True).objects] == ["dropped"]
    assert tables(engine) == set()
    assert clean(engine, drop=False).objects == ()


@pytest.mark.slow
def test_an_old_release_that_cannot_be_dropped_stays_recorded(engine: Any) -> None:
    """Where DDL cannot be rolled back, it is a scratch table of the run that replaced it, which drops all others."""
    engine.capabilities = replace(engine.capabilities, transactional_ddl=False, atomic_replace=False)
    assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED)).passed
    refusing = Refusing(engine, "_old")
    with pytest.raises(
        DatabaseError, match="refused by the test; the release is nevertheless published under its name"
    ):
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED))
    refusing.stop()
    (left,) = tables(engine)
    assert [(item.name, item.state) for item in clean(engine, drop=True).objects] == [(left, "dropped")]
    assert tables(engine) == set()


@pytest.mark.slow
def test_an_old_release_that_cannot_be_put_back_stays_recorded(engine: Any) -> None:
    """Another connection took the name between two renames."""
    engine.capabilities = replace(engine.capabilities, transactional_ddl=False, atomic_replace=False)
    assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED)).passed
    execute, renames = engine.execute, 0

    def taken(statement: Statement) -> None:
        nonlocal renames
        renames += statement.name == "release/replace"
        if statement.name == "release/replace" and renames == 2:
            execute(Statement("test", "CREATE TABLE released (mine TEXT)"))
        execute(statement)

    engine.execute = taken
    with pytest.raises(DatabaseError):
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED))
    engine.execute = execute
    (left,) = tables(engine)
    assert left.endswith("_old")
    assert [item.name for item in clean(engine, drop=False).objects] == [left]
    clean(engine, drop=True)
    assert tables(engine) == set()


def test_a_published_release_is_no_failure_where_its_record_stays(engine: Any) -> None:
    """The database refuses the last statement of all; `clean` does it, and the release is not touched."""
    execute = engine.execute

    def refusing(statement: Statement) -> None:
        if statement.name == "engines/scratch/forget":
            raise DatabaseError("refused by the test")
        execute(statement)

    engine.execute = refusing
    assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED)).passed
    engine.execute = execute
    assert {item.state for item in clean(engine, drop=True).objects} == {"already gone"}
    assert clean(engine, drop=False).objects == ()
    assert engine.fetch(Statement("test", "SELECT COUNT(*) FROM released"), 1) == [(3,)]


def test_what_was_all_dropped_is_forgotten_in_one_statement(engine: Engine) -> None:
    watched = Refusing(engine, "no table has this ending")
    assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(ASKED)).passed
    assert watched.names.count("engines/scratch/forget_run") == 1
    assert watched.names.count("engines/scratch/forget") == 1, "the name that the release was written under"


def test_a_table_that_is_made_again_under_its_name_is_recorded_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rows cannot be deleted: a ledger lets one run write several releases, each under the run's name."""
    monkeypatch.setattr(type(engine.dialect), "deletes", False)
    record = Relation((SCRATCH_TABLE,))
    with open_workspace(engine, "people") as workspace:
        made = Relation((f"kanon_{workspace.run_id}_release",))
        workspace.create_shared("engines/scratch/create_record", record)
        for _ in range(3):
            workspace.record(made, record)
            assert [item.name for item in clean(engine, drop=False).objects] == [made.parts[0]]
            workspace.forget(made, record)
            assert clean(engine, drop=False).objects == ()
        workspace.record(made, record)
    assert [item.state for item in clean(engine, drop=True).objects] == ["already gone"]
    assert clean(engine, drop=False).objects == ()
