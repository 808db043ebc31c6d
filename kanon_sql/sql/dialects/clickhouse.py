"""ClickHouse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.clickhouse import ClickHouse as SqlglotClickHouse

from kanon_sql.sql.dialects.base import Dialect, dialect, mark_text, replaced
from kanon_sql.sql.dialects.rewrites import bit_and, called, is_numbers

__all__ = ["RENAMING", "ClickHouse"]

_OURS = "states of releases, made by kanon_sql"

_KEPT, _SCRATCH = "ENGINE = MergeTree ORDER BY tuple()", "ENGINE = Memory"

_UTF8: dict[type[exp.Expr], str] = {
    exp.Length: "lengthUTF8",
    exp.Substring: "substringUTF8",
    exp.Left: "leftUTF8",
    exp.Right: "rightUTF8",
    exp.Upper: "upperUTF8",
    exp.Lower: "lowerUTF8",
}
"""Functions of text that count bytes, or change ASCII letters only, under their plain names."""

_WHOLE = (exp.Count, exp.Sum, exp.Window, exp.Floor, exp.Extract, exp.Length)
"""What is a whole number already when it is cast to one."""

_MOMENTS = ("timestamp", "timestampntz", "timestamptz", "datetime")

_DECIMAL_TYPE, _SCALE = r"^(Nullable\()?Decimal\(", r"([0-9]+)\)+$"


@dialect
class ClickHouse(Dialect):
    """ClickHouse, with the settings that :mod:`kanon_sql.engines.clickhouse_settings` lists.

    Args:
        exchanges: two tables can be exchanged at once (databases of the engine Atomic and its like).
    """

    name = "clickhouse"
    stores_types = False  # whether a column takes NULL is told of its table, and is not kept with values
    sqlglot = SqlglotClickHouse  # ibis registers a dialect of its own under the name of this one
    backslash = True
    # Dividing them into 256 parts takes longer than grouping them does; both must be 0 for it to be left out.
    few_groups = "SETTINGS group_by_two_level_threshold = 0, group_by_two_level_threshold_bytes = 0"
    schemas = "SELECT name, name FROM system.databases"
    zones = True
    years = (1900, 2299)
    moved: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("date", "timestamp"), "addDays({date}, {days})"),
        "moment": "addHours({date}, 24 * {days})",
    }
    keyed = "LOWER(hex(SHA256(concat(unhex('{outer}'), unhex(hex(SHA256(concat(unhex('{inner}'), {text}))))))))"
    item = "arrayJoin({})"
    listed = "arraySort(groupArray({}))"
    sorted_list = "arraySort({})"
    renames_apart = "RENAME TABLE and EXCHANGE TABLES of several tables are done one after the other there"
    guard_obstacle = (
        "the settings of a reader's own query reach below a view (apply_deleted_mask = 0 brings back rows that were "
        "deleted, max_rows_to_read with read_overflow_mode = 'break' chooses how many rows are counted)"
    )

    def __init__(self, *, exchanges: bool = True) -> None:
        self._exchanges = exchanges

    def exact(self, text: exp.Expr) -> exp.Expr:
        """The text itself: there are no collations, and text is compared byte by byte."""
        return text

    def exact_float(self, number: exp.Expr) -> exp.Expr:
        """Numbers are grouped and joined by their bits, in which 0 and -0 differ, and 0/0 from an imported NaN."""
        zero, no_number = exp.Literal.number(0), exp.func("toFloat32", exp.Literal.string("nan"))  # of either width
        whens = [
            exp.If(this=exp.EQ(this=number.copy(), expression=zero.copy()), true=zero),
            exp.If(this=exp.NEQ(this=number.copy(), expression=number.copy()), true=no_number),
        ]
        return exp.Case(ifs=whens, default=number)

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By bytes, the last of which is the highest."""
        return called(
            "toInt64",
            called("reinterpretAsUInt64", called("reverse", called("substring", called("SHA256", text), 1, 6))),
        )

    def create_schema(self, name: Sequence[str]) -> str:
        """A schema is a database, which says who has made it."""
        return f"CREATE DATABASE IF NOT EXISTS {self.relation(name)} COMMENT {self.literal(_OURS)}"

    def schemas_created_by_us(self, schema: Sequence[str]) -> str:
        """By its comment: no user was granted anything in a database that was not there."""
        name, ours = self.literal(schema[-1]), self.literal(_OURS)
        return f"SELECT COUNT(*) FROM system.databases WHERE name = {name} AND comment = {ours}"

    def readers(self, schema: Sequence[str]) -> str:
        """Users and roles that were granted to read the database.

        Those of the server's configuration who may read all databases may read the source too. A right in kanon_* is
        listed as one in kanon_, with a mark that older servers do not have; so a right in a database by whose name this
        one's begins counts.
        """
        name = self.literal(schema[-1])
        return (
            "SELECT COUNT(*) FROM system.grants "
            f"WHERE (startsWith({name}, database) OR database IS NULL) "
            "AND access_type IN ('SELECT', 'ALL') AND is_partial_revoke = 0 "
            "AND COALESCE(user_name, '') <> currentUser() "
            "AND NOT (database IS NULL AND user_name IN (SELECT name FROM system.users WHERE storage = 'users_xml'))"
        )

    def masked(self, number: str, mask: str) -> str:
        """There is no operator for it."""
        return f"bitAnd({number}, {mask})"

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Types, division and text functions as DuckDB has them."""
        for kind, by in (
            (exp.Literal, _literal),
            (exp.Cast, _cast),
            (tuple(_UTF8), _characters),
            (exp.Div, _division),
            (exp.IntDiv, _whole_division),
            (exp.Mul, _square),
            (exp.BitwiseAnd, bit_and("bitAnd")),
            (exp.ColumnDef, _column),
        ):
            tree = replaced(tree, kind, by)
        if any(map(is_numbers, tree.find_all(exp.Join))):
            tree = replaced(replaced(tree, exp.Column, _number_column), exp.Join, _numbers_join)
        return tree

    def numbers_to(self, count: str) -> str:
        """An array of them, which ARRAY JOIN unfolds beside the tables before it."""
        return f"range(toUInt64(assumeNotNull({count})))"

    def sql(self, tree: exp.Expr) -> str:
        """A checked tree as text; a table needs an engine."""
        creates = isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema)
        temporary = tree.find(exp.TemporaryProperty) is not None
        text = super().sql(tree)
        return f"{text} {_SCRATCH if temporary else _KEPT}" if creates else text

    def create_as(self, table: str, query: str, temporary: bool) -> str:
        """Create a table from a query: in memory for the session, else without a sorting key."""
        if temporary:
            return f"CREATE TEMPORARY TABLE {table} {_SCRATCH} AS {query}"
        return f"CREATE TABLE {table} {_KEPT} AS {query}"

    def of_the_session(self, table: tuple[str, ...]) -> tuple[str, ...]:
        """It is in no database."""
        return table[-1:]

    def rows(self, columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
        """A query of the rows given as text; a UNION of thousands is too deep for the planner."""
        structure = self.literal(", ".join(f"{self.quote(column)} Nullable(String)" for column in columns))
        listed = ",\n  ".join("(" + ", ".join(map(self.literal, row)) + ")" for row in rows)
        return f"SELECT * FROM values({structure},\n  {listed})"

    def numbers(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[int]]) -> str:
        """The FROM form of a table of integers."""
        structure = self.literal(", ".join(f"{self.quote(column)} Int64" for column in columns))
        listed = ", ".join("(" + ", ".join(map(str, row)) + ")" for row in rows)
        return f"(SELECT * FROM values({structure}, {listed})) AS {self.quote(name)}"

    def rename(self, table: Sequence[str], name: str) -> str:
        """Give a table another name in its database."""
        return f"RENAME TABLE {self.relation(table)} TO {self.relation([*table[:-1], name])}"

    def mark(self, table: Sequence[str], run_id: str) -> str:
        """The table's comment."""
        return f"ALTER TABLE {self.relation(table)} MODIFY COMMENT {self.literal(mark_text(run_id))}"

    def comment_on_column(self, table: Sequence[str], column: str, text: str) -> str:
        """The column's comment."""
        return f"ALTER TABLE {self.relation(table)} COMMENT COLUMN {self.quote(column)} {self.literal(text)}"

    def replace(self, table: Sequence[str], release: Sequence[str], aside: Sequence[str]) -> list[str]:
        """Exchange both names at once; the old release then has the scratch name, and is dropped with it."""
        if self._exchanges:
            return [f"EXCHANGE TABLES {self.relation(table)} AND {self.relation(release)}"]
        return [
            f"RENAME TABLE {self.relation(release)} TO {self.relation(aside)}, "
            f"{self.relation(table)} TO {self.relation(release)}"
        ]


