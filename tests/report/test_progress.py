"""What a verb is at: one line, gone at the end, and nothing where no one looks."""

from __future__ import annotations

import io

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines import Engine


class Terminal(io.StringIO):
    """A file that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def spec() -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "t",
            "release": "r",
            "quasi_identifiers": {"age": None},
            "privacy": [{"k_anonymity": 2}],
        }
    )


@pytest.fixture
def engine() -> Engine:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT i % 3 AS age FROM range(30) AS r(i)")
    return kanon_sql.connect(connection)


class Stages(kanon_sql.Progress):
    """What was shown, and how often it ended."""

    def __init__(self, file: io.StringIO) -> None:
        super().__init__(file)
        self.stages: list[str] = []
        self.ends = 0

    def __call__(self, stage: str, nodes: int | None) -> None:
        self.stages.append(stage)
        super().__call__(stage, nodes)

    def done(self) -> None:
        self.ends += 1
        super().done()


def test_a_terminal_shows_stages_and_keeps_none(
    engine: Engine, spec: kanon_sql.Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    file = Terminal()
    shown = Stages(file)
    assert kanon_sql.anonymize(engine, spec, report=shown).passed
    assert shown.ends == 1
    assert len(shown.stages) > 3
    assert any(stage in file.getvalue() for stage in shown.stages)
    assert file.getvalue().endswith("\x1b[2K")  # the line is erased


def test_a_log_shows_nothing(engine: Engine, spec: kanon_sql.Spec) -> None:
    file = io.StringIO()
    assert kanon_sql.anonymize(engine, spec, report=kanon_sql.Progress(file)).passed
    assert file.getvalue() == ""


def test_it_ends_where_a_run_fails(engine: Engine, spec: kanon_sql.Spec) -> None:
    shown = Stages(Terminal())
    with pytest.raises(kanon_sql.KanonError):
        kanon_sql.plan(engine, kanon_sql.Spec.from_dict({**spec.to_dict(), "source": "nowhere"}), report=shown)
    assert shown.ends == 1
