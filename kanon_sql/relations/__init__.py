"""Several tables, one release: persons, and what other tables say of each of them.

Every table is read once, its rows numbered and their labels coded, so that all that follows joins whole numbers. Either
one level is found for each column of all tables, with persons left out (``full_domain``), or events are generalized
within classes of persons (``local``): row by row for one known item, by a cut for each class for more. What is written
has new keys, and is examined by these and its labels alone, with statements of its own.
"""

from __future__ import annotations

from kanon_sql.relations.choice import chosen_classes
from kanon_sql.relations.classes import PersonClasses, node_dict
from kanon_sql.relations.cuts import Cuts, thinned
from kanon_sql.relations.earlier_releases import (
    EarlierReleases,
    addition_of,
    compared_together,
    earlier_releases,
    entry_of,
)
from kanon_sql.relations.exposure import Exposed, exposure
from kanon_sql.relations.first_levels import FirstLevels
from kanon_sql.relations.full_domain import best_node
from kanon_sql.relations.joint_release import JointRelease
from kanon_sql.relations.lists import is_list, refuse_unsorted
from kanon_sql.relations.local import climbed, without_lost_rows
from kanon_sql.relations.members import Member, Placed, States, members
from kanon_sql.relations.minimum_levels import BelowMinimum, below_minimum
from kanon_sql.relations.outcome import TableOutcome, constant_states, outcomes
from kanon_sql.relations.release import (
    Examined,
    ReleasedTable,
    Shared,
    examined,
    identifying,
    released_keys,
    released_list,
    written_tables,
)
from kanon_sql.relations.row_values import RowsWithValues, rows_with_values
from kanon_sql.relations.sensitive import Sensitive, class_models, requirement_label, source_references

__all__ = [
    "BelowMinimum",
    "Cuts",
    "EarlierReleases",
    "Examined",
    "Exposed",
    "FirstLevels",
    "JointRelease",
    "Member",
    "PersonClasses",
    "Placed",
    "ReleasedTable",
    "RowsWithValues",
    "Sensitive",
    "Shared",
    "States",
    "TableOutcome",
    "addition_of",
    "below_minimum",
    "best_node",
    "chosen_classes",
    "class_models",
    "climbed",
    "compared_together",
    "constant_states",
    "earlier_releases",
    "entry_of",
    "examined",
    "exposure",
    "identifying",
    "is_list",
    "members",
    "node_dict",
    "outcomes",
    "refuse_unsorted",
    "released_keys",
    "released_list",
    "requirement_label",
    "rows_with_values",
    "source_references",
    "thinned",
    "without_lost_rows",
    "written_tables",
]
