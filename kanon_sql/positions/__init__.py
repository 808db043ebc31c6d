"""Positions and times, cloaked: each row gets the finest cell of a quad-tree and slice of time that k people share.

The database makes the cells: a key per row holds the bits of its finest cell and slice, and a coarser one is a mask
over them, so that no geometry is needed. Grids are tried one after the other, on what no finer grid could release; what
is written is verified by its labels alone, and movements (LBQIDs) by what every person's rows of them are released
with.
"""

from __future__ import annotations

from kanon_sql.positions.assign import Assigned, Examined, assigned, examined, levels
from kanon_sql.positions.cloak import cloaked
from kanon_sql.positions.keys import Points, points
from kanon_sql.positions.lbqid import History, histories
from kanon_sql.positions.publish import differing_labels, publish_cloaked, released_columns

__all__ = [
    "Assigned",
    "Examined",
    "History",
    "Points",
    "assigned",
    "cloaked",
    "differing_labels",
    "examined",
    "histories",
    "levels",
    "points",
    "publish_cloaked",
    "released_columns",
]
