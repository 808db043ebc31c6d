"""The JSON Schema of what plan, anonymize and check say: results of every kind follow it, and nothing is left open."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args

import duckdb
import jsonschema
import pytest

from kanon_sql import Spec, anonymize, check, connect, plan
from kanon_sql.engines.base import Engine
from kanon_sql.models.quality import METRICS
from kanon_sql.report import text
from kanon_sql.report.json import result_schema, risk_schema
from kanon_sql.search import STRATEGIES
from kanon_sql.verbs.result import AnyResult, Cost, Result

VALIDATOR = jsonschema.Draft202012Validator(result_schema())

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "release": "visits_release",
    "quasi_identifiers": {"age": {"intervals": [5, 10, 20], "top": 90}, "zip": {"prefix": [3]}},
    "sensitive": ["diagnosis"],
    "privacy": [
        {"k_anonymity": {"k": 4}},
        {"l_diversity": {"attribute": "diagnosis", "l": 2, "variant": "distinct"}},
        {"t_closeness": {"attribute": "diagnosis", "t": 0.6}},
    ],
    "suppression": {"max_share": 0.1, "style": "mask"},
    "search": {"algorithm": "incognito"},
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    path = tmp_path_factory.mktemp("schema") / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i // 2 AS person, CAST(20 + (i * 7) % 41 AS INTEGER) AS age, "
            "CAST(100 + i % 3 AS VARCHAR) AS zip, ['flu', 'cold', 'cancer'][(i // 5) % 3 + 1] AS diagnosis "
            "FROM range(300) AS t(i)"
        )
    return connect(path)


def validated(result: Result, **options: Any) -> dict[str, Any]:
    data = result.to_dict(**options)
    VALIDATOR.validate(data)
    return data


@pytest.mark.parametrize("schema", [result_schema, risk_schema])
def test_the_schema_is_a_schema(schema: Callable[[], dict[str, Any]]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.slow
def test_plan_anonymize_and_check_follow_it(engine: Engine) -> None:
    spec = Spec.from_dict(SPEC)
    assert validated(plan(engine, spec), all_minimal=True)["search"]["minimal"]
    assert validated(anonymize(engine, spec))["verdict"] == "pass"
    assert validated(check(engine, spec))["release"] == "visits_release"
    assert validated(check(engine, spec, "visits"))["rows"]["source"] == 300


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", STRATEGIES)
@pytest.mark.parametrize("unit", [None, "person"])
@pytest.mark.sampled(20)
def test_every_algorithm_follows_it(engine: Engine, algorithm: str, unit: str | None) -> None:
    validated(
        plan(engine, Spec.from_dict({**SPEC, "unit": unit, "search": {"algorithm": algorithm}})), all_minimal=True
    )


@pytest.mark.slow
def test_intervals_follow_it(engine: Engine) -> None:
    spec = Spec.from_dict({**SPEC, "privacy": SPEC["privacy"][:2], "search": {"algorithm": "k_optimize", "cuts": 4}})
    data = validated(anonymize(engine, spec))
    assert set(data["intervals"]) == {name for name, level in data["node"].items() if level == 1} != set()
    assert data["search"]["nodes_total"] is None


@pytest.mark.slow
@pytest.mark.parametrize("effort", ["fast", "best"])
def test_local_recodings_follow_it(engine: Engine, effort: str) -> None:
    spec = Spec.from_dict({**SPEC, "search": {}, "recoding": {"method": "local", "variant": effort}})
    assert validated(plan(engine, spec, bound=True))["recoding"]["bound"]["exact"]
    assert validated(anonymize(engine, spec))["recoding"]["variant"] == effort


@pytest.mark.slow
def test_a_multidimensional_recoding_follows_it(engine: Engine) -> None:
    spec = Spec.from_dict({**SPEC, "search": {}, "recoding": "mondrian"})
    validated(plan(engine, spec))
    assert validated(anonymize(engine, spec))["recoding"]["variant"] == "strict"


@pytest.mark.slow
def test_numbers_of_classes_follow_it(engine: Engine) -> None:
    columns = {name: "mean" for name in SPEC["quasi_identifiers"] if name == "age"}
    assert columns
    recoding = {"method": "microaggregation", "columns": columns}
    spec = Spec.from_dict({**SPEC, "search": {}, "suppression": {"max_share": 0.5}, "recoding": recoding})
    validated(plan(engine, spec))
    found = validated(anonymize(engine, spec))["recoding"]
    assert found["columns"]["age"]["aggregate"] == "mean"


@pytest.mark.campaign
def test_suppressed_cells_follow_it(engine: Engine) -> None:
    spec = Spec.from_dict({**SPEC, "search": {}, "recoding": {"method": "cells", "caps": {"age": 0.5}}})
    assert validated(plan(engine, spec, bound=True))["recoding"]["bound"]["exact"]
    assert validated(anonymize(engine, spec))["recoding"]["suppressed_cells"]["age"]["cap"] == 0.5


@pytest.mark.slow
def test_subtree_recoding_follows_it(engine: Engine) -> None:
    recoding = {"method": "subtree", "variant": "bottom_up", "classify": "diagnosis"}
    spec = Spec.from_dict({**SPEC, "search": {}, "recoding": recoding})
    assert validated(plan(engine, spec, bound=True))["recoding"]["bound"]["exact"]
    told = validated(anonymize(engine, spec))["recoding"]
    assert recoding.items() <= told.items()
    assert told["start"] == "bottom"


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "kind", [{"variant": "entropy"}, {"variant": "recursive", "c": 1.0}, {"variant": "recursive", "c": 3.0}]
)
def test_every_requirement_follows_it(engine: Engine, kind: dict[str, Any]) -> None:
    privacy = [{"l_diversity": {"attribute": "diagnosis", "l": 2, **kind}}]
    validated(plan(engine, Spec.from_dict({**SPEC, "privacy": privacy})))
    validated(check(engine, Spec.from_dict({**SPEC, "privacy": privacy}), "visits"))


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "requirement",
    [
        {"risk": {"average": 0.9}},
        {"risk": {"attacker": "journalist", "population": "visits", "highest": 0.9, "average": 1}},
        {"risk": {"attacker": "journalist", "sampling_fraction": 0.1, "highest": 0.9}},
        {"k_map": {"k": 3, "sampling_fraction": 0.1}},
        {"profitability": {"benefit": 2, "loss": 9, "gain": 30, "cost": 4}},
        {"population_uniqueness": {"share": 0.5, "sampling_fraction": 0.1}},
    ],
    ids=str,
)
def test_risks_and_estimates_follow_it(engine: Engine, requirement: dict[str, Any]) -> None:
    drop = {
        "suppression": {"max_share": 0.1},
        "sensitive": [],
        "search": {"metric": "classification", "classify": "person"},
    }
    spec = Spec.from_dict({**SPEC, **drop, "keep": ["person"], "privacy": [requirement]})
    assert "none" not in text.reached(next(iter(validated(check(engine, spec, "visits"))["achieved"].values())))
    if "population_uniqueness" not in requirement:
        assert "classification" in validated(plan(engine, spec))["metrics"]


def test_failures_follow_it(engine: Engine) -> None:
    impossible = Spec.from_dict({**SPEC, "privacy": [{"k_anonymity": {"k": 301}}]})
    for result in (plan(engine, impossible), anonymize(engine, impossible)):
        assert validated(result)["verdict"] == "fail"
    nobody = Spec.from_dict({**SPEC, "source": {"query": "SELECT * FROM visits WHERE age < 0"}})
    assert validated(plan(engine, nobody))["rows"]["source"] == 0


@pytest.mark.slow
def test_releases_with_a_ledger_follow_it(engine: Engine) -> None:
    spec = {**SPEC, "ledger": "releases"}
    first = validated(anonymize(engine, Spec.from_dict({**spec, "release": "first"})))
    again = validated(anonymize(engine, Spec.from_dict({**spec, "release": "again"})))
    assert (first["ledger"]["earlier"], again["ledger"]["earlier"]) == ([], ["first"])
    other = {**spec, "release": "other", "quasi_identifiers": {"age": {"intervals": [7]}}}
    assert validated(anonymize(engine, Spec.from_dict(other)))["ledger"]["achieved"]


KEYS = {
    "plan": "node level_names recoding max_suppressed metrics mean_loss search utility steps details intervals "
    "other_recoding",
    "anonymize": "node level_names recoding max_suppressed metrics mean_loss search utility steps details ledger "
    "intervals differential_privacy m_invariance",
    "apply": "node level_names recoding max_suppressed metrics mean_loss search utility steps details ledger",
    "refresh": "node level_names refresh",
    "check": "details",
}
"""Verb -> the keys of its results, after those of all."""


@pytest.mark.slow
def test_every_verb_has_the_keys_of_its_results(engine: Engine) -> None:
    common = "verb verdict message release rows classes class_sizes achieved cost notes warnings".split()
    parts = result_schema()["$defs"]
    kinds = {kind.__name__: kind for kind in get_args(AnyResult)}
    assert result_schema()["oneOf"] == [{"$ref": f"#/$defs/{name}"} for name in kinds]
    for name, kind in kinds.items():
        verb = parts[name]["properties"]["verb"]["const"]
        assert parts[name]["required"] == [*common, *KEYS[verb].split()], verb
        on_request = {"revealed"} if verb == "check" else set()
        assert set(parts[name]["properties"]) - set(parts[name]["required"]) == on_request
        hidden = {"sql", "manifest", "released"}
        assert {field.name for field in fields(kind)} - hidden - on_request == set(parts[name]["required"])
    spec = Spec.from_dict(SPEC)
    for result in (plan(engine, spec), anonymize(engine, spec), check(engine, spec, "visits")):
        assert list(result.to_dict()) == parts[type(result).__name__]["required"]


def test_parts_have_the_keys_of_what_they_describe() -> None:
    parts = result_schema()["$defs"]
    assert set(parts["Cost"]["properties"]) == {field.name for field in fields(Cost)}
    named = {*METRICS, "classification", "publisher_payout"}  # which need a column, or prices
    for name in ("Plan", "Release", "AppliedRelease"):
        assert set(parts[name]["properties"]["metrics"]["properties"]) == named
    search = parts["SearchSummary"]["properties"]
    assert set(search["algorithm"]["enum"]) == {*STRATEGIES, "k_optimize", "exponential_mechanism"}


def test_it_refuses_what_is_not_a_result(engine: Engine) -> None:
    data = plan(engine, Spec.from_dict(SPEC)).to_dict()
    for key in data:
        broken = copy.deepcopy(data)
        del broken[key]
        assert not VALIDATOR.is_valid(broken)
    for change in ({"verdict": "maybe"}, {"extra": 1}, {"rows": {}}, {"cost": {"statements": -1}}):
        assert not VALIDATOR.is_valid({**data, **change})
