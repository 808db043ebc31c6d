"""What a run costs, exactly: scans of the source, statements, and what reaches the client.

Counted by the meter, and counted again here: the scans in DuckDB's own query plans, the rows at `fetch`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.base import Engine, Meter, Row
from kanon_sql.models.quality import METRICS
from kanon_sql.sql.statement import Creation, Statement
from kanon_sql.sql.text import Sql
from tests.conftest import BEFORE_2
from tests.support.specs import QUIET

ALGORITHMS = ("optimal", "samarati", "incognito", "exhaustive")
ONE_QUICK = ["optimal", *(pytest.param(name, marks=pytest.mark.slow) for name in ALGORITHMS[1:])]
PERSON = "Wilhelmina Q. Planted"
K = {"k_anonymity": {"k": 5}}
L = {"l_diversity": {"attribute": "diagnosis", "l": 2}}
T = {"t_closeness": {"attribute": "diagnosis", "t": 0.6}}


def visits(connection: duckdb.DuckDBPyConnection, copies: int = 1, *, same_vectors: bool = True) -> None:
    """A table of 1,000 rows; or of `copies` times as many: every row repeated, or a row for every new zip."""
    distinct = 1000 if same_vectors else 1000 * copies
    connection.execute(
        f"""
        CREATE OR REPLACE TABLE visits AS
        SELECT '{PERSON} ' || i AS name, i AS ssn, i % 250 AS patient_id, CAST(20 + (i * 7) % 50 AS INTEGER) AS age,
               lpad(CAST(i % {distinct // 25} AS VARCHAR), 5, '9') AS zip,
               CASE WHEN i % 3 = 0 THEN 'F' ELSE 'M' END AS sex,
               'diagnosis ' || ((i * 11) % 7) AS diagnosis, i / 3 AS charge
        FROM (SELECT j % {distinct} AS i FROM range({1000 * copies}) AS t(j))
        """
    )


def spec(*requirements: dict[str, Any], **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": "visits_release",
            "identifiers": ["name", "ssn"],
            "quasi_identifiers": {"age": {"intervals": [5, 10]}, "zip": {"prefix": [4, 3]}, "sex": None},
            "sensitive": ["diagnosis"],
            "keep": ["charge"],
            "privacy": list(requirements),
            "suppression": {"max_share": 0.1},
            "warnings": {
                **QUIET,
                "nearly_unique_kept": "warn",
                "uneven_suppression": "warn",
                "unnamed_columns": "allow",
            },
            **changes,
        }
    )


class Watch:
    """Everything that an engine executed and fetched, seen from outside."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.statements: list[Statement] = []
        self.rows: list[Row] = []
        self.planned_scans = 0

    @property
    def names(self) -> Counter[str]:
        return Counter(statement.name for statement in self.statements)

    def plan(self, statement: Statement, source: str = "visits") -> None:
        """Count the scans of the source table in the plan of a statement that is about to run."""
        begins = ("SELECT", "WITH", "CREATE TEMPORARY TABLE", "CREATE TABLE")
        if not statement.sql.lstrip("( \n").upper().startswith(begins):
            return
        if "SELECT" not in statement.sql.upper():
            return
        (plan,) = self.connection.execute(f"EXPLAIN (FORMAT json) {statement.sql}").fetchall()
        self.planned_scans += scans_in(json.loads(plan[1]), source)


def scans_in(plan: Any, source: str) -> int:
    if isinstance(plan, list):
        return sum(scans_in(item, source) for item in plan)
    here = plan.get("extra_info", {}).get("Table", "").rpartition(".")[2] == source
    return here + scans_in(plan.get("children", []), source)


@contextmanager
def watched(connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Engine, Watch]]:
    """An engine whose every statement and every fetched row is noted."""
    watch = Watch(connection)
    engine = kanon_sql.connect(connection)
    count, count_rows = Meter.count, Meter.count_rows
    execute, fetch = type(engine).execute, type(engine).fetch

    def noted(meter: Meter, statement: Statement) -> None:
        watch.statements.append(statement)
        count(meter, statement)

    def noted_rows(meter: Meter, rows: list[Row]) -> None:
        watch.rows += rows
        count_rows(meter, rows)

    def planned(self: Any, statement: Statement) -> None:
        watch.plan(statement)
        execute(self, statement)

    def fetched(self: Any, statement: Statement, limit: int) -> list[Row]:
        watch.plan(statement)
        return fetch(self, statement, limit)

    with monkeypatch.context() as patch:
        patch.setattr(Meter, "count", noted)
        patch.setattr(Meter, "count_rows", noted_rows)
        patch.setattr(type(engine), "execute", planned)
        patch.setattr(type(engine), "fetch", fetched)
        yield engine, watch


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 2}) as opened:
        visits(opened)
        yield opened


