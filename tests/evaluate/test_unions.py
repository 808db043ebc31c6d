"""Several sets of quasi-identifiers at once, each with its own k: against every choice of classes to keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, pairwise, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Deadline
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.evaluate import NothingToSearch
from kanon_sql.evaluate.search import searched
from kanon_sql.search import HEURISTICS, STRATEGIES, search
from tests.conftest import Database
from tests.oracles.lattice import METRICS, NodeResult, Oracle
from tests.oracles.model import Node, Requirement, Vector, class_size, classes, judge, model_of
from tests.servers import subject_of
from tests.support.oracle_answers import assert_found, assert_nodes
from tests.support.oracle_cases import Case, cases, load, one_vector_each
from tests.support.strategies import RandomProblem, examples
from tests.support.suppressions import suppressing

# --- an oracle: the most rows that some choice of classes keeps ---------------------------------------------


def over(requirement: Requirement) -> Sequence[str] | None:
    """The quasi-identifiers that a requirement names; None for all."""
    found: Sequence[str] | None = model_of(requirement)[1].get("quasi_identifiers")
    return found


class SetsOracle(Oracle):
    """The oracle for requirements over some of the quasi-identifiers, too: by trying, from the definition."""

    def evaluate(self, node: Node) -> NodeResult:
        found = classes(self.rows, self.hierarchies, node, self.nulls)
        every = list(zip(self.requirements, self.original, strict=True))
        whole = [(item, original) for item, original in every if over(item) is None]
        good = [
            vector
            for vector, members in found.items()
            if all(judge(item, [self.rows[i] for i in members], original, self.unit)[1] for item, original in whole)
        ]
        kept = {vector: found[vector] for vector in self.most(good, found)}
        suppressed = len(self.rows) - sum(map(len, kept.values()))
        return NodeResult(
            node=node,
            suppressed=suppressed,
            classes=len(found),
            kept_classes=len(kept),
            satisfied=self.satisfied_with(suppressed),
            prunable=False,
            achieved={},
            metrics={name: metric(self, node, kept) for name, metric in METRICS.items()},
        )

    def most(self, good: Sequence[Vector], found: dict[Vector, list[int]]) -> Iterable[Vector]:
        """The choice of classes that satisfies over every set and keeps the most rows."""
        if len(good) <= 8:
            choices = chain.from_iterable(combinations(good, n) for n in range(len(good), -1, -1))
            return max(filter(lambda c: self.holds(c, found), choices), key=lambda c: sum(len(found[v]) for v in c))
        left = list(good)
        while violating := self.violating(left, found):  # a row that some set exposes is in no choice within this one
            left = [vector for vector in left if vector not in violating]
        return left

    def holds(self, chosen: Sequence[Vector], found: dict[Vector, list[int]]) -> bool:
        return not self.violating(chosen, found)

    def violating(self, chosen: Sequence[Vector], found: dict[Vector, list[int]]) -> set[Vector]:
        exposed: set[Vector] = set()
        for requirement in self.requirements:
            names = over(requirement)
            if names is None:
                continue
            united: dict[tuple[Any, ...], list[Vector]] = {}
            for vector in chosen:
                united.setdefault(tuple(vector[self.columns.index(name)] for name in names), []).append(vector)
            for vectors in united.values():
                members = [self.rows[i] for vector in vectors for i in found[vector]]
                if class_size(members, self.unit) < model_of(requirement)[1]["k"]:
                    exposed.update(vectors)
        return exposed


@dataclass(frozen=True)
class SetsProblem(RandomProblem):
    def oracle(self) -> Oracle:
        return SetsOracle(**vars(super().oracle()))


@st.composite
def cases_with_sets(draw: st.DrawFn, max_nodes: int) -> Case:
    """A random case, with one set or two: a chain, or any where nothing may be suppressed."""
    case = draw(cases(max_nodes=max_nodes))
    problem = case.problem
    names = list(problem.hierarchies)
    if len(names) == 1:  # one attribute has no sets of fewer
        return case
    order = draw(st.permutations(names))
    first = order[: draw(st.integers(1, len(names) - 1))]
    limit = problem.limit if draw(st.booleans()) else 0
    second = draw(st.sampled_from([None, first[:-1], order[1:]])) if limit == 0 else first[:-1]
    sets = [own for own in (first, second) if own]
    if len({frozenset(own) for own in sets}) < len(sets):
        sets = sets[:1]
    asked: list[Requirement] = [
        {"k_anonymity": {"k": draw(st.sampled_from([2, 3, 4, 5, 7])), "quasi_identifiers": list(own)}} for own in sets
    ]
    rows = problem.rows
    if problem.unit is not None:
        rows = one_vector_each(rows, problem.hierarchies, problem.unit)
    requirements = [*problem.requirements, *asked]
    if draw(st.booleans()):
        requirements = [*asked, *problem.requirements]
    fields = {**vars(problem), "rows": rows, "limit": limit, "requirements": requirements}
    return replace(case, problem=SetsProblem(**fields))


@given(case=cases_with_sets(max_nodes=16), other=st.sampled_from(list(METRICS)))
@examples(8)
def test_every_node_and_every_search(shared_database: Database, folder: Path, case: Case, other: str) -> None:
    spec = load(shared_database, folder, case)
    oracle = case.problem.oracle()
    engine = shared_database.engine
    with engine.run(Deadline(None)), searched(engine, spec) as found:
        if isinstance(found, NothingToSearch):
            return
        evaluator = found.evaluator
        event(f"counting {found.sets.counting}, sets {sum(over(item) is not None for item in oracle.requirements)}")
        measured = assert_nodes(evaluator, oracle, {case.metric: None, other: None}, open_nodes(oracle))
        event(f"suppressed only for a set: {set_suppresses(oracle)}")
        evaluator.metric = kanon_sql.models.quality.METRICS[case.metric]
        for algorithm in STRATEGIES.keys() - HEURISTICS:
            outcome = search(algorithm, evaluator.question(), evaluator.ask).run()
            assert_found(outcome, oracle, measured[case.metric], case.prefer)


def open_nodes(oracle: Oracle) -> set[Node]:
    """Where sets that are no chain suppress: a class of one may take rows from one of another, and the other way round.

    Nothing may be suppressed there, so that only whether something is must be right.
    """
    sets = sorted((frozenset(own) for item in oracle.requirements if (own := over(item)) is not None), key=len)
    if all(one <= other for one, other in pairwise(sets)):
        return set()
    every = product(*(range(height + 1) for height in oracle.heights))
    return {node for node in every if oracle.evaluate(node).suppressed}


def set_suppresses(oracle: Oracle) -> bool:
    whole = replace(oracle, requirements=[item for item in oracle.requirements if over(item) is None])
    bottom = oracle.all_nodes()[0]
    return oracle.evaluate(bottom).suppressed > whole.evaluate(bottom).suppressed


@pytest.mark.slow
@given(case=cases_with_sets(max_nodes=16))
@examples(6)
def test_release_and_check(shared_database: Database, folder: Path, case: Case) -> None:
    """The release is written, verified by each set's own GROUP BY, and what it holds is right by the definition."""
    spec = load(shared_database, folder, case)
    problem, oracle = case.problem, case.problem.oracle()
    result = kanon_sql.anonymize(shared_database.engine, spec, details=True)
    event(result.verdict)
    assert result.verdict == ("pass" if oracle.satisfying_nodes() else "fail")
    if not result.passed:
        assert "people_release" not in shared_database.tables()
        return
    assert result.node is not None
    truth = oracle.evaluate(tuple(result.node.values()))
    assert truth.satisfied
    assert result.rows["suppressed"] == truth.suppressed
    names = shared_database.columns("people_release")
    release = [dict(zip(names, line, strict=True)) for line in shared_database.rows("people_release")]
    assert len(release) == result.rows["released"] + result.rows.get("masked", 0)
    for requirement in problem.requirements:
        own = over(requirement)
        if own is None:
            continue
        persons = [{**row, "who": problem.rows[row["serial"]].get(problem.unit, row["serial"])} for row in release]
        sizes = {
            key: len({row["who"] for row in persons if tuple(row[name] for name in own) == key} - {None})
            for key in {tuple(row[name] for name in own) for row in release}
        }
        ordered = [name for name in problem.hierarchies if name in own]
        achieved = result.achieved[f"k_anonymity[{', '.join(ordered)}]"]
        assert achieved["k"] == min(sizes.values()) >= model_of(requirement)[1]["k"]
        assert achieved["violating_classes"] == 0
    if problem.unit is None:
        assert kanon_sql.check(shared_database.engine, spec).passed


