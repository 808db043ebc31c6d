"""What a verdict does not say, against plain counting in Python: warnings, what a spec makes of them, how they read."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Engine, Meter
from kanon_sql.evaluate import rollup
from kanon_sql.parties import party_obstacles
from kanon_sql.report.html import html_report
from kanon_sql.report.json import result_schema
from kanon_sql.report.pipelines import github, junit, markdown
from kanon_sql.spec import WarningOptions
from kanon_sql.testing import Subject
from kanon_sql.verbs.warnings import columns as columns_module
from tests import ROOT
from tests.conftest import Database
from tests.servers import subject_of
from tests.support.command_line import run
from tests.support.specs import make, refusals
from tests.support.strategies import examples

Rows = Sequence[tuple[Any, ...]]

COLUMNS = {"who": "integer", "year": "integer", "zip": "text", "age": "integer", "pay": "integer"}
GENERALIZE: Mapping[str, Sequence[Callable[[Any], Any]]] = {
    "zip": [lambda value: value, lambda value: value[0], lambda value: "*"],
    "age": [lambda value: value, lambda value: value // 10, lambda value: "*"],
}
K = 3


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": {"zip": {"prefix": [1]}, "age": {"intervals": [10]}},
            "privacy": [{"k_anonymity": K}],
            "suppression": {"max_share": 0.5},
            **changes,
        }
    )


def codes(result: kanon_sql.results.Result) -> list[str]:
    return [item.code for item in result.warnings]


def the(result: kanon_sql.results.Result, code: str) -> Any:
    (found,) = (item for item in result.warnings if item.code == code)
    return found


def classes_of(rows: Rows, node: Mapping[str, int]) -> list[list[tuple[Any, ...]]]:
    """The classes that a node keeps."""
    found: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        found[(GENERALIZE["zip"][node["zip"]](row[2]), GENERALIZE["age"][node["age"]](row[3]))].append(row)
    return [own for own in found.values() if len(own) >= K]


# --- On every engine -------------------------------------------------------------------------


@pytest.fixture(
    scope="module",
    params=["duckdb", "postgres", "sqlite", "mariadb", "clickhouse", pytest.param("spark", marks=pytest.mark.slow)],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def engine(subject: Subject) -> Iterator[Engine]:
    opened = subject.connect()
    yield opened
    opened.close()


def people(rows: int) -> Rows:
    """Persons with three rows each, of whom each year has one; pay is nearly unique; few live in 9."""
    draw = random.Random(5)
    found: list[tuple[Any, ...]] = []
    for person in range(rows // 3):
        rare = person % 15 == 0
        zip_code = f"9{draw.randint(0, 9)}" if rare else f"{draw.randint(1, 2)}{draw.randint(0, 2)}"
        for year in range(3):
            age = draw.randint(20, 79) if rare else 20 + person % 20
            found.append((person, 2000 + year, zip_code, age, draw.randint(0, 2000)))
    return found


@pytest.mark.slow
@pytest.mark.campaign_on("spark")
@pytest.mark.sampled(5)
def test_every_engine_warns_of_the_same(subject: Subject, engine: Engine) -> None:
    rows = people(600)
    subject.table("people", COLUMNS, rows)
    result = kanon_sql.anonymize(engine, spec(identifiers=["who"], keep=["pay"]))
    try:
        assert result.passed
        assert result.node is not None
        kept = classes_of(rows, result.node)
        sizes = [len({row[0] for row in own}) for own in kept]
        found = the(result, "rows_not_persons")
        assert found.columns == ["who"]
        assert found.figures == {
            "classes": len(kept), "classes_below": sum(size < K for size in sizes), "least": K, "smallest": min(sizes)
        }  # fmt: skip
        assert found.figures["classes_below"] > 0
        pay = Counter(row[4] for own in kept for row in own)
        together = sum(count == 1 for own in kept for count in Counter(row[4] for row in own).values())
        assert the(result, "nearly_unique_kept").figures == pytest.approx(
            {
                "rows": pay.total(),
                "values": len(pay),
                "alone": sum(count == 1 for count in pay.values()) / pay.total(),
                "alone_with_quasi_identifiers": together / pay.total(),
            }
        )
        share, of_all = largest_share(rows, kept)
        found = the(result, "uneven_suppression")
        assert set(found.columns) == {"zip", "age"}
        assert found.figures == pytest.approx({"largest_share": share, "share_of_all": of_all})
    finally:
        subject.drop("people_release")
        subject.drop("people")


def largest_share(rows: Rows, kept: Sequence[Rows]) -> tuple[float, float]:
    """Of the groups by the first character of zip: the largest share that one lost, and the share of all."""
    all_groups = Counter(row[2][0] for row in rows)
    left = Counter(row[2][0] for own in kept for row in own)
    shares = [
        (count - left[name]) / count for name, count in all_groups.items() if count >= 30 and count - left[name] >= K
    ]
    return max(shares), (len(rows) - left.total()) / len(rows)


# --- Persons -----------------------------------------------------------------------------------


tables = st.lists(
    st.tuples(st.integers(0, 6), st.just(0), st.sampled_from(["11", "12", "21"]), st.sampled_from([1, 2, 11])),
    min_size=3,
    max_size=40,
)


@pytest.mark.slow
@examples(40)
@given(rows=tables, named=st.booleans())
def test_classes_of_too_few_persons_are_counted(shared_database: Database, rows: Rows, named: bool) -> None:
    """A column that is called like a person's key, or that the spec calls an identifier; `x` is neither."""
    name = "x" if named else "patient_id"
    columns = {name: "INTEGER", "year": "INTEGER", "zip": "VARCHAR", "age": "INTEGER"}
    shared_database.table("people", columns, rows)
    given_spec = spec(identifiers=["x"] if named else [])
    result = kanon_sql.anonymize(shared_database.engine, given_spec)
    if not result.passed:
        return
    assert result.node is not None
    kept = classes_of(rows, result.node)
    small = [size for own in kept if (size := len({row[0] for row in own})) < K]
    repeated = 1 < len({row[0] for row in rows}) < len(rows)
    if not small or not repeated:
        assert "rows_not_persons" not in codes(result)
    else:
        found = the(result, "rows_not_persons")
        assert found.columns == [name]
        assert (found.figures["classes_below"], found.figures["smallest"]) == (len(small), min(small))
    again = kanon_sql.check(shared_database.engine, given_spec, "people")
    raw: dict[Any, set[int]] = defaultdict(set)
    for row in rows:
        raw[row[2:4]].add(row[0])
    below = [len(own) for own in raw.values() if len(own) < K]
    assert ("rows_not_persons" in codes(again)) == (repeated and bool(below))


