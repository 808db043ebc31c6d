"""Several tables released together: known answers by hand, and a brute-force oracle over small random worlds."""

from __future__ import annotations

from typing import Any

import pytest

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.engines import Engine, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.relations import cuts, local
from kanon_sql.relations.members import Member
from kanon_sql.sql import Relation
from kanon_sql.testing import Subject
from tests.oracles.relations import World, fewest_sharing, least_loss, linked, loss, random_world, staying
from tests.servers import subject_of
from tests.support.relations import ENGINES, asked_of, basket_spec, baskets, make, place, released, spec_of


def assert_best_node(engine: Engine, world: World, seed: int) -> None:
    """The search's node loses as little as the best, and leaves out who has to go there."""
    k, m = asked_of(seed)
    persons = len(world.tables["person"].rows)
    most = persons // 4
    spec = spec_of(world, "full_domain", k, m, suppression={"max_persons": (most + 0.5) / persons})
    result = kanon_sql.plan(engine, spec)
    best = least_loss(world, k, m, most)
    assert result.passed == (best is not None and most < persons), seed
    if best is None:
        return
    assert result.node is not None
    node = [result.node[name][column] for name, column in world.columns]
    assert loss(world, node) == pytest.approx(best), seed
    assert result.left_out == persons - len(staying(world, node, k, m)), seed


FEW = [0, *(pytest.param(start, marks=pytest.mark.slow) for start in range(4, 36, 4))]
"""Where the seeds of a few random worlds begin."""


@pytest.mark.parametrize("start", FEW)
def test_the_best_node_is_found(subject: Subject, start: int) -> None:
    engine = subject.connect()
    for seed in range(start, start + 4):
        world = random_world(seed)
        if not world.columns:
            continue
        make(subject, world)
        assert_best_node(engine, world, seed)
    engine.close()


