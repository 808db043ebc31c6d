"""How well a column can be told from the release, beside the source and a guess."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.report.pictures.svg import WIDTH, Canvas, Picture, Scale
from kanon_sql.report.words import metric, number

__all__ = ["TRAINED", "utility"]

TRAINED = {
    "source": "trained on the source",
    "release": "trained on the release",
    "majority": "always the most frequent value",
}
"""Whose accuracy it is, in words."""


def utility(found: Any) -> Picture | None:
    """Three bars: the accuracy on held-out rows of the source.

    Args:
        found: what a result says of utility; None where it says nothing.
    """
    accuracy = found.get("accuracy") if isinstance(found, Mapping) else None
    if not isinstance(accuracy, Mapping) or any(not isinstance(accuracy.get(name), float | int) for name in TRAINED):
        return None
    canvas, x = Canvas(), Scale(0, 1, 0, WIDTH - 62)
    for place, (name, words) in enumerate(TRAINED.items()):
        top, share = place * 42, float(accuracy[name])
        canvas.text("", 0, top + 12, words)
        canvas.rect("track", 0, top + 18, x(1), 14)
        canvas.rect("release" if name == "release" else "source", 0, top + 18, x(share), 14, words)
        canvas.text("small", WIDTH, top + 30, f"{metric(100 * share)} %", "end")
    column = str(found.get("classify"))
    return Picture(
        name="utility",
        title=f"Accuracy of predicting {column}",
        description=f"Naive Bayes, tested on {number(int(found.get('tested') or 0))} rows of the source that it "
        f"was not trained on, in {found.get('folds')} parts: "
        + ", ".join(f"{metric(100 * float(accuracy[name]))} % {words}" for name, words in TRAINED.items())
        + ".",
        size=(WIDTH, 42 * len(TRAINED)),
        marks=canvas.marks,
        heads=["classifier", "accuracy#"],
        rows=[[words, f"{metric(100 * float(accuracy[name]))} %"] for name, words in TRAINED.items()],
    )
