"""A result of ``check`` as workflow commands, which GitHub Actions shows as annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.report.words import shown

if TYPE_CHECKING:
    from kanon_sql.verbs.result import Check

__all__ = ["github"]


def github(result: Check) -> str:
    """One line for the verdict, an error when it is ``fail``; one for each warning, and for each note."""
    title = "kanon-sql check"
    lines = [_command("notice" if result.passed else "error", title, result.message)]
    lines += [_command("warning", f"{title}: {item.code}", item.message) for item in result.warnings]
    lines += [_command("notice", title, note) for note in result.notes]
    return "\n".join(lines)


def _command(kind: str, title: str, message: str) -> str:
    """A name may hold anything; only what is escaped here could end a line, and ``shown`` leaves no line break."""
    return f"::{kind} title={title}::{shown(message).replace('%', '%25')}"
