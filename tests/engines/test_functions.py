"""Functions of somebody's on the engines other than PostgreSQL: none counts in the engine's place, or tells a value."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import duckdb
import pytest
import sqlalchemy

import kanon_sql
from kanon_sql.engines.duckdb import DuckDBEngine
from kanon_sql.errors import KanonError, SpecError, UnsupportedError
from kanon_sql.testing import Subject
from tests.campaign.wire import Point, Wire
from tests.conftest import BEFORE_2, Database
from tests.servers import subject_of

ROWS = [("a", "x"), ("a", "y"), ("a", "x"), ("b", "x")]


def spec(**changes: Any) -> kanon_sql.Spec:
    given = {
        "version": 1, "source": "people", "quasi_identifiers": {"q": None}, "sensitive": ["s"],
        "privacy": [{"k_anonymity": 2}], "suppression": {"max_share": 0.5},
    }  # fmt: skip
    return kanon_sql.Spec.from_dict({**given, **changes})


def truth(engine: Any) -> None:
    """b stands alone."""
    (found,) = kanon_sql.check(engine, spec(), "people").achieved.values()
    assert (found["k"], found["violating_rows"]) == (1, 1)


def silent(engine: Any, query: str, secret: str = "Planted") -> None:
    with pytest.raises(KanonError) as caught:
        kanon_sql.plan(engine, spec(source={"query": query}))
    assert secret not in str(caught.value)


# --- DuckDB ---


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "make",
    ["CREATE MACRO sum(x) AS 1000", "CREATE TEMP MACRO count(x) AS 1000",
     "CREATE SCHEMA other; CREATE MACRO other.min(x) AS 1000; SET search_path = 'main,other'",
     "ATTACH ':memory:' AS near; CREATE MACRO near.max(x) AS 1000; SET search_path = 'main,near.main'"],
)  # fmt: skip
def test_macros_of_duckdb_made_after_it_was_connected(database: Database, make: str) -> None:
    database.table("people", ["q", "s"], ROWS)
    database.connection.execute(make)
    for verb in (kanon_sql.plan, kanon_sql.risk, lambda engine, given: kanon_sql.check(engine, given, "people")):
        with pytest.raises(UnsupportedError, match="macros with the names of DuckDB's own"):
            verb(database.engine, spec())
    with pytest.raises(UnsupportedError, match="macros"):
        kanon_sql.anonymize(database.engine, spec(release="released"))
    assert "released" not in database.tables()


@pytest.fixture
def listings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that list all functions, as they come."""
    listed: list[str] = []
    execute = DuckDBEngine._execute

    def counted(self: DuckDBEngine, sql: Any) -> Any:
        listed.extend([sql] if "duckdb_functions" in str(sql) else [])
        return execute(self, sql)

    monkeypatch.setattr(DuckDBEngine, "_execute", counted)
    return listed


@pytest.mark.slow
def test_macros_are_looked_for_once_where_nobody_else_does_anything(listings: list[str]) -> None:
    """A release, checks and a search in transactions of our own, on one connection: none can have made a macro."""
    database = Database(duckdb.connect())  # of which nothing is known yet
    database.table("people", ["q", "s"], ROWS * 2)
    for _ in range(2):
        kanon_sql.anonymize(database.engine, spec(release="released")).raise_for_failure()
        kanon_sql.check(database.engine, spec(), "people")
        kanon_sql.plan(database.engine, spec())
    if BEFORE_2:  # which numbers transactions otherwise, so that they are looked for in every run
        assert len(listings) > 2
        return
    assert len(listings) == 1
    assert len(database.connection.sql("FROM people").fetchall()) == 8, "no result of ours is left unread"
    database.connection.cursor().execute("SELECT 1")
    kanon_sql.check(database.engine, spec(), "people")
    assert len(listings) == 2


@pytest.mark.slow
def test_macros_are_looked_for_once_by_all_engines_on_a_connection(database: Database, listings: list[str]) -> None:
    """Each verb makes an engine of its own where it is given a connection, and what the owner does between is seen."""
    database.table("people", ["q", "s"], ROWS * 2)
    for _ in range(3):
        kanon_sql.check(database.connection, spec(), "people")
        database.connection.execute("SELECT count(*) FROM people").fetchall()
    assert BEFORE_2 or len(listings) <= 2, "the first listing makes entries of DuckDB's own, too"
    database.connection.execute("CREATE TEMP MACRO sum(x) AS 1000")
    with pytest.raises(UnsupportedError, match="macros"):
        kanon_sql.check(database.connection, spec(), "people")


