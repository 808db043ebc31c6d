"""Incognito's variants: the same questions and answers, whichever frequency sets are prepared for them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Deadline
from kanon_sql.errors import SearchTooLarge, UnsupportedError, VerificationError
from kanon_sql.evaluate import NothingToSearch, rollup
from kanon_sql.evaluate.outcome import SearchSummary
from kanon_sql.evaluate.search import searched
from kanon_sql.hierarchies.codes import Codes
from kanon_sql.search import Batch, Question, Stopped, Verdict, search
from kanon_sql.search.lattice import Node, generalizes
from kanon_sql.sql import Dialect
from tests.conftest import Database
from tests.support import literature as lit
from tests.support.oracle_answers import assert_found, metrics_of
from tests.support.oracle_cases import Case, cases, load
from tests.support.search_problems import Evaluator, at_most, binary_question, is_right, make_problem
from tests.support.strategies import examples

incognito_module = import_module("kanon_sql.search.incognito")
VARIANTS = ["basic", "super_roots", "cube"]


# --- what is asked, and what is prepared for it ---------------------------------------------------


def subset_of(question: Question, node: Node) -> frozenset[int]:
    """The quasi-identifiers of a node that are not left out."""
    return frozenset(axis for axis, (level, top) in enumerate(zip(node, question.heights, strict=True)) if level != top)


def batches_of(question: Question, answer: Any, variant: str) -> tuple[list[Batch], Any]:
    evaluator = Evaluator(question, answer)
    outcome = search("incognito", question, evaluator, variant=variant).run()
    return evaluator.batches, outcome


@given(seed=st.integers(0, 2**32), monotone=st.booleans(), families=st.sampled_from([1, 2, 32]))
@examples(150)
def test_every_variant_asks_the_same_and_prepares_what_covers_it(seed: int, monotone: bool, families: int) -> None:
    problem = make_problem(seed, monotone=monotone)
    question = problem.question
    found = {}
    with patch.object(incognito_module, "FAMILIES", families):
        for variant in VARIANTS:
            batches, outcome = batches_of(question, problem.truth.__getitem__, variant)
            assert is_right("incognito", outcome, problem)
            found[variant] = batches
    asked = {
        variant: {(node, batch.metrics) for batch in batches for node in batch.nodes}
        for variant, batches in found.items()
    }
    assert asked["basic"] == asked["super_roots"] == asked["cube"]
    assert not any(batch.prepare for batch in found["basic"])

    assert_cube_prepares_every_larger_set(question, found["cube"])
    assert_super_roots_prepare_one_node_of_a_subset(question, found["super_roots"], families)


def assert_cube_prepares_every_larger_set(question: Question, batches: Sequence[Batch]) -> None:
    lowest = dict(enumerate(question.lattice.bottom))
    every = [axis for axis, top in enumerate(question.heights) if lowest[axis] != top]
    for batch in batches:
        if batch.metrics:
            assert batch.prepare == ()
            continue
        sizes = {len(subset_of(question, node)) for node in batch.nodes}
        if sizes == {0}:
            continue
        (size,) = sizes
        # Exactly the zero generalizations of this size and above, larger ones first.
        expected = [
            tuple(lowest[axis] if axis in chosen else top for axis, top in enumerate(question.heights))
            for count in range(size, len(every) + 1)
            for chosen in combinations(every, count)
        ]
        assert sorted(batch.prepare) == sorted(expected)
        prepared_sizes = [len(subset_of(question, node)) for node in batch.prepare]
        assert prepared_sizes == sorted(prepared_sizes, reverse=True)


def assert_super_roots_prepare_one_node_of_a_subset(
    question: Question, batches: Sequence[Batch], families: int
) -> None:
    for batch in batches:
        assert len(batch.prepare) <= families
        by_subset = {subset_of(question, node): node for node in batch.prepare}
        assert len(by_subset) == len(batch.prepare), "one of a subset"
        for node in batch.nodes:
            if subset_of(question, node) in by_subset:
                assert generalizes(node, by_subset[subset_of(question, node)])


@given(seed=st.integers(0, 2**32))
@examples(200)
def test_a_super_root_is_the_meet_of_its_subsets_roots(seed: int) -> None:
    problem = make_problem(seed, monotone=True)
    question = problem.question
    made = incognito_module._candidates
    candidates: list[Node] = []

    def noted(*given: Any) -> Any:
        found = made(*given)
        candidates.extend(found)
        return found

    with patch.object(incognito_module, "_candidates", noted):
        batches, _ = batches_of(question, problem.truth.__getitem__, "super_roots")
    families: dict[frozenset[int], list[Node]] = {}
    for node in candidates:
        families.setdefault(subset_of(question, node), []).append(node)
    meets = {}
    for subset, family in families.items():
        roots = [node for node in family if not any(other != node and generalizes(node, other) for other in family)]
        if len(family) > 1:
            meets[subset] = tuple(min(root[axis] for root in roots) for axis in range(len(question.heights)))
    prepared = {subset_of(question, node): node for batch in batches for node in batch.prepare}
    assert prepared == meets


def test_a_cube_of_too_many_quasi_identifiers_is_refused_before_asking() -> None:
    evaluator = Evaluator(binary_question(13), at_most(2))
    with pytest.raises(SearchTooLarge, match=r"(?s)13 quasi-identifiers has 8,192 frequency sets.*'super_roots'"):
        search("incognito", evaluator.question, evaluator, variant="cube").run()
    assert not evaluator.batches
    _, outcome = batches_of(binary_question(12), at_most(2), "cube")
    assert outcome.best.metric == 10


def test_a_stopped_search_goes_on_with_its_frequency_sets() -> None:
    question = binary_question(5)
    whole, outcome = batches_of(question, at_most(2), "cube")
    evaluator = Evaluator(question, at_most(2))
    stops = [True, False, True, False]

    def ask(batch: Batch) -> Sequence[Verdict]:
        if stops and stops.pop():
            raise Stopped("for a while")
        return evaluator(batch)

    run = search("incognito", question, ask, variant="cube")
    for _ in range(2):
        with pytest.raises(Stopped):
            run.run()
    assert run.run() == outcome
    assert [batch for batch in evaluator.batches if not batch.metrics] == [b for b in whole if not b.metrics]


# --- the evaluator --------------------------------------------------------------------------------


@pytest.mark.slow
@given(case=cases(max_nodes=24), seed=st.integers(0, 2**32))
@examples(12)
def test_prepared_sets_answer_what_the_first_one_answers(
    shared_database: Database, folder: Path, case: Case, seed: int
) -> None:
    """Any nodes may be prepared, in any order, and withdrawn: the oracle's answers, and no table is left over."""
    spec = load(shared_database, folder, case)
    oracle, draw = case.problem.oracle(), random.Random(seed)
    with searched(shared_database.engine, spec) as found:
        if isinstance(found, NothingToSearch):
            return
        nodes = list(replace(oracle, levels={}).all_nodes())
        tables = scratch_tables(shared_database)
        for _ in range(4):
            chosen = tuple(draw.sample(nodes, min(len(nodes), draw.randint(0, 5))))
            asked = tuple(draw.sample(nodes, min(len(nodes), 12)))
            for verdict in found.evaluator.ask(Batch(asked, metrics=draw.random() < 0.5, prepare=chosen)):
                truth = oracle.evaluate(verdict.node)
                assert (verdict.suppressed, verdict.satisfied) == (truth.suppressed, truth.satisfied), verdict.node
                assert (verdict.classes, verdict.kept_classes) == (truth.classes, truth.kept_classes)
            per_node = 1 + len(found.sets.values)
            built = {node for node in chosen if any(node)}  # the lowest node's are there already
            assert len(scratch_tables(shared_database) - tables) == per_node * len(built)
        found.evaluator.ask(Batch((nodes[-1],), metrics=True, prepare=()))
        assert scratch_tables(shared_database) == tables


