"""The DuckDB engine: what it refuses, what it counts, and what it never shows."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.base import Column, Deadline
from kanon_sql.engines.duckdb import DuckDBEngine, connect_duckdb
from kanon_sql.engines.workspace import open_workspace
from kanon_sql.errors import DatabaseError, QueryTimeout, SpecError, UnsupportedError
from kanon_sql.sql.statement import Statement


def statement(sql: str, scans: int = 0) -> Statement:
    return Statement("test", sql, scans)


@pytest.fixture
def engine() -> Any:
    with duckdb.connect(config={"threads": 1}) as connection:
        yield DuckDBEngine(connection)


# --- connecting ------------------------------------------------------------------------------


@pytest.mark.parametrize("collation", ["nocase", "NOACCENT", "nocase.noaccent", "de"])
def test_a_collation_that_merges_texts_is_refused(collation: str) -> None:
    with duckdb.connect() as connection:
        try:
            connection.execute(f"SET default_collation = '{collation}'")
        except duckdb.Error:
            pytest.skip(f"this DuckDB has no collation {collation}")
        with pytest.raises(UnsupportedError, match="RESET default_collation"):
            kanon_sql.connect(connection)
        connection.execute("RESET default_collation")
        assert kanon_sql.connect(connection).meter.statements == 0


def test_a_collation_set_later_does_not_merge_texts() -> None:
    """Grouping says its collation itself."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT unnest(['a', 'A', 'á', 'a ']) AS q")
        engine = kanon_sql.connect(connection)
        connection.execute("SET default_collation = 'nocase.noaccent'")
        spec = kanon_sql.Spec.from_dict(
            {"version": 1, "source": "t", "quasi_identifiers": {"q": None}, "privacy": [{"k_anonymity": 2}]}
        )
        result = kanon_sql.check(engine, spec, "t")
        assert result.classes["count"] == 4


def test_a_column_with_a_collation_does_not_merge_texts() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (q VARCHAR COLLATE nocase.noaccent)")
        connection.execute("INSERT INTO t VALUES ('a'), ('A'), ('á'), ('a ')")
        spec = kanon_sql.Spec.from_dict(
            {"version": 1, "source": "t", "quasi_identifiers": {"q": None}, "privacy": [{"k_anonymity": 2}]}
        )
        engine = kanon_sql.connect(connection)
        assert kanon_sql.check(engine, spec, "t").classes["count"] == 4
        assert kanon_sql.plan(engine, spec).node == {"q": 1}


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("setting", ["default_order = 'desc'", "default_null_order = 'nulls_first'"])
def test_the_order_that_a_connection_has_by_default_does_not_turn_ours(setting: str) -> None:
    """Positions and ranks say their direction themselves: turned round, NULL would be the most frequent value."""
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "t",
            "release": "published",
            "quasi_identifiers": {"q": None},
            "sensitive": ["s", "n"],
            "privacy": [
                {"l_diversity": {"attribute": "s", "l": 2, "variant": "recursive", "c": 2}},
                {"t_closeness": {"attribute": "n", "t": 0.3, "distance": "ordered"}},
            ],
        }
    )
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT * FROM (VALUES ('a', 'x', 1), ('a', 'x', 2), ('a', 'y', 3), ('a', NULL, 9), "
            "('a', NULL, 9), ('b', 'x', NULL), ('b', 'y', NULL)) AS rows_of_t (q, s, n)"
        )
        engine = kanon_sql.connect(connection)
        found, released = kanon_sql.check(engine, spec, "t"), kanon_sql.anonymize(engine, spec)
        connection.execute(f"SET {setting}")
        assert kanon_sql.check(engine, spec, "t").achieved == found.achieved
        assert kanon_sql.anonymize(engine, spec).achieved == released.achieved
        assert found.verdict == "fail"
        assert found.achieved["recursive_cl_diversity(s)"]["c_above"] == 2


def test_of_two_tables_the_first_on_the_search_path_is_found_whatever_the_order() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE SCHEMA one; CREATE SCHEMA two; SET search_path = 'one,two'; SET default_order = 'desc'"
        )
        connection.execute("CREATE TABLE two.t (q INTEGER); CREATE VIEW one.t AS SELECT 1 AS q")
        assert kanon_sql.connect(connection).exists(("t",)) == "view"


