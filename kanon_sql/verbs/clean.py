"""``clean``: find what a killed run left behind, and when asked drop it, or bring it to its end.

Only what kanon_sql recorded as its own, and what is named like its own, is ever dropped. A run that was killed while it
published left a pending row in the manifest; what that means is told in :mod:`kanon_sql.release.publish`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from kanon_sql.engines import (
    SCRATCH_TABLE,
    Engine,
    Recorded,
    Workspace,
    leftover_state,
    open_workspace,
    recorded,
)
from kanon_sql.errors import SpecError
from kanon_sql.release import (
    MANIFEST_TABLE,
    Pending,
    Record,
    drop_state,
    leftover_files,
    pending_records,
    put_back,
    read_ledger,
    states_in,
    take_back,
    was_published,
    withdraw_entry,
)
from kanon_sql.spec import Displayed, format_table_name, parse_table_name
from kanon_sql.sql import Relation

__all__ = ["CleanResult", "ScratchObject", "clean"]

_FILE = re.compile(r"\.kanon-([0-9a-f]+)")

State = Literal[
    "left over", "dropped", "already gone", "not ours: kept", "put back",
    "published, not settled", "settled", "not published", "withdrawn", "state of a release", "running", "ended",
]  # fmt: skip

_TO_DO: tuple[State, ...] = (
    "left over", "already gone", "published, not settled", "not published", "state of a release", "running",
)  # fmt: skip

STATES = ("kanon_state",)
"""Where states are looked for, unless a schema is named."""


@dataclass(frozen=True, slots=True)
class ScratchObject:
    """A recorded scratch table, a release whose run was cut off while it published, or a statement that still runs.

    Attributes:
        name: as a spec would write it.
        run_id: the run that created it.
        created_at: when, in UTC, ISO 8601; of a release, when it was to be published; of a statement, when it began.
        state: what became of it.
    """

    name: str
    run_id: str
    created_at: str
    state: State

    def to_dict(self) -> dict[str, str]:
        """As it stands in results."""
        return {"name": self.name, "run_id": self.run_id, "created_at": self.created_at, "state": self.state}


@dataclass(frozen=True, repr=False)
class CleanResult(Displayed):
    """The recorded scratch tables and unsettled releases, and whether they were dropped or settled.

    Attributes:
        objects: scratch tables in the order of their creation, then releases.
        dropped: whether dropping was asked for.
    """

    objects: tuple[ScratchObject, ...]
    dropped: bool

    @property
    def left(self) -> int:
        """How many recorded objects could be dropped or settled."""
        return sum(item.state in _TO_DO for item in self.objects) if not self.dropped else 0

    def to_dict(self) -> dict[str, Any]:
        """One JSON-compatible object."""
        return {"verb": "clean", "dropped": self.dropped, "objects": [item.to_dict() for item in self.objects]}


def clean(
    engine: Engine,
    schema: str | None = None,
    *,
    drop: bool,
    states: bool = False,
    files: Path | None = None,
) -> CleanResult:
    """List what interrupted runs left: statements that still run, scratch tables, and releases that are not settled.

    Args:
        engine: from :func:`kanon_sql.connect`; to list, a read-only connection is enough.
        schema: where the record is, if releases go to another schema than the default one.
        drop: end the statements, drop the tables and forget them, and settle or withdraw the releases. A run that is
            still at work loses its statement and its tables, too.
        states: look for states of releases that grow instead, in the schema, or in ``kanon_state``. Once its state is
            dropped, a release grows no more, and a new one could be compared with it row by row.
        files: look instead in a directory where releases are files, for what runs left that were killed while they
            wrote one. They are removed only where it is sure that no run publishes there now.

    Raises:
        SpecError: a run publishes in the directory now; or the connection is read-only, and dropping was asked for.
        DatabaseError: the database refused.
    """
    if files is not None:
        found = leftover_files(files, remove=drop)
        return CleanResult(tuple(_file(*item) for item in found), drop)
    if drop and engine.read_only:
        raise SpecError(
            f"the connection to {engine.label} is read-only, so scratch tables cannot be dropped; connect "
            "without read_only"
        )
    place = parse_table_name(schema) if schema is not None else STATES if states else ()
    if states:
        return _states(engine, place, drop=drop)
    with open_workspace(engine, "") as workspace:
        workspace.report("looking for scratch tables", None)
        room = _Room(workspace, place, drop)
        if not drop:
            return CleanResult(tuple(room.objects()), False)
        workspace.report("dropping scratch tables", None)
        with engine.transaction():
            return CleanResult(tuple(room.objects()), True)


def _file(path: Path, since: float, gone: bool) -> ScratchObject:
    name = _FILE.search(path.name)
    run_id = "" if name is None else name[1]  # of a manifest that waits for its file there is none in its name
    moment = datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return ScratchObject(str(path), run_id, moment, "dropped" if gone else "left over")


def _states(engine: Engine, schema: tuple[str, ...], *, drop: bool) -> CleanResult:
    """The states in a schema: those of releases that stand, and what killed runs left."""
    found = []
    with open_workspace(engine, "") as workspace:
        workspace.report("looking for states", None)
        for state in states_in(workspace, schema):
            stands = engine.mark(state.release) == state.run_id
            name = f"{format_table_name(state.release)} in {format_table_name(schema)}"
            item = ScratchObject(name, state.run_id, state.created_at, "state of a release" if stands else "left over")
            if drop:
                drop_state(workspace, state)
                item = replace(item, state="dropped")
            found.append(item)
    return CleanResult(tuple(found), drop)


@dataclass(frozen=True)
class _Room:
    """The place of releases that is cleaned.

    Attributes:
        workspace: where statements run.
        place: the schema's name parts; none for the default one.
        drop: drop and settle, not only list.
    """

    workspace: Workspace
    place: tuple[str, ...]
    drop: bool

    def objects(self) -> Iterator[ScratchObject]:
        """What there is. Statements come first, since they hold locks; then tables, so that no such run can publish."""
        engine, workspace = self.workspace.engine, self.workspace
        yield from self._statements()
        record, manifest = Relation((*self.place, SCRATCH_TABLE)), Relation((*self.place, MANIFEST_TABLE))
        unsettled = pending_records(workspace, manifest) if engine.shared(manifest.parts) else []
        whole = {run_id: was_published(engine, self.place, items) for run_id, items in _by_run(unsettled).items()}
        if self.drop:
            for run_id, items in _by_run(unsettled).items():
                if not whole[run_id]:
                    take_back(workspace, ((*self.place, item.release_name) for item in items), run_id)
        if engine.shared(record.parts):
            found = recorded(workspace, record)
            for item in found:
                listed = _object(engine, item)
                if self.drop:
                    listed = _dropped(workspace, record, item, listed, unsettled)
                yield listed
            if self.drop:
                for run_id in sorted({item.run_id for item in found}):
                    engine.remove_run_mark(run_id)
        for pending in unsettled:
            yield self._release(manifest, pending, stands=whole[pending.run_id])

    def _statements(self) -> Iterator[ScratchObject]:
        """What the server works on for other runs; one whose client is gone may go on for as long as it takes."""
        engine = self.workspace.engine
        for item in engine.running():
            began = (datetime.now(UTC) - timedelta(seconds=item.seconds)).isoformat(timespec="seconds")
            if self.drop:
                engine.end(item)
            yield ScratchObject(
                f"statement of session {item.handle}", item.run_id, began, "ended" if self.drop else "running"
            )

    def _release(self, manifest: Relation, item: Pending, *, stands: bool) -> ScratchObject:
        """A release that a run announced.

        Args:
            manifest: where.
            item: the release.
            stands: all that the run announced has its name, with the run's mark, so that it is published.
        """
        engine, name = self.workspace.engine, (*self.place, item.release_name)
        found = ScratchObject(format_table_name(name), item.run_id, item.published_at, "not published")
        record = Record(self.workspace, manifest, item.run_id)
        if stands:
            if self.drop:
                record.settle(item.published_at)
            return replace(found, state="settled" if self.drop else "published, not settled")
        if not self.drop or engine.exists((*self.place, item.scratch("release"))) is not None:
            return found
        if item.ledger is not None:
            ledger = Relation(item.ledger)
            entered = [entry for entry in read_ledger(self.workspace, ledger) if entry.run_id == item.run_id]
            if any(entry.spending is None for entry in entered):  # what was spent stays spent
                withdraw_entry(self.workspace, ledger, item.run_id)
        record.withdraw()
        return replace(found, state="withdrawn")


def _by_run(unsettled: Sequence[Pending]) -> dict[str, list[Pending]]:
    """What each run announced."""
    found: dict[str, list[Pending]] = {}
    for item in unsettled:
        found.setdefault(item.run_id, []).append(item)
    return found


def _object(engine: Engine, item: Recorded) -> ScratchObject:
    state = leftover_state(engine, item)
    name = item.object_name if item.parts is None else format_table_name(item.parts)
    return ScratchObject(name, item.run_id, item.created_at, state)


def _dropped(
    workspace: Workspace, record: Relation, item: Recorded, found: ScratchObject, unsettled: Sequence[Pending]
) -> ScratchObject:
    """Drop a recorded table and forget it; an old release whose name nothing has gets that back.

    Args:
        workspace: where.
        record: the table of what is recorded.
        item: the table, as it is recorded.
        found: the table, as it was listed.
        unsettled: what runs were publishing when they were cut off.
    """
    if found.state == "not ours: kept":
        return found
    if found.state == "left over":
        assert item.parts is not None
        parts = item.parts
        replaced = [one for one in unsettled if parts[-1] == one.scratch("old")]
        if replaced and put_back(workspace, Relation(parts), (*parts[:-1], replaced[0].release_name)):
            found = replace(found, state="put back")
        else:
            workspace.execute("engines/scratch/drop", target=Relation(parts))
            found = replace(found, state="dropped")
    workspace.execute("engines/scratch/forget", table=record, object_name=item.object_name)
    return found
