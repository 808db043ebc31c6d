"""The SQL of every template in every dialect, kept in files: what changes in them is seen and read.

For engines that no test can run, these files are the evidence: each statement parses in its
dialect, and the traps that are known have a test each in test_dialects.py. Make the files anew with

    KANON_UPDATE_GOLDEN=1 python -m pytest tests/golden/test_golden.py -n 2 -q -m "slow or not slow or campaign"

``duckdb.sql`` holds every statement in full (``golden_files`` says how it is read); the file of another dialect says
what it writes otherwise, and has a digest of every statement (``golden_differences``).

sqlglot's own output changes a little between versions, so the files are compared exactly
under the version that made them; under any other, the statements only have to parse.
"""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from typer.testing import CliRunner

import kanon_sql
from kanon_sql.cli import app
from kanon_sql.engines import duckdb_macros
from kanon_sql.engines.backends import sqlite as sqlite_backend
from kanon_sql.errors import UnsupportedError
from kanon_sql.sql import templates
from kanon_sql.sql.dialects import DIALECTS, dialect_named
from kanon_sql.sql.template_files import template_names
from tests.golden.differences import differences_file, explained
from tests.golden.files import Block, as_file, expanded, read, shortened
from tests.golden.statements import parsed, spec_of, statements

FOLDER = Path(__file__).parent
MADE_WITH = "30.30.0"
UPDATE = os.environ.get("KANON_UPDATE_GOLDEN") == "1"
CHANGING = [(r"\d{4}-\d\d-\d\dT[\d:+]+", "(the time)"), (r'"python": "[\d.]+"', '"python": "(the version)"')]


def script(dialect: str) -> list[tuple[str, str]]:
    """Every different statement once, with the template that it came from, whenever and with whatever Python."""
    found = [(statement.name, statement.sql) for statement in statements(dialect)]
    for changing, shown in CHANGING:
        found = [(name, re.sub(changing, shown, sql)) for name, sql in found]
    return list(dict.fromkeys(found))


def test_help_and_the_error_list_every_dialect() -> None:
    shown = CliRunner().invoke(app, ["pipeline", "render", "--help"], env={"COLUMNS": "200"}).output
    with pytest.raises(UnsupportedError) as refused:
        kanon_sql.render(spec_of(), "access")
    for dialect in DIALECTS:
        assert re.search(rf"\b{dialect}\b", shown)
        assert re.search(rf"\b{dialect}\b", str(refused.value))


@pytest.mark.campaign_on("mysql", "redshift", "databricks", "sqlite", "mariadb", "clickhouse", "spark")
@pytest.mark.parametrize(
    "dialect",
    [
        pytest.param(name, marks=[pytest.mark.slow, pytest.mark.xdist_group(f"{name} files")])  # written once
        for name in DIALECTS
    ],
)
def test_the_files_hold_what_is_rendered_and_every_statement_parses(dialect: str) -> None:
    for sql in {statement.sql for statement in statements(dialect)}:
        parsed(sql, dialect)
    file = FOLDER / (f"{dialect}.sql" if dialect == "duckdb" else f"{dialect}.txt")
    written = script(dialect)
    if dialect == "duckdb":
        found = as_file(shortened(written, dialect_named(dialect).quoted))
        assert expanded(found) == as_file(written), "a file holds every statement"
    else:
        found = differences_file(script("duckdb") if UPDATE else in_full(), written, functions_of(written))
    if UPDATE:
        file.write_bytes(found.encode())  # with its carriage returns
    if sqlglot.__version__ == MADE_WITH:
        kept = file.read_bytes().decode()
        if kept != found:
            pytest.fail(f"{file.name}: read the difference; then KANON_UPDATE_GOLDEN=1\n{explained(kept, found)}")


def in_full() -> list[Block]:
    """DuckDB's statements, as they are kept."""
    return read((FOLDER / "duckdb.sql").read_bytes().decode())


A, B = "SELECT a, b FROM t WHERE a IS NOT DISTINCT FROM b", "SELECT CAST(a AS TEXT) AS c, 1 FROM t"


def test_a_difference_is_written_once_and_every_statement_has_a_digest() -> None:
    """Each digest is the beginning of what ``printf %s "..." | sha256sum`` prints."""
    duckdb = [("first", A), ("second", B)]
    others = [("first", A.replace("IS NOT DISTINCT FROM", "<=>")), ("second", B.replace("TEXT", "CHAR(9)"))]
    assert differences_file(duckdb, others, ["cast"]) == (
        "# called: cast\n# order: 4252f8d5\n"
        "-- first 1e9e6997\n…FROM t WHERE a «IS NOT DISTINCT FROM→<=>» b\n"
        "-- second d3b04657\n…CAST(a AS «TEXT→CHAR(9)») AS c,…\n"
    )


