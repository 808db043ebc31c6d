"""What the driver promises of every strategy: stopping loses nothing, progress and explanations are true.

On the problems of ``test_search``, whose truth is known for every node.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.search import STRATEGIES, Batch, Explained, Outcome, Progress, Search, Stopped, Verdict, explain, search
from kanon_sql.search.lattice import Lattice, generalizes
from kanon_sql.search.tags import can_win
from tests.support.search_problems import (
    Evaluator,
    Problem,
    at_most,
    binary_question,
    bounded,
    make_problem,
    tiny_rounds,
    wide_problem,
)

ALL = sorted(STRATEGIES)
EXPLAIN_ALL = ["exhaustive", "incognito", "optimal"]
"""Nothing is open once these have proven their answer; Samarati's says nothing about greater heights."""

seeds = st.integers(0, 2**32)


class Breaking:
    """Answers a batch node by node, and breaks off by chance: before the first answer, between two, after the last."""

    def __init__(self, evaluator: Evaluator, chance: float, seed: int) -> None:
        self.evaluator = evaluator
        self.chance = chance
        self.random = random.Random(seed)
        self.breaks = 0

    def __call__(self, batch: Batch) -> Iterator[Verdict]:
        for node in batch.nodes:
            self.perhaps()
            yield from self.evaluator(replace(batch, nodes=(node,)))
        self.perhaps()

    def perhaps(self) -> None:
        if self.random.random() < self.chance:
            self.breaks += 1
            raise Stopped(f"break {self.breaks}")


def run_or_stop(running: Search) -> Outcome | str:
    """The outcome, or why there is none yet."""
    try:
        return running.run()
    except Stopped as stopped:
        return str(stopped)


def is_of(problem: Problem, found: Verdict) -> bool:
    """Whether a verdict with its metric is the truth about a node that may be chosen."""
    return found == problem.truth[found.node] and found.satisfied and found.node in problem.question.lattice


# --- Stopping -----------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ALL)
@given(seed=seeds, monotone=st.booleans(), chance=st.sampled_from([0.05, 0.3, 0.8]))
@settings(max_examples=60)
def test_a_search_that_is_stopped_and_continued_asks_and_finds_the_same(
    name: str, seed: int, monotone: bool, chance: float
) -> None:
    problem = make_problem(seed, monotone=monotone)
    with tiny_rounds() if seed % 2 else nullcontext():
        whole = Evaluator(problem.question, problem.truth.__getitem__)
        expected = search(name, problem.question, whole).run()
        asked = Evaluator(problem.question, problem.truth.__getitem__)
        ask = Breaking(asked, chance, seed)
        running = search(name, problem.question, ask)
        stops = 0
        while isinstance(outcome := run_or_stop(running), str):
            stops += 1
        again = running.run()
    assert outcome == again == expected
    assert stops == ask.breaks
    assert asked.asked == whole.asked, "every question once, stopped or not"
    assert [node for batch in asked.batches for node in batch.nodes] == [
        node for batch in whole.batches for node in batch.nodes
    ]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", ALL)
@given(seed=seeds, monotone=st.booleans(), tiny=st.booleans())
@settings(max_examples=60)
def test_the_best_so_far_is_true_and_never_proven(name: str, seed: int, monotone: bool, tiny: bool) -> None:
    problem = make_problem(seed, monotone=monotone)
    rank = problem.question.rank
    with tiny_rounds() if tiny else nullcontext():
        expected = search(name, problem.question, Evaluator(problem.question, problem.truth.__getitem__)).run()
        asked = Evaluator(problem.question, problem.truth.__getitem__)
        ask = Breaking(asked, 0.3, seed)
        running = search(name, problem.question, ask)
        while isinstance(outcome := run_or_stop(running), str):
            before = dict(running.verdicts)
            satisfying = [v for v in before.values() if v.satisfied and v.node in problem.question.lattice]
            measured = [v for v in satisfying if v.metric is not None]
            questions, chance = len(asked.batches), ask.chance
            ask.chance = 0
            asked.asked.clear()  # the metric that is asked for now may be asked for again when the search goes on
            so_far = running.best_so_far(outcome)
            ask.chance = chance
            asked.asked.clear()
            assert len(asked.batches) == questions or (satisfying and not measured)
            assert not so_far.proven
            assert so_far.minimal is None
            assert (so_far.algorithm, so_far.stopped) == (name, outcome)
            assert so_far.evaluated == len(before) == len(running.verdicts)
            assert (so_far.best is None) == (not satisfying)
            assert so_far.best == (so_far.solutions[0] if so_far.solutions else None)
            assert list(so_far.solutions) == sorted(so_far.solutions, key=rank)
            assert all(is_of(problem, solution) for solution in so_far.solutions)
            assert {v.node for v in measured} <= {v.node for v in so_far.solutions}
            if measured:
                assert so_far.best == min(measured, key=rank)
    assert outcome == expected, "what a stopped search looks up does not change how it goes on"


