"""Let a release grow: in its place where one transaction can change it with its state, else as a new table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import DatabaseError, VerificationError
from kanon_sql.release.amend import amend, amends
from kanon_sql.release.coarser import Coarser
from kanon_sql.release.deletions import Deletions
from kanon_sql.release.increments import Day, JudgedRows, remember, wait
from kanon_sql.release.publish import publish
from kanon_sql.release.state import State, drop_state, states_in, write_state
from kanon_sql.release.write import staged
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation

__all__ = ["Growing", "drop_others", "grow"]


@dataclass(frozen=True)
class Growing:
    """A release that is about to change.

    Attributes:
        spec: what is released.
        columns: the source's columns.
        before: the state that was read.
        after: the state then.
        day: the rows that might be released.
        judged: each of them, released or not.
        written: those that are, verified; None where none is.
        departures: what goes; None for nothing.
        coarser: the labels of what stands at other levels; None where levels stay.
        examine: looks at a whole release; raises where a requirement does not hold.
        examine_all: the whole release is examined also where levels stay.
    """

    spec: Spec
    columns: Mapping[str, Column]
    before: State
    after: State
    day: Day
    judged: JudgedRows
    written: Relation | None
    departures: Deletions | None
    coarser: Coarser | None
    examine: Callable[[Relation], None]
    examine_all: bool

    @property
    def release(self) -> Relation:
        """The release under its name."""
        assert self.spec.release is not None
        return Relation(self.spec.release)

    @property
    def changes(self) -> Relation | None:
        """What becomes of rows that were released."""
        return None if self.departures is None else self.departures.changes


def grow(workspace: Workspace, growing: Growing, manifest: Mapping[str, Any]) -> None:
    """Change the release and its state.

    Args:
        workspace: where.
        growing: what changes.
        manifest: what to record.

    Raises:
        VerificationError: the release is not what its state says, or would not satisfy; nothing was changed.
        DatabaseError: another run has changed it meanwhile.
    """
    row_id = workspace.capabilities.row_id
    hidden = row_id in {name.lower() for name in workspace.columns(growing.release)}
    if growing.coarser is None and amends(workspace.engine) and not hidden:
        amend(
            workspace,
            growing.spec,
            growing.before,
            growing.after,
            manifest,
            lambda: _change_in_place(workspace, growing),
        )
    else:
        growing = replace(growing, after=replace(growing.after, tables=growing.after.run_id))
        _replace(workspace, growing, manifest)
    with workspace.engine.without_deadline(), suppress(DatabaseError):
        drop_others(workspace, growing.after)


def _change_in_place(workspace: Workspace, growing: Growing) -> None:
    """Inside of a transaction."""
    before, spec, names = growing.before, growing.spec, list(growing.before.columns)
    if (departures := growing.departures) is not None:
        departures.take_out(growing.release, departures.deleted_rows(growing.release))
        workspace.execute(
            "release/state/insert_changes",
            target=before.published,
            names=names,
            labelled=list(spec.quasi_identifiers),
            changes=departures.changes,
        )
    if growing.written is not None:
        shown = list(workspace.columns(growing.written))
        workspace.execute("release/state/append", target=growing.release, names=shown, written=growing.written)
        remember(
            workspace, spec, growing.columns, names, growing.judged, growing.after.batch, into=before.published,
            insert=True,
        )  # fmt: skip
    workspace.execute("release/state/empty", table=before.waiting)
    wait(workspace, names, growing.judged, growing.day, into=before.waiting, insert=True)
    if growing.examine_all or workspace.capabilities.has_row_counts:
        _refuse_other_count(workspace, growing, growing.release)
    if growing.examine_all:
        growing.examine(growing.release)


def _replace(workspace: Workspace, growing: Growing, manifest: Mapping[str, Any]) -> None:
    """A new table in the place of the release, and a new state beside the old one until it stands."""
    spec, before, after, names = growing.spec, growing.before, growing.after, list(growing.before.columns)
    assert spec.release is not None
    departures, standing = growing.departures, growing.release
    shown = list(workspace.columns(standing))
    if departures is not None and departures.removed_rows:
        standing = departures.thinned(standing)
    if growing.coarser is not None:
        standing = growing.coarser.release(standing)
    with staged(workspace, spec.release) as target:
        workspace.execute(
            "release/state/rewritten", target=target, names=shown, standing=standing, written=growing.written
        )
        workspace.report("verifying the written table", None)
        _refuse_other_count(workspace, growing, target)
        if growing.examine_all or growing.coarser is not None:
            growing.examine(target)
        try:
            write_state(workspace, after)
            old, changes = before.published, growing.changes
            if growing.coarser is not None:
                old = growing.coarser.state_rows(old, "state")
                changes = None if changes is None else growing.coarser.state_rows(changes, "changes")
            remember(
                workspace, spec, growing.columns, names, None if growing.written is None else growing.judged,
                after.batch, into=after.published, old=old, changes=changes,
            )  # fmt: skip
            wait(workspace, names, growing.judged, growing.day, into=after.waiting)
            publish(workspace, spec, target, manifest, replacing=(before.run_id,))
        except BaseException:
            with workspace.engine.without_deadline(), suppress(DatabaseError):
                if workspace.engine.mark(spec.release) != after.run_id:
                    drop_state(workspace, after)
            raise


def drop_others(workspace: Workspace, state: State) -> None:
    """Drop the other states of a release that was published just now: no run that read one of them can publish."""
    for other in states_in(workspace, state.schema):
        if other.release == state.release and state.tables != other.tables:
            drop_state(workspace, other)


def _refuse_other_count(workspace: Workspace, growing: Growing, table: Relation) -> None:
    (rows,) = workspace.row("release/count", table=table, mark=None, unit=None)
    expected = growing.after.rows["published"]
    if int(rows) != expected:
        raise VerificationError(
            f"verification: the release has {int(rows):,} rows where its state says {expected:,}; another "
            "program has changed it. This run changed nothing: release again, under another name"
        )
