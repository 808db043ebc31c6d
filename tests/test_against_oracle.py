"""The package against the oracle, on random problems: every node, every search, the release, the check."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from conftest import Database
from hypothesis import event, example, given
from hypothesis import strategies as st
from oracle import (
    METRICS,
    PREFERENCES,
    Hierarchy,
    Node,
    Oracle,
    Requirement,
    Row,
    class_size,
    frequencies,
    generalize,
    has_null,
    height_of,
    judge,
    model_of,
    worst,
)
from strategies import ONE_IN_FOUR, UNITS, RandomProblem, examples, problems

import kanon_sql
from kanon_sql.engines.base import Deadline, Engine
from kanon_sql.evaluate import NothingToSearch, rollup
from kanon_sql.evaluate.evaluator import Evaluator
from kanon_sql.evaluate.search import searched
from kanon_sql.models import quality
from kanon_sql.search import HEURISTICS, STRATEGIES, Batch, Outcome, search

OWNERS = [*UNITS, *(f"p{n}" for n in range(12))]
PREFERENCE = st.sampled_from(list(PREFERENCES))


# --- a random problem as a table and a spec ------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A problem with what a spec says besides: how each hierarchy is given, and how to search."""

    problem: RandomProblem
    forms: Mapping[str, str]
    style: str = "drop"
    algorithm: str = "exhaustive"
    metric: str = "loss"
    prefer: str = "minimum_suppression"


NOBODY_TELLS = RandomProblem(
    rows=[
        {"q0": "a", "s0": "x", "unit": "u1"},
        {"q0": "a", "s0": "flu", "unit": "u2"},
        {"q0": "a", "s0": "X", "unit": None},
        {"q0": "e", "s0": "x", "unit": None},
        {"q0": "e", "s0": "x", "unit": "u3"},
        {"q0": "1", "s0": "x", "unit": None},
    ],
    hierarchies={"q0": {"a": ("a", "*"), "e": ("e", "*"), "1": ("1", "*")}},
    sensitive=["s0"],
    requirements=[
        {"k_anonymity": {"k": 1}},
        {"l_diversity": {"attribute": "s0", "l": 1, "kind": "distinct"}},
        {"l_diversity": {"attribute": "s0", "l": 1, "kind": "entropy"}},
        {"l_diversity": {"attribute": "s0", "l": 1, "kind": "recursive", "c": 9}},
        {"t_closeness": {"attribute": "s0", "t": 0.5}},
    ],
    limit=1.0,
    unit="unit",
)
"""Rows without a unit belong to nobody: what they hold makes nobody's class more diverse."""


def two_groups(diversity: dict[str, Any], limit: int, *held: str, k: int = 1, unit: bool = False) -> Case:
    """Rows `a` and `e` and nothing between them and the top; `held` is "q0 s0 unit" per row."""
    columns = ("q0", "s0", "unit") if unit else ("q0", "s0")
    rows = [dict(zip(columns, text.split(), strict=True)) for text in held]
    problem = RandomProblem(
        rows=rows,
        hierarchies={"q0": {"a": ("a", "*"), "e": ("e", "*")}},
        sensitive=["s0"],
        requirements=[{"k_anonymity": {"k": k}}, {"l_diversity": {"attribute": "s0", **diversity}}],
        limit=limit,
        unit="unit" if unit else None,
    )
    return Case(problem=problem, forms={"q0": "table"}, algorithm="optimal")


# A violating generalization of a satisfying node: the search must not prune the node.
ENTROPY_FALLS = two_groups({"l": 2, "kind": "entropy"}, 3, "a x", "a flu", "e x", "e x", "e x")
RECURSIVE_FALLS = two_groups({"l": 2, "kind": "recursive", "c": 2}, 3, "a x", "a flu", "e x", "e x", "e x")
DISTINCT_FALLS = two_groups({"l": 2, "kind": "distinct"}, 0, "a x u1", "a flu u2", "e flu u1", "e x u2", unit=True)

