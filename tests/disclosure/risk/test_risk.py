"""``risk`` against an oracle over lists of rows, the figures ARX asserts on Adult, and the papers' definitions."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations as subsets
from math import comb, exp, isclose, lgamma, log
from typing import Any

import duckdb
import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.disclosure.risk import Histogram, combination_count, pitman, zayatz
from kanon_sql.disclosure.risk.pitman import expected_uniques, fit
from kanon_sql.errors import SpecError
from kanon_sql.report.json import risk_schema
from kanon_sql.report.layout import print_text
from kanon_sql.report.risk import risk_text
from kanon_sql.spec import Spec
from kanon_sql.verbs.risk import RiskResult
from tests.conftest import Database
from tests.support.literature import adult_dir
from tests.support.strategies import UNITS, VALUES, examples

Row = Mapping[str, Any]
COLUMNS = ["q0", "q1", "q2"]


def spec_of(columns: Sequence[str] = COLUMNS, unit: str | None = None, **more: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "unit": unit,
            "quasi_identifiers": dict.fromkeys(columns), "privacy": [{"k_anonymity": 2}], **more,
        }
    )  # fmt: skip


# --- the oracle -------------------------------------------------------------------------------


def classes_of(rows: Sequence[Row], columns: Sequence[str], unit: str | None) -> dict[tuple[Any, ...], int]:
    """Vector -> how many rows, or different persons; vectors that hold nobody are left out."""
    members: dict[tuple[Any, ...], list[Any]] = {}
    for number, row in enumerate(rows):
        person = number if unit is None else row[unit]
        members.setdefault(tuple(row[column] for column in columns), []).append(person)
    sizes = {vector: len({person for person in found if person is not None}) for vector, found in members.items()}
    return {vector: size for vector, size in sizes.items() if size}


def oracle(
    rows: Sequence[Row], others: Sequence[Row] | None, unit: str | None, threshold: Fraction, largest: int
) -> dict[str, Any]:
    found = classes_of(rows, COLUMNS, unit)
    records = [(size, size) for size in found.values() for _ in range(size)]
    n = len(records)
    risks = [Fraction(1, size) for size, _ in records]
    answer: dict[str, Any] = {
        "records": n,
        "prosecutor": (
            max(risks, default=None), Fraction(len(found), n) if n else None, sum(r > threshold for r in risks),
        ),
        "marketer": Fraction(len(found), n) if n else None,
        "unique": sum(size == 1 for size, _ in records),
        "journalist": None,
    }  # fmt: skip
    if others is not None:
        held = classes_of(others, COLUMNS, unit)
        if any(held.get(vector, 0) < size for vector, size in found.items()):
            return {"refused": True}
        each = [Fraction(1, held[vector]) for vector, size in found.items() for _ in range(size)]
        expected = sum(each, Fraction(0))
        if n:
            backwards = Fraction(len(found), sum(held[vector] for vector in found))
            answer["journalist"] = (max(each), max(expected / n, backwards), sum(r > threshold for r in each))
            answer["marketer"] = expected / n
        else:
            answer["journalist"] = (None, None, 0)
        answer["population_uniques"] = sum(risk == 1 for risk in each)
    measured = measures_of_combinations(rows, unit)
    answer["combinations"] = measured
    unique = [columns for columns, item in measured.items() if item[3] and len(columns) <= largest]
    answer["minimal"] = {c for c in unique if not any(set(part) < set(c) for part in unique)}
    return answer


def measures_of_combinations(rows: Sequence[Row], unit: str | None) -> dict[tuple[str, ...], tuple[Any, ...]]:
    """Per combination: distinction, separation, how many are unique, and whether all are."""
    measured: dict[tuple[str, ...], tuple[Any, ...]] = {}
    for size in range(1, len(COLUMNS) + 1):
        for columns in subsets(COLUMNS, size):
            sizes = list(classes_of(rows, columns, unit).values())
            total = sum(sizes)
            pairs = total * (total - 1)
            measured[columns] = (
                Fraction(len(sizes), total) if total else None,
                1 - Fraction(sum(s * (s - 1) for s in sizes), pairs) if pairs else None,
                sum(s == 1 for s in sizes),
                total > 0 and all(s == 1 for s in sizes),
            )
    return measured


def same(found: float | None, expected: Fraction | None) -> bool:
    if found is None or expected is None:
        return found is None and expected is None
    return isclose(found, float(expected), rel_tol=1e-9, abs_tol=1e-12)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Row], list[Row] | None, str | None]:
    """A table, perhaps a population that holds it (or nearly), perhaps persons."""
    rng = random.Random(draw(st.integers(0, 10_000)))
    unit = draw(st.sampled_from([None, None, "unit"]))
    cells = {name: [*rng.sample(VALUES, draw(st.integers(1, 4))), None][: draw(st.integers(1, 5))] for name in COLUMNS}
    people = [*UNITS, None]

    def row() -> dict[str, Any]:
        return {**{name: rng.choice(values) for name, values in cells.items()}, "unit": rng.choice(people)}

    rows = [row() for _ in range(draw(st.sampled_from([0, 1, 2, 5, 12, 25])))]
    others = draw(st.sampled_from([None, "holds", "lacks"]))
    if others is None:
        return rows, None, unit
    population = [*rows, *(row() for _ in range(draw(st.integers(0, 30))))]
    return rows, population[1:] if others == "lacks" else population, unit


@pytest.mark.slow
@examples(30)
@given(tables(), st.sampled_from(["0", "0.05", "0.2", "0.25", "0.5", "1"]), st.integers(1, 3))
def test_against_the_oracle(shared_database: Database, given: Any, threshold: str, largest: int) -> None:
    rows, others, unit = given
    names = [*COLUMNS, "unit"]
    shared_database.table("people", names, [[row[name] for name in names] for row in rows])
    if others is not None:
        shared_database.table("everybody", names, [[row[name] for name in names] for row in others])
    expected = oracle(rows, others, unit, Fraction(threshold), largest)
    asked: dict[str, Any] = {
        "population": None if others is None else "everybody",
        "threshold": float(threshold),
        "largest_combination": largest,
    }
    if "refused" in expected:
        with pytest.raises(SpecError, match="fewer records there than in the table"):
            kanon_sql.risk(shared_database.engine, spec_of(unit=unit), **asked)
        return
    found = kanon_sql.risk(shared_database.engine, spec_of(unit=unit), **asked)
    jsonschema.Draft202012Validator(risk_schema()).validate(json.loads(json.dumps(found.to_dict())))
    assert found.histogram.rows == len(rows)
    assert_attackers(found, expected)
    assert_combinations(found, expected, largest)


def assert_attackers(found: RiskResult, expected: dict[str, Any]) -> None:
    """The prosecutor, the journalist and the marketer, and who is unique."""
    assert found.histogram.records == expected["records"]
    assert found.histogram.uniques == expected["unique"]
    for name in ("prosecutor", "journalist"):
        ours, theirs = getattr(found, name), expected[name]
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert same(ours.highest, theirs[0])
            assert same(ours.average, theirs[1])
            assert ours.at_risk == theirs[2]
    assert same(found.marketer["average"], expected["marketer"])
    if found.journalist is not None:
        assert found.journalist.population_uniques == expected["population_uniques"]


def assert_combinations(found: RiskResult, expected: dict[str, Any], largest: int) -> None:
    """What each combination of columns tells apart, and the smallest that tell everybody apart."""
    asked_about = {}
    for item in found.combinations:
        columns = tuple(item.columns)
        distinction, separation, uniques, _ = expected["combinations"][columns]
        assert same(item.distinction, distinction)
        assert same(item.separation, separation)
        assert item.uniques == uniques
        asked_about[columns] = item
    minimal = set(map(tuple, found.minimal_unique))
    assert minimal == expected["minimal"]
    for columns in expected["combinations"]:  # pruned: only what has a unique part, or is too large
        if len(columns) <= largest and not any(set(part) < set(columns) for part in minimal):
            assert columns in asked_about
    assert found.combinations[-1].columns == COLUMNS


# --- published figures ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adult() -> Iterator[duckdb.DuckDBPyConnection]:
    folder = adult_dir()
    if folder is None:
        pytest.skip("the Adult extract is not here")
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute(
            f"CREATE TABLE people AS SELECT * FROM read_csv('{folder / 'adult.csv'}', delim=';', header=true)"
        )
        yield connection


@pytest.mark.slow
def test_what_arx_asserts_on_adult(adult: duckdb.DuckDBPyConnection) -> None:
    """ARX 3.9, TestRiskMetrics: the average risk exactly, uniqueness to four digits."""
    names = [line[0] for line in adult.execute("DESCRIBE people").fetchall()]

    def shares(fraction: float) -> dict[str, float | None]:
        result = kanon_sql.risk(
            kanon_sql.connect(adult), spec_of(names), sampling_fraction=fraction, largest_combination=1
        )
        assert result.prosecutor.highest == 1.0
        assert result.prosecutor.average == 0.6465751607983555
        return {item.estimator: item.share for item in result.uniqueness["population"]}

    assert shares(0.1)["zayatz"] == pytest.approx(0.3207402393466189, abs=1e-12)
    assert shares(0.2)["zayatz"] == pytest.approx(0.3577099234829125, abs=1e-12)
    assert shares(1.0)["zayatz"] == pytest.approx(0.5142895033485844, abs=1e-12)
    # ARX takes the limit for a large population; our expectation approaches it.
    sizes = [line[0] for line in adult.execute("SELECT COUNT(*), p FROM people AS p GROUP BY p").fetchall()]
    theta, alpha = fit(Histogram(Counter(sizes), sum(sizes)))
    limits = [exp(lgamma(theta + 1) - lgamma(theta + alpha)) * (30162 / share) ** (alpha - 1) for share in (0.1, 0.01)]
    assert limits[0] == pytest.approx(0.27684993883653597, abs=1e-6)
    assert limits[1] == pytest.approx(0.1446083531167384, abs=1e-6)
    assert shares(0.01)["pitman"] == pytest.approx(limits[1], rel=1e-3)


def test_the_attackers_of_a_small_table(database: Database) -> None:
    """Worked by hand from El Emam's definitions: classes of 1, 2 and 3 in a population of 4, 4 and 12."""
    held = {"a": (1, 4), "b": (2, 4), "c": (3, 12), "d": (0, 5)}
    database.table("people", ["q"], [[value] for value, (n, _) in held.items() for _ in range(n)])
    database.table("census", ["q"], [[value] for value, (_, n) in held.items() for _ in range(n)])
    found = kanon_sql.risk(database.engine, spec_of(["q"]), population="census", threshold=0.3)
    assert (found.prosecutor.highest, found.prosecutor.average, found.prosecutor.at_risk) == (1, 0.5, 6)
    assert found.journalist is not None
    assert found.journalist.highest == 0.25
    assert found.journalist.average == pytest.approx((1 / 4 + 2 / 4 + 3 / 12) / 6)
    assert found.journalist.at_risk == 0
    assert found.journalist.population_records == 20
    assert found.marketer["average"] == pytest.approx(1 / 6)
    for threshold in (0, 1e-30, 5e-324):
        everybody = kanon_sql.risk(
            database.engine, spec_of(["q"]), population="census", threshold=threshold, sampling_fraction=1e-15
        )
        assert everybody.journalist is not None
        assert (everybody.prosecutor.at_risk, everybody.journalist.at_risk) == (6, 6), "everybody has some risk"
    exactly = kanon_sql.risk(database.engine, spec_of(["q"]), population="census", threshold=0.25)
    assert exactly.journalist is not None
    assert exactly.journalist.at_risk == 0, "at the threshold is not above it"


