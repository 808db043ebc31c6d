"""Whose rights a guarded view has, and that what a reader adds to a query stays above the view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from servers import subject_of
from test_guarded_view import COLUMNS, SPEC, in_order, node_of, people, shown, texts

import kanon_sql
from kanon_sql.errors import UnsupportedError
from kanon_sql.spec import Spec
from kanon_sql.testing import Subject

ROWS = people(5, 90)
ASKED = [{"k_anonymity": {"k": 3}}]


class Reader:
    """A connection of somebody who may read the view and nothing else."""

    def __init__(self, url: str) -> None:
        import sqlalchemy

        self.engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(sql)]

    def execute(self, sql: str) -> None:
        with self.engine.connect() as connection:
            connection.exec_driver_sql(sql)

    def try_to(self, sql: str) -> str:
        """The error of a statement, or what it returned, as text."""
        try:
            return str(self.fetch(sql))
        except Exception as error:
            return f"refused: {error}"


@contextmanager
def published(subject: Subject) -> Iterator[Counter[tuple[Any, ...]]]:
    """The view over the rows; what it must show."""
    subject.table("people", COLUMNS, ROWS)
    with subject.connect() as engine:
        result = kanon_sql.anonymize(engine, Spec.from_dict(SPEC)).raise_for_failure()
    yield texts(list(shown(ROWS, node_of(result), ASKED).elements()))
    subject.drop("shown", "VIEW")
    subject.drop("people")


@pytest.mark.xdist_group("postgres views")
def test_a_reader_in_postgres_sees_the_view_alone() -> None:
    import sqlalchemy

    with subject_of("postgres") as subject, published(subject) as expected:
        subject.execute("CREATE ROLE viewer LOGIN PASSWORD 'hidden'")
        subject.execute("GRANT SELECT ON shown TO viewer")
        subject.execute("GRANT CREATE ON SCHEMA public TO viewer")
        url = sqlalchemy.make_url(subject.url).set(username="viewer", password="hidden")  # type: ignore[attr-defined]
        reader = Reader(url.render_as_string(hide_password=False))
        assert in_order(reader.fetch("SELECT * FROM shown")) == expected
        assert "permission denied" in reader.try_to("SELECT * FROM people")
        assert subject.fetch("SELECT reloptions FROM pg_class WHERE relname = 'shown'") == [
            (["security_barrier=true"],)
        ]
        # A function of the reader's that costs nothing would be called first, were the view no barrier.
        reader.execute(
            "CREATE FUNCTION peek(text) RETURNS boolean COST 0.0000001 LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE NOTICE 'peeked'; RETURN true; END $$"
        )
        seen: list[str] = []
        with reader.engine.connect() as connection:
            connection.connection.dbapi_connection.add_notice_handler(  # type: ignore[union-attr]
                lambda notice: seen.append(str(notice.message_primary))
            )
            found = connection.exec_driver_sql("SELECT dx FROM shown WHERE peek(coalesce(dx, '-'))").fetchall()
        assert len(seen) == len(found) == sum(expected.values())
        # EXPLAIN ANALYZE counts rows: of all that is suppressed, never of the one class that a condition names.
        for condition in (
            "",
            " WHERE city = 'Rome'",
            " WHERE age = '[0, 10)'",
            " WHERE dx = 'flu'",
            " WHERE city = 'None'",
        ):
            plan = "\n".join(
                row[0] for row in reader.fetch(f"EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM shown{condition}")
            )
            counted = [line for line in plan.splitlines() if "Scan on people" in line or "WindowAgg" in line]
            found_rows = {int(line.split("rows=")[-1].split()[0]) for line in counted}
            assert len(counted) == 2
            assert found_rows == {len(ROWS), sum(expected.values())}, plan
        # EXPLAIN of a condition on the source's own columns is refused: they are no columns of the view.
        assert "does not exist" in reader.try_to("SELECT * FROM shown WHERE who = 'p1'")


@pytest.mark.xdist_group("mariadb views")
def test_a_reader_in_mariadb_sees_the_view_alone() -> None:
    with subject_of("mariadb") as subject, published(subject) as expected:
        subject.execute("CREATE USER viewer@localhost IDENTIFIED BY 'hidden'")
        subject.execute("GRANT SELECT ON shown TO viewer@localhost")
        reader = Reader(subject.server.url("viewer", "hidden"))  # type: ignore[attr-defined]
        assert in_order(reader.fetch("SELECT * FROM shown")) == expected
        assert "denied" in reader.try_to("SELECT * FROM people")
        for statement in ("EXPLAIN SELECT * FROM shown", "ANALYZE SELECT * FROM shown", "SHOW CREATE VIEW shown"):
            assert "refused" in reader.try_to(statement)
        text = "SELECT view_definition FROM information_schema.views WHERE table_name = 'shown'"
        assert "Oslo" not in reader.try_to(text)
        # The session's counters tell what was read: the same, whichever class a condition names.
        read = set()
        for asked in ("1 = 1", "city = 'north'", "city = 'nowhere'", "zip = '2'", "dx = 'flu'"):
            with reader.engine.connect() as connection:
                status = "SHOW SESSION STATUS LIKE 'Handler%%'"
                first = {name: int(count) for name, count in connection.exec_driver_sql(status)}
                connection.exec_driver_sql(f"SELECT * FROM shown WHERE {asked}").fetchall()
                then = {name: int(count) for name, count in connection.exec_driver_sql(status)}
            read.add(tuple((name, then[name] - first[name]) for name in sorted(then)))
        assert len(read) == 1
        # An answer that ends early is an error, or the beginning of what the view shows: never of a part of the rows.
        whole = reader.try_to("SELECT * FROM shown")
        answers = {reader.try_to(f"SELECT * FROM shown LIMIT ROWS EXAMINED {most}") for most in range(1, 2_000, 13)}
        assert len(answers) > 2
        assert all(whole.startswith(answer[:-1]) or "Sort aborted" in answer for answer in answers)


@pytest.mark.parametrize("name", ["duckdb", "sqlite", "postgres", "mariadb"])
def test_a_condition_of_a_reader_changes_no_class(name: str) -> None:
    """On labels, on sensitive values, in joins and in aggregates: always a selection of what the view shows."""
    with subject_of(name) as subject, published(subject) as expected:
        everything = list(expected.elements())
        for column, position in (("age", 0), ("zip", 1), ("city", 2), ("dx", 3), ("note", 4)):
            for value in {row[position] for row in everything} - {None}:
                quoted = subject.dialect.literal(value)
                found = subject.fetch(f"SELECT * FROM shown WHERE {column} = {quoted}")
                exact = [row for row in found if str(row[position]) == value]  # collations may find more
                assert in_order(exact) == Counter({row: n for row, n in expected.items() if row[position] == value})
        joined = subject.fetch(
            "SELECT a.* FROM shown AS a JOIN (SELECT DISTINCT city FROM shown) AS b ON a.city = b.city"
        )
        assert in_order(joined) == Counter({row: n for row, n in expected.items() if row[2] is not None})
        ((count,),) = subject.fetch("SELECT COUNT(*) FROM shown WHERE dx = 'flu' AND note = 'x'")
        assert count <= len(everything)


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("duckdb", "EXPLAIN SELECT * FROM shown WHERE dx = 'flu'"),
        ("sqlite", "EXPLAIN QUERY PLAN SELECT * FROM shown WHERE dx = 'flu'"),
    ],
)
def test_the_plan_filters_above_the_windows(name: str, sql: str) -> None:
    with subject_of(name) as subject, published(subject):
        plan = "\n".join(str(cell) for row in subject.fetch(sql) for cell in row)
        if name == "duckdb":  # it joins the rows with the classes, and the condition is on the side of the rows alone
            assert plan.count("people") == 2
            assert plan.count("flu") == 1
            assert "IS NOT DISTINCT FROM" in plan
        else:
            assert "CO-ROUTINE shown" in plan  # a subquery of its own, which conditions are not pushed into


def test_a_reader_of_clickhouse_reaches_below_a_view() -> None:
    """Why ClickHouse has no guarded view: a setting of the reader's query brings back rows that were deleted."""
    with subject_of("clickhouse") as subject:
        subject.table("people", COLUMNS, ROWS)
        with subject.connect() as engine, pytest.raises(UnsupportedError, match="apply_deleted_mask"):
            kanon_sql.anonymize(engine, Spec.from_dict(SPEC))
        assert subject.tables() == ["people"] or "shown" not in subject.tables()
        subject.execute("CREATE TABLE plain (a String) ENGINE = MergeTree ORDER BY tuple()")
        subject.execute("INSERT INTO plain VALUES ('x'), ('y'), ('z')")
        subject.execute(
            "CREATE VIEW windowed DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT count() OVER () AS n FROM plain"
        )
        subject.execute("DELETE FROM plain WHERE a = 'x'")
        assert subject.fetch("SELECT max(n) FROM windowed") == [(2,)]
        assert subject.fetch("SELECT max(n) FROM windowed SETTINGS apply_deleted_mask = 0") == [(3,)]
