"""Local recoding against what it promises, on random tables with NULLs, persons, level limits and every model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from conftest import Database
from hypothesis import event, given
from hypothesis import strategies as st
from oracle_cases import Case, cases, load
from recoding_oracle import assert_classes_satisfy, assert_labels_are_true, assert_rows_add_up
from strategies import examples

import kanon_sql


def local(spec: kanon_sql.Spec, **changes: Any) -> kanon_sql.Spec:
    """The spec with local recoding."""
    made = kanon_sql.Spec.from_dict({**spec.to_dict(), "recoding": "local", **changes})
    made._base_dir = spec.base_dir
    return made


OTHER_MODELS = st.sampled_from(
    [
        {"alpha_k_anonymity": {"alpha": 0.6, "k": 2}},
        {"p_sensitive_k_anonymity": {"p": 2, "k": 2}},
        {"beta_likeness": {"beta": 1.5, "kind": "basic"}},
        {"beta_likeness": {"beta": 1.5, "kind": "enhanced"}},
        {"delta_disclosure": {"delta": 1.2}},
        {"t_closeness": {"t": 0.4, "distance": "ordered"}},
    ]
)


@st.composite
def with_other_models(draw: st.DrawFn) -> Case:
    """A problem whose first sensitive attribute has one more requirement, of the models that others do not draw."""
    case = draw(cases(units=False))
    problem = case.problem
    if not problem.sensitive or problem.unit is not None:
        return case
    ((name, options),) = draw(OTHER_MODELS).items()
    attribute = problem.sensitive[0]
    if options.get("distance") == "ordered":
        rows = [{**row, attribute: len(str(row[attribute])) % 4} for row in problem.rows]
        others = [item for item in problem.requirements if attribute not in str(item)]
        problem = replace(problem, rows=rows, requirements=others)
    added = {name: {"attribute": attribute, **options}}
    return replace(case, problem=replace(problem, requirements=[*problem.requirements, added]))


def assert_kept(database: Database, folder: Path, case: Case) -> None:
    """Publish the case by local recoding, and hold it to all that a recoding promises."""
    full = load(database, folder, case)
    optimum = kanon_sql.plan(database.engine, full)
    result = kanon_sql.anonymize(database.engine, local(full))
    problem = case.problem
    assert result.verdict == optimum.verdict
    event(f"{result.verdict}, {'node' if result.node is not None else 'classes'}")
    if result.verdict == "fail":
        assert "people_release" not in database.tables()
        return
    assert result.rows["suppressed"] <= optimum.rows["suppressed"]
    names = [*problem.hierarchies, *problem.sensitive, "serial"]
    release = [dict(zip(names, line, strict=True)) for line in database.rows("people_release")]
    masked = result.rows.get("masked", 0)
    assert_rows_add_up(problem, release, result.rows["suppressed"], masked)
    if masked:
        return  # masked rows are a class of their own, which the tests of masking are about
    assert_classes_satisfy(problem, release)
    if result.recoding is not None:
        assert_labels_are_true(problem, release)
        assert result.classes["count"] == result.recoding["partitions"]


@given(case=cases())
@examples(6)
def test_what_a_recoding_promises(shared_database: Database, folder: Path, case: Case) -> None:
    assert_kept(shared_database, folder, replace(case, algorithm="optimal"))


@given(case=with_other_models())
@examples(4)
def test_under_the_other_models(shared_database: Database, folder: Path, case: Case) -> None:
    assert_kept(shared_database, folder, replace(case, algorithm="optimal"))
