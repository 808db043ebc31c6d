"""Results as JSON, and the JSON Schema they keep to."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from kanon_sql.declared import QUALITY_METRICS, RECODINGS, SEARCH_ALGORITHMS

__all__ = [
    "audit_schema",
    "certificate_schema",
    "cloak_schema",
    "comparison_schema",
    "evidence_schema",
    "parties_schema",
    "perturbation_schema",
    "result_schema",
    "risk_schema",
    "tabulation_schema",
    "to_json",
]


def to_json(data: Any) -> str:
    """Plain data as JSON text, indented, in ASCII so that every terminal and pipe can carry it.

    Raises:
        ValueError: a number that JSON does not have (infinity, not-a-number).
    """
    return json.dumps(data, indent=2, allow_nan=False)


def result_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``Result.to_dict()``, with what the registered models reach."""
    from kanon_sql.models import registered

    schema = _schema("result.schema.json")
    for name, metric in QUALITY_METRICS.items():
        described = {"type": "number", "minimum": 0, "description": f"{metric.words}; {metric.formula}"}
        if metric.largest is not None:
            described["maximum"] = metric.largest
        schema["properties"]["metrics"]["properties"][name] = described
    recoding = schema["properties"]["recoding"]["anyOf"][1]["properties"]
    recoding["method"]["enum"] = [name for name, declared in RECODINGS.items() if declared.run is not None]
    recoding["variant"]["enum"] = [*dict.fromkeys(word for item in RECODINGS.values() for word in item.variants), None]
    algorithm = schema["properties"]["search"]["anyOf"][1]["properties"]["algorithm"]
    algorithm["enum"] = [*SEARCH_ALGORITHMS, *algorithm["enum"]]
    figures = {name: about for model in registered() for name, about in model.figures.items()}
    schema["properties"]["achieved"]["additionalProperties"]["properties"] |= {
        name: {"type": ["number", "null"], "description": about} for name, about in figures.items()
    }
    return schema


def audit_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``AuditResult.to_dict()``, with the attacks that are registered now."""
    from kanon_sql.disclosure.attacks import result_names

    schema = _schema("audit.schema.json")
    schema["$defs"]["attack"]["properties"]["name"]["enum"] = result_names()
    return schema


def comparison_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``Comparison.to_dict()``; it holds that of the results in it."""
    schema = _schema("compare.schema.json")
    schema["$defs"]["result"] = {"$id": "result.schema.json", **result_schema()}
    return schema


def evidence_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``Evidence.to_dict()``."""
    return _schema("evidence.schema.json")


def certificate_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``Certificate.to_dict()``, and of a ``certificate.json``."""
    return _schema("certificate.schema.json")


def risk_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``RiskResult.to_dict()``."""
    return _schema("risk.schema.json")


def cloak_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``CloakResult.to_dict()``."""
    return _schema("cloak.schema.json")


def tabulation_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``Tabulation.to_dict()``."""
    return _schema("tabulate.schema.json")


def parties_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``PartiesResult.to_dict()``."""
    return _schema("parties.schema.json")


def perturbation_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``Perturbation.to_dict()``."""
    return _schema("perturb.schema.json")


def _schema(file: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(files("kanon_sql").joinpath(file).read_text("utf-8"))
    return schema
