"""Releases in one order: Sweeney's example, the attack against an oracle, and what is no order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import kanon_sql
from kanon_sql import Spec, audit
from kanon_sql.disclosure.attacks import Attack
from kanon_sql.disclosure.attacks.common_order import Cell, Evidence, evidence_of
from kanon_sql.errors import SpecError, UnsupportedError
from tests.conftest import Database
from tests.oracles.audit import Placed, by_position
from tests.oracles.model import Hierarchy, generalize
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import by_name, engine_marks, make, small_spec

Rows = Sequence[dict[str, Any]]

# --- Sweeney 2002, figure 3 ---------------------------------------------------------------------------

ZIPS = ("02138", "02139", "02141", "02142")
RACES = ("Asian", "Black", "White")
PT = [{"race": race, "zip": code} for race, code in product(RACES, ZIPS)]
GT1 = [{"race": "Person", "zip": row["zip"]} for row in PT]
GT2 = [{"race": row["race"], "zip": f"{row['zip'][:4]}0"} for row in PT]
GENERALIZED: dict[str, Hierarchy] = {
    "race": {race: (race, "Person") for race in RACES},
    "zip": {code: (code, f"{code[:4]}0", "*") for code in ZIPS},
}


def sweeney_spec(release: str, k: int = 2) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "pt", "release": release, "privacy": [{"k_anonymity": k}],
            "quasi_identifiers": {
                "race": {"tree": {"Person": [*RACES]}},
                "zip": {"tree": {"02130": [*ZIPS[:2]], "02140": [*ZIPS[2:]]}},
            },
        }
    )  # fmt: skip


@pytest.fixture
def sweeney(database: Database) -> Database:
    for name, rows in (("pt", PT), ("gt1", GT1), ("gt2", GT2)):
        make(database, name, rows, ["race", "zip"])
    return database


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("release", "earlier"), [("gt1", "gt2"), ("gt2", "gt1")])
@pytest.mark.slow
def test_two_releases_in_one_order_return_the_source(sweeney: Database, release: str, earlier: str) -> None:
    """Figure 3: GT1 has classes of 3 and GT2 of 2, and their rows side by side are PT, 12 of 12 alone."""
    assert by_position(PT, [GT1, GT2], GENERALIZED, [], 2) == Placed(12, 12, 12, Fraction(1))
    spec = sweeney_spec(release)
    assert kanon_sql.check(sweeney.engine, spec).passed
    result = audit(sweeney.engine, spec, earlier=[earlier], reveal=12)
    assert not result.passed
    assert result.message == f"{release}: unsorted with {earlier} exposes 12 of 12"
    attack = by_name(result)[f"unsorted with {earlier}"]
    assert (attack.examined, attack.exposed, attack.beyond, attack.risk) == (12, 12, 12, 1.0)
    in_gt1, in_gt2 = ("", f" ({earlier})") if release == "gt1" else (f" ({earlier})", "")
    returned = {(case["values"][f"race{in_gt2}"], case["values"][f"zip{in_gt1}"]) for case in attack.revealed or ()}
    assert returned == {(row["race"], row["zip"]) for row in PT}
    assert not any(case for case in audit(sweeney.engine, spec, earlier=[earlier]).attacks if case.revealed)


def test_what_the_joint_classes_keep_is_no_exposure(sweeney: Database) -> None:
    """A release beside itself shows what it shows alone."""
    (attack,) = audit(sweeney.engine, sweeney_spec("gt2"), earlier=["gt2"], attacks=["unsorted"]).attacks
    assert (attack.examined, attack.exposed, attack.risk) == (12, 0, 0.5)


@pytest.mark.slow
def test_random_order_returns_no_row_of_the_source(sweeney: Database) -> None:
    """The paper's remedy: the rows sorted at random."""
    for seed in range(8):
        shuffled = random.Random(seed).sample(GT1, len(GT1))
        expected = by_position(PT, [GT2, shuffled], GENERALIZED, [], 2)
        make(sweeney, "shuffled", shuffled, ["race", "zip"])
        result = audit(sweeney.engine, sweeney_spec("gt2"), earlier=["shuffled"], attacks=["unsorted"])
        (attack,) = result.attacks
        assert expected.returned < 12, "one in 5,775 orders returns the source"
        assert (result.passed, attack.exposed, attack.risk) == (True, 0, None)
        assert f"{expected.returned} of 12 positions" in attack.notes[0]


