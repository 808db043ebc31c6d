"""Several tables, one release: persons, and what other tables say of each of them.

Every table is read once, its rows numbered and their labels coded, so that all that follows joins whole numbers. Either
one level is found for each column of all tables, with persons left out (``full_domain``), or events are generalized
within classes of persons (``local``): row by row for one known item, by a cut for each class for more. What is written
has new keys, and is examined by these and its labels alone, with statements of its own.
"""

from __future__ import annotations

from kanon_sql.relations.classes import node_dict
from kanon_sql.relations.earlier_releases import (
    EarlierReleases,
    addition_of,
    compared_together,
    earlier_releases,
    entry_of,
)
from kanon_sql.relations.exposure import Exposed, exposure
from kanon_sql.relations.joint_release import JointRelease
from kanon_sql.relations.lists import is_list, refuse_unsorted
from kanon_sql.relations.members import Member, Placed, States, members
from kanon_sql.relations.minimum_levels import BelowMinimum, below_minimum
from kanon_sql.relations.outcome import TableOutcome, outcomes
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
from kanon_sql.relations.within_limits import RecodedTables, most_rows, recoded, rows_of_events

__all__ = [
    "BelowMinimum",
    "EarlierReleases",
    "Examined",
    "Exposed",
    "JointRelease",
    "Member",
    "Placed",
    "RecodedTables",
    "ReleasedTable",
    "RowsWithValues",
    "Sensitive",
    "Shared",
    "States",
    "TableOutcome",
    "addition_of",
    "below_minimum",
    "class_models",
    "compared_together",
    "earlier_releases",
    "entry_of",
    "examined",
    "exposure",
    "identifying",
    "is_list",
    "members",
    "most_rows",
    "node_dict",
    "outcomes",
    "recoded",
    "refuse_unsorted",
    "released_keys",
    "released_list",
    "requirement_label",
    "rows_of_events",
    "rows_with_values",
    "source_references",
    "written_tables",
]
