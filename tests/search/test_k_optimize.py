"""K-Optimize against brute force: every partition of small ordered domains, judged by the oracle."""

from __future__ import annotations

import csv
import importlib
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import pairwise, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SearchTooLarge, SpecError, UnsupportedError
from kanon_sql.evaluate.budget import Budget
from kanon_sql.evaluate.partitions import order as ordering
from kanon_sql.models.quality import METRICS, Counts
from kanon_sql.models.quality.discernibility import Discernibility
from kanon_sql.search import Batch, Cuts, Outcome, Question, Search, Span, Stopped, Verdict, k_optimize
from kanon_sql.search import one_column as path
from kanon_sql.search.lattice import Lattice
from kanon_sql.sql.text import Sql
from tests.conftest import Database
from tests.support.ordered import Case, assert_right, cases, planned
from tests.support.strategies import examples
from tests.support.suppressions import suppressing

# --- The optimum -----------------------------------------------------------------------------------


@given(case=cases())
@examples(6)
def test_it_publishes_what_brute_force_finds(shared_database: Database, folder: Path, case: Case) -> None:
    assert_right(shared_database, folder, case)


@pytest.mark.campaign
@given(case=cases(columns=3))
@examples(60)
def test_it_publishes_what_brute_force_finds_often(shared_database: Database, folder: Path, case: Case) -> None:
    assert_right(shared_database, folder, case)


def never_worse(database: Database, folder: Path, case: Case, widths: tuple[int, ...]) -> None:
    spec = case.load(database, folder).to_dict()
    for name, domain in case.domains.items():
        chosen = spec["quasi_identifiers"][name]
        if isinstance(domain[0], int | Decimal):
            chosen["intervals"] = list(widths)
        elif isinstance(domain[0], date):
            chosen["dates"] = ["month", "decade"]
        elif name not in case.forms:
            chosen["prefix"] = [1]
        elif case.forms[name] == "file":
            with open(chosen["file"], "w", encoding="utf-8", newline="") as file:
                groups = [[f"{width}:{position // width}" for width in widths] for position, _ in enumerate(domain)]
                nested = [[value, *row] for value, row in zip(domain, groups, strict=True)]
                csv.writer(file, delimiter=";").writerows(nested if widths != (2, 3) else [[v] for v in domain])
    found = {}
    for algorithm in ("optimal", "k_optimize"):
        spec["search"]["algorithm"] = algorithm
        found[algorithm] = kanon_sql.plan(database.engine, kanon_sql.Spec.from_dict(spec))
    assert found["k_optimize"].passed == found["optimal"].passed
    if found["optimal"].passed:
        best, other = (found[name].metrics[case.metric] for name in ("k_optimize", "optimal"))
        assert best <= other * (1 + 1e-9) + 2e-10


WIDTHS = st.sampled_from([(2,), (3,), (2, 4), (5, 10)])


@pytest.mark.slow
@given(case=cases(), widths=WIDTHS)
@examples(1)
def test_it_is_never_worse_than_the_best_node_of_a_lattice(
    shared_database: Database, folder: Path, case: Case, widths: tuple[int, ...]
) -> None:
    never_worse(shared_database, folder, case, widths)


@pytest.mark.campaign
@given(case=cases(columns=3), widths=WIDTHS)
@examples(30)
def test_it_is_never_worse_than_the_best_node_of_a_lattice_often(
    shared_database: Database, folder: Path, case: Case, widths: tuple[int, ...]
) -> None:
    never_worse(shared_database, folder, case, widths)


# --- The walk, answered from lists ---------------------------------------------------------------------


