"""Traps of the dialects, one test each: what the same words would mean elsewhere."""

from __future__ import annotations

import re
from collections import Counter

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import kanon_sql
from kanon_sql.errors import UnsupportedError
from kanon_sql.sql.dialects import DIALECTS, dialect_named
from kanon_sql.sql.dialects.oracle import Oracle
from tests.golden.statements import parsed, spec_of


def rendered(dialect: str, sql: str) -> str:
    """DuckDB's SQL, as a template would hold it, in a dialect."""
    return dialect_named(dialect).sql(sqlglot.parse_one(sql, read="duckdb"))


EXACT = {
    "snowflake": "COLLATE(CAST(\"a\" AS VARCHAR), '')",
    "bigquery": "COLLATE(CAST(`a` AS STRING), '')",
    "redshift": "COLLATE(CAST(\"a\" AS VARCHAR(MAX)), 'case_sensitive')",
    "databricks": "CAST(`a` AS STRING) COLLATE UTF8_BINARY",
    "tsql": "CAST([a] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2",
    "trino": 'CAST("a" AS VARCHAR)',
    "oracle": 'CAST("a" AS VARCHAR2(4000))',
}
WAREHOUSES = list(EXACT)


@pytest.mark.parametrize("dialect", WAREHOUSES)
def test_text_is_compared_exactly(dialect: str) -> None:
    found = rendered(dialect, 'SELECT COUNT(*) AS n FROM t GROUP BY CAST(a AS VARCHAR) COLLATE "binary"')
    assert found.endswith(f"GROUP BY {EXACT[dialect]}")


def test_oracle_collates_where_columns_may_have_collations() -> None:
    tree = sqlglot.parse_one('SELECT CAST(a AS VARCHAR) COLLATE "binary" AS b FROM t', read="duckdb")
    assert Oracle(extended=True).sql(tree) == 'SELECT CAST("a" AS VARCHAR2(32767)) COLLATE BINARY AS "b" FROM "t"'


@pytest.mark.parametrize(
    ("dialect", "type_and_collation"),
    [
        ("snowflake", "VARCHAR COLLATE '' NOT NULL"),
        ("bigquery", "STRING COLLATE '' NOT NULL"),
        ("redshift", "VARCHAR(MAX) COLLATE CASE_SENSITIVE NOT NULL"),
        ("databricks", "STRING COLLATE UTF8_BINARY NOT NULL"),
        ("tsql", "NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL"),
        ("trino", "VARCHAR"),
        ("oracle", "VARCHAR2(4000) NOT NULL"),
    ],
)
def test_the_databases_default_collation_does_not_reach_our_columns(dialect: str, type_and_collation: str) -> None:
    found = rendered(dialect, "CREATE TABLE t (l0 VARCHAR NOT NULL)")
    assert found == f"CREATE TABLE {dialect_named(dialect).quote('t')} ({dialect_named(dialect).quote('l0')} " + (
        f"{type_and_collation})"
    )


@pytest.mark.parametrize("dialect", WAREHOUSES)
def test_every_name_is_quoted_and_no_slot(dialect: str) -> None:
    quote = dialect_named(dialect).quote
    found = rendered(dialect, 'SELECT t.level AS "Level", COUNT(*) AS rows FROM slot_source AS t GROUP BY slot_key_0')
    for name in ("level", "Level", "rows", "t"):
        assert quote(name) in found
    assert quote("slot_source") not in found
    assert "slot_key_0" in found


NULL_SAFE = {
    "snowflake": '"t"."a" IS NOT DISTINCT FROM "u"."b"',
    "bigquery": "TO_JSON_STRING(`t`.`a`) = TO_JSON_STRING(`u`.`b`)",
    "redshift": '("t"."a" = "u"."b" OR ("t"."a" IS NULL AND "u"."b" IS NULL))',
    "databricks": "`t`.`a` IS NOT DISTINCT FROM `u`.`b`",
    "tsql": "EXISTS(SELECT [t].[a] INTERSECT SELECT [u].[b])",
    "trino": '"t"."a" IS NOT DISTINCT FROM "u"."b"',
    "oracle": '("t"."a" = "u"."b" OR ("t"."a" IS NULL AND "u"."b" IS NULL))',
}


