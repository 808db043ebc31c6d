"""The warning that classes are counted in rows where a person has several: k rows may then be one person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kanon_sql.engines import Column, Workspace
from kanon_sql.evaluate import few
from kanon_sql.models import PrivacyModel
from kanon_sql.release import Choice, labelled_by_person
from kanon_sql.spec import Spec, parts_of_key
from kanon_sql.sql import Relation, source_relation
from kanon_sql.verbs.init import ColumnProfile, followed, has_enough_values, is_person_key
from kanon_sql.verbs.result import Warned
from kanon_sql.verbs.warnings.repeats import repeats

if TYPE_CHECKING:
    from kanon_sql.disclosure.risk import RiskFrames

__all__ = ["Repeated", "persons_in_choice", "persons_in_table", "repeated_persons"]

MOST_COLUMNS = 16
"""This many columns are looked at for a person's key: the spec's identifiers, then those with such a name; and as many
others for the persons of a panel."""

FIRST_ROWS = 10_000
"""This many rows tell that a column has few values."""

MOST_ROWS = 100
"""Rows per value, on average, above which a column is no person's key."""


@dataclass(frozen=True)
class Repeated:
    """A column that identifies persons with several rows each.

    Attributes:
        column: it.
        rows: rows with a value of it.
        values: different ones.
        reason: what makes it a person's key.
    """

    column: Column
    rows: int
    values: int
    reason: str


def repeated_persons(
    workspace: Workspace, spec: Spec, table: Relation, columns: Mapping[str, Column]
) -> Iterator[Repeated]:
    """The columns that seem to identify persons with several rows each, likeliest first.

    Looked at are the columns that are no quasi-identifiers and no sensitive attributes: the spec's identifiers, names
    such as ``patient_id``, and, as ``init`` does, whatever makes a key of the table together with another column while
    its own values repeat, as in a panel. It takes one pass over the table where there is such a column, and two more
    where the third kind is likely.

    Args:
        workspace: whose source the table is, where it is read.
        spec: it names no unit.
        table: the source, or a table to check.
        columns: its columns by name.
    """
    named, free = _to_look_at(spec, columns)
    if named or free:
        workspace.report("looking for persons with several rows", None)
    for profile in repeats(workspace, table, named):
        if 1 < profile.distinct < profile.filled <= MOST_ROWS * profile.distinct:
            direct_id = profile.name.casefold() in _direct(spec)
            reason = "the spec lists it as an identifier" if direct_id else "its name is typical for a person's key"
            yield Repeated(profile.column, profile.filled, profile.distinct, reason)
    if table == source_relation() and (panel := _followed(workspace, free, columns)) is not None:
        yield panel


def _followed(workspace: Workspace, free: Sequence[Column], columns: Mapping[str, Column]) -> Repeated | None:
    """The persons that a panel follows. A few rows tell which columns have too few values for that."""
    first = repeats(workspace, source_relation(), free, FIRST_ROWS)
    likely = [profile.column for profile in first if has_enough_values(profile)]
    profiles = repeats(workspace, source_relation(), likely)
    if not any(_may_be_followed(profile) for profile in profiles):
        return None
    others = [column for column in columns.values() if column.kind != "ambiguous" and column not in likely]
    panel = followed(workspace, [*profiles, *repeats(workspace, source_relation(), others)])
    if panel is None or panel[0].column not in likely:
        return None
    who, when = panel
    return Repeated(who.column, who.filled, who.distinct, f"with {when.name} it is the key of the table, as in a panel")


def _direct(spec: Spec) -> set[str]:
    """The columns that the spec says name a person; its unit too, for a check that counts rows nevertheless."""
    return {
        name.casefold()
        for name in (*spec.identifiers, *parts_of_key(spec.unit), *([] if spec.unit is None else [spec.unit]))
    }


def _to_look_at(spec: Spec, columns: Mapping[str, Column]) -> tuple[list[Column], list[Column]]:
    """The columns that name a person by what the spec or their own name says, and others that could; some of each.

    A key may be of any type that identifies persons: keys with gaps are often read as decimals. Times are taken for
    keys by their name alone, since a date of birth is an identifier too, and many persons share it.
    """
    used = {name.casefold() for name in (*spec.quasi_identifiers, *spec.sensitive)}
    direct = _direct(spec)
    unused = [
        column
        for column in columns.values()
        if column.name.casefold() not in used and column.kind not in ("boolean", "ambiguous")
    ]
    times = ("date", "timestamp", "moment")
    direct_id = [column for column in unused if column.name.casefold() in direct and column.kind not in times]
    called = [column for column in unused if column not in direct_id and is_person_key(ColumnProfile(column, 0, 0, 0))]
    others = [
        column
        for column in unused
        if column not in direct_id and column not in called and column.kind in ("integer", "text", "other")
    ]
    return [*direct_id, *called][:MOST_COLUMNS], others[:MOST_COLUMNS]


def _may_be_followed(profile: ColumnProfile) -> bool:
    return 2 * profile.distinct <= profile.filled == profile.rows <= MOST_ROWS * profile.distinct


def persons_in_choice(workspace: Workspace, choice: Choice, found: Repeated) -> list[Warned]:
    """Warn if classes of a release have too few persons.

    Args:
        workspace: where.
        choice: what is released.
        found: who the persons seem to be.
    """
    if choice.mapped is not None and (choice.mapped.slices or choice.spec.recoding.declared.of_rows):
        return [_unmeasured(found)]
    from kanon_sql.disclosure.risk import RiskFrames

    labelled, columns, person = labelled_by_person(workspace, choice, found.column.name)
    frames = RiskFrames(labelled, [columns[name] for name in choice.quasi_identifiers], columns[person])
    return persons_in_table(workspace, choice.models, frames, found)


def persons_in_table(
    workspace: Workspace, models: Sequence[PrivacyModel], frames: RiskFrames, found: Repeated
) -> list[Warned]:
    """Warn if classes of a table have too few persons, which one of its columns identifies."""
    from kanon_sql.disclosure.risk import histogram_of

    least = few(models)
    histogram = histogram_of(workspace, frames)
    below = {size: count for size, count in histogram.sizes.items() if size < least}
    if not below:
        return []
    classes, smallest = sum(below.values()), min(below)
    of_all = sum(histogram.sizes.values())
    message = (
        f"rows were counted, and {found.column.name} seems to identify persons ({found.reason}): {classes:,} of "
        f"{of_all:,} classes {'has' if classes == 1 else 'have'} fewer than {least:,} of them, one has {smallest:,}. "
        f"{_remedy(found)}"
    )
    figures = {"classes": of_all, "classes_below": classes, "least": least, "smallest": smallest}
    return [Warned("rows_not_persons", message, [found.column.name], figures)]


def _unmeasured(found: Repeated) -> Warned:
    message = (
        f"rows were counted, and {found.column.name} seems to identify persons ({found.reason}). With this recoding "
        f"the number of persons per label is not known. {_remedy(found)}"
    )
    return Warned("rows_not_persons", message, [found.column.name])


def _remedy(found: Repeated) -> str:
    return (
        f"Set unit: {found.column.name} to protect persons, or, if it identifies something else, set warnings: "
        f"{{rows_not_persons: allow}}"
    )
