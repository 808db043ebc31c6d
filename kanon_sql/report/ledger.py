"""The list of a ledger's releases as text."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from kanon_sql.models import label_of
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
        levels = ", ".join(f"{name} {item.level}" for name, item in entry.quasi_identifiers.items())
        required = ", ".join(label_of(requirement) for requirement in entry.privacy)
        published = datetime.fromisoformat(entry.published_at).isoformat(timespec="seconds")
        cells = (entry.name, published, levels, required)
        table.add_row(
            *(Text(shown(cell)) for cell in cells),
            Text(number(entry.rows["released"]) if "released" in entry.rows else ""),
        )
        names = ((name, item.level_name or str(item.level)) for name, item in entry.quasi_identifiers.items())
        sentence = "; ".join(f"{name}: {level}" for name, level in names)
        called.add_row(Text(shown(entry.name)), Text(shown(sentence), "dim", overflow="fold"))
    return Group(
        Text(f"{plural(len(result.entries), 'release')} in {shown(result.table)}", "bold"),
        Padding(table, (0, 0, 0, 2)),
        Text(),
        Padding(called, (0, 0, 0, 2)),
    )
