"""Random tables and hierarchies: a batch of small worlds with one set of domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.random import Generator

from tests.small_worlds.worlds import NULL, Ints, Rows

TABLES = 32
"""Tables in a batch."""

QUASI_IDENTIFIERS = ("q0", "q1", "q2", "q3")
SENSITIVE = ("s0", "s1")
UNIT = "unit"
COLUMNS = (*QUASI_IDENTIFIERS, *SENSITIVE, UNIT)

Cell = str | int
"""What a column's domain holds."""

VALUES = ("", "a", "A", "a ", "é", "e", "1", "-1", "10")
"""Texts that a careless collation, trim or cast would merge."""
DIAGNOSES = ("", "x", "X", "x ", "flu")
AMOUNTS = (-5, 0, 3, 10, 47, 100)
PERSONS = ("u1", "U1", "u 1", *(f"p{number}" for number in range(40)))
LEAVES = 5
SIZES = (0, 1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 20, 24, 24, 30, 36, 40)
TOP = "*"


@dataclass(frozen=True)
class Hierarchy:
    """A nested hierarchy of a column.

    Attributes:
        groups: per level 0, 1, ..., the group of every value; the last has one group.
        labels: per level, the texts of these groups.
    """

    groups: Sequence[Ints]
    labels: Sequence[Sequence[str]]

    @property
    def height(self) -> int:
        return len(self.groups) - 1

    def path(self, value: int) -> list[str]:
        """The labels of a value at levels 0, 1, ..."""
        return [texts[groups[value]] for groups, texts in zip(self.groups, self.labels, strict=True)]

    def paths(self) -> list[list[str]]:
        return [self.path(value) for value in range(len(self.groups[0]))]

    @property
    def fits_a_tree(self) -> bool:
        """A tree with one outermost label ends there, and one without a step is no tree."""
        return self.height > 1 and len(self.labels[-2]) > 1

    def tree(self) -> dict[str, object]:
        found: dict[str, object] = {}
        for path in self.paths():
            inside: dict[str, object] = found
            for label in reversed(path[:-1]):
                inside = inside.setdefault(label, {})  # type: ignore[assignment]
        return found


@dataclass(frozen=True)
class Tables:
    """A batch of tables.

    Attributes:
        people: the tables that are checked or anonymized, a world each.
        origin: per world, the table that distributions are compared with.
        population: per world, persons among whom those of the table are sought.
        values: the domain of every column; a code is a place in it.
        hierarchies: of the quasi-identifiers, and of the sensitive attribute ``s0``.
    """

    people: Rows
    origin: Rows
    population: Rows
    values: Mapping[str, Sequence[Cell]]
    hierarchies: Mapping[str, Hierarchy]

    @property
    def kinds(self) -> dict[str, Rows]:
        """The tables of each name."""
        return {"people": self.people, "origin": self.origin, "population": self.population}

    def cells(self, kind: str) -> list[tuple[Cell | None, ...]]:
        """The rows of all tables of a name with their values, in the worlds' order."""
        columns = [
            [None if code == NULL else self.values[name][code] for code in self.kinds[kind].columns[name].tolist()]
            for name in names_of(kind)
        ]
        return list(zip(*columns, strict=True))


def names_of(kind: str) -> Sequence[str]:
    """The columns of the tables of a name."""
    return QUASI_IDENTIFIERS if kind == "population" else COLUMNS


