"""Small random problems (table, hierarchies, requirements, suppression limit) to compare with the oracle."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from tests.oracles.lattice import Oracle
from tests.oracles.model import Hierarchy, Requirement, height_of

TIMES = int(os.environ.get("KANON_EXAMPLES", "0"))
"""Try so many times the number that a property names, drawn anew; 0 for an eighth of it, always the same."""


def examples(count: int) -> settings:
    """How often a property is tried, and what hypothesis need not mind."""
    return settings(
        max_examples=count * TIMES or ceil(count / 8),
        deadline=None,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],  # small as they are; shrinking takes minutes
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
            HealthCheck.function_scoped_fixture,
        ],
    )


VALUES = ["", "a", "A", "a ", "é", "e", "1", "-1", "10"]
"""Values that a careless collation, trim, cast or code for NULL would merge."""
GROUPS = ["g", "G", "g ", "gé", "ge", "g'", 'g"', "g;", "g\n"]
SENSITIVE_VALUES = ["", "x", "X", "x ", "flu", None]
TABLE_SIZES = [9, 16, 25, 20, 12, 6, 4, 2, 1, 0]
UNITS = ["u1", "u2", "U1", "u3", "u4", "u5"]

ONE_IN_FOUR = st.sampled_from([False, False, False, True])


@dataclass(frozen=True)
class RandomProblem:
    """Plain data; `requirements` hold one model each, as in a spec."""

    rows: list[dict[str, Any]]
    hierarchies: dict[str, Hierarchy]
    """Quasi-identifier -> value -> labels at levels 0..H. NULL has no entry; some values occur in no row."""
    sensitive: list[str]
    requirements: list[Requirement]
    limit: int | float
    """MaxSup: rows when an int, a share when a float."""
    nulls: str = "value"
    unit: str | None = None
    weights: dict[str, float] = field(default_factory=dict)
    levels: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Quasi-identifier -> (lowest, highest) level allowed; absent: all."""

    def oracle(self) -> Oracle:
        return Oracle(
            rows=self.rows,
            hierarchies=self.hierarchies,
            requirements=self.requirements,
            limit=self.limit,
            nulls=self.nulls,
            unit=self.unit,
            weights=self.weights,
            levels=self.levels,
        )


@st.composite
def hierarchies(draw: st.DrawFn, min_height: int = 1, max_height: int = 3) -> Hierarchy:
    """Nested groups of a few values. A group of one keeps, sometimes, the label it had a level below.

    Height 0 is possible for the one hierarchy that has no level above its value and still ends in `*`.
    """
    height = draw(st.integers(min_height, max_height))
    if height == 0:
        return {"*": ("*",)}
    values = draw(st.lists(st.sampled_from(VALUES), min_size=1 if draw(ONE_IN_FOUR) else 3, max_size=5, unique=True))
    labels: dict[str, list[str]] = {value: [value] for value in values}
    for level in range(1, height):
        parents: dict[str, int] = {}
        for value in values:
            parents.setdefault(labels[value][-1], draw(st.integers(0, len(values) - 1)))
        keeps = draw(st.booleans())
        for value in values:
            child = labels[value][-1]
            alone = list(parents.values()).count(parents[child]) == 1
            labels[value].append(child if alone and keeps else f"{level}{GROUPS[parents[child]]}")
    return {value: (*labels[value], "*") for value in values}


def k_anonymity() -> st.SearchStrategy[Requirement]:
    return st.builds(lambda k: {"k_anonymity": {"k": k}}, st.sampled_from([2, 3, 4, 2, 3, 4, 1]))


@st.composite
def l_diversity(draw: st.DrawFn, attribute: str) -> Requirement:
    kind = draw(st.sampled_from(["distinct", "entropy", "recursive"]))
    whole = st.integers(1, 3)
    parameters: dict[str, Any] = {
        "attribute": attribute,
        "l": draw(st.one_of(whole, st.sampled_from([1.5, 2.5])) if kind == "entropy" else whole),
        "variant": kind,
    }
    if kind == "recursive":
        parameters["c"] = draw(st.sampled_from([2.5, 2, 3, 1.5, 10, 1, 0.5]))
    return {"l_diversity": parameters}


def t_closeness(attribute: str) -> st.SearchStrategy[Requirement]:
    shares = st.sampled_from([0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1])
    return st.builds(lambda t: {"t_closeness": {"attribute": attribute, "t": t}}, shares)


