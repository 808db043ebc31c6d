"""Mondrian against an independent one in plain Python; the figures of the paper; what it costs and what it refuses."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import HierarchyError, SpecError, UnsupportedError, VerificationError
from kanon_sql.recode import mondrian
from kanon_sql.recode.mondrian import STATEMENTS_A_ROUND
from kanon_sql.release import write as write_module
from tests.conftest import Database
from tests.oracles.mondrian import MondrianProblem, Ordered, ends_in, set_of
from tests.support.specs import QUIET
from tests.support.strategies import examples

OTHERS = 80
"""Statements that a run takes besides its rounds and its columns: sets, labels, verification, publishing."""

RELAXED = {"method": "mondrian", "variant": "relaxed"}

STEPS = ["none", "primary", "middle", "high", "college", "doctor"]
"""Rows of a hierarchy, whose order is not that of their characters; some occur in no row."""


def spec(quasi_identifiers: dict[str, Any], **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": quasi_identifiers,
            "keep": ["serial"],
            "privacy": [{"k_anonymity": 2}],
            "recoding": "mondrian",
            "warnings": QUIET,
            **changes,
        }
    )


# --- against the oracle -----------------------------------------------------------------------


@st.composite
def problems(draw: st.DrawFn) -> MondrianProblem:
    """Numbers by value, text by its characters, steps in the order of their hierarchy; NULLs, persons, all models."""
    chance = draw(st.randoms(use_true_random=False))
    size = draw(st.sampled_from([24, 40, 12, 5, 1, 0]))
    cells: dict[str, list[Any]] = {
        "age": [-5, 7, 10, 33, 90, 100, 101],
        "city": ["b", "B", "a", "ba", "é", "a "],
        "step": STEPS[: draw(st.integers(2, 6))],
    }
    columns = draw(st.permutations(list(cells)))[: draw(st.integers(1, 3))]
    for column in columns:
        if draw(st.booleans()):
            cells[column] = [*cells[column], None]
    unit = draw(st.sampled_from([None, None, "unit"]))
    rows = [
        {
            **{column: chance.choice(cells[column]) for column in columns},
            "s0": chance.choice(["x", "y", "z", None]),
            "unit": chance.choice(["u1", "u2", "u3", "u4", "u5", "u6", "u7", None]),
        }
        for _ in range(size)
    ]
    requirements: list[Any] = [{"k_anonymity": {"k": draw(st.integers(1, 4))}}]
    requirements += draw(st.sampled_from(FURTHER))
    if unit is not None:
        requirements = [item for item in requirements if "beta_likeness" not in item]
    ordered = {}
    for column in columns:
        held = {row[column] for row in rows}
        values = sorted(held - {None}, key=lambda value: value if isinstance(value, int) else value.encode())
        listed = column == "step"
        weight = draw(st.sampled_from([1.0, 1.0, 3.0]))
        ordered[column] = Ordered(STEPS if listed else values, None in held, listed, weight)
    return MondrianProblem(rows, ordered, requirements, unit)


FURTHER: list[list[Any]] = [
    [],
    [],
    [{"l_diversity": {"attribute": "s0", "l": 2, "variant": "distinct"}}],
    [{"l_diversity": {"attribute": "s0", "l": 1.5, "variant": "entropy"}}],
    [{"t_closeness": {"attribute": "s0", "t": 0.3}}],
    [{"beta_likeness": {"attribute": "s0", "beta": 1.5, "variant": "basic"}}],
]


def published(database: Database, problem: MondrianProblem, **changes: Any) -> kanon_sql.results.Release:
    """Publish a problem."""
    for name in ("people_release", "kanon_sql_manifest", "kanon_sql_scratch"):
        database.connection.execute(f"DROP TABLE IF EXISTS {name}")
    types = types_of(problem)
    names = [name for name in types if name != "serial"]
    lines = [[*(row[name] for name in names), number] for number, row in enumerate(problem.rows)]
    database.table("people", types, lines)
    return kanon_sql.anonymize(database.engine, asked(problem, **changes))


def types_of(problem: MondrianProblem) -> dict[str, str]:
    """The columns of a problem's table."""
    types = {column: "INTEGER" if column == "age" else "VARCHAR" for column in problem.columns}
    return {**types, "s0": "VARCHAR", "unit": "VARCHAR", "serial": "INTEGER"}


