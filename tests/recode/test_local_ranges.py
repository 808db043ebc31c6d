"""Local recoding with columns that are released as ranges of values: an independent one, and what is promised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import floor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import HierarchyError, SpecError, UnsupportedError
from kanon_sql.recode.specialize import STATEMENTS_A_ROUND, STATEMENTS_A_ROUND_OF_SIZES, STATEMENTS_FOR_RANGES
from kanon_sql.recode.sweep import STATEMENTS_A_STEP
from tests.conftest import Database
from tests.oracles.mondrian import MondrianProblem, Ordered, ends_in, set_of
from tests.oracles.recoding import (
    assert_classes_satisfy,
    assert_labels_are_true,
    assert_rows_add_up,
    by_labels,
    domain_of,
    mean_losses,
    weighted_mean,
)
from tests.recode.test_local_recoding import loss_of, released, with_other_models
from tests.recode.test_mondrian import assert_labels_are_true as assert_ranges_are_true
from tests.recode.test_mondrian import classes_of, problems, published
from tests.recode.test_mondrian import mean_losses as mean_losses_of_ranges
from tests.recode.test_recode import SWEPT
from tests.support.oracle_cases import Case, cases, load, tree_of
from tests.support.specs import QUIET
from tests.support.strategies import RandomProblem, examples

OTHERS = 90
"""Statements that a run takes besides its rounds and its columns: sets, orders, labels, verification, publishing."""


# --- all columns as ranges: the same classes as an independent one makes -------------------------


def partitions(problem: MondrianProblem, k: int) -> set[frozenset[int]]:
    """The rows that stay together, where k decides everything: cuts where the most detail is regained."""
    closed, waiting = list[list[int]](), [list(range(len(problem.rows)))]
    alike = Counter(vector_of(problem, number) for number in waiting[0])
    behind = [number for number in waiting[0] if alike[vector_of(problem, number)] < k]
    if not behind or len(behind) >= k:
        waiting = [behind] if behind else []
        for vector, count in alike.items():
            if count >= k:
                closed.append([n for n in range(len(problem.rows)) if vector_of(problem, n) == vector])
    while waiting:
        members = waiting.pop()
        cut = best_cut(problem, members, k)
        if cut is None:
            closed.append(members)
        else:
            waiting += cut
    joined: dict[Any, list[int]] = {}
    for members in closed:
        joined.setdefault(tuple(box(problem, members, column) for column in problem.columns), []).extend(members)
    return {frozenset(members) for members in joined.values()}


def vector_of(problem: MondrianProblem, number: int) -> tuple[Any, ...]:
    return tuple(problem.rows[number][column] for column in problem.columns)


def box(problem: MondrianProblem, members: Sequence[int], column: str) -> tuple[Any, ...]:
    """What a label tells of rows: the first and the last value, and whether there is NULL."""
    ordered = problem.columns[column]
    held = {problem.rows[number][column] for number in members}
    places = sorted(ordered.place(value) for value in held - {None})
    return (*(places[:1]), *(places[-1:]), None in held)


def best_cut(problem: MondrianProblem, members: Sequence[int], k: int) -> tuple[list[int], list[int]] | None:
    """Of the cuts with k rows on both sides, that after which ranges are shortest; then the first column and place."""
    found = []
    for index, (column, ordered) in enumerate(problem.columns.items()):
        place = {number: ordered.place(problem.rows[number][column]) for number in members}
        for after in set(place.values()):
            low = [number for number in members if place[number] <= after]
            high = [number for number in members if place[number] > after]
            if min(len(low), len(high)) < max(1, k):
                continue
            spans = [
                len(rows) * (max(map(place.__getitem__, rows)) - min(map(place.__getitem__, rows)))
                for rows in (members, low, high)
            ]
            unit = ordered.weight / max(1, ordered.size - 1)
            score = floor(1e9 * unit * (spans[0] - spans[1] - spans[2]) / len(members) + 0.5)
            found.append((-score, index, after, low, high))
    return min(found)[3:] if found else None  # type: ignore[return-value]


@pytest.mark.slow
@given(problem=problems())
@examples(10)
def test_it_makes_the_classes_that_its_description_says(shared_database: Database, problem: MondrianProblem) -> None:
    k = problem.requirements[0]["k_anonymity"]["k"]
    problem = replace(problem, requirements=[{"k_anonymity": {"k": k}}], unit=None)
    recoding = {"method": "local", "ranges": list(problem.columns)}
    result = published(shared_database, problem, recoding=recoding)
    assert (result.verdict == "pass") == (len(problem.rows) >= max(1, k))
    event(f"{result.verdict}, k = {k}")
    if result.recoding is not None:
        classes = classes_of(shared_database, problem)
        assert {frozenset(members) for members in classes.values()} == partitions(problem, k)
        assert_ranges_are_true(problem, classes)


STARTS = st.sampled_from([None, "top", "optimum", "both"])
EFFORTS = st.sampled_from(["fast", "fast", "best"])


@given(problem=problems(), effort=EFFORTS, start=STARTS)
@examples(6)
def test_what_is_promised_of_ranges_everywhere(
    shared_database: Database, problem: MondrianProblem, effort: str, start: str | None
) -> None:
    """Numbers, text, NULLs, persons and all models: classes satisfy, labels are true, losses are as told."""
    recoding = {"method": "local", "variant": effort, "ranges": list(problem.columns), "start": start}
    result = published(shared_database, problem, recoding=recoding)
    event(f"{result.verdict}, {effort}, {None if result.recoding is None else result.recoding['start']}")
    if result.recoding is None:
        return
    classes = classes_of(shared_database, problem)
    assert all(problem.satisfies(sorted(members)) for members in classes.values())
    assert sorted(serial for members in classes.values() for serial in members) == list(range(len(problem.rows)))
    assert_ranges_are_true(problem, classes)
    told = {name: column["mean_loss"] for name, column in result.recoding["columns"].items()}
    assert told == pytest.approx(mean_losses_of_ranges(problem, classes))


# --- some columns as ranges, beside hierarchies ---------------------------------------------------


def order_in(case: Case, column: str) -> Ordered:
    """The order of a column's values: of the rows of its hierarchy."""
    hierarchy = case.problem.hierarchies[column]
    values = list(hierarchy)
    if case.forms[column] == "table":
        values = sorted(values, key=str.encode)
    elif case.forms[column] == "tree":
        values = list(leaves(tree_of(hierarchy)))
    return Ordered(values, None in domain_of(case.problem, column), listed=True)


