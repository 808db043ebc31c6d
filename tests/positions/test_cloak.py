"""Cloaked positions: every row against a recursive quad-tree, and what is published, refused and verified."""

from __future__ import annotations

import json
import random
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
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import KanonError, UnsupportedError, VerificationError
from kanon_sql.report.json import cloak_schema
from tests import ROOT
from tests.conftest import Database
from tests.oracles.positions import EPOCH, Box, Oracle, Part, Point, exposed
from tests.support.command_line import run
from tests.support.strategies import TIMES

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
@settings(max_examples=30 * TIMES or 15)
def test_every_row_has_the_cell_of_the_oracle(
    shared_database: Database, points: list[Point], shape: dict[str, Any]
) -> None:
    compare_labels(shared_database, points, shape)


@pytest.mark.slow
@given(tables(most=60), shapes())
@settings(max_examples=60 * TIMES or 20)
def test_every_row_of_more_tables_has_the_cell_of_the_oracle(
    shared_database: Database, points: list[Point], shape: dict[str, Any]
) -> None:
    compare_labels(shared_database, points, shape)


def compare_labels(shared_database: Database, points: list[Point], shape: dict[str, Any]) -> None:
    points = with_wishes(points, shape)
    stored(shared_database, points)
    shared_database._connection.execute("DROP TABLE IF EXISTS cloaked")
    with pytest.MonkeyPatch.context() as patch:
        if len(points) % 2:  # cells are looked up in as many statements as pay when a statement costs nothing
            patch.setattr("kanon_sql.positions.assign.ANOTHER", 0)
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
@settings(max_examples=25 * TIMES or 12)
def test_histories_are_those_of_the_oracle(
    shared_database: Database, points: list[Point], shape: dict[str, Any], pattern: dict[str, Any]
) -> None:
    compare_histories(shared_database, points, shape, pattern)


@pytest.mark.slow
@given(tables(days=9, most=80), shapes(), patterns())
@settings(max_examples=60 * TIMES or 20)
def test_histories_of_more_tables_are_those_of_the_oracle(
    shared_database: Database, points: list[Point], shape: dict[str, Any], pattern: dict[str, Any]
) -> None:
    compare_histories(shared_database, points, shape, pattern)


