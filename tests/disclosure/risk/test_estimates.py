"""Estimates of a population, against exact sums and samples of known populations; and k-map by an estimate."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import comb, exp, isclose, lgamma, log1p
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.disclosure.risk import ESTIMATORS, Histogram, dankar, k_map_estimate, pitman, snb, zayatz
from kanon_sql.disclosure.risk.snb import fit_snb, population_classes
from kanon_sql.errors import UnsupportedError
from kanon_sql.models import critical_size, largest_k, model_of
from kanon_sql.report.json import risk_schema
from kanon_sql.spec import parse_requirement
from tests.conftest import Database
from tests.support.literature import adult_dir, read_csv
from tests.support.pitfalls import spec_of
from tests.support.specs import refusals
from tests.support.strategies import examples

HISTOGRAMS = [
    {1: 100, 2: 1}, {1: 40, 2: 25, 3: 9, 7: 2}, {1: 3, 2: 2, 900: 4}, {1: 500, 2: 90, 3: 30, 4: 20, 11: 9, 60: 5},
]  # fmt: skip


def histogram(records: Sequence[Any]) -> Histogram:
    return Histogram(dict(sorted(Counter(Counter(records).values()).items())), len(records))


# --- the slide negative binomial model --------------------------------------------------------


def chances(alpha: float, log_beta: float) -> Iterator[float]:
    """The probability of a class of 1, 2, ..., 3000: one, and a negative binomial number more."""
    less = log1p(-exp(log_beta))
    for more in range(3000):
        yield exp(lgamma(alpha + more) - lgamma(alpha) - lgamma(more + 1) + alpha * log_beta + more * less)


@pytest.mark.parametrize("sizes", HISTOGRAMS, ids=str)
@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.5, 0.8])
def test_the_fitted_model_expects_the_classes_of_one_and_two_that_there_are(
    sizes: dict[int, int], fraction: float
) -> None:
    """Each record of a class is drawn by itself: the expectations as sums over all sizes, term by term."""
    found = Histogram(sizes, 0)
    classes = population_classes(found, fraction)
    for alpha, log_beta in fit_snb(found, fraction, classes):
        for drawn in (1, 2):
            expected = classes * sum(
                chance * comb(size, drawn) * fraction**drawn * (1 - fraction) ** (size - drawn)
                for size, chance in enumerate(chances(alpha, log_beta), 1)
            )
            assert isclose(expected, sizes[drawn], rel_tol=1e-6), drawn


@pytest.mark.parametrize("sizes", HISTOGRAMS, ids=str)
@pytest.mark.parametrize("fraction", [Fraction(1, 50), Fraction(1, 10), Fraction(4, 5)])
def test_the_classes_of_the_population_in_exact_numbers(sizes: dict[int, int], fraction: Fraction) -> None:
    """Haas and Stokes 1998, the third form of Shlosser's estimator, as it is written there."""
    q, ones = fraction, sizes[1]
    first = sum(i * q**2 * (1 - q**2) ** (i - 1) * f for i, f in sizes.items())
    second = sum((1 - q) ** i * ((1 + q) ** i - 1) * f for i, f in sizes.items())
    third = sum((1 - q) ** i * f for i, f in sizes.items())
    fourth = sum(i * q * (1 - q) ** (i - 1) * f for i, f in sizes.items())
    expected = sum(sizes.values()) + ones * Fraction(first) / second * (third / fourth) ** 2
    assert isclose(population_classes(Histogram(sizes, 0), float(fraction)), expected, rel_tol=1e-9)


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.2), (2.0, 0.6), (0.2, 0.05)])
def test_samples_of_a_population_of_that_model(alpha: float, beta: float) -> None:
    """20,000 classes with sizes of the model, drawn as a Poisson number with a Gamma mean.

    A fifth tells how many are unique if one knows how many classes there are; a half tells that as well.
    """
    rng = random.Random(7)
    people: list[int] = []
    for number in range(20_000):
        mean = rng.gammavariate(alpha, (1 - beta) / beta)
        size, passed = 0, rng.expovariate(1)
        while passed < mean:
            size, passed = size + 1, passed + rng.expovariate(1)
        people += [number] * (size + 1)
    uniques = histogram(people).uniques
    fifth = histogram(rng.sample(people, len(people) // 5))
    ((found_alpha, log_beta),) = fit_snb(fifth, 0.2, 20_000)
    assert 20_000 * exp(found_alpha * log_beta) == pytest.approx(uniques, rel=0.1)
    half = snb(histogram(rng.sample(people, len(people) // 2)), 0.5)
    assert half.uniques == pytest.approx(uniques, rel=0.1)
    assert half.parameters["classes"] == pytest.approx(20_000, rel=0.05)


@pytest.mark.parametrize(
    ("sizes", "fraction", "why"),
    [
        ({}, 0.1, "no records"),
        ({2: 5}, 0.1, "no record is unique"),
        ({1: 5, 3: 2}, 0.1, "no class has two"),
        ({1: 1, 2: 1_000_000}, 0.5, "no solution for these sizes"),
    ],
)
def test_where_the_model_has_no_estimate_it_says_why(sizes: dict[int, int], fraction: float, why: str) -> None:
    found = snb(Histogram(sizes, 0), fraction)
    assert found.uniques is None
    assert why in (found.reason or "")


def test_all_of_a_population_is_counted_and_not_estimated() -> None:
    for estimator in (snb, zayatz, dankar):
        assert estimator(Histogram({1: 3, 4: 2}, 0), 1).uniques == 3


@pytest.mark.slow
@given(
    st.dictionaries(st.integers(1, 40) | st.integers(1, 10**6), st.integers(1, 500), min_size=1, max_size=8),
    st.floats(1e-15, 1),
)
@examples(150)
def test_no_estimate_is_outside_of_what_can_be(sizes: dict[int, int], fraction: float) -> None:
    found = Histogram(sizes, 0)
    for name, estimator in ESTIMATORS.items():
        item = estimator(found, fraction)
        assert item.estimator == name
        assert (item.uniques is None) == (item.reason is not None)
        if item.share is not None:
            assert 0 <= item.share <= 1 + 1e-9, name


# --- Dankar's rule ----------------------------------------------------------------------------


def test_the_rule_takes_pitmans_for_small_samples_and_else_the_smaller_of_two() -> None:
    found = Histogram({1: 500, 2: 90, 3: 30, 4: 20, 11: 9, 60: 5}, 0)
    assert (dankar(found, 0.1).chosen, dankar(found, 0.1).share) == ("pitman", pitman(found, 0.1).share)
    for fraction in (0.11, 0.2, 0.5, 0.9):
        of_both = {item.estimator: item.share for item in (snb(found, fraction), zayatz(found, fraction))}
        item = dankar(found, fraction)
        assert item.share == min(share for share in of_both.values() if share is not None)
        assert of_both[item.chosen or ""] == item.share
        assert item.estimator == "dankar"


def test_what_arx_asserts_of_the_rule_for_seven_different_records() -> None:
    """ARX 3.9.2, TestRiskMetrics.testDecisionRule: every record is unique in the population, of which they are a fifth.

    Pitman's estimator does not exist for them, so that Zayatz's stands in for it at a tenth too.
    """
    seven = Histogram({1: 7}, 7)
    assert dankar(seven, 0.2).share == pytest.approx(1)
    assert (dankar(seven, 0.1).share, dankar(seven, 0.1).chosen) == (pytest.approx(1), "zayatz")


@pytest.fixture(scope="module")
def adult() -> list[tuple[str, ...]]:
    folder = adult_dir()
    if folder is None:
        pytest.skip("the Adult extract is not here")
    return [tuple(line) for line in read_csv(folder / "adult.csv")][1:]


def test_what_arx_asserts_of_the_rule_on_adult(adult: list[tuple[str, ...]]) -> None:
    """ARX 3.9.2, TestRiskMetrics.testDecisionRule2, to four digits: .1446, .3577 and .5142 for .01, .2 and 1.

    At .2 its figure is Zayatz's, since it has no smaller one: where the two equations of the model expect a quotient
    by D^(alpha + 2), its solver has a product, and the number of classes that it estimates is less than twice that of
    the sample. The sums of the tests above say otherwise, and so does the smaller figure here.
    """
    found = histogram(adult)
    assert dankar(found, 0.01).share == pytest.approx(0.1446083531167384, rel=1e-3)
    assert dankar(found, 1.0).share == pytest.approx(0.5142895033485844, abs=1e-12)
    assert zayatz(found, 0.2).share == pytest.approx(0.3577099234829125, abs=1e-12)
    assert dankar(found, 0.2).chosen == "snb"


@pytest.mark.parametrize("columns", [range(9), (0, 1, 2, 4, 5), (1, 2, 4, 8)], ids=str)
@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.6])
def test_samples_of_adult_tell_about_how_many_are_unique_in_it(
    adult: list[tuple[str, ...]], columns: Sequence[int], fraction: float
) -> None:
    """Adult as the population: the rule is not further off than half of the truth."""
    people = [tuple(row[index] for index in columns) for row in adult]
    drawn = histogram(random.Random(11).sample(people, round(fraction * len(people))))
    truth = histogram(people).uniques / len(people)
    share = dankar(drawn, fraction).share
    assert share is not None
    assert 0.5 * truth <= share <= 1.5 * truth


# --- k-map by an estimate ---------------------------------------------------------------------


def exact_tail(size: int, mean: Fraction, truncated: bool) -> Decimal:
    """The probability that a Poisson variable is at least a size, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        m = Decimal(mean.numerator) / Decimal(mean.denominator)
        term, below = (-m).exp(), Decimal(0)
        nothing = term
        for number in range(size):
            below += term
            term *= m / (number + 1)
        return (1 - below) / (1 - nothing) if truncated else 1 - below


@given(
    k=st.integers(1, 60),
    fraction=st.sampled_from([Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 20), Fraction(1, 3), Fraction(1)]),
    level=st.sampled_from(["0.000001", "0.001", "0.01", "0.05", "0.5"]),
    truncated=st.booleans(),
)
@examples(150)
def test_the_critical_size_is_the_smallest_that_is_hardly_reached(
    k: int, fraction: Fraction, level: str, truncated: bool
) -> None:
    passing = (size for size in range(1, k) if exact_tail(size, k * fraction, truncated) <= Decimal(level))
    assert critical_size(k, float(fraction), float(level), truncated=truncated) == next(passing, k)


def test_what_arx_derives_on_adult() -> None:
    """ARX 3.9.2, TestAnonymizationKMap, asserts the optima of 2- and of 3-anonymity for k = 3 and 1000 and the USA."""
    fraction = 30162 / 317238626
    assert [critical_size(k, fraction, 0.01) for k in (3, 1000)] == [2, 3]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("k", [2, 5, 20, 100])
@pytest.mark.parametrize("fraction", [Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("level", ["0.001", "0.01", "0.1"])
def test_few_classes_of_fewer_persons_pass(k: int, fraction: Fraction, level: str) -> None:
    """Each person drawn by itself: of the classes of F < k persons with somebody in the sample, exactly how many."""
    least = critical_size(k, float(fraction), float(level))
    for persons in range(1, k):
        drawn = [comb(persons, n) * fraction**n * (1 - fraction) ** (persons - n) for n in range(persons + 1)]
        assert sum(drawn[least:], Fraction(0)) / (1 - drawn[0]) <= Fraction(level), persons


@given(st.integers(1, 400), st.floats(1e-6, 1), st.sampled_from([0.001, 0.01, 0.2]), st.booleans())
@examples(100)
def test_the_largest_k_is_that_of_the_critical_size(size: int, fraction: float, level: float, truncated: bool) -> None:
    k = largest_k(size, fraction, level, truncated=truncated)
    assert critical_size(k, fraction, level, truncated=truncated) <= size
    assert critical_size(k + 1, fraction, level, truncated=truncated) > size


def test_sizes_that_no_factorial_has_digits_for() -> None:
    """At large means the normal distribution is near: 2.326 standard deviations above."""
    for k in (10**6, 10**10, 10**15):
        above = critical_size(k, 0.5, 0.01) - k / 2
        assert above == pytest.approx(2.326 * (k / 2) ** 0.5, rel=0.05)
    assert critical_size(10**15, 1, 0.01) == 10**15


def test_the_figures_of_risk() -> None:
    found = k_map_estimate(Histogram({3: 2, 9: 1}, 15), 0.01, 0.05)
    assert found.k == largest_k(3, 0.01, 0.01)
    assert found.safe_size == critical_size(20, 0.01, 0.01) == 3
    assert found.at_risk == 0
    found = k_map_estimate(Histogram({2: 2, 9: 1}, 13), 0.5, 0.05)
    assert found.safe_size == critical_size(20, 0.5, 0.01)
    assert found.at_risk == 13
    nobody = k_map_estimate(Histogram({}, 0), 0.5, 0.05)
    assert (nobody.k, nobody.at_risk) == (None, 0)
    assert k_map_estimate(Histogram({2: 1}, 2), 0.5, 0).at_risk == 2, "every risk is above 0"


def test_the_risk_verb_says_what_is_estimated(database: Database) -> None:
    database.table("people", ["q"], [[str(n % 40)] for n in range(100)] + [[str(n)] for n in range(100, 120)])
    result = kanon_sql.risk(database.engine, spec_of(["q"], [{"k_anonymity": 2}], sensitive=[]), sampling_fraction=0.2)
    shown = json.loads(json.dumps(result.to_dict()))
    jsonschema.validate(shown, risk_schema())
    assert [item["estimator"] for item in shown["uniqueness"]["population"]] == ["zayatz", "pitman", "snb", "dankar"]
    assert shown["k_map_estimate"]["k"] == 1
    assert any("not proven" in note for note in result.notes)


# --- as a requirement -------------------------------------------------------------------------

SIZES = {"a": 1, "b": 2, "c": 3, "d": 6}


def people(database: Database) -> None:
    database.table("people", ["q"], [[value] for value, size in SIZES.items() for _ in range(size)])


def asked(**k_map: Any) -> kanon_sql.Spec:
    return spec_of(["q"], [{"k_map": k_map}], sensitive=[])


def test_it_asks_for_the_critical_size(database: Database) -> None:
    people(database)
    result = kanon_sql.check(database.engine, asked(k=10, sampling_fraction=0.05), "people")
    assert critical_size(10, 0.05, 0.01) == 4
    (found,) = result.achieved.values()
    assert found == {
        "requirement": "10-map by estimate (zero-truncated Poisson): at least 4 in a class",
        "size": 1, "k_estimated": 1, "violating_classes": 3, "violating_rows": 6,
    }  # fmt: skip
    assert any("estimate and not proven" in note and "random sample of 0.05" in note for note in result.notes)
    weaker = kanon_sql.check(
        database.engine, asked(k=10, sampling_fraction=0.05, estimator="poisson", significance=0.1), "people"
    )
    assert critical_size(10, 0.05, 0.1, truncated=False) == 2
    assert next(iter(weaker.achieved.values()))["violating_rows"] == 1


@pytest.mark.slow
def test_a_search_finds_what_k_anonymity_of_that_size_finds(database: Database) -> None:
    people(database)
    tree = {"q": {"tree": {"*": {"ab": ["a", "b"], "cd": ["c", "d"]}}}}

    def found(release: str, privacy: Mapping[str, Any]) -> Any:
        return kanon_sql.anonymize(
            database.engine,
            kanon_sql.Spec.from_dict(
                {
                    "version": 1, "source": "people", "release": release, "quasi_identifiers": tree,
                    "privacy": [privacy], "suppression": {"max_share": 0.5},
                }
            ),
        )  # fmt: skip

    estimated = found("estimated", {"k_map": {"k": 10, "sampling_fraction": 0.02}})
    exactly = found("exactly", {"k_anonymity": critical_size(10, 0.02, 0.01)})
    assert (estimated.node, estimated.rows) == (exactly.node, exactly.rows)
    assert any("not proven" in note for note in estimated.notes)


@pytest.mark.parametrize(
    "more",
    [
        *({"recoding": name} for name in ("local", "mondrian", "cells", "subtree")),
        {"search": {"algorithm": "k_optimize"}},
    ],
)
def test_classes_that_are_made_to_be_large_enough_are_refused(database: Database, more: dict[str, Any]) -> None:
    database.table("people", {"q": "INTEGER"}, [[number % 3] for number in range(9)])
    column = {"tree": {"*": ["0", "1", "2"]}} if more.get("recoding") in ("local", "cells", "subtree") else None
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "quasi_identifiers": {"q": column},
            "privacy": [{"k_anonymity": 2}, {"k_map": {"k": 10, "sampling_fraction": 0.05}}], **more,
        }
    )  # fmt: skip
    with pytest.raises(UnsupportedError, match="say little of what is estimated"):
        kanon_sql.plan(database.engine, spec)


@pytest.mark.parametrize(
    ("k_map", "message"),
    [
        ({"k": 5}, "missing 'population'"),
        ({"k": 5, "population": "census", "sampling_fraction": 0.1}, "without a 'population' table"),
        ({"k": 5, "population": "census", "estimator": "poisson"}, "without a 'population' table"),
        ({"k": 5, "sampling_fraction": 0}, "sampling fraction"),
        ({"k": 5, "sampling_fraction": 1.5}, "sampling fraction"),
        ({"k": 5, "sampling_fraction": 0.1, "significance": 0.6}, "significance level"),
        ({"k": 5, "sampling_fraction": 0.1, "estimator": "normal"}, "estimator of class sizes"),
        ({"sampling_fraction": 0.1}, "missing 'k'"),
    ],
)
def test_what_a_spec_may_not_say(k_map: dict[str, Any], message: str) -> None:
    assert any(message in problem for problem in refusals(privacy=[{"k_map": k_map}]))


def test_the_critical_size_never_falls_with_k() -> None:
    sizes = [critical_size(k, 0.07, 0.01) for k in range(1, 300)]
    assert all(a <= b for a, b in pairwise(sizes))
    model = model_of(parse_requirement({"k_map": {"k": 200, "sampling_fraction": 0.07}}))
    assert model.least_size == sizes[199]
    assert model.assumption
