"""A release that grows: a kill before any statement changes all of it or nothing."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from tests.support.refreshed import spec, statements, visits


def everything(file: Path) -> tuple[Counter[Any], ...]:
    """The release, and what its state says of it; names of tables left out."""
    with duckdb.connect(str(file)) as opened:
        (base,) = opened.execute("SELECT manifest ->> '$.tables' FROM kanon_state.kanon_sql_state").fetchall()
        tables = [f"kanon_state.kanon_{base[0]}_{name}" for name in ("waiting", "published")]
        return tuple(Counter(opened.execute(f"FROM {name}").fetchall()) for name in ("visits_release", *tables))


def killed_everywhere(tmp_path: Path, patched: pytest.MonkeyPatch, step: int, **options: Any) -> None:
    begun, file = tmp_path / "begun.duckdb", tmp_path / "clinic.duckdb"
    with duckdb.connect(str(begun)) as opened:
        opened.execute("CREATE TABLE visits (day INTEGER, zip VARCHAR, disease VARCHAR)")
        visits(opened, 1, "aaaabbbbcc")
        with kanon_sql.connect(opened) as engine:
            kanon_sql.anonymize(engine, spec())
        visits(opened, 2, "abbbc")
    before = everything(begun)
    shutil.copy(begun, file)
    names = statements(file, patched, **options)
    after = everything(file)
    assert before != after
    committed = len(names) - names[::-1].index("release/manifest/insert")
    for at in range(1, len(names) + 1, step):
        shutil.copy(begun, file)
        assert len(statements(file, patched, at, **options)) >= at
        assert everything(file) == (after if at > committed + 1 else before), f"before statement {at}, {names[at - 1]}"
        statements(file, patched, **options)
        assert everything(file) == after, "the next run needs no help"


@pytest.mark.slow
def test_a_kill_changes_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_everywhere(tmp_path, monkeypatch, 9)


CHANGED = {
    "deleted": "SELECT 'bb1' AS zip, 'flu' AS disease FROM range(4)",
    "inserted": "SELECT 1 AS day, 'cc1' AS zip, 'flu' AS disease",
    "batch": "x",
}


@pytest.mark.campaign
@pytest.mark.parametrize("options", [{}, CHANGED])
@pytest.mark.parametrize("step", [5, 1])
def test_a_kill_before_any_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], step: int
) -> None:
    killed_everywhere(tmp_path, monkeypatch, step, **options)