@pytest.mark.parametrize("m", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_nodes_are_asked_in_batches(subject: Subject, m: int) -> None:
    """124 nodes by three statements each, those that read and drop tables included; one by one they took thirty."""
    world = random_world(6)
    make(subject, world)
    spec = spec_of(world, "full_domain", 2, m, suppression={"max_persons": 0.3})
    result = kanon_sql.plan(subject.connect(), spec)
    assert result.nodes_asked == (124 if m == 1 else None)
    assert result.cost.statements <= (370 if m == 1 else 480)


def assert_local(
    subject: Subject, engine: Engine, world: World, seed: int, schema: str, known: int | None = None
) -> bool:
    """What is released satisfies, joined by its own keys; whether anything is."""
    k, m = 2 + seed % 2, int(seed % 7 != 0) if known is None else known
    spec = spec_of(
        world,
        "local",
        k,
        m,
        suppression={"max_persons": 0.3, "max_rows": 1.0},
        release={"schema": schema.rstrip(".")},
    )
    result = kanon_sql.anonymize(engine, spec)
    if not result.passed:
        return False
    persons, others = released(subject, world, schema)
    assert len(persons) == result.persons - result.left_out >= k
    fewest = fewest_sharing(persons, others, m)
    assert fewest is not None
    assert fewest >= k, seed
    assert result.requirements[0]["fewest"] == fewest, seed
    assert kanon_sql.check(engine, spec).passed, seed
    return True


@pytest.mark.parametrize("m", [2, 3])
def test_combinations_are_shared_within_classes(subject: Subject, m: int) -> None:
    engine = subject.connect()
    subject.execute("CREATE SCHEMA released")
    for seed in (1, 2, 8) if m == 2 else (3,):
        world = random_world(seed)
        make(subject, world)
        assert assert_local(subject, engine, world, seed, "released.", m)
    engine.close()


@pytest.mark.parametrize("lasting", [True, False])
@pytest.mark.parametrize("name", ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)])
def test_rounds_count_what_may_have_changed(name: str, lasting: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of women all pairs are shared. After the first round only items of the two men who lost a row are counted.

    Where items have no numbers that last, those of all men are, since these are a class.
    """
    counted, row_items = list[int](), cuts.row_items

    def counts(workspace: Workspace, events: Any, rows: Any, within: Any = None, **more: Any) -> Relation:
        items = row_items(workspace, events, rows, within, **more)
        if within is not None:
            counted.append(workspace.size([items]))
        return items

    if not lasting:
        monkeypatch.setattr(Member, "room_for_repeats", lambda *_: None)

    men, women = ["ab", "ab", "ac", "bc"], ["ab", "ab", "ab"]
    with subject_of(name) as subject, subject.connect() as engine:
        people = [(1 + n, "M" if n < len(men) else "F") for n in range(len(men) + len(women))]
        subject.table("people", {"id": "integer", "sex": "text"}, people)
        rows = [(1 + n, item) for n, basket in enumerate([*men, *women]) for item in basket]
        subject.table("items", {"who": "integer", "item": "text"}, rows)
        spec = RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {"table": "people", "key": "id", "quasi_identifiers": {"sex": {"maximum_level": 0}}},
                "tables": {"items": {"person": "who", "quasi_identifiers": {"item": {"maximum_level": 0}}}},
                "privacy": [{"km_anonymity": {"k": 2, "m": 2}}],
                "recoding": "local",
                "suppression": {"max_rows": 0.5},
            }
        )
        monkeypatch.setattr(cuts, "row_items", counts)
        result = kanon_sql.plan(engine, spec)
    assert result.passed
    assert result.tables["items"]["released"] == len(rows) - 2, "one row of each man whose pair no other has"
    assert counted == [2 if lasting else 6], "after the first round, in the second and last one"


@pytest.mark.parametrize("m", [2, 3])
def test_counts_that_are_kept_are_right(subject: Subject, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted again in all classes where rows climbed, as items without lasting numbers are, says the same."""
    engine, rounds = subject.connect(), list[int]()
    rare_rows = cuts.rare_rows

    def noted(*given: Any) -> Relation:
        rounds[-1] += 1
        return rare_rows(*given)

    monkeypatch.setattr(cuts, "rare_rows", noted)
    for seed in (1, 2, 3, 8, 13):
        world = random_world(seed)
        make(subject, world)
        spec = spec_of(world, "local", 2, m, suppression={"max_persons": 0.3, "max_rows": 0.3})
        rounds.append(0)
        kept = kanon_sql.plan(engine, spec)
        with monkeypatch.context() as patch:
            patch.setattr(Member, "room_for_repeats", lambda *_: None)
            again = kanon_sql.plan(engine, spec)
        assert (kept.tables, kept.left_out, kept.node) == (again.tables, again.left_out, again.node), seed
    engine.close()
    assert max(rounds) > 20, "some of them had several rounds"


def test_releases_by_a_sample_of_persons_and_classes_satisfy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, number in (("MANY_ROWS", 3), ("VERY_MANY_ROWS", 6), ("MANY_CLASSES", 1)):
        monkeypatch.setattr(cuts, name, number)
    with subject_of("duckdb") as subject, subject.connect() as engine:
        subject.schema("released")
        passed = 0
        for seed in (1, 3, 5, 9, 15, 21):  # odd ones have k = 3, for which persons are sampled
            world = random_world(seed)
            make(subject, world)
            passed += assert_local(subject, engine, world, seed, "released.", 2)
        assert passed >= 3


def test_a_sample_finds_the_cuts_that_all_persons_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 persons with three of 64 items each: pairs of first digits are common, pairs of items are not."""
    with subject_of("duckdb") as subject, subject.connect() as engine:
        subject.execute("CREATE TABLE buyers AS SELECT i AS id FROM range(2000) t(i)")
        subject.execute(
            "CREATE TABLE items AS SELECT id AS buyer, printf('%02o', hash(id * 3 + j) % 64) AS item "
            "FROM buyers, range(3) r(j)"
        )
        spec = basket_spec(5, 2, recoding="local", suppression={"max_rows": 0.05}).to_dict()
        spec["tables"]["items"]["quasi_identifiers"]["item"] = {"prefix": [1]}
        given, looked_at = RelationalSpec.from_dict(spec), list[int]()
        whole = kanon_sql.plan(engine, given)
        monkeypatch.setattr(cuts, "MANY_ROWS", 1000)
        rare_rows = cuts.rare_rows

        def noted(workspace: Workspace, items: Relation, *more: Any) -> Relation:
            looked_at.append(workspace.size([items]))
            return rare_rows(workspace, items, *more)

        monkeypatch.setattr(cuts, "rare_rows", noted)
        sampled = kanon_sql.plan(engine, given)
    assert whole.tables["items"] == sampled.tables["items"]
    assert 900 < looked_at[0] < 1600, "one person in five, with three rows"


@pytest.mark.parametrize("m", [1, 2])
def test_local_releases_wherever_full_domain_does(subject: Subject, m: int) -> None:
    """Where no row may be left out of persons who stay, nor many persons."""
    engine, both = subject.connect(), 0
    for seed in range(20, 40):
        world = random_world(seed)
        if not world.columns:
            continue
        persons = len(world.tables["person"].rows)
        most = persons // (2 + seed % 5)
        make(subject, world)
        spec = spec_of(world, "local", 2, m, suppression={"max_persons": (most + 0.5) / persons})
        if least_loss(world, 2, m, most) is not None:
            result = kanon_sql.plan(engine, spec)
            assert result.passed, (seed, result.message)
            assert result.left_out <= most, seed
            both += 1
    engine.close()
    assert both >= 8


def test_one_level_for_each_column_is_the_last_resort(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where too many persons would be left out in all classes, as it is pretended here."""
    world = random_world(6)
    make(subject, world)
    allowed = {"max_persons": 0.3}
    plans = [spec_of(world, recoding, 2, 1, suppression=allowed) for recoding in ("full_domain", "local")]
    monkeypatch.setattr("kanon_sql.relations.within_limits._Local.within", lambda *_, **__: None)
    with subject.connect() as engine:
        full, local = (kanon_sql.plan(engine, spec) for spec in plans)
    assert local.passed
    assert (local.node, local.tables, local.left_out) == (full.node, full.tables, full.left_out)


@pytest.mark.parametrize(("max_rows", "drugs", "visits"), [(0.5, 6, {"0": 10}), (0, 8, {"0": 6, "1": 4})])
def test_rows_above_climb_before_too_many_rows_are_left_out(
    subject: Subject, max_rows: float, drugs: int, visits: dict[str, int]
) -> None:
    """Two persons were at each of b1 and b2, and one of them had a drug there: nobody shares that, but for b*."""
    wards = ["a1", "a1", "a1", "a2", "a2", "a2", "b1", "b1", "b2", "b2"]
    subject.table("people", {"id": "integer"}, [(n,) for n, _ in enumerate(wards)])
    subject.table("visits", {"id": "integer", "who": "integer", "ward": "text"},
                  [(n, n, ward) for n, ward in enumerate(wards)])  # fmt: skip
    subject.table("drugs", {"visit": "integer", "drug": "text"}, [(n, "x") for n in (*range(6), 6, 8)])
    spec = RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "people", "key": "id"},
            "tables": {
                "visits": {"key": "id", "person": "who", "quasi_identifiers": {"ward": {"prefix": [1]}}},
                "drugs": {"parent": "visits", "by": "visit", "quasi_identifiers": {"drug": {"maximum_level": 0}}},
            },
            "privacy": [{"km_anonymity": {"k": 2, "m": 2}}],
            "recoding": "local",
            "suppression": {"max_rows": max_rows},
        }
    )
    with subject.connect() as engine:
        result = kanon_sql.plan(engine, spec)
    assert result.passed
    assert result.tables["drugs"]["released"] == drugs
    assert result.tables["visits"]["columns"]["ward"]["levels"] == visits


