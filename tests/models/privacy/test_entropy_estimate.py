"""Entropy l-diversity by Grassberger's estimate: arithmetic by hand, all class sizes, ARX's optima, refusals.

Random searches with it are in `test_models.py`, against the oracle.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.models.privacy import Monotonicity
from kanon_sql.models.privacy.entropy_estimate import EntropyEstimateLDiversity
from tests.conftest import Database
from tests.oracles.model import entropy_measure, grassberger, grassberger_measure
from tests.support.literature import adult_dir, adult_hierarchy, adult_rows
from tests.support.suppressions import suppressing

COLUMNS = [
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class",
]  # fmt: skip


def spec_of(l: float = 2, **changes: Any) -> kanon_sql.Spec:  # noqa: E741 - the field's own letter
    diversity = {"attribute": "s", "l": l, "variant": "entropy", "estimator": "grassberger", **changes.pop("asked", {})}
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "quasi_identifiers": {"q": None},
            "sensitive": ["s"],
            "privacy": [{"l_diversity": diversity}],
            **changes,
        }
    )


def reached(database: Database, classes: Sequence[Sequence[int]], **changes: Any) -> list[kanon_sql.results.Check]:
    """One check per class of so many rows of each value."""
    found = []
    for counts in classes:
        values = [f"v{value}" for value, count in enumerate(counts) for _ in range(count)]
        database.table("people", ["q", "s"], [["x", value] for value in values])
        found.append(kanon_sql.check(database.engine, spec_of(**changes), "people"))
    return found


def l_of(result: kanon_sql.results.Result) -> float:
    (achieved,) = result.achieved.values()
    return float(achieved["l"])


@pytest.mark.parametrize(
    ("counts", "nats"),
    [
        # G(1) = -gamma - ln 2, G(2) = G(1) + 2, G(4) = G(2) + 2/3, G(6) = G(4) + 2/5.
        ([1], 0),
        ([1, 1], 2),
        ([2], 0),
        ([2, 2], 2 / 3),
        ([3, 1], 2 / 3 + 2 / 4),
        ([4, 2], 2 / 5 + 2 * (2 / 3) / 6),
        ([3, 1, 1], 2 / 3 + 2 * 2 / 5),
    ],
)
def test_by_hand(database: Database, counts: list[int], nats: float) -> None:
    assert l_of(reached(database, [counts])[0]) == pytest.approx(min(math.exp(nats), len(counts)), rel=1e-9)
    assert math.isclose(grassberger_measure(counts), min(nats, math.log(len(counts))), abs_tol=1e-12)


@pytest.mark.slow
def test_a_class_and_two_of_them_together(database: Database) -> None:
    """Not monotone: {a, b} passes for l = 2, {a, a, b, b} does not, although both have Shannon's entropy ln 2."""
    one, two = reached(database, [[1, 1], [2, 2]])
    assert (one.passed, two.passed) == (True, False)
    database.table("people", ["q", "s"], [["x", "a"], ["x", "b"], ["y", "a"], ["y", "b"]])
    plan = kanon_sql.plan(database.engine, spec_of())
    assert (plan.node, plan.search.proven if plan.search else None) == ({"q": 0}, True)
    above = spec_of(quasi_identifiers={"q": {"tree": {"*": ["x", "y"]}, "minimum_level": 1}})
    assert not kanon_sql.plan(database.engine, above).passed


@pytest.mark.sampled(4)
@pytest.mark.parametrize("algorithm", ["optimal", "samarati", "incognito", "exhaustive"])
def test_no_search_prunes_by_it(database: Database, algorithm: str) -> None:
    """The lowest node satisfies alone; every node above it holds {a, a, b, b} at least and violates."""
    rows = [[one, two, value] for one, two in (("x", "u"), ("y", "v")) for value in ("a", "b")]
    database.table("people", ["p", "q", "s"], rows)
    columns = {"p": {"tree": {"g": ["x", "y"], "h": ["z"]}}, "q": {"tree": {"g": ["u", "v"], "h": ["w"]}}}
    search = {"algorithm": algorithm, "metric": "height"}
    result = kanon_sql.plan(database.engine, spec_of(quasi_identifiers=columns, search=search))
    assert result.node in ({"p": 0, "q": 0}, {"p": 0, "q": 1}, {"p": 1, "q": 0})
    assert EntropyEstimateLDiversity("s", 2.0).monotonicity(by_person=False) is Monotonicity.NEVER


def test_fewer_than_l_values_violate_whatever_is_estimated(database: Database) -> None:
    """Two rows of two values are estimated at 2 nats, more than ln 3."""
    assert not reached(database, [[1, 1]], l=3)[0].passed
    assert not reached(database, [[1, 1]], l=2.5)[0].passed
    assert reached(database, [[1, 1, 1]], l=3)[0].passed


