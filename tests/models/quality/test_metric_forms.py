"""Forms of a metric (aggregate, gs_factor, monotone) against the oracle: every node, every search, every bound."""

from __future__ import annotations

import copy
import heapq
import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines import Deadline
from kanon_sql.evaluate import NothingToSearch, searched
from kanon_sql.models import quality
from kanon_sql.search import HEURISTICS, STRATEGIES, Batch, Ranked, search
from tests.conftest import Database
from tests.oracles.lattice import METRICS, Oracle
from tests.oracles.metric_forms import AGGREGATES, DEFAULTS, Form, Value, value_of, without_nulls
from tests.support.oracle_cases import Case, cases, load
from tests.support.specs import make, refusals
from tests.support.strategies import examples


@st.composite
def forms(draw: st.DrawFn) -> Form:
    metric = draw(st.sampled_from(list(METRICS)))
    aggregate = draw(st.sampled_from([None, *AGGREGATES])) if metric in DEFAULTS else None
    weighed = metric in DEFAULTS and metric != "height"
    factor = draw(st.sampled_from([0.0, 0.1, 0.33, 0.5, 0.66, 0.9, 1.0])) if weighed else 0.5
    return Form(metric, aggregate, factor, draw(st.booleans()))


def key(value: float | Value) -> Any:
    """What values are compared by: rounded, since sums are made in another order."""
    if isinstance(value, tuple):
        return tuple(float(f"{loss:.8g}") for loss in value)
    return float(f"{value:.12g}")


def same(measured: float | None, expected: Value) -> bool:
    assert measured is not None
    if isinstance(expected, tuple):
        assert isinstance(measured, Ranked)
        assert float(measured) == measured.losses[0]
        pairs = list(zip(measured.losses, expected, strict=True))
    else:
        pairs = [(measured, expected)]
    return all(math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) for one, other in pairs)


@pytest.mark.slow
@given(case=cases(max_nodes=16), form=forms())
@examples(14)
def test_every_node_bound_and_search(shared_database: Database, folder: Path, case: Case, form: Form) -> None:
    spec = load(shared_database, folder, case)
    spec = spec.model_copy(update={"search": make(search=form.options).search})
    oracle = case.problem.oracle()
    engine = shared_database.engine
    with engine.run(Deadline(None)), searched(engine, spec) as found:
        if isinstance(found, NothingToSearch):
            return
        nodes = list(product(*(range(height + 1) for height in oracle.heights)))
        asked = without_nulls(oracle) if form.metric == "entropy" else oracle
        values = {node: value_of(form, asked, node) for node in nodes}
        evaluator = found.evaluator
        verdicts = {verdict.node: verdict for verdict in evaluator.ask(Batch(tuple(nodes), metrics=True))}
        question = evaluator.question()
        for node, verdict in verdicts.items():
            assert same(verdict.metric, values[node]), node
            assert verdict.metric is not None
            assert question.least(verdict) <= verdict.metric, node
            for upper in nodes:
                if all(one <= other for one, other in zip(node, upper, strict=True)):
                    bound, floor, above = question.bound(node), verdict.floor, verdicts[upper].metric
                    assert floor is not None
                    assert above is not None
                    if not isinstance(above, Ranked):
                        above += 1e-9
                    assert bound <= above, (node, upper)
                    assert floor <= above, (node, upper)
        assert_best(question, evaluator, oracle, verdicts)


def assert_best(question: Any, evaluator: Any, oracle: Oracle, verdicts: Any) -> None:
    """Every exact search proves the node that looking at all of them finds."""
    satisfying = [verdicts[node] for node in oracle.satisfying_nodes()]
    best = min(satisfying, key=question.rank, default=None)
    for algorithm in STRATEGIES.keys() - {"samarati"}:
        outcome = search(algorithm, question, evaluator.ask).run()
        if algorithm in HEURISTICS:
            assert not (outcome.proven and satisfying), algorithm
            continue
        assert outcome.proven, algorithm
        assert (outcome.best and outcome.best.node) == (best and best.node), algorithm


def test_every_metric_has_an_oracle() -> None:
    """But for those that take options of their own, which their own tests measure."""
    assert METRICS.keys() == quality.METRICS.keys()


LOSSES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=3, max_size=3)


@given(one=LOSSES, other=LOSSES)
@examples(80)
def test_ranks_are_compared_by_the_largest_loss_first(one: list[float], other: list[float]) -> None:
    left, right = sorted(one, reverse=True), sorted(other, reverse=True)
    assert (Ranked(one) < Ranked(other)) == (left < right)
    assert (Ranked(one) <= Ranked(other)) == (left <= right)
    assert (Ranked(one) > Ranked(other)) == (left > right)
    assert (Ranked(one) >= Ranked(other)) == (left >= right)
    assert (Ranked(one) == Ranked(other)) == (left == right)
    assert (Ranked(one) != Ranked(other)) == (left != right)
    assert (-Ranked(one) < -Ranked(other)) == (right < left)
    negative = -Ranked(one)
    assert -negative == Ranked(one)
    assert Ranked(one).below() <= Ranked(one)
    assert all(low < loss for low, loss in zip(Ranked(one).below().losses, Ranked(one).losses, strict=True))
    if left == right:
        assert hash(Ranked(one)) == hash(Ranked(other))
    heap = [-Ranked(one), -Ranked(other)]
    heapq.heapify(heap)
    assert -heapq.heappop(heap) == max(Ranked(one), Ranked(other))
    assert copy.deepcopy(Ranked(one)) == Ranked(one)


