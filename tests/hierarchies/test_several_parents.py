"""Values with several parents in full-domain and local recoding: the chosen ones against plain Python, every node."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Deadline, Engine
from kanon_sql.errors import HierarchyError, SpecError, UnsupportedError
from kanon_sql.evaluate import NothingToSearch
from kanon_sql.evaluate.search import searched
from tests.conftest import Database
from tests.oracles.graph import tree_of_graph
from tests.oracles.lattice import Oracle
from tests.servers import subject_of
from tests.support.suppressions import suppressing

TYPES = {"zip": "text", "sex": "text", "serial": "integer"}

ZIPS = [
    ("94142", "9414*", "941**", "*"), ("94142", "941*2", "94**2", "*"), ("94141", "9414*", "941**", "*"),
    ("94132", "9413*", "941**", "*"), ("94132", "941*2", "94**2", "*"), ("94139", "9413*", "941**", "*"),
    ("94202", "942**", "94**2", "*"), ("94202", "94*02", "94**2", "*"), ("94302", "94*02", "94**2", "*"),
]  # fmt: skip
"""Of 94142, 94132 and 94202, the end may be kept instead of the beginning (Ciriani et al. 2007)."""
VALUES = sorted({row[0] for row in ZIPS})
SEX = {"f": ("f", "*"), "m": ("m", "*")}


def spec_of(k: int, **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": {"zip": {"table": "zips", "parents": "several"}, "sex": {"tree": {"*": ["f", "m"]}}},
            "keep": ["serial"],
            "privacy": [{"k_anonymity": k}],
            "warnings": {"kept_reveals_quasi_identifier": "warn"},
            **changes,
        }
    )


def random_rows(rng: random.Random) -> list[tuple[Any, ...]]:
    weights = [rng.choice([1, 1, 2, 6]) for _ in VALUES]
    return [(rng.choices(VALUES, weights)[0], rng.choice("fm"), number) for number in range(rng.choice([8, 16, 30]))]


def oracle_of(rows: list[tuple[Any, ...]], k: int, limit: int) -> Oracle:
    """The lattice of the parents that a plain choice gives each value, from the values up."""
    tree = tree_of_graph(ZIPS, Counter(row[0] for row in rows), k)
    own = [dict(zip(TYPES, row, strict=True)) for row in rows]
    return Oracle(own, {"zip": tree, "sex": SEX}, [{"k_anonymity": {"k": k}}], limit=limit)


def assert_searched(engine: Engine, rows: list[tuple[Any, ...]], rng: random.Random, algorithms: list[str]) -> None:
    """Every node of the chosen parents is judged as its labels are, and every search finds the best one."""
    k, limit = rng.choice([2, 3, 4]), rng.choice([0, 2])
    oracle, given = oracle_of(rows, k, limit), {"suppression": suppressing(limit)}
    with engine.run(Deadline(None)), searched(engine, spec_of(k, **given)) as found:
        assert not isinstance(found, NothingToSearch)
        told = {item.node: item.suppressed for item in found.evaluator.verdicts(oracle.all_nodes(), None)}
        assert told == {node: item.suppressed for node, item in oracle.results.items()}
    best, nodes = oracle.best("loss")
    for algorithm in algorithms:
        planned = kanon_sql.plan(engine, spec_of(k, search={"algorithm": algorithm}, **given))
        assert planned.passed == (best is not None)
        if best is not None:
            assert planned.node is not None
            lowest = oracle.lowest_height_solutions() if algorithm == "samarati" else nodes
            assert tuple(planned.node.values()) in lowest
            assert planned.search is not None
            assert planned.search.criterion.endswith(", with the parents chosen for zip")


def fill(table: Any, rows: list[tuple[Any, ...]]) -> None:
    table("people", TYPES, rows)
    table("zips", {f"l{level}": "text" for level in range(4)}, ZIPS)


@pytest.mark.slow
def test_every_node_of_random_tables(database: Database) -> None:
    rng = random.Random(1)
    for _ in range(2):
        rows = random_rows(rng)
        fill(database.table, rows)
        assert_searched(database.engine, rows, rng, ["optimal"])


@pytest.mark.slow
def test_more_random_tables(database: Database) -> None:
    rng = random.Random(2)
    for number in range(6):
        rows = random_rows(rng)
        fill(database.table, rows)
        assert_searched(database.engine, rows, rng, ["incognito", "samarati"] if number % 2 else ["exhaustive"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["postgres", "sqlite", "mariadb", "clickhouse", pytest.param("spark", marks=pytest.mark.campaign)]
)
def test_random_tables_elsewhere(name: str) -> None:
    with subject_of(name) as subject:
        engine, rng = subject.connect(), random.Random(3)
        rows = random_rows(rng)
        fill(subject.table, rows)
        assert_searched(engine, rows, rng, [])
        engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("recoding", ["local", "cells", "full_domain"])
def test_released_labels_are_of_the_chosen_parents(database: Database, recoding: str) -> None:
    """Classes have k rows, and each cell a label of the path that was chosen for its value, whatever its class."""
    rng = random.Random(4)
    rows = random_rows(rng)
    fill(database.table, rows)
    result = kanon_sql.anonymize(database.engine, spec_of(2, recoding=recoding, suppression=suppressing(2)))
    assert result.passed
    released = database.rows("people_release")
    assert min(Counter(row[:2] for row in released).values()) >= 2
    tree = tree_of_graph(ZIPS, Counter(row[0] for row in rows), 2)
    source = {row[2]: row for row in rows}
    assert all(label in tree[source[serial][0]] and sex in SEX[source[serial][1]] for label, sex, serial in released)
    assert len(released) >= len(rows) - 2


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"recoding": "mondrian"}, "use recoding: full_domain, local, cells or subtree, which choose one"),
    ({"recoding": "forest"}, "forest needs one parent for each value"),
    ({"search": {"algorithm": "k_optimize"}}, "k_optimize releases intervals, which have no parents"),
    ({"ledger": "published"}, "a ledger would generalize by those of another"),
    ({"release": {"view": "people_view", "accept_sequence_risk": True}}, "a view would generalize by those of another"),
    ({"recoding": {"method": "local", "save_as": "kept"}}, "so the choice may not fit new rows"),
]


@pytest.mark.parametrize(("changes", "said"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_what_a_spec_cannot_ask_for(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        spec_of(2, **changes)


def test_verbs_that_read_no_rows_are_refused(database: Database) -> None:
    fill(database.table, random_rows(random.Random(5)))
    with pytest.raises((SpecError, UnsupportedError), match="a script cannot choose among several parents"):
        kanon_sql.render(spec_of(2), "postgres")
    with pytest.raises(HierarchyError, match=r"zip\.parents: .* only plan, anonymize and compare do"):
        kanon_sql.hierarchy(database.engine, spec_of(2))
    assert kanon_sql.anonymize(database.engine, spec_of(2)).passed
    with pytest.raises(UnsupportedError, match="the parents of zip were chosen by the released rows"):
        kanon_sql.audit(database.engine, spec_of(2), "people_release", attacks=["consistency"])
