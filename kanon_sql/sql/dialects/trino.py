"""Trino, and Starburst."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from kanon_sql.sql.dialects.base import Dialect, dialect
from kanon_sql.sql.dialects.rewrites import called, exact_int_division, quote_names, repeat_by_rpad

__all__ = ["Trino"]


@dialect
class Trino(Dialect):
    """Trino. It has no collations: VARCHAR is compared code point by code point."""

    name = "trino"
    sqlglot = "trino"

    def exact(self, text: exp.Expr) -> exp.Expr:
        """As it is. The cast to VARCHAR before it keeps CHAR's padded comparison away."""
        return text

    def text(self, value: str | None) -> str:
        """A bare literal has a length, and a bare NULL no type."""
        return f"CAST({self.literal(value)} AS VARCHAR)"

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By digits of base 16."""
        return called(
            "FROM_BASE", called("SUBSTR", called("TO_HEX", called("SHA256", called("TO_UTF8", text))), 1, 12), 16
        )

    def masked(self, number: str, mask: str) -> str:
        """There is no operator for it."""
        return f"BITWISE_AND({number}, {mask})"

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """REPEAT makes an array; not every connector takes NOT NULL."""
        for column in tree.find_all(exp.ColumnDef):
            column.set("constraints", None)
        return repeat_by_rpad(exact_int_division(quote_names(tree)))

    def create_as(self, table: str, query: str, temporary: bool) -> str:
        """Plain tables only."""
        return f"CREATE TABLE {table} AS {query}"

    def rename(self, table: Sequence[str], name: str) -> str:
        """A bare new name is looked up in the session's schema."""
        return f"ALTER TABLE {self.relation(table)} RENAME TO {self.relation([*table[:-1], name])}"
