"""BigQuery (GoogleSQL)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from sqlglot import exp

from kanon_sql.errors import UnsupportedError
from kanon_sql.sql.dialects.base import Dialect, dialect, mark_text, replaced
from kanon_sql.sql.dialects.rewrites import called, is_text, quote_names, text_columns

__all__ = ["BigQuery"]


@dialect
class BigQuery(Dialect):
    """BigQuery. There are no temporary tables outside sessions and scripts."""

    name = "bigquery"
    sqlglot = "bigquery"
    backslash: ClassVar[bool] = True
    longest_name = (300, "bytes")
    selects_values = False

    def exact(self, text: exp.Expr) -> exp.Expr:
        """The empty collation: case counts, also where the dataset says otherwise."""
        return exp.Collate(this=text, expression=exp.Literal.string(""))

    def text(self, value: str | None) -> str:
        """A literal that compares exactly."""
        return f"COLLATE({self.literal(value)}, '')"

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By digits of base 16, which a cast reads."""
        return exp.cast(
            called("CONCAT", "0x", called("SUBSTR", called("TO_HEX", called("SHA256", text)), 1, 12)), "BIGINT"
        )

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Exact decimals, joins on NULL that can be hashed, text columns without a collation."""
        for name in tree.find_all(exp.Identifier):
            _refuse_escapes(name.name)
        tree = replaced(quote_names(tree), (exp.NullSafeEQ, exp.NullSafeNEQ), _by_json)
        tree = replaced(tree, exp.Cast, _decimal_text)
        tree = replaced(tree, exp.Literal, _decimal_literal)
        return text_columns(tree, exp.Literal.string(""))

    def quote(self, name: str) -> str:
        """A quoted name."""
        _refuse_escapes(name)
        return super().quote(name)

    def create_as(self, table: str, query: str, temporary: bool) -> str:
        """The dataset's default collation must not reach the table."""
        return f"CREATE TABLE {table} DEFAULT COLLATE '' AS {query}"

    def table_function(self, function: str, columns: Mapping[str, str], query: str) -> str:
        """A table function, whose columns have the types of the query."""
        return f"CREATE OR REPLACE TABLE FUNCTION {function}() AS (\n{query}\n);"

    def mark(self, table: Sequence[str], run_id: str) -> str:
        """The table's description."""
        return f"ALTER TABLE {self.relation(table)} SET OPTIONS (description = {self.literal(mark_text(run_id))})"

    def comment_on_column(self, table: Sequence[str], column: str, text: str) -> str:
        """The column's description."""
        options = f"SET OPTIONS (description = {self.literal(text)})"
        return f"ALTER TABLE {self.relation(table)} ALTER COLUMN {self.quote(column)} {options}"

    def replace(self, table: Sequence[str], release: Sequence[str], aside: Sequence[str]) -> list[str]:
        """One statement; a copy reads nothing and has the description too, and the scratch table is dropped then."""
        return [f"CREATE OR REPLACE TABLE {self.relation(release)} COPY {self.relation(table)}"]


def _refuse_escapes(name: str) -> None:
    """BigQuery allows neither in a name, and not every sqlglot escapes them."""
    if "\\" in name or "`" in name:
        raise UnsupportedError(
            "bigquery: a name holds a backslash or a backtick, which BigQuery does not allow; rename it in a query"
        )


def _by_json(node: exp.Expr) -> exp.Expr:
    """An outer join needs an equality of one side's fields with the other's; NULL alone is ``null`` in JSON."""
    sides = (node.this, node.expression)
    left, right = (exp.Anonymous(this="TO_JSON_STRING", expressions=[side.copy()]) for side in sides)
    kind = exp.EQ if isinstance(node, exp.NullSafeEQ) else exp.NEQ
    return kind(this=left, expression=right)


def _decimal_text(node: exp.Expr) -> exp.Expr:
    """A decimal as text keeps its digits: casts drop zeros at the end."""
    inner = node.this
    if not (is_text(node.args["to"]) and isinstance(inner, exp.Cast) and inner.to.this == exp.DataType.Type.DECIMAL):
        return node
    scale = inner.to.expressions[1].name if len(inner.to.expressions) == 2 else "0"
    return exp.Anonymous(this="FORMAT", expressions=[exp.Literal.string(f"%.{scale}f"), inner.copy()])


def _decimal_literal(node: exp.Expr) -> exp.Expr:
    """A bare 0.1 is a binary fraction."""
    if node.args["is_string"] or "." not in node.name or "e" in node.name.lower():
        return node
    return exp.cast(exp.Literal.string(node.name), "BIGNUMERIC", dialect="bigquery")
