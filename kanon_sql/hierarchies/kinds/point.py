"""Two columns as cells of a quad-tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import HierarchyError
from kanon_sql.hierarchies.kind import Kind
from kanon_sql.hierarchies.points import cell_label
from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec import Point
from kanon_sql.spec.checks import Check
from kanon_sql.sql import Relation, Sql, exact_text

__all__ = ["PointHierarchy"]


@HIERARCHIES.declare
class PointHierarchy(Kind):
    """The cells of a quad-tree over two columns; the value is the finest cell of the point, as text."""

    name: ClassVar[str] = "point"
    place: ClassVar[int] = 7
    holds_labels: ClassVar[bool] = True
    never_number: ClassVar[str | None] = "a cell of two columns is not a number; use as: text"
    never_dimension: ClassVar[str | None] = (
        "a point is two columns, and a dimension is one; name the cells in a source query"
    )
    never_grows: ClassVar[str | None] = "a state does not keep points; with a state, make their cells in a view"
    never_in_view: ClassVar[str | None] = "cells of points are computed while a release is made; publish a table"
    needs_database: ClassVar[str | None] = (
        "its cells are made of two columns of the source; leave --values out and name the database"
    )

    point: Annotated[Point, Check(Point.model_validate)] = Field(
        description="Two columns, generalized together to the cells of a quad-tree."
    )

    @property
    def height(self) -> int:
        """A level per depth; the finest is the value."""
        return len(self.point.depths)

    def to_dict(self) -> dict[str, Any]:
        """As a spec has it."""
        return {"point": self.point.to_dict()}

    def labels_above(self, column: Column, where: str) -> list[Sql]:
        """A cell per depth but the finest."""
        return [cell_label(self.point, depth) for depth in self.point.depths[1:]]

    def refuse_values(self, workspace: Workspace, where: str, column: Column, raw: Relation, raw_column: str) -> None:
        """Refuse texts that are no finest cells: a table that is compared with the source may hold others."""
        depth = self.point.depths[0]
        label = exact_text(Sql(f"({cell_label(self.point, depth)})"))
        (found,) = workspace.row("hierarchies/foreign", raw=raw, raw_column=raw_column, label=label)
        if found:
            raise HierarchyError(
                f"{where}: {int(found):,} distinct values are not cells of depth {depth} as they are written for "
                "the source; leave the rows out, or give cells of this depth"
            )

    @property
    def value_name(self) -> str:
        """The finest cells."""
        return self.level_name(0, ())

    def level_name(self, level: int, columns: Sequence[str]) -> str:
        """The depth."""
        return f"cells of depth {self.point.depths[level]}"

    def meaning(self, level: int) -> str:
        """Cells."""
        return f"cells of a quad-tree, level {level}"
