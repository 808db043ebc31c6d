"""Whoever publishes by the spec that ``init`` wrote gets a table that tells something, and nobody in it is alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.hierarchies.kinds.intervals import IntervalsHierarchy
from kanon_sql.spec import Spec
from tests.support.init_tables import NEVER, SHAPES, TELLING, UNITS
from tests.support.literature import adult_dir

ADULT = adult_dir()


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def published(connection: duckdb.DuckDBPyConnection, shape: str) -> Spec:
    connection.execute(f"CREATE TABLE {shape} AS {SHAPES[shape]}")
    spec = Spec.parse(kanon_sql.init(kanon_sql.connect(connection), shape))
    result = kanon_sql.anonymize(kanon_sql.connect(connection), spec)
    assert result.passed, result.message
    assert "fully_suppressed_columns" not in [item.code for item in result.warnings]
    if shape != "staff":  # of whom some are managers of others, which is a question
        assert "rows_not_persons" not in [item.code for item in result.warnings]
    return spec


def columns_of(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, list[object]]:
    relation = connection.table(table)
    return {name: [row[0] for row in relation.select(f'"{name}"').fetchall()] for name in relation.columns}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.slow
def test_a_release_that_an_analyst_can_use(shape: str, connection: duckdb.DuckDBPyConnection) -> None:
    spec = published(connection, shape)
    assert spec.unit == UNITS.get(shape)
    columns = columns_of(connection, f"{shape}_release")
    assert not NEVER[shape] & columns.keys()
    several = {name for name, values in columns.items() if len(set(values) - {"*"}) > 1}
    assert TELLING[shape] <= several
    rows = len(next(iter(columns.values())))
    (before,) = connection.execute(f"SELECT COUNT(*) FROM {shape}").fetchone() or (0,)
    assert rows >= 0.98 * before
    # By plain counting, no class has fewer than five rows.
    classes = Counter(zip(*(columns[name] for name in spec.quasi_identifiers), strict=True))
    assert min(classes.values()) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("shape", sorted(UNITS))
def test_classes_have_five_persons(shape: str, connection: duckdb.DuckDBPyConnection) -> None:
    """Counted again from the source: whose rows a class holds, where one level per column says it."""
    connection.execute(f"CREATE TABLE {shape} AS {SHAPES[shape]}")
    text = kanon_sql.init(kanon_sql.connect(connection), shape)
    spec = Spec.parse("\n".join(line for line in text.splitlines() if not line.startswith("recoding:")))
    # The person is released for once, as a column of its own that nothing is asked of.
    connection.execute(f"ALTER TABLE {shape} ADD COLUMN who VARCHAR; UPDATE {shape} SET who = {spec.unit}")
    told = Spec.from_dict({**spec.to_dict(), "keep": ["who"]})
    result = kanon_sql.anonymize(kanon_sql.connect(connection), told)
    assert result.passed, result.message
    columns = columns_of(connection, f"{shape}_release")
    persons = defaultdict(set)
    for who, *key in zip(columns["who"], *(columns[name] for name in spec.quasi_identifiers), strict=True):
        persons[tuple(key)].add(who)
    assert min(map(len, persons.values())) >= 5


@pytest.mark.slow
@pytest.mark.skipif(ADULT is None, reason="the Adult extract is not here; KANON_SHARED names its folder")
def test_adult(connection: duckdb.DuckDBPyConnection) -> None:
    """The census extract: all eight columns are released, and none of them is only ``*``."""
    connection.execute(f"CREATE TABLE adult AS SELECT * FROM read_csv('{ADULT}/adult.csv', delim = ';', header = true)")
    spec = Spec.parse(kanon_sql.init(kanon_sql.connect(connection), "adult"))
    assert spec.sensitive == ("salary-class",)
    result = kanon_sql.anonymize(kanon_sql.connect(connection), spec)
    assert result.passed, result.message
    columns = columns_of(connection, "adult_release")
    assert len(columns) == 9
    for name, values in columns.items():
        assert len(set(values) - {"*"}) > 1, name
    assert sum(value != "*" for value in columns["age"]) > 0.8 * len(columns["age"])
    assert min(Counter(zip(*(columns[name] for name in spec.quasi_identifiers), strict=True)).values()) >= 5


def test_one_level_per_column_where_nobody_is_alone(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE t AS SELECT i % 3 AS sex, i % 5 AS race FROM range(900) n(i)")
    text = kanon_sql.init(kanon_sql.connect(connection), "t")
    assert Spec.parse(text).recoding.method == "full_domain"
    assert "\n# recoding: local" in text
    assert Spec.parse(text.replace("# recoding: local", "recoding: local")).recoding.method == "local"


@pytest.mark.parametrize(("alone", "method"), [(4, "full_domain"), (40, "local")])
def test_labels_of_their_own_where_many_are_alone(
    alone: int, method: str, connection: duckdb.DuckDBPyConnection
) -> None:
    """More than a twentieth of the rows."""
    connection.execute(
        f"CREATE TABLE t AS SELECT CASE WHEN i < {alone} THEN 1000 + i ELSE i % 3 END AS height, i % 2 AS sex "
        "FROM range(400) n(i)"
    )
    text = kanon_sql.init(kanon_sql.connect(connection), "t", quasi_identifiers=["height", "sex"])
    assert Spec.parse(text).recoding.method == method
    best = "{method: local, variant: best}"  # named where it applies, as it stands in a spec
    assert (f"# {best}" in text) == (method == "local")
    if method == "local":
        assert Spec.parse(text.replace("recoding: local", f"recoding: {best}")).recoding.variant == "best"


@pytest.mark.slow
def test_combinations_that_nobody_asked_for(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(f"CREATE TABLE staff AS {SHAPES['staff']}")
    engine = kanon_sql.connect(connection)
    assert Spec.parse(kanon_sql.init(engine, "staff", largest_combination=0)).recoding.method == "local"
    few = kanon_sql.init(engine, "staff", largest_combination=0, quasi_identifiers=["sex", "office"])
    assert Spec.parse(few).recoding.method == "full_domain"


@pytest.mark.slow
def test_few_columns_are_more_than_one(connection: duckdb.DuckDBPyConnection) -> None:
    """A survey of measures: with names that say nothing, the likeliest are taken, those with few values first."""
    connection.execute(
        "CREATE TABLE t AS SELECT i * 7919 % 4001 / 7.0 AS a, DATE '2020-01-01' + CAST(i % 300 AS INTEGER) AS b, "
        "'long text ' || i % 700 AS c, i * i % 97 AS d, i * 17 % 4003 AS e, 5 AS f FROM range(5000) n(i)"
    )
    spec = Spec.parse(kanon_sql.init(kanon_sql.connect(connection), "t"))
    assert set(spec.quasi_identifiers) == {"a", "b", "d", "e"}
    assert kanon_sql.anonymize(kanon_sql.connect(connection), spec).passed


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ("18 + i * 31 % 63", 18, 80),
        ("(i * 7919 % 9973) * 13.7", 0, 136_616),
        ("(i * 7919 % 9973) / 99730.0", 0, 0.1),
        ("1900 + i * 31 % 100", 1900, 1999),
        ("-40 + (i * 7919 % 9973) / 100.0", -40, 59.7),
    ],
)
def test_widths_that_fit(values: str, low: float, high: float, connection: duckdb.DuckDBPyConnection) -> None:
    """Bands that are few enough to be read and many enough to say something: 4 to 35 of the finest, by arithmetic."""
    connection.execute(f"CREATE TABLE t AS SELECT {values} AS x FROM range(3000) n(i)")
    text = kanon_sql.init(kanon_sql.connect(connection), "t", quasi_identifiers=["x"])
    hierarchy = Spec.parse(text).quasi_identifiers["x"].hierarchy
    assert isinstance(hierarchy, IntervalsHierarchy)
    finest, *_, coarsest = map(float, hierarchy.intervals)
    assert 4 <= (high - low) / finest <= 35
    assert 1 <= (high - low) / coarsest <= 8


def test_nothing_to_start_from_is_said(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE t AS SELECT 'x' AS name, 'y' AS email")
    with pytest.raises(SpecError, match="name the quasi-identifiers with"):
        kanon_sql.init(kanon_sql.connect(connection), "t")
    assert Spec.parse(kanon_sql.init(kanon_sql.connect(connection), "t", quasi_identifiers=["name"])).quasi_identifiers
