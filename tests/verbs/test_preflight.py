"""Obstacles of a run: all of them in one error, before its first statement, and each alone in its own words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines import DryEngine, Scratch
from kanon_sql.errors import Obstacle, SpecError, UnsupportedError, refuse
from kanon_sql.verbs.dbt import ADAPTERS, dbt
from kanon_sql.verbs.functions import DIALECTS as WITH_FUNCTIONS
from kanon_sql.verbs.preflight import RULES, Options, obstacles
from kanon_sql.verbs.sqlmesh import DIALECTS, audits
from tests.conftest import Database
from tests.support.private_releases import asked

PIPELINES = {"dbt": ADAPTERS, "sqlmesh": DIALECTS, "functions": WITH_FUNCTIONS}
"""Verbs that hand SQL over -> the engines that they do it for."""

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "people_release",
    "quasi_identifiers": {"age": {"intervals": [10, 20]}, "zip": {"prefix": [3]}},
    "sensitive": ["illness"],
    "privacy": [{"k_anonymity": 2}],
}
LOCAL = {"recoding": "local"}
CUTS = {"search": {"algorithm": "k_optimize"}}
VIEW = {"release": {"view": "people_view", "accept_sequence_risk": True}, "sensitive": []}
FILE = {"release": {"file": "out.csv"}, "sensitive": []}
STATE = {"state": "kanon_state"}
POSITIONS: dict[str, Any] = {
    "version": 1,
    "kind": "positions",
    "source": "people",
    "release": "people_release",
    "unit": "id",
    "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3},
    "k": 2,
}
CELLS: dict[str, Any] = {
    "version": 1,
    "kind": "table",
    "source": "people",
    "release": "people_release",
    "dimensions": {"zip": None},
    "rules": {"threshold": 2},
}
ROWS: dict[str, Any] = {
    "version": 1,
    "kind": "perturbed",
    "source": "people",
    "release": "people_release",
    "key": "id",
    "perturb": {"age": {"noise": 0.5}},
}
TABLES: dict[str, Any] = {
    "version": 1,
    "person": {"table": "people", "key": "id", "quasi_identifiers": {"age": {}}},
    "privacy": [{"km_anonymity": {"k": 2}}],
    "release": {"schema": "released"},
}


SECRET = "KANON_NO_SUCH_SECRET"
"""An environment variable that holds nothing."""

SAMPLED = {"sample": {"fraction": 0.5, "key_variable": SECRET}}


def spec_of(changes: dict[str, Any]) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({key: value for key, value in {**SPEC, **changes}.items() if value is not None})


def opened(*, scratch: str = "temp", read_only: bool = False) -> Any:
    """A database without any table: a statement about the source would fail."""
    engine = kanon_sql.connect(duckdb.connect(), scratch=scratch)
    if read_only:
        engine.read_only = True  # type: ignore[misc]
    return engine


def found(verb: str, spec: Any, *, engine: Any = None, **options: Any) -> list[str]:
    return [item.message for item in obstacles(engine or opened(), spec, verb, Options(**options))]


# --- All at once ------------------------------------------------------------------------------


def never(*_: Any) -> Any:
    raise AssertionError("a run was begun")


@pytest.mark.parametrize(
    ("verb", "spec", "options", "parts"),
    [
        (
            kanon_sql.anonymize,
            spec_of({"release": None, **LOCAL}),
            {"all_minimal": True, "distributions": True},
            ["release: missing", "--show minimal: labels differ", "distributions: recoding: local"],
        ),
        (
            kanon_sql.anonymize,
            asked(),
            {"all_minimal": True, "details": True, "fail_on_warning": True},
            [
                "--fail-on-warning",
                "--show minimal: depends on the data, which differential_privacy does",
                "--output PATH.html",
            ],
        ),
        (
            kanon_sql.plan,
            spec_of(LOCAL),
            {"explain": True, "matrix": True, "distributions": True},
            ["--show nodes", "--show matrix", "distributions: recoding: local"],
        ),
        (
            kanon_sql.refresh,
            spec_of({"unit": "id"}),
            {"deleted": "gone", "verify_all": True},
            ["state: missing", "batch: missing", "verify_all"],
        ),
        (
            kanon_sql.anonymize,
            spec_of(
                {
                    "source": {"query": "SELECT 1; SELECT 2"},
                    "unit": "id",
                    "steps": SAMPLED,
                    "utility": {"classify": "illness"},
                    **CUTS,
                }
            ),
            {},
            ["source query: expected exactly one", "steps.sample.key_variable", "utility: k_optimize chooses"],
        ),
        (
            dbt,
            spec_of({"suppression": {"max_share": 0.1, "style": "mask"}, **LOCAL}),
            {"project": Path(), "source": "people"},
            ["dbt: its models apply one level", "suppression.style: a dbt release", "--source: expected ref"],
        ),
        (
            audits,
            spec_of(
                {
                    "release": None,
                    "warnings": {"inconsistent_spelling": "error"},
                    "privacy": [{"k_map": {"population": "census", "k": 5}}],
                }
            ),
            {},
            ["warnings.inconsistent_spelling: audits", "release: missing; name a table", "privacy: 5-map"],
        ),
    ],
)
def test_three_obstacles_are_one_error_of_three_lines_before_any_statement(
    monkeypatch: pytest.MonkeyPatch, verb: Callable[..., Any], spec: Any, options: dict[str, Any], parts: list[str]
) -> None:
    engine = opened()
    monkeypatch.setattr(engine, "run", never)
    with pytest.raises((SpecError, UnsupportedError)) as raised:
        verb(engine, spec, **options)
    lines = str(raised.value).splitlines()
    assert [line.startswith(part) for line, part in zip(lines, parts, strict=True)] == [True] * 3
    assert list(engine.meter.log) == []


def test_what_needs_tables_or_files_is_one_error_where_there_are_none() -> None:
    engine = DryEngine("snowflake", ())
    spec = spec_of(
        {
            "source": {"file": "people.csv"},
            "ledger": "ledger",
            "search": {"algorithm": "samarati", "metric": "height", "distance_vectors": True},
        }
    )
    assert engine.scratch.mode == "temp"
    (file,) = found("anonymize", spec, engine=engine)
    engine.scratch = Scratch("inline", reason="for this test")
    assert [item.partition(":")[0] for item in found("anonymize", spec, engine=engine)] == [
        file.partition(":")[0],
        "ledger",
        "search.distance_vectors needs a scratch table, and the scratch mode 'inline' has none",
    ]
    assert file == "snowflake cannot read the source file; load it into a table, or use DuckDB"


def test_names_that_no_table_can_have_are_one_error() -> None:
    long = "r" * 300
    recoded = spec_of({"release": f"a.{long}", "recoding": {"save_as": f"{long}s"}})
    first, second = found("anonymize", recoded, engine=DryEngine("postgres", ()))
    assert first.startswith("release: postgres takes names of 63 bytes at most")
    assert second.startswith("recoding.save_as: postgres takes names of 63 bytes at most")
    assert found("anonymize", recoded) == []
    (only,) = found("anonymize", spec_of({"release": "temp.people_release"}))
    assert only.startswith("release: 'temp.people_release' would be a temporary table")


def test_an_error_has_the_class_of_the_first_obstacle_and_each_message_once() -> None:
    of_spec, unsupported = Obstacle("one; leave it out", SpecError), Obstacle("two; leave it out")
    with pytest.raises(SpecError) as raised:
        refuse([of_spec, unsupported, of_spec])
    assert [problem.message for problem in raised.value.problems] == [of_spec.message, unsupported.message]
    with pytest.raises(UnsupportedError) as other:
        refuse([unsupported, of_spec])
    assert str(other.value) == "two; leave it out\none; leave it out"
    refuse([])


def test_a_command_prints_every_obstacle_with_its_line(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from kanon_sql.cli import app

    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yml").write_text(
        "version: 1\nsource: people\nquasi_identifiers: {age: {intervals: [10]}}\n"
        "privacy: [k_anonymity: 2]\nrecoding: local\n",
        encoding="utf-8",
    )
    duckdb.connect(str(tmp_path / "a.duckdb")).close()
    done = CliRunner().invoke(app, ["anonymize", "spec.yml", "-d", "a.duckdb", "--show", "minimal"])
    assert done.exit_code == 2
    assert "release: missing; add the name" in done.output
    assert "--show minimal: labels differ by class" in done.output


# --- Each alone -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "changes", "options", "message"),
    [
        ("plan", CUTS, {"explain": True}, "k_optimize searches partitions, not lattice nodes"),
        ("plan", LOCAL, {"all_minimal": True}, "--show minimal: labels differ by class or value"),
        ("plan", {}, {"bound": True}, "--show bound: it bounds the loss of hierarchy labels that differ by class"),
        ("plan", {"recoding": "mondrian"}, {"bound": True}, "--show bound: it bounds the loss"),
        ("plan", CUTS, {"distributions": True}, "distributions: k_optimize chooses its own intervals"),
        ("plan", {"ledger": "ledger"}, {"distributions": True}, "distributions: a ledger judges releases"),
        (
            "plan",
            {"privacy": [{"t_closeness": {"t": 0.2, "attribute": "illness"}}]},
            {"matrix": True},
            "--show matrix: an outlier is a vector of fewer than k rows",
        ),
        ("plan", {"source": None}, {}, "source: missing, and it is needed here"),
        (
            "plan",
            {"recoding": {"method": "mondrian", "variant": "relaxed"}, "utility": {"classify": "illness"}},
            {},
            "utility: recoding: mondrian gives equal rows different labels",
        ),
        (
            "plan",
            {"privacy": [{"k_map": {"population": "census", "k": 5}}], **LOCAL},
            {},
            "5-map to census: recoding: local counts the classes of the source alone",
        ),
        (
            "plan",
            {"privacy": [{"lkc_privacy": {"attribute": "illness", "l": 1, "k": 2, "c": 0.5}}], **LOCAL},
            {},
            "LKC-privacy of illness with L = 1, K = 2 and C = 0.5: a recoding that is not full-domain",
        ),
        ("anonymize", {"release": None}, {}, "release: missing; add the name of the table to publish"),
        (
            "anonymize",
            {
                "privacy": [
                    {"k_anonymity": {"k": 2, "quasi_identifiers": ["age"]}},
                    {"k_anonymity": {"k": 3, "quasi_identifiers": ["zip"]}},
                ],
                "suppression": {"max_share": 0.1},
            },
            {},
            "k_anonymity: neither of the sets age and zip contains the other",
        ),
        ("check", {"release": None}, {}, "release: missing; name the table to check with --table"),
        ("apply", {}, {"source": "others"}, "release: missing; with --source, also give --release"),
        ("apply", {"release": None}, {}, "release: missing; give the table to publish with --release"),
        ("apply", VIEW, {}, "release.view: only kanon-sql anonymize publishes a guarded view"),
        ("apply", FILE, {}, "release.file: apply needs the name of a table; only anonymize publishes files"),
        ("apply", STATE, {}, "state: to add rows to a growing release, use kanon-sql release refresh"),
        ("refresh", STATE, {}, "increments: without a watermark, new rows cannot be identified"),
        ("refresh", STATE, {"inserted": "new"}, "batch: missing; give this batch a unique name"),
        ("refresh", {"increments": {"watermark": "at"}, **STATE}, {"batch": "b"}, "batch: the watermark already "
            "identifies the rows"),
        ("render", LOCAL, {}, "render: each round of such a recoding depends"),
        ("render", {}, {"node": {"ages": 1}}, "node: 'ages' is no quasi-identifier; expected age, zip"),
        ("render", CUTS, {"node": {"age": 1}}, "node: k_optimize chooses intervals, not levels"),
        ("render", {"warnings": {"inconsistent_spelling": "error"}}, {}, "warnings.inconsistent_spelling: a script"),
    ],
)  # fmt: skip
def test_a_rule_alone_is_one_message(verb: str, changes: dict[str, Any], options: dict[str, Any], message: str) -> None:
    (only,) = found(verb, spec_of(changes), **options)
    assert only.startswith(message)
    assert "\n" not in only


@pytest.mark.parametrize(
    ("verb", "spec", "message"),
    [
        ("anonymize", spec_of({}), "read-only, but anonymize needs to write; connect without read_only"),
        ("apply", spec_of({}), "read-only, but apply needs to write; connect without read_only"),
        (
            "refresh",
            spec_of({"increments": {"watermark": "at"}, **STATE}),
            "read-only, but refresh needs to write; connect without read_only",
        ),
        (
            "tabulate",
            kanon_sql.TableSpec.from_dict(CELLS),
            "read-only, but publishing a table needs to write; connect without read_only",
        ),
        (
            "cloak",
            kanon_sql.CloakSpec.from_dict(POSITIONS),
            "read-only, but publishing a release needs to write; connect without read_only",
        ),
        (
            "perturb",
            kanon_sql.PerturbSpec.from_dict(ROWS),
            "read-only, but publishing rows needs to write; connect without read_only",
        ),
    ],
)
def test_what_writes_is_refused_on_a_read_only_connection(verb: str, spec: Any, message: str) -> None:
    (only,) = found(verb, spec, engine=opened(read_only=True))
    assert only.endswith(message)
    assert found(verb, spec) == []
    if verb in ("tabulate", "cloak", "perturb"):
        assert found(verb, spec, engine=opened(read_only=True), preview=True) == []


@pytest.mark.parametrize(
    ("verb", "spec", "message"),
    [
        ("anonymize", spec_of(LOCAL), "recoding: local keeps its partitions in scratch tables"),
        ("anonymize", spec_of({"search": {"algorithm": "incognito", "variant": "cube"}}), "search.variant: cube"),
        (
            "plan",
            spec_of({"search": {"algorithm": "samarati", "metric": "height", "distance_vectors": True}}),
            "search.distance_vectors needs a scratch table",
        ),
        ("anonymize", spec_of({"ledger": "ledger"}), "ledger: comparing releases needs a scratch table"),
        ("anonymize", spec_of(STATE), "state: the state needs scratch tables"),
        ("anonymize", asked(), "differential_privacy: sampling needs scratch tables"),
        ("cloak", kanon_sql.CloakSpec.from_dict(POSITIONS), "cloak: cells need scratch tables"),
        ("perturb", kanon_sql.PerturbSpec.from_dict(ROWS), "perturb: perturbation needs scratch tables"),
    ],
)  # fmt: skip
def test_what_needs_scratch_tables_is_refused_without_them(verb: str, spec: Any, message: str) -> None:
    (only,) = found(verb, spec, engine=opened(scratch="inline"))
    assert only.startswith(message)
    assert found(verb, spec) == []


def test_what_an_engine_has_not_is_refused() -> None:
    snowflake = DryEngine("snowflake", ())
    assert [item[:24] for item in found("anonymize", spec_of(VIEW), engine=snowflake)] == ["release.view: snowflake:"]
    assert found("anonymize", spec_of(FILE), engine=snowflake)[0].startswith("release.file: snowflake writes no files")
    assert found("check", spec_of(FILE), engine=snowflake)[0].startswith("release.file: snowflake reads no files")
    assert any(item.startswith("state: who may read") for item in found("anonymize", spec_of(STATE), engine=snowflake))


def test_verbs_without_obstacles_have_none(database: Database) -> None:
    plain = {verb: spec_of({}) for verb in ("plan", "anonymize", "check", "apply", "certify", "render")}
    plain |= {verb: spec_of({}) for verb, engines in PIPELINES.items() if database.engine.dialect.name in engines}
    plain["policies"] = spec_of({})
    plain["refresh"] = spec_of({"increments": {"watermark": "at"}, **STATE})
    others = {
        "tabulate": kanon_sql.TableSpec.from_dict(CELLS),
        "cloak": kanon_sql.CloakSpec.from_dict(POSITIONS),
        "perturb": kanon_sql.PerturbSpec.from_dict(ROWS),
        "certify_tables": kanon_sql.RelationalSpec.from_dict(TABLES),
    }
    assert {verb: found(verb, spec, engine=database.engine) for verb, spec in (plain | others).items()} == {
        verb: [] for verb in RULES if verb in plain or verb not in PIPELINES
    }


@pytest.mark.parametrize(
    ("verb", "spec", "message"),
    [
        ("plan", spec_of({"unit": "id", "steps": SAMPLED}), "steps.sample"),
        (
            "tabulate",
            kanon_sql.TableSpec.from_dict(
                {**CELLS, "protection": {"method": "random_rounding", "base": 5, "key_variable": SECRET}}
            ),
            "protection",
        ),
        ("perturb", kanon_sql.PerturbSpec.from_dict({**ROWS, "key_variable": SECRET}), "key_variable"),
    ],
)  # fmt: skip
def test_a_secret_that_is_not_there_is_an_obstacle(
    verb: str, spec: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (only,) = found(verb, spec)
    assert only.startswith(message)
    assert f"the environment variable '{SECRET}' does not hold a key" in only
    monkeypatch.setenv(SECRET, "a secret of many characters")
    assert found(verb, spec) == []


def test_a_sampling_probability_that_epsilon_does_not_allow_is_an_obstacle() -> None:
    first, second = found("anonymize", asked(change={"epsilon": 0.1, "sampling": 0.5}), all_minimal=True)
    assert first.startswith("privacy: differential_privacy: sampling: 0.5 is more than 1 - e^-epsilon")
    assert second.startswith("--show minimal")
