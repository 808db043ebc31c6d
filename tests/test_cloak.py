"""Cloaked positions: every row against a recursive quad-tree, and what is published, refused and verified."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from command_line import run
from conftest import Database
from hypothesis import given, settings
from hypothesis import strategies as st
from positions_oracle import EPOCH, Box, Oracle, Part, Point, exposed
from strategies import TIMES

import kanon_sql
from kanon_sql.errors import KanonError, SpecError, UnsupportedError, VerificationError
from kanon_sql.positions import cloak as climbing
from kanon_sql.report.json import cloak_schema

COLUMNS = {"n": "INTEGER", "who": "VARCHAR", "x": "DOUBLE", "y": "DECIMAL(6,3)", "t": "BIGINT", "wish": "INTEGER"}
START = 1_709_510_400
"""Monday, the 4th of March 2024."""

# Edges of cells, the corners of the area, and points beside them and outside.
COORDINATES = [Fraction(n, 8) for n in (-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17)]


@st.composite
def tables(draw: Any, *, days: int = 2, most: int = 24) -> list[Point]:
    places = st.sampled_from([*COORDINATES, None])
    times = st.builds(
        lambda day, hour, second: START + day * 86_400 + hour * 3_600 + second,
        st.integers(0, days - 1), st.sampled_from([0, 7, 8, 17]), st.sampled_from([0, 59, 60, 3_599]),
    )  # fmt: skip
    rows = st.tuples(st.integers(0, 6), places, places, times, st.sampled_from([1, 2, 2, 3, 5]))
    listed = draw(st.lists(rows, min_size=1, max_size=most))
    return [Point(number, f"p{row[0]}", *row[1:]) for number, row in enumerate(listed)]


@st.composite
def shapes(draw: Any) -> dict[str, Any]:
    depth = draw(st.integers(1, 3))
    return {
        "depth": depth,
        "coarsest": draw(st.integers(0, depth)),
        "neighbours": draw(st.booleans()),
        "widths": draw(st.sampled_from([[], [60], [3_600, 86_400], [60, 7_200, 14_400], [7_200, 172_800]])),
        "origin": draw(st.sampled_from([0, START, START + 50])),
        "time_first": draw(st.booleans()),
        "present": draw(st.booleans()),
        "wishes": draw(st.booleans()),
        "k": draw(st.integers(2, 4)),
    }


def spec_of(shape: dict[str, Any], **changes: Any) -> kanon_sql.CloakSpec:
    given: dict[str, Any] = {
        "version": 1, "source": "rows", "release": "cloaked", "unit": "who", "keep": ["n"],
        "position": {
            "columns": ["x", "y"], "bounds": [0, 0, 2, 2], "outside": "suppress",
            **{key: shape[key] for key in ("depth", "coarsest", "neighbours")},
        },
        "k": {"column": "wish", "default": 2} if shape["wishes"] else shape["k"],
        "anonymity_set": "present" if shape["present"] else "released",
        "suppression": {"limit": 1.0},
    }  # fmt: skip
    if shape["widths"]:
        given["time"] = {"column": "t", "widths": shape["widths"], "origin": shape["origin"]}
        given["coarsen"] = "time" if shape["time_first"] else "space"
    return kanon_sql.CloakSpec.from_dict({**given, **changes})


def oracle_of(shape: dict[str, Any]) -> Oracle:
    area = Box(Fraction(0), Fraction(0), Fraction(2), Fraction(2))
    return Oracle(area, **{key: item for key, item in shape.items() if key not in ("wishes", "k")})


def with_wishes(points: list[Point], shape: dict[str, Any]) -> list[Point]:
    return points if shape["wishes"] else [p._replace(wish=shape["k"]) for p in points]


def stored(database: Database, points: list[Point]) -> None:
    rows = [
        (p.row, p.who, None if p.x is None else float(p.x), None if p.y is None else Decimal(float(p.y)), p.t, p.wish)
        for p in points
    ]
    database.table("rows", COLUMNS, rows)


def interval(text: str) -> tuple[Fraction, Fraction]:
    low, high = re.fullmatch(r"\[(\S+), (\S+)\)", text).groups()  # type: ignore[union-attr]
    return Fraction(low), Fraction(high)


def released(database: Database, *, timed: bool) -> dict[int, tuple[Box, tuple[int, int] | None]]:
    """The row -> its label, as the published table says it."""
    found = {}
    for row in database.rows("cloaked"):
        number, x, y = row[:3]
        (x0, x1), (y0, y1) = interval(x), interval(y)
        found[number] = Box(x0, y0, x1, y1), tuple(map(int, interval(row[3]))) if timed else None
    return found  # type: ignore[return-value]


@given(tables(), shapes())
@settings(max_examples=60 * max(1, TIMES))
def test_every_row_has_the_cell_of_the_oracle(
    shared_database: Database, points: list[Point], shape: dict[str, Any]
) -> None:
    points = with_wishes(points, shape)
    stored(shared_database, points)
    shared_database._connection.execute("DROP TABLE IF EXISTS cloaked")
    result = kanon_sql.cloak(shared_database.engine, spec_of(shape))
    expected = oracle_of(shape).labels(points)
    assert result.rows["released"] == len(expected)
    assert result.rows["suppressed"] == len(points) - len(expected)
    assert result.passed == bool(expected)
    if not expected:
        return
    assert released(shared_database, timed=bool(shape["widths"])) == expected
    people: dict[Any, set[Any]] = {}
    for p in points:
        if p.row in expected:
            people.setdefault(expected[p.row], set()).add(p.who)
    assert result.classes == len(people)
    assert result.fewest_people == min(map(len, people.values()))
    assert sum(level.rows for level in result.levels) == len(expected)
    assert sum(level.cells for level in result.levels) == len(people)
    if not shape["present"]:  # what is promised: the rows of a label are of as many people as any of them wishes for
        assert all(len(people[expected[p.row]]) >= p.wish for p in points if p.row in expected)


AREAS = [[0, 0, 1, 1], [0.5, 0.5, 2, 2], [0, 0, 2, 2], [1, 0, 2, 0.625]]
TIMES_OF_DAY = [["00:00", "24:00"], ["07:00", "09:00"], ["08:00", "17:00:01"]]


@st.composite
def patterns(draw: Any) -> dict[str, Any]:
    element = st.builds(
        lambda area, between: {"area": area, "between": between}, st.sampled_from(AREAS), st.sampled_from(TIMES_OF_DAY)
    )
    return {
        "elements": draw(st.lists(element, min_size=1, max_size=3)),
        "days": draw(st.integers(1, 2)),
        "weeks": draw(st.integers(1, 2)),
        "weekdays": draw(st.booleans()),
    }


@given(tables(days=9, most=40), shapes(), patterns())
@settings(max_examples=60 * max(1, TIMES))
def test_histories_are_those_of_the_oracle(
    shared_database: Database, points: list[Point], shape: dict[str, Any], pattern: dict[str, Any]
) -> None:
    shape = {**shape, "widths": shape["widths"] or [86_400]}
    points = with_wishes(points, shape)
    stored(shared_database, points)
    shared_database._connection.execute("DROP TABLE IF EXISTS cloaked")
    result = kanon_sql.cloak(shared_database.engine, spec_of(shape, lbqids={"p": pattern}))
    oracle = oracle_of(shape)
    labels = oracle.labels(points)
    parts = [
        Part(Box(*map(Fraction, element["area"])), *map(_seconds, element["between"]))
        for element in pattern["elements"]
    ]
    inside = [p for p in points if oracle.area.has(p) and p.t >= oracle.origin]
    matching, lost, fewest = exposed(inside, labels, parts, pattern["days"], pattern["weeks"], pattern["weekdays"])
    if labels:
        assert result.lbqids == {"p": {"matching": matching, "exposed": lost, "fewest": fewest}}
        assert result.passed == (lost == 0)
    assert ("cloaked" in shared_database.tables()) == result.passed


def _seconds(text: str) -> int:
    parts = [*map(int, text.split(":")), 0]
    return parts[0] * 3_600 + parts[1] * 60 + parts[2]
