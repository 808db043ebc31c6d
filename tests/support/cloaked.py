"""Specs of cloaked positions, and what is released of them."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

import kanon_sql
from tests.conftest import Database
from tests.oracles.positions import Box, Point

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
        "origin": draw(st.sampled_from([0, START, START + 50, START + 30_000])),
        "time_first": draw(st.booleans()),
        "present": draw(st.booleans()),
        "wishes": draw(st.booleans()),
        "k": draw(st.integers(2, 4)),
    }


def spec_of(shape: dict[str, Any], **changes: Any) -> kanon_sql.CloakSpec:
    given: dict[str, Any] = {
        "version": 1, "kind": "positions", "source": "rows", "release": "cloaked", "unit": "who", "keep": ["n"],
        "position": {
            "columns": ["x", "y"], "bounds": [0, 0, 2, 2], "outside": "suppress",
            **{key: shape[key] for key in ("depth", "coarsest", "neighbours")},
        },
        "k": {"column": "wish", "default": 2} if shape["wishes"] else shape["k"],
        "anonymity_set": "present" if shape["present"] else "released",
        "suppression": {"max_share": 1.0},
    }  # fmt: skip
    if shape["widths"]:
        given["time"] = {"column": "t", "widths": shape["widths"], "origin": shape["origin"]}
        given["coarsen"] = "time" if shape["time_first"] else "space"
    return kanon_sql.CloakSpec.from_dict({**given, **changes})


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


def cloaked(database: Database, rows: list[tuple[Any, ...]], **changes: Any) -> kanon_sql.results.CloakResult:
    """Rows of (number, who, x, y, seconds); the area is 8 x 8, and cells are 1 x 1 at the finest."""
    database.table("rows", {**COLUMNS, "y": "DOUBLE"}, [(*row, None) for row in rows])
    spec: dict[str, Any] = {
        "version": 1, "kind": "positions", "source": "rows", "release": "cloaked", "unit": "who", "keep": ["n"],
        "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3}, "k": 2,
    }  # fmt: skip
    return kanon_sql.cloak(database.engine, kanon_sql.CloakSpec.from_dict({**spec, **changes}))


HOME, OFFICE = {"area": [0, 0, 1, 1]}, {"area": [7, 7, 8, 8]}


COMMUTE = {
    "elements": [
        {**HOME, "between": ["07:00", "08:00"]}, {**OFFICE, "between": ["08:00", "09:00"]},
        {**OFFICE, "between": ["16:00", "18:00"]}, {**HOME, "between": ["17:00", "19:00"]},
    ],
    "days": 3, "weeks": 2, "weekdays": True,
}  # fmt: skip
"""The commute that Bettini et al. (2005) describe: on three weekdays of two weeks."""


def commuting(who: str, days: list[int], first: int) -> list[tuple[Any, ...]]:
    """Trips of a person on days after a Monday, as numbered rows."""
    trips = [(0.5, 7.5), (7.5, 8.5), (7.5, 17), (0.5, 18)]
    listed = [(place, place, START + day * 86_400 + int(hour * 3_600)) for day in days for place, hour in trips]
    return [(first + number, who, *row) for number, row in enumerate(listed)]
