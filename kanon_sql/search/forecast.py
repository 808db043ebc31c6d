"""A forecast of whether a node violates, learned from the answers so far.

The log odds of a row being suppressed are nearly a sum of one term per attribute and level. The
forecast only chooses what to ask next; whatever it says, nothing is decided by it.
"""

from __future__ import annotations

from math import log

from kanon_sql.search.additive import Additive
from kanon_sql.search.base import Question, Verdict
from kanon_sql.search.tags import holds

__all__ = ["Forecast"]

_REACH = 2.0
"""Log odds from the line at which an answer counts half: the model has to be right near the line."""


class Forecast(Additive):
    """Log odds of suppression, relative to the line: above 0 a node is expected to violate.

    Args:
        question: the problem.
    """

    def __init__(self, question: Question) -> None:
        self._question = question
        lattice = question.lattice
        cells = [
            [log(max(1, labels[level])) for level in range(low, high + 1)]
            for labels, low, high in zip(question.labels, lattice.bottom, lattice.top, strict=True)
        ]
        # Before anything is known the line is halfway between the bottom and the top.
        super().__init__(cells, 0.5, -0.25 * sum(own[0] + own[-1] for own in cells))

    def observe(self, verdict: Verdict) -> None:
        """Take an answer into account, from the next fit on."""
        question = self._question
        steps = [level - low for level, low in zip(verdict.node, question.lattice.bottom, strict=True)]
        if question.monotone:
            # Half a row more than MaxSup: the line lies between what satisfies and what does not.
            odds = self._log_odds(verdict.suppressed) - self._log_odds(question.max_suppressed + 0.5)
        else:
            odds = -1.0 if holds(question, verdict) else 1.0
        self.learn(steps, odds, 1.0 / (1.0 + (odds / _REACH) ** 2))

    def _log_odds(self, suppressed: float) -> float:
        rows = max(self._question.rows, suppressed)
        return log((suppressed + 0.5) / (rows - suppressed + 0.5))
