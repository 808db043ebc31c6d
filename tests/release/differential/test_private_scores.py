"""Scores of the exponential mechanism: what they are, that no row changes one by more than its sensitivity, and that
they choose with exactly the probabilities that the mechanism is defined by."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import exp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.models import METRICS
from kanon_sql.release.differential import mechanism, scores
from kanon_sql.release.differential.randomness import chosen_by_score
from tests.conftest import Database
from tests.support.private_releases import ROOM
from tests.support.private_scores import SCORES, Node, Row, expected, measured, score_of, scored
from tests.support.strategies import examples

NODES: list[Node] = list(product(range(3), repeat=2))
DOMAIN: list[Row] = list(product([None, 0, 1, 2, 3], repeat=2))

rows_of = st.lists(st.sampled_from(DOMAIN), min_size=1, max_size=16)
nodes = st.sampled_from(NODES)


# --- What they are ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCORES)
@given(rows=rows_of, node=nodes, least=st.integers(1, 6), dropped=st.integers(0, 3))
@examples(150)
def test_a_score_is_what_its_definition_says(name: str, rows: list[Row], node: Node, least: int, dropped: int) -> None:
    """Row by row, against what is made of a node's aggregates."""
    assert scored(name, rows, node, least, dropped) == expected(name, rows, node, least, dropped=dropped)


@pytest.mark.parametrize("name", ["precision", "loss", "entropy"])
@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.0, 2.0), (0.25, 5.0)])
def test_columns_are_weighed(name: str, weights: tuple[float, float]) -> None:
    rows: list[Row] = [(0, 0), (1, 0), (2, 3), (3, 3), (3, None)]
    for node in NODES:
        score = score_of(name, weights)
        found = score.score(len(rows), measured(score, rows, node, 2))
        assert found == expected(name, rows, node, 2, [Fraction(weight) for weight in weights])


def test_a_score_as_a_metric_is_a_loss() -> None:
    score, rows = score_of("discernibility"), [(0, 0), (0, 0), (1, 1)]
    counts: Any = type("Counts", (), {"rows": 3})
    assert score.value(counts, measured(score, rows, (0, 0), 2)) == pytest.approx(4 / 3 + 1)


def test_a_score_and_the_metric_of_its_name_ask_for_different_things() -> None:
    """What was compiled for the one must not answer for the other."""
    assert not {score_of(name).shape for name in SCORES} & {metric.shape for metric in METRICS.values()}
    told = [score_of("classification").at(node).shape for node in ((0, 0), (2, 0), (0, 2))]
    assert len(set(told)) == 3


# --- Sensitivity --------------------------------------------------------------------------------------------------


def changes(name: str, rows: Sequence[Row], node: Node, least: int, dropped: int = 0) -> list[Fraction]:
    """How much each row that may be added changes the score, and one that is left out for a NULL."""
    before = scored(name, rows, node, least, dropped)
    grown = [scored(name, [*rows, more], node, least, dropped) for more in DOMAIN]
    return [after - before for after in (*grown, scored(name, rows, node, least, dropped + 1))]


def worst(name: str, tables: int, seed: int) -> dict[int, Fraction]:
    """Per threshold, the largest change by one row over random tables of a few classes, at random nodes."""
    draw = random.Random(seed)
    found: dict[int, Fraction] = {}
    for _ in range(tables):
        least = draw.randint(1, 5)
        domain = draw.sample(DOMAIN, draw.randint(1, 6))
        rows = [draw.choice(domain) for _ in range(draw.choice([0, 1, least - 1, least, 2 * least, 30]))]
        seen = changes(name, rows, draw.choice(NODES), least, draw.choice([0, 0, 2]))
        found[least] = max(found.get(least, Fraction(0)), *map(abs, seen))
    return found


