"""Rows with their cells, beside the people and positions they come from: written once, and examined as written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import Workspace
from kanon_sql.errors import VerificationError
from kanon_sql.hierarchies import number_text
from kanon_sql.positions.cloak import Cloaked
from kanon_sql.positions.grid import Grid
from kanon_sql.positions.keys import Points
from kanon_sql.spec import CloakSpec
from kanon_sql.sql import Relation, Sql, identifier

__all__ = ["Assigned", "Examined", "assigned", "examined", "levels"]

JOINED = 40
"""Grids whose cells are joined in one statement: some engines join 61 tables at most."""


@dataclass(frozen=True)
class Assigned:
    """All rows of the source, each with its cell; those that are left out have none.

    Attributes:
        rows: a scratch table.
        labels: the cells with their edges and labels, a scratch table.
        classes: the classes of rows with the same cell, counted from what was written, a scratch table.
    """

    rows: Relation
    labels: Relation
    classes: Relation


@dataclass(frozen=True)
class Examined:
    """What was found in what was written.

    Attributes:
        rows: rows with a cell.
        classes: how many different cells and slices they have.
        fewest: the fewest people with the same one.
        fewest_present: where all who were there count: the fewest people in the cell and slice of a row.
    """

    rows: int
    classes: int
    fewest: int
    fewest_present: int | None


def assigned(workspace: Workspace, spec: CloakSpec, found: Points, cells: Cloaked) -> Assigned:
    """Write all rows with their cells: one more pass over the source.

    Args:
        workspace: where.
        spec: what is kept.
        found: the source's positions.
        cells: of each grid, those that rows are released with.
    """
    workspace.report("finding the cell of every row: one pass over the source", None)
    grids, before = _grids(cells), None
    for start in range(0, len(grids), JOINED):
        target = workspace.table(f"assigned{start}")
        workspace.execute(
            "positions/assigned",
            target=target,
            keyed=found.keyed if before is None else None,
            before=before,
            grids=grids[start : start + JOINED],
            kept=len(spec.keep),
            wish=found.wishes,
            time=spec.time is not None,
        )
        before = target
    assert before is not None, "no grid has a cell"
    labels, classes = _labels(workspace, found, grids), workspace.table("classes")
    workspace.execute(
        "positions/classes",
        target=classes,
        rows=before,
        labels=labels,
        wish=found.wishes,
        k=spec.k.k,
        time=spec.time is not None,
    )
    return Assigned(before, labels, classes)


def _labels(workspace: Workspace, found: Points, grids: Sequence[dict[str, Any]]) -> Relation:
    layout = found.layout
    cells = workspace.table("edges")
    workspace.execute(
        "positions/cells",
        target=cells,
        grids=grids,
        x=layout.x.fields(),
        y=layout.y.fields(),
        steps=[step.fields() for step in layout.steps],
        origin=layout.origin,
    )
    calendar = None
    if found.calendar is not None:
        calendar = workspace.table("times")
        workspace.execute("positions/times", target=calendar, cells=cells, clock=found.calendar == "timestamp")
    labels = workspace.table("labels")
    texts = {
        edge: number_text(Sql(f"cells.{identifier(edge)}"), layout.digits)
        for edge in ("x_from", "x_to", "y_from", "y_to")
    }
    workspace.execute(
        "positions/labels", target=labels, cells=cells, texts=texts, time=bool(layout.steps), calendar=calendar
    )
    return labels


def _grids(cells: Cloaked) -> list[dict[str, Any]]:
    """What templates read of the grids that rows are released with."""
    return [
        {
            "number": placed.grid.number,
            "mask": placed.grid.mask,
            "table": placed.cells,
            "x_cells": placed.grid.x_cells,
            "y_cells": placed.grid.y_cells,
            "width": placed.grid.width,
        }
        for placed in cells.placed
    ]


def examined(workspace: Workspace, spec: CloakSpec, found: Points, cells: Cloaked, written: Assigned) -> Examined:
    """Examine what was written: classes of rows with the same cell, and where all who were there count, cells as well.

    Args:
        workspace: where.
        spec: how many people a class takes, and who counts.
        found: how many rows there were.
        cells: how many of them are left out.
        written: the rows.

    Raises:
        VerificationError: they are not what was promised.
    """
    workspace.report("verifying what was written", None)
    tables = {"rows": written.rows, "classes": written.classes}
    rows, classes, fewest, small, astray, left_out, all_rows = (
        int(item or 0) for item in workspace.row("positions/examined", **tables)
    )
    expected = found.outside + cells.left_rows
    if (rows, left_out, all_rows) != (found.rows - expected, expected, found.rows):
        raise VerificationError(
            f"verification: {rows:,} of {all_rows:,} rows got a cell where {found.rows - expected:,} of {found.rows:,} "
            "were expected (did the source change while it was read?); nothing was published"
        )
    if astray:
        raise VerificationError(f"verification: {astray:,} rows lie outside of their cell; nothing was published")
    present = None
    if spec.anonymity_set == "present":
        present = _fewest_present(workspace, cells, tables)
    elif small:
        raise VerificationError(f"verification: {small:,} classes have too few people; nothing was published")
    return Examined(rows, classes, fewest, present)


def _fewest_present(workspace: Workspace, cells: Cloaked, tables: dict[str, Relation]) -> int:
    fewest = []
    for placed in cells.placed:
        found = workspace.row("positions/present", number=placed.grid.number, mask=placed.grid.mask, **tables)
        used, people, small = (int(item or 0) for item in found)
        if small:
            raise VerificationError(f"verification: {small:,} cells have too few people; nothing was published")
        if used:
            fewest.append(people)
    return min(fewest)


def levels(workspace: Workspace, found: Points, written: Assigned) -> list[tuple[Grid, int, int]]:
    """Per grid that rows are released with, in the order in which they are tried: its cells and its rows."""
    grids = found.layout.grids
    listed = workspace.fetch("positions/levels", len(grids), classes=written.classes)
    return [(grids[int(number)], int(cells), int(rows)) for number, cells, rows in sorted(listed)]
