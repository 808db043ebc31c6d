"""The heuristics: what they find satisfies, what they say of it is true, and they do what their papers say."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import search
from kanon_sql.search import HEURISTICS, STRATEGIES, Outcome, Question, Verdict, answers
from kanon_sql.search.lattice import Lattice, Node, generalizes
from tests.support.search_problems import Evaluator, Problem, make_problem, wide_problem
from tests.support.strategies import examples

RANDOM = ["annealing", "genetic"]
DESCENDING = ["bottom_up", "genetic", "greedy", "top_down"]
SEEDS = st.integers(0, 2**32)


def solve(name: str, problem: Problem, **options: Any) -> tuple[Outcome, Evaluator]:
    evaluator = Evaluator(problem.question, problem.truth.__getitem__)
    outcome = search.search(name, problem.question, evaluator, **options).run()
    assert outcome.algorithm == name
    assert outcome.evaluated == len({node for node, _ in evaluator.asked})
    return outcome, evaluator


@contextmanager
def tiny_rounds() -> Iterator[None]:
    """Ask in tiny batches, so that small problems take many rounds."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("tags", "answers", "greedy"):
            patch.setattr(import_module(f"kanon_sql.search.{module}"), "BATCH", 2)
        patch.setattr(import_module("kanon_sql.search.tags"), "FEW", 1)
        patch.setattr(import_module("kanon_sql.search.genetic"), "_POPULATION", 4)
        patch.setattr(import_module("kanon_sql.search.genetic"), "_GENERATIONS", 2)
        yield


# --- validity -----------------------------------------------------------------------------


def is_valid(outcome: Outcome, problem: Problem) -> bool:
    """Whether the outcome is true, however good; and whether there is one where the top satisfies."""
    truth, lattice = problem.truth, problem.question.lattice
    if any(truth[verdict.node] != verdict or not verdict.satisfied for verdict in outcome.solutions):
        return False
    if any(verdict.node not in lattice for verdict in outcome.solutions):
        return False
    if list(outcome.solutions) != sorted(outcome.solutions, key=problem.question.rank):
        return False
    if outcome.best != (outcome.solutions[0] if outcome.solutions else None):
        return False
    if outcome.minimal is not None or outcome.inferred is not None:
        return False
    if outcome.best is not None:
        return not outcome.proven
    if truth[lattice.top].satisfied or (outcome.proven and problem.satisfying()):
        return False
    return outcome.proven or not problem.question.monotone


def lefts_are_true(evaluator: Evaluator) -> bool:
    """Whether no batch announced fewer nodes than were still asked about."""
    later: set[Node] = set()
    earlier = [
        {node for batch in evaluator.batches[:number] for node in batch.nodes}
        for number, _ in enumerate(evaluator.batches)
    ]
    for number in reversed(range(len(evaluator.batches))):
        batch = evaluator.batches[number]
        later |= set(batch.nodes)
        if batch.left is not None and len(later - earlier[number]) > batch.left:
            return False
    return True


@pytest.mark.parametrize("name", sorted(HEURISTICS))
@given(seed=SEEDS, monotone=st.booleans(), tiny=st.booleans())
@examples(60)
def test_what_is_found_is_true(name: str, seed: int, monotone: bool, tiny: bool) -> None:
    problem = make_problem(seed, monotone=monotone)
    if tiny:
        with tiny_rounds():
            outcome, evaluator = solve(name, problem)
    else:
        outcome, evaluator = solve(name, problem)
    assert is_valid(outcome, problem)
    assert lefts_are_true(evaluator)


def claims_monotone(question: Question) -> Question:
    return replace(question, monotone=True)


def wider(question: Question) -> Question:
    return replace(question, lattice=Lattice((0,) * len(question.heights), question.heights))


@pytest.mark.parametrize("fault", [claims_monotone, wider])
@pytest.mark.parametrize("name", sorted(HEURISTICS))
def test_false_outcomes_are_caught(name: str, fault: Callable[[Question], Question]) -> None:
    def caught(seed: int) -> bool:
        problem = make_problem(seed, monotone=False)
        outcome, _ = solve(name, Problem(fault(problem.question), problem.truth))
        return not is_valid(outcome, problem)

    assert any(caught(seed) for seed in range(500))


