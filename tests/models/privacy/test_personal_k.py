"""Personal k-anonymity by hand: wishes of rows and persons, those without one, merging, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import SpecError
from tests.conftest import Database
from tests.support.pitfalls import spec_of
from tests.support.specs import make, refusals

WISHES = {"k_anonymity": {"column": "s", "default": 2}}


def table(database: Database, *members: tuple[str, int | None]) -> None:
    database.table("people", {"q": "VARCHAR", "s": "INTEGER"}, members)


def check(database: Database, **more: Any) -> dict[str, Any]:
    spec = spec_of(["q"], [WISHES], sensitive=["s"], **more)
    return dict(kanon_sql.check(database.engine, spec, "people").achieved["personal_k_anonymity(s)"])


def test_a_class_is_as_large_as_its_largest_wish(database: Database) -> None:
    """Three rows, of which one wishes for 3; two rows, of which one wishes for 3 as well."""
    table(database, ("a", 3), ("a", 1), ("a", None), ("b", 3), ("b", 1))
    assert check(database) == {
        "requirement": "personal k-anonymity by s (2 where NULL)",
        "wanted_k": 3, "k": 2, "violating_classes": 1, "violating_rows": 2,
    }  # fmt: skip


def test_who_wishes_for_nothing_has_the_default(database: Database) -> None:
    table(database, ("a", None), ("b", 1), ("c", 0), ("d", -7))
    found = check(database)
    assert (found["violating_classes"], found["wanted_k"]) == (1, 2)


def test_persons_are_counted_and_every_row_of_theirs_may_wish(database: Database) -> None:
    """Two persons with three rows: one of their rows wishes for 3, which the rows are and the persons are not."""
    columns = {"q": "VARCHAR", "s": "INTEGER", "who": "VARCHAR"}
    database.table("people", columns, [("a", 3, "x"), ("a", 1, "x"), ("a", 2, "y")])
    assert check(database)["violating_classes"] == 0
    assert check(database, unit="who")["violating_classes"] == 1
    # A row of nobody adds no person, and its wish counts all the same.
    database.table("people", columns, [("a", 1, "x"), ("a", 2, "y"), ("a", 3, None)])
    assert check(database, unit="who")["violating_classes"] == 1


@pytest.mark.slow
def test_no_search_infers_from_a_class_that_satisfies(database: Database) -> None:
    """Two rows of `a` satisfy, one of `b` wishes for 9 and goes; at the top all three are in a class of too few."""
    table(database, ("a", 2), ("a", 2), ("b", 9))
    tree = {"q": {"tree": {"*": ["a", "b"]}}}
    for algorithm in ("optimal", "exhaustive", "incognito"):
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "people", "quasi_identifiers": tree, "sensitive": ["s"], "privacy": [WISHES],
                "suppression": {"max_rows": 1}, "search": {"algorithm": algorithm},
            }
        )  # fmt: skip
        result = kanon_sql.plan(database.engine, spec)
        assert result.node == {"q": 0}, algorithm
        assert result.rows["suppressed"] == 1
        assert result.search is not None
        assert result.search.proven


def test_wishes_are_whole_numbers(database: Database) -> None:
    database.table("people", {"q": "VARCHAR", "s": "VARCHAR"}, [("a", "3")])
    with pytest.raises(SpecError, match="expected a column of whole numbers, and 's' is VARCHAR"):
        check(database)


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ({"column": "s"}, "missing 'default'"),
        ({"column": "s", "default": 2, "k": 3}, "leave 'k' out"),
        ({"default": 2}, "missing 'k'"),
        ({"k": 3, "default": 2}, "'default' needs a 'column' with the k of each"),
        ({}, "missing 'k'"),
        ({"column": "s", "default": 2, "quasi_identifiers": ["x"]}, "the k of each row ('column') applies to all"),
        ({"column": "unlisted", "default": 2}, "is not listed under sensitive"),
    ],
)
def test_what_a_spec_may_not_say(requirement: dict[str, Any], message: str) -> None:
    problems = refusals(quasi_identifiers={"x": {}}, sensitive=["s"], privacy=[{"k_anonymity": requirement}])
    assert any(message in problem for problem in problems), problems


def test_it_is_written_as_it_was_read() -> None:
    spec = make(quasi_identifiers={"x": {}}, sensitive=["s"], privacy=[WISHES])
    assert spec.privacy[0].to_dict() == WISHES


def asked(recoding: Any, **more: Any) -> dict[str, Any]:
    return {
        "version": 1, "source": "people", "release": "people_release", "quasi_identifiers": {"q": None},
        "sensitive": ["s"], "privacy": [WISHES], "suppression": {"max_rows": 0}, "recoding": recoding, **more,
    }  # fmt: skip


@pytest.mark.slow
def test_alike_rows_that_wish_for_different_k_stay_together(database: Database) -> None:
    """Micro-aggregation divides alike rows only where it does not matter which of them go where."""
    members = [(value, 6 if (value, copy) == (1, 0) else 2) for value in range(4) for copy in range(4)]
    database.table("people", {"q": "INTEGER", "s": "INTEGER"}, members)
    spec = kanon_sql.Spec.from_dict(asked({"method": "microaggregation", "columns": {"q": "mean"}}))
    assert kanon_sql.anonymize(database.engine, spec).raise_for_failure().recoding is not None
    classes: dict[Any, list[int]] = {}
    for number, wish in database.rows("people_release"):
        classes.setdefault(number, []).append(wish)
    assert len(classes) > 1
    assert all(len(wishes) >= max(wishes) for wishes in classes.values())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"recoding": {"method": "mondrian", "variant": "relaxed"}}, "privacy takes the k of each row from a column"),
        ({"recoding": "forest"}, "privacy takes the k of each row from a column"),
        (
            {"recoding": "full_domain", "search": {"algorithm": "samarati", "distance_vectors": True}},
            "has the k of each row in a column; leave distance_vectors out",
        ),
    ],
)
def test_what_cannot_tell_alike_rows_apart_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        kanon_sql.Spec.from_dict({**asked("local"), **changes})
