"""Micro-aggregation: classes satisfy, numbers are those of their class, squares are few; what it costs and refuses."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import exp
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError, VerificationError
from kanon_sql.recode import microaggregation, optimal
from kanon_sql.recode.microaggregation import STATEMENTS_A_ROUND
from kanon_sql.release import write as write_module
from tests.conftest import Database
from tests.oracles.aggregates import aggregate, least_squares, mdav, share_lost, squares_lost, whole
from tests.oracles.mondrian import MondrianProblem
from tests.support.specs import QUIET
from tests.support.strategies import examples

OTHERS = 120
"""Statements that a run takes besides its rounds and its columns: sets, labels, verification, publishing."""

TREE = {"tree": {"some": ["a", "b"], "more": ["c", "d"]}}


def spec(columns: dict[str, Any], others: dict[str, Any] | None = None, **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": {**dict.fromkeys(columns), **(others or {})},
            "keep": ["serial"],
            "privacy": [{"k_anonymity": 3}],
            "recoding": {"method": "microaggregation", "columns": columns},
            "warnings": QUIET,
            **changes,
        }
    )


def published(database: Database, rows: Sequence[Sequence[Any]], asked: kanon_sql.Spec, **types: str) -> Any:
    """Publish rows, whose columns are the types'."""
    for name in ("people_release", "kanon_sql_manifest", "kanon_sql_scratch"):
        database.connection.execute(f"DROP TABLE IF EXISTS {name}")
    database.table("people", {**types, "serial": "INTEGER"}, [(*row, number) for number, row in enumerate(rows)])
    return kanon_sql.anonymize(database.engine, asked)


def classes_of(database: Database, columns: Sequence[str]) -> dict[tuple[Any, ...], list[int]]:
    """What was published: labels and numbers -> serial numbers."""
    found: dict[tuple[Any, ...], list[int]] = {}
    listed = ", ".join(columns)
    for *cells, serial in database.connection.execute(f"SELECT {listed}, serial FROM people_release").fetchall():
        found.setdefault(tuple(cells), []).append(serial)
    return found


# --- against the oracle -----------------------------------------------------------------------

TYPES = {"income": "DECIMAL(9,2)", "age": "INTEGER", "score": "DOUBLE", "born": "DATE", "seen": "TIMESTAMP"}
TYPES |= dict.fromkeys(["step", "s0", "unit"], "VARCHAR")

MODELS: list[list[Any]] = [
    [],
    [],
    [],
    [{"l_diversity": {"attribute": "s0", "l": 2, "variant": "distinct"}}],
    [{"l_diversity": {"attribute": "s0", "l": 1.5, "variant": "entropy"}}],
    [{"t_closeness": {"attribute": "s0", "t": 0.3}}],
]


@st.composite
def problems(draw: st.DrawFn) -> tuple[MondrianProblem, dict[str, str]]:
    """Whole numbers and cents, positive and not, with NULLs; a column of labels; persons; models."""
    chance = draw(st.randoms(use_true_random=False))
    size = draw(st.sampled_from([24, 40, 12, 5, 1, 0]))
    cells: dict[str, list[Any]] = {
        "income": [Decimal(cents) / 100 for cents in (-5, 7, 10, 33, 90, 100, 10_001, 3)],
        "age": draw(st.sampled_from([[-3, 0, 1, 2, 7, 90], [5], list(range(40))])),
        "score": [-0.005, 0.005, 1.0, -1.015, 2.675, 99.994, 1e6],
        "born": [date(1600, 2, 29), date(1900, 3, 1), date(1969, 12, 31), date(1970, 1, 1), date(2000, 2, 29)],
        "seen": [datetime(1969, 12, 31, 23, 59, 58, 999_999), datetime(1970, 1, 1), datetime(2024, 2, 29, 12, 30, 1)],
        "step": ["a", "b", "c", "d"],
    }
    functions = {
        name: draw(st.sampled_from(["mean", "median", "mode"]))
        for name in draw(
            st.sampled_from([["income"], ["age"], ["income", "age"], ["score", "born"], ["born"], ["seen"]])
        )
    }
    columns = [*functions, *draw(st.sampled_from([[], [], ["step"]]))]
    for column in columns:
        if draw(st.sampled_from([True, False, False])):
            cells[column] = [*cells[column], None]
    unit = draw(st.sampled_from([None, None, "unit"]))
    names = {"s0": ["x", "y", "z", None], "unit": ["u1", "u2", "u3", "u4", "u5", "u6", None]}
    rows = [
        {name: chance.choice(values) for name, values in {**{c: cells[c] for c in columns}, **names}.items()}
        for _ in range(size)
    ]
    requirements = [{"k_anonymity": {"k": draw(st.integers(1, 4))}}, *draw(st.sampled_from(MODELS))]
    return MondrianProblem(rows, {}, requirements, unit), functions


