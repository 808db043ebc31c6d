"""Release steps: who is in a sample, what becomes of numbers, what is refused; against plain Python."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.report.json import result_schema
from kanon_sql.testing import as_text
from tests.conftest import Database
from tests.oracles import masking as oracle
from tests.support.command_line import run
from tests.support.specs import HEAD, TAIL, problems, refusals
from tests.support.strategies import examples

BASE: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "people_release",
    "quasi_identifiers": {"age": {"intervals": [10]}},
    "keep": ["pay", "part"],
    "privacy": [{"k_anonymity": 2}],
    "suppression": {"max_share": 1.0},
}
COLUMNS = {"id": "INTEGER", "person": "VARCHAR", "age": "INTEGER", "pay": "INTEGER", "part": "DOUBLE"}
DRAWN = {"fraction": 0.5, "by": "id", "key_variable": "KANON_TESTED"}


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANON_TESTED", oracle.SECRET)


def spec_of(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**BASE, **changes})


def people(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": n,
            "person": None if n % 9 == 4 else f"p{n // 2}",
            "age": 20 + n % 3,
            "pay": n * 7 % 90 - 30,
            "part": n / 4,
        }
        for n in range(count)
    ]


def filled(database: Database, rows: list[dict[str, Any]]) -> None:
    database.table("people", COLUMNS, [list(row.values()) for row in rows])


steps = st.fixed_dictionaries(
    {},
    optional={
        "round": st.sampled_from([1, 2, 5, 7, 0.5, 2.5, 0.1]),
        "bottom": st.integers(-40, 10),
        "top": st.integers(20, 90),
    },
).filter(bool)
whole = st.none() | st.integers(-120, 120)
fraction = st.none() | st.integers(-400, 400).map(lambda number: number / 8)


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(20, 22), whole, fraction), min_size=1, max_size=14
    ),
    steps,
    steps,
    st.sampled_from([None, "id", "person"]),
)
@examples(40)
def test_rows_and_values(
    shared_database: Database, given_rows: list[Any], pay: dict[str, Any], part: dict[str, Any], by: str | None
) -> None:
    rows = [dict(zip(COLUMNS, (n, *row), strict=True)) for n, row in enumerate(given_rows)]
    filled(shared_database, rows)
    shared_database._connection.execute("DROP TABLE IF EXISTS people_release")
    sample = None if by is None else {**DRAWN, "by": by}
    spec = spec_of(steps={"sample": sample, "columns": {"pay": pay, "part": part}}, privacy=[{"k_anonymity": 1}])
    drawn = rows if by is None else oracle.sampled(rows, by, 0.5)
    if not drawn:
        assert not kanon_sql.anonymize(shared_database.engine, spec).passed
        return
    result = kanon_sql.anonymize(shared_database.engine, spec)
    assert result.rows["source"] == len(drawn)
    if by is not None:
        assert result.steps is not None
        assert result.steps["sample"] == {
            "fraction": 0.5,
            "by": by,
            "repeatable": True,
            "rows": len(rows),
            "drawn": len(drawn),
        }
    found = Counter(tuple(map(as_text, row[1:])) for row in shared_database.rows("people_release"))
    wanted = Counter(
        (as_text(oracle.coded(row["pay"], pay)), as_text(oracle.coded(row["part"], part))) for row in drawn
    )
    assert found == wanted


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "step",
    [{"round": 2}, {"round": 5}, {"round": 0.5}, {"round": 10, "bottom": -7, "top": 8}, {"top": 3}, {"bottom": 3}],
    ids=str,
)
def test_every_value_near_a_half_and_an_end(database: Database, step: dict[str, Any]) -> None:
    """Below zero as above it: a half goes up, an end is coded."""
    rows = [{"id": n, "person": "p", "age": 20, "pay": n, "part": n / 4} for n in range(-15, 16)]
    filled(database, rows)
    kanon_sql.anonymize(database.engine, spec_of(steps={"columns": {"pay": step, "part": step}}))
    found = Counter(tuple(map(as_text, row[1:])) for row in database.rows("people_release"))
    assert found == Counter(tuple(as_text(oracle.coded(row[name], step)) for name in ("pay", "part")) for row in rows)


@pytest.mark.parametrize("value", [1e14, -1e300, float("nan"), float("inf")])
def test_what_cannot_be_rounded_exactly_is_counted(database: Database, value: float) -> None:
    """To multiples of 0.2 below 10^14, where half of one is a digit that a binary fraction has."""
    filled(database, [{**row, "part": part} for row, part in zip(people(3), (1e14 - 1, value, None), strict=True)])
    spec = spec_of(steps={"columns": {"part": {"round": 0.2}}}, privacy=[{"k_anonymity": 1}])
    with pytest.raises(UnsupportedError, match=r"steps.columns.part: 1 row .* not between -10\^14 and 10\^14"):
        kanon_sql.anonymize(database.engine, spec)


@pytest.mark.slow
def test_persons_are_drawn_with_all_of_their_rows(database: Database) -> None:
    rows = [row for row in people(60) if row["person"] is not None]
    filled(database, rows)
    spec = spec_of(unit="person", steps={"sample": {"fraction": 0.4, "key_variable": "KANON_TESTED"}})
    result = kanon_sql.anonymize(database.engine, spec)
    drawn = oracle.sampled(rows, "person", 0.4)
    assert result.rows["source"] == len(drawn)
    assert 0 < len({row["person"] for row in drawn}) < len({row["person"] for row in rows})
    jsonschema.validate(result.to_dict(), result_schema())
    assert result.manifest is not None
    assert result.manifest["steps"] == result.steps
    assert any("random sample by 'person'" in note for note in result.manifest["notes"])


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.999])
def test_nobody_is_drawn_as_a_value(database: Database, fraction: float) -> None:
    """Rows without a value are drawn together, or not: at 0.999 they are."""
    filled(database, people(60))
    spec = spec_of(steps={"sample": {**DRAWN, "by": "person", "fraction": fraction}}, privacy=[{"k_anonymity": 1}])
    result = kanon_sql.anonymize(database.engine, spec)
    drawn = oracle.sampled(people(60), "person", fraction)
    assert result.rows["source"] == len(drawn)
    assert (None in {row["person"] for row in drawn}) is (fraction == 0.999)


@pytest.mark.slow
def test_without_a_secret_each_run_draws_anew_and_a_run_draws_once(database: Database) -> None:
    filled(database, people(200))
    samples = set()
    for _ in range(3):
        spec = spec_of(steps={"sample": {"fraction": 0.5, "by": "id"}}, keep=["pay"])
        result = kanon_sql.anonymize(database.engine, spec)  # the second pass writes as many rows as the first counted
        assert result.steps is not None
        assert not result.steps["sample"]["repeatable"]
        assert result.rows["source"] == len(database.rows("people_release"))
        samples.add(tuple(sorted(database.rows("people_release"))))
    assert len(samples) == 3


def test_secrets_are_in_no_statement_manifest_or_message(database: Database) -> None:
    filled(database, people(60))
    spec = spec_of(steps={"sample": DRAWN, "columns": {"pay": {"top": 40}}})
    result = kanon_sql.anonymize(database.engine, spec)
    told = json.dumps([list(result.sql), result.to_dict(), result.manifest])
    assert oracle.SECRET not in told
    assert oracle.key_for("sample") not in told
    assert "KANON_TESTED" in told


def test_the_source_by_its_name_is_judged_as_it_stands(database: Database) -> None:
    """A sample of a table may satisfy what the table does not."""
    rows = [{**row, "age": 20 + 10 * (n == 3)} for n, row in enumerate(people(40))]
    filled(database, rows)
    lone = {**DRAWN, "fraction": 0.01 if oracle.draw("sample", 3) > 0.01 * oracle.ALL else 0.5}
    spec = spec_of(steps={"sample": lone}, suppression={"max_rows": 0}, quasi_identifiers={"age": {}}, release=None)
    assert not kanon_sql.check(database.engine, spec, "people").passed
    assert 3 not in {row["id"] for row in oracle.sampled(rows, "id", lone["fraction"])}


def test_a_comparison_of_two_samples_does_not_mix_them(database: Database) -> None:
    filled(database, people(100))
    specs = {str(f): spec_of(steps={"sample": {**DRAWN, "fraction": f}}, release=None) for f in (0.3, 0.6)}
    found = kanon_sql.compare(database.engine, specs)
    assert [run.result.rows["source"] for run in found.runs if run.result] == [
        len(oracle.sampled(people(100), "id", f)) for f in (0.3, 0.6)
    ]


def test_requirements_see_the_labels(database: Database) -> None:
    """What is coded at the top is one value: two different ones above it do not make a class diverse."""
    filled(database, [{"id": n, "person": "p", "age": 20, "pay": 50 + n, "part": 0.0} for n in range(6)])
    asked: dict[str, Any] = {
        "sensitive": ["pay"],
        "keep": [],
        "privacy": [{"l_diversity": {"attribute": "pay", "l": 2}}],
    }
    assert kanon_sql.plan(database.engine, spec_of(**asked)).passed
    assert not kanon_sql.plan(database.engine, spec_of(**asked, steps={"columns": {"pay": {"top": 50}}})).passed


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"steps": {"columns": {"age": {"top": 90}}}},
            "a quasi-identifier is coded and rounded by the levels of its hierarchy",
        ),
        ({"steps": {"columns": {"id": {"top": 90}}}}, "under neither sensitive nor keep"),
        ({"steps": {"columns": {"pay": {}}}}, "expected one of round, bottom and top"),
        ({"steps": {"columns": {"pay": {"top": 3, "bottom": 3}}}}, "expected top above bottom"),
        ({"steps": {"columns": {"pay": {"round": 0}}}}, "expected a base above 0"),
        ({"steps": {"columns": {"pay": {"round": "x"}}}}, "expected a base, a number, got text"),
        ({"steps": {"columns": ["pay"]}}, "expected a mapping of columns"),
        ({"steps": {}}, "expected a sample or columns"),
        ({"steps": {"sample": {"fraction": 1, "by": "id"}}}, "a fraction above 0 and below 1"),
        ({"steps": {"sample": {"fraction": 0.5}}}, "missing 'by'"),
        (
            {"unit": "person", "steps": {"sample": {"fraction": 0.5, "by": "id"}}},
            "persons are drawn with all of their rows",
        ),
        ({"steps": {"sample": DRAWN}, "ledger": "l"}, "a ledger makes earlier releases again"),
        (
            {
                "steps": {"columns": {"pay": {"top": 3}}},
                "sensitive": ["pay"],
                "keep": [],
                "privacy": [{"t_closeness": {"attribute": "pay", "t": 0.2, "distance": "ordered"}}],
            },
            "which have no order of numbers",
        ),
        (
            {
                "steps": {"columns": {"pay": {"round": 10}}},
                "sensitive": ["pay"],
                "keep": [],
                "privacy": [{"k_anonymity": {"column": "pay", "default": 2}}],
            },
            "k_anonymity reads the k of each row from it",
        ),
    ],
)
def test_refused_when_read(changes: dict[str, Any], words: str) -> None:
    assert any(words in said for said in refusals(**{**BASE, **changes}))


def test_a_problem_has_its_place() -> None:
    said = problems(HEAD + TAIL + "keep: [pay]\nsteps:\n  columns:\n    pay: {round: -5}\n")
    assert said == ["8:18: steps.columns.pay.round: expected a base above 0, got -5"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"steps": {"sample": {**DRAWN, "by": "nobody"}}}, "the source has no such column"),
        ({"steps": {"sample": {**DRAWN, "by": "part"}}}, "whose text depends on the database"),
        ({"steps": {"sample": {**DRAWN, "key_variable": "KANON_UNSET"}}}, "does not hold a key"),
        ({"keep": ["person"], "steps": {"columns": {"person": {"top": 3}}}}, "only numbers are rounded or coded"),
    ],
)
def test_refused_when_the_table_is_looked_at(database: Database, changes: dict[str, Any], words: str) -> None:
    filled(database, people(10))
    with pytest.raises((SpecError, UnsupportedError), match=words):
        kanon_sql.plan(database.engine, spec_of(**changes))


def test_what_hands_sql_over_refuses(clinic: Path) -> None:
    text = (clinic / "spec.yml").read_text() + "steps: {sample: {fraction: 0.5, by: age}}\n"
    (clinic / "spec.yml").write_text(text)
    for verb in (
        ("pipeline", "render", "spec.yml"),
        ("pipeline", "dbt", "spec.yml", "-d", "clinic.duckdb"),
        ("pipeline", "sqlmesh", "spec.yml", "-d", "clinic.duckdb"),
    ):
        result = run(*verb)
        assert result.exit_code == 2
        assert "would contain the key of the sample" in " ".join(result.output.split())


@pytest.mark.slow
def test_on_the_command_line(clinic: Path) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("ALTER TABLE visits ADD COLUMN charge INTEGER")
        connection.execute("UPDATE visits SET charge = age * 10")
    text = (clinic / "spec.yml").read_text() + "keep: [charge]\nsteps: {columns: {charge: {round: 50, top: 500}}}\n"
    (clinic / "spec.yml").write_text(text)
    result = run("anonymize", "spec.yml", "-d", "clinic.duckdb")
    assert result.exit_code == 0, result.output
    assert "'charge' rounded to multiples of 50 and top coded at 500" in " ".join(result.output.split())
    with duckdb.connect("clinic.duckdb") as connection:
        assert connection.execute("SELECT COUNT(*) FROM visits_release WHERE charge = '>= 500'").fetchone() != (0,)


def test_days_are_drawn(database: Database) -> None:
    database.table("days", {"day": "DATE", "age": "INTEGER"}, [(date(2020, 1, 1 + n), 3) for n in range(20)])
    spec = spec_of(source="days", keep=[], steps={"sample": {**DRAWN, "by": "day"}})
    rows = [{"day": date(2020, 1, 1 + n)} for n in range(20)]
    assert kanon_sql.anonymize(database.engine, spec).rows["source"] == len(oracle.sampled(rows, "day", 0.5))
