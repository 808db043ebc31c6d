"""The verbs of ``kanon-sql``: each parses its options, calls one function, prints, and exits.

Whatever is heavy (the driver, the SQL parser, the spec) is imported by the verb that needs
it, so that ``--help`` and ``--version`` answer at once. The help lists the verbs in the
order in which they are imported here. Their annotations, and the app's, are not put off
by a ``__future__`` import: Typer would parse each of them again whenever the program starts.
"""

from __future__ import annotations

from kanon_sql.cli.verbs import (  # isort: skip
    demo,
    init,
    hierarchy,
    plan,
    anonymize,
    apply,
    render,
    check,
    audit,
    risk,
    report,
    compare,
    dbt,
    sqlmesh,
    ledger,
    clean,
    doctor,
    schema,
)

__all__ = [
    "anonymize",
    "apply",
    "audit",
    "check",
    "clean",
    "compare",
    "dbt",
    "demo",
    "doctor",
    "hierarchy",
    "init",
    "ledger",
    "plan",
    "render",
    "report",
    "risk",
    "schema",
    "sqlmesh",
]
