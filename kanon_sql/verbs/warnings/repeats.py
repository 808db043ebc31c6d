"""How often the values of columns repeat: one pass, counts alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kanon_sql.engines import Column, Workspace
from kanon_sql.hierarchies import exact_value, shown_value
from kanon_sql.sql import Relation

if TYPE_CHECKING:
    from kanon_sql.verbs.init import ColumnProfile

__all__ = ["repeats"]


def repeats(
    workspace: Workspace,
    table: Relation,
    columns: Sequence[Column],
    most: int | None = None,
    *,
    shown: bool = False,
) -> list[ColumnProfile]:
    """How many rows have a value of each column, and how many different ones there are.

    Args:
        workspace: where the table is.
        table: what to count.
        columns: some of its columns.
        most: look at this many rows, whichever come first; None for all.
        shown: count what a reader sees: 1.0 and 1.00 are two; else values, as persons are counted.
    """
    if not columns:
        return []
    from kanon_sql.verbs.init import ColumnProfile

    values = [(shown_value if shown else exact_value)(column, "kanon_source") for column in columns]
    names = [column.name for column in columns]
    rows, *counts = workspace.row("verbs/warnings/repeats", table=table, values=values, names=names, most=most)
    return [
        ColumnProfile(column, int(rows), int(counts[2 * place]), int(counts[2 * place + 1]))
        for place, column in enumerate(columns)
    ]
