"""What released columns reveal, said by every verb that releases rows or looks at them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.report.json import result_schema
from kanon_sql.verbs.dbt import dbt
from tests import ROOT
from tests.conftest import Database
from tests.support.command_line import run
from tests.support.warned import BANDS, QUIET, births, k_of, named, spec

ALL = {
    "kept_links_rows": {("household",)},
    "kept_reveals_quasi_identifier": {("born", "age")},
    "named_like_identifier": {("name",)},
    "inconsistent_spelling": {("diagnosis",), ("who",)},
    "values_are_lists": {("items",)},
}
"""What is wrong with the visits below; each code with its columns."""


VISITS = {"who": "VARCHAR", "name": "VARCHAR", "household": "INTEGER", "age": "INTEGER", "born": "INTEGER",
          "diagnosis": "VARCHAR", "items": "VARCHAR", "ssn_hash": "VARCHAR"}  # fmt: skip


def visits(first: int = 0) -> list[tuple[Any, ...]]:
    """Two rows of a person, who is written in two ways now and then; three of a household."""
    draw = random.Random(7)
    return [
        (f"p{i // 2}" if i % 10 else f"P{i // 2} ", f"n{draw.randint(0, 9)}", i // 3, 20 + i % 40,
         2004 - i % 40, draw.choice(["flu", "Flu", "hiv", "cold"]), draw.choice(["a;b", "b;c"]), f"x{i}")
        for i in range(first, first + 600)
    ]  # fmt: skip


def of_visits(**changes: Any) -> kanon_sql.Spec:
    diverse = [{"l_diversity": {"attribute": name, "l": 2}} for name in ("diagnosis", "items")]
    given: dict[str, Any] = {
        "quasi_identifiers": {"age": {"intervals": [10, 20], "minimum_level": 1}}, "unit": "who", "source": "visits",
        "keep": ["name", "household", "born"], "sensitive": ["diagnosis", "items"], "privacy": [*k_of(3), *diverse],
        "suppression": {"max_share": 0.2}, "release": "told",
        "warnings": {**QUIET, "kept_reveals_quasi_identifier": "warn"},
    }  # fmt: skip
    return spec(**{**given, **changes})


def released_by(request: pytest.FixtureRequest, database: Database, verb: str, path: Path, **changes: Any) -> Any:
    """The result of a verb that releases the visits, or writes what releases them."""
    if verb == "refresh":
        request.addfinalizer(lambda: database.connection.execute("DROP SCHEMA kanon_state CASCADE"))
    engine, growing = database.engine, {"state": "kanon_state", **changes}
    if verb == "view":
        rows = {"unit": None, "identifiers": ["who"], "privacy": k_of(3)}
        return kanon_sql.anonymize(engine, of_visits(release={"view": "told", "accept_sequence_risk": True}, **rows,
                                                     **changes))  # fmt: skip
    if verb == "file":
        return kanon_sql.anonymize(engine, of_visits(release={"file": str(path / "told.csv")}, **changes))
    if verb == "apply":
        assert kanon_sql.anonymize(engine, of_visits(recoding={"save_as": "learned"})).passed
        return kanon_sql.apply(engine, of_visits(**changes), "learned", source="visits", release="again")
    if verb == "refresh":
        # The first rows reveal nothing: everybody of an age has a year of birth of their own.
        first = {**growing, "warnings": {**QUIET, "kept_reveals_quasi_identifier": "warn"}}
        assert kanon_sql.anonymize(engine, of_visits(**first)).passed
        database.table("later", VISITS, visits(6000))
        return kanon_sql.refresh(engine, of_visits(**growing), inserted="later", batch="a")
    if verb == "dbt":
        (path / "dbt_project.yml").write_text("name: p\n", "utf-8")
        return dbt(engine, of_visits(**changes), path).plan
    return kanon_sql.anonymize(engine, of_visits(**changes))


VERBS = ["table", "file", "view", "apply", "refresh", "dbt"]


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.sampled(3)
def test_every_verb_that_releases_rows_warns(
    request: pytest.FixtureRequest, database: Database, tmp_path: Path, verb: str
) -> None:
    database.table("visits", VISITS, visits())
    result = released_by(request, database, verb, tmp_path)
    assert result.passed
    expected = {(code, columns) for code, listed in ALL.items() for columns in listed}
    if verb == "view":  # with neither persons nor requirements about values
        expected = {item for item in expected if not item[0].startswith("values_")}
    assert {(item.code, tuple(item.columns)) for item in result.warnings} == expected


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.sampled(3)
def test_a_column_that_tells_a_quasi_identifier_fails_every_verb_unless_accepted(
    request: pytest.FixtureRequest, database: Database, tmp_path: Path, verb: str
) -> None:
    database.table("visits", VISITS, visits())
    result = released_by(request, database, verb, tmp_path, warnings=QUIET)
    assert not result.passed
    assert "kept_reveals_quasi_identifier is an error because so large a share of rows is affected" in result.message
    there = {"table": "told", "view": "told", "apply": "again"}.get(verb)
    assert there not in database.tables()
    assert not (tmp_path / "told.csv").exists()
    assert not (tmp_path / "models").exists()
    if verb == "refresh":
        (count,) = database.connection.execute("SELECT count(*) FROM told").fetchone() or ()
        assert count == 600, "as it was"


@pytest.mark.slow
@pytest.mark.parametrize("table", ["visits", "told", "file"])
def test_a_table_that_is_checked_warns_of_what_it_shows_itself(database: Database, tmp_path: Path, table: str) -> None:
    """Labels alone do not say which values a column tells; the rest stands in the table."""
    database.table("visits", VISITS, visits())
    made = of_visits(release={"file": str(tmp_path / "told.csv")} if table == "file" else "told")
    assert kanon_sql.anonymize(database.engine, made).passed
    result = kanon_sql.check(
        database.engine, made, "visits" if table == "visits" else None, count_rows=table != "visits"
    )
    expected = {(code, columns) for code, listed in ALL.items() for columns in listed}
    expected -= {("kept_reveals_quasi_identifier", ("born", "age"))}
    expected ^= {("unnamed_columns", ("ssn_hash",))} if table == "visits" else {("inconsistent_spelling", ("who",))}
    assert {(item.code, tuple(item.columns)) for item in result.warnings} == expected


def test_a_script_says_which_names_point_at_a_person() -> None:
    text = kanon_sql.render(of_visits()).text
    assert "-- named_like_identifier: name: released" in text
    assert "-- No warnings are looked for that take the data" in text
    quiet = kanon_sql.render(of_visits(warnings={**QUIET, "named_like_identifier": "allow"})).text
    assert "named_like_identifier" not in quiet


def test_every_code_is_explained() -> None:
    page = (ROOT / "docs/reference/warnings.md").read_text()
    found = result_schema()["$defs"]["Warned"]["properties"]["code"]["enum"]
    for code in found:
        assert f"[`{code}`](#{code})" in page, code


def test_no_value_is_in_a_message(database: Database) -> None:
    births(database)
    database.connection.execute("INSERT INTO people VALUES (471147, 77441)")
    result = kanon_sql.anonymize(
        database.engine,
        spec(quasi_identifiers=BANDS, keep=["born"], privacy=k_of(5), suppression={"max_share": 0.1}),
    )
    said = json.dumps(result.to_dict())
    assert "kept_reveals_quasi_identifier" in said
    assert "471147" not in said
    assert "77441" not in said


@pytest.mark.slow
def test_the_command_line_fails_on_it(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "c.duckdb")) as connection:
        named(Database(connection))
    (tmp_path / "p.yml").write_text(
        "version: 1\nkind: perturbed\nsource: people\nkey: nhs_number\nperturb: {age: {noise: 0.9}}\nkeep: [name]\n"
    )
    shown = run("publish", "perturbed", tmp_path / "p.yml", "-d", tmp_path / "c.duckdb", "-q")
    assert shown.exit_code == 0
    assert "Warnings\n  named_like_identifier  name: released" in shown.stdout
    assert (
        run(
            "publish", "perturbed", tmp_path / "p.yml", "-d", tmp_path / "c.duckdb", "-q", "--fail-on-warning"
        ).exit_code
        == 1
    )
