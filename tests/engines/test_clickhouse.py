"""ClickHouse: what the conformance suite does not see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import sqlglot

import kanon_sql
from kanon_sql.engines.base import Deadline, Engine, Meter
from kanon_sql.engines.clickhouse_settings import SETTINGS
from kanon_sql.errors import DatabaseError, KanonError, QueryTimeout, SpecError, UnsupportedError
from kanon_sql.evaluate import node_statements
from kanon_sql.sql.statement import Statement
from kanon_sql.testing.clinic import SPEC, VISITS, visits
from kanon_sql.testing.reference import Reference, multiset, same
from tests.servers import subject_of
from tests.servers.clickhouse import ClickHouseSubject
from tests.servers.clickhouse_http import Bridge, bridge

pytestmark = pytest.mark.xdist_group("clickhouse")


@pytest.fixture(scope="module")
def subject() -> Iterator[ClickHouseSubject]:
    with subject_of("clickhouse") as made:
        assert isinstance(made, ClickHouseSubject)
        made.table("visits", VISITS, visits())
        yield made


@pytest.fixture
def engine(subject: ClickHouseSubject) -> Iterator[Engine]:
    opened = subject.connect()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    made = Reference()
    made.table("visits", VISITS, visits())
    yield made
    made.connection.close()


@pytest.fixture
def http(subject: ClickHouseSubject) -> Iterator[Bridge]:
    with bridge(str(subject.directory)) as server:
        yield server


def address(server: Bridge) -> str:
    return f"clickhouse://someone:secret@127.0.0.1:{server.server_address[1]}/default"


def value(engine: Engine, sql: str) -> Any:
    """One value of a query written as DuckDB writes it."""
    text = engine.dialect.sql(sqlglot.parse_one(sql, read="duckdb"))
    return engine.fetch(Statement("test", text), 1)[0][0]


def one_column(name: str, hierarchy: Any, **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "kinds",
            "release": "kinds_release",
            "quasi_identifiers": {name: hierarchy},
            "privacy": [{"k_anonymity": 2}],
            "suppression": {"max_share": 0.9},
            **changes,
        }
    )


# --- Settings ---


@pytest.mark.slow
def test_every_run_puts_the_settings_in_force_again(engine: Any) -> None:
    engine._client.command("SET join_use_nulls = 0, timeout_overflow_mode = 'break'")
    with engine.run(Deadline(None)):
        found = engine.fetch(
            Statement("test", "SELECT getSetting('join_use_nulls'), toString(getSetting('timeout_overflow_mode'))"), 1
        )
    assert [tuple(map(str, row)) for row in found] in ([("True", "throw")], [("1", "throw")])


@pytest.mark.slow
def test_an_open_client_is_given_back_as_it_was(subject: ClickHouseSubject) -> None:
    import clickhouse_connect

    names = ", ".join(f"'{name}'" for name in SETTINGS)
    sql = f"SELECT name, value, changed FROM system.settings WHERE name IN ({names}) ORDER BY name"
    with clickhouse_connect.get_client(interface="chdb", path=str(subject.directory)) as client:
        client.command("SET join_use_nulls = 0, max_execution_time = 77, transform_null_in = 1")
        before = client.query(sql).result_rows
        with_ours = kanon_sql.connect(client)
        assert kanon_sql.plan(with_ours, kanon_sql.Spec.from_dict(SPEC)).passed
        with_ours.close()
        assert client.query(sql).result_rows == before
        assert float(client.command("SELECT value FROM system.settings WHERE name = 'max_execution_time'")) == 77


@pytest.mark.slow
def test_a_client_whose_settings_are_fixed_is_refused(subject: ClickHouseSubject) -> None:
    import clickhouse_connect

    with clickhouse_connect.get_client(interface="chdb", path=str(subject.directory)) as client:
        client.command("SET readonly = 1")
        with pytest.raises(UnsupportedError, match="readonly = 2"):
            kanon_sql.connect(client)


@pytest.mark.slow
def test_read_only(subject: ClickHouseSubject, reference: Reference) -> None:
    engine = subject.connect(read_only=True)
    try:
        assert engine.read_only
        spec = kanon_sql.Spec.from_dict(SPEC)
        same(kanon_sql.plan(engine, spec), kanon_sql.plan(reference.engine, spec))
        before = subject.tables()
        with pytest.raises(DatabaseError, match="readonly"):
            engine.execute(Statement("test", "CREATE TABLE mine (a String) ENGINE = Memory"))
        with pytest.raises(SpecError, match="read-only"):
            kanon_sql.anonymize(engine, spec)
        assert subject.tables() == before
    finally:
        engine.close()


# --- Numbers, dates, text ---


def test_sums_and_products_of_sums_do_not_wrap(engine: Engine) -> None:
    rows = "(SELECT 4611686018427387904 AS n UNION ALL SELECT 4611686018427387904 AS n) AS t"
    assert int(value(engine, f"SELECT SUM(n) AS s FROM {rows}")) == 2**63
    product = f"SELECT SUM(m * m) AS s FROM (SELECT SUM(n) AS m FROM {rows}) AS u"
    assert int(value(engine, product)) == 2**126
    with pytest.raises(DatabaseError):
        value(engine, f"SELECT CAST(SUM(n) AS BIGINT) AS s FROM {rows}")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CAST('2020-02-30' AS DATE) AS d", "SELECT CAST('2020-01-32' AS DATE) AS d",
        "SELECT CAST('20000-01-01' AS DATE) AS d", "SELECT CAST('2020-02-30 10:00:00' AS TIMESTAMP) AS d",
        "SELECT CAST(2.5 AS INTEGER) AS n", "SELECT CAST('300' AS TINYINT) AS n",
        "SELECT CAST(1e30 AS BIGINT) AS n", "SELECT CAST('x' AS INTEGER) AS n", "SELECT 1 // 0 AS n",
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_not_bent(engine: Engine, sql: str) -> None:
    with pytest.raises(DatabaseError):
        value(engine, sql)


@pytest.mark.parametrize(
    "expression",
    [
        "CAST(CAST('1899-12-31' AS DATE) AS VARCHAR)", "CAST(CAST('0001-01-01' AS DATE) AS VARCHAR)",
        "CAST(CAST('2299-12-31' AS DATE) AS VARCHAR)", "CAST(CAST('2020-02-29' AS DATE) AS VARCHAR)",
        "CAST(CAST(5 AS DECIMAL(12, 2)) AS VARCHAR)", "CAST(CAST('-0.10' AS DECIMAL(12, 2)) AS VARCHAR)",
        "CAST(CAST(1.15 AS DECIMAL(28, 10)) AS VARCHAR)", "CAST(CAST(4.35e0 AS DECIMAL(12, 2)) AS VARCHAR)",
        "CAST(CAST(57 AS DECIMAL(18, 0)) * 0.01 AS VARCHAR)", "CAST(7 / 2 AS VARCHAR)",
        "CAST(FLOOR(-0.5) AS INTEGER)", "-7 // 2", "-7 % 3", "7 % -3", "LENGTH('áß🙂')",
        "SUBSTRING('áß🙂x', 2, 2)", "LEFT('🙂🙂x', 1)", "RIGHT('x🙂é', 2)", "UPPER('áb')", "LOWER('ÁB')",
        "TRIM('  a ')", "REPLACE('a.b', '.', '')", "REPEAT('é', 3)", "'a' || NULL", "COALESCE(NULL, 'a')",
        "CAST(0.1e0 AS VARCHAR)", "CASE WHEN NULL = 1 THEN 1 ELSE 0 END",
        r"'\n\\' || ''''",
    ],
)  # fmt: skip
def test_expressions_mean_what_duckdb_means(engine: Engine, reference: Reference, expression: str) -> None:
    sql = f"SELECT {expression} AS v"
    ((expected,),) = reference.connection.execute(sql).fetchall()
    found = value(engine, sql)
    assert type(found) is type(expected)
    assert found == expected


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT b.w AS v FROM (SELECT 1 AS a) AS t LEFT JOIN (SELECT 2 AS a, 'x' AS w) AS b ON t.a = b.a",
        "SELECT b.a AS v FROM (SELECT 1 AS a) AS t LEFT JOIN (SELECT 2 AS a) AS b ON t.a = b.a",
        "SELECT MAX(a) AS v FROM (SELECT 1 AS a) AS t WHERE a > 1",
        "SELECT SUM(a) AS v FROM (SELECT 1 AS a) AS t WHERE a > 1",
        "SELECT v FROM (SELECT a AS v FROM (SELECT 1 AS a) AS t GROUP BY ROLLUP (a)) AS u WHERE v IS NULL",
        "SELECT CAST(NULL AS VARCHAR) AS v",
    ],
)
def test_what_is_not_there_is_null(engine: Engine, reference: Reference, sql: str) -> None:
    assert reference.connection.execute(sql).fetchall() == [(None,)]
    assert value(engine, sql) is None


def test_a_text_that_is_no_date_makes_no_label(subject: ClickHouseSubject, engine: Engine) -> None:
    """ClickHouse reads 2020-01-32 as 1900-01-01, so it and others would be one class."""
    subject.table("kinds", {"q": "text"}, [("2020-01-32",), ("2020-01-33",)])
    with pytest.raises(KanonError):
        kanon_sql.plan(engine, one_column("q", {"sql": ["CAST(CAST(x AS DATE) AS VARCHAR)"]}))


# --- Types that only ClickHouse has ---

TYPED = {
    "LowCardinality(String)": (["a", "A", "a ", "á"], "text"),
    "LowCardinality(Nullable(String))": (["a", "A", "", None], "text"),
    "FixedString(4)": (["a", "A", "ab", "abcd"], "text"),
    "Enum8('a' = 1, 'A' = 2, 'a ' = 3)": (["a", "A", "a "], "text"),
    "UUID": (["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"], "other"),
    "IPv4": (["10.0.0.1", "10.0.0.2"], "other"),
    "DateTime64(3, 'UTC')": (["2020-10-25 01:30:00.001", "2020-10-25 01:30:00.002"], "timestamp"),
    "Date": (["1970-01-01", "2149-06-06"], "date"),
    "UInt64": (["18446744073709551615", "18446744073709551614"], "integer"),
    "Int256": (["170141183460469231731687303715884105728", "-1"], "integer"),
    "Nullable(Decimal(76, 2))": (["99999999999999999999999999.01", "99999999999999999999999999.02"], "decimal"),
    "Bool": (["true", "false"], "boolean"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("type_name", TYPED)
@pytest.mark.sampled(12)
def test_types_are_grouped_exactly(subject: ClickHouseSubject, engine: Engine, type_name: str) -> None:
    texts, kind = TYPED[type_name]
    subject.drop("kinds")
    subject.execute(subject.create("kinds", f"q {type_name}"))
    counts = {text: 1 + position for position, text in enumerate(texts)}
    rows = ", ".join(f"({subject.dialect.literal(text)})" for text, count in counts.items() for _ in range(count))
    subject.execute(f"INSERT INTO kinds VALUES {rows}")
    (column,) = engine.columns('"kinds"')
    assert column.kind == kind
    spec = one_column("q", {"maximum_level": 0})
    (achieved,) = kanon_sql.check(engine, spec, "kinds").achieved.values()
    assert achieved["violating_classes"] == 1
    assert kanon_sql.anonymize(engine, spec).passed
    released = Counter(text for (text,) in subject.rows("kinds_release"))
    assert released == {text: count for text, count in counts.items() if count > 1}
    subject.drop("kinds_release")


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("type_name", ["Float64", "Nullable(Float64)", "Float32"])
def test_a_number_that_is_not_equal_to_itself_is_a_class(
    subject: ClickHouseSubject, engine: Engine, type_name: str
) -> None:
    """And a single one: 0 / 0 has other bits than nan, and there are more, which are no other values to anybody."""
    subject.drop("kinds")
    subject.execute(subject.create("kinds", f"q {type_name}, s {type_name}"))
    subject.execute(
        "INSERT INTO kinds SELECT arrayJoin([nan, 0 / 0, reinterpretAsFloat64(toUInt64(9221683186994511873))]) AS n, n"
    )
    subject.execute("INSERT INTO kinds VALUES (0.1, 1), (0.1, 1), (2, 2)")
    diverse = {"l_diversity": {"attribute": "s", "l": 1}}
    spec = one_column("q", {"maximum_level": 0}, sensitive=["s"], privacy=[{"k_anonymity": 2}, diverse])
    size, diversity = kanon_sql.check(engine, spec, "kinds").achieved.values()
    assert (size["violating_classes"], diversity["l"]) == (1, 1)
    assert kanon_sql.anonymize(engine, spec).passed
    assert Counter(row[0] for row in subject.rows("kinds_release")) == {"nan": 3, "0.1": 2}
    subject.drop("kinds_release")


def test_a_type_whose_values_share_texts_is_refused(subject: ClickHouseSubject, engine: Engine) -> None:
    for type_name in ("Variant(Int64, String)", "Dynamic", "Array(Variant(Int64, String))"):
        subject.drop("kinds")
        subject.execute(subject.create("kinds", f"q {type_name}"))
        with pytest.raises(UnsupportedError, match="may have the same text"):
            kanon_sql.check(engine, one_column("q", None), "kinds")


@pytest.mark.slow
@pytest.mark.parametrize("type_name", ["Float64", "Nullable(Float64)", "Float32"])
def test_a_zero_with_a_sign_is_no_other_value(subject: ClickHouseSubject, engine: Engine, type_name: str) -> None:
    """Values are grouped by their bits there; as sensitive values 0 and -0 are one, in classes they differ."""
    subject.drop("kinds")
    subject.execute(subject.create("kinds", f"q {type_name}, s {type_name}"))
    subject.execute("INSERT INTO kinds VALUES (0.1, 0.0), (0.1, -0.0), (0.0, 1), (-0.0, 2)")
    spec = one_column(
        "q",
        {"maximum_level": 0},
        sensitive=["s"],
        privacy=[{"k_anonymity": 2}, {"l_diversity": {"attribute": "s", "l": 2}}],
    )
    size, diversity = kanon_sql.check(engine, spec, "kinds").achieved.values()
    assert (size["k"], diversity["l"]) == (1, 1)
    assert kanon_sql.anonymize(engine, spec).passed
    assert sorted(subject.rows("kinds_release")) == [("0", 1), ("0", 2)]
    close = one_column(
        "q", {"maximum_level": 0}, sensitive=["s"], privacy=[{"l_diversity": {"attribute": "s", "l": 1}}]
    )
    assert kanon_sql.anonymize(engine, close).passed
    assert Counter(text for text, _ in subject.rows("kinds_release")) == {"0.1": 2, "0": 2}
    subject.drop("kinds_release")


# --- Publishing, time, errors ---


@pytest.mark.slow
def test_a_database_that_only_renames(subject: ClickHouseSubject) -> None:
    import clickhouse_connect

    with clickhouse_connect.get_client(interface="chdb", path=str(subject.directory)) as client:
        client.command("SET allow_deprecated_database_ordinary = 1")
        client.command("CREATE DATABASE IF NOT EXISTS old_kind ENGINE = Ordinary")
        client.command("USE old_kind")
        engine = kanon_sql.connect(client)
        spec = kanon_sql.Spec.from_dict({**SPEC, "source": "default.visits"})
        assert kanon_sql.anonymize(engine, spec).passed
        again = kanon_sql.anonymize(engine, spec)
        tables = {
            name for (name,) in client.query("SELECT name FROM system.tables WHERE database = 'old_kind'").result_rows
        }
        assert tables == {"visits_release", "kanon_sql_manifest", "kanon_sql_scratch"}
        assert int(client.command("SELECT count() FROM visits_release")) == again.rows["released"]
        engine.close()
        client.command("DROP DATABASE old_kind")


@pytest.mark.slow
def test_the_release_is_not_in_the_order_of_the_source(subject: ClickHouseSubject, engine: Engine) -> None:
    subject.table("kinds", {"q": "text", "n": "integer"}, [("a", number) for number in range(500)])
    spec = one_column("q", None, keep=["n"])
    assert kanon_sql.anonymize(engine, spec).passed
    released = [number for _, number in subject.rows("kinds_release")]
    assert sorted(released) == list(range(500))
    assert released != sorted(released)
    subject.drop("kinds_release")


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("most", [0, 1_000_000])
def test_few_classes_are_not_divided(engine: Engine, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Those of a large set are, as the server sees fit."""
    monkeypatch.setattr(node_statements, "FEW_VECTORS", most)
    sent: list[Statement] = []
    count = Meter.count
    monkeypatch.setattr(Meter, "count", lambda own, statement: (sent.append(statement), count(own, statement))[1])
    kanon_sql.plan(engine, kanon_sql.Spec.from_dict(SPEC))
    asked = [statement.sql for statement in sent if statement.name == "evaluate/node"]
    assert asked
    assert {"group_by_two_level_threshold = 0" in sql for sql in asked} == {most > 0}


