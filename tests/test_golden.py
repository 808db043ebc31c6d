"""The SQL of every template in every dialect, kept in files: what changes in them is seen and read.

For engines that no test can run, these files are the evidence: each statement parses in its
dialect, and the traps that are known have a test each below. Make the files anew with

    KANON_UPDATE_GOLDEN=1 python -m pytest tests/test_golden.py

sqlglot's own output changes a little between versions, so the files are compared exactly
under the version that made them; under any other, the statements only have to parse.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.engines import duckdb as duckdb_engine
from kanon_sql.engines.backends import sqlite as sqlite_backend
from kanon_sql.engines.base import Column
from kanon_sql.engines.dry import DryEngine
from kanon_sql.engines.workspace import open_workspace
from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate.class_counts import count_classes
from kanon_sql.evaluate.distance_vectors import DistanceMatrix
from kanon_sql.evaluate.evaluator import Evaluator
from kanon_sql.evaluate.examine import Subject, examine, failing_classes
from kanon_sql.evaluate.partitions.order import order_domains
from kanon_sql.evaluate.reach import out_of_reach
from kanon_sql.frequency.sets import build_frequency_sets
from kanon_sql.frequency.value_facts import value_facts_of
from kanon_sql.hierarchies.exact import exact_texts
from kanon_sql.models.privacy import model_of, models_of
from kanon_sql.models.quality import METRICS
from kanon_sql.release.joint_table import View, examine_together
from kanon_sql.release.publish import publish, refuse_foreign_release
from kanon_sql.release.write import Written
from kanon_sql.search import Batch
from kanon_sql.spec import Spec
from kanon_sql.sql import templates
from kanon_sql.sql.dialects import DIALECTS, dialect_named
from kanon_sql.sql.dialects.duckdb import DuckDB
from kanon_sql.sql.dialects.oracle import Oracle
from kanon_sql.sql.statement import Statement, source_relation
from kanon_sql.sql.templates import template_names
from kanon_sql.sql.text import Relation, Sql
from kanon_sql.verbs.clean import clean
from kanon_sql.verbs.dbt.files import ADAPTERS
from kanon_sql.verbs.dbt.labels import Given, labelled
from kanon_sql.verbs.demo import _make_visits
from kanon_sql.verbs.doctor import doctor
from kanon_sql.verbs.init.profile import write_spec
from kanon_sql.verbs.sqlmesh import DIALECTS as OF_SQLMESH
from kanon_sql.verbs.sqlmesh import audits

FOLDER = Path(__file__).parent / "golden"
MADE_WITH = "30.30.0"
UPDATE = os.environ.get("KANON_UPDATE_GOLDEN") == "1"

BASE: dict[str, Any] = {
    "version": 1,
    "source": "clinic.visits",
    "release": "clinic.visits_release",
    "quasi_identifiers": {
        "age": {"intervals": [2.5], "bottom": 0, "top": 80},
        "sex": {"tree": {"x": ["M", "it's"], "y": ["F\\"]}},
    },
    "sensitive": ["dx"],
    "privacy": [{"k_anonymity": 3}],
}
DX = {"tree": {"x": {"y": ["a", "it's"]}, "z": {"w": ["b\\"]}}}
LISTED = {"allow_positive": ["a"], "forbid_negative": ["it's"]}
SPECS: dict[str, dict[str, Any]] = {
    "loss, rows dropped": {"suppression": {"limit": 0.2}},
    "entropy, prefixes and dates, NULLs suppressed": {
        "source": {"query": "SELECT * FROM clinic_visits"},
        "quasi_identifiers": {"zip": {"prefix": [3]}, "born": {"dates": ["day", "month", "quarter", "decade"]}},
        "search": {"metric": "entropy"},
        "nulls": "suppress",
    },
    "ambiguity, a user's expression": {
        "quasi_identifiers": {"age": {"sql": ["floor(x / 10) // 2 * 20", "CASE WHEN x < 40 THEN 'young' END"]}},
        "search": {"metric": "ambiguity"},
    },
    "discernibility, every model, masked": {
        "quasi_identifiers": {"sex": None},
        "privacy": [
            {"k_anonymity": 3},
            {"l_diversity": {"attribute": "dx", "l": 2}},
            {"l_diversity": {"attribute": "dx", "l": 2, "kind": "entropy"}},
            {"l_diversity": {"attribute": "dx", "l": 2, "kind": "recursive", "c": 3}},
            {"t_closeness": {"attribute": "dx", "t": 0.7}},
        ],
        "suppression": {"limit": 0.3, "style": "mask"},
        "search": {"metric": "discernibility"},
    },
    "nothing released but what is counted": {
        "quasi_identifiers": {"age": {"intervals": [5]}, "sex": None},
        "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "dx", "l": 2}}],
        "suppression": {"limit": 0.2},
    },
    "intervals of files and rules, by loss": {
        "quasi_identifiers": {"age": None, "sex": {"tree": {"x": ["M", "it's"], "y": ["F\\"]}}, "dx": None},
        "sensitive": [],
        "suppression": {"limit": 0.2},
        "search": {"algorithm": "k_optimize", "cuts": 9},
    },
    "intervals, by discernibility, for persons": {
        "unit": "person",
        "search": {"algorithm": "k_optimize", "metric": "discernibility"},
    },
    "intervals, by discernibility, diverse": {
        "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "dx", "l": 2}}],
        "search": {"algorithm": "k_optimize", "metric": "discernibility"},
    },
    "models of single values, distances": {
        "quasi_identifiers": {"sex": None},
        "sensitive": ["dx", "charge"],
        "privacy": [
            {"t_closeness": {"attribute": "charge", "t": 0.2, "distance": "ordered"}},
            {"t_closeness": {"attribute": "dx", "t": 0.2, "distance": "hierarchical", "hierarchy": DX}},
            {"alpha_k_anonymity": {"attribute": "dx", "alpha": 0.5, "k": 3, "values": ["it's", "b\\"]}},
            {"p_sensitive_k_anonymity": {"attribute": "dx", "p": 2, "k": 3}},
            {"beta_likeness": {"attribute": "dx", "beta": 1, "kind": "basic"}},
            {"beta_likeness": {"attribute": "dx", "beta": 1, "kind": "enhanced"}},
            {"delta_disclosure": {"attribute": "dx", "delta": 1}},
            {"l_diversity": {"attribute": "dx", "kind": "npd_recursive", "l": 2, "c": 2, "c2": 0.1, **LISTED}},
        ],
    },
    "persons, masked": {
        "quasi_identifiers": {"sex": None},
        "unit": "person",
        "privacy": [{"k_anonymity": 3}, {"t_closeness": {"attribute": "dx", "t": 0.7}}],
        "suppression": {"limit": 0.3, "style": "mask"},
    },
    "sets of quasi-identifiers": {
        "privacy": [{"k_anonymity": 3}, {"k_anonymity": {"k": 5, "quasi_identifiers": ["sex"]}}],
        "suppression": {"limit": 0.2},
    },
    "k-map and delta-presence of persons": {
        "quasi_identifiers": {"sex": None},
        "unit": "person",
        "privacy": [
            {"k_map": {"population": "clinic.census", "k": 3}},
            {"delta_presence": {"population": "clinic.census", "delta_max": 0.5}},
        ],
        "suppression": {"limit": 0.3},
    },
}
COLUMNS = [
    Column("person", "INTEGER", "integer"), Column("age", "DECIMAL(5, 1)", "decimal"),
    Column("sex", "VARCHAR", "text"), Column("weight", "DOUBLE", "float"), Column("dx", "VARCHAR", "text"),
    Column("seen", "TIMESTAMP WITH TIME ZONE", "moment"),
]  # fmt: skip
VISITS = ("clinic", "visits")


class Published(DryEngine):
    """A database that every table exists in, a release of ours among them."""

    def exists(self, parts: tuple[str, ...]) -> Any:
        return "table"

    def fetch(self, statement: Statement, limit: int) -> list[tuple[Any, ...]]:
        rows = super().fetch(statement, limit)
        if statement.name == "release/manifest/find":
            return [(1,)]
        if statement.name == "verbs/clean/recorded":
            return [("00", '["kanon_00_release"]', "2001-01-01T00:00:00+00:00")]
        if statement.name == "disclosure/attacks/level_misses":  # the release is a level above the values
            return [(1, *rows[0][1:])]
        if statement.name == "disclosure/attacks/counted":  # somebody is found
            return [(*rows[0][:4], 1, 1)]
        if statement.name == "disclosure/attacks/consistent":
            return [(0, 0, 2, 0)]  # two classes stand for one record
        if statement.name in ("disclosure/attacks/cells", "disclosure/beliefs/weights"):
            return [(0, 1)]
        if statement.name == "frequency/population/overlap":
            return [(0, 2, 1, 1)]  # two classes may stand for one person
        return rows


def spec_of(**changes: Any) -> Spec:
    return Spec.from_dict({**BASE, **changes})


@cache
def statements(dialect: str) -> list[Statement]:
    """What every verb would run."""
    found: list[Statement] = []
    for changes in SPECS.values():
        found += kanon_sql.render(spec_of(**changes), dialect).statements
    engine = Published(dialect, COLUMNS)
    with_table = spec_of(
        quasi_identifiers={"weight": {"sql": ["floor(x)"]}, "sex": {"table": "clinic.sexes"}, "seen": None},
        unit="person",
    )
    models = [model_of(requirement) for requirement in with_table.privacy]
    with open_workspace(engine, engine.relation(table=VISITS, query=None, file=None)) as workspace:
        sets = build_frequency_sets(
            workspace, with_table, models_of(with_table), {column.name: column for column in COLUMNS}, ["dx"]
        )
        evaluator = Evaluator(workspace, sets, models, METRICS["loss"], "minimum_suppression", 0)
        evaluator._rolled(sets.base, (1, 1, 0), None)
        evaluator._rolled(sets.values["dx"], (1, 1, 0), "dx")
        evaluator.losses((1, 1, 0))
        out_of_reach(workspace, models_of(spec_of(privacy=[{"l_diversity": {"attribute": "dx", "l": 2}}])), sets, 0)
        several = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]
        evaluator.ask(Batch(tuple(several[:2]), metrics=False))
        evaluator.ask(Batch(tuple(several), metrics=False))  # rows of one table, where that is cheaper
        counted = [evaluator.table("source", (0, 0, 0), kept_only=False)]
        count_classes(workspace, [*counted, evaluator.table("release", (1, 1, 0), kept_only=True)], models)
        DistanceMatrix(workspace, sets, 3).suppressed([(0, 1, 0), (1, 0, 1)])
        order_domains(workspace, with_table, {column.name: column for column in COLUMNS}, sets, most=None)
        refuse_foreign_release(workspace, with_table)
        written = Written(Relation(("clinic", "kanon_run_release")), None, 0, 0, 0, None, None)  # type: ignore[arg-type]
        publish(workspace, with_table, written, {"published_at": "(the time)", "long": "x" * 2_500})
        workspace.execute("release/manifest/withdraw", table=Relation(("clinic", "kanon_sql_manifest")), run_id="run")
        workspace.fetch("release/manifest/read", 1, table=Relation(("clinic", "kanon_sql_manifest")), run_id="run")
        by_name = {column.name: column for column in COLUMNS}
        facts = {"dx": value_facts_of(models, by_name["dx"])}
        subject = Subject(
            table=Relation(VISITS),
            columns=by_name,
            quasi_identifiers=["sex"],
            references={},
            facts=facts,
            unit="person",
            mark=("kanon_masked", 0),
        )
        examine(workspace, subject, models)
        failing_classes(workspace, subject, models, 5)
        person, sex = exact_texts([by_name["sex"], by_name["dx"]], "kanon_source")
        workspace.row("verbs/init/persons", source=source_relation(), unit=person, values=[sex])
        ledger = Relation(("clinic", "ledger"))
        workspace.execute("release/ledger/turn", table=ledger, run_id="turn")
        workspace.fetch("release/ledger/entries", 9, table=ledger)
        views = [
            View("r", Relation(("clinic", name)), dict(zip(with_table.quasi_identifiers, labels, strict=True)),
                 ("person", "age", "dx"), nulls, masked)
            for name, labels, nulls, masked in (
                ("dropped", [(lookup, 0) for lookup in sets.lookups], True, False),
                ("masked", [(lookup, lookup.height) for lookup in sets.lookups], False, True),
            )
        ]  # fmt: skip
        assert examine_together(workspace, by_name, views, models, "person", 1).changed == ()
        workspace.fetch("hierarchies/form_counts", 9, table=Relation(VISITS), form=Sql("checked.sex"), weighted=False)
        number, text = Sql("CAST(kanon_source.age AS DOUBLE)"), Sql("CAST(found.value AS VARCHAR)")
        workspace.fetch("verbs/init/spread", 1, source=Relation(VISITS), number=number)
        workspace.fetch("verbs/init/values", 9, source=Relation(VISITS), value=Sql("kanon_source.sex"), text=text)
        given = workspace.table("given")
        workspace.load(given, ["l0"], [("2000-12-31",)])
        dates = {"value": Sql("CAST(given.l0 AS DATE)"), "raw_column": "q0"}
        workspace.execute("verbs/hierarchy/given", target=workspace.table("given_raw"), given=given, **dates)
    closeness = [{"t_closeness": {"attribute": "dx", "t": 0.5}}]
    kanon_sql.check(engine, spec_of(privacy=closeness, unit="person"), "clinic.other")
    kanon_sql.check(engine, spec_of(privacy=closeness), count_rows=True, details=True)
    engine.capabilities = replace(engine.capabilities, row_id="rowid")  # so that its template is rendered everywhere
    audited = spec_of(
        source="clinic.other", quasi_identifiers={"sex": {"prefix": [2, 1]}, "age": None}, keep=["weight"],
        privacy=[*BASE["privacy"], *closeness],
    )  # fmt: skip
    kanon_sql.audit(
        engine, audited, external="clinic.people", on=["sex", "age", "weight"], earlier=["clinic.before"], reveal=3,
        other_views=["clinic.areas"], hierarchies={"dx": {"tree": {"x": ["a"], "y": ["b"]}}},
    )  # fmt: skip
    two = [{"l_diversity": {"attribute": "dx", "l": 2}}]
    strict = spec_of(
        source="clinic.other", quasi_identifiers={"sex": {"prefix": [1]}, "age": None}, privacy=two,
        suppression={"limit": 0},
    )  # fmt: skip
    kanon_sql.audit(engine, strict, attacks=["minimality", "definetti"])
    of_population = [
        {"k_map": {"population": "clinic.census", "k": 3}},
        {"delta_presence": {"population": "clinic.other_census", "delta_max": 0.5}},
    ]
    kanon_sql.check(engine, spec_of(privacy=of_population, unit="person"), "clinic.other", count_rows=True)
    kanon_sql.check(engine, spec_of(source="clinic.other", privacy=of_population[:1]), "clinic.other")
    kanon_sql.check(engine, spec_of(privacy=of_population[1:], unit="person"), "clinic.other")
    of_beliefs = [
        {"bayes_optimal": {"attribute": "dx", "background": "clinic.survey", "weight": "weight", "theta": 0.2}},
        {"bayes_optimal": {"attribute": "dx", "delta": 0.1, "epsilon": 0.01}},
    ]
    kanon_sql.check(engine, spec_of(privacy=of_beliefs), "clinic.other")
    by_hierarchy = [{"t_closeness": {"attribute": "dx", "t": 0.5, "distance": "hierarchical", "hierarchy": DX}}]
    kanon_sql.check(engine, spec_of(privacy=by_hierarchy), "clinic.other")
    by_rule = [{"t_closeness": {**by_hierarchy[0]["t_closeness"], "hierarchy": {"prefix": [2, 1]}}}]
    kanon_sql.check(engine, spec_of(privacy=by_rule), "clinic.other")
    again = kanon_sql.Republication("clinic.before", "person", 2)
    kanon_sql.check(engine, spec_of(), "clinic.other", republication=again)
    write_spec(engine, "clinic.visits")
    kanon_sql.hierarchy(engine, spec_of(), reveal=3)
    kanon_sql.risk(engine, spec_of(unit="person"), population="clinic.census")
    kanon_sql.risk(engine, spec_of())
    doctor(engine)
    clean(engine, drop=True)
    if dialect in OF_SQLMESH:
        texts = audits(engine, spec_of(privacy=[{"k_anonymity": 3}]), "clinic.other").removesuffix(";\n")
        found.append(
            Statement("verbs/sqlmesh/violating", texts.partition(";\n")[2].replace("@this_model", "this_model"))
        )
    if dialect in ADAPTERS:
        found += [dbt_model(dialect, nulls) for nulls in ("suppress", "error")]
    if dialect == "duckdb":  # the demo makes a DuckDB file
        _make_visits(engine, None)
    return found + engine.meter.log


def dbt_model(dialect: str, nulls: str) -> Statement:
    """The model of labels, with tables where dbt's Jinja stands."""
    spec = spec_of(
        quasi_identifiers={
            "age": {"intervals": [2.5], "top": 80}, "sex": {"table": "sexes"}, "weight": {"sql": ["floor(x)"]},
            "seen": None, "dx": {"tree": {"x": {"y": ["z"]}}},
        },
        sensitive=[], unit="person", nulls=nulls,
    )  # fmt: skip
    given = {
        "sex": Given("sexes", ["value", "upper", "top"], None),
        "dx": Given("dx_seed", ["value", "level_1", "level_2", "level_3"], "*"),
    }
    node = {"age": 1, "sex": 2, "weight": 2, "seen": 0, "dx": 1}
    columns = {column.name: column for column in COLUMNS}
    model = labelled(spec, columns, node, given, "visits", dialect_named(dialect))
    return Statement("verbs/dbt/labelled", re.sub(r"\{\{ (\w+) \}\}", r"\1", model))


