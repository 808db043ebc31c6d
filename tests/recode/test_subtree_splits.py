"""Subtree recoding in which intervals are split where most is told: against plain Python, and the paper's example."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from math import log2
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import HierarchyError, SpecError, UnsupportedError
from kanon_sql.recode import subtree as subtree_module
from kanon_sql.recode.subtree import STATEMENTS_A_ROUND, STATEMENTS_FOR_RANGES
from kanon_sql.report.recoding import recoding_in_words
from tests.conftest import Database
from tests.oracles.mondrian import Ordered, set_of
from tests.oracles.recoding import assert_classes_satisfy, assert_rows_add_up, weighted_mean
from tests.oracles.subtree import SubtreeProblem, Taken
from tests.recode.test_subtree import BY_CLASS, EDUCATION, NAMED, OTHERS, asked, records, watch
from tests.support.specs import QUIET
from tests.support.strategies import RandomProblem, examples
from tests.support.suppressions import suppressing

__all__ = ["records"]

# --- against the oracle -----------------------------------------------------------------------

AGES: list[Any] = [-5, 7, 10, 33, 34, 35, 41, 90, 100, 101]
DAYS: list[Any] = [date(2020, 1, 1) + timedelta(days) for days in (0, 1, 5, 30, 31, 400)]
TEXTS: list[Any] = ["b", "B", "a", "ba", "é", "a "]
RANGED = {"age": AGES, "day": DAYS, "text": TEXTS}
TYPES = {"age": "INTEGER", "day": "DATE"}


@st.composite
def split(draw: st.DrawFn) -> tuple[RandomProblem, dict[str, Ordered]]:
    """Numbers, dates and text that are split, beside hierarchies: NULLs, persons, several models, suppressed rows."""
    chance = draw(st.randoms(use_true_random=False))
    ranged = draw(st.lists(st.sampled_from(list(RANGED)), min_size=1, max_size=2, unique=True))
    others = draw(st.lists(st.sampled_from(["deep", "lopsided", "named like another"]), max_size=1))
    cells = {name: list(RANGED[name]) for name in ranged}
    if others:
        cells["other"] = list(NAMED[others[0]])
    columns = draw(st.permutations(list(cells)))
    for column in columns:
        cells[column] += [None] if draw(st.booleans()) else []
    rows = [
        {
            **{column: chance.choice(cells[column]) for column in columns},
            "s0": chance.choice(["x", "y", "y", None]),
            "unit": chance.choice(["u1", "u2", "u3", "u4", "u5", "u6", "u7", None]),
        }
        for _ in range(draw(st.sampled_from([30, 24, 40, 12])))
    ]
    orders, hierarchies = dict[str, Ordered](), dict[str, Any]()
    for column in columns:
        held = {row[column] for row in rows} - {None}
        if column in ranged:
            values = sorted(held, key=str.encode) if column == "text" else sorted(held)
            orders[column] = Ordered(values, False)
            hierarchies[column] = {value: (value, "*") for value in values}
        else:
            hierarchies[column] = NAMED[others[0]]
    further = draw(st.sampled_from([[], [], DIVERSE, CLOSE]))
    problem = RandomProblem(
        rows=rows,
        hierarchies=hierarchies,
        sensitive=["s0"],
        requirements=[{"k_anonymity": {"k": draw(st.integers(1, 4))}}, *further],
        limit=draw(st.sampled_from([0, 0, 3, 0.2, 1.0])),
        nulls=draw(st.sampled_from(["value", "value", "suppress"])),
        unit=draw(st.sampled_from([None, None, "unit"])),
        weights=draw(st.sampled_from([{}, {}, {columns[0]: 3.0}])),
    )
    nulls = {name for name in ranged if problem.nulls == "value" and any(row[name] is None for row in rows)}
    return problem, {name: replace(own, has_null=name in nulls) for name, own in orders.items()}


DIVERSE = [{"l_diversity": {"attribute": "s0", "l": 2, "variant": "distinct"}}]
CLOSE = [{"t_closeness": {"attribute": "s0", "t": 0.4}}]


def load(database: Database, problem: RandomProblem, options: Mapping[str, Any]) -> kanon_sql.Spec:
    """Write the table, and return the spec."""
    for name in ("people_release", "kanon_sql_manifest", "kanon_sql_scratch"):
        database.connection.execute(f"DROP TABLE IF EXISTS {name}")
    types = {name: TYPES.get(name, "VARCHAR") for name in [*problem.hierarchies, "s0", "unit"]}
    lines = [[*(row[name] for name in types), number] for number, row in enumerate(problem.rows)]
    database.table("people", {**types, "serial": "INTEGER"}, lines)
    columns: dict[str, Any] = {}
    for name, hierarchy in problem.hierarchies.items():
        given: dict[str, Any] = {"weight": problem.weights[name]} if name in problem.weights else {}
        if name not in RANGED:
            rows = list(hierarchy.values())
            database.table("tree", [f"l{level}" for level in range(len(rows[0]))], rows)
            given["table"] = "tree"
        columns[name] = given
    return asked(
        columns,
        sensitive=["s0"],
        keep=["serial"],
        privacy=problem.requirements,
        unit=problem.unit,
        nulls=problem.nulls,
        suppression=suppressing(problem.limit, style="drop"),
        recoding={"method": "subtree", **options},
    )


def text_in(name: str, value: Any) -> Any:
    """A value as a label has it."""
    return str(value) if name in RANGED and value is not None else value


@given(drawn=split(), classify=st.booleans())
@examples(5)
def test_the_same_release_as_the_oracle(shared_database: Database, drawn: Any, classify: bool) -> None:
    problem, orders = drawn
    named = "s0" if classify else None
    options = {"ranges": list(orders), **({"classify": named} if named else {})}
    taken: list[Taken] = []
    with pytest.MonkeyPatch.context() as patched:
        watch(patched, shared_database, taken)
        try:
            result = kanon_sql.anonymize(shared_database.engine, load(shared_database, problem, options))
        except HierarchyError as refused:
            assert "would have the label of another" in str(refused)  # noqa: PT017  (not every case is refused)
            event("refused")
            return
    oracle = SubtreeProblem(problem, "top_down", named, orders)
    if result.recoding is None:
        event(f"no recoding: {result.verdict}")
        assert not oracle.is_possible or all(own.size < 2 for own in orders.values())
        return
    event(f"{sum(level < 0 for _, _, level in taken)} splits of {len(taken)} steps")
    names = [*problem.hierarchies, "s0", "serial"]
    release = [dict(zip(names, line, strict=True)) for line in shared_database.rows("people_release")]
    found = frozenset((row["serial"], tuple(row[column] for column in problem.hierarchies)) for row in release)
    assert found in oracle.answers(taken)
    assert_rows_add_up(problem, release, result.rows["suppressed"], 0)
    assert_classes_satisfy(problem, release)
    assert_ranges_hold(problem, orders, release)
    lost = {name: losses(problem, own, name, release) for name, own in orders.items()}
    told = {name: column["mean_loss"] for name, column in result.recoding["columns"].items()}
    assert {name: told[name] for name in orders} == pytest.approx(lost)
    assert result.mean_loss == pytest.approx(weighted_mean(problem, told), abs=1e-9)


def assert_ranges_hold(problem: RandomProblem, orders: Mapping[str, Ordered], release: list[dict[str, Any]]) -> None:
    """A value has one label in all rows, which covers it; different labels have no released value in common."""
    for name, ordered in orders.items():
        labels: dict[Any, set[Any]] = {}
        for row in release:
            labels.setdefault(row[name], set()).add(problem.rows[row["serial"]][name])
        assert sum(map(len, labels.values())) == len({problem.rows[row["serial"]][name] for row in release})
        stands_for = [set_of(label, as_texts(ordered), ()) for label in labels]
        for label, held in labels.items():
            assert {text_in(name, value) for value in held} <= set_of(label, as_texts(ordered), ())
        assert sum(map(len, stands_for)) <= ordered.size


def as_texts(ordered: Ordered) -> Ordered:
    return replace(ordered, values=[str(value) for value in ordered.values])


def losses(problem: RandomProblem, ordered: Ordered, name: str, release: list[dict[str, Any]]) -> float:
    """The mean loss of a cell, by what its label says."""
    lost = float(len(problem.rows) - len(release))
    for row in release:
        lost += (len(set_of(row[name], as_texts(ordered), ())) - 1) / max(1, ordered.size - 1)
    return lost / len(problem.rows)


# --- the paper's example, and others worked out by hand ------------------------------------------


def entropy(*counts: int) -> float:
    return -sum(count / sum(counts) * log2(count / sum(counts)) for count in counts if count)


@pytest.mark.slow
def test_the_split_of_the_paper(records: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the five places to split hours, 37 tells most: 0.9597 - (12/34 x 0.6500 + 22/34 x 0.5746) = 0.3584 bits."""
    told: list[dict[int, float]] = []
    found = subtree_module._Cut._splits

    def seen(self: Any, number: str) -> Any:
        table = found(self, number)
        rows = records.connection.execute(f"SELECT cut_after, majority_gain FROM {table.parts[-1]}").fetchall()
        told.append({HOURS[after]: bits / 1e9 for after, bits in rows})
        return table

    monkeypatch.setattr(subtree_module._Cut, "_splits", seen)
    recoding = {**BY_CLASS["recoding"], "ranges": ["hours"]}
    kanon_sql.anonymize(records.engine, asked({"hours": None}, **{**BY_CLASS, "recoding": recoding}))
    below, above = entropy(2, 10), entropy(19, 3)
    gain = entropy(21, 13) - (12 / 34 * below + 22 / 34 * above)
    assert (round(below, 4), round(above, 4), round(entropy(21, 13), 4)) == (0.65, 0.5746, 0.9597)
    assert told[0][35] == pytest.approx(gain, abs=1e-8)
    assert max(told[0], key=told[0].__getitem__) == 35
    assert told[0][42] == pytest.approx(entropy(21, 13) - (22 / 34 * entropy(9, 13)), abs=1e-8)
    assert 35 not in told[1]  # it has been split there
    released = {"<= 32": 7, "35": 5, "37": 4, "42": 6, "44": 12}
    assert Counter(row[0] for row in records.rows("people_release")) == released


