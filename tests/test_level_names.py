"""Levels have names wherever they have numbers: by the rule, or by the hierarchy's own labels, and by no value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import Database

import kanon_sql
from kanon_sql.hierarchies import group_labels
from kanon_sql.report.json import result_schema
from kanon_sql.report.layout import print_text
from kanon_sql.report.text import result_text

HIERARCHIES: dict[str, tuple[Any, list[str]]] = {
    "value": (None, ["as in the source", "withheld"]),
    "intervals": ({"intervals": [0.5, 10]}, ["as in the source", "bands of 0.5", "bands of 10", "withheld"]),
    "prefix": ({"prefix": [2, 1]}, ["as in the source", "first 2 characters", "first character", "withheld"]),
    "dates": ({"dates": ["month", "year"]}, ["as in the source", "month", "year", "withheld"]),
    "sql": ({"sql": ["substr(x, 1, 1)"]}, ["as in the source", "by an SQL expression", "withheld"]),
    "two": ({"sql": ["x", "'b'"]}, ["as in the source", "by SQL expression 1", "by SQL expression 2", "withheld"]),
    "tree": (
        {"tree": {"Low": {"Nil": ["0"], "Some": ["1", "2"]}, "High": {"3": ["3"], "Much": ["4"]}}},
        ["as in the source", "Nil, Some, Much", "Low, High", "withheld"],
    ),
    "wide": ({"tree": {name: [name.lower()] for name in "ABCDE"}}, ["as in the source", "A, B, C, ...", "withheld"]),
    "rooted": ({"tree": {"*": {"L": ["0"], "H": ["1"]}}}, ["as in the source", "L, H", "withheld"]),
    "long": ({"tree": {"x" * 30: ["0"], "y": ["1"]}}, ["as in the source", f"{'x' * 21}..., y", "withheld"]),
    "only values": ({"tree": {"0": ["0"], "1": ["1"]}}, ["as in the source", "level 1 of the tree", "withheld"]),
}
VALUES = {
    "value": ("VARCHAR", "ab"), "intervals": ("DOUBLE", "17.5"), "prefix": ("VARCHAR", "abc"),
    "dates": ("DATE", "2001-02-03"),
    "sql": ("VARCHAR", "ab"), "two": ("VARCHAR", "ab"), "tree": ("VARCHAR", "4"), "wide": ("VARCHAR", "a"),
    "rooted": ("VARCHAR", "0"), "long": ("VARCHAR", "0"), "only values": ("VARCHAR", "1"),
}  # fmt: skip


def planned(database: Database, hierarchies: dict[str, Any], **changes: Any) -> kanon_sql.Result:
    given = {
        "version": 1, "source": "people", "release": "people_release", "quasi_identifiers": hierarchies,
        "privacy": [{"k_anonymity": 2}], **changes,
    }  # fmt: skip
    return kanon_sql.anonymize(database.engine, kanon_sql.Spec.from_dict(given))


@pytest.mark.parametrize("kind", HIERARCHIES)
def test_each_kind_of_hierarchy_names_its_levels(database: Database, kind: str) -> None:
    given, names = HIERARCHIES[kind]
    type_, value = VALUES[kind]
    database.table("people", {"x": type_}, [[value]] * 3)
    result = planned(database, {"x": given})
    assert result.level_names is not None
    assert list(result.level_names["x"]) == names
    jsonschema.validate(result.to_dict(), result_schema())
    assert result.to_dict()["level_names"] == {"x": names}


def test_a_file_is_named_by_its_labels_and_a_table_by_its_columns(database: Database, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1;Low;*\n2;Low;*\n3;3;*\n4;High;*\n")
    database.table("places", {"town": "VARCHAR", "a county": "VARCHAR"}, [["p", "c"], ["q", "d"]])
    database.table("people", {"x": "INTEGER", "town": "VARCHAR"}, [[1, "p"], [1, "p"], [4, "q"], [4, "q"]])
    spec = tmp_path / "spec.yml"
    spec.write_text(
        "version: 1\nsource: people\nrelease: people_release\n"
        "quasi_identifiers:\n  x: {file: x.csv}\n  town: {table: places}\nprivacy:\n  - k_anonymity: 2\n"
    )
    result = kanon_sql.plan(database.engine, kanon_sql.Spec.load(spec))
    assert result.level_names == {
        "x": ("as in the source", "Low, High", "withheld"),
        "town": ("as in the source", "a county", "withheld"),
    }


def test_text_shows_the_name_beside_the_number(database: Database, capsys: pytest.CaptureFixture[str]) -> None:
    database.table("people", {"age": "INTEGER", "sex": "VARCHAR"}, [[age, "f"] for age in range(10)])
    spec = {"age": {"intervals": [2, 10], "minimum_level": 1}, "sex": None}
    print_text(result_text(planned(database, spec)))
    shown = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert ["age", "1", "bands of 2"] in shown
    assert ["sex", "0", "as in the source"] in shown


def test_a_manifest_has_no_label_of_a_tree_or_file(database: Database, tmp_path: Path) -> None:
    """What a reader of the release finds beside it keeps the spec's labels to itself, names of levels too."""
    database.table("people", {"x": "VARCHAR", "age": "INTEGER"}, [["0", 1], ["0", 1], ["1", 2], ["1", 3]])
    result = planned(database, {"x": {"tree": {"Kept": ["0"], "Secret": ["1"]}}, "age": {"intervals": [5]}})
    ((text,),) = database._connection.execute("SELECT manifest FROM kanon_sql_manifest").fetchall()
    assert result.level_names is not None
    assert "Secret" in result.level_names["x"][1]
    assert "Secret" not in text
    assert json.loads(text)["level_names"] == {
        "x": ["as in the source", "level 1 of the tree", "withheld"],
        "age": ["as in the source", "bands of 5", "withheld"],
    }


