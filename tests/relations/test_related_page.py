"""The HTML page of several tables: the tables in a picture, every figure, and no value."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.cli import app
from kanon_sql.report.related_page import audit_report, relational_report


@pytest.fixture
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    import duckdb

    path = tmp_path_factory.mktemp("page") / "c.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA released")
        connection.execute("CREATE TABLE people AS SELECT i AS id, 'zq' || i % 2 AS town FROM range(12) AS t(i)")
        connection.execute("CREATE TABLE stays AS SELECT i AS nr, i % 12 AS who, 'wx' || i % 2 AS ward "
                           "FROM range(24) AS t(i)")  # fmt: skip
        connection.execute("CREATE TABLE drugs AS SELECT i AS stay, 'dy' || i % 4 AS drug FROM range(24) AS t(i)")
    (path.parent / "t.yml").write_text(SPEC)
    return str(path)


SPEC = """
version: 1
person: {table: people, key: id, quasi_identifiers: {town: {maximum_level: 0}}}
tables:
  stays: {key: nr, person: who, quasi_identifiers: {ward: {maximum_level: 0}}}
  drugs: {parent: stays, by: stay, quasi_identifiers: {drug: {}}}
privacy:
- km_anonymity: {k: 3, m: 1}
release: {schema: released}
"""


def test_the_page_has_each_table_below_its_own(database: str) -> None:
    spec = RelationalSpec.parse(SPEC)
    with kanon_sql.connect(database) as engine:
        result = kanon_sql.anonymize_tables(engine, spec)
        assert result.passed, result.message
        pages = [relational_report(result), relational_report(kanon_sql.check_tables(engine, spec))]
        pages.append(audit_report(kanon_sql.audit_tables(engine, spec)))
    released, checked, audited = pages
    at = {name: int(x) for x, name in re.findall(r'<text class="strong" x="(\d+)"[^>]*>(\w+)</text>', released)}
    assert at == {"person": 0, "stays": 18, "drugs": 36}
    assert "100 % of 24 rows, mean loss" in released
    assert "detail kept" in released
    assert "detail kept" not in checked
    assert "unique only when joined" in audited
    for page in pages:
        assert not re.search("zq[01]|wx[01]|dy[0-3]", page)
        assert "https://" not in page


@pytest.mark.parametrize("verb", ["plan", "audit"])
def test_the_command_writes_it(database: str, verb: str) -> None:
    folder = database.removesuffix("c.duckdb")
    if verb == "audit":
        with kanon_sql.connect(database) as engine:
            kanon_sql.anonymize_tables(engine, RelationalSpec.parse(SPEC))
    run = CliRunner().invoke(app, [verb, f"{folder}t.yml", "-d", database, "-o", f"{folder}page.html"])
    assert run.exit_code == 0, run.output
    with open(f"{folder}page.html", encoding="utf-8") as page:
        assert page.read().startswith("<!DOCTYPE html>")
