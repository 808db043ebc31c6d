"""The list of a ledger's releases as text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from kanon_sql.models import label_of
from kanon_sql.release import Entry, RelatedEntry, ReleasedColumn
from kanon_sql.report.layout import columns
from kanon_sql.report.words import number, plural, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.ledger import LedgerResult

__all__ = ["ledger_text"]


def ledger_text(result: LedgerResult) -> RenderableType:
    """The releases of a ledger: when, at which levels, for which requirements."""
    if not result.entries:
        return Text("the ledger holds no release")
    heads = ["release", "published", "levels", "required"]
    table = columns([*((head, False) for head in heads), ("rows", True)])
    called = columns([("release", False), ("its levels are called", False)])
    for entry in result.entries:
        shown_columns, required, released = _facts(entry)
        levels = ", ".join(f"{name} {item.level}" for name, item in shown_columns.items())
        published = datetime.fromisoformat(entry.published_at).isoformat(timespec="seconds")
        cells = (entry.name, published, levels, required)
        table.add_row(
            *(Text(shown(cell)) for cell in cells),
            Text("" if released is None else number(released)),
        )
        names = ((name, item.level_name or str(item.level)) for name, item in shown_columns.items())
        sentence = "; ".join(f"{name}: {level}" for name, level in names)
        if sentence:  # tables of counts have no levels
            called.add_row(Text(shown(entry.name)), Text(shown(sentence), "dim", overflow="fold"))
    head = Text(f"{plural(len(result.entries), 'release')} in {shown(result.table)}", "bold")
    parts: list[RenderableType] = [head, Padding(table, (0, 0, 0, 2))]
    if called.row_count:
        parts += [Text(), Padding(called, (0, 0, 0, 2))]
    return Group(*parts)


def _facts(entry: Entry | RelatedEntry) -> tuple[Mapping[str, ReleasedColumn], str, int | None]:
    """The columns of a release, what was required of it, and its rows; of several tables those of persons."""
    if isinstance(entry, Entry):
        spent = [] if entry.noise is None else [entry.noise.notation]
        required = ", ".join([*(label_of(requirement) for requirement in entry.privacy), *spent])
        return entry.quasi_identifiers, required, entry.rows.get("released")
    columns = {
        f"{name}.{column}": item for name, table in entry.tables.items() for column, item in table.columns.items()
    }
    return columns, ", ".join(item.notation for item in entry.privacy), entry.persons["released"]