class Table:
    """Rows of atoms, and the answer to every span, counted row by row.

    Args:
        seed: of the rows.
        attributes: how many columns.
        atoms: at most how many values a column has.
        adds: the search knows that the metric is a sum over classes.
    """

    def __init__(self, seed: int, attributes: int, atoms: int, *, adds: bool = False) -> None:
        self.adds = adds
        rng = random.Random(seed)
        self.sizes = [rng.randint(1, atoms) for _ in range(attributes)]
        self.rows = [tuple(rng.randrange(size) for size in self.sizes) for _ in range(rng.randint(1, 24))]
        self.k = rng.choice([1, 2, 2, 3, 4])
        self.limit = rng.choice([0, 0, 2, 4, len(self.rows)])
        groups, used = [], 0
        self.bits: list[list[int]] = []
        for size in self.sizes:
            self.bits.append([1 << used + place for place in range(size - 1)])
            groups.append(sum(self.bits[-1]))
            used += size - 1
        self.cuts = Cuts(tuple(groups))
        self.asked: list[Span] = []

    def classes(self, cuts: int) -> list[tuple[int, ...]]:
        """Per row, its intervals."""
        return [
            tuple(sum(bool(cuts & bit) for bit in bits[:atom]) for bits, atom in zip(self.bits, row, strict=True))
            for row in self.rows
        ]

    def cost(self, cuts: int) -> tuple[int, int, int]:
        """Suppressed rows, kept classes and discernibility of a partition."""
        sizes = Counter(self.classes(cuts))
        kept = [size for size in sizes.values() if size >= self.k]
        suppressed = len(self.rows) - sum(kept)
        return suppressed, len(kept), sum(size**2 for size in kept) + suppressed * len(self.rows)

    def floor(self, span: Span) -> float:
        head, finest = self.classes(span.head), self.classes(span.finest)
        heads, finests, rows = Counter(head), Counter(finest), len(self.rows)
        return sum(
            max(self.k, finests[own]) if heads[above] >= self.k else rows
            for above, own in zip(head, finest, strict=True)
        )

    def verdict(self, span: Span) -> Verdict:
        assert span.head & ~span.finest == 0
        suppressed, kept, metric = self.cost(span.head)
        satisfied = suppressed <= self.limit and suppressed < len(self.rows)
        return Verdict(span, satisfied, not satisfied, suppressed, 0, kept, metric, self.floor(span))

    def ask(self, batch: Batch) -> list[Verdict]:
        self.asked += [Span(*node) for node in batch.nodes]
        return [self.verdict(Span(*node)) for node in batch.nodes]

    def question(self) -> Question:
        every = (self.cuts.every, self.cuts.every)
        return Question(
            lattice=Lattice((0, 0), every), heights=every, monotone=True, bound=lambda _: 0.0, staged=False,
            least=lambda _: 0.0, expected=lambda _: 0.0, rank=lambda v: (v.metric, v.node),
            prefer=lambda v: (v.metric, v.node), labels=(),
            bounds=lambda _: (), rows=len(self.rows), max_suppressed=self.limit,
        )  # fmt: skip

    def search(self) -> Search:
        cost = metric if self.adds else None
        return Search("k_optimize", self.question(), k_optimize(self.question(), self.cuts, cost), self.ask)

    def partitions(self) -> Iterator[int]:
        """Every partition."""
        bits = [bit for own in self.bits for bit in own]
        for chosen in product((0, 1), repeat=len(bits)):
            yield sum(bit for bit, taken in zip(bits, chosen, strict=True) if taken)

    def brute_force(self) -> float | None:
        found = [self.cost(cuts) for cuts in self.partitions()]
        return min((c for s, _, c in found if s <= self.limit and s < len(self.rows)), default=None)


class Column(Table):
    """One column, each of its values in one to six rows; the metric is discernibility, or one like loss."""

    def __init__(self, seed: int, *, widths: bool) -> None:
        super().__init__(seed, 1, 1, adds=True)
        rng = random.Random(seed)
        self.widths = widths
        self.fill([rng.choice([1, 1, 1, 2, 3, 6]) for _ in range(rng.randint(2, 8))])
        self.k, self.limit = rng.randint(1, 5), rng.randint(0, 5)

    def fill(self, counts: Sequence[int]) -> None:
        self.counts, self.sizes = counts, [len(counts)]
        self.rows = [(atom,) for atom, count in enumerate(counts) for _ in range(count)]
        self.bits = [[1 << place for place in range(len(counts) - 1)]]
        self.cuts = Cuts((sum(self.bits[0]),))

    def cost(self, cuts: int) -> tuple[int, int, int]:
        places = [0, *(place for place, bit in enumerate(self.bits[0], 1) if cuts & bit), len(self.counts)]
        classes = [(high - low, sum(self.counts[low:high])) for low, high in pairwise(places)]
        kept = [(width, size) for width, size in classes if size >= self.k]
        suppressed = len(self.rows) - sum(size for _, size in kept)
        if self.widths:  # the values under a row's label, or all of them
            return suppressed, len(kept), sum(width * size for width, size in kept) + suppressed * len(self.counts)
        return suppressed, len(kept), sum(size**2 for _, size in kept) + suppressed * len(self.rows)

    def floor(self, span: Span) -> float:
        return super().floor(span) if not self.widths else 0