def test_a_rank_is_the_number_of_its_largest_loss() -> None:
    ranked = Ranked([0.2, 0.7])
    assert (float(ranked), f"{ranked:.2f}") == (0.7, "0.70")
    assert ranked > 0.5
    assert ranked < math.inf
    assert ranked == 0.7
    assert ranked <= 0.7
    assert ranked >= 0.7
    assert ranked != 0.2


@pytest.mark.slow
def test_a_column_decides_where_the_largest_losses_are_the_same(database: Database) -> None:
    """By hand: three columns of two values, of which any two may be left out, weigh 3, 2 and 1.

    Rows are 8, one of each combination, and k is 4: two columns go to the top. Their losses are their weights, so the
    rank is least where the heaviest stays: (2/3, 1/3, 0). A maximum of 2/3 says the same, a sum of 1 as well.
    """
    rows = [list(row) for row in product("ab", "cd", "ef")]
    database.table("people", ["x", "y", "z"], rows)
    columns = {
        "x": {"tree": {"*": ["a", "b"]}, "weight": 3},
        "y": {"tree": {"*": ["c", "d"]}, "weight": 2},
        "z": {"tree": {"*": ["e", "f"]}, "weight": 1},
    }
    for aggregate, value in (("rank", 2 / 3), ("maximum", 2 / 3), ("sum", 1.0), ("arithmetic_mean", 1 / 3)):
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1,
                "source": "people",
                "quasi_identifiers": columns,
                "privacy": [{"k_anonymity": 4}],
                "search": {"metric": "loss", "aggregate": aggregate},
            }
        )
        result = kanon_sql.plan(database.engine, spec)
        assert result.search is not None
        assert result.search.proven
        assert result.metrics[f"loss ({aggregate})"] == pytest.approx(value)
        assert result.node == {"x": 0, "y": 1, "z": 1}


def test_factors_decide_between_suppressing_and_generalizing(database: Database) -> None:
    """By hand: of 10 rows 9 agree and one does not, in a column of two values; k is 2.

    Suppressing one row costs s / 10 of precision, generalizing all g: at 0.5 1/10 and 1, at 1.0 1/10 and 0.
    """
    database.table("people", ["x"], [["a"]] * 9 + [["b"]])
    for factor, node, value in ((0.5, 0, 0.1), (0.0, 0, 0.0), (0.25, 0, 0.05), (1.0, 1, 0.0)):
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1,
                "source": "people",
                "quasi_identifiers": {"x": {"tree": {"*": ["a", "b"]}}},
                "privacy": [{"k_anonymity": 2}],
                "suppression": {"max_share": 0.5},
                "search": {"metric": "precision", "gs_factor": factor},
            }
        )
        result = kanon_sql.plan(database.engine, spec)
        assert result.node == {"x": node}, factor
        assert result.metrics[spec.search.metric_label] == pytest.approx(value)


def test_a_bound_knows_that_suppressing_may_cost_less(database: Database) -> None:
    """By hand: of 10 rows with a column at its top, 8 are suppressed; s is 0.2, so the loss is 0.36, and not 1.

    The other column loses 8 * 0.2 / 10, so that the mean is 0.26.
    """
    rows = [["a", str(number)] for number in range(2)] + [[value, value] for value in "bcdefghi"]
    database.table("people", ["x", "y"], rows)
    columns = {
        "x": {"tree": {"*": list("abcdefghi")}, "maximum_level": 0},
        "y": {"tree": {"*": ["0", "1", *"bcdefghi"]}},
    }
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "quasi_identifiers": columns,
            "privacy": [{"k_anonymity": 2}],
            "suppression": {"max_share": 0.8},
            "search": {"metric": "precision", "gs_factor": 0.1},
        }
    )
    with database.engine.run(Deadline(None)), searched(database.engine, spec) as found:
        verdict = found.outcome.best
        assert (verdict.node, verdict.suppressed) == ((0, 1), 8)
        assert verdict.metric == pytest.approx(0.26)
        assert found.evaluator.question().bound(verdict.node) <= verdict.metric


def test_labels_say_how_a_metric_differs() -> None:
    def label(**options: Any) -> str:
        return make(search=options).search.metric_label

    assert label() == "loss"
    assert label(aggregate="geometric_mean", gs_factor=0.5) == "loss"
    assert label(aggregate="rank", gs_factor=0.33, monotone=True) == "loss (rank, gs_factor 0.33, monotone)"
    assert label(metric="entropy", aggregate="sum") == "entropy"
    written = make(search={"aggregate": "rank"}).search.model_dump(mode="json")
    assert written["aggregate"] == "rank"
    assert not {"gs_factor", "monotone"} & written.keys()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "discernibility", "aggregate": "rank"}, "no loss per column to aggregate"),
        ({"metric": "height", "gs_factor": 0.3}, "does not weigh generalization against suppression"),
        ({"aggregate": "median"}, "aggregate"),
        ({"gs_factor": 1.5}, "between 0 and 1"),
        ({"algorithm": "k_optimize", "monotone": True}, "bounds only for the metric without these options"),
        ({"algorithm": "k_optimize", "aggregate": "rank"}, "bounds only for the metric without these options"),
    ],
)
def test_what_a_metric_does_not_take_is_refused(options: dict[str, Any], message: str) -> None:
    assert any(message in line for line in refusals(search=options))
