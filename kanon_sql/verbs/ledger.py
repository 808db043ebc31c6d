"""``ledger``: what was published, as a ledger records it. Read-only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import Engine, Reporter, open_workspace
from kanon_sql.errors import SpecError
from kanon_sql.release import Entry, RelatedEntry, ReleasedColumn, read_ledger
from kanon_sql.spec import Displayed, parse_table_name
from kanon_sql.sql import Relation
from kanon_sql.verbs.run import running

__all__ = ["LedgerResult", "ledger"]


@dataclass(frozen=True, repr=False)
class LedgerResult(Displayed):
    """The releases that a ledger holds.

    Attributes:
        table: the ledger's name.
        entries: the releases, oldest first.
    """

    table: str
    entries: tuple[Entry | RelatedEntry, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON-compatible object: what the ledger stores, and what levels are called."""
        return {"verb": "ledger", "table": self.table, "entries": [_described(entry) for entry in self.entries]}


def _described(entry: Entry | RelatedEntry) -> dict[str, Any]:
    """An entry as it is stored, with the name of every level; None where the ledger does not tell it."""
    stored = entry.to_dict()
    if isinstance(entry, RelatedEntry):
        tables = [{**table, "columns": _named(entry.tables[table["name"]].columns)} for table in stored["tables"]]
        return {**stored, "tables": tables}
    return {**stored, "quasi_identifiers": _named(entry.quasi_identifiers)}


def _named(columns: Mapping[str, ReleasedColumn]) -> dict[str, Any]:
    return {name: {**item.to_dict(), "level_name": item.level_name} for name, item in columns.items()}


def ledger(engine: Engine, table: str, *, timeout: float | None = None, report: Reporter | None = None) -> LedgerResult:
    """List the releases of a ledger.

    Args:
        engine: from :func:`kanon_sql.connect`; SELECT rights are enough.
        table: the ledger, as the spec names it.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.

    Returns:
        The releases that the ledger records, oldest first.

    Raises:
        SpecError: there is no such table, or it is not a ledger.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> recorded = kanon_sql.Spec.from_dict({**spec.to_dict(), "ledger": "kanon_sql_ledger"})
        >>> _ = kanon_sql.anonymize(db, recorded)
        >>> for entry in kanon_sql.ledger(db, "kanon_sql_ledger").entries:
        ...     print(entry.release, entry.rows["released"])
        ('visits_release',) 600
    """
    relation = Relation(parse_table_name(table))
    with running(engine, timeout, report), open_workspace(engine, "") as workspace:
        workspace.report("reading the ledger", None)
        if engine.exists(relation.parts) is None:
            raise SpecError(f"there is no ledger {table!r} in the database; the first release creates it")
        return LedgerResult(".".join(relation.parts), read_ledger(workspace, relation))
