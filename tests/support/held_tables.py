"""A table as a program may hold it, and its spec."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import ibis
import pandas as pd

import kanon_sql

SPEC: dict[str, Any] = {
    "version": 1,
    "quasi_identifiers": {"age": {"intervals": [5, 10, 20]}, "zip": {"prefix": [4, 3]}},
    "sensitive": ["dx"],
    "keep": ["x"],
    "privacy": [{"k_anonymity": 4}, {"l_diversity": {"attribute": "dx", "l": 2}}],
    "suppression": {"max_share": 0.3},
}


ROWS = [
    (
        20 + i * 37 % 40,
        str(94100 + i * 13 % 30),
        ["flu", "cold", None, "ulcer"][i * 7 // 3 % 4],
        (1.5, None, 2.0)[i % 3],
    )
    for i in range(240)
] + [(5, "10001", "flu", 1.5), (6, "10002", None, None)]


NAMES = ["age", "zip", "dx", "x"]


def spec(**changed: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**SPEC, **changed})


def table(rows: Sequence[tuple[Any, ...]] = ROWS) -> Any:
    return pd.DataFrame(rows, columns=NAMES).astype({"age": "int64", "x": "float64"})


def in_duckdb(connection: duckdb.DuckDBPyConnection, rows: Sequence[tuple[Any, ...]] = ROWS) -> None:
    connection.execute("CREATE TABLE visits (age BIGINT, zip VARCHAR, dx VARCHAR, x DOUBLE)")
    connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", list(rows))


def as_ibis(query: bool) -> Callable[[], Any]:
    def made() -> Any:
        backend = ibis.duckdb.connect()
        in_duckdb(backend.con)
        found = backend.table("visits")
        return found.filter(found.age > 0) if query else found

    return made
