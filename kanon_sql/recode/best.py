"""Recodings from the top down, whose dear classes are swept where that loses less; and the best of several of them.

The best is of three: from the top down, as the fast one is, from the full-domain optimum down, and a sweep that learns
of both, whose dear classes are swept once more. The one that loses least is searched for new classes and released, so
the best never loses more than the fast one. Nor more than the full-domain optimum: a recoding that begins with it has
no label above its levels and suppresses no other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kanon_sql.evaluate import Budget
from kanon_sql.recode.partitions import Partitions, peel
from kanon_sql.recode.regroup import regroup, worth_regrouping
from kanon_sql.recode.release import Mapped, mapped
from kanon_sql.recode.specialize import specialize
from kanon_sql.recode.sweep import (
    AFTER_A_SWEEP,
    AFTER_CUTS,
    Again,
    Prices,
    learned,
    prices_of,
    sweep,
    sweep_again,
    worth_a_second,
)
from kanon_sql.search import Stopped

__all__ = ["OPTIMUM", "TOP", "Attempt", "attempts"]

OPTIMUM, TOP, SWEEP = "optimum", "top", "sweep"
"""Where an attempt begins: with the full-domain optimum, at the highest levels allowed, or there with a sweep."""


@dataclass
class Attempt:
    """A recoding, finished or not.

    Attributes:
        name: where it began: ``top``, ``optimum`` or ``sweep``.
        state: its partitions, every one of which satisfies.
        steps: how many steps of sweeps it took.
    """

    name: str
    state: Partitions
    steps: int = 0
    _mapped: Mapped | None = field(default=None, repr=False)
    _tries: int = 0

    @property
    def mapped(self) -> Mapped:
        """Its classes."""
        if self._mapped is None:
            workspace, self._tries = self.state.workspace, self._tries + 1  # one that was interrupted left its tables
            workspace.report("labelling the classes", None)
            self._mapped = mapped(
                self.state.apart(f"{workspace.prefix}labelled{self._tries}_"), slices=self.state.key is not None
            )
        return self._mapped


def attempts(given: Sequence[Attempt], budget: Budget, *, sweeps: bool) -> tuple[list[Attempt], str | None]:
    """Divide the partitions of some attempts from the top down, then sweep the nodes whose levels their classes have.

    Args:
        given: attempts that have just begun; the sweep begins where the last one does.
        budget: when to end early.
        sweeps: whether to sweep all vectors, as one more attempt; else those of each attempt's dear classes.

    Returns:
        The attempts that can be released, and why it ended early, in words; None if it did not.
    """
    for attempt in given:
        peel(attempt.state)
    made: list[Attempt] = []
    try:
        with budget.limits(given[0].state.workspace.engine):
            for attempt in given:
                made.append(attempt)
                specialize(attempt.state)
            if not sweeps:
                for place, attempt in enumerate(given):
                    made[place] = _swept_again(attempt, AFTER_CUTS)
            elif given[-1].state.steps is not None:
                made[-1] = _swept_again(made[-1], AFTER_CUTS)  # which is all that the fast recoding does
                found, prices = _swept(made)
                made.append(found)
                specialize(found.state)
                made[-1] = _swept_again(found, AFTER_A_SWEEP, prices)
                least = min(made, key=lambda attempt: attempt.mapped.lost)
                made[made.index(least)] = _regrouped(least, prices)
    except Stopped as stopped:
        return made, str(stopped)
    return made, None


def _swept(made: Sequence[Attempt]) -> tuple[Attempt, Prices]:
    """A sweep of the nodes that some attempts used; it begins where the last of them did."""
    state = made[-1].state.apart("swept_")
    state.open, state.last, state.rounds = state.vectors, 0, 0
    peel(state)
    prices = prices_of(state)
    nodes = learned(state, [attempt.mapped for attempt in made], prices)
    return Attempt(SWEEP, state, sweep(state, nodes, prices)), prices


def _regrouped(before: Attempt, prices: Prices) -> Attempt:
    """An attempt whose rows make new classes, if less is lost then; else as it was."""
    if not worth_a_second(before.state) or not worth_regrouping(before.state):
        return before
    again = Attempt(before.name, before.state.apart(f"{before.name}_regrouped_"), before.steps)
    again.steps += regroup(again.state, before.mapped, prices)
    if again.steps > before.steps:
        specialize(again.state)
    return again if again.mapped.lost < before.mapped.lost else before


def _swept_again(before: Attempt, how: Again, prices: Prices | None = None) -> Attempt:
    """An attempt whose dear classes are swept, if that is worth it and less is lost then; else as it was."""
    if not worth_a_second(before.state) or not before.mapped.lost:
        return before
    again = Attempt(before.name, before.state.apart(f"{before.name}_again_"))
    steps = sweep_again(again.state, before.mapped, how, prices or prices_of(before.state))
    if steps is None:
        return before
    again.steps = before.steps + steps
    specialize(again.state)
    better = again if again.mapped.lost < before.mapped.lost else before
    better.steps, better.state.rounds = again.steps, again.state.rounds  # what was done, whatever came of it
    return better
