"""A small table and specs for differentially private releases of it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import kanon_sql
from tests.conftest import Database

PRIVATE: dict[str, Any] = {"epsilon": 1, "delta": 0.05, "generalization": {"age": 1, "sex": 0}}
ROOM = {"total": {"epsilon": 3, "delta": 0.15}}
COLUMNS = ["age", "sex", "name"]


def asked(release: str = "r1", change: dict[str, Any] | None = None, **more: Any) -> kanon_sql.Spec:
    requirement = {**PRIVATE, **(change or {})}
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "release": release, "identifiers": ["name"],
            "quasi_identifiers": {"age": {"intervals": [10]}, "sex": {"tree": {"any": ["M", "F"]}}},
            "privacy": [{"differential_privacy": requirement}], "ledger": "ledger", **more,
        }
    )  # fmt: skip


def searching(epsilon: float = 0.5) -> dict[str, Any]:
    return {"generalization": None, "search": {"epsilon": epsilon}, **ROOM}


def rows_of(seed: int, count: int = 400) -> list[tuple[int | None, str, str]]:
    draw = random.Random(seed)
    return [
        (
            draw.choice([None, *range(10, 70)]) if draw.random() < 0.2 else draw.randint(20, 39),
            draw.choice("MF"),
            f"n{i}",
        )
        for i in range(count)
    ]


def people(database: Database, rows: Sequence[tuple[int | None, str, str]]) -> None:
    database.table("people", COLUMNS, rows)
    database.connection.execute("ALTER TABLE people ALTER age TYPE INTEGER")


def generalized(rows: list[tuple[int | None, str, str]]) -> Counter[tuple[str | None, str]]:
    """The labels at the levels of PRIVATE."""
    return Counter((None if age is None else f"[{age // 10 * 10}, {age // 10 * 10 + 10})", sex) for age, sex, _ in rows)
