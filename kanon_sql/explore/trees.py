"""The tree of a column's hierarchy, for a page to rebuild it: out of the spec, or out of the values of the table.

What the spec holds is shown, as its controls show it. What only the table holds is asked for where
``--allow-reveal`` allows it. The tree that a user makes comes back as any other hierarchy does, and the spec's own
checks judge it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.explore.work import Tools
from kanon_sql.spec import QuasiIdentifier, Spec
from kanon_sql.verbs.result import Cost

__all__ = ["MOST_LABELS", "Drawn", "TableTree", "can_be_drawn", "tree_of_rows", "tree_of_spec", "tree_of_table"]

MOST_LABELS = 400
"""A tree with more is not drawn: no user would move this many by hand."""

Labels = dict[str, "Labels"]
"""Label -> what is below it; a value has nothing below."""


@dataclass(frozen=True)
class Drawn:
    """A tree to draw.

    Attributes:
        index: the column's position among the quasi-identifiers.
        name: the column.
        kind: of its hierarchy in the spec; ``value`` where it has none.
        nodes: label and what is below it, in pairs; None is below a value.
        top: the spec writes the top ``*``, which is kept.
        labels: how many there are, also where that is too many to draw.
    """

    index: int
    name: str
    kind: str
    nodes: Sequence[Any]
    top: bool = False
    labels: int = 0


@dataclass(frozen=True)
class TableTree:
    """A tree out of the values of the table, and what it took."""

    drawn: Drawn
    cost: Cost


def can_be_drawn(item: QuasiIdentifier) -> bool:
    """Whether a tree could stand for this hierarchy."""
    return item.hierarchy.drawn


def tree_of_spec(spec: Spec, name: str) -> Drawn:
    """What the spec itself holds: its tree, or nothing to begin with.

    Raises:
        SpecError: a hierarchy that is no tree of labels.
    """
    index, item = _item(spec, name)
    tree = _written(item)
    top = list(tree) == ["*"]
    return _drawn(index, name, item.hierarchy.name, tree["*"] if top else tree, top=top)


def _written(item: QuasiIdentifier) -> Mapping[str, Any]:
    """The tree that the spec holds; empty where it holds none."""
    found: Mapping[str, Any] = getattr(item.hierarchy, "tree", {})
    return found


def tree_of_table(spec: Spec, name: str) -> Callable[[Tools], TableTree]:
    """The values of the table under the labels that the hierarchy gives them; those that it lacks are outermost.

    Raises:
        SpecError: a hierarchy that is no tree of labels.
    """
    from kanon_sql.verbs.hierarchy import hierarchy

    index, item = _item(spec, name)

    def ask(tools: Tools) -> TableTree:
        found = hierarchy(tools.engine, spec, [name], reveal=MOST_LABELS + 1, report=tools.report)
        (own,) = found.hierarchies
        if own.values > MOST_LABELS:
            return TableTree(Drawn(index, name, item.hierarchy.name, (), labels=own.values), found.cost)
        rows = [labels[:-1] if labels[-1] == "*" else labels for labels, _ in own.examples]
        tree = tree_of_rows([*rows, *((value,) for value in own.missing_values)])
        top = list(_written(item)) == ["*"]
        return TableTree(_drawn(index, name, item.hierarchy.name, tree, top=top), found.cost)

    return ask


def tree_of_rows(rows: Iterable[Sequence[str]]) -> Labels:
    """A tree out of labels from the value up: a label that is repeated by the next level is one.

    A value that is also the label of a group stands inside it.
    """
    tree: Labels = {}
    values = set()
    for row in sorted(rows, key=lambda labels: tuple(reversed(labels))):
        path = tuple(label for label, _ in groupby(reversed(row)))
        place = tree
        for label in path:
            place = place.setdefault(label, {})
        values.add(path)
    for path in values:
        place = tree
        for label in path:
            place = place[label]
        if place:
            place.setdefault(path[-1], {})
    return tree


def _item(spec: Spec, name: str) -> tuple[int, QuasiIdentifier]:
    item = spec.quasi_identifiers[name]
    if not can_be_drawn(item):
        raise SpecError(
            f"quasi_identifiers.{name}: its hierarchy is {item.hierarchy.name}, which is not a tree of labels; "
            "choose a column of texts"
        )
    return list(spec.quasi_identifiers).index(name), item


def _drawn(index: int, name: str, kind: str, tree: Mapping[str, Any], *, top: bool) -> Drawn:
    labels = _counted(tree)
    return Drawn(index, name, kind, _nodes(tree) if labels <= MOST_LABELS else (), top, labels)


def _counted(tree: Mapping[str, Any]) -> int:
    return sum(1 + _counted(below) for below in tree.values())


def _nodes(tree: Mapping[str, Any]) -> list[Any]:
    return [[label, _nodes(below) if below else None] for label, below in tree.items()]
