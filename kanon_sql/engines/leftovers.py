"""Tables that outlast a session are recorded before they are made; what is recorded of runs that ended is removed.

A run that ended in order has dropped its tables. Of one that was killed they stay, readable by anyone who may read the
schema, until a later run finds them in the record, and is sure that their run lives no more: see
:meth:`kanon_sql.engines.base.Engine.ended`. What it cannot be sure of stays, for ``clean``.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kanon_sql.engines.base import DROP, Engine
from kanon_sql.errors import DatabaseError
from kanon_sql.sql import Relation

if TYPE_CHECKING:
    from kanon_sql.engines.workspace import Workspace

__all__ = ["Recorded", "leftover_state", "recorded", "remove_recorded"]

MAX_OBJECTS = 10_000
"""More records than this are an error: no real series of crashes leaves as many."""

HELD_BY = " held by "
"""What follows the time in a record, and then what knows that the run lives."""

_OURS = re.compile(r"kanon_[0-9a-f]+_[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A table that was recorded before it was made.

    Attributes:
        run_id: the run that made it.
        object_name: its name parts, as they are recorded.
        created_at: when, in UTC, ISO 8601.
        held_by: what knows whether the run lives, see :meth:`kanon_sql.engines.base.Engine.mark_alive`; None where
            nothing does.
    """

    run_id: str
    object_name: str
    created_at: str
    held_by: str | None

    @property
    def parts(self) -> tuple[str, ...] | None:
        """The name, if what is recorded is one."""
        try:
            parts = json.loads(self.object_name)
        except ValueError:
            return None
        if isinstance(parts, list) and 1 <= len(parts) <= 3 and all(isinstance(part, str) and part for part in parts):
            return tuple(parts)
        return None


def recorded(workspace: Workspace, among: Relation) -> list[Recorded]:
    """What a record holds, oldest first."""
    found = []
    for row in workspace.fetch("engines/scratch/recorded", MAX_OBJECTS, table=among):
        run_id, object_name, made = map(str, row)
        created_at, _, held_by = made.partition(HELD_BY)
        found.append(Recorded(run_id, object_name, created_at, held_by or None))
    return found


def leftover_state(engine: Engine, item: Recorded) -> Literal["left over", "already gone", "not ours: kept"]:
    """Whether a recorded table is there, and has such a name as only our scratch tables have."""
    parts = item.parts
    if parts is None:
        return "not ours: kept"
    kind = engine.exists(parts)
    if not _OURS.fullmatch(parts[-1]) or kind == "view":
        return "not ours: kept"
    return "already gone" if kind is None else "left over"


def remove_recorded(workspace: Workspace, among: Relation) -> None:
    """Drop the recorded tables of runs that live no more, and let the results and errors of this run say so.

    An earlier release that was set aside stays: ``clean`` may have to give it its name back.

    Args:
        workspace: where.
        among: the record, which is there.
    """
    engine = workspace.engine
    if not engine.detects_ended_runs:
        return
    found: list[tuple[Recorded, str, Relation]] = []
    ended: frozenset[str] = frozenset()
    with suppress(DatabaseError):  # then nothing is sure, and nothing is done
        for item in recorded(workspace, among):
            parts = item.parts
            if parts is None or item.held_by is None or parts[-1].startswith(f"kanon_{item.run_id}_old"):
                continue
            if parts[-1].startswith(f"kanon_{item.run_id}_"):
                found.append((item, item.held_by, Relation(parts)))
        if found:
            ended = engine.ended(among.parts, {item.run_id: held_by for item, held_by, _ in found})
    removed = stay = 0
    for run_id in sorted(ended):
        left = 0
        for item, _, table in found:
            if item.run_id != run_id:
                continue
            try:
                state = leftover_state(engine, item)
                if state == "not ours: kept":
                    continue
                if state == "left over":
                    workspace.execute(DROP, target=table)
                    removed += 1
                workspace.execute("engines/scratch/forget", table=among, object_name=item.object_name)
            except DatabaseError:  # it is another user's, or another run removes it at this moment
                left += 1
        if not left:
            engine.remove_run_mark(run_id)
        stay += left
    if removed:
        engine.note_leftover(f"removed {_tables(removed)} that an interrupted run had left")
    if stay:
        engine.note_leftover(
            f"could not drop {_tables(stay)} that an interrupted run had left and that may hold values of its "
            "source; run kanon-sql clean --yes as a user who may drop them"
        )


def _tables(count: int) -> str:
    return "a scratch table" if count == 1 else f"{count} scratch tables"
