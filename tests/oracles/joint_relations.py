"""Several releases of one world together, by brute force: what they show side by side, and whom an attacker finds."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from tests.oracles.relations import LEVELS, Row, World, label, rare, subsets

__all__ = ["Shown", "fewest_candidates", "fewest_jointly", "random_release"]


@dataclass(frozen=True)
class Shown:
    """A release with one level for each column.

    Attributes:
        levels: table -> column -> level; tables and columns that it does not show are left out.
        k, m: what it promises.
        counted: the tables of which it is known how many rows a person has.
    """

    levels: Mapping[str, Mapping[str, int]]
    k: int
    m: int | str
    counted: Sequence[str] = ()


def random_release(world: World, draw: random.Random, m: int | str) -> Shown:
    """Some of a world's tables and columns, each on some level."""
    levels: dict[str, dict[str, int]] = {}
    for name, table in world.tables.items():
        if table.above is None or (table.above in levels and draw.random() < 0.8):
            levels[name] = {column: draw.randrange(LEVELS) for column in table.columns if draw.random() < 0.85}
    below = [name for name in levels if name != "person"]
    counted = [draw.choice(below)] if below and draw.random() < 0.2 else []
    return Shown(levels, draw.choice([2, 2, 3]), m, counted)


def whose(world: World) -> dict[str, list[tuple[Any, list[tuple[str, Row]]]]]:
    """Each row of each table below persons: whose it is, and the codes of it and of the rows above it, by table."""
    found: dict[str, list[tuple[Any, list[tuple[str, Row]]]]] = {}
    at: dict[str, dict[Any, tuple[Any, list[tuple[str, Row]]]]] = {}
    for name, table in world.tables.items():
        at[name] = {}
        for key, parent, *codes in table.rows:
            if table.above is None:
                at[name][key] = key, []
                continue
            person, path = at[table.above][parent]
            at[name][key] = person, [*path, (name, tuple(codes))]
        found[name] = list(at[name].values())
    del found["person"]
    return found


def said(world: World, release: Shown, table: str, codes: Row) -> Row | None:
    """The labels of a row's own codes in a release; None where it does not show the table."""
    if table not in release.levels:
        return None
    own = release.levels[table]
    return tuple(
        label(code, own[column])
        for column, code in zip(world.tables[table].columns, codes, strict=True)
        if column in own
    )


def numbered(rows: Sequence[tuple[Any, Any]]) -> dict[Any, set[Any]]:
    """Items of persons: what each row says, and how often that has occurred."""
    seen: Counter[Any] = Counter()
    found: dict[Any, set[Any]] = defaultdict(set)
    for person, what in rows:
        seen[person, what] += 1
        found[person].add((what, seen[person, what]))
    return found


def seen_by(world: World, release: Shown) -> tuple[dict[Any, Row], dict[Any, set[Any]]]:
    """The class and the items of every person in a release, whoever is left out of it."""
    rows = [
        (person, (name, tuple(said(world, release, *part) for part in path)))
        for name, own in whose(world).items()
        if name in release.levels
        for person, path in own
    ]
    counts = {name: Counter(person for person, _ in own) for name, own in whose(world).items()}
    classes: dict[Any, Row] = {}
    for key, _, *codes in world.tables["person"].rows:
        classes[key] = (said(world, release, "person", tuple(codes)), *(counts[name][key] for name in release.counted))
    return classes, numbered(rows)


def staying(world: World, release: Shown) -> set[Any]:
    """Who is in a release: who violates goes, until nobody does."""
    classes, items = seen_by(world, release)
    while gone := rare(classes, items, release.k, release.m):
        classes = {person: vector for person, vector in classes.items() if person not in gone}
    return set(classes)


@dataclass(frozen=True)
class Side:
    """What releases show side by side.

    Attributes:
        classes: of each person whom some release shows.
        exact: their rows as they are, with what the releases say of each.
        items: of the joint release, and of each release.
    """

    classes: Mapping[Any, Any]
    exact: Mapping[Any, Sequence[tuple[Any, Any]]]
    items: Mapping[Any, set[Any]]


def side_by_side(world: World, releases: Sequence[Shown]) -> Side:
    stay = [staying(world, release) for release in releases]
    inside = {key: tuple(n for n, own in enumerate(stay) if key in own) for key, *_ in world.tables["person"].rows}
    single = [seen_by(world, release) for release in releases]
    classes = {person: (there, *(single[n][0][person] for n in there)) for person, there in inside.items() if there}
    for person, there in inside.items():
        for name in {name for release in releases for name in release.counted}:
            if there and any(name in releases[n].levels for n in there):
                rows = sum(1 for who, _ in whose(world)[name] if who == person)
                classes[person] = (*classes[person], (name, rows))
    exact: dict[Any, list[tuple[Any, Any]]] = defaultdict(list)
    for name, own in whose(world).items():
        for person, path in own:
            there = [n for n in inside[person] if name in releases[n].levels]
            if there:
                shown = tuple(tuple((n, said(world, releases[n], *part)) for n in inside[person]) for part in path)
                exact[person].append(((name, tuple(path)), (name, shown)))
    joint = numbered([(person, shown) for person, rows in exact.items() for _, shown in rows])
    items = {
        person: {("joint", *item) for item in joint.get(person, ())}
        | {(n, *item) for n in there for item in single[n][1].get(person, ())}
        for person, there in inside.items()
        if there
    }
    return Side(classes, exact, items)


def fewest_jointly(world: World, releases: Sequence[Shown], m: int | str) -> int | None:
    """The fewest persons of a joint class who share m items of the joint release or of one of the releases."""
    side = side_by_side(world, releases)
    shared: Counter[Any] = Counter()
    for person, own in side.classes.items():
        for known in (
            {frozenset[Any](), *subsets(side.items[person], m)} if m != "all" else subsets(side.items[person], m)
        ):
            shared[own, known] += 1
    return min(shared.values(), default=None)


def fewest_candidates(world: World, releases: Sequence[Shown], m: int) -> int | None:
    """The fewest persons whom an attacker may take for one whose own values and m items are known.

    The attacker knows which releases the person is in, and which rows of different releases are the same. An item is a
    row as it is in the source, the second such row and so on; or an item of one of these releases.
    """
    side, fewest = side_by_side(world, releases), None
    for person, own in side.classes.items():
        others = [other for other, vector in side.classes.items() if vector == own]
        shown = dict(side.exact.get(person, ()))
        rows = Counter(raw for raw, _ in side.exact.get(person, ()))
        atoms: list[Any] = [("row", raw, number) for raw, count in rows.items() for number in range(1, count + 1)]
        atoms += [("item", item, 0) for item in side.items[person] if item[0] != "joint"]
        for size in range(m + 1):
            for known in combinations(atoms, size):
                needed: Counter[Any] = Counter()
                for raw in {raw for kind, raw, _ in known if kind == "row"}:
                    needed[shown[raw]] += max(number for kind, other, number in known if kind == "row" and other == raw)
                wanted = {item for kind, item, _ in known if kind == "item"}
                found = sum(
                    1
                    for other in others
                    if wanted <= side.items[other]
                    and not needed - Counter(labels for _, labels in side.exact.get(other, ()))
                )
                fewest = found if fewest is None else min(fewest, found)
    return fewest