@pytest.mark.slow
@given(problem=problems())
@examples(12)
def test_classes_satisfy_and_numbers_are_theirs(
    shared_database: Database, problem: tuple[MondrianProblem, dict[str, str]]
) -> None:
    """Every row is in one class, every class satisfies, and what it releases is its own, as exact fractions say."""
    asked, functions = problem
    types = TYPES
    written: dict[str, Any] = {
        name: {"aggregate": own, "digits": 2} if name == "score" else own for name, own in functions.items()
    }
    columns = [name for name in types if name in (asked.rows[0] if asked.rows else functions)]
    quasi = [name for name in columns if name not in ("s0", "unit")]
    protected = {"sensitive": ["s0"], "privacy": list(asked.requirements), "unit": asked.unit}
    lines = [[row.get(name) for name in types] for row in asked.rows]
    result = published(
        shared_database, lines, spec(written, {"step": TREE} if "step" in quasi else None, **protected), **types
    )
    event(f"{result.verdict}, optimal {bool(result.recoding and result.recoding['optimal'])}")
    everybody = list(range(len(asked.rows)))
    assert result.passed == (bool(everybody) and asked.satisfies(everybody))
    if not result.passed:
        assert "people_release" not in shared_database.tables()
        return
    classes = classes_of(shared_database, quasi)
    assert sorted(number for members in classes.values() for number in members) == everybody
    assert result.recoding["partitions"] == len(classes)
    for cells, members in classes.items():
        assert asked.satisfies(members)
        assert_true(asked, functions, dict(zip(quasi, cells, strict=True)), members)
    assert described(shared_database, functions) == {name: types[name] for name in functions}
    for name in functions:
        values = [whole(row[name]) for row in asked.rows]
        released: list[int | None] = [None] * len(values)
        for cells, members in classes.items():
            for number in members:
                released[number] = whole(cells[quasi.index(name)])
        assert result.recoding["columns"][name]["squares_lost"] == pytest.approx(
            float(squares_lost(values, released)), abs=1e-8
        )


def described(database: Database, columns: Iterable[str]) -> dict[str, str]:
    """The types of released columns."""
    found = {row[0]: row[1] for row in database.connection.execute("DESCRIBE people_release").fetchall()}
    return {name: found[name] for name in columns}


def assert_true(
    problem: MondrianProblem, functions: dict[str, str], cells: dict[str, Any], members: Sequence[int]
) -> None:
    """What a class releases is the mean, the median or the mode of its rows, and a label covers them."""
    for name, cell in cells.items():
        held = [problem.rows[number][name] for number in members]
        if name in functions:
            assert whole(cell) == aggregate([whole(value) for value in held], functions[name]), (name, held)
            assert cell is None or type(cell) is type(next(value for value in held if value is not None))
        else:
            groups = {**TREE["tree"], "*": [*"abcd", None]}
            assert set(held) <= set(groups.get(cell, [cell]))


# --- few squares ------------------------------------------------------------------------------

