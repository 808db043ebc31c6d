"""The lower bound of a local recoding's loss, against brute force over all rows and nodes in plain Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given

import kanon_sql
from kanon_sql.errors import UnsupportedError
from kanon_sql.recode import bound as bound_module
from kanon_sql.report.recoding import recoding_in_words
from tests.conftest import Database
from tests.oracles.recoding import least_mean_loss
from tests.recode.test_local_recoding import local, scattered
from tests.recode.test_recode import fill, spec
from tests.support.oracle_cases import Case, load
from tests.support.strategies import examples


def lasting(case: Case) -> list[dict[str, Any]]:
    """The requirements that hold of every class that contains one that satisfies: k, and distinct l."""
    return [item for item in case.problem.requirements if item.get("l_diversity", {}).get("variant") != "entropy"]


def bound_of(database: Database, asked: kanon_sql.Spec) -> tuple[dict[str, Any], float]:
    """The bound, and what was lost."""
    result = kanon_sql.plan(database.engine, asked, bound=True)
    assert result.recoding is not None
    assert result.mean_loss is not None
    return result.recoding["bound"], result.mean_loss


@given(case=scattered())
@examples(4)
def test_the_bound_is_what_brute_force_finds(shared_database: Database, folder: Path, case: Case) -> None:
    asked = local(load(shared_database, folder, case))
    found, lost = bound_of(shared_database, asked)
    assert found["exact"]
    assert found["nodes"] == 4**3
    assert found["mean_loss"] == pytest.approx(least_mean_loss(case.problem, lasting(case)), abs=1e-6)
    assert found["mean_loss"] <= lost
    event("nothing lost" if lost == 0 else f"{found['mean_loss'] / lost:.1f} of the loss")


@given(case=scattered())
@examples(3)
def test_a_bound_of_fewer_nodes_is_lower_and_says_so(shared_database: Database, folder: Path, case: Case) -> None:
    asked = local(load(shared_database, folder, case))
    vectors = len({tuple(row[column] for column in case.problem.hierarchies) for row in case.problem.rows})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bound_module, "MOST_CLASSED", 20 * vectors)
        found, _ = bound_of(shared_database, asked)
    assert not found["exact"]
    assert 1 < found["nodes"] <= 20
    assert 0 <= found["mean_loss"] <= least_mean_loss(case.problem, lasting(case)) + 1e-9


LOPSIDED = {"a1": ("a", "s"), "a2": ("a", "s"), "a3": ("a", "s"), "b1": ("b", "s"), "c1": ("c", "t"), "c2": ("c", "t")}
"""A value's labels above it; below the root."""


def lost_at_best(rows: Sequence[tuple[str, ...]], k: int) -> float:
    """What the best of all partitions of some rows loses: they are few."""
    paths = {value: (value, *above, "root") for value, above in LOPSIDED.items()}

    def cost(group: Sequence[tuple[str, ...]]) -> float:
        total = 0.0
        for own in zip(*group, strict=True):
            label = next(level for level in range(4) if len({paths[value][level] for value in own}) == 1)
            under = sum(path[label] == paths[own[0]][label] for path in paths.values())
            total += (under - 1) / (len(paths) - 1) / len(group[0])
        return total * len(group)

    def best(left: tuple[int, ...]) -> float:
        if not left:
            return 0.0
        first, others = left[0], left[1:]
        return min(
            (
                cost([rows[number] for number in (first, *taken)])
                + best(tuple(number for number in others if number not in taken))
                for more in range(k - 1, len(others) + 1)
                for taken in combinations(others, more)
                if len(others) - more == 0 or len(others) - more >= k
            ),
            default=float("inf"),
        )

    return best(tuple(range(len(rows)))) / len(rows)


@pytest.mark.parametrize(("seed", "most"), [(0, 2**28), (2, 40)])
def test_no_partition_loses_less(database: Database, monkeypatch: pytest.MonkeyPatch, seed: int, most: int) -> None:
    """With levels taken as one, too: what they cost differs from label to label."""
    monkeypatch.setattr(bound_module, "MOST_CLASSED", most)
    chance, raised = random.Random(seed), 0
    tree = {"tree": {"s": {"a": ["a1", "a2", "a3"], "b": ["b1"]}, "t": {"c": ["c1", "c2"]}}}
    for _ in range(4):
        k, count = chance.choice([2, 3]), chance.randint(6, 8)
        rows = [(chance.choice(list(LOPSIDED)), chance.choice(list(LOPSIDED))) for _ in range(count)]
        database.table("visits", ["x", "y"], rows)
        asked = spec(quasi_identifiers={"x": tree, "y": tree}, privacy=[{"k_anonymity": k}])
        found, lost = bound_of(database, asked)
        best = lost_at_best(rows, k)
        assert found["mean_loss"] <= best + 1e-6
        assert best <= lost + 1e-6
        with monkeypatch.context() as patched:
            patched.setattr(bound_module, "RAISES", 0)
            plain, _ = bound_of(database, asked)
        raised += plain["mean_loss"] < found["mean_loss"] - 1e-6
        database.connection.execute("DROP TABLE visits")
    assert bool(raised) == (most > 40)


