"""Differential privacy by arithmetic: k from epsilon and delta, and draws with exact probabilities."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import comb, exp, floor, log, sqrt

import pytest

from kanon_sql.errors import SpecError
from kanon_sql.release.differential.parameters import BITS, delta_of, sampling_for
from kanon_sql.release.differential.randomness import binomial, chosen_by_score

ABOVE_E = Fraction(2718281828459045236, 10**18)
BELOW_E = Fraction(2718281828459045235, 10**18)


def chance(n: int, j: int, beta: Fraction) -> Fraction:
    """The binomial probability."""
    return comb(n, j) * beta**j * (1 - beta) ** (n - j)


# --- k ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [Fraction(1, 2), Fraction(1, 8), Fraction(5, 8)])
@pytest.mark.parametrize("k", [1, 3, 7])
def test_delta_is_the_paper_s_formula_in_exact_rationals(beta: Fraction, k: int) -> None:
    """Epsilon is 1, and the sums are over every n up to where they are far below the largest."""
    gamma = (exp(1) - 1 + float(beta)) / exp(1)
    first = max(1, -floor(1 - k / gamma))
    expected = max(
        sum((chance(n, j, beta) for j in range(floor(gamma * n) + 1, n + 1)), Fraction(0))
        for n in range(first, first + 60)
    )
    found = Fraction(delta_of(k, Fraction(1), beta, Fraction(1, 10**12)))
    assert expected <= found <= expected * (1 + Fraction(1, 10**30))


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.1", "1e-3"), ("2", "0.01"), ("1", "0.3")])
def test_k_is_the_least_whose_delta_suffices(epsilon: str, delta: str) -> None:
    spends, allowed = Fraction(epsilon), Fraction(delta)
    found = sampling_for(spends, allowed)
    assert found.k > 1
    assert delta_of(found.k, spends, found.probability, allowed / 1000) <= allowed
    assert delta_of(found.k - 1, spends, found.probability, allowed / 1000) > allowed


def test_a_sample_of_nearly_all_rows_takes_classes_that_are_too_large() -> None:
    """All n rows of a class are drawn with probability beta^n, which then tells that none is missing: n is at least
    ln(delta) / ln(beta), and with a beta of one half that is small."""
    with pytest.raises(SpecError, match="give a smaller 'sampling'"):
        sampling_for(Fraction(20), Fraction(1, 10**6))
    assert sampling_for(Fraction(6), Fraction(1, 10**6)).k >= log(1e-6) / log(1 - exp(-6))
    assert sampling_for(Fraction(20), Fraction(1, 10**6), Fraction(1, 2)).k == 20 == -floor(log(1e-6) / log(2))


ARX = {
    ("2", "1e-5"): 114, ("1.5", "1e-6"): 100, ("1", "1e-8"): 105, ("1", "1e-7"): 92, ("1", "1e-6"): 75,
    ("1", "1e-5"): 62, ("0.01", "1e-9"): 96, ("0.5", "1e-5"): 52, ("2", "1e-8"): 183, ("0.1", "1e-6"): 61,
}  # fmt: skip
"""What ARX 3.9's ParameterCalculation answers. Its loop adds one to the k that it has found to suffice."""


@pytest.mark.parametrize(("epsilon", "delta"), ARX)
def test_k_is_that_of_arx(epsilon: str, delta: str) -> None:
    assert sampling_for(Fraction(epsilon), Fraction(delta)).k == ARX[epsilon, delta] - 1


def test_the_sampling_probability_is_the_largest_one_below_1_minus_e_to_the_minus_epsilon() -> None:
    found = sampling_for(Fraction(1), Fraction(1, 100))
    assert 1 - 1 / BELOW_E - Fraction(1, 10**17) < found.probability < 1 - 1 / ABOVE_E
    assert found.threshold < 1 << BITS
    assert sampling_for(Fraction(1), Fraction(1, 100), Fraction(1, 2)).probability == Fraction(1, 2)
    with pytest.raises(SpecError, match=r"sampling: 0\.64 is more than .* 0\.632121"):
        sampling_for(Fraction(1), Fraction(1, 100), Fraction(64, 100))


def excess(n: int, k: int, beta: Fraction, factor: Fraction, *, grown: bool) -> Fraction:
    """The least delta for which a class of n and one of n + 1 rows are as alike as a factor says: the definition.

    Args:
        n: rows of the smaller table's class.
        k: fewer drawn rows are not shown.
        beta: the sampling probability.
        factor: e^epsilon.
        grown: whether the larger table's outcomes are to be as likely with the smaller one.
    """
    found = Fraction(0)
    of: dict[bool, dict[int, Fraction]] = {}
    for larger in (False, True):
        shown: dict[int, Fraction] = Counter()  # type: ignore[assignment]
        for j in range(n + larger + 1):
            shown[j if j >= k else 0] += chance(n + larger, j, beta)
        of[larger] = shown
    for outcome in range(n + 2):
        found += max(
            Fraction(0), of[grown].get(outcome, Fraction(0)) - factor * of[not grown].get(outcome, Fraction(0))
        )
    return found