RENAMING = ClickHouse(exchanges=False)
"""For databases of the old engine Ordinary: they can rename only."""


def _call(name: str, *arguments: exp.Expr | str) -> exp.Anonymous:
    expressions = [exp.Literal.string(item) if isinstance(item, str) else item.copy() for item in arguments]
    return exp.Anonymous(this=name, expressions=expressions)


def _literal(literal: exp.Expr) -> exp.Expr:
    """A number with a decimal point is exact in DuckDB, a double in ClickHouse."""
    _, point, fraction = literal.name.partition(".")
    if literal.args["is_string"] or not point or "e" in fraction.lower():
        return literal
    return exp.Anonymous(
        this="toDecimal128", expressions=[exp.Literal.string(literal.name), exp.Literal.number(len(fraction))]
    )


def _cast(cast: exp.Expr) -> exp.Expr:
    """A cast that never wraps, clips or cuts: what does not fit is an error, or NULL when it comes from text."""
    value, target = cast.this, cast.args["to"]
    if isinstance(value, exp.AtTimeZone):
        return _call("toTimeZone", value.this, value.args["zone"].name)
    if target.is_type("text", "varchar"):
        return _text(value)
    if target.is_type("date"):
        return _moment(value, "Date32")
    if target.is_type(*_MOMENTS):
        return _moment(value, "DateTime64(6)")
    if target.is_type("decimal"):
        # By way of text: a double is cut otherwise, after a multiplication that may fall below the value.
        digits = ", ".join(parameter.name for parameter in target.expressions) or "18, 3"
        return _call("accurateCast", _call("toString", value), f"Decimal({digits})")
    if target.is_type(*exp.DataType.INTEGER_TYPES):
        # By way of text: a decimal's fraction is cut otherwise.
        ours = exp.DataType.build(target.this, nullable=False).sql(SqlglotClickHouse)
        return _call("accurateCast", value if isinstance(value, _WHOLE) else _call("toString", value), ours)
    return cast


