"""(c,k)-safety, the privacy skyline and epsilon-privacy: all knowledge on small tables, refusals, and every engine."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.errors import SpecError
from kanon_sql.report.json import result_schema
from kanon_sql.testing import Subject
from tests.conftest import Database
from tests.oracles.knowledge import (
    Histogram,
    by_bucket,
    by_factors,
    by_groups,
    by_implications,
    by_point,
    by_prior,
    without_null,
    worlds_of,
)
from tests.servers import subject_of
from tests.support.knowledge import ACROSS, FAMILY, VALUES, Asked, drawn_asked, tables
from tests.support.pitfalls import classes, spec_of
from tests.support.strategies import examples

HOSPITAL = {"flu": 2, "lung cancer": 2, "mumps": 1}, {"flu": 2, "breast cancer": 1, "ovarian cancer": 1, "heart": 1}
"""Martin et al. 2007, figure 1: five men and five women."""


# --- The oracle, by all knowledge -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "k"),
    [
        ([{"a": 2, "b": 1, "c": 1}], 1),
        ([{"a": 2, "b": 1, "c": 1}], 2),
        ([{"a": 1, "b": 1, "c": 1}], 1),
        ([{"a": 3, "b": 1}], 1),
        ([{"a": 2, "b": 1}, {"a": 1, "b": 2}], 1),
        ([{"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 1}], 1),
        ([{"a": 1, "b": 1}, {"a": 1, "b": 1}, {"c": 1, "d": 1}], 1),
        ([{"a": 3, "b": 1, None: 2}], 0),
        ([{"a": 3, "b": 1, "c": 1}], 1),
        pytest.param([{"a": 2, "b": 2, "c": 1}], 1, marks=pytest.mark.slow),
        pytest.param([{"a": 1, "b": 1, "c": 1, "d": 1}], 1, marks=pytest.mark.slow),
    ],
)
def test_no_implications_tell_more_than_the_dynamic_program_finds(table: list[dict[Any, int]], k: int) -> None:
    assert by_implications(table, k) == by_bucket(table, k)


@st.composite
def small_tables(draw: st.DrawFn) -> list[dict[Any, int]]:
    """One class or two, of seven persons at most."""
    first, second = draw(st.sampled_from([(3, 3), (4, 2), (5, 0), (4, 3), (5, 0), (6, 0)]))
    values = st.sampled_from(VALUES[: draw(st.integers(3, 6))])
    found = [draw(st.lists(values, min_size=size, max_size=size)) for size in (first, second) if size]
    return [dict(Counter(held)) for held in found]


@given(
    table=small_tables(),
    pieces=st.sampled_from([one for one in product(range(3), repeat=3) if 0 < sum(one) < 3] + [(0, 1, 2), (1, 1, 1)]),
)
@examples(60)
def test_no_knowledge_tells_more_than_counting_finds(table: list[dict[Any, int]], pieces: tuple[int, int, int]) -> None:
    """The congregation property is derived; here all placements are tried, and all knowledge on top."""
    assume(len(worlds_of(table)) <= 120)
    found = by_point(table, *pieces)
    event("certain" if found == 1 else "not certain")
    assert found == by_groups(table, *pieces)


@pytest.mark.parametrize("histogram", [{"a": 2, "b": 1}, {"a": 1, "b": 1, "c": 1}, {"a": 3}, {"a": 3, "b": 1}])
@pytest.mark.parametrize("sigma", [3, Fraction(7, 2), 30])
def test_beliefs_are_those_of_a_dirichlet_prior(histogram: dict[str, int], sigma: Fraction) -> None:
    """Added up over all ways to hand out values, for several shapes, and for the worst of all that ``any`` allows."""
    values = ["a", "b", "c"]
    for shares in ([1, 1, 1], [1, 2, 3], [10, 1, 1]):
        prior = {value: sigma * Fraction(part, sum(shares)) for value, part in zip(values, shares, strict=True)}
        found = by_factors(histogram, {value: weight / sigma for value, weight in prior.items()}, Fraction(sigma))
        assert by_prior(histogram, prior) == found
    corners = [{value: 1 + (sigma - 3) * Fraction(value == high) for value in values} for high in values]
    worst = [by_prior(histogram, prior) for prior in corners]
    assert by_factors(histogram, None, Fraction(sigma)) == (None if None in worst else max(filter(None, worst)))


# --- Tables as they stand -----------------------------------------------------------------------------------


def check(database: Database, *given: Asked, **more: Any) -> kanon_sql.results.Check:
    spec = spec_of(["q"], [item.given() for item in given], sensitive=["s"])
    return kanon_sql.check(database.engine, spec, "people", **more)


def agrees(result: kanon_sql.results.Check, asked: Asked, table: Sequence[Histogram], original: Histogram) -> None:
    measures = asked.measures(table, original, suppresses=False)
    (values,) = (item for key, item in result.achieved.items() if key.startswith(asked.name))
    sizes = [sum(histogram.values()) for histogram in table]
    violating = [size for size, measure in zip(sizes, measures, strict=True) if not asked.meets(measure)]
    assert values["violating_classes"] == len(violating), (asked, table)
    assert values["violating_rows"] == sum(violating)
    finite = [measure for measure in measures if measure is not None]
    if len(finite) == len(measures):
        assert values[asked.reached] == pytest.approx(float(max(finite)), abs=1e-12, rel=1e-9)
    else:
        assert values[asked.reached] is None


@pytest.mark.slow
@given(table=tables(), one=drawn_asked(), other=drawn_asked())
@examples(60)
def test_tables_as_they_stand(shared_database: Database, table: list[dict[Any, int]], one: Asked, other: Asked) -> None:
    classes(shared_database, *table)
    original = sum((Counter(histogram) for histogram in table), Counter())
    both = [one] if one.name == other.name else [one, other]
    result = check(shared_database, *both)
    for item in both:
        agrees(result, item, table, original)
    valued = [histogram for histogram in map(without_null, table) if histogram]
    for item in both:
        if item.name != "epsilon_privacy" and len(valued) == len(table):
            worst = item.belief(valued, None)
            event("told from several classes" if worst > max(item.belief([h], 0) for h in valued) else "told from one")


def test_the_hospital(database: Database) -> None:
    """What the paper tells of its figure: 2/5 without knowledge, 10/19 by one implication, 2/3 by the worst one."""
    classes(database, *HOSPITAL)
    for k, belief in ((0, 2 / 5), (1, 2 / 3), (2, 1)):
        asked = Asked("ck_safety", {"c": 1, "k": k})
        assert check(database, asked).achieved[f"ck_safety(s)[k={k}]"]["c_above"] == pytest.approx(belief, abs=1e-12)
        assert by_bucket(HOSPITAL, k) == pytest.approx(belief)
    # Hannah's flu implies Charlie's: one of the two has not the other's class.
    charlie, hannah = Fraction(2, 5), Fraction(2, 5)
    assert charlie / (charlie + (1 - charlie) * (1 - hannah)) == Fraction(10, 19) < by_bucket(HOSPITAL, 1)


@pytest.mark.slow
def test_implications_across_classes(database: Database) -> None:
    classes(database, *ACROSS)
    found = check(database, Asked("ck_safety", {"c": 0.84, "k": 2})).achieved["ck_safety(s)[k=2]"]
    assert found["c_above"] == pytest.approx(40 / 47, abs=1e-12)
    assert max(by_bucket([histogram], 2) for histogram in ACROSS) == Fraction(234, 283) < Fraction("0.84")
    assert found["violating_classes"] == 1, "the class whose persons are told of, and not the one that tells"


def test_implications_about_two_persons_and_two_values_of_each(database: Database) -> None:
    """Two frequent values: the worst is that neither of two persons has either, and no other way comes near."""
    table = {"a": 45, "b": 45, **{f"x{n}": 1 for n in range(10)}}
    classes(database, table)
    (found,) = check(database, Asked("ck_safety", {"c": 1, "k": 3})).achieved.values()
    ratio = Fraction(10, 100) * Fraction(9, 99) * Fraction(100, 45)
    assert found["c_above"] == pytest.approx(float(1 / (1 + ratio)), abs=1e-12)
    assert by_bucket([table], 3) == 1 / (1 + ratio)


def test_a_family_in_another_class(database: Database) -> None:
    """The target's class excludes more, the family's tells more: neither is as bad by itself."""
    table = FAMILY
    classes(database, *table)
    point = Asked("privacy_skyline", {"l": 1, "k": 0, "m": 1, "c": 0.82})
    found = check(database, point).achieved["privacy_skyline(s)[l=1, k=0, m=1]"]
    ratio = Fraction(10 - 4 - 4, 4) * Fraction(40 - 24, 40)
    assert found["c_above"] == pytest.approx(float(1 / (1 + ratio)), abs=1e-12)
    assert max(by_groups([histogram], 1, 0, 1) for histogram in table) < Fraction("0.82")
    assert found["violating_classes"] == 1


def test_epsilon_as_the_paper_bounds_it(database: Database) -> None:
    """With any prior: classes of (sigma - 1) / (epsilon - 1), and shares of at most 1 - 1 / (epsilon + delta)."""
    asked = Asked("epsilon_privacy", {"epsilon": 3, "stubbornness": 21})
    for counts, passes in ((Counter(a=5, b=5), True), (Counter(a=5, b=4), False), (Counter(a=7, b=3), True)):
        classes(database, counts)
        assert check(database, asked).passed is passes, counts
    size, held = 40, 32  # delta = 2 * 40 / 20 = 4, and 1 - 1 / 7 of 40 is 34.3
    for more, passes in ((0, True), (2, True), (3, False)):
        classes(database, {"a": held + more, "b": size - held - more})
        assert check(database, asked).passed is passes, more


@pytest.mark.parametrize("name", ["ck_safety", "privacy_skyline"])
def test_the_bound_is_strict(database: Database, name: str) -> None:
    classes(database, {"a": 1, "b": 1, "c": 1, "d": 1})
    pieces = {"k": 0} if name == "ck_safety" else {}
    assert not check(database, Asked(name, {"c": 0.25, **pieces})).passed
    assert check(database, Asked(name, {"c": 0.26, **pieces})).passed


def test_a_class_without_values_violates_and_tells_nothing_of_others(database: Database) -> None:
    classes(database, {None: 3}, {"a": 2, "b": 2, "c": 2, None: 1})
    for asked in (
        Asked("ck_safety", {"c": 0.9, "k": 1}),
        Asked("privacy_skyline", {"l": 0, "k": 0, "m": 1, "c": 0.9}),
    ):
        (found,) = check(database, asked).achieved.values()
        assert (found["violating_classes"], found["violating_rows"], found["c_above"]) == (1, 3, None)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "asked",
    [
        Asked("ck_safety", {"c": 1, "k": 1}),
        Asked("privacy_skyline", {"c": 1, "l": 1, "k": 1, "m": 1}),
        Asked("privacy_skyline", {"c": 1, "l": 0, "k": 0, "m": 0}),
    ],
)
def test_pitfall_17_null_protects_nobody(database: Database, asked: Asked) -> None:
    table = {"a": 4, "b": 4, "c": 4, "d": 3}
    found = []
    for more in ({}, {None: 1}, {None: 30}):
        classes(database, {**table, **more})
        (values,) = check(database, asked).achieved.values()
        found.append(values["c_above"])
    assert found == pytest.approx([float(asked.belief([table], None))] * 3, abs=1e-12)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("prior", ["any", "uniform", "reference"])
def test_a_class_of_one_value_tells_it_however_small_the_change(database: Database, prior: str) -> None:
    """The opposite was believed a little, and is not any more: no factor is enough, but where nothing else can be."""
    asked = Asked("epsilon_privacy", {"epsilon": 1000, "stubbornness": 3, "prior": prior})
    classes(database, {"a": 400}, {"a": 3, "b": 3})
    (found,) = check(database, asked).achieved.values()
    assert (found["violating_classes"], found["violating_rows"], found["epsilon"]) == (1, 400, None)
    classes(database, {"a": 400})
    (found,) = check(database, asked).achieved.values()
    assert found["epsilon"] == (None if prior == "any" else 1)


def test_several_points_and_a_large_k(database: Database) -> None:
    """A skyline is several requirements; ten implications are as many as are taken."""
    many = {f"v{n}": 1 + n % 2 for n in range(30)}
    classes(database, many, {**many, "v0": 3})
    points = [
        Asked("privacy_skyline", {**dict(zip("lkm", pieces, strict=True)), "c": 0.9})
        for pieces in ((3, 0, 0), (0, 9, 0), (1, 2, 3))
    ]
    worst = Asked("ck_safety", {"c": 0.9, "k": 10})
    table = [many, {**many, "v0": 3}]
    result = check(database, *points, worst)
    assert len(result.achieved) == 4
    for asked, found in zip([*points, worst], result.achieved.values(), strict=True):
        assert found["c_above"] == pytest.approx(float(asked.belief(table, None)), abs=1e-12)


def test_numbers_and_another_table_as_reference(database: Database) -> None:
    """Values of other kinds, beside a second attribute; a value that the reference lacks has no share of the prior."""
    rows = [(f"class {n % 2}", n % 5, ("x", "y")[n % 2 if n < 6 else 0]) for n in range(20)]
    database.table("people", {"q": "VARCHAR", "s": "INTEGER", "r": "VARCHAR"}, rows)
    database.table("seen", {"q": "VARCHAR", "s": "INTEGER", "r": "VARCHAR"}, [*rows, ("class 0", 77, "x")])
    asked = {"epsilon": 4, "stubbornness": "infinite", "prior": "uniform"}
    spec = spec_of(
        ["q"],
        [{"ck_safety": {"attribute": "s", "c": 0.9, "k": 1}}, {"epsilon_privacy": {"attribute": "s", **asked}}],
        sensitive=["s", "r"],
    )
    found = kanon_sql.check(database.engine, spec, "people").achieved
    assert found["epsilon_privacy(s)[stubbornness infinite, uniform prior]"]["epsilon"] == pytest.approx(1)
    assert found["ck_safety(s)[k=1]"]["c_above"] == pytest.approx(1 / 4)
    found = kanon_sql.check(database.engine, spec, "seen").achieved
    assert found["epsilon_privacy(s)[stubbornness infinite, uniform prior]"]["epsilon"] is None


# --- What is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"ck_safety": {"attribute": "s", "c": 0.7}}, r"privacy\[0\]\.ck_safety: missing 'k'"),
        (
            {"ck_safety": {"attribute": "s", "c": 0.7, "k": 11}},
            "expected k, a number of implications, a whole number from 0 to 10, got 11",
        ),
        ({"ck_safety": {"attribute": "s", "c": 0.7, "k": -1}}, "expected k, a number of implications"),
        (
            {"ck_safety": {"attribute": "s", "c": 1.1, "k": 1}},
            "expected c, a probability above 0 and at most 1, got 1.1",
        ),
        ({"ck_safety": {"attribute": "s", "c": "high", "k": 1}}, "expected c, a probability"),
        ({"ck_safety": {"attribute": "z", "c": 0.7, "k": 1}}, "'z' is not listed under sensitive"),
        (
            {"privacy_skyline": {"attribute": "s", "c": 0.7, "m": 21}},
            "m, a number of persons, a whole number from 0 to 20, got 21",
        ),
        ({"privacy_skyline": {"attribute": "s", "l": 1}}, "missing 'c'"),
        (
            {"epsilon_privacy": {"attribute": "s", "epsilon": 1, "stubbornness": 5}},
            "expected epsilon, a factor above 1",
        ),
        ({"epsilon_privacy": {"attribute": "s", "epsilon": 2}}, "missing 'stubbornness'"),
        (
            {"epsilon_privacy": {"attribute": "s", "epsilon": 2, "stubbornness": 0.5}},
            "at least 1, got 0.5",
        ),
        ({"epsilon_privacy": {"attribute": "s", "epsilon": 2, "stubbornness": "stubborn"}}, "unknown stubbornness"),
        (
            {"epsilon_privacy": {"attribute": "s", "epsilon": 2, "stubbornness": "infinite"}},
            "no class is large enough for an infinite stubbornness with any prior",
        ),
        (
            {"epsilon_privacy": {"attribute": "s", "epsilon": 2, "stubbornness": 9, "reference": "release"}},
            "'reference' needs prior: reference",
        ),
        (
            {"epsilon_privacy": {"attribute": "s", "epsilon": 2, "stubbornness": 9, "prior": "flat"}},
            "unknown prior",
        ),
    ],
)
def test_specs_say_what_is_wrong(given: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        spec_of(["q"], [given], sensitive=["s"])


def test_one_of_each_and_no_persons() -> None:
    ck = {"attribute": "s", "c": 0.7, "k": 2}
    with pytest.raises(SpecError, match="ck_safety"):
        spec_of(["q"], [{"ck_safety": ck}, {"ck_safety": {**ck, "c": 0.6}}], sensitive=["s"])
    spec_of(["q"], [{"ck_safety": ck}, {"ck_safety": {**ck, "k": 1}}], sensitive=["s"])
    for name, body in (
        ("ck_safety", ck),
        ("privacy_skyline", {"attribute": "s", "l": 1, "c": 0.7}),
        ("epsilon_privacy", {"attribute": "s", "epsilon": 2, "stubbornness": 9}),
    ):
        with pytest.raises(SpecError, match=f"{name} is defined for rows"):
            spec_of(["q"], [{name: body}], sensitive=["s"], unit="p")
        spec = spec_of(["q"], [{name: body}], sensitive=["s"])
        assert kanon_sql.Spec.from_dict(spec.to_dict()) == spec


# --- Other verbs ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_reports_and_the_other_verbs(tmp_path: Path) -> None:
    """Text and JSON of a check and of a plan; no value is in any of them, nor in what is compared."""
    rows = [(n % 24, VALUES[n * n % 7]) for n in range(240)]
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        database = Database(connection)
        database.table("people", {"q": "INTEGER", "s": "VARCHAR"}, rows)
    (tmp_path / "s.yml").write_text(
        "version: 1\nsource: people\nrelease: people_release\nquasi_identifiers: {q: {intervals: [6, 12]}}\n"
        "sensitive: [s]\nprivacy:\n  - k_anonymity: 2\n  - ck_safety: {attribute: s, c: 0.99, k: 1}\n"
        "  - privacy_skyline: {attribute: s, k: 2, m: 1, c: 0.9}\n"
        "  - epsilon_privacy: {attribute: s, epsilon: 9, stubbornness: infinite, prior: uniform}\n"
    )
    more = ["-d", str(tmp_path / "d.duckdb")]
    for verb in (["check", "--table", "people"], ["plan"], ["compare", "--k", "2,3"]):
        run = [verb[0], str(tmp_path / "s.yml"), *verb[1:], *more]
        shown = CliRunner().invoke(app, run, env={"COLUMNS": "200"})
        assert shown.exit_code in (0, 1), shown.output
        assert not any(value in shown.stdout for value in VALUES if value != "ache"), verb
        if verb[0] != "compare":
            said = " ".join(shown.stdout.split())
            for asked in ("(0.99, 1)-safety of s", "skyline point (0, 2, 1) with c = 0.9", "stubbornness infinite"):
                assert asked in said, verb
            assert "c > " in said
            assert verb[0] == "check" or "epsilon = " in said
            again = CliRunner().invoke(app, [*run, "--format", "json"])
            jsonschema.Draft202012Validator(result_schema()).validate(json.loads(again.stdout))
    spec = kanon_sql.Spec.load(tmp_path / "s.yml")
    assert kanon_sql.render(spec, "tsql").statements
    with kanon_sql.connect(str(tmp_path / "d.duckdb")) as engine:
        result = kanon_sql.anonymize(engine, spec, details=True)
        assert result.passed
        assert "(0.99, 1)-safety of s" in kanon_sql.html_report(result)
        assert kanon_sql.audit(engine, spec).attacks


# --- On other engines ---------------------------------------------------------------------------------------


@pytest.fixture(
    scope="module",
    params=[
        "postgres",
        "sqlite",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("mariadb", "clickhouse", "spark")),
    ],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


EVERY = [
    Asked("ck_safety", {"c": 0.93, "k": 2}),
    Asked("privacy_skyline", {"c": 0.9, "l": 1, "k": 2, "m": 2}),
    Asked("epsilon_privacy", {"epsilon": 9, "stubbornness": 12}),
    Asked("epsilon_privacy", {"epsilon": 9, "stubbornness": 12, "prior": "uniform"}),
    Asked("epsilon_privacy", {"epsilon": 9, "stubbornness": "infinite", "prior": "reference"}),
]


@pytest.mark.campaign_on("spark", "clickhouse")
@pytest.mark.slow
def test_the_same_on_other_engines(subject: Subject, database: Database) -> None:
    """A search that suppresses, verified, and a check of the raw table: what DuckDB and the oracle say."""
    draw = random.Random(11)
    rows = [
        (draw.randrange(8), draw.choice(["a", "A", "b", None]), draw.choice([*VALUES, "á", "a ", None]))
        for _ in range(260)
    ]
    columns = {"age": "integer", "zip": "text", "s": "text"}
    subject.table("people", columns, rows)
    database.table("people", {"age": "INTEGER", "zip": "VARCHAR", "s": "VARCHAR"}, rows)
    spec = spec_of(
        {"age": {"intervals": [2, 4]}, "zip": None},
        [{"k_anonymity": 4}, *(item.given() for item in EVERY)],
        sensitive=["s"],
        suppression={"max_share": 0.5},
    )
    engine = subject.connect()
    found = [kanon_sql.check(one, spec, "people").to_dict() for one in (database.engine, engine)]
    held: dict[Any, Counter[Any]] = {}
    for *vector, value in rows:
        held.setdefault(tuple(vector), Counter())[value] += 1
    original = Counter(value for *_, value in rows)
    for result in found:
        values = list(result["achieved"].values())[1:]
        for asked, item in zip(EVERY, values, strict=True):
            measures = asked.measures(list(held.values()), original, suppresses=False)
            violating = [not asked.meets(measure) for measure in measures]
            assert item["violating_classes"] == sum(violating), (asked, item)
            finite = None if None in measures else float(max(filter(None, measures)))
            assert item[asked.reached] == (None if finite is None else pytest.approx(finite, rel=1e-9)), asked
    here, there = (kanon_sql.anonymize(one, spec) for one in (database.engine, engine))
    assert here.passed
    assert there.passed
    assert (here.node, here.rows) == (there.node, there.rows)
    assert here.rows["suppressed"]