def test_alone_the_order_of_quasi_identifiers_tells_nothing_and_says_where_it_would(sweeney: Database) -> None:
    with pytest.raises(UnsupportedError, match="until another release in the same order is joined with it"):
        audit(sweeney.engine, sweeney_spec("gt2"), attacks=["unsorted"])
    assert "(--earlier)" in audit(sweeney.engine, sweeney_spec("gt2")).left_out["unsorted"]


@pytest.mark.slow
def test_three_releases_together_tell_more_than_two(database: Database) -> None:
    """Of each of three attributes a release shows all: in twos the classes have two rows, in threes one."""
    people = [dict(zip("abc", map(str, bits), strict=True)) for bits in product((0, 1), repeat=3)]
    names = ["a", "b", "c"]
    make(database, "s", people, names)
    for shown in names:
        make(database, f"r{shown}", [{n: row[n] if n == shown else "*" for n in names} for row in people], names)
    spec = small_spec(release="ra", quasi_identifiers=dict.fromkeys(names), sensitive=[])
    result = audit(database.engine, spec, earlier=["rb", "rc"], attacks=["unsorted"])
    exposed = {attack.label: (attack.exposed, attack.risk) for attack in result.attacks}
    assert exposed == {"unsorted with rb": (0, 0.5), "unsorted with rc": (0, 0.5), "unsorted with rb, rc": (8, 1.0)}


# --- Two hundred persons ------------------------------------------------------------------------------

CODES = [f"{first}{second}" for first in "12345" for second in "12"]
AGES = [f"{decade}{year}" for decade in "2345" for year in "05"]
PERSONS: dict[str, Hierarchy] = {
    "code": {code: (code, f"{code[0]}*", "*") for code in CODES},
    "age": {age: (age, f"{age[0]}*", "*") for age in AGES},
}
NAMES = [*PERSONS]


def persons(seed: int = 1, count: int = 200) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    return [{"code": draw.choice(CODES), "age": draw.choice(AGES)} for _ in range(count)]


def released(rows: Rows, levels: tuple[int, int]) -> list[dict[str, Any]]:
    vectors = generalize(rows, PERSONS, levels)
    return [dict(zip(PERSONS, vector or (), strict=True)) for vector in vectors]


def persons_spec(k: int = 5, **more: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "privacy": [{"k_anonymity": k}],
            "quasi_identifiers": {"code": {"prefix": [1]}, "age": {"prefix": [1]}}, **more,
        }
    )  # fmt: skip


def attacked(database: Database, source: Rows, ours: Rows, theirs: Rows, k: int = 5) -> Attack:
    for name, rows in (("s", source), ("r", ours), ("old", theirs)):
        make(database, name, rows, NAMES)
    (attack,) = audit(database.engine, persons_spec(k), earlier=["old"], attacks=["unsorted"]).attacks
    return attack


@pytest.mark.slow
def test_two_hundred_persons_in_one_order(database: Database) -> None:
    """By code and by age all classes have at least 5, by both most persons are in smaller ones."""
    rows = persons()
    ours, theirs = released(rows, (0, 2)), released(rows, (1, 1))
    expected = by_position(rows, [ours, theirs], PERSONS, [], 5)
    for table in (ours, theirs):
        assert min(Counter(tuple(row.values()) for row in table).values()) >= 5
    assert (expected.positions, expected.returned) == (200, 200)
    assert expected.exposed > 50
    attack = attacked(database, rows, ours, theirs)
    assert (attack.examined, attack.exposed, attack.beyond) == (200, expected.exposed, expected.exposed)
    assert attack.risk == expected.risk
    assert "have one order" in attack.notes[0]


