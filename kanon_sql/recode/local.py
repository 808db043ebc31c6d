"""Local recoding: where it begins, and the recoding that loses least of those that begin somewhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kanon_sql.evaluate import Budget, Chosen, NothingFound, NothingToSearch, Order, out_of_reach, search_in
from kanon_sql.frequency import Prepared
from kanon_sql.recode.best import OPTIMUM, TOP, Attempt, attempts
from kanon_sql.recode.partitions import Partitions, begin
from kanon_sql.recode.ranges import orders_of, with_places
from kanon_sql.recode.recoding_result import RecodingResult, Tried, highest_levels
from kanon_sql.recode.resist import sliced
from kanon_sql.search import Node
from kanon_sql.spec import Spec, recoding

__all__ = ["recoded_locally"]


@recoding(
    "local",
    title="Local recoding",
    words="the level of a value differs by class",
    takes=("ranges", "start", "resist"),
    variants=("fast", "best"),
    lowest_labels=True,
    chooses_parents=True,
    place=1,
)
def recoded_locally(
    given: Prepared, spec: Spec, budget: Budget
) -> NothingToSearch | NothingFound | Chosen | RecodingResult:
    """Divide the classes at the highest levels allowed, or those of the full-domain optimum, from the top down.

    Args:
        given: the frequency sets.
        spec: what to anonymize and how.
        budget: when to end the rounds early; what is not divided by then is released as it is.

    Returns:
        A recoding; or what the search of the lattice found, where the classes at the highest levels do not satisfy and
        no recoding that begins with the full-domain optimum suppresses as few rows as that does.

    Raises:
        HierarchyError: two ranges of a quasi-identifier would have the same label.
    """
    sets = given.sets
    top = highest_levels(sets)
    bottom = tuple(lookup.quasi_identifier.minimum_level for lookup in sets.lookups)
    infeasible = out_of_reach(given)
    if infeasible is not None or sets.rows == sets.null_rows or top == bottom:
        return search_in(given, spec, budget)
    given.workspace.report("recoding locally", None)
    return _Local(given, spec, budget, orders_of(given, spec, spec.recoding.ranges or ())).recoded(top, bottom)


@dataclass
class _Local:
    """One run: what it begins with, and what it releases."""

    given: Prepared
    spec: Spec
    budget: Budget
    orders: dict[int, Order] = field(default_factory=dict)

    def recoded(self, top: Node, bottom: Node) -> NothingFound | Chosen | RecodingResult | NothingToSearch:
        """The recoding, between the highest and the lowest levels allowed."""
        given, start = self.given, self.spec.recoding.begins
        highest = Attempt(TOP, self._begin(top))
        hidden = self._hidden(highest.state)
        if highest.state.violating_rows == 0 and start == "top":
            return self._released([highest])
        found = search_in(given, self.spec, self.budget)
        if not isinstance(found, Chosen):
            nothing = hidden > given.max_suppressed or not highest.state.kept_rows
            return found if nothing else self._released([highest])
        suppressed = found.rows()["suppressed"]
        candidates = [highest] if hidden <= suppressed else []
        if candidates and (start == "top" or found.node == top):
            return self._released(candidates)
        if self.spec.recoding.variant == "fast" and found.node == bottom:
            return found
        optimum = Attempt(OPTIMUM, self._begin(found.node, "at_optimum_"))
        begins = self._hidden(optimum.state) <= suppressed
        if begins:
            candidates = [optimum, *(candidates if start == "both" else [])]
        if not candidates:
            return found
        made = self._released(candidates)
        if start == "top" or (begins and not self.orders):
            return made
        # no recoding begins with the optimum, or one with ranges, which may be wider than its labels: compare them
        return made if made.mean_loss <= found.mean_loss else found

    def _begin(self, node: Node, prefix: str = "") -> Partitions:
        """The classes of a node, with the places of values that are released as ranges."""
        given = self.given
        workspace = given.workspace.apart(prefix) if prefix else given.workspace
        state = begin(workspace, given.sets, given.models, node, ranged=self.orders)
        if self.spec.recoding.resist is not None:
            sliced(state)
        return with_places(given, self.spec, state, self.orders)

    def _hidden(self, state: Partitions) -> int:
        """How many rows a recoding that begins there suppresses."""
        return state.violating_rows + self.given.sets.null_rows

    def _released(self, candidates: list[Attempt]) -> RecodingResult:
        """The recoding that loses least of those that begin somewhere."""
        made, stopped = attempts(candidates, self.budget, sweeps=self.spec.recoding.variant == "best")
        found = [
            RecodingResult(
                self.spec,
                self.given,
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