def test_few_metrics_are_asked_for_when_none_is_known() -> None:
    """Samarati's first questions are about the verdict alone: of what they find, eight metrics are asked for."""
    question = binary_question(6)
    evaluator = Evaluator(question, at_most(3))
    stopped = False

    def ask(batch: Batch) -> Sequence[Verdict]:
        if batch.metrics and not stopped:
            raise Stopped("enough")
        return evaluator(batch)

    running = search("samarati", question, ask)
    assert run_or_stop(running) == "enough"
    stopped, questions = True, len(evaluator.batches)
    outcome = running.best_so_far("enough")
    lowest = sorted(node for node in question.lattice if sum(node) == 3)
    assert len(lowest) == 20
    assert evaluator.batches[questions:] == [Batch(tuple(lowest[:8]), metrics=True)]
    assert outcome.best == at_most(3)(lowest[0])
    assert len(outcome.solutions) == 8


def test_a_search_stopped_before_it_began_has_nothing() -> None:
    question = binary_question(3)

    def ask(batch: Batch) -> list[Verdict]:
        raise Stopped("at once")

    running = search("optimal", question, ask)
    assert run_or_stop(running) == "at once"
    outcome = running.best_so_far("at once")
    assert (outcome.best, outcome.proven, outcome.evaluated, outcome.solutions) == (None, False, 0, ())


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ValueError])
def test_other_errors_pass_through_and_may_be_tried_again(name: str, error: type[BaseException]) -> None:
    problem = make_problem(7, monotone=True)
    evaluator = Evaluator(problem.question, problem.truth.__getitem__)
    failing = [True]

    def ask(batch: Batch) -> list[Verdict]:
        if failing.pop() if failing else False:
            raise error
        return list(evaluator(batch))

    running = search(name, problem.question, ask)
    with pytest.raises(error):
        running.run()
    assert running.run() == search(name, problem.question, Evaluator(problem.question, evaluator.answer)).run()


def test_a_strategy_that_failed_is_not_continued() -> None:
    """Its generator is at its end, which must not look like an answer; what it found is still there."""
    problem = make_problem(7, monotone=True)

    def interrupted() -> Iterator[Batch]:
        yield Batch((problem.question.lattice.top,), metrics=True)
        raise KeyboardInterrupt

    ask = Evaluator(problem.question, problem.truth.__getitem__)
    running = Search("interrupted", problem.question, interrupted(), ask)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        running.run()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="cannot go on"):
            running.run()
    assert running.best_so_far("it was interrupted").evaluated == 1


def test_an_evaluator_that_leaves_out_a_node_is_a_defect() -> None:
    """A node without a verdict must not pass for a violating one."""
    question = binary_question(3)
    with pytest.raises(ValueError, match="no verdict of node"):
        search("samarati", question, lambda batch: []).run()


# --- Progress -----------------------------------------------------------------------------------


def watched(name: str, problem: Problem) -> tuple[list[Progress], int]:
    seen: list[Progress] = []
    evaluator = Evaluator(problem.question, problem.truth.__getitem__)
    outcome = search(name, problem.question, evaluator).run(seen.append)
    assert len(seen) == len(evaluator.batches)
    return seen, outcome.evaluated


def lies(seen: list[Progress], evaluated: int) -> bool:
    """Whether more nodes were asked about than had been announced, or a better solution was forgotten."""
    if any(item.left is not None and item.left < evaluated - item.evaluated for item in seen):
        return True
    if any(item.left is None and earlier.left is not None for earlier, item in pairwise(seen)):
        return True
    return any(b.best is None or b.best > a.best for a, b in pairwise(seen) if a.best is not None)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ALL)
@given(seed=seeds, monotone=st.booleans(), tiny=st.booleans())
@settings(max_examples=80)
def test_progress_never_lies(name: str, seed: int, monotone: bool, tiny: bool) -> None:
    problem = make_problem(seed, monotone=monotone)
    with tiny_rounds() if tiny else nullcontext():
        seen, evaluated = watched(name, problem)
    assert not lies(seen, evaluated)
    assert seen[-1].evaluated == evaluated


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("staged", [True, False])
def test_progress_of_a_larger_lattice(monotone: bool, staged: bool) -> None:
    problem = wide_problem(monotone=monotone, staged=staged)
    for name in ("exhaustive", "optimal"):
        seen, evaluated = watched(name, problem)
        assert not lies(seen, evaluated)
        known = [item.left for item in seen if item.left is not None]
        assert known == sorted(known, reverse=True)
        if name == "exhaustive":
            assert [item.evaluated + left for item, left in zip(seen, known, strict=True)] == [evaluated] * len(seen)


