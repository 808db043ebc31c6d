"""The warning that ranges are of numbers that are stored as text, which its characters put in order: 10 before 9."""

from __future__ import annotations

from kanon_sql.evaluate import BY_VALUE, Chosen, is_listed
from kanon_sql.hierarchies import Lookup
from kanon_sql.recode import RecodingResult
from kanon_sql.sql import Sql, exact_text, identifier
from kanon_sql.verbs.result import Warned

__all__ = ["numbers_as_text"]

NEARLY_ALL = 0.9
"""The share of a column's values from which it is said to hold numbers."""


def numbers_as_text(found: Chosen | RecodingResult) -> list[Warned]:
    """Columns of text that are released in ranges of their values, and whose values are numbers of several lengths.

    Numbers of one length, such as postal codes, stand in one order by either.

    Args:
        found: what was chosen; it takes one statement over the lookup tables of such columns, and none without any.
    """
    cut = [lookup for lookup in found.sets.lookups if lookup.height and _by_characters(found, lookup)]
    if not cut:
        return []
    warned = []
    tables = [{"table": item.table, "alias": f"lookup{item.index}", "text": _text(item)} for item in cut]
    for number, *counts in found.workspace.fetch("verbs/warnings/digits", len(cut), lookups=tables):
        name = cut[int(number)].name
        values, numbers, shortest, longest = (int(count or 0) for count in counts)
        if numbers < NEARLY_ALL * values or shortest == longest:
            continue
        message = (
            f"{name}: {numbers:,} of {values:,} values are numbers stored as text, which sorts by character (10 before "
            "9), so ranges do not group neighbouring numbers. Cast the column to a number in a source query"
        )
        warned.append(Warned("numbers_as_text", message, [name], {"values": values, "numbers": numbers}))
    return warned


def _by_characters(found: Chosen | RecodingResult, lookup: Lookup) -> bool:
    """Whether a column is cut into ranges by the characters of its text."""
    spec, column = found.spec, found.columns[lookup.name]
    cut = spec.search.of_intervals if isinstance(found, Chosen) else spec.recoding.in_ranges(lookup.name)
    return cut and column.kind not in BY_VALUE and column.labels is None and not is_listed(lookup)


def _text(lookup: Lookup) -> Sql:
    return exact_text(Sql(f"CAST({identifier(f'lookup{lookup.index}')}.l0 AS VARCHAR)"))
