"""Tables of Delta Lake and Iceberg, pyarrow datasets and directories of Parquet files as sources.

What must come out is told by plain Python over the rows that were written. What must not be read is spoiled in its
file, and read on purpose to see that it is.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import kanon_sql
from kanon_sql.engines import Deadline, lakes
from kanon_sql.engines.duckdb import DuckDBEngine
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from tests.servers import required
from tests.support.command_line import run
from tests.support.specs import QUIET

deltalake = required("delta", "deltalake")
pyiceberg = required("iceberg", "pyiceberg")

ROWS = [
    {
        "pid": i,
        "age": 20 + i * 37 % 40,
        "zip": str(94100 + i * 13 % 30),
        "dx": ("flu", "cold", None, "ulcer")[i * 7 // 3 % 4],
        "x": (1.5, None, 2.0)[i % 3],
        "extra": f"note {i}",
    }
    for i in range(240)
]
TYPES = pa.schema(
    [("pid", pa.int64()), ("age", pa.int64()), ("zip", pa.string()), ("dx", pa.string()), ("x", pa.float64()),
     ("extra", pa.string())]
)  # fmt: skip
SPEC: dict[str, Any] = {
    "version": 1,
    "unit": "pid",
    "quasi_identifiers": {"age": {"intervals": [10, 20]}, "zip": {"prefix": [4, 3]}},
    "sensitive": ["dx"],
    "keep": ["x"],
    "privacy": [{"k_anonymity": 4}],
    "suppression": {"max_share": 0.3},
    "warnings": QUIET,
}


def spec(**changed: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict({**SPEC, **changed})


def arrow(rows: list[dict[str, Any]] = ROWS) -> Any:
    return pa.Table.from_pylist(rows, schema=TYPES)


def delta(path: Path, rows: list[dict[str, Any]] = ROWS, **options: Any) -> Any:
    deltalake.write_deltalake(str(path), arrow(rows), configuration={}, **options)
    return deltalake.DeltaTable(str(path))


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Any]:
    from pyiceberg.catalog.memory import InMemoryCatalog

    made = InMemoryCatalog("tests", warehouse=f"file://{tmp_path}/warehouse")
    made.create_namespace("n")
    yield made
    made.close()


def iceberg(catalog: Any, rows: list[dict[str, Any]] = ROWS) -> Any:
    table = catalog.create_table("n.visits", schema=TYPES)
    table.append(arrow(rows))
    return table


def label(row: dict[str, Any], levels: dict[str, int]) -> tuple[Any, ...]:
    """A released row, by arithmetic; no row of these tests is masked."""
    width = (None, 10, 20)[levels["age"]] if levels["age"] < 3 else 0
    low = None if not width else row["age"] // width * width
    age = "*" if width == 0 else str(row["age"]) if width is None else f"[{low}, {low + width})"
    kept = (5, 4, 3, 0)[levels["zip"]]
    return age, row["zip"][:kept], row["dx"], row["x"]


def classes(rows: list[dict[str, Any]], levels: dict[str, int]) -> Counter[Any]:
    return Counter(label(row, levels)[:2] for row in rows)


def is_release_of(result: Any, rows: list[dict[str, Any]]) -> bool:
    """Whether what was released are the rows at the chosen levels, but for classes of fewer than four."""
    levels = dict(result.node)
    sizes = classes(rows, levels)
    expected = Counter(label(row, levels) for row in rows if sizes[label(row, levels)[:2]] >= 4)
    found = Counter(
        (row["age"], re.match(r"\d*", row["zip"])[0], row["dx"], row["x"])  # type: ignore[index]
        for row in result.to_frame().to_pylist()
    )
    return found == expected and result.rows["source"] == len(rows)


# --- One release, whatever holds the rows ----------------------------------------------------------------------------


def given(kind: str, tmp_path: Path, catalog: Any) -> tuple[Any, dict[str, Any] | None]:
    """A table, and what its manifest has to say of its version."""
    if kind == "delta":
        table = delta(tmp_path / "visits", ROWS[:100])
        deltalake.write_deltalake(table, arrow(ROWS[100:]), mode="append")
        table = deltalake.DeltaTable(str(tmp_path / "visits"))
        return table, {"format": "delta", "table": str(table.metadata().id), "version": 1}
    if kind == "dataset":
        (tmp_path / "files").mkdir()
        pq.write_table(arrow(ROWS[:100]), tmp_path / "files" / "1.parquet")
        pq.write_table(arrow(ROWS[100:]), tmp_path / "files" / "2.parquet")
        return ds.dataset(tmp_path / "files"), {"format": "dataset"}
    table = iceberg(catalog, ROWS[:100])
    table.append(arrow(ROWS[100:]))
    version = {"format": "iceberg", "table": str(table.metadata.table_uuid)}
    version["snapshot"] = str(table.current_snapshot().snapshot_id)
    return (table if kind == "iceberg" else table.scan()), version


KINDS = ["delta", "dataset", "iceberg", "scan of iceberg"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_the_release_is_that_of_the_rows_and_names_the_version(kind: str, tmp_path: Path, catalog: Any) -> None:
    table, version = given(kind, tmp_path, catalog)
    result = kanon_sql.anonymize(table, spec())
    assert is_release_of(result, ROWS)
    assert isinstance(result.to_frame(), pa.Table)
    assert result.to_frame().schema.field("x").type == pa.float64()
    assert result.manifest is not None
    assert result.manifest["source_version"] == version
    assert result.cost.rows_fetched < len(ROWS) / 2


@pytest.mark.parametrize("kind", ["delta", pytest.param("iceberg", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_other_verbs_and_other_tables(kind: str, tmp_path: Path, catalog: Any) -> None:
    table, _ = given(kind, tmp_path, catalog)
    sizes = classes(ROWS, {"age": 0, "zip": 0})
    found = kanon_sql.check(table, spec())
    assert (found.classes["count"], found.classes["smallest"]) == (len(sizes), min(sizes.values()))
    assert kanon_sql.plan(table, spec()).rows["source"] == len(ROWS)
    released = kanon_sql.anonymize(table, spec(unit=None)).to_frame()
    assert kanon_sql.audit(arrow(), spec(unit=None), table=released, external=table, on=["age", "zip"]).rows
    assert "age" in kanon_sql.init(table)


def test_nan_is_missing_as_in_every_table_of_a_program(tmp_path: Path) -> None:
    deltalake.write_deltalake(str(tmp_path / "labs"), pa.table({"age": [30] * 8, "x": [float("nan"), 1.5] * 4}))
    labs = deltalake.DeltaTable(str(tmp_path / "labs"))
    asked = kanon_sql.Spec.from_dict(
        {"version": 1, "quasi_identifiers": {"age": None}, "sensitive": ["x"],
         "privacy": [{"k_anonymity": 2}, {"l_diversity": {"attribute": "x", "l": 2}}]}
    )  # fmt: skip
    assert not kanon_sql.check(labs, asked).passed


# --- Only what is needed is read -------------------------------------------------------------------------------------


def spoil(path: Path, column: str) -> None:
    """Overwrite a column's bytes in a Parquet file."""
    about = pq.ParquetFile(path).metadata
    content = bytearray(path.read_bytes())
    for group in range(about.num_row_groups):
        for number in range(about.num_columns):
            chunk = about.row_group(group).column(number)
            if chunk.path_in_schema == column:
                start = chunk.dictionary_page_offset or chunk.data_page_offset
                content[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(bytes(content))


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_the_spec_does_not_name_is_not_read(kind: str, tmp_path: Path, catalog: Any) -> None:
    table, _ = given(kind, tmp_path, catalog)
    files = list(tmp_path.rglob("*.parquet"))
    assert len(files) == 2
    for path in files:
        spoil(path, "extra")
        with pytest.raises(Exception, match=r".+"):
            pq.read_table(path, columns=["extra"])
    assert is_release_of(kanon_sql.anonymize(table, spec()), ROWS)
    with pytest.raises(kanon_sql.KanonError):  # and what is read is spoiled
        kanon_sql.anonymize(table, spec(keep=["extra"]))


def test_a_filter_of_a_dataset_leaves_files_out(tmp_path: Path) -> None:
    table = delta(tmp_path / "visits", partition_by=["dx"])
    chosen = [row for row in ROWS if row["dx"] == "flu"]
    for path in (tmp_path / "visits").rglob("dx=[!f]*/*.parquet"):
        path.unlink()
    part = table.to_pyarrow_dataset().filter((pc.field("dx") == "flu") & (pc.field("age") >= 30))
    result = kanon_sql.anonymize(part, spec(privacy=[{"k_anonymity": 4}], suppression={"max_share": 0.9}))
    assert is_release_of(result, [row for row in chosen if row["age"] >= 30])


@pytest.mark.slow
def test_a_scan_of_iceberg_leaves_rows_files_and_columns_out(catalog: Any) -> None:
    table = iceberg(catalog, ROWS[:100])
    table.append(arrow(ROWS[100:]))
    scan = table.scan(row_filter="pid >= 100 and age < 50", selected_fields=("age", "zip", "dx", "x"))
    for task in table.scan(row_filter="pid < 100").plan_files():
        Path(task.file.file_path.removeprefix("file://")).write_bytes(b"")
    for task in scan.plan_files():
        spoil(Path(task.file.file_path.removeprefix("file://")), "extra")
    rows = [row for row in ROWS[100:] if row["age"] < 50]
    assert is_release_of(kanon_sql.anonymize(scan, spec(unit=None)), rows)
    with pytest.raises(
        SpecError, match="unit: pid: the source has no such column"
    ):  # the filter needs it, and the scan does not have it
        kanon_sql.plan(scan, spec())


# --- One version for a whole run -------------------------------------------------------------------------------------


def appended_before(monkeypatch: Any, name: str, append: Any) -> None:
    """Rows are appended to the table between the first reading and the second one."""
    original, done = DuckDBEngine.execute, []

    def execute(self: Any, statement: Any) -> None:
        if statement.name == name and not done:
            done.append(True)
            append()
        original(self, statement)

    monkeypatch.setattr(DuckDBEngine, "execute", execute)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_rows_that_come_while_it_runs_are_not_seen(kind: str, tmp_path: Path, catalog: Any, monkeypatch: Any) -> None:
    table, version = given(kind, tmp_path, catalog)

    def append() -> None:
        if kind == "delta":
            deltalake.write_deltalake(str(tmp_path / "visits"), arrow(ROWS[:50]), mode="append")
        else:
            catalog.load_table("n.visits").append(arrow(ROWS[:50]))

    appended_before(monkeypatch, "release/write", append)
    result = kanon_sql.anonymize(table, spec())
    assert is_release_of(result, ROWS)
    assert result.manifest["source_version"] == version  # type: ignore[index]
    later = deltalake.DeltaTable(str(tmp_path / "visits")) if kind == "delta" else catalog.load_table("n.visits")
    assert is_release_of(kanon_sql.anonymize(later, spec(unit=None)), ROWS + ROWS[:50])


@pytest.mark.slow
def test_a_directory_of_delta_is_read_in_its_newest_version_by_each_run(tmp_path: Path, monkeypatch: Any) -> None:
    """The same on a connection that stays open, which is left as it was."""
    delta(tmp_path / "visits")
    asked = spec(unit=None, source={"file": str(tmp_path / "visits")}, release="released")
    appended_before(
        monkeypatch,
        "release/write",
        lambda: deltalake.write_deltalake(str(tmp_path / "visits"), arrow(ROWS[:50]), mode="append"),
    )
    connection = duckdb.connect()
    with kanon_sql.connect(connection) as engine:
        for number, rows in ((0, 240), (1, 290)):
            result = kanon_sql.anonymize(engine, asked)
            assert (result.rows["source"], result.manifest["source_version"]["version"]) == (rows, number)  # type: ignore[index]
    (recorded,) = connection.execute(
        "SELECT manifest FROM kanon_sql_manifest ORDER BY published_at DESC, length(manifest) LIMIT 1"
    ).fetchone()  # type: ignore[misc]
    assert json.loads(recorded)["source_version"]["format"] == "delta"
    left = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    assert left == []


@pytest.mark.slow
def test_runs_inside_of_a_run_read_the_version_that_it_reads(tmp_path: Path) -> None:
    """As the runs of ``compare`` are, and the questions of a page, which says itself when to read anew."""
    path = str(tmp_path / "visits")
    delta(tmp_path / "visits")
    asked, rows = spec(source={"file": path}), []

    def look(engine: Any) -> None:
        rows.append(kanon_sql.plan(engine, asked).rows["source"])

    with kanon_sql.connect() as engine:
        with engine.run(Deadline(None)):
            look(engine)
            deltalake.write_deltalake(path, arrow(ROWS[:50]), mode="append")
            look(engine)
            engine.read_newest()
            look(engine)
            deltalake.write_deltalake(path, arrow(ROWS[:50]), mode="append")
            look(engine)
        look(engine)
    assert rows == [240, 240, 290, 290, 340]


@pytest.mark.slow
def test_an_older_version_is_read_where_it_is_asked_for(tmp_path: Path) -> None:
    delta(tmp_path / "visits", ROWS[:200])
    deltalake.write_deltalake(str(tmp_path / "visits"), arrow(ROWS[200:]), mode="append")
    older = deltalake.DeltaTable(str(tmp_path / "visits"), version=0)
    assert is_release_of(kanon_sql.anonymize(older, spec()), ROWS[:200])


# --- What a dataset would read wrongly -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("protocol", "configuration", "named"),
    [
        ({"minReaderVersion": 2, "minWriterVersion": 5}, {"delta.columnMapping.mode": "name"}, "columnMapping"),
        (
            {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["deletionVectors"],
             "writerFeatures": ["deletionVectors"]}, {}, "deletionVectors",
        ),
        (
            {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["timestampNtz", "columnMapping"],
             "writerFeatures": ["timestampNtz", "columnMapping"]}, {"delta.columnMapping.mode": "id"}, "columnMapping",
        ),
    ],
)  # fmt: skip
def test_delta_whose_files_alone_do_not_say_what_its_rows_are(
    protocol: dict[str, Any], configuration: dict[str, str], named: str, tmp_path: Path
) -> None:
    delta(tmp_path / "visits")
    (log,) = (tmp_path / "visits" / "_delta_log").glob("*.json")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "protocol" in line:
            line["protocol"] = protocol
        if "metaData" in line:
            line["metaData"]["configuration"] = configuration
            schema = json.loads(line["metaData"]["schemaString"])
            for number, field in enumerate(schema["fields"] if configuration else [], start=1):
                field["metadata"] = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": f"c{number}"}
            line["metaData"]["schemaString"] = json.dumps(schema)
    log.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(UnsupportedError, match=f"source: the Delta table uses {named}, so its files alone"):
        kanon_sql.plan(deltalake.DeltaTable(str(tmp_path / "visits")), spec())
    plan = run("plan", written(tmp_path, {"file": "visits"}))
    assert (plan.exit_code, named in plan.stderr) == (2, True)


