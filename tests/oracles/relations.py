"""Several tables by brute force: persons, what other tables say of them, and who shares what may be known of one."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

__all__ = [
    "Table",
    "World",
    "fewest_sharing",
    "fewest_values",
    "largest_share",
    "least_loss",
    "linked",
    "linked_at",
    "random_world",
    "staying",
]

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """A table of a world: rows of key, key of the parent, and codes of two letters.

    Attributes:
        name: it.
        above: the parent's name; None for persons.
        columns: the names of the codes.
        rows: key, parent's key (None for persons), and a code for each column.
    """

    name: str
    above: str | None
    columns: Sequence[str]
    rows: Sequence[Row]


@dataclass(frozen=True)
class World:
    """Persons and the tables below them, each after its parent.

    Attributes:
        tables: by name.
    """

    tables: Mapping[str, Table]

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Table and column, in the order of a node."""
        return [(table.name, column) for table in self.tables.values() for column in table.columns]


LEVELS = 3
"""The code itself, its first letter, and nothing."""


def label(code: str, level: int) -> str:
    return (code, code[0] + "*", "*")[level]


def random_world(seed: int) -> World:
    """Up to four tables, of some persons and some rows each."""
    draw = random.Random(seed)
    shape = draw.choice([["a"], ["a", "b"], ["a", "ab"], ["a", "ab", "b"], ["a", "ab", "abc"]])
    letters = draw.choice(["xy", "xyz"])
    code = lambda: draw.choice(letters) + draw.choice("12")  # noqa: E731
    persons = draw.randint(4, 14)
    columns = ["p", "q"][: draw.randint(0, 2)]
    tables = {"person": Table("person", None, columns, [(i, None, *(code() for _ in columns)) for i in range(persons)])}
    for name in shape:
        above = "person" if len(name) == 1 else name[:-1]
        own = [f"{name}{number}" for number in range(draw.choice([1, 1, 2]) if name != "abc" else 1)]
        rows: list[Row] = []
        for parent in tables[above].rows:
            for _ in range(draw.choice([0, 1, 1, 2])):
                rows.append((len(rows), parent[0], *(code() for _ in own)))
        tables[name] = Table(name, above, own, rows)
    return World(tables)


def known(world: World, node: Sequence[int]) -> tuple[dict[Any, Row], dict[Any, set[Row]]]:
    """The class of every person, and their items, with one level for each column."""
    levels = dict(zip(world.columns, node, strict=True))
    classes: dict[Any, Row] = {}
    said: dict[str, dict[Any, tuple[Any, Row]]] = {"person": {}}
    items: dict[Any, set[Row]] = defaultdict(set)
    for table in world.tables.values():
        seen: Counter[Any] = Counter()
        own: dict[Any, tuple[Any, Row]] = {}
        for key, parent, *codes in table.rows:
            labels = tuple(
                label(code, levels[table.name, column]) for column, code in zip(table.columns, codes, strict=True)
            )
            if table.above is None:
                classes[key] = labels
                own[key] = key, ()
                continue
            person, above = said[table.above][parent]
            own[key] = person, (*above, *labels)
            seen[person, own[key][1]] += 1
            items[person].add((table.name, own[key][1], seen[person, own[key][1]]))
        said[table.name] = own
    return classes, items


def subsets(items: Iterable[Row], m: int | str) -> list[frozenset[Row]]:
    """What somebody may know who knows m items, or all of them."""
    listed = list(items)
    if m == "all":
        return [frozenset(listed)]
    return [frozenset(chosen) for size in range(int(m) + 1) for chosen in combinations(listed, size)]


def rare(classes: Mapping[Any, Row], items: Mapping[Any, set[Row]], k: int, m: int | str) -> set[Any]:
    """The persons of whom something may be known that fewer than k of their class share."""
    shared: Counter[tuple[Row, frozenset[Row]]] = Counter()
    of: dict[Any, list[tuple[Row, frozenset[Row]]]] = {}
    for person, vector in classes.items():
        sets = subsets(items.get(person, ()), m)
        of[person] = [(vector, found) for found in {frozenset[Row](), *sets}] if m != "all" else [(vector, sets[0])]
        shared.update(of[person])
    in_class = Counter(classes.values())
    return {
        person
        for person, found in of.items()
        if in_class[classes[person]] < k or any(shared[item] < k for item in found)
    }


def staying(world: World, node: Sequence[int], k: int, m: int | str) -> set[Any]:
    """The largest set of persons that satisfies: who violates goes, until nobody does."""
    classes, items = known(world, node)
    while gone := rare(classes, items, k, m):
        classes = {person: vector for person, vector in classes.items() if person not in gone}
    return set(classes)


def loss(world: World, node: Sequence[int]) -> float:
    """What a row loses on average, as the mean of the columns: other values under its label, of all other values."""
    total = 0.0
    for (name, column), level in zip(world.columns, node, strict=True):
        table = world.tables[name]
        codes = [row[2 + list(table.columns).index(column)] for row in table.rows]
        domain = set(codes)
        if len(domain) > 1:
            under = Counter(label(code, level) for code in domain)
            total += sum((under[label(code, level)] - 1) / (len(domain) - 1) for code in codes) / len(codes)
    return total / max(1, len(world.columns))


