"""``evidence``: every figure against plain counting, the borders of its thresholds, and what it may never say."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import kanon_sql
from kanon_sql.disclosure.attacks import methods
from kanon_sql.errors import SpecError
from kanon_sql.spec import Spec, requirements
from kanon_sql.verbs.evidence import Evidence
from kanon_sql.verbs.evidence.interval import exact_interval
from tests.conftest import Database
from tests.oracles.evidence import at_most, homogeneous, record_figures
from tests.support.strategies import examples

COLUMNS = ["q0", "q1"]


def spec_of(**more: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "quasi_identifiers": {"q0": {}, "q1": {}},
            "sensitive": ["s"], "privacy": [{"k_anonymity": 2}], **more,
        }
    )  # fmt: skip


def stand(database: Database, rows: Sequence[Sequence[Any]], names: Sequence[str] = ("q0", "q1", "s")) -> None:
    """A source, and a release of the same rows that nobody has marked."""
    for table in ("people", "released"):
        database.table(table, list(names), rows)


def of_sizes(*sizes: int) -> list[tuple[str, str, str]]:
    """Classes of these sizes, with two values each."""
    return [(f"a{number}", "b", f"v{turn % 2}") for number, size in enumerate(sizes) for turn in range(size)]


def finding(found: Evidence, name: str) -> Any:
    """What one attack found."""
    (one,) = (item for part in found.wp216 for item in part.findings if item.measured_by == f"audit: {name}")
    return one


# --- Plain counting ---------------------------------------------------------------------------


@pytest.mark.slow
@examples(4)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["x", "y"]), st.sampled_from(["u", "v", None])),
        max_size=24,
    )
)
def test_the_figures_are_those_of_plain_counting(rows: list[tuple[str | None, str, str | None]]) -> None:
    import duckdb

    with duckdb.connect() as connection:
        database = Database(connection)
        stand(database, rows)
        spec = spec_of()
        if not rows:
            found = kanon_sql.evidence(database.engine, spec)
            assert not found.passed
            assert found.message == "released has no rows, so that nothing was checked"
            assert found.records.highest is found.records.highest_within is None
            return
        found = kanon_sql.evidence(database.engine, spec)
    table = [dict(zip(("q0", "q1", "s"), row, strict=True)) for row in rows]
    expected = record_figures(table, COLUMNS)
    said = found.records.to_dict()
    assert {name: said[name] for name in expected} == pytest.approx(expected)
    assert found.rows == len(rows)
    assert sum(item["rows"] or 0 for item in found.class_sizes) == len(rows)
    by_homogeneity = finding(found, "homogeneity of s")
    assert (by_homogeneity.examined, by_homogeneity.exposed) == (len(rows), homogeneous(table, COLUMNS, "s"))
    met = expected["smallest"] >= 2
    assert (found.requirements[0].violating_classes == 0) is met
    assert found.passed is (met and not by_homogeneity.beyond and not finding(found, "background of s").beyond)


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("sizes", "highest", "average"),
    [
        ((11, 20), False, True),  # 1/11 = 0.0909..., and 2/31
        ((12, 20), True, True),
        ((12,) * 3, True, True),
        ((*(11,) * 8, 12), False, True),  # 9 / 100 is the threshold itself
        ((11,) * 9, False, False),  # 9 / 99 is above it
        ((1, 99), False, True),
    ],
)
def test_the_threshold_is_not_above_itself(
    database: Database, sizes: tuple[int, ...], highest: bool, average: bool
) -> None:
    stand(database, of_sizes(*sizes))
    records = kanon_sql.evidence(database.engine, spec_of()).records
    assert (records.highest_within, records.average_within) == (highest, average)
    assert records.at_risk == sum(size for size in sizes if Fraction(1, size) > Fraction(9, 100))
    assert records.size_needed == 12


def test_a_table_that_fails_says_so(database: Database) -> None:
    stand(database, of_sizes(1, 4))
    found = kanon_sql.evidence(database.engine, spec_of())
    assert not found.passed
    assert found.problems[0] == "released: 1 of 2 classes (1 row) violates 2-anonymity"
    assert found.records.alone == 1
    text = kanon_sql.evidence_report(found)
    assert "FAIL" in text
    assert "The evidence does not support this release" in text


def test_an_attack_beyond_the_requirements_fails_it_too(database: Database) -> None:
    rows = [("a", "b", "same")] * 4 + [("c", "b", "x"), ("c", "b", "y")]
    stand(database, rows)
    found = kanon_sql.evidence(database.engine, spec_of())
    assert [item.violating_classes for item in found.requirements] == [0]
    assert not found.passed
    assert finding(found, "homogeneity of s").beyond == 4


def test_without_attacks_nothing_is_said_of_them(database: Database) -> None:
    stand(database, of_sizes(4, 4))
    database._connection.execute("ALTER TABLE people DROP q1; ALTER TABLE people ADD q1 VARCHAR")
    spec = spec_of(sensitive=[], keep=["s"])
    found = kanon_sql.evidence(database.engine, spec)
    assert found.passed
    if not found.attacks:
        assert found.message.endswith("no attack could be run")


# --- Persons ----------------------------------------------------------------------------------

PERSONS = {"unit": "person", "quasi_identifiers": {"q0": {}}, "sensitive": [], "privacy": [{"k_anonymity": 3}]}


def visits(persons_per_class: Sequence[int], rows_each: int = 4) -> list[tuple[str, str]]:
    return [
        (f"p{group}-{person}", f"a{group}")
        for group, persons in enumerate(persons_per_class)
        for person in range(persons)
        for _ in range(rows_each)
    ]


@pytest.mark.slow
def test_persons_are_those_whom_the_run_counted(database: Database) -> None:
    """12 rows of 3 persons are no class of 12: rows alone would say that the risk is below the threshold."""
    database.table("people", ["person", "q0"], visits([3, 5, 4]))
    spec = spec_of(**PERSONS)
    assert kanon_sql.anonymize(database.engine, spec).passed
    found = kanon_sql.evidence(database.engine, spec)
    assert found.passed, found.problems
    assert found.records.counted == "persons"
    assert (found.records.smallest, found.records.highest_within) == (3, False)
    assert found.records.average is None
    assert found.records.average_at_most == pytest.approx(1 / 3)
    assert found.records.average_within is None
    assert kanon_sql.risk(database.engine, spec, "released", count_rows=True).prosecutor.highest == 1 / 12
    assert [item.counted for item in found.requirements] == ["persons"]
    assert "at most 0.3333" in kanon_sql.evidence_report(found)


def test_a_manifest_with_details_holds_the_average_by_persons(database: Database) -> None:
    database.table("people", ["person", "q0"], visits([3, 5, 4]))
    spec = spec_of(**PERSONS)
    assert kanon_sql.anonymize(database.engine, spec, details=True).passed
    records = kanon_sql.evidence(database.engine, spec).records
    assert (records.classes, records.records) == (3, 12)
    assert records.average == pytest.approx(0.25)
    assert records.average_within is False


def test_many_persons_are_within_the_threshold(database: Database) -> None:
    database.table("people", ["person", "q0"], visits([12, 30], 2))
    spec = spec_of(**PERSONS)
    assert kanon_sql.anonymize(database.engine, spec).passed
    records = kanon_sql.evidence(database.engine, spec).records
    assert (records.highest_within, records.average_within, records.at_risk, records.alone) == (True, True, 0, 0)


def test_masked_rows_are_a_class_that_nobody_counted_in_persons(database: Database) -> None:
    """Its four persons are fewer than the twelve of every other class, and the run's figures leave them out."""
    database.table("people", ["person", "q0"], visits([12, 12, 2, 2]))
    spec = spec_of(
        **{**PERSONS, "quasi_identifiers": {"q0": {"maximum_level": 0}}},
        suppression={"max_share": 0.5, "style": "mask"},
    )
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.rows["masked"] == 16
    records = kanon_sql.evidence(database.engine, spec).records
    assert records.highest_within is None
    assert not records.proven


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("CREATE TABLE copied AS FROM released; DROP TABLE released; ALTER TABLE copied RENAME TO released",
         "no manifest of a run"),
        ("INSERT INTO released VALUES ('a0')", "it has other rows or classes than the run"),
        ("DELETE FROM released WHERE q0 = 'a0'", "it has other rows or classes than the run"),
        ("UPDATE released SET q0 = 'a1' WHERE q0 = 'a0'", "it has other rows or classes than the run"),
    ],
)  # fmt: skip
def test_nobody_vouches_for_persons_in_another_table(database: Database, change: str, why: str) -> None:
    database.table("people", ["person", "q0"], visits([3, 5, 4]))
    spec = spec_of(**PERSONS)
    assert kanon_sql.anonymize(database.engine, spec).passed
    database.connection.execute(change)
    found = kanon_sql.evidence(database.engine, spec)
    assert not found.passed
    assert why in found.message
    assert not found.records.proven
    assert found.records.counted == "rows"
    assert found.records.highest_within is not True
    assert found.records.average_within is not True
    assert "Rows were counted, and the spec protects persons" in kanon_sql.evidence_report(found)