HOURS = [30, 32, 35, 37, 42, 44]


@pytest.mark.slow
def test_the_records_of_the_paper_with_hours_split(records: Database) -> None:
    """The same cut as along the hierarchy that has the paper's intervals, since 4 are asked of each class."""
    recoding = {**BY_CLASS["recoding"], "ranges": ["hours"]}
    columns: dict[str, Any] = {"education": {"tree": EDUCATION}, "sex": None, "hours": None}
    result = kanon_sql.anonymize(records.engine, asked(columns, **{**BY_CLASS, "recoding": recoding}))
    assert Counter(row[:3] for row in records.rows("people_release")) == {
        ("Junior", "M", "<= 32"): 7,
        ("11th", "M", "35"): 5,
        ("12th", "F", "37"): 4,
        ("Bachelors", "F", "42"): 6,
        ("Bachelors", "F", "44"): 4,
        ("Graduate", "M", "44"): 4,
        ("Graduate", "F", "44"): 4,
    }
    assert result.recoding is not None
    assert result.recoding["ranges"] == ["hours"]
    assert result.recoding["columns"]["hours"]["levels"] == {
        "0": {"labels": 4, "rows": 27},
        "1": {"labels": 1, "rows": 7},
    }
    assert result.recoding["columns"]["hours"]["mean_loss"] == pytest.approx(7 / 34 * 1 / 5)


