"""What is known before a search: bounds that no generalization reaches, against every choice of rows."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Deadline
from kanon_sql.evaluate import Chosen
from kanon_sql.evaluate.search import searched
from kanon_sql.models.privacy import PrivacyModel, Whole
from kanon_sql.models.privacy.alpha_k_anonymity import AlphaKAnonymityModel
from kanon_sql.models.privacy.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveCLDiversity
from kanon_sql.models.privacy.p_sensitive_k_anonymity import PSensitiveModel
from tests.conftest import Database
from tests.servers import subject_of
from tests.support.oracle_cases import Case, cases, load
from tests.support.strategies import examples
from tests.support.suppressions import suppressing

COUNTS = st.lists(st.integers(1, 6), min_size=0, max_size=4)
REMOVABLE = st.integers(0, 12)


def choices(counts: list[int], removable: int) -> list[list[int]]:
    """Every way to keep rows of the values: what is left of each, those with nothing left out."""
    kept = product(*(range(count + 1) for count in counts))
    found = [[n for n in left if n] for left in kept if sum(counts) - sum(left) <= removable]
    return [left for left in found if left]


def satisfies(model: PrivacyModel, counts: list[int]) -> bool:
    """The definitions, over the counts of one class."""
    ordered = sorted(counts, reverse=True)
    total = sum(ordered)
    if isinstance(model, DistinctLDiversity):
        return len(ordered) >= model.l
    if isinstance(model, PSensitiveModel):
        return len(ordered) >= model.p
    if isinstance(model, EntropyLDiversity):
        return -math.fsum(n / total * math.log(n / total) for n in ordered) >= math.log(model.l) - 1e-9
    if isinstance(model, RecursiveCLDiversity):
        return ordered[0] < Fraction(str(model.c)) * sum(ordered[model.l - 1 :])
    assert isinstance(model, AlphaKAnonymityModel)
    return Fraction(ordered[0], total) <= Fraction(str(model.alpha)) + Fraction(1, 10**9)


MODELS: list[PrivacyModel] = [
    *(DistinctLDiversity("s", l) for l in (1, 2, 3, 5)),  # noqa: E741
    *(PSensitiveModel("s", p, 5) for p in (1, 2, 4)),
    *(EntropyLDiversity("s", l) for l in (1.5, 2, 2.5, 3, 4)),  # noqa: E741
    *(RecursiveCLDiversity("s", c, l) for c in (0.4, 0.5, 1, 1.5, 2.5) for l in (1, 2, 3)),  # noqa: E741
    *(AlphaKAnonymityModel("s", alpha, 1) for alpha in (0.2, 0.25, 0.3, 0.4, 0.5, 0.75)),
]


@given(counts=COUNTS, removable=REMOVABLE)
@examples(80)
def test_no_choice_of_rows_is_better_than_the_levelled_one(counts: list[int], removable: int) -> None:
    """A class is a choice of rows, and so are all released rows together. What some choice reaches is not refused."""
    whole = Whole(Counter(counts), removable)
    of_persons = Whole(Counter(counts), None)
    every, any_class = choices(counts, removable), choices(counts, sum(counts))
    for model in MODELS:
        if any(satisfies(model, kept) for kept in every):
            assert model.out_of_reach(whole) is None, model
        if any(satisfies(model, kept) for kept in any_class):
            assert model.out_of_reach(of_persons) is None, model


@pytest.mark.parametrize(
    ("counts", "removable", "levelled"),
    [
        ([5, 3, 1], 0, [(5, 1), (3, 1), (1, 1)]),
        ([5, 3, 1], 1, [(4, 1), (3, 1), (1, 1)]),
        ([5, 3, 1], 3, [(2.5, 2), (1, 1)]),  # not whole: no whole choice is more equal
        ([5, 3, 1], 6, [(1, 3)]),
        ([5, 3, 1], 100, [(1, 3)]),
        ([5, 3, 1], None, [(1, 3)]),
        ([4, 4], 2, [(3, 2)]),
        ([], 3, []),
        ([], None, []),
    ],
)
def test_levelling(counts: list[int], removable: int | None, levelled: list[tuple[float, int]]) -> None:
    assert Whole(Counter(counts), removable).levelled() == levelled


@pytest.mark.parametrize(
    ("model", "counts", "removable", "reason"),
    [
        (DistinctLDiversity("s", 4), [9, 1, 1], 0, "the source has 3 different values, so that l is 3 at most"),
        (DistinctLDiversity("s", 3), [9, 1, 1], 0, None),
        (PSensitiveModel("s", 2, 9), [9], None, "the source has 1 different value, so that p is 1 at most"),
        # Two equal values reach 2; the third is rare: 9, 9, 1 have an entropy of 0.7079 + 0.1550 = ln 2.370.
        (EntropyLDiversity("s", 2.4), [9, 9, 1], 0, "3 different values, {} reach l = 2.37 at most"),
        (EntropyLDiversity("s", 2.4), [9, 9, 1], 3, None),  # 7.5, 7.5, 1: ln 2.42
        (EntropyLDiversity("s", 3), [9, 9, 1], 16, None),
        (EntropyLDiversity("s", 3), [9, 9, 1], None, None),
        # 9 < c (9 + 1) holds for l = 2, 9 < c * 1 for l = 3 does not.
        (RecursiveCLDiversity("s", 2.0, 3), [9, 9, 1], 0, "3 different values, {} reach l = 2 at most with c = 2"),
        (RecursiveCLDiversity("s", 0.4, 1), [9, 9, 1], 0, "3 different values, {} reach no l with c = 0.4"),
        (RecursiveCLDiversity("s", 9.0, 3), [9, 9, 1], 0, "3 different values, {} reach l = 2 at most with c = 9"),
        (RecursiveCLDiversity("s", 9.1, 3), [9, 9, 1], 0, None),
        (AlphaKAnonymityModel("s", 0.45, 1), [9, 9, 1], 0, "with 3 different values, {} one of them has a share of"),
        (AlphaKAnonymityModel("s", 0.45, 1), [9, 9, 1], 19, None),  # nothing but NULL may be left
        (AlphaKAnonymityModel("s", 0.45, 1, ("x",)), [9, 9, 1], 0, None),  # which of them is x is not known here
        (EntropyLDiversity("s", 1), [], 0, None),  # a class of NULLs has an entropy of 0
        (DistinctLDiversity("s", 1), [], 0, "the source has 0 different values, so that l is 0 at most"),
    ],
)
def test_what_is_said(model: PrivacyModel, counts: list[int], removable: int | None, reason: str | None) -> None:
    alike = "as equally frequent as suppression can make them"
    found = model.out_of_reach(Whole(Counter(counts), removable))
    assert found is None if reason is None else (found or "").startswith(reason.format(alike + ","))


@pytest.mark.slow
@given(case=cases(max_nodes=24))
@examples(15)
def test_what_is_out_of_reach_has_no_solution(shared_database: Database, folder: Path, case: Case) -> None:
    spec = load(shared_database, folder, case)
    with shared_database.engine.run(Deadline(None)), searched(shared_database.engine, spec) as found:
        if not isinstance(found, Chosen) and found.infeasible is not None:
            assert not case.problem.oracle().satisfying_nodes(), found.infeasible


PEOPLE = [("a", "x", "1"), ("b", "y", "1"), ("c", "x", "2"), ("d", "y", "2"), ("e", "z", None), ("f", None, "3")]


def spec_of(*privacy: dict[str, Any], **more: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "unit": "u",
            "quasi_identifiers": {"q": {"tree": {"1": ["a", "b"], "2": ["c", "d"], "3": ["e", "f"]}}},
            "sensitive": ["s"],
            "privacy": list(privacy),
            "suppression": {"max_rows": 1},
            **more,
        }
    )


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["duckdb", "postgres", "sqlite"])
def test_a_value_that_no_person_holds_does_not_count(name: str) -> None:
    """z is nobody's. The search is over before it begins; what is said of every node is proven."""
    with subject_of(name) as subject:
        subject.table("people", dict.fromkeys("qsu", "text"), PEOPLE)
        engine = subject.connect()
        asked = {"attribute": "s", "l": 3}
        for algorithm in ("optimal", "incognito", "samarati", "exhaustive", "greedy"):
            spec = spec_of({"l_diversity": asked}, search={"algorithm": algorithm})
            result = kanon_sql.plan(engine, spec, explain=True, all_minimal=True)
            assert result.message == (
                "no generalization satisfies distinct 3-diversity of s: the source has 2 different values, so that l "
                "is 2 at most"
            )
            assert result.search is not None
            assert (result.search.proven, result.search.nodes_evaluated, result.search.nodes_inferred) == (True, 1, 2)
            assert [item.known for item in result.search.lattice or ()] == ["must violate", "must violate", "violates"]
        result = kanon_sql.anonymize(engine, spec_of({"p_sensitive_k_anonymity": {"attribute": "s", "p": 3, "k": 3}}))
        assert result.message.endswith("the source has 2 different values, so that p is 2 at most")
        assert not kanon_sql.plan(
            engine, spec_of({"p_sensitive_k_anonymity": {"attribute": "s", "p": 3, "k": 4}})
        ).passed
        assert "people_release" not in subject.tables()
        engine.close()