def asked(problem: MondrianProblem, **changes: Any) -> kanon_sql.Spec:
    """The spec of a problem."""
    tree = {"tree": {"some": STEPS[:3], "more": STEPS[3:]}}
    quasi_identifiers = {
        column: {**(tree if ordered.listed else {}), "weight": ordered.weight}
        for column, ordered in problem.columns.items()
    }
    protected = {"sensitive": ["s0"], "privacy": list(problem.requirements), "unit": problem.unit}
    return spec(quasi_identifiers, **protected, **changes)


def classes_of(database: Database, problem: MondrianProblem) -> dict[Any, set[int]]:
    """The classes of what was published: labels -> serial numbers."""
    names = [*problem.columns, "s0", "serial"]
    found: dict[Any, set[int]] = {}
    for line in database.rows("people_release"):
        row = dict(zip(names, line, strict=True))
        assert row["s0"] == problem.rows[row["serial"]]["s0"]
        found.setdefault(tuple(row[column] for column in problem.columns), set()).add(row["serial"])
    return found


@given(problem=problems())
@examples(20)
def test_it_makes_the_classes_of_the_paper(shared_database: Database, problem: MondrianProblem) -> None:
    """The very partitions; none of them has an allowable cut left; labels are true; losses are as told."""
    result = published(shared_database, problem)
    expected = problem.partitions()
    event(f"{result.verdict}, {len(expected or ())} classes")
    if expected is None:
        assert result.verdict == "fail"
        assert "people_release" not in shared_database.tables()
        return
    assert result.verdict == "pass"
    classes = classes_of(shared_database, problem)
    assert {frozenset(members) for members in classes.values()} == expected
    for members in expected:
        assert problem.satisfies(sorted(members))
        assert not problem.allowable_cuts(sorted(members))
    assert_labels_are_true(problem, classes)
    assert result.recoding is not None
    told = {name: column["mean_loss"] for name, column in result.recoding["columns"].items()}
    assert told == pytest.approx(mean_losses(problem, classes))


def assert_labels_are_true(problem: MondrianProblem, classes: dict[Any, set[int]]) -> None:
    """A label covers its cells, names values of its class alone, and stands for one set of values."""
    for position, (column, ordered) in enumerate(problem.columns.items()):
        released = [row[column] for row in problem.rows]
        known = [place for place, value in enumerate(ordered.values) if value in released]
        for labels, members in classes.items():
            label, held = labels[position], {problem.rows[number][column] for number in members}
            stands_for = set_of(label, ordered, released)
            assert held <= stands_for, (column, label)
            assert set(ends_in(label)) <= {str(value) for value in held}, (column, label)
            places = [ordered.place(value) for value in held - {None}]
            if len(held) == 1:
                assert stands_for == held
            elif label not in ("*", "not NULL"):
                assert (None in held) == (None in stands_for)
                if not ordered.listed and len(places) > 1:
                    assert label.startswith("<= ") == (min(places) == known[0])
                    assert label.startswith(">= ") == (max(places) == known[-1])


def mean_losses(problem: MondrianProblem, classes: dict[Any, set[int]]) -> dict[str, float]:
    """Per column the mean of (values under the label - 1) / (values - 1)."""
    found = {}
    for position, (column, ordered) in enumerate(problem.columns.items()):
        released = [row[column] for row in problem.rows]
        lost = sum(
            len(members) * (len(set_of(labels[position], ordered, released)) - 1) for labels, members in classes.items()
        )
        found[column] = lost / max(1, ordered.size - 1) / len(problem.rows)
    return found


