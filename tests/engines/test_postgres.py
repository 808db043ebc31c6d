"""What is PostgreSQL's own: names, transactions, cancelling, lost connections, what the server sees."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
import sqlglot
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.engines.backends import backend_named
from kanon_sql.engines.base import Deadline
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.sql.statement import Statement
from kanon_sql.testing import Subject
from kanon_sql.verbs.clean import clean
from tests.servers import subject_of
from tests.servers.postgres import Postgres18Subject
from tests.support.specs import QUIET

ROWS = [("a", "x"), ("a", "y"), ("a", "x"), ("b", "x")]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("postgres", marks=pytest.mark.xdist_group("postgres")),
        pytest.param("postgres18", marks=[pytest.mark.slow, pytest.mark.xdist_group("postgres18")]),
    ],
)
def postgres(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


@pytest.fixture(autouse=True)
def people(postgres: Subject) -> None:
    postgres.table("people", {"q": "text", "s": "text"}, ROWS)
    postgres.drop("released")


@pytest.mark.sampled(2)
@pytest.mark.slow
def test_the_server_is_of_the_version_that_it_stands_for(postgres: Subject) -> None:
    ((number,),) = postgres.fetch("SELECT current_setting('server_version_num')")
    assert int(number) // 10_000 == (18 if isinstance(postgres, Postgres18Subject) else 16)


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


def test_case_makes_another_table(postgres: Subject) -> None:
    """ "People" is not people, and a release called Released is not one of ours because released is."""
    postgres.table("People", {"q": "text", "s": "text"}, ROWS * 2)
    engine = postgres.connect()
    assert kanon_sql.anonymize(engine, spec()).rows["source"] == 4
    assert kanon_sql.anonymize(engine, spec(source="People")).rows["source"] == 8
    postgres.table("Released", {"q": "text"}, [("mine",)])
    with pytest.raises(SpecError, match="did not publish"):
        kanon_sql.anonymize(engine, spec(release="Released"))
    assert postgres.rows("Released") == [("mine",)]
    engine.close()
    postgres.drop("People")
    postgres.drop("Released")


def test_a_name_that_would_be_cut_is_refused(postgres: Subject) -> None:
    engine = postgres.connect()
    with pytest.raises(SpecError, match="63 bytes"):
        kanon_sql.anonymize(engine, spec(release="r" * 64))
    assert kanon_sql.anonymize(engine, spec(release="r" * 63)).passed
    engine.close()
    postgres.drop("r" * 63)


def test_connections_and_engines_of_sqlalchemy_are_used_as_they_are(postgres: Any) -> None:
    import sqlalchemy

    theirs = sqlalchemy.create_engine(postgres.url)
    ours = kanon_sql.connect(theirs)
    assert kanon_sql.plan(ours, spec()).passed
    ours.close()
    with theirs.connect() as connection:
        before = connection.get_isolation_level()
        connection.exec_driver_sql("SET DateStyle = 'German'")
        connection.commit()
        ours = kanon_sql.connect(connection)
        assert kanon_sql.anonymize(ours, spec()).passed
        ours.close()
        assert connection.get_isolation_level() == before
        assert connection.execute(sqlalchemy.text("SELECT COUNT(*) FROM released")).scalar() == 3
        assert connection.execute(sqlalchemy.text("SHOW DateStyle")).scalar() == "German, DMY"
        connection.execute(sqlalchemy.text("DELETE FROM released"))
        connection.rollback()
        assert connection.execute(sqlalchemy.text("SELECT COUNT(*) FROM released")).scalar() == 3, "autocommit is off"
        with pytest.raises(UnsupportedError, match="inside a transaction"):
            kanon_sql.connect(connection)
    theirs.dispose()


def test_a_connection_that_cannot_be_used_is_given_back(postgres: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlalchemy

    def refused(self: Any, engine: Any) -> Any:
        raise DatabaseError("refused by the test")

    theirs = sqlalchemy.create_engine(postgres.url)  # type: ignore[attr-defined]
    with theirs.connect() as connection:
        monkeypatch.setattr(backend_named("postgresql").__class__, "scratch", refused)
        with pytest.raises(DatabaseError, match="refused"):
            kanon_sql.connect(connection)
        monkeypatch.undo()
        assert connection.execute(sqlalchemy.text("SHOW TimeZone")).scalar() == "Europe/Berlin"
        connection.execute(sqlalchemy.text("DELETE FROM people"))
        connection.rollback()
    assert postgres.rows("people")
    theirs.dispose()


def test_a_transaction_that_is_opened_later_is_left_alone(postgres: Subject) -> None:
    """A second BEGIN would only warn, and our COMMIT would be the user's."""
    import sqlalchemy

    theirs = sqlalchemy.create_engine(postgres.url, poolclass=sqlalchemy.pool.StaticPool)  # type: ignore[attr-defined]
    with theirs.connect() as connection:
        ours = kanon_sql.connect(connection)
        connection.exec_driver_sql("BEGIN")
        connection.exec_driver_sql("CREATE TABLE unfinished AS SELECT 1 AS n")
        with pytest.raises(UnsupportedError, match="inside a transaction"):
            kanon_sql.anonymize(ours, spec())
        assert "unfinished" not in postgres.tables()
        connection.exec_driver_sql("ROLLBACK")
        assert "unfinished" not in postgres.tables()
        assert kanon_sql.anonymize(ours, spec()).passed
        ours.close()
        driver: Any = connection.connection.driver_connection
        driver.execute("SELECT 1")  # the driver opens a transaction, which SQLAlchemy does not know of
        with pytest.raises(UnsupportedError, match="inside a transaction"):
            kanon_sql.connect(connection)
    theirs.dispose()


