"""PostgreSQL."""

from __future__ import annotations

from sqlglot import exp

from kanon_sql.sql.dialects.base import Dialect

__all__ = ["Postgres"]


class Postgres(Dialect):
    """PostgreSQL 12 and later."""

    name = "postgres"
    sqlglot = "postgres"
    longest_name = (63, "bytes")

    def exact(self, text: exp.Expr) -> exp.Expr:
        """Collation C: byte by byte, also where the database's collation is not deterministic."""
        return exp.Collate(this=text, expression=exp.to_identifier("C", quoted=True))
