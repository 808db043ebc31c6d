"""Refinement: what the rules of local recoding rule out, against every source that gives the release."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import jsonschema
import pytest

from kanon_sql import Spec, anonymize, audit
from kanon_sql.disclosure.attacks import Attack
from kanon_sql.errors import UnsupportedError
from kanon_sql.recode import sweep
from kanon_sql.report.json import audit_schema
from tests.conftest import Database
from tests.oracles.local import Column, Local, Part, Released, Vector, counts, released, worlds
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import engine_marks

TREES: list[dict[str, list[str]]] = [{"A": ["a1", "a2"], "B": ["b1", "b2", "b3"]}, {"X": ["x1"], "Y": ["y1", "y2"]}]
NAMES = ("q", "p")


def columns(count: int) -> list[Column]:
    return [
        Column({value: (value, group, "*") for group, values in tree.items() for value in values})
        for tree in TREES[:count]
    ]


def spec_of(k: int = 2, count: int = 2, **changes: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "privacy": [{"k_anonymity": k}], "recoding": "local",
            "quasi_identifiers": {name: {"tree": tree} for name, tree in zip(NAMES, TREES[:count], strict=False)},
            **changes,
        }
    )  # fmt: skip


def never_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """No table has so few vectors that dear classes are swept again."""
    monkeypatch.setattr(sweep, "PAIRS", -1)


def put(database: Database, source: Part, release: Released = ()) -> None:
    names = NAMES[: len(next(iter(source)))]
    database.table(
        "s", dict.fromkeys(names, "VARCHAR"), [vector for vector, rows in source.items() for _ in range(rows)]
    )
    if release:
        database.table("r", dict.fromkeys(names, "VARCHAR"), [labels for labels, rows in release for _ in range(rows)])


def attacked(database: Database, spec: Spec, reveal: int = 0) -> dict[str, Attack]:
    result = audit(database.engine, spec, attacks=["refinement"], reveal=reveal)
    jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
    assert result.passed, "an estimate decides no verdict"
    assert not any("'a1'" in text for text in result.sql)
    return {str(attack.about): attack for attack in result.attacks}


def source_of(draw: random.Random, count: int, rows: int) -> Part:
    """Rows with more of some values than of others."""
    values = [[value for group in tree.values() for value in group] for tree in TREES[:count]]
    return dict(Counter(tuple(draw.choice([*own, own[0], own[-1]]) for own in values) for _ in range(rows)))


def values_under(own: Column, label: str, have: Collection[str]) -> list[list[str]]:
    """The values of a label that occur, by the next level down on which there are several labels."""
    inside = [value for value in own.paths if label in own.paths[value] and value in have]
    for level in range(own.height - 1, -1, -1):
        parts = [[value for value in inside if own.paths[value][level] == part] for part in
                 dict.fromkeys(own.paths[value][level] for value in inside)]  # fmt: skip
        if len(parts) > 1:
            return parts
    return [inside]


# --- Against every source ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("sweeps", [True, False])
def test_the_oracle_recodes_as_the_package_does(
    database: Database, monkeypatch: pytest.MonkeyPatch, k: int, sweeps: bool
) -> None:
    draw = random.Random(5)
    local = Local(columns(2), k, sweeps=sweeps)
    if not sweeps:
        never_sweep(monkeypatch)
    for rows in (9, 24) * 3:
        source = source_of(draw, 2, rows)
        put(database, source)
        assert anonymize(database.engine, spec_of(k)).passed
        assert released(local.release(source)) == tuple(sorted(Counter(database.rows("r")).items()))
        database.clear()


TWO = [
    [("a2", "x1"), ("a2", "x1"), ("b3", "y1"), ("b3", "y2"), ("a1", "x1"), ("b1", "x1"), ("b2", "x1")],
    [("b1", "x1"), ("b2", "x1"), ("b3", "x1"), ("b3", "x1"), ("b3", "y1"), ("b3", "y2")],
    [("b1", "y1"), ("b2", "y2"), ("a1", "y1"), ("a1", "y2"), ("b1", "x1"), ("b1", "y1")],
]
JOINED = [*[("a1", "y1")] * 4, ("a1", "y2"), ("a2", "y1"), ("a2", "y2"), ("b3", "x1"), ("b3", "y2")]
"""Where classes are swept again, what is left joins the class of a single vector, of which all but one row are."""


@pytest.mark.slow
@pytest.mark.parametrize(("count", "k"), [(1, 2), (1, 3), (2, 2)])
@pytest.mark.parametrize("sweeps", [True, False])
def test_what_is_ruled_out_is_impossible_in_every_source(
    shared_database: Database, monkeypatch: pytest.MonkeyPatch, count: int, k: int, sweeps: bool
) -> None:
    """No more is concluded than every source has in common; of one column all that there is."""
    if not sweeps:
        never_sweep(monkeypatch)
    draw, local = random.Random(k), Local(columns(count), k, sweeps=sweeps)
    found = missed = 0
    for rows in [*TWO, *([JOINED] if sweeps else [])] if count == 2 else [None] * 4:
        source = source_of(draw, count, 4 * k) if rows is None else dict(Counter(rows))
        have = [{vector[place] for vector in source} for place in range(count)]
        release = released(local.release(source))
        possible = worlds(local, release, have)
        put(shared_database, source, release)
        for place, attack in enumerate(attacked(shared_database, spec_of(k, count), reveal=99).values()):
            shares, certain = {}, 0
            for labels, _ in release:
                parts = values_under(local.columns[place], labels[place], have[place])
                each = [value for part in parts for value in part]
                shares[labels] = sum(counts(possible, labels, place, [value]) == {0} for value in each) / len(each)
                certain += sum(min(counts(possible, labels, place, part)) for part in parts) if len(parts) > 1 else 0
            exposed = [tuple(case["values"].values()) for case in attack.revealed or ()]
            assert all(shares[labels] for labels in exposed)
            assert attack.risk is not None
            assert attack.risk <= max(shares.values()) + 1e-9
            assert not any("contradict" in note for note in attack.notes)
            told = re.search(r"one level down is certain for (\d+)", attack.notes[1])
            assert told is not None
            assert int(told[1]) <= certain
            truth = sum(size for labels, size in release if shares[labels])
            found, missed = found + attack.exposed, missed + truth - attack.exposed
    assert found
    assert count > 1 or not missed


# --- Rule by rule -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "exposed", "risk", "why"),
    [
        ({("B", "x1"): 3, ("b1", "x1"): 3}, 3, 1 / 3, "all rows with b1 and x1 are in the class of this vector"),
        ({("B", "Y"): 3, ("b1", "x1"): 3}, 0, 0, "other labels: b1 may be left over"),
        ({("*", "Y"): 4, ("A", "Y"): 3, ("b1", "Y"): 3, ("b2", "Y"): 3}, 0, 0, "some may be given rows"),
        ({("*", "Y"): 5, ("a1", "Y"): 3, ("b1", "Y"): 3, ("b2", "Y"): 3}, 5, 3 / 5, "a1, b1 and b2 went elsewhere"),
        ({("*", "Y"): 5, ("b1", "Y"): 3, ("b1", "y1"): 3, ("A", "x1"): 3}, 5, 1 / 5, "b1 went elsewhere"),
    ],
)  # fmt: skip
def test_what_is_ruled_out(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    release: Mapping[Vector, int],
    exposed: int,
    risk: float,
    why: str,
) -> None:
    """With k = 3 in classes whose sizes prove that larger vectors were released by themselves; by cuts alone."""
    never_sweep(monkeypatch)
    source = {(value, other): 1 for value in ("a1", "a2", "b1", "b2", "b3") for other in ("x1", "y1", "y2")}
    put(database, source, tuple(release.items()))
    found = attacked(database, spec_of(3))["q"]
    assert (found.examined, found.exposed) == (sum(release.values()), exposed), why
    assert found.risk == pytest.approx(risk)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lowest", "exposed"), [(0, 5), (1, 0)], ids=["the source has many vectors", "it may have fewer than it has values"]
)
def test_cuts_are_no_evidence_where_classes_may_have_been_swept(
    database: Database, monkeypatch: pytest.MonkeyPatch, lowest: int, exposed: int
) -> None:
    """As many vectors as are swept again, and one more: if the lowest level is not that of values, that is no proof."""
    source = {(value, other): 1 for value in ("a1", "a2", "b1", "b2", "b3") for other in ("x1", "y1", "y2")}
    put(database, source, ((("*", "*"), 5), (("a1", "*"), 3), (("b1", "*"), 3), (("b2", "*"), 3)))
    monkeypatch.setattr(sweep, "PAIRS", len(source) * sweep.NODES)
    found = attacked(database, spec_of(3))["q"]
    assert found.exposed == 0
    assert any("dear classes are swept again" in note for note in found.notes)
    monkeypatch.setattr(sweep, "PAIRS", (len(source) - 1) * sweep.NODES)
    trees = {name: {"tree": tree} for name, tree in zip(NAMES, TREES, strict=True)}
    trees["p"]["minimum_level"] = lowest
    found = attacked(database, spec_of(3, quasi_identifiers=trees))["q"]
    assert found.exposed == exposed


@pytest.mark.slow
def test_a_large_class_has_fewer_than_k_rows_in_each_part(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight rows at most two each would be of A and B with k = 3, and there is no third part."""
    never_sweep(monkeypatch)
    source = {(value, other): 1 for value in ("a1", "a2", "b1", "b2", "b3") for other in ("x1", "y1", "y2")}
    for rows, contradicted in ((7, False), (8, True)):
        others = ((("*", "x1"), 3), (("A", "y1"), 3), (("B", "y1"), 3))
        put(database, source, ((("*", "Y"), rows), *others))
        found = attacked(database, spec_of(3))["q"]
        assert any(note.startswith("1 classes contradict that") for note in found.notes) == contradicted


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"recoding": "forest"}, "forest chooses labels are not modelled"),
        ({"quasi_identifiers": {"q": {"tree": TREES[0]}}, "nulls": "suppress"}, "rows with NULL"),
        ({"quasi_identifiers": {"q": {"tree": {"A": ["a1", "A"], "B": ["b1"]}}}}, "label of different values"),
    ],
)  # fmt: skip
def test_other_rules_are_refused_by_name(database: Database, changes: Any, why: str) -> None:
    other = "A" if "label" in why else "a2"
    database.table("s", ["q", "p", "d"], [("a1", "x1", "flu"), (other, "x1", "flu"), ("b1", "x1", "flu")])
    database.table("r", ["q", "p", "d"], [("B", "x1", "flu")] * 2)
    spec = spec_of(**{"count": 1, **changes})
    with pytest.raises(UnsupportedError, match=why):
        audit(database.engine, spec, attacks=["refinement"])


