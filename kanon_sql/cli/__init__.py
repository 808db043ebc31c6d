"""The command line: verbs only. Parse, call, print, and turn the outcome into an exit code.

Each verb has a file in ``verbs/`` that calls one function of the package. Nothing heavy is imported before a verb
runs, so that ``--help`` answers at once. Data goes to standard output, progress and messages to standard error.
"""

from __future__ import annotations

from kanon_sql.cli import verbs  # noqa: F401 - adds the verbs to the app
from kanon_sql.cli.app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run ``kanon-sql`` with the arguments of the process."""
    app(prog_name="kanon-sql")