def only(database: Database, **changes: Any) -> Counter[Any]:
    """What ages are released as."""
    recoding = {"method": "subtree", "ranges": ["age"], **changes.pop("recoding", {})}
    privacy = [{"k_anonymity": changes.pop("k", 2)}]
    columns = {"age": None, **changes.pop("columns", {})}
    kanon_sql.anonymize(database.engine, asked(columns, privacy=privacy, recoding=recoding, **changes))
    return Counter(row[0] for row in database.rows("people_release"))


@pytest.mark.slow
def test_a_table_worked_out_by_hand(database: Database) -> None:
    """After 12, 3 rows regain 3 of 5 steps and 4 rows 3; then NULL is parted from 80 and 90."""
    rows = [(age,) for age in (10, 11, 12, 80, 90, None, None)]
    database.table("people", {"age": "INTEGER"}, rows)
    assert only(database) == {"<= 12": 3, ">= 80": 2, None: 2}


@pytest.mark.slow
def test_a_class_label_decides_where_an_interval_is_split(database: Database) -> None:
    database.table("people", {"age": "INTEGER", "exam": "VARCHAR"}, list(zip(range(1, 6), "YYYNN", strict=True)))
    assert only(database, sensitive=["exam"]) == {"<= 2": 2, ">= 3": 3}
    assert only(database, sensitive=["exam"], recoding={"classify": "exam"}) == {"<= 3": 3, ">= 4": 2}


