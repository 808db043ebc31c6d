"""The user's own source query: one SELECT statement, and nothing after it."""

from __future__ import annotations

from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from kanon_sql.errors import SpecError
from kanon_sql.sql.parse import parsed, spared_stack, tokens_within

__all__ = ["single_query"]

MAX_LENGTH = 200_000
"""The most characters of a query: they are parsed in about a second. A longer one is a view."""


def single_query(query: str, dialect: str) -> str:
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


def _single(query: str, dialect: str) -> str:
    try:
        tokens = tokens_within(query, dialect, _WHERE, MAX_LENGTH)
        ends = [index for index, token in enumerate(tokens) if token.token_type == TokenType.SEMICOLON]
        if ends and ends[0] + len(ends) == len(tokens):
            query = query[: tokens[ends[0]].start]
        trees = parsed(query, dialect)
    except SqlglotError:
        shown = "DuckDB" if dialect == "duckdb" else dialect
        raise SpecError(
            f"source query: it does not parse as {shown} SQL; try it in the database, and give it here as it runs there"
        ) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise SpecError("source query: expected exactly one SELECT statement; put the rest into a view")
    return query.strip()
