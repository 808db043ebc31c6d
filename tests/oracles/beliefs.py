"""What an attacker with a background distribution believes, in plain Python over lists of rows.

`by_worlds` tries every table that the release may come of, `by_theorem` is theorem 3.1 of Machanavajjhala et al. 2007
written down; `test_beliefs.py` shows that they agree. Nothing here shares a line with the package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from tests.oracles.model import Hierarchy, Row, with_null

Vector = tuple[Any, ...]
Weights = Mapping[tuple[Vector, Any], Fraction]
"""(quasi-identifiers, sensitive value) -> weight."""
Posterior = dict[Any, Fraction]


def prior(background: Weights, person: Vector) -> Posterior | None:
    """f(s | q); None where nobody is known to have q."""
    total = sum(weight for (vector, _), weight in background.items() if vector == person)
    if not total:
        return None
    return {value: weight / total for (vector, value), weight in background.items() if vector == person and weight}


def by_worlds(background: Weights, person: Vector, members: set[Vector], released: Sequence[Any]) -> Posterior | None:
    """The posterior by counting worlds; None where the background makes the release impossible.

    A world says what the person has, and who each of the other rows of the class is: any vector that generalizes to
    it, with any value, drawn from the background. It counts, with its probability, if the class then shows what was
    released.

    Args:
        background: f.
        person: the quasi-identifiers of somebody who is known to be in the class.
        members: all vectors that generalize to the class.
        released: the class's sensitive values, one per row.
    """
    own = {value: weight for (vector, value), weight in background.items() if vector == person and weight}
    anybody = [(value, weight) for (vector, value), weight in background.items() if vector in members and weight]
    found: Counter[Any] = Counter()
    for value, weight in own.items():
        for others in product(anybody, repeat=len(released) - 1):
            if Counter([value, *(other for other, _ in others)]) == Counter(released):
                chance = weight
                for _, each in others:
                    chance *= each
                found[value] += chance
    total = sum(found.values())
    return {value: Fraction(found[value]) / total for value in own} if total else None


def of_known_people(background: Weights, people: Sequence[Vector], released: Sequence[Any]) -> Posterior | None:
    """The posterior about the first of some people, by an attacker who knows who each row of the class is."""
    own = [[(s, w) for (vector, s), w in background.items() if vector == person and w] for person in people]
    found: Counter[Any] = Counter()
    for world in product(*own):
        if Counter(value for value, _ in world) == Counter(released):
            chance = Fraction(1)
            for _, weight in world:
                chance *= weight
            found[world[0][0]] += chance
    total = sum(found.values())
    return {value: Fraction(found[value]) / total for value, _ in own[0]} if total else None


def by_theorem(background: Weights, person: Vector, members: set[Vector], released: Sequence[Any]) -> Posterior | None:
    """The posterior by theorem 3.1; None where it divides by nothing."""
    known = prior(background, person)
    population_size: Counter[Any] = Counter()
    for (vector, value), weight in background.items():
        if vector in members:
            population_size[value] += weight
    counts = Counter(released)
    if known is None or any(not population_size[value] for value in counts):
        return None
    shares = {value: counts[value] * belief / population_size[value] for value, belief in known.items()}
    total = sum(shares.values())
    return {value: share / total for value, share in shares.items()} if total else None


@dataclass(frozen=True)
class Judged:
    """A class: rows, the largest change of a belief (None: one does not exist), and the source's rows it exposes.

    And for each row of the source behind it whose belief exists, the belief in its value before and after.
    """

    rows: int
    change: Fraction | None
    exposed: int
    violates: bool
    beliefs: Sequence[tuple[Fraction, Fraction]]


def stands_for(cells: Vector, person: Vector, hierarchies: Mapping[str, Hierarchy]) -> bool:
    return all(
        cell in with_null(hierarchy)[value]
        for cell, value, hierarchy in zip(cells, person, hierarchies.values(), strict=True)
    )


def judge(
    source: Sequence[Row],
    released: Sequence[Row],
    background: Weights,
    hierarchies: Mapping[str, Hierarchy],
    attribute: str,
    *,
    delta: Fraction | None = None,
    epsilon: Fraction | None = None,
    theta: Fraction | None = None,
    tolerance: Fraction = Fraction(1, 10**9),
) -> list[Judged]:
    """Every class of a release by what it tells of the persons of the source behind it."""
    classes: dict[Vector, list[Any]] = {}
    for row in released:
        classes.setdefault(tuple(row[column] for column in hierarchies), []).append(row[attribute])
    people: dict[Vector, list[Any]] = {}
    for row in source:
        people.setdefault(tuple(row[column] for column in hierarchies), []).append(row[attribute])
    vectors = {vector for vector, _ in background} | set(people)
    found = []
    for cells, values in classes.items():
        members = {vector for vector in vectors if stands_for(cells, vector, hierarchies)}
        exposed, changes, strange = 0, [], False
        beliefs: list[tuple[Fraction, Fraction]] = []
        there = {vector: own for vector, own in people.items() if vector in members}
        for vector, own in there.items():
            before, after = prior(background, vector), by_theorem(background, vector, members, values)
            if before is None or after is None:
                strange, exposed = True, exposed + len(own)
                continue
            beliefs += [(before.get(value, Fraction(0)), after.get(value, Fraction(0))) for value in own]
            moved = [abs(after[value] - before[value]) for value in before]
            changes += moved
            bad = theta is not None and max(moved) > theta + tolerance
            for value in before:
                sure = delta is not None and after[value] > 1 - delta + tolerance >= before[value]
                bad |= sure and value in own
                ruled_out = epsilon is not None and after[value] < epsilon - tolerance <= before[value]
                bad |= ruled_out and set(own) != {value}
            exposed += len(own) if bad else 0
        strange |= not there
        change = None if strange else max(changes)
        found.append(Judged(len(values), change, exposed, strange or exposed > 0, beliefs))
    return found


def cells_of(judged: Sequence[Judged], fewest: int) -> tuple[list[tuple[int, int, int]], int]:
    """How many rows of the source are believed how much to have their value, before and after, in tenths.

    Cells of fewer than so many rows are left out, and one more where all left out would be fewer; and how many rows
    that is.
    """
    tenths = Counter(tuple(min(9, int(10 * belief)) for belief in pair) for item in judged for pair in item.beliefs)
    shown = sorted((before, after, rows) for (before, after), rows in tenths.items() if rows >= fewest)
    if shown and 0 < sum(rows for rows in tenths.values() if rows < fewest) < fewest:
        shown.remove(min(shown, key=lambda cell: cell[2]))
    return shown, sum(tenths.values()) - sum(rows for *_, rows in shown)
