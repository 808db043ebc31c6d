"""Files of SQLite, and a spec for a table in one."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import kanon_sql


def run(file: Path, *statements: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(file, isolation_level=None)
    rows: list[tuple[Any, ...]] = []
    for statement in statements:
        rows = connection.execute(statement).fetchall()
    connection.close()
    return rows


def connect(file: Path, **options: Any) -> Any:
    return kanon_sql.connect(f"sqlite:///{file}", **options)


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "released",
            "quasi_identifiers": {"q": None},
            "privacy": [{"k_anonymity": 2}],
            "suppression": {"max_share": 0.5},
            **changes,
        }
    )


def released(file: Path) -> Counter[tuple[Any, ...]]:
    return Counter(run(file, "SELECT * FROM released"))
