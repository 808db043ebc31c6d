"""Credibility: how likely a person has a value, once it is known that a finer release would have violated.

Wong, Fu, Wang, Pei (2007, section 4). A class of a release is made of cells, the classes of a finer release, whose
sizes the attacker knows; of its rows this many have the value. A cell violates if more than this many of its rows do.
All assignments of the value to the rows of a class are equally likely; that a finer release was not published tells
that some cell of some class violates. So for a person o of class c, with V_c for "some cell of class c violates", and
W for the probability that some class violates, which is 1 less the product of all 1 - P(V),

    P(o has the value | some class violates) = (P(o has it, V_c) + P(o has it, not V_c) * W without c) / W

Counting assignments is exact: products of binomial coefficients, one polynomial per cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, expm1, log1p

__all__ = ["LARGEST", "Refined", "credibilities"]

LARGEST = 300
"""Classes with more rows are taken for satisfied, so that what is learned of the others is not understated."""


@dataclass(frozen=True)
class Refined:
    """A class as the attacker sees it.

    Attributes:
        cells: the sizes of its cells.
        held: how many of its rows have the value.
    """

    cells: tuple[int, ...]
    held: int


@dataclass(frozen=True)
class _Chances:
    """Of one class: the chance that a cell violates; per cell, that a person has the value and one does, or none."""

    violated: float
    with_violation: tuple[float, ...]
    without: tuple[float, ...]


def credibilities(classes: Sequence[Refined], most: Callable[[int], int]) -> list[list[float]] | None:
    """Per class and cell: the probability that a person of the cell has the value.

    Args:
        classes: all classes of the release.
        most: the size of a cell -> the most rows with the value that it may have; at least 0.

    Returns:
        None if no cell can violate: then the finer release was withheld for another reason.
    """

    @cache
    def chances(item: Refined) -> _Chances:
        return _chances(item, [most(size) for size in item.cells])

    found = [chances(item) for item in classes]
    certain = sum(item.violated >= 1 for item in found)
    logs = [log1p(-item.violated) if item.violated < 1 else 0.0 for item in found]
    total = sum(logs)
    somewhere = _some(total, certain)
    if somewhere == 0:
        return None
    answers = []
    for item, log in zip(found, logs, strict=True):
        elsewhere = _some(total - log, certain - (item.violated >= 1))
        pairs = zip(item.with_violation, item.without, strict=True)
        answers.append([min(1.0, (here + none * elsewhere) / somewhere) for here, none in pairs])
    return answers


def _some(log_none: float, certain: int) -> float:
    """The probability that some class violates, from the logarithm of that none does."""
    return 1.0 if certain else -expm1(min(0.0, log_none))


def _chances(item: Refined, caps: Sequence[int]) -> _Chances:
    rows, held = sum(item.cells), item.held
    share = held / rows
    if rows > LARGEST or all(min(size, held) <= cap for size, cap in zip(item.cells, caps, strict=True)):
        return _Chances(0.0, (0.0,) * len(item.cells), (share,) * len(item.cells))
    satisfying = [[comb(size, taken) for taken in range(min(size, cap, held) + 1)]
                  for size, cap in zip(item.cells, caps, strict=True)]  # fmt: skip
    before = [[1]]
    for ways in satisfying:
        before.append(_product(before[-1], ways, held))
    after = [[1]]
    for ways in reversed(satisfying):
        after.append(_product(after[-1], ways, held))
    after.reverse()
    every = comb(rows, held)
    none = _at(before[-1], held)
    with_violation, without = [], []
    for index, (size, ways) in enumerate(zip(item.cells, satisfying, strict=True)):
        rest = _product(before[index], after[index + 1], held)
        own = sum(taken * count * _at(rest, held - taken) for taken, count in enumerate(ways))
        without.append(own / (size * every))
        with_violation.append((held * size * every - own * rows) / (rows * size * every))
    return _Chances((every - none) / every, tuple(with_violation), tuple(without))


def _product(one: Sequence[int], other: Sequence[int], degree: int) -> list[int]:
    """The product of two polynomials, up to a degree."""
    made = [0] * min(degree + 1, len(one) + len(other) - 1)
    for position, left in enumerate(one):
        for offset, right in enumerate(other[: len(made) - position]):
            made[position + offset] += left * right
    return made


def _at(polynomial: Sequence[int], degree: int) -> int:
    return polynomial[degree] if 0 <= degree < len(polynomial) else 0
