"""Population uniqueness by the slide negative binomial model.

Chen and Keller-McNulty, Estimation of identification disclosure risk in microdata (Journal of Official Statistics
14(1), 1998); compared with others by Dankar, El Emam, Neisa and Roffey (2012). A class of the population has one
record and a negative binomial number more, with parameters alpha and beta; a sample holds each of its records with
the probability f, the sampling fraction. So with p = 1 - beta, d = (1 - f) p and D = 1 - d, the sample is expected to
have of K classes

    of one record    K f (beta / D)^alpha (1 + alpha d / D)
    of two records   K f^2 alpha p beta^alpha (2 + (alpha - 1) d) / (2 D^(alpha + 2))

which are set equal to those that there are. K is estimated by the third form of Shlosser's estimator in Haas and
Stokes, Estimating the number of classes in a finite population (Journal of the American Statistical Association
93(444), 1998). The population's uniques are K beta^alpha.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import exp, log, log1p, sqrt
from typing import Final

from kanon_sql.disclosure.risk.estimate import Estimate, population_size
from kanon_sql.disclosure.risk.histogram import Histogram

__all__ = ["fit_snb", "population_classes", "snb"]

NAME: Final = "snb"
BISECTIONS = 200
"""More than a float has digits."""
STEPS = [-30 + 0.25 * step for step in range(241)] + [30 * 1.05**step for step in range(1, 65)]
"""Where log(p / beta) is tried; between two places with different signs is a solution."""


def snb(histogram: Histogram, sampling_fraction: float) -> Estimate:
    """How many records of the population are unique, from the sizes of the sample's classes.

    Of several solutions the one with the most uniques is taken.

    Args:
        histogram: the sample's classes.
        sampling_fraction: records of the sample per record of the population, above 0 and up to 1.
    """
    records = histogram.records
    if not records:
        return Estimate.missing(NAME, "the table has no records")
    population = population_size(records, sampling_fraction)
    if population == records:
        return Estimate.of(NAME, float(histogram.uniques), population)
    if not histogram.uniques:
        return Estimate.missing(NAME, "no record is unique in the table: the model's equations have no solution")
    if not histogram.sizes.get(2):
        return Estimate.missing(NAME, "no class has two records: the model's equations have no solution")
    fraction = records / population
    classes = population_classes(histogram, fraction)
    if classes > population:
        return Estimate.missing(NAME, "more classes are estimated than the population has records")
    solutions = list(fit_snb(histogram, fraction, classes))
    if not solutions:
        return Estimate.missing(NAME, "the model's equations have no solution for these sizes")
    uniques, alpha, beta = max((classes * exp(alpha * log_beta), alpha, exp(log_beta)) for alpha, log_beta in solutions)
    return Estimate.of(NAME, uniques, population, alpha=alpha, beta=beta, classes=classes)


def population_classes(histogram: Histogram, fraction: float) -> float:
    """How many classes the population has, by the third form of Shlosser's estimator in Haas and Stokes (1998).

    Args:
        histogram: the sample's classes, one of them of one record.
        fraction: the share of the population that is in the sample, above 0 and below 1.
    """
    absent, both = log1p(-fraction), log1p(-fraction * fraction)
    sizes = histogram.sizes.items()
    unseen = sum(count * exp(size * absent) for size, count in sizes)
    once = sum(count * size * fraction * exp((size - 1) * absent) for size, count in sizes)
    above = sum(count * size * fraction**2 * exp((size - 1) * both) for size, count in sizes)
    below = sum(count * (exp(size * both) - exp(size * absent)) for size, count in sizes)
    return histogram.classes + histogram.uniques * (above / below) * (unseen / once) ** 2


def fit_snb(histogram: Histogram, fraction: float, classes: float) -> Iterator[tuple[float, float]]:
    """The parameters alpha and log(beta) for which the sample has the classes of one and of two that it has.

    Args:
        histogram: the sample's classes; some have one record, and some two.
        fraction: the share of the population that is in the sample, above 0 and below 1.
        classes: of the population.
    """
    absent = 1 - fraction
    once = log(histogram.uniques / classes / fraction)
    ratio = 2 * histogram.sizes[2] / histogram.uniques / fraction

    def parameters(place: float) -> tuple[float, float, float, float]:
        """At log(p / beta) = place: alpha, log(beta), d and D."""
        p = 1 / (1 + exp(-place)) if place > 0 else exp(place) / (1 + exp(place))
        beta = 1 / (1 + exp(place))
        d, rest = absent * p, fraction + absent * beta
        # Twos over ones: p d alpha^2 + (p (2 - d) - ratio d D) alpha - ratio D^2 = 0 has one positive solution.
        square, linear, constant = p * d, p * (2 - d) - ratio * d * rest, ratio * rest * rest
        root = sqrt(linear * linear + 4 * square * constant)
        alpha = 2 * constant / (linear + root) if linear > 0 else (root - linear) / (2 * square)
        log_beta = -place - log1p(exp(-place)) if place > 0 else -log1p(exp(place))
        return alpha, log_beta, d, rest

    def too_many(place: float) -> float:
        """The logarithm of the ones that are expected over those that there are."""
        alpha, log_beta, d, rest = parameters(place)
        return alpha * (log_beta - log(rest)) + log1p(alpha * d / rest) - once

    for low, high in pairwise(STEPS):
        at_low = too_many(low)
        if (at_low > 0) == (too_many(high) > 0):
            continue
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            if (too_many(middle) > 0) == (at_low > 0):
                low = middle
            else:
                high = middle
        yield parameters(low)[:2]
