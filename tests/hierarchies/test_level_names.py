"""Levels have names, made of how labels are made and not of values, wherever a level is a number."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from typing import Any

import duckdb
import jsonschema
import pytest
from rich.console import Console, RenderableType

import kanon_sql
from kanon_sql.hierarchies import level_names
from kanon_sql.report.html import html_report
from kanon_sql.report.json import result_schema
from kanon_sql.report.ledger import ledger_text
from kanon_sql.report.pictures import pictures_of
from kanon_sql.report.run import read_run
from kanon_sql.report.text import result_text
from kanon_sql.spec import QuasiIdentifier

RARE = "Zzyzx"
"""A value that one row has."""


def text(found: RenderableType) -> str:
    console = Console(width=200, file=StringIO())
    console.print(found)
    return console.file.getvalue()  # type: ignore[attr-defined]


def named(height: int, *columns: str, **written: Any) -> tuple[str, ...]:
    return level_names(QuasiIdentifier.model_validate(written), height, columns)


CASES: list[tuple[tuple[str, ...], list[str]]] = [
    (named(1), []),
    (named(3, intervals=[2.5, 10]), ["bands of 2.5", "bands of 10"]),
    (named(2, intervals=[1000]), ["bands of 1000"]),
    (named(4, prefix=[4, 3, 1]), ["first 4 characters", "first 3 characters", "first character"]),
    (named(3, prefix={"lengths": [3, 1], "digits": 5}), ["first 3 digits", "first digit"]),
    (named(3, dates=["month", "year"]), ["month", "year"]),
    (named(2, file="a.csv"), ["column 2 of the file"]),
    (named(3, "code", "chapter", "part", table="codes"), ["chapter", "part"]),
    (named(2, table="codes"), ["column 2 of the table"]),
    (named(2, tree={"Infection": ["flu"], "Other": ["ulcer"]}), ["Infection, Other"]),
    (named(2, tree={name: [name.lower()] for name in "ABCD"}), ["A, B, C, ..."]),
    # A branch without groups repeats its values, which are no names.
    (named(2, tree={"Infection": ["flu"], "ulcer": None}), ["Infection"]),
    (named(1, tree={"flu": None, "ulcer": None}), []),
    # What two levels have in common does not tell them apart.
    (named(3, tree={"A": {"A": ["x"]}, "B": {"B": ["y"]}}), ["A, B", "level 2 of the tree"]),
    (named(2, sql=["CASE WHEN x = 'Zzyzx' THEN 'few' ELSE 'many' END"]), ["sql 1: CASE WHEN x = ? THEN ? ELSE ? END"]),
]


@pytest.mark.parametrize(("found", "between"), CASES)
def test_a_level_is_named_by_what_makes_its_labels(found: tuple[str, ...], between: list[str]) -> None:
    assert list(found) == ["as in the source", *between, "withheld"]
    assert RARE not in " ".join(found)


def test_long_labels_and_expressions_are_cut() -> None:
    (_, label, _), (_, rule, _) = named(2, tree={"L" * 41: ["x"]}), named(2, sql=["x || " * 20 + "x"])
    assert label == "L" * 37 + "..."
    assert rule == f"sql 1: {('x || ' * 20)[:37]}..."


TOWNS = {"North": ["Alta", "Bodo"], "South": ["Cork", RARE]}


def people() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (age INTEGER, zip VARCHAR, town VARCHAR, code VARCHAR, illness VARCHAR)")
    rows = [
        (20 + n % 40, f"{47000 + n % 30}", ["Alta", "Bodo", "Cork"][n % 3], f"c{n % 4}", ["flu", "ulcer"][n % 2])
        for n in range(240)
    ]
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", [*rows, (99, "99999", RARE, "c0", "flu")])
    connection.execute("CREATE TABLE codes AS SELECT 'c' || n AS code, 'h' || (n % 2) AS chapter FROM range(4) t(n)")
    return connection


def spec_of(**more: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "released",
            "quasi_identifiers": {
                "age": {"intervals": [5, 20]},
                "zip": {"prefix": [4, 2]},
                "town": {"tree": TOWNS},
                "code": {"table": "codes"},
            },
            "sensitive": ["illness"],
            "privacy": [{"k_anonymity": 5}],
            "suppression": {"max_share": 0.05},
            **more,
        }
    )


NAMES = {
    "age": ["as in the source", "bands of 5", "bands of 20", "withheld"],
    "zip": ["as in the source", "first 4 characters", "first 2 characters", "withheld"],
    "town": ["as in the source", "North, South", "withheld"],
    "code": ["as in the source", "chapter", "withheld"],
}


@pytest.mark.slow
def test_results_reports_and_manifests_name_levels() -> None:
    engine = kanon_sql.connect(people())
    planned = kanon_sql.plan(engine, spec_of(), explain=True, details=True)
    made = kanon_sql.anonymize(engine, spec_of(), details=True)
    for result in (planned, made):
        data = json.loads(json.dumps(result.to_dict(all_minimal=True)))
        jsonschema.Draft202012Validator(result_schema()).validate(data)
        assert data["level_names"] == NAMES
        assert result.node is not None
        shown = text(result_text(result))
        for name, level in result.node.items():
            assert NAMES[name][level] in next(line for line in shown.splitlines() if line.startswith(f"  {name} "))
        assert RARE not in shown
        page = html_report(result)
        (lost,) = (picture for name, picture in pictures_of(read_run(data, "here")).items() if name == "loss")
        assert [row[2] for row in lost.rows] == [NAMES[name][level] for name, level in result.node.items()]
        assert all(NAMES[name][level] in page for name, level in result.node.items())
        plain = html_report(replace(result, details=None, search=None))
        assert all(NAMES[name][level] in plain for name, level in result.node.items())
        assert RARE not in page
    assert "1 bands of 5; 2 bands of 20; 3 withheld" in text(result_text(planned))  # the key to vectors of levels
    assert made.manifest is not None
    assert made.manifest["level_names"] == {**NAMES, "town": ["as in the source", "level 1 of the tree", "withheld"]}


@pytest.mark.slow
def test_a_ledger_names_the_levels_whose_rule_it_holds() -> None:
    engine = kanon_sql.connect(people())
    columns = {"age": {"intervals": [5, 20]}, "zip": {"prefix": [4, 2]}, "town": {"tree": TOWNS, "maximum_level": 1}}
    made = kanon_sql.anonymize(engine, spec_of(ledger="kanon_sql_ledger", quasi_identifiers=columns))
    assert made.node is not None, made.message
    listed = kanon_sql.ledger(engine, "kanon_sql_ledger")
    told = {name: item.level_name for name, item in listed.entries[0].quasi_identifiers.items()}
    assert told == {**{name: NAMES[name][made.node[name]] for name in ("age", "zip")}, "town": None}
    town = made.node["town"]
    assert f"age: {told['age']}; town: {town}; zip: {told['zip']}" in " ".join(text(ledger_text(listed)).split())
    assert replace(listed.entries[0].quasi_identifiers["town"], level=2).level_name == "withheld"
    assert listed.to_dict()["entries"][0]["quasi_identifiers"]["age"]["level_name"] == told["age"]


def test_a_failed_search_names_the_levels_of_its_lattice() -> None:
    result = kanon_sql.plan(kanon_sql.connect(people()), spec_of(privacy=[{"k_anonymity": 5000}]), explain=True)
    assert result.node is None
    assert result.to_dict()["level_names"] == NAMES


def test_check_tells_no_level() -> None:
    result = kanon_sql.check(kanon_sql.connect(people()), spec_of(), "people")
    assert "level_names" not in result.to_dict()
    jsonschema.Draft202012Validator(result_schema()).validate(json.loads(json.dumps(result.to_dict())))


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("recoding", "age"),
    [
        ("local", NAMES["age"]),
        ({"method": "local", "ranges": ["age"]}, ["as in the source", "ranges of the classes", "withheld"]),
        ("mondrian", ["as in the source", "ranges of the classes", "withheld"]),
        ({"method": "microaggregation", "columns": {"age": "mean"}}, ["the mean of the class"] * 4),
    ],
)
def test_recodings_name_what_their_labels_are(recoding: Any, age: list[str]) -> None:
    result = kanon_sql.plan(kanon_sql.connect(people()), spec_of(recoding=recoding))
    assert result.recoding is not None, result.message
    assert result.level_names is not None
    assert list(result.level_names["age"]) == age
    shown = text(result_text(result))
    for name, column in result.recoding["columns"].items():
        line = next(line for line in shown.splitlines() if line.startswith(f"  {name} "))
        for level in column["levels"]:
            assert result.level_names[name][int(level)] in line


@pytest.mark.slow
def test_intervals_that_a_search_chose_are_called_so() -> None:
    asked = spec_of(
        search={"algorithm": "k_optimize", "metric": "discernibility"},
        quasi_identifiers={"age": {"intervals": [5, 20]}},
    )
    result = kanon_sql.plan(kanon_sql.connect(people()), asked)
    assert result.level_names == {"age": ("as in the source", "intervals that the search chose", "withheld")}
