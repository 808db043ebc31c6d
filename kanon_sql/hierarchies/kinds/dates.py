"""Dates by month, year and so on, each level coarser than the one before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from kanon_sql.engines import Column
from kanon_sql.errors import SpecError
from kanon_sql.hierarchies.kind import Kind
from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec.checks import Faults, choice, items, shaped
from kanon_sql.sql import Sql, render

__all__ = ["DatesHierarchy"]

_UNITS = ("day", "month", "quarter", "year", "decade", "century")
"""From fine to coarse; each nests in the next."""

_YEARS = {"decade": 10, "century": 100}


@shaped({"type": "array", "items": {"type": "string", "enum": list(_UNITS)}, "minItems": 1})
def _units(value: object) -> tuple[str, ...]:
    units = items("date units", choice("date unit", _UNITS), least=1)(value)
    faults = Faults()
    for position in range(1, len(units)):
        if _UNITS.index(units[position]) <= _UNITS.index(units[position - 1]):
            faults.add((position,), f"units must get coarser: {units[position]} comes after {units[position - 1]}")
    faults.finish()
    return units


@HIERARCHIES.declare
class DatesHierarchy(Kind):
    """A date truncated to a unit per level."""

    name: ClassVar[str] = "dates"
    place: ClassVar[int] = 3
    build_by: ClassVar[str | None] = "parts of a date"
    bounds: ClassVar[Literal["numbers", "dates"] | None] = "dates"
    assumed_type: ClassVar[tuple[str, str]] = ("DATE", "date")

    dates: Annotated[tuple[str, ...], _units] = Field(description="Date units per level, getting coarser.")

    @property
    def height(self) -> int:
        """A level per unit, and the top."""
        return 1 + len(self.dates)

    def to_dict(self) -> dict[str, Any]:
        """As a spec has it."""
        return {"dates": list(self.dates)}

    def labels_above(self, column: Column, where: str) -> list[Sql]:
        """The date in each unit."""
        if column.kind not in ("date", "timestamp"):
            raise SpecError(
                f"{where}: dates need a DATE or a TIMESTAMP without time zone, but the column is "
                f"{column.type or 'of no type'}; cast it in a source query"
            )
        return [render("hierarchies/levels/dates", unit=unit, years=_YEARS.get(unit)) for unit in self.dates]

    def typed(self, values: Sequence[str], where: str) -> Column:
        """Dates in ISO form."""
        wrong = sum(not _is_date(value) for value in values)
        if wrong:
            raise SpecError(
                f"{where}: {wrong:,} of the {len(values):,} values given are not dates such as 2000-12-31; "
                "correct or remove them"
            )
        return Column("", "DATE", "date")

    def level_name(self, level: int, columns: Sequence[str]) -> str:
        """The unit."""
        return self.dates[level - 1]

    def meaning(self, level: int) -> str:
        """The unit."""
        return f"the {self.dates[level - 1]}"


def _is_date(value: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True
