"""kanon_sql: anonymize a table where it lives, by generated SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kanon_sql.version import __version__

if TYPE_CHECKING:
    from kanon_sql.connection import connect
    from kanon_sql.errors import KanonError, RequirementNotMet, SpecError
    from kanon_sql.pipeline.anonymize import anonymize
    from kanon_sql.pipeline.audit import AuditResult, audit
    from kanon_sql.pipeline.budget import Budget
    from kanon_sql.pipeline.check import check
    from kanon_sql.pipeline.compare import compare
    from kanon_sql.pipeline.estimate import estimate
    from kanon_sql.pipeline.hierarchy import hierarchy
    from kanon_sql.pipeline.hierarchy_result import HierarchyResult
    from kanon_sql.pipeline.invariance import Republication
    from kanon_sql.pipeline.ledger import ledger
    from kanon_sql.pipeline.plan import plan
    from kanon_sql.pipeline.render import render
    from kanon_sql.pipeline.result import Result
    from kanon_sql.pipeline.risk import risk
    from kanon_sql.report.html import html_fragment, html_report
    from kanon_sql.spec import Spec

__all__ = [
    "AuditResult",
    "Budget",
    "HierarchyResult",
    "KanonError",
    "Republication",
    "RequirementNotMet",
    "Result",
    "Spec",
    "SpecError",
    "__version__",
    "anonymize",
    "audit",
    "check",
    "compare",
    "connect",
    "estimate",
    "hierarchy",
    "html_fragment",
    "html_report",
    "ledger",
    "plan",
    "render",
    "risk",
]

_HOME = {
    "AuditResult": "kanon_sql.pipeline.audit",
    "Budget": "kanon_sql.pipeline.budget",
    "HierarchyResult": "kanon_sql.pipeline.hierarchy_result",
    "KanonError": "kanon_sql.errors",
    "Republication": "kanon_sql.pipeline.invariance",
    "RequirementNotMet": "kanon_sql.errors",
    "Result": "kanon_sql.pipeline.result",
    "Spec": "kanon_sql.spec",
    "SpecError": "kanon_sql.errors",
    "anonymize": "kanon_sql.pipeline.anonymize",
    "audit": "kanon_sql.pipeline.audit",
    "check": "kanon_sql.pipeline.check",
    "compare": "kanon_sql.pipeline.compare",
    "connect": "kanon_sql.connection",
    "estimate": "kanon_sql.pipeline.estimate",
    "hierarchy": "kanon_sql.pipeline.hierarchy",
    "html_fragment": "kanon_sql.report.html",
    "html_report": "kanon_sql.report.html",
    "ledger": "kanon_sql.pipeline.ledger",
    "plan": "kanon_sql.pipeline.plan",
    "render": "kanon_sql.pipeline.render",
    "risk": "kanon_sql.pipeline.risk",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import kanon_sql`` stays quick."""
    if name not in _HOME:
        raise AttributeError(f"module 'kanon_sql' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
