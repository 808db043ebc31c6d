"""Fit a number that is, more or less, a sum of one term per attribute and level.

Much about a node is: the logarithm of how many classes it has, or the log odds of a row being
suppressed. Such models only choose what to compute next; nothing is decided by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from operator import getitem, mul

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
        size = self._places[-1]
        self._seen = 0
        self._fitted = 0
        # Sums over the observations: of guesses, values, their squares and products, and of the normal equations.
        self._guesses = self._values = self._squares = self._products = 0.0
        self._matrix = [[0.0] * size for _ in range(size)]
        self._weighted_values = [0.0] * size
        self._weighted_guesses = [0.0] * size
        self._constant = constant
        self.terms = [[factor * part for part in own] for own in guess]

    def learn(self, steps: Sequence[int], value: float, weight: float = 1.0) -> None:
        """Take an observation into account, from the next :meth:`fit` on."""
        guess = sum(own[step] for own, step in zip(self._guess, steps, strict=True))
        self._seen += 1
        self._guesses += guess
        self._values += value
        self._squares += guess * guess
        self._products += guess * value
        places = [0, *(first + step for first, step in zip(self._places, steps, strict=False))]
        for place in places:
            self._weighted_values[place] += weight * value
            self._weighted_guesses[place] += weight * guess
            row = self._matrix[place]
            for other in places:
                row[other] += weight

    def expected(self, steps: Sequence[int]) -> float:
        """The expected value, given one step per attribute."""
        return self._constant + sum(map(getitem, self.terms, steps))

    def fit(self) -> None:
        """Fit the model to everything learned."""
        if self._seen < _FEWEST or self._fitted == self._seen:
            return
        self._fitted = self._seen
        spread = self._squares - self._guesses**2 / self._seen
        joint = self._products - self._guesses * self._values / self._seen
        slope = max(0.05, (joint + 0.7) / (max(0.0, spread) + 1.0))
        intercept = (self._values - slope * self._guesses) / self._seen

        matrix = [list(row) for row in self._matrix]
        for place, row in enumerate(matrix):
            row[place] += _RIDGE if place else 0.01
        # The first column holds the weights of all observations in a place.
        vector = [
            value - intercept * row[0] - slope * guess
            for value, guess, row in zip(self._weighted_values, self._weighted_guesses, self._matrix, strict=True)
        ]
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
            rest = matrix[i][j] - sum(map(mul, own[:j], lower[j]))
            own[j] = sqrt(max(rest, 1e-12)) if i == j else rest / lower[j][j]
    half = [0.0] * size
    for i in range(size):
        half[i] = (vector[i] - sum(map(mul, lower[i], half[:i]))) / lower[i][i]
    found = [0.0] * size
    for i in reversed(range(size)):
        found[i] = (half[i] - sum(lower[k][i] * found[k] for k in range(i + 1, size))) / lower[i][i]
    return found
