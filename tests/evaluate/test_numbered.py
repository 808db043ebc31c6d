"""Classes by number instead of by their columns: what a check finds is the same, by the oracle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, event, given

import kanon_sql
from kanon_sql.sql.dialects import dialect_named
from tests.conftest import Database
from tests.models.privacy.test_models import model_cases
from tests.support.oracle_answers import assert_achieved, examined
from tests.support.oracle_cases import Case, load
from tests.support.strategies import examples


def of_one_attribute(requirements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The requirements that look at the first one's attribute as it does, and those of class sizes."""

    def looks_at(requirement: dict[str, Any]) -> tuple[Any, bool]:
        ((_, parameters),) = requirement.items()
        return parameters.get("attribute"), parameters.get("distance") == "ordered"

    seen = [looks_at(requirement) for requirement in requirements]
    first = next((what for what in seen if what[0] is not None), None)
    return [item for item, what in zip(requirements, seen, strict=True) if what[0] is None or what == first]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("numbered", [True, False])
@given(case=model_cases())
@examples(25)
@pytest.mark.slow
def test_check(shared_database: Database, folder: Path, numbered: bool, case: Case) -> None:
    problem = replace(case.problem, unit=None, requirements=of_one_attribute(case.problem.requirements))
    assume(any(isinstance(row["s1"], int) for row in problem.rows))  # a column of NULLs has no type
    spec = load(shared_database, folder, replace(case, problem=problem))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(dialect_named("duckdb")), "numbers_classes", numbered)
        result = kanon_sql.check(shared_database.engine, spec, "people")
    event(f"numbered {any('class_number' in sql for sql in result.sql)}")
    classes, achieved = examined(problem.rows, problem.hierarchies, problem.requirements, problem.rows, None)
    assert result.classes == classes
    assert_achieved(result.achieved, achieved)
