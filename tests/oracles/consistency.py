"""k-anonymity revisited, in plain Python by trying every assignment of released rows to records of the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.oracles.audit import row_may_be
from tests.oracles.model import Hierarchy, Row

Edges = list[set[int]]
"""Per row of the release: the numbers of the records that it is consistent with."""


def edges_of(source: Sequence[Row], release: Sequence[Row], hierarchies: Mapping[str, Hierarchy]) -> Edges:
    return [
        {number for number, record in enumerate(source) if row_may_be(record, row, hierarchies, hierarchies)}
        for row in release
    ]


def assignments(edges: Edges) -> Iterator[tuple[int, ...]]:
    """Every way to give each row a record of its own, in the order of the rows."""

    def given(rows: Edges, taken: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if not rows:
            yield taken
            return
        for record in rows[0]:
            if record not in taken:
                yield from given(rows[1:], (*taken, record))

    yield from given(edges, ())


@dataclass(frozen=True)
class Consistent:
    """How many rows each record is consistent with, how many records each row is, how many rows each record matches.

    Attributes:
        of_records, of_rows: in the order of the tables.
        matches: None when no assignment exists.
    """

    of_records: list[int]
    of_rows: list[int]
    matches: list[int] | None


def consistent(edges: Edges, records: int) -> Consistent:
    pairs = {(row, record) for world in assignments(edges) for row, record in enumerate(world)}
    exists = next(assignments(edges), None) is not None
    return Consistent(
        of_records=[sum(record in row for row in edges) for record in range(records)],
        of_rows=[len(row) for row in edges],
        matches=[sum(found == record for _, found in pairs) for record in range(records)] if exists else None,
    )