@pytest.mark.slow
def test_columns_of_iceberg_are_found_by_id(catalog: Any) -> None:
    """Two columns exchange their names, and one is added: a file of before has the old names."""
    table = iceberg(catalog, ROWS[:120])
    with table.update_schema() as change:
        change.rename_column("dx", "passing")
        change.rename_column("extra", "dx")
    with table.update_schema() as change:
        change.rename_column("passing", "extra")
    expected = [{**row, "dx": row["extra"], "extra": row["dx"]} for row in ROWS[:120]]
    assert is_release_of(kanon_sql.anonymize(table, spec()), expected)
    table.append(arrow(ROWS[120:]))
    assert is_release_of(kanon_sql.anonymize(table, spec()), expected + ROWS[120:])
    with table.update_schema() as change:
        from pyiceberg.types import StringType

        change.add_column("later", StringType())
    result = kanon_sql.anonymize(table, spec(keep=["x", "later"])).to_frame()
    assert set(result.column("later").to_pylist()) == {None}


@pytest.mark.slow
def test_rows_that_were_deleted_from_iceberg_are_gone(catalog: Any) -> None:
    table = iceberg(catalog)
    table.delete("age < 30")
    assert is_release_of(kanon_sql.anonymize(table, spec()), [row for row in ROWS if row["age"] >= 30])


