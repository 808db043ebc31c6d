"""The dbt package's tests against ``check`` and against the oracle, on random tables; and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from hypothesis import example, given

import kanon_sql
from kanon_sql.testing import Subject
from tests.conftest import Database
from tests.oracles.model import Requirement, model_of, worst
from tests.servers import subject_of
from tests.servers.base import Missing
from tests.servers.postgres import PostgresSubject
from tests.servers.spark import SparkSubject
from tests.support.dbt_macros import CompilerError, Dbt, Relation
from tests.support.oracle_answers import assert_achieved, examined, key_of, reached
from tests.support.oracle_cases import NOBODY_TELLS, SAME_PERSON, Case, cases, load
from tests.support.strategies import RandomProblem, examples, problems
from tests.support.suppressions import suppressing

Fetch = Callable[[str], list[tuple[Any, ...]]]

PEOPLE = Relation('"people"')


def package(database: Database, **options: Any) -> Dbt:
    def columns(relation: str) -> list[tuple[str, str]]:
        found = database.connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        return [(line[0], line[1]) for line in found]

    return Dbt("duckdb", columns, lambda sql: database.connection.execute(sql).fetchall(), **options)


def asked(requirement: Requirement, reference: Relation = PEOPLE) -> tuple[str, dict[str, Any]]:
    """A requirement as the test's name and arguments."""
    name, parameters = model_of(requirement)
    return name, {**parameters, **({"reference": reference} if name == "t_closeness" else {})}


def measured(
    dbt: Dbt, fetch: Fetch, requirement: Requirement, columns: Sequence[str], unit: str | None
) -> dict[str, float | None]:
    """What the package finds of a requirement, in the words of a result."""
    name, arguments = asked(requirement, Relation(dbt.quote("people")))
    people = Relation(dbt.quote("people"))
    sql = dbt.classes(people, columns, {name: arguments}, unit)
    rows = fetch(f"SELECT * FROM ({sql}) AS kanon_classes")
    measures = [math.inf if row[-2] is None else float(row[-2]) for row in rows]
    violating = [row for row in rows if not row[-1]]
    assert len(fetch(dbt.test(name, people, quasi_identifiers=columns, unit=unit, **arguments))) == len(violating)
    return {
        **reached(requirement, worst(requirement, measures)),
        "violating_classes": len(violating),
        "violating_rows": sum(row[len(columns)] for row in violating),
    }


@pytest.mark.slow
@given(case=cases(max_nodes=4))
@example(case=Case(problem=NOBODY_TELLS, forms={"q0": "table"}))
@example(case=SAME_PERSON)
@examples(25)
def test_the_tests_find_what_check_finds(shared_database: Database, folder: Path, case: Case) -> None:
    spec = load(shared_database, folder, case)
    problem = case.problem
    checked = kanon_sql.check(shared_database.engine, spec, "people").to_dict()
    _, truth = examined(problem.rows, problem.hierarchies, problem.requirements, problem.rows, problem.unit)
    dbt = package(shared_database)

    def fetch(sql: str) -> list[tuple[Any, ...]]:
        return shared_database.connection.execute(sql).fetchall()

    found = {
        key_of(requirement): measured(dbt, fetch, requirement, list(problem.hierarchies), problem.unit)
        for requirement in problem.requirements
    }
    assert_achieved(found, truth)
    assert_achieved(checked["achieved"], found)


# --- the other engines that are here ----------------------------------------------------------------


@pytest.fixture(
    scope="module",
    params=["postgres", pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.xdist_group("spark")])],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    try:
        found: Subject = PostgresSubject() if request.param == "postgres" else SparkSubject()
    except Missing as missing:
        pytest.skip(str(missing))
    yield found
    found.close()


@given(problem=problems(max_nodes=4))
@example(problem=NOBODY_TELLS)
@example(problem=SAME_PERSON.problem)
@examples(8)
@pytest.mark.slow
def test_other_engines_find_what_the_oracle_finds(subject: Subject, problem: RandomProblem) -> None:
    names = [*problem.hierarchies, *problem.sensitive, *([] if problem.unit is None else [problem.unit])]
    subject.table("people", dict.fromkeys(names, "text"), [[row[name] for name in names] for row in problem.rows])
    dbt = Dbt(subject.name, lambda _: [(name, subject.types["text"]) for name in names])
    columns = list(problem.hierarchies)
    _, truth = examined(problem.rows, columns, problem.requirements, problem.rows, problem.unit)
    found = {
        key_of(requirement): measured(dbt, subject.fetch, requirement, columns, problem.unit)
        for requirement in problem.requirements
    }
    assert_achieved(found, truth)


