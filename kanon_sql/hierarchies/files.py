"""Hierarchy files: read one and say, by line, what is wrong with it; write one.

ARX's format has one row per value: ``value;level 1;...;top``, no header, ``;`` between cells, UTF-8. A table for a
database, or a dbt seed, has ``,`` and the header ``value,level_1,...``. Both are read, and written.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Literal

from kanon_sql.engines import private_file
from kanon_sql.errors import HierarchyError, Problem

__all__ = ["TOP", "FileStyle", "file_names", "header", "read_hierarchy", "with_top", "write_hierarchy"]

FileStyle = Literal["arx", "csv"]
"""ARX's format, or a comma-separated table with a header."""

MAX_PROBLEMS = 20
"""How many problems of one file are listed before the rest is only counted."""

MAX_LABEL = 10_000
"""The most characters of a value or label; what is longer is a quote that is not closed, or no label."""

TOP = "*"


def read_hierarchy(path: Path, *, several: bool = False) -> list[tuple[str, ...]]:
    """The rows of a hierarchy file, each value first and its generalizations after it.

    Cells are separated by ``;``; where the first row has none, by ``,`` or tabs, if that gives every row the same
    number of cells, and more than one. UTF-8, or UTF-16 with a byte order mark. A first row :func:`header` is no value.

    Args:
        path: the file.
        several: a value may have several parents, on a row each, and so may a label.

    Raises:
        HierarchyError: the file is missing, empty, ragged, has a cell of more than :data:`MAX_LABEL` characters or
            a zero byte, names a value twice, or its levels do not nest. Lines are named, values are not.
    """
    name = str(path)
    text = _text(path, name)
    rows, lines = _parsed(text, _delimiter(text), name)
    if rows and len(rows[0]) > 1 and rows[0] == header(len(rows[0])):
        rows, lines = rows[1:], lines[1:]
    if not rows:
        raise HierarchyError([Problem("the hierarchy file has no rows; expected value;level 1;...;top", name)])
    problems = [
        *_zero_bytes(rows, lines, name),
        *_ragged(rows, lines, name),
        *_repeated(rows, lines, name, several=several),
    ] or ([] if several else _not_nested(rows, lines, name))
    if problems:
        left = len(problems) - MAX_PROBLEMS
        shown = problems[:MAX_PROBLEMS]
        if left > 0:
            shown.append(Problem(f"and {left} more problems", name))
        raise HierarchyError(shown)
    return rows


