"""``compare``: several specs or several k side by side."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest

import kanon_sql
from kanon_sql.engines import Deadline
from kanon_sql.frequency import SetCache
from kanon_sql.frequency.prepared import REMEMBERED, Memory
from kanon_sql.models import models_of
from kanon_sql.report.json import comparison_schema
from kanon_sql.spec import RecodingOptions, parse_recoding
from kanon_sql.testing.reference import assert_equal
from kanon_sql.verbs.compare import compare, with_k
from tests.support.command_line import SPEC, make_clinic, refused, run


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_clinic(tmp_path / "clinic.duckdb")
    plain = re.sub(r"  - l_diversity.*\n", "", SPEC)
    (tmp_path / "plain.yml").write_text(plain)
    (tmp_path / "diverse.yml").write_text(SPEC)
    (tmp_path / "other.yml").write_text(re.sub(r"max_share: 0.05", "max_share: 0.3", plain))
    (tmp_path / "no_k.yml").write_text(re.sub(r"  - k_anonymity.*\n", "", SPEC))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_each_run_is_what_plan_says(clinic: Path) -> None:
    engine = kanon_sql.connect(clinic / "clinic.duckdb", read_only=True)
    specs = {name: kanon_sql.Spec.load(clinic / f"{name}.yml") for name in ("plain", "diverse")}
    found = compare(engine, specs, [2, 7])
    assert [(item.name, item.k) for item in found.runs] == [("plain", 2), ("plain", 7), ("diverse", 2), ("diverse", 7)]
    assert found.metric == "loss"
    for item in found.runs:
        alone = kanon_sql.plan(engine, with_k(specs[item.name], item.k)).to_dict()
        assert_equal({**item.result.to_dict(), "cost": None}, {**alone, "cost": None})
        assert f"{item.k}-anonymity" in str(alone["achieved"])
    engine.close()


@pytest.mark.slow
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


@pytest.mark.slow
def test_text_json_and_page(clinic: Path) -> None:
    arguments = ["compare", "plain.yml", "diverse.yml", "-d", "clinic.duckdb", "--k", "2, 10"]
    result = run(*arguments, "-o", "frontier.html", "-q")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Privacy against information loss")
    assert len(re.findall(r"^  (plain|diverse)\.yml +\d+  PASS", result.stdout, re.MULTILINE)) == 4
    page = (clinic / "frontier.html").read_text("utf-8")
    assert page.count("<svg") == 2
    assert "All 4 runs can meet their requirements" in page
    data = json.loads(run(*arguments, "--format", "json", "-q").stdout)
    assert (data["verb"], data["metric"], len(data["runs"])) == ("compare", "loss", 4)
    assert {item["result"]["verb"] for item in data["runs"]} == {"plan"}


@pytest.mark.slow
def test_a_k_that_cannot_be_met_is_shown_and_fails(clinic: Path) -> None:
    result = run("compare", "plain.yml", "-d", "clinic.duckdb", "--k", "2,5000", "-o", "f.html", "-q")
    assert result.exit_code == 1
    assert re.search(r"5,000  FAIL ", result.stdout)
    page = (clinic / "f.html").read_text("utf-8")
    assert "1 of 2 runs can meet their requirements" in page
    assert "<svg" not in page, "one k is no frontier"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plain.yml"], "give more specs, or --k 2,5,10, or --recoding full_domain,local"),
        (["plain.yml", "--k", "5"], "give more specs, or --k 2,5,10, or --recoding full_domain,local"),
        (["plain.yml", "--k", "5,x"], "whole numbers separated by commas"),
        (["plain.yml", "--k", "0,5"], "of at least 1"),
        (["plain.yml", "--k", "5,5"], "different whole numbers"),
        (["plain.yml", "--columns", "1,x"], "--columns: expected whole numbers"),
        (["plain.yml", "--columns", "0,1"], "of at least 1 for columns"),
        (["plain.yml", "--columns", "1,3"], "plain.yml: --columns 3: expected at most 2"),
        (["no_k.yml", "--k", "2,5"], "no k_anonymity for --k to change"),
        (["plain.yml", "plain.yml"], "given twice"),
        (["plain.yml", "--k", "2,5", "-o", "nowhere/x.html"], "existing directory"),
    ],
)
def test_compare_refuses(clinic: Path, arguments: list[str], message: str) -> None:
    assert message in refused(run("compare", *arguments, "-d", "clinic.duckdb"), 2)


# --- Columns ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_line_per_number_of_columns_is_what_plan_says_of_a_spec_with_these(clinic: Path) -> None:
    engine = kanon_sql.connect(clinic / "clinic.duckdb", read_only=True)
    spec = kanon_sql.Spec.load(clinic / "plain.yml")
    found = compare(engine, {"plain": spec}, [2, 7], columns=[1, 2])
    assert [(item.columns, item.k) for item in found.runs] == [(1, 2), (1, 7), (2, 2), (2, 7)]
    for item in found.runs:
        assert item.columns is not None
        assert item.result is not None
        written = spec.to_dict()
        names = ["age", "zip"][: item.columns]
        own = {**written, "quasi_identifiers": {name: written["quasi_identifiers"][name] for name in names}}
        alone = kanon_sql.plan(engine, with_k(kanon_sql.Spec.from_dict(own), item.k))
        assert_equal({**item.result.to_dict(), "cost": None}, {**alone.to_dict(), "cost": None})
        assert list(item.result.node or ()) == names
        same = compare(engine, {"plain": kanon_sql.Spec.from_dict(own)}, [2, 7]).runs
        marks = {other.k: other.dominated for other in same}
        assert item.dominated == marks[item.k], "runs about other columns are not better or worse"
    jsonschema.Draft202012Validator(comparison_schema()).validate(found.to_dict())
    engine.close()


@pytest.mark.slow
def test_a_spec_that_cannot_do_without_a_column_is_a_line_with_the_reason(clinic: Path) -> None:
    text = (clinic / "plain.yml").read_text()
    (clinic / "sets.yml").write_text(text.replace("{k: 5}", "{k: 5, quasi_identifiers: [zip]}"))
    result = run("compare", "sets.yml", "-d", "clinic.duckdb", "--columns", "1,2", "-q")
    assert result.exit_code == 0, result.output
    assert re.search(r"^ +1 +\S* +none", result.stdout, re.MULTILINE)
    assert re.search(r"^ +2 +\S* +PASS", result.stdout, re.MULTILINE)
    assert re.search(r"Not possible\n.*\n +1 +.*zip", result.stdout)
    (clinic / "again.yml").write_text((clinic / "sets.yml").read_text())
    files = ["sets.yml", "again.yml"]
    assert "none of the runs is possible" in refused(run("compare", *files, "-d", "clinic.duckdb", "--columns", "1"), 2)


# --- Recodings --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_line_per_recoding_is_what_plan_says_of_it(clinic: Path) -> None:
    engine = kanon_sql.connect(clinic / "clinic.duckdb", read_only=True)
    spec = kanon_sql.Spec.load(clinic / "plain.yml")
    wanted = ["full_domain", "local", {"method": "local", "variant": "best"}]
    found = compare(engine, {"plain": spec}, [2, 7], recodings=wanted)
    assert [(item.recoding, item.k) for item in found.runs] == [
        (label, k) for label in ("full_domain", "local:fast", "local:best") for k in (2, 7)
    ]
    assert scans(found) == [1, 0, 0, 0, 0, 0], "the frequency sets do not depend on the recoding"
    for item in found.runs:
        assert item.recoding is not None
        own = spec.to_dict() | {"recoding": parse_recoding(item.recoding).to_dict()}
        alone = kanon_sql.plan(engine, with_k(kanon_sql.Spec.from_dict(own), item.k))
        assert item.result is not None
        assert_equal({**item.result.to_dict(), "cost": None}, {**alone.to_dict(), "cost": None})
        assert item.result.mean_loss == alone.mean_loss
    jsonschema.Draft202012Validator(comparison_schema()).validate(found.to_dict())
    engine.close()


def test_every_method_of_the_spec_can_be_named_in_a_word() -> None:
    """The methods and their options are read from the spec's code."""
    schema = RecodingOptions.model_json_schema()
    names, options = next(
        (form["enum"], other["properties"]) for form, other in [schema["anyOf"]]
    )  # fmt: skip
    words = {
        word for name, field in options.items() if name != "method" for form in field.get("anyOf", [])
        for word in form.get("enum", [])
    }  # fmt: skip
    assert {"full_domain", "local"} <= {*names}
    assert {"fast", "best"} <= words
    for name in {*names} - {"microaggregation"}:  # it needs columns, which no word can say
        assert parse_recoding(name).method == name
        assert parse_recoding(parse_recoding(name).label) == parse_recoding(name)
    assert parse_recoding("local:best") == parse_recoding({"method": "local", "variant": "best"})