# --- known answers --------------------------------------------------------------------------------


def table(database: Database, held: Sequence[tuple[str | None, ...]], name: str = "people") -> None:
    database.table(name, ["q", "s", "p"][: len(held[0]) if held else 3], held)


def failures(database: Database, name: str, model: Any = PEOPLE, **arguments: Any) -> list[tuple[Any, ...]]:
    sql = package(database).test(name, model, **arguments)
    return sorted(database.connection.execute(sql).fetchall(), key=repr)


def test_the_papers_examples(database: Database) -> None:
    # Machanavajjhala et al.: 100/1/1 is no recursive (c, 3)-diversity for any c up to 100 (r1 < c * r3).
    table(database, [("a", "x")] * 100 + [("a", "y"), ("a", "z")])
    recursive = {"quasi_identifiers": ["q"], "attribute": "s", "l": 3, "variant": "recursive"}
    assert failures(database, "l_diversity", c=100, **recursive) == [(102, 102, 100.0)]
    assert failures(database, "l_diversity", c=100.5, **recursive) == []
    # Two equally frequent values: entropy 2-diverse, whatever the last bit says.
    table(database, [(str(n), value) for n in range(1, 40) for value in "xy" for _ in range(n)])
    entropy = {"quasi_identifiers": ["q"], "attribute": "s", "variant": "entropy"}
    assert failures(database, "l_diversity", l=2, **entropy) == []
    assert len(failures(database, "l_diversity", l=2.001, **entropy)) == 39
    # t-closeness counts values that a class lacks: half of |1 - 1/2| + |0 - 1/2|.
    table(database, [("a", "x"), ("a", "x"), ("b", "y"), ("b", "y")])
    closeness = {"quasi_identifiers": ["q"], "attribute": "s", "reference": PEOPLE}
    assert failures(database, "t_closeness", t=0.5, **closeness) == []
    assert failures(database, "t_closeness", t=0.49, **closeness) == [(2, 2, 0.5), (2, 2, 0.5)]


def test_null_case_accents_and_blanks_make_classes_of_their_own(database: Database) -> None:
    database.connection.execute("SET default_collation = 'NOCASE'")
    table(database, [(value, "x") for value in (None, "", "a", "A", "a ", "á")])
    found = failures(database, "k_anonymity", quasi_identifiers=["q"], k=2)
    assert found == [(1, 1)] * 6


def test_positions_say_their_direction_themselves(database: Database) -> None:
    database.connection.execute("SET default_order = 'desc'")
    table(database, [("a", value) for value in ("x", "x", "y", None, None)])
    recursive = {"quasi_identifiers": ["q"], "attribute": "s", "l": 2, "variant": "recursive", "c": 2}
    assert failures(database, "l_diversity", **recursive) == [(5, 5, 2)]
    database.connection.execute("CREATE OR REPLACE TABLE people AS SELECT 'a' AS q, 'x' AS s, unnest(['u', NULL]) AS u")
    persons = {"quasi_identifiers": ["q"], "attribute": "s", "l": 1, "variant": "recursive", "c": 9, "unit": "u"}
    assert [row[:2] for row in failures(database, "l_diversity", **persons)] == [(2, 1)]


def test_a_sensitive_null_protects_nobody_and_is_a_category(database: Database) -> None:
    table(database, [("a", "x"), ("a", None)])
    diversity = {"quasi_identifiers": ["q"], "attribute": "s", "l": 2}
    assert failures(database, "l_diversity", **diversity) == [(2, 2, 1)]
    closeness = {"quasi_identifiers": ["q"], "attribute": "s", "reference": PEOPLE, "t": 0}
    assert failures(database, "t_closeness", **closeness) == []
    table(database, [("a", "x"), ("a", "x")], "other")
    assert failures(database, "t_closeness", **{**closeness, "reference": Relation("other")}) == [(2, 2, 0.5)]