def test_a_class_has_the_lowest_levels_whose_pairs_are_shared(subject: Subject) -> None:
    """Each pair of women is that of two; each of men is that of one, until only the letters are told."""
    rows = {1: "x1 y1", 2: "x1 y1", 3: "x2 y2", 4: "x2 y2", 5: "x1 y1", 6: "x1 y2", 7: "x2 y1", 8: "x2 y2"}
    subject.table("people", {"id": "integer", "sex": "text"}, [(n, "F" if n < 5 else "M") for n in rows])
    subject.table(
        "stays", {"who": "integer", "ward": "text"}, [(n, w) for n, both in rows.items() for w in both.split()]
    )
    spec = RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "people", "key": "id", "quasi_identifiers": {"sex": {"maximum_level": 0}}},
            "tables": {"stays": {"person": "who", "quasi_identifiers": {"ward": {"prefix": [1]}}}},
            "privacy": [{"km_anonymity": {"k": 2, "m": 2}}],
            "recoding": "local",
        }
    )
    result = kanon_sql.plan(subject.connect(), spec)
    assert result.passed
    assert result.tables["stays"]["columns"]["ward"]["levels"] == {"0": 8, "1": 8}


@pytest.mark.parametrize("start", FEW)
def test_events_are_shared_within_classes(subject: Subject, start: int) -> None:
    engine, passed = subject.connect(), 0
    subject.execute("CREATE SCHEMA released")
    for seed in range(start, start + 4):
        world = random_world(seed)
        if world.columns:
            make(subject, world)
            assert_local(subject, engine, world, seed, "released.")
            passed += 1
    assert passed > 1
    engine.close()


