"""Dates of a person moved by one secret number of days in all tables: untrue on purpose, but not the days between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.perturbation import days_of, moved_dates
from kanon_sql.sql import Dialect, Relation, Sql

if TYPE_CHECKING:
    from kanon_sql.relations.members import Placed

__all__ = ["moved_in_table", "offsets", "refuse_no_dates"]


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
    """The days by which the dates of each person who stays are moved.

    Args:
        workspace: where.
        persons: their rows.
        state: those that stay.
        draw: a number for each person that nothing released decides.
        days: the most.
    """
    target = workspace.table("offsets")
    days_each = days_of(draw, days)
    workspace.execute("relations/offsets", target=target, persons=persons, state=state, days=days_each)
    return target


def moved_in_table(
    workspace: Workspace,
    name: str,
    rows: Relation,
    moving: Relation,
    columns: Sequence[tuple[int, Column]],
    days: int,
    *,
    is_person: bool,
    number: int,
) -> Relation:
    """The moved dates of a table's rows, see :func:`kanon_sql.perturbation.moved_dates`.

    Args:
        workspace: where.
        name: the table's in the spec.
        rows: its rows.
        moving: the days by which the dates of each person are moved.
        columns: the places of the dates among the columns that are released without labels.
        days: the most.
        is_person: the table is that of persons.
        number: the table's place among all.

    Raises:
        SpecError: a date would be moved to none that the database has.
    """
    dated, target = workspace.table(f"dated{number}"), workspace.table(f"moved{number}")
    places = [place for place, _ in columns]
    workspace.execute("relations/dated", target=dated, rows=rows, moving=moving, places=places, is_person=is_person)
    moved_dates(workspace, f"{name}.shift", dated, target, [column for _, column in columns], days)
    return target