# --- Engines ----------------------------------------------------------------------------------------


@pytest.mark.campaign_on("clickhouse")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS if name != "spark"])
@pytest.mark.slow
def test_every_engine_finds_the_same(name: str, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    never_sweep(monkeypatch)
    source = {(value, other): 1 for value in ("a1", "a2", "b1", "b2", "b3") for other in ("x1", "y1", "y2")}
    release = ((("*", "Y"), 5), (("a1", "Y"), 3), (("b1", "Y"), 3), (("b2", "Y"), 3), (("b2", "y1"), 3))
    put(database, source, release)
    expected = attacked(database, spec_of(3))
    assert any(attack.exposed for attack in expected.values())
    with subject_of(name) as subject:
        subject.table(
            "s", dict.fromkeys(NAMES, "text"), [vector for vector, rows in source.items() for _ in range(rows)]
        )
        subject.table("r", dict.fromkeys(NAMES, "text"), [labels for labels, rows in release for _ in range(rows)])
        engine = subject.connect(read_only=name not in ("duckdb", "clickhouse"))
        try:
            ours = audit(engine, spec_of(3), attacks=["refinement"])
        finally:
            engine.close()
    for attack in ours.attacks:
        other = expected[str(attack.about)]
        assert (attack.exposed, attack.notes) == (other.exposed, other.notes)
        assert attack.risk == pytest.approx(other.risk)
