"""What is MariaDB's own: collations, long texts, warnings, cancelling, lost connections, the session."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import sqlglot

import kanon_sql
from kanon_sql.engines import StageReporter, relational
from kanon_sql.engines.backends import backend_named
from kanon_sql.engines.backends.mysql import MariaDBBackend
from kanon_sql.errors import DatabaseError, QueryTimeout, SpecError, UnsupportedError
from kanon_sql.sql.statement import Statement
from kanon_sql.verbs.clean import clean
from tests.servers import subject_of

pytestmark = pytest.mark.xdist_group("mariadb")

ROWS = [("a", "x"), ("a", "y"), ("a", "x"), ("b", "x")]
SLOW = "SELECT people.q, people.s FROM people, seq_1_to_1000000000 AS n WHERE n.seq % 7 = 9"


@pytest.fixture(scope="module")
def mariadb() -> Iterator[Any]:
    with subject_of("mariadb") as made:
        yield made


@pytest.fixture(autouse=True)
def people(mariadb: Any) -> None:
    mariadb.table("people", {"q": "text", "s": "text"}, ROWS)
    mariadb.drop("released")


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "released",
            "quasi_identifiers": {"q": None},
            "sensitive": ["s"],
            "privacy": [{"k_anonymity": 3}],
            "suppression": {"max_share": 0.5},
            **changes,
        }
    )


# --- Numbers ---


@pytest.mark.slow
def test_floats_that_six_digits_do_not_tell_apart_are_two(mariadb: Any) -> None:
    """A cast writes both as 0.123457: each would have had all four of the census behind it, and one label."""
    for name, values in (("numbers", [0.12345671, 0.12345674]), ("census", [0.12345671] * 3 + [0.12345674])):
        mariadb.drop(name)
        mariadb.execute(f"CREATE TABLE {name} (q FLOAT)")
        mariadb.execute(f"INSERT INTO {name} VALUES {', '.join(f'({value})' for value in values)}")
    engine = mariadb.connect()
    asked = spec(source="numbers", sensitive=[], privacy=[{"k_map": {"population": "census", "k": 2}}])
    (found,) = kanon_sql.check(engine, asked, "numbers").achieved.values()
    assert (found["k"], found["violating_classes"]) == (1, 1)
    engine.close()
    for name in ("numbers", "census"):
        mariadb.drop(name)


@pytest.mark.slow
def test_floats_are_labelled_as_short_as_they_read_back(mariadb: Any) -> None:
    mariadb.drop("numbers")
    mariadb.execute("CREATE TABLE numbers (q FLOAT)")
    written = ["0.1", "2.5", "-0.00012", "123456.7890625", "123457", "16777218", "0.12345670908689499"]
    mariadb.execute(f"INSERT INTO numbers VALUES {', '.join(f'({value}), ({value})' for value in written)}")
    engine = mariadb.connect()
    asked = spec(
        source="numbers", quasi_identifiers={"q": {"maximum_level": 0}}, sensitive=[], privacy=[{"k_anonymity": 2}]
    )
    assert kanon_sql.anonymize(engine, asked).passed
    assert Counter(label for (label,) in mariadb.rows("released")) == dict.fromkeys(written, 2)
    engine.close()
    mariadb.drop("numbers")


# --- Text ---


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "column",
    [
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci",
        "VARBINARY(20)",
        "TEXT CHARACTER SET latin1 COLLATE latin1_german2_ci",
    ],
)
@pytest.mark.slow
def test_columns_of_other_collations_are_grouped_exactly(mariadb: Any, column: str) -> None:
    texts = ["a", "A", "a ", "ä", "Ä", "ae", "é", "e", "ss", "ß", "", " "]
    mariadb.drop("collated")
    mariadb.execute(f"CREATE TABLE collated (q {column}, s {column})")
    mariadb.execute("SET NAMES utf8mb4")
    rows = [(text, other) for text in texts for other in texts[:2]]
    listed = ", ".join(f"({mariadb.value(q, 'text')}, {mariadb.value(s, 'text')})" for q, s in rows)
    mariadb.execute(f"INSERT INTO collated VALUES {listed}")
    engine = mariadb.connect()
    distinct = {"l_diversity": {"attribute": "s", "l": 2}}
    exact = spec(
        source="collated", quasi_identifiers={"q": {"maximum_level": 0}}, privacy=[{"k_anonymity": 2}, distinct]
    )
    checked = kanon_sql.check(engine, exact, "collated")
    assert checked.classes == {"count": len(texts), "smallest": 2, "average": 2.0, "largest": 2}
    assert checked.passed, "a and A are two sensitive values"
    assert kanon_sql.anonymize(engine, exact).rows["suppressed"] == 0
    released = Counter(row[0] for row in mariadb.fetch("SELECT CAST(q AS CHAR) FROM released"))
    assert released == dict.fromkeys(texts, 2)
    engine.close()
    mariadb.drop("collated")


@pytest.mark.slow
def test_long_texts_that_differ_at_their_end(mariadb: Any) -> None:
    """By default sorting sees 1024 bytes, and gives such texts one code and one window."""
    texts = ["🙂" * 16_382 + end for end in "abab"]
    mariadb.table("long", {"q": "text", "s": "text"}, [(text, "x") for text in texts])
    engine = mariadb.connect()
    changes = {"source": "long", "quasi_identifiers": {"q": {"prefix": [16_382]}}, "suppression": {"max_rows": 0}}
    requirements = [{"k_anonymity": 2}, {"t_closeness": {"attribute": "s", "t": 0.1}}]
    result = kanon_sql.anonymize(engine, spec(privacy=requirements, **changes))
    assert (result.node, result.classes["count"]) == ({"q": 0}, 2)
    assert Counter(q[-1] for q, _ in mariadb.rows("released")) == {"a": 2, "b": 2}
    assert kanon_sql.anonymize(engine, spec(**changes)).node == {"q": 1}
    engine.close()
    mariadb.drop("long")


@pytest.mark.parametrize(
    ("column", "longest"),
    [
        ("VARCHAR(7) CHARACTER SET utf8mb4", 7),
        ("VARCHAR(7) CHARACTER SET latin1 COLLATE latin1_german2_ci", 7),
        ("CHAR(7) CHARACTER SET utf8mb3", 7),
        ("TEXT CHARACTER SET utf8mb4", None),
    ],
)
def test_masked_texts_keep_a_stated_length(mariadb: Any, column: str, longest: int | None) -> None:
    """And have a star for each character that is masked, however long the text is."""
    texts = ["abcdefg", "abö", "ab", "äb", "äbcdefg", "abcd", ""]
    mariadb.drop("masked")
    mariadb.execute("SET NAMES utf8mb4")
    mariadb.execute(f"CREATE TABLE masked (q {column}, s INT)")
    rows = ", ".join(f"({mariadb.value(text, 'text')}, 1)" for text in texts)
    mariadb.execute(f"INSERT INTO masked VALUES {rows}")
    with mariadb.connect() as engine:
        (q, _) = engine.columns("masked")
        assert q.longest == longest
        levels = {"q": {"prefix": [2, 1], "minimum_level": 1, "maximum_level": 1}}
        assert kanon_sql.anonymize(
            engine, spec(source="masked", quasi_identifiers=levels, privacy=[{"k_anonymity": 1}])
        ).passed
    shown = Counter(row[0] for row in mariadb.fetch("SELECT q FROM released"))
    assert shown == Counter(text[:2] + "*" * (len(text) - 2) for text in texts)
    ((_, made),) = mariadb.fetch("SHOW CREATE TABLE released")
    assert ("`q` varchar(" if longest else "`q` longtext") in made
    mariadb.drop("masked")


@pytest.mark.parametrize("mode", ["temp", "inline"])
def test_a_text_that_sorting_would_not_see_whole_is_refused(mariadb: Any, mode: str) -> None:
    mariadb.table("long", {"q": "text", "s": "text"}, [("x" * 16_383 + end, "x") for end in "abc"])
    engine = mariadb.connect(scratch=mode)
    for run in (kanon_sql.plan, lambda engine, spec: kanon_sql.check(engine, spec, "long")):
        with pytest.raises(DatabaseError, match="more than 16383 characters") as refused:
            run(engine, spec(source="long"))
        assert "xxx" not in str(refused.value)
    engine.close()
    mariadb.drop("long")


# --- Warnings ---


@pytest.mark.parametrize("mode", ["temp", "inline"])
@pytest.mark.parametrize(
    ("expression", "planted"),
    [("CAST(x AS BIGINT)", "Ada"), ("x + 1", "Ada"), ("CAST(x AS DATE)", "2001-13-01"), ("1 / (LENGTH(x) - 3)", "Ada")],
)
def test_a_level_that_changes_values_with_a_warning_is_an_error(
    mariadb: Any, expression: str, planted: str, mode: str
) -> None:
    """CAST('Ada' AS BIGINT) is 0 in a SELECT: a label that is not true of its value."""
    mariadb.table("people", {"q": "text", "s": "text"}, [(planted, "x")] * 3)
    engine = mariadb.connect(scratch=mode)
    with pytest.raises(DatabaseError, match="would change values") as refused:
        kanon_sql.plan(engine, spec(quasi_identifiers={"q": {"sql": [expression], "minimum_level": 1}}))
    assert planted not in str(refused.value)
    engine.close()


@pytest.mark.parametrize("patience", [relational.WHOLE, 0.2])
def test_a_table_that_is_being_made_is_in_the_catalog(
    mariadb: Any, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    """Inside a transaction the server waits for no other connection's DDL: its catalog leaves that table out (1684)."""
    monkeypatch.setattr(relational, "WHOLE", patience)
    engine = mariadb.connect()
    running = "SELECT state FROM information_schema.processlist WHERE info LIKE 'CREATE TABLE made%'"
    maker = threading.Thread(target=mariadb.execute, args=("CREATE TABLE made AS SELECT SLEEP(1.5) AS a",))
    maker.start()
    assert soon(lambda: engine.scalars(running) == [("User sleep",)])
    engine._run("START TRANSACTION")
    try:
        engine.scalars("SELECT COUNT(*) FROM people")
        if patience > 1:
            assert engine._find(("made",))
        else:
            with pytest.raises(DatabaseError, match="the catalog leaves those out"):
                engine._find(("made",))
    finally:
        engine._run("COMMIT")
        maker.join()
    engine.close()
    mariadb.drop("made")


