"""The bounds of all nodes at once are those of each node, and they never decrease along the lattice."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.models.quality import METRICS, Attribute, Bounds, Counts
from kanon_sql.models.quality.aggregate import AGGREGATES
from kanon_sql.models.quality.loss import Loss
from kanon_sql.search.base import Verdict
from kanon_sql.search.lattice import Lattice
from kanon_sql.search.ranked import Ranked
from kanon_sql.search.tags import all_lowered, can_win, lowered, those_that_can_win


def make_counts(rng: random.Random, size: int) -> Counts:
    """Counts as a real table has them: fewer labels, and more under each, the higher the level."""
    rows = rng.randint(1, 200)
    null_rows = rng.choice([0, rng.randint(0, rows)])
    kept = rows - null_rows
    attributes = []
    for _ in range(size):
        height, domain = rng.randint(0, 3), rng.randint(1, 30)
        covered = sorted(rng.randint(kept, kept * domain) for _ in range(height))
        attributes.append(
            Attribute(
                height=height,
                weight=rng.choice([0.0, 0.5, 1.0]),
                domain_rows=domain,
                labels=[*sorted((rng.randint(1, 40) for _ in range(height)), reverse=True), 1],
                covered=[*covered, kept * domain],
                largest=[*sorted(rng.randint(1, domain) for _ in range(height)), domain],
                row_log=sorted(rng.uniform(0, 500) for _ in range(height + 1)),
            )
        )
    return Counts(rows=rows, null_rows=null_rows, attributes=attributes)


AGGREGATED = {aggregate: Loss(aggregate) for aggregate in AGGREGATES}


@pytest.mark.parametrize("name", [*METRICS, *AGGREGATED])
@given(seed=st.integers(0, 2**32))
def test_all_bounds_are_those_of_each_node(name: str, seed: int) -> None:
    rng = random.Random(seed)
    counts = make_counts(rng, rng.randint(1, 4))
    limits = [(rng.randint(0, a.height), rng.randint(0, a.height)) for a in counts.attributes]
    lattice = Lattice(tuple(map(min, limits)), tuple(map(max, limits)))
    metric = AGGREGATED.get(name) or METRICS[name]
    bounds = Bounds(metric, counts)
    found = dict(zip(lattice, bounds.over(lattice), strict=True))
    for node, bound in found.items():
        assert bound == bounds.of(node) == metric.bound(counts, node)
        assert all(found[above] >= bound - 1e-9 * abs(bound) for above in lattice.successors(node))


def test_dozens_of_huge_domains_have_a_bound() -> None:
    huge = Attribute(height=1, weight=1.0, domain_rows=10, labels=[10**6, 1], covered=[5, 50], largest=[1, 10],
                     row_log=[0.0, 8.0])  # fmt: skip
    counts = Counts(rows=5, null_rows=0, attributes=[huge] * 80)
    assert METRICS["average_class_size"].bound(counts, (0,) * 80) == 1.0


@pytest.mark.parametrize("ranked", [False, True])
@given(seed=st.integers(0, 2**32))
def test_what_is_decided_for_many_is_what_is_decided_for_each(ranked: bool, seed: int) -> None:
    """Whether they can win, equal bounds and those a hair apart among them, and how far they are lowered."""
    rng = random.Random(seed)

    def number() -> float:
        value = rng.choice([0.0, 1.0, 1.0 + 1e-9, 1.0 - 1e-9, 250.0, 250.0 * (1 + 2e-9), rng.random()])
        return Ranked([value, rng.choice([0.0, 0.5, rng.random()])]) if ranked else value

    bounds = [number() for _ in range(rng.randint(0, 30))]
    best = rng.choice([None, Verdict((0,), True, False, 0, None, None, number())])
    assert those_that_can_win(bounds, best) == [place for place, bound in enumerate(bounds) if can_win(bound, best)]
    assert all_lowered(bounds) == [lowered(bound) for bound in bounds]
    assert all_lowered([float("inf"), 1.0]) == [float("inf"), 1.0 - 1e-9]
