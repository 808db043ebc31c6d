"""The SQL layer: templates that cannot splice, a portable subset, and logs without values."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import kanon_sql
from kanon_sql.engines.dry import DryEngine
from kanon_sql.engines.workspace import open_workspace
from kanon_sql.errors import SpecError, TemplateError
from kanon_sql.sql import statement, templates
from kanon_sql.sql.dialects import DIALECTS, dialect_named
from kanon_sql.sql.expression import level_expression
from kanon_sql.sql.portable import check_portable
from kanon_sql.sql.statement import Compiler, Statement, redact, separated
from kanon_sql.sql.template_files import SUFFIX, template_directory
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import Relation, identifier, literal, slot


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of templates of the test's own."""
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(templates, "template_directory", lambda: tmp_path)
    templates._environment.cache_clear()
    yield tmp_path / "t"
    templates._environment.cache_clear()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT {{ value }}", "went through no filter"),
        ("SELECT {{ value ~ 'x' }}", "went through no filter"),
        ("SELECT {{ missing | name }}", "a name must be"),
        ("SELECT {{ value | upper }}", "No filter named 'upper'"),
        ("SELECT {{ value | name", "template"),
        ("SELECT {{ [value] | list }}", "only SQL pieces can be joined"),
        ("SELECT {{ [value] | of('t') | list }}", "only SQL pieces can be joined"),
        ("SELECT {{ [value] | words | list }}", "a plain lower-case word"),
        ("SELECT {{ ['a'] | names | of(value) | list }}", "a plain lower-case word"),
        ("{% set block %}{{ value }}{% endset %}SELECT {{ block }}", "went through no filter"),
        ("{% macro m(x) %}{{ x }}{% endmacro %}SELECT {{ m(value) }}", "went through no filter"),
    ],
)
def test_a_template_that_could_splice_is_refused(scratch: Path, text: str, message: str) -> None:
    (scratch / "bad.sql.j2").write_text(text)
    with pytest.raises(TemplateError, match=message):
        render("t/bad", value="x; DROP TABLE y")


def test_lines_of_templates_can_be_read() -> None:
    long = [
        f"{file}:{number}"
        for file in template_directory().rglob(f"*{SUFFIX}")
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if len(line) > 120
    ]
    assert long == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ texts | names | of('t') | list }}", 't."a", t."b"'),
        ("{{ numbers | numbered('t') | its('n') | list }}", '"t3".n, "t5".n'),
        ("{{ columns('t', texts) | called(texts | names) | list }}", '"t0" AS "a", "t1" AS "b"'),
        ("{{ ['x'] | words | missing | any }} {{ ['x'] | words | present | all }}", "x IS NULL x IS NOT NULL"),
        ("{{ [] | any }} {{ [] | all }}", "1 = 0 1 = 1"),
        ("{{ texts | names | grouped | same(columns('c', texts)) | all }}",
         '("a") IS NOT DISTINCT FROM "c0" AND ("b") IS NOT DISTINCT FROM "c1"'),
        ("{{ texts | names | same(columns('c', texts), nulls=false) | any }}", '"a" = "c0" OR "b" = "c1"'),
        ("{% macro m(x) %}f({{ x | name }}){% endmacro %}{% set s %}{{ m('a') }}{% endset %}{{ s }}", 'f("a")'),
    ],
)  # fmt: skip
def test_lists_macros_and_blocks_are_made_of_checked_pieces(scratch: Path, text: str, expected: str) -> None:
    (scratch / "good.sql.j2").write_text(text)
    assert render("t/good", texts=["a", "b"], numbers=[3, 5]) == expected


def test_a_missing_template_is_an_error() -> None:
    with pytest.raises(TemplateError, match="no SQL template 'no/such'"):
        render("no/such")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, COUNT(*) FROM t GROUP BY GROUPING SETS ((a), ())",
        "SELECT COUNT(*) FILTER (WHERE a > 1) FROM t",
        "SELECT * FROM t USING SAMPLE 1%",
        "SELECT a = 1 FROM t",
        "SELECT a IS NULL AS missing FROM t",
        "SELECT TRY_CAST(a AS INT) FROM t",
        "SELECT LOG(a) FROM t",
        "SELECT * FROM read_csv('x')",
        "SELECT a FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY a) = 1",
        "COPY t TO 'x.csv'",
        "ATTACH 'x.duckdb'",
        "SELECT GREATEST(a, b) FROM t",
    ],
)
def test_the_portable_subset_refuses_what_engines_disagree_about(sql: str) -> None:
    tree = sqlglot.parse_one(sql, read="duckdb")
    with pytest.raises(TemplateError, match="portable"):
        check_portable(tree, "here")


