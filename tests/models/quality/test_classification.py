"""The classification metric: random tables against brute force over every node, by hand, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines import Deadline
from kanon_sql.evaluate import NothingToSearch, searched
from kanon_sql.search import HEURISTICS, STRATEGIES, Batch, search
from tests.conftest import Database
from tests.oracles.lattice import Oracle
from tests.oracles.metric_forms import kept_of
from tests.oracles.model import Node
from tests.support.oracle_cases import Case, cases, load
from tests.support.specs import refusals
from tests.support.strategies import examples
from tests.support.suppressions import suppressing


def minority(oracle: Oracle, rows: Sequence[int], column: str) -> int:
    """Rows whose class value is not the most frequent one among them; NULL is a value."""
    return len(rows) - max(Counter(oracle.rows[index][column] for index in rows).values(), default=0)


def lost(oracle: Oracle, node: Node, column: str, monotone: bool) -> float:
    """Iyengar 2002: rows that are suppressed, or not of their class's majority, as a share of all."""
    kept, every = kept_of(oracle, node)
    groups = list((every if monotone else kept).values())
    gone = len(oracle.rows) - sum(map(len, groups))
    return (gone + sum(minority(oracle, group, column) for group in groups)) / len(oracle.rows)


@st.composite
def told(draw: st.DrawFn) -> tuple[Case, list[str | None], str, bool]:
    """A case, the class values of its rows, and the column of class values: one that is protected, maybe."""
    case = draw(cases(max_nodes=16))
    size = len(case.problem.rows)
    values = draw(st.lists(st.sampled_from(["yes", "no", "no ", None]), min_size=size, max_size=size))
    return case, values, draw(st.sampled_from(["told", *case.problem.sensitive])), draw(st.booleans())


@given(told())
@examples(15)
def test_every_node_and_every_search(shared_database: Database, folder: Path, given: Any) -> None:
    case, values, column, monotone = given
    spec = load(shared_database, folder, replace(case, metric="loss"))
    connection = shared_database.connection
    connection.execute("ALTER TABLE people ADD COLUMN told VARCHAR")
    connection.execute("UPDATE people SET told = list_extract(?, serial + 1)", [values])
    rows = [{**row, "told": value} for row, value in zip(case.problem.rows, values, strict=True)]
    case = replace(case, problem=replace(case.problem, rows=rows))
    options = type(spec.search).model_validate({"metric": "classification", "classify": column, "monotone": monotone})
    spec = spec.model_copy(update={"search": options, "keep": ("serial", "told")})
    oracle, engine = case.problem.oracle(), shared_database.engine
    with engine.run(Deadline(None)), searched(engine, spec) as found:
        if isinstance(found, NothingToSearch):
            return
        evaluator = found.evaluator
        nodes = list(product(*(range(height + 1) for height in oracle.heights)))
        question = evaluator.question()
        verdicts = {verdict.node: verdict for verdict in evaluator.ask(Batch(tuple(nodes), metrics=True))}
        for node, verdict in verdicts.items():
            assert verdict.metric == pytest.approx(lost(oracle, node, column, monotone)), node
            assert verdict.suppressed == oracle.evaluate(node).suppressed
            (alone,) = evaluator.verdicts([node], evaluator.metric)
            assert alone == verdict
            for above, other in verdicts.items():
                if all(a >= b for a, b in zip(above, node, strict=True)):
                    assert verdict.floor is not None
                    assert other.metric is not None
                    assert verdict.floor <= other.metric
                    assert question.bound(node) <= other.metric
            assert question.least(verdict) <= (verdict.metric or 0)
        inside = set(oracle.all_nodes())
        satisfying = [verdict for node, verdict in verdicts.items() if node in inside and verdict.satisfied]
        best = min(satisfying, key=question.rank, default=None)
        event("found" if best else "nothing")
        for algorithm in STRATEGIES.keys() - {"samarati", *HEURISTICS}:
            outcome = search(algorithm, question, evaluator.ask).run()
            assert outcome.proven, algorithm
            assert (outcome.best and outcome.best.node) == (best and best.node), algorithm


