"""The verifier of a certificate: what it runs, on which engines, and what it never runs."""

from __future__ import annotations

import ast
import json
import re
import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines import session_statements
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.verbs.certify import open_database, verify_certificate
from kanon_sql.verbs.certify.verify_certificate import verify
from tests.conftest import Database
from tests.support.certificates import VERIFIER, forged, released, says, spec_of

SAYING_DUCKDB = SimpleNamespace(execute=lambda sql: None, fetchall=lambda: [("v1.5.0",)])
"""A cursor of no database, of which the verifier asks what it is."""


@pytest.mark.parametrize("dialect", [*verify_certificate.ENGINES, "another"])
def test_a_certificate_of_another_engine_than_the_connection_s_is_not_run(
    certified: tuple[Database, Path], dialect: str
) -> None:
    """An engine that reads a backslash in a text otherwise would run other statements than those looked at."""
    database, directory = certified
    content = json.loads((directory / "certificate.json").read_bytes())
    session = session_statements(SimpleNamespace(dialect=dialect_named(dialect))) if dialect != "another" else []  # type: ignore[arg-type]
    claimed = {**content, "session": session, "made": {**content["made"], "dialect": dialect}}
    own = {path: (directory / path).read_text().strip() for path in content["files"]}
    if dialect == "sqlite":
        with pytest.raises(duckdb.Error):
            list(verify_certificate.not_to_run(claimed, own, database.connection))
        return
    problems = list(verify_certificate.not_to_run(claimed, own, database.connection))
    assert any(f"about a database of {dialect}" in problem for problem in problems) == (
        dialect not in ("duckdb", "another")
    )


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("duckdb", "DROP TABLE people"),
        ("duckdb", "ATTACH 'other.db'"),
        ("duckdb", "COPY people TO '/tmp/x'"),
        ("duckdb", "SELECT 1; DROP TABLE people"),
        ("duckdb", r"SELECT E'\\'; DROP TABLE people; --'"),
        ("postgres", r"SELECT E'\'' ; DROP TABLE people; SELECT E'\''"),
        ("postgres", "WITH gone AS (DELETE FROM people RETURNING 1) SELECT 1"),
        ("postgres", "SELECT * INTO other FROM people"),
        ("postgres", "SELECT * FROM people FOR UPDATE"),
        ("postgres", "SELECT $$'$$; DROP TABLE people; SELECT $$'$$"),
        ("postgres", "SELECT U&'x'"),
        ("mariadb", "SELECT '\\'' INTO OUTFILE '/tmp/x'"),
        ("mariadb", "SELECT 1 /*! INTO OUTFILE '/tmp/x' */"),
        ("mariadb", 'SELECT "\\" INTO OUTFILE \'/tmp/x\' -- "'),
        ("spark", "SELECT r'\\' , 1 AS `'`"),
        ("clickhouse", "SELECT \u2018'\u2019; DROP TABLE people; SELECT \u2018'\u2019"),
        ("clickhouse", "SELECT \u201c'\u201d INTO OUTFILE \u2018/tmp/x\u2019 SETTINGS a = \u2018'\u2019"),
        ("clickhouse", "(SELECT 1) PARALLEL WITH RENAME TABLE people TO others"),
        ("clickhouse", "SELECT 1 AS a Parallel\nWith CREATE TABLE others ENGINE = Memory AS SELECT 1"),
        ("spark", "SELECT TRANSFORM (a) USING 'touch /tmp/x' AS (b STRING) FROM people"),
        ("spark", 'SELECT TRANSFORM (a) ROW FORMAT DELIMITED USING\n"touch /tmp/x" AS (b STRING) FROM people'),
        ("bigquery", """SELECT '\\'', 1; DROP TABLE people; SELECT "'" -- " """),
        ("mysql", """SELECT '\\'' INTO OUTFILE "/tmp/'" -- " """),
        ("sqlite", "SELECT '\\'; DROP TABLE people; --'"),
        ("sqlite", "SELECT 'x\0'"),
        ("sqlite", ""),
    ],
)
def test_a_statement_that_may_do_more_than_read_is_not_run(dialect: str, sql: str) -> None:
    assert verify_certificate.doing_more(sql, dialect) is not None


def test_the_name_of_a_table_ends_in_the_quote_that_it_begins_with() -> None:
    """Else what follows would be read with the quotes the other way around."""
    hidden = """CREATE TEMPORARY TABLE "kanon_00000000_certified_a` AS SELECT " AS SELECT 1; DROP TABLE x; --' " '" '"""
    plain = "CREATE TEMPORARY TABLE `kanon_00000000_certified_a` AS SELECT 1"
    found = [re.fullmatch(verify_certificate.SETUP, text, re.DOTALL) for text in (hidden, plain)]
    assert [text is None for text in found] == [True, False]


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE people AS SELECT 1",
        'CREATE TEMPORARY TABLE "people" AS SELECT 1',
        'CREATE TEMPORARY TABLE "kanon_0f40c2d2_certified_x" AS DELETE FROM people RETURNING 1',
        'CREATE TEMPORARY TABLE "kanon_0f40c2d2_certified_x" AS SELECT 1; DROP TABLE people',
        'CREATE TEMPORARY TABLE "kanon_0f40c2d2_certified_x" ("a" INTEGER)',
        'DROP TABLE IF EXISTS "kanon_0f40c2d2_certified_x"',
        "SELECT 1",
    ],
)
def test_a_setup_that_makes_no_table_of_the_session_from_a_query_is_not_run(sql: str) -> None:
    made = {"dialect": "duckdb"}
    settings = ["SET TimeZone = 'UTC'"]
    content = {"format": verify_certificate.FORMAT, "session": settings, "made": made, "setup": ["x"], "claims": [],
               "files": {}, "spec": {"privacy": []}, "optimality": None, "not_certified": []}  # fmt: skip
    problems = list(verify_certificate.not_to_run(content, {"x": sql}, SAYING_DUCKDB))
    assert any("may do more than read" in problem for problem in problems)
    good = 'CREATE TEMPORARY TABLE "kanon_0f40c2d2_certified_x" AS\nSELECT 1'
    problems = list(verify_certificate.not_to_run(content, {"x": good}, SAYING_DUCKDB))
    assert not any("may do more than read" in problem or "known here" in problem for problem in problems)