def test_chosen_intervals_are_named_by_how_many_there_are(database: Database) -> None:
    database.table("people", {"age": "INTEGER", "sex": "VARCHAR"}, [[n // 3, "f" if n % 2 else "m"] for n in range(12)])
    result = planned(database, {"age": None, "sex": None}, search={"algorithm": "k_optimize"})
    assert result.intervals
    assert result.node is not None
    assert result.level_names is not None
    for name, count in result.intervals.items():
        plural = "" if count == 1 else "s"
        assert list(result.level_names[name]) == ["as in the source", f"{count} interval{plural}", "withheld"]


def test_ranges_are_called_ranges(database: Database, capsys: pytest.CaptureFixture[str]) -> None:
    database.table("people", {"age": "INTEGER", "x": "VARCHAR"}, [[n, "b"] for n in range(12)])
    recoding = {"method": "local", "ranges": ["age"]}
    result = planned(database, {"age": {"intervals": [5]}, "x": {"prefix": [1]}}, recoding=recoding)
    assert result.level_names is not None
    assert list(result.level_names["age"]) == ["as in the source", "a range", "withheld"]
    print_text(result_text(result))
    assert "a range: 100 %" in capsys.readouterr().out


def test_a_check_has_no_levels_to_name(database: Database) -> None:
    database.table("people", {"x": "VARCHAR"}, [["0"]] * 3)
    spec = {"version": 1, "source": "people", "quasi_identifiers": {"x": None}, "privacy": [{"k_anonymity": 2}]}
    assert kanon_sql.check(database.engine, kanon_sql.Spec.from_dict(spec), "people").level_names is None
    spec["privacy"] = [{"k_anonymity": 4}]
    assert kanon_sql.plan(database.engine, kanon_sql.Spec.from_dict(spec)).level_names is None


def test_compared_levels_are_named(database: Database) -> None:
    from kanon_sql.report.comparison import tables

    database.table("people", {"age": "INTEGER"}, [[n] for n in range(12)])
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "quasi_identifiers": {"age": {"intervals": [2, 6]}},
            "privacy": [{"k_anonymity": 2}],
        }
    )  # fmt: skip
    found = dict(tables(kanon_sql.compare(database.engine, {"people": spec}, ks=[2, 6, 12])))
    assert found["What these levels are"][1] == [["age", "1 bands of 2; 2 bands of 6; 3 withheld"]]


@pytest.mark.parametrize("most", [1, 2, 5])
def test_the_first_labels_that_are_no_values(most: int) -> None:
    rows = [("1", "b", "x"), ("2", "1", "x"), ("3", "b", "y"), ("4", "c", "2"), ("5", "d", "z")]
    assert group_labels(rows, 0, most) == ()
    assert group_labels(rows, 1, most) == ("b", "c", "d")[:most]
    assert group_labels(rows, 2, most) == ("x", "y", "z")[:most]
