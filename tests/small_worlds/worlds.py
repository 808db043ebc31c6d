"""Many small tables side by side, as arrays of codes: a *world* is one table, or one table at one node of a lattice.

A column is an array of whole numbers, and ``NULL`` is -1. All worlds are grouped in one sort.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

NULL = -1


@dataclass(frozen=True)
class Rows:
    """The rows of all worlds.

    Attributes:
        world: the world of each row.
        worlds: how many worlds there are; some may have no row.
        columns: the codes by column.
    """

    world: Ints
    worlds: int
    columns: Mapping[str, Ints]

    def where(self, chosen: Flags) -> Rows:
        """Some of the rows, in as many worlds."""
        return Rows(self.world[chosen], self.worlds, {name: codes[chosen] for name, codes in self.columns.items()})

    def sizes(self) -> Ints:
        """The number of rows per world."""
        return counted(self.world, self.worlds)

    def classes(self, names: Iterable[str]) -> Classes:
        """The rows of each world that agree in some columns, NULL being a value of its own."""
        key = packed([self.world, *(self.columns[name] for name in names)])
        _, first, of_row = np.unique(key, return_index=True, return_inverse=True)
        return Classes(of_row.reshape(-1), self.world[first], len(first), self.worlds)


@dataclass(frozen=True)
class Classes:
    """The equivalence classes of all worlds.

    Attributes:
        of_row: the class of each row.
        world: the world of each class.
        count: how many classes there are.
        worlds: how many worlds there are.
    """

    of_row: Ints
    world: Ints
    count: int
    worlds: int

    def rows(self) -> Ints:
        """How many rows each class has."""
        return counted(self.of_row, self.count)

    def per_world(self, values: Ints) -> Ints:
        """The sum of a number of each class, per world."""
        return counted(self.world, self.worlds, values)


def counted(places: Ints, count: int, weights: Ints | None = None) -> Ints:
    """How often each place occurs, or the sum of its weights (whole numbers far below 2^53)."""
    return np.bincount(places, weights, minlength=count).astype(np.int64)


def packed(columns: Sequence[Ints]) -> Ints:
    """One number per row, equal where all columns are; refuses what 62 bits do not hold."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    room = 1
    for codes in columns:
        base = int(codes.max(initial=NULL)) + 2
        room *= base
        assert room < 2**62, "too many values for one number"
        key = key * base + codes + 1
    return key


def holders(rows: Rows, classes: Classes, unit: str | None, *columns: str) -> tuple[Ints, list[Ints]]:
    """What counts once: rows, or (with a unit) the different persons per class and value; rows of nobody do not.

    Returns:
        The class of each, and its codes of ``columns``.
    """
    if unit is None:
        return classes.of_row, [rows.columns[name] for name in columns]
    known = rows.columns[unit] != NULL
    parts = [classes.of_row[known], *(rows.columns[name][known] for name in (*columns, unit))]
    _, first = np.unique(packed(parts), return_index=True)
    return parts[0][first], [codes[first] for codes in parts[1:-1]]


def class_sizes(rows: Rows, classes: Classes, unit: str | None) -> Ints:
    """Rows per class, or different persons."""
    return counted(holders(rows, classes, unit)[0], classes.count)


def histogram(rows: Rows, classes: Classes, attribute: str, values: int, unit: str | None) -> Ints:
    """Per class, how many rows (or persons) hold NULL (column 0) and each of the attribute's values."""
    of, (codes,) = holders(rows, classes, unit, attribute)
    width = values + 1
    return counted(of * width + codes + 1, classes.count * width).reshape(classes.count, width)


def whole(rows: Rows) -> Classes:
    """Every world as one class, also one without rows."""
    return Classes(rows.world, np.arange(rows.worlds), rows.worlds, rows.worlds)


def has_null(rows: Rows, name: str) -> Flags:
    """Per world, whether a column holds a NULL."""
    return counted(rows.world[rows.columns[name] == NULL], rows.worlds) > 0