DRAWN = {
    "normal": lambda r, p: [round(1000 * r.gauss(0, 1)) for _ in range(p)],
    "lognormal": lambda r, p: [round(r.lognormvariate(7, 1)) for _ in range(p)],
    "uniform": lambda r, p: [r.randint(0, 10_000) for _ in range(p)],
    "ages": lambda r, p: [r.randint(18, 90) for _ in range(p)],
    "clusters": lambda r, p: [1000 * (5 * r.randint(0, 1) + i) + round(r.gauss(0, 300)) for i in range(p)],
    "alike": lambda r, p: [round(1000 * exp(r.gauss(0, 0.4))) for _ in [r.random()] for _ in range(p)],
}
"""How a row of a seeded table is drawn."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "k"),
    [(3, 5), *(pytest.param(*pair, marks=pytest.mark.slow) for pair in [(2, 3), (2, 5), (3, 3), (6, 5), (6, 10)])],
)
@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.sampled(18)
def test_the_squares_are_within_1_4_times_those_of_mdav(
    shared_database: Database, drawn: str, columns: int, k: int
) -> None:
    """150 rows each; MDAV's classes are of a fixed size, and its squares are about exact means."""
    chance = random.Random(f"{drawn} {columns} {k}")
    rows = [DRAWN[drawn](chance, columns) for _ in range(150)]
    names = [f"x{number}" for number in range(columns)]
    asked = spec(dict.fromkeys(names, "mean"), privacy=[{"k_anonymity": k}])
    result = published(shared_database, rows, asked, **dict.fromkeys(names, "INTEGER"))
    classes = classes_of(shared_database, names)
    assert min(map(len, classes.values())) >= k
    ours = share_lost(rows, classes.values())
    assert ours <= 1.4 * share_lost(rows, mdav(rows, k))
    assert result.recoding["squares_lost"] == pytest.approx(ours, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3, pytest.param(5, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [1, 9, 17, 61, *(pytest.param(n, marks=pytest.mark.slow) for n in (16, 120))])
@pytest.mark.sampled(8)
def test_one_column_is_divided_optimally(shared_database: Database, size: int, k: int) -> None:
    """As Hansen and Mukherjee's shortest path: many alike values and none, all sizes of the last block."""
    for different in (3, 12, 10_000):
        chance = random.Random(size * 100 + k + different)
        values = [1_000_000 * chance.randint(-different, different) for _ in range(size)]
        asked = spec({"x": "mean"}, privacy=[{"k_anonymity": k}])
        result = published(shared_database, [(value,) for value in values], asked, x="BIGINT")
        if size < k:
            assert not result.passed
            continue
        assert result.recoding["optimal"]
        lost = Fraction(0)
        for members in classes_of(shared_database, ["x"]).values():
            assert len(members) >= k
            held = [values[number] for number in members]
            lost += sum(Fraction(value - Fraction(sum(held), len(held))) ** 2 for value in held)
        assert lost == least_squares(values, k)


def test_it_is_optimal_within_what_has_the_same_labels(shared_database: Database) -> None:
    chance = random.Random(5)
    rows = [(1_000_000 * chance.randint(0, 40), label) for label in "ac" for _ in range(31)]
    others = {"step": {"tree": {"some": ["a"], "more": ["c"]}, "minimum_level": 1, "maximum_level": 1}}
    result = published(shared_database, rows, spec({"x": "mean"}, others), x="BIGINT", step="VARCHAR")
    assert result.recoding["optimal"]
    lost, classes = dict.fromkeys(["some", "more"], Fraction(0)), classes_of(shared_database, ["x", "step"])
    for (_, label), members in classes.items():
        held = [rows[number][0] for number in members]
        lost[label] += sum(Fraction(value - Fraction(sum(held), len(held))) ** 2 for value in held)
    for label, letter in (("some", "a"), ("more", "c")):
        assert lost[label] == least_squares([value for value, own in rows if own == letter], 3)


@pytest.mark.slow
def test_too_many_ways_are_left_to_the_cuts(shared_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimal, "MOST_WAYS", 60 * 25 - 1)
    rows = [(n * n,) for n in range(60)]
    result = published(shared_database, rows, spec({"x": "mean"}), x="INTEGER")
    assert not result.recoding["optimal"]
    assert result.recoding["rounds"] > 1
    monkeypatch.setattr(optimal, "MOST_WAYS", 60 * 25)
    assert published(shared_database, rows, spec({"x": "mean"}), x="INTEGER").recoding["optimal"]


@pytest.mark.slow
def test_nothing_that_could_be_divided_is_left(shared_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where sizes alone are asked for, a partition of 2k rows is left only if all of its rows are alike."""
    sizes: list[tuple[int, int]] = []
    mapped = microaggregation.aggregated

    def seen(state: Any, *given: Any, **named: Any) -> Any:
        sums = f"SELECT SUM(row_count), COUNT(DISTINCT vector) FROM {state.open.parts[-1]} GROUP BY part"
        sizes.extend(shared_database.connection.execute(sums).fetchall())
        return mapped(state, *given, **named)

    monkeypatch.setattr(microaggregation, "aggregated", seen)
    chance = random.Random(2)
    rows = [(chance.randint(0, 6), chance.choice([1, 2, None])) for _ in range(200)]
    published(shared_database, rows, spec({"x": "mean", "y": "mean"}), x="INTEGER", y="INTEGER")
    assert len(sizes) > 30
    assert sum(rows for rows, _ in sizes) == 200
    assert all(rows >= 3 and (rows < 6 or different == 1) for rows, different in sizes)
    written = classes_of(shared_database, ["x", "y"])
    assert sorted(number for members in written.values() for number in members) == list(range(200)), "each row once"


# --- worked out by hand -----------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("function", "released"),
    [("mean", {-2: 3, 104: 3}), ("median", {-1: 3, 100: 3}), ("mode", {-4: 3, 100: 3})],
)
def test_a_class_by_hand(shared_database: Database, function: str, released: dict[int, int]) -> None:
    """The mean of -4, -1 and 0 is -1.67, and of 100, 100 and 111 it is 103.67: both are rounded."""
    rows = [(value,) for value in (-4, -1, 0, 100, 100, 111)]
    published(shared_database, rows, spec({"x": function}), x="SMALLINT")
    assert Counter(row[0] for row in shared_database.rows("people_release")) == released


def test_a_half_is_rounded_up(shared_database: Database) -> None:
    published(shared_database, [(-2,), (-1,)], spec({"x": "mean"}, privacy=[{"k_anonymity": 2}]), x="INTEGER")
    assert shared_database.rows("people_release")[0][0] == -1


@pytest.mark.slow
def test_null_has_no_number(shared_database: Database) -> None:
    """Rows with NULL are together where they are enough; else those with the highest values lose theirs with them."""
    for nulls, released in ((3, {2: 3, 11: 3, None: 3}), (1, {2: 3, None: 4})):
        rows = [*((value,) for value in (1, 2, 3, 10, 11, 12)), *[(None,)] * nulls]
        result = published(shared_database, rows, spec({"x": "mean"}), x="INTEGER")
        assert Counter(row[0] for row in shared_database.rows("people_release")) == released
        assert not result.recoding["optimal"]


def test_null_is_parted_from_values_wherever_it_begins(shared_database: Database) -> None:
    """No multiple of k lies between the seven values and the four rows without one."""
    rows = [*((value,) for value in (1, 2, 3, 10, 11, 12, 13)), *[(None,)] * 4]
    published(shared_database, rows, spec({"x": "mean"}), x="INTEGER")
    assert Counter(row[0] for row in shared_database.rows("people_release")) == {2: 3, 12: 4, None: 4}


def test_a_cut_is_made_only_if_both_sides_satisfy(shared_database: Database) -> None:
    """The last two rows have one illness: the cut before them gains most, and the one after the first two is made."""
    rows = list(zip((0, 1, 2, 3, 100, 101), "ababaa", strict=True))
    privacy = [{"k_anonymity": 2}, {"l_diversity": {"attribute": "s0", "l": 2}}]
    published(shared_database, rows, spec({"x": "mean"}, sensitive=["s0"], privacy=privacy), x="INTEGER", s0="VARCHAR")
    assert Counter(row[0] for row in shared_database.rows("people_release")) == {1: 2, 52: 4}


@pytest.mark.slow
def test_weights_share_the_cuts_between_labels_and_numbers(shared_database: Database) -> None:
    chance = random.Random(8)
    rows = [(chance.randint(0, 999), chance.choice("abcd")) for _ in range(120)]
    lost = []
    for weight in (0, 1, 9):
        asked = spec({"x": "mean"}, {"step": {**TREE, "weight": weight}})
        recoding = published(shared_database, rows, asked, x="INTEGER", step="VARCHAR").recoding
        lost.append((recoding["columns"]["step"]["mean_loss"], recoding["columns"]["x"]["squares_lost"]))
    assert lost[0][0] > lost[2][0]
    assert lost[0][1] < lost[2][1]
    assert recoding["mean_loss"] == recoding["columns"]["step"]["mean_loss"]


# --- what it costs ----------------------------------------------------------------------------

THREE: list[dict[str, Any]] = [{"k_anonymity": 3}, {"l_diversity": {"attribute": "s0", "l": 2}}]


def fill(database: Database, rows: int, seed: int = 3) -> None:
    draw = random.Random(seed)
    lines = [(draw.randint(0, 10_000), draw.randint(18, 90), draw.choice("xyz"), n) for n in range(rows)]
    database.table("people", {"x": "INTEGER", "y": "INTEGER", "s0": "VARCHAR", "serial": "INTEGER"}, lines)


@pytest.fixture
def people(database: Database) -> Database:
    fill(database, 60)
    return database


TWO = {"x": "mean", "y": "median"}


@pytest.mark.slow
@pytest.mark.parametrize("privacy", [THREE[:1], THREE])
def test_statements_and_fetched_rows_do_not_depend_on_the_table(database: Database, privacy: Any) -> None:
    for rows in (60, 3_000):
        fill(database, rows)
        result = kanon_sql.anonymize(database.engine, spec(TWO, sensitive=["s0"], privacy=privacy))
        assert result.recoding is not None
        rounds, columns = result.recoding["rounds"] + 1, 2
        assert result.cost.statements <= STATEMENTS_A_ROUND * rounds + 10 * columns + OTHERS
        assert result.cost.rows_fetched <= rounds + 20 * columns + 40
        assert result.cost.source_scans == 2


@pytest.mark.slow
def test_an_optimal_division_takes_statements_by_the_logarithm_of_the_rows(database: Database) -> None:
    taken = []
    for rows in (60, 6_000):
        for name in ("people_release", "kanon_sql_manifest", "kanon_sql_scratch"):
            database.connection.execute(f"DROP TABLE IF EXISTS {name}")
        fill(database, rows)
        result = kanon_sql.anonymize(database.engine, spec({"x": "mean"}))
        assert result.recoding is not None
        assert result.recoding["optimal"]
        taken.append(result.cost.statements)
        assert result.cost.rows_fetched <= 60
    assert taken[1] - taken[0] <= 4 * 7  # four for each time that the rows are twice as many


@pytest.mark.slow
def test_no_value_is_fetched(people: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """What leaves the database while numbers are replaced is counts, and sums of squares of whole columns."""
    fetched: dict[str, list[Any]] = {}
    engine = people.engine
    fetch = engine.fetch

    def kept(statement: Any, limit: int) -> Any:
        found = fetch(statement, limit)
        if statement.name.startswith(("recode/", "release/recoded")):
            fetched.setdefault(statement.name, []).extend(found)
        return found

    monkeypatch.setattr(engine, "fetch", kept)
    assert kanon_sql.anonymize(engine, spec(TWO, sensitive=["s0"], privacy=THREE)).passed
    assert len(fetched["recode/microaggregation/spread"]) == len(TWO)
    assert len(fetched["recode/microaggregation/kept"]) == len(TWO)
    assert not [cell for rows in fetched.values() for row in rows for cell in row if isinstance(cell, str)]


@pytest.mark.slow
def test_a_budget_ends_the_rounds_and_releases_what_there_is(people: Database) -> None:
    result = kanon_sql.anonymize(people.engine, spec(TWO), budget=kanon_sql.Budget(statements=12))
    assert result.passed
    assert result.recoding is not None
    assert result.stopped == "the search reached its limit of 12 statements"
    assert 1 <= result.classes["count"] < 10
    alone = kanon_sql.anonymize(people.engine, spec({"x": "mean"}), budget=kanon_sql.Budget(statements=5))
    assert alone.passed
    assert alone.recoding is not None
    assert not alone.recoding["optimal"]


# --- other verbs, reports ---------------------------------------------------------------------


@pytest.mark.slow
def test_other_verbs_and_reports_know_it(people: Database) -> None:
    asked = spec(TWO, sensitive=["s0"], privacy=THREE)
    plan = kanon_sql.plan(people.engine, asked, details=True, compare_recoding="local")
    result = kanon_sql.anonymize(people.engine, asked, details=True)
    assert plan.recoding == result.recoding
    assert "local:fast was not tried: the loss of aggregated numbers is a share of squares" in plan.notes[-1]
    assert kanon_sql.check(people.engine, asked).passed
    assert "Micro-aggregation: numbers are replaced by the mean" in kanon_sql.html_report(result)
    assert "the median of the class" in kanon_sql.html_report(result)
    assert result.manifest is not None
    assert result.manifest["recoding"] == result.recoding


@pytest.mark.slow
def test_attacks_that_look_labels_up_are_left_out(people: Database) -> None:
    """A number may be that of somebody else's row: who is behind it must not be read from it."""
    asked = spec(TWO, sensitive=["s0"], privacy=THREE)
    kanon_sql.anonymize(people.engine, asked)
    found = kanon_sql.audit(people.engine, asked)
    assert found.passed
    why = "the numbers of x, y are aggregates of a class, and do not show which values they stand for"
    for name in ("linking", "complementary", "composition", "unsorted", "consistency"):
        assert found.left_out[name] == why
    assert {attack.name for attack in found.attacks} == {"homogeneity", "background", "skewness"}
    with pytest.raises(UnsupportedError, match="attack downcoding: the numbers of x, y are aggregates of a class"):
        kanon_sql.audit(people.engine, asked, attacks=["downcoding"])


# --- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"recoding": "microaggregation"}, "microaggregation needs columns, such as {income: mean, age: median}"),
        ({"recoding": {"method": "microaggregation", "columns": {}}}, "recoding.columns: expected at least one column"),
        (
            {"recoding": {"method": "microaggregation", "columns": ["x"]}},
            "recoding.columns: expected a mapping of columns to mean, median, mode, got a list",
        ),
        (
            {"recoding": {"method": "microaggregation", "columns": {"x": "average"}}},
            "recoding.columns.x: unknown aggregate",
        ),
        (
            {"recoding": {"method": "microaggregation", "columns": {"x": {"digits": 2}}}},
            "recoding.columns.x.aggregate: expected aggregate: one of mean, median, mode, got nothing",
        ),
        (
            {"recoding": {"method": "microaggregation", "columns": {"x": {"aggregate": "mean", "digits": 11}}}},
            "recoding.columns.x.digits: expected a whole number from 0 to 10",
        ),
        (
            {"recoding": {"method": "microaggregation", "columns": {"x": {"aggregate": "mean", "places": 1}}}},
            "recoding.columns.x.places: unknown key; expected aggregate and digits",
        ),
        (
            {"recoding": {"method": "microaggregation", "columns": {"serial": "mean"}}},
            "recoding.columns.serial: 'serial' is not a quasi-identifier",
        ),
        ({"recoding": {"method": "local", "columns": {"x": "mean"}}}, "only the method microaggregation takes it"),
        ({"suppression": {"style": "mask"}}, "suppression.style: a masked row has the text *"),
        (
            {"quasi_identifiers": {"x": {"intervals": [5], "minimum_level": 1}, "y": None}},
            "quasi_identifiers.x.minimum_level: microaggregation releases a number, not a level",
        ),
    ],
)
def test_what_a_spec_cannot_ask_for(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        spec(TWO, **changes)
    assert said in str(refused.value)


def test_a_lower_bound_is_refused(people: Database) -> None:
    with pytest.raises(UnsupportedError, match="numbers of microaggregation are not hierarchy labels"):
        kanon_sql.plan(people.engine, spec(TWO), bound=True)


@pytest.mark.slow
def test_what_would_suppress_too_many_rows_is_not_released(shared_database: Database) -> None:
    rows = [(n, "a" if n < 8 else "c") for n in range(10)]
    others = {"step": {**TREE, "maximum_level": 1}}
    result = published(shared_database, rows, spec({"x": "mean"}, others), x="INTEGER", step="VARCHAR")
    assert not result.passed
    assert "2 rows would have to be suppressed at the highest levels allowed, and 0 may be" in result.message
    asked = spec({"x": "mean"}, others, suppression={"max_share": 0.2})
    result = published(shared_database, rows, asked, x="INTEGER", step="VARCHAR")
    assert result.rows == {"source": 10, "released": 8, "suppressed": 2}
    assert {label[1] for label in shared_database.rows("people_release")} <= {"a", "some"}


# --- failures ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("function", ["mean", "median", "mode"])
def test_a_number_that_is_not_of_its_class_is_refused(
    people: Database, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    """The classes and the written table agree, and both are wrong by one unit."""
    checked = write_module.refuse_other_cells

    def check(workspace: Any, sets: Any, mapped: Any, target: Any, *given: Any) -> None:
        for table in (mapped.classes.parts[-1], target.parts[-1]):
            name = "x" if table == target.parts[-1] else "label0"
            people.connection.execute(f'UPDATE "{table}" SET {name} = {name} + 1')
        checked(workspace, sets, mapped, target, *given)

    monkeypatch.setattr(write_module, "refuse_other_cells", check)
    with pytest.raises(VerificationError, match="cells of 'x' have a label that does not cover their value"):
        kanon_sql.anonymize(people.engine, spec({"x": function, "y": "mean"}))
    assert "people_release" not in people.tables()


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET x = (SELECT MIN(x) FROM {table})",
        "UPDATE {table} SET x = NULL WHERE x = (SELECT MIN(x) FROM {table})",
        "DELETE FROM {table} WHERE x = (SELECT MIN(x) FROM {table})",
    ],
)
def test_a_written_table_that_is_not_the_recoding_is_dropped(
    people: Database, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    verified = write_module._verify

    def changed(workspace: Any, choice: Any, target: Any, *given: Any, **named: Any) -> Any:
        people.connection.execute(statement.format(table=f'"{target.parts[-1]}"'))
        return verified(workspace, choice, target, *given, **named)

    monkeypatch.setattr(write_module, "_verify", changed)
    with pytest.raises(VerificationError):
        kanon_sql.anonymize(people.engine, spec(TWO))
    assert "people_release" not in people.tables()


@pytest.mark.slow
def test_a_class_that_gives_a_number_although_a_row_has_null_is_refused(
    people: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.connection.execute("UPDATE people SET x = NULL WHERE serial < 5")
    checked = write_module.refuse_other_cells

    def check(workspace: Any, sets: Any, mapped: Any, target: Any, *given: Any) -> None:
        for table, name in ((mapped.classes.parts[-1], "label0"), (target.parts[-1], "x")):
            people.connection.execute(f'UPDATE "{table}" SET {name} = 77 WHERE {name} IS NULL')
        checked(workspace, sets, mapped, target, *given)

    monkeypatch.setattr(write_module, "refuse_other_cells", check)
    with pytest.raises(VerificationError, match="cells of 'x' have a label that does not cover their value"):
        kanon_sql.anonymize(people.engine, spec(TWO))
