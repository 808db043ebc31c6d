"""The JSON Schemas of results follow from their types: real results of each verb keep to them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import jsonschema
import pytest

import kanon_sql
from kanon_sql.report import json as schemas

pytestmark = pytest.mark.xdist_group("generated schemas")

SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "audit": schemas.audit_schema,
    "certify": schemas.certificate_schema,
    "cloak": schemas.cloak_schema,
    "compare": schemas.comparison_schema,
    "evidence": schemas.evidence_schema,
    "parties": schemas.parties_schema,
    "perturb": schemas.perturbation_schema,
    "plan": schemas.result_schema,
    "risk": schemas.risk_schema,
    "tabulate": schemas.tabulation_schema,
}
SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "release": "visits_release",
    "quasi_identifiers": {"age": {"intervals": [5, 10, 20], "top": 90}, "zip": {"prefix": [3]}},
    "sensitive": ["diagnosis"],
    "privacy": [{"k_anonymity": {"k": 4}}],
    "suppression": {"max_share": 0.1},
    "search": {"metric": "precision"},
}
TABLE = {"version": 1, "kind": "table", "source": "visits", "dimensions": {"zip": None}, "rules": {"threshold": 5}}
POSITIONS = {
    "version": 1,
    "kind": "positions",
    "source": {"query": "SELECT id, age % 8 AS x, id % 8 AS y FROM visits"},
    "unit": "id",
    "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3},
    "k": 15,
}
PERTURBED = {
    "version": 1,
    "kind": "perturbed",
    "source": "visits",
    "key": "id",
    "perturb": {"age": {"rank_swap": 0.1}, "diagnosis": {"pram": 0.8}},
    "keep": ["zip"],
}


def visits(where: str) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE visits AS SELECT CAST(i AS INTEGER) AS id, CAST(20 + (i * 7) % 41 AS INTEGER) AS age, "
        "CAST(100 + i % 3 AS VARCHAR) AS zip, ['flu', 'cold', 'cancer'][(i // 5) % 3 + 1] AS diagnosis "
        f"FROM range(300) AS t(i) WHERE {where}"
    )
    return connection


def results() -> Iterator[tuple[str, Any]]:
    """A result of every verb that has one, with what can be asked of it besides."""
    connection = visits("TRUE")
    engine, spec = kanon_sql.connect(connection), kanon_sql.Spec.from_dict(SPEC)
    yield "plan", kanon_sql.anonymize(engine, spec)
    yield "plan", kanon_sql.check(engine, spec, "visits", reveal=1, details=True)
    yield "plan", kanon_sql.plan(engine, spec, explain=True, all_minimal=True, details=True)
    yield "audit", kanon_sql.audit(engine, spec, external="visits", on=["age", "zip"], reveal=2)
    with TemporaryDirectory() as directory:
        yield "certify", kanon_sql.certify(engine, spec, directory, by="the office")
    yield "evidence", kanon_sql.evidence(engine, spec)
    connection.execute("CREATE TABLE everybody AS FROM visits_release")
    yield "evidence", kanon_sql.evidence(engine, spec, population="everybody", sampling_fraction=0.5)
    yield "risk", kanon_sql.risk(engine, spec)
    yield "risk", kanon_sql.risk(engine, spec, "visits", population="visits", sampling_fraction=0.5)
    yield "compare", kanon_sql.compare(engine, {"one": spec}, [2, 3], recodings=["local:fast", "kk"])
    yield "tabulate", kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict(TABLE))
    few = {**TABLE, "dimensions": {"zip": None, "diagnosis": None}, "rules": {"threshold": 34}}
    yield "tabulate", kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict(few))
    yield "cloak", kanon_sql.cloak(engine, kanon_sql.CloakSpec.from_dict(POSITIONS))
    yield "cloak", kanon_sql.cloak(engine, kanon_sql.CloakSpec.from_dict({**POSITIONS, "k": 500}))
    yield "perturb", kanon_sql.perturb(engine, kanon_sql.PerturbSpec.from_dict(PERTURBED))
    parties = [kanon_sql.connect(visits(f"i % 2 = {half}")) for half in (0, 1)]
    yield "parties", kanon_sql.anonymize_parties(parties, spec)
    hopeless = kanon_sql.Spec.from_dict({**SPEC, "privacy": [{"k_anonymity": {"k": 301}}]})
    yield "parties", kanon_sql.plan_parties(parties, hopeless)


@pytest.fixture(scope="module")
def made() -> list[tuple[str, dict[str, Any]]]:
    return [(verb, json.loads(json.dumps(result.to_dict()))) for verb, result in results()]


@pytest.mark.parametrize("verb", SCHEMAS)
def test_every_key_of_it_is_described(verb: str) -> None:
    schema = SCHEMAS[verb]()
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, item in {"": schema, **schema.get("$defs", {})}.items():
        if "oneOf" not in item or "properties" in item:
            assert item["description"], name
            assert [key for key, part in item["properties"].items() if not part.get("description")] == [], name


def test_results_keep_to_it(made: list[tuple[str, dict[str, Any]]]) -> None:
    assert {verb for verb, _ in made} == set(SCHEMAS)
    for verb, data in made:
        jsonschema.Draft202012Validator(SCHEMAS[verb]()).validate(data)


def test_it_refuses_what_is_no_result(made: list[tuple[str, dict[str, Any]]]) -> None:
    for verb, data in made:
        validator = jsonschema.Draft202012Validator(SCHEMAS[verb]())
        for key in data.keys() - {"revealed"}:  # which is there on request
            broken = copy.deepcopy(data)
            del broken[key]
            assert not validator.is_valid(broken), (verb, key)
        assert not validator.is_valid({**data, "extra": 1})
        named = "format" if verb == "certify" else "verb"
        assert not validator.is_valid({**data, named: "another"})


def test_no_schema_is_written_by_hand() -> None:
    package = Path(str(files("kanon_sql")))
    assert sorted(package.rglob("*.json")) == []


PARTS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "evidence": (
        "evidence",
        [
            {"verdict": "perturbed"}, {"message": ""}, {"rows": -1}, {"problems": [""]}, {"release": ""},
            {"made": {}}, {"run": {}}, {"columns": [{}]}, {"requirements": [{}]}, {"records": {}}, {"journalist": {}},
            {"population_uniques": [{}]}, {"class_sizes": [{}]}, {"attacks": [1]}, {"wp216": [{}]},
            {"safe_harbor": [{}]}, {"zip_codes": [{}]}, {"iso_27559": [{}]}, {"not_measured": [{}]},
            {"warnings": [{}]}, {"cost": {}}, {"spec": []},
        ],
    ),
    "certificate": (
        "certify",
        [
            {"verdict": "perturbed"}, {"made": {}}, {"release": None}, {"spec_hash": "0"}, {"files": {"a": "0"}},
            {"claims": [{}]}, {"optimality": {}}, {"not_certified": [{}]}, {"provenance": {}}, {"session": [1]},
        ],
    ),
}  # fmt: skip
"""What is wrong in a part of a document."""


@pytest.mark.parametrize("name", PARTS)
def test_what_is_wrong_in_a_part_is_refused(name: str, made: list[tuple[str, dict[str, Any]]]) -> None:
    verb, changes = PARTS[name]
    validator = jsonschema.Draft202012Validator(SCHEMAS[verb]())
    data = next(data for own, data in made if own == verb)
    for change in changes:
        assert not validator.is_valid({**data, **change}), change


def test_a_claim_is_refused_whose_digest_or_comparison_is_none(made: list[tuple[str, dict[str, Any]]]) -> None:
    validator = jsonschema.Draft202012Validator(schemas.certificate_schema())
    data = next(data for own, data in made if own == "certify")
    claim = data["claims"][0]
    for change in ({"sha256": "x"}, {"part": "other"}, {"must": [["a", "<", 1]]}, {"must": [["a", "="]]},
                   {"must": [["a", "=", 1, 2]]}, {"rows": [[True]]}, {"rows": [[["a"]]]}):  # fmt: skip
        assert not validator.is_valid({**data, "claims": [{**claim, **change}]}), change
