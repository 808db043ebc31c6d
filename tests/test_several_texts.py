"""Equal values with several texts are never counted as several sensitive values, nor as several persons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from servers import subject_of

import kanon_sql
from kanon_sql.engines import Column
from kanon_sql.errors import UnsupportedError
from kanon_sql.hierarchies import refuse_several_texts
from kanon_sql.testing import Subject

ENGINES = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ("duckdb", "postgres")]

EQUAL = [
    ("duckdb", "INTERVAL", "1 day", "24 hours"),
    ("duckdb", "DOUBLE[]", "[0.0]", "[-0.0]"),
    ("duckdb", "STRUCT(a INTERVAL)", "{'a': 1 month}", "{'a': 30 days}"),
    ("postgres", "interval", "1 day", "24 hours"),
    ("postgres", "jsonb", '{"mg": 5}', '{"mg": 5.0}'),
    ("postgres", "numeric[]", "{1.0}", "{1.00}"),
    ("postgres", "float8[]", "{0}", "{-0}"),
    ("postgres", "numrange", "[1,2)", "[1.0,2.0)"),
]


@pytest.fixture(scope="module", params=ENGINES)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


@pytest.fixture
def values(subject: Subject) -> Iterator[Subject]:
    yield subject
    for name in ("people", "released", "kanon_sql_manifest"):
        subject.drop(name)


def spec(**changed: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "released",
            "quasi_identifiers": {"q": {"maximum_level": 0}},
            "sensitive": ["v"],
            **changed,
        }
    )


def test_the_database_calls_them_equal_and_nothing_is_released(values: Subject) -> None:
    tried = [(kind, first, second) for engine, kind, first, second in EQUAL if engine == values.dialect.name]
    assert tried
    for kind, first, second in tried:
        values.drop("people")
        values.execute(f"CREATE TABLE people (q VARCHAR(10), v {kind})")
        for text in (first, second):
            values.execute(f"INSERT INTO people VALUES ('a', CAST('{text.replace(chr(39), chr(39) * 2)}' AS {kind}))")
        assert values.fetch("SELECT COUNT(DISTINCT v) FROM people") == [(1,)], kind
        diverse = spec(privacy=[{"l_diversity": {"attribute": "v", "l": 2}}])
        of_persons = spec(privacy=[{"k_anonymity": 2}], unit="v", sensitive=[])
        engine = values.connect()
        for refused in (
            lambda engine=engine, diverse=diverse: kanon_sql.anonymize(engine, diverse),
            lambda engine=engine, diverse=diverse: kanon_sql.check(engine, diverse, "people"),
            lambda engine=engine, of_persons=of_persons: kanon_sql.check(engine, of_persons, "people"),
            lambda engine=engine, of_persons=of_persons: kanon_sql.plan(engine, of_persons),
            lambda engine=engine: kanon_sql.audit(engine, spec(privacy=[{"k_anonymity": 2}]), "people"),
        ):
            with pytest.raises(UnsupportedError, match=r"equal values of type .* may be written in several ways"):
                refused()
        # Where nobody counts them, they are released as they are.
        assert kanon_sql.anonymize(engine, spec(privacy=[{"k_anonymity": 2}])).passed
        engine.close()


def test_nor_as_persons_of_a_table_of_counts_or_of_a_population() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (q VARCHAR, u INTERVAL)")
        connection.execute("INSERT INTO people VALUES ('a', INTERVAL 1 DAY), ('a', INTERVAL 24 HOUR)")
        engine = kanon_sql.connect(connection)
        counts = {"version": 1, "source": "people", "release": "counts", "dimensions": {"q": None}, "unit": "u"}
        table = kanon_sql.TableSpec.from_dict({**counts, "rules": {"threshold": 2}})
        k_map = spec(sensitive=[], privacy=[{"k_map": {"k": 2, "population": "people", "person": "u"}}])
        for refused in (lambda: kanon_sql.tabulate(engine, table), lambda: kanon_sql.check(engine, k_map, "people")):
            with pytest.raises(UnsupportedError, match=r"for (the unit|a population)"):
                refused()
        engine.close()


@pytest.mark.xdist_group("postgres")
def test_nor_where_they_are_parts_of_somebodys_types() -> None:
    with subject_of("postgres") as subject:
        subject.execute("CREATE TYPE stay AS (lasted interval, ward integer)")
        subject.execute("CREATE TYPE doses AS RANGE (subtype = float8)")
        subject.execute("CREATE TYPE ward AS ENUM ('north', 'south')")
        subject.execute("CREATE TABLE parts (q text, stay stay, stays stay[], dose doses, ward ward)")
        row = "'a', ROW('{}', 1)::stay, ARRAY[ROW('{}', 1)::stay], '[0, 1)', '{}'"
        for text, ward in (("1 day", "north"), ("24 hours", "south")):
            subject.execute(f"INSERT INTO parts VALUES ({row.format(text, text, ward)})")
        engine = subject.connect()
        try:
            for name in ("stay", "stays", "dose", "ward"):
                diverse = spec(sensitive=[name], privacy=[{"l_diversity": {"attribute": name, "l": 2}}])
                if name == "ward":
                    assert kanon_sql.check(engine, diverse, "parts").passed
                    continue
                with pytest.raises(UnsupportedError, match="for a requirement"):
                    kanon_sql.check(engine, diverse, "parts")
        finally:
            engine.close()


def test_nor_in_a_table_that_is_published_again() -> None:
    with duckdb.connect() as connection:
        for name in ("before", "now"):
            connection.execute(f"CREATE TABLE {name} (q VARCHAR, v INTERVAL, person INTEGER)")
            connection.execute(f"INSERT INTO {name} VALUES ('a', INTERVAL 1 DAY, 1), ('a', INTERVAL 24 HOUR, 2)")
        again = kanon_sql.Republication("before", "person", 2)
        engine = kanon_sql.connect(connection)
        with pytest.raises(UnsupportedError, match="for m-invariance"):
            kanon_sql.check(engine, spec(privacy=[{"k_anonymity": 2}]), "now", republication=again)
        engine.close()


@pytest.mark.parametrize(
    ("kind", "type_name", "refused"),
    [
        ("other", "INTERVAL", True),
        ("other", "JSONB", True),
        ("text", "JSON", True),
        ("other", "BPCHAR(3)[]", True),
        ("other", "NUMMULTIRANGE", True),
        ("other", "Array(Float64)", True),
        ("other", "UUID", False),
        ("other", "TEXT[]", False),
        ("other", "INT4RANGE", False),
        ("other", "TSTZMULTIRANGE", False),
        ("float", "DOUBLE", False),
        ("decimal", "NUMERIC", False),
        ("text", "BPCHAR(3)", False),
    ],
)
def test_which_types(kind: Any, type_name: str, refused: bool) -> None:
    columns = {"v": Column("v", type_name, kind)}
    if not refused:
        refuse_several_texts(columns, ["v", None, "w"], "a requirement")
        return
    with pytest.raises(UnsupportedError, match="for a requirement"):
        refuse_several_texts(columns, ["v"], "a requirement")
