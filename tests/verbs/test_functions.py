"""Functions in the database against ``check`` and against the oracle."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from hypothesis import example, given
from sqlglot import exp

import kanon_sql
from kanon_sql.errors import KanonError, SpecError, UnsupportedError
from kanon_sql.sql import Statement
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.testing import Subject
from kanon_sql.verbs.functions import DIALECTS, check_function
from kanon_sql.verbs.sqlmesh import audits
from tests.conftest import Database
from tests.servers import subject_of
from tests.support.oracle_answers import examined, key_of
from tests.support.oracle_cases import NOBODY_TELLS, SAME_PERSON, Case, cases, load
from tests.support.strategies import RandomProblem, examples, problems
from tests.verbs.test_sqlmesh import OTHERS, clinic

Rows = list[tuple[Any, ...]]


def call(text: str) -> str:
    """The query of the function that the first line of a script names."""
    return f"SELECT * FROM {text[len('-- ') : text.index(' returns a row for each requirement')]}"


def answered(text: str, execute: Callable[[str], Any], fetch: Callable[[str], Rows]) -> dict[str, tuple[Any, ...]]:
    """Create the function and call it: requirement -> achieved, violating classes, violating rows, verdict."""
    execute(text)
    rows = fetch(call(text))
    found = {row[0]: row[2:] for row in rows}
    assert len(found) == len(rows)
    return found


def in_duckdb(database: Database, text: str) -> dict[str, tuple[Any, ...]]:
    return answered(text, database.connection.execute, lambda sql: database.connection.execute(sql).fetchall())


def expected(result: Any) -> dict[str, tuple[Any, ...]]:
    """What ``check`` found, in the words of the function."""
    found: dict[str, tuple[Any, ...]] = {}
    for key, item in result.to_dict()["achieved"].items():
        figures = [value for name, value in item.items() if name not in ("requirement", *COUNTED)]
        verdict = "fail" if item["violating_classes"] else "pass"
        first = None if figures[0] is None else pytest.approx(figures[0])
        found[key] = (
            first,
            item["violating_classes"],
            item["violating_rows"],
            verdict if result.rows["source"] else "no rows",
        )
    return {**found, "columns": (None, None, None, "pass")}


COUNTED = ("violating_classes", "violating_rows")


@given(case=cases(max_nodes=4))
@example(case=Case(problem=NOBODY_TELLS, forms={"q0": "table"}))
@example(case=SAME_PERSON)
@examples(20)
def test_a_function_finds_what_the_oracle_finds(shared_database: Database, folder: Path, case: Case) -> None:
    spec = load(shared_database, folder, case)
    problem = case.problem
    _, truth = examined(problem.rows, problem.hierarchies, problem.requirements, problem.rows, problem.unit)
    found = in_duckdb(shared_database, check_function(shared_database.engine, spec, "people"))
    assert found.pop("columns")[-1] == "pass"
    assert list(found) == [key_of(item) for item in problem.requirements]
    for key, (_, classes, rows, verdict) in found.items():
        violating = truth[key]["violating_classes"]
        assert (classes, rows) == (violating, truth[key]["violating_rows"])
        assert verdict == ("no rows" if not problem.rows else "fail" if violating else "pass")


@pytest.fixture(scope="module")
def postgres() -> Iterator[Any]:
    with subject_of("postgres") as subject:
        yield subject


def of_problem(postgres: Subject, problem: RandomProblem) -> kanon_sql.Spec:
    names = [*problem.hierarchies, *problem.sensitive, *([] if problem.unit is None else [problem.unit])]
    postgres.table("people", dict.fromkeys(names, "text"), [[row[name] for name in names] for row in problem.rows])
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "unit": problem.unit,
            "quasi_identifiers": {name: {} for name in problem.hierarchies},
            "sensitive": problem.sensitive,
            "privacy": problem.requirements,
        }
    )


@pytest.mark.xdist_group("postgres")
@given(problem=problems(max_nodes=4))
@example(problem=NOBODY_TELLS)
@example(problem=SAME_PERSON.problem)
@examples(16)
def test_postgresql_finds_what_check_and_the_oracle_find(postgres: Subject, problem: RandomProblem) -> None:
    spec = of_problem(postgres, problem)
    engine = postgres.connect()
    found = answered(check_function(engine, spec, "people"), postgres.execute, postgres.fetch)
    assert found == expected(kanon_sql.check(engine, spec, "people"))
    _, truth = examined(problem.rows, list(problem.hierarchies), problem.requirements, problem.rows, problem.unit)
    assert [found[key_of(item)][1] for item in problem.requirements] == [
        truth[key_of(item)]["violating_classes"] for item in problem.requirements
    ]


SPEC: dict[str, Any] = {
    "version": 1,
    "source": "original",
    "release": "people",
    "identifiers": ["name", "Ünï"],
    "quasi_identifiers": {"q": {"prefix": [1]}, "r": {}},
    "sensitive": ["s", "n"],
    "privacy": [{"k_anonymity": {"k": 2}}],
}
MORE: list[dict[str, Any]] = [
    *OTHERS,
    {"l_diversity": {"attribute": "s", "l": 2, "variant": "entropy"}},
    {"l_diversity": {"attribute": "s", "l": 2, "variant": "entropy", "estimator": "grassberger"}},
    {"l_diversity": {"attribute": "s", "l": 2, "variant": "recursive", "c": 2}},
    {"beta_likeness": {"attribute": "s", "beta": 0.5, "variant": "basic"}},
    {"ck_safety": {"attribute": "s", "c": 0.9, "k": 1}},
    {"risk": {"average": 0.3}},
    {"lkc_privacy": {"attribute": "s", "l": 1, "k": 2, "c": 0.9}},
]


OF_PERSONS = [item for item in MORE if not {"k_anonymity", "t_closeness", "risk"}.isdisjoint(item)] + MORE[8:10]


@pytest.mark.slow
@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    ("requirement", "unit"), [*((item, None) for item in MORE), *((item, "p") for item in OF_PERSONS)], ids=str
)
def test_every_requirement_that_one_query_can_check(database: Database, requirement: Any, unit: str | None) -> None:
    clinic(database)
    spec = kanon_sql.Spec.from_dict({**SPEC, "unit": unit, "privacy": [*SPEC["privacy"], requirement]})
    found = in_duckdb(database, check_function(database.engine, spec))
    assert found == expected(kanon_sql.check(database.engine, spec))
    assert any(row[1] for row in found.values())


# --- what must not pass ---------------------------------------------------------------------------


def test_an_empty_table_does_not_pass(database: Database) -> None:
    clinic(database)
    text = check_function(database.engine, kanon_sql.Spec.from_dict(SPEC))
    assert in_duckdb(database, text)["k_anonymity"][1:] == (2, 2, "fail")
    database.connection.execute("DELETE FROM people")
    assert in_duckdb(database, text)["k_anonymity"] == (None, 0, 0, "no rows")


@pytest.mark.parametrize(
    "change",
    [
        'ALTER TABLE people ADD COLUMN "NAME" VARCHAR',
        'ALTER TABLE people ADD COLUMN "Ünï" VARCHAR',
        "ALTER TABLE people ALTER r TYPE VARCHAR",
        "ALTER TABLE people ALTER r TYPE DECIMAL(9, 2)",
    ],
)
def test_a_table_that_changed_fails(database: Database, change: str) -> None:
    clinic(database)
    spec = kanon_sql.Spec.from_dict({**SPEC, "privacy": [{"k_anonymity": {"k": 1}}]})
    text = check_function(database.engine, spec)
    assert {row[-1] for row in in_duckdb(database, text).values()} == {"pass"}
    database.connection.execute(change)
    assert in_duckdb(database, text)["columns"][-1] == "fail"


HOSTILE = ("Pa\"ti;ent'ś", 'R "e$kanon$l')


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("kind", ["duckdb", "postgres"])
def test_names_in_quotes_and_a_table_that_is_replaced(database: Database, postgres: Subject, kind: str) -> None:
    """In a schema that no path names."""
    dialect = dialect_named(kind)
    schema, table = HOSTILE
    engine = database.engine if kind == "duckdb" else postgres.connect()
    execute: Any = database.connection.execute if kind == "duckdb" else postgres.execute
    fetch: Any = postgres.fetch if kind == "postgres" else lambda sql: database.connection.execute(sql).fetchall()
    name, column = dialect.relation((schema, table)), dialect.quote("q\"'$")
    execute(f"DROP SCHEMA IF EXISTS {dialect.quote(schema)} CASCADE")
    execute(f"CREATE SCHEMA {dialect.quote(schema)}")
    for rows in ("('a'), ('a'), ('A')", "('a'), ('a'), ('a')"):
        execute(f"DROP TABLE IF EXISTS {name}")
        execute(f"CREATE TABLE {name} AS SELECT * FROM (VALUES {rows}) AS v({column})")
        if rows.endswith("('A')"):
            quoted = ".".join('"' + part.replace('"', '""') + '"' for part in HOSTILE)
            spec = kanon_sql.Spec.from_dict(
                {
                    "version": 1, "source": "nothing", "release": quoted, "quasi_identifiers": {'q"\'$': {}},
                    "privacy": [{"k_anonymity": {"k": 2}}],
                }
            )  # fmt: skip
            text = check_function(engine, spec)
            execute(text)
            assert fetch(call(text))[0][2:] == (1, 1, 1, "fail")
    assert {row[-1] for row in fetch(call(text))} == {"pass"}, "the table that has the name now"


@pytest.mark.xdist_group("postgres")
def test_postgresql_is_not_misled_by_a_session(postgres: Subject) -> None:
    """By its path, its settings, a table of its own under the release's name, or a policy that hides rows."""
    postgres.execute("DROP SCHEMA IF EXISTS trap CASCADE")
    postgres.execute("DROP TABLE IF EXISTS people")
    postgres.execute(
        "CREATE TABLE people AS SELECT * FROM (VALUES (1.5::float8, 1), (1.5, 2), (1.5000000000000002, 3)) AS v(q, s)"
    )
    spec = kanon_sql.Spec.from_dict(
        {"version": 1, "source": "people", "quasi_identifiers": {"q": {}}, "privacy": [{"k_anonymity": {"k": 2}}]}
    )
    text = check_function(postgres.connect(), spec, "people")
    expected_row = (1.0, 1, 1, "fail")
    found = answered(text, postgres.execute, postgres.fetch)
    assert found["k_anonymity"] == expected_row
    postgres.execute("CREATE SCHEMA trap")
    postgres.execute("CREATE FUNCTION trap.ge(numeric, integer) RETURNS boolean LANGUAGE sql AS 'SELECT true'")
    postgres.execute("CREATE OPERATOR trap.>= (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = trap.ge)")
    postgres.execute("CREATE FUNCTION trap.ge8(bigint, integer) RETURNS boolean LANGUAGE sql AS 'SELECT true'")
    postgres.execute("CREATE OPERATOR trap.>= (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = trap.ge8)")
    query = call(text)
    for setting in ("search_path = trap, public, pg_catalog", "extra_float_digits = -10"):
        postgres.execute(f"SET {setting}")
        assert postgres.fetch(query)[0][2:] == expected_row, setting
        postgres.execute(f"RESET {setting.partition(' ')[0]}")
    postgres.execute("CREATE TEMPORARY TABLE people AS SELECT 1 AS q, 1 AS s WHERE false")
    assert postgres.fetch(query)[0][2:] == expected_row
    postgres.execute("DROP TABLE pg_temp.people")
    postgres.execute("DROP ROLE IF EXISTS reader")
    postgres.execute("CREATE ROLE reader")
    postgres.execute("GRANT SELECT ON people TO reader")
    postgres.execute("ALTER TABLE people ENABLE ROW LEVEL SECURITY")
    postgres.execute("CREATE POLICY two ON people TO reader USING (s < 3)")
    postgres.execute("SET ROLE reader")
    with pytest.raises(Exception, match="would be affected by row-level security"):
        postgres.fetch(query)
    postgres.execute("RESET ROLE")


