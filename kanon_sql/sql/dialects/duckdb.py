"""DuckDB: the dialect that the templates are written in."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from kanon_sql.sql.dialects.base import Dialect
from kanon_sql.sql.dialects.rewrites import called

__all__ = ["DuckDB"]

_LINE_END = "\n"
_MANY = 500
"""From so many rows on they are inserted column by column."""


class DuckDB(Dialect):
    """DuckDB 2."""

    name = "duckdb"
    sqlglot = "duckdb"
    numbers_classes = True
    reads_columns = True

    def exact(self, text: exp.Expr) -> exp.Expr:
        """The binary collation, whatever ``default_collation`` says."""
        return exp.Collate(this=text, expression=exp.to_identifier("binary", quoted=True))

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By digits of base 16, which a cast reads."""
        return exp.cast(
            exp.DPipe(this=exp.Literal.string("0x"), expression=called("SUBSTR", called("SHA256", text), 1, 12)),
            "BIGINT",
        )

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Every direction of an order is written out, whatever ``default_order`` says."""
        for ordered in tree.find_all(exp.Ordered):
            ordered.set("desc", bool(ordered.args.get("desc")))
        return tree

    def rows(self, columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
        """VALUES: each branch of a UNION ALL is planned on its own."""
        listed = ",\n  ".join("(" + ", ".join(map(self.text, row)) + ")" for row in rows)
        return f"SELECT * FROM (VALUES\n  {listed}\n) AS given ({', '.join(map(self.quote, columns))})"

    def insert(self, table: str, rows: Sequence[Sequence[str | None]]) -> str:
        """Many rows as a text per column, split at line ends: planning a literal per cell takes 20 times as long."""
        columns = [[value for value in column if value is not None] for column in zip(*rows, strict=True)]
        plain = all(len(column) == len(rows) and not any(_LINE_END in value for value in column) for column in columns)
        if len(rows) < _MANY or not plain:
            return super().insert(table, rows)
        at = self.literal(_LINE_END)
        lists = [f"UNNEST(string_split({self.literal(_LINE_END.join(column))}, {at}))" for column in columns]
        return f"INSERT INTO {table} SELECT {', '.join(lists)}"

    def numbers_to(self, count: str) -> str:
        """A list of them, unnested."""
        return f"UNNEST(RANGE({count}))"
