"""Results and specs as the text that the commands print."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from kanon_sql.report.layout import plain

if TYPE_CHECKING:
    from kanon_sql.spec import Printed

__all__ = ["plain_text", "text_of"]

_TEXTS = {
    "AppliedRelease": "text.result_text",
    "AuditResult": "audit.audit_text",
    "Certificate": "certificate.certificate_text",
    "Check": "text.result_text",
    "CleanResult": "maintenance.clean_text",
    "CloakResult": "positions.cloaking_text",
    "CloakSpec": "spec.spec_text",
    "Comparison": "comparison.comparison_text",
    "Estimated": "maintenance.estimate_text",
    "HierarchyResult": "hierarchy.hierarchy_text",
    "LedgerResult": "ledger.ledger_text",
    "PartiesResult": "parties.parties_text",
    "PerturbSpec": "spec.spec_text",
    "Perturbation": "perturbation.perturbation_text",
    "Plan": "text.result_text",
    "RefreshedRelease": "text.result_text",
    "RelationalAudit": "relations.audit_text",
    "RelationalComparison": "relations.comparison_text",
    "RelationalResult": "relations.relational_text",
    "RelationalSpec": "spec.spec_text",
    "Release": "text.result_text",
    "RiskResult": "risk.risk_text",
    "Spec": "spec.spec_text",
    "TableSpec": "spec.spec_text",
    "Tabulation": "tables.tabulation_text",
}
"""Which function shows a result. Its module is imported when it is needed, so that a verb loads its own alone."""


def text_of(result: Printed, **options: Any) -> RenderableType:
    """A result or a spec as text for a terminal.

    Args:
        result: what to show. Of a spec it is what it asks for, without passwords and literals of SQL.
        options: what the result's own text takes besides, as ``all_minimal``.
    """
    module, name = _TEXTS[type(result).__name__].split(".")
    shown: RenderableType = getattr(import_module(f"kanon_sql.report.{module}"), name)(result, **options)
    return shown


def plain_text(result: Printed) -> str:
    """A result or a spec as the command prints it without a terminal, evidence in Markdown; no newline ends it."""
    if type(result).__name__ == "Evidence":
        document: str = import_module("kanon_sql.report.evidence").evidence_report(result, "markdown")
        return document.rstrip("\n")
    return plain(text_of(result)).rstrip("\n")