def test_the_compiler_takes_one_statement_and_fills_every_slot(scratch: Path) -> None:
    compiler = Compiler(dialect_named("duckdb"), '"people"')
    (scratch / "two.sql.j2").write_text("SELECT 1; SELECT 2")
    with pytest.raises(TemplateError, match="exactly one statement"):
        compiler.statement("t/two")
    (scratch / "broken.sql.j2").write_text("SELECT FROM WHERE")
    with pytest.raises(TemplateError, match="does not parse"):
        compiler.statement("t/broken")
    (scratch / "open.sql.j2").write_text("SELECT {{ 'hole' | slot }}")
    with pytest.raises(TemplateError, match="nothing fills the slot 'hole'"):
        compiler.statement("t/open")
    (scratch / "source.sql.j2").write_text(
        "SELECT {{ text | literal }} AS {{ text | name }} FROM {{ source | relation }}"
    )
    statement = compiler.statement("t/source", source=Relation(slot="source"), text="slot_source")
    assert statement.sql == """SELECT 'slot_source' AS "slot_source" FROM "people\""""
    assert statement.scans == 1


NESTED = """
CREATE TEMP TABLE {{ target | relation }} AS
WITH a AS (SELECT * FROM {{ table | relation }}), b AS (
  SELECT * FROM (WITH a AS (SELECT 1 AS n) SELECT n FROM a UNION ALL SELECT n FROM a AS twice) AS inner_a
  UNION ALL SELECT n FROM a
)
SELECT SUM(b.n) AS n FROM b CROSS JOIN (WITH c AS (SELECT COUNT(*) AS m FROM b) SELECT m FROM c) AS d
"""


@pytest.mark.parametrize("name", DIALECTS)
def test_common_table_expressions_begin_a_statement_under_names_of_ours(scratch: Path, name: str) -> None:
    """The user's table is called like one of them, and is read all the same."""
    (scratch / "nested.sql.j2").write_text(NESTED)
    dialect = dialect_named(name)
    compiler = Compiler(dialect, "", run="kanon_0123abcd_")
    target, table = Relation(("kanon_0123abcd_t",)), Relation(("a",))
    made = compiler.statement("t/nested", target=target, table=table)
    assert made.creates is not None
    query = sqlglot.parse_one(made.creates.query, read=dialect.sqlglot)
    assert len(list(query.find_all(exp.With))) == 1
    found = [expression.alias for expression in query.args["with_"].expressions]
    assert len({*found}) == 4
    assert all(own.startswith("kanon_0123abcd_with_") for own in found)
    clauses, body = separated(made.creates.query, dialect)
    assert [*clauses] == [dialect.quote(own) for own in found]
    assert body.startswith("SELECT ")
    if name in ("duckdb", "sqlite"):
        connection: Any = duckdb.connect() if name == "duckdb" else sqlite3.connect(":memory:")
        connection.execute("CREATE TABLE a AS SELECT 40 AS n")
        assert connection.execute(made.creates.query).fetchall() == [(42,)]
        connection.close()


def test_inline_tables_lie_flat_in_front_of_a_statement() -> None:
    """SQL Server takes no WITH clause inside of another one."""
    engine = DryEngine("tsql", [])
    with open_workspace(engine, "[t]", inline=True) as workspace:
        parts = {name: Relation((name,)) for name in ("joint", "behind", "counts")}
        judged = [workspace.table(name) for name in ("judged0", "judged1")]
        for number, target in enumerate(judged):
            limits = {"certain": 0.5, "excluded": None, "moved": None}
            believed = workspace.table(f"believed{number}")
            workspace.execute("disclosure/beliefs/believed", target=believed, keys=["q0"], **parts)
            workspace.execute("disclosure/beliefs/judged", target=target, keys=["q0"], believed=believed, **limits)
        asked = {"keys": ["q0"], "joint": parts["joint"], "behind": parts["behind"]}
        texts = [
            workspace.compiler.statement("disclosure/beliefs/summary", judged=target, **asked) for target in judged
        ]
        sql = workspace._inline.complete(workspace.compiler, workspace.compiler.union(texts)).sql
    tree = sqlglot.parse_one(sql, read="tsql")
    assert len(list(tree.find_all(exp.With))) == 1
    found = [expression.alias for expression in tree.find_all(exp.CTE)]
    assert len(found) == len({*found}) == 14
    read = {table.name for table in tree.find_all(exp.Table)}
    assert read == {*found, *parts}


def test_a_table_called_like_an_expression_of_ours_is_read() -> None:
    base = {
        "version": 1, "source": "earlier_rows", "release": "r", "quasi_identifiers": {"a": None}, "sensitive": ["s"],
        "privacy": [{"k_anonymity": 2}],
    }  # fmt: skip
    with duckdb.connect() as connection:
        for name in ("earlier_rows", "older"):
            connection.execute(f"CREATE TABLE {name} AS SELECT i % 3 AS a, i % 5 AS s, i AS person FROM range(60) t(i)")
        again = kanon_sql.Republication("older", "person", 2)
        spec = kanon_sql.Spec.from_dict(base)
        result = kanon_sql.check(kanon_sql.connect(connection), spec, "earlier_rows", republication=again)
    assert result.rows


def test_a_check_is_inline_wherever_scratch_tables_are() -> None:
    closeness = {"t_closeness": {"attribute": "s", "t": 0.5}}
    base = {"version": 1, "source": "t", "release": "r", "quasi_identifiers": {"a": None}, "sensitive": ["s"]}
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 3 AS a, i % 5 AS s FROM range(60) t(i)")
        connection.execute("CREATE SCHEMA scratch")
        engine = kanon_sql.connect(connection, scratch="schema:scratch")
        assert kanon_sql.check(engine, kanon_sql.Spec.from_dict({**base, "privacy": [closeness]}), "t").passed