@pytest.mark.slow
def test_a_macro_is_found_however_many_statements_the_owner_sends(database: Database) -> None:
    """Ours inside of the owner's transaction take no number: as many of the owner's must not make up for them."""
    database.table("people", ["q", "s"], ROWS * 2)
    for count in range(50):
        kanon_sql.check(database.connection, spec(), "people")
        database.connection.execute("BEGIN")
        kanon_sql.check(database.connection, spec(), "people")
        database.connection.execute("COMMIT")
        database.connection.execute("CREATE MACRO sum(x) AS 1000")
        for _ in range(count):
            database.connection.execute("SELECT 1").fetchall()
        with pytest.raises(UnsupportedError, match="macros"):
            kanon_sql.check(database.connection, spec(), "people")
        database.connection.execute("DROP MACRO sum")


def test_queries_of_the_owner_make_no_macro(database: Database, listings: list[str]) -> None:
    """What is made takes numbers of a catalog; to ask takes none. Whatever was made is looked at."""
    database.table("people", ["q", "s"], ROWS * 2)
    for _ in range(2):  # the first listing makes entries of DuckDB's own, too
        kanon_sql.check(database.engine, spec(), "people")
        database.connection.execute("SELECT count(*) FROM people").fetchall()
    before = len(listings)
    for _ in range(3):
        kanon_sql.check(database.engine, spec(), "people")
        database.connection.execute("SELECT q, count(*) FROM people GROUP BY q").fetchall()
    assert len(listings) == before
    database.connection.execute("CREATE TEMP MACRO harmless(x) AS x")
    kanon_sql.check(database.engine, spec(), "people")
    assert len(listings) == before + 1


def test_a_macro_that_is_committed_after_a_listing_is_found(database: Database) -> None:
    """It was made before the listing, in a transaction that was open: it takes no number of either kind afterwards."""
    database.table("people", ["q", "s"], ROWS * 2)
    other = database.connection.cursor()
    other.execute("BEGIN")
    other.execute("CREATE MACRO sum(x) AS 1000")
    for _ in range(2):
        kanon_sql.check(database.engine, spec(), "people")
    other.execute("COMMIT")
    with pytest.raises(UnsupportedError, match="macros"):
        database.engine.refuse_shadowed_functions()
    with pytest.raises(UnsupportedError, match="macros"):
        kanon_sql.check(database.engine, spec(), "people")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("who", ["another connection", "the same", "the same, in its transaction"])
def test_a_macro_made_between_two_runs_is_found(database: Database, who: str) -> None:
    database.table("people", ["q", "s"], ROWS * 2)
    for _ in range(2):
        kanon_sql.check(database.engine, spec(), "people")
    used = database.connection.cursor() if who == "another connection" else database.connection
    if who == "the same, in its transaction":
        used.execute("BEGIN")
    used.execute("CREATE MACRO sum(x) AS 1000")
    with pytest.raises(UnsupportedError, match="macros"):
        database.engine.refuse_shadowed_functions()
    with pytest.raises(UnsupportedError, match="macros"):
        kanon_sql.check(database.engine, spec(), "people")


@pytest.mark.slow
def test_a_macro_made_during_a_run_is_found(database: Database) -> None:
    """Before any statement of a check but the last one, which nothing is asked after."""
    database.table("people", ["q", "s"], ROWS * 2)
    kanon_sql.check(database.engine, spec(), "people")
    names: list[str] = []
    with kanon_sql.connect(database.connection.cursor()) as engine:
        Wire(engine, lambda point: names.append(point.name) if point.when == "before" else None)
        kanon_sql.check(engine, spec(), "people")
    for place in range(1, len(names) + 1):
        other = database.connection.cursor()

        def act(point: Point, other: Any = other, place: int = place) -> None:
            if point.when == "before" and point.number == place:
                other.execute("CREATE MACRO sum(x) AS 1000")

        with kanon_sql.connect(database.connection.cursor()) as engine:
            kanon_sql.check(engine, spec(), "people")
            Wire(engine, act)
            with pytest.raises(UnsupportedError, match="macros"):
                kanon_sql.check(engine, spec(), "people")
        other.execute("DROP MACRO sum")