def panel(database: Database, persons: int = 100, years: int = 8) -> None:
    database.table(
        "people",
        {"nr": "INTEGER", "wave": "INTEGER", "zip": "VARCHAR", "age": "INTEGER"},
        [
            (number, year, f"{number % 7}{number % 3}", 20 + number % 40)
            for number in range(persons)
            for year in range(years)
        ],
    )


def test_a_panel_is_found_whatever_its_columns_are_called(database: Database) -> None:
    panel(database)
    result = kanon_sql.anonymize(database.engine, spec(suppression={"max_share": 0.0}))
    found = the(result, "rows_not_persons")
    assert found.columns == ["nr"]
    assert "with wave it is the key of the table" in found.message
    assert "Set unit: nr" in found.message


def test_where_persons_are_counted_there_is_nothing_to_warn_of(database: Database) -> None:
    panel(database)
    assert "rows_not_persons" not in codes(kanon_sql.anonymize(database.engine, spec(unit="nr")))


def test_values_that_repeat_make_no_person(database: Database) -> None:
    """No key together with another column: a ward of eight beds, each with two patients of a year."""
    rows = [(number % 50, number % 8, f"{number % 7}1", 20 + number % 40) for number in range(800)]
    database.table("people", {"ward": "INTEGER", "bed": "INTEGER", "zip": "VARCHAR", "age": "INTEGER"}, rows)
    assert "rows_not_persons" not in codes(kanon_sql.anonymize(database.engine, spec()))


