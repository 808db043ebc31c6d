"""Local recoding from the top down: partitions are cut along one column at a time while all parts satisfy.

Top-down specialization (Fung, Wang, Yu 2005) of partitions of the rows (LeFevre et al. 2006), with labels of the
hierarchies. A round advances all partitions at once:

    spans, cells   what each column could be cut into: the children of the partition's lowest common ancestor
    judged         whether each child satisfies, by the class query that verifies a release as well
    cuts           the best allowable cut of each partition
    closed, moved  partitions without one are closed; the vectors of the others go into the parts

Children that do not satisfy are pooled, and the pool keeps the label above them. A pool that does not satisfy takes in
the child that gains least; where sizes decide everything, it is given the most similar vectors of a large child.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from kanon_sql.evaluate import Budget
from kanon_sql.recode.partitions import Partitions, peel
from kanon_sql.search import Stopped
from kanon_sql.sql import Relation, Sql, render, slot

__all__ = ["STATEMENTS_A_ROUND", "specialize"]

STATEMENTS_A_ROUND = 20
"""No round takes more statements, whatever the table, its columns or the requirements are."""

_CHILD = ("part", "attribute", "child_level", "child")
_POOL = ("part", "attribute")


def specialize(state: Partitions, budget: Budget) -> str | None:
    """Divide the partitions until none has an allowable cut.

    Args:
        state: the partitions that a recoding begins with.
        budget: when to end early; what is open then is released as it stands.

    Returns:
        Why it ended early, in words; None if it did not.
    """
    workspace = state.workspace
    peel(state)
    try:
        with budget.limits(workspace.engine):
            while _round(state):
                workspace.report(f"recoding locally: round {state.rounds}", None)
    except Stopped as stopped:
        return str(stopped)
    return None


def _round(state: Partitions) -> bool:
    """Cut every open partition that has an allowable cut; False if none has."""
    step = _Round(state)
    cuts = step.cuts()
    found, last = state.row("cut_count", {"cuts": cuts})
    if found:
        tables, judge = {"open": state.open, "cuts": cuts}, state.judge
        moved = state.make(
            "moved", f"open{state.rounds + 1}", tables,
            attributes=state.cuttable, words=state.names, size=judge.size, by_person=judge.by_person,
            donors=judge.donors is not None,
        )  # fmt: skip
        state.advance(moved, state.make("done", f"closed{state.rounds}", tables), last)
    step.drop()
    return bool(found)


@dataclass
class _Round:
    """What one round makes on its way to the cuts."""

    state: Partitions
    made: list[Relation] = field(default_factory=list)

    def cuts(self) -> Relation:
        """The best allowable cut of every open partition."""
        state, judge = self.state, self.state.judge
        spans = self._make("spans", {"open": state.open}, attributes=state.cuttable, least=judge.least_size)
        opened = {"open": state.open, "spans": spans}
        cells = render("recode/cells", attributes=state.cuttable, by_person=judge.by_person)
        if judge.donors is not None:
            children = self._judged("children", Sql(f"({cells})"), _CHILD, opened, largest=True)
            return self._cuts(render("recode/ranked", donors=True), {"children": children, "labels": state.labels})
        return self._judged_cuts(self._make("stored_cells", opened, cells=cells))

    def _judged_cuts(self, cells: Relation) -> Relation:
        """Where sizes do not decide: pools are judged, and those that violate with the child that would join them."""
        judge = self.state.judge
        children = self._judged("children", slot("grouped"), _CHILD, {"grouped": cells})
        tables = {"children": children, "labels": self.state.labels}
        ranked = self._make("stored_ranked", tables, ranked=render("recode/ranked", donors=False))
        pooled = {"cells": cells, "ranked": ranked}
        pools = self._judged("pools", self._pooled(joined=False), _POOL, pooled)
        found = {"ranked": ranked, "pools": pools}
        if not judge.joins_safely:
            found["merges"] = self._judged("merges", self._pooled(joined=True), _POOL, {**pooled, "pools": pools})
        return self._cuts(render("recode/stored"), found)

    def _pooled(self, *, joined: bool) -> Sql:
        return render("recode/pooled_cells", joined=joined, by_person=self.state.judge.by_person)

    def _cuts(self, ranked: Sql, tables: Mapping[str, Relation]) -> Relation:
        fills = {"first": str(self.state.last)}
        return self._make(
            "cuts", tables, fills, ranked=ranked, donors=self.state.judge.donors, merges="merges" in tables
        )

    def _judged(
        self,
        what: str,
        grouped: Sql,
        keys: tuple[str, ...],
        tables: Mapping[str, Relation],
        *,
        largest: bool = False,
    ) -> Relation:
        table = self.state.judge.judged(f"{what}{self.state.rounds}", grouped, keys, tables, largest=largest)
        self.made.append(table)
        return table

    def _make(
        self, name: str, tables: Mapping[str, Relation], fills: Mapping[str, str] | None = None, **context: Hashable
    ) -> Relation:
        table = self.state.make(name, f"{name}{self.state.rounds}", tables, fills, **context)
        self.made.append(table)
        return table

    def drop(self) -> None:
        """Drop it."""
        for table in reversed(self.made):
            self.state.workspace.drop(table)
