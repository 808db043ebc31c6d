"""What ``check`` writes for pipelines: JUnit XML, GitHub's workflow commands, Markdown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import pytest
from typer.testing import CliRunner

from kanon_sql.cli import app

HOSTILE = 'a|b<c>&"]]>*%0A::error::`_#'
"""A column's name, which every format has to carry as a name."""

SECRET = "Qwyjibo"

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "original",
    "release": "visits",
    "quasi_identifiers": {"age": {}},
    "sensitive": [HOSTILE],
    "privacy": [
        {"k_anonymity": 2},
        {"l_diversity": {"attribute": HOSTILE, "l": 2}},
        {"t_closeness": {"attribute": HOSTILE, "t": 0.1}},
    ],
}


def check(folder: Path, rows: str, form: str, *options: str, **changes: Any) -> tuple[int, str]:
    database = folder / "clinic.duckdb"
    database.unlink(missing_ok=True)
    with duckdb.connect(str(database)) as connection:
        name = HOSTILE.replace('"', '""')
        connection.execute(f'CREATE TABLE visits AS SELECT * FROM (VALUES {rows}) AS v(age, "{name}")')
        connection.execute("CREATE TABLE original AS SELECT * FROM visits")
    (folder / "spec.yml").write_text(json.dumps({**SPEC, **changes}))
    result = CliRunner().invoke(
        app, ["check", str(folder / "spec.yml"), "-d", str(database), "--format", form, *options]
    )
    assert SECRET not in result.output
    return result.exit_code, result.stdout


GOOD = "(1, 'x'), (1, 'y'), (2, 'x'), (2, 'y')"
BAD = f"(1, 'x'), (1, 'y'), (1, 'y'), (2, '{SECRET}')"


def test_junit(tmp_path: Path) -> None:
    code, text = check(tmp_path, GOOD, "junit")
    assert code == 0
    suite = ElementTree.fromstring(text.encode())
    assert suite.attrib["tests"] == "4"
    assert suite.attrib["failures"] == "0"
    assert [case.attrib["name"] for case in suite] == [
        "2-anonymity",
        f"distinct 2-diversity of {HOSTILE}",
        f"0.1-closeness of {HOSTILE}",
        "is a release",
    ]
    assert list(suite.iter("failure")) == []

    code, text = check(tmp_path, BAD, "junit")
    assert code == 1
    suite = ElementTree.fromstring(text.encode())
    assert suite.attrib["failures"] == "3"
    assert [case.attrib["name"] for case in suite if len(case)] == [case.attrib["name"] for case in suite][:3]
    assert [failure.attrib["message"] for failure in suite.iter("failure")] == [
        "violated by 1 class (1 row); achieved k = 1",
        "violated by 1 class (1 row); achieved l = 1",
        "violated by 2 classes (4 rows); achieved t = 0.75",
    ]


def test_an_identifier_is_a_failure_of_its_own(tmp_path: Path) -> None:
    changes = {"sensitive": [], "privacy": [{"k_anonymity": 2}], "identifiers": [HOSTILE]}
    code, text = check(tmp_path, GOOD, "junit", **changes)
    assert code == 1
    suite = ElementTree.fromstring(text.encode())
    assert suite.attrib["failures"] == "1"
    (failure,) = suite.iter("failure")
    assert failure.attrib["message"] == f"visits: it holds identifiers ({HOSTILE})"


def test_github(tmp_path: Path) -> None:
    code, text = check(tmp_path, GOOD, "github")
    assert code == 0
    assert re.fullmatch(r"::notice title=kanon-sql check::visits: all 2 classes satisfy .*\n", text)
    code, text = check(tmp_path, BAD, "github")
    assert code == 1
    (line,) = text.splitlines()
    assert line.startswith("::error title=kanon-sql check::visits: 1 of 2 classes (1 row) violates 2-anonymity; ")
    assert HOSTILE.replace("%", "%25") in line


def test_a_warning_is_a_warning(tmp_path: Path) -> None:
    changes = {"sensitive": [], "privacy": [{"k_anonymity": 2}], "identifiers": [HOSTILE]}
    code, text = check(tmp_path, GOOD, "github", "--table", "original", **changes)
    assert code == 0
    assert any(
        line.startswith("::warning title=kanon-sql check: identifiers_present::the table holds columns")
        for line in text.splitlines()
    )


def test_markdown(tmp_path: Path) -> None:
    code, text = check(tmp_path, BAD, "markdown")
    assert code == 1
    head, _, *table = text.splitlines()
    assert head.startswith("**FAIL** visits: 1 of 2 classes")
    assert table[:3] == [
        "| asked | achieved | violating classes | rows |",
        "| --- | --- | ---: | ---: |",
        "| 2-anonymity | k = 1 | 1 | 1 |",
    ]
    name = r"a\|b\<c\>\&" + '"' + r"\]\]\>\*%0A::error::\`\_\#"
    assert table[3] == f"| distinct 2-diversity of {name} | l = 1 | 1 | 1 |"
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in table)
    code, text = check(tmp_path, GOOD, "markdown")
    assert code == 0
    assert text.startswith("**PASS** visits: all 2 classes satisfy 2-anonymity")


@pytest.mark.parametrize("form", ["junit", "github", "markdown"])
def test_a_table_without_rows_and_a_name_with_a_line_break(tmp_path: Path, form: str) -> None:
    database = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute('CREATE TABLE visits ("a\nb" INTEGER)')
        connection.execute("CREATE TABLE original AS SELECT * FROM visits")
    spec = {**SPEC, "sensitive": [], "quasi_identifiers": {"a\nb": {}}, "privacy": [{"k_anonymity": 2}]}
    (tmp_path / "spec.yml").write_text(json.dumps({**spec, "identifiers": ["x"]}))
    result = CliRunner().invoke(app, ["check", str(tmp_path / "spec.yml"), "-d", str(database), "--format", form])
    assert result.exit_code == 1, result.output
    assert "has no rows" in result.stdout
    if form == "junit":
        assert ElementTree.fromstring(result.stdout.encode()).attrib["failures"] == "1"