SEEN = {
    "numeric": ["1.5", "1.50", "1.5"],
    "double precision": ["0", "-0", "0"],
    "character(3)": ["'a'", "'a '", "'A'"],
    "bpchar": ["'a'", "'a '", "'a'"],
    "timestamptz": ["'2020-01-01 00:00+00'", "'2020-01-01 01:00+01'", "'2020-01-01 00:00:00.000001+00'"],
    "date": ["'infinity'", "'2020-01-01'", "'infinity'"],
    "boolean": ["true", "false", "NULL"],
}


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("kind", SEEN)
def test_values_count_as_a_reader_sees_them(postgres: Subject, kind: str) -> None:
    """As check counts them, also in a session that writes them otherwise."""
    postgres.execute("DROP TABLE IF EXISTS people")
    postgres.execute(f"CREATE TABLE people (q {kind}, p int)")
    postgres.execute(f"INSERT INTO people VALUES {', '.join(f'({one}, 1)' for one in SEEN[kind])}")
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "nothing", "release": "people", "unit": "p", "quasi_identifiers": {"q": {}},
            "privacy": [{"k_anonymity": {"k": 2}}],
        }
    )  # fmt: skip
    engine = postgres.connect()
    for count_rows in (False, True):
        text = check_function(engine, spec, count_rows=count_rows)
        wanted = expected(kanon_sql.check(engine, spec, count_rows=count_rows))
        assert answered(text, postgres.execute, postgres.fetch) == wanted
        postgres.execute("SET TimeZone = 'Asia/Tokyo'")
        postgres.execute("SET DateStyle = 'German'")
        assert {row[0]: row[2:] for row in postgres.fetch(call(text))} == wanted
        postgres.execute("RESET ALL")