def test_no_change_of_a_statement_is_unseen() -> None:
    """What is the same but for names and numbers is shown once; its digest still is its own."""
    duckdb = [("first", "SELECT q0 // 2 FROM t"), ("first", "SELECT q1 // 3 FROM t"), ("first", "SELECT 1")]
    others = [("first", "SELECT q0 DIV 2 FROM t"), ("first", "SELECT q1 DIV 3 FROM t"), ("first", "SELECT 1")]
    kept = differences_file(duckdb, others, [])
    assert kept.count("«//→DIV»") == 1
    for place, (template, sql) in enumerate(others):
        for changed in (sql + " ", sql.replace("SELECT", "SELECT  "), sql.replace("1", "2"), sql.replace("D", "d")):
            if changed != sql:
                found = differences_file(duckdb, [*others[:place], (template, changed), *others[place + 1 :]], [])
                assert found != kept
    assert differences_file(duckdb, others[:-1], []) != kept
    assert differences_file(duckdb, [others[1], others[0], others[2]], []) != kept


def test_what_a_failure_says() -> None:
    duckdb = [("first", A), ("second", B)]
    kept = differences_file(duckdb, duckdb, [])
    found = differences_file(duckdb, [("first", A), ("second", B.replace("1", "CAST(1 AS BIGINT)"))], [])
    assert explained(kept, found) == (
        "statements that changed: second (1 of 1)\n+ …) AS c, «1 →CAST(1 AS BIGINT) »FROM t"
    )


def test_a_query_with_a_name_is_compared_with_the_table_that_it_stands_for() -> None:
    table, query = '"kanon_run_raw"', "SELECT a // 2 FROM t"
    duckdb = [("raw", f"CREATE TEMPORARY TABLE {table} AS {query}"), ("total", f"SELECT COUNT(*) FROM {table}")]
    named = f"WITH {table} AS ({query.replace('//', 'DIV')})\nSELECT COUNT(*) FROM {table}"
    lines = differences_file(duckdb, [("total", named)], []).splitlines()
    assert lines[-1] == "SELECT a «//→DIV» 2 FROM t"


def test_what_occurs_several_times_is_written_once() -> None:
    """The query that is in both statements has a name, which the second one's repeated line holds."""
    shared = f"(SELECT {'a, ' * 99}b FROM t)"
    line = f"SELECT {'c, ' * 99}d FROM {shared}"
    short = "(SELECT b FROM t)"
    written = [("first", f"SELECT * FROM {shared}, {short}, {short}"), ("second", f"{line}\nUNION ALL\n{line}")]
    assert as_file(shortened(written, dialect_named("duckdb").quoted)) == (
        f"-- «first 1»\n{shared}\n\n"
        f"-- first\nSELECT * FROM «first 1», {short}, {short};\n\n"
        f"-- «second 1»\nSELECT {'c, ' * 99}d FROM «first 1»\n\n"
        "-- second\n«second 1»\nUNION ALL\n«second 1»;\n"
    )
    assert expanded(as_file(shortened(written, dialect_named("duckdb").quoted))) == as_file(written)


def test_a_parenthesis_in_a_text_ends_nothing() -> None:
    query = f"(SELECT '){'x' * 200}(' AS \"a)\" FROM t)"
    written = [("twice", f"SELECT * FROM {query}, {query}")]
    assert as_file(shortened(written, dialect_named("duckdb").quoted)) == (
        f"-- «twice 1»\n{query}\n\n-- twice\nSELECT * FROM «twice 1», «twice 1»;\n"
    )