@pytest.mark.slow
def test_a_recoding_that_a_spec_cannot_have_is_a_line_with_the_reason(clinic: Path) -> None:
    text = (clinic / "plain.yml").read_text().replace("algorithm: incognito", "algorithm: k_optimize, cuts: 4")
    (clinic / "cuts.yml").write_text(text.replace("age: {intervals: [5, 10, 20], top: 90}", "age: {}"))
    arguments = ["compare", "cuts.yml", "-d", "clinic.duckdb", "--recoding", "full_domain, local", "-q"]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert re.search(r"\n +full_domain +\d+ +PASS", result.stdout)
    assert re.search(r"\n +local:fast +\d+ +none", result.stdout)
    assert re.search(r"Not possible\n.*\n +local:fast +\d+ +search.algorithm: k_optimize cuts", result.stdout)
    assert re.search(r"Cost\n.* statements +seconds +proven\n +full_domain +\d+ +\d+ +[\d.]+ +yes *\n\n", result.stdout)
    data = json.loads(run(*arguments, "--format", "json").stdout)
    jsonschema.Draft202012Validator(comparison_schema()).validate(data)
    assert (data["passed"], data["runs"][1]["result"]) == (True, None)
    assert "full-domain recoding" in data["runs"][1]["reason"]
    assert "none of the runs is possible" in refused(
        run("compare", "cuts.yml", "-d", "clinic.duckdb", "--recoding", "local,local:best"), 2
    )


