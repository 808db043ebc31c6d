"""Values of a CSV file that may be others than those that were meant: dates, and numbers with a decimal comma."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from kanon_sql.engines import Workspace
from kanon_sql.spec import CsvFormat
from kanon_sql.sql import Sql, identifier, source_relation
from kanon_sql.verbs.init.columns import ENOUGH_ROWS, ColumnProfile
from kanon_sql.verbs.init.names import BIRTH

__all__ = ["doubtful_values"]

_ALIAS = "kanon_source"


def doubtful_values(workspace: Workspace, profiles: Sequence[ColumnProfile], csv: CsvFormat | None) -> Iterator[str]:
    """What to say of each column whose values could be read in another way, by one statement.

    Args:
        workspace: its source is the file.
        profiles: of its columns.
        csv: how the file is written; nothing is said of what it decides.

    Yields:
        That no date has a day above 12, so that day and month may be exchanged; that births are in the future, as those
        of two-digit years are: 31 is read as 2031; that all values of a text are numbers with a decimal comma.
    """
    dates = [item for item in profiles if item.is_date and item.filled and (csv is None or csv.dates is None)]
    texts = [
        item
        for item in profiles
        if item.column.kind == "text" and item.filled >= ENOUGH_ROWS and (csv is None or csv.decimal is None)
    ]
    if not dates and not texts:
        return
    counts = map(
        int,
        workspace.row(
            "verbs/init/csv_values",
            source=source_relation(),
            dates=[_column(item, "DATE") for item in dates],
            texts=[_column(item, "VARCHAR") for item in texts],
            today=date.today().isoformat(),
            digits=[str(digit) for digit in range(10)],
        ),
    )
    for item in dates:
        above, future = next(counts), next(counts)
        if not above:
            yield (
                f"{item.name}: none of {item.filled:,} dates has a day above 12, so day and month may be swapped; if "
                "they are, set csv: {dates: ...}"
            )
        if future and item.words & BIRTH:
            yield (
                f"{item.name}: {future:,} of {item.filled:,} dates are in the future; a year of two digits below 69 is "
                "read as 20xx: correct it in a source query"
            )
    for item in texts:
        if next(counts) == item.filled:
            yield (
                f"{item.name}: all values are numbers with a comma; if it is the decimal mark, set csv: {{decimal: "
                "comma}, or give --set decimal=comma"
            )


def _column(item: ColumnProfile, kind: str) -> Sql:
    return Sql(f"CAST({identifier(_ALIAS)}.{identifier(item.name)} AS {kind})")