# --- the definitions ----------------------------------------------------------------------


def raised(node: Node, axis: int, levels: int) -> Node:
    return tuple(level + levels if position == axis else level for position, level in enumerate(node))


def datafly_by_definition(problem: Problem) -> Node | None:
    """Sweeney 2002: while too many rows violate, generalize the attribute with the most distinct values."""
    lattice, labels = problem.question.lattice, problem.question.labels
    node = lattice.bottom
    while not problem.truth[node].satisfied:
        if node == lattice.top:
            return None
        counts = [labels[a][level] if level < lattice.top[a] else 0 for a, level in enumerate(node)]
        node = raised(node, counts.index(max(counts)), 1)
    return node


def what_is_known(problem: Problem, node: Node) -> float:
    """What a search that has asked about a node knows of its metric: itself, or what is expected."""
    question, verdict = problem.question, problem.truth[node]
    if not question.staged:
        assert verdict.metric is not None
        return verdict.metric
    return question.expected(replace(verdict, metric=None))


def rules_all_out(problem: Problem) -> bool:
    top = problem.truth[problem.question.lattice.top]
    return not top.satisfied if problem.question.monotone else top.prunable


def bottom_up_by_definition(problem: Problem) -> list[Node]:
    """Wang, Yu, Chakraborty 2004: the step with the smallest loss per gain, or loss where nothing is gained.

    The nodes that such a walk asks about, after the top, in their order. It goes on while the best node known may be
    beaten by a generalization of where it is: suppressed rows count in the metric.
    """
    lattice, truth, bound = problem.question.lattice, problem.truth, problem.question.bound
    asked = dict.fromkeys([lattice.top])
    if rules_all_out(problem):
        return list(asked)
    node = lattice.bottom
    asked[node] = None
    while node != lattice.top:
        known = [what_is_known(problem, other) for other in asked if truth[other].satisfied]
        if known and bound(node) > min(known):
            break
        candidates = []
        for axis, level in enumerate(node):
            if level < lattice.top[axis]:
                step = raised(node, axis, 1)
                loss = Fraction(bound(step)) - Fraction(bound(node))
                gain = truth[node].suppressed - truth[step].suppressed
                candidates.append((loss / gain if gain > 0 else loss, -gain, axis, step))
        asked |= dict.fromkeys(step for *_, step in candidates)
        node = min(candidates)[-1]
    return list(asked)


def top_down_by_definition(problem: Problem) -> list[Node]:
    """Fung, Wang, Yu 2005: the valid step with the highest gain / (loss + 1), until none is valid.

    The nodes that such a walk asks about, in their order: not those below a node that is known to fail.
    """
    lattice, truth, bound = problem.question.lattice, problem.truth, problem.question.bound
    node: Node | None = lattice.top
    asked = dict.fromkeys([lattice.top])
    while node is not None and truth[node].satisfied:
        candidates = []
        fail = [n for n in asked if (not truth[n].satisfied if problem.question.monotone else truth[n].prunable)]
        for axis, level in enumerate(node):
            step = raised(node, axis, -1)
            if level > lattice.bottom[axis] and not any(generalizes(other, step) for other in fail):
                asked[step] = None
                gain = Fraction(bound(node)) - Fraction(bound(step))
                loss = max(truth[step].suppressed - truth[node].suppressed, 0)
                candidates.append((-gain / (loss + 1), loss, axis, step))
        node = min((found for found in candidates if truth[found[-1]].satisfied), default=(None,))[-1]
    return list(asked)


WALKS = {"bottom_up": bottom_up_by_definition, "top_down": top_down_by_definition}


def varied(seed: int, *, monotone: bool) -> Problem:
    """A problem whose steps cost much or little, in information and in rows."""
    problem = make_problem(seed, monotone=monotone)
    rng = random.Random(seed)
    most = rng.choice([2, 5, 30])
    truth = {node: replace(verdict, suppressed=rng.randint(0, most)) for node, verdict in problem.truth.items()}
    costs = [sorted(rng.randint(0, 12) for _ in range(height + 1)) for height in problem.question.heights]

    def bound(node: Node) -> float:
        return float(sum(cost[level] for cost, level in zip(costs, node, strict=True)))

    return Problem(replace(problem.question, bound=bound), truth)


