"""Tables that a program holds in memory: copied into a DuckDB of their own, and what is released of them back.

A table of pandas, polars or Arrow, or a DuckDB relation, is copied once, so that what the program does to it meanwhile
changes nothing. Nothing of these libraries is imported unless such a table was given.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from decimal import Decimal
from importlib import import_module
from numbers import Integral
from typing import Any, Literal

from kanon_sql.engines.base import NO_MEMORY, Column
from kanon_sql.engines.duckdb import DuckDBEngine, connect_duckdb
from kanon_sql.engines.duckdb_errors import duckdb_error
from kanon_sql.engines.lakes import LakeKind, lake_of
from kanon_sql.engines.lossless import refuse_fewer_digits, refuse_finer
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError

__all__ = ["Frame", "FrameDatabase", "FrameKind", "open_frames"]

Frame = Any
"""A table of one of these libraries."""

FrameKind = Literal["pandas", "polars", "arrow", "relation"]
"""Of :data:`~kanon_sql.engines.object_kinds.TableKind` those that are copied."""

_VIEW = "kanon_given"
_ANALYZED_AS_THEY_ARE = ("date", "decimal", "time", "bytes", "string")
"""Kinds of Python objects that DuckDB reads as what they are; others are converted first, or refused."""


class FrameDatabase:
    """A DuckDB in memory that holds copies of tables.

    Attributes:
        engine: for the verbs.
    """

    def __init__(self, engine: DuckDBEngine) -> None:
        self.engine = engine
        self._types: dict[str, tuple[str, Any]] = {}
        """Column of the first table -> its type in DuckDB, and in the library."""
        self._kind: FrameKind | None = None

    def load(self, name: str, frame: Frame, kind: FrameKind) -> None:
        """Copy a table.

        A NaN becomes NULL, since a number that is missing is no value, and a category becomes its text or number, since
        a list of categories tells values of rows that are not released.

        Args:
            name: what to call it here, and in messages.
            frame: the table.
            kind: whose it is.

        Raises:
            SpecError: it has no column, two of one name, one whose name is no text, or one whose values are of several
                kinds, of a kind that DuckDB has not, or finer than it distinguishes.
            UnsupportedError: pyarrow is needed to read it, and not installed.
            DatabaseError: it does not fit into memory.
        """
        names = _names(frame, kind)
        self._refuse_names(names, name)
        if kind == "pandas":
            plain, dtypes = _plain_pandas(frame, name), dict(zip(names, frame.dtypes, strict=True))
        elif kind == "polars":
            _need("pyarrow", "to read a polars DataFrame")
            plain, dtypes = frame, dict(frame.schema)
            for column, dtype in dtypes.items():
                if dtype == sys.modules["polars"].Object:  # Arrow has the addresses of these, which some DuckDBs read
                    raise _unreadable(name, column)
        else:
            if kind == "relation":
                _need("pyarrow", "to read a DuckDB relation")
                frame = _read(frame, name)
            plain, dtypes = frame, {field.name: field.type for field in frame.schema}
            if not hasattr(frame, "to_batches"):  # a RecordBatch
                plain = sys.modules["pyarrow"].Table.from_batches([frame])
        if kind != "relation":  # DuckDB's own values are those that it distinguishes
            refuse_finer(plain, name)
        columns = self._copy(name, plain)
        if kind == "pandas":
            refuse_fewer_digits(_decimals(plain), columns, name)
        if self._kind is None:
            self._kind = kind
            self._types = {column.name: (column.type, dtypes[column.name]) for column in columns}

    def attach(self, name: str, given: Frame, kind: LakeKind) -> None:
        """Let a table be read where it is, in one version, as often as it is asked for; else it is copied.

        Args:
            name: what to call it here, and in messages.
            given: the table.
            kind: whose it is.

        Raises:
            SpecError: as for :meth:`load`.
            UnsupportedError: it cannot be read rightly, or what reads it is not installed.
        """
        lake = lake_of(given, kind, name)
        self._refuse_names(list(lake.columns), name)
        if lake.once:
            with _unread(name):
                columns = self._copied(name, lake.data)
        else:
            quote, place = self.engine.dialect.quote, f"{_VIEW}_{name}"
            with _unread(name):  # types that DuckDB has not are refused here, before a value is read
                self.engine.connection.register(place, lake.data)
                found = [column for column in self.engine.columns(quote(place)) if column.name in lake.columns]
                self.engine.connection.execute(
                    f"CREATE TEMP VIEW {quote(name)} AS SELECT {self._cells(found)} FROM {quote(place)}"
                )
            columns = self.engine.columns(quote(name))
        self.engine.read_versions[name] = lake.version
        if self._kind is None:
            self._kind = "arrow"
            self._types = {column.name: (column.type, lake.schema.field(column.name).type) for column in columns}

    def _cells(self, columns: Iterable[Column]) -> str:
        quote = self.engine.dialect.quote
        return ", ".join(f"{_cell(quote(column.name), column)} AS {quote(column.name)}" for column in columns)

    def _refuse_names(self, names: list[Any], shown: str) -> None:
        if not names:
            raise SpecError(f"{shown}: it has no columns; give a table with the columns that the spec names")
        if any(not isinstance(name, str) or not name.strip() for name in names):
            raise SpecError(
                f"{shown}: a column's name is not text, or empty; name every column by text, such as "
                "table.columns = table.columns.astype(str)"
            )
        twice = [name for name, times in Counter(map(self.engine.capabilities.folded, names)).items() if times > 1]
        if twice:
            raise SpecError(
                f"{shown}: there are several columns {', '.join(map(repr, twice))} (names that differ in case "
                "only are equal), so the spec's name is ambiguous; rename or drop them"
            )

    def _copy(self, name: str, plain: Frame) -> list[Column]:
        """Create a table of what was made plain. Returns its columns.

        Raises:
            SpecError: a column cannot be read; it is named, and its values are not.
        """
        with _unread(name, lambda: (column for column in _names(plain, None) if not self._reads(plain, column))):
            return self._copied(name, plain)

    def _reads(self, plain: Frame, column: str) -> bool:
        try:
            self._copied("kanon_tried", _only(plain, column))
            self.engine.connection.execute('DROP TABLE "kanon_tried"')
        except Exception:
            return False
        return True

    def _copied(self, name: str, plain: Frame) -> list[Column]:
        connection, quote = self.engine.connection, self.engine.dialect.quote
        connection.register(_VIEW, plain)
        try:
            cells = self._cells(self.engine.columns(quote(_VIEW)))
            connection.execute(f"CREATE TABLE {quote(name)} AS SELECT {cells} FROM {quote(_VIEW)}")
            return self.engine.columns(quote(name))
        finally:
            connection.unregister(_VIEW)

    def released(self, parts: tuple[str, ...]) -> Frame:
        """A released table, as the kind of table that was loaded first; it needs the database no more.

        Columns of a type that they had have it again, but for categories.

        Args:
            parts: the table's name.
        """
        relation = self.engine.dialect.relation(parts)
        columns = self.engine.columns(relation)
        kept = {
            column.name: self._types[column.name][1]
            for column in columns
            if column.name in self._types and self._types[column.name][0] == column.type
        }
        if self._kind == "pandas":
            return self._pandas(relation, columns, kept)
        query = self._query(relation, columns, ())
        if self._kind == "polars":
            return _polars(self.engine.connection.sql(query).pl(), kept)
        table = _arrow(self.engine.connection.sql(query).to_arrow_table(), kept)
        return _relation_over(table) if self._kind == "relation" else table

    def _pandas(self, relation: str, columns: list[Column], dtypes: Mapping[str, Any]) -> Frame:
        """Decimals as such; DuckDB would make floating-point numbers of them."""
        exact = [column.name for column in columns if column.kind == "decimal"]
        frame = self.engine.connection.sql(self._query(relation, columns, exact)).df()
        for name in exact:
            frame[name] = frame[name].map(Decimal, na_action="ignore").astype(object)
        for name, dtype in dtypes.items():
            if str(dtype) not in ("object", "category"):
                with suppress(TypeError, ValueError):
                    frame[name] = frame[name].astype(dtype)
        return frame

    def _query(self, relation: str, columns: list[Column], as_text: Any) -> str:
        quote = self.engine.dialect.quote
        cells = [
            f"CAST({quote(item.name)} AS VARCHAR) AS {quote(item.name)}" if item.name in as_text else quote(item.name)
            for item in columns
        ]
        return f"SELECT {', '.join(cells)} FROM {relation}"


@contextmanager
def open_frames() -> Iterator[FrameDatabase]:
    """A database for tables of a program, which is gone at the end."""
    engine = connect_duckdb()
    try:
        # Objects are of the type of all of them, not of a sample of them.
        engine.connection.execute("SET pandas_analyze_sample = 1000000000")
        yield FrameDatabase(engine)
    finally:
        engine.close()


def _relation_over(table: Frame) -> Frame:
    """A relation over an Arrow table, in a database of its own that lives as long as it does."""
    connection = connect_duckdb().connection
    connection.execute("SELECT 1").fetchall()  # no result is left that would be in the way
    return connection.from_arrow(table)


def _read(relation: Frame, shown: str) -> Frame:
    """The rows of a relation.

    Raises:
        DatabaseError: its own connection refuses.
    """
    try:
        return relation.to_arrow_table()
    except Exception as error:  # of DuckDB's
        raise duckdb_error(error, shown) from None


@contextmanager
def _unread(shown: str, columns: Callable[[], Iterator[str]] = lambda: iter(())) -> Iterator[None]:
    """Say what could not be copied inside.

    Args:
        shown: what to call the table.
        columns: those that cannot be read, looked for once something failed.

    Raises:
        DatabaseError: it does not fit into memory.
        SpecError: a column cannot be read.
    """
    try:
        yield
    except Exception as error:  # whatever a library raises that reads a value; its text may hold it
        if isinstance(error, MemoryError) or "OutOfMemory" in type(error).__name__:
            raise DatabaseError(f"{shown}: {NO_MEMORY}") from None
        raise _unreadable(shown, next(columns(), None)) from None


def _unreadable(shown: str, column: str | None) -> SpecError:
    what = "a column" if column is None else f"the column {column!r}"
    return SpecError(
        f"{shown}: {what} holds values that DuckDB cannot read; convert it to text, numbers or dates, or drop it"
    )


def _need(module: str, why: str) -> None:
    try:
        import_module(module)
    except ImportError:
        raise UnsupportedError(f"{module} is not installed, and it is needed {why}; pip install {module}") from None


def _names(frame: Frame, kind: FrameKind | None) -> list[Any]:
    return list(frame.schema.names if kind == "arrow" or hasattr(frame, "column_names") else frame.columns)


def _only(frame: Frame, column: str) -> Frame:
    return frame[[column]] if hasattr(frame, "iloc") else frame.select([column])


def _cell(quoted: str, column: Column) -> str:
    """A column's values: no NaN, and no type that lists values."""
    if column.kind == "float":
        return f"CASE WHEN isnan({quoted}) THEN NULL ELSE {quoted} END"
    if column.type.startswith("ENUM"):
        return f"CAST({quoted} AS VARCHAR)"
    return quoted


