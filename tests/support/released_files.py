"""A file of people and its release, as the tests of released files make them."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import duckdb

import kanon_sql
from kanon_sql.spec import Spec
from kanon_sql.sql.dialects.duckdb import DuckDB
from tests.support.specs import QUIET

LABELS: dict[str, Any] = {"age": {"intervals": [5, 10, 20]}, "zip": {"prefix": [4, 3]}}


SPEC: dict[str, Any] = {
    "version": 1,
    "source": {"file": "people.csv"},
    "release": {"file": "out.csv"},
    "quasi_identifiers": LABELS,
    "sensitive": ["dx"],
    "privacy": [{"k_anonymity": 4}],
    "suppression": {"max_share": 0.1},
    "warnings": QUIET,
}


YAML = """\
version: 1
source: {file: SOURCE}
release: {file: RELEASE}
quasi_identifiers:
  age: {intervals: [5, 10, 20]}
  zip: {prefix: [4, 3]}
sensitive: [dx]
privacy: [k_anonymity: 4]
suppression: {max_share: 0.1}
"""


DIAGNOSES = ["flu", "", "cold, or\nnot", 'a "b"', None]


def people() -> list[tuple[Any, ...]]:
    return [(20 + i * 7 % 50, str(94100 + i * 3 % 7), DIAGNOSES[i % 5], f"p{i // 2}") for i in range(200)]


def spec_of(**changes: Any) -> Spec:
    return Spec.from_dict({**SPEC, **changes})


def publish(**changes: Any) -> kanon_sql.results.Release:
    with kanon_sql.connect() as db:
        return kanon_sql.anonymize(db, spec_of(**changes)).raise_for_failure()


def left() -> set[str]:
    return set(os.listdir()) - {"people.csv"}


def rows_of(name: str, columns: str = "*") -> Counter[tuple[Any, ...]]:
    """The file's rows, read by options that are written here once more."""
    source = f"read_parquet('{name}')"
    if name.endswith(".csv"):
        with open(name, newline="") as file:
            names = next(csv.reader(file))
        kinds = ", ".join(f"'{column}': 'VARCHAR'" for column in names)
        options = "auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', nullstr = ''"
        source = f"read_csv('{name}', {options}, allow_quoted_nulls = false, columns = {{{kinds}}})"
    rows = duckdb.sql(f"SELECT {columns} FROM {source}").fetchall()
    return Counter(tuple(None if cell is None else str(cell) for cell in row) for row in rows)


def spoiled(query: str) -> Callable[..., str]:
    """A COPY that writes other rows than those of the table."""
    true = DuckDB.to_file

    def to_file(self: DuckDB, table: Any, path: str, run_id: str) -> str:
        name = self.relation(table)
        return true(self, table, path, run_id).replace(f"COPY {name}", f"COPY ({query.format(name)})")

    return to_file
