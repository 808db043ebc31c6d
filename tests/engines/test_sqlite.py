"""What is SQLite's own: columns of any type, dates as text, decimals as floats, functions of the application."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.backends.sqlite import _floor, _ln
from kanon_sql.engines.base import Meter
from kanon_sql.errors import HierarchyError, UnsupportedError
from kanon_sql.sql.statement import Statement
from kanon_sql.testing.reference import Reference, multiset, same
from tests.servers import subject_of
from tests.support.sqlite_files import connect, released, run, spec


@pytest.fixture(scope="module", autouse=True)
def installed() -> Iterator[None]:
    with subject_of("sqlite"):
        yield


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "clinic.db"


# --- Text is compared exactly ---


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("collation", ["NOCASE", "RTRIM"])
def test_a_collation_merges_nothing(file: Path, collation: str) -> None:
    run(
        file,
        f"CREATE TABLE people (q TEXT COLLATE {collation}, s TEXT COLLATE {collation}, u TEXT COLLATE {collation})",
        "INSERT INTO people VALUES ('a', 'x', 'u'), ('A', 'X', 'U'), ('a ', 'x ', 'u ')",
        "INSERT INTO people VALUES ('b', 'x', 'v'), ('b', 'X', 'V')",
    )
    engine = connect(file)
    every = spec(quasi_identifiers={"q": {"maximum_level": 0}}, suppression={"max_share": 0.9})
    assert kanon_sql.check(engine, every, "people").classes["count"] == 4
    assert kanon_sql.anonymize(engine, every).rows["suppressed"] == 3
    assert released(file) == {("b",): 2}
    diverse = spec(
        quasi_identifiers={"q": {"tree": {"*": ["a", "A", "a ", "b"]}}},
        sensitive=["s"],
        unit="u",
        privacy=[{"k_anonymity": 5}, {"l_diversity": {"attribute": "s", "l": 3}}],
    )
    assert kanon_sql.anonymize(engine, diverse).classes["count"] == 1
    view = spec(source={"query": f"SELECT q COLLATE {collation} AS q FROM people"}, release="seen")
    assert kanon_sql.plan(engine, view).rows["source"] == 5
    assert kanon_sql.anonymize(
        engine, spec(source=view.source.model_dump(exclude_none=True), release="seen", suppression={"max_share": 0.9},
                     quasi_identifiers={"q": {"maximum_level": 0}}),
    ).rows["suppressed"] == 3  # fmt: skip
    engine.close()


# --- Columns of any type ---

MIXED = [
    ("INTEGER", ["1", "2", "'Ada'", "2"], None, ["integer (3 rows)", "text (1 row)"]),
    ("INTEGER", ["1", "1.5"], None, ["real (1 row)"]),
    ("INTEGER", ["9223372036854775807", "9223372036854775808"], None, ["real (1 row)"]),
    ("INTEGER", ["1", "x'01'"], None, ["blob (1 row)"]),
    ("BOOLEAN", ["1", "'true'"], None, ["text (1 row)"]),
    ("DECIMAL(5, 2)", ["1", "2.5", "'Ada'"], {"intervals": [5]}, ["decimal (2 rows)", "text (1 row)"]),
    ("REAL", ["1", "'Ada'"], {"intervals": [5]}, ["text (1 row)"]),
    ("TEXT", ["'1'", "x'31'"], None, ["blob (1 row)"]),
    ("TEXT", ["x'31'", "x'31'"], None, ["blob (2 rows)"]),
    ("TEXT", ["'Ada' || CHAR(0) || 'Planted'"], {"prefix": [3]}, ["text with a zero byte (1 row)"]),
    ("DATE", ["'2001-01-31'", "'31.01.2001'"], {"dates": ["year"]}, ["date (1 row)", "text that is no date (1 row)"]),
    ("DATE", ["'2001-02-30'"], {"dates": ["year"]}, ["text that is no date (1 row)"]),
    ("DATE", ["'2001-01-31 '"], {"dates": ["year"]}, ["text that is no date (1 row)"]),
    ("DATE", ["'20010131'"], {"dates": ["year"]}, ["integer (1 row)"]),
    ("TIMESTAMP", ["'2001-01-31 10:00:00+02:00'"], {"dates": ["year"]}, ["text that is no timestamp (1 row)"]),
    ("TIMESTAMP", ["'2001-01-31 10:00:00'", "'2001-01-31T10:00:00'"], None, ["with ' '", "with 'T'"]),
    ("TIMESTAMP", ["'2001-01-31 10:00:00'", "'2001-01-31 10:00:00.000'"], None, ["of 19 ", "of 23 "]),
    ("", ["1", "'1'"], None, ["integer (1 row)", "text (1 row)"]),
    ("BLOB", ["x'31'", "'1'"], None, ["blob (1 row)", "text (1 row)"]),
    ("NUM", ["1", "'Ada'"], None, ["number (1 row)", "text (1 row)"]),
]


@pytest.mark.parametrize(("declared", "values", "hierarchy", "expected"), MIXED)
@pytest.mark.parametrize("scratch", ["temp", "inline"])
def test_values_that_do_not_fit_their_type_are_counted_and_refused(
    file: Path, declared: str, values: list[str], hierarchy: Any, expected: list[str], scratch: str
) -> None:
    run(file, f"CREATE TABLE people (q {declared})", *(f"INSERT INTO people VALUES ({value})" for value in values))
    engine = connect(file, scratch=scratch)
    with pytest.raises(UnsupportedError) as caught:
        kanon_sql.plan(engine, spec(quasi_identifiers={"q": hierarchy}))
    message = str(caught.value)
    assert message.startswith("q: ")
    for part in expected:
        assert part in message
    for value in ("Ada", "Planted", "2001", "9223372036854775807"):
        assert value not in message
    engine.close()


def test_equal_numbers_of_two_types_are_seen_beside_different_values(file: Path) -> None:
    """They are in two vectors, so that the frequency table has both; by value alone they would be one."""
    run(file, "CREATE TABLE people (q, r)", "INSERT INTO people VALUES (1, 'a'), (1.0, 'b'), (1.0, 'c')")
    engine = connect(file)
    with pytest.raises(UnsupportedError, match=r"of no type, and its values are integer \(1 row\), real \(2 rows\)"):
        kanon_sql.plan(engine, spec(quasi_identifiers={"r": {}, "q": {}}))
    engine.close()


def test_classes_are_sorted_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each node of a statement judges its own classes: a GROUP BY over all nodes would sort them again."""
    cells = ", ".join(f"({number % 40}, {number % 3})" for number in range(200))
    run(file, "CREATE TABLE people (q INTEGER, r INTEGER)", f"INSERT INTO people VALUES {cells}")
    engine = connect(file)
    quasi = {"q": {"intervals": [5, 10]}, "r": {"intervals": [2]}}
    sent: list[Statement] = []
    count = Meter.count
    monkeypatch.setattr(Meter, "count", lambda own, statement: (sent.append(statement), count(own, statement))[1])
    kanon_sql.plan(
        engine, spec(quasi_identifiers=quasi, search={"algorithm": "exhaustive", "metric": "discernibility"})
    )
    asked = [statement.sql for statement in sent if statement.name == "evaluate/node"]
    assert any("UNION ALL" in sql for sql in asked)
    assert all(sql.count("AS judged_rows") == sql.count("UNION ALL") + 1 for sql in asked)
    engine.close()