@pytest.mark.parametrize(("delta", "asked"), [("0.05", None), ("0.01", "0.5"), ("0.02", "0.1")])
def test_the_mechanism_is_private_by_the_definition(delta: str, asked: str | None) -> None:
    """Every class up to far beyond k, one row more or less, exactly: nothing of the formula is used here."""
    found = sampling_for(Fraction(1), Fraction(delta), None if asked is None else Fraction(asked))
    beta, reach = Fraction(round(found.probability * 2**20), 2**20), 3 * round(found.k / found.probability)
    worst = max(
        excess(n, found.k, beta, BELOW_E, grown=grown) for n in range(min(reach, 90)) for grown in (False, True)
    )
    assert worst <= Fraction(delta)
    assert max(excess(n, 1, beta, BELOW_E, grown=True) for n in range(3)) > Fraction(delta), "with k = 1 it is not"


def test_a_larger_sampling_probability_would_not_be_private() -> None:
    """A row that is drawn too often is missed: without it nothing is shown, with it that is rare."""
    assert excess(0, 1, Fraction(3, 4), BELOW_E, grown=False) > Fraction(3, 10)
    assert excess(0, 1, sampling_for(Fraction(1), Fraction(1, 2)).probability, BELOW_E, grown=False) < Fraction(
        1, 10**15
    )


# --- Draws ----------------------------------------------------------------------------------------------------


def tape(bits: Sequence[int]) -> Callable[[int], int]:
    """Coins that fall as they are written."""
    left: Iterator[int] = iter(bits)

    def coins(count: int) -> int:
        return int("".join(str(next(left)) for _ in range(count)) or "0", 2)

    return coins


@pytest.mark.parametrize("threshold", range(5))
@pytest.mark.parametrize("rows", [0, 1, 2, 4])
def test_a_drawn_number_has_the_binomial_distribution(rows: int, threshold: int) -> None:
    """Over every way that the coins can fall: 2 bits a row."""
    falls = list(product((0, 1), repeat=2 * rows))
    found = Counter(binomial(rows, threshold, 2, tape(fall)) for fall in falls)
    beta = Fraction(threshold, 4)
    for j in range(rows + 1):
        assert Fraction(found[j], len(falls)) == chance(rows, j, beta)


def test_many_rows_are_drawn_in_pieces() -> None:
    coins = random.Random(5).getrandbits
    rows, beta = 3_000_000, 0.375
    assert abs(binomial(rows, 3, 3, coins) - rows * beta) < 5 * sqrt(rows * beta * (1 - beta))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "scores", [[0, 0, 0], [0, -1, -2, -5], [-3, 0, Fraction(-7, 2), Fraction(-1, 3), -40], [-1000]]
)
def test_the_exponential_mechanism_draws_in_proportion(scores: list[Fraction]) -> None:
    """Against exact probabilities, within five standard deviations; the coins are seeded."""
    runs, epsilon, step = 12_000, Fraction(3, 2), Fraction(2)
    coins = random.Random(11).getrandbits
    found = Counter(chosen_by_score([Fraction(item) for item in scores], epsilon, step, coins) for _ in range(runs))
    weights = [exp(float(epsilon * item / (2 * step))) if len(scores) > 1 else 1.0 for item in scores]
    for position, weight in enumerate(weights):
        p = weight / sum(weights)
        assert abs(found[position] - runs * p) <= 5 * sqrt(runs * p * (1 - p)) + 1e-9


# --- By trial ---------------------------------------------------------------------------------------------------


def shown(rows: int, k: int, threshold: int, coins: Callable[[int], int]) -> int:
    """One run of the mechanism on a class: how many rows are released."""
    drawn = binomial(rows, threshold, BITS, coins)
    return drawn if drawn >= k else 0


def trial(k: int, threshold: int, runs: int) -> float:
    """The delta that so many runs on two neighbours prove to be too small; negative if they prove nothing.

    The event is chosen by one half of the runs. Its probabilities are bounded by Hoeffding's inequality over the other
    half, each with a confidence of more than 1 - 1e-6.
    """
    coins = random.Random(2018).getrandbits
    margin = sqrt(log(1e6) / (2 * runs))
    worst = -1.0
    for n in (k - 1, k, round(k * 1.2)):
        chosen, checked = (
            [Counter(shown(n + more, k, threshold, coins) for _ in range(runs)) for more in (0, 1)] for _ in range(2)
        )
        for own, other in ((0, 1), (1, 0)):
            event = [outcome for outcome in chosen[own] if chosen[own][outcome] > exp(1) * chosen[other][outcome]]
            often, seldom = (sum(checked[one][outcome] for outcome in event) / runs for one in (own, other))
            worst = max(worst, often - margin - exp(1) * (seldom + margin))
    return worst


RUNS = [pytest.param(5_000, id="some"), pytest.param(50_000, id="many", marks=pytest.mark.slow)]


@pytest.mark.parametrize("runs", RUNS)
def test_the_claim_stands_trials_on_neighbours(runs: int) -> None:
    """What is proven of delta by trials is never above the claim, and is where k is too small."""
    found = sampling_for(Fraction(1), Fraction(1, 20))
    assert trial(found.k, found.threshold, runs) <= 0.05
    assert trial(2, found.threshold, runs) > 0.05, "the trial sees that k = 2 is too small"
