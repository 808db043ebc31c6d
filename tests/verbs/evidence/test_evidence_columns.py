"""The columns of evidence: the data dictionary, ZIP codes against a population, and HIPAA's list."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines import Deadline
from kanon_sql.errors import SpecError
from kanon_sql.frequency import open_table
from kanon_sql.spec import Spec
from kanon_sql.verbs.evidence import Evidence
from kanon_sql.verbs.evidence.columns import Entry, level_meaning
from kanon_sql.verbs.evidence.safe_harbor import safe_harbor
from kanon_sql.verbs.evidence.zip_codes import ZipCodes, ZipPopulation, count_zip_codes
from kanon_sql.verbs.init.hipaa import KINDS
from tests.conftest import Database
from tests.oracles.evidence import zip_figures
from tests.support.strategies import examples


def spec_of(quasi_identifiers: dict[str, Any], **more: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "quasi_identifiers": quasi_identifiers,
            "privacy": [{"k_anonymity": 2}], **more,
        }
    )  # fmt: skip


def entries(found: Evidence) -> dict[str, tuple[str, str, int | None, int | None, str]]:
    return {item.column: (item.role, item.became, item.level, item.height, item.meaning) for item in found.columns}


# --- The data dictionary ----------------------------------------------------------------------


@pytest.mark.slow
def test_every_column_is_in_the_dictionary(database: Database) -> None:
    names = {"id": "VARCHAR", "age": "INTEGER", "sex": "VARCHAR", "zip": "VARCHAR", "born": "DATE",
             "illness": "VARCHAR", "cost": "INTEGER", "ward": "VARCHAR"}  # fmt: skip
    rows = [
        (
            f"i{n}",
            20 + n % 2,
            "fm"[n % 2],
            f"94{n % 10}{n // 10 % 10}0",
            f"19{40 + n % 40}-01-01",
            f"v{n % 3}",
            n % 5,
            "w",
        )
        for n in range(200)
    ]
    database.table("people", names, rows)
    spec = spec_of(
        {"age": {"intervals": [10, 20], "top": 90, "minimum_level": 1}, "sex": {"maximum_level": 0},
         "zip": {"prefix": [3, 2], "minimum_level": 2, "maximum_level": 2},
         "born": {"dates": ["year", "decade"], "minimum_level": 3}},
        identifiers=["id"], sensitive=["illness"], keep=["cost"],
        steps={"columns": {"cost": {"round": 5}}}, privacy=[{"k_anonymity": 20}],
    )  # fmt: skip
    result = kanon_sql.anonymize(database.engine, spec)
    assert result.passed
    assert result.node is not None
    found = entries(kanon_sql.evidence(database.engine, spec))
    assert list(found) == list(names)
    assert found["id"] == ("identifier", "dropped", None, None, "not in the release")
    assert found["ward"] == ("not named in the spec", "dropped", None, None, "not in the release")
    assert found["sex"] == ("quasi-identifier", "released", 0, 1, "the value as it is in the source")
    assert found["zip"] == ("quasi-identifier", "generalized", 2, 3, "the first 2 characters")
    assert found["born"] == ("quasi-identifier", "withheld", 3, 3, "one label in every row, which reveals nothing")
    assert found["age"][1:3] == ("generalized", 1)
    assert found["age"][4] == "intervals of 10, one group from 90"
    assert found["illness"] == ("sensitive attribute", "released", None, None, "the value as it is in the source")
    assert found["cost"] == ("kept as it is", "released", None, None, "rounded to multiples of 5")


def test_one_label_in_every_row_is_not_withheld_where_nobody_says_so(database: Database) -> None:
    """A table with one raw value throughout looks like one at its top, and it is not for us to say that it is."""
    for table in ("people", "released"):
        database.table(table, ["ssn", "zip"], [("123-45-6789", "94110")] * 4)
    found = kanon_sql.evidence(database.engine, spec_of({"ssn": {}, "zip": {"prefix": [3]}}))
    assert entries(found)["ssn"][1:] == (
        "generalized", None, 1, "unknown, possibly the value: there is no manifest of this table",
    )  # fmt: skip
    answers = {item.letter: item.answer for item in found.safe_harbor}
    assert answers["G"] == "not within the rule"
    assert answers["B"] == "to be looked at"


@pytest.mark.slow
def test_levels_that_differ_by_class_are_not_given_one(database: Database) -> None:
    rows = [(f"{10 + n % 9}", f"b{n % 2}") for n in range(60)]
    database.table("people", ["q0", "q1"], rows)
    spec = spec_of({"q0": {"prefix": [1]}, "q1": {}}, recoding="local", privacy=[{"k_anonymity": 7}])
    assert kanon_sql.anonymize(database.engine, spec).passed
    found = entries(kanon_sql.evidence(database.engine, spec))
    told = [item for item in found.values() if item[1] == "generalized"]
    assert told
    assert all(level is None and "recoding: local" in meaning for _, _, level, _, meaning in told)


def test_columns_that_the_spec_does_not_name_are_pointed_at(database: Database) -> None:
    database.table("people", ["q0", "note"], [("a", "x")] * 4)
    database.table("released", ["q0", "note", "row_number"], [("a", "x", "1")] * 4)
    found = entries(kanon_sql.evidence(database.engine, spec_of({"q0": {}})))
    assert found["note"][4] == "as it is; unknown, so examine it"
    assert found["row_number"][4] == "a column that the source does not have; unknown, so examine it"


@pytest.mark.parametrize(
    ("hierarchy", "level", "height", "meaning"),
    [
        ({"intervals": [5, 10], "bottom": 5}, 2, 3, "intervals of 10, one group below 5"),
        ({"intervals": [5, 10]}, 3, 3, "one label for all values"),
        ({"prefix": [3, 1]}, 2, 3, "the first character"),
        ({"dates": ["month", "year"]}, 1, 3, "the month"),
        ({"file": "h.csv"}, 2, None, "groups of level 2 of the hierarchy"),
        ({"file": "h.csv"}, 2, 3, "groups of level 2 of the hierarchy, which has 3"),
        ({}, 0, 1, "the value as it is in the source"),
        ({"point": {"columns": ["x", "y"], "bounds": [0, 0, 64, 64], "depths": [6, 4]}}, 1, 2,
         "cells of a quad-tree, level 1"),
    ],
)  # fmt: skip
def test_levels_in_words(hierarchy: dict[str, Any], level: int, height: int | None, meaning: str) -> None:
    (item,) = spec_of({"q": hierarchy}).quasi_identifiers.values()
    assert level_meaning(item, level, height) == meaning


# --- ZIP codes --------------------------------------------------------------------------------

ZIP = {"zip": {"prefix": [4, 3, 2, 1]}}
CODES = st.sampled_from(["94110", "94111", "94210", "95110", "10001", "00501", "00601"])


def standing(connection: duckdb.DuckDBPyConnection, labels: list[str | None], people: dict[str, int]) -> Database:
    database = Database(connection)
    database.table("people", ["zip"], [("94110",)])
    database.table("released", ["zip"], [(label,) for label in labels])
    database.table("census", {"zip": "VARCHAR", "people": "BIGINT"}, list(people.items()))
    return database


@pytest.mark.slow
@examples(15)
@given(
    labels=st.lists(
        st.one_of(
            st.none(),
            st.just("*"),
            st.just("000**"),
            st.builds(lambda code, kept: code[:kept] + "*" * (5 - kept), CODES, st.integers(0, 5)),
        ),
        min_size=1,
        max_size=12,
    ),
    people=st.dictionaries(CODES, st.sampled_from([0, 1, 9_999, 10_000, 10_001, 19_999, 20_000, 20_001, 500_000])),
)
def test_zip_codes_are_counted_as_by_hand(labels: list[str | None], people: dict[str, int]) -> None:
    with duckdb.connect() as connection:
        engine = standing(connection, labels, people).engine
        spec = spec_of(ZIP)
        with engine.run(Deadline(None)):
            opened = open_table(engine, spec, ("released",))
            found = count_zip_codes(engine, spec, opened, "zip", ZipPopulation("census", "people"))
    expected = zip_figures(labels, people)
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.rows == len(labels)
    assert found.within is (not expected["finer_rows"] and not expected["small_rows"])


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("people", "answer"), [(20_000, "not within the rule"), (20_001, "within the rule"), (None, "to be looked at")]
)
def test_20_000_people_are_too_few(database: Database, people: int | None, answer: str) -> None:
    rows = [(f"941{n % 10}0",) for n in range(40)]
    database.table("people", ["zip"], rows)
    spec = spec_of({"zip": {"prefix": [3], "minimum_level": 1}})
    assert kanon_sql.anonymize(database.engine, spec).passed
    options: dict[str, Any] = {}
    if people is not None:
        database.table(
            "census", {"zip": "VARCHAR", "n": "INTEGER"}, [("94110", 12_000), ("94199", people - 12_000), ("95110", 9)]
        )
        options = {"zip_population": "census", "zip_people": "n"}
    found = kanon_sql.evidence(database.engine, spec, **options)
    assert next(item.answer for item in found.safe_harbor if item.letter == "B") == answer


@pytest.mark.slow
def test_rows_are_persons_where_no_column_counts_them(database: Database) -> None:
    database.table("people", ["zip"], [("94110",)])
    database.table("released", ["zip"], [("941**",)] * 3)
    database.connection.execute("CREATE TABLE census AS SELECT '94110' AS zip FROM range(20000)")
    asked = {"zip_population": "census"}
    assert not kanon_sql.evidence(database.engine, spec_of(ZIP), **asked).zip_codes[0].within
    database.connection.execute("INSERT INTO census VALUES ('94199')")
    assert kanon_sql.evidence(database.engine, spec_of(ZIP), **asked).zip_codes[0].within


@pytest.mark.parametrize(
    ("labels", "codes", "kind", "people", "said"),
    [
        (["941**"], ["501", "94110"], "VARCHAR", "BIGINT", "census: column 'zip' has codes of 3 to 5 characters"),
        (["94**", "941**"], ["94110"], "VARCHAR", "BIGINT", "released: column 'zip' has codes of 4 to 5 characters"),
        (["941**"], ["94110"], "INTEGER", "BIGINT", "has no leading zeros"),
        (["941**"], ["94110"], "VARCHAR", "VARCHAR", "expected a number, of people"),
    ],
)
def test_zeros_that_are_lost_are_refused(
    database: Database, labels: list[str], codes: list[str], kind: str, people: str, said: str
) -> None:
    database.table("people", ["zip"], [("94110",)])
    database.table("released", ["zip"], [(label,) for label in labels])
    database.table("census", {"zip": kind, "n": people}, [(code, 5) for code in codes])
    with pytest.raises(SpecError, match=said):
        kanon_sql.evidence(database.engine, spec_of(ZIP), zip_population="census", zip_people="n")
    with pytest.raises(SpecError, match="there is no column 'm'"):
        kanon_sql.evidence(database.engine, spec_of(ZIP), zip_population="census", zip_people="m")


# --- HIPAA's list -----------------------------------------------------------------------------


def test_the_list_has_all_letters_of_the_rule() -> None:
    assert "".join(dict.fromkeys(kind.letter for kind in KINDS)) == "ABCDEFGHIJKLMNOPQR"


def answered(
    name: str,
    hierarchy: dict[str, Any] | None,
    became: str,
    level: int | None,
    counted: ZipCodes | None = None,
    **more: Any,
) -> tuple[str, str, str]:
    spec = spec_of({name: hierarchy} if hierarchy is not None else {"other": {}}, **more)
    entry = Entry(name, "a role", became, level, None, "a meaning")  # type: ignore[arg-type]
    found = [item for item in safe_harbor(spec, [entry], {} if counted is None else {name: counted}) if item.columns]
    (item,) = found
    assert item.answer == item.columns[0].answer
    return item.letter, item.answer, item.columns[0].why


@pytest.mark.parametrize(
    ("name", "hierarchy", "became", "level", "letter", "answer"),
    [
        ("ssn", None, "dropped", None, "G", "removed"),
        ("ssn", None, "released", None, "G", "not within the rule"),
        ("ssn", {"prefix": [3]}, "generalized", 1, "G", "not within the rule"),
        ("ssn", {"prefix": [3]}, "withheld", 2, "G", "removed"),
        ("zip", {"prefix": [4, 3]}, "released", 0, "B", "not within the rule"),
        ("zip", {"prefix": [4, 3]}, "generalized", 1, "B", "not within the rule"),
        ("zip", {"prefix": [4, 3]}, "generalized", 2, "B", "to be looked at"),
        ("zip", {"prefix": [4, 3]}, "generalized", None, "B", "to be looked at"),
        ("city", {"file": "h.csv"}, "generalized", 1, "B", "to be looked at"),
        ("city", None, "released", None, "B", "to be looked at"),
        ("age", {"intervals": [5], "top": 90}, "generalized", 1, "C", "within the rule"),
        ("age", {"intervals": [5], "top": 95}, "generalized", 1, "C", "to be looked at"),
        ("age", {"intervals": [5], "top": 90}, "released", 0, "C", "to be looked at"),
        ("age", {"intervals": [5], "top": 90}, "generalized", None, "C", "to be looked at"),
        ("age", {"intervals": [5]}, "generalized", 1, "C", "to be looked at"),
        ("age", None, "released", None, "C", "to be looked at"),
        ("admission", {"dates": ["month", "year"]}, "generalized", 1, "C", "not within the rule"),
        ("admission", {"dates": ["month", "year"]}, "generalized", 2, "C", "within the rule"),
        ("admission", {"dates": ["month", "year"]}, "generalized", None, "C", "to be looked at"),
        ("admission", {"dates": ["year", "decade"]}, "released", 0, "C", "not within the rule"),
        ("admission", None, "released", None, "C", "not within the rule"),
        ("admission", {"file": "h.csv"}, "generalized", 1, "C", "to be looked at"),
        ("birth_date", {"dates": ["month", "year"]}, "generalized", 2, "C", "to be looked at"),
        ("email", None, "released", None, "F", "not within the rule"),
    ],
)
def test_what_became_of_a_column_is_held_against_the_rule(
    name: str, hierarchy: dict[str, Any] | None, became: str, level: int | None, letter: str, answer: str
) -> None:
    assert answered(name, hierarchy, became, level)[:2] == (letter, answer)


def test_minimum_levels_hold_where_levels_differ() -> None:
    hierarchy = {"intervals": [5], "top": 90, "minimum_level": 1}
    assert answered("age", hierarchy, "generalized", None)[1] == "within the rule"


def test_top_coding_by_steps_counts() -> None:
    more = {"keep": ["age"], "steps": {"columns": {"age": {"top": 90}}}}
    assert answered("age", None, "released", None, **more)[1] == "within the rule"
    more = {"keep": ["age"], "steps": {"columns": {"age": {"top": 91}}}}
    assert answered("age", None, "released", None, **more)[1] == "to be looked at"


def test_a_kind_is_answered_by_its_worst_column() -> None:
    spec = spec_of({"other": {}})
    columns = [Entry("phone", "", "dropped", None, None, ""), Entry("mobile_phone", "", "released", None, None, "")]
    (found,) = (item for item in safe_harbor(spec, columns, {}) if item.letter == "D")
    assert [item.answer for item in found.columns] == ["removed", "not within the rule"]
    assert found.answer == "not within the rule"