def metric(verdict: Verdict) -> int:
    """What a partition costs, which here is the metric."""
    assert verdict.metric is not None
    return int(verdict.metric)


def assert_best(table: Table, outcome: Outcome) -> None:
    expected = table.brute_force()
    assert outcome.proven
    assert (None if outcome.best is None else outcome.best.metric) == expected


@given(seed=st.integers(0, 10**6), attributes=st.integers(1, 3))
@examples(50)
def test_the_walk_finds_the_best_partition(seed: int, attributes: int) -> None:
    table = Table(seed, attributes, {1: 9, 2: 5, 3: 4}[attributes])
    assert_best(table, table.search().run())


@pytest.mark.parametrize("batch", [2, 64])
@pytest.mark.parametrize("widths", [False, True])
def test_the_shortest_path_is_the_best_partition_of_one_column(widths: bool, batch: int) -> None:
    """Without a walk over spans; also where the classes that begin at a value take several questions."""
    walk = importlib.import_module("kanon_sql.search.k_optimize")
    with patch.object(walk, "_Tree", shortest_only(walk)), patch.object(path, "BATCH", batch):
        for seed in range(200):
            table = Column(seed, widths=widths)
            assert_best(table, table.search().run())


@pytest.mark.parametrize("batch", [2, 64])
def test_all_rows_but_those_of_one_class_may_be_suppressed(batch: int) -> None:
    """No partition has two classes of twenty: twenty rows stand for one value, and eight for all nine."""
    table = Column(0, widths=True)
    table.fill([1, 1, 1, 1, 20, 1, 1, 1, 1])
    table.k, table.limit = 20, 8
    with patch.object(path, "BATCH", batch):
        found = table.search().run()
    assert found.best is not None
    assert (found.proven, found.best.metric) == (True, 20 * 1 + 8 * 9)
    assert_best(table, found)


@pytest.mark.slow
def test_what_a_further_row_can_break_is_searched_as_spans(database: Database) -> None:
    """All are as close as can be to half x: so is each pair of neighbours, and no value by itself, nor three."""
    rows = [[value, "xyyx"[value % 4]] for value in range(8)]
    database.table("people", {"q": "INTEGER", "s": "VARCHAR"}, rows)
    close = {"t_closeness": {"attribute": "s", "t": 0.1, "distance": "equal"}}
    spec = planned({"q": None}, sensitive=["s"], privacy=[{"k_anonymity": 2}, close], suppression={"max_rows": 0})
    found = kanon_sql.plan(database.engine, spec)
    assert found.search is not None
    assert (found.search.proven, found.intervals) == (True, {"q": 4})
    assert found.metrics["loss"] == pytest.approx((8 * 2 - 8) / (64 - 8))


def shortest_only(walk: Any) -> Any:
    class Tree(walk._Tree):  # type: ignore[misc]
        def plant(self) -> Any:
            raise AssertionError("the shortest path did not do")

    return Tree


@pytest.mark.parametrize("ways", [0, 3])
def test_too_many_ways_to_suppress_are_searched_as_spans(ways: int) -> None:
    """Whatever is too much for the shortest path: the walk gives the same answer."""
    with patch.object(path, "MOST_WAYS", ways):
        for seed in range(25):
            table = Column(seed, widths=False)
            assert_best(table, table.search().run())


@pytest.mark.parametrize("values", [15, 20, 25, 35, 50, 200])
def test_one_column_takes_a_few_questions_per_value(values: int) -> None:
    """A class has 3 to 5 values (6 make two), so at most 8 classes begin at a value or are too small."""
    table = Column(0, widths=True)
    table.fill([4] * values)
    table.k, table.limit = 10, 0
    found = table.search().run()
    # As many classes of 3 as can be; what is left over makes some of them 4.
    classes, over = divmod(values, 3)
    assert found.best is not None
    assert (found.proven, found.best.metric) == (True, 4 * ((classes - over) * 9 + over * 16))
    assert found.evaluated <= 9 * values


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["loss", pytest.param("discernibility", marks=pytest.mark.slow)])
def test_fifty_values_are_cut_at_once(database: Database, metric: str) -> None:
    """Fourteen classes of three values and two of four; four rows each."""
    database.connection.execute("CREATE TABLE people AS SELECT CAST(i % 50 AS INTEGER) AS q FROM range(200) AS t(i)")
    search = {"algorithm": "k_optimize", "metric": metric}
    said: list[tuple[str, int | None]] = []
    found = kanon_sql.plan(
        database.engine,
        planned({"q": None}, privacy=[{"k_anonymity": 10}], search=search),
        report=lambda stage, number: said.append((stage, number)),
    )
    assert found.search is not None
    assert (found.search.proven, found.intervals) == (True, {"q": 16})
    widths = 4 * (14 * 9 + 2 * 16)
    assert found.metrics[metric] == pytest.approx((widths - 200) / (200 * 49) if metric == "loss" else 4 * widths)
    assert found.search.nodes_evaluated <= 9 * 50
    words = [
        stage
        for stage, _ in said
        if re.search(rf"partitions \(k_optimize\): best {metric} .*, at most \d+ left", stage)
    ]
    assert len(words) >= 20


