"""What is Spark's own: sessions that others use, scratch tables that must not be computed again, a cluster."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import SCRATCH_TABLE, open_workspace
from kanon_sql.engines.base import Engine
from kanon_sql.engines.spark import SETTINGS
from kanon_sql.engines.spark_checkpoints import ONE_PARTITION, statistics
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.sql.statement import Creation, Statement
from kanon_sql.sql.text import Relation
from kanon_sql.testing.clinic import NAMES
from kanon_sql.verbs.clean import clean
from tests.servers import subject_of
from tests.servers.spark import SparkSubject

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark with executors")]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSubject]:
    with subject_of("spark", workers=2) as made:
        assert isinstance(made, SparkSubject)
        yield made


@pytest.fixture
def engine(spark: SparkSubject) -> Iterator[Engine]:
    opened = spark.connect()
    yield opened
    opened.close()
    spark.drop("released")


def spec(source: Any, keep: list[str] | None = None, **quasi_identifiers: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": source,
            "release": "released",
            "quasi_identifiers": quasi_identifiers,
            "keep": keep or [],
            "privacy": [{"k_anonymity": 2}],
            "suppression": {"max_share": 0.5},
        }
    )


def views(spark: SparkSubject) -> list[str]:
    return [name for _, name, temporary in spark.fetch("SHOW TABLES") if temporary]


def scratch(query: str, table: str = "`kanon_0_probe`") -> Statement:
    """The statement of a scratch table."""
    return Statement("probe", "", creates=Creation(table, query, True))


# --- A session that others use ---


def test_an_open_session_stays_open_and_as_it_was(spark: SparkSubject) -> None:
    spark.table("few", {"q": "text"}, [("a",), ("a",)])
    conf = spark.session.conf
    conf.set("spark.sql.ansi.enabled", "false")
    before = {name: conf.get(name, None) for name in SETTINGS}
    blocks = spark.session.sparkContext._jsc.getPersistentRDDs
    kept = set(blocks())
    with pytest.MonkeyPatch.context() as patch:
        seen = []
        engine = spark.connect()
        of_fetch = type(engine).fetch
        patch.setattr(
            type(engine), "fetch", lambda *given: (seen.append(conf.get("spark.sql.ansi.enabled")), of_fetch(*given))[1]
        )
        assert kanon_sql.anonymize(engine, spec("few", q=None)).passed
    assert set(seen) == {"true"}
    assert {name: conf.get(name, None) for name in SETTINGS} == before
    assert views(spark) == []
    assert set(blocks()) <= kept, "the checkpoints' memory was given back"
    engine.close()
    assert spark.fetch("SELECT 1") == [(1,)]
    conf.unset("spark.sql.ansi.enabled")
    spark.drop("released")


def test_a_session_that_reads_literals_in_another_way_is_refused(spark: SparkSubject) -> None:
    spark.session.conf.set("spark.sql.parser.escapedStringLiterals", "true")
    try:
        with pytest.raises(UnsupportedError, match="escapedStringLiterals"):
            spark.connect()
    finally:
        spark.session.conf.unset("spark.sql.parser.escapedStringLiterals")


def test_a_url_does_not_take_the_session_that_is_open(spark: SparkSubject) -> None:
    with pytest.raises(UnsupportedError, match="already"):
        kanon_sql.connect("spark://127.0.0.1:1")


def test_a_read_only_connection_plans_and_writes_nothing(spark: SparkSubject) -> None:
    spark.table("few", {"q": "text"}, [("a",), ("a",)])
    before = spark.tables()
    engine = spark.connect(read_only=True)
    assert kanon_sql.plan(engine, spec("few", q=None)).passed
    with pytest.raises(SpecError, match="read-only"):
        kanon_sql.anonymize(engine, spec("few", q=None))
    engine.close()
    assert spark.tables() == before
    assert views(spark) == []


def test_ctrl_c_stops_the_statement_and_leaves_the_session_usable(spark: SparkSubject, engine: Engine) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            engine.fetch(Statement("slow", spark.slow), 1)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert list(spark.session.sparkContext.statusTracker().getActiveJobsIds()) == []
    assert engine.fetch(Statement("after", "SELECT 1"), 1) == [(1,)]


def test_an_error_is_not_logged_with_its_values(
    spark: SparkSubject, engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    spark.table("few", {"q": "text"}, [("Ada Planted",)])
    with pytest.raises(DatabaseError, match="CAST_INVALID_INPUT") as caught:
        kanon_sql.plan(engine, spec("few", q={"sql": ["CAST(x AS BIGINT)"]}))
    with pytest.raises(DatabaseError, match=r"nowhere.*cannot be found"):
        engine.columns("nowhere")
    shown = capfd.readouterr()
    assert "Planted" not in f"{caught.value}{shown.out}{shown.err}"
    assert "\tat org.apache" not in shown.out + shown.err


# --- Scratch tables ---


def test_a_scratch_table_does_not_follow_the_source(spark: SparkSubject, engine: Engine) -> None:
    """A cached table does: that is why scratch tables are checkpoints."""
    count = Statement("count", "SELECT SUM(n) FROM kanon_0_probe")
    spark.table("few", {"q": "text"}, [("a",), ("a",), ("b",)])
    engine.execute(scratch("SELECT q, COUNT(*) AS n FROM few GROUP BY q"))
    spark.execute("INSERT INTO few VALUES ('c')")
    assert engine.fetch(count, 1) == [(3,)]
    spark.drop("few")
    assert engine.fetch(count, 1) == [(3,)]
    engine.execute(Statement("engines/scratch/drop", "DROP TABLE IF EXISTS `kanon_0_probe`"))
    assert views(spark) == []


def test_a_random_scratch_table_stays_the_same(spark: SparkSubject, engine: Engine) -> None:
    engine.execute(scratch("SELECT RAND() AS r FROM range(100)"))
    read = Statement("read", "SELECT SUM(r) FROM kanon_0_probe")
    assert engine.fetch(read, 1) == engine.fetch(read, 1)
    engine.execute(Statement("engines/scratch/drop", "DROP TABLE IF EXISTS `kanon_0_probe`"))


def test_a_large_scratch_table_is_spread(spark: SparkSubject, engine: Engine) -> None:
    engine.execute(scratch("SELECT id FROM range(200000)"))
    assert spark.session.table("kanon_0_probe").rdd.getNumPartitions() > 1
    engine.execute(Statement("engines/scratch/drop", "DROP TABLE IF EXISTS `kanon_0_probe`"))


@pytest.mark.parametrize("most", [0, ONE_PARTITION])
def test_the_guess_of_a_size_does_not_grow_from_round_to_round(
    spark: SparkSubject, engine: Engine, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Each round joins what the last one made: the guess would have 64 times as many digits after four rounds."""
    monkeypatch.setattr("kanon_sql.engines.spark_checkpoints.ONE_PARTITION", most)
    blocks = spark.session.sparkContext._jsc.getPersistentRDDs
    kept = set(blocks())
    engine.execute(scratch("SELECT id AS a FROM range(5)", "round_0"))
    for number in range(4):
        last = f"round_{number}"
        query = f"SELECT x.a FROM {last} x JOIN {last} y ON x.a = y.a JOIN {last} z ON z.a = y.a"
        engine.execute(scratch(query, f"round_{number + 1}"))
    plan = spark.session.table("round_4")._jdf.queryExecution().optimizedPlan()
    assert int(plan.stats().sizeInBytes()) < 2**200
    assert sorted(engine.fetch(Statement("rows", "SELECT a FROM round_4", users="round_4"), 10)) == [
        (a,) for a in range(5)
    ]
    for number in range(5):
        engine.execute(Statement("engines/scratch/drop", f"DROP TABLE IF EXISTS round_{number}"))
    assert set(blocks()) <= kept, "the checkpoints' memory was given back"


