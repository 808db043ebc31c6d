"""What a run on Spark may take: statements by purpose, and scratch tables that are made as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import open_workspace
from kanon_sql.engines.base import Engine, Meter
from kanon_sql.sql.statement import Creation, Statement
from tests.servers import REQUIRED
from tests.servers.base import Missing
from tests.servers.spark import SMALL, SparkSubject

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark in one process")]

SETTINGS = {**SMALL, "spark.default.parallelism": "1", "spark.sql.shuffle.partitions": "1"}
"""The same as those of the recodings' tests, which run in the same process."""

MOST = 40
"""Statements of a run of one requirement with nothing kept, of whatever size the table is."""


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSubject]:
    try:
        made = SparkSubject(0, SETTINGS)
    except Missing as missing:
        if "spark" in REQUIRED:
            pytest.fail(f"KANON_REQUIRE_ENGINES names spark: {missing}")
        pytest.skip(f"spark: {missing}")
    yield made
    made.close()


@pytest.fixture
def engine(spark: SparkSubject) -> Iterator[Engine]:
    opened = spark.connect()
    yield opened
    opened.close()
    spark.drop("released")


def letters(start: int) -> dict[str, Any]:
    """A tree of eight letters in pairs of pairs."""
    own = [chr(97 + start + number) for number in range(8)]
    return {"tree": {f"{a}{b}{c}{d}": {a + b: [a, b], c + d: [c, d]} for a, b, c, d in (own[:4], own[4:])}}


def test_a_run_takes_few_statements(spark: SparkSubject, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four quasi-identifiers: one statement loads their hierarchies, one makes their lookup tables, one drops all."""
    names = [f"q{number}" for number in range(4)]
    rows = [
        (*(chr(97 + (row * (number + 3) + row // 7) % 8) for number in range(2)), row % 23, f"{row % 19:03}")
        for row in range(400)
    ]
    spark.table("many", {**dict.fromkeys(names[:2], "text"), "q2": "integer", "q3": "text"}, rows)
    asked = {**{name: letters(0) for name in names[:2]}, "q2": {"intervals": [5, 10]}, "q3": {"prefix": [2, 1]}}
    spec = {
        "version": 1, "source": "many", "release": "released", "quasi_identifiers": asked,
        "privacy": [{"k_anonymity": 5}], "suppression": {"max_share": 0.05},
    }  # fmt: skip
    seen: list[Statement] = []
    count = Meter.count
    monkeypatch.setattr(Meter, "count", lambda meter, statement: (seen.append(statement), count(meter, statement)))
    result = kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(spec)).raise_for_failure()
    taken = Counter(statement.name for statement in seen)
    assert result.cost.statements == len(seen) <= MOST, taken
    assert len(seen[[statement.name for statement in seen].index("engines/scratch/load")].together) == 2
    one = (
        "frequency/raw", "engines/scratch/load", "hierarchies/lookup_rows", "hierarchies/coverage",
        "frequency/label_numbers", "frequency/encode", "release/write", "evaluate/achieved",
    )  # fmt: skip
    assert {name: taken[name] for name in one} == dict.fromkeys(one, 1)
    assert taken["hierarchies/lookup_rules"] == taken["engines/scratch/size"] == taken["frequency/marginals"] == 0
    assert taken["engines/scratch/drop"] <= 3 + taken["evaluate/rollup"], "raw vectors, what was published, all others"
    assert [name for _, name, temporary in spark.fetch("SHOW TABLES") if temporary] == []


def test_tables_that_are_made_together_are_apart(spark: SparkSubject, engine: Engine) -> None:
    """Other columns, other types, the same names; NULL stays NULL, and a row of NULL is a row."""
    blocks = spark.session.sparkContext._jsc.getPersistentRDDs
    kept = set(blocks())
    queries = {
        "`kanon_0_a`": "SELECT id AS x, CAST(id AS STRING) AS y FROM range(3)",
        "`kanon_0_b`": "SELECT 'text' AS x FROM range(2) UNION ALL SELECT NULL AS x",
        "`kanon_0_c`": "SELECT DATE '2020-02-29' AS d, 1.5 AS x WHERE 1 = 0",
    }
    made = [Statement("probe", "", creates=Creation(table, query, True)) for table, query in queries.items()]
    engine.execute(Statement("probe", "", together=tuple(made)))
    read = {table: engine.fetch(Statement("read", f"SELECT * FROM {table}"), 9) for table in queries}
    assert sorted(read["`kanon_0_a`"]) == [(0, "0"), (1, "1"), (2, "2")]
    assert Counter(read["`kanon_0_b`"]) == {("text",): 2, (None,): 1}
    assert read["`kanon_0_c`"] == []
    types = {table: [(column.name, column.type) for column in engine.columns(table)] for table in queries}
    assert types["`kanon_0_a`"] == [("x", "BIGINT"), ("y", "STRING")]
    assert types["`kanon_0_c`"] == [("d", "DATE"), ("x", "DECIMAL(2,1)")]
    assert len(set(blocks()) - kept) == 1, "stored as one"
    engine.execute(Statement("engines/scratch/drop", "DROP TABLE IF EXISTS `kanon_0_a`"))
    assert len(engine.fetch(Statement("read", "SELECT * FROM `kanon_0_b`"), 9)) == 3, "the others are still there"
    drops = [Statement("engines/scratch/drop", f"DROP TABLE IF EXISTS {table}") for table in list(queries)[1:]]
    engine.execute(Statement("engines/scratch/drop", "", together=tuple(drops)))
    assert set(blocks()) <= kept, "memory is given back with the last"


@pytest.mark.parametrize("rows", [0, 1, 200_001])
def test_the_rows_of_a_scratch_table_are_known(spark: SparkSubject, engine: Engine, rows: int) -> None:
    with open_workspace(engine, "VALUES (1)") as workspace:
        table = workspace.table("counted")
        quoted = workspace.quoted(table)
        engine.execute(Statement("probe", "", creates=Creation(quoted, f"SELECT id FROM range({rows})", True)))
        before = engine.meter.statements
        assert workspace.size([table]) == rows
        assert engine.meter.statements == before, "no question"
        assert engine.fetch(Statement("count", f"SELECT COUNT(*) FROM {quoted}"), 1) == [(rows,)]
    assert engine.known_rows(quoted) is None


def test_a_small_table_needs_no_exchange(spark: SparkSubject, engine: Engine) -> None:
    """Also where adaptive execution left one partition of several: the planner has to know."""
    conf = spark.session.conf
    before = conf.get("spark.sql.adaptive.enabled")
    conf.set("spark.sql.adaptive.enabled", "true")
    try:
        query = "SELECT id % 7 AS a, COUNT(*) AS n FROM range(0, 1000, 1, 3) GROUP BY id % 7"
        engine.execute(Statement("probe", "", creates=Creation("`kanon_0_small`", query, True)))
        plan = spark.session.table("`kanon_0_small`").groupBy("n").count()._jdf.queryExecution().executedPlan()
        assert "Exchange" not in plan.toString()
    finally:
        conf.set("spark.sql.adaptive.enabled", before)
        engine.execute(Statement("engines/scratch/drop", "DROP TABLE IF EXISTS `kanon_0_small`"))
