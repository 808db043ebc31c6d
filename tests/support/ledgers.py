"""Releases of one small table, entered in a ledger."""

from __future__ import annotations

import json
from typing import Any

import kanon_sql
from tests.conftest import Database


def entries(database: Database) -> list[dict[str, Any]]:
    found = database.connection.execute("SELECT manifest FROM ledger WHERE run_id <> 'turn'").fetchall()
    return [json.loads(text) for (text,) in found]


def people(database: Database, *lines: str) -> None:
    """``zip sex dx`` per line."""
    database.table("people", ["zip", "sex", "dx"], [line.split() for line in lines])


def asked(release: str, zip_level: int | None = None, sex_level: int | None = None, **more: Any) -> kanon_sql.Spec:
    def at(level: int | None) -> dict[str, Any]:
        return {} if level is None else {"minimum_level": level, "maximum_level": level}

    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "release": release, "sensitive": ["dx"],
            "quasi_identifiers": {"zip": {"prefix": [1], **at(zip_level)}, "sex": at(sex_level)},
            "privacy": [{"k_anonymity": 2}], "ledger": "ledger", **more,
        }
    )  # fmt: skip


SQUARE = [f"{code} {sex} d{number}" for number, (code, sex) in enumerate(
    (code, sex) for code in ("10", "11", "20", "21") for sex in "MF"
)]  # fmt: skip