def test_urls_of_other_databases_are_refused_without_their_password() -> None:
    with pytest.raises(UnsupportedError) as caught:
        kanon_sql.connect("redis://ada:s3cret@db/clinic")
    assert "s3cret" not in str(caught.value)
    assert "of a kind that is not supported" in str(caught.value)


def test_a_missing_file_is_not_made_by_reading(tmp_path: Path) -> None:
    missing = tmp_path / "missing.duckdb"
    with pytest.raises(DatabaseError, match="there is no database file"):
        kanon_sql.connect(missing, read_only=True)
    assert not missing.exists()


def test_what_is_no_database_is_an_error(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database " * 100, encoding="utf-8")
    with pytest.raises(DatabaseError):
        kanon_sql.connect(text)


def test_threads_and_memory_limit_reach_duckdb() -> None:
    engine = connect_duckdb(threads=1, memory_limit="200MB")
    try:
        settings = "SELECT current_setting('threads'), current_setting('memory_limit')"
        assert engine.fetch(statement(settings), 1) == [(1, "190.7 MiB")]
    finally:
        engine.close()


@pytest.mark.parametrize("options", [{"memory_limit": "much"}, {"threads": -3}])
def test_bad_options_are_a_database_error(options: dict[str, Any]) -> None:
    with pytest.raises(DatabaseError):
        connect_duckdb(**options)


def test_only_what_the_engine_opened_is_closed(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        kanon_sql.connect(connection).close()
        assert connection.execute("SELECT 1").fetchone() == (1,)
    with kanon_sql.connect(tmp_path / "own.duckdb") as owned:
        assert owned.fetch(statement("SELECT 1"), 1) == [(1,)]
    with pytest.raises(DatabaseError):
        owned.fetch(statement("SELECT 1"), 1)


@pytest.mark.parametrize(("zone", "replacements"), [("UTC", True), ("Asia/Tokyo", True), ("Asia/Tokyo", False)])
def test_a_run_has_settings_of_its_own(zone: str, replacements: bool) -> None:
    settings = "SELECT current_setting('TimeZone'), current_setting('python_enable_replacements')"

    def fails(engine: DuckDBEngine) -> None:
        with engine.run(Deadline(None)):
            assert connection.execute(settings).fetchone() == ("UTC", False)
            raise RuntimeError("of the run")

    with duckdb.connect() as connection:
        connection.execute(f"SET TimeZone = '{zone}'; SET python_enable_replacements = {replacements}")
        engine = DuckDBEngine(connection)
        for _ in range(2):  # the first run lists all settings, later ones do not
            with pytest.raises(RuntimeError, match="of the run"):
                fails(engine)
            assert connection.execute(settings).fetchone() == (zone, replacements)


def test_an_own_connection_is_given_its_settings_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = connect_duckdb(str(tmp_path / "own.duckdb"))
    settings = "SELECT current_setting('TimeZone'), current_setting('python_enable_replacements')"
    for run in range(2):
        if run:
            monkeypatch.delattr(DuckDBEngine, "_settings")
        with engine.run(Deadline(None)):
            assert engine.fetch(statement(settings), 1) == [("UTC", False)]
    with duckdb.connect(tmp_path / "own.duckdb") as beside:
        assert beside.execute(settings).fetchone() != ("UTC", False), "others of the same file keep theirs"
    engine.close()


def test_labels_and_kinds(tmp_path: Path, engine: DuckDBEngine) -> None:
    memory, file = connect_duckdb(), connect_duckdb(str(tmp_path / "clinic.duckdb"))
    try:
        assert (memory.label, memory.ephemeral, memory.read_only) == (":memory:", True, False)
        assert (file.label, file.ephemeral) == (str(tmp_path / "clinic.duckdb"), False)
        assert engine.label == "duckdb"
        assert engine.version == duckdb.__version__
    finally:
        memory.close()
        file.close()


# --- statements ------------------------------------------------------------------------------


def test_the_meter(engine: DuckDBEngine) -> None:
    with engine.run(Deadline(None)) as meter:
        engine.execute(statement("CREATE TABLE t AS SELECT 1 AS a", scans=2))
        engine.fetch(statement("SELECT 'é', 12, NULL FROM range(3)"), 3)
        engine.columns("t")
    assert (meter.statements, meter.source_scans, meter.rows_fetched) == (3, 2, 4)
    assert meter.bytes_fetched == 3 * (2 + 2 + 4) + sum(
        len(str(cell).encode()) for cell in ("a", "INTEGER", "YES", None, None, None)
    )
    assert [item.name for item in meter.log] == ["test", "test", "columns"]
    with engine.run(Deadline(None)) as fresh:
        assert fresh.statements == 0


def test_a_failed_statement_is_counted_too(engine: DuckDBEngine) -> None:
    with engine.run(Deadline(None)) as meter, pytest.raises(DatabaseError):
        engine.fetch(statement("SELECT nothing FROM nowhere"), 1)
    assert (meter.statements, meter.rows_fetched) == (1, 0)


@pytest.mark.parametrize("rows", [4, 5, 100_000])
def test_more_rows_than_the_limit_are_an_error(engine: DuckDBEngine, rows: int) -> None:
    assert len(engine.fetch(statement("SELECT i FROM range(3) AS t(i)"), 3)) == 3
    with engine.run(Deadline(None)) as meter, pytest.raises(DatabaseError, match="more than the 3 rows"):
        engine.fetch(statement(f"SELECT i FROM range({rows}) AS t(i)"), 3)
    assert meter.rows_fetched == 0


VALUE = "Ada Planted"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT CAST('{VALUE}' AS INTEGER)",
        f"SELECT CAST('{VALUE}' AS DATE)",
        f"SELECT error('{VALUE}')",
        f"SELECT '{VALUE}' + 1",
        f"SELECT nothing('{VALUE}')",
        f"SELECT 1 WHERE '{VALUE}'",
        f"SELECT strptime('{VALUE}', '%Y')",
        f"SELECT '{VALUE}' AS a UNION SELECT 1 FROM nowhere",
        f"SELECT [1, 2]['{VALUE}']",
        f"SELECT * FROM t WHERE n = '{VALUE}'",
        f"INSERT INTO u VALUES ('{VALUE}')",
        f"SELECT '{VALUE}",
    ],
)
def test_no_error_shows_a_value(engine: DuckDBEngine, sql: str) -> None:
    engine.execute(statement(f"CREATE TABLE u AS SELECT '{VALUE}' AS a"))
    engine.execute(statement("CREATE UNIQUE INDEX i ON u (a)"))
    engine.execute(statement("CREATE TABLE t AS SELECT 1 AS n"))
    with pytest.raises(DatabaseError) as caught:
        engine.fetch(statement(sql), 1)
    assert "Planted" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_an_error_about_a_name_says_the_name(engine: DuckDBEngine) -> None:
    with pytest.raises(DatabaseError, match="nowhere"):
        engine.fetch(statement("SELECT 1 FROM nowhere"), 1)


