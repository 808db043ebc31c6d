"""SUDA in `risk`: special uniques and their scores, against a table by hand and brute force over sets of columns."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.engines.base import Engine
from kanon_sql.errors import SpecError
from kanon_sql.report.html import run_report
from kanon_sql.report.run import read_run
from tests.conftest import Database
from tests.oracles.suda import dis_suda, minimal_uniques, scores
from tests.servers import subject_of

TYPES = {"sex": "text", "age": "integer", "job": "text", "town": "text"}

ROWS = [
    ("f", 1, "a", "x"),
    ("f", 1, "a", "x"),
    ("f", 2, "a", "x"),
    ("m", 1, "b", "x"),
    ("m", 2, "a", "y"),
]
"""Of 4 columns. A set of one column scores 3 * 2 * 1 = 6, one of two 2, one of three 1.

The third row is alone by {sex, age} and {age, town}, the fourth by its job, {sex, age} and {sex, town}, the fifth by
its town, {sex, age} and {sex, job}.
"""


def measured(engine: Engine, largest: int, **more: Any) -> Any:
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "quasi_identifiers": {name: {} for name in TYPES},
            "privacy": [{"k_anonymity": {"k": 2}}],
        }
    )  # fmt: skip
    return kanon_sql.risk(engine, spec, special_uniques=largest, **more)


def test_a_table_by_hand(database: Database) -> None:
    database.table("people", TYPES, ROWS)
    found = minimal_uniques(ROWS, 3)
    assert found == [[], [], [(0, 1), (1, 3)], [(2,), (0, 1), (0, 3)], [(3,), (0, 1), (0, 2)]]
    assert scores(found, 4) == [0, 0, 4, 10, 10]
    result = measured(database.engine, 3, sampling_fraction=0.1).suda
    assert [tuple(item.values()) for item in result.sizes] == [(1, 2, 2), (2, 6, 1), (3, 0, 0)]
    assert (result.records, result.highest_score) == (3, 10)
    # Of 24: sex has five sets of two; age four; job one of one and one of two; town one of one and two of two.
    assert {item["column"]: item["share"] for item in result.contributions} == {
        "sex": 10 / 24, "age": 8 / 24, "job": 8 / 24, "town": 10 / 24,
    }  # fmt: skip
    # Three uniques, one pair: 0.3 / (0.3 + 2 * 0.9).
    assert result.dis == pytest.approx(1 / 7)


def test_the_command_shows_them(tmp_path: Any, database: Database) -> None:
    database.table("people", TYPES, ROWS)
    found = measured(database.engine, 2, sampling_fraction=0.1)
    text, page = str(found), run_report(read_run(found.to_dict(), "this measurement"))
    assert "Special uniques (SUDA)" in text
    assert "Special uniques (SUDA)" in page
    assert "highest DIS-SUDA" in text
    assert "special uniques" in CliRunner().invoke(app, ["risk", "--help"], env={"COLUMNS": "200"}).output


def random_rows(rng: random.Random) -> list[tuple[Any, ...]]:
    values = ["f", "m"], [1, 2, 3], ["a", "b", None], ["x", "y", None]
    return [tuple(rng.choice(own) for own in values) for _ in range(rng.choice([1, 6, 15, 30]))]


def assert_measured(engine: Engine, rows: list[tuple[Any, ...]], largest: int, fraction: float) -> None:
    found = minimal_uniques(rows, largest)
    scored = scores(found, 4)
    result = measured(engine, largest, sampling_fraction=fraction).suda
    smallest = Counter(min(map(len, own)) for own in found if own)
    msus = Counter(len(own) for sets in found for own in sets)
    assert [(item["msus"], item["records"]) for item in result.sizes] == [
        (msus[size], smallest[size]) for size in range(1, min(largest, 4) + 1)
    ]
    assert result.records == sum(map(bool, found))
    assert result.highest_score == (max(scored) or None)
    whole = scored
    for place, item in enumerate(result.contributions):
        own = scores([[one for one in sets if place in one] for sets in found], 4)
        assert item["share"] == (pytest.approx(sum(own) / sum(whole)) if sum(whole) else None)
    if not any(count == 1 for count in Counter(rows).values()):
        assert (result.dis, result.highest_dis_suda, result.dis_suda) == (None, None, [])
        return
    dis, shares = dis_suda(rows, scored, fraction)
    assert result.dis == pytest.approx(dis)
    if any(scored):
        assert result.highest_dis_suda == pytest.approx(max(shares))
        assert sum(item["records"] for item in result.dis_suda) == sum(map(bool, scored))
        below = sum(1 for share, score in zip(shares, scored, strict=True) if score and share <= 0.5)
        assert sum(item["records"] for item in result.dis_suda[:5]) == below


def test_random_tables(database: Database) -> None:
    rng = random.Random(3)
    for _ in range(6):
        rows = random_rows(rng)
        database.table("people", TYPES, rows)
        assert_measured(database.engine, rows, rng.randint(1, 5), rng.choice([0.01, 0.5, 1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["postgres", "sqlite", "mariadb", "clickhouse", pytest.param("spark", marks=pytest.mark.campaign)]
)
def test_random_tables_elsewhere(name: str) -> None:
    rng = random.Random(4)
    with subject_of(name) as subject:
        engine = subject.connect()
        subject.table("people", TYPES, ROWS)
        for _ in range(2):
            rows = random_rows(rng)
            subject.drop("people")
            subject.table("people", TYPES, rows)
            assert_measured(engine, rows, rng.randint(2, 4), 0.1)
        engine.close()


def test_what_is_refused(database: Database) -> None:
    database.table("people", {**TYPES, **{f"c{n}": "integer" for n in range(30)}}, [(*ROWS[0], *range(30))])
    with pytest.raises(SpecError, match="at least 1, got 0"):
        measured(database.engine, 0)
    with pytest.raises(SpecError, match="4,525 sets of up to 3; at most 250 are looked at"):
        measured(database.engine, 3, columns=[f"c{n}" for n in range(30)])
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "unit": "c1", "quasi_identifiers": {"sex": {}},
            "privacy": [{"k_anonymity": {"k": 2}}],
        }
    )  # fmt: skip
    with pytest.raises(SpecError, match="SUDA is defined for rows"):
        kanon_sql.risk(database.engine, spec, special_uniques=1)
