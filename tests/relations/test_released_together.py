"""What stands in the database after a release of several tables, and what is refused on the way."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.testing import Subject
from tests.oracles.relations import random_world
from tests.servers import subject_of
from tests.support.relations import ENGINES, basket_spec, baskets, place, spec_of


@pytest.mark.parametrize("name", ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)])
def test_keys_are_new_and_join(name: str) -> None:
    with subject_of(name) as subject:
        subject.table("people", {"pid": "text", "age": "integer"}, [(f"p{n}", 30 + n % 2) for n in range(8)])
        subject.table("visits", {"vid": "integer", "pid": "text", "ward": "text", "cost": "integer"},
                      [(100 + n, f"p{n}", "xy"[n % 2], n) for n in range(8)])  # fmt: skip
        where = place(subject)
        schema = ".".join(where["schema"])
        spec = RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {"table": "people", "name": "r_people", "key": "pid", "quasi_identifiers": {"age": {}}},
                "tables": {
                    "r_visits": {
                        "table": "visits",
                        "key": "vid",
                        "person": "pid",
                        "quasi_identifiers": {"ward": {}},
                        "keep": ["cost"],
                    }
                },
                "privacy": [{"km_anonymity": {"k": 4, "m": 1}}],
                "release": where,
            }
        )
        engine = subject.connect()
        for _ in range(2):  # the second run replaces what the first one published
            result = kanon_sql.anonymize(engine, spec)
            assert result.passed, result.message
            people = subject.fetch(f"SELECT pid, age FROM {schema}.r_people")
            visits = subject.fetch(f"SELECT vid, pid, ward, cost FROM {schema}.r_visits")
            assert sorted(row[0] for row in people) == list(range(1, 9))
            assert sorted(row[0] for row in visits) == list(range(1, 9))
            ages = dict(people)
            # Person n has age 30 + n % 2, ward "xy"[n % 2] and cost n: the join says so still.
            assert sorted((ages[pid], ward, cost) for _, pid, ward, cost in visits) == sorted(
                (str(30 + n % 2), "xy"[n % 2], n) for n in range(8)
            )
        engine.close()


@pytest.mark.parametrize(
    ("table", "rows", "message"),
    [
        ("people", [(1,), (1,)], "person.key: 1 value of id stands in several rows"),
        ("people", [(1,), (None,)], "person.key: 1 row has NULL in id"),
        ("visits", [(5,)], "tables.visits: 1 of 1 rows refer by who to no row of person"),
        ("visits", [(None,)], "tables.visits: 1 of 1 rows refer by who to no row of person"),
    ],
)
def test_keys_that_do_not_hold_are_refused(subject: Subject, table: str, rows: list[Any], message: str) -> None:
    tables = {"people": [(1,)], "visits": [(1,)], table: rows}
    subject.table("people", {"id": "integer"}, tables["people"])
    subject.table("visits", {"who": "integer"}, tables["visits"])
    spec = RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "people", "key": "id", "quasi_identifiers": {}},
            "tables": {"visits": {"person": "who", "quasi_identifiers": {"who2": {}}}},
            "privacy": [{"km_anonymity": {"k": 1}}],
        }
    )
    spec.tables["visits"].quasi_identifiers.clear()
    with pytest.raises(SpecError) as error:
        kanon_sql.plan(subject.connect(), spec)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tables": {"v": {"parent": "w", "by": "x"}}}, "there is no table of this name here"),
        ({"tables": {"v": {"key": "a", "parent": "w", "by": "x"}, "w": {"key": "b", "parent": "v", "by": "y"}}},
         "in a circle"),
        ({"tables": {"v": {"person": "p", "parent": "w", "by": "x"}}}, "a table has one parent"),
        ({"tables": {"v": {"person": "p"}, "w": {"parent": "v", "by": "x"}}}, "missing 'key'"),
        ({"tables": {"v": {}}}, "missing 'person'"),
        ({"tables": {"v": {"person": ["a", "b"]}}}, "2 columns refer to a key of 1"),
        ({"tables": {"PEOPLE": {"person": "p"}}}, "another table is released under this name"),
        ({"recoding": "local", "privacy": [{"km_anonymity": {"k": 2, "m": "all"}}]}, "use full_domain"),
        ({"privacy": [{"km_anonymity": {"k": 2, "m": 4}}]}, "from 0 to 3"),
        ({"source": "people"}, "several tables are named under"),
        ({"person": {"table": "t", "key": ["a", "b"], "keep": ["a_b"]}}, "would be called 'a_b'"),
        ({"person": {"table": "t", "key": ["a_b", "c"], "quasi_identifiers": {"q": {}}},
          "tables": {"v": {"key": ["a", "b_c"], "person": ["a_b", "c"]}}}, "would be called 'a_b_c'"),
        ({"person": {"table": "t", "key": ["a", "b"]}, "items": {"i": {"column": "a_b", "split": ";"}}},
         "would be called 'a_b'"),
        ({"items": {"person": {"column": "c", "split": ";"}}}, "stands for the table of persons"),
        ({"tables": {"v": {"person": "p", "keep": ["ID"]}}}, "a key of a table above"),
        ({"tables": {"v": {"table": "r.people", "person": "p"}}, "release": {"schema": "r"}},
         "has the name of a source table"),
        ({"items": {"i": {"table": "nosuch", "column": "c", "split": ";"}}}, "there is no table of this name here"),
        ({"items": {"i": {"column": "age", "split": ";"}}}, "the column has another role"),
        ({"person": {"table": "t", "key": "a", "replace": ["c"]}, "items": {"i": {"column": "c", "split": ";"}}},
         "the column has another role"),
        ({"person": {"table": "t", "key": "a", "keep": ["C"]}, "items": {"i": {"column": "c"}}},
         "the column has another role"),
    ],
)  # fmt: skip
def test_specs_that_cannot_be(changed: dict[str, Any], message: str) -> None:
    written = {
        "version": 1,
        "person": {"table": "people", "key": "id", "quasi_identifiers": {"age": {}}},
        "privacy": [{"km_anonymity": {"k": 2}}],
        **changed,
    }
    with pytest.raises(SpecError) as error:
        RelationalSpec.from_dict(written)
    assert message in str(error.value)


def test_tables_without_a_way_to_persons_are_refused() -> None:
    """They are below each other, and no person has a quasi-identifier that would be looked at first."""
    tables = {"a": {"key": "x", "parent": "b", "by": "y"}, "b": {"key": "x", "parent": "a", "by": "y"}}
    written = {"version": 1, "person": {"table": "people", "key": "id"}, "privacy": [{"km_anonymity": {"k": 2}}]}
    with pytest.raises(SpecError, match="in a circle"):
        RelationalSpec.from_dict({**written, "tables": tables})
    with pytest.raises(SpecError, match="no table of this name"):
        RelationalSpec.from_dict({**written, "tables": {"a": {"parent": "nosuch", "by": "y"}}})


def test_what_reads_one_table_says_that_there_are_several() -> None:
    with pytest.raises(SpecError) as error:
        kanon_sql.Spec.from_dict(spec_of(random_world(3), "local", 2, 1).to_dict())
    assert str(error.value) == (
        "person: this is a spec of several tables, which only plan, anonymize, check, audit, compare, report, "
        "explore, release apply and release certify read; for other commands write a spec of each table, without "
        "person and tables (doctor needs no spec)"
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "other"), [("mariadb", "x "), ("mariadb", "X"), ("sqlite", "x "), ("postgres", "x ")])
def test_texts_that_differ_are_not_counted_together(name: str, other: str) -> None:
    """MariaDB's own comparison ignores case, and blanks at the end: two persons would share an item."""
    with subject_of(name) as subject:
        baskets(subject, [(1, "x"), (2, other)], 2)
        engine = subject.connect()
        full = engine.full_name(("buyers",))
        assert full is not None
        found = kanon_sql.check(engine, basket_spec(2, 1, **released_where_it_is(full)))
        assert not found.passed
        assert found.requirements[0]["fewest"] == 1


