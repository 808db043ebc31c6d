"""Tables that a program holds: pandas, polars, Arrow, DuckDB relations and ibis tables in, and releases out.

What must come out of a table is told by brute force with pandas, and by the same table in DuckDB.
"""

from __future__ import annotations

import datetime as dt
import pickle
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.errors import KanonError, SpecError, UnsupportedError
from tests.support.held_tables import NAMES, ROWS, as_ibis, in_duckdb, spec, table
from tests.support.strategies import TIMES


def as_relation(query: str) -> Callable[[], Any]:
    def made() -> Any:
        connection = duckdb.connect()
        in_duckdb(connection)
        return connection.sql(query)

    return made


def tables_of(connection: duckdb.DuckDBPyConnection) -> list[str]:
    query = "SELECT table_name FROM information_schema.tables ORDER BY 1"
    return [name for (name,) in connection.execute(query).fetchall()]


KINDS: dict[str, Callable[[], Any]] = {
    "pandas": table,
    "pandas with another index": lambda: table().set_index(pd.Index([f"p{i}" for i in range(len(ROWS))], name="who")),
    "pandas of objects": lambda: table().astype(object),
    "pandas of categories": lambda: table().astype({"zip": "category", "dx": "category", "age": "category"}),
    "pandas of nullable types": lambda: table().convert_dtypes(),
    "pandas of arrow types": lambda: table().convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.from_pandas(table()),
    "polars of categories": lambda: pl.from_pandas(table()).with_columns(pl.col("zip", "dx").cast(pl.Categorical)),
    "polars with NaN": lambda: pl.from_pandas(table()).with_columns(pl.col("x").fill_null(float("nan"))),
    "arrow": lambda: pa.Table.from_pandas(table(), preserve_index=False),
    "arrow batch": lambda: pa.RecordBatch.from_pandas(table(), preserve_index=False),
    "arrow of dictionaries": lambda: pa.table(
        {
            name: column.dictionary_encode() if name in ("zip", "dx") else column
            for name, column in zip(NAMES, pa.Table.from_pandas(table(), preserve_index=False).columns, strict=True)
        }
    ),
    "relation": as_relation("FROM visits"),
    "relation of a query": as_relation("SELECT * FROM visits WHERE age > 0 ORDER BY zip"),
    "ibis": as_ibis(False),
    "ibis query": as_ibis(True),
    "ibis in memory": lambda: ibis.memtable(table()),
}


def rows_of(frame: Any) -> Counter[tuple[Any, ...]]:
    """A pandas DataFrame's rows, what is missing as None."""
    plain = frame.astype(object).where(frame.notna(), None)
    return Counter(map(tuple, plain[NAMES].itertuples(index=False)))


@pytest.fixture(scope="module")
def expected() -> tuple[Any, Counter[tuple[Any, ...]]]:
    with duckdb.connect() as connection:
        in_duckdb(connection)
        result = kanon_sql.anonymize(kanon_sql.connect(connection), spec(source="visits", release="released"))
        assert result.passed
        assert result.rows["suppressed"] > 0
        return result, rows_of(connection.sql("FROM released").df())


CORE = ("pandas of categories", "polars with NaN", "arrow", "relation of a query", "ibis query")


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[] if kind in CORE else pytest.mark.slow) for kind in KINDS])
@pytest.mark.sampled(4)
@pytest.mark.slow
def test_the_same_table_has_the_same_answers_whatever_it_is(
    kind: str, expected: tuple[Any, Counter[tuple[Any, ...]]]
) -> None:
    wanted, rows = expected
    given = KINDS[kind]()
    result = kanon_sql.anonymize(given, spec(release="released"))
    for what in ("verdict", "node", "rows", "classes", "class_sizes", "achieved", "metrics", "mean_loss"):
        assert getattr(result, what) == getattr(wanted, what), what
    assert [item.code for item in result.warnings] == [item.code for item in wanted.warnings]
    assert rows_of(result.to_pandas()) == rows
    assert rows_of(result.to_polars().to_pandas()) == rows
    assert rows_of(result.to_arrow().to_pandas()) == rows
    kinds = {"arrow batch": pa.Table, "ibis in memory": pa.Table}
    assert isinstance(result.to_frame(), kinds.get(kind, type(given)))
    assert set(result.to_pandas().columns) == set(NAMES)
    assert kanon_sql.plan(given, spec()).node == wanted.node
    assert kanon_sql.check(result.to_frame(), spec()).passed
    assert kanon_sql.audit(given, spec(), table=result.to_frame()).rows == wanted.rows["released"]
    assert kanon_sql.risk(given, spec()).histogram.rows == len(ROWS)
    runs = kanon_sql.compare(given, {"visits": spec(privacy=[{"k_anonymity": 2}])}, [2, 6]).runs
    assert [run.k for run in runs] == [2, 6]
    assert all(run.passed for run in runs)


