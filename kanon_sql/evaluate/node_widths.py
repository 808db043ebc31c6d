"""How wide the labels of a lattice node are, by its levels and the lookup tables."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum, log

from kanon_sql.engines import Workspace
from kanon_sql.evaluate.label_widths import LabelWidths
from kanon_sql.frequency import FrequencySets
from kanon_sql.search import Node
from kanon_sql.sql import PORTABLE, Sql, identifier, literal, relation, render, slot

__all__ = ["node_widths", "sized", "width_fills", "width_slots"]


def sized(sets: FrequencySets, node: Node) -> list[int]:
    """The quasi-identifiers strictly between level 0, where labels are values, and their top."""
    return [index for index in sets.keyed(node) if node[index] > 0]


def _domain(sets: FrequencySets, columns: Iterable[int]) -> float:
    """The logarithm of the vectors that some columns can have."""
    return fsum(log(sets.lookups[index].domain_rows) for index in columns)


def _at_top(sets: FrequencySets, node: Node) -> Sql:
    keyed = sets.keyed(node)
    return literal(_domain(sets, [index for index, _ in enumerate(node) if index not in keyed]))


def node_widths(sets: FrequencySets, node: Node) -> LabelWidths:
    """The widths of a lattice node's labels, as portable SQL."""
    sizes = [
        render(
            "frequency/sizes",
            code=Sql(sets.codes.from_lookup(index, node[index], PORTABLE)),
            size=identifier(f"s{node[index]}"),
            table=relation(sets.lookups[index].table),
            name="label_size",
        )
        for index in sized(sets, node)
    ]
    labels = [Sql(sets.codes.code(index, node[index], PORTABLE)) for index in sized(sets, node)]
    return LabelWidths(labels, sizes, _at_top(sets, node), _domain(sets, range(len(node))))


def width_slots(sets: FrequencySets, count: int) -> LabelWidths:
    """The same of a node with N columns between level 0 and their top; :func:`width_fills` fills the slots."""
    sizes = [
        render(
            "frequency/sizes",
            code=slot(f"label_code_{position}"),
            size=slot(f"label_size_{position}"),
            table=slot(f"label_lookup_{position}"),
            name="label_size",
        )
        for position in range(count)
    ]
    labels = [slot(f"label_{position}") for position in range(count)]
    return LabelWidths(labels, sizes, slot("at_top"), _domain(sets, range(len(sets.lookups))))


def width_fills(workspace: Workspace, sets: FrequencySets, node: Node) -> dict[str, str]:
    """What fills the slots for a node."""
    compiler = workspace.compiler
    fills = {"at_top": str(_at_top(sets, node))}
    for position, index in enumerate(sized(sets, node)):
        fills |= {
            f"label_{position}": sets.codes.code(index, node[index], compiler.dialect),
            f"label_code_{position}": sets.codes.from_lookup(index, node[index], compiler.dialect),
            f"label_size_{position}": compiler.quote(f"s{node[index]}"),
            f"label_lookup_{position}": workspace.quoted(sets.lookups[index].table),
        }
    return fills