def leaves(tree: dict[str, Any]) -> list[str]:
    return [leaf for name, inside in tree.items() for leaf in (leaves(inside) if inside else [name])]


def assert_kept(database: Database, folder: Path, case: Case, recoding: dict[str, Any]) -> None:
    """Publish the case with some columns as ranges, and hold it to all that a recoding promises."""
    columns = recoding["ranges"]
    problem = replace(
        case.problem, levels={name: own for name, own in case.problem.levels.items() if name not in columns}
    )
    case = replace(case, problem=problem, algorithm="optimal")
    full = load(database, folder, case)
    optimum = kanon_sql.anonymize(database.engine, full)
    drops = optimum.verdict == "pass" and not optimum.rows.get("masked", 0)
    most = loss_of(database, problem, optimum) if drops else 1.0
    database.connection.execute("DROP TABLE IF EXISTS people_release")
    asked = kanon_sql.Spec.from_dict({**full.to_dict(), "recoding": recoding})
    asked._base_dir = full.base_dir
    try:
        result = kanon_sql.anonymize(database.engine, asked)
    except HierarchyError as refused:
        assert "would have the label of another" in str(refused)  # noqa: PT017  (not every case is refused)
        event("refused")
        return
    assert result.verdict == optimum.verdict
    event(f"{result.verdict}, {'node' if result.recoding is None else result.recoding['start']}")
    if result.verdict == "fail":
        return
    assert result.rows["suppressed"] <= optimum.rows["suppressed"]
    release, masked = released(database, problem), result.rows.get("masked", 0)
    assert_rows_add_up(problem, release, result.rows["suppressed"], masked)
    if masked:
        return  # masked rows are a class of their own, which the tests of masking are about
    assert_classes_satisfy(problem, release)
    if result.recoding is None:
        assert result.mean_loss == pytest.approx(most)
        return
    losses = losses_of(case, release, columns)
    told = {name: column["mean_loss"] for name, column in result.recoding["columns"].items()}
    assert told == pytest.approx(losses)
    promised = (recoding["start"] or ("both" if recoding["variant"] == "best" else "top")) != "top"
    if promised and drops:
        assert weighted_mean(problem, losses) <= most + 1e-9
    assert_labels_of_both_kinds_are_true(case, release, columns)


