"""The demo: a clinic that is always the same, and a release that plain Python agrees with."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot

import kanon_sql
from kanon_sql.errors import KanonError, UnsupportedError
from kanon_sql.spec import Spec
from kanon_sql.verbs import demo as demo_module
from kanon_sql.verbs.demo import PATIENTS, VISITS, demo
from kanon_sql.verbs.result import Release

pytestmark = pytest.mark.xdist_group("demo")  # one worker makes it once

CONTENT = "2f989ce8"
"""First digits of the SHA-256 of the table: the same on every machine, with every version."""

OF_THE_PERSON = ("name", "ssn", "sex", "birth_date", "age", "zip", "marital_status", "education")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Release]:
    directory = tmp_path_factory.mktemp("demo") / "new" / "directory"
    spec, result = demo(directory)
    return directory, spec, result


@contextmanager
def reading(directory: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(str(directory / "demo.duckdb"), read_only=True)
    try:
        yield connection
    finally:
        connection.close()


def table(directory: Path, name: str) -> list[dict[str, Any]]:
    with reading(directory) as connection:
        found = connection.execute(f"SELECT * FROM {name}")
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def content_hash(connection: duckdb.DuckDBPyConnection) -> str:
    rows = sorted(repr(row) for row in connection.execute("SELECT * FROM visits").fetchall())
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


# --- the table ------------------------------------------------------------------------------


@pytest.mark.slow
def test_visits_and_patients(made: tuple[Path, Path, Release]) -> None:
    rows = table(made[0], "visits")
    assert len(rows) == VISITS == 50_000
    persons: dict[int, set[tuple[Any, ...]]] = defaultdict(set)
    for row in rows:
        persons[row["patient_id"]].add(tuple(row[name] for name in OF_THE_PERSON))
    assert len(persons) == PATIENTS == 30_000
    assert {len(found) for found in persons.values()} == {1}, "what is true of a person is the same on each visit"
    assert not any(value is None for row in rows for value in row.values())


@pytest.mark.slow
def test_the_values_are_plausible_and_fake(made: tuple[Path, Path, Release]) -> None:
    rows = table(made[0], "visits")
    assert all(row["ssn"].startswith("000-") and len(row["ssn"]) == 11 for row in rows)
    assert len({row["ssn"] for row in rows}) == PATIENTS
    assert len({row["visit_id"] for row in rows}) == VISITS
    assert all(row["age"] == 2024 - row["birth_date"].year for row in rows)
    assert all(row["birth_date"] < date(2024, 1, 1) <= row["visit_date"] <= date(2024, 12, 31) for row in rows)
    assert all(len(row["zip"]) == 5 and row["zip"].isdigit() for row in rows)
    assert {row["marital_status"] for row in rows if row["age"] < 18} == {"Never married"}
    assert all(row["sex"] == "Female" for row in rows if row["diagnosis"] == "Pregnancy care")
    assert all(row["charge"] > 0 for row in rows)
    assert 15 <= len({row["diagnosis"] for row in rows}) <= 25
    assert len({row["ward"] for row in rows}) == 8
    regions = Counter(row["zip"][:3] for row in rows)
    assert max(regions.values()) > 5 * min(regions.values()), "regions differ in size"
    old = Counter(row["diagnosis"] for row in rows if row["age"] >= 60)
    young = Counter(row["diagnosis"] for row in rows if row["age"] < 18)
    assert old["Hypertension"] > 20 * young["Hypertension"], "diagnoses follow the age"
    assert max(Counter(row["patient_id"] for row in rows).values()) > 5, "some come often"


@pytest.mark.slow
def test_the_table_is_always_the_same(made: tuple[Path, Path, Release]) -> None:
    with reading(made[0]) as connection:
        first = content_hash(connection)
    connection = duckdb.connect()
    engine = kanon_sql.connect(connection)
    demo_module._make_visits(engine)
    assert content_hash(connection) == first
    assert first.startswith(CONTENT)
    left = {row[0] for row in connection.execute("SELECT table_name FROM information_schema.tables").fetchall()}
    assert left == {"visits", "kanon_sql_demo"}, "no scratch table stays"


# --- the run --------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_result_is_worth_showing(made: tuple[Path, Path, Release]) -> None:
    _, spec_path, result = made
    spec = Spec.load(spec_path)
    assert result.passed
    assert result.node is not None
    assert 0 < result.rows["suppressed"] <= 0.05 * VISITS
    assert result.rows["released"] + result.rows["suppressed"] == result.rows["source"] == VISITS
    assert result.rows["persons"] == PATIENTS
    heights = {name: item.height_hint or 2 for name, item in spec.quasi_identifiers.items()}
    assert sum(level < heights[name] for name, level in result.node.items()) >= 4, "most say something"
    assert sum(level > 0 for level in result.node.values()) >= 4
    assert (result.classes["count"] or 0) > 500
    assert result.search is not None
    assert result.search.proven


def test_the_spec_shows_every_kind_of_hierarchy(made: tuple[Path, Path, Release]) -> None:
    spec = Spec.load(made[1])
    kinds = {type(item.hierarchy).__name__ for item in spec.quasi_identifiers.values()}
    assert kinds == {
        "DatesHierarchy",
        "FileHierarchy",
        "IntervalsHierarchy",
        "PrefixHierarchy",
        "TreeHierarchy",
        "ValueHierarchy",
    }
    assert spec.unit == "patient_id"
    assert [requirement.name for requirement in spec.privacy] == ["k_anonymity", "l_diversity", "t_closeness"]
    assert not set(spec.quasi_identifiers) - set(OF_THE_PERSON), "one quasi-identifier vector per person"


def test_only_what_was_named_is_released(made: tuple[Path, Path, Release]) -> None:
    spec = Spec.load(made[1])
    columns = set(table(made[0], "visits_release")[0])
    assert columns == {*spec.quasi_identifiers, "diagnosis", "charge"}
    assert not columns & {"visit_id", "patient_id", "name", "ssn", "ward", "visit_date"}


MARITAL = {
    "Married": "Partnered",
    "Registered partnership": "Partnered",
    "Never married": "Single",
    "Divorced": "Formerly partnered",
    "Separated": "Formerly partnered",
    "Widowed": "Formerly partnered",
}


def age_label(age: int, level: int) -> str:
    if level in (0, 4):
        return str(age) if level == 0 else "*"
    if age < 5 or age >= 85:
        return "< 5" if age < 5 else ">= 85"
    width = {1: 5, 2: 10, 3: 20}[level]
    low = age // width * width
    return f"[{max(low, 5)}, {min(low + width, 85)})"


def zip_label(code: str, level: int) -> str:
    return (code, code[:4] + "*", code[:3] + "**", code[:2] + "***", "*")[level]


def birth_label(day: date, level: int) -> str:
    quarter, decade = (day.month - 1) // 3 + 1, day.year // 10 * 10
    labels = (str(day), f"{day:%Y-%m}", f"{day.year}-Q{quarter}", str(day.year), f"{decade}-{decade + 9}", "*")
    return labels[level]


def marital_label(status: str, level: int) -> str:
    group = MARITAL[status]
    return (status, group, "Partnered" if group == "Partnered" else "Alone", "*")[level]


def education_label(education: str, level: int) -> str:
    group = next(name for name, values in demo_module._EDUCATION_GROUPS.items() if education in values)
    return (education, group, "*")[level]


GENERALIZE: dict[str, Callable[[Any, int], str]] = {
    "age": age_label,
    "sex": lambda sex, level: sex if level == 0 else "*",
    "zip": zip_label,
    "birth_date": birth_label,
    "marital_status": marital_label,
    "education": education_label,
}


@pytest.mark.slow
def test_plain_python_agrees_with_every_row_of_the_release(made: tuple[Path, Path, Release]) -> None:
    directory, _, result = made
    assert result.node is not None
    rows = table(directory, "visits")
    classes: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        classes[tuple(GENERALIZE[name](row[name], level) for name, level in result.node.items())].append(row)
    everyone = Counter(diagnosis for _, diagnosis in {(row["patient_id"], row["diagnosis"]) for row in rows})
    kept = {
        key: found
        for key, found in classes.items()
        if len({row["patient_id"] for row in found}) >= 5
        and len({row["diagnosis"] for row in found}) >= 3
        and distance(found, everyone) <= 0.75 + 1e-9
    }
    expected = Counter((*key, row["diagnosis"], row["charge"]) for key, found in kept.items() for row in found)
    released = Counter(
        (*(row[name] for name in result.node), row["diagnosis"], row["charge"])
        for row in table(directory, "visits_release")
    )
    assert released == expected
    assert result.classes["count"] == len(kept)
    assert result.rows["suppressed"] == VISITS - expected.total()
    assert min(len({row["patient_id"] for row in found}) for found in kept.values()) >= 5


def distance(rows: list[dict[str, Any]], everyone: Counter[str]) -> float:
    here = Counter(diagnosis for _, diagnosis in {(row["patient_id"], row["diagnosis"]) for row in rows})
    return sum(abs(here[value] / here.total() - everyone[value] / everyone.total()) for value in everyone) / 2


# --- the files ------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files alone: what is generated and published is tested above."""
    monkeypatch.setattr(demo_module, "anonymize", lambda *_, **__: None)
    monkeypatch.setattr(demo_module, "VISITS", 60)
    monkeypatch.setattr(demo_module, "PATIENTS", 30)
    monkeypatch.setattr(demo_module, "FREQUENT", 10)