# --- pandas ----------------------------------------------------------------------------------------------------------


def _plain_pandas(frame: Frame, shown: str) -> Frame:
    """A pandas DataFrame without index, categories and mixed objects; what is missing is None.

    Raises:
        SpecError: a column's values are of several kinds, or of one that DuckDB has not.
    """
    pandas = sys.modules["pandas"]
    plain = {}
    for name in frame.columns:
        series = frame[name].reset_index(drop=True)
        if str(series.dtype) == "category":
            series = series.astype(object)
        if series.dtype == object:
            series = _plain_objects(pandas, series, f"{shown}: the column {name!r}")
        plain[name] = series
    return pandas.DataFrame(plain, columns=list(frame.columns))


def _plain_objects(pandas: Any, series: Any, shown: str) -> Any:
    """A column of Python objects as what all of them are."""
    series = series.where(series.notna(), None)
    found = str(pandas.api.types.infer_dtype(series, skipna=True))
    if found in _ANALYZED_AS_THEY_ARE and (found != "date" or _plain_dates(series)):
        return series
    conversions: Mapping[str, Callable[[Any], Any]] = {
        "empty": lambda values: values.astype("string"),
        "integer": lambda values: values.astype("Int64"),
        "boolean": lambda values: values.astype("boolean"),
        "floating": lambda values: values.astype("float64"),
        "mixed-integer-float": lambda values: _floats_of(values, shown),
        "datetime": pandas.to_datetime,
        "datetime64": pandas.to_datetime,
    }
    with suppress(TypeError, ValueError, OverflowError):
        if found in conversions:
            return conversions[found](series)
    raise SpecError(
        f"{shown} holds objects of several kinds, or of a kind that databases do not have (pandas finds "
        f"{found!r}); convert it, for example with .astype(str), or drop it"
    )


