"""Local recoding that resists refinement: no value under a label is impossible for a reader who knows the rules."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations_with_replacement, count, product
from typing import Any

import pytest

from kanon_sql import Spec, anonymize, audit
from kanon_sql.errors import SpecError
from kanon_sql.recode import coins, resist
from tests.conftest import Database
from tests.disclosure.attacks.test_refinement import NAMES, columns, put, source_of, spec_of
from tests.oracles.local import Local, Part, Resisting, Vector, released
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import engine_marks

RESIST = {"method": "local", "resist": "refinement"}
SHARES = ("HOLD", "STOP", "ANY")


def chances(monkeypatch: pytest.MonkeyPatch, loose: float, others: float) -> None:
    """Other chances, and a key that is the next one of a series."""
    monkeypatch.setattr(resist, "LOOSE", loose)
    for name in SHARES:
        monkeypatch.setattr(coins, name, others)
    keys = count()
    monkeypatch.setattr(resist, "new_secret", lambda: f"key {next(keys)}")


def release_of(database: Database, source: Part, spec: Spec) -> tuple[tuple[Vector, int], ...]:
    database.clear()
    put(database, source)
    assert anonymize(database.engine, spec).passed
    return tuple(sorted(Counter(database.rows("r")).items()))


# --- Against every source ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("number", "k", "rows"), [(1, 2, 8), (1, 3, 9), (2, 2, 6)])
def test_every_value_under_a_label_is_possible(number: int, k: int, rows: int) -> None:
    """Of each class, column and value, there is a source that may give the release."""
    draw, resisting = random.Random(k), Resisting(columns(number), k)
    compared = 0
    for _ in range(4 if number == 1 else 1):
        release = released(resisting.release(source_of(draw, number, rows)))
        wanted = {
            (labels, place, value)
            for labels, _ in release
            for place, own in enumerate(resisting.columns)
            for value, path in own.paths.items()
            if labels[place] in path
        }
        compared += len(wanted)
        ways = []
        for labels, size in release:
            values = [[v for v, path in own.paths.items() if label in path]
                      for own, label in zip(resisting.columns, labels, strict=True)]  # fmt: skip
            ways.append(list(combinations_with_replacement(list(product(*values)), size)))
            draw.shuffle(ways[-1])
        for chosen in product(*ways):
            has = {(labels, place, vector[place]) for (labels, _), rows_of in zip(release, chosen, strict=True)
                   for vector in rows_of for place in range(number)}  # fmt: skip
            if wanted & has and release in resisting.possible(dict(Counter(v for own in chosen for v in own))):
                wanted -= has
            if not wanted:
                break
        assert not wanted, release
    assert compared


@pytest.mark.slow
def test_what_refinement_rules_out_comes_of_some_key(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows of B beside two of b1: by the counts alone none of the former has b1."""
    chances(monkeypatch, 0.4, 0.4)
    release = ((("B",), 2), (("b1",), 2))
    other: Part = {("b1",): 3, ("b2",): 1}
    assert released(Local(columns(1), 2).release({("b1",): 2, ("b2",): 1, ("b3",): 1})) == release
    assert released(Local(columns(1), 2).release(other)) != release
    spec = spec_of(2, 1, recoding=RESIST)
    assert any(release_of(database, other, spec) == release for _ in range(40))


# --- The package ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_without_chances_it_is_local_recoding_that_never_sweeps(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    chances(monkeypatch, 0, 0)
    source = source_of(random.Random(2), 2, 40)
    once, twice = (released(Local(columns(2), 3, sweeps=sweeps).release(source)) for sweeps in (False, True))
    assert release_of(database, source, spec_of(3, recoding=RESIST)) == once
    assert once != twice


@pytest.mark.slow
def test_classes_satisfy_and_labels_cover(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    chances(monkeypatch, 0.3, 0.3)
    source, found = source_of(random.Random(4), 2, 60), set()
    for _ in range(3):
        release = release_of(database, source, spec_of(3, recoding=RESIST))
        found.add(release)
        assert sum(rows for _, rows in release) == 60
        assert min(rows for _, rows in release) >= 3
    assert len(found) > 1, "another key, another release"
    assert found != {released(Local(columns(2), 3, sweeps=False).release(source))}


def test_rows_that_stand_for_several_persons_are_refused() -> None:
    mapping = {**spec_of(recoding=RESIST).to_dict(), "count": "n"}
    with pytest.raises(SpecError, match="puts rows that are alike into several classes"):
        Spec.from_dict(mapping)


@pytest.mark.slow
def test_the_audit_knows_that_nothing_is_ruled_out(database: Database) -> None:
    """The same table by the rules of local recoding, and as one that resists."""
    release = ((("B", "x1"), 3), (("b1", "x1"), 3))
    put(database, {(value, "x1"): 1 for value in ("b1", "b2", "b3")}, release)
    for recoding, exposed in (("local", 3), (RESIST, 0)):
        found = audit(database.engine, spec_of(3, recoding=recoding), attacks=["refinement"]).attacks[0]
        assert (found.about, found.exposed) == ("q", exposed)
    assert any("no value under a label is impossible" in note for note in found.notes)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"recoding": {**RESIST, "variant": "best"}}, "is for variant: fast"),
        ({"recoding": {**RESIST, "start": "optimum"}}, "is for variant: fast"),
        ({"recoding": {**RESIST, "ranges": ["q"]}}, "leave ranges out"),
        ({"recoding": {**RESIST, "save_as": "kept"}}, "where new rows go"),
        ({"recoding": {"method": "mondrian", "resist": "refinement"}}, "only the method local takes it"),
        ({"unit": "p", "quasi_identifiers": {"q": None}}, "a unit counts persons"),
        ({"quasi_identifiers": {"q": {"prefix": [1], "maximum_level": 1}}}, "leave maximum_level out"),
        ({"privacy": [{"k_anonymity": 2}, {"k_anonymity": 3}]}, "privacy asks for several"),
    ],
)
def test_what_the_proof_does_not_cover_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError, match=why):
        spec_of(**{"recoding": RESIST, **changes})


@pytest.mark.campaign_on("clickhouse")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS if name != "spark"])
@pytest.mark.slow
def test_every_engine_draws_the_same(name: str, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    source, spec = source_of(random.Random(4), 2, 60), spec_of(3, recoding=RESIST)
    chances(monkeypatch, 0.3, 0.3)
    expected = release_of(database, source, spec)
    chances(monkeypatch, 0.3, 0.3)
    with subject_of(name) as subject:
        subject.table(
            "s", dict.fromkeys(NAMES, "text"), [vector for vector, rows in source.items() for _ in range(rows)]
        )
        engine = subject.connect()
        try:
            assert anonymize(engine, spec).passed
            rows = subject.rows("r")
        finally:
            engine.close()
    assert tuple(sorted(Counter(map(tuple, rows)).items())) == expected
