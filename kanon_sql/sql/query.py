"""The user's own source query: one SELECT statement, and nothing after it."""

from __future__ import annotations

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from kanon_sql.errors import SpecError

__all__ = ["single_query"]


def single_query(query: str, dialect: str) -> str:
    """The user's query without the semicolon (and the comments) at its end.

    Args:
        query: as the spec has it.
        dialect: the engine's; the query is checked in it, and otherwise left as it is.

    Raises:
        SpecError: it does not parse, or is anything but exactly one query.
    """
    try:
        tokens = sqlglot.tokenize(query, read=dialect)
        ends = [index for index, token in enumerate(tokens) if token.token_type == TokenType.SEMICOLON]
        if ends and ends[0] + len(ends) == len(tokens):
            query = query[: tokens[ends[0]].start]
        trees = sqlglot.parse(query, read=dialect)
    except SqlglotError:
        shown = "DuckDB" if dialect == "duckdb" else dialect
        raise SpecError(
            f"source query: it does not parse as {shown} SQL; try it in the database, and give it here as it runs there"
        ) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise SpecError("source query: expected exactly one SELECT statement; put the rest into a view")
    return query.strip()
