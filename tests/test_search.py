"""Every search strategy against brute force, on problems answered from a dictionary."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import combinations, product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import examples

from kanon_sql import search
from kanon_sql.errors import SearchTooLarge
from kanon_sql.search import HEURISTICS, MAX_NODES, STRATEGIES, Batch, Outcome, Question, Verdict
from kanon_sql.search.lattice import Lattice, Node, generalizes
from kanon_sql.search.tags import Tags

# The package re-exports functions of the same names, so the modules are looked up by path.
incognito_module, optimal_module, samarati_module, tags_module = (
    import_module(f"kanon_sql.search.{name}") for name in ("incognito", "optimal", "samarati", "tags")
)

EXACT = sorted(STRATEGIES.keys() - HEURISTICS)
BEST_BY_RANK = ["exhaustive", "incognito", "optimal"]
WITH_MINIMAL = ["exhaustive", "incognito"]


# --- problems -----------------------------------------------------------------------------


@dataclass
class Problem:
    """A question, and the truth about every node (also outside of the level limits)."""

    question: Question
    truth: dict[Node, Verdict]

    def satisfying(self) -> list[Verdict]:
        return [self.truth[node] for node in self.question.lattice if self.truth[node].satisfied]

    def expected_best(self) -> Verdict | None:
        return min(self.satisfying(), key=self.question.rank, default=None)

    def expected_minimal(self) -> set[Node]:
        nodes = {verdict.node for verdict in self.satisfying()}
        return {n for n in nodes if not any(o != n and generalizes(n, o) for o in nodes)}

    def expected_lowest(self) -> list[Verdict]:
        satisfying = self.satisfying()
        lowest = min((sum(verdict.node) for verdict in satisfying), default=0)
        return sorted((v for v in satisfying if sum(v.node) == lowest), key=self.question.prefer)


def make_problem(seed: int, *, monotone: bool) -> Problem:
    """A small random problem; small integer metrics make ties frequent."""
    rng = random.Random(seed)
    size = rng.randint(1, 4)
    heights = tuple(rng.randint(0, 3) for _ in range(size))
    limits = [(rng.randint(0, h), rng.randint(0, h)) if rng.random() < 0.4 else (0, h) for h in heights]
    lattice = Lattice(tuple(min(pair) for pair in limits), tuple(max(pair) for pair in limits))
    box = list(product(*(range(height + 1) for height in heights)))

    def above(seeds: list[Node]) -> set[Node]:
        return {node for node in box if any(generalizes(node, low) for low in seeds)}

    def below(seeds: list[Node]) -> set[Node]:
        return {node for node in box if any(generalizes(high, node) for high in seeds)}

    if monotone:
        satisfied = above(rng.choices(box, k=rng.randint(0, 4)))
        prunable = below(rng.choices(box, k=rng.randint(0, 3))) - satisfied
    else:
        prunable = below(rng.choices(box, k=rng.randint(0, 3)))
        density = rng.choice([0.1, 0.3, 0.7])
        satisfied = {node for node in box if node not in prunable and rng.random() < density}

    informative = rng.random() < 0.7
    costs = []
    for height in heights:
        steps = [0]
        for _ in range(height):
            steps.append(steps[-1] + rng.randint(0, 2))
        costs.append(steps if informative else [0] * (height + 1))

    def bound(node: Node) -> float:
        return float(sum(cost[level] for cost, level in zip(costs, node, strict=True)))

    extra = rng.choice([0, 1, 3])
    metric = {node: bound(node) + rng.randint(0, extra) for node in box}
    floors: dict[Node, float | None] = dict.fromkeys(box)
    kind = rng.choice(["none", "bound", "exact"])
    if kind == "bound":
        floors.update({node: bound(node) for node in box})
    elif kind == "exact":
        floors.update({node: min(metric[n] for n in above([node])) for node in box})
    truth = {
        node: Verdict(
            node=node,
            satisfied=node in satisfied,
            prunable=node in prunable,
            suppressed=rng.randint(0, 2),
            classes=1,
            kept_classes=1,
            metric=metric[node],
            floor=floors[node],
        )
        for node in box
    }
    question = Question(
        lattice=lattice,
        heights=heights,
        monotone=monotone,
        bound=bound,
        bounds=lambda lattice: [bound(node) for node in lattice],
        staged=rng.random() < 0.5,
        least=rng.choice([lambda verdict: bound(verdict.node), lambda verdict: metric[verdict.node]]),
        rank=lambda verdict: (verdict.metric, verdict.suppressed, verdict.node),
        prefer=lambda verdict: (verdict.suppressed, verdict.metric, verdict.node),
        labels=[sorted((rng.randint(1, 9) for _ in range(height + 1)), reverse=True) for height in heights],
        rows=10,
        max_suppressed=rng.randint(0, 2),
    )
    return Problem(question, truth)


class Evaluator:
    """Answers batches, and insists that they are reasonable."""

    def __init__(self, question: Question, answer: Callable[[Node], Verdict]) -> None:
        self.question = question
        self.answer = answer
        self.batches: list[Batch] = []
        self.asked: Counter[tuple[Node, bool]] = Counter()

    def __call__(self, batch: Batch) -> Sequence[Verdict]:
        assert 0 < len(batch.nodes) <= 64
        lattice, heights = self.question.lattice, self.question.heights
        for node in batch.nodes:
            for level, low, high, left_out in zip(node, lattice.bottom, lattice.top, heights, strict=True):
                assert low <= level <= high or (level == left_out and not batch.metrics)
            self.asked[node, batch.metrics] += 1
            assert self.asked[node, batch.metrics] == 1, "asked twice"
            assert batch.metrics or not self.asked[node, True], "known with its metric already"
        self.batches.append(batch)
        verdicts = [self.answer(node) for node in batch.nodes]
        if not batch.metrics:
            verdicts = [replace(verdict, metric=None, floor=None) for verdict in verdicts]
        return verdicts[::-1]


def run(name: str, question: Question, ask: Callable[[Batch], Sequence[Verdict]]) -> Outcome:
    return search.search(name, question, ask).run()


def solve(name: str, problem: Problem) -> Outcome:
    evaluator = Evaluator(problem.question, problem.truth.__getitem__)
    outcome = run(name, problem.question, evaluator)
    assert outcome.algorithm == name
    assert outcome.evaluated == len({node for node, _ in evaluator.asked})
    if outcome.inferred is not None:
        asked = {node for node, _ in evaluator.asked if node in problem.question.lattice}
        assert 0 <= outcome.inferred <= problem.question.lattice.size - len(asked)
    return outcome


def is_right(name: str, outcome: Outcome, problem: Problem) -> bool:
    """Whether the outcome is what brute force finds."""
    if not outcome.proven:
        return False
    if any(problem.truth[verdict.node] != verdict for verdict in outcome.solutions):
        return False
    if outcome.minimal is not None and set(outcome.minimal) != problem.expected_minimal():
        return False
    if name in WITH_MINIMAL and outcome.minimal is None:
        return False
    if name == "samarati":
        lowest = problem.expected_lowest()
        return list(outcome.solutions) == lowest and outcome.best == (lowest[0] if lowest else None)
    ranked = sorted(outcome.solutions, key=problem.question.rank)
    return list(outcome.solutions) == ranked and outcome.best == problem.expected_best()


@contextmanager
def tiny_rounds() -> Iterator[None]:
    """Ask in tiny batches, so that small problems take many rounds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tags_module, "BATCH", 3)
        patch.setattr(incognito_module, "BATCH", 2)
        patch.setattr(samarati_module, "BATCH", 2)
        patch.setattr(optimal_module, "_ROUND", 3)
        patch.setattr(optimal_module, "BATCH", 2)
        yield


