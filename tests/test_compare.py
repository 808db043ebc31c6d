"""``compare``: several specs or several k side by side."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from test_cli import SPEC, make_clinic, refused, run

import kanon_sql
from kanon_sql.pipeline.compare import compare, with_k


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_clinic(tmp_path / "clinic.duckdb")
    plain = re.sub(r"  - l_diversity.*\n", "", SPEC)
    (tmp_path / "plain.yml").write_text(plain)
    (tmp_path / "diverse.yml").write_text(SPEC)
    (tmp_path / "other.yml").write_text(re.sub(r"limit: 0.05", "limit: 0.3", plain))
    (tmp_path / "no_k.yml").write_text(re.sub(r"  - k_anonymity.*\n", "", SPEC))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_run_is_what_plan_says(clinic: Path) -> None:
    engine = kanon_sql.connect(clinic / "clinic.duckdb", read_only=True)
    specs = {name: kanon_sql.Spec.load(clinic / f"{name}.yml") for name in ("plain", "diverse")}
    found = compare(engine, specs, [2, 7])
    assert [(item.name, item.k) for item in found.runs] == [("plain", 2), ("plain", 7), ("diverse", 2), ("diverse", 7)]
    assert found.metric == "loss"
    for item in found.runs:
        alone = kanon_sql.plan(engine, with_k(specs[item.name], item.k)).to_dict()
        assert {**item.result.to_dict(), "cost": None} == {**alone, "cost": None}
        assert f"{item.k}-anonymity" in str(alone["achieved"])
    engine.close()


def test_worse_in_every_way_is_said_of_k_anonymity_alone(clinic: Path) -> None:
    engine = kanon_sql.connect(clinic / "clinic.duckdb", read_only=True)
    specs = {name: kanon_sql.Spec.load(clinic / f"{name}.yml") for name in ("plain", "diverse", "other")}
    runs = compare(engine, specs, [2, 5, 20]).runs
    for item in runs:
        if item.name == "diverse":
            assert not item.dominated
            continue

        def cost(other: object = item) -> tuple[float, float, float]:
            result = other.result  # type: ignore[attr-defined]
            return -other.k, round(result.metrics["loss"], 12), result.rows["suppressed"]  # type: ignore[attr-defined]

        better = [
            other for other in runs
            if other.name != "diverse" and other.result.passed and cost(other) != cost()
            and all(theirs <= ours for theirs, ours in zip(cost(other), cost(), strict=True))
        ]  # fmt: skip
        assert item.dominated == bool(better)
    engine.close()


def test_text_json_and_page(clinic: Path) -> None:
    arguments = ["compare", "plain.yml", "diverse.yml", "-d", "clinic.duckdb", "--k", "2, 10"]
    result = run(*arguments, "--report", "frontier.html", "-q")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Privacy against detail")
    assert len(re.findall(r"^  (plain|diverse)\.yml +\d+  PASS", result.stdout, re.MULTILINE)) == 4
    page = (clinic / "frontier.html").read_text("utf-8")
    assert page.count("<svg") == 2
    assert "All 4 runs can meet their requirements" in page
    data = json.loads(run(*arguments, "--format", "json", "-q").stdout)
    assert (data["verb"], data["metric"], len(data["runs"])) == ("compare", "loss", 4)
    assert {item["result"]["verb"] for item in data["runs"]} == {"plan"}


def test_a_k_that_cannot_be_met_is_shown_and_fails(clinic: Path) -> None:
    result = run("compare", "plain.yml", "-d", "clinic.duckdb", "--k", "2,5000", "--report", "f.html", "-q")
    assert result.exit_code == 1
    assert re.search(r"5,000  FAIL ", result.stdout)
    page = (clinic / "f.html").read_text("utf-8")
    assert "1 of 2 runs can meet their requirements" in page
    assert "<svg" not in page, "one k is no frontier"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plain.yml"], "one run, and nothing to compare it with"),
        (["plain.yml", "--k", "5"], "one run, and nothing to compare it with"),
        (["plain.yml", "--k", "5,x"], "whole numbers separated by commas"),
        (["plain.yml", "--k", "0,5"], "of at least 1"),
        (["plain.yml", "--k", "5,5"], "different whole numbers"),
        (["no_k.yml", "--k", "2,5"], "no k_anonymity whose k could be changed"),
        (["plain.yml", "plain.yml"], "given twice"),
        (["plain.yml", "--k", "2,5", "--report", "nowhere/x.html"], "existing directory"),
    ],
)
def test_compare_refuses(clinic: Path, arguments: list[str], message: str) -> None:
    assert message in refused(run("compare", *arguments, "-d", "clinic.duckdb"), 2)
