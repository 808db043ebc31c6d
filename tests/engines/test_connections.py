"""Connections that a program has open: used by the verbs, and given back as they were, after an error too."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import duckdb
import ibis
import pandas as pd
import psycopg
import pytest
import sqlalchemy
from psycopg.rows import dict_row, tuple_row

import kanon_sql
from kanon_sql.errors import DatabaseError, KanonError, UnsupportedError
from tests.servers import subject_of
from tests.servers.base import UrlSubject

ROWS = [(20 + i * 37 % 40, ["flu", "cold", None][i * 7 // 3 % 3]) for i in range(120)]
CREATE = "CREATE TABLE visits (age INTEGER, dx VARCHAR(20))"
LEFT = ["kanon_sql_manifest", "kanon_sql_scratch", "released", "visits"]


def spec(**changed: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": "released",
            "quasi_identifiers": {"age": {"intervals": [5, 10, 20]}},
            "sensitive": ["dx"],
            "privacy": [{"k_anonymity": 4}],
            **changed,
        }
    )


def verbs(connection: Any) -> None:
    """Every verb that takes a connection, and errors of a few kinds."""
    assert kanon_sql.plan(connection, spec()).passed
    assert kanon_sql.anonymize(connection, spec()).passed
    assert kanon_sql.check(connection, spec()).passed
    assert kanon_sql.risk(connection, spec()).histogram.rows == len(ROWS)
    assert kanon_sql.audit(connection, spec()).rows == len(ROWS)
    assert len(kanon_sql.compare(connection, {"visits": spec()}, [2, 6]).runs) == 2
    assert "source: visits" in kanon_sql.init(connection, "visits")
    for wrong in (
        spec(source="nowhere"),
        spec(source={"query": "SELECT age, dx, 1 / 0 AS never FROM visits WHERE nothing = 1"}),
        spec(sensitive=["nothing"]),
        spec(quasi_identifiers={"age": {"sql": ["no_such_function({column})"]}}),
    ):
        with pytest.raises(KanonError):
            kanon_sql.anonymize(connection, wrong)
    with pytest.raises(KanonError):
        kanon_sql.anonymize(connection, spec(), timeout=1e-9)


def sqlite_tables(connection: sqlite3.Connection) -> list[str]:
    query = (
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') UNION ALL SELECT name FROM sqlite_temp_master "
        "ORDER BY 1"
    )
    return [row[0] for row in sqlite3.Cursor(connection).execute(query)]


class Rows(sqlite3.Cursor):
    """A cursor of the program's own."""


@pytest.fixture
def lite() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(CREATE)
        connection.executemany("INSERT INTO visits VALUES (?, ?)", ROWS)
        connection.commit()
        yield connection


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("isolation", ["", None, "IMMEDIATE"])
def test_a_connection_of_sqlite3_is_given_back(lite: sqlite3.Connection, isolation: str | None) -> None:
    lite.isolation_level = isolation
    lite.row_factory, lite.text_factory = sqlite3.Row, bytes
    pragmas = [lite.execute(f"PRAGMA {name}").fetchone()[0] for name in ("query_only", "busy_timeout", "cache_size")]
    verbs(lite)
    assert (lite.isolation_level, lite.row_factory, lite.text_factory) == (isolation, sqlite3.Row, bytes)
    assert pragmas == [
        lite.execute(f"PRAGMA {name}").fetchone()[0] for name in ("query_only", "busy_timeout", "cache_size")
    ]
    lite.text_factory = str
    assert sqlite_tables(lite) == LEFT
    assert not lite.in_transaction
    lite.execute("BEGIN") if isolation is None else None
    lite.execute("DELETE FROM visits")
    assert lite.in_transaction
    lite.rollback()
    assert lite.execute("SELECT COUNT(*) FROM visits").fetchone()[0] == len(ROWS)


def test_a_transaction_of_the_owners_is_neither_joined_nor_ended(lite: sqlite3.Connection) -> None:
    lite.execute("DELETE FROM visits WHERE age < 30")
    left = lite.execute("SELECT COUNT(*) FROM visits").fetchone()
    for verb in (kanon_sql.plan, kanon_sql.anonymize, kanon_sql.check):
        with pytest.raises(UnsupportedError, match="inside a transaction"):
            verb(lite, spec())
    assert lite.in_transaction
    assert lite.execute("SELECT COUNT(*) FROM visits").fetchone() == left
    lite.rollback()
    assert lite.execute("SELECT COUNT(*) FROM visits").fetchone() == (len(ROWS),)


