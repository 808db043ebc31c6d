"""``init`` recognizes whom a panel follows by its rows, where no name says it."""

from __future__ import annotations

from collections import Counter
from random import Random

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines import open_workspace
from kanon_sql.engines.base import Column
from kanon_sql.spec import Spec
from kanon_sql.verbs.init import init
from kanon_sql.verbs.init.columns import ColumnProfile
from kanon_sql.verbs.init.panel import _likely, _meetings, followed
from kanon_sql.verbs.init.profile import profile_columns
from tests.support.drafts import metered

PANEL = """
    SELECT 100 + 7 * n AS nr, 1980 + y AS year, n % 3 AS race, (n + y) % 10 AS exper FROM range(60) a(n), range(8) b(y)
"""


def unit_of(table: str) -> tuple[str | None, str]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS {table}")
        text = init(kanon_sql.connect(connection), "t")
    return Spec.parse(text).unit, text


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", ["nr", "idcode", "SEQN", "hhid", "panel_id", "pid", "x"])
def test_a_panel_by_its_rows(name: str) -> None:
    unit, text = unit_of(PANEL.replace("nr", name))
    assert unit == name
    by_name = name in ("idcode", "SEQN", "hhid", "pid")
    assert ("a person has several rows" if by_name else 'a panel of one row for each of these and "year"') in text
    assert "year" in Spec.parse(text).quasi_identifiers, "what an analyst of a panel cannot do without"
    assert "at least 5 persons look alike" in text


@pytest.mark.slow
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
        PANEL.replace("range(60)", "range(40)").replace("nr", "x"),
        # No row but one.
        PANEL.replace("range(8)", "range(1)"),
    ],
)
def test_what_is_no_panel(table: str) -> None:
    unit, text = unit_of(table)
    assert unit is None
    assert "# unit: person_id" in text


@given(who=st.integers(2, 400), when=st.integers(2, 400), rows=st.integers(2, 4000), dated=st.booleans())
def test_which_pairs_are_looked_at(who: int, when: int, rows: int, dated: bool) -> None:
    """Only those that as many rows could be a key of, and would not be one by chance."""
    profiles = [
        ColumnProfile(Column("a", "BIGINT", "integer"), rows, rows, who),
        ColumnProfile(Column("b", "DATE", "date") if dated else Column("b", "BIGINT", "integer"), rows, rows, when),
    ]
    found = {pair[0].name for pair in _likely(profiles)}
    for name, mine, other, moments in (("a", who, when, dated), ("b", when, who, False)):
        integer = name == "a" or not dated
        enough = mine > 50 and rows <= (1000 if moments else 100) * mine
        order = other <= mine or moments
        # As few pairs of rows as can be are alike in each column; (rows choose 2) pairs in all.
        alike, all_pairs = [rows * (rows / count - 1) / 2 for count in (mine, other)], rows * (rows - 1) / 2
        by_chance = alike[0] * alike[1] / all_pairs
        if abs(by_chance - 20) > 1e-6:
            fits = rows <= mine * other and by_chance > 20
            assert (name in found) == (integer and enough and order and fits)