VALUES = st.tuples(
    st.sampled_from([20, 23, 27, 34, None, float("nan")]),
    st.sampled_from(["94101", "94102", "94207", None, float("nan"), pd.NA]),
    st.sampled_from(["flu", "cold", None, float("nan"), np.float32("nan"), pd.NaT]),
    st.sampled_from([1.0, 2.5, float("nan")]),
)


@pytest.mark.slow
@settings(max_examples=max(12, 100 * TIMES))
@given(
    rows=st.lists(VALUES, min_size=1, max_size=40),
    k=st.integers(2, 3),
    nulls=st.sampled_from(["value", "suppress"]),
    as_objects=st.booleans(),
)
def test_a_release_is_what_pandas_says_it_must_be(
    rows: list[tuple[Any, ...]], k: int, nulls: str, as_objects: bool
) -> None:
    """Brute force by groupby: large enough classes, diverse values among what is not missing, and no row is lost."""
    frame = pd.DataFrame(rows, columns=NAMES, dtype=object)
    if not as_objects:
        frame = frame.assign(age=pd.to_numeric(frame["age"]), x=frame["x"].astype("float64"))
    assume(not as_objects or frame["age"].notna().any())  # objects that are all missing are no numbers
    frame.index = [f"person {number}" for number in range(len(frame))]
    before = frame.copy(deep=True)
    requirements = [{"k_anonymity": k}, {"l_diversity": {"attribute": "dx", "l": 2}}]
    asked = spec(privacy=requirements, nulls=nulls, suppression={"max_share": 1.0})
    result = kanon_sql.anonymize(frame, asked)
    pd.testing.assert_frame_equal(frame, before)
    if not result.passed:
        with pytest.raises(UnsupportedError, match="there is no release to read"):
            result.to_pandas()
        return
    released = result.to_frame()
    assert list(released.index) == list(range(len(released)))
    assert len(released) + result.rows["suppressed"] == len(frame) == result.rows["source"]
    groups = released.groupby(["age", "zip"], dropna=False)
    assert all(groups.size() >= k)
    assert all(groups["dx"].nunique(dropna=True) >= 2)
    if nulls == "suppress":
        whole = frame[frame["age"].notna() & frame["zip"].notna()]
        assert released[["age", "zip"]].notna().all(axis=None)
        assert len(released) <= len(whole)
    left = Counter(map(tuple, frame[["dx", "x"]].astype(object).where(frame[["dx", "x"]].notna(), None).to_numpy()))
    kept = released[["dx", "x"]].astype(object)
    assert Counter(map(tuple, kept.where(kept.notna(), None).to_numpy())) <= left


@pytest.mark.slow
@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    "missing", [float("nan"), np.float32("nan"), np.datetime64("NaT"), pd.NaT, pd.NA, None, Decimal("NaN")]
)
def test_what_is_missing_protects_nobody(missing: Any) -> None:
    """A NaN taken for a value would make a class of one illness look like two of them."""
    illnesses = pd.Series(["flu", "flu", "flu", missing], dtype=object)
    frame = pd.DataFrame({"age": [30] * 4, "zip": ["94101"] * 4, "dx": illnesses, "x": [1.0] * 4})
    assert not kanon_sql.plan(frame, spec()).passed
    assert not kanon_sql.check(frame, spec()).passed


