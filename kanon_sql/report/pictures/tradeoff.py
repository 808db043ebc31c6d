"""Suppression against generalization: the chosen node among those that were measured."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.report.pictures.svg import WIDTH, Canvas, Picture, Scale, ticks
from kanon_sql.report.words import metric, number, percent, plural
from kanon_sql.verbs.details import SolutionDetails

__all__ = ["tradeoff"]

_LEFT, _RIGHT, _TOP, _HEIGHT = 50, 16, 32, 220


def tradeoff(
    solutions: Sequence[SolutionDetails], chosen: Sequence[int] | None, rows: int, name: str
) -> Picture | None:
    """Every satisfying node that was measured: how much it generalizes, how much it suppresses.

    Args:
        solutions: the nodes, best first.
        chosen: the chosen node.
        rows: rows of the source.
        name: the metric's.
    """
    if not solutions or not rows:
        return None
    canvas, bottom = Canvas(), _TOP + _HEIGHT
    right, up = (
        ticks(100 * max(item.suppressed for item in solutions) / rows),
        ticks(100 * max(item.generalization for item in solutions), 4),
    )
    x, y = Scale(0, right[-1], _LEFT + 10, WIDTH - _RIGHT), Scale(0, up[-1], bottom, _TOP + 6)
    for mark in up:
        canvas.line("rule", _LEFT, y(mark), WIDTH - _RIGHT, y(mark))
        canvas.text("small", _LEFT - 6, y(mark) + 4, f"{mark:g} %", "end")
    for mark in right:
        canvas.text("small", x(mark), bottom + 15, f"{mark:g} %", "middle")
    canvas.line("axis", _LEFT, bottom, WIDTH - _RIGHT, bottom)
    canvas.text("small", (_LEFT + WIDTH) / 2, bottom + 34, "rows suppressed", "middle")
    canvas.text("small", _LEFT, 12, "generalized: mean share of the hierarchies climbed")
    for rank, item in reversed(list(enumerate(solutions, 1))):
        place = x(100 * item.suppressed / rows), y(100 * item.generalization)
        is_chosen = chosen is not None and tuple(chosen) == item.node
        tip = f"{rank}. {list(item.node)}: {plural(item.suppressed, 'row')} suppressed"
        if rank <= 9:
            canvas.circle("release" if is_chosen else "source", *place, 9, tip)
            canvas.text("inside", place[0], place[1] + 3.5, str(rank), "middle")
        else:
            canvas.circle("source", *place, 4, tip)
        if is_chosen:
            canvas.circle("chosen", *place, 12)
    return Picture(
        name="frontier",
        title="Suppression against generalization",
        description=f"{number(len(solutions))} satisfying generalizations that were measured, numbered from the "
        f"best under {name.replace('_', ' ')}; the ring marks the chosen one. Suppression increases "
        "to the right, generalization upwards.",
        size=(WIDTH, bottom + 42),
        marks=canvas.marks,
        heads=["rank#", "levels", "generalized#", "rows suppressed#", "share#", f"{name.replace('_', ' ')}#"],
        rows=[
            [
                str(rank),
                "[" + ", ".join(map(str, item.node)) + "]",
                f"{metric(100 * item.generalization)} %",
                number(item.suppressed),
                percent(item.suppressed, rows),
                "" if item.metric is None else metric(item.metric),
            ]
            for rank, item in enumerate(solutions, 1)
        ],
    )
