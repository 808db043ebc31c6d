"""Values to build a hierarchy of without a table: a range, the lines of a file, or the hierarchy's own."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.hierarchies import read_hierarchy
from kanon_sql.spec import (
    DatesHierarchy,
    FileHierarchy,
    Hierarchy,
    IntervalsHierarchy,
    PointHierarchy,
    QuasiIdentifier,
    Spec,
    SqlHierarchy,
    TableHierarchy,
    TreeHierarchy,
)
from kanon_sql.sql import Relation, Sql, exact_text

__all__ = ["GIVEN_COLUMN", "GivenValues", "load_given", "values_in_words"]

GivenValues = Sequence[str] | None
"""Values as text; None for those that a file or tree hierarchy has of its own."""

GIVEN_COLUMN = "q0"
"""The values' column in the frequency table that they are loaded into."""

MOST_GIVEN = 100_000
"""A range with more values is refused."""

_TEXT = Column("", "VARCHAR", "text")
_INTEGER = Column("", "BIGINT", "integer")
_FLOAT = Column("", "DOUBLE", "float")
_DATE = Column("", "DATE", "date")


def values_in_words(text: str) -> tuple[str, GivenValues]:
    """Read ``NAME=FIRST..LAST``, ``NAME=FILE`` or ``NAME`` alone.

    A range is one of whole numbers, of digits of one length (``00501..00599``), or of dates
    (``2000-01-01..2009-12-31``).
    A file has a value per line, in UTF-8; empty lines are left out.

    Raises:
        SpecError: it is none of these, the file cannot be read, or the range is empty or too long.
    """
    name, equals, given = text.partition("=")
    if not name or (equals and not given):
        raise SpecError("--values: expected NAME=FIRST..LAST, NAME=FILE, or NAME, such as --values age=0..120")
    if not equals:
        return name, None
    first, dots, last = given.partition("..")
    if dots and first and last and "/" not in given:
        return name, _range(name, first, last)
    try:
        lines = Path(given).read_text("utf-8-sig").splitlines()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpecError(f"--values {name}: cannot read {given}: {reason}; expected a value per line") from None
    except UnicodeDecodeError:
        raise SpecError(f"--values {name}: {given} is not UTF-8; save it as UTF-8") from None
    values = [line for line in lines if line]
    if not values:
        raise SpecError(f"--values {name}: {given} has no values; expected one per line")
    return name, values


def _range(name: str, first: str, last: str) -> list[str]:
    try:
        if re.fullmatch(r"-?\d{1,15}", first) and re.fullmatch(r"-?\d{1,15}", last):
            low, high = int(first), int(last)
            width = len(first) if len(first) == len(last) and first.startswith("0") else 0
            _refuse_length(name, high - low + 1)
            return [f"{number:0{width}d}" if width else str(number) for number in range(low, high + 1)]
        start, end = date.fromisoformat(first), date.fromisoformat(last)
    except ValueError:
        raise SpecError(
            f"--values {name}: expected a range of whole numbers or dates, such as 0..120 or 2000-01-01..2009-12-31"
        ) from None
    days = (end - start).days + 1
    _refuse_length(name, days)
    return [(start + timedelta(days=day)).isoformat() for day in range(days)]


def _refuse_length(name: str, length: int) -> None:
    if length < 1:
        raise SpecError(f"--values {name}: the range is empty; its first value comes after its last")
    if length > MOST_GIVEN:
        raise SpecError(
            f"--values {name}: the range has {length:,} values, and at most {MOST_GIVEN:,} can be built; give a "
            "shorter range, or a file of the values that occur"
        )


def load_given(
    workspace: Workspace,
    spec: Spec,
    index: int,
    name: str,
    where: str,
    item: QuasiIdentifier,
    values: GivenValues,
) -> tuple[Column, Relation]:
    """Load values as a raw frequency table, a row each, typed as the hierarchy needs them.

    Args:
        workspace: where to load them.
        spec: where a hierarchy file is.
        index: the attribute's number, for the names of its tables.
        name: the attribute.
        where: what to call it in messages.
        item: its hierarchy.
        values: the values.

    Returns:
        The column that they are taken for, and the table; its column is :data:`GIVEN_COLUMN`.

    Raises:
        UnsupportedError: a hierarchy that only a database can build.
        SpecError: values that the hierarchy does not take, or none; they are counted, not shown.
    """
    rule = item.hierarchy
    if isinstance(rule, TableHierarchy):
        raise UnsupportedError(f"{where}: its rows are in the database; leave --values out and name the database")
    if isinstance(rule, PointHierarchy):
        raise UnsupportedError(
            f"{where}: its cells are made of two columns of the source; leave --values out and name the database"
        )
    if isinstance(rule, SqlHierarchy):
        raise UnsupportedError(
            f"{where}: what an SQL expression makes of a value depends on the column's type; leave --values out and "
            "name the database"
        )
    if values is None:
        if isinstance(rule, FileHierarchy):
            values = [row[0] for row in read_hierarchy(spec.resolve(rule.path))]
        elif isinstance(rule, TreeHierarchy):
            values = [row[0] for row in rule.rows()]
        else:
            raise SpecError(
                f"{where}: a rule has no values of its own; give some, such as --values {name}=0..120 or "
                f"--values {name}=FILE with one per line"
            )
    column = replace(_type_of(rule, values, where), name=name)
    given, raw = workspace.table(f"given{index}"), workspace.table(f"raw{index}")
    workspace.load(given, ["l0"], [(value,) for value in dict.fromkeys(values)])
    value = Sql(f"CAST(given.l0 AS {column.type})") if column.kind != "text" else exact_text(Sql("given.l0"))
    workspace.execute("verbs/hierarchy/given", target=raw, given=given, value=value, raw_column=GIVEN_COLUMN)
    return column, raw


def _type_of(rule: Hierarchy, values: Sequence[str], where: str) -> Column:
    """The type that a rule needs its values to have."""
    if isinstance(rule, IntervalsHierarchy):
        if all(re.fullmatch(r"[+-]?[0-9]{1,15}", value) for value in values):
            return _INTEGER
        column, wanted, fits = _FLOAT, "numbers", _is_number
    elif isinstance(rule, DatesHierarchy):
        column, wanted, fits = _DATE, "dates such as 2000-12-31", _is_date
    else:
        return _TEXT
    wrong = sum(not fits(value) for value in values)
    if wrong:
        raise SpecError(f"{where}: {wrong:,} of the {len(values):,} values given are no {wanted}; mend or remove them")
    return column


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False


def _is_date(value: str) -> bool:
    return bool(re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value)) and _parses(value)


def _parses(value: str) -> bool:
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True
