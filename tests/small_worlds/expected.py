"""What the package should say: of tables as they stand, and of what a search chose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.small_worlds.lattice import Answers, Node, judged
from tests.small_worlds.models import Judged, worst_is_smallest
from tests.small_worlds.specs import Asked, Requirement
from tests.small_worlds.tables import QUASI_IDENTIFIERS, Tables
from tests.small_worlds.worlds import NULL, Floats, Rows, counted

MEASURES = {
    "k_anonymity": "k",
    "k_map": "k",
    "delta_presence": "delta_max",
    "t_closeness": "t",
    "alpha_k_anonymity": "alpha",
    "p_sensitive_k_anonymity": "p",
    "beta_likeness": "beta",
    "delta_disclosure": "delta_above",
}
"""What results call a measure; diversity has two names."""


@dataclass(frozen=True)
class Item:
    """One requirement on one table.

    Attributes:
        requirement: it.
        violating_classes, violating_rows: classes that violate it, and rows in them.
        reached: the worst measures by their names in results; None where there is none.
        tight: whether some class is exactly at the bound.
    """

    requirement: Requirement
    violating_classes: int
    violating_rows: int
    reached: Mapping[str, float | None]
    tight: bool


@dataclass(frozen=True)
class Table:
    """A table as it is.

    Attributes:
        rows: its rows.
        classes: ``count``, ``smallest``, ``average`` and ``largest``.
        items: per requirement.
    """

    rows: int
    classes: Mapping[str, float | None]
    items: Sequence[Item] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not any(item.violating_classes for item in self.items)

    @property
    def tight(self) -> bool:
        return any(item.tight for item in self.items)


def tables_as_they_stand(
    asked: Asked, tables: Tables, rows: Rows, original: Rows, population: Rows, worlds: Sequence[int]
) -> list[Table]:
    """What every world's table is worth, as it is in ``rows``."""
    classes = rows.classes(asked.columns)
    sizes, total = classes.rows(), rows.sizes()
    count = counted(classes.world, rows.worlds)
    smallest, largest = (
        _extreme(classes.world, sizes, rows.worlds, True),
        _extreme(classes.world, sizes, rows.worlds, False),
    )
    found = []
    verdicts = [judged(item, asked.columns, rows, original, population, asked, tables) for item in asked.requirements]
    absent = [_absent(item, asked, rows, population) for item in asked.requirements]
    summed = [
        _Summed.of(verdict, item, rows.worlds) for item, verdict in zip(asked.requirements, verdicts, strict=True)
    ]
    for world in worlds:
        some = count[world] > 0
        found.append(
            Table(
                rows=int(total[world]),
                classes={
                    "count": int(count[world]),
                    "smallest": int(smallest[world]) if some else None,
                    "average": total[world] / count[world] if some else None,
                    "largest": int(largest[world]) if some else None,
                },
                items=[item.at(world, int(missing[world])) for item, missing in zip(summed, absent, strict=True)],
            )
        )
    return found


def _extreme(world: Any, values: Any, worlds: int, smallest: bool) -> Floats:
    """The smallest or largest of the values per world; infinite where there is none."""
    found = np.full(worlds, math.inf if smallest else -math.inf)
    (np.minimum if smallest else np.maximum).at(found, world, values)
    return found


@dataclass(frozen=True)
class _Summed:
    """A requirement's classes, summed per world."""

    requirement: Requirement
    violating_classes: Any
    violating_rows: Any
    worst: Floats
    second: Floats | None
    tight: Any

    @classmethod
    def of(cls, verdict: Judged, requirement: Requirement, worlds: int) -> _Summed:
        classes, bad = verdict.classes, ~verdict.ok
        smallest = worst_is_smallest(requirement.model, requirement.parameters)
        return cls(
            requirement,
            counted(classes.world[bad], worlds),
            classes.per_world(np.where(bad, classes.rows(), 0)),
            _extreme(classes.world, verdict.measure, worlds, smallest),
            None if verdict.second is None else _extreme(classes.world, verdict.second, worlds, True),
            counted(classes.world[verdict.tight], worlds) > 0,
        )

    def at(self, world: int, absent: int) -> Item:
        reached = {self._name: _finite(self.worst[world])}
        if self.second is not None:
            reached["c2"] = _finite(self.second[world])
        violating = int(self.violating_classes[world]) + absent
        return Item(self.requirement, violating, int(self.violating_rows[world]), reached, bool(self.tight[world]))

    @property
    def _name(self) -> str:
        if self.requirement.model != "l_diversity":
            return MEASURES[self.requirement.model]
        return "l" if worst_is_smallest(self.requirement.model, self.requirement.parameters) else "c_above"


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _absent(item: Requirement, asked: Asked, rows: Rows, population: Rows) -> Any:
    """Per world, the different kinds of persons of whom no row is in the table, where that violates a requirement."""
    if not item.parameters.get("delta_min"):
        return np.zeros(rows.worlds, dtype=np.int64)
    world = np.concatenate([rows.world, population.world])
    codes = {name: np.concatenate([rows.columns[name], population.columns[name]]) for name in asked.columns}
    both = Rows(world, rows.worlds, codes).classes(asked.columns)
    present = np.zeros(both.count, dtype=bool)
    present[both.of_row[: len(rows.world)]] = True
    return counted(both.world[~present], rows.worlds)