@pytest.mark.slow
def test_a_nan_of_a_float_column_protects_nobody_either() -> None:
    given = {"age": [30] * 4, "zip": ["94101"] * 4, "dx": [1.0, 1.0, 1.0, float("nan")], "x": [1.0] * 4}
    for frame in (pd.DataFrame(given), pl.DataFrame(given), pa.table(given)):
        assert not kanon_sql.check(frame, spec()).passed
    nullable = pd.DataFrame(given).assign(dx=pd.arrays.FloatingArray(np.array(given["dx"]), np.array([False] * 4)))
    assert not kanon_sql.check(nullable, spec()).passed


# --- What comes back, and what does not ---

KEPT: dict[str, Any] = {
    "int64": pd.array([2**60 + 1, 2, 3], "int64"),
    "Int64": pd.array([2**60 + 1, None, 3], "Int64"),
    "int8": pd.array([1, 2, 3], "int8"),
    "float32": pd.array([1.5, None, 3], "float32"),
    "Float64": pd.array([1.5, None, 3], "Float64"),
    "boolean": pd.array([True, None, False], "boolean"),
    "bool": pd.array([True, True, False], "bool"),
    "string": pd.array(["a", None, "é"], "string"),
    "str": pd.array(["a", None, "NaN"], "str"),
    "naive": pd.to_datetime(["2020-01-01 01:02:03", None, "1999-12-31 00:00:00"]),
    "nanoseconds": pd.array(np.array(["2020-01-01T00:00:00.123456789", "NaT", "1999-12-31"], "datetime64[ns]")),
    "zone": pd.to_datetime(["2020-01-01 01:02:03", None, "2020-07-01 00:00:00"]).tz_localize("Europe/Berlin"),
    "duration": pd.to_timedelta([1, None, 3], unit="h"),
    "decimal": pd.Series([Decimal("1.10"), None, Decimal("12345678901234.567")], dtype=object),
}


@pytest.mark.slow
@pytest.mark.sampled(14)
@pytest.mark.parametrize("kind", KEPT)
def test_a_kept_column_of_pandas_comes_back_as_it_was(kind: str) -> None:
    frame = pd.DataFrame({"age": [30, 30, 30], "zip": ["94101"] * 3, "dx": KEPT[kind]})
    result = kanon_sql.anonymize(frame, spec(keep=[], privacy=[{"k_anonymity": 3}]))
    released = result.to_pandas()["dx"]
    assert released.dtype == frame["dx"].dtype
    assert Counter(released.dropna()) == Counter(frame["dx"].dropna())
    assert released.isna().sum() == frame["dx"].isna().sum()


@pytest.mark.slow
def test_a_category_of_whole_numbers_stays_exact() -> None:
    """With a value missing, a number in between would be the nearest one that has a fraction."""
    frame = pd.DataFrame({"age": [30] * 3, "zip": ["94101"] * 3, "dx": pd.Categorical([2**60 + 1, None, 3])})
    released = kanon_sql.anonymize(frame, spec(keep=[], privacy=[{"k_anonymity": 3}])).to_pandas()["dx"]
    assert sorted(released.dropna()) == [3, 2**60 + 1]


@pytest.mark.slow
def test_objects_have_the_type_of_all_of_them_and_not_of_the_first_ones() -> None:
    values = [Decimal("1.5")] * 2_500
    values[1_237] = Decimal("123456789.012345")
    frame = pd.DataFrame({"age": 30, "zip": "94101", "dx": pd.Series(values, dtype=object)})
    released = kanon_sql.anonymize(frame, spec(keep=[], privacy=[{"k_anonymity": 3}])).to_pandas()["dx"]
    assert Counter(released) == Counter(values)