def test_announcing_too_few_is_caught() -> None:
    """The comparison can fail: a strategy that calls every batch the last lies."""

    def caught(seed: int) -> bool:
        problem = make_problem(seed, monotone=seed % 2 == 0)
        strategy = STRATEGIES["optimal"](problem.question)

        def understating() -> Iterator[Batch]:
            batch = next(strategy)
            while True:
                answer = yield replace(batch, left=None if batch.left is None else len(batch.nodes))
                try:
                    batch = strategy.send(answer)
                except StopIteration as end:
                    return end.value

        seen: list[Progress] = []
        ask = Evaluator(problem.question, problem.truth.__getitem__)
        outcome = Search("optimal", problem.question, understating(), ask).run(seen.append)  # type: ignore[arg-type]
        return lies(seen, outcome.evaluated)

    with tiny_rounds():
        assert any(caught(seed) for seed in range(200))


# --- Explaining ---------------------------------------------------------------------------------


def with_floors(problem: Problem) -> Problem:
    """The same problem, of whose metric nothing is known before, and much after, a question."""
    metric = {node: verdict.metric or 0.0 for node, verdict in problem.truth.items()}
    floors = {node: min(metric[other] for other in metric if generalizes(other, node)) for node in metric}
    truth = {node: replace(verdict, floor=floors[node]) for node, verdict in problem.truth.items()}
    return Problem(bounded(problem.question, lambda node: 0.0), truth)


def explained(name: str, problem: Problem, stop_after: int | None) -> tuple[list[Explained], Search, Outcome]:
    """What is said about every node, of a search that ended or was stopped after some nodes."""
    evaluator = Evaluator(problem.question, problem.truth.__getitem__)
    answered = 0

    def ask(batch: Batch) -> Iterator[Verdict]:
        nonlocal answered
        for verdict in evaluator(batch):
            if answered == stop_after:
                raise Stopped("enough")
            answered += 1
            yield verdict

    running = search(name, problem.question, ask)
    try:
        outcome = running.run()
    except Stopped:
        stop_after = None
        evaluator.asked.clear()
        outcome = running.best_so_far("enough")
    return list(explain(problem.question, running.verdicts, outcome)), running, outcome


def untrue(problem: Problem, items: list[Explained], running: Search, outcome: Outcome) -> str | None:
    """The first claim that is not so."""
    question, known, best = problem.question, running.verdicts, outcome.best
    if [item.node for item in items] != list(question.lattice):
        return "not every node, in order"
    for item in items:
        truth = problem.truth[item.node]
        above = [other.node for other in items if generalizes(other.node, item.node)]
        if any((problem.truth[node].metric or 0) < item.bound for node in above):
            return f"{item}: the bound is too high"
        if item.satisfied not in (None, truth.satisfied):
            return f"{item}: whether it satisfies"
        because = None if item.because is None else known.get(item.because)
        if item.because is not None and because is None:
            return f"{item}: because of a node that was not evaluated"
        if (item.status == "evaluated") != (item.node in known):
            return f"{item}: whether it was evaluated"
        reason = True
        if item.status == "evaluated":
            verdict = known[item.node]
            same = (verdict.satisfied, item.node, verdict.metric, verdict.suppressed)
            reason = (item.satisfied, item.because, item.metric, item.suppressed) == same
        elif item.status == "inferred" and item.satisfied:
            reason = because is not None and because.satisfied and generalizes(item.node, because.node)
            reason = reason and question.monotone
        elif item.status == "inferred":
            fails = because is not None and (not because.satisfied if question.monotone else because.prunable)
            reason = because is not None and fails and generalizes(because.node, item.node)
        elif item.status == "pruned":
            worse = best is not None and (truth.metric or 0) > (best.metric or 0)
            from_floor = because is not None and because.floor == item.bound and generalizes(item.node, because.node)
            reason = worse and (from_floor if because is not None else item.bound == question.bound(item.node))
        else:
            reason = (item.satisfied, item.because) == (None, None)
        if not reason:
            return f"{item}: the reason"
    return None


