"""What users are told when something is wrong: what, where, what was expected, what they gave, and what to do."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from kanon_sql.cli import app
from tests import ROOT
from tests.support.command_line import VERBS, command_of

PACKAGE = ROOT / "kanon_sql"

SECRET = "Qwyjibo"

# --- Every message in the source ------------------------------------------------------------

ERRORS = {
    "SpecError", "HierarchyError", "UnsupportedError", "SearchTooLarge", "TooExpensive", "DatabaseError", "Problem",
    "Obstacle",
}  # fmt: skip

ADVICE = re.compile(r"; |\. [A-Z]|expected|did you mean|levels must nest|every row needs|a value has one row")
"""A message goes on after what is wrong: with what was expected, or what to do."""

PASSED_ON = {
    "{}: {}",
    "{}: {} (ClickHouse error {})",
    "{}: ClickHouse reported error {}: {}",
    "{}: ClickHouse reported error {}: {} (max_memory_usage)",
    "{}: Spark: {} (spark.local.dir, or where its warehouse is)",
    "{}: {}: {}",
    "{}: the CSV file {} cannot be read: {}",
    "source file {}: {}",
    "{}: {}{}{}",
    "{}: ClickHouse reported error {} (its text may hold values and is not shown)",
    "{}: DuckDB reported an error, {} (its text may hold values and is not shown)",
    "{}: Spark reported {} (its text may hold values and is not shown)",
    "{}: more than the {} rows that may reach the client",
    "attack {}: {}",
    "release refresh: {}",
    "hierarchies.{}: {}",
    "ledger: {}",
    "not valid YAML: {}",
    "no attack on {} is possible: {}",
    "{}: there is no column {}, {}",
    "source file {}: on Spark write a source query, such as SELECT * FROM parquet.`{}`",
    "and {} more problems",
    "compare: none of the runs is possible: {}: {}",
    "population: {}",
    # Here "did you mean" follows, or what is expected.
    "{}: {} has no column {} that a spec can use{}",
    "{}: there is no column {}, a part of the key {}{}",
    "preset: there is no preset {}{}",
    # Here the reason follows, which says what to do.
    "parties: {}",
    "release.file: {}",
    "{}: {} is {}, and {}",
    "release.file: column {}: {}",
    "quasi_identifiers.{}: {}",
    # Here the reason of the rule follows, which says what it allows.
    "{}: {} does not allow {} as that: {}",
}
"""What another message or the database says, with what to do in it, and defects of our own."""


@cache
def messages() -> list[tuple[str, str]]:
    """Where an error is made, and its text with {} for what is filled in."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text()
        if "testing" in path.parts or not any(f"{name}(" in text for name in ERRORS):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ERRORS and node.args:
                said = text_of(node.args[0])
                if said:
                    found.append((f"{path.relative_to(PACKAGE)}:{node.lineno}", said))
    return found


def text_of(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.BinOp):
        return text_of(node.left) + text_of(node.right)
    return ""


@pytest.mark.slow
@pytest.mark.xdist_group("sources")
def test_every_message_says_what_to_do() -> None:
    assert len(messages()) > 150
    assert [(place, said) for place, said in messages() if said not in PASSED_ON and not ADVICE.search(said)] == []


@pytest.mark.xdist_group("sources")
def test_every_message_is_one_plain_line() -> None:
    unkind = re.compile(r"\n|^\s|\s$|!$|\binvalid\b|\bsorry\b", re.IGNORECASE)
    assert [(place, said) for place, said in messages() if unkind.search(said)] == []


OWN_OPTIONS = {"cli", "pictures", "verify_certificate.py"}
"""Where other options stand: those that have moved, names in style sheets, and those of the verifier."""


def test_every_option_that_a_text_names_exists() -> None:
    options = {verb: {name for item in command_of(verb).params for name in item.opts} for verb in VERBS}
    known = set().union(*options.values())
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        if OWN_OPTIONS & set(path.parts):
            continue
        for verb, option in re.findall(r"(?:\b(\w+) )?(?<![\w-])(--[a-z]+(?:-[a-z]+)*)", path.read_text("utf-8")):
            if option not in options.get(verb, known):
                wrong.append(f"{path.name}: {verb} {option}")
    assert wrong == []


# --- A table of wrong inputs ----------------------------------------------------------------

SPEC = """\
version: 1
source: people
release: people_release
quasi_identifiers:
  age: {intervals: [10, 20]}
  city: {}
sensitive: [illness]
privacy:
  - k_anonymity: {k: 2}
"""