def test_files_are_scanned_only_where_they_alone_say_what_the_rows_are(catalog: Any) -> None:
    """A table with files of deletes, which pyiceberg writes none of, one of another format, and a limit."""
    table = iceberg(catalog)
    assert lakes._files_as_they_are(table.scan()) is not None
    assert lakes._files_as_they_are(table.scan(limit=5)) is None

    class Scan:
        def __init__(self, **changed: Any) -> None:
            self._changed = changed

        def __getattr__(self, name: str) -> Any:
            return getattr(table.scan(), name)

        def plan_files(self) -> list[Any]:
            (task,) = table.scan().plan_files()
            return [SimpleNamespace(**{"file": task.file, "delete_files": set(), **self._changed})]

    assert lakes._files_as_they_are(Scan()) is not None
    assert lakes._files_as_they_are(Scan(delete_files={"a file"})) is None
    orc = SimpleNamespace(file_path="x", file_format=SimpleNamespace(value="ORC"))
    assert lakes._files_as_they_are(Scan(file=orc)) is None


def test_types_finer_than_duckdbs_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1], "spell": pa.array([1], pa.duration("ns"))}), tmp_path / "a.parquet")
    with pytest.raises(SpecError, match=r"source: the column 'spell' is of the type duration\[ns\]"):
        kanon_sql.plan(ds.dataset(tmp_path / "a.parquet"), spec())


