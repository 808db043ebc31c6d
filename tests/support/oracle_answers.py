"""What the oracle expects of the package, in the words of the package."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import event

import kanon_sql
from kanon_sql.engines.base import Deadline, Engine
from kanon_sql.evaluate import NothingToSearch
from kanon_sql.evaluate.evaluator import Evaluator
from kanon_sql.evaluate.search import searched
from kanon_sql.models import quality
from kanon_sql.search import HEURISTICS, STRATEGIES, Batch, Outcome, search
from tests.oracles.lattice import PREFERENCES, Oracle
from tests.oracles.model import Node, Requirement, Row, class_size, frequencies, has_null, judge, model_of, worst
from tests.support.oracle_cases import Case

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
    if parameters.get("estimator") == "grassberger":
        return f"entropy_estimate_l_diversity({parameters['attribute']})"
    name = KEYS.get(parameters.get("variant", parameters.get("distance")), model)
    if "column" in parameters:
        return f"personal_k_anonymity({parameters['column']})"
    return name if model == "k_anonymity" else f"{name}({parameters['attribute']})"


def reached(requirement: Requirement, measure: float | None) -> dict[str, float | None]:
    """The oracle's worst measure in the words of a result."""
    model, parameters = model_of(requirement)
    if model == "k_anonymity":
        return {"wanted_k" if "column" in parameters else "k": measure}
    if model == "t_closeness":
        return {"t": None if measure is None or math.isinf(measure) else measure}
    finite = None if measure is None or math.isinf(measure) else measure
    if model in ("alpha_k_anonymity", "p_sensitive_k_anonymity"):
        return {"alpha" if model == "alpha_k_anonymity" else "p": measure}
    if model in ("beta_likeness", "delta_disclosure"):
        return {"beta" if model == "beta_likeness" else "delta_above": finite}
    if parameters["variant"] in ("recursive", "npd_recursive"):
        return {"c_above": None if measure is None or math.isinf(measure) else measure, "l": parameters["l"]}
    return {"l": math.exp(measure) if parameters["variant"] == "entropy" and measure is not None else measure}


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


def assert_every_node_and_every_search(spec: kanon_sql.Spec, engine: Engine, case: Case, other: str) -> None:
    oracle = case.problem.oracle()
    with engine.run(Deadline(None)) as meter, searched(engine, spec) as found:
        if isinstance(found, NothingToSearch):
            assert all(has_null(row, oracle.columns) for row in oracle.rows)
            assert not oracle.satisfying_nodes()
            return
        evaluator = found.evaluator
        assert evaluator.heights == tuple(oracle.heights)
        event(f"counting {found.sets.counting}")
        measured = assert_nodes(evaluator, oracle, {case.metric: None, other: None})
        assert_found(found.outcome, oracle, measured[case.metric], case.prefer)
        evaluator.metric = quality.METRICS[case.metric]
        for algorithm in STRATEGIES.keys() - {case.algorithm}:
            outcome = search(algorithm, evaluator.question(), evaluator.ask).run()
            assert outcome.algorithm == algorithm
            assert_found(outcome, oracle, measured[case.metric], case.prefer)
        rolled_up = [statement for statement in meter.log if "_rollup" in statement.sql]
        event(f"rolled up: {bool(rolled_up)}")