def test_what_one_run_compiled_serves_the_next_under_its_own_names(scratch: Path) -> None:
    (scratch / "made.sql.j2").write_text(
        "CREATE TEMP TABLE {{ target | relation }} AS SELECT {{ value | literal }} AS v FROM {{ table | relation }}"
    )

    def made(run: str, value: str) -> Statement:
        compiler = Compiler(dialect_named("duckdb"), "", run=f"kanon_{run}_")
        target, table = Relation((f"kanon_{run}_b",)), Relation((f"kanon_{run}_a",))
        return compiler.statement("t/made", target=target, table=table, value=value)

    first = made("0123abcd", "x")
    parsed = statement._compiled.cache_info().misses
    second = made("fedc9876", "x")
    assert statement._compiled.cache_info().misses == parsed
    assert second.sql == first.sql.replace("0123abcd", "fedc9876")
    assert second.creates is not None
    assert second.creates.table == '"kanon_fedc9876_b"'
    # A value that looks like what stands for the names is a value all the same.
    for value in ("kanon_00000000_a", "kanon_0123abcd_a"):
        assert f"'{value}'" in made("fedc9876", value).sql
        assert f"'{value}'" in made("0123abcd", value).sql


@pytest.mark.parametrize("name", ["Select", "marital-status", 'a"b', "x; drop table y", "é" * 70, "{{ x }}", "a\nb"])
def test_names_and_literals_survive_whatever_they_hold(name: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT {literal(name)} AS {identifier(name)}")
        assert connection.execute("DESCRIBE t").fetchall()[0][0] == name
        assert connection.execute("SELECT * FROM t").fetchall() == [(name,)]


@pytest.mark.parametrize("bad", ["", "a\x00b", None, 3])
def test_what_is_no_name_is_refused(bad: Any) -> None:
    with pytest.raises(TemplateError):
        identifier(bad)


@pytest.mark.parametrize("bad", [True, b"x", [1], object()])
def test_what_has_no_literal_form_is_refused(bad: Any) -> None:
    with pytest.raises(TemplateError):
        literal(bad)


@pytest.mark.parametrize("bad", ["a b", "A", "x'y", ""])
def test_a_slot_is_a_plain_word(bad: str) -> None:
    with pytest.raises(TemplateError):
        slot(bad)


@pytest.mark.parametrize(
    "text",
    [
        "(SELECT 1)",
        "x + (SELECT max(x) FROM t)",
        "sum(x)",
        "row_number() over (order by x)",
        "random()",
        "y",
        "t.x",
        "x, x",
        "x; DROP TABLE t",
        "x FROM t",
        "read_text('/etc/passwd')",
        "getenv('HOME')",
        "*",
        'x COLLATE "scaled"',
        "x +",
        "",
    ],
)
def test_a_users_expression_is_one_scalar_over_x(text: str) -> None:
    with pytest.raises(SpecError, match=r"here"):
        level_expression(text, "here")


def test_a_users_expression_reads_the_lookups_value() -> None:
    assert str(level_expression("substring(X, 1, 2)", "here")) == "CAST((SUBSTRING(value, 1, 2)) AS VARCHAR)"
    number = " ".join(level_expression("floor(X / 10) * 10", "here").split())
    whole, otherwise = (
        "CAST(CAST((FLOOR(value / 10) * 10) AS BIGINT) AS VARCHAR)",
        "CAST((FLOOR(value / 10) * 10) AS VARCHAR)",
    )
    small, is_whole = (
        "ABS((FLOOR(value / 10) * 10)) < 1e18",
        "(FLOOR(value / 10) * 10) = FLOOR((FLOOR(value / 10) * 10))",
    )
    assert number.startswith(f"CASE WHEN {small} AND {is_whole} THEN")
    assert number.endswith(f'THEN {whole} ELSE {otherwise} COLLATE "fraction" END')


def test_redaction_leaves_names_and_no_literal() -> None:
    sql = """SELECT "age 47", 'O''Brien', 47, 1.5e3, "c0_1" FROM "t2" WHERE ssn = 123456789 AND n <> 'x"y'"""
    assert redact(sql) == """SELECT "age 47", ?, ?, ?, "c0_1" FROM "t2" WHERE ssn = ? AND n <> ?"""


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_remainder_binds_as_a_product_does(name: str) -> None:
    """sqlglot before 30.18 took ``a - b % c`` for ``(a - b) % c``, and wrote it so where a remainder is a function."""
    dialect = dialect_named(name).sqlglot
    written = sqlglot.parse_one("SELECT 37 - 52 % 10 + 1 AS n", read="duckdb").sql(dialect)
    by_function = re.sub(r"\bMOD\((\d+), (\d+)\)", r"(\1 % \2)", written, flags=re.I)
    found = duckdb.sql(by_function.replace("FROM DUAL", "")).fetchall()
    assert found == [(36,)]
