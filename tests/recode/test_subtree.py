"""Subtree recoding against one in plain Python; the papers' examples; what it costs and what it refuses."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError, VerificationError
from kanon_sql.recode import subtree as subtree_module
from kanon_sql.recode.subtree import STATEMENTS_A_ROUND
from kanon_sql.release import write as write_module
from kanon_sql.report.recoding import recoding_in_words
from tests.conftest import Database
from tests.oracles.recoding import assert_classes_satisfy, assert_rows_add_up, mean_losses, weighted_mean
from tests.oracles.subtree import SubtreeProblem, Taken
from tests.support.oracle_cases import Case, cases, load
from tests.support.specs import QUIET
from tests.support.strategies import RandomProblem, examples
from tests.support.suppressions import suppressing

OTHERS = 80
"""Statements that a run takes besides its rounds and its columns: sets, labels, verification, publishing."""

DIRECTIONS = ["top_down", "bottom_up"]


def subtree(spec: kanon_sql.Spec, **options: Any) -> kanon_sql.Spec:
    """The spec with subtree recoding."""
    made = kanon_sql.Spec.from_dict({**spec.to_dict(), "recoding": {"method": "subtree", **options}})
    made._base_dir = spec.base_dir
    return made


def released(database: Database, problem: RandomProblem) -> list[dict[str, Any]]:
    """The rows of the release."""
    names = [*problem.hierarchies, *problem.sensitive, "serial"]
    return [dict(zip(names, line, strict=True)) for line in database.rows("people_release")]


# --- against the oracle -----------------------------------------------------------------------

NAMED = {
    "flat": {value: (value, "*") for value in "abcdef"},
    "deep": {value: (value, value[:2], value[:1], "*") for value in ("aax", "aay", "abx", "aby", "bax", "bay", "bbx")},
    "lopsided": {
        "p": ("p", "p", "P", "*"),
        "q": ("q", "qr", "QR", "*"),
        "r": ("r", "qr", "QR", "*"),
        "s": ("s", "stu", "STU", "*"),
        "t": ("t", "stu", "STU", "*"),
        "u": ("u", "stu", "STU", "*"),
    },
    "named like another": {
        "a": ("a", "b", "1", "*"),
        "b": ("b", "c", "1", "*"),
        "c": ("c", "y", "2", "*"),
        "d": ("d", "1", "2", "*"),
        "e": ("e", "x", "x", "*"),
    },
}
"""Hierarchies with single children, paths that differ in what they tell, and texts that stand for several sets."""


@st.composite
def scattered(draw: st.DrawFn) -> Case:
    """A problem of taller hierarchies and more different rows, so that many steps are taken."""
    chance = draw(st.randoms(use_true_random=False))
    columns = [f"q{number}" for number in range(draw(st.integers(1, 3)))]
    hierarchies = {column: NAMED[draw(st.sampled_from(list(NAMED)))] for column in columns}
    cells = {
        column: [*hierarchy, *([None] if draw(st.booleans()) else [])] for column, hierarchy in hierarchies.items()
    }
    rows = [
        {
            **{column: chance.choice(values) for column, values in cells.items()},
            "s0": chance.choice(["x", "y", "y", None]),
            "unit": chance.choice(["u1", "u2", "u3", "u4", "u5", "u6", "u7", None]),
        }
        for _ in range(draw(st.integers(8, 40)))
    ]
    diverse = {"l_diversity": {"attribute": "s0", "l": 2, "variant": draw(st.sampled_from(["distinct", "entropy"]))}}
    close = {"t_closeness": {"attribute": "s0", "t": 0.4}}
    further = draw(st.sampled_from([[], [], [], [diverse], [close], [diverse, close]]))
    problem = RandomProblem(
        rows=rows,
        hierarchies=hierarchies,
        sensitive=["s0"],
        requirements=[{"k_anonymity": {"k": draw(st.integers(2, 4))}}, *further],
        limit=draw(st.sampled_from([0, 0, 3, 0.2, 1.0])),
        nulls=draw(st.sampled_from(["value", "suppress"])),
        unit=draw(st.sampled_from([None, None, "unit"])),
        weights=draw(st.sampled_from([{}, {"q0": 3.0, "q1": 0.5}])),
        levels=draw(st.sampled_from([{}, {}, {"q0": (0, 1)}, {"q0": (1, 1)}])),
    )
    return Case(problem=problem, forms=dict.fromkeys(columns, "table"))


def watch(patched: pytest.MonkeyPatch, database: Database, taken: list[Taken]) -> None:
    """Note the column and the level of every step that is taken."""
    chosen, cheapest = subtree_module._Cut._chosen, subtree_module._Cut._cheapest

    def noted(down: bool, steps: str) -> None:
        found = database.connection.execute(f"SELECT attribute, label_level FROM {steps}").fetchall()
        taken.extend((down, attribute, level) for attribute, level in found)

    def downwards(self: Any, *given: Any) -> Any:
        found = chosen(self, *given)
        noted(True, found.parts[-1])
        return found

    def upwards(self: Any, tallies: Any) -> Any:
        found = cheapest(self, tallies)
        if found is not None:
            noted(False, f"{self.steps.parts[-1]} WHERE number = {found.number}")
        return found

    patched.setattr(subtree_module._Cut, "_chosen", downwards)
    patched.setattr(subtree_module._Cut, "_cheapest", upwards)


def assert_right(database: Database, folder: Path, case: Case, direction: str, classify: bool) -> None:
    """Publish the case, and hold the release to the oracle's, and to what every recoding promises."""
    problem = case.problem
    case = replace(case, style="drop", algorithm="optimal", metric="loss")
    named = problem.sensitive[0] if classify and problem.sensitive else None
    options = {"variant": direction, **({} if named is None else {"classify": named})}
    taken: list[Taken] = []
    with pytest.MonkeyPatch.context() as patched:
        watch(patched, database, taken)
        result = kanon_sql.anonymize(database.engine, subtree(load(database, folder, case), **options))
    oracle = SubtreeProblem(problem, direction, named)
    if result.recoding is None:
        event(f"no recoding: {result.verdict}")
        one = all(low == high for low, high in (problem.levels.get(name, (0, 1)) for name in problem.hierarchies))
        assert result.verdict == "fail" or one
        assert one or not oracle.is_possible
        return
    answers = oracle.answers(taken)
    release = released(database, problem)
    found = frozenset((row["serial"], tuple(row[column] for column in problem.hierarchies)) for row in release)
    event(f"{result.recoding['rounds']} rounds, {len(problem.rows) - len(release)} suppressed")
    assert found in answers
    assert_rows_add_up(problem, release, result.rows["suppressed"], 0)
    assert_classes_satisfy(problem, release)
    assert result.classes["count"] == result.recoding["partitions"]
    losses = mean_losses(problem, release)
    assert result.mean_loss == pytest.approx(weighted_mean(problem, losses), abs=1e-9)


