"""Rolled-up frequency sets answer as the first one does, and are built only when that pays."""

from __future__ import annotations

import random
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.evaluate import rollup
from kanon_sql.evaluate.rollup import Covering, Coverings
from kanon_sql.evaluate.search import searched
from kanon_sql.search import Batch
from kanon_sql.sql.text import Relation


def people(connection: duckdb.DuckDBPyConnection) -> None:
    draw = random.Random(5)
    connection.execute("CREATE TABLE people (pid INTEGER, age INTEGER, zip VARCHAR, sex VARCHAR, dx VARCHAR)")
    for row in range(300):
        cells = (row % 220, draw.randint(1, 60), f"{draw.randint(100, 140)}", draw.choice("MFX"), draw.choice("abcd"))
        connection.execute("INSERT INTO people VALUES (?, ?, ?, ?, ?)", cells)


SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "quasi_identifiers": {"age": {"intervals": [5, 10, 30]}, "zip": {"prefix": [2, 1]}, "sex": {}},
    "sensitive": ["dx"],
    "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "dx", "l": 2, "variant": "entropy"}}],
    "suppression": {"max_share": 0.4},
}


EXTRAS = [{}, {"unit": "pid"}, {"privacy": [{"k_anonymity": 2}]}]
EVERY_PAIR = [
    pytest.param(extra, metric, marks=() if place == position else pytest.mark.slow)
    for position, metric in enumerate(["loss", "entropy", "ambiguity"])
    for place, extra in enumerate(EXTRAS)
]


@pytest.mark.slow
@pytest.mark.parametrize(("extra", "metric"), EVERY_PAIR)
@pytest.mark.sampled(4)
def test_a_rolled_up_set_gives_the_same_verdicts(
    monkeypatch: pytest.MonkeyPatch, extra: dict[str, Any], metric: str
) -> None:
    spec = kanon_sql.Spec.from_dict({**SPEC, **extra, "search": {"metric": metric}})
    with duckdb.connect() as connection:
        people(connection)
        engine = kanon_sql.connect(connection)
        answers = []
        for eager in (False, True):
            if eager:
                monkeypatch.setattr(rollup, "SMALL", 0)
                monkeypatch.setattr(rollup, "BUILD_COST", 0)
            with searched(engine, spec) as found:
                evaluator = found.evaluator
                nodes = sorted(evaluator.question().lattice, key=lambda node: (sum(node), node), reverse=True)
                verdicts = []
                for node in nodes:
                    verdicts += evaluator.ask(Batch((node,), metrics=True))
                built = sum(statement.name == "evaluate/rollup" for statement in engine.meter.log)
                assert (built > 2) is eager
                answers.append(verdicts)
    for plain, rolled in zip(*answers, strict=True):
        assert (plain.node, plain.satisfied, plain.prunable) == (rolled.node, rolled.satisfied, rolled.prunable)
        assert (plain.suppressed, plain.classes) == (rolled.suppressed, rolled.classes)
        assert rolled.metric == pytest.approx(plain.metric, rel=1e-9)


def covering(node: tuple[int, ...], rows: int) -> Covering:
    return Covering(node, Relation(("t",)), {}, rows)


LABELS = [[1000, 100, 1], [50, 1]]


def test_nothing_is_built_before_it_would_have_paid() -> None:
    sets = Coverings(covering((0, 0), 50_000), LABELS)
    sets.asked([(1, 0)] * rollup.BUILD_COST)
    assert sets.proposal() is None
    sets.asked([(1, 0)] * (2 * rollup.BUILD_COST))
    proposal = sets.proposal()
    assert proposal is not None
    assert proposal[1] == (1, 0)


def test_the_smallest_covering_set_answers() -> None:
    first = covering((0, 0), 50_000)
    sets = Coverings(first, LABELS)
    higher = covering((1, 0), 4_000)
    assert sets.add(higher, first)
    assert sets.best((1, 1)) is higher
    assert sets.best((0, 1)) is first


def test_a_set_that_is_hardly_smaller_is_given_up() -> None:
    first = covering((0, 0), 50_000)
    sets = Coverings(first, LABELS)
    sets.asked([(1, 0)] * 90)
    assert sets.proposal() == (first, (1, 0))
    assert not sets.add(covering((1, 0), 49_000), first)
    sets.asked([(1, 0)] * 90)
    assert sets.proposal() is None
    assert sets.best((2, 1)) is first


def test_a_small_set_is_never_rolled_up() -> None:
    sets = Coverings(covering((0, 0), rollup.SMALL), LABELS)
    sets.asked([(2, 1)] * 90)
    assert sets.proposal() is None
