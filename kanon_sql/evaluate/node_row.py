"""What a statement about lattice nodes tells of each of them."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from kanon_sql.engines import Row

__all__ = ["NodeRow"]


class NodeRow(NamedTuple):
    """A row of ``evaluate/node``, by its columns.

    Attributes:
        number: of the node in its statement.
        classes: how many classes the node has.
        kept_classes: those that satisfy every requirement.
        suppressed: rows in the others.
        suppressed_monotone: rows that violate a requirement by which the search may prune.
        rows: rows in all classes.
        sizes: what all classes count, added up: rows, or persons, who are in a class at least.
        aggregates: what the metric asked for.
    """

    number: int
    classes: int
    kept_classes: int
    suppressed: int
    suppressed_monotone: int
    rows: int
    sizes: int
    aggregates: tuple[Any, ...]

    @classmethod
    def of(cls, row: Row) -> Self:
        """A row as the engine returns it; sums over no class are 0."""
        number, classes, kept, suppressed, monotone, rows, sizes = (int(value or 0) for value in row[:7])
        return cls(number, classes, kept, suppressed, monotone, rows, sizes, tuple(row[7:]))