@given(seed=st.integers(0, 10**6), after=st.integers(0, 6))
@examples(40)
def test_a_stopped_walk_has_something_valid_is_not_proven_and_goes_on(seed: int, after: int) -> None:
    table = Table(seed, 2, 5)
    left = iter([False] * after + [True])

    def ask(batch: Batch) -> Sequence[Verdict]:
        if next(left, False):
            raise Stopped("enough")
        return table.ask(batch)

    run = Search("k_optimize", table.question(), k_optimize(table.question(), table.cuts), ask)
    try:
        return assert_best(table, run.run())  # it was over before
    except Stopped as stopped:
        outcome = run.best_so_far(str(stopped))
    assert not outcome.proven
    assert outcome.stopped == "enough"
    if outcome.best is not None:
        suppressed, _, metric = table.cost(Span(*outcome.best.node).head)
        assert (suppressed, metric) == (outcome.best.suppressed, outcome.best.metric)
        assert suppressed <= table.limit
    assert_best(table, run.run())


def test_it_does_not_ask_about_everything() -> None:
    asked = everything = 0
    for seed in range(12):
        table = Table(seed, 2, 12)
        table.search().run()
        asked += len(set(table.asked))
        everything += 2 ** table.cuts.every.bit_count()
    assert asked * 50 < everything


def test_a_search_that_asks_too_much_is_not_called_proven() -> None:
    with patch.object(importlib.import_module("kanon_sql.search.k_optimize"), "MOST_SPANS", 1):
        outcomes = [Table(seed, 2, 9).search().run() for seed in range(10)]
    assert any(outcome.stopped for outcome in outcomes)
    assert all(outcome.proven == (outcome.stopped is None) for outcome in outcomes)
    assert all(outcome.best is not None for outcome in outcomes if outcome.stopped)
    for outcome in outcomes:
        if outcome.stopped:
            below = re.search(r"no partition has a metric below (.*)", outcome.stopped)
            assert below is not None
            assert outcome.best is not None
            assert float(below[1]) < (outcome.best.metric or 0)


@pytest.mark.parametrize("wrong", ["floor", "prunable", "useless"])
def test_a_wrong_answer_is_seen(wrong: str) -> None:
    """The tests above would fail if a bound were too high, or what is pruned or taken for useless were wrong."""

    class Wrong(Table):
        def verdict(self, span: Span) -> Verdict:
            found = super().verdict(span)
            if wrong == "floor":
                assert found.floor is not None
                return replace(found, floor=found.floor * 1.3)
            if wrong == "useless":
                return replace(found, kept_classes=0, suppressed=0)
            return replace(found, prunable=found.prunable or found.kept_classes > 2)

    missed = False
    for seed in range(150):
        table = Wrong(seed, 2, 5)
        best = table.search().run().best
        if missed := (None if best is None else best.metric) != table.brute_force():
            break
    assert missed


@pytest.mark.slow
def test_a_wrong_bound_in_sql_is_seen(database: Database, folder: Path) -> None:
    """The best cuts are before 2 and before 9. The best single cut is another one, and climbing starts with it."""
    rows = [{"q0": value, "s": "x"} for value in (1, 1, 2, 3, 9, 9)]
    case = Case(rows, {"q0": [1, 2, 3, 9]}, k=2, limit=4, metric="discernibility")
    spec = case.load(database, folder)

    def too_high(self: Discernibility, k: int, carried: Sequence[str]) -> dict[str, Sql]:
        return {"kept_squares": Sql("row_count * 6")}

    def no_sum(self: Discernibility, counts: Counts) -> None:
        """Else one column is a shortest path, which has no need of bounds."""

    with patch.object(Discernibility, "added", no_sum):
        assert kanon_sql.plan(database.engine, spec).metrics["discernibility"] == case.brute_force()
        with patch.object(Discernibility, "least_costs", too_high):
            assert kanon_sql.plan(database.engine, spec).metrics["discernibility"] != case.brute_force()


