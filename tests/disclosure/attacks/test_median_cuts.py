"""Refinement of Mondrian's classes: what cuts at medians rule out, against every source that gives the release."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema
import pytest

from kanon_sql import Spec, anonymize, audit
from kanon_sql.disclosure.attacks import Attack
from kanon_sql.engines import Scratch
from kanon_sql.errors import UnsupportedError
from kanon_sql.report.json import audit_schema
from tests.conftest import Database
from tests.oracles.medians import Box, Classes, Medians, Row, held_in
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import engine_marks

Release = Mapping[Box, int]


def spec_of(medians: Medians, **changes: Any) -> Spec:
    weights = medians.weights or (1.0,) * len(medians.sizes)
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "privacy": [{"k_anonymity": medians.k}],
            "recoding": {"method": "mondrian", "variant": "relaxed" if medians.relaxed else "strict"},
            "quasi_identifiers": {f"q{index}": {"weight": weight} for index, weight in enumerate(weights)},
            **changes,
        }
    )  # fmt: skip


def label(low: int, high: int, size: int) -> str:
    """A range of places, as texts that are sorted like these."""
    if low == high:
        return f"v{low}"
    if low == 0:
        return "*" if high == size - 1 else f"<= v{high}"
    return f">= v{low}" if high == size - 1 else f"[v{low}, v{high}]"


def labels(box: Box, sizes: Sequence[int]) -> tuple[str, ...]:
    return tuple(label(low, high, size) for (low, high), size in zip(box, sizes, strict=True))


def cells(medians: Medians, rows: Sequence[Row], release: Release) -> dict[str, list[tuple[str, ...]]]:
    """The two tables."""
    return {
        "s": [tuple(f"v{place}" for place in row) for row in rows],
        "r": [labels(box, medians.sizes) for box, count in release.items() for _ in range(count)],
    }


def put(database: Database, medians: Medians, rows: Sequence[Row], release: Release) -> None:
    for name, lines in cells(medians, rows, release).items():
        database.table(name, [f"q{index}" for index, _ in enumerate(medians.sizes)], lines)


def attacked(database: Database, spec: Spec) -> dict[str, Attack]:
    result = audit(database.engine, spec, attacks=["refinement"], reveal=99)
    jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
    assert result.passed, "an estimate decides no verdict"
    return {str(attack.about): attack for attack in result.attacks}


def certain_of(attack: Attack) -> int:
    told = re.search(r"is certain for (\d+) rows", attack.notes[1])
    assert told is not None
    return int(told[1])


def rows_of(classes: Classes) -> list[Row]:
    return [row for held in classes.values() for row, count in held.items() for _ in range(count)]


def truth(worlds: Sequence[Classes], release: Release, column: int) -> tuple[dict[Box, float], int]:
    """The share of impossible values by class, and how many rows certainly have which value, of ranges."""
    shares, certain = {}, 0
    for box in release:
        if box[column][0] < box[column][1]:
            held = held_in(worlds, box, column)
            shares[box] = sum(counts == {0} for counts in held.values()) / len(held)
            certain += sum(min(counts) for counts in held.values())
    return shares, certain


# --- Against every source ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("relaxed", [False, True])
def test_the_oracle_recodes_as_the_package_does(database: Database, relaxed: bool) -> None:
    draw = random.Random(7)
    for sizes, k, weights in (((6,), 2, None), ((4, 3), 3, (1.0, 3.0)), ((3, 3, 3), 2, None)):
        medians = Medians(sizes, k, weights, relaxed)
        rows = [tuple(draw.choice([0, 0, *range(size)]) for size in sizes) for _ in range(20)]
        rows += [tuple(min(place, size - 1) for size in sizes) for place in range(max(sizes))]
        release = {box: held.total() for box, held in medians.classes(tuple(sorted(rows))).items()}
        database.table("s", [f"q{index}" for index, _ in enumerate(sizes)], cells(medians, rows, release)["s"])
        assert anonymize(database.engine, spec_of(medians)).passed
        assert sorted(database.rows("r")) == sorted(cells(medians, rows, release)["r"])
        database.clear()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("medians", "rows", "least"),
    [
        (Medians((5,), 2), 9, 1.0),
        (Medians((4, 2), 2, (1.0, 2.0)), 7, 0.9),
        (Medians((3, 2), 3), 9, 0.9),
        (Medians((4,), 2, relaxed=True), 9, 0.5),
    ],
)
def test_what_is_ruled_out_is_impossible_in_every_source(
    database: Database, medians: Medians, rows: int, least: float
) -> None:
    """No more is concluded than every source has in common, and nearly all of that."""
    every = medians.worlds(rows)
    draw, found, there = random.Random(3), 0, 0
    impossible = [one for one in every if any(any(truth(every[one], dict(one), 0)[0].values()) for _ in one)]
    chosen = [
        *draw.sample(sorted(every, key=sorted), 4),
        *draw.sample(sorted(impossible, key=sorted), min(3, len(impossible))),
    ]
    for one in chosen:
        worlds, release = every[one], dict(one)
        put(database, medians, rows_of(worlds[0]), release)
        for column, attack in enumerate(attacked(database, spec_of(medians)).values()):
            shares, certain = truth(worlds, release, column)
            by_labels = {labels(box, medians.sizes): share for box, share in shares.items()}
            assert all(by_labels[tuple(case["values"].values())] for case in attack.revealed or ())
            assert attack.risk is not None
            assert attack.risk <= max(shares.values(), default=0) + 1e-9
            assert certain_of(attack) <= certain
            found += attack.exposed + certain_of(attack)
            there += sum(release[box] for box, share in shares.items() if share) + certain
        database.clear()
    assert found >= least * there > 0


# --- Rule by rule -----------------------------------------------------------------------------------


def test_a_range_of_two_rows_is_two_values(database: Database) -> None:
    """Rows with v0 and v3 are all that there are, so v1 and v2 are elsewhere."""
    medians = Medians((2, 4), 2)
    release = {((0, 0), (0, 3)): 2, ((1, 1), (1, 2)): 2}
    put(database, medians, [(0, 0), (0, 3), (1, 1), (1, 2)], release)
    first, second = attacked(database, spec_of(medians)).values()
    assert (first.exposed, first.risk, certain_of(first)) == (0, 0, 0)
    assert (second.exposed, second.risk, certain_of(second)) == (2, 0.5, 4)


def test_a_class_that_stays_whole_has_a_value_of_many(database: Database) -> None:
    """Of eight rows, with k = 4, at most 3 are on either side of a value; 3 and 3 have the others where they occur."""
    medians = Medians((7,), 4)
    put(database, medians, [(0,), (1,), (2,), (3,), (3,), (4,), (5,), (6,)], {((0, 6),): 8})
    (found,) = attacked(database, spec_of(medians)).values()
    assert (found.exposed, certain_of(found)) == (0, 8)


def test_a_cut_beside_the_median_tells_how_many_rows_have_the_value(database: Database) -> None:
    """Seven of nine rows below the cut: of these at least six have the last value, and one has the first."""
    medians = Medians((3,), 2)
    put(database, medians, [(0,), *[(1,)] * 6, (2,), (2,)], {((0, 1),): 7, ((2, 2),): 2})
    (found,) = attacked(database, spec_of(medians)).values()
    assert (found.exposed, certain_of(found)) == (0, 7)
    put(database, medians, [(0,), *[(1,)] * 5, (2,), (2,), (2,)], {((0, 1),): 6, ((2, 2),): 3})
    (found,) = attacked(database, spec_of(medians)).values()
    assert (found.exposed, certain_of(found)) == (0, 5)


@pytest.mark.parametrize(
    ("release", "why"),
    [
        ({((0, 1),): 1, ((2, 3),): 3}, "1 classes are too small"),
        ({((0, 1),): 2, ((3, 3),): 2}, "1 values that occur are under no label"),
        ({((0, 2),): 2, ((1, 3),): 2}, "cuts at medians do not result in its classes"),
    ],
)
def test_a_release_that_contradicts_the_rules_is_refused(database: Database, release: Release, why: str) -> None:
    medians = Medians((4,), 2)
    put(database, medians, [(0,), (1,), (2,), (3,)], release)
    with pytest.raises(UnsupportedError, match=why):
        attacked(database, spec_of(medians))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"nulls": "suppress"}, "rows with NULL"),
        ({"missing": ["?"]}, "codes that are read as NULL"),
        ({"privacy": [{"k_anonymity": {"k": 3, "quasi_identifiers": ["q0"]}}]}, "over some of them"),
    ],
)
def test_other_rules_are_refused_by_name(database: Database, changes: Any, why: str) -> None:
    medians = Medians((2,), 2)
    put(database, medians, [(0,), (1,)], {((0, 1),): 2})
    with pytest.raises(UnsupportedError, match=why):
        audit(database.engine, spec_of(medians, **changes), attacks=["refinement"])


def test_without_temporary_tables_it_is_refused(database: Database) -> None:
    medians = Medians((2,), 2)
    put(database, medians, [(0,), (1,)], {((0, 1),): 2})
    database.engine.scratch = Scratch("inline", (), "asked for")
    with pytest.raises(UnsupportedError, match="takes temporary tables"):
        attacked(database, spec_of(medians))


@pytest.mark.slow
def test_null_stands_behind_all_values(database: Database) -> None:
    """A label with NULL says that a row has NULL; with three rows nothing else is left."""
    spec = spec_of(Medians((4,), 3))
    database.table("s", {"q0": "INTEGER"}, [[number] for number in (1, 2, 3, 5, 7, None)])
    database.table("r", ["q0"], [*[["<= 3"]] * 3, *[[">= 5 or NULL"]] * 3])
    (found,) = attacked(database, spec).values()
    assert (found.exposed, certain_of(found)) == (0, 6)
    database.table("s", {"q0": "INTEGER", "q1": "INTEGER"}, [(1, 1), (2, 1), (2, 1), (1, 2), (2, 2), (None, 2)])
    database.table("r", ["q0", "q1"], [*[["<= 2", "1"]] * 3, *[["*", "2"]] * 3])
    first, _ = attacked(database, spec_of(Medians((2, 2), 3))).values()
    assert (first.exposed, certain_of(first)) == (0, 6), "with 1 twice, three rows would be below a cut"


# --- Engines ----------------------------------------------------------------------------------------


@pytest.mark.campaign_on("clickhouse")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS if name != "spark"])
@pytest.mark.slow
def test_every_engine_finds_the_same(name: str, database: Database) -> None:
    medians, draw = Medians((6, 6), 2), random.Random(1)
    rows = [(draw.randrange(6), draw.choice([0, 0, *range(6)])) for _ in range(24)]
    rows += [(place, place) for place in range(6)]
    release = {box: held.total() for box, held in medians.classes(tuple(sorted(rows))).items()}
    put(database, medians, rows, release)
    expected = attacked(database, spec_of(medians))
    assert any(attack.exposed for attack in expected.values())
    with subject_of(name) as subject:
        for table, lines in cells(medians, rows, release).items():
            subject.table(table, dict.fromkeys(("q0", "q1"), "text"), lines)
        engine = subject.connect(read_only=name not in ("duckdb", "clickhouse"))
        try:
            ours = audit(engine, spec_of(medians), attacks=["refinement"])
        finally:
            engine.close()
    for attack in ours.attacks:
        other = expected[str(attack.about)]
        assert (attack.exposed, attack.notes) == (other.exposed, other.notes)
        assert attack.risk == pytest.approx(other.risk)
