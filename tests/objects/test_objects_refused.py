"""Tables that a program holds: what is refused, since it cannot be read for sure."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql.errors import SpecError, UnsupportedError
from tests.support.command_line import run
from tests.support.held_tables import NAMES, as_ibis, spec, table


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), "several columns 'age'"),
        (pd.DataFrame([[1, 2]], columns=["age", "Age"]), "several columns 'age'"),
        (pa.table([[1], [2]], names=["age", "Age"]), "several columns 'age'"),
        (pl.DataFrame({"zip": ["1"], "ZIP": ["1"]}), "several columns 'zip'"),
        (pd.DataFrame([[1, 2]], columns=[0, 1]), "name is not text"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "name is not text"),
        (pd.DataFrame([[1]], columns=[" "]), "or empty"),
        (pd.DataFrame(), "it has no column"),
        (pd.DataFrame({"age": [4711, "4712"]}), "'age' holds objects .* 'mixed-integer'"),
        (pd.DataFrame({"age": [2**53 + 1, 2**53, 0.5]}, dtype=object), "'age' holds fractions, and whole numbers"),
        (pd.DataFrame({"age": [{"a": 4711}]}), "'age' holds objects .* 'mixed'"),
        (pd.DataFrame({"age": [dt.date(1947, 1, 1), dt.datetime(1947, 1, 1, 4)]}, dtype=object), "'age' holds objects"),
        (pd.DataFrame({"age": [2**70]}, dtype=object), "'age' holds objects"),
        (
            pd.DataFrame({"ok": [1], "age": pd.arrays.SparseArray([4711.0])}),
            "the column 'age' holds values",
        ),
        (pd.DataFrame({"ok": [1], "age": [4711j]}), "the column 'age' holds values"),
        (pl.DataFrame({"ok": [1], "age": [object()]}), "the column 'age' holds values"),
    ],
)
def test_a_table_that_cannot_be_read_for_sure_is_refused_by_its_column(frame: Any, said: str) -> None:
    with pytest.raises(SpecError, match=said) as caught:
        kanon_sql.plan(frame, spec())
    assert "4711" not in str(caught.value)


def test_a_spec_that_was_not_read_is_said_to_be_none() -> None:
    frame = pd.DataFrame({"age": [1, 1]})
    for unread, reader in (("spec.yml", "load"), (Path("spec.yml"), "load"), ({"version": 1}, "from_dict")):
        for verb in (kanon_sql.plan, kanon_sql.anonymize, kanon_sql.check, kanon_sql.audit, kanon_sql.risk):
            with pytest.raises(SpecError, match=rf"{verb.__name__}: expected a Spec, .* kanon_sql\.Spec\.{reader}"):
                verb(frame, unread)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "a NoneType;"),
        (17, "an int;"),
        ("clinic.duckdb", "a str;"),
        ([{"age": 1}], "a list;"),
        (pd.Series([1]), r"pandas\S*Series \(call its to_frame\(\)\);"),
        (pl.LazyFrame({"age": [1]}), r"LazyFrame \(call its collect\(\)\);"),
        (pa.RecordBatchReader.from_batches(pa.schema([]), []), r"RecordBatchReader \(call its read_all\(\)\);"),
    ],
)
def test_what_is_not_accepted_is_told_what_is(given: Any, said: str) -> None:
    for verb in (kanon_sql.anonymize, kanon_sql.check, kanon_sql.plan, kanon_sql.risk, kanon_sql.audit):
        with pytest.raises(UnsupportedError, match=said) as caught:
            verb(given, spec())
        assert "a DataFrame of pandas, polars or Spark" in str(caught.value)
    with pytest.raises(UnsupportedError, match=said):
        kanon_sql.compare(given, {"a": spec()}, [2, 3])
    with pytest.raises(UnsupportedError, match=said):
        kanon_sql.init(given)
    if not isinstance(given, str):
        with pytest.raises(UnsupportedError, match="give a URL, a connection of DuckDB"):
            kanon_sql.connect(given)


@pytest.mark.slow
def test_a_source_beside_a_table_is_a_contradiction() -> None:
    for source in ("visits", {"query": "SELECT 1"}, {"file": "visits.csv"}):
        named = spec(source=source, release="released")
        for verb in (kanon_sql.anonymize, kanon_sql.plan, kanon_sql.risk):
            with pytest.raises(SpecError, match=r"source: the spec names one, and a pandas\S*DataFrame was given"):
                verb(table(), named)
        with pytest.raises(SpecError, match="the spec names one"):
            kanon_sql.compare(table(), {"a": named}, [2, 3])
        # The table to check is no source.
        assert kanon_sql.check(table(), named).release == "table"


@pytest.mark.slow
def test_what_needs_a_table_with_a_name_is_refused() -> None:
    cases = [
        ({"ledger": {"table": "seen"}}, "ledger: a release is compared with earlier ones"),
        (
            {"recoding": {"method": "local", "save_as": "kept"}},
            "recoding.save_as: the recoding would be saved in memory",
        ),
        (
            {"privacy": [{"m_invariance": {"attribute": "dx", "m": 2, "history": "seen"}}], "unit": "x", "keep": []},
            "m_invariance: a release is compared with earlier ones",
        ),
    ]
    for changed, said in cases:
        if "unit" in changed:
            changed["suppression"] = None
        with pytest.raises(SpecError, match=said):
            kanon_sql.anonymize(table(), spec(release="released", **changed))
    assert kanon_sql.plan(table(), spec(release="released", ledger={"table": "seen"})).passed
    found = as_ibis(False)()
    asked = spec(release="released", ledger={"table": "seen"})
    assert kanon_sql.anonymize(found, asked).ledger is not None
    with pytest.raises(SpecError, match="ledger: a release is compared"):
        kanon_sql.anonymize(found.filter(found.age > 30), asked)
    with pytest.raises(SpecError, match="population: the source is a table in memory"):
        kanon_sql.risk(table(), spec(), population="others")
    with pytest.raises(SpecError, match="audit: the release is missing"):
        kanon_sql.audit(table(), spec())


def test_a_spec_without_a_source_needs_a_table(database: Any, tmp_path: Any) -> None:
    database.table("visits", NAMES, [])
    for verb in (kanon_sql.plan, kanon_sql.risk):
        with pytest.raises(SpecError, match="source: missing, and it is needed here"):
            verb(database.engine, spec())
    path = tmp_path / "spec.yml"
    path.write_text("version: 1\nquasi_identifiers: {age: {intervals: [5]}}\nprivacy: [{k_anonymity: 2}]\n")
    assert kanon_sql.Spec.load(path).to_dict()["source"] is None
    assert kanon_sql.Spec.from_dict(kanon_sql.Spec.load(path).to_dict()) == kanon_sql.Spec.load(path)
    refused = run("plan", path)
    assert refused.exit_code == 2
    assert f"{path}:1:1: missing 'source'; add the table or view to anonymize" in refused.stderr.replace("\n", "")


_ONE_NANOSECOND = [0, 1, 0, 1]


_LONG_DECIMALS = [Decimal(f"1{'0' * 44}{digit}") for digit in "1212"]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.to_datetime(_ONE_NANOSECOND, utc=True)),
        pd.Series([pd.Timestamp(n, tz="UTC") for n in _ONE_NANOSECOND], dtype=object),
        pd.Series(pd.to_timedelta(_ONE_NANOSECOND)),
        pd.Series(pa.array(_ONE_NANOSECOND, pa.duration("ns")), dtype=pd.ArrowDtype(pa.duration("ns"))),
        pd.Series(_LONG_DECIMALS, dtype=object),
        pl.Series(_ONE_NANOSECOND).cast(pl.Duration("ns")),
        pa.array(_ONE_NANOSECOND, pa.duration("ns")),
        pa.array([[n] for n in _ONE_NANOSECOND], pa.list_(pa.duration("ns"))),
        pa.array(_ONE_NANOSECOND, pa.int64()).view(pa.date64()),
        pa.array([pa.MonthDayNano([0, 0, n]) for n in _ONE_NANOSECOND], pa.month_day_nano_interval()),
    ],
    ids=lambda column: (
        f"{type(column).__module__.split('.')[0]} {getattr(column, 'dtype', getattr(column, 'type', ''))}"
    ),
)
def test_values_that_duckdb_would_make_one_are_refused(column: Any) -> None:
    """Four rows in two classes of two, which are one class of four once they are rounded: 3-anonymous in silence."""
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[type(column).__module__.split(".")[0]]
    asked = {"version": 1, "quasi_identifiers": {"when": None}, "privacy": [{"k_anonymity": 3}]}
    with pytest.raises(SpecError, match="the column 'when' holds") as raised:
        kanon_sql.check(frame({"when": column}), kanon_sql.Spec.from_dict(asked))
    assert "round them" in str(raised.value)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"when": pd.to_timedelta([0, 1_000, 0, 1_000])}),
        pd.DataFrame({"when": pd.to_datetime([0, 1_000, 0, 1_000], utc=True)}),
        pl.DataFrame({"when": pl.Series([0, 1_000, 0, 1_000]).cast(pl.Duration("ns"))}),
        pa.table({"when": pa.array([0, 86_400_000, 0, 86_400_000], pa.date64())}),
        pa.table({"when": pa.array([0, 1, 0, 1], pa.timestamp("ns"))}),
        pd.DataFrame({"when": pd.to_datetime([0, 1, 0, 1])}),
        pd.DataFrame({"when": [Decimal(f"{'9' * 37}{digit}") for digit in "1212"]}),
    ],
    ids=["timedelta", "zone", "polars", "date64", "arrow ns", "pandas ns", "38 digits"],
)
def test_values_that_duckdb_tells_apart_are_told_apart(frame: Any) -> None:
    asked = {"version": 1, "quasi_identifiers": {"when": None}, "privacy": [{"k_anonymity": 2}]}
    checked = kanon_sql.check(frame, kanon_sql.Spec.from_dict(asked))
    assert (checked.classes["count"], checked.classes["smallest"]) == (2, 2)
