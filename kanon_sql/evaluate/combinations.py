"""Which rows are left where every combination of values of a few columns has to be frequent.

A row with a rare combination is dropped, and is missing from its other combinations, which may then be rare. So rounds
follow until a look at all sets of columns finds nothing rare: the largest set of rows without a rare combination, which
is the same in whatever order rows are dropped (:mod:`kanon_sql.models.privacy.combined_k`). Rows that look alike go
together, so it is classes of a node that are dropped. Each set of columns is one GROUP BY over packed keys. On DuckDB,
a UNION ALL of these took half the time of GROUPING SETS, which keep all columns for every set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Workspace
from kanon_sql.evaluate.class_unions import Unions
from kanon_sql.evaluate.classes import LeftClasses
from kanon_sql.models import PrivacyModel
from kanon_sql.search import Node
from kanon_sql.sql import Relation, slot

__all__ = ["Combinations", "FrequentClasses"]

JOINS = 8
"""Sets of columns whose rare combinations are dropped by one statement: a join each."""

KEPT_TABLES = 64
"""Nodes whose classes are remembered; what was found of others is found again when it is asked for."""


@dataclass(frozen=True)
class FrequentClasses:
    """The classes of a node that are left, since none of their combinations is rare.

    Attributes:
        table: their packed keys, ``k0`` and so on, and their rows.
        rarest: by the number of each requirement on combinations, the rows of the rarest one; 0 where no row is left.
    """

    table: Relation
    rarest: Mapping[int, int]

    @property
    def slots(self) -> LeftClasses:
        """For a statement that is compiled once."""
        return LeftClasses(slot("standing"), {index: slot(f"rarest_{index}") for index in self.rarest})

    def fills(self, workspace: Workspace) -> dict[str, str]:
        """What fills these slots."""
        return {
            "standing": workspace.quoted(self.table),
            **{f"rarest_{index}": str(rows) for index, rows in self.rarest.items()},
        }


class Combinations:
    """Finds what is left of nodes.

    Args:
        workspace: where statements run.
        models: the requirements; those on combinations are taken.
        keys: a node -> the keys of its classes by each set of columns, over the packed keys of all.
        begin: a node and a table's name -> makes it of the classes that satisfy all other requirements: ``k0`` and so
            on, and ``class_rows``. It returns how many keys there are.
    """

    def __init__(
        self,
        workspace: Workspace,
        models: Sequence[PrivacyModel],
        keys: Callable[[Node], Unions],
        begin: Callable[[Node, Relation], int],
    ) -> None:
        self._workspace = workspace
        self._models = {index: model for index, model in enumerate(models) if model.to_fixpoint}
        self._keys = keys
        self._begin = begin
        self._known: dict[Node, FrequentClasses | None] = {}
        self._made = 0

    def of(self, node: Node) -> FrequentClasses | None:
        """What is left of a node; None where it has one class alone, of which all combinations are."""
        if node not in self._known:
            self._known[node] = self._found(node)
        return self._known[node]

    def room_for(self, nodes: Sequence[Node]) -> None:
        """Forget what was found of other nodes, where that is much."""
        if len(self._known) + len(nodes) <= KEPT_TABLES:
            return
        for node in [node for node in self._known if node not in nodes]:
            left = self._known.pop(node)
            if left is not None:
                self._workspace.drop(left.table)

    def _found(self, node: Node) -> FrequentClasses | None:
        keys = self._keys(node)
        if not any(keys.values()):
            return None
        standing = self._table()
        count = self._begin(node, standing)
        asked = [
            (index, own, int(model.parameters()["k"])) for index, model in self._models.items() for own in model.sets
        ]
        while True:
            found = self._counted(standing, [(keys[own], k) for _, own, k in asked])
            rare = [(keys[own], k) for (_, own, k), (least, _) in zip(asked, found, strict=True) if least < k]
            if not rare or not any(classes for _, classes in found):
                break
            for start in range(0, len(rare), JOINS):
                standing = self._dropped(standing, count, rare[start : start + JOINS])
        rarest = {
            index: min(least for (own, _, _), (least, _) in zip(asked, found, strict=True) if own == index)
            for index in self._models
        }
        return FrequentClasses(standing, rarest)

    def _counted(self, standing: Relation, asked: Sequence[tuple[Sequence[str], int]]) -> list[tuple[int, int]]:
        """Per set of columns, the rows of the rarest combination, and how many combinations there are."""
        found: dict[int, tuple[int, int]] = {}
        size = self._workspace.capabilities.nodes_per_statement
        for start in range(0, len(asked), size):
            chunk = asked[start : start + size]
            fills = {"standing": self._workspace.quoted(standing)}
            for number, (keys, _) in enumerate(chunk):
                fills |= {f"key_{number}_{place}": key for place, key in enumerate(keys)}
            shape = tuple(len(keys) for keys, _ in chunk)
            statement = self._workspace.compiler.filled("evaluate/combinations/counted", fills, shape=shape)
            for number, least, classes in self._workspace.query(statement, len(chunk)):
                found[start + int(number)] = (int(least or 0), int(classes) if least is not None else 0)
        return [found.get(number, (0, 0)) for number, _ in enumerate(asked)]

    def _dropped(self, standing: Relation, count: int, rare: Sequence[tuple[Sequence[str], int]]) -> Relation:
        """The classes without those that have a rare combination of some sets of columns."""
        target = self._table()
        fills = {"standing": self._workspace.quoted(standing)}
        for number, (keys, k) in enumerate(rare):
            fills |= {f"key_{number}_{place}": key for place, key in enumerate(keys)}
            fills[f"k_{number}"] = str(k)
        shape = tuple(len(keys) for keys, _ in rare)
        self._workspace.run(
            self._workspace.compiler.filled(
                "evaluate/combinations/dropped", fills, target=self._workspace.quoted(target), shape=shape, keys=count
            )
        )
        self._workspace.drop(standing)
        return target

    def _table(self) -> Relation:
        self._made += 1
        return self._workspace.table(f"standing{self._made}")