@pytest.mark.slow
@pytest.mark.parametrize("most", [40, pytest.param(4000, marks=pytest.mark.slow)])
@pytest.mark.campaign_on("4000")
def test_every_size_of_a_class(database: Database, most: int) -> None:
    """The list and the series: two values, every other number of rows, to 1e-10 nats."""
    sizes = [*range(1, 19), 33, *range(40, most, 397), *(size for size in (63, 64, 65, 30_001) if most > 40)]
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE people AS SELECT q, 'a' AS s FROM (SELECT UNNEST(?) AS q) AS sizes, range(30_001) AS t(n) "
        "WHERE n < q UNION ALL SELECT q, 'b' FROM (SELECT UNNEST(?) AS q) AS sizes, range(3)",
        [sizes, sizes],
    )
    for size in sizes:
        source = {"query": f"SELECT * FROM people WHERE q = {size}"}
        result = kanon_sql.plan(
            kanon_sql.connect(connection), spec_of(l=1, source=source, quasi_identifiers={"q": None})
        )
        assert math.log(l_of(result)) == pytest.approx(grassberger_measure([size, 3]), abs=1e-10), size
    connection.close()


def test_it_comes_near_the_entropy_of_large_classes() -> None:
    for counts in ([5000, 5000], [100, 2000, 3000, 7]):
        assert 0 <= abs(grassberger_measure(counts) - entropy_measure(counts)) < 1e-3


def test_null_is_no_value_and_what_everybody_holds_is_disclosed(database: Database) -> None:
    rows = [["x", value, str(number)] for number, value in enumerate([None, None, "a", "a", "b", "b"])]
    database.table("people", ["q", "s", "u"], rows)
    assert l_of(kanon_sql.check(database.engine, spec_of(), "people")) == pytest.approx(math.exp(2 / 3))
    database.table("people", ["q", "s", "u"], [["x", None, "1"], ["x", None, "2"]])
    assert l_of(kanon_sql.check(database.engine, spec_of(l=1), "people")) == 1
    rows = [["x", "a", "1"], ["x", "b", "1"], ["x", "a", "2"], ["x", "c", "2"]]
    database.table("people", ["q", "s", "u"], rows)
    result = kanon_sql.check(database.engine, spec_of(unit="u"), "people")
    assert (result.passed, l_of(result)) == (False, 1)


def test_it_is_said_to_be_an_estimate(database: Database) -> None:
    (result,) = reached(database, [[1, 1]])
    assert any("is an estimate and not proven" in note for note in result.notes)
    (achieved,) = result.achieved.values()
    assert achieved["requirement"] == "entropy 2-diversity of s by estimate (Grassberger)"


@pytest.mark.parametrize(
    "more", [*({"recoding": name} for name in ("local", "mondrian")), {"search": {"algorithm": "k_optimize"}}]
)
def test_classes_that_are_made_to_satisfy_it_are_refused(database: Database, more: dict[str, Any]) -> None:
    database.table("people", {"q": "INTEGER", "s": "VARCHAR"}, [[number % 3, "a"] for number in range(9)])
    column = {"tree": {"*": ["0", "1", "2"]}} if more.get("recoding") == "local" else None
    with pytest.raises(UnsupportedError, match="say little of what is estimated"):
        kanon_sql.plan(database.engine, spec_of(quasi_identifiers={"q": column}, **more))


