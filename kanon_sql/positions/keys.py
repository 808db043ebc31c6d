"""The one GROUP BY over a source of positions: who was in which finest cell and slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor
from typing import Any

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import Problem, SpecError, have
from kanon_sql.frequency import open_table, unknown_columns
from kanon_sql.hierarchies import exact_value, whole_units
from kanon_sql.positions.grid import Axis, Layout
from kanon_sql.spec import CloakSpec, PersonalK
from kanon_sql.sql import Relation, Sql, identifier, render, source_relation

__all__ = ["Points", "points"]

_SOURCE = "kanon_source"
_NUMBERS = ("integer", "decimal", "float")
_DAY = 86_400
_PARTS = ("year", "month", "day", "hour", "minute", "second")


@dataclass(frozen=True)
class Points:
    """A source's positions.

    Attributes:
        layout: what their keys are made of.
        columns: the source's columns by name.
        keyed: the query of all rows with their keys; it reads the source.
        table: who was in which finest cell and slice, a scratch table.
        per_row_k: whether each row has a k of its own.
        rows: rows of the source.
        outside: of these, those without a key.
        calendar: the kind of the column of time where it is no number: ``date`` or ``timestamp``.
    """

    layout: Layout
    columns: Mapping[str, Column]
    keyed: Sql
    table: Relation
    per_row_k: bool
    rows: int
    outside: int
    calendar: str | None


def points(workspace: Workspace, spec: CloakSpec) -> Points:
    """Read the source's positions, by one GROUP BY.

    Args:
        workspace: where.
        spec: names the columns, and says which cells and slices there are.

    Raises:
        SpecError: a column is not there or does not fit, it is not known whose a row is, or rows lie outside of the
            bounds and are to be refused.
    """
    columns = _columns(workspace, spec)
    layout = Layout.of(spec)
    keyed = _keyed(spec, layout, columns)
    per_row_k = spec.k.column is not None
    workspace.report("reading the source: one GROUP BY over cells, slices and people", None)
    table = workspace.table("points")
    workspace.execute("positions/points", target=table, keyed=keyed, per_row_k=per_row_k)
    found = workspace.row("positions/totals", points=table, per_row_k=per_row_k)
    rows, outside, unknown, wrong = (int(item) for item in found)
    if unknown:
        raise SpecError(
            f"unit: {have(unknown)} NULL as {spec.unit!r}, so that its person is unknown; leave such rows "
            "out in a source query, or give them one"
        )
    if wrong:
        raise SpecError(f"k: {wrong:,} rows have a k below 1 in {spec.k.column!r}; correct them in a source query")
    if outside and spec.position.outside == "refuse":
        raise SpecError(
            f"position: {outside:,} rows have no position inside the bounds{_or_time(spec)}; widen the bounds, "
            "or suppress the rows (outside: suppress), which counts against the limit of suppression"
        )
    if outside:
        inside = workspace.table("inside")
        workspace.execute("positions/inside", target=inside, points=table, per_row_k=per_row_k)
        table = inside
    calendar = None if spec.time is None else columns[spec.time.column].kind
    return Points(layout, columns, keyed, table, per_row_k, rows, outside, None if calendar == "integer" else calendar)


def _or_time(spec: CloakSpec) -> str:
    return "" if spec.time is None else ", or no time after the origin"


# --- The source's columns ------------------------------------------------------------------


def _columns(workspace: Workspace, spec: CloakSpec) -> Mapping[str, Column]:
    opened = open_table(workspace.engine, spec, None)
    named = [spec.unit, *spec.position.columns, *spec.keep]
    named += [] if spec.time is None else [spec.time.column]
    named += [] if spec.k.column is None else [spec.k.column]
    problems = unknown_columns(opened.shown, opened.columns, dict.fromkeys(named), "which the spec names")
    if not problems:
        problems = list(_misfits(spec, opened.columns))
    if problems:
        raise SpecError(problems)
    opened.refuse_inexact(workspace, dict.fromkeys(name for name in named if name not in spec.keep))
    return opened.columns


def _misfits(spec: CloakSpec, columns: Mapping[str, Column]) -> Sequence[Problem]:
    """Columns whose type does not fit their role."""
    problems = []
    for name in spec.position.columns:
        if columns[name].kind not in _NUMBERS:
            problems.append(
                Problem(
                    f"position: {name!r} is {columns[name].type}, and a coordinate is a number; cast it in a source "
                    "query"
                )
            )
    if spec.time is not None:
        column = columns[spec.time.column]
        if column.kind not in ("integer", "date", "timestamp"):
            problems.append(
                Problem(
                    f"time: {column.name!r} is {column.type}; expected a date, a timestamp without time zone, or whole "
                    "seconds since 1970; cast it in a source query, to the local time where it has a time zone"
                )
            )
        if column.kind == "date" and any(width % _DAY for width in spec.time.widths):
            problems.append(
                Problem(f"time: {column.name!r} is a date, and slices of dates are whole days; give multiples of 86400")
            )
        if column.kind == "date" and spec.time.origin % _DAY:  # a label has dates alone, and would name another day
            problems.append(
                Problem(
                    f"time: {column.name!r} is a date, and slices of dates begin with a day; give an origin of whole "
                    "days, a multiple of 86400"
                )
            )
        if column.kind == "date" and spec.lbqids:
            problems.append(
                Problem(
                    f"lbqids: {column.name!r} is a date without a time of day, so that no pattern would be found; name "
                    "a timestamp or seconds under time, or leave lbqids out"
                )
            )
    if spec.k.column is not None and columns[spec.k.column].kind != "integer":
        problems.append(Problem(f"k: {spec.k.column!r} is {columns[spec.k.column].type}; expected whole numbers"))
    return problems


def _keyed(spec: CloakSpec, layout: Layout, columns: Mapping[str, Column]) -> Sql:
    areas = [element.area for lbqid in spec.lbqids.values() for element in lbqid.elements]
    x, y = (
        _coordinate(axis, layout.digits, columns[name], [edge for area in areas for edge in area[place::2]])
        for place, (axis, name) in enumerate(zip((layout.x, layout.y), spec.position.columns, strict=True))
    )
    return render(
        "positions/keyed",
        source=source_relation(),
        unit=exact_value(columns[spec.unit], _SOURCE),
        per_row_k=_personal_k(spec.k),
        kept=list(spec.keep),
        x=x,
        y=y,
        time=_time(spec, layout, columns),
        steps=[step.fields() for step in layout.steps],
    )


def _coordinate(axis: Axis, digits: int, column: Column, areas: Sequence[Decimal]) -> dict[str, Any]:
    """A coordinate in whole units, rounded down; what is far outside has none, so that nothing overflows.

    An area of an LBQID may lie outside of the bounds, and who was there matches it, although the row is left out.
    """
    value = _of_source(column.name)
    return {
        **axis.fields(),
        "value": value,
        "units": whole_units(value, digits, column.kind),
        "least": floor(min([Decimal(axis.low) / 10**digits, *areas])) - 1,
        "most": ceil(max([Decimal(axis.high) / 10**digits, *areas])) + 1,
    }


def _personal_k(per_row_k: PersonalK) -> Sql | None:
    if per_row_k.column is None:
        return None
    return render("frequency/personal_k", value=_of_source(per_row_k.column), default=per_row_k.default)


def _time(spec: CloakSpec, layout: Layout, columns: Mapping[str, Column]) -> dict[str, Any] | None:
    if spec.time is None:
        return None
    column = columns[spec.time.column]
    value = _of_source(column.name)
    if column.kind == "integer":
        parts, seconds = [{"name": "second_part", "sql": value}], Sql("second_part")
    else:
        clock = column.kind == "timestamp"
        parts = [
            {"name": f"{part}_part", "sql": render("positions/part", part=part, value=value)}
            for part in (_PARTS if clock else _PARTS[:3])
        ]
        seconds = render("positions/seconds", clock=clock)
    low = layout.origin
    return {"low": low, "high": low + layout.seconds, "parts": parts, "seconds": seconds}


def _of_source(name: str) -> Sql:
    return Sql(f"{_SOURCE}.{identifier(name)}")
