"""The exact confidence interval of a share, for what was tried on a random sample.

Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial (Biometrika 26,
1934): the lower end is the share at which as many or more would be found with probability (1 - level) / 2, the upper
end that at which as many or fewer would. It covers the true share at least as often as it says, for every share.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log, log1p

from kanon_sql.spec import Document, Share

__all__ = ["LEVEL", "Interval", "exact_interval"]

LEVEL = 0.95

_HALVINGS = 100
"""More than the digits of a float."""

_NEGLIGIBLE = 1e-18


@dataclass(frozen=True)
class Interval(Document):
    """An interval that holds the true share with a probability of at least ``level``.

    Attributes:
        low: its lower end.
        high: its upper end.
        level: of confidence.
    """

    low: Share
    high: Share
    level: Share


def exact_interval(found: int, tried: int, level: float = LEVEL) -> Interval | None:
    """The interval of a share.

    Args:
        found: of those that were tried, how many were found.
        tried: independent draws; from a small population without putting back, the interval is wider than it needs be.
        level: of confidence, above 0 and below 1.

    Returns:
        The interval; None where nothing was tried.
    """
    if not tried:
        return None
    each = (1 - level) / 2
    low = 0.0 if not found else 1 - _upper(tried - found, tried, each)
    high = 1.0 if found == tried else _upper(found, tried, each)
    return Interval(low, high, level)


def _upper(found: int, tried: int, probability: float) -> float:
    """The share at which so few are found with a probability; by halving, since that falls as the share grows."""
    low, high = found / tried, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _at_most(found, tried, middle) > probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _at_most(found: int, tried: int, share: float) -> float:
    """The binomial probability of this many or fewer, for a share of ``found / tried`` or more.

    From there on down each term is smaller than the one before, so that the sum ends where terms are negligible.
    """
    term = exp(
        lgamma(tried + 1) - lgamma(found + 1) - lgamma(tried - found + 1)
        + found * log(share) + (tried - found) * log1p(-share)
    )  # fmt: skip
    total, number = term, found
    while number and term > total * _NEGLIGIBLE:
        term *= number * (1 - share) / ((tried - number + 1) * share)
        total += term
        number -= 1
    return total
