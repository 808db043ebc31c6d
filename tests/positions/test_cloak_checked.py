"""Cloaked positions: what was written is examined, and what stands is checked again."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

import kanon_sql
from kanon_sql.errors import KanonError, VerificationError
from kanon_sql.report.json import cloak_schema
from tests.conftest import Database
from tests.oracles.positions import Point
from tests.support.cloaked import COMMUTE, cloaked, commuting, patterns, shapes, spec_of, stored, tables, with_wishes
from tests.support.strategies import TIMES

# --- What was written is examined ----------------------------------------------------------

ROWS = [(1, "a", 0.5, 0.5, 0), (2, "b", 0.6, 0.6, 0), (3, "c", 4.5, 4.5, 0), (4, "d", 7.5, 7.5, 0)]


def tampered(monkeypatch: pytest.MonkeyPatch, after: str, sql: str) -> None:
    """Run a statement of somebody else's after one of ours; TARGET stands for the table that ours made."""
    from kanon_sql.engines.workspace import Workspace

    original = Workspace.run

    def run_and_tamper(self: Workspace, statement: Any) -> None:
        original(self, statement)
        if statement.name == after:
            table = re.search(r"CREATE (?:TEMPORARY )?TABLE (\S+)", statement.sql).group(1)  # type: ignore[union-attr]
            self.engine._connection.execute(sql.replace("TARGET", table))  # type: ignore[attr-defined]

    monkeypatch.setattr(Workspace, "run", run_and_tamper)


@pytest.mark.parametrize(
    ("after", "sql", "message"),
    [
        (
            "positions/satisfied",
            "INSERT INTO TARGET SELECT 0, 1, 99",
            "got a cell",
        ),
        ("positions/assigned", "UPDATE TARGET SET cell_number = NULL WHERE who = 'a'", "got a cell"),
        ("positions/assigned", "DELETE FROM TARGET WHERE who = 'a'", "got a cell"),
        ("positions/assigned", "UPDATE TARGET SET who = 'b' WHERE who = 'a'", "1 classes have too few people"),
        ("positions/assigned", "UPDATE TARGET SET x_units = x_units + 20 WHERE who = 'a'", "1 rows are outside"),
        ("positions/assigned", "UPDATE TARGET SET y_units = y_units - 20 WHERE who = 'd'", "1 rows are outside"),
        ("positions/release", "UPDATE TARGET SET x = '[0, 2)' WHERE n = 1", "labels do not have the rows"),
        ("positions/release", "DELETE FROM TARGET WHERE n = 1", "labels do not have the rows"),
        ("positions/release", "ALTER TABLE TARGET ADD COLUMN who VARCHAR", "not have the promised columns"),
        ("positions/labels", "UPDATE TARGET SET x_label = '*', y_label = '*'", "labels do not have the rows"),
    ],
)
def test_what_was_written_is_examined(
    database: Database, monkeypatch: pytest.MonkeyPatch, after: str, sql: str, message: str
) -> None:
    tampered(monkeypatch, after, sql)
    with pytest.raises(VerificationError, match=message):
        cloaked(database, ROWS)
    assert "cloaked" not in database.tables()
    assert not [name for name in database.tables() if name.endswith("release")]