# --- releases ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Release:
    """A release: the node's table without what is suppressed, or with masked rows.

    Attributes:
        table: what ``check`` would say of it.
        cells: its rows as texts, in any order.
        masked: suppressed rows that are in it.
    """

    table: Table
    cells: list[tuple[Any, ...]]
    masked: int


def release_at(answers: Answers, place: int, node: Node, population: Rows) -> Release:
    """The release of a table at a node. Masked rows are in it unless the classes would then violate."""
    lattice = answers.lattice
    asked, tables = lattice.asked, lattice.tables
    world = answers.world(place, node)
    here = np.flatnonzero((lattice.rows.world == world) & answers.kept)
    everybody = np.flatnonzero(tables.people.world == lattice.chosen[place])
    original = _alone(tables.people, everybody)
    released = _alone(lattice.rows, here)
    found = _examined(asked, tables, released, original, _alone(population, np.flatnonzero(population.world == world)))
    labels = [tables.hierarchies[name].labels[level] for name, level in zip(asked.columns, node, strict=True)]
    cells = _cells(asked, tables, released, labels)
    if asked.spec["suppression"]["style"] != "mask" or not answers.suppressed[world]:
        return Release(found, cells, 0)
    masks = _masked(answers, place, node, everybody, released)
    whole = _joined(released, masks)
    as_masked = _examined(asked, tables, whole, original, _alone(population, np.zeros(0, dtype=np.int64)))
    if not as_masked.passed:
        return Release(found, cells, 0)
    return Release(as_masked, cells + _cells(asked, tables, masks, [["*"]] * len(labels)), len(masks.world))


def _masked(answers: Answers, place: int, node: Node, everybody: Any, released: Rows) -> Rows:
    """The suppressed rows, those with a NULL among them; at its top, a column's mask is its label."""
    tables, asked = answers.lattice.tables, answers.lattice.asked
    numbers = _row_numbers(answers, place, node)
    rest = np.setdiff1d(everybody, numbers)
    rows = _alone(tables.people, rest)
    tops = {
        name: 0 if level == tables.hierarchies[name].height else MASK
        for name, level in zip(asked.columns, node, strict=True)
    }
    columns = {**rows.columns, **{name: np.full(len(rest), code) for name, code in tops.items()}}
    return Rows(rows.world, 1, columns)


MASK = 50
"""A code for a masked cell, above those of all groups."""


def _row_numbers(answers: Answers, place: int, node: Node) -> Any:
    """The rows of the batch that are released."""
    lattice = answers.lattice
    here = (lattice.rows.world == answers.world(place, node)) & answers.kept
    return lattice.row[here]


def _alone(rows: Rows, numbers: Any) -> Rows:
    """Some rows as the one world that there is."""
    columns = {name: codes[numbers] for name, codes in rows.columns.items()}
    return Rows(np.zeros(len(numbers), dtype=np.int64), 1, columns)


def _joined(one: Rows, other: Rows) -> Rows:
    columns = {name: np.concatenate([one.columns[name], other.columns[name]]) for name in one.columns}
    return Rows(np.concatenate([one.world, other.world]), 1, columns)


def _examined(asked: Asked, tables: Tables, rows: Rows, original: Rows, population: Rows) -> Table:
    return tables_as_they_stand(asked, tables, rows, original, population, [0])[0]


def _cells(asked: Asked, tables: Tables, rows: Rows, labels: Sequence[Sequence[str]]) -> list[tuple[Any, ...]]:
    """Rows as they stand in a release, the columns in the source's order: quasi-identifiers, then sensitive ones."""
    texts: list[list[Any]] = []
    for name in (*QUASI_IDENTIFIERS, "s0", "s1"):
        if name in asked.columns:
            own: Sequence[Any] = labels[list(asked.columns).index(name)]
            texts.append([None if code == NULL else own[min(code, len(own) - 1)] for code in rows.columns[name]])
        elif name.startswith("s"):
            texts.append([None if code == NULL else tables.values[name][code] for code in rows.columns[name]])
    return list(zip(*texts, strict=True))