def compare_histories(
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
    matching, lost, fewest = exposed(
        [p for p in points if p.t >= 0], labels, parts, pattern["days"], pattern["weeks"], pattern["weekdays"]
    )
    if labels:
        assert result.lbqids == {"p": {"matching": matching, "exposed": lost, "fewest": fewest}}
        assert result.passed == (lost == 0)
    assert ("cloaked" in shared_database.tables()) == result.passed


def _seconds(text: str) -> int:
    parts = [*map(int, text.split(":")), 0]
    return parts[0] * 3_600 + parts[1] * 60 + parts[2]


# --- What the papers describe --------------------------------------------------------------


def cloaked(database: Database, rows: list[tuple[Any, ...]], **changes: Any) -> kanon_sql.CloakResult:
    """Rows of (number, who, x, y, seconds); the area is 8 x 8, and cells are 1 x 1 at the finest."""
    database.table("rows", {**COLUMNS, "y": "DOUBLE"}, [(*row, None) for row in rows])
    spec: dict[str, Any] = {
        "version": 1, "kind": "positions", "source": "rows", "release": "cloaked", "unit": "who", "keep": ["n"],
        "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3}, "k": 2,
    }  # fmt: skip
    return kanon_sql.cloak(database.engine, kanon_sql.CloakSpec.from_dict({**spec, **changes}))


def shown(database: Database) -> dict[int, tuple[str, ...]]:
    return {row[0]: row[1:] for row in database.rows("cloaked")}


def test_who_is_far_from_others_is_not_given_away_by_the_size_of_their_cell(database: Database) -> None:
    """The outlier of Kalnis et al. (2007): three people in a quadrant, and one outside of it, whose cell is larger.

    With the whole area as their label everybody knows who the fourth one is, although four people are in it. So people
    count by default who have the very same label, which Kalnis et al. call reciprocity.
    """
    rows = [(1, "a", 0.5, 0.5, 0), (2, "b", 1.5, 1.5, 0), (3, "c", 0.5, 1.5, 0), (4, "d", 6.5, 6.5, 0)]
    result = cloaked(database, rows, k=3, suppression={"max_rows": 1})
    assert shown(database) == dict.fromkeys((1, 2, 3), ("[0, 2)", "[0, 2)"))
    assert (result.rows["suppressed"], result.fewest_people) == (1, 3)
    refused = cloaked(database, rows, k=3)
    assert not refused.passed
    assert "1 row of 4 would have to be left out, and at most 0 may be" in refused.message
    weaker = cloaked(database, rows, k=3, anonymity_set="present")
    assert shown(database)[4] == ("[0, 8)", "[0, 8)")
    assert (weaker.fewest_present, weaker.fewest_people) == (3, 1)
    assert any("as few as 1 people have rows with the same label" in note for note in weaker.notes)


@pytest.mark.slow
def test_the_quadrant_is_divided_as_long_as_enough_people_are_in_it(database: Database) -> None:
    """Gruteser and Grunwald (2003), section 4.1: the quadrant before the one with fewer than k people."""
    rows = [(n, f"p{n}", x, y, 0) for n, (x, y) in enumerate([(0.5, 0.5), (0.6, 0.6), (1.5, 0.5), (3.5, 3.5), (7, 7)])]
    for k, expected in ((2, "[0, 1)"), (3, "[0, 2)"), (4, "[0, 4)"), (5, "[0, 8)")):
        assert cloaked(database, rows, k=k, anonymity_set="present").passed
        assert shown(database)[0][0] == expected


def test_a_request_waits_until_enough_people_were_there(database: Database) -> None:
    """Gruteser and Grunwald (2003), section 4.2: time is coarsened first, so that the cell stays small."""
    rows = [(1, "a", 0.5, 0.5, 10), (2, "b", 0.5, 0.5, 70), (3, "c", 7.5, 7.5, 20)]
    time = {"column": "t", "widths": [60, 3600]}
    limit = {"max_rows": 1}
    assert cloaked(database, rows, time=time, coarsen="time", suppression=limit).passed
    assert shown(database) == dict.fromkeys((1, 2), ("[0, 1)", "[0, 1)", "[0, 3600)"))
    assert cloaked(database, rows, time=time, coarsen="space", suppression=limit).passed
    assert shown(database) == dict.fromkeys((1, 3), ("[0, 8)", "[0, 8)", "[0, 60)"))


def test_all_who_were_there_count_whatever_slice_their_own_rows_have(database: Database) -> None:
    rows = [(1, "a", 0.5, 0.5, 0), (2, "b", 0.5, 0.5, 0), (3, "c", 0.5, 0.5, 70)]
    time = {"column": "t", "widths": [60, 3600]}
    assert cloaked(database, rows, time=time, anonymity_set="present").passed
    minute, hour = ("[0, 1)", "[0, 1)", "[0, 60)"), ("[0, 1)", "[0, 1)", "[0, 3600)")
    assert shown(database) == {1: minute, 2: minute, 3: hour}


def test_a_neighbour_is_tried_before_the_parent(database: Database) -> None:
    """Mokbel et al. (2006): a cell and its horizontal or vertical neighbour are half of their parent."""
    rows = [(1, "a", 0.5, 0.5, 0), (2, "b", 1.5, 0.5, 0), (3, "c", 4.5, 4.5, 0), (4, "d", 4.5, 5.5, 0)]
    position = {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3, "neighbours": True}
    result = cloaked(database, rows, position=position)
    beside, above = ("[0, 2)", "[0, 1)"), ("[4, 5)", "[4, 6)")
    assert shown(database) == {1: beside, 2: beside, 3: above, 4: above}
    assert [(level.shape, level.depth) for level in result.levels] == [("beside", 3), ("above", 3)]
    cloaked(database, rows)
    assert shown(database)[3] == ("[4, 6)", "[4, 6)")


def test_who_wishes_for_many_does_not_keep_others_from_what_they_wish_for(database: Database) -> None:
    """Gedik and Liu (2005): every message has a k of its own, and as many share its label."""
    rows = [(1, "a", 0.5, 0.5, 0, 2), (2, "b", 0.6, 0.6, 0, 2), (3, "c", 0.7, 0.7, 0, 4), (4, "d", 7.5, 7.5, 0, None),
            (5, "e", 7.5, 0.5, 0, 4), (6, "f", 0.5, 7.5, 0, 4)]  # fmt: skip
    database.table("rows", {**COLUMNS, "y": "DOUBLE"}, rows)
    spec = kanon_sql.CloakSpec.from_dict(
        {
            "version": 1, "kind": "positions", "source": "rows", "release": "cloaked", "unit": "who", "keep": ["n"],
            "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3},
            "k": {"column": "wish", "default": 3},
        }
    )  # fmt: skip
    result = kanon_sql.cloak(database.engine, spec)
    assert shown(database) == dict.fromkeys((1, 2), ("[0, 1)", "[0, 1)")) | dict.fromkeys(
        (3, 4, 5, 6), ("[0, 8)", "[0, 8)")
    )
    assert result.fewest_people == 2
    assert "as many people with the same label as the k of each row asks for" in result.message


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


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("days", "matching"),
    [([0, 1, 2, 7, 8, 9], 1), ([0, 1, 2, 7, 8], 0), ([0, 4, 5, 7, 8, 9], 0), ([4, 3, 2, 13, 11, 10, 7], 1)],
)
def test_a_commute_that_two_others_share_on_some_days_only_gives_somebody_away(
    database: Database, days: list[int], matching: int
) -> None:
    """Every single row is among three people's, and still one of them alone has all of them."""
    rows = commuting("a", days, 0)
    rows += commuting("b", days[::2], 100) + commuting("c", days[1::2], 200)
    rows += commuting("d", days[::2], 300) + commuting("e", days[1::2], 400)
    time = {"column": "t", "widths": [3600]}
    result = cloaked(database, rows, k=3, time=time, lbqids={"commute": COMMUTE})
    assert result.fewest_people == 3
    assert result.lbqids == {"commute": {"matching": matching, "exposed": matching, "fewest": 1 if matching else None}}
    assert result.passed == (not matching)
    assert ("cloaked" in database.tables()) == result.passed
    if matching:
        assert "commute (1 of 1)" in result.message
        together = rows + commuting("f", days, 500)
        nearly = cloaked(database, together, k=3, time=time, lbqids={"commute": COMMUTE})
        assert nearly.lbqids["commute"] == {"matching": 2, "exposed": 2, "fewest": 2}
        together += commuting("g", days, 600)
        shared = cloaked(database, together, k=3, time=time, lbqids={"commute": COMMUTE})
        assert shared.passed
        assert shared.lbqids["commute"] == {"matching": 3, "exposed": 0, "fewest": 3}
        ((manifest,),) = database.connection.execute("SELECT manifest FROM kanon_sql_manifest").fetchall()
        assert json.loads(manifest)["cloaked"]["lbqids"] == ["commute"]
        assert "07:00" not in manifest