# One person in both classes is one person when they meet.
SAME_PERSON = two_groups({"l": 1, "kind": "distinct"}, 0, "a x u1", "a x u2", "e flu u1", "e x u2", k=3, unit=True)

NULL_SUPPRESSED = Case(
    RandomProblem(
        rows=[{"q0": "a"}, {"q0": "a"}, {"q0": None}],
        hierarchies={"q0": {"a": ("a", "*"), "e": ("e", "*")}},
        sensitive=[],
        requirements=[{"k_anonymity": {"k": 2}}],
        limit=1,
        nulls="suppress",
    ),
    forms={"q0": "tree"},
)


def forms_of(hierarchy: Hierarchy) -> list[str]:
    """The forms that a hierarchy can be written in."""
    forms = ["table", "file"]
    outermost = {labels[-2] for labels in hierarchy.values()} if height_of(hierarchy) else set()
    # A tree with one outermost label ends there: no other top is added. Without a step, it is a value alone.
    if len(outermost) > 1:
        forms.append("tree")
    return forms


@st.composite
def cases(draw: st.DrawFn, **options: Any) -> Case:
    problem = draw(problems(**options))
    if problem.weights and not any(problem.weights.get(column, 1) for column in problem.hierarchies):
        problem = replace(problem, weights={})  # a spec refuses weights that are all 0
    if problem.unit is None and draw(ONE_IN_FOUR):
        owners = [None, *OWNERS[: draw(st.sampled_from([3, 6, 18]))]]
        problem = with_persons(problem, draw(st.lists(st.sampled_from(owners), min_size=25, max_size=25)))
    if problem.unit is not None and draw(st.booleans()):
        problem = replace(problem, rows=one_vector_each(problem.rows, problem.hierarchies, problem.unit))
    limit = draw(st.sampled_from([None, None, 0.5, 0.9]))
    return Case(
        problem=problem if limit is None else replace(problem, limit=limit),
        forms={column: draw(st.sampled_from(forms_of(h))) for column, h in problem.hierarchies.items()},
        style=draw(st.sampled_from(["drop", "mask"])),
        algorithm=draw(st.sampled_from(["optimal", "incognito", "samarati", "exhaustive"])),
        metric=draw(st.sampled_from(list(METRICS))),
        prefer=draw(PREFERENCE),
    )


def with_persons(problem: RandomProblem, owners: Sequence[str | None]) -> RandomProblem:
    """The problem with a unit to protect. (Left alone, one in four has one.)"""
    rows = [{**row, "unit": owner} for row, owner in zip(problem.rows, owners, strict=False)]
    required = [item for item in problem.requirements if "k_anonymity" in item] or [{"k_anonymity": {"k": 2}}]
    others = [item for item in problem.requirements if "k_anonymity" not in item]
    return replace(problem, rows=rows, unit="unit", requirements=[*required, *others])


def one_vector_each(rows: Sequence[Row], columns: Iterable[str], unit: str) -> list[dict[str, Any]]:
    """The rows with the quasi-identifiers of each unit's first row, so that a unit has one vector only."""
    first: dict[Any, Row] = {}
    return [
        {**row, **{column: first.setdefault(row[unit], row)[column] for column in columns}}
        if row[unit] is not None
        else dict(row)
        for row in rows
    ]


def tree_of(hierarchy: Hierarchy) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for labels in hierarchy.values():
        inside = tree
        for label in reversed(labels[:-1]):
            inside = inside.setdefault(str(label), {})
    return tree


