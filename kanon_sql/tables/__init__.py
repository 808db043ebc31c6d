"""Tables of counts and sums (macrodata): cells, sensitive cells, and how they are protected.

The database makes the cells: one pass over the source, margins by roll-up, and the rules of primary suppression, so
that no contribution of a respondent leaves it. What follows is about cells and not about rows: secondary suppression
and controlled rounding by linear and integer programs, and an audit which proves by other possible tables that no
sensitive cell can be worked out from the margins. A protected table is written, verified and published as a release is.
"""

from __future__ import annotations

from kanon_sql.tables.cells import tabulated
from kanon_sql.tables.earlier_tables import addition_of, audited_jointly, comparable_tables
from kanon_sql.tables.noisy_cells import bounded_cells, noisy, plan_of
from kanon_sql.tables.protect import ProtectedTable, protected
from kanon_sql.tables.publish import expanded, further_of, level_of, publish_table
from kanon_sql.tables.structure import group_of

__all__ = [
    "ProtectedTable",
    "addition_of",
    "audited_jointly",
    "bounded_cells",
    "comparable_tables",
    "expanded",
    "further_of",
    "group_of",
    "level_of",
    "noisy",
    "plan_of",
    "protected",
    "publish_table",
    "tabulated",
]
