"""Both forms of asking about nodes, and keys of one number or several, give the same verdicts."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.duckdb import CAPABILITIES, DuckDBEngine
from kanon_sql.evaluate.search import searched
from kanon_sql.hierarchies import codes
from kanon_sql.search import Batch, Verdict
from kanon_sql.sql.statement import Statement

L_AND_T = [
    {"k_anonymity": 3},
    {"l_diversity": {"attribute": "dx", "l": 1.7, "variant": "entropy"}},
    {"t_closeness": {"attribute": "job", "t": 0.5}},
]
CASES: dict[str, dict[str, Any]] = {
    "k": {"privacy": [{"k_anonymity": 3}]},
    "k, l and t": {"privacy": L_AND_T},
    "persons": {"privacy": [{"k_anonymity": 3}], "unit": "pid"},
    "persons, k, l and t": {"privacy": L_AND_T, "unit": "pid"},
    "discernibility": {"privacy": [{"k_anonymity": 3}], "search": {"metric": "discernibility"}},
    "average class size": {"privacy": L_AND_T, "search": {"metric": "average_class_size"}},
}


@pytest.fixture(scope="module")
def people() -> Any:
    draw = random.Random(11)
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE people (pid INTEGER, age INTEGER, zip VARCHAR, sex VARCHAR, dx VARCHAR, job VARCHAR)"
        )
        for row in range(200):
            cells = [row % 160, draw.randint(1, 40), f"{draw.randint(100, 120)}", draw.choice(["M", "F", None])]
            connection.execute(
                "INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", [*cells, draw.choice("abc"), draw.choice("xy")]
            )
        yield connection


def every_verdict(
    connection: Any, case: str, nodes_as_rows: int, *, metrics: bool
) -> tuple[list[Verdict], list[Statement]]:
    """The verdicts of the whole lattice, at once, and the statements that asked for them."""
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "quasi_identifiers": {"age": {"intervals": [5, 10]}, "zip": {"prefix": [2, 1]}, "sex": None},
            "sensitive": ["dx", "job"],
            "suppression": {"max_share": 0.3},
            **CASES[case],
        }
    )
    engine = kanon_sql.connect(connection)
    assert isinstance(engine, DuckDBEngine)
    engine.capabilities = replace(engine.capabilities, nodes_as_rows=nodes_as_rows, nodes_per_statement=100)
    with searched(engine, spec) as found:
        before = len(engine.meter.log)
        verdicts = found.evaluator.ask(Batch(tuple(found.evaluator.question().lattice), metrics))
        asked = [item for item in engine.meter.log[before:] if item.name == "evaluate/node"]
    return sorted(verdicts, key=lambda verdict: verdict.node), asked


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES)
def test_nodes_as_rows_are_the_nodes_by_themselves(people: Any, case: str) -> None:
    carries_nothing = "search" in CASES[case]
    by_themselves, plain = every_verdict(people, case, 0, metrics=carries_nothing)
    as_rows, joined = every_verdict(people, case, 10**9, metrics=carries_nothing)
    assert as_rows == by_themselves
    assert len({verdict.suppressed for verdict in as_rows}) > 5, "the nodes differ"
    assert (len(plain), len(joined)) == (1, 1)
    assert "CROSS JOIN" in joined[0].sql
    within = joined[0].sql.count("AS pooled")  # each puts the counts of one class together
    assert joined[0].sql.count("UNION ALL") - within == CAPABILITIES.branches - 1
    assert "CROSS JOIN" not in plain[0].sql


@pytest.mark.sampled(4)
@pytest.mark.parametrize("nodes_as_rows", [0, 10**9])
@pytest.mark.parametrize("case", ["k", "persons, k, l and t"])
def test_keys_of_several_numbers_are_the_key_of_one(
    people: Any, case: str, nodes_as_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_one, short = every_verdict(people, case, nodes_as_rows, metrics=False)
    monkeypatch.setattr(codes, "WORD", 6)  # age alone needs two numbers, as its paths are too long for one
    of_several, asked = every_verdict(people, case, nodes_as_rows, metrics=False)
    assert of_several == of_one
    assert "code2" in asked[0].sql
    assert "code1" not in short[0].sql


def test_a_costly_metric_is_asked_node_by_node(people: Any) -> None:
    """Domain sizes are joined by level, which a row of a node cannot choose."""
    verdicts, asked = every_verdict(people, "k", 10**9, metrics=True)
    assert all(verdict.metric is not None for verdict in verdicts)
    assert "CROSS JOIN" not in asked[0].sql