def load(database: Database, folder: Path, case: Case) -> kanon_sql.Spec:
    """Write the table and its hierarchies, and return the spec that names them."""
    problem = case.problem
    for name in ("people_release", "kanon_sql_manifest", "kanon_sql_scratch"):
        database.connection.execute(f"DROP TABLE IF EXISTS {name}")
    unit = [] if problem.unit is None else [problem.unit]
    names = ["name", *problem.hierarchies, *problem.sensitive, *unit, "serial", "unnamed"]
    numbers = [name for name in problem.sensitive if any(isinstance(row[name], int) for row in problem.rows)]
    kinds = dict.fromkeys(names, "VARCHAR") | dict.fromkeys(["serial", *numbers], "INTEGER")
    lines = [
        {**row, "name": f"person {number}", "serial": number, "unnamed": "?"} for number, row in enumerate(problem.rows)
    ]
    database.table("people", kinds, [[line[name] for name in names] for line in lines])
    quasi_identifiers = {}
    for column, hierarchy in problem.hierarchies.items():
        rows = list(hierarchy.values())
        given: dict[str, Any] = {}
        if case.forms[column] == "tree":
            given["tree"] = tree_of(hierarchy)
        elif case.forms[column] == "table":
            database.table(f"hierarchy_{column}", [f"level {n}" for n in range(len(rows[0]))], rows)
            given["table"] = [f"hierarchy_{column}"]
        else:
            given["file"] = str(folder / f"{column}.csv")
            with open(given["file"], "w", encoding="utf-8", newline="") as file:
                csv.writer(file, delimiter=";", quoting=csv.QUOTE_ALL).writerows(rows)
        if column in problem.weights:
            given["weight"] = problem.weights[column]
        if column in problem.levels:
            given["minimum_level"], given["maximum_level"] = problem.levels[column]
        quasi_identifiers[column] = given
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "unit": problem.unit,
            "identifiers": ["name"],
            "quasi_identifiers": quasi_identifiers,
            "sensitive": problem.sensitive,
            "keep": ["serial"],
            "privacy": problem.requirements,
            "suppression": {"limit": problem.limit, "style": case.style},
            "search": {"algorithm": case.algorithm, "metric": case.metric, "prefer": case.prefer},
            "nulls": problem.nulls,
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hierarchies")


# --- what the oracle expects of a table's own classes ---------------------------------------------


KEYS = {
    "distinct": "distinct_l_diversity",
    "entropy": "entropy_l_diversity",
    "recursive": "recursive_cl_diversity",
    "npd_recursive": "npd_recursive_diversity",
    "basic": "basic_beta_likeness",
    "enhanced": "enhanced_beta_likeness",
    "ordered": "ordered_t_closeness",
    "hierarchical": "hierarchical_t_closeness",
}


def key_of(requirement: Requirement) -> str:
    """Where a result has a requirement."""
    model, parameters = model_of(requirement)
    name = KEYS.get(parameters.get("kind", parameters.get("distance")), model)
    return name if model == "k_anonymity" else f"{name}({parameters['attribute']})"


def reached(requirement: Requirement, measure: float | None) -> dict[str, float | None]:
    """The oracle's worst measure in the words of a result."""
    model, parameters = model_of(requirement)
    if model == "k_anonymity":
        return {"k": measure}
    if model == "t_closeness":
        return {"t": None if measure is None or math.isinf(measure) else measure}
    finite = None if measure is None or math.isinf(measure) else measure
    if model in ("alpha_k_anonymity", "p_sensitive_k_anonymity"):
        return {"alpha" if model == "alpha_k_anonymity" else "p": measure}
    if model in ("beta_likeness", "delta_disclosure"):
        return {"beta" if model == "beta_likeness" else "delta_above": finite}
    if parameters["kind"] in ("recursive", "npd_recursive"):
        return {"c_above": None if measure is None or math.isinf(measure) else measure, "l": parameters["l"]}
    return {"l": math.exp(measure) if parameters["kind"] == "entropy" and measure is not None else measure}


def judge_table(
    requirement: Requirement, rows: Sequence[Row], original: Mapping[Any, int] | None, unit: str | None
) -> tuple[float, bool]:
    """The oracle's verdict, but a class that holds nobody is as far as no t allows, not just at distance 1."""
    nobody = unit is not None and class_size(rows, unit) == 0
    return (math.inf, False) if nobody and "t_closeness" in requirement else judge(requirement, rows, original, unit)