# --- scans ---------------------------------------------------------------------------------

CASES = {
    "rows": spec(K),
    "sensitive": spec(K, L, T),
    "sensitive only": spec(L),
    "persons": spec(K, L, unit="patient_id"),
    "mask": spec(K, T, suppression={"max_share": 0.2, "style": "mask"}),
    "mask persons": spec(K, L, unit="patient_id", suppression={"max_share": 0.2, "style": "mask"}),
    "nulls": spec(K, nulls="suppress"),
    "two attributes": spec(K, L, {"l_diversity": {"attribute": "sex2", "l": 1}}, sensitive=["diagnosis", "sex2"]),
}


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("verb", [pytest.param("plan", marks=pytest.mark.slow), "anonymize"])
def test_the_source_is_read_once_or_twice(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, case: str, verb: str
) -> None:
    connection.execute("ALTER TABLE visits ADD COLUMN sex2 VARCHAR DEFAULT 'x'")
    with watched(connection, monkeypatch) as (engine, watch):
        result = (kanon_sql.plan if verb == "plan" else kanon_sql.anonymize)(engine, CASES[case])
    assert result.passed
    expected = 1 if verb == "plan" else 2
    assert result.cost.source_scans == expected
    assert watch.planned_scans == expected, "what DuckDB itself plans to scan"


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_search_reads_the_source(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    with watched(connection, monkeypatch) as (engine, watch):
        result = kanon_sql.anonymize(engine, spec(K, L, search={"algorithm": algorithm}))
    assert result.cost.source_scans == watch.planned_scans == 2


@pytest.mark.slow
def test_persons_are_looked_for_by_one_read_more_and_counted_by_another(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a column could tell persons apart, which those called name, ssn and patient_id do; the last repeats."""
    looking: dict[str, Any] = {"warnings": {**QUIET, "rows_not_persons": "warn"}}
    with watched(connection, monkeypatch) as (engine, watch):
        repeated = kanon_sql.anonymize(engine, spec(K, **looking))
        assert repeated.cost.source_scans == watch.planned_scans == 4
        source = {"query": "SELECT age, zip, sex, diagnosis, ssn FROM visits"}
        alone = kanon_sql.anonymize(engine, spec(K, source=source, identifiers=["ssn"], keep=[], **looking))
        assert alone.cost.source_scans == 3
        source = {"query": "SELECT age, zip, sex, diagnosis FROM visits"}
        none = kanon_sql.anonymize(engine, spec(K, source=source, identifiers=[], keep=[], **looking))
        assert none.cost.source_scans == 2


@pytest.mark.slow
def test_released_columns_are_compared_with_values_by_one_read_more(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows released beside their values, their columns, the different ones, what agrees in them, the end."""
    with watched(connection, monkeypatch) as (engine, watch):
        kanon_sql.anonymize(engine, spec(K, warnings=QUIET))
        counts, scans = {}, {}
        for code in ("rows_not_persons", "kept_reveals_quasi_identifier", "kept_links_rows"):
            handling = "allow" if code == "rows_not_persons" else "warn"
            watch.planned_scans = 0
            watch.statements.clear()
            result = kanon_sql.anonymize(engine, spec(K, warnings={**QUIET, code: handling}))
            assert result.cost.source_scans == watch.planned_scans
            counts[code], scans[code] = watch.names, watch.planned_scans
    names = ("release/write", "columns", "disclosure/risk/vectors", "disclosure/risk/agreement")
    more = {**dict.fromkeys(names, 1), "engines/scratch/drop": 2}
    for code in ("kept_reveals_quasi_identifier", "kept_links_rows"):
        assert scans[code] == scans["rows_not_persons"] + 1
        assert counts[code] - counts["rows_not_persons"] == Counter(more)


@pytest.mark.slow
def test_spellings_are_looked_for_in_the_release_by_one_statement(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And in the source, where the key of persons is text."""
    looking = {**QUIET, "inconsistent_spelling": "warn"}
    with watched(connection, monkeypatch) as (engine, watch):
        assert kanon_sql.anonymize(engine, spec(K, L, warnings=looking)).cost.source_scans == 2
        assert watch.names["verbs/warnings/spelling"] == 1
        whole = kanon_sql.anonymize(engine, spec(K, L, unit="patient_id", warnings=looking))
        assert whole.cost.source_scans == 2, "a number has one spelling"
        source = {"query": "SELECT * REPLACE (CAST(patient_id AS VARCHAR) AS patient_id) FROM visits"}
        text = kanon_sql.anonymize(engine, spec(K, L, unit="patient_id", source=source, warnings=looking))
        assert text.cost.source_scans == 2 + 2, "its spellings, and what the database itself calls equal"


def test_columns_that_a_spec_does_not_name_take_one_read_of_the_source(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans = {}
    with watched(connection, monkeypatch) as (engine, _):
        for handling in ("allow", "warn"):
            looking = {**QUIET, "unnamed_columns": handling}
            result = kanon_sql.check(engine, spec(K, keep=[], warnings=looking), "visits")
            scans[handling] = result.cost.source_scans
    assert scans["warn"] == scans["allow"] + 1


def test_a_failing_search_reads_the_source_once(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watched(connection, monkeypatch) as (engine, watch):
        result = kanon_sql.anonymize(engine, spec({"k_anonymity": {"k": 2000}}))
    assert not result.passed
    assert result.cost.source_scans == watch.planned_scans == 1


@pytest.mark.parametrize(
    ("source", "requirements", "scans"),
    [(True, [K], 1), (True, [K, L], 1), (True, [K, T], 2), (False, [K, L], 0), (False, [K, T], 1)],
)
def test_check_reads_the_source_when_it_must(
    connection: duckdb.DuckDBPyConnection,
    monkeypatch: pytest.MonkeyPatch,
    source: bool,
    requirements: list[dict[str, Any]],
    scans: int,
) -> None:
    """Once to group it when it is the table to check, once for t-closeness's original distribution.

    A checked table's rows are counted beside its classes, by the statement that judges them: one read more, which
    DuckDB answers without a scan since 2.0.
    """
    connection.execute("CREATE TABLE copy AS SELECT age, zip, sex, diagnosis FROM visits")
    with watched(connection, monkeypatch) as (engine, watch):
        result = kanon_sql.check(engine, spec(*requirements, keep=[]), "visits" if source else "copy")
    assert watch.planned_scans == scans + (source and BEFORE_2)
    assert result.cost.source_scans == scans + source
    assert result.cost.statements <= 5


# --- statements ------------------------------------------------------------------------------


@pytest.mark.slow
def test_statements_follow_a_formula(connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    with watched(connection, monkeypatch) as (engine, watch):
        for count in (1, 2, 3):
            columns = dict(list({"age": {"intervals": [5, 10]}, "zip": {"prefix": [4]}, "sex": None}.items())[:count])
            for requirements, attributes in (([K], 0), ([K, L, T], 1)):
                watch.statements.clear()
                name = f"release_{count}_{attributes}"
                result = kanon_sql.anonymize(engine, spec(*requirements, quasi_identifiers=columns, release=name))
                names = watch.names
                search = names["evaluate/node"] - len(METRICS)
                others = {name: number for name, number in names.items() if not name.startswith("evaluate/")}
                # One lookup per quasi-identifier, two tables per sensitive attribute, the base frequency set.
                tables = count + 2 * attributes + 1
                alone = attributes == 0  # then the classes of the release are all that is examined
                assert names["evaluate/examine/counted"] == alone
                assert others.pop("engines/scratch/drop") == tables + 2 + alone, "the raw set, the renamed scratch"
                assert others.pop("hierarchies/lookup_rules") == count
                assert others.pop("frequency/encode") == 1 + attributes
                assert others.pop("frequency/sensitive", 0) == attributes
                assert others.pop("exists") <= 8, "and whose the tables are that runs share"
                assert others.pop("release/manifest/find", 0) <= 1
                assert others.pop("transaction") == 2 * 4, "two of them: is one open?, twice; begin; commit"
                assert others.pop("columns") == 3, "of the source, and of the release by who verifies and who warns"
                assert set(others.values()) == {1}, others
                assert result.search is not None
                assert search <= result.search.nodes_evaluated
                assert result.cost.statements == len(watch.statements)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("requirements", "unit", "grouped"),
    [([K], None, [False]), ([K, L], None, [False, True]), ([K], "patient_id", [True])],
)
def test_vectors_that_were_grouped_by_the_same_columns_are_not_grouped_again(
    connection: duckdb.DuckDBPyConnection,
    monkeypatch: pytest.MonkeyPatch,
    requirements: list[dict[str, Any]],
    unit: str | None,
    grouped: list[bool],
) -> None:
    """The source's own grouping is by all columns that are looked at; what a frequency set lacks of them is grouped."""
    with watched(connection, monkeypatch) as (engine, watch):
        result = kanon_sql.plan(engine, spec(*requirements, unit=unit))
    encoded = [statement.sql for statement in watch.statements if statement.name == "frequency/encode"]
    assert ["GROUP BY" in sql for sql in encoded] == grouped
    assert result.rows["source"] == 1000


@pytest.mark.slow
def test_the_values_of_columns_are_counted_once(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the lookup tables: whether all have labels is asked of these, and sizes of scratch tables of nobody."""
    with watched(connection, monkeypatch) as (engine, watch):
        kanon_sql.plan(engine, spec(K))
    reading = Counter(item.name for item in watch.statements if '_raw"' in item.sql and item.name != "frequency/raw")
    assert reading.pop("engines/scratch/drop") == 1
    once = ("frequency/totals", "hierarchies/range", "frequency/encode")  # "range": whether intervals hold all numbers
    assert reading == {**dict.fromkeys(once, 1), "hierarchies/lookup_rules": 3}
    assert watch.names["hierarchies/coverage"] == 1
    assert watch.names["engines/scratch/size"] == 0


def test_a_size_that_may_have_changed_is_not_known(connection: duckdb.DuckDBPyConnection) -> None:
    """Whatever is done to a scratch table besides reading it; a table that is made of it is counted by itself."""
    engine = kanon_sql.connect(connection)

    def made(table: str, query: str) -> None:
        text = f"CREATE TEMPORARY TABLE {table} AS {query}"
        engine.execute(Statement("made", text, creates=Creation(table, query, True)))

    made('"one"', "SELECT * FROM range(7)")
    made('"two"', 'SELECT * FROM "one" WHERE range > 4')
    assert (engine.known_rows('"one"'), engine.known_rows('"two"')) == (7, 2)
    for change in ("INSERT INTO {} VALUES (1)", "DELETE FROM {}", "DROP TABLE {}"):
        engine.execute(Statement("changed", change.format('"two"')))
        assert (engine.known_rows('"one"'), engine.known_rows('"two"')) == (7, None)
        if "DROP" not in change:
            engine.execute(Statement("dropped", 'DROP TABLE "two"'))
            made('"two"', 'SELECT * FROM "one" WHERE range > 5')
            assert engine.known_rows('"two"') == 1
    engine.execute(Statement("made", 'CREATE TABLE "lasting" AS SELECT 1', creates=Creation('"lasting"', "", False)))
    assert engine.known_rows('"lasting"') is None, "others may write to it"


@pytest.mark.slow
def test_a_batch_is_one_statement(connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    with watched(connection, monkeypatch) as (engine, watch):
        result = kanon_sql.plan(engine, spec(K, search={"algorithm": "exhaustive"}))
    assert result.search is not None
    assert result.search.nodes_evaluated == result.search.nodes_total == 4 * 4 * 2
    asking = [metric for metric in METRICS.values() if metric.aggregates(Sql("1 = 1"), ["z0"])]
    assert asking
    assert watch.names["evaluate/node"] == 1 + len(asking), "the whole lattice at once, then the chosen node"


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ONE_QUICK)
@pytest.mark.parametrize("same_vectors", [True, False])
def test_a_table_ten_times_larger_costs_the_same(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, algorithm: str, same_vectors: bool
) -> None:
    """Statements, rows and bytes do not grow; a count may have a digit more. k grows too, for the same question."""
    runs = []
    visits(connection, 1, same_vectors=same_vectors)
    kanon_sql.anonymize(kanon_sql.connect(connection), spec(K))  # makes the record of scratch tables
    connection.execute("DROP TABLE visits_release")
    connection.execute("DROP TABLE kanon_sql_manifest")
    for copies in (1, 10):
        question = spec({"k_anonymity": {"k": 5 * copies}}, L, T, search={"algorithm": algorithm})
        visits(connection, copies, same_vectors=same_vectors)
        with watched(connection, monkeypatch) as (engine, watch):
            result = kanon_sql.anonymize(engine, question)
        assert result.passed
        runs.append((result, watch))
        connection.execute("DROP TABLE visits_release")
        connection.execute("DROP TABLE kanon_sql_manifest")
    (small, small_watch), (large, large_watch) = runs
    assert large.rows["source"] == 10 * small.rows["source"]
    assert large.cost.source_scans == small.cost.source_scans == 2
    if same_vectors:
        assert large_watch.names == small_watch.names
        few, many = (result.cost.rows_fetched - len(result.class_sizes) for result in (small, large))
        assert few == many, "but for a row per size of class, of which there are other ones"
        cells = sum(len(row) for row in small_watch.rows)
        assert large.cost.bytes_fetched <= small.cost.bytes_fetched + 2 * cells
    else:
        # Other vectors may lead the search another way, but never past the lattice.
        assert small.search is not None
        bound = small.search.nodes_total
        for result, watch in runs:
            assert watch.names["evaluate/node"] <= bound + len(METRICS)
            assert result.cost.rows_fetched <= 3 * bound + 60
            assert result.cost.bytes_fetched <= 200 * result.cost.rows_fetched


# --- egress ----------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ONE_QUICK)
@pytest.mark.campaign_on("exhaustive")
def test_no_source_row_is_fetched(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    """Planted values reach neither the rows that are fetched, nor the statements, nor the result."""
    connection.execute("UPDATE visits SET diagnosis = 'planted disease', zip = 'wxyz7' WHERE ssn < 20")
    connection.execute("UPDATE visits SET age = 918273645 WHERE ssn = 1")
    with watched(connection, monkeypatch) as (engine, watch):
        question = spec(K, L, T, search={"algorithm": algorithm}, unit="patient_id")
        planned, released = kanon_sql.plan(engine, question), kanon_sql.anonymize(engine, question)
        checked = kanon_sql.check(engine, question, count_rows=True)
    planted = ("Planted", "planted", "wxyz7", "918273645")
    seen = [str(cell) for row in watch.rows for cell in row]
    seen += [statement.sql for statement in watch.statements]
    seen += [json.dumps(result.to_dict(all_minimal=True)) for result in (planned, released)]
    seen += [json.dumps(checked.to_dict()), json.dumps(released.manifest)]
    seen += [sql for result in (planned, released, checked) for sql in result.sql]
    assert not [text for text in seen if any(value in text for value in planted)]
    assert released.passed
    assert sum(result.cost.rows_fetched for result in (planned, released, checked)) == len(watch.rows)
    assert all(
        isinstance(cell, int | float | str | type(None)) or cell.as_tuple() for row in watch.rows for cell in row
    )


@pytest.mark.slow
def test_the_meter_counts_what_was_fetched(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watched(connection, monkeypatch) as (engine, watch):
        result = kanon_sql.anonymize(engine, spec(K, L))
    assert result.cost.statements == len(watch.statements) == len(result.sql)
    assert result.cost.rows_fetched == len(watch.rows)
    assert result.cost.bytes_fetched == sum(len(str(cell).encode()) for row in watch.rows for cell in row)


@pytest.mark.slow
def test_runs_are_counted_apart(connection: duckdb.DuckDBPyConnection) -> None:
    engine = kanon_sql.connect(connection)
    first, second = (kanon_sql.plan(engine, spec(K)).cost for _ in range(2))
    assert (first.statements, first.rows_fetched) == (second.statements, second.rows_fetched)
    assert engine.meter.statements == 0
