"""The warning that a quasi-identifier tells nothing: it is at the top of its hierarchy in every row."""

from __future__ import annotations

from collections.abc import Mapping

from kanon_sql.evaluate import Chosen
from kanon_sql.recode import Recoded
from kanon_sql.verbs.result import Warned

__all__ = ["withheld"]


def withheld(found: Chosen | Recoded) -> list[Warned]:
    """Quasi-identifiers that are at the top of their hierarchies in every released row.

    Args:
        found: what was chosen.
    """
    told = [lookup for lookup in found.sets.lookups if lookup.domain_rows > 1]
    if isinstance(found, Chosen):
        gone = [lookup.name for lookup in told if found.node[lookup.index] == lookup.height]
    else:
        kept = found.mapped.columns
        gone = [lookup.name for lookup in told if _at_top(kept[lookup.index].rows, lookup.height)]
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


def _at_top(rows: Mapping[int, int], height: int) -> bool:
    return not any(count for level, count in rows.items() if level < height)
