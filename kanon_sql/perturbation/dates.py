"""Dates of a person moved by one secret number of days: untrue on purpose, but not the days between them."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError, counted, have
from kanon_sql.sql import Relation, Sql, render

__all__ = ["SHIFT", "days_of", "moved_dates", "shift_note"]

SHIFT = "days that dates of persons are moved by"
"""What the key is derived for by which days are drawn; see :func:`kanon_sql.spec.secret.derived_key`."""

_YEAR = 365


def days_of(draw: Sql, days: int, step: int = 1) -> Sql:
    """The days by which the dates of a person are moved: a multiple of a step, within some days, and never none.

    Args:
        draw: a number for each person that nothing released decides, see :func:`kanon_sql.frequency.drawn_number`.
        days: the most.
        step: in days.
    """
    return render("perturbation/days", draw=draw, steps=days // step, step=step)


def moved_dates(
    workspace: Workspace, where: str, dated: Relation, target: Relation, columns: Sequence[Column], days: int
) -> None:
    """Move dates: makes ``id``, and ``moved0``, ``moved1``, ... in the order of the columns.

    Args:
        workspace: where.
        where: the key of the spec, for messages.
        dated: ``id``, the ``days`` of the row's person, and ``date0``, ``date1``, ...; NULL stays NULL.
        target: the table to make.
        columns: the source's, whose kinds are in :attr:`kanon_sql.sql.Dialect.moved`.
        days: the most.

    Raises:
        SpecError: a date may be moved out of the dialect's years, or would be moved to none that its type has.
    """
    dialect, width = workspace.dialect, len(columns)
    reach, (first, last) = days // _YEAR + 1, dialect.years
    (far,) = workspace.row("perturbation/far_dates", dated=dated, width=width, first=first + reach, last=last - reach)
    if far:
        raise SpecError(
            f"{where}: {have(int(far))} dates within {counted(reach, 'year')} of the years {first} and {last}, which "
            "could be moved beyond them; make dates that mean 'none' or 'never' NULL in a source query"
        )
    quote, kinds = dialect.quote, [dialect.moved[column.kind] for column in columns]
    fills = {
        f"moved{number}": kind.format(date=quote(f"date{number}"), days=quote("days"))
        for number, kind in enumerate(kinds)
    }
    context = {"target": target, "dated": dated, "width": width}
    shape = workspace.compiler.shape("perturbation/moved", (target, dated, width), lambda: context)
    workspace.run(workspace.compiler.fill("perturbation/moved", shape, fills))
    back = {
        f"back{number}": kind.format(date=f"moved.{quote(f'moved{number}')}", days=f"(-dated.{quote('days')})")
        for number, kind in enumerate(kinds)
    }
    judged = {"moved": target, "dated": dated, "width": width}
    shape = workspace.compiler.shape("perturbation/lost_dates", (target, dated, width), lambda: judged)
    ((lost,),) = workspace.query(workspace.compiler.fill("perturbation/lost_dates", shape, back), 1)
    if lost:
        types = ", ".join(dict.fromkeys(column.type for column in columns))
        raise SpecError(
            f"{where}: {have(int(lost))} values that are no dates, or would be moved out of the range of their type "
            f"({types}); make them NULL in a source query, or cast the column to a type with a wider range"
        )


def shift_note(columns: Sequence[str]) -> str:
    """What a result says of columns whose dates were moved."""
    return (
        f"untrue on purpose: {', '.join(columns)}; all dates of a person are moved by one secret number of days, so "
        "that the days between them are true. That is no protection that is counted: who knows one date of a "
        "person, or the days between two, may find them by it, and then knows all"
    )
