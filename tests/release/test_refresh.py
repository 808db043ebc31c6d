"""A release that grows: what a refresh takes, what it costs, and what it refuses."""

from __future__ import annotations

import importlib
import json
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError, VerificationError
from kanon_sql.report.json import result_schema
from kanon_sql.verbs.clean import clean
from kanon_sql.verbs.doctor import doctor
from tests.support.command_line import refused, run
from tests.support.refreshed import SPEC, spec, visits
from tests.verbs.test_costs import scans_in

GRASSBERGER = {"l_diversity": {"attribute": "disease", "l": 2, "variant": "entropy", "estimator": "grassberger"}}


def released(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    return dict(connection.execute("SELECT zip, COUNT(*) FROM visits_release GROUP BY zip").fetchall())


# --- what it does -------------------------------------------------------------------------


@pytest.mark.slow
def test_a_connection_of_a_program_is_taken_as_it_is(connection: duckdb.DuckDBPyConnection) -> None:
    """As every verb takes it, with its session set back; a table of a program has no state to go by."""
    query = "SELECT current_setting('TimeZone')"
    connection.execute("SET TimeZone = 'Asia/Tokyo'")
    assert kanon_sql.anonymize(connection, spec()).passed
    visits(connection, 2, "aaaccc")
    result = kanon_sql.refresh(connection, spec())
    assert (result.passed, result.refresh and result.refresh["taken"]) == (True, 6)
    assert released(connection) == {"aa*": 7, "bb*": 4, "cc*": 5}
    assert connection.execute(query).fetchall() == [("Asia/Tokyo",)]
    with pytest.raises(UnsupportedError, match="refresh: a release grows where it is"):
        kanon_sql.refresh(connection.sql("FROM visits").df(), spec())
    with pytest.raises(UnsupportedError, match="refresh: cannot use a list"):
        kanon_sql.refresh([1], spec())


@pytest.mark.slow
def test_a_class_appears_with_k_rows_that_no_reader_has_seen(
    connection: duckdb.DuckDBPyConnection, engine: Engine
) -> None:
    assert released(connection) == {"aa*": 4, "bb*": 4}
    visits(connection, 2, "aabbbc")  # two more of a are too few; three of b are enough; c has three that are all new
    result = kanon_sql.refresh(engine, spec())
    assert released(connection) == {"aa*": 4, "bb*": 7, "cc*": 3}
    assert result.message == "added 6 rows, verified separately for 3-anonymity; 2 rows wait"
    assert result.refresh is not None
    assert result.refresh["added_classes"] == {"count": 2, "smallest": 3, "average": 3.0, "largest": 3}
    assert result.refresh["added_achieved"]["k_anonymity"]["k"] == 3
    assert result.classes == result.achieved == {}  # the release was not looked at as a whole
    visits(connection, 3, "a")
    kanon_sql.refresh(engine, spec())
    assert released(connection)["aa*"] == 7
    assert kanon_sql.check(engine, spec()).passed


@pytest.mark.slow
def test_rows_that_leave_take_others_along(connection: duckdb.DuckDBPyConnection, engine: Engine) -> None:
    visits(connection, 2, "aaaaaa")
    kanon_sql.refresh(engine, spec())
    assert released(connection) == {"aa*": 10, "bb*": 4}
    # Equal rows were released in two batches: which of them has left is not known, so both classes give rows away. Of
    # four, three are not enough to leave one; of six, three stay.
    result = kanon_sql.refresh(engine, spec(), deleted="SELECT 'aa1' AS zip, 'flu' AS disease", batch="gone")
    assert released(connection) == {"aa*": 3, "bb*": 4}
    assert result.refresh is not None
    assert (result.refresh["left"], result.refresh["removed"], result.refresh["retired"]) == (1, 7, 6)
    # Those that have gone are never released again, and leave first.
    visits(connection, 3, "aa")
    assert kanon_sql.refresh(engine, spec()).refresh["added"] == 0  # type: ignore[index]
    with pytest.raises(SpecError, match="1 of 9 rows were not taken before"):
        kanon_sql.refresh(
            engine, spec(), deleted="SELECT 'bb1' AS zip, CASE i WHEN 8 THEN 'no' ELSE 'flu' END AS disease "
            "FROM range(4, 9) AS t(i) UNION ALL SELECT 'aa1', 'flu' FROM range(4)", batch="unknown",
        )  # fmt: skip


def groups(connection: duckdb.DuckDBPyConnection) -> dict[tuple[int, str], Counter[tuple[str, str]]]:
    """What the state says was released and stands: batch and label -> rows by their values."""
    (name,) = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'kanon_state' AND table_name LIKE '%published'"
    ).fetchone()  # type: ignore[misc]
    found: dict[tuple[int, str], Counter[tuple[str, str]]] = {}
    query = f"SELECT batch, l0, c0, c1, SUM(row_count) FROM kanon_state.{name} WHERE batch > 0 GROUP BY ALL"
    for batch, label, zip_code, disease, count in connection.execute(query).fetchall():
        found.setdefault((batch, label), Counter())[zip_code, disease] += int(count)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