def test_loading_never_shows_a_value(engine: DuckDBEngine) -> None:
    hostile = [("a'b", 'x"y'), ("; DROP TABLE d --", "\\"), ("", "\n"), ("%s {} $1 ?", "é🙂")]
    with engine.run(Deadline(None)) as meter, open_workspace(engine, "") as workspace:
        target = workspace.table("e")
        workspace.load(target, ["l0", "l1"], hostile * 600)
        name = workspace.quoted(target)
        assert engine.fetch(statement(f"SELECT COUNT(*), COUNT(DISTINCT l0) FROM {name}"), 1) == [(2400, 4)]
        assert set(engine.fetch(statement(f"SELECT DISTINCT l0, l1 FROM {name}"), 4)) == set(hostile)
    shown = [item.redacted for item in meter.log if item.name == "engines/scratch/load"]
    assert shown == [f"INSERT INTO {name} VALUES /* {count} rows */" for count in (1000, 1000, 400)]
    with pytest.raises(DatabaseError) as caught, open_workspace(engine, "") as workspace:
        workspace.load(workspace.table("e"), ["l0", "l1"], [("1", VALUE), ("1", None)])
    assert "Planted" not in str(caught.value)


# --- relations -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 AS a",
        "SELECT 1 AS a;",
        "SELECT 1 AS a -- the end",
        "SELECT 1 AS a; -- the end",
        "/* first */ SELECT 1 AS a /* last */ ;  ",
        "SELECT ';' AS a",
        "WITH c AS (SELECT 1 AS a) SELECT * FROM c",
        "SELECT 1 AS a UNION ALL SELECT 2",
        "FROM (SELECT 1 AS a)",
        "(SELECT 1 AS a)",
    ],
)
def test_a_source_query(engine: DuckDBEngine, query: str) -> None:
    relation = engine.relation(table=None, query=query, file=None)
    assert [column.name.lower().strip("';") or "a" for column in engine.columns(relation)] == ["a"]
    assert engine.fetch(statement(f"SELECT COUNT(*) FROM {relation} AS k"), 1)[0][0] in (1, 2)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE t",
        "DROP TABLE t",
        "INSERT INTO t SELECT 1",
        "CREATE TABLE x AS SELECT 1",
        "UPDATE t SET n = 1",
        "COPY t TO '/tmp/t.csv'",
        "ATTACH 'x.duckdb'",
        "PRAGMA show_tables",
        "SET threads = 1",
        "BEGIN TRANSACTION",
        ") AS a; DROP TABLE t; SELECT * FROM (SELECT 1",
        "SELECT 1) AS a; DROP TABLE t; --",
        "SELECT FROM WHERE",
        ";",
        "-- nothing",
    ],
)
def test_what_is_not_one_query_is_refused(engine: DuckDBEngine, query: str) -> None:
    engine.execute(statement("CREATE TABLE t AS SELECT 1 AS n"))
    with pytest.raises(SpecError, match="source query"):
        engine.relation(table=None, query=query, file=None)
    assert engine.exists(("t",)) == "table"


