"""Cloaked rows beside the people and positions they come from: written once, and examined by their labels alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import Workspace
from kanon_sql.errors import VerificationError
from kanon_sql.hierarchies import number_text
from kanon_sql.positions.cloak import Cloaked
from kanon_sql.positions.grid import Grid
from kanon_sql.positions.points import Points
from kanon_sql.spec import CloakSpec
from kanon_sql.sql import Relation, Sql, identifier

__all__ = ["LEFT_OUT", "Examined", "Staged", "examined", "levels", "staged_rows"]

LEFT_OUT = "kanon_left_out"
"""The column that marks rows which are not released."""


@dataclass(frozen=True)
class Staged:
    """All rows of the source, with the labels of those that are released.

    Attributes:
        table: a scratch table.
        names: the columns of the release, in the source's order.
        labels: of these, those that are labels.
    """

    table: Relation
    names: Sequence[str]
    labels: Sequence[str]


@dataclass(frozen=True)
class Examined:
    """What was found in what was written.

    Attributes:
        rows: released rows.
        classes: how many different labels they have.
        fewest: the fewest people with the same label.
        fewest_present: where all who were there count: the fewest people in a released cell and slice.
    """

    rows: int
    classes: int
    fewest: int
    fewest_present: int | None


def staged_rows(workspace: Workspace, spec: CloakSpec, found: Points, cloaked: Cloaked) -> Staged:
    """Write all rows with their labels: one more pass over the source.

    Args:
        workspace: where.
        spec: names the columns.
        found: the source's positions.
        cloaked: their cells; some of them are released.
    """
    workspace.report("writing the labels: one pass over the source", None)
    labels = _labels(workspace, found, cloaked)
    shown = dict(zip(spec.position.columns, ("x_label", "y_label"), strict=True))
    if spec.time is not None:
        shown[spec.time.column] = "t_label"
    kept = {name: f"keyed.kept{index}" for index, name in enumerate(spec.keep)}
    names = [name for name in found.columns if name in shown or name in kept]
    outputs = [{"name": name, "value": Sql(kept.get(name) or f"labels.{shown[name]}")} for name in names]
    target = workspace.table("staged")
    workspace.execute(
        "positions/staged",
        target=target,
        keyed=found.keyed,
        outputs=outputs,
        grids=_grids(cloaked),
        labels=labels,
        wish=found.wishes,
        time=spec.time is not None,
    )
    return Staged(target, names, [name for name in names if name in shown])


def _labels(workspace: Workspace, found: Points, cloaked: Cloaked) -> Relation:
    layout = found.layout
    cells = workspace.table("released_cells")
    workspace.execute(
        "positions/cells",
        target=cells,
        grids=_grids(cloaked),
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
        "positions/labels", target=labels, cells=cells, texts=texts, time=bool(layout.steps) or None, calendar=calendar
    )
    return labels


def _grids(cloaked: Cloaked) -> list[dict[str, Any]]:
    """What templates read of the grids that release something."""
    return [
        {
            "number": placed.grid.number,
            "table": placed.table,
            "x_cells": placed.grid.x_cells,
            "y_cells": placed.grid.y_cells,
            "width": placed.grid.width,
        }
        for placed in cloaked.placed
    ]


def examined(workspace: Workspace, spec: CloakSpec, found: Points, cloaked: Cloaked, staged: Staged) -> Examined:
    """Examine what was written: by its labels, and where the spec counts all who were there, by cells as well.

    Args:
        workspace: where.
        spec: how many people a class takes, and who counts.
        found: how many rows there were.
        cloaked: how many of them are left out.
        staged: what was written.

    Raises:
        VerificationError: it is not what was promised.
    """
    workspace.report("verifying what was written", None)
    given = {"staged": staged.table, "wish": found.wishes, "k": spec.k.k}
    rows, classes, fewest, small, astray, all_rows, left_out = (
        int(item or 0) for item in workspace.row("positions/examined", names=staged.labels, **given)
    )
    expected = found.outside + cloaked.left_rows
    if (rows, left_out, all_rows) != (found.rows - expected, expected, found.rows):
        raise VerificationError(
            f"verification: {rows} of {all_rows} rows were written where {found.rows - expected} of {found.rows} were "
            "expected (did the source change while it was read?); the table was dropped"
        )
    if astray:
        raise VerificationError(f"verification: {astray:,} rows lie outside of their cell; the table was dropped")
    present = None
    if spec.anonymity_set == "present":
        present = _fewest_present(workspace, cloaked, given)
    elif small:
        raise VerificationError(f"verification: {small:,} classes have too few people; the table was dropped")
    return Examined(rows, classes, fewest, present)


def _fewest_present(workspace: Workspace, cloaked: Cloaked, given: dict[str, Any]) -> int:
    fewest = []
    for placed in cloaked.placed:
        found = workspace.row("positions/present", number=placed.grid.number, mask=placed.grid.mask, **given)
        cells, people, small = (int(item or 0) for item in found)
        if small:
            raise VerificationError(f"verification: {small:,} cells have too few people; the table was dropped")
        if cells:
            fewest.append(people)
    return min(fewest)


def levels(workspace: Workspace, found: Points, staged: Staged) -> list[tuple[Grid, int, int]]:
    """Per grid that rows are released with, in the order in which they are tried: its cells and its rows."""
    grids = found.layout.grids
    listed = workspace.fetch("positions/levels", len(grids), staged=staged.table)
    return [(grids[int(number)], int(cells), int(rows)) for number, cells, rows in sorted(listed)]