@pytest.mark.parametrize(
    ("said", "rows", "size"),
    [
        ("sizeInBytes=80.0 B, rowCount=5", 5, 80),
        ("sizeInBytes=31.3 KiB", None, 32_051),
        ("sizeInBytes=32.0 GiB, rowCount=2.15E+9", 2_150_000_000, 2**35),
    ],
)
def test_a_size_that_spark_knows(said: str, rows: int | None, size: int) -> None:
    found = statistics(f"Project [a], Statistics({said})\n")
    assert found is not None
    assert (found.rows, found.bytes) == (rows, size)


@pytest.mark.parametrize("said", ["8.0 EiB", "1.30E+1000 B", "2.31E+19 B"])
def test_a_size_that_spark_does_not_know(said: str) -> None:
    """Too large for its units, Spark writes a number of bytes with a power of ten."""
    assert statistics(f"Project [a], Statistics(sizeInBytes={said})\n") is None


@pytest.mark.campaign
def test_the_work_is_done_by_all_executors(spark: SparkSubject, engine: Engine) -> None:
    spark.table("many", {"q": "text"}, [(f"q{number % 5}",) for number in range(1000)])
    spark.execute("INSERT INTO many SELECT q FROM many")
    assert kanon_sql.anonymize(engine, spec("many", q={"prefix": [1]})).passed
    executors = spark.session.sparkContext._jsc.sc().statusStore().executorList(True)
    tasks = {executors.apply(index).id(): executors.apply(index).totalTasks() for index in range(executors.size())}
    assert {name for name, number in tasks.items() if number} >= {"0", "1"}
    assert not tasks.get("driver")


