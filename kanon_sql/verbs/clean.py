"""``clean``: find the scratch tables that a killed run left behind, and drop them when asked.

Only what kanon_sql recorded as its own, and what is named like its own, is ever dropped.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from kanon_sql.engines import SCRATCH_TABLE, Engine, Reporter, Workspace, open_workspace
from kanon_sql.errors import SpecError
from kanon_sql.spec import format_table_name, parse_table_name
from kanon_sql.sql import Relation

__all__ = ["CleanResult", "ScratchObject", "clean"]

MAX_OBJECTS = 10_000
"""More records than this are an error: no real series of crashes leaves as many."""

_OURS = re.compile(r"kanon_[0-9a-f]+_[a-z0-9_]+")

State = Literal["left over", "dropped", "already gone", "not ours: kept"]


@dataclass(frozen=True, slots=True)
class ScratchObject:
    """A recorded scratch table.

    Attributes:
        name: as a spec would write it.
        run_id: the run that created it.
        created_at: when, in UTC, ISO 8601.
        state: what became of it.
    """

    name: str
    run_id: str
    created_at: str
    state: State

    def to_dict(self) -> dict[str, str]:
        """As it stands in results."""
        return {"name": self.name, "run_id": self.run_id, "created_at": self.created_at, "state": self.state}


@dataclass(frozen=True)
class CleanResult:
    """The recorded scratch tables, and whether they were dropped.

    Attributes:
        objects: in the order of their creation.
        dropped: whether dropping was asked for.
    """

    objects: tuple[ScratchObject, ...]
    dropped: bool

    @property
    def left(self) -> int:
        """How many recorded objects could be dropped."""
        return sum(item.state in ("left over", "already gone") for item in self.objects) if not self.dropped else 0

    def to_dict(self) -> dict[str, Any]:
        """One JSON-compatible object."""
        return {"verb": "clean", "dropped": self.dropped, "objects": [item.to_dict() for item in self.objects]}


def clean(engine: Engine, schema: str | None = None, *, drop: bool, report: Reporter | None = None) -> CleanResult:
    """List the scratch tables recorded as ours; drop them only with ``drop``.

    Args:
        engine: from :func:`kanon_sql.connect`; to list, a read-only connection is enough.
        schema: where the record is, if releases go to another schema than the default one.
        drop: drop them and forget them, all or none.
        report: called with each stage.

    Raises:
        SpecError: the connection is read-only, and dropping was asked for.
        DatabaseError: the database refused.
    """
    if drop and engine.read_only:
        raise SpecError(f"the connection to {engine.label} is read-only; dropping scratch tables has to write")
    record = Relation((*(parse_table_name(schema) if schema is not None else ()), SCRATCH_TABLE))
    with open_workspace(engine, "", report) as workspace:
        workspace.report("looking for scratch tables", None)
        if engine.exists(record.parts) != "table":
            return CleanResult((), drop)
        rows = workspace.fetch("verbs/clean/recorded", MAX_OBJECTS, table=record)
        if not drop:
            return CleanResult(tuple(_object(engine, *map(str, row)) for row in rows), False)
        workspace.report("dropping scratch tables", None)
        with engine.transaction():
            return CleanResult(tuple(_dropped(workspace, record, *map(str, row)) for row in rows), True)


def _parts(object_name: str) -> tuple[str, ...] | None:
    """The name that a record holds, if it is one."""
    try:
        parts = json.loads(object_name)
    except ValueError:
        return None
    if isinstance(parts, list) and 1 <= len(parts) <= 3 and all(isinstance(part, str) and part for part in parts):
        return tuple(parts)
    return None


def _object(engine: Engine, run_id: str, object_name: str, created_at: str) -> ScratchObject:
    parts = _parts(object_name)
    if parts is None:
        return ScratchObject(object_name, run_id, created_at, "not ours: kept")
    kind = engine.exists(parts)
    state: State = "already gone" if kind is None else "left over"
    if not _OURS.fullmatch(parts[-1]) or kind == "view":
        state = "not ours: kept"
    return ScratchObject(format_table_name(parts), run_id, created_at, state)


def _dropped(workspace: Workspace, record: Relation, run_id: str, object_name: str, created_at: str) -> ScratchObject:
    found = _object(workspace.engine, run_id, object_name, created_at)
    if found.state == "not ours: kept":
        return found
    if found.state == "left over":
        parts = _parts(object_name)
        assert parts is not None
        workspace.execute("engines/scratch/drop", target=Relation(parts))
        found = replace(found, state="dropped")
    workspace.execute("engines/scratch/forget", table=record, object_name=object_name)
    return found