@pytest.mark.slow
def test_a_run_by_another_spec_does_not_vouch(database: Database) -> None:
    database.table("people", ["person", "q0"], visits([12, 30], 2))
    assert kanon_sql.anonymize(database.engine, spec_of(**PERSONS)).passed
    other = spec_of(**{**PERSONS, "privacy": [{"k_anonymity": 20}]})
    found = kanon_sql.evidence(database.engine, other)
    assert "published it with another spec" in found.message
    assert found.run is not None
    assert not found.run.same_spec
    assert all(item.counted == "rows" for item in found.requirements)
    assert [entry.meaning for entry in found.columns if entry.column == "q0"] == [
        "unknown, possibly the value: the table was published with another spec"
    ]


def test_a_release_that_holds_the_person_is_counted_as_it_stands(database: Database) -> None:
    rows = visits([3, 5, 4])
    for table in ("people", "released"):
        database.table(table, ["person", "q0"], rows)
    found = kanon_sql.evidence(database.engine, spec_of(**PERSONS))
    expected = record_figures([{"person": person, "q0": group} for person, group in rows], ["q0"], "person")
    assert {name: found.records.to_dict()[name] for name in expected} == pytest.approx(expected)
    (person,) = (entry for entry in found.columns if entry.column == "person")
    assert person.meaning == "as in the source, although the spec does not release it"


