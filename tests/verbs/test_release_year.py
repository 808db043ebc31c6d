"""``release_year``: what a spec says of ages follows the year of the release; earlier releases keep theirs."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import InternalError, SpecError
from kanon_sql.verbs.dbt import dbt
from kanon_sql.verbs.dbt import labels as labels_of_dbt
from tests.conftest import Database, quoted
from tests.servers import subject_of
from tests.verbs.dbt.test_dbt_macros import package
from tests.verbs.dbt.test_dbt_project import Project as Built

YEARS_OF_BIRTH = range(1931, 1943)
"""Of 2026 those until 1936 tell an age over 89, of 2027 that of 1937 as well: a person born then turns 90."""

Clock = Callable[[int], None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    def set_to(year: int) -> None:
        monkeypatch.setattr("kanon_sql.spec.model.this_year", lambda: year)

    return set_to


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        opened.execute("CREATE TABLE patients (birth_date DATE, birth_year INTEGER, sex VARCHAR, seen TIMESTAMP)")
        opened.executemany("INSERT INTO patients VALUES (?, ?, 'f', '2026-01-01')", rows_of(YEARS_OF_BIRTH))
        yield opened


def rows_of(years: Any, copies: int = 6) -> list[tuple[datetime.date, int]]:
    return [(datetime.date(year, 1 + copy, 3), year) for year in years for copy in range(copies)]


def spec_of(connection: Any, **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**written(connection), **changes})


def written(connection: Any) -> dict[str, Any]:
    """What ``init`` drafts, at one level for all rows; read as a file is that was written another year."""
    text = kanon_sql.init(
        kanon_sql.connect(connection), "patients", quasi_identifiers=["birth_date", "birth_year"],
        preset="hipaa-safe-harbor",
    )  # fmt: skip
    return {**kanon_sql.Spec.parse(text).to_dict(), "recoding": "full_domain", "privacy": [{"k_anonymity": 2}]}


def labels(connection: duckdb.DuckDBPyConnection, table: str = "patients_release") -> dict[str, set[str]]:
    return {
        name: {row[0] for row in connection.execute(f"SELECT DISTINCT {name} FROM {table}").fetchall()}
        for name in ("birth_date", "birth_year")
    }


def expected(release: int) -> set[str]:
    """45 CFR 164.514(b)(2)(i)(C): no year of birth of somebody who may be older than 89 in the year of the release."""
    return {str(year) if release - year < 90 else f"{release - 90} or before" for year in YEARS_OF_BIRTH}


@pytest.mark.slow
def test_a_spec_that_was_drafted_a_year_ago_lets_no_age_over_89_through(
    connection: duckdb.DuckDBPyConnection, clock: Clock
) -> None:
    clock(2026)
    drafted = written(connection)
    for year in (2026, 2027, 2031):
        clock(year)
        spec = kanon_sql.Spec.from_dict(drafted)
        assert kanon_sql.anonymize(connection, spec).passed
        assert labels(connection) == {"birth_date": expected(year), "birth_year": expected(year)}
        connection.execute("DROP TABLE patients_release")
    assert "1937" in expected(2026)
    assert "1937" not in expected(2027)
    spec = kanon_sql.Spec.from_dict({**drafted, "release_year": 2026})
    assert kanon_sql.anonymize(connection, spec).passed
    assert labels(connection)["birth_date"] == expected(2026), "an earlier release, once more"


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ("postgres", "sqlite", "mariadb")),
        pytest.param("clickhouse", marks=pytest.mark.xdist_group("clickhouse")),
        pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.xdist_group("spark")]),
    ],
)
@pytest.mark.sampled(2)
@pytest.mark.campaign_on("spark")
def test_every_engine_counts_from_the_year_of_the_release(name: str, clock: Clock) -> None:
    clock(2026)
    with subject_of(name) as subject:
        columns: Any = {"birth_date": "date", "birth_year": "integer"}
        subject.table("patients", columns, rows_of(YEARS_OF_BIRTH))
        engine = subject.connect()
        try:
            drafted = written_by(engine)
            clock(2027)
            assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(drafted)).passed
            shown = subject.fetch(
                f"SELECT birth_date, birth_year FROM {subject.dialect.relation(['patients_release'])}"
            )
            assert {row[0] for row in shown} == {row[1] for row in shown} == expected(2027)
        finally:
            engine.close()
            subject.drop("patients_release")


def written_by(engine: Any) -> dict[str, Any]:
    text = kanon_sql.init(
        engine, "patients", quasi_identifiers=["birth_date", "birth_year"], preset="hipaa-safe-harbor"
    )
    return {**kanon_sql.Spec.parse(text).to_dict(), "recoding": "full_domain", "privacy": [{"k_anonymity": 2}]}


@pytest.mark.slow
def test_what_looks_at_an_earlier_release_takes_its_year(
    connection: duckdb.DuckDBPyConnection, clock: Clock, tmp_path: Path
) -> None:
    clock(2026)
    drafted = written(connection)
    published = kanon_sql.anonymize(connection, kanon_sql.Spec.from_dict(drafted))
    assert published.manifest is not None
    assert published.manifest["spec"]["release_year"] == 2026
    clock(2027)
    spec = kanon_sql.Spec.from_dict(drafted)
    certificate = kanon_sql.certify(kanon_sql.connect(connection), spec, tmp_path)
    assert certificate.passed
    assert certificate.content["spec"]["release_year"] == 2026
    found = kanon_sql.evidence(kanon_sql.connect(connection), spec)
    assert found.run is not None
    assert found.run.vouches
    assert found.spec["release_year"] == 2026
    assert kanon_sql.check(connection, spec).passed
    assert kanon_sql.risk(connection, spec).prosecutor.highest == pytest.approx(1 / 6)
    # The labels of 2027 are none of 2026, and an attack that joins by labels would find no one.
    exposed = kanon_sql.audit(connection, spec, attacks=["downcoding"])
    then = kanon_sql.audit(connection, spec.in_year(2026), attacks=["downcoding"])
    assert [attack.to_dict() for attack in exposed.attacks] == [attack.to_dict() for attack in then.attacks]


@pytest.mark.slow
def test_a_release_that_grows_keeps_to_its_year(connection: duckdb.DuckDBPyConnection, clock: Clock) -> None:
    clock(2026)
    drafted = {**written(connection), "state": {"schema": "kanon_state"}}
    assert kanon_sql.anonymize(connection, kanon_sql.Spec.from_dict(drafted)).passed
    connection.execute("CREATE TABLE later AS SELECT * FROM patients WHERE birth_year = 1937")
    clock(2027)
    with pytest.raises(SpecError, match="was started in 2026, and its labels depend on the year, which is 2027 now"):
        kanon_sql.refresh(connection, kanon_sql.Spec.from_dict(drafted), inserted="later", batch="a")
    fixed = kanon_sql.Spec.from_dict({**drafted, "release_year": 2026})
    assert kanon_sql.refresh(connection, fixed, inserted="later", batch="a").refresh["added"] == 6  # type: ignore[index]
    with pytest.raises(SpecError, match="was started in 2026"):
        kanon_sql.refresh(connection, kanon_sql.Spec.from_dict({**drafted, "release_year": 2030}), inserted="later",
                          batch="b")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("recoding", ["full_domain", "local"])
def test_a_recoding_is_applied_to_the_year_that_it_was_learned_in(
    connection: duckdb.DuckDBPyConnection, clock: Clock, recoding: str
) -> None:
    clock(2026)
    drafted, engine = written(connection), kanon_sql.connect(connection)
    method = {} if recoding == "full_domain" else {"method": recoding}
    learning = kanon_sql.Spec.from_dict({**drafted, "recoding": {**method, "save_as": "learned"}})
    assert kanon_sql.anonymize(connection, learning).passed
    clock(2027)
    again = {**drafted, "recoding": method or "full_domain"}
    with pytest.raises(SpecError, match=r"is not the one that .*learned.* was learned with"):
        kanon_sql.apply(engine, kanon_sql.Spec.from_dict(again), "learned", source="patients", release="more")
    fixed = kanon_sql.Spec.from_dict({**again, "release_year": 2026})
    assert kanon_sql.apply(engine, fixed, "learned", source="patients", release="more").passed


@pytest.mark.slow
def test_a_ledger_compares_releases_of_several_years(connection: duckdb.DuckDBPyConnection, clock: Clock) -> None:
    """Born in 1937: shown with that year in 2026, and with those before in 2027; together the six of them again."""
    clock(2026)
    drafted = {**written(connection), "ledger": {"table": "kanon_ledger", "on_conflict": "refuse"}}
    first = kanon_sql.anonymize(connection, kanon_sql.Spec.from_dict({**drafted, "release": "first"}))
    clock(2027)
    second = kanon_sql.anonymize(connection, kanon_sql.Spec.from_dict({**drafted, "release": "second"}))
    assert first.passed
    assert second.passed
    assert second.ledger is not None
    classes = second.ledger["classes"]
    assert (classes["count"], classes["smallest"], classes["largest"]) == (7, 6, 36), "1937, and six more"


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["render", "dbt"])
def test_what_runs_later_takes_a_year_that_the_spec_says(
    connection: duckdb.DuckDBPyConnection, clock: Clock, tmp_path: Path, verb: str
) -> None:
    clock(2026)
    drafted = written(connection)
    (tmp_path / "dbt_project.yml").write_text("name: p\n", "utf-8")

    def made(spec: kanon_sql.Spec) -> str:
        if verb == "render":
            return kanon_sql.render(spec, node={"birth_date": 1, "birth_year": 1}).text
        result = dbt(kanon_sql.connect(connection), spec, tmp_path)
        return "".join(path.read_text("utf-8") for path in result.files)

    if verb == "render":
        with pytest.raises(SpecError, match=r"labels depend on the year.*write release_year: 2026 in the spec"):
            made(kanon_sql.Spec.from_dict(drafted))
    clock(2027)
    text = made(kanon_sql.Spec.from_dict({**drafted, "release_year": 2026}))
    assert "2026 - 90" in text
    assert ("release of 2026" if verb == "render" else "release_year: 2026") in text


@pytest.mark.slow
def test_dbt_builds_the_labels_of_the_year_that_it_builds_in(database: Database, clock: Clock, tmp_path: Path) -> None:
    """Beside digits of the years themselves, in the expression and in the name of a column."""
    names = {"birth_date": "DATE", "birth_year": "INTEGER", "born 1900": "INTEGER"}
    database.table("patients", names, [(*row, row[1]) for row in rows_of(YEARS_OF_BIRTH)])
    clock(2026)
    drafted = written(database.connection)
    shown = "CASE WHEN x <= release_year - 90 THEN CAST(release_year - 90 AS VARCHAR) || ' or before' "
    told = {"sql": [f"{shown} WHEN x IN (1899, 1901) THEN '2026' ELSE CAST(x AS VARCHAR) END"], "minimum_level": 1}
    drafted["quasi_identifiers"] |= {"born 1900": told}
    (tmp_path / "dbt_project.yml").write_text("name: p\n", "utf-8")
    result = dbt(database.engine, kanon_sql.Spec.from_dict(drafted), tmp_path)
    properties = next(path.read_text("utf-8") for path in result.files if path.suffix == ".yml")
    assert "release_year: the year of the build" in properties
    for year in (2026, 2027, 2031, 1900):
        build = Built(database, result)
        build.dbt = package(database, started=datetime.datetime(year, 1, 1, tzinfo=datetime.UTC))
        for path in result.files:
            build.dbt.place(path.stem, quoted(path.stem))
        build.dbt.place("patients", "patients")
        build.build_all()
        assert build.failures() == {}
        columns = zip(*database.rows("patients_release"), strict=True)
        assert dict(zip(database.columns("patients_release"), map(set, columns), strict=True)) == dict.fromkeys(
            names, expected(year)
        )


def test_a_dbt_release_that_grows_says_its_year(
    connection: duckdb.DuckDBPyConnection, clock: Clock, tmp_path: Path
) -> None:
    clock(2026)
    (tmp_path / "dbt_project.yml").write_text("name: p\n", "utf-8")
    grows = {"state": {"schema": "kanon_state"}, "increments": {"watermark": "seen"}}
    spec = kanon_sql.Spec.from_dict({**written(connection), **grows})
    with pytest.raises(SpecError, match=r"other labels than those of 2026; write release_year: 2026 in the spec"):
        dbt(kanon_sql.connect(connection), spec, tmp_path)


@pytest.mark.slow
def test_a_year_that_changes_more_than_numbers_is_not_written(
    connection: duckdb.DuckDBPyConnection, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: p\n", "utf-8")
    plain = labels_of_dbt._labelled

    def leap(spec: kanon_sql.Spec, *given: Any) -> str:
        return plain(spec, *given) + (" -- leap" if spec.year is not None and spec.year % 4 == 0 else "")

    monkeypatch.setattr(labels_of_dbt, "_labelled", leap)
    clock(2027)
    spec = kanon_sql.Spec.from_dict(written(connection))
    with pytest.raises(InternalError, match="changes more of a model than numbers"):
        dbt(kanon_sql.connect(connection), spec, tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / "dbt_project.yml"]


@pytest.mark.slow
def test_a_spec_that_was_loaded_last_year_is_loaded_once_more(
    connection: duckdb.DuckDBPyConnection, clock: Clock
) -> None:
    clock(2026)
    spec = kanon_sql.Spec.from_dict(written(connection))
    clock(2027)
    for verb in (kanon_sql.anonymize, kanon_sql.plan):
        with pytest.raises(SpecError, match="was loaded in 2026, but it is 2027"):
            verb(connection, spec)
    assert kanon_sql.anonymize(connection, spec.in_year(2026)).passed


@pytest.mark.parametrize(
    ("expression", "year", "problem"),
    [
        ("x <= 1936", 2026, "uses release_year, so this has no effect"),
        ("x <= release_year", "soon", "expected a year, a whole number from 1900 to 2999, got text"),
        ("x <= release_year", True, "expected a year, a whole number from 1900 to 2999"),
        ("x <= release_year", 26, "expected a year, a whole number from 1900 to 2999"),
    ],
)
def test_years_that_are_none(expression: str, year: Any, problem: str) -> None:
    given = {
        "version": 1, "source": "t", "quasi_identifiers": {"x": {"sql": [expression]}}, "release_year": year,
        "privacy": [{"k_anonymity": 2}],
    }  # fmt: skip
    with pytest.raises(SpecError, match=problem):
        kanon_sql.Spec.from_dict(given)


@pytest.mark.slow
def test_the_name_stands_for_a_year_in_quasi_identifiers_alone(connection: duckdb.DuckDBPyConnection) -> None:
    """Not in texts, in quoted names, or in the tables of a statistics office."""
    given = {
        "version": 1, "source": "patients", "privacy": [{"k_anonymity": 2}], "release_year": 2026,
        "quasi_identifiers": {"birth_year": {"sql": ["'release_year ' || (x < release_year)"], "minimum_level": 1}},
    }  # fmt: skip
    kanon_sql.anonymize(connection, kanon_sql.Spec.from_dict({**given, "release": "told"}))
    assert connection.execute("SELECT DISTINCT birth_year FROM told").fetchall() == [("release_year true",)]
    quoted = {"birth_year": {"sql": ['x < "release_year"']}}
    with pytest.raises(SpecError, match="unknown name"):
        kanon_sql.plan(connection, kanon_sql.Spec.from_dict({**given, "quasi_identifiers": quoted}))
    table = {
        "version": 1, "kind": "table", "source": "patients", "release": "cells",
        "dimensions": {"birth_year": {"hierarchy": {"sql": ["x < release_year"]}}},
        "rules": {"threshold": 3},
    }  # fmt: skip
    with pytest.raises(SpecError, match="release_year has a value in the quasi-identifiers of a release's spec alone"):
        kanon_sql.tabulate(kanon_sql.connect(connection), kanon_sql.TableSpec.from_dict(table))


def test_two_specs_of_two_years_are_two(connection: duckdb.DuckDBPyConnection, clock: Clock) -> None:
    clock(2026)
    drafted = written(connection)
    first, again = kanon_sql.Spec.from_dict(drafted), kanon_sql.Spec.from_dict(drafted)
    clock(2027)
    second = kanon_sql.Spec.from_dict(drafted)
    assert first == again
    assert first.hash == again.hash
    assert first != second
    assert first.hash != second.hash
    assert first.to_dict() == second.to_dict(), "as it is written"
    assert second.in_year(2026).hash == first.hash