def test_check_sees_numbers_that_are_equal_and_look_different(file: Path) -> None:
    run(file, "CREATE TABLE people (q)", "INSERT INTO people VALUES (1), (1.0)")
    engine = connect(file)
    with pytest.raises(UnsupportedError, match=r"of no type, and its values are integer \(1 row\), real \(1 row\)"):
        kanon_sql.check(engine, spec(), "people")
    level = {"minimum_level": 0, "maximum_level": 0}
    assert kanon_sql.anonymize(engine, spec(quasi_identifiers={"q": level})).passed
    assert list(released(file).values()) == [2], "one label for both"
    engine.close()


@pytest.mark.parametrize("role", ["quasi", "sensitive", "unit", "reference"])
def test_they_are_refused_in_every_role_and_by_check(file: Path, role: str) -> None:
    run(
        file,
        "CREATE TABLE people (q TEXT, mixed INTEGER)",
        "INSERT INTO people VALUES ('a', 1), ('a', 2), ('a', 'Ada')",
        "CREATE TABLE written (q TEXT, mixed INTEGER)",
        "INSERT INTO written VALUES ('a', 1), ('a', 2)",
    )
    close = {"t_closeness": {"attribute": "mixed", "t": 0.9}}
    changes: dict[str, Any] = {
        "quasi": {"quasi_identifiers": {"q": None, "mixed": None}},
        "sensitive": {"sensitive": ["mixed"], "privacy": [{"l_diversity": {"attribute": "mixed", "l": 2}}]},
        "unit": {"unit": "mixed"},
        "reference": {"sensitive": ["mixed"], "privacy": [close]},
    }[role]
    engine = connect(file)
    with pytest.raises(UnsupportedError, match="mixed: the column is INTEGER"):
        kanon_sql.check(engine, spec(**changes), "written" if role == "reference" else "people")
    with pytest.raises(UnsupportedError, match="mixed: the column is INTEGER"):
        kanon_sql.anonymize(engine, spec(**changes))
    assert run(file, "SELECT name FROM sqlite_master WHERE name = 'released'") == []
    engine.close()