def examined(
    rows: Sequence[Row],
    columns: Iterable[str],
    requirements: Sequence[Requirement],
    original: Sequence[Row],
    unit: str | None,
) -> tuple[dict[str, Any], dict[str, dict[str, float | None]]]:
    """What ``check`` should say of a table: its classes, and per requirement what is reached and violated."""
    columns = list(columns)
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[column] for column in columns), []).append(row)
    sizes = [len(members) for members in found.values()]
    achieved = {}
    for requirement in requirements:
        attribute = model_of(requirement)[1].get("attribute")
        reference = None if attribute is None else frequencies(original, attribute, unit)
        verdicts = [(judge_table(requirement, members, reference, unit), members) for members in found.values()]
        failing = [members for (_, enough), members in verdicts if not enough]
        achieved[key_of(requirement)] = {
            **reached(requirement, worst(requirement, [measure for (measure, _), _ in verdicts])),
            "violating_classes": len(failing),
            "violating_rows": sum(map(len, failing)),
        }
    classes = {
        "count": len(found),
        "smallest": min(sizes, default=None),
        "average": len(rows) / len(found) if found else None,
        "largest": max(sizes, default=None),
    }
    return classes, achieved


def assert_achieved(
    actual: Mapping[str, Mapping[str, Any]], expected: Mapping[str, Mapping[str, float | None]]
) -> None:
    assert actual.keys() == expected.keys()
    for key, values in expected.items():
        for name, value in values.items():
            given = actual[key][name]
            assert given == (None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)), (key, name)


def close(one: float, other: float) -> bool:
    """Within 1e-9; loss, which is floored to ten decimals, may also miss by the last of them."""
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=2e-10)


def metrics_of(oracle: Oracle, node: Node) -> dict[str, float]:
    """The oracle's metrics; entropy as the package defines it, without the rows that a NULL suppresses.

    They cost the same at every node. The oracle prices them as suppressed rows.
    """
    metrics = oracle.evaluate(node).metrics
    if oracle.nulls == "suppress":
        left = replace(oracle, rows=[row for row in oracle.rows if not has_null(row, oracle.columns)])
        left.original = oracle.original
        metrics = {**metrics, "entropy": left.evaluate(node).metrics["entropy"]}
    return metrics


# --- every node, and every search -------------------------------------------------------------------


def assert_nodes(
    evaluator: Evaluator, oracle: Oracle, names: Iterable[str], open_nodes: Collection[Node] = ()
) -> dict[str, dict[Node, float]]:
    """Every node of the whole lattice is what the oracle says; returns the metrics that were measured.

    At ``open_nodes`` something is suppressed, and which classes is not defined.
    """
    nodes = list(product(*(range(height + 1) for height in oracle.heights)))
    expected = {node: oracle.evaluate(node) for node in nodes}
    metrics = {node: metrics_of(oracle, node) for node in nodes}
    measured: dict[str, dict[Node, float]] = {}
    for name in names:
        evaluator.metric = quality.METRICS[name]
        verdicts = evaluator.ask(Batch(tuple(nodes), metrics=True))
        assert [verdict.node for verdict in sorted(verdicts, key=lambda v: v.node)] == nodes
        for verdict in verdicts:
            truth = expected[verdict.node]
            fields = ["classes", "satisfied", *([] if verdict.node in open_nodes else ["suppressed", "kept_classes"])]
            for field in fields:
                assert getattr(verdict, field) == getattr(truth, field), (name, verdict.node, field)
            assert (verdict.suppressed > 0) == (truth.suppressed > 0), (name, verdict.node)
            # How much may be pruned is the package's business, as long as nothing satisfying is.
            if verdict.prunable:
                lower = [node for node in nodes if all(a <= b for a, b in zip(node, verdict.node, strict=True))]
                assert not any(expected[node].satisfied for node in lower), verdict.node
            assert verdict.metric is not None
            assert verdict.floor is not None
            if verdict.node not in open_nodes:
                assert close(verdict.metric, metrics[verdict.node][name]), (name, verdict.node)
            # The lower bounds that searches prune by hold for every generalization.
            for upper in nodes:
                if upper not in open_nodes and all(a <= b for a, b in zip(verdict.node, upper, strict=True)):
                    assert verdict.floor <= metrics[upper][name] + 1e-9, (name, verdict.node, upper)
                    assert evaluator.question().bound(verdict.node) <= metrics[upper][name] + 1e-9
        measured[name] = {verdict.node: verdict.metric for verdict in verdicts if verdict.metric is not None}
    return measured


