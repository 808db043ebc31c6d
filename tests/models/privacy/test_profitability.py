"""What an attack and a release are worth: no attack pays, and the publisher's payout, against brute force and ARX."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.errors import SpecError
from kanon_sql.evaluate import NothingToSearch
from kanon_sql.evaluate.search import searched
from tests.conftest import Database
from tests.oracles.lattice import Oracle, leaf_counts
from tests.oracles.model import Node, class_size, classes
from tests.support.literature import adult_dir
from tests.support.oracle_cases import cases, load
from tests.support.strategies import examples
from tests.support.suppressions import suppressing

Prices = Mapping[str, float]

PRICES = st.fixed_dictionaries(
    {
        "benefit": st.sampled_from([1, 12.5, 1200]),
        "loss": st.sampled_from([0, 3, 500]),
        "gain": st.sampled_from([0, 4, 9, 100]),
        "cost": st.sampled_from([1, 2.5, 3]),
    }
)


def least(gain: float, cost: float) -> int:
    """The smallest class in which the attacker's expected gain is below the cost."""
    return next(k for k in range(1, 10_000) if gain / k < cost)


def payout(oracle: Oracle, node: Node, prices: Prices) -> tuple[int, float]:
    """Rows suppressed at a node, and what the publisher earns, class by class (Wan et al. 2015)."""
    (requirement,) = oracle.requirements
    leaves = leaf_counts(oracle, node)
    domain = math.fsum(math.log(sum(counts.values())) for counts in leaves)
    earned, released = 0.0, 0
    for vector, members in classes(oracle.rows, oracle.hierarchies, node, oracle.nulls).items():
        size = class_size([oracle.rows[i] for i in members], oracle.unit)
        if size < requirement["k_anonymity"]["k"]:
            continue
        width = math.fsum(math.log(counts[label]) for counts, label in zip(leaves, vector, strict=True))
        success = 1 / max(size, 1)
        pays = prices["gain"] * success - prices["cost"] > 0
        lost = width / domain if domain else 0.0
        each = prices["benefit"] * (1 - lost) - (prices["loss"] * success if pays else 0)
        earned += len(members) * each
        released += len(members)
    return len(oracle.rows) - released, earned


@given(case=cases(max_nodes=24, models=False), k=st.integers(1, 4), prices=PRICES)
@examples(12)
def test_every_node_and_every_search(
    shared_database: Database, folder: Path, case: Any, k: int, prices: dict[str, float]
) -> None:
    case = replace(case, problem=replace(case.problem, requirements=[{"k_anonymity": {"k": k}}]))
    written = load(shared_database, folder, case).to_dict()
    algorithm = case.algorithm if case.algorithm in ("optimal", "incognito", "exhaustive") else "optimal"
    written["search"] = {"metric": "publisher_payout", "prices": prices, "algorithm": algorithm}
    spec, oracle = kanon_sql.Spec.from_dict(written), case.problem.oracle()
    rows = len(oracle.rows)
    with searched(shared_database.engine, spec) as found:
        if isinstance(found, NothingToSearch):
            return
        evaluator = found.evaluator
        nodes = list(product(*(range(height + 1) for height in evaluator.heights)))
        fine = []
        verdicts = evaluator.verdicts(nodes, evaluator.metric)
        for low, high in product(verdicts, repeat=2):
            if all(one <= other for one, other in zip(low.node, high.node, strict=True)):
                assert low.floor is not None
                assert low.floor <= (high.metric or 0) + 1e-6, "no generalization is below a node's floor"
        for verdict in verdicts:
            suppressed, earned = payout(oracle, verdict.node, prices)
            assert verdict.metric == pytest.approx(rows * prices["benefit"] - earned, abs=1e-6), verdict.node
            assert verdict.suppressed == suppressed
            fine += [verdict.metric] if verdict.satisfied and verdict.metric is not None else []
        event(f"satisfied {bool(fine)}, counting {found.sets.counting}")
        best = found.outcome.best
        limited = any(c.minimum_level or c.maximum_level is not None for c in spec.quasi_identifiers.values())
        assert limited or (best is not None) == bool(fine)
        if best is not None and not limited:
            assert found.outcome.proven
            assert best.metric == pytest.approx(min(fine), abs=1e-6)


