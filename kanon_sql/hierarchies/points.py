"""Cells of a quad-tree as labels of two columns together: ``[10, 11) x [20, 21)``.

A point is read as the text of its finest cell, so that from there on it is a column like others. Coarser cells are told
from where that text says that the finest one begins. Both edges of an interval are exact decimals, so that a label is
true of the very coordinates (Gruteser, Grunwald 2003, section 4, divide an area so).
"""

from __future__ import annotations

from math import ceil, floor

from kanon_sql.engines import Column
from kanon_sql.hierarchies.exact import number_text, whole_units
from kanon_sql.spec import Point
from kanon_sql.sql import Sql, identifier, render

__all__ = ["cell_label", "cell_of", "coordinates"]


def coordinates(point: Point, columns: tuple[Column, Column], table: str) -> tuple[Sql, Sql]:
    """The coordinates of a point in whole units of their last digit, rounded down; NULL far outside of the bounds.

    Args:
        point: the point.
        columns: across and up, of numbers.
        table: the alias of their table.
    """
    x, y = (
        render(
            "hierarchies/levels/coordinate",
            value=(value := Sql(f"{identifier(table)}.{identifier(column.name)}")),
            units=whole_units(value, point.digits, column.kind),
            least=floor(point.bounds[place]) - 1,
            most=ceil(point.bounds[place + 2]) + 1,
        )
        for place, column in enumerate(columns)
    )
    return x, y


def cell_of(point: Point, x: Sql, y: Sql) -> Sql:
    """The finest cell that coordinates in whole units lie in, as text; NULL outside of the bounds."""
    low_x, low_y, high_x, high_y = (int(bound * 10**point.digits) for bound in point.bounds)
    label = _label(point, point.depths[0], x, y)
    return render(
        "hierarchies/levels/cell", x=x, y=y, low_x=low_x, low_y=low_y, high_x=high_x, high_y=high_y, label=label
    )


def cell_label(point: Point, depth: int) -> Sql:
    """The cell of a depth in which the finest cell lies that the text ``value`` names."""
    x, y = (render("hierarchies/levels/corner", across=across) for across in (True, False))
    return _label(point, depth, x, y)


def _label(point: Point, depth: int, x: Sql, y: Sql) -> Sql:
    unit, edges = 10**point.digits, {}
    for name, units, low, side in zip("xy", (x, y), point.bounds[:2], point.sides(depth), strict=True):
        width = int(side * unit)
        begin = render("hierarchies/levels/floor", scaled=units, origin=int(low * unit), width=width)
        edges[f"{name}_from"] = number_text(begin, point.digits)
        edges[f"{name}_to"] = number_text(Sql(f"({begin} + {width})"), point.digits)
    return render("hierarchies/levels/box", **edges)
