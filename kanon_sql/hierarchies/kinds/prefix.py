"""Texts by their first characters, each level keeping fewer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from kanon_sql.engines import Column
from kanon_sql.hierarchies.kind import Kind
from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec.checks import Faults, integer, items, shaped
from kanon_sql.sql import Sql, render

__all__ = ["PrefixHierarchy"]


@shaped({"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1})
def _lengths(value: object) -> tuple[int, ...]:
    lengths = items("prefix lengths", integer("a prefix length", 1), least=1)(value)
    faults = Faults()
    for position in range(1, len(lengths)):
        if lengths[position] >= lengths[position - 1]:
            faults.add(
                (position,),
                f"prefixes must get shorter: {lengths[position]} comes after {lengths[position - 1]}",
            )
    faults.finish()
    return lengths


@HIERARCHIES.declare
class PrefixHierarchy(Kind):
    """The first characters per level, the rest masked."""

    name: ClassVar[str] = "prefix"
    place: ClassVar[int] = 2
    build_by: ClassVar[str | None] = "characters kept"
    drawn: ClassVar[bool] = True

    prefix: Annotated[tuple[int, ...], _lengths] = Field(
        description="Characters kept per level, getting fewer; the rest is masked."
    )

    @property
    def height(self) -> int:
        """A level per length, and the top."""
        return 1 + len(self.prefix)

    def to_dict(self) -> dict[str, Any]:
        """As a spec has it."""
        return {"prefix": list(self.prefix)}

    def labels_above(self, column: Column, where: str) -> list[Sql]:
        """A prefix per length."""
        return [render("hierarchies/levels/prefix", keep=keep) for keep in self.prefix]

    def level_name(self, level: int, columns: Sequence[str]) -> str:
        """The length."""
        kept = self.prefix[level - 1]
        return "first character" if kept == 1 else f"first {kept} characters"

    def meaning(self, level: int) -> str:
        """The length."""
        return f"the {self.level_name(level, ())}"