# --- Limits --------------------------------------------------------------------------------


def replaced(spec: kanon_sql.Spec, **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**spec.to_dict(), **changes})


@pytest.mark.slow
def test_too_many_places_to_cut_at_are_refused_unless_limited(database: Database) -> None:
    database.connection.execute("CREATE TABLE people AS SELECT CAST(range AS INTEGER) AS q FROM range(300)")
    spec = planned({"q": None}, privacy=[{"k_anonymity": 50}])
    with patch.object(ordering, "MAX_CUTS", 100), pytest.raises(SearchTooLarge, match=r"299 places.*search\.cuts"):
        kanon_sql.plan(database.engine, spec)
    limited = {"algorithm": "k_optimize", "cuts": 5}
    found = kanon_sql.plan(database.engine, replaced(spec, search=limited))
    assert found.intervals == {"q": 6}
    assert found.classes["smallest"] == 50
    assert found.search is not None
    assert (found.search.proven, "at most 5 candidate cuts" in found.search.criterion) == (True, True)


def test_a_limit_that_takes_nothing_away_is_not_mentioned(database: Database) -> None:
    database.table("people", {"q": "INTEGER"}, [[v] for v in (1, 1, 2, 2, 2)])
    found = kanon_sql.plan(database.engine, planned({"q": None}, search={"algorithm": "k_optimize", "cuts": 5}))
    assert found.search is not None
    assert "candidate" not in found.search.criterion


# --- What is refused -----------------------------------------------------------------------------------------


TREE = {"tree": {"x": ["1"], "y": ["2"]}}


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "requirement",
    [
        {"t_closeness": {"attribute": "s", "t": 0.9, "distance": "ordered"}},
        {"t_closeness": {"attribute": "s", "t": 0.9, "distance": "hierarchical", "hierarchy": TREE}},
        {"alpha_k_anonymity": {"attribute": "s", "alpha": 0.9, "k": 2, "values": ["1"]}},
        {"p_sensitive_k_anonymity": {"attribute": "s", "p": 1, "k": 2}},
        {"beta_likeness": {"attribute": "s", "beta": 9}},
        {"l_diversity": {"attribute": "s", "variant": "npd_recursive", "l": 2, "c": 9, "allow_positive": ["1"]}},
        {"k_map": {"population": "people", "k": 2}},
        {"k_anonymity": {"k": 2, "quasi_identifiers": ["q"]}},
    ],
    ids=lambda requirement: next(iter(requirement)),
)
def test_a_requirement_is_searched_for_or_refused(database: Database, requirement: dict[str, Any]) -> None:
    """Never an error of our own making: the answer, verified, or the reason why there is none."""
    database.table("people", {"q": "INTEGER", "r": "INTEGER", "s": "INTEGER"}, [[v, v, v % 2 + 1] for v in range(8)])
    spec = planned(
        {"q": None, "r": None}, sensitive=["s"], privacy=[{"k_anonymity": 2}, requirement], suppression={"max_rows": 0}
    )
    reason = ""
    try:
        assert kanon_sql.anonymize(database.engine, spec).passed
    except UnsupportedError as refused:
        reason = str(refused)
    assert "use another algorithm" in reason or "check" in reason or kanon_sql.check(database.engine, spec).passed


def test_the_spec_refuses_what_it_cannot_do(database: Database) -> None:
    of = {"algorithm": "k_optimize"}
    for metric in METRICS.keys() - {"loss", "discernibility"}:
        with pytest.raises(SpecError, match=r"search\.metric: k_optimize needs a metric"):
            planned({"q": None}, search={**of, "metric": metric})
    with pytest.raises(SpecError, match=r"search\.prefer: k_optimize chooses by the metric only; leave 'prefer' out"):
        planned({"q": None}, search={**of, "prefer": "maximum_distribution"})
    with pytest.raises(SpecError, match=r"search\.cuts: the algorithm \w+ does not use this option, only k_optimize"):
        planned({"q": None}, search={"cuts": 3})
    for limit in ({"minimum_level": 1}, {"maximum_level": 1}):
        with pytest.raises(SpecError, match="chooses intervals of the values, not levels"):
            planned({"q": limit})