def assert_satisfies(outcome: Outcome, oracle: Oracle, values: Mapping[Node, float]) -> None:
    """A heuristic finds a node that satisfies, with the right metric, and does not call it proven."""
    candidates = oracle.satisfying_nodes()
    if outcome.best is None:
        assert oracle.all_nodes()[-1] not in candidates
    assert not (outcome.proven and candidates)
    assert {verdict.node for verdict in outcome.solutions} <= candidates
    assert outcome.best == (outcome.solutions[0] if outcome.solutions else None)
    for verdict in outcome.solutions:
        assert verdict.metric is not None
        assert close(verdict.metric, values[verdict.node])


def assert_found(outcome: Outcome, oracle: Oracle, values: Mapping[Node, float], prefer: str) -> None:
    """An exact search finds the best node, ties and all, and the minimal nodes if it says it does."""
    if outcome.algorithm in HEURISTICS:
        assert_satisfies(outcome, oracle, values)
        return
    rounded = {node: float(f"{value:.12g}") for node, value in values.items()}

    def preference(node: Node) -> Any:
        return PREFERENCES[prefer](oracle, node)

    if outcome.algorithm == "samarati":
        candidates = oracle.lowest_height_solutions()
        best = min(candidates, key=lambda node: (preference(node), rounded[node], node), default=None)
    else:
        candidates = oracle.satisfying_nodes()
        best = min(candidates, key=lambda node: (rounded[node], preference(node), node), default=None)
    assert outcome.proven
    assert (None if outcome.best is None else outcome.best.node) == best
    assert {verdict.node for verdict in outcome.solutions} <= candidates
    if outcome.algorithm in ("incognito", "exhaustive"):
        assert outcome.minimal is not None
    if outcome.minimal is not None:
        assert set(outcome.minimal) == oracle.minimal_nodes()


@given(case=cases(max_nodes=16), other=st.sampled_from(list(METRICS)), small=st.sampled_from([0, rollup.SMALL]))
@example(case=Case(problem=NOBODY_TELLS, forms={"q0": "table"}), other="entropy", small=0)
@example(case=ENTROPY_FALLS, other="height", small=0)
@example(case=RECURSIVE_FALLS, other="height", small=0)
@example(case=DISTINCT_FALLS, other="height", small=0)
@example(case=SAME_PERSON, other="height", small=0)
@examples(24)
def test_every_node_and_every_search(
    shared_database: Database, folder: Path, case: Case, other: str, small: int
) -> None:
    """By two metrics, since each takes its time; also with rollups, which no table of this size would pay for."""
    spec = load(shared_database, folder, case)
    with patch.multiple(rollup, SMALL=small, BUILD_COST=0.1 if small == 0 else rollup.BUILD_COST):
        assert_every_node_and_every_search(spec, shared_database.engine, case, other)


def assert_every_node_and_every_search(spec: kanon_sql.Spec, engine: Engine, case: Case, other: str) -> None:
    oracle = case.problem.oracle()
    with engine.run(Deadline(None)) as meter, searched(engine, spec, None) as found:
        if isinstance(found, NothingToSearch):
            assert all(has_null(row, oracle.columns) for row in oracle.rows)
            assert not oracle.satisfying_nodes()
            return
        evaluator = found.evaluator
        assert evaluator.heights == tuple(oracle.heights)
        event(f"counting {found.sets.counting}")
        assert found.outcome is not None
        measured = assert_nodes(evaluator, oracle, {case.metric: None, other: None})
        assert_found(found.outcome, oracle, measured[case.metric], case.prefer)
        evaluator.metric = quality.METRICS[case.metric]
        for algorithm in STRATEGIES.keys() - {case.algorithm}:
            outcome = search(algorithm, evaluator.question(), evaluator.ask).run()
            assert outcome.algorithm == algorithm
            assert_found(outcome, oracle, measured[case.metric], case.prefer)
        rolled_up = [statement for statement in meter.log if "_rollup" in statement.sql]
        event(f"rolled up: {bool(rolled_up)}")


