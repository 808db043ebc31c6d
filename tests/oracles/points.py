"""A point as a quasi-identifier in plain Python: cells by exact fractions, and every node of the lattice tried."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

Cell = tuple[Fraction, Fraction, Fraction, Fraction]
"""From and to across, from and to up."""


class Row(NamedTuple):
    """Whose it is, where, and a second quasi-identifier of two levels: the value, then everybody."""

    who: Any
    x: Fraction | None
    y: Fraction | None
    sort: str


Label = tuple[Cell | None, str | None]
"""None is the top."""


@dataclass(frozen=True)
class Points:
    """What is asked of a release."""

    bounds: tuple[int, int, int, int]
    depths: Sequence[int]
    k: int
    limit: Fraction
    by_person: bool

    def cell(self, row: Row, depth: int) -> Cell | None:
        """Halved until it is deep enough; None outside of the bounds."""
        x0, y0, x1, y1 = map(Fraction, self.bounds)
        if row.x is None or row.y is None or not (x0 <= row.x < x1 and y0 <= row.y < y1):
            return None
        for _ in range(depth):
            middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
            x0, x1 = (x0, middle_x) if row.x < middle_x else (middle_x, x1)
            y0, y1 = (y0, middle_y) if row.y < middle_y else (middle_y, y1)
        return x0, x1, y0, y1

    def nodes(self) -> Iterator[tuple[int, int]]:
        return product(range(len(self.depths) + 1), range(2))

    def released(self, rows: Sequence[Row], node: tuple[int, int]) -> Counter[Label] | None:
        """What a node releases; None where more rows would be left out than may be."""
        inside = [row for row in rows if self.cell(row, 1) is not None]
        level, sort = node

        def label(row: Row) -> Label:
            return self.cell(row, self.depths[level]) if level < len(self.depths) else None, None if sort else row.sort

        who: dict[Label, set[Any]] = {}
        for number, row in enumerate(inside):
            who.setdefault(label(row), set()).add(row.who if self.by_person else number)
        kept = Counter(label(row) for row in inside if len(who[label(row)]) >= self.k)
        left_out = len(rows) - kept.total()
        return None if left_out > self.limit * len(rows) or not kept else kept


def read(text: str) -> Cell | None:
    """A label as it is in a release."""
    if text == "*":
        return None
    found = re.fullmatch(r"\[(\S+), (\S+)\) x \[(\S+), (\S+)\)", text)
    assert found is not None, text
    x0, x1, y0, y1 = map(Fraction, found.groups())
    return x0, x1, y0, y1