def with_top(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows with one top value in the last column; ``*`` is added when there is none."""
    if len(rows[0]) > 1 and len({row[-1] for row in rows}) == 1:
        return list(rows)
    return [(*row, TOP) for row in rows]


def header(columns: int) -> tuple[str, ...]:
    """The first row of a comma-separated hierarchy: ``value``, ``level_1``, ..."""
    return ("value", *(f"level_{level}" for level in range(1, columns)))


def file_names(names: Iterable[str]) -> dict[str, str]:
    """A file name for each attribute, whatever characters its name has, and different ones whatever the case."""
    found: dict[str, str] = {}
    for name in names:
        stem = re.sub(r"[^\w.-]+", "_", name)
        taken = {file.casefold() for file in found.values()}
        candidates = (f"{stem}{'' if number == 1 else f'_{number}'}.csv" for number in count(1))
        found[name] = next(file for file in candidates if file.casefold() not in taken)
    return found


def write_hierarchy(path: Path, rows: Sequence[tuple[str, ...]], style: FileStyle = "arx") -> None:
    """Write a file that :func:`read_hierarchy` reads back.

    Args:
        path: the file; never one that is there already.
        rows: each value first and its generalizations after it, all of one length.
        style: of the file.

    Raises:
        HierarchyError: it is there already, or cannot be written.
    """
    try:
        with private_file(path) as file:
            writer = csv.writer(file, delimiter=";" if style == "arx" else ",")
            if style == "csv":
                writer.writerow(header(len(rows[0])))
            writer.writerows(rows)
    except FileExistsError:
        raise HierarchyError(f"{path}: there is a file already, which is not replaced; remove it, or name "
                             "another directory") from None  # fmt: skip
    except OSError as error:
        with suppress(OSError):
            path.unlink()  # half a hierarchy would be read as a whole one
        raise HierarchyError(
            f"{path}: cannot be written: {error.strerror or type(error).__name__}; name another directory"
        ) from None


def _text(path: Path, name: str) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise HierarchyError(
            [Problem(f"cannot read the hierarchy file ({error.strerror}); paths are relative to the spec", name)]
        ) from None
    encoding = "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise HierarchyError([Problem("the hierarchy file is not UTF-8; save it as UTF-8", name, line)]) from None


def _parsed(text: str, delimiter: str, name: str) -> tuple[list[tuple[str, ...]], list[int]]:
    """The rows that are not empty, and the line in which each ends."""
    # Only \n, \r and \r\n end a line, and those inside quotes are part of the value, as they are.
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    before = 0
    try:
        for cells in reader:
            if cells:
                _refuse_long(cells, name, before + 1)
                rows.append(tuple(cells))
                lines.append(reader.line_num)
            before = reader.line_num
    except csv.Error as error:
        raise HierarchyError([Problem(_csv_error(str(error)), name, before + 1)]) from None
    return rows, lines


def _refuse_long(cells: Sequence[str], name: str, line: int) -> None:
    for column, cell in enumerate(cells, 1):
        if len(cell) > MAX_LABEL:
            what = f"cell {column} of the row has more than {MAX_LABEL:,} characters; close its quotes, or shorten it"
            raise HierarchyError([Problem(what, name, line)])


def _csv_error(error: str) -> str:
    """What the reader of CSV found wrong with a row, in our words where its own are not for users."""
    if "field limit" in error:
        return f"a cell of the row has more than {MAX_LABEL:,} characters; close its quotes, or shorten it"
    if "unexpected end" in error:
        return "not a valid CSV row: a quoted cell does not end; close its quotes"
    return f"not a valid CSV row ({error}); expected cells between ;, and quotes doubled inside quotes"


def _delimiter(text: str) -> str:
    """What separates the cells: ARX's semicolon, unless only another sign makes a table of the file.

    A file that is no table for any of them is read with semicolons, which says what is wrong with it.
    """
    try:
        first = next((row for row in csv.reader(StringIO(text, newline=""), delimiter=";") if row), [])
    except csv.Error:
        return ";"
    if len(first) > 1:
        return ";"
    for delimiter in (",", "\t"):
        try:
            widths = {len(row) for row in csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)}
        except csv.Error:
            continue
        if len(widths - {0}) == 1 and max(widths) > 1:
            return delimiter
    return ";"


def _zero_bytes(rows: list[tuple[str, ...]], lines: list[int], name: str) -> list[Problem]:
    return [
        Problem("a zero byte, which ends a text in some databases; save the file as UTF-8 without it", name, line, cell)
        for row, line in zip(rows, lines, strict=True)
        for cell, text in enumerate(row, start=1)
        if "\x00" in text
    ]


def _ragged(rows: list[tuple[str, ...]], lines: list[int], name: str) -> list[Problem]:
    expected = len(rows[0])
    return [
        Problem(f"{len(row)} cells, but line {lines[0]} has {expected}: every row needs all levels", name, line)
        for row, line in zip(rows, lines, strict=True)
        if len(row) != expected
    ]


def _repeated(rows: list[tuple[str, ...]], lines: list[int], name: str, *, several: bool) -> list[Problem]:
    if several:
        return _repeated_rows(rows, lines, name)
    first: dict[str, tuple[int, tuple[str, ...]]] = {}
    problems = []
    for row, line in zip(rows, lines, strict=True):
        seen = first.setdefault(row[0], (line, row))
        if seen[0] != line:
            how = "the same value again" if seen[1] == row else "the same value with other generalizations"
            problems.append(Problem(f"{how} as in line {seen[0]}: a value has one row", name, line))
    return problems


def _repeated_rows(rows: list[tuple[str, ...]], lines: list[int], name: str) -> list[Problem]:
    first: dict[tuple[str, ...], int] = {}
    return [
        Problem(f"the same row again as in line {first[row]}; leave one of them out", name, line)
        for row, line in zip(rows, lines, strict=True)
        if first.setdefault(row, line) != line
    ]


def _not_nested(rows: list[tuple[str, ...]], lines: list[int], name: str) -> list[Problem]:
    problems = []
    for level in range(1, len(rows[0]) - 1):
        parents: dict[str, tuple[int, str]] = {}
        for row, line in zip(rows, lines, strict=True):
            first_line, parent = parents.setdefault(row[level], (line, row[level + 1]))
            if parent != row[level + 1]:
                problems.append(
                    Problem(
                        f"its level {level} value has another parent at level {level + 1} than in line "
                        f"{first_line}: levels must nest",
                        name,
                        line,
                        level + 2,
                    )
                )
    return problems