# What is written in place of what, the verb, and the parts of the message: where, what, what to do.
SPECS: list[tuple[str, str, str, list[str]]] = [
    ("version: 1", "version: 2", "plan", ["spec.yml:1:", "version 1"]),
    ("version: 1", "", "plan", ["spec.yml", "version"]),
    ("source: people", "source: nowhere", "plan", ["nowhere"]),
    ("source: people", "sorce: people", "plan", ["spec.yml:2:1", "did you mean 'source'?"]),
    ("source: people", "source: {query: DROP TABLE people}", "plan", ["source query", "one SELECT statement"]),
    ("source: people", "source: {query: SELECT SELECT}", "plan", ["source query", "does not parse", "try it"]),
    ("source: people", "source: {file: people.docx}", "plan", ["people.docx", "expected a name that ends in"]),
    ("release: people_release", "release: people", "plan", ["spec.yml:3:", "source's name", "choose another"]),
    ("{intervals: [10, 20]}", "{intervals: [10, 25]}", "plan", ["spec.yml:5:", "25 is not a multiple of 10"]),
    (
        "{intervals: [10, 20]}",
        "{intervals: ten}",
        "plan",
        ["spec.yml:5:", "expected a list of interval widths", "text"],
    ),
    ("{intervals: [10, 20]}", "{dates: [year]}", "plan", ["spec.yml:5:", "DATE", "INTEGER", "cast it"]),
    ("{intervals: [10, 20]}", "{dates: [yaer]}", "plan", ["spec.yml:5:", "unknown date unit", "did you mean 'year'?"]),
    ("{intervals: [10, 20]}", "{intervals: [10], maximum_level: 9}", "plan", ["spec.yml:5:", "level 2"]),
    ("  city: {}", "  city: {file: none.csv}", "plan", ["none.csv", "cannot read", "relative to the spec"]),
    (
        "  city: {}",
        "  city: {tree: {North: [Oslo]}}",
        "plan",
        ["spec.yml:6:", "2 distinct values (3 rows)", "add rows"],
    ),
    ("  city: {}", "  city: {sql: [upper(y)]}", "plan", ["spec.yml:6:", "unknown name", "the only column is x"]),
    ("  city: {}", "  city: {sql: ['f((']}", "plan", ["spec.yml:6:", "does not parse", "such as floor(x / 10)"]),
    ("  city: {}", "  town: {}", "plan", ["spec.yml:6:", "town", "no such column", "expected one of"]),
    ("  city: {}", "  citty: {}", "plan", ["spec.yml:6:", "no such column", "did you mean 'city'?"]),
    ("sensitive: [illness]", "sensitive: [age]", "plan", ["spec.yml:", "age", "quasi_identifiers"]),
    ("{k: 2}", "{k: 0}", "plan", ["spec.yml:9:", "expected", "got 0"]),
    ("{k: 2}", "{k: two}", "plan", ["spec.yml:9:", "expected", "got text"]),
    ("{k: 2}", "{l: 2}", "plan", ["spec.yml:9:19", "k_anonymity.l: unknown key", "expected one of k"]),
    ("k_anonymity: {k: 2}", "k_anonimity: {k: 2}", "plan", ["spec.yml:9:", "did you mean 'k_anonymity'?"]),
    ("k_anonymity: {k: 2}", "l_diversity: {attribute: ilness, l: 2}", "plan", ["spec.yml:9:", "sensitive"]),
    ("privacy:", "nulls: ignore\nprivacy:", "plan", ["spec.yml:8:", "expected one of value, suppress, error"]),
    ("release: people_release\n", "", "check", ["release", "--table"]),
]


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KANON_SQL_DATABASE", raising=False)
    with duckdb.connect("people.duckdb") as connection:
        connection.execute("CREATE TABLE people (age INTEGER, city VARCHAR, illness VARCHAR)")
        connection.execute(
            "INSERT INTO people VALUES (31, 'Oslo', 'flu'), (32, ?, 'flu'), (33, ?, 'flu'), (34, 'Bergen', 'flu')",
            [SECRET, SECRET],
        )
    return tmp_path