def test_a_session_of_duckdb_that_ignores_case(database: Database) -> None:
    database.table("people", {"q": "VARCHAR"}, [("a",), ("A",), ("a",)])
    spec = kanon_sql.Spec.from_dict({**SPEC, "sensitive": [], "quasi_identifiers": {"q": {}}})
    text = check_function(database.engine, spec)
    database.connection.execute("SET default_collation = 'nocase'")
    assert in_duckdb(database, text) == {"k_anonymity": (1.0, 1, 1, "fail"), "columns": (None, None, None, "pass")}
    database.connection.execute("RESET default_collation")


@pytest.mark.campaign
def test_spark_finds_what_check_finds() -> None:
    with subject_of("spark") as subject:
        subject.table("people", {"q": "text", "s": "text"}, [("a", "x"), ("a", "y"), ("b", "x"), (None, None)])
        several = [{"l_diversity": {"attribute": "s", "l": 2, "variant": "entropy"}}]
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1, "source": "people", "quasi_identifiers": {"q": {}}, "sensitive": ["s"],
                "privacy": [{"k_anonymity": 2}, {"t_closeness": {"attribute": "s", "t": 0.2}}, *several],
            }
        )  # fmt: skip
        engine = subject.connect()
        text = check_function(engine, spec, "people")
        found = answered(text, lambda sql: subject.execute(sql.rstrip().rstrip(";")), subject.fetch)
        wanted = expected(kanon_sql.check(engine, spec, "people"))
        del wanted["columns"]
        assert found == wanted