@pytest.mark.sampled(4)
def test_every_class_that_may_have_lost_a_row_loses_k(
    connection: duckdb.DuckDBPyConnection, engine: Engine, seed: int
) -> None:
    """Rows that are equal to the eye, of several days: whichever has left, its class of its day has given k away."""
    draw = random.Random(seed)
    for day in range(2, 5):
        for _ in range(draw.randrange(8, 20)):
            visits(connection, day, draw.choice("ab"), draw.choice(["flu", "cold"]))
        kanon_sql.refresh(engine, spec())
    for number in range(4):
        before = groups(connection)
        rows = sorted({row for group in before.values() for row in group.elements()})
        if not rows:
            return
        zip_code, disease = draw.choice(rows)
        gone = f"SELECT '{zip_code}' AS zip, '{disease}' AS disease"
        kanon_sql.refresh(engine, spec(), deleted=gone, batch=f"gone {number}")
        after = groups(connection)
        for key, group in before.items():
            left = after[key]
            assert not left - group
            lost = group.total() - left.total()
            assert (lost >= 3 or not left.total()) if group[zip_code, disease] else lost == 0
            assert left.total() == 0 or left.total() >= 3
        standing = Counter(connection.execute("SELECT zip, disease FROM visits_release").fetchall())
        remembered = Counter[tuple[str, str]]()
        for (_, label), group in after.items():
            for (_, value), count in group.items():
                remembered[label, value] += count
        assert standing == +remembered


@pytest.mark.slow
def test_rows_that_wait_leave_before_those_that_were_released(
    connection: duckdb.DuckDBPyConnection, engine: Engine
) -> None:
    gone = "SELECT 'cc1' AS zip, 'flu' AS disease"
    result = kanon_sql.refresh(engine, spec(), deleted=gone, batch="gone")
    assert result.refresh is not None
    assert (result.refresh["removed"], result.refresh["waiting"]) == (0, 1)
    visits(connection, 2, "cc")
    kanon_sql.refresh(engine, spec())
    assert released(connection)["cc*"] == 3


