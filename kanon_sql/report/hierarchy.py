"""The result of ``hierarchy`` as text for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from kanon_sql.report.layout import columns, cost_line, plain_notes, section, verdict
from kanon_sql.report.words import number, plural, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.hierarchy import AttributeHierarchy, HierarchyResult

__all__ = ["hierarchy_text"]


def hierarchy_text(result: HierarchyResult) -> RenderableType:
    """Per attribute: its levels, how far they cover the data, and what is wrong with it."""
    parts: list[RenderableType] = [verdict(result.passed, result.message)]
    for item in result.hierarchies:
        parts += section(f"{shown(item.name)}, {item.role}: {item.kind}", Group(*_attribute(item)))
    if result.notes:
        parts += section("Notes", plain_notes(result.notes))
    parts += [Text(), Text(cost_line(result.cost), "dim")]
    return Group(*parts)


def _attribute(item: AttributeHierarchy) -> Iterable[RenderableType]:
    yield Text("; ".join(_counts(item)), overflow="fold")
    table = columns([("level", True), ("labels by", False), ("labels", True), ("fewest rows", True), ("", False)])
    for level in item.levels:
        rows = "" if level.fewest_rows is None else number(level.fewest_rows)
        in_spec = ", ".join(map(shown, level.in_spec))
        table.add_row(str(level.level), Text(shown(level.by)), number(level.labels), rows, Text(in_spec))
    yield table
    if item.examples:
        paths = columns([("example", False), ("rows", True)])
        for labels, count in item.examples:
            paths.add_row(Text(" -> ".join(map(shown, labels)), overflow="fold"), number(count))
        yield paths
    if item.missing_values:
        yield Text(f"missing: {', '.join(map(shown, item.missing_values))}", overflow="fold")
    if item.problems:
        yield plain_notes(item.problems)


def _counts(item: AttributeHierarchy) -> Iterable[str]:
    yield plural(item.values, "value")
    if item.missing:
        yield f"{number(item.missing)} of them missing in the hierarchy ({plural(item.missing_rows, 'row')})"
    if item.null_rows:
        yield f"{plural(item.null_rows, 'row')} NULL"
    if item.unused:
        yield f"{plural(item.unused, 'row')} of the hierarchy not used"
