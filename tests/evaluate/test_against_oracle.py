"""The package against the oracle, on random problems: every node, every search, the release, the check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import event, example, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.evaluate import rollup
from tests.conftest import Database
from tests.oracles.lattice import METRICS
from tests.oracles.model import Node, Row, generalize, judge
from tests.support.oracle_answers import (
    assert_achieved,
    assert_every_node_and_every_search,
    close,
    examined,
    key_of,
    metrics_of,
    reached,
)
from tests.support.oracle_cases import (
    DISTINCT_FALLS,
    ENTROPY_FALLS,
    NOBODY_TELLS,
    NULL_SUPPRESSED,
    RECURSIVE_FALLS,
    SAME_PERSON,
    Case,
    cases,
    load,
)
from tests.support.strategies import examples


@given(case=cases(max_nodes=16), other=st.sampled_from(list(METRICS)), small=st.sampled_from([0, rollup.SMALL]))
@example(case=Case(problem=NOBODY_TELLS, forms={"q0": "table"}), other="entropy", small=0)
@example(case=ENTROPY_FALLS, other="height", small=0)
@example(case=RECURSIVE_FALLS, other="height", small=0)
@example(case=DISTINCT_FALLS, other="height", small=0)
@example(case=SAME_PERSON, other="height", small=0)
@examples(12)
def test_every_node_and_every_search(
    shared_database: Database, folder: Path, case: Case, other: str, small: int
) -> None:
    """By two metrics, since each takes its time; also with rollups, which no table of this size would pay for."""
    spec = load(shared_database, folder, case)
    with patch.multiple(rollup, SMALL=small, BUILD_COST=0.1 if small == 0 else rollup.BUILD_COST):
        assert_every_node_and_every_search(spec, shared_database.engine, case, other)


@given(case=cases(max_nodes=64))
@examples(6)
def test_plan(shared_database: Database, folder: Path, case: Case) -> None:
    spec = load(shared_database, folder, case)
    problem, oracle = case.problem, case.problem.oracle()
    result = kanon_sql.plan(shared_database.engine, spec).to_dict(all_minimal=True)
    metrics = {node: metrics_of(oracle, node) for node in oracle.satisfying_nodes()}
    best = min((values[case.metric] for values in metrics.values()), default=None)
    event(result["verdict"])
    assert result["verdict"] == ("pass" if oracle.satisfying_nodes() else "fail")
    assert result["search"]["proven"]
    if result["search"]["minimal_nodes"] is not None:
        assert {tuple(node) for node in result["search"]["minimal"]} == oracle.minimal_nodes()
    if best is None:
        rows = len(problem.rows)
        assert result["node"] is None
        assert (result["rows"]["source"], result["rows"]["suppressed"], result["rows"]["released"]) == (rows, rows, 0)
        return
    assert list(result["node"]) == oracle.columns
    node = tuple(result["node"].values())
    if case.algorithm == "samarati":
        assert node in oracle.preferred(case.prefer, oracle.lowest_height_solutions())
    else:
        assert close(metrics[node][case.metric], best)
    assert result["metrics"].keys() == oracle.evaluate(node).metrics.keys()
    for name, value in metrics[node].items():
        assert close(result["metrics"][name], value), name
    assert_planned(case, node, result)


def assert_planned(case: Case, node: Node, result: dict[str, Any]) -> None:
    """What a plan says of the node that it chose."""
    problem, truth = case.problem, case.problem.oracle().evaluate(node)
    assert result["rows"]["source"] == len(problem.rows)
    assert result["rows"]["suppressed"] == truth.suppressed
    assert result["rows"]["released"] == len(problem.rows) - truth.suppressed
    assert result["classes"]["count"] == truth.kept_classes
    if problem.unit is not None:
        assert result["rows"]["persons"] == len({row[problem.unit] for row in problem.rows} - {None})
    for requirement, measure in zip(problem.requirements, truth.achieved.values(), strict=True):
        expected = {**reached(requirement, measure), "violating_classes": 0, "violating_rows": 0}
        assert_achieved({"": result["achieved"][key_of(requirement)]}, {"": expected})


# --- the release ------------------------------------------------------------------------------------


def released_rows(case: Case, node: Node) -> tuple[list[Row], list[Row], bool]:
    """The rows that the release of a node must hold, those of them that are masked, and whether it can be masked."""
    problem, oracle = case.problem, case.problem.oracle()
    vectors = generalize(problem.rows, problem.hierarchies, node, problem.nulls)
    verdicts = {}
    for vector in set(vectors) - {None}:
        members = [row for row, its in zip(problem.rows, vectors, strict=True) if its == vector]
        verdicts[vector] = all(
            judge(requirement, members, original, problem.unit)[1]
            for requirement, original in zip(problem.requirements, oracle.original, strict=True)
        )
    numbered = [{**row, "serial": number} for number, row in enumerate(problem.rows)]
    kept = [
        {**row, **dict(zip(oracle.columns, vector, strict=True))}
        for row, vector in zip(numbered, vectors, strict=True)
        if vector is not None and verdicts[vector]
    ]
    left = [
        {**row, **dict.fromkeys(oracle.columns, "*")}
        for row, vector in zip(numbered, vectors, strict=True)
        if vector is None or not verdicts[vector]
    ]
    # A row that is released at the top of every hierarchy stands in one class with the masked ones.
    merged = [*left, *(row for row in kept if all(row[column] == "*" for column in oracle.columns))]
    enough = all(
        judge(requirement, merged, original, problem.unit)[1]
        for requirement, original in zip(problem.requirements, oracle.original, strict=True)
    )
    masked = left if left and enough and case.style == "mask" else []
    return [*kept, *masked], masked, bool(left) and case.style == "mask"


@given(case=cases(max_nodes=24))
@example(case=NULL_SUPPRESSED)
@example(case=replace(NULL_SUPPRESSED, style="mask"))
@example(case=Case(problem=NOBODY_TELLS, forms={"q0": "table"}))
@examples(20)
def test_release_and_check(shared_database: Database, folder: Path, case: Case) -> None:
    spec = load(shared_database, folder, case)
    problem, oracle = case.problem, case.problem.oracle()
    engine, unit = shared_database.engine, case.problem.unit
    names = [*problem.hierarchies, *problem.sensitive, "serial"]
    before = shared_database.rows("people")

    result = kanon_sql.anonymize(engine, spec).to_dict()
    event(f"{result['verdict']}, {'unit' if unit else 'rows'}")
    assert result["verdict"] == ("pass" if oracle.satisfying_nodes() else "fail")
    assert shared_database.rows("people") == before
    if result["verdict"] == "fail":
        assert "people_release" not in shared_database.tables()
        assert result["rows"] == {**result["rows"], "source": len(problem.rows), "released": 0}
        assert result["node"] is None
        return

    node = tuple(result["node"].values())
    assert node in oracle.satisfying_nodes()
    release = [dict(zip(names, line, strict=True)) for line in shared_database.rows("people_release")]
    assert shared_database.columns("people_release") == names
    assert_released(case, node, result, release)

    # What was verified is what the release holds, in the unit that is protected.
    owners = [{**row, **({} if unit is None else {unit: problem.rows[row["serial"]][unit]})} for row in release]
    classes, achieved = examined(owners, oracle.columns, problem.requirements, problem.rows, unit)
    assert result["classes"] == classes
    assert_achieved(result["achieved"], achieved)

    # Checked as a table that anybody wrote. Persons are not in it, so rows are counted.
    checked = kanon_sql.check(engine, spec, count_rows=unit is not None).to_dict()
    assert_checked(case, checked, release)
    if unit is None:
        assert checked["verdict"] == "pass"


def assert_released(case: Case, node: Node, result: dict[str, Any], release: Sequence[Row]) -> None:
    """The release holds the rows that the oracle releases at the node, and the result counts them."""
    rows, names = case.problem.rows, [*case.problem.hierarchies, *case.problem.sensitive, "serial"]
    expected, masked, to_mask = released_rows(case, node)
    event(f"masked {bool(masked)}, to mask {to_mask}")
    assert Counter(tuple(row[name] for name in names) for row in release) == Counter(
        tuple(row[name] for name in names) for row in expected
    )
    truth = case.problem.oracle().evaluate(node)
    assert result["rows"]["source"] == len(rows)
    assert result["rows"]["suppressed"] == truth.suppressed
    assert result["rows"]["released"] == len(rows) - truth.suppressed
    assert result["rows"].get("masked", 0) == len(masked)
    assert len(release) == result["rows"]["released"] + len(masked)
    assert bool([note for note in result["notes"] if "dropped, not masked" in note]) == (to_mask and not masked)


def assert_checked(case: Case, checked: dict[str, Any], release: Sequence[Row]) -> None:
    """Row by row, by the requirements of the spec."""
    problem = case.problem
    classes, achieved = examined(release, problem.oracle().columns, problem.requirements, problem.rows, None)
    assert checked["classes"] == classes
    assert checked["rows"] == {"source": len(release), "released": len(release), "suppressed": 0}
    assert_achieved(checked["achieved"], achieved)
    assert checked["verdict"] == ("fail" if any(item["violating_classes"] for item in achieved.values()) else "pass")


@given(case=cases())
@example(case=Case(problem=NOBODY_TELLS, forms={"q0": "table"}))
@examples(30)
def test_check_of_the_source(shared_database: Database, folder: Path, case: Case) -> None:
    """A raw table is the bottom node, NULL being a value."""
    spec = load(shared_database, folder, case)
    problem = case.problem
    checked = kanon_sql.check(shared_database.engine, spec, "people").to_dict()
    classes, achieved = examined(problem.rows, problem.hierarchies, problem.requirements, problem.rows, problem.unit)
    assert checked["classes"] == classes
    assert_achieved(checked["achieved"], achieved)
    violated = any(item["violating_classes"] for item in achieved.values())
    assert checked["verdict"] == ("fail" if violated or not problem.rows else "pass")
    bottom = replace(problem.oracle(), nulls="value").evaluate((0,) * len(problem.hierarchies))
    assert checked["classes"]["count"] == bottom.classes