@pytest.mark.slow
def test_more_rows_left_out_than_the_limit_allows_are_warned_of(connection: duckdb.DuckDBPyConnection) -> None:
    """Of 10 rows 2 wait, which a limit of a fifth allows; of 13, whose 5 wait, it allows 2."""
    limited = spec(suppression={"max_share": 0.2})
    with kanon_sql.connect(connection) as engine:
        assert kanon_sql.anonymize(engine, limited).rows["suppressed"] == 2
        assert kanon_sql.refresh(engine, limited).warnings == []  # there is nothing new
        visits(connection, 2, "ddee")
        visits(connection, 3, "c")
        visits(connection, 3, "aabb")
        failed = kanon_sql.refresh(engine, limited, fail_on_warning=True)
        assert (failed.verdict, released(connection)) == ("fail", {"aa*": 4, "bb*": 4})
        assert "nothing was changed: limit_exceeded is an error" in failed.message
        visits(connection, 3, "aabbb")
        found = kanon_sql.refresh(engine, limited)
        # Three of c are enough, four of a and five of b; two of d and of e wait.
        assert (found.verdict, released(connection)) == ("pass", {"aa*": 8, "bb*": 9, "cc*": 3})
        assert found.warnings == []
        visits(connection, 4, "d" + "fg")
        fewer = spec(suppression={"max_share": 0.1})
        found = kanon_sql.refresh(engine, fewer)
        assert released(connection) == {"aa*": 8, "bb*": 9, "cc*": 3, "dd*": 3}
        (warned,) = found.warnings
        # Of 27 rows a tenth is 2; two of e, one of f and one of g wait.
        assert (warned.code, warned.figures) == (
            "limit_exceeded",
            {"rows": 27, "left_out": 4, "waiting": 4, "allowed": 2},
        )
        assert "the release lacks 4 of 27 rows (4 wait), and suppression allows 2" in warned.message
        again = kanon_sql.refresh(engine, fewer)
        assert (again.verdict, [item.code for item in again.warnings]) == ("pass", ["limit_exceeded"])
        assert kanon_sql.refresh(engine, fewer, fail_on_warning=True).verdict == "fail"
        error = spec(suppression={"max_share": 0.1}, warnings={**SPEC["warnings"], "limit_exceeded": "error"})
        assert kanon_sql.refresh(engine, error).verdict == "fail"
        silent = spec(suppression={"max_share": 0.1}, warnings={**SPEC["warnings"], "limit_exceeded": "allow"})
        assert kanon_sql.refresh(engine, silent).warnings == []
        # Rows that went with others that left count too: three of d, one of whom left, go together.
        gone = kanon_sql.refresh(
            engine, spec(suppression={"max_share": 0.2}), deleted="SELECT 'dd1' AS zip, 'flu' AS disease", batch="gone"
        )
        (warned,) = gone.warnings
        assert warned.figures == {"rows": 26, "left_out": 6, "waiting": 4, "allowed": 5}


@pytest.mark.slow
def test_coarsening_releases_what_waits(connection: duckdb.DuckDBPyConnection) -> None:
    free = {"zip": {"prefix": [2, 1]}}
    growing = spec(
        quasi_identifiers=free, suppression={"max_share": 0.15},
        increments={"watermark": "day", "on_drift": "coarsen"},
    )  # fmt: skip
    connection.execute("DELETE FROM visits")
    for zip_code in ("110", "110", "110", "120", "120", "120"):
        connection.execute("INSERT INTO visits VALUES (1, ?, 'flu')", [zip_code])
    with kanon_sql.connect(connection) as engine:
        assert kanon_sql.anonymize(engine, growing).node == {"zip": 0}
        for zip_code in ("111", "112", "121"):
            connection.execute("INSERT INTO visits VALUES (2, ?, 'flu')", [zip_code])
        result = kanon_sql.refresh(engine, growing)
        assert result.node == {"zip": 2}
        assert released(connection) == {"1**": 9}
        assert result.notes == [
            "on_drift: coarsen: suppression lets 1 of 9 rows wait; the release was made coarser, to the best "
            "levels for the rows that waited"
        ]
        # The first batch was seen at finer levels: of its six, three could be a class of those and no other.
        result = kanon_sql.refresh(engine, growing, deleted="SELECT '110' AS zip, 'flu' AS disease", batch="gone")
        assert released(connection) == {"1**": 3}


@pytest.mark.slow
def test_a_query_is_taken_as_well_as_a_table(connection: duckdb.DuckDBPyConnection, engine: Engine) -> None:
    late = "SELECT day, zip, disease FROM visits WHERE zip = 'bb1'"
    result = kanon_sql.refresh(engine, spec(), inserted=late, batch="late", verify_all=True)
    assert released(connection)["bb*"] == 8
    assert result.refresh is not None
    assert result.refresh["verified"] == "the whole release"
    with pytest.raises(SpecError, match="1 rows are above the last watermark"):
        kanon_sql.refresh(engine, spec(), inserted="SELECT 2 AS day, 'bb1' AS zip, 'flu' AS disease", batch="later")


# --- what it costs ------------------------------------------------------------------------


