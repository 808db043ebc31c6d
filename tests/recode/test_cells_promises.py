"""Cell suppression against what it promises, on random tables with NULLs, persons, levels, caps and every model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from tests.conftest import Database
from tests.oracles.cells import assert_caps_hold, mean_losses_of_cells
from tests.oracles.recoding import assert_classes_satisfy, assert_rows_add_up, mean_losses, weighted_mean
from tests.recode.test_local_recoding import released, scattered, with_other_models
from tests.support.oracle_cases import Case, cases, load
from tests.support.strategies import RandomProblem, examples

CAPS = st.dictionaries(st.sampled_from(["q0", "q1", "q2"]), st.sampled_from([0, 0.1, 0.25, 0.5]), max_size=2)


def with_recoding(spec: kanon_sql.Spec, recoding: Any) -> kanon_sql.Spec:
    """The spec with another recoding."""
    made = kanon_sql.Spec.from_dict({**spec.to_dict(), "recoding": recoding})
    made._base_dir = spec.base_dir
    return made


def at_minimum(problem: RandomProblem) -> RandomProblem:
    """The problem with the lowest level of every column as its only one."""
    lowest = {column: problem.levels.get(column, (0, 0))[0] for column in problem.hierarchies}
    return replace(problem, levels={column: (level, level) for column, level in lowest.items()})


def assert_kept(database: Database, folder: Path, case: Case, caps: dict[str, float], levels: str = "searched") -> None:
    """Publish the case with cells suppressed, and hold it to all that is promised."""
    problem = case.problem if levels == "searched" else at_minimum(case.problem)
    full = load(database, folder, replace(case, problem=problem, algorithm="optimal"))
    optimum = kanon_sql.anonymize(database.engine, full)
    most = 1.0
    if optimum.passed and not optimum.rows.get("masked", 0):
        most = weighted_mean(problem, mean_losses(problem, released(database, problem), optimum.node))
    database.connection.execute("DROP TABLE IF EXISTS people_release")
    caps = {column: cap for column, cap in caps.items() if column in problem.hierarchies}
    recoding = {"method": "cells", "variant": levels, "caps": caps}
    result = kanon_sql.anonymize(database.engine, with_recoding(full, recoding))
    event(f"{result.verdict}, {'node' if result.recoding is None else result.recoding['start']}")
    assert result.passed or not optimum.passed
    if not result.passed:
        assert "people_release" not in database.tables()
        return
    release = released(database, problem)
    assert_rows_add_up(problem, release, result.rows["suppressed"], result.rows.get("masked", 0))
    if optimum.passed:
        assert result.rows["suppressed"] <= optimum.rows["suppressed"]
    if result.rows.get("masked", 0):
        return  # masked rows are a class of their own, which the tests of masking are about
    assert_classes_satisfy(problem, release)
    if result.recoding is None:
        assert result.node == optimum.node
        return
    losses = assert_cells(problem, release, result.recoding, caps)
    if optimum.passed and not optimum.rows.get("masked", 0):
        assert result.recoding["tried"]["full_domain"]["mean_loss"] == pytest.approx(most)
    assert weighted_mean(problem, losses) <= most + 1e-9


def assert_cells(
    problem: RandomProblem, release: list[dict[str, Any]], recoding: Any, caps: dict[str, float]
) -> dict[str, float]:
    """Cells are labels of the node or suppressed, as was said and within the caps; returns what columns lose."""
    node = recoding["node"]
    suppressed = assert_caps_hold(problem, release, node, recoding["suppressed_cells"], caps)
    losses = mean_losses_of_cells(problem, release, node, suppressed)
    assert {name: column["mean_loss"] for name, column in recoding["columns"].items()} == pytest.approx(losses)
    event(f"cells: {any(suppressed.values())}")
    return losses


@pytest.mark.slow
@given(case=cases(), caps=CAPS)
@examples(4)
def test_what_cell_suppression_promises(
    shared_database: Database, folder: Path, case: Case, caps: dict[str, float]
) -> None:
    assert_kept(shared_database, folder, case, caps)


@pytest.mark.campaign
@given(case=cases(), caps=CAPS)
@examples(20)
def test_what_cell_suppression_promises_often(
    shared_database: Database, folder: Path, case: Case, caps: dict[str, float]
) -> None:
    assert_kept(shared_database, folder, case, caps)


@pytest.mark.slow
@given(case=scattered(), caps=CAPS)
@examples(2)
def test_where_many_cells_have_to_be_suppressed(
    shared_database: Database, folder: Path, case: Case, caps: dict[str, float]
) -> None:
    assert_kept(shared_database, folder, case, caps)


@pytest.mark.slow
@given(case=cases(), caps=CAPS)
@examples(3)
def test_at_the_minimum_levels(shared_database: Database, folder: Path, case: Case, caps: dict[str, float]) -> None:
    assert_kept(shared_database, folder, case, caps, "minimum")


@pytest.mark.slow
@given(case=with_other_models())
@examples(3)
def test_under_the_other_models(shared_database: Database, folder: Path, case: Case) -> None:
    assert_kept(shared_database, folder, case, {})