def test_the_reference_is_the_other_relation(database: Database) -> None:
    table(database, [("a", "x"), ("a", "y")])
    table(database, [("a", "x"), ("a", "y"), ("b", "z"), ("b", "z")], "original")
    closeness = {"quasi_identifiers": ["q"], "attribute": "s", "t": 0.49}
    assert failures(database, "t_closeness", reference=PEOPLE, **closeness) == []
    assert failures(database, "t_closeness", reference=Relation("original"), **closeness) == [(2, 2, 0.5)]


def test_persons_count_once_and_what_all_of_them_hold_is_disclosed(database: Database) -> None:
    table(database, [("a", "x", "1"), ("a", "x", "1"), ("a", "x", "2"), ("a", "y", "2")])
    assert failures(database, "k_anonymity", quasi_identifiers=["q"], k=3) == []
    assert failures(database, "k_anonymity", quasi_identifiers=["q"], k=3, unit="p") == [(4, 2)]
    diversity = {"quasi_identifiers": ["q"], "attribute": "s", "l": 2}
    assert failures(database, "l_diversity", **diversity) == []
    assert failures(database, "l_diversity", unit="p", **diversity) == [(4, 2, 1)]


@pytest.mark.parametrize("unit", [None, "p"])
def test_no_rows_pass(database: Database, unit: str | None) -> None:
    table(database, [])
    assert failures(database, "k_anonymity", quasi_identifiers=["q"], k=5, unit=unit) == []
    for kind, more in (("distinct", {}), ("entropy", {}), ("recursive", {"c": 2})):
        diversity = {"quasi_identifiers": ["q"], "attribute": "s", "l": 3, "variant": kind, **more}
        assert failures(database, "l_diversity", unit=unit, **diversity) == []
    closeness = {"quasi_identifiers": ["q"], "attribute": "s", "reference": PEOPLE, "t": 0.1}
    assert failures(database, "t_closeness", unit=unit, **closeness) == []
    assert failures(database, "suppression_limit", source=PEOPLE, max_share=0.1) == []


def test_where_narrows_the_table(database: Database) -> None:
    table(database, [("a", "x"), ("a", "x"), ("b", "y")])
    narrowed = """(select * from "people" where s = 'x') dbt_subquery"""
    assert failures(database, "k_anonymity", quasi_identifiers=["q"], k=2) == [(1, 1)]
    assert failures(database, "k_anonymity", narrowed, quasi_identifiers=["q"], k=2) == []


def test_a_column_is_found_whatever_its_case_and_the_test_may_stand_at_it(database: Database) -> None:
    database.table("people", ["Marital-Status", 'a"b'], [("m", "x"), ("m", "x")])
    assert failures(database, "k_anonymity", quasi_identifiers=["marital-status"], k=3) == [(2, 2)]
    assert failures(database, "l_diversity", quasi_identifiers=["Marital-Status"], column_name='a"b', l=2) == [
        (2, 2, 1)
    ]


def test_identifiers(database: Database) -> None:
    database.table("people", ["SSN", "name", "q"], [])
    assert failures(database, "no_identifiers", identifiers=["ssn", "email", "NAME"]) == [("SSN",), ("name",)]
    assert failures(database, "no_identifiers", identifiers=["email"]) == []


def test_hierarchies(database: Database) -> None:
    database.table("zip", ["value", "level_1", "level_2"], [("1", "1*", "*"), ("2", "1*", "*"), ("3", "3*", "*")])
    assert failures(database, "hierarchy_is_valid", Relation("zip")) == []
    rows = [("1", "1*", "*"), ("1", "1*", "+"), ("a", "a*", "*"), ("A", None, "*"), (None, "1*", "*")]
    database.table("zip", ["value", "level_1", "level_2"], rows)
    database.table("people", ["zip"], [("a ",), ("a",), ("a",), (None,), ("x",)])
    found = failures(database, "hierarchy_is_valid", Relation("zip"), covers=PEOPLE, covered_column="zip")
    assert found == [("missing", 0, 2), ("repeated", 0, 1), ("split", 1, 1), ("uncovered", 0, 2)]
    assert failures(database, "hierarchy_is_valid", Relation("zip"), levels=["level_2"])[0] == ("repeated", 0, 1)


