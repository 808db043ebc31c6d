"""The HTML page of several tables: the tables in a picture, every figure, and no value."""

from __future__ import annotations

import json
import re
from pathlib import Path

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
        result = kanon_sql.anonymize(engine, spec)
        assert result.passed, result.message
        pages = [relational_report(result), relational_report(kanon_sql.check(engine, spec))]
        pages.append(audit_report(kanon_sql.audit(engine, spec)))
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
            kanon_sql.anonymize(engine, RelationalSpec.parse(SPEC))
    run = CliRunner().invoke(app, [verb, f"{folder}t.yml", "-d", database, "-o", f"{folder}page.html"])
    assert run.exit_code == 0, run.output
    with open(f"{folder}page.html", encoding="utf-8") as page:
        assert page.read().startswith("<!DOCTYPE html>")


def invoked(*words: str) -> str:
    run = CliRunner().invoke(app, list(words))
    assert run.exit_code == 0, run.output
    return run.output


def test_report_gives_the_page_of_a_release_afterwards(database: str) -> None:
    folder = Path(database).parent
    invoked("anonymize", f"{folder}/t.yml", "-d", database, "-o", f"{folder}/then.html")
    manifest = folder / "released.people.manifest.json"
    recorded = json.loads(manifest.read_text("utf-8"))
    assert recorded["tables"] == {"person": "released.people", "stays": "released.stays", "drugs": "released.drugs"}
    (folder / "run.json").write_text(invoked("plan", f"{folder}/t.yml", "-d", database, "--format", "json"))

    def shown(page: Path) -> str:
        """All but what depends on the cost of the run."""
        return re.sub(r"\bk[0-9a-f]{10}\b", "", page.read_text("utf-8"))

    then = shown(folder / "then.html")
    later = folder / "later.html"
    for name in (str(folder / "t.yml"), str(manifest), recorded["run_id"], str(folder / "run.json")):
        more = ("--schema", "released") if name == recorded["run_id"] else ()
        invoked("report", name, "-d", database, *more, "-o", str(later), "--pictures", str(folder / "pictures"))
        text = shown(later)
        assert "100 % of 24 rows, mean loss" in text
        assert not re.search("zq[01]|wx[01]|dy[0-3]", text)
        assert (folder / "pictures" / "tables.svg").is_file()
        if name != str(folder / "run.json"):
            assert text == then, name


def test_a_damaged_result_of_several_tables_is_refused(database: str, tmp_path: Path) -> None:
    whole = json.loads(invoked("plan", database.replace("c.duckdb", "t.yml"), "-d", database, "--format", "json"))
    for key, value in {"tables": {"person": 1}, "requirements": 7, "persons": "many"}.items():
        (tmp_path / "run.json").write_text(json.dumps({**whole, key: value}))
        run = CliRunner().invoke(app, ["report", str(tmp_path / "run.json"), "-o", str(tmp_path / "page.html")])
        assert run.exit_code == 2, key
        assert "damaged" in run.output, key


def test_what_is_not_for_several_tables_says_what_is(database: str, tmp_path: Path) -> None:
    spec = database.replace("c.duckdb", "t.yml")
    for more, words in (([spec], "use kanon-sql compare"), (["--allow-publish"], "use kanon-sql anonymize")):
        run = CliRunner().invoke(app, ["explore", spec, *more, "-d", database])
        assert run.exit_code == 2, run.output
        assert words in " ".join(run.output.split())
    (tmp_path / "t.yml").write_text(SPEC + "ledger: {table: l}\n")
    run = CliRunner().invoke(app, ["plan", str(tmp_path / "t.yml"), "-d", database])
    assert run.exit_code == 2, run.output
    assert "recoding: local chooses levels by class and row" in " ".join(run.output.split())


def test_where_the_manifest_goes(database: str, tmp_path: Path) -> None:
    folder = Path(database).parent
    invoked("anonymize", f"{folder}/t.yml", "-d", database, "--manifest", "none")
    assert not list(folder.glob("*.json"))
    invoked("anonymize", f"{folder}/t.yml", "-d", database, "--manifest", str(tmp_path / "m.json"))
    assert json.loads((tmp_path / "m.json").read_text("utf-8"))["spec_hash"] == RelationalSpec.parse(SPEC).hash
    refused = CliRunner().invoke(app, ["anonymize", f"{folder}/t.yml", "-d", database, "--manifest", str(tmp_path)])
    assert refused.exit_code == 2, refused.output
