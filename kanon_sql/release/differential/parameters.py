"""The k, and the sampling probability, that make a release (epsilon, delta)-differentially private.

Rows are drawn with probability beta each, generalized by a fixed function, and kept in classes of k or more. A row
more in the table changes the size n of one class, hence the number of rows that are drawn of it from a binomial
distribution to the next one. With gamma = (e^epsilon - 1 + beta) / e^epsilon and beta at most 1 - e^-epsilon, no number
of drawn rows up to gamma n is more than e^epsilon times as likely with the row as without it, and the numbers above
that are shown, k or more, are rare (Li, Qardaji, Su 2012, theorem 1):

    delta(k) = max over n >= n_m of the sum over j > gamma n of C(n, j) beta^j (1 - beta)^(n - j),
    n_m = ceil(k / gamma - 1)

The sums are over all n, yet fall below any delta once n is large enough: Bild, Kuhn, Prasser 2018, section 5, bound
them by Chernoff; the bound here is the tighter one by the relative entropy (Hoeffding 1963, theorem 1). Arithmetic is
decimal with 60 digits, and every step is rounded so that k can only grow: probabilities that exceed a sum of positive
terms, a gamma below the real one. ARX's loop adds one more to the k that it has found to suffice, so its k is larger by
one where both use the same beta.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import ceil, comb, floor

from kanon_sql.errors import SpecError

__all__ = ["BITS", "Sampling", "delta_of", "sampling_for"]

BITS = 64
"""A sampling probability is a multiple of 2^-BITS, so that fair coins draw with exactly this probability."""

MOST_ROWS = 500_000
"""The largest classes for which sums are looked at."""

_CONTEXT = Context(prec=60, Emin=-(10**9), Emax=10**9)
_SLACK = Decimal(1).scaleb(-40)
"""More than what 60 digits lose in a hundred thousand steps."""


@dataclass(frozen=True)
class Sampling:
    """How rows are drawn, and which classes are kept.

    Attributes:
        threshold: a row is drawn when 64 random bits, as a number, are below it.
        k: the size of the smallest class that is kept, counted in drawn rows.
    """

    threshold: int
    k: int

    @property
    def probability(self) -> Fraction:
        """The probability with which a row is drawn."""
        return Fraction(self.threshold, 1 << BITS)


def sampling_for(epsilon: Fraction, delta: Fraction, asked: Fraction | None = None) -> Sampling:
    """The sampling probability, and the least k that suffices.

    Args:
        epsilon: what drawing and suppressing may spend.
        delta: likewise.
        asked: the sampling probability; None for the largest that epsilon allows.

    Raises:
        SpecError: epsilon does not allow the probability, or it is too small to be drawn with.
    """
    with localcontext(_CONTEXT):
        largest = Fraction(1 - (-_decimal(epsilon)).exp() * (1 + _SLACK))
        if asked is not None and asked > largest:
            raise SpecError(
                f"privacy: differential_privacy: sampling: {float(asked):g} is more than 1 - e^-epsilon = "
                f"{float(largest):.6g}, the largest probability for which leaving a row out is private; lower it"
            )
        threshold = floor((largest if asked is None else asked) * (1 << BITS))
        if threshold < 1 << (BITS - 30):
            raise SpecError("privacy: differential_privacy: sampling: expected a probability of at least 2^-30")
        return Sampling(threshold, _least_k(_Tails(epsilon, Fraction(threshold, 1 << BITS)), delta))


def delta_of(k: int, epsilon: Fraction, beta: Fraction, negligible: Fraction) -> Decimal:
    """At least delta(k), and more by 1e-35 of it at most.

    Args:
        k: the size of the smallest class that is kept.
        epsilon: what drawing and suppressing may spend.
        beta: the sampling probability.
        negligible: a delta(k) that is smaller than this need not be known; this is then the answer.
    """
    with localcontext(_CONTEXT):
        tails = _Tails(epsilon, beta)
        first = ceil(k / tails.gamma - 1)
        return max([_decimal(negligible), *(tails.sum(n) for n in range(max(1, first), tails.last(negligible) + 1))])


class _Tails:
    """The sums of the formula, for one epsilon and sampling probability; used in the context of 60 digits.

    Args:
        epsilon: what drawing and suppressing may spend.
        beta: the sampling probability, at most 1 - e^-epsilon.
    """

    def __init__(self, epsilon: Fraction, beta: Fraction) -> None:
        self.beta = beta
        self.gamma = 1 - (1 - beta) / Fraction(_decimal(epsilon).exp() * (1 - _SLACK))
        """Below the real one, by less than 1e-38."""
        more = _decimal(self.gamma) * (_decimal(self.gamma) / _decimal(beta)).ln()
        less = _decimal(1 - self.gamma) * (_decimal(1 - self.gamma) / _decimal(1 - beta)).ln()
        self._rate = more + less - _SLACK

    def last(self, delta: Fraction) -> int:
        """A number of rows from which on every sum is at most delta: e^(-rate n), by Chernoff and Hoeffding.

        Raises:
            SpecError: there are too many to look at: hardly a row is left out of the sample, or hardly one drawn.
        """
        found = int((_SLACK - _decimal(delta).ln()) / self._rate) + 1
        if found > MOST_ROWS:
            raise SpecError(
                f"privacy: differential_privacy: rows are drawn with the probability {float(self.beta):.6g}, and "
                f"a class would need about {found:,} rows to hide one, more than {MOST_ROWS:,}; give a smaller "
                "'sampling', such as half of this, or another epsilon"
            )
        return found

    def sum(self, n: int) -> Decimal:
        """At least the probability that more than gamma n rows of n are drawn; more by 1e-35 of it at most."""
        first = floor(self.gamma * n) + 1
        if first > n:
            return Decimal(0)
        chance, other = _decimal(self.beta), _decimal(1 - self.beta)
        odds, total = chance / other, Decimal(0)
        term = comb(n, first) * chance**first * other ** (n - first)
        for j in range(first, n + 1):
            total += term
            falls = (n - j) * odds / (j + 1)
            if term < total * _SLACK:
                # Above gamma n, hence above the mean, terms fall ever faster: less is left than a geometric series.
                total += term / (1 - falls)
                break
            term *= falls
        return total * (1 + 1000 * _SLACK)


def _least_k(tails: _Tails, delta: Fraction) -> int:
    """The least k whose n_m is beyond every n with too large a sum."""
    most = _decimal(delta) * (1 - _SLACK)
    n = tails.last(delta)
    while n > 0 and tails.sum(n) <= most:
        n -= 1
    return floor(tails.gamma * (n + 1)) + 1


def _decimal(value: Fraction) -> Decimal:
    """The nearest decimal of the context."""
    return Decimal(value.numerator) / Decimal(value.denominator)
