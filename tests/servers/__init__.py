"""Private servers for the tests, in temporary directories: one for a subject, which the next one may get."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from kanon_sql.testing import Subject
from tests.servers.base import Missing, UrlSubject
from tests.servers.clickhouse import ClickHouseSubject
from tests.servers.embedded import DuckDBSubject
from tests.servers.mariadb import MariaDBSubject
from tests.servers.postgres import Postgres18Subject, PostgresSubject
from tests.servers.spark import SparkSubject
from tests.servers.sqlite import SQLiteSubject

REQUIRED = set(filter(None, os.environ.get("KANON_REQUIRE_ENGINES", "").split(",")))

SUBJECTS: dict[str, type[Subject]] = {
    "duckdb": DuckDBSubject,
    "postgres": PostgresSubject,
    "sqlite": SQLiteSubject,
    "mariadb": MariaDBSubject,
    "clickhouse": ClickHouseSubject,
    "spark": SparkSubject,
}

VERSIONS: dict[str, type[Subject]] = {"postgres18": Postgres18Subject}
"""Other versions of these: what they might do otherwise is tested on them, and not everything."""


def required(name: str, module: str) -> Any:
    """A library that a module of tests needs: without it they are skipped, or fail if CI asks for it."""
    if name in REQUIRED:
        return import_module(module)
    return pytest.importorskip(module)


@contextmanager
def subject_of(name: str, **given: Any) -> Iterator[Subject]:
    """A subject, stopped at the end; the test is skipped, or fails if CI asks for it, when it is not here."""
    try:
        made = {**SUBJECTS, **VERSIONS}[name](**given)
    except Missing as missing:
        if name in REQUIRED:
            pytest.fail(f"KANON_REQUIRE_ENGINES names {name}: {missing}")
        pytest.skip(f"{name}: {missing}")
    if isinstance(made, UrlSubject):
        made.gives_back = True
    try:
        yield made
    finally:
        made.close()
