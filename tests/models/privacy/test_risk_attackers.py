"""Risk requirements by attacker: the journalist's and the marketer's, in a population or by an estimate."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import UnsupportedError
from kanon_sql.models import critical_size, model_of
from kanon_sql.spec import Spec, parse_requirement
from tests.conftest import Database
from tests.oracles.model import generalize, height_of
from tests.oracles.population import judged, move, persons_of, released, several, stored, to_release
from tests.support.pitfalls import spec_of
from tests.support.specs import make, refusals
from tests.support.strategies import examples
from tests.support.suppressions import suppressing

Classes = Sequence[tuple[int, int]]
"""Per class: records, and persons of the population."""


def exactly(number: float) -> Fraction:
    return Fraction(str(number))


def average_of(attacker: str, classes: Classes) -> Fraction | None:
    """By the definitions, record by record."""
    records = sum(f for f, _ in classes)
    if not records:
        return None
    each = [Fraction(1, persons) if persons else Fraction(1) for f, persons in classes for _ in range(f)]
    matched = sum(each, Fraction(0)) / records
    people = sum(persons for _, persons in classes)
    if attacker == "marketer" or not people:
        return matched
    return max(matched, Fraction(len(classes), people))


def share_above(highest: float, classes: Classes) -> Fraction:
    records = sum(f for f, _ in classes)
    above = sum(f for f, persons in classes if not persons or Fraction(1, persons) > exactly(highest))
    return Fraction(above, records) if records else Fraction(0)


def holds_of_class(asked: Mapping[str, Any], records: int, persons: int) -> bool:
    """What a class is asked by itself: that nobody in it is missing in the population, and that it is safe."""
    least = 1 if asked.get("records_at_risk") or "highest" not in asked else 1 / exactly(asked["highest"])
    return 0 < persons >= records and persons >= least


def holds_of_all(asked: Mapping[str, Any], classes: Classes) -> bool:
    average = average_of(asked["attacker"], classes)
    if average is None:
        return False
    few = "highest" not in asked or share_above(asked["highest"], classes) <= exactly(asked.get("records_at_risk", 0))
    return few and ("average" not in asked or average <= exactly(asked["average"]) + Fraction(1, 10**9))


@st.composite
def thresholds(draw: st.DrawFn) -> dict[str, Any]:
    attacker = draw(st.sampled_from(["journalist", "marketer"]))
    risks = st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.34, 0.4, 0.5, 0.6, 0.75, 1.0])
    highest = draw(st.one_of(st.none(), risks)) if attacker == "journalist" else None
    average = draw(risks) if highest is None else draw(st.one_of(st.none(), risks))
    found = {"attacker": attacker, "population": "census", "average": average, "highest": highest}
    if highest is not None:
        found["records_at_risk"] = draw(st.sampled_from([None, 0.1, 0.25, 0.5]))
    return {name: value for name, value in found.items() if value is not None}


@examples(25)
@given(released(), thresholds())
def test_check_against_the_oracle(shared_database: Database, given: dict[str, Any], asked: dict[str, Any]) -> None:
    tables, people, rows, unit = given["tables"], given["people"], given["rows"], given["unit"]
    shared_database.table("released", [*tables, "unit"], [[row[c] for c in (*tables, "unit")] for row in rows])
    shared_database.table("source", [*tables, "unit"], [])
    names = [*tables, *([] if given["who"] is None else [given["who"]])]
    shared_database.table("census", names, [[row[c] for c in names] for row in people])
    if given["who"] is not None and unit is None:
        asked = {**asked, "person": given["who"]}
    spec = Spec.from_dict(
        {
            "version": 1, "source": "source", "release": "released", "unit": unit,
            "quasi_identifiers": stored(shared_database, tables), "privacy": [{"risk": asked}],
        }
    )  # fmt: skip
    if move(people, tables, given["who"]) or several(rows, people, tables):
        with pytest.raises(UnsupportedError, match="several classes"):
            kanon_sql.check(shared_database.engine, spec)
        return
    classes = judged(rows, people, tables, unit, given["who"])
    counted = [(records, persons) for _, records, persons in classes]
    result = kanon_sql.check(shared_database.engine, spec)
    (found,) = result.achieved.values()
    fine = holds_of_all(asked, counted)
    bad = [item for item in classes if not (fine and holds_of_class(asked, item[1], item[2]))]
    event(f"{len(bad)} of {len(classes)}")
    assert found["violating_classes"] == len(bad)
    assert found["violating_rows"] == sum(item[0] for item in bad)
    assert result.passed == (not bad and result.rows["source"] > 0)
    average = average_of(asked["attacker"], counted)
    assert found["average"] == (None if average is None else pytest.approx(float(average)))
    if classes and average is not None and "highest" in asked:
        assert found["records_at_risk"] == pytest.approx(float(share_above(asked["highest"], counted)))


def suppressed_at(given: Mapping[str, Any], asked: Mapping[str, Any], node: tuple[int, ...]) -> int:
    """Rows that a node suppresses: those of classes that violate, and all if what is left is not within thresholds."""
    tables, unit, rows = given["tables"], given["unit"], given["rows"]
    ours, theirs = generalize(rows, tables, node), generalize(given["people"], tables, node)
    kept: list[tuple[int, int, int]] = []
    for vector in set(ours):
        members = [row for row, own in zip(rows, ours, strict=True) if own == vector]
        records = len(members) if unit is None else len({row[unit] for row in members})
        alike = [person for person, own in zip(given["people"], theirs, strict=True) if own == vector]
        persons = persons_of(alike, given["who"])
        if holds_of_class(asked, records, persons):
            kept.append((len(members), records, persons))
    fine = holds_of_all(asked, [(records, persons) for _, records, persons in kept])
    return len(rows) - (sum(item[0] for item in kept) if fine else 0)


@pytest.mark.slow
@examples(20)
@given(to_release(), thresholds(), st.sampled_from(["optimal", "incognito", "exhaustive", "samarati"]))
def test_every_search_finds_what_the_oracle_allows(
    shared_database: Database, given: dict[str, Any], asked: dict[str, Any], algorithm: str
) -> None:
    tables, rows = given["tables"], given["rows"]
    for name in ("released", "kanon_sql_manifest", "kanon_sql_scratch"):
        shared_database.connection.execute(f"DROP TABLE IF EXISTS {name}")
    shared_database.table("people", [*tables, "unit"], [[row[c] for c in (*tables, "unit")] for row in rows])
    names = [*tables, *([] if given["who"] is None else [given["who"]])]
    shared_database.table("census", names, [[row[c] for c in names] for row in given["people"]])
    if given["who"] is not None and given["who"] != given["unit"]:
        asked = {**asked, "person": given["who"]}
    spec = Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "unit": given["unit"],
            "quasi_identifiers": stored(shared_database, tables), "privacy": [{"risk": asked}],
            "suppression": suppressing(given["limit"]),
            "search": {"algorithm": "optimal" if algorithm == "samarati" else algorithm, "metric": "height"},
        }
    )  # fmt: skip
    if move(given["people"], tables, given["who"]):
        with pytest.raises(UnsupportedError, match="have rows that differ in the quasi-identifiers"):
            kanon_sql.anonymize(shared_database.engine, spec)
        return
    nodes = list(product(*(range(height_of(table) + 1) for table in tables.values())))
    lost = {node: suppressed_at(given, asked, node) for node in nodes}
    fine = [node for node, count in lost.items() if count <= given["limit"] and count < len(rows)]
    found = kanon_sql.anonymize(shared_database.engine, spec)
    event(f"{'found' if fine else 'nothing'}")
    assert found.passed == bool(fine)
    if not fine or found.node is None:
        return
    node = tuple(found.node.values())
    assert found.rows["suppressed"] == lost[node]
    assert sum(node) == min(map(sum, fine))
    if given["unit"] is None:
        assert kanon_sql.check(shared_database.engine, spec).passed


def test_a_class_that_stands_for_nobody_is_the_worst_there_is(database: Database) -> None:
    """One record of four is of nobody in the population: its risk is 1, and not left out of the average."""
    database.table("census", ["q"], [["a"]] * 30)
    database.table("people", ["q"], [["a"]] * 3 + [["b"]])
    asked = {"attacker": "marketer", "population": "census", "average": 0.2}
    (found,) = kanon_sql.check(
        database.engine, spec_of(["q"], [{"risk": asked}], sensitive=[]), "people"
    ).achieved.values()
    assert found["average"] == pytest.approx((3 / 30 + 1) / 4)
    assert found["violating_rows"] == 4


def test_a_class_of_more_records_than_persons_violates(database: Database) -> None:
    """Somebody of the three is not in the population, so what it tells of them is not believed."""
    database.table("census", ["q"], [["a"]] * 2 + [["b"]] * 9)
    database.table("people", ["q"], [["a"]] * 3 + [["b"]])
    for asked in ({"attacker": "journalist", "highest": 0.5}, {"attacker": "marketer", "average": 1}):
        spec = spec_of(["q"], [{"risk": {"population": "census", **asked}}], sensitive=[])
        (found,) = kanon_sql.check(database.engine, spec, "people").achieved.values()
        assert found["violating_rows"] == 3


@pytest.mark.slow
def test_by_hand(database: Database) -> None:
    """Classes of 2 and 1 that stand for 10 and 4: matching records 2/10 + 1/4 of 3, matching people 2 of 14."""
    database.table("census", ["q"], [["a"]] * 10 + [["b"]] * 4 + [["c"]])
    database.table("people", ["q"], [["a"], ["a"], ["b"]])

    def check(**asked: Any) -> dict[str, Any]:
        spec = spec_of(["q"], [{"risk": {"population": "census", **asked}}], sensitive=[])
        result = kanon_sql.check(database.engine, spec, "people")
        assert any("census is taken to be the population" in note for note in result.notes)
        (found,) = result.achieved.values()
        return dict(found)

    found = check(attacker="journalist", average=0.15, highest=0.25)
    assert found == {
        "requirement": "journalist in census: average risk 0.15, highest risk 0.25",
        "average": pytest.approx(0.15), "records_at_risk": 0.0, "violating_classes": 0, "violating_rows": 0,
    }  # fmt: skip
    assert check(attacker="journalist", average=0.149)["violating_rows"] == 3
    assert check(attacker="journalist", highest=0.24)["violating_rows"] == 1, "each class answers for itself"
    assert check(attacker="journalist", highest=0.1, records_at_risk=0.34)["violating_rows"] == 0
    assert check(attacker="marketer", average=0.15)["violating_rows"] == 0


def test_a_marketer_without_a_population_matches_the_table_with_itself(database: Database) -> None:
    database.table("people", ["q"], [["a"], ["a"], ["b"], ["b"]])
    spec = spec_of(
        ["q"], [{"risk": {"attacker": "marketer", "average": 0.5}}, {"risk": {"average": 0.4}}], sensitive=[]
    )
    achieved = kanon_sql.check(database.engine, spec, "people").achieved
    assert achieved["risk(marketer)"]["violating_rows"] == 0
    assert achieved["risk"]["violating_rows"] == 4


def test_a_journalists_risk_by_an_estimate_asks_for_the_critical_size(database: Database) -> None:
    database.table("people", ["q"], [["a"]] * 2 + [["b"]] * 3 + [["c"]] * 4)
    asked = {"attacker": "journalist", "sampling_fraction": 0.05, "highest": 0.1}
    assert critical_size(10, 0.05, 0.01) == 4
    result = kanon_sql.check(database.engine, spec_of(["q"], [{"risk": asked}], sensitive=[]), "people")
    (found,) = result.achieved.values()
    assert found == {
        "requirement": "journalist: highest risk 0.1 by estimate: at least 4 in a class",
        "records_at_risk": pytest.approx(5 / 9), "violating_classes": 2, "violating_rows": 5,
    }  # fmt: skip
    assert any("estimate and not proven" in note for note in result.notes)
    few = {**asked, "records_at_risk": 0.6}
    assert kanon_sql.check(database.engine, spec_of(["q"], [{"risk": few}], sensitive=[]), "people").passed


@pytest.mark.parametrize(
    "more", [{"recoding": "local"}, {"recoding": "mondrian"}, {"search": {"algorithm": "k_optimize"}}]
)
@pytest.mark.parametrize("asked", [{"population": "census"}, {"sampling_fraction": 0.1}])
def test_recodings_that_make_classes_are_refused(
    database: Database, more: dict[str, Any], asked: dict[str, Any]
) -> None:
    for table in ("people", "census"):
        database.table(table, {"q": "INTEGER"}, [[number] for number in range(9)])
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "quasi_identifiers": {"q": {"intervals": [5]}},
            "privacy": [{"risk": {"attacker": "journalist", "highest": 0.5, **asked}}], **more,
        }
        | ({"quasi_identifiers": {"q": None}} if more.get("recoding") != "local" else {})
    )  # fmt: skip
    with pytest.raises(UnsupportedError):
        kanon_sql.plan(database.engine, spec)


@pytest.mark.parametrize(
    ("risk", "message"),
    [
        ({"attacker": "journalist", "highest": 0.1}, "name a 'population' table, or the 'sampling_fraction'"),
        ({"attacker": "journalist", "average": 0.1, "sampling_fraction": 0.1}, "'population' table for the average"),
        (
            {"attacker": "journalist", "highest": 0.1, "sampling_fraction": 0.1, "population": "census"},
            "leave one of both out",
        ),
        ({"attacker": "journalist", "highest": 0.1, "population": "c", "significance": 0.1}, "is for an estimate"),
        ({"attacker": "marketer", "highest": 0.1}, "ask for 'average' alone"),
        ({"attacker": "marketer", "average": 0.1, "sampling_fraction": 0.1}, "no estimate"),
        ({"attacker": "marketer", "average": 0.1, "person": "who"}, "which is missing"),
        ({"average": 0.1, "population": "census"}, "a prosecutor knows"),
        ({"average": 0.1, "sampling_fraction": 0.1}, "a prosecutor knows"),
        ({"average": 0.1, "attacker": "thief"}, "unknown attacker"),
    ],
)
def test_what_a_spec_may_not_say(risk: dict[str, Any], message: str) -> None:
    assert any(message in problem for problem in refusals(privacy=[{"risk": risk}]))


def test_a_spec_reads_back() -> None:
    asked = [
        {"risk": {"average": 0.1}},
        {"risk": {"attacker": "marketer", "average": 0.1, "population": "a.census"}},
        {"risk": {"attacker": "journalist", "highest": 0.1, "sampling_fraction": 0.01, "records_at_risk": 0.0}},
    ]
    spec = make(privacy=asked)
    assert spec.to_dict()["privacy"] == asked
    assert Spec.from_dict(spec.to_dict()) == spec
    labels = {model_of(requirement).key for requirement in spec.privacy}
    assert len(labels) == 3
    assert model_of(parse_requirement(asked[1])).population == ("a", "census")


@pytest.mark.slow
def test_the_largest_of_both_averages(database: Database) -> None:
    """Many classes of few people: matching the people to the table is the larger risk, in exact numbers."""
    rng = random.Random(3)
    for _ in range(10):
        sizes = [(rng.randint(1, 3), rng.randint(3, 9)) for _ in range(6)]
        database.table("people", ["q"], [[str(n)] for n, (f, _) in enumerate(sizes) for _ in range(f)])
        database.table("census", ["q"], [[str(n)] for n, (_, persons) in enumerate(sizes) for _ in range(persons)])
        for attacker in ("journalist", "marketer"):
            asked = {"attacker": attacker, "population": "census", "average": 1}
            spec = spec_of(["q"], [{"risk": asked}], sensitive=[])
            (found,) = kanon_sql.check(database.engine, spec, "people").achieved.values()
            assert found["average"] == pytest.approx(float(average_of(attacker, sizes) or 0))
        measured = kanon_sql.risk(
            database.engine, spec_of(["q"], [{"k_anonymity": 1}], sensitive=[]), population="census"
        )
        assert measured.journalist is not None
        assert measured.journalist.average == pytest.approx(float(average_of("journalist", sizes) or 0))
