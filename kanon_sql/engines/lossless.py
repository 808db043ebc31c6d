"""Values of tables in memory that DuckDB would read as others: two of them could become one, and a class seem larger.

DuckDB tells intervals, and times with a zone, apart by microseconds, and decimals by 38 digits. What is finer is
refused by column, and not rounded in silence.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from kanon_sql.engines.base import Column
from kanon_sql.errors import SpecError

__all__ = ["refuse_fewer_digits", "refuse_finer", "refuse_finer_types"]

_DAY = 86_400_000
"""Milliseconds."""


def refuse_finer(plain: Any, shown: str) -> None:
    """Refuse times that are finer than DuckDB's.

    Args:
        plain: a table of pandas, polars or Arrow that is about to be copied.
        shown: what to call it.

    Raises:
        SpecError: a column has some; it is named, and its values are not.
    """
    finer = next(_finer_of_pandas(plain) if hasattr(plain, "iloc") else _finer_of_arrow(_arrow_of(plain)), None)
    if finer is not None:
        raise SpecError(
            f"{shown}: the column {finer!r} holds times that are finer than a microsecond, or dates with a time, "
            "which DuckDB cannot distinguish; round them, or convert them to whole numbers"
        )


def refuse_finer_types(schema: Any, shown: str) -> None:
    """Refuse a table whose values are not looked at here, where its types may hold times that are finer than DuckDB's.

    Args:
        schema: of Arrow.
        shown: what to call the table.

    Raises:
        SpecError: a column has such a type.
    """
    types = sys.modules["pyarrow"].types
    for field in schema:
        if any(_may_be_finer(types, inner) for inner in _within(field.type)):
            raise SpecError(
                f"{shown}: the column {field.name!r} is of the type {field.type}, which may hold times that "
                "DuckDB cannot distinguish; cast it, or do not scan it"
            )


def refuse_fewer_digits(decimals: list[Any], columns: list[Column], shown: str) -> None:
    """Refuse decimals that were read as floating-point numbers.

    Args:
        decimals: the columns that hold decimals.
        columns: what DuckDB made of the table.
        shown: what to call it.

    Raises:
        SpecError: there is such a column.
    """
    lost = next((column.name for column in columns if column.name in decimals and column.kind == "float"), None)
    if lost is not None:
        raise SpecError(
            f"{shown}: the column {lost!r} holds decimals of more than the 38 digits that DuckDB can distinguish; "
            "round them, or convert them to text"
        )


def _finer_of_pandas(frame: Any) -> Iterator[str]:
    for name in frame.columns:
        dtype = str(frame[name].dtype)
        if dtype.endswith("[pyarrow]"):
            pyarrow = sys.modules["pyarrow"]
            yield from _finer_of_arrow(pyarrow.table({name: pyarrow.array(frame[name])}))
            continue
        moments = dtype.startswith("datetime64[ns,")
        if (moments or dtype.startswith("timedelta64[ns")) and _any_nanoseconds(frame[name], moments=moments):
            yield name


def _any_nanoseconds(series: Any, *, moments: bool) -> bool:
    parts = series.dt.nanosecond if moments else series.dt.nanoseconds
    return bool((parts.fillna(0) != 0).any())


def _arrow_of(frame: Any) -> Any:
    """A table of Arrow; of polars with the columns alone that may hold durations."""
    if not hasattr(frame, "to_arrow"):
        return frame
    return frame.select([name for name, dtype in frame.schema.items() if "Duration" in str(dtype)]).to_arrow()


def _finer_of_arrow(table: Any) -> Iterator[str]:
    types = sys.modules["pyarrow"].types
    for position, field in enumerate(table.schema):
        if _is_plain(types, field.type):
            if _is_finer(types, table.column(position), field.type):
                yield field.name
        elif any(_may_be_finer(types, inner) for inner in _within(field.type)):
            yield field.name


def _is_plain(types: Any, kind: Any) -> bool:
    return bool(types.is_duration(kind) or types.is_date64(kind))


def _is_finer(types: Any, values: Any, kind: Any) -> bool:
    """Whether a column of durations or of dates in milliseconds holds some that DuckDB would round."""
    if types.is_duration(kind) and kind.unit != "ns":
        return False
    step = 1_000 if types.is_duration(kind) else _DAY
    compute, whole = _compute(), values.cast("int64")
    rounded = compute.multiply(compute.divide(whole, step), step)
    return bool(compute.any(compute.not_equal(whole, rounded)).as_py())


def _may_be_finer(types: Any, kind: Any) -> bool:
    return bool(
        (types.is_duration(kind) and kind.unit == "ns")
        or types.is_date64(kind)
        or str(kind) == "month_day_nano_interval"
    )


def _within(kind: Any) -> Iterator[Any]:
    """A type, and those that it is made of; a dictionary is of its values, which are no field of it."""
    yield kind
    if sys.modules["pyarrow"].types.is_dictionary(kind):
        yield from _within(kind.value_type)
    for position in range(kind.num_fields):
        yield from _within(kind.field(position).type)


def _compute() -> Any:
    from importlib import import_module

    return import_module("pyarrow.compute")
