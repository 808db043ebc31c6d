"""k-map by an estimate: classes that are so large in a sample that they are hardly small in its population."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, expm1, lgamma, log, log1p, pi
from typing import Any, ClassVar, Self

from kanon_sql.models.privacy.base import Monotonicity, PrivacyModel
from kanon_sql.models.privacy.k_map import KMapRequirement
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import figure

__all__ = ["SIGNIFICANCE", "KMapEstimateModel", "critical_size", "largest_k", "tail"]

SIGNIFICANCE = 0.01
NEGLIGIBLE = 1e-17
"""A term of a sum that is a smaller share of it ends it."""
LARGE = 1e6
"""A mean from which on a tail is bounded instead of added up."""


@register
@dataclass(frozen=True)
class KMapEstimateModel(PrivacyModel):
    """k-map (Sweeney 2001) of a population that is not there, by the sizes of a sample's classes.

    El Emam and Dankar, Protecting privacy using k-anonymity (Journal of the American Medical Informatics Association
    15(5), 2008). See :func:`critical_size`. It is an estimate: classes of fewer than k persons pass, though few do.

    Monotone also under suppression, as k-anonymity for the critical size is.
    """

    name: ClassVar[str] = "k_map_estimate"
    requirement: ClassVar = KMapRequirement
    figures: ClassVar = {
        "size": figure("Estimated k_map: the size of the smallest class; null without one.", int, minimum=0),
        "k_estimated": figure(
            "The largest k that this size passes for, by an estimate that proves nothing.", int, minimum=0
        ),
    }
    worst: ClassVar = "MIN"
    is_estimate: ClassVar[bool] = True
    k: int
    fraction: float
    significance: float
    truncated: bool

    @classmethod
    def of(cls, requirement: KMapRequirement) -> Self | None:
        """With the requirement's parameters; None where it names a population."""
        if requirement.sampling_fraction is None:
            return None
        level = SIGNIFICANCE if requirement.significance is None else requirement.significance
        return cls(requirement.k, requirement.sampling_fraction, level, requirement.estimator != "poisson")

    @property
    def estimator(self) -> str:
        """The estimator in words."""
        return "zero-truncated Poisson" if self.truncated else "Poisson"

    @property
    def notation(self) -> str:
        """Such as ``5-map by estimate (zero-truncated Poisson): at least 3 in a class``."""
        return f"{self.k}-map by estimate ({self.estimator}): at least {self.least_size} in a class"

    @property
    def least_size(self) -> int:
        """The critical size."""
        return critical_size(self.k, self.fraction, self.significance, truncated=self.truncated)

    @property
    def assumption(self) -> str:
        """A random sample, and a level of significance for each class."""
        return (
            f"{self.k}-map is an estimate and not proven: the source is assumed to be a random sample of "
            f"{self.fraction:g} of its population, and each class with fewer than {self.k} persons there passes with a "
            f"probability of up to {self.significance:g}"
        )

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Always: it asks for a size, as k-anonymity does."""
        return Monotonicity.ALWAYS

    def parameters(self) -> dict[str, Any]:
        """The critical size."""
        return {"size": self.least_size}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The size of the smallest class, and the largest k that it passes for; None when there is no class."""
        if worst is None:
            return {"size": None, "k_estimated": None}
        size = int(worst)
        found = largest_k(size, self.fraction, self.significance, truncated=self.truncated) if size else 0
        return {"size": size, "k_estimated": found}


def critical_size(k: int, fraction: float, significance: float, *, truncated: bool = True) -> int:
    """The size from which on a class of a sample hardly stands for fewer than k persons of its population.

    The hypothesis that a class has fewer than k persons is rejected where k persons would have as many rows in the
    sample with a probability of at most ``significance``, by a Poisson distribution of mean k times the fraction. Above
    the mean this has more in its tail than the binomial distribution. A class of k rows has k persons in any case.

    Args:
        k: persons, 1 or more.
        fraction: the share of the population that is in the sample, above 0 and up to 1.
        significance: above 0 and at most 0.5.
        truncated: a class without a row in the sample is not seen, so the distribution is truncated at 0; that takes
            larger classes.
    """
    mean = k * fraction
    low, high = max(0, min(k, ceil(mean)) - 1), k  # below the mean a tail is more than a half
    while high - low > 1:
        middle = (low + high) // 2
        if tail(middle, mean, truncated=truncated) <= significance:
            high = middle
        else:
            low = middle
    return high


def largest_k(size: int, fraction: float, significance: float, *, truncated: bool = True) -> int:
    """The largest k for which a size is not below the critical one; the arguments are as there, the size 1 or more."""
    low, high = size, ceil(size / fraction) + 2  # where the mean is the size, the tail is more than any level
    while high - low > 1:
        middle = (low + high) // 2
        if critical_size(middle, fraction, significance, truncated=truncated) <= size:
            low = middle
        else:
            high = middle
    return low


def tail(size: int, mean: float, *, truncated: bool) -> float:
    """The probability that a Poisson variable is at least a size, or a little more where the mean is large.

    Args:
        size: the mean or more, and 1 or more.
        mean: of the distribution, above 0.
        truncated: given that the variable is not 0.
    """
    term = exp(_log_probability(size, mean))
    if mean > LARGE:
        found = term * (size + 1) / (size + 1 - mean)
    else:
        found, number = term, size
        while term > NEGLIGIBLE * found:
            number += 1
            term *= mean / number
            found += term
    return min(1.0, found / -expm1(-mean) if truncated else found)


def _log_probability(size: int, mean: float) -> float:
    """The logarithm of a number's probability; for large ones by Stirling, since their factorials have no digits."""
    if size < 100:
        return size * log(mean) - mean - lgamma(size + 1)
    off = (mean - size) / size
    return size * (log1p(off) - off) - 0.5 * log(2 * pi * size) - 1 / (12 * size) + 1 / (360 * size**3)
