"""m-invariance: the tables of Xiao and Tao (SIGMOD 2007), an oracle over lists, and degenerate cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.disclosure.invariance import Republication
from kanon_sql.errors import SpecError
from kanon_sql.report.json import result_schema
from tests.conftest import Database
from tests.support.literature import table
from tests.support.strategies import examples

Rows = Sequence[Mapping[str, Any]]

# Xiao, Tao: m-Invariance (SIGMOD 2007): the first release, and two of the table as it was later: one that is
# generalized like any other, and one that is 2-invariant, with two counterfeits (rows of nobody).
FIRST = table(
    "name | age | zip | disease",
    "Bob | [21, 22] | [12k, 14k] | dyspepsia",
    "Alice | [21, 22] | [12k, 14k] | bronchitis",
    "Andy | [23, 24] | [18k, 25k] | flu",
    "David | [23, 24] | [18k, 25k] | gastritis",
    "Gary | [36, 41] | [20k, 27k] | flu",
    "Helen | [36, 41] | [20k, 27k] | gastritis",
    "Jane | [37, 43] | [26k, 35k] | dyspepsia",
    "Ken | [37, 43] | [26k, 35k] | flu",
    "Linda | [37, 43] | [26k, 35k] | gastritis",
    "Paul | [52, 56] | [33k, 34k] | dyspepsia",
    "Steve | [52, 56] | [33k, 34k] | gastritis",
)
SECOND = table(
    "name | age | zip | disease",
    "Bob | [21, 23] | [12k, 25k] | dyspepsia",
    "David | [21, 23] | [12k, 25k] | gastritis",
    "Emily | [25, 43] | [21k, 33k] | flu",
    "Jane | [25, 43] | [21k, 33k] | dyspepsia",
    "Linda | [25, 43] | [21k, 33k] | gastritis",
    "Gary | [41, 46] | [20k, 30k] | flu",
    "Mary | [41, 46] | [20k, 30k] | gastritis",
    "Ray | [54, 56] | [31k, 34k] | dyspepsia",
    "Steve | [54, 56] | [31k, 34k] | gastritis",
    "Tom | [60, 65] | [36k, 44k] | gastritis",
    "Vince | [60, 65] | [36k, 44k] | flu",
)
INVARIANT = table(
    "name | age | zip | disease",
    "Bob | [21, 22] | [12k, 14k] | dyspepsia",
    " | [21, 22] | [12k, 14k] | bronchitis",
    "David | [23, 25] | [21k, 25k] | gastritis",
    "Emily | [23, 25] | [21k, 25k] | flu",
    "Jane | [37, 43] | [26k, 33k] | dyspepsia",
    " | [37, 43] | [26k, 33k] | flu",
    "Linda | [37, 43] | [26k, 33k] | gastritis",
    "Gary | [41, 46] | [20k, 30k] | flu",
    "Mary | [41, 46] | [20k, 30k] | gastritis",
    "Ray | [54, 56] | [31k, 34k] | dyspepsia",
    "Steve | [54, 56] | [31k, 34k] | gastritis",
    "Tom | [60, 65] | [36k, 44k] | gastritis",
    "Vince | [60, 65] | [36k, 44k] | flu",
)


def load(database: Database, name: str, rows: Rows) -> None:
    columns = ["name", "age", "zip", "disease"]
    database.table(name, columns, [[row[column] or None for column in columns] for row in rows])


def compared(database: Database, m: int, **more: Any) -> kanon_sql.results.Check:
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "nowhere", "identifiers": ["name"], "sensitive": ["disease"],
            "quasi_identifiers": {"age": None, "zip": None}, "privacy": [{"k_anonymity": 1}], **more,
        }
    )  # fmt: skip
    return kanon_sql.check(database.engine, spec, "now", republication=Republication("before", "name", m))


def measured(database: Database, before: Rows, now: Rows, m: int) -> tuple[bool, dict[str, Any]]:
    load(database, "before", before)
    load(database, "now", now)
    result = compared(database, m)
    jsonschema.Draft202012Validator(result_schema()).validate(result.to_dict())
    achieved = dict(result.achieved["m_invariance(disease)"])
    assert achieved.pop("requirement") == f"{m}-invariance of disease since before"
    return result.passed, achieved


def test_the_papers_second_table_rules_values_out(database: Database) -> None:
    """Bob is in {dyspepsia, bronchitis} and then in {dyspepsia, gastritis}; David's class changes as well."""
    passed, achieved = measured(database, FIRST, SECOND, 2)
    assert not passed
    assert achieved == {"m": None, "violating_classes": 0, "violating_rows": 0, "changed_persons": 2}


def test_the_papers_third_table_is_2_invariant(database: Database) -> None:
    passed, achieved = measured(database, FIRST, INVARIANT, 2)
    assert passed
    assert achieved == {"m": 2, "violating_classes": 0, "violating_rows": 0, "changed_persons": 0}
    passed, achieved = measured(database, FIRST, INVARIANT, 3)
    assert not passed
    classes_of_two = 4 + 5
    assert (achieved["m"], achieved["violating_classes"], achieved["violating_rows"]) == (2, classes_of_two, 18)


