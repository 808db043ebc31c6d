"""Random draws with exact probabilities, from fair coins: whole numbers only, so that no rounding spends privacy.

The coins are the operating system's (:func:`secrets.randbits`), which no one predicts who has not its state. They are
never repeated: the same coins over a table that has changed by a row would show that row (the samples would differ by
it), so there is no seed. Floating-point numbers would give some outcomes probabilities that the proof excludes (Mironov
2012), so there are none.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor, isqrt

__all__ = ["Coins", "binomial", "chosen_by_score", "discrete_gaussian", "discrete_laplace", "operating_system"]

Coins = Callable[[int], int]
"""This many fair coins, as the bits of a number."""

_PIECE = 1 << 20
"""Coins asked for at a time."""


def operating_system(count: int) -> int:
    """Coins that no one can know or repeat."""
    return secrets.randbits(count)


def binomial(rows: int, threshold: int, bits: int, coins: Coins) -> int:
    """How many of some rows are drawn, each independently with probability threshold / 2^bits.

    A row is drawn when its ``bits`` coins, as a number, are below the threshold. Numbers are compared from the first
    coin on, those of all rows at once; a row whose number differs from the threshold is decided, and half of them do
    with every coin. It takes about 2 coins a row.

    Args:
        rows: how many there are.
        threshold: from 0 to 2^bits.
        bits: coins per row.
        coins: where they come from.
    """
    if threshold >> bits:
        return rows
    drawn, open_rows = 0, rows
    for position in reversed(range(bits)):
        if not open_rows:
            break
        heads = _heads(open_rows, coins)
        if threshold >> position & 1:
            drawn += open_rows - heads
            open_rows = heads
        else:
            open_rows -= heads
    return drawn


def _heads(count: int, coins: Coins) -> int:
    """How many of this many coins show heads."""
    heads = 0
    while count:
        piece = min(count, _PIECE)
        heads += coins(piece).bit_count()
        count -= piece
    return heads


def chosen_by_score(scores: Sequence[Fraction], epsilon: Fraction, sensitivity: Fraction, coins: Coins) -> int:
    """The position of a score, drawn with a probability in proportion to exp(epsilon score / (2 sensitivity)).

    The exponential mechanism (McSherry, Talwar 2007), exactly: a position is proposed, each with the same probability,
    and accepted with exp(-epsilon (best - score) / (2 sensitivity)), else another one is proposed.

    Args:
        scores: the higher, the better; at least one.
        epsilon: what the choice may spend.
        sensitivity: the most that one row more or less changes any score by.
        coins: where randomness comes from.
    """
    best = max(scores)
    while True:
        proposed = _below(len(scores), coins)
        if _accepted(epsilon * (best - scores[proposed]) / (2 * sensitivity), coins):
            return proposed


def discrete_laplace(scale: Fraction, coins: Coins) -> int:
    """A whole number z with a probability in proportion to exp(-|z| / scale), exactly.

    Canonne, Kamath, Steinke 2020, algorithm 2, with t / s for the scale: a number from 0 to below t is kept with
    probability exp(-number / t), and t is added for each of a geometric number of successes of e^-1; a whole s-th of
    the sum gets a random sign, and -0 is drawn again, since 0 would be twice as likely.

    Args:
        scale: above 0.
        coins: where randomness comes from.
    """
    while True:
        remainder = _below(scale.numerator, coins)
        if not _accepted_up_to_one(Fraction(remainder, scale.numerator), coins):
            continue
        whole = 0
        while _accepted_up_to_one(Fraction(1), coins):
            whole += 1
        size = (remainder + scale.numerator * whole) // scale.denominator
        negative = coins(1)
        if size or not negative:
            return -size if negative else size


def discrete_gaussian(variance: Fraction, coins: Coins) -> int:
    """A whole number z with a probability in proportion to exp(-z^2 / (2 variance)), exactly.

    Canonne, Kamath, Steinke 2020, algorithm 3: a discrete Laplace number of scale t, the whole number above the root of
    the variance, is kept with probability exp(-(|z| - variance / t)^2 / (2 variance)).

    Args:
        variance: above 0; that of the distribution is at most this.
        coins: where randomness comes from.
    """
    scale = isqrt(floor(variance)) + 1
    while True:
        found = discrete_laplace(Fraction(scale), coins)
        if _accepted((abs(found) - variance / scale) ** 2 / (2 * variance), coins):
            return found


def _accepted(exponent: Fraction, coins: Coins) -> bool:
    """True with probability e^-exponent (Canonne, Kamath, Steinke 2020, algorithm 1)."""
    while exponent > 1:
        if not _accepted_up_to_one(Fraction(1), coins):
            return False
        exponent -= 1
    return _accepted_up_to_one(exponent, coins)


def _accepted_up_to_one(exponent: Fraction, coins: Coins) -> bool:
    """The same, for an exponent from 0 to 1: whether the first failure among events of chance exponent / n is odd."""
    number = 1
    while _below(exponent.denominator * number, coins) < exponent.numerator:
        number += 1
    return number % 2 == 1


def _below(limit: int, coins: Coins) -> int:
    """A whole number from 0 to below a limit, each with the same probability."""
    bits = (limit - 1).bit_length()
    while True:
        if (number := coins(bits) if bits else 0) < limit:
            return number
