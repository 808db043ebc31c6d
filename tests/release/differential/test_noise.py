"""Discrete noise by arithmetic: the distribution of what is drawn, its scale, the threshold, and what it guarantees."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, log, sqrt

import pytest

from kanon_sql.release.differential import randomness
from kanon_sql.release.differential.noise import (
    Noise,
    Sensitivity,
    delta_of_rho,
    noise_for,
    rho_for,
    threshold_for,
)
from kanon_sql.release.differential.randomness import Coins, discrete_gaussian, discrete_laplace
from tests.oracles.noise import exceeding, gaussian, laplace


class Chances:
    """Every way that the choices of a draw can fall, with its probability.

    Choices are whether an event of probability e^-exponent happens, a number below a limit, and a coin. Where a draw
    begins again nothing of what fell before counts: the distribution is that of the draws which do not.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fallen: tuple[int, ...] = ()
        self.position = 0
        self.probability = Decimal(1)
        self.open: list[tuple[int, ...]] = [()]
        self.begun = False
        monkeypatch.setattr(randomness, "_accepted_up_to_one", self.accepted)
        monkeypatch.setattr(randomness, "_accepted", self.accepted_or_again)
        monkeypatch.setattr(randomness, "_below", self.first)

    def choose(self, probabilities: Sequence[Decimal]) -> int:
        """The next choice: as it fell on the way here, or the first, which leaves the others open."""
        if self.position == len(self.fallen):
            if self.probability < Decimal("1e-7"):
                raise Dropped
            self.open += [(*self.fallen, other) for other in range(1, len(probabilities))]
            self.fallen = (*self.fallen, 0)
        chosen = self.fallen[self.position]
        self.position += 1
        self.probability *= probabilities[chosen]
        return chosen

    def accepted(self, exponent: Fraction, coins: Coins) -> bool:
        chance = (-Decimal(exponent.numerator) / exponent.denominator).exp()
        return self.choose([chance, 1 - chance]) == 0 if exponent else True

    def accepted_or_again(self, exponent: Fraction, coins: Coins) -> bool:
        if not self.accepted(exponent, coins):
            raise Dropped
        return True

    def first(self, limit: int, coins: Coins) -> int:
        """What a draw begins with."""
        if self.begun:
            raise Dropped
        self.begun = True
        return self.choose([Decimal(1) / limit] * limit)

    def of(self, draw: Callable[[Coins], int]) -> dict[int, float]:
        found: dict[int, Decimal] = {}
        while self.open:
            self.fallen, self.position, self.probability, self.begun = self.open.pop(), 0, Decimal(1), False
            try:
                number = draw(lambda count: self.choose([Decimal(1) / 2**count] * 2**count))
            except Dropped:
                continue
            found[number] = found.get(number, Decimal(0)) + self.probability
        return {number: float(chance / sum(found.values())) for number, chance in found.items()}


class Dropped(Exception):
    """The draw begins again, or what comes next is too unlikely to be followed."""


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(3, 2), Fraction(2, 5), Fraction(7)])
def test_discrete_laplace_numbers_have_their_distribution(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Chances(monkeypatch).of(lambda coins: discrete_laplace(scale, coins))
    assert sum(found.values()) == pytest.approx(1)
    for number in range(-8, 9):
        assert found.get(number, 0) == pytest.approx(float(laplace(scale, number)), abs=2e-5)


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(9, 4), Fraction(10)])
def test_discrete_gaussian_numbers_have_their_distribution(variance: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Chances(monkeypatch).of(lambda coins: discrete_gaussian(variance, coins))
    for number in range(-8, 9):
        assert found.get(number, 0) == pytest.approx(float(gaussian(variance, number)), abs=2e-5)


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(1)])
def test_an_event_has_its_probability_over_all_coins(exponent: Fraction) -> None:
    """Of 12 coins: at least what these decide, and at most what the others could add."""
    found: Counter[bool] = Counter()
    fallen: list[tuple[int, ...]] = [()]
    while fallen:
        bits = fallen.pop()
        left = list(bits)
        try:
            found[randomness._accepted_up_to_one(exponent, coins_of(left))] += 2 ** (12 - len(bits))
        except IndexError:
            if len(bits) < 12:
                fallen += [(*bits, 0), (*bits, 1)]
    assert found[True] / 2**12 <= exp(-exponent) <= 1 - found[False] / 2**12
    assert found.total() > 0.8 * 2**12


def coins_of(left: list[int]) -> Coins:
    return lambda count: sum(left.pop(0) << position for position in range(count))


@pytest.mark.parametrize(
    ("noise", "other"),
    [
        (Noise(gaussian=False, parameter=Fraction(7, 3)), Noise(gaussian=False, parameter=Fraction(8, 3))),
        (Noise(gaussian=False, parameter=Fraction(5)), Noise(gaussian=False, parameter=Fraction(6))),
        (Noise(gaussian=True, parameter=Fraction(23, 2)), Noise(gaussian=True, parameter=Fraction(27, 2))),
    ],
)
def test_draws_are_distributed_as_the_formula_says(noise: Noise, other: Noise) -> None:
    """Chi-square of 8,000 draws by fixed coins; by chance it exceeds the bound once in a million samples."""
    coins, size = random.Random(11).getrandbits, 6_000
    found = Counter(noise.draw(coins) for _ in range(size))
    pmf = gaussian if noise.gaussian else laplace

    def chi_square(of: Noise) -> tuple[float, int]:
        expected = {number: size * float(pmf(of.parameter, number)) for number in range(-60, 61)}
        kept = [number for number, often in expected.items() if often >= 20]
        rest = size - sum(expected[number] for number in kept), size - sum(found[number] for number in kept)
        pairs = [(expected[number], found[number]) for number in kept] + [rest]
        return sum((seen - often) ** 2 / often for often, seen in pairs), len(pairs) - 1

    measured, freedom = chi_square(noise)
    bound = freedom + 5 * sqrt(2 * freedom) + 12  # more than the one-in-a-million quantile
    assert measured < bound
    assert chi_square(other)[0] > bound, "a scale that is off is seen"
    variance = sum(number**2 * often for number, often in found.items()) / size
    assert noise.variance == pytest.approx(variance, rel=0.06)
    assert sum(often for number, often in found.items() if abs(number) <= noise.within(1)) >= 0.945 * size