# --- known answers ---------------------------------------------------------------------------------------------

# Five classes over a and b. Over a alone: x has 2 + 2, y has 2 + 1, z has 3. With k = 2 over both, y's single row
# goes, which leaves 2 of y: fewer than 3, so that they go as well.
ROWS = [("x", "1"), ("x", "1"), ("x", "2"), ("x", "2"), ("y", "1"), ("y", "1"), ("y", "3"), *[("z", "1")] * 3]


def spec_of(*privacy: dict[str, Any], limit: float = 0, columns: Sequence[str] = "ab", **more: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": dict.fromkeys(columns),
            "privacy": list(privacy),
            "suppression": suppressing(limit),
            **more,
        }
    )


def k(value: int, *names: str) -> dict[str, Any]:
    return {"k_anonymity": {"k": value, **({"quasi_identifiers": list(names)} if names else {})}}


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name",
    [
        "duckdb",
        "postgres",
        "sqlite",
        pytest.param("mariadb", marks=pytest.mark.slow),
        pytest.param("clickhouse", marks=pytest.mark.campaign),
    ],
)
def test_what_is_suppressed_makes_other_classes_smaller(name: str) -> None:
    with subject_of(name) as subject:
        subject.table("people", {"a": "text", "b": "text"}, ROWS)
        engine = subject.connect()
        only_raw = {"quasi_identifiers": {"a": {"maximum_level": 0}, "b": {"maximum_level": 0}}}
        for spec, suppressed in [
            (spec_of(k(2), limit=10, **only_raw), 1),
            (spec_of(k(2), k(3, "a"), limit=10, **only_raw), 3),
            (spec_of(k(3, "a"), k(2), limit=10, **only_raw), 3),
            (spec_of(k(4, "a"), limit=10, **only_raw), 6),  # without one over all
            (spec_of(k(2), k(4, "b"), limit=10, **only_raw), 3),  # x2 goes; 2 + 2 + 3 of b = 1 stay
        ]:
            planned = kanon_sql.plan(engine, spec)
            assert planned.rows["suppressed"] == suppressed, spec.privacy
            released = kanon_sql.anonymize(engine, spec)
            assert (released.rows["suppressed"], released.achieved) == (suppressed, planned.achieved)
            assert len(subject.rows("people_release")) == 10 - suppressed
            assert kanon_sql.check(engine, spec).passed
        engine.close()


