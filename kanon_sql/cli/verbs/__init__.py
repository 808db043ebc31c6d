"""The verbs of ``kanon-sql``: each has options of its own, calls one function, prints, and exits.

Whatever is heavy (the driver, the SQL parser, the spec) is imported by the verb that needs
it, so that ``--help`` and ``--version`` answer at once. Their annotations, and the program's,
are not put off by a ``__future__`` import: Typer would parse each of them again whenever the
program starts.
"""

from __future__ import annotations

from importlib import import_module
from itertools import chain

from kanon_sql.cli.program import HEADINGS

__all__ = ["VERBS", "add_verbs"]

VERBS = tuple(chain.from_iterable(HEADINGS.values()))
"""A module of this package each, in the order of the help: a verb, or the verbs of a group."""


def add_verbs(*names: str) -> None:
    """Add some verbs, or groups of them, to the program; all where none is named."""
    for name in names or VERBS:
        import_module(f"{__name__}.{name}")
