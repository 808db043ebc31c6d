"""A comparison as rows of text: the same for the terminal, for Markdown and for the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from kanon_sql.report.layout import columns, section
from kanon_sql.report.levels import level_in_words
from kanon_sql.report.words import metric, number, percent, plain, plural, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.compare import Compared, Comparison
    from kanon_sql.verbs.result import Plan

__all__ = ["asked_cells", "asked_heads", "comparison_markdown", "comparison_table", "comparison_text", "tables"]

Cells = tuple[list[str], list[list[str]]]
"""Heads (``#`` at the end: numbers) and a row per run."""


def tables(comparison: Comparison, *, narrow: bool = False) -> Iterator[tuple[str, Cells]]:
    """The tables of a comparison that have rows, each with its title.

    Args:
        comparison: what to show.
        narrow: what recodings took is a table of its own, so that each fits into a terminal.
    """
    for title, (heads, rows) in (
        ("Privacy against information loss (lower is better)", comparison_table(comparison, narrow=narrow)),
        ("Cost", _cost_table(comparison) if narrow and _recoded(comparison) else ([], [])),
        ("Predicting a column (accuracy on held-out rows of the source)", _utility_table(comparison)),
        *(_levels_by_column(comparison) if narrow else [("Levels", _levels_table(comparison))]),
        ("Not possible", _reasons_table(comparison)),
    ):
        if rows:
            yield title, (heads, rows)


def asked_heads(comparison: Comparison) -> list[str]:
    """The heads of what was asked of a run: its spec, what replaced what it says, its k."""
    recoded = _recoded(comparison)
    counted = any(run.columns is not None for run in comparison.runs)
    several = not (recoded or counted) or len({run.name for run in comparison.runs}) > 1
    replaced = [*(["recoding"] if recoded else []), *(["columns#"] if counted else [])]
    return [*(["spec"] if several else []), *replaced, "k#"]


def asked_cells(comparison: Comparison, run: Compared) -> list[str]:
    """What was asked of a run, below these heads."""
    asked = {
        "spec": run.name,
        "recoding": run.recoding or "",
        "columns#": "" if run.columns is None else number(run.columns),
        "k#": "" if run.k is None else number(run.k),
    }
    return [asked[head] for head in asked_heads(comparison)]


def comparison_table(comparison: Comparison, *, narrow: bool = False) -> Cells:
    """A row per run: what was asked, what it costs, and whether that is proven."""
    figures = _figures(comparison, narrow=narrow)
    proven = [] if narrow and _recoded(comparison) else ["proven"]
    noted = ["note"] if any(run.dominated for run in comparison.runs) else []
    rows = []
    for run in comparison.runs:
        cells = dict.fromkeys([*figures, *proven, *noted], "")
        if run.result is not None:
            cells |= {"proven": _proven(run.result), "note": "dominated" if run.dominated else ""}
        if run.result is not None and run.passed:
            cells |= {head: figure(run.result) for head, figure in figures.items()}
        verdict = "none" if run.result is None else "PASS" if run.passed else "FAIL"
        rows.append([*asked_cells(comparison, run), verdict, *(cells[head] for head in [*figures, *proven, *noted])])
    return [*asked_heads(comparison), "verdict", *figures, *proven, *noted], rows


def _recoded(comparison: Comparison) -> bool:
    """Whether recodings were put in place of the specs'."""
    return any(run.recoding is not None for run in comparison.runs)


def _figures(comparison: Comparison, *, narrow: bool) -> dict[str, Callable[[Plan], str]]:
    """Head -> the figure of a run that passed."""
    by = comparison.metric
    figures: dict[str, Callable[[Plan], str]] = {
        f"{by.replace('_', ' ')}#": lambda result: metric(result.metrics[by]),
        "suppressed#": lambda result: percent(result.rows["suppressed"], result.rows["source"]),
        "classes#": lambda result: number(int(result.classes.get("count") or 0)),
        "smallest#": lambda result: number(int(result.classes.get("smallest") or 0)),
    }
    if not _recoded(comparison):
        return figures
    figures = {"mean loss#": lambda result: "-" if result.mean_loss is None else metric(result.mean_loss), **figures}
    if narrow:
        del figures["smallest#"]
        return figures
    return {**figures, **_COST}


_COST: dict[str, Callable[[Plan], str]] = {
    "statements#": lambda result: number(result.cost.statements),
    "seconds#": lambda result: metric(result.cost.seconds),
}


def _cost_table(comparison: Comparison) -> Cells:
    """The statements and the seconds of each run, and whether what they found is proven."""
    ran = [(run, run.result) for run in comparison.runs if run.result is not None]
    rows = [
        [*asked_cells(comparison, run), *(figure(result) for figure in _COST.values()), _proven(result)]
        for run, result in ran
    ]
    return [*asked_heads(comparison), *_COST, "proven"], rows


def _utility_table(comparison: Comparison) -> Cells:
    """How well a column is told by what each release teaches; empty where none was named."""
    heads = ["trained on the release#", "on the source#", "most frequent value#"]
    rows = []
    for run in comparison.runs:
        if run.result is not None and run.result.utility is not None:
            found, accuracy = run.result.utility, run.result.utility["accuracy"]
            shares = [accuracy["release"], accuracy["source"], accuracy["majority"]]
            cells = ["-" if share is None else f"{share:.4f}" for share in shares]
            rows.append([*asked_cells(comparison, run), found["classify"], *cells])
    return [*asked_heads(comparison), "column", *heads], rows


def _proven(result: Plan) -> str:
    if result.recoding is not None:
        return "no"
    return "" if result.search is None else "yes" if result.search.proven else "no"


def _levels_table(comparison: Comparison) -> Cells:
    """The levels that each run chose; empty where none did."""
    chosen = [(run, run.result) for run in comparison.runs if run.result is not None and run.result.node is not None]
    names = list(dict.fromkeys(name for _, result in chosen for name in result.node or ()))
    rows = [[*asked_cells(comparison, run), *(_level(result, name) for name in names)] for run, result in chosen]
    return [*asked_heads(comparison), *names], rows


_ACROSS = 3
"""Runs whose levels stand in one table of a terminal of 80 columns."""


def _levels_by_column(comparison: Comparison) -> Iterator[tuple[str, Cells]]:
    """The same with a line per quasi-identifier, and a few runs across."""
    heads, rows = _levels_table(comparison)
    asked = asked_heads(comparison)
    for first in range(0, len(rows), _ACROSS):
        runs = rows[first : first + _ACROSS]
        above = [" ".join(_asked_in_words(head, cell) for head, cell in zip(asked, run, strict=False)) for run in runs]
        lines = [[name, *(run[len(asked) + index] for run in runs)] for index, name in enumerate(heads[len(asked) :])]
        yield "Levels" if not first else "Levels, further runs", (["quasi-identifier", *above], lines)


def _asked_in_words(head: str, cell: str) -> str:
    return f"{head.removesuffix('#')} = {cell}" if head.endswith("#") else cell


def _level(result: Plan, name: str) -> str:
    """The level of a quasi-identifier; how many intervals, where the search chose some."""
    intervals = result.intervals or {}
    if name in intervals:
        return plural(intervals[name], "interval")
    level = (result.node or {}).get(name)
    if level is None:
        return ""
    return f"{level}: {level_in_words(result.level_names, name, level)}"


def _reasons_table(comparison: Comparison) -> Cells:
    """Which runs a spec cannot have, and why."""
    rows = [[*asked_cells(comparison, run), run.reason] for run in comparison.runs if run.reason is not None]
    return [*asked_heads(comparison), "why"], rows


def comparison_text(comparison: Comparison) -> RenderableType:
    """The comparison for a terminal."""
    parts: list[RenderableType] = []
    for title, (heads, rows) in tables(comparison, narrow=True):
        table = columns([(shown(head.removesuffix("#")), head.endswith("#")) for head in heads])
        for row in rows:
            table.add_row(*(Text(shown(cell)) for cell in row))
        parts += section(title, table)
    return Group(*parts[1:])


def comparison_markdown(comparison: Comparison) -> str:
    """The comparison for a comment on a change or a job's summary."""
    return "\n\n".join(
        "\n".join([f"**{plain(title)}**", "", _row([head.removesuffix("#") for head in heads]), _rule(heads),
                   *map(_row, rows)])
        for title, (heads, rows) in tables(comparison)
    )  # fmt: skip


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(plain, cells))} |"


def _rule(heads: Sequence[str]) -> str:
    return f"| {' | '.join('---:' if head.endswith('#') else '---' for head in heads)} |"