def spec_of(limit: float = 0, **search: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released",
            "quasi_identifiers": {
                "age": {"tree": {"*": {"young": ["21", "22"], "old": ["51", "52"]}}},
                "sex": None,
            },
            "sensitive": ["income"], "privacy": [{"k_anonymity": 2}], "suppression": suppressing(limit),
            "search": {"metric": "classification", "classify": "income", **search},
        }
    )  # fmt: skip


def people(database: Database) -> None:
    """Age tells the income, but for one row, and sex does not."""
    rows = [
        ("21", "f", "low"), ("21", "m", "low"), ("22", "f", "low"), ("22", "m", "high"),
        ("51", "f", "high"), ("51", "m", "high"), ("52", "f", "high"), ("52", "m", "high"),
    ]  # fmt: skip
    database.table("people", ["age", "sex", "income"], rows)


@pytest.mark.slow
def test_by_hand(database: Database) -> None:
    """By age one of eight rows is told wrongly, by sex three; the loss would rather keep neither apart."""
    people(database)
    result = kanon_sql.anonymize(database.engine, spec_of())
    assert result.passed
    assert result.metrics["classification"] == 1 / 8
    assert result.node == {"age": 0, "sex": 1}
    at_top = kanon_sql.plan(database.engine, spec_of().model_copy(update={"quasi_identifiers": top_of(spec_of())}))
    assert at_top.metrics["classification"] == 3 / 8, "five of eight are high"


def top_of(spec: kanon_sql.Spec) -> dict[str, Any]:
    tops = {"age": 2, "sex": 1}
    return {
        name: column.model_copy(update={"minimum_level": tops[name]}) for name, column in spec.quasi_identifiers.items()
    }


def test_suppressed_rows_count_fully(database: Database) -> None:
    """Seven rows alike of one value, and one of its own: at level 0 it is suppressed and lost, as it is at the top."""
    database.table("people", ["age", "sex", "income"], [("21", "f", "low")] * 7 + [("51", "f", "high")])
    result = kanon_sql.plan(database.engine, spec_of(limit=1))
    assert result.metrics["classification"] == 1 / 8
    monotone = kanon_sql.plan(database.engine, spec_of(limit=1, monotone=True))
    assert monotone.metrics["classification (monotone)"] == 0
    assert monotone.rows["suppressed"] == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"search": {"metric": "classification"}}, "missing 'classify'"),
        ({"search": {"metric": "loss", "classify": "income"}}, "does not use this option, only classification"),
        ({"search": {"metric": "classification", "classify": "age"}}, "is a quasi-identifier"),
        ({"search": {"metric": "classification", "classify": "shoes"}}, "is not released"),
        (
            {"search": {"metric": "classification", "classify": "w"}, "keep": ["w"], "recoding": "local"},
            "use recoding: full_domain",
        ),
        (
            {"search": {"metric": "classification", "classify": "w", "algorithm": "k_optimize"}, "keep": ["w"]},
            "k_optimize needs a metric",
        ),
        ({"search": {"metric": "classification", "classify": "w", "aggregate": "rank"}, "keep": ["w"]}, "no loss per"),
        ({"search": {"metric": "classification", "classify": "w", "gs_factor": 0.2}, "keep": ["w"]}, "does not weigh"),
    ],
)
def test_what_a_spec_may_not_say(changes: dict[str, Any], message: str) -> None:
    assert any(message in problem for problem in refusals(**changes))


def test_a_spec_reads_back_and_a_script_is_rendered() -> None:
    spec = spec_of()
    assert kanon_sql.Spec.from_dict(spec.to_dict()) == spec
    assert spec.to_dict()["search"]["classify"] == "income"
    assert "classify" not in spec_of().model_copy(update={"search": type(spec.search)()}).to_dict()["search"]
    assert "MAX(value_rows)" in kanon_sql.render(spec, "duckdb").text
