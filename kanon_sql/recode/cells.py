"""Cell suppression: a node of the lattice for all rows, and then single cells that are released as the top.

AG_CS and, at the lowest levels, _CS of Ciriani, De Capitani di Vimercati, Foresti and Samarati ("k-Anonymity", 2007),
as in mu-Argus (Hundepool and Willenborg 1996). A column has two labels to choose from, that of its level and the top,
so what is suppressed is a matter of partitions: those of local recoding, of hierarchies with two levels.

Nodes are tried from the full-domain optimum, or from the lowest levels where less is lost there, one column changed at
a time, as long as less is lost. Where class sizes decide everything and no column has a cap, what a node loses is
estimated (:mod:`kanon_sql.recode.estimate`), for many nodes in one statement. Elsewhere the rows are divided from the
top down at each, one level further at a time. At the node where least is lost the sets of columns to suppress are
swept, and unless that loses no more than was expected of it, the rows are divided from the top down there as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import combinations
from math import floor, inf

from kanon_sql.evaluate import Budget, Chosen, NothingFound, NothingToSearch, out_of_reach, search_in
from kanon_sql.frequency import Prepared
from kanon_sql.recode.best import Attempt
from kanon_sql.recode.bound import Bound, bound_of
from kanon_sql.recode.estimate import Estimates, estimates_of
from kanon_sql.recode.partitions import Partitions, begin, peel
from kanon_sql.recode.recoding_result import RecodingResult, RecodingSummary, SuppressedCells, Tried, highest_levels
from kanon_sql.recode.release import Suppressed
from kanon_sql.recode.specialize import specialize
from kanon_sql.recode.sweep import BATCH, NODES, Prices, prices_of, sweep
from kanon_sql.search import Node, Stopped
from kanon_sql.spec import Fault, Spec, quote, recoding

__all__ = ["MOST_TRIED", "NODE", "CellsResult", "Suppressing", "caps_of", "recoded_in_cells"]

MOST_TRIED = 64
"""How many nodes are estimated at most, or how often the rows are divided, to compare nodes."""

MOST_AT_ONCE, PAIRS_AT_ONCE = 256, 5_000_000
"""How many sets of columns to suppress vectors choose among in one step, where that makes no more pairs of both."""

SAME_LOSS = 1e-9
"""Mean losses that differ by less are the same: those of nodes are made of rounded figures."""

FULL_DOMAIN, NODE, SWEEP = "full_domain", "node", "sweep"
"""What was tried: the full-domain optimum with its rows suppressed, the best node from the top down, and a sweep."""


@dataclass(frozen=True)
class CellsResult(RecodingResult):
    """A node, and what is suppressed at it.

    Attributes:
        node: the level of each quasi-identifier.
        nodes: how many nodes were tried.
    """

    node: Node = ()
    nodes: int = 0

    @property
    def over_caps(self) -> frozenset[int]:
        """The columns of which more cells are suppressed than their caps allow."""
        return frozenset(index for index, item in enumerate(self.mapped.suppressed) if item.cells > item.most)

    def bound(self) -> Bound | None:
        """What no recoding loses less than that may suppress any cell."""
        return bound_of(self.prepared, _tops(self.prepared))

    def to_dict(self) -> RecodingSummary:
        """The recoding as it stands in results and manifests."""
        names, caps = list(self.spec.quasi_identifiers), self.spec.recoding.caps or {}
        cells: dict[str, SuppressedCells] = {
            name: {"cells": item.cells, "share": item.cells / self.sets.rows, "cap": caps.get(name)}
            for name, item in zip(names, self.mapped.suppressed, strict=True)
        }
        return {**super().to_dict(), "node": self.node_dict(self.node), "nodes": self.nodes, "suppressed_cells": cells}


def _faults(spec: Spec) -> Iterator[Fault]:
    """Caps of other columns, levels that are not the lowest, and what combinations of a few columns cannot have."""
    if any(getattr(item, "combinations", None) is not None for item in spec.privacy):
        yield from _combined_faults(spec)
    for name in spec.recoding.caps or ():
        if name not in spec.quasi_identifiers:
            why = f"{quote(name)} is not a quasi-identifier; only cells of quasi-identifiers are suppressed"
            yield Fault(("recoding", "caps", name), why, True)
    if spec.recoding.variant == "minimum":
        for name, column in spec.quasi_identifiers.items():
            if column.maximum_level is not None and column.maximum_level != column.minimum_level:
                why = "with variant: minimum every column stays at its minimum level; leave maximum_level out"
                yield Fault(("quasi_identifiers", name, "maximum_level"), why, True)


def _combined_faults(spec: Spec) -> Iterator[Fault]:
    """What is refused where cells are suppressed for combinations, which lie across classes."""
    if len(spec.privacy) > 1:
        why = (
            "cells are suppressed until the combinations of a few columns are frequent, and the classes that come out "
            "may have any size and any values; ask for combinations alone, or use recoding: full_domain"
        )
        yield Fault(("recoding", "method"), why, True)
    if spec.recoding.caps is not None:
        why = "for combinations, what is suppressed is chosen row by row, and no cap is held; leave caps out"
        yield Fault(("recoding", "caps"), why, True)
    if spec.recoding.save_as is not None:
        why = (
            "which cells are suppressed for combinations depends on all rows of this source, so new rows have no "
            "defined labels; leave save_as out"
        )
        yield Fault(("recoding", "save_as"), why, True)


@recoding(
    "cells",
    title="Cell suppression",
    words="all rows have one level per column, and single cells are suppressed, that is, released as the top",
    takes=("caps",),
    variants=("searched", "minimum"),
    faults=_faults,
    chooses_parents=True,
    combines=True,
    optimum_instead=(
        "was not found to lose less than the full-domain optimum with its rows suppressed: that is taken instead"
    ),
)
def recoded_in_cells(
    given: Prepared, spec: Spec, budget: Budget
) -> NothingToSearch | NothingFound | Chosen | RecodingResult:
    """Look for the node at which least is lost with single cells suppressed.

    Args:
        given: the frequency sets.
        spec: what to anonymize and how.
        budget: when to end early, of the search and of what follows; the best that was found by then is released.

    Returns:
        A recoding; or what the search of the lattice found, where no node loses less with cells suppressed.
    """
    sets = given.sets
    if out_of_reach(given) is not None or sets.rows == sets.null_rows:
        return search_in(given, spec, budget)
    found = search_in(given, spec, budget)
    allowed = found.rows()["suppressed"] if isinstance(found, Chosen) else given.max_suppressed
    start = found.node if isinstance(found, Chosen) else highest_levels(sets)
    made = _suppressing(given, spec, allowed).run(start, budget)
    if not isinstance(found, Chosen):
        return found if made is None else made
    full = found.mean_loss
    if made is None or made.mean_loss > full - SAME_LOSS:
        return found
    return replace(made, tried={FULL_DOMAIN: Tried(full, 0, 0), **made.tried})


def _suppressing(given: Prepared, spec: Spec, allowed: int) -> Suppressing:
    """What tries nodes: for classes, or for combinations, which lie across them."""
    if not any(model.to_fixpoint for model in given.models):
        return Suppressing(given, spec, allowed)
    from kanon_sql.recode.combined_cells import SuppressingForCombinations

    return SuppressingForCombinations(given, spec, allowed)


def _tops(given: Prepared) -> Node:
    return tuple(lookup.height for lookup in given.sets.lookups)


@dataclass
class Suppressing:
    """Tries nodes.

    Attributes:
        given: the frequency sets.
        spec: what to anonymize and how.
        allowed: how many rows may be suppressed.
        tried: node -> the mean loss of a cell, infinite where too many rows would have to be suppressed, or an estimate
            of it that is rather low; and the columns of which no cell is suppressed, since more would have to be than
            their caps allow.
        divided: how often rows were divided.
        node: the one at which least is lost so far.
    """

    given: Prepared
    spec: Spec
    allowed: int
    tried: dict[Node, tuple[float, frozenset[int]]] = field(default_factory=dict)
    divided: int = 0
    node: Node | None = None

    def run(self, start: Node, budget: Budget) -> CellsResult | None:
        """Go from node to node as long as less is lost, then sweep at the last one.

        Args:
            start: the first node.
            budget: when to end early.

        Returns:
            The recoding that loses least; None if no node can be released with cells suppressed.
        """
        stopped: str | None = None
        attempts: list[Attempt] = []
        try:
            with budget.limits(self.given.workspace.engine):
                self._compare(start)
                if self.node is not None:
                    self._sweep(self.node, attempts)
        except Stopped as reason:
            stopped = str(reason)
        if self.node is None:
            return None
        least, whole = self.tried[self.node]
        found = [self._made(self.node, attempt) for attempt in attempts]
        kept = [item for item in found if not item.over_caps]
        if all(item.mean_loss > least for item in kept):  # else what is divided from the top down loses no less
            state = self._begin(self.node, whole, "released_")  # apart from what an early end left
            specialize(state)
            kept.insert(0, self._made(self.node, Attempt(NODE, state)))
        kept = [item for item in kept if self._may_be_released(item)]
        if not kept:
            return None
        tried = {item.start: Tried(item.mean_loss, item.rounds, item.steps) for item in kept}
        return replace(min(kept, key=lambda item: item.mean_loss), stopped=stopped, tried=tried)

    def _may_be_released(self, made: CellsResult) -> bool:
        """Whether it has rows, and leaves out no more than is allowed: an estimate of a node may be too low."""
        suppressed = made.violating + self.given.sets.null_rows
        return made.mapped.rows > 0 and suppressed <= self.allowed

    def _compare(self, start: Node) -> None:
        """Try the first node and the lowest one, then the neighbours of the better one, and so on."""
        lookups = self.given.sets.lookups
        lowest = tuple(lookup.quasi_identifier.minimum_level for lookup in lookups)
        highest = highest_levels(self.given.sets)
        estimates = self._estimates(lowest, highest)
        if estimates is not None:
            self._estimate(estimates, start, lowest, highest)
            return
        for node in (start, lowest):
            self._try(node)
        before: Node | None = None
        while self.node != before:
            before = self.node
            for index, (low, high) in enumerate(zip(lowest, highest, strict=True)):
                self._move(index, low, high)

    def _estimates(self, lowest: Node, highest: Node) -> Estimates | None:
        """What nodes are estimated by; None where sizes do not decide everything, or caps may be exceeded."""
        sets, models = self.given.sets, [model.of_whole_classes() for model in self.given.models]
        if self.spec.recoding.caps or sets.counting == "unit" or not all(model.judges_size for model in models):
            return None
        size = "person_count" if sets.counting == "persons" else "row_count"
        least = max([1, *(model.least_size for model in models if model.least_size is not None)])
        levels = [range(low, high + 1) for low, high in zip(lowest, highest, strict=True)]
        return estimates_of(self.given, levels, size, least)

    def _estimate(self, estimates: Estimates, start: Node, lowest: Node, highest: Node) -> None:
        """Go to the best of the nodes that differ in one column, until there is none that was not estimated."""
        wanted = [start, lowest, *self._neighbours(lowest, lowest, highest)]
        while True:
            new = [node for node in dict.fromkeys(wanted) if node not in self.tried][: MOST_TRIED - len(self.tried)]
            if not new:
                return
            self.tried |= {node: (lost, frozenset()) for node, lost in estimates.of(new).items()}
            self.given.workspace.report(f"suppressing cells: {len(self.tried)} nodes estimated", None)
            self.node = min(self.tried, key=lambda node: (self.tried[node][0], node))
            wanted = self._neighbours(self.node, lowest, highest)

    def _neighbours(self, node: Node, lowest: Node, highest: Node) -> list[Node]:
        """The nodes that differ in one column, the nearest first; not where all of it would be suppressed."""
        others = [
            (abs(level - node[index]), index, level)
            for index, (low, high) in enumerate(zip(lowest, highest, strict=True))
            for level in range(low, high + 1)
            if level != node[index] and (level == low or not self._has_one_label(index, level))
        ]
        return [(*node[:index], level, *node[index + 1 :]) for _, index, level in sorted(others)]

    def _move(self, index: int, low: int, high: int) -> None:
        """Move a column of the best node, a level down if that loses less, else up if that does."""
        for step in (-1, 1):
            node = self.node
            if node is None or not low <= node[index] + step <= high or self.divided >= MOST_TRIED:
                continue
            if self._try((*node[:index], node[index] + step, *node[index + 1 :])):
                return

    def _try(self, node: Node) -> bool:
        """Divide the rows at a node, unless that was done; whether less is lost than at all nodes before."""
        if node in self.tried:
            return False
        least = inf if self.node is None else self.tried[self.node][0]
        self.tried[node] = loss, _ = self._divided(node)
        self.given.workspace.report(f"suppressing cells: {len(self.tried)} nodes tried", None)
        if loss < least:
            self.node = node
        return loss < least

    def _divided(self, node: Node) -> tuple[float, frozenset[int]]:
        """What is lost at a node; columns that would exceed their caps are left whole, and the rows divided again."""
        whole = frozenset(index for index, most in enumerate(self._caps) if most == 0)
        while True:
            self.divided += 1
            with self.given.workspace.passing():
                state = self._begin(node, whole)
                if state.violating_rows + self.given.sets.null_rows > self.allowed or not state.kept_rows:
                    return inf, whole
                specialize(state)
                made = self._made(node, Attempt(NODE, state))
                over, loss = made.over_caps, made.mean_loss
            if over <= whole:
                return inf if over else loss, whole
            whole |= over

    def _sweep(self, node: Node, attempts: list[Attempt]) -> None:
        """Add a sweep of the sets of columns to suppress at a node, divided as far as the budget allows."""
        state = self._begin(node, self.tried[node][1], "swept_")
        if state.steps is None:
            return
        prices = prices_of(state)
        batch = min(MOST_AT_ONCE, max(BATCH, PAIRS_AT_ONCE // max(1, state.count)))
        attempt = Attempt(SWEEP, state, sweep(state, _masks(state, prices), prices, batch))
        attempts.append(attempt)
        specialize(state)

    @property
    def _caps(self) -> list[int]:
        """Per quasi-identifier, how many of its cells may be suppressed."""
        return caps_of(self.spec, self.given.sets.rows)

    def _begin(self, node: Node, whole: frozenset[int], prefix: str = "") -> Partitions:
        """The rows before they are divided: a column has the level of the node, and the top unless it is left whole."""
        levels = self._levels(node, whole)
        workspace = self.given.workspace.apart(prefix) if prefix else self.given.workspace
        state = begin(workspace, self.given.sets, self.given.models, tuple(own[-1] for own in levels), levels)
        peel(state)
        return state

    def _levels(self, node: Node, whole: frozenset[int]) -> list[tuple[int, ...]]:
        """Per column the levels that its cells may have at a node."""
        return [
            (level,) if index in whole or self._has_one_label(index, level) else (level, top)
            for index, (level, top) in enumerate(zip(node, _tops(self.given), strict=True))
        ]

    def _has_one_label(self, index: int, level: int) -> bool:
        """Whether a level has one label for all values: the top, or one that is called like it. NULL has none there."""
        below = self.given.sets.codes.widest[index]
        return level >= len(below) or (below[level].labels <= 1 and not self.given.sets.lookups[index].has_nulls)

    def _made(self, node: Node, attempt: Attempt) -> CellsResult:
        """An attempt, with the cells that it suppresses."""
        mapped = attempt.mapped
        cells = [
            Suppressed(column.rows.get(path.high, 0) if len(path.levels) > 1 else 0, most)
            for column, path, most in zip(mapped.columns, mapped.paths, self._caps, strict=True)
        ]
        mapped = replace(mapped, suppressed=cells)
        return CellsResult(
            self.spec,
            self.given,
            mapped,
            attempt.state.judge,
            attempt.state.rounds,
            attempt.state.violating_rows,
            None,
            attempt.name,
            attempt.steps,
            node=node,
            nodes=len(self.tried),
        )


def caps_of(spec: Spec, rows: int) -> list[int]:
    """Per quasi-identifier, how many of its cells may be suppressed, of this many rows of a source."""
    caps = spec.recoding.caps or {}
    return [floor(Decimal(str(caps.get(name, 1))) * rows) for name in spec.quasi_identifiers]


def _masks(state: Partitions, prices: Prices) -> list[Node]:
    """The sets of columns to suppress, as nodes, the cheapest first: those of few columns, as many as are swept."""
    lowest = tuple(path.low for path in state.paths)
    nodes: list[Node] = []
    for size in range(len(state.cuttable) + 1):
        for chosen in combinations(state.cuttable, size):
            tops = {path.index: path.high for path in chosen}
            nodes.append(tuple(tops.get(index, level) for index, level in enumerate(lowest)))
        if len(nodes) >= NODES:
            break
    return sorted(nodes, key=lambda node: (prices.of(node), node))[:NODES]
