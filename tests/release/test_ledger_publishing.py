"""What a ledger refuses to compare, and how releases are entered in it."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.release import ledger as history
from kanon_sql.sql.statement import Statement
from kanon_sql.verbs import publication
from kanon_sql.verbs.clean import clean
from tests.conftest import Database
from tests.support.ledgers import SQUARE, asked, entries, people
from tests.support.specs import QUIET

# --- what cannot be compared ----------------------------------------------------------------------------------


@pytest.fixture
def published(database: Database) -> Database:
    people(database, *SQUARE, *SQUARE)
    assert kanon_sql.anonymize(database.engine, asked("r1", 1, 0)).passed
    return database


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "the same name": ({"release": "R1"}, "publish under another name"),
    "another unit": ({"unit": "dx", "sensitive": []}, "protects rows, and this spec dx"),
    "a missing column": (
        {"source": {"query": "SELECT zip, dx, sex AS s FROM people"}, "quasi_identifiers": {"zip": None}},
        "no column 'sex', which r1 shows",
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared_is_refused_before_the_search(published: Database, case: str) -> None:
    changes, why = REFUSED[case]
    with pytest.raises(SpecError, match=why):
        kanon_sql.anonymize(published.engine, kanon_sql.Spec.from_dict({**asked("r2").to_dict(), **changes}))
    assert len(entries(published)) == 1


@pytest.mark.slow
def test_a_release_that_is_gone_or_altered(published: Database) -> None:
    changed = "r1 can no longer be derived from the source"
    published.connection.execute("UPDATE r1 SET dx = 'other' WHERE rowid = 0")
    assert changed in kanon_sql.anonymize(published.engine, asked("r2", 1, 0)).message
    published.connection.execute("ALTER TABLE r1 DROP COLUMN dx")
    assert changed in kanon_sql.anonymize(published.engine, asked("r2", 1, 0)).message
    published.connection.execute("DROP TABLE r1")
    with pytest.raises(SpecError, match=r"the release r1 .* is not in the database"):
        kanon_sql.anonymize(published.engine, asked("r2", 1, 0))


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("altered", [
    "zip = NULL, sex = NULL WHERE zip = '*'", "zip = '?' WHERE zip = '*'", "zip = '1*' WHERE zip = '10'",
    "zip = NULL WHERE zip = '10'",
])  # fmt: skip
def test_a_release_whose_classes_were_altered(database: Database, altered: str) -> None:
    """Two classes and three masked rows; what a cell says is compared, be it a label, a mask or neither."""
    people(database, "10 M a", "10 M a", "22 M c", "22 M c", "20 M a", "21 M a", "30 F a")
    first = kanon_sql.anonymize(database.engine, asked("r1", 0, 0, suppression={"max_rows": 3, "style": "mask"}))
    assert first.rows.get("masked") == 3
    again = asked("r2", 0, 0, suppression={"max_rows": 3, "style": "mask"})
    same = kanon_sql.anonymize(database.engine, again)
    assert same.ledger is not None
    assert same.ledger["changed"] == []
    database.connection.execute(f"UPDATE r1 SET {altered}")
    result = kanon_sql.anonymize(database.engine, asked("r3", 0, 0, suppression={"max_rows": 3, "style": "mask"}))
    assert (result.verdict, result.ledger and result.ledger["changed"]) == ("fail", ["r1"])


@pytest.mark.slow
def test_the_joint_table_is_made_without_labels(published: Database) -> None:
    """Planners misjudge joins by many texts, and a wrong guess costs minutes: rows find their classes by numbers."""
    result = kanon_sql.anonymize(published.engine, asked("r2", 1, 0))
    (joint,) = [sql for sql in result.sql if re.search(r'CREATE TEMPORARY TABLE "?kanon_\w+_joint"? ', sql)]
    assert "people" in joint
    assert not re.search(r"\bl\d+\b", joint)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("change", [
    "DELETE FROM people WHERE rowid = 0", "INSERT INTO people SELECT * FROM people LIMIT 1",
    "UPDATE people SET zip = '20' WHERE rowid = 0", "UPDATE people SET dx = 'new' WHERE rowid = 0",
])  # fmt: skip
def test_a_source_that_changed(published: Database, change: str) -> None:
    published.connection.execute(change)
    result = kanon_sql.anonymize(published.engine, asked("r2", 2, 1))
    assert (result.verdict, result.ledger and result.ledger["changed"]) == ("fail", ["r1"])


@pytest.mark.slow
def test_a_hierarchy_of_which_only_a_digest_is_known(database: Database, tmp_path: Path) -> None:
    people(database, *SQUARE, *SQUARE)
    file = tmp_path / "zip.csv"
    file.write_text("10;a\n11;a\n20;b\n21;b\n", encoding="utf-8")
    by_file = {"zip": {"file": str(file)}, "sex": None}
    assert kanon_sql.anonymize(database.engine, asked("r1", quasi_identifiers=by_file)).passed
    assert '"10"' not in json.dumps(entries(database))
    for others in ({"sex": None}, {"zip": {"prefix": [1]}, "sex": None}):
        with pytest.raises(SpecError, match="the ledger does not hold the hierarchy of zip in r1"):
            kanon_sql.anonymize(database.engine, asked("r2", quasi_identifiers=others))
    as_tree = {"zip": {"tree": {"a": ["10", "11"], "b": ["20", "21"]}}, "sex": None}
    assert kanon_sql.anonymize(database.engine, asked("r2", quasi_identifiers=as_tree)).passed, "the same rows"
    file.write_text("10;a\n11;b\n20;b\n21;b\n", encoding="utf-8")
    with pytest.raises(SpecError, match="does not hold the hierarchy of zip"):
        kanon_sql.anonymize(database.engine, asked("r3", quasi_identifiers=by_file))


def test_a_table_that_is_no_ledger(published: Database) -> None:
    with pytest.raises(SpecError, match="'r1' is a table, but not a ledger"):
        kanon_sql.anonymize(published.engine, asked("r2", ledger="r1"))
    published.connection.execute("UPDATE ledger SET manifest = '[]' WHERE run_id <> 'turn'")
    with pytest.raises(SpecError, match="holds a row that this version of kanon_sql cannot read"):
        kanon_sql.anonymize(published.engine, asked("r2"))


BY_PREFIX = {"attribute": "dx", "t": 0.5, "distance": "hierarchical", "hierarchy": {"prefix": [1]}}
CANNOT_HAVE: list[tuple[dict[str, Any], str]] = [
    ({"ledger": "People"}, "ledger: the ledger has the source's name"),
    ({"ledger": "r1"}, "ledger: the ledger has the release's name"),
    ({"quasi_identifiers": {"zip": {"table": "h"}}}, "a hierarchy table may change"),
    (
        {"privacy": [{"t_closeness": {"attribute": "dx", "t": 0.5, "reference": "release"}}]},
        "use reference: original",
    ),
    (
        {"privacy": [{"beta_likeness": {"attribute": "dx", "beta": 1, "reference": "release"}}]},
        "use reference: original",
    ),
    (
        {"privacy": [{"alpha_k_anonymity": {"attribute": "dx", "alpha": 0.5, "k": 2, "values": ["flu"]}}]},
        "values: a ledger holds no values",
    ),
    ({"privacy": [{"t_closeness": BY_PREFIX}]}, "hierarchy: a ledger holds no values"),
    (
        {"privacy": [{"k_map": {"population": "everybody", "k": 2}}]},
        "population: a ledger judges releases by their joint classes",
    ),
    (
        {"privacy": [{"delta_presence": {"population": "everybody", "delta_max": 0.5}}]},
        "population: a ledger judges releases by their joint classes",
    ),
    (
        {"search": {"algorithm": "k_optimize"}},
        "k_optimize derives its intervals from the data, which a ledger cannot recompute",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "why"), CANNOT_HAVE)
def test_what_a_spec_with_a_ledger_cannot_have(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError, match=why):
        asked("r1", **changes)


def test_without_scratch_tables_releases_are_not_compared(database: Database) -> None:
    people(database, *SQUARE)
    with pytest.raises(UnsupportedError, match="scratch mode 'inline' does not have"):
        kanon_sql.anonymize(kanon_sql.connect(database.connection, scratch="inline"), asked("r1"))


# --- publishing ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_releases_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was entered since the ledger was read was not compared with: nothing is published."""
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        database = Database(connection)
        people(database, *SQUARE, *SQUARE)
        assert kanon_sql.anonymize(database.engine, asked("r0", 1, 0, warnings=QUIET)).passed

        def overtaken(release: str) -> None:
            other = kanon_sql.connect(connection.cursor())
            assert kanon_sql.anonymize(other, asked(release, 2, 0, warnings=QUIET)).passed

        publish, take_turn = publication.publish, history.Addition.take_turn

        def after_reading(*given: Any) -> None:
            monkeypatch.undo()
            overtaken("r2")
            publish(*given)

        def inside_the_transaction(self: history.Addition, workspace: Any) -> None:
            monkeypatch.undo()
            overtaken("r3")
            take_turn(self, workspace)

        for owner, name, late, why in (
            (publication, "publish", after_reading, "another run entered a release meanwhile"),
            (history.Addition, "take_turn", inside_the_transaction, "."),
        ):
            monkeypatch.setattr(owner, name, late)
            with pytest.raises(DatabaseError, match=why):
                kanon_sql.anonymize(database.engine, asked("r1", 1, 0, warnings=QUIET))
            assert "r1" not in database.tables()
        assert sorted(entry["release"] for entry in entries(database)) == [["r0"], ["r2"], ["r3"]]
        assert kanon_sql.anonymize(database.engine, asked("r1", 1, 0, warnings=QUIET)).passed


