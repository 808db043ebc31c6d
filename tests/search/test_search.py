"""Every search strategy against brute force, on problems answered from a dictionary."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_sql import search
from kanon_sql.errors import SearchTooLarge
from kanon_sql.search import HEURISTICS, MAX_NODES, STRATEGIES, Question, Verdict
from kanon_sql.search.lattice import Lattice, Node, generalizes
from kanon_sql.search.tags import Tags
from tests.support.search_problems import (
    BEST_BY_RANK,
    EXACT,
    Evaluator,
    Problem,
    at_most,
    binary_question,
    bounded,
    is_right,
    make_problem,
    run,
    solve,
    tiny_rounds,
    wide_problem,
)
from tests.support.strategies import examples


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", EXACT)
@given(seed=st.integers(0, 2**32), monotone=st.booleans(), tiny=st.booleans())
@example(seed=2413, monotone=True, tiny=False)  # two orders of one sum, on both sides of the line
@examples(500)
def test_strategies_agree_with_brute_force(name: str, seed: int, monotone: bool, tiny: bool) -> None:
    agrees_with_brute_force(name, seed, monotone, tiny)


@pytest.mark.campaign
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.sampled(4)
def test_strategies_agree_with_brute_force_on_thousands(name: str) -> None:
    for seed in range(5_000):
        agrees_with_brute_force(name, seed, monotone=seed % 2 == 0, tiny=seed % 3 == 0)


def agrees_with_brute_force(name: str, seed: int, monotone: bool, tiny: bool) -> None:
    problem = make_problem(seed, monotone=monotone)
    with tiny_rounds() if tiny else nullcontext():
        outcome = solve(name, problem)
    assert is_right(name, outcome, problem)


@given(seed=st.integers(0, 2**32), monotone=st.booleans(), tiny=st.booleans())
@examples(200)
def test_asking_widely_finds_the_same(seed: int, monotone: bool, tiny: bool) -> None:
    problem = make_problem(seed, monotone=monotone)
    widely = replace(problem, question=replace(problem.question, widely=True))
    with tiny_rounds() if tiny else nullcontext():
        outcome = solve("optimal", widely)
    assert is_right("optimal", outcome, widely)


def test_asking_widely_takes_fewer_questions() -> None:
    """Bisecting a path of 18 nodes takes four or five questions, asking about all of it takes one."""
    problem = wide_problem(monotone=True)
    asked = []
    for widely in (False, True):
        question = replace(problem.question, widely=widely)
        evaluator = Evaluator(question, problem.truth.__getitem__)
        assert is_right("optimal", run("optimal", question, evaluator), problem)
        asked.append(len(evaluator.batches))
    assert asked[1] <= asked[0] - 3


def test_the_problems_are_varied() -> None:
    """The comparison is worth nothing if the random problems are all alike."""
    kinds: Counter[str] = Counter()
    for seed in range(300):
        problem = make_problem(seed, monotone=seed % 2 == 0)
        best, minimal = problem.expected_best(), problem.expected_minimal()
        kinds["unsolvable"] += best is None
        kinds["several minimal"] += len(minimal) > 1
        kinds["best is not minimal"] += best is not None and best.node not in minimal
        ties = [v for v in problem.satisfying() if best is not None and v.metric == best.metric]
        kinds["tie"] += len(ties) > 1
        lowest = problem.expected_lowest()
        kinds["best is not lowest"] += best is not None and best not in lowest
        kinds["limited"] += problem.question.lattice.top != problem.question.heights
        kinds["released nothing, not prunable"] += any(
            not v.satisfied and not v.prunable for v in problem.truth.values() if problem.question.monotone
        )
    assert len(kinds) == 7
    assert min(kinds.values()) >= 20, kinds


# --- the comparison itself can fail -------------------------------------------------------


def claims_monotone(question: Question) -> Question:
    return replace(question, monotone=True)


def bounds_too_high(question: Question) -> Question:
    def bound(node: Node) -> float:
        return question.bound(node) + sum(node)

    return bounded(question, bound)


def least_too_high(question: Question) -> Question:
    return replace(question, staged=True, least=lambda verdict: question.least(verdict) + 1 + sum(verdict.node))


def ignores_ties(question: Question) -> Question:
    return replace(question, rank=lambda verdict: (verdict.metric,))


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (claims_monotone, "incognito"),
        (claims_monotone, "optimal"),
        (claims_monotone, "samarati"),
        (bounds_too_high, "incognito"),
        (bounds_too_high, "optimal"),
        (least_too_high, "optimal"),
        (ignores_ties, "optimal"),
        (ignores_ties, "exhaustive"),
    ],
)
def test_planted_faults_are_caught(fault: Callable[[Question], Question], name: str) -> None:
    def caught(seed: int) -> bool:
        problem = make_problem(seed, monotone=False)
        outcome = solve(name, Problem(fault(problem.question), problem.truth))
        return not is_right(name, outcome, problem)

    assert any(caught(seed) for seed in range(200))


def test_a_floor_too_high_is_caught() -> None:
    def caught(name: str, seed: int) -> bool:
        problem = make_problem(seed, monotone=True)
        lying = {n: replace(v, floor=v.metric + 1 if v.metric else 1) for n, v in problem.truth.items()}
        evaluator = Evaluator(problem.question, lying.__getitem__)
        outcome = run(name, problem.question, evaluator)
        best = problem.expected_best()
        return (outcome.best and outcome.best.node) != (best and best.node)

    for name in ("incognito", "optimal"):
        assert any(caught(name, seed) for seed in range(200))


@given(seed=st.integers(0, 2**32))
@examples(200)
def test_incognito_never_asks_what_is_decided(seed: int) -> None:
    """Generalization and subset property: no question that an earlier answer implies."""
    problem = make_problem(seed, monotone=True)
    evaluator = Evaluator(problem.question, problem.truth.__getitem__)
    run("incognito", problem.question, evaluator)
    seen: list[Verdict] = []
    for batch in evaluator.batches:
        for node in batch.nodes if not batch.metrics else ():
            for earlier in seen:
                implied = generalizes(node, earlier.node) if earlier.satisfied else generalizes(earlier.node, node)
                assert not implied
            seen.append(problem.truth[node])


@given(seed=st.integers(0, 2**32), tiny=st.booleans())
@examples(300)
def test_optimal_finds_all_minimal_nodes_on_request(seed: int, tiny: bool) -> None:
    problem = make_problem(seed, monotone=True)
    evaluator = Evaluator(problem.question, problem.truth.__getitem__)
    with tiny_rounds() if tiny else nullcontext():
        outcome = search.search("optimal", problem.question, evaluator, minimal=True).run()
    assert is_right("optimal", outcome, problem)
    assert outcome.minimal == tuple(sorted(problem.expected_minimal()))
    assert outcome.inferred == problem.question.lattice.size - outcome.evaluated


def test_minimal_nodes_of_what_is_not_monotone_are_left_to_incognito() -> None:
    problem = make_problem(1, monotone=False)
    evaluator = Evaluator(problem.question, problem.truth.__getitem__)
    outcome = search.search("optimal", problem.question, evaluator, minimal=True).run()
    assert outcome.minimal is None
    assert is_right("optimal", outcome, problem)


@pytest.mark.slow
def test_a_border_of_a_larger_lattice_is_found_with_few_questions() -> None:
    """Every minimal node and every maximal violating one must be asked about; hardly more are."""
    problem = wide_problem(monotone=True)
    nodes = list(problem.question.lattice)
    satisfied = {node for node in nodes if problem.truth[node].satisfied}
    successors = problem.question.lattice.successors
    needed = len(problem.expected_minimal())
    needed += sum(node not in satisfied and satisfied.issuperset(successors(node)) for node in nodes)
    outcome = search.search(
        "optimal", problem.question, Evaluator(problem.question, problem.truth.__getitem__), minimal=True
    ).run()
    assert set(outcome.minimal or ()) == problem.expected_minimal()
    assert needed <= outcome.evaluated < 1.5 * needed


# --- larger lattices ----------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize("staged", [True, False])
@pytest.mark.parametrize("monotone", [True, False])
def test_larger_lattice(monotone: bool, staged: bool) -> None:
    problem = wide_problem(monotone=monotone, staged=staged)
    best = problem.expected_best()
    assert best is not None
    for name in BEST_BY_RANK:
        outcome = solve(name, problem)
        assert outcome.best == best
        assert outcome.proven
        if name == "optimal":
            assert outcome.evaluated < problem.question.lattice.size / 10
    lowest = problem.expected_lowest()
    outcome = solve("samarati", problem)
    assert list(outcome.solutions) == lowest
    assert outcome.evaluated < problem.question.lattice.size / 2


@pytest.mark.parametrize("name", ["exhaustive", "optimal", "samarati"])
def test_huge_lattice_is_refused_before_asking(name: str) -> None:
    question = binary_question(30)
    with pytest.raises(SearchTooLarge, match=rf"(?s){MAX_NODES:,}.*Limit the levels"):
        next(STRATEGIES[name](question))


@pytest.mark.slow
def test_samarati_searches_a_huge_lattice_by_narrow_heights() -> None:
    """Only the heights that are probed must be small; the lattice may be large."""
    heights = (1_000_000, 1)
    question = replace(binary_question(2), lattice=Lattice((0, 0), heights), heights=heights)

    def answer(node: Node) -> Verdict:
        satisfied = sum(node) >= 777
        return Verdict(node, satisfied, not satisfied, 0, 1, 1, float(node[0]), None)

    outcome = run("samarati", question, Evaluator(question, answer))
    assert outcome.best is not None
    assert outcome.best.node == (776, 1)
    assert outcome.minimal == ((776, 1), (777, 0))
    assert outcome.evaluated < 50


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.sampled(2)
@pytest.mark.campaign
def test_incognito_prunes_thirty_quasi_identifiers(monotone: bool) -> None:
    """Subsets of four always violate, so 31,931 subsets suffice for 2^30 nodes."""
    question = binary_question(30, monotone=monotone)
    evaluator = Evaluator(question, at_most(3))
    outcome = run("incognito", question, evaluator)
    assert outcome.minimal is not None
    assert set(outcome.minimal) == {
        tuple(int(axis not in kept) for axis in range(30)) for kept in combinations(range(30), 3)
    }
    assert outcome.best is not None
    assert outcome.best.metric == 27
    assert outcome.evaluated <= 31_931 + 8


@pytest.mark.parametrize("kept", [30, 25])
def test_incognito_refuses_when_nothing_is_pruned(kept: int) -> None:
    question = binary_question(30)
    evaluator = Evaluator(question, at_most(kept))
    with pytest.raises(SearchTooLarge, match="incognito would have to hold"):
        run("incognito", question, evaluator)
    assert sum(evaluator.asked.values()) <= 64


@pytest.mark.campaign
def test_incognito_counts_candidates_before_making_them() -> None:
    """Triples of 200 are too many: refused after the pairs."""
    question = binary_question(200)
    evaluator = Evaluator(question, at_most(3))
    with pytest.raises(SearchTooLarge, match=r"at least 1,333,\d+ candidate"):
        run("incognito", question, evaluator)
    assert sum(evaluator.asked.values()) <= 1 + 200 + 19_900 + 8


# --- the walk of the Incognito paper ------------------------------------------------------

PATIENTS = [
    ("1/21/76", "male", "53715"),
    ("4/13/86", "female", "53715"),
    ("2/28/76", "male", "53703"),
    ("1/21/76", "male", "53703"),
    ("4/13/86", "female", "53706"),
    ("2/28/76", "female", "53706"),
]
"""The Patients table of LeFevre et al. 2005, figure 1: birth date, sex, zip code."""


def patients(node: Node) -> Verdict:
    # Figure 2: zip codes lose one digit (53715 -> 5371*), then all meet in 537**.
    birth, sex, zip_level = node
    classes = Counter((b if birth == 0 else "*", s if sex == 0 else "*", z[: 5 - zip_level]) for b, s, z in PATIENTS)
    satisfied = min(classes.values()) >= 2
    size = len(classes)
    return Verdict(node, satisfied, not satisfied, 0, size, size, float(sum(node)), None)


def test_incognito_walks_like_the_paper() -> None:
    """Example 3.1: Z1 is never asked, since Z0 satisfies; no triple survives the join."""
    heights = (1, 1, 2)
    question = replace(binary_question(3), lattice=Lattice((0, 0, 0), heights), heights=heights)
    evaluator = Evaluator(question, patients)
    outcome = run("incognito", question, evaluator)
    without_metrics = [set(batch.nodes) for batch in evaluator.batches if not batch.metrics]
    assert without_metrics == [
        {(1, 1, 2)},
        {(1, 1, 0)},  # zip code alone, its lowest level: satisfies, so Z1 is inferred
        {(0, 1, 2), (1, 0, 2)},  # birth date alone, sex alone
        {(0, 1, 0), (1, 0, 0)},  # birth date or sex, with the zip code: both violate
        {(0, 0, 2), (0, 1, 1), (1, 0, 1)},  # birth date with sex, and Z1 with either
    ]
    assert outcome.minimal == ((0, 1, 2), (1, 0, 2), (1, 1, 0))


# --- small parts --------------------------------------------------------------------------


def test_exported_members() -> None:
    assert search.__all__ == sorted(search.__all__, key=lambda name: (name.upper() != name, name))
    assert all(hasattr(search, name) for name in search.__all__)
    assert list(STRATEGIES) == sorted(STRATEGIES, key=lambda name: (name in HEURISTICS, name))


@pytest.mark.parametrize("name", ["incognito", "optimal"])
def test_an_evaluator_without_metrics_is_a_defect(name: str) -> None:
    """Strategies that prune by the metric do not take a missing one for a number."""
    question = binary_question(2)

    def answer(node: Node) -> Verdict:
        return replace(at_most(2)(node), metric=None)

    with pytest.raises(ValueError, match="no metric in the verdict"):
        run(name, question, lambda batch: [answer(node) for node in batch.nodes])


@given(seed=st.integers(0, 2**32))
def test_tags_number_and_spread(seed: int) -> None:
    rng = random.Random(seed)
    lattice = make_problem(seed, monotone=True).question.lattice
    tags = Tags(lattice)
    nodes = list(lattice)
    assert [tags.number(node) for node in nodes] == list(range(lattice.size))
    assert [tags.node(number) for number in range(lattice.size)] == nodes
    start = rng.choice(nodes)
    tags.mark_above(tags.number(start), 1)
    tags.mark_below(tags.number(start), 2)
    for node in nodes:
        expected = 1 * generalizes(node, start) + 2 * generalizes(start, node)
        assert tags.marks[tags.number(node)] == expected
        assert {tags.node(n) for n in tags.above(tags.number(node))} == set(lattice.successors(node))
        assert {tags.node(n) for n in tags.below(tags.number(node))} == set(lattice.predecessors(node))


def test_equal_up_to_rounding_is_still_asked() -> None:
    """0.1 + 0.2 and 0.3 are the same metric: the tie must reach the rank."""
    question = replace(
        binary_question(2),
        bound=lambda node: 0.1 + 0.2,
        bounds=lambda lattice: [0.1 + 0.2] * lattice.size,
        rank=lambda verdict: (round(verdict.metric or 0, 9), -sum(verdict.node), verdict.node),
    )

    def answer(node: Node) -> Verdict:
        return replace(at_most(2)(node), metric=0.3, floor=0.1 + 0.2)

    for name in BEST_BY_RANK:
        outcome = run(name, question, Evaluator(question, answer))
        assert outcome.best is not None
        assert outcome.best.node == (1, 1)