def scratch_tables(database: Database) -> set[str]:
    return {name for name in database.tables() if name.startswith("kanon_") and name != "kanon_sql_manifest"}


@given(case=cases(max_nodes=24))
@examples(8)
def test_every_variant_finds_what_the_oracle_finds(shared_database: Database, folder: Path, case: Case) -> None:
    spec = load(shared_database, folder, case)
    oracle = case.problem.oracle()
    with searched(shared_database.engine, spec) as found:
        if isinstance(found, NothingToSearch):
            return
        values = {node: metrics_of(oracle, node)[case.metric] for node in oracle.all_nodes()}
        measured = {}
        for start in range(0, len(values), 64):
            batch = Batch(tuple(values)[start : start + 64], metrics=True)
            measured |= {verdict.node: verdict.metric for verdict in found.evaluator.ask(batch)}
        for variant in VARIANTS:
            run = search("incognito", found.evaluator.question(), found.evaluator.ask, variant=variant)
            assert_found(run.run(), oracle, measured, case.prefer)


def test_a_wrong_set_is_noticed(database: Database) -> None:
    """A set that does not cover a node is refused; one that is grouped too coarsely gives other answers."""
    people(database)
    spec = kanon_sql.Spec.from_dict(PEOPLE)
    with searched(database.engine, spec) as found:
        nodes, lowest = tuple(found.evaluator.question().lattice), ((1, 0, 1),)
        right = by_node(found.evaluator.ask(Batch(nodes)))
        assert by_node(found.evaluator.ask(Batch(nodes, prepare=lowest))) == right
        with (
            patch.object(rollup, "generalizes", lambda upper, lower: True),
            pytest.raises(VerificationError, match="does not hold what node"),
        ):
            found.evaluator.ask(Batch(nodes, prepare=lowest))
        found.evaluator.ask(Batch(nodes[-1:]))
        keys = Codes.keys

        def coarser(self: Codes, node: Node, dialect: Dialect, table: str | None = None) -> list[str]:
            return keys(self, (2, *node[1:]) if table == "below" else node, dialect, table)

        # The smallest set answers, whatever one more branch costs.
        exactly = replace(database.engine.capabilities, branch_rows=0)
        with patch.object(Codes, "keys", coarser), patch.object(database.engine, "capabilities", exactly):
            assert by_node(found.evaluator.ask(Batch(nodes, prepare=lowest))) != right


