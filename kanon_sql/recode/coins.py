"""The coins of a recoding that resists refinement: how likely what is, and how templates write it."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.frequency import DRAWN_FROM
from kanon_sql.sql import Sql, render

__all__ = ["ANY", "HOLD", "LOOSE", "STOP", "Coins", "coin", "coins_of"]

LOOSE, HOLD, STOP, ANY = 1 / 128, 1 / 8, 1 / 32, 1 / 64
"""Chances: that a row is loose, that a loose row is held back by a cut, that a class of 2k rows is not cut, and that
the column to cut is any of those allowed."""


@dataclass(frozen=True)
class Coins:
    """The coins of the rounds, as templates know them: numbers below :data:`DRAWN_FROM`, and where they decide.

    Attributes:
        held, hold: of a row in ``opened`` and a column's word and mask.
        stopped, stop: of a partition; times the square of its rows.
        chosen, any, order: of a partition, and of its columns.
    """

    held: Sql
    hold: int
    stopped: Sql
    stop: float
    chosen: Sql
    any: int
    order: Sql


def coin(kind: str, *items: str) -> Sql:
    """A number below :data:`DRAWN_FROM` for some expressions, by the key of the run."""
    return render("recode/coin", kind=kind, items=[Sql(item) for item in items])


def coins_of(least: int, spans: str) -> Coins:
    """The coins for classes of at least this many rows; ``spans`` is the alias of what has the word and the mask."""
    return Coins(
        held=coin("held", "opened.vector", "opened.part", f"{spans}.word", f"{spans}.mask"),
        hold=int(HOLD * DRAWN_FROM),
        stopped=coin("stopped", "part"),
        stop=STOP * DRAWN_FROM * 4 * least * least,
        chosen=coin("chosen", "part"),
        any=int(ANY * DRAWN_FROM),
        order=coin("order", "part", "attribute"),
    )
