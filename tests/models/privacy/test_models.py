"""The privacy models that compare single values, and the distances of t-closeness, against the oracle and by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SpecError
from tests.conftest import Database
from tests.oracles.model import Requirement
from tests.support.oracle_answers import assert_achieved, assert_every_node_and_every_search, examined
from tests.support.oracle_cases import Case, load, one_vector_each, with_persons
from tests.support.strategies import ONE_IN_FOUR, examples, k_anonymity, problems, random_rows

WORDS = ["x", "X", "flu", "é", "e", "HIV"]
THRESHOLDS = [0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9]


def trees() -> st.SearchStrategy[dict[str, Any]]:
    """Every word under one or two levels of groups, more than one at the top."""

    def nested(groups: Sequence[int], outer: Sequence[int], deep: bool) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        for word, group in zip(WORDS, groups, strict=True):
            inside = tree.setdefault(f"outer {outer[group]}", {}) if deep else tree
            inside.setdefault(f"group {group}", {})[word] = {}
        return tree if len(tree) > 1 else {**tree, **{"outer 9": {"group 9": {"?": {}}} if deep else {"?": {}}}}

    places = st.lists(st.integers(0, 2), min_size=6, max_size=6)
    return st.builds(nested, places, st.lists(st.integers(0, 1), min_size=3, max_size=3), st.booleans())


@st.composite
def requirements(draw: st.DrawFn, persons: bool) -> list[Requirement]:
    """Some of the models, on a text `s0` and a number `s1`."""
    t = st.sampled_from(THRESHOLDS)
    subsets = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True)
    found: list[Requirement] = [
        {"t_closeness": {"attribute": "s1", "t": draw(t), "distance": "ordered"}},
        {
            "t_closeness": {
                "attribute": "s0", "t": draw(t), "distance": "hierarchical", "hierarchy": {"tree": draw(trees())},
            }
        },
        {"p_sensitive_k_anonymity": {"attribute": "s0", "p": draw(st.integers(1, 3)), "k": 3}},
        {"k_anonymity": {"column": "s1", "default": draw(st.integers(1, 4))}},
        {
            "l_diversity": {
                "attribute": "s0", "variant": "entropy", "estimator": "grassberger",
                "l": draw(st.sampled_from([1, 1.3, 1.9, 2, 2.5, 3])),
            }
        },
    ]  # fmt: skip
    if not persons:
        alpha: dict[str, Any] = {"attribute": "s0", "alpha": draw(t), "k": draw(st.integers(1, 3))}
        if draw(st.booleans()):
            alpha["values"] = draw(subsets)
        npd: dict[str, Any] = {
            "attribute": "s0", "variant": "npd_recursive", "l": draw(st.integers(2, 4)),
            "c": draw(st.sampled_from([0.5, 1, 2, 4])),
            "allow_positive": draw(subsets),
        }  # fmt: skip
        if draw(st.booleans()):
            npd |= {"forbid_negative": draw(subsets), "c2": draw(t)}
        found += [
            {"alpha_k_anonymity": alpha},
            {"l_diversity": npd},
            {"beta_likeness": {"attribute": "s1", "beta": draw(st.sampled_from([0.5, 1, 3])), "variant": "basic"}},
            {"beta_likeness": {"attribute": "s0", "beta": draw(st.sampled_from([0.5, 1, 3])), "variant": "enhanced"}},
            {"delta_disclosure": {"attribute": "s0", "delta": draw(st.sampled_from([0.5, 1, 2, 3]))}},
        ]
    chosen = draw(st.lists(st.sampled_from(range(len(found))), min_size=1, max_size=3, unique=True))
    extra = [draw(k_anonymity())] if draw(st.booleans()) else []
    return [*extra, *(found[index] for index in sorted(chosen))]


@st.composite
def model_cases(draw: st.DrawFn, max_nodes: int = 16) -> Case:
    """A random problem with the sensitive attributes and requirements of this file."""
    problem = draw(problems(models=False, units=False, nulls=("value", "suppress"), max_nodes=max_nodes))
    persons = draw(ONE_IN_FOUR)
    words: list[str | None] = [*draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True))]
    numbers: list[Any] = draw(st.lists(st.integers(-3, 6), min_size=1, max_size=5, unique=True))
    if draw(ONE_IN_FOUR):
        words, numbers = [*words, None], [*numbers, None]
    cells = random_rows({"s0": words, "s1": numbers}, {}, len(problem.rows), draw(st.integers(0, 10_000)))
    drawn = random_rows({}, {"s0": words, "s1": numbers}, len(problem.rows), draw(st.integers(0, 10_000)))
    rows = [
        {**row, **(one if draw(ONE_IN_FOUR) else other)}
        for row, one, other in zip(problem.rows, cells, drawn, strict=True)
    ]
    problem = replace(problem, rows=rows, sensitive=["s0", "s1"], requirements=draw(requirements(persons)), weights={})
    present = {row["s0"] for row in rows}
    for requirement in problem.requirements:  # a value to protect that does not occur is refused
        listed = requirement.get("alpha_k_anonymity", {})
        if "values" in listed:
            listed["values"] = [value for value in listed["values"] if value in present] or None
            if listed["values"] is None:
                del listed["values"]
    if persons:
        owners = draw(st.lists(st.sampled_from([None, "u1", "u2", "u3", "u4"]), min_size=25, max_size=25))
        problem = with_persons(problem, owners)
        if draw(st.booleans()):
            problem = replace(problem, rows=one_vector_each(problem.rows, problem.hierarchies, "unit"))
    return Case(problem=problem, forms=dict.fromkeys(problem.hierarchies, "table"), algorithm="optimal")


@given(case=model_cases())
@examples(4)
def test_every_node_and_every_search(shared_database: Database, folder: Path, case: Case) -> None:
    if not any(isinstance(row["s1"], int) for row in case.problem.rows):
        return  # a column of NULLs has no type
    spec = load(shared_database, folder, case)
    assert_every_node_and_every_search(spec, shared_database.engine, case, "height")


@pytest.mark.slow
@given(case=model_cases())
@examples(15)
def test_check_of_the_source(shared_database: Database, folder: Path, case: Case) -> None:
    problem = case.problem
    if not any(isinstance(row["s1"], int) for row in problem.rows):
        return
    spec = load(shared_database, folder, case)
    result = kanon_sql.check(shared_database.engine, spec, "people")
    classes, achieved = examined(problem.rows, problem.hierarchies, problem.requirements, problem.rows, problem.unit)
    event(result.verdict)
    assert result.classes == classes
    assert_achieved(result.achieved, achieved)


@pytest.mark.slow
@given(case=model_cases())
@examples(6)
def test_what_is_released_is_what_check_confirms(shared_database: Database, folder: Path, case: Case) -> None:
    problem = case.problem
    if problem.unit is not None or not any(isinstance(row["s1"], int) for row in problem.rows):
        return
    spec = load(shared_database, folder, case)
    result = kanon_sql.anonymize(shared_database.engine, spec)
    assert result.passed == bool(problem.oracle().satisfying_nodes())
    if result.passed:
        checked = kanon_sql.check(shared_database.engine, spec)
        assert checked.passed
        assert_achieved(
            checked.achieved,
            {
                key: {name: value for name, value in item.items() if name != "requirement"}
                for key, item in result.achieved.items()
            },
        )
        assert checked.class_sizes == result.class_sizes


def test_shares_of_persons_are_refused() -> None:
    """A person with several rows has several values: their shares do not add up to 1."""
    for requirement in (
        {"l_diversity": {"attribute": "s", "variant": "npd_recursive", "l": 2, "c": 2, "allow_positive": ["x"]}},
        {"alpha_k_anonymity": {"attribute": "s", "alpha": 0.5, "k": 2}},
        {"beta_likeness": {"attribute": "s", "beta": 1}},
        {"delta_disclosure": {"attribute": "s", "delta": 1}},
    ):
        with pytest.raises(SpecError, match="is defined for rows"):
            kanon_sql.Spec.from_dict(
                {
                    "version": 1,
                    "source": "t",
                    "unit": "person",
                    "quasi_identifiers": {"q": None},
                    "sensitive": ["s"],
                    "privacy": [requirement],
                }
            )
