"""Local recoding: where it begins, and the recoding that loses least of those that begin somewhere."""

from __future__ import annotations

from dataclasses import replace

from kanon_sql.evaluate import Budget, Chosen, NothingFound, NothingToSearch, out_of_reach, search_in
from kanon_sql.frequency import Prepared
from kanon_sql.recode.best import OPTIMUM, TOP, Attempt, attempts
from kanon_sql.recode.partitions import begin
from kanon_sql.recode.recoded import Recoded, Tried, highest_levels
from kanon_sql.recode.sweep import prices_of
from kanon_sql.spec import Spec

__all__ = ["recoded_locally"]


def recoded_locally(given: Prepared, spec: Spec, budget: Budget) -> NothingToSearch | NothingFound | Chosen | Recoded:
    """Divide the classes at the highest levels allowed, or those of the full-domain optimum, from the top down.

    Args:
        given: the frequency sets.
        spec: what to anonymize and how.
        budget: when to end the rounds early; what is not divided by then is released as it stands.

    Returns:
        A recoding; or what the search of the lattice found, where the classes at the highest levels do not satisfy and
        no recoding that begins with the full-domain optimum suppresses as few rows as that does.
    """
    sets = given.sets
    top = highest_levels(sets)
    bottom = tuple(lookup.quasi_identifier.minimum_level for lookup in sets.lookups)
    most = spec.suppression.max_rows(sets.rows)
    hopeless = out_of_reach(given.workspace, given.models, sets, most)
    if hopeless is not None or sets.rows == sets.null_rows or top == bottom:
        return search_in(given, spec, budget)
    given.workspace.report("recoding locally", None)
    best = spec.recoding.effort == "best"
    top_attempt = Attempt(TOP, begin(given.workspace, sets, given.models, top))
    hidden = top_attempt.state.violating_rows + sets.null_rows
    if top_attempt.state.violating_rows == 0 and not best:
        return _released(given, spec, [top_attempt], budget)
    found = search_in(given, spec, budget)
    if not isinstance(found, Chosen):
        nothing = hidden > most or not top_attempt.state.kept_rows
        return found if nothing else _released(given, spec, [top_attempt], budget)
    suppressed = found.rows()["suppressed"]
    begun = [top_attempt] if hidden <= suppressed else []
    if begun and (not best or found.node == top):
        return _released(given, spec, begun, budget)
    if not best and found.node == bottom:
        return found
    state = begin(given.workspace.apart("at_optimum_"), sets, given.models, found.node)
    if state.violating_rows + sets.null_rows <= suppressed:
        return _released(given, spec, [Attempt(OPTIMUM, state), *begun], budget)
    if not begun:
        return found
    made = _released(given, spec, begun, budget)  # no recoding begins with the optimum: compare with it
    least = (prices_of(state).share(found.node) * sets.kept_rows + sets.null_rows) / sets.rows
    return made if made.mean_loss <= least else found


def _released(given: Prepared, spec: Spec, begun: list[Attempt], budget: Budget) -> Recoded:
    """The recoding that loses least of those that begin somewhere."""
    made, stopped = attempts(begun, budget, sweeps=spec.recoding.effort == "best")
    found = [
        Recoded(
            spec,
            given,
            attempt.mapped,
            attempt.state.judge,
            attempt.state.rounds,
            attempt.state.violating_rows,
            stopped,
            attempt.name,
            attempt.steps,
        )
        for attempt in made
    ]
    tried = {item.start: Tried(item.mean_loss, item.rounds, item.steps) for item in found}
    return replace(min(found, key=lambda item: item.mean_loss), tried=tried)