def test_a_closed_connection_is_refused() -> None:
    closed = sqlite3.connect(":memory:")
    closed.close()
    with pytest.raises(DatabaseError, match="cannot use this sqlite3 connection: ProgrammingError"):
        kanon_sql.plan(closed, spec())


def test_what_cannot_be_used_leaves_the_connection_as_it_was(lite: sqlite3.Connection) -> None:
    lite.create_function("upper", 1, str.lower)
    lite.create_function("substr", 3, lambda *_: "x")
    lite.row_factory = sqlite3.Row
    with pytest.raises(UnsupportedError, match="functions with the names of SQLite's own"):
        kanon_sql.plan(lite, spec())
    assert (lite.row_factory, lite.isolation_level) == (sqlite3.Row, "")


def test_a_connection_that_fails_at_once_is_given_back(
    lite: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: Any) -> Any:
        raise sqlalchemy.exc.OperationalError("", {}, sqlite3.OperationalError("no"))

    lite.row_factory = sqlite3.Row
    monkeypatch.setattr(sqlalchemy.Engine, "connect", fails)
    with pytest.raises(DatabaseError, match="cannot connect"):
        kanon_sql.plan(lite, spec())
    assert lite.row_factory is sqlite3.Row


@pytest.mark.slow
def test_connections_of_duckdb_and_sqlalchemy_are_given_back(tmp_path: Any) -> None:
    with duckdb.connect() as connection:
        connection.execute(CREATE)
        connection.executemany("INSERT INTO visits VALUES (?, ?)", ROWS)
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
        verbs(connection)
        query = "SELECT table_name FROM information_schema.tables ORDER BY 1"
        assert [name for (name,) in connection.execute(query).fetchall()] == LEFT
        assert connection.execute("SELECT current_setting('TimeZone')").fetchall() == [("Asia/Tokyo",)]
        connection.execute("BEGIN")
        connection.execute("DELETE FROM visits")
        with pytest.raises(UnsupportedError, match="inside a transaction"):
            kanon_sql.anonymize(connection, spec())
        connection.execute("ROLLBACK")
        assert connection.execute("SELECT COUNT(*) FROM visits").fetchall() == [(len(ROWS),)]
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'clinic.db'}")
    pd.DataFrame(ROWS, columns=["age", "dx"]).to_sql("visits", engine, index=False)
    verbs(engine)
    with engine.connect() as pooled:
        verbs(pooled)
        assert not pooled.closed
        assert pooled.execute(sqlalchemy.text("SELECT COUNT(*) FROM released")).scalar() == len(ROWS)
        pooled.rollback()
        assert sqlite_tables(pooled.connection.driver_connection) == LEFT  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_backend_of_ibis_is_a_connection() -> None:
    backend = ibis.duckdb.connect()
    backend.con.execute(CREATE)
    backend.con.executemany("INSERT INTO visits VALUES (?, ?)", ROWS)
    verbs(backend)
    assert backend.table("released").count().execute() == len(ROWS)
    lite = ibis.sqlite.connect()
    lite.con.execute(CREATE)
    lite.con.executemany("INSERT INTO visits VALUES (?, ?)", ROWS)
    lite.con.commit()
    verbs(lite)
    found = kanon_sql.anonymize(lite.table("visits"), spec(source=None))
    assert len(found.to_pandas()) == len(ROWS)
    with pytest.raises(UnsupportedError, match="connection of ibis's backend polars cannot be used"):
        kanon_sql.connect(ibis.polars.connect())


# --- PostgreSQL ---


@contextmanager
def psycopg_of(subject: UrlSubject, **options: Any) -> Iterator[psycopg.Connection[Any]]:
    url = sqlalchemy.make_url(subject.url).set(drivername="postgresql")
    connection = psycopg.connect(url.render_as_string(hide_password=False), **options)
    try:
        yield connection
    finally:
        connection.close()