# --- refusals, and what the other engines get -----------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"release": None}, "release: missing; name the table to check with --table"),
        ({"unit": "person"}, "no column 'person', which the function needs"),
        ({"identifiers": ["P"]}, "people holds identifiers (P), so it is no release"),
        ({"source": {"query": "SELECT q, s, n FROM original"}}, "create a view of it, and name that"),
        ({"privacy": [{"k_map": {"population": "original", "k": 2}}]}, "needs more than one query"),
        ({"source": "nowhere"}, "there is no table or view 'nowhere'"),
    ],
)
def test_refusals(database: Database, changes: dict[str, Any], message: str) -> None:
    clinic(database)
    spec = kanon_sql.Spec.from_dict({**SPEC, "privacy": [{"t_closeness": {"attribute": "s", "t": 0.2}}], **changes})
    with pytest.raises(SpecError, match=re.escape(message)):
        check_function(database.engine, spec)


def test_tables_of_like_names_have_functions_of_their_own(database: Database) -> None:
    names = ["a b", "a_b", "a-b", "x" * 60, "x" * 61]
    spec = kanon_sql.Spec.from_dict({**SPEC, "sensitive": [], "quasi_identifiers": {"q": {}}})
    found = set()
    for name in names:
        database.connection.execute(f'CREATE TABLE "{name}" AS SELECT 1 AS q')
        found.add(call(check_function(database.engine, spec, f'"{name}"')))
    assert len(found) == len(names)
    assert 'SELECT * FROM "memory"."main".kanon_check_a_b()' in found