def least_loss(world: World, k: int, m: int | str, most: int) -> float | None:
    """What the best node loses at which at most so many persons are left out; None where there is none."""
    persons = len(world.tables["person"].rows)
    found = [
        loss(world, node)
        for node in product(range(LEVELS), repeat=len(world.columns))
        if persons - len(staying(world, node, k, m)) <= most
    ]
    return min(found, default=None)


def fewest_sharing(persons: Sequence[Row], tables: Mapping[str, tuple[str, Sequence[Row]]], m: int | str) -> int | None:
    """The fewest persons of a class who share what may be known, in released tables.

    Args:
        persons: key, then labels.
        tables: name -> parent and rows of key, parent's key, then labels; each after its parent.
        m: how many items are known.
    """
    classes = {row[0]: tuple(row[1:]) for row in persons}
    said: dict[str, dict[Any, tuple[Any, Row]]] = {"person": {key: (key, ()) for key in classes}}
    items: dict[Any, set[Row]] = defaultdict(set)
    for name, (above, rows) in tables.items():
        seen: Counter[Any] = Counter()
        said[name] = {}
        for key, parent, *labels in rows:
            person, before = said[above][parent]
            found = (*before, *labels)
            said[name][key] = person, found
            seen[person, found] += 1
            items[person].add((name, found, seen[person, found]))
    shared: Counter[tuple[Row, frozenset[Row]]] = Counter(
        (vector, found)
        for person, vector in classes.items()
        for found in {frozenset[Row](), *subsets(items[person], m)}
    )
    if m == "all":
        shared = Counter((vector, subsets(items[person], m)[0]) for person, vector in classes.items())
    return min(shared.values(), default=None)


def linked(persons: Sequence[Row], tables: Mapping[str, tuple[str, Sequence[Row]]]) -> Counter[Any]:
    """Released tables without their keys: each person's labels, with those of the rows below, as they join.

    Args:
        persons: key, then labels.
        tables: name -> parent and rows of key, parent's key, then labels; each after its parent.
    """
    below: dict[tuple[str, Any], Counter[Any]] = defaultdict(Counter)

    def tree(name: str, key: Any, labels: Row) -> Any:
        return tuple(labels), frozenset(below.pop((name, key), Counter[Any]()).items())

    for name, (above, rows) in reversed(list(tables.items())):
        for key, parent, *labels in rows:
            below[above, parent][name, tree(name, key, tuple(labels))] += 1
    return Counter(tree("person", key, tuple(labels)) for key, *labels in persons)


def linked_at(world: World, node: Sequence[int], stay: set[Any]) -> Counter[Any]:
    """What :func:`linked` is of a release of the persons who stay, with one level for each column."""
    levels = dict(zip(world.columns, node, strict=True))
    rows: dict[str, list[Row]] = {}
    there: dict[str, set[Any]] = {"person": stay}
    for table in world.tables.values():
        own = [row for row in table.rows if (row[0] in stay if table.above is None else row[1] in there[table.above])]
        there[table.name] = {row[0] for row in own}
        at = [levels[table.name, column] for column in table.columns]
        rows[table.name] = [(key, parent, *map(label, codes, at)) for key, parent, *codes in own]
    persons = [(key, *labels) for key, _, *labels in rows.pop("person")]
    return linked(persons, {name: (str(world.tables[name].above), found) for name, found in rows.items()})


def largest_share(persons: Sequence[Row], tables: Mapping[str, tuple[str, Sequence[Row]]], m: int) -> Fraction:
    """The largest share of the persons who share what may be known who have one sensitive value in one of their rows.

    Args:
        persons: key, labels, and last a sensitive value.
        tables: name -> parent and rows of key, parent's key, labels, and last a sensitive value; each after its parent.
        m: how many items are known at most.
    """
    classes = {row[0]: tuple(row[1:-1]) for row in persons}
    held: dict[Any, set[Any]] = defaultdict(set)
    for row in persons:
        held[row[0]].add(("person", row[-1]))
    said: dict[str, dict[Any, tuple[Any, Row]]] = {"person": {key: (key, ()) for key in classes}}
    items: dict[Any, set[Row]] = defaultdict(set)
    for name, (above, rows) in tables.items():
        said[name] = {}
        for key, parent, *labels, value in rows:
            person, before = said[above][parent]
            found = (*before, *labels)
            said[name][key] = person, found
            items[person].add((name, found, sum(1 for item in items[person] if item[:2] == (name, found))))
            held[person].add((name, value))
    largest = Fraction(0)
    for vector in set(classes.values()):
        own = [person for person in classes if classes[person] == vector]
        for known in {found for person in own for found in subsets(items[person], m)}:
            sharing = [person for person in own if known <= items[person]]
            for column, value in {value for person in sharing for value in held[person] if value[1] is not None}:
                having = sum(1 for person in sharing if (column, value) in held[person])
                largest = max(largest, Fraction(having, len(sharing)))
    return largest


def fewest_values(persons: Sequence[Row]) -> int:
    """The fewest different sensitive values of a class; the value is the last of a person's row."""
    values: dict[Row, set[Any]] = defaultdict(set)
    for row in persons:
        values[tuple(row[1:-1])].update({row[-1]} - {None})
    return min(map(len, values.values()))
