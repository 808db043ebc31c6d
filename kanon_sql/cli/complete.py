"""What the shell proposes where a verb expects a file, a name or a form: nothing here opens a database.

A shell asks at every press of a key, so this imports what reads specs only where a spec's names are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import typer

__all__ = ["attributes", "directories", "levels", "one_of", "paths"]

Completer = Callable[[str], list[str]]


def one_of(*names: str) -> Completer:
    """Propose those of some names that begin with what was typed."""

    def propose(incomplete: str) -> list[str]:
        return _beginning(names, incomplete)

    return propose


def paths(*suffixes: str) -> Completer:
    """Propose files with one of some suffixes, and the directories on the way to others."""

    def propose(incomplete: str) -> list[str]:
        return [name for name in _entries(incomplete) if name.endswith(("/", *suffixes))]

    return propose


def directories(incomplete: str) -> list[str]:
    """Propose directories."""
    return [name for name in _entries(incomplete) if name.endswith("/")]


def attributes(context: typer.Context, incomplete: str) -> list[str]:
    """Propose the quasi-identifiers and sensitive attributes of the spec on the command line."""
    return _beginning(_of_spec(context, sensitive=True), incomplete)


def levels(context: typer.Context, incomplete: str) -> list[str]:
    """Propose ``NAME=`` for the quasi-identifiers of the spec on the command line."""
    return _beginning((f"{name}=" for name in _of_spec(context, sensitive=False)), incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _entries(incomplete: str) -> Iterator[str]:
    """The files and directories that begin like this, directories with a slash; hidden ones only when asked for."""
    head, slash, start = incomplete.rpartition("/")
    try:
        found = sorted(Path(head + slash or ".").iterdir())
    except OSError:
        return
    for path in found:
        if path.name.startswith(start) and (start or not path.name.startswith(".")):
            yield head + slash + path.name + ("/" if path.is_dir() else "")


def _of_spec(context: typer.Context, *, sensitive: bool) -> list[str]:
    from kanon_sql.errors import SpecError
    from kanon_sql.spec import Spec

    # An option that still lacks its value stops the parser, which then leaves the arguments as they are.
    given = context.params.get("spec_file") or next(iter(context.args), None)
    if given is None:
        return []
    try:
        spec = Spec.load(Path(given))
    except SpecError:  # nothing to propose while it is being written; the verb says what is wrong
        return []
    return [*spec.quasi_identifiers, *(spec.sensitive if sensitive else ())]
