"""The reference of results, written from their JSON schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kanon_sql.report.json import (
    audit_schema,
    certificate_schema,
    cloak_schema,
    comparison_schema,
    evidence_schema,
    parties_schema,
    perturbation_schema,
    result_schema,
    risk_schema,
    tabulation_schema,
)

__all__ = ["SCHEMAS", "markdown"]

SCHEMAS = {
    "plan, anonymize, release apply, release refresh, check": result_schema,
    "compare": comparison_schema,
    "audit": audit_schema,
    "risk": risk_schema,
    "release evidence": evidence_schema,
    "release certify": certificate_schema,
    "publish table": tabulation_schema,
    "parties plan, parties anonymize": parties_schema,
    "publish perturbed": perturbation_schema,
    "publish positions": cloak_schema,
}
"""Verbs -> the schema of what they print."""


def markdown() -> str:
    """A section per schema: its keys, and the whole schema below them."""
    return "\n\n".join(_section(verbs, read()) for verbs, read in SCHEMAS.items())


def _section(verbs: str, schema: Mapping[str, Any]) -> str:
    kinds = [schema["$defs"][form["$ref"].rpartition("/")[2]] for form in schema.get("oneOf", ())] or [schema]
    keys = [line for kind in kinds for line in _keys(kind)]
    whole = "\n".join(f"    {line}" for line in json.dumps(schema, indent=2).splitlines())
    return "\n".join(
        [f"## {verbs}", "", *keys, '??? note "The JSON Schema"', "", "    ```json", whole, "    ```"]
    )  # fmt: skip


def _keys(kind: Mapping[str, Any]) -> list[str]:
    rows = [f"| `{name}` | {_about(item)} | {_type(item)} |" for name, item in kind["properties"].items()]
    return [kind["description"], "", "| key | what it is | type |", "|---|---|---|", *rows, ""]


def _about(item: Mapping[str, Any]) -> str:
    return str(item.get("description", "")).replace("|", "\\|")


def _type(item: Mapping[str, Any]) -> str:
    if "enum" in item or "const" in item:
        return ", ".join(f"`{value}`" for value in item.get("enum", [item.get("const")]))
    if "anyOf" in item:
        return " or ".join(dict.fromkeys(_type(form) for form in item["anyOf"]))
    if "$ref" in item:
        return str(item["$ref"].rpartition("/")[2])
    kind = item.get("type", "any")
    return kind if isinstance(kind, str) else " or ".join(kind)
