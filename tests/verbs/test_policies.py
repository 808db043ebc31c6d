"""Policies: on PostgreSQL by trying every way that a role has, elsewhere as far as parsers and emulators go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

import kanon_sql
from kanon_sql.errors import KanonError, SpecError, UnsupportedError
from kanon_sql.registers import POLICY_DIALECTS
from kanon_sql.verbs.policies import policies
from tests.servers import subject_of
from tests.support.command_line import run
from tests.support.reading_roles import HARMLESS, WAYS, World, leaks, named, quote, remove, world

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "clinic.visits",
    "release": "released.visits_release",
    "unit": "patient_id",
    "identifiers": ["name", "born"],
    "quasi_identifiers": {
        "age": {"intervals": [5, 10]}, "zip": {"prefix": [4, 3], "minimum_level": 1},
        "since": {"dates": ["year"], "minimum_level": 1},
    },
    "sensitive": ["diagnosis"],
    "privacy": [{"k_anonymity": {"k": 5}}, {"k_anonymity": {"k": 9, "quasi_identifiers": ["age"]}}],
}  # fmt: skip
ROLES = {"bigquery": "group:analysts@example.org"}


def written(dialect: str, **changes: Any) -> str:
    return policies(kanon_sql.Spec.from_dict({**SPEC, **changes}), dialect, ROLES.get(dialect, "analyst"))


def statements(text: str) -> list[str]:
    """The statements of a script without its comments; a body in dollars is one."""
    parts = re.split(r"(\$kanon\d*\$.*?\$kanon\d*\$)", text, flags=re.DOTALL)
    plain = "".join(re.sub("--[^\n]*\n", "\n", part) if not index % 2 else "\0" for index, part in enumerate(parts))
    bodies = iter(parts[1::2])
    found = [part.strip() for part in plain.split(";") if part.strip()]
    return [item.replace("\0", next(bodies)) if "\0" in item else item for item in found]


# --- PostgreSQL: no identifier by any way ---------------------------------------------------------


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    with subject_of("postgres") as subject:
        import psycopg

        url = subject.server.url().replace("+psycopg", "")  # type: ignore[attr-defined]
        with psycopg.connect(url, autocommit=True) as made:
            made.execute("SET client_min_messages = error")
            yield made


def spec_of(made: World) -> kanon_sql.Spec:
    def table(parts: tuple[str, str]) -> str:
        return ".".join('"' + part.replace('"', '""') + '"' for part in parts)

    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": table(made.source),
            "release": table(made.release),
            "identifiers": made.identifiers,
            "quasi_identifiers": {"age": {}},
            "privacy": [{"k_anonymity": {"k": 2}}],
        }
    )


def refusal(connection: Any, text: str) -> str | None:
    """Why the script changes nothing; None where it runs."""
    import psycopg

    try:
        connection.execute(text)
    except psycopg.errors.RaiseException as error:
        connection.execute("ROLLBACK")
        return str(error)
    return None


def try_world(connection: Any, seed: int) -> str:
    """What became of a world's script."""
    made = world(seed)
    try:
        for statement in made.statements:
            connection.execute(statement)
        text = policies(spec_of(made), "postgres", made.reader)
        why = refusal(connection, text)
        if why is None:
            assert leaks(connection, made) == [], (seed, made.ways)
            connection.execute(f"SET ROLE {quote(made.reader)}")
            assert connection.execute(f"SELECT count(*) FROM {named(*made.release)}").fetchone() == (12,)
            connection.execute("RESET ROLE")
            return "runs"
        for line in text.splitlines():
            if line.startswith(("REVOKE", "GRANT")):
                connection.execute(line)
        return "needed" if leaks(connection, made) else "careful"
    finally:
        connection.execute("RESET ROLE")
        remove(connection, made)


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("way", WAYS)
def test_a_role_reads_no_identifier_by_any_way(connection: Any, way: str) -> None:
    """In the first schemas that have this way alone, until one shows an identifier without the script's look."""
    alone = (seed for seed in count() if world(seed).ways == [way])
    found = [try_world(connection, next(alone))]
    while found[-1] != "needed" and len(found) < 4:
        found.append(try_world(connection, next(alone)))
    assert "needed" in found or way in ("grant", "attribute")


@pytest.mark.xdist_group("postgres")
def test_it_runs_where_there_is_no_way(connection: Any) -> None:
    assert try_world(connection, next(seed for seed in count() if not world(seed).ways)) == "runs"


