"""Cuts that are kept: what the rounds of a recoding recorded, and what they divide other rows into.

Where a recoding divides classes in two by the order of values (Mondrian's medians, micro-aggregation's numbers), what
is learned are the cuts: which class is divided in which column, and the value that the upper side begins with. Other
rows follow the cuts from the top, whether or not a value of theirs was there before:

    step      the cuts of one step
    judged    whether both sides satisfy, by the class query that verifies a release as well
    moved     rows go to their sides; where one does not satisfy, its rows go with the other, and where neither does,
              the class is left whole

So every class satisfies, and nothing is suppressed. What it is released as is made of its own rows, as ever.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kanon_sql.engines import Column
from kanon_sql.errors import SpecError
from kanon_sql.evaluate import BY_VALUE, Order
from kanon_sql.recode.numbers import Numbers
from kanon_sql.recode.partitions import Partitions
from kanon_sql.recode.paths import Dimension
from kanon_sql.recode.release import Cuts
from kanon_sql.sql import Relation, render

__all__ = [
    "BoundKind",
    "CutColumn",
    "Recorder",
    "bound_kind",
    "columns_of_numbers",
    "columns_of_places",
    "order_kind",
    "orders_in",
    "replayed",
    "thresholds_of",
]

ABOVE_ALL = 2**62
"""The distance of NULL where numbers have distances: above all others."""

BoundKind = Literal["value", "text", "label", "listed", "units"]
"""What a cut is kept by: a value of the column, the text of its label, the place of a label in the column's type, its
place in a hierarchy's rows, or a number of units."""


@dataclass(frozen=True)
class CutColumn:
    """A column that is cut, as templates know it.

    Attributes:
        index: its number among the quasi-identifiers.
        place: its number among those that the recoding was learned with.
        kind: what a cut is kept by.
        null: the place of NULL, or its distance.
    """

    index: int
    place: int
    kind: BoundKind
    null: int


@dataclass
class Recorder:
    """Notes the cuts of every round, where they are to be kept.

    Attributes:
        state: the partitions that are cut.
        dimensions: the columns, where they have places; empty where numbers have distances.
        recorded: what was noted.
    """

    state: Partitions
    dimensions: Sequence[Dimension] = ()
    recorded: Relation | None = field(default=None, init=False)

    def note(self, cuts: Relation, divided: Relation) -> None:
        """Note the cuts of a round before the partitions are moved; ``divided`` are these, or their order."""
        state, earlier = self.state, self.recorded
        tables = {"cuts": cuts, "open" if self.dimensions else "ordered": divided}
        self.recorded = state.make(
            "kept/recorded", f"recorded{state.rounds}", tables if earlier is None else {**tables, "earlier": earlier},
            {"step": str(state.rounds)},
            earlier=earlier is not None, by_place=bool(self.dimensions), attributes=tuple(self.dimensions),
        )  # fmt: skip
        if earlier is not None:
            state.workspace.drop(earlier)

    def cuts(self, items: Sequence[CutColumn], tables: Mapping[str, Relation], orders: Mapping[str, str]) -> Cuts:
        """What is kept of them; the columns as :func:`columns_of_places` and its like have them, with their tables."""
        recorded = self.recorded
        if recorded is None:
            recorded = self.state.make("kept/nothing", "recorded", {})
        table = self.state.make(
            "kept/cuts", "kept_cuts", {"recorded": recorded, **_with_lookups(self.state, items, tables)},
            _codes(self.state, items), attributes=tuple(items),
        )  # fmt: skip
        return Cuts(table, [item.index for item in items], orders)


def bound_kind(column: Column, is_open: bool) -> BoundKind:
    """What cuts of an ordered column are kept by.

    Raises:
        SpecError: they cannot be kept.
    """
    if not is_open:
        return "listed"
    if column.labels is not None:
        if not column.labels:
            raise SpecError(
                f"recoding.save_as: {column.name} is {column.type}, and the database does not say which labels "
                "the type has, so new values might belong to no range; give the column a hierarchy (a tree or a "
                "file) whose rows are in order, or cast it in a source query"
            )
        return "label"
    return "value" if column.kind in BY_VALUE else "text"


