"""Labels that are ranges of values, as tables.

A range is labelled by values that released rows of its class hold, and a single value by itself. Where the source's own
values are the domain, a range that begins with the lowest or ends with the highest of them is open there, as with
``k_optimize``: no label says what the source's extremes are. The order is the one that ``k_optimize`` cuts as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kanon_sql.errors import HierarchyError, Problem
from kanon_sql.evaluate import Order
from kanon_sql.recode.paths import Dimension
from kanon_sql.sql import Relation

if TYPE_CHECKING:
    from kanon_sql.recode.partitions import Partitions

__all__ = ["KINDS", "Ranges", "ranges_of"]

KINDS = 3
"""A released label is a value, a range of values, or the top."""


@dataclass(frozen=True)
class Ranges:
    """What labels of a column stand for that are ranges of its values.

    Attributes:
        table: every ``label``, with the first and the last place of its values in their order, ``low_place`` and
            ``high_place``, and whether NULL is among them, ``has_null``.
        order: the order of the column's values.
    """

    table: Relation
    order: Relation


def ranges_of(
    state: Partitions, dimensions: Sequence[Dimension], orders: Mapping[int, Order], boxes: Relation
) -> dict[int, Ranges]:
    """The ranges of some quasi-identifiers, with their labels, by the number of the quasi-identifier.

    Args:
        state: the partitions.
        dimensions: the quasi-identifiers.
        orders: the order of each.
        boxes: what the partitions hold in each: ``low<i>``, ``high<i>`` and ``null<i>``.

    Raises:
        HierarchyError: two ranges of a quasi-identifier would have the same label.
    """
    ranges = {item.index: _ranges(state, item, orders[item.index], boxes) for item in dimensions}
    _refuse_same_labels(state, ranges)
    return ranges


def _ranges(state: Partitions, item: Dimension, order: Order, boxes: Relation) -> Ranges:
    """The ranges of one quasi-identifier, with their labels."""
    table = state.make(
        "mondrian/ranges", f"ranges{item.index}", {"boxes": boxes, "order": order.table},
        index=item.index, open=order.open, values=item.values, domain_rows=item.domain_rows, top=item.top,
    )  # fmt: skip
    return Ranges(table, order.table)


def _refuse_same_labels(state: Partitions, ranges: Mapping[int, Ranges]) -> None:
    """Refuse texts that would stand for two sets of values."""
    if not ranges:
        return
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
