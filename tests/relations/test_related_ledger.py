"""A ledger of releases of several tables: what they show together, by brute force, and what cannot be compared."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.engines import Engine
from kanon_sql.testing import Subject
from kanon_sql.verbs.relational import RelationalResult
from tests.oracles.joint_relations import Shown, fewest_candidates, fewest_jointly, random_release
from tests.oracles.relations import Table, World, random_world
from tests.servers import subject_of
from tests.support.relations import ENGINES, make


def ledger_spec(world: World, shown: Shown, schema: Sequence[str], prefix: str, **more: Any) -> RelationalSpec:
    """A release at the levels that are shown; its tables have a prefix, for engines with one schema."""

    def columns(name: str) -> dict[str, Any]:
        return {
            column: {"prefix": [1], "minimum_level": level, "maximum_level": level}
            for column, level in shown.levels[name].items()
        }

    tables: dict[str, Any] = {}
    for name in shown.levels:
        above = world.tables[name].above
        if above is None:
            continue
        refers = {"person": "above"} if above == "person" else {"parent": f"{prefix}{above}", "by": "above"}
        known = {"row_count": "known"} if name in shown.counted else {}
        own = {"table": f"t_{name}", "key": "id", **refers, "quasi_identifiers": columns(name), **known}
        tables[f"{prefix}{name}"] = own
    person = {"table": "t_person", "name": f"{prefix}person", "key": "id", "quasi_identifiers": columns("person")}
    return RelationalSpec.from_dict(
        {
            "version": 1,
            "person": person,
            "tables": tables,
            "privacy": [{"km_anonymity": {"k": shown.k, "m": shown.m}}],
            "recoding": "full_domain",
            "suppression": {"max_persons": 0.95},
            "release": {"schema": list(schema), "publish": "in_steps"},
            **more,
        }
    )


def drop_releases(subject: Subject, world: World, schema: Sequence[str], prefixes: Sequence[str], ledger: str) -> None:
    for prefix in prefixes:
        for name in world.tables:
            subject.drop(".".join([*schema, f"{prefix}{name}"]))
    subject.drop(ledger)


def assert_joint(subject: Subject, engine: Engine, seed: int, schema: Sequence[str], how_many: int = 2) -> str | None:
    """What releases of one world show together is what brute force says, and whoever passes hides all from an attacker.

    Returns:
        The last verdict; None where no two releases could be made.
    """
    draw, world = random.Random(seed), random_world(seed)
    make(subject, world)
    m = draw.choice([0, 1, 1, 2, "all"])
    done: list[Shown] = []
    prefixes = [f"r{number}_" for number in range(how_many)]
    verdict = None
    try:
        for prefix in prefixes:
            shown = random_release(world, draw, m)
            if not any(shown.levels.values()):
                continue
            result = kanon_sql.anonymize(engine, ledger_spec(world, shown, schema, prefix, ledger="ledger"))
            if result.ledger is None:
                continue  # nobody would be left
            releases = [*done, shown]
            if done:
                fewest = fewest_jointly(world, releases, m)
                assert result.ledger["changed"] == [], seed
                assert {item["fewest"] for item in result.ledger["requirements"]} == {fewest}, seed
                assert fewest is not None
                assert result.passed == (fewest >= max(release.k for release in releases)), seed
                verdict = result.verdict
                if result.passed and m != "all":
                    candidates = fewest_candidates(world, releases, int(m))
                    assert candidates is not None
                    assert candidates >= max(release.k for release in releases), seed
            else:
                assert result.passed, (seed, result.message)
            if result.passed:
                done.append(shown)
    finally:
        drop_releases(subject, world, schema, prefixes, "ledger")
    return verdict


@pytest.mark.parametrize("seeds", [(22,), pytest.param(range(100, 108), marks=pytest.mark.slow)])
def test_what_releases_show_together(subject: Subject, seeds: Sequence[int]) -> None:
    subject.execute("CREATE SCHEMA released")
    with subject.connect() as engine:
        verdicts = {assert_joint(subject, engine, seed, ["released"], 2 + seed % 2) for seed in seeds}
    assert "pass" in verdicts


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_says_what_they_show(name: str) -> None:
    with subject_of(name) as subject:
        schema = ["main"] if name == "sqlite" else list(subject.schema("released"))
        with subject.connect() as engine:
            assert [assert_joint(subject, engine, seed, schema, 2 + seed % 2) for seed in (3, 6)] == ["pass", "pass"]
            assert assert_joint(subject, engine, 12, schema) == "fail"


@pytest.mark.campaign
@pytest.mark.parametrize("start", range(1000, 1400, 20))
def test_many_worlds(subject: Subject, start: int) -> None:
    subject.execute("CREATE SCHEMA released")
    with subject.connect() as engine:
        for seed in range(start, start + 20):
            assert_joint(subject, engine, seed, ["released"], 2 + seed % 2)


# --- Known answers -------------------------------------------------------------------------


def world_of(persons: Sequence[Any], stays: Sequence[Any]) -> World:
    """Persons with a sex, and their stays with a day and a ward."""
    return World(
        {
            "person": Table("person", None, ["sex"], [(number, None, sex) for number, sex in persons]),
            "stay": Table("stay", "person", ["day", "ward"], [(n, *row) for n, row in enumerate(stays)]),
        }
    )


SQUARE = world_of([(n, "F1") for n in range(4)], [(0, "d1", "x1"), (1, "d1", "y1"), (2, "d2", "x1"), (3, "d2", "y1")])
"""Four persons who share their day with one, and their ward with another."""

DAYS = Shown({"person": {"sex": 2}, "stay": {"day": 0, "ward": 2}}, 2, 1)
WARDS = Shown({"person": {"sex": 2}, "stay": {"day": 2, "ward": 0}}, 2, 1)


def released(engine: Engine, world: World, shown: Shown, name: str, **more: Any) -> RelationalResult:
    spec = ledger_spec(world, shown, ["released"], f"{name}_", ledger="ledger", **{"suppression": {}, **more})
    return kanon_sql.anonymize(engine, spec)


@pytest.fixture
def square(subject: Subject) -> Iterator[Engine]:
    make(subject, SQUARE)
    subject.execute("CREATE SCHEMA released")
    with subject.connect() as engine:
        yield engine


def test_each_release_is_safe_and_both_are_not(square: Engine, subject: Subject) -> None:
    """Who knows the day and the ward of a stay finds one person by both releases, and two by each."""
    first = released(square, SQUARE, DAYS, "days")
    assert first.passed
    assert first.ledger is not None
    assert first.ledger["earlier"] == []
    both = released(square, SQUARE, WARDS, "wards")
    assert not both.passed
    assert "together with released.days_person, 4 combinations violate km_anonymity (k = 2, m = 1)" in both.message
    assert both.ledger is not None
    assert (both.ledger["persons"], both.ledger["classes"], both.ledger["requirements"][0]["fewest"]) == (4, 1, 1)
    assert subject.fetch("SELECT COUNT(*) FROM duckdb_tables() WHERE table_name LIKE 'wards%'") == [(0,)]
    assert released(square, SQUARE, DAYS, "again").passed
    assert [entry.name for entry in kanon_sql.ledger(square, "ledger").entries] == [
        "released.days_person",
        "released.again_person",
    ]


@pytest.mark.slow
def test_a_table_of_one_release_counts_with_what_the_other_says_of_the_person(subject: Subject) -> None:
    """The first shows sexes and no stays, the second stays and no sexes: of both women one was there on a day."""
    world = world_of([(n, "FM"[n % 2] + "1") for n in range(4)], [row[1:] for row in SQUARE.tables["stay"].rows])
    make(subject, world)
    subject.execute("CREATE SCHEMA released")
    with subject.connect() as engine:
        assert released(engine, world, Shown({"person": {"sex": 0}}, 2, 1), "sexes").passed
        assert not released(engine, world, DAYS, "days").passed
        assert released(engine, world, Shown({"person": {}, "stay": {"day": 2, "ward": 2}}, 2, 1), "top").passed


def test_an_item_of_one_release_may_be_rare_where_all_joint_items_are_shared(subject: Subject) -> None:
    """Of three women one has two stays in the month, and so has one of three men: two in all, and one of each class.

    Each day is that of two women, and of two men, so that the second release has no rare item, nor have both together.
    """
    stays = [(0, "m1"), (0, "m2"), (1, "m1"), (2, "m2"), (3, "m1"), (3, "m2"), (4, "m1"), (5, "m2")]
    world = world_of([(n, "FM"[n // 3] + "1") for n in range(6)], [(who, day, "x1") for who, day in stays])
    make(subject, world)
    subject.execute("CREATE SCHEMA released")
    with subject.connect() as engine:
        months = Shown({"person": {"sex": 2}, "stay": {"day": 1}}, 2, 1)
        assert released(engine, world, months, "months").passed
        both = released(engine, world, Shown({"person": {"sex": 0}, "stay": {"day": 0}}, 2, 1), "days")
    assert not both.passed
    assert both.ledger is not None
    assert both.ledger["requirements"][0] == {
        "requirement": "km_anonymity (k = 2, m = 1)", "fewest": 1, "rare": 2, "reached": {"k": 1}, "holds": False,
    }  # fmt: skip


@pytest.mark.slow
def test_who_is_left_out_of_one_release_is_what_is_left_of_the_other(subject: Subject) -> None:
    world = world_of([(0, "F1"), (1, "F1"), (2, "M1")], [])
    make(subject, world)
    subject.execute("CREATE SCHEMA released")
    with subject.connect() as engine:
        assert released(engine, world, Shown({"person": {"sex": 2}}, 2, 1), "all").passed
        limits = {"max_persons": 0.5}
        both = released(engine, world, Shown({"person": {"sex": 0}}, 2, 1), "some", suppression=limits)
    assert not both.passed
    assert both.left_out == 1
    assert both.ledger is not None
    assert (both.ledger["persons"], both.ledger["classes"], both.ledger["requirements"][0]["rare"]) == (3, 2, 1)


@pytest.mark.slow
@pytest.mark.parametrize("split", [True, False])
def test_items_of_a_column_count_together(subject: Subject, split: bool) -> None:
    """Baskets of two items that two persons have each; by sex, which another release shows, one does."""
    subject.execute("CREATE SCHEMA released")
    written = "list_aggregate(codes, 'string_agg', ';')" if split else "codes"
    subject.execute(
        f"CREATE TABLE t_person AS SELECT id, sex, {written} AS codes FROM (VALUES (0, 'F', ['a1', 'b1']), "
        "(1, 'M', ['a1', 'b1']), (2, 'F', ['a2', 'b2']), (3, 'M', ['a2', 'b2'])) AS t(id, sex, codes)"
    )
    item = {"column": "codes", **({"split": ";"} if split else {})}

    def spec(name: str, level: int | None, by_sex: bool) -> RelationalSpec:
        held = {"prefix": [1], "minimum_level": level, "maximum_level": level}
        items = {} if level is None else {f"{name}_codes": {**item, "hierarchy": held}}
        columns = {"sex": {"maximum_level": 0}} if by_sex else {}
        return RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {"table": "t_person", "name": name, "key": "id", "quasi_identifiers": columns},
                "items": items,
                "privacy": [{"km_anonymity": {"k": 2, "m": 2}}],
                "recoding": "full_domain",
                "release": {"schema": "released"},
                "ledger": "ledger",
            }
        )

    with subject.connect() as engine:
        assert kanon_sql.anonymize(engine, spec("baskets", 0, False)).passed
        both = kanon_sql.anonymize(engine, spec("sexes", None, True))
        assert not both.passed
        assert both.ledger is not None
        assert both.ledger["requirements"][0]["fewest"] == 1
        again = kanon_sql.anonymize(engine, spec("coarser", 1, False))
        assert again.passed
        assert again.ledger is not None
        assert again.ledger["changed"] == []


@pytest.mark.slow
def test_the_strictest_requirement_of_any_release_counts(square: Engine) -> None:
    """The first promised four; the second asks for two, has them, and would leave the first with two."""
    top = {"person": {"sex": 2}, "stay": {"day": 2, "ward": 2}}
    assert released(square, SQUARE, Shown(top, 4, 1), "four").passed
    both = released(square, SQUARE, DAYS, "two")
    assert not both.passed
    assert both.ledger is not None
    assert [item["holds"] for item in both.ledger["requirements"]] == [False, True]


# --- Releases that the source no longer gives ----------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE released.days_stay SET day = 'd2' WHERE day = 'd1'",
        pytest.param("DELETE FROM released.days_stay WHERE day = 'd1'", marks=pytest.mark.slow),
        pytest.param("UPDATE released.days_person SET sex = 'F1'", marks=pytest.mark.slow),
        pytest.param("UPDATE released.days_person SET sex = NULL", marks=pytest.mark.slow),
        pytest.param("INSERT INTO released.days_person VALUES (99, '*')", marks=pytest.mark.slow),
        pytest.param("UPDATE released.days_person SET id = 1", marks=pytest.mark.slow),
        pytest.param("ALTER TABLE released.days_stay ADD COLUMN more INTEGER", marks=pytest.mark.slow),
        pytest.param("UPDATE t_stay SET day = 'd3' WHERE day = 'd1'", marks=pytest.mark.slow),
        pytest.param("UPDATE t_stay SET above = 0 WHERE id = 1", marks=pytest.mark.slow),
        pytest.param("INSERT INTO t_person VALUES (9, 'F1')", marks=pytest.mark.slow),
    ],
)
def test_a_release_that_the_source_no_longer_gives(square: Engine, subject: Subject, change: str) -> None:
    assert released(square, SQUARE, DAYS, "days").passed
    subject.execute(change)
    result = released(square, SQUARE, DAYS, "again", suppression={"max_persons": 0.9})
    assert not result.passed
    assert "released.days_person can no longer be derived from the source" in result.message
    assert result.ledger is not None
    assert result.ledger["changed"] == ["released.days_person"]


@pytest.mark.slow
def test_rows_that_only_change_their_keys_are_the_same(square: Engine, subject: Subject) -> None:
    assert released(square, SQUARE, DAYS, "days").passed
    subject.execute("UPDATE t_stay SET id = id + 100")
    subject.execute("UPDATE t_person SET id = 10 - id")
    subject.execute("UPDATE t_stay SET above = 10 - above")
    assert released(square, SQUARE, DAYS, "again").passed


KEPT = {
    "note": "text", "number": "integer", "cost": "decimal", "dose": "double", "day": "date", "at": "timestamp",
    "known": "boolean",
}  # fmt: skip


@pytest.mark.parametrize("name", ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)])
def test_kept_columns_join_releases(name: str) -> None:
    """Where two persons' notes were exchanged, both releases join other rows by them than the source does now.

    The labels of each release are the same, and as often, as before.
    """
    stays = [
        (n, n, f"x{n // 4}", f"note {n}", n, Decimal(n) / 4, n / 3, date(2020, 1, 1 + n), datetime(2020, 1, 1, n), True)
        for n in range(7)
    ]
    stays.append((7, 7, "x1", *len(KEPT) * [None]))
    exchanged = [(*stays[0][:3], *stays[7][3:]), *stays[1:7], (*stays[7][:3], *stays[0][3:])]

    def spec(prefix: str) -> RelationalSpec:
        own = {"table": "stays", "person": "who", "quasi_identifiers": {"ward": {}}, "keep": list(KEPT)}
        return RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {"table": "people", "name": f"{prefix}_people", "key": "id", "keep": ["sex"]},
                "tables": {f"{prefix}_stays": own},
                "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
                "recoding": "full_domain",
                "release": {"schema": schema, "publish": "in_steps"},
                "warnings": {"kept_reveals_quasi_identifier": "warn"},
                "ledger": "ledger",
            }
        )

    with subject_of(name) as subject:
        schema = ["main"] if name == "sqlite" else list(subject.schema("released"))
        subject.table("people", {"id": "integer", "sex": "text"}, [(n, "FM"[n % 2]) for n in range(8)])
        columns = {"nr": "integer", "who": "integer", "ward": "text"}
        subject.table("stays", {**columns, **KEPT}, stays)
        with subject.connect() as engine:
            for prefix in "ab":
                result = kanon_sql.anonymize(engine, spec(prefix))
                assert result.passed, result.message
            as_texts = [(*row[:4], None if row[4] is None else str(row[4]), *row[5:]) for row in stays]
            others = [(KEPT, exchanged)]
            others += [] if name == "sqlite" else [({**KEPT, "number": "text"}, as_texts)]  # SQLite compares 0 with '0'
            for types, rows in others:
                subject.drop("stays")
                subject.table("stays", {**columns, **types}, rows)
                result = kanon_sql.anonymize(engine, spec("c"))
                assert result.ledger is not None
                assert [changed.split(".")[-1] for changed in result.ledger["changed"]] == ["a_people", "b_people"]
                assert not result.passed