@pytest.mark.sampled(2)
def test_a_time_limit_of_the_servers_is_an_error_and_not_ctrl_c(postgres: Subject) -> None:
    postgres.execute("CREATE OR REPLACE VIEW slow AS SELECT people.* FROM people CROSS JOIN pg_sleep(20)")
    engine: Any = postgres.connect()
    engine._run("SET statement_timeout = '200ms'")
    with pytest.raises(DatabaseError, match="cancelled the statement by itself"):
        kanon_sql.plan(engine, spec(source="slow"))
    engine._run("SET statement_timeout = 0")
    assert kanon_sql.plan(engine, spec()).passed, "the connection lives"
    engine.close()
    postgres.drop("slow", "VIEW")


def test_the_server_sees_whose_statement_it_is(postgres: Subject) -> None:
    engine = postgres.connect()
    seen = "SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid()"
    ((query,),) = engine.fetch(Statement("activity", seen), 1)
    assert query.startswith(f"/* kanon_sql run {engine.run_id} */")
    engine.close()


def running(postgres: Subject) -> list[tuple[Any, ...]]:
    return postgres.fetch(
        "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '/* kanon_sql%pg_sleep%'"
    )


def wait_for(condition: Any) -> None:
    for _ in range(200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen within ten seconds")


def test_cancelling_reaches_the_server(postgres: Subject) -> None:
    engine = postgres.connect()

    def cancel() -> None:
        wait_for(lambda: running(postgres))
        engine.cancel()

    watcher = threading.Thread(target=cancel)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        engine.fetch(Statement("slow", postgres.slow), 1)
    watcher.join()
    wait_for(lambda: not running(postgres))
    assert kanon_sql.plan(engine, spec()).passed, "the connection lives"
    engine.close()


def test_a_lost_connection_is_reported_and_clean_finds_what_is_left(
    postgres: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine: Any = postgres.connect()
    ((pid,),) = engine.fetch(Statement("pid", "SELECT pg_backend_pid()"), 1)
    execute = type(engine).execute

    def killed(self: Any, statement: Statement) -> None:
        if statement.name == "release/rename":
            postgres.fetch(f"SELECT pg_terminate_backend({pid})")
            wait_for(lambda: not postgres.fetch(f"SELECT 1 FROM pg_stat_activity WHERE pid = {pid}"))
        execute(self, statement)

    monkeypatch.setattr(type(engine), "execute", killed)
    with pytest.raises(DatabaseError, match=r"connection .* was lost"):
        kanon_sql.anonymize(engine, spec())
    monkeypatch.undo()
    engine.close()
    assert "released" not in postgres.tables()
    again = postgres.connect()
    assert [item.state for item in clean(again, drop=True).objects] == ["dropped"]
    assert not [name for name in postgres.tables() if name.endswith("_release")]
    again.close()


def test_a_read_only_connection_writes_nothing(postgres: Subject) -> None:
    before = postgres.tables()
    engine = postgres.connect(read_only=True)
    assert kanon_sql.plan(engine, spec()).passed
    with pytest.raises(SpecError, match="read-only"):
        kanon_sql.anonymize(engine, spec())
    assert postgres.tables() == before
    engine.close()
    engine = postgres.connect(read_only=True, scratch="inline")
    assert kanon_sql.plan(engine, spec()).passed
    with pytest.raises(DatabaseError, match="read-only transaction"):
        engine.execute(Statement("write", "CREATE TABLE forbidden (n INTEGER)"))
    engine.close()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://ada:s3cret@127.0.0.1:1/clinic?password=t0psecret", "connection refused"),
        ("postgresql+psycopg://ada:s3cret@127.0.0.1:1/clinic", "connection refused"),
        ("redis://ada:s3cret@127.0.0.1/clinic", "not supported"),
        ("postgresql://ada:s3cret@127.0.0.1:port/clinic", "does not parse"),
    ],
)
def test_a_failed_connection_tells_no_secret(url: str, reason: str) -> None:
    with pytest.raises((DatabaseError, UnsupportedError, SpecError), match=reason) as caught:
        kanon_sql.connect(url)
    assert "s3cret" not in str(caught.value)
    assert "t0psecret" not in str(caught.value)