@pytest.mark.parametrize(
    ("source", "released", "limit", "fails"),
    [
        (100, 95, 0.05, False),
        (100, 94, 0.05, True),
        (100, 71, 0.29, False),  # 0.29 is a little less as a binary fraction
        (10, 8, 2, False),
        (10, 7, 2, True),
        (10, 10, 0, False),
        (10, 0, 1.0, True),  # everything is suppressed: nothing is released
    ],
)
def test_suppression(database: Database, source: int, released: int, limit: float, fails: bool) -> None:
    database.connection.execute(f"CREATE TABLE people AS SELECT * FROM range({released})")
    database.connection.execute(f"CREATE TABLE source AS SELECT * FROM range({source})")
    found = failures(database, "suppression_limit", source=Relation("source"), **suppressing(limit))
    assert found == ([(source, released)] if fails else [])


# --- what is refused ------------------------------------------------------------------------------

QUASI = {"quasi_identifiers": ["q"]}


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("k_anonymity", {**QUASI, "k": 0}, "k: expected a whole number, at least 1, got 0"),
        ("k_anonymity", {**QUASI, "k": True}, "k: expected a whole number"),
        ("k_anonymity", {**QUASI, "k": "5"}, "k: expected a whole number"),
        ("k_anonymity", {"quasi_identifiers": [], "k": 2}, "expected a list of at least one column"),
        ("k_anonymity", {"quasi_identifiers": "q", "k": 2}, "expected a list of at least one column"),
        ("k_anonymity", {"quasi_identifiers": ["age"], "k": 2}, "no column 'age'; expected one of q, s, p"),
        ("k_anonymity", {**QUASI, "k": 2, "unit": "id"}, "there is no column 'id'"),
        ("l_diversity", {**QUASI, "l": 2}, "attach the test to the sensitive column"),
        ("l_diversity", {**QUASI, "l": 2, "attribute": "s", "column_name": "s"}, "and not both"),
        ("l_diversity", {**QUASI, "l": 2.5, "attribute": "s"}, "l: expected a whole number"),
        ("l_diversity", {**QUASI, "l": 2, "attribute": "s", "variant": "fair"}, "variant: expected distinct, entropy"),
        ("l_diversity", {**QUASI, "l": 2, "attribute": "s", "c": 2}, "'c' needs variant: recursive, but this is"),
        ("l_diversity", {**QUASI, "l": 2, "attribute": "s", "variant": "recursive"}, "c: expected a number, above 0"),
        ("t_closeness", {**QUASI, "t": 1.5, "attribute": "s", "reference": PEOPLE}, "at least 0 and at most 1"),
        ("t_closeness", {**QUASI, "t": 0.5, "attribute": "s", "reference": None}, "reference: expected the relation"),
        ("no_identifiers", {"identifiers": []}, "expected a list of at least one column name"),
        ("hierarchy_is_valid", {"covers": PEOPLE}, "belong together"),
        (
            "suppression_limit",
            {"source": PEOPLE, "max_share": 1.5},
            "max_share: expected a number, at least 0 and at most",
        ),
        ("suppression_limit", {"source": PEOPLE, "max_rows": 0.5}, "max_rows: expected a whole number, at least 0"),
        ("suppression_limit", {"source": PEOPLE}, "expected one of max_rows and max_share"),
        ("suppression_limit", {"source": PEOPLE, "max_rows": 1, "max_share": 1}, "expected one of max_rows and"),
        ("all_covered", {}, "there is no column 'kanon_left_out'"),
    ],
)
def test_refusals(database: Database, name: str, arguments: Mapping[str, Any], message: str) -> None:
    table(database, [("a", "x", "1")])
    with pytest.raises(CompilerError, match=r"^kanon_sql\.") as refused:
        failures(database, name, **arguments)
    assert message in str(refused.value)


SEVERAL_TEXTS = {
    "duckdb": (
        "INTERVAL",
        "VARCHAR[]",
        "DECIMAL(3, 1)[]",
        "INTEGER[2]",
        "JSON",
        "MAP(INTEGER, VARCHAR)",
        "STRUCT(a INT)",
    ),
    "postgres": ("interval", "ARRAY", "json", "jsonb", "xml", "int4range", "INTERVAL", "STRINGARRAY"),
    "bigquery": ("ARRAY<STRING>", "JSON", "INTERVAL", "STRUCT<a INT64>"),
    "spark": ("array<int>", "map<int,int>", "struct<a:int>", "interval day", "variant"),
    "snowflake": ("VARIANT", "ARRAY", "OBJECT"),
    "redshift": ("super", "interval day to second", "USER-DEFINED"),
}
ONE_TEXT = {
    "duckdb": ("VARCHAR", "ENUM('a', 'b')", "UUID", "DATE", "DECIMAL(3, 1)", "DOUBLE", "BLOB"),
    "postgres": ("character varying", "text", "uuid", "numeric", "timestamp with time zone", "bytea", "UNICODE"),
    "bigquery": ("STRING", "FLOAT64", "INT64", "BYTES"),
    "spark": ("string", "decimal(3,1)", "timestamp"),
    "snowflake": ("TEXT", "NUMBER", "VARCHAR(16777216)"),
    "redshift": ("character varying(10)", "integer"),
}


