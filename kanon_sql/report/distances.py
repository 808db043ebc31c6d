"""Samarati's matrix of distance vectors as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kanon_sql.report.words import number, plural, shown

if TYPE_CHECKING:
    from kanon_sql.evaluate import Distances

__all__ = ["MOST_COLUMNS", "distance_vectors"]

MOST_COLUMNS = 8
"""A matrix of this many outliers is shown as a table; a larger one has no place in a terminal."""


def distance_vectors(found: Distances) -> RenderableType:
    """A row per vector of values, a column per outlier; vectors go by numbers that say nothing of their values."""
    outliers = found.outliers
    if not outliers:
        return Text(f"no vector of values has fewer than {number(found.k)} rows: there is no outlier")
    few = f"fewer than {number(found.k)}"
    head = f"{plural(len(outliers), 'outlier')} ({few} rows) by {plural(len(found.sizes), 'vector')} of values"
    if len(outliers) > MOST_COLUMNS:
        return Group(Text(head), Text("--format json lists their distance vectors", "dim"))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("vector", justify="right")
    table.add_column("size", justify="right")
    for outlier in outliers:
        table.add_column(f"to {outlier}")
    for place, size in enumerate(found.sizes):
        distances = (distances[place] for distances in found.matrix)
        table.add_row(
            Text(str(place + 1)),
            Text(few if size is None else number(size), "" if size else "dim"),
            *(Text("[" + ", ".join(map(str, distance)) + "]") for distance in distances),
        )
    order = ", ".join(map(shown, found.columns))
    return Group(Text(head), Text(f"levels in the order {order}", "dim"), table)