@pytest.mark.slow
def test_codes_of_several_columns_of_intervals_have_room(postgres: Any) -> None:
    """4,000 values in ten intervals take 16 bits of each column: the codes are numbers beyond four bytes."""
    rows = [(i, i * 7 % 4_000) for i in range(4_000)]
    postgres.table("numbers", {"a": "integer", "b": "integer"}, rows)
    engine = postgres.connect()
    asked = kanon_sql.Spec.from_dict({
        "version": 1, "source": "numbers", "release": "numbers_release", "quasi_identifiers": dict.fromkeys("ab"),
        "privacy": [{"k_anonymity": 5}], "suppression": {"max_rows": 0},
        "search": {"algorithm": "k_optimize", "metric": "discernibility", "cuts": 9},
    })  # fmt: skip
    assert kanon_sql.anonymize(engine, asked).passed
    engine.close()
    sizes = [size for (size,) in postgres.fetch("SELECT COUNT(*) FROM numbers_release GROUP BY a, b")]
    assert sum(sizes) == 4_000
    assert min(sizes) >= 5
    postgres.drop("numbers")
    postgres.drop("numbers_release")


def test_a_deadline_covers_the_whole_run(postgres: Subject) -> None:
    engine = postgres.connect()
    with engine.run(Deadline(0)), pytest.raises(DatabaseError, match="time limit"):
        kanon_sql.plan(engine, spec(), timeout=0)
    engine.close()


@pytest.mark.slow
@pytest.mark.sampled(2)
def test_the_command_line(postgres: Any, tmp_path: Path) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, [*arguments, "-d", postgres.url])
        return done.exit_code, done.stdout

    file = tmp_path / "spec.yml"
    file.write_text(
        "version: 1\nsource: people\nrelease: released\nquasi_identifiers:\n  q:\nsensitive: [s]\n"
        "privacy:\n  - k_anonymity: 3\nsuppression: {max_share: 0.5}\n"
    )
    postgres.execute("ANALYZE people")
    code, said = run("pipeline", "estimate", str(file), "--format", "json")
    assert (code, json.loads(said)["rows"]) == (0, 4)
    assert run("plan", str(file), "--set", "max_bytes=1B")[0] == 2
    code, said = run("plan", str(file), "--set", "scratch=inline", "--format", "json")
    assert (code, json.loads(said)["rows"]["suppressed"]) == (0, 1)
    assert run("check", str(file), "--table", "people")[0] == 1
    code, said = run("anonymize", str(file), "--format", "json")
    assert (code, json.loads(said)["rows"]["released"]) == (0, 3)
    assert json.loads((tmp_path / "released.manifest.json").read_text())["versions"]["engine"].startswith("postgres 1")
    assert run("check", str(file))[0] == 0
    assert run("clean", "--yes")[0] == 0
    code, said = run("doctor", "--format", "json")
    assert code == 0
    assert json.loads(said)["verbs"]["anonymize"]["works"]
    assert run("init", "people")[0] == 0


