"""Fit a number that is, more or less, a sum of one term per attribute and level.

Much about a node is: the logarithm of how many classes it has, or the log odds of a row being
suppressed. Such models only choose what to compute next; nothing is decided by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

__all__ = ["Additive"]

_RIDGE = 0.3
_FEWEST = 3


class Additive:
    """A ridge regression (Hoerl, Kennard 1970) around a straight line in a guess.

    Args:
        guess: per attribute and step, a first guess of its term, up to a common factor.
        factor: the factor, until there is something to learn it from.
        constant: what is added to the terms, until then.

    Attributes:
        terms: per attribute and step, what is added.
    """

    def __init__(self, guess: Sequence[Sequence[float]], factor: float, constant: float) -> None:
        self._guess = guess
        self._places = [1]
        for own in guess:
            self._places.append(self._places[-1] + len(own))
        self._seen: list[tuple[Sequence[int], float, float]] = []
        self._fitted = 0
        self._constant = constant
        self.terms = [[factor * part for part in own] for own in guess]

    def learn(self, steps: Sequence[int], value: float, weight: float = 1.0) -> None:
        """Take an observation into account, from the next :meth:`fit` on."""
        self._seen.append((steps, value, weight))

    def expected(self, steps: Sequence[int]) -> float:
        """The expected value, given one step per attribute."""
        return self._constant + sum(terms[step] for terms, step in zip(self.terms, steps, strict=True))

    def fit(self) -> None:
        """Fit the model to everything learned."""
        if len(self._seen) < _FEWEST or self._fitted == len(self._seen):
            return
        self._fitted = len(self._seen)
        guesses = [sum(own[step] for own, step in zip(self._guess, steps, strict=True)) for steps, _, _ in self._seen]
        mean_guess = sum(guesses) / len(guesses)
        mean_value = sum(value for _, value, _ in self._seen) / len(guesses)
        spread = sum((guess - mean_guess) ** 2 for guess in guesses)
        joint = sum(
            (guess - mean_guess) * (value - mean_value)
            for guess, (_, value, _) in zip(guesses, self._seen, strict=True)
        )
        slope = max(0.05, (joint + 0.7) / (spread + 1.0))
        intercept = mean_value - slope * mean_guess

        size = self._places[-1]
        matrix = [[0.0] * size for _ in range(size)]
        vector = [0.0] * size
        for place in range(size):
            matrix[place][place] = _RIDGE if place else 0.01
        for (steps, value, weight), guess in zip(self._seen, guesses, strict=True):
            rest = weight * (value - intercept - slope * guess)
            places = [0, *(first + step for first, step in zip(self._places, steps, strict=False))]
            for place in places:
                vector[place] += rest
                row = matrix[place]
                for other in places:
                    row[other] += weight
        found = _solved(matrix, vector)
        self._constant = intercept + found[0]
        self.terms = [
            [slope * part + found[first + step] for step, part in enumerate(own)]
            for own, first in zip(self._guess, self._places, strict=False)
        ]


def _solved(matrix: list[list[float]], vector: list[float]) -> list[float]:
    """The solution of a positive definite system, by Cholesky's method."""
    size = len(vector)
    lower = [[0.0] * size for _ in range(size)]
    for i in range(size):
        own = lower[i]
        for j in range(i + 1):
            rest = matrix[i][j] - sum(a * b for a, b in zip(own[:j], lower[j], strict=False))
            own[j] = sqrt(max(rest, 1e-12)) if i == j else rest / lower[j][j]
    half = [0.0] * size
    for i in range(size):
        half[i] = (vector[i] - sum(a * b for a, b in zip(lower[i], half[:i], strict=False))) / lower[i][i]
    found = [0.0] * size
    for i in reversed(range(size)):
        found[i] = (half[i] - sum(lower[k][i] * found[k] for k in range(i + 1, size))) / lower[i][i]
    return found
