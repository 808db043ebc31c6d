"""What the page of a comparison says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.report.comparison import comparison_table, levels_table
from kanon_sql.report.html.blocks import Block, Cells, Figure, Prose, Section
from kanon_sql.report.pictures import frontier
from kanon_sql.report.words import metric, number, plural

if TYPE_CHECKING:
    from kanon_sql.verbs.compare import Comparison

__all__ = ["comparison_sections", "comparison_tiles", "comparison_verdict"]


def comparison_verdict(comparison: Comparison) -> str:
    """How many runs met their requirements."""
    met = sum(run.result.passed for run in comparison.runs)
    total = len(comparison.runs)
    return (
        f"All {number(total)} runs can meet their requirements"
        if met == total
        else (f"{number(met)} of {number(total)} runs can meet their requirements")
    )


def comparison_tiles(comparison: Comparison) -> list[tuple[str, str, str]]:
    """The cheapest and the dearest run that pass."""
    passed = [run for run in comparison.runs if run.result.passed]
    if not passed:
        return []
    by = comparison.metric
    ordered = sorted(passed, key=lambda run: run.result.metrics[by])

    def tile(words: str, index: int) -> tuple[str, str, str]:
        run = ordered[index]
        asked = run.name if run.k is None else f"{run.name}, k = {number(run.k)}"
        return f"{words} {by.replace('_', ' ')}", metric(run.result.metrics[by]), asked

    return [tile("lowest", 0), tile("highest", -1)]


def comparison_sections(comparison: Comparison) -> list[Section]:
    """The frontier, the table, the levels, the requirements, the cost."""
    heads, rows = comparison_table(comparison)
    failed = frozenset(index for index, run in enumerate(comparison.runs) if not run.result.passed)
    frontier_blocks: list[Block] = [Figure(picture) for picture in frontier(comparison)]
    worse = [run for run in comparison.runs if run.dominated]
    if worse:
        said = (
            f"{plural(len(worse), 'run')} dominated: some other run asks for at least that k, loses "
            "no more and suppresses no more, and is better in one of the three."
        )
        frontier_blocks.append(Prose(said))
    made = [
        Section("Privacy against detail", [*frontier_blocks, Cells(heads, rows, marked=failed)]),
        Section("Levels", [Cells(*levels_table(comparison))] if levels_table(comparison)[1] else []),
        Section("What each run said", [
            Cells(["spec", "k#", "result"], [
                [run.name, "" if run.k is None else number(run.k), run.result.message] for run in comparison.runs
            ])
        ]),
        Section("What was run", [
            Cells(["spec", "k#", "statements#", "source scans#", "rows fetched#", "seconds#"], [
                [run.name, "" if run.k is None else number(run.k), number(cost.statements), number(cost.source_scans),
                 number(cost.rows_fetched), metric(cost.seconds)]
                for run in comparison.runs for cost in [run.result.cost]
            ])
        ]),
    ]  # fmt: skip
    return [item for item in made if item.blocks]
