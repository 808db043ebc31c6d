"""Histograms of equivalence classes, counted in the database: by size, and by distance from the whole table.

What comes back is how many classes lie in each range, and how many records they hold. Neither a value nor
the place of a class is among it, so it may be shown to anybody who may see the release's figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.classes import Frames, classes, conditions, measure_name
from kanon_sql.engines.base import Row
from kanon_sql.frequency import FrequencySets
from kanon_sql.lattice import Node
from kanon_sql.privacy import PrivacyModel, TCloseness
from kanon_sql.privacy.base import TOLERANCE
from kanon_sql.sql.statement import Statement
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import Relation, Sql, identifier, relation
from kanon_sql.workspace import Workspace

__all__ = ["Bin", "Counted", "Table", "count_classes", "distance_edges", "node_frames", "size_edges"]

_STEPS = 20
"""Ranges of a distance between 0 and 1, before the thresholds asked for divide them further."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The classes in one range.

    Attributes:
        low, high: the range. Sizes: both included. Distances: above ``low`` up to ``high``; the range from 0 to 0 holds
            the classes without any distance. No ``high``: no upper end; a class that counts nobody has no distance
            and is above all.
        classes: how many classes.
        records: rows in them, or persons, whichever the classes count.
        smallest: the size of the smallest of them.
    """

    low: float
    high: float | None
    classes: int
    records: int
    smallest: int


@dataclass(frozen=True)
class Table:
    """The classes to count: those of a table, of a frequency set at a node, or the kept ones of either.

    Attributes:
        name: what to call them.
        frames: where they are counted from, with a form for every attribute of ``closeness``.
        closeness: sensitive attribute -> the t-closeness that measures its distance.
        kept_by: the requirements; only classes that satisfy all are counted. None counts every class.
    """

    name: str
    frames: Frames
    closeness: Mapping[str, TCloseness] = field(default_factory=dict)
    kept_by: Sequence[PrivacyModel] | None = None


@dataclass(frozen=True)
class Counted:
    """The histograms of one table.

    Attributes:
        name: the table's.
        sizes: by size, smallest first; empty ranges are left out.
        distances: per sensitive attribute, by distance, nearest first.
    """

    name: str
    sizes: Sequence[Bin]
    distances: Mapping[str, Sequence[Bin]]


def size_edges(rows: int, ks: Iterable[int]) -> list[int]:
    """Where ranges of sizes begin: 0, 1, 2, 5, 10, 20, ... up to the number of rows, and at each k asked for."""
    edges = {0, 1, 2, *(k for k in ks if k <= rows)}
    decade = 1
    while decade <= rows:
        edges.update(step * decade for step in (1, 2, 5) if step * decade <= rows)
        decade *= 10
    return sorted(edges)


def distance_edges(ts: Iterable[float]) -> list[float]:
    """Where ranges of distances end: 0, 0.05, ..., 1, and each t asked for: no range holds both verdicts."""
    asked = sorted({float(t) for t in ts if 0 < t < 1})
    steps = [step / _STEPS for step in range(_STEPS + 1)]
    return sorted([*asked, *(step for step in steps if all(abs(step - t) > TOLERANCE for t in asked))])


def node_frames(sets: FrequencySets, node: Node, base: Relation, values: Mapping[str, Relation]) -> Frames:
    """The classes of a lattice node, over frequency sets that cover it.

    Args:
        sets: what the search was made over.
        node: the vector of levels.
        base: the frequency set of the quasi-identifiers.
        values: per sensitive attribute, its frequency set.
    """
    keys = sets.packing.keys(sets.keyed(node), lambda index: identifier(f"c{index}_{node[index]}"))
    return Frames(
        base=relation(base),
        values={name: relation(table) for name, table in values.items()},
        counting=sets.counting,
        keys=[Sql(key) for key in keys],
    )


def count_classes(workspace: Workspace, tables: Sequence[Table], rows: int, ks: Iterable[int]) -> list[Counted]:
    """The histograms of some tables, in one statement.

    Args:
        workspace: where to run it.
        tables: what to count.
        rows: no class has more.
        ks: sizes at which a range is to begin.
    """
    sizes = size_edges(rows, ks)
    branches: list[tuple[Table, str | None, list[float]]] = []
    for table in tables:
        branches.append((table, None, [float(edge) for edge in sizes]))
        for name, model in table.closeness.items():
            branches.append((table, name, distance_edges([model.t])))
    statements = [
        _statement(workspace, number, table, attribute, edges)
        for number, (table, attribute, edges) in enumerate(branches)
    ]
    most = sum(len(edges) + 1 for _, _, edges in branches)
    found: dict[int, list[Row]] = {}
    for row in workspace.query(workspace.compiler.union(statements), most):
        found.setdefault(int(row[0]), []).append(row[1:])
    bins: dict[tuple[str, str | None], list[Bin]] = {}
    for number, (table, attribute, edges) in enumerate(branches):
        read = _sizes if attribute is None else _distances
        bins[table.name, attribute] = [read(edges, row) for row in sorted(found.get(number, []))]
    return [
        Counted(table.name, bins[table.name, None], {name: bins[table.name, name] for name in table.closeness})
        for table in tables
    ]


def _statement(
    workspace: Workspace, number: int, table: Table, attribute: str | None, edges: Sequence[float]
) -> Statement:
    """One histogram: of sizes, or of the distances of an attribute."""
    kept = list(table.kept_by or ())
    models: list[PrivacyModel] = kept if attribute is None else [*kept, table.closeness[attribute]]
    needed = {model.attribute for model in models}
    frames = Frames(
        base=table.frames.base,
        values={name: form for name, form in table.frames.values.items() if name in needed},
        counting=table.frames.counting,
        keys=table.frames.keys,
    )
    measure = "class_size" if attribute is None else measure_name(len(models) - 1, models[-1])
    found = classes(frames, models, with_keys=False)
    if kept:
        columns = list(dict.fromkeys(["class_size", measure]))
        found = render("evaluate/flagged", classes=found, columns=columns, conditions=conditions(kept))
    # A range of sizes ends where the next one begins; one of distances at its own end, with the models' tolerance.
    ends: list[Any] = [int(edge) for edge in edges[1:]] if attribute is None else [edge + TOLERANCE for edge in edges]
    return workspace.compiler.statement(
        "details/histogram",
        number=number,
        classes=found,
        value=measure,
        edges=ends,
        ends=attribute is not None,
        kept_only=bool(kept),
    )


def _sizes(edges: Sequence[float], row: Row) -> Bin:
    number, *_ = row
    low = edges[int(number)]
    high = edges[int(number) + 1] - 1 if int(number) + 1 < len(edges) else None
    return _bin(low, high, row)


def _distances(edges: Sequence[float], row: Row) -> Bin:
    number = int(row[0])
    low = edges[max(0, min(number, len(edges)) - 1)]
    return _bin(low, edges[number] if number < len(edges) else None, row)


def _bin(low: float, high: float | None, row: Row) -> Bin:
    _, found, records, smallest = row
    return Bin(low, high, int(found), int(records or 0), int(smallest or 0))
