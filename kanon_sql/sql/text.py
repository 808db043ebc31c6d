"""Pieces of SQL that may be put into a template: quoted names, literals, parsed expressions.

Nothing else may. Every piece is a :class:`Sql`, and the template environment refuses
to print anything that is not one (see :mod:`kanon_sql.sql.templates`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from kanon_sql.errors import TemplateError

__all__ = [
    "ANY_RUN",
    "MARKS",
    "Relation",
    "Sql",
    "all_of",
    "any_of",
    "called",
    "exact_float",
    "exact_padded",
    "exact_text",
    "exact_time",
    "grouped",
    "identifier",
    "identifiers",
    "its_column",
    "literal",
    "missing",
    "of_table",
    "present",
    "relation",
    "same",
    "same_each",
    "slot",
    "sql_list",
    "words",
]

ANY_RUN = "kanon_00000000_"
"""Stands for what a run's scratch names begin with while a statement is compiled."""

MARKS = ("number", "time", "day", "fraction", "scaled", "unscaled", "draw", "sorted", "padded", "shown")
"""Collations that no engine has: a template marks with them what some dialects write in another way."""


class Sql(str):
    """A piece of SQL that went through one of the filters below, in DuckDB's dialect."""

    __slots__ = ()


class Relation(NamedTuple):
    """Something to select from: a table's name parts, or a slot filled in after transpiling.

    Attributes:
        parts: catalog, schema and table, as many as are given; empty for a slot.
        slot: the name of a :func:`slot` that stands for the user's own SQL.
        query: a SELECT of ours that is read in its place.
    """

    parts: tuple[str, ...] = ()
    slot: str | None = None
    query: Sql | None = None


def identifier(name: str) -> Sql:
    """A quoted name, whatever it contains."""
    if not isinstance(name, str) or not name or "\x00" in name:
        raise TemplateError("a name must be non-empty text without a zero byte")
    return Sql('"' + name.replace('"', '""') + '"')


def literal(value: object) -> Sql:
    """A literal: text, a number, or NULL. Text is quoted and escaped."""
    if value is None:
        return Sql("NULL")
    if isinstance(value, bool):
        raise TemplateError("booleans are not in the portable subset: use 0 and 1")
    if isinstance(value, int | Decimal):
        return Sql(str(value) if isinstance(value, int) else f"{value:f}")
    if isinstance(value, float):
        # An exponent makes it a DOUBLE in every dialect; a plain decimal may not be one.
        return Sql(f"{value:.17e}")
    if isinstance(value, str):
        return Sql("'" + value.replace("'", "''") + "'")
    raise TemplateError(f"no literal form for a {type(value).__name__}")


def relation(target: Relation) -> Sql:
    """The FROM form of a relation."""
    if target.slot is not None:
        return slot(target.slot)
    if target.query is not None:
        return Sql(f"({target.query})")
    return Sql(".".join(identifier(part) for part in target.parts))


_SLOT = re.compile(r"slot_[a-z0-9_]+")


def slot(name: str) -> Sql:
    """A placeholder that survives transpiling and is filled in afterwards.

    Raises:
        TemplateError: the name is not a plain lower-case word.
    """
    text = f"slot_{name}"
    if not _SLOT.fullmatch(text):
        raise TemplateError("a slot's name is a plain lower-case word")
    return Sql(text)


def sql_list(pieces: Iterable[object], separator: str = ", ") -> Sql:
    """Join pieces that are all :class:`Sql` already."""
    texts: Sequence[object] = list(pieces)
    for text in texts:
        if not isinstance(text, Sql):
            raise TemplateError("only SQL pieces can be joined")
    return Sql(separator.join(str(text) for text in texts))


def identifiers(names: Iterable[str]) -> list[Sql]:
    """A quoted name each."""
    return [identifier(name) for name in names]


def of_table(names: Iterable[object], table: str) -> list[Sql]:
    """Columns, each with the alias of the table that it is read from: a word of the template, or a quoted name."""
    return [sql_list([_word(table), name], ".") for name in names]


def its_column(tables: Iterable[object], name: str) -> list[Sql]:
    """The column of one name in each table, whose aliases are given: a word of the template, or a quoted name."""
    return [sql_list([_word(table), _word(name)], ".") for table in tables]


def words(texts: Iterable[object]) -> list[Sql]:
    """Columns of ours, by their plain lower-case names."""
    return [_word(text) for text in texts]


def _word(text: object) -> Sql:
    if isinstance(text, Sql):
        return text
    if not isinstance(text, str) or not _WORD.fullmatch(text):
        raise TemplateError("expected a plain lower-case word or a quoted name")
    return Sql(text)


_WORD = re.compile(r"[a-z][a-z0-9_]*")


def missing(pieces: Iterable[object]) -> list[Sql]:
    """That each piece is NULL."""
    return [sql_list([piece, Sql("IS NULL")], " ") for piece in pieces]


def present(pieces: Iterable[object]) -> list[Sql]:
    """That each piece is not NULL."""
    return [sql_list([piece, Sql("IS NOT NULL")], " ") for piece in pieces]


def grouped(pieces: Iterable[object]) -> list[Sql]:
    """Each piece in parentheses."""
    return [sql_list([Sql("("), piece, Sql(")")], "") for piece in pieces]


def called(pieces: Iterable[object], names: Iterable[object]) -> list[Sql]:
    """What a SELECT lists: each piece under its name."""
    return [sql_list(pair, " AS ") for pair in zip(pieces, names, strict=True)]


def same(left: object, right: object, nulls: bool = True) -> Sql:
    """That two pieces are equal.

    Args:
        left: a piece of SQL.
        right: another one.
        nulls: NULL may be among the values, and is equal to itself.
    """
    return sql_list([left, right], " IS NOT DISTINCT FROM " if nulls else " = ")


def same_each(left: Iterable[object], right: Iterable[object], nulls: bool = True) -> list[Sql]:
    """That each piece is equal to the one beside it, see :func:`same`."""
    return [same(*pair, nulls=nulls) for pair in zip(left, right, strict=True)]


def all_of(conditions: Iterable[object]) -> Sql:
    """That every condition holds; of none, that is so."""
    return sql_list(conditions, " AND ") or Sql("1 = 1")


def any_of(conditions: Iterable[object]) -> Sql:
    """That some condition holds; of none, that is not so."""
    return sql_list(conditions, " OR ") or Sql("1 = 0")


def exact_text(expression: Sql) -> Sql:
    """Text compared character by character, whatever the column's collation says.

    A collation that merges 'a', 'A' or 'a ' makes classes look larger than they are. This is
    DuckDB's form; the compiler turns it into each engine's own.
    """
    return Sql(f'{expression} COLLATE "binary"')


def exact_float(expression: Sql) -> Sql:
    """A binary fraction compared as a number: 0 and -0 are one, also where values are grouped by their bits.

    Two of them in a class would look like two different sensitive values. A mark like that of :func:`exact_text`.
    """
    return Sql(f'{expression} COLLATE "number"')


def exact_padded(expression: Sql) -> Sql:
    """Text with the blanks at its end, where casts take them off. A mark like that of :func:`exact_text`."""
    return Sql(f'{expression} COLLATE "padded"')


def exact_time(expression: Sql, *, day: bool) -> Sql:
    """A point in time, or a day, compared as what it shows, also by an index. A mark like that of :func:`exact_text`.

    Args:
        expression: a value of a calendar's type.
        day: it is a date without a time.
    """
    return Sql(f'{expression} COLLATE "{"day" if day else "time"}"')