@pytest.mark.parametrize("dialect", WAREHOUSES)
def test_null_joins_null(dialect: str) -> None:
    found = rendered(dialect, "SELECT 1 AS n FROM t LEFT JOIN u ON t.a IS NOT DISTINCT FROM u.b")
    assert found.endswith(f" ON {NULL_SAFE[dialect]}")


@pytest.mark.parametrize("dialect", WAREHOUSES)
def test_null_differs_from_values_and_never_gives_null(dialect: str) -> None:
    found = rendered(dialect, "SELECT 1 AS n FROM t WHERE a IS DISTINCT FROM b")
    assert {
        "redshift": "(CASE WHEN ", "oracle": "(CASE WHEN ", "tsql": "NOT EXISTS(", "bigquery": " <> ",
    }.get(dialect, " IS DISTINCT FROM ") in found  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "sql", "expected"),
    [
        # Lengths count blanks at the end; NEWID is drawn for every row; text is not cut.
        ("tsql", "SELECT LENGTH(a) AS n FROM t", "SELECT (LEN([a] + N'.') - 1) AS [n] FROM [t]"),
        ("tsql", "SELECT a FROM t ORDER BY RANDOM()", "SELECT [a] FROM [t] ORDER BY NEWID()"),
        ("tsql", "SELECT REPEAT('*', 3) || a AS b FROM t",
         "SELECT REPLICATE(CAST(N'*' AS NVARCHAR(MAX)), 3) + [a] AS [b] FROM [t]"),
        ("tsql", "SELECT '*' AS l FROM t",
         "SELECT CAST(N'*' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l] FROM [t]"),
        ("tsql", "SELECT LN(a) AS n FROM t", "SELECT LOG([a]) AS [n] FROM [t]"),
        ("tsql", "SELECT CAST(a AS DOUBLE) AS n FROM t", "SELECT CAST([a] AS FLOAT) AS [n] FROM [t]"),
        ("tsql", "SELECT CASE WHEN ABS(a) < 1e18 AND a = FLOOR(a) THEN CAST(CAST(a AS BIGINT) AS VARCHAR) "
         "ELSE CAST(a AS VARCHAR) COLLATE \"fraction\" END AS n FROM t",
         "SELECT CASE WHEN ABS([a]) < 1e18 AND [a] = FLOOR([a]) THEN CAST(CAST([a] AS BIGINT) AS NVARCHAR(MAX)) "
         "ELSE CONVERT(NVARCHAR(MAX), [a], 3) END AS [n] FROM [t]"),
        # A decimal divided is a decimal of few digits.
        ("databricks", "SELECT a / 3 AS n FROM t", "SELECT CAST(`a` AS DOUBLE) / 3 AS `n` FROM `t`"),
        # Whole numbers stay whole: a float in between loses digits beyond 2^53.
        ("tsql", "SELECT a // 5 AS n FROM t", "SELECT CAST((([a]) - ([a]) % (5)) / (5) AS BIGINT) AS [n] FROM [t]"),
        ("trino", "SELECT a // 5 AS n FROM t", 'SELECT CAST((("a") - ("a") % (5)) / (5) AS BIGINT) AS "n" FROM "t"'),
        # REPEAT makes an array in Trino, and is missing in Oracle.
        ("trino", "SELECT REPEAT('*', 3) AS b FROM t", "SELECT RPAD('*', (3), '*') AS \"b\" FROM \"t\""),
        ("oracle", "SELECT REPEAT('*', 3) AS b FROM t", "SELECT RPAD('*', (3), '*') AS \"b\" FROM \"t\""),
        # Decimals keep their zeros and are no binary fractions; dates lose the time that Oracle gives them.
        ("bigquery", "SELECT a * 0.1 AS n FROM t", "SELECT `a` * CAST('0.1' AS BIGNUMERIC) AS `n` FROM `t`"),
        ("bigquery", "SELECT CAST(CAST(a AS DECIMAL(28, 1)) AS VARCHAR) AS n FROM t",
         "SELECT FORMAT('%.1f', CAST(`a` AS NUMERIC)) AS `n` FROM `t`"),
        ("oracle", "SELECT CAST(CAST(a AS DATE) AS VARCHAR) AS n FROM t",
         "SELECT TO_CHAR(\"a\", 'YYYY-MM-DD') AS \"n\" FROM \"t\""),
        ("oracle", "SELECT CAST(CAST(a AS DECIMAL(28, 1)) AS VARCHAR) AS n FROM t",
         "SELECT TO_CHAR(CAST(\"a\" AS NUMBER(28, 1)), 'FM9999999999999999999999999990.0') AS \"n\" FROM \"t\""),
        # Oracle: every SELECT has a FROM, no AS before a table's alias, an own random function.
        ("oracle", "SELECT 1 AS n", 'SELECT 1 AS "n" FROM DUAL'),
        ("oracle", "SELECT a FROM (SELECT 1 AS a) AS t", 'SELECT "a" FROM (SELECT 1 AS "a" FROM DUAL) "t"'),
        ("oracle", "SELECT a FROM t ORDER BY RANDOM()", 'SELECT "a" FROM "t" ORDER BY DBMS_RANDOM.VALUE()'),
        # A driver of Redshift takes % for a parameter.
        ("redshift", "SELECT a % 5 AS n FROM t", 'SELECT MOD("a", 5) AS "n" FROM "t"'),
        # Before Oracle 23 there is no IF EXISTS; without PURGE the rows stay in the recycle bin.
        ("oracle", "DROP TABLE IF EXISTS t",
         "BEGIN\n  EXECUTE IMMEDIATE 'DROP TABLE \"t\" PURGE';\n"
         "EXCEPTION WHEN OTHERS THEN IF SQLCODE <> -942 THEN RAISE; END IF;\nEND;"),
        ("tsql", "CREATE TABLE IF NOT EXISTS s.t (n INTEGER)",
         "IF OBJECT_ID(N'[s].[t]') IS NULL CREATE TABLE [s].[t] ([n] INTEGER)"),
    ],
)  # fmt: skip
def test_what_would_mean_something_else(dialect: str, sql: str, expected: str) -> None:
    assert rendered(dialect, sql) == expected