@given(case=cases(max_nodes=64))
@examples(12)
def test_plan(shared_database: Database, folder: Path, case: Case) -> None:
    spec = load(shared_database, folder, case)
    problem, oracle = case.problem, case.problem.oracle()
    result = kanon_sql.plan(shared_database.engine, spec).to_dict(all_minimal=True)
    metrics = {node: metrics_of(oracle, node) for node in oracle.satisfying_nodes()}
    best = min((values[case.metric] for values in metrics.values()), default=None)
    event(result["verdict"])
    assert result["verdict"] == ("pass" if oracle.satisfying_nodes() else "fail")
    assert result["search"]["proven"]
    if result["search"]["minimal_nodes"] is not None:
        assert {tuple(node) for node in result["search"]["minimal"]} == oracle.minimal_nodes()
    if best is None:
        rows = len(problem.rows)
        assert result["node"] is None
        assert (result["rows"]["source"], result["rows"]["suppressed"], result["rows"]["released"]) == (rows, rows, 0)
        return
    node = tuple(result["node"].values())
    assert list(result["node"]) == oracle.columns
    truth = oracle.evaluate(node)
    if case.algorithm == "samarati":
        assert node in oracle.preferred(case.prefer, oracle.lowest_height_solutions())
    else:
        assert close(metrics[node][case.metric], best)
    assert result["metrics"].keys() == truth.metrics.keys()
    for name, value in metrics[node].items():
        assert close(result["metrics"][name], value), name
    assert result["rows"]["source"] == len(problem.rows)
    assert result["rows"]["suppressed"] == truth.suppressed
    assert result["rows"]["released"] == len(problem.rows) - truth.suppressed
    assert result["classes"]["count"] == truth.kept_classes
    if problem.unit is not None:
        assert result["rows"]["persons"] == len({row[problem.unit] for row in problem.rows} - {None})
    for requirement, measure in zip(problem.requirements, truth.achieved.values(), strict=True):
        expected = {**reached(requirement, measure), "violating_classes": 0, "violating_rows": 0}
        assert_achieved({"": result["achieved"][key_of(requirement)]}, {"": expected})


# --- the release ------------------------------------------------------------------------------------


def released_rows(case: Case, node: Node) -> tuple[list[Row], list[Row], bool]:
    """The rows that the release of a node must hold, those of them that are masked, and whether it can be masked."""
    problem, oracle = case.problem, case.problem.oracle()
    vectors = generalize(problem.rows, problem.hierarchies, node, problem.nulls)
    verdicts = {}
    for vector in set(vectors) - {None}:
        members = [row for row, its in zip(problem.rows, vectors, strict=True) if its == vector]
        verdicts[vector] = all(
            judge(requirement, members, original, problem.unit)[1]
            for requirement, original in zip(problem.requirements, oracle.original, strict=True)
        )
    numbered = [{**row, "serial": number} for number, row in enumerate(problem.rows)]
    kept = [
        {**row, **dict(zip(oracle.columns, vector, strict=True))}
        for row, vector in zip(numbered, vectors, strict=True)
        if vector is not None and verdicts[vector]
    ]
    left = [
        {**row, **dict.fromkeys(oracle.columns, "*")}
        for row, vector in zip(numbered, vectors, strict=True)
        if vector is None or not verdicts[vector]
    ]
    # A row that is released at the top of every hierarchy stands in one class with the masked ones.
    merged = [*left, *(row for row in kept if all(row[column] == "*" for column in oracle.columns))]
    enough = all(
        judge(requirement, merged, original, problem.unit)[1]
        for requirement, original in zip(problem.requirements, oracle.original, strict=True)
    )
    masked = left if left and enough and case.style == "mask" else []
    return [*kept, *masked], masked, bool(left) and case.style == "mask"