def losses_of(case: Case, release: list[dict[str, Any]], columns: Sequence[str]) -> dict[str, float]:
    """Per column the mean loss of a cell, by what its labels stand for."""
    problem = case.problem
    found = mean_losses(without(problem, columns), release)
    for column in columns:
        ordered = order_in(case, column)
        lost = float(len(problem.rows) - len(release))
        for row in release:
            lost += (len(set_of(row[column], ordered, ())) - 1) / max(1, ordered.size - 1)
        found[column] = lost / len(problem.rows)
    return {column: found[column] for column in problem.hierarchies}


def without(problem: RandomProblem, columns: Sequence[str]) -> RandomProblem:
    """The columns that have labels of their hierarchies."""
    return replace(problem, hierarchies={c: own for c, own in problem.hierarchies.items() if c not in columns})


def assert_labels_of_both_kinds_are_true(case: Case, release: list[dict[str, Any]], columns: Sequence[str]) -> None:
    """Labels of hierarchies as ever, in classes by all columns; ranges cover, and name values of their class alone."""
    problem = case.problem
    classes = by_labels(release, problem.hierarchies)
    for labels, serials in classes.items():
        for column, label in zip(problem.hierarchies, labels, strict=True):
            if column in columns:
                held = {problem.rows[serial][column] for serial in serials}
                assert held <= set_of(label, order_in(case, column), ())
                assert set(ends_in(label)) <= {str(value) for value in held} or str(label) in held
    numbers = {serial: number for number, serials in enumerate(classes.values()) for serial in serials}
    apart = [{**row, **{column: str(numbers[row["serial"]]) for column in columns}} for row in release]
    own = [[row for row in apart if numbers[row["serial"]] == number] for number in range(len(classes))]
    for members in own:
        assert_labels_are_true(without(problem, columns), members)


@st.composite
def with_ranges(draw: st.DrawFn) -> tuple[Case, dict[str, Any]]:
    """A problem, and which of its columns are ranges; they have values below the top."""
    case = draw(st.one_of(cases(), with_other_models()))
    names = [name for name, own in case.problem.hierarchies.items() if len(next(iter(own.values()))) > 1]
    columns = draw(st.lists(st.sampled_from(names), unique=True, min_size=1)) if names else []
    return case, {"method": "local", "variant": draw(EFFORTS), "ranges": columns, "start": draw(STARTS)}


@pytest.mark.slow
@given(drawn=with_ranges())
@examples(6)
def test_what_is_promised_beside_hierarchies(shared_database: Database, folder: Path, drawn: Any) -> None:
    assert_kept(shared_database, folder, *drawn)


# --- worked out by hand ---------------------------------------------------------------------------


def spec(quasi_identifiers: dict[str, Any], recoding: dict[str, Any], **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": quasi_identifiers,
            "privacy": [{"k_anonymity": 2}],
            "recoding": {"method": "local", **recoding},
            **changes,
        }
    )


AGES = {"age": {"intervals": [10, 40]}, "city": {"tree": {"north": ["a", "b"], "south": ["c", "d"]}}}


def fill(database: Database, rows: int) -> None:
    lines = [((n * 37) % 71, "abcd"[(n * 13) % 4], "xyz"[n % 3]) for n in range(rows)]
    database.table("people", {"age": "INTEGER", "city": "VARCHAR", "s0": "VARCHAR"}, lines)


@pytest.fixture
def people(database: Database) -> Database:
    fill(database, 120)
    return database


