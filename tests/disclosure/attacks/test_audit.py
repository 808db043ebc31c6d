"""``audit``: degenerate tables, the order of rows, what is refused, what may never be shown, and every engine."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from math import isclose
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

import kanon_sql
from kanon_sql import Spec, SpecError, audit
from kanon_sql.cli import app
from kanon_sql.disclosure.attacks import ON_REQUEST, Attack, Unmeasured, worst_of
from kanon_sql.disclosure.attacks.unsorted import correlated
from kanon_sql.errors import DatabaseError, UnsupportedError
from kanon_sql.report.json import audit_schema
from kanon_sql.verbs.audit import AuditResult
from tests.conftest import Database
from tests.servers import SUBJECTS, subject_of
from tests.support.audits import CLINIC, NAMES, clinic, engine_marks, small_spec

# --- Degenerate tables --------------------------------------------------------------------------


@pytest.mark.slow
def test_an_empty_table_does_not_pass(database: Database) -> None:
    for name in ("s", "r", "e"):
        database.table(name, ["q", "d"], [])
    result = audit(
        database.engine, small_spec(), external="e", earlier=["e"], hierarchies={"d": {"tree": {"x": ["flu"]}}}
    )
    assert not result.passed
    assert result.message == "r has no rows, so that nothing was attacked"
    assert {attack.examined for attack in result.attacks} == {0}
    assert {attack.risk for attack in result.attacks} == {None}


def test_a_class_of_nulls_discloses_nothing_and_null_protects_nobody(database: Database) -> None:
    database.table("s", ["q", "d"], [("a", None)] * 3 + [("b", "flu"), ("b", None), (None, "flu"), (None, "x")])
    database.table("r", ["q", "d"], database.rows("s"))
    (attack,) = audit(database.engine, small_spec(), attacks=["homogeneity"]).attacks
    assert (attack.examined, attack.exposed, attack.beyond) == (7, 2, 2)


def test_the_most_frequent_others_are_ruled_out(database: Database) -> None:
    """Counts 5, 3 and 1: without the 3 the most frequent value is 5 of 6."""
    database.table("s", ["q", "d"], [("a", "x")] * 5 + [("a", "y")] * 3 + [("a", "z")] + [("a", None)] * 9)
    database.table("r", ["q", "d"], database.rows("s"))
    (attack,) = audit(database.engine, small_spec(), attacks=["background"]).attacks
    assert (attack.exposed, attack.risk) == (0, 5 / 6)


# --- The order of rows --------------------------------------------------------------------------


def ordered(database: Database, shuffled: bool) -> Spec:
    """Forty people in two classes, released in the source's order or in another; all their charges differ."""
    people = [(f"{position % 2}{position % 3}", str(position * 17 % 101)) for position in range(40)]
    database.table("people", ["q", "charge"], people)
    released = [(q[0] + "*", charge) for q, charge in people]
    if shuffled:
        random.Random(3).shuffle(released)
    else:
        released.sort(key=lambda row: row[0])  # by class, and in a class as they were
    database.table("released", ["q", "charge"], released)
    return Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "released", "quasi_identifiers": {"q": {"prefix": [1]}},
            "keep": ["charge"], "privacy": [{"k_anonymity": 2}],
        }
    )  # fmt: skip


def test_a_release_in_the_sources_order_exposes_everybody(database: Database) -> None:
    """Sweeney 2002, section 4.1, also when its classes are sorted."""
    (attack,) = audit(database.engine, ordered(database, shuffled=False), attacks=["unsorted"]).attacks
    assert (attack.examined, attack.exposed, attack.beyond) == (40, 40, 40)
    assert attack.risk is not None
    assert isclose(attack.risk, 1.0)


@pytest.mark.slow
def test_a_shuffled_release_and_our_own_expose_nobody(database: Database) -> None:
    spec = ordered(database, shuffled=True)
    assert audit(database.engine, spec, attacks=["unsorted"]).passed
    database.connection.execute("DROP TABLE released")
    assert kanon_sql.anonymize(database.engine, spec).passed
    assert audit(database.engine, spec).passed


def test_few_rows_show_no_order() -> None:
    assert not correlated(1.0, 7)
    assert correlated(1.0, 8)
    assert not correlated(0.5, 50)
    assert correlated(0.7, 50)


