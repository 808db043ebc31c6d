"""Read a hierarchy file in ARX's format and say, by line, what is wrong with it.

One row per value: ``value;level 1;...;top``, no header, ``;`` between cells, UTF-8.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from kanon_sql.errors import HierarchyError, Problem

__all__ = ["read_hierarchy", "with_top"]

MAX_PROBLEMS = 20
"""How many problems of one file are listed before the rest is only counted."""

TOP = "*"


def read_hierarchy(path: Path) -> list[tuple[str, ...]]:
    """The rows of a hierarchy file, each value first and its generalizations after it.

    Raises:
        HierarchyError: the file is missing, empty, ragged, names a value twice, or its
            levels do not nest. Lines are named, values are not.
    """
    name = str(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise HierarchyError([Problem(f"cannot read the hierarchy file ({error.strerror})", name)]) from None
    except UnicodeDecodeError:
        raise HierarchyError([Problem("the hierarchy file is not UTF-8", name)]) from None
    # Only \n, \r and \r\n end a line, and those inside quotes are part of the value, as they are.
    reader = csv.reader(StringIO(text, newline=""), delimiter=";", strict=True)
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    try:
        for cells in reader:
            if cells:
                rows.append(tuple(cells))
                lines.append(reader.line_num)
    except csv.Error as error:
        raise HierarchyError([Problem(f"not a valid CSV row ({error})", name, reader.line_num)]) from None
    if not rows:
        raise HierarchyError([Problem("the hierarchy file has no rows; expected value;level 1;...;top", name)])
    problems = [
        *_ragged(rows, lines, name),
        *_repeated(rows, lines, name),
    ] or _not_nested(rows, lines, name)
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


def _ragged(rows: list[tuple[str, ...]], lines: list[int], name: str) -> list[Problem]:
    expected = len(rows[0])
    return [
        Problem(f"{len(row)} cells, but line {lines[0]} has {expected}: every row needs all levels", name, line)
        for row, line in zip(rows, lines, strict=True)
        if len(row) != expected
    ]


def _repeated(rows: list[tuple[str, ...]], lines: list[int], name: str) -> list[Problem]:
    first: dict[str, tuple[int, tuple[str, ...]]] = {}
    problems = []
    for row, line in zip(rows, lines, strict=True):
        seen = first.setdefault(row[0], (line, row))
        if seen[0] != line:
            how = "the same value again" if seen[1] == row else "the same value with other generalizations"
            problems.append(Problem(f"{how} as in line {seen[0]}: a value has one row", name, line))
    return problems


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
