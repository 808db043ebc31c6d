"""Differential privacy by trial: thousands of neighbours in one release, from the source to the published table.

A table of many pairs holds a class of n rows and one of n + 1 for each; its columns are released at level 0. Classes
are drawn from independently of each other, so one run of the whole program is as many runs of the mechanism on two
tables that differ by a row. The coins are the operating system's.
"""

from __future__ import annotations

from collections import Counter
from math import comb, exp, log, sqrt

import pytest

import kanon_sql
from tests.conftest import Database

EPSILON, DELTA = 1.0, 0.05
RUNS = [pytest.param(3_000, id="some"), pytest.param(100_000, id="many", marks=pytest.mark.slow)]


def outcomes(database: Database, n: int, runs: int) -> tuple[list[list[int]], int]:
    """Per table, the smaller one first, how many rows each run released, 0 where the class was left out; and k."""
    database.connection.execute(
        "CREATE TABLE pairs AS SELECT pair.number AS pair, more.number AS more FROM range(?) AS pair(number), "
        "range(2) AS more(number), range(?) AS line(number) WHERE line.number < ? + more.number",
        [runs, n + 1, n],
    )
    requirement = {"epsilon": EPSILON, "delta": DELTA, "generalization": {"pair": 0, "more": 0}}
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "pairs", "release": "released", "quasi_identifiers": {"pair": None, "more": None},
            "privacy": [{"differential_privacy": requirement}], "ledger": "ledger",
        }
    )  # fmt: skip
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.passed
    assert result.differential_privacy is not None
    found = database.connection.execute("SELECT more, pair, COUNT(*) FROM released GROUP BY more, pair").fetchall()
    shown = {(int(more), int(pair)): count for more, pair, count in found}
    return [[shown.get((more, pair), 0) for pair in range(runs)] for more in (0, 1)], result.differential_privacy["k"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("n", [10, 13])
def test_neighbours_are_told_apart_no_better_than_claimed(database: Database, n: int, runs: int) -> None:
    """Delta, as the trials prove it at least, is below the claim: an event is chosen by half of them, and bounded by
    Hoeffding's inequality over the other half with a confidence of 1 - 1e-9."""
    tables, _ = outcomes(database, n, runs)
    half = runs // 2
    chosen, checked = ([Counter(of[:half]) for of in tables], [Counter(of[half:]) for of in tables])
    margin = sqrt(log(1e9) / (2 * half))
    for own, other in ((0, 1), (1, 0)):
        event = [size for size in chosen[own] if chosen[own][size] > exp(EPSILON) * chosen[other][size]]
        often, seldom = (sum(checked[table][size] for size in event) / half for table in (own, other))
        assert often - margin - exp(EPSILON) * (seldom + margin) <= DELTA


@pytest.mark.parametrize("runs", RUNS)
def test_what_is_released_of_a_class_is_binomial_from_k_on(database: Database, runs: int) -> None:
    """Within seven standard deviations of the exact distribution, per number of rows."""
    n, beta = 13, 1 - exp(-EPSILON)
    tables, k = outcomes(database, n, runs)
    for more, of in enumerate(tables):
        found, rows = Counter(of), n + more
        expected = {j: comb(rows, j) * beta**j * (1 - beta) ** (rows - j) for j in range(rows + 1)}
        assert set(found) <= {0, *range(k, rows + 1)}
        shown = {j: p for j, p in expected.items() if j >= k} | {0: sum(p for j, p in expected.items() if j < k)}
        for size, p in shown.items():
            assert abs(found[size] - runs * p) <= 7 * sqrt(runs * p * (1 - p)) + 7, (rows, size)
