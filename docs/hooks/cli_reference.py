"""The reference of the command line, written from the Typer application: every verb and every option."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer

from kanon_sql.cli import app

__all__ = ["markdown", "verbs"]


def markdown() -> str:
    """What all verbs share, then a section per verb."""
    group, context = _root()
    overview = [_section(group, context, "## kanon-sql")]
    return "\n\n".join([*overview, *(_section(verb, inner, f"## {name}") for name, verb, inner in verbs())])


def _root() -> tuple[Any, Any]:
    group: Any = typer.main.get_command(app)
    return group, group.context_class(group, info_name="kanon-sql")


def verbs() -> Iterator[tuple[str, Any, Any]]:
    """Every verb with its name and a context; verbs of a group follow the group."""
    yield from _below(*_root(), "")


def _below(group: Any, context: Any, before: str) -> Iterator[tuple[str, Any, Any]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = command.context_class(command, info_name=name, parent=context)
        yield before + name, command, inner
        if hasattr(command, "list_commands"):
            yield from _below(command, inner, f"{before}{name} ")


def _section(command: Any, context: Any, title: str) -> str:
    parts = [title, inspect.cleandoc(command.help or "").partition("\f")[0]]
    usage = command.get_usage(context).removeprefix("Usage: ")
    parts.append(f"```text\n{usage}\n```")
    options = [record for item in command.get_params(context) if (record := item.get_help_record(context))]
    rows = [f"| {_code(name)} | {_cell(text)} |" for name, text in options]
    parts.append("\n".join(["| argument or option | meaning |", "|---|---|", *rows]))
    if command.epilog:
        shown = inspect.cleandoc(command.epilog.replace("\b", "").strip().partition("\n")[2])
        parts.append(f"Examples:\n\n```text\n{shown}\n```")
    return "\n\n".join(parts)


def _code(text: str) -> str:
    """An option as code, without the type that the help shows in angle brackets where it says nothing more."""
    return f"`{_SHOWN_TYPE.sub('', text).strip()}`"


_SHOWN_TYPE = re.compile(r"<(list\[\w+\]|\w+)>")
_LISTED = re.compile(r"\s*\[((?:default|env var|required|x?[<>=\d]).*)\]$")


def _cell(text: str) -> str:
    """A help text; what stands in brackets at its end in words."""
    escaped = text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    return _LISTED.sub(lambda found: f" ({found[1]})", escaped)