@given(case=cases(), direction=st.sampled_from(DIRECTIONS), classify=st.booleans())
@examples(10)
def test_the_same_release_as_the_oracle(
    shared_database: Database, folder: Path, case: Case, direction: str, classify: bool
) -> None:
    assert_right(shared_database, folder, case, direction, classify)


@pytest.mark.slow
@given(case=scattered(), direction=st.sampled_from(DIRECTIONS), classify=st.booleans())
@examples(12)
def test_the_same_release_after_many_steps(
    shared_database: Database, folder: Path, case: Case, direction: str, classify: bool
) -> None:
    assert_right(shared_database, folder, case, direction, classify)


# --- worked out by hand, and the papers' example --------------------------------------------------

EDUCATION = {
    "Secondary": {"Junior": ["9th", "10th"], "Senior": ["11th", "12th"]},
    "University": {"Undergraduate": ["Bachelors"], "Graduate": ["Masters", "Doctorate"]},
}
HOURS = {"[1-37)": {"[1-35)": ["30", "32"], "[35-37)": ["35"]}, "[37-99)": {"[37-99) in all": ["37", "42", "44"]}}
RECORDS = [
    ("9th", "M", 30, 0, 3),
    ("10th", "M", 32, 0, 4),
    ("11th", "M", 35, 2, 3),
    ("12th", "F", 37, 3, 1),
    ("Bachelors", "F", 42, 4, 2),
    ("Bachelors", "F", 44, 4, 0),
    ("Masters", "M", 44, 4, 0),
    ("Masters", "F", 44, 3, 0),
    ("Doctorate", "F", 44, 1, 0),
]
"""Table 1 of Fung, Wang, Yu (2005): education, sex, hours, and how many records are of class Y and of N."""


