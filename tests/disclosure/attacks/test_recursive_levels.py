"""Which level of recursive (c,l)-diversity is left once values are ruled out: against every choice of the values."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Engine
from tests.conftest import Database
from tests.servers import subject_of

Row = tuple[str, str | None]
COLUMNS = {"q": "text", "d": "text"}


def level(counts: Sequence[int], c: Fraction) -> int:
    """The largest l with r1 < c (r_l + ... + r_m), by the definition; 0 if there is none."""
    ordered = sorted(counts, reverse=True)
    return max((l for l in range(1, len(ordered) + 1) if ordered[0] < c * sum(ordered[l - 1 :])), default=0)  # noqa: E741


def left(rows: Sequence[Row], negations: int, c: Fraction) -> int:
    """The lowest level of any class, whichever values but one are ruled out of it."""
    found = []
    for label in {label for label, _ in rows}:
        counts = list(Counter(value for own, value in rows if own == label and value is not None).values())
        kept = max(min(len(counts), 1), len(counts) - negations)
        found += [level(chosen, c) for chosen in combinations(counts, kept)]
    return min(found)


def levels_of(engine: Engine, negations: int, c: float, **more: Any) -> tuple[int, int] | None:
    """The levels that ``audit`` states, before and after."""
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "quasi_identifiers": {"q": None},
            "sensitive": ["d"],
            "privacy": [{"l_diversity": {"attribute": "d", "l": 2, "variant": "recursive", "c": c}}], **more,
        }
    )  # fmt: skip
    counted = {"count_rows": True} if "unit" in more else {}
    (attack,) = kanon_sql.audit(engine, spec, attacks=["background"], negations=negations, **counted).attacks
    notes = [note for note in attack.notes if note.startswith(f"with c = {c:g}, every class is recursive (c, ")]
    stated = [re.findall(r"\(c, (\d+|l)\)-diverse", note) for note in notes]
    if not stated:
        return None
    ((before, after),) = stated
    return int(before.replace("l", "0")), int(after.replace("l", "0"))


def rows_of(draw: random.Random) -> list[Row]:
    """Classes with up to five values, NULL among them; one may have nothing else."""
    rows: list[Row] = []
    for label in "abc"[: draw.randint(1, 3)]:
        values = draw.sample(["v", "w", "x", "y", "z", None], draw.randint(1, 6))
        rows += [(label, value) for value in values for _ in range(draw.choice([1, 1, 2, 3, 5, 8]))]
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("c", [0.5, 1, 1.1, 2.5])
def test_against_every_choice_of_values(shared_database: Database, c: float) -> None:
    draw = random.Random(str(c))
    for _ in range(12):
        rows, negations = rows_of(draw), draw.randint(1, 4)
        for name in ("people", "released"):
            shared_database.table(name, ["q", "d"], rows)
        expected = tuple(left(rows, count, Fraction(str(c))) for count in (0, negations))
        assert levels_of(shared_database.engine, negations, c) == expected


def test_a_bound_that_is_met_exactly_is_no_level(database: Database) -> None:
    """11 < 1.1 * 10 is false."""
    for name in ("people", "released"):
        database.table(name, ["q", "d"], [("a", "x")] * 11 + [("a", "y")] * 10)
    assert levels_of(database.engine, 1, 1.1) == (1, 1)


def test_persons_are_not_counted_as_rows(database: Database) -> None:
    """With a unit, a class of one person's rows would seem diverse: nothing is stated."""
    for name in ("people", "released"):
        database.table(name, ["q", "d", "person"], [("a", "x", "p"), ("a", "y", "p"), ("a", "z", "r")])
    assert levels_of(database.engine, 1, 1, unit="person") is None
    assert levels_of(database.engine, 1, 2, keep=["person"]) == (3, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["postgres", "sqlite", "mariadb", "clickhouse"])
def test_other_engines_state_the_same(name: str) -> None:
    rows = rows_of(random.Random(8))
    with subject_of(name) as subject:
        for table in ("people", "released"):
            subject.table(table, COLUMNS, rows)
        engine = subject.connect()
        for negations in (1, 2):
            expected = tuple(left(rows, count, Fraction(3, 2)) for count in (0, negations))
            assert levels_of(engine, negations, 1.5) == expected
        engine.close()
