"""Linked tables: which of a spec's dimensions each of several tables has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kanon_sql.spec.checks import fail, items, text

__all__ = ["TABLES", "faults_of", "has_circle", "linked_tables"]

Tables = tuple[tuple[str, ...], ...]

TABLES = {
    "anyOf": [
        {
            "type": "array",
            "items": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "uniqueItems": True},
            "minItems": 2,
        },
        {"type": "null"},
    ]
}
"""The JSON Schema of the key."""


def linked_tables(value: object) -> Tables:
    """A check for the dimensions of several tables."""
    names = items("the dimensions of a table", text("a column name"), least=1)
    found: Tables = items("tables", lambda one: tuple(names(one)), least=2)(value)
    for number, one in enumerate(found):
        if len(set(one)) < len(one):
            fail(f"table {number + 1} lists a dimension twice; list it once")
        if any(set(one) <= set(other) for place, other in enumerate(found) if place != number):
            fail(f"table {number + 1} is already shown by the margins of another table; leave it out")
    return found


def faults_of(tables: Tables, totals: Mapping[str, bool]) -> list[str]:
    """What does not fit the dimensions: names and whether each has a total."""
    used = {name for one in tables for name in one}
    found = []
    if unknown := sorted(used - set(totals)):
        found.append(f"{unknown[0]!r} is not a dimension of the spec; use names listed under dimensions")
    if unused := sorted(set(totals) - used):
        found.append(f"no table has the dimension {unused[0]!r}; remove it, or add it to a table")
    if without := [name for name, total in totals.items() if not total]:
        found.append(f"linked tables share totals, but {without[0]!r} has total: false; leave that out")
    if has_circle(tables):
        found.append(
            "the tables are linked in a circle (such as a by b, b by c, and c by a), and the audit does not cover "
            "such tables; leave one out, or tabulate their dimensions in one table"
        )
    return found


def has_circle(tables: Sequence[Sequence[str]]) -> bool:
    """Whether some margins of a whole table agree with each other and yet are no whole table's.

    Without a circle, whatever agrees in the shared margins are the margins of a table of whole numbers over all
    dimensions (Lauritzen, Speed, Vijayan 1984: the tables are decomposable), so each cell can be what the shared
    margins allow. The test is that of Graham and of Yu and Ozsoyoglu (1979): dimensions of one table only go, tables
    inside another go, and without a circle nothing is left.
    """
    left = [set(one) for one in tables]
    while True:
        often = Counter(name for one in left for name in one)
        less = [{name for name in one if often[name] > 1} for one in left]
        kept = [
            one for number, one in enumerate(less)
            if one and not any(one < other or (one == other and place < number) for place, other in enumerate(less))
        ]  # fmt: skip
        if kept == left:
            return bool(left)
        left = kept
