"""A process killed before any statement that keeps or applies a recoding: the earlier table stands, or the new one."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.base import Engine, Meter
from kanon_sql.verbs.clean import clean
from tests.recode.test_recode import spec

Run = Callable[[Engine], Any]

SCRATCH = "schema:workshop"
"""Scratch tables that outlive the connection, so that a killed run leaves them."""

OURS = {"visits", "visits_release", "kanon_sql_manifest", "kanon_sql_scratch"}


class Killed(BaseException):
    """No handler of a killed process runs; one that does here cannot reach the database any more."""


def tables(file: Path) -> set[str]:
    with duckdb.connect(str(file)) as connection:
        return {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def killed(file: Path, patched: pytest.MonkeyPatch, run: Run, at: int = 0) -> list[str]:
    """Run until the process is killed before its n-th statement, 0 for never; the names of all that it got to."""
    counted, names = Meter.count, []

    def count(self: Meter, statement: Any, *given: Any) -> Any:
        names.append(statement.name)
        if at and len(names) >= at:
            raise Killed
        return counted(self, statement, *given)

    engine = kanon_sql.connect(str(file), scratch=SCRATCH)
    with patched.context() as patching:
        patching.setattr(Meter, "count", count)
        try:
            run(engine)
        except Killed:
            pass
        finally:
            engine.close()
    return names


def held(file: Path, name: str) -> Counter[tuple[Any, ...]]:
    with duckdb.connect(str(file)) as connection:
        return Counter(connection.execute(f"SELECT * FROM {name}").fetchall())


def cleaned(file: Path) -> set[str]:
    """The tables that are left when what a killed run left is gone."""
    engine = kanon_sql.connect(str(file), scratch=SCRATCH)
    for schema in (None, "workshop"):
        clean(engine, schema, drop=True)
    engine.close()
    return tables(file)


def keeping(recoding: Any, **changes: Any) -> kanon_sql.Spec:
    return spec(recoding={**recoding, "save_as": "learned"}, **changes)


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    file = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE SCHEMA workshop")
        for name, step in (("visits", 7), ("others", 11)):
            connection.execute(
                f"CREATE TABLE {name} AS SELECT 20 + n * {step} % 60 AS age, "
                "CAST(100 + n * 37 % 300 AS VARCHAR) AS zip, 'xyz'[1 + n % 3] AS illness FROM range(60) AS _(n)"
            )
    return file


@pytest.mark.parametrize(
    ("recoding", "step"),
    [
        pytest.param({"method": "mondrian"}, 30, marks=pytest.mark.slow),
        pytest.param({"method": "mondrian"}, 1, marks=pytest.mark.campaign),
        pytest.param({"method": "local"}, 1, marks=pytest.mark.campaign),
    ],
)
def test_a_kill_while_keeping_leaves_the_earlier_cuts_or_the_new(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, recoding: Any, step: int
) -> None:
    """Whichever release stands; the table is a whole one, and the next run needs no help."""

    def learn(k: int) -> Run:
        return lambda engine: kanon_sql.anonymize(engine, keeping(recoding, privacy=[{"k_anonymity": k}]))

    killed(clinic, monkeypatch, learn(9))
    before = shutil.copy(clinic, clinic.with_suffix(".before"))
    earlier = held(clinic, "learned"), held(clinic, "visits_release")
    names = killed(clinic, monkeypatch, learn(3))
    new = held(clinic, "learned"), held(clinic, "visits_release")
    assert new[0] != earlier[0]
    first = next(place for place, name in enumerate(names, 1) if name.startswith("release/kept/"))
    stood = Counter[bool]()
    for place in sorted({first // 2, *range(first, len(names) + 1, step), len(names)}):
        shutil.copy(before, clinic)
        assert len(killed(clinic, monkeypatch, learn(3), at=place)) >= place
        there = held(clinic, "learned")
        stood[there == new[0]] += 1
        assert there in (earlier[0], new[0]), place
        assert held(clinic, "visits_release") in (earlier[1], new[1]), place
        assert cleaned(clinic) <= {*OURS, "others", "learned"}, place
        assert held(clinic, "learned") == there, "clean leaves it"
    assert stood[True]
    assert stood[False]


@pytest.mark.slow
def test_a_kill_while_applying_leaves_the_cuts_and_a_release_of_either_run(
    clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recoding = {"method": "mondrian"}
    killed(clinic, monkeypatch, lambda engine: kanon_sql.anonymize(engine, keeping(recoding)))
    learned = held(clinic, "learned")

    def use(k: int) -> Run:
        asked = keeping(recoding, privacy=[{"k_anonymity": k}])
        return lambda engine: kanon_sql.apply(engine, asked, "learned", source="others", release="others_release")

    killed(clinic, monkeypatch, use(9))
    before = shutil.copy(clinic, clinic.with_suffix(".before"))
    earlier = held(clinic, "others_release")
    names = killed(clinic, monkeypatch, use(3))
    new = held(clinic, "others_release")
    assert new != earlier
    stood = Counter[bool]()
    for place in sorted({1, *range(5, len(names) - 12, 60), *range(len(names) - 12, len(names) + 1, 4)}):
        shutil.copy(before, clinic)
        killed(clinic, monkeypatch, use(3), at=place)
        there = held(clinic, "others_release")
        stood[there == new] += 1
        assert there in (earlier, new), place
        assert held(clinic, "learned") == learned, place
        assert cleaned(clinic) <= {*OURS, "others", "learned", "others_release"}, place
    assert stood[True]
    assert stood[False]