@pytest.fixture(scope="module")
def postgres() -> Iterator[UrlSubject]:
    with subject_of("postgres") as made:
        assert isinstance(made, UrlSubject)
        with psycopg_of(made, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(CREATE)
            cursor.executemany("INSERT INTO visits VALUES (%s, %s)", ROWS)
        yield made


@pytest.mark.sampled(2)
@pytest.mark.parametrize("autocommit", [False, True])
@pytest.mark.slow
def test_a_connection_of_psycopg_is_given_back(postgres: UrlSubject, autocommit: bool) -> None:
    with psycopg_of(postgres, autocommit=autocommit, row_factory=dict_row) as connection:
        connection.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        settings = connection.execute("SELECT name, setting FROM pg_settings ORDER BY name").fetchall()
        connection.rollback()
        verbs(connection)
        assert not connection.closed
        assert connection.info.transaction_status == 0
        assert (connection.autocommit, connection.row_factory) == (autocommit, dict_row)
        assert connection.isolation_level == psycopg.IsolationLevel.SERIALIZABLE
        after = connection.execute("SELECT name, setting FROM pg_settings ORDER BY name").fetchall()
        assert after == settings
        connection.row_factory = tuple_row
        query = (
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND relnamespace NOT IN "
            "('pg_catalog'::regnamespace, 'information_schema'::regnamespace) ORDER BY 1"
        )
        assert [name for (name,) in connection.execute(query).fetchall()] == LEFT
        connection.rollback()
        connection.execute("BEGIN") if autocommit else None
        connection.execute("DELETE FROM visits")
        with pytest.raises(UnsupportedError, match="inside a transaction"):
            kanon_sql.plan(connection, spec())
        connection.execute("ROLLBACK") if autocommit else connection.rollback()
        assert connection.execute("SELECT COUNT(*) FROM visits").fetchall() == [(len(ROWS),)]
    with pytest.raises(DatabaseError, match="cannot use this psycopg connection: it is closed"):
        kanon_sql.plan(connection, spec())


@pytest.mark.slow
def test_an_ibis_table_of_postgresql_is_released_there(postgres: UrlSubject) -> None:
    with psycopg_of(postgres) as connection:
        backend = ibis.postgres.from_connection(connection)
        found = backend.table("visits")
        connection.commit()
        result = kanon_sql.anonymize(found.filter(found.age > 30), spec(source=None, release="others"))
        assert len(result.to_polars()) == sum(age > 30 for age, _ in ROWS)
        connection.commit()
        connection.execute("DROP TABLE others")
        connection.commit()


# --- Spark ---


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_a_dataframe_of_spark_is_released_in_its_session() -> None:
    with subject_of("spark") as made:
        from pyspark.sql import SparkSession

        session = SparkSession.getActiveSession()
        assert session is not None
        frame = session.createDataFrame(ROWS, "age int, dx string")
        given = spec(source=None)
        result = kanon_sql.anonymize(frame, given)
        assert len(result.to_pandas()) == len(result.to_arrow()) == len(result.to_polars()) == len(ROWS)
        assert result.to_frame().sparkSession is session
        assert kanon_sql.check(result.to_frame(), given).passed
        assert kanon_sql.audit(frame, given, table=result.to_frame()).rows == len(ROWS)
        assert kanon_sql.risk(frame, spec(source=None, release=None)).histogram.rows == len(ROWS)
        assert not kanon_sql.Spec.parse(kanon_sql.init(frame)).source.given
        with pytest.raises(KanonError):
            kanon_sql.anonymize(frame, spec(source=None, sensitive=["nothing"]))
        with pytest.raises(UnsupportedError, match="cannot read a pandas"):
            kanon_sql.check(frame, given, table=pd.DataFrame(ROWS, columns=["age", "dx"]))
        with pytest.raises(UnsupportedError, match="beside a table in memory"):
            kanon_sql.check(pd.DataFrame(ROWS, columns=["age", "dx"]), given, table=frame)
        assert kanon_sql.plan(frame, given).passed
        assert [name for _, name, temporary in made.fetch("SHOW TABLES") if temporary] == []
        made.execute("DROP TABLE released")
