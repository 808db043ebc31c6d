"""Every node of a lattice for many tables at once: what is kept, what that costs, and what may be chosen.

A world is a table at a node. Metrics are those of docs/reference/algorithms.md, from the papers named there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import floor

import numpy as np

from tests.small_worlds.models import MODELS, Given, Judged, exact
from tests.small_worlds.specs import Asked, Requirement
from tests.small_worlds.tables import SENSITIVE, Tables
from tests.small_worlds.worlds import NULL, Classes, Flags, Floats, Ints, Rows, counted, has_null
from tests.support.suppressions import limit_of

Node = tuple[int, ...]


@dataclass(frozen=True)
class Lattice:
    """All nodes of some tables. A world's number is its table's place times the number of nodes, plus its node's.

    Attributes:
        asked: the spec.
        tables: the batch.
        chosen: the tables, numbers in the batch.
        nodes: the nodes within the levels allowed.
        rows: the rows that may be released, at every node: quasi-identifiers are groups at its level.
        raw: the same rows with their values.
        row: the number of each in the batch.
        null_rows: per table, rows that a NULL suppresses.
        sizes: per table, all its rows.
    """

    asked: Asked
    tables: Tables
    chosen: Sequence[int]
    nodes: Sequence[Node]
    rows: Rows
    raw: Mapping[str, Ints]
    row: Ints
    null_rows: Ints
    sizes: Ints


@dataclass(frozen=True)
class Answers:
    """What is true of every world.

    Attributes:
        lattice: the worlds.
        kept: per row, whether it is released.
        suppressed: per world, the rows that are not, those with a NULL among them.
        satisfied: per world, whether it may be chosen.
        tight: per world, whether some class is at its bound.
        metrics: by name, per world.
    """

    lattice: Lattice
    kept: Flags
    suppressed: Ints
    satisfied: Flags
    tight: Flags
    metrics: Mapping[str, Floats]

    def world(self, place: int, node: Node) -> int:
        return place * len(self.lattice.nodes) + self.lattice.nodes.index(node)

    def worlds(self, place: int) -> slice:
        """Those of one table."""
        count = len(self.lattice.nodes)
        return slice(place * count, (place + 1) * count)


def lattice_of(asked: Asked, tables: Tables, chosen: Sequence[int]) -> Lattice:
    """The rows of some tables at all nodes."""
    settings = asked.spec["quasi_identifiers"]
    heights = [tables.hierarchies[name].height for name in asked.columns]
    ranges = [
        range(settings[name].get("minimum_level", 0), settings[name].get("maximum_level", height) + 1)
        for name, height in zip(asked.columns, heights, strict=True)
    ]
    nodes = list(product(*ranges))
    place = np.full(tables.people.worlds, -1)
    place[list(chosen)] = np.arange(len(chosen))
    here = np.flatnonzero(place[tables.people.world] >= 0)
    codes = {name: column[here] for name, column in tables.people.columns.items()}
    table = place[tables.people.world[here]]
    nulls = np.any([codes[name] == NULL for name in asked.columns], axis=0)
    without = nulls if asked.nulls == "suppress" else np.zeros(len(here), dtype=bool)
    left = np.flatnonzero(~without)
    world = (table[left][None, :] * len(nodes) + np.arange(len(nodes))[:, None]).reshape(-1)
    raw = {name: np.tile(column[left], len(nodes)) for name, column in codes.items()}
    columns = {**raw, **_generalized(tables, asked.columns, nodes, {n: codes[n][left] for n in asked.columns})}
    return Lattice(
        asked=asked,
        tables=tables,
        chosen=chosen,
        nodes=nodes,
        rows=Rows(world, len(chosen) * len(nodes), columns),
        raw=raw,
        row=np.tile(here[left], len(nodes)),
        null_rows=counted(table[without], len(chosen)),
        sizes=counted(table, len(chosen)),
    )


def _generalized(
    tables: Tables, names: Sequence[str], nodes: Sequence[Node], codes: Mapping[str, Ints]
) -> dict[str, Ints]:
    """The groups of values at every node, one node after the other. NULL is apart below the top."""
    found = {}
    for position, name in enumerate(names):
        own = tables.hierarchies[name]
        parts = []
        for node in nodes:
            groups = own.groups[node[position]][codes[name]]
            parts.append(groups if node[position] == own.height else np.where(codes[name] == NULL, NULL, groups))
        found[name] = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    return found


def of_nodes(lattice: Lattice, rows: Rows) -> Rows:
    """Rows of the batch's tables, in every world of their table: what distributions are compared with."""
    count = len(lattice.nodes)
    place = np.full(rows.worlds, -1)
    place[list(lattice.chosen)] = np.arange(len(lattice.chosen))
    here = np.flatnonzero(place[rows.world] >= 0)
    world = (place[rows.world[here]][None, :] * count + np.arange(count)[:, None]).reshape(-1)
    columns = {name: np.tile(codes[here], count) for name, codes in rows.columns.items()}
    return Rows(world, len(lattice.chosen) * count, columns)


