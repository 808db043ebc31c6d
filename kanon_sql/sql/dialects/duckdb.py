"""DuckDB: the dialect that the templates are written in."""

from __future__ import annotations

from sqlglot import exp

from kanon_sql.sql.dialects.base import Dialect

__all__ = ["DuckDB"]


class DuckDB(Dialect):
    """DuckDB 2."""

    name = "duckdb"
    sqlglot = "duckdb"
    numbers_classes = True

    def exact(self, text: exp.Expr) -> exp.Expr:
        """The binary collation, whatever ``default_collation`` says."""
        return exp.Collate(this=text, expression=exp.to_identifier("binary", quoted=True))

    def numbers_to(self, count: str) -> str:
        """A list of them, unnested."""
        return f"UNNEST(RANGE({count}))"
