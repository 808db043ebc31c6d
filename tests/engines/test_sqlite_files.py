"""SQLite's files: locks, attached ones, sessions, and statements that are cancelled."""

from __future__ import annotations

import signal
import sqlite3
import threading
import time
from _thread import interrupt_main
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import DatabaseError, QueryTimeout, SpecError, UnsupportedError
from kanon_sql.sql.statement import Statement
from kanon_sql.testing.reference import same
from kanon_sql.verbs.doctor import doctor
from tests.servers import subject_of
from tests.support.sqlite_files import connect, released, run, spec


@pytest.fixture(scope="module", autouse=True)
def installed() -> Iterator[None]:
    with subject_of("sqlite"):
        yield


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "clinic.db"


@pytest.fixture
def people(file: Path) -> Path:
    run(
        file,
        "CREATE TABLE people (q TEXT, s TEXT)",
        "INSERT INTO people VALUES ('a', 'x'), ('a', 'y'), ('b', 'x')",
    )
    return file


def test_a_locked_database_is_reported(people: Path) -> None:
    other = sqlite3.connect(people, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    engine = kanon_sql.connect(f"sqlite:///{people}?timeout=0.2")
    assert kanon_sql.plan(engine, spec()).passed, "reading goes on"
    told: list[str] = []
    with pytest.raises(DatabaseError, match=r"locked by another connection for 0\.2 s; let that one commit"):
        kanon_sql.anonymize(engine, spec(), report=lambda stage, _: told.append(stage))
    assert [stage for stage in told if "waiting for another connection" in stage]
    other.execute("COMMIT")
    assert kanon_sql.anonymize(engine, spec()).passed
    engine.close()
    other.close()


@pytest.mark.slow
def test_a_lock_that_ends_is_waited_for(people: Path) -> None:
    other = sqlite3.connect(people, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    engine = connect(people)
    released = threading.Timer(1.0, other.execute, ("COMMIT",))
    told: list[str] = []

    def report(stage: str, _: int | None) -> None:
        told.append(stage)
        if "waiting" in stage and released.ident is None:
            released.start()

    assert kanon_sql.anonymize(engine, spec(), report=report).passed
    released.join()
    waited = next(index for index, stage in enumerate(told) if stage.startswith("waiting for another connection"))
    assert len(told) > waited + 1, "the run says what it does once it goes on"
    engine.close()
    other.close()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", ["time limit", "cancelled"])
def test_waiting_for_a_lock_ends_when_the_run_does(people: Path, how: str) -> None:
    other = sqlite3.connect(people, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    engine = connect(people)
    timer = threading.Timer(0.5, engine.cancel)
    if how == "cancelled":
        timer.start()
    started = time.monotonic()
    with pytest.raises(QueryTimeout if how == "time limit" else KeyboardInterrupt):
        kanon_sql.anonymize(engine, spec(), timeout=0.5 if how == "time limit" else None)
    assert time.monotonic() - started < 20
    if how == "cancelled":
        timer.join()
    other.execute("COMMIT")
    assert kanon_sql.anonymize(engine, spec()).passed
    engine.close()
    other.close()


def test_a_read_only_file_is_planned_and_checked_and_left_as_it_is(people: Path) -> None:
    before = people.read_bytes()
    for url in (f"sqlite:///{people}", f"sqlite:///file:{people}?mode=ro&uri=true"):
        engine = kanon_sql.connect(url, read_only=True)
        assert engine.scratch.mode == "temp"
        assert kanon_sql.plan(engine, spec()).passed
        assert not kanon_sql.check(engine, spec(), "people").passed
        with pytest.raises(SpecError, match="read-only"):
            kanon_sql.anonymize(engine, spec())
        with pytest.raises(DatabaseError, match="readonly"):
            engine.execute(Statement("write", "CREATE TABLE forbidden (n INTEGER)"))
        engine.close()
    assert people.read_bytes() == before
    assert list(people.parent.iterdir()) == [people]


def test_opening_a_file_that_is_not_there_to_read_makes_none(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="unable to open"):
        connect(tmp_path / "none.db", read_only=True)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "text.db").write_text("no database, " * 100)
    with pytest.raises(DatabaseError, match="not a database"):
        connect(tmp_path / "text.db")


def test_a_connection_that_may_only_query_gets_queries_inline(people: Path) -> None:
    import sqlalchemy

    engine = sqlalchemy.create_engine(f"sqlite:///{people}", poolclass=sqlalchemy.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA query_only = ON")
        connection.rollback()
        ours = kanon_sql.connect(connection)
        assert ours.scratch.mode == "inline"
        query = {"query": "SELECT UPPER(q) AS q FROM people"}
        assert kanon_sql.plan(ours, spec(source=query)).passed
        with pytest.raises(DatabaseError, match="readonly"):
            kanon_sql.anonymize(ours, spec())
        ours.close()
        assert connection.exec_driver_sql("PRAGMA query_only").scalar() == 1


def test_an_open_connection_is_given_back_as_it_was(people: Path) -> None:
    import sqlalchemy

    theirs = sqlalchemy.create_engine(f"sqlite:///{people}")
    with theirs.connect() as connection:
        before = connection.get_isolation_level()
        connection.exec_driver_sql("CREATE TEMPORARY TABLE mine (n INTEGER)")
        connection.commit()
        ours = kanon_sql.connect(connection)
        assert kanon_sql.anonymize(ours, spec()).passed
        ours.close()
        assert connection.get_isolation_level() == before
        assert connection.exec_driver_sql("SELECT COUNT(*) FROM mine").scalar() == 0
        assert connection.exec_driver_sql("PRAGMA legacy_alter_table").scalar() == 0
        connection.exec_driver_sql("INSERT INTO mine VALUES (1)")
        connection.rollback()
        assert connection.exec_driver_sql("SELECT COUNT(*) FROM mine").scalar() == 0, "autocommit is off"
        connection.rollback()
        connection.connection.driver_connection.execute("BEGIN")  # type: ignore[union-attr]
        with pytest.raises(UnsupportedError, match="inside a transaction"):
            kanon_sql.connect(connection)
    theirs.dispose()


def test_a_statement_that_is_nested_too_deeply_says_what_to_do(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What overflows the parser's stack depends on the library."""
    import sqlalchemy

    engine = kanon_sql.connect(f"sqlite:///{people}")
    query = Statement("nested", "SELECT 1")

    def overflow(*_: Any) -> Any:
        raise sqlalchemy.exc.OperationalError("SELECT 1", None, sqlite3.OperationalError("parser stack overflow"))

    monkeypatch.setattr(engine, "_rows", overflow)
    with pytest.raises(DatabaseError, match=r"nested: the parser of SQLite .* check fewer requirements at once"):
        engine.fetch(query, 1)
    monkeypatch.undo()
    assert engine.fetch(query, 1) == [(1,)]
    engine.close()


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("source", ["measured", {"query": "SELECT * FROM measured"}], ids=["table", "query"])
def test_models_that_nest_deeply_fit_the_parser(people: Path, source: Any) -> None:
    """Texts of fractions, positions, ranks and spans lie in each other; some libraries hold 100 symbols."""
    rows = [(q, value + shift / 8) for shift, q in enumerate("abc") for value in (1, 1, 2, 3, 5, 8)]
    asked = spec(
        source=source,
        sensitive=["n"],
        privacy=[
            {
                "l_diversity": {
                    "attribute": "n",
                    "l": 2,
                    "variant": "npd_recursive",
                    "c": 3,
                    "allow_positive": ["1.125"],
                }
            },
            {"t_closeness": {"attribute": "n", "t": 0.5, "distance": "ordered"}},
            {"alpha_k_anonymity": {"attribute": "n", "alpha": 0.5, "k": 2}},
        ],
    )
    listed = ", ".join(map(str, rows))
    found = []
    with kanon_sql.connect(f"sqlite:///{people}") as ours, kanon_sql.connect() as theirs:
        for engine, kind in ((ours, "REAL"), (theirs, "DOUBLE")):
            engine.execute(Statement("test", f"CREATE TABLE measured (q TEXT, n {kind})"))
            engine.execute(Statement("test", f"INSERT INTO measured VALUES {listed}"))
            found.append((kanon_sql.anonymize(engine, asked), kanon_sql.check(engine, asked, "measured").achieved))
    (our_release, our_check), (their_release, their_check) = found
    same(our_release, their_release)
    assert our_release.passed
    assert our_check.keys() == their_check.keys()
    assert all(our_check[label] == pytest.approx(their_check[label], nan_ok=True) for label in their_check)


def test_a_pool_gets_its_connection_back_as_it_was(people: Path) -> None:
    import sqlalchemy

    theirs = sqlalchemy.create_engine(f"sqlite:///{people}", poolclass=sqlalchemy.QueuePool, pool_size=1)
    pool = theirs.pool
    assert isinstance(pool, sqlalchemy.QueuePool)
    for _ in range(2):
        with kanon_sql.connect(theirs) as ours:
            assert pool.checkedout() == 1
            assert kanon_sql.anonymize(ours, spec()).passed
        assert pool.checkedout() == 0
    with theirs.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA legacy_alter_table").scalar() == 0
    theirs.dispose()


def test_a_release_in_an_attached_file(people: Path) -> None:
    import sqlalchemy

    other = people.with_name("other.db")
    with sqlalchemy.create_engine(f"sqlite:///{people}").connect() as connection:
        connection.exec_driver_sql(f"ATTACH '{other}' AS \"Other\"")
        connection.rollback()
        engine = kanon_sql.connect(connection)
        elsewhere = spec(source="main.people", release="other.released")
        assert kanon_sql.anonymize(engine, elsewhere).passed
        assert kanon_sql.anonymize(engine, elsewhere).passed, "it replaces its own"
        assert kanon_sql.check(engine, elsewhere).passed
        for name in ("released", "RELEASED"):
            assert engine.full_name(("OTHER", name)) == ("other", "released")
            assert engine.full_name((name,)) == ("other", "released")
        assert engine.full_name(("main", "released")) is None
        engine.close()
    assert released(other) == {("a",): 2}


def test_a_view_of_the_release_does_not_stop_the_next_one(people: Path) -> None:
    engine = connect(people)
    assert kanon_sql.anonymize(engine, spec()).passed
    run(people, "CREATE VIEW reads_it AS SELECT COUNT(*) AS n FROM released")
    again = spec(quasi_identifiers={"q": {"minimum_level": 1}})
    assert kanon_sql.anonymize(engine, again).passed
    assert run(people, "SELECT n FROM reads_it") == [(3,)]
    engine.close()


def test_memory_goes_with_the_connection() -> None:
    engine = kanon_sql.connect("sqlite://")
    assert engine.ephemeral
    assert not doctor(engine).works("anonymize")
    engine.close()


@pytest.mark.slow
def test_cancelling_interrupts_the_statement(people: Path) -> None:
    with subject_of("sqlite") as subject:
        slow = subject.slow
    engine = connect(people)

    def cancel() -> None:
        time.sleep(0.5)
        engine.cancel()

    watcher = threading.Thread(target=cancel)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        engine.fetch(Statement("slow", slow), 1)
    watcher.join()
    assert kanon_sql.plan(engine, spec()).passed, "the connection lives"
    engine.close()


def test_an_error_of_the_query_shows_no_value(people: Path) -> None:
    run(people, "INSERT INTO people VALUES ('Ada Planted', 'x')")
    engine = connect(people)
    for query in ("SELECT json_extract(q, '$.Planted') AS q FROM people", "SELECT ABS(-9223372036854775807 - 1) AS q"):
        with pytest.raises(DatabaseError) as caught:
            kanon_sql.plan(engine, spec(source={"query": query}))
        assert "Planted" not in str(caught.value)
    engine.close()


def test_a_path_that_leads_nowhere_speaks_of_files(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="check that the directory exists, and that the file is a database") as said:
        kanon_sql.connect(f"sqlite:///{tmp_path}/nowhere/clinic.db")
    assert "server" not in str(said.value)


@pytest.mark.parametrize("described", [False, True])
def test_an_interrupted_statement_leaves_no_lock(file: Path, described: bool) -> None:
    """Ctrl-C that is heard when the first row is there: the cursor must go, though somebody still has the error."""
    run(file, "CREATE TABLE people (q INTEGER)", "INSERT INTO people VALUES (1), (2), (3)")
    engine = connect(file)
    engine.driver_connection.create_function("pressed", 0, interrupt_main)
    query = "SELECT pressed() AS p, q FROM people"
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process ignores it
    try:
        with pytest.raises(KeyboardInterrupt) as held:
            engine.described_by(query, list) if described else engine.fetch(Statement("rows", query, 1), 3)
    finally:
        signal.signal(signal.SIGINT, before)
    engine.close()
    assert held.value is not None
    run(file, "BEGIN EXCLUSIVE", "DROP TABLE people", "COMMIT")