def population_of(lattice: Lattice) -> Rows:
    """The population at every node."""
    found = of_nodes(lattice, lattice.tables.population)
    one = len(found.world) // len(lattice.nodes)
    codes = {name: found.columns[name][:one] for name in lattice.asked.columns}
    return Rows(found.world, found.worlds, _generalized(lattice.tables, lattice.asked.columns, lattice.nodes, codes))


def people_per_class(rows: Rows, classes: Classes, population: Rows, names: Sequence[str]) -> Ints:
    """How many persons of a population have the quasi-identifiers of each class."""
    world = np.concatenate([rows.world, population.world])
    columns = {name: np.concatenate([rows.columns[name], population.columns[name]]) for name in names}
    both = Rows(world, rows.worlds, columns).classes(names)
    people = counted(both.of_row[len(rows.world) :], both.count)
    first = np.zeros(classes.count, dtype=np.int64)
    first[classes.of_row] = both.of_row[: len(rows.world)]
    return people[first]


def trees_of(tables: Tables) -> dict[str, list[Ints]]:
    """Per sensitive attribute with a hierarchy: the groups of NULL and of all values per level; NULL is apart.

    Levels above the first at which all values have one label do not count to the height.
    """
    own = tables.hierarchies["s0"]
    last = max((level for level, groups in enumerate(own.groups) if len(set(groups)) > 1), default=0)
    levels = [np.concatenate([[0], groups + 1]) for groups in own.groups[: last + 1]]
    return {"s0": [*levels, np.zeros(len(own.groups[0]) + 1, dtype=np.int64)]}


def judged(
    item: Requirement, names: Sequence[str], rows: Rows, original: Rows, population: Rows, asked: Asked, tables: Tables
) -> Judged:
    """One requirement over the classes of rows."""
    own = item.parameters.get("quasi_identifiers", names)
    if item.parameters.get("others_as_quasi_identifiers"):
        own = [*own, *(name for name in SENSITIVE if name != item.parameters["attribute"])]
    classes = rows.classes(own)
    people = people_per_class(rows, classes, population, own) if "population" in item.parameters else None
    values = {name: len(tables.values[name]) for name in SENSITIVE}
    return MODELS[item.model](Given(rows, classes, original, people, asked.unit, values, trees_of(tables)), item.given)


def answers(lattice: Lattice) -> Answers:
    """Judge every node: whole classes are suppressed where a requirement is violated."""
    asked, tables, rows = lattice.asked, lattice.tables, lattice.rows
    original, population = of_nodes(lattice, tables.people), population_of(lattice)
    kept, tight = np.ones(len(rows.world), dtype=bool), np.zeros(rows.worlds, dtype=bool)
    sets = [item for item in asked.requirements if "quasi_identifiers" in item.parameters]
    for item in asked.requirements:
        if item not in sets:
            found = judged(item, asked.columns, rows, original, population, asked, tables)
            classes = rows.classes(asked.columns)  # of which other attributes that are known make parts
            broken = np.bincount(classes.of_row[~found.ok[found.classes.of_row]], minlength=classes.count) > 0
            kept &= ~broken[classes.of_row]
            tight[found.classes.world[found.tight]] = True
    # A class over fewer columns counts the rows that are left, the largest set first.
    for item in sorted(sets, key=lambda item: -len(item.parameters["quasi_identifiers"])):
        classes = rows.classes(item.parameters["quasi_identifiers"])
        left = counted(classes.of_row[kept], classes.count)
        kept &= (left >= item.parameters["k"])[classes.of_row]
    released = counted(rows.world[kept], rows.worlds)
    sizes = np.repeat(lattice.sizes, len(lattice.nodes))
    suppressed = sizes - released
    limit = np.repeat(
        [_most(limit_of(asked.spec["suppression"]), int(size)) for size in lattice.sizes], len(lattice.nodes)
    )
    satisfied = (suppressed <= limit) & (released > 0)
    return Answers(lattice, kept, suppressed, satisfied, tight, _metrics(lattice, kept, suppressed))


def _most(limit: float | int, rows: int) -> int:
    """MaxSup in rows."""
    return limit if isinstance(limit, int) else floor(exact(limit) * rows)