@pytest.mark.slow
def test_what_a_split_tells_is_weighed_against_other_columns(database: Database) -> None:
    """Either column can be told, not both: age tells more of the class, unless the other weighs 20 times as much."""
    rows = [(1, "x", "Y"), (1, "x", "Y"), (1, "x", "Y"), (1, "y", "Y"), (2, "x", "N")]
    rows += [(2, "y", "N"), (2, "y", "N"), (2, "y", "Y")]
    database.table("people", {"age": "INTEGER", "b": "VARCHAR", "class": "VARCHAR"}, rows)
    for weight, expected in ((1, {"1": 4, "2": 4}), (20, {"*": 8})):
        changes = {"columns": {"b": {"weight": weight}}, "sensitive": ["class"], "recoding": {"classify": "class"}}
        assert only(database, **changes) == expected


@pytest.mark.slow
def test_more_places_are_looked_at_where_none_of_four_can_be_taken(database: Database) -> None:
    """In every quarter of the rows the best place parts one row from its likes; after 5, and after 2, none is."""
    database.table("people", {"age": "INTEGER", "sex": "VARCHAR"}, list(zip(range(1, 9), "MMFFFDDD", strict=True)))
    columns = {"sex": {"maximum_level": 0}}
    assert only(database, columns=columns) == {"<= 2": 2, "[3, 5]": 3, ">= 6": 3}


@pytest.mark.slow
def test_rows_are_suppressed_where_others_regain_more(database: Database) -> None:
    """One row is in the way of six, which have two values; within the limit it goes, and no label is made for it."""
    database.table("people", {"age": "INTEGER"}, [(age,) for age in (1, 1, 1, 2, 2, 2, 50)])
    assert only(database, k=3) == {"1": 3, ">= 2": 4}
    assert only(database, k=3, suppression={"max_rows": 1}) == {"1": 3, "2": 3}


def test_a_text_stands_for_one_range(database: Database) -> None:
    """A value that is called like a range of others: one of them would have to go."""
    values = ["[c, d]", "[c, d]", "a", "a", "c", "d", "e", "e"]
    database.table("people", ["age"], [(value,) for value in values])
    with pytest.raises(HierarchyError, match="of its ranges would have the label of another one"):
        only(database)


# --- what it costs ----------------------------------------------------------------------------


def fill(database: Database, rows: int) -> None:
    draw = random.Random(3)
    lines = [
        (draw.randint(20, 49), f"{draw.randint(1, 3)}{draw.randint(0, 9)}", draw.choice("xyz")) for _ in range(rows)
    ]
    database.table("people", {"age": "INTEGER", "zip": "VARCHAR", "s0": "VARCHAR"}, lines)


@pytest.mark.slow
def test_statements_and_fetched_rows_do_not_depend_on_the_table(database: Database) -> None:
    for rows in (60, 1_000):
        fill(database, rows)
        recoding = {"method": "subtree", "ranges": ["age"], "classify": "s0"}
        privacy = [{"k_anonymity": 4}, {"t_closeness": {"attribute": "s0", "t": 0.5}}]
        more: dict[str, Any] = {"sensitive": ["s0"], "privacy": privacy, "recoding": recoding, "warnings": QUIET}
        spec = asked({"age": None, "zip": {"prefix": [1]}}, **more)
        result = kanon_sql.anonymize(database.engine, spec)
        assert result.recoding is not None
        rounds = result.recoding["rounds"] + 2  # and two that find nothing
        assert result.recoding["rounds"] <= 29 + 3 + 1  # places between ages, and labels above ZIP codes
        assert result.cost.statements <= (STATEMENTS_A_ROUND + STATEMENTS_FOR_RANGES) * rounds + 20 + OTHERS
        assert result.cost.rows_fetched <= 2 * rounds + 80
        assert result.cost.source_scans == 1