def test_an_order_that_would_mean_an_alias_is_not_written(mariadb: Any) -> None:
    """ORDER BY takes a name for the SELECT's alias before the column: here it would be a window in a window."""
    mariadb.table("pairs", {"pair": "integer", "value": "integer"}, [(1, 3), (1, 5), (2, 4), (2, 4)])
    swapped = """SELECT CASE WHEN value = MIN(value) OVER (PARTITION BY pair) THEN MAX(value) OVER (PARTITION BY pair)
                 ELSE MIN(value) OVER (PARTITION BY pair) END AS value FROM pairs"""
    sent = mariadb.dialect.sql(sqlglot.parse_one(swapped, read="duckdb"))
    assert sorted(value for (value,) in mariadb.fetch(sent)) == [3, 4, 4, 5]
    mariadb.drop("pairs")


def test_bytes_that_are_no_text_are_refused(mariadb: Any) -> None:
    """Converted, they would all be question marks."""
    mariadb.drop("bytes")
    mariadb.execute("CREATE TABLE bytes (q VARBINARY(9), s INT)")
    mariadb.execute(r"INSERT INTO bytes VALUES (x'ff', 1), (x'fe', 2), (x'fd', 3)")
    engine = mariadb.connect()
    with pytest.raises(DatabaseError, match="not UTF-8"):
        kanon_sql.check(engine, spec(source="bytes"), "bytes")
    engine.close()
    mariadb.drop("bytes")


