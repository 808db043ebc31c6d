"""Visits of days, and the spec of a release of them that grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.base import Meter

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "release": "visits_release",
    "quasi_identifiers": {"zip": {"prefix": [2, 1], "minimum_level": 1, "maximum_level": 1}},
    "sensitive": ["disease"],
    "privacy": [{"k_anonymity": {"k": 3}}],
    "suppression": {"max_share": 0.5},
    "state": {"schema": "kanon_state"},
    "increments": {"watermark": "day"},
    "warnings": {"rows_not_persons": "allow"},
}


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**SPEC, **changes})


def visits(connection: duckdb.DuckDBPyConnection, day: int, zips: str, disease: str = "flu") -> None:
    """Rows of a day: a postal code of each letter."""
    for letter in zips:
        connection.execute("INSERT INTO visits VALUES (?, ?, ?)", [day, f"{letter}{letter}1", disease])


class Killed(BaseException):
    """No handler of a killed process runs; one that does here cannot reach the database any more."""


def statements(file: Path, patched: pytest.MonkeyPatch, at: int = 0, **options: Any) -> list[str]:
    """Refresh until the process is killed before its n-th statement, 0 for never; the names of all that it got to."""
    counted, names = Meter.count, []

    def count(self: Meter, statement: Any, *given: Any) -> Any:
        names.append(statement.name)
        if at and len(names) >= at:
            raise Killed
        return counted(self, statement, *given)

    engine = kanon_sql.connect(str(file))
    with patched.context() as patching:
        patching.setattr(Meter, "count", count)
        try:
            kanon_sql.refresh(engine, spec(), **options)
        except Killed:
            pass
        finally:
            engine.close()
    return names