def test_what_is_only_compared_may_be_a_blob(file: Path) -> None:
    run(
        file,
        "CREATE TABLE people (q TEXT, s TEXT, u BLOB)",
        "INSERT INTO people VALUES ('a', 'x' || CHAR(0) || '1', x'00'), ('a', 'x' || CHAR(0) || '2', x'0001')",
    )
    engine = connect(file)
    diverse = [{"k_anonymity": 2}, {"l_diversity": {"attribute": "s", "l": 2}}]
    result = kanon_sql.anonymize(engine, spec(sensitive=["s"], unit="u", privacy=diverse))
    assert result.passed
    assert result.rows["persons"] == 2
    engine.close()


def test_types_of_queries_and_views_come_through(file: Path) -> None:
    run(
        file,
        "CREATE TABLE people (a INTEGER, b DATE, c DECIMAL(8, 3), d VARCHAR(9), e DATETIME, f, g BOOLEAN, h REAL)",
        "CREATE VIEW seen AS SELECT a AS first, CAST(d AS INTEGER) AS second, d || '' AS third FROM people",
    )
    engine = connect(file)

    def kinds(relation: str) -> list[tuple[str, str, str, int | None]]:
        return [(column.name, column.type, column.kind, column.scale) for column in engine.columns(relation)]

    expected = [
        ("a", "INTEGER", "integer", None),
        ("b", "DATE", "date", None),
        ("c", "DECIMAL(8, 3)", "decimal", 3),
        ("d", "VARCHAR(9)", "text", None),
        ("e", "DATETIME", "timestamp", None),
        ("f", "", "other", None),
        ("g", "BOOLEAN", "integer", None),
        ("h", "REAL", "float", None),
    ]
    assert kinds('"people"') == expected
    assert kinds("(SELECT * FROM people WHERE a > 1 UNION ALL SELECT * FROM people)") == expected
    assert kinds('"seen"') == [
        ("first", "INTEGER", "integer", None),
        ("second", "INTEGER", "integer", None),
        ("third", "", "other", None),
    ]
    numeric = "(SELECT CAST(a AS DECIMAL) AS n, CAST(a AS TEXT) AS t, CAST(a AS REAL) AS r FROM people)"
    assert [kind for _, _, kind, _ in kinds(numeric)] == ["decimal", "text", "float"]
    assert run(file, "SELECT COUNT(*) FROM sqlite_master") == [(2,)]
    engine.close()


