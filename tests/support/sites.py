"""Two sites that hold rows, or columns, of one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb

import kanon_sql
from kanon_sql.engines import Engine

# Values that nothing else looks like: a party's rows begin with its own letter.
NORTH = [(f"n{i % 4}x", f"nord-{i % 3}", f"ill-n{i % 5}", f"key{i:02}") for i in range(12)]
NORTH += [("qq1", "qwrt-1", "ill-n9", "key40")]


SOUTH = [("n0x", "nord-0", "ill-s0", "key50"), ("n1x", "nord-0", "ill-s1", "key51")]
SOUTH += [(f"s{i % 3}y", f"sued-{i % 2}", f"ill-s{i % 4}", f"key{60 + i}") for i in range(9)]
SOUTH += [("zz1", "zart-1", "ill-s9", "key90")]


SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "released",
    "identifiers": ["id"],
    "quasi_identifiers": {"job": {"prefix": [2, 1]}, "town": {"prefix": [4, 1]}},
    "sensitive": ["ill"],
    "privacy": [{"k_anonymity": 3}],
    "suppression": {"max_rows": 4},
    "search": {"metric": "precision"},
}


COLUMNS = ("job", "town", "ill", "id")


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**SPEC, **changes})


def site_of(rows: Sequence[Sequence[Any]], columns: Sequence[str] = COLUMNS) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f"CREATE TABLE people ({', '.join(f'{name} VARCHAR' for name in columns)})")
    connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(columns))})", rows)
    return connection


JOB = [(f"n{i % 2}x", f"key{i:02}") for i in range(14)]
JOB += [("qq1", "key14")]


TOWN = [(f"sued-{i // 2 % 2}", f"ill-s{i % 4}", f"key{i:02}") for i in range(2, 15)]


@dataclass
class Spy:
    """All that reaches Python, and all that reaches a database, by the engine."""

    fetched: list[tuple[int, str, tuple[Any, ...]]] = field(default_factory=list)
    sent: list[tuple[int, str, str]] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)

    def texts(self, engine: Engine) -> str:
        return "\n".join(sql for number, _, sql in self.sent if number == id(engine))

    def cells(self, engine: Engine, *templates: str) -> list[Any]:
        return [
            cell
            for number, name, row in self.fetched
            if number == id(engine) and (not templates or name in templates)
            for cell in row
        ]