@pytest.mark.parametrize("name", ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)])
def test_how_often_rows_occur_is_counted_of_one_known_row(name: str) -> None:
    """Of visits in March the first person has three, and two others one: who has two, or three, is alone.

    NULL is a value of two persons, and May of one.
    """
    visits = [(1, "March"), (1, "March"), (1, "March"), (2, "March"), (3, "March"), (2, None), (3, None), (3, "May")]
    with subject_of(name) as subject, subject.connect() as engine:
        baskets(subject, visits, 4)
        full = engine.full_name(("buyers",))
        assert full is not None
        found = [
            kanon_sql.check(engine, basket_spec(k, 1, **released_where_it_is(full))).requirements[0] for k in (2, 3, 4)
        ]
    assert [(item["fewest"], item["rare"]) for item in found] == [(1, 3), (1, 4), (1, 5)]


def released_where_it_is(full: tuple[str, ...]) -> dict[str, Any]:
    """Of a spec whose sources have other names, so that the tables may be taken for released ones."""
    return {
        "person": {"table": "source_of_buyers", "name": "buyers", "key": "id"},
        "tables": {
            "items": {
                "table": "source_of_items",
                "person": "buyer",
                "quasi_identifiers": {"item": {"maximum_level": 0}},
            }
        },
        "release": {"schema": list(full[:-1])},
    }