def test_division_is_not_rounded_to_four_digits(mariadb: Any) -> None:
    mariadb.table("numbers", {"q": "integer", "s": "text"}, [(49_999, "x")] * 3 + [(50_000, "x")] * 3)
    engine = mariadb.connect()
    levels = {"q": {"sql": ["floor(x / 50000)"], "minimum_level": 1, "maximum_level": 1}}
    assert kanon_sql.anonymize(engine, spec(source="numbers", quasi_identifiers=levels)).passed
    assert Counter(q for q, _ in mariadb.rows("released")) == {"0": 3, "1": 3}
    engine.close()
    mariadb.drop("numbers")


# --- Cancelling, and connections that end ---


def processes(mariadb: Any, engine: Any) -> list[tuple[Any, ...]]:
    return list(mariadb.fetch(f"SELECT command FROM information_schema.processlist WHERE id = {engine.backend._id}"))


def soon(condition: Any) -> bool:
    """Whether something becomes true within ten seconds."""
    return any(condition() or time.sleep(0.05) for _ in range(200))


@pytest.mark.slow
def test_a_timeout_in_the_middle_of_a_run_leaves_nothing(mariadb: Any) -> None:
    before = set(mariadb.tables())
    engine = mariadb.connect()
    with pytest.raises(QueryTimeout):
        kanon_sql.anonymize(engine, spec(source={"query": SLOW}), timeout=1)
    assert kanon_sql.plan(engine, spec()).passed, "the connection is as good as before"
    engine.close()
    assert set(mariadb.tables()) == before


