"""What the page of a comparison says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.report.comparison import asked_cells, asked_heads, comparison_table, tables
from kanon_sql.report.html.blocks import Block, Cells, Figure, Prose, Section
from kanon_sql.report.pictures import frontier
from kanon_sql.report.words import metric, number, plural

if TYPE_CHECKING:
    from kanon_sql.verbs.compare import Comparison

__all__ = ["comparison_sections", "comparison_tiles", "comparison_verdict"]


def comparison_verdict(comparison: Comparison) -> str:
    """How many runs met their requirements."""
    met = sum(run.passed for run in comparison.runs)
    total = len(comparison.runs)
    return (
        f"All {number(total)} runs can meet their requirements"
        if met == total
        else (f"{number(met)} of {number(total)} runs can meet their requirements")
    )


def comparison_tiles(comparison: Comparison) -> list[tuple[str, str, str]]:
    """The cheapest and the dearest run that pass."""
    by = comparison.metric
    passed = [(run.result.metrics[by], run) for run in comparison.runs if run.result is not None and run.passed]
    if not passed:
        return []
    ordered = sorted(passed, key=lambda item: item[0])

    def tile(words: str, index: int) -> tuple[str, str, str]:
        value, run = ordered[index]
        asked = run.title if run.k is None else f"{run.title}, k = {number(run.k)}"
        return f"{words} {by.replace('_', ' ')}", metric(value), asked

    return [tile("lowest", 0), tile("highest", -1)]


def comparison_sections(comparison: Comparison) -> list[Section]:
    """The frontier, the table, the levels, the requirements, the cost."""
    heads, rows = comparison_table(comparison)
    failed = frozenset(index for index, run in enumerate(comparison.runs) if not run.passed)
    frontier_blocks: list[Block] = [Figure(picture) for picture in frontier(comparison)]
    worse = [run for run in comparison.runs if run.dominated]
    if worse:
        heading = (
            f"{plural(len(worse), 'run')} dominated: another run has at least that k, loses no more and "
            "suppresses no more, and is better in one of the three."
        )
        frontier_blocks.append(Prose(heading))
    asked = asked_heads(comparison)
    made = [
        Section("Privacy against information loss", [*frontier_blocks, Cells(heads, rows, marked=failed)]),
        *(Section(title, [Cells(*cells)]) for title, cells in list(tables(comparison))[1:]),
        Section("Result of each run", [
            Cells([*asked, "result"], [
                [*asked_cells(comparison, run), run.result.message] for run in comparison.runs if run.result is not None
            ])
        ]),
        Section("Runs", [
            Cells([*asked, "statements#", "source scans#", "rows fetched#", "seconds#"], [
                [*asked_cells(comparison, run), number(cost.statements), number(cost.source_scans),
                 number(cost.rows_fetched), metric(cost.seconds)]
                for run in comparison.runs if run.result is not None for cost in [run.result.cost]
            ])
        ]),
    ]  # fmt: skip
    return [item for item in made if item.blocks]
