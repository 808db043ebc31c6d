"""Grids: a quad-tree's cells of one size, with slices of one width, as masks over the bits of a key.

A key holds, from its highest bit on, the number of the finest column of cells, that of the finest row, and the path of
the slice: the number of the coarsest slice, then that of each finer one within it. A quad-tree's cell is the highest
bits of both numbers. Interleaved they would be a Morton code; the order of the bits does not matter to a mask.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kanon_sql.spec import CloakSpec

__all__ = ["Axis", "Grid", "Layout", "Step"]


Shape = Literal["cell", "side_by_side", "above"]


@dataclass(frozen=True)
class Axis:
    """One coordinate, in whole units.

    Attributes:
        low: where the bounds begin.
        side: the width of a finest cell.
        place: what the number of a cell is multiplied by in a key.
        cells: how many finest cells there are.
    """

    low: int
    side: int
    place: int
    cells: int

    @property
    def high(self) -> int:
        """Where the bounds end."""
        return self.low + self.side * self.cells

    def fields(self) -> dict[str, int]:
        """What templates read."""
        return {"low": self.low, "high": self.high, "side": self.side, "place": self.place, "cells": self.cells}


@dataclass(frozen=True)
class Step:
    """Slices of one width.

    Attributes:
        width: in seconds.
        wider: the width of the next coarser slices; None for the coarsest.
        place: what the number of a slice is multiplied by in a key.
        count: how many numbers there are: within the next coarser slice, or at all.
    """

    width: int
    wider: int | None
    place: int
    count: int

    def fields(self) -> dict[str, int | None]:
        """What templates read."""
        times = None if self.wider is None else self.wider // self.width
        return {"width": self.width, "wider": self.wider, "times": times, "place": self.place, "count": self.count}


@dataclass(frozen=True)
class Grid:
    """All cells and slices of one size.

    Attributes:
        number: its place in the order in which grids are tried, from 1.
        mask: the bits of a key that distinguish its cells.
        most_cells: how many cells it has, empty ones among them; None with a time, whose slices are not numbered.
        x_cells: how many finest cells one of its cells is wide.
        y_cells: how many it is high.
        width: the width of its slices in seconds; None without a time.
        shape: one cell of the quad-tree, or two neighbours beside or above each other.
        depth: the depth of its cells in the quad-tree, or of both neighbours.
    """

    number: int
    mask: int
    most_cells: int | None
    x_cells: int
    y_cells: int
    width: int | None
    shape: Shape
    depth: int


@dataclass(frozen=True)
class Layout:
    """Where the parts of a key are.

    Attributes:
        digits: a unit of coordinates is 10^-digits.
        x: across.
        y: up.
        steps: slices, the finest first; none without a time.
        origin: where slices begin, in seconds since 1970.
        segments: the grids in the order in which they are tried; in a segment, a grid's cells lie in those of the next.
    """

    digits: int
    x: Axis
    y: Axis
    steps: tuple[Step, ...]
    origin: int
    segments: tuple[tuple[Grid, ...], ...]

    @classmethod
    def of(cls, spec: CloakSpec) -> Layout:
        """The layout of a spec's keys."""
        digits, position = spec.digits, spec.position
        assert digits is not None
        depth, unit = position.depth, 10**digits
        steps = _steps(spec)
        time_bits = sum(spec.slice_bits) + spec.index_bits if steps else 0
        (low_x, low_y), (side_x, side_y) = position.bounds[:2], position.sides
        x = Axis(int(low_x * unit), int(side_x * unit), 1 << (depth + time_bits), 1 << depth)
        y = Axis(int(low_y * unit), int(side_y * unit), 1 << time_bits, 1 << depth)
        origin = 0 if spec.time is None else spec.time.origin
        return cls(digits, x, y, steps, origin, _segments(spec, x, y, steps))

    @property
    def grids(self) -> dict[int, Grid]:
        """All grids by their number."""
        return {grid.number: grid for segment in self.segments for grid in segment}

    @property
    def seconds(self) -> int:
        """How many seconds after the origin are in slices."""
        return self.steps[-1].width * self.steps[-1].count


def _steps(spec: CloakSpec) -> tuple[Step, ...]:
    if spec.time is None:
        return ()
    widths, bits = spec.time.widths, (*spec.slice_bits, spec.index_bits)
    found, place = [], 1
    for index, (width, own) in enumerate(zip(widths, bits, strict=True)):
        wider = widths[index + 1] if index + 1 < len(widths) else None
        found.append(Step(width, wider, place, 1 << own))
        place <<= own
    return tuple(found)


def _sizes(spec: CloakSpec) -> Iterator[tuple[int, int, Shape, int]]:
    """Per grid of cells, the finest first: how often each axis is halved, the shape, and the depth.

    Of neighbours, those beside each other come before those above each other.
    """
    for depth in range(spec.position.depth, spec.position.coarsest, -1):
        yield depth, depth, "cell", depth
        if spec.position.neighbours:
            yield depth - 1, depth, "side_by_side", depth
            yield depth, depth - 1, "above", depth
    yield spec.position.coarsest, spec.position.coarsest, "cell", spec.position.coarsest


def _segments(spec: CloakSpec, x: Axis, y: Axis, steps: tuple[Step, ...]) -> tuple[tuple[Grid, ...], ...]:
    depth, sizes = spec.position.depth, list(_sizes(spec))
    slices = list(range(len(steps))) or [-1]
    by_space = spec.time is None or spec.coarsen == "space"
    orders = [[(size, own) for size in sizes] for own in slices] if by_space else [
        [(size, own) for own in slices] for size in sizes
    ]  # fmt: skip
    number, segments = 0, []
    for order in orders:
        grids: list[Grid] = []
        for (halved_x, halved_y, shape, at), own in order:
            number += 1
            mask = _highest(halved_x, depth) * x.place + _highest(halved_y, depth) * y.place
            mask += sum((step.count - 1) * step.place for step in steps[max(own, 0) :])
            width = steps[own].width if steps else None
            cells = None if steps else 1 << (halved_x + halved_y)
            grids.append(Grid(number, mask, cells, 1 << (depth - halved_x), 1 << (depth - halved_y), width, shape, at))
        segments.append(tuple(grids))
    return tuple(part for segment in segments for part in _chains(segment))


def _chains(grids: tuple[Grid, ...]) -> Iterator[tuple[Grid, ...]]:
    """The grids, divided where the cells of one do not lie in those of the next: neighbours above each other."""
    begin = 0
    for index in range(1, len(grids)):
        if grids[index].mask & ~grids[index - 1].mask:
            yield grids[begin:index]
            begin = index
    yield grids[begin:]


def _highest(bits: int, of: int) -> int:
    """The highest bits of a number as a mask."""
    return ((1 << bits) - 1) << (of - bits)