def test_metrics_with_bounds_are_those_that_the_spec_takes() -> None:
    bounded = {name for name, metric in METRICS.items() if metric.least_costs(2, ["z0"])}
    assert bounded == {name for name, metric in METRICS.items() if metric.bounds_cuts} == {"loss", "discernibility"}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("privacy", "unit", "limit", "refused"),
    [
        ({"l_diversity": {"attribute": "s", "l": 2, "variant": "entropy"}}, None, 0.1, True),
        ({"l_diversity": {"attribute": "s", "l": 2}}, None, 0.1, False),
        ({"l_diversity": {"attribute": "s", "l": 2}}, "p", 0, True),
        ({"t_closeness": {"attribute": "s", "t": 0.5}}, None, 1, True),
        ({"t_closeness": {"attribute": "s", "t": 0.5}}, None, 0, False),
    ],
)
def test_requirements_that_merging_breaks_are_refused(
    database: Database, privacy: dict[str, Any], unit: str | None, limit: float, refused: bool
) -> None:
    rows = [[v, "xy"[v % 2], v // 2] for v in range(6)]
    database.table("people", {"q": "INTEGER", "s": "VARCHAR", "p": "INTEGER"}, rows)
    spec = planned(
        {"q": None}, sensitive=["s"], privacy=[{"k_anonymity": 2}, privacy], unit=unit,
        suppression=suppressing(limit),
    )  # fmt: skip
    if refused:
        with pytest.raises(UnsupportedError, match="k_optimize cannot search for"):
            kanon_sql.plan(database.engine, spec)
    else:
        assert kanon_sql.plan(database.engine, spec).passed


def test_levels_cannot_be_explained(database: Database) -> None:
    database.table("people", {"q": "INTEGER"}, [[1], [1]])
    with pytest.raises(UnsupportedError, match="searches partitions, not lattice nodes"):
        kanon_sql.plan(database.engine, planned({"q": None}), explain=True)


# --- Persons, budgets, results -----------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("several", [False, True])
def test_persons_are_counted_once(database: Database, several: bool) -> None:
    """Two rows of one person are one person, whether in one class or in two."""
    rows = [[1, 0], [2 if several else 1, 0], [3, 1], [4, 2], [5, 3], [6, 4]]
    database.table("people", {"q": "INTEGER", "p": "INTEGER"}, rows)
    search = {"algorithm": "k_optimize", "metric": "discernibility" if several else "loss"}
    found = kanon_sql.anonymize(database.engine, planned({"q": None}, unit="p", search=search))
    labels = Counter(database.rows("people_release"))
    assert len(labels) == 2
    assert found.achieved["k_anonymity"]["k"] == 2
    # The first class needs a second person: [1, 1 or 2, 3], then [4, 5, 6].
    assert sorted(labels.values()) == [3, 3]


@pytest.mark.slow
def test_a_budget_gives_the_best_so_far_and_says_so(database: Database) -> None:
    database.connection.execute(
        "CREATE TABLE people AS SELECT CAST(i % 37 AS INTEGER) AS a, CAST(i * i % 23 AS INTEGER) AS b "
        "FROM range(400) AS t(i)"
    )
    spec = planned({"a": None, "b": None}, privacy=[{"k_anonymity": 3}])
    found = kanon_sql.anonymize(database.engine, spec, budget=Budget(statements=6))
    assert found.passed
    assert found.search is not None
    assert (found.search.proven, found.search.stopped is not None) == (False, True)
    assert found.manifest is not None
    assert found.manifest["intervals"] == found.to_dict()["intervals"]
    assert min(Counter(database.rows("people_release")).values()) >= 3


def test_no_value_and_no_count_of_rows_per_value_reaches_python(database: Database) -> None:
    """Places in the domain and sums over all rows: nothing tells the 7 rows of one value from the 5 of another."""
    database.table("people", {"q": "INTEGER"}, [[4711]] * 7 + [[815]] * 5)
    spec = planned({"q": None}, privacy=[{"k_anonymity": 13}], suppression={"max_rows": 0})
    seen: list[Any] = []
    original = type(database.engine).fetch

    def noted(self: Any, *given: Any, **named: Any) -> Any:
        rows = original(self, *given, **named)
        seen.extend(value for row in rows for value in row)
        return rows

    with patch.object(type(database.engine), "fetch", noted):
        kanon_sql.plan(database.engine, spec)
    assert seen
    assert not {4711, 815, "4711", "815", 7, 5} & set(seen)