def test_a_row_that_climbs_in_a_round_takes_the_rows_above_it_along(subject: Subject) -> None:
    """Drugs begin at their days, which two rows share, and one person: that shows when persons are counted."""
    subject.table("people", {"id": "integer"}, [(n,) for n in range(1, 5)])
    days = [(n, (n + 1) // 2, "a2" if n < 5 else "a3") for n in range(1, 9)]
    subject.table("visits", {"id": "integer", "who": "integer", "day": "text"}, days)
    subject.table("drugs", {"id": "integer", "visit": "integer", "atc": "text"}, [(n, n, "x") for n in (1, 2, 5, 6)])
    spec = RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "people", "key": "id"},
            "tables": {
                "visits": {"key": "id", "person": "who", "quasi_identifiers": {"day": {"prefix": [1]}}},
                "drugs": {"key": "id", "parent": "visits", "by": "visit", "quasi_identifiers": {"atc": {}}},
            },
            "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
            "suppression": {"max_rows": 0.5},
        }
    )
    with subject.connect() as engine:
        result = kanon_sql.plan(engine, spec, timeout=60)
    assert {name: table["released"] for name, table in result.tables.items()} == {"person": 4, "visits": 8, "drugs": 4}
    assert result.tables["visits"]["columns"]["day"]["levels"] == {"1": 8}


@pytest.mark.parametrize("seed", [4, pytest.param(1, marks=pytest.mark.slow), pytest.param(7, marks=pytest.mark.slow)])
def test_few_rows_that_climb_are_kept_apart(subject: Subject, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """In small worlds never: here always, which satisfies, and releases what it does without."""
    world = random_world(seed)
    make(subject, world)
    subject.execute("CREATE SCHEMA released")
    engine = subject.connect()
    spec = spec_of(world, "local", 2, 1, suppression={"max_persons": 0.3, "max_rows": 1.0})
    plain = kanon_sql.plan(engine, spec)
    monkeypatch.setattr(local, "FEW", 0)
    apart = kanon_sql.plan(engine, spec)
    assert apart.tables == plain.tables
    assert apart.cost.statements > plain.cost.statements
    assert assert_local(subject, engine, world, seed, "released.", 1)
    engine.close()


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(100, marks=pytest.mark.slow),
        *(pytest.param(start, marks=pytest.mark.campaign) for start in range(104, 700, 4)),
    ],
)
def test_many_worlds(subject: Subject, start: int) -> None:
    engine = subject.connect()
    subject.execute("CREATE SCHEMA released")
    for seed in range(start, start + 4):
        world = random_world(seed)
        if world.columns:
            make(subject, world)
            assert_best_node(engine, world, seed)
            assert_local(subject, engine, world, seed, "released.")
            if seed % 5 == 0:
                assert_local(subject, engine, world, seed, "released.", 2 + seed % 2)
    engine.close()