def by_node(verdicts: Sequence[Verdict]) -> list[Verdict]:
    return sorted(verdicts, key=lambda verdict: verdict.node)


# --- whole runs -----------------------------------------------------------------------------------

PEOPLE: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "quasi_identifiers": {"age": {"intervals": [5, 10, 30]}, "zip": {"prefix": [2, 1]}, "sex": {}},
    "privacy": [{"k_anonymity": 3}],
    "search": {"algorithm": "incognito", "metric": "height"},
}


def people(database: Database) -> None:
    draw = random.Random(5)
    rows = [(draw.randint(1, 60), f"{draw.randint(100, 140)}", draw.choice("MF")) for _ in range(400)]
    database.table("people", {"age": "INTEGER", "zip": "VARCHAR", "sex": "VARCHAR"}, rows)


def run(database: Database, **changes: Any) -> tuple[SearchSummary, Node | None, Sequence[str]]:
    """What a search did, the node it chose, and the texts of its statements, in which everything is counted."""
    spec = kanon_sql.Spec.from_dict({**PEOPLE, **changes})
    with database.engine.run(Deadline(None)) as meter, searched(database.engine, spec) as found:
        summary = found.summary()
        texts = [item.sql for item in meter.log if item.name in ("evaluate/node", "evaluate/rollup")]
        base = found.workspace.quoted(found.sets.base)
    assert summary.base_reads == sum(text.count(base) for text in texts)
    assert summary.frequency_sets == sum("CREATE TEMPORARY TABLE" in text for text in texts)
    return summary, found.node, texts


@pytest.mark.slow
def test_the_figures_are_those_of_the_statements(database: Database) -> None:
    """Counted in the texts of the statements, and by hand where the paper says how many there are."""
    people(database)
    (basic, node, _), super_roots, cube = (
        run(database, search={**PEOPLE["search"], "variant": variant}) for variant in VARIANTS
    )
    for other, chosen, _ in (super_roots, cube):
        assert (chosen, other.minimal, other.nodes_evaluated) == (node, basic.minimal, basic.nodes_evaluated)
    assert basic.frequency_sets == 0
    assert cube[0].frequency_sets == 2**3 - 2, "of all subsets but the empty one, and the first is there"
    assert run(database, search={**PEOPLE["search"], "variant": "cube"})[0] == cube[0]
    for algorithm in ("optimal", "samarati", "exhaustive"):
        run(database, search={"algorithm": algorithm})


def test_the_first_set_is_read_once_by_a_cube(database: Database) -> None:
    """Subsets of n - 1 quasi-identifiers are rolled up from the first set, all others from smaller ones."""
    people(database)
    *_, texts = run(database, search={**PEOPLE["search"], "variant": "cube"}, privacy=[{"k_anonymity": 300}])
    built = [text for text in texts if "CREATE TEMPORARY TABLE" in text]
    assert [sum("frequency" in text for text in built), len(built)] == [3, 6]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_walk_of_the_papers_tables(database: Database, variant: str) -> None:
    """Patients (LeFevre et al. 2005, figure 1) has the minimal generalizations that figure 3 leads to."""
    for table, hierarchies, minimal in (
        (lit.PATIENTS, lit.PATIENTS_HIERARCHIES, lit.PATIENTS_MINIMAL),
        (lit.NINE_PATIENTS, lit.WALK_HIERARCHIES, lit.WALK_MINIMAL),
    ):
        database.table("people", list(table[0]), [list(row.values()) for row in table])
        for column, hierarchy in hierarchies.items():
            lines = list(hierarchy.values())
            database.table(f"h_{column}", [f"level{n}" for n in range(len(lines[0]))], lines)
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1,
                "source": "people",
                "quasi_identifiers": {column: {"table": f"h_{column}"} for column in hierarchies},
                "privacy": [{"k_anonymity": 2}],
                "search": {"algorithm": "incognito", "variant": variant},
            }
        )
        result = kanon_sql.plan(database.engine, spec).to_dict(all_minimal=True)
        assert {tuple(node) for node in result["search"]["minimal"]} == minimal


@pytest.mark.parametrize("variant", ["super_roots", "cube"])
def test_without_scratch_tables_a_variant_is_refused(variant: str) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS age, 'a' AS zip, 'M' AS sex")
        engine = kanon_sql.connect(connection, scratch="inline")
        spec = kanon_sql.Spec.from_dict({**PEOPLE, "search": {"algorithm": "incognito", "variant": variant}})
        with pytest.raises(UnsupportedError, match=f"variant: {variant} stores .* use the variant basic"):
            kanon_sql.plan(engine, spec)