@pytest.mark.slow
def test_the_first_two_releases_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new ledger holds nothing to wait for: each release is 2-anonymous, and both together show everybody alone."""
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        database = Database(connection)
        people(database, *SQUARE)
        take_turn = history.Addition.take_turn

        def overtaken(self: history.Addition, workspace: Any) -> None:
            monkeypatch.undo()
            take_turn(self, workspace)
            with suppress(DatabaseError):
                kanon_sql.anonymize(kanon_sql.connect(connection.cursor()), asked("r2", 0, 1))

        monkeypatch.setattr(history.Addition, "take_turn", overtaken)
        with suppress(DatabaseError):
            kanon_sql.anonymize(database.engine, asked("r1", 1, 0))
        assert [entry["release"] for entry in entries(database)] in ([["r1"]], [["r2"]])
        assert ("r1" in database.tables()) is not ("r2" in database.tables())


@pytest.mark.slow
def test_a_failure_at_any_statement_publishes_both_or_neither(
    published: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry and the release are one transaction."""
    kind = type(published.engine)
    execute = kind.execute
    for position in range(40):
        left = position

        def failing(self: Any, statement: Statement) -> None:
            nonlocal left
            if statement.name.startswith(("release/manifest/", "release/ledger/turn", "release/rename", "transaction")):
                left -= 1
                if left == -1:
                    raise DatabaseError("refused by the test")
            execute(self, statement)

        with monkeypatch.context() as patch:
            patch.setattr(kind, "execute", failing)
            try:
                kanon_sql.anonymize(published.engine, asked(f"s{position}", 1, 0))
            except DatabaseError:
                pass
            else:
                if left >= 0:
                    break  # else it was the publication of a table that is there already
        there = f"s{position}" in published.tables()
        assert there is ([f"s{position}"] in [entry["release"] for entry in entries(published)])
    else:
        raise AssertionError("publishing takes more than forty statements")
    assert f"s{position}" in published.tables()