# --- Intervals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "tried", "low", "high"),
    [(81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617), (0, 20, 0.0, 0.1684), (1, 29, 0.0009, 0.1776)],
)
def test_the_intervals_are_those_of_the_literature(found: int, tried: int, low: float, high: float) -> None:
    """Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, Clopper and Pearson's."""
    interval = exact_interval(found, tried)
    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


@examples(40)
@given(st.integers(1, 60).flatmap(lambda tried: st.tuples(st.integers(0, tried), st.just(tried))))
def test_at_its_ends_so_few_or_many_are_found_in_one_case_of_forty(case: tuple[int, int]) -> None:
    found, tried = case
    interval = exact_interval(found, tried)
    assert interval is not None
    assert interval.low <= found / tried <= interval.high
    if found < tried:
        assert float(at_most(found, tried, Fraction(interval.high))) == pytest.approx(0.025)
    else:
        assert interval.high == 1
    if found:
        assert 1 - float(at_most(found - 1, tried, Fraction(interval.low))) == pytest.approx(0.025)
    else:
        assert interval.low == 0


@pytest.mark.parametrize(("found", "tried"), [(3, 10_000_000), (5_000_000, 10_000_000), (9_999_999, 10_000_000)])
def test_many_are_no_trouble(found: int, tried: int) -> None:
    interval = exact_interval(found, tried)
    assert interval is not None
    assert interval.low == pytest.approx(beta.ppf(0.025, found, tried - found + 1), rel=1e-6)
    assert interval.high == pytest.approx(beta.ppf(0.975, found + 1, tried - found), rel=1e-6)


def test_nothing_tried_has_no_interval() -> None:
    assert exact_interval(0, 0) is None


@pytest.mark.slow
def test_a_sampled_external_table_gets_an_interval_and_nothing_else_does(database: Database) -> None:
    stand(database, of_sizes(1, 4, 4))
    database.table("voters", ["q0", "q1"], [("a0", "b"), ("a1", "b"), ("a2", "b"), ("zz", "b")])
    asked = {"external": "voters", "on": ["q0", "q1"]}
    found = kanon_sql.evidence(database.engine, spec_of(), **asked, external_is_sample=True)
    linked = finding(found, "linking with voters")
    assert (linked.examined, linked.exposed) == (4, 1)
    assert linked.interval == exact_interval(1, 4)
    others = [item.interval for part in found.wp216 for item in part.findings if item is not linked]
    assert len(others) >= 5
    assert others == [None] * len(others)
    everybody = kanon_sql.evidence(database.engine, spec_of(), **asked)
    assert finding(everybody, "linking with voters").interval is None
    assert "0.6309 to 80.59 %" in kanon_sql.evidence_report(found)


# --- What it is made of -----------------------------------------------------------------------


def test_every_attack_and_every_requirement_has_its_words() -> None:
    assert not [method.name for method in methods() if method.threat == "other"]
    assert all(item.definition for item in requirements() if item.judged_by_table)


def test_what_was_not_run_is_listed_under_its_risk(database: Database) -> None:
    stand(database, of_sizes(4, 4))
    found = kanon_sql.evidence(database.engine, spec_of())
    missing = {part.threat: {item.what for item in part.not_measured} for part in found.wp216}
    assert {"linking", "complementary", "views"} <= missing["linkability"]
    assert {"minimality", "definetti", "composition"} <= missing["inference"]
    assert {"downcoding", "mapping"} <= missing["singling_out"]
    assert "other" not in missing