def said_by(*arguments: str) -> str:
    """What a refused command says: on standard error, without a traceback, and without a value of anybody."""
    result: Any = CliRunner().invoke(app, arguments)
    assert result.exit_code in (2, 3), result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert SECRET not in result.stderr
    return " ".join(str(result.stderr).split())


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("old", "new", "verb", "parts"), SPECS, ids=[new or f"no {old}" for old, new, *_ in SPECS])
def test_wrong_specs(old: str, new: str, verb: str, parts: list[str], people: Path) -> None:
    assert old in SPEC
    (people / "spec.yml").write_text(SPEC.replace(old, new))
    said = said_by(verb, "spec.yml", "-d", "people.duckdb")
    for part in parts:
        assert part in said, said


COMMANDS: list[tuple[list[str], list[str]]] = [
    (["plan", "nowhere.yml", "-d", "people.duckdb"], ["nowhere.yml", "cannot read the spec", "kanon-sql init"]),
    (["plan", "spec.yml", "-d", "nowhere.duckdb"], ["nowhere.duckdb", "give an existing file with -d FILE"]),
    (["plan", "spec.yml", "-d", "mongodb://host/db"], ["not supported", "postgresql"]),
    (["plan", "spec.yml", "-d", ""], ["--database", "expected a DuckDB file"]),
    (["plan", "spec.yml", "-d", "people.duckdb", "--set", "scratch=here"], ["temp, inline or schema:NAME", "'here'"]),
    (["plan", "spec.yml", "-d", "people.duckdb", "--set", "memory_limit=much"], ["--set memory_limit", "such as 4GB"]),
    (["plan", "spec.yml", "-d", "people.duckdb", "--set", "max_bytes=few"], ["--set max_bytes", "such as 500MB"]),
    (["plan", "spec.yml", "-d", "people.duckdb", "-o", "no/where.html"], ["--output", "existing directory"]),
    (["plan", "spec.yml", "-d", "people.duckdb", "--fail-on-warnings"], ["--fail-on-warnings", "--fail-on-warning"]),
    (["anonymize", "spec.yml"], [":memory:", "a release in :memory: is lost when this process", "-d FILE"]),
    (["check", "spec.yml", "-d", "people.duckdb", "--set", "m=2"], ["--set earlier, person and m", "give all three"]),
    (["check", "spec.yml", "-d", "people.duckdb", "--table", "nobody"],
     ["no table or view 'nobody' in people.duckdb", "expected its name as the database has it"]),
    (["plan", "spec.yml"], ["no table or view 'people' in :memory:", "-d FILE"]),
    (["pipeline", "estimate", "spec.yml"], ["no table or view 'people' in :memory:", "-d FILE"]),
    (["hierarchy", "spec.yml"], ["no table or view 'people' in :memory:", "-d FILE"]),
    (["pipeline", "render", "spec.yml", "--dialect", "db2"], ["'db2'", "expected one of", "postgres"]),
    (["pipeline", "render", "spec.yml", "--node", "age"], ["--node", "such as --node age=1"]),
    (["pipeline", "render", "spec.yml", "--node", "age=7"], ["age has no level 7", "expected 0 to 3"]),
    (["audit", "spec.yml", "-d", "people.duckdb", "--attack", "homogenity"], ["did you mean 'homogeneity'?"]),
    (["risk", "spec.yml", "-d", "people.duckdb", "--columns", "town"], ["'town'", "expected one of 'age', 'city'"]),
    (["compare", "spec.yml", "-d", "people.duckdb"], ["there is only one run", "--k 2,5,10"]),
    (["compare", "spec.yml", "-d", "people.duckdb", "--k", "2;5"], ["--k", "separated by commas"]),
    (["hierarchy", "spec.yml", "-d", "people.duckdb", "--attribute", "x"], ["'x'", "expected one of age, city"]),
    (["init", "nobody", "-d", "people.duckdb"], ["'nobody'", "expected its name as the database has it"]),
    (["release", "ledger", "-d", "people.duckdb"], ["no ledger 'kanon_sql_ledger'", "the first release creates it"]),
    (["report", "run.json"], ["run.json", "no such file", "-d"]),
    (["report", "spec.yml"], ["spec.yml", "the manifest of its release is in the database", "with -d"]),
    (["pipeline", "schema", "results"], ["'results'", "unknown schema", "risk"]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "parts"), COMMANDS, ids=[" ".join(command) for command, _ in COMMANDS])
def test_wrong_commands(command: list[str], parts: list[str], people: Path) -> None:
    (people / "spec.yml").write_text(SPEC)
    said = said_by(*command)
    for part in parts:
        assert part in said, said
