"""Random problems, and a few that taught something, as a table and a spec."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import kanon_sql
from tests.conftest import Database
from tests.oracles.lattice import METRICS, PREFERENCES
from tests.oracles.model import Hierarchy, Row, height_of
from tests.support.strategies import ONE_IN_FOUR, UNITS, RandomProblem, problems
from tests.support.suppressions import suppressing

OWNERS = [*UNITS, *(f"p{n}" for n in range(12))]
PREFERENCE = st.sampled_from(list(PREFERENCES))


@dataclass(frozen=True)
class Case:
    """A problem with what a spec says besides: how each hierarchy is given, and how to search."""

    problem: RandomProblem
    forms: Mapping[str, str]
    style: str = "drop"
    algorithm: str = "exhaustive"
    metric: str = "loss"
    prefer: str = "minimum_suppression"


NOBODY_TELLS = RandomProblem(
    rows=[
        {"q0": "a", "s0": "x", "unit": "u1"},
        {"q0": "a", "s0": "flu", "unit": "u2"},
        {"q0": "a", "s0": "X", "unit": None},
        {"q0": "e", "s0": "x", "unit": None},
        {"q0": "e", "s0": "x", "unit": "u3"},
        {"q0": "1", "s0": "x", "unit": None},
    ],
    hierarchies={"q0": {"a": ("a", "*"), "e": ("e", "*"), "1": ("1", "*")}},
    sensitive=["s0"],
    requirements=[
        {"k_anonymity": {"k": 1}},
        {"l_diversity": {"attribute": "s0", "l": 1, "variant": "distinct"}},
        {"l_diversity": {"attribute": "s0", "l": 1, "variant": "entropy"}},
        {"l_diversity": {"attribute": "s0", "l": 1, "variant": "recursive", "c": 9}},
        {"t_closeness": {"attribute": "s0", "t": 0.5}},
    ],
    limit=1.0,
    unit="unit",
)
"""Rows without a unit belong to nobody: what they hold makes nobody's class more diverse."""


def two_groups(diversity: dict[str, Any], limit: int, *held: str, k: int = 1, unit: bool = False) -> Case:
    """Rows `a` and `e` and nothing between them and the top; `held` is "q0 s0 unit" per row."""
    columns = ("q0", "s0", "unit") if unit else ("q0", "s0")
    rows = [dict(zip(columns, text.split(), strict=True)) for text in held]
    problem = RandomProblem(
        rows=rows,
        hierarchies={"q0": {"a": ("a", "*"), "e": ("e", "*")}},
        sensitive=["s0"],
        requirements=[{"k_anonymity": {"k": k}}, {"l_diversity": {"attribute": "s0", **diversity}}],
        limit=limit,
        unit="unit" if unit else None,
    )
    return Case(problem=problem, forms={"q0": "table"}, algorithm="optimal")


# A violating generalization of a satisfying node: the search must not prune the node.
ENTROPY_FALLS = two_groups({"l": 2, "variant": "entropy"}, 3, "a x", "a flu", "e x", "e x", "e x")
RECURSIVE_FALLS = two_groups({"l": 2, "variant": "recursive", "c": 2}, 3, "a x", "a flu", "e x", "e x", "e x")
DISTINCT_FALLS = two_groups({"l": 2, "variant": "distinct"}, 0, "a x u1", "a flu u2", "e flu u1", "e x u2", unit=True)

# One person in both classes is one person when they meet.
SAME_PERSON = two_groups({"l": 1, "variant": "distinct"}, 0, "a x u1", "a x u2", "e flu u1", "e x u2", k=3, unit=True)

NULL_SUPPRESSED = Case(
    RandomProblem(
        rows=[{"q0": "a"}, {"q0": "a"}, {"q0": None}],
        hierarchies={"q0": {"a": ("a", "*"), "e": ("e", "*")}},
        sensitive=[],
        requirements=[{"k_anonymity": {"k": 2}}],
        limit=1,
        nulls="suppress",
    ),
    forms={"q0": "tree"},
)


def forms_of(hierarchy: Hierarchy) -> list[str]:
    """The forms that a hierarchy can be written in."""
    forms = ["table", "file"]
    outermost = {labels[-2] for labels in hierarchy.values()} if height_of(hierarchy) else set()
    # A tree with one outermost label ends there: no other top is added. Without a step, it is a value alone.
    if len(outermost) > 1:
        forms.append("tree")
    return forms