@pytest.mark.slow
@given(problem=problems())
@examples(12)
def test_relaxed_partitions_have_fewer_than_twice_k_rows(shared_database: Database, problem: MondrianProblem) -> None:
    """Or all of their rows are alike. Classes are partitions with the same labels, which are true."""
    k = problem.requirements[0]["k_anonymity"]["k"]
    problem = replace(problem, requirements=[{"k_anonymity": {"k": k}}], unit=None)
    partitions: list[tuple[int, int]] = []
    with pytest.MonkeyPatch.context() as patched:
        labelled = mondrian.labelled

        def seen(state: Any, *given: Any, **named: Any) -> Any:
            sums = f"SELECT SUM(row_count), COUNT(DISTINCT vector) FROM {state.open.parts[-1]} GROUP BY part"
            partitions.extend(shared_database.connection.execute(sums).fetchall())
            return labelled(state, *given, **named)

        patched.setattr(mondrian, "labelled", seen)
        result = published(shared_database, problem, recoding=RELAXED)
    assert (result.verdict == "pass") == (len(problem.rows) >= max(1, k))
    event(f"{result.verdict}, {len(partitions)} partitions")
    if result.verdict == "fail":
        return
    assert all(k <= rows and (rows < 2 * k or different == 1) for rows, different in partitions)
    assert sum(rows for rows, _ in partitions) == len(problem.rows)
    classes = classes_of(shared_database, problem)
    assert sorted(serial for members in classes.values() for serial in members) == list(range(len(problem.rows)))
    assert all(problem.satisfies(sorted(members)) for members in classes.values())
    assert result.recoding is not None
    assert len(classes) == result.recoding["partitions"] <= len(partitions)
    assert_labels_are_true(problem, classes)
    told = {name: column["mean_loss"] for name, column in result.recoding["columns"].items()}
    assert told == pytest.approx(mean_losses(problem, classes))


# --- worked out by hand, and the paper's figures ------------------------------------------------

PATIENTS = [
    ("Male", 25, 53711, "Flu"),
    ("Female", 25, 53712, "Hepatitis"),
    ("Male", 26, 53711, "Bronchitis"),
    ("Male", 27, 53710, "Broken Arm"),
    ("Female", 27, 53712, "AIDS"),
    ("Male", 28, 53711, "Hang Nail"),
]
"""The table of patients in the introduction of LeFevre, DeWitt, Ramakrishnan (2006)."""


def fill(database: Database, rows: int, seed: int = 3) -> None:
    draw = random.Random(seed)
    lines = [(draw.randint(20, 79), f"{draw.randint(100, 399)}", draw.choice("xyz"), n) for n in range(rows)]
    database.table("people", {"age": "INTEGER", "zip": "VARCHAR", "s0": "VARCHAR", "serial": "INTEGER"}, lines)


@pytest.fixture
def people(database: Database) -> Database:
    fill(database, 60)
    return database


TWO: dict[str, Any] = {"age": None, "zip": None}


@pytest.mark.slow
def test_the_patients_of_the_paper(database: Database) -> None:
    """Its strict multidimensional 2-anonymization; the outer ends of a column are open here, 25 is not told."""
    types = {"sex": "VARCHAR", "age": "INTEGER", "zipcode": "INTEGER", "disease": "VARCHAR"}
    database.table("people", types, PATIENTS)
    asked = {"keep": [], "sensitive": ["disease"]}
    result = kanon_sql.anonymize(database.engine, spec({"sex": None, "age": None, "zipcode": None}, **asked))
    expected = {  # the paper: [25-26] Male 53711; [25-27] Female 53712; [27-28] Male [53710-53711]
        "Flu": ("Male", "<= 26", "53711"),
        "Bronchitis": ("Male", "<= 26", "53711"),
        "Hepatitis": ("Female", "<= 27", "53712"),
        "AIDS": ("Female", "<= 27", "53712"),
        "Broken Arm": ("Male", ">= 27", "<= 53711"),
        "Hang Nail": ("Male", ">= 27", "<= 53711"),
    }
    assert {row[3]: row[:3] for row in database.rows("people_release")} == expected
    assert result.classes["count"] == 3
    assert result.recoding is not None
    assert (result.recoding["method"], result.recoding["variant"]) == ("mondrian", "strict")