@pytest.mark.parametrize("seed", range(5))
def test_as_many_rows_are_alike_by_chance_as_is_said(seed: int) -> None:
    """The bound against counting: random columns have at least so many pairs of rows that are alike in both."""
    random = Random(seed)
    rows, who, when = 600, random.randint(60, 300), random.randint(3, 40)
    met = 0
    for _ in range(30):
        pairs = Counter((random.randrange(who), random.randrange(when)) for _ in range(rows))
        met += sum(count * (count - 1) // 2 for count in pairs.values())
    profile = [ColumnProfile(Column(name, "", "integer"), rows, rows, d) for name, d in (("a", who), ("b", when))]
    assert _meetings(*profile) <= met / 30 * 1.1


# --- What panels look like --------------------------------------------------------------------

DIARY = """
    SELECT 'p' || n AS {name}, DATE '2024-01-01' + CAST(d AS INTEGER) AS day, n % 2 AS female, (n * d) % 7 AS mood
    FROM range({persons}) a(n), range({days}) b(d)
"""
HOUSEHOLDS = """
    SELECT 1000 + n AS {name}, m AS {member}, 20 + (n * 7 + m * 31) % 60 AS age, n % 48 AS area
    FROM range(900) a(n), range(12) b(m) WHERE m <= n * 5 % 13 % 5 + (CASE WHEN n % 100 = 0 THEN 7 ELSE 0 END)
"""


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(("persons", "days"), [(60, 90), (80, 300), (20, 40), (12, 600)])
def test_a_diary_of_more_days_than_persons(persons: int, days: int) -> None:
    table = DIARY.format(name="subject_nr" if persons < 50 else "who", persons=persons, days=days)
    unit, text = unit_of(table)
    assert unit == ("subject_nr" if persons < 50 else "who")
    assert "day" in Spec.parse(text).quasi_identifiers


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "member"), [("hhid", "pnum"), ("a", "b"), ("household_nr", "line")])
def test_a_household_with_few_large_ones(name: str, member: str) -> None:
    """Most households lack most of the numbers that members may have: few pairs of all occur."""
    table = HOUSEHOLDS.format(name=name, member=member)
    assert unit_of(table)[0] == name


def test_a_panel_that_most_leave_early() -> None:
    rows = "SELECT * FROM ({}) WHERE year - 1980 <= (nr - 100) // 7 * 5 % 13 % 8"
    assert unit_of(rows.format(PANEL.replace("range(60)", "range(400)")))[0] == "nr"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("who", "when"),
    [("store", "day"), ("product_code", "month"), ("sensor", "day")],
)
def test_a_key_of_things_is_a_question(who: str, when: str) -> None:
    """Stores have a row a day as persons have: nobody is protected unasked, and the spec says what to do."""
    unit, text = unit_of(
        f"SELECT 100 + s AS {who}, d AS {when}, (s * d) % 997 AS units, s % 4 AS region "
        "FROM range(80) a(s), range(60) b(d)"
    )
    assert unit is None
    assert f"# {who} and {when}" in text
    assert f"# unit: {who}" in text
    again = text.replace(f"# unit: {who}", f"unit: {who}")
    assert Spec.parse(again).unit == who, "taking the # away is enough"


def test_a_manager_is_not_whom_the_rows_are_about() -> None:
    unit, text = unit_of(
        "SELECT 1000 + n AS emp_no, n % 40 AS manager_emp_no, n % 7 AS team, 20 + n % 40 AS age FROM range(800) a(n)"
    )
    assert unit is None
    assert set(Spec.parse(text).identifiers) == {"emp_no", "manager_emp_no"}


def test_who_has_several_rows_by_a_direct_identifier() -> None:
    unit, _ = unit_of("SELECT 'm' || n % 90 || '@example.org' AS contact, n % 7 AS topic FROM range(700) a(n)")
    assert unit == "contact"


@pytest.mark.slow
def test_a_large_panel_costs_as_many_statements_as_a_small_one() -> None:
    def cost(persons: int) -> tuple[int, int, int]:
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE t AS {PANEL.replace('range(60)', f'range({persons})')}")
            engine = kanon_sql.connect(connection)
            text, meter = metered(engine, "t")
            assert Spec.parse(text).unit == "nr"
            return meter.statements, meter.source_scans, meter.rows_fetched

    small, large = cost(60), cost(20_000)
    assert small == large
    assert large[0] == 11, (
        "is it there, columns, a profile, the key, who varies (a table, what is asked of it, its end), and four about "
        "columns together"
    )


@pytest.mark.slow
def test_wide_tables_ask_about_some_pairs_only() -> None:
    columns = ", ".join(f"(n * {7 + i} + y * {i}) % {60 + i} AS c{i}" for i in range(60))
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT n AS who, y AS wave, {columns} FROM range(400) a(n), range(6) b(y)"
        )
        engine = kanon_sql.connect(connection)
        with open_workspace(engine, engine.relation(table=("t",), query=None, file=None)) as workspace:
            _, profiles = profile_columns(workspace, engine.columns("t"))
            before = engine.meter.statements
            found = followed(workspace, profiles)
            assert engine.meter.statements - before == 1
    assert found is not None
    assert (found[0].name, found[1].name) == ("who", "wave"), "whose name says when goes first"