@st.composite
def requirements(draw: st.DrawFn, sensitive: list[str], with_k: bool) -> list[Requirement]:
    """k-anonymity (optional unless `with_k`), then at most one l and one t per attribute; never none."""
    chosen: list[Requirement] = []
    for attribute in sensitive:
        if draw(st.booleans()):
            chosen.append(draw(l_diversity(attribute)))
        if draw(ONE_IN_FOUR):
            chosen.append(draw(t_closeness(attribute)))
    if with_k or not chosen or not draw(ONE_IN_FOUR):
        chosen.insert(0, draw(k_anonymity()))
    return chosen


@st.composite
def level_limits(draw: st.DrawFn, problem_hierarchies: dict[str, Hierarchy]) -> dict[str, tuple[int, int]]:
    limits: dict[str, tuple[int, int]] = {}
    for column, hierarchy in problem_hierarchies.items():
        if draw(ONE_IN_FOUR):
            low, high = sorted(draw(st.tuples(*[st.integers(0, height_of(hierarchy))] * 2)))
            limits[column] = (low, high)
    return limits


def suppression_limits(max_rows: int) -> st.SearchStrategy[int | float]:
    shares = st.sampled_from([0.2, 0.3, 0.1, 0.29, 0.5, 0.05, 0.57, 0.0, 1.0])
    return st.one_of(shares, st.just(0), st.integers(0, max_rows // 2), st.integers(0, max_rows + 1))


def random_rows(
    vector_cells: dict[str, list[str | None]], other_cells: dict[str, list[str | None]], size: int, seed: int
) -> list[dict[str, Any]]:
    """Rows whose quasi-identifier vectors repeat, more or less.

    Drawn from a seed: cell by cell, hypothesis prefers tables so uniform that every node has the same answer.
    """
    rng = random.Random(seed)

    def pick(cells: dict[str, list[str | None]]) -> dict[str, Any]:
        return {column: rng.choice(values) for column, values in cells.items()}

    vectors = [pick(vector_cells) for _ in range(max(1, size // rng.randint(1, 3)))]
    return [{**rng.choice(vectors), **pick(other_cells)} for _ in range(size)]


@st.composite
def problems(
    draw: st.DrawFn,
    *,
    max_rows: int = 25,
    max_columns: int = 4,
    min_height: int = 1,
    models: bool = True,
    units: bool = True,
    nulls: tuple[str, ...] = ("value", "suppress"),
    max_nodes: int = 128,
) -> RandomProblem:
    """A random problem.

    `models=False`: k-anonymity only. `units=False`: rows are protected. `nulls`: the rules to draw from.
    `max_nodes` bounds the lattice. `min_height=0` also gives hierarchies that have no level above the value.
    """
    tables: dict[str, Hierarchy] = {}
    nodes = 1
    for position in range(draw(st.sampled_from([n for n in (2, 3, 4, 1) if n <= max_columns]))):
        room = min(3, max_nodes // nodes - 1)
        if position and room < max(1, min_height):
            break
        tables[f"q{position}"] = draw(hierarchies(min_height, room))
        nodes *= height_of(tables[f"q{position}"]) + 1
    sensitive = [f"s{i}" for i in range(draw(st.integers(0, 2)))] if models else []
    unit = "unit" if units and draw(ONE_IN_FOUR) else None

    vector_cells: dict[str, list[str | None]] = {}
    other_cells: dict[str, list[str | None]] = {}
    for column, hierarchy in tables.items():
        with_nulls = draw(ONE_IN_FOUR) and height_of(hierarchy) > 0
        vector_cells[column] = [*hierarchy, None] if with_nulls else [*hierarchy]
    for column in sensitive:
        other_cells[column] = draw(st.lists(st.sampled_from(SENSITIVE_VALUES), min_size=1, max_size=4))
    if unit is not None:
        other_cells[unit] = [*UNITS, None] if draw(ONE_IN_FOUR) else [*UNITS]
    size = draw(st.sampled_from([n for n in TABLE_SIZES if n <= max_rows]))
    rows = random_rows(vector_cells, other_cells, size, seed=draw(st.integers(0, 10_000)))

    columns = draw(st.lists(st.sampled_from(list(tables)), unique=True))
    weights = st.sampled_from([0, 0.25, 0.5, 1, 2, 3])
    return RandomProblem(
        rows=rows,
        hierarchies=tables,
        sensitive=sensitive,
        requirements=draw(requirements(sensitive, with_k=unit is not None)),
        limit=draw(suppression_limits(len(rows))),
        nulls=draw(st.sampled_from(nulls)),
        unit=unit,
        weights={column: draw(weights) for column in columns},
        levels=draw(level_limits(tables)),
    )
