"""Values to build a hierarchy of without a table: a range, the lines of a file, or the hierarchy's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.hierarchies import kind_of
from kanon_sql.spec import QuasiIdentifier, Spec
from kanon_sql.sql import Relation, Sql, exact_text

__all__ = ["GIVEN_COLUMN", "GivenValues", "load_values", "values_in_words"]

GivenValues = Sequence[str] | None
"""Values as text; None for those that a file or tree hierarchy has of its own."""

GIVEN_COLUMN = "q0"
"""The values' column in the frequency table that they are loaded into."""

MOST_GIVEN = 100_000
"""A range with more values is refused."""


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
            f"--values {name}: the range has {length:,} values, more than the limit of {MOST_GIVEN:,}; give a shorter "
            "range, or a file with the values"
        )


def load_values(
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
    rule = kind_of(item)
    if rule.needs_database is not None:
        raise UnsupportedError(f"{where}: {rule.needs_database}")
    if values is None:
        rows = rule.listed_rows(spec)
        if rows is None:
            raise SpecError(
                f"{where}: a rule has no values; give some, such as --values {name}=0..120 or --values {name}=FILE "
                "with one per line"
            )
        values = [row[0] for row in rows]
    column = replace(rule.typed(values, where), name=name)
    given, raw = workspace.table(f"given{index}"), workspace.table(f"raw{index}")
    workspace.load(given, ["l0"], [(value,) for value in dict.fromkeys(values)])
    value = Sql(f"CAST(given.l0 AS {column.type})") if column.kind != "text" else exact_text(Sql("given.l0"))
    workspace.execute("verbs/hierarchy/given", target=raw, given=given, value=value, raw_column=GIVEN_COLUMN)
    return column, raw
