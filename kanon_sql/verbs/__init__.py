"""Verbs: one file for each thing that a user can ask for.

Each file is a door of its own, so that a verb loads only what it needs; ``__all__`` names them.
"""

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
    "hierarchy",
    "init",
    "ledger",
    "parties",
    "perturb",
    "plan",
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