def test_an_estimate(engine: Engine) -> None:
    found = engine.estimate('"visits"')
    assert found is not None
    assert found.rows == len(visits())
    assert found.bytes


def test_errors_name_what_is_missing_and_show_no_statement(engine: Engine) -> None:
    with pytest.raises(DatabaseError, match="nowhere") as missing:
        engine.fetch(Statement("test", "SELECT 'Ada Planted' AS a FROM nowhere"), 1)
    assert "Planted" not in str(missing.value)
    with pytest.raises(DatabaseError, match="no_such_column") as missing:
        engine.fetch(Statement("test", "SELECT 'Ada Planted' AS a, no_such_column FROM visits"), 1)
    assert "Planted" not in str(missing.value)
    with pytest.raises(DatabaseError, match="error 6 ") as bad:
        engine.fetch(Statement("test", "SELECT toInt32(materialize('Ada Planted')) AS a"), 1)
    assert "Planted" not in str(bad.value)


# --- Over HTTP ---


@pytest.mark.slow
def test_the_same_over_http(subject: ClickHouseSubject, reference: Reference, http: Bridge) -> None:
    subject.drop("visits_release")
    engine = kanon_sql.connect(address(http))
    assert engine.scratch.mode == "temp"
    assert "secret" not in engine.label
    started = len(http.requests)
    spec = kanon_sql.Spec.from_dict(SPEC)
    reference.connection.execute("DROP TABLE IF EXISTS visits_release")
    with engine.run(Deadline(60)):
        same(kanon_sql.anonymize(engine, spec), kanon_sql.anonymize(reference.engine, spec))
    assert multiset(subject.rows("visits_release")) == multiset(reference.rows("visits_release"))
    assert len(http.requests) > started
    for request in http.requests[started:]:
        assert SETTINGS.items() <= request.items(), "every request carries every setting"
        assert request["session_id"] == http.requests[started]["session_id"]
        assert request["cancel_http_readonly_queries_on_client_close"] == "1", "the driver says so, and it stays"
    engine.close()
    subject.drop("visits_release")