@pytest.mark.parametrize("file", ["data.xlsx", "data", "data.parquet.exe", "data.json"])
def test_other_files_are_refused(engine: DuckDBEngine, file: str) -> None:
    with pytest.raises(SpecError, match="expected a name that ends in one of"):
        engine.relation(table=None, query=None, file=file)


def test_exists(engine: DuckDBEngine) -> None:
    engine.execute(statement('CREATE TABLE "a""b" (x INTEGER)'))
    engine.execute(statement("CREATE VIEW v AS SELECT 1"))
    engine.execute(statement("CREATE SCHEMA other"))
    engine.execute(statement("CREATE TABLE other.t (x INTEGER)"))
    assert engine.exists(('a"b',)) == "table"
    assert engine.exists(('A"B',)) == "table", "DuckDB compares names without case"
    assert engine.exists(("v",)) == "view"
    assert engine.exists(("t",)) is None
    assert engine.exists(("other", "t")) == "table"
    assert engine.exists(("memory", "other", "t")) == "table"
    assert engine.exists(("x' OR '1'='1",)) is None


def test_a_temporary_table_hides_another_one(engine: DuckDBEngine) -> None:
    engine.execute(statement("CREATE TABLE people (x INTEGER)"))
    engine.execute(statement("CREATE TEMPORARY TABLE people (y INTEGER)"))
    assert [column.name for column in engine.columns("people")] == ["y"]
    assert engine.full_name(("people",)) == ("temp", "main", "people")
    assert engine.full_name(("memory", "main", "people")) == ("memory", "main", "people")


def test_the_kinds_of_columns(engine: DuckDBEngine) -> None:
    kinds = {
        "TINYINT": "integer", "SMALLINT": "integer", "INTEGER": "integer", "BIGINT": "integer", "HUGEINT": "integer",
        "UTINYINT": "integer", "USMALLINT": "integer", "UINTEGER": "integer", "UBIGINT": "integer",
        "UHUGEINT": "integer", "DECIMAL(10, 2)": "decimal", "FLOAT": "float", "DOUBLE": "float", "VARCHAR": "text",
        "DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMP_NS": "timestamp", "BOOLEAN": "boolean", "BLOB": "other",
        "UUID": "other", "TIME": "other", "INTERVAL": "other", "DOUBLE[]": "other", "VARCHAR[3]": "other",
        "STRUCT(a INTEGER)": "other", "MAP(VARCHAR, DATE)": "other", "ENUM('a', 'b')": "text",
    }  # fmt: skip
    columns = ", ".join(f"c{index} {kind}" for index, kind in enumerate(kinds))
    engine.execute(statement(f"CREATE TABLE t ({columns})"))
    assert [column.kind for column in engine.columns("t")] == list(kinds.values())
    assert isinstance(engine.columns("t")[0], Column)


