"""Specs that are warned of, and the warnings of a result."""

from __future__ import annotations

import random
from typing import Any

import kanon_sql
from tests.conftest import Database

QUIET = {"rows_not_persons": "allow", "nearly_unique_kept": "allow", "uneven_suppression": "allow"}


def spec(**changes: Any) -> kanon_sql.Spec:
    given: dict[str, Any] = {"version": 1, "source": "people", "release": "people_release", "warnings": QUIET}
    return kanon_sql.Spec.from_dict({**given, **changes})


def k_of(k: int) -> list[dict[str, Any]]:
    return [{"k_anonymity": {"k": k}}]


def the(result: Any, code: str) -> Any:
    (found,) = (item for item in result.warnings if item.code == code)
    return found


def codes(result: Any) -> list[str]:
    return [item.code for item in result.warnings]


def people(count: int, noise: int) -> list[tuple[Any, ...]]:
    """Ages and ZIP codes; a birth year that gives the age but in some rows, a town per ZIP code, a note by chance."""
    draw = random.Random(noise)
    found = []
    for _ in range(count):
        age, area = draw.randint(20, 59), draw.randint(0, 49)
        born = 2024 - age if draw.randint(0, 99) >= noise else draw.randint(1965, 2004)
        found.append((age, f"1{area:02}", born, f"town {area}", draw.randint(0, count // 3)))
    return found


def births(database: Database, rows: int = 80) -> None:
    values = [(20 + i % 40, 2024 - (20 + i % 40)) for i in range(rows)]
    database.table("people", {"age": "INTEGER", "born": "INTEGER"}, values)


BANDS: dict[str, Any] = {"age": {"intervals": [10, 20], "minimum_level": 1}}


def named(database: Database) -> None:
    rows = [(i, f"n{i % 50}", 20 + i % 4, i % 7) for i in range(200)]
    columns = {"nhs_number": "INTEGER", "name": "VARCHAR", "age": "INTEGER", "amount": "INTEGER"}
    database.table("people", columns, rows)
