"""Trees of vectors divided into parts of at least k rows: the decomposition of Aggarwal et al. 2005.

A vertex is a vector with all of its rows; an edge costs what its two vectors differ by. The rows of a part are
connected by edges of the tree, in which vectors that have no row in the part may stand between others (Steiner
vertices), and no edge serves two parts. A part loses in a column at most what its edges cost there, so a row of it
loses at most what they cost together, and all parts at most ``largest(k)`` times what the trees cost.

Every vertex hands the rows of its children that have no part yet, fewer than k each, and its own to parts of k rows to
2k - 2, and what is left over, fewer than k, to its parent. What is left at a root joins the part that was made nearest
to it, at some vertex v: no part has an edge between v and the root. In terms of v, these are branches of fewer than k
rows each, with a row of v among them, 3k - 3 rows at most. From ``max(2k, 3k - 4)`` rows on they can be halved: if a
branch has k - 1 rows, it makes a half with that row; otherwise, since all have k - 2 at most, branches taken in
descending order until they have k rows have 2k - 4 at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kanon_sql.errors import VerificationError

__all__ = ["Part", "Tree", "largest", "parts_of"]

Part = list[tuple[int, int]]
"""Vectors by number, with how many of their rows."""

Tree = Mapping[int, tuple[int, int]]
"""Vector -> its parent, 0 for a root, and how many rows it has: k or more only if it is a root."""


def largest(k: int) -> int:
    """The most rows of a part that has different vectors."""
    return max(2 * k - 1, 3 * k - 5)


def parts_of(trees: Tree, k: int) -> list[Part]:
    """Divide trees into parts of at least k rows.

    Args:
        trees: every one of at least k rows.
        k: the least size of a part.

    Returns:
        The parts. One of different vectors has :func:`largest` rows at most; one of a single vector may have more.

    Raises:
        VerificationError: a tree has fewer than k rows.
    """
    children: dict[int, list[int]] = {vector: [] for vector in trees}
    roots: list[int] = []
    for vector, (parent, _) in sorted(trees.items()):
        (children[parent] if parent else roots).append(vector)
    return [part for root in roots for part in _Division(trees, children, k).of(root)]


def _rows(items: Sequence[Part]) -> int:
    return sum(rows for item in items for _, rows in item)


class _Division:
    """One tree.

    Attributes:
        made: vertex -> the parts that were made at it, each the branches that it consists of.
        left: vertex -> the branches that it hands to its parent together.
    """

    def __init__(self, trees: Tree, children: Mapping[int, Sequence[int]], k: int) -> None:
        self.trees, self.children, self.k = trees, children, k
        self.made: dict[int, list[list[Part]]] = {}
        self.left: dict[int, list[Part]] = {}

    def of(self, root: int) -> list[Part]:
        """The parts of the tree of a root."""
        order = [root]  # parents before their children
        for vector in order:
            order += self.children[vector]
        for vector in reversed(order):
            self._gather(vector)
        if self.left[root]:
            nearest = next((vector for vector in order if self.made[vector]), None)
            if nearest is None:
                raise VerificationError(
                    f"a tree of the recoding has fewer than {self.k} rows; please report this with the engine's version"
                )
            self._settle(root, nearest)
        return [_together(part) for vector in order for part in self.made[vector]]

    def _gather(self, vector: int) -> None:
        """Make parts of what the children of a vertex hand to it, and of its own rows."""
        own = self.trees[vector][1]
        made: list[list[Part]] = []
        current: list[Part] = []
        for child in self.children[vector]:
            if self.left[child]:
                current.append(_together(self.left[child]))
            if _rows(current) >= self.k:
                made.append(current)
                current = []
        missing = self.k - _rows(current)
        if current and own >= missing:
            made.append([*current, *[[(vector, 1)]] * missing])
            current, own = [], own - missing
        if not current and own >= self.k:
            made.append([[(vector, own)]])
            own = 0
        self.made[vector] = made
        self.left[vector] = [*current, *[[(vector, 1)]] * own]

    def _settle(self, root: int, nearest: int) -> None:
        """Let what is left over at the root join the part that was made nearest to it, and halve both if possible."""
        branches = self.left[nearest]
        if nearest != root:
            own = {vector for branch in branches for vector, _ in branch}
            above = [[item for item in branch if item[0] not in own] for branch in self.left[root]]
            branches = [*branches, _together(above)]
        self.made[nearest] += _halved([*self.made[nearest].pop(), *branches], self.k)


def _halved(branches: Sequence[Part], k: int) -> list[list[Part]]:
    """Two parts of at least k rows each, or one where that cannot be: the sums of some branches are tried."""
    total = _rows(branches)
    sums: dict[int, tuple[int, ...]] = {0: ()}
    for place, branch in enumerate(branches):
        for rows, chosen in list(sums.items()):
            sums.setdefault(rows + _rows([branch]), (*chosen, place))
    half = min((rows for rows in sums if k <= rows <= total - k), default=None)
    if half is None:
        return [list(branches)]
    chosen = sums[half]
    rest = [branch for place, branch in enumerate(branches) if place not in chosen]
    return [[branches[place] for place in chosen], rest]


def _together(branches: Sequence[Part]) -> Part:
    """Branches as one, each vector once."""
    rows: dict[int, int] = {}
    for branch in branches:
        for vector, count in branch:
            rows[vector] = rows.get(vector, 0) + count
    return list(rows.items())