@pytest.mark.slow
def test_a_kept_column_of_polars_and_arrow_comes_back_as_it_was() -> None:
    moment = dt.datetime(2020, 7, 1, 1, 2, 3)
    values = {
        "integer": pl.Series([2**60 + 1, None, 3], dtype=pl.Int64),
        "small": pl.Series([1, None, 3], dtype=pl.UInt8),
        "zone": pl.Series([moment, None, moment]).dt.replace_time_zone("Europe/Berlin"),
        "decimal": pl.Series([Decimal("1.10"), None, Decimal("2.55")], dtype=pl.Decimal(10, 2)),
        "day": pl.Series([moment.date(), None, moment.date()]),
        "nothing": pl.Series([None, None, None], dtype=pl.Null),
    }
    frame = pl.DataFrame({"age": [30] * 3, "zip": ["94101"] * 3, **values})
    asked = spec(keep=list(values), sensitive=[], privacy=[{"k_anonymity": 3}])
    released = kanon_sql.anonymize(frame, asked).to_frame()
    in_arrow = kanon_sql.anonymize(frame.to_arrow(), asked).to_frame()
    for name, series in values.items():
        if name != "nothing":
            assert released.schema[name] == series.dtype
            assert in_arrow.schema.field(name).type == frame.to_arrow().schema.field(name).type
        assert sorted(released[name].drop_nulls()) == sorted(series.drop_nulls())
        assert sorted(in_arrow.column(name).drop_null().to_pylist()) == sorted(series.drop_nulls())


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_nothing_of_the_source_is_in_the_result(kind: str) -> None:
    """Neither a suppressed row nor a dropped column, an index, or a category that only such rows have."""
    rows = [*ROWS, (1, "00001", "hush", 1.0)]
    frame = (
        table(rows).assign(name=[f"hush{i}" for i in range(len(rows))]).astype({"dx": "category", "zip": "category"})
    )
    frame = frame.set_index(pd.Index([f"hush-hush {i}" for i in range(len(rows))], name="who"))
    if kind == "polars":
        frame = pl.from_pandas(frame.reset_index(drop=True))
    if kind == "arrow":
        frame = pa.Table.from_pandas(frame)
    result = kanon_sql.anonymize(frame, spec(identifiers=["name"]))
    assert result.passed
    assert b"hush" not in pickle.dumps(result)
    for made in (result.to_frame(), result.to_pandas(), result.to_polars(), result.to_arrow()):
        assert b"hush" not in pickle.dumps(made)
        assert "name" not in (made.column_names if isinstance(made, pa.Table) else list(made.columns))
    plain = pickle.loads(pickle.dumps(result))
    assert rows_of(plain.to_pandas()) == rows_of(result.to_pandas())
    assert not hasattr(kanon_sql.plan(frame, spec()), "to_pandas"), "it publishes nothing"
    assert not hasattr(kanon_sql.check(frame, spec()), "to_frame")


@pytest.mark.slow
def test_a_relation_of_a_release_stands_in_a_database_without_its_source() -> None:
    result = kanon_sql.anonymize(as_relation("FROM visits")(), spec())
    relation = result.to_frame()
    assert relation.filter("age IS NOT NULL").shape[0] > 0
    found = relation.query("released", "SELECT table_name FROM information_schema.tables WHERE table_type <> 'VIEW'")
    assert found.fetchall() == []


@pytest.mark.slow
def test_what_is_done_to_a_release_stays_outside_of_the_result() -> None:
    result = kanon_sql.anonymize(table(), spec())
    changed = result.to_frame()
    changed["age"] = "?"
    assert "?" not in set(result.to_frame()["age"])


@pytest.mark.slow
def test_a_failed_run_and_a_release_in_a_database_give_no_table() -> None:
    failed = kanon_sql.anonymize(table(), spec(privacy=[{"k_anonymity": 1000}], suppression={"max_rows": 0}))
    assert not failed.passed
    with pytest.raises(UnsupportedError, match="there is no release to read; nothing was published"):
        failed.to_arrow()
    with duckdb.connect() as connection:
        in_duckdb(connection)
        result = kanon_sql.anonymize(connection, spec(source="visits", release="released"))
        with pytest.raises(UnsupportedError, match="the release is the table released of the database"):
            result.to_polars()


@pytest.mark.slow
def test_two_calls_at_once_know_nothing_of_each_other() -> None:
    frames = [table(ROWS[: 100 + 40 * number]) for number in range(3)]
    wanted = [rows_of(kanon_sql.anonymize(frame, spec()).to_pandas()) for frame in frames]
    found: list[Any] = [None] * len(frames)

    def work(number: int) -> None:
        found[number] = rows_of(kanon_sql.anonymize(frames[number], spec()).to_pandas())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(frames))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == wanted


# --- The table to check, and others beside the source ---