RUN_BY_CONFORMANCE = (
    # What is written depends on what was drawn.
    "release/differential/",
    # A model, a metric and a recoding have tests of their own, and what a recoding asks next depends on what it read.
    "models/",
    "recode/",
    "release/recoded_",
    "release/kept/",
    "hierarchies/graph/",
    # The same, and what is drawn or hashed has a key that no two runs share.
    "release/invariant/",
    "disclosure/attacks/mapp",
    "parties/",  # tests/parties/test_parties_engines.py
    # Written for a database to keep: tests/verbs/test_functions.py and tests/verbs/test_policies.py
    "verbs/functions/",
    "verbs/policies/",
    # Several tables: tests/relations/ and tests/verbs/init/test_init_tables.py, on every engine that has them
    "relations/",
    "release/manifest/joined",
    "verbs/demo/",
    "verbs/init/orphans",
    "verbs/init/other_ways",
    "verbs/init/repeated",
    "perturbation/",
    "frequency/coded",
    "frequency/draw",
    "frequency/rounded",
    "frequency/stepped",
    "frequency/equal_rows",  # tests/release/test_counts.py, on every engine
    "frequency/wrong_counts",  # the same
    "frequency/equals",  # tests/frequency/test_reading.py, on every engine
    "frequency/key",  # the same
    "frequency/known",
    "frequency/rows_with_codes",
    "frequency/writes",
    "frequency/read",
    "hierarchies/rare",  # tests/hierarchies/test_rare.py, on every engine
    "frequency/pointed",
    "frequency/outside",
    "hierarchies/foreign",
    "hierarchies/levels/local",  # tests/hierarchies/test_time_zones.py, on every engine that has zones
    "hierarchies/lost_times",
    "hierarchies/nearly",  # tests/hierarchies/test_matching_rows.py, on every engine
    "hierarchies/levels/box",
    "hierarchies/levels/cell",
    "hierarchies/levels/coordinate",
    "hierarchies/levels/corner",
    "verbs/classify/",
    "frequency/personal_k",
    "frequency/weight_units",  # tests/models/privacy/test_k_map_weighted.py, on every engine
    "frequency/wrong_weights",  # the same
    "models/privacy/k_map_weighted",  # the same
    "evaluate/table_wide",
    "evaluate/worst_parts",  # tests/models/privacy/test_others_known.py, on every engine
    "disclosure/risk/suda",  # tests/disclosure/risk/test_suda.py, on every engine
    "disclosure/risk/weighted",  # tests/disclosure/risk/test_weighted.py, on every engine
    "evaluate/combinations/",  # tests/models/privacy/test_combined_k.py, on every engine
    "recode/combined/",  # tests/recode/test_combined_cells.py, on every engine
    "models/privacy/combined_k_anonymity",  # the same
    "tables/noise/",  # each run draws another order of a person's cells
    "verbs/distributions/",
    "verbs/evidence/",
    "verbs/certify/",  # tests/verbs/certify/test_certify_oracle.py, on every engine
    "evaluate/partitions/strangers",  # tests/engines/test_enumerations.py, on every engine with enumerations
    "frequency/place",  # the same
    "hierarchies/spelling",  # tests/evaluate/test_spellings.py, on every engine with such numbers
    "hierarchies/computed/",  # tests/hierarchies/test_computed_columns.py, on every engine
    "release/state/",  # tests/release/test_refresh_sequences.py, on every engine that has it
    "release/guarded",  # tests/release/test_guarded_view.py, on every engine that has it
    "release/drop_view",
    "release/rare_values",
    "release/typed",  # tests/release/test_counted_releases.py
    "hierarchies/inline/",
    "hierarchies/levels/padded",  # tests/hierarchies/test_computed_columns.py, on every engine
    "disclosure/attacks/correspondence",  # its own tests attack by it on every engine
    "verbs/warnings/linked",  # tests/positions/test_cloak_warnings.py, on every engine
    "verbs/warnings/births",  # of CSV files, which DuckDB alone reads
    "relations/shared_keys",  # tests/relations/test_relational_apply.py
    # Files are released by DuckDB alone: tests/release/test_release_files.py
    "release/differing",
    "release/formulas",
)
"""Templates that the golden files need not have, since the conformance suite runs them on every engine."""


@pytest.mark.campaign
def test_every_template_is_in_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()
    original = templates.Environment.get_template

    def noted(self: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        used.add(name)
        return original(self, name, *args, **kwargs)

    monkeypatch.setattr(templates.Environment, "get_template", noted)
    templates._remembered.cache_clear()
    for dialect in ("duckdb", "sqlite", "tsql"):  # two templates are only for engines with a trap
        statements.__wrapped__(dialect)
    missing = set(template_names()) - used
    assert {name for name in missing if not name.startswith(RUN_BY_CONFORMANCE)} == set()


LITERALS_AND_NAMES = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/""", re.DOTALL)


def functions_of(statements: list[Block]) -> set[str]:
    """What statements call, in lower case."""
    texts = (LITERALS_AND_NAMES.sub(" ", sql) for _, sql in statements)
    return {name.lower() for text in texts for name in re.findall(r"\b(\w+)\(", text)}


def functions_in(dialect: str) -> set[str]:
    """What is called in the statements of a golden file."""
    if dialect == "duckdb":
        return functions_of(in_full())
    called = re.search(r"^# called: ([^#]*)", (FOLDER / f"{dialect}.txt").read_text("utf-8"))
    assert called
    return set(re.split(r",\s+", called.group(1).strip()))


def test_every_function_that_a_user_could_hide_is_looked_for() -> None:
    """A macro, or a function of the application's, under the name of one that our SQL calls would be called instead."""
    with duckdb.connect() as connection:
        builtin = {
            name
            for (name,) in connection.execute("SELECT function_name FROM duckdb_functions() WHERE internal").fetchall()
        }
    called = functions_in("duckdb") & builtin
    assert len(called) > 15
    assert called <= {*duckdb_macros._FUNCTIONS}
    with closing(sqlite3.connect(":memory:")) as library:
        builtin = {name for (name,) in library.execute("SELECT name FROM pragma_function_list")}
    called = functions_in("sqlite") & builtin - {"floor", "ln"}  # these are ours
    assert len(called) > 15
    assert called <= {*sqlite_backend._FUNCTIONS}