@pytest.mark.slow
def test_without_transactions_a_release_that_is_not_recorded_is_withdrawn(
    published: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entered first, then renamed, then recorded: what fails in between leaves neither the release nor its entry."""
    kind = type(published.engine)
    execute = kind.execute
    in_steps = replace(published.engine.capabilities, transactional_ddl=False)
    monkeypatch.setattr(kind, "capabilities", in_steps)

    for name, about in (("release/rename", "r2"), ("release/manifest/insert", "kanon_sql_manifest")):

        def refusing(self: Any, statement: Statement, name: str = name, about: str = about) -> None:
            if statement.name == name and about in statement.sql:
                raise DatabaseError("refused by the test")
            execute(self, statement)

        with monkeypatch.context() as patch:
            patch.setattr(kind, "execute", refusing)
            with pytest.raises(DatabaseError, match="refused by the test"):
                kanon_sql.anonymize(published.engine, asked("r2", 1, 0))
        assert "r2" not in published.tables()
        assert [entry["release"] for entry in entries(published)] == [["r1"]]
    assert kanon_sql.anonymize(published.engine, asked("r2", 1, 0)).passed
    assert "r2" in published.tables()
    assert sorted(entry["release"] for entry in entries(published)) == [["r1"], ["r2"]]


def test_plan_and_render_say_that_they_do_not_compare(published: Database) -> None:
    assert "the ledger was not read" in kanon_sql.plan(published.engine, asked("r2", 0, 0)).notes[-1]
    assert "The ledger's statements are left out" in kanon_sql.render(asked("r2")).text


def test_the_list_of_releases(published: Database) -> None:
    found = kanon_sql.ledger(published.engine, "ledger")
    listed = found.to_dict()["entries"]
    names = [{name: item.pop("level_name") for name, item in one["quasi_identifiers"].items()} for one in listed]
    assert listed == entries(published)
    assert names == [{"sex": "as in the source", "zip": "first character"}]
    (entry,) = found.entries
    assert (entry.name, entry.quasi_identifiers["zip"].level, entry.rows["released"]) == ("r1", 1, 16)
    published.connection.execute("DELETE FROM ledger")
    assert kanon_sql.ledger(published.engine, "ledger").entries == ()
    with pytest.raises(SpecError, match="there is no ledger 'other'"):
        kanon_sql.ledger(published.engine, "other")


@pytest.mark.slow
def test_an_entry_holds_no_value(published: Database) -> None:
    people(published, *SQUARE, *SQUARE)
    query = {"query": "SELECT * FROM people WHERE dx <> 'Ada Planted'"}
    assert kanon_sql.anonymize(published.engine, asked("r2", 1, 0, source=query)).passed
    text = json.dumps(entries(published))
    assert "Planted" not in text
    assert not any(f'"d{number}"' in text for number in range(8))


class Killed(BaseException):
    """Nothing runs afterwards: a handler that is entered cannot reach the database."""


@pytest.mark.slow
def test_a_kill_while_a_release_is_entered_ends_with_clean(
    published: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where DDL cannot be rolled back: no release stands beside the ledger, and clean takes back what never stood."""
    kind = type(published.engine)
    execute = kind.execute
    monkeypatch.setattr(kind, "capabilities", replace(published.engine.capabilities, transactional_ddl=False))
    for position in range(1, 40):
        left = position

        def dying(self: Any, statement: Statement) -> None:
            nonlocal left
            left -= statement.name.startswith(("release/m", "release/rename", "engines/scratch/forget"))
            if left <= 0:
                raise Killed
            execute(self, statement)

        name = f"s{position}"
        with monkeypatch.context() as patch:
            patch.setattr(kind, "execute", dying)
            try:
                kanon_sql.anonymize(published.engine, asked(name, 1, 0))
            except Killed:
                pass
            else:
                break
        engine = kanon_sql.connect(published.connection)
        entered = [name] in [entry["release"] for entry in entries(published)]
        assert entered or name not in published.tables(), "what stands is in the ledger"
        if entered and name not in published.tables():
            with pytest.raises(SpecError, match="kanon-sql clean --yes"):
                kanon_sql.anonymize(engine, asked("other", 1, 0))
        clean(engine, drop=True)
        assert ([name] in [entry["release"] for entry in entries(published)]) is (name in published.tables())
        assert clean(engine, drop=False).objects == ()
    else:
        raise AssertionError("publishing takes more than forty statements")
    assert position > 6
    assert name in published.tables()
