"""Cloak points: the finest cell and slice that enough people share, grid by grid (Gruteser and Grunwald 2003).

Within a segment the cells of a grid lie in those of the next. So a cell with fewer points than it needs people has none
below it that has enough, and points are first divided, from the coarsest grid on, by how fine they can be at all: each
level looks only at what is left. Then the grids are climbed from the finest on. A cell with enough people is released,
and its points leave; the others go on to the next grid together with those that could not be finer.

Who counts is the spec's: people who are still there, and are released with the very same cell (``released``), or all
who were there (``present``), as Gruteser and Grunwald count them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.engines import Workspace
from kanon_sql.positions.grid import Grid
from kanon_sql.positions.keys import Points
from kanon_sql.spec import CloakSpec
from kanon_sql.sql import Relation

__all__ = ["Cloaked", "Placed", "cloaked"]

WORTH_DIVIDING = 0.75
"""Points are divided where at most this share of them can be finer: dividing reads and writes them once more."""

NEARLY_ALL = 0.98
"""Where this many points can be finer, the next grid is not asked: it would hardly tell more."""

CROWDED = 4
"""Cells that hold this many times the points that they need people, in the mean, are taken to have enough."""


@dataclass(frozen=True)
class Placed:
    """What the cells of one grid are for.

    Attributes:
        grid: the grid.
        cells: its cells with enough people, and the largest k that each meets where rows have a k of their
            own; a scratch table. A point has the cell of the first grid, in their order, with one for it.
        count: how many cells these are. All cells of all grids are numbered, in this order.
        people: how many people were counted in each of them, all together: about this many rows are released with them.
    """

    grid: Grid
    cells: Relation
    count: int
    people: int


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
    climb = _Climb(workspace, spec, found.per_row_k)
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
        per_row_k: whether each row has a k of its own.
        placed: what was released so far.
    """

    workspace: Workspace
    spec: CloakSpec
    per_row_k: bool
    placed: list[Placed] = field(default_factory=list)
    _count: int = 0

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
        counted = dict.fromkeys(range(len(grids)), all_points)
        finest, size, full = len(grids) - 1, self.workspace.size(all_points), False
        for index in range(len(grids) - 2, -1, -1):
            grid = grids[index]
            if full or self._is_crowded(grid, size):
                finest, full = index, False
                continue
            self.workspace.report(f"looking how fine cells can be: depth {grid.depth}", None)
            cells = self._made("positions/candidates", "cells", grid, all_points, k=self.spec.k.k)
            count, inside = self._size(cells)
            if not count:
                break
            finest, full = index, inside >= NEARLY_ALL * size
            if inside <= WORTH_DIVIDING * size:
                points[index + 1] = [self._divided(grid, open_points, cells, inside=False)]
                open_points = [self._divided(grid, open_points, cells, inside=True)]
                all_points = [self._divided(grid, all_points, cells, inside=True)] if self.everyone else open_points
                counted |= dict.fromkeys(range(index + 1), all_points)
                size = inside
        points.setdefault(finest, []).extend(open_points)
        return finest, points, counted

    def _is_crowded(self, grid: Grid, size: int) -> bool:
        """Whether a grid's cells hold enough points in the mean that it is not worth asking which have enough.

        Some cell has, since not all of them hold fewer points than the mean.
        """
        k = self.spec.k.k
        return k is not None and grid.most_cells is not None and size >= CROWDED * k * grid.most_cells

    def _release(self, grid: Grid, carried: list[Relation], counted: Sequence[Relation]) -> list[Relation]:
        """Release the cells of a grid that have enough people; returns the points that are left."""
        self.workspace.report(f"cloaking: cells of depth {grid.depth}", None)
        earlier = {"earlier": str(sum(placed.count for placed in self.placed))}
        cells = self._made(
            "positions/satisfied", "cells", grid, counted, fills=earlier, k=self.spec.k.k, everyone=self.everyone
        )
        count, people = self._size(cells)
        if not count:
            return carried
        self.placed.append(Placed(grid, cells, count, people))
        return [self._made("positions/parted", "parted", grid, carried, cells, inside=False, most=self.per_row_k)]

    def _divided(self, grid: Grid, tables: Sequence[Relation], cells: Relation, *, inside: bool) -> Relation:
        return self._made("positions/parted", "parted", grid, tables, cells, inside=inside, most=False)

    def _size(self, cells: Relation) -> tuple[int, int]:
        """How many cells there are, and points in them."""
        fills = {"cells": self.workspace.quoted(cells)}
        ((count, inside),) = self.workspace.query(self.workspace.compiler.filled("positions/size", fills), 1)
        return int(count), int(inside)

    def _made(
        self,
        template: str,
        what: str,
        grid: Grid,
        tables: Sequence[Relation],
        cells: Relation | None = None,
        *,
        fills: Mapping[str, str] | None = None,
        **context: Any,
    ) -> Relation:
        """A scratch table of points and the cells of a grid; compiled once, whatever these are."""
        self._count += 1
        slots = {f"points_{number}": table for number, table in enumerate(tables)}
        if cells is not None:
            slots["cells"] = cells
        return self.workspace.make(
            template,
            f"{what}{self._count}",
            slots,
            {"mask": str(grid.mask), **(fills or {})},
            tables=len(tables),
            per_row_k=self.per_row_k,
            **context,
        )
