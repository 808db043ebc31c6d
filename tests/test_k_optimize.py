"""K-Optimize against brute force: every partition of small ordered domains, judged by the oracle."""

from __future__ import annotations

import csv
import importlib
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import isclose
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from conftest import Database
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from oracle import Hierarchy, Oracle

import kanon_sql
from kanon_sql import ordering
from kanon_sql.errors import HierarchyError, SearchTooLarge, SpecError, UnsupportedError
from kanon_sql.lattice import Lattice
from kanon_sql.pipeline.search import Budget
from kanon_sql.quality import METRICS, Discernibility
from kanon_sql.search import Batch, Cuts, Outcome, Question, Search, Span, Stopped, Verdict, k_optimize
from kanon_sql.spec.model import _BOUNDED
from kanon_sql.sql.text import Sql


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


# --- Problems --------------------------------------------------------------------------------------

TEXTS = ["m", "Z", "a", "é", "10", "9"]
"""In a hierarchy file's order, which is no alphabet's."""


@dataclass(frozen=True)
class Case:
    """A table, the ordered domain of each column (text in a file, numbers by a rule), and what is asked."""

    rows: list[dict[str, Any]]
    domains: dict[str, list[Any]]
    k: int
    limit: int
    metric: str
    nulls: str = "value"
    diverse: int = 1
    weights: tuple[float, ...] = (1, 1, 1)
    style: str = "drop"

    def requirements(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [{"k_anonymity": {"k": self.k}}]
        if self.diverse > 1:
            found.append({"l_diversity": {"attribute": "s", "l": self.diverse, "kind": "distinct"}})
        return found

    def spec(self, folder: Path, **changes: Any) -> kanon_sql.Spec:
        """What a user would write; files are written too."""
        quasi_identifiers: dict[str, Any] = {}
        for (name, domain), weight in zip(self.domains.items(), self.weights, strict=False):
            quasi_identifiers[name] = {"weight": weight}
            if isinstance(domain[0], str):
                path = folder / f"{name}.csv"
                with path.open("w", encoding="utf-8", newline="") as file:
                    csv.writer(file, delimiter=";").writerows([[value] for value in domain])
                quasi_identifiers[name]["file"] = str(path)
        return kanon_sql.Spec.from_dict(
            {
                "version": 1,
                "source": "people",
                "release": "people_release",
                "quasi_identifiers": quasi_identifiers,
                "sensitive": ["s"],
                "keep": ["serial"],
                "privacy": self.requirements(),
                "suppression": {"limit": self.limit, "style": self.style},
                "search": {"algorithm": "k_optimize", "metric": self.metric},
                "nulls": self.nulls,
            }
            | changes
        )

    def load(self, database: Database) -> None:
        kinds = {name: "VARCHAR" if isinstance(d[0], str) else "INTEGER" for name, d in self.domains.items()}
        kinds |= {"s": "VARCHAR", "serial": "INTEGER"}
        for name in ("people_release", "kanon_sql_manifest", "kanon_sql_scratch"):
            database.connection.execute(f"DROP TABLE IF EXISTS {name}")
        lines = [{**row, "serial": number} for number, row in enumerate(self.rows)]
        database.table("people", kinds, [[line[name] for name in kinds] for line in lines])

    def oracle(self, hierarchies: Mapping[str, Hierarchy]) -> Oracle:
        return Oracle(
            rows=self.rows,
            hierarchies=hierarchies,
            requirements=self.requirements(),
            limit=self.limit,
            nulls=self.nulls,
            weights=dict(zip(self.domains, self.weights, strict=False)),
        )

    def brute_force(self) -> float | None:
        """The lowest metric of all partitions: every way to cut every domain, or not to tell its values apart."""
        found = []
        for chosen in product(*(list(options(domain)) for domain in self.domains.values())):
            hierarchies = {name: hierarchy for name, (hierarchy, _) in zip(self.domains, chosen, strict=True)}
            result = self.oracle(hierarchies).evaluate(tuple(level for _, level in chosen))
            if result.satisfied:
                found.append(result.metrics[self.metric])
        return min(found, default=None)


def options(domain: Sequence[Any]) -> Iterator[tuple[Hierarchy, int]]:
    """A domain cut in every way (one interval, NULL apart, is one of them), and its top."""
    for count in range(len(domain)):
        for places in combinations(range(1, len(domain)), count):
            label = {value: str(sum(place <= position for place in places)) for position, value in enumerate(domain)}
            yield {value: (str(value), label[value], "*") for value in domain}, 1
    yield {value: (str(value), "all", "*") for value in domain}, 2


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = random.Random(draw(st.integers(0, 10**6)))
    names = ["q0", "q1", "q2"][: draw(st.sampled_from([2, 1, 2, 3]))]
    longest = {1: 6, 2: 4, 3: 3}[len(names)]
    domains: dict[str, list[Any]] = {}
    cells: dict[str, list[Any]] = {}
    for name in names:
        if rng.random() < 0.5:  # a file's domain; some of it is in no row
            domain: list[Any] = rng.sample(TEXTS, rng.randint(1, longest))
            used = rng.sample(domain, rng.randint(1, len(domain)))
        else:
            used = domain = sorted(rng.sample([-1, 0, 2, 9, 10, 100], rng.randint(1, longest)))
        domains[name] = domain
        cells[name] = [*used, None] if rng.random() < 0.4 else used
    vectors = [{name: rng.choice(values) for name, values in cells.items()} for _ in range(rng.randint(1, 8))]
    rows = [{**rng.choice(vectors), "s": rng.choice(["x", "y", "z", None])} for _ in range(rng.randint(1, 20))]
    nulls = rng.choice(["value", "value", "suppress"])
    for name, domain in domains.items():
        if not isinstance(domain[0], str):  # a rule's domain is what occurs
            seen = sorted({row[name] for row in rows} - {None})
            domains[name] = seen or domain[:1]
            if not seen:
                rows[0][name] = domain[0]
    return Case(
        rows=rows,
        domains=domains,
        k=rng.choice([1, 2, 2, 3, 4]),
        limit=rng.choice([0, 0, 1, 2, 3, 5, 20]),
        metric=draw(st.sampled_from(["loss", "discernibility"])),
        nulls=nulls,
        diverse=rng.choice([1, 1, 2]),
        weights=rng.choice([(1, 1, 1), (1, 0.5, 2)]),
        style=rng.choice(["drop", "mask"]),
    )


# --- The optimum -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("domains")


@given(case=cases())
@examples(15)
def test_it_publishes_what_brute_force_finds(shared_database: Database, folder: Path, case: Case) -> None:
    case.load(shared_database)
    found = kanon_sql.anonymize(shared_database.engine, case.spec(folder))
    expected = case.brute_force()
    assert found.search is not None
    assert found.search.proven
    assert found.passed == (expected is not None)
    if expected is None:
        return
    assert isclose(found.metrics[case.metric], expected, rel_tol=1e-9, abs_tol=2e-10), case
    assert_released(shared_database, case, found)


def assert_released(database: Database, case: Case, found: kanon_sql.Result) -> None:
    """The release is the partition that the result tells of, and satisfies what was asked."""
    assert found.cuts is not None
    columns = database.columns("people_release")
    rows = [dict(zip(columns, row, strict=True)) for row in database.rows("people_release")]
    groups = Counter(tuple(row[name] for name in case.domains) for row in rows)
    values: dict[tuple[Any, ...], set[Any]] = {}
    for row in rows:
        values.setdefault(tuple(row[name] for name in case.domains), set()).add(row["s"])
    assert all(size >= case.k for size in groups.values())
    assert all(len(held - {None}) >= case.diverse for held in values.values() if case.diverse > 1)
    assert len(rows) == found.rows["released"] + found.rows.get("masked", 0)
    if found.rows.get("masked"):
        return
    for name, domain in case.domains.items():
        used = sorted({row[name] for row in case.rows} - {None}, key=domain.index)
        with_null = any(row[name] is None for row in case.rows) and case.nulls == "value"
        order = [*used, None] if with_null else used
        labels: dict[int, set[Any]] = {}
        for row in rows:
            position = order.index(case.rows[row["serial"]][name])
            labels.setdefault(sum(place <= position for place in found.cuts[name]), set()).add(row[name])
        # A label per interval, and none twice: whoever reads it can tell the intervals apart.
        assert all(len(said) == 1 for said in labels.values())
        assert len(set.union(*labels.values())) == len(labels)


@given(case=cases(), widths=st.sampled_from([(2,), (3,), (2, 4), (5, 10)]))
@examples(10)
def test_it_is_never_worse_than_the_best_node_of_a_lattice_of_intervals(
    shared_database: Database, folder: Path, case: Case, widths: tuple[int, ...]
) -> None:
    case.load(shared_database)
    spec = case.spec(folder).to_dict()
    for name, domain in case.domains.items():
        chosen = spec["quasi_identifiers"][name]
        if isinstance(domain[0], int):
            chosen["intervals"] = list(widths)
            continue
        path = folder / f"levels_{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            groups = [[f"{width}:{position // width}" for width in widths] for position, _ in enumerate(domain)]
            nested = [[value, *row] for value, row in zip(domain, groups, strict=True)]
            csv.writer(file, delimiter=";").writerows(nested if widths != (2, 3) else domain)
        chosen["file"] = str(path)
    found = {}
    for algorithm in ("optimal", "k_optimize"):
        spec["search"]["algorithm"] = algorithm
        found[algorithm] = kanon_sql.plan(shared_database.engine, kanon_sql.Spec.from_dict(spec))
    assert found["k_optimize"].passed == found["optimal"].passed
    if found["optimal"].passed:
        best, other = (found[name].metrics[case.metric] for name in ("k_optimize", "optimal"))
        assert best <= other * (1 + 1e-9) + 2e-10


# --- The walk, answered from lists ---------------------------------------------------------------------


class Table:
    """Rows of atoms, and the answer to every span, counted row by row."""

    def __init__(self, seed: int, attributes: int, atoms: int) -> None:
        rng = random.Random(seed)
        self.sizes = [rng.randint(1, atoms) for _ in range(attributes)]
        self.null = [rng.random() < 0.3 and size > 1 for size in self.sizes]
        self.rows = [tuple(rng.randrange(size) for size in self.sizes) for _ in range(rng.randint(1, 24))]
        self.k = rng.choice([1, 2, 2, 3, 4])
        self.limit = rng.choice([0, 0, 2, 4, len(self.rows)])
        groups, nulls, used = [], [], 0
        self.bits: list[list[int]] = []
        for size, null in zip(self.sizes, self.null, strict=True):
            self.bits.append([1 << used + place for place in range(size - 1)])
            groups.append(sum(self.bits[-1]))
            nulls.append(self.bits[-1][-1] if null else 0)
            used += size - 1
        self.cuts = Cuts(tuple(groups), tuple(nulls))
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
        assert self.cuts.closed(span.head) == span.head
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
            least=lambda _: 0.0, rank=lambda v: (v.metric, v.node), prefer=lambda v: (v.metric, v.node), labels=(),
            bounds=lambda _: (), rows=len(self.rows), max_suppressed=self.limit,
        )  # fmt: skip

    def search(self) -> Search:
        return Search("k_optimize", self.question(), k_optimize(self.question(), self.cuts), self.ask)

    def partitions(self) -> Iterator[int]:
        """Every partition: NULL is apart as soon as anything is cut."""
        bits = [bit for own in self.bits for bit in own]
        for chosen in product((0, 1), repeat=len(bits)):
            cuts = sum(bit for bit, taken in zip(bits, chosen, strict=True) if taken)
            if self.cuts.closed(cuts) == cuts:
                yield cuts

    def brute_force(self) -> float | None:
        found = [self.cost(cuts) for cuts in self.partitions()]
        return min((c for s, _, c in found if s <= self.limit and s < len(self.rows)), default=None)


def assert_best(table: Table, outcome: Outcome) -> None:
    expected = table.brute_force()
    assert outcome.proven
    assert (None if outcome.best is None else outcome.best.metric) == expected


@given(seed=st.integers(0, 10**6), attributes=st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_the_walk_finds_the_best_partition(seed: int, attributes: int) -> None:
    table = Table(seed, attributes, {1: 9, 2: 5, 3: 4}[attributes])
    assert_best(table, table.search().run())


@given(seed=st.integers(0, 10**6), after=st.integers(0, 6))
@settings(max_examples=40, deadline=None)
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
    for seed in range(20):
        table = Table(seed, 2, 12)
        table.search().run()
        asked += len(set(table.asked))
        everything += 2 ** table.cuts.every.bit_count()
    assert asked * 50 < everything


def test_a_search_that_asks_too_much_is_not_called_proven() -> None:
    with patch.object(importlib.import_module("kanon_sql.search.k_optimize"), "MAX_NODES", 1):
        outcomes = [Table(seed, 2, 9).search().run() for seed in range(10)]
    assert any(outcome.stopped for outcome in outcomes)
    assert all(outcome.proven == (outcome.stopped is None) for outcome in outcomes)
    assert all(outcome.best is not None for outcome in outcomes if outcome.stopped)


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

    missed = 0
    for seed in range(150):
        table = Wrong(seed, 2, 5)
        best = table.search().run().best
        missed += (None if best is None else best.metric) != table.brute_force()
    assert missed


def test_a_wrong_bound_in_sql_is_seen(database: Database, folder: Path) -> None:
    """The best cuts are before 2 and before 9. The best single cut is another one, and climbing starts with it."""
    rows = [{"q0": value, "s": "x"} for value in (1, 1, 2, 3, 9, 9)]
    case = Case(rows, {"q0": [1, 2, 3, 9]}, k=2, limit=4, metric="discernibility")
    case.load(database)
    assert kanon_sql.plan(database.engine, case.spec(folder)).metrics["discernibility"] == case.brute_force()

    def too_high(self: Discernibility, k: int, carried: Sequence[str]) -> dict[str, Sql]:
        return {"kept_squares": Sql("row_count * 6")}

    with patch.object(Discernibility, "least_costs", too_high):
        assert kanon_sql.plan(database.engine, case.spec(folder)).metrics["discernibility"] != case.brute_force()


# --- Labels, orders, limits --------------------------------------------------------------------------------


def planned(database: Database, quasi_identifiers: dict[str, Any], **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "people_release", "quasi_identifiers": quasi_identifiers,
            "privacy": [{"k_anonymity": 2}], "search": {"algorithm": "k_optimize"},
        }
        | changes
    )  # fmt: skip


def replaced(spec: kanon_sql.Spec, **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**spec.to_dict(), **changes})