# --- Values ---


def test_a_column_with_a_collation_is_compared_exactly(spark: SparkSubject, engine: Engine) -> None:
    spark.drop("collated")
    spark.execute(
        "CREATE TABLE collated (q STRING COLLATE UTF8_LCASE, s STRING COLLATE UNICODE_CI_RTRIM) USING PARQUET"
    )
    spark.execute("INSERT INTO collated VALUES ('a', 'x'), ('A', 'X'), ('b', 'x '), ('b', 'y')")
    result = kanon_sql.anonymize(engine, spec("collated", q={"maximum_level": 0}))
    assert result.rows["suppressed"] == 2
    assert spark.rows("released") == [("b",), ("b",)]
    sensitive = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": {"query": "SELECT 1 AS one, s FROM collated"},
            "quasi_identifiers": {"one": None},
            "sensitive": ["s"],
            "privacy": [{"l_diversity": {"attribute": "s", "l": 2}}],
        }
    )
    spark.execute("CREATE OR REPLACE TEMPORARY VIEW ones AS SELECT 1 AS one, s FROM collated")
    (achieved,) = kanon_sql.check(engine, sensitive, "ones").achieved.values()
    assert achieved["l"] == 4
    spark.execute("DROP VIEW ones")
    spark.drop("collated")


def test_a_type_whose_values_share_texts_is_refused(spark: SparkSubject, engine: Engine) -> None:
    """A list of one text with a comma is written like a list of two."""
    spark.execute(
        "CREATE OR REPLACE TEMPORARY VIEW nested AS "
        "SELECT ARRAY('a, b') AS q, NAMED_STRUCT('x', 1) AS s, MAP(1, 2) AS m"
    )
    for name in "qsm":
        with pytest.raises(UnsupportedError, match="may have the same text"):
            kanon_sql.check(engine, spec("nested", **{name: None}), "nested")
    spark.execute("DROP VIEW nested")


def test_a_literal_means_itself(spark: SparkSubject, engine: Engine) -> None:
    texts = ("${spark.master}", "${env:HOME}", "a\\'b", "{x}", "\\u0041", "\x0b", "`", "tab\there")
    names = [f"q{number}" for number in range(len(texts))]
    spark.table("few", dict.fromkeys(names, "text"), [["a"] * len(texts), ["b"] * len(texts)])
    trees = {
        name: {"tree": {text: ["a", "b"]}, "minimum_level": 1, "maximum_level": 1}
        for name, text in zip(names, texts, strict=True)
    }
    assert kanon_sql.anonymize(engine, spec("few", **trees)).passed
    assert Counter(spark.rows("released")) == Counter({texts: 2})
    spark.drop("few")


