"""Engines run the SQL: a driver each, what each can do as data, and the scratch tables of a run.

:func:`connect` opens one. An engine executes statements, fetches a limited number of rows, describes tables, and counts
what reaches the client. A :class:`Workspace` compiles templates for its engine and drops the scratch tables that a run
made. Drivers are imported only when a connection of theirs is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.engines.base import Column, Deadline, Engine, Estimate, Meter, Reporter, Row, Scratch, StageReporter
from kanon_sql.engines.connection import connect, session_statements
from kanon_sql.engines.databases import SECRETS, database_kind, holds_password
from kanon_sql.engines.frames import FrameDatabase, FrameKind, open_frames
from kanon_sql.engines.lakes import LAKES
from kanon_sql.engines.leftovers import Recorded, leftover_state, recorded
from kanon_sql.engines.object_kinds import CONNECTIONS, TABLES, connection_kind, shown_kind, table_kind
from kanon_sql.engines.private import private_file, write_private
from kanon_sql.engines.workspace import SCRATCH_TABLE, Workspace, now, open_workspace, refuse_incomplete
from kanon_sql.lazy import imported_from

if TYPE_CHECKING:
    from kanon_sql.engines.csv_faults import csv_fault, misread, wrong_encoding
    from kanon_sql.engines.dry import SCRATCH_SCHEMA, DryEngine

__all__ = [
    "CONNECTIONS",
    "LAKES",
    "SCRATCH_SCHEMA",
    "SCRATCH_TABLE",
    "SECRETS",
    "TABLES",
    "Column",
    "Deadline",
    "DryEngine",
    "Engine",
    "Estimate",
    "FrameDatabase",
    "FrameKind",
    "Meter",
    "Recorded",
    "Reporter",
    "Row",
    "Scratch",
    "StageReporter",
    "Workspace",
    "connect",
    "connection_kind",
    "csv_fault",
    "database_kind",
    "holds_password",
    "leftover_state",
    "misread",
    "now",
    "open_frames",
    "open_workspace",
    "private_file",
    "recorded",
    "refuse_incomplete",
    "session_statements",
    "shown_kind",
    "table_kind",
    "write_private",
    "wrong_encoding",
]
_HOME = {
    "SCRATCH_SCHEMA": "dry",
    "DryEngine": "dry",
    "csv_fault": "csv_faults",
    "misread": "csv_faults",
    "wrong_encoding": "csv_faults",
}
"""What only a script for another engine takes, or a file that cannot be read; imported when it is first asked for."""

__getattr__ = imported_from(__name__, _HOME)