def test_out_of_reach(database: Database) -> None:
    database.table("people", ["q", "s"], [["x", "a"], ["y", "b"]])
    result = kanon_sql.plan(database.engine, spec_of(l=3))
    assert "the source has 2 different values, so that l is 2 at most" in result.message


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"variant": "distinct"}, "'estimator' needs variant: entropy, but this is distinct"),
        ({"variant": "recursive", "c": 2}, "'estimator' needs variant: entropy, but this is recursive"),
        ({"estimator": "miller"}, "estimator of entropy"),
    ],
)
def test_what_a_spec_may_not_say(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        spec_of(asked=asked)
    assert said in str(refused.value)


def test_shannon_is_what_entropy_means_without_it(database: Database) -> None:
    database.table("people", ["q", "s"], [["x", "a"], ["x", "a"], ["x", "b"]])
    results = [
        kanon_sql.check(database.engine, spec_of(l=1.5, asked={"estimator": estimator}), "people")
        for estimator in ("shannon", None)
    ]
    assert [l_of(result) for result in results] == [pytest.approx(math.exp(entropy_measure([2, 1])))] * 2
    written = spec_of(asked={"estimator": "shannon"})
    assert kanon_sql.Spec.from_dict(written.to_dict()) == written


# --- Adult, as ARX asserts it ----------------------------------------------------------------------------------


ADULT = adult_dir()
ASSERTED: dict[tuple[float, float], tuple[float, tuple[int, ...]] | None] = {
    (0.04, 5): (216092.124036387, (1, 0, 1, 0, 3, 2, 2, 0)),
    (0.0, 5): (324620.5269918692, (1, 1, 1, 1, 3, 2, 2, 1)),
    (0.05, 3): (180347.4325366015, (0, 0, 1, 1, 2, 2, 2, 0)),
    (0.1, 100): None,
}
"""(Suppression limit, l) -> the lowest entropy metric and its levels.

From TestAnonymizationEntropyLDiversity of ARX 3.9.2.
"""


@pytest.mark.skipif(ADULT is None, reason="the Adult extract is not here; KANON_SHARED names its folder")
@pytest.mark.parametrize(
    ("limit", "l"),
    [pytest.param(*case, marks=pytest.mark.slow if case[0] == 0.1 else pytest.mark.campaign) for case in ASSERTED],
)
def test_what_arx_asserts(limit: float, l: float) -> None:  # noqa: E741 - the field's own letter
    """The same where nothing may be suppressed. Else ARX suppresses more, and its figure is between two of ours.

    G(1) is negative, so the running sum of n G(n) may be too large before the values that occur once are added. ARX
    gives a class up at that moment, which depends on the order of its hash table: what it suppresses is at least what
    violates, and at most what violates in the least lucky order.
    """
    asserted = ASSERTED[limit, l]
    best = planned(limit, l, None)
    if asserted is None:
        assert not best.passed
        return
    assert best.search is not None
    assert best.search.proven
    value, levels = asserted
    if not limit:
        assert best.metrics["entropy"] == pytest.approx(value, rel=1e-12)
        assert levels_of(best) == levels
        return
    at_its_levels = planned(limit, l, levels)
    fewest, most = (bits_lost(levels, l, unlucky) for unlucky in (False, True))
    assert at_its_levels.rows["suppressed"] == fewest[0]
    assert at_its_levels.metrics["entropy"] == pytest.approx(fewest[1])
    assert best.metrics["entropy"] <= fewest[1] < value < most[1]


def levels_of(result: kanon_sql.results.Plan) -> tuple[int, ...]:
    assert result.node is not None
    return tuple(result.node.values())


def planned(limit: float, l: float, levels: Sequence[int] | None) -> kanon_sql.results.Plan:  # noqa: E741
    """The optimum, or what becomes of one node."""
    assert ADULT is not None
    columns: dict[str, dict[str, Any]] = {name: {"file": str(ADULT / f"hierarchy_{name}.csv")} for name in COLUMNS}
    for name, level in zip(COLUMNS, levels, strict=True) if levels else ():
        columns[name] |= {"minimum_level": level, "maximum_level": level}
    reading = "read_csv(?, delim = ';', header = true, all_varchar = true)"
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE people AS SELECT *, occupation AS s FROM {reading}", [str(ADULT / "adult.csv")]
        )
        spec = spec_of(l, quasi_identifiers=columns, suppression=suppressing(limit), search={"metric": "entropy"})
        return kanon_sql.plan(kanon_sql.connect(connection), spec, compare_recoding=None)


def bits_lost(levels: Sequence[int], l: float, unlucky: bool) -> tuple[int, float]:  # noqa: E741
    """Rows suppressed at a node and the bits lost there, in plain Python.

    Args:
        levels: the node.
        l: of l-diversity.
        unlucky: a class violates if the sum of the values that occur more than once is too large by itself.
    """
    assert ADULT is not None
    rows = adult_rows(ADULT)
    labels = {name: adult_hierarchy(ADULT, name) for name in COLUMNS}
    classes: dict[tuple[str, ...], list[Any]] = {}
    for row in rows:
        key = tuple(labels[name][row[name]][level] for name, level in zip(COLUMNS, levels, strict=True))
        classes.setdefault(key, []).append(row)
    suppressed = []
    for members in classes.values():
        counts = Counter(row["occupation"] for row in members).values()
        enough = grassberger_measure(counts) >= math.log(l) - 1e-9
        if unlucky:
            size = len(members)
            often = math.fsum(n * grassberger(n) for n in counts if n > 1)
            enough = enough and often <= size * (grassberger(size) - math.log(l))
        suppressed += [] if enough else members
    lost = 0.0
    for name, level in zip(COLUMNS, levels, strict=True):
        values = Counter(row[name] for row in rows)
        generalized = Counter(labels[name][row[name]][level] for row in rows)
        lost += math.fsum(n * math.log2(generalized[labels[name][value][level]] / n) for value, n in values.items())
        theirs = Counter(labels[name][row[name]][level] for row in suppressed)
        lost += math.fsum(n * math.log2(len(suppressed) / n) for n in theirs.values())
    return len(suppressed), lost
