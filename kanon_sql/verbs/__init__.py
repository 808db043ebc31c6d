"""Verbs: one file for each thing that a user can ask for.

Each file is a door of its own, so that a verb loads only what it needs; ``__all__`` names them.
"""

from typing import TYPE_CHECKING

from kanon_sql.lazy import imported_from

if TYPE_CHECKING:
    from kanon_sql.verbs import relational, relational_apply, relational_audit, relational_comparison

__all__ = [
    "anonymize",
    "apply",
    "audit",
    "certify",
    "check",
    "clean",
    "cloak",
    "compare",
    "dbt",
    "demo",
    "details",
    "doctor",
    "estimate",
    "evidence",
    "functions",
    "hierarchy",
    "init",
    "ledger",
    "parties",
    "perturb",
    "plan",
    "policies",
    "refresh",
    "relational",
    "relational_apply",
    "relational_audit",
    "relational_comparison",
    "render",
    "result",
    "risk",
    "run",
    "sqlmesh",
    "tabulate",
    "without_spec",
]

__getattr__ = imported_from(__name__, {name: name for name in __all__})