def test_functions_in_python_cannot_have_names_of_duckdbs(database: Database) -> None:
    with pytest.raises(duckdb.CatalogException, match="already exists"):
        database.connection.create_function("floor", lambda x: 7.0, ["DOUBLE"], "DOUBLE")  # type: ignore[list-item, arg-type]


@pytest.mark.parametrize(
    "expression",
    ["error(q)", "strptime(q, '%Y')", "CAST(q AS DATE)", "json_extract(q, '$.a')", "CAST(q AS INTEGER)", "tells(q)",
     pytest.param("regexp_extract('a', q)", marks=pytest.mark.skipif(BEFORE_2, reason="it is no error before 2.0"))],
)  # fmt: skip
def test_duckdbs_errors_tell_no_value(database: Database, expression: str) -> None:
    def tells(value: str) -> str:
        raise duckdb.CatalogException(f"Table with name {value} does not exist!")

    database.connection.create_function("tells", tells, ["VARCHAR"], "VARCHAR")  # type: ignore[list-item, arg-type]
    database.table("named", ["q", "s"], [("(Planted", "x")])
    silent(database.engine, f"SELECT CAST({expression} AS VARCHAR) AS q, s FROM named")


@pytest.mark.parametrize("call", ["nextval('numbers')", "random()", "write_log('a')", "\"nextval\" ('numbers')"])
def test_duckdbs_functions_with_effects_are_refused(database: Database, call: str) -> None:
    database.table("people", ["q", "s"], ROWS)
    database.connection.execute("CREATE SEQUENCE numbers")
    with pytest.raises(SpecError, match=r"source query: it calls (nextval|random|write_log)"):
        kanon_sql.plan(database.engine, spec(source={"query": f"SELECT q, s FROM people WHERE {call} IS NOT NULL"}))
    assert database.connection.execute("SELECT nextval('numbers')").fetchall() == [(1,)]


# --- SQLite ---


def test_functions_of_sqlite_registered_after_it_was_connected() -> None:
    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        driver: Any = connection.connection.driver_connection
        driver.executescript("CREATE TABLE people (q TEXT, s TEXT); INSERT INTO people VALUES ('a', 'x'), ('b', 'y')")
        with closing(kanon_sql.connect(connection)) as engine:
            for name in ("ln", "floor"):  # ours, made anew with each run
                driver.create_function(name, 1, lambda x: 7.0)
            (found,) = kanon_sql.check(engine, spec(), "people").achieved.values()
            assert (found["k"], found["violating_rows"]) == (1, 2)
            assert driver.execute("SELECT floor(2.5)").fetchone() == (2,)
            driver.create_function("abs", 1, lambda x: 1000)
            with pytest.raises(UnsupportedError, match=r"functions with the names of SQLite's own .*\(abs\)"):
                kanon_sql.check(engine, spec(), "people")


def test_sqlites_errors_tell_no_value() -> None:
    def tells(value: str) -> str:
        raise sqlite3.OperationalError(f"no such table: {value}")

    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        driver: Any = connection.connection.driver_connection
        driver.create_function("tells", 1, tells)
        driver.executescript("CREATE TABLE named (q TEXT, s TEXT); INSERT INTO named VALUES ('Planted', 'x')")
        with closing(kanon_sql.connect(connection)) as engine:
            for expression in ("tells(q)", "json_extract('{}', q)", "load_extension(q)"):
                silent(engine, f"SELECT {expression} AS q, s FROM named")
            with pytest.raises(SpecError, match="it calls load_extension"):
                kanon_sql.plan(engine, spec(source={"query": "SELECT load_extension(q) AS q, s FROM named"}))


# --- MariaDB ---


@pytest.fixture(scope="module")
def mariadb() -> Iterator[Subject]:
    with subject_of("mariadb") as made:
        made.table("people", {"q": "text", "s": "text"}, ROWS)
        made.table("named", {"q": "text", "s": "text"}, [("Planted", "x")])
        yield made