def test_finer_types_in_a_dictionary_are_refused() -> None:
    table = pa.table({"age": [1, 1], "spell": pa.array([1, 2], pa.int64()).cast(pa.duration("ns")).dictionary_encode()})
    for given in (table, ds.dataset(table)):
        with pytest.raises(SpecError, match="source: the column 'spell' "):
            kanon_sql.plan(given, spec())


@pytest.mark.parametrize("kind", [pa.float16(), pa.decimal256(60, 10)])
def test_a_dataset_of_types_that_duckdb_has_not_is_refused(kind: Any) -> None:
    table = pa.table({"age": [1], "size": pa.array([1]).cast(pa.float32()).cast(kind)})
    with pytest.raises(SpecError, match="source: a column holds values that DuckDB cannot read"):
        kanon_sql.plan(ds.dataset(table), spec())


def test_two_names_that_differ_in_case_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1], "AGE": [2]}), tmp_path / "a.parquet")
    with pytest.raises(SpecError, match="there are several columns 'age'"):
        kanon_sql.plan(ds.dataset(tmp_path / "a.parquet"), spec())


@pytest.mark.parametrize(("module", "source"), [("deltalake", {"file": "visits"}), ("pyarrow", None)])
def test_a_missing_library_is_named(module: str, source: Any, tmp_path: Path, monkeypatch: Any) -> None:
    table = delta(tmp_path / "visits")
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnsupportedError, match=rf'{module} is not installed; .*pip install "\.\[delta\]"'):
        kanon_sql.plan(table if source is None else kanon_sql.connect(), spec(source=source))


