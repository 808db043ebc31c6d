"""What the user says about columns goes before what ``init`` suggests: in Python, in a shell, at a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.spec import Spec
from tests.support.command_line import refused, run
from tests.support.init_tables import PANEL, SURVEY


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("init")
    with duckdb.connect(str(folder / "x.duckdb")) as connection:
        connection.execute(
            f"CREATE TABLE survey AS {SURVEY}; CREATE TABLE panel AS {PANEL};"
            'CREATE TABLE "a,b" AS SELECT 1 AS "a,b", 2 AS c'
        )
    return folder


@pytest.fixture(scope="module")
def engine(directory: Path) -> Iterator[Any]:
    opened = kanon_sql.connect(directory / "x.duckdb", read_only=True)
    yield opened
    opened.close()


def said(engine: Any, table: str, **roles: Any) -> tuple[str, Spec]:
    text = kanon_sql.init(engine, table, **roles)
    return text, Spec.parse(text)


@pytest.mark.slow
def test_roles_that_are_named(engine: Any) -> None:
    text, spec = said(
        engine,
        "panel",
        quasi_identifiers=["race", "lwage"],
        sensitive=["educ"],
        identifiers=["occupation"],
        keep=["exper"],
        unit="nr",
        k=7,
    )
    assert list(spec.quasi_identifiers) == ["race", "lwage"], "those, and no other"
    assert spec.sensitive == ("educ",)
    assert spec.keep == ("exper",)
    assert set(spec.identifiers) >= {"occupation"}
    assert spec.unit == "nr"
    assert spec.privacy[0].to_dict() == {"k_anonymity": {"k": 7}}
    assert "  # - year  # " in text, "suggested, and left out since the user knows better"
    assert "but you named the quasi-identifiers" in text
    assert kanon_sql.plan(engine, Spec.from_dict({**spec.to_dict(), "recoding": "full_domain"})).passed


@pytest.mark.slow
def test_what_is_not_named_is_suggested(engine: Any) -> None:
    _, alone = said(engine, "panel")
    _, spec = said(engine, "panel", sensitive=["occupation"])
    assert spec.unit == alone.unit == "nr"
    assert set(spec.quasi_identifiers) == set(alone.quasi_identifiers) - {"occupation"}
    assert spec.sensitive == ("occupation",)


def test_no_column_is_sensitive(engine: Any) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i % 5 AS age, i % 3 AS diagnosis, i % 2 AS sex FROM range(90) n(i)"
        )
        text, spec = said(kanon_sql.connect(connection), "t", sensitive=[])
    assert spec.sensitive == ()
    assert "  # - diagnosis  # " in text


@pytest.mark.parametrize(
    ("roles", "problems"),
    [
        (
            {"quasi_identifiers": ["RIAGENDER"]},
            ["quasi_identifiers: survey has no column 'RIAGENDER'", "did you mean 'RIAGENDR'?"],
        ),
        ({"unit": "seqn"}, ["unit: ", "did you mean 'SEQN'?"]),
        ({"keep": ["zzzzzzzz"]}, ["keep: ", "expected one of SEQN, "]),
        (
            {"quasi_identifiers": ["RIAGENDR"], "sensitive": ["RIAGENDR"]},
            ["also under quasi_identifiers; give each column one role"],
        ),
        ({"unit": "SEQN", "keep": ["SEQN"]}, ["column 'SEQN' is also under"]),
        ({"quasi_identifiers": []}, ["name at least one column"]),
        ({"quasi_identifiers": ["RIAGENDR", "RIAGENDR"]}, ["give each column one role"]),
        ({"k": 0}, ["k: expected a whole number of at least 1, got 0"]),
        ({"preset": "hipaa"}, ["there is no preset 'hipaa'"]),
        ({"preset": "ema-007"}, ["did you mean 'ema-0070'?"]),
        ({"preset": "ema-0070", "k": 5}, ["ema-0070 asks for at least 12, got 5"]),
        ({"population": "census"}, ["only the preset hipaa-safe-harbor uses"]),
        ({"preset": "ema-0070", "population": "census"}, ["only the preset hipaa-safe-harbor uses"]),
    ],
)
def test_what_cannot_be(engine: Any, roles: dict[str, Any], problems: list[str]) -> None:
    with pytest.raises(SpecError) as raised:
        kanon_sql.init(engine, "survey", **roles)
    for problem in problems:
        assert problem in str(raised.value)


def test_all_problems_at_once(engine: Any) -> None:
    with pytest.raises(SpecError) as raised:
        kanon_sql.init(engine, "survey", quasi_identifiers=["x1", "x2"], unit="x3")
    assert len(raised.value.problems) == 3


@pytest.mark.slow
def test_a_unit_may_be_an_identifier(engine: Any) -> None:
    _, spec = said(engine, "panel", unit="nr", identifiers=["nr"])
    assert spec.unit == "nr"


COLUMNS = ["year", "race", "educ", "exper", "married", "union_member", "lwage", "occupation"]


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(roles=st.lists(st.sampled_from(["quasi", "sensitive", "identifiers", "keep", None]), min_size=8, max_size=8))
def test_any_roles(engine: Any, roles: list[str | None]) -> None:
    """What was named has that role in the spec, whatever it is."""
    named = {role: [name for name, it in zip(COLUMNS, roles, strict=True) if it == role] for role in roles}
    if not named.get("quasi"):
        return
    _, spec = said(
        engine,
        "panel",
        quasi_identifiers=named["quasi"],
        sensitive=named.get("sensitive", []),
        identifiers=named.get("identifiers", []),
        keep=named.get("keep", []),
        largest_combination=0,
    )
    assert list(spec.quasi_identifiers) == named["quasi"]
    assert list(spec.sensitive) == named.get("sensitive", [])
    assert list(spec.keep) == named.get("keep", [])
    assert {*named.get("identifiers", [])} <= {*spec.identifiers}
    assert not {*named.get(None, [])} & {*spec.sensitive, *spec.keep, *spec.quasi_identifiers}


# --- The command line -------------------------------------------------------------------------


@pytest.mark.slow
def test_roles_on_the_command_line(directory: Path) -> None:
    result = run(
        "init", "panel", "-d", directory / "x.duckdb", "--quasi-identifiers", "race, lwage", "--quasi-identifiers",
        "educ", "--sensitive", "occupation", "--identifiers", "year", "--set", "keep=exper,married", "--unit", "nr",
        "--k", "9",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    spec = Spec.parse(result.stdout)
    assert set(spec.quasi_identifiers) == {"race", "lwage", "educ"}
    assert spec.sensitive == ("occupation",)
    assert set(spec.keep) == {"exper", "married"}
    assert set(spec.identifiers) >= {"year"}
    assert spec.privacy[0].to_dict() == {"k_anonymity": {"k": 9}}


def test_a_name_that_is_no_column(directory: Path) -> None:
    message = refused(run("init", "panel", "-d", directory / "x.duckdb", "--quasi-identifiers", "lwge,race"), 2)
    assert "quasi_identifiers: panel has no column 'lwge' that a spec can use; did you mean 'lwage'?" in message


def test_a_name_with_a_comma(directory: Path) -> None:
    result = run("init", '"a,b"', "-d", directory / "x.duckdb", "--quasi-identifiers", "a,b", "--set", "keep=c")
    assert set(Spec.parse(result.stdout).quasi_identifiers) == {"a,b"}


@pytest.mark.slow
def test_presets_on_the_command_line(directory: Path) -> None:
    result = run("init", "panel", "-d", directory / "x.duckdb", "--preset", "gdpr-wp216", "--format", "json")
    assert "WP216" in json.loads(result.stdout)["spec"]
    assert "hipaa-safe-harbor" in refused(run("init", "panel", "-d", directory / "x.duckdb", "--preset", "hipaa"), 2)


# --- A terminal -------------------------------------------------------------------------------


def converse(directory: Path, answers: list[str], *options: str, table: str = "panel") -> tuple[int, str, str]:
    """Answer each question as soon as it is there; the exit code, what the terminal shows, and the spec."""
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "kanon_sql", "init", table, "-d", "x.duckdb", "--interactive", *options]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}

    def at_the_terminal() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches it

    process = subprocess.Popen(
        command, stdin=terminal, stderr=terminal, stdout=subprocess.PIPE, cwd=directory, env=environment, text=True,
        preexec_fn=at_the_terminal,
    )  # fmt: skip
    os.close(terminal)
    shown, left, end = "", list(answers), time.monotonic() + 60
    readable = select.poll()  # any number of files may be open: select() takes the first 1,024
    readable.register(controller, select.POLLIN)
    while time.monotonic() < end:
        if readable.poll(100):
            try:
                read = os.read(controller, 65536).decode()
            except OSError:  # nobody holds the other end any more
                break
            if not read:
                break
            shown += read
        elif process.poll() is not None:
            break
        if left and shown.rstrip("\r\n ").endswith("]:") and not shown.endswith("\n"):
            answer = left.pop(0)
            os.write(controller, answer.encode())
            shown += "\n"
    else:
        process.kill()
    spec, _ = process.communicate(timeout=30)
    os.close(controller)
    return process.returncode, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown), spec


@pytest.mark.slow
def test_a_conversation(directory: Path) -> None:
    code, shown, text = converse(directory, ["\n", "race, educ\n", "occupation\n", "exper\n", "7\n"])
    assert code == 0, shown
    spec = Spec.parse(text)
    assert spec.unit == "nr"
    assert list(spec.quasi_identifiers) == ["race", "educ"]
    assert spec.sensitive == ("occupation",)
    assert spec.keep == ("exper",)
    assert spec.privacy[0].to_dict() == {"k_anonymity": {"k": 7}}
    assert "Which column identifies the person, if a person has several rows? [nr]" in shown
    assert "How many persons must each class have at least? [5]" in shown
    assert "Traceback" not in shown


@pytest.mark.slow
def test_empty_answers_take_what_is_suggested(directory: Path, engine: Any) -> None:
    code, shown, text = converse(directory, ["\n"] * 5)
    assert code == 0, shown
    told, suggested = Spec.parse(text), Spec.parse(kanon_sql.init(engine, "panel"))
    assert told.to_dict() == suggested.to_dict()


@pytest.mark.slow
def test_an_answer_that_cannot_be_is_asked_for_again(directory: Path) -> None:
    unit, quasi, number = ["nnr\n", "nr,race\n", "-\n"], ["-\n", "rac\n", "race,nr\n"], ["one\n", "0\n", "6\n"]
    answers = [*unit, *quasi, "-\n", "-\n", *number]
    code, shown, text = converse(directory, answers)
    assert code == 0, shown
    assert "'nnr' is not one of the remaining columns; did you mean 'nr'?" in shown
    assert "name one column" in shown
    assert "name at least one column" in shown
    assert "did you mean 'race'?" in shown
    assert shown.count("expected a whole number of at least 1") == 2
    assert "How many rows must each class have at least" in shown
    spec = Spec.parse(text)
    assert spec.unit is None, "rows, whatever the data say"
    assert "# unit: nr" in text
    assert set(spec.quasi_identifiers) == {"race", "nr"}


@pytest.mark.slow
def test_roles_that_were_given_are_the_defaults(directory: Path) -> None:
    options = [
        "--quasi-identifiers",
        "race",
        "--set",
        "keep=lwage",
        "--identifiers",
        "year",
        "--k",
        "8",
        "--unit",
        "nr",
    ]
    code, shown, text = converse(directory, ["\n"] * 5, *options)
    assert code == 0, shown
    spec = Spec.parse(text)
    assert list(spec.quasi_identifiers) == ["race"]
    assert spec.keep == ("lwage",)
    assert "year" in spec.identifiers
    assert spec.privacy[0].to_dict() == {"k_anonymity": {"k": 8}}


@pytest.mark.slow
def test_a_preset_is_followed_whatever_is_answered(directory: Path) -> None:
    code, shown, text = converse(directory, ["\n", "\n", "\n", "\n", "5\n"], "--preset", "ema-0070")
    assert (code, text) == (2, ""), shown
    assert "ema-0070 asks for at least 12, got 5" in shown


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_who_leaves_gets_no_spec(directory: Path, key: str) -> None:
    """Ctrl-C and Ctrl-D."""
    code, shown, text = converse(directory, ["\n", key])
    assert (code, text) == (130, ""), shown
    assert "Traceback" not in shown
    assert "interrupted" in shown


def test_no_terminal(directory: Path) -> None:
    message = refused(run("init", "panel", "-d", directory / "x.duckdb", "--interactive"), 2)
    assert "needs a terminal" in message
    assert "--quasi-identifiers" in message


@pytest.mark.slow
def test_no_value_is_asked_about(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute("CREATE TABLE panel AS SELECT 'Zanzibar' AS city, i % 9 AS age FROM range(99) n(i)")
    code, shown, text = converse(tmp_path, ["\n"] * 5)
    assert code == 0
    assert "Zanzibar" not in shown + text