def _text(value: exp.Expr) -> exp.Expr:
    """Text; a decimal keeps the zeros at its end. The type is known when the query is planned, if not before."""
    plain = exp.Cast(this=value.copy(), to=exp.DataType.build("text", nullable=False))
    if isinstance(value, exp.Anonymous) and value.name == "accurateCast":
        _, decimal, digits = value.expressions[1].name.partition("Decimal(")
        return _call("toDecimalString", value, _call("toUInt8", digits.split(", ")[1][:-1])) if decimal else plain
    if isinstance(value, exp.Literal) or value.find(exp.AggFunc, exp.Window):
        return plain
    name = _call("toTypeName", value)
    digits = _call("toDecimalString", value, _call("toUInt8", _call("extract", name, _SCALE)))
    return exp.Anonymous(this="if", expressions=[_call("match", name, _DECIMAL_TYPE), digits, plain])


def _moment(value: exp.Expr, type_name: str) -> exp.Expr:
    """A date, refused unless it reads back: ClickHouse turns 30 February into 1 March, and clips to its range."""
    moment = _call("accurateCast", value, type_name)
    written, given = _call("toString", moment), _call("toString", value)
    longer, shorter = (given, written) if type_name == "Date32" else (written, given)
    # Of NULL the text below it is looked at, which is no date.
    strange = _call("ifNull", exp.Not(this=_call("startsWith", longer, shorter)), exp.Literal.number(0))
    return exp.Paren(
        this=exp.Add(this=moment, expression=_call("throwIf", strange, "a text is no date that ClickHouse can hold"))
    )


def _characters(function: exp.Expr) -> exp.Expr:
    """Characters, not bytes."""
    if isinstance(function, exp.Substring):
        arguments = [function.this, function.args.get("start"), function.args.get("length")]
    else:
        arguments = [function.this, function.args.get("expression")]
    return _call(_UTF8[type(function)], *(argument for argument in arguments if argument is not None))


def _double(value: exp.Expr) -> exp.Expr:
    is_double = isinstance(value, exp.Cast) and value.args["to"].is_type("double")
    return value.copy() if is_double else _call("toFloat64", value)


def _division(division: exp.Expr) -> exp.Expr:
    """A decimal divided keeps its few digits in ClickHouse; in DuckDB it becomes a double."""
    return exp.Div(this=_double(division.this), expression=_double(division.expression))


def _whole_division(division: exp.Expr) -> exp.Expr:
    return _call("intDiv", division.this, division.expression)


def _square(product: exp.Expr) -> exp.Expr:
    """Integers wrap silently: numbers of rows need not fear that, but their squares do, and 38 digits do not."""
    if isinstance(product.this, exp.Column) and product.this == product.expression:
        digits = exp.Anonymous(this="toDecimal128", expressions=[product.this.copy(), exp.Literal.number(0)])
        return exp.Mul(this=digits, expression=product.expression.copy())
    return product


def _numbers_join(join: exp.Expr) -> exp.Expr:
    """Here no join depends on the tables before it, but an array of theirs can be unfolded."""
    if not is_numbers(join):
        return join
    unfolded = exp.Alias(this=exp.Column(this=join.this.this.copy()), alias=_NUMBER.copy())
    return exp.Join(this=unfolded, kind="ARRAY")


def _number_column(column: exp.Expr) -> exp.Expr:
    """A column of such numbers, which has no table."""
    is_number = column.text("table") == "numbers" and column.name == "number"
    return exp.Column(this=_NUMBER.copy()) if is_number else column


_NUMBER = exp.to_identifier("kanon_number", quoted=True)


def _column(column: exp.Expr) -> exp.Expr:
    """``Nullable(String) NOT NULL`` is an error."""
    if column.find(exp.NotNullColumnConstraint):
        column.args["kind"].set("nullable", False)
    return column
