"""Databases in memory that hold a batch of tables and answer for one of them at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import sqlalchemy

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.sql import Statement
from tests.small_worlds.tables import TABLES, Cell, Tables, names_of
from tests.small_worlds.worlds import Rows

DATABASE = ":memory:small_worlds"
WRITTEN = ("people_release", "kanon_sql_manifest")
"""What ``anonymize`` writes."""


class Bench(ABC):
    """One connection for all problems of an engine.

    Attributes:
        engine: the package's.
    """

    engine: Engine

    @abstractmethod
    def load(self, tables: Tables) -> None:
        """Put a batch where its problems look for it, and take away what the last one left."""

    @abstractmethod
    def use(self, table: int) -> None:
        """Make a table of the batch the one that names mean."""

    @abstractmethod
    def optimize(self, whether: bool) -> None:
        """Let the engine optimize its plans, which can take longer than running them on a small table, or not."""

    @abstractmethod
    def released(self, table: int) -> list[tuple[Any, ...]]:
        """The release that a problem on a table wrote."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""


class DuckDB(Bench):
    """A schema per table, and another connection to the same database that loads them."""

    def __init__(self) -> None:
        self._loader = duckdb.connect(DATABASE, config={"threads": 1})
        self.engine = kanon_sql.connect(DATABASE, threads=1)
        for table in range(TABLES):
            self._loader.execute(f"CREATE SCHEMA IF NOT EXISTS w{table}")
        self._schema = -1

    def close(self) -> None:
        self.engine.close()
        self._loader.close()

    def load(self, tables: Tables) -> None:
        for name, own in tables.hierarchies.items():
            levels = ", ".join(f"l{level} VARCHAR" for level in range(own.height + 1))
            self._loader.execute(f"CREATE OR REPLACE TABLE main.h_{name} ({levels})")
            marks = ", ".join("?" * (own.height + 1))
            self._loader.executemany(f"INSERT INTO main.h_{name} VALUES ({marks})", own.paths())
        for table in range(TABLES):
            for name in WRITTEN:
                self._loader.execute(f"DROP TABLE IF EXISTS w{table}.{name}")
        for kind, rows in tables.kinds.items():
            self._load(kind, rows, tables.values)

    def _load(self, kind: str, rows: Rows, values: Mapping[str, Sequence[Cell]]) -> None:
        names = names_of(kind)
        codes = {"world": rows.world, **{name: rows.columns[name] for name in names}}
        assert codes  # read by its name in the statement
        cells = ", ".join(f"({_listed(values[name])})[{name} + 1] AS {name}" for name in names)
        self._loader.execute(f"CREATE OR REPLACE TEMP TABLE loaded AS SELECT world, {cells} FROM codes")
        for table in range(TABLES):
            rows_of = f"SELECT {', '.join(names)} FROM loaded WHERE world = {table}"
            self._loader.execute(f"CREATE OR REPLACE TABLE w{table}.{kind} AS {rows_of}")

    def optimize(self, whether: bool) -> None:
        self.engine.execute(Statement("optimizer", f"PRAGMA {'enable' if whether else 'disable'}_optimizer"))

    def use(self, table: int) -> None:
        if table != self._schema:
            self.engine.execute(Statement("schema", f"SET schema = 'w{table}'"))
            self._schema = table

    def released(self, table: int) -> list[tuple[Any, ...]]:
        return self._loader.execute(f"SELECT * FROM w{table}.people_release").fetchall()


def _listed(values: Sequence[Cell]) -> str:
    """A domain as a list in SQL; a code is a place in it, less one, and NULL is none."""
    return "[" + ", ".join(str(v) if isinstance(v, int) else "'" + v.replace("'", "''") + "'" for v in values) + "]"


class SQLite(Bench):
    """One table of each name, filled anew for each problem from all tables of the batch side by side."""

    def __init__(self) -> None:
        self._pool = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.pool.StaticPool)
        self._connection = self._pool.connect()
        self.engine = kanon_sql.connect(self._connection)
        self._driver: Any = self._connection.connection.driver_connection
        self._bounds: dict[str, list[tuple[int, int]]] = {}
        for kind in ("people", "origin", "population"):
            columns = ", ".join(f"{name} {'INTEGER' if name == 's1' else 'TEXT'}" for name in names_of(kind))
            self._driver.execute(f"CREATE TABLE {kind} ({columns})")
            self._driver.execute(f"CREATE TABLE all_{kind} ({columns})")

    def close(self) -> None:
        self.engine.close()
        self._connection.close()
        self._pool.dispose()

    def load(self, tables: Tables) -> None:
        self._driver.execute("BEGIN")
        for name, own in tables.hierarchies.items():
            levels = [f"l{level}" for level in range(own.height + 1)]
            self._driver.execute(f"DROP TABLE IF EXISTS h_{name}")
            self._driver.execute(f"CREATE TABLE h_{name} ({', '.join(f'{level} TEXT' for level in levels)})")
            self._driver.executemany(f"INSERT INTO h_{name} VALUES ({', '.join('?' * len(levels))})", own.paths())
        for kind, rows in tables.kinds.items():
            self._driver.execute(f"DELETE FROM all_{kind}")
            marks = ", ".join("?" * len(names_of(kind)))
            self._driver.executemany(f"INSERT INTO all_{kind} VALUES ({marks})", tables.cells(kind))
            self._bounds[kind] = list(pairwise(np.searchsorted(rows.world, range(TABLES + 1)).tolist()))
        self._driver.execute("COMMIT")

    def use(self, table: int) -> None:
        self._driver.execute("BEGIN")
        for name in WRITTEN:
            self._driver.execute(f"DROP TABLE IF EXISTS {name}")
        for kind, bounds in self._bounds.items():
            self._driver.execute(f"DELETE FROM {kind}")
            some = f"SELECT * FROM all_{kind} WHERE rowid > ? AND rowid <= ?"
            self._driver.execute(f"INSERT INTO {kind} {some}", bounds[table])
        self._driver.execute("COMMIT")

    def optimize(self, whether: bool) -> None:
        """There is no such choice."""

    def released(self, table: int) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._driver.execute("SELECT * FROM people_release").fetchall()
        return found


BENCHES: dict[str, type[Bench]] = {"duckdb": DuckDB, "sqlite": SQLite}
