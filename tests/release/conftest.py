"""A file and a table of people, for the tests of released files."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.base import Engine
from tests.support.command_line import SECRET
from tests.support.refreshed import spec, visits
from tests.support.released_files import people


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KANON_SQL_DATABASE", raising=False)
    with open("people.csv", "w", newline="") as file:
        csv.writer(file).writerows([("age", "zip", "dx", "person"), *people(), (99, SECRET, SECRET, SECRET)])
    return tmp_path


@pytest.fixture
def persons() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (age INTEGER, zip VARCHAR, dx VARCHAR, person VARCHAR)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", people())
        yield connection


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as opened:
        opened.execute("CREATE TABLE visits (day INTEGER, zip VARCHAR, disease VARCHAR)")
        visits(opened, 1, "aaaabbbbcc")
        yield opened


@pytest.fixture
def engine(connection: duckdb.DuckDBPyConnection) -> Iterator[Engine]:
    with kanon_sql.connect(connection) as opened:
        assert kanon_sql.anonymize(opened, spec()).passed
        yield opened
