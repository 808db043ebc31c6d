"""What no recoding with labels of hierarchies can do without: a lower bound of the mean loss.

The labels of a released row are those of some node of the lattice, and its class lies inside of its class at that node.
Where a requirement holds of every class that contains one that satisfies, the row loses at least what the cheapest node
costs at which its class satisfies. A row without such a node is suppressed, whatever is done.

Rows are not released one by one, though. Where a row has company at a node only among rows that lose less elsewhere,
these must lose more with it, k of them. So every row gets a share of what is lost, first what it loses at least; and
where shares leave room, they are raised. They add up to no more than is lost as long as, in every class that satisfies,
no k rows have more than these k lose there together: a class of a release is made of k rows or more of one of them, and
those beyond the k that have the most have less than they lose. (In terms of linear programs: covering rows by classes,
its dual, and ascent on the dual.) The definition and the argument are ours.

Where the lattice has too many nodes, neighbouring levels of a column are taken as one: satisfying at the highest of
them is necessary, and what the lowest costs is lost at least. That bound is lower, and still one; nothing is raised.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from kanon_sql.frequency import Prepared
from kanon_sql.models import Monotonicity
from kanon_sql.recode.paths import PRICE
from kanon_sql.search import Node
from kanon_sql.spec import Count, Document, Share
from kanon_sql.sql import Relation, Sql, render

if TYPE_CHECKING:
    from kanon_sql.recode.partitions import Partitions
    from kanon_sql.recode.sweep import Prices

__all__ = ["MOST_CLASSED", "NODES_A_STATEMENT", "RAISES", "Bound", "bound_of"]

MOST_CLASSED = 2**28
"""How often vectors are classed at most, all nodes together: Adult's 19,502 at all of its 12,960 nodes, and no more."""

NODES_A_STATEMENT = 256
"""How many nodes a statement asks about."""

RAISES = 2
"""How often shares are raised: on Adult, k = 10, from .0431 to .0576; what more would give costs as much again."""

SHARES = tuple(PRICE * 3**power // 4**power for power in range(4, 16, 2))
"""The shares above which rows are looked at, from a third to a hundredth of everything; any are right."""

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


def bound_of(given: Prepared, highest: Node, *, in_classes: bool = True) -> Bound | None:
    """The bound; None where no requirement holds of every class that contains one that satisfies.

    Args:
        given: the frequency sets, and the requirements.
        highest: the highest levels allowed.
        in_classes: whether rows are released in classes that satisfy. Else each row needs others that its labels cover,
            which may have other labels themselves, and nothing is raised.
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
    exact, size = all(low == high for own in blocks.values() for low, high in own), state.judge.least_size
    lost_at_least = _lost_at_least(state, prices, nodes)
    for number in range(RAISES if in_classes and exact and size > 1 else 0):
        lost_at_least = _raised(state, prices, nodes, lost_at_least, number)
    (lost,) = state.row("bound", {"vectors": state.vectors, "bounded": lost_at_least}, all_lost=PRICE)
    sets = given.sets
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


def _lost_at_least(state: Partitions, prices: Prices, nodes: Sequence[tuple[Node, Node]]) -> Relation:
    """What a row of every vector loses at least: what the cheapest node costs at which its class satisfies."""
    judge = state.judge
    cells = render("recode/at_nodes", words=state.codes, by_person=judge.by_person, batch=False, shared=False)
    classes, same_levels = judge.flagged(cells, _keys(state), "vector"), all(paid == made for paid, made in nodes)
    tables = {"open": state.vectors, "prices": prices.table, **judge.tables}
    return _by_nodes(state, nodes, "bounded", tables, cells, classes, most=False, same_levels=same_levels)


def _raised(
    state: Partitions, prices: Prices, nodes: Sequence[tuple[Node, Node]], before: Relation, number: int
) -> Relation:
    """The share of a row of every vector, raised by what the classes of all nodes leave."""
    size, names = state.judge.least_size, state.names
    shared = state.make("shared", f"shared{number}", {"vectors": state.vectors, "bounded": before}, words=names)
    cells = render("recode/at_nodes", words=state.codes, by_person=False, batch=False, shared=True)
    classes = render("recode/crowded", cells=cells, keys=_keys(state), size=size, shares=SHARES)
    tables = {"open": shared, "prices": prices.table}
    room = _by_nodes(state, nodes, "room", tables, cells, classes, most=True, size=size)
    raised = state.make("raised_shares", f"raised{number}", {"shared": shared, "room": room}, all_lost=PRICE)
    for used in (before, shared, room):
        state.workspace.drop(used)
    return raised


def _by_nodes(
    state: Partitions,
    nodes: Sequence[tuple[Node, Node]],
    what: str,
    tables: Mapping[str, Relation],
    cells: Sql,
    classes: Sql,
    *,
    most: bool,
    **context: Hashable,
) -> Relation:
    """What a figure of vectors is at least, by all nodes: the levels that are paid for, and those of the classes."""
    from kanon_sql.recode.sweep import nodes_table

    keys = _keys(state)
    priced = render(
        "recode/priced",
        keys=keys, attributes=state.cuttable, numbers=None, most=most, every=False, flagged=classes,
    )  # fmt: skip
    least: Relation | None = None
    for start in range(0, len(nodes), NODES_A_STATEMENT):
        before = least
        table = nodes_table(state, nodes[start : start + NODES_A_STATEMENT])
        used = {"nodes": table, **tables}
        least = state.make(
            what, f"{what}{start}", used if before is None else {**used, "before": before},
            cells=cells, priced=priced, keys=keys, attributes=state.cuttable, before=before is not None, **context,
        )  # fmt: skip
        for over in (table, before):
            if over is not None:
                state.workspace.drop(over)
    assert least is not None
    return least


def _keys(state: Partitions) -> tuple[str, ...]:
    """What a class at some node is distinguished by."""
    return ("node", *(f"key{word}" for word in range(len(state.words))))
