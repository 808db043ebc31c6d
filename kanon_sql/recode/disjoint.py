"""The sets of a cover made disjoint, as by the operation Reduce of Meyerson and Williams 2004.

A set holds the rows that it covered first. One with fewer than k of them takes rows of the sets before it, from the
nearest vectors within its radius: a set of more than k rows gives one up; with a set of k rows it becomes one, which
has 2k - 1 rows at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.errors import VerificationError
from kanon_sql.recode.trees import Part

__all__ = ["CoveringSet", "disjoint"]


@dataclass(frozen=True)
class CoveringSet:
    """A set of a cover.

    Attributes:
        members: the vectors that it covers first -> their rows; the centre is the first.
        others: where these are fewer than k rows: vectors within its radius that sets before it cover, the nearest
            first -> their rows.
    """

    members: Mapping[int, int]
    others: Mapping[int, int]


def disjoint(sets: Sequence[CoveringSet], k: int) -> list[Part]:
    """Disjoint sets of at least k rows each.

    Args:
        sets: in the order in which they were taken. A vector of k rows or more that is in none is a set by itself.
        k: the least rows of a set.

    Returns:
        The parts. One of different vectors has 2k - 1 rows at most; one of a single vector may have more.

    Raises:
        VerificationError: a set cannot have k rows.
    """
    parts: list[Counter[int]] = []
    holders: dict[int, list[Counter[int]]] = {}

    def put(rows: Counter[int]) -> None:
        parts.append(rows)
        for vector in rows:
            holders.setdefault(vector, []).append(rows)

    for own in sets:  # nothing depends on the order of those that are large enough
        if sum(own.members.values()) >= k:
            for half in _halves(own.members, k):
                put(half)
    for own in sets:
        rows, missing = Counter(own.members), k - sum(own.members.values())
        for other, count in own.others.items() if missing > 0 else ():
            if other not in holders:
                put(Counter({other: count}))
            while missing and holders[other]:
                giver = max(holders[other], key=Counter.total)
                if giver.total() == k:  # the two become one
                    rows, missing = rows + giver, 0
                    _withdraw(parts, holders, giver)
                    break
                giver[other] -= 1
                if not giver[other]:
                    del giver[other]
                    holders[other] = [item for item in holders[other] if item is not giver]
                rows[other] += 1
                missing -= 1
        if missing > 0:
            raise VerificationError(
                f"a set of the recoding has fewer than {k} rows; please report this with the engine's version"
            )
        if sum(own.members.values()) < k:
            put(rows)
    return [sorted(part.items()) for part in parts]


def _withdraw(parts: list[Counter[int]], holders: dict[int, list[Counter[int]]], part: Counter[int]) -> None:
    parts[:] = [item for item in parts if item is not part]
    for vector in part:
        holders[vector] = [item for item in holders[vector] if item is not part]


def _halves(members: Mapping[int, int], k: int) -> list[Counter[int]]:
    """A set, in two of nearly as many rows where it has 2k of several vectors; the centre's are in the larger one."""
    rows = sum(members.values())
    if rows < 2 * k or len(members) == 1:
        return [Counter(members)]
    left, first, second = rows - rows // 2, Counter[int](), Counter[int]()
    for vector, count in members.items():
        taken = min(count, left)
        first[vector], second[vector] = taken, count - taken
        left -= taken
    return [+first, +second]
