"""Releases: write one under a scratch name, verify it, publish it, and remember it.

A release is written by at most one more pass over the source, examined as a table of its own, compared with the earlier
releases of its ledger, and put under its name by one transaction together with its manifest. Nothing unverified is ever
visible under the release's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.lazy import imported_from
from kanon_sql.release.choice import Choice
from kanon_sql.release.coarser import coarser_labels, released_rows
from kanon_sql.release.deletions import Deletions, departures_of, leaving_rows
from kanon_sql.release.earlier_releases import (
    JointVerdict,
    addition,
    coarsened,
    comparable_releases,
    compared,
    lowest_released_levels,
)
from kanon_sql.release.file import (
    WrittenFile,
    columns_in,
    file_manifest,
    file_obstacles,
    file_of,
    leftover_files,
    manifest_of_file,
    publish_file,
    snapshot,
    snapshot_as_source,
    snapshot_of_texts,
)
from kanon_sql.release.grow import Growing, drop_others, grow
from kanon_sql.release.guarded_view import view_obstacles
from kanon_sql.release.identity import refuse_other_types, types_of, value_forms
from kanon_sql.release.increments import (
    Day,
    JudgedRows,
    day_of,
    judged_rows,
    kept_columns,
    protects_values,
    refuse_unequal,
    remember,
    unreleased_rows,
    wait,
)
from kanon_sql.release.ledger import (
    Addition,
    Entry,
    RecordedTable,
    RelatedEntry,
    ReleasedColumn,
    SpentOnNoise,
    digest_of,
    of_one_table,
    of_several_tables,
    read_ledger,
    released_form,
    withdraw_entry,
)
from kanon_sql.release.manifest import (
    MANIFEST_TABLE,
    Pending,
    Record,
    is_perturbed,
    manifest_of,
    marks_perturbed,
    pending_records,
    published_manifest,
    under_another_id,
    was_published,
)
from kanon_sql.release.publish import (
    left_of_earlier,
    name_obstacles,
    publish,
    put_back,
    refuse_foreign_release,
    refuse_missing_schema,
)
from kanon_sql.release.publish_together import never_together, publish_together, take_back
from kanon_sql.release.publish_view import publish_view, refuse_other_release
from kanon_sql.release.rows_of_run import NewRows, refuse_later, refuse_unordered, take_rows
from kanon_sql.release.state import (
    State,
    drop_state,
    open_state_schema,
    promise_of,
    refuse_other_state,
    state_of,
    states_in,
    write_state,
)
from kanon_sql.release.unsafe_nodes import UnsafeNodes
from kanon_sql.release.write import WrittenTable, remove_leftovers, staged, staged_release
from kanon_sql.release.write_source import Labelled, free_name, labelled_by_person, labelled_with_values

if TYPE_CHECKING:
    from kanon_sql.release.differential.budget import (
        addition_of_rows,
        addition_of_table,
        budgets,
        refuse_exceeded_budget,
        spend,
    )
    from kanon_sql.release.differential.mechanism import (
        choose_levels,
        draw,
        expected_size,
        lattice_to_choose_from,
    )
    from kanon_sql.release.differential.noise import NoisePlan, Sensitivity, noise_for
    from kanon_sql.release.differential.parameters import Sampling, sampling_for
    from kanon_sql.release.differential.randomness import chosen_by_score, operating_system
    from kanon_sql.release.differential.scores import Score, score_for
    from kanon_sql.release.invariant import (
        History,
        extended_history,
        history_of,
        invariant_release,
        publish_history,
    )
    from kanon_sql.release.kept_recoding import keep, read_recoding

__all__ = [
    "MANIFEST_TABLE",
    "Addition",
    "Choice",
    "Day",
    "Deletions",
    "Entry",
    "Growing",
    "History",
    "JointVerdict",
    "JudgedRows",
    "Labelled",
    "NewRows",
    "NoisePlan",
    "Pending",
    "Record",
    "RecordedTable",
    "RelatedEntry",
    "ReleasedColumn",
    "Sampling",
    "Score",
    "Sensitivity",
    "SpentOnNoise",
    "State",
    "UnsafeNodes",
    "WrittenFile",
    "WrittenTable",
    "addition",
    "addition_of_rows",
    "addition_of_table",
    "budgets",
    "choose_levels",
    "chosen_by_score",
    "coarsened",
    "coarser_labels",
    "columns_in",
    "comparable_releases",
    "compared",
    "day_of",
    "departures_of",
    "digest_of",
    "draw",
    "drop_others",
    "drop_state",
    "expected_size",
    "extended_history",
    "file_manifest",
    "file_obstacles",
    "file_of",
    "free_name",
    "grow",
    "history_of",
    "invariant_release",
    "is_perturbed",
    "judged_rows",
    "keep",
    "kept_columns",
    "labelled_by_person",
    "labelled_with_values",
    "lattice_to_choose_from",
    "leaving_rows",
    "left_of_earlier",
    "leftover_files",
    "lowest_released_levels",
    "manifest_of",
    "manifest_of_file",
    "marks_perturbed",
    "name_obstacles",
    "never_together",
    "noise_for",
    "of_one_table",
    "of_several_tables",
    "open_state_schema",
    "operating_system",
    "pending_records",
    "promise_of",
    "protects_values",
    "publish",
    "publish_file",
    "publish_history",
    "publish_together",
    "publish_view",
    "published_manifest",
    "put_back",
    "read_ledger",
    "read_recoding",
    "refuse_exceeded_budget",
    "refuse_foreign_release",
    "refuse_later",
    "refuse_missing_schema",
    "refuse_other_release",
    "refuse_other_state",
    "refuse_other_types",
    "refuse_unequal",
    "refuse_unordered",
    "released_form",
    "released_rows",
    "remember",
    "remove_leftovers",
    "sampling_for",
    "score_for",
    "snapshot",
    "snapshot_as_source",
    "snapshot_of_texts",
    "spend",
    "staged",
    "staged_release",
    "state_of",
    "states_in",
    "take_back",
    "take_rows",
    "types_of",
    "under_another_id",
    "unreleased_rows",
    "value_forms",
    "view_obstacles",
    "wait",
    "was_published",
    "withdraw_entry",
    "write_state",
]

_HOME = {
    "History": "invariant",
    "NoisePlan": "differential.noise",
    "Sampling": "differential.parameters",
    "Score": "differential.scores",
    "Sensitivity": "differential.noise",
    "addition_of_rows": "differential.budget",
    "addition_of_table": "differential.budget",
    "budgets": "differential.budget",
    "choose_levels": "differential.mechanism",
    "chosen_by_score": "differential.randomness",
    "draw": "differential.mechanism",
    "expected_size": "differential.mechanism",
    "extended_history": "invariant",
    "history_of": "invariant",
    "invariant_release": "invariant",
    "keep": "kept_recoding",
    "read_recoding": "kept_recoding",
    "lattice_to_choose_from": "differential.mechanism",
    "noise_for": "differential.noise",
    "operating_system": "differential.randomness",
    "publish_history": "invariant",
    "refuse_exceeded_budget": "differential.budget",
    "sampling_for": "differential.parameters",
    "score_for": "differential.scores",
    "spend": "differential.budget",
}
"""What one kind of release needs alone, and the files that are imported where it is asked for."""

__getattr__ = imported_from(__name__, _HOME)