def test_the_bound_by_hand(database: Database) -> None:
    """`a` and `b` share `s1` at least, the three `e` nothing but themselves, and `f` is alone below the top."""
    tree = {"place": {"tree": {"s1": ["a", "b"], "n1": ["e"], "n2": ["f"]}}}
    database.table("visits", ["place"], [(value,) for value in "abeeef"])
    found, _ = bound_of(database, spec(quasi_identifiers=tree))
    assert found == {"mean_loss": pytest.approx((2 * (1 / 3) + 1) / 6), "exact": True, "nodes": 3}


def test_where_levels_are_one_every_label_costs_what_it_costs(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`s` is as good as `a` and as `b` then, and `b` costs a quarter of `a`: both rows of it lose 1 of 39."""
    many = {"a": [f"a{n}" for n in range(5)], "b": ["b0", "b1"]}
    tree = {"place": {"tree": {"s": many, "t": {"c": [f"c{n}" for n in range(33)]}}}}
    values = ["a0", "a1", "a2", "a3"] * 2 + ["b0", "b1"]
    database.table("visits", ["place"], [(value,) for value in values])
    monkeypatch.setattr(bound_module, "MOST_CLASSED", 3 * len(set(values)))
    found, lost = bound_of(database, spec(quasi_identifiers=tree, privacy=[{"k_anonymity": 2}]))
    assert found == {"mean_loss": pytest.approx(2 / 39 / 10), "exact": False, "nodes": 3}
    assert lost == pytest.approx(2 / 39 / 10)


def test_what_can_not_be_released_loses_everything(database: Database) -> None:
    """At the highest level allowed `f` is alone; and a row with a NULL is suppressed as well."""
    tree = {"place": {"tree": {"s1": ["a", "b"], "n1": ["f"]}, "maximum_level": 1}}
    database.table("visits", ["place"], [("a",), ("b",), ("f",), (None,)])
    asked = spec(quasi_identifiers=tree, suppression={"max_share": 0.5}, nulls="suppress")
    found, lost = bound_of(database, asked)
    assert found["mean_loss"] == pytest.approx((2 * (1 / 2) + 2) / 4)
    assert lost == pytest.approx(found["mean_loss"])


def test_columns_weigh_what_the_spec_says(database: Database) -> None:
    """All that is lost is a column that counts for little: `a` and `b` of `dear` are never apart from `x` and `y`."""
    database.table("visits", ["dear", "cheap"], [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")])
    asked = spec(quasi_identifiers={"dear": {"weight": 9}, "cheap": {"weight": 1}}, privacy=[{"k_anonymity": 2}])
    found, lost = bound_of(database, asked)
    assert found["mean_loss"] == pytest.approx(0.1, abs=1e-6)
    assert lost == pytest.approx(0.1)


@pytest.mark.slow
def test_it_is_said_in_words_and_costs_a_few_statements(database: Database) -> None:
    fill(database, 60)
    without = kanon_sql.plan(database.engine, spec())
    result = kanon_sql.plan(database.engine, spec(), bound=True)
    assert result.recoding is not None
    assert without.recoding is not None
    assert without.recoding["bound"] is None
    assert "times the bound: no recoding with these hierarchies loses less than" in recoding_in_words(result.recoding)
    assert result.cost.statements <= without.cost.statements + 40
    assert result.cost.rows_fetched <= without.cost.rows_fetched + 5


@pytest.mark.slow
def test_no_bound_where_a_larger_class_may_violate(database: Database) -> None:
    fill(database, 60)
    asked = spec(sensitive=["illness"], privacy=[{"t_closeness": {"attribute": "illness", "t": 0.5}}])
    result = kanon_sql.plan(database.engine, asked, bound=True)
    assert any("no lower bound" in note for note in result.notes)


def test_full_domain_has_no_bound(database: Database) -> None:
    fill(database, 60)
    with pytest.raises(UnsupportedError, match="recoding: local"):
        kanon_sql.plan(database.engine, spec(recoding="full_domain"), bound=True)
