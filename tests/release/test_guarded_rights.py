"""Whose rights a guarded view has, and that what a reader adds to a query stays above the view."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import UnsupportedError
from kanon_sql.spec import Spec
from kanon_sql.testing import Subject
from tests.release.test_guarded_view import COLUMNS, SPEC, in_order, node_of, people, shown, texts
from tests.servers import subject_of

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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.sampled(4)
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


@pytest.mark.slow
@pytest.mark.sampled(2)
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
    """Why ClickHouse has no guarded view: a reader's settings bring deleted rows back, and choose how many are read.

    The second with the first held by the view itself; and eight rows more or less are no class of nine.
    """
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
        subject.execute(
            "CREATE TABLE many (a Int32) ENGINE = MergeTree ORDER BY tuple() SETTINGS index_granularity = 8"
        )
        subject.execute("INSERT INTO many SELECT number FROM numbers(400)")
        subject.execute(
            "CREATE VIEW held DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT a % 2 AS label FROM (SELECT a, "
            "count() OVER (PARTITION BY a % 2) AS n FROM many) WHERE n >= 9 SETTINGS apply_deleted_mask = 1"
        )
        few = "SELECT count() FROM held SETTINGS max_rows_to_read = {}, read_overflow_mode = 'break'"
        for rows in (200, 208):
            assert subject.fetch(few.format(rows) + ", max_block_size = 8, max_threads = 1") == [(rows,)]


SETTINGS = ("SET extra_float_digits = -5", "SET DateStyle = 'German'", "SET IntervalStyle = 'sql_standard'")


@pytest.mark.slow
@pytest.mark.xdist_group("postgres views")
def test_no_session_in_postgres_makes_other_classes() -> None:
    """With fewer digits, the two rows of 7.00000000000001 would be in the class of 7, and be the difference."""
    with subject_of("postgres") as subject:
        rows = [(7.0, f"d{number}") for number in range(4)] + [(7.00000000000001, "rare")] * 2
        subject.execute("CREATE TABLE people (weight DOUBLE PRECISION, dx TEXT)")
        subject.execute(f"INSERT INTO people VALUES {', '.join(map(str, rows))}")
        asked = {**SPEC, "quasi_identifiers": {"weight": {"maximum_level": 0}}, "keep": []}
        with subject.connect() as engine:
            kanon_sql.anonymize(engine, Spec.from_dict(asked)).raise_for_failure()
        reader = Reader(subject.url)  # type: ignore[attr-defined]
        expected = sorted(("7", f"d{number}") for number in range(4))
        for setting in ("SET TimeZone = 'Asia/Tokyo'", "SET extra_float_digits = 3", *SETTINGS):
            with reader.engine.connect() as connection:
                connection.exec_driver_sql(setting)
                if setting in SETTINGS:
                    with pytest.raises(Exception, match="this view is read with DateStyle ISO"):
                        connection.exec_driver_sql("SELECT * FROM shown")
                else:
                    assert sorted(map(tuple, connection.exec_driver_sql("SELECT * FROM shown"))) == expected
        for number, asked_by in enumerate(("f.changed, s.*", "s.*, (SELECT changed FROM f)")):
            query = "WITH f AS MATERIALIZED (SELECT set_config('extra_float_digits', '-5', false) AS changed) "
            answer = reader.try_to(f"{query} SELECT {asked_by} FROM {('f, shown AS s', 'shown AS s')[number]}")
            assert "rare" not in answer
        subject.drop("shown", "VIEW")
        subject.drop("people")


@pytest.mark.sampled(2)
@pytest.mark.xdist_group("mariadb views")
@pytest.mark.parametrize(
    ("unit", "asked"),
    [("who", [{"k_anonymity": 3}]), (None, [{"k_anonymity": 3}, {"l_diversity": {"attribute": "dx", "l": 3}}])],
)
@pytest.mark.slow
def test_no_session_in_mariadb_sorts_by_the_beginning_of_a_text(unit: str | None, asked: list[Any]) -> None:
    """Two persons or diagnoses that differ after 64 bytes, by turns, would be counted as often as they alternate."""
    long = "x" * 90
    rows = [("Rome", f"{long}{number}", f"{long}{number}") for number in range(6)]
    rows += [("Oslo", f"{long}{number % 2}", f"{long}{number % 2}") for number in range(12)]
    random.Random(1).shuffle(rows)
    with subject_of("mariadb") as subject:
        subject.table("people", {"city": "text", "who": "text", "dx": "text"}, rows)
        changes = {"quasi_identifiers": {"city": {"maximum_level": 0}}, "keep": [], "unit": unit, "privacy": asked}
        limit = {"suppression": {"max_share": 0.9}}
        with subject.connect() as engine:
            kanon_sql.anonymize(engine, Spec.from_dict({**SPEC, **changes, **limit})).raise_for_failure()
        reader = Reader(subject.url)  # type: ignore[attr-defined]
        expected = sorted((city, dx) for city, _, dx in rows if city == "Rome")
        for length in (1, 64, 200, 1024):
            with reader.engine.connect() as connection:
                connection.exec_driver_sql(f"SET max_sort_length = {length}")
                (found,) = connection.exec_driver_sql("SELECT @@max_sort_length").one()
                assert found >= 64  # what a sort key of a text is shorter than
                answer = [tuple(row) for row in connection.exec_driver_sql("SELECT * FROM shown")]
            assert sorted(answer) == expected
        subject.drop("shown", "VIEW")
        subject.drop("people")


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.xdist_group("mariadb views")
@pytest.mark.parametrize(("kind", "why"), [("TIMESTAMP", "time_zone"), ("CHAR(30)", "sql_mode")])
def test_no_session_in_mariadb_makes_other_labels(kind: str, why: str) -> None:
    with subject_of("mariadb") as subject:
        subject.execute(f"CREATE TABLE people (came {kind} NULL, dx VARCHAR(9))")
        subject.execute("INSERT INTO people VALUES " + ", ".join(["('2026-03-01 23:30:00', 'flu')"] * 4))
        asked = {**SPEC, "quasi_identifiers": {"came": {"prefix": [10], "maximum_level": 1}}, "keep": []}
        with subject.connect() as engine:
            with pytest.raises(UnsupportedError, match=f"came: a reader chooses by {why}"):
                kanon_sql.anonymize(engine, Spec.from_dict(asked))
            whole = {**asked, "quasi_identifiers": {"came": {"prefix": [10], "minimum_level": 2}}}
            assert kanon_sql.anonymize(engine, Spec.from_dict(whole)).passed  # all are one class, whatever they are
        subject.drop("shown", "VIEW")
        subject.drop("people")
