"""Transition matrices of PRAM, in fractions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

__all__ = ["Matrix", "by_bayes", "thresholds"]

Matrix = Mapping[str, Mapping[str, Fraction]]
"""Category -> category -> probability; a row adds up to 1."""


def by_bayes(matrix: Matrix, counts: Mapping[str, int]) -> dict[str, dict[str, Fraction]]:
    """Two-stage PRAM: the matrix P, then the way back Q by Bayes' rule, q_jk = t_k p_kj / sum_l t_l p_lj.

    With the frequencies t of the source, t P Q = t: what is expected of each category is what there was (Gouweleeuw,
    Kooiman, Willenborg, de Wolf 1998, section 4).

    Args:
        matrix: P.
        counts: t; categories without a row in the source are never drawn.
    """
    arriving = {
        to: sum((counts[label] * row.get(to, Fraction(0)) for label, row in matrix.items()), Fraction(0))
        for to in matrix
    }
    made: dict[str, dict[str, Fraction]] = {}
    for label, row in matrix.items():
        if not counts[label]:
            made[label] = {label: Fraction(1)}
            continue
        made[label] = {
            back: sum(
                (
                    chance * counts[back] * matrix[back].get(to, Fraction(0)) / arriving[to]
                    for to, chance in row.items()
                    if chance
                ),
                Fraction(0),
            )
            for back in matrix
        }
    return made


def thresholds(matrix: Matrix, drawn_from: int) -> list[tuple[str, str, str, str]]:
    """Rows for the database: category, first number, the number after the last one, category that is drawn.

    Args:
        matrix: of probabilities.
        drawn_from: numbers from 0 to below this are drawn, all alike.
    """
    rows = []
    for label, row in matrix.items():
        low, total = 0, Fraction(0)
        for to, chance in row.items():
            total += chance
            high = int(total * drawn_from)
            if high > low:
                rows.append((label, str(low), str(high), to))
            low = high
    return rows