TABLES = [pytest.param(150, id="some"), pytest.param(1_500, id="many", marks=pytest.mark.campaign)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("tables", TABLES)
@pytest.mark.parametrize("name", SCORES)
def test_no_row_changes_a_score_by_more_than_its_sensitivity(name: str, tables: int) -> None:
    """Every row that can be added, to each table; taking one away is the same pair the other way round."""
    for least, change in worst(name, tables, seed=2018).items():
        assert change <= score_of(name).sensitivity(least)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("least", [1, 2, 3, 4])
def test_the_sensitivity_holds_for_all_tables_of_two_labels(name: str, least: int) -> None:
    """Numbers of rows of four classes that share labels in pairs, up to beyond the threshold, one of them large."""
    most = score_of(name).sensitivity(least)
    for sizes in product((0, 1, least - 1, least, 9), (0, least - 1, least), (0, least), (0, 40)):
        rows = [row for row, size in zip([(0, 0), (0, 3), (3, 0), (3, 3)], sizes, strict=True) for _ in range(size)]
        for node in ((0, 0), (1, 2), (2, 0)):
            before = scored(name, rows, node, least)
            for more in ((0, 0), (0, 3), (3, 3), (1, 1)):
                assert abs(scored(name, [*rows, more], node, least) - before) <= most


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("precision", Fraction(1)),
        ("loss", Fraction(1)),
        ("average_class_size", Fraction(1)),
        ("classification", Fraction(1)),
        ("discernibility", Fraction(98, 100)),
        ("entropy", Fraction(98, 100)),
    ],
)
@pytest.mark.parametrize("least", [2, 5])
def test_some_row_changes_a_score_by_its_sensitivity_or_nearly(name: str, share: Fraction, least: int) -> None:
    """So no smaller number would do: a row that completes a class, beside one of many other rows."""
    crowd: list[Row] = [(3, 3)] * (2_000 if share < 1 else 0)
    rows = [*crowd, *[(0, 0)] * (least - 1)]
    change = abs(scored(name, [*rows, (0, 0)], (0, 0), least) - scored(name, rows, (0, 0), least))
    if name == "average_class_size":
        change = abs(scored(name, [(0, 0)], (0, 0), least) - scored(name, [], (0, 0), least))
    assert share * score_of(name).sensitivity(least) <= change <= score_of(name).sensitivity(least)


# --- In the database ------------------------------------------------------------------------------------------------

TREE = {"low": ["0", "1"], "high": ["2", "3"]}


def spec_of(score: str, nulls: str = "value", **more: Any) -> kanon_sql.Spec:
    search = {"epsilon": 0.5, "score": score, **({"classify": "b"} if score == "classification" else {})}
    requirement = {"epsilon": 2, "delta": 0.4, "sampling": 0.75, "search": search, **ROOM}
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "pairs", "release": "released", "ledger": "ledger", "nulls": nulls,
            "quasi_identifiers": {"a": {"tree": TREE}, "b": {"tree": TREE, "weight": 0.5}},
            "privacy": [{"differential_privacy": {**requirement, "total": {"epsilon": 2, "delta": 0.4}}}], **more,
        }
    )  # fmt: skip


Seen = dict[str, Any]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """What the exponential mechanism is given; it then chooses the top."""
    found: Seen = {}

    def choose(given_scores: list[Fraction], epsilon: Fraction, step: Fraction, coins: Callable[[int], int]) -> int:
        found.update(scores=given_scores, epsilon=epsilon, step=step)
        return len(given_scores) - 1

    monkeypatch.setattr(mechanism, "chosen_by_score", choose)
    return found


