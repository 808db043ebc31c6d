"""Rewrites of the syntax tree that several dialects share."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from kanon_sql.sql.dialects.base import replaced

__all__ = [
    "bit_and",
    "called",
    "equalities",
    "exact_int_division",
    "first_bits_by_conv",
    "floating_division",
    "is_numbers",
    "is_text",
    "numbers_in",
    "quote_names",
    "repeat_by_rpad",
    "spell_out_null_safe",
    "text_columns",
    "text_type",
]

_TEXT = (exp.DataType.Type.VARCHAR, exp.DataType.Type.TEXT)


def called(function: str, *arguments: exp.Expr | str | int) -> exp.Expr:
    """A call of a function by its name, which no rewrite takes for another one; texts and numbers are literals."""
    given = [
        exp.Literal.string(item)
        if isinstance(item, str)
        else exp.Literal.number(item)
        if isinstance(item, int)
        else item
        for item in arguments
    ]
    return exp.Anonymous(this=function, expressions=[item.copy() for item in given])


def first_bits_by_conv(text: exp.Expr) -> exp.Expr:
    """The first 48 bits of a text's SHA-256, where digits of base 16 are converted to those of base 10."""
    return exp.cast(called("CONV", called("SUBSTR", called("SHA2", text, 256), 1, 12), 16, 10), exp.DType.BIGINT)


def is_text(node: exp.Expr | None) -> bool:
    """Whether a type is text."""
    return isinstance(node, exp.DataType) and node.this in _TEXT


def floating_division(tree: exp.Expr) -> exp.Expr:
    """``/`` of DOUBLEs, where that of decimals has a few digits more than they have."""

    def floating(division: exp.Expr) -> exp.Expr:
        assert isinstance(division, exp.Div)
        if not division.left.is_type(exp.DType.DOUBLE):
            division.set("this", exp.cast(division.left.copy(), exp.DType.DOUBLE))
        return division

    return replaced(tree, exp.Div, floating)


def quote_names(tree: exp.Expr) -> exp.Expr:
    """Every name quoted: one that is quoted here and bare there would be two where bare names are folded.

    It also keeps our own names (value, level, raw) out of the way of reserved words.
    """
    for name in tree.find_all(exp.Identifier):
        if not name.args.get("quoted") and not name.name.startswith("slot_"):
            name.set("quoted", True)
    return tree


def text_type(tree: exp.Expr, text: exp.DataType) -> exp.Expr:
    """Every text type replaced by another."""
    return replaced(tree, exp.DataType, lambda node: text.copy() if is_text(node) else node)


def text_columns(tree: exp.Expr, collation: exp.Expr) -> exp.Expr:
    """Text columns of a created table that compare exactly, whatever the database's default is."""
    for column in tree.find_all(exp.ColumnDef):
        if is_text(column.args.get("kind")):
            kind = exp.CollateColumnConstraint(this=collation.copy())
            column.set("constraints", [exp.ColumnConstraint(kind=kind), *column.args.get("constraints", [])])
    return tree


def spell_out_null_safe(tree: exp.Expr) -> exp.Expr:
    """IS NOT DISTINCT FROM, where the engine does not have it."""

    def spelled_out(node: exp.Expr) -> exp.Expr:
        left, right = node.this, node.expression
        nulls = [exp.Is(this=side.copy(), expression=exp.Null()) for side in (left, right)]
        missing = exp.paren(exp.and_(*nulls))
        same = exp.paren(exp.or_(exp.EQ(this=left.copy(), expression=right.copy()), missing))
        if isinstance(node, exp.NullSafeEQ):
            return same
        different = exp.Case(ifs=[exp.If(this=same, true=exp.Literal.number(0))], default=exp.Literal.number(1))
        return exp.paren(different.eq(1))

    return replaced(tree, (exp.NullSafeEQ, exp.NullSafeNEQ), spelled_out)


def exact_int_division(tree: exp.Expr) -> exp.Expr:
    """``//`` without a fraction in between, which would lose the last digits of a large number."""

    def divided(node: exp.Expr) -> exp.Expr:
        number, by = exp.paren(node.this.copy()), exp.paren(node.expression.copy())
        whole = exp.Sub(this=number, expression=exp.Mod(this=number.copy(), expression=by))
        # typed: both sides are whole numbers here, so that no cast to a float is written.
        return exp.cast(exp.Div(this=exp.paren(whole), expression=by.copy(), typed=True, safe=False), "BIGINT")

    return replaced(tree, exp.IntDiv, divided)


def bit_and(function: str) -> Callable[[exp.Expr], exp.Expr]:
    """``&`` as a function, where there is no such operator."""

    def called(node: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this=function, expressions=[node.this.copy(), node.expression.copy()])

    return called


def repeat_by_rpad(tree: exp.Expr) -> exp.Expr:
    """REPEAT by RPAD, where it is missing or makes an array."""

    def padded(node: exp.Expr) -> exp.Expr:
        text = node.this
        size: exp.Expr = exp.paren(node.args["times"].copy())
        if not (isinstance(text, exp.Literal) and len(text.name) == 1):
            size = exp.Mul(this=exp.Length(this=text.copy()), expression=size)
        return exp.Anonymous(this="RPAD", expressions=[text.copy(), size, text.copy()])

    return replaced(tree, exp.Repeat, padded)


def is_numbers(join: exp.Expr) -> bool:
    """Whether it is a ``CROSS JOIN ... AS numbers (number)`` of numbers that depend on the tables before it."""
    table = join.this
    alias = table.args.get("alias") if isinstance(table, exp.Table) else None
    return alias is not None and alias.name == "numbers" and bool(alias.args.get("columns"))


def numbers_in(tree: exp.Expr, column: str) -> exp.Expr:
    """Such numbers as a column of a relation that has its own name for it; its alias is written by ``numbers_to``."""
    if not any(map(is_numbers, tree.find_all(exp.Join))):
        return tree

    def rewritten(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Join) and is_numbers(node):
            return exp.Join(this=exp.Table(this=node.this.this.copy()), kind=node.args.get("kind"))
        if isinstance(node, exp.Column) and node.text("table") == "numbers" and node.name == "number":
            return exp.column(column, "numbers")
        return node

    return replaced(tree, (exp.Join, exp.Column), rewritten)


def equalities(condition: exp.Expr | None) -> list[exp.Binary]:
    """The equalities that all have to hold where a condition does: none of those of which one is enough."""
    if isinstance(condition, exp.Paren):
        return equalities(condition.this)
    if isinstance(condition, exp.And):
        return equalities(condition.left) + equalities(condition.right)
    return [condition] if isinstance(condition, exp.EQ | exp.NullSafeEQ) else []
