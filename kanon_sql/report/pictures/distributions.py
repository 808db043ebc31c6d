"""The rows of the source and of the release by the label of a column, side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kanon_sql.report.pictures.svg import WIDTH, Canvas, Picture, Scale, clipped
from kanon_sql.report.words import number, percent
from kanon_sql.verbs.details import CellDetails, DistributionDetails

__all__ = ["distribution", "label_in_words", "pictured_distributions"]

_LABEL, _FIGURE, _TOP = 122, 66, 26


def pictured_distributions(found: Sequence[DistributionDetails]) -> dict[str, DistributionDetails]:
    """Those that have anything to show, by the names of their pictures: plain words, since they are files' names."""
    plain = {item.name: re.sub(r"[^A-Za-z0-9_]+", "-", item.name).strip("-") or "column" for item in found}
    times = Counter(name.casefold() for name in plain.values())
    return {
        "distribution-"
        + (plain[item.name] if times[plain[item.name].casefold()] == 1 else f"{plain[item.name]}-{place}"): item
        for place, item in enumerate(found, 1)
        if item.cells
    }


def distribution(name: str, found: DistributionDetails) -> Picture:
    """A pair of bars per label.

    Args:
        name: the picture's.
        found: the column.
    """
    canvas, sides = Canvas(), ("source", "release") if found.source else ("release",)
    totals = {side: sum(_rows(cell, side) for cell in found.cells) for side in sides}
    most = max((_rows(cell, side) / max(1, totals[side]) for cell in found.cells for side in sides), default=0.0)
    step = 12 + 13 * len(sides)
    x = Scale(0, most or 1.0, _LABEL, WIDTH - _FIGURE)
    canvas.legend(12, [(side, side) for side in sides], _LABEL)
    for place, cell in enumerate(found.cells):
        top, words = _TOP + place * step, label_in_words(cell)
        canvas.text("small", 0, top + 6.5 * len(sides) + 4, clipped(words, _LABEL - 6))
        for position, side in enumerate(sides):
            rows = _rows(cell, side)
            width = max(1.0, x(rows / max(1, totals[side])) - _LABEL) if rows else 0.0
            at = top + 13 * position
            canvas.rect(side, _LABEL, at, width, 11, f"{side}: {number(rows)} {found.counted} of {words}")
            canvas.text("small", _LABEL + width + 5, at + 10, number(rows))
    return Picture(
        name=name,
        title=f"{found.name}: {found.counted} by label" + ("" if found.level is None else f" of level {found.level}"),
        description=_caption(found),
        size=(WIDTH, _TOP + step * len(found.cells)),
        marks=canvas.marks,
        heads=["label", *(head for side in sides for head in (f"{side}: {found.counted}#", "share#"))],
        rows=[
            [
                label_in_words(cell),
                *(text for side in sides for text in (number(_rows(cell, side)), _share(cell, side, totals[side]))),
            ]
            for cell in found.cells
        ],
    )


def label_in_words(cell: CellDetails) -> str:
    """A label as pictures and tables show it."""
    if cell.merged:
        return "others, merged"
    return "(missing)" if cell.label is None else cell.label


def _rows(cell: CellDetails, side: str) -> int:
    return (cell.source or 0) if side == "source" else cell.released


def _share(cell: CellDetails, side: str, total: int) -> str:
    return percent(_rows(cell, side), total)


def _caption(found: DistributionDetails) -> str:
    few = f"fewer than {number(found.least)} {found.counted}"
    caption = f"Labels with {few} of the source, of the release or suppressed are merged."
    if found.counted == "persons":
        caption = f"Labels with {few} in the source, in the release or in the source alone are merged."
    if not found.source:
        caption += f" The source is not shown, since a count below {number(found.least)} could be computed from it."
    return caption