def test_a_release_can_be_checked_though_it_was_made_by_create_table_as(file: Path) -> None:
    """Dates and decimals are copied into columns that SQLite then calls NUM."""
    run(
        file,
        "CREATE TABLE people (q DECIMAL(4, 1), s DATE, t DECIMAL(4, 1))",
        "INSERT INTO people VALUES (1, '2001-01-01', 1), (1, '2001-01-02', 1.5), (2.5, '2001-01-01', 2)",
    )
    engine = connect(file)
    diverse = spec(
        sensitive=["s", "t"],
        privacy=[{"k_anonymity": 2}, *({"l_diversity": {"attribute": name, "l": 2}} for name in "st")],
    )
    assert kanon_sql.anonymize(engine, diverse).passed
    assert kanon_sql.check(engine, diverse).passed
    assert run(file, "SELECT name, type FROM pragma_table_info('released')")[0] == ("q", "TEXT")
    engine.close()


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("reference", ["original", "release"])
def test_ordered_values_of_a_release_are_what_the_source_declares(file: Path, reference: str) -> None:
    """Dates and decimals, which its own columns no longer are by name; what is no date is refused as in the source."""
    run(
        file,
        "CREATE TABLE people (q TEXT, s DATE, t DECIMAL(6, 2))",
        "INSERT INTO people VALUES ('a', '2001-01-01', 9), ('a', '0999-12-31', 10.5), ('b', '1969-12-31', 2), "
        "('b', '2001-01-01', 10.5)",
    )
    engine = connect(file)
    ordered = [
        {"t_closeness": {"attribute": name, "t": 0.9, "distance": "ordered", "reference": reference}} for name in "st"
    ]
    asked = spec(sensitive=["s", "t"], privacy=[{"k_anonymity": 2}, *ordered], suppression={"max_rows": 0})
    assert kanon_sql.anonymize(engine, asked).passed
    for table in (None, "people"):
        checked = kanon_sql.check(engine, asked, table)
        assert checked.passed
        # Shares of 1/4, 1/4, 1/2 in rank order, and in each class 1/2 of the last: (1/4 + 0) / 2 steps.
        distances = {item["t"] for item in checked.achieved.values() if "t" in item}
        assert distances == {0.125}
    run(file, "UPDATE released SET s = '2001-1-1' WHERE t = 9")
    with pytest.raises(UnsupportedError, match=r"the column is DATE, and its values are .*text that is no date"):
        kanon_sql.check(engine, asked)
    engine.close()


# --- Numbers, dates, functions ---


WIDTHS = [Decimal("0.01"), Decimal("0.5"), Decimal("0.07"), 3, Decimal("2.5")]


EVERY_PAIR = [
    pytest.param(width, kind, marks=() if position % 3 == place else pytest.mark.slow)
    for position, width in enumerate(WIDTHS)
    for place, kind in enumerate(["DECIMAL(12, 2)", "DOUBLE PRECISION", "BIGINT"])
]


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize(("width", "kind"), EVERY_PAIR)
def test_intervals_are_those_of_exact_decimals(file: Path, width: Any, kind: str) -> None:
    draw = random.Random(f"{width}{kind}")
    values = [Decimal(draw.randint(-(10**6), 10**6)).scaleb(-2) for _ in range(150)]
    values += [Decimal(number) for number in (0, 10, -10, 10**8 - 1, 1 - 10**8)]
    values += [Decimal(step) * Decimal(str(width)) for step in range(-40, 40)]
    if kind == "BIGINT":
        values = [Decimal(int(value)) for value in values]
    if kind == "DOUBLE PRECISION":
        values += [Decimal("9.99999999999"), Decimal("10.00000000001"), Decimal("-0.00000000001")]
    listed = ", ".join(f"({value})" for value in values)
    run(file, f"CREATE TABLE people (q {kind})", f"INSERT INTO people VALUES {listed}")
    reference = Reference()
    reference.connection.execute(f"CREATE TABLE people (q {kind})")
    reference.connection.execute(f"INSERT INTO people VALUES {listed}")
    intervals = {"intervals": [width, width * 10], "minimum_level": 1, "maximum_level": 1}
    wanted = spec(quasi_identifiers={"q": intervals}, privacy=[{"k_anonymity": 1}])
    engine = connect(file)
    same(kanon_sql.anonymize(engine, wanted), kanon_sql.anonymize(reference.engine, wanted))
    assert multiset(run(file, "SELECT * FROM released")) == multiset(reference.rows("released"))
    engine.close()
    reference.connection.close()


