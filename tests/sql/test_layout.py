"""The lines that ``render`` prints hold the very words that run."""

from __future__ import annotations

import re

import duckdb
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.sql import dialect_named, laid_out
from kanon_sql.sql.dialects import DIALECTS
from tests.golden.statements import statements
from tests.verbs.test_render import SPEC, create, released


def words(sql: str, dialect: str) -> list[tuple[object, str]]:
    return [(token.token_type, token.text) for token in sqlglot.tokenize(sql, read=dialect)]


def assert_same_words(sql: str, dialect: str) -> None:
    shown = laid_out(sql, dialect)
    assert words(shown, dialect) == words(sql, dialect)
    # Blanks in a literal are no blanks between words.
    assert re.sub(r"\s+", "", shown) == re.sub(r"\s+", "", sql)
    assert laid_out(shown, dialect).split() == shown.split()


@pytest.mark.campaign_on(*sorted(set(DIALECTS) - {"duckdb", "postgres"}))
@pytest.mark.parametrize(
    ("dialect", "step"),
    [
        pytest.param(name, step, marks=[mark, pytest.mark.xdist_group(f"{name} files")])
        for step, mark in ((30, pytest.mark.slow), (1, pytest.mark.campaign))
        for name in DIALECTS
    ],
)
def test_statements_keep_their_words_and_long_ones_get_lines(dialect: str, step: int) -> None:
    """One in so many, others of each dialect: to lay a statement out takes longer than to write it."""
    words_of = dialect_named(dialect).sqlglot
    found = sorted({statement.sql for statement in statements(dialect)})[list(DIALECTS).index(dialect) % step :: step]
    for sql in found:
        assert_same_words(sql, words_of)
    long = [sql for sql in found if len(sql) > 200 and "\n" not in sql]
    assert sum("\n" in laid_out(sql, words_of) for sql in long) > 0.98 * len(long) > 0


@pytest.mark.campaign
def test_a_script_of_any_dialect_keeps_its_words() -> None:
    spec = kanon_sql.Spec.from_dict(SPEC)
    for dialect in DIALECTS:
        for statement in kanon_sql.render(spec, dialect).statements:
            assert_same_words(statement.sql, dialect_named(dialect).sqlglot)


@pytest.mark.slow
def test_both_forms_run_and_make_the_same_release() -> None:
    spec = kanon_sql.Spec.from_dict(SPEC)
    made = []
    levels = {"age": 3, "zip": 2, "born": 5, "Select": 1}
    for printed in (False, True):
        with duckdb.connect() as connection:
            create(connection.execute, "?")
            rendered = kanon_sql.render(spec, "duckdb", levels)
            connection.execute(rendered.text if printed else ";\n".join(rendered.sql))
            made.append(released(connection))
    assert made[0] == made[1]
    assert made[0]


def test_lines_follow_clauses_items_and_conditions() -> None:
    name = "c" * 38
    sql = (
        f"SELECT DISTINCT {name}, '  FROM  (' AS {name}2, EXTRACT(YEAR FROM d) AS y FROM t LEFT OUTER JOIN u "
        f"ON u.a = t.a WHERE t.{name} IS NOT DISTINCT FROM u.{name} AND (u.b > 1 OR u.c IN (SELECT LEFT(c, 3) FROM v)) "
        f"GROUP BY {name}"
    )
    assert laid_out(sql, "duckdb").split("\n") == [
        "SELECT DISTINCT",
        f"  {name},",
        f"  '  FROM  (' AS {name}2,",
        "  EXTRACT(YEAR FROM d) AS y",
        "FROM t",
        "LEFT OUTER JOIN u",
        "ON u.a = t.a",
        f"WHERE t.{name} IS NOT DISTINCT FROM u.{name}",
        "  AND (u.b > 1 OR u.c IN (SELECT LEFT(c, 3) FROM v))",
        f"GROUP BY {name}",
    ]


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {'a, ' * 60} b -- a comment, which ends with its line\n FROM t",
        f"SELECT {'a, ' * 60} /* a comment */ b FROM t",
        f"SELECT {'a, ' * 60} b) FROM t",
        f"SELECT ({'a, ' * 60} b FROM t",
        f"SELECT {'a, ' * 60} 'never closed FROM t",
        "SELECT 1",
        "",
    ],
)
def test_what_is_not_understood_or_short_stays_as_it_is(sql: str) -> None:
    assert laid_out(sql, "duckdb") == sql


WORDS = st.sampled_from(
    [
        "SELECT",
        "FROM",
        "GROUP BY",
        "AND",
        "CASE",
        "WHEN",
        "END",
        "JOIN",
        "LEFT",
        ",",
        "f",
        "a",
        "'it''s  (' ",
        '"a""b)"',
        ".",
    ]
)


@pytest.mark.slow
@given(st.recursive(WORDS, lambda inner: st.lists(inner, max_size=30).map(lambda parts: f"( {' '.join(parts)} )")))
def test_whatever_stands_there_only_blanks_change(sql: str) -> None:
    assert_same_words(sql, "duckdb")
    assert_same_words(f"{sql} {'x, ' * 50} {sql}", "postgres")
