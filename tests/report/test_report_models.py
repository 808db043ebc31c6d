"""The report beside privacy models of all kinds, chosen intervals, audits, and values that a user asked to see."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.evaluate.class_counts import distance_edges
from kanon_sql.report.html import html_report, run_report
from kanon_sql.report.pictures import pictures_of
from kanon_sql.report.run import LEFT_OUT, read_run
from kanon_sql.verbs.compare import with_k
from kanon_sql.verbs.details import Details
from tests.support.command_line import SECRET, SPEC, make_clinic, run

TREE = {"low": {"few": ["1", "2"], "some": ["3"]}, "high": {"many": ["7", "9"]}}
PATHS = {1: ("few", "low"), 2: ("few", "low"), 3: ("some", "low"), 7: ("many", "high"), 9: ("many", "high")}
ROWS = [("11", 1), ("11", 2), ("11", 3), ("12", 9), ("12", 9), ("12", 7), ("21", 1), ("21", 9), ("21", 2), ("21", 3)]
CLOSENESS: list[dict[str, Any]] = [
    {"t_closeness": {"attribute": "days", "t": 0.9}},
    {"t_closeness": {"attribute": "days", "t": 0.7, "distance": "ordered"}},
    {"t_closeness": {"attribute": "days", "t": 0.8, "distance": "hierarchical", "hierarchy": {"tree": TREE}}},
]


def spec_of(**more: Any) -> kanon_sql.Spec:
    given = {
        "version": 1,
        "source": "people",
        "quasi_identifiers": {"zip": {"prefix": [1]}},
        "sensitive": ["days"],
        "privacy": [{"k_anonymity": 2}, *CLOSENESS],
        **more,
    }
    return kanon_sql.Spec.from_dict(given)


def details_of(result: kanon_sql.results.Plan | kanon_sql.results.Release | kanon_sql.results.Check) -> Details:
    assert result.details is not None
    return result.details


def shares(values: Sequence[Any], domain: Sequence[Any]) -> list[Fraction]:
    return [Fraction(sum(1 for value in values if value == one), len(values)) for one in domain]


def equal(own: Sequence[Any], whole: Sequence[Any]) -> Fraction:
    domain = sorted(set(whole))
    return sum(map(abs, (p - q for p, q in zip(shares(own, domain), shares(whole, domain), strict=True)))) / Fraction(2)


def ordered(own: Sequence[int], whole: Sequence[int]) -> Fraction:
    domain = sorted(set(whole))
    parts = [p - q for p, q in zip(shares(own, domain), shares(whole, domain), strict=True)]
    return sum(map(abs, accumulate(parts)), Fraction(0)) / (len(domain) - 1)


def hierarchical(own: Sequence[int], whole: Sequence[int]) -> Fraction:
    levels = [lambda value: value, lambda value: PATHS[value][0], lambda value: PATHS[value][1]]
    return sum(
        (equal([up(value) for value in own], [up(value) for value in whole]) for up in levels), Fraction(0)
    ) / len(levels)


@pytest.fixture
def people(database: Any) -> Any:
    database.table("people", {"zip": "VARCHAR", "days": "INTEGER"}, ROWS)
    return database.engine


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("verb", ["plan", "check"])
def test_a_distance_is_measured_as_it_was_asked_for(people: Any, verb: str) -> None:
    if verb == "plan":
        found = details_of(kanon_sql.plan(people, spec_of(), details=True))
    else:
        found = details_of(kanon_sql.check(people, spec_of(), "people", details=True))
    whole = [days for _, days in ROWS]
    classes = [[days for zip_, days in ROWS if zip_ == one] for one in ("11", "12", "21")]
    told = found.tables[0].distances
    assert [(item.attribute, item.distance, item.t) for item in told] == [
        ("days", "equal", 0.9), ("days", "ordered", 0.7), ("days", "hierarchical", 0.8),
    ]  # fmt: skip
    for item, measure in zip(told, (equal, ordered, hierarchical), strict=True):
        assert item.t is not None
        ends = distance_edges([item.t])
        by_hand = Counter(
            min(end for end in ends if measure(own, whole) <= Fraction(end) + Fraction(1, 10**9)) for own in classes
        )
        assert {one.high: one.classes for one in item.ranges} == by_hand, item.distance
    titles = [picture.title for name, picture in pictures_of(read_run(
        {"verb": verb, "details": found.to_dict()}, "here")).items() if name.startswith("distances-")]  # fmt: skip
    assert titles == [f"Distance of days in the classes{by}" for by in ("", ", by rank", ", by hierarchy")]


def test_a_value_without_a_rank_has_no_distance(database: Any) -> None:
    database.table("people", {"zip": "VARCHAR", "days": "INTEGER"}, ROWS)
    database.table("other", {"zip": "VARCHAR", "days": "INTEGER"}, [*ROWS, ("31", 5), ("31", 1)])
    ordered_only = spec_of(privacy=[CLOSENESS[1]])
    result = kanon_sql.check(database.engine, ordered_only, "other", details=True)
    assert not result.passed
    (told,) = details_of(result).tables[0].distances
    assert [item.classes for item in told.ranges if item.high is None] == [1]
    assert "the distance of 1 class is not defined" in html_report(result)


def test_requirements_on_other_classes_are_not_drawn_over_these(people: Any) -> None:
    """Neither their k nor their t says anything about classes of all quasi-identifiers."""
    more = {"quasi_identifiers": {"zip": None, "days": None}, "sensitive": []}
    some = spec_of(**more, privacy=[{"k_anonymity": {"k": 4, "quasi_identifiers": ["zip"]}}, {"k_anonymity": 1}])
    found = details_of(kanon_sql.check(people, some, "people", details=True))
    assert (found.k, [(item.low, item.high) for item in found.tables[0].sizes]) == (1, [(1, 1), (2, 4)])


@pytest.mark.parametrize(
    "privacy",
    [
        {"alpha_k_anonymity": {"attribute": "days", "alpha": 0.9, "k": 3}},
        {"p_sensitive_k_anonymity": {"attribute": "days", "p": 1, "k": 3}},
    ],
)
def test_every_k_is_a_k(people: Any, privacy: dict[str, Any]) -> None:
    found = details_of(kanon_sql.plan(people, spec_of(privacy=[privacy]), details=True))
    assert found.k == 3
    assert 3 in {item.low for item in found.tables[0].sizes}
    assert found.tables[-1].risk is not None
    assert found.tables[-1].risk.above == 0
    with pytest.raises(SpecError, match="has its own k, which --k does not change"):
        with_k(spec_of(privacy=[{"k_anonymity": 2}, privacy]), 5)


@pytest.mark.slow
def test_chosen_intervals_have_a_report(database: Any, tmp_path: Path) -> None:
    rows = [(age, "x") for age in (1, 1, 2, 3, 5, 8, 8, 9)]
    database.table("people", {"age": "INTEGER", "dx": "VARCHAR"}, rows)
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "ages",
            "quasi_identifiers": {"age": {"intervals": [5]}},
            "privacy": [{"k_anonymity": 3}],
            "search": {"algorithm": "k_optimize"},
        }
    )
    for verb in (kanon_sql.plan, kanon_sql.anonymize):
        result = verb(database.engine, spec, details=True)
        found = details_of(result)
        source, release = found.tables
        assert {item.low: (item.classes, item.records) for item in source.sizes} == {1: (4, 4), 2: (2, 4)}
        assert (release.classes, release.records) == (result.classes["count"], 8)
        assert release.risk is not None
        assert release.risk.highest == 1 / (result.classes["smallest"] or 0)
        (age,) = found.attributes
        assert (age.level, age.minimum, age.maximum, age.height) == (1, 0, 2, 2)
        assert age.loss == pytest.approx(result.metrics["loss"])
        assert (found.lattice, found.solutions) == (None, ())
        page = html_report(result)
        assert "Level 1 is an interval of values that the search chose" in page
        assert " of 0" not in page, "a partition is none of any number of nodes"
    manifest = read_run(result.manifest, "here")
    assert manifest.intervals == result.intervals


def test_revealed_values_are_in_no_report(tmp_path: Path) -> None:
    make_clinic(tmp_path / "clinic.duckdb")
    (tmp_path / "spec.yml").write_text(SPEC.replace("identifiers: [name]", ""))
    arguments = [tmp_path / "spec.yml", "-d", tmp_path / "clinic.duckdb", "--format", "json"]
    shown = run("check", *arguments, "--table", "visits", "--set", "reveal=20", "-o", tmp_path / "check.html")
    data = json.loads(shown.stdout)
    values = {str(value) for item in data["revealed"] for value in item["values"].values() if value is not None}
    assert values
    pages = [(tmp_path / "check.html").read_text(), run_report(read_run(data, "here"))]
    for page in pages:
        assert LEFT_OUT in page
        assert not [value for value in values if f">{value}<" in page]
        assert "revealed" not in page.lower()
    named = read_run({"verb": "plan", "node": {"revealed": 1}, "notes": []}, "here")
    assert (named.node, named.notes) == ({"revealed": 1}, [])


@pytest.mark.slow
def test_an_audit_can_be_read(tmp_path: Path) -> None:
    make_clinic(tmp_path / "clinic.duckdb")
    (tmp_path / "spec.yml").write_text(SPEC)
    arguments = [tmp_path / "spec.yml", "-d", tmp_path / "clinic.duckdb"]
    assert run("anonymize", *arguments).exit_code == 0
    shown = run("audit", *arguments, "--external", "visits", "--format", "json", "--reveal", "5")
    data = json.loads(shown.stdout)
    (tmp_path / "audit.json").write_text(shown.stdout)
    page = run("report", tmp_path / "audit.json").stdout
    for words in ("Attacks</h2>", "Not run</h2>", "homogeneity of diagnosis", "largest share of one value in a class"):
        assert words in page
    assert ">estimate<" not in page, "what every attack says alike is no column"
    assert SECRET not in page
    assert ("FAIL" in page) == (data["verdict"] == "fail")
    assert (LEFT_OUT in page) == any(item.get("revealed") for item in data["attacks"])
    data["attacks"][0]["revealed"] = [{"values": {"name": SECRET}, "people": 1}]
    page = run_report(read_run(data, "here"))
    assert SECRET not in page
    assert LEFT_OUT in page


def test_class_sizes_are_drawn_without_details(people: Any) -> None:
    result = kanon_sql.check(people, spec_of(), "people")
    page = html_report(result)
    assert page.count("<svg") == 1
    assert "Class sizes</h2>" not in page, "they stand with the classes, and not again among what is not known"
