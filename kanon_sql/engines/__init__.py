"""Engines run the SQL: a driver each, what each can do as data, and the scratch tables of a run.

:func:`connect` opens one. An engine executes statements, fetches a limited number of rows, describes tables, and counts
what reaches the client. A :class:`Workspace` compiles templates for its engine and drops the scratch tables that a run
made. Drivers are imported only when a connection of theirs is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kanon_sql.engines.base import Column, Deadline, Engine, Meter, Row, Scratch
from kanon_sql.engines.complete import refuse_incomplete
from kanon_sql.engines.connection import connect
from kanon_sql.engines.frames import FrameDatabase, FrameKind, open_frames
from kanon_sql.engines.given import CONNECTIONS, TABLES, connection_kind, shown_kind, table_kind
from kanon_sql.engines.lakes import LAKES
from kanon_sql.engines.settings import session_statements
from kanon_sql.engines.stage import Reporter
from kanon_sql.engines.workspace import SCRATCH_TABLE, Workspace, now, open_workspace

if TYPE_CHECKING:
    from kanon_sql.engines.dry import SCRATCH_SCHEMA, DryEngine

__all__ = [
    "CONNECTIONS",
    "LAKES",
    "SCRATCH_SCHEMA",
    "SCRATCH_TABLE",
    "TABLES",
    "Column",
    "Deadline",
    "DryEngine",
    "Engine",
    "FrameDatabase",
    "FrameKind",
    "Meter",
    "Reporter",
    "Row",
    "Scratch",
    "Workspace",
    "connect",
    "connection_kind",
    "now",
    "open_frames",
    "open_workspace",
    "refuse_incomplete",
    "session_statements",
    "shown_kind",
    "table_kind",
]


def __getattr__(name: str) -> Any:
    """Import what knows every engine when it is first used: only a script for another engine takes it."""
    if name not in ("SCRATCH_SCHEMA", "DryEngine"):
        raise AttributeError(f"module 'kanon_sql.engines' has no attribute {name!r}")
    from kanon_sql.engines import dry

    return getattr(dry, name)
