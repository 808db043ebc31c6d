"""Several tables, one release: persons, and what other tables say of each of them.

Every table is read once, its rows numbered and their labels coded, so that all that follows joins whole numbers. Either
one level is found for each column of all tables, with persons left out (``full_domain``), or events are generalized
within classes of persons, row by row (``local``). What is written has new keys, and is examined by these and its labels
alone, with statements of its own.
"""

from __future__ import annotations

from kanon_sql.relations.choice import chosen_classes
from kanon_sql.relations.classes import node_dict
from kanon_sql.relations.full_domain import best_node
from kanon_sql.relations.local import States, climbed
from kanon_sql.relations.members import Member, Placed, members
from kanon_sql.relations.outcome import TableOutcome, constant_states, outcomes
from kanon_sql.relations.release import Examined, ReleasedTable, examined, identifying, released_keys, written_tables

__all__ = [
    "Examined",
    "Member",
    "Placed",
    "ReleasedTable",
    "States",
    "TableOutcome",
    "best_node",
    "chosen_classes",
    "climbed",
    "constant_states",
    "examined",
    "identifying",
    "members",
    "node_dict",
    "outcomes",
    "released_keys",
    "written_tables",
]
