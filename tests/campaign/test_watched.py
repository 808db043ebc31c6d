"""Kills at random moments, and a reader that looks all the while: the short form, and that the reader sees a fault."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import VerificationError
from kanon_sql.release import write
from tests import ROOT
from tests.campaign.cases import people
from tests.campaign.kills import PUBLISHED, REFUSED
from tests.campaign.places import DuckDBPlace
from tests.campaign.watched import MAY_BE_READ, SPECS, WATCHES, ThreeTables, wrong_in
from tests.conftest import Database

SHORT = {"duckdb": 5, "sqlite": 5, "postgres": 5, "mariadb": 5, "clickhouse": 1}
SECONDS = 3
LONG = 500


def assert_kills_break_nothing(name: str, kills: int, seconds: float, *more: str) -> None:
    """In a process of its own, which must not have opened chDB: its runs are forked."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.campaign.watched", name, f"--kills={kills}", f"--seconds={seconds}", *more],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
@pytest.mark.campaign_on("mariadb", "sqlite")
def test_a_few_kills(name: str) -> None:
    assert_kills_break_nothing(name, SHORT[name], SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
@pytest.mark.campaign_on("mariadb", "sqlite", "duckdb")
def test_a_few_kills_while_three_tables_are_published(name: str) -> None:
    assert_kills_break_nothing(name, SHORT[name], SECONDS, "--several")


@pytest.mark.campaign
@pytest.mark.parametrize("more", [(), ("--several",)], ids=["one", "several"])
@pytest.mark.parametrize("name", WATCHES)
def test_many_kills(name: str, more: tuple[str, ...]) -> None:
    if name != "spark" or not more:
        assert_kills_break_nothing(name, LONG, 4 * 3600, *more)


def test_what_the_reader_may_see() -> None:
    """By hand: all 24 rows with a band of 20 years and their sex, or with a band of 10 years and no sex."""
    first = Counter((sex, "[20, 40)", dx) for _, sex, _, dx in people())
    second = Counter(("*", f"[{age // 10 * 10}, {age // 10 * 10 + 10})", dx) for _, _, age, dx in people())
    assert {"first": first, "second": second} == MAY_BE_READ


def failing(publishes: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise VerificationError("verification: this one fails")

    monkeypatch.setattr(write, "_verify", fails)
    with pytest.raises(VerificationError):
        publishes()


def test_the_reader_sees_what_it_must_not(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing, another release, one that is not whole; and it takes no error of a busy file for nothing."""

    def fetch(sql: str) -> Any:
        return database._run(sql).fetchall()

    database.table("people", {"name": "TEXT", "sex": "TEXT", "age": "INTEGER", "dx": "TEXT"}, people())
    assert "nothing is there" in str(wrong_in(fetch))
    for name in ("first", "second"):
        kanon_sql.anonymize(database.engine, SPECS[name]).raise_for_failure()
        assert wrong_in(fetch) is None
    with monkeypatch.context() as patch:
        failing(lambda: kanon_sql.anonymize(database.engine, SPECS["failing"]), patch)
    assert wrong_in(fetch) is None, "what was not verified is not there"
    kanon_sql.anonymize(database.engine, SPECS["failing"]).raise_for_failure()
    assert "24 rows that were not published" in str(wrong_in(fetch))
    kanon_sql.anonymize(database.engine, SPECS["first"]).raise_for_failure()
    database._run("DELETE FROM people_release WHERE dx = 'd1'")
    assert "16 rows that were not published" in str(wrong_in(fetch))

    def busy(_: str) -> Any:
        raise RuntimeError("database is locked")

    assert wrong_in(busy) is None


@pytest.mark.slow
def test_the_reader_sees_tables_of_two_releases() -> None:
    """Of three, one of another release, or none; and where some may be missing, marks of two runs."""
    place, what = DuckDBPlace(), ThreeTables("duckdb")
    try:
        what.fill(place._subject_like().table)
        place.detach()
        for name in ("first", "second", "failing"):
            with place.connect() as engine:
                assert what.publish(engine, name) == (REFUSED if name == "failing" else PUBLISHED)
            assert what.wrong_in(place.fetch) is None
            place.detach()
        place.execute("CREATE OR REPLACE TABLE stays AS SELECT sid, id, ward, sno FROM ready_stays WHERE node = '010'")
        assert "60 rows that were not published" in str(what.wrong_in(place.fetch))
        place.execute("DROP TABLE stays")
        assert "nothing is there" in str(what.wrong_in(place.fetch))
    finally:
        place.close()
    marks = ThreeTables("clickhouse")
    assert marks.wrong_in(lambda _: [("persons", "by kanon_sql, run a"), ("drugs", "by kanon_sql, run a 2")]) is None
    assert "not published" in str(
        marks.wrong_in(lambda _: [("persons", "by kanon_sql, run a"), ("drugs", "by kanon_sql, run b 2")])
    )