@pytest.mark.slow
def test_what_the_engine_does_not_do_is_a_line_too(clinic: Path) -> None:
    engine = kanon_sql.connect(clinic / "clinic.duckdb", scratch="inline")
    spec = kanon_sql.Spec.load(clinic / "plain.yml")
    full, local = compare(engine, {"plain": spec}, recodings=["full_domain", "local"]).runs
    assert full.passed
    assert local.reason is not None
    assert "scratch" in local.reason
    engine.close()


@pytest.mark.slow
def test_markdown_and_the_page_have_a_line_per_recoding(clinic: Path) -> None:
    arguments = ["compare", "plain.yml", "-d", "clinic.duckdb", "--k", "5,10", "--recoding", "full_domain,local"]
    result = run(*arguments, "--format", "markdown", "-o", "r.html", "-q")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    heads = [cell.strip() for cell in lines[2].strip("|").split("|")]
    assert heads[:5] == ["recoding", "k", "verdict", "mean loss", "loss"]
    assert {"suppressed", "classes", "statements", "seconds"} <= {*heads}
    assert [re.findall(r"[^|]+", line)[0].strip() for line in lines[4:8]] == [
        "full\\_domain", "full\\_domain", "local:fast", "local:fast",
    ]  # fmt: skip
    page = (clinic / "r.html").read_text("utf-8")
    assert page.count("<svg") == 2
    assert "plain.yml, local:fast, k = 10" in page


@pytest.mark.parametrize(
    ("recodings", "message"),
    [
        ("local,locally", "recoding 'locally': unknown recoding; did you mean 'local'?"),
        ("local,local:bset", "recoding 'local:bset': unknown option; did you mean 'best'?"),
        ("local,local:fast", "expected different recodings, got local:fast twice"),
        ("full_domain,full_domain:best", "full_domain is configured under 'search'"),
        ("local", "give more specs, or --k 2,5,10, or --recoding full_domain,local"),
    ],
)
def test_compare_refuses_recodings(clinic: Path, recodings: str, message: str) -> None:
    assert message in refused(run("compare", "plain.yml", "-d", "clinic.duckdb", "--recoding", recodings), 2)


# --- Shared frequency sets ------------------------------------------------------------------