@st.composite
def cases(draw: st.DrawFn, **options: Any) -> Case:
    problem = draw(problems(**options))
    if problem.weights and not any(problem.weights.get(column, 1) for column in problem.hierarchies):
        problem = replace(problem, weights={})  # a spec refuses weights that are all 0
    if problem.unit is None and draw(ONE_IN_FOUR):
        owners = [None, *OWNERS[: draw(st.sampled_from([3, 6, 18]))]]
        problem = with_persons(problem, draw(st.lists(st.sampled_from(owners), min_size=25, max_size=25)))
    if problem.unit is not None and draw(st.booleans()):
        problem = replace(problem, rows=one_vector_each(problem.rows, problem.hierarchies, problem.unit))
    limit = draw(st.sampled_from([None, None, 0.5, 0.9]))
    return Case(
        problem=problem if limit is None else replace(problem, limit=limit),
        forms={column: draw(st.sampled_from(forms_of(h))) for column, h in problem.hierarchies.items()},
        style=draw(st.sampled_from(["drop", "mask"])),
        algorithm=draw(st.sampled_from(["optimal", "incognito", "samarati", "exhaustive"])),
        metric=draw(st.sampled_from(list(METRICS))),
        prefer=draw(PREFERENCE),
    )


def with_persons(problem: RandomProblem, owners: Sequence[str | None]) -> RandomProblem:
    """The problem with a unit to protect. (Left alone, one in four has one.)"""
    rows = [{**row, "unit": owner} for row, owner in zip(problem.rows, owners, strict=False)]
    required = [item for item in problem.requirements if "k_anonymity" in item] or [{"k_anonymity": {"k": 2}}]
    others = [item for item in problem.requirements if "k_anonymity" not in item]
    return replace(problem, rows=rows, unit="unit", requirements=[*required, *others])


def one_vector_each(rows: Sequence[Row], columns: Iterable[str], unit: str) -> list[dict[str, Any]]:
    """The rows with the quasi-identifiers of each unit's first row, so that a unit has one vector only."""
    first: dict[Any, Row] = {}
    return [
        {**row, **{column: first.setdefault(row[unit], row)[column] for column in columns}}
        if row[unit] is not None
        else dict(row)
        for row in rows
    ]


def tree_of(hierarchy: Hierarchy) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for labels in hierarchy.values():
        inside = tree
        for label in reversed(labels[:-1]):
            inside = inside.setdefault(str(label), {})
    return tree


def load(database: Database, folder: Path, case: Case) -> kanon_sql.Spec:
    """Write the table and its hierarchies, and return the spec that names them."""
    problem = case.problem
    for name in ("people_release", "kanon_sql_manifest", "kanon_sql_scratch"):
        database.connection.execute(f"DROP TABLE IF EXISTS {name}")
    unit = [] if problem.unit is None else [problem.unit]
    names = ["name", *problem.hierarchies, *problem.sensitive, *unit, "serial", "unnamed"]
    numbers = [name for name in problem.sensitive if any(isinstance(row[name], int) for row in problem.rows)]
    kinds = dict.fromkeys(names, "VARCHAR") | dict.fromkeys(["serial", *numbers], "INTEGER")
    lines = [
        {**row, "name": f"person {number}", "serial": number, "unnamed": "?"} for number, row in enumerate(problem.rows)
    ]
    database.table("people", kinds, [[line[name] for name in names] for line in lines])
    quasi_identifiers = {}
    for column, hierarchy in problem.hierarchies.items():
        rows = list(hierarchy.values())
        given: dict[str, Any] = {}
        if case.forms[column] == "tree":
            given["tree"] = tree_of(hierarchy)
        elif case.forms[column] == "table":
            database.table(f"hierarchy_{column}", [f"level {n}" for n in range(len(rows[0]))], rows)
            given["table"] = [f"hierarchy_{column}"]
        else:
            given["file"] = str(folder / f"{column}.csv")
            with open(given["file"], "w", encoding="utf-8", newline="") as file:
                csv.writer(file, delimiter=";", quoting=csv.QUOTE_ALL).writerows(rows)
        if column in problem.weights:
            given["weight"] = problem.weights[column]
        if column in problem.levels:
            given["minimum_level"], given["maximum_level"] = problem.levels[column]
        quasi_identifiers[column] = given
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "unit": problem.unit,
            "identifiers": ["name"],
            "quasi_identifiers": quasi_identifiers,
            "sensitive": problem.sensitive,
            "keep": ["serial"],
            "privacy": problem.requirements,
            "suppression": suppressing(problem.limit, style=case.style),
            "search": {"algorithm": case.algorithm, "metric": case.metric, "prefer": case.prefer},
            "nulls": problem.nulls,
        }
    )
