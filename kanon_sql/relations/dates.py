"""Dates of a person moved by one secret number of days in all tables: untrue on purpose, but not the days between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.sql import Dialect, Relation, Sql

if TYPE_CHECKING:
    from kanon_sql.relations.members import Placed

__all__ = ["moved_dates", "offsets", "refuse_no_dates"]


def refuse_no_dates(dialect: Dialect, placed: Placed, types: Mapping[str, Column]) -> None:
    """Refuse columns to move that hold no dates.

    Raises:
        SpecError: which one.
    """
    for name in placed.table.shift:
        if types[name].kind not in dialect.moved:
            raise SpecError(
                f"{placed.shown}.shift: {name!r} is {types[name].type}, and only dates and timestamps are moved; cast "
                "it in a query"
            )


def offsets(workspace: Workspace, persons: Relation, state: Relation, draw: Sql, days: int) -> Relation:
    """The days by which the dates of each person who stays are moved: by at most a number of days, and never by none.

    Args:
        workspace: where.
        persons: their rows.
        state: those that stay.
        draw: a number for each person that nothing released decides, see :func:`kanon_sql.frequency.drawn_number`.
        days: the most.
    """
    target = workspace.table("offsets")
    workspace.execute("relations/offsets", target=target, persons=persons, state=state, draw=draw, days=days)
    return target


def moved_dates(
    workspace: Workspace,
    name: str,
    rows: Relation,
    moving: Relation,
    columns: Sequence[tuple[int, Column]],
    *,
    is_person: bool,
    number: int,
) -> Relation:
    """The moved dates of a table's rows: ``id``, and ``moved0``, ``moved1``, ... in the order of the columns.

    Args:
        workspace: where.
        name: the table's in the spec.
        rows: its rows.
        moving: the days by which the dates of each person are moved.
        columns: the places of the dates among the columns that are released without labels.
        is_person: the table is that of persons.
        number: the table's place among all.

    Raises:
        SpecError: a date would be moved to none that the database has.
    """
    dialect = workspace.dialect
    dated, target = workspace.table(f"dated{number}"), workspace.table(f"moved{number}")
    places = [place for place, _ in columns]
    workspace.execute("relations/dated", target=dated, rows=rows, moving=moving, places=places, is_person=is_person)
    days = dialect.quote("days")
    fills = {
        f"moved{place}": dialect.moved[column.kind].format(date=dialect.quote(f"date{place}"), days=days)
        for place, (_, column) in enumerate(columns)
    }
    context = {"target": target, "dated": dated, "width": len(columns)}
    shape = workspace.compiler.shape("relations/moved", (target, dated, len(columns)), lambda: context)
    workspace.run(workspace.compiler.fill("relations/moved", shape, fills))
    (lost,) = workspace.row("relations/lost_dates", dated=dated, moved=target, width=len(columns))
    if lost:
        raise SpecError(f"{name}.shift: {int(lost):,} rows have values that are no dates; make them NULL in a query")
    return target
