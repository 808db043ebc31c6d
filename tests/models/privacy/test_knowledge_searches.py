"""(c,k)-safety, the privacy skyline and epsilon-privacy in a search: every node, against an oracle."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines import Deadline
from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import Frames, NothingToSearch, searched
from kanon_sql.evaluate.classes import classes as composed_classes
from kanon_sql.models import Monotonicity, model_of
from kanon_sql.search import HEURISTICS, STRATEGIES, Batch, search
from kanon_sql.spec import parse_requirement
from kanon_sql.sql import Sql, identifier
from tests.conftest import Database
from tests.oracles.knowledge import (
    Histogram,
)
from tests.oracles.lattice import Oracle
from tests.oracles.metric_forms import kept_of
from tests.oracles.model import Node
from tests.support.knowledge import ACROSS, FAMILY, VALUES, Asked, drawn_asked, tables
from tests.support.oracle_cases import Case, forms_of, load
from tests.support.pitfalls import classes, spec_of
from tests.support.specs import QUIET
from tests.support.strategies import examples, problems


@st.composite
def searches(draw: st.DrawFn) -> Case:
    """A random problem with an attribute of many values, for rows."""
    problem = draw(problems(units=False, max_nodes=16, max_rows=40))
    rng, values = random.Random(draw(st.integers(0, 2**32))), VALUES[: draw(st.integers(3, 7))]
    held = [*values, *([None] if draw(st.booleans()) else [])]
    rows = [{**row, "s": rng.choice(held)} for row in problem.rows for _ in range(rng.choice([1, 1, 2, 3]))]
    few = [item for item in problem.requirements if "k_anonymity" in item] or [{"k_anonymity": {"k": 2}}]
    limit = draw(st.sampled_from([0, 0, 0.3, 0.6, 0.9]))
    nulls = draw(st.sampled_from(["value", "suppress"]))
    problem = replace(problem, rows=rows, sensitive=["s"], requirements=few, limit=limit, weights={}, nulls=nulls)
    forms = {column: draw(st.sampled_from(forms_of(h))) for column, h in problem.hierarchies.items()}
    return Case(problem=problem, forms=forms, style=draw(st.sampled_from(["drop", "mask"])))


def with_asked(spec: kanon_sql.Spec, asked: Asked) -> kanon_sql.Spec:
    return spec.model_copy(update={"privacy": (*spec.privacy, parse_requirement(asked.given()))})


def suppressed_at(oracle: Oracle, asked: Asked, node: Node) -> int:
    """Rows that a node suppresses: those of classes that violate any of the requirements."""
    kept, found = kept_of(oracle, node)
    table = [Counter(oracle.rows[index]["s"] for index in members) for members in found.values()]
    original = Counter(row["s"] for row in oracle.rows)
    measures = asked.measures(table, original, suppresses=True)
    satisfying = {vector for vector, measure in zip(found, measures, strict=True) if asked.meets(measure)}
    return len(oracle.rows) - sum(len(members) for vector, members in kept.items() if vector in satisfying)


@given(case=searches(), asked=drawn_asked())
@examples(14)
def test_every_node_and_every_search(shared_database: Database, folder: Path, case: Case, asked: Asked) -> None:
    spec = with_asked(load(shared_database, folder, case), asked)
    oracle, engine = case.problem.oracle(), shared_database.engine
    with engine.run(Deadline(None)), searched(engine, spec) as found:
        nodes = list(product(*(range(height + 1) for height in oracle.heights)))
        expected = {node: suppressed_at(oracle, asked, node) for node in nodes}
        if isinstance(found, NothingToSearch):
            assert not any(oracle.satisfied_with(expected[node]) for node in oracle.all_nodes())
            return
        evaluator = found.evaluator
        for metrics in (False, True):
            verdicts = {verdict.node: verdict for verdict in evaluator.ask(Batch(tuple(nodes), metrics=metrics))}
            for node, verdict in verdicts.items():
                assert verdict.suppressed == expected[node], (node, metrics, asked)
                below = [one for one in nodes if all(a <= b for a, b in zip(one, node, strict=True))]
                if verdict.prunable:
                    assert not any(oracle.satisfied_with(expected[one]) for one in below), node
        question = evaluator.question()
        satisfying = [verdicts[node] for node in oracle.all_nodes() if verdicts[node].satisfied]
        best = min(satisfying, key=question.rank, default=None)
        event("found" if best else "nothing")
        for algorithm in sorted(STRATEGIES.keys() - {"samarati"} - set(HEURISTICS)):
            outcome = search(algorithm, question, evaluator.ask).run()
            assert (outcome.best and outcome.best.node) == (best and best.node), algorithm


@pytest.mark.parametrize(
    ("asked", "table"),
    [
        (Asked("ck_safety", {"c": 0.9, "k": 2}), ACROSS),
        (Asked("privacy_skyline", {"c": 0.9, "l": 1, "k": 0, "m": 1}), FAMILY),
        (Asked("privacy_skyline", {"c": 0.9, "l": 1, "k": 1, "m": 1}), FAMILY),
    ],
)
@pytest.mark.parametrize("nodes", [(1, 2), (1, 1)])
def test_nodes_that_are_judged_together_tell_nothing_of_each_other(
    asked: Asked, table: Sequence[Histogram], nodes: tuple[int, int]
) -> None:
    """Two classes, of two nodes or of one."""
    rows = [
        (node, f"class {number}", value, count)
        for number, (node, histogram) in enumerate(zip(nodes, table, strict=True))
        for value, count in histogram.items()
    ]
    keys = [identifier(name) for name in ("node", "q")]
    frames = Frames(
        base=Sql("vectors"), values={"s": Sql("vectors")}, counting="rows", keys=keys, within=keys[:1], facts={"s": ()}
    )
    composed = composed_classes(frames, [model_of(parse_requirement(asked.given()))])
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE vectors (node INT, q VARCHAR, value_code VARCHAR, row_count BIGINT)")
        connection.execute("ALTER TABLE vectors ADD COLUMN reference_share DOUBLE")
        connection.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?, 0)", rows)
        found = connection.execute(f"SELECT m0 FROM ({composed}) ORDER BY k1").fetchall()
    of_nodes = [[other for node, other in zip(nodes, table, strict=True) if node == own] for own in nodes]
    places = [0, 0] if nodes[0] != nodes[1] else [0, 1]
    expected = [asked.belief(own, place) for own, place in zip(of_nodes, places, strict=True)]
    assert [belief for (belief,) in found] == pytest.approx([float(belief) for belief in expected], abs=1e-12)
    apart = [asked.belief([histogram], 0) for histogram in table]
    assert (expected != apart) is (nodes[0] == nodes[1])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "asked",
    [Asked("ck_safety", {"c": 0.7, "k": 1}), Asked("privacy_skyline", {"c": 0.8, "l": 0, "k": 1, "m": 2})],
)
def test_a_class_that_is_suppressed_tells_nothing_of_others(database: Database, asked: Asked) -> None:
    """One class holds nothing but a value. In check it tells of persons of others; in a search it is left out."""
    table = [dict.fromkeys(VALUES, 3), dict.fromkeys(VALUES, 4), {VALUES[0]: 6}]
    classes(database, *table)
    spec = spec_of({"q": None}, [asked.given()], sensitive=["s"], suppression={"max_share": 0.2})
    result = kanon_sql.anonymize(database.engine, spec)
    assert (result.node, result.rows["suppressed"]) == ({"q": 0}, 6)
    (found,) = kanon_sql.check(database.engine, spec, "people").achieved.values()
    assert found["violating_classes"] == 3
    (found,) = kanon_sql.check(database.engine, spec).achieved.values()
    assert found["violating_classes"] == 0


@pytest.mark.slow
@given(case=searches(), asked=drawn_asked())
@examples(14)
def test_what_is_released_satisfies(shared_database: Database, folder: Path, case: Case, asked: Asked) -> None:
    """The written table, counted in plain Python, and by check; no release says that no node satisfies."""
    spec = with_asked(load(shared_database, folder, replace(case, style="drop")), asked)
    result = kanon_sql.anonymize(shared_database.engine, spec)
    oracle = case.problem.oracle()
    nodes = [node for node in oracle.all_nodes() if oracle.satisfied_with(suppressed_at(oracle, asked, node))]
    assert result.passed == bool(nodes), result
    if not result.passed:
        return
    names = ", ".join(f'"{name}"' for name in oracle.columns)
    held: dict[tuple[Any, ...], Counter[Any]] = {}
    for *vector, value in shared_database.connection.execute(f"SELECT {names}, s FROM people_release").fetchall():
        held.setdefault(tuple(vector), Counter())[value] += 1
    original = Counter(row["s"] for row in oracle.rows)
    measures = asked.measures(list(held.values()), original, suppresses=False)
    assert all(asked.meets(measure) for measure in measures), asked
    assert kanon_sql.check(shared_database.engine, spec).passed


@given(one=tables(most_classes=1), other=tables(most_classes=1), asked=drawn_asked())
@examples(100)
def test_merging_two_classes_tells_no_more(
    one: list[dict[Any, int]], other: list[dict[Any, int]], asked: Asked
) -> None:
    """Monotone without suppression: what is proven where the models are declared."""
    table, original = [*one, *other], Counter(one[0]) + Counter(other[0])
    before = asked.measures(table, original, suppresses=False)
    after = asked.measures([original], original, suppresses=False)
    if None not in before:
        assert after[0] is not None
        assert after[0] <= max(filter(None, before)), (asked, table)
    assert model_of(parse_requirement(asked.given())).monotonicity(False) is Monotonicity.WITHOUT_SUPPRESSION


def test_merging_with_what_was_suppressed_may_tell_more() -> None:
    """Not monotone with suppression."""
    for asked in (
        Asked("ck_safety", {"c": 0.7, "k": 0}),
        Asked("privacy_skyline", {"l": 0, "k": 0, "m": 0, "c": 0.7}),
        Asked("epsilon_privacy", {"epsilon": 1.5, "stubbornness": 3}),
    ):
        (safe,) = asked.measures([{"a": 2, "b": 2}], {}, suppresses=True)
        (merged,) = asked.measures([{"a": 30, "b": 2}], {}, suppresses=True)
        assert asked.meets(safe)
        assert not asked.meets(merged)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("recoding", ["local", "mondrian", "subtree"])
def test_other_recodings_judge_classes_one_by_one(database: Database, recoding: str) -> None:
    """Refused where other classes matter; taken where they do not."""
    rows = [(f"{n // 4:02}", VALUES[n % 6]) for n in range(72)]
    database.table("people", {"q": "VARCHAR", "s": "VARCHAR"}, rows)

    def spec(*given: Asked) -> kanon_sql.Spec:
        return spec_of({"q": {"prefix": [1]}}, [item.given() for item in given], sensitive=["s"], recoding=recoding)

    ck, point = {"c": 0.9, "k": 1}, {"c": 0.9, "m": 1}
    for asked in (Asked("ck_safety", ck), Asked("privacy_skyline", point)):
        with pytest.raises(UnsupportedError, match="this is about all of them together; use recoding: full"):
            kanon_sql.anonymize(database.engine, spec(asked))
    factor = {"epsilon": 6, "stubbornness": 10}
    alone = [
        Asked("ck_safety", {"c": 0.5, "k": 0}),
        Asked("privacy_skyline", {"c": 0.6, "l": 1, "k": 1, "m": 0}),
        Asked("epsilon_privacy", factor),
    ]
    result = kanon_sql.anonymize(database.engine, spec(*alone))
    assert result.passed
    held: dict[str, Counter[Any]] = {}
    for label, value in database.rows("people_release"):
        held.setdefault(label, Counter())[value] += 1
    original = sum(held.values(), Counter())
    for asked in alone:
        assert all(map(asked.meets, asked.measures(list(held.values()), original, suppresses=False))), asked


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (Asked("ck_safety", {"c": 0.9, "k": 6}), "with 7 different values, 6 implications can tell which"),
        (Asked("privacy_skyline", {"c": 0.9, "l": 6}), "with 7 different values, to lack 6 of them can tell which"),
    ],
)
def test_out_of_reach(database: Database, asked: Asked, says: str) -> None:
    classes(database, dict.fromkeys(VALUES, 9), dict.fromkeys(VALUES, 4))
    result = kanon_sql.anonymize(database.engine, spec_of({"q": None}, [asked.given()], sensitive=["s"]))
    assert not result.passed
    assert says in result.message


@pytest.mark.slow
def test_k_optimize_takes_what_looks_at_one_class_alone(database: Database) -> None:
    rows = [(n % 20, VALUES[n * n % 7 if n % 20 < 4 else n % 6]) for n in range(140)]
    database.table("people", {"q": "INTEGER", "s": "VARCHAR"}, rows)

    def spec(*given: Asked) -> kanon_sql.Spec:
        return spec_of(
            {"q": {"intervals": [5, 10]}},
            [{"k_anonymity": 2}, *(item.given() for item in given)],
            sensitive=["s"],
            search={"algorithm": "k_optimize"},
            suppression={"max_rows": 0},
            warnings=QUIET,
        )

    for asked in (Asked("ck_safety", {"c": 0.9, "k": 1}), Asked("privacy_skyline", {"c": 0.9, "m": 1})):
        with pytest.raises(UnsupportedError, match="this is about all of them together"):
            kanon_sql.anonymize(database.engine, spec(asked))
    with pytest.raises(UnsupportedError, match="it counts the values of a class alone"):
        kanon_sql.anonymize(database.engine, spec(Asked("epsilon_privacy", {"epsilon": 3, "stubbornness": 2})))
    alone = [Asked("ck_safety", {"c": 0.3, "k": 0}), Asked("privacy_skyline", {"c": 0.5, "l": 1, "k": 2, "m": 0})]
    assert kanon_sql.anonymize(database.engine, spec(*alone)).passed
    held: dict[str, Counter[Any]] = {}
    for label, value in database.rows("people_release"):
        held.setdefault(label, Counter())[value] += 1
    assert len(held) > 1
    for asked in alone:
        assert all(map(asked.meets, asked.measures(list(held.values()), {}, suppresses=False))), asked