@pytest.mark.campaign
def test_column_names_that_need_quoting(spark: SparkSubject, engine: Engine) -> None:
    """Spark's catalog refuses such names for tables, so the suite cannot try them on columns."""
    spark.table("named", dict.fromkeys(NAMES, "text"), [["a"] * len(NAMES)] * 2)
    as_they_are = {"minimum_level": 0, "maximum_level": 0}
    assert kanon_sql.anonymize(engine, spec("named", **dict.fromkeys(NAMES, as_they_are))).passed
    assert spark.rows("released") == [("a",) * len(NAMES)] * 2
    spark.drop("named")


def test_an_overflow_is_an_error_whatever_the_session_says(spark: SparkSubject, engine: Engine) -> None:
    spark.table("few", {"q": "bigint"}, [(2**62,), (2**62,)])
    spark.session.conf.set("spark.sql.ansi.enabled", "false")
    try:
        with pytest.raises(DatabaseError, match="ARITHMETIC_OVERFLOW"):
            kanon_sql.plan(engine, spec("few", q={"sql": ["x * 4"]}))
    finally:
        spark.session.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.campaign
def test_points_in_time_have_no_calendar_of_their_own(spark: SparkSubject, engine: Engine) -> None:
    spark.drop("times")
    spark.execute("CREATE TABLE times (t TIMESTAMP, n TIMESTAMP_NTZ, c CHAR(3)) USING PARQUET")
    spark.execute("INSERT INTO times SELECT TIMESTAMP '2020-10-25 02:30:00', TIMESTAMP_NTZ '0001-02-03 04:05:06', 'a' "
                  "FROM range(2)")  # fmt: skip
    dates = {"dates": ["month", "century"], "minimum_level": 1, "maximum_level": 1}
    with pytest.raises(SpecError, match="without time zone"):
        kanon_sql.plan(engine, spec("times", t=dates))
    assert kanon_sql.anonymize(engine, spec("times", n=dates, c=None)).passed
    assert spark.rows("released") == [("1-02", "a  ")] * 2, "Spark itself pads CHAR(3)"
    spark.drop("times")


def test_the_release_is_in_random_order(spark: SparkSubject, engine: Engine) -> None:
    query = {"query": "SELECT 'a' AS q, CAST(id AS INT) AS n FROM range(500)"}
    kanon_sql.anonymize(engine, spec(query, keep=["n"], q=None))
    written = [row[-1] for row in spark.rows("released")]
    assert sorted(written) == list(range(500))
    assert written != sorted(written)


def test_a_name_has_a_catalog_and_a_schema(spark: SparkSubject, engine: Engine) -> None:
    spark.table("Few", {"q": "text"}, [("a",)])
    full = ("spark_catalog", "default", "few")
    assert [engine.full_name(full[start:]) for start in range(3)] == [full] * 3
    assert engine.full_name(("FEW",)) == full
    assert engine.exists(("nowhere", "few")) is None
    spark.execute("CREATE TEMPORARY VIEW few AS SELECT 1 AS q")
    assert engine.exists(("few",)) == "view"
    spark.execute("DROP VIEW few")


def test_what_it_would_cost(spark: SparkSubject, engine: Engine) -> None:
    spark.table("few", {"q": "text"}, [("a",)] * 10)
    found = engine.estimate("few")
    assert found is not None
    assert found.bytes
    spark.execute("ANALYZE TABLE few COMPUTE STATISTICS")
    counted = engine.estimate("few")
    assert counted is not None
    assert counted.rows == 10


def test_a_table_that_is_made_again_under_its_name_is_recorded_again(engine: Engine, spark: SparkSubject) -> None:
    record = Relation((SCRATCH_TABLE,))
    with open_workspace(engine, "VALUES (1)") as workspace:
        made = Relation((f"kanon_{workspace.run_id}_release",))
        workspace.create_shared("engines/scratch/create_record", record)
        for _ in range(2):
            workspace.record(made, record)
            assert made.parts[0] in [item.name for item in clean(engine, drop=False).objects]
            workspace.forget(made, record)
            assert made.parts[0] not in [item.name for item in clean(engine, drop=False).objects]


def test_cancelling_when_nothing_runs(engine: Engine) -> None:
    begun = time.monotonic()
    engine.cancel()
    assert time.monotonic() - begun < 1
