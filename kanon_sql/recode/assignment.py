"""How many new persons go where in m-invariant classes: arithmetic on the counts of sensitive values.

After phases 2 and 3 of the algorithm of Xiao and Tao ("m-Invariance", SIGMOD 2007, section 5). A multiset of values is
m-eligible if none of them is more than 1/m of it; exactly then it can be divided into sets of at least m different
values. The paper balances bucket by bucket, and takes a new person only if those who are left stay m-eligible. Here
it is worked out for all buckets at once how many can be taken, which is never fewer.

Values are numbers here, and persons are counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.errors import VerificationError

__all__ = ["Quotas", "Step", "assigned", "balanced"]


@dataclass(frozen=True)
class Quotas:
    """How many new persons balance buckets.

    Attributes:
        forced: value -> as many at least, or those who are left would not be m-eligible.
        most: value -> as many at most: those who are there, and those who are lacking.
        spare: how many more than the forced ones, over all values.
    """

    forced: Mapping[int, int]
    most: Mapping[int, int]
    spare: int


@dataclass(frozen=True)
class Step:
    """New persons who fill one set of values.

    Attributes:
        values: the set.
        taken: of each of them this many persons.
    """

    values: tuple[int, ...]
    taken: int


def balanced(available: Mapping[int, int], missing: Mapping[int, int], m: int) -> Quotas | None:
    """The most new persons that can balance buckets, such that those who are left are m-eligible.

    With R persons left, no value may have more than M = floor(R / m) of them. What is left of a value v is at least
    a(v) - u(v), u(v) being the smaller of its persons and of those that are lacking. So M is at least the largest of
    these, and R at least m times that, and at least the sum of them. The least such R will do if the values that have
    more than M persons can lose what is above it, and if not, no larger one does: the sum of what each value has, cut
    off at M, less m M, is a concave function of M that is 0 at 0.

    Args:
        available: value -> new persons.
        missing: value -> rows that buckets lack.
        m: how many different values a class has at least.

    Returns:
        How many of each value; None where the persons left would not be m-eligible, no matter who is taken.
    """
    persons = sum(available.values())
    most = {value: min(count, missing.get(value, 0)) for value, count in available.items()}
    kept = max((count - most[value] for value, count in available.items()), default=0)
    left = max(persons - sum(most.values()), m * kept)
    forced = {value: max(0, count - left // m) for value, count in available.items()}
    spare = persons - left - sum(forced.values())
    return None if spare < 0 else Quotas(forced, most, spare)


def assigned(left: Mapping[int, int], m: int) -> Sequence[Step]:
    """Divide an m-eligible multiset of values into sets of at least m different ones.

    Each step fills one set with as many persons of each of its values as leave the rest m-eligible: the b most frequent
    values, b being the least number from m on for which that is possible at all.

    Args:
        left: value -> persons.
        m: how many different values a set has at least.

    Raises:
        VerificationError: they are not m-eligible.
    """
    counts = {value: count for value, count in left.items() if count}
    found: dict[tuple[int, ...], int] = {}
    while counts:
        order = sorted(counts, key=lambda value: (-counts[value], value))
        taken, size = _step([counts[value] for value in order], m)
        values = tuple(sorted(order[:size]))
        found[values] = found.get(values, 0) + taken
        counts = {
            value: count - (taken if value in values else 0)
            for value, count in counts.items()
            if count > (taken if value in values else 0)
        }
    return [Step(values, taken) for values, taken in found.items()]


def _step(counts: Sequence[int], m: int) -> tuple[int, int]:
    """How many persons of how many of the most frequent values; counts in descending order.

    Let q = floor(n / m) for n persons: an m-eligible multiset has no value more often than q times, and if c values are
    that frequent, one person of each of the max(m, c) most frequent ones leaves it m-eligible, since c q is at most n.
    """
    persons = sum(counts)
    for size in range(m, len(counts) + 1):
        following = counts[size] if size < len(counts) else 0
        taken = min(counts[size - 1], (persons - m * following) // size)
        if size > m:
            taken = min(taken, (persons - m * counts[0]) // (size - m))
        elif m * counts[0] > persons:
            break
        if taken > 0:
            return taken, size
    raise VerificationError("the persons of the recoding are not m-eligible; please report this, and no values")