def test_labels_worked_out_by_hand(database: Database) -> None:
    """Seven ages cut after 30 and after 50; NULL stands behind 60; the steps are in the order of their hierarchy."""
    ages = [10, 20, 30, 40, 50, 60, None]
    steps = ["none", "middle", "middle", "primary", "doctor", "doctor", "doctor"]
    database.table("people", {"age": "INTEGER", "step": "VARCHAR"}, list(zip(ages, steps, strict=True)))
    tree = {"tree": {"some": STEPS[:3], "more": STEPS[3:]}, "weight": 0}
    result = kanon_sql.anonymize(database.engine, spec({"age": None, "step": tree}, keep=[]))
    assert Counter(database.rows("people_release")) == {
        ("<= 30", "none..middle"): 3,
        ("[40, 50]", "primary..doctor"): 2,
        ("60 or NULL", "doctor"): 2,
    }
    assert result.recoding is not None
    losses = {name: column["mean_loss"] for name, column in result.recoding["columns"].items()}
    assert losses["age"] == pytest.approx((3 * 2 + 2 * 1 + 2 * 1) / 6 / 7)
    assert losses["step"] == pytest.approx((3 * 2 + 2 * 4 + 2 * 0) / 5 / 7)
    levels = result.recoding["columns"]["step"]["levels"]
    assert levels == {"0": {"labels": 1, "rows": 2}, "1": {"labels": 2, "rows": 5}}


def test_a_column_of_two_values_is_cut_between_them(database: Database) -> None:
    """Though more than half of the rows hold the higher one, which is the median."""
    database.table("people", ["zip"], [(value,) for value in "aabbbbb"])
    kanon_sql.anonymize(database.engine, spec({"zip": None}, keep=[]))
    assert Counter(database.rows("people_release")) == {("a",): 2, ("b",): 5}


@pytest.mark.slow
def test_alike_rows_are_divided_where_that_is_allowed(database: Database) -> None:
    """Strict has to keep all together; each half of relaxed has 2 as well. Illnesses do not go by their order."""
    rows = [(value, illness) for value, illness in zip([1, 2, 2, 2, 2, 2, 2, 3], "xxxxyyyy", strict=True)]
    database.table("people", {"age": "INTEGER", "s0": "VARCHAR"}, rows)
    changes: dict[str, Any] = {"keep": [], "sensitive": ["s0"], "privacy": [{"k_anonymity": 4}]}
    kanon_sql.anonymize(database.engine, spec({"age": None}, **changes))
    assert {label for label, _ in database.rows("people_release")} == {"*"}
    kanon_sql.anonymize(database.engine, spec({"age": None}, recoding=RELAXED, **changes))
    released = Counter(database.rows("people_release"))
    assert Counter(label for label, _ in released.elements()) == {"<= 2": 4, ">= 2": 4}
    assert released["<= 2", "x"] - 1 in (1, 2), "of three of the 2, x and y are as many as three can be"


