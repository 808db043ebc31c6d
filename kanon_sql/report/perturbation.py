"""The result of ``perturb`` as text for people. It says first that values are untrue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kanon_sql.report.layout import columns, cost_line, facts, named_warnings, plain_notes, section, verdict
from kanon_sql.report.words import number, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.perturb import Perturbation

__all__ = ["perturbation_text"]


def perturbation_text(result: Perturbation) -> RenderableType:
    """The verdict, what is untrue, what it costs, and what linkage finds."""
    parts: list[RenderableType] = [_verdict(result), Text(), facts(_summary(result))]
    parts += section("Columns", _columns(result.columns))
    if result.utility["moments"]:
        parts += section("Means and variances", _moments(result))
    if result.utility["correlations"]:
        parts += section("Correlations", _correlations(result))
    if result.utility["frequencies"]:
        parts += section("Frequencies (0: as in the source, 1: nothing in common)", _frequencies(result))
    parts += section("Record linkage by distance", facts(_linkage(result.linkage)))
    if result.warnings:
        parts += section("Warnings", named_warnings(result.warnings))
    parts += section("Notes", plain_notes(result.notes))
    parts += [Text(), Text(cost_line(result.cost), "dim")]
    return Group(*parts)


def _verdict(result: Perturbation) -> RenderableType:
    if not result.passed:
        return verdict(False, result.message)
    grid = Table.grid(padding=(0, 2))
    grid.add_row(Text("PERTURBED", "bold yellow"), Text(shown(result.message), overflow="fold"))
    return grid


def _summary(result: Perturbation) -> Iterable[tuple[str, str]]:
    yield "rows", number(result.rows)
    yield "values", "untrue on purpose; not k-anonymous"
    if result.release is not None:
        yield "published as", result.release


def _columns(found: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    table = columns([("column", False), ("method", False), ("rows changed", True)])
    for name, item in found.items():
        table.add_row(Text(shown(name)), Text(item["method"].replace("_", " ")), Text(number(item["changed"])))
    return table


def _moments(result: Perturbation) -> RenderableType:
    table = columns([("column", False), ("mean", True), ("released", True), ("variance", True), ("released", True)])
    for item in result.utility["moments"]:
        figures = (item["mean"], item["released_mean"], item["variance"], item["released_variance"])
        table.add_row(Text(shown(item["column"])), *(Text(f"{figure:.6g}") for figure in figures))
    return table


def _correlations(result: Perturbation) -> RenderableType:
    table = columns([("columns", False), ("source", True), ("released", True)])
    for item in result.utility["correlations"]:
        figures = ("-" if item[name] is None else f"{item[name]:.3f}" for name in ("source", "released"))
        table.add_row(Text(shown(" and ".join(item["columns"]))), *map(Text, figures))
    return table


def _frequencies(result: Perturbation) -> RenderableType:
    table = columns([("column", False), ("categories", True), ("distance", True)])
    for item in result.utility["frequencies"]:
        table.add_row(Text(shown(item["column"])), Text(number(item["categories"])), Text(f"{item['distance']:.4f}"))
    return table


def _linkage(found: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    yield "known", ", ".join(found["columns"])
    yield "rows looked at", number(found["looked_at"])
    yield "found", f"{found['found']:,.1f} rows, {found['share']:.2%} ({found['guessed_share']:.2%} by a guess)"
    yield "with no other record as near", number(found["certain"])
    if found["most"] is not None:
        yield "allowed", f"{found['most']:.2%}"
