"""kanon_sql: anonymize a table where it lives, by generated SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.lazy import imported_from
from kanon_sql.version import __version__

if TYPE_CHECKING:
    from kanon_sql import results
    from kanon_sql.disclosure.invariance import Republication
    from kanon_sql.engines import connect
    from kanon_sql.errors import KanonError, RequirementNotMet, SpecError
    from kanon_sql.evaluate import Budget
    from kanon_sql.report.charts import altair_chart
    from kanon_sql.report.evidence import evidence_report
    from kanon_sql.report.html import html_fragment, html_report
    from kanon_sql.report.progress import Progress
    from kanon_sql.spec import CloakSpec, PerturbSpec, RelationalSpec, Spec, TableSpec
    from kanon_sql.verbs.anonymize import anonymize
    from kanon_sql.verbs.apply import apply
    from kanon_sql.verbs.audit import audit
    from kanon_sql.verbs.certify import certify
    from kanon_sql.verbs.check import check
    from kanon_sql.verbs.cloak import cloak
    from kanon_sql.verbs.compare import compare
    from kanon_sql.verbs.estimate import estimate
    from kanon_sql.verbs.evidence import evidence
    from kanon_sql.verbs.hierarchy import hierarchy
    from kanon_sql.verbs.init import init
    from kanon_sql.verbs.ledger import ledger
    from kanon_sql.verbs.parties import anonymize_parties, plan_parties
    from kanon_sql.verbs.perturb import perturb
    from kanon_sql.verbs.plan import plan
    from kanon_sql.verbs.refresh import refresh
    from kanon_sql.verbs.render import render
    from kanon_sql.verbs.risk import risk
    from kanon_sql.verbs.tabulate import tabulate
    from kanon_sql.verbs.without_spec import Roles

__all__ = [
    "Budget",
    "CloakSpec",
    "KanonError",
    "PerturbSpec",
    "Progress",
    "RelationalSpec",
    "Republication",
    "RequirementNotMet",
    "Roles",
    "Spec",
    "SpecError",
    "TableSpec",
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
    "results",
    "risk",
    "tabulate",
]

_HOME = {
    "Budget": "evaluate.budget",
    "CloakSpec": "spec",
    "KanonError": "errors",
    "PerturbSpec": "spec",
    "Progress": "report.progress",
    "RelationalSpec": "spec",
    "Republication": "disclosure.invariance",
    "RequirementNotMet": "errors",
    "Roles": "verbs.without_spec",
    "Spec": "spec",
    "SpecError": "errors",
    "TableSpec": "spec",
    "altair_chart": "report.charts",
    "anonymize": "verbs.anonymize",
    "anonymize_parties": "verbs.parties",
    "apply": "verbs.apply",
    "audit": "verbs.audit",
    "certify": "verbs.certify",
    "check": "verbs.check",
    "cloak": "verbs.cloak",
    "compare": "verbs.compare",
    "connect": "engines.connection",
    "estimate": "verbs.estimate",
    "hierarchy": "verbs.hierarchy.levels",
    "evidence": "verbs.evidence",
    "evidence_report": "report.evidence",
    "html_fragment": "report.html",
    "html_report": "report.html",
    "init": "verbs.init.draft",
    "ledger": "verbs.ledger",
    "perturb": "verbs.perturb",
    "plan": "verbs.plan",
    "plain_text": "report.plain",
    "plan_parties": "verbs.parties",
    "refresh": "verbs.refresh",
    "render": "verbs.render",
    "results": "results",
    "risk": "verbs.risk",
    "spec_yaml": "report.html",
    "tabulate": "verbs.tabulate",
}
"""The public names, each imported when it is first used, so that ``import kanon_sql`` stays quick."""

_RENAMED = {f"{verb}_tables": f"{verb}, with a RelationalSpec" for verb in ("plan", "anonymize", "check", "audit")}

__getattr__ = imported_from(__name__, _HOME, _RENAMED)


def __dir__() -> list[str]:
    return sorted(__all__)