def test_a_number_that_no_interval_can_hold_exactly_is_refused(file: Path) -> None:
    run(file, "CREATE TABLE people (q INTEGER)", f"INSERT INTO people VALUES (1), ({10**15 - 1})")
    engine = connect(file)
    with pytest.raises(HierarchyError, match=r"1 distinct values are not finite or not between -10\^13 and 10\^13"):
        kanon_sql.plan(engine, spec(quasi_identifiers={"q": {"intervals": [Decimal("0.0001")]}}))
    engine.close()


def test_text_that_is_no_number_has_no_label(file: Path) -> None:
    run(file, "CREATE TABLE people (q TEXT)", "INSERT INTO people VALUES ('12'), ('-7'), ('Ada'), (''), ('1e')")
    engine = connect(file)
    with pytest.raises(HierarchyError, match=r"3 distinct values \(3 rows\) have no generalization"):
        kanon_sql.plan(engine, spec(quasi_identifiers={"q": {"sql": ["CAST(x AS INTEGER) // 10"]}}))
    engine.close()


@pytest.mark.slow
def test_functions_that_sqlite_lacks(file: Path) -> None:
    run(file, "CREATE TABLE people (q TEXT)", "INSERT INTO people VALUES ('abcdef'), ('ab')")
    engine = connect(file)
    for text, expected in (
        ("left(x, 3)", {("abc",): 1, ("ab",): 1}),
        ("right(x, 3)", {("def",): 1, ("ab",): 1}),
        ("right(x, 0)", {("",): 2}),
        ("repeat('xy', 3) || left(x, 1)", {("xyxyxya",): 2}),
        ("repeat('xy', 2 - length(x))", {("",): 2}),
        ("length(x) // 4", {("1",): 1, ("0",): 1}),
        ("length(x) / 4", {("1.5",): 1, ("0.5",): 1}),
    ):
        level = {"sql": [text], "minimum_level": 1, "maximum_level": 1}
        assert kanon_sql.anonymize(engine, spec(quasi_identifiers={"q": level}, privacy=[{"k_anonymity": 1}])).passed
        assert released(file) == expected, text
    for text in ("left(x, -1)", "right(x, length(x) - 1)"):
        with pytest.raises(UnsupportedError, match="use SUBSTRING"):
            kanon_sql.plan(engine, spec(quasi_identifiers={"q": {"sql": [text]}}))
    engine.close()


def test_the_functions_that_a_library_without_mathematics_is_given() -> None:
    for number in (0.5, 1, 2, 10**9, 0, -1, None, -2.5, 7.9, float("inf")):
        library = sqlite3.connect(":memory:").execute("SELECT LN(?1), FLOOR(?1)", (number,)).fetchone()
        assert (_ln(number), _floor(number)) == pytest.approx(library)