# --- What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": ["q"]}, "on: needs an external table"),
        ({"external": "e", "on": ["z"]}, "no column 'z'"),
        ({"external": "nothing"}, "nothing"),
        ({"external": "apart"}, "no column in common"),
        ({"negations": 0}, "at least 1"),
        ({"attacks": ["linkin"]}, "did you mean 'linking'"),
        ({"attacks": ["linking"]}, "needs an external table"),
        ({"attacks": ["homogeneity"], "external": "e"}, "only the attack linking"),
        ({"attacks": ["homogeneity"], "earlier": ["e"]}, "only the attack complementary or composition"),
        ({"attacks": ["homogeneity"], "negations": 2}, "only the attack background"),
        ({"attacks": ["composition"]}, "needs an earlier release"),
        ({"hierarchies": {"q": {"prefix": [1]}}}, "not listed under sensitive"),
        ({"hierarchies": {"d": {"prefixes": [1]}}}, "did you mean 'prefix'"),
        ({"count_rows": True}, "--rows: the spec has no unit, so rows are"),
        ({"table": "apart"}, "no column 'q'"),
        ({"earlier": ["strange"]}, "other hierarchies"),
        ({"reveal": -1}, "at least 0"),
    ],
)
def test_what_cannot_apply_is_refused(database: Database, options: dict[str, Any], message: str) -> None:
    database.table("s", ["q", "d"], [("a", "x")])
    database.table("r", ["q", "d"], [("a", "x")])
    database.table("e", ["q"], [("a",)])
    database.table("apart", ["other"], [("a",)])
    database.table("strange", ["q", "d"], [("another label", "x")])
    with pytest.raises(kanon_sql.KanonError, match=message):
        audit(database.engine, small_spec(), **options)


def test_a_source_that_is_not_there_is_said_to(database: Database) -> None:
    database.table("r", ["q", "d"], [])
    with pytest.raises(DatabaseError, match="there is no table or view 's'"):
        audit(database.engine, small_spec())


def test_nothing_to_attack_with_is_no_pass(database: Database) -> None:
    database.table("r", ["q"], [("a",)])
    database.table("s", ["q"], [("b",)])
    with pytest.raises(SpecError, match=r"no attack on r is possible: .*consistency: 1 rows of r"):
        audit(database.engine, small_spec(sensitive=[]))


def test_persons_are_counted_as_rows_only_if_the_user_says_so(database: Database) -> None:
    database.table("s", ["q", "d", "person"], [("a", "x", "p")] * 2)
    database.table("r", ["q", "d"], [("a", "x")] * 2)
    spec = small_spec(unit="person")
    with pytest.raises(SpecError, match="--rows"):
        audit(database.engine, spec)
    result = audit(database.engine, spec, count_rows=True)
    assert any("upper bound" in note for note in result.notes)


# --- Nothing is written, and nothing is told ------------------------------------------------------

SECRET = "Qwyjibo"


@pytest.fixture
def secretive(database: Database) -> Spec:
    rows = [("a", "flu"), ("a", "cold"), (SECRET, SECRET)]
    for name in ("s", "r", "e", "old"):
        database.table(name, ["q", "d"], rows)
    return small_spec()


@pytest.mark.slow
def test_values_are_told_only_on_request(database: Database, secretive: Spec) -> None:
    before = database.tables()
    options: dict[str, Any] = {"external": "e", "earlier": ["old"]}
    result = audit(database.engine, secretive, **options)
    assert not result.passed
    assert SECRET not in json.dumps(result.to_dict()) + result.message + "".join(result.sql)
    assert not any("CREATE" in sql.replace("CREATE TEMP", "") or "INSERT" in sql for sql in result.sql)
    assert database.tables() == before
    assert result.cost.rows_fetched < 60
    shown = audit(database.engine, secretive, reveal=2, **options)
    jsonschema.Draft202012Validator(audit_schema()).validate(shown.to_dict())
    assert SECRET in json.dumps(shown.to_dict())
    assert SECRET not in "".join(shown.sql)
    assert all(len(attack.revealed or ()) <= 2 for attack in shown.attacks)