@pytest.mark.slow
def test_a_refresh_reads_the_day_and_nothing_else(
    connection: duckdb.DuckDBPyConnection, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits(connection, 2, "aaabbb")
    statements: list[str] = []
    execute, scans = type(engine).execute, []

    def planned(self: Any, statement: Any) -> None:
        if "SELECT" in statement.sql and not statement.sql.startswith(("DELETE", "COMMENT")):
            (plan,) = connection.execute(f"EXPLAIN (FORMAT json) {statement.sql}").fetchall()
            for table in ("visits", "visits_release"):
                scans.extend([table] * scans_in(json.loads(plan[1]), table))
        statements.append(statement.name)
        execute(self, statement)

    monkeypatch.setattr(type(engine), "execute", planned)
    result = kanon_sql.refresh(engine, spec())
    assert result.refresh is not None
    assert result.refresh["added"] == 6
    assert scans == ["visits"]  # the day's rows; the release is appended to, and not read
    assert result.cost.source_scans == 1
    assert result.cost.statements < 90


ROW_GROUP = 122_880
"""So many rows DuckDB looks at, or skips, together."""


def scans_of(plan: Any, table: str) -> Iterator[dict[str, Any]]:
    """The scans of a table in what DuckDB measured of a statement."""
    for item in plan if isinstance(plan, list) else plan.get("operator") or plan.get("children", []):
        if item.get("extra_info", {}).get("Table", "").rpartition(".")[2] == table:
            yield item
        yield from scans_of(item.get("children", []), table)


@pytest.mark.slow
def test_of_the_source_the_rows_of_the_day_are_read_and_no_others(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured by DuckDB: six rows of a table that stands in the order of its days, in one group of rows of four."""
    connection.execute("DELETE FROM visits")
    zips = "['aa1', 'bb1', 'cc1'][i % 3 + 1]"
    connection.execute(f"INSERT INTO visits SELECT i // {ROW_GROUP}, {zips}, 'flu' FROM range({3 * ROW_GROUP}) AS t(i)")
    measured = tmp_path / "measured.json"
    with kanon_sql.connect(connection) as engine:
        assert kanon_sql.anonymize(engine, spec()).passed
        visits(connection, 3, "aaabbb")
        execute, scans = type(engine).execute, []

        def profiled(self: Any, statement: Any) -> None:
            if statement.name != "release/state/taken":
                execute(self, statement)
                return
            connection.execute("PRAGMA enable_profiling = 'json'")
            connection.execute(f"PRAGMA profiling_output = '{measured}'")
            execute(self, statement)
            connection.execute("PRAGMA disable_profiling")
            scans.extend(scans_of(json.loads(measured.read_text()), "visits"))

        monkeypatch.setattr(type(engine), "execute", profiled)
        result = kanon_sql.refresh(engine, spec())
    assert result.refresh is not None
    assert (result.refresh["taken"], result.refresh["added"], result.cost.source_scans) == (6, 6, 1)
    (scan,) = scans
    assert scan.get("intermediate_rows", scan.get("operator_cardinality")) == 6
    if "row_groups_scanned" in scan:  # older ones do not tell
        assert (scan["row_groups_scanned"], scan["rows_scanned"]) == (1, 6)


@pytest.mark.slow
def test_what_is_sent_does_not_grow_with_the_table(connection: duckdb.DuckDBPyConnection) -> None:
    costs = []
    for copies in (1, 50):
        connection.execute("DELETE FROM visits")
        for _ in range(copies):
            visits(connection, 1, "aaaabbbb")
        connection.execute("DROP TABLE IF EXISTS visits_release")
        with kanon_sql.connect(connection) as engine:
            clean(engine, states=True, drop=True)
            kanon_sql.anonymize(engine, spec())
            visits(connection, 2, "aaabbb")
            cost = kanon_sql.refresh(engine, spec()).cost
        costs.append((cost.statements, cost.source_scans, cost.rows_fetched))
    assert costs[0] == costs[1]


# --- what it refuses ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"privacy": [{"t_closeness": {"attribute": "disease", "t": 0.5}}]}, "a table that grows"),
        ({"recoding": "local"}, "use recoding: full_domain"),
        ({"recoding": {"save_as": "learned"}}, "leave 'save_as' out"),
        ({"suppression": {"max_share": 0.1, "style": "mask"}}, "use style: drop"),
        ({"ledger": "ledger"}, "leave it out"),
        ({"state": None}, "increments need a state"),
        ({"release": None}, "a state needs a release that is a table"),
        ({"release": {"file": "out.parquet"}}, "a state needs a release that is a table"),
        ({"keep": ["day"]}, "shows when a row was added"),
        ({"state": {"scheme": "x"}}, "did you mean 'schema'"),
        ({"state": {}}, "missing 'schema'"),
        ({"increments": {"on_drift": "ignore"}}, "hold, coarsen, research"),
        ({"search": {"algorithm": "k_optimize"}, "quasi_identifiers": {"zip": {}}}, "use another algorithm"),
        ({"quasi_identifiers": {"zip": {"table": "zips"}}}, "may change unnoticed"),
        ({"quasi_identifiers": {"zip": {"as": "number", "maximum_level": 0}}}, "labels, which are text"),
        ({"quasi_identifiers": {"zip": {"intervals": [10], "as": "bounds"}}}, "labels, which are text"),
        ({"quasi_identifiers": {"zip": {"intervals": [10], "as": "midpoint"}}}, "labels, which are text"),
        ({"steps": {"columns": {"zip": {"round": 1}}}}, "apply them in a view"),
        ({"privacy": [{"k_anonymity": {"k": 3, "quasi_identifiers": ["zip"]}}]}, "leave this list out"),
        ({"privacy": [{"k_anonymity": {"column": "disease", "default": 3}}]}, "k must be a fixed number"),
        ({"privacy": [GRASSBERGER]}, "by its own values"),
    ],
)  # fmt: skip
def test_specs_that_cannot_grow(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(SpecError) as caught:
        spec(**changes)
    assert told in str(caught.value)


def test_a_spec_with_a_state_reads_back() -> None:
    assert kanon_sql.Spec.from_dict(spec().to_dict()) == spec()
    assert spec(state="kanon_state") == spec()
    assert (
        spec(state=None, increments=None).hash
        == kanon_sql.Spec.from_dict(
            {key: value for key, value in SPEC.items() if key not in ("state", "increments")}
        ).hash
    )  # what was published before has the hash of then


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"inserted": "visits"}, "batch: missing"),
        ({"deleted": "visits"}, "batch: missing"),
        ({"batch": "x"}, "the watermark already identifies the rows"),
        ({"deleted": "SELECT 1 AS zip", "batch": "x"}, "has no column 'disease'"),
        ({"inserted": "SELECT 'a' AS zip", "batch": "x"}, "lack the column 'disease'"),
        ({"inserted": "nowhere", "batch": "x"}, "there is no table or view 'nowhere'"),
    ],
)
def test_options_that_say_too_little(engine: Engine, options: dict[str, Any], told: str) -> None:
    with pytest.raises((SpecError, DatabaseError), match=re.escape(told)):
        kanon_sql.refresh(engine, spec(), **options)


@pytest.mark.slow
def test_what_a_refresh_needs(connection: duckdb.DuckDBPyConnection, engine: Engine) -> None:
    with pytest.raises(SpecError, match="state: missing"):
        kanon_sql.refresh(engine, spec(state=None, increments=None))
    with pytest.raises(SpecError, match="new rows cannot be identified"):
        kanon_sql.refresh(engine, spec(increments=None))
    with pytest.raises(SpecError, match="create it with kanon-sql anonymize and the same spec"):
        kanon_sql.refresh(engine, spec(release="other_release"))
    with pytest.raises(SpecError, match="started with other quasi-identifiers"):
        kanon_sql.refresh(engine, spec(privacy=[{"k_anonymity": {"k": 2}}]))
    with pytest.raises(SpecError, match="is a growing release already: kanon-sql release refresh adds new rows"):
        kanon_sql.anonymize(engine, spec())
    for changes in ({"state": None, "increments": None}, {"state": "elsewhere"}):  # whatever the spec says of it
        with pytest.raises(SpecError, match="clean --state --schema kanon_state"):
            kanon_sql.anonymize(engine, spec(**changes))
    with pytest.raises(SpecError, match="leave the state out"):
        kanon_sql.apply(engine, spec(), "learned")
    private = {"differential_privacy": {"epsilon": 1.0, "delta": 0.01, "generalization": {"zip": 1}}}
    invariant = {"m_invariance": {"attribute": "disease", "m": 2, "history": "sequence"}}
    others = {"state": None, "increments": None, "suppression": {}, "quasi_identifiers": {"zip": {"prefix": [2, 1]}}}
    for changes in (
        {"privacy": [private], "sensitive": [], "ledger": "releases"},
        {"privacy": [invariant], "unit": "day"},
    ):
        with pytest.raises(SpecError, match="is a growing release already: kanon-sql release refresh adds new"):
            kanon_sql.anonymize(engine, spec(**others, **changes))
    parties = [engine, kanon_sql.connect(duckdb.connect())]
    with pytest.raises(SpecError, match="is a growing release already"):
        kanon_sql.anonymize_parties(parties, spec(**others, search={"metric": "height"}))
    with pytest.raises(SpecError, match="the source has no column 'when'"):
        kanon_sql.anonymize(engine, spec(release="other_release", increments={"watermark": "when"}))
    with pytest.raises(SpecError, match="is of type VARCHAR; expected whole numbers"):
        kanon_sql.anonymize(engine, spec(release="other_release", increments={"watermark": "zip"}))
    connection.execute("INSERT INTO visits VALUES (NULL, 'aa1', 'flu')")
    with pytest.raises(SpecError, match="1 rows have no 'day'"):
        kanon_sql.refresh(engine, spec())
    with kanon_sql.connect(connection, scratch="inline") as inline, pytest.raises(UnsupportedError, match="inline"):
        kanon_sql.refresh(inline, spec())
    with kanon_sql.connect(connection, read_only=True) as closed, pytest.raises(SpecError, match="read-only"):
        kanon_sql.refresh(closed, spec())


@pytest.mark.slow
def test_who_comes_back_changed_must_be_known(connection: duckdb.DuckDBPyConnection) -> None:
    protects = spec(privacy=[{"l_diversity": {"attribute": "disease", "l": 2}}])
    visits(connection, 1, "aaabbbcc", "cold")
    with kanon_sql.connect(connection) as engine:
        assert kanon_sql.anonymize(engine, protects).passed
        with pytest.raises(SpecError, match="Name the person's column as unit"):
            kanon_sql.refresh(engine, protects, deleted="SELECT 'aa1' AS zip, 'flu' AS disease", batch="gone")


def test_other_engines_do_not_say_who_may_read() -> None:
    from kanon_sql.sql.dialects import dialect_named

    for name in ("mysql", "tsql", "oracle", "snowflake", "bigquery", "redshift", "trino", "databricks"):
        with pytest.raises(UnsupportedError, match="who may read a schema cannot be told"):
            dialect_named(name).readers(("kanon_state",))


@pytest.mark.slow
def test_another_source_may_have_the_same_rows(connection: duckdb.DuckDBPyConnection, engine: Engine) -> None:
    """Two rows of c wait; a copy of the table, whose days are later, has them once more."""
    connection.execute("CREATE TABLE copied AS SELECT day + 1 AS day, zip, disease FROM visits")
    for source in ("copied", {"query": "SELECT day + 1 AS day, zip, disease FROM visits"}):
        with pytest.raises(SpecError, match="if a table was renamed, create a view with the old name"):
            kanon_sql.refresh(engine, spec(source=source))
    assert kanon_sql.refresh(engine, spec()).message == "nothing was changed: there are no new rows"
    by_batches = {"release": "by_batches", "increments": None}
    assert kanon_sql.anonymize(engine, spec(**by_batches)).passed
    late = "SELECT zip, disease FROM visits"  # whoever names them says that they are new
    assert kanon_sql.refresh(engine, spec(**by_batches, source="copied"), inserted=late, batch="x").passed


@pytest.mark.slow
def test_a_release_that_lost_rows_grows_no_more(connection: duckdb.DuckDBPyConnection, engine: Engine) -> None:
    connection.execute("DELETE FROM visits_release WHERE rowid < 2")
    visits(connection, 2, "ccc")
    with pytest.raises(VerificationError, match=r"has 11 rows where its state says 13; another program has changed it"):
        kanon_sql.refresh(engine, spec())
    assert sum(released(connection).values()) == 6


@pytest.mark.slow
def test_a_release_that_somebody_has_changed_is_not_changed_further(
    connection: duckdb.DuckDBPyConnection, engine: Engine
) -> None:
    connection.execute("DELETE FROM visits_release WHERE zip = 'aa*'")
    with pytest.raises(VerificationError, match="another program has changed it"):
        kanon_sql.refresh(engine, spec(), deleted="SELECT 'aa1' AS zip, 'flu' AS disease", batch="gone")
    visits(connection, 2, "bbb")
    with pytest.raises(VerificationError, match=r"has 7 rows where its state says 11"):
        kanon_sql.refresh(
            engine, spec(), inserted="SELECT 1 AS day, 'bb1' AS zip, 'flu' AS disease FROM range(3)", batch="x",
            verify_all=True,
        )  # fmt: skip
    assert released(connection) == {"bb*": 4}


@pytest.mark.slow
def test_of_two_at_once_one_is_refused(connection: duckdb.DuckDBPyConnection, engine: Engine) -> None:
    visits(connection, 2, "bbb")
    other = kanon_sql.connect(connection.cursor())
    amended = []
    module = importlib.import_module("kanon_sql.release.grow")
    change = module._change_in_place

    def meanwhile(workspace: Any, growing: Any) -> None:
        if not amended:
            amended.append(True)
            with pytest.raises(DatabaseError):  # the one that comes second; its day is not lost
                kanon_sql.refresh(other, spec())
        change(workspace, growing)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_change_in_place", meanwhile)
        kanon_sql.refresh(engine, spec())
    assert amended
    assert released(connection) == {"aa*": 4, "bb*": 7}
    assert kanon_sql.refresh(other, spec()).message == "nothing was changed: there are no new rows"
    other.close()


@pytest.mark.slow
def test_a_run_that_read_an_earlier_state_changes_nothing(
    connection: duckdb.DuckDBPyConnection, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits(connection, 2, "bbb")
    other = kanon_sql.connect(connection.cursor())
    from kanon_sql.verbs import refresh as module

    taking = module.take_rows

    def taken(*given: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(module, "take_rows", taking)
            assert kanon_sql.refresh(other, spec()).refresh["added"] == 3  # type: ignore[index]
        return taking(*given)

    monkeypatch.setattr(module, "take_rows", taken)
    with pytest.raises(DatabaseError, match="another run has changed it; nothing was changed"):
        kanon_sql.refresh(engine, spec())
    assert released(connection) == {"aa*": 4, "bb*": 7}
    other.close()


# --- what else knows of it ----------------------------------------------------------------


@pytest.mark.slow
def test_states_are_listed_and_dropped(connection: duckdb.DuckDBPyConnection, engine: Engine) -> None:
    check = next(item for item in doctor(engine).checks if item.key == "states")
    assert check.ok
    assert check.detail.startswith("visits_release in kanon_state: as sensitive as the source")
    assert [item.state for item in clean(engine, drop=False, states=True).objects] == ["state of a release"]
    assert not clean(engine, drop=False).objects
    assert [item.state for item in clean(engine, drop=True, states=True).objects] == ["dropped"]
    tables = connection.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'kanon_state'").fetchall()
    assert tables == [("kanon_sql_state",)]
    check = next(item for item in doctor(engine).checks if item.key == "states")
    assert check.detail == "none is recorded in the schema kanon_state"
    with pytest.raises(SpecError, match="create it with kanon-sql anonymize and the same spec"):
        kanon_sql.refresh(engine, spec())


@pytest.mark.slow
def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("growing.json").write_text(json.dumps(SPEC))
    with duckdb.connect("clinic.duckdb") as opened:
        opened.execute("CREATE TABLE visits (day INTEGER, zip VARCHAR, disease VARCHAR)")
        visits(opened, 1, "aaaabbbbcc")
    base = ("growing.json", "-d", "clinic.duckdb")
    assert run("anonymize", *base, "-q").exit_code == 0
    with duckdb.connect("clinic.duckdb") as opened:
        visits(opened, 2, "abbb", "Qwyjibo")
    shown = run("release", "refresh", *base, "--manifest", "m.json")
    assert shown.exit_code == 0, shown.output
    assert "Since the last run" in shown.stdout
    assert "4 new rows" in shown.stdout
    assert "Qwyjibo" not in shown.output + Path("m.json").read_text()
    ran = run("release", "refresh", *base, "--format", "json", "-q")
    data = json.loads(ran.stdout)
    jsonschema.Draft202012Validator(result_schema()).validate(data)
    assert data["message"] == "nothing was changed: there are no new rows"
    ran = run("release", "refresh", *base, "--deleted", "visits", "--batch", "x", "--format", "json", "-q")
    jsonschema.Draft202012Validator(result_schema()).validate(json.loads(ran.stdout))
    assert "a release in :memory: is lost when this process" in refused(run("release", "refresh", "growing.json"), 2)
    listed = run("clean", "-d", "clinic.duckdb", "--state", "--format", "json", "-q")
    assert [item["state"] for item in json.loads(listed.stdout)["objects"]] == ["state of a release"]


# --- rows that would be taken twice --------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("first", "then"), [(None, "day"), ("day", "number"), ("day", None)])
def test_another_watermark_takes_no_row_twice(
    connection: duckdb.DuckDBPyConnection, first: str | None, then: str | None
) -> None:
    """Two rows of c wait; taken once more, by a watermark that was never reached, they would be four."""
    connection.execute("CREATE TABLE numbered AS SELECT *, 100 + row_number() OVER () AS number FROM visits")
    asked = [
        spec(source="numbered", increments=None if name is None else {"watermark": name}) for name in (first, then)
    ]
    with kanon_sql.connect(connection) as engine:
        assert kanon_sql.anonymize(engine, asked[0]).passed
        with pytest.raises(SpecError, match="nulls, watermark or source than this spec has"):
            kanon_sql.refresh(engine, asked[1], **({} if then else {"inserted": "numbered", "batch": "again"}))
    assert released(connection) == {"aa*": 4, "bb*": 4}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("columns", "why"),
    [("zip, disease", "the table has no column 'day'"), ("NULL::INTEGER AS day, zip, disease", "2 rows have no 'day'")],
)
def test_late_rows_say_that_no_later_run_takes_them(
    connection: duckdb.DuckDBPyConnection, engine: Engine, columns: str, why: str
) -> None:
    visits(connection, 2, "dd")
    with pytest.raises(SpecError, match=why):
        kanon_sql.refresh(engine, spec(), inserted=f"SELECT {columns} FROM visits WHERE day = 2", batch="late")


def test_a_watermark_that_text_changes_is_refused(tmp_path: Path) -> None:
    """SQLite writes fifteen digits: rows above that would be taken again with every refresh."""
    path = tmp_path / "clinic.sqlite"
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("CREATE TABLE visits (day REAL, zip TEXT, disease TEXT)")
        rows = [(2461000.0, "aa1", "flu")] * 4 + [(2461000.123456781, "cc1", "flu")] * 2
        opened.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows)
    growing = spec(state={"schema": "main"})
    why = "changes when it is written as text"
    with kanon_sql.connect(f"sqlite:///{path}") as opened_engine, pytest.raises(SpecError, match=why):
        kanon_sql.anonymize(opened_engine, growing)
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("UPDATE visits SET day = round(day, 2)")
    with kanon_sql.connect(f"sqlite:///{path}") as opened_engine:
        assert kanon_sql.anonymize(opened_engine, growing).passed
        assert kanon_sql.refresh(opened_engine, growing).message == "nothing was changed: there are no new rows"


def test_a_schema_that_sqlite_does_not_have_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    """Its schemas are files, which no statement of ours makes."""
    path = tmp_path / "clinic.sqlite"
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("CREATE TABLE visits (day INTEGER, zip TEXT, disease TEXT)")
        opened.executemany("INSERT INTO visits VALUES (1, ?, 'flu')", [("aa1",)] * 4)
    why = r"there is no schema 'kanon_state', and sqlite makes none: .* write state: \{schema: main\}"
    with kanon_sql.connect(f"sqlite:///{path}") as opened_engine:
        for verb in (kanon_sql.anonymize, kanon_sql.refresh):
            with pytest.raises(SpecError, match=why):
                verb(opened_engine, spec())
        assert kanon_sql.anonymize(opened_engine, spec(state={"schema": "MAIN"})).passed
    with closing(sqlite3.connect(path)) as opened:
        found = {name for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert "visits_release" in found