def test_a_connection_that_the_server_kills(mariadb: Any) -> None:
    engine = mariadb.connect()

    def kill() -> None:
        soon(lambda: processes(mariadb, engine) == [("Query",)])
        mariadb.execute(f"KILL CONNECTION {engine.backend._id}")

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(DatabaseError, match="connection to mariadb://localhost/kanon was lost"):
        kanon_sql.plan(engine, spec(source={"query": SLOW}))
    killer.join()
    with pytest.raises(DatabaseError, match="was lost"):
        kanon_sql.plan(engine, spec())  # it never goes on with a new session, which would not be prepared
    engine.close()


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals need the main thread")
def test_ctrl_c_stops_the_statement_on_the_server_and_closes_the_connection(mariadb: Any) -> None:
    engine = mariadb.connect()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pressed = threading.Thread(
        target=lambda: soon(lambda: processes(mariadb, engine) == [("Query",)]) and os.kill(os.getpid(), signal.SIGINT)
    )
    try:
        pressed.start()
        with pytest.raises(KeyboardInterrupt):
            engine.fetch(Statement("slow", mariadb.slow), 1)
    finally:
        pressed.join()
        signal.signal(signal.SIGINT, before)
    assert soon(lambda: processes(mariadb, engine) == [])
    with pytest.raises(DatabaseError, match="was lost"):
        engine.fetch(Statement("after", "SELECT 1"), 1)
    engine.close()


# --- Names and the session ---


def test_a_name_that_is_too_long_is_refused_and_leaves_nothing(mariadb: Any) -> None:
    engine = mariadb.connect()
    with pytest.raises(SpecError, match="64 characters"):
        kanon_sql.anonymize(engine, spec(release="r" * 65))
    assert clean(engine, drop=False).objects == ()
    assert kanon_sql.anonymize(engine, spec(release="r" * 64)).passed
    engine.close()
    mariadb.drop("r" * 64)


def test_a_release_stays_in_its_database(mariadb: Any) -> None:
    """ALTER TABLE a.b RENAME TO c moves the table into the session's database."""
    mariadb.schema("elsewhere")
    engine = mariadb.connect()
    for _ in range(2):
        assert kanon_sql.anonymize(engine, spec(release="elsewhere.released")).passed
    engine.close()
    assert "released" not in mariadb.tables()
    assert len(mariadb.rows(("elsewhere", "released"))) == 3


