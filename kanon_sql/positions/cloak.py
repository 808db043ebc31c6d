"""Cloak points: the finest cell and slice that enough people share, grid by grid (Gruteser and Grunwald 2003).

Within a segment the cells of a grid lie in those of the next. So a cell with fewer points than it needs people has none
below it that has enough, and points are first divided, from the coarsest grid on, by how fine they can be at all: each
level looks only at what is left. Then the grids are climbed from the finest on. A cell with enough people is released,
and its points leave; the others go on to the next grid together with those that could not be finer.

Who counts is the spec's: people who are still there, and are released with the very same cell (``released``), or all
who were there (``present``), as Gruteser and Grunwald count them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kanon_sql.engines import Workspace
from kanon_sql.positions.grid import Grid
from kanon_sql.positions.points import Points
from kanon_sql.spec import CloakSpec
from kanon_sql.sql import Relation

__all__ = ["Cloaked", "Placed", "cloaked"]

WORTH_DIVIDING = 0.75
"""Points are divided where at most this share of them can be finer: dividing reads and writes them once more."""


@dataclass(frozen=True)
class Placed:
    """What is released with the cells of one grid.

    Attributes:
        grid: the grid.
        table: the finest cell and slice (and wish) of its points -> its cell, a scratch table.
    """

    grid: Grid
    table: Relation


@dataclass(frozen=True)
class Cloaked:
    """Points with their cells.

    Attributes:
        placed: per grid that releases something, what it does.
        left_rows: rows of the source whose points got no cell, those outside of the bounds not among them.
    """

    placed: Sequence[Placed]
    left_rows: int


def cloaked(workspace: Workspace, spec: CloakSpec, found: Points) -> Cloaked:
    """Find the cell of every point.

    Args:
        workspace: where.
        spec: how many people a cell takes, and who counts.
        found: the points.
    """
    climb = _Climb(workspace, spec, found.wishes)
    remaining: Sequence[Relation] = [found.table]
    for segment in found.layout.segments:
        everyone = [found.table] if climb.everyone else remaining
        remaining = climb.segment(segment, remaining, everyone)
        if not remaining:
            break
    left = int(workspace.row("positions/left", tables=remaining)[0]) if remaining else 0
    return Cloaked(climb.placed, left)


@dataclass
class _Climb:
    """Cloaking under way.

    Attributes:
        workspace: where.
        spec: what was asked.
        wishes: whether each row has a k of its own.
        placed: what was released so far.
    """

    workspace: Workspace
    spec: CloakSpec
    wishes: bool
    placed: list[Placed] = field(default_factory=list)
    _made: int = 0

    @property
    def everyone(self) -> bool:
        """Whether people count who are released with other cells."""
        return self.spec.anonymity_set == "present"

    def segment(
        self, grids: Sequence[Grid], remaining: Sequence[Relation], everyone: Sequence[Relation]
    ) -> Sequence[Relation]:
        """Release what the grids of a segment can; returns the points that are left.

        Args:
            grids: the finest first.
            remaining: the points that have no cell yet.
            everyone: the points that count.
        """
        finest, points, counted = self._descend(grids, remaining, everyone)
        carried: list[Relation] = []
        for index in range(finest, len(grids)):
            carried += points.get(index, [])
            if carried:
                carried = self._release(grids[index], carried, counted[index] if self.everyone else carried)
        return carried

    def _descend(
        self, grids: Sequence[Grid], remaining: Sequence[Relation], everyone: Sequence[Relation]
    ) -> tuple[int, dict[int, list[Relation]], dict[int, list[Relation]]]:
        """Divide the points by how fine they can be.

        Returns:
            The finest grid with a cell of enough points; grid -> the points that can be no finer; and grid -> the
            points that count there.
        """
        open_points, all_points = list(remaining), list(everyone)
        points: dict[int, list[Relation]] = {}
        counted = {len(grids) - 1: all_points}
        finest, size = len(grids) - 1, self.workspace.size(all_points)
        for index in range(len(grids) - 2, -1, -1):
            grid = grids[index]
            self.workspace.report(f"looking how fine cells can be: depth {grid.depth:g}", None)
            cells = self._cells("positions/candidates", grid, all_points)
            count, inside = (int(item) for item in self.workspace.row("positions/size", cells=cells))
            if not count:
                break
            if inside <= WORTH_DIVIDING * size:
                points[index + 1] = [self._parted(grid, open_points, cells, inside=False)]
                open_points = [self._parted(grid, open_points, cells, inside=True)]
                all_points = [self._parted(grid, all_points, cells, inside=True)] if self.everyone else open_points
                size = inside
            counted[index] = all_points
            finest = index
        points.setdefault(finest, []).extend(open_points)
        return finest, points, counted

    def _release(self, grid: Grid, carried: list[Relation], counted: Sequence[Relation]) -> list[Relation]:
        """Release the cells of a grid that have enough people; returns the points that are left."""
        self.workspace.report(f"cloaking: cells of depth {grid.depth:g}", None)
        cells = self._cells("positions/satisfied", grid, counted, everyone=self.everyone)
        if not int(self.workspace.row("positions/size", cells=cells)[0]):
            return carried
        target = self._table("placed")
        self.workspace.execute(
            "positions/placed", target=target, tables=carried, cells=cells, mask=grid.mask, wish=self.wishes
        )
        self.placed.append(Placed(grid, target))
        return [self._parted(grid, carried, cells, inside=False, most=self.wishes)]

    def _cells(self, template: str, grid: Grid, tables: Sequence[Relation], **more: bool) -> Relation:
        target = self._table("cells")
        self.workspace.execute(
            template, target=target, tables=list(tables), mask=grid.mask, wish=self.wishes, k=self.spec.k.k, **more
        )
        return target

    def _parted(
        self, grid: Grid, tables: Sequence[Relation], cells: Relation, *, inside: bool, most: bool = False
    ) -> Relation:
        target = self._table("parted")
        self.workspace.execute(
            "positions/parted",
            target=target,
            tables=list(tables),
            cells=cells,
            mask=grid.mask,
            wish=self.wishes,
            inside=inside,
            most=most,
        )
        return target

    def _table(self, what: str) -> Relation:
        self._made += 1
        return self.workspace.table(f"{what}{self._made}")