def test_a_release_is_written_from_its_frequency_set(postgres: Subject) -> None:
    """Where that holds all there is: the source is read once. See tests/release/test_repeat.py."""
    rows = [(number % 7, f"1{number % 3}", number % 2) for number in range(90)]
    postgres.table("people", {"age": "integer", "zip": "text", "dx": "integer"}, rows)
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": {"age": None, "zip": {"prefix": [1]}},
            "sensitive": ["dx"],
            "privacy": [{"k_anonymity": 8}, {"l_diversity": {"attribute": "dx", "l": 2}}],
            "suppression": {"max_rows": 0},
            "warnings": QUIET,
        }
    )
    engine = postgres.connect()
    try:
        result = kanon_sql.anonymize(engine, spec)
    finally:
        engine.close()
    assert result.node == {"age": 0, "zip": 1}
    assert result.cost.source_scans == 1
    expected = Counter((str(age), f"{code[0]}*", dx) for age, code, dx in rows)
    assert Counter(tuple(row) for row in postgres.rows("people_release")) == expected


# --- What the session, the role or the table may have ---


def test_a_policy_that_hides_rows_is_an_error(postgres: Any) -> None:
    """The rows that this role sees are 2-anonymous, the table is not."""
    postgres.execute("CREATE ROLE kanon_clerk")
    postgres.execute("GRANT SELECT ON people TO kanon_clerk")
    postgres.execute("CREATE POLICY a_only ON people USING (q = 'a')")
    postgres.execute("ALTER TABLE people ENABLE ROW LEVEL SECURITY")
    postgres.execute("CREATE VIEW seen AS SELECT * FROM people WHERE q = 'a'")
    postgres.execute("GRANT SELECT ON seen TO kanon_clerk")
    asked = spec(privacy=[{"k_anonymity": 2}])
    try:
        with postgres._engine.connect() as connection:
            connection.exec_driver_sql("SET ROLE kanon_clerk")
            connection.commit()
            engine = kanon_sql.connect(connection)
            with pytest.raises(DatabaseError, match=r"row-level security.*a role that sees every row"):
                kanon_sql.check(engine, asked, "people")
            assert kanon_sql.check(engine, asked, "seen").passed, "its owner says which rows are meant"
            engine.close()
            assert connection.exec_driver_sql("SHOW row_security").scalar() == "on"
    finally:
        postgres.execute("DROP VIEW seen")
        postgres.drop("people")
        postgres.execute("DROP ROLE kanon_clerk")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", ["public, pg_catalog", "pg_catalog, public"])
def test_functions_of_a_schema_do_not_hide_postgresqls(postgres: Any, path: str) -> None:
    """Every class would have a thousand rows."""
    postgres.execute("CREATE AGGREGATE public.count(*) (sfunc = int8inc, stype = bigint, initcond = '1000')")
    try:
        with postgres._engine.connect() as connection:
            connection.exec_driver_sql(f"SET search_path = {path}")
            connection.commit()
            engine = kanon_sql.connect(connection)
            (found,) = kanon_sql.check(engine, spec(), "people").achieved.values()
            assert (found["k"], found["violating_rows"]) == (1, 1)
            assert kanon_sql.anonymize(engine, spec()).rows == {"source": 4, "released": 3, "suppressed": 1}
            engine.close()
            assert connection.exec_driver_sql("SHOW search_path").scalar() == path, "it has its own again"
    finally:
        postgres.execute("DROP AGGREGATE public.count(*)")


