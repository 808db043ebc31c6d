"""The warning that codes are stored as whole numbers, which have no zeros in front: 01234 became 1234."""

from __future__ import annotations

from collections import defaultdict

from kanon_sql.evaluate import Chosen
from kanon_sql.recode import RecodingResult
from kanon_sql.verbs.result import Warned

__all__ = ["leading_zeros_lost"]


def leading_zeros_lost(found: Chosen | RecodingResult) -> list[Warned]:
    """Columns of whole numbers with prefixes whose values have fewer digits than a code.

    That is as many as ``digits`` says; without it, as the longest value has.

    Args:
        found: what was chosen; it takes one statement over the lookup tables of such columns, and none without any.
    """
    cut = [
        lookup
        for lookup in found.sets.lookups
        if lookup.quasi_identifier.hierarchy.name == "prefix" and found.columns[lookup.name].kind == "integer"
    ]
    if not cut:
        return []
    lengths: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    tables = [lookup.table for lookup in cut]
    for number, length, values, rows in found.workspace.fetch("verbs/warnings/codes", 20 * len(cut), lookups=tables):
        lengths[int(number)][int(length)] = int(values), int(rows)
    warned = []
    for number, counts in sorted(lengths.items()):
        name, given = cut[number].name, cut[number].quasi_identifier.hierarchy.to_dict()["prefix"]
        digits = None if isinstance(given, list) else given.get("digits")
        width = digits or max(counts)
        short, rows = (sum(item[place] for length, item in counts.items() if length < width) for place in (0, 1))
        if not short:
            continue
        values = sum(item for item, _ in counts.values())
        fewer = f"{name}: {short:,} of {values:,} values ({rows:,} rows) are whole numbers of fewer than {width} digits"
        if digits is None:
            why = (
                "if they are codes, leading zeros are lost (01234 is 1234), and prefixes group others: write prefix: "
                f"{{lengths: [...], digits: {width}}}, or store codes as text"
            )
        else:
            why = "leading zeros were lost; labels have them again, values at level 0 have not: store codes as text"
        figures = {"values": values, "short": short, "rows": rows, "digits": width}
        warned.append(Warned("leading_zeros_lost", f"{fewer}; {why}", [name], figures))
    return warned
