"""Cuts that were kept, applied to other rows, and what the classes are released as: ranges or numbers of these rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.errors import Problem, SpecError, VerificationError
from kanon_sql.evaluate import rows_in_words, too_many_nulls
from kanon_sql.frequency import Prepared
from kanon_sql.recode.cuts import (
    bound_kind,
    columns_of_numbers,
    columns_of_places,
    order_kind,
    orders_in,
    replayed,
    thresholds_of,
)
from kanon_sql.recode.microaggregation import Microaggregated, aggregated, open_numbers, tables_of
from kanon_sql.recode.numbers import numbers_of, squares_lost, units_of
from kanon_sql.recode.partitions import Partitions, begin
from kanon_sql.recode.ranges import orders_of, with_places
from kanon_sql.recode.recoding_result import NoRecoding, RecodingResult, highest_levels
from kanon_sql.recode.release import Mapped, mapped
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation

__all__ = ["KEPT", "recoded_by_cuts"]

KEPT = "kept"
"""Where such a recoding begins: with classes, or cuts, that are there already."""


def recoded_by_cuts(
    given: Prepared, spec: Spec, shown: str, table: Relation, learned: Sequence[str], orders: Mapping[str, str]
) -> NoRecoding | RecodingResult:
    """Divide rows by cuts that were kept.

    Args:
        given: the frequency sets of these rows.
        spec: what to release; the recoding was compared with it.
        shown: what messages call the recoding.
        table: its cuts.
        learned: the quasi-identifiers, in the order in which it knows them.
        orders: per column that is cut, what its values are compared as.

    Returns:
        The recoding of these rows; or nothing, where all of them together violate a requirement, or where more rows
        with a NULL would have to be suppressed than the spec allows.

    Raises:
        SpecError: values of a column cannot be compared with those that it was learned with.
        UnsupportedError: a column holds no numbers that add up exactly.
        VerificationError: the classes do not hold all rows, or do not satisfy.
    """
    nulls = too_many_nulls(given)
    if nulls is not None:
        return NoRecoding(spec, given, nulls)
    given.workspace.report(f"recoding by {shown}", None)
    places = {lookup.index: list(learned).index(lookup.name) for lookup in given.sets.lookups}
    state = begin(
        given.workspace, given.sets, given.models, highest_levels(given.sets),
        ranged=[lookup.index for lookup in given.sets.lookups if spec.recoding.in_ranges(lookup.name)],
    )  # fmt: skip
    if state.violating_rows:
        rows = rows_in_words(state.violating_rows)
        why = f"all {rows} together violate the requirements, and the cuts can only divide them"
        return NoRecoding(spec, given, why)
    applied = _Applied(given, spec, state, shown, table, places, orders)
    return applied.in_ranges() if spec.recoding.declared.of_ranges else applied.in_numbers()


@dataclass(frozen=True)
class _Applied:
    """Rows, and the cuts that are to divide them."""

    given: Prepared
    spec: Spec
    state: Partitions
    shown: str
    table: Relation
    places: Mapping[int, int]
    orders: Mapping[str, str]

    def in_ranges(self) -> RecodingResult:
        """Classes that are released as ranges."""
        given, spec = self.given, self.spec
        ordered = orders_of(given, spec, [lookup.name for lookup in given.sets.lookups])
        columns = {index: given.columns[self.state.paths[index].name] for index in ordered}
        kinds = {index: bound_kind(columns[index], own.open) for index, own in ordered.items()}
        _refuse_others(
            self.shown, self.orders,
            {columns[index].name: order_kind(columns[index], own.open) for index, own in ordered.items()},
        )  # fmt: skip
        state = with_places(given, spec, self.state, ordered)
        items = columns_of_places(state.ranged, kinds, self.places)
        replayed(state, thresholds_of(state, self.table, items, orders_in(ordered, kinds)), items, "place", state.names)
        made = _whole(state, mapped(state))
        return RecodingResult(spec, given, made, state.judge, state.rounds, 0, None, KEPT, 0)

    def in_numbers(self) -> Microaggregated:
        """Classes that are released as numbers."""
        given, spec, state = self.given, self.spec, self.state
        units = units_of(given, spec)
        _refuse_others(self.shown, self.orders, {name: own.shown for name, own in units.items()})
        numbers = numbers_of(state, spec, units)
        items = columns_of_numbers(numbers, self.places)
        open_numbers(state, numbers, slices=False)
        thresholds = thresholds_of(state, self.table, items, tables_of(numbers))
        replayed(state, thresholds, items, "value", [f"value{own.index}" for own in numbers])
        made = _whole(state, aggregated(state, numbers, slices=False))
        return Microaggregated(
            spec, given, made, state.judge, state.rounds, 0, None, KEPT, 0,
            squares_lost=squares_lost(state, made, numbers),
        )  # fmt: skip


def _refuse_others(shown: str, learned: Mapping[str, str], asked: Mapping[str, str]) -> None:
    """Refuse columns whose values are no longer compared as they were.

    Raises:
        SpecError: there are some.
    """
    problems = [
        f"quasi_identifiers.{name}: {shown} was learned with values of the kind {learned.get(name, 'none')}, and "
        f"the new ones are of the kind {asked.get(name, 'none')}; cast the column in a source query, or learn "
        "the recoding again"
        for name in sorted({*learned, *asked})
        if learned.get(name) != asked.get(name)
    ]
    if problems:
        raise SpecError([Problem(problem) for problem in problems])


def _whole(state: Partitions, made: Mapped) -> Mapped:
    """The classes, which hold all rows.

    Raises:
        VerificationError: they do not.
    """
    if made.rows != state.kept_rows:
        raise VerificationError(
            f"the classes of the recoding hold {made.rows} rows of {state.kept_rows}; please report this with the "
            "engine's version"
        )
    return made
