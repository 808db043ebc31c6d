"""The user's own level expressions: one scalar expression over ``x``, in the portable subset."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from kanon_sql.errors import SpecError, TemplateError
from kanon_sql.sql.portable import check_portable
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import MARKS, Sql

__all__ = ["level_expression"]

_NUMBERS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Floor, exp.Abs, exp.Ln)
"""Expressions that are numbers, maybe with a fraction; whole ones are written without it."""

_NOT_ALLOWED = (exp.Query, exp.AggFunc, exp.Window, exp.Rand, exp.Star, exp.AtTimeZone, exp.BitwiseAnd)
"""No scalars, or (the bits of negative numbers) not the same on every engine."""

_OF_SOMEBODY = (exp.DType.USERDEFINED, exp.DType.ENUM, exp.DType.OBJECT, exp.DType.UNKNOWN)
"""Types that somebody has defined, whose casts are functions of theirs, and names of things in the catalog."""


def level_expression(text: str, where: str) -> Sql:
    """A user's expression over ``x``, rewritten over the lookup's ``value`` column.

    Args:
        text: DuckDB SQL, such as ``floor(x / 10) * 10``.
        where: the place in the spec, for the message.

    Raises:
        SpecError: it does not parse, uses anything but ``x``, or is not a scalar expression
            of the portable subset.
    """
    try:
        tree = sqlglot.parse_one(f"SELECT {text}", read="duckdb")
    except SqlglotError:
        raise SpecError(
            f"{where}: the expression does not parse as SQL; expected one over x, such as floor(x / 10)"
        ) from None
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or tree.find(exp.From):
        raise SpecError(f"{where}: expected one expression over x, such as floor(x / 10) * 10")
    expression = tree.expressions[0]
    for node in expression.walk():
        if isinstance(node, _NOT_ALLOWED):
            raise SpecError(f"{where}: {type(node).__name__} is not allowed; use a scalar expression over x")
        if isinstance(node, exp.DataType) and node.this in _OF_SOMEBODY:
            raise SpecError(f"{where}: {node.sql('duckdb')} is no type that every engine has; use one such as BIGINT")
        if isinstance(node, exp.Collate) and node.expression.name in MARKS:
            raise SpecError(f"{where}: {node.expression.name!r} is not a collation; use a scalar expression over x")
        if isinstance(node, exp.Column) and (node.name.lower() != "x" or node.table):
            raise SpecError(f"{where}: unknown name {node.sql()!r}; the only column is x")
    try:
        check_portable(expression, where)
    except TemplateError as error:
        raise SpecError(f"{error}; use functions that every engine has") from None
    replaced = expression.transform(
        lambda node: exp.column("value") if isinstance(node, exp.Column) else node,
    )
    sql = Sql(replaced.sql("duckdb"))
    is_float = isinstance(replaced.unnest(), _NUMBERS)
    return render("hierarchies/levels/value", value=Sql(f"({sql})"), is_float=is_float, scale=None)