def test_a_source_whose_equal_values_have_several_texts_is_refused_as_by_check(database: Database) -> None:
    for table in ("people", "original"):
        database.connection.execute(f"CREATE TABLE {table} AS SELECT 1 AS q, 1.0 AS r, INTERVAL 1 MONTH AS s, 1 AS n")
    spec = kanon_sql.Spec.from_dict({**SPEC, "privacy": [{"t_closeness": {"attribute": "s", "t": 0.2}}]})
    for judge in (kanon_sql.check, check_function, audits):
        with pytest.raises(KanonError, match="INTERVAL"):
            judge(database.engine, spec)


def test_a_temporary_table_is_refused(database: Database) -> None:
    clinic(database)
    database.connection.execute("CREATE TEMPORARY TABLE mine AS FROM people")
    with pytest.raises(SpecError, match="mine is a temporary table"):
        check_function(database.engine, kanon_sql.Spec.from_dict(SPEC), "mine")


def test_an_engine_without_such_functions_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    engine = kanon_sql.connect(f"sqlite:///{tmp_path}/clinic.db")
    with pytest.raises(UnsupportedError, match=f"not support sqlite; expected one of {', '.join(DIALECTS)}"):
        check_function(engine, kanon_sql.Spec.from_dict(SPEC))


def test_no_row_of_the_table_is_read_and_the_text_is_the_same_every_time(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    clinic(database)
    spec = kanon_sql.Spec.from_dict({**SPEC, "privacy": [*SPEC["privacy"], *OTHERS[:2]]})
    fetched: list[str] = []
    original = database.engine.fetch

    def noted(statement: Statement, limit: int) -> list[Any]:
        fetched.append(statement.name)
        return original(statement, limit)

    monkeypatch.setattr(database.engine, "fetch", noted)
    text = check_function(database.engine, spec)
    assert {name for name in fetched if name not in ("exists", "columns", "catalog")} == {"verbs/functions/types"}
    assert text == check_function(database.engine, spec)


def test_the_others_are_statements_of_their_engine() -> None:
    """Parsed by sqlglot, of which only Snowflake's and DuckDB's bodies are looked into."""
    for name in DIALECTS:
        text = dialect_named(name).table_function("f", {"a": "INTEGER"}, "SELECT 1 AS a")
        (tree,) = sqlglot.parse(text, read=name)
        assert isinstance(tree, exp.Create), name