@pytest.mark.slow
def test_a_source_that_changed_a_little_hides_no_common_order(database: Database) -> None:
    """Ten persons moved since: what is left of the order is far more than random orders have."""
    rows = persons()
    ours, theirs = released(rows, (0, 2)), released(rows, (2, 0))
    now = [*rows[10:], *persons(seed=9, count=10)]
    expected = by_position(now, [ours, theirs], PERSONS, [], 5)
    assert expected.returned < 200
    attack = attacked(database, now, ours, theirs)
    assert (attack.exposed, attack.beyond, attack.risk) == (expected.exposed, expected.exposed, expected.risk)
    assert expected.exposed > 50


@pytest.mark.slow
def test_random_orders_and_sorted_ones_are_not_common(database: Database) -> None:
    """Releases sorted by what both of them show have nothing in common but what both of them show."""
    rows = persons()
    draw = random.Random(4)
    for key in (None, "code"):
        ours = draw.sample(released(rows, (1, 2)), 200)
        theirs = draw.sample(released(rows, (1, 1)), 200)
        if key is not None:
            ours.sort(key=lambda row: row["code"])
            theirs.sort(key=lambda row: row["code"])
        attack = attacked(database, rows, ours, theirs, k=30)
        assert (attack.examined, attack.exposed, attack.risk) == (200, 0, None) or key is not None
        assert attack.exposed == 0 or "may have one order" in attack.notes[0]
    ours, theirs = (draw.sample(released(rows, levels), 200) for levels in ((0, 1), (1, 0)))
    for table in (ours, theirs):
        table.sort(key=lambda row: (row["code"][0], row["age"][0]))
    assert attacked(database, rows, ours, theirs).exposed == 0


@pytest.mark.slow
def test_our_own_releases_pass(database: Database) -> None:
    make(database, "s", persons(), NAMES)
    for number in range(3):
        low = {"code": {"prefix": [1], "minimum_level": (0, 1, 2)[number]}, "age": {"prefix": [1]}}
        spec = persons_spec(release=f"r{number}", quasi_identifiers=low)
        assert kanon_sql.anonymize(database.engine, spec).passed
    result = audit(database.engine, persons_spec(release="r0"), earlier=["r1", "r2"], attacks=["unsorted"])
    assert result.passed
    assert all(attack.exposed == 0 for attack in result.attacks)


def test_sensitive_values_and_keys_that_both_show_tell_the_order(database: Database) -> None:
    """Quasi-identifiers at their top fit every row; the values beside them do not."""
    rows = [(str(number % 3), str(number)) for number in range(30)]
    database.table("s", ["q", "d"], rows)
    database.table("r", ["q", "d"], [("*", d) for _, d in rows])
    for name, order in (("old", rows), ("other", rows[::-1])):
        database.table(name, ["q", "d"], order)
    result = audit(database.engine, small_spec(privacy=[{"k_anonymity": 12}]), earlier=["old", "other"],
                   attacks=["unsorted"])  # fmt: skip
    found = by_name(result)
    assert (found["unsorted with old"].exposed, found["unsorted with other"].exposed) == (30, 0)


# --- What cannot be joined ------------------------------------------------------------------------------


@pytest.mark.slow
def test_releases_of_other_lengths_are_named(database: Database) -> None:
    rows = persons()
    for name, levels, count in (("s", (0, 0), 200), ("r", (0, 2), 200), ("old", (2, 0), 199), ("same", (2, 1), 200)):
        make(database, name, released(rows, levels)[:count], NAMES)
    result = audit(database.engine, persons_spec(), earlier=["old", "same"])
    assert "r has 200 rows and old 199" in result.left_out["unsorted with old"]
    assert "unsorted with same" in by_name(result)
    with pytest.raises(UnsupportedError, match="attack unsorted with old: r has 200 rows"):
        audit(database.engine, persons_spec(), earlier=["old"], attacks=["unsorted"])


@pytest.mark.slow
def test_a_view_has_no_order(database: Database) -> None:
    make(database, "s", persons(), NAMES)
    make(database, "r", released(persons(), (1, 1)), NAMES)
    database.connection.execute("CREATE VIEW old AS SELECT * FROM r")
    result = audit(database.engine, persons_spec(), earlier=["old"])
    assert "old is not a table" in result.left_out["unsorted with old"]
    assert "unsorted" not in {attack.name for attack in result.attacks}


