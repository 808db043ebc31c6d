"""A forecast of how many rows a node suppresses, learned from the answers so far.

It only chooses what to ask next; whatever it says, nothing is decided by it. The model is
additive: the log odds of a row being suppressed are a sum of one term per attribute and level,
fitted by ridge regression (Hoerl, Kennard 1970) around a straight line in the number of cells
that the levels leave (the product of their numbers of labels).
"""

from __future__ import annotations

from math import log, sqrt

from kanon_sql.search.base import Question, Verdict
from kanon_sql.search.tags import holds

__all__ = ["Forecast"]

_RIDGE = 0.3
_REACH = 2.0
"""Log odds from the line at which an answer counts half: the model has to be right near the line."""


class Forecast:
    """Log odds of suppression, relative to the line: above 0 a node is expected to violate.

    Args:
        question: the problem.

    Attributes:
        terms: per attribute and step above its lowest level, what that level adds.
    """

    def __init__(self, question: Question) -> None:
        self._question = question
        lattice = question.lattice
        self._cells = [
            [log(max(1, labels[level])) for level in range(low, high + 1)]
            for labels, low, high in zip(question.labels, lattice.bottom, lattice.top, strict=True)
        ]
        self._offsets = [1]
        for cells in self._cells:
            self._offsets.append(self._offsets[-1] + len(cells))
        self._seen: list[tuple[list[int], float]] = []
        # Before anything is known the line is halfway between the bottom and the top.
        self._constant = -0.25 * sum(cells[0] + cells[-1] for cells in self._cells)
        self.terms = [[0.5 * cell for cell in cells] for cells in self._cells]

    def learn(self, verdict: Verdict) -> None:
        """Take an answer into account, from the next :meth:`fit` on."""
        question = self._question
        steps = [level - low for level, low in zip(verdict.node, question.lattice.bottom, strict=True)]
        if question.monotone:
            # Half a row keeps the logarithm finite and the line between MaxSup and one row more.
            line = self._log_odds(question.max_suppressed + 0.5)
            odds = self._log_odds(verdict.suppressed) - line
        else:
            odds = -1.0 if holds(question, verdict) else 1.0
        self._seen.append((steps, odds))

    def _log_odds(self, suppressed: float) -> float:
        rows = max(self._question.rows, suppressed)
        return log((suppressed + 0.5) / (rows - suppressed + 0.5))

    def expects(self, steps: list[int]) -> float:
        """The expected log odds of a node, given as steps above the bottom."""
        return self._constant + sum(terms[step] for terms, step in zip(self.terms, steps, strict=True))

    def fit(self) -> None:
        """Fit the model to everything learned."""
        if len(self._seen) < 3:
            return
        cells = [sum(own[step] for own, step in zip(self._cells, steps, strict=True)) for steps, _ in self._seen]
        mean_cells = sum(cells) / len(cells)
        mean_odds = sum(odds for _, odds in self._seen) / len(cells)
        spread = sum((cell - mean_cells) ** 2 for cell in cells)
        joint = sum((cell - mean_cells) * (odds - mean_odds) for cell, (_, odds) in zip(cells, self._seen, strict=True))
        slope = max(0.05, (joint + 0.7) / (spread + 1.0))
        intercept = mean_odds - slope * mean_cells

        size = self._offsets[-1]
        matrix = [[0.0] * size for _ in range(size)]
        vector = [0.0] * size
        for place in range(size):
            matrix[place][place] = _RIDGE if place else 0.01
        for (steps, odds), cell in zip(self._seen, cells, strict=True):
            weight = 1.0 / (1.0 + (odds / _REACH) ** 2)
            rest = weight * (odds - intercept - slope * cell)
            places = [0, *(offset + step for offset, step in zip(self._offsets, steps, strict=False))]
            for place in places:
                vector[place] += rest
                row = matrix[place]
                for other in places:
                    row[other] += weight
        found = _solved(matrix, vector)
        self._constant = intercept + found[0]
        self.terms = [
            [slope * cell + found[offset + step] for step, cell in enumerate(cells)]
            for cells, offset in zip(self._cells, self._offsets, strict=False)
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
