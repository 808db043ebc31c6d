"""Hierarchies as lookup tables in the database: value -> a code and a label per level.

A hierarchy comes from rules (intervals, prefixes, dates, SQL), a file, a tree or a table. It is built from the values
that occur, checked there (it covers every value, and its levels nest), and stored as one lookup table per quasi-
identifier. The codes of a lookup table are paths from the top, so that a level is a mask over their bits. The room
also knows how a column's values are compared exactly on every engine, and refuses values that cannot be.
"""

from __future__ import annotations

from kanon_sql.hierarchies.build import Lookup, Site, build_lookups, build_sensitive_lookup, highest_with_labels, survey
from kanon_sql.hierarchies.codes import Codes, Widest
from kanon_sql.hierarchies.computed import computed_value, refuse_split_labels, refuse_wrong_columns, split_labels
from kanon_sql.hierarchies.exact import (
    exact_range,
    exact_texts,
    exact_value,
    forms_of,
    number_text,
    refuse_blank_ends,
    refuse_mixed_forms,
    refuse_several_texts,
    shown_keys,
    shown_value,
    whole_units,
)
from kanon_sql.hierarchies.files import (
    TOP,
    FileStyle,
    file_names,
    read_hierarchy,
    with_top,
    write_hierarchy,
)
from kanon_sql.hierarchies.graph import chosen_for
from kanon_sql.hierarchies.inline import inline_label
from kanon_sql.hierarchies.kind import (
    CHOSEN_INTERVALS,
    RANGES,
    WITHHELD,
    Kind,
    kind_of,
    level_names,
    rule_labels,
    value_text,
)
from kanon_sql.hierarchies.lookups import UNLIMITED, Survey, limited
from kanon_sql.hierarchies.matching_rows import listed_for
from kanon_sql.hierarchies.points import cell_of, coordinates

__all__ = [
    "CHOSEN_INTERVALS",
    "RANGES",
    "TOP",
    "UNLIMITED",
    "WITHHELD",
    "Codes",
    "FileStyle",
    "Kind",
    "Lookup",
    "Site",
    "Survey",
    "Widest",
    "build_lookups",
    "build_sensitive_lookup",
    "cell_of",
    "chosen_for",
    "computed_value",
    "coordinates",
    "exact_range",
    "exact_texts",
    "exact_value",
    "file_names",
    "forms_of",
    "highest_with_labels",
    "inline_label",
    "kind_of",
    "level_names",
    "limited",
    "listed_for",
    "number_text",
    "read_hierarchy",
    "refuse_blank_ends",
    "refuse_mixed_forms",
    "refuse_several_texts",
    "refuse_split_labels",
    "refuse_wrong_columns",
    "rule_labels",
    "shown_keys",
    "shown_value",
    "split_labels",
    "survey",
    "value_text",
    "whole_units",
    "with_top",
    "write_hierarchy",
]