@pytest.mark.slow
def test_a_table_to_check_is_a_release_with_all_that_follows() -> None:
    good = kanon_sql.anonymize(table(), spec()).to_frame()
    assert kanon_sql.check(good, spec()).passed
    named = good.assign(name="ada")
    result = kanon_sql.check(named, spec(identifiers=["name"]))
    assert not result.passed
    assert "it holds identifiers (name)" in result.message
    closeness = spec(privacy=[{"k_anonymity": 2}, {"t_closeness": {"attribute": "dx", "t": 0.9}}])
    with pytest.raises(SpecError, match="source: missing, and it is needed here"):
        kanon_sql.check(good, closeness)
    with duckdb.connect() as connection:
        in_duckdb(connection)
        connection.register("good", good)
        connection.execute("CREATE TABLE released AS FROM good")
        of_tables = kanon_sql.check(
            connection, kanon_sql.Spec.from_dict({**closeness.to_dict(), "source": "visits"}), "released"
        )
    of_frames = kanon_sql.check(table(), closeness, table=pl.from_pandas(good))
    assert of_frames.achieved == of_tables.achieved


@pytest.mark.slow
def test_others_may_be_tables_too() -> None:
    population = pa.Table.from_pandas(table([*ROWS, *ROWS]), preserve_index=False)
    risk = kanon_sql.risk(table(), spec(), population=population)
    assert risk.population == "population"
    assert risk.journalist is not None
    assert risk.journalist.highest == pytest.approx(risk.prosecutor.highest / 2)
    release = kanon_sql.anonymize(table(), spec()).to_frame()
    others: dict[str, Any] = {"external": pl.from_pandas(table()), "earlier": [release]}
    audit = kanon_sql.audit(table(), spec(), table=release, on=["age", "zip"], **others)
    assert "linking" in {attack.name for attack in audit.attacks}
    assert "complementary" not in audit.left_out


# --- Connections and tables in databases ---


@pytest.mark.slow
def test_a_published_release_has_its_name_from_the_spec() -> None:
    assert kanon_sql.anonymize(table(), spec()).release == "release"
    assert kanon_sql.anonymize(table(), spec(release="clinic.visits_release")).release == "visits_release"


@pytest.mark.slow
def test_an_ibis_table_is_read_and_released_in_its_backend() -> None:
    backend = ibis.duckdb.connect()
    in_duckdb(backend.con)
    found = backend.table("visits")
    with pytest.raises(SpecError, match="release: missing"):
        kanon_sql.anonymize(found, spec())
    result = kanon_sql.anonymize(found, spec(release="released"))
    assert result.to_frame().get_backend() is backend
    assert tables_of(backend.con) == ["kanon_sql_manifest", "kanon_sql_scratch", "released", "visits"]
    with pytest.raises(UnsupportedError, match="give a table of that backend, and no query"):
        kanon_sql.check(found.filter(found.age > 30), spec())
    with pytest.raises(UnsupportedError, match="table: cannot read a pandas"):
        kanon_sql.check(found, spec(), table=table())
    with pytest.raises(UnsupportedError, match="is not bound to one database"):
        kanon_sql.plan(ibis.table({"age": "int"}, name="nowhere"), spec())
    with pytest.raises(UnsupportedError, match="the connection of ibis's backend polars cannot be used"):
        kanon_sql.plan(ibis.polars.connect({"visits": pl.from_pandas(table())}).table("visits"), spec())


@pytest.mark.slow
def test_init_writes_a_spec_for_a_table() -> None:
    for made in (table(), pl.from_pandas(table()), as_ibis(False)()):
        text = kanon_sql.init(made)
        assert "\n# source: the table that is given beside this spec\n" in text
        written = kanon_sql.Spec.parse(text)
        assert not written.source.given
        assert kanon_sql.plan(made, written).rows["source"] == len(ROWS)
    with duckdb.connect() as connection:
        in_duckdb(connection)
        assert kanon_sql.Spec.parse(kanon_sql.init(connection, "visits")).source.table == ("visits",)
        with pytest.raises(SpecError, match="init: the table is missing"):
            kanon_sql.init(connection)