@pytest.mark.parametrize("dialect", list(verify_certificate.ENGINES))
def test_the_settings_of_a_session_are_those_that_the_verifier_knows(dialect: str) -> None:
    """Its digest of them is of what a certificate holds; with one more, or one fewer, none is run."""
    settings = session_statements(SimpleNamespace(dialect=dialect_named(dialect)))  # type: ignore[arg-type]
    content = {"format": verify_certificate.FORMAT, "session": settings, "made": {"dialect": dialect}, "setup": [],
               "claims": [], "files": {}, "spec": {"privacy": []}, "optimality": None, "not_certified": []}  # fmt: skip
    for session in (settings, [*settings, "SET search_path = 'evil'"], [*settings[:-1], "SET schema = 'evil'"]):
        problems = list(verify_certificate.not_to_run({**content, "session": session}, {}, SAYING_DUCKDB))
        assert any("known here" in problem for problem in problems) == (session != settings)


@pytest.mark.slow
def test_of_a_certificate_with_such_a_statement_nothing_is_run(certified: tuple[Database, Path]) -> None:
    """Nor of one that leaves something out, or that was changed."""
    database, directory = certified
    kept = {name: (directory / name).read_bytes() for name in ("certificate.json", "certificate.sha256")}
    content = json.loads(kept["certificate.json"])
    less = [claim for claim in content["claims"] if claim["id"] != "requirement_1"]
    changes: list[dict[str, Any]] = [
        {"session": ["DROP TABLE people"]}, {"claims": less}, {"optimality": None},
        {"claims": content["claims"][1:]}, {"claims": [*content["claims"], content["claims"][0]]},
        {"setup": ["sql/../certificate.json", *content["setup"]]}, {"format": "another"},
    ]  # fmt: skip
    try:
        for change in changes:
            forged(directory, {**content, **change})
            said: list[str] = []
            assert not verify(directory, database.connection, say=said.append), change
            assert said[-1] == "nothing of it was run, and no claim was looked at"
        (directory / "certificate.json").write_bytes(kept["certificate.json"] + b" ")
        assert not verify(directory, database.connection, say=said.append)
        assert said[-1] == "nothing of it was run, and no claim was looked at"
        forged(directory, {**content, "verdict": "fail"})
        assert not verify(directory, database.connection, say=said.append)
    finally:
        for name, text in kept.items():
            (directory / name).write_bytes(text)
    assert says(directory, database) == (True, [])


@pytest.mark.slow
def test_a_statement_that_the_database_refuses_is_no_claim_that_holds(database: Database, tmp_path: Path) -> None:
    spec = spec_of()
    released(database, spec)
    assert kanon_sql.certify(database.engine, spec, tmp_path / "certificate").passed
    database.connection.execute("DROP TABLE kanon_sql_manifest")
    verified, failed = says(tmp_path / "certificate", database)
    assert not verified
    assert any("this manifest" in line for line in failed)
    database.connection.execute("DROP TABLE released")
    assert not says(tmp_path / "certificate", database)[0]


def test_the_verifier_opens_files_to_read_them(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "clinic.duckdb") as made:
        made.execute("CREATE TABLE people (age INTEGER)")
    with sqlite3.connect(tmp_path / "clinic.db") as lite:
        lite.execute("CREATE TABLE people (age INTEGER)")
    lite.close()
    for dialect, name in (("duckdb", "clinic.duckdb"), ("sqlite", "clinic.db")):
        cursor = open_database.cursor_of(dialect, str(tmp_path / name))
        cursor.execute("CREATE TEMPORARY TABLE own AS SELECT * FROM people")
        with pytest.raises((duckdb.Error, sqlite3.Error)):
            cursor.execute("DROP TABLE main.people")
    with pytest.raises(duckdb.Error):
        open_database.cursor_of("duckdb", str(tmp_path / "clinic.duckdb")).execute("SELECT * FROM read_text('key.pem')")


def test_the_verifier_is_short_and_imports_nothing_of_ours() -> None:
    assert len(VERIFIER.read_text().splitlines()) <= 305
    imported = {
        name.split(".")[0]
        for path in (VERIFIER, Path(open_database.__file__))
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import)
            else [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        )
    }  # fmt: skip
    assert imported <= set(sys.stdlib_module_names)