def asked(quasi_identifiers: dict[str, Any], **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": quasi_identifiers,
            "privacy": [{"k_anonymity": 4}],
            "recoding": "subtree",
            **changes,
        }
    )


@pytest.fixture
def records(database: Database) -> Database:
    lines = [
        (education, sex, hours, which)
        for education, sex, hours, yes, no in RECORDS
        for which, count in (("Y", yes), ("N", no))
        for _ in range(count)
    ]
    database.table("people", {"education": "VARCHAR", "sex": "VARCHAR", "hours": "INTEGER", "class": "VARCHAR"}, lines)
    return database


WORKERS = {"education": {"tree": EDUCATION}, "sex": None, "hours": {"tree": HOURS}}
BY_CLASS = {"sensitive": ["class"], "recoding": {"method": "subtree", "classify": "class"}}


@pytest.mark.slow
def test_the_records_of_the_paper(records: Database) -> None:
    """Junior and Graduate stay, Senior does not: labels on several levels, and classes as small as asked."""
    result = kanon_sql.anonymize(records.engine, asked(WORKERS, **BY_CLASS))
    assert Counter(row[:3] for row in records.rows("people_release")) == {
        ("Junior", "M", "[1-35)"): 7,
        ("11th", "M", "35"): 5,
        ("12th", "F", "37"): 4,
        ("Bachelors", "F", "42"): 6,
        ("Bachelors", "F", "44"): 4,
        ("Graduate", "M", "44"): 4,
        ("Graduate", "F", "44"): 4,
    }
    assert result.recoding is not None
    assert (result.recoding["variant"], result.recoding["classify"]) == ("top_down", "class")
    assert result.recoding["columns"]["education"]["levels"] == {
        "0": {"labels": 3, "rows": 19},
        "1": {"labels": 2, "rows": 15},
    }


