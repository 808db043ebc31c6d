"""Locally minimal generalizations: every path of small lattices, a table of four rows, and what is printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import search
from kanon_sql.report.json import result_schema
from kanon_sql.search import Lattice, Node, generalizes, locally_minimal
from tests.conftest import Database
from tests.support import literature as lit
from tests.support.command_line import run
from tests.support.search_problems import Evaluator, Problem, make_problem, tiny_rounds
from tests.support.strategies import examples
from tests.support.suppressions import suppressing


def paths(lattice: Lattice, node: Node) -> Iterator[list[Node]]:
    """All generalization strategies from a node to the top."""
    following = list(lattice.successors(node))
    if not following:
        yield [node]
    for successor in following:
        for rest in paths(lattice, successor):
            yield [node, *rest]


def first_on_each_path(problem: Problem) -> set[Node]:
    """Samarati's definition, word by word."""
    lattice, truth = problem.question.lattice, problem.truth
    found = set()
    for path in paths(lattice, lattice.bottom):
        found.update([node for node in path if truth[node].satisfied][:1])
    return found


def few_paths(problem: Problem) -> bool:
    lattice = problem.question.lattice
    return sum(lattice.top) - sum(lattice.bottom) <= 7


@given(seed=st.integers(0, 2**32), monotone=st.booleans())
@examples(150)
def test_they_are_the_first_on_some_path(seed: int, monotone: bool) -> None:
    problem = make_problem(seed, monotone=monotone)
    if not few_paths(problem):
        return
    for algorithm in ("exhaustive", "incognito", "optimal"):
        options = {"minimal": True} if algorithm == "optimal" else {}
        evaluator = Evaluator(problem.question, problem.truth.__getitem__)
        with tiny_rounds() if algorithm == "optimal" else nullcontext():
            outcome = search.search(algorithm, problem.question, evaluator, **options).run()
        found = locally_minimal(problem.question, outcome)
        if not problem.question.monotone and algorithm != "exhaustive":
            assert found is None
            continue
        assert found is not None
        assert list(found) == sorted(first_on_each_path(problem)), algorithm
        assert problem.expected_minimal() <= set(found), "every k-minimal one is locally minimal"


def test_a_lattice_that_is_too_large_is_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = next(
        found for seed in range(99) if (found := make_problem(seed, monotone=True)).question.lattice.size > 9
    )
    outcome = search.search(
        "exhaustive", problem.question, Evaluator(problem.question, problem.truth.__getitem__)
    ).run()
    assert locally_minimal(problem.question, outcome) is not None
    monkeypatch.setattr(sys.modules["kanon_sql.search.explain"], "MAX_NODES", 9)
    assert locally_minimal(problem.question, outcome) is None


ROWS = [("1", "94141"), ("1", "94142"), ("2", "94141"), ("2", "94142")]


def four(database: Database, **more: Any) -> kanon_sql.Spec:
    """One level of sex or of the postal code makes pairs; with two levels of the postal code the first is passed."""
    database.table("people", ["sex", "zip"], ROWS)
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "quasi_identifiers": {"sex": None, "zip": {"prefix": [4, 3]}},
            "privacy": [{"k_anonymity": 2}], **more,
        }
    )  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("algorithm", ["optimal", "exhaustive", "incognito"])
def test_one_that_is_not_k_minimal(database: Database, algorithm: str) -> None:
    """[1, 0] and [0, 1] are the 2-minimal generalizations of four rows, and no other node is the first on a path.

    For k = 4, [1, 1] alone is minimal and locally minimal; for k = 3 with a limit on the levels likewise.
    """
    spec = four(database, search={"algorithm": algorithm})
    result = kanon_sql.plan(database.engine, spec, all_minimal=True)
    found = result.to_dict(all_minimal=True)
    jsonschema.Draft202012Validator(result_schema()).validate(found)
    assert sorted(found["search"]["minimal"]) == found["search"]["locally_minimal"] == [[0, 1], [1, 0]]
    rows = [*ROWS, ("3", "94251"), ("3", "94251")]
    database.table("people", ["sex", "zip"], rows)
    found = kanon_sql.plan(database.engine, spec, all_minimal=True).to_dict(all_minimal=True)["search"]
    assert (sorted(found["minimal"]), found["locally_minimal"]) == ([[0, 1], [1, 0]], [[0, 1], [1, 0]])
    database.table("people", ["sex", "zip"], [("1", "94141"), ("2", "94141"), ("1", "94142"), ("1", "94142")])
    found = kanon_sql.plan(database.engine, spec, all_minimal=True).to_dict(all_minimal=True)["search"]
    assert found["minimal"] == [[1, 0]]
    assert found["locally_minimal"] == [[1, 0], [1, 1], [1, 2], [1, 3]], "by way of the postal code alone"


@pytest.mark.parametrize(("limit", "expected"), [(2, [(0, 1), (1, 0)]), (0, [(0, 2), (1, 1)])])
def test_of_samaratis_table(database: Database, limit: int, expected: list[Node]) -> None:
    """From the paper's table of how many rows each generalization suppresses, every path followed by hand."""
    suppressed = lit.SAMARATI_SUPPRESSED
    satisfying = {node for node in suppressed if suppressed[node] <= limit}
    assert satisfying == {node for node in suppressed if any(generalizes(node, lower) for lower in expected)}
    hierarchies = {}
    for column, hierarchy in lit.SAMARATI_HIERARCHIES.items():
        lines = list(hierarchy.values())
        database.table(f"hierarchy_{column}", [f"level{n}" for n in range(len(lines[0]))], lines)
        hierarchies[column] = {"table": f"hierarchy_{column}"}
    spec = four(database, quasi_identifiers=hierarchies, suppression=suppressing(limit), source="people")
    database.table("people", list(lit.NINE_PATIENTS[0]), [list(row.values()) for row in lit.NINE_PATIENTS])
    result = kanon_sql.plan(database.engine, spec, all_minimal=True)
    found = result.to_dict(all_minimal=True)["search"]
    assert [tuple(node) for node in found["locally_minimal"]] == expected


@pytest.mark.slow
def test_they_are_listed_where_all_minimal_are(published: Any) -> None:
    directory, _ = published
    base = ("plan", directory / "spec.yml", "-d", directory / "clinic.duckdb")
    found = json.loads(run(*base, "--format", "json", "--show", "minimal").stdout)["search"]
    minimal, local = ({tuple(node) for node in found[key]} for key in ("minimal", "locally_minimal"))
    assert minimal <= local
    text = run(*base, "--show", "minimal").stdout
    assert ("Other locally minimal nodes" in text) == (minimal < local)
    assert "locally_minimal" not in json.loads(run(*base, "--format", "json").stdout)["search"]


def test_they_are_shown_in_text(database: Database) -> None:
    from rich.console import Console

    from kanon_sql.report.text import result_text

    spec = four(database)
    database.table("people", ["sex", "zip"], [("1", "94141"), ("2", "94141"), ("1", "94142"), ("1", "94142")])
    result = kanon_sql.plan(database.engine, spec, all_minimal=True)
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(result_text(result, all_minimal=True))
    text = console.export_text()
    after = text.split("Other locally minimal nodes (first on a path up from the values)")[1].split("Runners")[0]
    assert "[1, 1]" in after
    assert "[1, 0]" not in after