def test_intervals_are_not_searched_either(database: Database) -> None:
    database.table("people", {"q": "INTEGER", "s": "VARCHAR"}, [(n, "xy"[n % 2]) for n in range(8)])
    quasi_identifiers = {"q": {"intervals": [2, 4]}}
    spec = spec_of(
        {"l_diversity": {"attribute": "s", "l": 3}},
        unit=None,
        quasi_identifiers=quasi_identifiers,
        search={"algorithm": "k_optimize"},
    )
    result = kanon_sql.plan(database.engine, spec, details=True)
    assert "l is 2 at most" in result.message
    assert result.intervals is None


def test_suppression_may_make_it_possible(database: Database) -> None:
    """9 x, 3 y: l = 2 by entropy is out of reach, but not once six rows with x may go."""
    rows = [("a", "x")] * 6 + [("b", "x"), ("b", "y")] * 3
    database.table("people", ["q", "s"], rows)
    asked = {"l_diversity": {"attribute": "s", "l": 2, "variant": "entropy"}}

    def planned(limit: int) -> kanon_sql.results.Plan:
        spec = spec_of(asked, unit=None, quasi_identifiers={"q": None}, suppression=suppressing(limit))
        return kanon_sql.plan(database.engine, spec)

    assert "reach l = 1.842 at most" in planned(2).message  # 7, 3: 0.6109 = ln 1.842; at 9, 3 it is 0.5623
    assert planned(6).passed