def test_a_manifest_of_any_length_fits_oracle() -> None:
    dialect = dialect_named("oracle")
    created = rendered("oracle", "CREATE TABLE t (run_id VARCHAR NOT NULL, manifest VARCHAR NOT NULL)")
    assert '"manifest" CLOB NOT NULL' in created
    inserted = rendered("oracle", f"INSERT INTO t VALUES ('a', '{'x' * 2_500}')")
    assert inserted.count("TO_CLOB('") == 3
    assert max(map(len, re.findall("x+", inserted))) == 1_000
    assert dialect.rows(["a"], [["b"]]) == "SELECT CAST('b' AS VARCHAR2(4000)) AS \"a\" FROM DUAL"
    assert dialect.insert('"t"', [["b"], ["c"]]).count("FROM DUAL") == 2


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT [a] FROM [t] ORDER BY NEWID()", "SELECT [a]\nINTO [x]\nFROM [t] ORDER BY NEWID()"),
        ("WITH w AS (SELECT 1 AS a FROM b) SELECT N' FROM ' AS [from], (SELECT 1 FROM c) AS d FROM w",
         "WITH w AS (SELECT 1 AS a FROM b) SELECT N' FROM ' AS [from], (SELECT 1 FROM c) AS d\nINTO [x]\nFROM w"),
        ("SELECT 1 AS a UNION ALL SELECT 2 AS a FROM t", "SELECT 1 AS a\nINTO [x]\nUNION ALL SELECT 2 AS a FROM t"),
        ("SELECT 1 AS a", "SELECT 1 AS a\nINTO [x]"),
    ],
)  # fmt: skip
def test_sql_server_selects_into_a_table(query: str, expected: str) -> None:
    assert dialect_named("tsql").create_as("[x]", query, True) == expected


@pytest.mark.parametrize(
    ("dialect", "renamed", "replaced"),
    [
        ("snowflake", 'ALTER TABLE "s"."new" RENAME TO "s"."r"', 'ALTER TABLE "s"."r" SWAP WITH "s"."new"'),
        ("bigquery", "ALTER TABLE `s`.`new` RENAME TO `r`", "CREATE OR REPLACE TABLE `s`.`r` COPY `s`.`new`"),
        ("databricks", "ALTER TABLE `s`.`new` RENAME TO `s`.`r`", "ALTER TABLE `s`.`r` RENAME TO `s`.`old`"),
        ("trino", 'ALTER TABLE "s"."new" RENAME TO "s"."r"', 'ALTER TABLE "s"."r" RENAME TO "s"."old"'),
        ("oracle", 'ALTER TABLE "s"."new" RENAME TO "r"', 'ALTER TABLE "s"."r" RENAME TO "old"'),
        ("redshift", 'ALTER TABLE "s"."new" RENAME TO "r"', None),
        ("tsql", "EXEC sp_rename N'[s].[new]', N'r'", None),
    ],
)
def test_a_release_takes_its_name(dialect: str, renamed: str, replaced: str | None) -> None:
    own = dialect_named(dialect)
    assert own.rename(("s", "new"), "r") == renamed
    if replaced is not None:  # else dropping and renaming are one transaction
        assert own.replace(("s", "new"), ("s", "r"), ("s", "old"))[0] == replaced


