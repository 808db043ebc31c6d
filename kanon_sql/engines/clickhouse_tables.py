"""What ClickHouse's catalog says of a table that is read: by its engine, its rows may not yet be what they will be.

MergeTree engines other than the plain one replace, cancel or add up rows when parts are merged, some time after they
were written; until then a plain SELECT reads all of them, and FINAL what would be left. Sources: the pages of
ClickHouse's documentation on ReplacingMergeTree and its relatives, on FINAL, and on TTL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kanon_sql.engines.base import Row
from kanon_sql.engines.reads import Stored
from kanon_sql.sql import literal

__all__ = ["READS_ELSEWHERE", "merged_query", "merging_tables", "stored_of", "table_query"]

READS_ELSEWHERE = frozenset({"cluster", "clusterallreplicas", "loop", "merge", "remote", "remotesecure"})
"""Table functions that read tables of this or another server."""

_MERGES = (
    "(Replicated|Shared)?(Replacing|VersionedCollapsing|Collapsing|Summing|Aggregating|Coalescing|Graphite)MergeTree"
)

_ARGUMENT = re.compile(r"(?:(REGEXP)\()?'((?:[^'\\]|\\.)*)'")
_NAME = r"(`(?:[^`\\]|\\.)+`|\w+)"
_TARGET = re.compile(rf"^CREATE MATERIALIZED VIEW \S+(?: REFRESH .*?)? TO {_NAME}(?:\.{_NAME})?[ (]")
_ENGINE = re.compile(r"\bENGINE = (\w+)")

_OVER = {"Distributed": 1, "Buffer": 0, "Alias": 0}
"""Engines whose tables show the rows of another one -> which of their arguments is its database."""


def merging_tables() -> str:
    """The query of the tables of the current database whose rows are merged later."""
    return (
        "SELECT name FROM system.tables WHERE database = currentDatabase() "
        f"AND match(engine, {literal(f'^{_MERGES}$')}) AND NOT startsWith(name, '.inner') ORDER BY name"
    )


def table_query(place: str, name: str) -> str:
    """The query of what is under a name: one row at most; a temporary table hides the one in the database.

    Args:
        place: the databases that are looked in, as a list of expressions.
        name: the name of the table, as an expression.
    """
    return (
        "SELECT engine, database, name, engine_full, create_table_query, as_select, "
        f"(SELECT count() FROM system.mutations WHERE database IN ({place}) AND table = {name} AND NOT is_done) "
        f"FROM system.tables WHERE database IN ({place}) AND name = {name} ORDER BY is_temporary DESC LIMIT 1"
    )


def merged_query(own: Sequence[str], engine_full: str) -> str:
    """The query of the tables that a Merge table shows.

    Args:
        own: its database and name: it does not show itself.
        engine_full: its engine with what it was given.
    """
    (is_pattern, database), (_, table) = _ARGUMENT.findall(engine_full)[:2]
    place = f"match(database, '{database}')" if is_pattern else f"database = '{database}'"
    us = f"(database = {literal(own[0])} AND name = {literal(own[1])})"
    return f"SELECT database, name FROM system.tables WHERE {place} AND match(name, '{table}') AND NOT {us}"


def stored_of(row: Row, shown: Sequence[Row]) -> Stored:
    """What a row of :func:`table_query` says.

    Args:
        row: it.
        shown: of a Merge table, the databases and names of those that it shows.
    """
    engine, database, name, engine_full, created, as_select, pending = row
    full = (str(database), str(name))
    if engine in ("View", "LiveView"):
        return Stored(full, query=as_select or None, hidden=not as_select)
    behind = [(str(database), str(name)) for database, name in shown]
    versions = unmerged = None
    if engine in _OVER:
        arguments = [text for _, text in _ARGUMENT.findall(engine_full)]
        place = arguments[_OVER[engine] :][:2]
        behind.append((place[0], place[1]) if len(place) == 2 else (full[0], place[0]))
        if engine == "Distributed":
            versions = "is a Distributed table: rows of the same key may be on several servers, or not merged yet"
    if engine == "MaterializedView":
        target = _TARGET.match(created)
        if target is not None:
            first, second = (part and part.strip("`") for part in target.groups())
            behind.append((full[0], first) if second is None else (first, second))
        else:  # its rows are in a table of its own
            made = _ENGINE.search(created)
            engine = "" if made is None else made.group(1)
            engine_full = created
    if re.fullmatch(_MERGES, engine):
        versions = f"has the engine {engine}, which merges rows some time after they were written"
        if re.search(r"\ballow_nullable_key = (1|true)\b", engine_full):
            unmerged = (
                f"has the engine {engine} and allow_nullable_key, and FINAL has been wrong where a key may be NULL"
            )
    return Stored(full, behind=tuple(behind), versions=versions, unmerged=unmerged, notes=_notes(created, int(pending)))


def _notes(created: str, pending: int) -> tuple[str, ...]:
    notes = []
    without_texts = re.sub(r"'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)+`", "''", created)
    if re.search(r"\bTTL\b", without_texts) and not _only_moves(without_texts):
        notes.append(
            "the table has a TTL, and rows whose time is over are read until ClickHouse removes them; leave them out "
            "in a source query, or run OPTIMIZE TABLE ... FINAL first"
        )
    if pending:
        notes.append(
            f"{pending} {'mutation is' if pending == 1 else 'mutations are'} not done (system.mutations), and rows "
            "that they delete or change are read as they were"
        )
    return tuple(notes)


def _only_moves(created: str) -> bool:
    """Whether all TTLs move or recompress what is old, and remove nothing."""
    clauses = [
        re.split(r"\bSETTINGS\b|\bAS SELECT\b|\bCOMMENT\b", text)[0] for text in re.split(r"\bTTL\b", created)[1:]
    ]
    parts = [part for clause in clauses for part in re.split(r",(?![^(]*\))", clause)]
    return all(re.search(r"\bTO (DISK|VOLUME)\b|\bRECOMPRESS\b", part) for part in parts)