def test_nothing_is_looked_for_by_name_before_the_search_path_is_known(postgres: Any) -> None:
    """A path may put another schema before PostgreSQL's own, and a type there is called as ``text`` is."""
    postgres.execute("CREATE SCHEMA early")
    try:
        postgres.execute("CREATE TYPE early.text AS (a integer)")
        url = sqlalchemy.make_url(postgres.url).update_query_dict({"options": "-csearch_path=early,pg_catalog"})
        with kanon_sql.connect(url.render_as_string(hide_password=False)) as engine:
            assert kanon_sql.check(engine, spec(source="public.people"), "public.people").classes["count"] == 2
    finally:
        postgres.execute("DROP SCHEMA early CASCADE")


def test_labels_of_intervals_and_bytes_have_one_form(postgres: Any) -> None:
    postgres.execute("DROP TABLE IF EXISTS spans")
    postgres.execute(
        "CREATE TABLE spans AS SELECT interval '1 day 2 hours' AS q, bytea 'a' AS b FROM generate_series(1, 3)"
    )
    asked = spec(source="spans", sensitive=[], quasi_identifiers={"q": None, "b": None})
    with postgres._engine.connect() as connection:
        connection.exec_driver_sql("SET IntervalStyle = sql_standard")
        connection.exec_driver_sql("SET bytea_output = escape")
        connection.commit()
        engine = kanon_sql.connect(connection)
        assert kanon_sql.anonymize(engine, asked).passed
        engine.close()
    assert set(postgres.rows("released")) == {("1 day 02:00:00", "\\x61")}
    postgres.drop("spans")


@pytest.mark.sampled(2)
def test_numbers_without_a_scale_are_joined_by_value(postgres: Subject) -> None:
    """NUMERIC keeps the zeros that were written: 1.00 is 1.0 in a release, in a list of people and in a kept column."""
    for name, zeros in (("s", "0"), ("r", "00")):
        postgres.drop(name)
        postgres.execute(f"CREATE TABLE {name} (q NUMERIC, d TEXT, n NUMERIC)")
        postgres.execute(
            f"INSERT INTO {name} VALUES (34.{zeros}, 'x', 1.{zeros}), (35, 'x', 2), (35, 'y', 2), (35, 'y', 2)"
        )
    given = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "quasi_identifiers": {"q": None}, "sensitive": ["d"],
            "keep": ["n"], "privacy": [{"k_anonymity": 2}],
        }
    )  # fmt: skip
    with closing(postgres.connect()) as engine:
        options: list[dict[str, Any]] = [
            {"attacks": ["linking"], "external": "s", "on": [column]} for column in ("q", "n")
        ]
        for option in (*options, {"attacks": ["complementary"], "earlier": ["r"]}, {"attacks": ["consistency"]}):
            found = kanon_sql.audit(engine, given, **option).attacks
            assert {attack.exposed for attack in found} >= {1}, option
    for name in ("s", "r"):
        postgres.drop(name)


COUNTS = [
    "SELECT q, COUNT(DISTINCT s) AS n FROM t GROUP BY q",
    "SELECT COUNT(DISTINCT s) AS n, q AS q, COUNT(*) AS m, COUNT(v) AS o FROM t WHERE v > 1 GROUP BY q, r",
    "SELECT r, SUM(v) AS v, MIN(v) AS low, MAX(s) AS top, SUM(COUNT(DISTINCT s)) OVER () AS n FROM t GROUP BY q, r",
    "SELECT a.q, COUNT(DISTINCT CASE WHEN b.v > 2 THEN b.s END) AS n FROM t AS a JOIN t AS b ON a.r = b.r GROUP BY a.q",
    "SELECT q FROM t GROUP BY q HAVING COUNT(DISTINCT v) > 1 AND COUNT(*) > 2",
    "SELECT COUNT(DISTINCT s) AS n FROM t",
    "SELECT 1 AS one, COUNT(DISTINCT s) AS n, COUNT(*) AS m, COUNT(v) AS o, SUM(v) AS v FROM t WHERE v > 1",
    "SELECT COUNT(DISTINCT s) AS n, COUNT(*) AS m, COUNT(v) AS o, SUM(v) AS v FROM t WHERE v > 9",
    "SELECT q, (SELECT COUNT(DISTINCT u.s) FROM t AS u WHERE u.q = t.q) AS n FROM t",
    "SELECT n, COUNT(DISTINCT m) AS m FROM (SELECT q AS n, COUNT(DISTINCT s) AS m FROM t GROUP BY q, r) p GROUP BY n",
]
"""What is grouped twice."""
OTHER_COUNTS = [
    "SELECT COUNT(DISTINCT s) AS n, AVG(v) AS mean FROM t",
    "SELECT q, COUNT(DISTINCT s) AS n, COUNT(DISTINCT v) AS m FROM t GROUP BY q",
    "SELECT q, COUNT(DISTINCT s) AS n, AVG(v) AS mean FROM t GROUP BY q",
    "SELECT q, SUM(DISTINCT v) AS n FROM t GROUP BY q",
    "SELECT v AS q, COUNT(DISTINCT s) AS n FROM t GROUP BY q, v",
    "SELECT q, COUNT(DISTINCT s) AS n FROM t GROUP BY q ORDER BY q",
    "SELECT 1 AS q, COUNT(DISTINCT s) AS n FROM t GROUP BY 1 HAVING COUNT(*) > 1",
    "SELECT q, (SELECT MAX(u.v) FROM t AS u WHERE u.q = t.q) AS m, COUNT(DISTINCT s) AS n FROM t GROUP BY q",
]


