"""DuckDB: the dialect that the templates are written in."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from kanon_sql.sql.dialects.base import Dialect

__all__ = ["DuckDB"]


class DuckDB(Dialect):
    """DuckDB 2."""

    name = "duckdb"
    sqlglot = "duckdb"
    numbers_classes = True
    reads_columns = True

    def exact(self, text: exp.Expr) -> exp.Expr:
        """The binary collation, whatever ``default_collation`` says."""
        return exp.Collate(this=text, expression=exp.to_identifier("binary", quoted=True))

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Every order says that it ascends, whatever ``default_order`` says: ranks and shares depend on it."""
        for ordered in tree.find_all(exp.Ordered):
            if ordered.args.get("desc") is None:
                ordered.set("desc", False)
        return tree

    def rows(self, columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
        """VALUES: each branch of a UNION ALL is planned on its own."""
        listed = ",\n  ".join("(" + ", ".join(map(self.text, row)) + ")" for row in rows)
        return f"SELECT * FROM (VALUES\n  {listed}\n) AS given ({', '.join(map(self.quote, columns))})"

    def numbers_to(self, count: str) -> str:
        """A list of them, unnested."""
        return f"UNNEST(RANGE({count}))"