def released(database: Database, spec: kanon_sql.Spec) -> list[Any]:
    database.connection.execute("DROP TABLE IF EXISTS people_release")
    database.connection.execute("DROP TABLE IF EXISTS kanon_sql_manifest")
    kanon_sql.anonymize(database.engine, spec)
    return sorted({row[0] for row in database.rows("people_release")}, key=str)


def test_labels_of_numbers_are_open_at_the_ends(database: Database) -> None:
    """The lowest and the highest value in the source, 9 and 1,000, are in no label."""
    database.table("people", {"q": "INTEGER"}, [[v] for v in (9, 10, 20, 21, 30, 30, 40, 1000)])
    assert released(database, planned(database, {"q": None})) == ["30", "< 20", ">= 40", "[20, 30)"]


def test_labels_of_a_file_are_its_first_and_last_value_in_its_order(database: Database, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("none\nschool\nmaster\ndoctor\nunused\n")
    database.table("people", ["q"], [["none"], ["school"], ["master"], ["doctor"]])
    assert released(database, planned(database, {"q": {"file": str(tmp_path / "h.csv")}})) == [
        "master..doctor",
        "none..school",
    ]


def test_a_tree_and_a_table_have_orders_too(database: Database) -> None:
    database.table("people", {"q": "VARCHAR"}, [["b"], ["10"], ["9"], ["a"]])
    assert released(database, planned(database, {"q": {"tree": {"x": ["b", "9"], "y": ["10", "a"]}}})) == [
        "10..a", "b..9"]  # fmt: skip
    database.table("numbers", {"v": "INTEGER", "g": "VARCHAR"}, [[10, "x"], [9, "x"], [8, "x"], [7, "y"]])
    database.table("people", {"q": "VARCHAR"}, [["7"], ["8"], ["9"], ["10"]])
    assert released(database, planned(database, {"q": {"table": "numbers"}})) == ["7..8", "9..10"]


def test_dates_and_times_are_ordered_by_value(database: Database) -> None:
    days = ["1999-12-31", "2000-01-01", "2010-05-05", "2010-06-06"]
    database.table("people", {"q": "DATE"}, [[day] for day in days])
    assert released(database, planned(database, {"q": {"dates": ["year"]}})) == ["< 2010-05-05", ">= 2010-05-05"]


def test_null_is_apart_from_every_interval(database: Database) -> None:
    database.table("people", {"q": "INTEGER"}, [[v] for v in (1, 2, 3, 4, None, None)])
    assert released(database, planned(database, {"q": None})) == ["< 3", ">= 3", None]


def test_two_intervals_never_share_a_label(database: Database, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("a\nb..c\na..b\nc\n")
    database.table("people", ["q"], [["a"], ["b..c"], ["a..b"], ["c"]])
    with pytest.raises(HierarchyError, match="1 of its 2 intervals would have the label of another"):
        released(database, planned(database, {"q": {"file": str(tmp_path / "h.csv")}}))


def test_too_many_places_to_cut_at_are_refused_unless_limited(database: Database) -> None:
    database.connection.execute("CREATE TABLE people AS SELECT CAST(range AS INTEGER) AS q FROM range(300)")
    spec = planned(database, {"q": None}, privacy=[{"k_anonymity": 50}])
    with patch.object(ordering, "MAX_CUTS", 100), pytest.raises(SearchTooLarge, match=r"299 places.*search\.cuts"):
        kanon_sql.plan(database.engine, spec)
    limited = {"algorithm": "k_optimize", "cuts": 5}
    found = kanon_sql.plan(database.engine, replaced(spec, search=limited))
    assert found.cuts == {"q": [1, 2, 3, 4, 5]}
    assert found.classes["smallest"] == 50
    assert found.search is not None
    assert (found.search.proven, "at most 5 candidate cuts" in found.search.criterion) == (True, True)


def test_a_limit_that_takes_nothing_away_is_not_mentioned(database: Database) -> None:
    database.table("people", {"q": "INTEGER"}, [[v] for v in (1, 1, 2, 2, 2)])
    found = kanon_sql.plan(
        database.engine, planned(database, {"q": None}, search={"algorithm": "k_optimize", "cuts": 5})
    )
    assert found.search is not None
    assert "candidate" not in found.search.criterion


# --- What is refused -----------------------------------------------------------------------------------------


def test_the_spec_refuses_what_it_cannot_do(database: Database) -> None:
    of = {"algorithm": "k_optimize"}
    for metric in METRICS.keys() - set(_BOUNDED):
        with pytest.raises(SpecError, match=r"search\.metric: k_optimize needs a metric"):
            planned(database, {"q": None}, search={**of, "metric": metric})
    with pytest.raises(SpecError, match=r"search\.prefer: k_optimize chooses by the metric alone"):
        planned(database, {"q": None}, search={**of, "prefer": "maximum_distribution"})
    with pytest.raises(SpecError, match=r"search\.cuts: the algorithm \w+ does not take it, only k_optimize"):
        planned(database, {"q": None}, search={"cuts": 3})
    for limit in ({"minimum_level": 1}, {"maximum_level": 1}):
        with pytest.raises(SpecError, match="chooses intervals of the values, not levels"):
            planned(database, {"q": limit})


def test_metrics_with_bounds_are_those_that_the_spec_takes() -> None:
    assert {name for name, metric in METRICS.items() if metric.least_costs(2, ["z0"])} == set(_BOUNDED)


@pytest.mark.parametrize(
    ("privacy", "unit", "limit", "refused"),
    [
        ({"l_diversity": {"attribute": "s", "l": 2, "kind": "entropy"}}, None, 0.1, True),
        ({"l_diversity": {"attribute": "s", "l": 2, "kind": "entropy"}}, None, 0, False),
        ({"l_diversity": {"attribute": "s", "l": 2}}, None, 0.1, False),
        ({"l_diversity": {"attribute": "s", "l": 2}}, "p", 0, True),
        ({"t_closeness": {"attribute": "s", "t": 0.5}}, None, 1, True),
        ({"t_closeness": {"attribute": "s", "t": 0.5}}, None, 0, False),
    ],
)
def test_requirements_that_merging_breaks_are_refused(
    database: Database, privacy: dict[str, Any], unit: str | None, limit: float, refused: bool
) -> None:
    rows = [[v, "xy"[v % 2], v // 2] for v in range(12)]
    database.table("people", {"q": "INTEGER", "s": "VARCHAR", "p": "INTEGER"}, rows)
    spec = planned(
        database, {"q": None}, sensitive=["s"], privacy=[{"k_anonymity": 2}, privacy], unit=unit,
        suppression={"limit": limit},
    )  # fmt: skip
    if refused:
        with pytest.raises(UnsupportedError, match="k_optimize cannot search for"):
            kanon_sql.plan(database.engine, spec)
    else:
        assert kanon_sql.plan(database.engine, spec).passed


def test_levels_cannot_be_explained(database: Database) -> None:
    database.table("people", {"q": "INTEGER"}, [[1], [1]])
    with pytest.raises(UnsupportedError, match="only a lattice can be explained"):
        kanon_sql.plan(database.engine, planned(database, {"q": None}), explain=True)


# --- Persons, budgets, results -----------------------------------------------------------------------------------


@pytest.mark.parametrize("several", [False, True])
def test_persons_are_counted_once(database: Database, several: bool) -> None:
    """Two rows of one person are one person, whether in one class or in two."""
    rows = [[1, 0], [2 if several else 1, 0], [3, 1], [4, 2], [5, 3], [6, 4]]
    database.table("people", {"q": "INTEGER", "p": "INTEGER"}, rows)
    for metric in ("loss", "discernibility"):
        search = {"algorithm": "k_optimize", "metric": metric}
        found = kanon_sql.anonymize(database.engine, planned(database, {"q": None}, unit="p", search=search))
        labels = Counter(database.rows("people_release"))
        assert len(labels) == 2
        assert found.achieved["k_anonymity"]["k"] == 2
        # The first class needs a second person: [1, 1 or 2, 3], then [4, 5, 6].
        assert sorted(labels.values()) == [3, 3]


def test_a_budget_gives_the_best_so_far_and_says_so(database: Database) -> None:
    database.connection.execute(
        "CREATE TABLE people AS SELECT CAST(i % 37 AS INTEGER) AS a, CAST(i * i % 23 AS INTEGER) AS b "
        "FROM range(400) AS t(i)"
    )
    spec = planned(database, {"a": None, "b": None}, privacy=[{"k_anonymity": 3}])
    found = kanon_sql.anonymize(database.engine, spec, budget=Budget(statements=6))
    assert found.passed
    assert found.search is not None
    assert (found.search.proven, found.search.stopped is not None) == (False, True)
    assert found.manifest is not None
    assert found.manifest["cuts"] == found.to_dict()["cuts"]
    assert min(Counter(database.rows("people_release")).values()) >= 3


def test_no_value_and_no_count_of_rows_per_value_reaches_python(database: Database) -> None:
    """Places in the domain and sums over all rows: nothing tells the 7 rows of one value from the 5 of another."""
    database.table("people", {"q": "INTEGER"}, [[4711]] * 7 + [[815]] * 5)
    spec = planned(database, {"q": None}, privacy=[{"k_anonymity": 13}], suppression={"limit": 0})
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
