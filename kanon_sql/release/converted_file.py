"""Releases for Excel, Stata and SPSS: converted from the CSV file of a release, and back to compare.

These formats hold less than a database does. A value that one of them would change is refused with its column, before
the file has the release's name; what is read back from the file is compared with the release besides, as for any file.
One value is changed in all of them, and readers have to know it: a missing text is an empty one there, so an empty text
beside it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any

from kanon_sql.errors import UnsupportedError, VerificationError
from kanon_sql.version import how_to_install

__all__ = ["CONVERTED", "FileFormat", "convert", "convert_back", "format_of"]

Value = str | int | float | Decimal | bool | date | datetime | None
Column = list[Value]

MOST_WHOLE = 2**53
"""Beyond, whole numbers of eight bytes with a fraction are not exact."""

_ROWS_OF_EXCEL = 1_048_576
_COLUMNS_OF_EXCEL = 16_384
_TEXT_OF_EXCEL = 32_767
_TEXT_OF_STATA = 2_045
_TEXT_OF_SPSS = 32_767
_LEAST_WHOLE_OF_STATA, _MOST_WHOLE_OF_STATA = -2_147_483_647, 2_147_483_620
_FIRST_DAY_OF_EXCEL = date(1900, 3, 1)
"""Excel counts a day in 1900 that never was."""

_RESERVED = {
    "Stata": frozenset(
        "_all _b byte _coef _cons double float if in int long _n _N _pi _pred _rc _skip str strL using with".split()
    ),
    "SPSS": frozenset("ALL AND BY EQ GE GT LE LT NE NOT OR TO WITH".split()),
}


@dataclass(frozen=True)
class FileFormat:
    """A format that a release can be converted to.

    Attributes:
        name: of the program.
        packages: what writes and reads it.
        extra: of this package, which installs them.
        write: path, columns -> None.
        read: path, their types -> columns.
        name_fault: a column's name -> what is wrong with it; None where nothing is.
        value_fault: a value -> the same.
    """

    name: str
    packages: tuple[str, ...]
    extra: str
    write: Callable[[Path, Mapping[str, Column]], None]
    read: Callable[[Path, Mapping[str, str]], list[Column]]
    name_fault: Callable[[str], str | None]
    value_fault: Callable[[Value], str | None]

    @property
    def missing(self) -> str | None:
        """What to say where a package is not installed; None where all are."""
        absent = [name for name in self.packages if find_spec(name) is None]
        if not absent:
            return None
        return f"{' and '.join(absent)} not installed, needed for files of {self.name}; {how_to_install(self.extra)}"


def format_of(path: Path) -> FileFormat | None:
    """The format of a file by its name; None for Parquet and CSV."""
    return CONVERTED.get(path.suffix.lower())


def convert(source: Path, target: Path, types: Mapping[str, str]) -> None:
    """Write the CSV file of a release in another format.

    Args:
        source: the CSV file, as DuckDB writes it.
        target: the file to write.
        types: column -> its type there.

    Raises:
        UnsupportedError: a package is missing, or the format does not hold a column or a value of it.
    """
    form = _usable(target)
    faults = [f"{name!r}: {fault}" for name in types if (fault := form.name_fault(name)) is not None]
    if len({name.casefold() for name in types}) < len(types):
        faults.append("two columns have one name but for its case")
    for name, kind in types.items():
        if _KINDS.get(_base(kind)) is None:
            faults.append(f"{name!r}: a column of the type {kind}; cast it to text in a source query")
    if faults:
        raise UnsupportedError(_refusal(form, faults))
    columns = _columns(source, types)
    for name, column in columns.items():
        found = dict.fromkeys(fault for value in column if (fault := _fault(form, value)) is not None)
        faults += [f"{name!r}: {fault}" for fault in found]
    if form.name == "Excel" and len(next(iter(columns.values()), [])) >= _ROWS_OF_EXCEL:
        faults.append(f"more than {_ROWS_OF_EXCEL - 1:,} rows")
    if form.name == "Excel" and len(columns) > _COLUMNS_OF_EXCEL:
        faults.append(f"more than {_COLUMNS_OF_EXCEL:,} columns")
    if faults:
        raise UnsupportedError(_refusal(form, faults))
    try:
        form.write(target, columns)
    except OSError:
        raise
    except Exception as error:  # a message of the library's may hold values
        raise UnsupportedError(_refusal(form, [f"{form.packages[-1]} refuses it ({type(error).__name__})"])) from None


def convert_back(source: Path, target: Path, types: Mapping[str, str]) -> None:
    """Write what a file says as the CSV file that it was made of.

    Raises:
        UnsupportedError: a package is missing.
        VerificationError: it cannot be read, or has other columns.
    """
    form = _usable(source)
    try:
        columns = form.read(source, types)
        texts = [
            [_text_of(value, kind) for value in column] for column, kind in zip(columns, types.values(), strict=True)
        ]
    except OSError:
        raise
    except Exception as error:  # a message of the library's may hold values
        raise VerificationError(f"verification: {source.name} cannot be read back: {type(error).__name__}") from None
    with target.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(map(_quoted, types)) + "\n")
        file.writelines(",".join(row) + "\n" for row in zip(*texts, strict=True))


def _usable(path: Path) -> FileFormat:
    form = format_of(path)
    assert form is not None
    if form.missing is not None:
        raise UnsupportedError(form.missing)
    return form


def _refusal(form: FileFormat, faults: Sequence[str]) -> str:
    listed = "\n".join(f"  {fault}" for fault in faults[:20])
    return f"release.file: {form.name} would not hold the release as it is; nothing was published\n{listed}"


# --- CSV, as DuckDB writes it ---


def _base(kind: str) -> str:
    return kind.partition("(")[0].strip().upper()


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text]


_KINDS: Mapping[str, Callable[[str], Value]] = {
    "VARCHAR": str,
    "ENUM": str,
    **dict.fromkeys(
        ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT"], int
    ),
    "FLOAT": float,
    "DOUBLE": float,
    "DECIMAL": Decimal,
    "DATE": date.fromisoformat,
    "TIMESTAMP": datetime.fromisoformat,
    "BOOLEAN": _truth,
}
"""Type in DuckDB -> what makes a value of its text."""

_CELL = re.compile(r'("(?:[^"]|"")*"|[^",\n]*)([,\n])')


def _columns(path: Path, types: Mapping[str, str]) -> dict[str, Column]:
    """The columns of a CSV file; an empty cell is NULL, and a pair of quotes an empty text."""
    columns: list[Column] = [[] for _ in types]
    makers = [_KINDS[_base(kind)] for kind in types.values()]
    rows = _rows(path.read_bytes().decode())
    next(rows)
    for row in rows:
        for column, make, cell in zip(columns, makers, row, strict=True):
            column.append(None if cell is None else _made(make, cell))
    return dict(zip(types, columns, strict=True))


def _made(make: Callable[[str], Value], cell: str) -> Value:
    try:
        return make(cell)
    except ValueError:  # a date that Python does not have, such as one before Christ
        return cell


def _rows(text: str) -> Iterator[list[str | None]]:
    row: list[str | None] = []
    for match in _CELL.finditer(text):
        cell, end = match.groups()
        row.append(None if not cell else cell[1:-1].replace('""', '"') if cell[0] == '"' else cell)
        if end == "\n":
            yield row
            row = []


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text_of(value: Any, kind: str) -> str:
    """A value that was read, as a cell of CSV; what a format has as one type may be another here."""
    if value is None or value != value or value == "":
        return ""
    make = _KINDS[_base(kind)]
    if make is str:
        return _quoted(value if isinstance(value, str) else f"not text: {type(value).__name__}")
    if make is _truth:
        return str(value).lower() if isinstance(value, bool) else f"not a truth value: {type(value).__name__}"
    if make is int and isinstance(value, float) and value.is_integer():
        return str(int(value))
    if make is Decimal and isinstance(value, float):
        return f"{Decimal(repr(value)):f}"
    if make is date.fromisoformat and isinstance(value, datetime):
        return value.isoformat() if _has_time(value) else value.date().isoformat()
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)


def _has_time(value: datetime) -> bool:
    return (value.hour, value.minute, value.second, value.microsecond) != (0, 0, 0, 0)


# --- What a format does not hold ---


def _fault(form: FileFormat, value: Value) -> str | None:
    """What is wrong with a value, in words without it."""
    match value:
        case None:
            return None
        case "":
            return "empty texts, which would be read as missing; make them NULL in a source query"
        case int() if abs(value) > MOST_WHOLE:
            return "whole numbers beyond 2^53, which would be rounded; cast them to text in a source query"
        case float() if not isfinite(value):
            return "numbers that are infinite or none (NaN); make them NULL in a source query"
        case Decimal() if Decimal(repr(float(value))) != value:
            return "decimal numbers of more than 15 digits, which would be rounded; cast them to text in a source query"
        case str() if "\x00" in value:
            return "texts with a zero byte"
    return form.value_fault(value)


def _text_fault(value: Value, most: int, unit: str) -> str | None:
    length = 0 if not isinstance(value, str) else len(value if unit == "characters" else value.encode())
    return f"texts of more than {most:,} {unit}" if length > most else None


# --- Excel ---


def _excel_value_fault(value: Value) -> str | None:
    if isinstance(value, float) and float(f"{value:.16g}") != value:
        return "numbers of 17 digits, of which 16 are written; round them, or cast them to text in a source query"
    if (
        isinstance(value, date | datetime)
        and (value.date() if isinstance(value, datetime) else value) < _FIRST_DAY_OF_EXCEL
    ):
        return "dates before March 1900; cast them to text in a source query"
    if isinstance(value, datetime) and value.microsecond % 1000:
        return "times finer than milliseconds; round them, or cast them to text in a source query"
    if isinstance(value, str) and re.search(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]", value):
        return "texts with control characters"
    return _text_fault(value, _TEXT_OF_EXCEL, "characters")


def _write_excel(path: Path, columns: Mapping[str, Column]) -> None:
    """One sheet. A text is a text, whatever it begins with: nothing is a formula."""
    openpyxl, cells = import_module("openpyxl"), import_module("openpyxl.cell")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("release")

    def cell(value: Value) -> Any:
        if not isinstance(value, str):
            return float(value) if isinstance(value, Decimal) else value
        made = cells.WriteOnlyCell(sheet, value)
        made.data_type = "s"
        return made

    sheet.append([cell(name) for name in columns])
    for row in zip(*columns.values(), strict=True):
        sheet.append([cell(value) for value in row])
    book.save(path)


def _read_excel(path: Path, types: Mapping[str, str]) -> list[Column]:
    book = import_module("openpyxl").load_workbook(path, read_only=True)
    try:
        rows = list(book.worksheets[0].iter_rows(values_only=True))
    finally:
        book.close()
    if not rows or list(rows[0]) != list(types):
        raise ValueError("other columns")
    # Cells at the end of a row that are empty are not in the file.
    full = [(*row, *(None,) * (len(types) - len(row))) for row in rows[1:]]
    return [[row[index] for row in full] for index in range(len(types))]


# --- Stata and SPSS ---


def _stata_name_fault(name: str) -> str | None:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,31}", name):
        return "Stata's names have up to 32 letters, digits and _; rename the column in a source query"
    if name in _RESERVED["Stata"] or re.fullmatch(r"str\d+", name):
        return "Stata reserves this name; rename the column in a source query"
    return None


def _spss_name_fault(name: str) -> str | None:
    if not re.fullmatch(r"[^\W\d_][\w.@#$]*", name) or name[-1] in "._" or len(name.encode()) > 64:
        return (
            "SPSS's names have up to 64 letters, digits and _, with a letter first; rename the column in a source query"
        )
    if name.upper() in _RESERVED["SPSS"]:
        return "SPSS reserves this name; rename the column in a source query"
    return None


def _stata_value_fault(value: Value) -> str | None:
    if isinstance(value, datetime) and value.microsecond % 1000:
        return "times finer than milliseconds; round them, or cast them to text in a source query"
    if isinstance(value, float) and abs(value) > 8.9e307:
        return "numbers beyond 8.9e307, which are missing values there"
    return _text_fault(value, _TEXT_OF_STATA, "bytes")


def _spss_value_fault(value: Value) -> str | None:
    if isinstance(value, date | datetime) and value.year < 1583:
        return "dates before 1583; cast them to text in a source query"
    if isinstance(value, datetime) and value.microsecond:
        return "times finer than seconds; round them, or cast them to text in a source query"
    if isinstance(value, str) and value.endswith(" "):
        return "texts that end with a space, which would be cut off"
    return _text_fault(value, _TEXT_OF_SPSS, "bytes")


def _frame(columns: Mapping[str, Column], *, small_integers: bool) -> Any:
    """A frame of pandas with texts, dates, and numbers of eight bytes, or of four where Stata has them whole."""
    pandas = import_module("pandas")
    return pandas.DataFrame(
        {name: _series(pandas, column, small_integers=small_integers) for name, column in columns.items()}
    )


def _series(pandas: Any, column: Sequence[Any], *, small_integers: bool) -> Any:
    filled = [value for value in column if value is not None]
    if any(isinstance(value, str) for value in filled) or not filled:
        return pandas.Series(["" if value is None else value for value in column], dtype=object)
    if any(isinstance(value, datetime) for value in filled):
        return pandas.Series(column, dtype="datetime64[ms]")
    if any(isinstance(value, date) for value in filled):
        return pandas.Series(column, dtype="datetime64[s]") if small_integers else pandas.Series(column, dtype=object)
    if small_integers and len(filled) == len(column) and all(isinstance(value, bool) for value in filled):
        return pandas.Series(column, dtype="int8")
    whole = small_integers and len(filled) == len(column) and all(isinstance(value, int) for value in filled)
    if whole and all(_LEAST_WHOLE_OF_STATA <= value <= _MOST_WHOLE_OF_STATA for value in filled):
        return pandas.Series(column, dtype="int32")
    return pandas.Series([float("nan") if value is None else float(value) for value in column], dtype="float64")


def _value_labels(columns: Mapping[str, Column]) -> dict[str, dict[int, str]]:
    """What 0 and 1 mean, of columns of truth values, which these formats do not have."""
    return {
        name: {0: "false", 1: "true"}
        for name, column in columns.items()
        if any(isinstance(value, bool) for value in column)
    }


def _write_stata(path: Path, columns: Mapping[str, Column]) -> None:
    frame = _frame(columns, small_integers=True)
    forms = {
        name: "tc" if any(isinstance(value, datetime) for value in column) else "td"
        for name, column in columns.items()
        if any(isinstance(value, date) for value in column)
    }
    frame.to_stata(path, write_index=False, version=118, convert_dates=forms, value_labels=_value_labels(columns))


def _read_stata(path: Path, types: Mapping[str, str]) -> list[Column]:
    frame = import_module("pandas").read_stata(path, convert_categoricals=False, preserve_dtypes=True)
    return _of_frame(frame, types)


def _write_spss(path: Path, columns: Mapping[str, Column]) -> None:
    import_module("pyreadstat").write_sav(
        _frame(columns, small_integers=False), str(path), variable_value_labels=_value_labels(columns)
    )


def _read_spss(path: Path, types: Mapping[str, str]) -> list[Column]:
    frame, _ = import_module("pyreadstat").read_sav(str(path))
    return _of_frame(frame, types)


def _of_frame(frame: Any, types: Mapping[str, str]) -> list[Column]:
    """Its columns as values of Python; what is missing is None."""
    if list(frame.columns) != list(types):
        raise ValueError("other columns")
    columns = []
    for name in types:
        values = frame[name].astype(object)
        present = frame[name].notna()
        found = [_plain(value) if there else None for value, there in zip(values, present, strict=True)]
        if _base(types[name]) == "BOOLEAN":
            found = [bool(value) if value in (0, 1) else value for value in found]
        columns.append(found)
    return columns


def _plain(value: Any) -> Any:
    if hasattr(value, "to_pydatetime"):
        return value.to_pydatetime()
    return value.item() if hasattr(value, "item") else value


CONVERTED: Mapping[str, FileFormat] = {
    ".xlsx": FileFormat(
        "Excel", ("openpyxl",), "excel", _write_excel, _read_excel, lambda name: None, _excel_value_fault
    ),
    ".dta": FileFormat(
        "Stata", ("pandas",), "stata", _write_stata, _read_stata, _stata_name_fault, _stata_value_fault
    ),
    ".sav": FileFormat(
        "SPSS", ("pandas", "pyreadstat"), "spss", _write_spss, _read_spss, _spss_name_fault, _spss_value_fault
    ),
}  # fmt: skip
"""How a file's name ends -> its format."""
