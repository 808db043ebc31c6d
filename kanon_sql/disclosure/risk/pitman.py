"""Population uniqueness by the Pitman sampling formula.

Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment (Journal of Official Statistics
17(4), 2001); Dankar et al. (2012) recommend it for sampling fractions up to 0.1. The sizes of the classes are taken
for a random partition with the parameters theta and alpha, fitted by maximum likelihood to the sample (equations of
section 3 there); what is returned is the expected number of classes of one in a partition of the population, of
which the paper gives the limit Gamma(theta + 1) / Gamma(theta + alpha) * N^alpha.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, lgamma, log, log1p
from typing import Final

from kanon_sql.disclosure.risk.estimate import Estimate, population_size
from kanon_sql.disclosure.risk.histogram import Histogram

__all__ = ["expected_uniques", "fit", "pitman"]

NAME: Final = "pitman"
STEPS = 200
"""Bisections: more than a float has digits."""


def pitman(histogram: Histogram, sampling_fraction: float) -> Estimate:
    """How many records of the population are unique, from the sizes of the sample's classes.

    Args:
        histogram: the sample's classes.
        sampling_fraction: records of the sample per record of the population, above 0 and up to 1.
    """
    records, classes = histogram.records, histogram.classes
    if not records:
        return Estimate.missing(NAME, "the table has no records")
    if classes == 1:
        return Estimate.missing(NAME, "all records are equal: no maximum of the likelihood")
    if classes == records:
        return Estimate.missing(NAME, "every record is unique: no maximum of the likelihood")
    theta, alpha = fit(histogram)
    population = population_size(records, sampling_fraction)
    return Estimate.of(NAME, expected_uniques(theta, alpha, population), population, theta=theta, alpha=alpha)


def expected_uniques(theta: float, alpha: float, size: int) -> float:
    """The expected number of classes of one in a partition of ``size`` records."""
    # size * product over i = 0 .. size - 2 of (theta + alpha + i) / (theta + 1 + i)
    return exp(log(size) + _log_gamma_ratio(theta + size, alpha - 1) - _log_gamma_ratio(theta + 1, alpha - 1))


def fit(histogram: Histogram) -> tuple[float, float]:
    """The theta and alpha (0 <= alpha < 1, theta > -alpha) that make the sample most likely.

    Args:
        histogram: more than one class, and fewer than records.
    """
    records, classes = histogram.records, histogram.classes

    def theta_of(alpha: float) -> float:
        """The best theta for an alpha: where the likelihood's derivative by theta falls through zero."""
        return _falls_through_zero(
            lambda theta: _sum_of_inverses(theta, alpha, classes) - (_digamma(theta + records) - _digamma(theta + 1)),
            -alpha,
            inf,
        )

    def by_alpha(alpha: float) -> float:
        """The derivative by alpha there."""
        theta = theta_of(alpha)
        if alpha:
            total = (classes - 1 - theta * _sum_of_inverses(theta, alpha, classes)) / alpha
        else:
            total = (classes - 1) * classes / 2 / theta
        first = _digamma(1 - alpha)
        return total - sum(count * (_digamma(size - alpha) - first) for size, count in histogram.sizes.items())

    # Without a maximum inside, the likelihood falls from alpha = 0 on: Ewens' formula.
    alpha = _falls_through_zero(by_alpha, 0.0, 1.0) if by_alpha(0.0) > 0 else 0.0
    return theta_of(alpha), alpha


def _sum_of_inverses(theta: float, alpha: float, classes: int) -> float:
    """The sum of 1 / (theta + i alpha) for i = 1 .. classes - 1."""
    if alpha == 0:
        return (classes - 1) / theta
    return (_digamma(theta / alpha + classes) - _digamma(theta / alpha + 1)) / alpha


def _falls_through_zero(value: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that is positive right of ``low`` and negative left of ``high`` changes its sign."""
    if high == inf:
        width = 1.0
        while value(low + width) > 0:
            width *= 2
        high = low + width
    for _ in range(STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if value(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _digamma(x: float) -> float:
    """The derivative of ln Gamma, for x > 0: steps up to where the asymptotic series is exact to a float."""
    shifted = 0.0
    while x < 12:
        shifted -= 1 / x
        x += 1
    inverse = 1 / (x * x)
    series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132))))
    return shifted + log(x) - 0.5 / x - series


def _log_gamma_ratio(x: float, step: float) -> float:
    """Ln of Gamma(x + step) / Gamma(x), for -1 <= step <= 0; the difference of two large logarithms has no digits."""
    if x < 100:
        return lgamma(x + step) - lgamma(x)
    y = x + step
    series = (1 / y - 1 / x) / 12 - (1 / y**3 - 1 / x**3) / 360  # Stirling
    return (x - 0.5) * log1p(step / x) + step * log(y) - step + series
