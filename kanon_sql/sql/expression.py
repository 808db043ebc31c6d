"""The user's own level expressions: one scalar expression over ``x``, in the portable subset."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from kanon_sql.errors import SpecError, TemplateError
from kanon_sql.sql.parse import parsed, refuse_deep_tree, spared_stack, tokens_within
from kanon_sql.sql.portable import check_portable
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import MARKS, Sql

__all__ = ["level_expression"]

MAX_LENGTH = 20_000
"""The most characters of an expression; what lists more values is a hierarchy file."""

_NUMBERS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Floor, exp.Abs, exp.Ln)
"""Expressions that are numbers, maybe with a fraction; whole ones are written without it."""

_NOT_ALLOWED = (exp.Query, exp.AggFunc, exp.Window, exp.Rand, exp.Star, exp.AtTimeZone, exp.BitwiseAnd)
"""No scalars, or (the bits of negative numbers) not the same on every engine."""

_TYPE = exp.DataType.Type
_TYPES = frozenset(
    {
        _TYPE.CHAR, _TYPE.VARCHAR, _TYPE.TEXT, _TYPE.TINYINT, _TYPE.SMALLINT, _TYPE.INT, _TYPE.BIGINT, _TYPE.INT128,
        _TYPE.UTINYINT, _TYPE.USMALLINT, _TYPE.UINT, _TYPE.UBIGINT, _TYPE.UINT128, _TYPE.DECIMAL, _TYPE.FLOAT,
        _TYPE.DOUBLE, _TYPE.BOOLEAN, _TYPE.DATE, _TYPE.TIME, _TYPE.TIMESTAMP, _TYPE.TIMESTAMPNTZ, _TYPE.TIMESTAMPTZ,
    }
)  # fmt: skip
"""What may be cast to: types of one value. A type that only one database knows, or one made of others, may not."""

_CLOCK = frozenset({"now", "today", "tomorrow", "yesterday"})
"""Texts that databases cast to a time by the clock: every run would make other labels of the same values."""


def level_expression(text: str, where: str, release_year: int | None = None) -> Sql:
    """A user's expression over ``x``, rewritten over the lookup's ``value`` column.

    Args:
        text: DuckDB SQL, such as ``floor(x / 10) * 10``.
        where: the place in the spec, for the message.
        release_year: the number that this name stands for; None where it stands for none.

    Raises:
        SpecError: it does not parse, is too long or nested too deeply, uses anything but ``x``, or is not a scalar
            expression of the portable subset.
    """
    with spared_stack(where):
        return _rewritten(text, where, release_year)


def _rewritten(text: str, where: str, release_year: int | None) -> Sql:
    try:
        tokens_within(text, "duckdb", where, MAX_LENGTH)
        trees = parsed(f"SELECT {text}", "duckdb")
    except SqlglotError:
        raise SpecError(
            f"{where}: the expression does not parse as SQL; expected one over x, such as floor(x / 10)"
        ) from None
    tree = trees[0]
    if len(trees) != 1 or not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or tree.find(exp.From):
        raise SpecError(f"{where}: expected one expression over x, such as floor(x / 10) * 10")
    expression = tree.expressions[0]
    refuse_deep_tree(expression, where)
    if release_year is not None:
        year = exp.Literal.number(release_year)
        expression = expression.transform(lambda node: year.copy() if _is_release_year(node) else node)
    for node in expression.walk():
        if isinstance(node, _NOT_ALLOWED):
            raise SpecError(f"{where}: {type(node).__name__} is not allowed; use a scalar expression over x")
        if isinstance(node, exp.Collate) and node.expression.name in MARKS:
            raise SpecError(f"{where}: {node.expression.name!r} is not a collation; use a scalar expression over x")
        if isinstance(node, exp.DataType) and node.this not in _TYPES:
            raise SpecError(
                f"{where}: a cast to a type that not every engine has; use text, a number, a date or a time"
            )
        if _by_the_clock(node):
            raise SpecError(
                f"{where}: a time by the clock is not allowed; write the date, such as DATE '2026-01-01', or "
                "release_year for the year in which the spec is loaded"
            )
        if _is_release_year(node):
            raise SpecError(
                f"{where}: release_year has a value in the quasi-identifiers of a release's spec alone; write the year"
            )
        if isinstance(node, exp.Column) and (node.name.lower() != "x" or node.table):
            raise SpecError(
                f"{where}: unknown name {node.sql(comments=False)!r}; the only column is x, and release_year is the "
                "year of the release"
            )
    try:
        check_portable(expression, where)
    except TemplateError as error:
        raise SpecError(f"{error}; use functions that every engine has") from None
    replaced = expression.transform(
        lambda node: exp.column("value") if isinstance(node, exp.Column) else node,
    )
    for node in list(replaced.find_all(exp.Cast, exp.DPipe)):
        if isinstance(node, exp.DPipe) or node.is_type(*exp.DataType.TEXT_TYPES):
            for key in ("this", "expression"):
                if node.args.get(key) is not None:
                    node.set(key, _truth(node.args[key]))
    replaced = _truth(replaced)
    sql = Sql(replaced.sql("duckdb"))
    is_float = isinstance(replaced.unnest(), _NUMBERS)
    return render("hierarchies/levels/value", value=Sql(f"({sql})"), is_float=is_float, scale=None, keeps_digits=False)


def _truth(result: exp.Expr) -> exp.Expr:
    """A result with the words true and false for conditions, also those that a CASE chooses between.

    As text a condition is a word on some engines and a number on others, so that one spec would make several releases.
    """
    if _is_condition(result):
        whens = [
            exp.If(this=condition, true=exp.Literal.string(word))
            for condition, word in (
                (result.copy(), "true"),
                (exp.Not(this=exp.Paren(this=result.copy())), "false"),
            )
        ]
        return exp.Case(ifs=whens)
    if isinstance(result, exp.Paren):
        result.set("this", _truth(result.this))
    elif isinstance(result, exp.Case):
        for branch in result.args["ifs"]:
            branch.set("true", _truth(branch.args["true"]))
        if result.args.get("default") is not None:
            result.set("default", _truth(result.args["default"]))
    elif isinstance(result, exp.If):
        for key in ("true", "false"):
            if result.args.get(key) is not None:
                result.set(key, _truth(result.args[key]))
    elif isinstance(result, exp.Coalesce):
        result.set("this", _truth(result.this))
        result.set("expressions", [_truth(item) for item in result.expressions])
    return result


def _is_condition(node: exp.Expr) -> bool:
    node = node.unnest()
    if isinstance(node, exp.Cast):
        return node.is_type(exp.DType.BOOLEAN)
    return isinstance(node, exp.Predicate | exp.Connector | exp.Not | exp.Boolean)


def _is_release_year(node: exp.Expr) -> bool:
    """Whether it is the name of the year of the release."""
    return isinstance(node, exp.Column) and not node.table and node.sql(comments=False).lower() == "release_year"


def _by_the_clock(node: exp.Expr) -> bool:
    """Whether it is a text such as ``today`` that is cast to something else than text."""
    if not isinstance(node, exp.Literal) or not node.is_string or node.this.strip().lower() not in _CLOCK:
        return False
    return isinstance(node.parent, exp.Cast) and not node.parent.is_type(*exp.DataType.TEXT_TYPES)
