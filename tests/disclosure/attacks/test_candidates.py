"""Who a released row may be, where labels overlap: ``audit`` of local recoding, suppressed cells and ranges, by hand.

A person's candidates are all released rows whose labels cover the person's values, whichever class they are in: that is
what a reader finds who takes a suppressed cell for one that matches anything.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import isclose
from typing import Any

import pytest
from hypothesis import event, given

import kanon_sql
from kanon_sql.disclosure.attacks import Attack
from tests.conftest import Database
from tests.oracles.mondrian import MondrianProblem, set_of
from tests.recode.test_mondrian import problems, published
from tests.recode.test_mondrian import spec as of_mondrian
from tests.support.strategies import examples

TREE = {"south": {"s1": ["a", "b"], "s2": ["c", "d"]}, "north": {"n1": ["e"], "n2": ["f"]}}
PATHS = {value: (value, low, high, "*") for high, below in TREE.items() for low, own in below.items() for value in own}
PATHS[None] = (None, None, None, "*")

Covers = Callable[[Sequence[Any], Sequence[Any]], bool]


def on_path(labels: Sequence[Any], values: Sequence[Any]) -> bool:
    return all(label in PATHS[value] for label, value in zip(labels, values, strict=True))


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": {"x": {"tree": TREE}, "y": {"tree": TREE}},
            "sensitive": ["s"],
            "privacy": [{"k_anonymity": 3}],
            "suppression": {"max_rows": 4},
            **changes,
        }
    )


def people(database: Database, seed: int) -> list[tuple[Any, ...]]:
    draw = random.Random(seed)
    cells = [*"abcdef", None]
    rows = [(draw.choice(cells), draw.choice(cells), draw.choice("pqrst")) for _ in range(40)]
    database.table("people", ["x", "y", "s"], rows)
    return rows


def named(found: Sequence[Attack], name: str) -> Attack:
    return next(attack for attack in found if attack.name == name)


def assert_counted(attack: Attack, matches: Sequence[int], k: int) -> None:
    """The attack examined these records and found how many rows each may be; none is no row to be found in."""
    assert attack.examined == len(matches)
    assert attack.exposed == sum(0 < count < k for count in matches)
    least = min((count for count in matches if count), default=None)
    assert (attack.risk is None) == (least is None)
    assert least is None or isclose(attack.risk or 0, 1 / least)


@pytest.mark.slow
@pytest.mark.parametrize("recoding", ["local", {"method": "local", "variant": "best"}, "cells"])
def test_the_candidates_of_a_person_are_all_rows_that_cover_them(database: Database, recoding: Any) -> None:
    """They are more than their class, which is the safe direction: nobody has fewer than k."""
    larger = 0
    for seed in range(3):
        rows = people(database, seed)
        used = spec(recoding=recoding)
        assert kanon_sql.anonymize(database.engine, used).passed
        released = database.rows("people_release")
        candidates = [sum(on_path(row[:2], person[:2]) for row in released) for person in rows]
        result = kanon_sql.audit(database.engine, used, external="people", on=["x", "y"])
        for name in ("consistency (1,k)", "linking"):
            assert_counted(named(result.attacks, name), candidates, 3)
        behind = [sum(on_path(row[:2], person[:2]) for person in rows) for row in released]
        assert_counted(named(result.attacks, "consistency (k,1)"), behind, 3)
        assert result.passed or all(attack.name == "homogeneity" for attack in result.attacks if attack.failed)
        assert all(count == 0 or count >= 3 for count in candidates)
        of_class = [sum(row[:2] == other[:2] for other in released) for row in released]
        larger += sum(candidates) > sum(of_class)
    assert larger, "labels of different classes overlap in one of these tables"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("recoding", ["local", "cells"])
def test_fewer_candidates_than_k_are_counted(database: Database, recoding: str) -> None:
    """A release for k = 2, and a reader who wants five."""
    rows = people(database, 4)
    assert kanon_sql.anonymize(database.engine, spec(recoding=recoding, privacy=[{"k_anonymity": 2}])).passed
    released = database.rows("people_release")
    asked = spec(recoding=recoding, privacy=[{"k_anonymity": 5}])
    result = kanon_sql.audit(database.engine, asked, attacks=["consistency"])
    candidates = [sum(on_path(row[:2], person[:2]) for row in released) for person in rows]
    assert_counted(named(result.attacks, "consistency (1,k)"), candidates, 5)
    assert any(count < 5 for count in candidates)


@pytest.mark.slow
@pytest.mark.parametrize("recoding", ["local", "cells"])
def test_what_two_releases_with_overlapping_labels_tell_together(database: Database, recoding: str) -> None:
    """In each release the values of all rows that a person may be; in both, those that are in each."""
    rows = people(database, 5)
    first = spec(recoding=recoding, privacy=[{"k_anonymity": 2}], release="first_release")
    second = spec(recoding={"method": "local", "variant": "best"})
    assert kanon_sql.anonymize(database.engine, first).passed
    assert kanon_sql.anonymize(database.engine, second).passed
    tables = [database.rows(name) for name in ("people_release", "first_release")]
    left = []
    for *values, own in rows:
        told = [{row[2] for row in table if on_path(row[:2], values)} for table in tables]
        if all(own in found for found in told):
            left.append(len(told[0] & told[1]))
    result = kanon_sql.audit(database.engine, second, earlier=["first_release"], attacks=["composition"])
    (attack,) = result.attacks
    assert attack.exposed == sum(count < 2 for count in left)
    assert isclose(attack.risk or 0, 1 / min(left))


@pytest.mark.slow
def test_two_releases_by_one_recoding_tell_no_more_than_one_of_them(database: Database) -> None:
    """People who are in both, at the same levels: who was among k rows is among k rows that are in both."""
    rows = people(database, 6)
    used = spec(recoding={"save_as": "learned"}, suppression={"max_rows": 0})
    assert kanon_sql.anonymize(database.engine, used).passed
    assert kanon_sql.apply(database.engine, used, "learned", source="people", release="again").passed
    result = kanon_sql.audit(database.engine, used, earlier=["again"], attacks=["complementary"])
    assert not result.attacks[0].beyond
    database.table("some", ["x", "y", "s"], [row for row in rows if row[0] is not None])
    applied = kanon_sql.apply(
        database.engine, spec(suppression={"max_share": 0.9}), "learned", source="some", release="part"
    )
    assert applied.passed


# --- ranges -----------------------------------------------------------------------------------


@pytest.mark.slow
@given(problem=problems())
@examples(4)
def test_ranges_are_read_as_the_values_between_their_ends(shared_database: Database, problem: MondrianProblem) -> None:
    result = published(shared_database, problem)
    event(result.verdict)
    if not result.passed or not problem.rows:
        return
    columns = {name: [row[name] for row in problem.rows] for name in problem.columns}
    labels = [row[: len(columns)] for row in shared_database.rows("people_release")]
    tree = {"tree": {"some": problem.columns["step"].values[:3], "more": problem.columns["step"].values[3:]}} if (
        "step" in columns
    ) else {}  # fmt: skip
    given = {name: dict(tree) if ordered.listed else {} for name, ordered in problem.columns.items()}
    asked = of_mondrian(given, privacy=[{"k_anonymity": 3}], sensitive=["s0"])
    found = kanon_sql.audit(shared_database.engine, asked, attacks=["consistency"])
    sets = [
        [
            set_of(label, ordered, columns[name])
            for label, (name, ordered) in zip(row, problem.columns.items(), strict=True)
        ]
        for row in labels
    ]
    persons = list(zip(*columns.values(), strict=True))
    covering = [
        [all(value in own for value, own in zip(person, row, strict=True)) for row in sets] for person in persons
    ]
    assert_counted(named(found.attacks, "consistency (1,k)"), [sum(line) for line in covering], 3)
    assert_counted(named(found.attacks, "consistency (k,1)"), [sum(line) for line in zip(*covering, strict=True)], 3)


def ages(database: Database, rows: Sequence[Sequence[Any]]) -> None:
    database.table("people_release", {"age": "VARCHAR"}, rows)


def test_a_range_that_could_be_read_in_two_ways_is_none(database: Database) -> None:
    """`[a, b, c]` is from `a` to `b, c`, or from `a, b` to `c`: it is taken for neither, which protects nobody."""
    database.table("people", ["age"], [("a",), ("a, b",), ("b, c",), ("c",), ("x",)])
    asked = of_mondrian({"age": None}, keep=[])
    ages(database, [("[a, b, c]",), ("[c, x]",)])
    result = kanon_sql.audit(database.engine, asked, attacks=["linking"], external="people", on=["age"])
    assert result.attacks[0].risk == 1
    assert result.attacks[0].exposed == 2
    ages(database, [("x",), ("<= x",), ("not NULL",)])
    result = kanon_sql.audit(database.engine, asked, attacks=["linking"], external="people", on=["age"])
    assert (result.attacks[0].exposed, result.attacks[0].risk) == (0, 1 / 2)


def test_ranges_of_other_recodings_are_no_labels(database: Database) -> None:
    database.table("people", {"age": "INTEGER"}, [(age,) for age in (1, 2, 3)])
    ages(database, [("[1, 3]",)] * 3)
    asked = of_mondrian({"age": None}, keep=[], recoding="local")
    with pytest.raises(kanon_sql.KanonError, match="made of other records, or with other hierarchies"):
        kanon_sql.audit(database.engine, asked, attacks=["consistency"])