@pytest.mark.slow
def test_attacks_on_request_are_run_besides_the_others(database: Database) -> None:
    rows = of_sizes(4, 4)
    stand(database, rows)
    found = kanon_sql.evidence(database.engine, spec_of(), attacks=["definetti"])
    assert finding(found, "definetti of s").estimate
    assert finding(found, "homogeneity of s").examined == 8
    assert not any(item.what == "definetti" for part in found.wp216 for item in part.not_measured)
    with pytest.raises(SpecError, match="'homogeneity' is not an attack that runs on request"):
        kanon_sql.evidence(database.engine, spec_of(), attacks=["homogeneity"])


@pytest.mark.slow
def test_a_population_gives_the_journalists_risk(database: Database) -> None:
    stand(database, of_sizes(4, 4))
    database.table("everybody", ["q0", "q1"], [row[:2] for row in of_sizes(8, 20)])
    found = kanon_sql.evidence(database.engine, spec_of(), population="everybody", sampling_fraction=0.5)
    assert found.journalist is not None
    assert found.journalist.highest == 1 / 8
    assert not any(item.what == "the risk against a population" for item in found.not_measured)
    text = kanon_sql.evidence_report(found)
    assert "maximum risk against everybody" in text
    assert "estimated by zayatz" in text
    assert "journalist): maximum 0.125" in text


def test_the_standard_is_answered_by_measurements_or_by_people(database: Database) -> None:
    stand(database, of_sizes(4, 4))
    found = kanon_sql.evidence(database.engine, spec_of())
    answers = {item.number: item.answer for item in found.iso_27559}
    assert answers["7.3.2"] == "maximum 0.25, average 0.25, by rows"
    assert answers["7.3.4"] == "2-anonymity"
    assert answers["8.2.3"] is not None
    assert "homogeneity of s" in answers["8.2.3"]
    assert [number for number, answer in answers.items() if answer is None] == ["6.2", "6.3", "8.3.2", "9"]


@pytest.mark.slow
def test_warnings_of_the_run_are_kept(database: Database) -> None:
    rows = [(f"a{number % 40}", "b", f"v{number % 2}") for number in range(80)]
    database.table("people", ["q0", "q1", "s"], rows)
    spec = spec_of(privacy=[{"k_anonymity": 20}])
    assert kanon_sql.anonymize(database.engine, spec).passed
    found = kanon_sql.evidence(database.engine, spec)
    assert "column_fully_generalized" in [item.code for item in found.warnings] or "fully_suppressed_columns" in [
        item.code for item in found.warnings
    ]
    became = {entry.column: entry.became for entry in found.columns}
    assert became["q0"] == "withheld"


def test_it_only_reads_and_leaves_nothing(database: Database) -> None:
    stand(database, of_sizes(4, 4))
    before = database.tables()
    found = kanon_sql.evidence(database.engine, spec_of())
    assert database.tables() == before
    assert found.cost.statements == len(found.sql)
    written = [text for text in found.sql if text.lstrip().upper().startswith(("CREATE", "INSERT", "DROP"))]
    assert all(text.startswith(("CREATE TEMPORARY TABLE", "DROP TABLE")) and "kanon_" in text for text in written)


@pytest.mark.slow
def test_misfits_are_refused(database: Database) -> None:
    stand(database, of_sizes(4, 4))
    engine = database.engine
    for options, said in (
        ({"external_is_sample": True}, "external_is_sample: "),
        ({"zip_people": "n"}, "zip_people: "),
        ({"zip_population": "people"}, "has no quasi-identifier that is named like a ZIP code"),
    ):
        with pytest.raises(SpecError, match=said):
            kanon_sql.evidence(engine, spec_of(), **options)
    with pytest.raises(SpecError, match="is the source, but evidence is for a release"):
        kanon_sql.evidence(engine, spec_of(), "people")
    with pytest.raises(SpecError, match="release: missing"):
        kanon_sql.evidence(engine, spec_of(release=None))
    with pytest.raises(SpecError, match="form: expected html, markdown or json"):
        kanon_sql.evidence_report(kanon_sql.evidence(engine, spec_of()), "pdf")  # type: ignore[arg-type]


@pytest.mark.slow
def test_random_classes_of_many_sizes(database: Database) -> None:
    chance = random.Random(22)
    rows = of_sizes(*(chance.randint(1, 30) for _ in range(40)))
    stand(database, rows)
    table = [dict(zip(("q0", "q1", "s"), row, strict=True)) for row in rows]
    said = kanon_sql.evidence(database.engine, spec_of()).records.to_dict()
    expected = record_figures(table, COLUMNS)
    assert {name: said[name] for name in expected} == pytest.approx(expected)