def script(dialect: str) -> str:
    """Every different statement once, with the template that it came from."""
    parts = []
    for statement in statements(dialect):
        sql = re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "(the time)", statement.sql)
        part = f"-- {statement.name}\n{sql}"
        if part not in parts:
            parts.append(part)
    return "\n\n".join(part.removesuffix(";") + ";" for part in parts) + "\n"


EXCHANGES = ("RENAME TABLE ", "EXCHANGE TABLES ")
"""Two tables at once: sqlglot keeps these as words."""


def parsed(sql: str, dialect: str) -> exp.Expr:
    """A statement as sqlglot reads it; one that it keeps as mere words fails."""
    caught = re.fullmatch(r"BEGIN\s+EXECUTE IMMEDIATE '(.*)';\nEXCEPTION WHEN OTHERS .*END;?", sql, re.DOTALL)
    if caught:  # Oracle's block around one statement
        sql = caught.group(1).replace("''", "'").removesuffix(" PURGE")
    trees = sqlglot.parse(sql, read=dialect_named(dialect).sqlglot)
    assert len(trees) == 1, sql
    assert trees[0] is not None
    assert not isinstance(trees[0], exp.Command) or sql.startswith(EXCHANGES), sql
    return trees[0]


def test_help_and_the_error_list_every_dialect() -> None:
    shown = CliRunner().invoke(app, ["render", "--help"], env={"COLUMNS": "200"}).output
    with pytest.raises(UnsupportedError) as refused:
        kanon_sql.render(spec_of(), "access")
    for dialect in DIALECTS:
        assert re.search(rf"\b{dialect}\b", shown)
        assert re.search(rf"\b{dialect}\b", str(refused.value))