@pytest.mark.parametrize(
    ("name", "start", "count"),
    [
        *(pytest.param(name, 1, 1, marks=pytest.mark.slow) for name in ENGINES),
        *(
            pytest.param(name, start, 30, marks=pytest.mark.campaign)
            for name in ENGINES
            for start in range(1000, 1300, 30)
        ),
    ],
)
def test_every_engine_releases_the_same(name: str, start: int, count: int) -> None:
    """By the oracle, and as DuckDB does: the verdict, the node, counts, and for local the rows as they join."""
    with subject_of(name) as subject, subject_of("duckdb") as other:
        engine, reference = subject.connect(), other.connect()
        for seed in range(start, start + count):
            world = random_world(seed)
            if not world.columns:
                continue
            make(subject, world)
            make(other, world)
            assert_best_node(engine, world, seed)
            for m in (1, 2) if seed in (1, 2, 8) else (seed % 7 and 1,):
                found = []
                for at, where in ((engine, subject), (reference, other)):
                    limits = {"max_persons": 0.3, "max_rows": 1.0}
                    spec = spec_of(world, "local", 2 + seed % 2, m, suppression=limits, release=place(where))
                    result = kanon_sql.anonymize(at, spec)
                    rows = None
                    if result.passed:
                        schema = "".join(f"{part}." for part in place(where)["schema"])
                        persons, others = released(where, world, schema)
                        fewest = fewest_sharing(persons, others, m)
                        assert fewest is not None
                        assert fewest >= spec.k, seed
                        assert kanon_sql.check(at, spec).passed, seed
                        rows = linked(persons, others)
                    counts = {
                        table: {key: value for key, value in item.items() if key != "published"}
                        for table, item in result.tables.items()
                    }
                    found.append((result.verdict, result.left_out, counts, rows))
                assert found[0] == found[1], (seed, m)
        engine.close()
        reference.close()


@pytest.mark.parametrize("name", ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)])
@pytest.mark.parametrize(("recoding", "m"), [("local", 1), ("full_domain", 2)])
def test_each_table_is_read_once(name: str, recoding: str, m: int) -> None:
    """Once to number and code its rows; what is released is written from these. No row is fetched.

    SQLite reads it once more, since a column may hold values of several types there.
    """
    world = random_world(3)
    with subject_of(name) as subject:
        make(subject, world)
        engine = subject.connect()
        limits = {"max_persons": 0.9, **({"max_rows": 0.9} if recoding == "local" else {})}
        spec = spec_of(world, recoding, 2, m, suppression=limits, release=place(subject))
        result = kanon_sql.anonymize(engine, spec)
        assert result.passed, result.message
        assert result.cost.source_scans == len(world.tables) * (2 if name == "sqlite" else 1)
        engine.close()


# --- Known answers -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)])
def test_persons_with_rare_pairs_are_left_out(name: str) -> None:
    """Baskets ab, ab, ac, bc, a: of the pairs ac and bc one person each; who stays shares all with another."""
    with subject_of(name) as subject:
        baskets(subject, [(1, "a"), (1, "b"), (2, "a"), (2, "b"), (3, "a"), (3, "c"), (4, "b"), (4, "c"), (5, "a")], 5)
        engine = subject.connect()
        result = kanon_sql.plan(engine, basket_spec(2, 2, suppression={"max_persons": 0.4}))
        assert result.passed
        assert result.left_out == 2
        assert result.tables["items"]["released"] == 5
        strict = kanon_sql.plan(engine, basket_spec(2, 2, suppression={"max_persons": 0.2}))
        assert not strict.passed
        engine.close()


def test_the_second_of_a_kind_is_an_item_of_its_own(subject: Subject) -> None:
    """Who has two visits in March is found by the second one, which is left out."""
    baskets(subject, [(1, "March"), (1, "March"), (2, "March")], 2)
    engine = subject.connect()
    strict = kanon_sql.plan(engine, basket_spec(2, 1))
    assert not strict.passed
    assert "1 of 3 rows" in strict.message
    result = kanon_sql.plan(engine, basket_spec(2, 1, suppression={"max_rows": 0.34}))
    assert result.passed
    assert result.tables["items"]["released"] == 2


@pytest.mark.parametrize(("sex", "left_out"), [(0, 2), (1, 1)])
def test_tables_that_are_anonymous_alone_are_not_together(subject: Subject, sex: int, left_out: int) -> None:
    """F, F, M, M in wards x, x, x, y: with the sex persons 3 and 4 are found, without it the last alone."""
    subject.table("people", {"id": "integer", "sex": "text"}, [(1, "F"), (2, "F"), (3, "M"), (4, "M")])
    subject.table("visits", {"id": "integer", "who": "integer", "ward": "text"},
                  [(10, 1, "x"), (11, 2, "x"), (12, 3, "x"), (13, 4, "y")])  # fmt: skip
    spec = RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {
                "table": "people",
                "key": "id",
                "quasi_identifiers": {"sex": {"minimum_level": sex, "maximum_level": sex}},
            },
            "tables": {"visits": {"key": "id", "person": "who", "quasi_identifiers": {"ward": {"maximum_level": 0}}}},
            "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
            "suppression": {"max_persons": 0.5},
            "recoding": "full_domain",
        }
    )
    assert kanon_sql.plan(subject.connect(), spec).left_out == left_out


