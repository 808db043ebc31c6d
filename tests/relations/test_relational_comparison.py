"""Specs of several tables side by side, and each k."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.cli import app
from kanon_sql.errors import SpecError
from kanon_sql.report.json import relational_comparison_schema
from kanon_sql.testing import Subject
from tests.servers import subject_of

SPEC = """
version: 1
person: {table: buyers, key: id}
tables:
  items: {person: buyer, quasi_identifiers: {item: {maximum_level: 0}}}
privacy:
- km_anonymity: {k: 2, m: 1}
suppression: {max_rows: 0.4}
"""


def baskets(subject: Subject) -> None:
    """Item a is in three baskets, b in two."""
    subject.table("buyers", {"id": "integer"}, [(1,), (2,), (3,)])
    subject.table("items", {"buyer": "integer", "item": "text"}, [(1, "a"), (2, "a"), (3, "a"), (1, "b"), (2, "b")])


def test_each_k_is_planned_as_if_it_stood_in_the_spec() -> None:
    with subject_of("duckdb") as subject:
        baskets(subject)
        engine, spec = subject.connect(), RelationalSpec.parse(SPEC)
        found = kanon_sql.compare(engine, {"a": spec}, [2, 3, 4])
        assert [(run.k, run.result.passed) for run in found.runs] == [(2, True), (3, True), (4, False)]
        assert [run.result.tables["items"]["released"] for run in found.runs[:2]] == [5, 3]
        for run in found.runs:
            own = RelationalSpec.parse(SPEC.replace("k: 2", f"k: {run.k}"))
            assert kanon_sql.plan(engine, own).tables == run.result.tables
        assert not found.passed
        assert found.message == "2 of 3 could be released"
        assert "a, k = 3" in str(found)
        Draft202012Validator(relational_comparison_schema()).validate(json.loads(json.dumps(found.to_dict())))
        for wrong in ([0, 5], [-1], [5, 5]):
            with pytest.raises(SpecError, match="different whole numbers of at least 1 for k"):
                kanon_sql.compare(engine, {"a": spec}, wrong)


def test_the_command(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "c.duckdb")) as connection:
        connection.execute("CREATE TABLE buyers AS SELECT i AS id FROM range(4) AS t(i)")
        connection.execute("CREATE TABLE items AS SELECT i AS buyer, 'a' AS item FROM range(4) AS t(i)")
    (tmp_path / "a.yml").write_text(SPEC)
    (tmp_path / "b.yml").write_text(SPEC.replace("k: 2", "k: 4"))
    one = tmp_path / "one.yml"
    one.write_text("version: 1\nsource: items\nquasi_identifiers: {item: {}}\nprivacy: [{k_anonymity: 2}]\n")
    specs, database = [str(tmp_path / "a.yml"), str(tmp_path / "b.yml")], ["-d", str(tmp_path / "c.duckdb")]
    run = CliRunner().invoke(app, ["compare", *specs, *database])
    assert run.exit_code == 0, run.output
    assert "2 of 2 could be released" in run.output
    refused = CliRunner().invoke(app, ["compare", *specs, *database, "--columns", "1"])
    assert refused.exit_code == 2
    assert "--columns: compare does not take this" in " ".join(refused.output.split())
    assert CliRunner().invoke(app, ["compare", specs[0], str(one), *database]).exit_code == 2