def test_numbers_that_look_different_are_different_labels() -> None:
    """0 and -0 are equal, and a reader tells them from each other."""
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA r")
    connection.execute("CREATE TABLE r.buyers AS SELECT * FROM (VALUES (1), (2)) AS t(id)")
    connection.execute("CREATE TABLE r.items AS SELECT * FROM (VALUES (1, 0e0), (2, -0e0)) AS t(buyer, item)")
    found = kanon_sql.check(kanon_sql.connect(connection), basket_spec(2, 1, release={"schema": "r"}))
    assert not found.passed
    assert found.requirements[0]["fewest"] == 1


def test_columns_that_the_spec_does_not_name_are_said() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA r")
    connection.execute("CREATE TABLE r.buyers AS SELECT * FROM (VALUES (1, 'Ann'), (2, 'Bob')) AS t(id, name)")
    connection.execute("CREATE TABLE r.items AS SELECT * FROM (VALUES (1, 'a'), (2, 'a')) AS t(buyer, item)")
    found = kanon_sql.check(kanon_sql.connect(connection), basket_spec(2, 1, release={"schema": "r"}))
    assert found.passed
    assert any("not counted" in note and "r.buyers.name" in note for note in found.notes)


def test_a_spec_reads_back() -> None:
    spec = spec_of(random_world(3), "local", 2, 1, release={"schema": "out"})
    assert RelationalSpec.from_dict(spec.to_dict()) == spec
    assert RelationalSpec.parse(spec.to_yaml()) == spec


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clickhouse", "spark"])
def test_tables_are_published_at_once_or_refused(name: str) -> None:
    with subject_of(name) as subject:
        baskets(subject, [(1, "a"), (2, "a")], 2)
        with pytest.raises(UnsupportedError, match="cannot publish several tables at once"):
            kanon_sql.anonymize(subject.connect(), basket_spec(2, 1, release={"schema": "x"}))


def test_nothing_is_published_where_a_table_is_in_the_way(subject: Subject) -> None:
    baskets(subject, [(1, "a"), (2, "a")], 2)
    subject.execute("CREATE SCHEMA released")
    subject.execute("CREATE TABLE released.items AS SELECT 1 AS one")
    with pytest.raises(SpecError, match="did not publish"):
        kanon_sql.anonymize(subject.connect(), basket_spec(2, 1, release={"schema": "released"}))
    assert subject.fetch("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'buyers'") == [(1,)]


