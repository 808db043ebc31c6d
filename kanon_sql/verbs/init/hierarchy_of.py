"""A hierarchy for one more column of a spec, as ``init`` suggests it: from its name, its type and counts."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.engines import Column, Engine, Reporter, open_workspace
from kanon_sql.errors import SpecError
from kanon_sql.frequency import source_of
from kanon_sql.spec import Spec, did_you_mean
from kanon_sql.verbs.init.draft import usable_columns
from kanon_sql.verbs.init.interview import by_spread
from kanon_sql.verbs.init.profile import profile_columns
from kanon_sql.verbs.init.suggest import Suggestion, as_quasi_identifier_of
from kanon_sql.verbs.result import Cost
from kanon_sql.verbs.run import running

__all__ = ["SourceColumns", "SuggestedHierarchy", "columns_of_source", "suggest_hierarchy"]


@dataclass(frozen=True)
class SourceColumns:
    """The columns of a spec's source that a spec can name, in the order of the table, and what it took to list them."""

    columns: tuple[Column, ...]
    cost: Cost


@dataclass(frozen=True)
class SuggestedHierarchy:
    """A hierarchy, and what it took.

    Attributes:
        column: whose it is.
        hierarchy: as YAML.
        hint: what its levels are, and what would be better; no value of the data.
        cost: of the statements.
    """

    column: str
    hierarchy: str
    hint: str
    cost: Cost


def columns_of_source(engine: Engine, spec: Spec, *, report: Reporter | None = None) -> SourceColumns:
    """The columns of a spec's source; no row is read.

    Raises:
        SpecError: there is no such source.
        DatabaseError: it cannot be read.
    """
    with running(engine, None, report) as run:
        found, _ = usable_columns(engine.columns(source_of(engine, spec)))
        return SourceColumns(tuple(found), run.cost)


def suggest_hierarchy(engine: Engine, spec: Spec, column: str, *, report: Reporter | None = None) -> SuggestedHierarchy:
    """A hierarchy that fits a column of the source. One pass counts; a number with intervals takes a second one.

    Args:
        engine: a read-only connection is enough.
        spec: its source is the table.
        column: the column.
        report: called with each stage in plain words.

    Raises:
        SpecError: the source has no such column that a spec can use.
        DatabaseError: it cannot be read.
    """
    with running(engine, None, report) as run:
        relation = source_of(engine, spec)
        with open_workspace(engine, relation) as workspace:
            columns, _ = usable_columns(engine.columns(relation))
            own = [item for item in columns if item.name == column]
            if not own:
                names = [item.name for item in columns]
                raise SpecError(
                    f"the source has no column {column!r} that a spec can use; it is missing, or its type has no "
                    f"hierarchy{did_you_mean(column, names)}"
                )
            workspace.report(f"profiling {column}: one pass that counts", None)
            _, (profile,) = profile_columns(workspace, own)
            (found,) = by_spread(workspace, [as_quasi_identifier_of(Suggestion(profile, "left_out", ""), "")])
        return SuggestedHierarchy(column, found.hierarchy, found.hint, run.cost)
