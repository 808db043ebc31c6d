"""The rendered SQL is the SQL that runs: executed by hand it makes the same release."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
import sqlglot

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError

COLUMNS = {"pid": "INTEGER", "name": "VARCHAR", "age": "DECIMAL(5,1)", "zip": "VARCHAR", "born": "DATE",
           "Select": "VARCHAR", "dx": "VARCHAR", "charge": "DOUBLE PRECISION"}  # fmt: skip
SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "release": "visits_release",
    "identifiers": ["name"],
    "quasi_identifiers": {
        "age": {"intervals": [5, 10, 20], "top": 80},
        "zip": {"prefix": [4, 3]},
        "born": {"dates": ["month", "quarter", "year", "decade", "century"]},
        "Select": {"tree": {"x": ["M", "m"], "y": ["F"]}},
    },
    "sensitive": ["dx"],
    "keep": ["charge"],
    "privacy": [
        {"k_anonymity": 3},
        {"l_diversity": {"attribute": "dx", "l": 2, "variant": "entropy"}},
        {"l_diversity": {"attribute": "dx", "l": 2, "variant": "recursive", "c": 3}},
        {"t_closeness": {"attribute": "dx", "t": 0.7}},
    ],
    "suppression": {"max_share": 0.3},
}


def visits() -> list[tuple[Any, ...]]:
    draw = random.Random(7)
    rows = []
    for person in range(150):
        age, code, sex = draw.randint(18, 90), draw.choice(["94130", "94131", "9423"]), draw.choice(["M", "F", "m"])
        born = f"19{draw.randint(40, 99)}-{draw.randint(1, 12):02d}-11"
        for _ in range(draw.randint(1, 2)):
            rows.append((person, f"n{person}", age, code, born, sex, draw.choice(["a", "b", "c", None]), 1.5))
    return rows


def create(execute: Any, mark: str) -> None:
    execute(f"CREATE TABLE visits ({', '.join(f'{chr(34)}{name}{chr(34)} {kind}' for name, kind in COLUMNS.items())})")
    for row in visits():
        execute(f"INSERT INTO visits VALUES ({', '.join([mark] * len(row))})", row)


@pytest.fixture
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        create(connection.execute, "?")
        yield connection


def start(pgserver: Any, folders: pytest.TempPathFactory) -> Any:
    """A private PostgreSQL; it gives itself ten seconds to start, which a busy machine may exceed."""
    for attempt in range(3):
        try:
            return pgserver.get_server(folders.mktemp("postgres"))
        except Exception:
            if attempt == 2:
                raise
    raise AssertionError


def released(connection: Any) -> Counter[tuple[str, ...]]:
    rows = connection.execute("SELECT * FROM visits_release").fetchall()
    return Counter(tuple(str(cell) for cell in row) for row in rows)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("style", ["drop", "mask"])
@pytest.mark.slow
def test_running_the_rendered_statements_makes_the_release(database: duckdb.DuckDBPyConnection, style: str) -> None:
    spec = kanon_sql.Spec.from_dict(
        {**SPEC, "suppression": {"max_share": 0.5, "style": style}, "search": {"metric": "height"}}
    )
    result = kanon_sql.anonymize(kanon_sql.connect(database), spec).raise_for_failure()
    assert result.node is not None
    assert result.rows["suppressed"] > 0
    expected = released(database)
    database.execute("DROP TABLE visits_release")
    for statement in kanon_sql.render(spec, "duckdb", result.node).sql:
        database.execute(statement)
    assert released(database) == expected


@pytest.mark.slow
@pytest.mark.parametrize("extra", [{}, {"unit": "pid"}, {"nulls": "suppress"}, {"source": {"query": "SELECT 1;"}}])
@pytest.mark.parametrize("metric", ["loss", "entropy", "ambiguity", "discernibility"])
@pytest.mark.sampled(18)
def test_every_statement_reads_back_in_its_dialect(extra: dict[str, Any], metric: str) -> None:
    spec = kanon_sql.Spec.from_dict({**SPEC, **extra, "search": {"metric": metric}})
    for dialect in ("duckdb", "postgres"):
        rendered = kanon_sql.render(spec, dialect)
        assert {"hierarchies", "frequency", "evaluate", "release"} <= set(rendered.to_dict())
        for statement in rendered.sql:
            assert len(sqlglot.parse(statement, read=dialect)) == 1


@pytest.mark.slow
def test_postgres_runs_it_and_makes_the_same_release(
    database: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory
) -> None:
    try:
        import pgserver
        import psycopg
    except ImportError:
        if "postgres" in os.environ.get("KANON_REQUIRE_ENGINES", ""):
            pytest.fail("KANON_REQUIRE_ENGINES names postgres, but pgserver or psycopg is missing")
        pytest.skip("pgserver or psycopg is not installed")
    spec = kanon_sql.Spec.from_dict(SPEC)
    result = kanon_sql.anonymize(kanon_sql.connect(database), spec).raise_for_failure()
    server = start(pgserver, tmp_path_factory)
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            create(connection.execute, "%s")
            for statement in kanon_sql.render(spec, "postgres", result.node).sql:
                connection.execute(statement.encode())
            assert released(connection) == released(database)
    finally:
        server.cleanup()


def test_what_cannot_be_rendered_is_refused_with_the_reason() -> None:
    spec = kanon_sql.Spec.from_dict(SPEC)
    with pytest.raises(UnsupportedError, match="dialect 'access' is not rendered; expected one of bigquery"):
        kanon_sql.render(spec, "access")
    with pytest.raises(SpecError, match="'agee' is no quasi-identifier; expected age, zip"):
        kanon_sql.render(spec, "duckdb", {"agee": 1})
    with pytest.raises(SpecError, match="age has no level 9; expected 0 to 4"):
        kanon_sql.render(spec, "duckdb", {"age": 9})
    table = kanon_sql.Spec.from_dict({**SPEC, "quasi_identifiers": {"zip": {"table": "zips"}}})
    with pytest.raises(UnsupportedError, match="not known without a connection"):
        kanon_sql.render(table)
    file = kanon_sql.Spec.from_dict({**SPEC, "source": {"file": "visits.parquet"}})
    with pytest.raises(UnsupportedError, match="postgres cannot read the source file"):
        kanon_sql.render(file, "postgres")


# --- the parts of a script -----------------------------------------------------------------------

HOSTILE = ["Select", "marital-status", 'a"b', "x; drop table y", "n" * 60, "größe", "two words", "q0", "value", "unit"]


def hostile_spec(name: str) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": [name],
            "release": [f"{name}_r"],
            "quasi_identifiers": {name: {"prefix": [3]}, "q1": None},
            "privacy": [{"k_anonymity": 2}],
        }
    )


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_names(name: str) -> None:
    spec = hostile_spec(name)
    for dialect in ("duckdb", "postgres"):
        statements = kanon_sql.render(spec, dialect).sql
        assert all(len(sqlglot.parse(statement, read=dialect)) == 1 for statement in statements)
        assert any("FROM " + '"' + name.replace('"', '""') + '"' in statement for statement in statements)
    with duckdb.connect() as connection:
        quoted = '"' + name.replace('"', '""') + '"'
        values = ["aa1", "aa2", "bb1", "bb2"]
        connection.execute(f"CREATE TABLE {quoted} AS SELECT unnest({values}) AS {quoted}, 'z' AS q1")
        for statement in kanon_sql.render(spec, "duckdb", {name: 0, "q1": 1}).sql:
            connection.execute(statement)
        released = '"' + name.replace('"', '""') + '_r"'
        assert len(connection.execute(f"SELECT * FROM {released}").fetchall()) == 0, "every class has one row"


@pytest.mark.slow
def test_the_text_runs_as_one_script_and_leaves_no_scratch(database: duckdb.DuckDBPyConnection) -> None:
    spec = kanon_sql.Spec.from_dict({**SPEC, "privacy": [{"k_anonymity": 2}]})
    rendered = kanon_sql.render(spec, "duckdb", {"age": 4, "zip": 3, "born": 6, "Select": 2})
    database.execute(rendered.text)
    assert sum(released(database).values()) == database.execute("SELECT COUNT(*) FROM visits").fetchall()[0][0]
    found = database.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
    assert [name for (name,) in found] == ["kanon_sql_manifest", "kanon_sql_scratch", "visits", "visits_release"]
    assert database.execute("SELECT COUNT(*) FROM kanon_sql_scratch").fetchall() == [(0,)]


@pytest.mark.slow
def test_the_script_says_who_may_read_what_it_makes_and_holds() -> None:
    without_values = {
        **SPEC, "quasi_identifiers": {name: SPEC["quasi_identifiers"][name] for name in ("age", "zip", "born")}
    }  # fmt: skip
    for dialect, has_rights in (("duckdb", False), ("sqlite", False), ("postgres", True), ("snowflake", True)):
        for spec, holds in ((SPEC, True), (without_values, False)):
            header = kanon_sql.render(kanon_sql.Spec.from_dict(spec), dialect).text.partition("\n\n-- frequency")[0]
            says = {"postgres": "no other session sees it before COMMIT"}.get(dialect, "no other user may read these")
            assert (says in header) == has_rights, dialect
            assert ("holds values of hierarchies" in header) == holds, dialect


@pytest.mark.slow
def test_the_same_spec_gives_the_same_script() -> None:
    spec = kanon_sql.Spec.from_dict(SPEC)
    first, second = (re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "(the time)", kanon_sql.render(spec).text) for _ in range(2))
    assert first == second
    stages = kanon_sql.render(spec).to_dict()
    assert sum(map(len, stages.values())) == len(kanon_sql.render(spec).sql)
    unpublished = kanon_sql.render(kanon_sql.Spec.from_dict({**SPEC, "release": None})).to_dict()
    assert not {"release", "manifest"} & set(unpublished), "without a release nothing is written"


def test_every_level_of_a_hierarchy_of_a_sensitive_attribute_is_rendered() -> None:
    tree = {"tree": {"x": {"y": ["a", "b"]}, "z": {"w": ["c"]}}}
    close = {"attribute": "dx", "t": 0.5, "distance": "hierarchical", "hierarchy": tree}
    spec = kanon_sql.Spec.from_dict({**SPEC, "privacy": [{"t_closeness": close}]})
    rendered = "\n".join(kanon_sql.render(spec, "duckdb").sql)
    assert "group_share2" in rendered
    assert "group_share3" not in rendered, "which is the top"


@pytest.mark.parametrize("hierarchy", [{"prefix": [1]}, {"intervals": [5]}, {"table": "diseases"}])
def test_a_height_that_follows_from_the_values_is_refused(hierarchy: dict[str, Any]) -> None:
    """v1 and v2 share the label v* below the top: their distance is 1, not 1/2 as a script would have to assume."""
    close = {"attribute": "dx", "t": 0.5, "distance": "hierarchical", "hierarchy": hierarchy}
    spec = kanon_sql.Spec.from_dict({**SPEC, "privacy": [{"t_closeness": close}]})
    with pytest.raises(UnsupportedError, match="the height of the hierarchy, which depends on the values"):
        kanon_sql.render(spec, "duckdb")


@pytest.mark.slow
def test_the_script_says_that_values_are_counted_by_their_texts() -> None:
    for changes, says in (({}, True), ({"privacy": [{"k_anonymity": 3}]}, False),
                          ({"privacy": [{"k_anonymity": 3}], "unit": "pid"}, True)):  # fmt: skip
        text = kanon_sql.render(kanon_sql.Spec.from_dict({**SPEC, **changes}), "postgres").text
        assert ("are counted by their texts" in text) is says, changes
