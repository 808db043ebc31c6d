"""Results and specs as the text that the commands print."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from kanon_sql.report.html import spec_yaml
from kanon_sql.report.layout import plain
from kanon_sql.spec import CloakSpec, PerturbSpec, Spec, TableSpec

if TYPE_CHECKING:
    from kanon_sql.spec import Printed

__all__ = ["plain_text", "text_of"]

_TEXTS = {
    "AuditResult": "audit.audit_text",
    "Certificate": "certificate.certificate_text",
    "CleanResult": "maintenance.clean_text",
    "CloakResult": "positions.cloaking_text",
    "Comparison": "comparison.comparison_text",
    "Estimated": "maintenance.estimate_text",
    "HierarchyResult": "hierarchy.hierarchy_text",
    "LedgerResult": "ledger.ledger_text",
    "PartiesResult": "parties.parties_text",
    "Perturbation": "perturbation.perturbation_text",
    "Result": "text.result_text",
    "RiskResult": "risk.risk_text",
    "Tabulation": "tables.tabulation_text",
}
"""Which function shows a result. Its module is imported when it is needed, so that a verb loads its own alone."""


def text_of(result: Printed, **options: Any) -> RenderableType:
    """A result or a spec as text for a terminal.

    Args:
        result: what to show. A spec is shown as YAML, without passwords, literals of SQL, and labels of hierarchies.
        options: what the result's own text takes besides, as ``all_minimal``.
    """
    if isinstance(result, Spec | TableSpec | PerturbSpec | CloakSpec):
        return Text(spec_yaml(result.redacted()))
    module, name = _TEXTS[type(result).__name__].split(".")
    shown: RenderableType = getattr(import_module(f"kanon_sql.report.{module}"), name)(result, **options)
    return shown


def plain_text(result: Printed) -> str:
    """A result or a spec as the command prints it without a terminal; no newline ends it."""
    return plain(text_of(result)).rstrip("\n")