def test_distinction_and_separation_of_motwani_and_xu(database: Database) -> None:
    """The example of their section 1: age is 0.6-distinct with separation 0.8, (sex, state) 0.8 and 0.9."""
    database.table("people", ["age", "sex", "state"], [r.split() for r in (
        "20 F CA", "30 F CA", "40 F TX", "20 M NY", "40 M CA",
    )])  # fmt: skip
    result = kanon_sql.risk(database.engine, spec_of(["age", "sex", "state"]))
    found = {tuple(item.columns): item for item in result.combinations}
    # 3 ages, 2 pairs of rows of one age out of 10; 2 sexes, 3 + 1 pairs; 3 states, 3 pairs.
    assert (found["age",].distinction, found["age",].separation) == (0.6, 0.8)
    assert (found["sex",].distinction, found["sex",].separation) == (0.4, 0.6)
    assert (found["state",].distinction, found["state",].separation) == (0.6, 0.7)
    assert (found["sex", "state"].distinction, found["sex", "state"].separation) == (0.8, 0.9)
    assert (found["age", "sex"].distinction, found["age", "sex"].separation) == (1, 1)
    assert result.minimal_unique == [["age", "sex"], ["age", "state"]]
    assert ("age", "sex", "state") in found, "all of them stand at the end"


