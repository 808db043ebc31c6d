"""What is read: rows that are versions of others, and queries and views that give different rows each time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.engines.clickhouse_tables import stored_of
from kanon_sql.engines.spark_plans import seeded_parts, unstable_parts_of
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.sql import Read, reads_of, ties_of, unstable_parts
from kanon_sql.verbs.doctor import doctor
from kanon_sql.verbs.sqlmesh import audits
from tests.servers import subject_of

PEOPLE = [(number, 20 + number % 2) for number in range(40)]


def spec(source: Any, **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": source,
            "release": "released",
            "quasi_identifiers": {"age": {}},
            "privacy": [{"k_anonymity": {"k": 5}}],
            **changes,
        }
    )


# --- What a query's text says ---


def tree(query: str, dialect: str = "duckdb") -> Any:
    return sqlglot.parse_one(query, read=dialect)


@pytest.mark.parametrize(
    ("query", "dialect", "found"),
    [
        ("SELECT * FROM d USING SAMPLE 10%", "duckdb", ["a sample of a table"]),
        ("SELECT * FROM d TABLESAMPLE reservoir(10) REPEATABLE (4)", "duckdb", ["a sample of a table"]),
        ("SELECT * FROM (SELECT * FROM d LIMIT 5) AS few", "duckdb", ["LIMIT without ORDER BY"]),
        ("SELECT * FROM d OFFSET 5", "duckdb", ["LIMIT without ORDER BY"]),
        ("SELECT * FROM d OFFSET 0", "postgres", []),
        ("SELECT * FROM d FETCH FIRST 5 ROWS ONLY", "postgres", ["LIMIT without ORDER BY"]),
        ("SELECT TOP 5 * FROM d", "tsql", ["LIMIT without ORDER BY"]),
        ("SELECT * FROM d LIMIT 1 BY id", "clickhouse", ["LIMIT without ORDER BY"]),
        ("SELECT DISTINCT ON (id) * FROM d", "duckdb", ["DISTINCT ON without ORDER BY"]),
        ("SELECT id FROM d UNION SELECT id FROM e LIMIT 5", "duckdb", ["LIMIT without ORDER BY"]),
        ("SELECT * FROM d ORDER BY id LIMIT 5", "duckdb", []),
        ("SELECT * FROM d WHERE EXISTS (SELECT 1 FROM e LIMIT 1)", "duckdb", []),
        ("SELECT * FROM d, (SELECT max(id) AS most FROM e LIMIT 1) AS m", "duckdb", []),
        ("SELECT * FROM d LIMIT 0", "duckdb", []),
    ],
)
def test_what_gives_other_rows_each_time(query: str, dialect: str, found: list[str]) -> None:
    assert unstable_parts(tree(query, dialect), "none") == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT * FROM d ORDER BY age LIMIT 5", ["LIMIT"]),
        ("SELECT id, age FROM d ORDER BY age, id LIMIT 5", []),
        ("SELECT id, age FROM d ORDER BY 2, 1 LIMIT 5", []),
        ("SELECT id, age + 1 AS next FROM d ORDER BY id, age LIMIT 5", ["LIMIT"]),
        ("SELECT * FROM d ORDER BY ALL LIMIT 5", []),
        ("SELECT DISTINCT ON (id) * FROM d ORDER BY id, seen", ["DISTINCT ON"]),
        ("SELECT *, row_number() OVER (PARTITION BY id ORDER BY seen) AS n FROM d", ["ROW_NUMBER()"]),
        ("SELECT * FROM d", []),
    ],
)
def test_what_depends_on_how_ties_are_broken(query: str, found: list[str]) -> None:
    assert ties_of(tree(query)) == found


def test_a_sample_by_a_seed_is_the_same_where_the_engine_says_so() -> None:
    query = tree("SELECT * FROM d TABLESAMPLE bernoulli(10) REPEATABLE (4)", "postgres")
    assert unstable_parts(query, "seeded") == []
    assert unstable_parts(tree("SELECT * FROM d TABLESAMPLE bernoulli(10)", "postgres"), "seeded")
    assert unstable_parts(tree("SELECT * FROM d SAMPLE 0.1", "clickhouse"), "all") == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT * FROM a.d AS x FINAL", {Read(("a", "d"), final=True)}),
        ("WITH d AS (SELECT * FROM d) SELECT * FROM d", {Read(("d",))}),
        ("WITH a AS (SELECT * FROM d FINAL), b AS (SELECT * FROM a) SELECT * FROM b", {Read(("d",), final=True)}),
        ("WITH b AS (SELECT * FROM a), a AS (SELECT 1) SELECT * FROM b", {Read(("a",))}),
        ("SELECT * FROM (WITH d AS (SELECT 1) SELECT * FROM d) x, d", {Read(("d",))}),
        ("SELECT * FROM e WHERE id IN d", {Read(("e",)), Read(("d",))}),
        ("SELECT * FROM remote('h', db.t)", {Read(("remote",), function=True)}),
    ],
)
def test_which_tables_a_query_reads(query: str, found: set[Read]) -> None:
    assert set(reads_of(tree(query, "clickhouse"))) == found


def test_a_history_is_more_than_one_moment() -> None:
    (every,) = reads_of(tree("SELECT * FROM d FOR SYSTEM_TIME ALL", "mysql"))
    (once,) = reads_of(tree("SELECT * FROM d FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01'", "mysql"))
    assert (every.history, once.history) == (True, False)


# --- DuckDB and SQLite ---


@pytest.fixture(params=["duckdb", "sqlite"])
def connection(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    made: Any = duckdb.connect() if request.param == "duckdb" else sqlite3.connect(tmp_path / "d.sqlite")
    made.execute("CREATE TABLE d (id INTEGER, age INTEGER)")
    made.executemany("INSERT INTO d VALUES (?, ?)", PEOPLE)
    if request.param == "sqlite":
        made.commit()
    yield made
    made.close()


VIEWS = [
    ("SELECT * FROM d LIMIT 30", "LIMIT without ORDER BY"),
    ("SELECT * FROM d WHERE random() < 0.5", r"calls random"),
]


@pytest.mark.parametrize(("query", "why"), VIEWS)
def test_a_view_that_gives_other_rows_each_time_is_refused_however_deep(connection: Any, query: str, why: str) -> None:
    connection.execute(f"CREATE VIEW few AS {query}")
    connection.execute("CREATE VIEW outer_view AS SELECT id, age FROM few")
    if isinstance(connection, sqlite3.Connection):
        connection.commit()
    for source in ("few", "outer_view", {"query": "SELECT * FROM outer_view"}):
        with pytest.raises(SpecError, match=f"few: this view .*{why}.*different rows each time"):
            kanon_sql.plan(connection, spec(source))
    with pytest.raises(SpecError, match="few: this view"):
        kanon_sql.check(connection, spec("d"), "outer_view")
    with pytest.raises(SpecError, match="source query: it"):
        kanon_sql.plan(connection, spec({"query": query}))


def test_a_view_that_gives_the_same_rows_is_read(connection: Any) -> None:
    connection.execute("CREATE VIEW every AS SELECT id, age FROM d ORDER BY id, age LIMIT 30")
    connection.execute("CREATE VIEW ties AS SELECT id, age FROM d ORDER BY age LIMIT 30")
    if isinstance(connection, sqlite3.Connection):
        connection.commit()
    result = kanon_sql.plan(connection, spec("every"))
    assert (result.rows["source"], list(result.notes)) == (30, [])
    (note,) = kanon_sql.plan(connection, spec("ties")).notes
    assert note.startswith("ties: where rows tie in its order, LIMIT may pick other ones")


@pytest.mark.parametrize(("name", "said"), [("deleted_at", True), ("isDeleted", True), ("is_active", False)])
def test_a_column_that_marks_deleted_rows_is_named(connection: Any, name: str, said: bool) -> None:
    connection.execute(f'ALTER TABLE d ADD COLUMN "{name}" INTEGER')
    if isinstance(connection, sqlite3.Connection):
        connection.commit()
    for result in (kanon_sql.plan(connection, spec("d")), kanon_sql.check(connection, spec("d"), "d")):
        named = [note for note in result.notes if note.startswith(f"the column {name}, by its name, marks rows")]
        assert (len(named), len(result.notes)) == (int(said), int(said))
    assert not kanon_sql.plan(connection, spec({"query": "SELECT * FROM d"})).notes


# --- ClickHouse: rows that are merged later ---

# --- Every verb that reads a source, or another table ---


def visits() -> duckdb.DuckDBPyConnection:
    """A table whose rows an application may have deleted, one without, and one view whose rows differ each time."""
    made = duckdb.connect()
    made.execute(
        "CREATE TABLE d AS SELECT i AS id, 20 + i % 4 AS age, NULL::TIMESTAMP AS deleted_at FROM range(80) t(i)"
    )
    made.execute("CREATE TABLE good AS SELECT id, age FROM d")
    made.execute("CREATE VIEW few AS SELECT * FROM d LIMIT 40")
    return made


def quiet(source: str, **changes: Any) -> kanon_sql.Spec:
    return spec(source, warnings={"rows_not_persons": "allow"}, **changes)


def learned(engine: Engine, **changes: Any) -> Engine:
    """An engine with a release of rows that are as they seem."""
    assert kanon_sql.anonymize(engine, quiet("good", **changes)).passed
    return engine


def refreshed(engine: Engine, **options: Any) -> Any:
    growing = {"state": "kanon_state", "increments": {"on_drift": "hold"}}
    return kanon_sql.refresh(learned(engine, **growing), quiet("good", **growing), batch="a", **options)


def refreshed_idly(engine: Engine, table: str) -> Any:
    """By a watermark, without a new row."""
    growing = {"state": "kanon_state", "increments": {"watermark": "id"}}
    assert kanon_sql.anonymize(engine, quiet(table, **growing)).passed
    return kanon_sql.refresh(engine, quiet(table, **growing))


def at_two_parties(engine: Engine, table: str, **options: Any) -> Any:
    asked = quiet(table, search={"metric": "precision"}, identifiers=["id"] if options else [])
    other = visits()
    if options:
        for name in ("d", "good"):
            other.execute(f"ALTER TABLE {name} RENAME age TO ward")
        other.execute("CREATE OR REPLACE VIEW few AS SELECT * FROM d")
        asked = asked.changed({**asked.to_dict(), "quasi_identifiers": {"age": {}, "ward": {}}})
    return kanon_sql.plan_parties([engine, kanon_sql.connect(other)], asked, **options)


CELLS = {"version": 1, "kind": "table", "dimensions": {"age": {}}, "rules": {"threshold": 2}}
NOISE = {"version": 1, "kind": "perturbed", "release": "noisy", "key": "id", "perturb": {"age": {"noise": 0.9}}}
READERS: dict[str, Callable[[Engine, str], Any]] = {
    "plan": lambda engine, table: kanon_sql.plan(engine, quiet(table)),
    "anonymize": lambda engine, table: kanon_sql.anonymize(engine, quiet(table)),
    "apply": lambda engine, table: kanon_sql.apply(
        learned(engine, recoding={"save_as": "kept"}), quiet("good"), "kept", source=table, release="more"
    ),
    "refresh": lambda engine, table: refreshed(engine, inserted=table),
    "refresh, rows that leave": lambda engine, table: refreshed(engine, deleted=table),
    "refresh, idle": refreshed_idly,
    "compare": lambda engine, table: kanon_sql.compare(engine, {"a": quiet(table), "b": quiet(table, nulls="error")}),
    "hierarchy": lambda engine, table: kanon_sql.hierarchy(engine, quiet(table), ["age"]),
    "check": lambda engine, table: kanon_sql.check(engine, quiet("good"), table),
    "risk": lambda engine, table: kanon_sql.risk(engine, quiet(table)),
    "risk, population": lambda engine, table: kanon_sql.risk(engine, quiet("good"), population=table),
    "audit": lambda engine, table: kanon_sql.audit(learned(engine), quiet("good"), external=table),
    "parties": at_two_parties,
    "parties, columns": lambda engine, table: at_two_parties(engine, table, split="vertical", key="id"),
    "init": kanon_sql.init,
    "sqlmesh": lambda engine, table: audits(engine, quiet("good"), table),
    "tabulate": lambda engine, table: kanon_sql.tabulate(
        engine, kanon_sql.TableSpec.from_dict({**CELLS, "source": table}), preview=True
    ),
    "perturb": lambda engine, table: kanon_sql.perturb(
        engine, kanon_sql.PerturbSpec.from_dict({**NOISE, "source": table})
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("verb", READERS)
@pytest.mark.sampled(5)
def test_every_verb_refuses_what_changes_and_says_what_to_know(verb: str) -> None:
    with visits() as made, pytest.raises(SpecError, match=r"few: this view has LIMIT .*different rows each time"):
        READERS[verb](kanon_sql.connect(made), "few")
    said = "the column deleted_at, by its name, marks rows that an application has deleted"
    for table, times in (("d", True), ("good", False)):
        with visits() as made:
            found = READERS[verb](kanon_sql.connect(made), table)
        text = found if isinstance(found, str) else json.dumps(found.to_dict())
        assert (said in text) == times


RELATIVES = {
    "ReplacingMergeTree": "ReplacingMergeTree(ver) ORDER BY id",
    "SummingMergeTree": "SummingMergeTree(ver) ORDER BY (id, age)",
    "AggregatingMergeTree": "AggregatingMergeTree ORDER BY id",
    "CoalescingMergeTree": "CoalescingMergeTree ORDER BY id",
}


@pytest.fixture(scope="module")
def merging() -> Iterator[Any]:
    """One person of 40 in five versions, and six persons of 30, in a table of each engine."""
    with subject_of("clickhouse") as made:
        for name, engine in RELATIVES.items():
            made.execute(f"CREATE TABLE {name} (id UInt32, age UInt8, ver UInt32) ENGINE = {engine}")
            made.execute(f"SYSTEM STOP MERGES {name}")
            for version in range(5):
                made.execute(f"INSERT INTO {name} VALUES (1, 40, {version})")
            made.execute(f"INSERT INTO {name} SELECT number + 10, 30, 1 FROM numbers(6)")
        made.execute("CREATE VIEW merged AS SELECT * FROM ReplacingMergeTree FINAL")
        made.execute("CREATE VIEW unmerged AS WITH x AS (SELECT * FROM ReplacingMergeTree) SELECT * FROM x")
        made.execute("CREATE VIEW over_merged AS SELECT id, age FROM merged")
        made.execute("CREATE MATERIALIZED VIEW own ENGINE = ReplacingMergeTree ORDER BY id AS SELECT * FROM merged")
        made.execute("CREATE MATERIALIZED VIEW into TO ReplacingMergeTree AS SELECT id, age, ver FROM merged")
        like = "AS ReplacingMergeTree ENGINE ="
        made.execute(
            f"CREATE TABLE buffered {like} "
            "Buffer(currentDatabase(), ReplacingMergeTree, 1, 10, 100, 10000, 1000000, 10000, 100000)"
        )
        made.execute(f"CREATE TABLE several {like} Merge(currentDatabase(), '^Replacing')")
        made.execute("CREATE TABLE other_name ENGINE = Alias('ReplacingMergeTree')")
        yield made


@pytest.fixture
def clickhouse(merging: Any) -> Iterator[Any]:
    with merging.connect() as engine:
        yield engine


TABLE = {"version": 1, "kind": "table", "dimensions": {"age": {}}, "rules": {"threshold": 2}}
CLICKHOUSE = pytest.mark.xdist_group("clickhouse")


@CLICKHOUSE
@pytest.mark.parametrize(
    "source",
    [
        *RELATIVES, "unmerged", "own", "into", "buffered", "several", "other_name",
        {"query": "SELECT * FROM unmerged FINAL"},
        {"query": "SELECT * FROM merge(currentDatabase(), '^Replacing')"},
        {"query": "SELECT * FROM merged WHERE id IN (SELECT id FROM ReplacingMergeTree)"},
    ],
)  # fmt: skip
def test_rows_that_are_merged_later_are_refused(clickhouse: Any, source: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"(?s)merge.*FINAL.*count_versions"):
        kanon_sql.plan(clickhouse, spec(source))


@CLICKHOUSE
@pytest.mark.parametrize("verb", ["check", "risk", "audit", "population", "tabulate", "hierarchy"])
def test_every_verb_that_reads_such_a_table_refuses_it(clickhouse: Any, verb: str) -> None:
    table = "ReplacingMergeTree"
    k_map = {"privacy": [{"k_map": {"k": 2, "population": table}}]}
    asks = {
        "check": lambda: kanon_sql.check(clickhouse, spec("merged"), table),
        "risk": lambda: kanon_sql.risk(clickhouse, spec(table)),
        "audit": lambda: kanon_sql.audit(clickhouse, spec("merged"), "over_merged", external=table),
        "population": lambda: kanon_sql.check(clickhouse, spec("merged", **k_map), "over_merged"),
        "tabulate": lambda: kanon_sql.tabulate(
            clickhouse,
            kanon_sql.TableSpec.from_dict({**TABLE, "source": table}),
            preview=True,
        ),
        "hierarchy": lambda: kanon_sql.plan(
            clickhouse, spec("merged", quasi_identifiers={"age": {"table": table}}),
        ),
    }  # fmt: skip
    with pytest.raises(UnsupportedError, match="merges rows some time after"):
        asks[verb]()


@CLICKHOUSE
@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("merged", 7),
        ("over_merged", 7),
        ({"query": "SELECT * FROM ReplacingMergeTree FINAL"}, 7),
        ({"query": "WITH x AS (SELECT * FROM ReplacingMergeTree FINAL) SELECT * FROM x"}, 7),
        ({"query": "SELECT * FROM buffered FINAL"}, 7),
        ({"query": "SELECT * FROM several FINAL"}, 7),
        ({"table": "ReplacingMergeTree", "count_versions": True}, 11),
        ({"table": "unmerged", "count_versions": True}, 11),
    ],
)
def test_merged_rows_count_once_and_versions_where_they_are_meant(clickhouse: Any, source: Any, rows: int) -> None:
    meant = isinstance(source, dict) and source.get("count_versions", False)
    asked = spec(
        source, quasi_identifiers={"age": {"minimum_level": 0, "maximum_level": 0}}, suppression={"max_rows": 9}
    )
    result = kanon_sql.plan(clickhouse, asked)
    assert (result.rows["source"], result.rows["suppressed"]) == (rows, 0 if meant else 1)
    assert any("each version counts as a row" in note for note in result.notes) == meant


@pytest.mark.slow
@CLICKHOUSE
def test_cancelled_rows_are_not_counted_as_persons(merging: Any) -> None:
    """Six persons of 40, five of whom are 50 by now: nobody may see 40, which is one person."""
    merging.execute(
        "CREATE TABLE IF NOT EXISTS signs (id UInt32, age UInt8, sign Int8) ENGINE = CollapsingMergeTree(sign) "
        "ORDER BY id"
    )
    merging.execute("SYSTEM STOP MERGES signs")
    merging.execute("INSERT INTO signs SELECT number, 40, 1 FROM numbers(6)")
    merging.execute("INSERT INTO signs SELECT number, 40, -1 FROM numbers(5)")
    merging.execute("INSERT INTO signs SELECT number, 50, 1 FROM numbers(5)")
    levels = {"quasi_identifiers": {"age": {"maximum_level": 0}}, "unit": "id", "suppression": {"max_rows": 9}}
    with merging.connect() as engine:
        with pytest.raises(UnsupportedError, match="CollapsingMergeTree"):
            kanon_sql.plan(engine, spec("signs", **levels))
        result = kanon_sql.plan(engine, spec({"query": "SELECT * FROM signs FINAL"}, **levels))
    assert (result.rows["source"], result.rows["suppressed"]) == (6, 1)


@CLICKHOUSE
def test_final_with_keys_that_may_be_null_is_refused(merging: Any) -> None:
    merging.execute(
        "CREATE TABLE IF NOT EXISTS nulls (id Nullable(UInt32), age UInt8) ENGINE = ReplacingMergeTree ORDER BY id "
        "SETTINGS allow_nullable_key = 1"
    )
    with merging.connect() as engine, pytest.raises(UnsupportedError, match="where a key may be NULL"):
        kanon_sql.plan(engine, spec({"query": "SELECT * FROM nulls FINAL"}))


@CLICKHOUSE
def test_rows_past_their_time_are_said_and_moves_are_not(merging: Any) -> None:
    merging.execute(
        "CREATE TABLE IF NOT EXISTS aged (age UInt8, t DateTime) ENGINE = MergeTree ORDER BY age "
        "TTL t + INTERVAL 8 DAY SETTINGS merge_with_ttl_timeout = 100000"
    )
    merging.execute("INSERT INTO aged SELECT 30, now() - INTERVAL 30 DAY FROM numbers(6)")
    with merging.connect() as engine:
        (note,) = kanon_sql.check(engine, spec("d"), "aged").notes
    assert note.startswith("aged: the table has a TTL")
    moved = "CREATE TABLE x (t Date) ENGINE = MergeTree ORDER BY t TTL t + toIntervalDay(1) TO VOLUME 'cold'"
    assert stored_of(("MergeTree", "a", "x", "MergeTree", moved, "", 0), []).notes == ()
    both = f"{moved}, t + toIntervalDay(8)"
    assert len(stored_of(("MergeTree", "a", "x", "MergeTree", both, "", 2), []).notes) == 2


@CLICKHOUSE
def test_doctor_says_which_tables_and_how_to_read_them(clickhouse: Any) -> None:
    (check,) = [item for item in doctor(clickhouse).checks if item.key == "row_versions"]
    assert not check.ok
    assert "ReplacingMergeTree" in check.detail
    assert "FINAL" in check.detail
    assert "count_versions" in check.detail


def test_tables_that_show_those_of_other_servers_are_not_believed() -> None:
    text = "Distributed('cluster', 'there', 'visits', rand())"
    found = stored_of(("Distributed", "here", "all", text, "", "", 0), [])
    assert found.behind == (("there", "visits"),)
    assert found.versions is not None
    for engine in ("ReplicatedReplacingMergeTree", "SharedVersionedCollapsingMergeTree", "GraphiteMergeTree"):
        assert stored_of((engine, "here", "t", engine, "", "", 0), []).versions is not None
    for engine in ("MergeTree", "ReplicatedMergeTree", "SharedMergeTree", "Memory"):
        assert stored_of((engine, "here", "t", engine, "", "", 0), []).versions is None


# --- PostgreSQL and MariaDB ---


@pytest.mark.xdist_group("postgres")
def test_postgres_says_what_is_read_of_tables_that_inherit() -> None:
    with subject_of("postgres") as made:
        made.execute("CREATE TABLE parent (id int, age int)")
        made.execute("CREATE TABLE child (note text) INHERITS (parent)")
        made.execute("INSERT INTO parent SELECT n, 30 FROM generate_series(1, 6) AS n")
        made.execute("INSERT INTO child SELECT n, 40, 'x' FROM generate_series(7, 12) AS n")
        made.execute("CREATE VIEW alone AS SELECT * FROM ONLY parent")
        made.execute("CREATE VIEW few AS SELECT * FROM parent TABLESAMPLE bernoulli (50)")
        made.execute("CREATE VIEW drawn AS SELECT * FROM ONLY parent WHERE random() < 0.5")
        made.execute("CREATE VIEW same AS SELECT * FROM ONLY parent TABLESAMPLE bernoulli (100) REPEATABLE (7)")
        made.execute("CREATE MATERIALIZED VIEW stored AS SELECT * FROM ONLY parent LIMIT 5")
        try:
            with made.connect() as engine:
                both = kanon_sql.plan(engine, spec("parent"))
                assert both.rows["source"] == 12
                assert [note[:42] for note in both.notes] == ["parent: 1 table inherits from it, and rows"]
                assert "columns that only these have are not read" in both.notes[0]
                for source, rows in {"alone": 6, "same": 6, "stored": 5}.items():
                    result = kanon_sql.plan(engine, spec(source))
                    assert (result.rows["source"], list(result.notes)) == (rows, [])
                for source in ("few", "drawn"):
                    with pytest.raises(SpecError, match=f"{source}: this view .*different rows each time"):
                        kanon_sql.plan(engine, spec(source))
        finally:
            made.execute("DROP TABLE parent CASCADE")


@pytest.mark.xdist_group("mariadb")
def test_mariadb_reads_what_is_now_and_refuses_histories() -> None:
    with subject_of("mariadb") as made:
        made.execute("CREATE OR REPLACE TABLE versioned (id INT, age INT) WITH SYSTEM VERSIONING")
        made.execute("INSERT INTO versioned VALUES (1,30),(2,30),(3,30),(4,30),(5,30),(6,30),(7,40)")
        made.execute("UPDATE versioned SET age = age + 10 WHERE id = 7")
        made.execute("DELETE FROM versioned WHERE id = 6")
        made.execute("CREATE OR REPLACE VIEW history AS SELECT * FROM versioned FOR SYSTEM_TIME ALL")
        made.execute("CREATE OR REPLACE VIEW few AS SELECT * FROM versioned LIMIT 5")
        made.execute("CREATE OR REPLACE VIEW drawn AS SELECT * FROM versioned WHERE rand() < 0.5")
        try:
            with made.connect() as engine:
                assert kanon_sql.plan(engine, spec("versioned")).rows["source"] == 6
                everything = {"query": "SELECT * FROM versioned FOR SYSTEM_TIME ALL"}
                for source in ("history", everything):
                    with pytest.raises(UnsupportedError, match="read with all its versions"):
                        kanon_sql.plan(engine, spec(source))
                meant = kanon_sql.plan(engine, spec({**everything, "count_versions": True}))
                assert meant.rows["source"] == 8
                for source in ("few", "drawn"):
                    with pytest.raises(SpecError, match=f"{source}: this view .*different rows each time"):
                        kanon_sql.plan(engine, spec(source))
        finally:
            made.execute("DROP VIEW IF EXISTS history, few, drawn")
            made.execute("DROP TABLE versioned")


# --- Spark ---


SPARK_VIEWS = {
    "few": ("SELECT * FROM base LIMIT 20", "has LIMIT without ORDER BY"),
    "sampled": ("SELECT * FROM base TABLESAMPLE (50 PERCENT)", "has a sample of a table"),
    "drawn": ("SELECT * FROM base WHERE rand() < 0.5", "calls rand"),
    "ordered": ("SELECT id, age FROM base ORDER BY id LIMIT 20", None),
    "base": ("SELECT id, id % 4 AS age, 'rand( LIMIT' AS said FROM range(100)", None),
}


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_temporary_views_of_spark_are_looked_into_by_their_plans() -> None:
    with subject_of("spark") as made, made.connect() as engine:
        session: Any = engine._session  # type: ignore[attr-defined]
        for name, (query, _) in reversed(SPARK_VIEWS.items()):
            session.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {query}")
            session.sql(f"CREATE OR REPLACE TEMPORARY VIEW over_{name} AS SELECT age FROM {name}")
        for name, (_, why) in SPARK_VIEWS.items():
            for source in (name, f"over_{name}"):
                if why is None:
                    assert kanon_sql.plan(engine, spec(source)).notes == []
                    continue
                with pytest.raises(SpecError, match=f"{source}: this view {why}.*different rows each time"):
                    kanon_sql.plan(engine, spec(source))
        frame = session.table("base")
        for name, drawn in {"by_seed": frame.sample(0.5, seed=4711471147), "all_rows": frame}.items():
            drawn.createOrReplaceTempView(name)
            notes = kanon_sql.plan(engine, spec(name)).notes
            assert all(note.startswith(f"{name}: it draws rows or numbers by a seed") for note in notes)
            assert len(notes) == (name == "by_seed")
        frame.limit(20).createOrReplaceTempView("first")
        with pytest.raises(SpecError, match="first: this view has LIMIT without ORDER BY"):
            kanon_sql.plan(engine, spec("first"))


def test_what_a_plan_of_spark_says() -> None:
    """As Spark 3.5 writes it: a seed in every plan, which another one takes the place of where SQL is parsed again."""
    sample = "Project [id#1L]\n+- Sample 0.0, 0.5, false, {seed}\n   +- Range (0, 9, step=1)\n"
    first, second = (sample.format(seed=seed) for seed in ("4438242446784764662", "-1081864313861284520"))
    assert unstable_parts_of(first, second, frozenset()) == ["has a sample of a table"]
    assert unstable_parts_of(first, first, frozenset()) == []
    assert seeded_parts(first, frozenset())
    unseeded = sample.format(seed="Bernoulli")  # as Spark 4 writes it
    assert unstable_parts_of(unseeded, unseeded, frozenset()) == ["has a sample of a table"]
    called = "Filter (rand(-32264900498463908) < 0.5)\n+- Range (0, 9, step=1)\n"
    assert unstable_parts_of(called, called.replace("-3", "-4"), frozenset({"rand"})) == ["calls rand"]
    assert unstable_parts_of(called, called, frozenset({"rand"})) == []
    both = "Join Inner\n:- GlobalLimit 5\n:  +- LocalLimit 5\n:     +- Range (0)\n+- Sort [id ASC]\n   +- Range (0)\n"
    assert unstable_parts_of(both, both, frozenset()) == ["has LIMIT without ORDER BY"]