SHADOWS = ("count", "sum", "floor", "ln", "coalesce", "min", "max", "abs", "char_length", "trim", "lower", "substring")


@pytest.mark.sampled(2)
@pytest.mark.xdist_group("mariadb")
@pytest.mark.parametrize("space", [False, True])
def test_mariadb_calls_its_own_functions(mariadb: Subject, space: bool) -> None:
    """A stored function is called by a name of MariaDB's only with a blank before the parenthesis: we write none."""
    for name in SHADOWS:
        mariadb.execute(f"CREATE FUNCTION {name} (x BIGINT) RETURNS BIGINT DETERMINISTIC RETURN 1000")
    try:
        assert mariadb.fetch("SELECT COUNT (q) FROM people") == [(1000,)] * 4, "it can be called"
        if space:
            mariadb.execute("SET GLOBAL sql_mode = 'IGNORE_SPACE'")
        with closing(mariadb.connect()) as engine:
            truth(engine)
            assert kanon_sql.plan(engine, spec()).rows == {"source": 4, "released": 3, "suppressed": 1}
            assert not [item for item in engine.meter.log if any(f"{n.upper()} (" in item.sql for n in SHADOWS)]
    finally:
        mariadb.execute("SET GLOBAL sql_mode = DEFAULT")
        for name in SHADOWS:
            mariadb.execute(f"DROP FUNCTION {name}")


@pytest.mark.xdist_group("mariadb")
@pytest.mark.parametrize("number", [1146, 1142, 1054, 1305, 1290, 1406, 1644, 1048])
def test_what_a_function_of_mariadb_signals_is_not_passed_on(mariadb: Subject, number: int) -> None:
    """Through a view, since a query that calls a stored function is refused."""
    mariadb.execute(
        "CREATE FUNCTION tells(x VARCHAR(99)) RETURNS VARCHAR(99) BEGIN SIGNAL SQLSTATE '42S02' "
        f"SET MESSAGE_TEXT = x, MYSQL_ERRNO = {number}; RETURN x; END"
    )
    mariadb.execute("CREATE VIEW telling AS SELECT tells(q) AS q, s FROM named")
    try:
        with closing(mariadb.connect()) as engine:
            for verb in (kanon_sql.plan, kanon_sql.risk):
                with pytest.raises(KanonError) as caught:
                    verb(engine, spec(source="telling"))  # type: ignore[operator]
                assert "Planted" not in str(caught.value)
            with pytest.raises(SpecError, match="stored functions tells"):
                kanon_sql.plan(engine, spec(source={"query": "SELECT q, s FROM telling"}))
    finally:
        mariadb.execute("DROP VIEW telling")
        mariadb.execute("DROP FUNCTION tells")


@pytest.mark.xdist_group("mariadb")
@pytest.mark.parametrize(
    "query",
    ["SELECT noting(q) AS q, s FROM people", "SELECT q, s FROM people WHERE GET_LOCK('a', 0) = 1",
     "SELECT @x := q AS q, s FROM people", "SELECT q, s FROM people WHERE NEXT VALUE FOR numbers > 0",
     "SELECT q, s FROM people WHERE LOAD_FILE('/etc/hostname') IS NULL", "SELECT q, s FROM noting_view"],
)  # fmt: skip
def test_a_query_of_mariadbs_that_changes_something_is_refused(mariadb: Subject, query: str) -> None:
    mariadb.execute("CREATE TABLE noted (a BIGINT)")
    mariadb.execute(
        "CREATE FUNCTION noting(x VARCHAR(99)) RETURNS VARCHAR(99) READS SQL DATA "
        "BEGIN INSERT INTO noted VALUES (1); RETURN x; END"
    )
    mariadb.execute("CREATE VIEW noting_view AS SELECT noting(q) AS q, s FROM people")
    mariadb.execute("CREATE SEQUENCE numbers")
    try:
        with closing(mariadb.connect()) as engine:
            for verb in (kanon_sql.plan, kanon_sql.risk):
                with pytest.raises(SpecError, match=r"source query: it (calls|assigns|does not parse)"):
                    verb(engine, spec(source={"query": query}))  # type: ignore[operator]
        assert mariadb.rows("noted") == []
    finally:
        for thing in ("SEQUENCE numbers", "VIEW noting_view", "FUNCTION noting", "TABLE noted"):
            mariadb.execute(f"DROP {thing}")