# --- Directories -----------------------------------------------------------------------------------------------------


def written(folder: Path, source: dict[str, str]) -> Path:
    path = folder / "spec.yml"
    path.write_text(json.dumps({**SPEC, "unit": None, "source": source, "release": "released"}))
    return path


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["plain", "a [b] c*", "it's"])
def test_a_directory_of_parquet_files_is_a_source(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    (folder / "year=2024").mkdir(parents=True)
    pq.write_table(arrow(ROWS[:100]), folder / "1.parquet")
    pq.write_table(arrow(ROWS[100:]), folder / "year=2024" / "2.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "notes.txt").write_text("not a table")
    assert kanon_sql.plan(kanon_sql.connect(), spec(source={"file": str(folder)})).rows["source"] == len(ROWS)
    path = written(tmp_path, {"file": name})
    done = run("anonymize", path, "-d", tmp_path / "out.duckdb")
    assert done.exit_code == 0, done.output
    with duckdb.connect(str(tmp_path / "out.duckdb")) as connection:
        ((rows,),) = connection.execute("SELECT count(*) FROM released").fetchall()
    assert f"published {rows} of 240 rows" in done.stdout
    assert f"source: {{file: {name}" in run("init", folder).stdout.replace(str(tmp_path) + "/", "").replace('"', "")


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (None, "is a directory without a file that ends in .parquet; for CSV files write a pattern, such as"),
        ("a.csv", "is a directory without a file that ends in .parquet; for CSV files write a pattern, such as"),
        ("metadata/00000-a.metadata.json", "is a table of Apache Iceberg, whose files alone do not determine"),
    ],
)
def test_another_directory_is_refused(file: str | None, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    if file is not None:
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text("{}")
    with pytest.raises(SpecError, match=re.escape(said)):
        kanon_sql.plan(kanon_sql.connect(), spec(source={"file": str(folder)}))
    done = run("plan", written(tmp_path, {"file": "files"}))
    assert (done.exit_code, said[:40] in " ".join(done.stderr.split())) == (2, True)


@pytest.mark.parametrize(
    ("file", "beside", "source", "said"),
    [
        ("_temporary/0/part.parquet", "", "files", "_temporary/0/part.parquet would be read"),
        (".part.parquet", "", "files", ".part.parquet would be read"),
        ("y=1/._part.parquet", "", "files", "y=1/._part.parquet would be read"),
        ("one/data.parquet", "one/_delta_log", "files", "files/one, a table of Delta Lake or"),
        ("one/data/x.parquet", "one/metadata/1.metadata.json", "files", "files/one, a table of Delta Lake or"),
        ("part.parquet", "_delta_log", "files/*.parquet", "it is inside a table of Delta Lake or"),
        ("part.parquet", "_delta_log", "files/part.parquet", "it is inside a table of Delta Lake or"),
        ("y=1/part.parquet", "_delta_log", "files/y=1", "it is inside a table of Delta Lake or"),
        ("data/part.parquet", "metadata/1.metadata.json", "files/data", "it is inside a table of Delta Lake or"),
        (
            "data/part.parquet",
            "metadata/1.metadata.json",
            "files/**/*.parquet",
            "it is inside a table of Delta Lake or",
        ),
    ],
)
def test_files_that_may_hold_a_row_twice_are_refused(
    file: str, beside: str, source: str, said: str, tmp_path: Path
) -> None:
    """What a killed writer left, and what a later version replaced: every row of the source is there once more."""
    folder = tmp_path / "files"
    (folder / file).parent.mkdir(parents=True)
    pq.write_table(arrow(ROWS[:100]), folder / file)
    if beside.endswith(".json"):
        (folder / beside).parent.mkdir(parents=True)
        (folder / beside).write_text("{}")
    elif beside:
        (folder / beside).mkdir()
    with pytest.raises(SpecError, match=re.escape(said)):
        kanon_sql.plan(kanon_sql.connect(), spec(source={"file": str(tmp_path / source)}))


@pytest.mark.parametrize("source", ["files", "files/*.parquet", "files/**/*.parquet"])
@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_link_to_another_file_of_the_source_is_refused(source: str, link: str, tmp_path: Path) -> None:
    """Such as ``latest``: each row would be a class of two."""
    folder = tmp_path / "files"
    folder.mkdir()
    pq.write_table(arrow(ROWS[:100]), folder / "january.parquet")
    getattr(folder / "latest.parquet", link)(folder / "january.parquet")
    with pytest.raises(SpecError, match="are one file by two names, and its rows would count twice"):
        kanon_sql.plan(kanon_sql.connect(), spec(source={"file": str(tmp_path / source)}))
    (folder / "january.parquet").rename(tmp_path / "january.parquet")  # where the source does not reach
    if link == "hardlink_to":
        assert kanon_sql.plan(kanon_sql.connect(), spec(source={"file": str(tmp_path / source)})).rows["source"] == 100


@pytest.mark.parametrize("ending", ["", ".parquet", "*.parquet"])
def test_a_name_that_no_file_can_have_is_no_traceback(ending: str) -> None:
    with pytest.raises((SpecError, DatabaseError)):
        kanon_sql.plan(kanon_sql.connect(), spec(source={"file": f"/tmp/{'a' * 5000}{ending}"}))


def test_a_column_of_partitions_may_begin_with_an_underscore(tmp_path: Path) -> None:
    (tmp_path / "files" / "_day=1").mkdir(parents=True)
    pq.write_table(arrow(ROWS[:100]), tmp_path / "files" / "_day=1" / "part.parquet")
    assert kanon_sql.plan(kanon_sql.connect(), spec(source={"file": str(tmp_path / "files")})).rows["source"] == 100


def test_a_log_that_is_broken_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "visits" / "_delta_log").mkdir(parents=True)
    done = run("plan", written(tmp_path, {"file": "visits"}))
    assert done.exit_code == 2
    assert "deltalake cannot open the table (TableNotFoundError); check that its _delta_log is complete" in done.stderr
