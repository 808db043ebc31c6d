"""A result of ``check`` as Markdown, for a comment on a change or a job's summary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kanon_sql.report.text import reached
from kanon_sql.report.words import number, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.result import Check

__all__ = ["markdown", "plain"]


def markdown(result: Check) -> str:
    """The verdict, a table of the requirements, the warnings, and the notes."""
    return "\n".join(_lines(result))


def _lines(result: Check) -> Iterator[str]:
    yield f"**{'PASS' if result.passed else 'FAIL'}** {plain(result.message)}"
    if result.achieved:
        yield ""
        yield "| asked | achieved | violating classes | rows |"
        yield "| --- | --- | ---: | ---: |"
    for item in result.achieved.values():
        counts = f"{number(item['violating_classes'])} | {number(item['violating_rows'])}"
        yield f"| {plain(str(item['requirement']))} | {plain(reached(item))} | {counts} |"
    if result.warnings or result.notes:
        yield ""
    for warned in result.warnings:
        yield f"- **{plain(warned.code)}** {plain(warned.message)}"
    for note in result.notes:
        yield f"- {plain(note)}"


def plain(text: str) -> str:
    """Text that Markdown and HTML leave as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&!@])", r"\\\1", shown(text))
