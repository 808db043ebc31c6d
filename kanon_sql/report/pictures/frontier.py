"""The frontier of a comparison: what each k costs, a line per spec and recoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kanon_sql.report.pictures.svg import WIDTH, Canvas, Picture, Scale, clipped, small_width, ticks
from kanon_sql.report.words import metric, number

if TYPE_CHECKING:
    from kanon_sql.verbs.compare import Compared, Comparison

__all__ = ["LinesOverK", "frontier", "lines_over_k"]

_LEFT, _RIGHT, _HEIGHT = 50, 16, 180
_STYLES = 4


@dataclass(frozen=True)
class LinesOverK:
    """What is shown of each k.

    Attributes:
        name: the picture's.
        what: the measure.
        unit: what stands after a figure.
        runs: the runs of each spec, by its title.
        figure: the measure of a run.
        ks: the k that were asked for.
    """

    name: str
    what: str
    unit: str
    runs: Mapping[str, Sequence[Compared]]
    figure: Callable[[Compared], float]
    ks: Sequence[int]

    @property
    def title(self) -> str:
        """What the picture is called."""
        return f"{self.what.capitalize()} for each k"


def lines_over_k(comparison: Comparison) -> list[LinesOverK]:
    """The metric and the share of rows suppressed, over k. None when fewer than two different k were asked for."""
    lines: dict[str, list[Compared]] = {}
    for run in comparison.runs:
        if run.k is not None and run.passed:
            lines.setdefault(run.title, []).append(run)
    ks = sorted({run.k or 0 for runs in lines.values() for run in runs})
    if len(ks) < 2:
        return []
    by = comparison.metric

    def lost(run: Compared) -> float:
        assert run.result is not None
        return run.result.metrics[by]

    def suppressed(run: Compared) -> float:
        assert run.result is not None
        return run.result.rows["suppressed"] / max(1, run.result.rows["source"])

    return [
        LinesOverK("frontier", by.replace("_", " "), "", lines, lost, ks),
        LinesOverK("suppression", "rows suppressed", " %", lines, suppressed, ks),
    ]


def frontier(comparison: Comparison) -> list[Picture]:
    """The pictures of :func:`lines_over_k`."""
    return [_over_k(line) for line in lines_over_k(comparison)]


def _over_k(line: LinesOverK) -> Picture:
    lines, ks, what, unit = line.runs, line.ks, line.what, line.unit

    def value(run: Compared) -> float:
        return line.figure(run) * (100 if unit else 1)

    canvas = Canvas()
    top = 24 + 18 * len(lines)
    bottom = top + _HEIGHT
    marks = ticks(max(value(run) for runs in lines.values() for run in runs), 4)
    figures = [f"{metric(mark)}{unit}" for mark in marks]
    left = max(_LEFT, 8 + max(map(small_width, figures)))
    x = Scale(0, len(ks) - 1, left + 16, WIDTH - _RIGHT - 8)
    y = Scale(0, marks[-1], bottom, top)
    for mark, figure in zip(marks, figures, strict=True):
        canvas.line("rule", left, y(mark), WIDTH - _RIGHT, y(mark))
        canvas.text("small", left - 6, y(mark) + 4, figure, "end")
    free = 0.0
    for index, k in enumerate(ks):
        half = small_width(number(k)) / 2
        if x(index) - half >= free:  # what has no room is in the table of the numbers
            canvas.text("small", x(index), bottom + 15, number(k), "middle")
            free = x(index) + half + 6
    canvas.line("axis", left, bottom, WIDTH - _RIGHT, bottom)
    canvas.text("small", (left + WIDTH) / 2, bottom + 34, "k", "middle")
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
        name=line.name,
        title=line.title,
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
