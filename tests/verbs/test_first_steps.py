"""What a new user writes first: percentages, swapped arguments, k = 1, files where tables are meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import KanonError, SpecError
from kanon_sql.spec import Spec

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "quasi_identifiers": {"age": None},
    "sensitive": ["diagnosis"],
    "privacy": [{"k_anonymity": {"k": 2}}],
}


@pytest.mark.parametrize(
    ("written", "share"),
    [("2%", 0.02), ("0.5 %", 0.005), ("100%", 1.0), ({"max_share": "2%"}, 0.02), ({"max_share": 0.02}, 0.02)],
    ids=str,
)
def test_a_share_may_be_written_in_percent(written: object, share: float) -> None:
    spec = Spec.from_dict({**SPEC, "suppression": written})
    assert spec.suppression.limit == ("max_share", share)
    assert Spec.from_dict(spec.to_dict()) == spec
    assert spec.to_dict()["suppression"]["max_share"] == share


@pytest.mark.parametrize("written", ["101%", "-1%", "%", "two", "2", {"max_rows": "2%"}], ids=str)
def test_what_is_no_percentage_is_refused(written: object) -> None:
    with pytest.raises(SpecError, match="suppression"):
        Spec.from_dict({**SPEC, "suppression": written})


@pytest.mark.parametrize(
    ("privacy", "said"),
    [
        ({"k_anonymity": {"k": 1}}, "1-anonymity"),
        ({"l_diversity": {"attribute": "diagnosis", "l": 1}}, "distinct 1-diversity of diagnosis"),
        ({"t_closeness": {"attribute": "diagnosis", "t": 1}}, "1-closeness of diagnosis"),
    ],
    ids=["k", "l", "t"],
)
def test_a_requirement_that_protects_no_one_is_said_to_be_one(privacy: dict[str, Any], said: str) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE visits AS SELECT i AS age, 'flu' AS diagnosis FROM range(6) AS t(i)")
    engine = kanon_sql.connect(connection)
    for result in (
        kanon_sql.plan(engine, Spec.from_dict({**SPEC, "privacy": [privacy]})),
        kanon_sql.check(engine, Spec.from_dict({**SPEC, "privacy": [privacy]}), "visits"),
    ):
        assert result.passed
        [note] = [note for note in result.notes if "protects no one" in note]
        assert note.startswith(said)
    stricter = kanon_sql.plan(engine, Spec.from_dict(SPEC))
    assert not any("protects no one" in note for note in stricter.notes)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_csv_file_is_checked_whatever_stands_between_its_cells(tmp_path: Path, delimiter: str) -> None:
    rows = [("age", "sex", "note"), ("30", "F", "a,b"), ("30", "F", "x;y"), ("31", "M", ""), ("31", "M", "05")]
    file = tmp_path / "people.csv"
    file.write_text("".join(delimiter.join(f'"{cell}"' for cell in row) + "\n" for row in rows))
    with kanon_sql.connect() as engine:
        for k, passed in ((2, True), (3, False)):
            result = kanon_sql.check(engine, str(file), quasi_identifiers=["age", "sex"], k=k)
            assert (result.passed, result.classes["count"], result.rows["source"]) == (passed, 2, 4)


def test_names_in_quotes_may_hold_other_delimiters(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text('"age; years","sex; of a; person"\n30,F\n30,F\n31,F\n')
    with kanon_sql.connect() as engine:
        for k, passed in ((1, True), (2, False)):
            result = kanon_sql.check(engine, str(file), quasi_identifiers=["age; years", "sex; of a; person"], k=k)
            assert (result.passed, result.classes["count"]) == (passed, 2)


def test_a_file_in_the_place_of_a_table_is_told_how_to_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,diagnosis\n1,flu\n")
    with kanon_sql.connect() as engine:
        with pytest.raises(KanonError, match=r"but a file; write source: \{file: people.csv\}"):
            kanon_sql.plan(engine, Spec.from_dict({**SPEC, "source": "people.csv"}))
        with pytest.raises(KanonError, match="and no such file either"):
            kanon_sql.check(engine, Spec.from_dict(SPEC), "nosuch.csv")


def test_a_database_in_the_place_of_a_spec_is_said_to_be_one(tmp_path: Path) -> None:
    for name, make, what in (
        ("a.duckdb", "CREATE TABLE t (a INTEGER)", "a DuckDB database"),
        ("a.parquet", "COPY (SELECT 1 AS a) TO '{}' (FORMAT parquet)", "a Parquet file"),
    ):
        path = tmp_path / name
        with duckdb.connect(str(path) if name.endswith("duckdb") else ":memory:") as connection:
            connection.execute(make.format(path))
        with pytest.raises(SpecError, match=f"{name}: it is {what} and no spec; the spec comes first"):
            Spec.load(path)


def test_a_manifest_in_the_place_of_a_spec_is_said_to_be_one(tmp_path: Path) -> None:
    """Its spec has digests in the place of trees, so that no spec can be made of it."""
    (tmp_path / "visits.json").write_text('{"run_id": "01234567", "spec": {"version": 1}}')
    with pytest.raises(SpecError, match=r"visits.json: this is a manifest.* give the spec"):
        Spec.load(tmp_path / "visits.json")


def test_a_file_without_rows_is_no_ground_for_a_draft(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,zip\n")
    with kanon_sql.connect() as engine, pytest.raises(SpecError, match=r"people\.csv: the file has columns and no row"):
        kanon_sql.init(engine, str(tmp_path / "people.csv"))
