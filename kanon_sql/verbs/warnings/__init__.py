"""Warnings: risks that a passing verdict does not cover, each with a code.

What looks at a written table is imported where one is looked at: a plan has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kanon_sql.engines import Column, Workspace
from kanon_sql.evaluate import Chosen
from kanon_sql.frequency import has_equal_rows
from kanon_sql.models import PrivacyModel
from kanon_sql.recode import RecodingResult
from kanon_sql.spec import Spec, parts_of_key
from kanon_sql.sql import Relation, source_relation
from kanon_sql.verbs.result import Warned
from kanon_sql.verbs.warnings.births import births_in_future
from kanon_sql.verbs.warnings.codes import leading_zeros_lost
from kanon_sql.verbs.warnings.digits import numbers_as_text
from kanon_sql.verbs.warnings.generalized import fully_generalized
from kanon_sql.verbs.warnings.handling import failed_by, heeded
from kanon_sql.verbs.warnings.linked import linked_rows
from kanon_sql.verbs.warnings.named import identifiers_present, named_like_identifiers, unnamed_columns
from kanon_sql.verbs.warnings.readers import readable_by_others
from kanon_sql.verbs.warnings.uneven import uneven

if TYPE_CHECKING:
    from kanon_sql.release import Choice, WrittenTable

__all__ = [
    "failed_by",
    "heeded",
    "linked_rows",
    "named_like_identifiers",
    "readable_by_others",
    "warnings_of_plan",
    "warnings_of_planned",
    "warnings_of_release",
    "warnings_of_table",
]


def warnings_of_plan(found: Chosen | RecodingResult, *, brief: bool = False) -> list[Warned]:
    """What can be said before anything is written.

    Args:
        found: what was chosen.
        brief: leave out what takes a statement, unless the verdict depends on it.
    """
    spec, warned = found.spec, fully_generalized(found)
    warned += named_like_identifiers(spec, [*spec.sensitive, *spec.keep])
    if spec.warnings.uneven_suppression == "error" or (spec.warnings.uneven_suppression == "warn" and not brief):
        warned += uneven(found)
    if spec.warnings.numbers_as_text == "error" or (spec.warnings.numbers_as_text == "warn" and not brief):
        warned += numbers_as_text(found)
    if spec.warnings.births_in_future == "error" or (spec.warnings.births_in_future == "warn" and not brief):
        warned += births_in_future(found)
    if spec.warnings.leading_zeros_lost == "error" or (spec.warnings.leading_zeros_lost == "warn" and not brief):
        warned += leading_zeros_lost(found)
    return heeded(spec, warned)


def warnings_of_release(found: Chosen | RecodingResult, choice: Choice, written: WrittenTable) -> list[Warned]:
    """What should be known before a release is published.

    Args:
        found: what was chosen.
        choice: the same, as it is written.
        written: the release, not yet published.
    """
    warned = [*warnings_of_plan(found), *_of_rows(found, written.table)]
    if found.spec.sensitive or found.spec.keep:
        from kanon_sql.verbs.warnings.revealing import revealing_columns

        warned += revealing_columns(found.workspace, choice)
    return [*warned, *_of_persons(found, choice), *_of_cuts(found)]


def _of_cuts(found: Chosen | RecodingResult) -> list[Warned]:
    """That others may read the recoding that is kept, where that has values of the source."""
    if not isinstance(found, RecodingResult) or found.spec.recoding.save_as is None or found.mapped.cuts is None:
        return []
    what = "the cuts of the recoding, which are values of the source"
    return readable_by_others(found.workspace.engine, found.spec, found.spec.recoding.save_as, what)


def _of_rows(
    found: Chosen | RecodingResult, table: Relation, columns: Mapping[str, Column] | None = None
) -> list[Warned]:
    """What the released rows show by themselves: columns that single rows out, and values spelled in several ways.

    Args:
        found: what was chosen.
        table: the rows.
        columns: those that are released, by name; None to ask the catalog, where a warning looks at them.
    """
    spec, workspace, warned = found.spec, found.workspace, []
    released = [*spec.sensitive, *spec.kept_values]
    alone = bool(released) and spec.warnings.nearly_unique_kept != "allow"
    compared = any(model.attribute is not None for model in found.models) or spec.unit is not None
    if columns is None:
        columns = workspace.columns(table) if alone or compared else {}
    if alone:
        from kanon_sql.verbs.warnings.columns import nearly_unique

        warned += nearly_unique(workspace, table, columns, list(spec.quasi_identifiers), released)
    if compared:
        from kanon_sql.verbs.warnings.spelling import spelled_differently

        persons = None if spec.unit is None else (source_relation(), found.columns)
        warned += spelled_differently(workspace, spec, found.models, (table, columns), persons)
    return warned


def _of_persons(found: Chosen | RecodingResult, choice: Choice) -> list[Warned]:
    """That classes have fewer persons than rows, where the spec names no person."""
    from kanon_sql.verbs.warnings.persons import persons_in_choice, repeated_persons

    spec, workspace = found.spec, found.workspace
    if spec.unit is None and spec.count is None and spec.warnings.rows_not_persons != "allow":
        for number, repeated in enumerate(repeated_persons(workspace, spec, source_relation(), found.columns)):
            if few_persons := persons_in_choice(workspace.apart(f"persons{number}_"), choice, repeated):
                return few_persons
    return []


def warnings_of_planned(found: Chosen | RecodingResult, choice: Choice) -> list[Warned]:
    """What should be known of a release that something else writes: the rows that it would have are looked at.

    They are read into a scratch table, labels beside values.

    Args:
        found: what was chosen.
        choice: the same, as it would be written.
    """
    from kanon_sql.release import labelled_with_values
    from kanon_sql.verbs.warnings.revealing import revealing_columns

    rows = labelled_with_values(found.workspace, choice)
    warned = _of_rows(found, rows.table, {name: column for name, column in rows.columns.items() if name != rows.unit})
    return heeded(
        found.spec,
        [
            *warnings_of_plan(found),
            *warned,
            *revealing_columns(found.workspace, choice, rows),
            *_of_persons(found, choice),
        ],
    )


def warnings_of_table(
    workspace: Workspace,
    spec: Spec,
    models: Sequence[PrivacyModel],
    table: Relation,
    columns: Mapping[str, Column],
    *,
    counts_rows: bool,
    is_source: bool,
    identifiers: Sequence[str],
    person: str | None,
) -> list[Warned]:
    """What should be known of a table as it is.

    Args:
        workspace: where it is.
        spec: the roles of its columns.
        models: the requirements.
        table: it.
        columns: its columns by name.
        counts_rows: its classes were counted in rows.
        is_source: it is the spec's source, and no release.
        identifiers: columns of it that a release leaves out.
        person: the column that says whose rows are compared with another version of the table; None without.
    """
    from kanon_sql.disclosure.risk import RiskFrames
    from kanon_sql.verbs.warnings.columns import nearly_unique
    from kanon_sql.verbs.warnings.persons import persons_in_table, repeated_persons
    from kanon_sql.verbs.warnings.revealing import linking_columns
    from kanon_sql.verbs.warnings.spelling import spelled_differently

    names, warned = list(spec.quasi_identifiers), []
    if spec.warnings.nearly_unique_kept != "allow":
        # Rows that are equal but for how many persons they stand for: a release of ours has none.
        kept = spec.keep if has_equal_rows(workspace, spec, table, columns) else spec.kept_values
        warned += nearly_unique(workspace, table, columns, names, kept)
    persons = None if counts_rows else (table, columns)
    warned += linking_columns(workspace, spec, models, table, columns, None if counts_rows else spec.unit)
    warned += spelled_differently(workspace, spec, models, (table, columns), persons)
    there = {name.casefold() for name in columns}
    warned += named_like_identifiers(spec, [n for n in [*spec.sensitive, *spec.keep] if n.casefold() in there])
    if is_source:
        warned += identifiers_present(identifiers)
    if spec.warnings.unnamed_columns != "allow":
        others = {name: column for name, column in columns.items() if name not in (person, *parts_of_key(person))}
        warned += unnamed_columns(workspace, spec, table, others, is_source=is_source)
    if counts_rows and spec.count is None and spec.warnings.rows_not_persons != "allow":
        for repeated in repeated_persons(workspace, spec, table, columns):
            frames = RiskFrames(table, [columns[name] for name in names], repeated.column)
            if few_persons := persons_in_table(workspace, models, frames, repeated):
                warned += few_persons
                break
    return heeded(spec, warned)