@pytest.mark.parametrize("adapter", SEVERAL_TEXTS)
def test_only_types_that_write_equal_values_in_one_way_are_counted(adapter: str) -> None:
    """'1 day' and '24:00:00' are one interval and two texts: as sensitive values they would be 2-diverse."""
    for fits, types in ((False, SEVERAL_TEXTS[adapter]), (True, ONE_TEXT[adapter])):
        for kind in types:
            dbt = Dbt(adapter, lambda _, kind=kind: [("q", "text"), ("s", kind)])
            for name, asked in (("l_diversity", {"l": 2, "attribute": "s"}), ("k_anonymity", {"k": 2, "unit": "s"})):
                refused = ""
                try:
                    dbt.test(name, PEOPLE, **QUASI, **asked)
                except CompilerError as error:
                    refused = str(error)
                assert ("may be written in several ways" in refused) is not fits, (kind, name, refused)
            assert dbt.test("k_anonymity", PEOPLE, quasi_identifiers=["s"], k=2), "classes only become smaller"


@pytest.mark.xdist_group("postgres")
def test_of_types_of_users_only_enumerations_are_counted() -> None:
    """Neither the listing of columns nor the driver says what they are, so the catalog is asked."""
    with subject_of("postgres") as subject:
        subject.execute("CREATE TYPE mood AS ENUM ('well', 'ill')")
        subject.execute("CREATE TYPE sums AS (amount numeric)")
        subject.execute("CREATE TABLE people (q text, m mood, a sums)")
        for name, fits in (("m", True), ("a", False)):
            ((number,),) = subject.fetch(f"SELECT atttypid FROM pg_attribute WHERE attname = '{name}' AND "
                                         "attrelid = 'people'::regclass")  # fmt: skip
            for kind in ("USER-DEFINED", f"unknown type_code {number}"):
                columns = [("q", "text"), ("m", kind), ("a", kind)]
                dbt = Dbt("postgres", lambda _, columns=columns: columns, query=subject.fetch)
                if fits:
                    assert dbt.test("l_diversity", PEOPLE, **QUASI, l=2, attribute=name)
                    continue
                with pytest.raises(CompilerError, match="may be written in several ways"):
                    dbt.test("l_diversity", PEOPLE, **QUASI, l=2, attribute=name)


def test_an_ambiguous_column_is_refused() -> None:
    dbt = Dbt("postgres", lambda _: [("Age", "text"), ("AGE", "text")])
    with pytest.raises(CompilerError, match="no column 'age'"):
        dbt.test("k_anonymity", PEOPLE, quasi_identifiers=["age"], k=2)


def test_an_adapter_whose_texts_nobody_looked_at_is_refused() -> None:
    with pytest.raises(CompilerError, match="not known how mysql compares texts"):
        Dbt("mysql", lambda _: [("q", "text")]).test("k_anonymity", PEOPLE, quasi_identifiers=["q"], k=2)


# --- the warehouses -------------------------------------------------------------------------------

EXACT = {
    "duckdb": 'COLLATE "binary"',
    "postgres": 'COLLATE "C"',
    "redshift": "'case_sensitive'",
    "snowflake": "COLLATE(",
    "bigquery": "COLLATE(",
    "spark": "AS BINARY)",
    "databricks": "AS BINARY)",
}
COLUMNS = [("q", "string"), ("n", "int"), ("s", "varchar(20)"), ("p", "text"), ("kanon_left_out", "text")]


