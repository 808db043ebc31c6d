"""Refinement of micro-aggregated numbers: against every source that gives the release, and against the true rows."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import jsonschema
import pytest

from kanon_sql import Spec, anonymize, audit
from kanon_sql.disclosure.attacks import Attack
from kanon_sql.errors import UnsupportedError
from kanon_sql.report.json import audit_schema
from tests.conftest import Database
from tests.oracles.aggregates import aggregate, least_squares, whole
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import engine_marks
from tests.support.specs import QUIET

TYPES = {
    "INTEGER": lambda number: number - 20,
    "DECIMAL(9,2)": lambda number: Decimal(number - 20) / 4,
    "DOUBLE": lambda number: (number - 20) / 8,
    "DATE": lambda number: date(1969, 12, 20) + timedelta(days=number),
    "TIMESTAMP": lambda number: datetime(1969, 12, 31, 23, 59, 40) + timedelta(seconds=number),
}
"""What a small number is in a column of each type."""


def spec_of(k: int = 2, function: Any = "mean", **changes: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "quasi_identifiers": {"q": {}},
            "privacy": [{"k_anonymity": k}], "recoding": {"method": "microaggregation", "columns": {"q": function}},
            "warnings": QUIET, **changes,
        }
    )  # fmt: skip


def attacked(database: Database, spec: Spec) -> Attack:
    result = audit(database.engine, spec, attacks=["refinement"], reveal=999, count_rows=spec.unit is not None)
    jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
    assert result.passed, "an estimate decides no verdict"
    (attack,) = result.attacks
    return attack


def left_open(
    classes: dict[int, int], occurring: Sequence[int], function: str
) -> Iterator[tuple[int, set[int], set[int]]]:
    """Each class with the numbers that what it shows leaves open by itself, and with its neighbours, one by one."""
    order = sorted(classes)
    for place, shown in enumerate(order):
        around = (order[place - 1] if place else min(occurring), order[min(place + 1, len(order) - 1)])
        if place == len(order) - 1:
            around = (around[0], max(occurring))
        found = []
        for least, most in ((min(occurring), max(occurring)), around):
            rest = classes[shown] - 1
            found.append(
                {
                    number
                    for number in occurring
                    if least <= number <= most
                    and (
                        function != "mean"
                        or any(
                            aggregate([0] * rest + [number + total], "mean") == shown
                            for total in range(rest * least, rest * most + 1)
                        )
                    )
                }
            )
        yield shown, *found


def best_divisions(numbers: Sequence[int], k: int) -> Iterator[list[Sequence[int]]]:
    """Every division of sorted numbers into runs of k or more that loses the least squares."""
    least = least_squares(numbers, k)

    def squares(run: Sequence[int]) -> Fraction:
        return sum((number**2 for number in run), Fraction()) - Fraction(sum(run) ** 2, len(run))

    def divided(start: int) -> Iterator[list[Sequence[int]]]:
        if start == len(numbers):
            yield []
        for end in range(start + k, len(numbers) + 1):
            yield from ([numbers[start:end], *others] for others in divided(end))

    return (runs for runs in divided(0) if sum(map(squares, runs)) == least)


def classes_of(runs: Sequence[Sequence[int]], function: str) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for run in runs:
        shown = aggregate(run, function)
        assert shown is not None
        found.setdefault(shown, []).extend(run)
    return found


# --- Against every source ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("function", ["mean", "median", "mode"])
@pytest.mark.parametrize(("k", "rows"), [(2, 7), (3, 8)])
def test_no_source_has_a_number_that_is_ruled_out(shared_database: Database, function: str, k: int, rows: int) -> None:
    """Of every division that loses the least: more may be impossible than is concluded, never less."""
    domain = [0, 1, 2, 5, 7, 8]
    worlds: dict[tuple[tuple[int, int], ...], list[dict[int, list[int]]]] = {}
    for numbers in combinations_with_replacement(domain, rows):
        if {*numbers} == {*domain}:  # which numbers occur is known
            for runs in best_divisions(numbers, k):
                classes = classes_of(runs, function)
                worlds.setdefault(tuple((shown, len(classes[shown])) for shown in sorted(classes)), []).append(classes)
    assert len(worlds) >= 5
    found = 0
    for release in random.Random(k).sample(sorted(worlds), 5):
        shared_database.table(
            "s", {"q": "INTEGER"}, [(number,) for run in worlds[release][0].values() for number in run]
        )
        shared_database.table("r", {"q": "INTEGER"}, [(shown,) for shown, held in release for _ in range(held)])
        attack = attacked(shared_database, spec_of(k, function))
        exposed = {int(case["values"]["q"]) for case in attack.revealed or ()}
        for shown, alone, ordered in left_open(dict(release), domain, function):
            possible = {number for classes in worlds[release] for number in classes[shown]}
            assert possible <= ordered <= alone
            assert (shown in exposed) == (ordered != alone)
        found += attack.exposed
    assert found


# --- Against the true rows --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_true_numbers_stay_possible(shared_database: Database, seed: int) -> None:
    """Of every type and function, with NULL and other requirements: what is counted is what the rules leave open."""
    draw = random.Random(seed)
    kind, function = list(TYPES)[seed % len(TYPES)], ("mean", "median", "mode")[seed % 3]
    asked: Any = {"aggregate": function, "digits": 2} if kind == "DOUBLE" else function
    most, any_null = draw.choice([6, 40]), seed in (3, 6)
    numbers = [
        draw.choice([None] if any_null and not draw.randrange(20) else [draw.randrange(most)]) for _ in range(60)
    ]
    rows = [(None if number is None else TYPES[kind](number), place % 3, place) for place, number in enumerate(numbers)]
    shared_database.table("s", {"q": kind, "s0": "INTEGER", "id": "INTEGER"}, rows)
    diverse = [{"l_diversity": {"attribute": "s0", "l": 2}}] if seed in (1, 4) else []
    spec = spec_of(3, asked, privacy=[{"k_anonymity": 3}, *diverse], sensitive=["s0"], keep=["id"])
    shared_database.connection.execute("DROP TABLE IF EXISTS r")
    assert anonymize(shared_database.engine, spec).passed
    released = shared_database.connection.execute("SELECT q, id FROM r").fetchall()
    occurring = sorted({number for value, *_ in rows if (number := whole(value)) is not None})
    classes = Counter(shown for value, _ in released if (shown := whole(value)) is not None)
    open_to = {shown: (alone, ordered) for shown, alone, ordered in left_open(classes, occurring, function)}
    for value, serial in released:
        shown, number = whole(value), whole(rows[serial][0])
        assert shown is None or number in open_to[shown][1]
    shares = {shown: len(alone - ordered) / len(alone) for shown, (alone, ordered) in open_to.items()}
    attack = attacked(shared_database, spec)
    assert attack.examined == 60
    assert attack.exposed == sum(held for shown, held in classes.items() if shares[shown])
    assert attack.risk == pytest.approx(max(shares.values()))
    assert not any("contradict" in note for note in attack.notes)
    told = re.search(r"one number is left for (\d+)", attack.notes[1])
    assert told is not None
    assert int(told[1]) == sum(held for shown, held in classes.items() if len(open_to[shown][1]) == 1)
    assert f"{sum(classes.values())} rows" in attack.notes[1]


def test_what_the_order_says_by_hand(shared_database: Database) -> None:
    """Between 10 and 30 lies what is released as 20; two rows of 30 leave (28, 32), (29, 31) or 30 twice."""
    shared_database.table("s", {"q": "INTEGER"}, [(number,) for number in (8, 12, 19, 21, 28, 32)])
    shared_database.table("r", {"q": "INTEGER"}, [(number,) for number in (10, 10, 20, 20, 30, 30)])
    attack = attacked(shared_database, spec_of(2))
    # 10 alone leaves 8 and 12; 20 leaves 8 to 32, of which 12, 19, 21, 28 are between 10 and 30; 30 leaves 28 and 32
    assert (attack.exposed, attack.risk) == (2, pytest.approx(2 / 6))
    assert attack.revealed == [{"values": {"q": "20"}, "people": 2}]


def test_classes_that_no_numbers_give_contradict_it(shared_database: Database) -> None:
    shared_database.table("s", {"q": "INTEGER"}, [(number,) for number in (1, 2, 3, 4)])
    shared_database.table("r", {"q": "INTEGER"}, [(number,) for number in (2, 2, 9, 9)])
    assert "1 classes contradict that" in attacked(shared_database, spec_of(2)).notes[-1]


# --- Refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"quasi_identifiers": {"q": {}, "p": {}}}, "in which of several quasi-identifiers two classes"),
        ({"unit": "p"}, "with unit, classes of microaggregation are put together"),
        ({"release": "texts"}, "q is INTEGER in the source, but VARCHAR in the release"),
    ],
)
def test_what_is_not_modelled_is_refused_by_name(database: Database, changes: Any, why: str) -> None:
    database.table("s", {"q": "INTEGER", "p": "INTEGER"}, [(number, number) for number in range(4)])
    database.table("r", {"q": "INTEGER", "p": "INTEGER"}, [(2, 2)] * 4)
    database.table("texts", {"q": "VARCHAR"}, [("2",)] * 4)
    with pytest.raises(UnsupportedError, match=why):
        attacked(database, spec_of(**changes))


# --- Engines ----------------------------------------------------------------------------------------


@pytest.mark.campaign_on("clickhouse")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS if name != "spark"])
@pytest.mark.slow
def test_every_engine_finds_the_same(name: str) -> None:
    with subject_of(name) as subject:
        subject.table("s", {"q": "integer"}, [(number,) for number in (8, 12, 19, 21, 28, 32, None, None)])
        subject.table("r", {"q": "integer"}, [(number,) for number in (10, 10, 20, 20, 30, 30, None, None)])
        engine = subject.connect(read_only=name not in ("duckdb", "clickhouse"))
        try:
            (attack,) = audit(engine, spec_of(2), attacks=["refinement"], reveal=9).attacks
        finally:
            engine.close()
    assert (attack.examined, attack.exposed, attack.risk) == (8, 2, pytest.approx(2 / 6))
    assert attack.notes[1].startswith("6 rows")
