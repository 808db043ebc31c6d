"""Dates by month, year and so on, each level coarser than the one before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any, ClassVar, Literal
from zoneinfo import available_timezones

from pydantic import Field

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.hierarchies.kind import Kind
from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec.checks import Check, Faults, ListOr, Part, choice, did_you_mean, fail, items, quote, shaped, text
from kanon_sql.sql import Relation, Sql, render

__all__ = ["Dates", "DatesHierarchy"]

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


def _zone(value: object) -> str:
    """A name of the tz database that means the same everywhere: no abbreviation, and no offset, whose sign does not."""
    named = text("a time zone, such as Europe/Berlin or UTC")(value)
    if named == "UTC":
        return named
    known = available_timezones()  # none where the system has no tz database
    if "/" not in named or (known and named not in known):
        near = did_you_mean(named, [*(name for name in known if "/" in name), "UTC"]) if known else ""
        hint = (
            near if near.startswith("; did") else "; expected a name of the tz database, such as Europe/Berlin, or UTC"
        )
        fail(f"unknown time zone {quote(named)}{hint}")
    return named


class Dates(Part):
    """Parts of a date per level, and the zone in which a point in time has its date.

    Attributes:
        levels: units per level, getting coarser.
        zone: of a column of points in time (TIMESTAMP WITH TIME ZONE), the zone whose calendar and clock count.
    """

    expected: ClassVar[str] = "a list of date units, or {levels: [day, month], zone: Europe/Berlin}"

    levels: Annotated[tuple[str, ...], _units] = Field(description="Date units per level, getting coarser.")
    zone: Annotated[str | None, Check(_zone, {"type": "string", "minLength": 1})] = Field(
        default=None, description="For TIMESTAMP WITH TIME ZONE: the time zone whose dates these are."
    )


@HIERARCHIES.declare
class DatesHierarchy(Kind):
    """A date truncated to a unit per level."""

    name: ClassVar[str] = "dates"
    place: ClassVar[int] = 3
    build_by: ClassVar[str | None] = "parts of a date"
    bounds: ClassVar[Literal["numbers", "dates"] | None] = "dates"

    dates: Annotated[Dates, ListOr(Dates, "levels")] = Field(
        description="Date units per level, getting coarser; or a mapping with a zone, for points in time."
    )

    @property
    def height(self) -> int:
        """A level per unit, and the top."""
        return 1 + len(self.dates.levels)

    @property
    def assumed_type(self) -> tuple[str, str]:
        """What it is of."""
        return ("DATE", "date") if self.dates.zone is None else ("TIMESTAMP WITH TIME ZONE", "moment")

    @property
    def zone(self) -> str | None:
        """As the spec says."""
        return self.dates.zone

    def to_dict(self) -> dict[str, Any]:
        """As a spec has it."""
        written = self.dates.model_dump(mode="json", exclude_defaults=True)
        return {"dates": written["levels"] if len(written) == 1 else written}

    def labels_above(self, column: Column, where: str) -> list[Sql]:
        """The date in each unit."""
        zone, value = self.dates.zone, Sql("value")
        if zone is not None and column.kind in ("date", "timestamp"):
            raise SpecError(
                f"{where}: zone is for points in time (TIMESTAMP WITH TIME ZONE), but the column is {column.type}, "
                "which has a date of its own; leave zone out"
            )
        if zone is None and column.kind == "moment":
            raise SpecError(
                f"{where}: the column is {column.type}, points in time, whose dates depend on a time zone; add one: "
                "dates: {levels: [...], zone: Europe/Berlin}, or zone: UTC"
            )
        if column.kind not in ("date", "timestamp", "moment"):
            raise SpecError(
                f"{where}: dates need a DATE or a TIMESTAMP, but the column is {column.type or 'of no type'}; cast it "
                "in a source query"
            )
        if zone is not None:
            value = render("hierarchies/levels/local", value=value, zone=zone)
        return [
            render("hierarchies/levels/dates", value=value, unit=unit, years=_YEARS.get(unit))
            for unit in self.dates.levels
        ]

    def refuse_values(self, workspace: Workspace, where: str, column: Column, raw: Relation, raw_column: str) -> None:
        """Refuse a zone that the engine was not tried with, or does not know."""
        zone, engine = self.dates.zone, workspace.dialect.name
        if zone is None:
            return
        if not workspace.dialect.zones:
            raise UnsupportedError(
                f"{where}: time zones were not tried on {engine}; make dates of the times in a source query"
            )
        local = render("hierarchies/levels/local", value=Sql("value"), zone=zone)
        (lost,) = workspace.row("hierarchies/lost_times", raw=raw, raw_column=raw_column, local=local)
        if lost:
            raise UnsupportedError(
                f"{where}: {engine} does not know the time zone {zone}: its time zone tables are empty or old; load "
                "them (mariadb-tzinfo-to-sql /usr/share/zoneinfo | mariadb mysql), or take zone: UTC"
            )

    def typed(self, values: Sequence[str], where: str) -> Column:
        """Dates in ISO form."""
        if self.dates.zone is not None:
            raise SpecError(f"{where}: dates of a zone are made in a database; leave --values out and name it")
        wrong = sum(not _is_date(value) for value in values)
        if wrong:
            raise SpecError(
                f"{where}: {wrong:,} of the {len(values):,} values given are not dates such as 2000-12-31; "
                "correct or remove them"
            )
        return Column("", "DATE", "date")

    def level_name(self, level: int, columns: Sequence[str]) -> str:
        """The unit."""
        return self.dates.levels[level - 1]

    def meaning(self, level: int) -> str:
        """The unit."""
        zone = "" if self.dates.zone is None else f" in {self.dates.zone}"
        return f"the {self.dates.levels[level - 1]}{zone}"


def _is_date(value: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True