# --- the estimators ---------------------------------------------------------------------------


def sizes_of(histogram: Histogram) -> list[int]:
    return [size for size, count in histogram.sizes.items() for _ in range(count)]


HISTOGRAMS = [{1: 3, 2: 1}, {1: 1, 2: 2, 5: 1}, {2: 3}, {1: 10, 2: 5, 3: 2, 9: 1}, {1: 1, 9: 1}, {1: 40, 2: 1}, {3: 2}]


@pytest.mark.parametrize("sizes", HISTOGRAMS, ids=str)
@pytest.mark.parametrize("fraction", [Fraction(1, 2), Fraction(1, 10), Fraction(1)])
def test_zayatz_is_bayes_over_hypergeometric_draws(sizes: dict[int, int], fraction: Fraction) -> None:
    histogram = Histogram(sizes, 0)
    n = histogram.records
    population = int(n / fraction)

    def once(size: int) -> Fraction:
        """A sample of n out of the population holds exactly one of a class of this size."""
        return Fraction(size * comb(population - size, n - 1), comb(population, n))

    seen = sum(count * once(size) for size, count in sizes.items())
    uniques = sizes.get(1, 0)
    expected = uniques * (uniques * once(1) / seen) / fraction if uniques else Fraction(0)
    found = zayatz(histogram, float(fraction))
    assert found.uniques == pytest.approx(float(expected), rel=1e-9)
    assert found.share == pytest.approx(float(expected) / population, rel=1e-9)


