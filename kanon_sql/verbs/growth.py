"""What a refresh is to do, and at which levels: those that the release has, or coarser ones where they fit no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kanon_sql.engines import Column, Workspace
from kanon_sql.evaluate import Chosen, NothingFound, NothingToSearch, searched, searched_again
from kanon_sql.release import Day, Deletions, NewRows, State, protects_values, released_rows
from kanon_sql.search import Node
from kanon_sql.spec import QuasiIdentifier, Spec, Suppression

__all__ = ["Found", "Growth", "at_node", "coarser_node", "waiting"]

MOST_SEARCHED = 8
"""This many of the best levels are tried, for the rows that wait and for those that stand."""


Found = Chosen | NothingFound | NothingToSearch


@dataclass(frozen=True)
class Growth:
    """What a refresh is to do.

    Attributes:
        spec: what is released.
        state: so far.
        columns: the source's columns.
        taken: the new rows; None where rows leave only.
        forms: column -> the form of its values then, where its type promises none.
        day: those and what waits.
        departures: what leaves; None for nothing.
        batch: the name of these rows; None where they are known by the watermark.
        verify_all: examine the whole release.
        fail_on_warning: change nothing where there is a warning.
    """

    spec: Spec
    state: State
    columns: Mapping[str, Column]
    taken: NewRows | None
    forms: Mapping[str, str]
    day: Day
    departures: Deletions | None
    batch: str | None
    verify_all: bool
    fail_on_warning: bool

    @property
    def new_rows(self) -> int:
        """How many rows were taken."""
        return 0 if self.taken is None else self.taken.rows

    @property
    def leaving(self) -> int:
        """How many rows leave the source."""
        return 0 if self.departures is None else self.departures.leaving

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return self.new_rows == 0 and self.leaving == 0

    @property
    def source_rows(self) -> int:
        """Rows that the source has then, as far as they were taken."""
        return self.state.rows["source"] + self.new_rows - self.leaving

    @property
    def most_waiting(self) -> int:
        """How many rows may wait for others before the levels are said not to fit any more."""
        return self.spec.suppression.most(self.source_rows)

    @property
    def node(self) -> Node:
        """The levels so far."""
        return tuple(self.state.node[name] for name in self.spec.quasi_identifiers)

    @property
    def policy(self) -> Literal["hold", "coarsen", "research"]:
        """What happens when the levels no longer fit."""
        return "hold" if self.spec.increments is None else self.spec.increments.on_drift

    @property
    def safe_at_coarser_levels(self) -> bool:
        """Whether coarser levels leave what stands as safe as it is.

        Rows add up in a union of classes. Persons who are in several classes of it count once, so that frequencies of
        their values may be others than in any class.
        """
        return self.spec.unit is None or not protects_values(self.spec)


def waiting(growth: Growth, found: Found) -> int:
    """How many rows would wait: for others, or, being held, at any levels."""
    return _left_out(found) + growth.day.held


def _left_out(found: Found) -> int:
    return found.rows()["suppressed"]


def at_node(growth: Growth, node: Node) -> Spec:
    """The spec at one node, over the day's rows: what satisfies is released, and all else waits."""
    # There is one node, so that no option of the search has anything to decide.
    found = _at(growth, node, node, suppression=Suppression(max_share=1.0), search=type(growth.spec.search)())
    return found.over_rows(growth.day.table.parts)


def coarser_node(workspace: Workspace, growth: Growth) -> Node | None:
    """The best levels above those of the release at which few enough rows wait, and what stands satisfies.

    Args:
        workspace: where the day's rows are.
        growth: what is to be done.

    Returns:
        The levels; None where there are none, or none among the best few.
    """
    stands = _stands(workspace, growth)

    def fits(node: Node) -> bool:
        with searched(workspace.engine, at_node(growth, node)) as found:
            few = waiting(growth, found) <= growth.most_waiting
        return few and stands(node)

    others = growth.most_waiting - growth.day.held
    if others < 0:
        return None  # those that are held are too many already, at any levels

    if growth.policy == "research":
        among = "among the levels at which few enough rows wait"
        node = _best(workspace, _at(growth, growth.node, None), among, fits)
        if node is not None:
            return node
    # The limit of this search is how many rows may wait besides, so that they do not have to be counted again.
    limited = _at(growth, growth.node, None, suppression=Suppression(max_rows=others))
    among = "among the levels at which the release satisfies the requirements"
    return _best(workspace, limited.over_rows(growth.day.table.parts), among, stands)


def _best(workspace: Workspace, asked: Spec, among: str, does: Callable[[Node], bool]) -> Node | None:
    """The best levels of a search that do, of the first few."""
    tried: set[Node] = set()
    while len(tried) < MOST_SEARCHED:
        with searched(workspace.engine, asked) as best:
            if tried and isinstance(best, Chosen):
                best = searched_again(best, tried, among)
            if not isinstance(best, Chosen):
                return None
            node = best.node
        if does(node):
            return node
        tried.add(node)
    return None


def _stands(workspace: Workspace, growth: Growth) -> Callable[[Node], bool]:
    """Whether what is released of each batch satisfies at some levels.

    The batches are judged one by one, since any of them may leave as a whole; no person is in two of them. The state
    is read, since the release does not say whose its rows are.
    """
    if growth.safe_at_coarser_levels:
        return lambda node: True
    changes = None if growth.departures is None else growth.departures.changes
    table, batch = released_rows(workspace, growth.state, growth.columns, changes)
    fixed = {batch: QuasiIdentifier.model_validate({"minimum_level": 0, "maximum_level": 0})}

    def stands(node: Node) -> bool:
        asked = at_node(growth, node)
        by_batch = asked.model_copy(update={"quasi_identifiers": {**asked.quasi_identifiers, **fixed}})
        with searched(workspace.engine, by_batch.over_rows(table.parts)) as found:
            return _left_out(found) == 0

    return stands


def _at(growth: Growth, lowest: Node, highest: Node | None, **changes: Any) -> Spec:
    """The spec at some levels, over the day's rows."""
    columns = {
        name: column.model_copy(
            update={"minimum_level": low, **({} if highest is None else {"maximum_level": highest[index]})}
        )
        for index, ((name, column), low) in enumerate(zip(growth.spec.quasi_identifiers.items(), lowest, strict=True))
    }
    return growth.spec.model_copy(update={"quasi_identifiers": columns, "identifiers": (), **changes})
