"""Lattices with answers made up in Python, for the searches to search."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import product

import pytest

from kanon_sql import search
from kanon_sql.search import HEURISTICS, STRATEGIES, Batch, Outcome, Question, Verdict
from kanon_sql.search.lattice import Lattice, Node, generalizes

# The package re-exports functions of the same names, so the modules are looked up by path.
incognito_module, optimal_module, samarati_module, tags_module = (
    import_module(f"kanon_sql.search.{name}") for name in ("incognito", "optimal", "samarati", "tags")
)

EXACT = sorted(STRATEGIES.keys() - HEURISTICS)
BEST_BY_RANK = ["exhaustive", "incognito", "optimal"]
WITH_MINIMAL = ["exhaustive", "incognito"]


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


def costs_of_levels(rng: random.Random, heights: Sequence[int]) -> list[list[int]]:
    """What each level adds to a bound: never less than the one below, and sometimes nothing at all."""
    informative = rng.random() < 0.7
    costs = []
    for height in heights:
        steps = [0]
        for _ in range(height):
            steps.append(steps[-1] + rng.randint(0, 2))
        costs.append(steps if informative else [0] * (height + 1))
    return costs


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

    costs = costs_of_levels(rng, heights)

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
        expected=lambda verdict: bound(verdict.node) + verdict.suppressed,
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


def bounded(question: Question, bound: Callable[[Node], float]) -> Question:
    """The same question with other bounds."""
    return replace(question, bound=bound, bounds=lambda lattice: [bound(node) for node in lattice])


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
        expected=lambda verdict: bound(verdict.node) + verdict.suppressed / 55,
        rank=lambda verdict: (verdict.metric, verdict.node),
        prefer=lambda verdict: (verdict.suppressed, verdict.metric, verdict.node),
        labels=[sorted((rng.randint(1, 9) for _ in range(height + 1)), reverse=True) for height in WIDE],
        rows=100,
        max_suppressed=5,
    )
    return Problem(question, truth)


def binary_question(count: int, *, monotone: bool = True) -> Question:
    return Question(
        lattice=Lattice((0,) * count, (1,) * count),
        heights=(1,) * count,
        monotone=monotone,
        bound=lambda node: float(sum(node)),
        bounds=lambda lattice: [float(sum(node)) for node in lattice],
        staged=False,
        least=lambda verdict: float(sum(verdict.node)),
        expected=lambda verdict: float(sum(verdict.node)),
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
