"""The portable subset: the SQL that means the same on every engine.

sqlglot passes much through that an engine rejects or changes (FILTER, GROUPING SETS,
booleans in a SELECT list, sampling). So the templates are held to an allow-list of
syntax-tree nodes. Adding an entry means: it was tried on every engine.
"""

from __future__ import annotations

from sqlglot import exp

from kanon_sql.errors import TemplateError

__all__ = ["ALLOWED", "check_portable"]

ALLOWED: frozenset[type[exp.Expr]] = frozenset(
    {
        # statements
        exp.Select, exp.Union, exp.Subquery, exp.Create, exp.Drop, exp.Insert, exp.Delete,
        exp.Alter, exp.AlterRename, exp.Transaction, exp.Commit, exp.Rollback,
        exp.Schema, exp.ColumnDef, exp.ColumnConstraint, exp.NotNullColumnConstraint,
        exp.Properties, exp.TemporaryProperty, exp.Values, exp.Tuple,
        # clauses
        exp.From, exp.Where, exp.Group, exp.Having, exp.Join, exp.Order, exp.Ordered,
        exp.Window, exp.Limit, exp.Distinct, exp.With, exp.CTE,
        # names and literals
        exp.Table, exp.TableAlias, exp.Alias, exp.Column, exp.Identifier, exp.Star,
        exp.Literal, exp.Null, exp.Cast, exp.DataType, exp.DataTypeParam, exp.Paren, exp.Collate,
        # conditions
        exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE,
        exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Exists, exp.Case, exp.If,
        # arithmetic and functions that every engine computes exactly alike
        exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Floor, exp.Abs, exp.Ln, exp.Exp,
        exp.Coalesce, exp.Nullif, exp.DPipe, exp.Substring, exp.Length, exp.Extract, exp.Var, exp.Rand,
        exp.Upper, exp.Lower, exp.Trim, exp.Between, exp.Left, exp.Right, exp.Replace, exp.Repeat, exp.StrPosition,
        exp.AtTimeZone,
        exp.BitwiseAnd,  # of whole numbers that are not negative
        exp.Least,  # of several numbers, none of which is NULL
        # aggregates and windows
        exp.Count, exp.Sum, exp.Min, exp.Max, exp.RowNumber, exp.DenseRank, exp.Lead,
    }
)  # fmt: skip


def check_portable(tree: exp.Expr, where: str) -> None:
    """Refuse a statement that leaves the portable subset.

    Args:
        tree: the parsed statement.
        where: the template's name, for the message.

    Raises:
        TemplateError: names the first construct that is not allowed.
    """
    for node in tree.walk():
        if type(node) not in ALLOWED:
            raise TemplateError(f"{where}: {type(node).__name__} is not in the portable SQL subset")
        if isinstance(node, exp.Select):
            _no_boolean_columns(node, where)


_BOOLEAN = (exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.In, exp.Exists)


def _no_boolean_columns(select: exp.Select, where: str) -> None:
    for projection in select.expressions:
        if isinstance(projection.unalias(), _BOOLEAN):
            raise TemplateError(f"{where}: a boolean in a SELECT list is not portable; use CASE ... THEN 1 ELSE 0 END")
