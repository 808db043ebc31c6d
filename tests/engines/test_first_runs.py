"""First runs at once: whoever makes the tables that all runs share, every run publishes."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.engines.workspace import open_workspace
from kanon_sql.sql.statement import Statement
from kanon_sql.sql.text import Relation
from kanon_sql.testing import Subject
from tests.servers import subject_of

AT_ONCE = 4


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.xdist_group(f"{name} first runs"))
        for name in ("duckdb", "postgres", "mariadb", "clickhouse")
    ],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        made.table("people", {"q": "text"}, [("a",)] * 4)
        yield made


def asked(number: int) -> dict[str, Any]:
    return {
        "version": 1, "source": "people", "release": f"released_{number}", "quasi_identifiers": {"q": None},
        "privacy": [{"k_anonymity": 2}],
    }  # fmt: skip


def connected(subject: Any) -> Engine:
    """A connection of its own; DuckDB's are cursors."""
    return kanon_sql.connect(subject.connection.cursor()) if subject.name == "duckdb" else subject.connect()


def publish_at_once(subject: Subject, start: threading.Barrier, number: int, errors: list[BaseException]) -> None:
    engine = connected(subject)
    try:
        start.wait(60)
        assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(asked(number))).passed
    except BaseException as error:
        errors.append(error)
    finally:
        engine.close()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("rounds", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_all_first_runs_publish(subject: Subject, rounds: int) -> None:
    for _ in range(rounds):
        for table in subject.tables():
            if table != "people":
                subject.execute(f"DROP TABLE {subject.dialect.quote(table)}")
        start, errors = threading.Barrier(AT_ONCE), list[BaseException]()
        runs = [
            threading.Thread(target=publish_at_once, args=(subject, start, number, errors)) for number in range(AT_ONCE)
        ]
        for run in runs:
            run.start()
        for run in runs:
            run.join(120)
        assert errors == []
        released = {f"released_{number}" for number in range(AT_ONCE)}
        assert set(subject.tables()) == {"people", "kanon_sql_manifest", "kanon_sql_scratch", *released}
        rows = subject.fetch("SELECT release_name FROM kanon_sql_manifest WHERE published_at <> 'pending'")
        assert {name for (name,) in rows} == released


@pytest.mark.slow
@pytest.mark.parametrize("template", ["engines/scratch/create_record", "release/manifest/create"])
@pytest.mark.sampled(4)
def test_a_shared_table_is_made_once(subject: Subject, template: str) -> None:
    """The statement alone, again and again: that is where PostgreSQL reports 23505."""
    for number in range(10):
        start, errors = threading.Barrier(AT_ONCE), list[BaseException]()

        def create(start: threading.Barrier = start, errors: list[BaseException] = errors, n: int = number) -> None:
            engine = connected(subject)
            try:
                with open_workspace(engine, "") as workspace:
                    start.wait(60)
                    workspace.create_shared(template, Relation((f"shared_{n}",)))
            except BaseException as error:
                errors.append(error)
            finally:
                engine.close()

        runs = [threading.Thread(target=create) for _ in range(AT_ONCE)]
        for run in runs:
            run.start()
        for run in runs:
            run.join(60)
        assert errors == []
        subject.execute(f"DROP TABLE shared_{number}")


@pytest.mark.slow
def test_processes_share_a_file_of_sqlite(tmp_path: Path) -> None:
    with kanon_sql.connect(f"sqlite:///{tmp_path / 'clinic.db'}") as engine:
        for sql in ("CREATE TABLE people (q TEXT)", "INSERT INTO people VALUES ('a'), ('a'), ('a')"):
            engine.execute(Statement("test", sql))
    commands = []
    for number in range(3):
        (tmp_path / f"{number}.yml").write_text(json.dumps(asked(number)), encoding="utf-8")
        given = ["anonymize", f"{number}.yml", "-d", f"sqlite:///{tmp_path / 'clinic.db'}", "-q"]
        commands.append([sys.executable, "-m", "kanon_sql", *given])
    started = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) for command in commands]
    said = [process.communicate(timeout=120)[1] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], said