@pytest.mark.slow
def test_what_a_label_tells_is_what_the_paper_says(records: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """InfoGain(ANY_Edu) = 0.9597 - (16/34 x 0.8960 + 18/34 x 0.5033) = 0.2716; of the sexes a bit is told as well."""
    told: dict[tuple[int, int], int] = {}
    step = subtree_module._Cut._step

    def seen(self: Any) -> bool:
        rows = f"SELECT attribute, label_level, majority_gain FROM {self.steps.parts[-1]}"
        told.update(
            {(attribute, level): bits for attribute, level, bits in records.connection.execute(rows).fetchall()}
        )
        return step(self)

    monkeypatch.setattr(subtree_module._Cut, "_step", seen)
    kanon_sql.plan(records.engine, asked(WORKERS, **BY_CLASS))
    assert told[0, 3] / 1e9 == pytest.approx(0.2716, abs=5e-5)
    assert told[1, 1] / 1e9 == pytest.approx(0.9597 - (16 / 34 * 0.9544 + 18 / 34 * 0.6500), abs=5e-4)


@pytest.mark.slow
def test_a_class_label_decides_what_is_specialized(database: Database) -> None:
    """Either column can be told, not both: without a class the one of more weight, with one the one that tells it."""
    rows = [(a, b, "Y" if b == "x" else "N") for a in "pqr" for b in "xy"]
    database.table("people", ["a", "b", "class"], rows)
    columns: dict[str, Any] = {"a": {"weight": 3}, "b": None}
    privacy = {"privacy": [{"k_anonymity": 2}], "sensitive": ["class"]}
    kanon_sql.anonymize(database.engine, asked(columns, **privacy))
    assert {row[:2] for row in database.rows("people_release")} == {("p", "*"), ("q", "*"), ("r", "*")}
    kanon_sql.anonymize(database.engine, asked(columns, **{**BY_CLASS, **privacy, "recoding": BY_CLASS["recoding"]}))
    assert {row[:2] for row in database.rows("people_release")} == {("*", "x"), ("*", "y")}


@pytest.mark.slow
def test_what_a_class_label_tells_is_weighed(database: Database) -> None:
    """a tells more of the class, and only one of them can be told; with a weight of 20, what b tells counts more."""
    rows = ["pxY", "pxY", "pxY", "pyY", "qxN", "qyN", "qyN", "qyY"]
    database.table("people", ["a", "b", "class"], [tuple(row) for row in rows])
    for weight, expected in ((1, {("p", "*"): 4, ("q", "*"): 4}), (20, {("*", "x"): 4, ("*", "y"): 4})):
        kanon_sql.anonymize(database.engine, asked({"a": None, "b": {"weight": weight}}, **BY_CLASS))
        assert Counter(row[:2] for row in database.rows("people_release")) == expected


@pytest.mark.slow
def test_labels_of_one_class_come_last(database: Database) -> None:
    """All rows of u are of class Y, so that its values tell nothing; c, of which it may be told, goes first."""
    rows = [(value, c, "Y") for value in ("u1", "u2") for c in "xxyy"]
    rows += [("v1", c, which) for c in "xxyy" for which in "YN"]
    database.table("people", ["a", "c", "class"], rows)
    columns = {"a": {"tree": {"u": ["u1", "u2"], "v": ["v1", "v2"]}, "weight": 9}, "c": None}
    kanon_sql.anonymize(database.engine, asked(columns, **BY_CLASS))
    expected = {("u", "x"): 4, ("u", "y"): 4, ("v1", "x"): 4, ("v1", "y"): 4}
    assert Counter(row[:2] for row in database.rows("people_release")) == expected
    kanon_sql.anonymize(database.engine, asked(columns, sensitive=["class"]))
    assert {row[0] for row in database.rows("people_release")} == {"u1", "u2", "v1"}


@pytest.mark.slow
def test_suppressed_rows_are_no_smallest_class(database: Database) -> None:
    """a: 12 rows regain all of it, for (13 - 6) + 1 suppressed; b: 13 rows, for 13 - 4. That 1 is in no class."""
    rows = [("p", "s")] * 2 + [("p", "t")] * 4 + [("q", "s")] * 2 + [("q", "t")] * 4 + [("r", "t")]
    database.table("people", ["a", "b"], rows)
    changes = {"privacy": [{"k_anonymity": 3}], "suppression": {"max_rows": 1}}
    kanon_sql.anonymize(database.engine, asked({"a": None, "b": None}, **changes))
    assert Counter(database.rows("people_release")) == {("p", "*"): 6, ("q", "*"): 6}


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_released_text_stands_for_one_set_of_values(database: Database, direction: str) -> None:
    """`b` is a value, and above it the label of a; `c` likewise; `1` is on two levels for others."""
    hierarchy = NAMED["named like another"]
    database.table("tree", ["l0", "l1", "l2", "l3"], list(hierarchy.values()))
    database.table("people", ["a"], [(value,) for value in hierarchy for _ in range(4)])
    recoding = {"method": "subtree", "variant": direction}
    kanon_sql.anonymize(database.engine, asked({"a": {"table": "tree"}}, recoding=recoding))
    assert Counter(database.rows("people_release")) == {("a",): 4, ("c",): 4, ("2",): 8, ("e",): 4}


@pytest.mark.slow
def test_rows_are_suppressed_where_others_regain_more(database: Database) -> None:
    """One row is in the way of six; with a limit for one it goes, with a limit for all nobody else does."""
    database.table("people", ["a"], [(value,) for value in "pppqqqr"])
    for limit, expected in ((0, {"*": 7}), (1, {"p": 3, "q": 3}), (1.0, {"p": 3, "q": 3})):
        changes = {"privacy": [{"k_anonymity": 3}], "suppression": suppressing(limit)}
        result = kanon_sql.anonymize(database.engine, asked({"a": None}, **changes))
        assert Counter(label for (label,) in database.rows("people_release")) == expected
        assert result.rows["suppressed"] == 7 - sum(expected.values())


@pytest.mark.slow
def test_rows_with_null_count_where_rows_are_suppressed(database: Database) -> None:
    database.table("people", ["a"], [*((value,) for value in "pppqqqr"), (None,)])
    for limit, expected in ((1, {"*": 7}), (2, {"p": 3, "q": 3})):
        changes = {"privacy": [{"k_anonymity": 3}], "suppression": suppressing(limit), "nulls": "suppress"}
        kanon_sql.anonymize(database.engine, asked({"a": None}, **changes))
        assert Counter(label for (label,) in database.rows("people_release")) == expected


@pytest.mark.slow
def test_rows_with_more_detail_than_others_regain_are_not_suppressed(database: Database) -> None:
    """b would be told of six rows, and three that have a, which weighs more, would go."""
    rows = [("p", "s")] * 3 + [("p", "t")] * 3 + [("q", "s")] * 2 + [("q", "t")]
    database.table("people", ["a", "b"], rows)
    for direction in DIRECTIONS:
        recoding = {"method": "subtree", "variant": direction}
        changes = {"privacy": [{"k_anonymity": 3}], "suppression": {"max_rows": 3}, "recoding": recoding}
        kanon_sql.anonymize(database.engine, asked({"a": {"weight": 9}, "b": None}, **changes))
        assert Counter(database.rows("people_release")) == {("p", "*"): 6, ("q", "*"): 3}


def test_what_the_highest_labels_violate_is_not_released(records: Database) -> None:
    """Of the entropies of the class, men's is 1.94 values (6 Y, 10 N), women's 1.57 (15 Y, 3 N)."""

    def diverse(l: float) -> list[Any]:  # noqa: E741
        return [{"l_diversity": {"attribute": "class", "l": l, "variant": "entropy"}}]

    for limit, privacy, why in (
        (0, [{"k_anonymity": 35}], "fewer than k = 35"),
        (1.0, diverse(1.94), "every row violates the requirements with the highest labels allowed"),
        (1, diverse(1.8), "18 rows violate the requirements with the highest labels allowed"),
    ):
        changes = {**BY_CLASS, "privacy": privacy, "suppression": suppressing(limit)}
        result = kanon_sql.anonymize(records.engine, asked({**WORKERS, "sex": {"maximum_level": 0}}, **changes))
        assert not result.passed
        assert why in result.message
        assert records.tables() == ["people"]


# --- what it costs ----------------------------------------------------------------------------


def fill(database: Database, rows: int) -> None:
    draw = random.Random(3)
    lines = [(draw.randint(20, 79), f"{draw.randint(100, 399)}", draw.choice("xyz")) for _ in range(rows)]
    database.table("people", {"age": "INTEGER", "zip": "VARCHAR", "s0": "VARCHAR"}, lines)


TWO: dict[str, Any] = {"age": {"intervals": [20]}, "zip": {"prefix": [1]}}
MORE: dict[str, Any] = {
    "sensitive": ["s0"],
    "privacy": [{"k_anonymity": 4}, {"t_closeness": {"attribute": "s0", "t": 0.5}}],
}


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_statements_and_fetched_rows_do_not_depend_on_the_table(database: Database, direction: str) -> None:
    for rows in (60, 3_000):
        fill(database, rows)
        recoding = {"method": "subtree", "variant": direction, "classify": "s0"}
        result = kanon_sql.anonymize(database.engine, asked(TWO, **{**MORE, "recoding": recoding, "warnings": QUIET}))
        assert result.recoding is not None
        rounds = result.recoding["rounds"] + 2  # and in each direction one that finds nothing
        labels = 3 + 1 + 3 + 1  # above the values: of ages, of ZIP codes
        assert result.recoding["rounds"] <= 2 * labels
        assert result.cost.statements <= STATEMENTS_A_ROUND * rounds + 20 + OTHERS
        assert result.cost.rows_fetched <= 2 * rounds + 80
        assert result.cost.source_scans == 1


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_no_value_is_fetched(records: Database, monkeypatch: pytest.MonkeyPatch, direction: str) -> None:
    """Nothing but numbers, and what the database says of itself, leaves it while the table is recoded."""
    fetched: list[Any] = []
    engine = records.engine
    fetch = engine.fetch

    def kept(statement: Any, limit: int) -> Any:
        found = fetch(statement, limit)
        if statement.name.startswith(("recode/", "evaluate/", "release/recoded")):
            fetched.extend(cell for row in found for cell in row)
        return found

    monkeypatch.setattr(engine, "fetch", kept)
    recoding = {"method": "subtree", "variant": direction, "classify": "class"}
    assert kanon_sql.anonymize(engine, asked(WORKERS, **{**BY_CLASS, "recoding": recoding})).passed
    assert fetched
    assert not [cell for cell in fetched if isinstance(cell, str)]


@pytest.mark.slow
def test_a_budget_releases_what_was_specialized_or_the_highest_labels(records: Database) -> None:
    for direction, labels in (("top_down", 2), ("bottom_up", 1)):
        changes = {**BY_CLASS, "recoding": {"method": "subtree", "variant": direction}}
        budget = kanon_sql.Budget(statements=12)
        result = kanon_sql.anonymize(records.engine, asked(WORKERS, **changes), budget=budget)
        assert result.passed
        assert result.recoding is not None
        assert result.stopped == result.recoding["stopped"] == "the search reached its limit of 12 statements"
        assert result.classes["count"] == labels


@pytest.mark.slow
def test_more_labels_than_rounds_are_allowed_is_refused(records: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Education has 7 labels above its values, sex 1, hours 6."""
    monkeypatch.setattr(subtree_module, "MOST_STEPS", 14)
    assert kanon_sql.plan(records.engine, asked(WORKERS, **BY_CLASS)).passed
    monkeypatch.setattr(subtree_module, "MOST_STEPS", 13)
    with pytest.raises(UnsupportedError, match="the hierarchies have 14 labels to step from; at most 13 are possible"):
        kanon_sql.plan(records.engine, asked(WORKERS, **BY_CLASS))


# --- other verbs, reports, refusals -----------------------------------------------------------


@pytest.mark.slow
def test_other_verbs_and_reports_know_it(records: Database) -> None:
    spec = asked(WORKERS, **BY_CLASS)
    plan = kanon_sql.plan(records.engine, spec, bound=True, details=True)
    result = kanon_sql.anonymize(records.engine, spec, details=True)
    assert plan.recoding is not None
    assert result.recoding is not None
    assert plan.recoding["bound"]["mean_loss"] <= result.recoding["mean_loss"]
    assert {**plan.recoding, "bound": None} == result.recoding
    assert kanon_sql.check(records.engine, spec).passed
    assert kanon_sql.audit(records.engine, spec, "people_release", attacks=["consistency"]).passed
    assert "Subtree recoding: a value has one label for all rows" in kanon_sql.html_report(result)
    assert "7 classes made in 11 rounds; cells lose" in recoding_in_words(result.recoding)
    others = ["full_domain", "subtree", {"method": "subtree", "variant": "bottom_up", "classify": "class"}]
    runs = kanon_sql.compare(records.engine, {"records": spec}, recodings=others).runs
    assert [run.recoding for run in runs] == ["full_domain", "subtree:top_down", "subtree:bottom_up:classify=class"]


def test_one_level_a_column_leaves_nothing_to_specialize(records: Database) -> None:
    result = kanon_sql.anonymize(records.engine, asked({"sex": {"maximum_level": 0}}, **BY_CLASS))
    assert result.node == {"sex": 0}
    assert result.recoding is None
    assert "recoding: subtree has no label to specialize: every column allows one level" in str(result.notes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"recoding": {"method": "subtree", "variant": "up"}}, "recoding.variant: unknown variant"),
        ({"recoding": {"method": "subtree", "classify": 3}}, "recoding.classify: expected the name of the column"),
        (
            {"recoding": {"method": "local", "variant": "top_down"}},
            "recoding.variant: local has the variants fast and best",
        ),
        ({"recoding": {"method": "local", "classify": "class"}}, "classify: only the method subtree takes it"),
        ({"recoding": {"method": "subtree", "classify": "sex"}}, "recoding.classify: 'sex' is a quasi-identifier"),
        ({"recoding": {"method": "subtree", "classify": "klass"}}, "recoding.classify: 'klass' is not released"),
        ({"ledger": "releases"}, "which recoding: subtree does not have"),
    ],
)
def test_what_a_spec_cannot_ask_for(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        asked(WORKERS, **{"sensitive": ["class"], **changes})
    assert said in str(refused.value)


def test_a_population_is_refused(records: Database) -> None:
    with pytest.raises(UnsupportedError, match="recoding: subtree counts the classes of the source alone"):
        kanon_sql.plan(records.engine, asked(WORKERS, privacy=[{"k_map": {"population": "people", "k": 2}}]))


# --- failures ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET education = (SELECT MIN(education) FROM {table})",
        "DELETE FROM {table} WHERE hours = (SELECT MIN(hours) FROM {table})",
    ],
)
def test_a_written_table_that_is_not_the_recoding_is_dropped(
    records: Database, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    verify = write_module._verify

    def tampered(workspace: Any, choice: Any, target: Any, *given: Any, **named: Any) -> Any:
        records.connection.execute(statement.format(table=target.parts[-1]))
        return verify(workspace, choice, target, *given, **named)

    monkeypatch.setattr(write_module, "_verify", tampered)
    with pytest.raises(VerificationError):
        kanon_sql.anonymize(records.engine, asked(WORKERS))
    assert "people_release" not in records.tables()
