"""Warnings about quasi-identifiers that have their most general label in every released row, or nearly every one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kanon_sql.evaluate import Chosen
from kanon_sql.hierarchies import RANGES, Lookup
from kanon_sql.recode import RecodingResult
from kanon_sql.verbs.result import Warned
from kanon_sql.verbs.warnings.handling import or_local

__all__ = ["fully_generalized"]

NEARLY_ALL = 0.95
"""The share of rows from which a column counts as fully generalized."""


def fully_generalized(found: Chosen | RecodingResult) -> list[Warned]:
    """Quasi-identifiers that have a label of all values in every released row, or nearly every one.

    With a full-domain recoding that is every row or none.

    Args:
        found: what was chosen.
    """
    informative = [lookup for lookup in found.sets.lookups if lookup.domain_rows > 1]
    if isinstance(found, Chosen):
        gone = [lookup.name for lookup in informative if _is_one_label(found, lookup)]
    else:
        gone = [lookup.name for lookup in informative if _covers_all(found, lookup)]
    nearly = (
        {} if isinstance(found, Chosen) else _nearly(found, [item for item in informative if item.name not in gone])
    )
    if not gone:
        return _nearly_all(nearly)
    if len(gone) == len(informative):
        message = (
            "every quasi-identifier is fully generalized: each column has the same label in every row. Use fewer "
            f"quasi-identifiers, or allow more suppression{or_local(found)}"
        )
        return [Warned("fully_suppressed_columns", message, gone)]
    message = (
        f"{', '.join(gone)}: fully generalized, with the same label in every row. Leave it out, so that other columns "
        "can keep more detail, or limit it with maximum_level"
    )
    return [Warned("column_fully_generalized", message, gone), *_nearly_all(nearly)]


def _nearly(found: RecodingResult, columns: Sequence[Lookup]) -> dict[str, float]:
    """The share of released rows in which a column is at its top, of those where it is large."""
    shares = {}
    for lookup in columns:
        rows = found.mapped.columns[lookup.index].rows
        top = len(RANGES) - 1 if lookup.index in found.mapped.ranges else lookup.height
        if rows.get(top, 0) >= NEARLY_ALL * sum(rows.values()) > 0:
            shares[lookup.name] = rows[top] / sum(rows.values())
    return shares


def _nearly_all(nearly: Mapping[str, float]) -> list[Warned]:
    if not nearly:
        return []
    listed = ", ".join(f"{name} ({math.floor(1000 * share) / 10:.1f} % of the rows)" for name, share in nearly.items())
    message = (
        f"{listed}: fully generalized in nearly every row. Check its values and its hierarchy (a date or a number "
        "stored as text has no levels), or leave it out, so that other columns can keep more detail"
    )
    return [Warned("column_fully_generalized", message, list(nearly), {"least_share": min(nearly.values())})]


def _is_one_label(found: Chosen, lookup: Lookup) -> bool:
    """At the top, or at a level below it where all values have one label already."""
    level = found.node[lookup.index]
    return level == lookup.height or (level > 0 and found.evaluator.counts.attributes[lookup.index].labels[level] == 1)


def _covers_all(found: RecodingResult, lookup: Lookup) -> bool:
    """No label is below the top, or every label stands for the whole domain; of ranges the top is that of ranges."""
    column = found.mapped.columns[lookup.index]
    ranged = lookup.index in found.mapped.ranges
    top = len(RANGES) - 1 if ranged else lookup.height
    below = {level: rows for level, rows in column.rows.items() if rows and level < top}
    if not below or ranged or 0 in below:
        return not below
    return column.covered == lookup.domain_rows * sum(column.rows.values())