def hierarchy(values: Sequence[str], rng: Random) -> Hierarchy:
    """Groups of groups, of one to three levels above the value."""
    groups = [np.arange(len(values))]
    labels = [list(values)]
    for level in range(1, rng.choice((1, 2, 2, 3))):
        below = len(labels[-1])
        parents = [rng.randrange(max(1, below // 2) + 1) for _ in range(below)]
        used = sorted(set(parents))
        place = np.array([used.index(parent) for parent in parents])
        groups.append(place[groups[-1]])
        labels.append([f"{level}g{group}" for group in range(len(used))])
    groups.append(np.zeros(len(values), dtype=np.int64))
    labels.append([TOP])
    return Hierarchy(groups, labels)


def draw_tables(rng: Random, numbers: Generator) -> Tables:
    """A batch of random tables."""
    values: dict[str, Sequence[Cell]] = {
        **{name: rng.sample(VALUES, LEAVES) for name in QUASI_IDENTIFIERS},
        "s0": DIAGNOSES,
        "s1": AMOUNTS,
        UNIT: PERSONS,
    }
    hierarchies = {name: hierarchy([str(value) for value in values[name]], rng) for name in QUASI_IDENTIFIERS}
    worlds = [_world(rng, numbers) for _ in range(TABLES)]
    return Tables(
        people=_joined([people for people, _, _ in worlds]),
        origin=_joined([origin for _, origin, _ in worlds]),
        population=_joined([population for _, _, population in worlds]),
        values=values,
        hierarchies={**hierarchies, "s0": hierarchy(DIAGNOSES, rng)},
    )


Arrays = dict[str, Ints]


def _joined(worlds: Sequence[Arrays]) -> Rows:
    sizes = [len(next(iter(world.values()))) for world in worlds]
    columns = {name: np.concatenate([world[name] for world in worlds]) for name in worlds[0]}
    return Rows(np.repeat(np.arange(len(worlds)), sizes), len(worlds), columns)


def _world(rng: Random, numbers: Generator) -> tuple[Arrays, Arrays, Arrays]:
    """A table, what it is compared with, and a population."""
    size = rng.choice(SIZES)
    people = _rows(rng, numbers, size)
    more = _rows(rng, numbers, rng.choice((0, 0, 5, 20)))
    kept = np.arange(size) if rng.random() < 0.8 else np.flatnonzero(numbers.random(size) < 0.9)
    origin = {name: np.concatenate([people[name][kept], more[name]]) for name in COLUMNS}
    copies = numbers.integers(0 if rng.random() < 0.3 else 1, rng.choice((2, 3, 5)), size)
    population = {name: np.concatenate([np.repeat(people[name], copies), more[name]]) for name in QUASI_IDENTIFIERS}
    return people, origin, population


def _rows(rng: Random, numbers: Generator, size: int) -> Arrays:
    """Rows whose vectors repeat more or less, of persons who have one vector or several."""
    vectors = rng.choice((1, 2, 3, 4, 6, 12))
    null = rng.choice((0, 0, 0, 0.1, 0.4))
    found: Arrays = {}
    persons = max(1, size // rng.choice((1, 1, 2, 3)))
    owner = numbers.integers(0, min(persons, len(PERSONS)), size)
    chosen = owner % vectors if rng.random() < 0.5 else numbers.integers(0, vectors, size)
    for name in QUASI_IDENTIFIERS:
        domain = numbers.integers(0, rng.choice((1, 2, 3, LEAVES)), vectors)
        domain[numbers.random(vectors) < null] = NULL
        found[name] = domain[chosen]
    for name, width in zip(SENSITIVE, (len(DIAGNOSES), len(AMOUNTS)), strict=True):
        found[name] = _held(rng, numbers, width, chosen)
    if rng.random() < 0.2:
        owner = np.where(numbers.random(size) < 0.2, NULL, owner)
    found[UNIT] = owner
    return found


def _held(rng: Random, numbers: Generator, width: int, vectors: Ints) -> Ints:
    """A sensitive attribute: even, skewed, or nearly told by the vector."""
    few, size = rng.randint(1, width), len(vectors)
    even = numbers.integers(0, few, size)
    kind = rng.choice(("even", "even", "skewed", "told", "turns"))
    if kind == "skewed":
        even = np.minimum(even, numbers.integers(0, few, size))
    elif kind == "told":
        even = np.where(numbers.random(size) < 0.7, vectors % few, even)
    elif kind == "turns":  # each value as often as the others, as far as that goes
        even = np.arange(size) % few
    if rng.random() < 0.25:
        even = np.where(numbers.random(size) < 0.25, NULL, even)
    return even