def follows_its_definition(name: str, question: Question, problem: Problem) -> bool:
    outcome, evaluator = solve(name, Problem(question, problem.truth))
    if name == "datafly":
        return (None if outcome.best is None else outcome.best.node) == datafly_by_definition(problem)
    walk = WALKS[name](problem)
    asked = list(dict.fromkeys(node for batch in evaluator.batches for node in batch.nodes))
    return asked[: len(walk)] == walk


@pytest.mark.parametrize("name", [*WALKS, "datafly"])
@given(seed=SEEDS, monotone=st.booleans(), tiny=st.booleans())
@examples(150)
def test_they_follow_their_definitions(name: str, seed: int, monotone: bool, tiny: bool) -> None:
    problem = varied(seed, monotone=monotone)
    if tiny:
        with tiny_rounds():
            assert follows_its_definition(name, problem.question, problem)
    else:
        assert follows_its_definition(name, problem.question, problem)


def test_one_more_than_the_rows_exposed() -> None:
    """Down by the first: 5 / (2 + 1). By the second: 2 / (0 + 1), which is more. Then neither satisfies."""
    question, _ = huge_question()
    question = replace(question, lattice=Lattice((0, 0, 0), (1, 1, 1)), heights=(1, 1, 1), labels=[[2, 1]] * 3)
    question = replace(question, bound=lambda node: 5.0 * node[0] + 2.0 * node[1], monotone=False)
    question = replace(question, least=lambda _: 1.0, expected=lambda _: 1.0)
    suppressed = {(1, 1, 1): 0, (0, 1, 1): 2, (1, 0, 1): 0}

    def answer(node: Node) -> Verdict:
        satisfied = node in suppressed
        return Verdict(node, satisfied, False, suppressed.get(node, 9), 1, 1, 1.0, None)

    evaluator = Evaluator(question, answer)
    search.search("top_down", question, evaluator).run()
    assert evaluator.batches[2].nodes == ((0, 0, 1), (1, 0, 0))


def other_labels(question: Question) -> Question:
    return replace(question, labels=[[-count for count in counts] for counts in question.labels])


def no_bound(question: Question) -> Question:
    return replace(question, bound=lambda node: 0.0)


@pytest.mark.parametrize(
    ("name", "fault"), [("datafly", other_labels), ("bottom_up", no_bound), ("top_down", no_bound)]
)
def test_another_walk_is_caught(name: str, fault: Callable[[Question], Question]) -> None:
    problems = [varied(seed, monotone=True) for seed in range(100)]
    assert not all(follows_its_definition(name, fault(problem.question), problem) for problem in problems)


@given(seed=SEEDS)
@examples(100)
def test_datafly_bisects_a_monotone_requirement(seed: int) -> None:
    problem = make_problem(seed, monotone=True)
    _, evaluator = solve("datafly", problem)
    span = len(problem.question.lattice.heights)
    assert len({node for node, _ in evaluator.asked}) <= (span - 1).bit_length() + 1


@pytest.mark.parametrize("name", ["annealing", "genetic", "greedy", "top_down"])
@given(seed=SEEDS, monotone=st.booleans())
@examples(30)
def test_nodes_that_an_answer_rules_out_are_not_asked(name: str, seed: int, monotone: bool) -> None:
    problem = make_problem(seed, monotone=monotone)
    _, evaluator = solve(name, problem)
    failing: list[Node] = []
    for batch in evaluator.batches:
        for node in batch.nodes:
            assert not any(generalizes(other, node) for other in failing)
        for node in batch.nodes:
            verdict = problem.truth[node]
            if verdict.prunable or (monotone and not verdict.satisfied):
                failing.append(node)


# --- the starts ---------------------------------------------------------------------------


def starts_of(problem: Problem) -> list[Node]:
    """The top, and what generalizes all attributes but one to their tops."""
    lattice = problem.question.lattice
    return [node for node in lattice if sum(a != b for a, b in zip(node, lattice.top, strict=True)) <= 1]