@pytest.mark.slow
def test_an_engine_of_somebody_elses_is_taken_as_it_is(database: Any) -> None:
    in_duckdb(database.connection)

    class Wrapped:
        def __init__(self, engine: Engine) -> None:
            self._engine = engine

        def __getattr__(self, name: str) -> Any:
            return getattr(self._engine, name)

    assert kanon_sql.plan(Wrapped(database.engine), spec(source="visits")).passed


# --- Libraries ---


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


RUN = """
import sys
import duckdb, kanon_sql
connection = duckdb.connect()
connection.execute("CREATE TABLE visits AS SELECT 20 + i % 40 AS age, i % 3 AS dx FROM range(200) AS t(i)")
spec = kanon_sql.Spec.from_dict({"version": 1, "quasi_identifiers": {"age": {"intervals": [5, 20]}},
    "sensitive": ["dx"], "privacy": [{"k_anonymity": 5}], "source": "visits", "release": "released"})
"""


@pytest.mark.slow
def test_no_library_is_imported_that_the_program_does_not_use() -> None:
    said = python(
        f"{RUN}assert kanon_sql.anonymize(connection, spec).passed\n"
        "others = ('pandas', 'polars', 'pyarrow', 'ibis', 'sqlalchemy', 'pyspark')\n"
        "print([name for name in others if name in sys.modules])"
    )
    assert said == "[]"


WITHOUT = """
sys.modules["pyarrow"] = sys.modules["polars"] = None
import pandas
frame = connection.sql("FROM visits").df()
spec = kanon_sql.Spec.from_dict({**spec.to_dict(), "source": None})
result = kanon_sql.anonymize(frame, spec)
assert len(result.to_frame()) == 200
for call in (result.to_arrow, result.to_polars, lambda: kanon_sql.plan(connection.sql("FROM visits"), spec)):
    try:
        call()
    except kanon_sql.KanonError as error:
        print(error)
"""


@pytest.mark.slow
def test_pandas_alone_is_enough_for_pandas() -> None:
    assert python(RUN + WITHOUT).splitlines() == [
        "pyarrow is not installed; pip install pyarrow",
        "polars is not installed; pip install polars",
        "pyarrow is not installed, and it is needed to read a DuckDB relation; pip install pyarrow",
    ]


@pytest.mark.slow
def test_a_given_table_is_published_as_a_file(tmp_path: Path) -> None:
    """The release is the file, and what it holds is what a table would."""
    frame = pd.DataFrame({"age": [20 + n % 7 for n in range(60)], "illness": ["flu", "ulcer", "asthma"] * 20})
    asked = {"version": 1, "quasi_identifiers": {"age": {"intervals": [2, 4]}}, "keep": ["illness"]}
    spec = {**asked, "privacy": [{"k_anonymity": 10}]}
    path = tmp_path / "out.parquet"
    result = kanon_sql.anonymize(frame, kanon_sql.Spec.from_dict({**spec, "release": {"file": str(path)}}))
    assert result.passed
    wanted = kanon_sql.anonymize(frame, kanon_sql.Spec.from_dict(spec)).to_pandas()
    order = ["age", "illness"]
    found = pd.read_parquet(path).sort_values(order, ignore_index=True)
    assert found.to_dict() == wanted.sort_values(order, ignore_index=True).to_dict()
    with pytest.raises(KanonError):
        result.to_frame()


_IN_ANOTHER_PROCESS = """
import sys
import ibis, ibis.backends.sql.dialects
import kanon_sql
spec = {"version": 1, "source": "t", "release": "r", "quasi_identifiers": {"a": None}, "privacy": [{"k_anonymity": 2}]}
sys.stdout.write(kanon_sql.render(kanon_sql.Spec.from_dict(spec), dialect=sys.argv[1]).text)
"""


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["clickhouse", pytest.param("mysql", marks=pytest.mark.slow)])
def test_sql_is_the_same_whatever_ibis_registers(dialect: str) -> None:
    """It registers dialects of its own under the names of those that the statements are written in."""
    found = []
    for program in (_IN_ANOTHER_PROCESS, _IN_ANOTHER_PROCESS.replace("import ibis, ibis.backends.sql.dialects\n", "")):
        ran = subprocess.run([sys.executable, "-c", program, dialect], capture_output=True, text=True, check=True)
        found.append(re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "", ran.stdout))
    assert found[0] == found[1]
    assert "SELECT" in found[0]