@pytest.mark.slow
def test_http_times_out_and_goes_on(subject: ClickHouseSubject, http: Bridge) -> None:
    engine = kanon_sql.connect(address(http))
    with engine.run(Deadline(1.0)), pytest.raises(QueryTimeout):
        engine.fetch(Statement("slow", subject.slow), 1)
    assert any("KILL QUERY" in request["sql"] for request in http.requests)
    assert engine.fetch(Statement("after", "SELECT 1"), 1) == [(1,)]
    engine.close()


@pytest.mark.slow
def test_a_client_without_a_session_works_inline(subject: ClickHouseSubject, http: Bridge) -> None:
    import clickhouse_connect

    with clickhouse_connect.get_client(
        host="127.0.0.1", port=http.server_address[1], autogenerate_session_id=False
    ) as client:
        engine = kanon_sql.connect(client)
        assert engine.scratch.mode == "inline"
        assert kanon_sql.plan(engine, kanon_sql.Spec.from_dict(SPEC)).passed


@pytest.mark.slow
def test_urls(http: Bridge) -> None:
    for url in ("clickhouse://", "clickhouse://host:port/x", "clickhouse://host/x?secure=1"):
        with pytest.raises(SpecError, match="does not parse"):
            kanon_sql.connect(url)
    with pytest.raises(DatabaseError, match=r"cannot connect to clickhouse://127\.0\.0\.1:1/") as refused:
        kanon_sql.connect("clickhouse://someone:secret@127.0.0.1:1/db")
    assert "secret" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "setting",
    ["additional_table_filters = {'visits': 'charge > 50'}", "empty_result_for_aggregation_by_empty_set = 1"],
)
def test_every_row_is_read_whatever_the_session_leaves_out(
    subject: ClickHouseSubject, reference: Reference, setting: str
) -> None:
    import clickhouse_connect

    name = setting.split(" = ")[0]
    shown = f"SELECT value FROM system.settings WHERE name = '{name}'"
    spec = kanon_sql.Spec.from_dict(SPEC)
    with clickhouse_connect.get_client(interface="chdb", path=str(subject.directory)) as client:
        client.command(f"SET {setting}")
        before = client.query(shown).result_rows
        engine = kanon_sql.connect(client)
        same(kanon_sql.check(engine, spec, "visits"), kanon_sql.check(reference.engine, spec, "visits"))
        same(kanon_sql.plan(engine, spec), kanon_sql.plan(reference.engine, spec))
        engine.close()
        assert client.query(shown).result_rows == before, "it has its own again"