def unsaid(problem: Problem, items: list[Explained], running: Search, outcome: Outcome) -> list[Explained]:
    """Nodes called open although an answer decides them."""
    question, known = problem.question, running.verdicts.values()

    def decided(item: Explained) -> bool:
        for verdict in known:
            fails = not verdict.satisfied if question.monotone else verdict.prunable
            if (fails and generalizes(verdict.node, item.node)) or (
                question.monotone and verdict.satisfied and generalizes(item.node, verdict.node)
            ):
                return True
            closes = verdict.floor is not None and not can_win(verdict.floor, outcome.best)
            if closes and generalizes(item.node, verdict.node):
                return True
        return not can_win(question.bound(item.node), outcome.best)

    return [item for item in items if item.status == "open" and decided(item)]


@pytest.mark.parametrize("name", ALL)
@given(
    seed=seeds, monotone=st.booleans(), floors=st.booleans(), stop_after=st.none() | st.integers(0, 40),
    tiny=st.booleans(),
)  # fmt: skip
@settings(max_examples=80)
@pytest.mark.sampled(10)
def test_every_explanation_is_true_and_complete(
    name: str, seed: int, monotone: bool, floors: bool, stop_after: int | None, tiny: bool
) -> None:
    problem = make_problem(seed, monotone=monotone)
    if floors:
        problem = with_floors(problem)
    with tiny_rounds() if tiny else nullcontext():
        items, running, outcome = explained(name, problem, stop_after)
    assert untrue(problem, items, running, outcome) is None
    assert unsaid(problem, items, running, outcome) == []
    if outcome.proven and name in EXPLAIN_ALL:
        assert not [item for item in items if item.status == "open"], "a proven answer leaves nothing open"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", EXPLAIN_ALL)
@pytest.mark.parametrize("monotone", [True, False])
def test_a_larger_lattice_is_explained_completely(name: str, monotone: bool) -> None:
    problem = wide_problem(monotone=monotone)
    items, _, outcome = explained(name, problem, None)
    kinds = Counter(item.status for item in items)
    assert outcome.proven
    assert not kinds["open"]
    if name != "exhaustive":
        assert kinds["inferred"] > 100
        assert kinds["pruned"] > 100


@pytest.mark.slow
def test_all_kinds_of_explanation_occur() -> None:
    """The property is worth nothing if the random problems never need one of the reasons."""
    kinds: Counter[str] = Counter()
    for seed in range(300):
        problem = make_problem(seed, monotone=seed % 2 == 0)
        if seed % 5 < 2:
            problem = with_floors(problem)
        for name in ("incognito", "optimal"):
            with tiny_rounds():
                items, running, outcome = explained(name, problem, seed % 7 if seed % 3 else None)
            for item in items:
                kind = item.status
                if kind == "pruned":
                    kind += " by its bound" if item.because is None else " by a floor"
                    kinds["pruned, known to satisfy"] += item.satisfied is True
                kinds[kind if item.satisfied is None else f"{kind}, {item.satisfied}"] += 1
                kinds["because of a node outside"] += item.because is not None and (
                    item.because not in problem.question.lattice
                )
            kinds["nothing found"] += outcome.best is None
            kinds["asked outside"] += any(node not in problem.question.lattice for node in running.verdicts)
    expected = {
        "evaluated, True", "evaluated, False", "inferred, True", "inferred, False", "open",
        "pruned by its bound", "pruned by a floor", "pruned, known to satisfy",
        "because of a node outside", "nothing found", "asked outside",
    }  # fmt: skip
    assert {kind for kind in expected if kinds[kind] < 20} == set(), kinds


def test_a_violating_node_outside_of_the_limits_decides_those_inside() -> None:
    """Its levels are above the limits, so the highest nodes of the lattice that it generalizes are not it."""
    question = replace(binary_question(2), lattice=Lattice((0, 0), (1, 1)), heights=(2, 1))
    outside = Verdict((2, 0), False, True, 3, 1, 1)
    outcome = Outcome("incognito", None, False, "")
    said = {item.node: (item.status, item.because) for item in explain(question, {(2, 0): outside}, outcome)}
    assert said == {
        (0, 0): ("inferred", (2, 0)),
        (1, 0): ("inferred", (2, 0)),
        (0, 1): ("open", None),
        (1, 1): ("open", None),
    }


@pytest.mark.parametrize(
    "fault",
    [
        lambda problem: replace(problem.question, monotone=True),
        lambda problem: bounded(problem.question, lambda node: problem.question.bound(node) + sum(node)),
    ],
)
def test_untrue_explanations_are_caught(fault: Callable[[Problem], object]) -> None:
    def caught(seed: int) -> bool:
        problem = make_problem(seed, monotone=False)
        _, running, outcome = explained("exhaustive", problem, seed % 9)
        claims = list(explain(fault(problem), running.verdicts, outcome))  # type: ignore[arg-type]
        return untrue(problem, claims, running, outcome) is not None

    assert any(caught(seed) for seed in range(100))