# --- against brute force ------------------------------------------------------------------


@pytest.mark.parametrize("name", EXACT)
@given(seed=st.integers(0, 2**32), monotone=st.booleans(), tiny=st.booleans())
@example(seed=2413, monotone=True, tiny=False)  # two orders of one sum, on both sides of the line
@examples(500)
def test_strategies_agree_with_brute_force(name: str, seed: int, monotone: bool, tiny: bool) -> None:
    agrees_with_brute_force(name, seed, monotone, tiny)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
def test_strategies_agree_with_brute_force_on_thousands(name: str) -> None:
    for seed in range(5_000):
        agrees_with_brute_force(name, seed, monotone=seed % 2 == 0, tiny=seed % 3 == 0)


def agrees_with_brute_force(name: str, seed: int, monotone: bool, tiny: bool) -> None:
    problem = make_problem(seed, monotone=monotone)
    with tiny_rounds() if tiny else nullcontext():
        outcome = solve(name, problem)
    assert is_right(name, outcome, problem)


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


def bounded(question: Question, bound: Callable[[Node], float]) -> Question:
    """The same question with other bounds."""
    return replace(question, bound=bound, bounds=lambda lattice: [bound(node) for node in lattice])


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

WIDE = (1, 4, 1, 2, 3, 2, 2, 2)


