"""Refinement of sensitive values: which classes a person cannot be in, against every source that gives the release."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest

from kanon_sql import Spec, audit
from kanon_sql.disclosure.attacks import Attack
from tests.conftest import Database
from tests.disclosure.attacks.test_refinement import never_sweep
from tests.oracles.local import Column, Local, Part, Vector, released, worlds
from tests.oracles.peeled import Peeled
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import engine_marks

TREES: list[dict[str, list[str]]] = [{"A": ["a1", "a2"], "B": ["b1", "b2"]}, {"X": ["x1"], "Y": ["y1"]}]
PATHS = [{value: (value, group, "*") for group, values in tree.items() for value in values} for tree in TREES]
NAMES = ("q", "p")

Classes = Mapping[Vector, Part]


def spec_of(k: int, count: int, recoding: str) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "privacy": [{"k_anonymity": k}], "recoding": recoding,
            "quasi_identifiers": {name: {"tree": tree} for name, tree in zip(NAMES, TREES[:count], strict=False)},
            "sensitive": ["d"],
        }
    )  # fmt: skip


def attacked(database: Database, spec: Spec) -> Attack:
    made_by = "arx" if spec.recoding.is_full_domain else None
    found = audit(database.engine, spec, attacks=["refinement"], reveal=99, made_by=made_by).attacks
    (attack,) = (attack for attack in found if attack.about == "d")
    return attack


def put(database: Database, classes: Classes, values: Mapping[Vector, Sequence[str]]) -> None:
    columns = [*NAMES[: len(next(iter(classes)))], "d"]
    source = [(*vector, "d0") for part in classes.values() for vector, rows in part.items() for _ in range(rows)]
    database.table("s", columns, source)
    database.table("r", columns, [(*labels, value) for labels, held in values.items() for value in held])


def truth(every: Collection[Classes], values: Mapping[Vector, Sequence[str]], vector: Vector) -> float:
    """The share of the values in classes that match a person that no source gives them."""
    match = [
        labels
        for labels in values
        if all(label in paths[value] for paths, value, label in zip(PATHS, vector, labels, strict=False))
    ]
    there = {value for labels in match for value in values[labels]}
    possible = {value for classes in every for labels in match if vector in classes[labels] for value in values[labels]}
    return 1 - len(possible) / len(there)


def sources(recoding: str, k: int, count: int, rows: int, draw: random.Random, *, sweeps: bool) -> list[list[Classes]]:
    """Some releases: the classes of each source that gives them."""
    if recoding == "full_domain":
        every = Peeled(PATHS[:count], k).worlds(rows)
        return [list(every[release]) for release in draw.sample(sorted(every, key=sorted), 12)]
    local, found = Local([Column(paths) for paths in PATHS[:count]], k, sweeps=sweeps), []
    drawn = list(zip(PATHS[:count], (["a1"], []), strict=False))
    for _ in range(4):
        source = Counter(tuple(draw.choice([*paths, *skew]) for paths, skew in drawn) for _ in range(rows))
        have = [sorted({vector[place] for vector in source}) for place in range(count)]
        found.append(worlds(local, released(local.release(dict(source))), have))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recoding", "k", "count", "rows", "sweeps"),
    [
        ("local", 2, 1, 9, False),
        ("local", 3, 1, 12, False),
        ("local", 2, 1, 9, True),
        ("local", 3, 1, 10, True),
        ("full_domain", 2, 1, 8, True),
        ("full_domain", 2, 2, 6, True),
    ],
)
def test_what_a_person_cannot_have_is_impossible_in_every_source(
    database: Database, monkeypatch: pytest.MonkeyPatch, recoding: str, k: int, count: int, rows: int, sweeps: bool
) -> None:
    if not sweeps:
        never_sweep(monkeypatch)
    draw, found = random.Random(rows), 0
    for every in sources(recoding, k, count, rows, draw, sweeps=sweeps):
        values = {
            labels: [f"d{draw.randrange(8)}" for _ in range(sum(part.values()))]
            for labels, part in sorted(every[0].items())
        }
        put(database, every[0], values)
        attack = attacked(database, spec_of(k, count, recoding))
        shares = {vector: truth(every, values, vector) for part in every[0].values() for vector in part}
        assert attack.examined == rows
        assert all(shares[tuple(case["values"].values())] for case in attack.revealed or ())
        assert attack.risk is not None
        assert attack.risk <= max(shares.values()) + 1e-9
        found += attack.exposed
        database.clear()
    assert found


def test_a_person_is_not_in_what_was_left_over(database: Database) -> None:
    """Both classes match a1, but a row with a1 would have been released with A; b1 is left over for certain."""
    database.table("s", ["q", "d"], [("a1", "-"), ("a2", "-"), ("a2", "-"), ("b1", "-"), ("b2", "-")])
    database.table("r", ["q", "d"], [*[("A", "flu")] * 3, ("*", "flu"), ("*", "cold")])
    attack = attacked(database, spec_of(3, 1, "full_domain"))
    assert (attack.examined, attack.exposed, attack.risk) == (5, 3, 0.5)
    assert attack.notes[1].endswith("(50.0% of the values on average); one value is left for 3 of them")


@pytest.mark.campaign_on("clickhouse")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS if name != "spark"])
@pytest.mark.slow
def test_every_engine_finds_the_same(name: str) -> None:
    lines: dict[str, list[Any]] = {
        "s": [("a1", "-"), ("a2", "-"), ("a2", "-"), ("b1", "-"), ("b2", "-")],
        "r": [*[("A", "flu")] * 3, ("*", "flu"), ("*", None)],
    }
    with subject_of(name) as subject:
        for table, rows in lines.items():
            subject.table(table, {"q": "text", "d": "text"}, rows)
        engine = subject.connect(read_only=name not in ("duckdb", "clickhouse"))
        try:
            found = audit(engine, spec_of(3, 1, "full_domain"), attacks=["refinement"], made_by="arx").attacks
        finally:
            engine.close()
    assert [(attack.about, attack.exposed, attack.risk) for attack in found] == [("q", 2, 0.5), ("d", 3, 0.5)]
