"""Nothing unverified is ever visible under the release's name, whatever fails and whenever."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.base import Deadline, Engine, Meter
from kanon_sql.errors import DatabaseError, QueryTimeout, SpecError, UnsupportedError, VerificationError
from kanon_sql.evaluate.evaluator import Evaluator
from kanon_sql.evaluate.outcome import Chosen
from kanon_sql.sql.statement import Statement
from kanon_sql.verbs import anonymize as anonymize_module
from kanon_sql.verbs.clean import clean
from tests.conftest import Database
from tests.support.specs import QUIET

RELEASE = "visits_release"
TYPES = {"name": "VARCHAR", "sex": "VARCHAR", "age": "INTEGER", "diagnosis": "VARCHAR"}
ROWS = [("Ada Planted", sex, age, f"illness {age % 3}") for sex in "FM" for age in (30, 31, 32, 40, 41, 42) * 2]
OLD_ROWS = Counter({("*", "30s", "before"): 7})


@pytest.fixture
def visits(database: Database) -> Database:
    """A small source."""
    database.table("visits", TYPES, ROWS)
    return database


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": RELEASE,
            "identifiers": ["name"],
            "quasi_identifiers": {"sex": None, "age": {"intervals": [10]}},
            "sensitive": ["diagnosis"],
            "privacy": [{"k_anonymity": 3}],
            "suppression": {"max_rows": 0},
            "warnings": QUIET,
            **changes,
        }
    )


AT_ONE_NODE = {
    "sex": {"minimum_level": 1, "maximum_level": 1},
    "age": {"intervals": [10], "minimum_level": 1, "maximum_level": 1},
}
NEW_ROWS = Counter(("*", "[30, 40)" if age < 40 else "[40, 50)", illness) for _, _, age, illness in ROWS)


def publish_old(database: Database) -> None:
    """An older release, as if kanon_sql had published it."""
    database.table(RELEASE, ["sex", "age", "diagnosis"], list(OLD_ROWS.elements()))
    database.connection.execute(f"COMMENT ON TABLE {RELEASE} IS 'anonymized by kanon_sql, run 0'")
    columns = ["release_name", "run_id", "published_at", "spec_hash", "manifest"]
    database.table("kanon_sql_manifest", columns, [(RELEASE, "0", "2001-01-01", "0", "{}")])


def content(database: Database) -> Counter[tuple[Any, ...]] | None:
    """The rows under the release's name; None when nothing stands there."""
    return Counter(database.rows(RELEASE)) if RELEASE in database.tables() else None


def leftovers(database: Database) -> list[str]:
    """Scratch tables that still exist, temporary ones included."""
    found = database.connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
    return [name for (name,) in found if re.fullmatch(r"kanon_[0-9a-f]{8}_\w+", name)]


def recorded(database: Database) -> list[str]:
    """Scratch tables that are recorded."""
    if "kanon_sql_scratch" not in database.tables():
        return []
    return [json.loads(row[1])[-1] for row in database.rows("kanon_sql_scratch")]


class Tripwire:
    """Raises before the n-th statement of a run, once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, error: BaseException) -> None:
        self.names: list[str] = []
        count = Meter.count

        def counted(meter: Meter, statement: Statement) -> None:
            self.names.append(statement.name)
            if len(self.names) == at:
                raise error
            count(meter, statement)

        monkeypatch.setattr(Meter, "count", counted)


def statement_names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements of an undisturbed run that replaces a release."""
    with duckdb.connect(config={"threads": 1}) as connection, monkeypatch.context() as patch:
        database = Database(connection)
        database.table("visits", TYPES, ROWS)
        publish_old(database)
        tripwire = Tripwire(patch, 0, KeyboardInterrupt())
        assert kanon_sql.anonymize(database.engine, spec(quasi_identifiers=AT_ONE_NODE)).passed
        return tripwire.names


# --- interrupted runs --------------------------------------------------------------------------


