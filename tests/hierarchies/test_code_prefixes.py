"""Codes by their first characters: ICD codes however they are punctuated, and codes stored as whole numbers."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import Spec
from kanon_sql.errors import HierarchyError, SpecError
from kanon_sql.testing import Subject
from tests.conftest import Database
from tests.servers import SUBJECTS, subject_of
from tests.support.specs import QUIET
from tests.support.strategies import examples

ENGINES = [name if name == "duckdb" else pytest.param(name, marks=pytest.mark.slow) for name in SUBJECTS]
ICD = {"lengths": [5, 3, 1], "mask": "none"}
ZIP = {"lengths": [3, 1], "digits": 5}


def spec_of(hierarchy: dict[str, Any], level: int | None = None, **more: Any) -> Spec:
    fixed = {} if level is None else {"minimum_level": level, "maximum_level": level}
    return Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "people_release", "keep": ["id"],
            "quasi_identifiers": {"code": {**hierarchy, **fixed}}, "privacy": [{"k_anonymity": 1}],
            "warnings": QUIET, **more,
        }
    )  # fmt: skip


def code(value: Any, given: dict[str, Any], keep: int) -> str | None:
    """The label again, by regular expressions and slices."""
    if value is None:
        return None
    text = str(value)
    if "digits" in given and re.fullmatch(r"[0-9]+", text):
        text = text.zfill(given["digits"])
    if given.get("mask") == "none":
        return re.sub(r"[ .,:;\-_/+*!#]", "", text)[:keep]
    return text[:keep] + "*" * (len(text) - keep)


def released(subject: Subject) -> dict[int, str | None]:
    return {int(number): label for number, label in subject.fetch("SELECT id, code FROM people_release")}


SHOWN = ["E11.9", "E119", "E11", "E11.90", "e11.9", "E 11-9", "E11.-", "J45+", "J45.*", "A", ".", "", "*", "ß9.1", None]


@pytest.mark.parametrize("name", ENGINES)
def test_codes_share_a_prefix_however_they_are_punctuated(name: str) -> None:
    with subject_of(name) as subject, subject.connect() as engine:
        subject.table("people", {"id": "integer", "code": "text"}, list(enumerate(SHOWN)))
        for level, keep in enumerate(ICD["lengths"], 1):
            result = kanon_sql.anonymize(engine, spec_of({"prefix": ICD}, level))
            assert result.passed, result.message
            expected = {number: code(value, ICD, keep) for number, value in enumerate(SHOWN)}
            assert released(subject) == expected
            assert result.classes["count"] == len(set(expected.values()))
        assert {label for number, label in released(subject).items() if number < 4} == {"E"}


@pytest.mark.parametrize("name", ENGINES)
def test_whole_numbers_are_codes_of_a_width(name: str) -> None:
    values = [1234, 12345, 1299, 501, 99999, 0, 7, None]
    with subject_of(name) as subject, subject.connect() as engine:
        subject.table("people", {"id": "integer", "code": "integer"}, list(enumerate(values)))
        for given_code in (ZIP, {**ZIP, "mask": "none"}):
            for level, keep in enumerate(ZIP["lengths"], 1):
                assert kanon_sql.anonymize(engine, spec_of({"prefix": given_code}, level)).passed
                expected = {number: code(value, given_code, keep) for number, value in enumerate(values)}
                assert released(subject) == expected
        plan = kanon_sql.plan(engine, spec_of({"prefix": ZIP}, warnings={"leading_zeros_lost": "warn"}))
        (warned,) = (item for item in plan.warnings if item.code == "leading_zeros_lost")
        assert warned.figures == {"values": 7, "short": 5, "rows": 5, "digits": 5}


@pytest.mark.slow
@given(st.lists(st.none() | st.text("E1.9- *ßJ", max_size=7), min_size=30, max_size=60), st.sampled_from([ICD, {}]))
@examples(8)
def test_random_codes_against_slices(shared_database: Database, values: list[Any], given_code: dict[str, Any]) -> None:
    written = given_code or {"lengths": [4, 2], "mask": "stars"}
    shared_database.table("people", {"id": "INTEGER", "code": "VARCHAR"}, list(enumerate(values)))
    for level, keep in enumerate(written["lengths"], 1):
        assert kanon_sql.anonymize(shared_database.engine, spec_of({"prefix": written}, level)).passed
        expected = {number: code(value, written, keep) for number, value in enumerate(values)}
        assert dict(shared_database._run("SELECT id, code FROM people_release").fetchall()) == expected


def test_a_list_says_the_same_as_its_mapping() -> None:
    short, long = spec_of({"prefix": [3, 1]}), spec_of({"prefix": {"lengths": [3, 1], "mask": "stars"}})
    assert short.hash == long.hash
    assert short.to_dict()["quasi_identifiers"]["code"]["prefix"] == [3, 1]
    assert Spec.from_dict(spec_of({"prefix": ZIP}).to_dict()) == spec_of({"prefix": ZIP})


@pytest.mark.parametrize(
    ("written", "where"),
    [
        ([3, 4], r"code\.prefix\[1\]: prefixes must get shorter: 4 comes after 3"),
        ({"lengths": [3, 4]}, r"code\.prefix\.lengths\[1\]: prefixes must get shorter"),
        ({"mask": "none"}, r"code\.prefix: missing 'lengths'"),
        ({"lengths": [3], "mask": "no"}, r"code\.prefix\.mask: unknown mask; "),
        ({"lengths": [5], "digits": 5}, r"code\.prefix\.digits: a prefix of 5 keeps all 5 digits"),
        ({"lengths": [5], "digits": 16}, r"code\.prefix\.digits: expected a number of digits"),
        ("3", r"code\.prefix: expected a list of lengths, or {lengths: \[3, 1\], mask: none}, got text"),
    ],
)
def test_faults_are_found_where_they_stand(written: Any, where: str) -> None:
    with pytest.raises(SpecError, match=where):
        spec_of({"prefix": written})


def test_numbers_that_are_no_codes_are_refused_and_counted(database: Database) -> None:
    database.table("people", {"id": "INTEGER", "code": "INTEGER"}, [(1, 123456), (2, -1), (3, 1), (4, None)])
    with pytest.raises(HierarchyError, match="2 distinct values below 0 or of more than 5 digits") as refused:
        kanon_sql.plan(database.engine, spec_of({"prefix": ZIP}))
    assert "123456" not in str(refused.value)
    database.table("people", {"id": "INTEGER", "code": "VARCHAR"}, [(1, "01234")])
    with pytest.raises(SpecError, match="digits are of codes stored as whole numbers, but the column is VARCHAR"):
        kanon_sql.plan(database.engine, spec_of({"prefix": ZIP}))


@pytest.mark.parametrize(
    ("values", "hierarchy", "figures"),
    [
        ([1234, 12345, 1299, 1299], {"prefix": [3]}, {"values": 3, "short": 2, "rows": 3, "digits": 5}),
        ([1234, 5678, None], {"prefix": ZIP}, {"values": 2, "short": 2, "rows": 2, "digits": 5}),
        ([12345, 99999], {"prefix": ZIP}, None),
        ([12345, 99999, None], {"prefix": [3]}, None),
        ([5, 10], {"intervals": [5]}, None),
    ],
)
def test_leading_zeros_that_are_lost_are_said(
    database: Database, values: list[Any], hierarchy: dict[str, Any], figures: dict[str, int] | None
) -> None:
    database.table("people", {"id": "INTEGER", "code": "INTEGER"}, list(enumerate(values)))
    found = kanon_sql.plan(database.engine, spec_of(hierarchy, warnings={})).warnings
    assert [item.figures for item in found if item.code == "leading_zeros_lost"] == ([figures] if figures else [])
    if figures is not None:
        failing = spec_of(hierarchy, 1, warnings={**QUIET, "leading_zeros_lost": "error"})
        assert not kanon_sql.plan(database.engine, failing).passed


def test_texts_of_codes_lose_no_zeros(database: Database) -> None:
    database.table("people", {"id": "INTEGER", "code": "VARCHAR"}, [(1, "01234"), (2, "234")])
    assert "leading_zeros_lost" not in {
        item.code for item in kanon_sql.plan(database.engine, spec_of({"prefix": [3]}, warnings={})).warnings
    }
