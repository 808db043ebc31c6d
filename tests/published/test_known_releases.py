"""Whole releases and risks that ARX's own tests assert (ARX 3.9.2, TestAnonymization and TestRiskMetrics)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from tests.conftest import Database
from tests.support.literature import adult_answers, adult_dir, read_csv

ADULT = adult_dir()
pytestmark = pytest.mark.skipif(ADULT is None, reason="the answers are not here; KANON_SHARED names their folder")
FOLDER = ADULT or Path()
ANSWERS: dict[str, Any] = adult_answers(FOLDER) if ADULT else {}
TINY: dict[str, Any] = ANSWERS.get("tiny_cases", {"cases": []})
RISKS: dict[str, Any] = ANSWERS.get("risk_cases", {})

Case = Mapping[str, Any]


def requirement_of(criterion: Case) -> dict[str, Any]:
    """A criterion of a case."""
    parameters = {name: criterion[name] for name in ("attribute", "k", "l", "c", "t") if name in criterion}
    match criterion["model"]:
        case "KAnonymity":
            return {"k_anonymity": parameters}
        case "DistinctLDiversity":
            return {"l_diversity": {**parameters, "variant": "distinct"}}
        case "EntropyLDiversity":
            return {"l_diversity": {**parameters, "variant": "entropy"}}
        case "RecursiveCLDiversity":
            return {"l_diversity": {**parameters, "variant": "recursive"}}
        case "EqualDistanceTCloseness":
            return {"t_closeness": {**parameters, "distance": "equal"}}
    assert criterion["model"] == "HierarchicalDistanceTCloseness"
    return {"t_closeness": {**parameters, "distance": "hierarchical", "hierarchy": {"table": "of_values"}}}


def loaded(database: Database, case: Case) -> kanon_sql.Spec:
    """The table of a case with its hierarchies, and its spec."""
    data = TINY[case["data"].split()[0]]
    database.table("people", data["columns"], data["rows"])
    if "disease_hierarchy" in data:
        hierarchy = data["disease_hierarchy"]
        database.table("of_values", [f"l{level}" for level in range(len(hierarchy[0]))], hierarchy)
    quasi: dict[str, Any] = {}
    for number, (name, hierarchy) in enumerate(data["hierarchies"].items()):
        rows = [row[:1] for row in hierarchy] if "one-column" in case["data"] else hierarchy
        if name != case.get("sensitive"):
            database.table(f"h{number}", [f"l{level}" for level in range(len(rows[0]))], rows)
            held = {} if len(rows[0]) > 1 else {"maximum_level": 0}  # here every hierarchy has a top
            quasi[name] = {"table": f"h{number}", **held}
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "released",
            "quasi_identifiers": quasi,
            "sensitive": [case["sensitive"]] if "sensitive" in case else [],
            "privacy": [requirement_of(criterion) for criterion in case["criteria"]],
        }
    )


@pytest.mark.parametrize("case", TINY["cases"], ids=lambda case: case["name"])
@pytest.mark.sampled(9)
def test_a_whole_release(database: Database, case: Case) -> None:
    spec = loaded(database, case)
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.passed != case.get("expected_no_solution", False)
    if result.passed:
        assert result.node == case["expected_levels"]
        assert sorted(database.rows("released")) == sorted(tuple(row) for row in case["expected"])


@pytest.mark.slow
def test_the_risks_of_a_tiny_table(database: Database) -> None:
    """As it is, and 2-anonymous: three classes of seven rows, the smallest of two."""
    case = next(case for case in TINY["cases"] if case["criteria"] == [{"model": "KAnonymity", "k": 2}])
    spec = loaded(database, case)
    assert kanon_sql.anonymize(database.engine, spec).passed
    for table, answers in (("people", RISKS["tiny7_raw"]), ("released", RISKS["tiny7_after_2_anonymity"])):
        result = kanon_sql.risk(database.engine, spec, table, sampling_fraction=0.1)
        assert result.prosecutor.highest == answers["highest_risk"]
        assert result.prosecutor.average == pytest.approx(answers["average_risk"], rel=1e-15)
        shares = {item.estimator: item.share for item in result.uniqueness["population"]}
        asserted = next(value for name, value in answers.items() if name.startswith("population_uniqueness"))
        assert shares["zayatz"] == pytest.approx(asserted, abs=5e-5)


@pytest.mark.slow
def test_the_risks_of_adult_once_it_is_2_anonymous() -> None:
    answers = RISKS["adult_after_2_anonymity_suppression_0_loss_metric_rank_aggregate"]
    columns, *_ = read_csv(FOLDER / "adult.csv")
    with duckdb.connect(config={"threads": 2}) as connection:
        reading = "read_csv(?, delim = ';', header = true, all_varchar = true)"
        connection.execute(f"CREATE TABLE adult AS SELECT * FROM {reading}", [str(FOLDER / "adult.csv")])
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1,
                "source": "adult",
                "quasi_identifiers": {name: {"file": str(FOLDER / f"hierarchy_{name}.csv")} for name in columns},
                "privacy": [{"k_anonymity": 2}],
                "search": {"metric": "loss", "aggregate": "rank"},
            }
        )
        result = kanon_sql.plan(kanon_sql.connect(connection), spec, compare_recoding=None)
    assert result.search is not None
    assert result.search.proven
    assert result.classes["smallest"] == Fraction(1) / Fraction(answers["highest_risk"])
    assert result.classes["count"] / result.rows["released"] == pytest.approx(answers["average_risk"], rel=1e-15)