ONCE = [{**HOME, "between": ["07:00", "09:00"]}]
TWICE = [*ONCE, {**HOME, "between": ["08:00", "10:00"]}]
SUNDAY = 6


@pytest.mark.parametrize(
    ("pattern", "times", "matching"),
    [
        ({"elements": ONCE}, [(0, 7)], 1),
        ({"elements": ONCE}, [(0, 9)], 0),  # the time ends before nine
        ({"elements": TWICE}, [(0, 8.5)], 0),  # one row is not two elements
        ({"elements": TWICE}, [(0, 8.5), (0, 8.75)], 1),
        ({"elements": TWICE}, [(0, 7), (0, 9.5)], 1),
        ({"elements": [ONCE[0], {**HOME, "between": ["00:00", "07:00"]}]}, [(0, 8), (0, 6)], 0),  # the other way round
        ({"elements": TWICE}, [(0, 7), (1, 9.5)], 0),  # on two days
        ({"elements": ONCE, "days": 2}, [(SUNDAY, 8), (SUNDAY + 1, 8)], 0),  # in two weeks
        ({"elements": ONCE, "days": 2}, [(0, 8), (SUNDAY, 8)], 1),
        ({"elements": ONCE, "days": 2}, [(0, 8), (0, 8.5)], 0),
        ({"elements": ONCE, "weekdays": True}, [(SUNDAY, 8)], 0),
        ({"elements": ONCE, "weekdays": True}, [(4, 8)], 1),
        ({"elements": ONCE, "weeks": 2}, [(0, 8), (1, 8)], 0),
        ({"elements": ONCE, "weeks": 2}, [(1, 8), (7, 8)], 1),
    ],
)  # fmt: skip
def test_whose_history_matches(
    database: Database, pattern: dict[str, Any], times: list[tuple[int, float]], matching: int
) -> None:
    """Somebody at home; somebody else is elsewhere at the same times."""
    rows = [(n, who, place, place, START + day * 86_400 + int(hour * 3_600))
            for n, (day, hour) in enumerate(times) for who, place in (("a", 0.5), ("b", 7.5))]  # fmt: skip
    result = cloaked(database, rows, time={"column": "t", "widths": [10**9]}, lbqids={"p": pattern})
    assert result.lbqids["p"]["matching"] == matching
    assert result.passed


def test_what_is_left_out_of_a_release_is_not_shared_and_still_tells_who_matches(database: Database) -> None:
    """A person's two mornings match, and one of them is left out: what has to be shared is the other one."""
    rows = [(n, who, 0.5, 0.5, START + day * 86_400 + 8 * 3_600)
            for n, (who, day) in enumerate([("a", 0), ("b", 0), ("a", 1)])]  # fmt: skip
    options = {"time": {"column": "t", "widths": [3_600]}, "suppression": {"max_rows": 1}}
    result = cloaked(database, rows, lbqids={"p": {"elements": ONCE, "days": 2}}, **options)
    assert result.rows["suppressed"] == 1
    assert result.lbqids == {"p": {"matching": 1, "exposed": 0, "fewest": 2}}


