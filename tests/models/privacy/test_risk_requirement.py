"""Average and highest risk as requirements: random tables against brute force, by hand, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines import Deadline
from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import NothingToSearch, searched
from kanon_sql.models.privacy.risk import RiskRequirement
from kanon_sql.search import HEURISTICS, STRATEGIES, Batch, search
from tests.conftest import Database
from tests.oracles.lattice import Oracle
from tests.oracles.metric_forms import kept_of
from tests.oracles.model import Node, class_size
from tests.support.oracle_cases import Case, cases, load
from tests.support.pitfalls import spec_of
from tests.support.specs import refusals
from tests.support.strategies import examples

RISKS = [0.1, 0.2, 0.25, 0.3, 0.34, 0.4, 0.5, 0.6, 0.75, 1.0]


@st.composite
def risks(draw: st.DrawFn) -> dict[str, float]:
    """A requirement with one threshold or more."""
    average, highest = draw(st.sampled_from([None, *RISKS])), draw(st.sampled_from([None, *RISKS]))
    if average is None and highest is None:
        average = draw(st.sampled_from(RISKS))
    found = {"average": average, "highest": highest}
    if highest is not None:
        found["records_at_risk"] = draw(st.sampled_from([None, 0.0, 0.1, 0.25, 0.5]))
    return {name: value for name, value in found.items() if value is not None}


def exactly(number: float) -> Fraction:
    return Fraction(str(number))


def meets(risk: Mapping[str, float], sizes: Sequence[int]) -> bool:
    """Whether classes of these sizes are within the thresholds, by the definition: record by record."""
    records = [Fraction(1, size) for size in sizes for _ in range(size)]
    if not records:
        return False
    above = [one for one in records if "highest" in risk and one > exactly(risk["highest"])]
    few = Fraction(len(above), len(records)) <= exactly(risk.get("records_at_risk", 0.0))
    return few and ("average" not in risk or sum(records) / len(records) <= exactly(risk["average"]))


def suppressed_at(oracle: Oracle, risk: Mapping[str, float], node: Node) -> int:
    """Rows that a node suppresses: those of classes that violate, and all if what is left is not within thresholds."""
    kept, _ = kept_of(oracle, node)
    sizes = {vector: class_size([oracle.rows[i] for i in rows], oracle.unit) for vector, rows in kept.items()}
    if "highest" in risk and not risk.get("records_at_risk"):
        least = 1 / exactly(risk["highest"])
        sizes = {vector: size for vector, size in sizes.items() if size >= least}
    sizes = {vector: size for vector, size in sizes.items() if size > 0}
    released = sum(len(kept[vector]) for vector in sizes) if meets(risk, list(sizes.values())) else 0
    return len(oracle.rows) - released


def with_risk(spec: kanon_sql.Spec, risk: Mapping[str, float]) -> kanon_sql.Spec:
    return spec.model_copy(update={"privacy": (*spec.privacy, RiskRequirement.model_validate(dict(risk)))})


@given(case=cases(max_nodes=16), risk=risks())
@examples(12)
def test_every_node_and_every_search(
    shared_database: Database, folder: Path, case: Case, risk: dict[str, float]
) -> None:
    spec = with_risk(load(shared_database, folder, case), risk)
    oracle, engine = case.problem.oracle(), shared_database.engine
    with engine.run(Deadline(None)), searched(engine, spec) as found:
        if isinstance(found, NothingToSearch):
            return
        nodes = list(product(*(range(height + 1) for height in oracle.heights)))
        expected = {node: suppressed_at(oracle, risk, node) for node in nodes}
        evaluator = found.evaluator
        for metrics in (False, True):
            verdicts = {verdict.node: verdict for verdict in evaluator.ask(Batch(tuple(nodes), metrics=metrics))}
            for node, verdict in verdicts.items():
                assert verdict.suppressed == expected[node], (node, metrics)
                assert verdict.satisfied == oracle.satisfied_with(expected[node])
                below = [one for one in nodes if all(a <= b for a, b in zip(one, node, strict=True))]
                if verdict.prunable:
                    assert not any(oracle.satisfied_with(expected[one]) for one in below), node
        question = evaluator.question()
        inside = set(oracle.all_nodes())
        satisfying = [verdicts[node] for node in inside if verdicts[node].satisfied]
        best = min(satisfying, key=question.rank, default=None)
        event("found" if best else "nothing")
        for algorithm in STRATEGIES.keys() - {"samarati"}:
            outcome = search(algorithm, question, evaluator.ask).run()
            if algorithm in HEURISTICS:
                assert not (outcome.proven and satisfying), algorithm
                continue
            assert outcome.proven, algorithm
            assert (outcome.best and outcome.best.node) == (best and best.node), algorithm


@pytest.mark.slow
@given(case=cases(max_nodes=16), risk=risks())
@examples(15)
def test_what_is_released_is_within_the_thresholds(
    shared_database: Database, folder: Path, case: Case, risk: dict[str, float]
) -> None:
    """The written table, counted in plain Python, and by check."""
    case = replace(case, style="drop")
    spec = with_risk(load(shared_database, folder, case), risk)
    result = kanon_sql.anonymize(shared_database.engine, spec)
    oracle = case.problem.oracle()
    nodes = [node for node in oracle.all_nodes() if oracle.satisfied_with(suppressed_at(oracle, risk, node))]
    assert result.passed == bool(nodes)
    if not result.passed or case.problem.unit is not None:
        return
    names = ", ".join(f'"{name}"' for name in oracle.columns)
    counted = shared_database.connection.execute(
        f"SELECT COUNT(*) FROM people_release{f' GROUP BY {names}' if names else ''}"
    ).fetchall()
    assert meets(risk, [size for (size,) in counted])
    assert kanon_sql.check(shared_database.engine, spec).passed


def check(database: Database, *sizes: int, **risk: float) -> dict[str, Any]:
    database.table("people", ["q"], [[f"class {number}"] for number, size in enumerate(sizes) for _ in range(size)])
    spec = spec_of(["q"], [{"risk": risk}], sensitive=[])
    return dict(kanon_sql.check(database.engine, spec, "people").achieved["risk"])


def test_by_hand(database: Database) -> None:
    """Classes of 1, 2 and 5: 3 of 8 is the average; one record is above 1/2, which is an eighth."""
    found = check(database, 1, 2, 5, average=0.375, highest=0.5, records_at_risk=0.125)
    assert found == {
        "requirement": "average risk 0.375, highest risk 0.5 but for 0.125 of the records",
        "average": 0.375, "records_at_risk": 0.125, "violating_classes": 0, "violating_rows": 0,
    }  # fmt: skip
    assert check(database, 1, 2, 5, average=0.374)["violating_rows"] == 8, "the average is of the whole table"
    assert check(database, 1, 2, 5, highest=0.5, records_at_risk=0.124)["violating_rows"] == 8
    assert check(database, 1, 2, 5, highest=0.5)["violating_rows"] == 1, "without a share each class answers for itself"
    assert check(database, 20, highest=0.05)["violating_rows"] == 0, "exactly one twentieth"
    assert check(database, 19, highest=0.05)["violating_rows"] == 19


@pytest.mark.slow
def test_generalizing_may_raise_the_average_where_rows_are_suppressed(database: Database) -> None:
    """Eight rows in one class, and four alone: they go at first, and are two classes of 2 later: 3 of 12."""
    rows = [["same"]] * 8 + [["a"], ["b"], ["c"], ["d"]]
    database.table("people", ["q"], rows)
    tree = {"q": {"tree": {"*": {"ab": ["a", "b"], "cd": ["c", "d"], "alike": ["same"]}}}}
    for algorithm in ("optimal", "exhaustive", "incognito"):
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "people", "quasi_identifiers": tree,
                "privacy": [{"k_anonymity": 2}, {"risk": {"average": 0.2}}],
                "suppression": {"max_rows": 4}, "search": {"algorithm": algorithm, "metric": "height"},
            }
        )  # fmt: skip
        result = kanon_sql.plan(database.engine, spec)
        assert result.node == {"q": 0}, algorithm
        assert result.achieved["risk"]["average"] == 1 / 8
        spec = spec.model_copy(update={"suppression": type(spec.suppression)(max_rows=3)})
        assert kanon_sql.plan(database.engine, spec).node == {"q": 2}, "one class of 12, since level 1 has 3 of 12"


@pytest.mark.parametrize(
    ("risk", "message"),
    [
        ({}, "missing 'average' or 'highest'"),
        ({"records_at_risk": 0.1}, "missing 'average' or 'highest'"),
        ({"average": 0.1, "records_at_risk": 0.1}, "'highest', which is missing"),
        ({"average": 0}, "above 0 and at most 1"),
        ({"highest": 1.5}, "above 0 and at most 1"),
    ],
)
def test_what_a_spec_may_not_say(risk: dict[str, float], message: str) -> None:
    assert any(message in problem for problem in refusals(privacy=[{"risk": risk}]))


@pytest.mark.parametrize(
    "more", [{"recoding": "local"}, {"recoding": "mondrian"}, {"search": {"algorithm": "k_optimize"}}]
)
def test_who_judges_classes_one_by_one_is_refused(database: Database, more: dict[str, Any]) -> None:
    database.table("people", {"q": "INTEGER"}, [[number] for number in range(9)])
    column = {} if "recoding" in more and more["recoding"] == "local" else None
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "quasi_identifiers": {"q": column},
            "privacy": [{"risk": {"average": 0.5}}],
            **more,
        }
    )
    with pytest.raises(UnsupportedError, match="together"):
        kanon_sql.plan(database.engine, spec)