@pytest.mark.parametrize("dialect", [name for name in WAREHOUSES if name not in ("snowflake", "redshift")])
def test_scratch_tables_are_plain_where_temporary_ones_do_not_serve(dialect: str) -> None:
    made = [item.sql for item in kanon_sql.render(spec_of(), dialect).statements if item.creates is not None]
    assert made
    assert not any(re.search(r"\bTEMP|\bVIEW\b|#", sql) for sql in made)
    assert all("kanon_scratch" in sql or "kanon_run_release" in sql for sql in made)


WRITTEN_BY_SQLGLOT = [
    *(chr(code) for code in range(0x300)),
    *"\u2028\u2029\u200b\ufeff\ufffd\u2019\uff07\U0001f600",
    "",
    "plain",
    "it's",
    "''",
    "\\'",
    "\\\\n\n\r\n\t\\t",
    "'; DROP TABLE x; --",
    "%s {} $$ E'\\x41' \"quoted\" `so` [too]",
    "Zürich\x00\x1a\x7f\x85",
]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_literal_is_what_sqlglot_writes(dialect: str) -> None:
    """Byte by byte, alone and beside its neighbours; T-SQL's says besides that it is Unicode."""
    own = dialect_named(dialect)
    prefix = "N" if dialect == "tsql" else ""
    for text in [*WRITTEN_BY_SQLGLOT, "".join(WRITTEN_BY_SQLGLOT)]:
        assert own.literal(text) == prefix + exp.Literal.string(text).sql(own.sqlglot), text
    assert own.literal(None) == "NULL"


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_literal_of_every_character_is_what_sqlglot_writes(dialect: str) -> None:
    own = dialect_named(dialect)
    text = "".join(map(chr, range(0x110000)))
    assert own.literal(text).removeprefix("N") == exp.Literal.string(text).sql(own.sqlglot)


@pytest.mark.parametrize("name", ["a\\", "\\'; DROP TABLE x; --", "`", "]", '"', "%%", "a\nb"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_name_and_a_literal_end_where_they_should(dialect: str, name: str) -> None:
    """What is quoted is read back as it was, and slots beside it are still found."""
    own = dialect_named(dialect)
    if dialect == "bigquery" and ("\\" in name or "`" in name):
        with pytest.raises(UnsupportedError, match="does not allow"):
            own.quote(name)
        name = "%%"
    text = f"SELECT {own.literal(name)} AS {own.quote(name)} FROM slot_source AS t"
    tree = parsed(text, dialect)
    (item,) = tree.selects  # type: ignore[attr-defined]
    assert item.alias == name
    assert item.unalias().name == name
    assert own.quoted.split(text)[-1] == " FROM slot_source AS t"


def test_duckdb_loads_many_rows_as_they_are() -> None:
    """A text per column, split at line ends: whatever a cell is, it stays in its row and is not changed."""
    odd = ["", "'", "a'b", "\\", "e\u0301", "\t", "\r", "''", "\x1f", "NULL", " x ", "\U0001f600", "a,b", "\u2028"]
    many = [(str(number), odd[number % len(odd)], odd[number % 11]) for number in range(1_100)]
    dialect = dialect_named("duckdb")
    for rows, by_column in ((many, True), ([*many, ("x", "a\nb", "")], False), ([*many, ("x", None, "")], False)):
        text = dialect.insert('"t"', rows)
        assert ("VALUES" not in text) == by_column
        with duckdb.connect() as connection:
            connection.execute('CREATE TABLE "t" (a VARCHAR, b VARCHAR, c VARCHAR)')
            connection.execute(text)
            assert Counter(connection.execute('SELECT * FROM "t"').fetchall()) == Counter(rows)
