"""What an attacker with background knowledge may come to know of one person of a table, by trying everything.

The table shows, for each class, its persons (here: numbers) and how often each sensitive value occurs among them. Each
way to hand the values out to the persons is a world, and all worlds are equally likely. Knowledge rules worlds out.
Nothing here knows a formula of the package: probabilities are counted worlds, and the worst case is the worst of all
knowledge of a form. Only :func:`by_bucket` is the dynamic program of the paper, for tables that are too large to try.

NULL is no value: rows without one stand in no world.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import prod
from typing import Any

Histogram = Mapping[Any, int]
World = tuple[Any, ...]


def without_null(histogram: Histogram) -> dict[Any, int]:
    return {value: count for value, count in histogram.items() if value is not None and count}


def worlds_of(table: Sequence[Histogram]) -> list[World]:
    """The values of all persons, class by class, in every world."""
    of_classes = []
    for histogram in map(without_null, table):
        values = [value for value, count in histogram.items() for _ in range(count)]
        of_classes.append(sorted(set(permutations(values))))
    return [tuple(value for part in world for value in part) for world in product(*of_classes)]


def _masks(worlds: Sequence[World]) -> dict[tuple[int, Any], int]:
    """Per atom (person, value), the worlds in which it holds, as bits."""
    found: dict[tuple[int, Any], int] = {}
    for number, world in enumerate(worlds):
        for person, value in enumerate(world):
            found[person, value] = found.get((person, value), 0) | 1 << number
    return found


# --- Martin et al.: k basic implications ----------------------------------------------------


def by_implications(table: Sequence[Histogram], k: int) -> Fraction:
    """The largest belief in somebody's value that any k basic implications lead to.

    A basic implication says: if all of some atoms hold, then one of some others does, with one atom at least on either
    side. So it rules out the worlds in which all of the first hold and none of the others.
    """
    worlds = worlds_of(table)
    atoms = set(_masks(worlds).values())
    every = (1 << len(worlds)) - 1

    def closed(combine: Any) -> set[int]:
        found, new = set(atoms), set(atoms)
        while new:
            new = {combine(one, atom) for one in new for atom in atoms} - found
            found |= new
        return found

    all_of, some_of = closed(lambda a, b: a & b), closed(lambda a, b: a | b)
    single = {conjunction & ~disjunction for conjunction in all_of for disjunction in some_of}
    ruled_out = {0}
    for _ in range(k):
        ruled_out = {known | more for known in ruled_out for more in single}
    left = [every & ~known for known in ruled_out if known != every]
    return max(Fraction((atom & known).bit_count(), known.bit_count()) for atom in atoms for known in left)


def by_bucket(table: Sequence[Histogram], k: int, of: int | None = None) -> Fraction:
    """The same by the paper's dynamic program over buckets (MINIMIZE1, MINIMIZE2), each of them used once at most.

    ``of``: the class whose persons' values are believed; any by default.
    """
    classes = [sorted(without_null(histogram).values(), reverse=True) for histogram in table]

    def least(counts: Sequence[int], atoms: int) -> Fraction:
        """The least probability in one class that none of so many atoms holds: MINIMIZE1."""
        total = sum(counts)

        @cache
        def rest(person: int, most: int, left: int) -> Fraction:
            if not left:
                return Fraction(1)
            if person >= total:
                return Fraction(0)
            found = []
            for given in range(1, min(most, left) + 1):
                held = total - person - sum(counts[:given])
                share = Fraction(max(held, 0), total - person)
                found.append(share * rest(person + 1, given, left - given) if share else Fraction(0))
            return min(found)

        return rest(0, atoms, atoms)

    @cache
    def over(number: int, left: int, placed: bool) -> Fraction | None:
        """MINIMIZE2 from a class on; ``placed``: the atom that is believed stands in a class before it."""
        if number == len(classes):
            return Fraction(1) if placed and not left else None
        counts, found = classes[number], []
        for atoms in range(left + 1):
            own = least(counts, atoms)
            here = [(own, over(number + 1, left - atoms, placed))]
            if not placed and atoms and of in (None, number):
                here.append((own * sum(counts) / counts[0], over(number + 1, left - atoms, True)))
            found += [one * other for one, other in here if other is not None]
        return min(found, default=None)

    ratio = over(0, k + 1, False)
    assert ratio is not None
    return 1 / (1 + ratio)


# --- Chen, LeFevre, Ramakrishnan: (l, k, m) ---------------------------------------------------


def by_point(table: Sequence[Histogram], l: int, k: int, m: int) -> Fraction:  # noqa: E741 - the paper's letters
    """The largest belief that somebody has a value, from three kinds of knowledge about it.

    Up to l values that the person does not have, up to k other persons and the value of each, and up to m further
    persons, of each of whom is known: who has that value, then this person too.
    """
    worlds = worlds_of(table)
    masks = _masks(worlds)
    every = (1 << len(worlds)) - 1
    persons = range(len(worlds[0]))
    values = sorted({value for _, value in masks}, key=str)
    of_person = {person: [value for value in values if (person, value) in masks] for person in persons}
    worst = Fraction(0)
    for person, value in masks:
        others = [other for other in persons if other != person]
        lacks = set()
        for chosen in _up_to(l, [other for other in values if other != value]):
            known = every
            for other in chosen:
                known &= ~masks.get((person, other), 0)
            lacks.add(known)
        for told in _up_to(k, others):
            family = [other for other in others if other not in told]
            alike = set()
            for chosen in _up_to(m, family):
                known = every
                for other in chosen:
                    known &= ~masks.get((other, value), 0) | masks[person, value]
                alike.add(known)
            for held in product(*(of_person[other] for other in told)):
                known = every
                for other, its in zip(told, held, strict=True):
                    known &= masks[other, its]
                if known:
                    for one, other in product(lacks, alike):
                        left = known & one & other
                        if left:
                            belief = Fraction((left & masks[person, value]).bit_count(), left.bit_count())
                            worst = max(worst, belief)
    return worst


def _up_to(most: int, items: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    for number in range(min(most, len(items)) + 1):
        yield from combinations(items, number)


def by_groups(table: Sequence[Histogram], l: int, k: int, m: int, of: int | None = None) -> Fraction:  # noqa: E741
    """The same by counting: each of the told persons and of the family in any class, and the values by their counts.

    ``of``: the class whose persons' values are believed; any by default.
    """
    classes = [without_null(histogram) for histogram in table]
    ratios: list[Fraction] = []

    def ratio(histogram: Mapping[Any, int], value: Any, own: bool, told: int, family: int) -> Fraction:
        """What one class contributes, with so many of the told and of the family in it."""
        held, size, found = histogram.get(value, 0), sum(histogram.values()) - told, Fraction(1)
        if own:
            excluded = sum(sorted((count for other, count in histogram.items() if other != value), reverse=True)[:l])
            found = Fraction(max(size - held - excluded, 0), held)
        for step in range(int(own), family + int(own)):
            if held and found:
                found *= Fraction(max(size - held - step, 0), size - step) if size > step else 0
        return found

    for number, histogram in enumerate(classes):
        for value in histogram if of in (None, number) else ():
            least = {(0, 0): Fraction(1)}  # told and family in the classes so far -> the least product
            for place, other in enumerate(classes):
                if value in other or place == number:
                    more: dict[tuple[int, int], Fraction] = {}
                    for (told, family), before in least.items():
                        for here in product(range(k - told + 1), range(m - family + 1)):
                            now = before * ratio(other, value, place == number, *here)
                            spent = (told + here[0], family + here[1])
                            more[spent] = min(now, more.get(spent, now))
                    least = more
            ratios += least.values()
    return 1 / (1 + min(ratios))


# --- Machanavajjhala, Gehrke, Goetz: a Dirichlet prior ----------------------------------------


def by_prior(histogram: Histogram, prior: Mapping[Any, Fraction]) -> Fraction | None:
    """The largest factor by which a person's presence moves a belief, over all persons of a class and their values.

    The values of the class's persons are drawn from a distribution that is not known; what is believed of it is
    Dirichlet's with these parameters. Beliefs are added up over all ways to hand out values. None: no factor is enough.
    """
    counts = {value: count for value, count in histogram.items() if count}
    size = sum(counts.values())

    def weight(values: Sequence[Any]) -> Fraction:
        """How likely it is that persons have these values, one after another."""
        own = {value: values.count(value) for value in set(values)}
        drawn = prod(prior[value] + step for value, count in own.items() for step in range(count))
        return Fraction(drawn) / prod(sum(prior.values()) + step for step in range(len(values)))

    def belief(known: Mapping[Any, int], persons: int, value: Any) -> Fraction:
        """In the first person's value, if the last of so many show how often they have each value."""
        shown = [other for other, count in known.items() for _ in range(count)]
        hidden = persons - len(shown)
        worlds = [
            (*before, *after)
            for before in product(prior, repeat=hidden)
            for after in sorted(set(permutations(shown)), key=str)
        ]
        total = sum(weight(world) for world in worlds)
        return sum((weight(world) for world in worlds if world[0] == value), Fraction(0)) / total

    worst = Fraction(1)
    for own in counts:
        others = {value: count - (value == own) for value, count in counts.items()}
        for value in prior:
            inside, outside = belief(counts, size, value), belief(others, size, value)
            for one, other in ((inside, outside), (1 - outside, 1 - inside)):
                if one and not other:
                    return None
                if one:
                    worst = max(worst, one / other)
    return worst


def by_factors(histogram: Histogram, prior: Mapping[Any, Fraction] | None, sigma: Fraction | None) -> Fraction | None:
    """The same by counting, for a prior's shares; for the prior that moves furthest, None; sigma None: infinite."""
    counts = {value: count for value, count in histogram.items() if count}
    size, worst = sum(counts.values()), Fraction(1)
    for value, count in counts.items():
        share = None if prior is None else prior.get(value, Fraction(0))
        if sigma is None:
            assert share is not None
            outside = share
        else:
            own = Fraction(1) if share is None else sigma * share
            outside = (own + count - 1) / (sigma + size - 1)
        inside = Fraction(count, size)
        for one, other in ((inside, outside), (1 - outside, 1 - inside)):
            if one > 0 and not other:
                return None
            if one > 0:
                worst = max(worst, one / other)
    return worst
