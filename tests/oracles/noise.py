"""Distributions of discrete noise, and what two tables with noise differ by: by the definitions, in plain Python."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache

_DIGITS = Context(prec=50)


def laplace(scale: Fraction, number: int) -> Fraction:
    """P(Z = number), in proportion to exp(-|number| / scale)."""
    with localcontext(_DIGITS):
        q = (-Decimal(scale.denominator) / scale.numerator).exp()
        return Fraction((1 - q) / (1 + q) * q ** abs(number))


@cache
def _whole(variance: Fraction) -> Decimal:
    with localcontext(_DIGITS):
        return sum((_weight(variance, number) for number in range(-400, 401)), Decimal(0))


def _weight(variance: Fraction, number: int) -> Decimal:
    exponent = Fraction(number * number) / (2 * variance)
    return (-Decimal(exponent.numerator) / exponent.denominator).exp()


def gaussian(variance: Fraction, number: int) -> Fraction:
    """P(Z = number), in proportion to exp(-number^2 / (2 variance)); of variances below 10^3."""
    with localcontext(_DIGITS):
        return Fraction(_weight(variance, number) / _whole(variance))


def exceeding(one: Mapping[Hashable, float], other: Mapping[Hashable, float], factor: float) -> float:
    """The least delta for which no outcome of one distribution is more likely than in the other, times a factor."""
    return sum(max(0.0, chance - factor * other.get(outcome, 0.0)) for outcome, chance in one.items())
