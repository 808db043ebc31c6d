"""No hierarchy at all: the value itself, then ``*``."""

from __future__ import annotations

from typing import ClassVar

from kanon_sql.hierarchies.kind import Kind
from kanon_sql.registers import HIERARCHIES

__all__ = ["ValueHierarchy"]


@HIERARCHIES.declare
class ValueHierarchy(Kind):
    """The value itself, then ``*``: what a quasi-identifier has that names no kind."""

    name: ClassVar[str] = "value"
    place: ClassVar[int] = 9
    build_by: ClassVar[str | None] = "value or nothing"
    drawn: ClassVar[bool] = True
    fixed_height: ClassVar[bool] = True
