"""What no recoding with labels of hierarchies can do without: a lower bound of the mean loss.

The labels of a released row are those of some node of the lattice, and its class lies inside of its class at that node.
Where a requirement holds of every class that contains one that satisfies, the row loses at least what the cheapest node
costs at which its class satisfies. A row without such a node is suppressed, whatever is done.

Where the lattice has too many nodes, neighbouring levels of a column are taken as one: satisfying at the highest of
them is necessary, and what the lowest costs is lost at least. That bound is lower, and still one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from kanon_sql.frequency import Prepared
from kanon_sql.models import Monotonicity
from kanon_sql.recode.paths import PRICE
from kanon_sql.search import Node
from kanon_sql.spec import Count, Document, Share
from kanon_sql.sql import Relation, render

if TYPE_CHECKING:
    from kanon_sql.recode.partitions import Partitions
    from kanon_sql.recode.sweep import Prices

__all__ = ["MOST_CLASSED", "NODES_A_STATEMENT", "Bound", "bound_of"]

MOST_CLASSED = 2**28
"""How often vectors are classed at most, all nodes together: Adult's 19,502 at all of its 12,960 nodes, and no more."""

NODES_A_STATEMENT = 256
"""How many nodes a statement asks about."""

Block = tuple[int, int]
"""Levels of a column that are taken as one: the lowest and the highest."""


@dataclass(frozen=True)
class Bound(Document):
    """A lower bound of the mean loss of a cell, columns weighted as the spec says.

    Attributes:
        mean_loss: no recoding with these hierarchies loses less.
        exact: whether every node was asked about; else it may be higher.
        nodes: how many were.
    """

    mean_loss: Share
    exact: bool
    nodes: Count


def bound_of(given: Prepared, highest: Node) -> Bound | None:
    """The bound; None where no requirement holds of every class that contains one that satisfies.

    Args:
        given: the frequency sets, and the requirements.
        highest: the highest levels allowed.
    """
    from kanon_sql.recode.partitions import begin
    from kanon_sql.recode.sweep import prices_of

    by_person = given.sets.counting != "rows"
    lasting = [
        model
        for model in given.models
        if model.lasting(by_person) is Monotonicity.ALWAYS and model.quasi_identifiers is None
    ]
    if not lasting:
        return None
    given.workspace.report("computing a lower bound", None)
    state = begin(given.workspace.apart("bound_"), given.sets, lasting, highest)
    prices = prices_of(state)
    (vectors,) = state.row("count", {"table": state.vectors})
    blocks = _blocks(state, prices, max(1, MOST_CLASSED // max(1, vectors)))
    nodes = [
        (tuple(low for low, _ in node), tuple(high for _, high in node))
        for node in product(*(blocks[path.index] for path in state.paths))
    ]
    least: Relation | None = None
    for start in range(0, len(nodes), NODES_A_STATEMENT):
        least = _less(state, prices, nodes[start : start + NODES_A_STATEMENT], least, start)
    assert least is not None
    (lost,) = state.row("bound", {"vectors": state.vectors, "bounded": least}, all_lost=PRICE)
    sets = given.sets
    exact = all(low == high for own in blocks.values() for low, high in own)
    return Bound((lost + sets.null_rows * PRICE) / (PRICE * sets.rows), exact, len(nodes))


def _blocks(state: Partitions, prices: Prices, most: int) -> Mapping[int, list[Block]]:
    """Per column its levels, those that cost nearly the same taken as one until there are few enough nodes."""
    blocks = {path.index: [(level, level) for level in range(path.low, path.high + 1)] for path in state.paths}
    while prod(map(len, blocks.values())) > most:
        index, place = min(
            ((index, place) for index, own in blocks.items() for place in range(len(own) - 1)),
            key=lambda at: (_apart(prices, at[0], blocks[at[0]], at[1]), at),
        )
        own = blocks[index]
        blocks[index] = [*own[:place], (own[place][0], own[place + 1][1]), *own[place + 2 :]]
    return blocks


def _apart(prices: Prices, index: int, own: Sequence[Block], place: int) -> int:
    """What all rows together may lose less where two blocks are one."""
    means = prices.means[index]
    return means[own[place + 1][0]] - means[own[place][0]]


def _less(
    state: Partitions, prices: Prices, nodes: Sequence[tuple[Node, Node]], before: Relation | None, number: int
) -> Relation:
    """What every vector loses at least, by some more nodes: the levels that are paid for, and those of the classes."""
    from kanon_sql.recode.sweep import nodes_table

    judge = state.judge
    table = nodes_table(state, nodes, f"nodes{number}")
    keys = ("node", *(f"key{word}" for word in range(len(state.words))))
    cells = render("recode/at_nodes", words=state.codes, by_person=judge.by_person, batch=False)
    priced = render(
        "recode/priced",
        keys=keys,
        attributes=state.cuttable,
        numbers=None,
        flagged=judge.flagged(cells, keys, "vector"),
    )
    tables = {"open": state.vectors, "nodes": table, "prices": prices.table, **judge.tables}
    found = state.make(
        "bounded", f"bounded{number}", tables if before is None else {**tables, "before": before},
        cells=cells, priced=priced, keys=keys, before=before is not None,
    )  # fmt: skip
    for used in (table, before):
        if used is not None:
            state.workspace.drop(used)
    return found