def partitions(n: int) -> Iterator[list[int]]:
    """All set partitions of n things, as block sizes, with repetition: one per partition."""
    if n == 0:
        yield []
        return
    for smaller in partitions(n - 1):
        yield [*smaller, 1]
        for i in range(len(smaller)):
            yield [*smaller[:i], smaller[i] + 1, *smaller[i + 1 :]]


def likelihood(blocks: Sequence[int], theta: float, alpha: float) -> float:
    """Pitman's sampling formula for one partition, factor by factor."""
    value = 1.0
    for i in range(1, len(blocks)):
        value *= theta + i * alpha
    for i in range(1, sum(blocks)):
        value /= theta + i
    for size in blocks:
        for j in range(1, size):
            value *= j - alpha
    return value


@pytest.mark.parametrize(("theta", "alpha"), [(1.0, 0.0), (0.5, 0.5), (-0.3, 0.6), (10.0, 0.9)])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_expected_uniques_of_all_partitions(theta: float, alpha: float, n: int) -> None:
    listed = list(partitions(n))
    assert sum(likelihood(blocks, theta, alpha) for blocks in listed) == pytest.approx(1)
    expected = sum(likelihood(blocks, theta, alpha) * blocks.count(1) for blocks in listed)
    assert expected_uniques(theta, alpha, n) == pytest.approx(expected)


@pytest.mark.parametrize("theta", [0.5, 99.5, 3000.0])
def test_the_expected_uniques_of_a_large_population_have_digits(theta: float) -> None:
    """Multiplied out for 20,000 records; far beyond, the published limit."""
    alpha, product = 0.7, 20_000.0
    for i in range(20_000 - 1):
        product *= (theta + alpha + i) / (theta + 1 + i)
    assert expected_uniques(theta, alpha, 20_000) == pytest.approx(product, rel=1e-10)
    limit = exp(lgamma(theta + 1) - lgamma(theta + alpha) + alpha * log(1e12))
    assert expected_uniques(theta, alpha, 10**12) == pytest.approx(limit, rel=1e-6)


