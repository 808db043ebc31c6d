"""Engines whose comparisons ignore blanks at the end: texts that they would merge are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import UnsupportedError
from kanon_sql.spec import Spec
from kanon_sql.sql.dialects.duckdb import DuckDB


class Padded(DuckDB):
    """DuckDB, taken for an engine whose comparisons ignore blanks at the end."""

    pads = True


@pytest.fixture
def padded() -> Iterator[tuple[Any, Any]]:
    with duckdb.connect() as connection:
        engine = kanon_sql.connect(connection)
        engine.dialect = Padded()
        yield connection, engine


PADDED_SPEC = {
    "version": 1, "source": "t", "release": "r", "quasi_identifiers": {"q": None}, "sensitive": ["s"],
    "privacy": [{"k_anonymity": 2}], "suppression": {"max_share": 0.9},
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("row", [("a ", "x"), ("b", "x "), (" ", "x")])
def test_texts_that_would_be_merged_are_refused(padded: tuple[Any, Any], row: tuple[str, str]) -> None:
    connection, engine = padded
    connection.execute("CREATE TABLE t AS SELECT 'a' AS q, 'x' AS s UNION ALL SELECT ?, ?", row)
    spec = Spec.from_dict({**PADDED_SPEC, "privacy": [{"l_diversity": {"attribute": "s", "l": 1}}]})
    for verb in (kanon_sql.anonymize, kanon_sql.plan, lambda *given: kanon_sql.check(*given, "t")):
        with pytest.raises(UnsupportedError, match="1 row has a text that ends with a blank"):
            verb(engine, spec)
    assert connection.execute("SELECT COUNT(*) FROM duckdb_tables() WHERE table_name = 'r'").fetchall() == [(0,)]


def test_texts_without_blanks_at_the_end_are_not(padded: tuple[Any, Any]) -> None:
    connection, engine = padded
    connection.execute("CREATE TABLE t AS SELECT unnest(['a', 'a', '', '', ' b', ' b', NULL, NULL]) AS q, 'x' AS s")
    assert kanon_sql.anonymize(engine, Spec.from_dict(PADDED_SPEC)).rows["released"] == 8


def test_people_of_a_population_who_would_be_merged_are_refused(padded: tuple[Any, Any]) -> None:
    """Two different persons would count as alike, and protect a row that stands for one of them."""
    connection, engine = padded
    connection.execute("CREATE TABLE t AS SELECT 'a' AS q, 'x' AS s")
    connection.execute("CREATE TABLE census AS SELECT unnest(['a', 'a ']) AS q")
    spec = Spec.from_dict({**PADDED_SPEC, "privacy": [{"k_map": {"population": "census", "k": 2}}]})
    for verb in (kanon_sql.anonymize, lambda *given: kanon_sql.check(*given, "t")):
        with pytest.raises(UnsupportedError, match="census: 1 row has a text that ends with a blank"):
            verb(engine, spec)


def test_labels_that_would_be_merged_are_refused(padded: tuple[Any, Any]) -> None:
    connection, engine = padded
    connection.execute("CREATE TABLE t AS SELECT unnest(['a b', 'a c', 'a']) AS q, 'x' AS s")
    spec = Spec.from_dict({**PADDED_SPEC, "quasi_identifiers": {"q": {"tree": {"g": ["a b", "a c"], "g ": ["a"]}}}})
    with pytest.raises(UnsupportedError, match=r"quasi_identifiers\.q: its hierarchy"):
        kanon_sql.plan(engine, spec)