# --- ClickHouse ---


@pytest.fixture(scope="module")
def clickhouse() -> Iterator[Subject]:
    with subject_of("clickhouse") as made:
        made.table("people", {"q": "text", "s": "text"}, ROWS)
        made.table("named", {"q": "text", "s": "text"}, [("Planted", "x")])
        yield made


@pytest.mark.sampled(5)
@pytest.mark.xdist_group("clickhouse")
@pytest.mark.parametrize("name", ["COUNT", "SUM", "FLOOR", "LN", "countIf"])
def test_a_function_of_clickhouse_in_other_letters_is_refused(clickhouse: Subject, name: str) -> None:
    clickhouse.execute(f"CREATE FUNCTION {name} AS (x) -> 1000")
    try:
        with closing(clickhouse.connect()) as engine, pytest.raises(UnsupportedError, match=rf"\({name}\)"):
            kanon_sql.check(engine, spec(), "people")
    finally:
        clickhouse.execute(f"DROP FUNCTION {name}")
    with closing(clickhouse.connect()) as engine:
        truth(engine)


@pytest.mark.xdist_group("clickhouse")
@pytest.mark.parametrize(
    "expression",
    ["throwIf(1, (SELECT max(q) FROM named), toInt16(60))",
     "hasColumnInTable('default', (SELECT max(q) FROM named), 'c')",
     "getSetting((SELECT max(q) FROM named))", "throwIf(q = 'Planted', 'Planted')",
     "dictGet((SELECT max(q) FROM named), 'c', 1)"],
)  # fmt: skip
def test_clickhouses_errors_tell_no_value(clickhouse: Subject, expression: str) -> None:
    settings = " SETTINGS allow_custom_error_code_in_throwif = 1" if "60" in expression else ""
    with closing(clickhouse.connect()) as engine:
        silent(engine, f"SELECT toString({expression}) AS q, s FROM named{settings}")
        with pytest.raises(SpecError, match="it calls rand"):
            kanon_sql.plan(engine, spec(source={"query": "SELECT toString(rand()) AS q, s FROM named"}))


# --- Spark ---


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_functions_of_a_spark_session() -> None:
    with subject_of("spark") as spark:
        spark.table("people", {"q": "text", "s": "text"}, ROWS)
        spark.table("named", {"q": "text", "s": "text"}, [("Planted", "x")])
        session: Any = spark.session  # type: ignore[attr-defined]
        with closing(spark.connect()) as engine:
            truth(engine)
            for expression in ("raise_error(q)", "raise_error('TABLE_OR_VIEW_NOT_FOUND', map('relationName', q))",
                               "assert_true(false, q)", "CAST(q AS BIGINT)"):  # fmt: skip
                silent(engine, f"SELECT CAST({expression} AS STRING) AS q, s FROM named")
            for call in ("java_method('java.lang.System', 'gc')", "reflect('java.lang.System', 'gc')", "rand()"):
                with pytest.raises(SpecError, match="it calls"):
                    kanon_sql.plan(engine, spec(source={"query": f"SELECT CAST({call} AS STRING) AS q, s FROM people"}))
            session.udf.register("floor", lambda x: 7)
            with pytest.raises(UnsupportedError, match=r"names of Spark's own \(floor\)"):
                kanon_sql.check(engine, spec(), "people")
            session.sql("DROP TEMPORARY FUNCTION floor")
            truth(engine)


# --- Level expressions ---


@pytest.mark.parametrize("kind", ["mood", "public.mood", '"mood"', "ENUM('a', 'b')", "regclass", "regtype"])
def test_a_level_expression_casts_to_no_type_of_somebodys(database: Database, kind: str) -> None:
    """Its cast would be a function of theirs, or look a value up in the catalog."""
    database.table("people", ["q", "s"], ROWS)
    asked = spec(quasi_identifiers={"q": {"sql": [f"CAST(x AS {kind})"]}})
    with pytest.raises(SpecError, match="a cast to a type that not every engine has"):
        kanon_sql.plan(database.engine, asked)
