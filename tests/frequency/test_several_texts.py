"""Equal values with several texts are never counted as several sensitive values, nor as several persons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines import Column
from kanon_sql.engines.backends.warehouse import column_of
from kanon_sql.errors import UnsupportedError
from kanon_sql.hierarchies import refuse_several_texts
from kanon_sql.testing import Subject
from tests.servers import subject_of

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
    ("postgres", "stay[]", "{1 day}", "{24 hours}"),
    ("postgres", "box", "((0,0),(1,1))", "((-0,0),(1,1))"),
    ("postgres", "bpchar", "a", "a   "),
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


@pytest.mark.slow
def test_the_database_calls_them_equal_and_nothing_is_released(values: Subject) -> None:
    tried = [(kind, first, second) for engine, kind, first, second in EQUAL if engine == values.dialect.name]
    assert tried
    if values.dialect.name == "postgres":
        values.execute("DROP DOMAIN IF EXISTS stay CASCADE")
        values.execute("CREATE DOMAIN stay AS interval")
    for kind, first, second in tried:
        values.drop("people")
        values.execute(f"CREATE TABLE people (q VARCHAR(10), v {kind})")
        for text in (first, second):
            values.execute(f"INSERT INTO people VALUES ('a', CAST('{text.replace(chr(39), chr(39) * 2)}' AS {kind}))")
        if kind != "box":  # = compares areas, and there is no order by which DISTINCT could sort
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
            with pytest.raises(
                UnsupportedError, match=r"value(s of type .* may be written in several ways|.* may hold several items)"
            ):
                refused()
        # Where nobody counts them, they are released as they are.
        assert kanon_sql.anonymize(engine, spec(privacy=[{"k_anonymity": 2}])).passed
        engine.close()


def test_nor_as_persons_of_a_table_of_counts_or_of_a_population() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (q VARCHAR, u INTERVAL)")
        connection.execute("INSERT INTO people VALUES ('a', INTERVAL 1 DAY), ('a', INTERVAL 24 HOUR)")
        engine = kanon_sql.connect(connection)
        counts = {
            "version": 1,
            "kind": "table",
            "source": "people",
            "release": "counts",
            "dimensions": {"q": None},
            "unit": "u",
        }
        table = kanon_sql.TableSpec.from_dict({**counts, "rules": {"threshold": 2}})
        k_map = spec(sensitive=[], privacy=[{"k_map": {"k": 2, "population": "people", "person": "u"}}])
        for refused in (lambda: kanon_sql.tabulate(engine, table), lambda: kanon_sql.check(engine, k_map, "people")):
            with pytest.raises(UnsupportedError, match=r"for (the unit|a population)"):
                refused()
        engine.close()


@pytest.mark.slow
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


@pytest.mark.slow
def test_lists_are_refused_where_their_items_are_shared() -> None:
    """Everybody has flu: three different lists are not three diagnoses."""
    shapes = {
        "VARCHAR[]": ("['flu', 'hiv']", "['hiv', 'flu']", "['flu']"),
        "MAP(VARCHAR, INTEGER)": ("MAP {'flu': 1, 'hiv': 1}", "MAP {'hiv': 1, 'flu': 1}", "MAP {'flu': 1}"),
        "STRUCT(a VARCHAR, b VARCHAR)": ("{'a': 'flu', 'b': 'hiv'}", "{'a': 'hiv', 'b': 'flu'}", "{'a': 'flu'}"),
        "JSON": ("""'["flu", "hiv"]'""", """'["hiv", "flu"]'""", """'["flu"]'"""),
    }
    for kind, lists in shapes.items():
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE people (q VARCHAR, v {kind})")
            for value in lists:
                connection.execute(f"INSERT INTO people VALUES ('a', {value})")
            engine = kanon_sql.connect(connection)
            for asked in (
                spec(privacy=[{"l_diversity": {"attribute": "v", "l": 3}}]),
                spec(privacy=[{"t_closeness": {"attribute": "v", "t": 1}}]),
                spec(privacy=[{"k_anonymity": 2}], unit="v", sensitive=[]),
            ):
                with pytest.raises(UnsupportedError, match="make a row of each item in a source query"):
                    kanon_sql.check(engine, asked, "people")
            with pytest.raises(UnsupportedError, match="for an attack"):
                kanon_sql.audit(engine, spec(privacy=[{"k_anonymity": 2}]), "people")
            if kind == "VARCHAR[]":  # what the message advises tells the truth: there are two diagnoses
                connection.execute("CREATE TABLE items AS SELECT q, UNNEST(v) AS v FROM people")
                asked = spec(privacy=[{"l_diversity": {"attribute": "v", "l": 3}}])
                assert not kanon_sql.check(engine, asked, "items").passed
            engine.close()


CHECKED = [
    ("clickhouse", "Array(DateTime('Europe/Berlin'))", "[toDateTime(1761438600)]", "[toDateTime(1761442200)]"),
    ("clickhouse", "JSON", """'{"a": 1}'""", """'{"a": 1.0}'"""),
    ("clickhouse", "Geometry", "(0., 0.)::Point", "(0., 1.)::Point"),
    ("postgres", "bpchar", "'a'::bpchar", "'a   '::bpchar"),
]


@pytest.mark.parametrize(
    "engine", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ("clickhouse", "postgres")]
)
def test_a_class_does_not_hold_values_that_differ(engine: str) -> None:
    with subject_of(engine) as subject:
        text = subject.types["text"]
        for name, kind, first, second in CHECKED:
            if name != engine:
                continue
            subject.drop("differing")
            subject.execute(subject.create("differing", f"q {kind}, n {text}"))
            for value in (first, second):
                subject.execute(f"INSERT INTO differing SELECT {value}, 'n'")
            asked = spec(source="differing", sensitive=[], privacy=[{"k_anonymity": 2}])
            with subject.connect() as opened:
                if name == "postgres":  # the blanks can be seen, so there are two classes
                    assert not kanon_sql.check(opened, asked, "differing").passed
                    continue
                with pytest.raises(UnsupportedError, match=r"different values of type .* may have the same text"):
                    kanon_sql.check(opened, asked, "differing")


@pytest.mark.xdist_group("mariadb")
@pytest.mark.slow
def test_json_and_sets_of_mariadb() -> None:
    with subject_of("mariadb") as subject:
        subject.execute("CREATE TABLE documents (q VARCHAR(9), v JSON, s SET('flu', 'hiv'), t LONGTEXT, b LONGBLOB)")
        subject.execute("CREATE VIEW shown AS SELECT q, v AS w, t FROM documents")
        subject.execute("""INSERT INTO documents VALUES ('a', '{"a": 1}', 'flu', 'x', 'x')""")
        subject.execute("""INSERT INTO documents VALUES ('a', '{"a":1.0}', 'flu,hiv', 'y', 'y')""")
        engine = subject.connect()
        for table, column in (("documents", "v"), ("documents", "s"), ("shown", "w")):
            asked = spec(sensitive=[column], privacy=[{"l_diversity": {"attribute": column, "l": 2}}])
            with pytest.raises(UnsupportedError, match="may hold several items"):
                kanon_sql.check(engine, asked, table)
        for table, column in (("documents", "t"), ("documents", "b"), ("shown", "t")):
            asked = spec(sensitive=[column], privacy=[{"l_diversity": {"attribute": column, "l": 2}}])
            assert kanon_sql.check(engine, asked, table).passed
        engine.close()


@pytest.mark.parametrize(
    ("shown", "refused"),
    [
        ("decimal(5,2)", False),
        ("NVARCHAR(50)", False),
        ("uniqueidentifier", False),
        ("time(3)", False),
        ("varbinary", False),
        ("interval day to second", False),
        ("timestamp(3) with time zone", False),
        ("GEOGRAPHY", True),
        ("xml", True),
        ("array(varchar)", True),
        ("RECORD", True),
    ],
)
def test_which_types_of_warehouses(shown: str, refused: bool) -> None:
    column = column_of("v", shown)
    if not refused:
        refuse_several_texts({"v": column}, ["v", None, "w"], "a requirement")
        return
    with pytest.raises(UnsupportedError, match="for a requirement"):
        refuse_several_texts({"v": column}, ["v"], "a requirement")


def test_a_type_that_nothing_is_known_of_is_refused_where_it_is_counted() -> None:
    with pytest.raises(UnsupportedError, match="for the unit"):
        refuse_several_texts({"v": Column("v", "NEWEST", "other")}, ["v"], "the unit")
    refuse_several_texts({"v": Column("v", "VARCHAR", "text")}, ["v"], "the unit")