@pytest.mark.slow
def test_no_value_is_fetched(records: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[Any] = []
    fetch = records.engine.fetch

    def kept(statement: Any, limit: int) -> Any:
        found = fetch(statement, limit)
        if statement.name.startswith(("recode/", "evaluate/", "release/recoded")):
            fetched.extend(cell for row in found for cell in row)
        return found

    monkeypatch.setattr(records.engine, "fetch", kept)
    recoding = {**BY_CLASS["recoding"], "ranges": ["hours"]}
    columns: dict[str, Any] = {"education": {"tree": EDUCATION}, "hours": None}
    assert kanon_sql.anonymize(records.engine, asked(columns, **{**BY_CLASS, "recoding": recoding})).passed
    assert fetched
    assert not [cell for cell in fetched if isinstance(cell, str)]


def test_a_run_that_takes_the_most_steps_says_so(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(database, 100)
    monkeypatch.setattr(subtree_module, "MOST_STEPS", 3)
    spec = asked({"age": None}, recoding={"method": "subtree", "ranges": ["age"]})
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.passed
    assert result.classes["count"] == 4
    assert result.stopped == "it took 3 steps, the most that a run takes"


# --- other verbs, and what is refused ---------------------------------------------------------------


@pytest.mark.slow
def test_other_verbs_and_reports_know_it(records: Database) -> None:
    recoding = {**BY_CLASS["recoding"], "ranges": ["hours"]}
    columns: dict[str, Any] = {"education": {"tree": EDUCATION}, "sex": None, "hours": None}
    spec = asked(columns, **{**BY_CLASS, "recoding": recoding})
    plan, result = kanon_sql.plan(records.engine, spec), kanon_sql.anonymize(records.engine, spec)
    assert plan.recoding == result.recoding
    assert result.recoding is not None
    assert "hours as ranges of its values; cells lose" in recoding_in_words(result.recoding)
    assert "hours as ranges of its values" in kanon_sql.html_report(result)
    assert kanon_sql.check(records.engine, spec).passed
    assert kanon_sql.audit(records.engine, spec, "people_release", attacks=["consistency"]).passed
    assert kanon_sql.risk(records.engine, spec).prosecutor
    others: list[Any] = ["subtree", {"method": "subtree", "ranges": ["hours"]}]
    runs = kanon_sql.compare(records.engine, {"records": spec}, recodings=others).runs
    assert [run.recoding for run in runs] == ["subtree:top_down", "subtree:top_down:ranges=hours"]
    with pytest.raises(UnsupportedError, match="only a hierarchy defines the labels below"):
        kanon_sql.audit(records.engine, spec, "people_release", attacks=["downcoding"])
    with pytest.raises(UnsupportedError, match="are not hierarchy labels"):
        kanon_sql.plan(records.engine, spec, bound=True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"recoding": {"method": "subtree", "variant": "bottom_up", "ranges": ["hours"]}},
            "recoding.ranges: bottom_up generalizes along the given hierarchies and builds no ranges",
        ),
        (
            {"recoding": {"method": "subtree", "ranges": ["class"]}},
            "recoding.ranges[0]: 'class' is no quasi-identifier",
        ),
        ({"recoding": {"method": "subtree", "ranges": ["hours"], "save_as": "kept"}}, "the ranges of recoding.ranges"),
        (
            {
                "quasi_identifiers": {"hours": {"minimum_level": 1}},
                "recoding": {"method": "subtree", "ranges": ["hours"]},
            },
            "recoding.ranges releases this column as ranges, not levels; leave minimum_level out",
        ),
        (
            {"recoding": {"method": "cells", "ranges": ["hours"]}},
            "recoding.ranges: only the methods local and subtree take it",
        ),
    ],
)
def test_what_a_spec_cannot_ask_for(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        asked(**{"quasi_identifiers": {"hours": None}, "sensitive": ["class"], **changes})
    assert said in str(refused.value)