@pytest.mark.parametrize("query", [*COUNTS, *OTHER_COUNTS])
def test_different_values_are_counted_as_the_server_counts_them(postgres: Subject, query: str) -> None:
    draw = random.Random(query)
    some = [None, "a", "b", "A"]
    rows = [(draw.choice(some), draw.choice(some), draw.choice(some), draw.choice([None, 1, 2, 3])) for _ in range(40)]
    postgres.table("t", {"q": "text", "r": "text", "s": "text", "v": "integer"}, rows)
    rewritten = postgres.dialect.sql(sqlglot.parse_one(query, dialect="postgres"))
    assert ("DISTINCT" not in rewritten) == (query in COUNTS)
    assert Counter(postgres.fetch(rewritten)) == Counter(postgres.fetch(query))


@pytest.mark.parametrize(
    ("derived", "kept"),
    [
        ("SELECT q, CASE WHEN looked(v) THEN 'b' ELSE s END AS s FROM t", True),
        ("SELECT q, v + CASE WHEN looked(v) THEN 1 ELSE 2 END AS s FROM t", True),
        ("SELECT q, s FROM t WHERE looked(v)", False),
        ("SELECT DISTINCT q, CASE WHEN looked(v) THEN 1 ELSE 2 END AS s FROM t", False),
        ("SELECT q, MAX(CASE WHEN looked(v) THEN 1 ELSE 2 END) AS s FROM t GROUP BY q", False),
    ],
)
def test_what_a_joined_query_decides_is_decided_once_a_row(postgres: Subject, derived: str, kept: bool) -> None:
    rows = [(f"{number % 4}", "a", number) for number in range(40)]
    postgres.table("t", {"q": "text", "s": "text", "v": "integer"}, rows)
    postgres.execute("CREATE SEQUENCE IF NOT EXISTS looks")
    postgres.execute(
        "CREATE OR REPLACE FUNCTION looked(v integer) RETURNS boolean LANGUAGE plpgsql STABLE AS "
        "'BEGIN PERFORM nextval(''looks''); RETURN v > 20; END'"
    )
    query = f"SELECT d.s, COUNT(*) AS n FROM t JOIN ({derived}) AS d ON t.q = d.q GROUP BY d.s"
    rewritten = postgres.dialect.sql(sqlglot.parse_one(query, dialect="postgres"))
    assert ("OFFSET 0" in rewritten) == kept
    found, looks = [], []
    for text in (query, rewritten):
        postgres.execute("ALTER SEQUENCE looks RESTART")
        found.append(Counter(postgres.fetch(text)))
        looks.append(postgres.fetch("SELECT last_value FROM looks")[0][0])
    assert found[0] == found[1]
    assert looks == [len(rows) * 10 if kept else len(rows), len(rows)]
    postgres.execute("DROP FUNCTION looked")
    postgres.execute("DROP SEQUENCE looks")
