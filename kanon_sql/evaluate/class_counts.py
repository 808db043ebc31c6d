"""Histograms of equivalence classes, counted in the database: by size, and by distance from the whole table.

What comes back is how many classes lie in each range, and how many records they hold. Neither a value nor
the place of a class is among it, so it may be shown to any reader who may see the release's figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kanon_sql.engines import Workspace, refuse_incomplete
from kanon_sql.evaluate.class_unions import union_nodes
from kanon_sql.evaluate.classes import (
    Frames,
    LeftClasses,
    classes,
    conditions,
    measure_name,
)
from kanon_sql.evaluate.examination import SUPPRESSED, THERE, size_edges, size_number
from kanon_sql.evaluate.label_widths import judge_widths
from kanon_sql.evaluate.node_widths import node_widths
from kanon_sql.evaluate.rollup import Covering
from kanon_sql.frequency import FrequencySets
from kanon_sql.models import TOLERANCE, PrivacyModel, TCloseness, closeness_among
from kanon_sql.search import Node
from kanon_sql.sql import PORTABLE, Relation, Sql, Statement, relation, render

__all__ = ["Bin", "Counted", "Table", "closeness_of_all", "count_classes", "distance_edges", "node_frames"]

_STEPS = 20
"""Ranges of a distance between 0 and 1, before the thresholds asked for divide them further."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The classes in one range.

    Attributes:
        low, high: the range. Sizes: both included. Distances: above ``low`` up to ``high``; the range from 0 to 0 holds
            the classes without any distance. No ``high``: no upper end; a class that counts no person, or that has a
            value without a rank or a group, has no distance and is above all.
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
        closeness: what measures the distances of sensitive attributes.
        kept_by: the requirements; only classes that satisfy all are counted. None counts every class.
        there: how many rows all its classes have, or the table whose rows they are.
        count: for how many persons a row of that table stands, over the alias ``checked``; None where each is one.
    """

    name: str
    frames: Frames
    there: int | Relation
    closeness: Sequence[TCloseness] = ()
    kept_by: Sequence[PrivacyModel] | None = None
    count: Sql | None = None


@dataclass(frozen=True)
class Counted:
    """The histograms of one table.

    Attributes:
        name: the table's.
        sizes: by size, smallest first; empty ranges are left out.
        distances: per measure of distance, in the table's order, by distance, nearest first.
    """

    name: str
    sizes: Sequence[Bin]
    distances: Sequence[Sequence[Bin]]


def distance_edges(ts: Iterable[float]) -> list[float]:
    """Where ranges of distances end: 0, 0.05, ..., 1, and each t asked for: no range holds both verdicts."""
    asked = sorted({float(t) for t in ts if 0 < t < 1})
    steps = [step / _STEPS for step in range(_STEPS + 1)]
    return sorted([*asked, *(step for step in steps if all(abs(step - t) > TOLERANCE for t in asked))])


def node_frames(
    sets: FrequencySets,
    node: Node,
    covering: Covering,
    models: Sequence[PrivacyModel],
    standing: LeftClasses | None = None,
) -> Frames:
    """The classes of a lattice node.

    Args:
        sets: what the search was made over.
        node: the vector of levels.
        covering: frequency sets that cover it.
        models: the requirements, some of which may be about unions of these classes.
        standing: what is left of the classes where rows with rare combinations are dropped.
    """
    sets.codes.refuse_uncovered(covering.node, [node])
    return Frames(
        base=relation(covering.base),
        values={name: relation(table) for name, table in covering.values.items()},
        counting=sets.counting,
        keys=_keys(sets, node),
        unions={names: _keys(sets, own) for names, own in union_nodes(sets, models, node).items()},
        facts={name: facts.all for name, facts in sets.facts.items()},
        group_levels={name: facts.group_levels for name, facts in sets.facts.items()},
        references={name: relation(table) for name, table in sets.references.items()},
        known=sets.known,
        widths=node_widths(sets, node) if judge_widths(models) else None,
        standing=standing,
    )


def _keys(sets: FrequencySets, node: Node) -> list[Sql]:
    return [Sql(key) for key in sets.codes.keys(node, PORTABLE)]


def closeness_of_all(models: Sequence[PrivacyModel]) -> list[TCloseness]:
    """A distance to count for every sensitive attribute: each that a requirement limits, and one for every other.

    A requirement that knows the other sensitive attributes limits none: its distances are those of parts of classes.

    Args:
        models: the requirements.
    """
    asked = closeness_among(model for model in models if not model.others)
    protected = dict.fromkeys(model.attribute for model in models if model.attribute is not None and not model.adds_up)
    others = [name for name in protected if all(model.attribute != name for model in asked)]
    return [*asked, *(TCloseness(name, 1.0) for name in others)]


def count_classes(workspace: Workspace, tables: Sequence[Table], models: Sequence[PrivacyModel]) -> list[Counted]:
    """The histograms of some tables, in one statement.

    Args:
        workspace: where to run it.
        tables: what to count.
        models: a range of sizes begins at each size that one of them asks for.
    """
    sizes = size_edges(models)
    branches: list[tuple[Table, TCloseness | None, Sequence[float]]] = []
    for table in tables:
        branches.append((table, None, sizes))
        branches += [(table, model, distance_edges([model.t])) for model in table.closeness]
    statements = [_statement(workspace, number, *branch) for number, branch in enumerate(branches)]
    statements += [
        workspace.compiler.statement(
            "evaluate/there", number=number, there=THERE, table=table.there, row_persons=table.count
        )
        for number, (table, model, _) in enumerate(branches)
        if model is None and isinstance(table.there, Relation)
    ]
    most = sum(len(edges) + 2 for _, _, edges in branches) + len(tables)
    found: dict[int, list[_Counts]] = {}
    for number, *counts in workspace.query(workspace.compiler.union(statements), most):
        found.setdefault(int(number), []).append(_Counts(*(int(count or 0) for count in counts)))
    _refuse_incomplete([table for table, _, _ in branches], found)
    bins = iter(
        [
            (_sizes if model is None else _distances)(edges, row)
            for row in sorted(found.get(number, []))
            if row.bin_number not in (SUPPRESSED, THERE)
        ]
        for number, (_, model, edges) in enumerate(branches)
    )
    return [Counted(table.name, next(bins), [next(bins) for _ in table.closeness]) for table in tables]


def _refuse_incomplete(tables: Sequence[Table], found: Mapping[int, Sequence[_Counts]]) -> None:
    """The classes of every histogram have all rows of its table, whose first one says how many these are."""
    there: dict[str, int] = {}
    for number, table in enumerate(tables):
        rows = found.get(number, [])
        if isinstance(table.there, int):
            there[table.name] = table.there
        judged = 0
        for row in rows:
            if row.bin_number == THERE:
                there[table.name] = row.rows
            else:
                judged += row.rows
        refuse_incomplete("evaluate/histogram", judged, there.get(table.name))


def _statement(
    workspace: Workspace, number: int, table: Table, closeness: TCloseness | None, edges: Sequence[float]
) -> Statement:
    """One histogram: of sizes, or of distances."""
    kept = list(table.kept_by or ())
    models: list[PrivacyModel] = [*kept, *([] if closeness is None else [closeness])]
    needed = {model.attribute for model in models}
    values = {name: form for name, form in table.frames.values.items() if name in needed}
    measure = "class_size" if closeness is None else measure_name(len(models) - 1, closeness)
    found = classes(replace(table.frames, values=values), models, with_keys=False)
    if kept:
        columns = list(dict.fromkeys(["class_rows", "class_size", measure]))
        found = render("evaluate/flagged", classes=found, columns=columns, conditions=conditions(kept))
    return workspace.compiler.statement(
        "evaluate/histogram",
        number=number,
        classes=found,
        bin_number=size_number([int(edge) for edge in edges])
        if closeness is None
        else _distance_number(measure, edges),
        kept_only=bool(kept),
        suppressed=SUPPRESSED,
    )


def _distance_number(measure: str, edges: Sequence[float]) -> Sql:
    """The number of the range that a class's distance is in, with the models' tolerance."""
    return render("evaluate/distance_number", measure=measure, ends=[edge + TOLERANCE for edge in edges])


class _Counts(NamedTuple):
    """A row of ``evaluate/histogram``, without the number of its histogram."""

    bin_number: int
    classes: int
    records: int
    smallest: int
    rows: int


def _sizes(edges: Sequence[float], row: _Counts) -> Bin:
    number = row.bin_number
    high = edges[number + 1] - 1 if number + 1 < len(edges) else None
    return Bin(edges[number], high, row.classes, row.records, row.smallest)


def _distances(edges: Sequence[float], row: _Counts) -> Bin:
    number = row.bin_number
    low = edges[max(0, min(number, len(edges)) - 1)]
    return Bin(low, edges[number] if number < len(edges) else None, row.classes, row.records, row.smallest)