@pytest.mark.slow
def test_a_chain_of_three(database: Database) -> None:
    """Each step counts what the step before left: c2 has 1 row and goes, so b2 has 2 of 3, so a1 has 3 of 6."""
    rows = [("1", "1", "1")] * 3 + [("1", "2", "1")] * 2 + [("1", "2", "2")] + [("2", "3", "1")] * 4
    database.table("people", ["a", "b", "c"], rows)
    limits = {"quasi_identifiers": {name: {"maximum_level": 0} for name in "abc"}}

    def suppressed(*privacy: dict[str, Any]) -> int:
        spec = spec_of(*privacy, limit=9, **limits)
        return kanon_sql.anonymize(database.engine, spec).rows["suppressed"]

    assert suppressed(k(2)) == 1
    assert suppressed(k(2), k(3, "a", "b")) == 3
    assert suppressed(k(2), k(3, "a", "b"), k(4, "a")) == 6
    assert suppressed(k(2), k(4, "a")) == 1
    assert suppressed(k(4, "a"), k(3, "a", "b"), k(2)) == 6


@pytest.mark.sampled(4)
@pytest.mark.parametrize("algorithm", ["optimal", "incognito", "samarati", "exhaustive"])
def test_nothing_is_inferred_from_what_suppression_breaks(database: Database, algorithm: str) -> None:
    """Above the solution, where x and y meet, entropy leaves no class, hence none of b: that says nothing of below."""
    rows = [("x", "1", "s"), ("x", "1", "t")] + [("y", "1", "s")] * 3
    database.table("people", ["a", "b", "s"], rows)
    asked = {"l_diversity": {"attribute": "s", "l": 2, "variant": "entropy"}}
    spec = spec_of(asked, k(2, "b"), limit=3, sensitive=["s"], search={"algorithm": algorithm})
    result = kanon_sql.plan(database.engine, spec)
    assert (result.node, result.rows["suppressed"]) == ({"a": 0, "b": 0}, 3)