@pytest.mark.parametrize(
    ("values", "rows"), [(["NULL", "1.5", "2.0"], "1.5;low\n2;low\n"), (["1e20", "1.5"], "1e+20;high\n1.5;low\n")]
)
def test_fractions_that_are_missing_or_large_have_labels(file: Path, values: list[str], rows: str) -> None:
    """The toolkit that opens the connection brings a ``floor`` of its own, which takes neither."""
    hierarchy = file.with_name("q.csv")
    hierarchy.write_text(rows)
    run(file, "CREATE TABLE people (q REAL)", *(f"INSERT INTO people VALUES ({value})" for value in values * 2))
    for quasi in ({"file": str(hierarchy), "minimum_level": 1}, {}):
        result = kanon_sql.plan(connect(file), spec(quasi_identifiers={"q": quasi}))
        assert result.passed
        assert result.rows["released"] == 2 * len(values)


@pytest.mark.slow
def test_a_hierarchy_of_more_rows_than_union_all_takes(file: Path) -> None:
    run(file, "CREATE TABLE people (q TEXT)", "INSERT INTO people VALUES ('n7'), ('n1299')")
    tree = {"low": [f"n{number}" for number in range(700)], "high": [f"n{number}" for number in range(700, 1400)]}
    for scratch in ("temp", "inline"):
        engine = connect(file, scratch=scratch)
        assert kanon_sql.plan(engine, spec(quasi_identifiers={"q": {"tree": tree}})).passed
        engine.close()


@pytest.fixture
def people(file: Path) -> Path:
    run(
        file,
        "CREATE TABLE people (q TEXT, s TEXT)",
        "INSERT INTO people VALUES ('a', 'x'), ('a', 'y'), ('b', 'x')",
    )
    return file


# --- What an application registered on its connection ---


@pytest.fixture
def given(file: Path) -> Iterator[tuple[Any, sqlite3.Connection]]:
    """An open connection, and the driver's own behind it."""
    import sqlalchemy

    run(file, "CREATE TABLE people (q TEXT, s TEXT)", "INSERT INTO people VALUES ('a', 'x'), ('a', 'y'), ('A', 'x')")
    made = sqlalchemy.create_engine(f"sqlite:///{file}")
    with made.connect() as connection:
        yield connection, connection.connection.driver_connection
    made.dispose()


class _Many:
    def step(self, *_: Any) -> None:
        pass

    def finalize(self) -> int:
        return 1000


def test_functions_under_the_names_of_sqlites_are_refused(given: Any) -> None:
    """Every class would have a thousand rows."""
    connection, driver = given
    driver.create_aggregate("count", 0, _Many)
    driver.create_function("round", 2, lambda number, _: number)
    driver.create_function("unicode", 1, str.casefold)  # ours does not call it
    with pytest.raises(UnsupportedError, match=r"functions with the names of SQLite's own \(count, round\)"):
        kanon_sql.connect(connection)


def test_a_logarithm_of_the_applications_is_not_used(given: Any) -> None:
    connection, driver = given
    driver.create_function("ln", 1, lambda number: 0.0)
    engine = kanon_sql.connect(connection)
    ((one,),) = engine.fetch(Statement("ln", "SELECT ln(2.718281828459045)"), 1)
    assert one == 1.0
    engine.close()


def test_a_collation_that_hides_binary_is_refused(given: Any) -> None:
    connection, driver = given
    driver.create_collation("BINARY", lambda a, b: (a.lower() > b.lower()) - (a.lower() < b.lower()))
    with pytest.raises(UnsupportedError, match="its own collation BINARY"):
        kanon_sql.connect(connection)


@pytest.mark.parametrize("factory", [bytes, lambda text: text.decode().upper()])
def test_text_is_fetched_as_it_is_stored(given: Any, factory: Any) -> None:
    connection, driver = given
    driver.text_factory, driver.row_factory = factory, sqlite3.Row
    engine = kanon_sql.connect(connection)
    assert kanon_sql.check(engine, spec(), "people").achieved["k_anonymity"]["violating_rows"] == 1
    engine.close()
    assert (driver.text_factory, driver.row_factory) == (factory, sqlite3.Row), "it has its own again"
