"""The optimal partition of one column of numbers: no other one has smaller squares (Hansen, Mukherjee 2003).

In an optimal partition a class is a run of the sorted rows, of k to 2k - 1 of them: so it is a shortest path over the
places between rows. All of it is done in SQL, in statements whose number grows with the logarithm of the rows:

    places   the sorted rows, in blocks of 2k - 1: no step of a path is longer, so each path has a place in each block
    paths    the best way from each place of a block to each place of the next, each the first that a path has there
    doubled  the best ways over two, four, eight blocks, and so on, from those over half as many
    halved   back again: which places the best way over all blocks goes through
"""

from __future__ import annotations

from kanon_sql.recode.partitions import Partitions
from kanon_sql.sql import Relation

__all__ = ["MOST_WAYS", "can_be_optimal", "divide_optimally"]

MOST_WAYS = 2**26
"""How many ways are compared at most: the rows times the square of 2k - 1."""

_DIGITS = tuple((digit,) for digit in range(10))


def can_be_optimal(rows: int, k: int) -> bool:
    """Whether that is few enough rows; with k = 1 nothing has to be divided well."""
    return k > 1 and rows * (2 * k - 1) ** 2 <= MOST_WAYS


def divide_optimally(state: Partitions, ordered: Relation, index: int) -> None:
    """Divide the open partitions, slices of vectors, by one column.

    Args:
        state: the partitions.
        ordered: their slices in the order of the column, with the rows and the sums before each.
        index: the column's number.
    """
    least = state.judge.least_size
    slice_rows, part_rows = state.row("microaggregation/optimal/most_rows", {"ordered": ordered})
    if not part_rows:
        return
    places = _places(state, ordered, slice_rows, least)
    context = {"least": least, "width": 2 * least - 1}
    levels = [state.make("microaggregation/optimal/paths", "paths0", {"places": places}, {}, **context)]
    nodes = part_rows // (2 * least - 1) + 1
    while nodes > 1:
        what = f"paths{len(levels)}"
        levels.append(state.make("microaggregation/optimal/doubled", what, {"paths": levels[-1]}))
        nodes = (nodes + 1) // 2
    chosen = state.make("microaggregation/optimal/whole", "whole", {"paths": levels[-1]})
    while len(levels) > 1:
        tables = {"chosen": chosen, "paths": levels[-1]}
        halved = state.make("microaggregation/optimal/halved", f"halved{len(levels)}", tables)
        for used in (chosen, levels.pop()):
            state.workspace.drop(used)
        chosen = halved
    tables = {"open": state.open, "places": places, "chosen": chosen, "paths": levels[0]}
    fills = {"first": str(state.last)}
    moved = state.make("microaggregation/optimal/moved", "open_optimal", tables, fills, index=index)
    state.advance(moved, state.last)
    for used in (chosen, levels[0], places):
        state.workspace.drop(used)


def _places(state: Partitions, ordered: Relation, slice_rows: int, least: int) -> Relation:
    """The places between rows."""
    digits = range(len(str(slice_rows)))
    numbers = state.workspace.dialect.numbers
    fills = {f"digits{place}": numbers(f"digits{place}", ["digit"], _DIGITS) for place in digits}
    counting = state.make("microaggregation/optimal/counting", "counting", {}, fills, digits=len(digits))
    places = state.make(
        "microaggregation/optimal/places", "places", {"ordered": ordered, "counting": counting}, {},
        width=2 * least - 1,
    )  # fmt: skip
    state.workspace.drop(counting)
    return places
