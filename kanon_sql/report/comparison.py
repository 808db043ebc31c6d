"""A comparison as rows of text: the same for the terminal and for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from kanon_sql.report.text import columns, section
from kanon_sql.report.words import metric, number, percent, plural, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.compare import Compared, Comparison

__all__ = ["comparison_table", "comparison_text", "levels_table"]


def comparison_table(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Heads (``#`` at the end: numbers) and a row per run."""
    heads = [
        "spec",
        "k#",
        "verdict",
        f"{comparison.metric.replace('_', ' ')}#",
        "suppressed#",
        "classes#",
        "smallest#",
        "proven",
    ]
    heads += ["note"] if any(_note(run) for run in comparison.runs) else []
    return heads, [_row(run, comparison.metric)[: len(heads)] for run in comparison.runs]


def levels_table(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """The levels that each run chose; empty where none did."""
    names = list(dict.fromkeys(name for run in comparison.runs for name in run.result.node or ()))
    rows = [
        [run.name, "" if run.k is None else number(run.k)] + [_level(run, name) for name in names]
        for run in comparison.runs
        if run.result.node is not None
    ]
    return ["spec", "k#", *(f"{name}#" for name in names)], rows


def _level(run: Compared, name: str) -> str:
    """The level of a quasi-identifier; how many intervals, where the search chose some."""
    intervals = run.result.intervals or {}
    if name in intervals:
        return plural(intervals[name], "interval")
    return str((run.result.node or {}).get(name, ""))


def comparison_text(comparison: Comparison) -> RenderableType:
    """The comparison for a terminal."""
    parts: list[RenderableType] = []
    for title, (heads, rows) in (
        ("Privacy against detail (lower is better)", comparison_table(comparison)),
        ("Levels", levels_table(comparison)),
    ):
        if rows:
            table = columns([(shown(head.removesuffix("#")), head.endswith("#")) for head in heads])
            for row in rows:
                table.add_row(*(Text(shown(cell)) for cell in row))
            parts += section(title, table)
    return Group(*parts[1:])


def _row(run: Compared, by: str) -> list[str]:
    result = run.result
    search = result.search
    proven = "" if search is None else "yes" if search.proven else "no"
    if result.recoding is not None:
        proven = "no"
    k = "" if run.k is None else number(run.k)
    if not result.passed:
        return [run.name, k, "FAIL", "", "", "", "", proven, _note(run)]
    return [
        run.name,
        k,
        "PASS",
        metric(result.metrics[by]),
        percent(result.rows["suppressed"], result.rows["source"]),
        number(int(result.classes.get("count") or 0)),
        number(int(result.classes.get("smallest") or 0)),
        proven,
        _note(run),
    ]


def _note(run: Compared) -> str:
    return "dominated" if run.dominated else ""