def scans(found: object) -> list[int]:
    return [item.result.cost.source_scans for item in found.runs]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_runs_with_the_same_frequency_sets_read_the_source_once(clinic: Path) -> None:
    engine = kanon_sql.connect(clinic / "clinic.duckdb", read_only=True)
    specs = {name: kanon_sql.Spec.load(clinic / f"{name}.yml") for name in ("plain", "other", "diverse")}
    assert scans(compare(engine, {"plain": specs["plain"]}, [2, 5, 10, 50])) == [1, 0, 0, 0]
    assert scans(compare(engine, specs, [2, 5])) == [1, 0, 0, 0, 1, 0], "diverse counts values of an attribute too"
    engine.close()


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "search",
    [
        "algorithm: optimal", "algorithm: optimal, metric: entropy", "algorithm: samarati, distance_vectors: true",
        pytest.param("algorithm: k_optimize, cuts: 4", marks=pytest.mark.slow), "algorithm: greedy",
        "algorithm: incognito, variant: super_roots",
    ],
)  # fmt: skip
def test_shared_sets_answer_every_search_as_its_own_would(clinic: Path, search: str) -> None:
    """What one run remembers (its k is part of its queries) must not answer for the next."""
    text = (clinic / "plain.yml").read_text().replace("algorithm: incognito", search)
    if "k_optimize" in search:
        text = text.replace("age: {intervals: [5, 10, 20], top: 90}", "age: {}")
    (clinic / "searched.yml").write_text(text)
    engine, spec = kanon_sql.connect(clinic / "clinic.duckdb"), kanon_sql.Spec.load(clinic / "searched.yml")
    found = compare(engine, {"searched": spec}, [10, 2, 25, 5])
    assert scans(found) == [1, 0, 0, 0]
    for item in found.runs:
        alone = kanon_sql.plan(engine, with_k(spec, item.k)).to_dict()
        assert_equal(
            {**item.result.to_dict(), "cost": None}, {**alone, "cost": None}
        )  # sums of fractions have no order
    engine.close()


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "changed",
    [
        "nulls: suppress", "unit: name", "intervals: [10, 20], top: 90", "intervals: [5, 10, 20], top: 80",
        "query: SELECT * FROM visits",
    ],
)  # fmt: skip
def test_runs_whose_frequency_sets_differ_in_anything_read_it_again(clinic: Path, changed: str) -> None:
    text = (clinic / "plain.yml").read_text()
    key, _, value = changed.partition(":")
    if key == "intervals":
        text = text.replace("intervals: [5, 10, 20], top: 90", changed)
    elif key == "query":
        text = text.replace("source: visits", f"source: {{{changed}}}")
    else:
        text = text.replace("identifiers: [name]\n", "") + f"{key}: {value.strip()}\n"
    (clinic / "changed.yml").write_text(text)
    engine = kanon_sql.connect(clinic / "clinic.duckdb", read_only=True)
    specs = {name: kanon_sql.Spec.load(clinic / f"{name}.yml") for name in ("plain", "changed")}
    found = compare(engine, specs)
    assert scans(found) == [1, 1]
    for item in found.runs:
        alone = kanon_sql.plan(engine, specs[item.name]).to_dict()
        assert_equal({**item.result.to_dict(), "cost": None}, {**alone, "cost": None})
    engine.close()


LIMITS = ["minimum_level: 1", "maximum_level: 2", "weight: 3", "minimum_level: 1, maximum_level: 1, weight: 0.5"]


@pytest.mark.slow
@pytest.mark.sampled(10)
@pytest.mark.parametrize("remembers", [False, True], ids=["kept", "remembered"])
@pytest.mark.parametrize(
    "search",
    [
        "algorithm: optimal", "algorithm: incognito, variant: super_roots", "algorithm: optimal, metric: entropy",
        "algorithm: greedy, metric: discernibility", "local",
    ],
)  # fmt: skip
@pytest.mark.campaign_on("algorithm: optimal-remembered")
def test_what_no_frequency_set_depends_on_reads_nothing_again(clinic: Path, search: str, remembers: bool) -> None:
    """Level limits, weights, the limit, k, l and t: each answer is that of a run of its own, in whatever order."""
    text = (clinic / "plain.yml").read_text()
    if search == "local":
        text = text.replace("search: {algorithm: incognito}", "recoding: local")
    text = text.replace("algorithm: incognito", search)
    privacy = (
        "  - k_anonymity: {k: SIZE}\n  - l_diversity: {attribute: diagnosis, l: LEAST, variant: distinct}\n"
        "  - t_closeness: {attribute: diagnosis, t: MOST}\n"
    )
    text = text.replace("  - k_anonymity: {k: 5}\n", privacy)
    usual = {"limits": "", "SIZE": 2, "LEAST": 2, "MOST": 0.5, "0.05": 0.05}
    changes: list[dict[str, Any]] = [
        {}, *({"limits": f", {limits}"} for limits in LIMITS), {"LEAST": 3, "MOST": 0.4}, {"0.05": 0},
        {"SIZE": 9, "MOST": 0.15, "0.05": 0}, {"SIZE": 9, "MOST": 0.15}, {"SIZE": 9},
        {"0.05": 0.3}, {"SIZE": 9, "0.05": 0.3}, {},
    ]  # fmt: skip
    specs = {}
    for number, change in enumerate(changes):
        made = text
        for name, value in {**usual, **change}.items():
            made = made.replace("top: 90", f"top: 90{value}") if name == "limits" else made.replace(name, str(value))
        specs[str(number)] = kanon_sql.Spec.parse(made)
    engine = kanon_sql.connect(clinic / "clinic.duckdb", read_only=True)
    with engine.run(Deadline(None)), SetCache(engine, remembers=remembers) as kept:
        found = {name: kanon_sql.plan(engine, spec, kept=kept, compare_recoding=None) for name, spec in specs.items()}
    assert [item.cost.source_scans for item in found.values()] == [1] + [0] * (len(specs) - 1)
    statements = [item.cost.statements for item in found.values()]
    if remembers and search != "local":
        assert statements[-1] < statements[0] / 2, "what was asked before is remembered"
    for name, item in found.items():
        alone = kanon_sql.plan(engine, specs[name], compare_recoding=None).to_dict()
        assert_equal(without_costs(item.to_dict()), without_costs(alone))
    engine.close()