def test_an_open_connection_gets_its_session_back(mariadb: Any) -> None:
    import sqlalchemy

    variables = "@@sql_mode, @@collation_connection, @@max_sort_length, @@sort_buffer_size, @@sql_notes, @@tx_read_only"
    made = sqlalchemy.create_engine(mariadb.url)
    with made.connect() as connection:
        connection.exec_driver_sql("SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'")
        connection.exec_driver_sql("SET NAMES latin1")
        before = connection.exec_driver_sql(f"SELECT {variables}").fetchall()
        connection.commit()
        ours = kanon_sql.connect(connection, read_only=True, scratch="inline")
        assert kanon_sql.plan(ours, spec()).passed
        ours.close()
        assert connection.exec_driver_sql(f"SELECT {variables}").fetchall() == before
        connection.exec_driver_sql("DELETE FROM people")
        connection.rollback()
        assert connection.exec_driver_sql("SELECT COUNT(*) FROM people").scalar(), "autocommit is off"
    made.dispose()


@pytest.mark.parametrize("setting", ["sql_select_limit = 1", "sql_auto_is_null = 1", "sql_safe_updates = 1"])
def test_an_open_connection_reads_every_row_and_no_other(mariadb: Any, setting: str) -> None:
    """A limit would leave rows out of every answer; IS NULL would find the row that was inserted last."""
    mariadb.drop("numbered")
    mariadb.execute("CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, q VARCHAR(9), s VARCHAR(9))")
    mariadb.execute("INSERT INTO numbered (q, s) VALUES ('a', 'x'), ('a', 'y'), ('a', 'x'), ('b', 'x')")
    asked = spec(
        source="numbered",
        quasi_identifiers={"q": None, "id": {"intervals": [10]}},
        nulls="error",
        privacy=[{"k_anonymity": 2}],
    )
    with mariadb._engine.connect() as connection:
        connection.exec_driver_sql(f"SET {setting}")
        connection.exec_driver_sql("INSERT INTO numbered (q, s) VALUES ('b', 'y')")
        connection.commit()
        engine = kanon_sql.connect(connection)
        assert kanon_sql.check(engine, asked, "numbered").rows["source"] == 5
        result = kanon_sql.anonymize(engine, asked)
        assert (result.passed, result.rows) == (True, {"source": 5, "released": 5, "suppressed": 0})
        engine.close()
        name, value = setting.split(" = ")
        assert connection.exec_driver_sql(f"SELECT @@{name}").scalar() == int(value)
    mariadb.drop("numbered")


def test_a_session_that_reads_the_past_is_refused(mariadb: Any) -> None:
    """A table with system versioning would be judged by the rows of that time."""
    with mariadb._engine.connect() as connection:
        connection.exec_driver_sql("SET system_versioning_asof = '2001-01-01 00:00:00'")
        connection.commit()
        with pytest.raises(UnsupportedError, match="SET SESSION system_versioning_asof = DEFAULT"):
            kanon_sql.connect(connection)


@pytest.mark.parametrize("verb", [kanon_sql.plan, kanon_sql.anonymize])
def test_an_open_transaction_is_not_committed(mariadb: Any, verb: Any) -> None:
    """Making a table would commit it, and so would dropping a temporary one."""
    mariadb.table("theirs", {"n": "integer"}, [(1,)])
    with mariadb._engine.connect() as connection:
        engine = kanon_sql.connect(connection)
        connection.exec_driver_sql("BEGIN")
        connection.exec_driver_sql("INSERT INTO theirs VALUES (2)")
        with pytest.raises(UnsupportedError, match="inside a transaction"):
            verb(engine, spec())
        connection.exec_driver_sql("ROLLBACK")
        assert mariadb.rows("theirs") == [(1,)]
        assert verb(engine, spec()).passed
        engine.close()
    mariadb.drop("theirs")


