"""The verbs of ``kanon-sql``: each parses its options, calls one function, prints, and exits.

Whatever is heavy (the driver, the SQL parser, the spec) is imported by the verb that needs
it, so that ``--help`` and ``--version`` answer at once. Their annotations, and the program's,
are not put off by a ``__future__`` import: Typer would parse each of them again whenever the
program starts.
"""

from __future__ import annotations

from importlib import import_module

__all__ = ["VERBS", "add_verbs"]

VERBS = (
    "demo", "init", "hierarchy", "plan", "anonymize", "apply", "refresh", "render", "check", "audit", "risk", "certify",
    "tabulate", "cloak", "perturb", "report", "compare", "explore", "dbt", "sqlmesh", "ledger", "clean", "doctor",
    "schema",
)  # fmt: skip
"""A module of this package each, in the order in which the help lists them."""


def add_verbs(*names: str) -> None:
    """Add some verbs to the program, in the order of the help where none is named."""
    for name in names or VERBS:
        import_module(f"{__name__}.{name}")