def test_the_error_of_a_sum_holds_in_95_percent() -> None:
    coins = random.Random(3).getrandbits
    for noise in (Noise(gaussian=False, parameter=Fraction(2)), Noise(gaussian=False, parameter=Fraction(1, 3))):
        for cells in (2, 5):
            sums = [sum(noise.draw(coins) for _ in range(cells)) for _ in range(1_500)]
            within = noise.within(cells)
            assert sum(abs(item) <= within for item in sums) >= 0.935 * len(sums)
            assert sum(abs(item) <= within - 2 for item in sums) <= 0.965 * len(sums) or within < 2


# --- What it guarantees ----------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.1", "1e-3"), ("4", "0.01")])
def test_gaussian_noise_is_private_by_the_definition(epsilon: str, delta: str) -> None:
    """A cell that a person changes by one, summed over all outcomes; half of the variance would be too little."""
    spends, allowed = Fraction(epsilon), Fraction(delta)
    variance = 1 / (2 * rho_for(spends, allowed))

    def worst(variance: Fraction) -> float:
        without = {number: float(gaussian(variance, number)) for number in range(-120, 121)}
        with_one = {number + 1: chance for number, chance in without.items()}
        return exceeding(with_one, without, exp(float(spends)))

    assert worst(variance) <= float(allowed)
    assert worst(variance / 2) > float(allowed)


def test_rho_is_nearly_the_largest_that_the_corollary_allows() -> None:
    """No order allows one that is larger by a thousandth."""
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-9)):
        rho = float(rho_for(Fraction(repr(epsilon)), Fraction(repr(delta)))) * 1.001
        orders = [1 + 2 ** (step / 16) for step in range(-32, 140)]
        logarithms = [(a - 1) * (a * rho - epsilon) - log(a - 1) + a * log(1 - 1 / a) for a in orders]
        assert min(logarithms) > log(delta)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(("contributions", "epsilon"), [(1, "1"), (3, "1"), (3, "8"), (4, "2")])
def test_the_threshold_is_the_least_that_hides_cells_of_one_person(
    contributions: int, epsilon: str, *, together: bool
) -> None:
    """Over every way in which a person's contributions can be alone in cells."""
    delta, sensitivity = Fraction(1, 50), Sensitivity(contributions, 1, together)
    noise = Noise(gaussian=False, parameter=contributions / Fraction(epsilon))
    threshold = threshold_for(noise, delta, sensitivity)

    def reached(own: int, threshold: int) -> Fraction:
        return 1 - sum((laplace(noise.parameter, number) for number in range(-90, threshold - own)), Fraction(0))

    def worst(threshold: int) -> Fraction:
        ways = partitions(contributions) if together else [[1] * contributions]
        return max(sum((reached(own, threshold) for own in way), Fraction(0)) for way in ways)

    assert worst(threshold) <= delta
    assert threshold == contributions + 1 or worst(threshold - 1) > delta


def partitions(whole: int, most: int | None = None) -> list[list[int]]:
    """All ways to write a number as a sum."""
    if whole == 0:
        return [[]]
    parts = range(1, min(whole, most or whole) + 1)
    return [[part, *rest] for part in parts for rest in partitions(whole - part, part)]


def test_the_noise_of_least_variance_is_chosen_and_only_what_it_needs_is_spent() -> None:
    one, many = Sensitivity(1, 1, together=False), Sensitivity(100, 1, together=False)
    epsilon, delta = Fraction(1), Fraction(1, 10**6)
    assert noise_for(epsilon, delta, one, declared=True, sums=False).delta == 0
    laplace_plan = noise_for(epsilon, Fraction(0), many, declared=True, sums=False)
    gaussian_plan = noise_for(epsilon, delta, many, declared=True, sums=False)
    assert not laplace_plan.values.gaussian
    assert gaussian_plan.values.gaussian
    assert gaussian_plan.values.variance < laplace_plan.values.variance
    assert gaussian_plan.delta == delta
    together = noise_for(epsilon, delta, Sensitivity(100, 1, together=True), declared=True, sums=False)
    assert not together.values.gaussian, "100 rows in one cell"
    sums = noise_for(epsilon, delta, Sensitivity(2, 30, together=False), declared=False, sums=True)
    assert sums.keys is not None
    assert (sums.keys.parameter, sums.values.parameter) == (4, 120), "half of epsilon each"


def test_decimals_agree_with_floating_point() -> None:
    with localcontext() as context:
        context.prec = 50
        found = delta_of_rho(Fraction(1, 50), Fraction(1), Fraction(20))
        expected = Decimal(exp(19 * (20 / 50 - 1)) / 19 * (1 - 1 / 20) ** 20)
        assert abs(log(found / expected)) < 1e-12