@pytest.mark.slow
def test_a_table_worked_out_by_hand(database: Database) -> None:
    """The gap between 12 and 80 is worth most; then 10 | 11 beside the cities; the outer ends are open."""
    rows = [(10, "a"), (11, "a"), (12, "b"), (80, "c"), (90, "c"), (None, "d"), (None, "d")]
    database.table("people", {"age": "INTEGER", "city": "VARCHAR"}, rows)
    result = kanon_sql.anonymize(database.engine, spec(AGES, {"ranges": ["age"]}))
    assert Counter(database.rows("people_release")) == {("<= 12", "north"): 3, (">= 80", "c"): 2, (None, "d"): 2}
    assert result.recoding is not None
    assert result.recoding["ranges"] == ["age"]
    assert result.recoding["columns"]["age"]["levels"] == {
        "0": {"labels": 1, "rows": 2, "nulls": 2}, "1": {"labels": 2, "rows": 5},
    }  # fmt: skip
    assert result.recoding["columns"]["age"]["mean_loss"] == pytest.approx((3 * 2 + 2 * 1) / 5 / 7)


def test_a_cut_that_violates_is_not_made_and_another_one_is(database: Database) -> None:
    """The gap is worth most, and all below have the same illness; after 51 both sides have two."""
    rows = list(zip([1, 2, 3, 4, 50, 51, 52, 53], "xxxxxyxy", strict=True))
    database.table("people", {"age": "INTEGER", "s0": "VARCHAR"}, rows)
    asked = spec({"age": None}, {"ranges": ["age"]}, sensitive=["s0"], privacy=MORE)
    kanon_sql.anonymize(database.engine, asked)
    assert Counter(row[0] for row in database.rows("people_release")) == {"<= 51": 6, ">= 52": 2}


@pytest.mark.slow
def test_a_label_of_the_optimum_may_be_narrower_than_any_range(database: Database) -> None:
    """The hierarchy puts values together that lie apart in its rows: the optimum itself keeps the promise then."""
    lines = [(value, "x" if value in "af" else "y", "*") for value in "abcdef"]
    database.table("lines", ["l0", "l1", "l2"], lines)
    database.table("people", ["zip"], [("a",), ("f",)])
    for start, expected in [("top", "*"), ("both", "x"), ("optimum", "x")]:
        asked = spec({"zip": {"table": "lines"}}, {"ranges": ["zip"], "start": start})
        result = kanon_sql.anonymize(database.engine, asked)
        assert Counter(row[0] for row in database.rows("people_release")) == {expected: 2}
        assert (result.node is None) == (start == "top")
    assert any("would lose more" in note for note in result.notes)


@pytest.mark.slow
def test_where_it_begins(people: Database) -> None:
    """What was tried says it; the better one is released; a sweep comes with best, where something is climbed."""
    tried = {}
    for effort, start in [("fast", None), ("fast", "both"), ("fast", "optimum"), ("best", None), ("best", "top")]:
        result = kanon_sql.anonymize(people.engine, spec(AGES, {"variant": effort, "ranges": ["age"], "start": start}))
        assert result.recoding is not None
        losses = {name: item["mean_loss"] for name, item in result.recoding["tried"].items()}
        assert result.recoding["mean_loss"] == pytest.approx(min(losses.values()))
        tried[effort, start] = losses
    assert [list(losses) for losses in tried.values()] == [
        ["top"], ["optimum", "top"], ["optimum"], ["optimum", "top", "sweep"], ["top", "sweep"],
    ]  # fmt: skip
    assert tried["fast", "both"].items() <= tried["best", None].items()
    everywhere = kanon_sql.plan(people.engine, spec(AGES, {"variant": "best", "ranges": ["age", "city"]}))
    assert everywhere.recoding is not None
    assert list(everywhere.recoding["tried"]) == ["optimum", "top"]


# --- what it costs --------------------------------------------------------------------------------

MORE: list[dict[str, Any]] = [{"k_anonymity": 2}, {"l_diversity": {"attribute": "s0", "l": 2}}]