def test_labels_of_other_hierarchies_are_refused(database: Database) -> None:
    make(database, "s", persons(), NAMES)
    make(database, "r", released(persons(), (1, 1)), NAMES)
    make(database, "old", [{"code": "x", "age": "y"}] * 200, NAMES)
    with pytest.raises(SpecError, match="old: none of its rows has labels"):
        audit(database.engine, persons_spec(), earlier=["old"], attacks=["unsorted"])


def test_a_source_without_an_order_is_no_obstacle(sweeney: Database) -> None:
    spec = Spec.from_dict({**sweeney_spec("gt2").to_dict(), "source": {"query": "SELECT * FROM pt"}})
    (attack,) = audit(sweeney.engine, spec, earlier=["gt1"], attacks=["unsorted"]).attacks
    assert attack.exposed == 12
    assert "not compared with the source's" in attack.notes[-1]


# --- The evidence -----------------------------------------------------------------------------------------


def evidence(pairs: Sequence[tuple[int, int]], source: Sequence[tuple[int, int]]) -> Evidence:
    held, possible = Counter(pairs), Counter(source)
    cells = [Cell(*pair, held[pair], possible[pair]) for pair in {*held, *possible}]
    return evidence_of(cells)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("ours", "theirs", "count"), [(3, 3, 9), (4, 5, 40), (8, 10, 200), (2, 2, 60)])
def test_the_deviation_is_that_of_many_random_orders(ours: int, theirs: int, count: int) -> None:
    """Against two thousand orders: the mean is the mean, and the deviation about theirs."""
    draw = random.Random(count)
    source = [(draw.randrange(ours), draw.randrange(theirs)) for _ in range(count)]
    others = [b for _, b in source]
    returned = []
    deviations = []
    for _ in range(2000):
        draw.shuffle(others)
        found = evidence([(a, b) for (a, _), b in zip(source, others, strict=True)], source)
        returned.append(found.returned)
        deviations.append(found.deviations)
    mean = sum(deviations) / len(deviations)
    spread = (sum((item - mean) ** 2 for item in deviations) / len(deviations)) ** 0.5
    if len(Counter(source)) == ours * theirs:  # one block: every order was among them
        assert abs(mean) < 0.1
    assert spread < 1.5
    assert max(deviations) < 5, "none of them is called a common order"
    assert all(found <= count for found in returned)


def test_a_block_of_four_is_exact() -> None:
    """Two classes of two on each side, each pair once: 4 are returned in two of three orders, else 2; 10/3 on average.

    A cell holds something in five of six orders, so that the variances of four cells are 4 * 5/36.
    """
    source = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert evidence(source, source) == Evidence(4, 4, pytest.approx((4 - 10 / 3) / (20 / 36) ** 0.5))
    other = evidence([(0, 0), (0, 0), (1, 1), (1, 1)], source)
    assert (other.returned, other.contradictions, other.common) == (2, 2, False)
    assert evidence([], []).common is False


# --- Every engine that numbers rows -------------------------------------------------------------------------


@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS])
def test_every_engine_returns_the_source_or_says_why_not(name: str) -> None:
    columns = {"race": "text", "zip": "text"}
    with subject_of(name) as subject:
        for table, rows in (("pt", PT), ("gt1", GT1), ("gt2", GT2)):
            subject.table(table, columns, [tuple(row.values()) for row in rows])
        with closing(subject.connect(read_only=name not in ("duckdb", "clickhouse", "spark"))) as engine:
            options: dict[str, Any] = {"earlier": ["gt1"], "attacks": ["unsorted"], "reveal": 2}
            if name not in ("duckdb", "postgres", "sqlite"):
                with pytest.raises(
                    UnsupportedError, match="no physical row identifier, so the order of a table's rows"
                ):
                    audit(engine, sweeney_spec("gt2"), **options)
                return
            (attack,) = audit(engine, sweeney_spec("gt2"), **options).attacks
    assert (attack.examined, attack.exposed, attack.beyond, attack.risk) == (12, 12, 12, 1.0)
    assert len(attack.revealed or ()) == 2
