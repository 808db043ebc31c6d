"""Association covers by the definition: every possible world is built and looked at. For tiny views only.

Nothing here shares a line with the package. A view is a tuple of column names and a set of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

View = tuple[tuple[str, ...], frozenset[tuple[Any, ...]]]
World = frozenset[tuple[Any, ...]]


def columns_of(views: Sequence[View]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names, _ in views for name in names))


def project(world: World, columns: Sequence[str], names: Sequence[str]) -> frozenset[tuple[Any, ...]]:
    return frozenset(tuple(row[columns.index(name)] for name in names) for row in world)


def rows_that_may_be(views: Sequence[View]) -> list[tuple[Any, ...]]:
    """Every row over the domains of the views' columns that no view rules out."""
    columns = columns_of(views)
    domains = [
        {row[names.index(column)] for names, rows in views if column in names for row in rows} for column in columns
    ]
    return [
        row
        for row in product(*(sorted(domain, key=str) for domain in domains))
        if all(project(frozenset([row]), columns, names) <= rows for names, rows in views)
    ]


def worlds(views: Sequence[View]) -> Iterator[World]:
    """Every table whose projections are exactly the views."""
    columns, candidates = columns_of(views), rows_that_may_be(views)
    for size in range(len(candidates) + 1):
        for chosen in combinations(candidates, size):
            world = frozenset(chosen)
            if all(project(world, columns, names) == rows for names, rows in views):
                yield world


def smallest_covers(views: Sequence[View], identity: Sequence[str], attribute: str) -> dict[tuple[Any, ...], int]:
    """Identity -> the size of its smallest association cover, NULL being no value. Empty where no world exists."""
    columns = columns_of(views)
    possible = list(worlds(views))
    if not possible:
        return {}
    everything = frozenset().union(*possible)
    place = columns.index(attribute)
    with_value = frozenset(row for row in everything if row[place] is not None)
    without_null = [(names, project(with_value, columns, names)) for names, _ in views]
    possible = list(worlds(without_null))
    found = {}
    for who in project(with_value, columns, identity):
        told = [
            {row[place] for row in world if tuple(row[columns.index(name)] for name in identity) == who}
            for world in possible
        ]
        told = [values for values in told if values]  # the person is in the table
        values = sorted(set().union(*told))
        found[who] = next(
            size
            for size in range(1, len(values) + 1)
            if any(all(set(cover) & of_world for of_world in told) for cover in combinations(values, size))
        )
    return found


def view(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> View:
    return tuple(names), frozenset(tuple(row[name] for name in names) for row in rows)
