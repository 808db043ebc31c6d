"""Positions and times, cloaked: each row gets the finest cell of a quad-tree and slice of time that k people share.

The database makes the cells: a key per row holds the bits of its finest cell and slice, and a coarser one is a mask
over them, so that no geometry is needed. Grids are tried one after the other, on what no finer grid could release; what
is written is verified by its labels alone, and movements (LBQIDs) by what everybody's rows of them are released with.
"""

from __future__ import annotations

from kanon_sql.positions.assign import Examined, assigned, examined, levels
from kanon_sql.positions.cloak import cloaked
from kanon_sql.positions.keys import Points, points
from kanon_sql.positions.lbqid import History, histories
from kanon_sql.positions.publish import publish_cloaked

__all__ = [
    "Examined",
    "History",
    "Points",
    "assigned",
    "cloaked",
    "examined",
    "histories",
    "levels",
    "points",
    "publish_cloaked",
]