def test_sets_that_are_no_chain_need_a_limit_of_0(database: Database) -> None:
    database.table("people", ["a", "b"], [("x", "1"), ("x", "2"), ("y", "1"), ("y", "2")])
    spec = spec_of(k(2, "a"), k(2, "b"))
    result = kanon_sql.anonymize(database.engine, spec)
    assert (result.node, result.rows["released"]) == ({"a": 0, "b": 0}, 4)
    assert Counter(item["k"] for item in result.achieved.values()) == {2: 2}
    with pytest.raises(UnsupportedError, match="neither of the sets a and b contains the other"):
        kanon_sql.plan(database.engine, spec_of(k(2, "a"), k(2, "b"), limit=0.5))
    with pytest.raises(UnsupportedError, match="neither of the sets"):
        kanon_sql.render(spec_of(k(2, "a"), k(2, "b"), limit=0.5))
    assert kanon_sql.check(database.engine, spec_of(k(2, "a"), k(2, "b"), limit=0.5), "people").passed


def test_persons_of_several_classes_are_not_added_up(database: Database) -> None:
    """One person in both classes is one person of x: adding sizes would count two."""
    database.table("people", ["a", "b", "u"], [("x", "1", "1"), ("x", "2", "1")])
    spec = spec_of(k(1), k(2, "a"), unit="u")
    with pytest.raises(UnsupportedError, match="2-anonymity over a: some persons have rows in several classes"):
        kanon_sql.plan(database.engine, spec)
    assert not kanon_sql.check(database.engine, spec, "people").passed


def test_other_requirements_over_fewer_are_refused(database: Database) -> None:
    database.table("people", ["a", "b", "s"], [("x", "1", "s")])
    asked = {"l_diversity": {"attribute": "s", "l": 2, "quasi_identifiers": ["a"]}}
    with pytest.raises(UnsupportedError, match="the sizes alone, which decide k_anonymity"):
        kanon_sql.plan(database.engine, spec_of(k(2), asked, sensitive=["s"]))
    numbers = {"a": {"intervals": [2]}, "b": {"intervals": [2]}}
    with pytest.raises(UnsupportedError, match="k_optimize cannot search for 2-anonymity over a"):
        kanon_sql.plan(
            database.engine, spec_of(k(2, "a"), quasi_identifiers=numbers, search={"algorithm": "k_optimize"})
        )
    with pytest.raises(SpecError, match="has its own k, which --k does not change"):
        kanon_sql.compare(database.engine, {"spec": spec_of(k(2), k(3, "a"))}, [2, 3])
    with pytest.raises(SpecError, match="a ledger judges"):
        spec_of(k(2), k(3, "a"), ledger="log")


def test_no_rows_and_one_class(database: Database) -> None:
    spec = spec_of(k(2), k(3, "a"), limit=1.0)
    database.table("people", ["a", "b"], [])
    assert "no rows" in kanon_sql.anonymize(database.engine, spec).message
    database.table("people", ["a", "b"], [("x", "1"), ("x", "1")])
    assert "fewer than k = 3" in kanon_sql.anonymize(database.engine, spec).message
    database.table("people", ["a", "b"], [(None, None)] * 3)
    result = kanon_sql.anonymize(database.engine, spec)
    assert (result.rows["released"], result.achieved["k_anonymity[a]"]["k"]) == (3, 3)