@pytest.mark.parametrize("adapter", EXACT)
def test_every_adapter_is_rendered_as_its_own_sql(adapter: str) -> None:
    dbt = Dbt(adapter, lambda _: COLUMNS)
    quasi = {"quasi_identifiers": ["q", "n"]}
    statements = [
        dbt.test("k_anonymity", PEOPLE, k=5, unit="p", **quasi),
        *(
            dbt.test("l_diversity", PEOPLE, l=3, variant=kind, c=c, attribute="s", unit=unit, **quasi)
            for kind, c in (("distinct", None), ("entropy", None), ("recursive", 2))
            for unit in (None, "p")
        ),
        dbt.test("t_closeness", PEOPLE, t=0.2, attribute="s", reference=PEOPLE, unit="p", **quasi),
        dbt.test("hierarchy_is_valid", PEOPLE, levels=["q", "s"], covers=PEOPLE, covered_column="q"),
    ]
    for sql in statements:
        tree = sqlglot.parse_one(sql.replace('"people"', "people"), read=adapter)
        assert EXACT[adapter].lower() in sql.lower()
        assert tree.find(sqlglot.exp.Command) is None
    requirements = [{"k_anonymity": {"k": 2}}, {"t_closeness": {"attribute": "s", "t": 0.2}}]
    released = [
        dbt.test("no_identifiers", PEOPLE, identifiers=["p"]),
        dbt.test("all_covered", PEOPLE),
        dbt.test("suppression_limit", PEOPLE, source=PEOPLE, max_share=0.05),
        dbt.candidate(PEOPLE, ["q", "s"], ["q"], requirements),
    ]
    for sql in released:
        sqlglot.parse_one(sql.replace('"people"', "people"), read=adapter)


def test_what_is_joined_is_compared_exactly_too(database: Database) -> None:
    database.connection.execute("SET default_collation = 'NOCASE'")
    table(database, [("a", "x"), ("a", "x")])
    table(database, [("a", "X"), ("a", "X")], "original")
    closeness = {"quasi_identifiers": ["q"], "attribute": "s", "t": 0.9, "reference": Relation("original")}
    assert failures(database, "t_closeness", **closeness) == [(2, 2, 1.0)]
    database.table("labelled", ["q", "s", "kanon_left_out"], [("a", "1", None), ("a", "2", None), ("A", "3", None)])
    kept = package(database).candidate(Relation("labelled"), ["s"], ["q"], [{"k_anonymity": {"k": 2}}])
    assert sorted(database.connection.execute(kept).fetchall()) == [("1",), ("2",)]


def test_a_candidates_quasi_identifiers_are_text(database: Database) -> None:
    database.table("labelled", {"q": "INTEGER", "kanon_left_out": "VARCHAR"}, [(1, None)])
    with pytest.raises(CompilerError, match="'q' must be text here, and is INTEGER"):
        package(database).candidate(Relation("labelled"), ["q"], ["q"], [{"k_anonymity": {"k": 2}}])


@pytest.mark.parametrize("unit", [None, "person"])
@pytest.mark.parametrize(
    "other",
    [
        {"l_diversity": {"attribute": "disease", "l": 2}},
        {"l_diversity": {"attribute": "disease", "l": 1.5, "variant": "entropy"}},
        {"t_closeness": {"attribute": "disease", "t": 0.9}},
    ],
)
def test_small_classes_of_many_values_are_no_candidates(database: Database, unit: str | None, other: Any) -> None:
    """k is looked at where values are counted: class A has four persons of five rows, B two persons of three."""
    rows = [
        ("A", "flu", 1), ("A", "cold", 2), ("A", "flu", 3), ("A", "cold", 4), ("A", "cold", 4),
        ("B", "flu", 5), ("B", "cold", 6), ("B", "flu", 5), ("B", None, None),
    ]  # fmt: skip
    database.table(
        "labelled", {"q": "VARCHAR", "disease": "VARCHAR", "person": "INTEGER", "kanon_left_out": "VARCHAR"},
        [(*row, None) for row in rows],
    )  # fmt: skip
    made = package(database)
    sizes = {"A": 4, "B": 2} if unit else {"A": 5, "B": 4}
    for k in range(1, 7):
        asked = [other, {"k_anonymity": {"k": 1}}, {"k_anonymity": {"k": k}}]
        sql = made.candidate(Relation("labelled"), ["q"], ["q"], asked, unit)
        there = {name for (name,) in database.connection.execute(sql).fetchall()}
        assert there == {name for name, size in sizes.items() if size >= k}
        said = made.violations(Relation("labelled"), Relation("labelled"), ["q"], asked, unit)
        small = sum(size < k for size in sizes.values())
        assert said == ([f"{small} classes violate {k}-anonymity"] if small else [])
