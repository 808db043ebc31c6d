"""How much noise makes counts and sums (epsilon, delta)-differentially private, and how far it moves them.

Tables are neighbours when one person more is in one of them. A person adds to at most c cells, and to each at most a
bound B, so the cells change by at most c B together (L1), and by B times the root of c in Euclidean distance (L2).
Where rows are counted, all c may be in one cell, and L2 is c. All arithmetic that privacy rests on is exact, or
rounded to the safe side.

- Discrete Laplace noise of scale L1 / epsilon: epsilon-differentially private (Ghosh, Roughgarden, Sundararajan 2009).
- Discrete Gaussian noise of variance L2^2 / (2 rho): rho-concentrated differential privacy (Canonne, Kamath, Steinke
  2020, theorem 14), hence for every a > 1 (epsilon, delta) with
  delta = exp((a - 1) (a rho - epsilon)) / (a - 1) (1 - 1/a)^a (the same, corollary 13).
- Cells that are not declared: those that have a contributor get Laplace noise, and are published if the noisy number
  of contributions reaches a threshold T. Of cells that only the person is in, one may be published with a probability
  of at most the sum of P(n + Z >= T) over their contributions n, which add up to c: delta (Korolova, Kenthapadi,
  Mishra, Ntoulas 2009). P(Z >= m) is q^m / (1 + q), q = exp(-1 / scale), and the sum is largest for c cells of one
  contribution or one cell of c, since q^-n / n first falls and then grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import ceil, cosh, exp, inf, log, log1p, sqrt
from typing import Literal

from kanon_sql.release.differential.randomness import Coins, discrete_gaussian, discrete_laplace

__all__ = ["Noise", "NoisePlan", "Sensitivity", "delta_of_rho", "noise_for", "rho_for", "threshold_for"]

_CONTEXT = Context(prec=60, Emin=-(10**9), Emax=10**9)
_SLACK = 1 + Decimal(1).scaleb(-40)
"""More than what 60 digits lose."""

_DIGITS = 20
"""Bits of rho: it is at most 2^-19 below the largest that is private."""


@dataclass(frozen=True)
class Sensitivity:
    """What one person more or less changes.

    Attributes:
        contributions: how many cells or rows at most.
        bound: by how much each at most: 1 for counts.
        together: all contributions may be in one cell.
    """

    contributions: int
    bound: int
    together: bool

    @property
    def l1(self) -> int:
        """The sum of the changes of all cells at most."""
        return self.contributions * self.bound

    @property
    def l2_squared(self) -> int:
        """The sum of their squares at most."""
        return self.l1 * (self.l1 if self.together else self.bound)


@dataclass(frozen=True)
class Noise:
    """A distribution of whole numbers around 0.

    Attributes:
        gaussian: it is discrete Gaussian; else discrete Laplace.
        parameter: the variance of a Gaussian, the scale of a Laplace.
    """

    gaussian: bool
    parameter: Fraction

    def draw(self, coins: Coins) -> int:
        """A number of it, exactly."""
        return (discrete_gaussian if self.gaussian else discrete_laplace)(self.parameter, coins)

    @property
    def name(self) -> Literal["discrete Laplace", "discrete Gaussian"]:
        """For people."""
        return "discrete Gaussian" if self.gaussian else "discrete Laplace"

    @property
    def variance(self) -> float:
        """Of one number; that of a Gaussian at most."""
        if self.gaussian:
            return float(self.parameter)
        step = float(1 / self.parameter)
        return 1 / (cosh(step) - 1) if step > 0.01 else 2 / step**2 - 1 / 6  # where cosh is too near 1 to subtract

    def deviation(self, cells: int) -> float:
        """The standard deviation of the sum of this many numbers."""
        return sqrt(cells * self.variance)

    def within(self, cells: int) -> int:
        """How far from 0 the sum of this many numbers is at most with a probability of 95 %.

        Of one Laplace number exactly; else by the normal distribution and the kurtosis of the sum (Cornish, Fisher).
        """
        if cells == 1 and not self.gaussian:
            scale = float(self.parameter)
            return max(0, ceil(-scale * log(0.025 * (1 + exp(-1 / scale)))) - 1)
        quantiles = 1.96 + (0 if self.gaussian else 0.206 / cells)
        return ceil(quantiles * self.deviation(cells))


@dataclass(frozen=True)
class NoisePlan:
    """What is drawn for a table, decided without a row of it.

    Attributes:
        values: the noise of each finest cell.
        keys: that of its number of contributions, where these decide alone whether a cell is published; None where
            all cells are, or where the value itself decides.
        threshold: the least noisy number of contributions of a published cell; None where all cells are declared.
        epsilon: what is spent.
        delta: likewise.
    """

    values: Noise
    keys: Noise | None
    threshold: int | None
    epsilon: Fraction
    delta: Fraction


def noise_for(epsilon: Fraction, delta: Fraction, sensitivity: Sensitivity, *, declared: bool, sums: bool) -> NoisePlan:
    """The noise of a table: of the kinds that are private that of the least variance.

    Args:
        epsilon: what may be spent.
        delta: likewise; above 0 unless all cells are declared.
        sensitivity: what one person changes.
        declared: which cells there are does not depend on the rows.
        sums: the cells are sums, whose values do not say how many contribute.
    """
    laplace = Noise(gaussian=False, parameter=sensitivity.l1 / epsilon)
    if declared:
        if delta:
            gaussian = Noise(gaussian=True, parameter=sensitivity.l2_squared / (2 * rho_for(epsilon, delta)))
            if gaussian.variance < laplace.variance:
                return NoisePlan(gaussian, None, None, epsilon, delta)
        return NoisePlan(laplace, None, None, epsilon, Fraction(0))
    if not sums:
        return NoisePlan(laplace, None, threshold_for(laplace, delta, sensitivity), epsilon, delta)
    half = epsilon / 2
    counted = Sensitivity(sensitivity.contributions, 1, sensitivity.together)
    keys = Noise(gaussian=False, parameter=counted.l1 / half)
    values = Noise(gaussian=False, parameter=sensitivity.l1 / half)
    return NoisePlan(values, keys, threshold_for(keys, delta, counted), epsilon, delta)


def threshold_for(noise: Noise, delta: Fraction, sensitivity: Sensitivity) -> int:
    """The least threshold that cells of one person reach with a probability of at most delta.

    Args:
        noise: of the number of contributions; Laplace.
        delta: what may be spent.
        sensitivity: of these numbers.
    """
    most = sensitivity.contributions
    with localcontext(_CONTEXT):
        allowed = _decimal(delta)
        q = (-1 / _decimal(noise.parameter)).exp()
        ends = [(most, 1)] + ([(1, most)] if sensitivity.together else [])

        def chance(threshold: int) -> Decimal:
            return max(cells * q ** (threshold - own) for cells, own in ends) / (1 + q) * _SLACK

        # The formula of the tail holds above what a person contributes to a cell.
        low = high = 1 + (most if sensitivity.together else 1)
        while chance(high) > allowed:
            low, high = high, 2 * high
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if chance(middle) <= allowed else (middle + 1, high)
        return high


# --- Concentrated differential privacy -------------------------------------------------------


def rho_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A rho, near the largest, for which rho-concentrated is (epsilon, delta)-differential privacy.

    It is searched for in floating point, and what is found is proven in decimals of 60 digits.
    """
    low, high = 0.0, float(epsilon)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _best(middle, float(epsilon))[0] <= log(delta) else (low, middle)
    order = Fraction(_best(low, float(epsilon))[1])
    unit = Fraction(2) ** (ceil(log(low, 2)) - _DIGITS)
    rho = Fraction(low) // unit * unit
    while Fraction(delta_of_rho(rho, epsilon, order)) > delta:
        rho -= unit
    return rho


def delta_of_rho(rho: Fraction, epsilon: Fraction, order: Fraction) -> Decimal:
    """A delta that rho-concentrated differential privacy has at an epsilon: by any order above 1, rounded up."""
    with localcontext(_CONTEXT):
        a = _decimal(order)
        exponent = (a - 1) * (a * _decimal(rho) - _decimal(epsilon))
        return exponent.exp() / (a - 1) * (1 - 1 / a) ** a * _SLACK


def _best(rho: float, epsilon: float) -> tuple[float, float]:
    """The least logarithm of delta over orders, and the order, in floating point."""
    low, high = -12.0, 40.0

    def delta(logarithm: float) -> float:
        above = exp(logarithm)
        order = 1 + above
        return above * (order * rho - epsilon) - logarithm + order * log1p(-1 / order)

    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if delta(left) <= delta(right) else (left, high)
    return (delta(low), 1 + exp(low)) if rho else (-inf, 2.0)


def _decimal(value: Fraction) -> Decimal:
    """The nearest decimal of the context."""
    return Decimal(value.numerator) / Decimal(value.denominator)