@pytest.mark.slow
def test_the_command_line_tells_no_value_unless_asked(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    monkeypatch.chdir(tmp_path)
    with duckdb.connect("clinic.duckdb") as connection:
        for name in ("s", "r", "e"):
            connection.execute(f"CREATE TABLE {name} AS SELECT '{SECRET}' AS q, '{SECRET}' AS d")
    (tmp_path / "spec.yml").write_text(
        "version: 1\nsource: s\nrelease: r\nquasi_identifiers: {q: }\nsensitive: [d]\nprivacy: [{k_anonymity: 2}]\n"
    )
    (tmp_path / "d.csv").write_text(f"{SECRET};group;*\nother;other;*\n")
    command = ["audit", "spec.yml", "-d", "clinic.duckdb", "--external", "e", "--set", "hierarchy=d=d.csv"]
    hidden = CliRunner().invoke(app, [*command, "--earlier", "e"])
    assert hidden.exit_code == 1, hidden.output
    assert SECRET not in hidden.output
    for word in ("FAIL", "linking with e", "(estimate)", "homogeneity of d", "similarity of d", "complementary with e"):
        assert word in hidden.stdout
    shown = CliRunner().invoke(app, [*command, "--reveal", "1"])
    assert SECRET in shown.stdout
    assert "warning" in shown.stderr
    data = json.loads(CliRunner().invoke(app, [*command, "--format", "json"]).stdout)
    jsonschema.Draft202012Validator(audit_schema()).validate(data)
    assert SECRET not in json.dumps(data)
    refused = CliRunner().invoke(app, [*command, "--set", "hierarchy=d"])
    assert refused.exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "requirement", "makes"),
    [
        (["audit", "spec.yml", "--external", "e"], "k_anonymity: {k: 1}", True),
        (["release", "evidence", "spec.yml", "--external", "e"], "k_anonymity: {k: 1}", True),
        (["check", "spec.yml"], "k_map: {population: e, k: 1}", True),
        (["check", "spec.yml"], "k_anonymity: {k: 1}", False),
    ],
)
def test_the_command_line_makes_temporary_tables_where_several_statements_read_them(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, command: list[str], requirement: str, makes: bool
) -> None:
    import duckdb

    monkeypatch.chdir(tmp_path)
    with duckdb.connect("clinic.duckdb") as connection:
        for name in ("s", "r", "e"):
            connection.execute(f"CREATE TABLE {name} AS SELECT i % 2 AS q, i AS d FROM range(8) AS numbers(i)")
    (tmp_path / "spec.yml").write_text(
        f"version: 1\nsource: s\nrelease: r\nquasi_identifiers: {{q: }}\nsensitive: [d]\nprivacy: [{{{requirement}}}]\n"
    )
    found = CliRunner().invoke(app, [*command, "-d", "clinic.duckdb", "-v"])
    assert found.exit_code in (0, 1), found.output
    assert ("CREATE TEMPORARY TABLE" in found.stderr) == makes
    with duckdb.connect("clinic.duckdb") as connection:
        assert {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()} == {*"sre"}


def test_the_schema_names_every_attack_and_key(database: Database, secretive: Spec) -> None:
    schema = audit_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    data = audit(database.engine, secretive, reveal=1).to_dict()
    assert set(data) == set(schema["properties"]) == set(schema["required"])
    keys = schema["$defs"]["Attack"]["properties"]
    assert set(keys["name"]["enum"]) == NAMES
    assert set(data["attacks"][0]) == set(keys)
    printed = CliRunner().invoke(app, ["pipeline", "schema", "audit"])
    assert json.loads(printed.stdout) == schema
    assert CliRunner().invoke(app, ["pipeline", "schema", "audits"]).exit_code == 2


# --- Every engine -------------------------------------------------------------------------------


AUDITED: dict[str, Any] = {
    "external": "audited_people", "earlier": ["audited_before"], "other_views": ["audited_areas"],
    "negations": 2, "reveal": 2,
    "hierarchies": {"illness": {"tree": {"Infection": ["flu", "Flu"], "Stomach": ["ulcer"]}}},
}  # fmt: skip
KINDS = {"text": "VARCHAR", "integer": "INTEGER", "decimal": "DECIMAL(12, 2)"}


def audited_tables() -> dict[str, tuple[dict[str, str], list[tuple[Any, ...]]]]:
    """Each table's columns with their types, and its rows."""
    visits, first, second, people = clinic()
    texts = dict.fromkeys(("age", "zip", "sex", "illness"), "text")
    return {
        "audited_visits": ({**texts, "age": "integer", "charge": "integer"}, visits),
        "audited": ({**texts, "charge": "integer"}, second),
        "audited_areas": ({"zip": "text", "illness": "text"}, [(code, illness) for _, code, _, illness, _ in second]),
        "audited_before": ({**texts, "charge": "integer"}, first),
        "audited_people": ({"age": "decimal", "zip": "text", "charge": "decimal"}, people),  # 5 is 5.00
    }


