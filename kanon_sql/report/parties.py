"""The result of parties as text for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from kanon_sql.report.layout import columns, cost_line, facts, plain_notes, section, verdict
from kanon_sql.report.levels import levels_table
from kanon_sql.report.words import number

if TYPE_CHECKING:
    from kanon_sql.verbs.parties import PartiesResult

__all__ = ["parties_text"]


def parties_text(result: PartiesResult) -> RenderableType:
    """The verdict, the chosen levels, what crossed between the parties, and what each learned."""
    parts: list[RenderableType] = [verdict(result.passed, result.message), Text(), facts(_summary(result))]
    if result.node is not None:
        parts += section("Levels", levels_table(result.node, result.level_names))
    if result.exchanged:
        crossed = columns([("from", False), ("to", False), ("what", False), ("messages", True), ("items", True)])
        for item in result.exchanged:
            texts = (str(item["from"]), str(item["to"]), str(item["what"]))
            counts = (number(item["messages"]), number(item["items"]))
            crossed.add_row(*map(Text, (*texts, *counts)))
        parts += section("What crossed", crossed)
    parts += section("Who learns what", plain_notes([f"{who}: {what}" for who, what in result.learns.items()]))
    if result.notes:
        parts += section("Notes", plain_notes(result.notes))
    parts.append(Text())
    parts += [
        Text(f"{name}: {cost_line(cost)}", "dim") for name, cost in zip(result.parties, result.costs, strict=True)
    ]
    return Group(*parts)


def _summary(result: PartiesResult) -> Iterable[tuple[str, str]]:
    yield "split", result.split
    yield "rows", number(result.rows["source"])
    yield "suppressed", number(result.rows["suppressed"])
    if result.node is not None:
        yield "classes", number(int(result.classes["count"] or 0))
        yield "smallest class", number(int(result.classes["smallest"] or 0))
    if result.metric is not None:
        yield str(result.metric["name"]).replace("_", " "), f"{result.metric['value']:.4g}"
    proven = "proven optimal" if result.search["proven"] else "heuristic"
    yield (
        "search",
        f"{result.search['algorithm']}, {number(result.search['nodes_evaluated'])} nodes asked about, {proven}",
    )
    if result.release is not None:
        yield "published as", result.release if result.at is None else f"{result.release} at {result.at}"
