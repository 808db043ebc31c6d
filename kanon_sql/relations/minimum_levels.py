"""Labels in released tables below the lowest level that the spec allows, by the values of the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import DatabaseError, HierarchyError, QueryTimeout, SpecError
from kanon_sql.frequency import plain_source_of, unknown_columns
from kanon_sql.hierarchies import build_lookups, exact_value
from kanon_sql.relations.members import Placed
from kanon_sql.relations.release import ReleasedTable
from kanon_sql.spec import PERSON, ItemColumn, RelationalSpec
from kanon_sql.sql import Sql, exact_text, identifier, source_relation

__all__ = ["BelowMinimum", "below_minimum"]


@dataclass(frozen=True)
class BelowMinimum:
    """What was found of the labels of columns with a ``minimum_level``.

    Attributes:
        rows: table and column -> rows with a label of a lower level only; none without any.
        unknown: table and column -> rows with a label that no value of the source has, so that its level is not known.
        unchecked: why columns were not checked -> these columns.
    """

    rows: Mapping[str, int]
    unknown: Mapping[str, int]
    unchecked: Mapping[str, Sequence[str]]


def below_minimum(workspace: Workspace, spec: RelationalSpec, tables: Mapping[str, ReleasedTable]) -> BelowMinimum:
    """Look up the levels of released labels, for columns that have a lowest level.

    A label is known by the source's values alone: ``E11`` may be a value, or what several values have in common. A text
    that is a label on several levels counts as one of the highest of them.

    Args:
        workspace: where.
        spec: names the sources, and the levels.
        tables: the released tables.
    """
    rows: dict[str, int] = {}
    unknown: dict[str, int] = {}
    unchecked: dict[str, list[str]] = {}
    for number, name in enumerate((PERSON, *spec.below)):
        placed = Placed(spec, name)
        limited = [column for column, item in placed.quasi_identifiers.items() if item.minimum_level]
        if not limited:
            continue
        try:
            found = _levels(workspace.apart(f"levels{number}_"), placed, tables[name], limited)
        except QueryTimeout:
            raise
        except (_NotReadError, DatabaseError, HierarchyError, SpecError) as error:
            unchecked.setdefault(str(error), []).extend(f"{name}.{column}" for column in limited)
            continue
        for column, low, others in found:
            rows |= {f"{name}.{column}": low} if low else {}
            unknown |= {f"{name}.{column}": others} if others else {}
    return BelowMinimum(rows, unknown, unchecked)


class _NotReadError(Exception):
    """Why the source of a table is not read."""


def _levels(
    workspace: Workspace, placed: Placed, released: ReleasedTable, limited: Sequence[str]
) -> list[tuple[str, int, int]]:
    """Columns with their rows below the lowest level, and those with labels that the source does not have."""
    if isinstance(placed.table, ItemColumn):
        raise _NotReadError("items are split from a column, and are not split again for it")
    source = placed.source.table
    if source is not None and workspace.engine.exists(source) is None:
        raise _NotReadError("levels are known by the values of the source, which is not there")
    form = plain_source_of(workspace.engine, placed)
    types = workspace.described(form)
    problems = unknown_columns(placed.shown, types, placed.quasi_identifiers, "which the spec names")
    if problems:
        raise SpecError(problems)
    raw = workspace.table("raw")
    workspace.reading(form).execute(
        "frequency/raw",
        target=raw,
        names=[f"q{place}" for place, _ in enumerate(placed.quasi_identifiers)],
        values=[exact_value(types[column], "kanon_source") for column in placed.quasi_identifiers],
        source=source_relation(),
    )
    columns = workspace.columns(released.table)
    found = []
    for lookup in build_lookups(workspace, placed, dict(types), raw, numbered=False):
        if lookup.name in limited:
            low, others = workspace.row(
                "relations/below_minimum",
                released=released.table,
                label=_text(columns[lookup.name]),
                lookup=lookup.table,
                levels=[level for level in range(lookup.height + 1) if level not in lookup.unlabelled],
                minimum=lookup.quasi_identifier.minimum_level,
            )
            found.append((lookup.name, int(low), int(others)))
    return found


def _text(column: Column) -> Sql:
    """A released label as text, compared exactly."""
    if column.kind == "text":
        return exact_value(column, "own")
    return exact_text(Sql(f"CAST(own.{identifier(column.name)} AS VARCHAR)"))