# --- time and interrupts -----------------------------------------------------------------------

LONG = "SELECT COUNT(*) FROM range(200000) AS a(i), range(200000) AS b(j) WHERE i * j = 7"


def test_a_limit_that_cancels_a_statement_of_another_is_no_ctrl_c(
    engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outer of two guards cancels what runs in the inner one, whose own timer comes too late."""

    def cancelled_by_the_outer() -> None:
        with engine._guard("inner"):
            time.sleep(0.03)
            raise duckdb.InterruptException("Interrupted!")

    monkeypatch.setattr(threading.Timer, "run", lambda timer: None)
    with engine.run(Deadline(0.02)), pytest.raises(QueryTimeout):
        cancelled_by_the_outer()


def test_an_interrupt_without_a_time_limit_is_ctrl_c(engine: DuckDBEngine) -> None:
    timer = threading.Timer(0.2, engine.cancel)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        engine.fetch(statement(LONG), 1)
    timer.join()


def test_a_passed_deadline_starts_nothing(engine: DuckDBEngine) -> None:
    with engine.run(Deadline(0)), pytest.raises(QueryTimeout):
        engine.execute(statement("CREATE TABLE t AS SELECT 1 AS n"))
    assert engine.exists(("t",)) is None


def test_cleaning_up_has_no_deadline(engine: DuckDBEngine) -> None:
    with engine.run(Deadline(0)):
        with engine.without_deadline():
            engine.execute(statement("CREATE TABLE t AS SELECT 1 AS n"))
        with pytest.raises(QueryTimeout):
            engine.execute(statement("DROP TABLE t"))
    assert engine.exists(("t",)) == "table"


# --- transactions --------------------------------------------------------------------------------


def test_a_transaction_is_all_or_nothing(engine: DuckDBEngine) -> None:
    def fail() -> None:
        with engine.transaction():
            engine.execute(statement("CREATE TABLE t AS SELECT 1 AS n"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert engine.exists(("t",)) is None
    with engine.transaction():
        engine.execute(statement("CREATE TABLE t AS SELECT 1 AS n"))
    assert engine.exists(("t",)) == "table"


def test_a_commit_that_fails_raises_and_leaves_no_transaction() -> None:
    with duckdb.connect() as connection, connection.cursor() as other:
        engine = DuckDBEngine(connection)
        engine.execute(statement("CREATE TABLE t (n INTEGER PRIMARY KEY)"))

        def collide() -> None:
            with engine.transaction():
                engine.execute(statement("INSERT INTO t VALUES (1)"))
                other.execute("INSERT INTO t VALUES (1)")

        with pytest.raises(DatabaseError):
            collide()
        with engine.transaction():
            engine.execute(statement("INSERT INTO t VALUES (2)"))
        assert engine.fetch(statement("SELECT n FROM t ORDER BY n"), 5) == [(1,), (2,)]


def test_a_transaction_inside_another_is_refused_and_the_outer_one_lives(engine: DuckDBEngine) -> None:
    with engine.transaction():
        engine.execute(statement("CREATE TABLE t AS SELECT 1 AS n"))
        with pytest.raises(UnsupportedError, match="inside a transaction"), engine.transaction():
            pass
        assert engine.fetch(statement("SELECT n FROM t"), 1) == [(1,)]
    assert engine.exists(("t",)) == "table"


@pytest.mark.parametrize(
    "macro", ["MACRO sum(x) AS 1000", "TEMP MACRO LN(x) AS 0.0", 'MACRO "/"(a, b) AS 0', "MACRO floor(x) AS x"]
)
def test_macros_that_hide_functions_of_duckdbs_are_refused(macro: str) -> None:
    """The logarithm that is always 0 made classes of one value diverse, a floor of one's own made other classes."""
    with duckdb.connect() as connection:
        connection.execute("CREATE MACRO mine(x) AS x + 1")
        kanon_sql.connect(connection)
        connection.execute(f"CREATE {macro}")
        with pytest.raises(UnsupportedError, match=r"macros with the names of DuckDB's own functions \(.+\)"):
            kanon_sql.connect(connection)
