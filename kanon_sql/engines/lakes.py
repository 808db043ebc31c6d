"""Tables of Delta Lake and Apache Iceberg, and pyarrow datasets, as what DuckDB scans.

DuckDB asks a dataset for the columns of a statement and hands its filters on, so that other columns are not read, and
rows pass through Arrow's buffers alone. A dataset lists the files of one version of its table, so that what is written
meanwhile is not seen. What it would read wrongly is refused or, of Iceberg, copied by pyiceberg's own reader.

Sources: the protocol of Delta Lake, sections "Column Mapping" and "Deletion Vectors"; the Iceberg table spec, sections
"Column Projection" (columns are found by id, not by name) and "Scan Planning".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from kanon_sql.engines.lossless import refuse_finer_types
from kanon_sql.errors import UnsupportedError
from kanon_sql.version import how_to_install

__all__ = ["LAKES", "Lake", "LakeKind", "delta_at", "is_delta", "lake_of"]

LakeKind = Literal["delta", "iceberg", "dataset"]
"""Of :data:`~kanon_sql.engines.object_kinds.TableKind` those that are scanned where they are."""

LAKES: tuple[LakeKind, ...] = ("delta", "iceberg", "dataset")

_READ = {"timestampNtz", "variantType", "variantType-preview"}
"""Features of Delta that change nothing of how a Parquet file is read."""


@dataclass(frozen=True)
class Lake:
    """What DuckDB reads.

    Attributes:
        data: a pyarrow dataset, or a reader of batches, which can be read once.
        schema: its schema, of Arrow.
        columns: the names of those that are the table's; a filter may need others.
        once: whether it has to be copied, since it can be read once.
        version: what was read: the format, and where the format has them the table's id and the version.
    """

    data: Any
    schema: Any
    columns: tuple[str, ...]
    once: bool
    version: Mapping[str, str | int]


def lake_of(given: Any, kind: LakeKind, shown: str) -> Lake:
    """A table that a program gives.

    Args:
        given: a deltalake DeltaTable; a Table or DataScan of pyiceberg; a pyarrow Dataset, filtered or not.
        kind: which of these it is.
        shown: what messages call it.

    Raises:
        UnsupportedError: pyarrow is not installed, or it would read other rows than the table has.
        SpecError: a column holds what DuckDB would round.
    """
    if kind != "dataset":  # a dataset is pyarrow's own
        _need("pyarrow", kind)
    made: Mapping[LakeKind, Callable[[], Lake]] = {
        "delta": lambda: _delta(given, shown),
        "iceberg": lambda: _iceberg(given),
        "dataset": lambda: Lake(given, given.schema, tuple(given.schema.names), False, {"format": "dataset"}),
    }
    found = made[kind]()
    refuse_finer_types(found.schema, shown)
    return found


def is_delta(path: str) -> bool:
    """Whether a path is a directory with a table of Delta Lake."""
    return (Path(path) / "_delta_log").is_dir()


def delta_at(path: str) -> Lake:
    """The newest version of a table of Delta Lake in a directory.

    Raises:
        UnsupportedError: deltalake is not installed, or the table cannot be read rightly.
    """
    _need("deltalake", "delta")
    deltalake = import_module("deltalake")
    shown = f"source file {path}"
    try:
        table = deltalake.DeltaTable(path)
    except Exception as error:  # of the library's own kinds; a log that is broken
        raise UnsupportedError(
            f"{shown}: deltalake cannot open the table ({type(error).__name__}); check that its _delta_log is complete"
        ) from None
    return lake_of(table, "delta", shown)


def _need(module: str, extra: str) -> None:
    try:
        import_module(module)
    except ImportError:
        raise UnsupportedError(f"{module} is not installed; {how_to_install(extra)}") from None


# --- Delta Lake ------------------------------------------------------------------------------------------------------


def _delta(table: Any, shown: str) -> Lake:
    """The version that the object stands at."""
    protocol, about = table.protocol(), table.metadata()
    mapped = about.configuration.get("delta.columnMapping.mode", "none")
    features = sorted({*(protocol.reader_features or ())} - _READ)
    if mapped != "none" and "columnMapping" not in features:
        features.insert(0, "columnMapping")  # of the older protocol, by which a dataset would find columns of NULL
    if features or protocol.min_reader_version > 3:
        found = ", ".join(features) or f"reader version {protocol.min_reader_version}"
        raise UnsupportedError(
            f"{shown}: the Delta table uses {found}, so its files alone do not determine its rows; rewrite it "
            "without (REORG TABLE ... APPLY (PURGE) for deletion vectors), or read it with an engine that "
            "supports this, such as Spark"
        )
    dataset = table.to_pyarrow_dataset()
    version: dict[str, str | int] = {"format": "delta", "table": str(about.id), "version": int(table.version())}
    return Lake(dataset, dataset.schema, tuple(dataset.schema.names), False, version)


# --- Apache Iceberg --------------------------------------------------------------------------------------------------


def _iceberg(given: Any) -> Lake:
    """The snapshot that a table or a scan stands at."""
    scan = given if hasattr(given, "plan_files") else given.scan()  # what the table's metadata were when it was loaded
    snapshot, columns = scan.snapshot(), tuple(scan.projection().column_names)
    version: dict[str, str | int] = {"format": "iceberg", "table": str(scan.table_metadata.table_uuid)}
    if snapshot is not None:
        version["snapshot"] = str(snapshot.snapshot_id)  # of more digits than JSON's numbers have everywhere
    dataset = _files_as_they_are(scan)
    if dataset is not None:
        return Lake(dataset, dataset.schema, columns, False, version)
    reader = scan.to_arrow_batch_reader()
    return Lake(reader, reader.schema, columns, True, version)


def _files_as_they_are(scan: Any) -> Any:
    """A dataset of a scan's files; None where these alone do not say what its rows are.

    Iceberg finds columns by id: a file from before a column was renamed, added or widened has it under another name,
    not at all, or of another type; and files of deletes take rows away. So all files have to have every column as it is
    now, and no deletes.
    """
    pio, dataset = import_module("pyiceberg.io.pyarrow"), import_module("pyarrow.dataset")
    if scan.limit is not None or not isinstance(scan.io, pio.PyArrowFileIO):
        return None
    tasks = list(scan.plan_files())
    if not tasks or any(task.delete_files or str(task.file.file_format.value) != "PARQUET" for task in tasks):
        return None
    wanted, condition = _fields(scan)
    schema = pio.schema_to_pyarrow(type(scan.projection())(*wanted))
    format_, fragments = dataset.ParquetFileFormat(), []
    for task in tasks:
        scheme, place, path = pio.PyArrowFileIO.parse_location(task.file.file_path)
        filesystem = scan.io.fs_by_scheme(scheme, place)
        fragment = format_.make_fragment(path, filesystem=filesystem)
        if not _has(fragment.physical_schema, schema):
            return None
        fragments.append(fragment)
    found = dataset.FileSystemDataset(fragments, schema.remove_metadata(), format_, filesystem)
    return found if condition is None else found.filter(condition)


def _fields(scan: Any) -> tuple[list[Any], Any]:
    """The columns of a scan and of its filter, and the filter as an expression of Arrow; None where there is none."""
    expressions, visitors = import_module("pyiceberg.expressions"), import_module("pyiceberg.expressions.visitors")
    fields = {field.field_id: field for field in scan.projection().fields}
    if isinstance(scan.row_filter, expressions.AlwaysTrue):
        return list(fields.values()), None
    every = scan.update(selected_fields=("*",)).projection()
    bound = visitors.bind(every, scan.row_filter, case_sensitive=scan.case_sensitive)
    for number in visitors.extract_field_ids(bound):
        fields.setdefault(number, every.find_field(number))
    return list(fields.values()), import_module("pyiceberg.io.pyarrow").expression_to_pyarrow(bound, every)


def _has(physical: Any, schema: Any) -> bool:
    """Whether a file has every column under its name, with its id and its type."""
    types = sys.modules["pyarrow"].types
    for field in schema:
        position = physical.get_field_index(field.name)  # -1 where there are several, too
        if position < 0 or types.is_nested(field.type):
            return False
        there = physical.field(position)
        if _id(there) is None or _id(there) != _id(field) or str(there.type) != str(field.type).removeprefix("large_"):
            return False
    return True


def _id(field: Any) -> bytes | None:
    found: bytes | None = (field.metadata or {}).get(b"PARQUET:field_id")
    return found