def test_a_column_of_its_own_value_in_every_row_is_no_reason_to_warn(database: Database) -> None:
    rows = [(number, 0, f"{number % 3}1", 20 + number % 4) for number in range(200)]
    database.table("people", {"patient_id": "INTEGER", "y": "INTEGER", "zip": "VARCHAR", "age": "INTEGER"}, rows)
    assert "rows_not_persons" not in codes(kanon_sql.anonymize(database.engine, spec()))


def test_an_identifier_that_repeats_hides_no_other(database: Database) -> None:
    """Every class of ten rows has five names, and one patient."""
    rows = [(f"n{number % 5}", number // 10, f"{number // 10 % 3}1", 20 + number // 10) for number in range(300)]
    columns = {"name": "VARCHAR", "patient_id": "INTEGER", "zip": "VARCHAR", "age": "INTEGER"}
    database.table("people", columns, rows)
    named = spec(identifiers=["name"], suppression={"max_share": 0.0})
    assert the(kanon_sql.anonymize(database.engine, named), "rows_not_persons").columns == ["patient_id"]
    assert the(kanon_sql.check(database.engine, named, "people"), "rows_not_persons").columns == ["patient_id"]


@pytest.mark.parametrize(
    ("type_", "named", "warned"),
    [
        ("DECIMAL(10, 0)", "patient_id", True),
        ("DECIMAL(10, 0)", "x", True),
        ("DOUBLE", "patient_id", True),
        ("DOUBLE", "x", True),
        ("DATE", "patient_id", True),
        ("DATE", "x", False),  # a date of birth names a person, and is others' too
    ],
)
@pytest.mark.sampled(6)
def test_a_persons_key_may_be_of_any_type(database: Database, type_: str, named: str, warned: bool) -> None:
    """One class has six rows of a person; keys with gaps are often read as numbers with a point."""
    database.table("people", {"i": "INTEGER", "zip": "VARCHAR", "age": "INTEGER"}, [(i, "11", 20) for i in range(6)])
    key = "DATE '2000-01-01' + i // 3" if type_ == "DATE" else "i // 3"
    source = {"query": f"SELECT CAST({key} AS {type_}) AS {named}, zip, age FROM people"}
    identifiers = ["x"] if named == "x" else []
    result = kanon_sql.anonymize(database.engine, spec(source=source, identifiers=identifiers))
    assert result.passed, result.message
    assert ("rows_not_persons" in codes(result)) == warned
    if warned:
        found = the(result, "rows_not_persons")
        assert found.figures == {"classes": 1, "classes_below": 1, "least": K, "smallest": 2}
        assert "1 of 1 classes has fewer than 3 of them" in found.message


@pytest.mark.parametrize("recoding", ["local", "mondrian", "cells", {"method": "mondrian", "variant": "relaxed"}])
@pytest.mark.sampled(4)
def test_local_recodings_are_looked_at_too(database: Database, recoding: Any) -> None:
    """Every person has three rows that are alike, so classes of rows have a third as many persons."""
    rows = [(number // 3, f"{number // 3 % 3}{number // 3 % 2}", 20 + number // 3 % 60) for number in range(300)]
    database.table("people", {"patient_id": "INTEGER", "zip": "VARCHAR", "age": "INTEGER"}, rows)
    result = kanon_sql.anonymize(database.engine, spec(recoding=recoding, suppression={"max_share": 0.05}))
    assert result.passed, result.message
    found = the(result, "rows_not_persons")
    assert found.figures == {} or found.figures["smallest"] == 1


def test_a_check_that_counts_rows_of_persons_says_so(database: Database) -> None:
    panel(database)
    result = kanon_sql.check(database.engine, spec(unit="nr"), "people", count_rows=True)
    assert the(result, "rows_not_persons").columns == ["nr"]
    assert result.passed
    assert not kanon_sql.check(database.engine, spec(unit="nr"), "people", count_rows=True, fail_on_warning=True).passed


# --- Columns -----------------------------------------------------------------------------------


def wide(database: Database, distinct: int, rows: int = 400) -> None:
    values = [(f"{number % 3}1", 20 + number % 4, number % distinct) for number in range(rows)]
    database.table("people", {"zip": "VARCHAR", "age": "INTEGER", "note": "INTEGER"}, values)


@pytest.mark.parametrize(
    ("distinct", "rows", "warned"),
    [
        (20, 400, False),  # twenty rows have each value, and in a class of 33 hardly two have one
        (70, 400, True),  # six rows have each value, and all are alone with it in their class
        (400, 400, True),
        (90, 90, True),
        (380, 400, True),
    ],
)
@pytest.mark.parametrize("role", ["keep", "sensitive"])
@pytest.mark.sampled(10)
def test_a_telling_column_is_named(database: Database, distinct: int, rows: int, warned: bool, role: str) -> None:
    wide(database, distinct, rows)
    changes: dict[str, Any] = {role: ["note"]}
    if role == "sensitive":
        changes["privacy"] = [{"k_anonymity": K}, {"l_diversity": {"attribute": "note", "l": 2}}]
    result = kanon_sql.anonymize(database.engine, spec(**changes))
    assert result.passed
    assert ("nearly_unique_kept" in codes(result)) == warned
    if warned:
        assert the(result, "nearly_unique_kept").figures["values"] == distinct


@pytest.mark.slow
def test_five_percent_of_rows_alone_are_enough(database: Database) -> None:
    """Of 400 rows in one class, 20 have a value of their own and the others one in common: 5 %. With 19, no more."""
    for alone, warned in ((20, True), (19, False)):
        rows = [("11", 20, number if number < alone else 1000 + number % 19) for number in range(400)]
        database.table("people", {"zip": "VARCHAR", "age": "INTEGER", "note": "INTEGER"}, rows)
        result = kanon_sql.anonymize(database.engine, spec(keep=["note"]))
        assert ("nearly_unique_kept" in codes(result)) == warned, alone


def test_nothing_is_counted_of_columns_with_few_values(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "combination_measures", None)
    wide(database, 15)
    assert "nearly_unique_kept" not in codes(kanon_sql.anonymize(database.engine, spec(keep=["note"])))


def test_withheld_columns_are_named_and_a_release_that_tells_nothing(database: Database) -> None:
    rows = [(f"{number}{number}", 20 + number % 2) for number in range(10) for _ in range(1)] * 2
    database.table("people", {"zip": "VARCHAR", "age": "INTEGER"}, rows)
    result = kanon_sql.plan(database.engine, spec(suppression={"max_share": 0.0}))
    assert codes(result) == ["column_fully_generalized"]
    assert the(result, "column_fully_generalized").columns == ["zip"]
    all_gone = {"zip": {"prefix": [1], "minimum_level": 2}, "age": {"intervals": [10], "minimum_level": 2}}
    for recoding in ("full_domain", "local"):
        result = kanon_sql.plan(database.engine, spec(quasi_identifiers=all_gone, recoding=recoding))
        assert codes(result) == ["fully_suppressed_columns"], recoding
        assert the(result, "fully_suppressed_columns").columns == ["zip", "age"]


@pytest.mark.parametrize(("kept", "warned"), [(20, False), (10, True), (0, True)])
def test_a_column_that_is_withheld_in_nearly_every_row_is_named(database: Database, kept: int, warned: bool) -> None:
    """Of 200 rows so many share one text, in classes of ten, and the others have a text each: withheld by locals."""
    rows = [("same" if number < kept else f"text {number}", 20 + number % 2 * 20) for number in range(200)]
    database.table("people", {"seen": "VARCHAR", "age": "INTEGER"}, rows)
    hierarchies = {"seen": {}, "age": {"intervals": [10], "maximum_level": 1}}
    result = kanon_sql.plan(database.engine, spec(quasi_identifiers=hierarchies, recoding="local"))
    assert (result.passed, result.rows["suppressed"]) == (True, 0)
    found = [item for item in result.warnings if item.code == "column_fully_generalized"]
    assert [list(item.columns) for item in found] == ([["seen"]] if warned else [])
    if kept and warned:
        assert found[0].figures == pytest.approx({"least_share": (200 - kept) / 200})
        assert "95.0 % of the rows" in found[0].message


@pytest.mark.parametrize(
    ("changes", "advised"),
    [
        ({}, True),
        ({"recoding": "local"}, False),
        ({"ledger": {"table": "entries"}}, False),
    ],
)
def test_no_warning_advises_what_the_spec_would_refuse(database: Database, changes: Any, advised: bool) -> None:
    uneven(database, 12)
    held = {"zip": {"prefix": [1], "maximum_level": 0}, "age": {"intervals": [10], "maximum_level": 0}}
    few = the(kanon_sql.plan(database.engine, spec(quasi_identifiers=held, **changes)), "uneven_suppression")
    gone = {"zip": {"prefix": [1], "minimum_level": 2}, "age": {"intervals": [10], "minimum_level": 2}}
    none = the(kanon_sql.plan(database.engine, spec(quasi_identifiers=gone, **changes)), "fully_suppressed_columns")
    assert ["recoding: local" in item.message for item in (few, none)] == [advised, advised]


def test_a_column_of_one_value_tells_nothing_anyhow(database: Database) -> None:
    database.table("people", {"zip": "VARCHAR", "age": "INTEGER"}, [("11", 20 + number % 2) for number in range(9)])
    held = {"zip": {"prefix": [1], "minimum_level": 2}, "age": {"intervals": [10]}}
    assert codes(kanon_sql.plan(database.engine, spec(quasi_identifiers=held))) == []


def uneven(database: Database, lost: int) -> None:
    """300 rows of `1`, all alike; 60 of `2`, of which so many are alone."""
    rows = [("11", 20)] * 300 + [("21", 30)] * (60 - lost) + [("21", 40 + 20 * number) for number in range(lost)]
    database.table("people", {"zip": "VARCHAR", "age": "INTEGER"}, rows)


@pytest.mark.parametrize(("lost", "warned"), [(0, False), (2, False), (3, True), (12, True)])
@pytest.mark.parametrize("recoding", ["full_domain", "local"])
def test_uneven_suppression(database: Database, lost: int, warned: bool, recoding: str) -> None:
    """Two suppressed rows are fewer than k, and no share to speak of; three of 60 are 5 %, of 360 0.8 %."""
    uneven(database, lost)
    held = {"zip": {"prefix": [1], "maximum_level": 0}, "age": {"intervals": [10], "maximum_level": 0}}
    result = kanon_sql.plan(database.engine, spec(quasi_identifiers=held, recoding=recoding))
    assert result.passed
    assert result.rows["suppressed"] == lost
    found = [item for item in result.warnings if item.code == "uneven_suppression"]
    assert bool(found) == warned
    if warned:
        assert set(found[0].columns) == {"zip", "age"}  # whose groups of few rows are one, and all of it is lost
        assert found[0].figures == pytest.approx({"largest_share": 1.0, "share_of_all": lost / 360})


def test_groups_of_few_rows_of_two_columns_are_two_groups(database: Database) -> None:
    """Nine rows are suppressed: seven and two that are few by zip, and the two by age as well."""
    rows = [("11", 20)] * 300 + [("21", 20)] * 20 + [("11", 40)] * 10 + [("31", 20)] * 7 + [("41", 60), ("51", 70)]
    database.table("people", {"zip": "VARCHAR", "age": "INTEGER"}, rows)
    held = {"zip": {"prefix": [1], "maximum_level": 0}, "age": {"intervals": [10], "maximum_level": 0}}
    result = kanon_sql.plan(database.engine, spec(quasi_identifiers=held, privacy=[{"k_anonymity": {"k": 8}}]))
    assert result.rows["suppressed"] == 9
    (found,) = [item for item in result.warnings if item.code == "uneven_suppression"]
    # By zip, 29 rows are in groups of fewer than 30, and nine of these are lost; by age 12, and two: fewer than k.
    assert found.columns == ["zip"]
    assert found.figures == pytest.approx({"largest_share": 9 / 29, "share_of_all": 9 / 339})


@pytest.mark.parametrize(("level", "read"), [(1, "rollup"), (2, "frequency")])
def test_uneven_suppression_is_told_from_a_set_that_has_the_labels(
    database: Database, monkeypatch: pytest.MonkeyPatch, level: int, read: str
) -> None:
    """The set of the chosen node has no label of a column at its top; one of these has lost 40 of 40 rows there."""
    monkeypatch.setattr(rollup, "SMALL", 0)
    monkeypatch.setattr(rollup, "BUILD_COST", 0)
    rows = [("11", 20 + number % 30) for number in range(300)] + [
        (f"2{number}", 50 + number % 10) for number in range(40)
    ]
    database.table("people", {"zip": "VARCHAR", "age": "INTEGER"}, rows)
    held = {
        "zip": {"prefix": [1], "maximum_level": 0},
        "age": {"intervals": [10], "minimum_level": level, "maximum_level": level},
    }
    texts: dict[str, str] = {}
    count = Meter.count
    monkeypatch.setattr(Meter, "count", lambda own, sent: (texts.update({sent.name: sent.sql}), count(own, sent))[1])
    result = kanon_sql.plan(database.engine, spec(quasi_identifiers=held))
    assert (result.node, result.rows["suppressed"]) == ({"zip": 0, "age": level}, 40)
    assert "evaluate/rollup" in texts
    assert read in texts["verbs/warnings/suppressed"]
    found = the(result, "uneven_suppression")
    assert set(found.columns) == {"zip", "age"}
    assert found.figures == pytest.approx({"largest_share": 1.0, "share_of_all": 40 / 340})


@pytest.mark.parametrize("recoding", ["full_domain", "local"])
def test_uneven_suppression_is_told_by_the_highest_level_with_several_labels(database: Database, recoding: str) -> None:
    """Below the top all values are under one label, by the tree's words or since no row has another one."""
    uneven(database, 12)
    tree = {"place": {"here": {"west": ["11"], "east": ["21"]}, "there": ["99"]}}
    held = {"zip": {"tree": tree, "maximum_level": 0}, "age": {"intervals": [10, 1000], "maximum_level": 0}}
    found = the(kanon_sql.plan(database.engine, spec(quasi_identifiers=held, recoding=recoding)), "uneven_suppression")
    # East lost 12 of its 60 rows, and those of ages from 40 on, a group of 12, are all lost.
    assert found.columns == ["age", "zip"]
    assert found.figures == pytest.approx({"largest_share": 1.0, "share_of_all": 12 / 360})
    assert "age (100.0 %), zip (20.0 %)" in found.message


# --- What becomes of them ------------------------------------------------------------------------


@pytest.mark.slow
def test_an_error_publishes_nothing(database: Database) -> None:
    panel(database)
    fatal = spec(warnings={"rows_not_persons": "error"})
    result = kanon_sql.anonymize(database.engine, fatal)
    assert not result.passed
    assert result.message == "nothing was published: rows_not_persons is an error because the spec says so"
    assert database.engine.exists(("people_release",)) is None
    assert "rows_not_persons" in codes(result)
    assert kanon_sql.anonymize(database.engine, spec(warnings={"rows_not_persons": "warn"})).passed


@pytest.mark.slow
def test_what_is_allowed_is_not_looked_for(database: Database) -> None:
    panel(database)
    heard = kanon_sql.anonymize(database.engine, spec())
    quiet = kanon_sql.anonymize(database.engine, spec(warnings={"rows_not_persons": "allow"}))
    assert "rows_not_persons" not in codes(quiet)
    assert quiet.cost.source_scans < heard.cost.source_scans
    allowed = dict.fromkeys(WarningOptions.model_fields, "allow")
    wide(database, 400)
    assert codes(kanon_sql.anonymize(database.engine, spec(keep=["note"], warnings=allowed))) == []


@pytest.mark.slow
def test_every_warning_fails_where_that_is_asked(database: Database) -> None:
    panel(database)
    result = kanon_sql.anonymize(database.engine, spec(), fail_on_warning=True)
    assert not result.passed
    assert "with --fail-on-warning" in result.message
    assert database.engine.exists(("people_release",)) is None
    held = {"zip": {"prefix": [1], "minimum_level": 2}, "age": {"intervals": [10]}}
    planned = kanon_sql.plan(database.engine, spec(quasi_identifiers=held), fail_on_warning=True)
    assert planned.message == "nothing would be published: column_fully_generalized is an error with --fail-on-warning"


@pytest.mark.slow
def test_the_manifest_and_the_json_have_them(database: Database) -> None:
    import jsonschema

    panel(database)
    result = kanon_sql.anonymize(database.engine, spec())
    assert result.manifest is not None
    assert result.manifest["warnings"] == result.to_dict()["warnings"]
    jsonschema.validate(result.to_dict(), result_schema())
    known = set(WarningOptions.model_fields)
    assert set(result_schema()["$defs"]["Warned"]["properties"]["code"]["enum"]) == known


def test_every_code_has_its_place_on_the_page() -> None:
    page = (ROOT / "docs/reference/warnings.md").read_text()
    for code in WarningOptions.model_fields:
        assert f"\n## {code}\n" in page


def test_no_value_is_told(database: Database) -> None:
    """The planted person is alone in everything, and no output holds any of it."""
    panel(database)
    database.connection.execute("INSERT INTO people VALUES (471147, 3, 'zqx', 77441)")
    database.connection.execute("ALTER TABLE people ADD COLUMN pay BIGINT DEFAULT 5")
    database.connection.execute("UPDATE people SET pay = nr * 1000 + wave + 900000000")
    result = kanon_sql.anonymize(database.engine, spec(keep=["pay"]))
    assert {"rows_not_persons", "nearly_unique_kept"} <= set(codes(result))
    said = json.dumps(result.to_dict()) + json.dumps(result.manifest) + html_report(result) + markdown(result)
    for planted in ("471147", "zqx", "77441"):
        assert planted not in said


# --- How they are written and read -----------------------------------------------------------------


def test_a_wrong_handling_is_refused() -> None:
    for written, said in (
        ({"rows_not_person": "error"}, "unknown key; did you mean 'rows_not_persons'?"),
        ({"rows_not_persons": "no"}, "handling"),
        ("error", "expected a mapping such as"),
    ):
        (problem,) = refusals(warnings=written)
        assert said in problem, problem
    (problem,) = refusals(keep_unique="error")
    assert "warnings: {nearly_unique_kept: error}" in problem


LOOKED_FOR = {"column_fully_generalized": "error"}


def test_an_error_that_nobody_looks_for_is_refused(database: Database, tmp_path: Path) -> None:
    private = {"differential_privacy": {"epsilon": 1, "delta": 1e-6, "generalization": {"zip": 2, "age": 2}}}
    changes: dict[str, Any] = {"privacy": [private], "suppression": {}, "ledger": "kanon_sql_ledger"}
    assert spec(**changes)
    with pytest.raises(kanon_sql.errors.SpecError, match="no warnings are computed"):
        spec(**changes, warnings=LOOKED_FOR)
    with pytest.raises(kanon_sql.errors.UnsupportedError, match="--fail-on-warning: with"):
        kanon_sql.anonymize(database.engine, spec(**changes), fail_on_warning=True)
    changes = {
        "privacy": [{"m_invariance": {"attribute": "pay", "m": 2, "history": "past"}}], "suppression": {},
        "sensitive": ["pay"], "unit": "who",
    }  # fmt: skip
    assert spec(**changes, warnings={"readable_by_others": "error"})
    with pytest.raises(kanon_sql.errors.SpecError, match="only the warning readable_by_others is computed"):
        spec(**changes, warnings=LOOKED_FOR)
    fatal = spec(warnings=LOOKED_FOR)
    with pytest.raises(
        kanon_sql.errors.UnsupportedError, match=r"warnings\.column_fully_generalized: a script computes no"
    ):
        kanon_sql.render(fatal, "postgres", {"zip": 1, "age": 1})
    with pytest.raises(kanon_sql.errors.UnsupportedError, match="parties: warnings"):
        kanon_sql.errors.refuse(party_obstacles(fatal))


def test_the_hash_of_a_spec_without_them_stays() -> None:
    assert make().hash == make(warnings={"rows_not_persons": "warn"}).hash
    assert make().hash != make(warnings={"rows_not_persons": "allow"}).hash


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i // 4 AS nr, i % 4 AS wave, (i // 4 % 7) || '1' AS zip, "
            "30 + i // 4 % 9 AS age FROM range(400) AS t(i)"
        )
    (tmp_path / "spec.yml").write_text(json.dumps(spec(suppression={"max_share": 0.0}).to_dict()))
    return tmp_path / "spec.yml", tmp_path / "clinic.duckdb"


@pytest.mark.slow
def test_the_command_line_shows_them_and_fails_on_them(files: tuple[Path, Path]) -> None:
    told = run("anonymize", files[0], "-d", files[1], "-q")
    assert told.exit_code == 0, told.output
    assert "\nWarnings\n  rows_not_persons  rows were counted, and nr seems to identify persons" in told.stdout
    assert "docs/reference/warnings.md#rows_not_persons" in told.stdout
    failed = run("anonymize", files[0], "-d", files[1], "-q", "--fail-on-warning", "--format", "json")
    assert failed.exit_code == 1
    assert json.loads(failed.stdout)["verdict"] == "fail"
    assert run("plan", files[0], "-d", files[1], "-q", "--fail-on-warning").exit_code == 0
    of_check = ("check", files[0], "-d", files[1], "-q", "--table", "people", "--rows")
    assert "rows_not_persons" in run(*of_check).stdout


def test_the_formats_of_pipelines_have_them(database: Database) -> None:
    panel(database)
    result = kanon_sql.check(database.engine, spec(unit="nr"), "people")
    warned = kanon_sql.check(database.engine, spec(unit="nr"), "people", count_rows=True)
    assert codes(result) == []
    assert "::warning title=kanon-sql check: rows_not_persons::rows were counted" in github(warned)
    assert "::notice title=kanon-sql check::rows were counted, not persons" in github(warned)
    assert "- **rows\\_not\\_persons** rows were counted" in markdown(warned)
    suite = ElementTree.fromstring(junit(warned).partition("\n")[2])
    assert suite.get("failures") == "0"
    assert "rows_not_persons" in (suite.findtext("testcase/system-out") or "")
    assert "rows_not_persons" in html_report(warned)


# --- What tells nothing, and what only looks so ------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("recoding", ["mondrian", {"method": "local", "ranges": ["age"]}], ids=["mondrian", "local"])
@pytest.mark.parametrize("kind", ["INTEGER", "VARCHAR"])
def test_a_range_is_not_the_top(database: Database, recoding: Any, kind: str) -> None:
    """Without a hierarchy a column has one level above its values, and ranges are of that level too."""
    database.table("people", {"age": kind}, [(10 + number * 7 % 50,) for number in range(200)])
    asked = spec(quasi_identifiers={"age": None}, privacy=[{"k_anonymity": 10}], recoding=recoding)
    result = kanon_sql.anonymize(database.engine, asked)
    assert len({label for (label,) in database.rows("people_release")}) > 5
    assert not {"fully_suppressed_columns", "column_fully_generalized"} & set(codes(result))
    one_class = spec(quasi_identifiers={"age": None}, privacy=[{"k_anonymity": 150}], recoding=recoding, release=None)
    assert codes(kanon_sql.plan(database.engine, one_class)) == ["fully_suppressed_columns"]


@pytest.mark.parametrize("recoding", ["full_domain", "local"])
def test_a_label_of_all_values_tells_nothing_whatever_it_is_called(database: Database, recoding: str) -> None:
    """``adult`` of all ages below ``All`` is no more than that is."""
    database.table("people", {"age": "INTEGER"}, [(20 + number % 10,) for number in range(40)])
    adult = {"tree": {"All": {"adult": [str(20 + number) for number in range(10)]}}, "maximum_level": 1}
    asked = spec(quasi_identifiers={"age": adult}, privacy=[{"k_anonymity": 30}], recoding=recoding, release=None)
    assert codes(kanon_sql.plan(database.engine, asked)) == ["fully_suppressed_columns"]