@pytest.mark.parametrize(
    "sizes", [{1: 3, 2: 1}, {1: 10, 2: 5, 3: 2, 9: 1}, {2: 3}, {1: 1, 9: 1}, {1: 40, 2: 1}], ids=str
)
def test_no_other_parameters_are_more_likely(sizes: dict[int, int]) -> None:
    histogram = Histogram(sizes, 0)
    theta, alpha = fit(histogram)
    assert 0 <= alpha < 1
    assert theta > -alpha
    best = log(likelihood(sizes_of(histogram), theta, alpha))
    for other_alpha in (0.0, 0.01, *(i / 40 for i in range(1, 40)), alpha, min(0.999, alpha + 1e-3)):
        for other in (*(10 ** (i / 10) for i in range(-30, 40)), theta + other_alpha, (theta + alpha) * 1.01):
            value = likelihood(sizes_of(histogram), other - other_alpha, other_alpha)
            assert value <= 0 or log(value) <= best + 1e-9


@pytest.mark.slow
def test_it_finds_the_parameters_that_made_a_sample() -> None:
    """A sample drawn by the Chinese restaurant process, whose seatings follow the formula."""
    rng, theta, alpha = random.Random(5), 50.0, 0.5
    tables: list[int] = []
    for seated in range(20_000):
        pick = rng.random() * (theta + seated) - theta - alpha * len(tables)
        if pick < 0:
            tables.append(1)
            continue
        for index, size in enumerate(tables):
            pick -= size - alpha
            if pick < 0:
                tables[index] += 1
                break
    found_theta, found_alpha = fit(Histogram(Counter(tables), 0))
    assert found_alpha == pytest.approx(alpha, abs=0.05)
    assert found_theta == pytest.approx(theta, rel=0.35)


@pytest.mark.parametrize(
    ("sizes", "which", "why"),
    [
        ({}, zayatz, "no records"),
        ({}, pitman, "no records"),
        ({7: 1}, pitman, "are equal"),
        ({1: 7}, pitman, "every record is unique"),
        ({1: 1}, pitman, "are equal"),
    ],
)
def test_an_estimator_that_does_not_exist_says_so(sizes: dict[int, int], which: Any, why: str) -> None:
    found = which(Histogram(sizes, 0), 0.1)
    assert found.uniques is None
    assert found.share is None
    assert why in found.reason


# --- tables as they are -----------------------------------------------------------------------


def test_it_only_selects_and_fetches_aggregates(database: Database) -> None:
    database.table("people", COLUMNS, [[str(i), str(i % 7), str(i % 3)] for i in range(1000)])
    result = kanon_sql.risk(database.engine, spec_of(), sampling_fraction=0.1)
    assert [sql for sql in result.sql if not sql.lstrip().startswith(("SELECT", "WITH", "DESCRIBE"))] == []
    assert database.tables() == ["people"]
    assert result.cost.rows_fetched < 20
    assert result.minimal_unique == [COLUMNS[:1]]
    assert [item.columns for item in result.combinations] == [*([name] for name in COLUMNS), COLUMNS[1:], COLUMNS]


def test_a_release_whose_person_column_is_gone(database: Database) -> None:
    database.table("people", ["q", "unit"], [["a", "1"], ["a", "2"]])
    database.table("released", ["q"], [["a"], ["a"]])
    with pytest.raises(SpecError, match="--rows"):
        kanon_sql.risk(database.engine, spec_of(["q"], "unit"), "released")
    assert kanon_sql.risk(database.engine, spec_of(["q"], "unit"), "released", count_rows=True).unit is None