def test_cells_in_which_too_few_were_are_found_in_what_was_written(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    tampered(monkeypatch, "positions/assigned", "UPDATE TARGET SET who = 'b' WHERE who = 'a'")
    with pytest.raises(VerificationError, match="1 cells have too few people"):
        cloaked(database, ROWS, anonymity_set="present")


def test_a_release_holds_no_person_and_no_position(database: Database) -> None:
    assert cloaked(database, ROWS).passed
    assert database.columns("cloaked") == ["n", "x", "y"]
    ((manifest,),) = database.connection.execute("SELECT manifest FROM kanon_sql_manifest").fetchall()
    found = json.loads(manifest)
    assert found["cloaked"]["classes"] == 2
    assert found["spec"]["position"]["depth"] == 3
    assert not re.search(r"0\.5|'a'", manifest)
    assert not [name for name in database.tables() if name.startswith("kanon_") and "sql" not in name]
    assert cloaked(database, ROWS).passed, "a release replaces its own"


# --- What stands ---------------------------------------------------------------------------


def checked(database: Database, **changes: Any) -> kanon_sql.results.CloakResult:
    """The table ``cloaked`` beside what ``rows`` gives now; nothing is written."""
    before = {name: Counter(database.rows(name)) for name in database.tables()}
    spec: dict[str, Any] = {
        "version": 1, "kind": "positions", "source": "rows", "release": "cloaked", "unit": "who", "keep": ["n"],
        "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3}, "k": 2,
    }  # fmt: skip
    found = kanon_sql.cloak(database.engine, kanon_sql.CloakSpec.from_dict({**spec, **changes}), check=True)
    assert {name: Counter(database.rows(name)) for name in database.tables()} == before
    jsonschema.validate(found.to_dict(), cloak_schema())
    return found


@pytest.mark.slow
@given(tables(days=9, most=20), shapes(), patterns())
@settings(max_examples=15 * max(1, TIMES))
def test_what_was_published_stands_as_long_as_nobody_changes_it(
    shared_database: Database, points: list[Point], shape: dict[str, Any], pattern: dict[str, Any]
) -> None:
    database = shared_database
    database._connection.execute("DROP TABLE IF EXISTS cloaked")
    stored(database, with_wishes(points, shape))
    spec = spec_of(shape, **({"lbqids": {"pattern": pattern}} if shape["widths"] else {}))
    if not kanon_sql.cloak(database.engine, spec).passed:
        return
    assert kanon_sql.cloak(database.engine, spec, check=True).passed
    database._connection.execute("DELETE FROM cloaked WHERE n = (SELECT MIN(n) FROM cloaked)")
    found = kanon_sql.cloak(database.engine, spec, check=True)
    assert found.message.startswith("cloaked: 1 labels do not have the rows that the source and the spec imply")


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("UPDATE cloaked SET x = '[0, 2)' WHERE n = 1", "2 labels do not have the rows"),
        ("UPDATE cloaked SET x = x || ' ' WHERE n = 1", "2 labels do not have the rows"),
        ("UPDATE cloaked SET y = NULL WHERE n = 1", "2 labels do not have the rows"),
        ("DELETE FROM cloaked WHERE n = 1", "1 labels do not have the rows"),
        ("DELETE FROM cloaked", "2 labels do not have the rows"),
        ("INSERT INTO cloaked SELECT * FROM cloaked WHERE n = 1", "1 labels do not have the rows"),
        ("ALTER TABLE cloaked ADD COLUMN phone VARCHAR", r"columns that the spec does not release \(phone\); leave"),
        ("UPDATE rows SET who = 'a'", "cloaked cannot stand: even the coarsest cells have too few people"),
        ("DELETE FROM rows WHERE n = 1", "cloaked cannot stand: 1 row of 3 would have to be left out"),
        ("UPDATE rows SET x = 7.5, y = 7.5", "2 labels do not have the rows|3 labels do not have the rows"),
    ],
)
def test_what_was_changed_since_is_found(database: Database, sql: str, message: str) -> None:
    assert cloaked(database, ROWS).passed
    assert checked(database).message == (
        "cloaked: 4 rows have the labels that the source gives, at least 2 people with the same label"
    )
    database._connection.execute(sql)
    found = checked(database)
    assert not found.passed
    assert re.search(message, found.message)


@pytest.mark.slow
def test_a_spec_that_asks_for_more_than_the_published_one_fails(database: Database) -> None:
    """For more people, or for a pattern that is shared: whoever published did not look for it."""
    rows = commuting("a", [0, 1, 2, 7, 8, 9], 1) + commuting("b", [0, 1, 2], 100) + commuting("c", [7, 8, 9], 200)
    time = {"column": "t", "widths": [3600]}
    assert cloaked(database, rows, time=time).passed
    assert checked(database, time=time).passed
    exposed = checked(database, time=time, lbqids={"commute": COMMUTE})
    assert "cloaked cannot stand: the rows of people who match an LBQID" in exposed.message
    assert (exposed.verdict, exposed.lbqids["commute"]["exposed"]) == ("fail", 1)
    assert not checked(database, time=time, k=3).passed


def test_what_cannot_be_checked_is_refused(database: Database) -> None:
    assert cloaked(database, ROWS).passed
    with pytest.raises(KanonError, match="release: missing; name the table to check"):
        checked(database, release=None)
    with pytest.raises(KanonError, match="there is no table or view 'nowhere'"):
        checked(database, release="nowhere")
    database._connection.execute("CREATE TABLE halved AS SELECT x FROM cloaked")
    with pytest.raises(KanonError, match="halved: there is no column 'y', which the spec releases"):
        checked(database, release="halved")
    spec = spec_of({"depth": 1, "coarsest": 1, "neighbours": False, "widths": [], "origin": 0, "time_first": False,
                    "present": False, "wishes": False, "k": 2})  # fmt: skip
    with pytest.raises(KanonError, match="preview shows the next release, and check the published one"):
        kanon_sql.cloak(database.engine, spec, preview=True, check=True)
