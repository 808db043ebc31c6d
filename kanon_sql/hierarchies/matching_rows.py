"""The rows of a hierarchy for a column: its values as those of the column are written, so that both have one text."""

from __future__ import annotations

import re
from decimal import Decimal

from kanon_sql.engines import Column
from kanon_sql.errors import HierarchyError, have
from kanon_sql.hierarchies.kind import kind_of
from kanon_sql.spec import Origin, QuasiIdentifier

__all__ = ["listed_for"]

_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?")
_SCALE = re.compile(r"\([0-9]+, ?([0-9]+)\)")
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]00:00:00(?:\.0+)?)?")


def listed_for(
    spec: Origin, item: QuasiIdentifier, column: Column, where: str, *, several: bool = False
) -> list[tuple[str, ...]] | None:
    """The rows of a file or a tree; None where a rule makes the labels, or a table in the database holds them.

    Of a date in a column of timestamps becomes its midnight, of a midnight in a column of dates its day; a number gets
    the digits after the point that numbers of the column have: 1.50 is 1.5 in a column of binary fractions, and 1.5 is
    1.50 in one of the type DECIMAL(9, 2).

    Args:
        spec: where a file is.
        item: the hierarchy.
        column: the source's column.
        where: what to call the hierarchy in messages.
        several: a value may have several rows.

    Raises:
        HierarchyError: a file holds no hierarchy, or two rows are of one value.
    """
    rows = kind_of(item).listed_rows(spec, several=several)
    if rows is None:
        return None
    made = {(_written(row[0], column), *row[1:]): row[0] for row in rows}
    values: dict[str, str] = {}
    clashes = {row[0] for row, before in made.items() if values.setdefault(row[0], before) != before}
    if clashes and not several:
        raise HierarchyError(
            f"{where}: {have(len(clashes), 'value')} two rows with different generalizations, written in two ways that "
            f"are one value of a column of the type {column.type}; keep one row of each"
        )
    return list(made)


def _written(text: str, column: Column) -> str:
    """The value as :func:`kanon_sql.hierarchies.value_text` writes it, where it can be read as one; else as it is."""
    if column.kind in ("date", "timestamp"):
        day = _DAY.fullmatch(text)
        return text if day is None else day[1] if column.kind == "date" else f"{day[1]} 00:00:00"
    if column.kind not in ("integer", "decimal", "float"):
        return text
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    sign, whole, fraction = number[1], number[2], (number[3] or "").rstrip("0")
    if column.kind == "decimal" and column.varies != "digits":
        scale = _SCALE.search(column.type)
        if scale is None or len(fraction) > int(scale[1]):
            return text
        fraction = fraction.ljust(int(scale[1]), "0")
    elif column.kind == "integer" and fraction:
        return text
    written = f"{whole}.{fraction}" if fraction else whole
    return written if Decimal(written) == 0 else sign + written
