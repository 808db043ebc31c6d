"""The frontier of a comparison: what each k costs, a line per spec and recoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kanon_sql.report.pictures.svg import WIDTH, Canvas, Picture, Scale, clipped, ticks
from kanon_sql.report.words import metric, number

if TYPE_CHECKING:
    from kanon_sql.verbs.compare import Compared, Comparison
    from kanon_sql.verbs.result import Result

__all__ = ["frontier"]

_LEFT, _RIGHT, _HEIGHT = 50, 16, 180
_STYLES = 4


def frontier(comparison: Comparison) -> list[Picture]:
    """Two pictures over k: the metric, and the rows suppressed. None when fewer than two different k were asked for."""
    ks = sorted({run.k for run in comparison.runs if run.k is not None and run.passed})
    if len(ks) < 2:
        return []
    by = comparison.metric
    return [
        _over_k(comparison, ks, "frontier", by.replace("_", " "), lambda result: result.metrics[by], ""),
        _over_k(
            comparison, ks, "suppression", "rows suppressed",
            lambda result: 100 * result.rows["suppressed"] / max(1, result.rows["source"]), " %",
        ),
    ]  # fmt: skip


def _over_k(
    comparison: Comparison, ks: list[int], name: str, what: str, figure: Callable[[Result], float], unit: str
) -> Picture:
    lines: dict[str, list[Compared]] = {}
    for run in comparison.runs:
        if run.k is not None and run.passed:
            lines.setdefault(run.title, []).append(run)

    def value(run: Compared) -> float:
        assert run.result is not None
        return figure(run.result)

    canvas = Canvas()
    top = 24 + 18 * len(lines)
    bottom = top + _HEIGHT
    marks = ticks(max(value(run) for runs in lines.values() for run in runs), 4)
    x = Scale(0, len(ks) - 1, _LEFT + 16, WIDTH - _RIGHT - 8)
    y = Scale(0, marks[-1], bottom, top)
    for mark in marks:
        canvas.line("rule", _LEFT, y(mark), WIDTH - _RIGHT, y(mark))
        canvas.text("small", _LEFT - 6, y(mark) + 4, f"{metric(mark)}{unit}", "end")
    for index, k in enumerate(ks):
        canvas.text("small", x(index), bottom + 15, number(k), "middle")
    canvas.line("axis", _LEFT, bottom, WIDTH - _RIGHT, bottom)
    canvas.text("small", (_LEFT + WIDTH) / 2, bottom + 34, "k", "middle")
    for position, (title, runs) in enumerate(lines.items()):
        style = "" if position % _STYLES == 0 else f"-{position % _STYLES}"
        ordered = sorted(runs, key=lambda run: run.k or 0)
        canvas.path(f"curve{style}", [(x(ks.index(run.k or 0)), y(value(run))) for run in ordered])
        for run in ordered:
            tip = f"{title}, k = {run.k}: {what} {metric(value(run))}{unit}"
            canvas.circle(f"point{style}", x(ks.index(run.k or 0)), y(value(run)), 4.5, tip)
        canvas.path(f"curve{style}", [(0, 8 + 18 * position), (22, 8 + 18 * position)])
        canvas.circle(f"point{style}", 11, 8 + 18 * position, 4)
        canvas.text("small", 30, 12 + 18 * position, clipped(title, WIDTH - 40))
    return Picture(
        name=name,
        title=f"{what.capitalize()} for each k",
        description=" ".join(
            f"{title}: from {metric(value(min(runs, key=lambda run: run.k or 0)))}{unit} to "
            f"{metric(value(max(runs, key=lambda run: run.k or 0)))}{unit} as k grows."
            for title, runs in lines.items()
        ),
        size=(WIDTH, bottom + 42),
        marks=canvas.marks,
        heads=["spec", "k#", f"{what}#"],
        rows=[
            [run.title, number(run.k or 0), f"{metric(value(run))}{unit}"] for runs in lines.values() for run in runs
        ],
    )
