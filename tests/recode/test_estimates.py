"""Estimates of what nodes lose with single cells suppressed, against the same in plain Python over rows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from math import log
from typing import Any

import pytest

import kanon_sql
from kanon_sql.recode import cells
from kanon_sql.recode.estimate import Estimates
from tests.conftest import Database
from tests.servers import subject_of

TREES: dict[str, Any] = {
    "x": {"north": {"a": None, "b": None}, "south": {"c": None, "d": None, "e": None}},
    "y": dict.fromkeys("1234"),
    "z": {"p": ["q", "r"], "s": ["t"]},
}
WEIGHTS = {"x": 1.0, "y": 2.0, "z": 1.0}


def paths(tree: Any) -> Iterator[tuple[str, ...]]:
    """Every value of a tree with its labels, the top among them."""
    children = dict.fromkeys(tree) if isinstance(tree, list) else tree
    for name, below in children.items():
        if below is None:
            yield (name, "*")
        else:
            for path in paths(below):
                yield (*path[:-1], name, "*")


PATHS = {name: {path[0]: path for path in paths(tree)} for name, tree in TREES.items()}


def estimated(rows: list[dict[str, str]], node: Mapping[str, int], k: int) -> float:
    """What the rows lose: column by column, cells stay where k rows agree on them and on what they kept before."""
    share = {name: WEIGHTS[name] / sum(WEIGHTS.values()) for name in TREES}

    def label(row: Mapping[str, str], name: str) -> str:
        return PATHS[name][row[name]][node[name]]

    def lost(row: Mapping[str, str], name: str) -> float:
        under = sum(path[node[name]] == label(row, name) for path in PATHS[name].values())
        return share[name] * (under - 1) / (len(PATHS[name]) - 1)

    def worth(name: str) -> float:
        counts = Counter(label(row, name) for row in rows)
        nats = -log(sum(count**2 for count in counts.values()) / len(rows) ** 2)
        return sum(share[name] - lost(row, name) for row in rows) / len(rows) / (0.05 + nats)

    kept: list[tuple[Any, ...]] = [() for _ in rows]
    total = 0.0
    for name in sorted(TREES, key=lambda name: (-round(worth(name), 6), list(TREES).index(name))):
        together = Counter((before, label(row, name)) for before, row in zip(kept, rows, strict=True))
        stays = [together[before, label(row, name)] >= k for before, row in zip(kept, rows, strict=True)]
        total += sum(lost(row, name) if stay else share[name] for stay, row in zip(stays, rows, strict=True))
        labels = [label(row, name) if stay else None for stay, row in zip(stays, rows, strict=True)]
        kept = [(*before, own) for before, own in zip(kept, labels, strict=True)]
    return total / len(rows)


def spec(k: int) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": "visits_release",
            "quasi_identifiers": {name: {"tree": tree, "weight": WEIGHTS[name]} for name, tree in TREES.items()},
            "privacy": [{"k_anonymity": k}],
            "recoding": "cells",
        }
    )


def random_rows(rng: random.Random) -> list[dict[str, str]]:
    liked = {name: rng.choices(list(own), k=3) for name, own in PATHS.items()}
    return [
        {name: rng.choice(liked[name] if rng.random() < 0.7 else list(own)) for name, own in PATHS.items()}
        for _ in range(rng.choice([9, 40]))
    ]


def assert_estimated(engine: kanon_sql.Engine, rows: list[dict[str, str]], k: int, patch: pytest.MonkeyPatch) -> None:
    """Every node of the lattice in few statements."""
    found: dict[Any, float] = {}
    every = [*product(range(3), range(2), range(3))]

    def all_of(self: Any, estimates: Estimates, *_: Any) -> None:
        found.update(estimates.of(every))

    patch.setattr(cells.Suppressing, "_estimate", all_of)
    kanon_sql.plan(engine, spec(k))
    assert len(found) == len(every)
    for node, loss in found.items():
        expected = estimated(rows, dict(zip(TREES, node, strict=True)), k)
        assert loss == pytest.approx(expected, abs=1e-7), (node, k)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_random_tables(database: Database, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    for _ in range(1 if seed == 1 else 5):
        rows = random_rows(rng)
        database.table("visits", list(TREES), [tuple(row.values()) for row in rows])
        assert_estimated(database.engine, rows, rng.randint(2, 4), monkeypatch)


@pytest.mark.slow
def test_many_vectors_take_several_statements(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanon_sql.recode.estimate.MOST_PLACED", 40)
    rows = random_rows(random.Random(3))
    database.table("visits", list(TREES), [tuple(row.values()) for row in rows])
    assert_estimated(database.engine, rows, 3, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["postgres", "sqlite", "mariadb", "clickhouse"])
def test_other_engines(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = random_rows(random.Random(4))
    with subject_of(name) as subject:
        subject.table("visits", dict.fromkeys(TREES, "text"), [tuple(row.values()) for row in rows])
        engine = subject.connect()
        assert_estimated(engine, rows, 3, monkeypatch)
        engine.close()
