"""The result of ``cloak`` as text for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from kanon_sql.report.layout import columns, cost_line, facts, named_warnings, plain_notes, section, verdict
from kanon_sql.report.words import number, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.cloak import CloakedLevel, CloakResult

__all__ = ["cloaking_text"]

_SHAPES = {"cell": "", "side_by_side": ", two beside each other", "above": ", two above each other"}
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def cloaking_text(result: CloakResult) -> RenderableType:
    """The verdict, how fine the released positions are, and what patterns of movement tell."""
    parts: list[RenderableType] = [verdict(result.passed, result.message), Text(), facts(_summary(result))]
    if result.levels:
        parts += section("Cells", _levels(result.levels))
    if result.lbqids:
        parts += section("LBQIDs", _lbqids(result))
    if result.warnings:
        parts += section("Warnings", named_warnings(result.warnings))
    if result.notes:
        parts += section("Notes", plain_notes(result.notes))
    parts += [Text(), Text(cost_line(result.cost), "dim")]
    return Group(*parts)


def _summary(result: CloakResult) -> Iterable[tuple[str, str]]:
    yield "rows", number(result.rows["source"])
    yield "left out", number(result.rows["suppressed"])
    if result.rows["outside"]:
        yield "of these outside", number(result.rows["outside"])
    yield "k", shown(result.k)
    yield "who counts", f"{result.anonymity_set} people"
    if result.fewest_people is not None:
        yield "fewest of a label", number(result.fewest_people)
    if result.fewest_present is not None:
        yield "fewest in a cell", number(result.fewest_present)
    if result.release is not None:
        yield "published as", result.release


def _levels(levels: Iterable[CloakedLevel]) -> RenderableType:
    table = columns([("depth", False), ("slice", False), ("cells", True), ("rows", True)])
    for level in levels:
        width = "" if level.width is None else _duration(level.width)
        table.add_row(f"{level.depth}{_SHAPES[level.shape]}", width, number(level.cells), number(level.rows))
    return table


def _duration(seconds: int) -> str:
    size, unit = next((size, unit) for size, unit in _UNITS if seconds % size == 0)
    return f"{seconds // size:,} {unit}{'' if seconds == size else 's'}"


def _lbqids(result: CloakResult) -> RenderableType:
    table = columns([("name", False), ("matching", True), ("exposed", True), ("fewest consistent", True)])
    for name, found in result.lbqids.items():
        fewest = found["fewest"]
        table.add_row(
            Text(shown(name)),
            number(found["matching"]),
            number(found["exposed"]),
            "" if fewest is None else number(fewest),
        )
    return table
