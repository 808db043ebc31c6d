"""Snowflake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from kanon_sql.sql.dialects.base import Dialect, dialect
from kanon_sql.sql.dialects.rewrites import called, exact_int_division, quote_names, text_columns

__all__ = ["Snowflake"]


@dialect
class Snowflake(Dialect):
    """Snowflake. Bare names are folded to upper case, so every name is quoted."""

    name = "snowflake"
    sqlglot = "snowflake"
    backslash = "in literals"
    longest_name = (255, "bytes")
    function_call = "TABLE({}())"
    folds_upper = True

    def exact(self, text: exp.Expr) -> exp.Expr:
        """The empty collation: by code points, whatever the column's or the account's is."""
        return exp.Collate(this=text, expression=exp.Literal.string(""))

    def text(self, value: str | None) -> str:
        """Without a collation, whatever the account's default is."""
        return f"COLLATE({self.literal(value)}, '')"

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By digits of base 16."""
        return called("TO_NUMBER", called("SUBSTR", called("SHA2", text, 256), 1, 12), "XXXXXXXXXXXX")

    def masked(self, number: str, mask: str) -> str:
        """There is no operator for it."""
        return f"BITAND({number}, {mask})"

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Quoted names, and text columns without a collation."""
        return text_columns(exact_int_division(quote_names(tree)), exp.Literal.string(""))

    def table_function(self, function: str, columns: Mapping[str, str], query: str) -> str:
        """A table function of SQL."""
        body = self.literal(query) if "$$" in query else f"$$\n{query}\n$$"
        return f"CREATE OR REPLACE FUNCTION {function}() RETURNS TABLE ({self.declared(columns)})\nAS {body};"

    def rename(self, table: Sequence[str], name: str) -> str:
        """A bare new name would move the table to the session's schema."""
        return f"ALTER TABLE {self.relation(table)} RENAME TO {self.relation([*table[:-1], name])}"

    def replace(self, table: Sequence[str], release: Sequence[str], aside: Sequence[str]) -> list[str]:
        """The two tables swap their names at once; the old release is then dropped under the scratch name."""
        return [f"ALTER TABLE {self.relation(release)} SWAP WITH {self.relation(table)}"]
