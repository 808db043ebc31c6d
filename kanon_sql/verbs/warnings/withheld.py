"""The warning that a quasi-identifier tells nothing: it is at the top of its hierarchy in every row."""

from __future__ import annotations

from kanon_sql.evaluate import Chosen
from kanon_sql.hierarchies import RANGES, Lookup
from kanon_sql.recode import Recoded
from kanon_sql.verbs.result import Warned

__all__ = ["withheld"]


def withheld(found: Chosen | Recoded) -> list[Warned]:
    """Quasi-identifiers that have a label of all values in every released row, whatever it is called.

    Args:
        found: what was chosen.
    """
    told = [lookup for lookup in found.sets.lookups if lookup.domain_rows > 1]
    if isinstance(found, Chosen):
        gone = [lookup.name for lookup in told if _is_one_label(found, lookup)]
    else:
        gone = [lookup.name for lookup in told if _covers_all(found, lookup)]
    if not gone:
        return []
    if len(gone) == len(told):
        message = (
            "every quasi-identifier is withheld, at the top of its hierarchy in every row: the release tells nothing "
            "of them. Name fewer, allow more suppression, or try recoding: local"
        )
        return [Warned("nothing_told", message, gone)]
    message = (
        f"{', '.join(gone)}: withheld, at the top of the hierarchy in every row. Leave it out, and others may keep "
        "more detail; or limit it with maximum_level"
    )
    return [Warned("withheld_column", message, gone)]


def _is_one_label(found: Chosen, lookup: Lookup) -> bool:
    """At the top, or at a level below it where all values have one label already."""
    level = found.node[lookup.index]
    return level == lookup.height or (level > 0 and found.evaluator.counts.attributes[lookup.index].labels[level] == 1)


def _covers_all(found: Recoded, lookup: Lookup) -> bool:
    """No label is below the top, or every label stands for the whole domain; of ranges the top is that of ranges."""
    column = found.mapped.columns[lookup.index]
    ranged = lookup.index in found.mapped.ranges
    top = len(RANGES) - 1 if ranged else lookup.height
    below = {level: rows for level, rows in column.rows.items() if rows and level < top}
    if not below or ranged or 0 in below:
        return not below
    return column.covered == lookup.domain_rows * sum(column.rows.values())
