"""kanon_sql: anonymize a table where it lives, by generated SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kanon_sql.version import __version__

if TYPE_CHECKING:
    from kanon_sql.disclosure.invariance import Republication
    from kanon_sql.engines import connect
    from kanon_sql.errors import KanonError, RequirementNotMet, SpecError
    from kanon_sql.evaluate import Budget
    from kanon_sql.report.charts import altair_chart
    from kanon_sql.report.evidence import evidence_report
    from kanon_sql.report.html import html_fragment, html_report
    from kanon_sql.spec import CloakSpec, PerturbSpec, Spec, TableSpec
    from kanon_sql.verbs.anonymize import anonymize
    from kanon_sql.verbs.apply import apply
    from kanon_sql.verbs.audit import AuditResult, audit
    from kanon_sql.verbs.certify import Certificate, certify
    from kanon_sql.verbs.check import check
    from kanon_sql.verbs.cloak import CloakResult, cloak
    from kanon_sql.verbs.compare import compare
    from kanon_sql.verbs.estimate import estimate
    from kanon_sql.verbs.evidence import Evidence, evidence
    from kanon_sql.verbs.hierarchy import HierarchyResult, hierarchy
    from kanon_sql.verbs.init import init
    from kanon_sql.verbs.ledger import ledger
    from kanon_sql.verbs.parties import PartiesResult, anonymize_parties, plan_parties
    from kanon_sql.verbs.perturb import Perturbation, perturb
    from kanon_sql.verbs.plan import plan
    from kanon_sql.verbs.refresh import refresh
    from kanon_sql.verbs.render import render
    from kanon_sql.verbs.result import Result
    from kanon_sql.verbs.risk import risk
    from kanon_sql.verbs.tabulate import Tabulation, tabulate

__all__ = [
    "AuditResult",
    "Budget",
    "Certificate",
    "CloakResult",
    "CloakSpec",
    "Evidence",
    "HierarchyResult",
    "KanonError",
    "PartiesResult",
    "PerturbSpec",
    "Perturbation",
    "Republication",
    "RequirementNotMet",
    "Result",
    "Spec",
    "SpecError",
    "TableSpec",
    "Tabulation",
    "__version__",
    "altair_chart",
    "anonymize",
    "anonymize_parties",
    "apply",
    "audit",
    "certify",
    "check",
    "cloak",
    "compare",
    "connect",
    "estimate",
    "evidence",
    "evidence_report",
    "hierarchy",
    "html_fragment",
    "html_report",
    "init",
    "ledger",
    "perturb",
    "plan",
    "plan_parties",
    "refresh",
    "render",
    "risk",
    "tabulate",
]

_HOME = {
    "AuditResult": "kanon_sql.verbs.audit",
    "Budget": "kanon_sql.evaluate.budget",
    "Certificate": "kanon_sql.verbs.certify",
    "CloakResult": "kanon_sql.verbs.cloak",
    "CloakSpec": "kanon_sql.spec",
    "Evidence": "kanon_sql.verbs.evidence",
    "HierarchyResult": "kanon_sql.verbs.hierarchy.result",
    "KanonError": "kanon_sql.errors",
    "PartiesResult": "kanon_sql.verbs.parties",
    "PerturbSpec": "kanon_sql.spec",
    "Perturbation": "kanon_sql.verbs.perturb",
    "Republication": "kanon_sql.disclosure.invariance",
    "RequirementNotMet": "kanon_sql.errors",
    "Result": "kanon_sql.verbs.result",
    "Spec": "kanon_sql.spec",
    "SpecError": "kanon_sql.errors",
    "TableSpec": "kanon_sql.spec",
    "Tabulation": "kanon_sql.verbs.tabulate",
    "altair_chart": "kanon_sql.report.charts",
    "anonymize": "kanon_sql.verbs.anonymize",
    "anonymize_parties": "kanon_sql.verbs.parties",
    "apply": "kanon_sql.verbs.apply",
    "audit": "kanon_sql.verbs.audit",
    "certify": "kanon_sql.verbs.certify",
    "check": "kanon_sql.verbs.check",
    "cloak": "kanon_sql.verbs.cloak",
    "compare": "kanon_sql.verbs.compare",
    "connect": "kanon_sql.engines.connection",
    "estimate": "kanon_sql.verbs.estimate",
    "hierarchy": "kanon_sql.verbs.hierarchy.levels",
    "evidence": "kanon_sql.verbs.evidence",
    "evidence_report": "kanon_sql.report.evidence",
    "html_fragment": "kanon_sql.report.html",
    "html_report": "kanon_sql.report.html",
    "init": "kanon_sql.verbs.init.draft",
    "ledger": "kanon_sql.verbs.ledger",
    "perturb": "kanon_sql.verbs.perturb",
    "plan": "kanon_sql.verbs.plan",
    "plan_parties": "kanon_sql.verbs.parties",
    "refresh": "kanon_sql.verbs.refresh",
    "render": "kanon_sql.verbs.render",
    "risk": "kanon_sql.verbs.risk",
    "tabulate": "kanon_sql.verbs.tabulate",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import kanon_sql`` stays quick."""
    if name not in _HOME:
        raise AttributeError(f"module 'kanon_sql' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
