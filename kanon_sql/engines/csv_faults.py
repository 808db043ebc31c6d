"""Why DuckDB cannot read a CSV file, or reads another table than its author meant: found in the file's own bytes."""

from __future__ import annotations

import codecs
import csv
import gzip
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, cast

from kanon_sql.spec import CSV_DELIMITERS

__all__ = ["csv_fault", "misread", "wrong_encoding"]

_EMPTY = "the file is empty; expected a line with the names of the columns"

_MOST_BYTES = 64 << 20
"""This many bytes of a file are looked at."""
_MOST_LINES = 100_000
_IS_UTF16 = (
    "its text is UTF-16; write source: {file: ..., csv: {encoding: utf-16}} (without a spec --set encoding=utf-16), or "
    "save it as UTF-8"
)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def csv_fault(path: str) -> str | None:
    """What is wrong with a file that could not be read, and what to do; None where no cause is seen.

    Args:
        path: of a CSV file, or of a compressed one; nothing is said of a pattern.
    """
    if not Path(path).is_file():
        return None
    try:
        with _opened(path) as file:
            content = file.read(_MOST_BYTES)
    except (OSError, EOFError):
        return None
    if not content:
        return _EMPTY
    if _is_utf16(content):
        return _IS_UTF16
    if (line := _first_line_not_utf8(content)) is not None:
        return (
            f"line {line:,} is not UTF-8; where the file is Latin-1 (ISO 8859-1), write source: "
            "{file: ..., csv: {encoding: latin-1}} (without a spec --set encoding=latin-1), else save it as UTF-8 "
            "(iconv -f CP1252 -t UTF-8 for one of Excel's)"
        )
    both = content.count(b"\r\n")
    ends = {"CR LF": both, "LF": content.count(b"\n") - both, "CR": content.count(b"\r") - both}
    if len(mixed := [f"{count:,} in {end}" for end, count in ends.items() if count]) > 1:
        return f"its lines end differently, {', '.join(mixed)}; make them the same (dos2unix FILE, or mac2unix FILE)"
    return _uneven(path)


def misread(path: str, names: Sequence[str]) -> str | None:
    """Why the columns that DuckDB found are not those that the file means, and what to do; None where they are.

    Args:
        path: of one CSV file.
        names: the columns that DuckDB found.
    """
    if not Path(path).is_file():
        return None
    if Path(path).stat().st_size == 0:
        return _EMPTY
    if len(names) == 1:
        if not names[0].isprintable():
            return "its first line is no text in this encoding; name the one that it was saved in, or save it as UTF-8"
        return _uneven(path)
    if all(name == f"column{index:0{len(str(len(names) - 1))}}" for index, name in enumerate(names)):
        return _uneven(path)
    return None


def wrong_encoding(path: str, encoding: str | None) -> str | None:
    """Why a file is not in the encoding that it is to be read in: the names of its columns would be made of its rows.

    Args:
        path: of one CSV file; nothing is said of a pattern.
        encoding: as a spec says it; UTF-8 if it does not.
    """
    if encoding in (None, "utf-8") or not Path(path).is_file():
        return None
    with _opened(path) as file:
        content = file.read(_MOST_BYTES)
    if encoding != "utf-16":
        return _IS_UTF16 if _is_utf16(content) else None
    if b"\0" in content or content.startswith(_UTF16):  # the end of a line has one, whatever the language is
        return None
    return "its text is not UTF-16; leave encoding out, or name its own"


def _opened(path: str) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "rb")) if path.lower().endswith(".gz") else open(path, "rb")


def _is_utf16(content: bytes) -> bool:
    return content.startswith(_UTF16) or _mostly_zero_bytes(content)


def _mostly_zero_bytes(content: bytes) -> bool:
    """Whether every second byte of the beginning is zero, as in Latin letters of UTF-16 without a mark."""
    head = content[:1000]
    return len(head) > 3 and max(head[::2].count(0), head[1::2].count(0)) > len(head) // 3


def _first_line_not_utf8(content: bytes) -> int | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(content)
    except UnicodeDecodeError as error:
        return content.count(b"\n", 0, error.start) + 1
    return None


def _uneven(path: str) -> str | None:
    """That some line has more or fewer cells than the first one, which makes DuckDB guess."""
    try:
        with _opened(path) as file:
            lines = (line.decode("utf-8-sig") for line in islice(file, _MOST_LINES))
            return _first_uneven(lines)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error):
        return None


def _first_uneven(lines: Iterator[str]) -> str | None:
    first = next(lines, "")
    delimiter = max(CSV_DELIMITERS, key=first.count)
    (names,) = csv.reader([first], delimiter=delimiter)
    if len(names) < 2:
        return None
    rows = csv.reader(lines, delimiter=delimiter)
    for row in rows:
        if row and len(row) != len(names):
            which = "a name is missing in the first line" if len(row) == len(names) + 1 else "correct that line"
            return (
                f"its first line has {len(names)} cells and line {rows.line_num + 1:,} has {len(row)}; {which}, or "
                "write source: {file: ..., csv: {delimiter: ...}} (without a spec --set delimiter=) where another "
                "character is between cells"
            )
    return None
