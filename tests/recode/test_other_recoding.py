"""``plan --compare-recoding``: what another recoding would lose instead."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest

import kanon_sql
from kanon_sql.engines import duckdb as duckdb_engine
from kanon_sql.report.json import result_schema
from tests.support.command_line import SPEC, make_clinic, refused, run


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_clinic(tmp_path / "clinic.duckdb")
    (tmp_path / "spec.yml").write_text(re.sub(r"  - l_diversity.*\n", "", SPEC))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def without_costs(result: kanon_sql.results.Plan) -> dict[str, Any]:
    return {**result.to_dict(), "cost": None, "other_recoding": None, "notes": None}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("other", ["local", "local:best"])
@pytest.mark.slow
def test_the_plan_stays_and_the_other_is_what_it_says_of_itself(clinic: Path, other: str) -> None:
    engine = kanon_sql.connect("clinic.duckdb", read_only=True)
    spec = kanon_sql.Spec.load("spec.yml")
    alone, having = kanon_sql.plan(engine, spec), kanon_sql.plan(engine, spec, compare_recoding=other)
    method, _, effort = other.partition(":")
    recoding = {"method": method, "variant": effort or "fast"}
    instead = kanon_sql.plan(engine, kanon_sql.Spec.from_dict({**spec.to_dict(), "recoding": recoding}))
    assert without_costs(having) == without_costs(alone)
    assert alone.other_recoding is None
    assert having.other_recoding is not None
    found = dict(having.other_recoding)
    statements = found.pop("statements")
    assert found == {
        "recoding": f"local:{recoding['variant']}", "mean_loss": instead.mean_loss,
        "suppressed": instead.rows["suppressed"], "reason": None, "stopped": None,
    }  # fmt: skip
    shared = 1  # what the frequency sets and what was added to them need is dropped in two statements, not in one
    assert having.cost.statements == alone.cost.statements + statements + shared
    assert statements < instead.cost.statements, "the frequency sets are there"
    assert having.cost.source_scans == alone.cost.source_scans == 1
    assert len(having.sql) == having.cost.statements
    jsonschema.Draft202012Validator(result_schema()).validate(having.to_dict())
    (note,) = [note for note in having.notes if note not in alone.notes]
    losses = {(f"{100 * (item.mean_loss or 0):.3g}", item.rows["suppressed"]) for item in (alone, instead)}
    words = "instead would lose " if len(losses) == 2 else "would lose as much: "
    assert note.startswith(f"local:{recoding['variant']} {words}")
    engine.close()


@pytest.mark.slow
def test_nothing_is_tried_by_itself_beside_a_plan_that_loses_nothing() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT CAST(range % 2 AS VARCHAR) AS sex FROM range(60)")
        spec = {"version": 1, "source": "people", "release": "released", "quasi_identifiers": {"sex": None}}
        plain = kanon_sql.Spec.from_dict({**spec, "privacy": [{"k_anonymity": 10}]})
        coarse = kanon_sql.Spec.from_dict({**spec, "privacy": [{"k_anonymity": 31}]})
        without, quick, losing = (
            kanon_sql.plan(connection, plain),
            kanon_sql.plan(connection, plain, compare_recoding="quick"),
            kanon_sql.plan(connection, coarse, compare_recoding="quick"),
        )
    assert (quick.mean_loss, quick.other_recoding, quick.notes) == (0, None, without.notes)
    assert quick.cost.statements <= without.cost.statements + 1
    assert losing.mean_loss == 1
    assert losing.other_recoding is not None


@pytest.mark.slow
def test_one_line_in_the_text_and_a_key_in_json(clinic: Path) -> None:
    arguments = ["plan", "spec.yml", "-d", "clinic.duckdb", "--compare-recoding", "local", "-q"]
    assert "local:fast instead would lose" in run(*arguments).stdout
    assert json.loads(run(*arguments, "--format", "json").stdout)["other_recoding"]["recoding"] == "local:fast"
    assert "unknown recoding; did you mean 'local'?" in refused(
        run("plan", "spec.yml", "-d", "clinic.duckdb", "--compare-recoding", "locale"), 2
    )


@pytest.mark.slow
def test_what_is_not_possible_is_said_and_changes_no_verdict(clinic: Path) -> None:
    engine = kanon_sql.connect("clinic.duckdb", scratch="inline")
    result = kanon_sql.plan(engine, kanon_sql.Spec.load("spec.yml"), compare_recoding="local")
    assert result.passed
    assert result.other_recoding is not None
    assert "scratch" in result.other_recoding["reason"]
    assert any(note.startswith("local:fast instead is not possible: ") for note in result.notes)
    jsonschema.Draft202012Validator(result_schema()).validate(result.to_dict())
    engine.close()


def test_a_plan_that_fails_has_nothing_beside_it(clinic: Path) -> None:
    engine = kanon_sql.connect("clinic.duckdb", read_only=True)
    spec = kanon_sql.Spec.from_dict({**kanon_sql.Spec.load("spec.yml").to_dict(), "privacy": [{"k_anonymity": 5000}]})
    result = kanon_sql.plan(engine, spec, compare_recoding="local")
    assert not result.passed
    assert result.other_recoding is None
    engine.close()


@pytest.mark.slow
def test_local_recoding_beside_full_domain(clinic: Path) -> None:
    engine = kanon_sql.connect("clinic.duckdb", read_only=True)
    spec = kanon_sql.Spec.load("spec.yml")
    local = kanon_sql.Spec.from_dict({**spec.to_dict(), "recoding": "local"})
    result = kanon_sql.plan(engine, local, compare_recoding="full_domain")
    assert result.other_recoding is not None
    assert result.other_recoding["mean_loss"] == kanon_sql.plan(engine, spec).mean_loss
    engine.close()


@pytest.mark.slow
def test_a_plan_says_by_itself_what_local_recoding_would_lose_where_that_is_quick(clinic: Path) -> None:
    plain = ("plan", "spec.yml", "-d", "clinic.duckdb", "-q", "--format", "json")
    quick, left_out = (json.loads(run(*plain, *more).stdout) for more in ((), ("--compare-recoding", "none")))
    instead = json.loads(run(*plain, "--compare-recoding", "local").stdout)
    assert quick["other_recoding"] == instead["other_recoding"]
    assert left_out["other_recoding"] is None
    assert quick["cost"]["source_scans"] == left_out["cost"]["source_scans"] == 1


def _many_vectors(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    few = replace(duckdb_engine.CAPABILITIES, quick_vectors=1)
    monkeypatch.setattr(duckdb_engine.DuckDBEngine, "capabilities", few)
    return {}


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(lambda _: {"recoding": "local"}, id="local already"),
        pytest.param(lambda _: {"privacy": [{"l_diversity": {"attribute": "diagnosis", "l": 2}}]}, id="values too"),
        pytest.param(lambda _: {"search": {"algorithm": "k_optimize"}}, id="intervals"),
        pytest.param(_many_vectors, id="many vectors"),
    ],
)
def test_nothing_is_said_where_it_is_not_quick_or_not_possible(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, changed: Callable[[pytest.MonkeyPatch], dict[str, Any]]
) -> None:
    written = kanon_sql.Spec.load("spec.yml").to_dict()
    spec = kanon_sql.Spec.from_dict({**written, **changed(monkeypatch)})
    with kanon_sql.connect("clinic.duckdb", read_only=True) as engine:
        alone, quick = kanon_sql.plan(engine, spec), kanon_sql.plan(engine, spec, compare_recoding="quick")
    assert quick.passed
    assert quick.other_recoding is None
    assert quick.notes == alone.notes
    assert quick.cost.statements - alone.cost.statements in (0, 1)
