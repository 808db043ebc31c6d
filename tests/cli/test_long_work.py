"""Long work: durations, what progress shows, which statement took the time, and statements of runs that are gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from kanon_sql.cli.options import seconds_of
from kanon_sql.cli.progress import Working, elapsed
from kanon_sql.engines.base import Meter
from kanon_sql.report.layout import cost_line
from kanon_sql.sql.statement import Statement
from kanon_sql.testing import Subject
from kanon_sql.verbs.clean import clean
from kanon_sql.verbs.result import Cost
from tests.servers import subject_of
from tests.support.command_line import run


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90), ("0", 0), ("1.5", 1.5), ("90s", 90), ("10m", 600), ("1h", 3600), ("1h30m", 5400), ("2m5s", 125),
        ("", None), ("m", None), ("10x", None), ("-1", None), ("30m1h", None), ("1e3", None), ("nan", None),
    ],
)  # fmt: skip
def test_durations(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds


def test_a_duration_that_cannot_be_read_is_an_error(clinic: Path) -> None:
    result = run("check", "spec.yml", "-d", "clinic.duckdb", "--set", "timeout=soon")
    assert result.exit_code == 2
    assert "expected a number of seconds, or a duration such as 90s, 10m or 1h30m" in " ".join(result.stderr.split())


@pytest.mark.parametrize(("written", "code"), [('"10m"', 0), ("600", 0), ('"soon"', 2), ("true", 2)])
def test_a_duration_in_the_settings_file(clinic: Path, written: str, code: int) -> None:
    (clinic / "kanon-sql.toml").write_text(f"timeout = {written}\n")
    result = run("plan", "spec.yml", "-d", "clinic.duckdb")
    assert result.exit_code == code, result.stderr
    assert ("timeout: expected a number of seconds" in " ".join(result.stderr.split())) == (code == 2)


def test_progress_names_the_statement_once_it_runs_for_long() -> None:
    meter = Meter()
    line = Working(Text("searching"), meter)
    assert line.__rich__().plain == "searching"
    with meter.timed("evaluate/nodes"):
        assert line.__rich__().plain == "searching", "a quick statement is not named"
        meter.running = ("evaluate/nodes", time.monotonic() - 185)
        assert line.__rich__().plain == "searching  evaluate/nodes: 3 min 05 s"
    assert line.__rich__().plain == "searching"
    assert elapsed(42.9) == "42 s"
    assert elapsed(3725) == "1 h 02 min"


@pytest.mark.parametrize(
    ("longest", "seconds", "named"), [(8.0, 15.0, True), (7.0, 15.0, False), (9.0, 9.5, False), (10.0, 20.0, False)]
)
def test_a_long_run_says_which_statement_took_more_than_half(longest: float, seconds: float, named: bool) -> None:
    meter = Meter(longest=("frequency/raw", longest))
    cost = Cost.of(meter, seconds)
    said = f"one statement (frequency/raw) took {longest:.4g} s"
    assert (said in cost_line(cost)) == named
    assert cost.to_dict().get("slowest") == ({"statement": "frequency/raw", "seconds": longest} if named else None)


# --- Statements of runs that are gone ---


SERVERS = [
    pytest.param(name, marks=[pytest.mark.slow, pytest.mark.xdist_group(name)])
    for name in ("postgres", "mariadb", "clickhouse")
]


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


def wait_for(condition: Any, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"it did not happen within {seconds:g} seconds")


@pytest.mark.parametrize("subject", SERVERS, indirect=True)
def test_clean_lists_statements_of_other_runs_and_ends_them(subject: Subject) -> None:
    lost, ours = subject.connect(), subject.connect()
    ended = []

    def work() -> None:
        try:
            lost.fetch(Statement("slow", subject.slow), 1)
        except BaseException as error:
            ended.append(type(error).__name__)

    working = threading.Thread(target=work)
    working.start()
    try:
        wait_for(ours.running)
        (item,) = clean(ours, drop=False).objects
        assert (item.run_id, item.state) == (lost.run_id, "running")
        assert working.is_alive(), "listing ends nothing"
        (item,) = clean(ours, drop=True).objects
        assert (item.run_id, item.state) == (lost.run_id, "ended")
        working.join(20)
        assert not working.is_alive()
        assert len(ended) == 1
        wait_for(lambda: not ours.running())
        assert clean(ours, drop=False).objects == ()
    finally:
        lost.cancel()
        working.join(20)
        lost.close()
        ours.close()


PROGRAM = """
import sys
import kanon_sql
from kanon_sql.engines.base import Deadline
from kanon_sql.sql.statement import Statement

engine = kanon_sql.connect(sys.argv[1])
with engine.run(Deadline(None)):
    engine.fetch(Statement("slow", sys.argv[2]), 1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no process is sent SIGTERM there")
@pytest.mark.parametrize("subject", SERVERS[:2], indirect=True)
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_a_program_that_is_ended_leaves_nothing_running(subject: Any, sent: signal.Signals) -> None:
    """MariaDB looks for its client when it answers, and not before: there a killed one is what ``clean`` is for."""
    name = subject.connect().dialect.name
    if sent is signal.SIGKILL and name == "mariadb":
        pytest.skip("the server does not look for its client")
    ours = subject.connect()
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, subject.url, subject.slow.replace("20", "90")], stderr=subprocess.PIPE
    )
    try:
        wait_for(ours.running)
        os.kill(program.pid, sent)
        assert program.wait(20) == -sent, "it ends as it would have"
        wait_for(lambda: not ours.running(), 30)
    finally:
        program.kill()
        program.communicate()
        ours.close()


def test_a_handler_of_the_program_is_left_alone(clinic: Path) -> None:
    import kanon_sql

    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with kanon_sql.connect() as engine:
            handler = signal.getsignal(signal.SIGTERM)
            from kanon_sql.engines.base import Deadline

            with engine.run(Deadline(None)):
                assert signal.getsignal(signal.SIGTERM) is handler
            assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_default_comes_back_after_a_run() -> None:
    import kanon_sql
    from kanon_sql.engines.base import Deadline

    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with kanon_sql.connect() as engine:
            with engine.run(Deadline(None)):
                assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
