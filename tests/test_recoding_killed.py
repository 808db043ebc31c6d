"""A process killed before any statement of a recoding: what stands is the earlier release or the new one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from test_recode import BEST, spec

import kanon_sql
from kanon_sql.engines.base import Meter
from kanon_sql.verbs.clean import clean

SCRATCH = "schema:workshop"
"""Scratch tables that outlive the connection, so that a killed run leaves them."""

OURS = {"visits", "visits_release", "kanon_sql_manifest", "kanon_sql_scratch"}


class Killed(BaseException):
    """No handler of a killed process runs; one that does here cannot reach the database any more."""


def run(file: Path, patched: pytest.MonkeyPatch, asked: kanon_sql.Spec, at: int = 0) -> int:
    """Anonymize until the process is killed before its n-th statement, 0 for never; returns how many were asked for."""
    counted = Meter.count
    seen = 0

    def count(self: Meter, *given: Any) -> Any:
        nonlocal seen
        seen += 1
        if at and seen >= at:
            raise Killed
        return counted(self, *given)

    engine = kanon_sql.connect(str(file), scratch=SCRATCH)
    with patched.context() as patching:
        patching.setattr(Meter, "count", count)
        try:
            kanon_sql.anonymize(engine, asked)
        except Killed:
            pass
        finally:
            engine.close()
    return seen


def tables(file: Path) -> set[str]:
    with duckdb.connect(str(file)) as connection:
        return {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def released(file: Path) -> Counter[tuple[Any, ...]]:
    with duckdb.connect(str(file)) as connection:
        return Counter(connection.execute("SELECT * FROM visits_release").fetchall())


@pytest.mark.parametrize(
    ("recoding", "kills"),
    [
        ("local", 12),
        *(
            pytest.param(recoding, 16, marks=pytest.mark.slow)
            for recoding in (BEST, "mondrian", {"method": "mondrian", "variant": "relaxed"}, "cells")
        ),
    ],
)
def test_a_kill_leaves_the_earlier_release_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recoding: Any, kills: int
) -> None:
    """Before statements all along the run, those of publishing the most."""
    file = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE SCHEMA workshop")
        connection.execute(
            "CREATE TABLE visits AS SELECT 20 + n * 7 % 60 AS age, CAST(100 + n * 37 % 300 AS VARCHAR) AS zip, "
            "'xyz'[1 + n % 3] AS illness FROM range(60) AS _(n)"
        )
    # Another k, so that the earlier release tells itself from the new one.
    run(file, monkeypatch, spec(recoding=recoding, privacy=[{"k_anonymity": 9}]))
    earlier = released(file)
    asked = spec(recoding=recoding)
    statements = run(file, monkeypatch, asked)
    new = released(file)
    assert new != earlier
    places = {1 + number * statements // (kills // 2) for number in range(kills // 2)}
    places |= set(range(statements - kills // 2 + 1, statements + 1))
    stood = Counter[bool]()
    for place in sorted(places):
        if released(file) != earlier:
            run(file, monkeypatch, spec(recoding=recoding, privacy=[{"k_anonymity": 9}]))
        assert released(file) == earlier
        assert run(file, monkeypatch, asked, at=place) >= place, "the rest are those of handlers, which do not run"
        stood[(there := released(file)) == new] += 1
        assert there in (earlier, new), place
        engine = kanon_sql.connect(str(file), scratch=SCRATCH)
        for schema in (None, "workshop"):
            clean(engine, schema, drop=True)
        engine.close()
        assert tables(file) <= OURS, place
    assert stood[False]
    assert run(file, monkeypatch, asked) == statements, "the next run needs no help"
    assert released(file) == new