@pytest.mark.xdist_group("postgres")
@pytest.mark.campaign
@pytest.mark.parametrize("start", range(100, 600, 50))
def test_a_role_reads_no_identifier_in_500_schemas(connection: Any, start: int) -> None:
    found = [try_world(connection, seed) for seed in range(start, start + 50)]
    assert found.count("needed") > found.count("careful")


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("case", HARMLESS)
def test_what_shows_nothing_does_not_stop_the_script(connection: Any, case: str) -> None:
    made = next(item for item in map(world, range(1000, 2000)) if not item.ways)
    names = {"view": named(made.schemas[2], "v"), "source": named(*made.source), "reader": quote(made.reader)}
    try:
        for statement in [*made.statements, *(item.format(**names) for item in HARMLESS[case])]:
            connection.execute(statement)
        assert refusal(connection, policies(spec_of(made), "postgres", made.reader)) is None
        assert leaks(connection, made) == []
    finally:
        remove(connection, made)


@pytest.mark.xdist_group("postgres")
def test_a_way_that_was_looked_at_is_accepted(connection: Any) -> None:
    made = next(item for item in map(world, range(2000, 3000)) if not item.ways)
    try:
        view = named(made.schemas[2], "counts")
        for statement in [
            *made.statements,
            f"CREATE VIEW {view} AS SELECT count(*) AS n FROM {named(*made.source)}",
            f"GRANT SELECT ON {view} TO PUBLIC",
        ]:
            connection.execute(statement)
        text = policies(spec_of(made), "postgres", made.reader)
        why = refusal(connection, text)
        assert why is not None
        ways = [line for line in why.splitlines() if ", by rights of " in line]
        assert len(ways) == 1
        assert all(quote(role) in ways[0] for role in made.roles[1:2]), "the reader among them"
        listed = ", ".join("'" + way.replace("'", "''") + "'" for way in ways)
        accepted = text.replace("text[] := ARRAY[]", f"text[] := ARRAY[{listed}]")
        assert refusal(connection, accepted) is None
    finally:
        remove(connection, made)


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("kept", ["state", "recoding"])
def test_what_a_run_keeps_is_held_like_the_source(connection: Any, kept: str) -> None:
    """The state of a release that grows, and a recoding that was saved: both may hold values of the source."""
    made = next(item for item in map(world, range(3000, 4000)) if not item.ways)
    state, saved, reader = made.schemas[2], named(made.release[0], "learned"), quote(made.reader)
    changes: dict[str, Any] = {"recoding": {"method": "local", "save_as": "learned"}}
    if kept == "state":
        changes = {"state": {"schema": '"' + state.replace('"', '""') + '"'}, "increments": {"watermark": "at"}}
    try:
        for statement in [
            *made.statements,
            f"CREATE TABLE {saved} AS SELECT * FROM {named(*made.source)}",
            f"CREATE TABLE {named(state, 'waiting')} AS SELECT * FROM {named(*made.source)}",
            f"GRANT SELECT ON {saved if kept == 'recoding' else named(state, 'waiting')} TO {reader}, PUBLIC",
        ]:
            connection.execute(statement)
        spec = spec_of(made)
        text = policies(spec.changed({**spec.to_dict(), **changes}), "postgres", made.reader)
        assert leaks(connection, made)
        assert refusal(connection, text) is None
        assert leaks(connection, made) == []
    finally:
        remove(connection, made)


@pytest.mark.xdist_group("postgres")
def test_labels_of_the_anonymizer_are_understood(connection: Any) -> None:
    """The extension is not here: PostgreSQL parses a label, looks for the table, and misses the extension."""
    import psycopg

    connection.execute("DROP SCHEMA IF EXISTS clinic CASCADE; DROP SCHEMA IF EXISTS released CASCADE")
    connection.execute("CREATE SCHEMA clinic; CREATE SCHEMA released; CREATE ROLE analyst")
    columns = "patient_id int, name text, born date, age int, zip text, since date, diagnosis text"
    connection.execute(f"CREATE TABLE clinic.visits ({columns}); CREATE TABLE released.visits_release ({columns})")
    text = policies(kanon_sql.Spec.from_dict(SPEC), "postgres", anonymizer=True)
    assert text.startswith(policies(kanon_sql.Spec.from_dict(SPEC), "postgres").rstrip())
    labels = [item for item in statements(text) if item.startswith("SECURITY LABEL")]
    assert len(labels) == 1 + 5 + 3
    for label in labels:
        with pytest.raises(psycopg.Error, match=r'security label provider "(anon|k_anonymity)" is not loaded'):
            connection.execute(label)
    connection.execute("DROP SCHEMA clinic CASCADE; DROP SCHEMA released CASCADE; DROP ROLE analyst")


# --- Warehouses -----------------------------------------------------------------------------------

