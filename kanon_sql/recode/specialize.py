"""Local recoding from the top down: partitions are cut along one column at a time while all parts satisfy.

Top-down specialization (Fung, Wang, Yu 2005) of partitions of the rows (LeFevre et al. 2006), with labels of the
hierarchies. A round advances all partitions at once:

    cells    what each column could be cut into: the children of the partition's lowest common ancestor
    judged   whether each child satisfies, by the class query that verifies a release as well
    cuts     the best allowable cut of each partition
    moved    partitions without one are closed; the vectors of the others go into the parts

Columns that are released as ranges are cut in two, anywhere in the order of their values where both sides satisfy.

Children that do not satisfy are pooled, and the pool keeps the label above them. A pool that does not satisfy takes in
the child that gains least; where sizes decide everything, it is given the most similar vectors of a large child.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from kanon_sql.recode.partitions import Partitions
from kanon_sql.sql import Relation, Sql, render, slot

__all__ = ["STATEMENTS_A_ROUND", "STATEMENTS_A_ROUND_OF_SIZES", "STATEMENTS_FOR_RANGES", "specialize"]

STATEMENTS_A_ROUND, STATEMENTS_A_ROUND_OF_SIZES = 15, 7
"""No round takes more statements, whatever the table and its columns are; fewer where class sizes decide everything."""

STATEMENTS_FOR_RANGES = 6
"""No round takes more besides, where columns are released as ranges."""

PRECISION = 1e9
"""How many different gains of children are distinguished."""

_CHILD = ("part", "attribute", "child_level", "child")
_POOL = ("part", "attribute")
_SIDE = ("part", "attribute", "cut_after", "side")


def specialize(state: Partitions) -> None:
    """Divide the partitions until none has an allowable cut; whatever raises in between leaves partitions that satisfy.

    Args:
        state: partitions that satisfy.
    """
    (state.last,) = state.row("highest", {"open": state.open})
    while (state.steps is not None or state.ranged) and _round(state):
        state.workspace.report(f"recoding locally: round {state.rounds}", None)


def _round(state: Partitions) -> bool:
    """Cut every open partition that has an allowable cut; False if none has."""
    step = _Round(state)
    cuts = step.cuts()
    pieces, most_given, last = state.row("cut_count", {"cuts": cuts})
    if pieces:
        judge = state.judge
        moved = state.make(
            "moved", f"open{(state.rounds + 1) % 2}", {"open": state.open, "cuts": cuts}, state.fills,
            attributes=state.cuttable, words=state.names, size=judge.size, by_person=judge.by_person,
            donors=most_given > 0, ranged=bool(state.ranged), coins=state.coins("chosen"),
        )  # fmt: skip
        state.advance(moved, last)
    step.drop()
    return bool(pieces)


@dataclass
class _Round:
    """What one round makes on its way to the cuts; the next one gives it the same names, so that texts come again."""

    state: Partitions
    made: list[Relation] = field(default_factory=list)

    def cuts(self) -> Relation:
        """The best allowable cut of every open partition."""
        offers = {"offers": self._offers()} if self.state.ranged else {}
        return self._cuts(offers) if self.state.steps is None else self._climbing(self.state.steps, offers)

    def _climbing(self, steps: Relation, offers: Mapping[str, Relation]) -> Relation:
        """The same where columns can be cut along their hierarchies."""
        state, judge = self.state, self.state.judge
        opened = {"open": state.open, "steps": steps}
        cells = render(
            "recode/cells",
            words=state.codes,
            depth=state.depth,
            attributes=state.climbed,
            least=judge.least_size,
            by_person=judge.by_person,
            coins=state.coins("spans"),
        )
        if state.key is not None:
            children = self._make("held_children", opened, cells=cells, least=judge.least_size)
            return self._cuts({"children": children, "labels": state.labels}, self._ranked())
        if judge.donors is not None:
            children = self._judged("children", Sql(f"({cells})"), _CHILD, opened, largest=True)
            return self._cuts({"children": children, "labels": state.labels, **offers}, self._ranked())
        return self._judged_cuts(self._make("stored_cells", opened, cells=cells), offers)

    def _judged_cuts(self, cells: Relation, offers: Mapping[str, Relation]) -> Relation:
        """Where sizes do not decide: pools are judged, and those that violate with the child that would join them."""
        judge = self.state.judge
        children = self._judged("children", slot("grouped"), _CHILD, {"grouped": cells})
        ranked = self._make("stored_ranked", {"children": children, "labels": self.state.labels}, ranked=self._ranked())
        pooled = {"cells": cells, "ranked": ranked}
        pools = self._judged("pools", self._pooled(joined=False), _POOL, pooled)
        found = {"ranked": ranked, "pools": pools, **offers}
        if not judge.joins_safely:
            found["merges"] = self._judged("merges", self._pooled(joined=True), _POOL, {**pooled, "pools": pools})
        return self._cuts(found, render("recode/stored"))

    def _offers(self) -> Relation:
        """The cuts of columns that are released as ranges: where sizes decide everything, or both sides satisfy."""
        state, judge, ranged = self.state, self.state.judge, tuple(self.state.ranged)
        sizes = judge.donors is not None
        offers = self._make(
            "offers", {"open": state.open},
            attributes=ranged, size=judge.size, least=judge.least_size, by_bit=state.steps is not None,
            judged=not sizes,
        )  # fmt: skip
        if sizes:
            return offers
        cells = render("recode/offered_sides", attributes=ranged, by_person=judge.by_person)
        sides = self._judged("sides", cells, _SIDE, {"open": state.open, "offers": offers})
        return self._make("allowed_offers", {"offers": offers, "sides": sides})

    def _ranked(self) -> Sql:
        state = self.state
        most = state.kept_rows * max(lookup.quasi_identifier.weight for lookup in state.sets.lookups)
        donors = state.judge.donors is not None
        return render(
            "recode/ranked",
            donors=donors, width=state.width, scale=PRECISION / (most or 1), coins=state.key is not None,
        )  # fmt: skip

    def _pooled(self, *, joined: bool) -> Sql:
        return render("recode/pooled_cells", joined=joined, by_person=self.state.judge.by_person)

    def _cuts(self, tables: Mapping[str, Relation], ranked: Sql | None = None) -> Relation:
        return self._make(
            "cuts", tables,
            ranked=ranked, climbs=ranked is not None, donors=self.state.judge.donors, merges="merges" in tables,
            width=self.state.width, ranged=tuple(self.state.ranged), words=len(self.state.codes),
            least=self.state.judge.least_size, coins=self.state.coins("chosen"),
        )  # fmt: skip

    def _judged(
        self,
        what: str,
        grouped: Sql,
        keys: tuple[str, ...],
        tables: Mapping[str, Relation],
        *,
        largest: bool = False,
    ) -> Relation:
        table = self.state.judge.judged(what, grouped, keys, tables, largest=largest)
        self.made.append(table)
        return table

    def _make(self, name: str, tables: Mapping[str, Relation], **context: Hashable) -> Relation:
        fills = {**self.state.fills, "first": str(self.state.last)}
        table = self.state.make(name, name, tables, fills, **context)
        self.made.append(table)
        return table

    def drop(self) -> None:
        """Drop it."""
        for table in reversed(self.made):
            self.state.workspace.drop(table)