def test_the_release_is_measured_by_default_and_the_source_where_it_is_not_there(database: Database) -> None:
    database.table("people", ["q"], [["a"], ["b"]])
    first = kanon_sql.risk(database.engine, spec_of(["q"]))
    assert (first.table, first.prosecutor.highest) == ("people", 1.0)
    assert first.notes[0].startswith("there is no release 'released' yet, so the source was measured")
    database.table("released", ["q"], [["*"], ["*"]])
    then = kanon_sql.risk(database.engine, spec_of(["q"]))
    assert (then.table, then.prosecutor.highest) == ("released", 0.5)
    assert not any("not there" in note for note in then.notes)
    named = kanon_sql.risk(database.engine, spec_of(["q"]), "people")
    assert (named.prosecutor.highest, list(named.notes)) == (1.0, [])
    unnamed = spec_of(["q"]).model_copy(update={"release": None})
    assert kanon_sql.risk(database.engine, unnamed).prosecutor.highest == 1.0


def test_a_population_without_persons_counts_rows_and_says_so(database: Database) -> None:
    database.table("people", ["q", "unit"], [["a", "1"], ["a", "1"], ["a", None]])
    database.table("census", ["q"], [["a"], ["a"]])
    found = kanon_sql.risk(database.engine, spec_of(["q"], "unit"), population="census")
    assert found.journalist is not None
    assert found.journalist.highest == 0.5
    assert any("each of its rows is counted as a person" in note for note in found.notes)


def test_rows_of_nobody_are_mentioned(database: Database) -> None:
    database.table("people", ["q", "unit"], [["a", "1"], ["b", None], ["b", None]])
    found = kanon_sql.risk(database.engine, spec_of(["q"], "unit"))
    assert (found.histogram.records, found.histogram.rows, found.histogram.rows_without_records) == (1, 3, 2)
    assert any(note.startswith("2 rows") for note in found.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1.5}, "threshold"),
        ({"threshold": -0.1}, "threshold"),
        ({"sampling_fraction": 0.0}, "sampling_fraction"),
        ({"sampling_fraction": 1.1}, "sampling_fraction"),
        ({"sampling_fraction": 5e-324}, "sampling_fraction"),
        ({"largest_combination": 0}, "largest_combination"),
        ({"columns": ["q0", "q0"]}, "named twice"),
        ({"columns": ["q9"]}, "no column 'q9'"),
        ({"columns": ["unit"]}, "is the unit, which identifies every person"),
        ({"table": "nothing_like_it"}, "nothing_like_it"),
        ({"population": "others"}, "no column 'q1'"),
        ({"population": "numbers"}, "nothing would match"),
    ],
)
def test_what_does_not_fit_is_refused(database: Database, options: dict[str, Any], message: str) -> None:
    database.table("people", [*COLUMNS, "unit"], [["a", "b", "c", "1"]])
    database.table("others", ["q0"], [["a"]])
    database.table("numbers", {"q0": "INTEGER", "q1": "VARCHAR", "q2": "VARCHAR"}, [[1, "b", "c"]])
    with pytest.raises(kanon_sql.KanonError, match=message):
        kanon_sql.risk(database.engine, spec_of(unit="unit"), **options)


def test_too_many_combinations_are_refused_before_anything_runs(database: Database) -> None:
    names = [f"c{i}" for i in range(40)]
    assert combination_count(40, 3) == 40 + 780 + 9880
    with pytest.raises(SpecError, match="10,700 combinations"):
        kanon_sql.risk(database.engine, spec_of(names))


def test_the_text(database: Database, capsys: pytest.CaptureFixture[str]) -> None:
    database.table("people", COLUMNS, [[str(i), str(i % 7), "planted"] for i in range(50)])
    database.table("everybody", COLUMNS, [[str(i % 50), str(i % 50 % 7), "planted"] for i in range(100)])
    print_text(risk_text(kanon_sql.risk(database.engine, spec_of(), population="everybody", sampling_fraction=0.5)))
    shown = capsys.readouterr().out
    for part in ("prosecutor", "journalist", "marketer", "estimated (zayatz)", "does not exist", "separation"):
        assert part in shown
    assert "planted" not in shown
    database.table("people", COLUMNS, [])
    print_text(risk_text(kanon_sql.risk(database.engine, spec_of(), sampling_fraction=0.5)))
    assert "no person is in it" in capsys.readouterr().out
