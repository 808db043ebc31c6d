"""Results as JSON, and the JSON Schema they keep to, which is made from their types."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from kanon_sql.registers import QUALITY_METRICS, RECODINGS, SEARCH_ALGORITHMS

__all__ = [
    "audit_schema",
    "certificate_schema",
    "cloak_schema",
    "comparison_schema",
    "evidence_schema",
    "parties_schema",
    "perturbation_schema",
    "relational_audit_schema",
    "relational_comparison_schema",
    "relational_schema",
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
    """The JSON Schema (Draft 2020-12) of the results of plan, anonymize, apply, refresh and check: one of five."""
    from kanon_sql.verbs.result import AnyResult

    return _with_declared(AnyResult, "kanon_sql result")


def _with_declared(kind: Any, title: str) -> dict[str, Any]:
    """The schema of results that hold what requirements reach, metrics and recodings: those that are registered now."""
    from kanon_sql.disclosure.invariance import Invariance
    from kanon_sql.models import registered
    from kanon_sql.report.json_schema import schema_of

    declared = [*(model.figures for model in registered()), Invariance.figures]
    figures = {name: hint for own in declared for name, hint in own.items()}
    schema = schema_of(kind, title, {"Reached": figures})
    parts = schema["$defs"]
    parts["Reached"]["minProperties"] = len(parts["Reached"]["required"]) + 1  # at least one figure
    for part in parts.values():
        metrics = part["properties"].get("metrics")
        if metrics is not None:
            metrics["properties"] = {name: _metric(metric) for name, metric in QUALITY_METRICS.items()}
            metrics["patternProperties"] = {"^[a-z_]+ [(].+[)]$": {"type": "number", "description": _OTHER_FORM}}
            metrics["additionalProperties"] = False
    recoding = parts["RecodingSummary"]["properties"]
    recoding["method"]["enum"] = [name for name, declared in RECODINGS.items() if declared.run is not None]
    recoding["variant"]["enum"] = [*dict.fromkeys(word for item in RECODINGS.values() for word in item.variants), None]
    parts["SearchSummary"]["properties"]["algorithm"]["enum"] = [*SEARCH_ALGORITHMS, "exponential_mechanism"]
    return schema


_OTHER_FORM = (
    "Another form of a metric that the search optimized: its aggregate, gs_factor, monotone. Of a rank "
    "the largest loss "
    "of a column."
)


def _metric(metric: Any) -> dict[str, Any]:
    described = {"type": "number", "minimum": 0, "description": f"{metric.words}; {metric.formula}"}
    return described if metric.largest is None else {**described, "maximum": metric.largest}


def audit_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``AuditResult.to_dict()``, with the attacks that are registered now."""
    from kanon_sql.disclosure.attacks import result_names
    from kanon_sql.verbs.audit import AuditResult

    schema = _schema_of(AuditResult, "kanon_sql audit")
    schema["$defs"]["Attack"]["properties"]["name"] = {
        "enum": result_names(),
        "description": schema["$defs"]["Attack"]["properties"]["name"]["description"],
    }
    return schema


def comparison_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``Comparison.to_dict()``; it holds that of the plans in it."""
    from kanon_sql.verbs.compare import Comparison

    schema = _with_declared(Comparison, "kanon_sql comparison")
    schema["$defs"]["Compared"]["oneOf"] = [
        {"properties": {"reason": {"type": "null"}, "result": {"type": "object"}}},
        {"properties": {"reason": {"type": "string"}, "result": {"type": "null"}}},
    ]
    return schema


def evidence_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``Evidence.to_dict()``."""
    from kanon_sql.verbs.evidence import Evidence

    return _schema_of(Evidence, "kanon_sql evidence")


def certificate_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``Certificate.to_dict()``, and of a ``certificate.json``."""
    from kanon_sql.verbs.certify import Content

    return _schema_of(Content, "kanon_sql certificate")


def relational_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``RelationalResult.to_dict()``."""
    from kanon_sql.spec import RelatedWarnings
    from kanon_sql.verbs.relational import RelationalResult

    return _warned(_schema_of(RelationalResult, "kanon_sql several tables"), RelatedWarnings)


def relational_audit_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``RelationalAudit.to_dict()``."""
    from kanon_sql.verbs.relational_audit import RelationalAudit

    return _schema_of(RelationalAudit, "kanon_sql audit of several tables")


def relational_comparison_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``RelationalComparison.to_dict()``."""
    from kanon_sql.spec import RelatedWarnings
    from kanon_sql.verbs.relational_comparison import RelationalComparison

    return _warned(_schema_of(RelationalComparison, "kanon_sql comparison of several tables"), RelatedWarnings)


def risk_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``RiskResult.to_dict()``."""
    from kanon_sql.verbs.risk import RiskResult

    return _schema_of(RiskResult, "kanon_sql risk")


def cloak_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``CloakResult.to_dict()``."""
    from kanon_sql.spec import CloakWarnings
    from kanon_sql.verbs.cloak import CloakResult

    return _warned(_schema_of(CloakResult, "kanon_sql cloak"), CloakWarnings)


def tabulation_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``Tabulation.to_dict()``."""
    from kanon_sql.spec import NamedWarnings
    from kanon_sql.verbs.tabulate import Tabulation

    return _warned(_schema_of(Tabulation, "kanon_sql tabulate"), NamedWarnings)


def parties_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``PartiesResult.to_dict()``."""
    from kanon_sql.verbs.parties import PartiesResult

    return _schema_of(PartiesResult, "kanon_sql parties")


def perturbation_schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of ``Perturbation.to_dict()``."""
    from kanon_sql.spec import NamedWarnings
    from kanon_sql.verbs.perturb import Perturbation

    return _warned(_schema_of(Perturbation, "kanon_sql perturb"), NamedWarnings)


def _schema_of(kind: type, title: str) -> dict[str, Any]:
    from kanon_sql.report.json_schema import schema_of

    return schema_of(kind, title)


def _warned(schema: dict[str, Any], options: type[BaseModel]) -> dict[str, Any]:
    """A schema with the codes of those warnings alone that a spec of this kind has."""
    schema["$defs"]["Warned"]["properties"]["code"]["enum"] = list(options.model_fields)
    return schema
