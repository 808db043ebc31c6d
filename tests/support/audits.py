"""Tables to audit, and what the tests of attacks share."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

import pytest

from kanon_sql import Spec
from kanon_sql.disclosure.attacks import ATTACKS, Attack
from kanon_sql.verbs.audit import AuditResult
from tests.conftest import Database
from tests.oracles.audit import Found
from tests.oracles.model import Hierarchy, generalize, height_of
from tests.support.strategies import SENSITIVE_VALUES, RandomProblem

Rows = Sequence[Mapping[str, Any]]

NAMES = {*ATTACKS, "linking, reversed", "downcoding, minimal"} - {"consistency"}
NAMES |= {"consistency (1,k)", "consistency (k,1)", "consistency, global (1,k)"}


def make(database: Database, name: str, rows: Rows, columns: Sequence[str]) -> None:
    database.table(name, columns, [[row[column] for column in columns] for row in rows])


def hierarchy_table(database: Database, name: str, hierarchy: Hierarchy) -> dict[str, str]:
    levels = [f"l{level}" for level in range(height_of(hierarchy) + 1)]
    database.table(name, levels, [list(labels) for labels in hierarchy.values()])
    return {"table": name}


def by_name(result: AuditResult) -> dict[str, Attack]:
    return {attack.label: attack for attack in result.attacks}


def same(attack: Attack, found: Found) -> None:
    assert (attack.examined, attack.exposed, attack.beyond) == (found.examined, found.exposed, found.beyond)
    assert (attack.risk is None) == (found.risk is None)
    if attack.risk is not None and found.risk is not None:
        assert isclose(attack.risk, found.risk, abs_tol=1e-9)


def recoded(problem: RandomProblem, draw: random.Random, *, by_cell: bool, kept: float) -> list[dict[str, Any]]:
    """A release of some of a problem's rows: all cells of a column at one level, or each cell at its own."""
    heights = [height_of(hierarchy) for hierarchy in problem.hierarchies.values()]
    node = tuple(draw.randint(0, height) for height in heights)
    rows = []
    for row in problem.rows:
        if draw.random() > kept:
            continue
        levels = tuple(draw.randint(0, height) for height in heights) if by_cell else node
        (vector,) = generalize([row], problem.hierarchies, levels)
        assert vector is not None
        rows.append({**row, **dict(zip(problem.hierarchies, vector, strict=True))})
    draw.shuffle(rows)
    return rows


SENSITIVE_HIERARCHY: Hierarchy = {
    value: (value, "X" if value in ("x", "X", "x ") else "other", "*")
    for value in SENSITIVE_VALUES
    if value is not None
}


def small_spec(**changes: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "quasi_identifiers": {"q": None}, "sensitive": ["d"],
            "privacy": [{"k_anonymity": 2}], **changes,
        }
    )  # fmt: skip


CLINIC: dict[str, Any] = {
    "version": 1,
    "source": "audited_visits",
    "release": "audited",
    "quasi_identifiers": {
        "age": {"intervals": [10, 20], "top": 60},
        "zip": {"prefix": [3]},
        "sex": {"tree": {"any": ["M", "F", "m"]}},
    },
    "sensitive": ["illness"],
    "keep": ["charge"],
    "privacy": [
        {"k_anonymity": 3},
        {"l_diversity": {"attribute": "illness", "l": 3}},
        {"t_closeness": {"attribute": "illness", "t": 0.3}},
    ],
}


def clinic() -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Visits, two releases of them at different levels, and a list of people."""
    draw = random.Random(5)
    visits: list[tuple[Any, ...]] = [
        (
            draw.choice([*range(-3, 75, 4), None]), draw.choice(["94130", "94131", "9423", None]),
            draw.choice(["M", "F", "m"]), draw.choice(["flu", "Flu", "ulcer", None]), draw.randint(1, 9),
        )
        for _ in range(80)
    ]  # fmt: skip

    def interval(age: int | None, width: int) -> str | None:
        if age is None:
            return None
        return ">= 60" if age >= 60 else f"[{age // width * width}, {age // width * width + width})"

    def area(zip_code: str | None) -> str | None:
        return None if zip_code is None else zip_code[:3] + "*" * (len(zip_code) - 3)

    first = [(interval(age, 10), "*", "any", illness, charge) for age, _, _, illness, charge in visits]
    second = [(interval(age, 20), area(code), sex, illness, charge) for age, code, sex, illness, charge in visits[:70]]
    people = [(age, code, charge) for age, code, _, _, charge in visits[::3]] + [(30, "94130", 5), (99, "x", 1)]
    return visits, first, second, people


QUICK = ("duckdb", "sqlite")  # what the others can do differently, conformance asks of them by default


def engine_marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xdist_group(name), *([] if name in QUICK else [pytest.mark.slow])]