@pytest.mark.usefixtures("quick")
def test_a_second_run_keeps_what_else_is_in_the_database(tmp_path: Path) -> None:
    demo(tmp_path)
    with duckdb.connect(str(tmp_path / "demo.duckdb")) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 1 AS one; DELETE FROM visits")
    demo(tmp_path)
    with reading(tmp_path) as connection:
        assert connection.execute("SELECT COUNT(*) FROM visits").fetchall() == [(60,)]
        assert connection.execute("SELECT COUNT(*) FROM mine").fetchall() == [(1,)]


@pytest.mark.usefixtures("quick")
def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "demo.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 1 AS one")
    with pytest.raises(UnsupportedError, match="not made by the demo"):
        demo(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["demo.duckdb"], "nothing was written"
    with reading(tmp_path) as connection:
        assert connection.execute("SELECT * FROM visits").fetchall() == [(1,)]
    demo(tmp_path, replace=True)
    with reading(tmp_path) as connection:
        assert connection.execute("SELECT COUNT(*) FROM visits").fetchall() == [(60,)]


@pytest.mark.usefixtures("quick")
def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "demo.duckdb").write_text("my notes\n" * 1000)
    with pytest.raises(KanonError):
        demo(tmp_path)
    assert (tmp_path / "demo.duckdb").read_text().startswith("my notes")


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["demo.yml", "hierarchies/education.csv"])
def test_a_changed_file_is_not_overwritten(tmp_path: Path, name: str) -> None:
    demo(tmp_path)
    changed = (tmp_path / name).read_text() + "# mine\n"
    (tmp_path / name).write_text(changed)
    with pytest.raises(UnsupportedError, match="from the demo's file"):
        demo(tmp_path)
    assert (tmp_path / name).read_text() == changed
    demo(tmp_path, replace=True)
    assert (tmp_path / name).read_text() != changed


@pytest.mark.usefixtures("quick")
def test_a_directory_in_the_way_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "demo.duckdb").mkdir()
    with pytest.raises(KanonError):
        demo(tmp_path)
    with pytest.raises(KanonError):
        demo(tmp_path, replace=True)
    (tmp_path / "file").touch()
    with pytest.raises(KanonError):
        demo(tmp_path / "file" / "below")


def test_the_generator_is_portable_sql() -> None:
    from kanon_sql.sql.dialects import dialect_named
    from kanon_sql.sql.statement import Compiler
    from kanon_sql.sql.text import Relation

    there = Relation(("there",))
    for dialect in ("duckdb", "postgres"):
        compiler = Compiler(dialect_named(dialect), "")
        statements = [
            compiler.statement("verbs/demo/random", target=there, rows=10, draws=2, seed=1),
            compiler.statement("verbs/demo/patients", target=there, draws=there, **demo_module._patient_choices()),
            compiler.statement(
                "verbs/demo/visits", target=there, draws=there, patients=there, **demo_module._visit_choices()
            ),
        ]
        for statement in statements:
            assert sqlglot.parse_one(statement.sql, read=dialect)