def _floats_of(series: Any, shown: str) -> Any:
    """Whole numbers and fractions as fractions, where none of the whole numbers becomes another one."""
    whole = (value for value in series if isinstance(value, Integral))
    if any(int(float(value)) != int(value) for value in whole):
        raise SpecError(
            f"{shown} holds fractions, and whole numbers that are too large for a float to distinguish; convert "
            "it, for example with .astype(str)"
        )
    return series.astype("float64")


def _decimals(frame: Frame) -> list[Any]:
    """The columns of Python's decimals."""
    infer = sys.modules["pandas"].api.types.infer_dtype
    return [name for name in frame.columns if frame[name].dtype == object and infer(frame[name]) == "decimal"]


def _plain_dates(series: Any) -> bool:
    """Whether no date has a time; pandas takes both for dates."""
    return not any(hasattr(value, "hour") for value in series)


# --- What is released ------------------------------------------------------------------------------------------------


def _polars(frame: Frame, dtypes: Mapping[str, Any]) -> Frame:
    left = ("Categorical", "Enum", "Null")
    return frame.cast(
        {
            name: dtype
            for name, dtype in dtypes.items()
            if str(dtype).split("(")[0] not in left and frame.schema[name] != dtype
        }
    )


def _arrow(table: Frame, types: Mapping[str, Any]) -> Frame:
    for position, field in enumerate(table.schema):
        wanted = types.get(field.name)
        if wanted not in (None, field.type) and str(wanted) != "null" and not hasattr(wanted, "value_type"):
            table = table.set_column(position, field.name, table.column(position).cast(wanted))
    return table