def test_a_column_of_the_source_may_be_called_like_ours(database: Database) -> None:
    database.table("people", {"age": "INTEGER", "kanon_row": "INTEGER"}, [(n // 4, 7) for n in range(12)])
    kanon_sql.anonymize(database.engine, spec({"age": None}, keep=["kanon_row"], recoding=RELAXED))
    assert sum(row[1] == 7 for row in database.rows("people_release")) == 12


def test_a_hierarchy_that_is_its_top_alone_is_not_cut(database: Database) -> None:
    database.table("tree", ["l0"], [("*",)])
    database.table("people", {"zip": "VARCHAR", "age": "INTEGER"}, [("*", n // 2) for n in range(6)])
    kanon_sql.anonymize(database.engine, spec({"zip": {"table": "tree"}, "age": None}, keep=[]))
    assert Counter(database.rows("people_release")) == {("*", "0"): 2, ("*", "1"): 2, ("*", "2"): 2}


def test_rows_with_null_are_suppressed_where_the_spec_says_so(database: Database) -> None:
    """And their values say nothing: 5 is the lowest age, and nobody who is released has it."""
    database.table(
        "people", {"age": "INTEGER", "zip": "VARCHAR"}, [(5, None), (20, "a"), (30, "a"), (40, "b"), (50, "b")]
    )
    changes = {"nulls": "suppress", "suppression": {"max_rows": 1}, "keep": []}
    result = kanon_sql.anonymize(database.engine, spec(TWO, **changes))
    assert result.rows == {"source": 5, "released": 4, "suppressed": 1}
    assert Counter(database.rows("people_release")) == {("<= 30", "a"): 2, (">= 40", "b"): 2}


def test_what_the_whole_table_violates_is_not_released(people: Database) -> None:
    for privacy, why in [
        ([{"k_anonymity": 61}], "fewer than k = 61"),
        ([{"l_diversity": {"attribute": "s0", "l": 2.99, "variant": "entropy"}}], "all rows together violate"),
    ]:
        asked = {"sensitive": ["s0"], "privacy": privacy, "suppression": {"max_share": 0.9}}
        result = kanon_sql.anonymize(people.engine, spec(TWO, **asked))
        assert not result.passed
        assert why in result.message
        assert result.search is None
        assert people.tables() == ["people"]


# --- what it costs ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("recoding", ["mondrian", RELAXED])
def test_statements_and_fetched_rows_do_not_depend_on_the_table(database: Database, recoding: Any) -> None:
    privacy = MORE if recoding == "mondrian" else MORE[:1]
    for rows in (60, 3_000):
        fill(database, rows)
        asked = {"sensitive": ["s0"], "privacy": privacy, "recoding": recoding}
        result = kanon_sql.anonymize(database.engine, spec(TWO, **asked))
        assert result.recoding is not None
        rounds, columns = result.recoding["rounds"] + 1, 2
        assert result.cost.statements <= STATEMENTS_A_ROUND * rounds + 10 * columns + OTHERS
        assert result.cost.rows_fetched <= rounds + 20 * columns + 40
        assert result.cost.source_scans == 2


MORE: list[dict[str, Any]] = [{"k_anonymity": 2}, {"t_closeness": {"attribute": "s0", "t": 0.5}}]


def test_no_value_is_fetched(people: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but numbers, and what the database says of itself, leaves it while the table is recoded."""
    fetched: list[Any] = []
    engine = people.engine
    fetch = engine.fetch

    def kept(statement: Any, limit: int) -> Any:
        found = fetch(statement, limit)
        if statement.name.startswith(("recode/", "evaluate/", "release/recoded")):
            fetched.extend(cell for row in found for cell in row)
        return found

    monkeypatch.setattr(engine, "fetch", kept)
    assert kanon_sql.anonymize(engine, spec(TWO, sensitive=["s0"], privacy=MORE)).passed
    assert fetched
    assert not [cell for cell in fetched if isinstance(cell, str)]


def test_a_budget_ends_the_rounds_and_releases_what_there_is(people: Database) -> None:
    result = kanon_sql.anonymize(people.engine, spec(TWO), budget=kanon_sql.Budget(statements=9))
    assert result.passed
    assert result.recoding is not None
    assert result.stopped == result.recoding["stopped"] == "the search reached its limit of 9 statements"
    assert result.recoding["rounds"] == 1
    assert result.classes["count"] == 2


# --- other verbs, reports ---------------------------------------------------------------------


@pytest.mark.slow
def test_other_verbs_and_reports_know_it(people: Database) -> None:
    plan = kanon_sql.plan(people.engine, spec(TWO), details=True)
    result = kanon_sql.anonymize(people.engine, spec(TWO), details=True)
    assert plan.recoding == result.recoding
    assert plan.achieved.keys() == result.achieved.keys()
    assert kanon_sql.check(people.engine, spec(TWO)).passed
    assert "Multidimensional recoding (Mondrian): the range of a value" in kanon_sql.html_report(result)
    assert result.manifest is not None
    assert result.manifest["recoding"] == result.recoding


# --- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"recoding": {"method": "mondrian", "variant": "loose"}},
            "recoding.variant: unknown variant",
        ),
        (
            {"recoding": {"method": "mondrian", "variant": "fast"}},
            "recoding.variant: mondrian has the variants strict and relaxed",
        ),
        (
            {"recoding": {"method": "local", "variant": "strict"}},
            "recoding.variant: local has the variants fast and best",
        ),
        (
            {"recoding": RELAXED, "sensitive": ["s0"], "privacy": MORE},
            "recoding.variant: relaxed divides equal rows, so it supports k_anonymity of rows only, and "
            "privacy also asks for t_closeness; use strict",
        ),
        ({"recoding": RELAXED, "unit": "person"}, "and a unit counts persons, whose rows it would part; use strict"),
        (
            {"recoding": {"variant": "strict"}},
            "recoding.variant: full_domain is configured under 'search'; only the methods local, cells, cover, kk, "
            "mondrian and",
        ),
        ({"ledger": "releases"}, "ledger: a ledger recomputes earlier releases from one level per column"),
        ({"search": {"algorithm": "k_optimize"}}, "with recoding: mondrian, leave it out"),
        (
            {"quasi_identifiers": {"age": {"intervals": [5], "maximum_level": 1}}},
            "quasi_identifiers.age.maximum_level: mondrian releases ranges of the values, not levels",
        ),
    ],
)
def test_what_a_spec_cannot_ask_for(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        spec(**{"quasi_identifiers": TWO, **changes})
    assert said in str(refused.value)


def test_a_lower_bound_and_a_population_are_refused(people: Database) -> None:
    with pytest.raises(UnsupportedError, match="ranges of mondrian are not hierarchy labels"):
        kanon_sql.plan(people.engine, spec(TWO), bound=True)
    with pytest.raises(UnsupportedError, match="counts the classes of the source alone"):
        kanon_sql.plan(people.engine, spec(TWO, privacy=[{"k_map": {"population": "people", "k": 2}}]))


def test_a_text_that_would_stand_for_two_ranges_is_refused(database: Database) -> None:
    """`*` is a value here, and the label of all values there."""
    database.table(
        "people", {"age": "INTEGER", "zip": "VARCHAR"}, [(1, "*"), (1, "*"), (2, "+"), (2, "-"), (9, "*"), (9, "-")]
    )
    with pytest.raises(HierarchyError, match=r"quasi_identifiers.zip: 1 of its ranges would have the label of another"):
        kanon_sql.anonymize(database.engine, spec({"age": {"weight": 9}, "zip": None}, keep=[]))
    assert database.tables() == ["people"]


# --- failures ---------------------------------------------------------------------------------


def test_a_range_that_does_not_cover_its_cell_is_refused(people: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody mistakes a place for the next: the label of a class is that of other values."""
    checked = write_module.refuse_other_cells

    def check(workspace: Any, sets: Any, mapped: Any, *given: Any) -> None:
        table = mapped.ranges[0].table.parts[-1]
        people.connection.execute(f"UPDATE {table} SET low_place = low_place + 1, high_place = high_place + 1")
        checked(workspace, sets, mapped, *given)

    monkeypatch.setattr(write_module, "refuse_other_cells", check)
    with pytest.raises(VerificationError, match="cells of 'age' have a label that does not cover their value"):
        kanon_sql.anonymize(people.engine, spec(TWO))
    assert "people_release" not in people.tables()


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET age = (SELECT MIN(age) FROM {table})",
        "DELETE FROM {table} WHERE zip = (SELECT MIN(zip) FROM {table})",
    ],
)
def test_a_written_table_that_is_not_the_recoding_is_dropped(
    people: Database, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    verify = write_module._verify

    def tampered(workspace: Any, choice: Any, target: Any, *given: Any, **named: Any) -> Any:
        people.connection.execute(statement.format(table=target.parts[-1]))
        return verify(workspace, choice, target, *given, **named)

    monkeypatch.setattr(write_module, "_verify", tampered)
    with pytest.raises(VerificationError):
        kanon_sql.anonymize(people.engine, spec(TWO))
    assert "people_release" not in people.tables()
