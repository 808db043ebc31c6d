"""m-invariant releases: written and verified, and the history that the next one is held to.

The history is a table beside the releases with a row per row of a class: the class, the number of its set of values
(its signature), the person, and the sensitive value. Anyone who was ever released is in it once, in the class of their
last release; a class stays as long as a person is in it. So a history is m-unique itself, and a release can be compared
with it as with an earlier version of the table. It is as sensitive as the source.

It is published before the release is. Whatever happens in between, later releases are held to more than was published,
and never to less.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import Column, Workspace, now
from kanon_sql.errors import KanonError, SpecError, VerificationError
from kanon_sql.hierarchies import exact_value
from kanon_sql.recode import InvariantClasses, Past
from kanon_sql.release.manifest import MANIFEST_TABLE, MAX_PENDING, under_another_id
from kanon_sql.release.publish import HISTORY, publish, refuse_foreign_release
from kanon_sql.release.write import in_schema_of, staged
from kanon_sql.spec import (
    CLASS_COLUMN,
    COUNTERFEITS_COLUMN,
    SIGNATURE_COLUMN,
    MInvarianceRequirement,
    Spec,
    format_table_name,
)
from kanon_sql.sql import Relation, source_relation
from kanon_sql.version import __version__

__all__ = ["History", "InvariantRelease", "extended_history", "history_of", "invariant_release", "publish_history"]


@dataclass(frozen=True)
class History:
    """What was released before, as a history remembers it.

    Attributes:
        past: the table and its columns.
        run_id: the run that wrote it.
        releases: the names of the releases, in order.
    """

    past: Past
    run_id: str
    releases: tuple[str, ...]


@dataclass(frozen=True)
class InvariantRelease:
    """A release that was written, and is not visible under its name yet.

    Attributes:
        table: it.
        internal: the same with persons and the numbers of their sets of values, a scratch table.
        columns: the columns of that.
    """

    table: Relation
    internal: Relation
    columns: Mapping[str, Column]


def history_of(
    workspace: Workspace, spec: Spec, requirement: MInvarianceRequirement, columns: Mapping[str, Column]
) -> History | None:
    """What was released before; None where this is to be the first release of a sequence.

    Args:
        workspace: where.
        spec: what is to be released.
        requirement: names the history.
        columns: the source's columns by name.

    Raises:
        SpecError: something else has the name, or a history of another attribute, person or m.
    """
    named = _named(spec, requirement)
    run_id = refuse_foreign_release(workspace, named, key=HISTORY)
    if run_id is None:
        return None
    assert named.release is not None
    assert spec.unit is not None
    workspace.engine.shared(named.release)
    shown = format_table_name(named.release)
    manifest = in_schema_of(named.release, MANIFEST_TABLE)
    rows = workspace.fetch("release/manifest/read", MAX_PENDING, table=manifest, run_id=run_id)
    record = json.loads(str(rows[0][1]))["history"]
    own = {"m": requirement.m, "attribute": requirement.attribute, "person": spec.unit}
    for what, value in own.items():
        if record[what] != value:
            raise SpecError(
                f"{HISTORY}: {shown} is the history of a sequence of releases with another {what} than this spec's; "
                "choose another name to begin a new sequence, whose releases are then not compared with those"
            )
    table = Relation(named.release)
    found = workspace.columns(table)
    for name in (spec.unit, requirement.attribute):
        if found[name].kind != columns[name].kind:
            raise SpecError(
                f"{name!r} is {found[name].type} in {shown} and {columns[name].type} in the source now; cast it in a "
                "source query"
            )
    return History(Past(table, found, SIGNATURE_COLUMN), run_id, tuple(record["releases"]))


def _named(spec: Spec, requirement: MInvarianceRequirement) -> Spec:
    """The spec as if the history were the release."""
    assert spec.release is not None
    parts = in_schema_of(spec.release, requirement.history[-1]).parts
    return spec.model_copy(update={"release": parts})


@contextmanager
def invariant_release(
    workspace: Workspace, spec: Spec, columns: Mapping[str, Column], found: InvariantClasses
) -> Iterator[InvariantRelease]:
    """The release under a scratch name, verified but for its invariance; dropped at the end unless it was published.

    Args:
        workspace: where.
        spec: what is released.
        columns: the source's columns by name.
        found: the classes.

    Raises:
        VerificationError: the written table is not what the classes say, or does not hold every person with a true
            label and their value; it was dropped.
    """
    assert spec.release is not None
    with staged(workspace, spec.release) as target:
        workspace.report("writing the release", None)
        internal = workspace.table("m_internal")
        workspace.execute(
            "release/invariant/internal",
            target=internal,
            members=found.members,
            classes=found.classes,
            known=found.known,
            placed=found.placed,
            items=[{"index": lookup.index, "name": lookup.name} for lookup in found.lookups],
            names=_names(spec),
        )
        shown = [name for name in columns if name in spec.quasi_identifiers or name in spec.sensitive]
        names = [CLASS_COLUMN, *shown, COUNTERFEITS_COLUMN]
        workspace.execute(
            "release/copy", target=target, staged=internal, names=names, computed={}, mark=None, merged=None
        )
        workspace.report("verifying the written table", None)
        released = InvariantRelease(target, internal, workspace.columns(internal))
        _verify(workspace, spec, columns, found, released, names)
        yield released


def _names(spec: Spec) -> dict[str, str]:
    """What the columns of the internal table and of a history are called."""
    assert spec.unit is not None
    (attribute,) = spec.sensitive
    return {
        "number": CLASS_COLUMN,
        "attribute": attribute,
        "counterfeits": COUNTERFEITS_COLUMN,
        "person": spec.unit,
        "signature": SIGNATURE_COLUMN,
    }


def _verify(
    workspace: Workspace,
    spec: Spec,
    columns: Mapping[str, Column],
    found: InvariantClasses,
    released: InvariantRelease,
    names: Sequence[str],
) -> None:
    """See that the written table holds what the internal one does, and that this is true of every person."""
    written, internal = workspace.columns(released.table), released.columns
    if list(written) != list(names):
        raise VerificationError("verification: the written table does not have the promised columns; it was dropped")
    (attribute,) = spec.sensitive
    requirement = spec.m_invariance
    assert requirement is not None
    assert spec.unit is not None
    order = [CLASS_COLUMN, attribute, COUNTERFEITS_COLUMN, *spec.quasi_identifiers]
    figures = workspace.row(
        "release/invariant/written",
        written=released.table,
        internal=released.internal,
        written_values=[exact_value(written[name], "checked") for name in order],
        internal_values=[exact_value(internal[name], "checked") for name in order],
        labels=list(range(3, len(order))),
        person=exact_value(internal[spec.unit], "checked"),
        m=requirement.m,
    )
    rows, there, common, wrong, miscounted = map(int, figures)
    if not rows == there == common == found.rows + found.counterfeits:
        raise VerificationError(
            f"verification: {rows} rows were written and {common} of them are those of the classes, where "
            f"{found.rows + found.counterfeits} were expected; the table was dropped"
        )
    if wrong or miscounted:
        raise VerificationError(
            f"verification: {wrong} written classes are not {requirement.m}-unique or not labelled alike, and "
            f"{miscounted} do not have the counterfeits that they say; the table was dropped"
        )
    persons, values, *labels = map(int, _truth(workspace, spec, columns, found, released))
    if not persons == values == found.rows or any(true != found.rows for true in labels):
        raise VerificationError(
            f"verification: of {found.rows} persons, {persons} have a row, {values} with their value, and "
            f"{min(labels)} with true labels (did the source change while it was read?); the table was dropped"
        )


def _truth(
    workspace: Workspace,
    spec: Spec,
    columns: Mapping[str, Column],
    found: InvariantClasses,
    released: InvariantRelease,
) -> tuple[Any, ...]:
    (attribute,) = spec.sensitive
    requirement = spec.m_invariance
    assert requirement is not None
    assert spec.unit is not None
    return workspace.row(
        "release/invariant/truth",
        source=source_relation(),
        internal=released.internal,
        person_source=exact_value(columns[spec.unit], "kanon_source"),
        person_now=exact_value(released.columns[spec.unit], "now"),
        value_source=exact_value(columns[attribute], "kanon_source"),
        value_now=exact_value(released.columns[attribute], "now"),
        classes=found.classes,
        number=CLASS_COLUMN,
        items=[
            {
                "index": lookup.index,
                "table": lookup.table,
                "top": lookup.top,
                "ranged": lookup.name in requirement.in_ranges,
                "levels": []
                if lookup.name in requirement.in_ranges
                else list(range(lookup.quasi_identifier.minimum_level, lookup.height)),
                "value": exact_value(columns[lookup.name], "kanon_source"),
                "label": exact_value(released.columns[lookup.name], "now"),
                "has_nulls": lookup.has_nulls,
            }
            for lookup in found.lookups
        ],
    )


@contextmanager
def extended_history(
    workspace: Workspace,
    spec: Spec,
    requirement: MInvarianceRequirement,
    earlier: History | None,
    released: InvariantRelease,
) -> Iterator[Relation]:
    """The history with the release in it, under a scratch name; dropped at the end unless it was published.

    Args:
        workspace: where; inside the block, what is published has the history's id.
        spec: what is released.
        requirement: names the history.
        earlier: the history so far.
        released: the release.

    Raises:
        VerificationError: a person is missing in it.
    """
    named = _named(spec, requirement)
    assert named.release is not None
    assert spec.unit is not None
    past = None if earlier is None else earlier.past
    person = {
        "person_now": exact_value(released.columns[spec.unit], "now"),
        "person_past": None if past is None else exact_value(past.columns[spec.unit], "past"),
    }
    with under_another_id(workspace.engine, "history"), staged(workspace, named.release) as target:
        workspace.execute(
            "release/invariant/history",
            target=target,
            internal=released.internal,
            history=None if past is None else past.table,
            names=_names(spec),
            **person,
        )
        found = workspace.row(
            "release/invariant/remembered",
            history=target,
            internal=released.internal,
            earlier=None if past is None else past.table,
            person=exact_value(workspace.columns(target)[spec.unit], "checked"),
            **person,
        )
        persons, expected = map(int, found)
        if persons != expected:
            raise VerificationError(
                f"verification: the history would hold {persons} persons of {expected}; nothing was published"
            )
        yield target


def publish_history(
    workspace: Workspace, spec: Spec, requirement: MInvarianceRequirement, earlier: History | None, table: Relation
) -> None:
    """Put the extended history in the place of the earlier one, inside the block that wrote it.

    Raises:
        DatabaseError: another run has extended it since it was read; nothing was published.
        SpecError: something else has the name.
    """
    named = _named(spec, requirement)
    assert named.release is not None
    assert spec.release is not None
    releases = [] if earlier is None else list(earlier.releases)
    manifest = {
        "kanon_sql": __version__,
        "run_id": workspace.run_id,
        "published_at": now(),
        "release": format_table_name(named.release),
        "history": {
            "m": requirement.m,
            "attribute": requirement.attribute,
            "person": spec.unit,
            "releases": [*releases, format_table_name(spec.release)],
        },
    }
    try:
        publish(workspace, named, table, manifest, replacing=(None if earlier is None else earlier.run_id,))
    except KanonError as error:
        raise type(error)(f"{error}; the release was not published") from None