@given(case=cases(max_nodes=24))
@example(case=NULL_SUPPRESSED)
@example(case=replace(NULL_SUPPRESSED, style="mask"))
@example(case=Case(problem=NOBODY_TELLS, forms={"q0": "table"}))
@examples(20)
def test_release_and_check(shared_database: Database, folder: Path, case: Case) -> None:
    spec = load(shared_database, folder, case)
    problem, oracle = case.problem, case.problem.oracle()
    engine, unit = shared_database.engine, case.problem.unit
    names = [*problem.hierarchies, *problem.sensitive, "serial"]
    before = shared_database.rows("people")

    result = kanon_sql.anonymize(engine, spec).to_dict()
    event(f"{result['verdict']}, {'unit' if unit else 'rows'}")
    assert result["verdict"] == ("pass" if oracle.satisfying_nodes() else "fail")
    assert shared_database.rows("people") == before
    if result["verdict"] == "fail":
        assert "people_release" not in shared_database.tables()
        assert result["rows"] == {**result["rows"], "source": len(problem.rows), "released": 0}
        assert result["node"] is None
        return

    node = tuple(result["node"].values())
    assert node in oracle.satisfying_nodes()
    expected, masked, to_mask = released_rows(case, node)
    event(f"masked {bool(masked)}, to mask {to_mask}")
    release = [dict(zip(names, line, strict=True)) for line in shared_database.rows("people_release")]
    assert shared_database.columns("people_release") == names
    assert Counter(tuple(row[name] for name in names) for row in release) == Counter(
        tuple(row[name] for name in names) for row in expected
    )
    truth = oracle.evaluate(node)
    assert result["rows"]["source"] == len(problem.rows)
    assert result["rows"]["suppressed"] == truth.suppressed
    assert result["rows"]["released"] == len(problem.rows) - truth.suppressed
    assert result["rows"].get("masked", 0) == len(masked)
    assert len(release) == result["rows"]["released"] + len(masked)
    assert bool([note for note in result["notes"] if "dropped, not masked" in note]) == (to_mask and not masked)

    # What was verified is what the release holds, in the unit that is protected.
    owners = [{**row, **({} if unit is None else {unit: problem.rows[row["serial"]][unit]})} for row in release]
    classes, achieved = examined(owners, oracle.columns, problem.requirements, problem.rows, unit)
    assert result["classes"] == classes
    assert_achieved(result["achieved"], achieved)

    # Checked as a table that anybody wrote. Persons are not in it, so rows are counted.
    checked = kanon_sql.check(engine, spec, count_rows=unit is not None).to_dict()
    classes, achieved = examined(release, oracle.columns, problem.requirements, problem.rows, None)
    assert checked["classes"] == classes
    assert checked["rows"] == {"source": len(release), "released": len(release), "suppressed": 0}
    assert_achieved(checked["achieved"], achieved)
    assert checked["verdict"] == ("fail" if any(item["violating_classes"] for item in achieved.values()) else "pass")
    if unit is None:
        assert checked["verdict"] == "pass"


@given(case=cases())
@example(case=Case(problem=NOBODY_TELLS, forms={"q0": "table"}))
@examples(30)
def test_check_of_the_source(shared_database: Database, folder: Path, case: Case) -> None:
    """A raw table is the bottom node, NULL being a value."""
    spec = load(shared_database, folder, case)
    problem = case.problem
    checked = kanon_sql.check(shared_database.engine, spec, "people").to_dict()
    classes, achieved = examined(problem.rows, problem.hierarchies, problem.requirements, problem.rows, problem.unit)
    assert checked["classes"] == classes
    assert_achieved(checked["achieved"], achieved)
    violated = any(item["violating_classes"] for item in achieved.values())
    assert checked["verdict"] == ("fail" if violated else "pass")
    bottom = replace(problem.oracle(), nulls="value").evaluate((0,) * len(problem.hierarchies))
    assert checked["classes"]["count"] == bottom.classes