@pytest.mark.parametrize("name", DESCENDING)
@given(seed=SEEDS, monotone=st.booleans())
@examples(60)
def test_none_is_worse_than_a_projection(name: str, seed: int, monotone: bool) -> None:
    problem = make_problem(seed, monotone=monotone)
    outcome, _ = solve(name, problem)
    if rules_all_out(problem):
        return
    found = [problem.truth[node] for node in starts_of(problem) if problem.truth[node].satisfied]
    if found:
        assert outcome.best is not None
        assert problem.question.rank(outcome.best) <= min(map(problem.question.rank, found))


def free_suppression(seed: int, steep: int = 3, fewest: int = 0) -> Problem:
    """Nodes of which ``fewest`` rows stay satisfy, and the fewer steps up, the more rows go; as with a limit of 1."""
    problem = wide_problem(monotone=True, staged=True)
    rng, bound = random.Random(seed), problem.question.bound
    powers = [rng.uniform(0.2, 2) for _ in problem.question.heights]
    whole, most = sum(p * h for p, h in zip(powers, problem.question.heights, strict=True)), 1000

    def judged(node: Node) -> Verdict:
        missing = 1 - sum(p * level for p, level in zip(powers, node, strict=True)) / whole
        gone = min(most - fewest, int(most * missing**2 * steep))
        share = gone / most
        metric = share + (1 - share) * bound(node) / bound(problem.question.lattice.top)
        return Verdict(node, gone < most, gone >= most, gone, 1, 1, metric * (1 + 0.01 * rng.random()), None)

    truth = {node: judged(node) for node in problem.question.lattice}
    question = replace(
        problem.question,
        rows=most,
        max_suppressed=most,
        bound=lambda node: bound(node) / bound(problem.question.lattice.top),
        least=lambda verdict: bound(verdict.node) / bound(problem.question.lattice.top),
        expected=lambda verdict: (
            verdict.suppressed / most
            + (1 - verdict.suppressed / most) * bound(verdict.node) / bound(problem.question.lattice.top)
        ),
    )
    return Problem(question, truth)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", DESCENDING)