QUICK = ("duckdb",)
"""Dialects whose every statement is rendered by default; the others take minutes together."""


@pytest.mark.parametrize(
    "dialect", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in DIALECTS]
)
def test_the_files_hold_what_is_rendered_and_every_statement_parses(dialect: str) -> None:
    for sql in {statement.sql for statement in statements(dialect)}:
        parsed(sql, dialect)
    file = FOLDER / f"{dialect}.sql"
    found = script(dialect)
    if UPDATE:
        file.write_text(found, encoding="utf-8")
    if sqlglot.__version__ == MADE_WITH:
        assert file.read_text(encoding="utf-8") == found, "read the difference; then KANON_UPDATE_GOLDEN=1"


@pytest.mark.slow
def test_every_template_is_in_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()
    original = templates.Environment.get_template

    def noted(self: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        used.add(name.removesuffix(".sql.j2"))
        return original(self, name, *args, **kwargs)

    monkeypatch.setattr(templates.Environment, "get_template", noted)
    for dialect in ("duckdb", "sqlite", "tsql"):  # two templates are only for engines with a trap
        statements.__wrapped__(dialect)
    assert set(template_names()) - used == set()


# --- Traps, one test each ------------------------------------------------------------------------


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


# --- Blanks at the end ---------------------------------------------------------------------------


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
    "privacy": [{"k_anonymity": 2}], "suppression": {"limit": 0.9},
}  # fmt: skip


