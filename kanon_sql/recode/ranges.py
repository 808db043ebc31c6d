"""Columns that are cut anywhere in the order of their values: these orders, and the classes that result.

What a class is released as there is in :mod:`kanon_sql.recode.range_labels`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kanon_sql.evaluate import Order, order_of
from kanon_sql.frequency import Prepared
from kanon_sql.recode.partitions import Partitions
from kanon_sql.recode.paths import Dimension, dimension_of
from kanon_sql.recode.range_labels import KINDS, ranges_of
from kanon_sql.recode.release import Mapped, described
from kanon_sql.spec import Spec

__all__ = ["dimensions_of", "labelled", "orders_of", "with_places"]


def dimensions_of(given: Prepared, spec: Spec, state: Partitions) -> tuple[list[Dimension], dict[int, Order]]:
    """The quasi-identifiers, and the orders of those that have values below the top."""
    return _dimensions(given, spec, state), orders_of(given, spec, [lookup.name for lookup in given.sets.lookups])


def orders_of(given: Prepared, spec: Spec, names: Collection[str]) -> dict[int, Order]:
    """The orders of some quasi-identifiers, by number: of those that have values below the top."""
    return {
        lookup.index: order_of(given.workspace, spec, given.columns[lookup.name], given.sets, lookup)
        for lookup in given.sets.lookups
        if lookup.height and lookup.name in names
    }


def _dimensions(given: Prepared, spec: Spec, state: Partitions) -> list[Dimension]:
    nulls = [spec.nulls == "value" and lookup.has_nulls for lookup in given.sets.lookups]
    return [dimension_of(path, null) for path, null in zip(state.paths, nulls, strict=True)]


def with_places(given: Prepared, spec: Spec, state: Partitions, orders: Mapping[int, Order]) -> Partitions:
    """Partitions that have just begun, with the places of the values in the columns that are released as ranges.

    Args:
        given: the frequency sets.
        spec: what to anonymize and how.
        state: the partitions.
        orders: the order of each of these columns.
    """
    if not orders:
        return state
    ranged = tuple(item for item in _dimensions(given, spec, state) if item.index in orders)
    tables = {f"order_{index}": order.table for index, order in orders.items()}
    vectors = state.make(
        "mondrian/places", "placed", {"vectors": state.vectors, **tables},
        attributes=ranged, words=state.names, by_person=state.judge.by_person, slices=False,
    )  # fmt: skip
    return replace(
        state,
        judge=replace(state.judge, vectors=vectors),
        open=vectors,
        ranged=ranged,
        orders=orders,
    )


def labelled(
    state: Partitions, dimensions: Sequence[Dimension], orders: Mapping[int, Order], *, slices: bool = False
) -> Mapped:
    """The classes that partitions become: those that hold the same ranges are one.

    Args:
        state: the partitions, with the place of every value.
        dimensions: the quasi-identifiers.
        orders: the order of each that has one.
        slices: whether rows of one vector may be in several partitions.

    Raises:
        HierarchyError: two ranges of a quasi-identifier would have the same label.
    """
    ordered = tuple(item for item in dimensions if item.ordered)
    boxes = state.make("mondrian/boxes", "boxes", {"open": state.open}, attributes=ordered)
    ranges = ranges_of(state, ordered, orders, boxes)
    tables = {f"ranges_{index}": own.table for index, own in ranges.items()}
    classes = state.make("mondrian/class_labels", "classes", {"boxes": boxes, **tables}, attributes=tuple(dimensions))
    classed = state.make(
        "mondrian/classed", "classed", {"open": state.open, "boxes": boxes, "vectors": state.vectors},
        words=state.names, by_person=state.judge.by_person, slices=slices,
    )  # fmt: skip
    count, rows, squares = state.row("summary", {"classes": classes})
    return Mapped(
        classed=classed,
        classes=classes,
        names=state.names,
        paths=state.paths,
        count=count,
        rows=rows,
        squares=squares,
        columns=described(state.workspace, classes, state.paths, KINDS * len(dimensions)),
        vectors=state.vectors,
        ranges=ranges,
        slices=slices,
    )
