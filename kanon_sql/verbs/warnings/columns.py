"""The warning that a column which is released as it is singles rows out: many rows are the only ones with a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kanon_sql.disclosure.risk import RiskFrames, combination_measures
from kanon_sql.engines import Column, Workspace
from kanon_sql.sql import Relation
from kanon_sql.verbs.result import Warned
from kanon_sql.verbs.warnings.repeats import repeats

__all__ = ["nearly_unique"]

ENOUGH_ROWS = 100
"""Of fewer rows some are alone with their value by chance, so that it takes :data:`FEW_ALONE` of them."""

FEW_ALONE = 0.5
"""Instead of :data:`ALONE`, of a table of few rows."""

ALONE = 0.05
"""The share of rows that are alone with their value, from which a column is said to be nearly unique."""

TOGETHER = 0.5
"""The same for rows that are alone with their value and their released quasi-identifiers."""

PER_VALUE = 20
"""Where more rows than this have a value, on average, it has too few values to single rows out."""


def nearly_unique(
    workspace: Workspace,
    table: Relation,
    columns: Mapping[str, Column],
    quasi_identifiers: Sequence[str],
    released: Sequence[str],
) -> list[Warned]:
    """Columns that are released as they are, and by which, or with the quasi-identifiers, many rows are alone.

    Args:
        workspace: where the table is; it takes one statement, and one more where a column has this many values.
        table: the release, or a table to check.
        columns: its columns by name.
        quasi_identifiers: their names.
        released: the columns to look at: those that are kept, and sensitive attributes.
    """
    there = [columns[name] for name in released if name in columns and columns[name].kind != "ambiguous"]
    if not there:
        return []
    workspace.report("looking for columns that single rows out", None)
    counted = repeats(workspace, table, there, shown=True)
    looked_at = [item.name for item in counted if item.rows <= PER_VALUE * item.distinct]
    if not looked_at:
        return []
    names = [*quasi_identifiers, *looked_at]
    frames = RiskFrames(table, [columns[name] for name in names], None)
    classes = range(len(quasi_identifiers))
    places = range(len(quasi_identifiers), len(names))
    asked = [together for place in places for together in ((place,), (*classes, place))]
    found = combination_measures(workspace, frames, asked)
    warned = []
    for name, place in zip(looked_at, places, strict=True):
        alone, together = found[(place,)], found[(*classes, place)]
        rows = alone.records
        if not rows:
            continue
        figures = {
            "rows": rows,
            "values": alone.classes,
            "alone": alone.uniques / rows,
            "alone_with_quasi_identifiers": together.uniques / rows,
        }
        if rows < ENOUGH_ROWS:
            singles_out = alone.uniques >= FEW_ALONE * rows
        else:
            singles_out = alone.uniques >= ALONE * rows or together.uniques >= TOGETHER * rows
        if singles_out:
            message = (
                f"{name}: {100 * alone.uniques / rows:.1f} % of rows are unique by this column, "
                f"{100 * together.uniques / rows:.1f} % by it and the released quasi-identifiers. Round it, make it a "
                "quasi-identifier, or leave it out"
            )
            warned.append(Warned("nearly_unique_kept", message, [name], figures))
    return warned