def run(database: Database, spec: kanon_sql.Spec, rows: Sequence[Row]) -> kanon_sql.results.Release:
    database.table("pairs", {"a": "VARCHAR", "b": "VARCHAR"}, [[v if v is None else str(v) for v in r] for r in rows])
    for name in ("ledger", "released", "kanon_sql_manifest"):
        database._connection.execute(f"DROP TABLE IF EXISTS {name}")
    return kanon_sql.anonymize(database.engine, spec)


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize("nulls", ["value", "suppress"])
@pytest.mark.parametrize("name", SCORES)
def test_sql_and_plain_python_have_the_same_scores(database: Database, seen: Seen, name: str, nulls: str) -> None:
    """Exactly, at every node, over random tables with NULLs and classes on both sides of the threshold."""
    draw = random.Random(7)
    for _ in range(2):
        domain = draw.sample(DOMAIN, 7)
        rows = [draw.choice(domain) for _ in range(60)] + [draw.choice(DOMAIN) for _ in range(12)]
        result = run(database, spec_of(name, nulls), rows)
        facts = result.differential_privacy
        assert facts is not None
        assert (facts["score"], seen["epsilon"]) == (name, Fraction(1, 2))
        least = -(-facts["k"] * 4 // 3)
        assert seen["step"] == score_of(name).sensitivity(least)
        whole = [row for row in rows if None not in row] if nulls == "suppress" else rows
        wanted = [
            expected(name, whole, node, least, (Fraction(1), Fraction(1, 2)), len(rows) - len(whole)) for node in NODES
        ]
        assert seen["scores"] == wanted
        assert len(set(wanted)) > 1
    assert result.search is not None
    assert result.search.criterion == score_of(name).says


def test_a_single_column_is_told_from_nothing(database: Database, seen: Seen) -> None:
    """The group of a classifier that knows no other column is all kept rows."""
    rows: list[Row] = [(0, 0)] * 9 + [(1, 1)] * 12 + [(2, 2)] * 12
    spec = spec_of("classification", quasi_identifiers={"b": {"tree": TREE}})
    run(database, spec, rows)
    assert seen["scores"] == [12, Fraction(21, 2), 0]


@pytest.mark.slow
def test_a_value_that_no_row_has_counts_in_the_loss(database: Database, seen: Seen) -> None:
    """The domain is what the tree lists: it does not shrink when the last row of a value leaves."""
    with_it: list[Row] = [(0, 0)] * 30 + [(3, 3)]
    found = []
    for rows in (with_it, with_it[:-1]):
        run(database, spec_of("loss"), rows)
        found.append(seen["scores"])
    assert all(abs(one - other) <= 1 for one, other in zip(*found, strict=True))
    assert found[1][NODES.index((1, 0))] == -30 * Fraction(2, 3) * Fraction(1, 3)


@pytest.mark.slow
def test_squares_that_whole_numbers_do_not_hold_are_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[Row] = [(0, 0)] * 40
    monkeypatch.setattr(scores, "MOST_SQUARED", 39)
    assert run(database, spec_of("average_class_size"), rows).passed
    for name in ("discernibility", "entropy"):
        with pytest.raises(UnsupportedError, match="adds up squares"):
            run(database, spec_of(name), rows)
        assert "ledger" not in database.tables(), "nothing was spent"
    monkeypatch.setattr(scores, "MOST_SQUARED", 40)
    assert run(database, spec_of("entropy"), rows).passed


def test_the_default_is_the_precision() -> None:
    requirement = {"epsilon": 2, "delta": 0.4, "search": {"epsilon": 0.5}}
    spec = spec_of("loss").to_dict() | {"privacy": [{"differential_privacy": requirement}]}
    written = kanon_sql.Spec.from_dict(spec).to_dict()["privacy"][0]["differential_privacy"]
    assert written["search"] == {"epsilon": 0.5, "score": "precision"}


@pytest.mark.parametrize(
    ("search", "more", "why"),
    [
        ({"score": "height"}, {}, "unknown score"),
        ({"score": 3}, {}, "expected score: "),
        ({"score": "classification"}, {}, "needs 'classify'"),
        ({"score": "classification", "classify": "c"}, {}, "this is no quasi-identifier"),
        ({"score": "entropy", "classify": "b"}, {}, "the score entropy predicts no column"),
        (
            {"score": "loss"},
            {"quasi_identifiers": {"a": {"tree": TREE}, "b": {"intervals": [2]}}},
            "of 'b', which only the data show",
        ),
        ({"score": "loss"}, {"quasi_identifiers": {"a": None}}, "of 'a', which only the data show"),
    ],
)
def test_what_a_score_cannot_be_is_refused(search: dict[str, Any], more: dict[str, Any], why: str) -> None:
    requirement = {"epsilon": 2, "delta": 0.4, "search": {"epsilon": 0.5, **search}}
    with pytest.raises(SpecError) as raised:
        kanon_sql.Spec.from_dict(
            {**spec_of("precision").to_dict(), "privacy": [{"differential_privacy": requirement}], **more}
        )
    assert why in str(raised.value)


# --- The choice -----------------------------------------------------------------------------------------------------


class _Out(Exception):
    """The tape has come to its end."""


def tape(bits: Sequence[int]) -> Callable[[int], int]:
    """Coins that fall as they are written, and then no more."""
    left: Iterator[int] = iter(bits)

    def coins(count: int) -> int:
        found = 0
        for _ in range(count):
            bit = next(left, None)
            if bit is None:
                raise _Out
            found = 2 * found + bit
        return found

    return coins


def chances(given_scores: list[Fraction], epsilon: Fraction, step: Fraction, most: int) -> tuple[list[Fraction], ...]:
    """How likely each choice is at least and at most, over every way that so many coins can fall."""
    least = [Fraction(0)] * len(given_scores)
    open_tapes: list[tuple[int, ...]] = [()]
    while open_tapes:
        fallen = open_tapes.pop()
        try:
            chosen = chosen_by_score(given_scores, epsilon, step, tape(fallen))
        except _Out:
            if len(fallen) < most:
                open_tapes += [(*fallen, 0), (*fallen, 1)]
            continue
        least[chosen] += Fraction(1, 2 ** len(fallen))
    unknown = 1 - sum(least)
    return least, [own + unknown for own in least]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("given_scores", "coins"),
    [([0, -2], 17), ([-1, -2, 0, -8], 17), ([Fraction(-7, 2), Fraction(1, 2)], 17)],
    ids=str,
)
def test_levels_are_chosen_with_the_probabilities_of_the_mechanism(given_scores: list[Fraction], coins: int) -> None:
    """Exactly: no coin is drawn at random here. exp(epsilon score / (2 sensitivity)) / the sum of these."""
    epsilon, step = Fraction(1, 2), Fraction(2)
    low, high = chances([Fraction(item) for item in given_scores], epsilon, step, coins)
    weights = [exp(float(epsilon * item / (2 * step))) for item in given_scores]
    for position, weight in enumerate(weights):
        assert low[position] <= weight / sum(weights) <= high[position]
        assert high[position] - low[position] < Fraction(1, 20)
