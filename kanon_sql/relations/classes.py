"""Classes of persons: all whose own values are released alike, at one node of the levels of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from kanon_sql.engines import Workspace
from kanon_sql.relations.members import DIGITS, LabelledColumn, Member
from kanon_sql.sql import Relation

__all__ = [
    "PersonClasses",
    "class_names",
    "node_dict",
    "nodes_by_loss",
    "person_vectors",
    "persons_in_classes",
    "small_classes",
]

BATCH = 50
"""Nodes that are asked about by one statement."""


@dataclass(frozen=True)
class PersonClasses:
    """The persons who stay, each with a class.

    Attributes:
        node: the level of each quasi-identifier of persons.
        table: ``person`` and ``class``; a scratch table.
        left_out: how many persons are in no class.
    """

    node: Sequence[int]
    table: Relation
    left_out: int


def nodes_by_loss(columns: Sequence[LabelledColumn]) -> list[tuple[int, ...]]:
    """All nodes of some columns, those that lose least first; equal ones in the order of their levels."""
    nodes = product(*(column.levels for column in columns))
    return sorted(nodes, key=lambda node: (round(loss_of(columns, node), DIGITS), node))


def loss_of(columns: Sequence[LabelledColumn], node: Sequence[int]) -> float:
    """What a row loses on average at a node, as the mean of the columns; 0 without columns."""
    if not columns:
        return 0.0
    return sum(column.losses[level] for column, level in zip(columns, node, strict=True)) / len(columns)


def code_names(columns: Sequence[LabelledColumn], node: Sequence[int]) -> list[str]:
    """The columns of coded rows that hold the labels of a node; one whose labels are all alike is left out."""
    return [
        f"g{column.number}_{level}" for column, level in zip(columns, node, strict=True) if column.counts[level] > 1
    ]


def class_names(person: Member, node: Sequence[int]) -> list[str]:
    """The columns of coded persons that say which class they are in at a node."""
    return [*code_names(person.columns, node), *person.row_counts]


def person_vectors(workspace: Workspace, person: Member) -> Relation:
    """How many persons have each vector of labels: a scratch table that answers for every node."""
    names = [f"g{column.number}_{level}" for column in person.columns for level in column.levels]
    names += person.row_counts
    table = workspace.table("person_vectors")
    workspace.execute("relations/vectors", target=table, coded=person.coded, names=names)
    return table


def small_classes(
    workspace: Workspace, person: Member, vectors: Relation, nodes: Sequence[Sequence[int]], k: int
) -> list[int]:
    """How many persons are in classes of fewer than k, at each of some nodes."""
    found: dict[int, int] = {}
    filled = workspace.compiler.filled
    for start in range(0, len(nodes), BATCH):
        branches = [
            filled(
                "relations/small_classes",
                {"number": str(number)},
                vectors=vectors,
                names=tuple(class_names(person, node)),
                k=k,
            )
            for number, node in enumerate(nodes[start : start + BATCH], start)
        ]
        rows = workspace.query(workspace.compiler.union(branches), len(branches))
        found |= {int(number): int(persons) for number, persons in rows}
    return [found[number] for number in range(len(nodes))]


def persons_in_classes(
    workspace: Workspace, person: Member, node: Sequence[int], k: int, left_out: int, what: str = "classes"
) -> PersonClasses:
    """The class of every person at a node, without those whose class has fewer than k."""
    table = workspace.table(what)
    names = class_names(person, node)
    workspace.execute("relations/classes", target=table, coded=person.coded, names=names, k=k)
    return PersonClasses(node, table, left_out)


def node_dict(members: Mapping[str, Member], nodes: Mapping[str, Sequence[int]]) -> dict[str, dict[str, int]]:
    """Table -> column -> level."""
    return {
        name: {column.name: level for column, level in zip(members[name].columns, node, strict=True)}
        for name, node in nodes.items()
    }
