"""Frequency sets: the one pass over the source, and what is known of its values.

The source is grouped once by its quasi-identifiers, its sensitive attributes and the person. The distinct vectors
become codes of the lookup tables; every later question reads these frequency sets, or a rollup of them. What a privacy
model asks of each sensitive value (its share, its rank, its group in a hierarchy) and a population table's vectors are
kept beside them.
"""

from __future__ import annotations

from kanon_sql.frequency.counts import count_of, has_equal_rows, refuse_counts, refuse_wrong_counts
from kanon_sql.frequency.join_checks import Side, refuse_lost, refuse_lost_rows
from kanon_sql.frequency.label_sizes import LabelSizes, label_sizes, sizes_in_domain, width_obstacles
from kanon_sql.frequency.marginals import count_attributes, label_numbers
from kanon_sql.frequency.meanings import classes_of, text_of, vectors_of, why_unlabelled
from kanon_sql.frequency.points import refuse_outside
from kanon_sql.frequency.population import notes_on_models, populations_of
from kanon_sql.frequency.population_classes import PopulationClasses, match_populations
from kanon_sql.frequency.prepared import Prepared, Remembered, SetCache, prepared
from kanon_sql.frequency.raw import Counting
from kanon_sql.frequency.reading import read_table, reads_otherwise
from kanon_sql.frequency.sets import FrequencySets, build_frequency_sets, counted_attributes, forgets_type, holds_all
from kanon_sql.frequency.source import (
    OpenTable,
    explained_if_missing,
    is_same_table,
    no_such_table,
    open_table,
    plain_source_of,
    source_columns,
    source_obstacles,
    source_of,
    unknown_columns,
)
from kanon_sql.frequency.steps import DRAWN_FROM, draw_of, drawn_number
from kanon_sql.frequency.value_facts import ValueFacts, measured_models, placed, value_facts_of, with_hierarchy
from kanon_sql.frequency.weights import refuse_wrong_weights

__all__ = [
    "DRAWN_FROM",
    "Counting",
    "FrequencySets",
    "LabelSizes",
    "OpenTable",
    "PopulationClasses",
    "Prepared",
    "Remembered",
    "SetCache",
    "Side",
    "ValueFacts",
    "build_frequency_sets",
    "classes_of",
    "count_attributes",
    "count_of",
    "counted_attributes",
    "draw_of",
    "drawn_number",
    "explained_if_missing",
    "forgets_type",
    "has_equal_rows",
    "holds_all",
    "is_same_table",
    "label_numbers",
    "label_sizes",
    "match_populations",
    "measured_models",
    "no_such_table",
    "notes_on_models",
    "open_table",
    "placed",
    "plain_source_of",
    "populations_of",
    "prepared",
    "read_table",
    "reads_otherwise",
    "refuse_counts",
    "refuse_lost",
    "refuse_lost_rows",
    "refuse_outside",
    "refuse_wrong_counts",
    "refuse_wrong_weights",
    "sizes_in_domain",
    "source_columns",
    "source_obstacles",
    "source_of",
    "text_of",
    "unknown_columns",
    "value_facts_of",
    "vectors_of",
    "why_unlabelled",
    "width_obstacles",
    "with_hierarchy",
]
