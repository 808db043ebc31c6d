"""Allard's lecture on the anonymization of personal data: its examples of l-diversity and of Bayes-optimal privacy.

Of the lecture are: the counts 7, 6, 5, 3, 1, 1 and their levels; and the background of 0.1, 0.01 and 0.14 for a person
and 0.083 for everybody else, with beliefs of .4, .04 and .56 before the release and .46, 0 and .54 after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest

import kanon_sql
from kanon_sql.spec import Spec
from tests.conftest import Database
from tests.disclosure.attacks.test_recursive_levels import left, levels_of
from tests.oracles.beliefs import by_theorem, by_worlds, prior

# --- recursive (c, l)-diversity -------------------------------------------------------------------------

COUNTS = (7, 6, 5, 3, 1, 1)
"""With c = 1: (1, 3)-diverse; without the second value (1, 2), without the sixth (1, 3)."""
WITHOUT = [((), 3), ((1,), 2), ((5,), 3)]


def class_of(counts: Sequence[int]) -> list[tuple[str, str]]:
    return [("a", f"v{number}") for number, count in enumerate(counts) for _ in range(count)]


def tables(database: Database, counts: Sequence[int]) -> None:
    for name in ("people", "released"):
        database.table(name, ["q", "d"], class_of(counts))


@pytest.mark.slow
@pytest.mark.parametrize(("ruled_out", "level"), WITHOUT)
def test_the_level_of_what_is_left(database: Database, ruled_out: tuple[int, ...], level: int) -> None:
    tables(database, [count for number, count in enumerate(COUNTS) if number not in ruled_out])
    for l in (level, level + 1):  # noqa: E741
        requirement = {"l_diversity": {"attribute": "d", "l": l, "variant": "recursive", "c": 1}}
        spec = {"version": 1, "source": "people", "quasi_identifiers": {"q": None}, "sensitive": ["d"]}
        result = kanon_sql.check(database.engine, Spec.from_dict({**spec, "privacy": [requirement]}), "people")
        assert result.passed is (l == level)


@pytest.mark.slow
def test_audit_states_the_level_that_n_negations_leave(database: Database) -> None:
    """One negation may be of the second value, which leaves (1, 2); two leave (1, 1)."""
    tables(database, COUNTS)
    stated = {negations: levels_of(database.engine, negations, 1) for negations in (1, 2, 3)}
    assert stated == {negations: (3, left(class_of(COUNTS), negations, Fraction(1))) for negations in (1, 2, 3)}
    assert (stated[1], stated[2]) == ((3, 2), (3, 1))


# --- Bayes-optimal privacy ---------------------------------------------------------------------------------

OTHERS = ("ann", "ben", "cid")
BACKGROUND = {
    (("don",), "a"): Fraction(10, 100),
    (("don",), "b"): Fraction(1, 100),
    (("don",), "c"): Fraction(14, 100),
    **{((other,), value): Fraction(83, 1000) for other in OTHERS for value in "abc"},
}
"""The nine shares of 0.083 are three persons' shares of three values: with those of the person they add up to 1."""
PRINTED = {"a": 0.46, "b": 0, "c": 0.54}


def test_the_beliefs_of_the_lecture() -> None:
    """A class of the person and one other, with the first and the third value: .465 and .535 by theorem 3.1.

    The lecture prints .46 and .54; with two others in the class it would be .451 and .549, with three .443 and .557.
    """
    assert abs(1 - sum(BACKGROUND.values())) < Fraction(4, 1000)
    before = prior(BACKGROUND, ("don",))
    assert before is not None
    assert [float(before[value]) for value in "abc"] == [0.4, 0.04, 0.56]
    found = by_worlds(BACKGROUND, ("don",), {("don",), ("ann",)}, ["a", "c"])
    assert found is not None
    assert found == by_theorem(BACKGROUND, ("don",), {("don",), ("ann",)}, ["a", "c"])
    assert {value: round(float(belief), 3) for value, belief in found.items()} == {"a": 0.465, "b": 0, "c": 0.535}
    assert all(abs(float(found[value]) - printed) < 0.006 for value, printed in PRINTED.items())
    for others, first in ((2, 0.451), (3, 0.443)):
        members = {("don",), *((other,) for other in OTHERS[:others])}
        more = by_theorem(BACKGROUND, ("don",), members, ["a", "c"])
        assert more is not None
        assert round(float(more["a"]), 3) == first


@pytest.mark.slow
def test_check_finds_the_beliefs_of_the_lecture(database: Database) -> None:
    """Between which thresholds a disclosure begins says what Don is believed to have: here his value is the first."""
    people = [("don", "a"), ("ann", "c"), ("ben", "a"), ("cid", "b")]
    database.table("people", ["who", "s"], people)
    labels = {"don": "x", "ann": "x", "ben": "y", "cid": "y"}
    database.table("h_who", ["who", "pair", "all"], [(who, label, "*") for who, label in labels.items()])
    database.table("released", ["who", "s"], [(labels[who], value) for who, value in people])
    rows = [(who, value, float(share)) for ((who,), value), share in BACKGROUND.items()]
    database.table("background", {"who": "VARCHAR", "s": "VARCHAR", "w": "DOUBLE"}, rows)

    def exposed(**asked: float) -> int:
        requirement = {"bayes_optimal": {"attribute": "s", "background": "background", "weight": "w", **asked}}
        spec = {
            "version": 1, "source": "people", "release": "released", "quasi_identifiers": {"who": {"table": "h_who"}},
            "sensitive": ["s"], "privacy": [requirement],
        }  # fmt: skip
        (achieved,) = kanon_sql.check(database.engine, Spec.from_dict(spec)).achieved.values()
        return int(achieved["exposed_persons"])

    # Ben's and Cid's beliefs become .5, which a delta of .49 does not call a disclosure; Ann's .451.
    assert exposed(delta=0.536) - exposed(delta=0.534) == 1, "Don's first value: above .464, and not above .466"
    assert exposed(epsilon=0.03) >= 1, "the second value, .04 before, is ruled out"
    assert exposed(epsilon=0.03) - exposed(epsilon=0.045) == 1, "for others, it was possible with a third"
