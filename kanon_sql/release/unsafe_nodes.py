"""What is known not to be safe beside earlier releases: nodes that were compared, and those that tell as much or more.

Let J(n) be the joint classes of the earlier releases and of node n. Where the search may suppress nothing, every node
shows the same rows, and a specialization of n has joint classes that are parts of those of n: where J(n) breaks a
requirement that merging classes never breaks, so does it. Where the earlier releases show every row, going above a
level that is out already changes no joint class: two nodes at or above it that agree in all other columns both fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kanon_sql.evaluate import is_sound
from kanon_sql.models import model_of
from kanon_sql.release.ledger import Entry
from kanon_sql.search import Node, Verdict, generalizes
from kanon_sql.spec import Spec

__all__ = ["UnsafeNodes"]


class UnsafeNodes:
    """The nodes that need not be compared any more: a container.

    Args:
        spec: what the new release is asked to be.
        entries: the earlier releases.
        held: the columns that earlier releases show by the same hierarchy -> the lowest level; the nodes that are asked
            about are at or above these.
        rows: of the source.
    """

    def __init__(self, spec: Spec, entries: Sequence[Entry], held: Mapping[str, int], rows: int) -> None:
        asked = [*spec.privacy, *(requirement for entry in entries for requirement in entry.privacy)]
        self._merging_helps = all(
            is_sound(model_of(requirement), by_person=spec.unit is not None, may_suppress=False)
            for requirement in asked
        )
        self._keeps_all = not spec.suppression.allows_some
        self._all_shown = spec.nulls == "value" and all(_shows_all(entry, rows) for entry in entries)
        self._free = [position for position, name in enumerate(spec.quasi_identifiers) if name not in held]
        self._lowest = tuple(held.get(name, 0) for name in spec.quasi_identifiers)
        self._found: list[Verdict] = []

    def add(self, verdict: Verdict) -> None:
        """Remember a node that was compared, and is not safe."""
        self._found.append(verdict)

    def __contains__(self, node: object) -> bool:
        return any(isinstance(node, tuple) and self._follows(unsafe, node) for unsafe in self._found)

    def __len__(self) -> int:
        """How many were compared."""
        return len(self._found)

    def _follows(self, unsafe: Verdict, node: Node) -> bool:
        """Whether a node is unsafe since another one is."""
        if node == unsafe.node:
            return True
        if not self._merging_helps:
            return False
        comparable = self._all_shown and generalizes(unsafe.node, self._lowest)
        if self._keeps_all:
            no_more = comparable and generalizes(self._others(unsafe.node), self._others(node))
            return no_more or generalizes(unsafe.node, node)
        above = generalizes(node, unsafe.node) and self._others(node) == self._others(unsafe.node)
        return comparable and above and unsafe.suppressed == 0

    def _others(self, node: Node) -> Node:
        """The levels of the columns that no earlier release shows as the node may."""
        return tuple(node[position] for position in self._free)


def _shows_all(entry: Entry, rows: int) -> bool:
    return entry.rows.get("suppressed") == 0 and entry.rows.get("source") == rows and not entry.drops_nulls
