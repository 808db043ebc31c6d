"""What the verbs return: types for annotations, which no program makes itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.lazy import imported_from

if TYPE_CHECKING:
    from kanon_sql.verbs.audit import AuditResult
    from kanon_sql.verbs.certify import Certificate
    from kanon_sql.verbs.cloak import CloakResult
    from kanon_sql.verbs.evidence import Evidence
    from kanon_sql.verbs.hierarchy import HierarchyResult
    from kanon_sql.verbs.parties import PartiesResult
    from kanon_sql.verbs.perturb import Perturbation
    from kanon_sql.verbs.relational import RelationalResult
    from kanon_sql.verbs.relational_audit import RelationalAudit
    from kanon_sql.verbs.result import AppliedRelease, Check, Plan, RefreshedRelease, Release, Result
    from kanon_sql.verbs.tabulate import Tabulation

__all__ = [
    "AppliedRelease",
    "AuditResult",
    "Certificate",
    "Check",
    "CloakResult",
    "Evidence",
    "HierarchyResult",
    "PartiesResult",
    "Perturbation",
    "Plan",
    "RefreshedRelease",
    "RelationalAudit",
    "RelationalResult",
    "Release",
    "Result",
    "Tabulation",
]

_HOME = {
    "AppliedRelease": "verbs.result",
    "AuditResult": "verbs.audit",
    "Certificate": "verbs.certify",
    "Check": "verbs.result",
    "CloakResult": "verbs.cloak",
    "Evidence": "verbs.evidence",
    "HierarchyResult": "verbs.hierarchy",
    "PartiesResult": "verbs.parties",
    "Perturbation": "verbs.perturb",
    "Plan": "verbs.result",
    "RefreshedRelease": "verbs.result",
    "RelationalAudit": "verbs.relational_audit",
    "RelationalResult": "verbs.relational",
    "Release": "verbs.result",
    "Result": "verbs.result",
    "Tabulation": "verbs.tabulate",
}

__getattr__ = imported_from("kanon_sql", _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