PARSED = {
    "snowflake": {exp.Grant, exp.Revoke},
    "bigquery": {exp.Grant, exp.Revoke, exp.Create},
    "databricks": {exp.Grant, exp.Revoke, exp.Create},
    "postgres": {exp.Grant, exp.Revoke, exp.Transaction, exp.Commit, exp.Set},
}
"""What sqlglot really parses; it takes all else as a command, and would take anything for it."""


@pytest.mark.parametrize("dialect", POLICY_DIALECTS)
def test_what_sqlglot_parses(dialect: str) -> None:
    kinds = set()
    for statement in statements(written(dialect)):
        (tree,) = sqlglot.parse(statement, read=dialect)
        kinds.add(type(tree))
    assert kinds - {exp.Command} == PARSED[dialect]


def test_snowflakes_policies() -> None:
    text = written("snowflake")
    assert text.count("SET MASKING POLICY") == 4
    assert 'MODIFY COLUMN "patient_id" SET MASKING' not in text, "of masked persons a group would have none"
    assert 'MODIFY COLUMN "patient_id" SET PROJECTION' in text
    assert re.search(r'"since" SET MASKING POLICY "clinic"."kanon_date_\w+"', text)
    assert text.count("SET PROJECTION POLICY") == 3
    assert "MIN_GROUP_SIZE => 9" in text
    assert 'ENTITY KEY ("patient_id")' in text
    assert "ENTITY KEY" not in written("snowflake", unit=None)
    assert "AGGREGATION" not in written("snowflake", privacy=[{"t_closeness": {"attribute": "diagnosis", "t": 0.5}}])


def test_bigquerys_view_has_no_identifier_but_the_person() -> None:
    text = written("bigquery")
    assert "AS SELECT `patient_id`, `age`, `diagnosis` FROM `clinic`.`visits`" in text
    assert '"threshold": 9, "privacy_unit_column": "patient_id"' in text
    assert "privacy_policy" not in written("bigquery", unit=None), "groups of persons need the person"


@pytest.mark.parametrize("dialect", POLICY_DIALECTS)
def test_every_statement_says_what_it_enforces_and_what_not(dialect: str) -> None:
    text = written(dialect)
    assert text.count("-- Enforces: ") == text.count("-- Does not enforce: ") >= 3
    assert written(dialect) == text


@pytest.mark.parametrize("dialect", POLICY_DIALECTS)
def test_names_are_quoted(dialect: str) -> None:
    """No name of a spec ends a comment, a literal or another name."""
    evil = "x'\"; DROP TABLE y; --\n"
    try:
        text = policies(
            kanon_sql.Spec.from_dict({**SPEC, "identifiers": [evil, "$kanon$"], "unit": None}),
            dialect, ROLES.get(dialect, f"{evil}$kanon1$"),
        )  # fmt: skip
    except KanonError:
        return
    tokens = sqlglot.tokenize(re.sub(r"\$kanon\d+\$", "", text), read=dialect)
    assert not any(token.text.upper() == "DROP" for token in tokens)


@pytest.mark.parametrize(
    ("dialect", "role", "changes", "message"),
    [
        ("duckdb", "analyst", {}, "policies are not written for duckdb; expected one of snowflake, bigquery"),
        ("postgres", "Public", {}, "expected the name of one role"),
        ("bigquery", "analyst", {}, "expected a principal of BigQuery, such as group:analysts@example.org"),
        (
            "postgres",
            "analyst",
            {"source": {"query": "SELECT 1 AS age"}},
            "policies are for a table or view by its name",
        ),
        ("postgres", "analyst", {"release": None}, "policies need a release that is a table or a view"),
    ],
)
def test_refusals(dialect: str, role: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises((SpecError, UnsupportedError), match=re.escape(message)):
        policies(kanon_sql.Spec.from_dict({**SPEC, **changes}), dialect, role)


def test_the_command_prints_it(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yml").write_text(
        "{version: 1, source: a.b, release: c.d, identifiers: [n], quasi_identifiers: {q: {}}, "
        "privacy: [{k_anonymity: 2}]}"
    )
    done = run("pipeline", "policies", "spec.yml", "--dialect", "postgres", "--role", "ada")
    assert done.exit_code == 0, done.output
    assert 'REVOKE ALL ON TABLE "a"."b" FROM "ada", PUBLIC;' in done.stdout
    assert run("pipeline", "policies", "spec.yml", "--dialect", "duckdb").exit_code == 2
    refused = run("pipeline", "policies", "spec.yml", "--dialect", "snowflake", "--anonymizer")
    assert "PostgreSQL Anonymizer is an extension of PostgreSQL" in refused.stderr
