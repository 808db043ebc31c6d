"""Rounding: every cell becomes a multiple of a base (WP 22, chapter II; Hundepool et al. 2012, section 5.4).

    conventional   to the nearest multiple, halves upwards; margins may not add up
    random         up or down at random, so that the expectation is the value; margins may not add up
    controlled     up or down so that all margins add up, as near to the values as can be (Cox 1987)

The randomness is a keyed hash of the cell and its value (HMAC-SHA-256), so that every run and every engine that has the
key rounds alike, and no reader who has not can tell which way.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql.tables.audit import Audit
from kanon_sql.tables.solver import Program
from kanon_sql.tables.structure import Cell, CellTable

__all__ = ["Rounded", "controlled", "conventional", "randomly"]

MOST_STEPS = 3
"""Controlled rounding moves a cell by this many multiples at most, if one is not enough for the margins to add up."""


@dataclass(frozen=True)
class Rounded:
    """A rounded table.

    Attributes:
        values: the rounded values, in the order of the cells.
        audit: what they tell of the true ones.
        steps: the most multiples of the base that a value may have been moved by; 1 is the usual.
    """

    values: Sequence[int]
    audit: Audit
    steps: int = 1


def conventional(table: CellTable, base: int) -> Rounded:
    """Round to the nearest multiple of the base, halves upwards."""
    values = [(2 * cell.value + base) // (2 * base) * base for cell in table.cells]
    lower = [max(0, value - base // 2) for value in values]
    return Rounded(values, Audit(table, lower, [value + (base + 1) // 2 - 1 for value in values]))


def randomly(table: CellTable, base: int, key: bytes) -> Rounded:
    """Round up with the probability of the remainder over the base, else down.

    Args:
        table: the cells.
        base: what values become multiples of.
        key: the secret that decides.
    """
    values = []
    for cell in table.cells:
        low, rest = divmod(cell.value, base)
        up = rest > 0 and _share(cell, base, key) < rest
        values.append((low + up) * base)
    return Rounded(values, _around(table, values, base, 1))


def _share(cell: Cell, base: int, key: bytes) -> int:
    """A number below the base that is the same for the same cell, value and key."""
    encoded = json.dumps([cell.key, cell.value, base]).encode()
    return int.from_bytes(hmac.new(key, encoded, hashlib.sha256).digest(), "big") % base


def controlled(table: CellTable, base: int) -> Rounded | None:
    """Round so that every margin is the sum of its cells, with the least sum of differences.

    A multiple of the base stays as it is, and every other value becomes one of its two neighbours. In two dimensions
    this is always possible; where it is not, values may move by more, and ``steps`` says by how many.

    Args:
        table: the cells.
        base: what values become multiples of.

    Returns:
        The rounded table; None where none was found within :data:`MOST_STEPS`.
    """
    for steps in range(1, MOST_STEPS + 1):
        values = _controlled(table, base, steps)
        if values is not None:
            return Rounded(values, _around(table, values, base, steps), steps)
    return None


def _controlled(table: CellTable, base: int, steps: int) -> Sequence[int] | None:
    program = Program.empty()
    numbers = []
    for cell in table.cells:
        low, rest = divmod(cell.value, base)
        high = low + (1 if rest else 0)
        numbers.append(program.variable(max(0, low - steps + 1) - low, high + steps - 1 - low, whole=True))
        away = program.variable(0.0, float("inf"), cost=1.0)
        share = rest / base
        program.row([(away, 1.0), (numbers[-1], -1.0)], -share, float("inf"))
        program.row([(away, 1.0), (numbers[-1], 1.0)], share, float("inf"))
    for above, parts in table.relations:
        gap = table.cells[above].value // base - sum(table.cells[part].value // base for part in parts)
        terms = [(numbers[part], 1.0) for part in parts]
        program.row([*terms, (numbers[above], -1.0)], gap, gap)
    found = program.solve()
    if found is None:
        return None
    values = [
        (cell.value // base + round(found.values[number])) * base
        for cell, number in zip(table.cells, numbers, strict=True)
    ]
    near = all(
        value >= 0 and abs(value - cell.value) < steps * base for value, cell in zip(values, table.cells, strict=True)
    )
    return values if near and table.adds_up(values) else None


def _around(table: CellTable, values: Sequence[int], base: int, steps: int) -> Audit:
    """What every reader knows who knows how much a value may have been moved."""
    away = steps * base - 1
    least = 0 if table.sums else 1  # what is not rounded to 0 is listed, and so is no empty cell
    lower = [max(least if value else 0, value - away) for value in values]
    return Audit(table, lower, [value + away for value in values])