@pytest.mark.parametrize(("gain", "lost"), [(9, 0), (9.1, 3 * 30 / 3)])
def test_an_attack_that_breaks_even_is_not_tried(database: Database, gain: float, lost: float) -> None:
    """Three rows as they are: all of the benefit, and the loss of one record where gain / 3 is more than the cost."""
    database.table("people", ["q"], [["x"]] * 3)
    prices = {"benefit": 10, "loss": 30, "gain": gain, "cost": 3}
    spec = spec_of([{"k_anonymity": 1}], search={"metric": "publisher_payout", "prices": prices})
    result = kanon_sql.plan(database.engine, spec, compare_recoding=None)
    assert result.metrics["publisher_payout"] == pytest.approx(lost)


@pytest.mark.parametrize(
    ("gain", "cost", "k"), [(300, 4, 76), (120, 20, 7), (0, 1, 1), (1, 2, 1), (1000, 20, 51), (0.3, 0.1, 4), (7, 2, 4)]
)
def test_how_many_keep_an_attack_from_paying(database: Database, gain: float, cost: float, k: int) -> None:
    """Where gain over cost is whole, so many break even, and one more is asked for. 0.3 / 0.1 is 3, and not 2.99."""
    spec = spec_of([{"no_attack": {"gain": gain, "cost": cost}}])
    database.table("people", ["q"], [["x"]] * k)
    result = kanon_sql.check(database.engine, spec, "people")
    assert result.passed
    (achieved,) = result.achieved.values()
    assert achieved["requirement"] == f"no attack pays: {k}-anonymity"
    if k > 1:
        database.table("people", ["q"], [["x"]] * (k - 1))
        assert not kanon_sql.check(database.engine, spec, "people").passed
    if (gain, cost) != (0.3, 0.1):
        assert k == least(gain, cost)


@pytest.mark.slow
def test_a_journalist_looks_in_a_population(database: Database) -> None:
    database.table("census", ["q"], [["x"]] * 7 + [["y"]] * 6)
    spec = spec_of([{"no_attack": {"gain": 120, "cost": 20, "population": "census"}}])
    database.table("people", ["q"], [["x"]])
    assert kanon_sql.check(database.engine, spec, "people").passed
    assert kanon_sql.plan(database.engine, spec).node == {"q": 0}
    database.table("people", ["q"], [["x"], ["y"]])
    result = kanon_sql.check(database.engine, spec, "people")
    assert not result.passed
    assert [item["requirement"] for item in result.achieved.values()] == ["no attack pays: 7-map to census"]
    assert kanon_sql.plan(database.engine, spec).node == {"q": 1}


def spec_of(privacy: Sequence[Mapping[str, Any]], **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {"version": 1, "source": "people", "quasi_identifiers": {"q": None}, "privacy": list(privacy), **changes}
    )