@pytest.mark.parametrize("name", ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES)])
def test_a_column_may_hold_the_items(name: str) -> None:
    """The same baskets as texts, with blanks and an item that stands there twice."""
    with subject_of(name) as subject:
        texts = [(1, "a; b"), (2, "b;a;b"), (3, "a;c"), (4, "b;c;"), (5, "a"), (6, None)]
        subject.table("buyers", {"id": "integer", "basket": "text"}, texts)
        spec = RelationalSpec.from_dict(
            {
                "version": 1,
                "person": {"table": "buyers", "key": "id"},
                "items": {"baskets": {"column": "basket", "split": ";", "hierarchy": {"maximum_level": 0}}},
                "privacy": [{"km_anonymity": {"k": 2, "m": 2}}],
                "suppression": {"max_persons": 0.4},
            }
        )
        result = kanon_sql.plan(subject.connect(), spec)
        assert result.passed
        assert result.left_out == 2
        assert (result.tables["baskets"]["rows"], result.tables["baskets"]["released"]) == (9, 5)


def test_a_list_is_no_text_of_items(subject: Subject) -> None:
    subject.execute("CREATE TABLE buyers AS SELECT 1 AS id, ['a', 'b'] AS basket")
    spec = RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "buyers", "key": "id"},
            "items": {"baskets": {"column": "basket", "split": ","}},
            "privacy": [{"km_anonymity": {"k": 1, "m": 1}}],
        }
    )
    with pytest.raises(SpecError, match="items are split from text"):
        kanon_sql.plan(subject.connect(), spec)


def test_items_are_released_as_a_table(subject: Subject) -> None:
    subject.table("buyers", {"id": "integer", "basket": "text"}, [(7, "a1,b1"), (8, "a2,b1"), (9, "a1")])
    subject.execute("CREATE SCHEMA released")
    spec = RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "buyers", "key": "id"},
            "items": {"baskets": {"column": "basket", "split": ",", "hierarchy": {"prefix": [1]}}},
            "privacy": [{"km_anonymity": {"k": 2, "m": 1}}],
            "suppression": {"max_rows": 0.5},
            "release": {"schema": "released"},
        }
    )
    result = kanon_sql.anonymize(subject.connect(), spec)
    assert result.passed, result.message
    assert sorted(row[0] for row in subject.fetch("SELECT id FROM released.buyers")) == [1, 2, 3]
    found = subject.fetch("SELECT id, basket FROM released.baskets")
    # a2 climbs to a*, which nobody else has; then it goes, or to *, with which it is alone as well.
    assert sorted(label for _, label in found) == ["a1", "a1", "b1", "b1"]
    assert kanon_sql.check(subject.connect(), spec).passed


def test_a_table_that_has_the_key_of_its_parent(subject: Subject) -> None:
    """One row for each person at most, and visits below it: they join by the person's new key."""
    subject.table("people", {"id": "integer"}, [(number,) for number in range(6)])
    subject.table("files", {"id": "integer", "clinic": "text"}, [(number, "x") for number in range(6)])
    subject.table("notes", {"file": "integer", "kind": "text"}, [(number, "ab"[number % 2]) for number in range(6)])
    subject.execute("CREATE SCHEMA released")
    spec = RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "people", "key": "id"},
            "tables": {
                "files": {"key": "id", "person": "id", "quasi_identifiers": {"clinic": {}}},
                "notes": {"parent": "files", "by": "file", "quasi_identifiers": {"kind": {}}},
            },
            "privacy": [{"km_anonymity": {"k": 3, "m": 1}}],
            "release": {"schema": "released"},
        }
    )
    assert kanon_sql.anonymize(subject.connect(), spec).passed
    joined = subject.fetch(
        "SELECT COUNT(*) FROM released.people p JOIN released.files f ON p.id = f.id "
        "JOIN released.notes n ON f.id = n.file"
    )
    assert joined == [(6,)]
    assert kanon_sql.check(subject.connect(), spec).passed