def test_the_estimate_is_explains(mariadb: Any) -> None:
    mariadb.table("many", {"n": "integer"}, [(number,) for number in range(2_000)])
    mariadb.execute("ANALYZE TABLE many")
    engine = mariadb.connect()
    estimate = engine.estimate("(SELECT * FROM many JOIN people)")
    assert estimate is not None
    assert 1_500 < (estimate.rows or 0) < 3_000
    engine.close()
    mariadb.drop("many")


# --- Which server it is ---


@pytest.mark.parametrize(
    ("shown", "name", "temp_tables"),
    [
        ("10.11.19-MariaDB-0+deb12u1", "mariadb", True),
        ("5.5.5-10.6.12-MariaDB-log", "mariadb", True),
        ("8.0.36", "mysql", False),
        ("8.4.0-cloud", "mysql", False),
    ],
)
@pytest.mark.parametrize("scheme", ["mysql", "mariadb"])
def test_the_version_says_which_server_it_is(scheme: str, shown: str, name: str, temp_tables: bool) -> None:
    backend = backend_named(scheme)
    assert isinstance(backend, MariaDBBackend)
    backend._settle(shown, folds=True)
    assert (backend.dialect.name, backend.capabilities.temp_tables) == (name, temp_tables)
    assert backend.capabilities.folds_names


@pytest.mark.parametrize("shown", ["5.7.44", "8.0.11", "10.4.1-MariaDB", "something else"])
def test_a_server_that_is_too_old_is_refused(shown: str) -> None:
    with pytest.raises(UnsupportedError, match="or later is needed"):
        MariaDBBackend()._settle(shown, folds=False)


def test_a_url_that_says_mysql_finds_mariadb(mariadb: Any) -> None:
    engine = kanon_sql.connect(mariadb.url.replace("mariadb+pymysql:", "mysql:"))
    assert (engine.dialect.name, engine.scratch.mode) == ("mariadb", "temp")
    assert kanon_sql.plan(engine, spec()).passed
    engine.close()


# --- Values that an index does not find ---


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("unit", [None, "person"])
def test_the_first_second_of_1970_is_judged(mariadb: Any, unit: str | None) -> None:
    """The server makes it of a moment before 1970; its class of one was lost between two requirements."""
    mariadb.execute("SET sql_mode = ''")
    mariadb.execute("CREATE TABLE seconds (t TIMESTAMP(6) NULL, person INT, s INT)")
    rows = [f"('200{number % 2}-01-01', {number}, {number // 2 % 2})" for number in range(20)]
    mariadb.execute(f"INSERT INTO seconds VALUES {', '.join([*rows, _BEFORE_1970])}")
    ordered = {"t_closeness": {"attribute": "s", "t": 0.9, "distance": "ordered"}}
    asked = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "seconds", "release": "seconds_release", "quasi_identifiers": {"t": None},
            "sensitive": ["s"], "unit": unit, "privacy": [{"k_anonymity": 2}, ordered],
            "suppression": {"max_share": 0.1},
        }
    )  # fmt: skip
    engine = mariadb.connect()
    found = kanon_sql.check(engine, asked, "seconds")
    assert not found.passed
    assert (found.rows["source"], found.classes["count"], found.classes["smallest"]) == (21, 3, 1)
    assert kanon_sql.anonymize(engine, asked).rows["suppressed"] == 1
    engine.close()
    for name in ("seconds", "seconds_release", "kanon_sql_manifest"):
        mariadb.drop(name)


_BEFORE_1970 = "('1969-12-31 23:59:59.999999', 20, 1)"