def test_nobody_and_the_same_table_twice(database: Database) -> None:
    assert measured(database, [], [], 2) == (
        False, {"m": None, "violating_classes": 0, "violating_rows": 0, "changed_persons": 0},
    )  # fmt: skip
    assert measured(database, FIRST, FIRST, 2)[0]
    assert not measured(database, FIRST, [], 2)[0], "a table without rows is no version of it"


def test_versions_that_share_nobody_are_said_to(database: Database) -> None:
    """Names in capitals are other persons: nothing was compared, which the verdict alone does not tell."""
    for name, shared in (("BOB", False), ("Bob", True), ("", True)):
        load(database, "before", [{**row, "name": "Bob" if row["name"] == "Bob" else ""} for row in FIRST])
        load(database, "now", [{**row, "name": name if row["name"] == "Bob" else ""} for row in FIRST])
        result = compared(database, 2)
        assert result.passed
        assert any("no person of before is in now" in note for note in result.notes) is not shared


def test_a_null_is_no_value_and_a_value_twice_is_none(database: Database) -> None:
    unknown = [{**row, "disease": "" if row["name"] == "Bob" else row["disease"]} for row in FIRST]
    passed, achieved = measured(database, unknown, unknown, 2)
    assert (passed, achieved["violating_classes"], achieved["m"]) == (False, 2, None)
    twice = [{**row, "disease": "bronchitis" if row["name"] == "Bob" else row["disease"]} for row in FIRST]
    passed, achieved = measured(database, FIRST, twice, 2)
    assert (passed, achieved["violating_classes"], achieved["changed_persons"]) == (False, 1, 2)


def test_what_cannot_be_compared(database: Database) -> None:
    load(database, "before", FIRST)
    load(database, "now", [*INVARIANT, FIRST[1], FIRST[1]])
    with pytest.raises(SpecError, match=r"1 persons .* have several rows in one version") as refused:
        compared(database, 2)
    assert "Alice" not in str(refused.value)
    with pytest.raises(SpecError, match="a whole number of at least 1"):
        compared(database, 0)
    with pytest.raises(SpecError, match="m-invariance is about a sensitive attribute"):
        compared(database, 2, sensitive=[])
    database.connection.execute("ALTER TABLE before RENAME disease TO illness")
    with pytest.raises(SpecError, match="before: there is no column 'disease'"):
        compared(database, 2)
    database.connection.execute("ALTER TABLE before ADD COLUMN disease INTEGER")
    with pytest.raises(SpecError, match="'disease' is INTEGER in before and VARCHAR now"):
        compared(database, 2)


# --- the oracle: the definition, over lists ---------------------------------------------------------


def expected(before: Rows, now: Rows, m: int) -> tuple[bool, dict[str, Any]]:
    """Definitions 3 to 5 of the paper; a version without rows is none."""

    def groups(rows: Rows) -> dict[tuple[Any, Any], list[Mapping[str, Any]]]:
        return {
            (row["age"], row["zip"]): [r for r in rows if (r["age"], r["zip"]) == (row["age"], row["zip"])]
            for row in rows
        }

    def values(group: Rows) -> list[Any]:
        return [row["disease"] for row in group if row["disease"]]

    both = [*groups(before).values(), *groups(now).values()]
    unique = [len(set(values(group))) == len(group) for group in both]
    failing = [g for g, fine in zip(both, unique, strict=True) if not fine or len(g) < m]
    signatures = [
        {row["name"]: frozenset(values(group)) for group in groups(rows).values() for row in group if row["name"]}
        for rows in (before, now)
    ]
    changed = [name for name in signatures[0] if signatures[1].get(name, signatures[0][name]) != signatures[0][name]]
    reached = min(map(len, both)) if both and all(unique) and not changed else None
    return bool(now) and not failing and not changed, {
        "m": reached,
        "violating_classes": len(failing),
        "violating_rows": sum(map(len, failing)),
        "changed_persons": len(changed),
    }


@st.composite
def versions(draw: st.DrawFn) -> Rows:
    names = draw(st.lists(st.sampled_from(["Ada", "Bob", "ada", "Cy", "Di", "Ed", "Fay"]), unique=True, max_size=6))
    classes = st.sampled_from([("a", "1"), ("A", "1"), ("a", "2")])
    diseases = st.sampled_from(["flu", "Flu", "cold", "hiv", "flu", "cold", ""])
    rows = []
    for name in [*names, *[""] * draw(st.integers(0, 2))]:
        age, code = draw(classes)
        rows.append({"name": name, "age": age, "zip": code, "disease": draw(diseases)})
    return rows


@pytest.mark.slow
@examples(40)
@given(versions(), versions(), st.integers(1, 3), st.booleans())
def test_the_definition(shared_database: Database, before: Rows, now: Rows, m: int, alike: bool) -> None:
    if alike:  # independent versions are hardly ever invariant
        now = [*before[1:], {**before[0], "name": ""}] if before else before
    assert measured(shared_database, before, now, m) == expected(before, now, m)