def test_answers_are_remembered_under_the_very_same_requirements_alone() -> None:
    """What may be pruned depends on whether rows may be suppressed."""
    spec = kanon_sql.Spec.parse(SPEC)
    memory, models = Memory(keeps=True), models_of(spec)

    def under(models: list[Any], *, may_suppress: bool = True) -> dict[Any, Any]:
        found = memory.under(models, may_suppress=may_suppress)
        assert found is not None
        return found.answers

    own = under(models)
    own["node"] = "answer"
    assert under(models_of(spec)) is own
    others = [under(models, may_suppress=False), under(models_of(with_k(spec, 6))), under(models[:1])]
    assert others == [{}, {}, {}]
    for k in range(10, 10 + REMEMBERED):
        under(models_of(with_k(spec, k)))
    assert under(models) == {}, "the oldest is forgotten"
    assert Memory(keeps=False).under(models, may_suppress=True) is None


def without_costs(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what it took, which is less where something is remembered."""
    work = {"frequency_sets": 0, "base_reads": 0}
    return {**result, "cost": None, "search": result["search"] and {**result["search"], **work}}


@pytest.mark.slow
def test_level_limits_above_the_top_are_refused_where_sets_are_kept_as_well(clinic: Path) -> None:
    engine = kanon_sql.connect(clinic / "clinic.duckdb", read_only=True)
    kanon_sql.hierarchy(engine, kanon_sql.Spec.load(clinic / "plain.yml"), ["zip"], export=clinic)
    text = (clinic / "plain.yml").read_text().replace("{prefix: [4, 3, 2]}", f"{{file: {clinic / 'zip.csv'}}}")
    high = kanon_sql.Spec.parse(text.replace("zip.csv", "zip.csv, minimum_level: 7"))
    with pytest.raises(kanon_sql.SpecError, match="minimum_level 7 is above the hierarchy's top, which is level 4"):
        compare(engine, {"plain": kanon_sql.Spec.parse(text), "high": high})
    engine.close()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scratch", ["temp", "schema:work", "inline"])
@pytest.mark.slow
def test_nothing_is_left_in_any_scratch_mode(clinic: Path, scratch: str) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE SCHEMA work")
    engine = kanon_sql.connect(clinic / "clinic.duckdb", scratch=scratch)
    spec = kanon_sql.Spec.load(clinic / "plain.yml")
    found = compare(engine, {"plain": spec}, [2, 5, 10])
    assert [item.result.to_dict()["node"] for item in found.runs] == [
        kanon_sql.plan(engine, with_k(spec, k)).to_dict()["node"] for k in (2, 5, 10)
    ]
    engine.close()
    with duckdb.connect("clinic.duckdb") as connection:
        names = [row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        assert sorted(names) in (["visits"], ["kanon_sql_scratch", "visits"])
        if "kanon_sql_scratch" in names:
            assert connection.execute("SELECT COUNT(*) FROM work.kanon_sql_scratch").fetchall() == [(0,)]


def temporary_tables(engine: Any) -> int:
    return int(engine._connection.execute("SELECT COUNT(*) FROM duckdb_tables() WHERE temporary").fetchone()[0])


@pytest.mark.slow
def test_what_a_run_adds_is_dropped_before_the_next(clinic: Path) -> None:
    """Rollups of one run would fill the disk during the others; a run that fails leaves nothing either."""
    engine = kanon_sql.connect(clinic / "clinic.duckdb", read_only=True)
    spec = kanon_sql.Spec.load(clinic / "plain.yml")
    left: list[int] = []

    def count(stage: str, _: int | None) -> None:
        if stage.endswith("searching the lattice (incognito)"):
            left.append(temporary_tables(engine))

    compare(engine, {"plain": spec}, [2, 5, 10], report=count)
    assert len(set(left)) == 1
    with pytest.raises(kanon_sql.SpecError):
        compare(engine, {"plain": spec, "wrong": spec.model_copy(update={"sensitive": ("nothing",)})})
    assert temporary_tables(engine) == 0
    engine.close()
