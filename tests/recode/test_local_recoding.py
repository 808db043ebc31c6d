"""Local recoding against what it promises, on random tables with NULLs, persons, level limits and every model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from tests.conftest import Database
from tests.oracles.recoding import (
    assert_classes_satisfy,
    assert_labels_are_true,
    assert_rows_add_up,
    mean_losses,
    weighted_mean,
)
from tests.support.oracle_cases import Case, cases, load
from tests.support.strategies import RandomProblem, examples


def local(spec: kanon_sql.Spec, **changes: Any) -> kanon_sql.Spec:
    """The spec with local recoding."""
    made = kanon_sql.Spec.from_dict({**spec.to_dict(), "recoding": "local", **changes})
    made._base_dir = spec.base_dir
    return made


OTHER_MODELS = st.sampled_from(
    [
        {"alpha_k_anonymity": {"alpha": 0.6, "k": 2}},
        {"p_sensitive_k_anonymity": {"p": 2, "k": 2}},
        {"beta_likeness": {"beta": 1.5, "variant": "basic"}},
        {"beta_likeness": {"beta": 1.5, "variant": "enhanced"}},
        {"delta_disclosure": {"delta": 1.2}},
        {"t_closeness": {"t": 0.4, "distance": "ordered"}},
    ]
)


@st.composite
def with_other_models(draw: st.DrawFn) -> Case:
    """A problem whose first sensitive attribute has one more requirement, of the models that others do not draw."""
    case = draw(cases(units=False))
    problem = case.problem
    if not problem.sensitive or not problem.rows or problem.unit is not None:
        return case
    ((name, options),) = draw(OTHER_MODELS).items()
    attribute = problem.sensitive[0]
    if options.get("distance") == "ordered":
        rows = [{**row, attribute: len(str(row[attribute])) % 4} for row in problem.rows]
        others = [item for item in problem.requirements if attribute not in str(item)]
        problem = replace(problem, rows=rows, requirements=others)
    added = {name: {"attribute": attribute, **options}}
    return replace(case, problem=replace(problem, requirements=[*problem.requirements, added]))


def released(database: Database, problem: RandomProblem) -> list[dict[str, Any]]:
    """The rows of the release."""
    names = [*problem.hierarchies, *problem.sensitive, "serial"]
    return [dict(zip(names, line, strict=True)) for line in database.rows("people_release")]


def loss_of(database: Database, problem: RandomProblem, result: kanon_sql.results.Release) -> float:
    """The mean loss of what was released, by the oracle; a recoding must have said the same."""
    losses = mean_losses(problem, released(database, problem), result.node)
    if result.recoding is not None:
        told = {name: column["mean_loss"] for name, column in result.recoding["columns"].items()}
        assert told == pytest.approx(losses)
    mean = weighted_mean(problem, losses)
    assert result.mean_loss == pytest.approx(mean, abs=1e-9)  # of a node too, computed in the same way
    return mean


def assert_kept(database: Database, folder: Path, case: Case, effort: str = "fast") -> None:
    """Publish the case by local recoding, and hold it to all that a recoding promises."""
    full = load(database, folder, case)
    problem = case.problem
    optimum = kanon_sql.anonymize(database.engine, full)
    drops = optimum.verdict == "pass" and not optimum.rows.get("masked", 0)
    most = loss_of(database, problem, optimum) if drops else 1.0
    database.connection.execute("DROP TABLE IF EXISTS people_release")
    recoding = {"method": "local", "variant": effort}
    result = kanon_sql.anonymize(database.engine, local(full, recoding=recoding))
    assert result.verdict == optimum.verdict
    start = "node" if result.recoding is None else result.recoding["start"]
    event(f"{result.verdict}, {start}")
    if result.verdict == "fail":
        assert "people_release" not in database.tables()
        return
    assert result.rows["suppressed"] <= optimum.rows["suppressed"]
    release = released(database, problem)
    masked = result.rows.get("masked", 0)
    assert_rows_add_up(problem, release, result.rows["suppressed"], masked)
    if masked:
        return  # masked rows are a class of their own, which the tests of masking are about
    assert_classes_satisfy(problem, release)
    if effort == "best" and drops:
        assert loss_of(database, problem, result) <= most + 1e-9
    if result.recoding is not None:
        assert_labels_are_true(problem, release)
        assert result.classes["count"] == result.recoding["partitions"]


@given(case=cases())
@examples(3)
def test_what_a_recoding_promises(shared_database: Database, folder: Path, case: Case) -> None:
    assert_kept(shared_database, folder, replace(case, algorithm="optimal"))


@pytest.mark.slow
@given(case=cases())
@examples(4)
def test_the_best_never_loses_more_than_the_optimum_of_full_domain(
    shared_database: Database, folder: Path, case: Case
) -> None:
    assert_kept(shared_database, folder, replace(case, algorithm="optimal"), "best")


@pytest.mark.campaign
@given(case=cases())
@examples(20)
def test_the_best_never_loses_more_often(shared_database: Database, folder: Path, case: Case) -> None:
    assert_kept(shared_database, folder, replace(case, algorithm="optimal"), "best")


TREE = {value: (value, value[:2], value[:1], "*") for value in ("aax", "aay", "abx", "aby", "bax", "bay", "bbx", "bby")}


@st.composite
def scattered(draw: st.DrawFn) -> Case:
    """A problem of many different rows, so that classes have to be looked for; NULLs and weights among them."""
    chance = draw(st.randoms(use_true_random=False))
    columns = ["q0", "q1", "q2"]
    values = [*TREE, *([None] if draw(st.booleans()) else [])]
    rows: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(15, 40))):
        rows.append({**{column: chance.choice(values) for column in columns}, "s0": chance.choice("xyz")})
    diverse = {"l_diversity": {"attribute": "s0", "l": 2, "variant": draw(st.sampled_from(["distinct", "entropy"]))}}
    problem = RandomProblem(
        rows=rows,
        hierarchies=dict.fromkeys(columns, TREE),
        sensitive=["s0"],
        requirements=[{"k_anonymity": {"k": draw(st.integers(2, 4))}}, *([diverse] if draw(st.booleans()) else [])],
        limit=draw(st.sampled_from([0, 5])),
        weights=draw(st.sampled_from([{}, {"q0": 3.0, "q2": 0.5}])),
    )
    return Case(problem=problem, forms=dict.fromkeys(columns, "table"), algorithm="optimal")


@pytest.mark.slow
@given(case=scattered())
@examples(2)
def test_the_best_where_classes_have_to_be_looked_for(shared_database: Database, folder: Path, case: Case) -> None:
    assert_kept(shared_database, folder, case, "best")


@pytest.mark.campaign
@given(case=scattered())
@examples(10)
def test_the_best_where_classes_have_to_be_looked_for_often(
    shared_database: Database, folder: Path, case: Case
) -> None:
    assert_kept(shared_database, folder, case, "best")


@pytest.mark.slow
@given(case=with_other_models())
@examples(3)
def test_the_best_under_the_other_models(shared_database: Database, folder: Path, case: Case) -> None:
    assert_kept(shared_database, folder, replace(case, algorithm="optimal"), "best")


@given(case=with_other_models())
@examples(2)
def test_under_the_other_models(shared_database: Database, folder: Path, case: Case) -> None:
    assert_kept(shared_database, folder, replace(case, algorithm="optimal"))