def expected_audit(database: Database) -> AuditResult:
    """What DuckDB finds, whose attacks are held to brute force."""
    for table, (columns, rows) in audited_tables().items():
        database.table(table, {column: KINDS[kind] for column, kind in columns.items()}, rows)
    expected = audit(database.engine, Spec.from_dict(CLINIC), **AUDITED)
    assert {attack.name for attack in expected.attacks} == NAMES - {*ON_REQUEST, "downcoding, minimal"}
    assert sum(attack.exposed > 0 for attack in expected.attacks) >= 5, "the tables must have something to find"
    return expected


@pytest.mark.campaign_on("clickhouse")
@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=engine_marks(name)) for name in SUBJECTS])
def test_every_engine_finds_the_same(name: str, database: Database) -> None:
    if name == "spark":
        pytest.skip("it takes Spark minutes; the statements are rendered for it in the golden files")
    expected = expected_audit(database)
    with subject_of(name) as subject:
        for table, (columns, rows) in audited_tables().items():
            subject.table(table, columns, rows)
        with closing(subject.connect(read_only=name not in ("duckdb", "clickhouse"))) as engine:
            found = audit(engine, Spec.from_dict(CLINIC), **AUDITED)
    assert found.verdict == expected.verdict
    seen = [attack for attack in expected.attacks if attack.name not in found.left_out]
    for ours, theirs in zip(found.attacks, seen, strict=True):
        assert_the_same_attack(ours, theirs)
    assert ("unsorted" in found.left_out) == (name not in ("duckdb", "postgres", "sqlite"))
    if "unsorted" in found.left_out:
        assert "physical row identifier" in found.left_out["unsorted"]
    assert not any("CREATE" in sql.replace("CREATE TEMP", "") for sql in found.sql)


def assert_the_same_attack(ours: Attack, theirs: Attack) -> None:
    assert (ours.label, ours.examined, ours.exposed, ours.beyond) == (
        theirs.label, theirs.examined, theirs.exposed, theirs.beyond,
    )  # fmt: skip
    assert ours.risk is not None
    assert theirs.risk is not None
    assert isclose(ours.risk, theirs.risk, abs_tol=1e-9)
    assert len(ours.revealed or ()) == len(theirs.revealed or ())


def test_an_order_that_cannot_be_seen_is_refused_by_name(database: Database) -> None:
    database.table("s", ["q", "d"], [("a", "x")])
    database.table("r", ["q", "d"], [("a", "x")])
    spec = small_spec(source={"query": "SELECT * FROM s"})
    with pytest.raises(UnsupportedError, match="query or a file"):
        audit(database.engine, spec, attacks=["unsorted"])


@pytest.mark.parametrize("without", ["s", "r"])
def test_a_table_without_row_numbers_is_attacked_otherwise(tmp_path: Any, without: str) -> None:
    path = tmp_path / "clinic.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for name in ("s", "r"):
            option = " WITHOUT ROWID" if name == without else ""
            connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, q TEXT, d TEXT){option}")
            connection.execute(f"INSERT INTO {name} VALUES (1, 'a', 'x'), (2, 'a', 'y')")
    with closing(kanon_sql.connect(f"sqlite:///{path}")) as engine:
        result = audit(engine, small_spec())
    assert "no physical identifier" in result.left_out["unsorted"]
    assert "consistency (1,k)" in {attack.name for attack in result.attacks}


def test_of_several_readings_one_that_is_too_large_for_a_part_counts_for_the_others() -> None:
    """The labels may be of the level whose graph was too large: what was found there is not to be lost."""

    def attack(name: str, exposed: int) -> Attack:
        return Attack(name, None, 9, exposed, exposed, 0.5, "")

    exposing, safe, everything = attack("(1,k)", 3), attack("(1,k)", 0), attack("global", 0)
    large = Unmeasured("global", "too many edges", too_large=True)
    assert worst_of([[exposing, large], [safe, everything]]) == [exposing, large, everything]
    assert worst_of([[exposing, Unmeasured("global", "no assignment")], [safe, everything]]) == [safe, everything]
    assert worst_of([[safe], [exposing]]) == [exposing]