@pytest.mark.parametrize(
    ("x", "day", "time", "matching"),
    [
        (0.5, -1, {"origin": START}, 1),  # before the first slice
        (8.5, 0, {}, 1),  # beside the area that is released
        (1008.0, 0, {}, 1),  # far away from it, where an area is
        (1010.0, 0, {}, 0),  # where none is
        (None, 0, {}, 0),
    ],
)
def test_who_matches_outside_of_what_is_released_matches(
    database: Database, x: float | None, day: int, time: dict[str, Any], matching: int
) -> None:
    """Somebody was elsewhere in the morning, or on the day before, and that row is left out; the other one is theirs.

    The area of the pattern reaches over the bounds.
    """
    places = [("a", x, day, 7), ("a", 0.5, 0 if day == 0 else 1, 8), ("b", 0.5, 0 if day == 0 else 1, 8)]
    rows = [(n, who, x, 0.5, START + at * 86_400 + hour * 3_600) for n, (who, x, at, hour) in enumerate(places)]
    elements = [{"area": [0, 0, 1010, 1], "between": ["07:00", "08:00"]}, {**HOME, "between": ["08:00", "09:00"]}]
    pattern = {"elements": elements} if day == 0 else {"elements": ONCE, "weeks": 2}
    options: dict[str, Any] = {"suppression": {"max_rows": 1}, "lbqids": {"p": pattern}}
    options["position"] = {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3, "outside": "suppress"}
    result = cloaked(database, rows, time={"column": "t", "widths": [3_600], **time}, **options)
    assert result.lbqids["p"]["matching"] == matching


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time": {"column": "t", "widths": 86_400, "origin": 3_600}}, "begin with a day"),
        ({"lbqids": {"p": {"elements": ONCE}}}, "without a time of day"),
    ],
)
def test_what_dates_cannot_say_is_refused(database: Database, changes: dict[str, Any], words: str) -> None:
    """A slice that begins at one o'clock would be labelled with the day before, and no date is at eight o'clock."""
    spec: dict[str, Any] = {
        "version": 1, "kind": "positions",
        "source": {"query": "SELECT 1 AS who, 1 AS x, 1 AS y, DATE '2024-03-04' AS t"}, "unit": "who",
        "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3}, "k": 2,
        "time": {"column": "t", "widths": 86_400},
    }  # fmt: skip
    with pytest.raises(kanon_sql.SpecError, match=words):
        kanon_sql.cloak(database.engine, kanon_sql.CloakSpec.from_dict({**spec, **changes}))


def test_what_happens_on_other_days_does_not_have_to_be_shared(database: Database) -> None:
    """The pattern happens on Monday; half of it on Tuesday is no part of it."""
    rows = [(n, who, 0.5, 0.5, START + day * 86_400 + int(hour * 3_600)) for n, (who, day, hour) in enumerate(
        [("a", 0, 7.5), ("a", 0, 8.5), ("b", 0, 7.5), ("b", 0, 8.5), ("a", 1, 7.5), ("c", 1, 7.5)])]  # fmt: skip
    pattern = {"elements": [ONCE[0], {**HOME, "between": ["08:00", "10:00"]}]}
    result = cloaked(database, rows, time={"column": "t", "widths": [3_600]}, lbqids={"p": pattern})
    assert result.lbqids == {"p": {"matching": 2, "exposed": 0, "fewest": 2}}


def test_a_time_before_the_origin_is_outside(database: Database) -> None:
    rows = [(1, "a", 0.5, 0.5, 99), (2, "b", 0.5, 0.5, 99), (3, "a", 0.5, 0.5, 100), (4, "b", 0.5, 0.5, 100)]
    position = {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3, "outside": "suppress"}
    options = {"position": position, "time": {"column": "t", "widths": [60], "origin": 100}}
    refused = cloaked(database, rows, suppression={"max_rows": 1}, **options)
    assert "2 rows of 4 would have to be left out, and at most 1 may be" in refused.message
    result = cloaked(database, rows, suppression={"max_rows": 2}, **options)
    assert result.rows == {"source": 4, "released": 2, "suppressed": 2, "outside": 2}
    assert shown(database) == dict.fromkeys((3, 4), ("[0, 1)", "[0, 1)", "[100, 160)"))


# --- Dates, numbers and edges --------------------------------------------------------------


def test_times_are_read_and_written_by_the_calendar(shared_database: Database) -> None:
    """Every day of two leap years and the turn of a century, against Python's calendar."""
    begin = datetime(1999, 12, 20)
    moments = [begin + timedelta(days=n, seconds=(n * 7_919) % 86_400) for n in range(1_500)]
    moments += [
        datetime(1970, 1, 1),
        datetime(2100, 2, 28, 23, 59, 59),
        datetime(2100, 3, 1),
        datetime(2400, 2, 29, 12),
    ]
    shared_database.table("rows", {"n": "INTEGER", "who": "INTEGER", "x": "INTEGER", "y": "INTEGER", "t": "TIMESTAMP"},
                          [(n, who, 0, 0, moment) for n, moment in enumerate(moments) for who in (1, 2)])  # fmt: skip
    spec = {
        "version": 1, "kind": "positions",
        "source": "rows", "release": "cloaked", "unit": "who", "keep": ["n"], "k": 2,
        "position": {"columns": ["x", "y"], "bounds": [0, 0, 2, 2], "depth": 1},
        "time": {"column": "t", "widths": [90]},
    }  # fmt: skip
    assert kanon_sql.cloak(shared_database.engine, kanon_sql.CloakSpec.from_dict(spec)).passed
    for number, _, _, label in shared_database.rows("cloaked"):
        low, high = (datetime.fromisoformat(text) for text in label[1:-1].split(", "))
        assert low <= moments[number] < high
        assert high - low == timedelta(seconds=90)
        assert (low - EPOCH).total_seconds() % 90 == 0


