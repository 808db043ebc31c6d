"""Refinement where a value has one label for all rows: that nothing is impossible, against every source."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jsonschema
import pytest

from kanon_sql import Spec, anonymize, audit
from kanon_sql.disclosure.attacks import Attack
from kanon_sql.errors import UnsupportedError
from kanon_sql.report.json import audit_schema
from tests.conftest import Database
from tests.oracles.one_label import Classes, OneLabel, Paths, Recode, Source, Vector
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import engine_marks

DEEP = {"T": {"A": ["a1", "a2"], "B": ["b1", "b2"]}, "U": {"C": ["c1"]}}
FLAT, TWO = {"A": ["a1", "a2"], "B": ["b1"]}, {"X": ["x"], "Y": ["y"]}
NAMES = ("q", "p")
LOSS = {"search": {"metric": "loss"}}
SIZES = {"search": {"metric": "discernibility"}}


def paths(tree: Mapping[str, Any]) -> Paths:
    found = {}
    for label, below in tree.items():
        inside = paths(below) if isinstance(below, Mapping) else {value: (value, "*") for value in below}
        found |= {value: (*path[:-1], label, "*") for value, path in inside.items()}
    return found


def spec_of(k: int, trees: Sequence[Mapping[str, Any]], **changes: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "privacy": [{"k_anonymity": k}],
            "quasi_identifiers": {name: {"tree": tree} for name, tree in zip(NAMES, trees, strict=False)}, **changes,
        }
    )  # fmt: skip


def recode_of(one: OneLabel, recoding: Mapping[str, Any]) -> Recode:
    if "search" in recoding:
        return partial(one.full_domain, metric=recoding["search"]["metric"])
    return one.subtree


def put(database: Database, source: Sequence[Vector], release: Mapping[Vector, int]) -> None:
    database.table("s", NAMES[: len(source[0])], source)
    database.table("r", NAMES[: len(source[0])], [labels for labels, rows in release.items() for _ in range(rows)])


def rows_of(classes: Classes) -> list[Vector]:
    return [row for held in classes.values() for row in held.elements()]


def attacked(database: Database, spec: Spec) -> list[Attack]:
    result = audit(database.engine, spec, attacks=["refinement"])
    jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
    assert result.passed, "an estimate decides no verdict"
    return list(result.attacks)


def proven_of(database: Database, spec: Spec) -> list[Attack]:
    """What the attack says; nothing where it says that it is not proven."""
    try:
        return attacked(database, spec)
    except UnsupportedError as error:
        if "is not proven" in str(error):
            return []
        raise


# --- Against every source ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("recoding", [{"recoding": "subtree"}, LOSS, SIZES])
def test_the_oracle_recodes_as_the_package_does(database: Database, recoding: Any) -> None:
    draw = random.Random(3)
    for trees, k in ((DEEP, TWO), 2), ((FLAT, FLAT), 2), ((DEEP, FLAT), 3):
        one = OneLabel([paths(tree) for tree in trees], k)
        for rows in (8, 14, 30):
            source: Source = tuple(
                tuple(draw.choice([*own, *list(own)[:2]]) for own in one.columns) for _ in range(rows)
            )
            database.table("s", NAMES, source)
            made = recode_of(one, recoding)(source)
            assert made is not None
            assert anonymize(database.engine, spec_of(k, trees, **recoding)).passed
            assert Counter(database.rows("r")) == {labels: held.total() for labels, held in made.items()}
            database.clear()


@pytest.mark.slow
@pytest.mark.parametrize("recoding", [{"recoding": "subtree"}, LOSS, SIZES])
@pytest.mark.parametrize(("trees", "k", "rows"), [((FLAT, TWO), 2, 8), ((DEEP,), 3, 10), ((DEEP, TWO), 2, 8)])
def test_every_value_under_a_label_is_possible(
    database: Database, recoding: Any, trees: Any, k: int, rows: int
) -> None:
    """Of every release of so many rows; and the attack says so of some."""
    one = OneLabel([paths(tree) for tree in trees], k)
    every = one.worlds(rows, recode_of(one, recoding))
    assert sum(len(worlds) for worlds in every.values()) > 2 * len(every) > 10
    proven = 0
    for worlds in every.values():
        assert not one.impossible(worlds)
    for release in random.Random(1).sample(sorted(every, key=sorted), 4):
        put(database, rows_of(every[release][0]), dict(release))
        found = proven_of(database, spec_of(k, trees, **recoding))
        assert found or "search" in recoding
        assert all((attack.examined, attack.exposed, attack.risk) == (rows, 0, 0) for attack in found)
        assert all("(proven)" in attack.notes[1] for attack in found)
        proven += len(found)
    assert proven


@pytest.mark.slow
@pytest.mark.parametrize(("trees", "k", "rows"), [((FLAT, TWO), 2, 8), ((DEEP,), 3, 10)])
def test_subtrees_hide_values_from_who_knows_how_often_each_occurs(trees: Any, k: int, rows: int) -> None:
    one = OneLabel([paths(tree) for tree in trees], k)
    for worlds in one.worlds(rows, one.subtree).values():
        alike: dict[Any, list[Classes]] = {}
        for classes in worlds:
            columns = zip(*rows_of(classes), strict=True)
            alike.setdefault(tuple(tuple(sorted(values)) for values in columns), []).append(classes)
        assert not any(map(one.impossible, alike.values()))


# --- When it is said --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tree", "k", "why"),
    [
        ({"A": ["a1", "a2"], "B": ["b1", "b2"]}, 3, None),
        ({"A": ["a1", "a2"], "B": ["b1", "b2"]}, 2, "every label of q below a released one has 2 values or more"),
        ({"A": ["a1", "a2", "b1", "b2"], "C": ["c1"]}, 5, "or none beside it"),
        ({"A": ["a1"], "B": ["a2", "b1", "b2"]}, 2, None),
    ],
)  # fmt: skip
def test_a_node_is_proven_where_a_label_below_it_has_few_values(
    database: Database, tree: Any, k: int, why: str | None
) -> None:
    put(database, [(value,) for value in ("a1", "a2", "b1", "b2", "b2")], {("*",): 5})
    if why is None:
        (found,) = attacked(database, spec_of(k, (tree,)))
        assert found.notes[1].startswith("labels of several values: 5 rows")
    else:
        with pytest.raises(UnsupportedError, match=why):
            attacked(database, spec_of(k, (tree,)))


@pytest.mark.parametrize(
    ("release", "changes", "why"),
    [
        ({("A",): 2, ("B",): 1, ("b1",): 1}, {"recoding": "subtree"}, "2 classes are too small"),
        ({("A",): 2, ("B",): 3}, {"recoding": "subtree"}, "1 rows more or fewer than the source"),
        ({("a1",): 2, ("A",): 2}, {"recoding": "subtree"}, "3 values have no label or several"),
        ({("A",): 2, ("b1",): 2}, {"recoding": "subtree"}, "1 values have no label or several"),
        ({("A",): 2, ("B",): 2}, {"recoding": "subtree", "suppression": "5%"}, "rows may be suppressed"),
        ({("A",): 2, ("B",): 2}, {"recoding": {"method": "subtree", "variant": "bottom_up"}}, "steps of bottom_up"),
        ({("A",): 2, ("B",): 2}, {"recoding": {"method": "subtree", "ranges": ["q"]}}, "where an interval is split"),
        (
            {("A",): 2, ("B",): 2},
            {"recoding": {"method": "subtree", "classify": "p"}, "keep": ["p"]},
            "with classify the rows",
        ),
        ({("A",): 2, ("B",): 2}, {"search": {"algorithm": "greedy"}}, "which nodes greedy visits"),
        ({("A",): 2, ("B",): 2}, {"privacy": [{"k_anonymity": {"k": 2, "quasi_identifiers": ["q"]}}]}, "over some of"),
        ({("A",): 2, ("b1",): 1, ("b2",): 1}, {"privacy": [{"k_anonymity": 1}]}, "of q are not all of one level"),
    ],
)  # fmt: skip
def test_what_is_not_proven_is_refused_by_name(
    database: Database, release: Mapping[Vector, int], changes: Any, why: str
) -> None:
    database.table("s", ["q", "p"], [(value, value) for value in ("a1", "a2", "b1", "b2")])
    database.table("r", ["q", "p"], [(*labels, "b1") for labels, rows in release.items() for _ in range(rows)])
    with pytest.raises(UnsupportedError, match=why):
        attacked(database, spec_of(2, ({"A": ["a1", "a2"], "B": ["b1", "b2"]},), **changes))


# --- Engines ----------------------------------------------------------------------------------------


@pytest.mark.campaign_on("clickhouse")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS if name != "spark"])
@pytest.mark.slow
def test_every_engine_finds_the_same(name: str) -> None:
    source = [("a1", "x"), ("a2", "x"), ("b1", None), ("b1", "y"), ("b1", "y"), ("a2", None)]
    labels = [("A", "*")] * 3 + [("b1", "*")] * 3
    with subject_of(name) as subject:
        subject.table("s", dict.fromkeys(NAMES, "text"), source)
        subject.table("r", dict.fromkeys(NAMES, "text"), labels)
        subject.table("n", dict.fromkeys(NAMES, "text"), [("*", "*")] * 6)
        engine = subject.connect(read_only=name not in ("duckdb", "clickhouse"))
        try:
            found = audit(engine, spec_of(3, (FLAT, TWO), recoding="subtree"), attacks=["refinement"]).attacks
            node = audit(engine, spec_of(3, (FLAT, TWO), release="n"), attacks=["refinement"]).attacks
            with pytest.raises(UnsupportedError, match="3 values have no label or several"):
                audit(engine, spec_of(3, (TWO, TWO), recoding="subtree"), attacks=["refinement"])
        finally:
            engine.close()
    assert [attack.notes[1].split(" rows")[0].split(": ")[1] for attack in found] == ["3", "6"]
    assert [attack.notes[1].split(" rows")[0].split(": ")[1] for attack in node] == ["6", "6"]
    assert not any(attack.exposed for attack in [*found, *node])
