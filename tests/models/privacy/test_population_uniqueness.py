"""Population uniqueness as a requirement of ``check``: by the estimators, and never by a search."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.disclosure.risk import ESTIMATORS
from kanon_sql.errors import UnsupportedError
from kanon_sql.models import model_of
from kanon_sql.spec import parse_requirement
from tests.conftest import Database
from tests.disclosure.risk.test_estimates import histogram
from tests.support.pitfalls import spec_of
from tests.support.specs import refusals
from tests.support.strategies import examples


def uniqueness(**asked: Any) -> kanon_sql.Spec:
    return spec_of(["q"], [{"population_uniqueness": asked}], sensitive=[])


@pytest.mark.slow
@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=12),
    fraction=st.sampled_from([0.01, 0.1, 0.3, 1.0]),
    most=st.sampled_from([0.0, 0.001, 0.05, 0.3, 1.0]),
    estimator=st.sampled_from([*ESTIMATORS]),
)
@examples(40)
def test_population_uniqueness_is_judged_by_the_estimate(
    shared_database: Database, sizes: list[int], fraction: float, most: float, estimator: str
) -> None:
    """Against the classes in plain Python; where an estimator has nothing to say of uniques, nothing is safe."""
    rows = [[f"class {number}"] for number, size in enumerate(sizes) for _ in range(size)]
    shared_database.table("people", ["q"], rows)
    spec = uniqueness(share=most, sampling_fraction=fraction, estimator=estimator)
    result = kanon_sql.check(shared_database.engine, spec, "people")
    share = ESTIMATORS[estimator](histogram([row[0] for row in rows]), fraction).share
    uniques = sizes.count(1)
    safe = not uniques or (share is not None and 0 < share <= most)
    assert result.passed == (safe and result.rows["source"] > 0)
    (found,) = result.achieved.values()
    assert (found["share"], found["sample_uniques"]) == (share, uniques)
    assert found["violating_rows"] == (0 if safe else len(rows))
    assert any("not proven" in note for note in result.notes)


def test_population_uniqueness_counts_persons(database: Database) -> None:
    database.table("people", ["q", "who"], [["a", "1"], ["a", "1"], ["b", "2"], ["b", "3"], ["c", None]])
    spec = spec_of(["q"], [{"population_uniqueness": {"share": 0, "sampling_fraction": 1}}], sensitive=[], unit="who")
    assert next(iter(kanon_sql.check(database.engine, spec, "people").achieved.values()))["sample_uniques"] == 1


def test_no_search_takes_a_generalization_for_a_low_estimate(database: Database) -> None:
    database.table("people", ["q"], [["a"], ["b"]])
    spec = uniqueness(share=0.1, sampling_fraction=0.1)
    for run in (kanon_sql.plan, kanon_sql.anonymize):
        with pytest.raises(UnsupportedError, match="happens to be low"):
            run(database.engine, spec.model_copy(update={"release": ("released",)}))


def test_a_table_that_was_not_measured_is_never_judged() -> None:
    model = model_of(parse_requirement({"population_uniqueness": {"share": 1, "sampling_fraction": 1}}))
    with pytest.raises(LookupError):
        model.condition("class_size")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"share": 2, "sampling_fraction": 0.1}, "a share of the population"),
        ({"share": 0.1}, "missing 'sampling_fraction'"),
        ({"share": 0.1, "sampling_fraction": 0}, "sampling fraction"),
        ({"share": 0.1, "sampling_fraction": 0.1, "estimator": "hoshino"}, "estimator of uniqueness"),
    ],
)
def test_what_a_spec_may_not_say_of_uniqueness(asked: dict[str, Any], message: str) -> None:
    assert any(message in problem for problem in refusals(privacy=[{"population_uniqueness": asked}]))