def test_a_coordinate_just_below_an_edge_stays_below_it(database: Database) -> None:
    """Edges are exact: 0.3 is three tenths of an area of 0.8, and 0.1 + 0.2 is a little more than the double of 0.3."""
    values = [0.3, 0.1 + 0.2, 0.29999999999999993, 0.8, 0.7999999999, 0.0, -1e-9, 1e300, float("nan"), float("inf")]
    rows = [(n, who, x, 0.05, 0) for n, x in enumerate(values) for who in "ab"]
    position = {"columns": ["x", "y"], "bounds": [0, 0, 0.8, 0.8], "depth": 3, "outside": "suppress"}
    result = cloaked(database, rows, position=position, suppression={"max_share": 1.0})
    assert result.rows["outside"] == 10
    labels = {number: label[0] for number, label in shown(database).items()}
    assert labels == {0: "[0.3, 0.4)", 1: "[0.3, 0.4)", 2: "[0.2, 0.3)", 4: "[0.7, 0.8)", 5: "[0.0, 0.1)"}


def test_many_grids_are_joined_in_several_statements(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(n, f"p{n % 5}", (n * 5) % 8, (n * 3) % 8, n * 40) for n in range(60)]
    options = {"time": {"column": "t", "widths": [60, 600, 3600]}, "suppression": {"max_share": 0.5}}
    assert cloaked(database, rows, **options).passed
    expected = shown(database)
    assert len(set(expected.values())) > 9
    monkeypatch.setattr("kanon_sql.positions.assign.JOINED", 2)
    assert cloaked(database, rows, **options).passed
    assert shown(database) == expected


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("depth", "widths", "anonymity_set"),
    [(3, [60], "released"), (7, [60, 600], "released"), (9, [], "released"), (5, [], "present")],
)
def test_statements_are_bounded_by_the_depth(
    database: Database, depth: int, widths: list[int], anonymity_set: str
) -> None:
    """At most 15 per combination of a depth and a width, and two scans, however many rows there are; dense and sparse
    parts, so that points are divided, and crowded cells are not asked about."""
    draw = random.Random(depth)
    rows = [
        (n, f"p{n % 50}", draw.choice([draw.random() * 8, draw.random() / 2, 1.5]), draw.random() * 8, n % 900)
        for n in range(400 if anonymity_set == "present" else 1_500)
    ]
    position = {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": depth}
    time = {"time": {"column": "t", "widths": widths}} if widths else {}
    result = cloaked(
        database, rows, position=position, suppression={"max_share": 0.2}, anonymity_set=anonymity_set, k=4, **time
    )
    area = Box(*map(Fraction, (0, 0, 8, 8)))
    oracle = Oracle(area, depth, 0, False, widths, 0, False, anonymity_set == "present")
    points = [Point(n, who, Fraction(x), Fraction(y), t, 4) for n, who, x, y, t in rows]
    assert released(database, timed=bool(widths)) == oracle.labels(points)
    grids = (depth + 1) * max(1, len(widths))
    assert result.cost.source_scans == 2
    assert result.cost.statements <= 15 * grids + 30
    # Two of them say whether the source is untrue, and one whether what is kept links rows.
    assert result.cost.rows_fetched <= 3 * grids + 24


# --- Refusals and failures -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"position": {"columns": ["x"], "bounds": [0, 0, 8, 8], "depth": 3}}, "expected the names of two columns"),
        ({"position": {"columns": ["x", "y"], "bounds": [0, 0, 8], "depth": 3}}, "got 3 numbers"),
        ({"position": {"columns": ["x", "y"], "bounds": [8, 0, 0, 8], "depth": 3}}, "both ends above the beginnings"),
        ({"position": {"columns": ["x", "y"], "bounds": [0, 0, 1, 1], "depth": 12}}, "more than 10 digits"),
        ({"position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 21}}, "at most 20 halvings"),
        ({"position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3, "coarsest": 4}}, "not finer than"),
        ({"time": {"column": "t", "widths": [60, 90]}}, "each a multiple of the one before"),
        ({"time": {"column": "t", "widths": [60, 60]}}, "each a multiple of the one before"),
        ({"coarsen": "time"}, "there is no time"),
        ({"k": 1}, "whole number of at least 2"),
        ({"k": {"column": "wish"}}, "belong together"),
        ({"keep": ["who"]}, "another role already"),
        ({"keep": ["x"]}, "another role already"),
        ({"suppression": {"max_share": 0.1, "style": "mask"}}, "use drop"),
        ({"lbqids": {"p": {"elements": [HOME | {"between": ["07:00", "08:00"]}]}}}, "an LBQID needs a time"),
        ({"lbqids": {"p": {"elements": [HOME | {"between": ["08:00", "07:00"]}]}}}, "the earlier one first"),
        ({"lbqids": {"p": {"elements": [HOME | {"between": ["7", "8"]}]}}}, "expected a time of day"),
        ({"lbqids": {"p": {"elements": [HOME | {"between": ["07:00", "24:30"]}]}}}, "from '00:00' to '24:00'"),
        ({"lbqids": {"p": COMMUTE | {"days": 6}}, "time": {"column": "t", "widths": 60}}, "five weekdays"),
        ({"lbqids": ["p"]}, "expected a mapping of names"),
        ({"release": "rows"}, "would replace it"),
        ({"version": 2}, "positions specs of version 1 only"),
        ({"anonymity": "present"}, "did you mean 'anonymity_set'"),
        (
            {"time": {"column": "t", "widths": [1, 100_000_000]},
             "position": {"columns": ["x", "y"], "bounds": [0, 0, 1048576, 1048576], "depth": 20}},
            "more bits than a key has",
        ),
        (
            {"time": {"column": "t", "widths": [60 * 2**n for n in range(8)]},
             "position": {"columns": ["x", "y"], "bounds": [0, 0, 1024, 1024], "depth": 10, "neighbours": True}},
            "at most 200 are tried",
        ),
        ({"unit": "nobody"}, "no column 'nobody'"),
        ({"position": {"columns": ["x", "who2"], "bounds": [0, 0, 8, 8], "depth": 3}}, "'who2' is VARCHAR"),
        ({"time": {"column": "who2", "widths": [60]}}, "'who2' is VARCHAR; expected a date"),
        ({"time": {"column": "day", "widths": [60]}}, "slices of dates are whole days"),
        ({"k": {"column": "who2", "default": 2}}, "expected whole numbers"),
        ({"k": {"column": "zero", "default": 2}}, "2 rows have a k below 1"),
        ({"unit": "blank"}, "1 rows have NULL as 'blank'"),
        ({"position": {"columns": ["x", "y"], "bounds": [0, 0, 4, 4], "depth": 2}}, "1 rows have no position inside"),
        ({"time": {"column": "t", "widths": [60], "origin": 100}}, "or no time after the origin"),
    ],
)  # fmt: skip
def test_what_cannot_be_cloaked_is_refused(database: Database, changes: dict[str, Any], message: str) -> None:
    database.connection.execute(
        "CREATE TABLE rows AS SELECT 1 AS n, 'a' AS who, 0.5 AS x, 0.5::DOUBLE AS y, 50 AS t, 'b' AS who2, "
        "DATE '2024-01-01' AS day, 0 AS zero, NULL::INTEGER AS blank UNION ALL "
        "SELECT 2, 'b', 7.5, 0.5, 150, 'c', DATE '2024-01-01', 0, 4"
    )
    given = {
        "version": 1, "kind": "positions",
        "source": "rows", "unit": "who", "k": 2,
        "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3},
    }  # fmt: skip
    with pytest.raises(KanonError, match=re.escape(message)):
        kanon_sql.cloak(database.engine, kanon_sql.CloakSpec.from_dict({**given, **changes}))


@pytest.mark.parametrize("rows", [[], [(1, "a", 0.5, 0.5, 0)]])
def test_nothing_is_published_where_nobody_is_among_enough_people(database: Database, rows: list[Any]) -> None:
    result = cloaked(database, rows, suppression={"max_share": 1.0})
    assert not result.passed
    assert result.message.startswith("nothing was published: ")
    assert "cloaked" not in database.tables()


def test_a_scratch_mode_without_tables_is_refused(database: Database) -> None:
    engine = kanon_sql.connect(database.connection, scratch="inline")
    given = {"version": 1, "kind": "positions",
    "source": "rows", "unit": "who", "k": 2,
             "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3}}  # fmt: skip
    with pytest.raises(UnsupportedError, match="keeps its cells in scratch tables"):
        kanon_sql.cloak(engine, kanon_sql.CloakSpec.from_dict(given))


# --- What was written is examined ----------------------------------------------------------

ROWS = [(1, "a", 0.5, 0.5, 0), (2, "b", 0.6, 0.6, 0), (3, "c", 4.5, 4.5, 0), (4, "d", 7.5, 7.5, 0)]


def tampered(monkeypatch: pytest.MonkeyPatch, after: str, sql: str) -> None:
    """Run a statement of somebody else's after one of ours; TARGET stands for the table that ours made."""
    from kanon_sql.engines.workspace import Workspace

    original = Workspace.run

    def run_and_tamper(self: Workspace, statement: Any) -> None:
        original(self, statement)
        if statement.name == after:
            table = re.search(r"CREATE (?:TEMPORARY )?TABLE (\S+)", statement.sql).group(1)  # type: ignore[union-attr]
            self.engine._connection.execute(sql.replace("TARGET", table))  # type: ignore[attr-defined]

    monkeypatch.setattr(Workspace, "run", run_and_tamper)


@pytest.mark.parametrize(
    ("after", "sql", "message"),
    [
        (
            "positions/satisfied",
            "INSERT INTO TARGET SELECT 0, 1, 99",
            "got a cell",
        ),
        ("positions/assigned", "UPDATE TARGET SET cell_number = NULL WHERE who = 'a'", "got a cell"),
        ("positions/assigned", "DELETE FROM TARGET WHERE who = 'a'", "got a cell"),
        ("positions/assigned", "UPDATE TARGET SET who = 'b' WHERE who = 'a'", "1 classes have too few people"),
        ("positions/assigned", "UPDATE TARGET SET x_units = x_units + 20 WHERE who = 'a'", "1 rows lie outside"),
        ("positions/assigned", "UPDATE TARGET SET y_units = y_units - 20 WHERE who = 'd'", "1 rows lie outside"),
        ("positions/release", "UPDATE TARGET SET x = '[0, 2)' WHERE n = 1", "labels have other rows"),
        ("positions/release", "DELETE FROM TARGET WHERE n = 1", "labels have other rows"),
        ("positions/release", "ALTER TABLE TARGET ADD COLUMN who VARCHAR", "other columns than promised"),
        ("positions/labels", "UPDATE TARGET SET x_label = '*', y_label = '*'", "labels have other rows"),
    ],
)
def test_what_was_written_is_examined(
    database: Database, monkeypatch: pytest.MonkeyPatch, after: str, sql: str, message: str
) -> None:
    tampered(monkeypatch, after, sql)
    with pytest.raises(VerificationError, match=message):
        cloaked(database, ROWS)
    assert "cloaked" not in database.tables()
    assert not [name for name in database.tables() if name.endswith("release")]


def test_cells_in_which_too_few_were_are_found_in_what_was_written(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    tampered(monkeypatch, "positions/assigned", "UPDATE TARGET SET who = 'b' WHERE who = 'a'")
    with pytest.raises(VerificationError, match="1 cells have too few people"):
        cloaked(database, ROWS, anonymity_set="present")


def test_a_release_holds_no_person_and_no_position(database: Database) -> None:
    assert cloaked(database, ROWS).passed
    assert database.columns("cloaked") == ["n", "x", "y"]
    ((manifest,),) = database.connection.execute("SELECT manifest FROM kanon_sql_manifest").fetchall()
    found = json.loads(manifest)
    assert found["cloaked"]["classes"] == 2
    assert found["spec"]["position"]["depth"] == 3
    assert not re.search(r"0\.5|'a'", manifest)
    assert not [name for name in database.tables() if name.startswith("kanon_") and "sql" not in name]
    assert cloaked(database, ROWS).passed, "a release replaces its own"


# --- What stands ---------------------------------------------------------------------------


def checked(database: Database, **changes: Any) -> kanon_sql.CloakResult:
    """The table ``cloaked`` beside what ``rows`` gives now; nothing is written."""
    before = {name: Counter(database.rows(name)) for name in database.tables()}
    spec: dict[str, Any] = {
        "version": 1, "kind": "positions", "source": "rows", "release": "cloaked", "unit": "who", "keep": ["n"],
        "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3}, "k": 2,
    }  # fmt: skip
    found = kanon_sql.cloak(database.engine, kanon_sql.CloakSpec.from_dict({**spec, **changes}), check=True)
    assert {name: Counter(database.rows(name)) for name in database.tables()} == before
    jsonschema.validate(found.to_dict(), cloak_schema())
    return found


@pytest.mark.slow
@given(tables(days=9, most=20), shapes(), patterns())
@settings(max_examples=15 * max(1, TIMES))
def test_what_was_published_stands_as_long_as_nobody_changes_it(
    shared_database: Database, points: list[Point], shape: dict[str, Any], pattern: dict[str, Any]
) -> None:
    database = shared_database
    database._connection.execute("DROP TABLE IF EXISTS cloaked")
    stored(database, with_wishes(points, shape))
    spec = spec_of(shape, **({"lbqids": {"pattern": pattern}} if shape["widths"] else {}))
    if not kanon_sql.cloak(database.engine, spec).passed:
        return
    assert kanon_sql.cloak(database.engine, spec, check=True).passed
    database._connection.execute("DELETE FROM cloaked WHERE n = (SELECT MIN(n) FROM cloaked)")
    found = kanon_sql.cloak(database.engine, spec, check=True)
    assert found.message.startswith("cloaked: 1 labels have other rows than the source and the spec give")


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("UPDATE cloaked SET x = '[0, 2)' WHERE n = 1", "2 labels have other rows"),
        ("UPDATE cloaked SET x = x || ' ' WHERE n = 1", "2 labels have other rows"),
        ("UPDATE cloaked SET y = NULL WHERE n = 1", "2 labels have other rows"),
        ("DELETE FROM cloaked WHERE n = 1", "1 labels have other rows"),
        ("DELETE FROM cloaked", "2 labels have other rows"),
        ("INSERT INTO cloaked SELECT * FROM cloaked WHERE n = 1", "1 labels have other rows"),
        ("ALTER TABLE cloaked ADD COLUMN phone VARCHAR", r"columns that the spec does not release \(phone\); leave"),
        ("UPDATE rows SET who = 'a'", "cloaked cannot stand: no cell has enough people"),
        ("DELETE FROM rows WHERE n = 1", "cloaked cannot stand: 1 row of 3 would have to be left out"),
        ("UPDATE rows SET x = 7.5, y = 7.5", "2 labels have other rows|3 labels have other rows"),
    ],
)
def test_what_was_changed_since_is_found(database: Database, sql: str, message: str) -> None:
    assert cloaked(database, ROWS).passed
    assert checked(database).message == (
        "cloaked: 4 rows have the labels that the source gives, at least 2 people with the same label"
    )
    database._connection.execute(sql)
    found = checked(database)
    assert not found.passed
    assert re.search(message, found.message)


def test_a_spec_that_asks_for_more_than_the_published_one_fails(database: Database) -> None:
    """For more people, or for a pattern that is shared: whoever published did not look for it."""
    rows = commuting("a", [0, 1, 2, 7, 8, 9], 1) + commuting("b", [0, 1, 2], 100) + commuting("c", [7, 8, 9], 200)
    time = {"column": "t", "widths": [3600]}
    assert cloaked(database, rows, time=time).passed
    assert checked(database, time=time).passed
    exposed = checked(database, time=time, lbqids={"commute": COMMUTE})
    assert "cloaked cannot stand: the rows of people who match an LBQID" in exposed.message
    assert (exposed.verdict, exposed.lbqids["commute"]["exposed"]) == ("fail", 1)
    assert not checked(database, time=time, k=3).passed


def test_what_cannot_be_checked_is_refused(database: Database) -> None:
    assert cloaked(database, ROWS).passed
    with pytest.raises(KanonError, match="release: missing; name the table to check"):
        checked(database, release=None)
    with pytest.raises(KanonError, match="there is no table or view 'nowhere'"):
        checked(database, release="nowhere")
    database._connection.execute("CREATE TABLE halved AS SELECT x FROM cloaked")
    with pytest.raises(KanonError, match="halved: there is no column 'y', which the spec releases"):
        checked(database, release="halved")
    spec = spec_of({"depth": 1, "coarsest": 1, "neighbours": False, "widths": [], "origin": 0, "time_first": False,
                    "present": False, "wishes": False, "k": 2})  # fmt: skip
    with pytest.raises(KanonError, match="preview shows what would be published, and check what was"):
        kanon_sql.cloak(database.engine, spec, preview=True, check=True)


# --- The spec, the command line and the reference ------------------------------------------


def test_a_spec_reads_back(tmp_path: Path) -> None:
    shape = {"depth": 2, "coarsest": 1, "neighbours": True, "widths": [60, 120], "origin": 9, "time_first": True,
             "present": True, "wishes": True, "k": 2}  # fmt: skip
    spec = spec_of(shape, lbqids={"commute": COMMUTE})
    again = kanon_sql.CloakSpec.from_dict(json.loads(json.dumps(spec.to_dict())))
    assert again == spec
    assert hash(again) == hash(spec)
    assert again != spec_of(shape)
    jsonschema.Draft202012Validator(kanon_sql.CloakSpec.json_schema()).validate(spec.to_dict())
    query = kanon_sql.CloakSpec.from_dict({**spec.to_dict(), "source": {"query": "SELECT 'secret' AS who"}})
    assert "secret" not in json.dumps(query.redacted())
    assert spec.redacted()["lbqids"] == ["commute"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "city.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE requests AS SELECT 'Qwyjibo' || i % 30 AS phone, (i * 7) % 16 / 2.0 AS x, "
            "(i * 5) % 16 / 2.0 AS y, "
            "TIMESTAMP '2024-03-04 08:00:00' + INTERVAL (i) MINUTE AS at FROM range(300) AS t(i)"
        )
    (tmp_path / "positions.yml").write_text(
        "version: 1\nkind: positions\nsource: requests\nrelease: requests_cloaked\nunit: phone\n"
        "position: {columns: [x, y], bounds: [0, 0, 8, 8], depth: 3}\n"
        "time: {column: at, widths: [3600, 14400]}\nk: 5\nsuppression: {max_share: 0.05}\n"
        "lbqids:\n  morning: {elements: [{area: [0, 0, 2, 2], between: ['07:00', '09:00']}]}\n"
    )
    return tmp_path


@pytest.mark.slow
def test_the_verb_prints_how_fine_cells_are(folder: Path) -> None:
    found = run("publish", "positions", folder / "positions.yml", "-d", folder / "city.duckdb", "-v")
    assert found.exit_code in (0, 1), found.output
    assert "fewest of a label" in found.stdout
    assert "morning" in found.stdout
    assert "Qwyjibo" not in found.stdout + found.stderr
    printed = run(
        "publish",
        "positions",
        folder / "positions.yml",
        "-d",
        folder / "city.duckdb",
        "--preview",
        "--format",
        "json",
        "-q",
    )
    data = json.loads(printed.stdout)
    jsonschema.Draft202012Validator(cloak_schema()).validate(data)
    assert data["release"] is None
    assert Counter(data["rows"])["source"] == 300


def test_the_verb_refuses_in_words(folder: Path) -> None:
    text = (folder / "positions.yml").read_text()
    (folder / "bad.yml").write_text(text.replace("depth: 3", "deepth: 3"))
    found = run("publish", "positions", folder / "bad.yml", "-d", folder / "city.duckdb")
    assert found.exit_code == 2
    assert "bad.yml:6:51: position.deepth: unknown key; did you mean 'depth'?" in found.stderr
    memory = run("publish", "positions", folder / "positions.yml")
    assert memory.exit_code == 2
    assert "would vanish" in memory.stderr


def test_every_key_of_a_cloak_spec_is_in_its_reference() -> None:
    page = (ROOT / "docs" / "reference" / "positions.md").read_text("utf-8")
    schema = kanon_sql.CloakSpec.json_schema()
    keys = set(schema["properties"])
    keys |= {key for name in ("Position", "Slices", "Element", "Lbqid") for key in schema["$defs"][name]["properties"]}
    assert all(re.search(rf"`([\w.]+\.)?{key}`", page) for key in keys), keys