def order_kind(column: Column, is_open: bool) -> str:
    """What values of an ordered column are compared as, for anyone who applies the cuts to another column."""
    if not is_open:
        return "rows of a hierarchy"
    if column.labels is not None:  # the places of labels are kept, so these must stay what and where they are
        digest = hashlib.sha256(json.dumps(column.labels).encode()).hexdigest()[:8]
        return f"labels of an enumeration ({digest})"
    kind = column.kind if column.kind in BY_VALUE else "text"
    return "number" if kind in ("integer", "decimal", "float") else kind


def orders_in(orders: Mapping[int, Order], kinds: Mapping[int, BoundKind]) -> dict[str, Relation]:
    """The orders of columns, as templates call them, with the places of labels where cuts are kept by these."""
    labelled = {index: own.positions for index, own in orders.items() if kinds.get(index) == "label"}
    return {
        **{f"order_{index}": own.table for index, own in orders.items()},
        **{f"positions_{index}": places for index, places in labelled.items() if places is not None},
    }


def _with_lookups(state: Partitions, items: Sequence[CutColumn], tables: Mapping[str, Relation]) -> dict[str, Relation]:
    by_value = [item.index for item in items if item.kind == "value"]
    return {**tables, **{f"lookup_{index}": state.sets.lookups[index].table for index in by_value}}


def _codes(state: Partitions, items: Sequence[CutColumn]) -> dict[str, str]:
    return {
        f"of_lookup_{item.index}": state.sets.codes.from_lookup(item.index, 0, state.workspace.dialect)
        for item in items
        if item.kind == "value"
    }


def thresholds_of(
    state: Partitions, kept: Relation, items: Sequence[CutColumn], tables: Mapping[str, Relation]
) -> Relation:
    """The kept cuts among the values of these rows.

    Args:
        state: the partitions that they are to divide.
        kept: the table of the cuts.
        items: the columns.
        tables: ``order_<i>`` or ``amounts_<i>`` per column.
    """
    return state.make(
        "kept/thresholds", "thresholds", {"kept": kept, **_with_lookups(state, items, tables)}, _codes(state, items),
        attributes=tuple(items),
    )  # fmt: skip


def replayed(state: Partitions, thresholds: Relation, items: Sequence[CutColumn], prefix: str, carried: Any) -> None:
    """Divide partitions, of which there is one, by cuts that were kept, one step after the other.

    Args:
        state: the partitions; they satisfy, and do so afterwards.
        thresholds: from :func:`thresholds_of`.
        items: the columns.
        prefix: what the columns of places or distances begin with.
        carried: the columns that go along with a vector.
    """
    (steps,) = state.row("kept/steps", {"thresholds": thresholds})
    context = {"attributes": tuple(items), "prefix": prefix, "by_person": state.judge.by_person}
    for number in range(steps):
        cuts = state.make("kept/step", f"step{number}", {"thresholds": thresholds}, {"step": str(number)})
        read = {"open": state.open, "cuts": cuts}
        judged = state.judge.judged(f"sides{number}", render("recode/kept/sides", **context), ("part", "side"), read)
        moved = state.make(
            "kept/moved", f"open{number + 1}", {**read, "judged": judged}, carried=tuple(carried), **context
        )
        state.advance(moved, state.last)
        for used in (judged, cuts):
            state.workspace.drop(used)
        state.workspace.report(f"recoding by cuts that were kept: step {state.rounds}", None)


def columns_of_places(
    dimensions: Sequence[Dimension], kinds: Mapping[int, BoundKind], places: Mapping[int, int]
) -> list[CutColumn]:
    """Columns that are cut by the places of their values."""
    return [
        CutColumn(item.index, places[item.index], kinds[item.index], item.values) for item in dimensions if item.ordered
    ]


def columns_of_numbers(numbers: Sequence[Numbers], places: Mapping[int, int]) -> list[CutColumn]:
    """Columns that are cut by their numbers."""
    return [CutColumn(own.index, places[own.index], "units", ABOVE_ALL) for own in numbers]
