"""SQL Server and Azure SQL (Transact-SQL)."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import TokenType, exp

from kanon_sql.errors import UnsupportedError
from kanon_sql.sql.dialects.base import Dialect, dialect, mark_text, replaced
from kanon_sql.sql.dialects.rewrites import exact_int_division, quote_names, text_columns, text_type

__all__ = ["MARK_PROPERTY", "TSQL"]

MARK_PROPERTY = "kanon_sql"
"""The extended property that holds a table's mark."""

_COLLATION = "Latin1_General_BIN2"
_TEXT = exp.DataType.build("NVARCHAR(MAX)", dialect="tsql")


@dialect
class TSQL(Dialect):
    """SQL Server 2016 and later. Comparing texts ignores blanks at their end, in every collation."""

    name = "tsql"
    sqlglot = "tsql"
    pads = True
    longest_name = (256, "bytes")

    def exact(self, text: exp.Expr) -> exp.Expr:
        """By code points; the database's own collation usually ignores letter case."""
        return exp.Collate(this=text, expression=exp.Var(this=_COLLATION))

    def literal(self, value: str | None) -> str:
        """Without the N a literal loses what the database's code page does not have."""
        return super().literal(value) if value is None else f"N{super().literal(value)}"

    def text(self, value: str | None) -> str:
        """A literal that compares exactly."""
        return f"CAST({self.literal(value)} AS NVARCHAR(MAX)) COLLATE {_COLLATION}"

    def sql(self, tree: exp.Expr) -> str:
        """CREATE TABLE IF NOT EXISTS is a condition before the statement."""
        if isinstance(tree, exp.Create) and tree.args.get("exists"):
            tree.set("exists", False)
            table = tree.find(exp.Table)
            assert table is not None
            name = self.relation([part.name for part in table.parts])
            return f"IF OBJECT_ID({self.literal(name)}) IS NULL {super().sql(tree)}"
        return super().sql(tree)

    def fraction(self, text: exp.Expr) -> exp.Expr:
        """A cast keeps six digits of a float, style 3 all of them."""
        return exp.Convert(this=_TEXT.copy(), expression=text.this.copy(), style=exp.Literal.number(3))

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Unicode text of any length, lengths that count blanks, random order, and NULLs that are equal."""
        tree = text_columns(exact_int_division(quote_names(tree)), exp.Var(this=_COLLATION))
        tree = replaced(tree, (exp.NullSafeEQ, exp.NullSafeNEQ), _by_intersect)
        tree = replaced(tree, exp.Repeat, _unlimited)
        tree = replaced(tree, exp.Length, _length)
        tree = replaced(tree, exp.Rand, _random)
        for select in tree.find_all(exp.Select):
            _collate_literals(select)
        tree = replaced(tree, exp.Literal, lambda node: exp.National(this=node.name) if node.is_string else node)
        return text_type(tree, _TEXT)

    def create_as(self, table: str, query: str, temporary: bool) -> str:
        """SELECT ... INTO, at the place where that goes: a WITH clause may not stand in a subquery."""
        depth, place = 0, len(query)
        selected = False
        for token in sqlglot.tokenize(query, read=self.sqlglot):
            depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
            selected |= depth == 0 and token.token_type == TokenType.SELECT
            if depth == 0 and selected and token.token_type in _AFTER_INTO:
                place = token.start
                break
        return f"{query[:place].rstrip()}\nINTO {table}\n{query[place:]}".rstrip()

    def rename(self, table: Sequence[str], name: str) -> str:
        """A procedure, whose first argument is quoted and whose second is not."""
        return f"EXEC sp_rename {self.literal(self.relation(table))}, {self.literal(name)}"

    def comment_on_column(self, table: Sequence[str], column: str, text: str) -> str:
        """Extended properties are added by a procedure that fails where there is one already."""
        raise UnsupportedError(f"--comment: {self.name} has no statement for it; write a file (-o FILE.md)")

    def mark(self, table: Sequence[str], run_id: str) -> str:
        """An extended property, the comment of SQL Server; its procedure must be told the schema."""
        database = f"{self.quote(table[-3])}." if len(table) > 2 else ""
        schema = self.literal(table[-2]) if len(table) > 1 else "SCHEMA_NAME()"
        return (
            f"DECLARE @kanon_schema sysname = {schema}; EXEC {database}sys.sp_addextendedproperty "
            f"@name = {self.literal(MARK_PROPERTY)}, @value = {self.literal(mark_text(run_id))}, "
            f"@level0type = {self.literal('SCHEMA')}, @level0name = @kanon_schema, "
            f"@level1type = {self.literal('TABLE')}, @level1name = {self.literal(table[-1])}"
        )


_AFTER_INTO = (TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.UNION, TokenType.ORDER_BY)


def _random(node: exp.Expr) -> exp.Expr:
    """RAND() is one number for the whole query."""
    if isinstance(node.parent, exp.Ordered):
        node.parent.set("nulls_first", True)  # it is never NULL: no CASE before it
    return exp.Anonymous(this="NEWID")


def _collate_literals(select: exp.Select) -> None:
    """A literal as a column would have the database's collation, which must not meet ours in a comparison."""
    for item in select.expressions:
        value = item.unalias()
        if isinstance(value, exp.Literal) and value.is_string:
            text = exp.cast(value.copy(), _TEXT.copy())
            value.replace(exp.Collate(this=text, expression=exp.Var(this=_COLLATION)))


def _by_intersect(node: exp.Expr) -> exp.Expr:
    """The form that every version has, and that the optimizer joins by hash."""
    both = exp.Intersect(
        this=exp.select(node.this.copy()), expression=exp.select(node.expression.copy()), distinct=True
    )
    found = exp.Exists(this=both)
    return found if isinstance(node, exp.NullSafeEQ) else exp.Not(this=found)


def _unlimited(node: exp.Expr) -> exp.Expr:
    """REPLICATE cuts its result unless the text has no limit."""
    node.set("this", exp.cast(node.this.copy(), _TEXT.copy()))
    return node


def _length(node: exp.Expr) -> exp.Expr:
    """LEN does not count blanks at the end."""
    longer = exp.DPipe(this=node.this.copy(), expression=exp.Literal.string("."), safe=True)
    return exp.paren(exp.Sub(this=exp.Length(this=longer), expression=exp.Literal.number(1)))