@pytest.mark.parametrize("name", ["duckdb", pytest.param("mariadb", marks=pytest.mark.slow)])
def test_a_failure_while_publishing_leaves_all_old_tables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At whatever statement of publishing: both tables are those of before, or both are new."""
    with subject_of(name) as subject:
        baskets(subject, [(1, "a"), (2, "a")], 2)
        where = place(subject)
        schema = ".".join(where["schema"])
        spec = RelationalSpec.from_dict(
            {
                **basket_spec(2, 1).to_dict(),
                "person": {"table": "buyers", "name": "r_buyers", "key": "id"},
                "tables": {
                    "r_items": {
                        "table": "items",
                        "person": "buyer",
                        "quasi_identifiers": {"item": {"maximum_level": 0}},
                    }
                },
                "release": where,
            }
        )
        assert kanon_sql.anonymize(subject.connect(), spec).passed
        subject.execute("INSERT INTO buyers VALUES (3), (4)")
        subject.execute("INSERT INTO items VALUES (3, 'a'), (4, 'a')")

        def counts() -> tuple[int, int]:
            found = [subject.fetch(f"SELECT COUNT(*) FROM {schema}.{table}") for table in ("r_buyers", "r_items")]
            return found[0][0][0], found[1][0][0]

        seen, failing = set(), 0
        while counts() != (4, 4) and failing < 40:
            failing += 1
            engine = subject.connect()
            monkeypatch.setattr(type(engine), "execute", cut_at(failing, type(engine).execute))
            with contextlib.suppress(KeyboardInterrupt):
                kanon_sql.anonymize(engine, spec)
            monkeypatch.undo()
            engine.close()
            assert counts() in ((2, 2), (4, 4)), failing
            seen.add(counts())
        assert seen == {(2, 2), (4, 4)}
        assert failing > 4


def cut_at(failing: int, execute: Callable[..., None]) -> Callable[..., None]:
    """Ctrl-C in the place of a statement of publishing, counted from the first mark."""
    count = 0

    def cut(self: Any, statement: Any) -> None:
        nonlocal count
        count += count > 0 or statement.name == "release/mark"
        if count == failing:
            raise KeyboardInterrupt
        execute(self, statement)

    return cut


def test_check_finds_what_others_released(subject: Subject) -> None:
    """Persons 1 to 4 share a ward by pairs of rows; the join of both tables singles persons out."""
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA r")
    connection.execute("CREATE TABLE r.buyers AS SELECT * FROM (VALUES (1), (2), (3)) AS t(id)")
    connection.execute("CREATE TABLE r.items AS SELECT * FROM (VALUES (1, 'a'), (2, 'a'), (3, 'b')) AS t(buyer, item)")
    found = kanon_sql.check(kanon_sql.connect(connection), basket_spec(2, 1, release={"schema": "r"}))
    assert not found.passed
    assert found.requirements[0]["fewest"] == 1
    assert found.requirements[0]["rare"] == 1


def test_check_refuses_references_that_equal_several_keys(subject: Subject) -> None:
    """The number 1 is both texts, so that the row of both would stand for the one that refers to nobody."""
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA r")
    connection.execute("CREATE TABLE r.buyers AS SELECT * FROM (VALUES ('1'), ('01'), ('2')) AS t(id)")
    connection.execute("CREATE TABLE r.items AS SELECT * FROM (VALUES (1, 'a'), (9, 'b')) AS t(buyer, item)")
    with pytest.raises(SpecError, match="'buyer' is INTEGER, and 'id' of person, which it refers to, is VARCHAR"):
        kanon_sql.check(kanon_sql.connect(connection), basket_spec(2, 1, release={"schema": "r"}))


def test_check_refuses_lists_of_sensitive_values(subject: Subject) -> None:
    """Both buyers have flu, and neither list is the other."""
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA r")
    connection.execute("CREATE TABLE r.buyers (id INTEGER, ill VARCHAR[])")
    connection.execute("INSERT INTO r.buyers VALUES (1, ['flu']), (2, ['flu', 'hiv'])")
    connection.execute("CREATE TABLE r.items AS SELECT * FROM (VALUES (1, 'a'), (2, 'a')) AS t(buyer, item)")
    plain = basket_spec(2, 1, release={"schema": "r"}).to_dict()
    plain["person"]["sensitive"] = ["ill"]
    plain["privacy"].append({"coherence": {"h": 0.5}})
    with pytest.raises(UnsupportedError, match="ill: a value of type"):
        kanon_sql.check(kanon_sql.connect(connection), RelationalSpec.from_dict(plain))


def test_kept_columns_that_single_rows_out_are_named_and_may_stop_a_release(subject: Subject) -> None:
    subject.execute(
        "CREATE TABLE people AS SELECT i AS id, 30 AS age, 'x' || i AS ssn, i % 2 AS sex FROM range(20) t(i)"
    )
    subject.execute("CREATE TABLE stays AS SELECT i AS id, 'w' AS ward, 'y' || i AS text FROM range(20) t(i)")
    subject.execute("CREATE SCHEMA out")
    given = {
        "version": 1,
        "person": {"table": "people", "key": "id", "quasi_identifiers": {"age": None}, "keep": ["ssn", "sex"]},
        "tables": {"stays": {"person": "id", "quasi_identifiers": {"ward": None}, "keep": ["text"]}},
        "privacy": [{"km_anonymity": {"k": 3, "m": 1}}],
        "release": {"schema": "out"},
    }
    strict = RelationalSpec.from_dict({**given, "warnings": {"nearly_unique_kept": "error"}})
    refused = kanon_sql.anonymize(subject.connect(), strict)
    assert not refused.passed
    assert "nothing was published: nearly_unique_kept is an error" in refused.message
    assert subject.fetch("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'stays'") == [(1,)]
    spec = RelationalSpec.from_dict(given)
    for verb in (kanon_sql.anonymize, kanon_sql.check):
        result = verb(subject.connect(), spec)
        assert result.passed
        found = {(item.code, *item.columns) for item in result.warnings}
        assert found == {
            ("named_like_identifier", "ssn"),
            ("nearly_unique_kept", "person.ssn"),
            ("nearly_unique_kept", "stays.text"),
        }
    assert not kanon_sql.check(subject.connect(), strict).passed
