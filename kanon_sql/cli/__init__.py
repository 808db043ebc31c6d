"""The command line: verbs only. Parse, call, print, and turn the outcome into an exit code.

Each verb, or group of verbs, has a file in ``verbs/``; a verb calls one function of the package. Nothing heavy is
imported before a verb runs, so that ``--help`` answers at once. Data goes to standard output, progress and messages to
standard error.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING

from kanon_sql.cli.program import GROUPS, program
from kanon_sql.cli.verbs import VERBS, add_verbs

if TYPE_CHECKING:
    from typer import Typer

    app: Typer

__all__ = ["app", "main"]


_OBJECTS = 250_000
"""A short process makes modules and statements, which stay: looking for cycles among them takes a tenth of its time.

This many objects take about 50 megabytes. A longer search looks for them, and finds those of statements that are done.
"""


def main() -> None:
    """Run ``kanon-sql`` with the arguments of the process."""
    gc.set_threshold(_OBJECTS)
    # Python looks for cycles again while it ends, among all that is freed with the process; engines are closed by then.
    atexit.register(gc.freeze)
    # Before its first model, pydantic looks for plugins in all that is installed; a verb has no use for any.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # A process needs one verb; what the others are takes longer to read than this one to start. A shell that asks
    # for words to propose may ask for any.
    wanted = [name for name in sys.argv[1:2] if name in VERBS]
    if not wanted and "_KANON_SQL_COMPLETE" not in os.environ:
        wanted = [name for name in VERBS if name not in GROUPS]  # the help says of a group what it is for
    add_verbs(*wanted)
    program(prog_name="kanon-sql")


def __getattr__(name: str) -> object:
    """``app``: the program with all its verbs."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    add_verbs()
    return program
