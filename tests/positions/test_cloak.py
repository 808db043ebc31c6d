"""Cloaked positions: every row against a recursive quad-tree, and what is published and refused."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from hypothesis import given, settings

import kanon_sql
from kanon_sql.errors import KanonError, UnsupportedError
from kanon_sql.report.json import cloak_schema
from tests.conftest import Database
from tests.oracles.positions import EPOCH, Box, Oracle, Part, Point, exposed
from tests.support.cloaked import (
    COLUMNS,
    COMMUTE,
    HOME,
    START,
    cloaked,
    commuting,
    patterns,
    released,
    shapes,
    spec_of,
    stored,
    tables,
    with_wishes,
)
from tests.support.command_line import run
from tests.support.strategies import TIMES


def oracle_of(shape: dict[str, Any]) -> Oracle:
    area = Box(Fraction(0), Fraction(0), Fraction(2), Fraction(2))
    return Oracle(area, **{key: item for key, item in shape.items() if key not in ("wishes", "k")})


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


def shown(database: Database) -> dict[int, tuple[str, ...]]:
    return {row[0]: row[1:] for row in database.rows("cloaked")}


@pytest.mark.slow
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
    assert "1 row of 4 would have to be left out, more than the limit of 0" in refused.message
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
    assert [(level.shape, level.depth) for level in result.levels] == [("side_by_side", 3), ("above", 3)]
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
    assert "as many people with the same label as the k of each row requires" in result.message


@pytest.mark.slow
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
    assert "2 rows of 4 would have to be left out, more than the limit of 1" in refused.message
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


@pytest.mark.slow
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
        ({"position": {"columns": ["x", "y"], "bounds": [8, 0, 0, 8], "depth": 3}}, "with each end above its "
            "beginning"),
        ({"position": {"columns": ["x", "y"], "bounds": [0, 0, 1, 1], "depth": 12}}, "more than 10 digits"),
        ({"position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 21}}, "from 1 to 20, got 21"),
        ({"position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3, "coarsest": 4}}, "the coarsest depth "
            "cannot exceed 'depth'"),
        ({"time": {"column": "t", "widths": [60, 90]}}, "each a multiple of the one before"),
        ({"time": {"column": "t", "widths": [60, 60]}}, "each a multiple of the one before"),
        ({"coarsen": "time"}, "without 'time' only space is coarsened"),
        ({"k": 1}, "whole number of at least 2"),
        ({"k": {"column": "wish"}}, "a column needs a default"),
        ({"keep": ["who"]}, "the column already has another role"),
        ({"keep": ["x"]}, "the column already has another role"),
        ({"suppression": {"max_share": 0.1, "style": "mask"}}, "use drop"),
        ({"lbqids": {"p": {"elements": [HOME | {"between": ["07:00", "08:00"]}]}}}, "an LBQID needs the time"),
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
            "the size of a key",
        ),
        (
            {"time": {"column": "t", "widths": [60 * 2**n for n in range(8)]},
             "position": {"columns": ["x", "y"], "bounds": [0, 0, 1024, 1024], "depth": 10, "neighbours": True}},
            "more than the limit of 200",
        ),
        ({"unit": "nobody"}, "no column 'nobody'"),
        ({"position": {"columns": ["x", "who2"], "bounds": [0, 0, 8, 8], "depth": 3}}, "'who2' is VARCHAR"),
        ({"time": {"column": "who2", "widths": [60]}}, "'who2' is VARCHAR; expected a date"),
        ({"time": {"column": "day", "widths": [60]}}, "slices of dates are whole days"),
        ({"k": {"column": "who2", "default": 2}}, "expected whole numbers"),
        ({"k": {"column": "zero", "default": 2}}, "2 rows have a k below 1"),
        ({"unit": "blank"}, "1 row has NULL as 'blank'"),
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
    with pytest.raises(UnsupportedError, match=": cells need scratch tables"):
        kanon_sql.cloak(engine, kanon_sql.CloakSpec.from_dict(given))


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
    assert "a release in :memory: is lost when this process" in memory.stderr