WORTH = {"benefit": 10, "loss": 3, "gain": 3, "cost": 1}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"search": {"metric": "publisher_payout"}}, "missing 'prices'"),
        ({"search": {"prices": WORTH}}, "does not use this option, only publisher_payout"),
        ({"search": {"metric": "publisher_payout", "prices": {**WORTH, "cost": 0}}}, "an amount of money"),
        ({"search": {"metric": "publisher_payout", "prices": {**WORTH, "loss": -1}}}, "an amount of money"),
        ({"search": {"metric": "publisher_payout", "prices": {"benefit": 1}}}, "loss"),
        ({"search": {"metric": "publisher_payout", "prices": WORTH, "monotone": True}}, "suppression is a part"),
        ({"search": {"metric": "publisher_payout", "prices": WORTH, "gs_factor": 0.7}}, "does not weigh"),
        (
            {"search": {"metric": "publisher_payout", "prices": WORTH}, "recoding": "mondrian"},
            "publisher_payout needs one level per column",
        ),
        ({"privacy": [{"no_attack": {"gain": 3}}]}, "cost"),
        (
            {"privacy": [{"no_attack": {"gain": 3, "cost": 1, "person": "who"}}]},
            "'person' is a column of the 'population'",
        ),
    ],
)
def test_what_a_spec_may_not_say(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        spec_of(changes.pop("privacy", [{"k_anonymity": 2}]), **changes)
    assert said in str(refused.value)


def test_what_is_written_can_be_read_back() -> None:
    spec = spec_of(
        [{"no_attack": {"gain": 3, "cost": 1, "population": "census"}}],
        search={"metric": "publisher_payout", "prices": WORTH},
    )
    assert kanon_sql.Spec.from_dict(spec.to_dict()) == spec


# --- Adult, as ARX asserts it -----------------------------------------------------------------------------------


ADULT = adult_dir()
FOLDER = ADULT or Path()
COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
ONE = {"gain": 1200, "cost": 2, "loss": 300, "benefit": 1200}
THREE = {"gain": 120, "cost": 20, "loss": 3000, "benefit": 120}
ASSERTED = [
    (0.04, ONE, 2974380.2122727702, (1, 3, 1, 1, 3, 2, 1, 1)),
    (1.0, THREE, 289703.2817537615, (0, 1, 1, 2, 3, 2, 1, 1)),
]
"""Suppression limit, prices, the lowest metric and its levels, of TestAnonymizationProfitability (ARX 3.9.2)."""


@pytest.fixture(scope="module")
def adult() -> Iterator[Engine]:
    with duckdb.connect(config={"threads": 2}) as connection:
        for table, file in (("adult", "adult.csv"), ("people", "adult_subset.csv")):
            reading = "read_csv(?, delim = ';', header = true, all_varchar = true)"
            connection.execute(f"CREATE TABLE {table} AS SELECT * FROM {reading}", [str(FOLDER / file)])
        yield kanon_sql.connect(connection)


def adult_spec(limit: float, prices: dict[str, float], levels: Sequence[int] | None) -> kanon_sql.Spec:
    columns: dict[str, dict[str, Any]] = {name: {"file": str(FOLDER / f"hierarchy_{name}.csv")} for name in COLUMNS}
    for name, level in zip(COLUMNS, levels, strict=True) if levels else ():
        columns[name] |= {"minimum_level": level, "maximum_level": level}
    asked = {"gain": prices["gain"], "cost": prices["cost"], "population": "adult"}
    return spec_of(
        [{"no_attack": asked}],
        quasi_identifiers=columns,
        suppression=suppressing(limit),
        search={"metric": "publisher_payout", "prices": prices},
    )


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.skipif(ADULT is None, reason="the Adult extract is not here; KANON_SHARED names its folder")
@pytest.mark.parametrize(("limit", "prices", "value", "levels"), ASSERTED)
def test_what_arx_asserts_at_its_optimum(
    adult: Engine, limit: float, prices: dict[str, float], value: float, levels: tuple[int, ...]
) -> None:
    found = kanon_sql.plan(adult, adult_spec(limit, prices, levels), compare_recoding=None)
    assert found.metrics["publisher_payout"] == pytest.approx(value, rel=1e-12)


@pytest.mark.campaign
@pytest.mark.skipif(ADULT is None, reason="the Adult extract is not here; KANON_SHARED names its folder")
@pytest.mark.slow
@pytest.mark.parametrize(("limit", "prices", "value", "levels"), ASSERTED)
def test_arx_s_optimum_is_found(
    adult: Engine, limit: float, prices: dict[str, float], value: float, levels: tuple[int, ...]
) -> None:
    found = kanon_sql.plan(adult, adult_spec(limit, prices, None), compare_recoding=None)
    assert found.search is not None
    assert found.search.proven
    assert found.metrics["publisher_payout"] == pytest.approx(value, rel=1e-12)
