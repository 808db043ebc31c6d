"""``init`` recognizes whom a panel follows by its rows, where no name says it."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Column
from kanon_sql.spec import Spec
from kanon_sql.verbs.init import init
from kanon_sql.verbs.init.columns import ColumnProfile
from kanon_sql.verbs.init.panel import _likely

PANEL = """
    SELECT 100 + 7 * n AS nr, 1980 + y AS year, n % 3 AS race, (n + y) % 10 AS exper FROM range(60) a(n), range(8) b(y)
"""


def unit_of(table: str) -> tuple[str | None, str]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS {table}")
        text = init(kanon_sql.connect(connection), "t")
    return Spec.parse(text).unit, text


@pytest.mark.parametrize("name", ["nr", "idcode", "SEQN", "hhid", "panel_id", "pid", "x"])
def test_a_panel_by_its_rows(name: str) -> None:
    unit, text = unit_of(PANEL.replace("nr", name))
    assert unit == name
    assert 'a panel of one row for each of these and "year"' in text
    assert "at least 5 persons look alike" in text


def test_a_spec_of_it_counts_persons() -> None:
    """Eight rows of a person are one: the whole path from init to a verdict by persons."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS {PANEL}")
        spec = Spec.parse(init(kanon_sql.connect(connection), "t"))
        found = kanon_sql.plan(kanon_sql.connect(connection), spec)
    assert found.rows["persons"] == 60
    assert found.rows["source"] == 480


def test_half_of_the_years_are_missing() -> None:
    assert unit_of(f"SELECT * FROM ({PANEL}) WHERE (nr // 7 + year) % 2 = 0")[0] == "nr"


@pytest.mark.parametrize(
    "table",
    [
        # One row twice: the pair is no key.
        f"{PANEL} UNION ALL SELECT 100, 1980, 0, 0",
        # A NULL: whose row is it?
        PANEL.replace("100 + 7 * n", "nullif(100 + 7 * n, 100)"),
        # As two quasi-identifiers do: their pairs are a key, of which few occur.
        "SELECT n % 97 AS code, n * 31 % 1009 AS born, n % 2 AS sex FROM range(480) a(n)",
        # A place has rows by year as well, and is no person.
        PANEL.replace("nr", "county"),
        # As many categories as a person's table has few of.
        PANEL.replace("range(60)", "range(40)"),
        # No row but one.
        PANEL.replace("range(8)", "range(1)"),
    ],
)
def test_what_is_no_panel(table: str) -> None:
    unit, text = unit_of(table)
    assert unit is None
    assert "# unit: person_id" in text


@given(who=st.integers(2, 400), when=st.integers(2, 400), rows=st.integers(2, 4000))
def test_which_pairs_are_looked_at(who: int, when: int, rows: int) -> None:
    """Only those of which a row each could be a quarter of all there are, and no more than all."""
    profiles = [
        ColumnProfile(Column(name, "BIGINT", "integer"), rows, rows, distinct)
        for name, distinct in (("a", who), ("b", when))
    ]
    found = {pair[0].name for pair in _likely(profiles)}
    for name, mine, other in (("a", who, when), ("b", when, who)):
        several = mine > 50 and 2 * mine <= rows <= 100 * mine
        assert (name in found) == (several and other <= mine and mine * other <= 4 * rows and rows <= mine * other)
