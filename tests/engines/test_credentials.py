"""No secret part of what is given as a database is ever shown: by no message, log, result, file or name of one."""

from __future__ import annotations

import logging
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.cli.settings import settings_of
from kanon_sql.engines.databases import database_kind
from kanon_sql.errors import KanonError, SpecError
from tests.support.command_line import SPEC, VERBS, run

ONE, TWO = "Zwqjxone", "Zwqjxtwo"
"""Both halves of a password, with something between them that may end it for a parser."""

NOWHERE = "127.0.0.1:1"

KNOWN = ("postgresql", "postgres", "postgresql+psycopg", "mysql", "mariadb", "clickhouse", "clickhouses", "chdb",
         "spark",
         "sqlite", "duckdb", "redis", "mongodb+srv", "jdbc:postgresql", "snowflake", "oracle", "mssql")  # fmt: skip

PASSWORDS = st.sampled_from(["", *"/:@?#&;=%+,.! []'\"|~-_", "%40", "//", "@/", "://", "=1 x", "12/", ":1/"]).map(
    lambda between: f"{ONE}{between}{TWO}"
)
USERS = st.sampled_from(["ada", "", "a.da", "us/er", "ada@work", "ada%40work", "12"])
HOSTS = st.sampled_from([NOWHERE, "127.0.0.1:1", "[::1]:1", "", "127.0.0.1:x"])
KEYS = st.sampled_from(["password", "PWD", "motherduck_token", "token", "api_key", "sslpassword", "Secret", "pass"])
NAMES = st.sampled_from(["clinic", "", "clinic/x", "/data/clinic", "clinic.duckdb", "./clinic", "C:\\clinic"])


@st.composite
def databases(draw: st.DrawFn) -> str:
    """A text that somebody may give as a database, with a password in it somewhere."""
    password, user, host, key, name = (draw(part) for part in (PASSWORDS, USERS, HOSTS, KEYS, NAMES))
    scheme = draw(st.sampled_from(KNOWN))
    word = password if draw(st.booleans()) else f"'{password}'"
    return draw(
        st.sampled_from(
            [
                f"{scheme}://{user}:{password}@{host}/{name}",
                f"{scheme}://{user}@{host}/{name}?{key}={password}",
                f"{scheme}://{host}/{name}?x=1&{key}={password}",
                f"{scheme}://{host}/{name};{key}={password}",
                f"{scheme}://{host}/{name}&{key}={password}",
                f"{scheme}:///{name}?{key}={password}",
                f"{scheme}:///{key}={password} host={host}",
                f"{scheme}:{user}:{password}@{host}/{name}",
                f"{scheme}:{key}={password}",
                f"{scheme}+{ONE}://{user}@{host}/{name}",
                f"{password}://{host}/{name}",
                f"{user}:{password}@{host}/{name}",
                f"//{user}:{password}@{host}/{name}",
                f"{user}/{password}@{host}/{name}",
                f"host={host} user={user} {key}={word} dbname={name}",
                f"{key}={word} host={host}",
                f" {key} = {word}",
                f"dbname={name}\t{key}={word}",
                f"Driver={{x}};Server={host};UID={user};{key}={password}",
                f"md:{name}?{key}={password}",
                f"motherduck:{name}?x=1&{key}={password}",
                f"postgres:host={host} {key}={password}",
                f"{name}?{key}={password}",
                f"./{name}?{key}={password}",
                f"/tmp/{name}?{key}={password}",
                f":memory:?{key}={password}",
                f":memory:{ONE} {key}={password}",
                f'{{"host": "{host}", "{key}": "{password}"}}',
                f"{key}: {password}",
            ]
        )
    )


GIVEN = (
    f"md:clinic?motherduck_token={ONE}",
    f"host=127.0.0.1 port=1 user=ada password={ONE}",
    f"postgresql:ada:{ONE}@127.0.0.1/db",
    f"chdb:///tmp/kanon-nowhere?password={ONE}",
    f"postgresql://us/er:{ONE}@{NOWHERE}/db",
    f"clickhouse://ada:12/{ONE}@{NOWHERE}/db",
    f"postgresql://ada:x@{ONE}/{TWO}@{NOWHERE}/db",
    f"sqlite:///host=x password={ONE}",
    f"{ONE}://ada@host/db",
    f"postgresql+{ONE}://ada@{NOWHERE}/db",
    f"spark://{NOWHERE}?token={ONE}",
    f"sc://ada:12/{ONE}@{NOWHERE}",
    f"mysql://ada:x@{NOWHERE}/db;password={ONE}",
    f"postgresql://ada:{ONE}@{NOWHERE}/db",
)
"""Shapes that were printed once, or may be by a parser of URLs that reads them in another way."""


def refuse_shown(*said: str) -> None:
    for text in said:
        for secret in (ONE, TWO):
            assert secret.lower() not in text.lower(), text


