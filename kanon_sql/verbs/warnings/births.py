"""The warning that births of a CSV file are in the future, as those of two-digit years are: 31 is read as 2031."""

from __future__ import annotations

from datetime import date

from kanon_sql.evaluate import Chosen
from kanon_sql.recode import RecodingResult
from kanon_sql.spec import is_csv
from kanon_sql.verbs.result import Warned

__all__ = ["births_in_future"]


def births_in_future(found: Chosen | RecodingResult) -> list[Warned]:
    """Dates of birth after today, in a CSV file.

    Args:
        found: what was chosen; it takes one statement over the lookup tables of such columns, and none without any.
    """
    if not is_csv(found.spec.source.file):
        return []
    from kanon_sql.verbs.init import is_birth

    born = [
        lookup for lookup in found.sets.lookups if found.columns[lookup.name].kind == "date" and is_birth(lookup.name)
    ]
    if not born:
        return []
    warned = []
    tables = [lookup.table for lookup in born]
    answer = found.workspace.fetch("verbs/warnings/births", len(born), lookups=tables, today=date.today().isoformat())
    for number, rows, future in answer:
        if not future:
            continue
        name = born[int(number)].name
        message = (
            f"{name}: {int(future):,} of {int(rows):,} rows have a birth in the future; a year of two digits below 69 "
            "is read as 20xx: subtract a century in a source query"
        )
        warned.append(Warned("births_in_future", message, [name], {"rows": int(rows), "future": int(future)}))
    return warned
