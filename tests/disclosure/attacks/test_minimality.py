"""The minimality attack: credibilities against every assignment of values to rows, and what it refuses."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import isclose
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import Spec, audit
from kanon_sql.disclosure.attacks import Attack
from kanon_sql.disclosure.attacks.credibility import LARGEST, Refined, credibilities
from kanon_sql.errors import UnsupportedError
from kanon_sql.report.json import audit_schema
from tests.conftest import Database
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import engine_marks
from tests.support.strategies import examples
from tests.support.suppressions import suppressing

# --- Credibility, by trying every assignment ----------------------------------------------------


def tried(classes: Sequence[Refined], most: Callable[[int], int]) -> list[list[Fraction]] | None:
    """The same by listing every way in which the rows of all classes may have the value."""
    people = [[cell for cell, size in enumerate(item.cells) for _ in range(size)] for item in classes]
    ways = [list(combinations(range(len(rows)), item.held)) for rows, item in zip(people, classes, strict=True)]
    violating = 0
    having = [[0] * len(item.cells) for item in classes]
    for assignment in product(*ways):
        counts = [Counter(people[c][row] for row in chosen) for c, chosen in enumerate(assignment)]
        if any(n > most(classes[c].cells[cell]) for c, held in enumerate(counts) for cell, n in held.items()):
            violating += 1
            for c, held in enumerate(counts):
                for cell, n in held.items():
                    having[c][cell] += n
    if not violating:
        return None
    return [
        [Fraction(n, violating * size) for n, size in zip(having[c], item.cells, strict=True)]
        for c, item in enumerate(classes)
    ]


def half(size: int) -> int:
    return size // 2


def all_but_one(size: int) -> int:
    return size - 1


@st.composite
def refined(draw: st.DrawFn) -> Refined:
    cells = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    return Refined(cells, draw(st.integers(0, sum(cells))))


@given(st.lists(refined(), min_size=1, max_size=2), st.sampled_from([half, all_but_one]))
@examples(60)
def test_credibility_is_the_share_of_assignments(classes: list[Refined], most: Callable[[int], int]) -> None:
    expected, found = tried(classes, most), credibilities(classes, most)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        for ours, theirs in zip(found, expected, strict=True):
            assert all(isclose(a, b, abs_tol=1e-9) for a, b in zip(ours, theirs, strict=True))


def test_the_papers_example_is_certain() -> None:
    """Wong, Fu, Wang, Pei 2007, section 1: two people of q1 and four of q2, two have the disease, 2-diversity is asked.

    Only if both people of q1 have it, q1 and q2 had to be merged.
    """
    assert credibilities([Refined((2, 4), 2)], half) == [[1.0, 0.0]]


def test_many_other_classes_explain_it_as_well() -> None:
    """With more classes in which a cell may violate, the condition tells less of each: down to the plain share."""
    last = 1.0
    for count in (1, 2, 10, 1000):
        found = credibilities([Refined((2, 4), 2)] * count, half)
        assert found is not None
        assert 1 / 3 <= found[0][0] <= last
        last = found[0][0]
    assert isclose(last, 1 / 3, abs_tol=1e-9)


def test_degenerate_classes() -> None:
    assert credibilities([], half) is None
    assert credibilities([Refined((4,), 2)], half) is None, "one cell that satisfies"
    assert credibilities([Refined((2, 2), 0)], half) is None, "nobody has it"
    assert credibilities([Refined((1, 1), 2)], half) == [[1.0, 1.0]], "everybody has it"
    large = Refined((LARGEST, 2), 2)
    assert credibilities([large], half) is None, "not looked at"
    found = credibilities([large, Refined((2, 4), 2)], half)
    assert found is not None
    assert isclose(found[0][0], 2 / (LARGEST + 2))
    assert found[1] == [1.0, 0.0]


# --- The attack on tables -----------------------------------------------------------------------

TREE = {"Q": ["q1", "q2"], "R": ["r1", "r2"]}
ALPHA = {"alpha_k_anonymity": {"attribute": "d", "alpha": 0.5, "k": 2, "values": ["HIV"]}}


def spec_of(*privacy: dict[str, Any], limit: float = 0.0, **levels: int) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "quasi_identifiers": {"q": {"tree": TREE, **levels}},
            "sensitive": ["d"], "privacy": list(privacy or [ALPHA]), "suppression": suppressing(limit),
        }
    )  # fmt: skip


PATIENTS = [("q1", "HIV"), ("q1", "HIV"), ("q2", "flu"), ("q2", "flu"), ("q2", "ulcer"), ("q2", "flu")]


def put(database: Database, rows: Sequence[tuple[str | None, str | None]], labels: Mapping[str, str]) -> None:
    database.table("s", ["q", "d"], rows)
    database.table("r", ["q", "d"], [(labels[q or ""], d) for q, d in rows])


TO_LEVEL_1 = {"q1": "Q", "q2": "Q", "r1": "R", "r2": "R"}


def attacked(database: Database, spec: Spec) -> Attack:
    result = audit(database.engine, spec, attacks=["minimality"])
    jsonschema.Draft202012Validator(audit_schema()).validate(result.to_dict())
    assert result.passed == (result.rows > 0), "an estimate decides no verdict"
    assert not any(word in " ".join(result.sql).replace("CREATE TEMP", "") for word in ("HIV", "'q1'", "CREATE"))
    (attack,) = result.attacks
    assert attack.estimate
    return attack


def test_both_people_of_q1_are_exposed(database: Database) -> None:
    put(database, PATIENTS, TO_LEVEL_1)
    attack = attacked(database, spec_of())
    assert (attack.examined, attack.exposed, attack.beyond, attack.risk) == (6, 2, 2, 1.0)
    assert any("assumes that the attacker knows" in note for note in attack.notes)


def test_another_class_that_may_explain_it_protects(database: Database) -> None:
    """Two classes alike, of which one violates, or both: 19 of 29 instead of certainty."""
    rows = [*PATIENTS, *(("r" + q[1], d) for q, d in PATIENTS)]
    put(database, rows, TO_LEVEL_1)
    attack = attacked(database, spec_of())
    expected = tried([Refined((2, 4), 2)] * 2, half)
    assert expected is not None
    assert attack.risk is not None
    assert expected[0][0] == Fraction(19, 29)
    assert isclose(attack.risk, expected[0][0])
    assert attack.exposed == 4


def test_sizes_that_explain_it_tell_nothing(database: Database) -> None:
    """A finer release would have had a class of two, and k is 3: the values had nothing to do with it."""
    put(database, PATIENTS, TO_LEVEL_1)
    three = {"alpha_k_anonymity": {**ALPHA["alpha_k_anonymity"], "k": 3}}
    for spec in (spec_of(three), spec_of(ALPHA, {"k_anonymity": 3}), spec_of(minimum_level=1)):
        attack = attacked(database, spec)
        assert (attack.examined, attack.exposed, attack.risk) == (6, 0, None)
        assert any("tells nothing" in note for note in attack.notes)


def test_distinct_2_diversity_is_violated_by_one_value(database: Database) -> None:
    rows = [("q1", "HIV"), ("q1", "HIV"), ("q2", "flu"), ("q2", "ulcer")]
    put(database, rows, TO_LEVEL_1)
    two = {"l_diversity": {"attribute": "d", "l": 2}}
    attack = attacked(database, spec_of(two))
    # HIV filled q1 or q2 alone: one half each. Nobody is above 1 / 2.
    assert attack.exposed == 0
    assert attack.risk is not None
    assert isclose(attack.risk, 0.5)
    put(database, [*rows, ("q2", "cold")], TO_LEVEL_1)
    attack = attacked(database, spec_of(two))
    assert (attack.exposed, attack.risk) == (2, 1.0), "three rows cannot all be the two with HIV"


@given(
    st.lists(st.tuples(st.sampled_from(["q1", "q2", "r1", "r2"]), st.sampled_from(["HIV", "flu"])), max_size=8),
    st.sampled_from([0.5, 0.67]),
)
@examples(6)
def test_the_attack_is_the_definition(shared_database: Database, rows: list[tuple[str, str]], alpha: float) -> None:
    put(shared_database, rows, TO_LEVEL_1)
    spec = spec_of({"alpha_k_anonymity": {"attribute": "d", "alpha": alpha, "k": 1, "values": ["HIV"]}})
    sizes = Counter(q for q, _ in rows)
    held = Counter(TO_LEVEL_1[q] for q, d in rows if d == "HIV")

    def most(size: int) -> int:
        return max(n for n in range(size + 1) if Fraction(n, size) <= Fraction(alpha))

    classes = [
        Refined(tuple(sizes[cell] for cell in TREE[label] if sizes[cell]), held[label])
        for label in TREE
        if any(sizes[cell] for cell in TREE[label])
    ]
    if any(item.held > most(sum(item.cells)) for item in classes):
        with pytest.raises(UnsupportedError, match="does not satisfy"):
            audit(shared_database.engine, spec, attacks=["minimality"])
        return
    attack = attacked(shared_database, spec)
    expected = tried(classes, most)
    assert attack.examined == len(rows)
    assert (attack.risk is None) == (expected is None)
    if expected is not None and attack.risk is not None:
        above = sum(
            size
            for item, found in zip(classes, expected, strict=True)
            for size, credible in zip(item.cells, found, strict=True)
            if credible > Fraction(alpha) + Fraction(1, 10**9)
        )
        assert attack.exposed == above
        assert isclose(attack.risk, max(credible for found in expected for credible in found), abs_tol=1e-9)


def test_rows_of_nobody(database: Database) -> None:
    put(database, [], TO_LEVEL_1)
    attack = attacked(database, spec_of())
    assert (attack.examined, attack.exposed, attack.risk) == (0, 0, None)


@pytest.mark.parametrize(
    ("spec", "release", "message"),
    [
        (spec_of(limit=0.1), None, "allows rows to be suppressed"),
        (spec_of({"k_anonymity": 2}), None, "expected an alpha_k_anonymity"),
        (spec_of({"l_diversity": {"attribute": "d", "l": 3}}), None, "expected an alpha_k_anonymity"),
        (spec_of(), [("Q", "HIV"), ("q2", "flu")], "not all of one level"),
        (spec_of(), [("Q", "HIV"), ("Q", "flu")], "do not hold the rows"),
        (spec_of(), [("Q", None)] * 6, "rows without a sensitive value"),
        (spec_of(), [("Q", "HIV")] * 6, "does not satisfy"),
    ],
)
def test_what_cannot_be_known_is_refused(
    database: Database, spec: Spec, release: list[tuple[str, str | None]] | None, message: str
) -> None:
    put(database, PATIENTS, TO_LEVEL_1)
    if release is not None:
        database.table("r", ["q", "d"], release)
    with pytest.raises(UnsupportedError, match=message):
        audit(database.engine, spec, attacks=["minimality"])


def test_too_many_cells_are_refused(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["kanon_sql.disclosure.attacks.minimality"], "MOST", 2)
    put(database, PATIENTS, TO_LEVEL_1)
    with pytest.raises(UnsupportedError, match="more than 2 cells"):
        audit(database.engine, spec_of(), attacks=["minimality"])


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS if name != "spark"])
def test_every_engine_finds_the_same(name: str, database: Database) -> None:
    draw = random.Random(2)
    rows = [
        (
            draw.choice(["a1", "a2", "A1", "b1", "b2", None]),
            draw.choice([30, 31, 45]),
            draw.choice(["x", "x", "y", "Y"]),
        )
        for _ in range(40)
    ]
    tree = {"A": ["a1", "a2", "A1"], "B": ["b1", "b2"]}
    label = {value: group for group, values in tree.items() for value in values} | {None: None}
    release = [(label[q], "*", d) for q, _, d in rows]
    columns = {"q": "VARCHAR", "age": "INTEGER", "d": "VARCHAR"}
    database.table("s", columns, rows)
    database.table("r", ["q", "age", "d"], release)
    spec = Spec.from_dict(
        {
            "version": 1, "source": "s", "release": "r", "sensitive": ["d"],
            "quasi_identifiers": {"q": {"tree": tree}, "age": {"intervals": [10]}},
            "privacy": [{"alpha_k_anonymity": {"attribute": "d", "alpha": 0.75, "k": 2}}],
        }
    )  # fmt: skip
    (expected,) = audit(database.engine, spec, attacks=["minimality"]).attacks
    assert expected.risk is not None
    with subject_of(name) as subject:
        subject.table("s", {"q": "text", "age": "integer", "d": "text"}, rows)
        subject.table("r", {"q": "text", "age": "text", "d": "text"}, release)
        engine = subject.connect(read_only=name not in ("duckdb", "clickhouse"))
        try:
            (found,) = audit(engine, spec, attacks=["minimality"]).attacks
        finally:
            engine.close()
    assert (found.examined, found.exposed) == (expected.examined, expected.exposed)
    assert found.risk is not None
    assert isclose(found.risk, expected.risk, abs_tol=1e-9)