@pytest.fixture
def no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that reads a host out of a password would look it up on the network; nothing is listening anyway."""

    def unknown(*_: Any, **__: Any) -> None:
        raise ConnectionRefusedError("connection refused")

    def refused(*given: Any, **options: Any) -> None:
        raise psycopg.OperationalError(f"connection refused: {given} {options}")  # as a driver may say it

    monkeypatch.setattr("socket.getaddrinfo", unknown)
    monkeypatch.setattr("psycopg.connect", refused)


def said_of(database: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    """All that is said when a database is opened: its error with what led to it, or its label, and what is logged."""
    caplog.clear()
    try:
        with kanon_sql.connect(database) as engine:
            return [engine.label, *caplog.messages]
    except KanonError as error:
        return [str(error), repr(error), str(error.__cause__ or ""), *caplog.messages]


@given(databases())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(GIVEN[0])
@example(GIVEN[1])
@example(GIVEN[2])
@example(GIVEN[3])
def test_no_secret_of_a_database_is_said_and_no_file_is_named_like_it(
    no_connection: None,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    database: str,
) -> None:
    os.chdir(tmp_path)
    with caplog.at_level(logging.DEBUG, logger="kanon_sql"):
        refuse_shown(*said_of(database, caplog))
    refuse_shown(*capfd.readouterr(), *map(str, tmp_path.rglob("*")))


@pytest.mark.parametrize("database", GIVEN)
@pytest.mark.parametrize("how", ["option", "variable", "file"])
@pytest.mark.sampled(4)
def test_no_secret_is_shown_wherever_a_database_is_named(
    how: str, database: str, no_connection: None, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: Sequence[str] = ()
    if how == "option":
        options = ("-d", database)
    elif how == "variable":
        monkeypatch.setenv("KANON_SQL_DATABASE", database)
    else:
        (clinic / "kanon-sql.toml").write_text("database = '" + database.replace("'", "") + "'\n")
        try:
            settings_of(clinic, None)
        except SpecError as refused:
            refuse_shown(str(refused))
        else:
            assert ":" not in database.partition("://")[2].partition("@")[0], "a password is refused in a file"
    result = run("doctor", "--format", "json", "--verbose", *options)
    refuse_shown(result.output, str(result.stderr), repr(result.exception))
    assert result.exit_code in (2, 3)


def examples_of(verb: str) -> list[list[str]]:
    """The examples of a verb's help that name a database."""
    shown = run(*verb.split(), "--help").stdout.partition("Examples:")[2]
    lines = re.findall(r"^ +kanon-sql (.*)$", shown, re.MULTILINE)
    return [shlex.split(line.partition(" > ")[0]) for line in lines if " -d " in line]


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_shows_a_secret(verb: str, no_connection: None, clinic: Path) -> None:
    for name in ("strict.yml", "loose.yml", "files.yml", "visits.yml"):
        (clinic / name).write_text(SPEC)
    before = set(clinic.rglob("*"))
    verbose = ["--verbose"] if "--verbose" in run(*verb.split(), "--help").stdout else []
    for number, words in enumerate(examples_of(verb)[:2]):
        for database in GIVEN[VERBS.index(verb) % 4 + number :: 4]:
            given_one = [database if words[at - 1] == "-d" else word for at, word in enumerate(words)]
            result = run(*given_one, *verbose)
            refuse_shown(result.output, str(result.stderr), repr(result.exception))
            assert result.exit_code != 0, given_one
    for path in set(clinic.rglob("*")) - before:
        refuse_shown(str(path), path.read_text("utf-8", errors="replace") if path.is_file() else "")


@pytest.mark.parametrize(
    ("database", "kind"),
    [
        (":memory:", "memory"), (":memory:two", "memory"), ("clinic.duckdb", "file"), ("my clinic.duckdb", "file"),
        ("./a=b@c.duckdb", "file"), ("/data/k=5/clinic.duckdb", "file"), ("../x.db", "file"),
        ("C:\\data\\x.db", "file"),
        ("data/year=2026/x.db", None), ("/data/12:30.duckdb", "file"), ("md:clinic", "cloud"), ("md:", "cloud"),
        ("md:clinic?motherduck_token=x", "cloud"), ("postgresql://h/d", "url"), ("postgres:host=h", None),
        ("host=h", None), ("a?b", None), ("./a?b", None), ("", None), ("a\nb", None), ("x y://h", None),
    ],
)  # fmt: skip
def test_what_a_text_names(database: str, kind: str | None) -> None:
    if kind is not None:
        assert database_kind(database) == kind
        return
    with pytest.raises(SpecError):
        database_kind(database)


def test_a_label_tells_where_a_database_is_and_no_more(no_connection: None) -> None:
    for database, shown in (
        (f"postgresql://ada:{ONE}@10.0.0.1:5433/clinic?sslpassword={TWO}", "postgresql://10.0.0.1:5433/clinic"),
        (f"clickhouse://ada:{ONE}@10.0.0.1:1/clinic", "clickhouse://10.0.0.1:1/clinic"),
        (f"mysql://ada:{ONE}@10.0.0.1/clinic;x={TWO}", "mysql://10.0.0.1/..."),
    ):
        with pytest.raises(KanonError) as failed:
            kanon_sql.connect(database)
        assert f"cannot connect to {shown}" in str(failed.value)
        refuse_shown(str(failed.value))
