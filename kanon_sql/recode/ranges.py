"""Labels that are ranges of values: what a class is released as where its columns are cut anywhere in their order.

A range is labelled by values that released rows of its class hold, and a single value by itself. Where the source's own
values are the domain, a range that begins with the lowest or ends with the highest of them is open there, as with
``k_optimize``: no label says what the source's extremes are. The order is the one that ``k_optimize`` cuts as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.errors import HierarchyError, Problem
from kanon_sql.evaluate import Order, order_of
from kanon_sql.frequency import Prepared
from kanon_sql.recode.partitions import Partitions
from kanon_sql.recode.paths import Path
from kanon_sql.recode.release import Mapped, Ranges, described
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation

__all__ = ["Dimension", "dimensions_of", "labelled"]

_KINDS = 3
"""A released label is a value, a range of values, or the top."""


@dataclass(frozen=True)
class Dimension:
    """One quasi-identifier, by the places of its values in their order.

    Attributes:
        index: its number among them.
        word: the word of a vector that holds its code.
        mask: the bits of that code.
        values: values of the domain, NULL left out: the place of NULL.
        domain_rows: values of the domain.
        unit: what a step from one value to the next is worth: the weight over the steps.
        top: the top's label.
        ordered: it has values below the top.
    """

    index: int
    word: int
    mask: int
    values: int
    domain_rows: int
    unit: float
    top: str
    ordered: bool


def dimensions_of(given: Prepared, spec: Spec, state: Partitions) -> tuple[list[Dimension], dict[int, Order]]:
    """The quasi-identifiers, and the orders of those that have values below the top."""
    orders = {
        lookup.index: order_of(given.workspace, spec, given.columns[lookup.name], given.sets, lookup)
        for lookup in given.sets.lookups
        if lookup.height
    }
    nulls = [spec.nulls == "value" and lookup.has_nulls for lookup in given.sets.lookups]
    return [_dimension(path, null) for path, null in zip(state.paths, nulls, strict=True)], orders


def _dimension(path: Path, null: bool) -> Dimension:
    return Dimension(
        index=path.index,
        word=path.word,
        mask=path.masks[0],
        values=path.domain_rows - null,
        domain_rows=path.domain_rows,
        unit=path.unit,
        top=path.top,
        ordered=path.height > 0,
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
    ranges = {item.index: _ranges(state, item, orders[item.index], boxes) for item in ordered}
    _refuse_same_labels(state, ranges)
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
        columns=described(state.workspace, classes, state.paths, _KINDS * len(dimensions)),
        vectors=state.vectors,
        ranges=ranges,
        slices=slices,
    )


def _ranges(state: Partitions, item: Dimension, order: Order, boxes: Relation) -> Ranges:
    """The ranges of one quasi-identifier, with their labels."""
    table = state.make(
        "mondrian/ranges", f"ranges{item.index}", {"boxes": boxes, "order": order.table},
        index=item.index, open=order.open, values=item.values, domain_rows=item.domain_rows, top=item.top,
    )  # fmt: skip
    return Ranges(table, order.table)


def _refuse_same_labels(state: Partitions, ranges: Mapping[int, Ranges]) -> None:
    """Refuse texts that would stand for two sets of values."""
    tables = {index: {"ranges": own.table} for index, own in ranges.items()}
    found = state.workspace.each("recode/mondrian/same_labels", len(tables), tables)
    problems = [
        Problem(
            f"quasi_identifiers.{state.paths[attribute].name}: {same} of its ranges would have the label of another "
            "one; recode its values in a source query"
        )
        for attribute, same in sorted(found)
        if same
    ]
    if problems:
        raise HierarchyError(problems)