@pytest.mark.parametrize("replaces", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("part", range(2))
@pytest.mark.sampled(4)
@pytest.mark.campaign_on("0-False")
def test_an_interrupted_run_leaves_the_old_release_or_the_new(
    monkeypatch: pytest.MonkeyPatch, replaces: bool, part: int
) -> None:
    """For every n: the n-th statement fails, or Ctrl-C comes before it."""
    names = statement_names(monkeypatch)
    write = names.index("release/write")
    # Nothing is at stake before the release is written: there, every tenth statement, with one error in turn.
    early = range(1, write, 10) if replaces else []
    late = range(write, len(names) + 1)
    errors = [KeyboardInterrupt(), DatabaseError("the disk is full")]
    trials = [(n, errors[n % 2]) for n in early] + [(n, error) for n in late for error in errors]
    for n, error in trials[part::2]:
        with duckdb.connect(config={"threads": 1}) as connection:
            database = Database(connection)
            database.table("visits", TYPES, ROWS)
            if replaces:
                publish_old(database)
            raised = False
            with monkeypatch.context() as patch:
                tripwire = Tripwire(patch, n, error)
                try:
                    kanon_sql.anonymize(database.engine, spec(quasi_identifiers=AT_ONE_NODE))
                except type(error):
                    raised = True
            if len(tripwire.names) < n:
                continue  # a first release takes a statement less
            where = f"{error!r} before statement {n}, {tripwire.names[n - 1]}"
            before = tripwire.names[: n - 1]
            published = "release/manifest/insert" in before[:-1]  # the commit is the statement after it
            if replaces and tripwire.names[n - 1] == "release/manifest/create" and isinstance(error, DatabaseError):
                published = True  # the manifest is there, so that not making it is no failure
            found = content(database)
            if published:
                assert found == NEW_ROWS, where
            else:
                assert found == (OLD_ROWS if replaces else None), where
                assert raised, where
            assert {name for name in leftovers(database) if name.endswith("_release")} <= {*recorded(database)}
            if isinstance(error, DatabaseError) and tripwire.names[n - 1] not in (
                "engines/scratch/drop",
                "engines/scratch/forget",
            ):
                assert leftovers(database) == recorded(database) == [], where
            assert_clean_leaves_nothing(database, where)


def assert_clean_leaves_nothing(database: Database, where: str) -> None:
    database.connection.execute("BEGIN TRANSACTION")  # the run's own transaction is over
    database.connection.execute("ROLLBACK")
    clean(database.engine, drop=True)
    assert recorded(database) == [], where
    assert not [name for name in leftovers(database) if name.endswith("_release")], where


def test_the_run_after_an_interrupted_one_succeeds(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        Tripwire(patch, 25, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            kanon_sql.anonymize(visits.engine, spec())
    assert kanon_sql.anonymize(visits.engine, spec()).passed
    assert leftovers(visits) == recorded(visits) == []


KILLED = """
import os, signal, sys
import kanon_sql
from kanon_sql.engines.base import Meter

file, spec, name, occurrence = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
count, seen = Meter.count, 0

def counted(meter, statement):
    global seen
    seen += statement.name == name
    if seen == occurrence:
        os.kill(os.getpid(), signal.SIGKILL)
    count(meter, statement)

Meter.count = counted
kanon_sql.anonymize(kanon_sql.connect(file), kanon_sql.Spec.load(spec))
"""


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "occurrence"),
    [
        pytest.param("frequency/totals", 1, marks=pytest.mark.slow),
        pytest.param("release/write", 1, marks=pytest.mark.slow),
        ("release/count", 1),
        pytest.param("release/rename", 1, marks=pytest.mark.slow),
        ("release/manifest/insert", 1),
    ],
)
def test_a_killed_process_leaves_the_old_release(tmp_path: Path, name: str, occurrence: int) -> None:
    file, yaml, script = tmp_path / "clinic.duckdb", tmp_path / "spec.yml", tmp_path / "killed.py"
    yaml.write_text(json.dumps(spec(quasi_identifiers=AT_ONE_NODE).to_dict()), encoding="utf-8")
    script.write_text(textwrap.dedent(KILLED), encoding="utf-8")
    with duckdb.connect(str(file)) as connection:
        database = Database(connection)
        database.table("visits", TYPES, ROWS)
        publish_old(database)
    done = subprocess.run([sys.executable, str(script), str(file), str(yaml), name, str(occurrence)], check=False)
    assert done.returncode == -signal.SIGKILL
    with duckdb.connect(str(file)) as connection:
        database = Database(connection)
        assert content(database) == OLD_ROWS
        assert leftovers(database) == [table for table in recorded(database) if table in database.tables()]
        listed = clean(database.engine, drop=False)
        assert {item.state for item in listed.objects} <= {"left over", "already gone"}
        assert len(listed.objects) == len(recorded(database))
        assert content(database) == OLD_ROWS, "listing drops nothing"
        clean(database.engine, drop=True)
        assert leftovers(database) == recorded(database) == []
        assert content(database) == OLD_ROWS
        assert kanon_sql.anonymize(database.engine, spec(quasi_identifiers=AT_ONE_NODE)).passed
        assert content(database) == NEW_ROWS


@pytest.mark.slow
def test_killed_after_the_commit_is_published(tmp_path: Path) -> None:
    file, yaml, script = tmp_path / "clinic.duckdb", tmp_path / "spec.yml", tmp_path / "killed.py"
    yaml.write_text(json.dumps(spec(quasi_identifiers=AT_ONE_NODE).to_dict()), encoding="utf-8")
    script.write_text(textwrap.dedent(KILLED), encoding="utf-8")
    with duckdb.connect(str(file)) as connection:
        database = Database(connection)
        database.table("visits", TYPES, ROWS)
    done = subprocess.run(
        [sys.executable, str(script), str(file), str(yaml), "engines/scratch/forget", "1"], check=False
    )
    assert done.returncode == -signal.SIGKILL
    with duckdb.connect(str(file)) as connection:
        database = Database(connection)
        assert content(database) == NEW_ROWS
        assert len(database.rows("kanon_sql_manifest")) == 1
        clean(database.engine, drop=True)
        assert content(database) == NEW_ROWS, "a record of what was renamed drops nothing"
        assert recorded(database) == []


# --- verification --------------------------------------------------------------------------------


CORRUPTIONS = {
    "a row more": "INSERT INTO {table} SELECT * FROM {table} LIMIT 1",
    "a row less": "DELETE FROM {table} WHERE rowid = (SELECT MIN(rowid) FROM {table})",
    "a raw value": "UPDATE {table} SET age = '31' WHERE rowid = (SELECT MIN(rowid) FROM {table})",
    "a value of another level": "UPDATE {table} SET sex = '*'",
    "a NULL": "UPDATE {table} SET age = NULL WHERE rowid = (SELECT MIN(rowid) FROM {table})",
    "a class too small": """
        UPDATE {table} SET sex = 'M' WHERE sex = 'F' AND rowid <> (SELECT MIN(rowid) FROM {table} WHERE sex = 'F')
    """,
    "a column more": "ALTER TABLE {table} ADD COLUMN name VARCHAR",
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("style", ["drop", pytest.param("mask", marks=pytest.mark.slow)])
@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_a_written_table_that_is_not_as_promised_is_dropped(
    visits: Database, monkeypatch: pytest.MonkeyPatch, corruption: str, style: str
) -> None:
    at_age = {"sex": {"maximum_level": 0}, "age": {"intervals": [10], "minimum_level": 1, "maximum_level": 1}}
    kind = type(visits.engine)
    execute = kind.execute

    def corrupting(engine: Any, statement: Statement) -> None:
        execute(engine, statement)
        if statement.name == "release/write":
            (table,) = re.findall(r'CREATE TABLE ("kanon_\w+_release")', statement.sql)
            visits.connection.execute(CORRUPTIONS[corruption].format(table=table))

    with monkeypatch.context() as patch:
        patch.setattr(kind, "execute", corrupting)
        question = spec(quasi_identifiers=at_age, suppression={"max_rows": 0, "style": style})
        with pytest.raises(VerificationError, match="dropped") as caught:
            kanon_sql.anonymize(visits.engine, question)
    assert "31" not in str(caught.value)
    assert content(visits) is None
    assert leftovers(visits) == recorded(visits) == []
    assert kanon_sql.anonymize(visits.engine, spec(quasi_identifiers=at_age)).passed


def test_a_wrong_node_is_caught(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that chooses what does not satisfy is stopped by the verification."""
    monkeypatch.setattr(Chosen, "node", property(lambda found: (0, 0)))
    with pytest.raises(VerificationError, match="does not satisfy 3-anonymity"):
        kanon_sql.anonymize(visits.engine, spec())
    assert content(visits) is None
    assert leftovers(visits) == []


def test_the_verification_counts_persons(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows of one person are a class of one, also where the search let them pass."""
    people = [("Ada Planted", "F", 30, "flu")] * 3 + [(name, "M", 30, "flu") for name in ("Bo", "Cy", "Di")]
    visits.table("visits", TYPES, people)
    by_person = spec(identifiers=[], unit="name")
    with monkeypatch.context() as patch:
        patch.setattr(Chosen, "node", property(lambda found: (0, 0)))
        with pytest.raises(VerificationError, match="does not satisfy 3-anonymity"):
            kanon_sql.anonymize(visits.engine, by_person)
    assert content(visits) is None
    assert leftovers(visits) == []
    assert kanon_sql.anonymize(visits.engine, by_person).passed  # with sex at its top, there are four persons


def test_forgotten_suppression_is_caught(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    visits.connection.execute("INSERT INTO visits VALUES ('Ada Planted', 'F', 99, 'rare')")
    suppressed = Evaluator.suppressed_classes

    def nothing(self: Evaluator, node: Any) -> Any:
        table = suppressed(self, node)
        visits.connection.execute(f'DELETE FROM "{table.parts[-1]}"')
        return table

    monkeypatch.setattr(Evaluator, "suppressed_classes", nothing)
    with pytest.raises(VerificationError):
        kanon_sql.anonymize(visits.engine, spec(suppression={"max_rows": 1}))
    assert content(visits) is None


CHANGES = {
    "rows added": "INSERT INTO visits SELECT * FROM visits LIMIT 1",
    "rows removed": "DELETE FROM visits WHERE age = 30",
    "a value no lookup knows": "UPDATE visits SET age = 77 WHERE age = 30",
    "classes moved": "UPDATE visits SET sex = CASE WHEN rowid = 0 THEN 'F' ELSE 'M' END",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("change", CHANGES)
def test_a_source_that_changes_between_the_scans_is_caught(
    visits: Database, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    kind = type(visits.engine)
    execute = kind.execute

    def changing(engine: Any, statement: Statement) -> None:
        if statement.name == "release/write":
            visits.connection.execute(CHANGES[change])
        execute(engine, statement)

    monkeypatch.setattr(kind, "execute", changing)
    with pytest.raises(VerificationError, match="verification"):
        kanon_sql.anonymize(visits.engine, spec(quasi_identifiers={"sex": None, "age": {"intervals": [10]}}))
    assert content(visits) is None
    assert leftovers(visits) == []


# --- names -------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_what_kanon_sql_did_not_publish_is_not_replaced(visits: Database, kind: str) -> None:
    visits.connection.execute(f"CREATE {kind} {RELEASE} AS SELECT 1 AS mine")
    with pytest.raises(SpecError, match=f"already a {kind.lower()} .*did not publish"):
        kanon_sql.anonymize(visits.engine, spec())
    assert visits.rows(RELEASE) == [(1,)]
    visits.connection.execute(f"DROP {kind} {RELEASE}")
    assert kanon_sql.anonymize(visits.engine, spec()).passed


def test_a_view_over_an_old_name_is_not_replaced(visits: Database) -> None:
    """Published once, dropped, and something else made under the name: still in the manifest, yet a view."""
    kanon_sql.anonymize(visits.engine, spec())
    visits.connection.execute(f"DROP TABLE {RELEASE}")
    visits.connection.execute(f"CREATE VIEW {RELEASE} AS SELECT 1 AS mine")
    with pytest.raises(SpecError, match="did not publish"):
        kanon_sql.anonymize(visits.engine, spec())


def test_a_connection_that_is_given_for_reading_is_not_written_to(visits: Database) -> None:
    reading = kanon_sql.connect(visits.connection, read_only=True)
    assert kanon_sql.plan(reading, spec()).passed
    for writes in (lambda: kanon_sql.anonymize(reading, spec()), lambda: clean(reading, drop=True)):
        with pytest.raises(SpecError, match="read-only"):
            writes()
    assert visits.tables() == ["visits"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dropped", [True, False])
@pytest.mark.parametrize("place", ["a schema", "the session"])
def test_a_table_elsewhere_that_hides_the_release_is_not_replaced(visits: Database, place: str, dropped: bool) -> None:
    """The manifest speaks for the place that it is in, and a plain name may mean another one by now."""
    kanon_sql.anonymize(visits.engine, spec())
    if dropped:
        visits.connection.execute(f"DROP TABLE {RELEASE}")
    if place == "a schema":
        visits.connection.execute(f"CREATE SCHEMA app; CREATE TABLE app.{RELEASE} AS SELECT 'precious' AS mine")
        visits.connection.execute("SET search_path = 'app,main'")
    else:
        visits.connection.execute(f"CREATE TEMPORARY TABLE {RELEASE} AS SELECT 'precious' AS mine")
    with pytest.raises(SpecError, match="did not publish"):
        kanon_sql.anonymize(visits.engine, spec())
    assert visits.rows(RELEASE) == [("precious",)]


@pytest.mark.slow
def test_a_release_does_not_move_to_another_schema(visits: Database) -> None:
    """Who reads it where it was would lose it."""
    kanon_sql.anonymize(visits.engine, spec())
    before = Counter(visits.rows(f"{RELEASE}"))
    visits.connection.execute("CREATE SCHEMA app")
    visits.connection.execute("CREATE TABLE app.kanon_sql_manifest AS FROM kanon_sql_manifest")
    visits.connection.execute("SET search_path = 'app,main'")
    with pytest.raises(SpecError, match="did not publish"):
        kanon_sql.anonymize(visits.engine, spec())
    visits.connection.execute("DROP TABLE app.kanon_sql_manifest")
    with pytest.raises(SpecError, match=r"did not publish|write the name with its schema"):
        kanon_sql.anonymize(visits.engine, spec())
    assert Counter(visits.connection.execute(f"FROM main.{RELEASE}").fetchall()) == before
    assert kanon_sql.anonymize(visits.engine, spec(release=f"main.{RELEASE}")).passed


@pytest.mark.parametrize("name", ["visits", "VISITS", '"visits"'])
def test_the_source_is_no_release(name: str) -> None:
    with pytest.raises(SpecError, match="source's name"):
        spec(release=name)


def test_a_release_that_the_database_takes_for_the_source_is_refused(visits: Database) -> None:
    """`main.visits` is `visits`, whatever the spec says."""
    before = visits.rows("visits")
    with pytest.raises(SpecError):
        kanon_sql.anonymize(visits.engine, spec(release="main.visits"))
    assert visits.rows("visits") == before


@pytest.mark.parametrize("source", [RELEASE, f"memory.main.{RELEASE}", RELEASE.upper()])
def test_a_release_is_not_made_from_itself(visits: Database, source: str) -> None:
    """Publishing drops what stands under the name: here that would be the source, however it is written."""
    publish_old(visits)
    question = spec(source=source, release=f"MAIN.{RELEASE}", identifiers=[])
    with pytest.raises(SpecError, match="is the source itself"):
        kanon_sql.anonymize(visits.engine, question)
    assert content(visits) == OLD_ROWS


def test_a_failing_requirement_leaves_the_old_release(visits: Database) -> None:
    publish_old(visits)
    result = kanon_sql.anonymize(visits.engine, spec(privacy=[{"k_anonymity": 1000}]))
    assert not result.passed
    assert result.release is None
    assert content(visits) == OLD_ROWS
    assert leftovers(visits) == recorded(visits) == []


# --- after a run -----------------------------------------------------------------------------------


def test_nothing_but_the_release_stays(visits: Database) -> None:
    assert kanon_sql.plan(visits.engine, spec()).passed
    assert visits.tables() == ["visits"], "plan leaves nothing at all"
    assert kanon_sql.anonymize(visits.engine, spec()).passed
    assert visits.tables() == sorted(["visits", RELEASE, "kanon_sql_manifest", "kanon_sql_scratch"])
    assert leftovers(visits) == recorded(visits) == []
    assert visits.columns(RELEASE) == ["sex", "age", "diagnosis"]


def test_two_releases_and_two_manifests(visits: Database) -> None:
    first = kanon_sql.anonymize(visits.engine, spec())
    second = kanon_sql.anonymize(visits.engine, spec(release="other"))
    again = kanon_sql.anonymize(visits.engine, spec())
    manifests = visits.rows("kanon_sql_manifest")
    assert [row[0] for row in manifests] == [RELEASE, "other", RELEASE]
    assert len({row[1] for row in manifests}) == 3
    assert [json.loads(row[4])["run_id"] for row in manifests] == [row[1] for row in manifests]
    assert first.node == second.node == again.node


def test_the_manifest(visits: Database) -> None:
    question = spec(
        source={"query": "SELECT *, 'Ada Planted' AS note FROM visits WHERE name <> 'Bob Planted'"},
        quasi_identifiers={
            "sex": {"tree": {"Planted group": ["F", "M"]}},
            "age": {"sql": ["CASE WHEN x < 35 THEN 'Planted young' ELSE 'Planted old' END"]},
        },
    )
    result = kanon_sql.anonymize(visits.engine, question)
    ((name, run_id, published_at, spec_hash, text),) = visits.rows("kanon_sql_manifest")
    assert result.manifest == json.loads(text)
    manifest = json.loads(text)
    assert "Planted" not in text
    assert (name, spec_hash) == (RELEASE, question.hash)
    assert (manifest["run_id"], manifest["published_at"], manifest["spec_hash"]) == (run_id, published_at, spec_hash)
    assert manifest["rows"] == {"source": 24, "released": 24, "suppressed": 0}
    assert manifest["node"] == result.node
    assert manifest["achieved"]["k_anonymity"]["k"] >= 3
    assert manifest["metrics"] == result.metrics
    assert manifest["search"]["proven"] is True
    assert {"statements", "source_scans", "rows_fetched", "bytes_fetched", "seconds"} == set(manifest["cost"])
    assert {"python", "sqlglot", "engine"} == set(manifest["versions"])


def test_the_rows_are_shuffled(visits: Database) -> None:
    """The physical order of a release says nothing about the source's."""
    visits.connection.execute("CREATE OR REPLACE TABLE visits AS SELECT *, rowid AS n FROM visits, range(20)")
    orders = []
    for _ in range(2):
        kanon_sql.anonymize(visits.engine, spec(keep=["n"]))
        orders.append([row[-1] for row in visits.rows(RELEASE)])
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]
    assert sorted(orders[0]) != orders[0]


# --- limits -----------------------------------------------------------------------------------------


def test_a_read_only_connection_cannot_anonymize(tmp_path: Path) -> None:
    file = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(file)) as connection:
        types = TYPES
        Database(connection).table("visits", types, ROWS)
    engine = kanon_sql.connect(file, read_only=True)
    try:
        with pytest.raises(SpecError, match="read-only"):
            kanon_sql.anonymize(engine, spec())
        assert kanon_sql.plan(engine, spec()).passed, "planning needs no right to write"
        assert kanon_sql.check(engine, spec(), "visits").verdict == "fail"
    finally:
        engine.close()


@pytest.mark.parametrize("seconds", [1e-9, 0.05])
def test_a_time_limit_leaves_nothing(visits: Database, seconds: float) -> None:
    visits.connection.execute("INSERT INTO visits SELECT 'x', 'F', i % 90, 'd' FROM range(300000) AS t(i)")
    before = content(visits)
    with pytest.raises(QueryTimeout, match="time limit"):
        kanon_sql.anonymize(visits.engine, spec(), timeout=seconds)
    assert content(visits) == before
    assert leftovers(visits) == recorded(visits) == []


@pytest.mark.slow
def test_a_time_limit_cancels_a_running_statement(visits: Database) -> None:
    endless = Statement("endless", "SELECT COUNT(*) FROM range(100000) AS a(i), range(100000) AS b(j) WHERE i * j = 7")
    with visits.engine.run(Deadline(0.3)), pytest.raises(QueryTimeout, match=r"0\.3 s"):
        visits.engine.fetch(endless, 1)
    assert visits.engine.fetch(Statement("after", "SELECT 1"), 1) == [(1,)]


def test_a_time_limit_during_publishing_rolls_back(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is reached between the drop of the old release and the commit."""
    publish_old(visits)
    kind = type(visits.engine)
    execute = kind.execute

    def slow(engine: Any, statement: Statement) -> None:
        execute(engine, statement)
        if statement.name == "release/rename":
            monkeypatch.setattr(engine, "_deadline", Deadline(0))

    monkeypatch.setattr(kind, "execute", slow)
    with pytest.raises(QueryTimeout):
        kanon_sql.anonymize(visits.engine, spec(), timeout=60)
    assert content(visits) == OLD_ROWS
    visits.connection.execute("BEGIN TRANSACTION")
    visits.connection.execute("COMMIT")
    assert content(visits) == OLD_ROWS
    assert leftovers(visits) == recorded(visits) == []


@pytest.mark.slow
def test_a_transaction_that_the_user_opened_is_left_alone(visits: Database) -> None:
    connection = visits.connection
    connection.execute("BEGIN TRANSACTION")
    connection.execute("INSERT INTO visits VALUES ('Ada Planted', 'F', 30, 'illness 0')")
    with pytest.raises(UnsupportedError, match="transaction that kanon_sql did not open"):
        kanon_sql.anonymize(visits.engine, spec())
    assert len(visits.rows("visits")) == 25, "not aborted"
    assert kanon_sql.plan(visits.engine, spec()).rows["source"] == 25, "planning sees it, and needs none of its own"
    connection.execute("ROLLBACK")
    assert len(visits.rows("visits")) == 24, "not committed"
    assert kanon_sql.anonymize(visits.engine, spec()).passed


def test_the_order_of_publishing(visits: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verified first, then one transaction: drop, rename, manifest."""
    tripwire = Tripwire(monkeypatch, 0, KeyboardInterrupt())
    kanon_sql.anonymize(visits.engine, spec())
    names = [name for name in tripwire.names if name != "engines/scratch/drop"]
    tail = names[names.index("release/write") :]
    assert tail.index("evaluate/achieved") < tail.index("transaction") < tail.index("release/rename")
    assert (
        tail.index("release/rename")
        < tail.index("release/manifest/insert")
        < len(tail) - 1 - tail[::-1].index("transaction")
    )


def test_engines_are_engines(visits: Database) -> None:
    engine: Engine = visits.engine
    assert engine.capabilities.transactional_ddl, "what publishing in one transaction rests on"
    assert anonymize_module.__all__ == ["PRODUCERS", "anonymize"]
