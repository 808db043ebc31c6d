"""Evaluation: lattice nodes in, one generated statement, verdicts out; and the examination of a table as it is.

The search's side asks frequency sets about batches of nodes, rolls them up where that pays, and drives a search
strategy. The examination groups a written table by its columns and measures every requirement. The two share the
definition of a class query (``classes``) and nothing else: verification must not trust what the search believed.
"""

from __future__ import annotations

from kanon_sql.evaluate.assignments import matches_of, matching_edges
from kanon_sql.evaluate.budget import Budget
from kanon_sql.evaluate.class_counts import Bin, Counted, Table, closeness_of_all, count_classes, node_frames
from kanon_sql.evaluate.class_unions import overlap_obstacles
from kanon_sql.evaluate.classes import (
    Frames,
    LeftClasses,
    classes,
    flagged_classes,
    judged_columns,
)
from kanon_sql.evaluate.combinations import Combinations
from kanon_sql.evaluate.consistency import MOST_EDGES, Consistent, consistent_with_source, record_obstacles
from kanon_sql.evaluate.distances import Distances, distances_between, matrix_obstacles, outlier_size
from kanon_sql.evaluate.evaluator import Evaluator, is_sound
from kanon_sql.evaluate.examination import (
    Achieved,
    AllReached,
    Classes,
    ClassSizes,
    CountedClasses,
    Examination,
    MaybeClasses,
    achieved_by,
)
from kanon_sql.evaluate.examine import (
    Failing,
    Subject,
    counted_classes,
    examine,
    failing_classes,
    groupings,
    reference_in,
    refuse_other_kind,
    table_context,
    table_frames,
)
from kanon_sql.evaluate.outcome import (
    Answered,
    Chosen,
    NothingFound,
    NothingToSearch,
    Rows,
    Searched,
    SearchSummary,
    few,
)
from kanon_sql.evaluate.partitions.evaluator import Partitions, cut_obstacles
from kanon_sql.evaluate.partitions.hierarchy import with_codes, with_labels
from kanon_sql.evaluate.partitions.order import BY_VALUE, Order, is_listed, order_domains, order_of, positions_of
from kanon_sql.evaluate.reach import out_of_reach, rows_in_words, too_many_nulls
from kanon_sql.evaluate.rollup import Covering
from kanon_sql.evaluate.search import class_obstacles, search_in, search_obstacles, searched, searched_again

__all__ = [
    "BY_VALUE",
    "MOST_EDGES",
    "Achieved",
    "AllReached",
    "Answered",
    "Bin",
    "Budget",
    "Chosen",
    "ClassSizes",
    "Classes",
    "Combinations",
    "Consistent",
    "Counted",
    "CountedClasses",
    "Covering",
    "Distances",
    "Evaluator",
    "Examination",
    "Failing",
    "Frames",
    "LeftClasses",
    "MaybeClasses",
    "NothingFound",
    "NothingToSearch",
    "Order",
    "Partitions",
    "Rows",
    "SearchSummary",
    "Searched",
    "Subject",
    "Table",
    "achieved_by",
    "class_obstacles",
    "classes",
    "closeness_of_all",
    "consistent_with_source",
    "count_classes",
    "counted_classes",
    "cut_obstacles",
    "distances_between",
    "examine",
    "failing_classes",
    "few",
    "flagged_classes",
    "groupings",
    "is_listed",
    "is_sound",
    "judged_columns",
    "matches_of",
    "matching_edges",
    "matrix_obstacles",
    "node_frames",
    "order_domains",
    "order_of",
    "out_of_reach",
    "outlier_size",
    "overlap_obstacles",
    "positions_of",
    "record_obstacles",
    "reference_in",
    "refuse_other_kind",
    "rows_in_words",
    "search_in",
    "search_obstacles",
    "searched",
    "searched_again",
    "table_context",
    "table_frames",
    "too_many_nulls",
    "with_codes",
    "with_labels",
]
