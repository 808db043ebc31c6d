"""Databricks SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from kanon_sql.sql.dialects.base import Dialect, dialect
from kanon_sql.sql.dialects.rewrites import first_bits_by_conv, floating_division, quote_names, text_columns
from kanon_sql.sql.dialects.spark import fraction

__all__ = ["Databricks"]

_EXACT = exp.Var(this="UTF8_BINARY")


@dialect
class Databricks(Dialect):
    """Databricks: SQL warehouses, and clusters from Databricks Runtime 16.1 on, which have collations."""

    name = "databricks"
    sqlglot = "databricks"
    backslash = "in literals"
    longest_name = (255, "bytes")

    def exact(self, text: exp.Expr) -> exp.Expr:
        """Byte by byte, whatever the column's or the schema's collation is."""
        return exp.Collate(this=text, expression=_EXACT.copy())

    def text(self, value: str | None) -> str:
        """A literal that compares exactly."""
        return f"{self.literal(value)} COLLATE UTF8_BINARY"

    def fraction(self, text: exp.Expr) -> exp.Expr:
        """Without powers of ten."""
        return fraction(text.this)

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By digits of base 16."""
        return first_bits_by_conv(text)

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Quoted names, and text columns that compare exactly."""
        return text_columns(quote_names(floating_division(tree)), _EXACT)

    def table_function(self, function: str, columns: Mapping[str, str], query: str) -> str:
        """A table function of SQL."""
        return f"CREATE OR REPLACE FUNCTION {function}() RETURNS TABLE ({self.declared(columns)})\nRETURN\n{query};"

    def create_as(self, table: str, query: str, temporary: bool) -> str:
        """Plain tables only: a temporary view would be computed again by every statement that reads it."""
        return f"CREATE TABLE {table} AS {query}"

    def comment_on_column(self, table: Sequence[str], column: str, text: str) -> str:
        """An option of the column."""
        return f"ALTER TABLE {self.relation(table)} ALTER COLUMN {self.quote(column)} COMMENT {self.literal(text)}"

    def rename(self, table: Sequence[str], name: str) -> str:
        """A bare new name would move the table to the session's schema."""
        return f"ALTER TABLE {self.relation(table)} RENAME TO {self.relation([*table[:-1], name])}"