def test_days_that_no_calendar_has_are_different(mariadb: Any) -> None:
    """A cast made 0000-00-00 of each, so that a class of one looked like one of many."""
    mariadb.execute("SET sql_mode = 'ALLOW_INVALID_DATES'")
    for type_name in ("DATE", "DATETIME(6)"):
        mariadb.execute(f"CREATE TABLE days (d {type_name}, s INT)")
        mariadb.execute("INSERT INTO days VALUES ('2001-02-30', 1), ('0000-00-00', 1), ('0000-00-00', 2)")
        engine = mariadb.connect()
        asked = {"version": 1, "source": "days", "quasi_identifiers": {"d": None}, "privacy": [{"k_anonymity": 2}]}
        found = kanon_sql.check(engine, kanon_sql.Spec.from_dict(asked), "days")
        assert (found.classes["count"], found.classes["smallest"]) == (2, 1)
        engine.close()
        mariadb.drop("days")
    mariadb.execute("SET sql_mode = ''")


# --- Connections that wait for each other ---


def taking_turns_badly(mariadb: Any, engine: Any, sql: str) -> list[BaseException]:
    """Another connection holds all rows but the first, and wants that one too once a statement has it and waits.

    InnoDB takes back whoever changed fewer rows, which is the statement.

    Returns:
        What the statement raised.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            engine.execute(Statement("test", sql))
        except BaseException as error:
            raised.append(error)

    with mariadb._engine.connect() as other:
        other.exec_driver_sql("BEGIN")
        other.exec_driver_sql("UPDATE counted SET n = n + 1 WHERE id > 0")
        thread = threading.Thread(target=run)
        thread.start()
        waits = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
        deadline = time.monotonic() + 60
        while mariadb.fetch(waits) != [(1,)] and time.monotonic() < deadline:
            time.sleep(0.15)  # the server looks at its transactions ten times a second
        other.exec_driver_sql("UPDATE counted SET n = n + 1 WHERE id = 0")
        other.exec_driver_sql("COMMIT")
        thread.join(60)
        assert not thread.is_alive()
    return raised


@pytest.fixture
def counted(mariadb: Any) -> Iterator[None]:
    mariadb.drop("counted")
    mariadb.execute("CREATE TABLE counted (id INT PRIMARY KEY, n INT) ENGINE = InnoDB")
    mariadb.execute("INSERT INTO counted SELECT seq, 0 FROM seq_0_to_20")
    yield
    mariadb.drop("counted")


def test_a_statement_that_a_deadlock_took_back_is_sent_again(mariadb: Any, counted: None) -> None:
    told: list[str] = []
    with mariadb.connect() as engine:
        engine.progress = StageReporter(lambda stage, nodes: told.append(stage), "counting")
        assert taking_turns_badly(mariadb, engine, "UPDATE counted SET n = n + 100") == []
    assert Counter(mariadb.rows("counted")) == Counter((number, 101) for number in range(21)), "once, and whole"
    assert told == [f"waiting for another connection that writes to {engine.label}", "counting"]


def test_tries_after_deadlocks_are_bounded(mariadb: Any, counted: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with mariadb.connect() as engine:
        monkeypatch.setattr(engine.backend, "retry_for", 1e-9)
        (error,) = taking_turns_badly(mariadb, engine, "UPDATE counted SET n = n + 100")
    assert isinstance(error, DatabaseError)
    assert "test: MariaDB reported error 1213: connections that write" in str(error)
    assert Counter(mariadb.rows("counted")) == Counter((number, 1) for number in range(21))


@pytest.mark.slow
def test_a_deadlock_inside_a_transaction_ends_it(mariadb: Any) -> None:
    """Another try would be a statement without what came before it."""
    error = type("OperationalError", (Exception,), {})(1213, "Deadlock found when trying to get lock")
    assert [MariaDBBackend().busy(error, in_transaction=inside) for inside in (False, True)] == [True, False]


@pytest.mark.slow
def test_a_lock_that_is_held_too_long_is_told(mariadb: Any, counted: None) -> None:
    """The server has waited as long as it may."""
    with mariadb.connect() as engine, mariadb._engine.connect() as other:
        other.exec_driver_sql("BEGIN")
        other.exec_driver_sql("UPDATE counted SET n = 1")
        engine.execute(Statement("test", "SET SESSION innodb_lock_wait_timeout = 1"))
        with pytest.raises(DatabaseError, match="error 1205: another connection held a lock for longer"):
            engine.execute(Statement("test", "UPDATE counted SET n = 2"))
        other.exec_driver_sql("ROLLBACK")


@pytest.mark.parametrize(
    ("query", "joined"),
    [
        ("SELECT s.*, l.a, l.A FROM s JOIN l ON s.x = l.b", "(SELECT `A`, `b` FROM l LIMIT"),
        (
            "SELECT s.a FROM s JOIN l ON s.x = l.b WHERE EXISTS (SELECT 1 FROM k WHERE k.z = l.q)",
            "(SELECT `q`, `b` FROM",
        ),
        ("SELECT l.* FROM s JOIN l ON s.x = l.b", "(SELECT * FROM l LIMIT"),
        ("SELECT * FROM s JOIN l ON s.x = l.b", "(SELECT * FROM l LIMIT"),
        ("SELECT c FROM s JOIN l ON s.x = l.b", "(SELECT * FROM l LIMIT"),
        ("SELECT s.c FROM s JOIN l ON s.x = 1", "(SELECT * FROM l LIMIT"),
    ],
)
def test_a_joined_table_has_the_columns_that_are_read(query: str, joined: str) -> None:
    """More might not fit into memory, and a key takes ten times as long to make on disk."""
    assert joined in MariaDBBackend.dialect.sql(sqlglot.parse_one(query))


@pytest.mark.parametrize("kind", ["VARCHAR(9) CHARACTER SET utf8mb4", "VARBINARY(9)"])
def test_texts_that_differ_in_zeros_at_their_ends_are_refused(mariadb: Any, kind: str) -> None:
    """Sorting takes them for equal, and grouping made seven values of two, in a class of twelve persons."""
    mariadb.execute(f"CREATE TABLE zeros (q INT, s {kind}, u VARCHAR(9))")
    values = ["x'61'", "x'6100'", "x'6100'", "x'61'"] * 3
    mariadb.execute("INSERT INTO zeros VALUES " + ", ".join(f"(1, {s}, 'p{i}')" for i, s in enumerate(values)))
    spec = {
        "version": 1, "source": "zeros", "quasi_identifiers": {"q": {}}, "sensitive": ["s"],
        "privacy": [{"l_diversity": {"attribute": "s", "l": 3}}],
    }  # fmt: skip
    with mariadb.connect() as engine:
        for unit in ({}, {"unit": "u"}):
            with pytest.raises(DatabaseError, match="ends with a zero character"):
                kanon_sql.check(engine, kanon_sql.Spec.from_dict({**spec, **unit}), "zeros")
    mariadb.drop("zeros")


def test_bits_are_written_as_whole_numbers(mariadb: Any) -> None:
    """Their bytes are no text; a bit that is not set would be one that ends with a zero."""
    mariadb.execute("CREATE TABLE flags (q BIT(1), s BIT(9), u BIT(64))")
    mariadb.execute("INSERT INTO flags SELECT seq % 2, seq % 3 * 128, -seq FROM seq_0_to_11")
    spec = {
        "version": 1, "source": "flags", "release": "flags_release", "unit": "u",
        "quasi_identifiers": {"q": {"maximum_level": 0}}, "sensitive": ["s"],
        "privacy": [{"k_anonymity": {"k": 6}}, {"l_diversity": {"attribute": "s", "l": 3}}],
    }  # fmt: skip
    with mariadb.connect() as engine:
        assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(spec)).passed
        found = kanon_sql.check(engine, kanon_sql.Spec.from_dict(spec), count_rows=True)
        assert (found.passed, found.achieved["k_anonymity"]["k"]) == (True, 6)
    assert Counter(q for q, _ in mariadb.rows("flags_release")) == {"0": 6, "1": 6}
    mariadb.drop("flags")
    mariadb.drop("flags_release")
