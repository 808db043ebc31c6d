"""The one driver of every strategy: asks its questions, remembers the answers, and can stop and go on.

A search ends early by an exception that comes out of ``ask`` (a budget is used up, the user pressed
Ctrl-C). Nothing is lost by that: the strategy is a generator that waits where it is, the answers that came before
are kept, and running on asks only what is missing. Where it is known before the first question that no node
satisfies, there is no search (``infeasible``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kanon_sql.search.base import Batch, Outcome, Question, Strategy, Verdict
from kanon_sql.search.lattice import Node

__all__ = ["Progress", "Search", "Stopped", "infeasible"]

_FEW = 8
"""A stopped search without any metric asks for those of this many nodes."""


class Stopped(Exception):
    """The search is to end at the best node found so far; the message says why."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search has come.

    Attributes:
        evaluated: distinct nodes asked about.
        left: at most this many more will be; None where the strategy does not know.
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
        ask: answers a batch: one verdict per node, in any order. What was answered before it raises
            an error is kept.

    Attributes:
        verdicts: the answers so far, those with a metric where there are two.
    """

    def __init__(
        self, algorithm: str, question: Question, strategy: Strategy, ask: Callable[[Batch], Iterable[Verdict]]
    ) -> None:
        self._algorithm = algorithm
        self._question = question
        self._strategy = strategy
        self._ask = ask
        self._batch: Batch | None = None
        self._answer: dict[Node, Verdict] = {}
        self._left: int | None = None
        self._best: Verdict | None = None
        self._outcome: Outcome | None = None
        self._advancing = False
        self.verdicts: dict[Node, Verdict] = {}

    def run(self, progress: Callable[[Progress], None] | None = None) -> Outcome:
        """Run the strategy to its end. After an error of ``ask``, such as :class:`Stopped`, call it again to go on.

        Args:
            progress: called after every batch.

        Raises:
            RuntimeError: the strategy itself failed, or was interrupted, before; it cannot go on.
            ValueError: ``ask`` left out a node.
            Exception: whatever ``ask`` or the strategy raises.
        """
        while self._outcome is None:
            if self._batch is not None:
                self._finish(self._batch)
                if progress is not None:
                    best = None if self._best is None else self._best.metric
                    progress(Progress(len(self.verdicts), self._left, best))
            self._advance()
        return replace(self._outcome, evaluated=len(self.verdicts))

    def best_so_far(self, reason: str) -> Outcome:
        """What a search that was stopped has found; never proven.

        If satisfying nodes are known but the metric of none, one more question asks for those of a few.

        Args:
            reason: why it was stopped, in words.

        Raises:
            Exception: whatever ``ask`` raises.
        """
        found = [verdict for verdict in self.verdicts.values() if self._may_be_chosen(verdict)]
        if self._best is None and found:
            found.sort(key=lambda verdict: (self._question.least(verdict), verdict.node))
            few = Batch(tuple(verdict.node for verdict in found[:_FEW]), metrics=True)
            for verdict in self._ask(few):
                self._learn(verdict)
        known = [verdict for verdict in self.verdicts.values() if verdict.metric is not None]
        return Outcome(
            algorithm=self._algorithm,
            best=self._best,
            proven=False,
            criterion="lowest metric of those known when the search was stopped",
            solutions=tuple(sorted(filter(self._may_be_chosen, known), key=self._question.rank)),
            evaluated=len(self.verdicts),
            stopped=reason,
        )

    def _finish(self, batch: Batch) -> None:
        """Get the answers to a batch that are still missing."""
        missing = tuple(node for node in batch.nodes if node not in self._answer)
        if missing:
            for verdict in self._ask(replace(batch, nodes=missing)):
                self._learn(verdict)
                self._answer[verdict.node] = verdict
        if unanswered := [node for node in missing if node not in self._answer]:
            raise ValueError(f"the evaluator gave no verdict of node {unanswered[0]}")

    def _advance(self) -> None:
        """Let the strategy take the answers and ask the next question, or end."""
        if self._advancing:
            raise RuntimeError("this search failed, or was interrupted, inside its strategy: it cannot go on")
        self._advancing = True
        try:
            if self._batch is None:
                self._batch = next(self._strategy)
            else:
                self._batch = self._strategy.send(self._answer)
            self._answer = {}
            if self._batch.left is not None:
                self._left = self._batch.left if self._left is None else min(self._left, self._batch.left)
        except StopIteration as end:
            self._outcome = end.value
        self._advancing = False

    def _learn(self, verdict: Verdict) -> None:
        known = self.verdicts.get(verdict.node)
        if known is None and self._left is not None:
            self._left -= 1
        if known is None or known.metric is None:
            self.verdicts[verdict.node] = verdict
        if self._may_be_chosen(verdict) and verdict.metric is not None:
            rank = self._question.rank
            if self._best is None or rank(verdict) < rank(self._best):
                self._best = verdict

    def _may_be_chosen(self, verdict: Verdict) -> bool:
        return verdict.satisfied and verdict.node in self._question.lattice


def infeasible(question: Question, algorithm: str) -> Strategy:
    """An outcome without a node, proven: the verdict on the lattice's top has to be prunable.

    The top is asked about all the same, once, so that what is said of the lattice follows from an answer.

    Args:
        question: the problem.
        algorithm: the strategy that would have searched.
    """
    yield Batch((question.lattice.top,))
    return Outcome(
        algorithm=algorithm,
        best=None,
        proven=True,
        criterion="out of reach of every generalization",
        minimal=(),
        inferred=question.lattice.size - 1,
    )