@pytest.mark.parametrize("row", [("a ", "x"), ("b", "x "), (" ", "x")])
def test_texts_that_would_be_merged_are_refused(padded: tuple[Any, Any], row: tuple[str, str]) -> None:
    connection, engine = padded
    connection.execute("CREATE TABLE t AS SELECT 'a' AS q, 'x' AS s UNION ALL SELECT ?, ?", row)
    spec = Spec.from_dict({**PADDED_SPEC, "privacy": [{"l_diversity": {"attribute": "s", "l": 1}}]})
    for verb in (kanon_sql.anonymize, kanon_sql.plan, lambda *given: kanon_sql.check(*given, "t")):
        with pytest.raises(UnsupportedError, match="1 rows hold a text that ends with a blank"):
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
        with pytest.raises(UnsupportedError, match="census: 1 rows hold a text that ends with a blank"):
            verb(engine, spec)


def test_labels_that_would_be_merged_are_refused(padded: tuple[Any, Any]) -> None:
    connection, engine = padded
    connection.execute("CREATE TABLE t AS SELECT unnest(['a b', 'a c', 'a']) AS q, 'x' AS s")
    spec = Spec.from_dict({**PADDED_SPEC, "quasi_identifiers": {"q": {"tree": {"g": ["a b", "a c"], "g ": ["a"]}}}})
    with pytest.raises(UnsupportedError, match=r"quasi_identifiers\.q: its hierarchy"):
        kanon_sql.plan(engine, spec)


LITERALS_AND_NAMES = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/""", re.DOTALL)


def functions_in(dialect: str) -> set[str]:
    """What is called in a golden file, in lower case."""
    text = LITERALS_AND_NAMES.sub(" ", (FOLDER / f"{dialect}.sql").read_text("utf-8"))
    return {name.lower() for name in re.findall(r"\b(\w+)\(", text)}


def test_every_function_that_a_user_could_hide_is_looked_for() -> None:
    """A macro, or a function of the application's, under the name of one that our SQL calls would be called instead."""
    with duckdb.connect() as connection:
        builtin = {
            name
            for (name,) in connection.execute("SELECT function_name FROM duckdb_functions() WHERE internal").fetchall()
        }
    called = functions_in("duckdb") & builtin
    assert len(called) > 15
    assert called <= {*duckdb_engine._FUNCTIONS}
    with closing(sqlite3.connect(":memory:")) as library:
        builtin = {name for (name,) in library.execute("SELECT name FROM pragma_function_list")}
    called = functions_in("sqlite") & builtin - {"floor", "ln"}  # these are ours
    assert len(called) > 15
    assert called <= {*sqlite_backend._FUNCTIONS}
