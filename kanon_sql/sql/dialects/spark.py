"""Spark SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from sqlglot import exp

from kanon_sql.sql.dialects.base import Dialect, dialect
from kanon_sql.sql.dialects.rewrites import first_bits_by_conv, floating_division, quote_names, text_columns

__all__ = ["Spark", "fraction"]

_EXACT = exp.Var(this="UTF8_BINARY")


@dialect
class Spark(Dialect):
    """Spark 4, which has collations and a way to ask for none."""

    name = "spark"
    sqlglot = "spark"
    backslash = "in literals"
    inserts = False
    deletes = False
    zones = True
    moved: ClassVar[Mapping[str, str]] = {
        "date": "DATE_ADD({date}, CAST({days} AS INT))",
        "timestamp": "TIMESTAMPADD(DAY, CAST({days} AS INT), {date})",
        "moment": "TIMESTAMPADD(HOUR, 24 * CAST({days} AS INT), {date})",
    }
    keyed = "SHA2(CONCAT(UNHEX('{outer}'), UNHEX(SHA2(CONCAT(UNHEX('{inner}'), ENCODE({text}, 'UTF-8')), 256))), 256)"
    guard = ("CREATE OR REPLACE VIEW", "AS", "")
    has_rights = False
    item = "EXPLODE({})"
    listed = "SORT_ARRAY(COLLECT_LIST({}))"
    sorted_list = "SORT_ARRAY({})"
    renames_apart = "a catalog renames one table at a time, and Delta Lake and Iceberg commit one at a time"

    def exact(self, text: exp.Expr) -> exp.Expr:
        """Byte by byte, whatever the column's collation is."""
        return exp.Collate(this=text, expression=_EXACT.copy())

    def fraction(self, text: exp.Expr) -> exp.Expr:
        """Without powers of ten."""
        return fraction(text.this)

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By digits of base 16."""
        return first_bits_by_conv(text)

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Quoted names; tables of text that compares exactly, in a format that keeps every value."""
        if isinstance(tree, exp.Create):
            tree.set("properties", exp.Properties(expressions=[exp.FileFormatProperty(this=exp.Var(this="PARQUET"))]))
        for select in tree.find_all(exp.Select):
            order = select.args.get("order")
            if order is not None and order.find(exp.Rand):
                # ORDER BY would compute everything twice, the first time to find the partitions' bounds.
                select.set("order", None)
                select.set("distribute", exp.Distribute(expressions=[exp.Rand()]))
                select.set("sort", exp.Sort(expressions=[exp.Rand()]))
        return text_columns(quote_names(floating_division(tree)), _EXACT)

    def table_function(self, function: str, columns: Mapping[str, str], query: str) -> str:
        """A table function of SQL."""
        return f"CREATE OR REPLACE FUNCTION {function}() RETURNS TABLE ({self.declared(columns)})\nRETURN\n{query};"

    def readers(self, schema: Sequence[str]) -> None:
        """Spark itself knows no rights; those of a catalog or of files are given elsewhere."""

    def create_as(self, table: str, query: str, temporary: bool) -> str:
        """A scratch table as far as a script can have one; the engine's own outlive changes of the source."""
        return f"CACHE TABLE {table} AS {query}" if temporary else f"CREATE TABLE {table} USING PARQUET AS {query}"

    def rows(self, columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
        """One inline table: a UNION ALL of thousands of branches would take minutes to plan."""
        listed = ",\n  ".join("(" + ", ".join(map(self.text, row)) + ")" for row in rows)
        names = ", ".join(map(self.quote, columns))
        return f"SELECT * FROM VALUES\n  {listed}\nAS given ({names})"

    def comment_on_column(self, table: Sequence[str], column: str, text: str) -> str:
        """An option of the column."""
        return f"ALTER TABLE {self.relation(table)} ALTER COLUMN {self.quote(column)} COMMENT {self.literal(text)}"

    def rename(self, table: Sequence[str], name: str) -> str:
        """The new name with its schema, but never with the catalog."""
        renamed = [*table[:-1], name][-2:]
        return f"ALTER TABLE {self.relation(table)} RENAME TO {self.relation(renamed)}"


def fraction(number: exp.Expr) -> exp.Expr:
    """12345678.9 and 0.0005 in digits: a cast writes 1.23456789E7 and 5.0E-4."""
    text = exp.cast(number.copy(), exp.DType.TEXT)
    digits = exp.cast(exp.cast(text.copy(), "DECIMAL(38, 21)", dialect="spark"), exp.DType.TEXT)
    trimmed = exp.Anonymous(
        this="REGEXP_REPLACE", expressions=[digits, exp.Literal.string("0+$"), exp.Literal.string("")]
    )
    size = exp.Abs(this=number.copy())
    in_powers = exp.Like(this=text.copy(), expression=exp.Literal.string("%E%"))  # no decimal is written so
    plain = exp.and_(in_powers, size >= exp.Literal.number("0.0001"), size.copy() < exp.Literal.number("1e16"))
    return exp.Case(ifs=[exp.If(this=plain, true=trimmed)], default=text)