@pytest.mark.parametrize("seed", range(4))
def test_free_suppression_is_no_reason_to_stop(name: str, seed: int) -> None:
    """6,480 nodes that nearly all satisfy: within 5 % of the best, and no one end of the lattice is near it."""
    problem = free_suppression(seed)
    outcome, evaluator = solve(name, problem)
    best = problem.expected_best()
    assert outcome.best is not None
    assert best is not None
    assert outcome.best.metric is not None
    assert best.metric is not None
    satisfying = [verdict.metric for verdict in problem.satisfying() if verdict.metric is not None]
    assert 1.05 * best.metric < sorted(satisfying)[len(satisfying) // 100], "more than one node in a hundred would do"
    assert outcome.best.metric <= 1.05 * best.metric
    assert not outcome.proven
    assert outcome.evaluated <= answers.NODES_PER_ATTRIBUTE * len(problem.question.heights)
    assert sum(batch.metrics for batch in evaluator.batches) <= 40


@pytest.mark.parametrize("seed", range(3))
def test_annealing_does_not_stay_where_nearly_all_rows_are_suppressed(seed: int) -> None:
    """Far from the top every node loses the same, so that no neighbour is better than another."""
    problem = free_suppression(seed, steep=40, fewest=1)
    outcome, _ = solve("annealing", problem)
    best = problem.expected_best()
    assert outcome.best is not None
    assert best is not None
    assert outcome.best.metric is not None
    assert best.metric is not None
    assert outcome.best.metric <= 1.05 * best.metric


# --- random numbers -----------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", RANDOM)
def test_a_seed_repeats_a_search(name: str) -> None:
    problem = wide_problem(monotone=True, staged=True)

    def walk(**options: int) -> list[tuple[Node, ...]]:
        return [batch.nodes for batch in solve(name, problem, **options)[1].batches]

    assert walk(seed=3) == walk(seed=3)
    assert walk() == walk(seed=0)
    assert len({str(walk(seed=seed)) for seed in range(4)}) == 4


# --- larger lattices ----------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("staged", [True, False])
@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("name", sorted(HEURISTICS))
def test_larger_lattice(name: str, monotone: bool, staged: bool) -> None:
    """6,480 nodes, of which few are asked about."""
    problem = wide_problem(monotone=monotone, staged=staged)
    outcome, evaluator = solve(name, problem)
    assert is_valid(outcome, problem)
    assert lefts_are_true(evaluator)
    assert outcome.best is not None
    best = problem.expected_best()
    assert best is not None
    assert outcome.best.metric is not None
    assert best.metric is not None
    if name in ("genetic", "greedy"):
        assert outcome.best.metric <= 1.25 * best.metric
    assert outcome.evaluated <= (150 if name == "greedy" else 700)


def huge_question() -> tuple[Question, Callable[[Node], Verdict]]:
    """40 quasi-identifiers of height 5, of unequal power and cost: 6^40 nodes."""
    rng = random.Random(0)
    heights = (5,) * 40
    costs = [rng.uniform(1, 10) for _ in heights]
    powers = [rng.uniform(1, 10) for _ in heights]

    def bound(node: Node) -> float:
        return sum(cost * level for cost, level in zip(costs, node, strict=True))

    def bounds(lattice: Lattice) -> list[float]:
        raise AssertionError("the lattice must not be enumerated")

    def answer(node: Node) -> Verdict:
        missing = sum(power * (5 - level) for power, level in zip(powers, node, strict=True))
        suppressed = max(0, int(missing) - 300)
        return Verdict(node, suppressed <= 50, suppressed > 50, suppressed, 1, 1, bound(node) + suppressed, bound(node))

    question = Question(
        lattice=Lattice((0,) * 40, heights),
        heights=heights,
        monotone=True,
        bound=bound,
        bounds=bounds,
        staged=True,
        least=lambda verdict: bound(verdict.node),
        expected=lambda verdict: bound(verdict.node) + verdict.suppressed,
        rank=lambda verdict: (verdict.metric, verdict.node),
        prefer=lambda verdict: (verdict.suppressed, verdict.metric, verdict.node),
        labels=[[100 >> level for level in range(6)] for _ in heights],
        rows=10_000,
        max_suppressed=50,
    )
    return question, answer


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.campaign] * (name == "greedy")) for name in sorted(HEURISTICS)]
)
def test_huge_lattice(name: str) -> None:
    question, answer = huge_question()
    evaluator = Evaluator(question, answer)
    outcome = search.search(name, question, evaluator).run()
    assert outcome.best is not None
    assert outcome.best == answer(outcome.best.node)
    assert outcome.best.satisfied
    assert outcome.best.metric is not None
    if name == "greedy":
        top = answer(question.lattice.top).metric
        datafly = search.search("datafly", question, Evaluator(question, answer)).run().best
        assert top is not None
        assert datafly is not None
        assert datafly.metric is not None
        assert outcome.best.metric < datafly.metric < top
        assert outcome.evaluated <= 5_000


@pytest.mark.parametrize("name", sorted(HEURISTICS))
def test_the_top_is_found_where_only_it_satisfies(name: str) -> None:
    """A requirement that is not monotone says nothing on the long way up."""
    question, _ = huge_question()
    question = replace(question, lattice=Lattice((0, 0), (100, 1)), heights=(100, 1), monotone=False)
    question = replace(
        question, bound=lambda node: 0.0, least=lambda _: 0.0, expected=lambda _: 0.0, labels=[[9] * 101, [9, 9]]
    )

    def answer(node: Node) -> Verdict:
        return Verdict(node, node == (100, 1), False, 10, 1, 1, 1.0, None)

    outcome = search.search(name, question, Evaluator(question, answer)).run()
    assert outcome.best == answer((100, 1))


@pytest.mark.parametrize("name", sorted(HEURISTICS))
def test_that_nothing_satisfies_is_proven_by_the_top(name: str) -> None:
    question, answer = huge_question()
    evaluator = Evaluator(question, lambda node: replace(answer(node), satisfied=False, prunable=True))
    outcome = search.search(name, question, evaluator).run()
    assert outcome.best is None
    assert outcome.proven
    assert outcome.evaluated <= 32


def test_heuristics_are_strategies() -> None:
    assert {*WALKS, *RANDOM, "datafly", "greedy"} == HEURISTICS
    assert STRATEGIES.keys() > HEURISTICS
