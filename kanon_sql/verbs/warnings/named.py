"""Warnings about names: released columns that are called like identifiers, and columns of a table that a spec omits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kanon_sql.engines import Column, Workspace
from kanon_sql.spec import parts_of_key
from kanon_sql.sql import Relation
from kanon_sql.verbs.result import Warned
from kanon_sql.verbs.warnings.repeats import repeats

if TYPE_CHECKING:
    from kanon_sql.spec import Spec
    from kanon_sql.verbs.warnings.handling import Handled

__all__ = ["identifiers_present", "named_like_identifiers", "unnamed_columns"]


def named_like_identifiers(spec: Handled, released: Sequence[str]) -> list[Warned]:
    """Released columns whose names say that they point at a person. It takes no statement.

    Args:
        spec: what becomes of the warning.
        released: columns whose values are released as they are, or as the labels of a table's cells.
    """
    if spec.warnings.of("named_like_identifier") == "allow":
        return []
    if not released:
        return []
    from kanon_sql.verbs.init import seems_an_identifier

    names = [name for name in dict.fromkeys(released) if seems_an_identifier(name)]
    if not names:
        return []
    text = "the name suggests that it points" if len(names) == 1 else "the names suggest that they point"
    message = (
        f"{', '.join(names)}: released, but {text} at a person. Leave these columns out, or, if they hold something "
        f"else, set warnings: {{named_like_identifier: allow}}"
    )
    return [Warned("named_like_identifier", message, names)]


def identifiers_present(names: Sequence[str]) -> list[Warned]:
    """Columns of a checked table that the spec calls identifiers, or that hold coordinates.

    Args:
        names: these columns.
    """
    if not names:
        return []
    message = (
        f"the table holds columns that this spec does not release ({', '.join(names)}): do not pass it on; publish "
        "with kanon-sql anonymize"
    )
    return [Warned("identifiers_present", message, list(names))]


def unnamed_columns(
    workspace: Workspace, spec: Spec, table: Relation, columns: Mapping[str, Column], *, is_source: bool
) -> list[Warned]:
    """Columns of a checked table that the spec does not name, so that nothing was asked of them.

    Of a release all are named. Of the source, which may have many columns that are not released, those that point at
    single rows or persons by their names or their counts, which takes one read.

    Args:
        workspace: where the table is.
        spec: what names columns.
        table: it.
        columns: its columns by name.
        is_source: it is the spec's source.
    """
    known = {name.casefold() for name in _named(spec)}
    unnamed = [column for name, column in columns.items() if name.casefold() not in known]
    if is_source and unnamed:
        from kanon_sql.verbs.init import seems_an_identifier

        by_name = [column for column in unnamed if seems_an_identifier(column.name)]
        others = [column for column in unnamed if column not in by_name and column.kind not in ("ambiguous", "boolean")]
        unique = {item.name for item in repeats(workspace, table, others, shown=True) if item.is_nearly_unique}
        unnamed = [column for column in unnamed if column in by_name or column.name in unique]
    if not unnamed:
        return []
    names = [column.name for column in unnamed]
    about = "which point at single rows or persons, " if is_source else ""
    message = (
        f"{', '.join(names)}: the spec does not name {'this column' if len(names) == 1 else 'these columns'}, "
        f"{about}so nothing was checked about {'it' if len(names) == 1 else 'them'}. Remove "
        f"{'it' if len(names) == 1 else 'them'} from the table, or name {'it' if len(names) == 1 else 'them'} in the "
        "spec: quasi_identifiers, sensitive, keep or identifiers"
    )
    return [Warned("unnamed_columns", message, names)]


def _named(spec: Spec) -> list[str]:
    """All columns that a spec has a role for, in its source or in a release of it."""
    coordinates = [name for point in spec.points.values() for name in point.columns]
    computed = [column.name for column in spec.computed]
    unit = [] if spec.unit is None else [spec.unit, *parts_of_key(spec.unit)]
    roles = [*spec.quasi_identifiers, *spec.sensitive, *spec.keep, *spec.identifiers]
    return [*roles, *unit, *coordinates, *computed, *spec.inspected_columns]
