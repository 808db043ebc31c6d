"""The user's own source query: one SELECT statement, and nothing after it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.dialects.dialect import DialectType
from sqlglot.errors import SqlglotError

from kanon_sql.errors import SpecError
from kanon_sql.sql.parse import parsed, spared_stack, tokens_within

__all__ = ["called_names", "named_tables", "refuse_called", "single_query"]

MAX_LENGTH = 200_000
"""The most characters of a query: they are parsed in about a second. A longer one is a view."""


def single_query(query: str, dialect: DialectType) -> str:
    """The user's query without the semicolon (and the comments) at its end.

    Args:
        query: as the spec has it.
        dialect: the engine's; the query is checked in it, and otherwise left as it is.

    Raises:
        SpecError: it does not parse, is too long or nested too deeply, or is anything but exactly one query.
    """
    with spared_stack(_WHERE):
        return _single(query, dialect)


_WHERE = "source query"


def _single(query: str, dialect: DialectType) -> str:
    try:
        tokens = tokens_within(query, dialect, _WHERE, MAX_LENGTH)
        ends = [index for index, token in enumerate(tokens) if token.token_type == TokenType.SEMICOLON]
        if ends and ends[0] + len(ends) == len(tokens):
            query = query[: tokens[ends[0]].start]
        trees = parsed(query, dialect)
    except SqlglotError as error:
        shown = "DuckDB" if dialect == "duckdb" else dialect
        raise SpecError(
            f"source query: it does not parse as {shown} SQL{_place(error)}; try it in the database, and give it here "
            "as it runs there"
        ) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise SpecError("source query: expected exactly one SELECT statement; put the rest into a view")
    return query.strip()


def _place(error: SqlglotError) -> str:
    """Where in the query the parser stopped, if it says so; without its text, which may hold values."""
    first = (getattr(error, "errors", None) or [{}])[0]
    line, column = first.get("line"), first.get("col")
    return "" if line is None or column is None else f", near line {line}, column {column} of the query"


def called_names(query: str, dialect: DialectType) -> frozenset[str]:
    """Every word of a query that a parenthesis follows, in small letters: the functions that it calls are among them.

    Args:
        query: one that :func:`single_query` has let through.
        dialect: the engine's.
    """
    tokens = sqlglot.tokenize(query, read=dialect)
    return frozenset(
        token.text.lower()
        for token, after in pairwise(tokens)
        if after.token_type == TokenType.L_PAREN and token.token_type not in _NO_NAME
    )


_NO_NAME = (TokenType.L_PAREN, TokenType.COMMA, TokenType.STRING, TokenType.NUMBER)


def refuse_called(query: str, dialect: DialectType, refused: Iterable[str]) -> None:
    """Refuse a query that calls one of some functions.

    Args:
        query: one that :func:`single_query` has let through.
        dialect: the engine's.
        refused: the functions' names, in small letters.

    Raises:
        SpecError: it calls one.
    """
    found = sorted(called_names(query, dialect) & set(refused))
    if found:
        raise SpecError(
            f"source query: it calls {', '.join(found)}; expected a query that changes nothing and gives the same rows "
            "each time; leave that out, or store its results in a table"
        )


def named_tables(query: str, dialect: DialectType) -> list[tuple[str, ...]]:
    """The names behind FROM and JOIN in a query, those of its common table expressions among them."""
    tables = (table for tree in parsed(query, dialect) if tree is not None for table in tree.find_all(exp.Table))
    found = (tuple(part.name for part in table.parts) for table in tables)
    return sorted({name for name in found if all(name)})