def wide_problem(*, monotone: bool, staged: bool = False) -> Problem:
    """8 quasi-identifiers, 6,480 nodes: enough for inference to matter."""
    rng = random.Random(1)
    lattice = Lattice((0,) * len(WIDE), WIDE)
    weights = [rng.randint(1, 5) for _ in WIDE]
    powers = [rng.uniform(0.5, 3.0) for _ in WIDE]

    def bound(node: Node) -> float:
        return sum(w * level / h for w, level, h in zip(weights, node, WIDE, strict=True))

    truth = {}
    for node in lattice:
        power = sum(p * level for p, level in zip(powers, node, strict=True))
        suppressed = max(0, int(100 - 5 * power))
        satisfied = suppressed <= 5 and (monotone or sum(node) % 3 != 0)
        metric = bound(node) + suppressed / 50
        truth[node] = Verdict(node, satisfied, suppressed > 5, suppressed, 1, 1, metric, bound(node))
    question = Question(
        lattice,
        WIDE,
        monotone,
        bound,
        lambda lattice: [bound(node) for node in lattice],
        staged=staged,
        least=lambda verdict: bound(verdict.node) + verdict.suppressed / 60,
        rank=lambda verdict: (verdict.metric, verdict.node),
        prefer=lambda verdict: (verdict.suppressed, verdict.metric, verdict.node),
        labels=[sorted((rng.randint(1, 9) for _ in range(height + 1)), reverse=True) for height in WIDE],
        rows=100,
        max_suppressed=5,
    )
    return Problem(question, truth)


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


def binary_question(count: int, *, monotone: bool = True) -> Question:
    return Question(
        lattice=Lattice((0,) * count, (1,) * count),
        heights=(1,) * count,
        monotone=monotone,
        bound=lambda node: float(sum(node)),
        bounds=lambda lattice: [float(sum(node)) for node in lattice],
        staged=False,
        least=lambda verdict: float(sum(verdict.node)),
        rank=lambda verdict: (verdict.metric, verdict.node),
        prefer=lambda verdict: (verdict.suppressed, verdict.metric, verdict.node),
        labels=[[2, 1]] * count,
        rows=10,
        max_suppressed=0,
    )


def at_most(kept: int) -> Callable[[Node], Verdict]:
    """Satisfied when at most ``kept`` binary quasi-identifiers keep their values."""

    def answer(node: Node) -> Verdict:
        satisfied = node.count(0) <= kept
        return Verdict(node, satisfied, not satisfied, 0, 1, 1, float(sum(node)), float(sum(node)))

    return answer


@pytest.mark.parametrize("name", ["exhaustive", "optimal", "samarati"])
def test_huge_lattice_is_refused_before_asking(name: str) -> None:
    question = binary_question(30)
    with pytest.raises(SearchTooLarge, match=rf"(?s){MAX_NODES:,}.*Limit the levels"):
        next(STRATEGIES[name](question))


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
    assert list(STRATEGIES) == sorted(STRATEGIES)


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
