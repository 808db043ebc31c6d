"""Refinement of releases of ARX's local recoding, against every source and every order of nodes that gives them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from kanon_sql import Spec, audit
from kanon_sql.disclosure.attacks import Attack
from kanon_sql.errors import SpecError, UnsupportedError
from tests.conftest import Database
from tests.oracles.peeled import Classes, Paths, Peeled, Vector, values_under
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import engine_marks

DEEP, FLAT = {"A": ["a1", "a2"], "B": ["b1", "b2"]}, {"X": ["x"], "Y": ["y"]}
NAMES = ("q", "p")


def columns(*trees: Mapping[str, list[str]]) -> list[Paths]:
    return [{value: (value, group, "*") for group, values in tree.items() for value in values} for tree in trees]


def spec_of(k: int, *trees: Mapping[str, list[str]], **changes: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "privacy": [{"k_anonymity": k}],
            "quasi_identifiers": {name: {"tree": tree} for name, tree in zip(NAMES, trees, strict=False)}, **changes,
        }
    )  # fmt: skip


def put(database: Database, classes: Classes) -> None:
    width = len(next(iter(classes)))
    source = [vector for held in classes.values() for vector, rows in held.items() for _ in range(rows)]
    released = [labels for labels, held in classes.items() for _ in range(held.total())]
    for name, lines in (("s", source), ("r", released)):
        database.table(name, NAMES[:width], lines)


def attacked(database: Database, spec: Spec) -> list[Attack]:
    result = audit(database.engine, spec, attacks=["refinement"], reveal=99, made_by="arx")
    assert result.passed, "an estimate decides no verdict"
    return list(result.attacks)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trees", "k", "rows", "least"), [((DEEP,), 2, 8, 1.0), ((DEEP,), 3, 9, 1.0), ((DEEP, FLAT), 2, 6, 0.4)]
)
def test_what_is_ruled_out_is_impossible_in_every_source(
    database: Database, trees: Any, k: int, rows: int, least: float
) -> None:
    """Whichever nodes were taken. Of one column nothing else is impossible; of two, classes may cover more together."""
    peeled, draw = Peeled(columns(*trees), k), random.Random(k)
    every = peeled.worlds(rows)
    found = there = 0
    for release in draw.sample(sorted(every, key=sorted), 12):
        worlds = every[release]
        put(database, worlds[0])
        for place, attack in enumerate(attacked(database, spec_of(k, *trees))):
            shares = {labels: _impossible(peeled.columns[place], worlds, labels, place) for labels, _ in release}
            assert all(shares[tuple(case["values"].values())] for case in attack.revealed or ())
            assert attack.risk is not None
            assert attack.risk <= max(shares.values()) + 1e-9
            found += attack.exposed
            there += sum(size for labels, size in release if shares[labels])
        database.clear()
    assert found >= least * there > 0


def _impossible(paths: Paths, worlds: list[Classes], labels: Vector, place: int) -> float:
    """The share of the values under a label that no row of its class has, in no source."""
    inside = values_under(paths, labels[place])
    held = {vector[place] for classes in worlds for vector in classes[labels]}
    return sum(value not in held for value in inside) / len(inside)


@pytest.mark.parametrize(
    ("release", "exposed", "risk", "why"),
    [
        ({("A", "X"): 3, ("*", "X"): 2}, (2, 0), 0.5, "of the rows left over none is of A"),
        ({("A", "X"): 2, ("*", "X"): 2}, (0, 0), 0, "two rows are no class of three: they were not released before"),
        ({("A", "X"): 3, ("*", "*"): 2}, (0, 0), 0, "of A and X, but of A and Y they may be"),
        ({("A", "*"): 3, ("*", "X"): 3}, (0, 0), 0, "neither node is below the other one"),
        ({("a1", "*"): 3, ("A", "*"): 3, ("*", "*"): 3}, (6, 0), 0.5, "A is left out once, with a1 in it"),
    ],
)  # fmt: skip
def test_what_is_ruled_out(
    database: Database, release: Mapping[Vector, int], exposed: tuple[int, int], risk: float, why: str
) -> None:
    source = [(value, other) for value in ("a1", "a2", "b1", "b2") for other in ("x", "y")]
    database.table("s", NAMES, source)
    database.table("r", NAMES, [labels for labels, rows in release.items() for _ in range(rows)])
    found = attacked(database, spec_of(3, DEEP, FLAT))
    assert tuple(attack.exposed for attack in found) == exposed, why
    assert found[0].risk == pytest.approx(risk)


@pytest.mark.parametrize(
    ("changes", "options", "error", "why"),
    [
        ({"recoding": "local"}, {"made_by": "arx"}, UnsupportedError, "leave one out"),
        ({"unit": "n"}, {"made_by": "arx", "count_rows": True}, UnsupportedError, "a unit counts persons"),
        ({}, {"made_by": "amnesia"}, SpecError, "made_by: expected arx"),
    ],
)
def test_other_rules_are_refused_by_name(
    database: Database, changes: Any, options: Any, error: type[Exception], why: str
) -> None:
    database.table("s", ["q", "n"], [("a1", "1"), ("a2", "2")])
    database.table("r", ["q"], [("A",), ("A",)])
    with pytest.raises(error, match=why):
        audit(database.engine, spec_of(2, DEEP, **changes), attacks=["refinement"], **options)


@pytest.mark.campaign_on("clickhouse")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS if name != "spark"])
@pytest.mark.slow
def test_every_engine_finds_the_same(name: str) -> None:
    source = [(value, other) for value in ("a1", "a2", "b1", "b2") for other in ("x", "y")]
    release = {("a1", "*"): 3, ("A", "*"): 3, ("*", "*"): 3, ("B", "x"): 4, ("B", "X"): 1}
    with subject_of(name) as subject:
        subject.table("s", dict.fromkeys(NAMES, "text"), source)
        subject.table(
            "r", dict.fromkeys(NAMES, "text"), [labels for labels, rows in release.items() for _ in range(rows)]
        )
        engine = subject.connect(read_only=name not in ("duckdb", "clickhouse"))
        try:
            found = audit(engine, spec_of(3, DEEP, FLAT), attacks=["refinement"], made_by="arx").attacks
        finally:
            engine.close()
    assert [(attack.exposed, attack.risk) for attack in found] == [(6, pytest.approx(0.5)), (0, 0)]
