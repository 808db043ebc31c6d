"""Rows with their cells, beside the people and positions they come from: written once, and examined as written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import Workspace
from kanon_sql.errors import VerificationError
from kanon_sql.hierarchies import number_text
from kanon_sql.positions.cloak import Cloaked, Placed
from kanon_sql.positions.grid import Grid
from kanon_sql.positions.keys import Points
from kanon_sql.spec import CloakSpec
from kanon_sql.sql import Relation, Sql, identifier

__all__ = ["Assigned", "Examined", "assigned", "examined", "levels"]

JOINED = 40
"""Grids whose cells are joined in one statement: some engines join 61 tables at most."""

ANOTHER = 100_000
"""Rows that are looked up in one more grid at the cost of one more statement."""


@dataclass(frozen=True)
class Assigned:
    """All rows of the source, each with its cell; those that are left out have none.

    Attributes:
        rows: a scratch table of rows, with the number of their cell.
        labels: the cells by number, with their edges and labels, a scratch table.
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
    steps = list(_steps(cells.placed, found.rows - found.outside))
    assert steps, "no grid has a cell"
    before: list[Relation] = []
    for number, step in enumerate(steps):
        target = workspace.table(f"assigned{number}")
        whole = number + 1 == len(steps)
        workspace.execute(
            "positions/assigned",
            target=target,
            keyed=found.keyed,
            before=before,
            whole=whole,
            grids=_grids(step),
            kept=len(spec.keep),
            per_row_k=found.per_row_k,
            time=spec.time is not None,
            key=not whole or spec.anonymity_set == "present",
        )
        before.append(target)
    rows = before.pop()
    for table in before:
        workspace.drop(table)
    labels, classes = _labels(workspace, found, _grids(cells.placed)), workspace.table("classes")
    workspace.execute(
        "positions/classes", target=classes, rows=rows, labels=labels, per_row_k=found.per_row_k, k=spec.k.k
    )
    return Assigned(rows, labels, classes)


def _steps(placed: Sequence[Placed], rows: int) -> Iterator[Sequence[Placed]]:
    """The grids, divided such that each statement looks up the rows that earlier ones found no cell for.

    A further statement reads and writes these rows once more, and spares each row that has its cell the lookups in all
    grids that come after.
    """
    begin, found, left = 0, 0, rows
    for index, item in enumerate(placed, 1):
        found += item.people
        later = len(placed) - index
        if later and (index - begin == JOINED or found * later >= left + ANOTHER):
            yield placed[begin:index]
            begin, found, left = index, 0, max(left - found, 0)
    if placed:
        yield placed[begin:]


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


def _grids(placed: Sequence[Placed]) -> list[dict[str, Any]]:
    """What templates read of grids that rows are released with."""
    return [
        {
            "number": item.grid.number,
            "mask": item.grid.mask,
            "table": item.cells,
            "x_cells": item.grid.x_cells,
            "y_cells": item.grid.y_cells,
            "width": item.grid.width,
        }
        for item in placed
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
    rows, classes, fewest, small, left_out = (
        int(item or 0) for item in workspace.row("positions/examined", classes=written.classes)
    )
    all_rows, astray = (
        int(item)
        for item in workspace.row(
            "positions/astray", rows=written.rows, labels=written.labels, time=spec.time is not None
        )
    )
    expected = found.outside + cells.left_rows
    if (rows, left_out, all_rows) != (found.rows - expected, expected, found.rows):
        raise VerificationError(
            f"verification: {rows:,} of {all_rows:,} rows got a cell where {found.rows - expected:,} of {found.rows:,} "
            "were expected (did the source change while it was read?); nothing was published"
        )
    if astray:
        raise VerificationError(f"verification: {astray:,} rows are outside of their cell; nothing was published")
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
