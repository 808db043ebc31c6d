"""The one driver of every strategy: asks its questions, remembers the answers, and can stop and go on.

Between two batches a search can be stopped (a budget is used up, the user pressed Ctrl-C)
and later continued: the strategy is a generator that waits where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_sql.lattice import Node
from kanon_sql.search.base import Batch, Outcome, Question, Strategy, Verdict

__all__ = ["Progress", "Search", "Stopped"]

_FEW = 8
"""A stopped search without any metric asks for those of so many nodes."""


class Stopped(Exception):
    """Raised by ``ask`` to end the search at its best node so far; says why in words."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search has come.

    Attributes:
        evaluated: distinct nodes asked about.
        left: how many more may be asked about; None where the strategy does not know.
        best: the lowest metric of a satisfying node so far.
    """

    evaluated: int
    left: int | None
    best: float | None


class Search:
    """One search: a strategy and the answers it was given.

    Args:
        algorithm: the strategy's name.
        question: what the strategy was made for.
        strategy: the generator, not yet started.
        ask: answers a batch: one verdict per node, in any order. May raise :class:`Stopped`.

    Attributes:
        verdicts: the answers so far, those with a metric where there are two.
    """

    def __init__(
        self, algorithm: str, question: Question, strategy: Strategy, ask: Callable[[Batch], Sequence[Verdict]]
    ) -> None:
        self._algorithm = algorithm
        self._question = question
        self._strategy = strategy
        self._ask = ask
        self._batch: Batch | None = None
        self._best: Verdict | None = None
        self._outcome: Outcome | None = None
        self.verdicts: dict[Node, Verdict] = {}

    def run(
        self, stop: Callable[[], str | None] | None = None, progress: Callable[[Progress], None] | None = None
    ) -> Outcome:
        """Run the strategy to its end, or until it is told to stop; a stopped search goes on when called again.

        Args:
            stop: called before every batch: why to stop now, or None.
            progress: called after every batch.

        Returns:
            The strategy's outcome; or, when stopped, the best satisfying node evaluated so
            far, which is never called proven, and the reason in ``stopped``.
        """
        while self._outcome is None:
            try:
                if self._batch is None:
                    self._batch = next(self._strategy)
                reason = None if stop is None else stop()
                if reason is not None:
                    return self._best_so_far(reason)
                answer = self._answer(self._batch)
            except StopIteration as end:
                self._outcome = end.value
                break
            except Stopped as stopped:
                return self._best_so_far(str(stopped))
            if progress is not None:
                left = None if self._batch.left is None else max(0, self._batch.left - len(self._batch.nodes))
                progress(Progress(len(self.verdicts), left, None if self._best is None else self._best.metric))
            try:
                self._batch = self._strategy.send(answer)
            except StopIteration as end:
                self._outcome = end.value
        return replace(self._outcome, evaluated=len(self.verdicts))

    def _answer(self, batch: Batch) -> Mapping[Node, Verdict]:
        answer = {verdict.node: verdict for verdict in self._ask(batch)}
        for node, verdict in answer.items():
            known = self.verdicts.get(node)
            if known is None or known.metric is None:
                self.verdicts[node] = verdict
            if self._may_be_chosen(verdict) and verdict.metric is not None:
                rank = self._question.rank
                if self._best is None or rank(verdict) < rank(self._best):
                    self._best = verdict
        return answer

    def _may_be_chosen(self, verdict: Verdict) -> bool:
        return verdict.satisfied and verdict.node in self._question.lattice

    def _best_so_far(self, reason: str) -> Outcome:
        """What a stopped search has found; one more question if no metric was asked for yet."""
        found = [verdict for verdict in self.verdicts.values() if self._may_be_chosen(verdict)]
        if self._best is None and found:
            found.sort(key=lambda verdict: (self._question.least(verdict), verdict.node))
            self._answer(Batch(tuple(verdict.node for verdict in found[:_FEW]), metrics=True))
            found = [self.verdicts[verdict.node] for verdict in found]
        solutions = sorted((verdict for verdict in found if verdict.metric is not None), key=self._question.rank)
        return Outcome(
            algorithm=self._algorithm,
            best=self._best,
            proven=False,
            criterion="lowest metric of the nodes evaluated before the search was stopped",
            solutions=tuple(solutions),
            evaluated=len(self.verdicts),
            stopped=reason,
        )