@pytest.mark.slow
@pytest.mark.parametrize(("privacy", "most"), [(MORE[:1], STATEMENTS_A_ROUND_OF_SIZES), (MORE, STATEMENTS_A_ROUND)])
def test_statements_and_fetched_rows_do_not_depend_on_the_table(
    database: Database, privacy: list[Any], most: int
) -> None:
    for rows in (120, 3_000):
        fill(database, rows)
        asked = spec(AGES, {"ranges": ["age"]}, sensitive=["s0"], privacy=privacy, warnings=QUIET)
        result = kanon_sql.anonymize(database.engine, asked)
        assert result.recoding is not None
        rounds, steps, columns = result.recoding["rounds"] + 2, result.recoding["tried"]["top"]["steps"], 2
        each = (most + STATEMENTS_FOR_RANGES) * rounds + STATEMENTS_A_STEP * steps
        assert result.cost.statements <= each + 10 * columns + OTHERS + SWEPT
        assert result.cost.rows_fetched <= 2 * rounds + steps + 30 * columns + 40
        assert result.cost.source_scans <= 2


# --- other verbs, refusals -------------------------------------------------------------------------


@pytest.mark.slow
def test_other_verbs_and_reports_know_it(people: Database) -> None:
    asked = spec(AGES, {"ranges": ["age"]})
    plan = kanon_sql.plan(people.engine, asked, details=True)
    result = kanon_sql.anonymize(people.engine, asked, details=True)
    assert plan.recoding == result.recoding
    assert kanon_sql.check(people.engine, asked).passed
    assert "age as ranges of its values" in kanon_sql.html_report(result)
    assert kanon_sql.risk(people.engine, asked).histogram.records == result.rows["released"]
    assert result.manifest is not None
    assert result.manifest["recoding"] == result.recoding
    ways = ["full_domain", {"method": "local", "ranges": ["age"]}]
    compared = kanon_sql.compare(people.engine, {"people": asked}, recodings=ways)
    assert [run.recoding for run in compared.runs] == ["full_domain", "local:fast:ranges=age"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"recoding": {"method": "local", "ranges": "age"}}, "recoding.ranges: expected a list of quasi-identifiers"),
        ({"recoding": {"method": "local", "ranges": ["sex"]}}, "'sex' is no quasi-identifier"),
        ({"recoding": {"method": "local", "ranges": [3]}}, "recoding.ranges: expected names of quasi-identifiers"),
        ({"recoding": {"method": "local", "start": "here"}}, "recoding.start: unknown start"),
        (
            {"recoding": {"method": "mondrian", "ranges": ["age"]}},
            "recoding.ranges: only the methods local and subtree take it",
        ),
        ({"recoding": {"method": "cells", "start": "top"}}, "recoding.start: only the methods local and kk take it"),
        (
            {"quasi_identifiers": {"age": {"intervals": [5], "minimum_level": 1}}},
            "quasi_identifiers.age.minimum_level: recoding.ranges releases this column as ranges, not levels",
        ),
    ],
)
def test_what_a_spec_cannot_ask_for(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        spec(**{"quasi_identifiers": AGES, "recoding": {"ranges": ["age"]}, **changes})
    assert said in str(refused.value)


def test_limits_of_levels_of_other_columns_hold(people: Database) -> None:
    columns = {**AGES, "city": {**AGES["city"], "minimum_level": 1, "maximum_level": 1}}
    kanon_sql.anonymize(people.engine, spec(columns, {"ranges": ["age"]}))
    assert {row[1] for row in people.rows("people_release")} == {"north", "south"}


def test_a_lower_bound_is_refused(people: Database) -> None:
    with pytest.raises(UnsupportedError, match="ranges"):
        kanon_sql.plan(people.engine, spec(AGES, {"ranges": ["age"]}), bound=True)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("recoding", [{"ranges": ["age"]}, {"method": "mondrian"}])
def test_downcoding_of_ranges_is_refused(people: Database, recoding: dict[str, Any]) -> None:
    """Instead of no rows found, which would look safe."""
    asked = spec(AGES, recoding)
    kanon_sql.anonymize(people.engine, asked)
    with pytest.raises(UnsupportedError, match="some labels are ranges of values"):
        kanon_sql.audit(people.engine, asked, attacks=["downcoding"])