# --- metrics -----------------------------------------------------------------------------


def _weights(lattice: Lattice) -> Floats:
    settings = lattice.asked.spec["quasi_identifiers"]
    given = np.array([settings[name].get("weight", 1) for name in lattice.asked.columns], dtype=float)
    return given / given.max()


def _leaves(lattice: Lattice, name: str, position: int) -> tuple[Ints, Ints]:
    """Per row, the values under its label; per world, those of the whole domain (with NULL where that is a value).

    Where a NULL is an error, it is no value of the domain, although persons of a population may have it.
    """
    tables, own = lattice.tables, lattice.tables.hierarchies[name]
    null = has_null(tables.people, name)
    if lattice.asked.of_population and lattice.asked.nulls == "value":  # its values are in the domain, too
        null |= has_null(tables.population, name)
    with_null = null[list(lattice.chosen)] & (lattice.asked.nulls != "suppress")
    domain = np.repeat(len(own.groups[0]) + with_null, len(lattice.nodes))
    levels = np.array([node[position] for node in lattice.nodes])[lattice.rows.world % len(lattice.nodes)]
    counts = np.ones(len(levels), dtype=np.int64)
    for level, groups in enumerate(own.groups):
        here = levels == level
        label = lattice.rows.columns[name][here]
        counts[here] = np.where(label == NULL, 1, np.bincount(groups)[label])
    at_top = levels == own.height
    counts[at_top] = domain[lattice.rows.world[at_top]]
    return counts, domain


def _metrics(lattice: Lattice, kept: Flags, suppressed: Ints) -> dict[str, Floats]:
    rows, worlds, names = lattice.rows, lattice.rows.worlds, lattice.asked.columns
    total = np.repeat(lattice.sizes, len(lattice.nodes))
    n, w = np.maximum(total, 1), _weights(lattice)
    levels = np.array([lattice.nodes[world % len(lattice.nodes)] for world in range(worlds)]).reshape(
        worlds, len(names)
    )
    heights = np.array([lattice.tables.hierarchies[name].height for name in names])
    shares = np.ones(len(rows.world), dtype=np.int64)
    everything = np.ones(worlds, dtype=np.int64)
    losses = []
    for position, name in enumerate(names):
        leaves, domain = _leaves(lattice, name, position)
        under = counted(rows.world[kept], worlds, leaves[kept])
        cost, most = under + suppressed * domain - total, total * domain - total
        losses.append(np.where(most > 0, np.maximum(cost, 0) / np.maximum(most, 1), 0.0))
        shares, everything = shares * leaves, everything * domain
    classes = rows.where(kept).classes(names)
    sizes = classes.rows()
    released = (total - suppressed)[:, None]
    cells = np.where(total[:, None] > 0, (released * levels / heights + suppressed[:, None]) / n[:, None], 0.0)
    groups = counted(classes.world, worlds) + (suppressed > 0)
    return {
        "height": (levels * w).sum(axis=1),
        "precision": (cells * w).mean(axis=1),
        "loss": np.prod(np.array(losses).T * w + 1, axis=1) ** (1 / len(names)) - 1,
        "discernibility": (classes.per_world(sizes**2) + suppressed * total).astype(float),
        "average_class_size": np.where(groups > 0, total / np.maximum(groups, 1), 0.0),
        "ambiguity": (counted(rows.world[kept], worlds, shares[kept]) + suppressed * everything).astype(float),
        "entropy": _entropy(lattice, kept, w),
    }


def _entropy(lattice: Lattice, kept: Flags, weights: Floats) -> Floats:
    """Gionis, Tassa 2009: the bits that labels hide, and that suppression hides of the labels; NULL rows left out."""
    rows, total = lattice.rows, np.zeros(lattice.rows.worlds)
    left = np.bincount(rows.world[~kept], minlength=rows.worlds)
    for weight, name in zip(weights, lattice.asked.columns, strict=True):
        raw = Rows(rows.world, rows.worlds, {"label": rows.columns[name], "value": lattice.raw[name]})
        labels, values = raw.classes(["label"]), raw.classes(["label", "value"])
        bits = np.log2(labels.rows()[labels.of_row] / values.rows()[values.of_row])
        total += weight * np.bincount(rows.world, bits, minlength=rows.worlds)
        hidden = counted(labels.of_row[~kept], labels.count)[labels.of_row[~kept]]
        lost = np.log2(left[rows.world[~kept]] / hidden)
        total += weight * np.bincount(rows.world[~kept], lost, minlength=rows.worlds)
    return total
